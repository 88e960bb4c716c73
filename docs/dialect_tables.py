"""The tables of SQL engines: of docs/dialects.md, and the page of the site with all types."""

from __future__ import annotations

from itertools import groupby

from schema_core.mappings.dialects.engines import ALIASES, ENGINES, Engine
from schema_core.mappings.dialects.type_rows import TypeRow

#: Whether a row is read, and whether it is written -> the arrow of the row.
ARROWS = {(True, True): "↔", (True, False): "→", (False, True): "←"}


def cell(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def table(engine: Engine) -> str:
    """Return the table of an engine; successive rows that differ in one type only are one."""
    heading = f"| {engine.name} | | Flink | loss | where |\n|---|---|---|---|---|"
    by_foreign = [
        (foreign, arrow, ", ".join(cell(row.flink) for row in rows), rest)
        for (foreign, arrow, rest), rows in groupby(engine.rows, columns)
    ]
    lines = [
        f"| {', '.join(row[0] for row in rows)} | {' | '.join(others)} |"
        for others, rows in groupby(by_foreign, lambda row: row[1:])
    ]
    return "\n".join((f"### {engine.name}", "", heading, *lines))


def columns(row: TypeRow) -> tuple[str, str, str]:
    """Return the cells of a row without Flink's type: foreign types, arrow, loss and bounds."""
    names = [part or "(no type)" for part in row.foreign.split(" | ")]
    bounds = ", ".join(f"{name} ≤ {most:,}" for name, most in row.most.items())
    return (
        ", ".join(map(cell, names)),
        ARROWS[row.reads, row.writes],
        f"{row.loss or ''} | {bounds}",
    )


def members() -> str:
    """The names of each engine, and its support for comments, keys and generated columns."""
    lines = [
        "| engine | other names | comments | primary key | generated columns |",
        "|---|---|---|---|---|",
    ]
    for engine in ENGINES.values():
        comment = "a statement" if engine.comment_statement else cell_or_none(engine.comment)
        key = cell_or_none(engine.key or engine.key_tail)
        generated = cell_or_none(engine.generated)
        others = ", ".join(alias for alias, name in ALIASES.items() if name == engine.name)
        lines.append(f"| {engine.name} | {others} | {comment} | {key} | {generated} |")
    return "\n".join(lines)


def cell_or_none(text: str | None) -> str:
    return cell(text.strip()) if text else "none"


def types() -> str:
    """Return the page with the types of all engines."""
    introduction = (
        "`↔` is read and written, `→` only read, `←` only written. `{p}` is the same number on "
        "both sides, `whole` the number of digits before the decimal point, `-{z}` a negative "
        "scale; `{any}` is anything. The first matching row applies. "
        "[CREATE TABLE of other engines](../dialects.md) converts by these rows."
    )
    return "\n\n".join(("# Types of other engines", introduction, *map(table, ENGINES.values())))
