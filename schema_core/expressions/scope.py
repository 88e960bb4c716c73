"""The scope of an expression: columns, functions, windows and subqueries by name."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeAlias

from schema_core.base.caching import cached, cached_by_identity
from schema_core.errors import SchemaError, similar
from schema_core.expressions.typed import Ref
from schema_core.sql.hints import function_hint
from schema_core.sql.syntax import Ordered, Select, SetOperation
from schema_core.types import (
    DataType,
    DayTimeIntervalType,
    DayTimeResolution,
    LegacyType,
    RowField,
    RowType,
    StructuredType,
    TimeType,
    TypeFamily,
    TypeRoot,
    YearMonthIntervalType,
    YearMonthResolution,
)
from schema_core.types.base import node_count
from schema_core.types.families import MEMBERS
from schema_core.types.legacy import legacy_in_sql

if TYPE_CHECKING:
    from schema_core.base.text import Span
    from schema_core.expressions.typed import Function, Rows, Typed
    from schema_core.sql.syntax import Expression, Query, Window
    from schema_core.types.unresolved import LookUp

#: Looks up user-defined functions by their path as written; None if there are none.
Functions: TypeAlias = "Callable[[tuple[str, ...], Span], tuple[Function, ...] | None]"
Subqueries: TypeAlias = "Callable[[Query, Span], Rows]"


#: id() of a call -> the call, which keeps the id valid, and its typed tree.
Inferred: TypeAlias = "Mapping[int, tuple[Expression, Typed]]"
NOTHING_INFERRED: Inferred = MappingProxyType({})


class Scope(Protocol):
    """The names that an expression may use, and properties of its context."""

    @property
    def streaming(self) -> bool:
        """Whether the job is streaming, with time attributes."""

    @property
    def in_query(self) -> bool:
        """Whether the expression is part of a query, not of a schema."""

    @property
    def group_count(self) -> int:
        """The number of grouping expressions; 0 for a global aggregation."""

    @property
    def rows(self) -> Scope:
        """The scope of columns within aggregates, where grouping sets make no key nullable."""

    @property
    def types(self) -> LookUp | None:
        """The lookup of user-defined types in casts."""

    @property
    def inferred(self) -> Inferred:
        """Calls that were already typed in an equivalent scope."""

    def lookup(self, parts: tuple[str, ...], span: Span) -> tuple[Ref, tuple[str, ...]]:
        """The column that a name refers to, and its remaining parts, which are fields.

        Raises:
            SchemaError: with code `unknown-column`.
        """

    def function(self, path: tuple[str, ...], span: Span) -> tuple[Function, ...]:
        """All functions of a name.

        Raises:
            SchemaError: with code `function-not-found`.
        """

    def window(self, name: str, span: Span) -> Window:
        """The named window of a query.

        Raises:
            SchemaError: with code `invalid-window`.
        """

    def subquery(self, query: Query, span: Span) -> Rows:
        """The rows of a subquery."""


#: Roots of types that columns of a query cannot have.
UNSUPPORTED_IN_SQL = frozenset(
    {TypeRoot.TIMESTAMP_WITH_TIME_ZONE, TypeRoot.NULL, TypeRoot.SYMBOL, TypeRoot.UNRESOLVED}
)


#: Roots of types that SQL leaves unchanged.
UNCHANGED_IN_SQL = (
    frozenset(
        {
            *(MEMBERS[TypeFamily.CHARACTER_STRING] | MEMBERS[TypeFamily.BINARY_STRING]),
            *(MEMBERS[TypeFamily.NUMERIC] | MEMBERS[TypeFamily.TIMESTAMP]),
            *(TypeRoot.BOOLEAN, TypeRoot.DATE),
        }
    )
    - UNSUPPORTED_IN_SQL
)


def in_sql(type_: DataType) -> DataType:
    """The type that SQL gives to a column of a type.

    Intervals lose their fields, times are limited to precision 3, rows lose the comments of fields;
    structured types are unchanged.

    Raises:
        SchemaError: with code `type-not-supported`.

    >>> from schema_core.types import parse_type
    >>> print(in_sql(parse_type("ROW<a TIME(9) 'when', b INTERVAL DAY>")))
    ROW<`a` TIME(3), `b` INTERVAL SECOND(3)>
    """
    if type_.root in UNCHANGED_IN_SQL and not isinstance(type_, LegacyType):
        return type_
    return _convert_to_sql(type_)


@cached_by_identity(node_count, budget=20_000, unit="types")
def _convert_to_sql(type_: DataType) -> DataType:
    nullable = type_.is_nullable
    if isinstance(type_, LegacyType) and (modern := legacy_in_sql(type_)) is not None:
        return modern
    if isinstance(type_, LegacyType) or type_.root in UNSUPPORTED_IN_SQL:
        raise _not_in_sql(type_)
    match type_:
        case StructuredType():
            _require_parts_in_sql(type_)
            return type_
        case TimeType(precision=precision):
            return TimeType(min(precision, 3), nullable)
        case YearMonthIntervalType():
            return YearMonthIntervalType(YearMonthResolution.MONTH, nullable=nullable)
        case DayTimeIntervalType():
            return DayTimeIntervalType(
                DayTimeResolution.SECOND, fractional_precision=3, nullable=nullable
            )
        case RowType(fields=fields):
            converted = [RowField(field.name, in_sql(field.data_type)) for field in fields]
            is_same = all(
                field.data_type is new.data_type and field.description is None
                for field, new in zip(fields, converted, strict=True)
            )
            return type_ if is_same else RowType(converted, nullable)
        case _:
            children = type_.children()
            inner = tuple(map(in_sql, children))
            return type_ if all(map(operator.is_, inner, children)) else type_.rebuild(inner)


def _require_parts_in_sql(type_: DataType) -> None:
    """Reject unsupported types within a structured type; its attributes may have type NULL."""
    for part in type_.children():
        is_null = part.root is TypeRoot.NULL and not isinstance(type_, StructuredType)
        if is_null or part.root is TypeRoot.TIMESTAMP_WITH_TIME_ZONE:
            raise _not_in_sql(part)
        _require_parts_in_sql(part)


def _not_in_sql(type_: DataType) -> SchemaError:
    return SchemaError(
        f"SQL does not support columns of type {type_.as_summary_string()}",
        code="type-not-supported",
    )


class ColumnScope:
    """The scope of a schema's expressions: its columns, by exact name.

    Args:
        functions: Looks up user-defined functions, before the built-in ones.
        types: Looks up user-defined types in casts.
        subqueries: Resolves subqueries, which are not supported without it.
    """

    in_query = False
    group_count = 0
    inferred = NOTHING_INFERRED

    def __init__(
        self,
        columns: Mapping[str, DataType],
        *,
        streaming: bool = True,
        functions: Functions | None = None,
        types: LookUp | None = None,
        subqueries: Subqueries | None = None,
    ) -> None:
        self.columns: dict[str, DataType] = {name: in_sql(type_) for name, type_ in columns.items()}
        self.streaming = streaming
        self.functions = functions
        self.types = types
        self.subqueries = subqueries

    @property
    def rows(self) -> ColumnScope:
        return self

    def lookup(self, parts: tuple[str, ...], span: Span) -> tuple[Ref, tuple[str, ...]]:
        name, *rest = parts
        if name not in self.columns:
            raise SchemaError(
                f"there is no column {name!r}",
                code="unknown-column",
                hint=similar(name, self.names()),
                span=span,
            )
        return Ref(name, self.columns[name], span=span), tuple(rest)

    def names(self) -> Iterable[str]:
        """The suggestions for an unknown name."""
        return self.columns

    def function(self, path: tuple[str, ...], span: Span) -> tuple[Function, ...]:
        """The user-defined or built-in functions of a name, in any case."""
        return find_function(path, span, self.functions)

    def window(self, name: str, span: Span) -> Window:
        """Raise `invalid-window`: only queries have windows."""
        raise SchemaError(f"there is no window {name!r}", code="invalid-window", span=span)

    def subquery(self, query: Query, span: Span) -> Rows:
        """The rows of an uncorrelated subquery."""
        if self.subqueries is None or not _selects(query):
            raise SchemaError(
                "subqueries are not supported here", code="feature-not-supported", span=span
            )
        return self.subqueries(query, span)


def _selects(query: Query) -> bool:
    """Whether a query starts with SELECT, which Flink requires outside of queries."""
    match query:
        case SetOperation(left=inner) | Ordered(query=inner):
            return _selects(inner)
        case _:
            return isinstance(query, Select)


_PROPERTY = "call Table.window and group_by, then select it"
#: Calls that a method of the Table API replaces -> what they are, and where they are valid.
TABLE_API: Mapping[str, tuple[str, str]] = {
    "$START": ("the start of a window", _PROPERTY),
    "$END": ("the end of a window", _PROPERTY),
    "$ROWTIME": ("the time of a window", _PROPERTY),
    "$PROCTIME": ("the processing time of a window", _PROPERTY),
    "$FLATTEN": ("flatten", "select it as a column of its own"),
    "$ROWS": ("an interval of rows", "give it to preceding or following of a window of Over"),
}


def find_function(
    path: tuple[str, ...], span: Span, functions: Functions | None = None
) -> tuple[Function, ...]:
    """The functions of a name: the user-defined ones, else the built-in ones.

    Raises:
        SchemaError: with code `function-not-found`.
    """
    from schema_core.expressions.functions import BUILT_IN

    overloads = functions(path, span) if functions else None
    if overloads is None and len(path) == 1:
        overloads = BUILT_IN.get(path[0]) or BUILT_IN.get(path[0].upper())
    if overloads is None:
        name = ".".join(path)
        if name in TABLE_API:
            what, where = TABLE_API[name]
            raise SchemaError(f"{what} is not an expression", code="invalid-argument", hint=where)
        raise SchemaError(
            f"there is no function {name!r}",
            code="function-not-found",
            hint=_hint(name),
            span=span,
        )
    return overloads


@cached()
def _hint(name: str) -> str | None:
    """Cached, as expressions repeat names."""
    from schema_core.expressions.functions import BUILT_IN

    return function_hint(name) or similar(name.upper(), BUILT_IN, likeness=0.78)
