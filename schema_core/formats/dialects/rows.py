"""The types of other engines beside Flink's: one row a type, read both ways.

A row pairs two patterns of text. ``{p}`` and its like stand for the same number on both sides,
``{any}`` for anything. The first row that fits decides, in either direction, so exact rows come
before those that only hold the same values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Row:
    """One type of an engine beside one of Flink's.

    `loss` is the word of the `LossKind` for what does not come along.

    `foreign` may hold several spellings, divided by ``|``: the first is written. `most` bounds
    the numbers; ``whole`` is the digits before the point.
    """

    foreign: str
    flink: str
    loss: str | None = None
    reads: bool = True
    writes: bool = True
    most: Mapping[str, int] = field(default_factory=dict)


def both(foreign: str, flink: str, **most: int) -> Row:
    """A row that is exact in both directions."""
    return Row(foreign, flink, most=most)


def read(foreign: str, flink: str, loss: str | None = None, **most: int) -> Row:
    """A row for reading alone."""
    return Row(foreign, flink, loss, writes=False, most=most)


def write(foreign: str, flink: str, loss: str | None = None, **most: int) -> Row:
    """A row for writing alone."""
    return Row(foreign, flink, loss, reads=False, most=most)


def same(*names: str) -> tuple[Row, ...]:
    """Types that the engine calls as Flink does; other spellings behind ``|``."""
    return tuple(both(name.lower(), name.partition(" | ")[0]) for name in names)


def as_text(foreign: str, *names: str) -> tuple[Row, ...]:
    """Types whose values are read as the text that the engine shows for them."""
    return tuple(read(name, foreign, "type") for name in names)


def documents(foreign: str) -> tuple[Row, ...]:
    """Types without a twin but arrays, kept in one type that holds documents."""
    patterns = ("MAP<{any}>", "ROW<{any}>", "VARIANT")
    return tuple(write(foreign, pattern, "layout") for pattern in patterns)


def collections(foreign: str) -> tuple[Row, ...]:
    """Arrays and other types without a twin, kept in one type that holds documents."""
    return (write(foreign, "ARRAY<{any}>", "layout"), *documents(foreign))


def opaque(foreign: str) -> tuple[Row, ...]:
    """Types whose values are bytes to everybody else."""
    return tuple(write(foreign, pattern, "layout") for pattern in ("RAW({any})", "BITMAP"))


def strings(plain: str, loss: str = "length") -> tuple[Row, ...]:
    """Bounded strings in a type without a bound."""
    return tuple(write(plain, pattern, loss) for pattern in ("CHAR({n})", "VARCHAR({n})"))


def byte_strings(plain: str) -> tuple[Row, ...]:
    """Bounded strings of bytes in a type without a bound."""
    return tuple(write(plain, pattern, "length") for pattern in ("BINARY({n})", "VARBINARY({n})"))


def written_text(foreign: str, *patterns: str) -> tuple[Row, ...]:
    """Types that the engine does not have, written as text."""
    return tuple(write(foreign, pattern, "type") for pattern in patterns)


#: The fields of intervals, as engines with all of them have them.
YEAR_MONTH = ("YEAR", "MONTH", "YEAR TO MONTH")
DAY_TIME = (
    "DAY", "DAY TO HOUR", "DAY TO MINUTE", "DAY TO SECOND", "HOUR", "HOUR TO MINUTE",
    "HOUR TO SECOND", "MINUTE", "MINUTE TO SECOND", "SECOND",
)  # fmt: skip


def intervals(*resolutions: str) -> tuple[Row, ...]:
    """Intervals of these fields, without digits: they are as wide as Flink's widest."""
    return tuple(row for one in resolutions for row in _interval(one))


def _interval(resolution: str) -> Iterator[Row]:
    foreign = f"interval {resolution.lower()}"
    first, *last = resolution.split(" TO ")
    widest = {"YEAR": "YEAR(4)", "DAY": "DAY(6)"}.get(first, first)
    yield both(foreign, f"INTERVAL {' TO '.join((widest, *last))}")
    leading = f"{first}({{n}})" if widest != first else first
    text = f"INTERVAL {' TO '.join((leading, *last))}"
    if resolution.endswith("SECOND"):
        yield write(foreign, f"{text}({{p}})", "precision", p=6)
        yield write(foreign, f"{text}({{p}})", "digits")
    elif leading != first:
        yield write(foreign, text, "precision")


def year_month(foreign: str) -> tuple[Row, ...]:
    """All intervals of years and months in one type."""
    patterns = ("INTERVAL YEAR{any}", "INTERVAL MONTH")
    return tuple(write(foreign, pattern, "precision") for pattern in patterns)


def day_time(foreign: str, digits: int = 6) -> tuple[Row, ...]:
    """All intervals of days and times in one type with so many digits of a second."""
    return (
        write(foreign, "INTERVAL {any}SECOND({p})", "precision", p=digits),
        write(foreign, "INTERVAL {any}SECOND({p})", "digits"),
        write(foreign, "INTERVAL {any}", "type"),
    )
