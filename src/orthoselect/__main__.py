"""`python -m orthoselect` is the command `orthoselect`."""

from orthoselect_command import main

if __name__ == "__main__":
    main()
