"""The lowest versions of all dependencies: what `make test-lowest` runs.

    python -m tests.release.lowest

Every requirement of `pyproject.toml` has a lower bound. The wheel is installed with all extras in
exactly these versions; the packages that they require themselves are the newest that fit. The tests
of the core and of the command, a job on Spark, the demo, the build and the documentation follow.
"""

from __future__ import annotations

import re
import sys
import tempfile
import tomllib
from pathlib import Path

from tests.release.distributions import ROOT
from tests.release.environments import Environment, distributions, new_environment
from tests.release.extras import JAVA, JOB
from tests.release.pythons import PYTEST, TESTS

#: A requirement with its lower bound, and further bounds.
REQUIREMENT = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[a-z,]+\])?>=([0-9.]+)(?:,<[0-9.]+)?")
#: A package of the project itself.
OWN = "schema-core["
EXTRAS = "all,testing,demo,docs,dev"


def requirements() -> list[str]:
    """Return the requirements of all extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for extra in project["project"]["optional-dependencies"].values():
        listed += [item for item in extra if not item.startswith(OWN)]
    return listed


def lowest_versions() -> dict[str, str]:
    """Return the lower bound of each required package.

    Raises:
        ValueError: for a requirement without one, and for two different ones of a package.
    """
    result: dict[str, str] = {}
    for requirement in requirements():
        match = REQUIREMENT.fullmatch(requirement)
        if match is None or result.setdefault(match[1], match[2]) != match[2]:
            raise ValueError(requirement)
    return result


def commands(environment: Environment) -> dict[str, list[str]]:
    """Return what is run in the environment, by name."""
    python = str(environment.python)
    return {
        "tests": [python, *PYTEST, *TESTS, "tests/cli"],
        "job": [python, "-c", JAVA + JOB],
        "demo": [python, "docs/examples/flights.py", str(environment.folder / "result")],
        "build": [python, "-m", "hatchling", "build", "-d", str(environment.folder / "built")],
        "docs": [python, "-m", "mkdocs", "build", "--strict", "-d",
                 str(environment.folder / "site")],
    }  # fmt: skip


def main() -> None:
    """Install the lowest versions and run the commands, or those that the arguments name."""
    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheel, _ = distributions(folder / "built")
        versions = folder / "lowest.txt"
        lowest = lowest_versions()
        versions.write_text(
            "".join(f"{name}=={version}\n" for name, version in lowest.items()), encoding="utf-8"
        )
        name = f"{wheel}[{EXTRAS}]"
        with new_environment(folder / "environment", name, versions=versions) as environment:
            print(" ".join(f"{name}=={version}" for name, version in lowest.items()), flush=True)
            for label, command in commands(environment).items():
                if sys.argv[1:] and label not in sys.argv[1:]:
                    continue
                done = environment.run(command, ROOT, PYTHONPATH=str(ROOT), NO_MKDOCS_2_WARNING="1")
                failed |= bool(done.returncode)
                print(f"{label:8} {'FAILED' if done.returncode else 'works'}", flush=True)
                output = done.stdout + done.stderr
                print(output[-8000:] if done.returncode else output[-200:], flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
