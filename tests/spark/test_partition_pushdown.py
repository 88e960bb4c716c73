"""Connectors list partitions, of which a query reads those that its filters select."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.catalog import CatalogPartitionSpec
from schema_core.connectors import (
    ConnectorBase,
    ReadContext,
    SupportsPartitioning,
    SupportsPartitionPushDown,
    SupportsTargetColumnWriting,
    SupportsUpsert,
    WriteContext,
)
from schema_core.environment import connector as module
from schema_core.environment.connector import Connector
from schema_core.errors import SchemaCoreError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Partition -> its rows.
ROWS: dict[tuple[str, str], list[int]] = {
    ("2026-01-01", "9"): [1, 2],
    ("2026-01-02", "9"): [3],
    ("2026-01-02", "10"): [4],
    ("__DEFAULT_PARTITION__", "10"): [5],
    ("1.2.2026", "11"): [6],
}


class Partitioned(ConnectorBase, SupportsPartitionPushDown, SupportsPartitioning):
    identifier = "partitioned"
    reads: ClassVar[list[list[str]]] = []
    keys: ClassVar[Sequence[str]] = ("d", "n")

    def list_partitions(self, context: ReadContext) -> list[CatalogPartitionSpec]:
        return [CatalogPartitionSpec(dict(zip(self.keys, values, strict=True))) for values in ROWS]

    def read(self, context: ReadContext) -> DataFrame:
        specs = self.list_partitions(context) if context.partitions is None else context.partitions
        self.reads.append([str(spec) for spec in specs])
        rows = []
        for spec in specs:
            day, number = spec.get_partition_spec().values()
            date = f"DATE '{day}'" if day.startswith("2026") else "CAST(NULL AS DATE)"
            rows += [f"SELECT {row}, {date}, {number}" for row in ROWS[day, number]]
        rows = rows or ["SELECT 0, DATE '2026-01-01', 9 WHERE FALSE"]
        return context.session.sql(" UNION ALL ".join(rows)).toDF("a", "d", "n")


class Keyed(ConnectorBase, SupportsUpsert, SupportsTargetColumnWriting):
    identifier = "keyed"
    targets: ClassVar[list[Sequence[str] | None]] = []

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        self.targets.append(context.target_columns)


@pytest.fixture
def env(session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> TableEnvironment:
    made: Mapping[str, Any] = {"partitioned": Partitioned, "keyed": Keyed}
    find = module.find_connector

    def find_one(options: Mapping[str, str]) -> Connector:
        own = made.get(options.get("connector", ""))
        return find(options) if own is None else own()

    monkeypatch.setattr(module, "find_connector", find_one)
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    env.execute_sql(
        "CREATE TABLE t (a INT, d DATE, n INT) PARTITIONED BY (d, n)"
        " WITH ('connector' = 'partitioned')"
    )
    Partitioned.reads.clear()
    Keyed.targets.clear()
    return env


UNREADABLE = "d=1.2.2026/n=11"


@pytest.mark.parametrize(
    ("condition", "partitions", "rows"),
    [
        ("d = DATE '2026-01-01'", ["d=2026-01-01/n=9", UNREADABLE], [1, 2]),
        ("n = 10", ["d=2026-01-02/n=10", "d=__DEFAULT_PARTITION__/n=10"], [4, 5]),
        ("d IS NULL AND n < 11", ["d=__DEFAULT_PARTITION__/n=10"], [5]),
        ("NOT (d = DATE '2026-01-01') AND a > 3 AND n + 1 > 1",
         ["d=2026-01-02/n=9", "d=2026-01-02/n=10", UNREADABLE], [4]),
        ("n IN (1, 2)", [], []),
    ],
)  # fmt: skip
def test_partitions_are_selected(
    env: TableEnvironment, condition: str, partitions: list[str], rows: list[int]
) -> None:
    with env.execute_sql(f"SELECT a FROM t WHERE {condition}").collect() as result:
        assert rows == sorted(row[0] for row in result)

    assert [partitions] == Partitioned.reads


def test_explain_has_the_partitions(env: TableEnvironment) -> None:
    text = env.explain_sql("SELECT a FROM t WHERE n = 9")

    assert "  partitions: 2 (d=2026-01-01/n=9, d=2026-01-02/n=9)" in text
    assert "filter for Spark (see its plan): `n` = 9" in text


def test_all_partitions_are_read_without_filters(env: TableEnvironment) -> None:
    with env.execute_sql("SELECT COUNT(*) FROM t").collect() as result:
        assert [(6,)] == [tuple(row) for row in result]


def test_other_keys_are_refused(env: TableEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Partitioned, "keys", ("d", "m"))
    with pytest.raises(SchemaCoreError) as caught:
        env.execute_sql("SELECT a FROM t WHERE n = 9")

    assert "schema-mismatch" == caught.value.code


def test_target_columns(env: TableEnvironment) -> None:
    env.execute_sql(
        "CREATE TABLE k (a INT NOT NULL, b INT, c INT, PRIMARY KEY (a) NOT ENFORCED)"
        " WITH ('connector' = 'keyed')"
    )
    for columns in ("", " (c, a)", " (b, c, a)"):
        values = ", ".join("1" for _ in (columns or "a,b,c").split(","))
        env.execute_sql(f"INSERT INTO k{columns} VALUES ({values})").wait()

    assert [None, ("a", "c"), None] == Keyed.targets
