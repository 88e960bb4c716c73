"""Translation rules from Flink functions to Spark nodes, and the Spark types of their values.

Expressions rely on the settings of `schema_core.spark.session`: ANSI mode is off and the time zone
is UTC; another zone is written into the expressions that depend on it. Intervals are numbers, as
in Flink: months, or milliseconds.

Bounds follow how many integer digits decimals have through derived tables, common tables and
views. A SUM of DECIMAL(7, 2) has the type DECIMAL(38, 2), but fewer than 10^10 values add 10 digits
at most; beyond, Spark's own sum is NULL. A division with a bounded dividend needs no correction
(`functions.numbers`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from typing import TypeAlias

from schema_core import types
from schema_core.base.lazy import dataclass
from schema_core.expressions.typed import Constant, FunctionCall, Ref, Typed
from schema_core.query import relation as relational
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.template import Template, sql, template
from schema_core.sql.syntax import Literal, LiteralKind
from schema_core.types.common import MAX_PRECISION as MAX_DIGITS

INTEGERS = (types.TinyIntType, types.SmallIntType, types.IntType, types.BigIntType)
FLOATS = (types.FloatType, types.DoubleType)
NUMBERS = (*INTEGERS, *FLOATS, types.DecimalType)
CHARACTERS = (types.CharType, types.VarCharType)
BYTES = (types.BinaryType, types.VarBinaryType)
INTERVALS = (types.YearMonthIntervalType, types.DayTimeIntervalType)

#: Digits of an integer as a DECIMAL.
DIGITS: dict[type[types.DataType], int] = {
    types.TinyIntType: 3,
    types.SmallIntType: 5,
    types.IntType: 10,
    types.BigIntType: 19,
}

#: Spark stores microseconds.
MAX_PRECISION = 6

#: The fields of a timestamp with more digits: Spark's timestamp, and the nanoseconds beyond.
MICROS, NANOS = "micros", "nanos"

_NAMES: dict[type[types.DataType], str] = {
    types.NullType: "VOID",
    types.BooleanType: "BOOLEAN",
    types.TinyIntType: "TINYINT",
    types.SmallIntType: "SMALLINT",
    types.IntType: "INT",
    types.BigIntType: "BIGINT",
    types.FloatType: "FLOAT",
    types.DoubleType: "DOUBLE",
    types.CharType: "STRING",
    types.VarCharType: "STRING",
    types.BinaryType: "BINARY",
    types.VarBinaryType: "BINARY",
    types.DateType: "DATE",
    types.LocalZonedTimestampType: "TIMESTAMP",
    types.TimestampType: "TIMESTAMP_NTZ",
    types.YearMonthIntervalType: "INT",
    types.DayTimeIntervalType: "BIGINT",
    types.VariantType: "VARIANT",
    types.BitmapType: "BINARY",
}


def is_fine(type_: types.DataType) -> bool:
    """Return whether a timestamp has digits that Spark does not store."""
    return isinstance(type_, types.AnyTimestampType) and type_.precision > MAX_PRECISION


def has_nanoseconds(type_: types.DataType) -> bool:
    """Return whether a type is or contains a timestamp whose digits Spark does not store."""
    return any(map(is_fine, type_.walk()))


def truncated_to_micros(type_: types.DataType) -> types.DataType:
    """Return a type without nanoseconds; other types unchanged."""
    match type_:
        case types.TimestampType():
            return types.TimestampType(min(type_.precision, MAX_PRECISION))
        case types.LocalZonedTimestampType():
            return types.LocalZonedTimestampType(min(type_.precision, MAX_PRECISION))
        case _:
            return type_


def digits_of(type_: types.DataType) -> tuple[int, int]:
    """Return precision and scale of a DECIMAL or integer."""
    if isinstance(type_, types.DecimalType):
        return type_.precision, type_.scale
    return DIGITS[type(type_)], 0


def is_orderable(type_: types.DataType) -> bool:
    """Return whether Spark sorts, groups and compares values of a type.

    >>> from schema_core.types import parse_type
    >>> is_orderable(parse_type("ARRAY<INT>")), is_orderable(parse_type("ROW<a MAP<INT, INT>>"))
    (True, False)
    """
    return not any(
        isinstance(part, types.MapType | types.MultisetType | types.VariantType)
        for part in type_.walk()
    )


def require_orderable(type_: types.DataType, clause: str) -> None:
    """Refuse a clause over values that Spark does not sort, or that have no order in Flink."""
    is_unsorted = clause == "ORDER BY" and any(
        isinstance(part, types.BitmapType) for part in type_.walk()
    )
    if is_unsorted or not is_orderable(type_):
        raise nodes.unsupported_error(
            f"{clause} of {type_.as_summary_string()} is not supported on Spark"
        )


def sql_type(type_: types.DataType) -> str:
    """Return the Spark type that holds a value within an expression; intervals are numbers.

    Raises:
        UnsupportedError: `not-executable` where there is none.

    >>> from schema_core.types import parse_type
    >>> sql_type(parse_type("ROW<a CHAR(3), b ARRAY<DECIMAL(4, 2)>>"))
    'STRUCT<`a`: STRING, `b`: ARRAY<DECIMAL(4, 2)>>'
    """
    match type_:
        case types.DecimalType():
            return f"DECIMAL({type_.precision}, {type_.scale})"
        case types.TimeType():
            return f"TIME({type_.precision})"
        case types.AnyTimestampType() if is_fine(type_):
            return f"STRUCT<{MICROS}: {_NAMES[type(type_)]}, {NANOS}: SMALLINT>"
        case types.ArrayType():
            return f"ARRAY<{sql_type(type_.element_type)}>"
        case types.MapType():
            return f"MAP<{_key(type_.key_type)}, {sql_type(type_.value_type)}>"
        case types.MultisetType():
            return f"MAP<{_key(type_.element_type)}, INT>"
        case types.RowType() | types.StructuredType():
            fields = (
                f"{nodes.quote(field.name)}: {sql_type(field.data_type)}" for field in type_.fields
            )
            return f"STRUCT<{', '.join(fields)}>"
        case _:
            if name := _NAMES.get(type(type_)):
                return name
            raise nodes.unsupported_error(
                f"Spark has no values of type {type_.as_summary_string()}"
            )


def _key(type_: types.DataType) -> str:
    if not is_orderable(type_):
        raise nodes.unsupported_error(
            f"Spark has no maps with keys, and no multisets, of {type_.as_summary_string()}"
        )
    return sql_type(type_)


#: Digits that Spark adds to the precision of a sum: the digits of the number of rows.
SUM_DIGITS = 10

#: How many expressions and queries a bound is followed through.
MAX_DEPTH = 60

#: Chooses the arguments that a function returns or computes with.
Choice: TypeAlias = "Callable[[Sequence[Typed]], Sequence[Typed]]"

#: Returns the bound of a result, before rounding, from those of the chosen arguments.
Rule: TypeAlias = "Callable[[Sequence[int]], int]"


def _every(arguments: Sequence[Typed]) -> Sequence[Typed]:
    return arguments


def _first(arguments: Sequence[Typed]) -> Sequence[Typed]:
    return arguments[:1]


def _value_and_default(arguments: Sequence[Typed]) -> Sequence[Typed]:
    return [arguments[0], *arguments[2:]]


#: Function -> arguments and rule; others are bounded by their types.
BOUNDED: Mapping[str, tuple[Choice, Rule]] = {
    "+": (_every, lambda digits: max(digits) + 1),
    "-": (_every, lambda digits: max(digits) + 1),
    "*": (_every, sum),
    "CASE": (lambda arguments: [*arguments[1::2], arguments[-1]], max),
    "IF": (lambda arguments: arguments[1:], max),
    "ROUND": (_first, lambda digits: digits[0] + 1),
    **dict.fromkeys(("SUM", "$SUM0"), (_first, lambda digits: digits[0] + SUM_DIGITS)),
    **dict.fromkeys(("COALESCE", "GREATEST", "IFNULL", "LEAST"), (_every, max)),
    **dict.fromkeys(("LAG", "LEAD"), (_value_and_default, max)),
    **dict.fromkeys(("%", "+x", "-x", "ABS", "AVG", "CAST", "CEIL", "FLOOR"), (_first, max)),
    **dict.fromkeys(("FIRST_VALUE", "LAST_VALUE", "MAX", "MIN", "MOD"), (_first, max)),
    **dict.fromkeys(("TRUNCATE", "TRY_CAST"), (_first, max)),
}


def bound_of_type(type_: types.DataType) -> int:
    """Return how many integer digits the values of a type have at most."""
    if isinstance(type_, types.DecimalType):
        return type_.precision - type_.scale
    if isinstance(type_, types.NullType):
        return 0
    return DIGITS.get(type(type_), MAX_DIGITS)


def _may_round(source: types.DataType, target: types.DataType) -> bool:
    """Return whether a cast may round a value up: 9.9 to 10."""
    return _scale(source) > _scale(target)


def _scale(type_: types.DataType) -> int:
    if isinstance(type_, types.DecimalType):
        return type_.scale
    return 0 if type(type_) in DIGITS or isinstance(type_, types.NullType) else MAX_DIGITS


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of expressions over a source.

    `tables` are the common tables in scope, each with those before it; `cache` has the bounds of
    columns of queries by identity and position.
    """

    source: relational.Relation | None = None
    tables: Mapping[str, tuple[relational.Relation, Bounds]] = field(default_factory=dict)
    cache: dict[tuple[int, int], int] = field(default_factory=dict)

    def over(self, source: relational.Relation | None) -> Bounds:
        return replace(self, source=source)

    def within(self, query: relational.With) -> Bounds:
        bounds = self
        for table in query.tables:
            bounds = bounds.with_table(table)
        return bounds

    def with_table(self, table: relational.Common) -> Bounds:
        """Return the bounds after one more common table, which may hide another."""
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
                is_rounded = any(_may_round(argument.type, typed.type) for argument in chosen)
                chosen_digits = [self.of(argument, depth + 1) for argument in chosen]
                return min(bound, rule(chosen_digits) + is_rounded)
            case _:
                return bound

    def _of_column(self, column: Ref, depth: int) -> int:
        rest = [self.source]
        while rest:
            match rest.pop():
                case relational.Join(left=left, right=right):
                    rest += [left, right]
                case relational.Named(input=below, alias=alias, columns=columns) if (
                    alias == column.relation
                ):
                    bounds = [
                        self.of_output(below, place, output.type, depth)
                        for place, output in enumerate(columns)
                        if output.name == column.name
                    ]
                    return max(bounds, default=MAX_DIGITS)
                case _:
                    continue
        return MAX_DIGITS

    def of_output(
        self, query: relational.Relation, place: int, type_: types.DataType, depth: int
    ) -> int:
        key = id(query), place
        if key not in self.cache:
            self.cache[key] = bound_of_type(type_)
            if depth <= MAX_DEPTH:
                self.cache[key] = min(
                    self.cache[key], self._bound_of_query(query, place, depth + 1)
                )
        return self.cache[key]

    def _bound_of_query(self, query: relational.Relation, place: int, depth: int) -> int:
        match query:
            case relational.Select(items=items, source=source):
                return self.over(source).of(items[place].expression, depth)
            case (
                relational.Named(input=below)
                | relational.Snapshot(input=below)
                | relational.Sort(input=below)
                | relational.Sample(input=below)
            ):
                return self.of_output(below, place, below.columns[place].type, depth)
            case relational.WindowTable(input=below) | relational.VectorSearch(input=below) if (
                place < len(below.columns)
            ):
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
                return MAX_DIGITS


@dataclass(frozen=True, slots=True)
class TranslatedCall:
    """A typed call with its arguments as Spark nodes.

    `zone` is the session's time zone in Flink; `filter` and `window` belong to aggregates.
    `in_condition` is set where NULL has the effect of FALSE, `is_result` where the query returns
    the value, or a value computed of it, for each row.
    """

    call: FunctionCall
    arguments: tuple[nodes.Node, ...]
    zone: str = "UTC"
    filter: nodes.Node | None = None
    window: nodes.Window | None = None
    in_condition: bool = False
    is_result: bool = False
    database: str | None = None
    bounds: Bounds = field(default_factory=Bounds)

    @property
    def type(self) -> types.DataType:
        return self.call.type

    @property
    def types(self) -> tuple[types.DataType, ...]:
        return tuple(argument.type for argument in self.call.arguments)

    def integer_digits(self, index: int) -> int:
        return self.bounds.of(self.call.arguments[index])

    def __getitem__(self, index: int) -> nodes.Node:
        return self.arguments[index]

    def keyword(self, index: int) -> str:
        """Return the keyword at a position, or an empty string if there is a value."""
        node = self.arguments[index] if index < len(self.arguments) else None
        return node.word if isinstance(node, nodes.Keyword) else ""

    def cast(self, value: nodes.Node) -> nodes.Node:
        """Return a value in the Spark type of the result."""
        return nodes.Cast(value, sql_type(self.type))


class Translation(Enum):
    """How a Flink function is computed on Spark."""

    NATIVE = "native"
    REWRITTEN = "rewritten"
    UDF = "udf"
    REFUSED = "refused"


#: Builds the nodes of a call.
Translate: TypeAlias = "Callable[[TranslatedCall], nodes.Node]"


@dataclass(frozen=True, slots=True)
class TranslationRule:
    """How one function is computed on Spark.

    `kind` is NATIVE if Spark's function is exact, REWRITTEN if the rule combines other functions,
    UDF if Python computes it for some arguments, and REFUSED, with the reason, if it is not
    computed.
    """

    kind: Translation
    translate: Translate
    reason: str = ""


def _translate(rule: str | Translate) -> Translate:
    if not isinstance(rule, str):
        return rule
    parsed: Template = template(rule)

    def translate(called: TranslatedCall) -> nodes.Node:
        environment: dict[str, nodes.Node | str | tuple[nodes.Node, ...]] = {
            str(index): argument for index, argument in enumerate(called.arguments)
        }
        environment["*"] = called.arguments
        if "{type}" in rule:
            environment["type"] = sql_type(called.type)
        return parsed(environment)

    return translate


def native(rule: str | Translate) -> TranslationRule:
    """Return a rule for a function that Spark computes exactly."""
    return TranslationRule(Translation.NATIVE, _translate(rule))


def rewrite_rule(rule: str | Translate) -> TranslationRule:
    """Return a rule that combines other functions of Spark."""
    return TranslationRule(Translation.REWRITTEN, _translate(rule))


def udf(rule: Translate) -> TranslationRule:
    """Return a rule that calls a Python UDF for some arguments."""
    return TranslationRule(Translation.UDF, rule)


def refusal_rule(reason: str) -> TranslationRule:
    """Return the rule of a function that Spark does not compute."""

    def translate(called: TranslatedCall) -> nodes.Node:
        raise nodes.unsupported_error(
            f"{called.call.function.name} is not supported on Spark: {reason}"
        )

    return TranslationRule(Translation.REFUSED, translate, reason)


#: Prefix of the names under which `schema_core.spark.compiler.udfs` are registered.
PREFIX = "schema_core_"


def call_udf(name: str, *arguments: nodes.Node | str | int | None) -> nodes.Node:
    """Return a call of a Python UDF that raises its failure where the value is used.

    Spark computes UDFs for all rows, even if a CASE would not evaluate them, so a failure is a
    value.
    """
    call = nodes.PythonUdf(f"{PREFIX}{name}", tuple(map(nodes.node_of, arguments)))
    from schema_core.spark.compiler.udfs.registry import UDFS

    if not UDFS[name].fails:
        return call
    return nodes.let(
        call,
        lambda result: sql(
            "if({r}.`problem` IS NULL, {r}.`value`, raise_error({r}.`problem`))", r=result
        ),
    )
