"""Columns of the descriptors of before Flink 1.11, said with today's keys.

A descriptor could rename a field (``from``), and make a time attribute of one (``proctime``,
``rowtime``). Today these are computed columns, metadata columns and watermarks (FLIP-66, FLIP-95,
FLIP-107), for which the source's field becomes a column of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from schema_core.errors import Diagnostic
from schema_core.formats.properties.keys import Properties
from schema_core.text import quote_identifier

#: The sub-keys of a column under ``schema.<i>.``.
Row: TypeAlias = Properties

ROWTIME = "rowtime."
TIMESTAMP = "TIMESTAMP(3)"

#: Beginning of the type of a source's field -> the expression that makes it an event time; of any
#: other field nothing is known, and it is taken for a timestamp.
EVENT_TIMES: tuple[tuple[str, str], ...] = (
    ("BIGINT",      "TO_TIMESTAMP_LTZ({0}, 3)"),
    ("VARCHAR",     "TO_TIMESTAMP({0})"),
    ("STRING",      "TO_TIMESTAMP({0})"),
    ("TIMESTAMP(3", "{0}"),
    ("TIMESTAMP",   "CAST({0} AS TIMESTAMP(3))"),
)  # fmt: skip


class TimeColumns:
    """Turns the rows of a descriptor into rows of today, and gathers watermarks and remarks."""

    def __init__(self, rows: Mapping[int, Row]) -> None:
        self.rows = rows
        self.plain = {
            row["name"]: row.get("data-type", "")
            for row in rows.values()
            if "name" in row and self.source_of(row) in (None, row["name"])
        }
        self.added: set[str] = set()
        self.watermarks: list[tuple[str, str]] = []
        self.notes: list[Diagnostic] = []

    def source_of(self, row: Row) -> str | None:
        """The field of the source that a column takes its values from, if another is named."""
        if "proctime" in row:
            return ""
        return row.get("from", row.get("rowtime.timestamps.from"))

    def converted(self) -> list[Row]:
        """The rows of today, in order."""
        return [new for number, row in self.rows.items() for new in self.convert(number, row)]

    def convert(self, number: int, row: Row) -> Iterator[Row]:
        """The row of today of a column, behind that of a field of the source, if it needs one."""
        key = f"schema.{number}"
        if row.get("proctime") == "true":
            yield {"name": row["name"], "expr": "PROCTIME()"}
        elif any(one.startswith(ROWTIME) for one in row):
            self.watermark(key, row)
            yield from TIMESTAMPS.get(row.get("rowtime.timestamps.type", ""), TimeColumns.custom)(
                self, key, row
            )
        elif row.get("from", row["name"]) != row["name"]:
            type_ = row.get("data-type", "")
            yield from self.taken(key, row, row["from"], type_, "{0}")
        else:
            yield {name: value for name, value in row.items() if name not in ("from", "proctime")}

    # --- where a time comes from -----------------------------------------------------------------

    def field(self, key: str, row: Row) -> Iterator[Row]:
        """A field of the source is the event time."""
        source = row.get("rowtime.timestamps.from", row["name"])
        if source == row["name"]:
            yield {"name": source, "data-type": TIMESTAMP}
            return
        type_ = self.plain.get(source)
        if type_ is None:
            problem = f"the type of the source's field {source!r} is not known: {TIMESTAMP} assumed"
            self.notes.append(Diagnostic("field-type-unknown", problem, path=(key,)))
            type_ = TIMESTAMP
        expression = next((text for begin, text in EVENT_TIMES if type_.startswith(begin)), "{0}")
        yield from self.taken(key, row, source, type_, expression)

    def record(self, key: str, row: Row) -> Iterator[Row]:
        """The source's records bring their time along."""
        problem = "the connector's key for the time of a record is not known: 'timestamp' assumed"
        self.notes.append(Diagnostic("metadata-key-unknown", problem, path=(key,)))
        column = {"name": row["name"], "data-type": TIMESTAMP}
        yield {**column, "metadata": "timestamp", "virtual": "true"}

    def custom(self, key: str, row: Row) -> Iterator[Row]:
        """A class of the user took the time out of a record."""
        name = row.get("rowtime.timestamps.class", "a class of its own")
        problem = f"{name} found the event time, and cannot be said today: a stored column assumed"
        self.notes.append(Diagnostic("timestamps-unknown", problem, path=(key,)))
        yield {"name": row["name"], "data-type": TIMESTAMP}

    def taken(self, key: str, row: Row, source: str, type_: str, expression: str) -> Iterator[Row]:
        """A column computed of a field of the source, which becomes a column before it."""
        name = row["name"]
        taken = any(one.get("name") == source for one in self.rows.values())
        if taken and source not in self.plain:
            problem = (
                f"the source's field {source!r} is hidden by a column of another one: not told"
            )
            self.notes.append(Diagnostic("renamed-field", problem, path=(key,)))
            yield {"name": name, "data-type": type_}
            return
        if not taken and source not in self.added:
            self.added.add(source)
            problem = f"the source's field {source!r} is a column now, and {name!r} computed of it"
            self.notes.append(Diagnostic("renamed-field", problem, path=(key,)))
            yield {"name": source, "data-type": type_}
        yield {"name": name, "expr": expression.format(quote_identifier(source))}

    # --- watermarks ------------------------------------------------------------------------------

    def watermark(self, key: str, row: Row) -> None:
        """Remember the watermark over a column; of a class of the user nothing is known."""
        strategy = row.get("rowtime.watermarks.type", "")
        column = quote_identifier(row["name"])
        if strategy == "from-source":
            self.watermarks.append((row["name"], "SOURCE_WATERMARK()"))
        elif strategy == "periodic-ascending":
            self.watermarks.append((row["name"], f"{column} - {interval(1)}"))
        elif strategy == "periodic-bounded" and (delay := delay_of(row)) is not None:
            late = f"{column} - {interval(delay)}" if delay else column
            self.watermarks.append((row["name"], late))
        else:
            name = row.get("rowtime.watermarks.class", strategy or "nothing")
            problem = f"the watermark was {name}, and cannot be said today: there is none"
            self.notes.append(Diagnostic("watermark-unknown", problem, path=(key,)))


#: ``rowtime.timestamps.type`` -> how the column is said today.
TIMESTAMPS: dict[str, Callable[[TimeColumns, str, Row], Iterator[Row]]] = {
    "from-field":  TimeColumns.field,
    "from-source": TimeColumns.record,
    "custom":      TimeColumns.custom,
}  # fmt: skip


def delay_of(row: Row) -> int | None:
    """By how many milliseconds a watermark lags, if an interval can say it."""
    text = row.get("rowtime.watermarks.delay", "")
    return int(text) if re.fullmatch(r"[0-9]{1,14}", text) else None


def interval(milliseconds: int) -> str:
    """An interval literal of so many milliseconds.

    >>> interval(1), interval(60_000), interval(90_061_500)
    ("INTERVAL '0.001' SECOND", "INTERVAL '60' SECOND", "INTERVAL '1 01:01:01.500' DAY TO SECOND")
    """
    seconds, rest = divmod(milliseconds, 1_000)
    fraction = f".{rest:03}" if rest else ""
    if seconds < 100:
        return f"INTERVAL '{seconds}{fraction}' SECOND"
    days, seconds = divmod(seconds, 86_400)
    clock = f"{seconds // 3_600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
    precision = f"({len(str(days))})" if days > 99 else ""
    return f"INTERVAL '{days} {clock}' DAY{precision} TO SECOND"
