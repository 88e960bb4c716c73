"""Relations of changes: the kind of each change as one more column.

Projections, filters, UNION ALL and joins with table functions return a change for each change that
they read, of the same kind. Other operations are computed from the rows that the changes leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from schema_core.environment.planner import Change
from schema_core.expressions.typed import (
    Constant,
    FunctionCall,
    Ref,
    Typed,
    is_windowed,
    substitute,
)
from schema_core.query import relation as relational
from schema_core.query.relation import (
    Column,
    Item,
    Relation,
    Scan,
    adds_elements,
    expressions_of,
    parts_of,
    rows_of,
    subexpressions,
    subqueries_in,
    without_common_tables,
)
from schema_core.query.updates import KIND_OF_ROW, adds_rows
from schema_core.spark.changelog import ROW_KIND
from schema_core.sql.syntax import JoinKind, Literal, LiteralKind
from schema_core.types import MAX_LENGTH, RowKind, VarCharType

#: The last column of a relation of changes, by identity: see `has_kinds`.
KIND: Final = Column(ROW_KIND, VarCharType(MAX_LENGTH, nullable=False))
#: `KIND` of a table whose changes are not normalized by the option `cdc-events-duplicate`.
REPEATED_KIND: Final = Column(*KIND)
#: `KIND` of a versioned table, whose changes by key are not normalized.
VERSION_KIND: Final = Column(*KIND)
_KINDS: Final = (KIND, REPEATED_KIND, VERSION_KIND)
_INSERTION: Final = Item(
    ROW_KIND, Constant(Literal(LiteralKind.STRING, str(RowKind.INSERT)), KIND.type)
)
_ROW_KINDS: Final = {str(kind): kind for kind in RowKind}
#: The alias of a relation that has only insertions.
_ALIAS: Final = "$insertions$"


def has_kinds(relation: Relation) -> bool:
    """Return whether a source returns its changes, with `KIND` as the last column."""
    return bool(relation.columns) and any(relation.columns[-1] is kind for kind in _KINDS)


def repeats_changes(scan: Scan) -> bool:
    """Return whether a table returns its changes as they are, also if they may be repeated."""
    return has_kinds(scan) and scan.columns[-1] is REPEATED_KIND


def holds_versions(scan: Scan) -> bool:
    """Return whether a join reads the changes of a table as versions."""
    return has_kinds(scan) and scan.columns[-1] is VERSION_KIND


def change_query(query: Relation, is_changed: Callable[[Scan], bool]) -> Relation | None:
    """Return a query without views with the kinds of its changes.

    None if it reads no changes, or needs the rows that they leave. A part that reads no changes,
    such as an operand of UNION ALL, has only insertions.
    """
    rewriting = _Rewriting(is_changed)
    if not rewriting.reads_changes(query):
        return None
    try:
        return rewriting.relation(without_common_tables(query))
    except _NeedsRowsError:
        return None


def with_changes(query: Relation, is_changed: Callable[[Scan], bool]) -> Relation | None:
    """Return a query without views with the kinds of its changes, also if all are insertions.

    None if they depend on the order in which rows arrive. As in Flink, changes that tables repeat
    are not normalized.
    """
    try:
        return _Rewriting(is_changed, needs_inserts=True).operand(without_common_tables(query))
    except _NeedsRowsError:
        return None


def as_changes(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield the changes of rows whose last value is their kind."""
    for *values, kind in rows:
        yield Change(values, _ROW_KINDS[kind])


class _NeedsRowsError(Exception):
    """An operation needs the rows that changes leave."""


class _Rewriting:
    """Methods return a relation with `KIND` as its last column, None if it reads no changes."""

    def __init__(self, is_changed: Callable[[Scan], bool], *, needs_inserts: bool = False) -> None:
        self._is_changed = is_changed
        #: whether a part that reads no changes must only insert rows
        self._needs_inserts = needs_inserts

    def relation(self, relation: Relation) -> Relation | None:
        match relation:
            case Scan() | relational.ProcessTable() if self._is_source(relation):
                kind = REPEATED_KIND if self._needs_inserts else KIND
                return replace(relation, columns=(*relation.columns, kind))
            case relational.Named():
                inner = self.relation(relation.input)
                if inner is None:
                    return None
                return replace(relation, input=inner, columns=(*relation.columns, KIND))
            case relational.Select():
                return self._block(relation)
            case relational.Join():
                return self._join(relation)
            case relational.SetOperation():
                return self._union(relation)
            case relational.Sort(offset=None, fetch=None) if self._needs_inserts:
                return self.relation(relation.input)
        if self.reads_changes(relation):
            raise _NeedsRowsError
        return None

    def _is_source(self, relation: Relation) -> bool:
        if isinstance(relation, Scan):
            return self._is_changed(relation)
        return is_built_in(relation, "FROM_CHANGELOG")

    def reads_changes(self, relation: Relation) -> bool:
        """Return whether rows of a relation may be changed; those of TO_CHANGELOG are not."""
        rest = [relation]
        while rest:
            part = rest.pop()
            if self._is_source(part):
                return True
            if not is_built_in(part, "TO_CHANGELOG"):
                expressions, inputs, _ = parts_of(part)
                rest += inputs
                rest += [rows_of(each) for typed in expressions for each in subqueries_in(typed)]
        return False

    def _block(self, block: relational.Select) -> Relation | None:
        if not self.reads_changes(block):
            return None
        source = self.relation(block.source) if block.source and is_stateless(block) else None
        if source is None:
            raise _NeedsRowsError
        kind = Ref(KIND.name, KIND.type, _alias_of_kind(source))
        items = (
            item._replace(expression=substitute(item.expression, partial(_as_kind, kind)))
            for item in block.items
        )
        return replace(block, source=source, items=(*items, Item(ROW_KIND, kind)))

    def _join(self, join: relational.Join) -> Relation | None:
        left = self.relation(join.left)
        if self.reads_changes(join.right):
            raise _NeedsRowsError
        if left is None:
            return None
        is_kept = join.kind not in (JoinKind.RIGHT, JoinKind.FULL)
        if not is_kept or not adds_elements(join):
            raise _NeedsRowsError
        width = len(join.left.columns)
        columns = (*join.columns[:width], KIND, *join.columns[width:])
        return replace(join, left=left, columns=columns)

    def _union(self, operation: relational.SetOperation) -> Relation | None:
        chain = [operation]
        while isinstance(chain[-1].left, relational.SetOperation):
            chain.append(chain[-1].left)
        if not self.reads_changes(operation):
            return None
        if any(step.operator != "UNION" or not step.all for step in chain):
            raise _NeedsRowsError
        result = self.operand(chain[-1].left)
        for step in reversed(chain):
            right = self.operand(step.right)
            result = replace(step, left=result, right=right, columns=(*step.columns, KIND))
        return result

    def operand(self, relation: Relation) -> Relation:
        """Return a relation with kinds, whose rows are insertions if it reads no changes."""
        changes = self.relation(relation)
        if changes is not None:
            return changes
        if self._needs_inserts and not adds_rows(relation):
            raise _NeedsRowsError
        return _with_insertions(relation)


def _with_insertions(relation: Relation) -> Relation:
    """Return a relation whose rows are insertions."""
    columns = relational.result_columns(relation)
    source = relational.Named(relation, _ALIAS, columns)
    items = [Item(column.name, Ref(column.name, column.type, _ALIAS)) for column in columns]
    return relational.Select((*items, _INSERTION), source)


def is_built_in(relation: Relation, function: str) -> bool:
    """Return whether a relation is a call of a process table function of Flink."""
    return (
        isinstance(relation, relational.ProcessTable)
        and relation.function == function
        and relation.process is None
    )


def is_stateless(block: relational.Select) -> bool:
    """Return whether each row of a block is computed from one row of its source."""
    expressions = list(expressions_of(block))
    return not (
        block.grouping is not None
        or block.distinct
        or block.qualify is not None
        or any(is_windowed(part) for typed in expressions for part in subexpressions(typed))
        or any(map(subqueries_in, expressions))
    )


def _as_kind(kind: Ref, typed: Typed) -> Ref | None:
    """Return the kind of a change in place of `KIND_OF_ROW`."""
    is_kind = isinstance(typed, FunctionCall) and typed.function.name == KIND_OF_ROW.name
    return kind if is_kind else None


def _alias_of_kind(source: Relation) -> str | None:
    """Return the alias of the source that has the kinds of a block."""
    while isinstance(source, relational.Join):
        source = source.left
    return source.alias if isinstance(source, relational.Named) else None
