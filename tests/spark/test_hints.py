"""Hints change the options of a table for one statement, on reading and on writing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schema_core.errors import SchemaCoreError

if TYPE_CHECKING:
    from schema_core.environment.table_environment import TableEnvironment
    from tests.spark.conftest import FrameConnector


@pytest.fixture
def tables(environment: TableEnvironment, tmp_path: Path) -> TableEnvironment:
    """A table `h` with one row at `h`, and a file of another row at `other`."""
    for name, row in {"h": "1,own", "other": "2,hinted"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows.csv").write_text(row + "\n", encoding="utf-8")
    environment.execute_sql(
        "CREATE TABLE h (a INT, b STRING) WITH ('connector' = 'filesystem', 'format' = 'csv',"
        f" 'path' = '{tmp_path / 'h'}')"
    )
    return environment


def rows(environment: TableEnvironment, query: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in environment.execute_sql(query).collect())


def path(folder: Path, name: str) -> str:
    return f"/*+ OPTIONS('path' = '{folder / name}') */"


def test_a_scan_reads_the_path_of_its_hint(tables: TableEnvironment, tmp_path: Path) -> None:
    other = path(tmp_path, "other")

    assert [(2, "hinted")] == rows(tables, f"SELECT * FROM h {other}")
    assert [(2, "hinted")] == rows(tables, f"SELECT x.* FROM h {other} AS x")
    assert [(1, "own")] == rows(tables, "SELECT * FROM h")
    assert [(1, 2)] == rows(tables, f"SELECT x.a, y.a FROM h AS x, h {other} AS y")
    assert [(2, "hinted")] == rows(
        tables, f"SELECT * FROM (SELECT * FROM h {other}) WHERE a IN (SELECT a FROM h {other})"
    )


def test_an_insert_writes_to_the_path_of_its_hint(tables: TableEnvironment, tmp_path: Path) -> None:
    third = path(tmp_path, "third")
    tables.execute_sql(f"INSERT INTO h {third} SELECT 3, 'new'")

    assert [(1, "own")] == rows(tables, "SELECT * FROM h")
    assert [(3, "new")] == rows(tables, f"SELECT * FROM h {third}")


def test_an_overwrite_replaces_the_path_of_its_hint(
    tables: TableEnvironment, tmp_path: Path
) -> None:
    other = path(tmp_path, "other")
    tables.execute_sql(f"INSERT OVERWRITE h {other} SELECT 3, 'new'")

    assert [(1, "own")] == rows(tables, "SELECT * FROM h")
    assert [(3, "new")] == rows(tables, f"SELECT * FROM h {other}")


def test_a_statement_set_and_execute_write_to_the_path_of_the_hint(
    tables: TableEnvironment, tmp_path: Path
) -> None:
    third = path(tmp_path, "third")
    tables.execute_sql(
        f"EXECUTE STATEMENT SET BEGIN INSERT INTO h {third} SELECT 3, 'x';"
        f" INSERT INTO h {third} SELECT 4, 'y'; END"
    )
    tables.execute_sql(f"EXECUTE INSERT INTO h {third} SELECT 5, 'z'")

    assert [(1, "own")] == rows(tables, "SELECT * FROM h")
    assert [(3, "x"), (4, "y"), (5, "z")] == rows(tables, f"SELECT * FROM h {third}")


def test_a_view_keeps_its_hints(tables: TableEnvironment, tmp_path: Path) -> None:
    tables.execute_sql(f"CREATE VIEW v AS SELECT a, b FROM h {path(tmp_path, 'other')}")
    shown = str(next(iter(tables.execute_sql("SHOW CREATE VIEW v").collect()))[0])

    assert [(2, "hinted")] == rows(tables, "SELECT * FROM v")
    assert f"/*+ `OPTIONS`('path' = '{tmp_path / 'other'}') */" in shown


def test_the_source_of_a_create_table_as(tables: TableEnvironment, tmp_path: Path) -> None:
    tables.execute_sql(
        "CREATE TABLE w WITH ('connector' = 'filesystem', 'format' = 'csv',"
        f" 'path' = '{tmp_path / 'w'}') AS SELECT * FROM h {path(tmp_path, 'other')}"
    )

    assert [(2, "hinted")] == rows(tables, "SELECT * FROM w")


def test_hints_override_the_options_of_the_table(
    environment: TableEnvironment, connector: FrameConnector
) -> None:
    connector.frame = lambda session: session.sql("SELECT 1 AS a")
    environment.execute_sql(
        "CREATE TABLE t (a INT) WITH ('connector' = 'frames', 'level' = '1', 'place' = 'here')"
    )
    hint = "/*+ OPTIONS('level' = '2', 'level' = '3') */"
    environment.execute_sql(f"SELECT * FROM t {hint}").collect()
    environment.execute_sql(f"INSERT INTO t {hint} SELECT 1")

    expected = {"connector": "frames", "level": "3", "place": "here"}
    assert {tuple(expected.items())} == {tuple(option.items()) for option in connector.options}


@pytest.mark.parametrize(
    "hint", ["LEVEL('level' = '1')", "OPTIONS", "OPTIONS('level' = '1'), OPTIONS('level' = '1')"]
)
def test_the_target_of_an_explained_insert_is_checked(
    environment: TableEnvironment, hint: str
) -> None:
    environment.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'frames')")
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(f"EXPLAIN INSERT INTO t /*+ {hint} */ SELECT 1")

    assert "invalid-hint" == caught.value.code


@pytest.mark.parametrize("statement", ["SELECT * FROM t {}", "INSERT INTO t {} SELECT 1"])
@pytest.mark.parametrize(
    ("hint", "code"),
    [
        ("OPTIONS('level' = 'x')", "invalid-option-value"),
        ("OPTIONS('levle' = '1')", "unknown-option"),
        ("OPTIONS('connector' = 'absent')", "factory-not-found"),
        ("OPTIONS('connector' = 'filesystem')", "missing-option"),
        ("OPTIONS('level' = '1'), OPTIONS('place' = 'x')", "invalid-hint"),
        ("OPTIONS", "invalid-hint"),
        ("LEVEL('level' = '1')", "invalid-hint"),
    ],
)
def test_hints_are_validated(
    environment: TableEnvironment,
    connector: FrameConnector,
    statement: str,
    hint: str,
    code: str,
) -> None:
    connector.frame = lambda session: session.sql("SELECT 1 AS a")
    environment.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'frames')")
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(statement.format(f"/*+ {hint} */"))

    assert code in {diagnostic.code for diagnostic in caught.value.diagnostics}
    assert [] == connector.written


@pytest.mark.parametrize("statement", ["SELECT * FROM t {}", "INSERT INTO t {} SELECT 1"])
def test_hints_can_be_disabled(
    environment: TableEnvironment, connector: FrameConnector, statement: str
) -> None:
    connector.frame = lambda session: session.sql("SELECT 1 AS a")
    environment.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'frames')")
    environment.execute_sql("SET 'table.dynamic-table-options.enabled' = 'false'")
    environment.execute_sql(statement.format("/*+ BROADCAST(t) */"))
    connector.written.clear()
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(statement.format("/*+ OPTIONS('level' = '2') */"))

    assert "invalid-hint" == caught.value.code
    assert [] == connector.written


def test_a_view_has_no_options(tables: TableEnvironment, tmp_path: Path) -> None:
    tables.execute_sql("CREATE VIEW v AS SELECT a, b FROM h")
    with pytest.raises(SchemaCoreError) as caught:
        tables.execute_sql(f"SELECT * FROM v {path(tmp_path, 'other')}")

    assert ("invalid-hint", "view 'v' has no options that a hint can change") == (
        caught.value.code,
        caught.value.problem,
    )


def test_options_after_select_are_not_ignored(tables: TableEnvironment, tmp_path: Path) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        tables.execute_sql(f"SELECT {path(tmp_path, 'other')} * FROM h")

    assert "not-executable" == caught.value.code


@pytest.mark.parametrize(
    ("hint", "join"),
    [
        ("BROADCAST(y)", "BroadcastHashJoin"),
        ("SHUFFLE_HASH(y)", "ShuffledHashJoin"),
        ("SHUFFLE_MERGE(y)", "SortMergeJoin"),
        ("NEST_LOOP(y), STATE_TTL('y' = '1d'), LOOKUP('table' = 'y')", "Join"),
    ],
)
def test_hints_of_joins(tables: TableEnvironment, hint: str, join: str) -> None:
    query = f"SELECT /*+ {hint} */ x.a FROM h AS x JOIN h AS y ON x.a = y.a"

    assert join in tables.explain_sql(query).partition("Physical Plan")[2]
    assert [(1,)] == rows(tables, query)


def test_a_hint_does_not_set_the_options_of_the_library(tables: TableEnvironment) -> None:
    for statement in ("SELECT * FROM h {}", "INSERT INTO h {} VALUES (1, 'x')"):
        hint = "/*+ OPTIONS('schema-core.column-history' = 'x') */"
        with pytest.raises(SchemaCoreError) as caught:
            rows(tables, statement.format(hint))
        assert "reserved-option" == caught.value.code
