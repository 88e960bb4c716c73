"""A data type that is described but not looked at yet: FLIP-164 resolves it with its schema.

Nothing is checked before `resolve`: not the grammar of a text, not the names in it. Until then it
shows its description in brackets, as Flink does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from schema_core.errors import UnsupportedError, similar
from schema_core.text import MAX_DEPTH
from schema_core.types.base import DataType
from schema_core.types.nested import RowField, require_type, too_deep
from schema_core.types.syntax import GRAMMAR, foreign
from schema_core.types.user_defined import UnresolvedType

#: Finds a user-defined type by its name, in a catalog.
LookUp: TypeAlias = "Callable[[UnresolvedType], DataType]"


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnresolvedDataType:
    """What a type will be made of. Like Flink's, it equals nothing but itself.

    >>> from schema_core.types import DataTypes as T
    >>> written = T.ARRAY(T.unresolved("ROW<a INT>").not_null())
    >>> print(written, written.resolve())
    [ARRAY<[ROW<a INT>]>] ARRAY<ROW<`a` INT> NOT NULL>
    """

    description: str
    build: Callable[[LookUp | None], DataType]
    depth: int = 1

    def __post_init__(self) -> None:
        if self.depth > MAX_DEPTH:
            raise too_deep()

    def resolve(self, types: LookUp | None = None) -> DataType:
        """The type; `types` finds the user-defined types that it names.

        Raises:
            ParseError: for a text outside the grammar.
            UnsupportedError: with code `unknown-type` for a name that nobody knows.
        """
        return self.build(types)

    def not_null(self) -> UnresolvedDataType:
        """The same, NOT NULL; what it shows stays."""
        return self._then(lambda type_: type_.not_null())

    def nullable(self) -> UnresolvedDataType:
        """The same, nullable; what it shows stays."""
        return self._then(lambda type_: type_.nullable())

    def bridged_to(self, conversion_cls: object) -> UnresolvedDataType:
        """The same: which Java class holds the values is a hint for the JVM alone."""
        del conversion_cls
        return self

    def _then(self, change: Callable[[DataType], DataType]) -> UnresolvedDataType:
        return UnresolvedDataType(
            self.description, lambda types: change(self.build(types)), self.depth + 1
        )

    def as_summary_string(self) -> str:
        """The description in brackets."""
        return f"[{self.description}]"

    def __str__(self) -> str:
        return self.as_summary_string()

    def __repr__(self) -> str:
        return f"UnresolvedDataType({self.description!r})"


@dataclass(frozen=True, slots=True)
class UnresolvedField:
    """A field of a row whose type is not resolved yet."""

    name: str
    data_type: UnresolvedDataType
    description: str | None = None

    def resolve(self, types: LookUp | None = None) -> RowField:
        """The field with its type."""
        return RowField(self.name, self.data_type.resolve(types), self.description)

    def as_summary_string(self) -> str:
        """Name and description of the type."""
        return f"`{self.name}` {self.data_type}"


#: What factories of nested types take: types and fields, resolved or not.
Part: TypeAlias = "DataType | RowField | UnresolvedDataType | UnresolvedField"


def require_resolved(type_: DataType) -> DataType:
    """The type, if a column may be of it: no name in it is left to be looked up.

    Raises:
        UnsupportedError: with code `unknown-type` for the first such name, `type-not-in-schema` for
            a type that stands for the state of a function or for objects of Python.
    """
    for part in require_type(type_, "the type").walk():
        if reason := part.misplaced():
            raise UnsupportedError(reason, code="type-not-in-schema")
        if isinstance(part, UnresolvedType):
            name = ".".join(part.path).upper()
            meant = foreign(name) or similar(name, GRAMMAR)
            raise UnsupportedError(
                f"unknown type {part.body()}",
                code="unknown-type",
                hint=meant or "a name that is no type of SQL must be registered in a catalog",
            )
    return type_


def look_up(type_: DataType, types: LookUp | None) -> DataType:
    """The type with every name of a user-defined type in it, at any depth, looked up."""
    if types is None:
        return type_
    if isinstance(type_, UnresolvedType):
        return types(type_).with_nullability(type_.is_nullable)
    children = type_.children()
    found = tuple(look_up(child, types) for child in children)
    return type_ if all(map(operator.is_, found, children)) else type_.rebuild(found)


def described(description: str, read: Callable[[], DataType]) -> UnresolvedDataType:
    """What `read` will give, its names looked up then."""
    return UnresolvedDataType(description, lambda types: require_resolved(look_up(read(), types)))


def composed(
    opening: str, parts: Sequence[Part], build: Callable[..., DataType]
) -> UnresolvedDataType:
    """A type made of parts of which some are not resolved yet; `build` takes them when they are.

    The description is `opening`, the parts, and an angle bracket.
    """
    depth = 1 + max(map(_depth, parts))
    if depth > MAX_DEPTH:
        raise too_deep()
    return UnresolvedDataType(
        f"{opening}{', '.join(part.as_summary_string() for part in parts)}>",
        lambda types: build(*(resolved(part, types) for part in parts)),
        depth,
    )


def _depth(part: Part) -> int:
    """The levels of a part; a clear refusal of what is neither a type nor a field."""
    match part:
        case RowField() | UnresolvedField():
            return part.data_type.depth
        case UnresolvedDataType():
            return part.depth
        case _:
            return require_type(part, "a part").depth


def resolved(part: Part, types: LookUp | None) -> DataType | RowField:
    """The part as it is, or resolved now."""
    if isinstance(part, UnresolvedDataType | UnresolvedField):
        return part.resolve(types)
    return part


def is_open(parts: Sequence[object]) -> bool:
    """Whether any of the parts is not resolved yet."""
    return any(isinstance(part, UnresolvedDataType | UnresolvedField) for part in parts)
