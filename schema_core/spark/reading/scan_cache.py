"""Views of scans that are kept between the queries of an environment.

Reading the same table again would list and check the same files, and analyse the same frame. A view
is used again if the definition of the table, the configuration and the time zone are equal, and if
the connector finds its data unchanged (`SupportsReuse`). See decision 22.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from schema_core.base.lazy_dataclass import dataclass
from schema_core.environment.connector import Ability
from schema_core.schema.columns import PhysicalColumn
from schema_core.spark.connector import SupportsReuse
from schema_core.spark.session.api_mode import is_connect
from schema_core.spark.session.session import create_view, drop_view

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.base.paths import ObjectIdentifier
    from schema_core.environment.planner import BoundTable
    from schema_core.spark.connector import ReadContext, SparkConnector
    from schema_core.spark.reading.pushdown import ScanDemand
    from schema_core.spark.reading.sources import Source

#: How many views an environment keeps. Each holds the list of its files in the JVM.
MAX_KEPT: Final = 64

#: Abilities by which a frame depends on the query that reads it.
_OF_QUERY: Final = frozenset(
    {Ability.FILTER_PUSH_DOWN, Ability.PROJECTION_PUSH_DOWN, Ability.LIMIT_PUSH_DOWN}
)


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """All that a scan depends on besides the data; `derived` are the other columns that it reads.

    Physical columns do not matter: Spark reads those of a view that a query uses.
    """

    identifier: ObjectIdentifier
    is_temporary: bool
    zone: str
    derived: frozenset[str]
    database: str | None
    configuration: Mapping[str, str]
    bound: BoundTable

    @classmethod
    def of(
        cls,
        bound: BoundTable,
        demand: ScanDemand | None,
        configuration: Mapping[str, str],
        zone: str,
        database: str | None,
    ) -> ScanRequest:
        """Return the request of a query that needs something of a table."""
        columns = bound.table.resolved_schema.columns
        derived = frozenset(
            column.name for column in columns if not isinstance(column, PhysicalColumn)
        )
        if demand is not None:
            derived &= demand.columns
        settings = dict(configuration)
        return cls(bound.identifier, bound.is_temporary, zone, derived, database, settings, bound)

    @property
    def columns(self) -> frozenset[str]:
        """The columns of the view: those derived that the query reads, and all physical ones."""
        columns = self.bound.table.resolved_schema.columns
        return self.derived.union(
            column.name for column in columns if isinstance(column, PhysicalColumn)
        )


@dataclass(slots=True, eq=False)
class KeptScan:
    """A view, and the connector that read its frame; `users` are queries that are compiled."""

    request: ScanRequest
    connector: SparkConnector
    context: ReadContext
    name: str
    raw: tuple[str, ...]
    users: int = 0
    is_kept: bool = True


def can_be_kept(connector: SparkConnector) -> bool:
    """Return whether the frames of a connector are the same for every query."""
    return isinstance(connector, SupportsReuse) and not connector.abilities & _OF_QUERY


def _is_unchanged(connector: SparkConnector) -> bool:
    return isinstance(connector, SupportsReuse) and connector.unchanged()


class ScanCache:
    """The views of one environment, in one session at a time; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: SparkSession | None = None
        #: from the least to the most recently used
        self._kept: list[KeptScan] = []

    def find(self, session: SparkSession, request: ScanRequest) -> KeptScan | None:
        """Return the view of a scan whose data is unchanged; the caller must release it."""
        with self._lock:
            self._enter(session)
            found = next((one for one in self._kept if one.request == request), None)
            if found is None:
                return None
            self._kept.remove(found)
            self._kept.append(found)
            found.users += 1
        try:
            is_unchanged = _is_unchanged(found.connector)
        except BaseException:
            self.release(found)
            raise
        if is_unchanged:
            return found
        with self._lock:
            self._forget(found)
        self.release(found)
        return None

    def add(
        self,
        request: ScanRequest,
        connector: SparkConnector,
        context: ReadContext,
        source: Source,
    ) -> KeptScan | None:
        """Keep the frame of a scan as a view, unless it may differ from one query to the next.

        The caller must release what is returned.
        """
        is_kept = can_be_kept(connector) and _is_unchanged(connector)
        if not is_kept or not is_deterministic(source.frame):
            return None
        view = create_view(source.frame)
        kept = KeptScan(request, connector, context, view, source.raw, users=1)
        with self._lock:
            self._enter(context.session)
            for old in [one for one in self._kept if one.request == request]:
                self._forget(old)
            self._kept.append(kept)
            if len(self._kept) > MAX_KEPT:
                self._forget(self._kept[0])
        return kept

    def release(self, kept: KeptScan) -> None:
        """End the use of a view, which is dropped if it is not kept any more."""
        with self._lock:
            kept.users -= 1
            self._drop_unused(kept)

    def _enter(self, session: SparkSession) -> None:
        """Forget the views of another session: its SparkContext was stopped."""
        if self._session is not session:
            for one in self._kept:
                one.is_kept = False
            self._session, self._kept = session, []

    def _forget(self, kept: KeptScan) -> None:
        if kept.is_kept:
            kept.is_kept = False
            self._kept.remove(kept)
            self._drop_unused(kept)

    def _drop_unused(self, kept: KeptScan) -> None:
        if not kept.is_kept and not kept.users and kept.context.session is self._session:
            drop_view(kept.context.session, kept.name)


def is_deterministic(frame: DataFrame) -> bool:
    """Return whether a plan gives the same rows each time: ``rand()`` has its seed in the plan.

    Plans of Spark Connect are not known here.
    """
    if is_connect(frame):
        return False
    return bool(frame._jdf.queryExecution().analyzed().deterministic())  # noqa: SLF001
