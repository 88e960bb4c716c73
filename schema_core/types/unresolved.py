"""Unresolved data types: descriptions that are resolved together with their schema (FLIP-164).

A description is not validated before `resolve`. Until then it is printed in brackets, as in Flink.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TypeAlias, final

from schema_core.base.lazy import dataclass
from schema_core.base.text import MAX_DEPTH
from schema_core.errors import UnsupportedError, similar
from schema_core.types.base import DataType
from schema_core.types.nested import RowField, require_type, too_deep
from schema_core.types.type_parser import NAMES, hint_for_foreign
from schema_core.types.user_defined import UnresolvedType

#: Returns a user-defined type of a catalog by its name.
LookUp: TypeAlias = "Callable[[UnresolvedType], DataType]"


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnresolvedDataType:
    """The description of a type, equal only to itself, as in Flink.

    >>> from schema_core.types import DataTypes as T
    >>> array = T.ARRAY(T.unresolved("ROW<a INT>").not_null())
    >>> print(array, array.resolve())
    [ARRAY<[ROW<a INT>]>] ARRAY<ROW<`a` INT> NOT NULL>
    """

    description: str
    build: Callable[[LookUp | None], DataType]
    depth: int = 1

    def __post_init__(self) -> None:
        if self.depth > MAX_DEPTH:
            raise too_deep()

    def resolve(self, types: LookUp | None = None) -> DataType:
        """The type; `types` looks up the user-defined types that it names.

        Raises:
            ParseError: for a string outside the grammar.
            UnsupportedError: with code `type-not-found` for an unknown name.
        """
        return self.build(types)

    def not_null(self) -> UnresolvedDataType:
        return self._then(lambda type_: type_.not_null())

    def nullable(self) -> UnresolvedDataType:
        return self._then(lambda type_: type_.nullable())

    def bridged_to(self, conversion_cls: object) -> UnresolvedDataType:
        del conversion_cls
        return self

    def _then(self, change: Callable[[DataType], DataType]) -> UnresolvedDataType:
        return UnresolvedDataType(
            self.description, lambda types: change(self.build(types)), self.depth + 1
        )

    def as_summary_string(self) -> str:
        return f"[{self.description}]"

    def __str__(self) -> str:
        return self.as_summary_string()

    def __repr__(self) -> str:
        return f"UnresolvedDataType({self.description!r})"


@dataclass(frozen=True, slots=True)
class UnresolvedField:
    """A field of a row with an unresolved type."""

    name: str
    data_type: UnresolvedDataType
    description: str | None = None

    def resolve(self, types: LookUp | None = None) -> RowField:
        return RowField(self.name, self.data_type.resolve(types), self.description)

    def as_summary_string(self) -> str:
        return f"`{self.name}` {self.data_type}"


#: Arguments of the factories of nested types: types and fields, resolved or not.
Part: TypeAlias = "DataType | RowField | UnresolvedDataType | UnresolvedField"


def require_resolved(type_: DataType) -> DataType:
    """Refuse a type that is unresolved, or that no column can have.

    Raises:
        UnsupportedError: with code `type-not-found` for the first unresolved name,
            `invalid-type` for the state of a function or for Python objects.
    """
    for part in require_type(type_, "the type").walk():
        if reason := part.misplaced():
            raise UnsupportedError(reason, code="invalid-type")
        if isinstance(part, UnresolvedType):
            name = ".".join(part.path).upper()
            meant = hint_for_foreign(name) or similar(name, NAMES)
            raise UnsupportedError(
                f"unknown type {part.body()}",
                code="type-not-found",
                hint=meant or "register user-defined types in a catalog first",
            )
    return type_


def look_up(type_: DataType, types: LookUp | None) -> DataType:
    """The type with all names of user-defined types resolved, at any depth."""
    if types is None:
        return type_
    if isinstance(type_, UnresolvedType):
        return types(type_).with_nullability(type_.is_nullable)
    children = type_.children()
    resolved = tuple(look_up(child, types) for child in children)
    return type_ if all(map(operator.is_, resolved, children)) else type_.rebuild(resolved)


def describe_type(description: str, read: Callable[[], DataType]) -> UnresolvedDataType:
    """The unresolved type that `read` parses when it is resolved."""
    return UnresolvedDataType(description, lambda types: require_resolved(look_up(read(), types)))


def compose_type(
    opening: str, parts: Sequence[Part], build: Callable[..., DataType]
) -> UnresolvedDataType:
    """The unresolved type that `build` makes of its parts once they are resolved."""
    depth = 1 + max(map(_depth, parts))
    if depth > MAX_DEPTH:
        raise too_deep()
    return UnresolvedDataType(
        f"{opening}{', '.join(part.as_summary_string() for part in parts)}>",
        lambda types: build(*(resolve_part(part, types) for part in parts)),
        depth,
    )


def _depth(part: Part) -> int:
    """The depth of a type or field, or refuse any other value."""
    match part:
        case RowField() | UnresolvedField():
            return part.data_type.depth
        case UnresolvedDataType():
            return part.depth
        case _:
            return require_type(part, "a part").depth


def resolve_part(part: Part, types: LookUp | None) -> DataType | RowField:
    """The part, resolved."""
    if isinstance(part, UnresolvedDataType | UnresolvedField):
        return part.resolve(types)
    return part


def is_open(parts: Sequence[object]) -> bool:
    """Whether any of the parts is unresolved."""
    return any(isinstance(part, UnresolvedDataType | UnresolvedField) for part in parts)
