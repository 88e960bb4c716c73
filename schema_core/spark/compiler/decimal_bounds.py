"""Bounds of decimals: how many digits before the point the values of an expression have at most.

A SUM of DECIMAL(7, 2) has the type DECIMAL(38, 2), but not 36 digits before the point: Spark adds
10 digits to those of the values, and returns NULL beyond. A division whose dividend is bounded
needs no correction (`schema_core.spark.compiler.functions.quotients`), so bounds are followed
through derived tables, common tables and views.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from schema_core.expressions.typed import Constant, FunctionCall, Ref, Typed
from schema_core.query.relation import (
    Common,
    CommonScan,
    Join,
    Named,
    Relation,
    Sample,
    Select,
    SetOperation,
    Sort,
    WindowTable,
    With,
)
from schema_core.spark.compiler.value_types import DIGITS
from schema_core.sql.syntax import Literal, LiteralKind
from schema_core.types import DataType, DecimalType, NullType
from schema_core.types.decimal_arithmetic import MAX_PRECISION

#: Digits that Spark adds to the precision of a sum.
SUM_DIGITS = 10

#: How many expressions and queries a bound is followed through.
MAX_DEPTH = 60

#: Returns the bound of a call from those of its arguments.
Rule: TypeAlias = "Callable[[Sequence[int]], int]"


def _first(found: Sequence[int]) -> int:
    return found[0]


def _rounded(found: Sequence[int]) -> int:
    return found[0] + 1


#: Function -> its rule. The other functions are bounded by their types.
RULES: Mapping[str, Rule] = {
    "+": lambda found: max(found) + 1,
    "-": lambda found: max(found) + 1,
    "*": sum,
    "CASE": lambda found: max(*found[1::2], found[-1]),
    "IF": lambda found: max(found[1:]),
    "LAG": lambda found: max(found[0], *found[2:]),
    "LEAD": lambda found: max(found[0], *found[2:]),
    "SUM": lambda found: found[0] + SUM_DIGITS,
    **dict.fromkeys(("COALESCE", "GREATEST", "IFNULL", "LEAST"), max),
    **dict.fromkeys(
        ("%", "+x", "-x", "ABS", "FIRST_VALUE", "LAST_VALUE", "MAX", "MIN", "MOD"), _first
    ),
    **dict.fromkeys(("AVG", "CAST", "CEIL", "FLOOR", "ROUND", "TRUNCATE", "TRY_CAST"), _rounded),
}


def bound_of_type(type_: DataType) -> int:
    """Return how many digits before the point values of a type have at most."""
    if isinstance(type_, DecimalType):
        return type_.precision - type_.scale
    if isinstance(type_, NullType):
        return 0
    return DIGITS.get(type(type_), MAX_PRECISION)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of the expressions over a source.

    `tables` are the common tables in scope, each with those before it; `known` keeps the bounds of
    columns of queries, by identity and position, so that each is computed once.
    """

    source: Relation | None = None
    tables: Mapping[str, tuple[Relation, Bounds]] = field(default_factory=dict)
    known: dict[tuple[int, int], int] = field(default_factory=dict)

    def over(self, source: Relation | None) -> Bounds:
        """Return the bounds of expressions over another source."""
        return replace(self, source=source)

    def within(self, query: With) -> Bounds:
        """Return the bounds in a query with common tables; recursive ones have those of types."""
        found = self
        for one in query.tables:
            found = found.with_table(one, is_recursive=query.recursive)
        return found

    def with_table(self, table: Common, *, is_recursive: bool) -> Bounds:
        """Return the bounds after one more common table, which may hide another one."""
        tables = {name: one for name, one in self.tables.items() if name != table.name}
        if not is_recursive:
            tables[table.name] = (table.relation, self)
        return replace(self, tables=tables)

    def of(self, typed: Typed, depth: int = 0) -> int:
        """Return how many digits before the point the values of an expression have at most."""
        bound = bound_of_type(typed.type)
        if depth > MAX_DEPTH:
            return bound
        match typed:
            case Ref():
                return min(bound, self._of_column(typed, depth + 1))
            case Constant(literal=Literal(kind=LiteralKind.EXACT, text=text)):
                return len(text.partition(".")[0].lstrip("0"))
            case FunctionCall(function=function, arguments=arguments) if function.name in RULES:
                found = [self.of(one, depth + 1) for one in arguments]
                return min(bound, RULES[function.name](found))
            case _:
                return bound

    def _of_column(self, column: Ref, depth: int) -> int:
        """Return the bound of a column of the source."""
        rest = [self.source]
        while rest:
            match rest.pop():
                case Join(left=left, right=right):
                    rest += [left, right]
                case Named(input=below, alias=alias, columns=columns) if alias == column.relation:
                    found = [
                        self.of_output(below, place, one.type, depth)
                        for place, one in enumerate(columns)
                        if one.name == column.name
                    ]
                    return max(found, default=MAX_PRECISION)
                case _:
                    continue
        return MAX_PRECISION

    def of_output(self, query: Relation, place: int, type_: DataType, depth: int) -> int:
        """Return the bound of a column of a query by its position."""
        key = id(query), place
        if key not in self.known:
            self.known[key] = bound_of_type(type_)
            if depth <= MAX_DEPTH:
                self.known[key] = min(self.known[key], self._computed(query, place, depth + 1))
        return self.known[key]

    def _computed(self, query: Relation, place: int, depth: int) -> int:
        match query:
            case Select(items=items, source=source):
                return self.over(source).of(items[place].expression, depth)
            case Named(input=below) | Sort(input=below) | Sample(input=below):
                return self.of_output(below, place, below.columns[place].type, depth)
            case WindowTable(input=below) if place < len(below.columns):
                return self.of_output(below, place, below.columns[place].type, depth)
            case SetOperation(left=left, right=right):
                return max(
                    self.of_output(one, place, one.columns[place].type, depth)
                    for one in (left, right)
                )
            case With(input=below):
                inner = self.within(query)
                return inner.of_output(below, place, below.columns[place].type, depth)
            case CommonScan(name=name) if name in self.tables:
                table, before = self.tables[name]
                return before.of_output(table, place, table.columns[place].type, depth)
            case _:
                return MAX_PRECISION
