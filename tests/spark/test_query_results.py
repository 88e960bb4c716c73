"""Groups, windows, joins and subqueries return the rows that Flink 2.3.0 returned."""

from __future__ import annotations

import datetime as dt
import json
import math
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaError, UnsupportedError
from schema_core.sql.printer import print_string
from schema_core.types import (
    ArrayType,
    BigIntType,
    BinaryType,
    DataType,
    DataTypes,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    TimestampType,
    TimeType,
    VarBinaryType,
)
from tests.slow_tests import draw_cases, keywords

pytestmark = pytest.mark.usefixtures("one_task")

#: The table A, then queries of it with Flink's rows, as Java prints them.
TABLE, *CASES = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "cases" / "query_results.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
TYPES = {name: DataTypes.of(text) for name, text in TABLE["columns"].items()}


@pytest.fixture(scope="module")
def rows_of(session: Any, tmp_path_factory: pytest.TempPathFactory) -> TableEnvironment:
    """Return an environment with the table A in a file: a view is analysed with each query."""
    environment = environment_of(session)
    rows = [tuple(map(value, row, TYPES.values())) for row in TABLE["rows"]]
    schema = DataTypes.ROW([DataTypes.FIELD(name, type_) for name, type_ in TYPES.items()])
    columns = ", ".join(f"`{name}` {type_}" for name, type_ in TYPES.items())
    place = print_string(str(tmp_path_factory.mktemp("rows") / "A"))
    options = f"'connector' = 'filesystem', 'format' = 'parquet', 'path' = {place}"
    environment.execute_sql(f"CREATE TEMPORARY TABLE A ({columns}) WITH ({options})")
    environment.from_elements(rows, schema).execute_insert("A").wait()
    return environment


def environment_of(session: Any) -> TableEnvironment:
    from schema_core.environment.config import EnvironmentSettings

    return TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)


READ: dict[type[DataType], Callable[[Any], Any]] = {
    BigIntType: int,
    DoubleType: float,
    FloatType: float,
    DecimalType: Decimal,
    DateType: dt.date.fromisoformat,
    TimeType: dt.time.fromisoformat,
    TimestampType: dt.datetime.fromisoformat,
    LocalZonedTimestampType: dt.datetime.fromisoformat,
}


def value(recorded: Any, type_: DataType) -> Any:
    """Return a recorded value as Python's."""
    if recorded is None:
        return None
    return READ.get(type(type_), lambda item: item)(recorded)


def printed(found: Any, type_: DataType) -> str:
    """Return a value as Java prints it."""
    match type_:
        case _ if found is None:
            return "null"
        case DoubleType() | FloatType():
            return number(found, type_)
        case BinaryType() | VarBinaryType():
            return str([byte - 256 if byte > 127 else byte for byte in found])
        case ArrayType(element_type=element):
            return f"[{', '.join(printed(item, element) for item in found)}]"
        case MapType(key_type=key, value_type=value_type):
            entries = (f"{printed(k, key)}={printed(v, value_type)}" for k, v in found.items())
            return f"{{{', '.join(sorted(entries))}}}"
        case MultisetType(element_type=element):
            pairs = (f"{printed(key, element)}={count}" for key, count in dict(found).items())
            return f"{{{', '.join(sorted(pairs))}}}"
        case RowType():
            inner = (
                printed(item, of.data_type) for item, of in zip(found, type_.fields, strict=True)
            )
            return f"+I[{', '.join(inner)}]"
        case TimestampType() | LocalZonedTimestampType() | TimeType():
            return clock(found)
        case _:
            return str(found).lower() if isinstance(found, bool) else str(found)


def row_of(values: Sequence[Any], types: Sequence[DataType]) -> str:
    """Return a row as Java prints it."""
    return f"+I[{', '.join(map(printed, values, types))}]"


def clock(found: dt.datetime | dt.time) -> str:
    """Return a time with seconds only if they are not 0, and milliseconds only with seconds."""
    text = found.isoformat().replace("+00:00", "Z")
    zone = "Z" if text.endswith("Z") else ""
    text = text.removesuffix("Z")
    if "." in text:
        return text.removesuffix("000") + zone
    return text.removesuffix(":00") + zone


def number(found: float, type_: DataType) -> str:
    """Return the shortest digits that are read as this number."""
    if math.isnan(found):
        return "NaN"
    if math.isinf(found):
        return "Infinity" if found > 0 else "-Infinity"
    text = repr(found)
    if isinstance(type_, FloatType):
        exact = struct.pack("f", found)
        text = next(
            shown
            for digits in range(1, 10)
            if struct.pack("f", float(shown := f"{found:.{digits}g}")) == exact
        )
    size = abs(found)
    if found == 0 or 1e-3 <= size < 1e7:
        plain = f"{Decimal(text):f}"
        return plain if "." in plain else f"{plain}.0"
    sign, digits, _ = Decimal(text).as_tuple()
    shown = "".join(map(str, digits)).rstrip("0")
    power = Decimal(text).adjusted()
    return f"{'-' * sign}{shown[0]}.{shown[1:] or 0}E{power}"


NAMES = [case["sql"][:90] for case in CASES]


def words(case: dict[str, Any]) -> frozenset[str]:
    return keywords(case["sql"])


@pytest.mark.parametrize("case", draw_cases(CASES, words), ids=NAMES)
def test_rows_are_those_of_flink(rows_of: TableEnvironment, case: dict[str, Any]) -> None:
    result = rows_of.execute_sql(case["sql"])
    types = [column.data_type for column in result.get_resolved_schema().columns]
    rows = [row_of(tuple(row), types) for row in result.collect()]

    assert sorted(rows) == sorted(case["rows"])


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT JSON_OBJECTAGG(KEY c VALUE i) FROM A WHERE k < 4", "occurs twice"),
        ("SELECT JSON_OBJECTAGG(KEY s VALUE i) FROM A WHERE k = 3", "is NULL"),
    ],
)
def test_keys_of_json_objects_are_unique(rows_of: TableEnvironment, sql: str, problem: str) -> None:
    with pytest.raises(ExternalError, match=problem):
        list(rows_of.execute_sql(sql).collect())


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM A GROUP BY TUMBLE(ts, INTERVAL '1' MONTH)",
        "SELECT COUNT(*) FROM A GROUP BY GROUPING SETS ((k, SESSION(ts, INTERVAL '1' HOUR)), (k))",
        "SELECT 1 FROM A GROUP BY SESSION(ts, INTERVAL '1' HOUR), TUMBLE(ts, INTERVAL '1' DAY)",
        "SELECT * FROM TABLE(TUMBLE(TABLE A, DESCRIPTOR(ts), INTERVAL '1' MONTH))",
        "SELECT APPROX_COUNT_DISTINCT(i, k) FROM A",
        "SELECT ARRAY_AGG(DISTINCT i ORDER BY k) FROM A",
        "SELECT ARRAY_AGG(i ORDER BY MAP[1, k]) FROM A",
    ],
)
def test_groups_that_flink_does_not_run_are_refused(rows_of: TableEnvironment, sql: str) -> None:
    with pytest.raises(UnsupportedError, match="is not supported on Spark"):
        rows_of.execute_sql(sql)


@pytest.mark.parametrize(
    ("window", "problem"),
    [
        ("TUMBLE(TABLE A, DESCRIPTOR(ts), INTERVAL '0' SECOND)", "size of TUMBLE must be positive"),
        ("SESSION(TABLE A, DESCRIPTOR(ts), INTERVAL -'1' DAY)", "gap of SESSION must be positive"),
        (
            "CUMULATE(TABLE A, DESCRIPTOR(ts), INTERVAL '3' HOUR, INTERVAL '1' DAY)",
            None,
        ),
        (
            "CUMULATE(TABLE A, DESCRIPTOR(ts), INTERVAL '5' HOUR, INTERVAL '1' DAY)",
            "must be a multiple of the step: 86400000 ms and 18000000 ms",
        ),
    ],
)
def test_lengths_of_windows(rows_of: TableEnvironment, window: str, problem: str | None) -> None:
    sql = f"SELECT window_end FROM TABLE({window})"
    if problem is None:
        rows_of.execute_sql(sql)
        return
    with pytest.raises(SchemaError, match=problem) as caught:
        rows_of.execute_sql(sql)
    assert "invalid-function-call" == caught.value.code


#: In these rows Flink 2.3.0 found the sessions below in streaming mode; a NULL time is in none.
VISITS = """
(1, 'a', 10, TIMESTAMP '2024-01-01 00:00:01'), (1, 'b', 20, TIMESTAMP '2024-01-01 00:00:03'),
(2, 'c', 5, TIMESTAMP '2024-01-01 00:00:20'), (2, '', 7, TIMESTAMP '2024-01-01 00:00:22.0004'),
(2, 'e', 1, TIMESTAMP '2024-01-01 00:00:27'), (2, 'f', 2, TIMESTAMP '2024-01-01 00:00:32.001'),
(1, 'g', 9, TIMESTAMP '2024-01-01 00:00:07'), (1, 'h', 9, CAST(NULL AS TIMESTAMP(3)))
"""
OF_GROUPS = """
SELECT id, SESSION_START(ts, INTERVAL '5' SECOND), SESSION_END(ts, INTERVAL '5' SECOND),
SESSION_ROWTIME(ts, INTERVAL '5' SECOND), SUM(amount)
FROM visits GROUP BY id, SESSION(ts, INTERVAL '5' SECOND)
"""
OF_ALL = """
SELECT SESSION_START(ts, INTERVAL '5' SECOND), SUM(amount), COUNT(DISTINCT name)
FROM visits WHERE name <> 'a' GROUP BY SESSION(ts, INTERVAL '5' SECOND) HAVING SUM(amount) > 2
"""
OF_PARTITIONS = """
SELECT id, window_start, window_end, window_time, SUM(amount)
FROM TABLE(SESSION(TABLE visits PARTITION BY id, DESCRIPTOR(ts), INTERVAL '5' SECOND))
GROUP BY id, window_start, window_end, window_time
"""
OF_ROWS = """
SELECT name, window_start, window_end
FROM TABLE(SESSION(DATA => TABLE visits, TIMECOL => DESCRIPTOR(ts), GAP => INTERVAL '5' SECOND))
WHERE name NOT IN ('e', 'f')
"""


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (OF_GROUPS, "1 01.000 12.000 11.999 39,2 20.000 32.000 31.999 13,2 32.001 37.001 37.000 2"),
        (OF_ALL, "03.000 29 2,20.000 13 3"),
        (
            OF_PARTITIONS,
            "1 01.000 12.000 11.999 39,2 20.000 32.000 31.999 13,2 32.001 37.001 37.000 2",
        ),
        (
            OF_ROWS,
            " 20.000 32.000,a 01.000 12.000,b 01.000 12.000,c 20.000 32.000,g 01.000 12.000",
        ),
    ],
)
def test_sessions(rows_of: TableEnvironment, sql: str, expected: str) -> None:
    create_visits(rows_of)

    def shown(value: Any) -> str:
        is_time = isinstance(value, dt.datetime)
        return value.isoformat(timespec="milliseconds")[17:] if is_time else str(value)

    with rows_of.execute_sql(sql).collect() as result:
        assert expected == ",".join(sorted(" ".join(map(shown, row)) for row in result))


def create_visits(environment: TableEnvironment) -> None:
    if "visits" not in environment.list_temporary_views():
        columns = "SELECT id, name, amount, CAST(ts AS TIMESTAMP(3)) AS ts"
        query = f"{columns} FROM (VALUES {VISITS}) AS v (id, name, amount, ts)"
        environment.execute_sql(f"CREATE TEMPORARY VIEW visits AS {query}")


def test_arrays_of_sorted_rows(rows_of: TableEnvironment) -> None:
    """In the order of the keys, in which NULL is the lowest value; Flink 2.3 ignores the keys."""
    create_visits(rows_of)
    arrays = {
        "ARRAY_AGG(name ORDER BY amount DESC, name)": ["b", "a", "g", "h", "", "c", "f", "e"],
        "ARRAY_AGG(name ORDER BY ts DESC)": ["f", "e", "", "c", "g", "b", "a", "h"],
        "ARRAY_AGG(id ORDER BY ts NULLS LAST) FILTER (WHERE amount > 6)": [1, 1, 1, 2, 1],
        "ARRAY_AGG(NULLIF(name, '') ORDER BY id DESC, name) IGNORE NULLS": [*"cefabgh"],
        "ARRAY_AGG(NULLIF(name, '') ORDER BY id DESC, NULLIF(name, ''))": [None, *"cefabgh"],
    }
    with rows_of.execute_sql(f"SELECT {', '.join(arrays)} FROM visits").collect() as result:
        assert [tuple(arrays.values())] == [tuple(row) for row in result]
    with rows_of.execute_sql(
        "SELECT COLLECT(id) WITHIN GROUP (ORDER BY ts), ARRAY_AGG(id ORDER BY ts)"
        " FROM visits WHERE id < 0"
    ).collect() as result:
        assert [({}, None)] == [tuple(row) for row in result]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k FROM A WHERE ts < '2024-01-01T10:00:00'",
        "SELECT k FROM A WHERE ts = 'x'",
        "SELECT k FROM A WHERE dt >= s",
        "SELECT k FROM A WHERE i < s",
        "SELECT k FROM A WHERE i < '1e1'",
        "SELECT k FROM A WHERE i IN ('1', 'x')",
    ],
)
def test_comparisons_with_invalid_strings_fail(rows_of: TableEnvironment, sql: str) -> None:
    with pytest.raises(ExternalError, match="cannot cast to"):
        list(rows_of.execute_sql(sql).collect())
