"""Literals, values and names that look like syntax of SQL, Spark, csv or a file system.

Each goes through every way in and comes back identical, or is refused with a code before a job.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from schema_core.environment.table_api.descriptor import TableDescriptor
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaError
from schema_core.expressions import lit
from schema_core.schema.unresolved import Schema
from schema_core.sql.printer import print_string
from schema_core.types import DataType, RowField
from schema_core.types import DataTypes as T
from schema_core.types.row_value import Row

#: Parts of hostile strings; a string is made of one to six of them.
PARTS = (
    "$", "${", "}", "${env:HOME}", "${system:user.dir}", "${a}", "${spark.app.name}", "$a", "{0}",
    "{}", "{*}", "{type}", "%s", "%", "%2F", "'", "''", '"', '""', "`", "``", "\\", "\\\\", "\\n",
    "\\0", "\\u0041", "\\'", "\x00", "\x007", "0", "12", "\n", "\r", "\r\n", "\t", "\x1a", "\x7f",
    "--", "-- x", "/*", "*/", "/*+ BROADCAST(t) */", "#", ";", ",", "|", ":", "::", ".", "..", "/",
    "//", "a.b", "*", "?", "[a]", "[", "]", "(", ")", "!", "=", "a=b", "&", "~", "^", "@", "<>",
    " ", "  ", "null", "NULL", "true", "__HIVE_DEFAULT_PARTITION__", "__DEFAULT_PARTITION__",
    "._COPYING_", "_", "_a", ".a", "_SUCCESS", "_metadata", "file:", "hdfs://h/p", "Key", "v",
    "é", "ß", "İ", "e\u0301", "\u00a0", "\u200b", "\u2028", "\u2029", "\u202e", "\ufeff", "\ufffd",
    "\ufffe", "\uffff", "中", "𝄞", "🏳️‍🌈", "\U0001f600", "\U00020000", "\U00030000", "\U000e0001",
    "\U000f0000", "\U0010fffd", "a", "B", "x y",
)  # fmt: skip


def hostile(number: int, longest: int = 6) -> list[str]:
    """Distinct hostile strings, the same at every call: first the single parts, then mixtures."""
    result = dict.fromkeys(PARTS)
    draw = random.Random(8)
    while len(result) < number:
        result["".join(draw.choices(PARTS, k=draw.randint(2, longest)))] = None
    return list(result)[:number]


TEXTS = hostile(1000)


def is_name(text: str) -> bool:
    """Whether Flink accepts the string as the name of a field."""
    try:
        T.ROW([T.FIELD(text, T.INT())])
    except SchemaError as error:
        return error.code != "invalid-type"
    return True


NAMES = list(filter(is_name, TEXTS))
FORMATS = ("csv", "json", "parquet", "orc")


def files(tmp_path: Path, form: str) -> str:
    options = {"connector": "filesystem", "path": str(tmp_path / "files"), "format": form}
    if form == "csv":
        options["csv.null-literal"] = "\\N"
    return ", ".join(f"'{key}' = {print_string(value)}" for key, value in options.items())


def rows(environment: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in environment.execute_sql(query).collect()]


def numbered(strings: Sequence[str] = TEXTS) -> list[tuple[int, str]]:
    return list(enumerate(strings))


@pytest.fixture
def strings(environment: TableEnvironment, tmp_path: Path) -> TableEnvironment:
    """An environment with a table of the hostile strings and their numbers."""
    options = files(tmp_path / "strings", "parquet")
    environment.execute_sql(f"CREATE TABLE strings (n BIGINT, s STRING) WITH ({options})")
    environment.from_elements(numbered(), ["n", "s"]).execute_insert("strings")
    return environment


def batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def plain(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@pytest.mark.parametrize("spelling", [plain, print_string])
def test_literals(environment: TableEnvironment, spelling: Callable[[str], str]) -> None:
    for strings in batches(numbered(), 250):
        values = ", ".join(f"({place}, {spelling(text)})" for place, text in strings)
        result = rows(environment, f"SELECT * FROM (VALUES {values}) AS t(n, s)")
        assert dict(strings) == dict(result)


def test_elements(environment: TableEnvironment) -> None:
    table = environment.from_elements(numbered(), ["n", "s"])
    assert numbered() == sorted(map(tuple, table.execute().collect()))


def test_elements_of_pandas(environment: TableEnvironment) -> None:
    import pandas as pd

    table = environment.from_pandas(pd.DataFrame(numbered(), columns=["n", "s"]))
    assert numbered() == sorted(map(tuple, table.execute().collect()))


def test_literals_of_python(environment: TableEnvironment) -> None:
    one = environment.from_elements([(1,)], ["n"])
    for strings in batches(TEXTS[:300], 100):
        (row,) = one.select(*map(lit, strings)).execute().collect()
        assert list(strings) == list(row)


def test_filters(strings: TableEnvironment) -> None:
    for some in batches(numbered(), 500):
        wanted = ", ".join(print_string(text) for _, text in some)
        result = rows(strings, f"SELECT n FROM strings WHERE s IN ({wanted})")
        assert {place for place, _ in some} == {place for (place,) in result}


NESTED = "ROW(s) AS r, ARRAY[s, CAST(NULL AS STRING)] AS a, MAP[s, s] AS m"


@pytest.mark.parametrize("form", FORMATS)
def test_values_in_files(strings: TableEnvironment, tmp_path: Path, form: str) -> None:
    query = "SELECT n, s FROM strings" if form == "csv" else f"SELECT n, s, {NESTED} FROM strings"
    strings.execute_sql(f"CREATE TABLE files WITH ({files(tmp_path, form)}) AS {query}")
    expected = [
        (n, s, Row(s), [s, None], {s: s})[: 2 if form == "csv" else 5] for n, s in numbered()
    ]
    assert expected == sorted(rows(strings, "SELECT * FROM files"))


def descriptor(
    fields: Sequence[RowField], tmp_path: Path, form: str, keys: Sequence[str] = ()
) -> TableDescriptor:
    builder = Schema.new_builder()
    for field in fields:
        builder.column(field.name, field.data_type)
    table = TableDescriptor.for_connector("filesystem").schema(builder.build())
    table.option("path", str(tmp_path / "files")).option("format", form)
    return (table.partitioned_by(*keys) if keys else table).build()


def refused_in_directories(text: str) -> bool:
    return "\0" in text or text.endswith("._COPYING_") or text == "__DEFAULT_PARTITION__"


@pytest.mark.parametrize("form", FORMATS)
def test_values_of_partitions(environment: TableEnvironment, tmp_path: Path, form: str) -> None:
    """Every value is a directory, so each format tests a part of them."""
    part = numbered()[FORMATS.index(form) :: 4]
    columns = "(n BIGINT, p STRING) PARTITIONED BY (p)"
    environment.execute_sql(f"CREATE TABLE files {columns} WITH ({files(tmp_path, form)})")
    expected = [(n, text) for n, text in part if not refused_in_directories(text)]
    environment.from_elements(expected, ["n", "p"]).execute_insert("files")
    assert expected == sorted(rows(environment, "SELECT * FROM files"))
    n, text = expected[3]
    query = f"SELECT n FROM files WHERE p = {print_string(text)}"
    assert [(n,)] == rows(environment, query)


@pytest.mark.parametrize("text", list(filter(refused_in_directories, TEXTS))[:8])
def test_values_that_directories_cannot_represent(
    environment: TableEnvironment, tmp_path: Path, text: str
) -> None:
    columns = "(n INT, p STRING) PARTITIONED BY (p)"
    environment.execute_sql(f"CREATE TABLE files {columns} WITH ({files(tmp_path, 'csv')})")
    with pytest.raises(ExternalError) as caught:
        environment.execute_sql(f"INSERT INTO files VALUES (1, {print_string(text)})")
    assert "the job failed: partition column 'p': " in caught.value.problem
    assert not list(tmp_path.rglob("part*"))


def is_directory(name: str) -> bool:
    return not name.startswith(".") and "\0" not in name


PARTITIONS = [name for name in NAMES if len(name) < 20]


@pytest.mark.parametrize("form", FORMATS)
def test_names_of_partitions(environment: TableEnvironment, tmp_path: Path, form: str) -> None:
    names = list(filter(is_directory, PARTITIONS))[FORMATS.index(form) :: 4]
    for keys in batches(names[:36], 12):
        fields = [T.FIELD("a column", T.INT()), *(T.FIELD(key, T.STRING()) for key in keys)]
        folder = tmp_path / str(names.index(keys[0]))
        table = descriptor(fields, folder, form, keys)
        environment.create_table("files", table)
        row = (1, *keys)
        environment.from_elements([row], T.ROW(fields)).execute_insert("files")
        assert [row] == rows(environment, "SELECT * FROM files")
        environment.execute_sql("INSERT OVERWRITE files SELECT * FROM files")
        assert [row] == rows(environment, "SELECT * FROM files")
        environment.drop_table("files")


@pytest.mark.parametrize(
    "name", [partition for partition in PARTITIONS if not is_directory(partition)][:8]
)
def test_names_that_directories_cannot_have(
    environment: TableEnvironment, tmp_path: Path, name: str
) -> None:
    fields = [T.FIELD("a column", T.INT()), T.FIELD(name, T.STRING())]
    environment.create_table("files", descriptor(fields, tmp_path, "csv", [name]))
    actions: tuple[Callable[[], object], ...] = (
        lambda: environment.from_elements([(1, "x")], T.ROW(fields)).execute_insert("files"),
        lambda: environment.from_path("files").execute(),
    )
    for action in actions:
        with pytest.raises(SchemaError) as caught:
            action()
        assert "name-not-supported" == caught.value.code


def deep(names: Sequence[str]) -> DataType:
    """A row whose fields have these names at every level of nesting."""
    inner = T.ROW([T.FIELD(name, T.INT()) for name in names])
    outer = (T.FIELD("rows", T.ARRAY(T.MAP(T.STRING(), inner))), T.FIELD(names[0], inner))
    return T.ROW(outer)


def refused_by(form: str, name: str) -> bool:
    return form == "orc" and ("`" in name or "${" in name)


@pytest.mark.parametrize("form", FORMATS)
def test_names(environment: TableEnvironment, tmp_path: Path, form: str) -> None:
    names = [name for name in NAMES[:70] if not refused_by(form, name)]
    kinds = [T.FIELD(name, T.INT()) for name in names]
    row: tuple[Any, ...] = tuple(range(len(names)))
    if form != "csv":
        kinds.append(T.FIELD("nested", deep(names)))
        row = (*row, Row([{"k": Row(*row)}], Row(*row)))
    environment.create_table("files", descriptor(kinds, tmp_path, form))
    environment.from_elements([row], T.ROW(kinds)).execute_insert("files")
    assert [row] == rows(environment, "SELECT * FROM files")


@pytest.mark.parametrize("name", [name for name in NAMES if refused_by("orc", name)][:20])
@pytest.mark.parametrize("depth", ["column", "field"])
def test_names_that_orc_files_cannot_hold(
    environment: TableEnvironment, tmp_path: Path, name: str, depth: str
) -> None:
    kind = T.FIELD(name, T.INT()) if depth == "column" else T.FIELD("a", deep([name]))
    environment.create_table("files", descriptor([kind], tmp_path, "orc"))
    actions: tuple[Callable[[], object], ...] = (
        lambda: environment.from_elements([(None,)], T.ROW([kind])).execute_insert("files"),
        lambda: environment.from_path("files").execute(),
    )
    for action in actions:
        with pytest.raises(SchemaError) as caught:
            action()
        assert "name-not-supported" == caught.value.code
