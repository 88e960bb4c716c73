"""What the calls of a schema are given, looked at as it comes: each check says what was expected.

A wrong argument is told at once, in the line that wrote it; what a right one means is judged when
the schema is resolved.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias, TypeVar

from schema_core.errors import SchemaError
from schema_core.expressions.fluent import Expression
from schema_core.schema.expression import SqlExpression
from schema_core.schema.unresolved_parts import Written, WrittenType
from schema_core.sql.rewrite import walk
from schema_core.sql.syntax import Call
from schema_core.text import is_blank, show
from schema_core.types import DataType, UnresolvedDataType

#: An expression as the builder takes it: SQL text, or what Python or a resolver made.
Given: TypeAlias = str | Expression | Written

T = TypeVar("T")


def wrong(problem: str, hint: str | None = None) -> SchemaError:
    """An argument is of a kind that the call does not take."""
    return SchemaError(problem, code="wrong-argument", hint=hint)


def a_name(name: str, what: str) -> str:
    """A name, which is a text."""
    if not isinstance(name, str):
        raise wrong(f"the name of {what} is {show(name)}, not a text")
    return name


def a_visible_name(name: str, what: str) -> str:
    """A name with a visible character, which Flink asks of constraints."""
    if is_blank(a_name(name, what)):
        raise SchemaError(f"{what} needs a name with a visible character", code="blank-name")
    return name


def a_text(text: str | None, what: str, hint: str | None = None) -> str | None:
    """A text, or None."""
    if text is not None and not isinstance(text, str):
        raise wrong(f"{what} is {show(text)}, not a text", hint)
    return text


def a_flag(flag: bool, what: str) -> bool:
    """True or False."""
    if not isinstance(flag, bool):
        raise wrong(f"{what} is {show(flag)}, not True or False")
    return flag


def a_type(data_type: WrittenType) -> WrittenType:
    """A data type, or the text of one."""
    if not isinstance(data_type, str | DataType | UnresolvedDataType):
        raise SchemaError(
            f"{show(data_type)} is neither a data type nor the text of one",
            code="not-a-type",
            hint="write DataTypes.INT() or 'INT'",
        )
    return data_type


def a_data_type(data_type: DataType, what: str) -> DataType:
    """A data type; where all types are known, texts are not taken."""
    if not isinstance(data_type, DataType):
        raise SchemaError(
            f"the type of {what} is {show(data_type)}, which is no data type",
            code="not-a-type",
            hint="write DataTypes.INT(), or DataTypes.of('INT') for a text",
        )
    return data_type


def an_expression(expression: Given) -> Written:
    """The expression as a schema holds it; one that was built in Python is kept as its SQL."""
    if isinstance(expression, Expression):
        return SqlExpression(
            str(expression), expression.syntax if _has_inline(expression) else None
        )
    if isinstance(expression, str):
        return SqlExpression(expression)
    if not isinstance(expression, Written):
        raise SchemaError(
            f"{show(expression)} is neither an expression nor SQL text",
            code="not-an-expression",
            hint="write 'a + 1' or col('a') + 1",
        )
    return expression


def _has_inline(expression: Expression) -> bool:
    """Whether it calls a function that has no name in SQL."""
    parts = walk(expression.syntax)
    return any(isinstance(part, Call) and part.inline is not None for part in parts)


def an_instance(value: T, kind: type[Any] | tuple[type[Any], ...], what: str) -> T:
    """A value of one of these classes."""
    if not isinstance(value, kind):
        names = " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))
        raise wrong(f"{what} is {show(value)}, not a {names}")
    return value


def several(values: Iterable[T], what: str) -> tuple[T, ...]:
    """The values of a list. Strings and expressions are not lists, though they can be indexed."""
    if isinstance(values, tuple):
        return values
    if isinstance(values, str | bytes | Expression) or not isinstance(values, Iterable):
        raise wrong(f"{what} are {show(values)}, not a list")
    return tuple(values)


def some_names(columns: Iterable[str], what: str) -> tuple[str, ...]:
    """Names of columns.

    >>> some_names((["id", "day"],), "the primary key")
    Traceback (most recent call last):
        ...
    schema_core.errors.SchemaError: a column of the primary key is ['id', 'day'], not a text
      hint: a list of names is spread out: *names
    """
    names: tuple[Any, ...] = several(columns, f"the columns of {what}")
    for name in names:
        if not isinstance(name, str):
            hint = "a list of names is spread out: *names" if isinstance(name, Iterable) else None
            raise wrong(f"a column of {what} is {show(name)}, not a text", hint)
    return names


def column_names(columns: Iterable[str], what: str) -> tuple[str, ...]:
    """The columns of a key or an index as the builder takes them: at least one."""
    names = some_names(columns, what)
    if not names:
        raise SchemaError(f"{what} names no column", code="missing-key-columns")
    return names
