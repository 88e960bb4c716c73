"""The connector `hive`: tables of a Hive catalog are queried and written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core.catalog.objects import CatalogDatabase
from schema_core.catalogs.hive.catalog import HiveCatalog, connection
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HIVE = "WITH ('connector' = 'hive', 'hive.storage.file-format' = '{}')"


@pytest.fixture
def lake(environment: TableEnvironment, session: SparkSession) -> Iterator[TableEnvironment]:
    """An environment whose current database is one of the metastore."""
    catalog = HiveCatalog("lake", lambda: connection(session))
    environment.register_catalog("lake", catalog)
    catalog.create_database("rows", CatalogDatabase(), ignore_if_exists=True)
    environment.use_catalog("lake")
    environment.use_database("rows")
    yield environment
    catalog.drop_database("rows", ignore_if_not_exists=False, cascade=True)


def rows(environment: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, environment.execute_sql(query).collect()), key=repr)


def local(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("form", "zone"),
    # Hive's text format keeps the zone with which it was first used.
    [("textfile", "UTC"), ("parquet", "Europe/Berlin"), ("orc", "UTC")],
)
def test_rows_of_each_format_come_back(
    lake: TableEnvironment, session: SparkSession, form: str, zone: str
) -> None:
    """Also timestamps, which Spark stores in the time zone of the JVM."""
    lake.execute_sql(
        "CREATE TABLE t (id INT, s STRING, c CHAR(4), n DECIMAL(10, 2), d DATE, ts TIMESTAMP(9),"
        " r ROW<a INT, s STRING>, m MAP<STRING, INT>) " + HIVE.format(form)
    )
    everything = "SELECT id, s, c, n, d, ts, r.s, m FROM t"
    java = session._jvm.java.util.TimeZone
    before = java.getDefault()
    java.setDefault(java.getTimeZone(zone))
    try:
        lake.execute_sql(
            "INSERT INTO t SELECT 1, 'x', CAST('ab' AS CHAR(4)), 1.25, DATE '2024-02-29',"
            " TIMESTAMP '2024-07-01 12:00:00.123456', ROW(1, 'in'),"
            " MAP['k', 1]"
        ).wait()
        row = (
            1, "x", "ab  ", 1.25, dt.date(2024, 2, 29), local("2024-07-01 12:00:00.123456"),
            "in", {"k": 1},
        )  # fmt: skip
        assert rows(lake, everything) == [row]
        noon = "TIMESTAMP '2024-07-01 12:00:00.123456'"
        noon = f"SELECT id FROM t WHERE ts = {noon}"
        assert rows(lake, noon) == [(1,)]
        skipped = "INSERT INTO t (id, ts) VALUES (2, TIMESTAMP '2024-03-31 02:30:00')"
        if zone == "UTC":
            lake.execute_sql(skipped).wait()
        else:
            with pytest.raises(SchemaCoreError, match="has no such time of day"):
                lake.execute_sql(skipped).wait()
    finally:
        java.setDefault(before)


@pytest.mark.parametrize("form", ["textfile", "parquet"])
def test_partitions_are_written_and_replaced(lake: TableEnvironment, form: str) -> None:
    lake.execute_sql(
        "CREATE TABLE p (v INT, `day` STRING, n INT) PARTITIONED BY (`day`, n) " + HIVE.format(form)
    )

    lake.execute_sql("INSERT INTO p VALUES (1, 'a', 1), (2, 'a', 2), (3, 'b', 1)").wait()
    lake.execute_sql("INSERT INTO p PARTITION (`day` = 'b', n = 1) SELECT 4").wait()
    every = [(1, "a", 1), (2, "a", 2), (3, "b", 1), (4, "b", 1)]
    assert rows(lake, "SELECT * FROM p") == every
    plan = lake.explain_sql("SELECT v FROM p WHERE `day` = 'b'")
    pruned = {
        "textfile": "Pruned Partitions: [(day=b, n=1)",
        "parquet": "PartitionFilters: [isnotn",
    }
    assert pruned[form] in plan
    lake.execute_sql("INSERT OVERWRITE p VALUES (5, 'a', 1)").wait()
    assert rows(lake, "SELECT * FROM p WHERE `day` = 'a'") == [(2, "a", 2), (5, "a", 1)]
    lake.execute_sql("CREATE TEMPORARY VIEW few AS SELECT v FROM (VALUES (1)) AS x (v)")
    lake.execute_sql(
        "INSERT OVERWRITE p PARTITION (`day` = 'b', n = 1) SELECT v FROM few WHERE v > 9"
    ).wait()
    assert rows(lake, "SELECT * FROM p") == [(2, "a", 2), (5, "a", 1)]
    lake.execute_sql("INSERT OVERWRITE p PARTITION (`day` = 'a') SELECT 7, 2").wait()
    assert rows(lake, "SELECT * FROM p") == [(5, "a", 1), (7, "a", 2)]


def test_tables_of_spark_and_create_table_as(
    lake: TableEnvironment, spark: SparkSession, tmp_path: Path
) -> None:
    spark.sql("CREATE TABLE rows.s (Id BIGINT, at TIMESTAMP, n TIMESTAMP_NTZ) USING parquet")
    spark.sql("INSERT INTO rows.s VALUES (1, TIMESTAMP '2024-07-01 12:00:00Z',"
              " TIMESTAMP_NTZ '2024-07-01 12:00:00')")  # fmt: skip
    noon = local("2024-07-01 12:00:00")
    assert rows(lake, "SELECT * FROM s") == [(1, noon.replace(tzinfo=dt.UTC), noon)]
    spark.sql("INSERT INTO rows.s (Id) VALUES (2)")  # another session adds a file
    assert len(rows(lake, "SELECT Id FROM s")) == 2

    form = HIVE.format("orc")
    lake.execute_sql(f"CREATE TABLE made {form} AS SELECT CAST(Id AS INT) AS i FROM s").wait()
    assert rows(lake, "SELECT * FROM made") == [(1,), (2,)]
    assert sorted(map(tuple, spark.table("rows.made").collect())) == [(1,), (2,)]

    # rolled back, the drop of a table would delete what others have in its directory
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / "theirs").write_text("x")
    lake.execute_sql("SET 'table.ctas.atomicity-enabled' = 'true'")
    try:
        for option in (f"'hive.location-uri' = 'file:{folder}'", "'hive.is-external' = 'true'"):
            given = form.replace(")", f", {option})")
            failing = f"CREATE TABLE shares {given} AS SELECT 1 / (Id - Id) AS i FROM s"
            with pytest.raises(SchemaCoreError, match="cannot be rolled back") as caught:
                lake.execute_sql(failing).wait()
            assert caught.value.code == "unsupported-ability"
            assert "shares" not in lake.list_tables()
    finally:
        lake.execute_sql("RESET 'table.ctas.atomicity-enabled'")
    assert (folder / "theirs").exists()
    lake.execute_sql("INSERT OVERWRITE made SELECT 3").wait()
    assert rows(lake, "SELECT * FROM made") == [(3,)]


def test_buckets_are_not_written(lake: TableEnvironment) -> None:
    """Spark would leave them out, or write with Hive's calendar of before 1582."""
    spread = "DISTRIBUTED BY HASH(id) INTO 4 BUCKETS " + HIVE.format("parquet")
    lake.execute_sql(f"CREATE TABLE b (id INT) {spread}")
    for statement in ("INSERT INTO b VALUES (1)", f"CREATE TABLE c {spread} AS SELECT 1 AS id"):
        with pytest.raises(SchemaCoreError, match="cannot distribute rows") as caught:
            lake.execute_sql(statement).wait()
        assert "unsupported-ability" == caught.value.code
    assert rows(lake, "SELECT * FROM b") == []
    assert "c" not in lake.list_tables()


@pytest.mark.parametrize("by", ["", "PARTITIONED BY (p)"])
def test_a_table_that_the_query_reads_is_overwritten(lake: TableEnvironment, by: str) -> None:
    """Also in a subquery, and with rows that cannot be computed, which leave the old ones."""
    lake.execute_sql(f"CREATE TABLE t (a INT, p INT) {by} " + HIVE.format("parquet"))
    lake.execute_sql("INSERT INTO t VALUES (1, 1), (2, 2)").wait()
    lake.execute_sql("INSERT OVERWRITE t SELECT a + 10, p FROM t").wait()
    assert rows(lake, "SELECT * FROM t") == [(11, 1), (12, 2)]
    with pytest.raises(SchemaCoreError, match="cannot cast"):
        lake.execute_sql("INSERT OVERWRITE t SELECT CAST('x' AS INT), p FROM t").wait()
    lake.execute_sql(
        "INSERT OVERWRITE t SELECT v, 1 FROM (VALUES (5)) AS x (v) WHERE v < (SELECT MIN(a) FROM t)"
    ).wait()
    assert rows(lake, "SELECT * FROM t") == ([(12, 2), (5, 1)] if by else [(5, 1)])


def test_a_table_that_the_metastore_does_not_have(lake: TableEnvironment) -> None:
    lake.execute_sql("CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'hive')")
    lake.execute_sql("USE CATALOG default_catalog")
    lake.execute_sql("CREATE TABLE u (a INT) WITH ('connector' = 'hive')")

    for name in ("lake.`rows`.t", "u"):
        with pytest.raises(SchemaCoreError) as caught:
            list(lake.execute_sql(f"SELECT * FROM {name}").collect())
        assert caught.value.code == "table-not-found"
