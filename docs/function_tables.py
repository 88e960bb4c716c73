"""Generate the page of the site with all functions from the function signatures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

from schema_core.expressions.functions import FAMILIES
from schema_core.expressions.signatures import describe_nullability, describe_result
from schema_core.expressions.typed import Function, FunctionKind, Rules
from schema_core.spark.compiler.functions.rules import RULES

#: Typing rules of a function -> how they treat its arguments.
ARGUMENTS: dict[Rules, str] = {Rules.SQL: "", Rules.TABLE_API: "cast"}


def code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def result(row: Function) -> str:
    """Return the description of a function's return type; a plain type is formatted as code."""
    description = describe_result(row)
    return description if " " in description else code(description)


def remarks(row: Function) -> Iterator[str]:
    """Return the remarks on a function: aliases, kind, rewrite, determinism."""
    if row.aliases:
        yield "alias " + ", ".join(map(code, row.aliases))
    if row.kind not in (FunctionKind.SCALAR, FunctionKind.AGGREGATE):
        yield f"{row.kind.value} function"
    if row.rewrite:
        yield "rewritten before it is typed, and printed so"
    if not row.deterministic:
        yield "not deterministic"


def speeds() -> Mapping[str, int]:
    """Return the rows that a function computes in a second of processor time, the least of its."""
    path = Path(__file__).with_name("function_speed.json")
    results: dict[str, int] = {}
    for load in json.loads(path.read_text(encoding="utf-8")).values():
        name, speed = load["function"], load["rows_per_second"]
        results[name] = min(speed, results.get(name, speed))
    return results


SPEEDS = speeds()


def speed(row: Function) -> str:
    """Return the measured speed of a function, in millions of rows per second."""
    return f"{SPEEDS[row.name] / 1e6:.2g}" if row.name in SPEEDS else ""


def line(row: Function) -> str:
    signatures = "<br>".join(code(row.format(overload)) for overload in row.overloads)
    rule = describe_nullability(row).removesuffix(" is nullable")
    translation = RULES[row.name]
    spark = translation.kind.value
    if translation.reason:
        spark += f": {translation.reason}"
    cells = [signatures, result(row), rule, ARGUMENTS[row.rules], spark, speed(row)]
    cells.append("; ".join(remarks(row)))
    return f"| {' | '.join(cells)} |"


def family(module: ModuleType, rows: tuple[Function, ...]) -> list[str]:
    name = module.__name__.rpartition(".")[2]
    sentence = (module.__doc__ or "").split("\n\n")[0].replace("\n", " ").strip()
    heading = "| signature | returns | nullable | arguments | on Spark | million rows/s | remarks |"
    ordered = sorted(rows, key=lambda row: (not row.name[0].isalpha(), row.name))
    return [f"### {name}", "", sentence, "", heading, "|---" * 7 + "|", *map(line, ordered), ""]


def tables() -> str:
    """Return one table per family of functions, with one line per row."""
    return "\n".join(text for item in FAMILIES for text in family(item, item.FUNCTIONS))


def page() -> str:
    """Return the page with the tables of all families."""
    introduction = "[Functions](../functions.md#columns-of-the-tables) explains the columns."
    return f"# All functions\n\n{introduction}\n\n{tables()}"
