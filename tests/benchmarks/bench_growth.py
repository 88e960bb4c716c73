# ruff: noqa: E501 - a table reads better with a shape in each line
"""How time and memory grow with the size of what comes from outside, with and without mistakes.

    python tests/benchmarks/bench_growth.py [PART OF A SHAPE'S NAME ...]
    python tests/benchmarks/bench_growth.py --chosen [--limit SECONDS] [--total SECONDS]
    python tests/benchmarks/bench_growth.py --names

Every shape is run at 1, 10, 100 and 990 KB (no text is read beyond 1 MB), each time in a process of its own, so that no
cache helps and memory is that of one run. Printed are processor time, growth of the resident
memory, the worst growth of the time per byte from 10 KB on (at most 2 is linear), and what came
out: `ok`, or the code of the first error. A code of `BOUNDS` means that the size itself was refused.

`--chosen` runs the shapes of `CHOSEN`, one of each kind, once at each size and prints a table in
Markdown. A run is killed after `--limit` seconds of processor time (5 unless given), and the program
starts no further shape after `--total` seconds (600 unless given).
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from operator import add, mod, mul

from schema_core.base.paths import parse_path
from schema_core.base.secrets import mask_text
from schema_core.catalog.stores.flat_yaml import read as read_yaml
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.planner import Rows
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.expressions import Expression, col, concat, row
from schema_core.expressions.to_sql import to_sql
from schema_core.expressions.type_checker import ColumnScope, infer
from schema_core.mappings.dialects.api import from_ddl, read_tables
from schema_core.properties.property_map import decode_table
from schema_core.query.relation import Relation
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema
from schema_core.spark.compiler import tree
from schema_core.spark.compiler.expression import compile_expression
from schema_core.spark.compiler.query import query_text
from schema_core.sql.parser import parse_expression, parse_statements, read_statements
from schema_core.types import parse_type

SIZES = tuple(
    size
    for size in (1_000, 10_000, 100_000, 990_000)
    if size <= int(os.environ.get("GROWTH_SIZE", "990000"))
)
#: A run is killed after so many seconds; larger sizes of its shape are not tried.
LIMIT = float(os.environ.get("GROWTH_LIMIT", "60"))
#: Codes that refuse a size.
BOUNDS = frozenset({"limit-exceeded", "too-large", "not-executable"})

Work = Callable[[], object]
Prepare = Callable[[int], Work]
SHAPES: dict[str, Prepare] = {}

COLUMNS = "a INT, b BIGINT, s STRING, d DECIMAL(10, 2), ts TIMESTAMP(3), r ROW<x INT, y STRING>"
SCOPE = {
    part.split()[0]: parse_type(part.split(maxsplit=1)[1])
    for part in ("a INT", "b BIGINT", "s STRING", "d DECIMAL(10, 2)", "ts TIMESTAMP(3)")
}


def repeated(size: int, pattern: str, between: str = ", ") -> str:
    """The pattern as often as fills the size; ``{}`` in it is the number of the repetition."""
    parts, total, number = [], 0, 0
    while total < size:
        parts.append(pattern.replace("{}", str(number)))
        total += len(parts[-1]) + len(between)
        number += 1
    return between.join(parts)


class Compiler(DryRunPlanner):
    """A planner that writes every query as Spark's SQL, and runs nothing."""

    def select(self, query: Relation) -> Rows:
        query_text(query, lambda scan: "t")
        return super().select(query)


def environment(planner: DryRunPlanner | None = None) -> TableEnvironment:
    """An environment with the table `t`, in which nothing runs."""
    settings = EnvironmentSettings.in_batch_mode()
    result = TableEnvironment.create(settings, planner=planner or DryRunPlanner())
    result.execute_sql(f"CREATE TABLE t ({COLUMNS}) WITH ('connector' = 'filesystem')")
    return result


def shown(error: SchemaCoreError) -> object:
    """Everything that is printed of an error."""
    return str(error), [(diagnostic.line, diagnostic.column) for diagnostic in error.diagnostics]


# --- expressions ---------------------------------------------------------------------------------


def expression(text: str) -> object:
    tree = parse_expression(text)
    typed = infer(ColumnScope(SCOPE), tree)
    return to_sql(typed)


def compiled(text: str) -> object:
    return tree.to_sql(compile_expression(infer(ColumnScope(SCOPE), parse_expression(text))))


def pickled(text: str) -> object:
    tree = parse_expression(text)
    typed = infer(ColumnScope(SCOPE), tree)
    return pickle.loads(pickle.dumps((tree, typed))), repr(tree), repr(typed), hash(typed)


def of_text(
    work: Callable[[str], object], before: str, pattern: str, between: str, after: str = ""
) -> Prepare:
    def prepare(size: int) -> Work:
        return partial(work, before + repeated(size - len(before), pattern, between) + after)

    return prepare


def doubling(work: Callable[[str], object], first: str, step: str, last: str = "") -> Prepare:
    """As `of_text`, of steps that read the one before: ``{}`` is a number, ``{-}`` that before."""

    def prepare(size: int) -> Work:
        parts, total, number = [first], len(first), 1
        while total < size:
            parts.append(step.replace("{-}", str(number - 1)).replace("{}", str(number)))
            total += len(parts[-1])
            number += 1
        return partial(work, "".join(parts) + last.replace("{-}", str(number - 1)))

    return prepare


#: Name -> the prefix, what is repeated, the separator, the suffix.
EXPRESSIONS = {
    "sum": ("", "a", " + "),
    "sum of unknown columns": ("", "u{}", " + "),
    "sum of decimals": ("", "d", " + "),
    "product of decimals": ("", "d", " * "),
    "remainders": ("", "b", " % "),
    "string concatenation": ("", "s", " || "),
    "AND": ("", "a > {}", " AND "),
    "OR of equations": ("", "a = {}", " OR "),
    "comparisons without an end": ("", "a = 1", " AND ", " AND"),
    "IN": ("a IN (", "{}", ", ", ")"),
    "IN with NULL and decimals": ("a IN (NULL, ", "{}.5", ", ", ")"),
    "CASE": ("CASE ", "WHEN a = {} THEN 'v{}'", " ", " END"),
    "CASE of many types": ("CASE ", "WHEN a = {} THEN {}.{}", " ", " END"),
    "JSON_OBJECT": ("JSON_OBJECT(", "'k{}' VALUE a", ", ", ")"),
    "JSON_ARRAY": ("JSON_ARRAY(", "a", ", ", ")"),
    "COALESCE": ("COALESCE(", "a", ", ", ")"),
    "CONCAT of unknown functions": ("CONCAT(", "upper_{}(s)", ", ", ")"),
    "ARRAY": ("ARRAY[", "{}", ", ", "]"),
    "MAP": ("MAP[", "'k{}', {}", ", ", "]"),
    "ROW": ("ROW(", "a", ", ", ")"),
    "parentheses": ("", "(", "", "a"),
    "casts": ("", "CAST(", "", "a"),
    "minus signs": ("", "-", " ", " a"),
    "NOT": ("", "NOT", " ", " TRUE"),
    "fields": ("r", ".x", ""),
    "elements": ("a", "[1]", ""),
    "digits": ("", "9", ""),
    "digits after a point": ("0.", "9", ""),
    "numbers of 900 digits": ("", "9" * 900, " + "),
    "digits without blanks": ("", "9_", ""),
    "character sets": ("", "_a-", ""),
    "character sets with quotes": ("", "_a-'b'", ""),
    "colons": ("", "_a:", ""),
    "points": ("", ".9", ""),
    "long text": ("'", "x", "", "'"),
    "quotes": ("'", "''", "", "'"),
    "open quote": ("'", "x''", ""),
    "escapes": ("e'", "\\\\n", "", "'"),
    "open escapes": ("e'", "\\'", ""),
    "unicode": ("U&'", "\\0041", "", "'"),
    "backticks": ("", "`", ""),
    "open comments": ("", "/* ", ""),
    "comments": ("a ", "/* x */", " ", " + 1"),
    "line comments": ("a ", "-- x\n", "", " + 1"),
    "blanks": ("a", " ", "", "+ 1"),
    "bad characters": ("a + ", "\N{SNOWMAN}", ""),
    "bad characters apart": ("a + ", "\N{SNOWMAN}", " "),
    "binary": ("x'", "0a", "", "'"),
    "interval": ("INTERVAL '", "9", "", "' DAY"),
    "timestamp": ("TIMESTAMP '2020-01-01 00:00:00.", "9", "", "'"),
    "LIKE": ("s LIKE '", "%_", "", "'"),
    "BETWEEN": ("", "a BETWEEN {} AND {}", " AND "),
    "OVERLAY nested": ("", "UPPER(", "", "s"),
}  # fmt: skip
for _name, _parts in EXPRESSIONS.items():
    SHAPES[f"expression: {_name}"] = of_text(expression, *_parts)
for _name, _parts in {
    "sum": ("", "a", " + "),
    "remainders": ("", "b", " % "),
    "string concatenation": ("", "s", " || "),
    "sum of decimals": ("", "d", " + "),
    "product of decimals": ("", "d", " * "),
    "AND": ("", "a > {}", " AND "),
    "CASE": ("CASE ", "WHEN a = {} THEN 'v{}'", " ", " END"),
    "JSON_OBJECT": ("JSON_OBJECT(", "'k{}' VALUE a", ", ", ")"),
    "IN": ("a IN (", "{}", ", ", ")"),
    "COALESCE": ("COALESCE(", "a", ", ", ")"),
}.items():
    SHAPES[f"to Spark: {_name}"] = of_text(compiled, *_parts)
    SHAPES[f"pickled: {_name}"] = of_text(pickled, *_parts)


def fluent(step: Callable[[Expression, Expression], Expression], size: int) -> Work:
    """A chain of an operator over columns, written in Python."""

    def work() -> object:
        result = col("a")
        for _ in range(size // 4):
            result = step(result, col("a"))
        return infer(ColumnScope(SCOPE), result.syntax), str(result)

    return work


def fluent_doubling(step: Callable[[Expression, Expression], Expression], size: int) -> Work:
    """``w = w + w``, once for every 10 characters, with the type of the result asked for."""

    def work() -> object:
        result = col("a")
        for _ in range(size // 10):
            result = step(result, result)
        table = environment().from_path("t").select(result)
        return table.get_resolved_schema()

    return work


SHAPES["fluent: sum"] = partial(fluent, add)
SHAPES["fluent: remainders"] = partial(fluent, mod)
SHAPES["fluent: w = w + w"] = partial(fluent_doubling, add)
SHAPES["fluent: w = w * w"] = partial(fluent_doubling, mul)
SHAPES["fluent: w = row(w, w)"] = partial(fluent_doubling, row)
SHAPES["fluent: w = concat(w, w)"] = partial(fluent_doubling, concat)

# --- types ---------------------------------------------------------------------------------------


def type_(text: str) -> object:
    return str(parse_type(text))


for _name, _parts in {
    "row": ("ROW<", "f{} INT", ", ", ">"),
    "row with comments": ("ROW<", "f{} INT 'c {}'", ", ", ">"),
    "row of one name": ("ROW<", "f INT", ", ", ">"),
    "row of unknown types": ("ROW<", "f{} INTT", ", ", ">"),
    "nested": ("", "ARRAY<", "", "INT"),
    "digits": ("DECIMAL(", "9", "", ", 2)"),
    "bad characters": ("ROW<", "\N{SNOWMAN}", ", ", ">"),
    "structured": ("STRUCTURED<'C', ", "`f{}` INT", ", ", ">"),
    "blanks": ("ARRAY<", " ", "", "INT>"),
    "no commas": ("ROW<", "f{} INT", " ", ">"),
    "one comma missing": ("ROW<", "f{} INT", ", ", " g INT>"),
    "open parentheses": ("ROW<", "f{} VARCHAR(3", ", ", ">"),
}.items():
    SHAPES[f"type: {_name}"] = of_text(type_, *_parts)

# --- scripts -------------------------------------------------------------------------------------


def script(text: str) -> object:
    """As ``schema-core resolve`` does it: every statement, and every mistake in full."""
    result = environment()
    mistakes = []
    for statement in read_statements(text):
        if isinstance(statement, SchemaCoreError):
            mistakes.append(statement)
            continue
        try:
            result.execute_statement(statement, text)
        except SchemaCoreError as error:
            mistakes.append(error)
    output = [shown(error) for error in mistakes]
    if mistakes:
        raise mistakes[0]
    return output


def parsed(text: str) -> object:
    return parse_statements(text)


#: Mistakes whose hints speculative parses search.
MISTAKES = {
    "comma missing at the end": ("SELECT ", "a{}", ", ", " b c FROM t"),
    "commas missing": ("SELECT ", "a{} b{} c{}", " ", " FROM t"),
    "misspelt keyword at the end": ("SELECT ", "a{}", ", ", " FROM t WHER a > 1"),
    "misspelt keywords": ("SELECT ", "SELCT{} FORM", " "),
    "parentheses not closed": ("SELECT ", "f(a{}", ", "),
    "quote missing": ("SELECT a' ", "'b' x", " "),
    "clauses in the wrong order": ("SELECT a FROM t LIMIT 3 ", "ORDER BY a", " "),
    "semicolons": ("", "SELECT a; WHERE b; ", ""),
    "statement set": (
        "EXECUTE STATEMENT SET BEGIN ", "INSERT INTO t SELECT a FROM s; ", "",
        "INSERT INTO t SELECT a b c FROM s; END",
    ),
    "statement sets without END": (
        "", "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT a b c FROM s; ", "",
    ),
}  # fmt: skip
for _name, _parts in MISTAKES.items():
    SHAPES[f"mistake: {_name}"] = of_text(parse_statements, *_parts)


def described(text: str) -> object:
    """A script, the schema of whose last view `v` is asked for."""
    result = environment()
    for statement in parse_statements(text):
        result.execute_statement(statement, text)
    return str(result.from_path("v").get_resolved_schema())


def on_spark(text: str) -> object:
    """A query, as Spark's SQL."""
    return environment(Compiler()).execute_sql(text)


_WITH = ") WITH ('connector' = 'filesystem')"
#: Name -> how, the prefix, what is repeated, the separator, the suffix.
SCRIPTS: dict[str, tuple[Callable[[str], object], str, str, str, str]] = {
    "statements": (script, "", "SHOW TABLES", ";\n", ""),
    "syntax mistakes": (script, "", "USE 1", ";\n", ""),
    "syntax mistakes, parsed": (parsed, "", "USE 1", ";\n", ""),
    "syntax mistakes on one line": (script, "", "USE 1", ";", ""),
    "unknown words": (script, "", "SELCT a FROM t", ";\n", ""),
    "different unknown words": (script, "", "SHWO{} TABLES", ";\n", ""),
    "misspelt words": (script, "", "SHOW TABELS", ";\n", ""),
    "missing commas": (script, "", "CREATE TABLE x{} (a INT b INT)", ";\n", ""),
    "open parentheses": (script, "", "SELECT (a + 1 FROM t", ";\n", ""),
    "open parenthesis at the start": (script, "SELECT (", "a", " + ", " FROM t"),
    "bad characters": (script, "", "\N{SNOWMAN}", ";\n", ""),
    "bad characters apart": (script, "SELECT ", "\N{SNOWMAN}", " ", ""),
    "double quotes": (script, "", 'SELECT "a" FROM t', ";\n", ""),
    "unknown tables": (script, "", "SELECT a FROM u{}", ";\n", ""),
    "unknown columns": (script, "", "SELECT u{} FROM t", ";\n", ""),
    "unknown functions": (script, "", "SELECT u{}(a) FROM t", ";\n", ""),
    "unknown types": (script, "", "CREATE TABLE x{} (a INTT)", ";\n", ""),
    "tables": (script, "", "CREATE TABLE x{} (a INT, b STRING)", ";\n", ""),
    "one table again and again": (script, "", "CREATE TABLE x (a INT, b STRING)", ";\n", ""),
    "databases": (script, "", "CREATE DATABASE x{}", ";\n", ""),
    "views": (script, "", "CREATE VIEW v{} AS SELECT a FROM t", ";\n", ""),
    "functions": (script, "", "CREATE FUNCTION f{} AS 'a.b.C'", ";\n", ""),
    "inserts": (script, "", "INSERT INTO t SELECT * FROM t", ";\n", ""),
    "settings": (script, "", "SET 'k{}' = 'v'", ";\n", ""),
    "wide table": (script, "CREATE TABLE x (", "c{} INT", ", ", _WITH),
    "wide table, one name": (script, "CREATE TABLE x (", "c INT", ", ", _WITH),
    "wide table of unknown types": (script, "CREATE TABLE x (", "c{} INTT", ", ", _WITH),
    "wide table of unknown words": (script, "CREATE TABLE x (", "c{} INT NUL", ", ", _WITH),
    "computed columns": (script, "CREATE TABLE x (a INT, ", "c{} AS a + {}", ", ", _WITH),
    "computed columns of unknown ones": (script, "CREATE TABLE x (a INT, ", "c{} AS u{} + 1", ", ", _WITH),
    "computed columns of each other": (script, "CREATE TABLE x (c INT, ", "c{} AS c{} + 1", ", ", _WITH),
    "metadata columns": (script, "CREATE TABLE x (a INT, ", "c{} INT METADATA", ", ", _WITH),
    "key": (script, "CREATE TABLE x (a INT, PRIMARY KEY (", "a", ", ", ") NOT ENFORCED" + _WITH),
    "key of unknown columns": (script, "CREATE TABLE x (a INT, PRIMARY KEY (", "u{}", ", ", ") NOT ENFORCED" + _WITH),
    "keys": (script, "CREATE TABLE x (a INT, ", "PRIMARY KEY (a) NOT ENFORCED", ", ", _WITH),
    "watermarks": (script, "CREATE TABLE x (ts TIMESTAMP(3), ", "WATERMARK FOR ts AS ts", ", ", _WITH),
    "partition keys": (script, "CREATE TABLE x (a INT) PARTITIONED BY (", "u{}", ", ", ")"),
    "options": (script, "CREATE TABLE x (a INT) WITH (", "'k{}' = 'v'", ", ", ")"),
    "options of one key": (script, "CREATE TABLE x (a INT) WITH (", "'k' = 'v'", ", ", ")"),
    "secret options": (script, "CREATE TABLE x (a INT) WITH (", "'password{}' = 'v'", ", ", " oops)"),
    "add columns": (script, "ALTER TABLE t ADD (", "c{} INT", ", ", ")"),
    "add one column again": (script, "ALTER TABLE t ADD (", "c INT", ", ", ")"),
    "add columns of unknown types": (script, "ALTER TABLE t ADD (", "c{} INTT", ", ", ")"),
    "add columns at places": (script, "ALTER TABLE t ADD (", "c{} INT FIRST", ", ", ")"),
    "add columns after a": (script, "ALTER TABLE t ADD (", "c{} INT AFTER a", ", ", ")"),
    "add columns one by one": (script, "", "ALTER TABLE t ADD c{} INT", ";\n", ""),
    "modify columns": (script, "ALTER TABLE t MODIFY (", "a BIGINT", ", ", ")"),
    "modify unknown columns": (script, "ALTER TABLE t MODIFY (", "u{} BIGINT", ", ", ")"),
    "drop unknown columns": (script, "ALTER TABLE t DROP (", "u{}", ", ", ")"),
    "set options": (script, "ALTER TABLE t SET (", "'k{}' = 'v'", ", ", ")"),
    "add partitions": (script, "ALTER TABLE t ADD ", "PARTITION (a = {})", " ", ""),
    "wide list": (script, "SELECT ", "a", ", ", " FROM t"),
    "wide list of aliases": (script, "SELECT ", "a AS x{}", ", ", " FROM t"),
    "wide list of one alias": (script, "SELECT ", "a AS x", ", ", " FROM t"),
    "wide list of expressions": (script, "SELECT ", "a + {}", ", ", " FROM t"),
    "wide list of unknown columns": (script, "SELECT ", "u{}", ", ", " FROM t"),
    "stars": (script, "SELECT ", "*", ", ", " FROM t"),
    "qualified stars": (script, "SELECT ", "t.*", ", ", " FROM t"),
    "wide view": (described, "CREATE VIEW v AS SELECT ", "a AS x{}", ", ", " FROM t"),
    "wide view of expressions": (described, "CREATE VIEW v AS SELECT ", "a + {} AS x{}", ", ", " FROM t"),
    "wide view of one name": (described, "CREATE VIEW v AS SELECT ", "a AS x", ", ", " FROM t"),
    "view of stars": (described, "CREATE VIEW v AS SELECT ", "*", ", ", " FROM t"),
    "view with names": (script, "CREATE VIEW v (", "x{}", ", ", ") AS SELECT a FROM t"),
    "GROUP BY": (script, "SELECT COUNT(*) FROM t GROUP BY ", "a + {}", ", ", ""),
    "GROUP BY of one column": (script, "SELECT a FROM t GROUP BY ", "a", ", ", ""),
    "GROUP BY of unknown columns": (script, "SELECT a FROM t GROUP BY ", "u{}", ", ", ""),
    "ROLLUP": (script, "SELECT COUNT(*) FROM t GROUP BY ROLLUP (", "a + {}", ", ", ")"),
    "ROLLUP of one column": (script, "SELECT COUNT(*) FROM t GROUP BY ROLLUP (", "a", ", ", ")"),
    "CUBE": (script, "SELECT COUNT(*) FROM t GROUP BY CUBE (", "a + {}", ", ", ")"),
    "CUBEs": (script, "SELECT COUNT(*) FROM t GROUP BY ", "CUBE (a, b)", ", ", ""),
    "GROUPING SETS": (script, "SELECT COUNT(*) FROM t GROUP BY GROUPING SETS (", "(a, b)", ", ", ")"),
    "aggregates": (script, "SELECT ", "SUM(a + {})", ", ", " FROM t GROUP BY b"),
    "ORDER BY positions": (script, "SELECT a FROM t ORDER BY ", "1", ", ", ""),
    "ORDER BY": (script, "SELECT a FROM t ORDER BY ", "a + {}", ", ", ""),
    "ORDER BY of unknown columns": (script, "SELECT a FROM t ORDER BY ", "u{}", ", ", ""),
    "ORDER BY of a large expression": (script, "SELECT " + " + ".join(["a"] * 400) + " AS x FROM t ORDER BY ", "x + {}", ", ", ""),
    "VALUES": (script, "VALUES ", "({}, 'v{}')", ", ", ""),
    "VALUES of other widths": (script, "VALUES (1, 2), ", "({})", ", ", ""),
    "VALUES of one row": (script, "VALUES (", "{}", ", ", ")"),
    "INSERT VALUES": (script, "CREATE TABLE x (a INT, b STRING); INSERT INTO x VALUES ", "({}, 'v{}')", ", ", ""),
    "INSERT into columns": (script, "INSERT INTO t (", "u{}", ", ", ") SELECT 1"),
    "UNION ALL": (script, "", "SELECT a FROM t", " UNION ALL ", ""),
    "UNION of other widths": (script, "SELECT a, b FROM t UNION ", "SELECT a FROM t", " UNION ", ""),
    "joins": (script, "SELECT 1 FROM t", "JOIN t AS t{} ON t.a = t{}.a", " ", ""),
    "natural joins": (script, "SELECT 1 FROM t ", "NATURAL JOIN t AS t{}", " ", ""),
    "joins USING": (script, "SELECT 1 FROM t ", "JOIN t AS t{} USING (a)", " ", ""),
    "USING": (script, "SELECT 1 FROM t JOIN t AS u USING (", "a", ", ", ")"),
    "tables with commas": (script, "SELECT 1 FROM ", "t AS t{}", ", ", ""),
    "tables of one alias": (script, "SELECT 1 FROM ", "t", ", ", ""),
    "subqueries": (script, "SELECT 1 FROM t WHERE ", "a IN (SELECT a FROM t)", " OR ", ""),
    "subqueries that exist": (script, "SELECT 1 FROM t WHERE ", "EXISTS (SELECT 1 FROM t AS u WHERE u.a = t.a)", " AND ", ""),
    "nested queries": (script, "", "SELECT * FROM (", "", "t"),
    "common tables": (script, "WITH ", "c{} AS (SELECT a FROM t)", ", ", " SELECT 1"),
    "common tables of one name": (script, "WITH ", "c AS (SELECT a FROM t)", ", ", " SELECT 1"),
    "windows": (script, "SELECT SUM(a) OVER w0 FROM t WINDOW ", "w{} AS (PARTITION BY a ORDER BY b)", ", ", ""),
    "OVER": (script, "SELECT ", "SUM(a) OVER (PARTITION BY b ORDER BY ts)", ", ", " FROM t"),
    "hints": (script, "SELECT 1 FROM t /*+ OPTIONS(", "'k{}' = 'v'", ", ", ") */"),
    "conditions": (script, "SELECT 1 FROM t WHERE ", "a = {}", " AND ", ""),
    "LATERAL": (script, "SELECT 1 FROM t ", "CROSS JOIN UNNEST(ARRAY[a]) AS u{} (x)", " ", ""),
    "STATEMENT SET": (script, "EXECUTE STATEMENT SET BEGIN ", "INSERT INTO t SELECT * FROM t;", " ", " END"),
    "UPDATE": (script, "UPDATE t SET ", "a = {}", ", ", ""),
    "MATCH_RECOGNIZE": (script, "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES ", "A.a AS m{}", ", ", " PATTERN (A) DEFINE A AS a > 1)"),
    "path": (script, "SELECT 1 FROM ", "a", ".", ""),
    "LIKE": (script, "CREATE TABLE x (", "c{} INT", ", ", "); CREATE TABLE y LIKE x"),
    "CREATE TABLE AS": (script, "CREATE TABLE x WITH ('connector' = 'filesystem') AS SELECT ", "a AS c{}", ", ", " FROM t"),
    "query on Spark": (on_spark, "SELECT ", "a + {} AS x{}", ", ", " FROM t"),
    "wide aggregate on Spark": (on_spark, "SELECT ", "SUM(a + {})", ", ", " FROM t GROUP BY b"),
    "conditions on Spark": (on_spark, "SELECT 1 FROM t WHERE ", "a = {}", " AND ", ""),
    "UNION ALL on Spark": (on_spark, "", "SELECT a FROM t", " UNION ALL ", ""),
    "joins on Spark": (on_spark, "SELECT 1 FROM t", " JOIN t AS t{} ON t.a = t{}.a", " ", ""),
}  # fmt: skip
for _name, _row in SCRIPTS.items():
    SHAPES[f"script: {_name}"] = of_text(*_row)

_CTE = "WITH c0 AS (SELECT a, s FROM t)"
_BOTH = "SELECT x.a, y.s FROM c{-} AS x JOIN c{-} AS y ON x.a = y.a"
for _how, _work in (("script", script), ("to Spark", on_spark)):
    SHAPES[f"{_how}: common tables that double columns"] = doubling(
        _work, _CTE, ", c{} AS (SELECT *, * FROM c{-})", " SELECT * FROM c{-}"
    )
    SHAPES[f"{_how}: common tables that read two"] = doubling(
        _work, _CTE, f", c{{}} AS ({_BOTH})", " SELECT * FROM c{-}"
    )
    SHAPES[f"{_how}: common tables that sum two"] = doubling(
        _work, _CTE, ", c{} AS (SELECT a + a AS a FROM c{-})", " SELECT * FROM c{-}"
    )
    SHAPES[f"{_how}: common tables of rows"] = doubling(
        _work, _CTE, ", c{} AS (SELECT ROW(a, a) AS a FROM c{-})", " SELECT * FROM c{-}"
    )


def viewed(text: str) -> object:
    """A script of views, the last of which is read, as Spark's SQL."""
    result = environment(Compiler())
    statements = parse_statements(text)
    for statement in statements:
        result.execute_statement(statement, text)
    return result.execute_sql(f"SELECT * FROM v{len(statements) - 1}")


for _how, _work in (("script", script), ("to Spark", viewed)):
    _VIEW = "CREATE VIEW v0 AS SELECT a, s FROM t"
    SHAPES[f"{_how}: views that double columns"] = doubling(
        _work, _VIEW, ";\nCREATE VIEW v{} AS SELECT * FROM v{-} AS x CROSS JOIN v{-} AS y"
    )
    SHAPES[f"{_how}: views that read two"] = doubling(
        _work, _VIEW, ";\nCREATE VIEW v{} AS " + _BOTH.replace("c{-}", "v{-}")
    )
    SHAPES[f"{_how}: views that unite two"] = doubling(
        _work, _VIEW, ";\nCREATE VIEW v{} AS SELECT a FROM v{-} UNION ALL SELECT a FROM v{-}"
    )
    SHAPES[f"{_how}: views of rows"] = doubling(
        _work, _VIEW, ";\nCREATE VIEW v{} AS SELECT ROW(a, a) AS a FROM v{-}"
    )
SHAPES["script: views each of the one before"] = doubling(
    script, "CREATE VIEW v0 AS SELECT a FROM t", ";\nCREATE VIEW v{} AS SELECT a FROM v{-}"
)

# --- schemas, tables, files ----------------------------------------------------------------------


def resolver(pattern: str, of: Callable[[object, int], object], size: int) -> Work:
    """A schema built in Python, resolved."""

    def work() -> object:
        builder: object = Schema.new_builder()
        for number in range(size // len(pattern)):
            of(builder, number)
        return SchemaResolver().resolve(builder.build())  # type: ignore[attr-defined]

    return work


SHAPES["schema: columns"] = partial(
    resolver,
    "c0000 INT, ",
    lambda b, i: b.column(f"c{i}", "INT"),  # type: ignore[attr-defined]
)
SHAPES["schema: columns of unknown types"] = partial(
    resolver,
    "c0000 INTT, ",
    lambda b, i: b.column(f"c{i}", f"INT{i}"),  # type: ignore[attr-defined]
)
SHAPES["schema: columns of one name"] = partial(
    resolver,
    "c INT, ",
    lambda b, i: b.column("c", "INT"),  # type: ignore[attr-defined]
)
SHAPES["schema: computed columns of unknown ones"] = partial(
    resolver,
    "c0000 AS u0000 + 1, ",
    lambda b, i: b.column_by_expression(f"c{i}", f"u{i} + 1"),  # type: ignore[attr-defined]
)


def table(work: Callable[[object, int], object], size: int) -> Work:
    return lambda: work(environment().from_path("t"), size // 10)


def chained(step: Callable[[object, int], object], found: object, count: int) -> object:
    for number in range(count // 10):
        found = step(found, number)
    return found.get_resolved_schema()  # type: ignore[attr-defined]


SHAPES["table: select"] = partial(
    table,
    lambda t, n: t.select(*(col("a").alias(f"x{i}") for i in range(n))).get_resolved_schema(),  # type: ignore[attr-defined]
)
SHAPES["table: add columns one by one"] = partial(
    table,
    partial(chained, lambda t, i: t.add_columns((col("a") + i).alias(f"x{i}"))),  # type: ignore[attr-defined]
)
SHAPES["table: filters"] = partial(
    table,
    partial(chained, lambda t, i: t.filter(col("a") > i)),  # type: ignore[attr-defined]
)
SHAPES["table: doubled by join"] = partial(
    table,
    partial(chained, lambda t, i: t.union_all(t)),  # type: ignore[attr-defined]
)


def completed(text: str) -> object:
    return environment().complete_statement(text, len(text))


for _name, _parts in {
    "wide list": ("SELECT ", "a", ", ", ", "),
    "script": ("", "SELECT a FROM t", ";\n", "; SELECT "),
    "sources": ("SELECT a FROM ", "t AS t{}", ", ", " WHERE "),
    "sum": ("SELECT ", "a", " + ", " + "),
    "mistakes": ("SELECT ", "a a a", " ", " "),
    "path": ("SELECT * FROM ", "a", ".", "."),
    "open name": ("SELECT `", "a", "", ""),
}.items():
    SHAPES[f"completion: {_name}"] = of_text(completed, *_parts)
for _name, _parts in {
    "lines": ("", "k{}: v", "\n"),
    "blanks": ("", " ", "", "x"),
    "blanks after a key": ("k:", " ", "", "\tx: #"),
    "blanks within a key": ("k", " ", "", "k"),
    "blanks within a value": ("k: v", " ", "", ": "),
    "one line": ("k: ", "v", ""),
    "quotes": ("k: '", "''", "", ""),
    "escapes": ('k: "', "\\\\", "", ""),
    "colons": ("k: ", "a:b", ""),
    "hashes": ("k: ", "a #", ""),
    "points after a minus": ("k: \"'", "-.:", "", "'\""),
    "key twice": ("", "k: v", "\n"),
}.items():
    SHAPES[f"yaml: {_name}"] = of_text(read_yaml, *_parts)
for _name, _parts in {
    "secrets": ("", "'password' = 'x'", ", "),
    "blanks": ("password", " ", "", ""),
    "words": ("", "password", ""),
    "words with points": ("", "password.", ""),
    "urls": ("", "https://", ""),
    "users of urls": ("https://", "a:", ""),
    "SET": ("", "SET ", ""),
    "SET with a long key": ("SET ", "token", "", ""),
    "quotes": ("password", "'", ""),
}.items():
    SHAPES[f"masking: {_name}"] = of_text(mask_text, *_parts)
for _name, _parts in {
    "path": ("", "a", "."),
    "backticks": ("", "`", ""),
    "open name": ("`", "a", ""),
}.items():
    SHAPES[f"path: {_name}"] = of_text(parse_path, *_parts)


def _entries(type_name: str, number: int) -> dict[str, str]:
    return {
        f"schema.{number}.name": f"c{number}",
        f"schema.{number}.data-type": type_name,
    }


def property_map(columns: Callable[[int], dict[str, str]], size: int) -> Work:
    entries: dict[str, str] = {}
    for number in range(size // 50):
        entries.update(columns(number))
    return lambda: decode_table(entries)


SHAPES["property map: columns"] = partial(property_map, partial(_entries, "INT"))
SHAPES["property map: unknown types"] = partial(property_map, partial(_entries, "INTT"))
SHAPES["property map: gaps"] = partial(property_map, lambda i: _entries("INT", 2 * i))
SHAPES["property map: unknown keys"] = partial(property_map, lambda i: {f"schema.{i}.oops": "x"})
for _name, _parts in {
    "columns": ("CREATE TABLE t (", "c{} INT", ", ", ")"),
    "unknown types": ("CREATE TABLE t (", "c{} INTT", ", ", ")"),
    "unknown columns": ("CREATE TABLE t (a INT, PRIMARY KEY (", "u{}", ", ", "))"),
    "mistakes": ("CREATE TABLE t (", "a a a", ", ", ")"),
}.items():
    SHAPES[f"dump: {_name}"] = of_text(partial(from_ddl, dialect="postgres"), *_parts)

for _name, (_dialect, *_clauses) in {
    "tables": ("postgres", "", "CREATE TABLE s{}.t (a int)", ";", ""),
    "comments": ("postgres", "CREATE TABLE s.t (a int);", "COMMENT ON TABLE r{}.t IS 'x'", ";", ""),
    "changes": (
        "postgres",
        "CREATE TABLE t (a int);",
        "ALTER TABLE t ADD c{} int, DROP c{}",
        ";",
        "",
    ),
    "added columns": (
        "postgres",
        "CREATE TABLE t (a int);\n",
        "ALTER TABLE t ADD c{} int",
        ";\n",
        "",
    ),
    "unclosed tables": ("postgres", "", "CREATE TABLE t{} (a int\n", "", ""),
    "unclosed tables of T-SQL": ("tsql", "", "CREATE TABLE t{} (a int\n", "", ""),
    "unclosed literals": ("postgres", "", "CREATE TABLE t{} (a int DEFAULT 'x)\n", "", ""),
    "dropped tables": (
        "postgres",
        "CREATE TABLE k (a int);",
        "CREATE TABLE t{} (a int); DROP TABLE t{}",
        ";",
        "",
    ),
    "dropped schemas": (
        "postgres",
        "CREATE TABLE r.t (a int);",
        "CREATE TABLE s{}.t (a int); DROP SCHEMA s",
        ";",
        "",
    ),
    "databases": (
        "mysql",
        "CREATE TABLE t (a int);",
        "USE d{}; ALTER TABLE t ADD KEY (a)",
        ";",
        "",
    ),
    "version comments": ("mysql", "CREATE TABLE t (a int);", "/*!50001 SET a = {} */", ";", ""),
    "open comments": ("mysql", "CREATE TABLE t (a int);", "/*!50001 ", "", ""),
    "sections": ("mysql", "CREATE TABLE t (a int);\n", "DELIMITER ;;\nx ;;\nDELIMITER ;\n", "", ""),
    "data": (
        "postgres",
        "CREATE TABLE t (a int);\nCOPY t FROM stdin;\n",
        "{}\tit's",
        "\n",
        "\n\\.\n",
    ),
    "COPY": ("postgres", "CREATE TABLE t (a int);\n", "COPY t FROM stdin;\n\\.\n", "", ""),
    "grants": ("postgres", "CREATE TABLE t (a int);", "GRANT SELECT ON t TO r{}", ";", ""),
    "secrets": (
        "postgres",
        "CREATE TABLE t (a int);",
        "CREATE SERVER s{} OPTIONS (password 'x')",
        ";",
        "",
    ),
    "queries": ("postgres", "CREATE TABLE t (a int);SELECT ", "{} INTO", ",", ""),
    "partitions": ("spark", "CREATE TABLE t (a int) PARTITIONED BY (", "a", ", ", ")"),
    "tables of Flink": ("flink", "", "CREATE TABLE s{}.t (a INT)", ";", ""),
    "mistakes of Flink": ("flink", "", "CREATE TABLE t (a INT", ";", ""),
    "changes of Flink": ("flink", "CREATE TABLE t (a INT);", "ALTER TABLE t ADD c{} INT", ";", ""),
    "options of Flink": (
        "flink",
        "CREATE TABLE t (a INT);",
        "ALTER TABLE t SET ('k{}' = 'v')",
        ";",
        "",
    ),
    "options of one key": (
        "flink",
        "CREATE TABLE t (a INT);",
        "ALTER TABLE t SET ('k' = 'v{}')",
        ";",
        "",
    ),
    "dropped databases of Flink": (
        "flink",
        "CREATE TABLE r.t (a INT);",
        "CREATE TABLE s{}.t (a INT); DROP DATABASE s",
        ";",
        "",
    ),
}.items():
    SHAPES[f"dump: {_name}"] = of_text(partial(read_tables, dialect=_dialect), *_clauses)
SHAPES["dump: renamed tables"] = doubling(
    partial(read_tables, dialect="mysql"), "CREATE TABLE t0 (a int);", "RENAME TABLE t{-} TO t{};"
)

# --- measuring -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a shape: seconds of processor time, bytes of memory grown, what came out."""

    seconds: float
    memory: int
    outcome: str


def outcome(work: Work) -> str:
    """`ok`, or the code of the error, which is printed in full as well."""
    try:
        work()
    except SchemaCoreError as error:
        shown(error)
        return error.code
    except (AssertionError, RecursionError, MemoryError, ValueError, TypeError) as error:
        return f"!! {type(error).__name__}"
    return "ok"


def measured(prepare: Prepare, size: int, limit: float = LIMIT) -> Run | None:
    """A run in a process of its own; None if it took more than `limit` seconds."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.setitimer(signal.ITIMER_PROF, limit)
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        work = prepare(size)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.process_time()
        result = outcome(work)
        took = time.process_time() - started
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        os.write(writer, pickle.dumps(Run(took, grown, result)))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        content = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(content) if content else None


def runs(prepare: Prepare) -> Iterator[Run | None]:
    """The shortest of a few runs at each size, until one takes too long."""
    for size in SIZES:
        best = measured(prepare, size)
        for _ in range(2 if best and best.seconds < 0.1 else 0):
            best = min(best, measured(prepare, size) or best, key=lambda item: item.seconds)
        yield best
        if best is None:
            return


def growth(found: list[Run | None]) -> float:
    """By how much the time per byte grew between two sizes from 10 KB on, at worst."""
    ratios = [0.0]
    if None in found:
        return float("inf")
    for place in range(1, len(found) - 1):
        one, two = found[place], found[place + 1]
        if one is None or two is None:
            return float("inf")
        if two.outcome not in BOUNDS and two.seconds > 0.05:
            ratios.append(two.seconds / one.seconds / (SIZES[place + 1] / SIZES[place]))
    return max(ratios)


def line(name: str, found: list[Run | None]) -> str:
    cells = [
        f"{item.seconds:8.3f} s {item.memory / 1e6:6.0f} MB" if item else f"> {LIMIT:4} s{'':11}"
        for item in found
    ]
    outcomes = dict.fromkeys(item.outcome for item in found if item)
    empty = " " * 20 * (len(SIZES) - len(found))
    return f"{name:52}{' '.join(cells)}{empty} {growth(found):6.1f} x  {', '.join(outcomes)}"


#: One shape of each kind, for the table in `docs/benchmarks.md`.
CHOSEN = (
    "expression: sum",
    "expression: sum of unknown columns",
    "expression: sum of decimals",
    "expression: CASE",
    "expression: IN",
    "expression: JSON_OBJECT",
    "expression: parentheses",
    "expression: digits",
    "expression: character sets",
    "expression: bad characters apart",
    "expression: open comments",
    "to Spark: remainders",
    "to Spark: string concatenation",
    "to Spark: product of decimals",
    "pickled: sum",
    "fluent: sum",
    "fluent: w = w + w",
    "fluent: w = row(w, w)",
    "type: row",
    "type: row of unknown types",
    "script: wide list of aliases",
    "script: wide list of one alias",
    "script: unknown functions",
    "script: add columns",
    "script: add columns one by one",
    "script: natural joins",
    "script: ORDER BY positions",
    "script: ORDER BY of unknown columns",
    "script: ORDER BY of a large expression",
    "script: aggregates",
    "script: UNION ALL",
    "script: subqueries",
    "script: common tables that double columns",
    "script: views that read two",
    "to Spark: views that double columns",
    "to Spark: views of rows",
    "schema: columns",
    "schema: computed columns of unknown ones",
    "table: select",
    "table: add columns one by one",
    "completion: wide list",
    "completion: mistakes",
    "yaml: blanks within a key",
    "masking: blanks",
    "masking: urls",
    "property map: columns",
    "dump: columns",
    "dump: mistakes",
)


def cell(run: Run | None, limit: float) -> str:
    if run is None:
        return f"> {limit:g} s"
    return "refused" if run.outcome in BOUNDS else f"{run.seconds:.3f} s"


def ratio(found: list[Run | None]) -> str:
    """The worst growth of the time per byte from 10 KB on, as far as the runs were finished."""
    worst = growth(found)
    return "" if worst == float("inf") else f"{worst:.1f}"


def chosen(limit: float, total: float) -> None:
    """Print the table of the chosen shapes, each run once at each size."""
    end = time.monotonic() + total
    print("| shape | 1 KB | 10 KB | 100 KB | 990 KB | time per byte | outcome |")
    print("|---|---:|---:|---:|---:|---:|---|")
    for done, name in enumerate(CHOSEN):
        if time.monotonic() > end:
            print(f"\nThe time is over: {len(CHOSEN) - done} shapes were not run.")
            return
        result: list[Run | None] = []
        for size in SIZES:
            result.append(measured(SHAPES[name], size, limit))
            if result[-1] is None:
                break
        cells = [cell(item, limit) for item in result] + [""] * (len(SIZES) - len(result))
        outcomes = ", ".join(dict.fromkeys(item.outcome for item in result if item))
        print(f"| {name} | {' | '.join(cells)} | {ratio(result)} | {outcomes} |", flush=True)


def arguments() -> Namespace:
    parser = ArgumentParser()
    parser.add_argument("wanted", nargs="*", help="part of a shape's name")
    parser.add_argument("--names", action="store_true", help="print the names of all shapes")
    parser.add_argument("--chosen", action="store_true", help="run the chosen shapes")
    parser.add_argument("--limit", type=float, default=5.0, help="seconds for a run")
    parser.add_argument("--total", type=float, default=600.0, help="seconds for all runs")
    return parser.parse_args()


def start() -> None:
    given = arguments()
    if given.names:
        print("\n".join(SHAPES))
    elif given.chosen:
        chosen(given.limit, given.total)
    else:
        main(given.wanted)


def main(wanted: list[str]) -> None:
    print(f"{'shape':52}{'1 KB':>20} {'10 KB':>19} {'100 KB':>19} {'990 KB':>19}   growth  outcome")
    worse = []
    names = [name for name in SHAPES if not wanted or any(item in name for item in wanted)]
    for name in names:
        result = list(runs(SHAPES[name]))
        print(line(name, result), flush=True)
        if growth(result) > 2:
            worse.append(name)
    print(f"{len(names)} shapes, {len(worse)} of them worse than linear")


if __name__ == "__main__":
    start()
