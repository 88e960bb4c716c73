"""Calls of user-defined Python functions, which Spark's workers evaluate."""

from __future__ import annotations

import datetime as dt
import os
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, cast
from zoneinfo import ZoneInfo

from schema_core.base.arguments import type_name
from schema_core.base.lazy import dataclass
from schema_core.base.text import show
from schema_core.environment import options as session_options
from schema_core.errors import UnsupportedError
from schema_core.expressions.typed import FunctionCall, FunctionKind
from schema_core.expressions.user_functions import (
    AggregateFunction,
    AsyncScalarFunction,
    FunctionContext,
    PythonImplementation,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    UserDefinedFunction,
    is_asynchronous,
)
from schema_core.mappings.arrow.schemas import to_arrow
from schema_core.spark.compiler.expression import user_call
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.aggregates import compile_aggregate
from schema_core.spark.compiler.translation import MAX_PRECISION, TranslatedCall, sql_type
from schema_core.spark.compiler.tree import (
    Case,
    Node,
    PythonUdf,
    call,
    fail,
    let,
    node_of,
    operator,
)
from schema_core.spark.python.async_functions import AsyncCalls, of_batches
from schema_core.spark.python.dependencies import send_dependencies
from schema_core.spark.python.metric_accumulators import metric_group
from schema_core.spark.python.udf_registration import spark_type
from schema_core.spark.session.api_mode import is_connect
from schema_core.spark.session.session import TemporaryNames
from schema_core.spark.writing.row_checks import of_exact_type
from schema_core.types import (
    AnyTimestampType,
    ArrayType,
    DataType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    TimeType,
    TypeFamily,
    VariantType,
)
from schema_core.types.atomic import IntegralType
from schema_core.types.row_value import Row
from schema_core.types.values import convert_losslessly

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True)
class UserCalls:
    """Compiles calls of user-defined functions, and registers those of Python under `names`.

    An instant is passed as the session time zone's local datetime, as in PyFlink. An aggregate gets
    the list of a group's rows, which Spark collects; a table function returns a list of rows.
    """

    names: TemporaryNames
    zone: str = "UTC"
    options: Mapping[str, str] = field(default_factory=dict)
    #: the names of registered functions: equal calls, as those of GROUP BY and SELECT, have one
    registered: dict[object, str] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, called: TranslatedCall) -> Node:
        """Return the node of a call of a scalar function or an aggregate.

        Functions of many rows, and types that Spark passes to Python otherwise than Flink does, are
        `not-executable`.
        """
        function = called.call.function
        if not isinstance(function.spark, PythonImplementation):
            return user_call(called)
        if function.kind is FunctionKind.AGGREGATE:
            zone = "UTC" if function.spark.vectorized else self.zone
            parts = [
                part
                for position, argument in enumerate(self._arguments(called, zone))
                for part in (node_of(f"a{position}"), argument)
            ]
            row = call("named_struct", *parts) if parts else node_of(1)
            rows = compile_aggregate("collect_list", called, row)
            aggregate = _aggregate(function.spark, self._context(called), called.types, self.zone)
            return self._python(called, aggregate, called.type, (rows,))
        if function.kind is not FunctionKind.SCALAR:
            raise self._refusal(called)
        if function.spark.vectorized:
            return self._call_with_columns(called, function.spark)
        arguments = self._arguments(called)
        scalar = _scalar(_function_of(called), self._context(called))
        scalar = _with_rows(scalar, called.types)
        if is_asynchronous(function.spark.implementation):
            return self._asynchronous(called, scalar, arguments)
        return self._python(called, scalar, called.type, arguments)

    def rows(self, called: TranslatedCall) -> Node:
        """Return the node of the array of rows that a table function returns.

        Errors are those of a call; any other function is refused.
        """
        function = called.call.function
        if function.kind is not FunctionKind.TABLE or not isinstance(
            function.spark, PythonImplementation
        ):
            raise self._refusal(called)
        type_ = ArrayType(called.type)
        require_handed(type_)
        is_row = isinstance(called.type, RowType)
        table = _table(_function_of(called), self._context(called), is_row=is_row)
        table = _with_rows(table, called.types)
        return self._python(called, table, type_, self._arguments(called))

    def worker_function(self, call: FunctionCall) -> Callable[..., Any] | None:
        """Return the function of a call for Python workers, which call it themselves.

        A scalar function gets values, an aggregate the list of its rows as tuples. The result is
        None for a function that is not one of Python. Functions of columns, asynchronous ones, and
        types that `__call__` refuses, are `not-executable`.
        """
        spark = call.function.spark
        if not isinstance(spark, PythonImplementation):
            return None
        called = TranslatedCall(call, (), self.zone)
        for type_ in (called.type, *called.types):
            require_handed(type_)
            if isinstance(type_, LocalZonedTimestampType):
                raise self._refusal(called)
        if spark.vectorized or is_asynchronous(spark.implementation):
            raise self._refusal(called)
        if call.function.kind is FunctionKind.AGGREGATE:
            function = _aggregate(spark, self._context(called), called.types, self.zone)
        elif call.function.kind is FunctionKind.SCALAR:
            function = _scalar(_function_of(called), self._context(called))
            function = _with_rows(function, called.types)
        else:
            raise self._refusal(called)
        return checked_result(function, call.function.name, called.type, self.zone)

    def _refusal(self, called: TranslatedCall) -> UnsupportedError:
        function = called.call.function
        return UnsupportedError(
            f"the {function.kind.value} function {function.name} is not supported here on Spark",
            code="not-executable",
        )

    def _context(self, called: TranslatedCall) -> FunctionContext:
        """Return the context of a function, with metrics if its class has a method `open`.

        What functions import is sent to the workers. Spark Connect has no accumulators:
        `get_metric_group` is refused there.
        """
        has_archives = send_dependencies(self.names.session, self.options)
        spark, group = called.call.function.spark, None
        kind = type(spark.implementation) if isinstance(spark, PythonImplementation) else object
        opens = getattr(kind, "open", None) not in (None, UserDefinedFunction.open)
        if (
            opens
            and session_options.PYTHON_METRICS.of(self.options)
            and not is_connect(self.names.session)
        ):
            group = metric_group(self.names.session, called.call.function.name)
        parameters = session_options.JOB_PARAMETERS.of(self.options)
        return FunctionContext(group, parameters, has_archives=has_archives)

    def _arguments(self, called: TranslatedCall, zone: str | None = None) -> tuple[Node, ...]:
        """Return the arguments; instants are clocks of a zone, by default that of the session."""
        for type_ in (called.type, *called.types):
            require_handed(type_)
        return tuple(
            datetimes.clock(node, type_, zone or self.zone)
            if isinstance(type_, LocalZonedTimestampType)
            else node
            for node, type_ in zip(called.arguments, called.types, strict=True)
        )

    def _python(
        self,
        called: TranslatedCall,
        function: Callable[..., Any],
        type_: DataType,
        arguments: tuple[Node, ...],
    ) -> Node:
        """Return the call of a Python function, with results converted to a type."""
        require_returned(type_)
        declared = called.call.function
        checked = checked_result(function, declared.name, type_, self.zone)
        name = self._register(called, lambda: self.names.function(checked, exchange_type(type_)))
        return self._result(called, name, type_, arguments)

    def _register(self, called: TranslatedCall, register: Callable[[], str]) -> str:
        """Return the name of a function, which is registered once for equal calls of a query."""
        function = called.call.function
        types = ", ".join(map(str, (called.type, *called.types)))
        key = id(function.spark), function.name, function.kind, types
        if not function.deterministic:
            return register()
        if key not in self.registered:
            self.registered[key] = register()
        return self.registered[key]

    def _result(
        self, called: TranslatedCall, name: str, type_: DataType, arguments: tuple[Node, ...]
    ) -> Node:
        """Return the call of a registered function; its local datetimes become instants."""
        result = PythonUdf(name, arguments, called.call.function.deterministic, total=False)
        instant = isinstance(type_, LocalZonedTimestampType)
        return datetimes.instant(result, self.zone) if instant else result

    def _asynchronous(
        self, called: TranslatedCall, function: Callable[..., Any], arguments: tuple[Node, ...]
    ) -> Node:
        """Return the call of a function that runs for several rows at once."""
        require_returned(called.type)
        name, types, call = called.call.function.name, called.types, function
        if not arguments:  # a batch is as long as its columns, so there must be one
            arguments, types, call = (node_of(1),), (IntType(),), lambda _: function()
        checked = checked_result(lambda value: value, name, called.type, self.zone)
        received = in_arrow(called.type)
        columns, result = _columns(types), _columns([received])
        evaluate = of_batches(call, name, checked, columns, result, async_calls(self.options))
        name = self._register(
            called, lambda: self.names.function_of_columns(evaluate, exchange_type(received))
        )
        node = self._result(called, name, called.type, arguments)
        return node if received == called.type else called.cast(node)

    def _call_with_columns(self, called: TranslatedCall, spark: PythonImplementation) -> Node:
        """Return the call of a function of pandas series."""
        for type_ in (called.type, *called.types):
            if any(
                isinstance(part, LocalZonedTimestampType) and part is not type_
                for part in type_.walk()
            ):
                raise UnsupportedError(
                    "a series of pandas cannot hold local times of the session time zone in "
                    "values of rows and arrays",
                    code="not-executable",
                    hint="cast to TIMESTAMP, or declare func_type='general'",
                )
        require_returned(called.type)
        function = _scalar(spark.implementation, self._context(called))
        function = _with_instants(function, called.types, called.type, self.zone)
        received = in_arrow(called.type)
        name = self._register(
            called, lambda: self.names.function_of_series(function, exchange_type(received))
        )
        declared = called.call.function
        arguments = self._arguments(called, zone="UTC")
        node: Node = PythonUdf(name, arguments, declared.deterministic, total=False)
        if isinstance(called.type, LocalZonedTimestampType):
            node = datetimes.instant(node, "UTC")
        if received != called.type:
            lost = fail(f"a result of function {declared.name} has more digits than its type")
            node = let(
                node,
                lambda value: Case(
                    ((operator("<>", value, called.cast(value)), lost),), called.cast(value)
                ),
            )
        return of_exact_type(node, called.type, declared.name)


def _function_of(called: TranslatedCall) -> object:
    """Return the function of a call; definitions do not store it."""
    spark = called.call.function.spark
    if isinstance(spark, PythonImplementation) and spark.implementation is not None:
        return spark.implementation
    raise UnsupportedError(
        f"the Python function {called.call.function.name} is not supported on Spark",
        code="not-executable",
    )


def async_calls(options: Mapping[str, str]) -> AsyncCalls:
    """Return how a session's options call asynchronous functions."""
    values = [
        option.of(options)
        for option in (session_options.ASYNC_TIMEOUT, session_options.ASYNC_DELAY)
    ]
    timeout, delay = (value.total_seconds() if value is not None else 0.0 for value in values)
    is_repeated = session_options.ASYNC_RETRIES.of(options) != "NO_RETRY"
    retries = (session_options.ASYNC_ATTEMPTS.of(options) or 0) if is_repeated else 0
    return AsyncCalls(session_options.ASYNC_CONCURRENCY.of(options) or 1, timeout, retries, delay)


def _columns(types: Sequence[DataType]) -> StructType:
    """Return the Spark types of values exchanged with Python, as columns."""
    from pyspark.sql.types import StructField, StructType

    return StructType(
        [
            StructField(f"a{place}", spark_type(exchange_type(data_type)))
            for place, data_type in enumerate(types)
        ]
    )


def in_arrow(type_: DataType) -> DataType:
    """Return the type that Spark reads from Arrow for a type: times have microseconds."""
    if isinstance(type_, TimeType):
        return TimeType(6, type_.is_nullable)
    return type_.rebuild(tuple(map(in_arrow, type_.children())))


def exchange_type(type_: DataType) -> str:
    """Return the Spark type of a value that is exchanged with Python."""
    is_instant = isinstance(type_, LocalZonedTimestampType)
    return "TIMESTAMP_NTZ" if is_instant else sql_type(type_)


def require_handed(type_: DataType) -> None:
    """Refuse arguments that Python would receive as other values."""
    for part in type_.walk():
        fine = isinstance(part, AnyTimestampType) and part.precision > MAX_PRECISION
        nested = isinstance(part, LocalZonedTimestampType) and part is not type_
        if fine or nested or isinstance(part, MultisetType) or part.is_(TypeFamily.INTERVAL):
            raise UnsupportedError(
                f"a value of type {part.as_summary_string()} cannot be passed to Python",
                code="not-executable",
                hint="cast it to a string or a number",
            )


def require_returned(type_: DataType) -> None:
    """Refuse results that Spark does not accept from Python unchanged."""
    for part in type_.walk():
        if isinstance(part, VariantType):
            raise UnsupportedError(
                f"a value of type {part.as_summary_string()} cannot be returned from Python",
                code="not-executable",
                hint="return a string of JSON and parse it with PARSE_JSON",
            )


class FunctionResultError(ValueError):
    """A user-defined function returned a value that its declared type cannot hold."""


def checked_result(
    function: Callable[..., Any], name: str, type_: DataType, zone: str
) -> Callable[..., Any]:
    """Return the function with its results converted to its declared type, without loss.

    `FunctionResultError` has the function's name, the value and the type.
    """

    def checked_result(*arguments: Any) -> Any:
        value = function(*arguments)
        converted, reason = convert_losslessly(type_, _local(value, type_, zone))
        if reason is None:
            return converted
        raise FunctionResultError(
            f"function {name} returned {show(value)}, but its result type is"
            f" {type_.as_summary_string()}: {reason}"
        )

    return checked_result


def _local(value: Any, type_: DataType, zone: str) -> Any:
    """Convert an aware datetime to the session time zone's local datetime.

    In the hour that a clock change repeats it is returned unchanged: its local time is ambiguous.
    """
    aware = isinstance(value, dt.datetime) and value.tzinfo is not None
    if not aware or not isinstance(type_, LocalZonedTimestampType):
        return value
    clock = value.astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)
    return clock if clock.replace(tzinfo=ZoneInfo(zone)) == value else value


class _Opened:
    """Exists while a worker has an opened function."""


def opener_of(implementation: object, context: FunctionContext) -> Callable[[], None]:
    """Return a function that opens an object before its first row, once in each task.

    The object is closed when the worker drops the function at the task's end, Spark's only callback
    then. An error of `close` is printed on the worker's stderr.
    """
    opened: list[_Opened] = []

    def open_once() -> None:
        if not opened and isinstance(implementation, UserDefinedFunction):
            implementation.open(_in_task(context))
            opened.append(_Opened())
            weakref.finalize(opened[0], implementation.close)

    return open_once


def _in_task(context: FunctionContext) -> FunctionContext:
    """Return the context in the Spark task of this worker."""
    from pyspark import TaskContext

    task = TaskContext.get()
    return context if task is None else context.in_task(task.partitionId(), task.attemptNumber())


def _scalar(implementation: object, context: FunctionContext) -> Callable[..., Any]:
    """Return the workers' callable: of an object its `eval`, opened before the first row."""
    if not isinstance(implementation, UserDefinedFunction):
        # declared functions are one or the other
        return _in_directory(cast("Callable[..., Any]", implementation), context)
    function = cast("ScalarFunction | AsyncScalarFunction | TableFunction", implementation)
    open_once, evaluate = opener_of(function, context), function.eval

    def evaluate_call(*arguments: Any) -> Any:
        open_once()
        return evaluate(*arguments)

    return _in_directory(evaluate_call, context)


def _in_directory(function: Callable[..., Any], context: FunctionContext) -> Callable[..., Any]:
    """Return a function that runs in the directory of the archives of its job, if there are any."""
    if not context.has_archives:
        return function

    def run_in_directory(*arguments: Any) -> Any:
        from pyspark import SparkFiles

        os.chdir(SparkFiles.getRootDirectory())
        return function(*arguments)

    return run_in_directory


def _with_rows(
    function: Callable[..., Any], types: Sequence[DataType], skipped: int = 0
) -> Callable[..., Any]:
    """Return a function that receives PyFlink's `Row` in place of Spark's.

    `types` are the types of the last arguments; earlier ones are passed unchanged.
    """
    if not any(isinstance(part, RowType) for data_type in types for part in data_type.walk()):
        return function

    def with_rows(*arguments: Any) -> Any:
        received = map(convert_argument, types, arguments[skipped:])
        return function(*arguments[:skipped], *received)

    return with_rows


def convert_argument(type_: DataType, value: Any) -> Any:
    """Return a value with PyFlink's `Row` in place of Spark's."""
    if value is None:
        return None
    match type_:
        case RowType(fields=fields):
            row = Row(
                *(
                    convert_argument(item.data_type, part)
                    for item, part in zip(fields, value, strict=True)
                )
            )
            row.set_field_names([item.name for item in fields])
            return row
        case ArrayType(element_type=element):
            return [convert_argument(element, item) for item in value]
        case MapType(key_type=key, value_type=held):
            return {
                convert_argument(key, first): convert_argument(held, two)
                for first, two in value.items()
            }
        case _:
            return value


def _series(values: list[Any], type_: DataType) -> Any:
    """Return values as the series that a scalar function gets; rows as a DataFrame."""
    import pandas as pd

    match type_:
        case RowType(fields=fields):
            columns = {
                item.name: _series(
                    [None if row is None else row[at] for row in values], item.data_type
                )
                for at, item in enumerate(fields)
            }
            return pd.DataFrame(columns)
        case IntegralType() | FloatType() | ArrayType():
            import pyarrow as pa

            return pa.array(values, to_arrow(type_)).to_pandas(date_as_object=True)
        case _:
            return pd.Series(values)


def _table(implementation: object, context: FunctionContext, *, is_row: bool) -> Callable[..., Any]:
    """Return a table function's callable, which returns the list of its rows.

    As in PyFlink, a value that is neither a list nor an iterator is the only row, and a row of one
    column may be a tuple or a `Row`. `is_row` is whether the rows have several columns.
    """
    evaluate = _scalar(implementation, context)

    def evaluate_call(*arguments: Any) -> list[Any]:
        result = evaluate(*arguments)
        if result is None:
            return []
        is_single = isinstance(result, str | bytes | tuple | Row | Mapping)
        rows = [result] if is_single or not isinstance(result, Iterable) else list(result)
        return rows if is_row else [_only_column(row) for row in rows]

    return evaluate_call


def _only_column(row: Any) -> Any:
    """Return the value of a row of one column."""
    return row[0] if isinstance(row, tuple | Row) and len(row) == 1 else row


def _of_series(
    implementation: object, context: FunctionContext, types: Sequence[DataType], zone: str
) -> Callable[..., Any]:
    """Return the callable of a list of rows for an aggregate that takes series of pandas.

    Instants are clocks of UTC; their series have the time zone of the session.
    """
    if isinstance(implementation, AggregateFunction):
        aggregate, open_once = implementation, opener_of(implementation, context)

        def evaluate(*series: Any) -> Any:
            open_once()
            accumulator = aggregate.create_accumulator()
            aggregate.accumulate(accumulator, *series)
            return aggregate.get_value(accumulator)

    else:
        evaluate = _scalar(implementation, context)

    def of_series(rows: list[Any]) -> Any:
        import pandas as pd

        received = [_series([row[at] for row in rows], type_) for at, type_ in enumerate(types)]
        for at, type_ in enumerate(types):
            if isinstance(type_, LocalZonedTimestampType):
                received[at] = _localize(pd.to_datetime(received[at]), zone)
        return evaluate(*received)

    return _in_directory(of_series, context)


def _localize(series: Any, zone: str) -> Any:
    """Return clocks of UTC as instants in a time zone."""
    return series.dt.tz_localize("UTC").dt.tz_convert(zone)


def _with_instants(
    function: Callable[..., Any], types: Sequence[DataType], result: DataType, zone: str
) -> Callable[..., Any]:
    """Return a function whose series of instants have the time zone of the session.

    Spark exchanges them as clocks of UTC, which no change of clocks makes ambiguous.
    """
    places = [
        place for place, type_ in enumerate(types) if isinstance(type_, LocalZonedTimestampType)
    ]
    is_returned = isinstance(result, LocalZonedTimestampType)
    if not places and not is_returned:
        return function

    def with_instants(*series: Any) -> Any:
        received = list(series)
        for place in places:
            received[place] = _localize(received[place], zone)
        returned = function(*received)
        if not is_returned:
            return returned
        local = returned.dt.tz_localize(zone) if returned.dt.tz is None else returned
        return local.dt.tz_convert("UTC").dt.tz_localize(None)

    return with_instants


def _aggregate(
    spark: PythonImplementation, context: FunctionContext, types: Sequence[DataType], zone: str
) -> Callable[..., Any]:
    """Return an aggregate's callable of a list of rows (`not-executable` without one)."""
    implementation = spark.implementation
    if spark.vectorized:
        return _of_series(implementation, context, types, zone)
    if not isinstance(implementation, AggregateFunction | TableAggregateFunction):
        raise UnsupportedError(
            f"an aggregate in Python must be an AggregateFunction, got {type_name(implementation)}",
            code="not-executable",
            hint="pass an AggregateFunction, or declare func_type='pandas'",
        )
    open_once, function = opener_of(implementation, context), implementation
    accumulate = _with_rows(function.accumulate, types, skipped=1)

    def aggregate(rows: list[Any]) -> Any:
        open_once()
        accumulator = function.create_accumulator()
        for row in rows:
            accumulate(accumulator, *(row if isinstance(row, tuple) else ()))
        if isinstance(function, TableAggregateFunction):
            return list(function.emit_value(accumulator))
        return function.get_value(accumulator)

    return _in_directory(aggregate, context)
