"""Table functions resolved: the windows of Flink, and functions of catalogs and modules.

Flink documentation, "Windowing table-valued functions".
"""

from __future__ import annotations

from typing import NamedTuple

from schema_core.errors import SchemaError, at
from schema_core.expressions.signatures import Kind
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import Ref, Typed
from schema_core.query import process_tables
from schema_core.query import relation as rel
from schema_core.query.hints import check_table_hints
from schema_core.query.relation import Column, Columns, Relation
from schema_core.query.scope import SelectScope, SourceBinding
from schema_core.query.sources import Rows, made_up, named
from schema_core.query.table_arguments import column_of, table_of
from schema_core.query.typing import value
from schema_core.sql import query_syntax as written
from schema_core.sql.syntax import Call, Expression, Name, Named
from schema_core.types import DataType, RowType, TimestampType
from schema_core.types.temporal import (
    DayTimeIntervalType,
    LocalZonedTimestampType,
    YearMonthIntervalType,
)


class WindowFunction(NamedTuple):
    """The parameters of a window function by name, and how many of them must be given."""

    parameters: tuple[str, ...]
    required: int


WINDOWS = {
    "TUMBLE":   WindowFunction(("DATA", "TIMECOL", "SIZE", "OFFSET"), 3),
    "HOP":      WindowFunction(("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"), 4),
    "CUMULATE": WindowFunction(("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"), 4),
    "SESSION":  WindowFunction(("DATA", "TIMECOL", "GAP"), 3),
}  # fmt: skip


def table_function(
    source: written.TableFunction, scope: SelectScope, before: tuple[SourceBinding, ...]
) -> Rows:
    """The rows of a table function; the scope is that of the sources on the left."""
    name = source.call.name.upper()
    check_table_hints(source.hints, name, "table function")
    if name in WINDOWS and len(source.call.path) < 2:
        with at(f"window function {name}", source.call.span):
            relation: Relation = _window(name, source.call, scope)
        return named(relation, made_up(before), relation.columns)
    if name in process_tables.FUNCTIONS and len(source.call.path) < 2:
        relation = process_tables.process_table(name, source.call, scope.place)
        return named(relation, made_up(before), relation.columns)
    relation = _function(source.call, scope)
    return named(relation, made_up(before), relation.columns, lateral=True)


# ------------------------------------------------------------------------------------- windows


def _window(name: str, call: Call, scope: SelectScope) -> rel.WindowTable:
    given = _arguments(name, call)
    data, partition_by = table_of(given["DATA"], scope.place)
    if partition_by and name != "SESSION":
        raise SchemaError(
            f"{name} windows are the same for all keys",
            code="partitioned-window",
            hint="only SESSION takes PARTITION BY",
            span=call.span,
        )
    columns = data.columns
    origin = SelectScope(scope.place, (SourceBinding("", columns),))
    time = _time_column(given["TIMECOL"], origin)
    partition = tuple(column_of(key, origin) for key in partition_by)
    sizes = tuple(
        _interval(given[one], origin) for one in WINDOWS[name].parameters[2:] if one in given
    )
    return rel.WindowTable(name, data, time, sizes, partition, (*columns, *_added(time.type)))


def _arguments(name: str, call: Call) -> dict[str, Expression]:
    """Parameter -> argument, all given by position or all by name, the table first.

    Raises:
        SchemaError: with code `wrong-argument-count` or `named-arguments`.
    """
    function = WINDOWS[name]
    by_name = [one for one in call.arguments if isinstance(one, Named)]
    if by_name and (len(by_name) < len(call.arguments) or by_name[0].name != "DATA"):
        raise SchemaError(
            "arguments are given all by name or all by position",
            code="named-arguments",
            hint="by name the table comes first, as DATA",
            span=call.span,
        )
    given = dict(zip(function.parameters, call.arguments, strict=False))
    if by_name:
        given = {one.name: one.value for one in by_name}
    missing = [one for one in function.parameters[: function.required] if one not in given]
    if missing or (not by_name and len(call.arguments) > len(function.parameters)):
        problem = f"it takes {', '.join(function.parameters)}"
        raise SchemaError(problem, code="wrong-argument-count", span=call.span)
    return given


def _time_column(argument: Expression, scope: SelectScope) -> Ref:
    match argument:
        case Call(name="DESCRIPTOR", arguments=(Name() as name, *_)):
            column = column_of(name, scope)
        case _:
            raise SchemaError(
                "expected the time column",
                code="wrong-argument-type",
                hint="write DESCRIPTOR(column)",
                span=argument.span,
            )
    if not isinstance(column.type, TimestampType | LocalZonedTimestampType):
        raise SchemaError(
            f"{column.name!r} is no time column: {column.type.as_summary_string()}",
            code="wrong-argument-type",
            hint="a window needs a TIMESTAMP or TIMESTAMP_LTZ column",
            span=argument.span,
        )
    return column


def _interval(argument: Expression, scope: SelectScope) -> Typed:
    typed = value(scope, argument)
    if not isinstance(typed.type, DayTimeIntervalType | YearMonthIntervalType):
        raise SchemaError(
            f"expected an interval, got {typed.type.as_summary_string()}",
            code="wrong-argument-type",
            hint="write INTERVAL '10' MINUTES",
            span=argument.span,
        )
    return typed


def _added(time: DataType) -> Columns:
    """The columns of the window; its time is a time attribute where the time column is one."""
    bound = TimestampType(3, nullable=False)
    moment: DataType = bound
    if isinstance(time, TimestampType | LocalZonedTimestampType):
        moment = type(time)(time.precision, nullable=False, kind=time.kind)
    return (
        Column("window_start", bound),
        Column("window_end", bound),
        Column("window_time", moment),
    )


# ----------------------------------------------------------------------------- other functions


def _function(call: Call, scope: SelectScope) -> rel.FunctionTable:
    functions = scope.function(call.path or (call.name,), call.span)
    if not any(one.kind in (Kind.TABLE, Kind.PROCESS_TABLE) for one in functions):
        raise SchemaError(
            f"{call.name} gives no table", code="not-a-table-function", span=call.span
        )
    typed = infer(scope, call)
    return rel.FunctionTable(typed, _row_columns(typed.type))


def _row_columns(type_: DataType) -> Columns:
    """The columns of what a function gives: the fields of a row, or the value itself."""
    if isinstance(type_, RowType):
        return tuple(Column(one.name, one.data_type) for one in type_.fields)
    return (Column("EXPR$0", type_),)
