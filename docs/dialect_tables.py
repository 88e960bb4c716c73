"""The tables of docs/dialects.md, printed from the rows of the engines."""

from __future__ import annotations

from itertools import groupby

from schema_core.mappings.dialects.engines import ALIASES, ENGINES, Engine
from schema_core.mappings.dialects.type_rows import TypeRow

#: Whether a row is read, and whether it is written -> the arrow of the row.
ARROWS = {(True, True): "↔", (True, False): "→", (False, True): "←"}


def cell(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def table(engine: Engine) -> str:
    """Return the table of an engine; successive rows that differ only in Flink's type are one."""
    heading = f"| {engine.name} | | Flink | loss | where |\n|---|---|---|---|---|"
    lines = [
        f"| {foreign} | {arrow} | {', '.join(cell(row.flink) for row in rows)} | {rest} |"
        for (foreign, arrow, rest), rows in groupby(engine.rows, columns)
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


def tables() -> str:
    """All tables with their headings, as on the page."""
    return "\n" + "\n\n".join((members(), *map(table, ENGINES.values()))) + "\n\n"
