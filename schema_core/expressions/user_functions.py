"""Functions that a user brings, by PyFlink's names: classes and functions of Python.

What one takes and gives is said by its type hints, or declared: ``int`` is BIGINT NOT NULL, and
``int | None`` is BIGINT. So it is typed, printed by the path that it is registered under, and kept;
nothing here runs it, but the pipeline does.

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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar, overload

from schema_core.errors import SchemaError, UnsupportedError, at
from schema_core.expressions.fluent import Expression, Value, to_tree
from schema_core.expressions.signatures import Function, Kind, Signature, declare
from schema_core.sql.syntax import Call
from schema_core.types import DataType, DataTypes
from schema_core.types.python import type_of

if TYPE_CHECKING:
    from schema_core.expressions.typed import FunctionCall

#: A type, its text, or a Python class or hint that stands for one; of arguments also several.
Given: TypeAlias = Any

Result = TypeVar("Result")
Accumulator = TypeVar("Accumulator")


class UserDefinedFunction:
    """What all functions of users have in common."""

    def open(self, function_context: Any) -> None:
        """Called before the first row."""

    def close(self) -> None:
        """Called after the last row."""

    def is_deterministic(self) -> bool:
        """Whether equal arguments always give equal results."""
        return True


class ScalarFunction(UserDefinedFunction, ABC):
    """One value from the values of one row: the method `eval`."""

    @abstractmethod
    def eval(self, *arguments: Any, **named: Any) -> Any:
        """The value; overloads of `typing.overload` are signatures of their own."""


class TableFunction(UserDefinedFunction, ABC):
    """Any number of rows from the values of one row: what the method `eval` yields."""

    @abstractmethod
    def eval(self, *arguments: Any, **named: Any) -> Iterable[Any]:
        """The rows; a tuple of several values is a row of several columns."""


class AggregateFunction(UserDefinedFunction, ABC, Generic[Result, Accumulator]):
    """One value from many rows, which are put into an accumulator one after the other."""

    @abstractmethod
    def create_accumulator(self) -> Accumulator:
        """What is known before the first row."""

    @abstractmethod
    def accumulate(self, accumulator: Accumulator, *arguments: Any, **named: Any) -> None:
        """Put the values of one row in."""

    @abstractmethod
    def get_value(self, accumulator: Accumulator) -> Result:
        """The value of what has been put in."""


@dataclass(frozen=True, slots=True)
class InPython:
    """How Spark computes a function of Python: by calling it, where a job runs.

    What is pickled or kept knows no more than that there is one.
    """

    implementation: object = None

    def __call__(self, apply: FunctionCall, arguments: Sequence[str]) -> str:
        """There are no words for it: only a session can call it."""
        raise UnsupportedError(
            f"the function {apply.function.name} of Python is called where a query runs",
            code="not-executable",
            hint="run it with TableEnvironment.execute_sql",
        )

    def __reduce__(self) -> tuple[type[InPython], tuple[()]]:
        return InPython, ()


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function with what it takes and gives, ready to be registered or called.

    A call in Python (``half(col("a"))``) needs no registration. It is typed like any other, but has
    no name that a catalog could keep.
    """

    name: str
    signatures: tuple[Signature, ...]
    kind: Kind = Kind.SCALAR
    deterministic: bool = True
    implementation: object = field(default=None, compare=False, repr=False)

    def rows(self, path: tuple[str, ...] = ()) -> tuple[Function, ...]:
        """The rows by which a call is typed, under the path that it is registered at."""
        name = path[-1] if path else self.name
        return declare(
            name,
            self.signatures,
            kind=self.kind,
            path=path,
            deterministic=self.deterministic,
            spark=InPython(self.implementation),
        )

    def __call__(self, *arguments: Value) -> Expression:
        """The call of it as an expression."""
        trees = tuple(map(to_tree, arguments))
        return Expression(Call(f"*{self.name}*", trees, inline=self.rows()))


#: What a function is made of, and what makes one of that.
Python: TypeAlias = Callable[..., Any] | UserDefinedFunction | type[UserDefinedFunction]
Decorator: TypeAlias = Callable[[Python], UserFunction]


def user_function(given: object, name: str | None = None) -> UserFunction:
    """What a class, an object or a plain function of Python says of itself by its type hints.

    Raises:
        SchemaError: with code `invalid-function-hints` where it does not say what it takes or
            gives, or `data-type-not-inferred` for a hint that stands for no type.

    >>> class Repeat(ScalarFunction):
    ...     def eval(self, text: str, times: int | None) -> str | None:
    ...         return text * (times or 0)
    >>> [str(row) for row in user_function(Repeat).rows()]
    ['Repeat(STRING NOT NULL, BIGINT)']
    """
    if isinstance(given, UserFunction):
        return given
    made = given() if isinstance(given, type) else given
    kind = next((kind for base, kind in KINDS.items() if isinstance(made, base)), Kind.SCALAR)
    return _declared(made, kind, name=name)


# --- PyFlink's decorators ------------------------------------------------------------------------


@overload
def udf(
    f: Python,
    input_types: Given = ...,
    result_type: Given = ...,
    deterministic: bool | None = ...,
    name: str | None = ...,
) -> UserFunction: ...
@overload
def udf(
    f: None = ...,
    input_types: Given = ...,
    result_type: Given = ...,
    deterministic: bool | None = ...,
    name: str | None = ...,
) -> Decorator: ...
def udf(
    f: Python | None = None,
    input_types: Given = None,
    result_type: Given = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> UserFunction | Decorator:
    """A scalar function; a decorator if `f` is left out.

    >>> print(udf(lambda a: a + 1, [DataTypes.INT()], DataTypes.INT(), name="plus").rows()[0])
    plus(INT)
    """
    return _decorated(f, Kind.SCALAR, input_types, result_type, deterministic, name)


@overload
def udtf(
    f: Python,
    input_types: Given = ...,
    result_types: Given = ...,
    deterministic: bool | None = ...,
    name: str | None = ...,
) -> UserFunction: ...
@overload
def udtf(
    f: None = ...,
    input_types: Given = ...,
    result_types: Given = ...,
    deterministic: bool | None = ...,
    name: str | None = ...,
) -> Decorator: ...
def udtf(
    f: Python | None = None,
    input_types: Given = None,
    result_types: Given = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> UserFunction | Decorator:
    """A table function; several result types are the columns f0, f1, ... of a row.

    >>> @udtf(result_types=["STRING", "INT"])
    ... def split(text: str | None) -> list[tuple[str, int]]:
    ...     return [(word, len(word)) for word in (text or "").split()]
    >>> print(split.signatures[0][1])
    ROW<`f0` VARCHAR(2147483647), `f1` INT>
    """
    result = result_types
    if isinstance(result_types, list | tuple):
        types = list(map(_type, result_types))
        fields = [DataTypes.FIELD(f"f{place}", one) for place, one in enumerate(types)]
        result = DataTypes.ROW(fields) if len(types) > 1 else types[0]
    return _decorated(f, Kind.TABLE, input_types, result, deterministic, name)


@overload
def udaf(
    f: Python,
    input_types: Given = ...,
    result_type: Given = ...,
    deterministic: bool | None = ...,
    name: str | None = ...,
) -> UserFunction: ...
@overload
def udaf(
    f: None = ...,
    input_types: Given = ...,
    result_type: Given = ...,
    deterministic: bool | None = ...,
    name: str | None = ...,
) -> Decorator: ...
def udaf(
    f: Python | None = None,
    input_types: Given = None,
    result_type: Given = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> UserFunction | Decorator:
    """An aggregate function, of a class or an object of `AggregateFunction`."""
    return _decorated(f, Kind.AGGREGATE, input_types, result_type, deterministic, name)


def _decorated(
    f: Python | None,
    kind: Kind,
    input_types: Given,
    result: Given,
    deterministic: bool | None,
    name: str | None,
) -> UserFunction | Decorator:
    """The function, or what makes one where `f` is still to come."""
    if input_types is not None and not isinstance(input_types, list | tuple):
        input_types = [input_types]
    takes = None if input_types is None else tuple(map(_type, input_types))
    gives = None if result is None else _type(result)

    def made(function: Python) -> UserFunction:
        return _declared(function, kind, takes, gives, deterministic, name)

    return made if f is None else made(f)


def _type(given: Given) -> DataType:
    """A type, by its text or by what stands for it in Python."""
    return DataTypes.of(given) if isinstance(given, str) else type_of(given)


def _declared(
    given: object,
    kind: Kind,
    takes: tuple[DataType, ...] | None = None,
    gives: DataType | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> UserFunction:
    """The function; what is not declared its hints must say."""
    made = given() if isinstance(given, type) else given
    found = str(name or getattr(given, "__name__", type(made).__name__))
    with at(f"function {found!r}"):
        signatures = _signatures(made, SHAPES[kind], takes, gives)
    if deterministic is None:
        deterministic = not isinstance(made, UserDefinedFunction) or made.is_deterministic()
    return UserFunction(found, signatures, kind, deterministic, made)


# --- signatures from hints -----------------------------------------------------------------------


class Shape(NamedTuple):
    """Where a kind of function says what it takes and gives.

    `takes` is the method whose arguments behind the first `skipped` are the values of a row,
    `gives` the one whose result is the value, or `many` rows.
    """

    takes: str
    skipped: int
    gives: str
    many: bool = False


KINDS: dict[type[UserDefinedFunction], Kind] = {
    ScalarFunction: Kind.SCALAR,
    TableFunction: Kind.TABLE,
    AggregateFunction: Kind.AGGREGATE,
}
SHAPES: dict[Kind, Shape] = {
    Kind.SCALAR: Shape("eval", 1, "eval"),
    Kind.TABLE: Shape("eval", 1, "eval", many=True),
    Kind.AGGREGATE: Shape("accumulate", 2, "get_value"),
}


def _signatures(
    made: object, shape: Shape, takes: tuple[DataType, ...] | None, gives: DataType | None
) -> tuple[Signature, ...]:
    """One signature, or one for each of the overloads of `typing.overload`."""
    if takes is not None and gives is not None:
        return ((takes, gives),)
    skipped = 0 if inspect.isfunction(made) else shape.skipped
    found = []
    for one in _methods(made, shape.takes):
        said = one if shape.gives == shape.takes else _methods(made, shape.gives)[0]
        found.append(
            (
                _arguments(one, skipped) if takes is None else takes,
                _result(said, shape.many) if gives is None else gives,
            )
        )
    return tuple(found)


def _methods(made: object, name: str) -> Sequence[Callable[..., Any]]:
    """The overloads of a method, or it alone; a plain function is its own."""
    found = made if inspect.isfunction(made) else getattr(type(made), name, None)
    if not inspect.isfunction(found):
        raise SchemaError(f"there is no method {name}", code="invalid-function-hints")
    return typing.get_overloads(found) or [found]


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise SchemaError(str(error), code="invalid-function-hints") from None


def _arguments(function: Callable[..., Any], skipped: int) -> tuple[DataType, ...]:
    """The types of the arguments behind the first ones."""
    hints = _hints(function)
    parameters = list(inspect.signature(function).parameters.values())[skipped:]
    found = []
    for one in parameters:
        with at(f"argument {one.name!r}"):
            if one.kind not in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD):
                problem, hint = "it has no place of its own", "write typing.overload for each count"
                raise SchemaError(problem, code="invalid-function-hints", hint=hint)
            if one.name not in hints:
                hint = "or declare the input_types"
                raise SchemaError("there is no type hint", code="invalid-function-hints", hint=hint)
            found.append(type_of(hints[one.name]))
    return tuple(found)


def _result(function: Callable[..., Any], many: bool) -> DataType:
    """The type of the result, or of one of the rows that it iterates over."""
    with at("the result"):
        hint = _hints(function).get("return")
        rows = typing.get_args(hint)
        if hint is None or (many and not rows):
            said = "such as Iterator[tuple[int, str]]" if many else "or declare the result_type"
            raise SchemaError("there is no type hint", code="invalid-function-hints", hint=said)
        return type_of(rows[0] if many else hint)
