"""The command line ``schema-core``, the only package that imports Typer and rich."""

#: Exit codes: success, errors in the input, and what prevents a result.
GOOD, WRONG, UNREADABLE = 0, 1, 2
#: The exit codes after Ctrl-C and after SIGTERM, as of shells.
INTERRUPTED, TERMINATED = 130, 143
