"""``python -m schema_core.pyflink job.py``: run an unchanged program of PyFlink."""

from __future__ import annotations

import argparse

from schema_core.errors import SchemaCoreError
from schema_core.pyflink.programs import run_program

__all__: list[str] = []


def main() -> None:
    """Run the program that the arguments name; exit with 2 if it cannot be started."""
    parser = argparse.ArgumentParser(
        prog="python -m schema_core.pyflink",
        description="Run an unchanged program of PyFlink on Spark.",
    )
    parser.add_argument(
        "--override-pyflink",
        action="store_true",
        help="Replace an installed PyFlink in this process.",
    )
    parser.add_argument("file", help="A program in Python.")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="Arguments of the program.")
    options = parser.parse_args()
    try:
        run_program(options.file, options.arguments, override=options.override_pyflink)
    except SchemaCoreError as error:
        parser.exit(2, f"schema-core: error[{error.code}]: {error}\n")


if __name__ == "__main__":
    main()
