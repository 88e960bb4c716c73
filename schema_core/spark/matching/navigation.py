"""Expressions of MATCH_RECOGNIZE, with each column at the row of a match from which it is read.

LAST(A.x + A.y, 1) is LAST(A.x, 1) + LAST(A.y, 1); a column without a variable is one of all rows of
the match, of which it is read from the last. In DEFINE the current row is the last of its variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any, TypeAlias

from schema_core import types
from schema_core.base.lazy import dataclass
from schema_core.expressions.typed import (
    Constant,
    FunctionCall,
    Keyword,
    Ref,
    Select,
    Typed,
    substitute,
    walk,
)
from schema_core.query.relation import is_aggregate
from schema_core.query.scope import NAVIGATION
from schema_core.spark.matching.row_pattern import refusal
from schema_core.spark.matching.row_terms import (
    AGGREGATES,
    FUNCTIONS,
    Apply,
    At,
    Fold,
    Kind,
    Place,
    Term,
    UserCall,
    UserFold,
)
from schema_core.sql.syntax import Literal, LiteralKind

#: The alias of the rows in expressions that Spark computes.
ROWS = "the_rows"
#: Prefix of columns of earlier rows.
EARLIER = "e"


@dataclass(frozen=True, slots=True)
class Navigator:
    """Replaces navigation in the expressions of one clause.

    Columns become columns of a relation named by their place, which `places` has. `own` is the
    variable that DEFINE defines; `aliases` are those of the rows. `sizes` are the
    numbers of rows of the variables, None of one that may have fewer or more.
    """

    variables: Mapping[str, int]
    aliases: frozenset[str]
    own: int | None = None
    sizes: tuple[int | None, ...] = ()
    places: dict[str, Place] = field(default_factory=dict)

    def at_places(self, expression: Typed) -> Typed:
        """Return an expression without navigation; aggregates keep columns of their variable.

        Raises:
            UnsupportedError: `not-executable` for navigation that Flink refuses.
        """
        return substitute(expression, self._change)

    def place(self, column: Ref) -> Place:
        return self.places[column.relation or ""]

    def distance(self, place: Place) -> int | None:
        """Return how many rows a place is before the current row; -1 if it has no row.

        The result is None if that differs between matches.
        """
        if place.is_current:
            return 0
        own, variable = self.own, place.variable
        if own is None or not 0 <= own < len(self.sizes) or self.sizes[own] != 1:
            return None
        if variable == own:
            return -1 if place.offset else 0
        if variable is not None and not 0 <= variable < own:
            return -1
        first = 0 if variable is None else variable
        sizes = self.sizes[first:own]
        if None in sizes:
            return None
        total = sum(size or 0 for size in sizes)
        rows = total + 1 if variable is None else sizes[0] or 0
        if place.offset >= rows:
            return -1
        return total - place.offset if place.first else total - (rows - 1 - place.offset)

    def _change(self, part: Typed) -> Typed | None:
        match part:
            case Ref():
                return self._column(part)
            case Select():
                raise refusal("a subquery is not supported", part.span)
            case FunctionCall() if part.over is not None or part.filter or part.symbol:
                raise refusal(f"{part.function.name} with a clause is not supported", part.span)
            case FunctionCall() if is_aggregate(part):
                self._require_one_variable(part)
                return None
            case FunctionCall() if part.function.name in NAVIGATION:
                return self._navigated(part)
            case FunctionCall() if part.function.name == "FINAL":
                return self.at_places(part.arguments[0])
            case FunctionCall() if part.function.name == "RUNNING":
                raise refusal("RUNNING is not supported in Flink", part.span)
            case _:
                return None

    def _column(self, column: Ref, *, first: bool = False, offset: int = 0) -> Ref:
        variable = self._variable(column)
        own = self.own is not None and variable in (None, self.own)
        place = Place(variable, first, offset, own)
        name = f"{'FIRST' if first else 'LAST'} {offset} {variable}"
        self.places[name] = place
        return replace(column, relation=name)

    def _variable(self, column: Ref) -> int | None:
        """Return the variable of a column, -1 for one that is not in the pattern."""
        name = column.relation or ""
        return None if name in self.aliases else self.variables.get(name, -1)

    def _navigated(self, call: FunctionCall) -> Typed:
        name, offset = call.function.name, self._offset(call)
        self._require_one_variable(call)
        for part in walk(call.arguments[0]):
            if isinstance(part, FunctionCall) and (
                part.function.name in NAVIGATION or is_aggregate(part)
            ):
                problem = f"{part.function.name} within {name} is not supported"
                raise refusal(problem, part.span)
        columns = [part for part in walk(call.arguments[0]) if isinstance(part, Ref)]
        is_own = self._variable(columns[0]) == self.own
        if name == "NEXT" or (name == "PREV" and is_own and offset):
            problem = f"{name} of rows of the partition is not supported in Flink"
            raise refusal(problem, call.span, "use LAST(variable.column, n), of rows of the match")

        def change(part: Typed) -> Typed | None:
            if isinstance(part, Ref):
                return self._column(part, first=name == "FIRST", offset=offset)
            return None

        return substitute(call.arguments[0], change)

    @staticmethod
    def _offset(call: FunctionCall) -> int:
        if len(call.arguments) < 2:
            return int(call.function.name in ("PREV", "NEXT"))
        match call.arguments[1]:
            case Constant(literal=Literal(kind=LiteralKind.EXACT, text=text)) if text.isdecimal():
                return int(text)
        problem = f"the second argument of {call.function.name} must be a number of rows"
        raise refusal(problem, call.span)

    def _require_one_variable(self, call: FunctionCall) -> None:
        relations = {part.relation for part in walk(call) if isinstance(part, Ref)}
        name = call.function.name
        if len(relations) > 1:
            raise refusal(f"{name} reads columns of several pattern variables", call.span)
        values = [part for part in call.arguments if not isinstance(part, Keyword)]
        if not relations and values:
            raise refusal(f"{name} reads no column", call.span)


def columns_in(expression: Typed) -> Iterator[Ref]:
    """Yield the columns of an expression."""
    return (part for part in walk(expression) if isinstance(part, Ref))


# --- conditions ---------------------------------------------------------------------------------


_BITS = {types.TinyIntType: 8, types.SmallIntType: 16, types.IntType: 32, types.BigIntType: 64}
_FAMILIES: dict[type[types.DataType], str] = {
    types.BooleanType: "boolean",
    types.CharType: "string",
    types.VarCharType: "string",
    types.DateType: "date",
    types.TimeType: "time",
    types.DayTimeIntervalType: "interval",
    types.YearMonthIntervalType: "months",
}
#: Families of numbers, which compare with each other.
NUMBERS = frozenset({"integer", "float", "decimal"})
#: Functions whose results are of one family of their arguments.
_COMPARED = frozenset(
    {"=", "<>", "<", "<=", ">", ">=", "BETWEEN", "NOT BETWEEN", "IN", "NOT IN",
     "IS DISTINCT FROM", "IS NOT DISTINCT FROM"}
)  # fmt: skip
_NUMERIC = frozenset({"+", "-", "*", "/", "%", "MOD", "ABS", "MINUS", "POWER"})


def kind_of(type_: types.DataType) -> Kind | None:
    """Return a type as terms compute with it; None if they do not."""
    match type_:
        case types.TinyIntType() | types.SmallIntType() | types.IntType() | types.BigIntType():
            return Kind("integer", _BITS[type(type_)])
        case types.FloatType():
            return Kind("float", 32)
        case types.DoubleType():
            return Kind("float", 64)
        case types.DecimalType(precision=precision, scale=scale):
            return Kind("decimal", precision, scale)
        case types.TimestampType(precision=precision) if precision <= 6:
            return Kind("timestamp")
        case types.LocalZonedTimestampType(precision=precision) if precision <= 6:
            return Kind("instant")
        case _ if type(type_) in _FAMILIES:
            return Kind(_FAMILIES[type(type_)])
        case _:
            return None


@dataclass(slots=True)
class RowColumns:
    """The expressions that Spark computes for each row, over the columns of `ROWS`.

    `earlier` has their columns of earlier rows: column and distance -> name.
    """

    expressions: dict[Typed, int] = field(default_factory=dict)
    earlier: dict[tuple[str, int], str] = field(default_factory=dict)

    def add(self, expression: Typed) -> int:
        return self.expressions.setdefault(expression, len(self.expressions))

    def at_distance(self, column: Ref, distance: int) -> Ref:
        """Return a column of the row that is so many rows before."""
        if not distance:
            return replace(column, relation=ROWS)
        name = self.earlier.setdefault((column.name, distance), f"{EARLIER}{len(self.earlier)}")
        return Ref(name, column.type.nullable(), ROWS, column.span)


#: Returns a user's function for Python workers; None of a function that is not the user's.
WorkerFunction: TypeAlias = "Callable[[FunctionCall], Callable[..., Any] | None]"


@dataclass(frozen=True, slots=True)
class ConditionTerms:
    """Splits conditions of DEFINE into columns of rows and a term over several rows."""

    columns: RowColumns
    navigator: Navigator
    worker_function: WorkerFunction

    def condition(self, expression: Typed) -> Term:
        """Return the term of a condition of DEFINE.

        Raises:
            UnsupportedError: `not-executable` for functions of several rows that no term has.
        """
        return self._term(self.navigator.at_places(expression))

    def _term(self, expression: Typed) -> Term:
        aggregates = [part for part in walk(expression) if is_aggregate(part)]
        places = {column.relation for column in columns_in(expression)}
        if not aggregates and len(places) < 2:
            return self._of_one_row(expression)
        kind = kind_of(expression.type)
        if isinstance(expression, FunctionCall) and kind is not None:
            if (function := self.worker_function(expression)) is not None:
                return self._user_term(expression, function, kind)
            if is_aggregate(expression):
                return self._fold(expression, kind)
            if expression.function.name in FUNCTIONS:
                return self._apply(expression, kind)
        return self._by_distances(expression)

    def _of_one_row(self, expression: Typed) -> At:
        column = next(columns_in(expression), None)
        place = Place(None, own=True) if column is None else self.navigator.place(column)
        index = self.columns.add(_over_rows(expression))
        missing = None
        if not place.is_current and not isinstance(expression, Ref):
            missing = self.columns.add(substitute(expression, _null))
        return At(place, index, missing, kind_of(expression.type) or Kind("other"))

    def _by_distances(self, expression: Typed) -> At:
        """Return an expression over rows whose distance is the same in each match, as a column.

        Spark computes it for all rows, so terms that do not fail for other rows are preferred.
        """
        distances = {
            column.relation: self.navigator.distance(self.navigator.place(column))
            for column in columns_in(expression)
        }
        if None in distances.values() or any(map(is_aggregate, walk(expression))):
            raise self._refusal(expression)

        def change(part: Typed) -> Typed | None:
            if not isinstance(part, Ref):
                return None
            distance = distances[part.relation] or 0
            return _null(part) if distance < 0 else self.columns.at_distance(part, distance)

        index = self.columns.add(substitute(expression, change))
        kind = kind_of(expression.type) or Kind("other")
        return At(Place(None, own=True), index, None, kind)

    def _place_of(self, call: FunctionCall) -> Place:
        """Return the rows of an aggregate as a place."""
        column = next(columns_in(call), None)
        variable = None if column is None else self.navigator.place(column).variable
        return Place(variable, own=variable in (None, self.navigator.own))

    def _user_term(
        self, call: FunctionCall, function: Callable[..., Any], kind: Kind
    ) -> UserCall | UserFold:
        for argument in call.arguments:
            if kind_of(argument.type) is None:
                raise self._refusal(call)
        if not is_aggregate(call):
            return UserCall(function, tuple(map(self._term, call.arguments)), kind)
        columns = (self.columns.add(_over_rows(argument)) for argument in call.arguments)
        return UserFold(function, self._place_of(call), tuple(columns), kind)

    def _fold(self, call: FunctionCall, kind: Kind) -> Fold:
        place = self._place_of(call)
        values = [part for part in call.arguments if not isinstance(part, Keyword)]
        name = call.function.name
        argument = kind_of(values[0].type) if values else None
        is_known = argument is not None and (
            argument.family in NUMBERS or name in ("MIN", "MAX", "COUNT")
        )
        if name == "COUNT" and not values:
            return Fold(name, place, None, kind, kind)
        if name not in AGGREGATES or len(values) != 1 or not (is_known or name == "COUNT"):
            raise self._refusal(call)
        index = self.columns.add(_over_rows(values[0]))
        return Fold(name, place, index, argument or Kind("other"), kind)

    def _apply(self, call: FunctionCall, kind: Kind) -> Apply | At:
        name, arguments = call.function.name, call.arguments
        if name == "CAST":
            arguments = arguments[:1]
        if name == "-" and len(arguments) == 1:
            name = "MINUS"
        terms = tuple(map(self._term, arguments))
        families = {"number" if t.kind.family in NUMBERS else t.kind.family for t in terms}
        is_valid = True
        if name in _COMPARED:
            is_valid = len(families) == 1 and "other" not in families
        elif name in _NUMERIC:
            is_valid = families == {"number"}
        elif name == "CAST":
            is_valid = (families == {"number"} and kind.family in NUMBERS) or _widens(
                terms[0].kind, kind, arguments[0].type, call.type
            )
        elif name in ("CASE", "COALESCE"):
            values = terms if name == "COALESCE" else (*terms[1::2], terms[-1])
            is_valid = all(
                _widens(term.kind, kind, types.NullType(), types.NullType()) for term in values
            )
        return Apply(name, terms, kind) if is_valid else self._by_distances(call)

    @staticmethod
    def _refusal(expression: Typed) -> Exception:
        name = expression.function.name if isinstance(expression, FunctionCall) else "a field"
        return refusal(
            f"{name} over values of several rows is not supported in DEFINE",
            expression.span,
            "compare values each of which depends on one row, or compute the value before",
        )


def _over_rows(expression: Typed) -> Typed:
    def change(part: Typed) -> Typed | None:
        return replace(part, relation=ROWS) if isinstance(part, Ref) else None

    return substitute(expression, change)


def _null(part: Typed) -> Typed | None:
    if isinstance(part, Ref):
        return Constant(Literal(LiteralKind.NULL, "NULL"), part.type.nullable())
    return None


def _widens(source: Kind, target: Kind, from_: types.DataType, to: types.DataType) -> bool:
    """Return whether each value of a type is one of another."""
    match source.family, target.family:
        case "integer", "integer":
            return source.size <= target.size
        case "integer", "float" | "decimal":
            return target.family == "float" or target.size - target.scale >= (
                len(str(1 << (source.size - 1)))
            )
        case "decimal", "decimal":
            return (
                source.scale <= target.scale
                and source.size - source.scale <= target.size - target.scale
            )
        case "float", "float":
            return source.size <= target.size
        case "decimal", "float":
            return True
        case "string", "string":
            lengths = [getattr(type_, "length", 0) for type_ in (from_, to)]
            return not isinstance(to, types.CharType) and lengths[0] <= lengths[1]
        case one, other:
            return one == other and one != "other"
