"""What is in scope where an expression stands: columns, functions, queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeAlias

from schema_core.caching import cached
from schema_core.errors import SchemaError, similar
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.typed import Ref
from schema_core.sql.hints import function_hint
from schema_core.sql.query_syntax import Ordered, Select, SetOperation
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
from schema_core.types.families import MEMBERS
from schema_core.types.legacy import legacy_in_sql

if TYPE_CHECKING:
    from schema_core.expressions.signatures import Function
    from schema_core.expressions.typed import Rows, Typed
    from schema_core.sql.query_syntax import Query
    from schema_core.sql.syntax import Expression, Window
    from schema_core.text import Span
    from schema_core.types.unresolved import LookUp

#: A user's functions by path as written: None where it knows no such function.
Functions: TypeAlias = "Callable[[tuple[str, ...], Span], tuple[Function, ...] | None]"
Subqueries: TypeAlias = "Callable[[Query, Span], Rows]"


#: Identity of a call -> the call, which keeps the identity its own, and its typed tree.
Inferred: TypeAlias = "Mapping[int, tuple[Expression, Typed]]"
NOTHING_INFERRED: Inferred = MappingProxyType({})


class Scope(Protocol):
    """Where an expression stands."""

    @property
    def streaming(self) -> bool:
        """Whether rows keep coming, so that there are time attributes."""

    @property
    def in_query(self) -> bool:
        """Whether it stands in a query, not in a schema."""

    @property
    def group_count(self) -> int:
        """How many expressions rows are grouped by; 0 where all rows make one group."""

    @property
    def rows(self) -> Scope:
        """The scope of a column that an aggregate reads: no key of groups is NULL there yet."""

    @property
    def types(self) -> LookUp | None:
        """Finds the user-defined types that casts name; None where there are none."""

    @property
    def inferred(self) -> Inferred:
        """Calls that were typed before in a scope where they mean the same."""

    def lookup(self, parts: tuple[str, ...], span: Span) -> tuple[Ref, tuple[str, ...]]:
        """The column that a name begins with, and the parts left over, which name fields.

        Raises:
            SchemaError: with code `unknown-column`.
        """

    def function(self, path: tuple[str, ...], span: Span) -> tuple[Function, ...]:
        """All functions of that name.

        Raises:
            SchemaError: with code `unknown-function`.
        """

    def window(self, name: str, span: Span) -> Window:
        """The window that a query calls by this name.

        Raises:
            SchemaError: with code `unknown-window`.
        """

    def subquery(self, query: Query, span: Span) -> Rows:
        """The rows of a query used as a value."""


#: Roots that no column of a query can have.
UNKNOWN_TO_SQL = frozenset(
    {TypeRoot.TIMESTAMP_WITH_TIME_ZONE, TypeRoot.NULL, TypeRoot.SYMBOL, TypeRoot.UNRESOLVED}
)


#: Roots of types that are in SQL what they are.
SAME_IN_SQL = (
    frozenset(
        {
            *(MEMBERS[TypeFamily.CHARACTER_STRING] | MEMBERS[TypeFamily.BINARY_STRING]),
            *(MEMBERS[TypeFamily.NUMERIC] | MEMBERS[TypeFamily.TIMESTAMP]),
            *(TypeRoot.BOOLEAN, TypeRoot.DATE),
        }
    )
    - UNKNOWN_TO_SQL
)


def in_sql(type_: DataType) -> DataType:
    """What SQL makes of the type of a column.

    Intervals lose their fields, times all but three digits of a second, rows their comments;
    structured types are left alone.

    Raises:
        SchemaError: with code `type-not-in-sql` for a type that SQL does not know.

    >>> from schema_core.types import parse_type
    >>> print(in_sql(parse_type("ROW<a TIME(9) 'when', b INTERVAL DAY>")))
    ROW<`a` TIME(3), `b` INTERVAL SECOND(3)>
    """
    if type_.root in SAME_IN_SQL and not isinstance(type_, LegacyType):
        return type_
    nullable = type_.is_nullable
    if isinstance(type_, LegacyType) and (found := legacy_in_sql(type_)) is not None:
        return found
    if isinstance(type_, LegacyType) or type_.root in UNKNOWN_TO_SQL:
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
            pairs = [(one.name, in_sql(one.data_type)) for one in fields]
            return RowType([RowField(name, inner) for name, inner in pairs], nullable)
        case _:
            return type_.rebuild(tuple(map(in_sql, type_.children())))


def _require_parts_in_sql(type_: DataType) -> None:
    """Refuse what SQL finds in a structured type that it leaves alone; an attribute may be NULL.

    Raises:
        SchemaError: with code `type-not-in-sql`.
    """
    for part in type_.children():
        is_null = part.root is TypeRoot.NULL and not isinstance(type_, StructuredType)
        if is_null or part.root is TypeRoot.TIMESTAMP_WITH_TIME_ZONE:
            raise _not_in_sql(part)
        _require_parts_in_sql(part)


def _not_in_sql(type_: DataType) -> SchemaError:
    return SchemaError(
        f"SQL has no columns of type {type_.as_summary_string()}", code="type-not-in-sql"
    )


class ColumnScope:
    """The scope of a schema's expressions: its columns, found by their exact names.

    Args:
        columns: Name -> type, as the schema has it.
        streaming: Whether rows keep coming.
        functions: Further functions, asked before the built-in ones.
        types: Finds the user-defined types that casts name; without it there are none.
        subqueries: Types a query that is used as a value; without it there are no such queries.
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
        self.columns = {name: in_sql(type_) for name, type_ in columns.items()}
        self.streaming = streaming
        self.functions = functions
        self.types = types
        self.subqueries = subqueries

    @property
    def rows(self) -> ColumnScope:
        """Rows are not grouped here."""
        return self

    def lookup(self, parts: tuple[str, ...], span: Span) -> tuple[Ref, tuple[str, ...]]:
        """The column that the first part names."""
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
        """What a name that is not found may have meant."""
        return self.columns

    def function(self, path: tuple[str, ...], span: Span) -> tuple[Function, ...]:
        """A function of the user's, or a built-in one, whatever the case of its name."""
        return find_function(path, span, self.functions)

    def window(self, name: str, span: Span) -> Window:
        """There are no named windows outside of queries."""
        raise SchemaError(f"there is no window {name!r}", code="unknown-window", span=span)

    def subquery(self, query: Query, span: Span) -> Rows:
        """The rows of a query that knows nothing of these columns."""
        if self.subqueries is None or not _selects(query):
            raise SchemaError("there are no queries here", code="subquery-not-supported", span=span)
        return self.subqueries(query, span)


def _selects(query: Query) -> bool:
    """Whether a query begins with SELECT, as Flink wants it outside of queries."""
    match query:
        case SetOperation(left=inner) | Ordered(query=inner):
            return _selects(inner)
        case _:
            return isinstance(query, Select)


def find_function(
    path: tuple[str, ...], span: Span, functions: Functions | None = None
) -> tuple[Function, ...]:
    """The functions of a name: the user's, else the built-in ones.

    Raises:
        SchemaError: with code `unknown-function`, naming a similar one.
    """
    found = functions(path, span) if functions else None
    if found is None and len(path) == 1:
        found = BUILT_IN.get(path[0]) or BUILT_IN.get(path[0].upper())
    if found is None:
        name = ".".join(path)
        raise SchemaError(
            f"there is no function {name}",
            code="unknown-function",
            hint=_hint(name),
            span=span,
        )
    return found


@cached()
def _hint(name: str) -> str | None:
    """The hint for an unknown function; typing an expression asks for the same one repeatedly."""
    return function_hint(name) or similar(name.upper(), BUILT_IN, likeness=0.78)
