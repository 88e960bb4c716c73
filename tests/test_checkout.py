"""The library works from a copy of its directory on the path, without installed metadata."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from importlib import import_module
from pathlib import Path

import pytest

import schema_core
from schema_core.base import plugins

PACKAGES = Path(sysconfig.get_paths()["purelib"])

PROGRAM = """
import sys
sys.path[1:1] = sys.argv[1:]
from importlib.metadata import PackageNotFoundError, version
try:
    version("schema-core")
except PackageNotFoundError:
    pass
else:
    raise SystemExit("schema-core is installed here")

import json
import pyarrow
from schema_core import DataTypes, EnvironmentSettings, Schema, TableEnvironment
from schema_core.base import plugins
from schema_core.catalog import CatalogTable

schema = Schema.from_ddl("CREATE TABLE t (id INT NOT NULL)", "postgres")
table = CatalogTable(schema, options={"connector": "datagen"})
environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
environment.execute_sql("CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///:memory:')")
environment.execute_sql("CREATE TABLE t (id INT) WITH ('connector' = 'datagen')")
print(json.dumps({
    "schema": str(schema),
    "to_ddl": schema.to_ddl("postgres"),
    "options": dict(CatalogTable.from_properties(table.to_properties()).options),
    "type": str(DataTypes.of(pyarrow.int32())),
    "planner": plugins.require(plugins.PLANNERS, "spark").__name__,
    "problems": [
        plugin.problem for group in plugins.GROUPS for plugin in plugins.discover(group)
    ],
    "catalogs": environment.list_catalogs(),
    "explain": str(environment.from_path("t").get_resolved_schema().explain()),
}))
"""


def test_a_copy_on_the_path_is_enough(tmp_path: Path) -> None:
    """Third parties are there; the metadata of schema-core is not."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(schema_core.__file__).parent, tmp_path / "schema_core", ignore=ignored)
    others = tmp_path / "packages"
    others.mkdir()
    for package in PACKAGES.iterdir():
        if not package.name.startswith(("schema_core", "_editable_impl_schema_core")):
            (others / package.name).symlink_to(package)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-S", "-E", program, others], capture_output=True, text=True, check=False
    )

    assert 0 == done.returncode, done.stderr
    result = json.loads(done.stdout)
    assert {None} == set(result["problems"])
    assert {"connector": "datagen"} == result["options"]
    assert ["INT", "SparkPlanner"] == [result["type"], result["planner"]]
    assert "(\n  `id` INT NOT NULL\n)" == result["schema"]
    assert result["to_ddl"].startswith("CREATE TABLE")
    assert ["c", "default_catalog"] == sorted(result["catalogs"])
    assert result["explain"].startswith("`id` INT")


@pytest.mark.parametrize("name", plugins.HIGHER)
def test_what_lower_layers_call_exists(name: str) -> None:
    assert callable(plugins.load_higher(name))


@pytest.mark.parametrize("group", plugins.OWN)
def test_own_implementations_are_in_modules_of_the_library(group: str) -> None:
    for target in plugins.OWN[group].values():
        assert import_module(target.partition(":")[0]).__name__.startswith("schema_core.")
