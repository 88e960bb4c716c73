"""Rows of a query that meet on a primary key: ON CONFLICT DO NOTHING and DO ERROR (FLIP-558)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from schema_core.spark.changelog import ROW_KIND, adding, is_added
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.compiler.tree import quote, string
from schema_core.spark.reading.comparison import comparable
from schema_core.spark.session.api_mode import functions_of
from schema_core.types import RowKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The column with the place of a change among those that arrive.
ARRIVAL: Final = f"{PREFIX}arrival"

_KEY, _ROW, _VALUE, _COUNT, _IS_OLD, _PLACE, _NEW, _CHANGE = (
    quote(f"{PREFIX}{name}")
    for name in ("key", "row", "value", "count", "is_old", "place", "new", "change")
)


def with_arrival(rows: DataFrame, number: int = 0) -> DataFrame:
    """Return the rows of a micro-batch with `ARRIVAL`."""
    place = f"struct({number}L AS batch, monotonically_increasing_id() AS place)"
    return rows.selectExpr("*", f"{place} AS {quote(ARRIVAL)}")


def rows_without_conflicts(rows: DataFrame, key: Sequence[str], action: str) -> DataFrame:
    """Return the rows, or those that changes leave, of which each key has one at most.

    As in Flink without a watermark before the end of the tables, all rows are compared at once.
    """
    changes = with_arrival(rows if ROW_KIND in rows.columns else adding(rows))
    return resolve_conflicts(changes, None, key, fails=action == "ERROR").drop(ROW_KIND)


def resolve_conflicts(
    changes: DataFrame, old: DataFrame | None, key: Sequence[str], *, fails: bool
) -> DataFrame:
    """Return the changes, ``-D`` and ``+I``, of the row of each key, as Flink does.

    Rows that changes add and remove again count for nothing, and a removal of a row that is not
    there is ignored. If then several rows have a key, the job fails, or the first one is returned
    unless the key has a row: this one stays, and the others are dropped.

    Args:
        changes: A changelog frame with `ARRIVAL`.
        old: The rows of these keys so far, one for each key, with `ROW_KIND`.
        key: The columns of the primary key.
        fails: Whether several rows of a key fail the job.
    """
    fields = [field for field in changes.schema.fields if field.name not in (ROW_KIND, ARRIVAL)]
    own = [field.name for field in fields]
    values = {field.name: comparable(quote(field.name), field.dataType) for field in fields}
    parts = (
        f"struct({', '.join(values[name] for name in key)}) AS {_KEY}",
        f"struct({', '.join(values.values())}) AS {_VALUE}",
        f"struct({', '.join(map(quote, own))}) AS {_ROW}",
    )
    count, place = f"if({is_added(True)}, 1L, -1L) AS {_COUNT}", f"{quote(ARRIVAL)} AS {_PLACE}"
    rows = changes.selectExpr(*parts, count, f"FALSE AS {_IS_OLD}", place)
    if old is not None:
        type_ = changes.schema[ARRIVAL].dataType.simpleString()
        none = f"CAST(NULL AS {type_}) AS {_PLACE}"
        rows = rows.union(old.selectExpr(*parts, f"0L AS {_COUNT}", f"TRUE AS {_IS_OLD}", none))
    expr = functions_of(changes).expr
    removed = f"CAST(count_if({_COUNT} < 0) AS INT)"
    added = f"sort_array(collect_list({_PLACE}) FILTER (WHERE {_COUNT} > 0))"
    equal = rows.groupBy(_KEY, _VALUE).agg(
        expr(f"any_value({_ROW}) AS {_ROW}"),
        expr(f"bool_or({_IS_OLD}) AS {_IS_OLD}"),
        expr(f"greatest(0L, sum({_COUNT}) + if(bool_or({_IS_OLD}), 1L, 0L)) AS {_COUNT}"),
        # the first additions are those that are removed again
        expr(f"get({added}, {removed}) AS {_PLACE}"),
    )
    first = f"struct({_ROW} AS row, {_IS_OLD} AS is_old)"
    order = f"struct(NOT {_IS_OLD}, {_PLACE})"
    groups = equal.groupBy(_KEY).agg(
        expr(f"sum({_COUNT}) AS {_COUNT}"),
        expr(f"any_value({_ROW}) FILTER (WHERE {_IS_OLD}) AS {_ROW}"),
        expr(f"min_by({first}, {order}) FILTER (WHERE {_COUNT} > 0) AS {_NEW}"),
    )
    emitted = _changes_of_key(_several(key, fails=fails))
    change = groups.selectExpr(f"explode({emitted}) AS {_CHANGE}")
    change = change.where(f"{_CHANGE}.row IS NOT NULL")
    return change.selectExpr(f"{_CHANGE}.row.*", f"{_CHANGE}.kind AS {quote(ROW_KIND)}")


def _changes_of_key(several: str) -> str:
    """Return the array of changes of a key, some without a row, for the number of its rows."""
    remove = f"struct('{RowKind.DELETE}' AS kind, {_ROW} AS row)"
    add = f"struct('{RowKind.INSERT}' AS kind, {_NEW}.row AS row)"
    return (
        f"CASE WHEN {_COUNT} = 0 THEN array({remove})"
        f" WHEN {_COUNT} > 1 THEN if({several}, array({add}), NULL)"
        f" WHEN {_NEW}.is_old THEN NULL ELSE array({remove}, {add}) END"
    )


def _several(key: Sequence[str], *, fails: bool) -> str:
    """Return whether the first one of several rows of a key is added; it may fail the job."""
    if not fails:
        return f"{_ROW} IS NULL"
    shown = ", ', ', ".join(
        f"{string(f'{name}=')}, coalesce(CAST({_NEW}.row.{quote(name)} AS STRING), 'null')"
        for name in key
    )
    message = (
        "concat('ON CONFLICT DO ERROR: several rows of the query have the primary key [', "
        f"{shown}, ']')"
    )
    return f"CAST(raise_error({message}) AS BOOLEAN)"
