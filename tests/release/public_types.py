"""The annotations as pyright reads them: what `make pyright` runs.

    python -m tests.release.public_types

Pyright is installed in an environment of its own, beside the built wheel; the other packages are
those of this environment. Every name of the package that is not of the command line must have a
type that is written down, and the example and the README must pass in strict mode.
"""

from __future__ import annotations

import json
import sys
import sysconfig
import tempfile
from pathlib import Path

from tests.release.distributions import ROOT
from tests.release.environments import Environment, distributions, new_environment
from tests.test_docs import source_of

#: Programs do not import the command line, of which some enumerations are computed.
INTERNAL = "schema_core.cli."

#: PyArrow has no types, so what it returns is unknown; examples import what later ones use.
STRICT = {
    "typeCheckingMode": "strict",
    "reportMissingTypeStubs": "none",
    "reportUnknownArgumentType": "none",
    "reportUnknownMemberType": "none",
    "reportUnusedExpression": "none",
    "reportUnusedImport": "none",
}


def incomplete_names(environment: Environment) -> list[str]:
    """Return the names whose types are unknown or inferred, and print how many there are."""
    pyright = str(environment.python.parent / "pyright")
    done = environment.run(
        [pyright, "--verifytypes", "schema_core", "--ignoreexternal", "--outputjson"]
    )
    report = json.loads(done.stdout)["typeCompleteness"]
    exported = [item for item in report["symbols"] if item["isExported"]]
    unknown = sorted(item["name"] for item in exported if not item["isTypeKnown"])
    print(f"{len(exported):,} names, {report['completenessScore']:.2%} with known types")
    for name in unknown:
        print(f"  not known: {name}")
    return [name for name in unknown if not name.startswith(INTERNAL)]


def check_examples(environment: Environment) -> int:
    """Check the example and the README in strict mode; return the exit code."""
    folder = environment.folder / "examples"
    folder.mkdir()
    (folder / "pyrightconfig.json").write_text(json.dumps(STRICT), encoding="utf-8")
    example = ROOT / "docs" / "examples" / "flights.py"
    (folder / example.name).write_text(example.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "readme.py").write_text(source_of(ROOT / "README.md"), encoding="utf-8")
    done = environment.run(
        [str(environment.python.parent / "pyright"), "--project", str(folder), str(folder)]
    )
    print(done.stdout, end="")
    return done.returncode


def main() -> None:
    """Check the built wheel."""
    with tempfile.TemporaryDirectory() as temporary:
        wheel, _ = distributions(Path(temporary) / "built")
        folder = Path(temporary) / "environment"
        with new_environment(folder, "pyright[nodejs]") as environment:
            environment.install("--no-deps", str(wheel))
            (site,) = folder.glob("venv/lib/python*/site-packages")
            (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
            sys.exit(bool(incomplete_names(environment)) or check_examples(environment))


if __name__ == "__main__":
    main()
