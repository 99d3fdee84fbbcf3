"""The command `orthoselect`: arguments in, the answer out."""

from orthoselect.cli.app import app, main

__all__ = ["app", "main"]
