"""The command `orthoselect`: what was typed comes in, the answer goes to standard output and files.

The one class to know is `Answer`, which prints and writes what `select` or `compare` found.

app: the way in, all commands, and the two that only list; plugins: commands of other packages.
select, compare: one file a command, from its options to its answer.
options: every option with its help, said once for all commands.
loading: from what was typed of a table to the table and the roles of its columns.
answer: the answer on standard output, the reduced table, the page.
terminal: what is said beside the answer, in the command's words; running: how a command ends.
"""

from orthoselect.cli.app import app, main

__all__ = ["app", "main"]
