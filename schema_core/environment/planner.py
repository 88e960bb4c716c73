"""The interface of planners, which run resolved queries, and their discovery.

The environment resolves names and types; a planner receives resolved objects and returns rows or a
job. Planners are entry points chosen by identifier (FLIP-32).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from schema_core.base.lazy import dataclass
from schema_core.base.plugins import PLANNERS, require
from schema_core.catalog.own_options import require_no_own_options
from schema_core.environment.jobs.graph import JobGraph
from schema_core.environment.option_references import OptionReferences
from schema_core.environment.options import DYNAMIC_OPTIONS
from schema_core.errors import SchemaError
from schema_core.sql.syntax import hinted_options

if TYPE_CHECKING:
    from schema_core.base.paths import ObjectIdentifier
    from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable
    from schema_core.environment.plans.plan_tree import ChangesOf
    from schema_core.query.relation import Relation, Scan
    from schema_core.sql.syntax import Hint
    from schema_core.types import DataType, RowKind


@dataclass(frozen=True, slots=True)
class BoundTable:
    """A table with the identifier under which it was found."""

    identifier: ObjectIdentifier
    table: ResolvedCatalogTable
    #: resolves the references of options, which those of `table` do not have
    references: OptionReferences = field(compare=False)
    is_temporary: bool = False

    def with_hints(self, hints: Sequence[Hint], configuration: Mapping[str, str]) -> BoundTable:
        """Return the table with the options of its ``OPTIONS`` hints over its own.

        Raises:
            SchemaError: `invalid-hint` by ``table.dynamic-table-options.enabled``, or
                `reserved-option` for one that only this library sets.
        """
        options = hinted_options(hints)
        require_no_own_options(options)
        if not options:
            return self
        if not DYNAMIC_OPTIONS.of(configuration):
            raise SchemaError(
                f"OPTIONS on table {self.identifier.as_summary_string()}: hints are disabled",
                code="invalid-hint",
                hint=f"SET '{DYNAMIC_OPTIONS.key}' = 'true', or remove the hint",
            )
        return self.with_options(options)

    def with_options(self, options: Mapping[str, str]) -> BoundTable:
        """Return the table with options over its own, and the values of their references."""
        resolved = self.references.resolve(options)
        return replace(self, table=self.table.copy({**self.table.options, **resolved}))


@dataclass(frozen=True, slots=True)
class PlannerContext:
    """What an environment provides to its planner.

    `options` are the settings at the time of each call. `table` finds a table by identifier,
    temporary objects first, or raises `NotFoundError`; a second argument is the `timestamp` of
    the scan. Scans of views do not occur: the
    environment inlines them. `session` is the engine's session, such as a `SparkSession`; if None,
    the planner opens one.
    """

    options: Mapping[str, str]
    table: Callable[..., BoundTable]
    session: object | None = None
    database: Callable[[], str | None] = lambda: None

    def source(self, scan: Scan) -> BoundTable:
        """Return the table that a scan reads, with the options of its hints.

        Raises:
            NotFoundError: as `table`.
            SchemaError: as `BoundTable.with_hints`.
        """
        at = () if scan.timestamp is None else (scan.timestamp,)
        return self.table(scan.table.identifier, *at).with_hints(scan.hints, self.options)


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """Identifies a job whose rows are committed at most once, however often it is run.

    The table of the job stores the record together with the rows. A job whose table has its record,
    or a later one of the sequence, discards its rows.

    Attributes:
        sequence: The jobs that are run one after the other: 32 hexadecimal digits.
        number: The number of the job in the sequence, from 0.
    """

    sequence: str
    number: int


class Change(tuple[Any, ...]):  # noqa: SLOT001 - a tuple has no further slots
    """A row of a changelog: its values and its kind.

    >>> from schema_core.types import RowKind
    >>> str(Change((1, "a"), RowKind.UPDATE_AFTER).kind)
    '+U'
    """

    kind: RowKind

    def __new__(cls, values: Iterable[Any], kind: RowKind) -> Self:
        made = super().__new__(cls, values)
        made.kind = kind
        return made


@dataclass(frozen=True, slots=True)
class Rows:
    """The result of a query: column names and types, and the rows as Python values.

    Values are int, float, `Decimal`, str, bytes, `date`, `time`, `datetime` (with UTC for
    TIMESTAMP_LTZ), list, dict, tuple for ROW, None. `rows` can be iterated once. `format_rows`
    returns them as Flink prints them, None for NULL. Updated rows are `Change`; all
    others are insertions.
    """

    columns: tuple[tuple[str, DataType], ...]
    rows: Iterator[tuple[Any, ...]]
    format_rows: Callable[[], Iterator[tuple[str | None, ...]]]


class Registration:
    """How a CREATE or REPLACE TABLE AS changes the catalog. This class changes nothing.

    The environment overrides the methods; the planner calls them as the job's `AtomicityLevel`
    requires (`schema_core.environment.jobs.atomicity`).

    Args:
        atomic: The option ``table.rtas-ctas.atomicity-enabled``: a failed job leaves nothing
            visible, so a new table is stored with its pending job.
        replaced: The replaced table; unresolved if its functions or types are missing.
    """

    def __init__(
        self,
        *,
        atomic: bool = False,
        replaced: CatalogTable | None = None,
        id: str = "",  # noqa: A002 - what it is
    ) -> None:
        self.atomic = atomic
        self.replaced = replaced
        self.id = id

    def create(self) -> None:
        """Create the table, or replace the definition of `replaced`, in one operation."""

    def settle(self) -> None:
        """Remove the pending job from the table."""

    def undo(self) -> None:
        """Drop the new table, or restore the old definition; do nothing if others changed it."""

    def leave(self) -> None:
        """Keep the pending job: the rows could not be removed, or may be visible."""

    def owns(self) -> bool:
        """Return whether rows at the table's place are the job's, not a re-created table's."""
        return True


class Planner(Protocol):
    """An engine that runs queries, constructed by a call with a `PlannerContext`.

    Columns of a `query` are resolved; `PlannerContext.source` returns the table of a scan. What the
    engine cannot run as Flink would is an `UnsupportedError`, code `not-executable`, before
    anything is read or written; a failure while it runs is an `ExternalError`.

    Methods that return a `JobGraph` raise every error known before the job, and fix its
    configuration. The environment submits the job, which runs on another thread, or aborts it.
    """

    @property
    def identifier(self) -> str:
        """What the option ``table.planner`` names."""

    def select(self, query: Relation) -> Rows:
        """Plan a query: files are listed now, rows are computed when they are iterated."""

    def insert(
        self,
        query: Relation,
        target: BoundTable,
        *,
        columns: Sequence[str] | None = None,
        overwrite: bool = False,
        partition: Mapping[str, str] | None = None,
        on_conflict: str | None = None,
    ) -> JobGraph:
        """Prepare a job that writes a query into a table; see `JobGraph`.

        The query's columns fill, in order, the named `columns` or all persisted ones; others become
        NULL. Values are cast as on assignment. `overwrite` replaces the rows of the table or, if
        partitioned, of the partitions that get rows. The values of `partition`, the PARTITION
        clause, are columns of the query already: a partition named in full is replaced even without
        rows, as in Flink. `on_conflict` (DEDUPLICATE, NOTHING or ERROR) is what a streaming job
        does with rows of the query that have the same primary key; None if the connector replaces
        rows.
        """

    def create_as(
        self,
        query: Relation,
        target: BoundTable,
        registration: Registration,
        *,
        columns: Sequence[str] | None = None,
    ) -> JobGraph:
        """Prepare CREATE TABLE AS: register the table and write the query into it (FLIP-218)."""

    def explain(self, query: Relation, *, on_conflict: str | None = None) -> str:
        """Return the plan of the engine for a query, which `insert` may write."""


@runtime_checkable
class SupportsChangelogs(Protocol):
    """A planner of queries whose rows are updated; other planners only insert rows."""

    def changelog_modes(self, query: Relation) -> ChangesOf:
        """Return the changes of each part of a query, None for a part that is not run by itself.

        Raises:
            UnsupportedError: for a query that cannot be run.
        """


@runtime_checkable
class SupportsJobRecovery(Protocol):
    """A planner that detects and removes what jobs of ended processes left."""

    def was_committed(self, target: BoundTable, job: str) -> bool | None:
        """Return whether the rows of a CREATE TABLE AS are visible; None if unknown."""

    def clean_up(self, target: BoundTable, job: str) -> None:
        """Remove the rows that an unfinished CREATE TABLE AS has written."""

    def recover(self, target: BoundTable, job: str = "") -> None:
        """Finish what jobs on a table have committed, and remove the rest.

        `job` is the id of a CREATE or REPLACE TABLE AS that was finished or undone, if any.
        """


class RowChangeKind(Enum):
    """What a statement does with rows that fulfil its condition."""

    DELETE = "DELETE"
    UPDATE = "UPDATE"


@dataclass(frozen=True, slots=True)
class RowChange:
    """A DELETE or UPDATE.

    Attributes:
        kind: What is done with the rows.
        rows: All rows of the table: the persisted columns after the change, cast on assignment,
            and last whether the condition is TRUE for the row. A `Select` from a `Named` `Select`
            from the `Named` `Scan` of the table.
        columns: The columns that an UPDATE sets.
        condition: A `Select` from the same `Named` `Scan` with the condition, and the values that
            an UPDATE sets.
        has_condition: False without WHERE.
    """

    kind: RowChangeKind
    rows: Relation
    columns: tuple[str, ...]
    condition: Relation
    has_condition: bool = True


@runtime_checkable
class SupportsRowChanges(Protocol):
    """A planner that deletes and updates rows of tables."""

    def change_rows(self, change: RowChange, target: BoundTable) -> JobGraph:
        """Prepare the job of a DELETE or UPDATE: readers see the rows before it or after it.

        Raises:
            UnsupportedError: with code `unsupported-ability` if the connector of the table cannot
                change its rows.
        """

    def truncate(self, target: BoundTable) -> None:
        """Delete all rows of a table, in one commit.

        Raises:
            UnsupportedError: as `change_rows`.
        """


@runtime_checkable
class SupportsRefresh(Protocol):
    """A planner whose environment refreshes materialized tables, as Flink's SQL gateway does.

    Flink's ``TableEnvironment`` refuses these statements, and so does one with another planner.
    """

    @property
    def refreshes(self) -> bool:
        """Whether SUSPEND, RESUME, REFRESH and AS of ALTER MATERIALIZED TABLE are executed."""


class DifferenceKind(Enum):
    """What a row of one query differs in from those of another."""

    ONLY_LEFT = "only left"
    ONLY_RIGHT = "only right"
    DUPLICATE_KEY = "duplicate key"
    COLUMN = "different values"


@dataclass(frozen=True, slots=True)
class RowSample:
    """A difference: its kind, and a row of each side, None if the side has none.

    Values are the strings that Flink prints, None for NULL.
    `column` is the position of a column with other values. The counts are the numbers of rows with
    the key or, without a key, of equal rows.
    """

    kind: DifferenceKind
    column: int | None
    left: tuple[str | None, ...] | None
    right: tuple[str | None, ...] | None
    left_count: int
    right_count: int


@dataclass(frozen=True, slots=True)
class RowDifferences:
    """The differences between the rows of two queries.

    `equal` and `different` are numbers of pairs of rows; `by_column` has the number of different
    pairs for each column after the key. The rows of a key that a side has more than once are
    compared as a multiset, and the key is one of `duplicate_keys`.
    """

    equal: int
    different: int
    only_left: int
    only_right: int
    duplicate_keys: int
    by_column: tuple[int, ...]
    samples: tuple[RowSample, ...]


@runtime_checkable
class SupportsComparison(Protocol):
    """A planner that compares the rows of two queries."""

    def compare(
        self, left: Relation, right: Relation, *, key: int, compared: int, samples: int
    ) -> RowDifferences:
        """Compare the rows of two queries with the same types of columns.

        NULL equals NULL, NaN equals NaN, 0.0 equals -0.0, and the entries of maps have no order.

        Args:
            left: A query.
            right: Another query.
            key: The number of columns at the beginning that identify a row; 0 compares multisets.
            compared: The number of columns that are compared, with the key; samples have all.
            samples: The most samples of each kind, and of each column.

        Raises:
            UnsupportedError: with code `streaming-not-supported` for an unbounded table.
        """


@runtime_checkable
class SupportsCommitRecords(Protocol):
    """A planner whose jobs can be committed at most once: see `CommitRecord`."""

    def with_record(self, record: CommitRecord) -> Planner:
        """Return this planner for one job, which has the record.

        The job is an `UnsupportedError`, code `unsupported-ability`, before it starts if the
        connector of its table does not store records.
        """

    def has_record(self, target: BoundTable, record: CommitRecord) -> bool:
        """Return whether a table has the record of a job, or a later one of its sequence."""

    def ensure_storage(self, table: BoundTable) -> None:
        """Create the storage of a table that has none, so that it is read without rows."""


def fingerprint(table: CatalogTable) -> str:
    """Return a digest of a definition's meaning: equal digests read the same rows.

    Unresolved definitions never equal resolved ones.
    """
    import hashlib  # loads OpenSSL

    schema = getattr(table, "resolved_schema", None)
    content = (
        str(schema) if schema is not None else ("unresolved", str(table.schema)),
        tuple(table.partition_keys),
        tuple(sorted(table.options.items())),
    )
    return hashlib.sha256(repr(content).encode("utf-8", "backslashreplace")).hexdigest()


def find_planner(identifier: str, context: PlannerContext) -> Planner:
    """Return the installed planner with an identifier; errors as `plugins.require`."""
    planner: Planner = require(PLANNERS, identifier)(context)
    return planner
