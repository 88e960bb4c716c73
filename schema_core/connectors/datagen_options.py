"""The options of the connector `datagen`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schema_core.environment.options import (
    ConfigOption,
    boolean,
    double,
    integer,
    invalid_value,
    long,
    nanoseconds,
    positive,
)


def _kind(text: str) -> str:
    if text not in ("random", "sequence"):
        raise invalid_value("one of random, sequence", text)
    return text


ROWS_PER_SECOND = ConfigOption(
    "rows-per-second",
    positive,
    10_000,
    "how many rows a streaming job gets each second; a batch job generates them at once",
)
NUMBER_OF_ROWS = ConfigOption(
    "number-of-rows", long, None, "how many rows the table has; without it only sequences end it"
)
PARALLELISM = ConfigOption("scan.parallelism", positive, None, "how many tasks generate rows")
SEED = ConfigOption(
    "seed",
    long,
    None,
    "makes all random values the same in every read (an option of this library, not of Flink)",
)

#: Suffix of a column's option -> its parser, default and description.
FIELD_OPTIONS: dict[str, tuple[Callable[[str], Any], Any, str]] = {
    "kind": (_kind, "random", "the generator of the column: random or sequence"),
    "min": (str, None, "the smallest random number; by default that of the type"),
    "max": (str, None, "the greatest random number; by default that of the type"),
    "max-past": (nanoseconds, 0, "the maximum age of a random timestamp"),
    "length": (integer, None, "the length of a string (default 100) or collection (3)"),
    "var-len": (boolean, False, "whether the length of strings and bytes is random"),
    "start": (long, None, "the first value of a sequence"),
    "end": (long, None, "the last value of a sequence"),
    "null-rate": (double, 0.0, "the proportion of NULL among random values"),
}  # fmt: skip


def field_option(field_: str, suffix: str) -> ConfigOption[Any]:
    """Return an option of a column; `field_` is its name, or # for all."""
    parser, default, description = FIELD_OPTIONS[suffix]
    return ConfigOption(f"fields.{field_}.{suffix}", parser, default, description)
