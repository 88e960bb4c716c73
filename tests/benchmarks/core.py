"""Schemas, types, expressions, statements and property maps, beside Flink's JVM and sqlglot.

At first sight nothing that was parsed or resolved before is remembered, but all modules are
imported. Flink runs in a JVM of its own, warm, and measures itself.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from schema_core.base.caching import clear_caches
from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.expressions.type_checker import ColumnScope, infer
from schema_core.mappings.arrow.schemas import to_schema
from schema_core.mappings.dialects.definitions import schema_of as schema_of_elements
from schema_core.mappings.dialects.definitions import table_of
from schema_core.mappings.spark.pyspark_types import to_struct_type
from schema_core.properties.property_map import decode_table, encode_table
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.sql.parser import parse_expression, parse_statement, read_statements
from schema_core.sql.statement_syntax import CreateTable
from schema_core.types import parse_type
from tests.benchmarks import by_hand
from tests.benchmarks.measuring import Candidate, Task, python

HERE = Path(__file__).parent
#: Types, in turn, of a hundred physical columns.
COLUMN_TYPES = (
    "INT", "BIGINT NOT NULL", "STRING", "DECIMAL(10, 2)", "TIMESTAMP(3)", "BOOLEAN", "DOUBLE",
    "ARRAY<INT>", "ROW<a INT, b STRING>", "MAP<STRING, INT>",
)  # fmt: skip
#: Types, in turn, of the eighty columns that the expressions are about.
BASE_TYPES = (
    "INT", "BIGINT NOT NULL", "DECIMAL(10, 2)", "STRING", "DOUBLE", "DATE", "BOOLEAN",
    "TIMESTAMP(6)", "ARRAY<INT>", "ROW<x INT, y STRING>",
)  # fmt: skip
#: Twenty expressions: arithmetic, strings, branches, casts, fields, dates, JSON.
EXPRESSIONS = (
    "c0 + c1 * 2",
    "c2 * 3 - 1.5",
    "UPPER(c3) || 'x'",
    "COALESCE(c0, c10, 0)",
    "CASE WHEN c0 > 1 AND c6 THEN c2 WHEN c0 IS NULL THEN 0 ELSE c12 END",
    "CAST(c0 AS STRING)",
    "c9.x + 1",
    "c8[1]",
    "c5 + INTERVAL '1' DAY",
    "c3 LIKE '%a' OR c13 IN ('a', 'b', 'c')",
    "EXTRACT(YEAR FROM c7)",
    "TIMESTAMPDIFF(HOUR, c7, c17)",
    "JSON_VALUE(c3, '$.a' RETURNING INT)",
    "ROUND(c2 / c12, 2)",
    "CHAR_LENGTH(TRIM(BOTH ' ' FROM c3)) BETWEEN 1 AND 10",
    "GREATEST(c4, c14, 0e0)",
    "ARRAY[c0, c10, 1]",
    "DATE_FORMAT(c7, 'yyyy-MM-dd')",
    "NULLIF(c3, '')",
    "FLOOR(c7 TO MONTH)",
)
#: What sqlglot parses as well.
SHARED = tuple(expression for expression in EXPRESSIONS if "RETURNING" not in expression)
COLUMNS = [(f"column_{place}", COLUMN_TYPES[place % 10]) for place in range(100)]
BASE = [
    *((f"c{place}", BASE_TYPES[place % 10]) for place in range(80)),
    ("id", "BIGINT NOT NULL"),
    ("ts", "TIMESTAMP(3)"),
]
COMPUTED = [(f"e{place}", item) for place, item in enumerate(EXPRESSIONS)]
STATEMENT = (
    f"CREATE TABLE t ({', '.join(f'{name} {type_}' for name, type_ in BASE)}, "
    f"{', '.join(f'{name} AS {text}' for name, text in COMPUTED)}, "
    "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) "
    "WITH ('connector' = 'kafka', 'topic' = 't')"
)
#: A statement that sqlglot parses as well.
COLUMNS_ONLY = "CREATE TABLE t ({})".format(
    ", ".join(f"{name} {type_}" for name, type_ in BASE if "ROW" not in type_)
)
OPTIONS = {"connector": "kafka"}
#: A script of a thousand statements.
SCRIPT = tuple(
    f"CREATE TABLE t{number} (a INT, b STRING) WITH ('connector' = 'x');" for number in range(1000)
)


def schema_of(name: str) -> Schema:
    """Return the schema of a hundred physical `columns`, or that with `computed` ones."""
    builder = Schema.new_builder()
    for column, type_ in COLUMNS if name == "columns" else BASE:
        builder.column(column, type_)
    if name == "computed":
        for column, text in COMPUTED:
            builder.column_by_expression(column, text)
        builder.watermark("ts", "ts - INTERVAL '5' SECOND").primary_key("id")
    return builder.build()


class Jvm:
    """Flink's JVM, which measures its own tasks."""

    def __init__(self, folder: Path, classes: Path) -> None:
        jars = sorted((folder / "flink" / "deps" / "lib").glob("*.jar"))
        if not jars:
            raise FileNotFoundError(f"there is no Flink in {folder}: make oracle")
        path = ":".join([*map(str, jars), str(classes)])
        source = str(HERE / "Flink.java")
        subprocess.run(["javac", "-nowarn", "-d", str(classes), "-cp", path, source], check=True)
        inputs = classes / "inputs.txt"
        inputs.write_text("".join(f"{kind}\t{text}\n" for kind, text in _inputs()))
        options = ["-Xmx1g", "-Dlog4j2.level=OFF", "-cp", path]
        self._process = subprocess.Popen(
            ["java", *options, "Flink", str(inputs)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._read() == "ready"

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def turn(self, task: str, seconds: float) -> tuple[float, float]:
        """Return the shortest and the median time of a task in microseconds."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{task}\t{seconds}\n")
        self._process.stdin.flush()
        shortest, median = map(float, self._read().split())
        return shortest, median

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def _inputs() -> Iterator[tuple[str, str]]:
    yield from (("column", f"{name} {type_}") for name, type_ in COLUMNS)
    yield from (("base", f"{name} {type_}") for name, type_ in BASE)
    yield from (("computed", f"{name} {text}") for name, text in COMPUTED)
    yield from (("expression", expression) for expression in EXPRESSIONS)
    yield from (("type", item) for item in by_hand.TEN)
    yield "statement", STATEMENT
    yield from (("script", statement) for statement in SCRIPT)


@contextmanager
def opened(folder: Path) -> Iterator[Jvm | None]:
    """Yield Flink's JVM; None, with a note, where it is not installed."""
    with tempfile.TemporaryDirectory() as classes:
        try:
            jvm = Jvm(folder, Path(classes))
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            print(f"Flink is left out: {error}", file=sys.stderr)
            yield None
            return
        try:
            yield jvm
        finally:
            jvm.close()


#: A task's name, our work, the name of Flink's, and what is called before each run.
Work: TypeAlias = tuple[str, Callable[[], object], str | None, Callable[[], object] | None]
#: Seconds that the JVM works at each task before anything is measured.
WARM_UP = 5.0


def tasks(jvm: Jvm | None) -> list[Task]:
    """Return the tasks; those of Flink are warmed up."""
    result: list[Task] = []

    def add(
        name: str,
        work: Callable[[], object],
        flink: str | None,
        prepare: Callable[[], object] | None = None,
        *others: Candidate,
    ) -> None:
        candidates = [python("schema_core", work, prepare)]
        if jvm is not None and flink is not None:
            jvm.turn(flink, WARM_UP)
            candidates.append(Candidate("Flink's JVM", lambda seconds: jvm.turn(flink, seconds)))
        result.append(Task(name, [*candidates, *others]))

    for name, what in (("columns", "100 columns"), ("computed", "80 + 20 computed columns")):
        for work in _of_tables(name, what):
            add(*work)
    types = [parse_type(item) for item in by_hand.TEN]
    add("parse 10 types, first sight", _parse_types, "parse types", clear_caches)
    add("parse 10 types, seen before", _parse_types, "parse types")
    add(
        "print 10 types",
        lambda: [data_type.as_serializable_string() for data_type in types],
        "print types",
    )
    for work in _of_syntax():
        add(*work)
    if (glot := _sqlglot()) is not None:
        add(
            "parse CREATE TABLE of 74 columns, syntax only",
            lambda: parse_statement(COLUMNS_ONLY),
            None,
            clear_caches,
            _glot(glot, lambda: glot.parse_one(COLUMNS_ONLY)),
        )
        add(
            f"parse {len(SHARED)} expressions, first sight",
            lambda: [parse_expression(item) for item in SHARED],
            None,
            parse_expression.cache_clear,
            _glot(glot, lambda: [glot.parse_one(item) for item in SHARED]),
        )
    others = [*_ibis(), *_pyflink()]
    add("build 100 columns", lambda: schema_of("columns"), "build columns", None, *others)
    columns = [(f"c{place}", parse_type(by_hand.TEN[place % 10])) for place in range(100)]
    schema = ResolvedSchema.physical(
        [name for name, _ in columns], [column for _, column in columns]
    )
    assert to_schema(schema) == by_hand.arrow_by_hand()
    assert to_struct_type(schema) == by_hand.spark_by_hand()
    other = python("the same by hand", by_hand.arrow_by_hand)
    add("100 columns to Arrow", partial(to_schema, schema), None, None, other)
    other = python("the same by hand", by_hand.spark_by_hand)
    add("100 columns to Spark", partial(to_struct_type, schema), None, None, other)
    return result


def _of_tables(name: str, what: str) -> Iterator[Work]:
    """Yield the work with a table: its name, itself, that of Flink, and what precedes it."""
    resolver = SchemaResolver()
    table = resolve_table(CatalogTable(schema_of(name), options=OPTIONS), resolver)
    properties = encode_table(table)
    unseen: list[Schema] = []

    def renew() -> None:
        build()
        clear_caches()

    def resolve() -> object:
        return SchemaResolver().resolve(unseen[0])

    def decode() -> object:
        return resolve_table(decode_table(properties), resolver)

    def build() -> None:
        unseen[:] = [schema_of(name)]

    def seen() -> object:
        return resolver.resolve(unseen[0])

    yield f"resolve {what}, first sight", resolve, f"resolve {name}", renew
    yield f"resolve {what}, equal schema seen before", seen, f"resolve {name}", build
    for item, work, flink in (
        ("out", partial(encode_table, table), f"encode {name}"),
        ("in", partial(decode_table, properties), f"decode {name}"),
        ("in and resolved", decode, f"decode and resolve {name}"),
    ):
        yield f"map of {what}, {item}, first sight", work, flink, clear_caches
        yield f"map of {what}, {item}, seen before", work, flink, None


def _of_syntax() -> Iterator[Work]:
    """Yield the work with SQL: syntax beside syntax, types beside Flink's validation."""
    scope = ColumnScope({name: parse_type(type_) for name, type_ in BASE})
    script = "\n".join(SCRIPT)

    def parse_expressions() -> object:
        return [parse_expression(expression) for expression in EXPRESSIONS]

    def infer_expressions() -> object:
        return [infer(scope, parse_expression(expression)) for expression in EXPRESSIONS]

    def resolve_statement() -> object:
        statement = parse_statement(STATEMENT)
        assert isinstance(statement, CreateTable)
        return resolve_table(
            table_of(statement, schema_of_elements(statement.elements, STATEMENT)), SchemaResolver()
        )

    def parse_script() -> object:
        return deque(read_statements(script), maxlen=0)

    for name, work, flink in (
        ("parse 20 expressions, first sight", parse_expressions, "parse expressions"),
        ("parse and type 20 expressions, first sight", infer_expressions,
         "parse and type expressions"),
        ("parse CREATE TABLE, syntax only", partial(parse_statement, STATEMENT), "parse statement"),
        ("parse and resolve CREATE TABLE, first sight", resolve_statement, "validate statement"),
        ("parse a script of 1,000 statements, syntax only", parse_script, "parse script"),
    ):  # fmt: skip
        yield name, work, flink, clear_caches


def _parse_types() -> object:
    return [parse_type(item) for item in by_hand.TEN]


def _sqlglot() -> Any:
    try:
        return import_module("sqlglot")
    except ImportError:
        print("sqlglot is left out: it is not installed", file=sys.stderr)
        return None


def _glot(module: Any, work: Callable[[], object]) -> Candidate:
    compiled = not str(module.parser.__file__).endswith(".py")
    return python(f"sqlglot {module.__version__}{', compiled' * compiled}", work)


def _ibis() -> list[Candidate]:
    try:
        ibis: Any = import_module("ibis")
    except ImportError:
        print("ibis is left out: it is not installed", file=sys.stderr)
        return []
    words = {
        "INT": "int32", "BIGINT NOT NULL": "!int64", "STRING": "string",
        "DECIMAL(10, 2)": "decimal(10, 2)", "TIMESTAMP(3)": "timestamp(3)", "BOOLEAN": "boolean",
        "DOUBLE": "float64", "ARRAY<INT>": "array<int32>",
        "ROW<a INT, b STRING>": "struct<a: int32, b: string>",
        "MAP<STRING, INT>": "map<string, int32>",
    }  # fmt: skip
    columns = {name: words[type_] for name, type_ in COLUMNS}
    return [python(f"ibis {ibis.__version__}", lambda: ibis.schema(columns))]


def _pyflink() -> list[Candidate]:
    """PyFlink builds in the JVM of Flink: its figure is the time of its Python alone."""
    try:
        pyflink: Any = import_module("pyflink.table")
        version = import_module("pyflink.version").__version__
    except ImportError:
        print("PyFlink is left out: it is not installed", file=sys.stderr)
        return []

    def build() -> object:
        builder = pyflink.Schema.new_builder()
        for name, type_ in COLUMNS:
            builder.column(name, type_)
        return builder.build()

    return [python(f"PyFlink {version}", build)]


#: Number of statements of a script, whose length is limited.
PER_SCRIPT = 10_000


def growth(largest: int = 100_000, seconds: float = 1) -> dict[str, list[tuple[int, float]]]:
    """Return the microseconds for schemas of up to 10,000 columns, and up to 100,000 statements.

    Args:
        largest: The maximum number of columns and statements.
        seconds: The time for each size.
    """
    works = {
        "columns resolved": (_resolved, (10, 100, 1_000, 10_000)),
        "statements parsed": (_parsed, (1, 10, 100, 1_000, 10_000, 100_000)),
    }
    return {
        name: [
            (size, python(name, work(size), clear_caches).turn(seconds)[0])
            for size in sizes
            if size <= largest
        ]
        for name, (work, sizes) in works.items()
    }


def _resolved(size: int) -> Callable[[], object]:
    builder = Schema.new_builder()
    for place in range(size):
        builder.column(f"c{place}", COLUMN_TYPES[place % 10])
    schema = builder.build()
    return lambda: SchemaResolver().resolve(schema)


def _parsed(size: int) -> Callable[[], object]:
    statements = [
        f"CREATE TABLE t{number} (a INT, b STRING) WITH ('connector' = 'x');\n"
        for number in range(size)
    ]
    scripts = ["".join(statements[at : at + PER_SCRIPT]) for at in range(0, size, PER_SCRIPT)]
    return lambda: [deque(read_statements(script), maxlen=0) for script in scripts]
