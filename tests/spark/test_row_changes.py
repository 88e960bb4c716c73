"""DELETE, UPDATE, TRUNCATE and ANALYZE TABLE leave the rows and statistics of Flink 2.3.0."""

from __future__ import annotations

import datetime as dt
import re
import threading
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import pytest

from schema_core.base.paths import ObjectPath
from schema_core.catalog.objects import CatalogPartitionSpec
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ConflictError, SchemaCoreError
from tests.spark.recorded_scripts import environment_of_script, play, read_scripts, run
from tests.spark.test_query_results import environment_of

#: Statements with what Flink returned for each, by `fuzz.oracle.statements`.
RECORDED = read_scripts("row_changes.jsonl")
#: What Flink refuses or does otherwise, and why this library does not.
DIFFERENT = {
    "key-ERROR-3": "Flink cuts a string that was to be an error",
    "key-4": "Flink refuses CHAR with a WHERE, and pads it without one",
    "key-TRIM_PAD-4": "as key-4",
    "key-ERROR-4": "as key-4",
    "rc-13": "Flink assigns no row of other names to a ROW",
    **dict.fromkeys(("rw-34", "rw-w7", "rw-w8"), "as rc-13, also for the key of a MAP"),
    "rw-69": "IN (NULL) is refused",
    "rc-19": "hints of the table are refused",
    "rc-20": "as rc-19",
}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=case["q"]["id"],
            marks=[] if place % 18 == 0 else [pytest.mark.slow],
        )
        for place, case in enumerate(RECORDED)
        if case["q"]["id"] not in DIFFERENT
    ],
)
def test_recorded_statements(session: Any, tmp_path: Path, case: dict[str, Any]) -> None:
    def in_files(statement: str) -> str:
        for name in ("t", "u"):
            statement = statement.replace(
                f"'connector'='oracle-changed','data'='{name}'",
                f"'connector'='filesystem','format'='parquet','path'='{tmp_path / name}'",
            )
        return statement

    play(environment_of_script(session, case), case, tmp_path, in_files)


# --- files ---------------------------------------------------------------------------------------


@pytest.fixture
def make(session: Any, tmp_path: Path) -> Callable[..., TableEnvironment]:
    """Return a function that makes a table `t` of three partitions in files of a format."""

    def make(form: str, options: str = "") -> TableEnvironment:
        environment = environment_of(session)
        environment.execute_sql(
            f"CREATE TABLE t (id INT, name STRING, p STRING) PARTITIONED BY (p) WITH ("
            f"'connector' = 'filesystem', 'path' = '{tmp_path / 't'}', "
            f"'format' = '{form}'{options})"
        )
        environment.execute_sql(
            "INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y'), (4, 'd', 'a b=c%:')"
        ).wait()
        return environment

    return make


def files(tmp_path: Path) -> set[str]:
    return {
        str(path.relative_to(tmp_path))
        for path in (tmp_path / "t").rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def rows_of(environment: TableEnvironment) -> Any:
    return run(environment, "SELECT * FROM t")


@pytest.mark.parametrize("form", ["parquet", "orc", "avro", "json", "csv"])
def test_only_files_with_changed_rows_are_replaced(
    make: Callable[..., TableEnvironment], tmp_path: Path, form: str
) -> None:
    environment = make(form)
    before = files(tmp_path)

    run(environment, "DELETE FROM t WHERE id = 1")
    kept = before & files(tmp_path)
    run(environment, "UPDATE t SET name = UPPER(name), p = 'z' WHERE id >= 4")

    assert {file for file in before if "p=x" not in file} <= kept
    assert [(2, "b", "x"), (3, "c", "y"), (4, "D", "z")] == rows_of(environment)
    run(environment, "TRUNCATE TABLE t")
    assert [] == rows_of(environment)
    assert set() == files(tmp_path)


def test_without_changed_rows_no_file_is_replaced(
    make: Callable[..., TableEnvironment], tmp_path: Path
) -> None:
    environment = make("parquet")
    before = files(tmp_path)

    run(environment, "DELETE FROM t WHERE id > 10")
    run(environment, "UPDATE t SET name = 'x' WHERE FALSE")

    assert before == files(tmp_path)


def test_files_of_every_age_are_read_after_a_change(
    make: Callable[..., TableEnvironment],
) -> None:
    environment = make("json")
    run(environment, "ALTER TABLE t ADD size INT")
    run(environment, "ALTER TABLE t RENAME name TO title")
    run(environment, "INSERT INTO t (id, title, size, p) VALUES (5, 'e', 7, 'x')")

    run(environment, "UPDATE t SET size = id WHERE title = 'a'")
    run(environment, "DELETE FROM t WHERE title = 'c'")

    assert [
        (1, "a", "x", 1), (2, "b", "x", None), (4, "d", "a b=c%:", None), (5, "e", "x", 7),
    ] == rows_of(environment)  # fmt: skip


def test_a_file_that_others_replace_fails_the_job(
    make: Callable[..., TableEnvironment], monkeypatch: pytest.MonkeyPatch
) -> None:
    from schema_core.connectors.files.filesystem import FilesystemConnector

    environment = make("json")
    write, entered = FilesystemConnector.write, threading.Event()

    def late(self: Any, frame: Any, context: Any) -> None:
        write(self, frame, context)
        if context.row_change is not None and not entered.is_set():
            entered.set()
            run(environment, "INSERT OVERWRITE t SELECT id, name || '!', p FROM t")

    monkeypatch.setattr(FilesystemConnector, "write", late)

    with pytest.raises(ConflictError) as caught:
        run(environment, "DELETE FROM t WHERE id = 1")
    assert "concurrent-modification" == caught.value.code
    assert 4 == len(rows_of(environment))


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("DELETE FROM v", "wrong-object-type"),
        ("TRUNCATE TABLE v", "wrong-object-type"),
        ("ANALYZE TABLE v COMPUTE STATISTICS", "wrong-object-type"),
        ("DELETE FROM p", "unsupported-ability"),
        ("TRUNCATE TABLE p", "unsupported-ability"),
        ("UPDATE t SET nope = 1", "unknown-column"),
        ("UPDATE t SET id = 1, id = 2", "duplicate-column"),
        ("UPDATE t SET id = 'x'", "not-assignable"),
        ("ANALYZE TABLE t COMPUTE STATISTICS", "invalid-partition-spec"),
        ("ANALYZE TABLE t PARTITION (p) COMPUTE STATISTICS FOR COLUMNS z", "unknown-column"),
        ("ANALYZE TABLE w COMPUTE STATISTICS", "feature-not-supported"),
    ],
)
def test_refused_statements(
    make: Callable[..., TableEnvironment], statement: str, code: str
) -> None:
    environment = make("json")
    environment.execute_sql("CREATE VIEW v AS SELECT * FROM t")
    environment.execute_sql("CREATE TABLE p (id INT) WITH ('connector' = 'print')")
    environment.execute_sql(
        "CREATE TEMPORARY TABLE w (id INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
    )

    with pytest.raises(SchemaCoreError) as caught:
        run(environment, statement)
    assert code == caught.value.code


@pytest.mark.parametrize("form", ["json", "csv"])
def test_files_with_skipped_parts_are_not_rewritten(
    make: Callable[..., TableEnvironment], form: str
) -> None:
    environment = make(form, f", '{form}.ignore-parse-errors' = 'true'")

    with pytest.raises(SchemaCoreError) as caught:
        run(environment, "DELETE FROM t WHERE id = 1")
    assert "rows-would-be-lost" == caught.value.code


@pytest.mark.parametrize("form", ["raw", "text", "json', 'json.ignore-parse-errors' = 'true"])
def test_a_partitioned_table_without_files_has_no_rows(
    session: Any, tmp_path: Path, form: str
) -> None:
    environment = environment_of(session)
    environment.execute_sql(
        f"CREATE TABLE t (name STRING, p STRING) PARTITIONED BY (p) WITH ("
        f"'connector' = 'filesystem', 'path' = '{tmp_path / 't'}', 'format' = '{form}')"
    )
    environment.execute_sql("INSERT INTO t VALUES ('a', 'x')").wait()
    assert [("a", "x")] == rows_of(environment)

    run(environment, "TRUNCATE TABLE t")
    assert [] == rows_of(environment)


@pytest.mark.parametrize("statement", ["DELETE FROM t WHERE id = 1", "UPDATE t SET name = 'x'"])
def test_files_of_changes_are_not_rewritten(
    make: Callable[..., TableEnvironment], statement: str
) -> None:
    environment = make("debezium-json")

    with pytest.raises(SchemaCoreError) as caught:
        run(environment, statement)
    assert "unsupported-ability" == caught.value.code
    assert 4 == len(rows_of(environment))
    run(environment, "TRUNCATE TABLE t")
    assert [] == rows_of(environment)


@pytest.mark.parametrize("path", ["file:{}/x/../t", "{}//x//..//./t/", "//{}/t"])
def test_paths_are_resolved_as_by_hadoop(session: Any, tmp_path: Path, path: str) -> None:
    environment = environment_of(session)
    environment.execute_sql(
        "CREATE TABLE t (id INT, file STRING METADATA FROM 'file.path' VIRTUAL, p INT) "
        "PARTITIONED BY (p) WITH ('connector' = 'filesystem', 'format' = 'json', "
        f"'path' = '{path.format(tmp_path)}')"
    )
    beside = tmp_path / "x" / "p=1" / "part-0.json"
    beside.parent.mkdir(parents=True)
    beside.write_text("{}")

    run(environment, "INSERT INTO t VALUES (1, 1), (2, 2), (3, 2)")
    run(environment, "DELETE FROM t WHERE id = 2")
    run(environment, "UPDATE t SET id = 7 WHERE p = 1")

    assert [(3, 2), (7, 1)] == run(environment, "SELECT id, p FROM t")
    run(environment, "INSERT OVERWRITE t PARTITION (p = 1) VALUES (8)")
    assert [(3, 2), (8, 1)] == run(environment, "SELECT id, p FROM t")
    (file,) = run(environment, "SELECT file FROM t WHERE p = 1")[0]
    assert Path(file).parent == tmp_path / "t" / "p=1"
    run(environment, "DELETE FROM t")
    assert [] == run(environment, "SELECT id, p FROM t")
    assert {beside} == {item for item in tmp_path.rglob("*.json") if item.is_file()}


# --- ANALYZE TABLE -------------------------------------------------------------------------------

ANALYZED = read_scripts("analyze_table.jsonl")
#: Attributes of statistics -> Flink's names.
NAMES = {
    "min": "Min", "max": "Max", "ndv": "Ndv", "null_count": "NullCount", "true_count": "TrueCount",
    "false_count": "FalseCount", "max_length": "MaxLength", "avg_length": "AvgLength",
}  # fmt: skip


def statistics_of(environment: TableEnvironment, question: dict[str, Any]) -> dict[str, Any]:
    """Return stored statistics as they are recorded."""
    catalog = environment.get_catalog("default_catalog")
    assert catalog is not None
    path = ObjectPath("default_database", question["statistics"])
    if "partition" in question:
        spec = CatalogPartitionSpec(question["partition"])
        table = catalog.get_partition_statistics(path, spec)
        columns = catalog.get_partition_column_statistics(path, spec)
    else:
        table = catalog.get_table_statistics(path)
        columns = catalog.get_table_column_statistics(path)
    return {
        "table": {
            "RowCount": str(table.row_count),
            "FileCount": str(table.field_count),
            "TotalSize": str(table.total_size),
            "RawDataSize": str(table.raw_data_size),
        },
        "columns": {
            name: {
                "kind": type(data).__name__,
                **{
                    NAMES[item.name]: recorded_number(data, item.name)
                    for item in fields(cast("Any", data))
                },
            }
            for name, data in columns.get_column_statistics_data().items()
        },
    }


def recorded_number(data: Any, name: str) -> str | None:
    found = getattr(data, name)
    if isinstance(found, dt.date):
        found = (found - dt.date(1970, 1, 1)).days
    return None if found is None else str(found)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case["q"]["id"], marks=[] if place % 12 == 2 else [pytest.mark.slow])
        for place, case in enumerate(ANALYZED)
    ],
)
def test_recorded_statistics(session: Any, tmp_path: Path, case: dict[str, Any]) -> None:
    environment = environment_of(session)
    for statement, recorded in zip(case["q"]["statements"], case["a"], strict=True):
        if isinstance(statement, dict):
            if "error" in recorded:
                with pytest.raises(SchemaCoreError):
                    statistics_of(environment, statement)
            else:
                assert recorded == statistics_of(environment, statement)
            continue
        text = re.sub("'path'='[^']*'", f"'path'='{tmp_path / 'rows'}'", statement)
        text = text.replace(
            "'connector'='oracle-changed','data'='t'",
            f"'connector'='filesystem','format'='json','path'='{tmp_path / 'rows'}'",
        )
        if "error" in recorded:
            with pytest.raises(SchemaCoreError):
                run(environment, text)
        else:
            run(environment, text)
