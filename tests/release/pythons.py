"""The tests of the core on other versions of Python: what `make test-pythons` runs.

    python -m tests.release.pythons [INTERPRETER ...]

Without arguments it takes those of `VERSIONS` that are on the path. The wheel is installed and
imported; the tests, none of which runs Spark, are those of the checkout and import its package.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from tests.release.distributions import ROOT
from tests.release.environments import distributions, new_environment

VERSIONS = ("python3.12", "python3.13", "python3.14")
#: The tests that need neither Spark nor a database server.
TESTS = (
    "tests/types", "tests/expressions", "tests/sql", "tests/schema", "tests/query", "tests/catalog",
    "tests/mappings", "tests/migration", "schema_core/types", "schema_core/schema",
    "schema_core/expressions", "schema_core/errors/__init__.py",
)  # fmt: skip
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not spark and not slow")


def run_tests(interpreter: str, wheel: Path, folder: Path) -> int:
    """Install the wheel for an interpreter and run the tests; return the exit code."""
    with new_environment(folder, f"{wheel}[all,testing]", python=interpreter) as environment:
        python = str(environment.python)
        imported = environment.run_program("import schema_core, sys; print(sys.version)")
        print(f"{interpreter}: {imported.stdout or imported.stderr}", flush=True)
        done = environment.run([python, *PYTEST, *TESTS], ROOT, PYTHONPATH=str(ROOT))
        print(done.stdout[-4000:], done.stderr[-2000:], flush=True)
        return imported.returncode or done.returncode


def main() -> None:
    """Test the interpreters that the arguments name, or those that are installed."""
    interpreters = sys.argv[1:] or [version for version in VERSIONS if shutil.which(version)]
    if not interpreters:
        print(f"none of {', '.join(VERSIONS)} is on the path: nothing was tested")
        return
    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        wheel, _ = distributions(Path(temporary) / "built")
        for interpreter in interpreters:
            failed |= bool(run_tests(interpreter, wheel, Path(temporary) / "environment"))
    sys.exit(failed)


if __name__ == "__main__":
    main()
