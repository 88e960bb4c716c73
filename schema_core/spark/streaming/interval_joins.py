"""Joins of two unbounded tables whose rowtimes are within bounds of each other.

Spark removes a row from a join's state when the watermark shows that no row of the other side can
match. It derives that from comparisons of TIMESTAMP columns plus an interval, not TIMESTAMP_NTZ,
our TIMESTAMP. So each side gets its rowtime as a TIMESTAMP column for the watermark, and the join
condition has the bounds of both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, cast

from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.base.paths import ObjectIdentifier
from schema_core.expressions.functions import BUILT_IN, declare
from schema_core.expressions.intervals import interval
from schema_core.expressions.typed import Constant, FunctionCall, Ref, Typed, walk
from schema_core.query import relation as relational
from schema_core.query.relation import conjuncts, substitute_parts
from schema_core.schema.resolved import ResolvedSchema
from schema_core.spark.compiler.query import aliases_of
from schema_core.spark.compiler.translation import PREFIX
from schema_core.sql.syntax import Interval, JoinKind
from schema_core.types import (
    BooleanType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    TimestampType,
)
from schema_core.types.temporal import TimestampKind

#: The column that a side gets.
TIME: Final = f"{PREFIX}time"
#: Its type, which is TIMESTAMP in Spark.
INSTANT: Final = LocalZonedTimestampType(3)

#: Comparison -> the comparison of its operands in the other order.
_TURNED: Final = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class TimeBounds:
    """The bounds of left - right, two sides' rowtimes, in milliseconds, both included."""

    left: Ref
    right: Ref
    low: int
    high: int

    @property
    def delay(self) -> int:
        """For how many milliseconds a row may arrive after the watermark has passed its rowtimes.

        It is returned with the later of both rows, as by Flink's interval join.
        """
        return max(0, -self.low, self.high)


@dataclass(frozen=True, slots=True)
class TimedSide:
    """A side of a join, which is computed as a frame with the column `TIME`.

    `place` replaces its `input` in the query: a scan with the column. `time` is the rowtime's
    position.
    """

    input: relational.Relation
    place: relational.Scan
    time: int


def equations(conditions: Iterable[Typed], join: relational.Join) -> Iterator[FunctionCall]:
    """Yield the conditions that equate the sides of a join."""
    sides = [set(aliases_of(side)) for side in (join.left, join.right)]
    for condition in conditions:
        if isinstance(condition, FunctionCall) and condition.function.name == "=":
            read = [{part.relation for part in walk(operand) if isinstance(part, Ref)}
                    for operand in condition.arguments]  # fmt: skip
            if all(read) and any(
                read[0] <= first and read[1] <= second for first, second in (sides, sides[::-1])
            ):
                yield condition


def time_bounds(conditions: Sequence[Typed], join: relational.Join) -> TimeBounds | None:
    """Return the bounds that conditions set for a join's rowtimes; None without both."""
    left, right = aliases_of(join.left), aliases_of(join.right)
    bounds: dict[tuple[Ref, Ref], tuple[int | None, int | None]] = {}
    for condition in conditions:
        for pair, operator, distance in _differences(condition, left, right):
            low, high = bounds.get(pair, (None, None))
            if operator in ("=", ">", ">="):
                low = distance if low is None else max(low, distance)
            if operator in ("=", "<", "<="):
                high = distance if high is None else min(high, distance)
            bounds[pair] = low, high
    for (first, second), (low, high) in bounds.items():
        if low is not None and high is not None and type(first.type) is type(second.type):
            return TimeBounds(first, second, low, high)
    return None


class _Time(NamedTuple):
    """A rowtime plus milliseconds."""

    column: Ref
    distance: int


def _differences(
    condition: Typed, left: Collection[str], right: Collection[str]
) -> Iterator[tuple[tuple[Ref, Ref], str, int]]:
    """Yield comparisons of left - right with milliseconds, by both sides' rowtimes."""
    for operator, operands in _comparisons(condition):
        times = [_time(operand) for operand in operands]
        first, second = times
        if first is None or second is None:
            continue
        distance = second.distance - first.distance
        if first.column.relation in left and second.column.relation in right:
            yield (first.column, second.column), operator, distance
        elif first.column.relation in right and second.column.relation in left:
            yield (second.column, first.column), _TURNED[operator], -distance


def _comparisons(condition: Typed) -> Iterator[tuple[str, tuple[Typed, Typed]]]:
    match condition:
        case FunctionCall(function=function, arguments=(value, low, high)):
            if function.name == "BETWEEN":
                yield ">=", (value, low)
                yield "<=", (value, high)
        case FunctionCall(function=function, arguments=(first, second)):
            if function.name in _TURNED:
                yield function.name, (first, second)


def _time(expression: Typed) -> _Time | None:
    """Return a rowtime plus an interval; None for other expressions."""
    match expression:
        case Ref(type=TimestampType() | LocalZonedTimestampType() as type_):
            return _Time(expression, 0) if type_.kind is TimestampKind.ROWTIME else None
        case FunctionCall(function=function, arguments=(value, Constant() as length)):
            sign = {"+": 1, "-": -1}.get(function.name)
        case FunctionCall(function=function, arguments=(Constant() as length, value)):
            sign = 1 if function.name == "+" else None
        case _:
            return None
    literal, time = length.literal, _time(value)
    if sign is None or time is None or not isinstance(literal, Interval):
        return None
    if not isinstance(length.type, DayTimeIntervalType):
        return None
    return time._replace(distance=time.distance + sign * interval(literal, length.type))


# --- the join as Spark computes it ----------------------------------------------------------------


def timed_join(
    join: relational.Join, bounds: TimeBounds
) -> tuple[relational.Join, tuple[TimedSide, TimedSide]]:
    """Return a join with the comparisons that bound its state, and its two sides.

    Spark derives what it can remove only from a time plus an interval. Conditions that are the same
    comparisons of the rowtimes are left out, so that the state does not have these twice.
    """
    left, first = _add_time(join.left, bounds.left)
    right, second = _add_time(join.right, bounds.right)
    conditions = [part for part in conjuncts(join.condition) if not _is_bound(part, join, bounds)]
    condition = FunctionCall(
        BUILT_IN["AND"][0],
        (
            *conditions,
            *_keys_that_are_not_null(join),
            _reaches(bounds.left, -bounds.low, bounds.right),
            _reaches(bounds.right, bounds.high, bounds.left),
        ),
        BooleanType(),
    )
    return replace(join, left=left, right=right, condition=condition), (first, second)


def _is_bound(condition: Typed, join: relational.Join, bounds: TimeBounds) -> bool:
    """Return whether a condition has bounds of the rowtimes only, and all in milliseconds."""
    pair = bounds.left, bounds.right
    differences = list(_differences(condition, aliases_of(join.left), aliases_of(join.right)))
    has_millis = all(
        cast("TimestampType", time.type).precision <= INSTANT.precision for time in pair
    )
    is_of_times = len(differences) == len([*_comparisons(condition)]) > 0
    has_bounds = all(
        own == pair and operator in ("=", "<=", ">=") for own, operator, _ in differences
    )
    return has_millis and is_of_times and has_bounds


def _keys_that_are_not_null(join: relational.Join) -> Iterator[Typed]:
    """Yield the conditions that a key of each equation of a FULL join is not NULL.

    Spark finds the other side's rows in its state by the key, where NULL equals NULL. Of other
    joins it removes such rows before.
    """
    if join.kind is not JoinKind.FULL:
        return
    for equation in equations(conjuncts(join.condition), join):
        key = equation.arguments[0]
        if key.type.is_nullable:
            yield FunctionCall(BUILT_IN["IS NOT NULL"][0], (key,), BooleanType(nullable=False))


def _add_time(side: relational.Relation, time: Ref) -> tuple[relational.Relation, TimedSide]:
    """Return a side of a join with `TIME` in a rowtime's source, and that source."""
    timed_sides: list[TimedSide] = []

    def change(relation: relational.Relation) -> relational.Relation | None:
        if not isinstance(relation, relational.Named):
            return None
        if relation.alias != time.relation:
            return relation
        place = [column.name for column in relation.columns].index(time.name)
        added = relational.Column(TIME, INSTANT)
        timed = (*relational.result_columns(relation.input), added)
        schema = ResolvedSchema.physical(
            [item.name for item in timed], [item.type for item in timed]
        )
        scan = relational.Scan(
            relational.SourceTable(ObjectIdentifier.of("", "", TIME), schema), timed
        )
        timed_sides.append(TimedSide(relation.input, scan, place))
        return replace(relation, input=scan, columns=(*relation.columns, added))

    return substitute_parts(side, change), timed_sides[0]


def _reaches(first: Ref, distance: int, second: Ref) -> Typed:
    """Return the condition that one side's time plus milliseconds is not before the other's."""
    seconds = f"{'-' if distance < 0 else ''}{abs(distance) // 1000}.{abs(distance) % 1000:03}"
    text = f"{{0}} + INTERVAL '{seconds}' SECOND"
    (later,) = declare("LATER", [([INSTANT], INSTANT)], spark=text)
    time, other = (Ref(TIME, INSTANT, side.relation) for side in (first, second))
    operands = (FunctionCall(later, (time,), INSTANT), other)
    return FunctionCall(BUILT_IN[">="][0], operands, BooleanType())
