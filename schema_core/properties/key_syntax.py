"""The keys of Flink's property map: row numbers, joined names, reserved keys.

A `PropertyReader` records the requested keys, so that every key is accounted for: it was read, is
an option, or is reported as ignored.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from itertools import count
from typing import Any, TypeAlias, TypeVar

from schema_core.base.arguments import require_instance
from schema_core.base.caching import cached
from schema_core.base.lazy import regex
from schema_core.errors import Diagnostic, SchemaError
from schema_core.schema.unresolved import UnresolvedPhysicalColumn

Properties: TypeAlias = dict[str, str]
Member = TypeVar("Member", bound=Enum)

#: Prefixes and names of keys that are not options. Flink 2.2 removed the dot after ``schema``.
RESERVED_PREFIXES = (
    "schema",
    "partition.keys.",
    "distribution.",
    "input-schema.",
    "output-schema.",
)
#: Marks a table of another system; Flink removes it from the maps of tables and views.
IS_GENERIC = "is_generic"
RESERVED_KEYS = frozenset({
    "comment", "snapshot",
    "original-query", "expanded-query", "freshness-interval", "freshness-unit",
    "logical-refresh-mode", "refresh-mode", "refresh-status",
    "refresh-handler-desc", "refresh-handler-bytes",
})  # fmt: skip

#: The maximum value of a Java int.
MAX_INT = 2**31 - 1

_NUMBER = regex(r"[+-]?\d+")
#: A key of a column, and one of columns that are not physical.
_COLUMN = regex(r"\nschema\.[0-9]")
_OTHER_PART = regex(r"\nschema\.(0|[1-9][0-9]?[0-9]?)\.(?:expr|metadata|virtual)(?![^\n])")

#: The keys of the first columns, as strings that are built and hashed once.
COLUMN_KEYS = tuple(
    (f"schema.{row}.name", f"schema.{row}.data-type", f"schema.{row}.comment") for row in range(256)
)
#: The keys that are requested for a physical and for a computed column.
PHYSICAL_COLUMN_KEYS = ("name", "data-type", "expr", "metadata", "comment")
COMPUTED_COLUMN_KEYS = ("name", "data-type", "expr", "comment")


def column_keys(prefix: str) -> Iterator[tuple[str, str, str]]:
    """Yield the keys of the name, type and comment of each column under a prefix.

    >>> next(column_keys("input-schema"))
    ('input-schema.0.name', 'input-schema.0.data-type', 'input-schema.0.comment')
    """
    common = COLUMN_KEYS if prefix == "schema" else ()
    yield from common
    for row in count(len(common)):
        yield f"{prefix}.{row}.name", f"{prefix}.{row}.data-type", f"{prefix}.{row}.comment"


def is_reserved(key: str) -> bool:
    """Whether a key is part of the format, so that it cannot be an option.

    >>> is_reserved("schema.registry"), is_reserved("value.schema")
    (True, False)
    """
    return key in RESERVED_KEYS or key.startswith(RESERVED_PREFIXES)


def merge(first: Properties, *others: Mapping[str, str]) -> Properties:
    """Merge maps into the first one, which saves a copy of wide maps."""
    for other in others:
        first.update(other)
    return first


def flatten(prefix: str, rows: Iterable[Mapping[str, str]]) -> Properties:
    """Encode rows as keys numbered from 0.

    >>> flatten("partition.keys", [{"name": "a"}, {"name": "b"}])
    {'partition.keys.0.name': 'a', 'partition.keys.1.name': 'b'}
    """
    return {
        f"{prefix}.{number}.{key}": value
        for number, row in enumerate(rows)
        for key, value in row.items()
    }


def join_names(names: Iterable[str]) -> str:
    """Join names with commas, without quoting."""
    return ",".join(names)


def split_names(text: str) -> list[str]:
    """Split names at commas as Java's ``split`` does, without trailing empty strings.

    >>> split_names("a, b,,"), split_names("")
    (['a', ' b'], [''])
    """
    names = text.split(",")
    while len(names) > 1 and not names[-1]:
        names.pop()
    return [] if names == [""] and text else names


def malformed_key(key: str, problem: str, code: str = "malformed-property") -> SchemaError:
    """The error for a malformed key."""
    return SchemaError(problem, code=code, path=(key,))


def require_strings(properties: Mapping[Any, Any]) -> None:
    """Require that all keys and values are strings.

    Raises:
        SchemaError: with code `malformed-property`, or `invalid-argument` for anything but a
            mapping.
    """
    if not isinstance(properties, dict):
        require_instance(properties, Mapping, "properties")
    try:
        "".join(properties)
        "".join(properties.values())
    except TypeError:
        for key, value in properties.items():
            if not isinstance(key, str) or not isinstance(value, str):
                problem = f"keys and values must be strings, got {key!r:.60}: {value!r:.60}"
                raise malformed_key(str(key), problem) from None


@lru_cache(maxsize=256)
def _numbers(start: str, end: str) -> re.Pattern[str]:
    """A pattern for keys with a number between `start` and `end`, one key per line."""
    return re.compile(rf"\n{re.escape(start)}([0-9]+){re.escape(end)}")


def _count(keys: Iterable[str], start: str, end: str) -> int:
    """One more than the highest number between `start` and `end`, as a Java int."""
    pattern = _numbers(start, end)
    highest = -1
    for key in keys:
        if found := pattern.match(f"\n{key}"):
            digits = found[1].lstrip("0")
            if len(digits) > 10 or int(digits or "0") > MAX_INT:
                raise malformed_key(key, f"the number in {key!r} is too large")
            highest = max(highest, int(digits or "0"))
    return 0 if highest == MAX_INT else highest + 1


def column_length(name: str, type_: str, comment: str | None = None) -> int:
    """The weight of a physical column in a cache."""
    return len(name) + len(type_) + len(comment or "") + 32


@cached(column_length, budget=600_000)
def physical_column(name: str, type_: str, comment: str | None) -> UnresolvedPhysicalColumn:
    """A physical column; cached, since the tables of a catalog repeat columns."""
    return UnresolvedPhysicalColumn(name, type_, comment)


def _shared_column(name: Any, type_: Any, comment: Any) -> UnresolvedPhysicalColumn:
    """A physical column whose name and type are interned, so that look-ups compare less."""
    if not (
        isinstance(name, str)
        and isinstance(type_, str)
        and (comment is None or isinstance(comment, str))
    ):
        raise TypeError("expected strings")
    if type(name) is str and type(type_) is str:
        return physical_column(sys.intern(name), sys.intern(type_), comment)
    return physical_column(name, type_, comment)


def _split_columns(
    properties: Mapping[str, str],
) -> tuple[list[UnresolvedPhysicalColumn], Properties]:
    """The first columns, up to one without a name or a type, and the rest of the map."""
    others = dict(properties)
    take, cached_column = others.pop, physical_column.entries.recent.get
    columns: list[UnresolvedPhysicalColumn] = []
    for name_key, type_key, comment_key in COLUMN_KEYS:
        if (name := take(name_key, None)) is None:
            break
        if (type_ := take(type_key, None)) is None:
            others[name_key] = name
            break
        parts = (name, type_, take(comment_key, None))
        columns.append(cached_column(parts) or _shared_column(*parts))
    return columns, others


class PropertyReader:
    """A property map, or the part under a prefix, that records the requested keys.

    Most keys are those of the first columns; only the others are searched.
    """

    __slots__ = (
        "_columns", "_first_columns", "_lines", "_others", "_prefix", "_properties", "_read",
        "_rows",
    )  # fmt: skip

    _read: set[str]
    _columns: list[tuple[int, Collection[int]]]
    _rows: list[tuple[str, tuple[str, ...]]]

    def __init__(
        self, properties: Mapping[str, str], prefix: str = "", parent: PropertyReader | None = None
    ) -> None:
        self._properties = properties
        self._prefix = prefix
        if parent is None:
            if not isinstance(properties, dict):
                require_instance(properties, Mapping, "properties")
            try:  # those of cached columns are strings
                self._first_columns, others = _split_columns(properties)
                "".join(others.values())
                lines = "\n".join(("", *others))
            except TypeError:
                require_strings(properties)
                raise
            self._others = list(others)
            # the other keys, each after a line break, for a single search; None if a key contains
            # one
            self._lines = lines if lines.count("\n") == len(self._others) else None
            self._read, self._rows, self._columns = set(), [], []
        else:
            self._lines, self._others = parent._lines, parent._others  # noqa: SLF001 - its own
            self._first_columns = parent._first_columns  # noqa: SLF001
            self._read, self._rows = parent._read, parent._rows  # noqa: SLF001
            self._columns = parent._columns  # noqa: SLF001

    @property
    def properties(self) -> Mapping[str, str]:
        """The complete property map."""
        return self._properties

    @property
    def requested(self) -> frozenset[str]:
        """The requested keys, whether they exist or not."""
        rows = {row + key for row, keys in self._rows for key in keys}
        columns = {
            f"schema.{row}.{key}"
            for count, others in self._columns
            for row in range(count)
            if row not in others
            for key in PHYSICAL_COLUMN_KEYS
        }
        return frozenset(self._read | rows | columns)

    @property
    def first_columns(self) -> Sequence[UnresolvedPhysicalColumn]:
        """The columns before the first one without a name or a type, all as physical ones."""
        return self._first_columns

    @property
    def other_keys(self) -> Sequence[str]:
        """All keys but names, types and comments of `first_columns`."""
        return self._others

    @property
    def other_columns(self) -> Collection[int] | None:
        """The rows of columns that are not physical; None before `mark_columns`."""
        return self._columns[0][1] if self._columns else None

    def mark_read(self, rows: Iterable[str], keys: tuple[str, ...]) -> None:
        """Record that keys of rows were requested; faster than `get` for each."""
        self._rows += [(row, keys) for row in rows]

    def mark_columns(self, count: int, others: Collection[int]) -> None:
        """Record that the first `count` columns were requested; `others` are not physical."""
        self._columns.append((count, others))

    def under(self, prefix: str) -> PropertyReader:
        """The part whose keys start with the prefix and a dot."""
        return PropertyReader(self._properties, f"{self._prefix}{prefix}.", self)

    def has_other(self, start: str) -> bool:
        """Whether one of `other_keys` starts with a string, or a key contains a line break."""
        return self._lines is None or f"\n{self._prefix}{start}" in self._lines

    def non_physical_columns(self) -> Collection[int] | None:
        """The rows of `first_columns` that are computed or metadata columns.

        None if a key contains a line break, or if columns have further keys.
        """
        if self._lines is None:
            return None
        if not (keys := _COLUMN.findall(self._lines)):
            return ()
        rows = [int(row) for row in _OTHER_PART.findall(self._lines)]
        is_complete = len(rows) == len(keys) and max(rows) < len(self._first_columns)
        return set(rows) if is_complete else None

    def get(self, key: str) -> str | None:
        self._read.add(self._prefix + key)
        return self._properties.get(self._prefix + key)

    def require(self, key: str) -> str:
        """The value of a key.

        Raises:
            SchemaError: with code `malformed-property`.
        """
        value = self.get(key)
        if value is None:
            name = self._prefix + key
            raise malformed_key(name, f"the key {name!r} is missing from the property map")
        return value

    def integer(self, key: str, bits: int) -> int | None:
        """The value of a key as an integer of so many bits; None without it.

        Raises:
            SchemaError: with code `malformed-property` for any other string.
        """
        value = self.get(key)
        if value is None:
            return None
        number = int(value) if _NUMBER.fullmatch(value) and len(value) < 100 else None
        if number is None or not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
            raise self._invalid(key, value, f"a {bits}-bit integer")
        return number

    def member(self, key: str, kinds: type[Member]) -> Member:
        """The member of an enumeration that a key names; case matters.

        Raises:
            SchemaError: with code `malformed-property`.
        """
        value = self.require(key)
        if value not in kinds.__members__:
            raise self._invalid(key, value, f"one of {', '.join(kinds.__members__)}")
        return kinds[value]

    def _invalid(self, key: str, value: str, wanted: str) -> SchemaError:
        name = self._prefix + key
        return malformed_key(name, f"the key {name!r} must be {wanted}, got {value!r}")

    def rows(self, prefix: str, field: str) -> Iterator[PropertyReader]:
        """The numbered rows from 0 to the highest number that has `field`.

        Callers must require `field` of every row: otherwise the iteration would continue up to any
        number in a key.
        """
        total = self.count(prefix, field)
        return (self.under(f"{prefix}.{number}") for number in range(total))

    def count(self, prefix: str, field: str) -> int:
        """One more than the highest number that has `field`.

        As in Flink, anything may follow `field`, and the highest integer overflows. Any other
        number is refused.
        """
        start, end = f"{self._prefix}{prefix}.", f".{field}"
        if self._lines is None:
            return _count(self._properties, start, end)
        highest = len(self._first_columns) - 1 if (start, field) == ("schema.", "name") else -1
        if f"\n{start}" not in self._lines:
            return highest + 1
        try:
            highest = max(highest, *map(int, _numbers(start, end).findall(self._lines)), -1)
        except ValueError:  # more digits than Python parses
            highest = MAX_INT
        return highest + 1 if highest < MAX_INT else _count(self._properties, start, end)

    def options(self) -> Properties:
        """All keys that are not reserved."""
        return {
            key: self._properties[key]
            for key in self._others
            if not (key.startswith(RESERVED_PREFIXES) or key in RESERVED_KEYS)
        }

    def ignored(self) -> tuple[Diagnostic, ...]:
        """A diagnostic for each reserved key that was not requested: reading drops it."""
        requested = self.requested
        return tuple(
            Diagnostic("ignored-key", "this key has no meaning and is dropped", path=(key,))
            for key in self._properties
            if is_reserved(key) and key not in requested
        )
