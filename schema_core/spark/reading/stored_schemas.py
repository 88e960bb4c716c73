"""Schemas of the tables of a streaming job in its checkpoint, and whether it continues with others.

The rules are those of migrations. A job without state may read rows that were stored by the old
schema; the state of a job is restored only for columns of equal types.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from schema_core.base.paths import join_names, split_names
from schema_core.environment.planner import BoundTable
from schema_core.environment.unbounded import scans_in
from schema_core.errors import ConflictError
from schema_core.expressions.typed import Ref, walk
from schema_core.migration.compatibility import (
    FINDINGS,
    CompatibilityAspect,
    Finding,
    Severity,
    can_jobs_restart,
    can_read_old_data,
)
from schema_core.query.relation import Relation
from schema_core.schema.columns import Column, ComputedColumn, MetadataColumn
from schema_core.schema.resolved import ResolvedSchema
from schema_core.spark.reading.pushdown import scan_demands
from schema_core.types import parse_type

#: The kind of a finding about a column that comes from elsewhere.
PLAN: Final = "plan-changed"
#: The source of a column that the table stores.
PHYSICAL: Final = "a physical column"


class Stored(NamedTuple):
    """A column as it is stored: its type, and where its values come from."""

    type: str
    source: str


#: Path of a table -> the columns that a job uses.
Tables: TypeAlias = Mapping[str, Mapping[str, Stored]]


def sources_of(query: Relation) -> Tables:
    """Return the columns that a query reads of each table, with the ones that they depend on."""
    demands = scan_demands(query)
    found: dict[str, dict[str, Stored]] = {}
    for scan in scans_in(query):
        schema = scan.table.schema
        demand = demands.get(id(scan))
        names = set(schema.get_column_names()) if demand is None else set(demand.columns)
        path = join_names(scan.table.identifier.to_list())
        found.setdefault(path, {}).update(_columns(schema, names))
    return found


def sink_of(target: BoundTable) -> Tables:
    """Return the columns of a table that a job writes."""
    columns = target.table.resolved_schema.columns
    written = {column.name: _stored_column(column) for column in columns if column.is_persisted()}
    return {join_names(target.identifier.to_list()): written}


def _columns(schema: ResolvedSchema, names: Collection[str]) -> dict[str, Stored]:
    known = {column.name: column for column in schema.columns}
    found: dict[str, Stored] = {}
    rest = list(names)
    while rest:
        column = known[rest.pop()]
        if column.name in found:
            continue
        found[column.name] = _stored_column(column)
        if isinstance(column, ComputedColumn):
            read = walk(column.expression.typed)
            rest += (
                column.name for column in read if isinstance(column, Ref) and column.name in known
            )
    return found


def _stored_column(column: Column) -> Stored:
    return Stored(str(column.data_type), _source(column))


def _source(column: Column) -> str:
    """Return where the values of a column come from."""
    match column:
        case ComputedColumn(expression=expression):
            return f"computed as {expression}"
        case MetadataColumn():
            return f"metadata {column.key!r}"
        case _:
            return PHYSICAL


def tables_from(document: Any) -> Tables:
    """Return tables from a document of JSON that `Tables` was written to.

    Raises:
        TypeError, ValueError: for another document (a `SchemaError` is a `ValueError`).
    """
    found: dict[str, dict[str, Stored]] = {}
    for path, columns in dict(document).items():
        found[path] = {}
        for name, (type_, source) in dict(columns).items():
            if not isinstance(type_, str) or not isinstance(source, str):
                raise TypeError(name)
            parse_type(type_)
            found[path][name] = Stored(type_, source)
    return found


def require_compatible(
    path: str, old: tuple[Tables, Tables], new: tuple[Tables, Tables], *, has_state: bool
) -> None:
    """Require that a job continues with other schemas; a column that it did not read is ignored.

    Args:
        path: The directory of the checkpoint.
        old: The sources and the sink when the job last started.
        new: Those with which it starts.
        has_state: Whether the query of the job has a state.

    Raises:
        ConflictError: with code `checkpoint-schema-mismatch`, which names every change that is an
            error.
    """
    found = [
        *_findings(old[0], new[0], has_state=has_state),
        *_findings(old[1], new[1], has_state=False),
    ]
    errors = [(table, item) for table, item in found if item.severity is Severity.ERROR]
    if errors:
        changes = "; ".join(
            f"column {join_names(risk.path)!r} of {table}: {risk.reason} [{risk.kind}]"
            for table, risk in errors
        )
        raise ConflictError(
            f"the job with the checkpoint in {path!r} cannot continue with the schema as it is "
            f"now: {changes}",
            code="checkpoint-schema-mismatch",
            hint="restore the old definition of the table; or SET 'pipeline.name' to a new name to "
            "read everything from the beginning",
        )


def _findings(old: Tables, new: Tables, *, has_state: bool) -> Iterator[tuple[str, Finding]]:
    for path, columns in new.items():
        # older versions did not quote names with dots
        stored = old.get(path) or old.get(".".join(split_names(path)), {})
        for name in stored.keys() & columns.keys():
            before, after = stored[name], columns[name]
            if before != after:
                check = _state_findings if has_state else _data_findings
                yield from ((path, item) for item in check(name, before, after))


def _data_findings(name: str, old: Stored, new: Stored) -> Iterator[Finding]:
    """Yield the findings about rows that were stored by the old type."""
    if (old.source, new.source) == (PHYSICAL, PHYSICAL):
        yield from can_read_old_data(_schema(name, old), _schema(name, new))


def _state_findings(name: str, old: Stored, new: Stored) -> Iterator[Finding]:
    """Yield the findings about rows in the state of the job."""
    yield from can_jobs_restart(_schema(name, old), _schema(name, new))
    if old.source != new.source:
        severity, reason = FINDINGS[PLAN].severity, f"{old.source} becomes {new.source}"
        yield Finding(CompatibilityAspect.RUNNING_JOBS, PLAN, (name,), severity, reason)


def _schema(name: str, column: Stored) -> ResolvedSchema:
    return ResolvedSchema.physical([name], [parse_type(column.type)])
