"""The catalog of Iceberg fulfils the contract, over a file of SQLite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NamespaceNotEmptyError

from schema_core import TableEnvironment
from schema_core.base.paths import ObjectPath
from schema_core.catalog.api import Catalog
from schema_core.catalog.objects import CatalogTable
from schema_core.catalogs.iceberg.catalog import IcebergCatalog
from schema_core.environment.connector import find_connector, validate
from schema_core.errors import SchemaCoreError
from schema_core.testing import CatalogContract


class TestIcebergCatalog(CatalogContract):
    durable = True
    compared_kinds = ("table", "view")

    def supports_name(self, name: str) -> bool:
        return "." not in name and name == name.strip()

    def make_catalog(self, directory: Path) -> Catalog:
        return IcebergCatalog("lake", {"warehouse": str(directory)})


@pytest.fixture
def env(tmp_path: Path) -> TableEnvironment:
    environment = TableEnvironment.create()
    environment.execute_sql(
        f"CREATE CATALOG lake WITH ('type' = 'iceberg', 'warehouse' = '{tmp_path / 'lake'}')"
    )
    environment.use_catalog("lake")
    return environment


def iceberg(env: TableEnvironment) -> Any:
    """Return the catalog of pyiceberg."""
    catalog = env.get_catalog("lake")
    assert isinstance(catalog, IcebergCatalog)
    return catalog.iceberg.catalog


def code(env: TableEnvironment, statement: str) -> str:
    with pytest.raises(SchemaCoreError) as caught:
        env.execute_sql(statement)
    return str(caught.value.code)


@pytest.mark.parametrize("key", ["path", "uri", "token", "property.s3.region", "catalog-table"])
def test_options_that_the_catalog_chooses(env: TableEnvironment, key: str) -> None:
    env.execute_sql("CREATE TABLE t (a INT)")

    assert code(env, f"CREATE TABLE u (a INT) WITH ('{key}' = 'x')") == "unknown-option"
    assert code(env, f"ALTER TABLE t SET ('{key}' = 'x')") == "unknown-option"


@pytest.mark.parametrize(
    ("key", "value", "refusal"),
    [
        ("write.parquet.compresion-codec", "zstd", "unknown-option"),
        ("read.nonsense", "1", "unknown-option"),
        ("write.format.default", "orc", "option-not-supported"),
        ("write.wap.enabled", "true", "option-not-supported"),
    ],
)
def test_properties_without_effect_are_refused(
    env: TableEnvironment, key: str, value: str, refusal: str
) -> None:
    """Unless the table has them already: other engines may have set them."""
    env.execute_sql("CREATE TABLE t (a INT)")
    assert code(env, f"CREATE TABLE u (a INT) WITH ('{key}' = '{value}')") == refusal
    assert code(env, f"ALTER TABLE t SET ('{key}' = '{value}')") == refusal

    iceberg(env).load_table("default.t").transaction().set_properties(
        {key: value}
    ).commit_transaction()
    env.execute_sql("ALTER TABLE t SET ('team.owner' = 'ann', 'gc.enabled' = 'false')")
    properties = iceberg(env).load_table("default.t").properties
    assert {key: value, "team.owner": "ann", "gc.enabled": "false"} == properties


def test_unknown_options_reach_the_connector(env: TableEnvironment) -> None:
    """It refuses them when the table is read or written, except for properties of other engines."""
    env.execute_sql("CREATE TABLE t (a INT) WITH ('nonsense' = '1', 'scan.mode' = 'x')")
    iceberg(env).load_table("default.t").transaction().set_properties(
        {"provider": "spark"}
    ).commit_transaction()
    catalog, path = env.get_catalog("lake"), ObjectPath("default", "t")
    table = catalog.get_table(path)
    assert {"nonsense": "1", "scan.mode": "x", "provider": "spark"} == table.options

    options = catalog.connector_options(path, table)
    assert options is not None
    with pytest.raises(SchemaCoreError) as caught:
        validate(find_connector(options), options)
    assert "unsupported options: nonsense, scan.mode" == caught.value.problem


# --- databases -----------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["", " CASCADE"])
def test_a_database_with_others_is_not_dropped(env: TableEnvironment, suffix: str) -> None:
    env.execute_sql("CREATE DATABASE d")
    env.execute_sql("CREATE TABLE d.t (a INT)")
    iceberg(env).create_namespace(("d", "inner"))

    assert code(env, f"DROP DATABASE d{suffix}") == "database-not-empty"
    assert env.get_catalog("lake").list_tables("d") == ["t"]

    env.execute_sql("DROP DATABASE `d.inner`")
    env.execute_sql("DROP DATABASE d CASCADE")
    assert env.get_catalog("lake").list_databases() == ["default"]


def test_a_database_without_tables_is_not_dropped_with_others(env: TableEnvironment) -> None:
    iceberg(env).create_namespace(("d", "inner"))

    assert code(env, "DROP DATABASE d") == "database-not-empty"


def test_a_database_with_what_iceberg_does_not_list_is_not_dropped(
    env: TableEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Glue lists only tables of Iceberg."""
    env.execute_sql("CREATE DATABASE d")

    def refuse(_: object, namespace: tuple[str, ...]) -> None:
        raise NamespaceNotEmptyError(f"{namespace} contains tables of other formats")

    monkeypatch.setattr(SqlCatalog, "drop_namespace", refuse)

    assert code(env, "DROP DATABASE d CASCADE") == "database-not-empty"


# --- tables with rows ----------------------------------------------------------------------------


@pytest.fixture
def filled(env: TableEnvironment) -> TableEnvironment:
    """An environment with a table `t` that has a snapshot."""
    env.execute_sql(
        "CREATE TABLE t (i INT, s SMALLINT, c CHAR(5), v VARCHAR(10), ts TIMESTAMP(6), "
        "r ROW<x VARCHAR(10)>, a ARRAY<SMALLINT>)"
    )
    table = iceberg(env).load_table(("default", "t"))
    table.append(pa.table({"i": pa.array([1], pa.int32())}))
    return env


@pytest.mark.parametrize(
    "column",
    [
        "i SMALLINT", "s TINYINT", "c CHAR(2)", "v VARCHAR(2)", "ts TIMESTAMP(0)",
        "r ROW<x VARCHAR(2)>", "a ARRAY<TINYINT>",
    ],
)  # fmt: skip
def test_a_column_of_a_table_with_rows_is_not_narrowed(
    filled: TableEnvironment, column: str
) -> None:
    assert code(filled, f"ALTER TABLE t MODIFY {column}") == "not-representable"


def test_a_column_of_a_table_with_rows_is_widened(filled: TableEnvironment) -> None:
    filled.execute_sql(
        "ALTER TABLE t MODIFY (i BIGINT, s INT, c VARCHAR(5), v STRING, r ROW<x STRING>)"
    )
    filled.execute_sql("ALTER TABLE t RENAME v TO w")

    fields = iceberg(filled).load_table(("default", "t")).schema().fields
    assert [(field.field_id, field.name, str(field.field_type)) for field in fields[:4]] == [
        (1, "i", "long"), (2, "s", "int"), (3, "c", "string"), (4, "w", "string"),
    ]  # fmt: skip


def test_a_column_of_an_empty_table_is_narrowed(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TABLE t (v VARCHAR(10))")

    env.execute_sql("ALTER TABLE t MODIFY v VARCHAR(2)")

    assert "`v` VARCHAR(2)" in next(iter(env.execute_sql("SHOW CREATE TABLE t").collect()))[0]


def test_a_table_has_versions_from_its_first_rows_on(filled: TableEnvironment) -> None:
    catalog, path = filled.get_catalog("lake"), ObjectPath("default", "t")

    with pytest.raises(SchemaCoreError) as caught:
        catalog.get_table_at(path, 0)
    assert caught.value.code == "table-not-found"
    assert catalog.get_table_at(path, 2**53).options["as-of-timestamp"] == str(2**53)


# --- files ---------------------------------------------------------------------------------------


def test_drop_table_keeps_directories_that_are_not_the_tables(
    env: TableEnvironment, tmp_path: Path
) -> None:
    for name in ("logs/empty", "data/logs"):
        (tmp_path / "x" / name).mkdir(parents=True)
    env.execute_sql(f"CREATE TABLE t (a INT) WITH ('location' = '{tmp_path / 'x'}')")

    env.execute_sql("DROP TABLE t")

    left = sorted(str(path.relative_to(tmp_path / "x")) for path in (tmp_path / "x").rglob("*"))
    assert left == ["data", "data/logs", "logs", "logs/empty"]


def test_drop_table_removes_its_directories(env: TableEnvironment, tmp_path: Path) -> None:
    env.execute_sql(
        "CREATE TABLE t (a INT, b INT) PARTITIONED BY (a, b) "
        f"WITH ('location' = '{tmp_path / 'x'}')"
    )
    table = iceberg(env).load_table(("default", "t"))
    table.append(pa.table({name: pa.array([1], pa.int32()) for name in ("a", "b")}))

    env.execute_sql("DROP TABLE t")

    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("statement", ["DROP TABLE t", "DESCRIBE t"])
def test_a_table_that_is_dropped_while_it_is_read_is_not_found(
    env: TableEnvironment, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    env.execute_sql("CREATE TABLE t (a INT)")
    read = SqlCatalog._convert_orm_to_iceberg
    dropped: list[Any] = []

    def drop_and_read(self: SqlCatalog, row: Any) -> Any:
        if not dropped:
            dropped.append(row)
            self.drop_table(("default", "t"))
            Path(row.metadata_location).unlink()
        return read(self, row)

    monkeypatch.setattr(SqlCatalog, "_convert_orm_to_iceberg", drop_and_read)
    with pytest.raises(SchemaCoreError) as caught:
        env.execute_sql(statement)

    assert "table-not-found" == caught.value.code


# --- options of the catalog ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["wh%20 x?y=1#z", "s3:x", "a'b"])
def test_a_warehouse_is_any_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    IcebergCatalog("lake", {"warehouse": name}).open()
    absolute = IcebergCatalog("lake", {"warehouse": str(tmp_path / name)})

    assert absolute.list_databases() == ["default"]
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert [path.name for path in (tmp_path / name).iterdir()] == ["iceberg-catalog.db"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"warehouse": "s3://bucket/x"}, "missing-option"),
        ({"warehouse": "s3:/bucket/x"}, "missing-option"),
        ({"warehouse": "file://host/x"}, "missing-option"),
        ({"warehouse": "~/x"}, "invalid-option-value"),
        ({"warehouse": "x", "property.type": "in-memory"}, "option-not-supported"),
        ({"warehouse": "x", "property.warehouse": "y"}, "option-not-supported"),
        ({"property.py-io-impl": "os.system"}, "option-not-supported"),
        ({"property.py-catalog-impl": "a.B"}, "option-not-supported"),
        ({"property.s3.retry-strategy-impl": "a.B"}, "option-not-supported"),
        ({"property.write.py-location-provider.impl": "a.B"}, "option-not-supported"),
        ({"property.auth": "basic"}, "option-not-supported"),
    ],
)  # fmt: skip
def test_options_of_a_catalog_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str], expected: str
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SchemaCoreError) as caught:
        IcebergCatalog("lake", options)

    assert caught.value.code == expected
    assert not list(tmp_path.iterdir())


# --- definitions ---------------------------------------------------------------------------------


def test_the_sort_order_of_a_table_is_reset(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TABLE t (a INT) WITH ('sort-by' = 'a DESC')")

    env.execute_sql("ALTER TABLE t RESET ('sort-by')")

    assert iceberg(env).load_table(("default", "t")).sort_order().is_unsorted
    env.execute_sql("ALTER TABLE t SET ('sort-by' = 'a ASC')")
    assert len(iceberg(env).load_table(("default", "t")).sort_order().fields) == 1


@pytest.mark.parametrize("columns", ["`n.x` INT, n ROW<x INT>", "m MAP<STRING, INT>, `m.key` INT"])
def test_columns_with_the_same_name_in_iceberg_are_refused(
    env: TableEnvironment, columns: str
) -> None:
    assert code(env, f"CREATE TABLE t ({columns})") == "not-representable"

    first, second = columns.rsplit(", ", 1)
    env.execute_sql(f"CREATE TABLE t ({first})")
    assert code(env, f"ALTER TABLE t ADD {second}") == "not-representable"


def test_dropping_a_table_deletes_only_files_below_its_location(
    env: TableEnvironment, tmp_path: Path
) -> None:
    rows = pa.table({"a": pa.array([1], pa.int32())})
    elsewhere = tmp_path / "elsewhere.parquet"
    pq.write_table(rows, elsewhere)
    env.execute_sql("CREATE TABLE t (a INT)")
    table = iceberg(env).load_table(("default", "t"))
    table.append(rows)
    table.add_files([str(elsewhere)])
    location = Path(table.location().removeprefix("file://"))
    assert [file for file in location.rglob("*") if file.is_file()]

    env.execute_sql("DROP TABLE t")

    assert elsewhere.exists()
    assert not location.exists()


def options(env: TableEnvironment) -> tuple[list[str], str | None]:
    """Return the partition keys of the table `t`, and its option ``partition-by``."""
    table = env.get_catalog("lake").get_table(ObjectPath("default", "t"))
    assert isinstance(table, CatalogTable)
    return list(table.partition_keys), table.options.get("partition-by")


def test_partitions_of_the_option_are_changed(env: TableEnvironment) -> None:
    """They are not read as PARTITIONED BY, which ALTER TABLE cannot change."""
    env.execute_sql("CREATE TABLE t (d DATE, id INT) WITH ('partition-by' = 'd, id')")
    assert options(env) == ([], "d, id")

    for text in ("bucket(4, id)", "id", "days(d), id"):
        env.execute_sql(f"ALTER TABLE t SET ('partition-by' = '{text}')")
        assert options(env) == ([], text)

    env.execute_sql("ALTER TABLE t SET ('partition-by' = 'd')")
    env.execute_sql("ALTER TABLE t RESET ('partition-by')")
    assert options(env) == ([], None)
    assert iceberg(env).load_table(("default", "t")).spec().is_unpartitioned()


def test_partitioned_by_excludes_the_option(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TABLE t (d DATE, id INT) PARTITIONED BY (d)")

    assert options(env) == (["d"], None)
    assert code(env, "ALTER TABLE t SET ('partition-by' = 'id')") == "conflicting-options"


def test_tables_do_not_get_version_3(env: TableEnvironment) -> None:
    refusal = "version-not-supported"
    assert code(env, "CREATE TABLE t (a INT) WITH ('format-version' = '3')") == refusal

    env.execute_sql("CREATE TABLE t (a INT) WITH ('format-version' = '1')")
    assert code(env, "ALTER TABLE t SET ('format-version' = '3')") == refusal
    env.execute_sql("ALTER TABLE t SET ('format-version' = '2')")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("py-io-impl", "pyiceberg.io.pyarrow.PyArrowFileIO"),
        ("write.py-location-provider.impl", "pyiceberg.table.locations.SimpleLocationProvider"),
    ],
)
def test_properties_of_tables_do_not_name_classes(
    env: TableEnvironment, name: str, value: str
) -> None:
    """Neither options, nor properties that another program has set."""
    refusal = "option-not-supported"
    assert code(env, f"CREATE TABLE t (a INT) WITH ('{name}' = '{value}')") == refusal

    env.execute_sql("CREATE TABLE t (a INT)")
    assert code(env, f"ALTER TABLE t SET ('{name}' = '{value}')") == refusal

    table = SqlCatalog("lake", **iceberg(env).properties).load_table(("default", "t"))
    table.transaction().set_properties({name: value}).commit_transaction()
    assert code(env, "DESCRIBE t") == refusal


def call(env: TableEnvironment, name: str, *arguments: str) -> Any:
    """Call a procedure as CALL does, which evaluates arguments with Spark."""
    (result,) = env.get_catalog("lake").get_procedure(ObjectPath("system", name)).call(*arguments)
    return result


def test_a_table_is_registered_by_its_metadata(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TABLE t (a INT)")
    file = call(env, "unregister_table", "default.t")
    assert Path(file).exists()
    assert [] == env.list_tables()

    assert "default.u" == call(env, "register_table", "default.u", file)
    assert ["a"] == env.from_path("u").get_resolved_schema().get_column_names()
    with pytest.raises(SchemaCoreError, match=r"there is already a table 'default\.u'"):
        call(env, "register_table", "default.u", file)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("unregister_table", ["t"], "invalid-path"),
        ("unregister_table", ["default.t"], "table-not-found"),
        ("register_table", ["none.t", "nowhere"], "database-not-found"),
        ("register_table", ["default.t", "/nowhere/metadata.json"], "external-failure"),
        ("rewrite_table", ["default.t"], "procedure-not-found"),
    ],
)
def test_refused_procedures(
    env: TableEnvironment, name: str, arguments: list[str], expected: str
) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        call(env, name, *arguments)

    assert expected == caught.value.code
