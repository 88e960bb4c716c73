"""Files of every age are read as the table was when they were written, compared with a model."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pytest

from schema_core import EnvironmentSettings, Schema, TableEnvironment
from schema_core.connectors.files.avro_files import SOURCE
from schema_core.errors import SchemaCoreError
from schema_core.migration.rows.validation import validate_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CSV = "'format' = 'csv', 'csv.null-literal' = 'NULL'"
#: Name of a layout of files -> its options.
FORMS: Mapping[str, str] = {
    **{form: f"'format' = '{form}'" for form in ("parquet", "orc", "avro", "json")},
    "csv": CSV,
    "csv with header": f"{CSV}, 'csv.header' = 'true'",
}

#: The columns of a table, by name: the number of a column stays when it is renamed.
Columns: TypeAlias = dict[str, int]


@dataclass
class Model:
    """A table of strings: its columns, and by row the value of each column number."""

    columns: Columns = field(default_factory=lambda: {"a": 0, "b": 1, "c": 2, "d": 3})
    rows: list[dict[int, str]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    count: int = 4

    def insert(self) -> str:
        """Add a row; return the VALUES of its INSERT."""
        row = {number: f"{number} of {len(self.rows)}" for number in self.columns.values()}
        self.rows.append(row)
        return ", ".join(f"'{row[number]}'" for number in self.columns.values())

    def read(self) -> list[tuple[str | None, ...]]:
        """Return the rows as a query returns them, in any order."""
        return sorted(
            (tuple(row.get(number) for number in self.columns.values()) for row in self.rows),
            key=repr,
        )

    def add(self, name: str | None = None) -> list[str]:
        name, self.count = name or f"n{self.count}", self.count + 1
        place = " FIRST" if self.count % 2 else ""
        new = {name: self.count}
        self.columns = {**new, **self.columns} if place else {**self.columns, **new}
        return [f"ADD {name} STRING{place}"]

    def drop(self) -> list[str]:
        name = [*self.columns][len(self.columns) // 2]
        del self.columns[name]
        self.dropped.append(name)
        return [f"DROP {name}"]

    def rename(self) -> list[str]:
        """Rename a column, to the name of a dropped one if there is one."""
        old = next(iter(self.columns))
        free = [name for name in self.dropped if name not in self.columns]
        new = free[-1] if free else f"m{len(self.rows)}"
        self.columns = {new if name == old else name: at for name, at in self.columns.items()}
        return [f"RENAME {old} TO {new}"]

    def reorder(self) -> list[str]:
        last = [*self.columns][-1]
        self.columns = {last: self.columns[last], **self.columns}
        return [f"MODIFY {last} STRING FIRST"]

    def add_again(self) -> list[str]:
        (dropped,) = self.drop()
        return [dropped, *self.add(self.dropped[-1])]


OPERATIONS: Mapping[str, Callable[[Model], list[str]]] = {
    "ADD": Model.add,
    "DROP": Model.drop,
    "RENAME": Model.rename,
    "REORDER": Model.reorder,
    "RE-ADD": Model.add_again,
}
SEQUENCES: Final = [*product(OPERATIONS, repeat=3)]


class Tables:
    """Tables of one form; the files of each age are written once and copied."""

    def __init__(self, environment: TableEnvironment, root: Path, options: str) -> None:
        self.environment, self.root, self.options = environment, root, options
        self.written: dict[Sequence[str], list[Path]] = {}

    def run(self, statement: str) -> None:
        self.environment.execute_sql(statement).wait()

    def check(self, sequence: Sequence[str]) -> str | None:
        """Return how the rows of a table differ after changes; files of each age are there."""
        model, path = Model(), self.root / "table"
        self.run(
            f"CREATE TABLE t (a STRING, b STRING, c STRING, d STRING) WITH ("
            f"'connector' = 'filesystem', 'path' = '{path}', {self.options})"
        )
        try:
            for age in range(len(sequence) + 1):
                if age:
                    for change in OPERATIONS[sequence[age - 1]](model):
                        self.run(f"ALTER TABLE t {change}")
                self.insert(sequence[:age], model.insert(), path)
            with self.environment.execute_sql("SELECT * FROM t").collect() as rows:
                result = sorted(map(tuple, rows), key=repr)
            with self.environment.execute_sql("SELECT COUNT(*) FROM t").collect() as rows:
                (count,) = [row[0] for row in rows]
        finally:
            self.run("DROP TABLE t")
            shutil.rmtree(path, ignore_errors=True)
        if result == model.read() and count == len(model.rows):
            return None
        return f"{sequence}: {result} is not {model.read()}"

    def insert(self, age: Sequence[str], values: str, path: Path) -> None:
        path.mkdir(exist_ok=True)
        if age in self.written:
            for file in self.written[age]:
                shutil.copy(file, path / file.name)
            return
        before = {*path.glob("*")}
        self.run(f"INSERT INTO t VALUES ({values})")
        kept = self.root / f"age {len(self.written)}"
        kept.mkdir()
        new = [file for file in {*path.glob("*")} - before if not file.name.startswith("_")]
        self.written[age] = [Path(shutil.copy(file, kept / file.name)) for file in new]


@pytest.fixture
def tables(environment: TableEnvironment, tmp_path: Path, form: str) -> Tables:
    return Tables(environment, tmp_path, FORMS[form])


@pytest.mark.parametrize("form", FORMS)
def test_files_of_every_age_have_the_rows_of_the_model(tables: Tables, form: str) -> None:
    chosen = random.Random(form).sample(SEQUENCES, 3)

    assert [] == [problem for order in chosen if (problem := tables.check(order)) is not None]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_changes_in_every_order_have_the_rows_of_the_model(tables: Tables, form: str) -> None:
    assert [] == [problem for order in SEQUENCES if (problem := tables.check(order)) is not None]


# --- fields of rows ------------------------------------------------------------------------------


def rows_of(environment: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    with environment.execute_sql(query).collect() as rows:
        return sorted((tuple(row) for row in rows), key=repr)


def create(environment: TableEnvironment, path: Path, columns: str, form: str) -> None:
    environment.execute_sql(
        f"CREATE TABLE t ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', "
        f"{FORMS[form]})"
    )


def run(environment: TableEnvironment, *statements: str) -> None:
    for statement in statements:
        environment.execute_sql(statement).wait()


BY_NAME = [form for form in FORMS if "csv" not in form]


@pytest.mark.parametrize("form", BY_NAME)
def test_fields_of_every_age_are_read(
    environment: TableEnvironment, tmp_path: Path, form: str
) -> None:
    create(environment, tmp_path / "t", "id INT, r ROW<x INT, y ARRAY<ROW<k INT>>>", form)
    run(
        environment,
        "INSERT INTO t VALUES (1, ROW(10, ARRAY[ROW(100)]))",
        "ALTER TABLE t MODIFY r ROW<x INT, y ARRAY<ROW<k INT, v INT>>, z STRING>",
        "INSERT INTO t VALUES (2, ROW(20, ARRAY[ROW(200, 201)], 'two'))",
        "ALTER TABLE t MODIFY r ROW<y ARRAY<ROW<k INT, v INT>>, z STRING>",
        "ALTER TABLE t MODIFY r ROW<x INT, y ARRAY<ROW<v INT, k INT>>, z STRING>",
        "ALTER TABLE t RENAME r.z TO w",
        "INSERT INTO t VALUES (3, ROW(30, ARRAY[ROW(301, 300)], 'three'))",
    )

    result = rows_of(environment, "SELECT id, r.x, r.y[1].k, r.y[1].v, r.w FROM t")

    assert result == [
        (1, None, 100, None, None), (2, None, 200, 201, "two"), (3, 30, 300, 301, "three"),
    ]  # fmt: skip


def test_older_csv_files_have_null_in_columns_of_every_type(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    create(environment, tmp_path / "t", "id INT", "csv")
    run(environment, "INSERT INTO t VALUES (1)")
    types = ["TIMESTAMP(9)", "TIMESTAMP_LTZ(9)", "TIME(3)", "ROW<x DATE>", "ARRAY<BYTES>"]
    run(environment, *(f"ALTER TABLE t ADD c{at} {type_}" for at, type_ in enumerate(types)))

    assert [(1, *[None] * len(types))] == rows_of(environment, "SELECT * FROM t")


@pytest.mark.parametrize("form", ["csv", "csv with header"])
def test_fields_of_csv_are_not_read_by_another_position(
    environment: TableEnvironment, tmp_path: Path, form: str
) -> None:
    create(environment, tmp_path / "t", "id INT, r ROW<x INT, y INT>", form)
    run(
        environment,
        "INSERT INTO t VALUES (1, ROW(10, 11))",
        "ALTER TABLE t RENAME r.x TO z",
    )
    assert [(11, 10)] == rows_of(environment, "SELECT r.y, r.z FROM t")

    run(environment, "ALTER TABLE t MODIFY r ROW<y INT, z INT>")
    with pytest.raises(SchemaCoreError, match="older than a change of the fields") as caught:
        rows_of(environment, "SELECT * FROM t")

    assert "schema-mismatch" == caught.value.code


@pytest.mark.parametrize("form", FORMS)
def test_a_column_that_is_not_null_is_not_filled(
    environment: TableEnvironment, tmp_path: Path, form: str
) -> None:
    create(environment, tmp_path / "t", "id INT", form)
    run(environment, "INSERT INTO t VALUES (1)", "ALTER TABLE t ADD b INT NOT NULL")

    with pytest.raises(SchemaCoreError, match="no column 'b', which is NOT NULL") as caught:
        rows_of(environment, "SELECT * FROM t")

    assert "schema-mismatch" == caught.value.code


# --- files of other programs ---------------------------------------------------------------------


def forget_age(directory: Path) -> None:
    """Rename the files of a table as another program would name them."""
    for number, file in enumerate(sorted(directory.glob("part-*"))):
        file.rename(directory / f"other-{number}{file.suffix}")


@pytest.mark.parametrize("form", FORMS)
def test_files_of_others_are_read_by_what_they_list(
    environment: TableEnvironment, tmp_path: Path, form: str
) -> None:
    create(environment, tmp_path / "t", "id INT, a STRING", form)
    run(environment, "INSERT INTO t VALUES (1, 'one')")
    forget_age(tmp_path / "t")
    run(
        environment,
        "ALTER TABLE t RENAME a TO b",
        "ALTER TABLE t ADD c STRING",
        "INSERT INTO t VALUES (2, 'two', 'new')",
    )

    assert [(1, "one", None), (2, "two", "new")] == rows_of(environment, "SELECT * FROM t")


@pytest.mark.parametrize("form", FORMS)
def test_files_of_others_with_a_name_used_twice_are_refused(
    environment: TableEnvironment, tmp_path: Path, form: str
) -> None:
    create(environment, tmp_path / "t", "id INT, a STRING, b STRING", form)
    run(environment, "INSERT INTO t VALUES (1, 'one', 'first')")
    forget_age(tmp_path / "t")
    run(environment, "ALTER TABLE t DROP b", "ALTER TABLE t ADD b STRING FIRST")

    with pytest.raises(SchemaCoreError) as caught:
        rows_of(environment, "SELECT * FROM t")

    assert "unreadable-file" == caught.value.code
    assert "`b`" in caught.value.problem


#: The errors for files without a column that is NOT NULL.
LACKING: Mapping[str, str] = {
    **dict.fromkeys(("parquet", "orc", "avro"), "has no column 'b', which is NOT NULL"),
    "json": "column 'b' is NOT NULL but received NULL",
    "csv": "expected 2 fields, found 1",
    "csv with header": "expected the header",
}


@pytest.mark.parametrize("form", FORMS)
def test_files_of_others_without_a_column_that_is_not_null_are_found(
    environment: TableEnvironment, tmp_path: Path, form: str
) -> None:
    create(environment, tmp_path / "t", "id INT", form)
    run(environment, "INSERT INTO t VALUES (1)")
    forget_age(tmp_path / "t")
    run(environment, "ALTER TABLE t ADD b STRING", "INSERT INTO t VALUES (2, 'two')")
    new = Schema.new_builder().column("id", "INT").column("b", "STRING NOT NULL").build()

    (problem,) = validate_rows(environment, "t", new).problems

    assert ("null-value", ("b",), 1) == (problem.kind, problem.column, problem.rows)
    run(environment, "ALTER TABLE t MODIFY b STRING NOT NULL")
    for query in ("SELECT * FROM t", "SELECT id FROM t")[: 1 + (form != "json")]:
        with pytest.raises(SchemaCoreError, match=LACKING[form]):
            rows_of(environment, query)


def test_orc_files_without_names_are_read_by_position_until_columns_are_moved(
    environment: TableEnvironment, session: SparkSession, tmp_path: Path
) -> None:
    session.sql("SELECT 1 AS _col0, 2 AS _col1").write.orc(str(tmp_path / "t"))
    create(environment, tmp_path / "t", "a INT, b INT", "orc")
    run(environment, "ALTER TABLE t RENAME a TO c", "ALTER TABLE t ADD d INT")
    assert [(1, 2, None)] == rows_of(environment, "SELECT * FROM t")

    run(environment, "ALTER TABLE t MODIFY b INT FIRST")
    with pytest.raises(SchemaCoreError, match="columns have been moved") as caught:
        rows_of(environment, "SELECT * FROM t")

    assert "unreadable-file" == caught.value.code


def test_a_header_names_the_columns_in_any_order(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    create(environment, tmp_path / "t", "id INT, a STRING, b STRING", "csv with header")
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "1.csv").write_text("b,id,a\nlast,1,one\n")
    (tmp_path / "t" / "2.csv").write_text('id,a,b\n2,"two",x\n')

    assert [(1, "one", "last"), (2, "two", "x")] == rows_of(environment, "SELECT * FROM t")
    for header in ("id,a", "id,a,c", "id,a,b,c", "id,a,a"):
        (tmp_path / "t" / "1.csv").write_text(f"{header}\n" + ",".join("1" for _ in header[::2]))
        with pytest.raises(SchemaCoreError, match="expected the header"):
            rows_of(environment, "SELECT * FROM t")


@pytest.mark.parametrize("form", ["parquet", "json", "csv"])
def test_streams_read_older_files_unless_names_were_used_twice(
    environment: TableEnvironment, session: SparkSession, tmp_path: Path, form: str
) -> None:
    create(environment, tmp_path / "t", "id INT, a STRING", form)
    run(environment, "INSERT INTO t VALUES (1, 'one')", "ALTER TABLE t ADD c STRING")
    streams = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    streams.register_catalog("c", environment.get_catalog("default_catalog"))
    hint = "/*+ OPTIONS('source.monitor-interval' = '50 ms') */"
    query = f"SELECT * FROM c.default_database.t {hint}"

    with streams.execute_sql(query).collect() as rows:
        assert (1, "one", None) == tuple(next(rows))
        run(environment, "INSERT INTO t VALUES (2, 'two', 'new')")
        assert (2, "two", "new") == tuple(next(rows))
    run(environment, "ALTER TABLE t DROP a", "ALTER TABLE t ADD a STRING")
    with pytest.raises(SchemaCoreError) as caught:
        streams.execute_sql(query).wait()

    assert "streaming-not-supported" == caught.value.code


def test_streams_do_not_read_fields_of_csv_by_another_position(
    environment: TableEnvironment, session: SparkSession, tmp_path: Path
) -> None:
    create(environment, tmp_path / "t", "id INT, r ROW<x INT, y INT>", "csv")
    run(
        environment,
        "INSERT INTO t VALUES (1, ROW(10, 11))",
        "ALTER TABLE t MODIFY r ROW<y INT, x INT>",
    )
    streams = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    streams.register_catalog("c", environment.get_catalog("default_catalog"))
    hint = "/*+ OPTIONS('source.monitor-interval' = '50 ms') */"

    with pytest.raises(SchemaCoreError) as caught:
        streams.execute_sql(f"SELECT * FROM c.default_database.t {hint}").wait()

    assert "streaming-not-supported" == caught.value.code


# --- tables created again over the files of others -----------------------------------------------

AB, BA = "a STRING, b STRING", "b STRING, a STRING"
GROW = "ALTER TABLE t ADD c STRING"


@pytest.mark.parametrize(
    ("first", "second", "later"),
    [
        pytest.param([AB], AB, (), id="same"),
        pytest.param(["a STRING", "ADD b STRING"], AB, (), id="same after ALTER"),
        pytest.param([AB], BA, (), id="moved"),
        pytest.param(["b STRING", "ADD a STRING FIRST"], BA, (), id="moved by ALTER"),
        pytest.param([AB], BA, [GROW], id="moved, then altered"),
        pytest.param([AB], "c STRING, d STRING", (), id="other"),
        pytest.param([AB], "a STRING", (), id="fewer"),
        pytest.param([AB], f"{AB}, c STRING", (), id="more"),
    ],
)
def test_files_of_a_dropped_table_are_read_by_name_or_refused(
    environment: TableEnvironment, tmp_path: Path, first: list[str], second: str, later: list[str]
) -> None:
    names = [part.split()[0] for part in second.split(", ")]
    current = [name for name in "abcd" if name in names] + ["c"] * len(later)
    by_name = [tuple(f"{name}1" if name in AB else None for name in current)]
    results: dict[str, Any] = {}
    for form in FORMS:
        path = tmp_path / form
        create(environment, path, first[0], form)
        run(environment, *(f"ALTER TABLE t {change}" for change in first[1:]))
        run(environment, "INSERT INTO t (a, b) VALUES ('a1', 'b1')", "DROP TABLE t")
        create(environment, path, second, form)
        run(environment, *later)
        try:
            results[form] = rows_of(environment, f"SELECT {', '.join(current)} FROM t")
        except SchemaCoreError as error:
            results[form] = error.code
        run(environment, "DROP TABLE t")

    assert results == {form: EXPECTED.get((form, second), by_name) for form in FORMS}


#: Files that do not have the columns of a table.
EXPECTED: Mapping[tuple[str, str], str] = {
    ("csv", BA): "unreadable-file",
    ("csv", "a STRING"): "unreadable-file",
    ("csv", f"{AB}, c STRING"): "unreadable-file",
    ("csv", "c STRING, d STRING"): "unreadable-file",
    **{
        ("csv with header", columns): "job-failed"
        for columns in ("a STRING", f"{AB}, c STRING", "c STRING, d STRING")
    },
    **{
        (form, columns): "schema-mismatch"
        for form in ("parquet", "orc", "avro")
        for columns in (f"{AB}, c STRING", "c STRING, d STRING")
    },
}


def test_fields_of_csv_of_a_dropped_table_are_not_read_by_another_position(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    create(environment, tmp_path / "t", "r ROW<x INT, y INT>", "csv with header")
    run(environment, "INSERT INTO t SELECT ROW(10, 11)", "DROP TABLE t")
    create(environment, tmp_path / "t", "r ROW<y INT, x INT>", "csv with header")

    with pytest.raises(SchemaCoreError, match="was written with other columns") as caught:
        rows_of(environment, "SELECT * FROM t")

    assert "unreadable-file" == caught.value.code


def test_streams_of_csv_refuse_files_of_a_dropped_table(
    environment: TableEnvironment, session: SparkSession, tmp_path: Path
) -> None:
    create(environment, tmp_path / "t", AB, "csv")
    run(environment, "INSERT INTO t VALUES ('a1', 'b1')", GROW)
    run(environment, "INSERT INTO t VALUES ('a2', 'b2', 'c2')")
    streams = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    streams.register_catalog("c", environment.get_catalog("default_catalog"))
    hint = "/*+ OPTIONS('source.monitor-interval' = '50 ms') */"
    query = f"SELECT * FROM c.default_database.t {hint}"
    with streams.execute_sql(query).collect() as rows:
        assert {tuple(next(rows)), tuple(next(rows))} == {("a1", "b1", None), ("a2", "b2", "c2")}
    run(environment, "DROP TABLE t")
    create(environment, tmp_path / "t", "b STRING, a STRING, c STRING", "csv")

    with (
        pytest.raises(SchemaCoreError, match="was written with other columns"),
        streams.execute_sql(query).collect() as rows,
    ):
        next(rows)


@pytest.mark.parametrize("form", FORMS)
def test_files_of_another_job_of_spark_are_read_by_name_or_by_the_declared_position(
    environment: TableEnvironment, session: SparkSession, tmp_path: Path, form: str
) -> None:
    rows = session.sql("SELECT 'a1' AS a, 'b1' AS b")
    header = str(form == "csv with header")
    source = SOURCE if form == "avro" else form.split(maxsplit=1)[0]
    rows.write.format(source).option("header", header).save(str(tmp_path / "t"))
    results = []
    for columns in (AB, BA, f"{AB}, c STRING NOT NULL"):
        create(environment, tmp_path / "t", columns, form)
        try:
            results += rows_of(environment, "SELECT * FROM t")
        except SchemaCoreError as error:
            results.append((error.code,))
        run(environment, "DROP TABLE t")

    lacking = "job-failed" if form in {"json", "csv", "csv with header"} else "schema-mismatch"
    moved = ("a1", "b1") if form == "csv" else ("b1", "a1")
    assert [("a1", "b1"), moved, (lacking,)] == results
