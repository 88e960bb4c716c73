"""The catalog of Delta fulfils the contract, and its tables are Delta's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Field, write_deltalake

from schema_core import TableEnvironment
from schema_core.base.paths import ObjectPath
from schema_core.catalog.api import Catalog
from schema_core.catalog.objects import CatalogTable
from schema_core.catalogs.delta.catalog import DeltaCatalog
from schema_core.catalogs.delta.object_files import path_of
from schema_core.connectors.delta.client import schema_fields
from schema_core.environment.connector import find_connector, validate
from schema_core.errors import ConflictError, SchemaCoreError
from schema_core.schema.unresolved import Schema
from schema_core.testing import CatalogContract
from schema_core.testing.catalog_cases import TABLES
from schema_core.testing.catalog_contract import every_kind

#: The tables of the contract with names of columns that Delta does not have, or without a column
#: besides partitions.
NOT_IN_DELTA = ("every type", "no columns", "odd columns", "every clause")


@contextmanager
def refused(table: Any) -> Iterator[None]:
    """Expect that a table of `NOT_IN_DELTA` is refused, others are not."""
    try:
        yield
    except SchemaCoreError as error:
        if error.code != "not-representable" or table not in [
            TABLES[name] for name in NOT_IN_DELTA
        ]:
            raise


class TestDeltaCatalog(CatalogContract):
    durable = True
    compared_kinds = ("table", "view")

    def supports_name(self, name: str) -> bool:
        return re.fullmatch(r"\w[\w -]{0,99}", name) is not None and name == name.strip()

    def make_catalog(self, directory: Path) -> Catalog:
        return DeltaCatalog("lake", str(directory))

    @pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
    def test_table_round_trip(self, catalog: Catalog, table: Any) -> None:
        with refused(table):
            super().test_table_round_trip(catalog, table)

    @pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
    def test_table_is_altered(self, populated: Catalog, table: Any) -> None:
        with refused(table):
            super().test_table_is_altered(populated, table)

    @every_kind
    def test_expected_object_is_altered(self, populated: Catalog, kind: str) -> None:
        _skip_tables(kind)
        super().test_expected_object_is_altered(populated, kind)

    @every_kind
    def test_concurrent_alteration_is_a_conflict(self, populated: Catalog, kind: str) -> None:
        _skip_tables(kind)
        super().test_concurrent_alteration_is_a_conflict(populated, kind)


def _skip_tables(kind: str) -> None:
    if kind == "table":
        pytest.skip("Delta lacks the names of its columns: see the test of a concurrent change")


#: Executes a statement in the catalog; returns the code of its error.
Execute = Callable[[str], str | None]


@pytest.fixture
def execute(tmp_path: Path) -> Execute:
    env = TableEnvironment.create()
    env.execute_sql(f"CREATE CATALOG lake WITH ('type' = 'delta', 'warehouse' = '{tmp_path}')")
    env.use_catalog("lake")

    def run(statement: str) -> str | None:
        try:
            env.execute_sql(statement)
        except SchemaCoreError as error:
            return str(error.code)
        return None

    return run


def test_changes_of_columns(execute: Execute, tmp_path: Path) -> None:
    """What deltalake does not change is refused, and the table stays as it is."""
    place = str(tmp_path / "default" / "t")
    execute("CREATE TABLE t (a INT NOT NULL COMMENT 'c', b STRING, n AS a + 1)")
    assert execute("ALTER TABLE t ADD (c ROW<x INT> COMMENT 'new')") is None
    assert execute("ALTER TABLE t MODIFY a INT COMMENT 'other'") is None
    assert execute("ALTER TABLE t SET ('own' = '1', 'delta.appendOnly' = 'true')") is None
    assert execute("ALTER TABLE t RESET ('own')") is None
    table = pa.schema({"a": pa.int32(), "b": pa.string(), "c": pa.struct({"x": pa.int32()})})
    write_deltalake(place, pa.Table.from_pylist([{"a": 1}], table), mode="append")
    before = DeltaTable(place)
    for change in (
        "RENAME b TO d", "DROP b", "MODIFY b STRING NOT NULL", "MODIFY a BIGINT",
        "ADD d INT FIRST", "ADD d INT NOT NULL", "RESET ('delta.appendOnly')",
        "SET ('connector' = 'datagen')",
    ):  # fmt: skip
        assert execute(f"ALTER TABLE t {change}") == "not-representable", change

    after = DeltaTable(place)
    assert before.version() == after.version()
    assert ["a", "b", "c"] == [field.name for field in after.schema().fields]
    assert "other" == after.schema().fields[0].metadata["comment"]
    assert after.schema().fields[0].nullable
    assert "true" == after.metadata().configuration["delta.appendOnly"]


def test_columns_of_a_table_without_files_are_changed(execute: Execute, tmp_path: Path) -> None:
    place = str(tmp_path / "default" / "t")
    execute("CREATE TABLE t (a INT, b STRING, k INT, n AS a + 1) PARTITIONED BY (k)")
    identity = DeltaTable(place).metadata().id
    for change in (
        "DROP n", "RENAME b TO d", "MODIFY a BIGINT COMMENT 'c'", "ADD e INT NOT NULL FIRST",
        "DROP a", "ADD a STRING", "SET ('delta.appendOnly' = 'true')",
    ):  # fmt: skip
        assert execute(f"ALTER TABLE t {change}") is None, change
    assert execute("ALTER TABLE t ADD f TIMESTAMP(3) FIRST") == "not-representable"

    table = DeltaTable(place)
    columns = [(field["name"], field["type"], field["nullable"]) for field in schema_fields(table)]
    assert [("e", "integer", False), ("d", "string", True), ("k", "integer", True),
            ("a", "string", True)] == columns  # fmt: skip
    assert (["k"], identity) == (table.metadata().partition_columns, table.metadata().id)
    rows = pa.table({"e": pa.array([1], pa.int32()), "d": ["x"], "k": pa.array([2], pa.int32()),
                     "a": ["y"]})  # fmt: skip
    write_deltalake(place, rows, mode="append")
    assert rows.to_pylist() == DeltaTable(place).to_pyarrow_table().to_pylist()
    assert execute("ALTER TABLE t DROP d") == "not-representable"


def test_a_change_adds_no_feature(execute: Execute, tmp_path: Path) -> None:
    """The table stays readable for others: deltalake would add `variantType` with a property."""
    execute("CREATE TABLE t (a TIMESTAMP(3), n AS a)")
    assert execute("ALTER TABLE t SET ('own' = '1')") is None
    assert execute("ALTER TABLE t DROP n") is None
    assert execute("ALTER TABLE t SET ('delta.appendOnly' = 'true')") == "not-representable"

    protocol = DeltaTable(str(tmp_path / "default" / "t")).protocol()
    assert ["timestampNtz"] == protocol.reader_features == protocol.writer_features


def test_properties_of_other_engines_are_kept(execute: Execute, tmp_path: Path) -> None:
    """A table with them is altered; those that this library does not set are refused."""
    execute("CREATE TABLE t (a INT)")
    table = DeltaTable(str(tmp_path / "default" / "t"))
    theirs = {"owner": "ann", "delta.nonsense": "1"}
    table.alter.set_table_properties(theirs, raise_if_not_exists=False)

    assert execute("ALTER TABLE t SET ('delta.appendOnly' = 'true', 'owner' = 'bob')") is None
    assert execute("ALTER TABLE t ADD b INT") is None
    for key in ("delta.nonsense", "delta.minWriterVersion"):
        assert execute(f"ALTER TABLE t SET ('{key}' = '7')") == "version-not-supported"
    assert execute("CREATE TABLE u (a INT) WITH ('delta.minReaderVersion' = '3')") == (
        "version-not-supported"
    )
    assert not (tmp_path / "default" / "u").exists()
    properties = DeltaTable(str(tmp_path / "default" / "t")).metadata().configuration
    assert {**theirs, "owner": "bob", "delta.appendOnly": "true"} == properties


def test_options_that_the_catalog_chooses(execute: Execute, tmp_path: Path) -> None:
    """A path would be ignored: it is refused, unless it is a property of another engine."""
    for options in ("'path' = '/a'", "'table-path' = '/a'", "'property.aws_region' = 'x'"):
        assert execute(f"CREATE TABLE u (a INT) WITH ({options})") == "unknown-option"
    execute("CREATE TABLE t (a INT)")
    assert execute("ALTER TABLE t SET ('path' = '/a')") == "unknown-option"
    table = DeltaTable(str(tmp_path / "default" / "t"))
    table.alter.set_table_properties({"path": "/theirs"}, raise_if_not_exists=False)

    assert execute("ALTER TABLE t ADD b INT") is None
    assert not (tmp_path / "default" / "u").exists()


def test_unknown_options_reach_the_connector(tmp_path: Path) -> None:
    """It refuses them when the table is read or written; properties of the log are not options."""
    catalog = DeltaCatalog("lake", str(tmp_path))
    catalog.open()
    path = ObjectPath("default", "t")
    table = CatalogTable(Schema.new_builder().column("a", "INT").build())
    catalog.create_table(path, table.copy({"nonsense": "1", "delta.appendOnly": "true"}), False)
    directory = str(tmp_path / "default" / "t")
    log = DeltaTable(directory)
    log.alter.set_table_properties({"owner": "ann"}, raise_if_not_exists=False)

    options = catalog.connector_options(path, catalog.get_table(path))
    assert {"connector": "delta", "path": directory, "nonsense": "1"} == options
    with pytest.raises(SchemaCoreError) as caught:
        validate(find_connector(options), options)
    assert "unknown-option" == caught.value.code


def test_a_definition_survives_changes_of_other_engines(tmp_path: Path) -> None:
    """What is still true of it is kept."""
    catalog = DeltaCatalog("lake", str(tmp_path))
    catalog.open()
    path = ObjectPath("default", "t")
    schema = (
        Schema.new_builder()
        .column("a", "CHAR(3)")
        .column_by_expression("b", "UPPER(a)")
        .column("c", "TINYINT NOT NULL")
        .primary_key_named("own", "c")
        .build()
    )
    catalog.create_table(path, CatalogTable(schema, options={"mine": "1"}), False)
    table = DeltaTable(str(tmp_path / "default" / "t"))
    table.alter.add_columns(Field("d", "string", nullable=True, metadata={"comment": "theirs"}))

    stored = catalog.get_table(path)
    columns = [(column.name, str(getattr(column, "data_type", None)))
               for column in stored.get_unresolved_schema().columns]  # fmt: skip
    assert [
        ("a", "CHAR(3)"), ("b", "None"), ("c", "TINYINT NOT NULL"), ("d", "VARCHAR(2147483647)"),
    ] == columns  # fmt: skip
    assert {"mine": "1"} == dict(stored.options)
    key = stored.get_unresolved_schema().primary_key
    assert key is not None
    assert "own" == key.name


def test_a_concurrent_change_of_a_table_is_a_conflict(tmp_path: Path) -> None:
    catalog = DeltaCatalog("lake", str(tmp_path))
    catalog.open()
    path = ObjectPath("default", "t")
    table = CatalogTable(Schema.new_builder().column("a", "INT").build())
    catalog.create_table(path, table, False)
    read = catalog.get_table(path)
    catalog.alter_table(path, table.copy({"theirs": "1"}), False)

    with pytest.raises(ConflictError):
        catalog.alter_table(path, table.copy({"mine": "1"}), False, expected=read)
    assert {"theirs": "1"} == dict(catalog.get_table(path).options)


def test_names_do_not_leave_the_warehouse(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    DeltaCatalog("other", str(outside)).open()
    catalog = DeltaCatalog("lake", str(tmp_path / "lake"))
    catalog.open()
    table = CatalogTable(Schema.new_builder().column("a", "INT").build())
    DeltaCatalog("other", str(outside)).create_table(ObjectPath("default", "t"), table, False)
    (tmp_path / "lake" / "linked").symlink_to(outside / "default")

    assert not catalog.table_exists(ObjectPath("..", "outside"))
    assert not catalog.table_exists(ObjectPath("../outside/default", "t"))
    assert ["default"] == catalog.list_databases()
    with pytest.raises(SchemaCoreError):
        catalog.drop_table(ObjectPath("linked", "t"), False)
    assert (outside / "default" / "t").is_dir()


@pytest.mark.parametrize("text", ["", "[]", "VIEW\n{", 'VIEW\n{"a": 1}'])
def test_a_malformed_file_is_reported(tmp_path: Path, text: str) -> None:
    catalog = DeltaCatalog("lake", str(tmp_path))
    catalog.open()
    path = path_of(tmp_path / "default", "v")
    path.parent.mkdir()
    path.write_text(text)

    with pytest.raises(SchemaCoreError) as caught:
        catalog.get_table(ObjectPath("default", "v"))
    assert "corrupt-entry" == caught.value.code
