"""Compiles typed expressions to Spark nodes; refuses what Spark cannot compute as Flink does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal
from functools import partial
from string import Formatter
from typing import TYPE_CHECKING, Protocol, assert_never

from schema_core import types
from schema_core.base.lazy import dataclass
from schema_core.errors import at
from schema_core.expressions.aggregate_calls import is_measured
from schema_core.expressions.intervals import interval
from schema_core.expressions.typed import (
    Access,
    Constant,
    EmptyInput,
    FunctionCall,
    Over,
    Ref,
    Select,
    TypeArgument,
)
from schema_core.expressions.typed import Keyword as TypedKeyword
from schema_core.query.relation import is_aggregate
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.absent_items import Absent, is_never_null, stored_value
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.json import refuse_document, require_maker
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import (
    FLOATS,
    INTERVALS,
    Bounds,
    Translate,
    TranslatedCall,
    is_fine,
    require_orderable,
    sql_type,
)
from schema_core.sql import syntax
from schema_core.sql.syntax import Interval, LiteralKind
from schema_core.types.temporal import timestamp_kind

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed

# --- literals ----------------------------------------------------------------------------------


def constant(literal: syntax.Literal | Interval, type_: types.DataType) -> nodes.Node:
    """Return the node of a literal of a type.

    >>> from schema_core.types import parse_type
    >>> exact = syntax.Literal(LiteralKind.EXACT, "1.50")
    >>> nodes.to_sql(constant(exact, parse_type("DECIMAL(3, 2) NOT NULL")))
    'CAST(1.50 AS DECIMAL(3, 2))'
    """
    if isinstance(literal, Interval):
        count = interval(literal, type_)
        is_months = isinstance(type_, types.YearMonthIntervalType)
        return nodes.Literal(count) if is_months else nodes.Literal(str(count), "L")
    return KINDS[literal.kind](literal.text, type_)


def _exact(text: str, type_: types.DataType) -> nodes.Node:
    if isinstance(type_, types.IntType):
        return nodes.Literal(int(Decimal(text)))
    return nodes.Cast(nodes.Literal(text, "NUMBER"), sql_type(type_))


def _time(text: str, type_: types.DataType) -> nodes.Node:
    precise = nodes.Literal(text, "TIME")
    return nodes.Cast(precise, sql_type(type_)) if isinstance(type_, types.TimeType) else precise


def _timestamp(text: str, type_: types.DataType) -> nodes.Node:
    if not is_fine(type_):
        return _padded_datetime("TIMESTAMP_NTZ", text)
    second, _, fraction = text.partition(".")
    digits = fraction.ljust(9, "0")
    return datetimes.make_nanosecond_struct(
        _padded_datetime("TIMESTAMP_NTZ", f"{second}.{digits[:6]}"), int(digits[6:9])
    )


def _padded_datetime(keyword: str, text: str) -> nodes.Node:
    year, _, rest = text.strip().partition("-")
    return nodes.Literal(f"{year:0>4}-{rest}", keyword)


#: Kind -> the node of a literal's text and type.
KINDS: dict[LiteralKind, Callable[[str, types.DataType], nodes.Node]] = {
    LiteralKind.NULL: lambda _, type_: nodes.Cast(nodes.NULL, sql_type(type_)),
    LiteralKind.UNKNOWN: lambda _, type_: nodes.Cast(nodes.NULL, "BOOLEAN"),
    LiteralKind.BOOLEAN: lambda text, _: nodes.Literal(text.upper() == "TRUE"),
    LiteralKind.EXACT: _exact,
    LiteralKind.APPROXIMATE: lambda text, type_: nodes.Cast(nodes.Literal(text), sql_type(type_)),
    LiteralKind.STRING: lambda text, _: nodes.Literal(text),
    LiteralKind.BINARY: lambda text, _: nodes.Literal(text, "X"),
    LiteralKind.DATE: lambda text, _: _padded_datetime("DATE", text),
    LiteralKind.TIME: _time,
    LiteralKind.TIMESTAMP: _timestamp,
}


#: Functions that Spark has only over ordered rows.
NUMBERING = frozenset(
    {"ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD"}
)


class Direction(Protocol):
    """How a key of an ORDER BY is sorted; `nulls_last` is None unless given."""

    @property
    def descending(self) -> bool: ...
    @property
    def nulls_last(self) -> bool | None: ...


def column(ref: Ref) -> nodes.Node:
    """Return a column by its alias and name."""
    return nodes.Column(ref.name, ref.relation)


def no_subquery(subquery: Select) -> nodes.Node:
    """Refuse a subquery outside of a query."""
    raise nodes.unsupported_error("subqueries are not supported here")


def user_call(called: TranslatedCall) -> nodes.Node:
    """Return the Spark SQL that the declaration of a user's function has for a call.

    Raises:
        UnsupportedError: `not-executable` where there is none.
    """
    call, arguments = called.call, called.arguments
    match call.function.spark:
        case str() as template:
            return nodes.UserSql(_parts(template, arguments), call.function.deterministic)
        case None:
            raise nodes.unsupported_error(f"{call.function.name} has no implementation for Spark")
        case write:
            sql = write(call, [nodes.to_sql(argument) for argument in arguments])
            return nodes.UserSql((sql,), call.function.deterministic)


def _parts(template: str, arguments: Sequence[nodes.Node]) -> tuple[str | nodes.Node, ...]:
    parts: list[str | nodes.Node] = []
    for literal, name, _, _ in Formatter().parse(template):
        parts.append(literal)
        if name is not None:
            parts.append(arguments[int(name)])
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class TranslationContext:
    """What expressions depend on around them.

    `zone` is the session's time zone in Flink; `column`, `subquery` and `user` compile columns of
    the source, queries used as values and calls of users' functions. A query below has computed the
    expressions in `computed`, except in arguments of aggregates. `conditions` are the identities of
    the calls whose NULL has the effect of FALSE, `absent` the columns that are items. `is_result`
    is set where the query returns the value for each row.
    """

    zone: str = "UTC"
    column: Callable[[Ref], nodes.Node] = column
    subquery: Callable[[Select], nodes.Node] = no_subquery
    user: Callable[[TranslatedCall], nodes.Node] = user_call
    computed: Mapping[Typed, nodes.Node] = field(default_factory=dict)
    conditions: frozenset[int] = frozenset()
    database: str | None = None
    bounds: Bounds = field(default_factory=Bounds)
    absent: Absent = field(default_factory=dict)
    is_result: bool = False


def compile_expression(typed: Typed, context: TranslationContext | None = None) -> nodes.Node:
    """Compile an expression; intervals are numbers of months or milliseconds in it.

    Raises:
        UnsupportedError: `not-executable` for what Spark cannot compute.
    """
    refuse_document(typed)
    return _compile(typed, context or TranslationContext())


def compile_stored(typed: Typed, context: TranslationContext) -> nodes.Node:
    """Compile an expression whose value Flink stores in a row; see `absent_items`."""
    return _stored_node(compile_expression(typed, context), typed, context)


def _stored_node(node: nodes.Node, typed: Typed, context: TranslationContext) -> nodes.Node:
    is_stored = bool(context.computed) and typed in context.computed
    return node if is_stored else stored_value(node, typed, context.absent)


def _compile(typed: Typed, context: TranslationContext) -> nodes.Node:
    if context.computed and typed in context.computed:
        return context.computed[typed]
    match typed:
        case Ref():
            return context.column(typed)
        case Constant(literal, type_):
            return constant(literal, type_)
        case TypedKeyword(symbol):
            return nodes.Keyword(symbol.word)
        case TypeArgument():
            return nodes.Keyword("")
        case Access(value, name):
            return nodes.Field(_compile(value, context), name)
        case FunctionCall():
            return _compile_chain(typed, context)
        case Select():
            return context.subquery(typed)
        case _:
            assert_never(typed)


def _compile_chain(call: FunctionCall, context: TranslationContext) -> nodes.Node:
    """Compile a call from its innermost first argument, without recursion on that side."""
    call = without_negation(call)
    chain = [(call, _context_of(call, context))]
    while (outer := chain[-1][0]).arguments and isinstance(outer.arguments[0], FunctionCall):
        inner, place = outer.arguments[0], chain[-1][1]
        if place.computed and inner in place.computed:
            break
        inner = without_negation(inner)
        chain.append((inner, _context_of(inner, place)))
    compiled: tuple[nodes.Node, ...] = ()
    for step, place in reversed(chain):
        with at(step.function.name):
            compiled = (_compile_call(step, compiled, place),)
    return compiled[0]


def _context_of(call: FunctionCall, context: TranslationContext) -> TranslationContext:
    if context.computed and call.over is None and is_aggregate(call):
        context = replace(context, computed={})
    return context


def _compile_call(
    call: FunctionCall, first: tuple[nodes.Node, ...], context: TranslationContext
) -> nodes.Node:
    """Compile a call whose first argument may have been compiled already."""
    if call.function.name in NULL_TESTS and is_never_null(call.arguments[0], context.absent):
        return nodes.node_of(call.function.name.startswith("IS NOT"))
    if call.function.name in DISTINCT_TESTS and any(
        is_never_null(argument, context.absent) for argument in call.arguments
    ):
        return _compile_equality(call, first, context)
    translate = _translation(call, context)
    require_maker(call)
    others = call.arguments[len(first) :]
    arguments = (*first, *(_compile(argument, context) for argument in others))
    if call.over is not None or is_aggregate(call):
        arguments = tuple(
            _stored_node(node, argument, context)
            for node, argument in zip(arguments, call.arguments, strict=True)
        )
    if call.nulls is not None and call.function.name != "ARRAY_AGG":
        raise nodes.unsupported_error(f"{call.nulls} is not supported on Spark")
    compiled = TranslatedCall(
        call,
        arguments,
        context.zone,
        None if call.filter is None else _compile(call.filter, context),
        None if call.over is None else _window(call.over, context, call.function.name),
        id(call) in context.conditions,
        context.is_result,
        context.database,
        context.bounds,
    )
    node = datetimes.translate_with_nanoseconds(translate, compiled)
    if compiled.window is not None and call.over is not None and _excludes_nulls(call.over):
        key = compiled.window.order[0]
        value = key.value if isinstance(key, nodes.SortKey) else key
        node = nodes.Case(((nodes.is_null(value), _of_no_rows(call)),), node)
    if node.facts & nodes.Fact.UDF_IN_LAMBDA:
        node = _with_udfs_outside(translate, compiled)
    if node.facts & nodes.Fact.SUBQUERY_IN_LAMBDA:
        raise nodes.unsupported_error(
            "a subquery is not supported within a function over the elements of a collection",
            hint="compute its value in a derived table, and join that",
        )
    if node.size > nodes.MAX_SQL_LENGTH:
        raise nodes.too_large()
    return node


#: Calls that test whether their argument is NULL.
NULL_TESTS = frozenset({"IS NULL", "IS NOT NULL", "IS UNKNOWN", "IS NOT UNKNOWN"})
DISTINCT_TESTS = frozenset({"IS DISTINCT FROM", "IS NOT DISTINCT FROM"})


def _compile_equality(
    call: FunctionCall, first: tuple[nodes.Node, ...], context: TranslationContext
) -> nodes.Node:
    """Compile IS [NOT] DISTINCT FROM of operands that are never both NULL: `=` that is TRUE."""
    equality = replace(call, function=replace(call.function, name="="))
    is_equal = nodes.call("coalesce", _compile_call(equality, first, context), nodes.FALSE)
    return is_equal if "NOT" in call.function.name else nodes.negate(is_equal)


def _translation(call: FunctionCall, context: TranslationContext) -> Translate:
    if call.function.declared is None:
        from schema_core.spark.compiler.functions.rules import RULES

        if rule := RULES.get(call.function.name):
            return rule.translate
        raise nodes.unsupported_error(
            f"{call.function.name} is not supported on Spark with Flink's semantics"
        )
    return context.user


def _with_udfs_outside(translate: Translate, compiled: TranslatedCall) -> nodes.Node:
    """Compute arguments that call Python UDFs outside of the lambdas that read them."""
    arguments = compiled.arguments
    places = [place for place, node in enumerate(arguments) if node.facts & nodes.Fact.UDF]

    def body(*names: nodes.Node) -> nodes.Node:
        bound = dict(enumerate(arguments)) | dict(zip(places, names, strict=True))
        return datetimes.translate_with_nanoseconds(
            translate, replace(compiled, arguments=tuple(bound.values()))
        )

    node = nodes.let_all([arguments[place] for place in places], body)
    if node.facts & nodes.Fact.UDF_IN_LAMBDA:
        raise nodes.unsupported_error(
            "it is a Python UDF, which Spark does not call within a collection"
        )
    return node


# --- windows -----------------------------------------------------------------------------------


def _window(over: Over, context: TranslationContext, function: str) -> nodes.Window:
    order = [sort_key(_order_value(key.value, over, context), key) for key in over.order_by]
    if not order and function in NUMBERING:
        return nodes.Window(_keys(over, context), (nodes.NULL,), _frame(over, context))
    return nodes.Window(_keys(over, context), tuple(order), _frame(over, context))


def _excludes_nulls(over: Over) -> bool:
    """Return whether Flink's frame of a row without a value to measure from has no rows.

    Spark's has the rows that are NULL, even if both bounds are before or both after.
    """
    frame = over.frame
    if frame is None or frame.unit != "RANGE" or frame.upper is None or not over.order_by:
        return False
    if frame.lower.words != frame.upper.words or not over.order_by[0].value.type.is_nullable:
        return False
    nearest = frame.lower if frame.lower.words == "FOLLOWING" else frame.upper
    return nearest.distance is not None and not _is_zero(nearest.distance)


def _is_zero(distance: Typed) -> bool:
    if not isinstance(distance, Constant):
        return False
    if isinstance(distance.literal, Interval):
        return interval(distance.literal, distance.type) == 0
    return Decimal(distance.literal.text) == 0


def _of_no_rows(call: FunctionCall) -> nodes.Node:
    if call.function.empty is not EmptyInput.VALUE:
        return nodes.NULL
    if call.function.name in {"COUNT", "APPROX_COUNT_DISTINCT"}:
        return nodes.Literal("0", "L")
    raise nodes.unsupported_error(
        f"{call.function.name} over a frame before or after its row is not supported on Spark for "
        "rows that are sorted by NULL",
        hint="remove the rows that are NULL with WHERE",
    )


#: The number of a row, in the order of tasks.
_ARRIVAL = "monotonically_increasing_id()"
#: A time of a row: its number in microseconds, of which a task has 65,536.
_TIME_OF_ARRIVAL = (
    f"timestamp_micros(pmod({_ARRIVAL}, 8589934592L) + shiftright({_ARRIVAL}, 33) * 65536L)"
)


def _order_value(value: Typed, over: Over, context: TranslationContext) -> nodes.Node:
    """Return a value that sorts a window; a TIME in milliseconds if RANGE measures it.

    Each row has a processing time of its own, in the order in which Spark reads the rows.
    """
    require_orderable(value.type, "ORDER BY")
    if timestamp_kind(value.type) is types.TimestampKind.PROCTIME:
        return inline(_TIME_OF_ARRIVAL if is_measured(over) else _ARRIVAL)
    node = compile_stored(value, context)
    if is_measured(over) and is_fine(value.type):
        raise nodes.unsupported_error(
            f"a RANGE that measures {value.type.as_summary_string()} is not supported on Spark",
            hint="cast the key of the ORDER BY to TIMESTAMP(6)",
        )
    if is_measured(over) and isinstance(value.type, types.TimeType):
        return datetimes.time_millis(node)
    return node


def _keys(over: Over, context: TranslationContext) -> tuple[nodes.Node, ...]:
    for key in over.partition_by:
        require_orderable(key.type, "PARTITION BY")
    return tuple(compile_stored(key, context) for key in over.partition_by)


def _frame(over: Over, context: TranslationContext) -> str:
    if over.frame is None:
        return ""
    if over.frame.disallow_partial:
        raise nodes.unsupported_error("DISALLOW PARTIAL is not supported on Spark")
    sorted_by = over.order_by[0].value.type.root if over.order_by else None
    unit = _UNITS_OF_RANGE.get(sorted_by) if over.frame.unit == "RANGE" else None
    frame = (over.frame.lower, over.frame.upper)
    bounds = [
        bound.words
        if bound.distance is None
        else f"{_distance(bound.distance, context, over.frame.unit, unit)} {bound.words}"
        for bound in frame
        if bound
    ]
    between = f"BETWEEN {' AND '.join(bounds)}" if len(bounds) > 1 else bounds[0]
    return f"{over.frame.unit} {between}"


#: Type by which RANGE is sorted -> the milliseconds of a unit of its distances.
_UNITS_OF_RANGE: dict[types.TypeRoot | None, int] = {
    types.TypeRoot.DATE: datetimes.DAY,
    types.TypeRoot.TIME_WITHOUT_TIME_ZONE: 1,
}

#: Spark counts rows in 32 bits; no larger partition fits into memory.
MAX_ROWS = 2**31 - 1


def _distance(distance: Typed, context: TranslationContext, frame: str, unit: int | None) -> str:
    """Return a frame's distance as the literal that Spark requires.

    `unit` is the milliseconds by which rows that are sorted by a DATE or TIME differ.
    """
    if isinstance(distance.type, types.YearMonthIntervalType | types.DayTimeIntervalType):
        if not isinstance(distance, Constant) or not isinstance(distance.literal, Interval):
            raise nodes.unsupported_error(
                "a frame whose interval is not constant is not supported on Spark"
            )
        count = interval(distance.literal, distance.type)
        if isinstance(distance.type, types.YearMonthIntervalType):
            return f"INTERVAL '{count}' MONTH"
        if unit == 1:
            return f"{count}"
        if unit is not None:
            return f"INTERVAL '{count // unit}' DAY"
        return f"INTERVAL '{Decimal(count) / 1000:f}' SECOND"
    node = _compile(distance, context)
    rows = node.value if isinstance(node, nodes.Cast) else node
    if frame == "ROWS" and isinstance(rows, nodes.Literal) and not nodes.is_string(rows):
        digits = str(rows.value).partition(".")[0]  # its fraction is 0
        if digits.isdecimal():
            return f"{min(int(digits), MAX_ROWS)}"
    return nodes.to_sql(node)


def sort_key(node: nodes.Node, key: Direction) -> nodes.SortKey:
    """Return a key of an ORDER BY; NULL is the lowest value unless NULLS LAST is given."""
    last = key.descending if key.nulls_last is None else key.nulls_last
    return nodes.SortKey(node, key.descending, last)


# --- columns -----------------------------------------------------------------------------------


def from_physical(
    node: nodes.Node, type_: types.DataType, *, nanoseconds: bool = False
) -> nodes.Node:
    """Return a stored value as expressions see it: intervals become numbers.

    With `nanoseconds` timestamps that Spark does not store are structs already.
    """
    match type_:
        case _ if is_fine(type_):
            return node if nanoseconds else datetimes.make_nanosecond_struct(node, 0)
        case types.YearMonthIntervalType():
            return inline("CAST(CAST({v} AS INTERVAL MONTH) AS INT)", v=node)
        case types.DayTimeIntervalType():
            return inline(
                "CAST(CAST(CAST({v} AS INTERVAL SECOND) AS DECIMAL(20, 6)) * 1000 AS BIGINT)",
                v=node,
            )
        case _ if has_stored_form(type_, nanoseconds=nanoseconds):
            return convert_parts(node, type_, partial(from_physical, nanoseconds=nanoseconds))
        case _:
            return node


def to_physical(
    node: nodes.Node, type_: types.DataType, column: str = "", *, nanoseconds: bool = False
) -> nodes.Node:
    """Return the value of an expression as it is stored: numbers become intervals.

    With `nanoseconds` timestamps that Spark does not store remain structs. The errors of values
    that cannot be stored name the `column`.
    """
    match type_:
        case _ if is_fine(type_):
            return node if nanoseconds else datetimes.as_stored(node, type_, column)
        case types.YearMonthIntervalType():
            return inline("make_ym_interval(0, {v})", v=node)
        case types.DayTimeIntervalType():
            return inline("make_dt_interval(0, 0, 0, CAST({v} AS DECIMAL(20, 6)) / 1000)", v=node)
        case _ if has_stored_form(type_, nanoseconds=nanoseconds):
            store = partial(to_physical, column=column, nanoseconds=nanoseconds)
            return convert_parts(node, type_, store)
        case _:
            return node


def has_stored_form(type_: types.DataType, *, nanoseconds: bool = False) -> bool:
    """Return whether parts of a value are stored in another form than expressions see.

    With `nanoseconds` only intervals are.
    """
    return any(
        isinstance(part, INTERVALS) or (not nanoseconds and is_fine(part)) for part in type_.walk()
    )


def convert_parts(
    node: nodes.Node,
    type_: types.DataType,
    convert: Callable[[nodes.Node, types.DataType], nodes.Node],
) -> nodes.Node:
    """Return a nested value with each part converted by its type."""

    def entry(one: nodes.Node) -> nodes.Node:
        key = convert(nodes.Field(one, "key"), type_.children()[0])
        value: nodes.Node = nodes.Field(one, "value")
        if isinstance(type_, types.MapType):
            value = convert(value, type_.value_type)
        return nodes.call("named_struct", "key", key, "value", value)

    match type_:
        case types.ArrayType(element_type=element):
            return nodes.transform(node, lambda item: convert(item, element))
        case types.MapType() | types.MultisetType():
            entries = nodes.transform(nodes.call("map_entries", node), entry)
            return nodes.call("map_from_entries", entries)
        case types.RowType() | types.StructuredType():
            return nodes.let(
                node,
                lambda row: nodes.null_or(
                    nodes.call("isnull", row),
                    nodes.named_struct(
                        (part.name, convert(nodes.Field(row, part.name), part.data_type))
                        for part in type_.fields
                    ),
                ),
            )
        case _:
            return node


# --- negated comparisons ------------------------------------------------------------------------


#: Comparison -> the one that is true for the other values, unless one is NaN.
_OPPOSITE = {
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
    "BETWEEN": "NOT BETWEEN",
    "NOT BETWEEN": "BETWEEN",
}

#: De Morgan's laws.
_OTHER = {"AND": "OR", "OR": "AND"}


def without_negation(call: FunctionCall) -> FunctionCall:
    """Return NOT over comparisons of FLOATs or DOUBLEs as the opposite ones, as Flink plans it.

    So NOT (x > 1), which is x <= 1, is false for NaN too. Other calls are returned unchanged.
    """
    if call.function.name != "NOT" or not _orders_floats(call.arguments[0]):
        return call
    opposite = _opposite(call.arguments[0], call)
    return opposite if isinstance(opposite, FunctionCall) else call


def _orders_floats(expression: Typed) -> bool:
    """Return whether a comparison of floats is combined by AND, OR and NOT only."""
    rest = [expression]
    while rest:
        one = rest.pop()
        if not isinstance(one, FunctionCall):
            continue
        if one.function.name in _OPPOSITE and any(
            isinstance(argument.type, FLOATS) for argument in one.arguments
        ):
            return True
        if one.function.name in ("NOT", *_OTHER):
            rest.extend(one.arguments)
    return False


def _opposite(expression: Typed, negation: FunctionCall) -> Typed:
    if isinstance(expression, FunctionCall):
        name = expression.function.name
        if name == "NOT":
            return expression.arguments[0]
        if name in _OTHER:
            arguments = tuple(_opposite(argument, negation) for argument in expression.arguments)
            function = replace(expression.function, name=_OTHER[name])
            return replace(expression, function=function, arguments=arguments)
        if name in _OPPOSITE and any(
            isinstance(argument.type, FLOATS) for argument in expression.arguments
        ):
            function = replace(expression.function, name=_OPPOSITE[name])
            return replace(expression, function=function)
    return replace(negation, arguments=(expression,))
