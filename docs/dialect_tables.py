"""The tables of SQL engines: of docs/dialects.md, and the page of the site with all types."""

from __future__ import annotations

from collections.abc import Iterable
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
    """Return the engines with their other names, and those without keys or generated columns."""

    def names(engines: Iterable[Engine]) -> str:
        return ", ".join(cell(engine.name) for engine in engines)

    others: dict[str, list[str]] = {}
    for alias, name in ALIASES.items():
        others.setdefault(name, []).append(cell(alias))
    listed = ", ".join(
        cell(name) + (f" ({', '.join(others[name])})" if name in others else "") for name in ENGINES
    )
    engines = ENGINES.values()
    keyless = names(engine for engine in engines if not (engine.key or engine.key_tail))
    uncomputed = names(engine for engine in engines if not engine.generated)
    return (
        f"The engines, with other names: {listed}.\n\n"
        f"No primary keys are written for {keyless}, and no generated columns for {uncomputed}.\n"
    )


def types() -> str:
    """Return the page with the types of all engines."""
    introduction = (
        "`↔` is read and written, `→` only read, `←` only written. `{p}` is the same number on "
        "both sides, `whole` the number of digits before the decimal point, `-{z}` a negative "
        "scale; `{any}` is anything. The first matching row applies. "
        "[CREATE TABLE of other engines](../dialects.md) converts by these rows."
    )
    return "\n\n".join(("# Types of other engines", introduction, *map(table, ENGINES.values())))
