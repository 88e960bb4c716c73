"""The command line ``schema-core``, the only package that imports Typer and rich."""

#: Exit codes: success, errors in the input, and what prevents a result.
GOOD, WRONG, UNREADABLE = 0, 1, 2
#: The exit code after Ctrl-C, as of shells.
INTERRUPTED = 130
