"""Views in queries: engines read only tables, so a view is replaced by its query.

Rows keep the types that the view was created with: as in Flink, they are cast if a table below was
altered.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import field, fields, is_dataclass, replace
from threading import local
from typing import Any, TypeAlias

from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.base.paths import ObjectIdentifier
from schema_core.base.text import Span
from schema_core.catalog.managers import FoundTable
from schema_core.catalog.objects import ResolvedCatalogView
from schema_core.errors import SchemaCoreError, SchemaError, at
from schema_core.expressions import typed
from schema_core.expressions.coercion import supports_sql_cast
from schema_core.expressions.functions import declare
from schema_core.expressions.literals import constant
from schema_core.expressions.type_checker import implicit_cast
from schema_core.expressions.typed import Function
from schema_core.query.relation import (
    Column,
    Columns,
    Item,
    Named,
    Relation,
    Scan,
    Select,
    result_columns,
)
from schema_core.schema.columns import plain
from schema_core.schema.resolved import ResolvedSchema
from schema_core.sql.syntax import Call, Literal, LiteralKind, Query
from schema_core.types import DataType

#: Hints of several errors.
REDEFINE_VIEW = "redefine the query with ALTER VIEW ... AS"


@dataclass(frozen=True, slots=True)
class QueryView(ResolvedCatalogView):
    """A temporary view that holds the query of a `Table` instead of SQL.

    Any table will do: of a descriptor, of Python values, with unnamed functions. The SQL strings of
    the view are empty. `number` is unique within the session. `relation` keeps alive the rows that
    the query reads directly.
    """

    query: Query = field(kw_only=True, compare=False, repr=False)
    relation: Relation = field(kw_only=True, compare=False, repr=False)
    number: int = field(kw_only=True)


def inline_functions(query: Query) -> Iterator[str]:
    """Yield the names of unregistered Python functions that a query calls."""
    waiting: list[Any] = [query]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting += node
        elif isinstance(node, Call) and node.inline is not None:
            yield node.name.strip("*")
        elif is_dataclass(node) and not isinstance(node, type):
            waiting += [getattr(node, field.name) for field in fields(node)]


#: How many views may be nested.
MAX_VIEWS = 32

#: Values that contain no relation.
LEAVES = (
    str, int, DataType, ResolvedSchema, ObjectIdentifier, Column,
    typed.Ref, typed.Constant, typed.Keyword,
    typed.TypeArgument, Function, Call, Span, type(None),
)  # fmt: skip

#: Path -> the query of its view, or None for a table.
QueryOf: TypeAlias = Callable[[ObjectIdentifier], Relation | None]


class OpenViews(local):
    """The queries of views that a thread is resolving, each read by the previous one.

    Relations are cached until the outermost view or `kept` block ends, so each view is resolved
    once; tables only within a `kept` block. The key is the text of a query, in which all names are
    qualified. State is per thread: a view that two threads read is not recursive.
    """

    def __init__(self) -> None:
        self._open: list[str] = []
        self._found: dict[str, _Resolved] = {}
        self._tables: dict[ObjectIdentifier, FoundTable] = {}
        self._kept = 0
        #: The levels resolved so far below each open view and below the reader.
        self._heights = [0]

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Cache tables and relations until the end of the block, which must not change them."""
        self._kept += 1
        try:
            yield
        finally:
            self._kept -= 1
            if not self._kept:
                self._tables.clear()
            self._forget()

    def table(
        self, identifier: ObjectIdentifier, read: Callable[[ObjectIdentifier], FoundTable]
    ) -> FoundTable:
        """Return the table or view of a path, in a `kept` block the one that it had before."""
        table = self._tables.get(identifier) or read(identifier)
        if self._kept:
            self._tables[identifier] = table
        return table

    def relation(self, query: str, read: Callable[[], Relation]) -> Relation:
        """Return the cached relation of a view's query, or the result of `read`.

        Codes: `recursive-view` for a view that reads itself, `limit-exceeded` beyond `MAX_VIEWS`
        levels.
        """
        if query in self._open:
            raise SchemaError("the view reads itself", code="recursive-view")
        cached = self._found.get(query)
        if len(self._open) + (cached.height if cached else 1) > MAX_VIEWS:
            raise SchemaError(
                f"views are nested more than {MAX_VIEWS} levels deep", code="limit-exceeded"
            )
        entry = cached or self._resolve_view(query, read)
        self._heights[-1] = max(self._heights[-1], entry.height)
        if isinstance(entry.outcome, SchemaCoreError):
            raise copy(entry.outcome)
        return entry.outcome

    def _resolve_view(self, query: str, read: Callable[[], Relation]) -> _Resolved:
        self._open.append(query)
        self._heights.append(0)
        outcome: Relation | SchemaCoreError
        try:
            outcome = read()
        except SchemaCoreError as error:
            outcome = copy(error)  # before its location is added
        finally:
            self._open.pop()
            height = self._heights.pop() + 1
        entry = self._found[query] = _Resolved(outcome, height)
        self._forget()
        return entry

    def _forget(self) -> None:
        """Forget errors after the outermost view: depth depends on the reader."""
        if self._open:
            return
        if not self._kept:
            self._found.clear()
            return
        for query in [
            query
            for query, entry in self._found.items()
            if isinstance(entry.outcome, SchemaCoreError)
        ]:
            del self._found[query]


class _Resolved(NamedTuple):
    """The relation of a view's query, and its number of nested view levels, including its own."""

    outcome: Relation | SchemaCoreError
    height: int


#: The alias of a view's query while its columns are cast.
ALIAS = "EXPR$0"


def conform_columns(relation: Relation, schema: ResolvedSchema) -> Relation:
    """Return the rows of a view's query with the view's declared types.

    NULL in a NOT NULL column fails the job. A different number of columns, or a type that SQL does
    not cast to the declared one, is `stale-view`.
    """
    columns = result_columns(relation)
    if len(columns) != len(schema.columns):
        raise SchemaError(
            f"the view declares {len(schema.columns)} columns, "
            f"but its query returns {len(columns)}",
            code="stale-view",
            hint=REDEFINE_VIEW,
        )
    pairs = list(zip(columns, schema.columns, strict=True))
    if all(_fits(actual.type, declared.data_type) for actual, declared in pairs):
        return relation
    items = tuple(
        Item(declared.name, _cast(typed.Ref(*actual, ALIAS), declared.data_type, declared.name))
        for actual, declared in pairs
    )
    return Select(items, Named(relation, ALIAS, columns))


def find_changed_columns(columns: Columns, schema: ResolvedSchema) -> Iterator[str]:
    """Yield why rows of a view's query are cast to the view's declared types, for each column."""
    for actual, declared in zip(columns, schema.columns, strict=False):
        if not _fits(actual.type, declared.data_type):
            types = plain(declared.data_type), plain(actual.type)
            stored, current = (type_.as_summary_string() for type_ in types)
            yield f"column {declared.name!r} is {stored}, but the query returns {current}"


def _fits(actual: DataType, declared: DataType) -> bool:
    """Return whether every value of the actual type is unchanged in the declared type."""
    same = plain(actual).nullable() == plain(declared).nullable()
    return same and (declared.is_nullable or not actual.is_nullable)


def _cast(value: typed.Ref, declared: DataType, name: str) -> typed.Typed:
    target = plain(declared)
    cast: typed.Typed = value
    if plain(value.type).nullable() != target.nullable():
        if not supports_sql_cast(plain(value.type), target):
            raise SchemaError(
                f"column {name!r} of the view is {target.as_summary_string()}, but its query "
                f"returns {value.type.as_summary_string()}, which does not cast to it",
                code="stale-view",
                hint=REDEFINE_VIEW,
            )
        with at(f"column {name!r}"):
            type_ = target.with_nullability(value.type.is_nullable)
            cast = implicit_cast(value, target.with_nullability(True), type_)
    return cast if declared.is_nullable else _not_null(cast, name)


def _not_null(value: typed.Typed, name: str) -> typed.Typed:
    """Return the value with a check that fails the job for NULL."""
    message = f"column {name!r} of the view is NOT NULL but received NULL"
    problem = constant(Literal(LiteralKind.STRING, message))
    type_ = value.type.not_null()
    (function,) = declare(
        "REQUIRE_NOT_NULL",
        [([value.type, problem.type], type_)],
        spark="coalesce({0}, raise_error({1}))",
    )
    return typed.FunctionCall(function, (value, problem), type_)


def inline_views(relation: Relation, query_of: QueryOf) -> Relation:
    """Return the relation with every scan of a view replaced by `query_of`.

    The source around a scan names its columns, so its replacement may have other names.
    """
    rebuilt: Relation = _finish(relation, query_of)
    return rebuilt


def find_tables(relation: Relation) -> set[ObjectIdentifier]:
    """Return the tables and views that the relation reads."""
    identifiers: set[ObjectIdentifier] = set()
    inline_views(relation, identifiers.add)
    return identifiers


#: A node being rebuilt: a generator that yields its parts and receives each rebuilt.
Rebuilding: TypeAlias = Generator[Any, Any, Any]


def _finish(root: Any, query_of: QueryOf) -> Any:
    """Rebuild a tree without recursion; shared nodes remain shared, and are rebuilt once."""
    done: dict[int, Any] = {}
    waiting, value = [(root, _rebuild(root, query_of))], None
    while waiting:
        node, rebuilding = waiting[-1]
        try:
            part = rebuilding.send(value)
        except StopIteration as ended:
            waiting.pop()
            value = done[id(node)] = ended.value
        else:
            value = done.get(id(part))
            if value is None:
                waiting.append((part, _rebuild(part, query_of)))
    return value


def _rebuild(node: Any, query_of: QueryOf) -> Rebuilding:
    if isinstance(node, Scan):
        query = query_of(node.table.identifier)
        return node if query is None or node.timestamp is not None else query
    if isinstance(node, tuple):
        parts: list[Any] = []
        for part in node:
            rebuilt = part if isinstance(part, LEAVES) else (yield part)
            parts.append(rebuilt)
        if all(new is old for new, old in zip(parts, node, strict=True)):
            return node
        return type(node)(*parts) if hasattr(node, "_fields") else tuple(parts)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    changed = {}
    for part in fields(node):
        old = getattr(node, part.name)
        if part.init and not isinstance(old, LEAVES) and (new := (yield old)) is not old:
            changed[part.name] = new
    return replace(node, **changed) if changed else node
