"""Arithmetic and mathematical functions: integers wrap, decimals are exact, NaN equals no value.

Java's arithmetic returns NaN or an infinity for division of a DOUBLE by zero and for logarithms of
numbers up to zero; where Spark returns NULL, the rules compute them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from schema_core import types
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.casts import as_decimal, convert
from schema_core.spark.compiler.template import inline, sql, template
from schema_core.spark.compiler.translation import (
    FLOATS,
    INTEGERS,
    INTERVALS,
    NUMBERS,
    TranslatedCall,
    TranslationRule,
    digits_of,
    native,
    rewrite_rule,
    sql_type,
)
from schema_core.spark.compiler.tree import Node
from schema_core.types import DataType
from schema_core.types.common import KEPT_SCALE, MAX_PRECISION


def _operands(called: TranslatedCall, result: DataType) -> tuple[Node, Node]:
    """Return both arguments in the type of the result, in which Flink computes."""
    left, right = called.types
    if isinstance(result, types.DecimalType):
        return as_decimal(called[0], left), as_decimal(called[1], right)
    return (
        convert(called[0], left, result.nullable()),
        convert(called[1], right, result.nullable()),
    )


_BY_ZERO = "if({b} = {zero} AND {a} IS NOT NULL, raise_error('division by zero'), {b})"


#: Division by zero returns an infinity or NaN, by both signs.
_FLOAT_QUOTIENT = "if({b} = 0, {a} * pow({b}, -1), {a} / {b})"


def _integral_quotient(
    symbol: str,
    a: Node,
    b: Node,
    result: DataType,
    zero: Node | None = None,
) -> Node:
    """Return DIV or % of integers: a divisor of 0 fails the job, unless the dividend is NULL."""
    text = f"CAST({{a}} {symbol} {_BY_ZERO} AS {{type}})"
    return sql(text, a=a, b=b, zero=zero or nodes.Literal(0), type=sql_type(result))


def arithmetic(symbol: str) -> TranslationRule:
    """Plus, minus and times, of numbers, datetimes and intervals."""

    def translate(called: TranslatedCall) -> Node:
        if any(
            isinstance(type_, (types.DateType, types.TimeType, types.AnyTimestampType))
            for type_ in called.types
        ):
            return datetime_arithmetic(symbol, called)
        if isinstance(called.type, types.DecimalType):
            # Spark derives Flink's type for sums and products, and rounds once to it too.
            return called.cast(nodes.operator(symbol, *_operands(called, called.type)))
        if any(isinstance(type_, INTERVALS) for type_ in called.types):  # integers that wrap
            return nodes.operator(symbol, *map(called.cast, called.arguments))
        return nodes.operator(symbol, *_operands(called, called.type))

    return rewrite_rule(translate)


def negative(called: TranslatedCall) -> Node:
    """Negation, which changes the sign of zero."""
    if isinstance(called.type, FLOATS):
        return inline("{v} * CAST('-1' AS {type})", v=called[0], type=sql_type(called.type))
    return _minus(called[0], called.type)


#: Digits that Spark keeps where it changes the sign of a decimal.
KEPT = 34


def _minus(node: Node, type_: DataType) -> Node:
    """Return a number with the other sign, a decimal with all its digits."""
    if not isinstance(type_, types.DecimalType) or type_.precision <= KEPT:
        return nodes.operator("-", node)
    whole = max(type_.precision - type_.scale, 1)
    if type_.scale <= KEPT_SCALE or whole + type_.scale < MAX_PRECISION:
        return nodes.Cast(
            nodes.operator("-", nodes.Cast(nodes.Literal(0), "DECIMAL(1, 0)"), node),
            sql_type(type_),
        )
    return inline(
        "CAST(if(startswith({s}, '-'), substring({s}, 2), concat('-', {s})) AS {type})",
        s=nodes.Cast(node, "STRING", safe=True),
        type=sql_type(type_),
    )


def absolute(called: TranslatedCall) -> Node:
    """ABS; Flink accepts an interval, but cannot evaluate it."""
    if isinstance(called.type, INTERVALS):
        raise nodes.unsupported_error("Flink does not support ABS of an interval")
    if isinstance(called.type, types.DecimalType) and called.type.precision > KEPT:
        minus = _minus(called[0], called.type)
        zero = zero_of(digits_of(called.type))
        return inline("if({v} < {zero}, {minus}, {v})", v=called[0], minus=minus, zero=zero)
    return nodes.call("abs", called[0])


def divide(called: TranslatedCall) -> Node:
    """Division: of integers towards zero."""
    if isinstance(called.type, types.DecimalType):
        dividend, divisor = map(digits_of, called.types)
        first, second = _operands(called, called.type)
        digits = called.integer_digits(0)
        result = digits_of(called.type)
        return called.cast(
            quotient(first, dividend, second, divisor, result, integer_digits=digits)
        )
    if isinstance(called.type, FLOATS):
        first, second = _operands(called, called.type)
        return called.cast(sql(_FLOAT_QUOTIENT, a=first, b=second))
    if isinstance(called.types[0], INTERVALS):
        raise nodes.unsupported_error("Flink does not support division of intervals")
    return _integral_quotient("DIV", *_operands(called, called.type), called.type)


def remainder(called: TranslatedCall) -> Node:
    """The remainder has the sign of the dividend, which is not cast."""
    left, right = called.types
    if isinstance(left, types.DecimalType) and isinstance(called.type, INTEGERS):
        integral = convert(called[0], left, types.BigIntType(nullable=True))
        return _integral_quotient("%", integral, called[1], called.type)
    if isinstance(called.type, types.DecimalType) or isinstance(left, types.DecimalType):
        first, second = as_decimal(called[0], left), as_decimal(called[1], right)
        return _integral_quotient("%", first, second, called.type, zero_of(digits_of(right)))
    if isinstance(left, types.BigIntType) or isinstance(right, types.BigIntType):
        return _integral_quotient("%", nodes.Cast(called[0], "BIGINT"), called[1], called.type)
    return _integral_quotient("%", *_operands(called, called.type), called.type)


# --- quotients of DECIMALs -----------------------------------------------------------------------
# Flink divides into 38 significant digits, half up, and rounds these to the scale S of the result;
# Spark rounds once. They differ only where the quotient is below the middle between two results and
# Flink's first rounding yields that middle. With unscaled operands A and B, and E = S + s2 - s1,
# which is not negative, the quotient is A * 10^E / B units of the last place, at least 1 / 2B from
# the middle. The first rounding moves a quotient of k integer digits by 10^(k+S-38) / 2 units at
# most, which is less if A * 10^E < 10^37. Where types or values guarantee that, Spark's quotient is
# Flink's; otherwise the exact remainder of the division corrects it.

#: Precision and scale.
Digits: TypeAlias = tuple[int, int]

#: Computes a value once, for a function of it.
Binding: TypeAlias = "Callable[[Node, Callable[[Node], Node]], Node]"

_INTEGER = f"DECIMAL({MAX_PRECISION}, 0)"
_CHECKED = "{a} / if({b} = {zero} AND {a} IS NOT NULL, raise_error('division by zero'), {b})"


def quotient(
    a: Node,
    left: Digits,
    b: Node,
    right: Digits,
    result: Digits,
    *,
    integer_digits: int = MAX_PRECISION,
    may_be_zero: bool = True,
    are_aggregates: bool = False,
) -> Node:
    """Return the quotient of decimals as a DECIMAL, whose type Flink and Spark derive equally.

    The dividend has at most `integer_digits` digits before the point. It is NULL wherever the
    divisor is 0 unless that `may_be_zero`, which fails the job. `are_aggregates` repeats the
    operands, so that no query above the aggregation computes the quotient: it would cost a
    correlated subquery another join in Spark.
    """
    simple = _CHECKED if may_be_zero else "{a} / {b}"
    limit = MAX_PRECISION - 1 - result[1] - right[1]  # a power of ten
    if min(left[0] - left[1], integer_digits) <= limit:
        return sql(simple, a=a, b=b, zero=zero_of(right))

    def body(x: Node, y: Node) -> Node:
        found = inline(simple, a=x, b=y, zero=zero_of(right))
        if are_aggregates:
            values = nodes.call("named_struct", "found", found, "x", x, "y", y)
            exact = nodes.interpret_rarely(
                values,
                lambda item: corrected(*(nodes.Field(item, name) for name in ("found", "x", "y"))),
            )
        else:
            bind = _lambda_free(
                found, nodes.interpret_rarely if left[0] == MAX_PRECISION else nodes.rarely
            )
            exact = bind(found, lambda item: corrected(item, x, y))
        return nodes.call("if", _is_beyond(x, left, limit), exact, found)

    def corrected(found: Node, x: Node, y: Node) -> Node:
        return _correct_rounding(found, x, left, y, right, result)

    return body(a, b) if are_aggregates else nodes.let_all([a, b], body)


def _lambda_free(node: Node, bind: Binding) -> Binding:
    """Return `bind`, or `let` for a subquery, which no lambda may contain."""
    return nodes.let if node.facts & nodes.Fact.SUBQUERY else bind


def zero_of(digits: Digits) -> Node:
    """Return 0 of a type: beside a literal of fewer decimal places Spark rounds 1E-38 to 0."""
    return nodes.Cast(nodes.Literal(0), "DECIMAL({}, {})".format(*digits))


def _is_beyond(node: Node, digits: Digits, exponent: int) -> Node:
    """Return whether the absolute value of a decimal is 10^exponent at least."""
    if exponent < -digits[1]:
        return nodes.operator("<>", node, zero_of(digits))
    type_ = "DECIMAL({}, {})".format(*digits)
    low, high = (nodes.Cast(nodes.Literal(f"{sign}1E{exponent}"), type_) for sign in ("-", ""))
    return inline("{v} >= {high} OR {v} <= {low}", v=node, low=low, high=high)


def _magnitude(node: Node, exponent: int, type_: str = _INTEGER) -> Node:
    """Return the absolute value of a decimal times 10^exponent, which must fit the type.

    Spark keeps only 34 digits where it changes a sign.
    """
    text = nodes.call("translate", nodes.Cast(node, "STRING", safe=True), "-", "")
    return nodes.Cast(nodes.call("concat", text, f"E{exponent}"), type_)


def _remainder(a: Node, b: Node, digits: Digits, exponent: int) -> Node:
    """Return ``a * 10^exponent`` modulo ``|b|``, both as integers.

    Spark's remainder of decimals is exact if the quotient has at most 38 integer digits;
    ``a * 10^exponent`` may have more.
    """
    for step in (
        (exponent,) if exponent <= MAX_PRECISION else (MAX_PRECISION, exponent - MAX_PRECISION)
    ):
        divisor = _magnitude(b, digits[1] - step, f"DECIMAL({MAX_PRECISION}, {step})")
        a = _magnitude(nodes.operator("%", a, divisor), step)
    return a


def _correct_rounding(
    found: Node, a: Node, left: Digits, b: Node, right: Digits, result: Digits
) -> Node:
    """Return Spark's quotient, or the next one where Flink's first rounding yields the middle.

    Twice the remainder is `lack` less than the divisor; if that is positive, Spark rounded down. A
    first rounding to g digits beyond the result's yields the middle if ``lack <= divisor / 10^g``.
    """
    scale = result[1]
    remainder = _remainder(_magnitude(a, left[1]), b, right, scale + right[1] - left[1])

    def of_lack(divisor: Node, lack: Node, units: Node) -> Node:
        return inline(
            "if({lack} > 0 AND {lack} <= CAST(concat('0', left(lpad(CAST({b} AS STRING), {most},"
            " '0'), length(ltrim('0', CAST({n} AS STRING))) % {most})) AS {integer}),"
            " CAST(concat(if(rlike(concat({x}, ' ', {y}), {one_minus}), '-', ''),"
            " CAST({n} + 1 AS STRING), {shift}) AS {type}), {q})",
            lack=lack,
            b=divisor,
            n=units,
            most=MAX_PRECISION,
            integer=_INTEGER,
            x=nodes.Cast(a, "STRING"),
            y=nodes.Cast(b, "STRING"),
            one_minus="^(-.* [^-]|[^-].* -)",
            shift=f"E-{scale}",
            type="DECIMAL({}, {})".format(*result),
            q=found,
        )

    def of_divisor(divisor: Node) -> Node:
        lack = inline("{b} - {r} - {r}", b=divisor, r=remainder)
        units = _magnitude(found, scale)
        return bind(lack, lambda item: bind(units, lambda n: of_lack(divisor, item, n)))

    bind = _lambda_free(found, nodes.rarely)
    corrected = bind(_magnitude(b, right[1]), of_divisor)
    return inline("if({q} IS NULL, NULL, {corrected})", q=found, corrected=corrected)


# --- datetimes ---------------------------------------------------------------------------------


def datetime_arithmetic(symbol: str, called: TranslatedCall) -> Node:
    """A datetime and an interval, in either order, or the interval between two datetimes."""
    left, right = called.types
    if isinstance(left, INTERVALS):
        return add_interval(called[1], right, _interval_count(symbol, called[0]), left)
    if isinstance(right, INTERVALS):
        return add_interval(called[0], left, _interval_count(symbol, called[1]), right)
    return interval_between(called[0], left, called[1], right, called.type, called.zone)


def _interval_count(symbol: str, count: Node) -> Node:
    return nodes.operator("-", count) if symbol == "-" else count


def add_interval(node: Node, type_: DataType, count: Node, unit: DataType) -> Node:
    """Return a datetime plus an interval: a DATE by days, a TIME within its day."""
    if isinstance(unit, types.YearMonthIntervalType):
        if isinstance(type_, types.TimeType):
            return node
        if isinstance(type_, types.DateType):
            return nodes.call("add_months", node, count)
        return nodes.operator("+", node, nodes.call("make_ym_interval", 0, count))
    if isinstance(type_, types.DateType):
        return inline("date_add({d}, CAST({n} DIV 86400000 AS INT))", d=node, n=count)
    if isinstance(type_, types.TimeType):
        return datetimes.time_of_millis(
            nodes.operator("+", datetimes.time_millis(node), count), type_
        )
    moved = inline("{t} + {n} * 1000L", t=datetimes.micros(node), n=count)
    return datetimes.of_micros(moved, type_)


def interval_between(
    first: Node,
    left: DataType,
    second: Node,
    right: DataType,
    result: DataType,
    zone: str,
) -> Node:
    """Return the interval from the second datetime to the first."""
    if isinstance(result, types.DayTimeIntervalType):
        return nodes.operator("-", _millis(first, left), _millis(second, right))
    clocks = datetimes.clock(first, left, zone), datetimes.clock(second, right, zone)
    return nodes.Cast(months_between(*clocks), "INT")


def months_between(first: Node, second: Node) -> Node:
    """Return the full months from the second timestamp to the first.

    The dates determine the sign; on equal days of the month the times decide.
    """

    def body(a: Node, b: Node) -> Node:
        dates = nodes.Cast(a, "DATE"), nodes.Cast(b, "DATE")
        count = inline(
            "if({a} >= {b}, {forth}, -{back})",
            a=dates[0],
            b=dates[1],
            forth=_months(*dates),
            back=_months(*reversed(dates)),
        )
        times = [inline("pmod({t}, 86400000)", t=datetimes.millis(operand)) for operand in (a, b)]

        return nodes.let_all(
            [count],
            lambda n: inline(
                "if(add_months({b}, {n}) = {a} AND {first} < {second}, {n} - 1, {n})",
                a=dates[0],
                b=dates[1],
                n=n,
                first=times[0],
                second=times[1],
            ),
        )

    return nodes.let_all([first, second], body)


def _months(later: Node, earlier: Node) -> Node:
    """Return the full months between dates; the last day of a short month completes it."""
    count = inline("(year({a}) - year({b})) * 12 + month({a}) - month({b})", a=later, b=earlier)
    return inline("{n} - if(add_months({b}, {n}) > {a}, 1, 0)", n=count, a=later, b=earlier)


def _millis(node: Node, type_: DataType) -> Node:
    match type_:
        case types.DateType():
            return inline("unix_date({d}) * 86400000L", d=node)
        case types.TimeType():
            return datetimes.time_millis(node)
        case _:
            return datetimes.millis(node)


# --- mathematics -------------------------------------------------------------------------------


def _doubles(called: TranslatedCall) -> list[Node]:
    return [
        convert(node, type_, types.DoubleType(nullable=True))
        if isinstance(type_, NUMBERS)
        else node
        for node, type_ in zip(called.arguments, called.types, strict=True)
    ]


def mathematics(text: str, exact: str | None = None) -> TranslationRule:
    """A function of DOUBLEs.

    Spark computes some functions with `StrictMath`, whose last digit may differ from that of
    `Math`, which Flink uses. `exact` calls the latter, where a query returns the value: Spark does
    not optimize around such calls, and refuses them in joins and aggregates.
    """
    parsed = template(text)
    by_call = None if exact is None else template(exact)

    def translate(called: TranslatedCall) -> Node:
        arguments = {str(index): node for index, node in enumerate(_doubles(called))}
        return (by_call if called.is_result and by_call is not None else parsed)(arguments)

    return (rewrite_rule if parsed.repeated or exact else native)(translate)


def _math(name: str, *arguments: str) -> str:
    """Return the template of a call of Java's `Math`; NULL for NULL."""
    nulls = " OR ".join(f"{argument} IS NULL" for argument in arguments)
    listed = ", ".join(arguments)
    return f"if({nulls}, NULL, CAST(reflect('java.lang.Math', '{name}', {listed}) AS DOUBLE))"


_LOG = (
    "if({0} > 0, ln({0}), if({0} = 0, CAST('-Infinity' AS DOUBLE), if({0} IS NULL, NULL,"
    " CAST('NaN' AS DOUBLE))))"
)


def logarithm(called: TranslatedCall) -> Node:
    """LOG(x), or LOG(base, x): a quotient of natural logarithms."""
    text = _math("log", "{0}") if called.is_result else _LOG
    logs = [sql(text, **{"0": double}) for double in _doubles(called)]
    return logs[0] if len(logs) == 1 else sql(_FLOAT_QUOTIENT, a=logs[1], b=logs[0])


def _constant_digits(name: str, called: TranslatedCall) -> int:
    digits = nodes.integer_of(called[1]) if len(called.arguments) > 1 else 0
    if digits is None:
        raise nodes.unsupported_error(f"{name} requires a constant number of digits on Spark")
    return digits


def compile_round(called: TranslatedCall) -> Node:
    """ROUND half away from zero, of the digits that the number prints."""
    if any(map(nodes.is_null_constant, called.arguments)):
        return called.cast(nodes.NULL)
    if _has_digits_of_rows(called):
        half = "({v} + sign({v}) * ({unit} DIV 2)) DIV {unit} * {unit}"
        return _of_digits(called, half)
    digits = _constant_digits("ROUND", called)
    if not isinstance(called.types[0], FLOATS):
        return called.cast(nodes.call("round", called[0], digits))
    return sql(
        "if(isnan({v}) OR abs({v}) = CAST('Infinity' AS DOUBLE), {problem},"
        " CAST(round({v}, {digits}) AS {type}))",
        v=called[0],
        problem=nodes.fail("NaN and Infinity cannot be rounded"),
        digits=digits,
        type=sql_type(called.type),
    )


def _has_digits_of_rows(called: TranslatedCall) -> bool:
    """Return whether an integer is rounded to a number of digits that is not constant."""
    is_integer = isinstance(called.types[0], INTEGERS)
    return is_integer and len(called.arguments) > 1 and nodes.integer_of(called[1]) is None


def _of_digits(called: TranslatedCall, text: str) -> Node:
    """Return an integer with another last digit, by a template over it and a power of 10."""

    def body(value: Node, digits: Node) -> Node:
        unit = inline("CAST(pow(10, -{n}) AS BIGINT)", n=digits)
        moved = inline(text.replace("sign({v})", "CAST(sign({v}) AS BIGINT)"), v=value, unit=unit)
        return inline(
            "CAST(if({n} >= 0, {v}, if({n} < -18, 0 * {v}, {moved})) AS {type})",
            n=digits,
            v=value,
            moved=moved,
            type=sql_type(called.type),
        )

    return nodes.let_all(called.arguments, body)


def sign(called: TranslatedCall) -> Node:
    """-1, 0 or 1 in the argument's own type."""
    value = (
        called[0] if isinstance(called.type, types.DecimalType) else nodes.Cast(called[0], "DOUBLE")
    )
    return called.cast(nodes.call("sign", value))


def compile_truncate(called: TranslatedCall) -> Node:
    """TRUNCATE towards zero, of the digits that a number prints."""
    if any(map(nodes.is_null_constant, called.arguments)):
        return called.cast(nodes.NULL)
    type_ = called.types[0]
    if _has_digits_of_rows(called):
        return _of_digits(called, "{v} DIV {unit} * {unit}")
    places = _constant_digits("TRUNCATE", called)
    if isinstance(type_, INTEGERS):
        if places >= 0:
            return called[0]
        unit = nodes.Literal(str(10 ** min(-places, 18)), "L")
        return called.cast(inline("{v} DIV {unit} * {unit}", v=called[0], unit=unit))
    if isinstance(type_, types.DecimalType) and type_.precision == MAX_PRECISION:
        return _truncated_decimal(called, type_, places)
    value = called[0]
    if not isinstance(type_, types.DecimalType):
        value = convert(value, type_, types.DecimalType(38, 18))
    return sql(
        "CAST(if({v} < 0, ceil({v}, {places}), floor({v}, {digits})) AS {type})",
        v=value,
        places=places,
        digits=places,
        type=sql_type(called.type),
    )


def _truncated_decimal(called: TranslatedCall, type_: types.DecimalType, places: int) -> Node:
    """Return TRUNCATE of a DECIMAL of 38 digits; its ceiling would have 39."""
    if places >= type_.scale:
        return called.cast(called[0])
    if -places >= type_.precision - type_.scale:
        return nodes.null_or(nodes.is_null(called[0]), called.cast(nodes.Literal(0)))
    unit = nodes.Cast(nodes.Literal(f"1E{-places}"), f"DECIMAL({MAX_PRECISION}, {max(places, 0)})")
    return sql(
        "CAST({v} - {v} % {unit} AS {type})", v=called[0], unit=unit, type=sql_type(called.type)
    )


def interval_of(called: TranslatedCall) -> Node:
    """``INTERVAL n DAY`` of a number that is not a literal."""
    return convert(called[0], called.types[0], called.type, called.zone)


def between_datetimes(called: TranslatedCall) -> Node:
    """``(a - b) DAY``: the interval from b to a."""
    first, second = called.arguments[:2]
    left, right = called.types[:2]
    return interval_between(first, left, second, right, called.type, called.zone)


def cotangent(called: TranslatedCall) -> Node:
    """COT: the reciprocal of the tangent, an infinity where that is 0."""
    tangent = nodes.call("tan", *_doubles(called))
    return sql(_FLOAT_QUOTIENT, a=nodes.Literal("1.0", "D"), b=tangent)


RULES: dict[str, TranslationRule] = {
    "+": arithmetic("+"),
    "-": arithmetic("-"),
    "-x": rewrite_rule(negative),
    "+x": native("{0}"),
    "*": arithmetic("*"),
    "/": rewrite_rule(divide),
    "%": rewrite_rule(remainder),
    "MOD": rewrite_rule(remainder),
    "ABS": rewrite_rule(absolute),
    "SIGN": rewrite_rule(sign),
    "ROUND": rewrite_rule(compile_round),
    "TRUNCATE": rewrite_rule(compile_truncate),
    "INTERVAL": rewrite_rule(interval_of),
    "(-)": rewrite_rule(between_datetimes),
    "EXP": mathematics("exp({0})", _math("exp", "{0}")),
    "LN": mathematics(_LOG, _math("log", "{0}")),
    "LOG10": mathematics(_LOG.replace("ln(", "log10("), _math("log10", "{0}")),
    "LOG2": mathematics(_LOG.replace("ln(", "log2("), _math("log", "{0}") + " / ln(2)"),
    "LOG": rewrite_rule(logarithm),
    "SQRT": mathematics("sqrt({0})"),
    "POWER": mathematics("pow({0}, {1})", _math("pow", "{0}", "{1}")),
    "SIN": mathematics("sin({0})"),
    "COS": mathematics("cos({0})"),
    "TAN": mathematics("tan({0})"),
    "COT": rewrite_rule(cotangent),
    "ASIN": mathematics("asin({0})"),
    "ACOS": mathematics("acos({0})"),
    "ATAN": mathematics("atan({0})"),
    "ATAN2": mathematics("atan2({0}, {1})"),
    "SINH": mathematics("sinh({0})"),
    "COSH": mathematics("cosh({0})"),
    "TANH": mathematics("tanh({0})"),
    "DEGREES": mathematics("degrees({0})"),
    "RADIANS": mathematics("radians({0})"),
    "PI": native("pi()"),
    "E": native("e()"),
    "BIN": native("bin(CAST({0} AS BIGINT))"),
}
