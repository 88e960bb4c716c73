"""Queries of changes in streaming mode: the kind of each change as one more column.

Projections, filters, UNION ALL and joins with table functions return a change for each change that
they read, of the same kind. Other operations are computed from the rows that the changes leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from schema_core.environment.planner import Change
from schema_core.expressions.typed import Constant, Ref, is_windowed
from schema_core.query import relation as relational
from schema_core.query.relation import (
    Column,
    Item,
    Relation,
    Scan,
    adds_elements,
    expressions_of,
    relations_in,
    subexpressions,
    subqueries_in,
    without_common_tables,
)
from schema_core.spark.changelog import ROW_KIND
from schema_core.sql.syntax import JoinKind, Literal, LiteralKind
from schema_core.types import MAX_LENGTH, RowKind, VarCharType

KIND: Final = Column(ROW_KIND, VarCharType(MAX_LENGTH, nullable=False))
_INSERTION: Final = Item(
    ROW_KIND, Constant(Literal(LiteralKind.STRING, str(RowKind.INSERT)), KIND.type)
)
_KINDS: Final = {str(kind): kind for kind in RowKind}
#: The alias of an operand of UNION ALL that has only insertions.
_ALIAS: Final = "$insertions$"


class ChangeQuery(NamedTuple):
    """A query whose last column is the kind of a change, and the scans that return kinds."""

    query: Relation
    scans: frozenset[int]


def change_query(query: Relation, is_changed: Callable[[Scan], bool]) -> ChangeQuery | None:
    """Return a query without views with the kinds of its changes.

    None if it reads no table of changes, or needs the rows that they leave.
    """
    if not any(isinstance(part, Scan) and is_changed(part) for part in relations_in(query)):
        return None
    rewriting = _Rewriting(is_changed)
    try:
        result = rewriting.relation(without_common_tables(query))
    except _NeedsRowsError:
        return None
    return None if result is None else ChangeQuery(result, frozenset(rewriting.scans))


def as_changes(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield the changes of rows whose last value is their kind."""
    for *values, kind in rows:
        yield Change(values, _KINDS[kind])


class _NeedsRowsError(Exception):
    """An operation needs the rows that changes leave."""


class _Rewriting:
    """Methods return a relation with `KIND` as its last column, None if it reads no changes."""

    def __init__(self, is_changed: Callable[[Scan], bool]) -> None:
        self._is_changed = is_changed
        #: the identities of the scans that return kinds, which are kept alive by the query
        self.scans: list[int] = []

    def relation(self, relation: Relation) -> Relation | None:
        match relation:
            case Scan():
                return self._scan(relation)
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
        if self._reads_changes(relation):
            raise _NeedsRowsError
        return None

    def _reads_changes(self, relation: Relation) -> bool:
        parts = relations_in(relation)
        return any(isinstance(part, Scan) and self._is_changed(part) for part in parts)

    def _scan(self, scan: Scan) -> Relation | None:
        if not self._is_changed(scan):
            return None
        result = replace(scan, columns=(*scan.columns, KIND))
        self.scans.append(id(result))
        return result

    def _block(self, block: relational.Select) -> Relation | None:
        if not self._reads_changes(block):
            return None
        parts = [part for item in expressions_of(block) for part in subexpressions(item)]
        needs_rows = (
            block.grouping is not None
            or block.distinct
            or block.qualify is not None
            or any(map(is_windowed, parts))
            or any(True for item in expressions_of(block) for _ in subqueries_in(item))
        )
        source = None if needs_rows or block.source is None else self.relation(block.source)
        if source is None:
            raise _NeedsRowsError
        kind = Ref(KIND.name, KIND.type, _alias_of_kind(source))
        return replace(block, source=source, items=(*block.items, Item(ROW_KIND, kind)))

    def _join(self, join: relational.Join) -> Relation | None:
        left = self.relation(join.left)
        if self._reads_changes(join.right):
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
        if not self._reads_changes(operation):
            return None
        if any(step.operator != "UNION" or not step.all for step in chain):
            raise _NeedsRowsError
        result = self._operand(chain[-1].left)
        for step in reversed(chain):
            right = self._operand(step.right)
            result = replace(step, left=result, right=right, columns=(*step.columns, KIND))
        return result

    def _operand(self, relation: Relation) -> Relation:
        """Return an operand of UNION ALL, whose rows are insertions if it reads no changes."""
        changes = self.relation(relation)
        if changes is not None:
            return changes
        columns = relational.result_columns(relation)
        source = relational.Named(relation, _ALIAS, columns)
        items = [Item(column.name, Ref(column.name, column.type, _ALIAS)) for column in columns]
        return relational.Select((*items, _INSERTION), source)


def _alias_of_kind(source: Relation) -> str | None:
    """Return the alias of the source that has the kinds of a block."""
    while isinstance(source, relational.Join):
        source = source.left
    return source.alias if isinstance(source, relational.Named) else None
