"""The connectors `print` and `blackhole`; the lines are those that Flink 2.3 printed."""

from __future__ import annotations

import datetime as dt

import pytest

from schema_core.environment.table_api.descriptor import TableDescriptor
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.schema.unresolved import Schema
from schema_core.types import DataTypes

pytestmark = pytest.mark.spark

#: Type -> values in SQL, and what Flink prints for them.
PRINTED = {
    "INT": [("1", "1"), ("CAST(NULL AS INT)", "null")],
    "STRING": [("'abc'", "abc"), ("'a\"b'", 'a"b')],
    "ROW<x INT, y STRING>": [
        ("ROW(1, 'x')", "+I[1, x]"),
        ("CAST(ROW(CAST(NULL AS INT), 'x y, z') AS ROW<x INT, y STRING>)", "+I[null, x y, z]"),
    ],
    "ARRAY<STRING>": [
        ("ARRAY['a', 'b']", "[a, b]"),
        ("ARRAY[CAST(NULL AS STRING), '']", "[null, ]"),
    ],
    "ARRAY<ARRAY<INT>>": [("ARRAY[ARRAY[1], ARRAY[2, 3]]", "[[1], [2, 3]]")],
    "MAP<STRING, INT>": [("MAP['k', 1]", "{k=1}"), ("MAP['k', CAST(NULL AS INT)]", "{k=null}")],
    "MAP<BYTES, ROW<q BYTES>>": [("MAP[X'01', ROW(X'80')]", "{[1]=+I[[-128]]}")],
    "BYTES": [("X'0aff'", "[10, -1]"), ("X''", "[]")],
    "DECIMAL(10, 2)": [("1.5", "1.50"), ("-1.5", "-1.50")],
    "DECIMAL(20, 10)": [("0", "0E-10"), ("0.0000000001", "1E-10")],
    "DATE": [("DATE '2024-01-02'", "2024-01-02"), ("DATE '0001-01-02'", "0001-01-02")],
    "TIME(0)": [("TIME '10:11:12'", "10:11:12"), ("TIME '00:00:00'", "00:00")],
    "TIME(3)": [("TIME '10:11:00.5'", "10:11:00.500"), ("TIME '00:00:00.01'", "00:00:00.010")],
    "TIMESTAMP(3)": [("TIMESTAMP '2024-01-02 03:00:00'", "2024-01-02T03:00")],
    "TIMESTAMP(6)": [
        ("TIMESTAMP '2024-01-02 03:04:05.1234'", "2024-01-02T03:04:05.123400"),
        ("TIMESTAMP '2024-01-02 03:04:00.00001'", "2024-01-02T03:04:00.000010"),
        ("TIMESTAMP '2024-01-02 03:04:05'", "2024-01-02T03:04:05"),
    ],
    "TIMESTAMP_LTZ(3)": [
        ("CAST(TIMESTAMP '2024-01-02 03:04:05.5' AS TIMESTAMP_LTZ(3))", "2024-01-02T03:04:05.500Z"),
        ("CAST(TIMESTAMP '2024-01-02 03:00:00' AS TIMESTAMP_LTZ(3))", "2024-01-02T03:00:00Z"),
    ],
    "FLOAT": [("CAST(1.5 AS FLOAT)", "1.5"), ("CAST(1E10 AS FLOAT)", "1.0E10")],
    "DOUBLE": [("2.5E10", "2.5E10"), ("1E-5", "1.0E-5"), ("100.0E0", "100.0")],
    "BOOLEAN": [("TRUE", "true")],
    "CHAR(4)": [("'ab'", "ab  ")],
}


def test_values_as_flink_prints_them(
    environment: TableEnvironment, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = ", ".join(f"c{number} {type_}" for number, type_ in enumerate(PRINTED))
    environment.execute_sql(f"CREATE TABLE p ({columns}) WITH ('connector' = 'print')")
    most = max(map(len, PRINTED.values()))
    rows, expected = [], []
    for number in range(most):
        cases = [values[min(number, len(values) - 1)] for values in PRINTED.values()]
        rows.append("SELECT " + ", ".join(value for value, _ in cases))
        expected.append("+I[" + ", ".join(text for _, text in cases) + "]")
    environment.execute_sql("INSERT INTO p " + " UNION ALL ".join(rows))

    assert capsys.readouterr().out.splitlines() == expected


def test_intervals_are_periods_and_durations(
    environment: TableEnvironment, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = (
        Schema.new_builder()
        .column("a", DataTypes.INTERVAL(DataTypes.YEAR(), DataTypes.MONTH()))
        .column("b", DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3)))
    )
    descriptor = TableDescriptor.for_connector("print").schema(schema.build()).build()
    environment.create_table("intervals", descriptor)
    environment.execute_sql(
        "INSERT INTO intervals VALUES"
        " (INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1 02:03:04.5' DAY TO SECOND(3)),"
        " (INTERVAL '-1-2' YEAR TO MONTH, INTERVAL '-1 02:03:04.5' DAY TO SECOND(3)),"
        " (INTERVAL '0' MONTH, INTERVAL '0' SECOND),"
        " (INTERVAL '12' MONTH, INTERVAL '-0.5' SECOND(3))"
    )

    assert sorted(capsys.readouterr().out.splitlines()) == [
        "+I[P-1Y-2M, PT-26H-3M-4.5S]",
        "+I[P0D, PT0S]",
        "+I[P1Y, PT-0.5S]",
        "+I[P1Y2M, PT26H3M4.5S]",
    ]


def test_intervals_within_other_values_keep_their_length(
    environment: TableEnvironment, capsys: pytest.CaptureFixture[str]
) -> None:
    """In rows, arrays and maps, printed and returned."""
    months = DataTypes.INTERVAL(DataTypes.YEAR(), DataTypes.MONTH())
    seconds = DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3))
    row = DataTypes.ROW([DataTypes.FIELD("a", months), DataTypes.FIELD("b", seconds)])
    schema = (
        Schema.new_builder()
        .column("r", row)
        .column("x", DataTypes.ARRAY(seconds))
        .column("m", DataTypes.MAP(DataTypes.STRING(), row))
    )
    descriptor = TableDescriptor.for_connector("print").schema(schema.build()).build()
    environment.create_table("p", descriptor)
    pair = "ROW(INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1 02:03:04.5' DAY TO SECOND(3))"
    query = (
        f"SELECT {pair}, ARRAY[INTERVAL '1' SECOND(3), INTERVAL '-60' SECOND(3)], MAP['k', {pair}]"
    )
    environment.execute_sql(f"INSERT INTO p {query}")

    printed = "+I[P1Y2M, PT26H3M4.5S]"
    assert capsys.readouterr().out == f"+I[{printed}, [PT1S, PT-1M], {{k={printed}}}]\n"
    [result] = environment.execute_sql(query).collect()
    lengths = dt.timedelta(seconds=1), dt.timedelta(minutes=-1)
    length = dt.timedelta(days=1, hours=2, minutes=3, seconds=4.5)
    assert tuple(result[0]) == (14, length)
    assert tuple(result[1]) == lengths
    assert tuple(result[2]["k"]) == (14, length)


def test_identifier_task_partition_and_stream(
    environment: TableEnvironment, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.execute_sql(
        "CREATE TABLE p (a INT, k STRING) PARTITIONED BY (k) WITH ('connector' = 'print',"
        " 'print-identifier' = 'id', 'standard-error' = 'true')"
    )
    environment.execute_sql("INSERT INTO p PARTITION (k = 'x') SELECT 1")
    environment.execute_sql("INSERT INTO p SELECT 1, 'y'")
    hint = "/*+ OPTIONS('standard-error' = 'false', 'sink.parallelism' = '2') */"
    environment.execute_sql(f"INSERT INTO p {hint} SELECT v, 'y' FROM (VALUES (3), (4)) AS t (v)")
    printed = capsys.readouterr()

    assert printed.err.splitlines()[-2:] == ["id:k=x> +I[1, x]", "id> +I[1, y]"]
    assert {line[:3] for line in printed.out.splitlines()} == {"id:"}
    assert {line[4:] for line in printed.out.splitlines()} == {"> +I[3, y]", "> +I[4, y]"}


def test_blackhole_computes_every_column(environment: TableEnvironment) -> None:
    environment.execute_sql(
        "CREATE TABLE b (a INT, k INT NOT NULL) PARTITIONED BY (k)"
        " WITH ('connector' = 'blackhole', 'property-version' = '1')"
    )
    environment.execute_sql("INSERT INTO b VALUES (1, 2)")
    environment.execute_sql("INSERT INTO b PARTITION (k = 2) VALUES (1)")
    for query in ("SELECT CAST('x' AS INT), 1", "SELECT 1, CAST(NULL AS INT)"):
        with pytest.raises(SchemaCoreError) as caught:
            environment.execute_sql(f"INSERT INTO b {query}")
        assert caught.value.code == "job-failed"


@pytest.mark.parametrize("connector", ["print", "blackhole"])
@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("SELECT * FROM s", "unsupported-ability"),
        ("INSERT OVERWRITE s VALUES (1)", "unsupported-ability"),
    ],
)
def test_sinks_are_neither_read_nor_overwritten(
    environment: TableEnvironment, connector: str, statement: str, code: str
) -> None:
    environment.execute_sql(f"CREATE TABLE s (a INT) WITH ('connector' = '{connector}')")
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(statement)

    assert caught.value.code == code


def test_an_invalid_parallelism_is_refused(environment: TableEnvironment) -> None:
    environment.execute_sql(
        "CREATE TABLE p (a INT) WITH ('connector' = 'print', 'sink.parallelism' = '0')"
    )
    with pytest.raises(SchemaCoreError, match="at least 1"):
        environment.execute_sql("INSERT INTO p VALUES (1)")
