"""``schema-core refresh``: the tables that are due, and the partition of the scheduled time."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

from schema_core import TableEnvironment
from schema_core.catalog import ObjectPath
from schema_core.catalog.objects import ResolvedCatalogMaterializedTable
from schema_core.cli.app import application
from schema_core.cli.commands.refresh import scheduled_partition
from schema_core.environment.plans.dry_run import ValidatingPlanner


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(application(), ["refresh", *arguments])


def test_tables_are_refreshed_when_they_are_due(spark: SparkSession, tmp_path: Path) -> None:
    setup = tmp_path / "setup.sql"
    setup.write_text(
        f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path / 'c.db'}',"
        f" 'warehouse' = '{tmp_path / 'house'}'); USE CATALOG c;"
    )
    environment = TableEnvironment.create({"execution.runtime-mode": "BATCH"})
    for statement in setup.read_text().split(";")[:-1]:
        environment.execute_sql(statement)
    for name in ("m", "stopped"):
        environment.execute_sql(
            f"CREATE MATERIALIZED TABLE {name} FRESHNESS = INTERVAL '1' DAY AS SELECT 1 AS a"
        )
    environment.execute_sql("ALTER MATERIALIZED TABLE stopped SUSPEND")

    def statuses(*arguments: str) -> list[str]:
        result = invoke(str(setup), "--format", "json", *arguments)
        assert 0 == result.exit_code, result.output
        return [table["status"] for table in json.loads(result.stdout)["tables"]]

    assert ["refreshed", "not due"] == statuses("--due")
    assert [(1,)] == [tuple(row) for row in environment.execute_sql("SELECT * FROM m").collect()]
    assert ["not due", "not due"] == statuses("--due")
    assert ["refreshed", "not due"] == statuses("--due", "--scheduled-time", "2999-01-01T00:00:00")
    listed = invoke(str(setup), "--list", "--table", "m").stdout
    assert "refreshed 2999-01-01T00:00:00+00:00" in listed


def test_a_scheduled_refresh_is_of_the_partition_before() -> None:
    environment = TableEnvironment.create({}, planner=ValidatingPlanner())
    environment.execute_sql(
        "CREATE MATERIALIZED TABLE m PARTITIONED BY (d, h) WITH ("
        "'partition.fields.d.date-formatter' = 'yyyy-MM-dd',"
        "'partition.fields.h.date-formatter' = 'HH') FRESHNESS = INTERVAL '1' HOUR"
        " AS SELECT 1 AS a, 'x' AS d, 'y' AS h"
    )
    path = ObjectPath("default_database", "m")
    table = environment.get_catalog("default_catalog").get_resolved_table(path)
    assert isinstance(table, ResolvedCatalogMaterializedTable)
    zone = ZoneInfo("America/New_York")
    scheduled = datetime(2026, 3, 1, 0, 0, 5, tzinfo=zone)
    assert {"d": "2026-02-28", "h": "23"} == scheduled_partition(table, scheduled, zone)
