"""Changelogs: their common form, the rows that they leave, and connectors that read and write them.

A *changelog frame* has the columns of a table, `ROW_KIND`, the kind of the change as Flink prints
it (``+I``, ``-U``, ``+U``, ``-D``), and, if the source has an order, `CHANGE_ORDER`: a struct whose
fields, compared one after the other, order the changes.

In batch mode a table of change data has the rows that its changes leave (`state_of`). Flink refuses
such a query; the rows are those that Flink's streaming mode leaves. In streaming mode the changes
themselves are returned, normalized by key (`normalized`) where Flink adds its ChangelogNormalize.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeGuard, cast, runtime_checkable

from schema_core.environment.connector import Connector, Context
from schema_core.environment.options import ConfigOption, boolean
from schema_core.environment.planner import Change
from schema_core.environment.plans.changelog_mode import ChangelogMode
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import Node, quote
from schema_core.spark.connector import (
    ReadContext,
    SparkConnector,
    WriteContext,
    metadata_column,
)
from schema_core.spark.reading.comparison import comparable
from schema_core.spark.session.api_mode import functions_of
from schema_core.types import RowKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DUPLICATES: Final = ConfigOption(
    "table.exec.source.cdc-events-duplicate",
    boolean,
    False,
    "whether sources may repeat changes, which are then normalized by the PRIMARY KEY",
)
#: Columns of changelog frames: the kind of a change, and what orders the changes.
ROW_KIND: Final = "$row_kind$"
CHANGE_ORDER: Final = "$change_order$"

_INSERT, _BEFORE, _AFTER, _DELETE = (f"'{kind}'" for kind in RowKind)
#: Whether a change adds its row; it removes it otherwise.
_ADDS: Final = f"{quote(ROW_KIND)} IN ({_INSERT}, {_AFTER})"


def adds_row(kind: Node) -> Node:
    """Return whether a change of a kind adds its row; it removes it otherwise."""
    return inline("startswith({kind}, '+')", kind=kind)


#: Temporary columns.
_PLACE, _ROW, _COUNT, _PREVIOUS = (
    f"$changelog_{name}$" for name in ("place", "row", "count", "previous")
)


# --- reading --------------------------------------------------------------------------------------


@runtime_checkable
class SupportsChangelogRead(SparkConnector, Protocol):
    """A connector whose tables may hold changes instead of rows."""

    def changelog_mode(self, options: Mapping[str, str]) -> ChangelogMode:
        """Return the kinds of the changes that a table with these options holds.

        `read` is called for a table of insertions only, `read_changes` for all others. Updates
        without their rows before (`ChangelogMode.upsert`) require a PRIMARY KEY.
        """

    def read_changes(self, context: ReadContext) -> DataFrame:
        """Return the changes of a table as a changelog frame, with its metadata as `read`.

        `context` has no projection, filters or limit. Columns of a deletion that the source does
        not have may be NULL if the mode has no rows before updates. See `ReadContext.by_key`.
        """


@runtime_checkable
class SupportsChangelogStream(SupportsChangelogRead, Protocol):
    """A connector whose unbounded tables may hold changes, read by streaming jobs."""

    def read_messages(self, context: ReadContext) -> DataFrame:
        """Return the messages of an unbounded table as a streaming frame, with any columns.

        The frame has no stateful operation.
        """

    def decode_messages(self, messages: DataFrame, context: ReadContext) -> DataFrame:
        """Return the changes of the messages of a micro-batch, with `CHANGE_ORDER`.

        As `read_changes`; the messages of each partition of the frame are in their order.
        """


def has_changes(
    connector: Connector, options: Mapping[str, str]
) -> TypeGuard[SupportsChangelogRead]:
    """Return whether a table holds changes other than insertions."""
    # `isinstance` checks all members of a protocol, which takes longer than all else here
    declared = getattr(connector, "changelog_mode", None)
    if declared is None or declared(options).contains_only(RowKind.INSERT):
        return False
    return isinstance(connector, SupportsChangelogRead)


def read_state(connector: SupportsChangelogRead, context: ReadContext) -> DataFrame:
    """Return the rows that the changes of a table leave, with their metadata.

    With the option ``table.exec.source.cdc-events-duplicate`` rows before updates are ignored, as
    in Flink: an update that changes the key leaves the row of the old key.

    Raises:
        SchemaError: as `read_changes`.
    """
    context = replace(context, by_key=True)
    frame = connector.read_changes(context)
    if _has_duplicates(context):
        frame = without_old_rows(frame)
    return state_of(frame, context.change_key, list(context.physical_columns))


def read_changes(
    connector: SupportsChangelogRead,
    context: ReadContext,
    columns: Collection[str],
    *,
    as_versions: bool = False,
) -> DataFrame:
    """Return the changes of a table in their order, with `ROW_KIND`, without `CHANGE_ORDER`.

    They are normalized by key as in Flink: updates without their rows before, and all changes if
    the option ``table.exec.source.cdc-events-duplicate`` is set. Changes of other columns than
    `columns`, those that the query reads, are then none. `as_versions` is whether a join reads
    them as versions, which Flink does not normalize.

    Raises:
        SchemaError: with code `invalid-option-value` if the option requires a PRIMARY KEY.
    """
    key = () if as_versions else normalization_key(connector, context)
    if key:
        frame = connector.read_changes(replace(context, by_key=False))
        compared = [name for name in _own_columns(frame) if name in {*columns, *key}]
        metadata = [metadata_column(name) for name in context.metadata]
        frame = normalized(frame, key, [*compared, *metadata])
    else:
        frame = connector.read_changes(context)
    ordered = frame.orderBy(quote(CHANGE_ORDER)) if CHANGE_ORDER in frame.columns else frame
    return ordered.drop(CHANGE_ORDER)


def normalization_key(connector: SupportsChangelogRead, context: Context) -> tuple[str, ...]:
    """Return the PRIMARY KEY by which the changes of a table are normalized; empty if they are not.

    Raises:
        SchemaError: as `read_changes`.
    """
    mode = connector.changelog_mode(context.table.options)
    primary = context.table.resolved_schema.primary_key
    is_repeated = _has_duplicates(context) or not mode.contains(RowKind.UPDATE_BEFORE)
    return tuple(primary.columns) if is_repeated and primary is not None else ()


def _has_duplicates(context: Context) -> bool:
    if not DUPLICATES.of(context.configuration):
        return False
    if context.table.resolved_schema.primary_key is None:
        raise SchemaError(
            f"the option {DUPLICATES.key!r} requires a PRIMARY KEY of the table "
            f"{context.identifier.as_summary_string()}, by which its changes are normalized",
            code="invalid-option-value",
            hint="declare PRIMARY KEY (...) NOT ENFORCED, or reset the option",
        )
    return True


def state_of(frame: DataFrame, key: Sequence[str], columns: Sequence[str]) -> DataFrame:
    """Return the rows that a changelog leaves, without its own columns.

    With a key, it is the last change of each key, unless that removes its row. Without one, each
    change adds or removes one of the equal rows; a row that is not there is not removed, as by
    Flink's aggregations, if the changes have an order.

    Args:
        frame: A changelog frame; it requires `CHANGE_ORDER` for a key.
        key: The columns that identify a row; may be empty.
        columns: The columns of a row. Others, such as metadata, are those of its last addition.
    """
    return last_of_key(frame, key) if key else _multiset(frame, columns)


def last_of_key(frame: DataFrame, key: Sequence[str]) -> DataFrame:
    """Return the row of the last change of each key that adds it, in a frame with an order."""
    rank = f"row_number() OVER ({_partition(key)} ORDER BY {_order(frame, 'DESC')})"
    ranked = frame.selectExpr("*", f"{rank} AS {quote(_PLACE)}")
    last = ranked.where(f"{quote(_PLACE)} = 1 AND {_ADDS}")
    return last.selectExpr(*map(quote, _own_columns(frame)))


def _multiset(frame: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Return each row as often as it remains: its lowest running count is the count of no rows."""
    own = _own_columns(frame)
    types = {field.name: field.dataType for field in frame.schema.fields}
    row = ", ".join(comparable(quote(name), types[name]) for name in columns)
    changes = frame.selectExpr(
        "*", f"struct({row}) AS {quote(_ROW)}", f"if({_ADDS}, 1L, -1L) AS {quote(_COUNT)}"
    )
    kept = f"struct({', '.join(map(quote, own))})"
    place, total = quote(_PLACE), f"sum({quote(_COUNT)})"
    if CHANGE_ORDER in frame.columns:
        running = f"{total} OVER ({_partition([_ROW])} ORDER BY {_order(frame)} {_SO_FAR})"
        changes = changes.selectExpr("*", f"{running} AS {place}")
        last = f"max_by({kept}, {quote(CHANGE_ORDER)}) FILTER (WHERE {_ADDS})"
        remaining = f"{total} - least(0L, min({place}))"
    else:
        last, remaining = f"any_value({kept}) FILTER (WHERE {_ADDS})", f"greatest(0L, {total})"
    expr = functions_of(frame).expr
    groups = changes.groupBy(quote(_ROW)).agg(
        expr(f"{last} AS {quote(_PREVIOUS)}"), expr(f"{remaining} AS {quote(_COUNT)}")
    )
    copies = f"array_repeat({quote(_PREVIOUS)}, CAST({quote(_COUNT)} AS INT))"
    return groups.where(f"{quote(_COUNT)} > 0").selectExpr(f"inline({copies})")


def adding(rows: DataFrame, *, adds: bool = True) -> DataFrame:
    """Return rows as changes that add or remove them, without `CHANGE_ORDER`."""
    return rows.selectExpr("*", f"{_INSERT if adds else _DELETE} AS {quote(ROW_KIND)}")


def is_added(adds: bool) -> str:
    """Return the condition that a change adds its row, or removes it."""
    return _ADDS if adds else f"NOT ({_ADDS})"


def difference(new: DataFrame, old: DataFrame | None) -> DataFrame:
    """Return the changes, ``-D`` and ``+I``, that lead from one multiset of rows to another."""
    if old is None:
        return adding(new)
    own = new.columns
    return without_opposites(adding(new).union(adding(old.select(*map(quote, own)), adds=False)))


def without_removed(changes: DataFrame, apart: Sequence[str]) -> DataFrame:
    """Return the rows that changes add, without as many equal ones as they remove.

    Rows are equal if all columns but those of `apart` are; the first ones by these are removed.
    """
    order = ", ".join(quote(name) for name in apart if name in changes.columns)
    row = ", ".join(
        comparable(quote(field.name), field.dataType)
        for field in changes.schema.fields
        if field.name not in (*apart, ROW_KIND)
    )
    numbered = changes.selectExpr("*", f"struct({row}) AS {quote(_ROW)}").selectExpr(
        "*",
        f"row_number() OVER (PARTITION BY {quote(_ROW)}, {_ADDS} ORDER BY {order})"
        f" AS {quote(_PLACE)}",
        f"count_if(NOT ({_ADDS})) OVER (PARTITION BY {quote(_ROW)}) AS {quote(_COUNT)}",
    )
    remaining = numbered.where(f"{_ADDS} AND {quote(_PLACE)} > {quote(_COUNT)}")
    return adding(remaining.select(*map(quote, _own_columns(changes))))


def without_opposites(changes: DataFrame) -> DataFrame:
    """Return changes, ``-D`` and ``+I``, without those that remove a row which others add.

    The result has no order: a row is only added, or only removed.
    """
    fields = [field for field in changes.schema.fields if field.name != ROW_KIND]
    own = [field.name for field in fields]
    row = ", ".join(comparable(quote(field.name), field.dataType) for field in fields)
    counted = changes.selectExpr(
        f"struct({', '.join(map(quote, own))}) AS {quote(_PREVIOUS)}",
        f"struct({row}) AS {quote(_ROW)}",
        f"if({_ADDS}, 1L, -1L) AS {quote(_COUNT)}",
    )
    expr = functions_of(changes).expr
    groups = counted.groupBy(quote(_ROW)).agg(
        expr(f"any_value({quote(_PREVIOUS)}) AS {quote(_PREVIOUS)}"),
        expr(f"sum({quote(_COUNT)}) AS {quote(_COUNT)}"),
    )
    count = quote(_COUNT)
    copies = f"array_repeat({quote(_PREVIOUS)}, CAST(abs({count}) AS INT))"
    kind = f"if({count} > 0, {_INSERT}, {_DELETE})"
    return (
        groups.where(f"{count} <> 0")
        .selectExpr(f"{kind} AS {quote(ROW_KIND)}", f"inline({copies})")
        .select(*map(quote, (*own, ROW_KIND)))
    )


def with_updates(changes: DataFrame, key: Sequence[str]) -> DataFrame:
    """Return changes, of which those that replace a row of a key by another are updates.

    Their order is that of `CHANGE_ORDER`: the removal of a key comes before the addition.
    """
    window = f"OVER ({_partition(key)})"
    adds, removes = (f"count_if({is_added(value)}) {window} = 1" for value in (True, False))
    kind = (
        f"CASE WHEN NOT ({adds} AND {removes}) THEN {quote(ROW_KIND)} "
        f"WHEN {_ADDS} THEN {_AFTER} ELSE {_BEFORE} END"
    )
    own = [quote(name) for name in changes.columns if name != ROW_KIND]
    return changes.selectExpr(*own, f"{kind} AS {quote(ROW_KIND)}")


def in_order_of_changes(changes: DataFrame, key: Sequence[str] | None) -> DataFrame:
    """Return changes, of which each task has a row removed before another one takes its place.

    Those of the columns `key` are updates where they replace a row. There is one row at most if
    `key` is empty, and no key if it is None.
    """
    added = functions_of(changes).expr(is_added(True))
    if not key:
        return (changes if key is None else with_updates(changes, key)).orderBy(added)
    columns = list(map(quote, key))
    # one task writes all changes of a key, in their order
    return with_updates(changes, key).repartition(*columns).sortWithinPartitions(*columns, added)


def without_old_rows(changes: DataFrame) -> DataFrame:
    """Return changes without the rows before updates."""
    return changes.where(f"{quote(ROW_KIND)} <> {_BEFORE}")


_SO_FAR: Final = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"


def normalized(frame: DataFrame, key: Sequence[str], columns: Sequence[str]) -> DataFrame:
    """Return changes by key as Flink's ChangelogNormalize does, in a changelog frame.

    An update has both of its rows, an addition of a new key is an insertion, and a deletion has the
    last row of its key. An addition of an equal row and the deletion of an unknown key change
    nothing; rows before an update (``-U``) are not needed.

    Args:
        frame: A changelog frame with `CHANGE_ORDER`.
        key: The columns that identify a row.
        columns: The columns of a row; all others of the frame are kept, but not compared.
    """
    own = _own_columns(frame)
    types = {field.name: field.dataType for field in frame.schema.fields}
    compared = ", ".join(comparable(quote(name), types[name]) for name in columns)
    row = f"struct({', '.join(map(quote, own))})"
    changes = without_old_rows(frame).selectExpr(
        "*", f"struct({row} AS own, struct({compared}) AS compared) AS {quote(_ROW)}"
    )
    window = f"OVER ({_partition(key)} ORDER BY {_order(frame)})"
    state = f"if({_ADDS}, {quote(_ROW)}, NULL)"
    changes = changes.selectExpr("*", f"lag({state}) {window} AS {quote(_PREVIOUS)}")
    previous, new = quote(_PREVIOUS), quote(_ROW)

    def emit(*parts: tuple[str, str]) -> str:
        made = (f"struct({kind} AS kind, {row}.own AS own)" for kind, row in parts)
        return f"array({', '.join(made)})"

    none = f"slice({emit((_INSERT, new))}, 1, 0)"
    emitted = (
        f"CASE WHEN {previous} IS NULL THEN if({_ADDS}, {emit((_INSERT, new))}, {none})"
        f" WHEN NOT ({_ADDS}) THEN {emit((_DELETE, previous))}"
        f" WHEN {previous}.compared <=> {new}.compared THEN {none}"
        f" ELSE {emit((_BEFORE, previous), (_AFTER, new))} END"
    )
    order = f"{quote(CHANGE_ORDER)} AS {quote(CHANGE_ORDER)}"
    exploded = changes.selectExpr(order, f"posexplode({emitted}) AS (`place`, `change`)")
    return exploded.selectExpr(
        "change.own.*",
        f"change.kind AS {quote(ROW_KIND)}",
        f"struct({quote(CHANGE_ORDER)} AS `change`, place) AS {quote(CHANGE_ORDER)}",
    )


def _own_columns(frame: DataFrame) -> list[str]:
    return [name for name in frame.columns if name not in (ROW_KIND, CHANGE_ORDER)]


def _partition(key: Iterable[str]) -> str:
    return f"PARTITION BY {', '.join(map(quote, key)) or 'TRUE'}"


def _order(frame: DataFrame, direction: str = "ASC") -> str:
    """Return the keys of ORDER BY: fields of a struct are compared faster by themselves."""
    fields: Any = frame.schema[CHANGE_ORDER].dataType
    return ", ".join(
        f"{quote(CHANGE_ORDER)}.{quote(field.name)} {direction}" for field in fields.fields
    )


# --- writing --------------------------------------------------------------------------------------


class Changelog:
    """The changes of rows that the values at the positions `key` identify, and their number.

    >>> changelog = Changelog([0])
    >>> [str(change.kind) for change in changelog.changes([("a", 1), ("b", 1), ("a", 1), ("a", 2)])]
    ['+I', '+I', '-U', '+U']
    >>> changelog.count
    4
    """

    def __init__(self, key: Sequence[int]) -> None:
        self._key = tuple(key)
        self._rows: dict[str, tuple[Any, ...]] = {}
        self.count = 0

    def changes(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[Change]:
        """Yield the changes that replace earlier rows by these; equal rows change nothing."""
        for row in rows:
            key = repr([row[place] for place in self._key])  # values may be lists
            old = self._rows.get(key)
            if old == row:
                continue
            self._rows[key] = row
            self.count += 1 if old is None else 2
            if old is None:
                yield Change(row, RowKind.INSERT)
            else:
                yield Change(old, RowKind.UPDATE_BEFORE)
                yield Change(row, RowKind.UPDATE_AFTER)


@runtime_checkable
class SupportsChangelogWrite(SparkConnector, Protocol):
    """A connector whose tables take changes, not only insertions."""

    def consumes_changes(self, options: Mapping[str, str]) -> bool:
        """Return whether a table with these options takes changes."""

    def write_changelog(self, frame: DataFrame, context: WriteContext) -> None:
        """Write the changes of a changelog frame without `CHANGE_ORDER`, in their order.

        `frame` has the columns as for `write`, and `ROW_KIND`.
        """


def write_rows(connector: SparkConnector, rows: DataFrame, context: WriteContext) -> None:
    """Write rows, or changes with `ROW_KIND`, in the active session.

    There Spark looks for the data sources of Python to which a connector writes.
    """
    from schema_core.spark.session.session import active_session

    with active_session(context.session):
        if ROW_KIND in rows.columns:
            cast("SupportsChangelogWrite", connector).write_changelog(rows, context)
        else:
            connector.write(rows, context)


def takes_changes(
    connector: SparkConnector, options: Mapping[str, str]
) -> TypeGuard[SupportsChangelogWrite]:
    """Return whether a table takes changes."""
    return isinstance(connector, SupportsChangelogWrite) and connector.consumes_changes(options)


def require_changes(connector: SparkConnector, context: WriteContext) -> None:
    """Require that a table takes the changes of a query in streaming mode.

    Raises:
        UnsupportedError: with code `streaming-not-supported`.
    """
    if not takes_changes(connector, context.options):
        raise UnsupportedError(
            f"the table {context.identifier.as_summary_string()} cannot consume the updates and "
            "deletions that the query reads",
            code="streaming-not-supported",
            hint="run the job in batch mode, which writes the rows that the changes leave, or "
            "write a table with a format of changes, such as 'debezium-json'",
        )


@runtime_checkable
class SupportsChangelog(SparkConnector, Protocol):
    """A connector that takes every change of updated rows from a streaming job.

    Tables of one with `SupportsChangelogWrite` only if they take changes.
    """

    def write_changes(
        self, frame: DataFrame, context: WriteContext, key: Sequence[str], changelog: Changelog
    ) -> None:
        """Write the rows of a micro-batch, each of which replaces the one with its key.

        `frame` has the columns as for `write`; those of `key` are the key. `changelog` has seen
        this run's earlier micro-batches; its rows begin with the key.
        """
