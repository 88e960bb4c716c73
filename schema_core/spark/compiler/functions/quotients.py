"""Division of DECIMALs: rounded to 38 digits and then to the type, as Flink's quotients are.

Flink divides into 38 significant digits, half up, and rounds these to the scale S of the result.
Spark rounds once. The results differ only where the quotient is less than the middle between two
results and Flink's first rounding yields that middle. With unscaled operands A and B, and
E = S + s2 - s1, which is not negative, the quotient in units of the last place is
``A * 10^E / B``, which differs from the middle by at least ``1 / 2B``. The first rounding of a
quotient of k integer digits moves it by at most ``10^(k + S - 38) / 2`` units, which is less
if ``A * 10^E < 10^37``. Where the types or the values of a row guarantee that, Spark's quotient is
Flink's. Otherwise it is corrected by the remainder of the division, which is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.template import inline, sql
from schema_core.types.common import MAX_PRECISION

#: Precision and scale.
Digits: TypeAlias = tuple[int, int]

#: A function that computes a value once, for a function of it.
Binding: TypeAlias = "Callable[[nodes.Node, Callable[[nodes.Node], nodes.Node]], nodes.Node]"

_INTEGER = f"DECIMAL({MAX_PRECISION}, 0)"
_CHECKED = "{a} / if({b} = {zero} AND {a} IS NOT NULL, raise_error('division by zero'), {b})"


def quotient(
    a: nodes.Node,
    left: Digits,
    b: nodes.Node,
    right: Digits,
    result: Digits,
    *,
    integer_digits: int = MAX_PRECISION,
    may_be_zero: bool = True,
    are_aggregates: bool = False,
) -> nodes.Node:
    """Return the quotient of decimals of some digits as a DECIMAL, whose digits are given.

    Spark derives the same type for quotients as Flink does. The dividend has at most
    `integer_digits` digits before the point, also if its type allows more, and is NULL wherever
    the divisor is 0 unless that `may_be_zero`, which fails the job. Operands that `are_aggregates`
    are repeated, so that no query above the aggregation has to compute the quotient: Spark joins a
    correlated subquery with the rows of the outer one if it has such a query.
    """
    simple = _CHECKED if may_be_zero else "{a} / {b}"
    limit = MAX_PRECISION - 1 - result[1] - right[1]  # a power of ten
    if min(left[0] - left[1], integer_digits) <= limit:
        return sql(simple, a=a, b=b, zero=zero_of(right))

    def body(x: nodes.Node, y: nodes.Node) -> nodes.Node:
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

    def corrected(found: nodes.Node, x: nodes.Node, y: nodes.Node) -> nodes.Node:
        return _correct_rounding(found, x, left, y, right, result)

    return body(a, b) if are_aggregates else nodes.let_all([a, b], body)


def _lambda_free(node: nodes.Node, bind: Binding) -> Binding:
    """Return `bind`, or `let` where a subquery is used, which no lambda may contain."""
    return nodes.let if node.facts & nodes.Fact.SUBQUERY else bind


def zero_of(digits: Digits) -> nodes.Node:
    """Return 0 of a type: beside a literal of fewer decimal places Spark rounds 1E-38 to 0."""
    return nodes.Cast(nodes.Literal(0), "DECIMAL({}, {})".format(*digits))


def _is_beyond(node: nodes.Node, digits: Digits, exponent: int) -> nodes.Node:
    """Return whether the absolute value of a decimal is 10^exponent at least."""
    if exponent < -digits[1]:
        return nodes.operator("<>", node, zero_of(digits))
    type_ = "DECIMAL({}, {})".format(*digits)
    low, high = (nodes.Cast(nodes.Literal(f"{sign}1E{exponent}"), type_) for sign in ("-", ""))
    return inline("{v} >= {high} OR {v} <= {low}", v=node, low=low, high=high)


def _magnitude(node: nodes.Node, exponent: int, type_: str = _INTEGER) -> nodes.Node:
    """Return the absolute value of a decimal times 10^exponent, which must be of the type.

    Spark keeps only 34 digits where it changes a sign.
    """
    text = nodes.call("translate", nodes.Cast(node, "STRING", safe=True), "-", "")
    return nodes.Cast(nodes.call("concat", text, f"E{exponent}"), type_)


def _remainder(a: nodes.Node, b: nodes.Node, digits: Digits, exponent: int) -> nodes.Node:
    """Return ``a * 10^exponent`` modulo ``|b|``, both as integers.

    Spark computes a remainder of decimals exactly if the quotient has at most 38 integer digits;
    ``a * 10^exponent`` itself may have more.
    """
    for step in (
        (exponent,) if exponent <= MAX_PRECISION else (MAX_PRECISION, exponent - MAX_PRECISION)
    ):
        divisor = _magnitude(b, digits[1] - step, f"DECIMAL({MAX_PRECISION}, {step})")
        a = _magnitude(nodes.operator("%", a, divisor), step)
    return a


def _correct_rounding(
    found: nodes.Node, a: nodes.Node, left: Digits, b: nodes.Node, right: Digits, result: Digits
) -> nodes.Node:
    """Return Spark's quotient, or the next one where Flink's first rounding yields the middle.

    `lack` is by how much twice the remainder is less than the divisor. If it is positive, Spark
    rounded down. A first rounding to g digits beyond those of the result yields the middle if
    ``lack <= divisor / 10^g``.
    """
    scale = result[1]
    remainder = _remainder(_magnitude(a, left[1]), b, right, scale + right[1] - left[1])

    def of_lack(divisor: nodes.Node, lack: nodes.Node, units: nodes.Node) -> nodes.Node:
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

    def of_divisor(divisor: nodes.Node) -> nodes.Node:
        lack = inline("{b} - {r} - {r}", b=divisor, r=remainder)
        units = _magnitude(found, scale)
        return bind(lack, lambda item: bind(units, lambda n: of_lack(divisor, item, n)))

    bind = _lambda_free(found, nodes.rarely)
    corrected = bind(_magnitude(b, right[1]), of_divisor)
    return inline("if({q} IS NULL, NULL, {corrected})", q=found, corrected=corrected)
