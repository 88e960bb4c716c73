"""What all expressions written in Python have in common: the syntax tree that they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from schema_core.errors import SchemaError
from schema_core.expressions.values import literal
from schema_core.sql.syntax import Call
from schema_core.sql.tokens import cursor_over
from schema_core.sql.type_name import cast_target
from schema_core.text import show
from schema_core.types import DataType

if TYPE_CHECKING:
    from typing import Self

    from schema_core.sql.syntax import Expression as Tree
    from schema_core.sql.syntax import TypeName

#: What stands for a value: an expression, or a Python value for a literal.
Value: TypeAlias = Any


class Written:
    """A value as it is written."""

    __slots__ = ("syntax",)

    def __init__(self, tree: Tree) -> None:
        self.syntax = tree

    def _made(self, tree: Tree) -> Self:
        """What another tree stands for."""
        return type(self)(tree)

    def _called(self, name: str, *arguments: Value) -> Self:
        """A call of what the function tables call so."""
        return self._made(Call(name, tuple(map(written, arguments))))


def written(value: Value) -> Tree:
    """The syntax tree of an expression, or of a literal for a Python value."""
    return value.syntax if isinstance(value, Written) else literal(value)


def target(data_type: DataType) -> TypeName:
    """A type behind AS in a cast, where only its parts may be NOT NULL.

    Raises:
        SchemaError: with code `wrong-argument` for what is no type.
    """
    if not isinstance(data_type, DataType):
        raise SchemaError(
            f"a type is expected, not {show(data_type)}",
            code="wrong-argument",
            hint="write DataTypes.INT(), or DataTypes.of with the text of a type",
        )
    return cast_target(cursor_over(data_type.nullable().as_serializable_string()))


def a_text(value: object, what: str) -> str:
    """A text that is one.

    Raises:
        SchemaError: with code `wrong-argument`.
    """
    if not isinstance(value, str):
        raise SchemaError(f"{what} is a text, not {show(value)}", code="wrong-argument")
    return value
