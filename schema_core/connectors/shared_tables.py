"""Writes of Spark into a table that other jobs write, or that the same query reads.

Spark's file committer has one temporary directory per table: the first of two jobs to commit
deletes the other's files. It also deletes a table's old files before it computes their
replacement.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

from schema_core.base.contained_paths import normalize_path
from schema_core.environment.jobs.run import require_running
from schema_core.spark.session.api_mode import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class _Lock:
    def __init__(self) -> None:
        self.lock = threading.Lock()


#: The locks of this process, by what jobs write; all environments share one Spark.
_LOCKS: WeakValueDictionary[str, _Lock] = WeakValueDictionary()
_GUARD = threading.Lock()
#: Seconds after which a waiting job looks whether it is cancelled.
PAUSE: Final = 0.1


@contextmanager
def exclusive(target: str) -> Iterator[None]:
    """Wait until no other job of this process writes into a table or directory.

    A waiting job that is cancelled raises `job-canceled`.
    """
    with _GUARD:
        held = _LOCKS.setdefault(target, _Lock())
    while not held.lock.acquire(timeout=PAUSE):
        require_running()
    try:
        yield
    finally:
        held.lock.release()


def shares_source(frame: DataFrame, target: DataFrame) -> bool:
    """Return whether a frame, subqueries included, reads a table or directory of another.

    True over Spark Connect, where nothing shows what a plan reads.
    """
    if is_connect(frame):
        return True
    targets = sources(target)
    return any(overlap(source, other) for source in sources(frame) for other in targets)


def overlap(one: str, other: str) -> bool:
    """Return whether two names are equal, or one is a directory in the other."""
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


def reads_below(frame: DataFrame, root: str) -> bool:
    """Return whether a frame reads a directory, one above or one in it; see `shares_source`."""
    if is_connect(frame):
        return True
    return any(overlap(normalize_path(source), root) for source in sources(frame))


def name_of(session: SparkSession, table: str) -> str:
    """Return the canonical name and the directory of a table of Spark's catalogs."""
    if is_connect(session):
        entry = session.catalog.getTable(table)
        return ".".join((entry.catalog or "", *(entry.namespace or ()), entry.name))
    return ", ".join(sorted(sources(session.table(table)))) or f"table {table}"


def sources(frame: DataFrame) -> set[str]:
    """Return the names of the tables and directories that a frame of this process reads."""
    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - PySpark has no access to plans
    plans = [plan, *_each(plan.subqueriesAll())]
    return {name for plan in plans for leaf in _each(plan.collectLeaves()) for name in _names(leaf)}


def _names(leaf: Any) -> Iterator[str]:
    """Yield the table's name of a relation, and its directories."""
    kind = leaf.getClass().getSimpleName()
    if kind == "HiveTableRelation":
        yield f"table {leaf.tableMeta().identifier().unquotedString()}"
        yield str(leaf.tableMeta().location().toString())
    if kind != "LogicalRelation":
        return
    if leaf.catalogTable().isDefined():
        yield f"table {leaf.catalogTable().get().identifier().unquotedString()}"
    if leaf.relation().getClass().getSimpleName() == "HadoopFsRelation":
        yield from (str(path.toString()) for path in _each(leaf.relation().location().rootPaths()))


def _each(collection: Any) -> Iterator[Any]:
    """Yield the elements of a Scala collection."""
    iterator = collection.iterator()
    while iterator.hasNext():
        yield iterator.next()
