"""Calls of a user's process table functions (FLIP-440)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from schema_core.base.lazy import NamedTuple
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.errors.hints import ADD_ON_TIME, RENAME_INPUT
from schema_core.expressions.process_functions import (
    ArgumentTrait,
    ProcessArgument,
    process_signature,
)
from schema_core.expressions.typed import Constant, Function, Ref, Signature, Typed
from schema_core.expressions.user_functions import ProcessTableFunction, PythonImplementation
from schema_core.query import relation as relational
from schema_core.query.relation import Column, Columns, Item, Relation, row_columns
from schema_core.query.scope import ScopeChain, SelectScope, SourceBinding, value
from schema_core.query.table_functions import (
    ResolveTable,
    bind_arguments,
    check_uid,
    column_of,
    descriptor_names,
    event_time,
    require_rows,
    rowtime,
)
from schema_core.schema.rules import duplicate_names
from schema_core.sql import syntax
from schema_core.types import DataType, IntType
from schema_core.types.casts import supports_implicit_cast

#: Arguments of every process table function, after its own.
SYSTEM_ARGUMENTS = ("on_time", "uid")


def process_implementation(functions: Sequence[Function]) -> ProcessTableFunction | None:
    """Return the process table function in Python that a name resolves to, if it is one."""
    for function in functions:
        spark = function.spark
        if isinstance(spark, PythonImplementation) and isinstance(
            spark.implementation, ProcessTableFunction
        ):
            return spark.implementation
    return None


class _Input(NamedTuple):
    """A table argument: its rows, keys of PARTITION BY and ORDER BY, and time by position."""

    argument: ProcessArgument
    rows: Relation
    key: tuple[int, ...]
    order: tuple[tuple[int, bool, bool], ...]
    time: Ref | None


def process_call(
    function: Function,
    implementation: ProcessTableFunction,
    call: syntax.Call,
    chain: ScopeChain,
    resolve_table: ResolveTable,
) -> relational.ProcessTable:
    """Resolve a call of a process table function in Python.

    The columns are those of the table that it passes, those of the function, and `rowtime` if the
    call has `on_time`. By default a function passes the keys of PARTITION BY of each table.

    Raises:
        SchemaError: as `bind_arguments`; `invalid-function-call`,
            `unknown-column` or `duplicate-column`.
    """
    signature, name = process_signature(implementation), ".".join(call.path) or call.name
    names = [argument.name for argument in signature.arguments]
    required = [argument.name for argument in signature.arguments if not argument.is_optional]
    arguments = bind_arguments(call, (*names, *SYSTEM_ARGUMENTS), required)
    times = descriptor_names(arguments["on_time"]) if "on_time" in arguments else ()
    inputs = [
        _input(name, table, arguments[table.name], times, chain, resolve_table)
        for table in signature.tables
        if table.name in arguments
    ]
    _require_times(name, inputs, times, call)
    values = {
        argument.name: _constant(argument, arguments[argument.name], chain)
        for argument in signature.arguments
        if not argument.is_table and argument.name in arguments
    }
    check_uid(arguments.get("uid"))
    _, returns = cast("Signature", function.declared)
    is_passed = ArgumentTrait.PASS_COLUMNS_THROUGH in signature.tables[0].traits
    passed = [
        table.rows.columns[place]
        for table in inputs
        for place in (range(len(table.rows.columns)) if is_passed else table.key)
    ]
    time = inputs[0].time
    result = (
        *(map(Column, relational.unique_names(column.name for column in passed), _types(passed))),
        *row_columns(returns),
        *([] if time is None else [rowtime(time, streaming=chain.context.streaming)]),
    )
    if twice := duplicate_names(column.name for column in result):
        raise SchemaError(
            f"duplicate column {twice[0]!r} in the result",
            code="duplicate-column",
            hint=RENAME_INPUT,
            span=call.span,
        )
    if len(signature.tables) > 1:
        rows, process = _combine(function, values, inputs, call)
    else:
        (table,) = inputs
        rows, columns = table.rows, table.rows.columns
        process = relational.ProcessCall(
            function,
            values,
            table.key,
            table.order,
            None if time is None else _position(time, columns),
            tuple(range(len(columns))) if is_passed else table.key,
            {table.argument.name: (0, tuple(column.name for column in columns))},
        )
    return relational.ProcessTable(name, rows, call, result, process)


def _types(columns: Sequence[Column]) -> list[DataType]:
    return [column.type for column in columns]


def _input(
    name: str,
    table: ProcessArgument,
    argument: syntax.Expression,
    times: Sequence[syntax.Name],
    chain: ScopeChain,
    resolve_table: ResolveTable,
) -> _Input:
    rows, keys = resolve_table(argument, chain)
    scope = SelectScope(chain, (SourceBinding("", rows.columns),))
    key, order = _partition(name, table, argument, keys, rows.columns, scope)
    names = {column.name for column in rows.columns}
    time = next((event_time(name, scope) for name in times if name.parts[0] in names), None)
    return _Input(table, rows, key, order, time)


def _require_times(
    name: str, inputs: Sequence[_Input], times: Sequence[syntax.Name], call: syntax.Call
) -> None:
    """Require a time of each table that needs one, all of one type."""
    types = {type(table.time.type) for table in inputs if table.time is not None}
    for table in inputs:
        is_required = ArgumentTrait.REQUIRE_ON_TIME in table.argument.traits
        if table.time is None and (times or is_required):
            problem = f"{name} requires the argument 'on_time'"
            if times:
                problem = f"on_time names no column of the table {table.argument.name!r}"
            raise SchemaError(
                problem,
                code="unknown-column" if times else "invalid-function-call",
                hint=ADD_ON_TIME,
                span=call.span,
            )
    if len(types) > 1:
        problem = "on_time requires columns of one type"
        raise SchemaError(problem, code="invalid-function-call", span=call.span)


#: The alias of a table among several, and the columns that follow those of all tables.
_TABLE, _NUMBER, _KEY, _TIME = "$table$", "$number$", "$key$", "$time$"


def _combine(
    function: Function, values: Mapping[str, Typed], inputs: Sequence[_Input], call: syntax.Call
) -> tuple[Relation, relational.ProcessCall]:
    """Return the rows of several tables as one relation, and the call over it.

    Rows are ordered by their time; without one, or at equal times, by their table.
    """
    widths = [len(table.rows.columns) for table in inputs]
    keys = [_types([table.rows.columns[place] for place in table.key]) for table in inputs]
    if any(
        [key.nullable() for key in other] != [key.nullable() for key in keys[0]] for other in keys
    ):
        raise SchemaError(
            "tables must be partitioned by columns of the same types",
            code="invalid-function-call",
            hint="CAST the keys of PARTITION BY to common types",
            span=call.span,
        )
    if any(table.order for table in inputs):
        raise UnsupportedError(
            "ORDER BY of one of several tables is not supported",
            hint="order the rows of all tables by on_time",
        )
    rows: Relation | None = None
    for number, table in enumerate(inputs):
        block = relational.Select(
            (*_items(inputs, number), *_common_items(table, number)),
            relational.Named(table.rows, _TABLE, table.rows.columns),
        )
        columns = tuple(Column(name, type_.nullable()) for name, type_ in block.columns)
        rows = (
            block if rows is None else relational.SetOperation("UNION", True, rows, block, columns)
        )
    first = sum(widths)
    time = None if inputs[0].time is None else first + 1
    order = [(place, False, False) for place in (time, first) if place is not None]
    begin = first + (1 if time is None else 2)
    key = tuple(range(begin, begin + len(keys[0])))
    tables = {
        table.argument.name: (
            sum(widths[:number]),
            tuple(column.name for column in table.rows.columns),
        )
        for number, table in enumerate(inputs)
    }
    passed = key * len(inputs)
    process = relational.ProcessCall(
        function, values, key, tuple(order), time, passed, tables, first
    )
    return cast("Relation", rows), process


def _items(inputs: Sequence[_Input], own: int) -> Iterator[Item]:
    """Yield the columns of all tables, which are NULL but for those of `own`."""
    for number, table in enumerate(inputs):
        for place, (name, type_) in enumerate(table.rows.columns):
            value = (
                Ref(name, type_, _TABLE)
                if number == own
                else Constant(syntax.Literal(syntax.LiteralKind.NULL, "NULL"), type_.nullable())
            )
            yield Item(f"{number}_{place}", value)


def _common_items(table: _Input, number: int) -> Iterator[Item]:
    """Yield the number of a table, the time of a row and its keys."""
    literal = syntax.Literal(syntax.LiteralKind.EXACT, str(number))
    yield Item(_NUMBER, Constant(literal, IntType(nullable=False)))
    columns = table.rows.columns
    if table.time is not None:
        yield Item(_TIME, Ref(table.time.name, table.time.type, _TABLE))
    for count, place in enumerate(table.key):
        name, type_ = columns[place]
        yield Item(f"{_KEY}{count}", Ref(name, type_, _TABLE))


def _partition(
    name: str,
    table: ProcessArgument,
    argument: syntax.Expression,
    keys: Sequence[syntax.Expression],
    columns: Columns,
    scope: SelectScope,
) -> tuple[tuple[int, ...], tuple[tuple[int, bool, bool], ...]]:
    """Return the positions of PARTITION BY and ORDER BY."""
    if not table.is_set:
        require_rows(name, argument)
        return (), ()
    if not keys and ArgumentTrait.OPTIONAL_PARTITION_BY not in table.traits:
        raise SchemaError(
            f"{name} requires PARTITION BY for the table {table.name!r}",
            code="invalid-function-call",
            hint=f"write {table.name} => TABLE t PARTITION BY column",
            span=argument.span,
        )
    sort_keys: tuple[syntax.SortKey, ...] = ()
    match argument:
        case syntax.Subquery(query=syntax.TableArgument(order_by=sort_keys)):
            pass
    key = tuple(_position(column_of(name, scope), columns) for name in keys)
    order = tuple(
        (
            _position(column_of(sort_key.expression, scope), columns),
            sort_key.descending,
            sort_key.descending if sort_key.nulls_last is None else sort_key.nulls_last,
        )
        for sort_key in sort_keys
    )
    return key, order


def _position(column: Ref, columns: Columns) -> int:
    return [other.name for other in columns].index(column.name)


def _constant(argument: ProcessArgument, written: syntax.Expression, chain: ScopeChain) -> Typed:
    """Return the value of an argument, which reads no columns."""
    typed = value(SelectScope(chain), written)
    if argument.type is not None and not supports_implicit_cast(typed.type, argument.type):
        raise SchemaError(
            f"argument {argument.name!r} must be {argument.type.as_summary_string()}, got"
            f" {typed.type.as_summary_string()}",
            code="invalid-function-call",
            span=written.span,
        )
    return typed
