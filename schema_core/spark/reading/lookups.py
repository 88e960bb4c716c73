"""The keys of joins as of the processing time, which a connector looks up in place of all rows.

The keys are the distinct values of the other side of the join. A job collects them first, if that
side returns the same rows each time it is read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from schema_core.base.lazy import NamedTuple
from schema_core.environment.options import nanoseconds
from schema_core.errors import UnsupportedError
from schema_core.query.lookup_joins import Lookup
from schema_core.query.relation import Relation
from schema_core.spark.compiler.tree import quote
from schema_core.spark.connector import (
    LookupKeys,
    ReadContext,
    SparkConnector,
    SupportsKeyedLookup,
    SupportsLookup,
)
from schema_core.spark.reading.sources import Source
from schema_core.spark.session.api_mode import is_connect, java_class
from schema_core.types import (
    BigIntType,
    BooleanType,
    DataType,
    DateType,
    IntType,
    SmallIntType,
    TinyIntType,
    VarCharType,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The largest size of the other side, as Spark estimates it, whose keys are collected.
MAX_BYTES: Final = 64 * 1024 * 1024
#: Groups of types in which Spark, Python and databases agree on what is equal.
_GROUPS: Final[tuple[tuple[type[DataType], ...], ...]] = (
    (TinyIntType, SmallIntType, IntType, BigIntType),
    (VarCharType,),
    (DateType,),
    (BooleanType,),
)
#: Rules that remove columns which a plan does not need, such as those of PROCTIME.
_PRUNING: Final = tuple(
    f"org.apache.spark.sql.catalyst.{rule}"
    for rule in (
        "analysis.EliminateSubqueryAliases",
        "analysis.EliminateView",
        "optimizer.ColumnPruning",
    )
)
#: Leaves of plans that return the same rows each time, besides files.
_REPEATABLE: Final = frozenset({"LocalRelation", "OneRowRelation", "Range"})


class Retry(NamedTuple):
    """How often keys that were not found are looked up again, each time after so many seconds."""

    attempts: int
    delay: float

    @classmethod
    def of(cls, hint: Mapping[str, str]) -> Retry | None:
        """Return the retry of the options of LOOKUP, if any."""
        if "retry-predicate" not in hint:
            return None
        return cls(int(hint["max-attempts"]), nanoseconds(hint["fixed-delay"]) / 10**9)


def find_keys(
    lookup: Lookup,
    connector: SparkConnector,
    context: ReadContext,
    analyse: Callable[[Relation], DataFrame],
) -> LookupKeys | None:
    """Return the keys that a join looks up in a table; None if it reads all rows.

    A job collects them. `analyse` returns a query as a frame.
    """
    if lookup.values is None or not isinstance(connector, SupportsKeyedLookup):
        return None
    items = dict(zip(lookup.columns, lookup.values.items, strict=True))
    physical = context.physical_columns
    compared = [
        name
        for name, item in items.items()
        if name in physical and _are_alike(item.expression.type, physical[name])
    ]
    columns = tuple(connector.lookup_key(compared, context))
    if not columns:
        return None
    frame = analyse(replace(lookup.values, items=tuple(items[name] for name in columns)))
    if not _is_small_and_repeatable(frame):
        return None
    most = connector.max_keys(context.options)
    rows = frame.na.drop().limit(most + 1).collect()
    return LookupKeys(columns, tuple(map(tuple, rows))) if len(rows) <= most else None


def _are_alike(left: DataType, right: DataType) -> bool:
    return any(isinstance(left, group) and isinstance(right, group) for group in _GROUPS)


def _is_small_and_repeatable(frame: DataFrame) -> bool:
    """Return whether a frame can be read twice: it returns the same rows, and not too many."""
    if is_connect(frame):
        return False
    execution = frame._jdf.queryExecution()  # noqa: SLF001
    plan = execution.analyzed()
    for rule in _PRUNING:
        plan = java_class(frame.sparkSession, rule).apply(plan)
    if not plan.deterministic():
        return False
    leaves = plan.collectLeaves().iterator()
    while leaves.hasNext():
        leaf = leaves.next()
        name = leaf.getClass().getSimpleName()
        if name == "LogicalRelation":  # files, which the plan lists
            if leaf.relation().getClass().getSimpleName() != "HadoopFsRelation":
                return False
        elif name not in _REPEATABLE:
            return False
    return int(execution.optimizedPlan().stats().sizeInBytes()) <= MAX_BYTES


def look_up(
    lookup: Lookup, connector: SparkConnector, keys: LookupKeys | None, read: Callable[[], Source]
) -> Source:
    """Return what `read` returns, again while keys are missing if the hint LOOKUP has a retry.

    A table without lookups, such as one of files, has the same rows again.

    Raises:
        UnsupportedError: with code `not-executable` for a retry of a table that is read as a whole.
    """
    source = read()
    retry = Retry.of(lookup.hint)
    if retry is None or not isinstance(connector, SupportsLookup):
        return source
    if keys is None:
        raise UnsupportedError(
            "the hint LOOKUP retries keys that are not found, but the job reads all rows of "
            f"{lookup.scan.table.identifier.as_summary_string()} at once",
            code="not-executable",
            hint="remove the retry, or join the table by its columns with a bounded side that has "
            "few keys",
        )
    for _ in range(retry.attempts):
        if not _missing(source, keys):
            break
        time.sleep(retry.delay)
        source = read()
    return source


def _missing(source: Source, keys: LookupKeys) -> set[tuple[object, ...]]:
    """Return the keys without a row."""
    rows = source.frame.select(*map(quote, keys.columns)).distinct().collect()
    return set(keys.rows) - set(map(tuple, rows))
