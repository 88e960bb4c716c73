"""The Hive catalog: interoperability with Flink, Spark and Hive."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core.base.paths import ObjectPath
from schema_core.catalog.objects import (
    CatalogDatabase,
    CatalogFunction,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTable,
    CatalogView,
    FunctionLanguage,
    ResolvedCatalogTable,
)
from schema_core.catalog.resolve import origin, resolve_table
from schema_core.catalogs.hive.catalog import HiveCatalog, connection
from schema_core.catalogs.hive.metastore import HiveTable
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ConflictError, SchemaCoreError
from schema_core.schema.resolve import SchemaResolver
from schema_core.spark.sweep import sweep_map
from schema_core.testing.catalog_cases import PLAIN, TABLES, columns, with_derived_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAPS = sorted(
    (Path(__file__).parents[2] / "properties" / "corpus" / "maps").glob("flink-*.jsonl.gz")
)
DATABASE = "beside"
HIVE = {"connector": "hive"}


def at(name: str) -> ObjectPath:
    return ObjectPath(DATABASE, name)


@pytest.fixture(scope="module")
def catalog(session: SparkSession) -> Iterator[HiveCatalog]:
    """A catalog with a database of its own in the metastore that all tests of a process share."""
    catalog = HiveCatalog("h", lambda: connection(session))
    catalog.open()
    catalog.create_database(DATABASE, CatalogDatabase(), ignore_if_exists=False)
    yield catalog
    catalog.drop_database(DATABASE, ignore_if_not_exists=False, cascade=True)
    catalog.close()


def parameters(catalog: HiveCatalog, name: str) -> dict[str, str]:
    stored = catalog.hive.metastore.table(DATABASE, name)
    assert stored is not None
    return dict(stored.parameters)


# --- Flink ---------------------------------------------------------------------------------------


def recorded(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def version_of(file: Path) -> str:
    return file.name.removeprefix("flink-").removesuffix(".jsonl.gz")


@pytest.mark.parametrize("file", MAPS, ids=version_of)
def test_tables_of_all_flink_versions_are_read(catalog: HiveCatalog, file: Path) -> None:
    """As written by its HiveCatalog: the map under ``flink.``, marked if it has no connector."""
    tables = (row["a"] for row in recorded(file) if row["a"]["kind"] == "table")
    answer = next(
        table for table in tables if any("DECIMAL" in type_ for _, type_ in table["columns"])
    )
    properties = {f"flink.{key}": value for key, value in answer["properties"].items()}
    if not {"flink.connector", "flink.connector.type"} & properties.keys():
        properties["is_generic"] = "true"
    name = f"flink_{version_of(file).replace('.', '_')}"
    assert catalog.hive.metastore.create_table(HiveTable(DATABASE, name, parameters=properties))

    table = catalog.get_table(at(name))
    assert isinstance(table, CatalogTable)
    resolved = resolve_table(table, SchemaResolver()).resolved_schema

    assert [name for name, _ in answer["columns"]] == resolved.get_column_names()
    if version_of(file) != "1.9.3":  # which did not keep lengths and digits
        types = [column.data_type.as_serializable_string() for column in resolved.columns]
        assert [type_ for _, type_ in answer["columns"]] == types


def test_a_table_is_written_as_flink_writes_it(catalog: HiveCatalog) -> None:
    """The recorded statements store the property maps that Flink 2.3 stored."""
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.register_catalog("h", catalog)
    env.execute_sql(f"USE h.{DATABASE}")
    rows = [
        row
        for row in recorded(MAPS[-1])
        if row["a"]["kind"] == "table" and row["q"].get("sql", "").startswith("CREATE TABLE t (")
    ]
    for row in rows[:12]:
        env.execute_sql(row["q"]["sql"])
        kept = parameters(catalog, "t")
        catalog.drop_table(at("t"), ignore_if_not_exists=False)
        written = {key: kept[key] for key in kept if key.startswith("flink.")}

        assert {f"flink.{key}": value for key, value in row["a"]["properties"].items()} == written
        assert ("is_generic" in kept) == (not {"flink.connector", "flink.connector.type"} & {*kept})
    assert len(rows) >= 12


def test_columns_of_flink_1_9_are_read_from_hive(
    catalog: HiveCatalog, session: SparkSession
) -> None:
    session.sql(
        f"CREATE TABLE {DATABASE}.nine (a INT, b DECIMAL(5, 2)) STORED AS TEXTFILE"
        " TBLPROPERTIES ('is_generic' = 'true', 'flink.connector.type' = 'kafka')"
    )

    table = catalog.get_table(at("nine"))

    assert isinstance(table, CatalogTable)
    expected = with_derived_schema(CatalogTable(columns(a="INT", b="DECIMAL(5, 2)")))
    assert expected.schema == with_derived_schema(table).schema
    assert {"connector.type": "kafka"} == table.options


@pytest.mark.parametrize(
    ("function", "class_name"),
    [
        (CatalogFunction("m.f"), "flink:python:m.f"),
        (CatalogFunction("o.F", FunctionLanguage.SCALA), "flink:scala:o.F"),
        (CatalogFunction("o.F", FunctionLanguage.JAVA), "o.F"),
    ],
)
def test_function_language_is_encoded_as_in_flink(
    catalog: HiveCatalog, function: CatalogFunction, class_name: str
) -> None:
    path = ObjectPath(DATABASE, f"F_{function.language.value}")
    catalog.create_function(path, function, ignore_if_exists=False)
    stored = catalog.hive.metastore.function(DATABASE, path.object_name.lower())

    assert function == catalog.get_function(path)
    assert stored is not None
    assert class_name == stored.class_name


# --- Spark and Hive ------------------------------------------------------------------------------

#: Every type that Spark stores in a metastore, with the Flink type in our catalog.
SPARK_TYPES = {
    "BIGINT": "BIGINT", "INT": "INT", "SMALLINT": "SMALLINT", "TINYINT": "TINYINT",
    "BOOLEAN": "BOOLEAN", "FLOAT": "FLOAT", "DOUBLE": "DOUBLE", "DECIMAL(10,2)": "DECIMAL(10, 2)",
    "CHAR(3)": "CHAR(3)", "VARCHAR(5)": "VARCHAR(5)", "STRING": "STRING", "BINARY": "BYTES",
    "DATE": "DATE", "TIMESTAMP": "TIMESTAMP_LTZ(6)", "ARRAY<INT>": "ARRAY<INT>",
    "MAP<STRING, STRUCT<X: INT, y: ARRAY<DOUBLE>>>":
        "MAP<STRING NOT NULL, ROW<X INT, y ARRAY<DOUBLE>>>",
}  # fmt: skip
ONLY_SPARK = {"TIMESTAMP_NTZ": "TIMESTAMP(6)"}

#: Storage clause of Spark -> options of the catalog.
KEPT_AS: dict[str, dict[str, str]] = {
    "USING parquet": {},
    "USING orc": {},
    "STORED AS PARQUET": {"hive.storage.file-format": "parquet"},
    "STORED AS ORC": {"hive.storage.file-format": "orc"},
    "ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE": {
        "hive.serde.info.prop.field.delim": ","
    },
}


@pytest.mark.parametrize("storage", KEPT_AS)
def test_tables_of_spark_have_their_types(
    catalog: HiveCatalog, session: SparkSession, storage: str
) -> None:
    types = SPARK_TYPES | (ONLY_SPARK if storage.startswith("USING") else {})
    listed = ", ".join(f"Col_{number} {type_}" for number, type_ in enumerate(types))
    session.sql(f"DROP TABLE IF EXISTS {DATABASE}.spark")
    session.sql(
        f"CREATE TABLE {DATABASE}.spark ({listed}) {storage} COMMENT 'made by Spark'"
        if storage.startswith("USING")
        else f"CREATE TABLE {DATABASE}.spark ({listed}) COMMENT 'made by Spark' {storage}"
    )

    table = catalog.get_table(at("Spark"))
    assert isinstance(table, CatalogTable)
    resolved = resolve_table(table, SchemaResolver()).resolved_schema
    expected = columns(**{f"Col_{number}": type_ for number, type_ in enumerate(types.values())})

    assert with_derived_schema(CatalogTable(expected)).resolved_schema == resolved
    assert {**HIVE, **KEPT_AS[storage]} == table.options
    assert table.comment == "made by Spark"


def test_partitions_buckets_and_locations_of_spark_are_read(
    catalog: HiveCatalog, session: SparkSession, tmp_path: Path
) -> None:
    session.sql(f"CREATE TABLE {DATABASE}.sp (id INT) PARTITIONED BY (p STRING) STORED AS ORC")
    session.sql(f"ALTER TABLE {DATABASE}.sp ADD PARTITION (p = 'x/y z')")
    session.sql(
        f"CREATE TABLE {DATABASE}.sb (id INT, s STRING) USING parquet"
        f" CLUSTERED BY (id) INTO 4 BUCKETS LOCATION '{tmp_path}'"
    )
    spec = CatalogPartitionSpec({"p": "x/y z"})
    bucketed = catalog.get_table(at("sb"))

    assert [spec] == catalog.list_partitions(at("sp"))
    assert CatalogPartition() == catalog.get_partition(at("sp"), spec)
    assert isinstance(bucketed, CatalogTable)
    assert str(bucketed.distribution) == "DISTRIBUTED BY HASH(`id`) INTO 4 BUCKETS"
    assert {
        **HIVE, "hive.is-external": "true", "hive.location-uri": f"file:{tmp_path}",
    } == bucketed.options  # fmt: skip


def test_a_view_of_spark_is_read(catalog: HiveCatalog, session: SparkSession) -> None:
    session.sql(f"CREATE VIEW {DATABASE}.sv (a COMMENT 'c', b) AS SELECT 1, 'x'")

    view = catalog.get_table(at("sv"))

    assert isinstance(view, CatalogView)
    assert ("SELECT 1, 'x'", {}) == (view.expanded_query, view.options)
    assert ["a", "b"] == [column.name for column in view.schema.columns]
    assert "sv" in catalog.list_views(DATABASE)


def hive_table(**options: str) -> ResolvedCatalogTable:
    schema = columns(
        a="INT", b="DECIMAL(10, 2)", c="TIMESTAMP(9)", d="MAP<STRING, ROW<x INT, y DOUBLE>>",
        e="CHAR(3)", f="VARCHAR(9)", g="BYTES", h="DATE", i="ARRAY<STRING>", p="STRING", q="INT",
    )  # fmt: skip
    table = CatalogTable(schema, ("p", "q"), options={**HIVE, **options}, comment="ours")
    return resolve_table(table, SchemaResolver())


@pytest.mark.parametrize("form", ["textfile", "sequencefile", "rcfile", "orc", "parquet", "avro"])
def test_spark_reads_the_columns_of_a_hive_table(
    catalog: HiveCatalog, session: SparkSession, form: str
) -> None:
    name = f"own_{form}"
    table = hive_table(**{"hive.storage.file-format": form, "k": "v"})
    catalog.create_table(at(name), table, ignore_if_exists=False)
    again = catalog.get_table(at(name))
    options = {key: option for key, option in table.options.items() if option != "textfile"}

    assert (
        session.table(f"{DATABASE}.{name}").schema.simpleString()
        == "struct<a:int,b:decimal(10,2),c:timestamp,d:map<string,struct<x:int,y:double>>,e:string,"
        "f:string,g:binary,h:date,i:array<string>,p:string,q:int>"
    )
    assert with_derived_schema(origin(table.copy(options))) == with_derived_schema(again)


def test_spark_writes_a_partition_of_a_table_created_here(
    catalog: HiveCatalog, session: SparkSession
) -> None:
    schema, path = columns(id="INT", name="STRING", day="STRING"), at("into")
    made = CatalogTable(schema, ("day",), options={**HIVE, "hive.storage.file-format": "orc"})
    catalog.create_table(path, resolve_table(made, SchemaResolver()), ignore_if_exists=False)

    session.sql(f"INSERT INTO {DATABASE}.into PARTITION (day = 'mon') VALUES (1, 'ann')")

    assert [(1, "ann", "mon")] == [
        tuple(item) for item in session.table(f"{DATABASE}.into").collect()
    ]
    spec = CatalogPartitionSpec({"day": "mon"})
    assert [spec] == catalog.list_partitions(path)
    catalog.rename_table(path, "moved", ignore_if_not_exists=False)
    assert session.table(f"{DATABASE}.moved").count() == 1
    assert CatalogPartition() == catalog.get_partition(at("moved"), spec)


# --- altered -------------------------------------------------------------------------------------


def test_altering_options_of_a_spark_table_keeps_its_columns(
    catalog: HiveCatalog, session: SparkSession
) -> None:
    session.sql(f"CREATE TABLE {DATABASE}.sa USING parquet AS SELECT 1 AS Id")
    read = catalog.get_table(at("sa"))
    assert isinstance(read, CatalogTable)
    new = resolve_table(read.copy({**HIVE, "k": "v"}), SchemaResolver())

    catalog.alter_table(at("sa"), new, ignore_if_not_exists=False, expected=read)

    session.catalog.refreshTable(f"{DATABASE}.sa")
    assert {**HIVE, "k": "v"} == catalog.get_table(at("sa")).options
    assert [(1,)] == [tuple(item) for item in session.table(f"{DATABASE}.sa").collect()]
    with pytest.raises(SchemaCoreError) as caught:
        catalog.alter_table(at("sa"), hive_table(), ignore_if_not_exists=False)
    assert caught.value.code == "not-representable"


@pytest.mark.parametrize(
    ("table", "code"),
    [
        (CatalogTable(columns(a="INT NOT NULL"), options=HIVE), "not-representable"),
        (CatalogTable(columns(a="TIMESTAMP(3)"), options=HIVE), "not-representable"),
        (CatalogTable(columns(a="ROW<B INT>"), options=HIVE), "not-representable"),
        (CatalogTable(columns(A="INT"), options=HIVE), "name-not-supported"),
        (CatalogTable(columns(a="INT", b="INT"), ("a",), options=HIVE), "not-representable"),
        (CatalogTable(columns(a="INT"), options={**HIVE, "numRows": "1"}), "not-representable"),
        (
            CatalogTable(columns(a="INT"), options={**HIVE, "k": "v" * 32_673}),
            "exceeds-store-limit",
        ),
        (
            CatalogTable(columns(a="INT"), options={**HIVE, "hive.storage.file-format": "parqet"}),
            "invalid-option-value",
        ),
        (
            CatalogView(columns(a="INT"), "SELECT 1", f"SELECT {'1' * 32_700}"),
            "exceeds-store-limit",
        ),
    ],
)
def test_unsupported_definitions_are_refused_before_writing(
    catalog: HiveCatalog, table: CatalogTable | CatalogView, code: str
) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        catalog.create_table(at("refused"), with_derived_schema(table), ignore_if_exists=False)

    assert code == caught.value.code
    assert not catalog.table_exists(at("refused"))


def test_a_generic_table_cannot_become_a_hive_table(catalog: HiveCatalog) -> None:
    catalog.create_table(at("generic"), PLAIN, ignore_if_exists=False)

    with pytest.raises(SchemaCoreError) as caught:
        catalog.alter_table(at("generic"), hive_table(), ignore_if_not_exists=False)

    assert caught.value.code == "wrong-object-type"


# --- many at once --------------------------------------------------------------------------------


def test_concurrent_writers_lose_no_update(catalog: HiveCatalog, session: SparkSession) -> None:
    """Each adds one to what it has read; a conflict is reported and retried."""
    catalog.create_table(at("counter"), PLAIN.copy({"n": "0"}), ignore_if_exists=False)

    def count_up(_: int) -> int:
        mine = HiveCatalog("h", lambda: connection(session))
        mine.open()
        done = lost = 0
        while done < 5:
            read = mine.get_table(at("counter"))
            new = PLAIN.copy({"n": str(int(read.options["n"]) + 1)})
            try:
                mine.alter_table(at("counter"), new, ignore_if_not_exists=False, expected=read)
                done += 1
            except ConflictError:
                lost += 1
        mine.close()
        return lost

    with ThreadPoolExecutor(4) as pool:
        lost = sum(pool.map(count_up, range(4)))

    assert {"n": "20"} == catalog.get_table(at("counter")).options
    assert lost > 0


def test_a_stored_definition_is_restored(catalog: HiveCatalog) -> None:
    path = at("restored")
    catalog.create_table(path, PLAIN.copy({"n": "0"}), ignore_if_exists=False)
    stored, before = catalog.get_stored_table(path), catalog.get_table(path)
    catalog.alter_table(path, PLAIN.copy({"m": "1"}), ignore_if_not_exists=False)
    with pytest.raises(ConflictError):
        catalog.restore_table(path, stored, expected=before)
    assert "m" in catalog.get_table(path).options
    catalog.restore_table(path, stored, expected=catalog.get_table(path))

    assert before == catalog.get_table(path)
    catalog.drop_table(path, ignore_if_not_exists=False)
    with pytest.raises(SchemaCoreError) as caught:
        catalog.restore_table(path, stored)
    assert "table-not-found" == caught.value.code


def test_compare_and_set_detects_a_change_by_flink(catalog: HiveCatalog) -> None:
    """Flink overwrites the map without a check and without a time, which the metastore sets."""
    catalog.create_table(at("shared"), PLAIN.copy({"n": "0"}), ignore_if_exists=False)
    read = catalog.get_table(at("shared"))
    stored = catalog.hive.metastore.table(DATABASE, "shared")
    assert stored is not None
    properties = {
        key: parameter
        for key, parameter in stored.parameters.items()
        if key.startswith(("flink", "is"))
    }
    by_flink = HiveTable(
        DATABASE, "shared", parameters={**properties, "flink.n": "9"}, storage=stored.storage
    )
    assert catalog.hive.metastore.alter_table(stored, by_flink)

    with pytest.raises(ConflictError) as caught:
        catalog.alter_table(
            at("shared"), PLAIN.copy({"n": "1"}), ignore_if_not_exists=False, expected=read
        )

    assert "'n': '9'" in str(caught.value)


def test_spark_lists_every_sample_as_a_table_or_view(
    catalog: HiveCatalog, session: SparkSession
) -> None:
    """Properties that Flink reserves cause no conflict."""
    names = [f"sample_{number}" for number, item in enumerate(TABLES) if "materialized" not in item]
    for name, table in zip(names, TABLES.values(), strict=False):
        catalog.create_table(at(name), table, ignore_if_exists=False)

    listed = {row.tableName for row in session.sql(f"SHOW TABLES IN {DATABASE}").collect()}

    assert {*names} <= listed


def test_stored_maps_are_those_of_flink_and_the_columns_of_hive(catalog: HiveCatalog) -> None:
    """A sweep reads them instead of tables: nothing is decoded."""
    schema = columns(id="BIGINT", name="STRING")
    for name, options in (("swept_generic", {"connector": "print"}), ("swept_hive", HIVE)):
        table = with_derived_schema(CatalogTable(schema, options=options))
        catalog.create_table(at(name), table, ignore_if_exists=False)
    maps = dict(catalog.stored_maps())

    for name in ("swept_generic", "swept_hive"):
        result = sweep_map(maps[f"{DATABASE}.{name}"])
        assert result.ok, result.diagnostics
        assert ["BIGINT", "VARCHAR(2147483647)"] == [column.type for column in result.columns]
