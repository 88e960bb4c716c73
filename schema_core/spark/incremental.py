"""Queries of unbounded tables: which operations Spark computes as rows arrive.

Spark computes projections, filters, UNNEST, UNION ALL of unbounded tables and joins with bounded
tables from the new rows alone. What needs all rows, or a state that grows for ever, is refused
before the job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from schema_core.errors import UnsupportedError
from schema_core.expressions.typed import Select as Subquery
from schema_core.expressions.typed import Typed
from schema_core.query.correlation import (
    expressions_of,
    is_windowed,
    outer_columns,
    parts_of,
    rows_of,
    subexpressions,
    subqueries_in,
)
from schema_core.query.relation import (
    CommonScan,
    FunctionTable,
    Join,
    Match,
    Named,
    ProcessTable,
    Relation,
    Sample,
    Scan,
    Select,
    SetOperation,
    Sort,
    Unnest,
    Values,
    WindowTable,
    With,
)
from schema_core.sql.syntax import JoinKind

#: Kind of a join -> which of its sides, left and right, may be unbounded. The rows of the other
#: side are complete when a micro-batch starts, so a row without a match never gets one later.
_SIDES: dict[JoinKind, tuple[bool, bool]] = {
    JoinKind.COMMA: (True, True),
    JoinKind.CROSS: (True, True),
    JoinKind.INNER: (True, True),
    JoinKind.LEFT: (True, False),
    JoinKind.RIGHT: (False, True),
    JoinKind.FULL: (False, False),
}

#: An outer join that returns rows of a bounded table for which no match arrives.
PRESERVES_BOUNDED = "{}, which keeps the rows of a bounded table without a match,"


def require_incremental(query: Relation, is_unbounded: Callable[[Scan], bool]) -> bool:
    """Require that every operation on an unbounded table can be computed as rows arrive.

    Args:
        query: A query without views.
        is_unbounded: Whether a scan reads an unbounded table.

    Returns:
        Whether the result is unbounded.

    Raises:
        UnsupportedError: with code `streaming-not-supported`, which names the operation and the
            table.
    """
    return _Analysis(is_unbounded).table(query) is not None


class _Analysis:
    """Methods return the name of an unbounded table that a relation reads, None for a bounded one.

    Chains of joins and set operations are long: they are not followed recursively to the left.
    """

    def __init__(self, is_unbounded: Callable[[Scan], bool]) -> None:
        self._is_unbounded = is_unbounded
        #: the common tables that are visible, by name; the last one hides others
        self._common: list[tuple[str, str | None]] = []

    def table(self, relation: Relation | None) -> str | None:
        match relation:
            case None | Values() | Unnest() | FunctionTable():
                found = None
            case Scan():
                path = relation.table.identifier.as_summary_string()
                found = path if self._is_unbounded(relation) else None
            case CommonScan(name=name):
                known = (table for own, table in reversed(self._common) if own == name)
                found = next(known, None)
            case Named(input=below):
                found = self.table(below)
            case Join() | SetOperation():
                found = self._chain(relation)
            case Select():
                found = self._block(relation)
            case With():
                found = self._with(relation)
            case _:
                found = self._other(relation)
        self._require_bounded_subqueries(relation)
        return found

    def _chain(self, relation: Join | SetOperation) -> str | None:
        """Return the table of a join or set operation, whose left sides may nest deeply."""
        chain: list[Join | SetOperation] = []
        rest: Relation = relation
        while isinstance(rest, Join | SetOperation):
            chain.append(rest)
            rest = rest.left
        left = self.table(rest)
        for one in reversed(chain):
            right = self.table(one.right)
            if isinstance(one, Join):
                left = self._join(one, left, right)
            elif one.operator != "UNION" or not one.all:
                operator = one.operator + (" ALL" if one.all else "")
                _refuse(operator, left or right)
                left = None
            else:
                if (left is None) != (right is None):
                    _refuse("UNION ALL with a bounded table", left or right)
                left = left or right
            if one is not relation:
                self._require_bounded_subqueries(one)
        return left

    def _join(self, join: Join, left: str | None, right: str | None) -> str | None:
        if left is not None and right is not None:
            _refuse(f"{_name(join)} of two unbounded tables", left)
        if _is_lateral_query(join.right):
            _refuse("LATERAL of a query", left or right)
        allowed = _SIDES[join.kind]
        if left is not None and not allowed[0]:
            _refuse(PRESERVES_BOUNDED.format(_name(join)), left)
        if right is not None and not allowed[1]:
            _refuse(PRESERVES_BOUNDED.format(_name(join)), right)
        return left or right

    def _block(self, block: Select) -> str | None:
        found = self.table(block.source)
        if found is not None:
            parts = [part for one in expressions_of(block) for part in subexpressions(one)]
            queries = (rows_of(one) for one in parts if isinstance(one, Subquery))
            if any(True for query in queries for _ in outer_columns(query)):
                _refuse("a correlated sub-query", found)
            if block.grouping is not None:
                _refuse(
                    "GROUP BY" if block.grouping.keys else "an aggregate without GROUP BY", found
                )
            if block.distinct:
                _refuse("SELECT DISTINCT", found)
            if block.qualify is not None or any(map(is_windowed, parts)):
                _refuse("OVER", found)
        return found

    def _with(self, query: With) -> str | None:
        depth = len(self._common)
        for one in query.tables:
            if query.recursive:
                self._common.append((one.name, None))
            found = self.table(one.relation)
            if query.recursive:
                _refuse("WITH RECURSIVE", found)
            self._common.append((one.name, found))
        found = self.table(query.input)
        del self._common[depth:]
        return found

    def _other(self, relation: WindowTable | ProcessTable | Sample | Match | Sort) -> str | None:
        found = self.table(relation.input)
        if (operation := _stateful(relation)) is not None:
            _refuse(operation, found)
        return found

    def _require_bounded_subqueries(self, relation: Relation | None) -> None:
        expressions: Iterable[Typed] = () if relation is None else parts_of(relation)[0]
        for expression in expressions:
            for one in subqueries_in(expression):
                _refuse("a sub-query in an expression", self.table(rows_of(one)))


def _stateful(relation: WindowTable | ProcessTable | Sample | Match | Sort) -> str | None:
    """Return the name of an operation that needs all rows or a state, or None."""
    match relation:
        case WindowTable(function=name):
            return f"the window function {name}" if name == "SESSION" else None
        case ProcessTable(function=name):
            return f"the function {name}"
        case Sample():
            return "TABLESAMPLE"
        case Match():
            return "MATCH_RECOGNIZE"
        case Sort(keys=keys):
            return "ORDER BY" if keys else "LIMIT or OFFSET"


def _name(join: Join) -> str:
    return "CROSS JOIN" if join.kind is JoinKind.COMMA else join.kind.value


def _is_lateral_query(right: Relation) -> bool:
    """Return whether a side of a join reads the other one, other than by a table function."""
    if not isinstance(right, Named) or not right.lateral:
        return False
    return not isinstance(right.input, Unnest | FunctionTable)


def _refuse(operation: str, table: str | None) -> None:
    """Refuse an operation on an unbounded table; None is a bounded one.

    Raises:
        UnsupportedError: with code `streaming-not-supported`.
    """
    if table is not None:
        raise UnsupportedError(
            f"{operation} cannot be computed as rows arrive in the unbounded table {table}",
            code="streaming-not-supported",
            hint="read the table with options that bound it, or write its rows into a table and "
            "query that in batch mode",
        )
