"""Statements that read and write rows: resolved here, run by the planner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial

from schema_core.base.lazy import dataclass
from schema_core.base.paths import UNKNOWN
from schema_core.base.text import quote_identifier
from schema_core.environment.connector import (
    Ability,
    check_declared_metadata,
    installed_connector,
)
from schema_core.environment.jobs.client import submit
from schema_core.environment.jobs.commit_records import planner_of_job
from schema_core.environment.jobs.graph import JobGraph, JobStatusHook, number_sinks
from schema_core.environment.jobs.query_client import QueryClient
from schema_core.environment.jobs.recovery import (
    finish,
    finish_for_write,
    require_unchanged,
)
from schema_core.environment.operations.conflicts import (
    conflict_action,
    require_key_of_rows,
    require_replacing_table,
)
from schema_core.environment.operations.streaming_sinks import (
    require_batch,
    require_consumed_updates,
)
from schema_core.environment.options import DISPLAY_WIDTH, DML_SYNC, PIPELINE_NAME
from schema_core.environment.planner import BoundTable
from schema_core.environment.result import TableResult
from schema_core.environment.session import Session, at_span
from schema_core.errors import MAX_PLACE, SchemaError, UnsupportedError, cut, similar
from schema_core.errors.hints import ADD_CAST
from schema_core.expressions.type_checker import implicit_cast
from schema_core.expressions.typed import Constant, Ref, Typed
from schema_core.query import relation as relational
from schema_core.query.from_clause import check_table_hints
from schema_core.schema.columns import MetadataColumn
from schema_core.schema.resolved import ResolvedSchema
from schema_core.sql.statement_syntax import (
    Execute,
    Insert,
    Partition,
    SelectStatement,
    StatementSet,
)
from schema_core.sql.syntax import Literal, LiteralKind, Name, TypeName
from schema_core.sql.type_name import data_type
from schema_core.types import CharType, DataType, DataTypes, VarCharType
from schema_core.types.casts import supports_implicit_cast

#: The alias of a query while constants are added to its columns.
ALIAS = "EXPR$0"


def select(session: Session, statement: SelectStatement, text: str) -> TableResult:
    """Resolve and plan a query; collecting the result computes its rows, without a job."""
    with session.keep_tables():
        return run_query(session, session.query(statement.query, text))


def run_query(session: Session, relation: relational.Relation) -> TableResult:
    """Plan a resolved query; collecting the result computes its rows."""
    with session.keep_tables():
        rows, client = session.planner.select(session.executable(relation)), QueryClient()
    return TableResult(
        relational.result_schema(relation),
        client.follow(rows.rows),
        row_formatter=lambda: client.follow(rows.format_rows()),
        query=client,
        max_column_width=DISPLAY_WIDTH.of(session.config.get_configuration()),
        has_kinds=session.streaming,
    )


def run_job(
    session: Session,
    jobs: Sequence[Callable[[], JobGraph]],
    hooks: Iterable[JobStatusHook | str] = (),
) -> TableResult:
    """Submit jobs as one and return its result; wait for it if ``table.dml-sync`` is true.

    `jobs` prepare at least one job; `hooks` are called after those of the environment. The result
    has one column for each table: its number of rows, -1 if unknown, as in Flink. Nothing is
    changed by errors before the job starts; waiting raises those of `JobClient.wait`.
    """
    options = session.config.get_configuration()
    is_sync = DML_SYNC.of(options)
    registered = session.hooks.hooks(hooks)
    prepared: list[JobGraph] = []
    try:
        with number_sinks(is_set=len(jobs) > 1):
            for prepare in jobs:
                prepared.append(prepare())  # noqa: PERF401 - those before an error are aborted
        graph = JobGraph.of_all(prepared)
    except BaseException:
        for job in prepared:
            with suppress(Exception):
                job.execution.abort()
        raise
    if (name := PIPELINE_NAME.of(session.config.get_configuration())) is not None:
        graph.set_name(name)
    for each in registered:
        graph.register_job_status_hook(each.hook, each.name)
    client = submit(graph)
    session.jobs.add(client.run)
    if is_sync:
        client.wait()
    names = name_sinks([identifier.as_summary_string() for identifier in graph.sinks])
    schema = ResolvedSchema.physical(names, [DataTypes.BIGINT()] * len(names))
    return TableResult(schema, [(-1,) * len(names)], job=client)


def name_sinks(paths: Sequence[str]) -> list[str]:
    """Return the column names of a job's result, one for each table that it writes.

    >>> name_sinks(["c.d.t", "c.d.u", "c.d.t"])
    ['c.d.t_1', 'c.d.u', 'c.d.t_2']
    """
    counts = Counter(paths)
    seen: Counter[str] = Counter()
    names = []
    for path in paths:
        seen[path] += 1
        names.append(path if counts[path] == 1 else f"{path}_{seen[path]}")
    return names


# --- INSERT --------------------------------------------------------------------------------


def insert(session: Session, statement: Insert, text: str) -> TableResult:
    """Submit the job that writes a query into a table."""
    finish_target(session, statement)
    relation, target = check_insert(session, statement, text)
    return run_job(
        session, [partial(prepare_write, session, relation, target, Writing.of(statement))]
    )


def finish_target(session: Session, statement: Insert) -> None:
    """Finish or undo the pending job of an INSERT's table before the statement is checked."""
    with at_span(statement.path.span):
        identifier = session.identifier(statement.path)
        if session.temporary.kind(identifier) is None:
            finish(session, identifier)


def insert_target(session: Session, statement: Insert) -> BoundTable:
    """Return the checked table of an INSERT, with the options of its hints.

    Codes: `feature-not-supported` for UPSERT, which Flink refuses, and
    `unsupported-ability` for a table that cannot take ON CONFLICT of any query.
    """
    if statement.upsert:
        raise UnsupportedError(
            "UPSERT INTO is not supported",
            code="feature-not-supported",
            span=statement.span,
            hint="write INSERT INTO; a connector that replaces rows does so by the primary key",
        )
    with at_span(statement.path.span):
        target = session.bind(session.identifier(statement.path))
        check_table_hints(statement.hints, statement.path.parts[-1], "TABLE")
        target = target.with_hints(statement.hints, session.config.get_configuration())
        check_declared_metadata(target.table, "write")
        require_replacing_table(session, target, statement)
        return target


def check_insert(
    session: Session, statement: Insert, text: str
) -> tuple[relational.Relation, BoundTable]:
    """Return the query of an INSERT and its target; errors in columns refer to the query."""
    target = insert_target(session, statement)
    if statement.overwrite:
        with at_span(statement.span):
            require_batch(session, "INSERT OVERWRITE")
    relation = session.query(statement.query, text)
    with at_span(statement.query.span):
        require_fit(relation, target, Writing.of(statement))
    with at_span(statement.span):
        require_consumed_updates(session, relation, target)
    with at_span(statement.span):
        if statement.on_conflict is None:
            chosen = require_fit(relation, target, Writing.of(statement))
            require_key_of_rows(session, relation, target, chosen)
        check_on_conflict(session, relation, target, Writing.of(statement))
    return relation, target


def check_on_conflict(
    session: Session, relation: relational.Relation, target: BoundTable, how: Writing
) -> None:
    """Raise for ON CONFLICT that a streaming job cannot do (`unsupported-ability`)."""
    if how.on_conflict is not None:
        chosen = require_fit(relation, target, how)
        conflict_action(session, relation, target, chosen, how.on_conflict)


@dataclass(frozen=True, slots=True)
class Writing:
    """How rows are written: into which columns and partition, and whether they overwrite."""

    columns: tuple[Name, ...] = ()
    partition: Partition | None = None
    overwrite: bool = False
    on_conflict: str | None = None
    column_types: tuple[TypeName, ...] = ()

    @classmethod
    def of(cls, statement: Insert) -> Writing:
        return cls(
            statement.columns,
            statement.partition,
            statement.overwrite,
            statement.on_conflict,
            statement.column_types,
        )


def prepare_write(
    session: Session, relation: relational.Relation, target: BoundTable, how: Writing
) -> JobGraph:
    """Prepare the job that writes a query into a table.

    Errors are those of `require_fit` and `finish_for_write`.
    """
    session.tables.require_writable(target.identifier, target.table.options)
    target = finish_for_write(session, target)
    staged = staged_target(session, target)
    fixed, chosen = how.partition, require_fit(relation, target, how)
    names = how.columns
    action = conflict_action(session, relation, target, chosen, how.on_conflict)
    if fixed is not None:
        relation, chosen = (
            _with_partition(relation, fixed, target.table.resolved_schema),
            [*chosen, *dict(fixed.values)],
        )
    graph = planner_of_job(session, relation, target.identifier).insert(
        session.executable(relation),
        target,
        columns=chosen if names or fixed else None,
        overwrite=how.overwrite,
        partition=_partition_values(fixed) if fixed else None,
        on_conflict=action,
    )
    if staged is not None:
        graph.before_commit.append(partial(require_unchanged, session, staged))
    return graph


def staged_target(session: Session, target: BoundTable) -> BoundTable | None:
    """Return a permanent table as stored, if its rows become visible at the commit."""
    if target.is_temporary or target.identifier.catalog_name == UNKNOWN:
        return None
    connector = installed_connector(target.table.options)
    is_staged = Ability.STAGING in getattr(connector, "abilities", ())
    return session.bind(target.identifier) if is_staged else None


def _partition_values(partition: Partition) -> dict[str, str]:
    """Return the values of a PARTITION clause, which are all present."""
    return {key: value for key, value in partition.values if value is not None}


def require_fit(relation: relational.Relation, target: BoundTable, how: Writing) -> list[str]:
    """Return the columns of the table that the query fills, in order.

    Codes: `unknown-column`, `column-count-mismatch`, `not-assignable`.
    """
    schema, fixed = target.table.resolved_schema, how.partition
    check_partition(target, fixed)
    check_names(how.columns, schema)
    keys = frozenset(key for key, _ in fixed.values) if fixed else frozenset[str]()
    for name in how.columns:
        if name.parts[0] in keys:
            raise SchemaError(
                f"column {name.parts[0]!r} has a value in the PARTITION clause",
                code="duplicate-column",
                span=name.span,
            )
    chosen = [name.parts[0] for name in how.columns] or [
        name for name in persisted_columns(schema) if name not in keys
    ]
    _check_types(how, schema)
    check_assignment(relational.result_columns(relation), schema, chosen)
    return chosen


def persisted_columns(schema: ResolvedSchema) -> list[str]:
    """Return the names of the persisted columns."""
    return [column.name for column in schema.columns if column.is_persisted()]


def check_partition(target: BoundTable, fixed: Partition | None) -> None:
    """Require values of different partition keys (`unknown-column`, `duplicate-column`)."""
    named = set[str]()
    for key, _ in fixed.values if fixed else ():
        if key not in target.table.partition_keys:
            raise SchemaError(
                f"{key!r} is not a partition key of {target.identifier.as_summary_string()}",
                code="unknown-column",
                span=fixed.span if fixed else None,
                hint=similar(key, target.table.partition_keys),
            )
        if key in named:
            raise SchemaError(
                f"partition key {key!r} is named twice",
                code="duplicate-column",
                span=fixed.span if fixed else None,
            )
        named.add(key)


def check_names(columns: Sequence[Name], schema: ResolvedSchema) -> None:
    """Require names of different persisted columns (`unknown-column`, `duplicate-column`)."""
    known, chosen = persisted_columns(schema), set[str]()
    for column in columns:
        name = ".".join(column.parts)
        if len(column.parts) > 1 or name not in known:
            raise SchemaError(
                f"the table has no persisted column {name!r}",
                code="unknown-column",
                span=column.span,
                hint=similar(name, known),
            )
        if name in chosen:
            raise SchemaError(
                f"column {name!r} is named twice", code="duplicate-column", span=column.span
            )
        chosen.add(name)


def _check_types(how: Writing, schema: ResolvedSchema) -> None:
    """Require the table's types in the list of columns."""
    types = {column.name: column.data_type.nullable() for column in schema.columns}
    for name, type_name in zip(how.columns, how.column_types, strict=False):
        declared, label = data_type(type_name, as_cast=False), name.parts[0]
        if declared.nullable() != types[label]:
            raise SchemaError(
                f"column {label!r} is {types[label]}, but the statement declares {declared}",
                code="not-assignable",
                span=type_name.span,
                hint="omit the type",
            )


def _hint_of_columns(names: Sequence[str], schema: ResolvedSchema) -> str:
    """Return which columns are written, and how to omit those that are metadata."""
    listed = cut(", ".join(map(quote_identifier, names)), MAX_PLACE)
    kinds = {column.name: type(column) for column in schema.columns}
    metadata = [name for name in names if issubclass(kinds[name], MetadataColumn)]
    if not metadata:
        return f"the columns are {listed}"
    of_metadata = cut(", ".join(map(quote_identifier, metadata)), MAX_PLACE)
    return (
        f"the columns are {listed}, of which {of_metadata} are metadata: return a value for each, "
        "or declare them VIRTUAL, or name the other columns: INSERT INTO t (a, b)"
    )


def check_assignment(
    columns: relational.Columns, schema: ResolvedSchema, chosen: Sequence[str] | None = None
) -> None:
    """Check that a query's columns can be assigned (`column-count-mismatch`, `not-assignable`).

    NULL into NOT NULL is not a matter of types: the running job refuses it row by row.
    """
    names = persisted_columns(schema) if chosen is None else chosen
    if len(names) != len(columns):
        raise SchemaError(
            f"the query returns {len(columns)} columns, but {len(names)} are written",
            code="column-count-mismatch",
            hint=_hint_of_columns(names, schema),
        )
    types = {column.name: column.data_type for column in schema.columns}
    for column, name in zip(columns, names, strict=True):
        target = types[name]
        if not supports_implicit_cast(column.type.nullable(), target.nullable()):
            raise SchemaError(
                f"column {name!r} is {target}, but the query returns {column.type}",
                code="not-assignable",
                hint=ADD_CAST,
            )


def _with_partition(
    relation: relational.Relation, fixed: Partition, schema: ResolvedSchema
) -> relational.Relation:
    """Return the relation with the partition's values after its columns.

    A value is written as a string and cast to its column's type, as in Flink.
    """
    columns = relational.result_columns(relation)
    types = {column.name: column.data_type for column in schema.columns}
    read = [relational.Item(name, Ref(name, type_, ALIAS)) for name, type_ in columns]
    values = [
        relational.Item(key, _cast(_constant(key, value), types[key]))
        for key, value in fixed.values
    ]
    return relational.Select((*read, *values), relational.Named(relation, ALIAS, columns))


def _cast(value: Constant, type_: DataType) -> Typed:
    """Cast a string to the type of a column, unless it is a string type."""
    return value if isinstance(type_, CharType | VarCharType) else implicit_cast(value, type_)


def _constant(key: str, value: str | None) -> Constant:
    """Return the value of a partition key as a constant."""
    if value is None:
        raise UnsupportedError(f"partition key {key!r} has no value", code="invalid-partition-spec")
    literal = Literal(LiteralKind.STRING, value)
    return Constant(literal, CharType(max(1, len(value)), nullable=False))


# --- the others ----------------------------------------------------------------------------


def statement_set(session: Session, statement: StatementSet, text: str) -> TableResult:
    """Submit one job for several INSERTs; all are checked before the first runs."""
    for item in statement.inserts:
        finish_target(session, item)
    checked = [(*check_insert(session, item, text), Writing.of(item)) for item in statement.inserts]
    return run_job(session, [partial(prepare_write, session, *each) for each in checked])


def execute(session: Session, statement: Execute, text: str) -> TableResult:
    """Execute the statement after EXECUTE."""
    match statement.statement:
        case Insert() as inner:
            return insert(session, inner, text)
        case SelectStatement() as inner:
            return select(session, inner, text)
