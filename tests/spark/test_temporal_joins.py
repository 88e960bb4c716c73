"""Joins FOR SYSTEM_TIME AS OF return the rows of Flink 2.3.0, and are refused where it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.oracle.streams import folded
from fuzz.oracle.temporal_joins import RECORDING, setup
from properties.answers.values import canonical
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.catalog import CatalogBaseTable, InMemoryCatalog, ObjectPath
from schema_core.connectors import ConfigOption, ConnectorBase, ReadContext
from schema_core.connectors.files.file_layout import FileLayout
from schema_core.environment import connector
from schema_core.environment.connector import Connector
from schema_core.environment.plans.changelog_mode import ChangelogMode
from schema_core.errors import ExternalError, SchemaCoreError, UnsupportedError
from schema_core.mappings.spark.pyspark_types import to_spark_sql
from schema_core.spark.changelog import CHANGE_ORDER, ROW_KIND
from schema_core.spark.reading import reader
from schema_core.spark.streaming.micro_batches import MicroBatches
from tests.slow_tests import draw_cases, keywords
from tests.support import cases

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.usefixtures("one_task")

#: A query on each line, with the rows that Flink returns in streaming mode or its error.
RECORDED = [json.loads(line) for line in RECORDING.read_text(encoding="utf-8").splitlines()]
KINDS = dict(cases("temporal_joins"))
ROWS = [answer for answer in RECORDED if KINDS[answer["sql"]] == "rows"]

NAMES = [answer["sql"][:110] for answer in ROWS]


#: Words of joins, of their conditions, and of what is around them.
WORDS = keywords(
    "CAST CROSS DISTINCT EXISTS GROUP HAVING IN IS LEFT LIKE LOOKUP NATURAL OPTIONS OR OVER"
    " PROCTIME ROW_NUMBER SET TUMBLE UNION UNNEST USING WHERE WITH"
)


def words(answer: dict[str, Any]) -> frozenset[str]:
    return WORDS & keywords(answer["sql"])


class UpsertFile(ConnectorBase):
    """The lines of a file as changes by key; the first cell is the kind of a change."""

    identifier = "oracle-upsert"
    options = (ConfigOption("path", str, None, "the file", required=True),)

    def changelog_mode(self, options: Mapping[str, str]) -> ChangelogMode:
        return ChangelogMode.upsert()

    def read(self, context: ReadContext) -> DataFrame:
        raise AssertionError(context)

    def read_changes(self, context: ReadContext) -> DataFrame:
        columns = {ROW_KIND: "STRING"} | {
            name: to_spark_sql(type_) for name, type_ in context.physical_columns.items()
        }
        schema = ", ".join(f"`{name}` {type_}" for name, type_ in columns.items())
        frame = context.session.read.schema(schema).csv(context.options["path"])
        order = f"struct(monotonically_increasing_id() AS place) AS `{CHANGE_ORDER}`"
        return frame.selectExpr("*", order)


@pytest.fixture(scope="module")
def upserts() -> Iterator[None]:
    """Tables with `'connector' = 'oracle-upsert'`."""
    find = connector.find_connector

    def found(options: Mapping[str, str]) -> Connector:
        return UpsertFile() if options.get("connector") == "oracle-upsert" else find(options)

    with pytest.MonkeyPatch.context() as patch:
        for module in (connector, reader):
            patch.setattr(module, "find_connector", found)
        yield


@pytest.fixture(scope="module")
def environments(
    session: SparkSession, tmp_path_factory: pytest.TempPathFactory, upserts: None
) -> dict[str, TableEnvironment]:
    """An environment in each mode."""
    settings = {
        "batch": EnvironmentSettings.in_batch_mode(),
        "streaming": EnvironmentSettings.in_streaming_mode(),
    }
    folder = tmp_path_factory.mktemp("as_of")
    result = {}
    for mode, setting in settings.items():
        result[mode] = TableEnvironment.create(setting, spark=session)
        result[mode].execute_sql("SET 'table.local-time-zone' = 'UTC'")
        for statement in setup(folder):
            result[mode].execute_sql(statement)
    return result


def rows(environment: TableEnvironment, script: str) -> list[list[Any]]:
    """Return the rows of a query, before which options may be set."""
    *settings, sql = script.split("; ")
    for setting in settings:
        environment.execute_sql(setting)
    try:
        return folded_rows(environment, sql)
    finally:
        for setting in settings:
            environment.execute_sql(f"RE{setting.partition(' =')[0]}")


def folded_rows(environment: TableEnvironment, sql: str) -> list[list[Any]]:
    result = environment.execute_sql(sql)
    types = [column.data_type for column in result.get_resolved_schema().columns]
    with result.collect() as rows:
        return folded(
            [
                str(row.get_row_kind()),
                *(canonical(item, type_) for item, type_ in zip(row, types, strict=True)),
            ]
            for row in rows
        )


@pytest.mark.parametrize("answer", draw_cases(ROWS, words), ids=NAMES)
def test_rows_are_those_of_flink(
    environments: dict[str, TableEnvironment], answer: dict[str, Any]
) -> None:
    assert answer["rows"] == rows(environments["batch"], answer["sql"])


STREAMED = ROWS[::22]


@pytest.mark.parametrize("answer", STREAMED, ids=[answer["sql"][:110] for answer in STREAMED])
def test_rows_in_streaming_mode(
    environments: dict[str, TableEnvironment], answer: dict[str, Any]
) -> None:
    assert answer["rows"] == rows(environments["streaming"], answer["sql"])


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_what_flink_refuses_is_refused(
    environments: dict[str, TableEnvironment], mode: str
) -> None:
    for answer in RECORDED:
        if KINDS[answer["sql"]] == "refused":
            assert "error" in answer, answer["sql"]
            with pytest.raises(SchemaCoreError) as caught:
                rows(environments[mode], answer["sql"])
            assert caught.value.code, answer["sql"]


def test_versions_of_changes_are_refused(environments: dict[str, TableEnvironment]) -> None:
    for answer in RECORDED:
        if KINDS[answer["sql"]] == "unsupported":
            assert "rows" in answer
            with pytest.raises(UnsupportedError) as caught:
                rows(environments["batch"], answer["sql"])
            assert "not-executable" == caught.value.code


def test_a_rowtime_must_not_be_null(environments: dict[str, TableEnvironment]) -> None:
    sql = "SELECT o.id FROM o JOIN timeless FOR SYSTEM_TIME AS OF o.rt AS r ON o.k = r.k"
    with pytest.raises(ExternalError, match="the rowtime 'rt' of a join"):
        rows(environments["batch"], sql)


def test_an_unbounded_table_has_no_versions_yet(
    environments: dict[str, TableEnvironment], tmp_path: Path
) -> None:
    environment = environments["streaming"]
    environment.execute_sql(
        "CREATE TEMPORARY TABLE arriving (k STRING, rt TIMESTAMP(3), pt AS PROCTIME(),"
        " WATERMARK FOR rt AS rt) WITH ('connector' = 'filesystem', 'format' = 'csv',"
        f" 'path' = '{tmp_path}', 'source.monitor-interval' = '1 s')"
    )
    join = "o AS s LEFT JOIN arriving FOR SYSTEM_TIME AS OF s.pt AS r"
    with pytest.raises(UnsupportedError) as caught:
        environment.execute_sql(f"SELECT s.k FROM {join} ON s.k = r.k")
    assert "streaming-not-supported" == caught.value.code
    environment.execute_sql("DROP TEMPORARY TABLE arriving")


def test_rows_that_arrive_are_looked_up(
    environments: dict[str, TableEnvironment], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each micro-batch, here of one file, joins the rows of the bounded table."""
    options = FileLayout._streaming
    monkeypatch.setattr(
        FileLayout, "_streaming", lambda self: {**options(self), "maxFilesPerTrigger": "1"}
    )
    monkeypatch.setattr(MicroBatches, "_add_trigger", lambda _, one: one.trigger(availableNow=True))
    for place, text in enumerate(("1,x\n2,q\n", "3,y\n4,\n")):
        (tmp_path / str(place)).write_text(text, encoding="utf-8")
    environment = environments["streaming"]
    environment.execute_sql(
        "CREATE TEMPORARY TABLE incoming (id INT, k STRING, pt AS PROCTIME())"
        " WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.null-literal' = '',"
        f" 'path' = '{tmp_path}', 'source.monitor-interval' = '50 ms')"
    )
    sql = "SELECT s.id, r.w FROM incoming AS s {} d FOR SYSTEM_TIME AS OF s.pt AS r ON s.k = r.k"
    found = [[1, "x5"], [1, "x6"], [3, "y8"]]

    assert found == arriving_rows(environment, sql.format("JOIN"))
    assert [*found, [2, None], [4, None]] == arriving_rows(environment, sql.format("LEFT JOIN"))
    environment.execute_sql("DROP TEMPORARY TABLE incoming")


def arriving_rows(environment: TableEnvironment, sql: str) -> list[list[Any]]:
    """Return the rows of a streaming query, which has ended when it fails; those with NULL last."""
    result: list[list[Any]] = []
    with environment.execute_sql(sql).collect() as found:
        try:
            for row in found:
                result.append(list(row))  # noqa: PERF401 - those before the error are kept
        except ExternalError as error:
            if "the streaming query was stopped" not in error.problem:
                raise
    return sorted(result, key=lambda row: (row[1] is None, row[0], row[1] or ""))


# --- versions of a catalog ------------------------------------------------------------------------


class DailyCatalog(InMemoryCatalog):
    """A catalog in memory whose table `t_2` is the version of `t` from the second day on."""

    def get_table_at(self, table_path: ObjectPath, timestamp: int) -> CatalogBaseTable:
        name = f"{table_path.get_object_name()}_{timestamp // 86_400_000 + 1}"
        return self.get_table(ObjectPath(table_path.get_database_name(), name))


def test_rows_of_a_version(session: SparkSession, tmp_path: Path) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    environment.execute_sql("SET 'table.local-time-zone' = 'UTC'")
    environment.register_catalog("c", DailyCatalog("c", "d"))
    environment.execute_sql("USE CATALOG c")
    for name, columns in (("t_1", "id INT"), ("t_2", "id INT, w STRING"), ("t", "now_ INT")):
        (tmp_path / name).mkdir()
        values = ",".join(("7", "b")[: columns.count(",") + 1])
        (tmp_path / name / "rows").write_text(f"{values}\n", encoding="utf-8")
        environment.execute_sql(
            f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem',"
            f" 'format' = 'csv', 'path' = '{tmp_path / name}')"
        )
    first, second = (
        f"t FOR SYSTEM_TIME AS OF TIMESTAMP '1970-01-0{day} 08:00:00'" for day in (1, 2)
    )

    assert [[7]] == rows(environment, f"SELECT * FROM {first}")
    assert [[7, "b"]] == rows(environment, f"SELECT * FROM {second} AS s WHERE s.id > 1")
    assert [[7, "b", 7]] == rows(
        environment,
        f"SELECT b.*, c.now_ FROM {first} AS a JOIN {second} AS b ON a.id = b.id"
        " JOIN t AS c ON c.now_ = a.id",
    )
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(
            "SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '1970-01-05 00:00:00'"
        )
    assert "table-not-found" == caught.value.code
