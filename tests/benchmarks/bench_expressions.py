"""How fast schemas with expressions are resolved beside Flink, and expressions read beside sqlglot.

    python tests/benchmarks/bench_expressions.py [FOLDER OF FLINK'S JVM]

All figures come from one run on one machine, so their ratios hold where the figures do not. FOLDER
is what fuzz/oracle/setup.sh filled (default: .oracle); Flink's figures are taken within its JVM.
What is not installed is left out, by name.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from schema_core.expressions.to_sql import to_sql
from schema_core.expressions.type_checker import ColumnScope, infer
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema
from schema_core.sql.parser import parse_expression
from schema_core.types import parse_type

ROOT = Path(__file__).parent.parent.parent
ROUNDS = 200

#: The types of eighty columns, in turn.
TYPES = (
    "INT", "BIGINT NOT NULL", "DECIMAL(10, 2)", "STRING", "DOUBLE", "DATE", "BOOLEAN",
    "TIMESTAMP(6)", "ARRAY<INT>", "ROW<x INT, y STRING>",
)  # fmt: skip

#: Twenty expressions over them: arithmetic, strings, branches, casts, fields, dates, JSON.
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


def calls(number: int) -> list[dict[str, Any]]:
    """Return the schema as builder calls; the number makes the expressions distinct."""
    types = [TYPES[place % len(TYPES)] for place in range(80)]
    return [
        *({"kind": "physical", "name": f"c{i}", "type": one} for i, one in enumerate(types)),
        {"kind": "physical", "name": "id", "type": "BIGINT NOT NULL"},
        {"kind": "physical", "name": "ts", "type": "TIMESTAMP(3)"},
        *(
            {"kind": "computed", "name": f"e{i}", "expr": f"{one} /* {number} */"}
            for i, one in enumerate(EXPRESSIONS)
        ),
        {"kind": "watermark", "column": "ts", "expr": f"ts - INTERVAL '5' SECOND /* {number} */"},
        {"kind": "primary_key", "columns": ["id"]},
    ]


def schema(number: int) -> Schema:
    found: Schema = built(Schema.new_builder(), number)
    return found


def built(builder: Any, number: int) -> Any:
    """The schema from the builder of the library, or from PyFlink's, which is called alike."""
    for one in calls(number):
        match one:
            case {"kind": "physical", "name": name, "type": type_}:
                builder.column(name, type_)
            case {"kind": "computed", "name": name, "expr": text}:
                builder.column_by_expression(name, text)
            case {"kind": "watermark", "column": name, "expr": text}:
                builder.watermark(name, text)
            case {"kind": "primary_key", "columns": columns}:
                builder.primary_key(*columns)
    return builder.build()


def typical(work: Callable[[int], object], rounds: int = ROUNDS) -> float:
    """The median of many runs, in microseconds."""
    took = []
    for number in range(rounds):
        started = time.perf_counter()
        work(number)
        took.append((time.perf_counter() - started) * 1e6)
    return statistics.median(took)


def line(what: str, microseconds: float, base: float | None = None) -> None:
    ratio = "" if base is None else f"{base / microseconds:10.1f} x as fast"
    print(f"{what:58}{microseconds:12.1f} us{ratio}")


def heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


# --- a schema ------------------------------------------------------------------------------------


def flink(folder: Path) -> float | None:
    """The median time of Flink's warm JVM, the pipe not counted."""
    if not (folder / "classes" / "Timing.class").is_file():
        print(f"Flink: left out (there is no {folder}, see fuzz/oracle/setup.sh)")
        return None
    command = ["sh", str(ROOT / "fuzz" / "oracle" / "ask.sh"), str(folder), "Timing"]
    question = json.dumps({"schema": calls(0), "rounds": 2 * ROUNDS}) + "\n"
    expected = subprocess.run(command, input=question, capture_output=True, text=True, check=True)
    nanos = json.loads(expected.stdout)["nanos"]
    line("Flink's JVM, the first time", nanos[0] / 1e3)
    warm: float = statistics.median(nanos[ROUNDS:]) / 1e3
    line(f"Flink's JVM, warm after {ROUNDS} rounds", warm)
    return warm


def pyflink(base: float | None) -> None:
    """The median time of PyFlink, whose calls go to a JVM of its own."""
    try:
        table: Any = import_module("pyflink.table")
    except ImportError:
        print("PyFlink: left out (it is not installed)")
        return
    environment = table.TableEnvironment.create(table.EnvironmentSettings.in_streaming_mode())
    resolver = environment._j_tenv.getCatalogManager().getSchemaResolver()

    def work(number: int) -> object:
        return built(table.Schema.new_builder(), number)._j_schema.resolve(resolver)

    typical(work, 30)
    line("PyFlink, built and resolved, warm", typical(work, 30), base)


def resolving(folder: Path) -> None:
    heading("80 physical, 20 computed columns, watermark and key resolved")
    base = flink(folder)
    pyflink(base)
    resolver = SchemaResolver()
    fresh = [schema(number) for number in range(1, ROUNDS + 1)]
    again = [schema(0) for _ in range(ROUNDS)]
    line(
        "schema_core, every text for the first time",
        typical(lambda i: resolver.resolve(fresh[i])),
        base,
    )
    line(
        "schema_core, built and resolved for the first time",
        typical(lambda i: resolver.resolve(schema(ROUNDS + 1 + i))),
        base,
    )
    resolver.resolve(schema(0))
    line(
        "schema_core, an equal schema seen before",
        typical(lambda i: resolver.resolve(again[i])),
        base,
    )
    line("schema_core, the same schema again", typical(lambda _: resolver.resolve(again[0])), base)


# --- expressions ---------------------------------------------------------------------------------


def steps() -> None:
    heading("20 expressions")
    scope = ColumnScope({f"c{i}": parse_type(TYPES[i % 10]) for i in range(80)})
    trees = [parse_expression(text) for text in EXPRESSIONS]
    typed = [infer(scope, tree) for tree in trees]
    line("read", typical(lambda _: [parse_expression.__wrapped__(one) for one in EXPRESSIONS]))
    line("read, seen before", typical(lambda _: [parse_expression(one) for one in EXPRESSIONS]))
    line("typed", typical(lambda _: [infer(scope, tree) for tree in trees]))
    line("printed", typical(lambda _: [to_sql(one) for one in typed]))


#: What sqlglot has no words for is left out for both.
SHARED = tuple(one for one in EXPRESSIONS if "RETURNING" not in one)


def sqlglot() -> None:
    heading(f"{len(SHARED)} expressions read")
    ours = typical(lambda _: [parse_expression.__wrapped__(one) for one in SHARED])
    line("schema_core", ours)
    try:
        import sqlglot
    except ImportError:
        print("sqlglot: left out (it is not installed)")
        return
    compiled = not str(sqlglot.parser.__file__).endswith(".py")
    theirs = typical(lambda _: [sqlglot.parse_one(one) for one in SHARED], 50)
    line(f"sqlglot {sqlglot.__version__}, {'compiled' if compiled else 'pure Python'}", theirs)
    print(f"schema_core is {theirs / ours:.1f} times as fast")
    if not compiled:
        print("sqlglot, compiled: left out (sqlglotc is not installed)")


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".oracle")
    resolving(folder)
    steps()
    sqlglot()


if __name__ == "__main__":
    main()
