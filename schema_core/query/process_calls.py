"""Calls of a user's process table functions (FLIP-440)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from schema_core.errors import SchemaError
from schema_core.expressions.process_functions import (
    ArgumentTrait,
    ProcessArgument,
    process_signature,
)
from schema_core.expressions.typed import Function, Ref, Signature, Typed
from schema_core.expressions.user_functions import ProcessTableFunction, PythonImplementation
from schema_core.query import relation as relational
from schema_core.query.relation import Columns, Relation
from schema_core.query.scope import ScopeChain, SelectScope, SourceBinding, value
from schema_core.query.table_functions import (
    Arguments,
    bind_arguments,
    check_uid,
    column_of,
    event_time,
    require_rows,
    row_columns,
    rowtime,
)
from schema_core.schema.rules import duplicate_names
from schema_core.sql import syntax
from schema_core.types.casts import supports_implicit_cast

#: Returns the relation of a table argument, and its keys of PARTITION BY.
ResolveTable: TypeAlias = Callable[
    [syntax.Expression, ScopeChain], tuple[Relation, tuple[syntax.Expression, ...]]
]

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


def process_call(
    function: Function,
    implementation: ProcessTableFunction,
    call: syntax.Call,
    chain: ScopeChain,
    resolve_table: ResolveTable,
) -> relational.ProcessTable:
    """Resolve a call of a process table function in Python.

    The columns are those of the table that it passes, those of the function, and `rowtime` if the
    call has `on_time`. By default a function passes the keys of PARTITION BY.

    Raises:
        SchemaError: as `bind_arguments`; `partitioned-window`, `wrong-argument-type`,
            `unknown-column` or `duplicate-column`.
    """
    signature, name = process_signature(implementation), ".".join(call.path) or call.name
    table = signature.table
    names = [argument.name for argument in signature.arguments]
    required = [argument.name for argument in signature.arguments if not argument.is_optional]
    arguments = bind_arguments(call, (*names, *SYSTEM_ARGUMENTS), required)
    data, keys = resolve_table(arguments[table.name], chain)
    columns = data.columns
    scope = SelectScope(chain, (SourceBinding("", columns),))
    key, order = _partition(name, table, arguments[table.name], keys, columns, scope)
    values = {
        argument.name: _constant(argument, arguments[argument.name], chain)
        for argument in signature.arguments
        if not argument.is_table and argument.name in arguments
    }
    check_uid(arguments.get("uid"))
    time = _time(name, table, arguments, call, scope)
    is_passed = ArgumentTrait.PASS_COLUMNS_THROUGH in table.traits
    passed = tuple(range(len(columns))) if is_passed else key
    _, returns = cast("Signature", function.declared)
    result = (
        *(columns[place] for place in passed),
        *row_columns(returns),
        *([] if time is None else [rowtime(time, streaming=chain.context.streaming)]),
    )
    if twice := duplicate_names(column.name for column in result):
        raise SchemaError(
            f"duplicate column {twice[0]!r} in the result",
            code="duplicate-column",
            hint="rename the column of the input",
            span=call.span,
        )
    process = relational.ProcessCall(
        function, values, key, order, None if time is None else _position(time, columns), passed
    )
    return relational.ProcessTable(name, data, call, result, process)


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
            code="partitioned-window",
            hint=f"write {table.name} => TABLE t PARTITION BY column",
            span=argument.span,
        )
    sort_keys: tuple[syntax.SortKey, ...] = ()
    match argument:
        case syntax.Subquery(query=syntax.TableArgument(order_by=sort_keys)):
            pass
    key = tuple(_position(column_of(one, scope), columns) for one in keys)
    order = tuple(
        (
            _position(column_of(one.expression, scope), columns),
            one.descending,
            one.descending if one.nulls_last is None else one.nulls_last,
        )
        for one in sort_keys
    )
    return key, order


def _position(column: Ref, columns: Columns) -> int:
    return [one.name for one in columns].index(column.name)


def _constant(argument: ProcessArgument, written: syntax.Expression, chain: ScopeChain) -> Typed:
    """Return the value of an argument, which reads no columns."""
    typed = value(SelectScope(chain), written)
    if argument.type is not None and not supports_implicit_cast(typed.type, argument.type):
        raise SchemaError(
            f"argument {argument.name!r} must be {argument.type.as_summary_string()}, got"
            f" {typed.type.as_summary_string()}",
            code="wrong-argument-type",
            span=written.span,
        )
    return typed


def _time(
    name: str,
    table: ProcessArgument,
    arguments: Arguments,
    call: syntax.Call,
    scope: SelectScope,
) -> Ref | None:
    """Return the column of `on_time`."""
    if "on_time" in arguments:
        return event_time(arguments["on_time"], scope)
    if ArgumentTrait.REQUIRE_ON_TIME in table.traits:
        raise SchemaError(
            f"{name} requires the argument 'on_time'",
            code="wrong-argument-count",
            hint="add on_time => DESCRIPTOR(column)",
            span=call.span,
        )
    return None
