"""The connector `jdbc`: tables of databases, read by Spark's JDBC source and upserted by key.

Options are those of Flink's connector. Columns stay plain attributes, so that Spark sends
predicates to the database, except on strings of SQLite, which compares them differently. Rows are
staged in a table of their own, and merged into the target in one transaction.
"""

from __future__ import annotations

import datetime as dt
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from schema_core.base.arguments import require_instance
from schema_core.base.paths import join_names
from schema_core.base.text import quote_string
from schema_core.connectors.jdbc import dialects
from schema_core.connectors.jdbc.aggregation import JdbcAggregation, top_n_clauses
from schema_core.connectors.jdbc.database import (
    Connection,
    Database,
    DatabaseError,
    has_mark,
    is_transient,
)
from schema_core.connectors.jdbc.tables import (
    PREFIX,
    StageName,
    abandoned_stages,
    create_statement,
)
from schema_core.environment import options as session_options
from schema_core.errors import (
    AlreadyExistsError,
    Gathering,
    SchemaError,
    UnsupportedError,
    at,
    choose_from,
)
from schema_core.expressions.comparisons import Comparison, constant_value
from schema_core.mappings import stored_types
from schema_core.mappings.spark.pyspark_types import to_spark
from schema_core.spark.changelog import ROW_KIND, SupportsChangelogWrite, adds_row
from schema_core.spark.compiler.expression import from_physical, to_physical
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import sql_type
from schema_core.spark.compiler.tree import (
    Cast,
    Literal,
    NamedNode,
    Node,
    call,
    function,
    let,
    quote,
    to_sql,
)
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.connector import (
    Aggregation,
    ConnectorBase,
    LookupKeys,
    ReadContext,
    RowLevelInfo,
    RowLevelMode,
    SupportsAggregatePushDown,
    SupportsDeletePushDown,
    SupportsFilterPushDown,
    SupportsKeyedLookup,
    SupportsLimitPushDown,
    SupportsProjectionPushDown,
    SupportsReplacement,
    SupportsRowLevelDelete,
    SupportsRowLevelUpdate,
    SupportsStaging,
    SupportsStatisticReport,
    SupportsTopNPushDown,
    SupportsTruncate,
    SupportsUpdatePushDown,
    SupportsUpsert,
    TableContext,
    TopN,
    WriteContext,
)
from schema_core.spark.filters import Filter, FilterResult
from schema_core.spark.jobs import HINT
from schema_core.spark.session.api_mode import checkpoint_frame, is_connect
from schema_core.spark.session.frames import select
from schema_core.types import (
    MAX_LENGTH,
    ArrayType,
    CharType,
    DataType,
    DoubleType,
    LocalZonedTimestampType,
    TimestampType,
    TimeType,
    VarCharType,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader

    from schema_core.expressions.typed import Typed

#: Hints of several errors.
DECLARE_KEY = "declare the key: PRIMARY KEY (...) NOT ENFORCED"

STRING = VarCharType(MAX_LENGTH)

FETCH_SIZE = 1000
#: The codes of ``java.sql.Types`` of strings that every database compares: CHAR to NVARCHAR.
CHARACTERS = frozenset({1, 12, -15, -9})
#: Start of the alias of a column's value as a string.
TEXT_PREFIX = "schema_core_text_"


def _at_least(lowest: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = session_options.integer(text)
        if value < lowest:
            raise session_options.invalid_value(f"an integer of at least {lowest}", text)
        return value

    return parse


def _seconds(text: str) -> int:
    length = session_options.nanoseconds(text)
    if length < 10**9:
        raise session_options.invalid_value("a duration of at least 1 s", text)
    return length // 10**9


URL = session_options.ConfigOption("url", str, None, "the JDBC URL of the database", required=True)
TABLE = session_options.ConfigOption(
    "table-name", str, None, "the name of the table", required=True
)
DRIVER = session_options.ConfigOption(
    "driver", str, None, "the class of the JDBC driver, else by the URL"
)
USERNAME = session_options.ConfigOption("username", str, None, "the user")
PASSWORD = session_options.ConfigOption("password", str, None, "the password", secret=True)
TIMEOUT = session_options.ConfigOption(
    "connection.max-retry-timeout", _seconds, 60, "how long the check of a connection may take"
)
PROPERTIES = session_options.ConfigOption(
    "properties", str, None, "properties of the driver", is_map=True
)
COLUMN = session_options.ConfigOption(
    "scan.partition.column", str, None, "a numeric column, to read in parallel"
)
PARTITIONS = session_options.ConfigOption(
    "scan.partition.num", _at_least(1), None, "the number of partitions"
)
LOWER = session_options.ConfigOption(
    "scan.partition.lower-bound", session_options.long, None, "the lowest value that is read"
)
UPPER = session_options.ConfigOption(
    "scan.partition.upper-bound", session_options.long, None, "the highest value that is read"
)
FETCH = session_options.ConfigOption(
    "scan.fetch-size", _at_least(0), None, "how many rows are fetched at once"
)
AUTO_COMMIT = session_options.ConfigOption(
    "scan.auto-commit", session_options.boolean, None, "true: PostgreSQL returns all rows at once"
)
MAX_ROWS = session_options.ConfigOption(
    "sink.buffer-flush.max-rows", _at_least(0), None, "the rows of a batch"
)
RETRIES = session_options.ConfigOption(
    "sink.max-retries", _at_least(0), 3, "how often an aborted transaction is retried"
)
PARALLELISM = session_options.ConfigOption(
    "sink.parallelism", _at_least(1), None, "how many tasks write"
)
LOOKUP_RETRIES = session_options.ConfigOption(
    "lookup.max-retries", _at_least(0), 3, "how often a failed lookup is retried"
)
MAX_KEYS = session_options.ConfigOption(
    "lookup.max-keys",
    _at_least(0),
    10_000,
    "up to how many keys a join looks up by their values; of more it reads all rows",
)
#: The cache of lookups by its former names.
CACHE_ROWS = session_options.ConfigOption(
    "lookup.cache.max-rows", session_options.long, None, "no effect: no row is evicted"
)
CACHE_TTL = session_options.ConfigOption(
    "lookup.cache.ttl", session_options.nanoseconds, None, "no effect: no row is evicted"
)
#: Options of streaming jobs, and of lookup caches: when they look the same key up again.
WITHOUT_EFFECT: tuple[session_options.ConfigOption[Any], ...] = tuple(
    session_options.ConfigOption(key, parse, None, f"no effect{reason}")
    for key, parse, reason in (
        ("sink.buffer-flush.interval", session_options.nanoseconds, ": batches are full"),
        ("filter.handling.policy", session_options.choice("always", "never"), ""),
        ("lookup.cache", session_options.choice("NONE", "PARTIAL"), ": a job reads rows once"),
        ("lookup.partial-cache.max-rows", session_options.long, ""),
        ("lookup.partial-cache.expire-after-write", session_options.nanoseconds, ""),
        ("lookup.partial-cache.expire-after-access", session_options.nanoseconds, ""),
        ("lookup.partial-cache.cache-missing-key", session_options.boolean, ""),
        ("lookup.cache.caching-missing-key", session_options.boolean, ""),
    )
)


class JdbcConnector(
    ConnectorBase,
    SupportsKeyedLookup,
    SupportsStaging,
    SupportsStatisticReport,
    SupportsUpsert,
    SupportsFilterPushDown,
    SupportsProjectionPushDown,
    SupportsLimitPushDown,
    SupportsAggregatePushDown,
    SupportsTopNPushDown,
    SupportsReplacement,
    SupportsRowLevelDelete,
    SupportsRowLevelUpdate,
    SupportsDeletePushDown,
    SupportsUpdatePushDown,
    SupportsTruncate,
    SupportsChangelogWrite,
):
    """Tables of databases with a JDBC driver."""

    identifier = "jdbc"
    requires: Final = ("pyspark",)
    options: ClassVar[Sequence[session_options.ConfigOption[Any]]] = (
        URL, TABLE, DRIVER, USERNAME, PASSWORD, TIMEOUT, PROPERTIES, COLUMN, PARTITIONS, LOWER,
        UPPER, FETCH, AUTO_COMMIT, MAX_ROWS, RETRIES, PARALLELISM, LOOKUP_RETRIES, MAX_KEYS,
        CACHE_ROWS, CACHE_TTL, *WITHOUT_EFFECT,
    )  # fmt: skip

    def __init__(self) -> None:
        #: What `read` selects.
        self._scan: JdbcScan | None = None

    def read(self, context: ReadContext) -> DataFrame:
        """Return the columns of a table, as Spark's JDBC source reads them.

        Raises:
            SchemaError: with code `conflicting-options` or `schema-mismatch`.
            UnsupportedError: with code `invalid-option-value` or `type-not-supported`.
            NotFoundError: with code `missing-dependency`.
            DatabaseError: with code `external-failure`.
        """
        if context.aggregation is not None:
            return self._read_aggregates(context, context.aggregation)
        return self._load(context, is_scan=True)

    def apply_filters(self, filters: Sequence[Filter], context: ReadContext) -> FilterResult:
        """Accept the filters that the database evaluates as Flink, and equality of strings.

        Strings that are equal by the collation of a column remain to be compared. Spark sends some
        of the filters that are not accepted.
        """
        names = {name for filter_ in filters for name in filter_.columns}
        types = {name: type_ for name, type_ in context.physical_columns.items() if name in names}
        scan = self._resolve(context, types)
        remaining = [filter_ for filter_ in filters if scan.comparison(filter_) is None]
        refused = [filter_ for filter_ in remaining if scan.equality(filter_) is None]
        return FilterResult.of([item for item in filters if item not in refused], remaining)

    def apply_aggregates(self, aggregation: Aggregation, context: ReadContext) -> bool:
        """Return whether the database computes the same values: see `JdbcAggregation`."""
        if COLUMN.key in context.options:  # whose bounds select rows
            return False
        return self._aggregation(aggregation, context)[1].sql is not None

    def apply_top_n(self, top_n: TopN, context: ReadContext) -> bool:
        """Return whether the database finds the same rows: see `top_n_clauses`."""
        if COLUMN.key in context.options:  # whose bounds select rows
            return False
        scan = self._resolve(context, context.columns)
        return top_n_clauses(scan, scan.table.dialect, top_n) is not None

    def _read_aggregates(self, context: ReadContext, aggregation: Aggregation) -> DataFrame:
        table, pushed = self._aggregation(aggregation, context)
        return pushed.values(table.load_query(context, str(pushed.sql), pushed.schema))

    def _aggregation(
        self, aggregation: Aggregation, context: ReadContext
    ) -> tuple[DatabaseTable, JdbcAggregation]:
        names = {*aggregation.keys, *(call.column for call in aggregation.aggregates)}
        names.update(name for filter_ in aggregation.filters for name in filter_.columns)
        types = {name: type_ for name, type_ in context.physical_columns.items() if name in names}
        scan = self._resolve(context, types)
        table = scan.table
        return table, JdbcAggregation(scan, table.dialect, table.sql, aggregation)

    def look_up(self, context: ReadContext) -> DataFrame:
        """Return the rows with the keys of a join, or all rows without keys.

        The bounds of a partitioned scan do not apply.

        If a connection fails, it is retried after 1 s, 2 s and so on, as in Flink.

        Raises:
            SchemaError, UnsupportedError, NotFoundError, DatabaseError: as `read`.
        """
        retries = LOOKUP_RETRIES.of(context.options) or 0
        for attempt in range(1, retries + 1):
            try:
                return self._load(context, is_scan=False)
            except DatabaseError as error:
                if not is_transient(error):
                    raise
            time.sleep(attempt)
        return self._load(context, is_scan=False)

    def lookup_key(self, columns: Sequence[str], context: ReadContext) -> list[str]:
        """Return the columns that the database compares with constants as Flink does, or more."""
        dialect = dialects.dialect_of(URL.of(context.options) or "")
        types = context.physical_columns
        return [name for name in columns if isinstance(types[name], dialect.keys)]

    def max_keys(self, options: Mapping[str, str]) -> int:
        """Return the option ``lookup.max-keys``."""
        return MAX_KEYS.of(options) or 0

    def _load(self, context: ReadContext, *, is_scan: bool) -> DataFrame:
        self._scan = scan = self._resolve(context, context.columns)
        is_divided = is_scan and COLUMN.key in context.options
        return scan.table.load(context, scan, is_divided=is_divided)

    @staticmethod
    def _resolve(context: ReadContext, types: Mapping[str, DataType]) -> JdbcScan:
        """Return a scan of columns, which the database has with types that can be read."""
        table = DatabaseTable(context)
        table.check_types(types)
        with table.database.connection() as connection:
            keys = () if context.keys is None else context.keys.columns
            return JdbcScan(table, table.resolve(connection, types), keys)

    def explain_filter(self, filter_: Filter, frame: DataFrame, context: ReadContext) -> str:
        """Return which conditions Spark sends to the database, or why it sends none."""
        if is_connect(frame):
            return "Spark, or the database if it is one of the PushedFilters of Spark's plan"
        pushed = pushed_filters(frame.where(filter_.spark_sql)) - pushed_filters(frame)
        if filter_.comparison is None or filter_.comparison.operator != "IS NOT NULL":
            pushed = {
                condition for condition in pushed if not condition.startswith("IsNotNull(")
            }  # Spark adds them
        if pushed:
            return f"the database as {', '.join(sorted(pushed))}"
        scan = self._scan  # of `read`, which returned the frame
        reasons = [] if scan is None else list(filter(None, map(scan.obstacle, filter_.columns)))
        return f"Spark ({'; '.join(reasons) or 'its JDBC source has no such condition'})"

    def read_with_statistics(self, context: ReadContext) -> tuple[DataFrame, frozenset[str]]:
        """Return the rows, and the columns declared NOT NULL, which `read` checks where allowed."""
        columns = context.columns.items()
        required = frozenset(name for name, type_ in columns if not type_.is_nullable)
        return self.read(context), required

    def stage(self, context: WriteContext) -> JdbcStage:
        """Return a table in the database for the rows of the job.

        Everything that can be refused is refused now: types, the key, and privileges, by a first
        transaction without rows. CREATE TABLE AS writes into a table without rows, or creates it.
        REPLACE TABLE AS replaces the rows of the table, and the table if its columns or its key
        change.

        Raises:
            SchemaError, UnsupportedError, NotFoundError, DatabaseError: as `read`; with code
                `target-not-empty`, or `streaming-not-supported` for changes without a key.
        """
        table = DatabaseTable(context)
        if context.has_kinds and not context.upsert_key:
            raise UnsupportedError(
                "updates and deletions are applied by the primary key, and the table has none",
                code="streaming-not-supported",
                hint=DECLARE_KEY,
            )
        table.check_types(context.physical_columns)
        connection = table.database.connect()
        try:
            table.remove_abandoned(connection, unmarked=context.creates)
            stage = JdbcStage(table, connection, context)
            if context.creates:
                stage.create_with_table()
            else:
                stage.create()
        except BaseException:
            connection.close()
            raise
        return stage

    # --- DELETE and UPDATE ---------------------------------------------------------------------

    def apply_row_level_delete(self, context: WriteContext) -> RowLevelInfo:
        """Return that the rows to delete are found by the primary key.

        Raises:
            UnsupportedError: with code `unsupported-ability` for a table without one.
        """
        if not context.upsert_key:
            raise UnsupportedError(
                "rows of a database are changed by the primary key, unless the condition compares "
                "columns with constants as the database does, and the table has none",
                code="unsupported-ability",
                hint=DECLARE_KEY,
            )
        return RowLevelInfo(RowLevelMode.CHANGED_ROWS)

    def apply_row_level_update(self, columns: Sequence[str], context: WriteContext) -> RowLevelInfo:
        """Return that the rows to update are found by the primary key, which is not set.

        Raises:
            UnsupportedError: as `apply_row_level_delete`, and for columns of the key.
        """
        info = self.apply_row_level_delete(context)
        if key := sorted(set(columns) & set(context.upsert_key)):
            raise UnsupportedError(
                f"column {key[0]!r} is part of the primary key, by which rows are updated",
                code="unsupported-ability",
                hint="set it to a constant, or delete and insert the rows",
            )
        return info

    def apply_delete_filters(self, filters: Sequence[Filter], context: WriteContext) -> bool:
        """Return whether the database compares the columns of all filters as Flink does."""
        return RowStatements(context).condition(filters) is not None

    def execute_deletion(self, filters: Sequence[Filter], context: WriteContext) -> None:
        """Delete rows by one statement."""
        statements = RowStatements(context)
        statements.execute(f"DELETE FROM {statements.table.sql}{statements.condition(filters)}")

    def apply_update(
        self, assignments: Mapping[str, Typed], filters: Sequence[Filter], context: WriteContext
    ) -> bool:
        """Return whether the values are constants that the columns of the database hold."""
        statements = RowStatements(context)
        return (
            statements.condition(filters) is not None
            and statements.assignments(assignments) is not None
        )

    def execute_update(
        self, assignments: Mapping[str, Typed], filters: Sequence[Filter], context: WriteContext
    ) -> None:
        """Update rows by one statement."""
        statements = RowStatements(context)
        sets, where = statements.assignments(assignments), statements.condition(filters)
        statements.execute(f"UPDATE {statements.table.sql} SET {sets}{where}")

    def execute_truncation(self, context: WriteContext) -> None:
        """Delete all rows in one transaction; some databases commit before TRUNCATE."""
        statements = RowStatements(context)
        statements.execute(f"DELETE FROM {statements.table.sql}")

    def was_committed(self, context: WriteContext, job: str) -> bool:
        """Return whether the database has the table and the stage of the job is gone.

        One transaction drops the stage and makes the rows visible. Where DDL is not transactional
        the stage is dropped later: while it exists, a table with rows counts as committed.
        """
        table = DatabaseTable(context)
        target = table.sql
        with table.database.connection() as connection:
            stages = filter(None, map(StageName.parse, table.stages(connection)))
            if not any(stage.is_of(target) and stage.is_job(job) for stage in stages):
                return table.exists(connection)
            return not table.dialect.transactional_ddl and not connection.is_empty(target)

    def recover(self, context: WriteContext) -> None:
        """Drop the stages of ended processes, and of the job of the context.

        The catalog has no mark of another job for the table.
        """
        table = DatabaseTable(context)
        with table.database.connection() as connection:
            table.remove_abandoned(connection, context.job, unmarked=True)

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        require_instance(context.stage, JdbcStage, "the stage of a write")
        cast("JdbcStage", context.stage).write(frame)

    def consumes_changes(self, options: Mapping[str, str]) -> bool:
        """Return True: the last change of each key is applied; `stage` requires a key."""
        return True

    def write_changelog(self, frame: DataFrame, context: WriteContext) -> None:
        """Stage changes; the commit upserts and deletes rows by key in one transaction."""
        self.write(frame, context)


#: Declared name, type, column of the database.
BoundColumn = tuple[str, DataType, dialects.DatabaseColumn]


class DatabaseTable:
    """The table of a database that options name.

    Raises:
        SchemaError: with code `conflicting-options` or `invalid-option-value`.
        UnsupportedError: with code `invalid-option-value`, for the URL of an unsupported database.
    """

    def __init__(self, context: TableContext) -> None:
        options = context.options
        self.options: Mapping[str, str] = options
        self.catalog_path: str = join_names(context.identifier.to_list())
        url = URL.of(options) or ""
        self.dialect: dialects.JdbcDialect = dialects.dialect_of(url)
        check_options(options)
        settings = PROPERTIES.entries(options)
        settings |= {"url": url, "driver": DRIVER.of(options) or self.dialect.driver}
        if (user := USERNAME.of(options)) is not None:
            settings |= {"user": user, "password": PASSWORD.of(options) or ""}
        self.database: Database = Database(
            context.session, self.dialect, settings, TIMEOUT.of(options) or 60
        )
        with at(f"option {TABLE.key!r}"):
            self.path: tuple[tuple[str, bool], ...] = self.dialect.path(TABLE.of(options) or "")
        self.sql: str = self._path(folded=False)
        self._columns: dict[str, dialects.DatabaseColumn] = {}

    def _path(self, *, folded: bool) -> str:
        fold = self.dialect.fold if folded else str
        parts = (name if quoted else fold(name) for name, quoted in self.path)
        return ".".join(map(self.dialect.quote, parts))

    def exists(self, connection: Connection) -> bool:
        """Return whether the database has the table; if not, `self.sql` is the name to create."""
        try:
            self.columns_of(connection)
        except DatabaseError as error:
            if not has_mark(error, self.dialect.missing):
                raise
            if self.dialect.column_types is None:
                error.hint = "create the table in the database before"
                raise
            self.sql = self._path(folded=True)
            return False
        return True

    def is_that_of(self, options: Mapping[str, str]) -> bool:
        """Return whether other options name the same table of the database."""
        same = (URL.key, TABLE.key)
        named = options.get("connector") == self.options.get("connector")
        return named and all(options.get(key) == self.options.get(key) for key in same)

    def stages(self, connection: Connection) -> list[str]:
        schema = None
        if len(self.path) > 1:
            name, quoted = self.path[-2]
            schema = name if quoted else self.dialect.fold(name)
        return connection.table_names(schema, PREFIX)

    def remove_abandoned(
        self, connection: Connection, job: str = "", *, unmarked: bool = False
    ) -> None:
        """Drop the stages of INSERTs into this table whose processes have ended.

        Also of the CREATE or REPLACE TABLE AS `job`; and with `unmarked` (the catalog has no mark
        of another job for the table) of ended ones at its path.
        """
        at_path = self.catalog_path if unmarked else None
        for stage in abandoned_stages(self.stages(connection), self.sql, job, at_path):
            with suppress(DatabaseError):  # another process drops it at the same time
                connection.execute(f"DROP TABLE {self.beside(stage)}")

    def beside(self, name: str) -> str:
        schema = self.sql.rpartition(self.dialect.quote(self.path[-1][0]))[0]
        if not schema and len(self.path) > 1:  # the name was folded
            last = self.dialect.quote(self.dialect.fold(self.path[-1][0]))
            schema = self.sql.rpartition(last)[0]
        return schema + self.dialect.quote(name)

    def check_types(self, columns: Mapping[str, DataType]) -> None:
        problems = Gathering()
        for name, type_ in columns.items():
            with problems.catching(), at(f"column {name!r}"):
                self.dialect.check_type(type_.nullable())
        problems.raise_all()

    def resolve(
        self, connection: Connection, columns: Mapping[str, DataType], *, writes: bool = False
    ) -> list[BoundColumn]:
        """Return the columns of the database for the declared ones.

        A missing name is looked for in the case of unquoted names, which Flink's dialects use.
        """
        self._columns = {column.name: column for column in self.columns_of(connection)}
        bound: list[BoundColumn] = []
        problems = Gathering()
        for name, type_ in columns.items():
            with problems.catching(), at(f"column {name!r}"):
                column = self._column(name)
                check_column(self.dialect, column, type_, writes=writes)
                bound.append((name, type_, column))
        problems.raise_all()
        return bound

    def _column(self, name: str) -> dialects.DatabaseColumn:
        return find_column(self.dialect, self.sql, self._columns, name)

    def columns_of(self, connection: Connection) -> Sequence[dialects.DatabaseColumn]:
        try:
            return connection.columns(self.sql)
        except DatabaseError:
            if (folded := self._path(folded=True)) == self.sql:
                raise
            exact, self.sql = self.sql, folded
            try:
                return connection.columns(self.sql)
            except DatabaseError:
                self.sql = exact
            raise

    # --- reading -------------------------------------------------------------------------------

    def load(self, context: ReadContext, scan: JdbcScan, *, is_divided: bool) -> DataFrame:
        """Return the rows of the table, each column with the Spark type of its declared type.

        If the scan is divided, only the rows within the bounds of the partition column.
        """
        reader: DataFrameReader = context.session.read
        settings = self._settings(scan.schema)
        where = scan.wide_condition(context.filters)
        predicates = scan.key_predicates(context.keys)
        if predicates is not None:
            url = settings.pop("url")
            query = f"({scan.sql()}{where}) q"
            return scan.values(reader.jdbc(url, query, predicates=predicates, properties=settings))
        if is_divided:
            url = settings.pop("url")
            query = f"({scan.sql(self._partition_column())}{where}) q"
            alias = self.dialect.quote(PARTITION_ALIAS)
            ranges = partition_ranges(
                LOWER.of(self.options) or 0,
                UPPER.of(self.options) or 0,
                PARTITIONS.of(self.options) or 1,
            )
            # rows out of the bounds satisfy no predicate
            predicates = [f"{alias} BETWEEN {first} AND {last}" for first, last in ranges]
            frame = reader.jdbc(url, query, predicates=predicates, properties=settings)
            return scan.values(frame)
        if context.top_n is not None:
            query = f"{scan.sql()}{top_n_clauses(scan, self.dialect, context.top_n)}"
            return scan.values(self.load_query(context, query, scan.schema))
        query = f"{scan.sql()}{where}"
        if context.limit is not None:
            query += f" {self.dialect.limit.format(n=context.limit)}"
        return scan.values(self.load_query(context, query, scan.schema))

    def load_query(self, context: ReadContext, query: str, schema: str) -> DataFrame:
        """Return the rows of a query, with the types of a schema of Spark."""
        settings = self._settings(schema) | {"dbtable": f"({query}) q"}
        return context.session.read.format("jdbc").options(**settings).load()

    def _settings(self, schema: str) -> dict[str, str]:
        size = 0 if AUTO_COMMIT.of(self.options) else FETCH.of(self.options)
        return {
            **self.database.settings,
            "fetchsize": str(FETCH_SIZE if size is None else size),
            "preferTimestampNTZ": "true",
            "customSchema": schema,
        }

    def _partition_column(self) -> str:
        """Return the item of a query that the ranges of a partitioned scan select by."""
        name = COLUMN.of(self.options) or ""
        with at(f"option {COLUMN.key!r}"):
            column = self._column(name)
            if self.dialect.typed and column.jdbc_type not in NUMERIC:
                raise SchemaError(
                    f"{self.dialect.name}'s {column.type_name} is not a numeric type",
                    code="schema-mismatch",
                    hint="partition by a numeric column",
                )
        return f"{self.dialect.quote(column.name)} AS {self.dialect.quote(PARTITION_ALIAS)}"


def find_column(
    dialect: dialects.JdbcDialect,
    table: str,
    columns: Mapping[str, dialects.DatabaseColumn],
    name: str,
) -> dialects.DatabaseColumn:
    """Return the column of a declared name, in its case or in the case of unquoted names.

    Raises:
        SchemaError: with code `schema-mismatch`.
    """
    column = columns.get(name) or columns.get(dialect.fold(name))
    if column is None:
        raise SchemaError(
            f"the table {table} of the database has no column {name!r}",
            code="schema-mismatch",
            hint=choose_from(name, columns),
        )
    return column


def check_column(
    dialect: dialects.JdbcDialect,
    column: dialects.DatabaseColumn,
    type_: DataType,
    *,
    writes: bool = False,
) -> None:
    """Refuse a declared type whose values a column of the database does not have or would round.

    Raises:
        SchemaError: with code `schema-mismatch`.
    """
    shown = type_.nullable().as_summary_string()
    own = f"{dialect.name}'s {column.type_name}"
    if not dialects.accepts(dialect, column, type_):
        raise SchemaError(
            f"cannot read {own} as {shown}",
            code="schema-mismatch",
            hint="declare the column with the type of the database, and CAST in queries",
        )
    if writes and dialects.rounds(dialect, column, type_):
        raise SchemaError(
            f"{own} with {column.scale} fractional digits would round values of {shown}",
            code="schema-mismatch",
            hint="declare the column with the digits of the database",
        )


def require_empty(connection: Connection, table: str) -> None:
    """Refuse a table with rows, which CREATE TABLE AS would not replace.

    Raises:
        SchemaError: with code `target-not-empty`.
    """
    if not connection.is_empty(table):
        raise SchemaError(
            f"the table {table} of the database has rows, which CREATE TABLE AS would not replace",
            code="target-not-empty",
            hint="use CREATE TABLE and INSERT INTO, or delete the rows",
        )


#: The values in the condition of one query that looks up keys of one column.
KEYS_OF_QUERY: Final = 1000
NUMERIC = frozenset({-6, 5, 4, -5, 2, 3, 6, 7, 8})
PARTITION_ALIAS = "schema_core_partition"


def partition_ranges(lower: int, upper: int, number: int) -> list[tuple[int, int]]:
    """Return ranges of similar length that cover the integers from `lower` to `upper`.

    >>> partition_ranges(1, 10, 3)
    [(1, 4), (5, 7), (8, 10)]
    >>> partition_ranges(1, 2, 5)
    [(1, 1), (2, 2)]
    """
    total = upper - lower + 1
    number = min(number, total)
    size, longer = divmod(total, number)
    ranges, start = [], lower
    for position in range(number):
        end = start + size + (position < longer)
        ranges.append((start, end - 1))
        start = end
    return ranges


def check_options(options: Mapping[str, str]) -> None:
    """Refuse incomplete groups of options, and bounds in the wrong order.

    Raises:
        SchemaError: with code `conflicting-options` or `invalid-option-value`.
    """
    together = (USERNAME, PASSWORD), (COLUMN, PARTITIONS, LOWER, UPPER), (CACHE_ROWS, CACHE_TTL)
    for group in together:
        present = [option.key for option in group if option.key in options]
        missing = [option.key for option in group if option.key not in options]
        if present and missing:
            raise SchemaError(
                f"{', '.join(present)} must be set together with {', '.join(missing)}",
                code="conflicting-options",
            )
    if COLUMN.key in options and (LOWER.of(options) or 0) > (UPPER.of(options) or 0):
        raise SchemaError(
            f"option {LOWER.key!r} must not be larger than {UPPER.key!r}, "
            f"got {LOWER.of(options)} and {UPPER.of(options)}",
            code="invalid-option-value",
        )


# --- the query of a scan -------------------------------------------------------------------------


class JdbcScan:
    """The query of the columns of a table, and the conversion of its rows."""

    def __init__(
        self, table: DatabaseTable, columns: Sequence[BoundColumn], keys: Collection[str] = ()
    ) -> None:
        self.table = table
        self.columns = columns
        dialect = table.dialect
        #: Strings that are read with another collation than an index of their columns.
        self._by_bytes = {
            name
            for name, type_, _ in columns
            if dialect.by_bytes and isinstance(type_, dialects.STRINGS) and name not in keys
        }
        self._quote = dialect.quote
        self._fixed_zone = (
            not any(
                isinstance(type_, TimestampType | LocalZonedTimestampType)
                for _, type_, _ in columns
            )
            or table.database.has_fixed_zone()
        )
        self.selected: dict[str, dialects.Selected] = {
            name: dialect.select(column, type_, dialect.quote(column.name))
            for name, type_, column in columns
        }

    def sql(self, *extra: str) -> str:
        by_bytes = self.table.dialect.by_bytes
        items = [
            f"{column.sql}{by_bytes if name in self._by_bytes else ''} AS {self._quote(name)}"
            for name, column in self.selected.items()
        ]
        if (check := self.check) is not None:
            items.append(f"{check} AS {self._quote(dialects.CHECK)}")
        items += [
            f"CAST({self._quote(column.name)} AS {self.table.dialect.text}) "
            f"AS {self._quote(TEXT_PREFIX + name)}"
            for name, column in self._clocks.items()
        ]
        return f"SELECT {', '.join([*items, *extra])} FROM {self.table.sql}"

    def key_predicates(self, keys: LookupKeys | None) -> list[str] | None:
        """Return the conditions of the queries that find the rows with some keys.

        None without keys, and for a value that the database may read as another.
        """
        if keys is None:
            return None
        types = {name: type_ for name, type_, _ in self.columns}
        rows = [
            [
                constant(value, types[name], self.table.dialect.keys)
                for name, value in zip(keys.columns, row, strict=True)
            ]
            for row in keys.rows
        ]
        if any(None in row for row in rows):
            return None
        names = [self._quote(name) for name in keys.columns]
        size = KEYS_OF_QUERY // len(names) ** 2
        batches = [rows[start : start + size] for start in range(0, len(rows), size)]
        return [_key_condition(names, batch) for batch in batches] or ["1 = 0"]

    @property
    def schema(self) -> str:
        spark_types: dict[str, str] = {}
        for name, type_, _ in self.columns:
            if self.selected[name].as_string:
                spark_types[name] = "ARRAY<STRING>" if isinstance(type_, ArrayType) else "STRING"
            elif isinstance(type_, TimeType):
                spark_types[name] = "TIME(6)"
            else:
                spark_types[name] = to_spark(type_).simpleString()
        if self._checks:
            spark_types[dialects.CHECK] = "INT"
        spark_types |= {TEXT_PREFIX + name: "STRING" for name in self._clocks}
        return ", ".join(f"{quote(name)} {type_}" for name, type_ in spark_types.items())

    @property
    def check(self) -> str | None:
        """The number of the first check that a row fails, NULL for none, in SQL."""
        checks = self._checks.items()
        branches = (f"WHEN {check} THEN {position}" for position, (check, _) in checks)
        return f"CASE {' '.join(branches)} END" if checks else None

    @property
    def _checks(self) -> dict[int, tuple[str, str]]:
        """The predicates of rows that cannot be read, with messages, by number."""
        checks: list[tuple[str, str]] = []
        for name, type_, column in self.columns:
            if not type_.is_nullable and column.is_nullable:
                problem = f"column {name!r} is NOT NULL but received NULL"
                checks.append((f"{self._quote(column.name)} IS NULL", problem))
            if invalid := self.selected[name].invalid:
                problem = f"column {name!r}: a value is not a valid {type_.nullable()}"
                checks.append((invalid, problem))
        return dict(enumerate(checks, 1))

    @property
    def _clocks(self) -> dict[str, dialects.DatabaseColumn]:
        """Columns of local timestamps that the driver may read as others; see `_same_clock`."""
        if self._fixed_zone or self.table.dialect.text is None:
            return {}
        return {
            name: column
            for name, type_, column in self.columns
            if isinstance(type_, TimestampType) and not self.selected[name].as_string
        }

    def checked(self, frame: DataFrame) -> DataFrame:
        """Return the rows of a query, whose job fails for a row that fails a check."""
        if not self._checks:
            return frame
        problems = ", ".join(_string(problem) for _, problem in self._checks.values())
        check = quote(dialects.CHECK)
        raised = f"CAST(raise_error(element_at(array({problems}), {check})) AS BOOLEAN)"
        return frame.where(f"{check} IS NULL OR {raised}")

    def values(self, frame: DataFrame) -> DataFrame:
        """Return the columns of the table from the rows of the query.

        A filter fails the job for invalid values, so the columns remain plain attributes.
        """
        names = list(self.selected)
        frame = self.checked(frame)
        for name in self._clocks:
            frame = frame.where(_same_clock(name))
        types = {name: (type_, column) for name, type_, column in self.columns}
        return select(frame, ((self._value(name, *types[name]), name) for name in names))

    def is_plain(self, name: str) -> bool:
        """Return whether a column is read as the database stores it."""
        return not self._is_converted(name) and name not in self._clocks

    def _is_converted(self, name: str) -> bool:
        """Return whether a column has other values in the frame than in the database."""
        type_, column = next((column[1], column[2]) for column in self.columns if column[0] == name)
        if isinstance(type_, dialects.STRINGS):
            return self.selected[name].as_string
        return not isinstance(self._value(name, type_, column), ColumnNode)

    def condition(self, filters: Sequence[Filter]) -> str | None:
        """Return the WHERE clause of filters; None if the database might select other rows."""
        parts = [self.comparison(filter_) for filter_ in filters]
        return None if None in parts else _where(map(str, parts))

    def wide_condition(self, filters: Iterable[Filter]) -> str:
        """Return a WHERE clause that selects at least the rows of filters."""
        parts = (self.comparison(filter_) or self.equality(filter_) for filter_ in filters)
        return _where(part for part in parts if part is not None)

    def equality(self, filter_: Filter) -> str | None:
        """Return a condition that is TRUE for equal strings by any collation, and maybe for others.

        None for other filters, and for constants that a database may read as others.
        """
        compared = filter_.comparison
        if compared is None or compared.operator not in ("=", "IN"):
            return None
        (found,) = (column for column in self.columns if column[0] == compared.column)
        if not isinstance(found[1], dialects.STRINGS) or found[2].jdbc_type not in CHARACTERS:
            return None
        values = compared.value if compared.operator == "IN" else (compared.value,)
        texts = [constant(value, found[1], dialects.STRINGS) for value in values]
        if None in texts or not all(map(str.isascii, values)):
            return None
        return f"{self.selected[compared.column].sql} IN ({', '.join(map(str, texts))})"

    def comparison(self, filter_: Filter) -> str | None:
        """Return a condition of exactly the rows of a filter; None if there might be others."""
        compared = filter_.comparison
        if compared is None or self._is_converted(compared.column):
            return None
        name = self.selected[compared.column].sql
        type_ = next(type_ for column, type_, _ in self.columns if column == compared.column)
        comparison = self._compare(name, compared, type_)
        by_bytes = self.table.dialect.by_bytes
        if comparison is None or not by_bytes or not isinstance(type_, dialects.STRINGS):
            return comparison
        exact = self._compare(name + by_bytes, compared, type_)
        # both, because an index is of the collation of the column
        return f"{comparison} AND {exact}" if compared.operator in ("=", "IN") else exact

    def _compare(self, name: str, compared: Comparison, type_: DataType) -> str | None:
        literals = self.table.dialect.literals
        match compared.operator:
            case "<" | "<=" | ">" | ">=" | "BETWEEN" if isinstance(type_, dialects.STRINGS):
                return None  # the order of strings depends on the collation
            case "IS NULL" | "IS NOT NULL":
                return f"{name} {compared.operator}"
            case "IN" | "NOT IN" | "BETWEEN":
                texts = [constant(value, type_, literals) for value in compared.value]
                if None in texts:
                    return None
                if compared.operator == "BETWEEN":
                    return f"{name} BETWEEN {texts[0]} AND {texts[1]}"
                return f"{name} {compared.operator} ({', '.join(map(str, texts))})"
            case _:
                text = constant(compared.value, type_, literals)
                return None if text is None else f"{name} {compared.operator} {text}"

    def obstacle(self, name: str) -> str | None:
        """Return why Spark sends no filter on a column to the database; None if it may."""
        type_, column = next((column[1], column[2]) for column in self.columns if column[0] == name)
        if isinstance(self._value(name, type_, column), ColumnNode):
            return None
        database, shown = self.table.dialect.name, type_.nullable().as_summary_string()
        if isinstance(type_, dialects.STRINGS):
            return f"{database} compares strings such as {name!r} by other rules"
        if self.selected[name].as_string:
            return f"{name!r} is read from {database} as a string"
        if isinstance(type_, LocalZonedTimestampType) and not self._fixed_zone:
            return f"the time zone of the JVM has no fixed offset for {name!r}"
        return f"{name!r} is converted to {shown}"

    def _value(self, name: str, type_: DataType, column: dialects.DatabaseColumn) -> Node:
        node: Node = ColumnNode(name)
        if self.selected[name].as_string:
            if isinstance(type_, ArrayType):
                element = type_.element_type
                parse = function(lambda value: _parse_text(value, name, element))
                return call("transform", node, parse)
            return _parse_text(node, name, type_)
        match type_:
            case CharType() | VarCharType() if name not in self._by_bytes:
                return call("concat", node, "")  # Spark sends predicates on plain columns only
            case TimeType(precision=precision) if precision < 6:
                return Cast(node, sql_type(type_))
            case TimestampType() if column.scale > type_.precision:
                return datetimes.truncate_digits(node, 6, type_.precision)
            case LocalZonedTimestampType():
                # Spark writes instants into predicates in the zone of the JVM.
                if not self._fixed_zone:
                    node = call("timestamp_micros", call("unix_micros", node))
                return datetimes.truncate_digits(node, 6, type_.precision)
            case _:
                return node


def _where(conditions: Iterable[str]) -> str:
    text = " AND ".join(conditions)
    return f" WHERE {text}" if text else ""


def _key_condition(names: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
    if len(names) == 1:
        return f"{names[0]} IN ({', '.join(str(value) for (value,) in rows)})"
    equal = (
        " AND ".join(f"{name} = {value}" for name, value in zip(names, row, strict=True))
        for row in rows
    )
    return f"({' OR '.join(equal)})"


def pushed_filters(frame: DataFrame) -> set[str]:
    """Return the conditions that Spark sends to the database for a frame of one scan."""
    leaf = frame._jdf.queryExecution().sparkPlan().collectLeaves().head()  # noqa: SLF001
    if leaf.getClass().getSimpleName() != "RowDataSourceScanExec":  # an empty relation
        return set()
    filters = leaf.handledFilters().iterator()
    pushed = set()
    while filters.hasNext():
        pushed.add(str(filters.next().toString()))
    return pushed


def _string(text: str) -> str:
    return to_sql(Literal(text))


def _same_clock(name: str) -> str:
    """Return the check that a local timestamp is the one of the database.

    A ``java.sql.Timestamp`` moves a time of day that the time zone of the JVM skips.
    """
    text, value = quote(TEXT_PREFIX + name), quote(name)
    problem = (
        f"column {name!r}: the time zone of the JVM has no such time of day"
        f"{HINT}start Spark with 'spark.driver.extraJavaOptions' = '-Duser.timezone=UTC', "
        "and the executors alike"
    )
    raised = f"CAST(raise_error({_string(problem)}) AS BOOLEAN)"
    return f"{value} IS NULL OR CAST({value} AS STRING) = {text} OR {raised}"


def _parse_text(node: Node, name: str, type_: DataType) -> Node:
    def body(value: Node) -> Node:
        read = convert(value, STRING, type_.nullable(), try_=True)
        problem = f"column '{name}': cannot read as {type_.as_summary_string()}: "
        return inline(
            "coalesce({read}, if({v} IS NULL, NULL, raise_error(concat({problem}, {v}))))",
            read=to_physical(read, type_),
            v=value,
            problem=problem,
        )

    return let(node, body)


# --- statements that change rows -----------------------------------------------------------------


class RowStatements:
    """Parts of DELETE and UPDATE that a database executes exactly as Flink means them."""

    def __init__(self, context: WriteContext) -> None:
        self.table: DatabaseTable = DatabaseTable(context)
        self._types = context.physical_columns
        with self.table.database.connection() as connection:
            columns = self.table.resolve(connection, self._types, writes=True)
        self._scan = JdbcScan(self.table, columns)
        self._columns = {name: column for name, _, column in columns}

    def execute(self, statement: str) -> None:
        """Execute a statement in a transaction, again if the database aborts it for another one."""
        left = RETRIES.of(self.table.options) or 0
        with self.table.database.connection() as connection:
            while True:
                try:
                    connection.begin()
                    connection.execute(statement)
                    connection.commit()
                except DatabaseError as error:
                    connection.rollback()
                    if not left or not is_transient(error):
                        raise
                    left -= 1
                else:
                    return

    def condition(self, filters: Sequence[Filter]) -> str | None:
        """Return the WHERE clause of filters; None if the database might select other rows."""
        return self._scan.condition(filters)

    def assignments(self, values: Mapping[str, Typed]) -> str | None:
        """Return the SET clause of constants; None if a value may be another in the database."""
        parts = []
        for name, value in values.items():
            type_ = self._types.get(name)
            if type_ is None or (text := self._constant(value, type_)) is None:
                return None
            parts.append(f"{self.table.dialect.quote(self._columns[name].name)} = {text}")
        return ", ".join(parts)

    def _constant(self, value: Typed, type_: DataType) -> str | None:
        if isinstance(type_, CharType):  # INSERT does not pad it, and databases do
            return None
        plain = STRING if isinstance(type_, VarCharType) else type_.nullable()
        found = constant_value(value, plain)
        if found is None:
            return None
        if isinstance(type_, VarCharType) and len(found) > type_.length:
            return None
        bound = stored_types.INTEGERS.get(type_.root)
        if bound is not None and not -bound <= found < bound:
            return None
        return self._literal(found, type_)

    def _literal(self, value: Any, type_: DataType) -> str | None:
        return constant(value, type_, self.table.dialect.literals)


def constant(value: Any, type_: DataType, types: tuple[type[DataType], ...]) -> str | None:
    """Return a constant of one of the types in SQL; None if a database may read another value."""
    if not isinstance(type_, types):
        return None
    match value:
        case bool():
            return str(value).upper()
        case int():
            return str(value)
        case str() if not {"\0", "\\"} & {*value}:  # a setting decides what a backslash means
            return quote_string(value)
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case _:
            return None


# --- writing -------------------------------------------------------------------------------------


class JdbcStage:
    """A table in the database with the rows of a job, which the commit merges into the target.

    Rows are numbered by partition and position: a task that runs twice adds none, and of rows with
    the same key the last is kept.
    """

    def __init__(self, table: DatabaseTable, connection: Connection, context: WriteContext) -> None:
        self.committed: bool | None = False
        self._table = table
        self._dialect = table.dialect
        self._connection = connection
        self._context = context
        self._columns: Sequence[BoundColumn] = ()
        self._key = context.upsert_key
        name = StageName.new(table.sql, table.catalog_path, context.job)
        self._name = table.beside(str(name))
        self._exists = False
        #: statements before the merge, in its transaction
        self._before: list[str] = []

    def create(self) -> None:
        """Create the stage for a table that exists, and try to merge it while it is empty."""
        types = self._context.physical_columns
        self._columns = self._table.resolve(self._connection, types, writes=True)
        self._create_from(self._table.sql)
        self._exists = True
        try:
            self._connection.begin()
            self._execute_merge(self._table.sql)
            self._connection.rollback()
        except BaseException:
            self.abort()
            raise

    def create_with_table(self) -> None:
        """Create the stage of CREATE or REPLACE TABLE AS, and decide how the table changes."""
        table, connection, replaced = self._table, self._connection, self._context.replaced
        exists = table.exists(connection)
        owns = replaced is not None and table.is_that_of(replaced.options)
        if exists and not owns:
            require_empty(connection, table.sql)
        if exists and (not owns or self._keeps_columns()):
            self._before = [f"DELETE FROM {table.sql}"] if owns else []
            self.create()
            return
        self._before = [f"DROP TABLE {table.sql}"] if exists else []
        self._before.append(self._definition(table.sql))
        self._create_like_new()

    def _keeps_columns(self) -> bool:
        if self._dialect.column_types is None:
            return True
        replaced = getattr(self._context.replaced, "resolved_schema", None)
        if replaced is None:
            return False
        new = self._context.table.resolved_schema
        keys = [table.primary_key and table.primary_key.columns for table in (replaced, new)]
        if keys[0] != keys[1]:
            return False
        with self._template() as name:
            wanted = set(self._connection.columns(name))
            return wanted == set(self._table.columns_of(self._connection))

    def _definition(self, table: str) -> str:
        columns = self._context.physical_columns
        schema = self._context.table.resolved_schema
        return create_statement(self._dialect, table, columns, schema)

    @contextmanager
    def _template(self) -> Iterator[str]:
        """Yield a table of the new definition, in a transaction that is rolled back."""
        name = self._table.beside(f"{PREFIX}{uuid.uuid4().hex}")
        self._connection.begin()
        try:
            self._connection.execute(self._definition(name))
            yield name
        finally:
            self._connection.rollback()

    def _create_like_new(self) -> None:
        name = self._table.beside(f"{PREFIX}{uuid.uuid4().hex}")
        self._connection.begin()
        try:
            self._connection.execute(self._definition(name))
            columns = {column.name: column for column in self._connection.columns(name)}
            declared = self._context.physical_columns.items()
            self._columns = [(name, type_, columns[name]) for name, type_ in declared]
            self._create_from(name)
            self._execute_merge(name)
            self._connection.execute(f"DROP TABLE {name}")
            self._connection.commit()
        finally:
            self._connection.rollback()
        self._exists = True

    def _create_from(self, table: str) -> None:
        dialect, quoted = self._dialect, self._dialect.quote
        if dialect.typed:
            items = []
            for name, type_, column in self._columns:
                text = self._as_text(type_)
                value = quoted(column.name) if text is None else f"CAST(NULL AS {text})"
                items.append(f"{value} AS {quoted(name)}")
            zero = f"CAST(0 AS {dialect.long})"
            items.extend(f"{zero} AS {quoted(name)}" for name in self._own_columns)
            query = f"SELECT {', '.join(items)} FROM {table} WHERE 1 = 0"
            self._connection.execute(dialect.create.format(table=self._name, query=query))
        else:  # columns without a type keep every value as it is written
            declared = (column[0] for column in self._columns)
            names = ", ".join(map(quoted, (*declared, *self._own_columns)))
            self._connection.execute(f"CREATE TABLE {self._name} ({names})")

    @property
    def _own_columns(self) -> tuple[str, ...]:
        kind = (dialects.REMOVED,) if self._context.has_kinds else ()
        return (dialects.ORDINAL, *kind)

    def _as_text(self, type_: DataType) -> str | None:
        text = self._dialect.text
        if isinstance(type_, ArrayType):
            element = self._as_text(type_.element_type)
            return element and f"{element}[]"
        return text if isinstance(type_, (*dialects.STRINGS, *dialects.TIMES)) else None

    def _execute_merge(self, table: str) -> None:
        for statement in self.merge_statements(table):
            self._connection.execute(statement)

    def merge_statements(self, table: str) -> list[str]:
        """Return the statements that apply the rows of the stage to a table."""
        quoted = self._dialect.quote
        names, items = {}, []
        for name, type_, column in self._columns:
            value, names[name] = quoted(name), quoted(column.name)
            if self._dialect.typed and self._as_text(type_) is not None:
                value = f"CAST({value} AS {dialects.type_name(self._dialect, column.type_name)})"
            items.append(f"{value} AS {names[name]}")
        ordinal = quoted(dialects.ORDINAL)
        key = ", ".join(map(quoted, self._key)) or ordinal
        ranked = (
            f"SELECT s.*, ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY {ordinal} DESC)"
            f" AS schema_core_rank FROM {self._name} s"
        )
        source = f"SELECT {', '.join(items)} FROM ({ranked}) r WHERE schema_core_rank = 1"
        keys = [names[name] for name in self._key]
        change = self._context.row_change
        if change is not None:
            changed = [names[name] for name in change.columns]
            merge = dialects.Merge(table, [*keys, *changed], keys, source)
            statements = self._dialect.update if changed else self._dialect.delete
            return [statements(merge)]
        merge = dialects.Merge(table, [*names.values()], keys, source)
        if not self._context.has_kinds:
            return [self._dialect.upsert(merge) if keys else merge.insert]
        removed = f" AND {quoted(dialects.REMOVED)} ="
        return [
            self._dialect.delete(dialects.Merge(table, keys, keys, f"{source}{removed} 1")),
            self._dialect.upsert(replace(merge, source=f"{source}{removed} 0")),
        ]

    def write(self, frame: DataFrame) -> None:
        tasks = PARALLELISM.of(self._table.options)
        columns = [self._to_staged_column(name, type_) for name, type_, _ in self._columns]
        if self._context.has_kinds:
            adds = adds_row(ColumnNode(ROW_KIND))
            columns.append((inline("if({adds}, 0L, 1L)", adds=adds), dialects.REMOVED))
        frame = select(frame, columns)
        frame = frame.selectExpr("*", f"monotonically_increasing_id() AS {quote(dialects.ORDINAL)}")
        settings = dict(self._table.database.settings)
        if size := MAX_ROWS.of(self._table.options):
            settings["batchsize"] = str(size)
        # One task writes where a table that is read at the same time would be locked.
        with checkpoint_frame(frame, when=not self._dialect.parallel) as rows:
            if not self._dialect.parallel:
                divided = rows.coalesce(1)
            else:
                divided = rows if tasks is None else rows.repartition(tasks)
            writer = divided.write.format("jdbc").mode("append")
            writer.options(**settings, dbtable=self._name).save()

    def _to_staged_column(self, name: str, type_: DataType) -> NamedNode:
        node: Node = ColumnNode(name)
        if isinstance(type_, DoubleType) and not self._dialect.stores_nan:
            problem = f"column {name!r}: {self._dialect.name} cannot store NaN"
            refused = "if(isnan({v}), raise_error({problem}), {v})"
            return inline(refused, v=node, problem=problem), name
        if self._as_text(type_) is None or isinstance(type_, dialects.STRINGS):
            return node, name
        if isinstance(type_, ArrayType):
            return Cast(node, "ARRAY<STRING>"), name
        text = convert(from_physical(node, type_), type_.nullable(), STRING, "UTC")
        if isinstance(type_, LocalZonedTimestampType):
            text = call("concat", text, "+00")
        return text, name

    # --- the steps of a stage ------------------------------------------------------------------

    @property
    def _merges_late(self) -> bool:
        """Whether `commit` merges: the catalog, changed before it, may be in the same file."""
        return self._context.creates and not self._dialect.parallel

    def prepare(self) -> None:
        """Merge the rows in a transaction that `commit` ends.

        A database that permits one writer gets the rows twice: first to find errors.
        """
        self._merge()
        if self._merges_late:
            self._connection.rollback()

    def _merge(self) -> None:
        left = RETRIES.of(self._table.options) or 0
        while True:
            try:
                self._connection.begin()
                for statement in self._before:
                    self._connection.execute(statement)
                self._execute_merge(self._table.sql)
                if self._dialect.transactional_ddl:
                    self._drop()
            except DatabaseError as error:
                self._connection.rollback()
                if self._before and has_mark(error, self._dialect.taken):
                    raise AlreadyExistsError(
                        f"the database has a table {self._table.sql} already, which another "
                        "writer created meanwhile",
                        code="table-exists",
                    ) from None
                if not left or not is_transient(error):
                    raise
                left -= 1
            else:
                return

    def commit(self) -> None:
        if self._merges_late:
            self._merge()
        self.committed = None
        self._connection.commit()
        self.committed = True
        try:
            if not self._dialect.transactional_ddl:
                self._drop()
        finally:
            self._connection.close()

    def _drop(self) -> None:
        self._connection.execute(f"DROP TABLE {self._name}")

    def abort(self) -> None:
        if self.committed:
            return
        try:
            self._connection.rollback()
            if self._exists and self.committed is False:
                self._drop()
                self._exists = False
        finally:
            self._connection.close()
