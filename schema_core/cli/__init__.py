"""The command line ``schema-core``. Typer and rich are imported here and nowhere else.

The exit code is 0 for success, 1 for errors in the input, which are printed, and 2 if the input
cannot be read, the output cannot be written, or the arguments are invalid. It is 130 after Ctrl-C.
"""

#: Exit codes.
GOOD, WRONG, UNREADABLE = 0, 1, 2
#: The exit code after Ctrl-C, as of shells.
INTERRUPTED = 130
