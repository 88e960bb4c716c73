"""Tables are compared by key and as multisets, on Spark and exactly."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.cli.app import application
from schema_core.environment.planner import DifferenceKind
from schema_core.errors import SchemaCoreError
from schema_core.migration import TableDiff, table_diff
from tests.html_reading import read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def environment(spark: SparkSession) -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=spark)


def values(columns: str, *rows: str) -> str:
    """Return a query of rows."""
    return f"SELECT * FROM (VALUES {', '.join(f'({row})' for row in rows)}) AS t({columns})"


def counts(diff: TableDiff) -> tuple[int, ...]:
    return diff.equal, diff.different, diff.only_left, diff.only_right, diff.duplicate_keys


#: Pairs of values in SQL, and whether they are equal.
PAIRS: list[tuple[str, str, bool]] = [
    ("CAST('NaN' AS DOUBLE)", "CAST('NaN' AS DOUBLE)", True),
    ("CAST('NaN' AS FLOAT)", "CAST(1 AS FLOAT)", False),
    ("CAST(-0.0 AS DOUBLE)", "CAST(0.0 AS DOUBLE)", True),
    ("CAST(NULL AS INT)", "CAST(NULL AS INT)", True),
    ("CAST(NULL AS INT)", "0", False),
    ("CAST(1.5 AS DECIMAL(4, 2))", "CAST(1.5 AS DECIMAL(12, 4))", True),
    ("CAST(1.5 AS DECIMAL(38, 1))", "CAST(1.5 AS DECIMAL(38, 36))", True),
    ("CAST(1.51 AS DECIMAL(4, 2))", "CAST(1.5 AS DECIMAL(4, 1))", False),
    ("CAST(5000000000 AS BIGINT)", "CAST(705032704 AS INT)", False),
    ("CAST(7 AS BIGINT)", "CAST(7 AS INT)", True),
    ("CAST(9007199254740993 AS BIGINT)", "CAST(9007199254740992 AS DOUBLE)", False),
    ("'7'", "7", True),
    ("'seven'", "7", False),
    ("7", "'7'", True),
    ("CAST(NULL AS STRING)", "CAST(NULL AS INT)", True),
    ("'x'", "CAST(NULL AS INT)", False),
    ("TRUE", "DATE '2020-01-01'", False),
    ("X'00FF'", "X'00FF'", True),
    ("X'00FF'", "X'00FE'", False),
    ("TIMESTAMP '2020-01-01 00:00:00.123456'", "TIMESTAMP '2020-01-01 00:00:00.123457'",
     False),
    ("ARRAY[1e0, CAST('NaN' AS DOUBLE)]", "ARRAY[1e0, CAST('NaN' AS DOUBLE)]", True),
    ("ARRAY[1, 2]", "ARRAY[2, 1]", False),
    ("ARRAY[1, CAST(NULL AS INT)]", "ARRAY[1, CAST(NULL AS INT)]", True),
    ("MAP['a', 1, 'b', 2]", "MAP['b', 2, 'a', 1]", True),
    ("MAP['a', 1, 'b', 2]", "MAP['a', 1, 'b', 3]", False),
    ("ARRAY[MAP['a', 1, 'b', 2]]", "ARRAY[MAP['b', 2, 'a', 1]]", True),
    ("ROW(1, MAP['a', 1, 'b', 2])", "ROW(1, MAP['b', 2, 'a', 1])", True),
    ("ROW(1, CAST(NULL AS STRING))", "ROW(1, CAST(NULL AS STRING))", True),
    ("ROW(1, 'x')", "ROW(1, 'y')", False),
    ("ROW(1, 'x')", "ROW(CAST(1 AS BIGINT), 'x')", True),
    ("PARSE_JSON('{\"a\": 1, \"b\": 2}')", "PARSE_JSON('{\"b\": 2, \"a\": 1}')", True),
    ("PARSE_JSON('1')", "PARSE_JSON('\"1\"')", False),
]  # fmt: skip


def test_values_are_equal_if_they_are_not_distinct(environment: TableEnvironment) -> None:
    left, right = (
        f"SELECT 1 AS id, {', '.join(f'{pair[side]} AS c{n}' for n, pair in enumerate(PAIRS))}"
        for side in (0, 1)
    )

    diff = table_diff(environment, left, right, on=["id"], samples=1)

    differing = {column.column for column in diff.column_differences}
    assert {f"c{n}" for n, pair in enumerate(PAIRS) if not pair[2]} == differing
    assert (0, 1, 0, 0, 0) == counts(diff)
    samples = {column.column: column.samples[0] for column in diff.column_differences}
    position = next(n for n, pair in enumerate(PAIRS) if pair[0] == "'seven'")
    assert ("seven", "7") == (samples[f"c{position}"].left, samples[f"c{position}"].right)


def test_values_that_are_not_distinct_are_one_row(environment: TableEnvironment) -> None:
    equal = [pair for pair in PAIRS if pair[2]]
    left, right = (
        f"SELECT {', '.join(f'{pair[side]} AS c{n}' for n, pair in enumerate(equal))}"
        for side in (0, 1)
    )

    diff = table_diff(environment, left, right)

    assert (1, 0, 0, 0, 0) == counts(diff)
    assert diff.has_equal_rows
    assert not diff.is_equal  # types differ
    assert diff.schema_changes


def model(left: Sequence[Any], right: Sequence[Any], *, keyed: bool) -> tuple[int, ...]:
    """Return the numbers of `counts` for rows of a key and a value."""
    sides = Counter(left), Counter(right)
    equal = sum((sides[0] & sides[1]).values())
    different = duplicates = 0
    if keyed:
        for key in {row[0] for row in (*left, *right)}:
            numbers = [sum(row[0] == key for row in rows) for rows in (left, right)]
            duplicates += max(numbers) > 1
            pair = [row for row in {*left, *right} if row[0] == key]
            different += numbers == [1, 1] and len(pair) == 2
    only = [len(rows) - equal - different for rows in (left, right)]
    return equal, different, only[0], only[1], duplicates


@pytest.mark.parametrize("keyed", [True, False])
def test_counts_are_exact(environment: TableEnvironment, keyed: bool) -> None:
    chance = random.Random(41)
    keys, texts = [*range(150), None], ["a", "b", None]
    left, right = (
        [(chance.choice(keys), chance.choice(texts)) for _ in range(120)] for _ in range(2)
    )
    columns = ["k", "v"]
    tables = [environment.from_elements(rows, columns) for rows in (left, right)]

    diff = table_diff(environment, *map(str, tables), on=["k"] if keyed else None, samples=2)

    expected = model(left, right, keyed=keyed)
    assert min(expected[: 5 if keyed else 1]) > 0
    assert expected == counts(diff)
    assert (len(left), len(right)) == (diff.left_rows, diff.right_rows)
    assert {2} == {len(rows) for rows in diff.rows.values()}
    differing = [column.rows for column in diff.column_differences]
    assert ([diff.different] if keyed else []) == differing


def test_equal_tables_and_empty_tables(environment: TableEnvironment) -> None:
    query = values("id, name", "1, 'a'", "2, 'b'")

    assert table_diff(environment, query, query, on=["id"]).is_equal
    empty = f"{query} WHERE id > 5"
    assert (0, 0, 2, 0, 0) == counts(table_diff(environment, query, empty, on=["id"], samples=0))
    assert (0, 0, 0, 0, 0) == counts(table_diff(environment, empty, empty))


def test_the_primary_key_renames_and_columns_of_one_side(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    with_ = f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/{{}}', 'format' = 'json')"
    environment.execute_sql(
        "CREATE TABLE before_ (id INT NOT NULL, name STRING, gone INT, twice AS id * 2, "
        f"PRIMARY KEY (id) NOT ENFORCED) {with_.format('a')}"
    )
    environment.execute_sql(
        f"CREATE TABLE after_ (id BIGINT NOT NULL, `la<b>``el` STRING) {with_.format('b')}"
    )
    environment.execute_sql("INSERT INTO before_ VALUES (1, 'a', 0), (2, 'b', 0)").wait()
    environment.execute_sql("INSERT INTO after_ VALUES (1, 'a'), (2, '<b>')").wait()

    diff = table_diff(environment, "before_", "after_", renames={"name": "la<b>`el"})

    assert (("id",), ("id", "la<b>`el")) == (diff.key, diff.columns)
    assert (1, 1, 0, 0, 0) == counts(diff)
    assert any("gone" in line for line in diff.summarize())
    assert not any("twice" in line for line in diff.summarize())
    assert "id=2: 'b' -> '<b>'" in str(diff)
    assert 1 == json.loads(diff.to_json())["column_differences"][0]["rows"]
    page = read(diff.to_html("<t>"))
    assert "b" not in page.tags
    assert "'<b>'" in page.text
    other = f"SELECT * FROM before_ /*+ OPTIONS('path' = '{tmp_path}/b') */ -- 'password' = 'pw1'\n"
    masked = table_diff(environment, "before_", f"{other} WHERE id > 5", columns=["id"])
    assert "pw1" not in str(masked)
    assert (0, 0, 2, 0, 0) == counts(masked)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"on": ["absent"]}, "unknown-column"),
        ({"columns": ["ID"]}, "unknown-column"),
        ({"samples": 101}, "invalid-argument"),
        ({"renames": {"absent": "id"}}, "unknown-column"),
    ],
)
def test_wrong_arguments(environment: TableEnvironment, options: dict[str, Any], code: str) -> None:
    query = values("id, name", "1, 'a'")

    with pytest.raises(SchemaCoreError) as caught:
        table_diff(environment, query, query, **options)
    assert code == caught.value.code


def test_tables_that_cannot_be_compared(environment: TableEnvironment) -> None:
    for name, key in (("key_a", "a"), ("key_b", "b")):
        environment.execute_sql(
            f"CREATE TABLE {name} (a INT NOT NULL, b INT NOT NULL, PRIMARY KEY ({key})"
            " NOT ENFORCED) WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
        )
    streaming = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    streaming.execute_sql("CREATE TABLE g (a INT) WITH ('connector' = 'datagen')")

    for session, left, right, code in (
        (environment, "key_a", "key_b", "invalid-argument"),
        (environment, "SELECT 1 AS a", "SELECT 1 AS b", "invalid-argument"),
        (environment, "absent", "key_b", "table-not-found"),
        (streaming, "g", "g", "streaming-not-supported"),
    ):
        with pytest.raises(SchemaCoreError) as caught:
            table_diff(session, left, right)
        assert code == caught.value.code


@pytest.mark.usefixtures("spark")
def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "setup.sql").write_text("CREATE TEMPORARY VIEW t AS SELECT 1 AS id, 'a' AS name;")
    arguments = ["migrate", "table-diff", "t", "--on", "id", "--directory", str(tmp_path)]

    equal = CliRunner().invoke(application(), [*arguments, "SELECT * FROM t"])
    other = "SELECT id, 'b' AS name FROM t"
    results = {
        form: CliRunner().invoke(application(), [*arguments, other, "--format", form])
        for form in ("text", "json", "github", "html")
    }

    assert 0 == equal.exit_code, equal.output
    assert {1} == {result.exit_code for result in results.values()}
    assert "id=1: 'a' -> 'b'" in results["text"].stdout
    assert 1 == json.loads(results["json"].stdout)["counts"]["different"]
    assert "different: 1 row" in results["github"].stdout
    assert "'b'" in read(results["html"].stdout).text


def test_samples_have_the_rows_of_each_side(environment: TableEnvironment) -> None:
    left = values("id, name", "1, 'a'", "2, 'b'", "3, 'c'", "3, 'd'")
    right = values("id, name", "1, 'x'", "3, 'c'", "4, 'e'")

    diff = table_diff(environment, left, right, on=["id"])

    assert {
        DifferenceKind.ONLY_LEFT: ({"id": "2", "name": "'b'"},),
        DifferenceKind.ONLY_RIGHT: ({"id": "4", "name": "'e'"},),
        DifferenceKind.DUPLICATE_KEY: ({"id": "3", "rows left": "2", "rows right": "1"},),
    } == diff.rows
    assert (1, 1, 2, 1, 1) == counts(diff)
