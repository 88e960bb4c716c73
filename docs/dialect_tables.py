"""The tables of docs/dialects.md, printed from the rows of the engines."""

from __future__ import annotations

from schema_core.mappings.dialects.engines import ENGINES, Engine
from schema_core.mappings.dialects.type_rows import TypeRow

#: Whether a row is read, and whether it is written -> the arrow of the row.
ARROWS = {(True, True): "↔", (True, False): "→", (False, True): "←"}


def cell(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def line(row: TypeRow) -> str:
    spellings = [part or "(no type)" for part in row.foreign.split(" | ")]
    bounds = ", ".join(f"{name} ≤ {most:,}" for name, most in row.most.items())
    cells = (", ".join(map(cell, spellings)), ARROWS[row.reads, row.writes], cell(row.flink))
    return f"| {' | '.join(cells)} | {row.loss or ''} | {bounds} |"


def table(engine: Engine) -> str:
    heading = f"| {engine.name} | | Flink | loss | where |\n|---|---|---|---|---|"
    return "\n".join((f"### {engine.name}", "", heading, *map(line, engine.rows)))


def members() -> str:
    """The support of each engine for comments, keys and generated columns."""
    lines = ["| engine | comments | primary key | generated columns |", "|---|---|---|---|"]
    for engine in ENGINES.values():
        comment = "a statement" if engine.comment_statement else cell_or_none(engine.comment)
        key = cell_or_none(engine.key or engine.key_tail)
        generated = cell_or_none(engine.generated)
        lines.append(f"| {engine.name} | {comment} | {key} | {generated} |")
    return "\n".join(lines)


def cell_or_none(text: str | None) -> str:
    return cell(text.strip()) if text else "none"


def tables() -> str:
    """All tables with their headings, as on the page."""
    return "\n" + "\n\n".join((members(), *map(table, ENGINES.values()))) + "\n\n"
