"""TO_CHANGELOG and FROM_CHANGELOG as frames (FLIP-564).

FROM_CHANGELOG returns the rows that its changes leave. TO_CHANGELOG returns the changes of an input
whose changes do not depend on the order in which rows arrive: rows that are only inserted, and the
changes of tables of changes and of FROM_CHANGELOG.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.base.text import show
from schema_core.query import relation as relational
from schema_core.query.relation import Common, Relation, With
from schema_core.query.table_functions import (
    change_codes,
    operation_codes,
    operation_column,
    process_arguments,
    skips_invalid_codes,
    time_column,
)
from schema_core.spark.changelog import ROW_KIND, state_of
from schema_core.spark.compiler import tree
from schema_core.spark.compiler.tree import quote, string
from schema_core.spark.reading.row_kinds import has_kinds, with_changes
from schema_core.types import RowKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.compiler.translation import Bounds
    from schema_core.spark.reading.operator_context import OperatorContext


# --- FROM_CHANGELOG -------------------------------------------------------------------------------


def from_changelog(context: OperatorContext, table: relational.ProcessTable) -> str:
    """Return the rows that the changes of the input leave, or the changes: see `has_kinds`."""
    changes = decode_changes(context.rows(table.input), table)
    is_changes = has_kinds(table)
    names = [name for name in changes.columns if name != ROW_KIND]
    return context.query(changes if is_changes else state_of(changes, (), names))


def decode_changes(frame: DataFrame, table: relational.ProcessTable) -> DataFrame:
    """Return the changes of the rows of the input, with `ROW_KIND`.

    The query fails for a row without one of the expected codes, or drops it.
    """
    arguments = process_arguments(table.function, table.call)
    name, time = operation_column(arguments), time_column(arguments)
    columns = [column.name for column in table.input.columns]
    stored = dict(zip(columns, map(quote, frame.columns), strict=True))
    values = [
        value for column, value in zip(columns, stored.values(), strict=True) if column != name
    ]
    if time is not None:
        values.append(stored[time])
    own = table.columns[:-1] if has_kinds(table) else table.columns
    names = [column.name for column in own]
    kinds = {code: RowKind[kind] for code, kind in change_codes(arguments).items()}
    if skips_invalid_codes(arguments):
        codes = ", ".join(map(string, kinds))
        frame = frame.where(f"{stored[name]} IN ({codes})")
    return frame.selectExpr(
        *(f"{value} AS {quote(column)}" for value, column in zip(values, names, strict=True)),
        f"{_kind(stored[name], kinds)} AS {quote(ROW_KIND)}",
    )


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
    """Return the changes of the input as rows.

    Raises:
        UnsupportedError: `not-executable` if the changes depend on the order of rows.
    """
    query = _in_scope(table.input, context.compiler.bounds)
    changes = query and with_changes(query, context.holds_changes)
    if changes is None:
        raise tree.unsupported_error(
            "TO_CHANGELOG is not supported on Spark over rows that are updated, such as those of"
            " GROUP BY: the changes depend on the order in which rows arrive",
            hint="apply it to rows that are only inserted, to tables of changes or to the result"
            " of FROM_CHANGELOG",
        )
    return context.query(encode_changes(context.rows(changes), table))


def encode_changes(frame: DataFrame, table: relational.ProcessTable) -> DataFrame:
    """Return changes as rows. Their kind is the last column; those without a code are dropped."""
    arguments = process_arguments(table.function, table.call)
    time = time_column(arguments)
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
    return rows.where(f"{names[0]} IS NOT NULL")


def _in_scope(relation: Relation, bounds: Bounds) -> Relation | None:
    """Return a relation with the common tables of enclosing queries.

    None if one of them reads a table that another of its name hides.
    """
    tables = bounds.tables
    if any(
        tables[name][0] is not rows
        for _, scope in tables.values()
        for name, (rows, _) in scope.tables.items()
    ):
        return None
    common = tuple(Common(name, rows, rows.columns) for name, (rows, _) in tables.items())
    return With(common, relation)
