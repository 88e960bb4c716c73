"""The options that only this library sets: refused from outside, validated from a catalog."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from schema_core import ModelDescriptor, Schema, TableDescriptor
from schema_core.base.paths import ObjectPath
from schema_core.catalog import own_options
from schema_core.catalog.changes.catalog_changes import (
    AddDatabase,
    AddObject,
    CatalogChange,
    ModifyTable,
    apply_to_catalog,
)
from schema_core.catalog.changes.json_format import (
    catalog_changes_from_json,
    catalog_changes_to_json,
)
from schema_core.catalog.changes.table_changes import SetOption
from schema_core.catalog.managed import directory_of
from schema_core.catalog.objects import CatalogDatabase, CatalogTable
from schema_core.catalog.own_options import (
    COLUMN_HISTORY,
    MANAGED,
    PENDING_JOB,
    REPLACED,
    REPLACED_DIRECTORY,
    REPLACED_HISTORY,
)
from schema_core.catalog.resolve import resolve_table
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.jobs.pending import Owner, PendingJob
from schema_core.environment.planner import BoundTable
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.properties import (
    decode_materialized_table,
    decode_model,
    decode_table,
    decode_view,
    encode_table,
    read_map,
)
from schema_core.properties.property_map import decode_object
from schema_core.properties.sidecar import OPTIONS_KEY
from schema_core.schema.resolve import SchemaResolver
from tests.support import store_options

OWN = (MANAGED, PENDING_JOB, REPLACED, REPLACED_DIRECTORY, REPLACED_HISTORY, COLUMN_HISTORY)
ABANDONED = PendingJob(2, "0" * 32, Owner(Owner.this().host, 2**22 + 1, 1))
SCHEMA = Schema.new_builder().column("a", "INT").build()


class RecoveringPlanner(DryRunPlanner):
    """A planner for which the rows of every job are visible, or of none."""

    is_committed = False

    def was_committed(self, target: BoundTable, job: str) -> bool | None:
        return self.is_committed

    def clean_up(self, target: BoundTable, job: str) -> None:
        """Remove nothing."""

    def recover(self, target: BoundTable, job: str = "") -> None:
        """Finish nothing."""


@pytest.fixture
def planner() -> RecoveringPlanner:
    return RecoveringPlanner()


@pytest.fixture
def environment(tmp_path: Path, planner: RecoveringPlanner) -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), planner=planner)
    made.execute_sql(
        f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path / 'c.db'}',"
        f" 'warehouse' = '{tmp_path / 'house'}')"
    )
    made.use_catalog("c")
    made.execute_sql("CREATE TABLE t (a INT) WITH ('format' = 'csv')")
    made.execute_sql("CREATE TABLE p (a INT) WITH ('connector' = 'print')")
    made.execute_sql("CREATE VIEW v AS SELECT 1 AS a")
    return made


@pytest.fixture
def victims(tmp_path: Path) -> Iterator[None]:
    """Put files outside of the warehouse and require that they are still there after the test."""
    files = [tmp_path / "victim" / "file", tmp_path / "house" / "victim.db" / "file"]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text("x")
    yield
    assert [] == [file for file in files if not file.exists()]


def code_of(call: Callable[[], object]) -> str | None:
    try:
        call()
    except SchemaCoreError as error:
        return error.code
    return None


# --- from outside --------------------------------------------------------------------------------

STATEMENTS = (
    "CREATE TABLE n (a INT) WITH ({})",
    "CREATE TABLE n (a INT) WITH ('connector' = 'print', {})",
    "CREATE TEMPORARY TABLE n (a INT) WITH ('connector' = 'print', {})",
    "CREATE TABLE IF NOT EXISTS t (a INT) WITH ({})",
    "CREATE TABLE n WITH ({}) LIKE t",
    "CREATE TABLE n WITH ({}) AS SELECT 1 AS a",
    "CREATE OR REPLACE TABLE t WITH ({}) AS SELECT 1 AS a",
    "REPLACE TABLE t WITH ({}) AS SELECT 1 AS a",
    "ALTER TABLE t SET ({})",
    "ALTER TABLE p SET ({})",
    "ALTER TABLE t RESET ({key})",
    "CREATE DATABASE n WITH ({})",
    "ALTER DATABASE `default` SET ({})",
    "CREATE CATALOG n WITH ('type' = 'generic_in_memory', {})",
    "ALTER CATALOG c SET ({})",
    "CREATE MODEL n INPUT (a INT) OUTPUT (b INT) WITH ('provider' = 'x', {})",
    "CREATE CONNECTION n WITH ('type' = 'x', {})",
    "INSERT INTO p /*+ OPTIONS({}) */ VALUES (1)",
    "SET {}",
)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_does_not_set_them(environment: TableEnvironment, statement: str) -> None:
    for key in (*OWN, "schema-core.later", "Schema-Core.Managed", "schema-core."):
        value = f"'{key}' = '../victim'"
        text = statement.format(value, key=f"'{key}'")
        assert "reserved-option" == code_of(partial(environment.execute_sql, text)), text
    assert ["p", "t", "v"] == environment.list_tables()


def _apply(change: CatalogChange, environment: TableEnvironment) -> None:
    apply_to_catalog([change], environment.get_catalog("c"))


def _apply_json(change: CatalogChange, environment: TableEnvironment) -> None:
    changes = catalog_changes_from_json(catalog_changes_to_json([change]))
    apply_to_catalog(changes, environment.get_catalog("c"))


def _outside(key: str) -> dict[str, Callable[[TableEnvironment], object]]:
    map_ = {"schema.0.name": "a", "schema.0.data-type": "INT"}
    plain, sidecar = {key: "../victim"}, {OPTIONS_KEY: json.dumps({key: "../victim"})}
    model = {"input-schema.0.name": "a", "input-schema.0.data-type": "INT"}
    materialized = map_ | {
        "original-query": "SELECT 1", "expanded-query": "SELECT 1", "freshness-interval": "1",
        "freshness-unit": "MINUTE", "logical-refresh-mode": "FULL", "refresh-mode": "FULL",
        "refresh-status": "ACTIVATED",
    }  # fmt: skip
    table = CatalogTable(SCHEMA, options={"connector": "print", key: "../victim"})
    path = ObjectPath("default", "n")
    changes = (
        AddObject(path, table),
        AddObject(path, CatalogTable(SCHEMA, options={key: "../victim"})),
        ModifyTable(ObjectPath("default", "p"), (SetOption(key, "../victim", None),)),
        AddDatabase("n", CatalogDatabase.create_instance({key: "../victim"})),
    )
    return {
        "the builder of a descriptor": lambda env: TableDescriptor.for_connector("print").option(
            key, "x"
        ),
        "a descriptor": lambda env: env.create_table(
            "n", TableDescriptor(SCHEMA, {"connector": "print", key: "x"})
        ),
        "a temporary table": lambda env: env.create_temporary_table(
            "n", TableDescriptor(SCHEMA, {"connector": "print", key: "x"})
        ),
        "the builder of a model": lambda env: ModelDescriptor.for_provider("x").option(key, "x"),
        "a model": lambda env: env.create_model("n", ModelDescriptor({key: "x"}, SCHEMA, SCHEMA)),
        "a replaced table": lambda env: env.replace_table(
            "t", table, env.sql_query("SELECT 1 AS a")
        ),
        "the property map of a table": lambda env: CatalogTable.from_properties(map_ | plain),
        "the carried options of a table": lambda env: CatalogTable.from_properties(map_ | sidecar),
        "a decoded table": lambda env: decode_table(map_ | sidecar),
        "a decoded view": lambda env: decode_view(map_ | sidecar, "SELECT 1", "SELECT 1"),
        "a decoded model": lambda env: decode_model(model | sidecar),
        "a decoded materialized table": lambda env: decode_materialized_table(
            materialized | sidecar
        ),
        "a change": lambda env: env.alter_table("p", [SetOption(key, "x", None)]),
        **{
            f"changes of a catalog, {number}": partial(_apply, change)
            for number, change in enumerate(changes)
        },
        **{
            f"changes of a catalog in JSON, {number}": partial(_apply_json, change)
            for number, change in enumerate(changes)
        },
    }


@pytest.mark.parametrize("name", _outside(MANAGED))
def test_nothing_else_from_outside_sets_them(environment: TableEnvironment, name: str) -> None:
    for key in (*OWN, "schema-core.later"):
        assert "reserved-option" == code_of(partial(_outside(key)[name], environment))
    assert ["p", "t", "v"] == environment.list_tables()
    assert ["default"] == environment.list_databases()


def test_the_map_of_a_stored_table_is_read_back(environment: TableEnvironment) -> None:
    table = environment.get_catalog("c").get_table(ObjectPath("default", "t"))
    assert isinstance(table, CatalogTable)
    properties = encode_table(resolve_table(table, SchemaResolver()), "carry")

    assert table.options[MANAGED]
    assert table.options == decode_object(table.get_table_kind(), properties).options
    assert table.options == read_map(properties).object.options


def test_every_option_of_the_prefix_is_in_the_list() -> None:
    """A new option is declared in `own_options`, where its prefix makes it reserved."""
    package = Path(own_options.__file__).parents[1]
    documents = {"schema-core.plan", "schema-core.migration-plan", "schema-core.catalog-changes"}
    files = {"schema-core.toml"}
    options = {
        (file.name, literal)
        for file in package.rglob("*.py")
        for literal in re.findall(r"[\"'](schema-core\.[a-z.-]+)[\"']", file.read_text("utf-8"))
    }

    assert {"own_options.py"} == {
        file for file, option in options if option not in documents | files
    }
    assert {*OWN} <= {option for _, option in options}


# --- from a catalog ------------------------------------------------------------------------------

HOSTILE = ("../victim", "..", "/etc", "victim.db", "../victim/x.db/t-0123456789ab", "", "\0",
           "victim.db/../../victim-0123456789ab", "./x.db/t-0123456789ab")  # fmt: skip


@pytest.mark.usefixtures("victims")
@pytest.mark.parametrize("directory", HOSTILE)
def test_a_stored_directory_is_validated(environment: TableEnvironment, directory: str) -> None:
    store_options(environment, "t", {MANAGED: directory})
    for statement in ("SELECT * FROM t", "INSERT OVERWRITE t VALUES (1)"):
        text = statement
        assert "corrupt-entry" == code_of(partial(environment.execute_sql, text))
    assert "corrupt-entry" == code_of(environment.recover)
    environment.execute_sql("DROP TABLE t")

    assert ["p", "v"] == environment.list_tables()


@pytest.mark.usefixtures("victims")
@pytest.mark.parametrize("directory", HOSTILE)
def test_the_directory_of_a_replaced_table_is_validated(
    environment: TableEnvironment, planner: RecoveringPlanner, directory: str
) -> None:
    text = "CREATE TABLE t (a INT)"
    for level, planner.is_committed in ((2, False), (3, False), (3, True)):
        mark = str(PendingJob(level, "0" * 32, ABANDONED.owner))
        options = {PENDING_JOB: mark, REPLACED_DIRECTORY: directory, REPLACED: text}
        store_options(environment, "t", options)
        for call in (
            environment.recover,
            lambda: environment.execute_sql("INSERT INTO t VALUES (1)").wait(),
        ):
            assert "corrupt-entry" == code_of(call)


@pytest.mark.usefixtures("victims")
@pytest.mark.parametrize(
    "text",
    [
        "", "DROP TABLE p", "CREATE TABLE t (a INT) WITH ('schema-core.managed' = '../victim')",
        "CREATE TABLE t AS SELECT 1 AS a", "CREATE TABLE t LIKE p", "SELECT", "x" * 5000,
    ],
)  # fmt: skip
def test_the_definition_of_a_replaced_table_is_validated(
    environment: TableEnvironment, text: str
) -> None:
    store_options(environment, "t", {PENDING_JOB: str(ABANDONED), REPLACED: text})
    before = environment.list_tables()

    assert "corrupt-entry" == code_of(environment.recover)
    assert before == environment.list_tables()


# --- the owner of a directory --------------------------------------------------------------------


def directory(environment: TableEnvironment, name: str) -> str:
    """Return the directory of a managed table, below the warehouse."""
    result = directory_of(environment.get_catalog("c").get_table(ObjectPath("default", name)))
    assert result is not None
    return result


def put_rows(environment: TableEnvironment, house: Path, name: str) -> Path:
    """Create a managed table with a file, and return the file."""
    environment.execute_sql(f"CREATE TABLE `{name}` (a INT)")
    file = house / directory(environment, name) / "file"
    file.parent.mkdir(parents=True)
    file.write_text("1")
    return file


@pytest.mark.parametrize("owner", ["t-x", "t-x-0123456789ab", "tt", "T", "t%2Dx"])
def test_a_table_does_not_get_the_directory_of_another(
    environment: TableEnvironment, tmp_path: Path, owner: str
) -> None:
    rows = put_rows(environment, tmp_path / "house", owner)
    claimed = directory(environment, owner)
    statement = f"CREATE TABLE u (a INT) WITH ('{MANAGED}' = '{claimed}')"
    assert "reserved-option" == code_of(lambda: environment.execute_sql(statement))

    store_options(environment, "t", {MANAGED: claimed})
    for text in ("SELECT * FROM t", "INSERT OVERWRITE t VALUES (1)"):
        assert "corrupt-entry" == code_of(partial(environment.execute_sql, text))
    replace = "REPLACE TABLE t AS SELECT 1 AS a"
    assert "corrupt-entry" == code_of(lambda: environment.execute_sql(replace))
    environment.execute_sql("DROP TABLE t")
    assert rows.exists()
    environment.execute_sql(f"DROP TABLE `{owner}`")
    assert not rows.parent.exists()


@pytest.mark.parametrize("is_cascade", [False, True])
def test_the_directory_of_a_renamed_table_stays_when_another_is_dropped(
    environment: TableEnvironment, tmp_path: Path, is_cascade: bool
) -> None:
    rows = put_rows(environment, tmp_path / "house", "before")
    environment.execute_sql("ALTER TABLE before RENAME TO `after`")
    environment.execute_sql("CREATE DATABASE d")
    environment.execute_sql("CREATE TABLE d.other (a INT)")
    store_options(environment, "d.other", {MANAGED: directory(environment, "after")})
    environment.execute_sql("DROP DATABASE d CASCADE" if is_cascade else "DROP TABLE d.other")
    assert rows.exists()
    environment.execute_sql("DROP TABLE `after`")

    assert not rows.parent.exists()


def test_a_copy_of_a_definition_does_not_share_its_rows(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    rows, catalog = put_rows(environment, tmp_path / "house", "a-1"), environment.get_catalog("c")
    copy = catalog.get_table(ObjectPath("default", "a-1"))
    assert isinstance(copy, CatalogTable)
    resolved = resolve_table(copy, SchemaResolver())
    catalog.create_table(ObjectPath("default", "a"), resolved, False)

    assert "corrupt-entry" == code_of(lambda: environment.execute_sql("SELECT * FROM a"))
    environment.execute_sql("DROP TABLE a")
    assert rows.exists()


@pytest.mark.parametrize("level", ["default.db", "the directory"])
def test_a_managed_directory_beyond_a_link_is_neither_used_nor_deleted(
    environment: TableEnvironment, tmp_path: Path, level: str
) -> None:
    elsewhere, house = tmp_path / "elsewhere", tmp_path / "house"
    own = directory(environment, "t")
    link = house / ("default.db" if level == "default.db" else own)
    link.parent.mkdir(parents=True, exist_ok=True)
    file = elsewhere / (own.rpartition("/")[2] if level == "default.db" else ".") / "file"
    file.parent.mkdir(parents=True)
    file.write_text("x")
    link.symlink_to(elsewhere)

    for text in ("SELECT * FROM t", "INSERT INTO t VALUES (1)", "DROP TABLE t"):
        assert "not-allowed" == code_of(partial(environment.execute_sql, text))
    assert ["p", "v"] == environment.list_tables()
    assert file.exists()
