"""The command `orthoselect`: what was typed comes in, the answer goes to standard output and files.

The one class to know is `Answer`, which prints and writes what `select` or `compare` found.

app: the way in, all commands with those of other packages, and the two that only list.
commands: `select` and `compare`, from their options to the table, their answers and files.
options: every option with its help, said once for all commands.
terminal: what is said beside the answer, in the command's words, and how a command ends.
"""

from orthoselect.cli.app import app, main

__all__ = ["app", "main"]
