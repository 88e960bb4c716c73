"""Every entry point names its missing extra, with only the standard library installed."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator

import pytest

from schema_core.base.plugins import EXTRAS, extra_of, install_command
from tests.test_layers import MAY_USE, PACKAGE, ROOT

#: Every third-party module that an extra installs.
MODULES = sorted({module for modules in EXTRAS.values() for module in modules})

#: Run in a separate process, in which no module of an extra can be imported.
BLOCKED = f"""
import json, sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in {set(MODULES)!r}:
            return None
        return PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [Without if one is PathFinder else one for one in sys.meta_path]

def outcome(call):
    try:
        found = call()
    except BaseException as error:
        return [type(error).__name__, getattr(error, "code", None), getattr(error, "hint", None)]
    return ["returned", None, None]
"""


def run(program: str) -> dict[str, list[str | None]]:
    """Return the output of a program in which no module of an extra can be imported."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED + program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    outcomes: dict[str, list[str | None]] = json.loads(done.stdout)
    return outcomes


def missing(extra: str) -> list[str | None]:
    """Return the output for a missing extra."""
    return ["NotFoundError", "missing-dependency", install_command(extra)]


def test_the_package_is_installed_as_one_constant_states() -> None:
    """Hints, templates and pages of codes do not name a package that is on no index."""
    named = re.compile(r"""pip install ['"]?schema-core""")
    paths = [path for suffix in ("py", "md", "txt") for path in PACKAGE.rglob(f"*.{suffix}")]

    assert paths
    assert [] == [path for path in paths if named.search(path.read_text(encoding="utf-8"))]


def test_the_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = project["optional-dependencies"]

    for extra, modules in EXTRAS.items():
        names = {
            item.partition("[")[0].partition(">")[0].partition("<")[0] for item in declared[extra]
        }
        assert names == set(modules.values())
    assert {module for module in MAY_USE if extra_of(module) is None} == set()


#: Expression -> the extra that it requires.
ENTRY_POINTS = {
    "schema_core.mappings.dialects.from_ddl('CREATE TABLE t (a int)', 'mysql')": "dialects",
    "schema_core.Schema.from_ddl('CREATE TABLE t (a int)', 'mysql')": "dialects",
    "schema_core.catalogs.SqlCatalog('c', 'sqlite://').open()": "sql",
    "env.execute_sql(\"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite://')\")": "sql",
    "env.execute_sql(\"CREATE CATALOG h WITH ('type' = 'hive')\")": "spark",
    "env.execute_sql('SELECT 1').collect().__next__()": "spark",
    "env.execute_sql('EXPLAIN SELECT 1')": "spark",
    "env.sql_query('SELECT 1').to_pandas()": "spark",
    "env.sql_query('SELECT 1').execute().print()": "spark",
    "env.from_elements([(1,)], ['a']).explain()": "spark",
    "env.execute_sql('INSERT INTO t SELECT 1')": "spark",
    "env.execute_sql('CREATE TABLE c WITH (' + options + ') AS SELECT 1 AS a')": "spark",
    "env.from_pandas(None)": "arrow",
    "schema_core.spark.session.session.JobSession().get()": "spark",
    "schema_core.testing.names": "testing",
    "schema_core.testing.CatalogContract": "testing",
}


def test_every_entry_point_names_its_extra() -> None:
    program = f"""
import schema_core.catalogs, schema_core.mappings.dialects
import schema_core.environment.table_api.elements
import schema_core.testing
import schema_core.spark.session.session
options = "'connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'csv'"
settings = schema_core.EnvironmentSettings.in_batch_mode()
env = schema_core.TableEnvironment.create(settings)
env.execute_sql("CREATE TABLE t (a INT) WITH (" + options + ")")
print(json.dumps({{call: outcome(lambda: eval(call)) for call in {list(ENTRY_POINTS)!r}}}))
"""
    assert {call: missing(extra) for call, extra in ENTRY_POINTS.items()} == run(program)


#: Module of functions that need a third party -> the extra.
FUNCTIONS = {
    "schema_core.mappings.arrow.types": "arrow",
    "schema_core.mappings.arrow.schemas": "arrow",
    "schema_core.mappings.arrow.spark": "arrow",
    "schema_core.mappings.spark.pyspark_types": "spark",
}

#: Functions of these modules that import no third party.
WITHOUT_EXTRA = frozenset({"type_of", "extension_of"})


@pytest.mark.parametrize(("module", "extra"), FUNCTIONS.items())
def test_every_mapping_names_its_extra(module: str, extra: str) -> None:
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text())
    names = [
        item.name
        for item in tree.body
        if isinstance(item, ast.FunctionDef) and not item.name.startswith("_")
    ]
    names = [name for name in names if name not in WITHOUT_EXTRA]
    program = f"""
import {module} as module
print(json.dumps({{name: outcome(lambda: getattr(module, name)(None)) for name in {names!r}}}))
"""
    assert names
    assert {name: missing(extra) for name in names} == run(program)


def third_parties(node: ast.AST) -> Iterator[str]:
    """The modules of extras that are imported in a function, but for its inner functions."""
    for item in ast.walk(node):
        match item:
            case ast.Import(names=names):
                yield from (name.name for name in names if extra_of(name.name))
            case ast.ImportFrom(module=str(module)) if extra_of(module):
                yield module


def test_every_public_function_that_imports_a_third_party_checks_it() -> None:
    """Private functions are called by public ones; an object of the module implies the module."""
    given = {"type_of", "check_spark", "running_session", "why_not_local"}
    unchecked = []
    for file in sorted(PACKAGE.rglob("*.py")):
        layer = file.relative_to(PACKAGE).parts[0]
        if layer in ("cli", "testing", "spark", "connectors") or file.parent.name == "hive":
            continue
        for node in ast.parse(file.read_text()).body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            checks = "needs(" in "".join(map(ast.unparse, node.decorator_list))
            checks = checks or "require_modules(" in ast.unparse(node)
            if list(third_parties(node)) and not checks and node.name not in given:
                unchecked.append(f"{file.name}: {node.name}")

    assert [] == unchecked


#: The files that import pyarrow, pyiceberg or deltalake at their beginning.
OPEN_TABLES = (
    *(f"connectors/open_tables/{name}.py" for name in ("streams", "tasks")),
    *(
        f"connectors/delta/{name}.py"
        for name in (
            "client",
            "definitions",
            "file_statistics",
            "files",
            "reading",
            "streams",
            "tasks",
            "writing",
        )
    ),
    "catalogs/delta/store.py",
    *(f"mappings/iceberg/{name}.py" for name in ("partitioning", "schemas", "types")),
    *(f"connectors/iceberg/{name}.py" for name in ("client", "reading", "tasks", "writing")),
    *(f"catalogs/iceberg/{name}.py" for name in ("definitions", "store", "views")),
)


def test_the_package_is_imported_without_extras() -> None:
    names = [
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for file in sorted(PACKAGE.rglob("*.py"))
        if file.relative_to(PACKAGE).parts[0] not in ("cli", "testing")
        and file.parent.name != "iceberg"
        and str(file.relative_to(PACKAGE))
        not in (
            "catalogs/jdbc/inspection.py",
            "catalogs/sql/entries.py",
            "connectors/kafka/client_source.py",
            *OPEN_TABLES,
        )
    ]
    program = f"""
from importlib import import_module
print(json.dumps({{name: outcome(lambda: import_module(name)) for name in {names!r}}}))
"""
    assert [] == [name for name, value in run(program).items() if value[0] != "returned"]


def test_the_command_line_names_its_extra() -> None:
    program = BLOCKED + "from schema_core.cli.main import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert install_command("cli") in done.stderr
    assert "Traceback" not in done.stderr

    for option in ("", ", '--details'"):
        asked = f"sys.argv = ['schema-core', 'doctor'{option}]\n"
        program = f"{BLOCKED}{asked}from schema_core.cli.main import main\nmain()"
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert f"the package 'typer' is not installed; {install_command('cli')}" in done.stdout


def test_doctor_reports_only_usable_extras_as_ready() -> None:
    blocked = sorted(set(MODULES) - {"typer", "rich", "pygments"})
    program = (BLOCKED.replace(repr(set(MODULES)), repr(set(blocked)))) + (
        "import os\nos.environ['COLUMNS'] = '300'\n"
        "sys.argv = ['schema-core', 'doctor', '--details']\n"
        "from schema_core.cli.main import main\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    ready = [line.split()[1] for line in done.stdout.splitlines() if " ready " in line]

    assert done.returncode == 0, done.stderr
    assert ["generic_in_memory"] == ready
    for extra in ("arrow", "spark", "sql", "postgresql", "dialects"):
        assert install_command(extra) in done.stdout
