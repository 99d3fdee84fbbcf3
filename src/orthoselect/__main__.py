"""`python -m orthoselect` is the command `orthoselect`."""

from orthoselect.cli import main

if __name__ == "__main__":
    main()
