"""The stages of a streaming query: `changelog_stages` plans them, `stage_runs` runs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Final, TypeAlias

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, format_path
from schema_core.expressions.typed import Constant, Ref
from schema_core.query import relation as relational
from schema_core.query.relation import Column, Item, Relation, Scan, SourceTable, relations_in
from schema_core.schema.resolved import ResolvedSchema
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.reading.pushdown import scan_demands
from schema_core.spark.reading.row_kinds import KIND
from schema_core.spark.streaming.group_windows import ANY, INPUT
from schema_core.spark.streaming.incremental import StreamPlan
from schema_core.sql.syntax import Literal, LiteralKind
from schema_core.types import BigIntType
from schema_core.types.temporal import TimestampKind, timestamp_kind

#: Prefix of the names of tables whose rows a stage reads or returns.
RESULT: Final = f"{PREFIX}result"
#: The column with the kind of a change that is a row.
KIND_OF_CHANGE: Final = Column(f"{PREFIX}kind", KIND.type)
#: The column that is true for new rows.
NEW: Final = Item(f"{PREFIX}new", ANY.expression)

#: The columns of an input with timers, after `NEW`: see `relational.TimerColumns`.
_NUMBER: Final = Constant(Literal(LiteralKind.EXACT, "0"), BigIntType())
ARRIVED_AT, REACHED, FIRES_UNTIL, KEY_NUMBER = (
    Item(f"{PREFIX}{name}", _NUMBER)
    for name in ("arrived_at", "reached", "fires_until", "key_number")
)
TIMERS: Final = (ARRIVED_AT, REACHED, FIRES_UNTIL, KEY_NUMBER)
#: The column of a result with the time of the next timer of a key.
NEXT_TIMER: Final = Column(f"{PREFIX}next_timer", BigIntType())

#: Positions of columns, of which the first that is not NULL is the value of a key.
KeyColumns: TypeAlias = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class SourceChanges:
    """The changes of an unbounded table.

    Attributes:
        inserts: Whether rows are only added.
        key: The columns by which updates are normalized: the row of a key replaces the former one.
        are_rows: Whether each change is a row that is added, with its kind as the last column.
    """

    inserts: bool = True
    key: tuple[str, ...] = ()
    are_rows: bool = False

    @property
    def have_kinds(self) -> bool:
        """Whether they are used as they are."""
        return not (self.inserts or self.key or self.are_rows)


#: The changes of a table whose rows are only added.
INSERTIONS: Final = SourceChanges()
#: The changes of a versioned table of changes.
VERSIONS: Final = SourceChanges(are_rows=True)


@dataclass(frozen=True, slots=True)
class VersionExpiry:
    """Which versions are kept: those that the watermark has not passed, and the last one before it.

    Attributes:
        key: The columns of the versioned table that identify what a version is of.
        time: Its rowtime.
        is_first: Whether only the first version of each key is kept instead.
    """

    key: tuple[str, ...]
    time: Column
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class TimeExpiry:
    """Which rows are kept: until the watermark has passed their time by `wait` milliseconds."""

    time: Column
    wait: int


@dataclass(frozen=True, slots=True)
class Input:
    """Rows that a stage reads where its query has `scan`.

    Attributes:
        scan: The scan.
        rows: The rows, with the columns of the key last. Columns of `scan` that are not read may
            be missing.
        key: The number of columns of the key.
        inserts: Whether rows are only added.
        is_ordered: Whether the query reads the rows in the order in which they arrived.
        expiry: Which of the rows are kept; None for all.
        arrival: The column that gets the time of the micro-batch in which a row arrives; None for
            none.
        is_use: Whether the rows are not read, but keep the other rows of their key from expiring.
    """

    scan: Scan
    rows: Relation
    key: int
    inserts: bool
    is_ordered: bool = False
    arrival: Column | None = None
    expiry: VersionExpiry | TimeExpiry | None = None
    is_use: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """An operation whose result is maintained by key.

    Attributes:
        query: The result for all rows of the inputs. Columns of the key follow those of `result`.
        inputs: The rows that it reads. Without columns of a key there is one key.
        key: The columns of the result that have the key.
        result: What later stages scan.
        inserts: Whether rows are only added to the result.
        name: The operation, as EXPLAIN shows it.
        complete: Whether all rows of a key arrive in one micro-batch: no rows are kept.
        drivers: The inputs, by position, of which each new row has its own rows in the result,
            which never change. They meet rows that arrived before, of inputs after theirs, or
            until now, of inputs before theirs. Empty if the result of a key may change.
        marked: Whether `query` computes the rows of the only input together, and its last column
            is true for the new ones.
        timers: The column with the rowtime of the only input, if its last columns are those of
            `TIMERS` and timers of a function fire by the watermark; see `timer_stages`.
        retention: For how many milliseconds the rows of a key without changes are kept; 0 is
            forever.
    """

    query: Relation
    inputs: tuple[Input, ...]
    key: KeyColumns
    result: Scan
    inserts: bool
    name: str
    complete: bool = False
    drivers: tuple[int, ...] = ()
    marked: bool = False
    retention: int = 0
    timers: Column | None = None

    @property
    def kept(self) -> tuple[int, ...]:
        """The inputs, by position, whose rows are kept."""
        places = tuple(range(len(self.inputs)))
        if self.complete:
            return ()
        if not self.drivers or self.marked:
            return places
        return tuple(place for place in places if {place} != {*self.drivers})

    def describe_state(self) -> str:
        """Return what is kept between micro-batches, as EXPLAIN shows it."""
        if not self.kept:
            rows = "nothing, all rows of a window arrive at once" if self.complete else "nothing"
            return f"{self.name}: {rows}"
        key = "by key" if self.inputs[0].key else "without a key, all of which are read each time"
        rows = "rows and result" if self.is_compared else "rows"
        time = "forever"
        expiries = {type(input_.expiry) for input_ in self.inputs}
        if VersionExpiry in expiries:
            rows, time = "versions", "until the watermark passes the next one"
        elif TimeExpiry in expiries:
            time = "until the watermark shows that no other row can match them"
        if self.retention:
            ttl = duration_of(self.retention)
            time = ttl if time == "forever" else f"{time}, and {ttl}"
        return f"{self.name}: {rows} {key}, {time}"

    @property
    def is_compared(self) -> bool:
        """Whether its result is kept, to be compared with a later one."""
        return not self.complete and not self.drivers


@dataclass(frozen=True, slots=True)
class Gate:
    """Rows that are returned when the watermark has passed their time; later ones are dropped.

    A gate of the processing time waits for the clock of the micro-batches instead. Then a change
    that removes a row is of the windows in which it arrives, and removes the row from these only.

    Attributes:
        input: The rows, which are only added.
        time: The column with the time: the end of a window, or a rowtime.
        is_end: Whether it is the end of a window, which lasts until a millisecond before.
        result: What later stages scan.
        name: The operation, as EXPLAIN shows it.
        windows: The window function over `input`, if the rows that wait are those of its result:
            of SESSION, whose windows later rows extend, and of the processing time.
        arrival: The column of `input` that gets the time of the micro-batch in which a row arrives,
            for windows of the processing time; None for a rowtime.
        keeps_late: Whether late rows are returned, too, and changes that remove rows.
        has_removals: Whether changes that remove rows of a session are returned, too.
        delay: For how many milliseconds rows wait after the watermark has passed their time: those
            of an interval join arrive later than the watermark of the sources.
    """

    input: Input
    time: Column
    is_end: bool
    result: Scan
    name: str
    windows: relational.WindowTable | None = None
    arrival: Column | None = None
    keeps_late: bool = False
    has_removals: bool = False
    delay: int = 0

    @property
    def inserts(self) -> bool:
        """Whether rows are only added to the result."""
        return self.input.inserts or not (self.keeps_late or self.has_removals)

    @property
    def apart(self) -> tuple[str, ...]:
        """The columns by which a row that is removed differs from the one that was added."""
        first = () if self.arrival is None else (self.arrival.name,)
        return tuple(dict.fromkeys((*first, *processing_times(self.result.columns))))

    @property
    def is_rewritten(self) -> bool:
        """Whether all rows that wait are written in each micro-batch."""
        return self.is_extended or (self.arrival is not None and not self.input.inserts)

    @property
    def is_extended(self) -> bool:
        """Whether later rows change the time of a row that waits."""
        return self.windows is not None and self.windows.function == "SESSION"

    def describe_state(self) -> str:
        """Return what is kept between micro-batches, as EXPLAIN shows it."""
        until = "their window" if self.is_end else "them"
        time = "watermark" if self.arrival is None else "clock"
        return f"{self.name}: rows, until the {time} passes {until}"

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The rows that it reads."""
        return (self.input,)

    @property
    def kept(self) -> tuple[int, ...]:
        """The inputs, by position, whose rows are kept."""
        return (0,)


@dataclass(frozen=True, slots=True)
class Conversion:
    """Rows that become changes, or changes that become rows: FROM_CHANGELOG and TO_CHANGELOG.

    Attributes:
        input: The rows or changes.
        function: The function, over the scan of `input`; None for changes as rows with their kind
            as the last column.
        key: The columns of an upsert key of the changes, None without one.
        by_change: The rows of `input` with the kinds of its changes; see `StagedQuery`.
        result: What later stages scan.
        inserts: Whether rows are only added to the result.
    """

    input: Input
    function: relational.ProcessTable | None
    key: tuple[str, ...] | None
    by_change: Relation | None
    result: Scan
    inserts: bool

    @property
    def name(self) -> str:
        """The operation, as EXPLAIN shows it."""
        return "changes as rows" if self.function is None else self.function.function

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The rows that it reads."""
        return (self.input,)

    @property
    def kept(self) -> tuple[int, ...]:
        """The inputs, by position, whose rows are kept: none."""
        return ()

    def describe_state(self) -> str:
        """Return what is kept between micro-batches, as EXPLAIN shows it."""
        return f"{self.name}: nothing"


#: A stage of any kind.
AnyStage: TypeAlias = Stage | Gate | Conversion


@dataclass(frozen=True, slots=True)
class Conflicts:
    """What rows of a query with the same primary key do: see `conflict_stage`.

    Attributes:
        action: DEDUPLICATE, NOTHING or ERROR.
        retention: For how many milliseconds the rows of a key without changes are kept; 0 is
            forever.
    """

    action: str
    retention: int

    @property
    def wait(self) -> bool:
        """Whether changes wait until the watermark advances."""
        return self.action != "DEDUPLICATE"

    def describe_state(self) -> str:
        """Return what is kept between micro-batches, as EXPLAIN shows it."""
        rows = "rows by key"
        if self.wait:
            rows = "changes, until the watermark advances, and the row of each key"
        return f"ON CONFLICT DO {self.action}: {rows}, {duration_of(self.retention)}"


def duration_of(retention: int) -> str:
    """Return how long the rows of a key are kept, as EXPLAIN shows it."""
    if not retention:
        return "forever"
    return f"for {timedelta(milliseconds=retention)} after the last change of a key"


@dataclass(frozen=True, slots=True)
class StagedQuery:
    """A query of unbounded tables as stages.

    Attributes:
        query: The rows of the result by row, from the sources and the results of stages.
        stages: The stages; each reads sources and results of those before it.
        timed: The sources, by position, whose watermarks the gates wait for.
        sources: The scans of unbounded tables.
        changes: The changes of each source.
        by_change: The query with the kinds of its changes, if it returns a change, of the same
            kind, for each change of a source; None otherwise.
        operators: Scans of the windows that Spark's own operators return, and their plans.
        bounded: Scans of rows that arrive with the first micro-batch, and these rows.
        inserts: Whether rows are only added to the result.
        parts: Whether the rows of parts of the query, by identity, are only added. Parts that are
            only computed with others are left out.
        conflicts: What rows with the primary key of the table do; None if nothing is compared.
    """

    query: Relation
    stages: tuple[AnyStage, ...]
    timed: tuple[int, ...]
    sources: tuple[Scan, ...]
    changes: tuple[SourceChanges, ...]
    by_change: Relation | None
    operators: tuple[tuple[Scan, StreamPlan], ...]
    bounded: tuple[tuple[Scan, Relation], ...]
    inserts: bool
    parts: Mapping[int, bool]
    conflicts: Conflicts | None = None

    @property
    def has_state(self) -> bool:
        """Whether rows are kept between micro-batches."""
        return bool(self.stages or self.normalized_sources or self.operators or self.conflicts)

    @property
    def has_clock(self) -> bool:
        """Whether rows wait for the processing time."""
        return any(isinstance(stage, Gate) and stage.arrival is not None for stage in self.stages)

    def describe_state(self) -> list[str]:
        """Return what is kept between micro-batches, as EXPLAIN shows it."""
        tables = [
            format_path(self.sources[place].table.identifier) for place in self.normalized_sources
        ]
        return [
            *(line for _, plan in self.operators for line in plan.describe_state()),
            *(f"{table}: the last row of each key, forever" for table in tables),
            *(stage.describe_state() for stage in self.stages),
            *([] if self.conflicts is None else [self.conflicts.describe_state()]),
        ]

    @property
    def normalized_sources(self) -> list[int]:
        """The sources, by position, whose updates are normalized by their key."""
        return [place for place, changes in enumerate(self.changes) if changes.key]

    def relations_by_row(self) -> Iterator[Relation]:
        """Yield the relations whose changes are computed by row."""
        for stage in self.stages:
            if not isinstance(stage, Conversion) or stage.by_change is None:
                yield from (input_.rows for input_ in stage.inputs)
        if self.by_change is None:
            yield self.query

    def relations_in_order(self) -> Iterator[Relation]:
        """Yield the relations whose changes are computed in their order."""
        for stage in self.stages:
            if isinstance(stage, Conversion) and stage.by_change is not None:
                yield stage.input.rows
        if self.by_change is not None:
            yield self.query

    @property
    def reads_sources_again(self) -> bool:
        """Whether the new rows of sources are read more than once in a micro-batch."""
        scans = {id(scan) for scan in (*self.sources, *(scan for scan, _ in self.operators))}
        relations = [*(input_.rows for input_ in self.inputs()), self.query]
        parts = (part for relation in relations for part in relations_in(relation))
        count = sum(id(part) in scans for part in parts)
        has_messages = any(not own.inserts or own.are_rows for own in self.changes)
        return count > 1 or bool(self.timed or self.ordered_sources) or has_messages

    @property
    def ordered_sources(self) -> frozenset[int]:
        """The sources, by position, whose rows stages read in the order in which they arrive."""
        ordered = (input_.rows for input_ in self.inputs() if input_.is_ordered)
        read = {id(part) for rows in ordered for part in relations_in(rows)}
        return frozenset(
            place
            for place, scan in enumerate(self.sources)
            if id(scan) in read and self.changes[place] == INSERTIONS
        )

    def inputs(self) -> Iterator[Input]:
        """Yield the rows that stages read."""
        for stage in self.stages:
            yield from stage.inputs

    def columns_read(self) -> list[tuple[Scan, frozenset[str]]]:
        """Return the sources, and the names of the columns that are read of each."""
        demands: dict[int, frozenset[str]] = {}
        rows = [input_.rows for input_ in self.inputs()]
        for relation in (*rows, self.query):
            for scan, demand in scan_demands(relation).items():
                demands[scan] = demands.get(scan, frozenset()).union(demand.columns)
        whole = {id(part) for part in (*rows, self.query) if isinstance(part, Scan)}
        return [
            (scan, demands[id(scan)].union(changes.key))
            if id(scan) in demands and id(scan) not in whole
            else (scan, frozenset(column.name for column in scan.columns))
            for scan, changes in zip(self.sources, self.changes, strict=True)
        ]


def processing_times(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the names of columns with the processing time, which no two changes have in common."""
    return tuple(
        column.name for column in columns if timestamp_kind(column.type) is TimestampKind.PROCTIME
    )


def scan_of(columns: Sequence[Column], number: object) -> Scan:
    """Return a scan with columns."""
    names, types = [column.name for column in columns], [column.type for column in columns]
    identifier = ObjectIdentifier.of("", "", f"{RESULT}{number}")
    return Scan(SourceTable(identifier, ResolvedSchema.physical(names, types)), tuple(columns))


def scan_with_kind(columns: Sequence[Column]) -> Scan:
    """Return a scan of changes, with `KIND` as its last column."""
    return scan_of([*columns, KIND], RESULT)


def columns_read(scan: Scan, names: frozenset[str]) -> relational.Select:
    """Return the query of some columns of a scan."""
    columns = [column for column in scan.columns if column.name in names]
    items = [Item(column.name, Ref(column.name, column.type, INPUT)) for column in columns]
    return relational.Select(tuple(items) or (ANY,), relational.Named(scan, INPUT, scan.columns))


def all_columns(scan: Scan) -> relational.Select:
    """Return the query of all columns of a scan."""
    return columns_read(scan, frozenset(column.name for column in scan.columns))
