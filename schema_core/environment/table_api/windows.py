"""Windows of the Table API: groups of rows by time, and frames of rows around each row.

Each class has one step of the fluent interface, as in PyFlink. Windows of time become TUMBLE, HOP
or SESSION in GROUP BY, windows of a number of rows those of `row_windows`, and windows over rows
definitions in WINDOW.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.base.text import show
from schema_core.environment.table_api.relational import (
    NamedExpression,
    block,
    group,
    items,
    name_columns,
    require_expression,
    separate_keys,
)
from schema_core.environment.table_api.row_windows import (
    RowCount,
    number_windows,
    row_count,
)
from schema_core.errors import SchemaError
from schema_core.expressions.fluent import AliasedExpression, Expression, SortedExpression
from schema_core.expressions.fluent_functions import (
    CURRENT_RANGE,
    CURRENT_ROW,
    UNBOUNDED_RANGE,
    UNBOUNDED_ROW,
)
from schema_core.query.aggregation import ROW_WINDOW
from schema_core.schema.rules import duplicate_names
from schema_core.sql import syntax

# --- windows of time -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GroupWindow:
    """Groups of the rows in the same window, named for `group_by`.

    `call` is the function of GROUP BY; `rows` is set for windows of a number of rows.
    """

    call: syntax.Call
    name: str
    rows: RowCount | None = None

    @property
    def key(self) -> syntax.Expression:
        """The key of GROUP BY."""
        return self.call if self.rows is None else syntax.Name((ROW_WINDOW,))

    def part(self, function: str) -> syntax.Call:
        """Return the call of a function of the window, such as START."""
        if self.rows is not None:
            raise SchemaError(
                f"the window {self.name!r} of a number of rows has no bounds in time",
                code="invalid-argument",
            )
        return replace(self.call, name=f"{self.call.name}_{function}")


def _call(function: str, time: object, *lengths: syntax.Expression) -> syntax.Call:
    return syntax.Call(function, (require_expression(time), *lengths))


def _name(alias: str) -> str:
    return require_instance(alias, str, "alias")


@dataclass(frozen=True, slots=True)
class _OnTime:
    """Windows of the times in a column, without a name yet."""

    call: syntax.Call

    def alias(self, alias: str) -> GroupWindow:
        """Return the window by a name, for `group_by` and `col(name).start`."""
        lengths = self.call.arguments[1:]
        return GroupWindow(self.call, _name(alias), row_count(self.call.name, lengths))


class Tumble:
    """Windows of one length, each of which begins where the last ends.

    >>> from schema_core.expressions import col, lit
    >>> Tumble.over(lit(10).minutes).on(col("at")).alias("w").name
    'w'
    """

    @classmethod
    def over(cls, size: Expression) -> TumbleWithSize:
        """Return windows of a length, such as ``lit(10).minutes``."""
        return TumbleWithSize(require_expression(size))


@dataclass(frozen=True, slots=True)
class TumbleWithSize:
    """Tumbling windows of a length."""

    size: syntax.Expression

    def on(self, time_field: Expression) -> TumbleWithSizeOnTime:
        """Return the windows of the times in a column."""
        return TumbleWithSizeOnTime(_call("TUMBLE", time_field, self.size))


class TumbleWithSizeOnTime(_OnTime):
    """Tumbling windows of a column."""


class Slide:
    """Windows of one length that begin in equal intervals, and may overlap.

    >>> from schema_core.expressions import col, lit
    >>> Slide.over(lit(1).hours).every(lit(10).minutes).on(col("at")).alias("w").name
    'w'
    """

    @classmethod
    def over(cls, size: Expression) -> SlideWithSize:
        """Return windows of a length."""
        return SlideWithSize(require_expression(size))


@dataclass(frozen=True, slots=True)
class SlideWithSize:
    """Sliding windows of a length."""

    size: syntax.Expression

    def every(self, slide: Expression) -> SlideWithSizeAndSlide:
        """Return the windows that begin in intervals of this length."""
        return SlideWithSizeAndSlide(self.size, require_expression(slide))


@dataclass(frozen=True, slots=True)
class SlideWithSizeAndSlide:
    """Sliding windows of a length and an interval."""

    size: syntax.Expression
    slide: syntax.Expression

    def on(self, time_field: Expression) -> SlideWithSizeAndSlideOnTime:
        """Return the windows of the times in a column."""
        return SlideWithSizeAndSlideOnTime(_call("HOP", time_field, self.slide, self.size))


class SlideWithSizeAndSlideOnTime(_OnTime):
    """Sliding windows of a column."""


class Session:
    """Windows that end when no row follows for some time.

    Neither Spark nor Flink runs them in batch jobs.

    >>> from schema_core.expressions import col, lit
    >>> Session.with_gap(lit(10).minutes).on(col("at")).alias("w").name
    'w'
    """

    @classmethod
    def with_gap(cls, gap: Expression) -> SessionWithGap:
        """Return windows between which no rows are for this time."""
        return SessionWithGap(require_expression(gap))


@dataclass(frozen=True, slots=True)
class SessionWithGap:
    """Sessions with a gap."""

    gap: syntax.Expression

    def on(self, time_field: Expression) -> SessionWithGapOnTime:
        """Return the windows of the times in a column."""
        return SessionWithGapOnTime(_call("SESSION", time_field, self.gap))


class SessionWithGapOnTime(_OnTime):
    """Sessions of a column."""


#: Property of a window -> the suffix of its function in SQL.
PROPERTIES: Mapping[str, str] = {
    "$START": "START",
    "$END": "END",
    "$ROWTIME": "ROWTIME",
    "$PROCTIME": "PROCTIME",
}


def group_by_window(
    query: syntax.Query, window: GroupWindow, keys: Sequence[object], names: list[str]
) -> tuple[syntax.Query, list[NamedExpression]]:
    """Return a query grouped by a window and keys, as `relational.separate_keys` does.

    The window must be one of the keys (`invalid-grouping`).
    """
    others = [key for key in keys if require_expression(key) != syntax.Name((window.name,))]
    if len(others) != len(keys) - 1:
        raise SchemaError(
            f"group_by requires the window {window.name!r} once",
            code="invalid-grouping",
            hint=f"write group_by(col({window.name!r}), ...)",
        )
    grouped_query, columns = separate_keys(query, others, names)
    if window.rows is not None:
        grouped_query = number_windows(grouped_query, window.rows, columns)
    return grouped_query, [NamedExpression(window.name, window.key), *columns]


def select_windows(
    query: syntax.Query,
    window: GroupWindow,
    keys: Sequence[NamedExpression],
    fields: Iterable[object],
) -> syntax.Query:
    """Return columns of a window's groups (`unknown-column` for another window's property)."""

    def in_sql(node: syntax.Expression) -> syntax.Expression | None:
        match node:
            case syntax.Call(name=name, arguments=(syntax.Name(parts=(alias,)),)) if (
                name in PROPERTIES
            ):
                _require_window(window, alias)
                return window.part(PROPERTIES[name])
            case _:
                return None

    named = [key.name for key in keys if key.expression != window.key]
    columns = [
        NamedExpression(name, syntax.rewrite(tree, in_sql))
        for name, tree in name_columns(fields, named, frozenset(PROPERTIES))
    ]
    return group(query, keys, columns)


def resolve_bounds(
    window: GroupWindow, fields: Iterable[object]
) -> tuple[list[Expression | AliasedExpression], list[NamedExpression]]:
    """Return expressions with the bounds of a window as columns, and these columns."""
    bounds: dict[str, NamedExpression] = {}

    def as_column(node: syntax.Expression) -> syntax.Expression | None:
        match node:
            case syntax.Call(name=name, arguments=(syntax.Name(parts=(alias,)),)) if (
                name in PROPERTIES
            ):
                _require_window(window, alias)
                column = NamedExpression(f"EXPR${len(bounds)}", window.part(PROPERTIES[name]))
                return syntax.Name((bounds.setdefault(name, column).name,))
            case _:
                return None

    result: list[Expression | AliasedExpression] = []
    for field in fields:
        tree = syntax.rewrite(require_expression(field), as_column)
        names = field.names if isinstance(field, AliasedExpression) else ()
        result.append(AliasedExpression(tree, names) if names else Expression(tree))
    return result, list(bounds.values())


def _require_window(window: GroupWindow, name: str) -> None:
    if name != window.name:
        raise SchemaError(
            f"there is no window {name!r}",
            code="unknown-column",
            hint=f"use {window.name!r}",
        )


# --- windows over rows ---------------------------------------------------------------------------

#: Bounds of a frame -> its unit, and the bounds before and after the row.
BOUNDS: Mapping[str, tuple[str, str, str]] = {
    str(CURRENT_ROW): ("ROWS", "CURRENT ROW", "CURRENT ROW"),
    str(CURRENT_RANGE): ("RANGE", "CURRENT ROW", "CURRENT ROW"),
    str(UNBOUNDED_ROW): ("ROWS", "UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING"),
    str(UNBOUNDED_RANGE): ("RANGE", "UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING"),
}


_CURRENT = syntax.Symbol("CURRENT ROW")


@dataclass(frozen=True, slots=True)
class OverWindow:
    """A named window of rows around each row, for aggregates with ``over``."""

    window: syntax.Window
    name: str


class Over:
    """Rows around each row, in an order and in partitions.

    >>> from schema_core.expressions import col, row_interval
    >>> Over.partition_by(col("k")).order_by(col("at")).preceding(row_interval(2)).alias("w").name
    'w'
    """

    @classmethod
    def order_by(cls, order_by: Expression | SortedExpression) -> OverWindowPartitionedOrdered:
        """Return windows of all rows in an order."""
        return OverWindowPartitioned(()).order_by(order_by)

    @classmethod
    def partition_by(cls, *partition_by: Expression) -> OverWindowPartitioned:
        """Return windows within the rows that have the same values."""
        return OverWindowPartitioned(tuple(map(require_expression, partition_by)))


@dataclass(frozen=True, slots=True)
class OverWindowPartitioned:
    """Windows in partitions."""

    keys: tuple[syntax.Expression, ...]

    def order_by(self, order_by: Expression | SortedExpression) -> OverWindowPartitionedOrdered:
        """Return the windows in an order of the rows."""
        descending = isinstance(order_by, SortedExpression) and order_by.descending
        tree = order_by.syntax if isinstance(order_by, SortedExpression) else None
        key = syntax.SortKey(require_expression(order_by) if tree is None else tree, descending)
        return OverWindowPartitionedOrdered(syntax.Window(None, self.keys, (key,)))


@dataclass(frozen=True, slots=True)
class OverWindowPartitionedOrdered:
    """Windows in partitions and an order."""

    window: syntax.Window

    def preceding(self, preceding: Expression) -> OverWindowPartitionedOrderedPreceding:
        """Return the windows that begin a number of rows, or a time, before each row.

        `preceding` is ``row_interval(2)``, ``lit(10).minutes``, `UNBOUNDED_ROW`, `UNBOUNDED_RANGE`,
        `CURRENT_ROW` or `CURRENT_RANGE`.
        """
        return OverWindowPartitionedOrderedPreceding(
            self.window, *_frame_bound(preceding, before=True)
        )

    def alias(self, alias: str) -> OverWindow:
        """Return the windows from the first row to each row, named for ``over``.

        Only these are windows of `lag` and `lead`.
        """
        return OverWindow(self.window, _name(alias))


@dataclass(frozen=True, slots=True)
class OverWindowPartitionedOrderedPreceding:
    """Windows with a begin; they end at each row unless `following` is called."""

    window: syntax.Window
    unit: str
    lower: syntax.Call | syntax.Symbol
    upper: syntax.Call | syntax.Symbol = _CURRENT

    def following(self, following: Expression) -> OverWindowPartitionedOrderedPreceding:
        """Return the windows that end a number of rows, or a time, after each row.

        Raises:
            SchemaError: with code `invalid-argument` for rows after a begin by time, or conversely.
        """
        unit, upper = _frame_bound(following, before=False)
        if unit != self.unit:
            raise SchemaError(
                f"window bounds must both be {self.unit}, got {unit} for the end",
                code="invalid-argument",
            )
        return replace(self, upper=upper)

    def alias(self, alias: str) -> OverWindow:
        """Return the windows, named for ``over``."""
        frame = syntax.Frame(self.unit, self.lower, self.upper)
        return OverWindow(replace(self.window, frame=frame), _name(alias))


def _frame_bound(bound: Expression, *, before: bool) -> tuple[str, syntax.Call | syntax.Symbol]:
    """Return the unit of a frame's bound, ROWS or RANGE, and the bound."""
    match tree := require_expression(bound):
        case syntax.Symbol(word=word) if word in BOUNDS:
            unit, lower, upper = BOUNDS[word]
            return unit, syntax.Symbol(lower if before else upper)
        case syntax.Call(name="$ROWS", arguments=(rows,)):
            return "ROWS", syntax.Call("PRECEDING" if before else "FOLLOWING", (rows,))
        case _:
            return "RANGE", syntax.Call("PRECEDING" if before else "FOLLOWING", (tree,))


def select_over(
    query: syntax.Query, windows: Sequence[OverWindow], fields: Iterable[object], names: list[str]
) -> syntax.Query:
    """Select columns, which may be aggregates over windows."""
    return replace(
        block(query),
        items=items(name_columns(fields, names)),
        windows=tuple((window.name, window.window) for window in windows),
    )


def require_windows(values: Sequence[object]) -> tuple[OverWindow, ...]:
    """Return windows over rows (`invalid-argument` for anything else, or none)."""
    windows = tuple(value for value in values if isinstance(value, OverWindow))
    if not values or len(windows) < len(values):
        shown = ", ".join(map(show, values)) or "none"
        raise SchemaError(
            f"over_window requires windows of Over with an alias, got {shown}",
            code="invalid-argument",
        )
    if twice := duplicate_names([value.name for value in windows]):
        raise SchemaError(f"two windows have the name {twice[0]!r}", code="invalid-argument")
    return windows
