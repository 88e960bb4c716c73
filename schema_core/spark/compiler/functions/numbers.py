"""Arithmetic and mathematics: whole numbers wrap, decimals keep their digits, NaN is no number.

Java's arithmetic, with which Flink reckons, divides a DOUBLE by zero and takes logarithms of what
has none; where Spark gives NULL instead, the forms say the result.
"""

from __future__ import annotations

from collections.abc import Callable

from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.casts import as_decimal, convert
from schema_core.spark.compiler.sql_builder import (
    DIGITS,
    FLOATS,
    INTEGERS,
    INTERVALS,
    Called,
    Form,
    bind,
    bind_all,
    computed,
    fail,
    say,
    sql_type,
    string,
    unsupported,
)
from schema_core.types import (
    AnyTimestampType,
    BigIntType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    TimeType,
    YearMonthIntervalType,
)

NUMBERS = (*INTEGERS, *FLOATS, DecimalType)


def _digits(type_: DataType) -> tuple[int, int]:
    """Precision and scale of a number as a DECIMAL."""
    if isinstance(type_, DecimalType):
        return type_.precision, type_.scale
    return DIGITS[type(type_)], 0


def _operands(called: Called, result: DataType) -> tuple[str, str]:
    """Both arguments in the type in which Flink reckons: that of the result."""
    left, right = called.types
    if isinstance(result, DecimalType):
        return as_decimal(called[0], left), as_decimal(called[1], right)
    return (
        convert(called[0], left, result.nullable()),
        convert(called[1], right, result.nullable()),
    )


def _is_exact(operator: str, left: DataType, right: DataType) -> bool:
    """Whether Spark has a type for all digits of the result of two decimals."""
    (p1, s1), (p2, s2) = _digits(left), _digits(right)
    if operator == "*":
        return p1 + p2 + 1 <= 38
    if operator == "/":
        return p1 - s1 + s2 + max(6, s1 + p2 + 1) <= 38
    return max(p1 - s1, p2 - s2) + max(s1, s2) + 1 <= 38


def _decimal(operator: str, called: Called) -> str:
    """An operation on decimals; one whose digits Spark would cut is computed in Python."""
    result = called.type
    assert isinstance(result, DecimalType)  # noqa: S101 - the only caller asks first
    first, second = _operands(called, result)
    if not _is_exact(operator, *called.types):
        digits = str(result.precision), str(result.scale)
        said = computed("decimal_arithmetic", string(operator), first, second, *digits)
        return f"CAST({said} AS {sql_type(result)})"
    if operator == "/":
        second = bind_all(
            [first, second],
            lambda a, b: f"if({b} = 0 AND {a} IS NOT NULL, {fail('division by zero')}, {b})",
        )
    return f"CAST(({first} {operator} {second}) AS {sql_type(result)})"


def _float_quotient(a: str, b: str) -> str:
    """Division by zero gives an infinity or NaN, by the signs of both."""
    return f"if({b} = 0, {a} * pow({b}, -1), {a} / {b})"


def _whole_quotient(operator: str, called: Called) -> str:
    """DIV or %, of whole numbers: by zero it ends the job, unless the dividend is NULL."""
    first, second = _operands(called, called.type)

    def body(a: str, b: str) -> str:
        divisor = f"if({b} = 0 AND {a} IS NOT NULL, {fail('division by zero')}, {b})"
        return f"CAST({a} {operator} {divisor} AS {sql_type(called.type)})"

    return bind_all([first, second], body)


def arithmetic(operator: str) -> Form:
    """Plus, minus and times, of numbers, moments and intervals."""

    def form(called: Called) -> str:
        if any(isinstance(type_, (DateType, TimeType, AnyTimestampType)) for type_ in called.types):
            return moment_arithmetic(operator, called)
        if isinstance(called.type, DecimalType):
            return _decimal(operator, called)
        if any(isinstance(type_, INTERVALS) for type_ in called.types):
            return _intervals(operator, called)
        first, second = _operands(called, called.type)
        return f"({first} {operator} {second})"

    return form


def _intervals(operator: str, called: Called) -> str:
    """Intervals added, or an interval so many times, as whole numbers that wrap."""
    name = sql_type(called.type)
    counts = [f"CAST({text} AS {name})" for text in called.arguments]
    return f"({counts[0]} {operator} {counts[1]})"


def negative(called: Called) -> str:
    """The number below zero as far as this one is above; a zero changes its sign."""
    if isinstance(called.type, FLOATS):
        return f"({called[0]} * CAST('-1' AS {sql_type(called.type)}))"
    return _minus(called[0], called.type)


#: Digits that Spark keeps where it changes the sign of a decimal.
KEPT = 34


def _minus(text: str, type_: DataType) -> str:
    """A number with the other sign, of a decimal with all its digits."""
    if not isinstance(type_, DecimalType) or type_.precision <= KEPT:
        return f"(- {text})"
    digits = str(type_.precision), str(type_.scale)
    said = computed("decimal_arithmetic", "'-'", "CAST(0 AS DECIMAL(1, 0))", text, *digits)
    return f"CAST({said} AS {sql_type(type_)})"


def absolute(called: Called) -> str:
    """The distance from zero; Flink types that of an interval, but does not compute it."""
    if isinstance(called.type, INTERVALS):
        raise unsupported("Flink computes no ABS of an interval")
    if isinstance(called.type, DecimalType) and called.type.precision > KEPT:
        return f"if({called[0]} < 0, {_minus(called[0], called.type)}, {called[0]})"
    return f"abs({called[0]})"


def divide(called: Called) -> str:
    """Division: of whole numbers towards zero."""
    if isinstance(called.type, DecimalType):
        return _decimal("/", called)
    if isinstance(called.type, FLOATS):
        name = sql_type(called.type)
        quotient = bind_all(_operands(called, called.type), _float_quotient)
        return f"CAST({quotient} AS {name})"
    if isinstance(called.types[0], INTERVALS):
        raise unsupported("Flink does not divide intervals either")
    return _whole_quotient("DIV", called)


def remainder(called: Called) -> str:
    """The remainder has the sign of the dividend, which is taken in its own type."""
    left, right = called.types
    if isinstance(left, DecimalType) and isinstance(called.type, INTEGERS):
        whole = convert(called[0], left, BigIntType(nullable=True))
        return bind_all([whole, called[1]], lambda a, b: _remainder(a, b, called.type))
    if isinstance(called.type, DecimalType) or isinstance(left, DecimalType):
        first, second = as_decimal(called[0], left), as_decimal(called[1], right)
        return bind_all(
            [first, second],
            lambda a, b: (
                f"CAST({a} % if({b} = 0 AND {a} IS NOT NULL, {fail('division by zero')}, {b})"
                f" AS {sql_type(called.type)})"
            ),
        )
    wide = BigIntType() if isinstance(left, BigIntType) or isinstance(right, BigIntType) else None
    if wide is None:
        return _whole_quotient("%", called)
    return bind_all(
        [called[0], called[1]],
        lambda a, b: _remainder(f"CAST({a} AS BIGINT)", b, called.type),
    )


def _remainder(a: str, b: str, result: DataType) -> str:
    """A remainder of whole numbers."""
    divisor = f"if({b} = 0 AND {a} IS NOT NULL, {fail('division by zero')}, {b})"
    return f"CAST({a} % {divisor} AS {sql_type(result)})"


# --- moments -----------------------------------------------------------------------------------


def moment_arithmetic(operator: str, called: Called) -> str:
    """A moment and an interval, in either order; or the interval between two moments."""
    left, right = called.types
    if isinstance(left, INTERVALS):
        return shifted(called[1], right, f"{operator}{called[0]}", left, called)
    if isinstance(right, INTERVALS):
        return shifted(called[0], left, f"{operator}{called[1]}", right, called)
    return between(called[0], left, called[1], right, called.type, called.zone)


def shifted(text: str, type_: DataType, count: str, unit: DataType, called: Called) -> str:
    """A moment moved by an interval: a DATE by whole days, a TIME within its day."""
    count = f"({count})"
    if isinstance(unit, YearMonthIntervalType):
        if isinstance(type_, TimeType):
            return text
        if isinstance(type_, DateType):
            return f"add_months({text}, {count})"
        return f"({text} + make_ym_interval(0, {count}))"
    if isinstance(type_, DateType):
        return f"date_add({text}, CAST({count} DIV {datetimes.DAY} AS INT))"
    if isinstance(type_, TimeType):
        return datetimes.time_of_millis(f"{datetimes.time_millis(text)} + {count}", type_)
    return datetimes.of_micros(f"({datetimes.micros(text)} + {count} * 1000L)", type_)


def between(
    first: str, left: DataType, second: str, right: DataType, result: DataType, zone: str
) -> str:
    """The interval from the second moment to the first."""
    if isinstance(result, DayTimeIntervalType):
        counts = [_millis(first, left, zone), _millis(second, right, zone)]
        return f"({counts[0]} - {counts[1]})"
    clocks = [datetimes.clock(first, left, zone), datetimes.clock(second, right, zone)]
    return f"CAST({months_between(*clocks)} AS INT)"


def months_between(first: str, second: str) -> str:
    """Whole months from the second timestamp to the first.

    The dates are compared first, which gives the sign; where they meet, the times decide.
    """

    def body(a: str, b: str) -> str:
        dates = [f"CAST({one} AS DATE)" for one in (a, b)]
        forth, back = _months(*dates), _months(*reversed(dates))
        count = f"if({dates[0]} >= {dates[1]}, {forth}, - {back})"
        times = [f"pmod({datetimes.millis(one)}, {datetimes.DAY})" for one in (a, b)]
        return bind(
            count,
            lambda n: (
                f"if(add_months({dates[1]}, {n}) = {dates[0]} AND {times[0]} < {times[1]},"
                f" {n} - 1, {n})"
            ),
        )

    return bind_all([first, second], body)


def _months(later: str, earlier: str) -> str:
    """Whole months between two dates, the last day of a short month counting as all after it."""
    count = f"((year({later}) - year({earlier})) * 12 + month({later}) - month({earlier}))"
    return f"({count} - if(add_months({earlier}, {count}) > {later}, 1, 0))"


def _millis(text: str, type_: DataType, zone: str) -> str:
    match type_:
        case DateType():
            return f"(unix_date({text}) * {datetimes.DAY}L)"
        case TimeType():
            return datetimes.time_millis(text)
        case _:
            return datetimes.millis(text)


# --- mathematics -------------------------------------------------------------------------------


def mathematics(template: str) -> Form:
    """A function of DOUBLEs: every argument becomes one."""

    def form(called: Called) -> str:
        doubles = [
            convert(text, type_, DoubleType(nullable=True)) if isinstance(type_, NUMBERS) else text
            for text, type_ in zip(called.arguments, called.types, strict=True)
        ]
        return bind_all(doubles, template.format)

    return form


_LOG = (
    "if({0} > 0, ln({0}), if({0} = 0, double('-Infinity'), if({0} IS NULL, NULL, double('NaN'))))"
)


def logarithm(called: Called) -> str:
    """LOG(x), or LOG(base, x): a quotient of two natural logarithms."""
    doubles = [
        convert(text, type_, DoubleType(nullable=True))
        for text, type_ in zip(called.arguments, called.types, strict=True)
    ]
    logs = [bind(one, _LOG.replace("{0}", "{0}").format) for one in doubles]
    if len(logs) == 1:
        return logs[0]
    return bind_all([logs[1], logs[0]], _float_quotient)


def by_fraction(whole: str, fractional: str) -> Callable[[Called], str]:
    """One form for whole numbers, one for those with a fraction."""

    def form(called: Called) -> str:
        if isinstance(called.types[0], INTEGERS):
            return whole.format(*called.arguments)
        return f"CAST({fractional.format(*called.arguments)} AS {sql_type(called.type)})"

    return form


def rounded(called: Called) -> str:
    """ROUND half away from zero, of the digits that the number shows."""
    digits = called[1] if len(called.arguments) > 1 else "0"
    if not digits.lstrip("-").isdigit():
        raise unsupported("ROUND takes a constant number of digits on Spark")
    type_ = called.types[0]
    if isinstance(type_, FLOATS):
        return bind(
            called[0],
            lambda v: (
                f"if(isnan({v}) OR abs({v}) = double('Infinity'), "
                f"{fail('NaN and Infinity cannot be rounded')}, "
                f"CAST(round({v}, {digits}) AS {sql_type(called.type)}))"
            ),
        )
    return f"CAST(round({called[0]}, {digits}) AS {sql_type(called.type)})"


def sign(called: Called) -> str:
    """-1, 0 or 1 in the argument's own type."""
    return bind(
        called[0],
        lambda v: (
            f"CAST(sign(CAST({v} AS DOUBLE)) AS {sql_type(called.type)})"
            if not isinstance(called.type, DecimalType)
            else f"CAST(sign({v}) AS {sql_type(called.type)})"
        ),
    )


def truncated(called: Called) -> str:
    """TRUNCATE towards zero, of the digits that a number shows."""
    digits = called[1] if len(called.arguments) > 1 else "0"
    name = sql_type(called.type)
    if not digits.lstrip("-").isdigit():
        raise unsupported("TRUNCATE takes a constant number of digits on Spark")
    places = int(digits)
    type_ = called.types[0]
    if isinstance(type_, INTEGERS):
        if places >= 0:
            return called[0]
        unit = 10 ** min(-places, 18)
        return f"CAST({called[0]} DIV {unit}L * {unit}L AS {name})"
    if isinstance(type_, DecimalType) and type_.precision + 1 > 38:
        return f"CAST({computed('decimal_truncated', called[0], digits)} AS {name})"
    if isinstance(type_, DecimalType):
        return bind(
            called[0],
            lambda v: f"CAST(if({v} < 0, ceil({v}, {places}), floor({v}, {places})) AS {name})",
        )
    shown = DecimalType(38, 18)
    decimal = convert(called[0], type_, shown)
    return bind(
        decimal,
        lambda v: f"CAST(if({v} < 0, ceil({v}, {places}), floor({v}, {places})) AS {name})",
    )


def interval_of(called: Called) -> str:
    """``INTERVAL n DAY`` of a number that is no literal."""
    return convert(called[0], called.types[0], called.type, called.zone)


def between_moments(called: Called) -> str:
    """``(a - b) DAY``: the interval from b to a."""
    first, second = called.arguments[:2]
    left, right = called.types[:2]
    return between(first, left, second, right, called.type, called.zone)


def cotangent(called: Called) -> str:
    """COT: one by the tangent, an infinity where that is 0."""
    return bind(say(mathematics("tan({0})"), called), lambda v: _float_quotient("1.0D", v))


FORMS: dict[str, Form] = {
    "+": arithmetic("+"),
    "-": arithmetic("-"),
    "-x": negative,
    "+x": "{0}",
    "*": arithmetic("*"),
    "/": divide,
    "%": remainder,
    "MOD": remainder,
    "ABS": absolute,
    "SIGN": sign,
    "ROUND": rounded,
    "TRUNCATE": truncated,
    "INTERVAL": interval_of,
    "(-)": between_moments,
    "EXP": mathematics("exp({0})"),
    "LN": mathematics(_LOG),
    "LOG10": mathematics(_LOG.replace("ln(", "log10(")),
    "LOG2": mathematics(_LOG.replace("ln(", "log2(")),
    "LOG": logarithm,
    "SQRT": mathematics("sqrt({0})"),
    "POWER": mathematics("pow({0}, {1})"),
    "SIN": mathematics("sin({0})"),
    "COS": mathematics("cos({0})"),
    "TAN": mathematics("tan({0})"),
    "COT": cotangent,
    "ASIN": mathematics("asin({0})"),
    "ACOS": mathematics("acos({0})"),
    "ATAN": mathematics("atan({0})"),
    "ATAN2": mathematics("atan2({0}, {1})"),
    "SINH": mathematics("sinh({0})"),
    "COSH": mathematics("cosh({0})"),
    "TANH": mathematics("tanh({0})"),
    "DEGREES": mathematics("degrees({0})"),
    "RADIANS": mathematics("radians({0})"),
    "PI": "pi()",
    "E": "e()",
    "BIN": "bin(CAST({0} AS BIGINT))",
}
