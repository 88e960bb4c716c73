"""TO_CHANGELOG and FROM_CHANGELOG as frames (FLIP-564).

FROM_CHANGELOG returns the rows that its changes leave. TO_CHANGELOG returns the changes of an input
whose changes do not depend on the order in which rows arrive: rows that are only inserted, and the
changes of FROM_CHANGELOG.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from schema_core.base.text import show
from schema_core.expressions.typed import Constant, FunctionCall, Ref, Typed
from schema_core.query import relation as relational
from schema_core.query.relation import Column, Item, Relation
from schema_core.query.table_functions import (
    change_codes,
    operation_codes,
    operation_column,
    process_arguments,
    time_column,
)
from schema_core.spark.changelog import ROW_KIND, state_of
from schema_core.spark.compiler import tree
from schema_core.spark.compiler.tree import quote, string
from schema_core.sql.syntax import JoinKind, Literal, LiteralKind
from schema_core.types import DataTypes, RowKind

if TYPE_CHECKING:
    from schema_core.spark.compiler.translation import Bounds
    from schema_core.spark.reading.operator_context import OperatorContext

#: The column that a relation of changes has after its own.
KIND_COLUMN: Final = Column(ROW_KIND, DataTypes.STRING().not_null())

#: The alias of a relation in the block that adds the kind of its rows.
_INSERTED: Final = "inserted"


# --- FROM_CHANGELOG -------------------------------------------------------------------------------


def from_changelog(context: OperatorContext, table: relational.ProcessTable) -> str:
    """Return the rows that the changes of the input leave, or the changes with `KIND_COLUMN`.

    The query fails for a row without one of the expected codes.
    """
    arguments = process_arguments(table.function, table.call)
    name, time = operation_column(arguments), time_column(arguments)
    frame = context.rows(table.input)
    columns = [column.name for column in table.input.columns]
    stored = dict(zip(columns, map(quote, frame.columns), strict=True))
    values = [
        value for column, value in zip(columns, stored.values(), strict=True) if column != name
    ]
    if time is not None:
        values.append(stored[time])
    has_kinds = table.columns[-1] == KIND_COLUMN
    names = [column.name for column in (table.columns[:-1] if has_kinds else table.columns)]
    kinds = {code: RowKind[kind] for code, kind in change_codes(arguments).items()}
    changes = frame.selectExpr(
        *(f"{value} AS {quote(column)}" for value, column in zip(values, names, strict=True)),
        f"{_kind(stored[name], kinds)} AS {quote(ROW_KIND)}",
    )
    return context.query(changes if has_kinds else state_of(changes, (), names))


def _kind(column: str, kinds: dict[str, RowKind]) -> str:
    """Return the kind of change that the code in a column stands for."""
    cases = " ".join(
        f"WHEN {string(code)} THEN {string(str(kind))}" for code, kind in kinds.items()
    )
    problem = f"FROM_CHANGELOG expects one of the codes {', '.join(map(show, kinds))}, got "
    got = f"concat({string(problem)}, coalesce(concat('''', {column}, ''''), 'NULL'))"
    return f"CASE {column} {cases} ELSE raise_error({got}) END"


# --- TO_CHANGELOG ---------------------------------------------------------------------------------


def to_changelog(context: OperatorContext, table: relational.ProcessTable) -> str:
    """Return the changes of the input as rows; kinds without a code are dropped.

    Raises:
        UnsupportedError: `not-executable` if the changes depend on the order of rows.
    """
    arguments = process_arguments(table.function, table.call)
    time = time_column(arguments)
    changes = _Changes(context, context.compiler.bounds).of(table.input)
    if changes is None:
        raise tree.unsupported_error(
            "TO_CHANGELOG is not supported on Spark over rows that are updated, such as those of"
            " GROUP BY: the changes depend on the order in which rows arrive",
            hint="apply it to rows that are only inserted, or to the result of FROM_CHANGELOG",
        )
    frame = context.rows(changes)
    *own, kind = map(quote, frame.columns)
    columns = [column.name for column in table.input.columns]
    values = own if time is None else [*own, own[columns.index(time)]]
    cases = " ".join(
        f"WHEN {string(str(RowKind[change]))} THEN {string(code)}"
        for change, code in operation_codes(arguments).items()
    )
    names = [quote(column.name) for column in table.columns]
    operation = f"CASE {kind} {cases} END"
    rows = frame.selectExpr(
        f"{operation} AS {names[0]}",
        *(f"{value} AS {name}" for value, name in zip(values, names[1:], strict=True)),
    )
    return context.query(rows.where(f"{names[0]} IS NOT NULL"))


#: Joins whose rows are never removed if those of their inputs are not.
_INSERTING_JOINS: Final = frozenset({JoinKind.COMMA, JoinKind.CROSS, JoinKind.INNER})


class _Changes:
    """Returns relations of changes; `bounds` has the common tables in scope."""

    def __init__(self, context: OperatorContext, bounds: Bounds) -> None:
        self._context = context
        self._bounds = bounds

    def of(self, relation: Relation) -> Relation | None:
        """Return a relation with `KIND_COLUMN`; None if its changes are not determined."""
        if self.inserts(relation):
            return _with_inserts(relation)
        match relation:
            case relational.ProcessTable(function="FROM_CHANGELOG", columns=columns):
                return replace(relation, columns=(*columns, KIND_COLUMN))
            case relational.Named(input=below, columns=columns):
                changes = self.of(below)
                added = (*columns, KIND_COLUMN)
                return changes and replace(relation, input=changes, columns=added)
            case relational.CommonScan(name=name) if name in self._bounds.tables:
                table, bounds = self._bounds.tables[name]
                is_visible = all(
                    self._bounds.tables[other][0] is bounds.tables[other][0]
                    for other in bounds.tables
                )
                return _Changes(self._context, bounds).of(table) if is_visible else None
            case relational.Select(source=relational.Named() as source) if _is_stateless(relation):
                changes = self.of(source)
                kind = Ref(ROW_KIND, KIND_COLUMN.type, source.alias)
                items = (*relation.items, Item(ROW_KIND, kind))
                return changes and replace(relation, source=changes, items=items)
            case relational.SetOperation(operator="UNION", all=True):
                left, right = self.of(relation.left), self.of(relation.right)
                if left is None or right is None:
                    return None
                added = (*relation.columns, KIND_COLUMN)
                return replace(relation, left=left, right=right, columns=added)
            case relational.Sort(offset=None, fetch=None):
                return self.of(relation.input)
            case _:
                return None

    def inserts(self, relation: Relation) -> bool:
        """Return whether rows are only inserted, whatever their order."""
        match relation:
            case relational.Scan():
                return not self._context.holds_changes(relation)
            case relational.Values() | relational.Unnest() | relational.FunctionTable():
                return True
            case relational.CommonScan(name=name) if name in self._bounds.tables:
                table, bounds = self._bounds.tables[name]
                return _Changes(self._context, bounds).inserts(table)
            case relational.ProcessTable(function=function):
                return function != "FROM_CHANGELOG" and self.inserts(relation.input)
            case relational.Named() | relational.Sample() | relational.WindowTable():
                return self.inserts(relation.input)
            case relational.Select(source=source):
                return _is_stateless(relation) and (source is None or self.inserts(source))
            case relational.Join(kind=kind):
                is_inserting = kind in _INSERTING_JOINS or relational.adds_elements(relation)
                return is_inserting and all(map(self.inserts, (relation.left, relation.right)))
            case relational.SetOperation(operator="UNION", all=True):
                return all(map(self.inserts, (relation.left, relation.right)))
            case relational.Sort(offset=None, fetch=None):
                return self.inserts(relation.input)
            case relational.With():
                return _Changes(self._context, self._bounds.within(relation)).inserts(
                    relation.input
                )
            case _:
                return False


def _is_stateless(block: relational.Select) -> bool:
    """Return whether each row of a block is computed from one row of its source."""
    if block.grouping is not None or block.distinct or block.qualify is not None:
        return False
    expressions = list(relational.expressions_of(block))
    return not any(
        relational.subqueries_in(expression) or any(map(_is_over, subparts))
        for expression in expressions
        for subparts in [relational.subexpressions(expression)]
    )


def _is_over(typed: Typed) -> bool:
    return isinstance(typed, FunctionCall) and typed.over is not None


def _with_inserts(relation: Relation) -> Relation:
    """Return a relation whose rows are insertions, with `KIND_COLUMN`."""
    columns = relational.result_columns(relation)
    kind = Constant(Literal(LiteralKind.STRING, str(RowKind.INSERT)), KIND_COLUMN.type)
    items = [Item(name, Ref(name, type_, _INSERTED)) for name, type_ in columns]
    source = relational.Named(relation, _INSERTED, columns)
    return relational.Select((*items, Item(ROW_KIND, kind)), source)
