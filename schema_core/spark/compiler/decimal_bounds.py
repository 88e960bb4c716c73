"""Bounds of decimals: how many integer digits the values of an expression have at most.

A SUM of DECIMAL(7, 2) has the type DECIMAL(38, 2), but not 36 integer digits: a sum of fewer than
10^10 values has 10 digits more than they. Spark's own sum is NULL beyond. A division whose dividend
is bounded needs no correction (`schema_core.spark.compiler.functions.quotients`), so bounds are
followed through derived tables, common tables and views.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeAlias

from schema_core.base.lazy import dataclass
from schema_core.expressions.typed import Constant, FunctionCall, Ref, Typed
from schema_core.query import relation as relational
from schema_core.spark.compiler.value_types import DIGITS
from schema_core.sql.syntax import Literal, LiteralKind
from schema_core.types import DataType, DecimalType, NullType
from schema_core.types.common import MAX_PRECISION

#: Digits that Spark adds to the precision of a sum: those of the number of rows.
SUM_DIGITS = 10

#: How many expressions and queries a bound is followed through.
MAX_DEPTH = 60

#: Chooses the arguments whose values a function returns or computes with.
Choice: TypeAlias = "Callable[[Sequence[Typed]], Sequence[Typed]]"

#: Returns the bound of a result, before it is rounded, from those of the chosen arguments.
Rule: TypeAlias = "Callable[[Sequence[int]], int]"


def _every(arguments: Sequence[Typed]) -> Sequence[Typed]:
    return arguments


def _first(arguments: Sequence[Typed]) -> Sequence[Typed]:
    return arguments[:1]


def _value_and_default(arguments: Sequence[Typed]) -> Sequence[Typed]:
    return [arguments[0], *arguments[2:]]


#: Function -> its arguments and rule. The other functions are bounded by their types.
BOUNDED: Mapping[str, tuple[Choice, Rule]] = {
    "+": (_every, lambda found: max(found) + 1),
    "-": (_every, lambda found: max(found) + 1),
    "*": (_every, sum),
    "CASE": (lambda arguments: [*arguments[1::2], arguments[-1]], max),
    "IF": (lambda arguments: arguments[1:], max),
    "ROUND": (_first, lambda found: found[0] + 1),
    "SUM": (_first, lambda found: found[0] + SUM_DIGITS),
    **dict.fromkeys(("COALESCE", "GREATEST", "IFNULL", "LEAST"), (_every, max)),
    **dict.fromkeys(("LAG", "LEAD"), (_value_and_default, max)),
    **dict.fromkeys(("%", "+x", "-x", "ABS", "AVG", "CAST", "CEIL", "FLOOR"), (_first, max)),
    **dict.fromkeys(("FIRST_VALUE", "LAST_VALUE", "MAX", "MIN", "MOD"), (_first, max)),
    **dict.fromkeys(("TRUNCATE", "TRY_CAST"), (_first, max)),
}


def bound_of_type(type_: DataType) -> int:
    """Return how many integer digits the values of a type have at most."""
    if isinstance(type_, DecimalType):
        return type_.precision - type_.scale
    if isinstance(type_, NullType):
        return 0
    return DIGITS.get(type(type_), MAX_PRECISION)


def _may_round(source: DataType, target: DataType) -> bool:
    """Return whether a value that becomes one of another type may be rounded up: 9.9 to 10."""
    return _scale(source) > _scale(target)


def _scale(type_: DataType) -> int:
    if isinstance(type_, DecimalType):
        return type_.scale
    return 0 if type(type_) in DIGITS or isinstance(type_, NullType) else MAX_PRECISION


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of the expressions over a source.

    `tables` are the common tables in scope, each with those before it; `known` keeps the bounds of
    columns of queries, by identity and position, so that each is computed once.
    """

    source: relational.Relation | None = None
    tables: Mapping[str, tuple[relational.Relation, Bounds]] = field(default_factory=dict)
    known: dict[tuple[int, int], int] = field(default_factory=dict)

    def over(self, source: relational.Relation | None) -> Bounds:
        """Return the bounds of expressions over another source."""
        return replace(self, source=source)

    def within(self, query: relational.With) -> Bounds:
        """Return the bounds in a query with common tables."""
        found = self
        for table in query.tables:
            found = found.with_table(table)
        return found

    def with_table(self, table: relational.Common) -> Bounds:
        """Return the bounds after one more common table, which may hide another one."""
        return replace(self, tables={**self.tables, table.name: (table.relation, self)})

    def of(self, typed: Typed, depth: int = 0) -> int:
        """Return how many integer digits the values of an expression have at most."""
        bound = bound_of_type(typed.type)
        if depth > MAX_DEPTH:
            return bound
        match typed:
            case Ref():
                return min(bound, self._of_column(typed, depth + 1))
            case Constant(literal=Literal(kind=LiteralKind.EXACT, text=text)):
                return len(text.partition(".")[0].lstrip("0"))
            case FunctionCall(function=function, arguments=arguments) if function.name in BOUNDED:
                choice, rule = BOUNDED[function.name]
                chosen = choice(arguments)
                is_rounded = any(_may_round(item.type, typed.type) for item in chosen)
                found = [self.of(item, depth + 1) for item in chosen]
                return min(bound, rule(found) + is_rounded)
            case _:
                return bound

    def _of_column(self, column: Ref, depth: int) -> int:
        """Return the bound of a column of the source."""
        rest = [self.source]
        while rest:
            match rest.pop():
                case relational.Join(left=left, right=right):
                    rest += [left, right]
                case relational.Named(input=below, alias=alias, columns=columns) if (
                    alias == column.relation
                ):
                    found = [
                        self.of_output(below, place, item.type, depth)
                        for place, item in enumerate(columns)
                        if item.name == column.name
                    ]
                    return max(found, default=MAX_PRECISION)
                case _:
                    continue
        return MAX_PRECISION

    def of_output(self, query: relational.Relation, place: int, type_: DataType, depth: int) -> int:
        """Return the bound of a column of a query by its position."""
        key = id(query), place
        if key not in self.known:
            self.known[key] = bound_of_type(type_)
            if depth <= MAX_DEPTH:
                self.known[key] = min(
                    self.known[key], self._bound_of_query(query, place, depth + 1)
                )
        return self.known[key]

    def _bound_of_query(self, query: relational.Relation, place: int, depth: int) -> int:
        match query:
            case relational.Select(items=items, source=source):
                return self.over(source).of(items[place].expression, depth)
            case (
                relational.Named(input=below)
                | relational.Sort(input=below)
                | relational.Sample(input=below)
            ):
                return self.of_output(below, place, below.columns[place].type, depth)
            case relational.WindowTable(input=below) if place < len(below.columns):
                return self.of_output(below, place, below.columns[place].type, depth)
            case relational.SetOperation(left=left, right=right):
                target = query.columns[place].type
                return max(
                    self.of_output(operand, place, type_, depth) + _may_round(type_, target)
                    for operand in (left, right)
                    for type_ in [operand.columns[place].type]
                )
            case relational.With(input=below):
                inner = self.within(query)
                return inner.of_output(below, place, below.columns[place].type, depth)
            case relational.CommonScan(name=name) if name in self.tables:
                table, before = self.tables[name]
                return before.of_output(table, place, table.columns[place].type, depth)
            case _:
                return MAX_PRECISION
