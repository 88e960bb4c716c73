"""Rules of the project that the linters do not check."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "schema_core"
MODULES = sorted(PACKAGE.rglob("*.py"))

LONGEST_FUNCTION = 60

#: Characters of a hint such as 'add a CAST', which may be repeated.
SHORT_HINT = 12

#: forbidden pattern in a tracked file -> why
FOREIGN = {
    r"(?<![\w.])/(?:work|home|root|Users)/": "a local path",
    r"(?<![\w.])/tmp/": "a local path: use `tempfile` or `tmp_path`",
    r"\b(?:files\.pythonhosted|pypi|test\.pypi)\.org\b": "the host of a package registry",
    r"--(?:extra-)?index-url|--find-links": "the package index is configured in pip",
}
#: forbidden pattern in the package -> why
UNFINISHED = {
    r"\b(?:TODO|FIXME|HACK)\b": "unfinished work belongs in the issue tracker",
    r"\bNotImplementedError\b": "unsupported operations raise an error of schema_core.errors",
}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tracked() -> Iterator[Path]:
    """Yield the text files under version control, except this one, which names what it forbids."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        path = ROOT / line
        if path.is_file() and path.suffix != ".gz" and path != Path(__file__):
            yield path


def found(patterns: dict[str, str], path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8", errors="replace")
    return [
        f"{name(path)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}: {why}"
        for pattern, why in patterns.items()
        for match in re.finditer(pattern, text)
    ]


def test_no_file_contains_paths_of_a_machine() -> None:
    assert [] == [line for path in tracked() for line in found(FOREIGN, path)]


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_module_has_a_docstring_and_no_todo(module: Path) -> None:
    tree = ast.parse(module.read_text(encoding="utf-8"))

    assert [] == found(UNFINISHED, module)
    assert ast.get_docstring(tree), "a module opens with one sentence on what it holds"


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_functions_are_short(module: Path) -> None:
    """The length of files is not limited; a function fits on a screen."""
    functions = [
        node
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]

    assert [] == [f.name for f in functions if length(f) > LONGEST_FUNCTION]


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of code, without the docstring."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    docstring = ast.get_docstring(function, clean=False)
    return lines - (docstring.count("\n") + 1 if docstring else 0)


#: The modules of tests for authors of connectors, catalogs and planners: pytest runs them.
CONTRACTS = {
    "connector_contract.py",
    "connector_job_contract.py",
    "connector_pushdown_contract.py",
    "catalog_contract.py",
    "catalog_concurrency_contract.py",
}


def test_nothing_depends_on_assert() -> None:
    """``python -O`` removes assertions: conditions raise errors, types are narrowed by `cast`."""
    asserting = {
        name(module)
        for module in MODULES
        if any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(module.read_bytes())))
    }

    assert {f"schema_core/testing/{contract}" for contract in CONTRACTS} == asserting


def hints(node: ast.AST) -> Iterator[str]:
    """Yield the complete strings in a value, without the parts of f-strings."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from hints(child)


def test_the_text_of_a_hint_stands_once() -> None:
    places: dict[str, list[str]] = {}
    for module in MODULES:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                for hint in hints(node.value):
                    places.setdefault(hint, []).append(f"{name(module)}:{node.value.lineno}")

    assert len(places) > 300
    shared = re.findall('"(.+)"$', (PACKAGE / "errors/hints.py").read_text("utf-8"), re.MULTILINE)
    copies = {hint: lines for hint, lines in places.items() if hint in shared or len(lines) > 1}
    assert {} == {hint: lines for hint, lines in copies.items() if len(hint) >= SHORT_HINT}


def test_every_lint_exception_has_its_reason() -> None:
    configuration = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    rules = re.findall(r'(?m)^ +"[A-Z]+\d*",(.*)$', configuration)

    assert rules
    assert [] == [rule for rule in rules if not re.match(r" +# \w", rule)]
