"""Conditions over several rows of a match, evaluated in Python by the workers of Spark.

Spark computes what depends on one row, and a term combines such values: logic, comparisons,
arithmetic and aggregates, with the results of Java's and Flink's operators.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, TypeAlias

from schema_core.base.lazy import NamedTuple
from schema_core.spark.matching.automaton import Condition, Runs


class Place(NamedTuple):
    """A row of a match: the first or last of a variable, or of all rows, with an offset.

    `variable` is None for all rows. With `own` the current row is one of them.
    """

    variable: int | None
    first: bool = False
    offset: int = 0
    own: bool = False

    @property
    def is_current(self) -> bool:
        return self.own and not self.first and not self.offset


class Kind(NamedTuple):
    """A type as far as results depend on it: its family, and its bits, or precision and scale."""

    family: str
    size: int = 0
    scale: int = 0


BOOLEAN = Kind("boolean")


@dataclass(frozen=True)
class At:
    """A column that Spark computed for each row, at a place; `missing` has its value without a row.

    `missing` is None for NULL.
    """

    place: Place
    column: int
    missing: int | None
    kind: Kind


@dataclass(frozen=True)
class Fold:
    """An aggregate over the rows of a variable; without a column it counts rows."""

    function: str
    place: Place
    column: int | None
    argument: Kind
    kind: Kind


@dataclass(frozen=True)
class Apply:
    """A function of terms."""

    function: str
    arguments: tuple[Term, ...]
    kind: Kind


@dataclass(frozen=True)
class UserCall:
    """A user's scalar function of terms."""

    function: Callable[..., Any]
    arguments: tuple[Term, ...]
    kind: Kind


@dataclass(frozen=True)
class UserFold:
    """A user's aggregate, a function of the list of the rows of a variable, each a tuple."""

    function: Callable[[list[tuple[Any, ...]]], Any]
    place: Place
    columns: tuple[int, ...]
    kind: Kind


Term: TypeAlias = At | Fold | Apply | UserCall | UserFold

#: Returns the value of a term for a row that follows a partial match.
Evaluate: TypeAlias = Callable[[Runs, int], Any]


@dataclass
class Rows:
    """The columns of the rows that a match may still read, from the row `base` on."""

    columns: list[list[Any]]
    base: int = 0

    def add(self, columns: Sequence[Sequence[Any]]) -> None:
        for values, more in zip(self.columns, columns, strict=True):
            values.extend(more)

    def drop_before(self, row: int) -> None:
        count = row - self.base
        if count > 0:
            for values in self.columns:
                del values[:count]
            self.base = row


def condition(term: Term, rows: Rows) -> Condition:
    """Return a condition that holds where the term is TRUE."""
    evaluate = _evaluator(term, rows)
    return lambda runs, row: evaluate(runs, row) is True


def _evaluator(term: Term, rows: Rows) -> Evaluate:
    match term:
        case At():
            return _value_at(term, rows)
        case Fold():
            return _Folding(term, rows).value
        case UserCall():
            return _user_call(term, [_evaluator(part, rows) for part in term.arguments])
        case UserFold():
            return _user_fold(term, rows)
        case Apply(function=name, arguments=arguments, kind=kind):
            kinds = [argument.kind for argument in arguments]
            return FUNCTIONS[name]([_evaluator(part, rows) for part in arguments], kinds, kind)


def _user_call(term: UserCall, arguments: Sequence[Evaluate]) -> Evaluate:
    def value(runs: Runs, row: int) -> Any:
        values = (argument(runs, row) for argument in arguments)
        are_strings = (argument.kind.family == "string" for argument in term.arguments)
        result = term.function(
            *(
                value.decode() if is_string and value is not None else value
                for value, is_string in zip(values, are_strings, strict=True)
            )
        )
        return _read(result, term.kind)

    return value


def _user_fold(term: UserFold, rows: Rows) -> Evaluate:
    columns = [rows.columns[column] for column in term.columns]

    def value(runs: Runs, row: int) -> Any:
        places = [one - rows.base for one in rows_of(term.place, runs, row)]
        result = term.function([tuple(values[place] for values in columns) for place in places])
        return _read(result, term.kind)

    return value


def _read(value: Any, kind: Kind) -> Any:
    """Return a value of a column or function as terms compute with it."""
    convert = _READ.get(kind.family)
    return value if value is None or convert is None else convert(value)


def _value_at(term: At, rows: Rows) -> Evaluate:
    values = rows.columns[term.column]
    place = term.place
    missing = None if term.missing is None else rows.columns[term.missing]

    def value(runs: Runs, row: int) -> Any:
        if place.is_current:
            result = values[row - rows.base]
        elif (found := row_at(place, runs, row)) is not None:
            result = values[found - rows.base]
        else:
            result = None if missing is None else missing[row - rows.base]
        return _read(result, term.kind)

    return value


#: Family -> how its values are read: strings are ordered by their bytes.
_READ: dict[str, Callable[[Any], Any]] = {"string": str.encode}


def row_at(place: Place, runs: Runs, row: int | None) -> int | None:
    """Return the row of a place, if there is one; without a row the match is complete."""
    rows = rows_of(place, runs, row)
    if place.offset >= len(rows):
        return None
    return rows[place.offset] if place.first else rows[-1 - place.offset]


def rows_of(place: Place, runs: Runs, row: int | None) -> range:
    """Return the rows of the variable of a place."""
    if place.variable is None:
        first, last = (runs[0].first, runs[-1].last) if runs else (row or 0, (row or 0) - 1)
    else:
        run = next((run for run in runs if run.variable == place.variable), None)
        first, last = (run.first, run.last) if run else (row or 0, (row or 0) - 1)
    return range(first, last + 1 + (place.own and row is not None))


# --- functions ----------------------------------------------------------------------------------


def _and(terms: Sequence[Evaluate], _: Sequence[Kind], __: Kind) -> Evaluate:
    left, right = terms

    def value(runs: Runs, row: int) -> Any:
        if (one := left(runs, row)) is False:
            return False
        other = right(runs, row)
        return False if other is False else None if one is None or other is None else True

    return value


def _or(terms: Sequence[Evaluate], _: Sequence[Kind], __: Kind) -> Evaluate:
    left, right = terms

    def value(runs: Runs, row: int) -> Any:
        if (one := left(runs, row)) is True:
            return True
        other = right(runs, row)
        return True if other is True else None if one is None or other is None else False

    return value


def _test(holds: Callable[[Any], bool]) -> Build:
    """Return a predicate that is never NULL."""

    def build(terms: Sequence[Evaluate], _: Sequence[Kind], __: Kind) -> Evaluate:
        (term,) = terms
        return lambda runs, row: holds(term(runs, row))

    return build


def _strict(function: Callable[..., Any]) -> Build:
    """Return a function of values that is NULL if one of them is."""

    def build(terms: Sequence[Evaluate], kinds: Sequence[Kind], kind: Kind) -> Evaluate:
        compute = function(kinds, kind)

        def value(runs: Runs, row: int) -> Any:
            values = [term(runs, row) for term in terms]
            return None if any(one is None for one in values) else compute(*values)

        return value

    return build


Build: TypeAlias = Callable[[Sequence[Evaluate], Sequence[Kind], Kind], Evaluate]


def _float32(value: Any) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _common(kinds: Sequence[Kind]) -> Callable[[Any], Any]:
    """Return the conversion of numbers before an operator, as of Java; others stay as they are."""
    floats = [kind.size for kind in kinds if kind.family == "float"]
    if not floats:
        return lambda value: value
    is_double = max(floats) > 32 or any(kind.family == "decimal" for kind in kinds)
    return float if is_double else lambda value: _float32(float(value))


def _comparison(compare: Callable[[Any, Any], bool]) -> Build:
    def prepare(kinds: Sequence[Kind], _: Kind) -> Callable[[Any, Any], bool]:
        convert = _common(kinds)
        return lambda left, right: compare(convert(left), convert(right))

    return _strict(prepare)


def _between(kinds: Sequence[Kind], _: Kind) -> Callable[[Any, Any, Any], bool]:
    low, high = _common((kinds[0], kinds[1])), _common((kinds[0], kinds[2]))
    return lambda value, least, most: low(least) <= low(value) and high(value) <= high(most)


#: Decimals of Flink have up to 38 digits; a product has twice as many before it is rounded.
EXACT, QUOTIENT = Context(prec=80, rounding=ROUND_HALF_UP), Context(prec=38, rounding=ROUND_HALF_UP)


def fit(value: Any, kind: Kind) -> Any:
    """Return a result as a value of its type: integers wrap, decimals round or become NULL."""
    if value is None:
        return None
    if kind.family == "integer":
        half = 1 << (kind.size - 1)
        return (value + half) % (2 * half) - half
    if kind.family == "float":
        return float(value) if kind.size > 32 else _float32(float(value))
    if kind.family == "decimal":
        rounded = EXACT.quantize(Decimal(value), Decimal(1).scaleb(-kind.scale))
        return rounded if rounded.adjusted() < kind.size - kind.scale else None
    return value


def _arithmetic(compute: Callable[[Any, Any], Any]) -> Build:
    def prepare(kinds: Sequence[Kind], kind: Kind) -> Callable[[Any, Any], Any]:
        convert = Decimal if kind.family == "decimal" else _common(kinds)
        return lambda left, right: fit(compute(convert(left), convert(right)), kind)

    return _strict(prepare)


def _divide(left: Any, right: Any) -> Any:
    if isinstance(left, float):
        if right:
            return left / right
        if left == 0 or math.isnan(left):
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1, right)
    if not right:
        raise ValueError("division by zero in DEFINE")
    if isinstance(left, Decimal):
        return QUOTIENT.divide(left, right)
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _remainder(left: Any, right: Any) -> Any:
    if isinstance(left, float):
        return math.fmod(left, right) if right and math.isfinite(left) else math.nan
    if not right:
        raise ValueError("division by zero in DEFINE")
    if isinstance(left, Decimal):
        return EXACT.remainder(left, right)
    return left - right * _divide(left, right)


def _power(base: Any, exponent: Any) -> float:
    """Return Java's `Math.pow`."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        is_odd = exponent % 2 == 1
        return -math.inf if base < 0 and is_odd else math.inf
    except ValueError:
        return math.inf if base == 0 else math.nan


def _cast(kinds: Sequence[Kind], kind: Kind) -> Callable[[Any], Any]:
    """Return Java's conversion of a number; other values stay as they are."""
    if kind.family != "integer":
        return lambda value: fit(value, kind)
    if kinds[0].family != "float":
        return lambda value: fit(int(value), kind)
    most = (1 << (max(kind.size, 32) - 1)) - 1

    def truncate(value: float) -> Any:
        if math.isnan(value):
            return 0
        return fit(int(min(max(value, -most - 1), most)), kind)

    return truncate


def _exactly(compute: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return an operator that computes with decimals in `EXACT`."""
    of_decimals = getattr(EXACT, name)
    return lambda *values: (
        of_decimals(*values) if isinstance(values[0], Decimal) else compute(*values)
    )


def _case(terms: Sequence[Evaluate], _: Sequence[Kind], kind: Kind) -> Evaluate:
    *pairs, other = terms
    branches = list(zip(pairs[::2], pairs[1::2], strict=True))

    def value(runs: Runs, row: int) -> Any:
        for holds, result in branches:
            if holds(runs, row) is True:
                return fit(result(runs, row), kind)
        return fit(other(runs, row), kind)

    return value


def _coalesce(terms: Sequence[Evaluate], _: Sequence[Kind], kind: Kind) -> Evaluate:
    def value(runs: Runs, row: int) -> Any:
        for term in terms:
            if (result := term(runs, row)) is not None:
                return fit(result, kind)
        return None

    return value


def _in(terms: Sequence[Evaluate], kinds: Sequence[Kind], _: Kind) -> Evaluate:
    value, *items = terms
    converts = [_common((kinds[0], kind)) for kind in kinds[1:]]

    def holds(runs: Runs, row: int) -> Any:
        if (found := value(runs, row)) is None:
            return None
        values = [item(runs, row) for item in items]
        if any(
            item is not None and convert(item) == convert(found)
            for item, convert in zip(values, converts, strict=True)
        ):
            return True
        return None if None in values else False

    return holds


def _negated(build: Build) -> Build:
    def negate(terms: Sequence[Evaluate], kinds: Sequence[Kind], kind: Kind) -> Evaluate:
        evaluate = build(terms, kinds, kind)

        def value(runs: Runs, row: int) -> Any:
            result = evaluate(runs, row)
            return None if result is None else not result

        return value

    return negate


def _unary(compute: Callable[[Any], Any]) -> Build:
    return _strict(lambda _, kind: lambda value: fit(compute(value), kind))


def _distinct(terms: Sequence[Evaluate], kinds: Sequence[Kind], _: Kind) -> Evaluate:
    left, right = terms
    convert = _common(kinds)

    def value(runs: Runs, row: int) -> bool:
        one, other = left(runs, row), right(runs, row)
        if one is None or other is None:
            return (one is None) != (other is None)
        return bool(convert(one) != convert(other))

    return value


_plus = _exactly(operator.add, "add")

#: Function -> how its terms are combined.
FUNCTIONS: dict[str, Build] = {
    "AND": _and,
    "OR": _or,
    "NOT": _strict(lambda _, __: operator.not_),
    "=": _comparison(operator.eq),
    "<>": _comparison(operator.ne),
    "<": _comparison(operator.lt),
    "<=": _comparison(operator.le),
    ">": _comparison(operator.gt),
    ">=": _comparison(operator.ge),
    "BETWEEN": _strict(_between),
    "NOT BETWEEN": _negated(_strict(_between)),
    "IN": _in,
    "NOT IN": _negated(_in),
    "IS NULL": _test(lambda value: value is None),
    "IS NOT NULL": _test(lambda value: value is not None),
    "IS TRUE": _test(lambda value: value is True),
    "IS NOT TRUE": _test(lambda value: value is not True),
    "IS FALSE": _test(lambda value: value is False),
    "IS NOT FALSE": _test(lambda value: value is not False),
    "IS UNKNOWN": _test(lambda value: value is None),
    "IS NOT UNKNOWN": _test(lambda value: value is not None),
    "IS DISTINCT FROM": _distinct,
    "IS NOT DISTINCT FROM": _negated(_distinct),
    "+": _arithmetic(_plus),
    "-": _arithmetic(_exactly(operator.sub, "subtract")),
    "*": _arithmetic(_exactly(operator.mul, "multiply")),
    "/": _arithmetic(_divide),
    "%": _arithmetic(_remainder),
    "MOD": _arithmetic(_remainder),
    "ABS": _unary(_exactly(abs, "abs")),
    "MINUS": _unary(_exactly(operator.neg, "minus")),
    "CAST": _strict(_cast),
    "POWER": _strict(lambda _, __: _power),
    "CASE": _case,
    "COALESCE": _coalesce,
}


# --- aggregates ---------------------------------------------------------------------------------


@dataclass
class _Folding:
    """An aggregate with the states of the rows that it has folded, by the first row."""

    term: Fold
    rows: Rows
    states: dict[int, list[Any]] = field(default_factory=dict)

    def value(self, runs: Runs, row: int) -> Any:
        rows = rows_of(self.term.place, runs, row)
        if not rows:
            return 0 if self.term.function == "COUNT" else None
        if rows[0] not in self.states:
            for before in [first for first in self.states if first < self.rows.base]:
                del self.states[before]
        states = self.states.setdefault(rows[0], [])
        for one in range(rows[0] + len(states), rows[-1] + 1):
            value = (
                True
                if self.term.column is None
                else self.rows.columns[self.term.column][one - self.rows.base]
            )
            previous = states[-1] if states else None
            states.append(previous if value is None else self.add(previous, value))
        return self.result(states[len(rows) - 1])

    def add(self, state: Any, value: Any) -> Any:
        match self.term.function:
            case "COUNT":
                return (state or 0) + 1
            case "SUM":
                return value if state is None else self.plus(state, value)
            case "MIN":
                return value if state is None or value < state else state
            case _:
                return value if state is None or value > state else state

    def plus(self, state: Any, value: Any) -> Any:
        kind, total = self.term.kind, _plus(state, value)
        return fit(total, kind) if kind.family in {"integer", "float"} else total

    def result(self, state: Any) -> Any:
        if state is None:
            return 0 if self.term.function == "COUNT" else None
        kind = self.term.kind
        return fit(_read(state, kind), kind)


#: Aggregates that a term evaluates.
AGGREGATES = frozenset({"COUNT", "SUM", "MIN", "MAX"})
