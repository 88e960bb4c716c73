"""Types that a script declares: CREATE TYPE and CREATE DOMAIN, and what columns of them become."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from schema_core.errors import UnsupportedError
from schema_core.formats.dialects.steps import identifier, path, shown, step, until
from schema_core.formats.dialects.type_reading import foreign_type
from schema_core.formats.dialects.types import Foreign, ForeignPart
from schema_core.text import quote_string

if TYPE_CHECKING:
    from schema_core.formats.dialects.engines import Engine
    from schema_core.text import Cursor

#: How many types a declared type may be made of in all: types of types can double at each step.
MAX_PARTS = 300


@dataclass(frozen=True, slots=True)
class UserType:
    """The definition of a declared type; `beside` are the parts that a schema cannot hold."""

    type: Foreign
    beside: tuple[str, ...] = ()


class UserTypes:
    """The types that a script has declared so far."""

    def __init__(self) -> None:
        self._types: dict[tuple[str, ...], UserType] = {}
        self._by_last: dict[str, tuple[str, ...]] = {}

    def add(self, name: tuple[str, ...], type_: UserType) -> None:
        key = tuple(part.lower() for part in name)
        self._types[key] = type_
        self._by_last[key[-1]] = key

    def find(self, text: str) -> UserType | None:
        """The declared type of this name; either side may leave the schema out."""
        name = tuple(text.split("."))
        return self._types.get(name) or self._types.get(self._by_last.get(name[-1], ()))

    def spelled_out(self, foreign: Foreign) -> UserType:
        """The type with declared types replaced by what they stand for.

        Raises:
            UnsupportedError: with code `type-not-in-flink` for one made of more than `MAX_PARTS`
                types.
        """
        if not self._types:
            return UserType(foreign)
        beside: list[str] = []
        found = self._spelled_out(foreign, beside)
        if _count(found) > MAX_PARTS:
            raise UnsupportedError(
                f"a type is made of more than {MAX_PARTS} types", code="type-not-in-flink"
            )
        return UserType(found, tuple(beside))

    def _spelled_out(self, foreign: Foreign, beside: list[str]) -> Foreign:
        if not foreign.parts:
            declared = self.find(foreign.text)
            if declared is None:
                return foreign
            beside += declared.beside
            refuses_null = False in (foreign.nullable, declared.type.nullable)
            return replace(declared.type, nullable=False if refuses_null else foreign.nullable)
        parts = (replace(part, type=self._spelled_out(part.type, beside)) for part in foreign.parts)
        return replace(foreign, parts=tuple(parts))


def _count(foreign: Foreign) -> int:
    """How many types a type is made of; no more are counted than it takes to refuse it."""
    waiting, count = [foreign], 0
    while waiting and count <= MAX_PARTS:
        one = waiting.pop()
        count += 1
        waiting += [part.type for part in one.parts]
    return count


# --- grammar -------------------------------------------------------------------------------------


def create_type(cursor: Cursor, engine: Engine, types: UserTypes) -> bool:
    """``CREATE TYPE name AS ...`` after its first two words; whether its form is known."""
    name = path(cursor, engine)
    if not cursor.accept("AS"):
        return False
    if cursor.accept("ENUM", "("):
        types.add(name, UserType(_enumeration(cursor)))
        return True
    if cursor.accept("("):
        types.add(name, types.spelled_out(_fields(cursor, engine)))
        return True
    if engine.name != "duckdb":
        return False
    types.add(name, types.spelled_out(foreign_type(cursor, engine, lambda: None)))
    return True


def create_domain(cursor: Cursor, engine: Engine, types: UserTypes) -> bool:
    """``CREATE DOMAIN name [AS] type ...`` after its first two words."""
    name = path(cursor, engine)
    cursor.accept("AS")
    found = types.spelled_out(foreign_type(cursor, engine, lambda: None))
    start, nullable = cursor.token.start, found.type.nullable
    while cursor.key != ";" and cursor.token.kind != "end":
        if cursor.accept("NOT", "NULL"):
            nullable = False
        else:
            step(cursor)
    rest = shown(cursor, start)
    beside = (*found.beside, rest) if rest and rest.upper() != "NOT NULL" else found.beside
    types.add(name, UserType(replace(found.type, nullable=nullable), beside))
    return True


def _enumeration(cursor: Cursor) -> Foreign:
    """The values up to the closing parenthesis."""
    values = []
    is_open = not cursor.accept(")")
    while is_open:
        if cursor.token.kind != "string":
            raise cursor.fail(f"expected a string, found {cursor.token.shown}")
        values.append(quote_string(cursor.advance().value))
        is_open = cursor.accept(",")
        if not is_open:
            cursor.expect(")")
    return Foreign(f"enum({', '.join(values)})")


def _fields(cursor: Cursor, engine: Engine) -> Foreign:
    """The fields of a composite type up to the closing parenthesis."""
    parts = []
    is_open = not cursor.accept(")")
    while is_open:
        name = identifier(cursor, engine)
        parts.append(
            ForeignPart(foreign_type(cursor, engine, lambda: cursor.key == "COLLATE"), name)
        )
        until(cursor, (",",))
        is_open = cursor.accept(",")
        if not is_open:
            cursor.expect(")")
    return Foreign("row", tuple(parts))
