"""The keys of Flink's property map: row numbers, joined names, reserved keys.

A map is decoded through a `PropertyReader`, which records the keys that were requested, so that
every key is accounted for: it was read, it is an option, or it is reported as ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

from schema_core.arguments import require_instance
from schema_core.errors import Diagnostic, SchemaError

Properties: TypeAlias = dict[str, str]
Member = TypeVar("Member", bound=Enum)

#: Keys that are no options, by their beginning and in full. Flink 2.2 took the dot off ``schema``.
RESERVED_PREFIXES = (
    "schema",
    "partition.keys.",
    "distribution.",
    "input-schema.",
    "output-schema.",
)
#: An option that marks tables of other systems; Flink takes it out of the map of tables and views.
IS_GENERIC = "is_generic"
RESERVED_KEYS = frozenset({
    "comment", "snapshot",
    "original-query", "expanded-query", "freshness-interval", "freshness-unit",
    "logical-refresh-mode", "refresh-mode", "refresh-status",
    "refresh-handler-desc", "refresh-handler-bytes",
})  # fmt: skip

#: The largest integer of Java.
MAX_INT = 2**31 - 1

_NUMBER = re.compile(r"[+-]?\d+")


def is_reserved(key: str) -> bool:
    """Whether the key belongs to the map itself, so that no option can have it.

    >>> is_reserved("schema.registry"), is_reserved("value.schema")
    (True, False)
    """
    return key in RESERVED_KEYS or key.startswith(RESERVED_PREFIXES)


def merge(first: Properties, *others: Mapping[str, str]) -> Properties:
    """All of them in the first map, which is new: to copy a wide one for each would take longer.

    >>> merge({"a": "1"}, {"b": "2"}, {"a": "3"})
    {'a': '3', 'b': '2'}
    """
    for other in others:
        first.update(other)
    return first


def flatten(prefix: str, rows: Iterable[Mapping[str, str]]) -> Properties:
    """The rows as one map, numbered from 0; `Reader.rows` is the way back.

    >>> flatten("partition.keys", [{"name": "a"}, {"name": "b"}])
    {'partition.keys.0.name': 'a', 'partition.keys.1.name': 'b'}
    """
    return {
        f"{prefix}.{number}.{key}": value
        for number, row in enumerate(rows)
        for key, value in row.items()
    }


def join_names(names: Iterable[str]) -> str:
    """The names with commas between them; there is no quoting."""
    return ",".join(names)


def split_names(text: str) -> list[str]:
    """The names between the commas, as Java's ``split`` sees them: without empty ones at the end.

    >>> split_names("a, b,,"), split_names("")
    (['a', ' b'], [''])
    """
    names = text.split(",")
    while len(names) > 1 and not names[-1]:
        names.pop()
    return [] if names == [""] and text else names


def malformed_key(key: str, problem: str, code: str = "invalid-key-value") -> SchemaError:
    """What is wrong with a key, which is the place of the error."""
    error = SchemaError(problem, code=code)
    error.path = (key,)
    return error


def require_strings(properties: Mapping[Any, Any]) -> None:
    """Refuse keys and values that are no texts, of which no map is made.

    Raises:
        SchemaError: with code `invalid-key-value`, or `wrong-argument` for something that is not a
            mapping.
    """
    require_instance(properties, Mapping, "properties")
    try:
        "".join(properties)
        "".join(properties.values())
    except TypeError:
        for key, value in properties.items():
            if not isinstance(key, str) or not isinstance(value, str):
                problem = f"keys and values are texts, and this is {key!r:.60} with {value!r:.60}"
                raise malformed_key(str(key), problem) from None


@lru_cache(maxsize=256)
def _numbers(start: str, end: str) -> re.Pattern[str]:
    """What finds the numbers between `start` and `end` in keys, one a line."""
    return re.compile(rf"\n{re.escape(start)}([0-9]+){re.escape(end)}")


def _count(keys: Iterable[str], start: str, end: str) -> int:
    """One more than the highest number between `start` and `end`, as Java's integers have it."""
    pattern = _numbers(start, end)
    highest = -1
    for key in keys:
        if found := pattern.match(f"\n{key}"):
            digits = found[1].lstrip("0")
            if len(digits) > 10 or int(digits or "0") > MAX_INT:
                raise malformed_key(key, f"the number in {key!r} is too large")
            highest = max(highest, int(digits or "0"))
    return 0 if highest == MAX_INT else highest + 1


class PropertyReader:
    """A map, or the part of it under a prefix, of which is remembered what was asked for."""

    __slots__ = ("_lines", "_prefix", "_properties", "_read", "_rows")

    _read: set[str]
    _rows: list[tuple[str, tuple[str, ...]]]

    def __init__(
        self, properties: Mapping[str, str], prefix: str = "", whole: PropertyReader | None = None
    ) -> None:
        self._properties = properties
        self._prefix = prefix
        if whole is None:
            lines = "\n".join(("", *properties))
            # each key behind a line break, to look for all at once; nothing where a key has one
            self._lines = lines if lines.count("\n") == len(properties) else ""
            self._read, self._rows = set(), []
        else:
            self._lines = whole._lines  # noqa: SLF001 - its own
            self._read, self._rows = whole._read, whole._rows  # noqa: SLF001

    @property
    def properties(self) -> Mapping[str, str]:
        """The whole map."""
        return self._properties

    @property
    def asked(self) -> frozenset[str]:
        """The keys that were asked for, whether they are there or not."""
        rows = {row + key for row, keys in self._rows for key in keys}
        return frozenset(self._read | rows)

    def took(self, rows: Iterable[str], keys: tuple[str, ...]) -> None:
        """Remember that all these keys of rows were asked for: quicker than `get` for each."""
        self._rows += [(row, keys) for row in rows]

    def under(self, prefix: str) -> PropertyReader:
        """The part whose keys begin with the prefix and a dot."""
        return PropertyReader(self._properties, f"{self._prefix}{prefix}.", self)

    def has(self, start: str) -> bool:
        """Whether a key begins so; of keys with line breaks this is not known, and may be so."""
        return not self._lines or f"\n{self._prefix}{start}" in self._lines

    def get(self, key: str) -> str | None:
        """The value of a key, or None."""
        self._read.add(self._prefix + key)
        return self._properties.get(self._prefix + key)

    def require(self, key: str) -> str:
        """The value of a key.

        Raises:
            SchemaError: with code `missing-key` where it is not there.
        """
        value = self.get(key)
        if value is None:
            name = self._prefix + key
            raise malformed_key(
                name, f"the key {name!r} is missing from the property map", "missing-key"
            )
        return value

    def integer(self, key: str, bits: int) -> int | None:
        """The value of a key as a number of so many bits, or None where it is not there.

        Raises:
            SchemaError: with code `invalid-key-value` for any other text.
        """
        value = self.get(key)
        if value is None:
            return None
        number = int(value) if _NUMBER.fullmatch(value) and len(value) < 100 else None
        if number is None or not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
            raise self._bad(key, value, f"a whole number of {bits} bits")
        return number

    def member(self, key: str, kinds: type[Member]) -> Member:
        """The member of an enumeration that a key names, in exactly this case.

        Raises:
            SchemaError: with code `missing-key` or `invalid-key-value`.
        """
        value = self.require(key)
        if value not in kinds.__members__:
            raise self._bad(key, value, f"one of {', '.join(kinds.__members__)}")
        return kinds[value]

    def _bad(self, key: str, value: str, wanted: str) -> SchemaError:
        name = self._prefix + key
        return malformed_key(name, f"the key {name!r} is {value!r}, not {wanted}")

    def rows(self, prefix: str, field: str) -> Iterator[PropertyReader]:
        """The numbered rows from 0 up to the highest number that has `field`.

        A number that is missing in between still comes, so that requiring `field` of it fails;
        whoever reads the rows must do so, or would count up to whatever number a key holds.

        Raises:
            SchemaError: with code `invalid-key-value` for a number that no Java integer holds.
        """
        for number in range(self.count(prefix, field)):
            yield self.under(f"{prefix}.{number}")

    def count(self, prefix: str, field: str) -> int:
        """How many rows there should be: one more than the highest number that has `field`.

        What stands behind `field` does not matter, and a row after the highest integer starts
        again below zero: both as in Flink.

        Raises:
            SchemaError: with code `invalid-key-value` for a number that no Java integer holds.
        """
        if not self.has(f"{prefix}."):
            return 0
        start, end = f"{self._prefix}{prefix}.", f".{field}"
        found = _numbers(start, end).findall(self._lines)
        try:
            highest = max(map(int, found), default=-1)
        except ValueError:  # more digits than Python reads
            highest = MAX_INT
        plain = self._lines and highest < MAX_INT
        return highest + 1 if plain else _count(self._properties, start, end)

    def options(self) -> Properties:
        """All keys that are not reserved."""
        return {
            key: value
            for key, value in self._properties.items()
            if not (key.startswith(RESERVED_PREFIXES) or key in RESERVED_KEYS)
        }

    def ignored(self) -> tuple[Diagnostic, ...]:
        """The reserved keys that nobody asked for: what is lost when the map is read."""
        asked = self.asked
        return tuple(
            Diagnostic("ignored-key", "a key without meaning here is dropped", path=(key,))
            for key in self._properties
            if is_reserved(key) and key not in asked
        )
