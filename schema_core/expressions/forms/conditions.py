"""Comparisons, logic and choices. NaN equals nothing, as in Java; else logic has three values."""

from __future__ import annotations

from collections.abc import Sequence

from schema_core.expressions.forms.casts import convert
from schema_core.expressions.forms.words import (
    FLOATS,
    INTEGERS,
    Called,
    Form,
    bind,
    bind_all,
    null_or,
    sql_type,
    unsupported,
)
from schema_core.types import DataType, DecimalType, MapType, MultisetType, VariantType

NUMBERS = (*INTEGERS, *FLOATS, DecimalType)

#: Operator -> its text where an argument may be NaN, which Spark holds for the greatest number.
_NAN = {
    "=": "if(isnan({a}) AND isnan({b}), FALSE, {a} = {b})",
    "<>": "if(isnan({a}) AND isnan({b}), TRUE, {a} <> {b})",
    "<": "if(isnan({b}), if({a} IS NULL, NULL, FALSE), {a} < {b})",
    "<=": "if(isnan({b}), if({a} IS NULL, NULL, FALSE), {a} <= {b})",
    ">": "if(isnan({a}), if({b} IS NULL, NULL, FALSE), {a} > {b})",
    ">=": "if(isnan({a}), if({b} IS NULL, NULL, FALSE), {a} >= {b})",
}


def compared(operator: str, a: str, left: DataType, b: str, right: DataType) -> str:
    """A comparison of two values."""
    for type_ in (left, right):
        if any(isinstance(part, MapType | MultisetType | VariantType) for part in type_.walk()):
            raise unsupported(f"Spark cannot compare {type_.as_summary_string()}")
    if not (isinstance(left, FLOATS) or isinstance(right, FLOATS)) or a == b:
        return f"({a} {operator} {b})"
    doubles = [
        text if isinstance(type_, FLOATS) else f"CAST({text} AS DOUBLE)"
        for text, type_ in ((a, left), (b, right))
    ]
    return bind_all(doubles, lambda x, y: _NAN[operator].format(a=x, b=y))


def comparison(operator: str) -> Form:
    """A comparison of two arguments."""
    return lambda called: compared(operator, called[0], called.types[0], called[1], called.types[1])


def distinct(called: Called) -> str:
    """IS DISTINCT FROM: NULL is a value like others."""
    return f"(NOT ({called[0]} <=> {called[1]}))"


def between(*, negated: bool, symmetric: bool) -> Form:
    """Between two bounds, which may come in either order if `symmetric`."""

    def form(called: Called) -> str:
        value, low, high = called.arguments[:3]
        v, l, h = called.types[:3]  # noqa: E741 - the types of the three above

        def body(x: str, a: str, b: str) -> str:
            inside = f"({compared('>=', x, v, a, l)} AND {compared('<=', x, v, b, h)})"
            if symmetric:
                other = f"({compared('>=', x, v, b, h)} AND {compared('<=', x, v, a, l)})"
                inside = f"({inside} OR {other})"
            return f"(NOT {inside})" if negated else inside

        return bind_all([value, low, high], body)

    return form


def membership(*, negated: bool) -> Form:
    """Whether a value is one of a list."""

    def form(called: Called) -> str:
        first, *others = zip(called.arguments, called.types, strict=True)

        def body(value: str) -> str:
            equal = [compared("=", value, first[1], text, type_) for text, type_ in others]
            return f"({' OR '.join(equal)})"

        found = bind(first[0], body)
        return f"(NOT {found})" if negated else found

    return form


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

        def body(*names: str) -> str:
            unknown = " OR ".join(f"{one} IS NULL" for one in names)
            return null_or(unknown, f"{name}({', '.join(names)})")

        return bind_all(values, body)

    return form


FORMS: dict[str, Form] = {
    **{operator: comparison(operator) for operator in _NAN},
    "IS DISTINCT FROM": distinct,
    "IS NOT DISTINCT FROM": "({0} <=> {1})",
    "AND": lambda called: f"({' AND '.join(called.arguments)})",
    "OR": lambda called: f"({' OR '.join(called.arguments)})",
    "NOT": "(NOT {0})",
    "IS NULL": "({0} IS NULL)",
    "IS NOT NULL": "({0} IS NOT NULL)",
    "IS TRUE": "({0} IS TRUE)",
    "IS NOT TRUE": "({0} IS NOT TRUE)",
    "IS FALSE": "({0} IS FALSE)",
    "IS NOT FALSE": "({0} IS NOT FALSE)",
    "IS UNKNOWN": "({0} IS NULL)",
    "IS NOT UNKNOWN": "({0} IS NOT NULL)",
    "BETWEEN": between(negated=False, symmetric=False),
    "NOT BETWEEN": between(negated=True, symmetric=False),
    "BETWEEN ASYMMETRIC": between(negated=False, symmetric=False),
    "NOT BETWEEN ASYMMETRIC": between(negated=True, symmetric=False),
    "BETWEEN SYMMETRIC": between(negated=False, symmetric=True),
    "NOT BETWEEN SYMMETRIC": between(negated=True, symmetric=True),
    "IN": membership(negated=False),
    "NOT IN": membership(negated=True),
    "CASE": case,
    "IF": choice,
    "COALESCE": first_known,
    "IFNULL": first_known,
    "NULLIF": unless_equal,
    "GREATEST": extreme("greatest"),
    "LEAST": extreme("least"),
}
