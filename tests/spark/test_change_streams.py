"""Unbounded tables of changes leave the rows of Flink 2.3.0, however their changes arrive."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import pytest

from fuzz.oracle.changelogs import (
    AS_ROWS,
    DUPLICATES,
    FUNCTIONS,
    create,
    statements_of,
    table,
    tables_of,
)
from fuzz.oracle.streams import folded
from schema_core import (
    ArgumentHint,
    ArgumentTrait,
    ProcessTableFunction,
    Row,
    StateHint,
    udptf,
)
from schema_core.errors import SchemaCoreError
from tests.spark.recorded_changes import changes_until_stopped
from tests.spark.test_change_formats import (
    EVERYTHING,
    PROCESSED_CASES,
    READ,
    RELATIONAL,
    TIMED_CASES,
    environment,
    is_plain,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from schema_core import TableEnvironment

pytestmark = pytest.mark.usefixtures("one_task", "one_file_at_a_time")

#: A table of the partitions of rows that are updated.
UPDATED: Final = ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES)
#: The option of an unbounded table.
UNBOUNDED = {"source.monitor-interval": "50 ms"}


def write_files(lines: Sequence[str], place: Path, draw: random.Random) -> None:
    """Write lines into files of random sizes, which arrive in their order."""
    place.mkdir(parents=True)
    rest, number = list(lines), 0
    while rest:
        size = draw.randint(1, 4)
        path = place / str(number)
        path.write_text("".join(f"{line}\n" for line in rest[:size]), encoding="utf-8")
        os.utime(path, (1_700_000_000 + number,) * 2)
        rest, number = rest[size:], number + 1


def arriving(
    session: SparkSession, case: Mapping[str, Any], place: Path, draw: random.Random
) -> TableEnvironment:
    """Return an environment with the tables of a case, whose lines arrive in random files."""
    env = environment(session, case["config"], streaming=True)
    for name, own in tables_of(case).items():
        write_files(own["lines"], place / name, draw)
        unbounded = {**own, "options": {**own["options"], **UNBOUNDED}}
        env.execute_sql(create(name, unbounded, place / name))
    for statement in statements_of(case, place):
        env.execute_sql(statement)
    return env


#: Queries whose changes Flink has recorded, except those that are refused here if tables are
#: unbounded.
QUERIES = [
    case
    for case in (*READ, *RELATIONAL)
    if "changes" in case
    and case["sql"] not in AS_ROWS
    and "OVER (ORDER BY id)" not in case["sql"]
    and not any("TABLE c" in statement for statement in case.get("setup", ()))
]
TIMED_QUERIES = [case for case in TIMED_CASES if "changes" in case]
DRAWN = [*QUERIES, *TIMED_QUERIES] if EVERYTHING else [*QUERIES[2::90], TIMED_QUERIES[0]]


@pytest.mark.parametrize("case", DRAWN, ids=[f"{each['format']}-{each['sql']}" for each in DRAWN])
def test_changes_of_arriving_files(
    session: SparkSession, tmp_path: Path, case: Mapping[str, Any]
) -> None:
    env = arriving(session, case, tmp_path, random.Random(json.dumps(case)))
    changes = changes_until_stopped(env.execute_sql(case["sql"]))
    has_order = is_plain(case) and case not in TIMED_CASES and "UNION" not in case["sql"]
    if has_order and not case["config"] and "setup" not in case:
        assert changes == case["changes"]
    else:
        assert folded(changes) == folded(case["changes"])


class Kinds(ProcessTableFunction):
    """As the functions in fuzz/oracle/java."""

    def eval(
        self, seen: Annotated[Counter[str], StateHint()], row: Annotated[Row, UPDATED]
    ) -> Iterator[str]:
        seen["rows"] += 1
        yield f"{seen['rows']} {kind_and_columns(row)}"


class KindsBefore(ProcessTableFunction):
    def eval(
        self,
        row: Annotated[
            Row,
            ArgumentHint(
                ArgumentTrait.SET_SEMANTIC_TABLE,
                ArgumentTrait.SUPPORT_UPDATES,
                ArgumentTrait.REQUIRE_UPDATE_BEFORE,
            ),
        ],
    ) -> Iterator[str]:
        yield kind_and_columns(row)


class KindsOfRows(ProcessTableFunction):
    def eval(
        self,
        row: Annotated[
            Row, ArgumentHint(ArgumentTrait.ROW_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES)
        ],
    ) -> Iterator[str]:
        yield kind_and_columns(row)


def kind_and_columns(row: Row) -> str:
    name = row["n"]
    return f"{row.get_row_kind()} {row['id']} {'null' if name is None else name}"


DRAWN_FUNCTIONS = PROCESSED_CASES if EVERYTHING else PROCESSED_CASES[:1]


@pytest.mark.parametrize("case", DRAWN_FUNCTIONS, ids=[case["sql"] for case in DRAWN_FUNCTIONS])
def test_functions_of_changes(
    session: SparkSession, tmp_path: Path, case: Mapping[str, Any]
) -> None:
    env = arriving(session, case, tmp_path, random.Random(json.dumps(case)))
    for name, function in zip(FUNCTIONS, (Kinds, KindsBefore, KindsOfRows), strict=True):
        env.create_temporary_function(name, udptf(function))
    changes = changes_until_stopped(env.execute_sql(case["sql"]))

    assert folded(changes) == folded(case["changes"])


def test_windows_of_changes_that_flink_refuses(session: SparkSession, tmp_path: Path) -> None:
    refused = [case for case in TIMED_CASES if "error" in case]
    env = arriving(session, refused[0], tmp_path, random.Random(1))

    for case in refused:
        with pytest.raises(SchemaCoreError) as error:
            env.execute_sql(case["sql"])
        assert error.value.code == "streaming-not-supported"


#: Changes with rowtimes; the last one advances the watermark.
TIMED = [
    ("c", None, (1, "a", "2024-01-01 00:00:01")),
    ("c", None, (2, "b", "2024-01-01 00:00:02")),
    ("u", (1, "a", "2024-01-01 00:00:01"), (1, "aa", "2024-01-01 00:00:11")),
    ("d", (2, "b", "2024-01-01 00:00:02"), None),
    ("c", None, (3, "c", "2024-01-01 00:01:11")),
    ("c", None, (4, "d", "2024-01-01 00:09:00")),
]


@pytest.mark.parametrize(
    "config",
    [{}, pytest.param(DUPLICATES, marks=pytest.mark.slow)],
    ids=["as they are", "normalized"],
)
def test_windows_of_changes(session: SparkSession, tmp_path: Path, config: dict[str, str]) -> None:
    """Flink returns these rows; a change counts until the watermark has passed its window."""
    lines = [
        json.dumps({
            "op": operation,
            "before": before and dict(zip(("id", "n", "ts"), before, strict=True)),
            "after": after and dict(zip(("id", "n", "ts"), after, strict=True)),
        })
        for operation, before, after in TIMED
    ]  # fmt: skip
    columns = "id INT, n STRING, ts TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED"
    sql = " UNION ALL ".join(
        f"SELECT '{function}', CAST(window_start AS STRING), COUNT(*) FROM TABLE({function}("
        f"TABLE t, DESCRIPTOR(ts), INTERVAL '{seconds}' SECOND)) GROUP BY window_start, window_end"
        for function, seconds in (("TUMBLE", 10), ("SESSION", 5))
    )
    watermark = f"{columns}, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
    case = table("debezium-json", lines, watermark, sql, config)
    env = arriving(session, case, tmp_path, random.Random(1))

    assert [
        ["+I", "SESSION", "2024-01-01 00:00:01.000", 1],
        ["+I", "SESSION", "2024-01-01 00:00:11.000", 1],
        ["+I", "SESSION", "2024-01-01 00:01:11.000", 1],
        ["+I", "TUMBLE", "2024-01-01 00:00:00.000", 1],
        ["+I", "TUMBLE", "2024-01-01 00:00:10.000", 1],
        ["+I", "TUMBLE", "2024-01-01 00:01:10.000", 1],
    ] == sorted(changes_until_stopped(env.execute_sql(sql)))


@pytest.mark.parametrize(
    "query",
    [
        (
            "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts),"
            " INTERVAL '1' SECOND)) GROUP BY window_start, window_end"
        ),
        "SELECT op, id FROM TO_CHANGELOG(TABLE t)",
    ],
)
def test_plans_of_changes(session: SparkSession, tmp_path: Path, query: str) -> None:
    columns = "id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    case = table("debezium-json", [], columns, query, {})
    env = arriving(session, case, tmp_path, random.Random(1))

    assert "== State ==" in env.explain_sql(query)
