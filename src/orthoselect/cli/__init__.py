"""The command `orthoselect`: what was typed comes in, the answer goes to standard output and files.

The one class to know is `Answer`, which prints and writes what `select` or `compare` found.

app: the way in, all commands with those of other packages, and the two that only list.
commands: `select` and `compare`; stability_command, narx: theirs, from options to answers.
options: every option with its help, said once for all commands, and the sets that they share.
loading: from the words that name a table and its columns to the table; answer: to print and files.
terminal: what is said beside the answer, in the command's words, and how a command ends.
"""

from orthoselect.cli.app import app, main

__all__ = ["app", "main"]
