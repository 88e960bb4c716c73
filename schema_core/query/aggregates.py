"""Where aggregates and window functions may stand, and what may stand beside them.

SQL standard, "query specification": a grouped block can say only what is the same in all rows of a
group; aggregates do not nest, and are not known yet where rows are still being chosen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from schema_core.errors import SchemaError
from schema_core.expressions.signatures import Kind
from schema_core.expressions.typed import Access, FunctionCall, Ref, Typed, children
from schema_core.query.functions import OF_GROUPING
from schema_core.query.scope import SelectScope
from schema_core.sql.rewrite import parts, walk
from schema_core.sql.syntax import Call, Expression

#: Functions that only have a meaning OVER a window.
ONLY_OVER = frozenset(
    {"ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD"}
)

#: Functions of a group window -> the grouping function whose arguments they repeat.
GROUP_WINDOWS = ("TUMBLE", "HOP", "SESSION")
AUXILIARY = {
    f"{window}_{part}": f"${window}"
    for window in GROUP_WINDOWS
    for part in ("START", "END", "ROWTIME", "PROCTIME")
}


def is_aggregate(scope: SelectScope, call: Call) -> bool:
    """Whether the call is one of an aggregate; unknown functions are told later, by typing."""
    try:
        functions = scope.function(call.path or (call.name,), call.span)
    except SchemaError:
        return False
    return any(function.kind is Kind.AGGREGATE for function in functions)


def aggregates(scope: SelectScope, expression: Expression) -> Iterator[Call]:
    """The outermost calls of aggregates that read the rows of a group, not those of a window."""
    rest = [expression]
    while rest:
        one = rest.pop()
        if isinstance(one, Call) and one.over is None and is_aggregate(scope, one):
            yield one
        else:
            rest.extend(parts(one))


def windowed(expression: Expression) -> Iterator[Call]:
    """The calls with OVER."""
    return (one for one in walk(expression) if isinstance(one, Call) and one.over is not None)


def refuse_aggregates(scope: SelectScope, expression: Expression, clause: str) -> None:
    """Refuse aggregates and window functions in a clause that chooses rows.

    Raises:
        SchemaError: with code `misplaced-aggregate` or `misplaced-window`.
    """
    refuse_grouping(scope, expression, clause)
    for call in windowed(expression):
        raise SchemaError(
            f"{call.name} OVER a window cannot stand in {clause}",
            code="misplaced-window",
            hint="compute it in a sub-query first, or use QUALIFY",
            span=call.span,
        )


def refuse_grouping(scope: SelectScope, expression: Expression, clause: str) -> None:
    """Refuse aggregates where rows are not grouped.

    Raises:
        SchemaError: with code `misplaced-aggregate`.
    """
    for call in aggregates(scope, expression):
        raise SchemaError(
            f"{call.name} reads groups of rows, but {clause} reads single rows here",
            code="misplaced-aggregate",
            hint="put the condition into HAVING" if clause == "WHERE" else None,
            span=call.span,
        )


def check_calls(scope: SelectScope, expression: Expression) -> None:
    """Refuse functions that lack their OVER or their GROUP BY, or that only stand in one.

    Raises:
        SchemaError: with code `missing-over`, `missing-group-by` or `misplaced-group-window`.
    """
    for call in aggregates(scope, expression):
        if call.name in OF_GROUPING and scope.group_count < 1:
            problem = f"{call.name} asks what GROUP BY groups"
            raise SchemaError(problem, code="missing-group-by", span=call.span)
        if call.name in ONLY_OVER:
            problem = f"{call.name} needs an OVER clause"
            raise SchemaError(problem, code="missing-over", span=call.span)
    for part in walk(expression):
        if isinstance(part, Call) and part.name.removeprefix("$") in GROUP_WINDOWS:
            raise SchemaError(
                f"{part.name} forms groups, so it stands in GROUP BY only",
                code="misplaced-group-window",
                hint=f"{part.name}_START and {part.name}_END tell the bounds of a group",
                span=part.span,
            )


def outside_aggregates(typed: Typed) -> Iterator[Typed]:
    """The parts of a value of a group that are not read from its rows."""
    rest = [typed]
    while rest:
        one = rest.pop()
        yield one
        is_aggregate = isinstance(one, FunctionCall) and one.function.kind is Kind.AGGREGATE
        rest.extend(() if is_aggregate else children(one))


def check_grouped(typed: Typed, keys: Collection[Typed], own: frozenset[str]) -> None:
    """Require everything outside of aggregates to be made of the keys of a grouped block.

    `own` are the aliases of the block; columns of the blocks around it are constants here.

    Raises:
        SchemaError: with code `not-grouped`.
    """
    rest = [typed]
    while rest:
        one = rest.pop()
        if one in keys:
            continue
        match one:
            case Ref(name=name, relation=relation, span=span) if relation in own:
                raise SchemaError(
                    f"column {name!r} is neither grouped nor aggregated",
                    code="not-grouped",
                    hint="add it to GROUP BY",
                    span=span,
                )
            case Access(value=value):
                rest.append(value)
            case FunctionCall(function=function, arguments=arguments) if (
                function.name in OF_GROUPING
            ):
                rest.extend(arguments)
            case FunctionCall() if _reads_group(one, keys):
                continue
            case FunctionCall(arguments=arguments, filter=condition, over=over):
                rest.extend(arguments)
                rest.extend([condition] if condition is not None else [])
                if over is not None:
                    rest.extend((*over.partition_by, *(key.value for key in over.order_by)))


def _reads_group(call: FunctionCall, keys: Collection[Typed]) -> bool:
    """Whether the call stands for a value of the whole group."""
    if call.function.kind is Kind.AGGREGATE:
        return call.over is None
    window = AUXILIARY.get(call.function.name)
    return window is not None and any(
        isinstance(key, FunctionCall)
        and key.function.name == window
        and key.arguments == call.arguments
        for key in keys
    )
