"""Compatibility of tables with old data, old readers and running jobs."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from schema_core import EnvironmentSettings, ResolvedSchema, Schema, TableEnvironment
from schema_core.catalog import ResolvedCatalogTable
from schema_core.errors import SchemaError
from schema_core.mappings.stored_types import ICEBERG, SPARK
from schema_core.migration.compatibility import (
    FINDINGS,
    Acceptance,
    CompatibilityAspect,
    CompatibilityMode,
    Finding,
    Severity,
    can_jobs_restart,
    can_old_readers_read,
    can_read_old_data,
    check_compatibility,
)

WRONG: Any = "t"
LEVEL = Severity.WARN


def table(
    ddl: str, options: dict[str, str] | None = None, keys: tuple[str, ...] = ()
) -> ResolvedCatalogTable:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment.execute_sql(f"CREATE TABLE t ({ddl}) WITH ('connector' = 'datagen')")
    resolved = environment.from_path("t").get_resolved_schema()
    unresolved = Schema.new_builder().from_resolved_schema(resolved).build()
    return ResolvedCatalogTable(
        unresolved, options=options or {}, partition_keys=keys, resolved_schema=resolved
    )


def schema(ddl: str) -> ResolvedSchema:
    return table(ddl).get_resolved_schema()


def codes(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.kind, ".".join(finding.path)) for finding in findings]


ORDERS = "id BIGINT NOT NULL, price DECIMAL(10, 2), ts TIMESTAMP(3), total AS price * 2, "
WATERMARK = "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"


@pytest.mark.parametrize(
    ("new", "data", "readers", "jobs"),
    [
        (f"{ORDERS}{WATERMARK}", [], [], []),
        (
            f"{ORDERS} channel STRING, {WATERMARK}",
            [("field-added", "channel")],
            [("field-dropped", "channel")],
            [("state-columns-changed", "channel")],
        ),
        (
            f"id BIGINT NOT NULL, price DECIMAL(10, 2), ts TIMESTAMP(3), {WATERMARK}",
            [],
            [("column-gone", "total")],
            [("state-columns-changed", "total")],
        ),
        (
            f"{ORDERS}WATERMARK FOR ts AS ts - INTERVAL '9' SECOND",
            [],
            [],
            [("event-time-changed", "ts")],
        ),
        (ORDERS.rstrip(", "), [], [("watermark-gone", "ts")], [("plan-changed", "ts")]),
        (
            f"{ORDERS}PRIMARY KEY (id) NOT ENFORCED, {WATERMARK}",
            [("key-changed", "id")],
            [],
            [("plan-changed", "")],
        ),
    ],
)
def test_the_three_questions(
    new: str,
    data: list[tuple[str, str]],
    readers: list[tuple[str, str]],
    jobs: list[tuple[str, str]],
) -> None:
    old, changed = schema(f"{ORDERS}{WATERMARK}"), schema(new)

    assert data == codes(can_read_old_data(old, changed))
    assert readers == codes(can_old_readers_read(old, changed))
    restarts = can_jobs_restart(old, changed)
    assert jobs == codes(restarts)
    assert all(
        str(restart.source).startswith("https://nightlies.apache.org/") for restart in restarts
    )


def test_a_dropped_rowtime_type_is_not_compared_with_its_kind() -> None:
    old, new = schema("ts TIMESTAMP(3)"), schema("ts TIMESTAMP(6)")

    assert [("state-type-changed", "ts")] == codes(can_jobs_restart(old, new))


def test_jobs_are_not_affected_by_columns_that_they_do_not_use() -> None:
    old, new = schema("a INT, b INT, c AS a + 1"), schema("a INT, d INT, b BIGINT, c AS a + 2")

    assert not can_jobs_restart(old, new, ["a"])
    assert [("state-type-changed", "b")] == codes(can_jobs_restart(old, new, ["a", "b"]))
    assert [("plan-changed", "c")] == codes(can_jobs_restart(old, new, ["c"]))
    with pytest.raises(SchemaError) as caught:
        can_jobs_restart(old, new, ["e"])
    assert "unknown-column" == caught.value.code


def test_a_renamed_column_is_read_only_by_formats_that_know_it_by_number() -> None:
    old, new = schema("id INT, name STRING"), schema("id INT, label STRING")
    renames = {"name": "label"}

    assert [("field-renamed", "name")] == codes(can_read_old_data(old, new, SPARK, renames))
    assert [("field-renamed-by-id", "name")] == codes(can_read_old_data(old, new, ICEBERG, renames))
    assert [("field-renamed", "label"), ("column-gone", "name")] == codes(
        can_old_readers_read(old, new, SPARK, renames)
    )
    assert [
        ("field-dropped", "name"),
        ("field-added", "label"),
        ("likely-rename", "name"),
    ] == codes(can_read_old_data(old, new, SPARK))


def test_fields_of_renamed_columns_may_be_renamed_and_retyped() -> None:
    old, new = schema("r ROW<x INT, y INT>, c AS 1"), schema("s ROW<x BIGINT, z INT>, d AS 1")
    renames = {("r",): "s", ("r", "y"): "z"}
    result = [
        ("field-renamed-by-id", "r"),
        ("type-promoted", "r.x"),
        ("field-renamed-by-id", "r.y"),
    ]

    assert result == codes(can_read_old_data(old, new, ICEBERG, renames))
    assert [
        ("field-renamed-by-id", "s"),
        ("type-changed", "s.x"),
        ("field-renamed-by-id", "s.z"),
        ("column-gone", "r"),
        ("column-gone", "c"),
    ] == codes(can_old_readers_read(old, new, ICEBERG, renames))
    with pytest.raises(SchemaError) as caught:
        can_read_old_data(old, new, ICEBERG, {"x": "y"})
    assert "unknown-column" == caught.value.code


def test_options_and_partitions_are_part_of_a_table() -> None:
    old = table(
        "a INT, b INT", {"connector": "filesystem", "format": "csv", "password": "x"}, ("b",)
    )
    new = table(
        "a INT, b INT", {"connector": "filesystem", "format": "orc", "password": "y"}, ("a",)
    )

    result = can_read_old_data(old, new)

    assert [
        ("format-changed", "format"),
        ("option-without-effect", "password"),
        ("partitions-changed", ""),
    ] == codes(result)
    assert "'x'" not in str(result)
    assert [("source-changed", "format"), ("job-option-changed", "password")] == codes(
        can_jobs_restart(old, new)
    )


def test_modes_combine_questions_and_history() -> None:
    history = [schema("a INT"), schema("a BIGINT")]
    new = schema("a BIGINT, b INT")
    verdicts = {
        mode.value: check_compatibility(history, new, mode, "avro").is_compatible
        for mode in CompatibilityMode
    }

    assert {
        "NONE": True,
        "BACKWARD": True,
        "BACKWARD_TRANSITIVE": True,
        "FORWARD": True,
        "FORWARD_TRANSITIVE": False,
        "FULL": True,
        "FULL_TRANSITIVE": False,
    } == verdicts
    assert check_compatibility([], new, CompatibilityMode.FULL).is_compatible


def test_intended_breaks_are_accepted_until_a_day() -> None:
    old, new = schema("r ROW<x INT>, b INT"), schema("r ROW<x DATE>, b INT")
    day = date(2027, 1, 31)
    wanted = Acceptance("type-changed", ("r",), "the files are rewritten", day)
    unused = Acceptance("column-gone", (), "not needed", day)
    report = check_compatibility([old], new, accepted=[wanted, unused], today=day)
    late = check_compatibility([old], new, accepted=[wanted], today=date(2027, 2, 1))

    assert report.is_compatible
    assert (unused,) == report.unused
    assert "(accepted: the files are rewritten)" in str(report)
    assert not late.is_compatible
    assert (wanted,) == late.expired


def test_severities_may_be_set() -> None:
    old, new = schema("a STRING"), schema("a VARCHAR(5)")

    assert check_compatibility([old], new).is_compatible
    strict = check_compatibility([old], new, severities={"length-narrowed": Severity.ERROR})
    assert not strict.is_compatible


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda item: check_compatibility([item], item, rules="arvo"), "invalid-argument"),
        (lambda old: check_compatibility([old], old, severities={"x": LEVEL}), "invalid-argument"),
        (lambda item: Acceptance("x", (), "why", date(2027, 1, 1)), "invalid-argument"),
        (lambda item: Acceptance("type-changed", (), " ", date(2027, 1, 1)), "invalid-argument"),
        (lambda item: can_read_old_data(item, WRONG), "invalid-argument"),
        (lambda item: can_read_old_data(item, item, WRONG), "invalid-argument"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(call: object, code: str) -> None:
    assert callable(call)
    with pytest.raises(SchemaError) as caught:
        call(schema("a INT"))
    assert code == caught.value.code


def test_every_finding_has_a_meaning_and_a_question() -> None:
    assert all(kind.meaning for kind in FINDINGS.values())
    assert 3 == len(CompatibilityAspect)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("parquet", [("field-renamed-by-mapping", "a"), ("type-promoted", "a")]),
        ("csv", [("field-renamed-by-mapping", "a"), ("type-promoted", "a")]),
    ],
)
def test_renamed_columns_of_files_are_read_by_the_former_name(
    form: str, expected: list[tuple[str, str]]
) -> None:
    options = {"connector": "filesystem", "format": form}
    old, new = (table(ddl, options) for ddl in ("a INT", "b BIGINT"))

    assert expected == codes(can_read_old_data(old, new, renames={"a": "b"}))
    assert ("field-renamed", "a") in codes(can_read_old_data(old, new, SPARK, {"a": "b"}))
    assert ("column-gone", "a") in codes(can_old_readers_read(old, new, renames={"a": "b"}))


def test_renamed_fields_of_files_are_read_by_the_former_name() -> None:
    options = {"connector": "filesystem", "format": "json"}
    old = table("r ROW<x INT, t ARRAY<ROW<k INT>>>", options)
    new = table("s ROW<y STRING, t ARRAY<ROW<n BIGINT>>>", options)
    renames: dict[tuple[str, ...], str] = {
        ("r",): "s",
        ("r", "x"): "y",
        ("r", "t", "element", "k"): "n",
    }

    result = codes(can_read_old_data(old, new, renames=renames))

    assert set(result) == {
        ("field-renamed-by-mapping", "r"),
        ("field-renamed-by-mapping", "r.x"),
        ("field-renamed-by-mapping", "r.t.element.k"),
        ("type-promoted", "r.x"),
        ("type-promoted", "r.t.element.k"),
    }
