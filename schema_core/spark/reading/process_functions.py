"""Process table functions in Python as frames: of partitions, or of single rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from schema_core.environment import options as session_options
from schema_core.errors import UnsupportedError
from schema_core.expressions.process_functions import (
    ProcessArgument,
    ProcessSignature,
    process_signature,
)
from schema_core.expressions.typed import Signature
from schema_core.expressions.user_functions import FunctionContext, ProcessTableFunction
from schema_core.query import relation as relational
from schema_core.query.process_calls import process_implementation
from schema_core.query.relation import row_columns
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import require_orderable, sql_type
from schema_core.spark.compiler.tree import Cast, Column, NamedNode, Node, quote, string
from schema_core.spark.python.dependencies import send_dependencies
from schema_core.spark.python.process_functions import NEXT, ORDER, PASSED, TIME, VALUE, ProcessTask
from schema_core.spark.python.udf_registration import spark_type
from schema_core.spark.python.user_functions import (
    checked_result,
    convert_argument,
    exchange_type,
    in_arrow,
    opener_of,
    require_handed,
    require_returned,
)
from schema_core.spark.session.frames import select
from schema_core.types import DataType, LocalZonedTimestampType, RowType
from schema_core.types.row_value import Row, RowKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from schema_core.spark.reading.operator_context import OperatorContext

#: Prefixes of the keys of groups and of the function's columns.
_KEY, RESULT = "key_", "result_"
_KINDS: Final = {str(kind): kind for kind in RowKind}


def process_rows(context: OperatorContext, table: relational.ProcessTable) -> str:
    """Return the rows of a function that is called for each row of its input.

    Raises:
        UnsupportedError: `not-executable` for a function that only a catalog has, and for types
            that Python cannot exchange.
    """
    call, zone = cast("relational.ProcessCall", table.process), context.compiler.zone
    implementation = implementation_of(table)
    signature = process_signature(implementation)
    constants = [argument for argument in signature.arguments if argument.name in call.values]
    columns = table.input.columns
    types = [
        *(column.type for column in columns),
        *(argument.type or call.values[argument.name].type for argument in constants),
    ]
    _, returned = cast("Signature", call.function.declared)
    results = [column.type for column in row_columns(returned)]
    _require_exchanged(types, results)
    for place in (*call.key, *(place for place, *_ in call.order)):
        require_orderable(columns[place].type, "PARTITION BY or ORDER BY")
    order = _order_of(call) if signature.is_set else ()
    rows = _received(context, table, constants, types, [node for node, *_ in order])
    made = struct_of([exchange_type(in_arrow(type_)) for type_ in results], RESULT)
    send_dependencies(context.names.session, context.options)
    parameters = FunctionContext(None, session_options.JOB_PARAMETERS.of(context.options))
    task = ProcessTask(
        implementation,
        signature,
        opener_of(implementation, parameters),
        _arguments(columns, call, signature, [argument.name for argument in constants], types),
        checked_result(lambda row: row, table.function, returned, zone),
        struct_of([exchange_type(type_) for type_ in types], VALUE),
        made,
        tuple((descends, last) for _, descends, last in order),
        not isinstance(returned, RowType),
        call.timers,
        zone,
    )
    output = output_columns(rows.schema, made, has_timers=call.timers is not None)
    if signature.is_set:
        groups = rows.groupBy(*(f"{_KEY}{number}" for number in range(len(call.key))))
        # Spark passes the key to functions of two parameters: a method has `self`
        frame = groups.applyInArrow(lambda group: task.table(group), output)  # noqa: PLW0108
    else:
        frame = rows.mapInArrow(task.batches, output)
    finished = [
        *(Column(f"{PASSED}{place}") for place in call.passed),
        *(
            as_declared(Column(f"{RESULT}{place}"), type_, zone)
            for place, type_ in enumerate(results)
        ),
        *([] if call.time is None else [Column(TIME)]),
        *([] if call.timers is None else [Column(NEXT)]),
    ]
    names = (column.name for column in table.columns)
    return context.query(select(frame, list(zip(finished, names, strict=True))))


def implementation_of(table: relational.ProcessTable) -> ProcessTableFunction:
    """Return the function in Python that a call names.

    Raises:
        UnsupportedError: `not-executable` for a function that only a catalog has.
    """
    call = cast("relational.ProcessCall", table.process)
    implementation = process_implementation((call.function,))
    if implementation is None:
        raise UnsupportedError(
            f"the Python function {table.function} is not available", code="not-executable"
        )
    return implementation


def _order_of(call: relational.ProcessCall) -> list[tuple[int | None, bool, bool]]:
    """Return the keys by which the rows of a partition are sorted, at last their arrival, None."""
    order: list[tuple[int | None, bool, bool]] = [*call.order]
    if not order and not call.arrives and call.time is not None:
        order.append((call.time, False, False))
    return [*order, (None, False, False)]


def _require_exchanged(received: Sequence[DataType], returned: Sequence[DataType]) -> None:
    """Refuse types that Python cannot receive or return."""
    for type_ in (*received, *returned):
        require_handed(type_)
    for type_ in returned:
        require_returned(type_)


def _received(
    context: OperatorContext,
    table: relational.ProcessTable,
    constants: Sequence[ProcessArgument],
    types: Sequence[DataType],
    order: Sequence[int | None],
) -> DataFrame:
    """Return the rows of the input as `ProcessTask` receives them, with the constants.

    `order` are the columns by which they are sorted; None is their arrival.
    """
    call, compiler = cast("relational.ProcessCall", table.process), context.compiler
    frame = context.rows(table.input)
    if call.kind is not None and call.drops_old_rows:
        old = string(str(RowKind.UPDATE_BEFORE))
        frame = frame.where(f"{quote(frame.columns[call.kind])} <> {old}")
    stored = [Column(name) for name in frame.columns]
    nodes: list[Node] = list(stored)
    for argument in constants:
        typed = call.values[argument.name]
        target = argument.type or typed.type
        nodes.append(convert(compiler.compile(typed), typed.type, target, compiler.zone))
    named: list[NamedNode] = [
        (as_received(node, type_, compiler.zone), f"{VALUE}{place}")
        for place, (node, type_) in enumerate(zip(nodes, types, strict=True))
    ]
    named += [(stored[place], f"{PASSED}{place}") for place in dict.fromkeys(call.passed)]
    arrival = inline("monotonically_increasing_id()")
    named += [
        (arrival if place is None else stored[place], f"{ORDER}{number}")
        for number, place in enumerate(order)
    ]
    named += [(stored[place], f"{_KEY}{number}") for number, place in enumerate(call.key)]
    if call.time is not None:
        named.append((stored[call.time], TIME))
    return select(frame, named)


def as_received(node: Node, type_: DataType, zone: str) -> Node:
    """Return a value as Python receives it: an instant as the local time of the session."""
    if isinstance(type_, LocalZonedTimestampType):
        return datetimes.clock(node, type_, zone)
    return node


def as_declared(node: Node, type_: DataType, zone: str) -> Node:
    """Return a result in its declared type."""
    if isinstance(type_, LocalZonedTimestampType):
        return datetimes.instant(node, zone)
    return node if in_arrow(type_) == type_ else Cast(node, sql_type(type_))


def struct_of(types: Sequence[str], prefix: str) -> StructType:
    """Return columns of Spark types, named by a prefix and their position."""
    from pyspark.sql.types import StructField, StructType

    return StructType(
        [StructField(f"{prefix}{place}", spark_type(name)) for place, name in enumerate(types)]
    )


def output_columns(rows: StructType, made: StructType, *, has_timers: bool = False) -> StructType:
    """Return the columns that workers return: those that are passed, the results, and the times."""
    from pyspark.sql.types import LongType, StructField, StructType

    passed = [field for field in rows.fields if field.name.startswith(PASSED)]
    time = [field for field in rows.fields if field.name == TIME]
    next_timer = [StructField(NEXT, LongType())] if has_timers else []
    return StructType([*passed, *made.fields, *time, *next_timer])


def _arguments(
    columns: relational.Columns,
    call: relational.ProcessCall,
    signature: ProcessSignature,
    constants: list[str],
    types: Sequence[DataType],
) -> Callable[[Sequence[Any]], tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Return the conversion of a row's values to the arguments of `eval`, and the keys."""
    places = {name: len(columns) + place for place, name in enumerate(constants)}
    order = [argument.name for argument in signature.arguments]
    while order and order[-1] not in places and order[-1] not in call.tables:  # `eval` has defaults
        order.pop()
    tables = dict(call.tables)
    numbers = {name: number for number, name in enumerate(tables)}
    number, key = call.number, call.key

    def convert_row(row: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        values = [convert_argument(type_, item) for type_, item in zip(types, row, strict=True)]

        def argument(name: str) -> Any:
            if name not in tables:
                return values[places[name]] if name in places else None
            if number is not None and values[number] != numbers[name]:
                return None  # the row is of another table
            first, names = tables[name]
            whole = Row(*values[first : first + len(names)])
            whole.set_field_names(names)
            if call.kind is not None:
                whole.set_row_kind(_KINDS[values[call.kind]])
            return whole

        return tuple(map(argument, order)), tuple(values[place] for place in key)

    return convert_row
