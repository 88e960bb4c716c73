"""Sweeps: definitions of any content become rows, alike in one process and on Spark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner, Result

from schema_core.base.paths import ObjectPath
from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.catalogs.hive.codec import stored_map
from schema_core.catalogs.hive.metastore import HiveColumn, HiveTable
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.cli import GOOD, UNREADABLE, WRONG
from schema_core.cli.app import application
from schema_core.errors import SchemaError
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema
from schema_core.spark import sweep as module
from schema_core.spark.sweep import (
    report_of,
    sweep_batches,
    sweep_definitions,
    sweep_map,
    sweep_report,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = {
    "schema.0.name": "id", "schema.0.data-type": "BIGINT NOT NULL",
    "schema.1.name": "at", "schema.1.data-type": "TIMESTAMP(3)", "schema.1.comment": "it's",
    "schema.2.name": "day", "schema.2.data-type": "VARCHAR(2147483647)",
    "schema.2.expr": "DATE_FORMAT(`at`, 'yyyy')",
    "schema.3.name": "key", "schema.3.data-type": "INT", "schema.3.metadata": "k",
    "schema.3.virtual": "true",
    "schema.watermark.0.rowtime": "at", "schema.watermark.0.strategy.expr": "`at`",
    "schema.watermark.0.strategy.data-type": "TIMESTAMP(3)",
    "schema.primary-key.name": "pk", "schema.primary-key.columns": "id",
    "connector": "kafka",
}  # fmt: skip
TEXT = """(
  `id` BIGINT NOT NULL,
  `at` TIMESTAMP(3) COMMENT 'it''s',
  `day` AS DATE_FORMAT(`at`, 'yyyy'),
  `key` INT METADATA FROM 'k' VIRTUAL,
  WATERMARK FOR `at` AS `at`,
  CONSTRAINT `pk` PRIMARY KEY (`id`) NOT ENFORCED
)"""

#: A definition -> the code and location of its first diagnostic.
BAD: list[tuple[object, str, str]] = [
    (None,                                              "malformed-property", "properties"),
    ("5",                                               "malformed-property", "properties"),
    ("",                                                "malformed-property", "properties"),
    ("{",                                               "malformed-property", "properties"),
    ("[1]",                                             "malformed-property", "properties"),
    ("[" * 100_000,                                     "malformed-property", "properties"),
    ('{"a": 1}',                                        "malformed-property", "a"),
    ({"schema.0.name": "a"},                            "malformed-property", "schema.0.data-type"),
    ({"schema.9.name": "a", "schema.9.data-type": "INT"}, "malformed-property", "schema.0.name"),
    ({"schema.0.name": "a", "schema.0.data-type": "INT("}, "syntax",
     "schema.0, column 'a', line 1, column 4"),
    ({"schema.0.name": "a", "schema.0.data-type": "ARRAY<" * 5_000}, "limit-exceeded",
     "schema.0, column 'a', line 1, column 385"),
    ({"schema.0.name": "\ud800", "schema.0.data-type": "NO"}, "type-not-found",
     "schema.0, column '\\ud800'"),
    ({"schema.0.name": "a", "schema.0.data-type": "INT", "schema.0.expr": "a" * 70},
     "unknown-column", "schema.0, column 'a', line 1, column 1"),
]  # fmt: skip


def rows_of(definitions: list[object]) -> list[dict[str, Any]]:
    """The results within this process, of definitions as JSON."""
    given = [
        json.dumps(definition) if isinstance(definition, dict) else definition
        for definition in definitions
    ]
    return [
        row
        for item in given
        for batch in sweep_batches(True, iter([_batch(item)]))
        for row in batch.to_pylist()
    ]


def _batch(definition: object) -> pa.RecordBatch:
    array = pa.array([definition], None if definition is not None else pa.string())
    return pa.RecordBatch.from_arrays([pa.array(["p"]), array], names=["path", "definition"])


def test_a_table_is_resolved_to_canonical_text_and_columns() -> None:
    (row,) = rows_of([ORDERS])

    assert (True, TEXT, []) == (row["ok"], row["schema"], row["diagnostics"])
    assert [
        ("id", "BIGINT NOT NULL", "physical"),
        ("at", "TIMESTAMP(3)", "physical"),
        ("day", "VARCHAR(2147483647)", "computed"),
        ("key", "INT", "metadata"),
    ] == [tuple(item.values()) for item in row["columns"]]
    assert {"target": "hive", "kind": "refused"} in row["losses"]
    assert {"target": "arrow", "kind": "member"} in row["losses"]


def test_canonical_text_does_not_depend_on_what_was_swept_before() -> None:
    """Columns and expressions are cached by what they contain, not by their names alone."""
    other = ORDERS | {"schema.1.data-type": "TIMESTAMP(0)", "schema.2.expr": "`id` + 1"}
    first, second, third = rows_of([ORDERS, other, ORDERS])

    assert first == third
    assert "`at` TIMESTAMP(0)" in second["schema"]
    assert "`day` AS `id` + 1" in second["schema"]
    assert ["stale-type", "stale-type"] == [item["code"] for item in second["diagnostics"]]


@pytest.mark.parametrize(("definition", "code", "location"), BAD)
def test_a_bad_definition_is_a_row(definition: object, code: str, location: str) -> None:
    (row,) = rows_of([definition])

    result = row["diagnostics"][0]
    assert (False, None) == (row["ok"], row["schema"])
    assert (code, location) == (result["code"], result["location"])


def test_an_error_of_the_library_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "examine", lambda *_: 1 / 0)

    (result,) = sweep_map(ORDERS).diagnostics
    assert "unclassified-error" == result.code
    assert "ZeroDivisionError" in result.message


def test_huge_definitions_are_refused_or_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = {
        key: value
        for number in range(3_000)
        for key, value in (
            (f"schema.{number}.name", f"c{number}"), (f"schema.{number}.data-type", "INT"),
        )
    }  # fmt: skip

    assert 3_000 == len(rows_of([wide])[0]["columns"])
    monkeypatch.setattr(module, "MAX_DEFINITION", 1_000)
    assert "limit-exceeded" == rows_of([wide])[0]["diagnostics"][0]["code"]


def test_equal_maps_are_resolved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*given: Any) -> Any:
        calls.append(given)
        return sweep_map(*given)

    monkeypatch.setattr(module, "sweep_map", counted)
    texts = [json.dumps(ORDERS), json.dumps(ORDERS | {"connector": "print"})] * 3
    batch = pa.RecordBatch.from_arrays(
        [pa.array(list("abcdef")), pa.array(texts)], names=["path", "definition"]
    )

    (result,) = sweep_batches(True, iter([batch]))
    assert 2 == len(calls)
    assert (list("abcdef"), {TEXT}) == (result["path"].to_pylist(), {*result["schema"].to_pylist()})


def test_columns_of_hive_itself_are_swept() -> None:
    columns = (HiveColumn("id", "bigint"), HiveColumn("u", "uniontype<int,string>", "odd"))
    table = HiveTable("db", "t", columns=columns, partition_columns=(HiveColumn("day", "date"),))
    (row,) = rows_of([stored_map(table)])

    assert ["schema.1, column 'u', line 1, column 10"] == [
        item["location"] for item in row["diagnostics"]
    ]
    assert "day" == stored_map(table)["partition.keys.0.name"]


def test_results_on_spark_are_those_of_one_process(session: SparkSession) -> None:
    maps: list[tuple[str, Mapping[str, str | None] | None]]
    maps = [(str(n), {**ORDERS, "n": str(n % 3)}) for n in range(20)]
    maps += [("null", None), ("value", {"schema.0.name": None}), ("bad", {"schema.0.name": "a"})]
    frame = session.createDataFrame(maps, "path STRING, definition MAP<STRING, STRING>").coalesce(1)
    texts = [None if item is None else json.dumps(item) for _, item in maps]
    batch = pa.RecordBatch.from_arrays(
        [pa.array([path for path, _ in maps]), pa.array(texts)], names=["path", "definition"]
    )
    local = list(sweep_batches(True, iter([batch])))

    assert local[0].to_pylist() == [
        row.asDict(recursive=True) for row in sweep_definitions(frame).collect()
    ]
    report = sweep_report(frame)
    assert report == report_of(sweep_definitions(frame))
    assert (23, 20) == (report.definitions, report.ok)
    assert {"BIGINT": 20, "TIMESTAMP_WITHOUT_TIME_ZONE": 20, "VARCHAR": 20, "INTEGER": 20} == dict(
        report.types
    )
    assert {"malformed-property"} == report.findings.keys()
    numbers = frame.selectExpr("path", "1 AS definition")
    for wrong, code in ((frame.drop("path"), "missing-columns"), (numbers, "type-mismatch")):
        with pytest.raises(SchemaError) as caught:
            sweep_definitions(wrong)
        assert code == caught.value.code


def test_a_report_is_one_job_of_all_partitions(session: SparkSession) -> None:
    maps = [(str(number), {**ORDERS, "n": str(number)}) for number in range(6)]
    frame = session.createDataFrame(maps, "path STRING, definition MAP<STRING, STRING>")
    context = session.sparkContext
    context.setJobGroup("report of a sweep", "")
    try:
        report = sweep_report(frame.repartition(3))
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)

    assert 6 == report.ok
    tracker = context.statusTracker()
    stages = [
        tracker.getStageInfo(stage)
        for job in tracker.getJobIdsForGroup("report of a sweep")
        for stage in tracker.getJobInfo(job).stageIds
    ]
    assert 3 == max(stage.numTasks for stage in stages if stage is not None)


# --- the command ----------------------------------------------------------------------------------


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(application(), ["sweep", *map(str, arguments)])


def test_dumps_are_swept(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(ORDERS))
    lines = [{"path": "db.b", "properties": ORDERS}, {"path": "db.c", "properties": {"a": 1}}]
    (tmp_path / "b.jsonl").write_text("\n".join([*map(json.dumps, lines), "{", ""]))

    result = invoke(tmp_path, "--format", "json", "--results", tmp_path / "results")
    assert WRONG == result.exit_code
    report = json.loads(result.stdout)
    assert (4, 2) == (report["definitions"], report["ok"])
    paths = {code: value["examples"][0]["path"] for code, value in report["findings"].items()}
    assert paths["malformed-property"].endswith(("b.jsonl", "db.c"))
    assert "finished in" in result.stderr
    written = session.read.parquet(str(tmp_path / "results"))
    assert 4 == written.count()
    assert UNREADABLE == invoke(tmp_path, "--results", tmp_path / "results").exit_code


def test_a_catalog_is_swept_in_portions(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schema_core.cli.commands.sweep.CHUNK", 2)
    url = f"sqlite:///{tmp_path / 'c.db'}"
    catalog = SqlCatalog("c", url)
    catalog.open()
    table = CatalogTable(Schema.new_builder().column("id", "INT").build())
    for name in ("a", "b", "c"):
        path = ObjectPath("default", name)
        catalog.create_table(path, resolve_table(table, SchemaResolver()), False)

    result = invoke(url, "--quiet")
    assert (GOOD, "") == (result.exit_code, result.stderr)
    assert "3 definitions: 3 without findings, 0 with findings\n" in result.stdout
    with catalog.entries.transaction(writing=True) as entries:
        database = entries.find(0, "database", "default")
        assert database is not None
        entry = entries.find(database.id, "table", "b")
        assert entry is not None
        entries.alter(entry, "[1")
    result = invoke(url, "--quiet")
    assert WRONG == result.exit_code
    assert "default.b (properties): the property map is not JSON" in result.stdout


@pytest.mark.usefixtures("session")
def test_sources_that_cannot_be_read(tmp_path: Path) -> None:
    missing = tmp_path / "missing.db"

    for source in (tmp_path, tmp_path / "no.jsonl", f"sqlite:///{missing}", "nowhere://x/y"):
        result = invoke(source)
        assert UNREADABLE == result.exit_code, source
        assert "error[" in result.stderr
