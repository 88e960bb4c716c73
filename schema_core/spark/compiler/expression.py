"""Typed expressions in Spark's SQL, with Flink's meaning; `forms` has the words for each function.

What Spark cannot be made to compute as Flink does is refused, never said differently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol, assert_never

from schema_core.errors import at
from schema_core.expressions.typed import (
    Access,
    Bound,
    Constant,
    FunctionCall,
    Keyword,
    Over,
    Ref,
    Select,
    TypeArgument,
)
from schema_core.spark.compiler.functions import FORMS
from schema_core.spark.compiler.functions.casts import convert, require_micros
from schema_core.spark.compiler.functions.literals import constant, interval
from schema_core.spark.compiler.functions.temporal import is_coarse
from schema_core.spark.compiler.sql_builder import (
    PREFIX,
    Called,
    Form,
    bind_all,
    has_subquery_in_lambda,
    is_hidden,
    quote,
    say,
    unsupported,
)
from schema_core.sql.syntax import Interval
from schema_core.types import DataType, DayTimeIntervalType, YearMonthIntervalType

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed

#: Functions that Spark only has over ordered rows; Flink takes rows in any order.
NUMBERING = frozenset(
    {"ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD"}
)

#: An expression's text beyond this is refused: Spark would plan it for minutes.
MAX_SAID = 200_000


class Direction(Protocol):
    """How a key of an ORDER BY is sorted; `nulls_last` is None where nothing was said."""

    @property
    def descending(self) -> bool: ...
    @property
    def nulls_last(self) -> bool | None: ...


def column(ref: Ref) -> str:
    """A column by its alias and name."""
    prefix = f"{quote(ref.relation)}." if ref.relation else ""
    return prefix + quote(ref.name)


def no_subquery(subquery: Select) -> str:
    """There are no queries outside of queries."""
    raise unsupported("a sub-query cannot be run here")


def user_call(apply: FunctionCall, arguments: Sequence[str]) -> str:
    """A user's function in the words that its row has for it: a template, or what writes the text.

    Raises:
        UnsupportedError: with code `not-executable` where there are none.
    """
    match apply.function.spark:
        case str() as template:
            return template.format(*arguments)
        case None:
            raise unsupported(f"nothing says how Spark computes {apply.function.name}")
        case said:
            return said(apply, arguments)


@dataclass(frozen=True, slots=True)
class Speaker:
    """How the parts of an expression are said that depend on where it stands.

    `zone` is the session's time zone as Flink sees it, `column` writes a column of the source,
    `subquery` a query used as a value, `user` a call of a user's function. Where it is `coarse`,
    nobody looks at digits of a second that Spark does not keep.
    """

    zone: str = "UTC"
    column: Callable[[Ref], str] = column
    subquery: Callable[[Select], str] = no_subquery
    user: Callable[[FunctionCall, Sequence[str]], str] = user_call
    coarse: bool = False


def to_spark(typed: Typed, speaker: Speaker | None = None) -> str:
    """The expression in Spark SQL; intervals are numbers of months or milliseconds in it.

    Raises:
        UnsupportedError: with code `not-executable`, naming what Spark cannot compute.
    """
    return _say(typed, speaker or Speaker())


def _say(typed: Typed, speaker: Speaker) -> str:
    match typed:
        case Ref():
            if not speaker.coarse:
                require_micros(typed.type)
            return speaker.column(typed)
        case Constant(literal, type_):
            return constant(literal, type_)
        case Keyword(symbol):
            return symbol.word
        case TypeArgument():
            return ""
        case Access(value, name):
            return _field(_say(value, speaker), name)
        case FunctionCall():
            return _apply(typed, speaker)
        case Select():
            return speaker.subquery(typed)
        case _:
            assert_never(typed)


def _field(value: str, name: str) -> str:
    whole = value if value.endswith(("`", ")", "]")) else f"({value})"
    return f"{whole}.{quote(name)}"


def _apply(apply: FunctionCall, speaker: Speaker) -> str:
    """A call, from the innermost first argument on: chains of operators are long on that side."""
    chain = [(apply, replace(speaker, coarse=is_coarse(apply)))]
    while (call := chain[-1][0]).arguments and isinstance(call.arguments[0], FunctionCall):
        chain.append((call.arguments[0], replace(speaker, coarse=is_coarse(call.arguments[0]))))
    said: tuple[str, ...] = ()
    for call, inner in reversed(chain):
        with at(call.function.name):
            said = (_call(call, said, inner),)
    return said[0]


def _call(apply: FunctionCall, first: tuple[str, ...], speaker: Speaker) -> str:
    """A call whose first argument may have been compiled already."""
    form = _form(apply, speaker)
    if form is None:
        raise unsupported(f"{apply.function.name} cannot be run on Spark with Flink's meaning")
    if not speaker.coarse:
        require_micros(apply.type)
    others = apply.arguments[len(first) :]
    arguments = (*first, *(_say(argument, speaker) for argument in others))
    called = Called(apply, arguments, speaker.zone, _suffix(apply, speaker))
    said = say(form, called)
    if PREFIX in said and is_hidden(say(form, _abbreviated(called))):
        said = _outside(form, called)
    if has_subquery_in_lambda(said):
        raise unsupported(
            "a sub-query is not supported within a function over the elements of a collection",
            hint="compute its value in a derived table, and join that",
        )
    if len(said) > MAX_SAID:
        raise unsupported(
            "the expression is too large to run",
            hint="compute parts of it in columns of their own",
        )
    return said


def _abbreviated(called: Called) -> Called:
    """The call over short stand-ins for arguments that are computed in Python.

    What was checked for an argument is not checked again for each call around it.
    """
    short = f"{PREFIX}computed()"
    return replace(
        called, arguments=tuple(short if PREFIX in one else one for one in called.arguments)
    )


def _form(apply: FunctionCall, speaker: Speaker) -> Form | None:
    """The words for a function: those of the table, or those that a user gave for it."""
    if apply.function.declared is None:
        return FORMS.get(apply.function.name)
    return lambda called: speaker.user(called.apply, called.arguments)


def _outside(form: Form, called: Called) -> str:
    """A call whose arguments are computed in Python, outside of the lambdas that read them."""
    if is_hidden(_bound_outside(form, _abbreviated(called))):
        raise unsupported("it is computed in Python, which Spark does not do within a collection")
    return _bound_outside(form, called)


def _bound_outside(form: Form, called: Called) -> str:
    places = [place for place, text in enumerate(called.arguments) if PREFIX in text]

    def body(*names: str) -> str:
        words = dict(enumerate(called.arguments)) | dict(zip(places, names, strict=True))
        return say(form, replace(called, arguments=tuple(words.values())))

    return bind_all([called.arguments[place] for place in places], body)


def _suffix(apply: FunctionCall, speaker: Speaker) -> str:
    """What stands behind an aggregate: which rows it reads."""
    parts = []
    if apply.nulls is not None:
        raise unsupported(f"{apply.nulls} is not run on Spark")
    if apply.filter is not None:
        parts.append(f" FILTER (WHERE {_say(apply.filter, speaker)})")
    if apply.over is not None:
        parts.append(f" OVER ({_window(apply.over, speaker, apply.function.name)})")
    return "".join(parts)


def _window(over: Over, speaker: Speaker, function: str) -> str:
    parts = []
    if over.partition_by:
        keys = (_say(key, speaker) for key in over.partition_by)
        parts.append(f"PARTITION BY {', '.join(keys)}")
    if over.order_by:
        keys = (sort_key(_say(key.value, speaker), key) for key in over.order_by)
        parts.append(f"ORDER BY {', '.join(keys)}")
    elif function in NUMBERING:
        parts.append("ORDER BY NULL")
    if over.frame is not None:
        if over.frame.whole:
            raise unsupported("DISALLOW PARTIAL is not run on Spark")
        bounds = [_bound(one, speaker) for one in (over.frame.lower, over.frame.upper) if one]
        between = f"BETWEEN {' AND '.join(bounds)}" if len(bounds) > 1 else bounds[0]
        parts.append(f"{over.frame.unit} {between}")
    return " ".join(parts)


def _bound(bound: Bound, speaker: Speaker) -> str:
    if bound.distance is None:
        return bound.words
    return f"{_distance(bound.distance, speaker)} {bound.words}"


def _distance(distance: Typed, speaker: Speaker) -> str:
    """How far a frame reaches; Spark requires a literal there."""
    if isinstance(distance.type, YearMonthIntervalType | DayTimeIntervalType):
        if not isinstance(distance, Constant) or not isinstance(distance.literal, Interval):
            raise unsupported("a frame of no constant interval is not run on Spark")
        count = interval(distance.literal, distance.type)
        if isinstance(distance.type, YearMonthIntervalType):
            return f"INTERVAL '{count}' MONTH"
        return f"INTERVAL '{Decimal(count) / 1000:f}' SECOND"
    return _say(distance, speaker)


def sort_key(said: str, key: Direction) -> str:
    """A key of an ORDER BY: NULL is the lowest value unless something else is said."""
    last = key.descending if key.nulls_last is None else key.nulls_last
    direction = "DESC" if key.descending else "ASC"
    return f"{said} {direction} NULLS {'LAST' if last else 'FIRST'}"


# --- columns -----------------------------------------------------------------------------------


def from_physical(text: str, type_: DataType) -> str:
    """A stored value as expressions see it: intervals become numbers."""
    match type_:
        case YearMonthIntervalType():
            return f"CAST(CAST({text} AS INTERVAL MONTH) AS INT)"
        case DayTimeIntervalType():
            return f"CAST(CAST(CAST({text} AS INTERVAL SECOND) AS DECIMAL(20, 6)) * 1000 AS BIGINT)"
        case _:
            return text


def to_physical(text: str, type_: DataType) -> str:
    """The value of an expression as it is stored: numbers become intervals again."""
    match type_:
        case YearMonthIntervalType():
            return f"make_ym_interval(0, {text})"
        case DayTimeIntervalType():
            return f"make_dt_interval(0, 0, 0, CAST({text} AS DECIMAL(20, 6)) / 1000)"
        case _:
            return text


def assigned(typed: Typed, target: DataType, speaker: Speaker) -> str:
    """An expression's value, stored in a column of another type as on assignment."""
    said = convert(to_spark(typed, speaker), typed.type, target, speaker.zone)
    return to_physical(said, target)
