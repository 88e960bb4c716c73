"""The entry point of ``schema-core``, which reports a missing extra and unwritable output."""

from __future__ import annotations

import gc
import logging
import os
import sys
from io import TextIOWrapper

from schema_core.base.plugins import extra_of, install_hint
from schema_core.cli import UNREADABLE, WRONG

#: New objects until a garbage collection: with Python's 700, imports cause hundreds, which find
#: nothing.
COLLECTED = 100_000


def main() -> None:
    """Run the command that the arguments name."""
    gc.set_threshold(COLLECTED)
    logging.getLogger().addFilter(is_not_interrupt)
    try:
        from schema_core.cli.app import application  # requires the extra `cli`
    except ModuleNotFoundError as missing:
        if extra_of(missing.name or "") != "cli":
            raise
        if sys.argv[1:2] == ["doctor"]:
            from schema_core.cli.installation import components, summary

            shown = map(" | ".join, (part[:3] for part in components()))
            print("\n".join(shown) if "--details" in sys.argv else summary())
            return
        sys.exit(f"schema-core: the command requires an extra: {install_hint('typer')}")
    if sys.stdout is None:
        sys.exit(unwritable("it is closed"))
    if isinstance(sys.stdout, TextIOWrapper):  # names may contain characters outside its encoding
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            application()()
        finally:
            flush()
            gc.freeze()  # otherwise Python searches all objects for cycles when it exits
    except OSError as error:
        discard_output()
        if isinstance(error, BrokenPipeError):  # the reader closed the pipe
            sys.exit(WRONG)
        sys.exit(unwritable(error.strerror or str(error)))


def is_not_interrupt(record: logging.LogRecord) -> bool:
    """Filter out Ctrl-C, which py4j logs with its stack as an error."""
    return record.exc_info is None or record.exc_info[0] is not KeyboardInterrupt


def unwritable(reason: str) -> int:
    """Report on stderr that stdout cannot be written; return the exit code."""
    print(f"schema-core: cannot write to stdout: {reason}", file=sys.stderr)
    return UNREADABLE


def flush() -> None:
    """Flush stdout, so that a full disk is reported before the exit."""
    if not sys.stdout.closed:
        sys.stdout.flush()


def discard_output() -> None:
    """Redirect stdout to the null device, so that Python does not flush it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    main()
