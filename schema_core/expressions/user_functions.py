"""User-defined functions in Python, with PyFlink's names.

Types are declared or inferred from type hints. Arguments are nullable, as in PyFlink: ``int`` is
BIGINT. A parameter takes any type without a hint, for a hint without a data type (`Row`, a series
of pandas), and for one with several, between which a cast would change values: ``Decimal``,
``datetime`` and ``time``. The result of ``-> int`` is BIGINT NOT NULL, of ``-> int | None`` BIGINT.

>>> from schema_core.expressions import col
>>> @udf(result_type="INT")
... def half(number: int) -> int:
...     return number // 2
>>> print(half.signatures[0][1], half(col("a")))
INT *half*(`a`)
"""

from __future__ import annotations

import inspect
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    NoReturn,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    overload,
)

from schema_core.base.arguments import require_instance, type_name
from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.base.text import show
from schema_core.errors import SchemaError, UnsupportedError, at
from schema_core.expressions.fluent import Expression, Value, to_tree
from schema_core.expressions.function_hints import parameter_type, type_hints
from schema_core.expressions.functions import declare
from schema_core.expressions.typed import Declared, Function, FunctionKind, Signature
from schema_core.sql.syntax import Call
from schema_core.types import ArrayType, DataType, DataTypes
from schema_core.types.python import type_of

if TYPE_CHECKING:
    from schema_core.expressions.function_metrics import MetricGroup
    from schema_core.expressions.typed import FunctionCall

#: A data type, its SQL name, a Python class or a type hint; for arguments also a list.
TypeLike: TypeAlias = Any

Result = TypeVar("Result")
Accumulator = TypeVar("Accumulator")


class FunctionContext:
    """The job that calls a function, as `open` receives it.

    >>> FunctionContext(job_parameters={"country": "FR"}).get_job_parameter("country", "?")
    'FR'
    """

    def __init__(
        self,
        base_metric_group: MetricGroup | None = None,
        job_parameters: Mapping[str, str] | None = None,
        *,
        index_of_this_subtask: int = 0,
        attempt_number: int = 0,
        has_archives: bool = False,
    ) -> None:
        from schema_core.expressions.function_metrics import MetricGroup

        require_instance(base_metric_group, (MetricGroup, NoneType), "base_metric_group")
        require_instance(job_parameters, (Mapping, NoneType), "job_parameters", "a mapping")
        self._group = base_metric_group
        self._parameters = dict(job_parameters or {})
        self._index = index_of_this_subtask
        self._attempt = attempt_number
        #: Whether functions run in the directory of the archives of ``python.archives``.
        self.has_archives = has_archives

    def in_task(self, index: int, attempt: int) -> FunctionContext:
        """The context in a task of the job."""
        return FunctionContext(
            self._group,
            self._parameters,
            index_of_this_subtask=index,
            attempt_number=attempt,
            has_archives=self.has_archives,
        )

    def get_metric_group(self) -> MetricGroup:
        """The group of the metrics of the function.

        Raises:
            UnsupportedError: with code `feature-not-supported` unless ``python.metric.enabled`` is
                true.
        """
        if self._group is None:
            raise UnsupportedError(
                "metrics are not collected", hint="SET 'python.metric.enabled' = 'true'"
            )
        return self._group

    def get_index_of_this_subtask(self) -> int:
        """The number of the task, from 0."""
        return self._index

    def get_attempt_number(self) -> int:
        """How many attempts of the task have failed."""
        return self._attempt

    def get_task_name(self) -> NoReturn:
        """Raise `needs-flink`: Spark has no name of a task."""
        raise _not_passed("get_task_name")

    def get_task_name_with_subtasks(self) -> NoReturn:
        """Raise `needs-flink`: Spark has no name of a task."""
        raise _not_passed("get_task_name_with_subtasks")

    def get_number_of_parallel_subtasks(self) -> NoReturn:
        """Raise `needs-flink`: Spark does not pass the number of tasks to its workers."""
        raise _not_passed("get_number_of_parallel_subtasks")

    def get_max_number_of_parallel_subtasks(self) -> NoReturn:
        """Raise `needs-flink`: Spark does not pass the number of tasks to its workers."""
        raise _not_passed("get_max_number_of_parallel_subtasks")

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """A value of ``pipeline.global-job-parameters``, or the default."""
        return self._parameters.get(key, default_value)


def _not_passed(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"`FunctionContext.{name}` is not available: Spark does not pass it to its workers",
        code="needs-flink",
        hint="use `get_index_of_this_subtask`",
    )


class UserDefinedFunction:
    """The base class of user-defined functions."""

    def open(self, function_context: FunctionContext) -> None:
        """Initialize the function, before the first row."""

    def close(self) -> None:
        """Release resources, after the last row."""

    def is_deterministic(self) -> bool:
        """Whether equal arguments always have equal results."""
        return True


class ScalarFunction(UserDefinedFunction, ABC):
    """A function that returns one value per row."""

    @abstractmethod
    def eval(self, *arguments: Any, **named: Any) -> Any:
        """The value; each overload of `typing.overload` is a signature."""


class AsyncScalarFunction(UserDefinedFunction, ABC):
    """A function that returns one value per row, and waits for others meanwhile.

    Several calls of the coroutine `eval` run at once. The options ``table.exec.async-scalar.*``
    limit their number and time, and set retries.
    """

    @abstractmethod
    async def eval(self, *arguments: Any, **named: Any) -> Any:
        """As `ScalarFunction.eval`."""


class TableFunction(UserDefinedFunction, ABC):
    """A function of any number of rows per row."""

    @abstractmethod
    def eval(self, *arguments: Any, **named: Any) -> Iterable[Any]:
        """Yield the rows; a tuple is a row of several columns."""


class ProcessTableFunction(UserDefinedFunction, ABC):
    """A function of a table: see `schema_core.expressions.process_functions`."""

    @abstractmethod
    def eval(self, *arguments: Any) -> Iterable[Any] | None:
        """Yield the rows for one row of the table; a tuple is a row of several columns."""

    def on_timer(self, *arguments: Any) -> Iterable[Any] | None:
        """Yield rows when a timer fires.

        The parameters are those of `eval` before its arguments: the context, if it has one, and
        the state.
        """
        return ()


class ImperativeAggregateFunction(UserDefinedFunction, ABC, Generic[Result, Accumulator]):
    """A function that aggregates many rows by an accumulator."""

    @abstractmethod
    def create_accumulator(self) -> Accumulator:
        """The accumulator before the first row."""

    @abstractmethod
    def accumulate(self, accumulator: Accumulator, *arguments: Any, **named: Any) -> None:
        """Add the values of one row."""


class AggregateFunction(ImperativeAggregateFunction[Result, Accumulator]):
    """An aggregate function of one value; ``get_result_type`` may return its type."""

    @abstractmethod
    def get_value(self, accumulator: Accumulator) -> Result:
        """The result of an accumulator."""


class TableAggregateFunction(ImperativeAggregateFunction[Result, Accumulator]):
    """An aggregate function of any number of rows."""

    @abstractmethod
    def emit_value(self, accumulator: Accumulator) -> Iterable[Result]:
        """Yield the rows; a tuple is a row of several columns."""


@dataclass(frozen=True, slots=True)
class PythonImplementation:
    """A Python function, which only a session can call; neither pickled nor stored.

    A `vectorized` one is called with series of pandas.
    """

    implementation: object = None
    vectorized: bool = False

    def __call__(self, call: FunctionCall, arguments: Sequence[str]) -> str:
        """Raise `not-executable`: a Python function has no Spark SQL."""
        raise UnsupportedError(
            f"the Python function {call.function.name} can only be called by a session",
            code="not-executable",
            hint="run it with TableEnvironment.execute_sql",
        )

    def __reduce__(self) -> tuple[type[PythonImplementation], tuple[()]]:
        return PythonImplementation, ()


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A user-defined function with its signatures, ready to be registered or called.

    A call in Python (``half(col("a"))``) needs no registration, but cannot be stored in a catalog.
    """

    name: str
    signatures: tuple[Signature, ...]
    kind: FunctionKind = FunctionKind.SCALAR
    deterministic: bool = True
    implementation: object = field(default=None, compare=False, repr=False)
    vectorized: bool = False
    #: The columns of its result where it is called with whole rows.
    names: tuple[str, ...] = ()

    def alias(self, *alias_names: str) -> UserFunction:
        """Name the columns of the result for `aggregate`, `flat_aggregate` and `join_lateral`."""
        return replace(self, names=alias_names)

    def rows(self, path: tuple[str, ...] = ()) -> tuple[Function, ...]:
        """The function signatures, under the path that it is registered at."""
        name = path[-1] if path else self.name
        return declare(
            name,
            self.signatures,
            kind=self.kind,
            path=path,
            deterministic=self.deterministic,
            spark=PythonImplementation(self.implementation, self.vectorized),
        )

    def __call__(self, *arguments: Value) -> Expression:
        """The call of the function as an expression."""
        trees = tuple(map(to_tree, arguments))
        return Expression(Call(f"*{self.name}*", trees, inline=self.rows()))


def as_aggregate(call: Call) -> tuple[Call, DataType]:
    """The call of a table aggregate as an aggregate of an array of rows, and the type of a row.

    Raises:
        UnsupportedError: with code `not-executable` for a function that is called by its name.
    """
    functions = call.inline
    if not isinstance(functions, tuple):
        raise UnsupportedError(
            f"table aggregate {call.name!r} must be passed as a function",
            code="not-executable",
            hint="pass the function object instead of its name",
        )
    returns: DataType = functions[0].declared[1]
    rows = declare(
        functions[0].name,
        [(function.declared[0], ArrayType(returns)) for function in functions],
        kind=FunctionKind.AGGREGATE,
        path=functions[0].path,
        deterministic=functions[0].deterministic,
        spark=functions[0].spark,
    )
    return replace(call, inline=rows), returns


#: What a decorator accepts, and a decorator.
Python: TypeAlias = Callable[..., Any] | UserDefinedFunction | type[UserDefinedFunction]
Decorator: TypeAlias = Callable[[Python], UserFunction]

#: The parameters of a function such as `udf`, after the first.
Options = ParamSpec("Options")


class Declares(Protocol[Options]):
    """The type of functions such as `udf`: without `f` they return a decorator."""

    @overload
    def __call__(
        self, f: Python, *args: Options.args, **kwargs: Options.kwargs
    ) -> UserFunction: ...
    @overload
    def __call__(
        self, f: None = ..., *args: Options.args, **kwargs: Options.kwargs
    ) -> Decorator: ...


def _with_overloads(
    function: Callable[Concatenate[Python | None, Options], UserFunction | Decorator],
) -> Declares[Options]:
    """The function itself, for type checkers with its overloads."""
    return cast("Declares[Options]", function)


def user_function(function: object, name: str | None = None) -> UserFunction:
    """The user-defined function of a class, an object or a plain Python function.

    Raises:
        SchemaError: with code `invalid-function` for missing type hints, or for a class that
            cannot be called without arguments; with code `data-type-not-inferred` for a hint
            without a data type.

    >>> class Repeat(ScalarFunction):
    ...     def eval(self, text: str, times: int | None) -> str | None:
    ...         return text * (times or 0)
    >>> [str(row) for row in user_function(Repeat).rows()]
    ['Repeat(STRING, BIGINT)']
    """
    if isinstance(function, UserFunction):
        return function
    instance = _instance(function)
    kind = next(
        (kind for base, kind in KINDS.items() if isinstance(instance, base)), FunctionKind.SCALAR
    )
    return _declare_function(instance, kind, name=name)


# --- PyFlink's decorators ------------------------------------------------------------------------


@_with_overloads
def udf(
    f: Python | None = None,
    input_types: TypeLike = None,
    result_type: TypeLike = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> UserFunction | Decorator:
    """A scalar function, or a decorator if `f` is omitted.

    Args:
        f: A function, a callable object, a `ScalarFunction` or its class; a coroutine function or
            an `AsyncScalarFunction` is called for several rows at once.
        input_types: The types that arguments are cast to; by default those of the type hints. A
            parameter without a hint takes any argument.
        result_type: The type of the result; by default that of the type hint.
        deterministic: Whether equal arguments always have equal results.
        name: The name in messages.
        func_type: ``general``, or ``pandas`` for a function of series, which returns a series.

    Raises:
        SchemaError: with code `invalid-argument` for another `func_type`, and for a coroutine
            function of series; others as `user_function`.

    >>> print(udf(lambda a: a + 1, [DataTypes.INT()], DataTypes.INT(), name="plus").rows()[0])
    plus(INT)
    """
    return _decorate(
        f, FunctionKind.SCALAR, input_types, result_type, deterministic, name, func_type
    )


@_with_overloads
def udtf(
    f: Python | None = None,
    input_types: TypeLike = None,
    result_types: TypeLike = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> UserFunction | Decorator:
    """A table function; several result types are the columns f0, f1, ... of a row.

    Raises:
        SchemaError: with code `invalid-argument` for an empty list of types; others as
            `user_function`.

    >>> @udtf(result_types=["STRING", "INT"])
    ... def split(text: str | None) -> list[tuple[str, int]]:
    ...     return [(word, len(word)) for word in (text or "").split()]
    >>> print(split.signatures[0][1])
    ROW<`f0` VARCHAR(2147483647), `f1` INT>
    """
    result = result_types
    if isinstance(result_types, list | tuple):
        if not result_types:
            raise SchemaError("result_types must not be empty", code="invalid-argument")
        types = list(map(_type, result_types))
        fields = [DataTypes.FIELD(f"f{i}", data_type) for i, data_type in enumerate(types)]
        result = DataTypes.ROW(fields) if len(types) > 1 else types[0]
    return _decorate(f, FunctionKind.TABLE, input_types, result, deterministic, name)


@_with_overloads
def udptf(
    f: Python | None = None,
    result_type: TypeLike = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> UserFunction | Decorator:
    """A process table function of a class or an instance of `ProcessTableFunction`.

    PyFlink has none. The columns of the result are the fields of `result_type`, by default those of
    the type hint of `eval`. Errors are those of `user_function`, and those of
    `schema_core.expressions.process_functions.process_signature`.
    """
    return _decorate(f, FunctionKind.PROCESS_TABLE, None, result_type, deterministic, name)


@_with_overloads
def udaf(
    f: Python | None = None,
    input_types: TypeLike = None,
    result_type: TypeLike = None,
    accumulator_type: TypeLike = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> UserFunction | Decorator:
    """An aggregate function of a class or an instance of `AggregateFunction`.

    Other arguments are those of `udf`.

    Args:
        f: The class or object; with `func_type` ``pandas`` also a function of series that returns
            one value.
        result_type: By default that of the method ``get_result_type`` or of the type hint.
        accumulator_type: Checked and not needed: accumulators stay in one process.
    """
    if accumulator_type is not None:
        _type(accumulator_type)
    return _decorate(
        f, FunctionKind.AGGREGATE, input_types, result_type, deterministic, name, func_type
    )


@_with_overloads
def udtaf(
    f: Python | None = None,
    input_types: TypeLike = None,
    result_type: TypeLike = None,
    accumulator_type: TypeLike = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> UserFunction | Decorator:
    """A table aggregate function of a `TableAggregateFunction`, for `flat_aggregate`.

    Arguments and errors are those of `udaf`, without pandas.
    """
    if accumulator_type is not None:
        _type(accumulator_type)
    kind = FunctionKind.TABLE_AGGREGATE
    return _decorate(f, kind, input_types, result_type, deterministic, name, func_type)


#: Kind -> the values of `func_type`.
FUNCTION_TYPES: dict[FunctionKind, tuple[str, ...]] = {
    FunctionKind.SCALAR: ("general", "pandas"),
    FunctionKind.TABLE: ("general",),
    FunctionKind.PROCESS_TABLE: ("general",),
    FunctionKind.AGGREGATE: ("general", "pandas"),
    FunctionKind.TABLE_AGGREGATE: ("general",),
}


def _decorate(
    f: Python | None,
    kind: FunctionKind,
    input_types: TypeLike,
    result: TypeLike,
    deterministic: bool | None,
    name: str | None,
    func_type: str = "general",
) -> UserFunction | Decorator:
    if func_type not in FUNCTION_TYPES[kind]:
        expected = " or ".join(map(repr, FUNCTION_TYPES[kind]))
        problem = f"func_type must be {expected}, got {show(func_type)}"
        raise SchemaError(problem, code="invalid-argument")
    if input_types is not None and not isinstance(input_types, list | tuple):
        input_types = [input_types]
    parameters = None if input_types is None else tuple(map(_type, input_types))
    returns = None if result is None else _type(result)
    vectorized = func_type == "pandas"

    def decorate(function: Python) -> UserFunction:
        if vectorized and is_asynchronous(_instance(function)):
            raise SchemaError(
                "a function of series cannot be asynchronous",
                code="invalid-argument",
                hint="omit func_type, or write a function without async",
            )
        declared = _declare_function(function, kind, parameters, returns, deterministic, name)
        return replace(declared, vectorized=vectorized)

    return decorate if f is None else decorate(f)


def is_asynchronous(implementation: object) -> bool:
    """Whether a call of a function returns an object to wait for.

    >>> async def look_up(key: int) -> str: ...
    >>> is_asynchronous(look_up), is_asynchronous(len)
    (True, False)
    """
    if isinstance(implementation, UserDefinedFunction):
        return isinstance(implementation, AsyncScalarFunction)
    is_plain = inspect.isroutine(implementation) or isinstance(implementation, partial)
    called = implementation if is_plain else type(implementation).__call__
    return inspect.iscoroutinefunction(called)


def _type(type_like: TypeLike) -> DataType:
    return DataTypes.of(type_like) if isinstance(type_like, str) else type_of(type_like)


def _declare_function(
    function: object,
    kind: FunctionKind,
    parameters: tuple[Declared, ...] | None = None,
    returns: DataType | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> UserFunction:
    instance = _instance(function)
    name = str(name or getattr(function, "__name__", type(instance).__name__))
    with at(f"function {name!r}"):
        if isinstance(instance, ProcessTableFunction):
            from schema_core.expressions.process_functions import process_signature

            process_signature(instance)
            parameters = (...,)
        signatures = _signatures(instance, METHODS[kind], parameters, returns)
    if deterministic is None:
        deterministic = not isinstance(instance, UserDefinedFunction) or instance.is_deterministic()
    return UserFunction(name, signatures, kind, deterministic, instance)


def _instance(function: object) -> object:
    """A function, or an object of its class."""
    if not isinstance(function, type):
        return function
    try:
        return function()
    except Exception as error:
        raise SchemaError(
            f"{type_name(function)} cannot be called without arguments: {error}",
            code="invalid-function",
            hint="pass an object of the class",
        ) from error


# --- signatures from hints -----------------------------------------------------------------------


class Methods(NamedTuple):
    """The methods of a kind of function that its signature is inferred from.

    `accepts` has the parameters, after the first `skipped`; `returns` has the result, an iterable
    of rows for `many`.
    """

    accepts: str
    skipped: int
    returns: str
    many: bool = False


KINDS: dict[type[UserDefinedFunction], FunctionKind] = {
    ScalarFunction: FunctionKind.SCALAR,
    AsyncScalarFunction: FunctionKind.SCALAR,
    TableFunction: FunctionKind.TABLE,
    ProcessTableFunction: FunctionKind.PROCESS_TABLE,
    AggregateFunction: FunctionKind.AGGREGATE,
    TableAggregateFunction: FunctionKind.TABLE_AGGREGATE,
}
METHODS: dict[FunctionKind, Methods] = {
    FunctionKind.SCALAR: Methods("eval", 1, "eval"),
    FunctionKind.TABLE: Methods("eval", 1, "eval", many=True),
    FunctionKind.PROCESS_TABLE: Methods("eval", 1, "eval", many=True),
    FunctionKind.AGGREGATE: Methods("accumulate", 2, "get_value"),
    FunctionKind.TABLE_AGGREGATE: Methods("accumulate", 2, "emit_value", many=True),
}


def _signatures(
    instance: object,
    methods: Methods,
    parameters: tuple[Declared, ...] | None,
    returns: DataType | None,
) -> tuple[Signature, ...]:
    """A signature of each overload of `typing.overload`, and each number of arguments."""
    if returns is None and callable(declared := getattr(instance, "get_result_type", None)):
        returns = _type(declared())
    if parameters is not None and returns is not None:
        return ((parameters, returns),)
    is_method = isinstance(instance, UserDefinedFunction)
    skipped = methods.skipped if is_method else 0
    signatures: list[Signature] = []
    for method in _overloads(instance, methods.accepts):
        is_same = methods.returns == methods.accepts
        returning = method if is_same else _overloads(instance, methods.returns)[0]
        accepted = _parameters(method, skipped) if parameters is None else [parameters]
        result = _result(returning, methods.many) if returns is None else returns
        signatures += [(each, result) for each in accepted]
    return tuple(signatures)


def _overloads(instance: object, name: str) -> Sequence[Callable[..., Any]]:
    """The overloads of a method, or the method itself; another callable is its own."""
    if not isinstance(instance, UserDefinedFunction) and callable(instance):
        return [instance]
    method = getattr(type(instance), name, None)
    if not inspect.isfunction(method):
        raise SchemaError(f"the method {name} is missing", code="invalid-function")
    return typing.get_overloads(method) or [method]


def _parameters(function: Callable[..., Any], skipped: int) -> list[tuple[Declared, ...]]:
    """The types of the parameters for each number of arguments."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # of some functions in C
        return [(...,)]
    hints = type_hints(function)
    declared: list[Declared] = []
    optional = 0
    for parameter in list(signature.parameters.values())[skipped:]:
        with at(f"argument {parameter.name!r}"):
            if parameter.kind is parameter.VAR_POSITIONAL:
                declared.append(...)
                break
            if parameter.kind is parameter.VAR_KEYWORD:
                continue
            if parameter.kind is parameter.KEYWORD_ONLY:
                if parameter.default is not parameter.empty:
                    continue
                raise SchemaError(
                    "a parameter must be positional",
                    code="invalid-function",
                    hint="write typing.overload for each number of arguments",
                )
            optional += parameter.default is not parameter.empty
            declared.append(parameter_type(hints.get(parameter.name, Any)))
    fixed = len(declared) - (... in declared)
    return [tuple(declared), *(tuple(declared[:count]) for count in range(fixed - optional, fixed))]


def _result(function: Callable[..., Any], many: bool) -> DataType:
    with at("the result"):
        hint = type_hints(function).get("return")
        rows = get_args(hint)
        if hint is None or (many and not rows):
            example = ", such as Iterator[tuple[int, str]]" if many else " or declare result_type"
            raise SchemaError(
                "the type hint is missing",
                code="invalid-function",
                hint=f"add a type hint{example}",
            )
        return type_of(rows[0] if many else hint)
