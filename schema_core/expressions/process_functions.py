"""Process table functions in Python: functions of tables, with state and timers (FLIP-440).

PyFlink has none: the concepts and names are those of Flink's ``ProcessTableFunction`` in Java.
`eval` has, in order, an optional context, the state, and the arguments, one of them a table:

>>> from collections.abc import Iterator
>>> from schema_core.expressions.user_functions import ProcessTableFunction
>>> from schema_core.types.row_value import Row
>>> class Counter:
...     def __init__(self) -> None:
...         self.count = 0
>>> class Count(ProcessTableFunction):
...     def eval(
...         self,
...         counter: Annotated[Counter, StateHint()],
...         rows: Annotated[Row, ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE)],
...         step: int,
...     ) -> Iterator[int]:
...         counter.count += step
...         yield counter.count
>>> signature = process_signature(Count())
>>> [argument.name for argument in signature.arguments], signature.is_set
(['rows', 'step'], True)
"""

from __future__ import annotations

import datetime as dt
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, get_args, get_origin

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.errors import SchemaError
from schema_core.expressions.function_hints import parameter_type, type_hints
from schema_core.types import DataType


class ArgumentTrait(Enum):
    """What an argument of a process table function is, with Flink's names."""

    #: a value; the default
    SCALAR = "SCALAR"
    #: a table whose rows are processed independently of each other
    ROW_SEMANTIC_TABLE = "ROW_SEMANTIC_TABLE"
    #: a table whose rows with equal keys of PARTITION BY are processed together
    SET_SEMANTIC_TABLE = "SET_SEMANTIC_TABLE"
    #: PARTITION BY may be omitted: all rows are one partition
    OPTIONAL_PARTITION_BY = "OPTIONAL_PARTITION_BY"
    #: all columns of the table precede those of the function, not only the keys of the partition
    PASS_COLUMNS_THROUGH = "PASS_COLUMNS_THROUGH"  # noqa: S105 - not a password
    #: the table may be updated; rows of bounded tables are insertions
    SUPPORT_UPDATES = "SUPPORT_UPDATES"
    #: rows before updates are passed, too, if PARTITION BY is an upsert key
    REQUIRE_UPDATE_BEFORE = "REQUIRE_UPDATE_BEFORE"
    #: a call requires `on_time`
    REQUIRE_ON_TIME = "REQUIRE_ON_TIME"


#: Traits of tables that are processed by partition only.
_OF_SETS = frozenset({ArgumentTrait.OPTIONAL_PARTITION_BY})
_TABLES = frozenset({ArgumentTrait.ROW_SEMANTIC_TABLE, ArgumentTrait.SET_SEMANTIC_TABLE})


class ArgumentHint:
    """Traits of an argument, in ``Annotated``: without one, the argument is a value.

    Args:
        traits: What the argument is.
        name: Its name in calls; by default that of the parameter.

    Raises:
        SchemaError: with code `invalid-argument` for anything but traits, or traits that exclude
            each other.
    """

    def __init__(self, *traits: ArgumentTrait, name: str | None = None) -> None:
        for trait in traits:
            require_instance(trait, ArgumentTrait, "a trait")
        require_instance(name, (str, type(None)), "name")
        self.traits = frozenset(traits)
        self.name = name
        kinds = self.traits & {*_TABLES, ArgumentTrait.SCALAR}
        is_set = ArgumentTrait.SET_SEMANTIC_TABLE in self.traits
        more = self.traits - kinds
        if len(kinds) > 1 or (more and not kinds & _TABLES) or (more & _OF_SETS and not is_set):
            names = ", ".join(sorted(trait.name for trait in traits))
            raise SchemaError(
                f"the traits {names} exclude each other",
                code="invalid-argument",
                hint="use ROW_SEMANTIC_TABLE or SET_SEMANTIC_TABLE, and traits of such a table",
            )


class StateHint:
    """Marks a parameter as state of a partition, in ``Annotated``.

    The class of the parameter is called without arguments for each partition. Before the
    parameters of the arguments there may be several. The state lives as long as the job.
    """


class Timer(NamedTuple):
    """A timer: its time, and its name if it has one."""

    time: dt.datetime
    name: str | None


class ProcessContext(ABC):
    """What `eval` and `on_timer` can use beside the arguments."""

    @abstractmethod
    def partition_keys(self) -> tuple[Any, ...]:
        """Return the values of PARTITION BY, in order."""

    @abstractmethod
    def time(self) -> dt.datetime | None:
        """Return the time of the row by `on_time`, or of the timer; None without `on_time`.

        A TIMESTAMP_LTZ is an aware datetime.
        """

    @abstractmethod
    def register_on_time(self, time: dt.datetime, name: str | None = None) -> None:
        """Register a timer; one with a name replaces an earlier one of that name.

        Timers fire in the order of their times: after all rows of a bounded table, and of an
        unbounded one when the watermark has passed their time.

        Raises:
            SchemaError: with code `invalid-argument` for a time of another kind than that of
                `on_time`.
            UnsupportedError: with code `feature-not-supported` without `on_time`, for a function of
                single rows, or with `PASS_COLUMNS_THROUGH`.
        """

    @abstractmethod
    def clear_timer(self, timer: str | dt.datetime) -> None:
        """Remove the timer of a name, or the one without a name of a time."""

    @abstractmethod
    def clear_all_timers(self) -> None:
        """Remove all timers of the partition."""

    @abstractmethod
    def clear_state(self, name: str) -> None:
        """Replace the state of a parameter by a new object, from the next call on."""

    @abstractmethod
    def clear_all_state(self) -> None:
        """Replace all state of the partition by new objects, from the next call on."""

    def clear_all(self) -> None:
        """Remove the state and the timers of the partition."""
        self.clear_all_state()
        self.clear_all_timers()

    @abstractmethod
    def current_timer(self) -> str | None:
        """Return the name of the timer that fires; None if it has no name, and within `eval`."""


class ProcessArgument(NamedTuple):
    """An argument: its name, traits, and declared type; None for any type, and for tables."""

    name: str
    traits: frozenset[ArgumentTrait]
    type: DataType | None = None
    is_optional: bool = False

    @property
    def is_table(self) -> bool:
        """Whether the argument is a table."""
        return bool(self.traits & _TABLES)

    @property
    def is_set(self) -> bool:
        """Whether rows are processed by partition."""
        return ArgumentTrait.SET_SEMANTIC_TABLE in self.traits


@dataclass(frozen=True, slots=True)
class ProcessSignature:
    """The parameters of `eval`: whether it has a context, the state by name, and the arguments."""

    has_context: bool
    state: tuple[tuple[str, Callable[[], Any]], ...]
    arguments: tuple[ProcessArgument, ...]

    @property
    def tables(self) -> tuple[ProcessArgument, ...]:
        """The arguments that are tables: several ones are all processed by partition."""
        return tuple(argument for argument in self.arguments if argument.is_table)

    @property
    def is_set(self) -> bool:
        """Whether rows are processed by partition."""
        return self.tables[0].is_set


def process_signature(function: object) -> ProcessSignature:
    """Return the signature of a `ProcessTableFunction` by the type hints of `eval`.

    Raises:
        SchemaError: `invalid-function` without a table, for state of single rows, or for
            several tables that are not all processed by partition, or that pass their columns.
    """
    evaluate: Callable[..., Any] = type(function).eval  # type: ignore[attr-defined]
    hints = type_hints(evaluate)
    has_context = False
    state: list[tuple[str, Callable[[], Any]]] = []
    arguments: list[ProcessArgument] = []
    for parameter in list(inspect.signature(evaluate).parameters.values())[1:]:
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            raise _invalid(f"parameter {parameter.name!r} of eval must be positional")
        hint = hints.get(parameter.name, Any)
        if isinstance(hint, type) and issubclass(hint, ProcessContext):
            if has_context or state or arguments:
                raise _invalid("the context must be the first parameter of eval")
            has_context = True
            continue
        base, *annotations = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if any(one is StateHint or isinstance(one, StateHint) for one in annotations):
            if arguments:
                raise _invalid(f"the state {parameter.name!r} must precede the arguments of eval")
            if not callable(base):
                raise _invalid(f"the state {parameter.name!r} must have a class as its type hint")
            state.append((parameter.name, get_origin(base) or base))
            continue
        own = next((one for one in annotations if isinstance(one, ArgumentHint)), ArgumentHint())
        is_optional = parameter.default is not parameter.empty
        type_ = None if own.traits & _TABLES else parameter_type(hint)
        name = own.name or parameter.name
        arguments.append(ProcessArgument(name, own.traits, type_, is_optional))
    tables = [argument for argument in arguments if argument.is_table]
    if not tables:
        raise _invalid(
            "eval has no table",
            "annotate a parameter: Annotated[Row, ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE)]",
        )
    if len(tables) > 1:
        if not all(table.is_set for table in tables):
            raise _invalid("several tables must all have SET_SEMANTIC_TABLE")
        if any(ArgumentTrait.PASS_COLUMNS_THROUGH in table.traits for table in tables):
            raise _invalid("only the table of a function of one table has PASS_COLUMNS_THROUGH")
    if state and not tables[0].is_set:
        raise _invalid("only a table with SET_SEMANTIC_TABLE has state")
    return ProcessSignature(has_context, tuple(state), tuple(arguments))


def _invalid(problem: str, hint: str | None = None) -> SchemaError:
    return SchemaError(problem, code="invalid-function", hint=hint)
