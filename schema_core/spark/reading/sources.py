"""The rows of a table that a connector reads: checked, cast, and with computed columns.

A connector may be third-party code: its frame's session, columns and Spark types are checked before
the query is compiled. Metadata is cast to its columns' types, and NOT NULL is checked.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.catalog.partition_filters import prune_partitions
from schema_core.environment.connector import Ability
from schema_core.errors import (
    ExternalError,
    Gathering,
    SchemaError,
    UnsupportedError,
    at,
    similar,
)
from schema_core.errors.hints import BOUND_TABLE
from schema_core.expressions.comparisons import Comparison
from schema_core.expressions.field_paths import (
    ENTIRE,
    ColumnPath,
    FieldPath,
    Fields,
    merge_fields,
    ordered_paths,
    values_read,
)
from schema_core.mappings.spark.pyspark_types import to_spark, to_spark_sql
from schema_core.schema.columns import Column, ComputedColumn, MetadataColumn, PhysicalColumn
from schema_core.schema.resolved import ResolvedSchema
from schema_core.spark.changelog import (
    CHANGE_ORDER,
    ROW_KIND,
    SupportsChangelogRead,
    SupportsChangelogStream,
    adds_row,
    has_changes,
    read_changes,
    read_state,
)
from schema_core.spark.compiler.expression import (
    TranslationContext,
    compile_expression,
    from_physical,
    to_physical,
)
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.row_fields import with_fields
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import NULL, Cast, NamedNode, quote
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.connector import (
    ReadContext,
    SortOrder,
    SparkConnector,
    SupportsFilterPushDown,
    SupportsLookup,
    SupportsReuse,
    SupportsStatisticReport,
    SupportsStreamingRead,
    TopN,
    metadata_column,
    raw_column,
    reads_nested_fields,
)
from schema_core.spark.filters import Filter, FilterResult
from schema_core.spark.reading.pushdown import ScanDemand
from schema_core.spark.session.api_mode import is_connect, is_same_session
from schema_core.spark.session.frames import select
from schema_core.spark.session.session import create_view, drop_view
from schema_core.spark.writing.row_checks import require_not_null
from schema_core.types import DataType, TimestampType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType as SparkType

    from schema_core.base.paths import ObjectIdentifier
    from schema_core.catalog.objects import CatalogPartitionSpec
    from schema_core.environment.planner import BoundTable
    from schema_core.expressions.typed import Ref, Typed
    from schema_core.spark.connector import (
        Aggregation,
        ReadContext,
        SparkConnector,
        SupportsAggregatePushDown,
        SupportsPartitionPushDown,
        SupportsTopNPushDown,
    )
    from schema_core.spark.reading.pushdown import ScanDemand


class Source(NamedTuple):
    """All columns of a table, in order, and the raw columns of those in `raw`.

    `version` identifies the data before it was read; None if not comparable.
    """

    frame: DataFrame
    raw: tuple[str, ...] = ()
    version: object | None = None


def source_frame(  # noqa: PLR0913 - one argument for each way to read
    connector: SparkConnector,
    context: ReadContext,
    needed: Collection[str] | None = None,
    database: str | None = None,
    *,
    streams: bool = False,
    further: Sequence[str] = (),
    kinds: bool = False,
    as_versions: bool = False,
    looks_up: bool = False,
    messages: DataFrame | None = None,
) -> Source:
    """Return all columns of a table, in order, as its connector reads them; NULL if not `needed`.

    Errors are those of `checked_frame`, and `streaming-not-supported` without streams.

    Args:
        connector: The table's connector.
        context: What to read.
        needed: The columns that the query reads; None for all.
        database: The current database, whose functions computed columns may call.
        streams: Whether a streaming job reads an unbounded table.
        further: Keys of metadata that are columns of the frame as well, after the others.
        kinds: Whether the table's changes are returned, with `ROW_KIND` as the last column, instead
            of the rows that they leave; those of `messages` are followed by `CHANGE_ORDER`.
        as_versions: Whether a join reads the changes as versions.
        looks_up: Whether a join reads the table as of the processing time.
        messages: The messages of a micro-batch that hold the changes: see `message_stream`.
    """
    columns = context.table.resolved_schema.columns
    used = {column.name for column in columns} if needed is None else columns_used(context, needed)
    metadata = {metadata_column(key): type_ for key, type_ in context.metadata.items()}
    declared = {**context.columns, **metadata}
    unused = context.physical_columns.keys() - context.columns.keys()
    names = {column.name for column in columns}
    raws = {raw_column(name): name for name in context.columns if raw_column(name) not in names}
    version = None if streams else _data_version(connector, context)
    read, reported = _read(
        connector,
        context,
        used,
        streams=streams,
        kinds=kinds,
        as_versions=as_versions,
        looks_up=looks_up,
        messages=messages,
    )
    parts = (ROW_KIND,) if messages is None else (ROW_KIND, CHANGE_ORDER)
    own: list[NamedNode] = [(ColumnNode(name), name) for name in parts] if kinds else []
    ignored = {*unused, *raws.keys(), ROW_KIND, CHANGE_ORDER}
    frame = checked_frame(read, declared, connector.identifier, context.session, ignored)
    raw = tuple(raws[field.name] for field in frame.schema.fields if field.name in raws)
    without_null = {field.name for field in frame.schema.fields if not field.nullable}
    without_null.update(reported)
    stored = [
        _null_column(column)
        if column.name not in used
        else _cast_metadata(column, context.metadata[column.key], context.zone)
        if isinstance(column, MetadataColumn)
        else _check_physical(column, declared, without_null, has_tombstones=kinds and streams)
        for column in columns
        if not isinstance(column, ComputedColumn)
    ]
    others = [*map(raw_column, raw), *map(metadata_column, further)]
    raw_columns: list[NamedNode] = [(ColumnNode(name), name) for name in others]
    raw_columns += own
    frame = select(frame, [*stored, *raw_columns])
    if len(stored) < len(columns):
        computed = (
            _compute_column(column, context.zone, database)
            if column.name in used
            else _null_column(column)
            for column in columns
        )
        frame = select(frame, [*computed, *raw_columns])
    return Source(frame, raw, version)


def _read(
    connector: SparkConnector,
    context: ReadContext,
    used: Collection[str],
    *,
    streams: bool,
    kinds: bool,
    as_versions: bool,
    looks_up: bool,
    messages: DataFrame | None,
) -> tuple[DataFrame, Collection[str]]:
    """Return what a connector reads, and the columns that it reports without NULL."""
    if streams and (kinds or has_changes(connector, context.options)):
        changing = cast("SupportsChangelogStream", connector)
        if messages is None:  # for EXPLAIN, which does not run them
            messages = message_stream(connector, context)
        return changing.decode_messages(messages, context), ()
    if kinds:
        changed = cast("SupportsChangelogRead", connector)
        return read_changes(changed, context, used, as_versions=as_versions), ()
    if streams:
        if not isinstance(connector, SupportsStreamingRead):
            raise _boundedness_error(connector, "unbounded tables")
        return connector.read_stream(context), ()
    if has_changes(connector, context.options):
        return read_state(connector, context), ()
    if looks_up and isinstance(connector, SupportsLookup):
        return connector.look_up(context), ()
    if isinstance(connector, SupportsStatisticReport):
        return connector.read_with_statistics(context)
    return connector.read(context), ()


def message_stream(connector: SparkConnector, context: ReadContext) -> DataFrame:
    """Return the messages of an unbounded table of changes (`streaming-not-supported`)."""
    if not isinstance(connector, SupportsChangelogStream):
        raise _boundedness_error(connector, "the changes of unbounded tables")
    return connector.read_messages(context)


def _boundedness_error(connector: SparkConnector, rows: str) -> UnsupportedError:
    """Return the error for rows that a connector cannot read without an end."""
    return UnsupportedError(
        f"the connector {connector.identifier!r} cannot read {rows}",
        code="streaming-not-supported",
        hint=BOUND_TABLE,
    )


def _null_column(column: Column) -> NamedNode:
    return Cast(NULL, to_spark_sql(column.data_type)), column.name


def _check_physical(
    column: Column,
    read: Mapping[str, DataType],
    without_null: set[str],
    *,
    has_tombstones: bool = False,
) -> NamedNode:
    """Return a column with the check of NOT NULL, which a change that removes a row may lack.

    Fields of rows that are not in the types of the columns that were `read` are NULL.
    """
    type_, value = read[column.name], ColumnNode(column.name)
    is_nullable = column.data_type.is_nullable or column.name in without_null
    node = require_not_null(value, type_.with_nullability(is_nullable), column.name)
    if has_tombstones and node != value:
        parts = {"adds": adds_row(ColumnNode(ROW_KIND)), "checked": node, "value": value}
        node = inline("if({adds}, {checked}, {value})", **parts)
    return with_fields(node, type_, column.data_type), column.name


def _cast_metadata(column: MetadataColumn, given: DataType, zone: str) -> NamedNode:
    type_ = column.data_type
    with at(f"column {column.name!r}"):
        value = from_physical(ColumnNode(metadata_column(column.key)), given)
        node = to_physical(convert(value, given.nullable(), type_.nullable(), zone), type_)
    # a cast that does not fail keeps NOT NULL
    return require_not_null(
        node, type_ if given.is_nullable else type_.nullable(), column.name
    ), column.name


def _compute_column(column: Column, zone: str, database: str | None) -> NamedNode:
    if not isinstance(column, ComputedColumn):
        return ColumnNode(column.name), column.name
    context = TranslationContext(
        zone, lambda ref: from_physical(ColumnNode(ref.name), ref.type), database=database
    )
    with at(f"column {column.name!r}"):
        node = compile_expression(column.expression.typed, context)
    return to_physical(node, column.data_type, column.name), column.name


# --- frames of connectors ------------------------------------------------------------------------


def checked_frame(
    given: object,
    declared: Mapping[str, DataType],
    connector: str,
    session: SparkSession,
    ignored: Collection[str] = (),
) -> DataFrame:
    """Return what a connector's `read` returned, if it is a frame of the declared columns.

    Columns are matched by name, with case; nullability, metadata and `ignored` columns are not
    compared. Every column that is missing, extra, ambiguous or of another type, and what is not a
    frame of this session, is an `schema-mismatch`.
    """
    frame = _frame_of(given, connector, session)
    problems = Gathering()
    for problem in _problems(frame, declared, connector, ignored):
        with problems.catching():
            raise problem
    problems.raise_all()
    return frame


def _frame_of(frame: object, connector: str, session: SparkSession) -> DataFrame:
    from pyspark.sql import DataFrame

    if not isinstance(frame, DataFrame):
        raise ExternalError(
            f"connector {connector!r} returned {type(frame).__name__!r} from read, "
            "expected a DataFrame of Spark",
            code="schema-mismatch",
        )
    if not is_same_session(frame, session):
        raise ExternalError(
            f"connector {connector!r} returned a DataFrame of another Spark session",
            code="schema-mismatch",
            hint="create the frame with the session that read receives",
        )
    return frame


def _problems(
    frame: DataFrame, declared: Mapping[str, DataType], connector: str, ignored: Collection[str]
) -> Iterator[ExternalError]:
    """Yield every difference between a frame's columns and the declared ones."""
    from pyspark.sql.types import StructType

    read = {field.name: field.dataType for field in frame.schema.fields}
    expected = {name: to_spark(type_) for name, type_ in declared.items()}
    for name, count in Counter(frame.columns).items():
        if count > 1:
            yield _problem(connector, f"column {name!r} {count} times")
    for name, type_ in expected.items():
        if name not in read:
            problem = f"no column {name!r}, expected one of type {type_.simpleString()}"
            extra = [other for other in read if other not in expected and other not in ignored]
            yield _problem(connector, problem, similar(name, extra))
        elif comparable(read[name]) != comparable(type_):
            actual = read[name].simpleString()
            problem = f"column {name!r} of type {actual}, expected {type_.simpleString()}"
            hint = f"cast the column in read: {quote(name)} AS {type_.simpleString().upper()}"
            if isinstance(type_, StructType):
                hint = "return rows with the fields of `ReadContext.spark_schema`"
            yield _problem(connector, problem, hint)
    for name in (name for name in read if name not in expected and name not in ignored):
        yield _problem(connector, f"column {name!r}, which the table does not have")


def _problem(connector: str, what: str, hint: str | None = None) -> ExternalError:
    problem = f"connector {connector!r} returned {what}"
    return ExternalError(problem, code="schema-mismatch", hint=hint)


def comparable(type_: SparkType) -> object:
    """Return a Spark type for comparison: without nullability and lengths of strings."""
    from pyspark.sql import types

    match type_:
        case types.StructType(fields=fields):
            return [(field.name, comparable(field.dataType)) for field in fields]
        case types.ArrayType():
            return ("array", comparable(type_.elementType))
        case types.MapType():
            return ("map", comparable(type_.keyType), comparable(type_.valueType))
        case types.CharType() | types.VarcharType():
            return types.StringType().simpleString()
        case _:
            return type_.simpleString()


# --- what is requested of a connector -----------------------------------------------------------


def read_context(
    connector: SparkConnector, context: ReadContext, demand: ScanDemand
) -> ReadContext:
    """Return a scan's context with the columns, filters and limit that the connector can use.

    Only what a connector declares that it can push down is offered to it, and nothing for a table
    of changes. Unread metadata is never requested; a limit is passed on only if the connector
    applies all filters exactly, and the first rows are offered if all filters are exact.
    Errors: `schema-mismatch`.
    """
    used = fields_used(context, demand.columns)
    schema = context.table.resolved_schema
    keys = {
        column.key
        for column in schema.columns
        if isinstance(column, MetadataColumn)
        if column.name in used
    }
    metadata = {key: type_ for key, type_ in context.metadata.items() if key in keys}
    context = replace(context, metadata=metadata)
    if has_changes(connector, context.options):
        return context
    if Ability.PROJECTION_PUSH_DOWN in connector.abilities:
        context = _project(connector, context, used)
    filters = tuple(Filter(filter_, context.zone) for filter_ in demand.filters)
    context, remaining = _push_filters(connector, context, filters)
    is_exact = not remaining and all(filter_.is_exact for filter_ in filters)
    if demand.order:
        return replace(context, top_n=_push_top_n(connector, context, demand, filters, remaining))
    if Ability.LIMIT_PUSH_DOWN in connector.abilities and is_exact:
        context = replace(context, limit=demand.limit)
    return context


def _project(
    connector: SparkConnector, context: ReadContext, used: Mapping[str, Fields]
) -> ReadContext:
    """Return the context with the columns that a query uses, and their fields if these are read."""
    physical = context.physical_columns
    names = tuple(name for name in physical if name in used)
    if not names and not context.metadata:  # rows of no columns cannot be represented everywhere
        names = tuple(physical)[:1]
    context = replace(context, projection=names)
    if not reads_nested_fields(connector, context):
        return context
    paths = tuple(
        (name, *path)
        for name in names
        for path in ordered_paths(physical[name], used.get(name, ENTIRE))
    )
    return replace(context, projected_fields=paths)


def _push_top_n(
    connector: SparkConnector,
    context: ReadContext,
    demand: ScanDemand,
    filters: tuple[Filter, ...],
    remaining: Collection[Filter],
) -> TopN | None:
    """Return the first rows that a query needs; None if its connector does not find them."""
    abilities = connector.abilities
    if demand.limit is None or Ability.TOP_N_PUSH_DOWN not in abilities:
        return None
    if not all(filter_.is_exact for filter_ in filters):
        return None
    if remaining and Ability.FILTER_PUSH_DOWN in abilities:
        return None
    order = tuple(
        SortOrder(
            cast("Ref", key.expression).name,
            key.descending,
            key.descending if key.nulls_last is None else key.nulls_last,
        )
        for key in demand.order
    )
    top_n = TopN(order, demand.limit, filters)
    pushing = cast("SupportsTopNPushDown", connector)
    return top_n if pushing.apply_top_n(top_n, context) else None


def _push_filters(
    connector: SparkConnector, context: ReadContext, filters: tuple[Filter, ...]
) -> tuple[ReadContext, tuple[Filter, ...]]:
    """Return the context with the accepted filters and partitions, and the filters that remain."""
    remaining = filters
    accepts = Ability.FILTER_PUSH_DOWN in connector.abilities
    if filters and accepts and isinstance(connector, SupportsFilterPushDown):
        result = _checked_result(connector.apply_filters(filters, context), filters, connector)
        context, remaining = replace(context, filters=result.accepted), result.remaining
    predicates = [filter_.expression for filter_ in filters]
    partitions = _select_partitions(connector, context, predicates)
    return replace(context, partitions=partitions), remaining


def aggregate_context(
    connector: SparkConnector, context: ReadContext, aggregation: Aggregation
) -> ReadContext | None:
    """Return the context of a read of aggregates; None if the connector does not compute them.

    Errors are those of `read_context`.
    """
    abilities = connector.abilities
    if Ability.AGGREGATE_PUSH_DOWN not in abilities or has_changes(connector, context.options):
        return None
    context, remaining = _push_filters(connector, context, aggregation.filters)
    if remaining and Ability.FILTER_PUSH_DOWN in abilities:
        return None
    pushing = cast("SupportsAggregatePushDown", connector)
    if not pushing.apply_aggregates(aggregation, context):
        return None
    return replace(context, metadata={}, aggregation=aggregation)


def aggregated_frame(connector: SparkConnector, context: ReadContext) -> DataFrame:
    """Return the aggregates that a connector computes, by the columns of the context.

    Errors are those of `checked_frame`.
    """
    columns = context.columns
    read = connector.read(context)
    frame = checked_frame(read, columns, connector.identifier, context.session)
    return select(frame, [(ColumnNode(name), name) for name in columns])


def _select_partitions(
    connector: SparkConnector, context: ReadContext, filters: Sequence[Typed]
) -> tuple[CatalogPartitionSpec, ...] | None:
    """Return the partitions that filters select, None for all.

    Errors: `schema-mismatch` for a partition with other keys than the table's.
    """
    keys = context.table.partition_keys
    if Ability.PARTITION_PUSH_DOWN not in connector.abilities or not keys or not filters:
        return None
    listed = cast("SupportsPartitionPushDown", connector).list_partitions(context)
    if listed is None:
        return None
    wrong = [spec for spec in listed if {*spec.get_partition_spec()} != {*keys}]
    if wrong:
        raise SchemaError(
            f"the connector {connector.identifier!r} returned the partition {wrong[0]}, expected "
            f"the keys {', '.join(map(repr, keys))}",
            code="schema-mismatch",
        )
    return tuple(prune_partitions(context.table, listed, filters))


def columns_used(context: ReadContext, names: Collection[str]) -> Collection[str]:
    """Return these columns and those that their computed ones read."""
    return fields_used(context, dict.fromkeys(names, ENTIRE))


def fields_used(context: ReadContext, columns: Mapping[str, Fields]) -> dict[str, Fields]:
    """Return the fields of columns that are read, and those that their computed ones read."""
    computed = {
        column.name: column.expression.typed
        for column in context.table.resolved_schema.columns
        if isinstance(column, ComputedColumn)
    }
    used: dict[str, Fields] = {}
    rest: list[tuple[str, Collection[FieldPath]]] = [*columns.items()]
    while rest:
        name, fields = rest.pop()
        if name in computed and name not in used:
            rest += (
                (path.column.name, {path.fields})
                for path in values_read([computed[name]])
                if isinstance(path, ColumnPath)
            )
        used = merge_fields(used, {name: fields})
    return used


def _checked_result(
    result: object, filters: Sequence[Filter], connector: SparkConnector
) -> FilterResult:
    """Return what `apply_filters` returned, if each filter is accepted or remains."""
    if isinstance(result, FilterResult):
        named = [*result.accepted, *result.remaining]
        if all(filter_ in named for filter_ in filters) and all(
            source in filters for source in named
        ):
            return result
    raise ExternalError(
        f"connector {connector.identifier!r} returned a wrong result from apply_filters",
        code="schema-mismatch",
        hint="return FilterResult.split(filters, ...), in which each filter is accepted or remains",
    )


# --- conditions on raw values -------------------------------------------------------------------
# TIMESTAMP(3) is read by truncating microseconds, and a reader of files cannot use a filter on the
# result. `t < TIMESTAMP '...12.345'` holds exactly where the file's value is before the first
# millisecond not before 12.345, so a reader can skip rows by `raw_column`.


def with_raw_conditions(
    view: str, schema: ResolvedSchema, raw: Collection[str], filters: Iterable[Filter]
) -> str:
    """Return SQL of a view's rows that `filters` may select, without its `raw` columns.

    The query evaluates the filters as well. The view has the columns of `schema` and the raw ones.
    """
    if not raw:
        return view
    types = {column.name: column.data_type for column in schema.columns if column.name in raw}
    conditions = sorted(
        {condition for each in filters for condition in _conditions(each.comparison, types)}
    )
    names = ", ".join(quote(column.name) for column in schema.columns)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"(SELECT {names} FROM {view}{where})"


def _conditions(comparison: Comparison | None, types: dict[str, DataType]) -> Iterator[str]:
    """Yield what holds for a raw value where a comparison is TRUE, or a check of NULL fails."""
    if comparison is None or not isinstance(type_ := types.get(comparison.column), TimestampType):
        return
    name = quote(raw_column(comparison.column))
    null = "" if type_.is_nullable else f" OR {name} IS NULL"
    unit = 10 ** (6 - type_.precision)
    for operator, value in _comparisons(comparison):
        if first := _first(value, unit, after=operator in (">", "<=")):
            yield f"({name} {'<' if operator in ('<', '<=') else '>='} {first}{null})"


def _comparisons(comparison: Comparison) -> Iterator[tuple[str, dt.datetime]]:
    """Yield the orders that follow from a comparison."""
    operator, value = comparison.operator, comparison.value
    match operator:
        case "<" | "<=" | ">" | ">=":
            yield operator, value
        case "=":
            yield from ((">=", value), ("<=", value))
        case "BETWEEN":
            yield from ((">=", value[0]), ("<=", value[1]))
        case "IN":
            yield from ((">=", min(value)), ("<=", max(value)))
        case _:
            return


def _first(value: dt.datetime, unit: int, *, after: bool) -> str | None:
    """Return the first multiple of so many microseconds after, or not before, a time.

    None beyond year 9999.
    """
    rest = value.microsecond % unit
    start = value - dt.timedelta(microseconds=rest)
    try:
        first = start + dt.timedelta(microseconds=unit) if rest or after else start
    except OverflowError:
        return None
    return f"TIMESTAMP_NTZ '{first.isoformat(' ')}'"


# --- cached views --------------------------------------------------------------------------------
# A view saves listing and checking the files and analysing the frame again. It is reused if the
# table's definition, the configuration, the time zone and what was pushed into the connector are
# equal, and the connector finds its data unchanged (`SupportsReuse`). See decision 22.


#: Views that an environment keeps, each with its list of files in the JVM.
MAX_KEPT: Final = 64

#: Abilities that make a frame depend on the query.
_OF_QUERY: Final = frozenset(
    {
        Ability.FILTER_PUSH_DOWN,
        Ability.PROJECTION_PUSH_DOWN,
        Ability.LIMIT_PUSH_DOWN,
        Ability.TOP_N_PUSH_DOWN,
        Ability.PARTITION_PUSH_DOWN,
    }
)


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """All that a scan depends on besides the data; `derived` are its columns that are not physical.

    `looks_up` is whether a join reads the table as of the processing time. Physical columns do not
    matter: Spark reads only those that a query uses.
    """

    identifier: ObjectIdentifier
    is_temporary: bool
    zone: str
    derived: frozenset[str]
    database: str | None
    configuration: Mapping[str, str]
    bound: BoundTable
    looks_up: bool = False

    @classmethod
    def of(
        cls,
        bound: BoundTable,
        demand: ScanDemand | None,
        configuration: Mapping[str, str],
        zone: str,
        database: str | None,
        *,
        looks_up: bool = False,
    ) -> ScanRequest:
        columns = bound.table.resolved_schema.columns
        derived = frozenset(
            column.name for column in columns if not isinstance(column, PhysicalColumn)
        )
        if demand is not None:
            derived = derived.intersection(demand.columns)
        settings = dict(configuration)
        identifier, is_temporary = bound.identifier, bound.is_temporary
        return cls(identifier, is_temporary, zone, derived, database, settings, bound, looks_up)

    @property
    def columns(self) -> frozenset[str]:
        """The view's columns: all physical ones, and the derived ones that the query reads."""
        columns = self.bound.table.resolved_schema.columns
        return self.derived.union(
            column.name for column in columns if isinstance(column, PhysicalColumn)
        )


@dataclass(slots=True, eq=False)
class KeptScan:
    """A view, and its frame's connector and data version.

    `demand` is of the query whose needs the frame has; None if it serves every query. `users`
    counts queries being compiled.
    """

    request: ScanRequest
    demand: ScanDemand | None
    connector: SupportsReuse
    context: ReadContext
    name: str
    raw: tuple[str, ...]
    version: object
    users: int = 0
    is_kept: bool = True

    def serves(self, request: ScanRequest, demand: ScanDemand | None) -> bool:
        """Return whether the view has what a query needs, if the data are unchanged."""
        return self.request == request and self.demand in (None, demand)


def serves_every_query(connector: SparkConnector) -> bool:
    """Return whether the frames of a connector are kept, and the same for every query."""
    # `isinstance` checks all members of the protocol
    return not connector.abilities & _OF_QUERY and hasattr(connector, "data_version")


def _data_version(connector: SparkConnector, context: ReadContext) -> object | None:
    return connector.data_version(context) if isinstance(connector, SupportsReuse) else None


class ScanCache:
    """The views of one environment, in one session at a time; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: SparkSession | None = None
        #: from the least to the most recently used
        self._kept: list[KeptScan] = []

    def find(
        self, session: SparkSession, request: ScanRequest, demand: ScanDemand | None
    ) -> KeptScan | None:
        """Return the view of a scan with unchanged data; the caller must release it."""
        with self._lock:
            self._enter(session)
            match = next((entry for entry in self._kept if entry.serves(request, demand)), None)
            if match is None:
                return None
            self._kept.remove(match)
            self._kept.append(match)
            match.users += 1
        try:
            is_unchanged = match.connector.data_version(match.context) == match.version
        except BaseException:
            self.release(match)
            raise
        if is_unchanged:
            return match
        with self._lock:
            self._forget(match)
        self.release(match)
        return None

    def add(
        self,
        request: ScanRequest,
        demand: ScanDemand | None,
        connector: SparkConnector,
        context: ReadContext,
        source: Source,
    ) -> KeptScan | None:
        """Keep a scan's frame as a view, unless it may differ between queries; see `find`."""
        version = source.version
        if version is None or not isinstance(connector, SupportsReuse):
            return None
        if serves_every_query(connector):
            demand = None
        elif demand is None:
            return None
        if not connector.is_versioned and connector.data_version(context) != version:
            return None
        if not is_deterministic(source.frame):
            return None
        view = create_view(source.frame)
        kept = KeptScan(request, demand, connector, context, view, source.raw, version, users=1)
        with self._lock:
            self._enter(context.session)
            for old in [entry for entry in self._kept if entry.serves(request, demand)]:
                self._forget(old)
            self._kept.append(kept)
            if len(self._kept) > MAX_KEPT:
                self._forget(self._kept[0])
        return kept

    def release(self, kept: KeptScan) -> None:
        """End the use of a view; drop it if it is no longer kept."""
        with self._lock:
            kept.users -= 1
            self._drop_unused(kept)

    def _enter(self, session: SparkSession) -> None:
        """Forget the views of another session, whose SparkContext was stopped."""
        if self._session is not session:
            for entry in self._kept:
                entry.is_kept = False
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

    Unknown over Spark Connect.
    """
    if is_connect(frame):
        return False
    return bool(frame._jdf.queryExecution().analyzed().deterministic())  # noqa: SLF001
