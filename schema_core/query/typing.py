"""Expressions of a query typed: values, conditions, whole numbers of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from schema_core.errors import SchemaError
from schema_core.expressions.signatures import Kind
from schema_core.expressions.type_checker import infer, scalar
from schema_core.expressions.typed import FunctionCall, Keyword, Select, Typed, walk
from schema_core.query.aggregates import refuse_aggregates
from schema_core.query.scope import SelectScope
from schema_core.sql.rewrite import Change, rewrite, rewrite_window
from schema_core.sql.syntax import Expression, Literal, LiteralKind, Name, Window
from schema_core.types import DataType, TypeRoot

Merged = Mapping[str, Expression]


def value(scope: SelectScope, expression: Expression) -> Typed:
    """An expression that gives a column.

    Raises:
        SchemaError: with code `untyped-null` for a bare NULL, or whatever typing refuses.
    """
    typed = infer(scope, expression)
    if isinstance(typed, Select):
        typed = scalar(typed)
    for part in (typed, *_aggregated(typed)):
        if part.type.root in (TypeRoot.NULL, TypeRoot.SYMBOL):
            raise SchemaError(
                "NULL alone has no type",
                code="untyped-null",
                hint="write CAST(NULL AS ...)",
                span=part.span,
            )
    return typed


def _aggregated(typed: Typed) -> Iterator[Typed]:
    """The values that aggregates read."""
    for part in walk(typed):
        if isinstance(part, FunctionCall) and part.function.kind is Kind.AGGREGATE:
            yield from (one for one in part.arguments if not isinstance(one, Keyword))


def condition(scope: SelectScope, expression: Expression, clause: str) -> Typed:
    """An expression that chooses rows.

    Raises:
        SchemaError: with code `not-a-condition` unless it is a BOOLEAN or NULL.
    """
    typed = infer(scope, expression)
    if typed.type.root not in (TypeRoot.BOOLEAN, TypeRoot.NULL):
        raise SchemaError(
            f"{clause} takes a condition, got {typed.type.as_summary_string()}",
            code="not-a-condition",
            span=expression.span,
        )
    return typed


def row_condition(scope: SelectScope, expression: Expression, clause: str) -> Typed:
    """A condition on single rows: WHERE, ON.

    Raises:
        SchemaError: as `condition` and `refuse_aggregates`.
    """
    refuse_aggregates(scope, expression, clause)
    return condition(scope, expression, clause)


def unmerged(expression: Expression, merged: Merged) -> Expression:
    """The expression with the columns that USING merged spelled out."""
    return rewrite(expression, _from_merged(merged)) if merged else expression


def unmerged_window(window: Window, merged: Merged) -> Window:
    """The window with the columns that USING merged spelled out."""
    return rewrite_window(window, _from_merged(merged)) if merged else window


def _from_merged(merged: Merged) -> Change:
    def change(node: Expression) -> Expression | None:
        return (
            merged.get(node.parts[0]) if isinstance(node, Name) and len(node.parts) == 1 else None
        )

    return change


def count(expression: Expression | None) -> int | None:
    """The number behind OFFSET or FETCH."""
    match expression:
        case None:
            return None
        case Literal(kind=LiteralKind.EXACT, text=text):
            return int(text.split(".")[0] or "0")
        case _:
            raise SchemaError(
                "expected a number of rows", code="invalid-row-count", span=expression.span
            )


def nullable(type_: DataType) -> DataType:
    """The type with NULL among its values; it stays a time attribute if it is one."""
    return type_.with_nullability(True)
