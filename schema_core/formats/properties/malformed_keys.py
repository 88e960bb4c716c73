"""Keys and values of a map that nobody writes so: numbers, gaps, unknown keys, odd spellings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from schema_core.errors import Diagnostic, SchemaCoreError, similar
from schema_core.formats.properties import sidecar as carry
from schema_core.formats.properties.keys import (
    IS_GENERIC,
    RESERVED_KEYS,
    Properties,
    Reader,
    is_reserved,
    join_names,
    split_names,
)
from schema_core.formats.properties.materialized import decode_handler, encode_handler

#: Numbered rows of a map: prefix, and the field that every row has.
ROWS: tuple[tuple[str, str], ...] = (
    ("schema",           "name"),
    ("schema.watermark", "rowtime"),
    ("schema.index",     "name"),
    ("partition.keys",   "name"),
    ("distribution.keys", "name"),
    ("input-schema",     "name"),
    ("output-schema",    "name"),
)  # fmt: skip

#: What a schema stands under.
_ANY = r"(?:(?:in|out)put-)?schema\."

#: So many missing rows are named one by one.
MOST_NAMED = 8


# --- rows and their numbers ----------------------------------------------------------------------


def numbers_of(properties: Mapping[str, str], prefix: str) -> set[str]:
    """The numbers of the rows under a prefix, as they are written."""
    pattern = re.compile(rf"{re.escape(prefix)}\.([0-9]+)\.")
    return {row[1] for key in properties if (row := pattern.match(key))}


def number_damage(properties: Properties) -> Iterator[Diagnostic]:
    """Numbers that are written oddly, of which two can mean the same row."""
    for prefix, _ in ROWS:
        numbers = numbers_of(properties, prefix)
        for number in sorted(numbers):
            plain = number.lstrip("0") or "0"
            twice = plain != number and plain in numbers
            if plain != number or len(number) > 10:
                means = f"row {plain} as well" if twice else "no row"
                code = "duplicate-key" if twice else "invalid-key-number"
                place = f"{prefix}.{number}"
                yield Diagnostic(code, f"the number {number[:20]} means {means}", path=(place,))


def row_damage(properties: Properties) -> Iterator[Diagnostic]:
    """Rows that are missing, up to the highest that is there, or that have no name."""
    for prefix, field in ROWS:
        numbers = {int(one) for one in numbers_of(properties, prefix) if len(one) <= 10}
        missing = list(islice(gaps(numbers), MOST_NAMED))
        for number in missing:
            yield _missing(f"{prefix}.{number}.{field}")
        highest = max(numbers, default=-1)
        if (rest := highest + 1 - len(numbers) - len(missing)) > 0:
            problem = f"{rest:,} more rows are missing before this one"
            yield Diagnostic("missing-key", problem, path=(f"{prefix}.{highest}.{field}",))
        for number in sorted(numbers):
            if f"{prefix}.{number}.{field}" not in properties:
                yield _missing(f"{prefix}.{number}.{field}")
    yield from missing_types(properties)


def gaps(numbers: set[int]) -> Iterator[int]:
    """The numbers from 0 on that are missing below the highest.

    >>> list(gaps({1, 4}))
    [0, 2, 3]
    """
    expected = 0
    for number in sorted(numbers):
        yield from range(expected, number)
        expected = number + 1


def missing_types(properties: Properties) -> Iterator[Diagnostic]:
    """Expressions without the type beside them, which is written and never read."""
    for key in properties:
        if re.fullmatch(_ANY + r"(?:\d+|watermark\.\d+\.strategy)\.expr", key):
            row = key.removesuffix("expr")
            if row + "data-type" not in properties and row + "type" not in properties:
                yield _missing(row + "data-type")


def _missing(key: str) -> Diagnostic:
    return Diagnostic("missing-key", f"the key {key!r} is missing", path=(key,))


# --- keys and values -----------------------------------------------------------------------------


def unknown_keys(reader: Reader, properties: Properties, *, broken: bool) -> Iterator[Diagnostic]:
    """Keys that belong to the map and that nobody asked for.

    Of a broken map, the keys that stand alone have perhaps not been asked for yet.
    """
    for one in reader.ignored():
        (key,) = one.path
        if key in properties and not (broken and key in RESERVED_KEYS):
            row = key.rpartition(".")[0]
            known = sorted(name for name in reader.asked if name.rpartition(".")[0] == row)
            hint = similar(key, known)
            yield Diagnostic("unknown-key", "a key without meaning here", path=(key,), hint=hint)


#: What our own keys hold, and the key of Flink that says the same.
TWICE = {
    carry.PRIMARY_KEY: "schema.primary-key.name",
    carry.IMMUTABLE: "schema.immutable.name",
    carry.INDEXES: "schema.index.0.name",
    carry.COMMENT: "comment",
    carry.HANDLER: "refresh-handler-bytes",
}


def carried_twice(properties: Properties) -> Iterator[Diagnostic]:
    """What Flink's keys tell besides our own: of options, only what differs."""
    for part, key in TWICE.items():
        if key in properties and carry.own_key(part) in properties:
            problem = f"the key {carry.own_key(part)!r} says another thing"
            yield Diagnostic("duplicate-key", problem, path=(key,))
    text = properties.get(carry.own_key(carry.OPTIONS))
    if text is None:
        return
    try:
        carried = carry.read_texts(carry.own_key(carry.OPTIONS), text)
    except SchemaCoreError:
        return  # told where it is read
    for key, value in carried.items():
        if carry.stays(key) and properties.get(key) != value:
            problem = f"the option is {value[:60]!r} where it is carried: here it was changed"
            yield Diagnostic("duplicate-key", problem, path=(key,))


def _number(text: str) -> str:
    return str(int(text)) if re.fullmatch(r"[+-]?\d{1,30}", text) else text


def _flag(text: str) -> str:
    return "true" if text.lower() == "true" else "false"


def _names(text: str) -> str:
    return join_names(split_names(text))


def _handler(text: str) -> str:
    return encode_handler(decode_handler(text)) or ""


def _json(text: str) -> str:
    return carry.printed(carry.read_json("", text))


#: Pattern of keys -> the only value that is written for what a value means.
WRITTEN: tuple[tuple[str, Callable[[str], str]], ...] = (
    (_ANY + r"\d+\.virtual",                                    _flag),
    (r"schema\.(?:primary-key|immutable|index\.\d+)\.columns",  _names),
    (r"distribution\.buckets|snapshot|freshness-interval",       _number),
    (r"refresh-handler-bytes",                                   _handler),
    (_ANY + re.escape(carry.VERSION) + r"\.(?:primary-key|immutable|indexes|watermarks|"
     r"metadata-keys|options)",                                  _json),
    (_ANY + re.escape(carry.VERSION) + r"\.(?:comment|refresh-handler)", lambda _: ""),
)  # fmt: skip


def odd_values(properties: Properties) -> Iterator[Diagnostic]:
    """Values that are read as something, but that are not what Flink writes for it."""
    for key, value in properties.items():
        if not is_reserved(key):
            continue
        for pattern, written in WRITTEN:
            if re.fullmatch(pattern, key):
                yield from _odd_value(key, value, written)


def odd_mark(stored: Mapping[str, str]) -> Iterator[Diagnostic]:
    """The mark of Flink's tables in a metastore, written in another way than Flink does."""
    if IS_GENERIC in stored:
        yield from _odd_value(IS_GENERIC, stored[IS_GENERIC], _flag)


def _odd_value(key: str, value: str, written: Callable[[str], str]) -> Iterator[Diagnostic]:
    try:
        expected = written(value)
    except SchemaCoreError:
        return  # told where it is read
    if expected != value:
        problem = f"{value[:60]!r} is read as {expected[:60]!r}, which is how Flink writes it"
        yield Diagnostic("noncanonical-value", problem, path=(key,))
