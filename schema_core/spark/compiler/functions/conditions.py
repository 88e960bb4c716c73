"""Comparisons, logic and choices. NaN equals nothing, as in Java; else logic has three values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from schema_core.expressions.typed import FunctionCall, Select
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.sql_builder import (
    CHARACTERS,
    ELEMENT,
    FLOATS,
    INTEGERS,
    VALUE,
    Called,
    Form,
    bind,
    bind_all,
    null_or,
    quote,
    sql_type,
    unsupported,
)
from schema_core.types import (
    AnyTimestampType,
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    TimestampType,
    TimeType,
    VariantType,
)

NUMBERS = (*INTEGERS, *FLOATS, DecimalType)
TEMPORAL = (DateType, TimeType, AnyTimestampType)

#: Operator -> its text where an argument may be NaN, which Spark holds for the greatest number.
_NAN = {
    "=": "if(isnan({a}) AND isnan({b}), FALSE, {a} = {b})",
    "<>": "if(isnan({a}) AND isnan({b}), TRUE, {a} <> {b})",
    "<": "if(isnan({b}), if({a} IS NULL, NULL, FALSE), {a} < {b})",
    "<=": "if(isnan({b}), if({a} IS NULL, NULL, FALSE), {a} <= {b})",
    ">": "if(isnan({a}), if({b} IS NULL, NULL, FALSE), {a} > {b})",
    ">=": "if(isnan({a}), if({b} IS NULL, NULL, FALSE), {a} >= {b})",
}


def compared(
    operator: str, a: str, left: DataType, b: str, right: DataType, zone: str = "UTC"
) -> str:
    """A comparison of two values; beside an instant a timestamp is read by the zone's clock."""
    if isinstance(left, TimestampType) and isinstance(right, LocalZonedTimestampType):
        return f"({datetimes.instant(a, zone)} {operator} {b})"
    if isinstance(left, LocalZonedTimestampType) and isinstance(right, TimestampType):
        return f"({a} {operator} {datetimes.instant(b, zone)})"
    _require_comparable(operator, left, right)
    if isinstance(left, MapType | MultisetType) and type(left) is type(right):
        return bind_all([a, b], lambda x, y: _maps(operator, x, y))
    for type_ in (left, right):
        if any(isinstance(part, MapType | MultisetType | VariantType) for part in type_.walk()):
            raise unsupported(f"Spark cannot compare {type_.as_summary_string()}")
    if a == b:
        return f"({a} {operator} {b})"
    if isinstance(left, CHARACTERS) != isinstance(right, CHARACTERS) and BooleanType in (
        type(left),
        type(right),
    ):
        return null_or(f"{a} IS NULL OR {b} IS NULL", "FALSE" if operator == "=" else "TRUE")
    if isinstance(left, RowType) and isinstance(right, RowType):
        return bind_all([a, b], lambda x, y: _rows(operator, x, left, y, right))
    if isinstance(left, DecimalType) and isinstance(right, DecimalType):
        return _decimals(operator, a, left, b, right)
    if not (isinstance(left, FLOATS) or isinstance(right, FLOATS)):
        return f"({a} {operator} {b})"
    exact = isinstance(right, DecimalType)
    name = sql_type(left) if isinstance(left, FLOATS) and not exact else "DOUBLE"
    floats = [
        text if sql_type(type_) == name else f"CAST({text} AS {name})"
        for text, type_ in ((a, left), (b, right))
    ]
    return bind_all(floats, lambda x, y: _NAN[operator].format(a=x, b=y))


def _require_comparable(operator: str, left: DataType, right: DataType) -> None:
    """Refuse what Flink types, but does not run.

    Raises:
        UnsupportedError: with code `not-executable`.
    """
    if operator in {"=", "<>"}:
        pairs = ((left, right), (right, left))
        if any(isinstance(a, CHARACTERS) and isinstance(b, NUMBERS) for a, b in pairs):
            raise unsupported("Flink does not compare a text with a number", hint="add a CAST")
    if _are_mixed(left, right):
        raise unsupported(
            f"Spark does not compare {left.as_summary_string()} with {right.as_summary_string()}",
            hint="add a CAST",
        )
    if operator not in {"=", "<>"} and isinstance(
        left, ArrayType | MapType | MultisetType | RowType
    ):
        raise unsupported(f"Flink does not order values of type {left.as_summary_string()}")


def _are_mixed(left: DataType, right: DataType, *, nested: bool = False) -> bool:
    """Whether Spark has no common type for two operands: a number and a date, for example.

    It reads a string as whatever it is compared with, but not the strings of an array.
    """
    if isinstance(left, ArrayType) and isinstance(right, ArrayType):
        return _are_mixed(left.element_type, right.element_type, nested=True)
    strings = isinstance(left, CHARACTERS), isinstance(right, CHARACTERS)
    if any(strings):
        return nested and not all(strings)
    numbers = isinstance(left, NUMBERS), isinstance(right, NUMBERS)
    return any(
        number and isinstance(other, TEMPORAL)
        for number, other in zip(numbers, (right, left), strict=True)
    )


def _maps(operator: str, a: str, b: str) -> str:
    """Maps are equal when they have the same keys with the same values."""
    if a == b:
        same = "TRUE"
    else:
        other = f"{ELEMENT}.`key` = {VALUE}.`key` AND {ELEMENT}.`value` <=> {VALUE}.`value`"
        found = f"exists(map_entries({b}), {VALUE} -> {other})"
        same = f"(size({a}) = size({b}) AND forall(map_entries({a}), {ELEMENT} -> {found}))"
    unknown = f"{a} IS NULL OR {b} IS NULL"
    return null_or(unknown, same if operator == "=" else f"(NOT {same})")


def _rows(operator: str, a: str, left: RowType, b: str, right: RowType) -> str:
    """Rows are equal when their fields are."""
    if operator not in {"=", "<>"}:
        raise unsupported("Flink does not order rows")
    equal = [
        compared(
            "=",
            f"{a}.{quote(one.name)}",
            one.data_type,
            f"{b}.{quote(other.name)}",
            other.data_type,
        )
        for one, other in zip(left.fields, right.fields, strict=True)
    ]
    return f"({' AND '.join(equal)})" if operator == "=" else f"(NOT ({' AND '.join(equal)}))"


def _decimals(operator: str, a: str, left: DecimalType, b: str, right: DecimalType) -> str:
    """Two decimals; where Spark has no type for all their digits, part by part."""
    scale = max(left.scale, right.scale)
    whole = max(left.precision - left.scale, right.precision - right.scale)
    if whole + scale <= 38:
        return f"({a} {operator} {b})"
    parts = "struct(CAST(floor({0}) AS DECIMAL(38, 0)), CAST(pmod({0}, 1BD) AS DECIMAL(38, 37)))"
    said = [bind(text, lambda v: null_or(f"{v} IS NULL", parts.format(v))) for text in (a, b)]
    return f"({said[0]} {operator} {said[1]})"


def comparison(operator: str) -> Form:
    """A comparison of two arguments."""

    def form(called: Called) -> str:
        left, right = called.types
        return compared(operator, called[0], left, called[1], right, called.zone)

    return form


def chained(operator: str) -> Form:
    """AND and OR; a chain of one of them stands in one pair of parentheses."""

    def form(called: Called) -> str:
        first = called.apply.arguments[0]
        same = isinstance(first, FunctionCall) and first.function.name == operator
        left = called[0][1:-1] if same else called[0]
        return f"({f' {operator} '.join((left, *called.arguments[1:]))})"

    return form


def distinct(called: Called) -> str:
    """IS DISTINCT FROM: NULL is a value like others."""
    left, right = called.types
    kinds = (DecimalType, MapType, MultisetType)
    if not (isinstance(left, kinds) and isinstance(right, kinds)):
        return f"(NOT ({called[0]} <=> {called[1]}))"

    def body(a: str, b: str) -> str:
        equal = compared("=", a, left, b, right)
        return f"if({a} IS NULL OR {b} IS NULL, ({a} IS NULL) <> ({b} IS NULL), NOT {equal})"

    return bind_all(called.arguments, body)


def between(*, negated: bool) -> Form:
    """Between two bounds, which may come in either order if the call says SYMMETRIC."""

    def form(called: Called) -> str:
        written = called.apply.written
        symmetric = written is not None and written.symbol == "SYMMETRIC"
        value, low, high = called.arguments[:3]
        test = partial(compared, zone=called.zone)
        v, l, h = called.types[:3]  # noqa: E741 - the types of the three above

        def body(x: str, a: str, b: str) -> str:
            inside = f"({test('>=', x, v, a, l)} AND {test('<=', x, v, b, h)})"
            if symmetric:
                other = f"({test('>=', x, v, b, h)} AND {test('<=', x, v, a, l)})"
                inside = f"({inside} OR {other})"
            return f"(NOT {inside})" if negated else inside

        return bind_all([value, low, high], body)

    return form


def membership(*, negated: bool) -> Form:
    """Whether a value is one of a list."""

    def form(called: Called) -> str:
        first, *others = zip(called.arguments, called.types, strict=True)
        if len(others) == 1 and isinstance(called.apply.arguments[1], Select):
            return _queried(called, called.apply.arguments[1], negated=negated)

        def body(value: str) -> str:
            equal = [_same(value, first[1], text, type_, called.zone) for text, type_ in others]
            return f"({' OR '.join(equal)})"

        found = bind(first[0], body)
        return f"(NOT {found})" if negated else found

    return form


def _queried(called: Called, query: Select, *, negated: bool) -> str:
    """Membership in the result of a query; a row is compared with its columns one by one."""
    value, type_ = called[0], called.types[0]
    if isinstance(type_, RowType) and len(query.rows.columns) > 1:
        fields = (f"{value}.{quote(one.name)}" for one in type_.fields)
        value = f"({', '.join(fields)})"
    return f"({value} {'NOT ' if negated else ''}IN {called[1]})"


def _same(value: str, left: DataType, text: str, right: DataType, zone: str) -> str:
    """Equal as a list has it: of floating numbers, whether they look alike."""
    if isinstance(left, FLOATS) and type(left) is type(right):
        return f"(CAST({value} AS STRING) = CAST({text} AS STRING))"
    return compared("=", value, left, text, right, zone)


def branches(called: Called, texts: Sequence[str], types: Sequence[DataType]) -> list[str]:
    """Values of several types as values of the result's type."""
    return [
        convert(text, type_, called.type.nullable(), called.zone)
        for text, type_ in zip(texts, types, strict=True)
    ]


def case(called: Called) -> str:
    """CASE: conditions and values in turn, and at last the value for all else."""
    values = branches(called, called.arguments[1::2], called.types[1::2])
    otherwise = branches(called, called.arguments[-1:], called.types[-1:])[0]
    conditions = called.arguments[:-1:2]
    pairs = zip(conditions, values, strict=False)
    whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
    return f"(CASE {whens} ELSE {otherwise} END)"


def choice(called: Called) -> str:
    """IF(condition, value, value)."""
    yes, no = branches(called, called.arguments[1:], called.types[1:])
    return f"if({called[0]}, {yes}, {no})"


def first_known(called: Called) -> str:
    """COALESCE and IFNULL."""
    return f"coalesce({', '.join(branches(called, called.arguments, called.types))})"


def unless_equal(called: Called) -> str:
    """NULLIF: NULL where both are equal, else the first."""
    value = convert(called[0], called.types[0], called.type.nullable(), called.zone)
    equal = compared("=", called[0], called.types[0], called[1], called.types[1])
    return f"if({equal}, CAST(NULL AS {sql_type(called.type)}), {value})"


def extreme(name: str) -> Form:
    """GREATEST and LEAST: NULL as soon as one argument is."""

    def form(called: Called) -> str:
        values = branches(called, called.arguments, called.types)
        if len(values) == 1:
            return values[0]

        def body(*names: str) -> str:
            unknown = " OR ".join(f"{one} IS NULL" for one in names)
            return null_or(unknown, f"{name}({', '.join(names)})")

        return bind_all(values, body)

    return form


FORMS: dict[str, Form] = {
    **{operator: comparison(operator) for operator in _NAN},
    "IS DISTINCT FROM": distinct,
    "IS NOT DISTINCT FROM": "({0} <=> {1})",
    "AND": chained("AND"),
    "OR": chained("OR"),
    "NOT": "(NOT {0})",
    "IS NULL": "({0} IS NULL)",
    "IS NOT NULL": "({0} IS NOT NULL)",
    "IS TRUE": "({0} IS TRUE)",
    "IS NOT TRUE": "({0} IS NOT TRUE)",
    "IS FALSE": "({0} IS FALSE)",
    "IS NOT FALSE": "({0} IS NOT FALSE)",
    "IS UNKNOWN": "({0} IS NULL)",
    "IS NOT UNKNOWN": "({0} IS NOT NULL)",
    "BETWEEN": between(negated=False),
    "NOT BETWEEN": between(negated=True),
    "IN": membership(negated=False),
    "NOT IN": membership(negated=True),
    "= SOME": membership(negated=False),
    "<> ALL": membership(negated=True),
    "EXISTS": "(EXISTS {0})",
    "CASE": case,
    "IF": choice,
    "COALESCE": first_known,
    "IFNULL": first_known,
    "NULLIF": unless_equal,
    "GREATEST": extreme("greatest"),
    "LEAST": extreme("least"),
}
