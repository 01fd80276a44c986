"""``python -m setlearn`` is the command line."""

from setlearn.cli import main

if __name__ == "__main__":
    main()
