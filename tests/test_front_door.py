"""The public modules and their names are recorded, so that they change only on purpose."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from inspect import ismodule
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RECORDED = ROOT / "tests" / "front_door.txt"

#: The modules that users and plugins import. All others are internal.
MODULES = (
    "schema_core",
    "schema_core.base.caching",
    "schema_core.catalog",
    "schema_core.catalogs",
    "schema_core.connectors",
    "schema_core.environment",
    "schema_core.expressions",
    "schema_core.mappings.arrow",
    "schema_core.mappings.dialects",
    "schema_core.migration",
    "schema_core.properties",
    "schema_core.schema",
    "schema_core.spark",
    "schema_core.testing",
    "schema_core.types",
)

#: The modules of PyFlink, whose names are compared with PyFlink's in test_pyflink_names.py.
PYFLINK = tuple(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((ROOT / "schema_core" / "pyflink").rglob("*.py"))
    if path.name != "absent.py"
)

ADVICE = """
The public names are not those of tests/front_door.txt.
  only in the modules:         {new}
  only in front_door.txt:      {gone}
A new name: add its line to the file, and an entry to CHANGELOG.md.
A removed name breaks its users: restore it, or list it in CHANGELOG.md under "Changed".
"""


def exported(module: str) -> list[str]:
    names: list[str] = import_module(module).__all__
    return names


def test_public_names_are_the_recorded_ones() -> None:
    recorded = RECORDED.read_text(encoding="utf-8").split()
    public = {f"{module}.{name}" for module in MODULES for name in exported(module)}

    new, gone = sorted(public - set(recorded)), sorted(set(recorded) - public)
    assert ([], []) == (new, gone), ADVICE.format(new=new, gone=gone)
    assert sorted(recorded) == recorded


@pytest.mark.parametrize("module", [*MODULES, *PYFLINK])
def test_every_public_name_exists_and_is_documented(module: str) -> None:
    names = exported(module)
    objects = {name: getattr(import_module(module), name) for name in names}

    assert len(set(names)) == len(names)
    assert [] == [name for name, object_ in objects.items() if not object_.__doc__]
    with pytest.raises(AttributeError):
        getattr(import_module(module), "no_such_name")  # noqa: B009 - mypy knows that it is absent


STUBS = sorted((ROOT / "schema_core").rglob("*.pyi"))


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.parent.name)
def test_stubs_only_export_names_from_modules(stub: Path) -> None:
    """A stub declares the names of its package and contains nothing else."""
    module = import_module(".".join(stub.parent.relative_to(ROOT).parts))
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    names = []
    for node in tree.body:
        assert isinstance(node, ast.ImportFrom), ast.unparse(node)
        names += [(name.name, name.asname) for name in node.names]

    assert [] == [pair for pair in names if pair[0] != pair[1]]
    assert sorted(name for name, _ in names) == module.__all__


# --- documentation -------------------------------------------------------------------------------

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))
BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def code_of(page: Path) -> Iterator[str]:
    """The examples of a page as Python code, without prompts and outputs."""
    text = page.read_text(encoding="utf-8")
    for block in [text] if page.suffix == ".py" else BLOCK.findall(text):
        lines = block.splitlines()
        if any(line.startswith(">>> ") for line in lines):
            lines = [line[4:] for line in lines if line.startswith((">>> ", "... "))]
        yield "\n".join(lines)


@pytest.mark.parametrize("page", [*PAGES, *EXAMPLES], ids=lambda page: page.name)
def test_documentation_imports_only_public_names(page: Path) -> None:
    internal = []
    for code in code_of(page):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("schema_core"):
                module = node.module or ""
                public = exported(module) if module in (*MODULES, *PYFLINK) else []
                internal += [f"{node.module}.{x.name}" for x in node.names if x.name not in public]

    assert [] == internal


@pytest.mark.parametrize("module", [*MODULES, *PYFLINK])
def test_no_public_name_is_hidden_by_a_module(module: str) -> None:
    """The import of a module sets the attribute of its package that has its name."""
    package = ROOT.joinpath(*module.split("."))
    modules = {path.stem for path in package.glob("*") if path.is_dir() or path.suffix == ".py"}
    names = modules & set(exported(module))

    assert [] == [name for name in names if not ismodule(getattr(import_module(module), name))]
