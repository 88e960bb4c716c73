"""What all expressions written in Python have in common: the syntax tree that they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from schema_core.errors import SchemaError
from schema_core.expressions.values import literal
from schema_core.sql.rewrite import size
from schema_core.sql.syntax import Call
from schema_core.sql.tokens import cursor_over
from schema_core.sql.type_name import cast_target
from schema_core.text import MAX_DEPTH, show
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
        require_small(tree)
        self.syntax = tree

    def _made(self, tree: Tree) -> Self:
        """What another tree stands for."""
        return type(self)(tree)

    def _called(self, name: str, *arguments: Value) -> Self:
        """A call of what the function tables call so."""
        return self._made(Call(name, tuple(map(written, arguments))))


#: Nodes of an expression that is built in Python, shared parts counted each time.
MAX_NODES = 100_000


def require_small(tree: Tree) -> None:
    """Refuse an expression that is larger than any text may spell it.

    Raises:
        SchemaError: with code `too-wide` for more than `MAX_NODES` nodes, with code `too-deep` for
            more than `MAX_DEPTH` levels.
    """
    found = size(tree)
    if found.nodes > MAX_NODES:
        raise SchemaError(
            f"an expression has at most {MAX_NODES:,} nodes",
            code="too-wide",
            hint="compute a part of it in a column of its own",
        )
    if found.levels > MAX_DEPTH:
        raise SchemaError(
            f"nested more than {MAX_DEPTH} levels deep",
            code="too-deep",
            hint="compute a part of it in a column of its own",
        )


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
