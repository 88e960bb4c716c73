"""The tests that `make quick` runs: those of what has changed, and the fast ones of everything."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Tests that take seconds and fail for mistakes in any file.
ALWAYS = ("tests/types", "tests/schema", "tests/sql", "tests/test_layers.py", "tests/test_state.py")
#: Package -> its tests without Spark, where they have another name.
ELSEWHERE = {"spark": "tests/spark/compiler"}


def related_tests(changed: Iterable[str]) -> list[str]:
    """Return directories and files of tests, in order, for changed files of the project.

    >>> related_tests(["schema_core/query/scope.py", "tests/cli/test_run.py", "README.md"])[:2]
    ['schema_core/query/scope.py', 'tests/cli/test_run.py']
    >>> "tests/query" in related_tests(["schema_core/query/scope.py"])
    True
    """
    chosen = set(ALWAYS)
    for name in changed:
        path = Path(name)
        if path.suffix != ".py" or not (ROOT / path).exists():
            continue
        match path.parts:
            case ("schema_core", package, _, *_):
                chosen |= {name, ELSEWHERE.get(package, f"tests/{package}")}
            case ("schema_core", _):
                chosen.add(name)
            case ("tests" | "properties", *_) if path.name.startswith("test_"):
                chosen.add(name)
    return sorted(name for name in chosen if (ROOT / name).exists())


def changed_files() -> list[str]:
    """Return the files that differ from the branch main, or from the commit before if on it."""

    def git(*arguments: str) -> list[str]:
        command = ["git", *arguments]
        answer = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
        return answer.stdout.splitlines()

    base = git("merge-base", "HEAD", "main")
    if not base or base == git("rev-parse", "HEAD"):
        base = ["HEAD~1"]
    return [*git("diff", "--name-only", *base), *git("ls-files", "--others", "--exclude-standard")]


if __name__ == "__main__":
    print(*related_tests(changed_files()))
