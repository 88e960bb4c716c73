"""CREATE, ALTER and DROP MATERIALIZED TABLE: Flink's recorded answers, and the refresh's state."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from properties.answer import answer
from schema_core import TableEnvironment
from schema_core.catalog import ObjectPath
from schema_core.catalog.objects import (
    CatalogMaterializedTable,
    Freshness,
    FreshnessUnit,
    RefreshStatus,
    ResolvedCatalogMaterializedTable,
)
from schema_core.environment.jobs.pending import Owner, PendingJob
from schema_core.environment.operations.refresh import RefreshState, is_due
from schema_core.environment.plans.dry_run import ValidatingPlanner
from schema_core.errors import ConflictError, SchemaCoreError

#: Questions and the answers of Flink 2.3.
RECORDED = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "materialized_tables.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
NOW = datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)


def without_error(result: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key not in ("error", "message")}


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["q"]["statements"][-2][-60:])
def test_statements_are_answered_as_flink_answers_them(case: dict[str, Any]) -> None:
    results = answer(case["q"])["results"]
    assert list(map(without_error, case["a"]["results"])) == list(map(without_error, results))


# --- refresh --------------------------------------------------------------------------------------


@pytest.fixture
def environment() -> TableEnvironment:
    environment = TableEnvironment.create(
        {"execution.runtime-mode": "BATCH"}, planner=ValidatingPlanner()
    )
    environment.execute_sql(
        "CREATE MATERIALIZED TABLE m WITH ('connector' = 'filesystem', 'format' = 'parquet',"
        " 'path' = 'm') FRESHNESS = INTERVAL '10' MINUTE AS SELECT 1 AS a"
    )
    return environment


def stored(environment: TableEnvironment) -> CatalogMaterializedTable:
    catalog = environment.get_catalog("default_catalog")
    table = catalog.get_table(ObjectPath("default_database", "m"))
    assert isinstance(table, CatalogMaterializedTable)
    return table


def change(environment: TableEnvironment, **fields: Any) -> None:
    catalog = environment.get_catalog("default_catalog")
    table = catalog.get_resolved_table(ObjectPath("default_database", "m"))
    assert isinstance(table, ResolvedCatalogMaterializedTable)
    catalog.alter_table(ObjectPath("default_database", "m"), replace(table, **fields), False)


def test_suspend_resume_and_refresh_change_the_status(environment: TableEnvironment) -> None:
    def status_after(change: str) -> str:
        environment.execute_sql(f"ALTER MATERIALIZED TABLE m {change}").wait()
        return stored(environment).refresh_status.name

    assert "INITIALIZING" == stored(environment).refresh_status.name
    assert "ACTIVATED" == status_after("REFRESH")
    refreshed = RefreshState.of(stored(environment)).refreshed
    assert refreshed is not None
    assert datetime.now(UTC) - refreshed < timedelta(minutes=5)
    assert RefreshState.of(stored(environment)).running is None
    assert "SUSPENDED" == status_after("SUSPEND")
    assert "SUSPENDED" == status_after("REFRESH")
    assert "ACTIVATED" == status_after("RESUME WITH ('sink.rolling-policy.file-size' = '1 mb')")
    state = RefreshState.of(stored(environment))
    assert {"sink.rolling-policy.file-size": "1 mb"} == state.options


def test_a_table_that_another_process_refreshes_is_refused(environment: TableEnvironment) -> None:
    running = PendingJob(3, "0" * 32, Owner("elsewhere", 17, 3))
    change(environment, refresh_handler=RefreshState(running=running).to_handler())
    with pytest.raises(ConflictError) as error:
        environment.execute_sql("ALTER MATERIALIZED TABLE m REFRESH").wait()
    assert "lock-not-available" == error.value.code

    ended = replace(running, owner=replace(Owner.this(), started=1))
    change(environment, refresh_handler=RefreshState(running=ended).to_handler())
    environment.execute_sql("ALTER MATERIALIZED TABLE m REFRESH").wait()
    assert RefreshState.of(stored(environment)).running is None


@pytest.mark.parametrize(
    "handler", [b"\xff", b"{}", b"[1]", b'{"schema_core": {"options": {"a": 1}}}']
)
def test_the_handler_of_another_program_is_kept(
    environment: TableEnvironment, handler: bytes
) -> None:
    change(environment, refresh_handler=handler)
    with pytest.raises(SchemaCoreError) as error:
        environment.execute_sql("ALTER MATERIALIZED TABLE m SUSPEND")
    assert "lock-not-available" == error.value.code
    assert handler == stored(environment).refresh_handler


@pytest.mark.parametrize(
    ("since", "expected"),
    [(None, True), (timedelta(minutes=1), True), (timedelta(seconds=20), False)],
)
def test_a_table_is_due_after_a_tick_of_its_freshness(
    environment: TableEnvironment, since: timedelta | None, expected: bool
) -> None:
    state = RefreshState(refreshed=None if since is None else NOW - since)
    change(environment, refresh_handler=state.to_handler())
    catalog = environment.get_catalog("default_catalog")
    table = catalog.get_resolved_table(ObjectPath("default_database", "m"))
    assert isinstance(table, ResolvedCatalogMaterializedTable)
    assert expected is is_due(table, NOW, ZoneInfo("UTC"))
    suspended = replace(table, refresh_status=RefreshStatus.SUSPENDED)
    assert not is_due(suspended, NOW, ZoneInfo("UTC"))


def test_cron_expressions() -> None:
    units = {"SECOND": "0/30 * * * * ? *", "MINUTE": "0 0/30 * * * ? *"}
    for unit, cron in units.items():
        assert cron == Freshness.of("30", FreshnessUnit[unit]).to_cron()
    assert "0 0 0/6 * * ? *" == Freshness.of("6", FreshnessUnit.HOUR).to_cron()
    assert "0 0 0 * * ? *" == Freshness.of("1", FreshnessUnit.DAY).to_cron()
