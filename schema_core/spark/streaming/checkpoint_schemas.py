"""A streaming job's table schemas in its checkpoint, and whether it continues with others.

The rules are those of migrations. A job without state may read rows of the old schema; state is
restored only for columns of equal types.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, TypeAlias

from schema_core.base.lazy import NamedTuple
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

#: The kind of a finding about a column with another source.
PLAN: Final = "plan-changed"
#: The source of a column that the table stores.
PHYSICAL: Final = "a physical column"


class Stored(NamedTuple):
    """A stored column: its type, and where its values come from."""

    type: str
    source: str


#: Path of a table -> the columns that a job uses.
Tables: TypeAlias = Mapping[str, Mapping[str, Stored]]


def sources_of(query: Relation) -> Tables:
    """Return the columns of each table that a query reads, and those that they depend on."""
    demands = scan_demands(query)
    tables: dict[str, dict[str, Stored]] = {}
    for scan in scans_in(query):
        schema = scan.table.schema
        demand = demands.get(id(scan))
        names = set(schema.get_column_names()) if demand is None else set(demand.columns)
        path = join_names(scan.table.identifier.to_list())
        tables.setdefault(path, {}).update(_columns(schema, names))
    return tables


def sink_of(target: BoundTable) -> Tables:
    """Return a table's columns that a job writes."""
    columns = target.table.resolved_schema.columns
    stored = {column.name: _stored_column(column) for column in columns if column.is_persisted()}
    return {join_names(target.identifier.to_list()): stored}


def _columns(schema: ResolvedSchema, names: Collection[str]) -> dict[str, Stored]:
    columns = {column.name: column for column in schema.columns}
    used: dict[str, Stored] = {}
    rest = list(names)
    while rest:
        column = columns[rest.pop()]
        if column.name in used:
            continue
        used[column.name] = _stored_column(column)
        if isinstance(column, ComputedColumn):
            read = walk(column.expression.typed)
            rest += (
                column.name for column in read if isinstance(column, Ref) and column.name in columns
            )
    return used


def _stored_column(column: Column) -> Stored:
    match column:
        case ComputedColumn(expression=expression):
            source = f"computed as {expression}"
        case MetadataColumn():
            source = f"metadata {column.key!r}"
        case _:
            source = PHYSICAL
    return Stored(str(column.data_type), source)


def tables_from(document: Any) -> Tables:
    """Return the `Tables` of a JSON document; others raise `TypeError` or `ValueError`.

    A `SchemaError` is a `ValueError`.
    """
    tables: dict[str, dict[str, Stored]] = {}
    for path, columns in dict(document).items():
        tables[path] = {}
        for name, (type_, source) in dict(columns).items():
            if not isinstance(type_, str) or not isinstance(source, str):
                raise TypeError(name)
            parse_type(type_)
            tables[path][name] = Stored(type_, source)
    return tables


def require_compatible(
    path: str, old: tuple[Tables, Tables], new: tuple[Tables, Tables], *, has_state: bool
) -> None:
    """Require that a job continues with other schemas (`checkpoint-mismatch`).

    The error names every change that is one; a column that the job did not read is ignored.

    Args:
        path: The checkpoint's directory.
        old: The sources and the sink at the job's last start.
        new: Those at this start.
        has_state: Whether the job's query has a state.
    """
    findings = [
        *_findings(old[0], new[0], has_state=has_state),
        *_findings(old[1], new[1], has_state=False),
    ]
    errors = [(table, risk) for table, risk in findings if risk.severity is Severity.ERROR]
    if errors:
        changes = "; ".join(
            f"column {join_names(risk.path)!r} of {table}: {risk.reason} [{risk.kind}]"
            for table, risk in errors
        )
        raise ConflictError(
            f"the job with the checkpoint in {path!r} cannot continue with the schema as it is "
            f"now: {changes}",
            code="checkpoint-mismatch",
            hint="restore the old definition of the table; or SET 'pipeline.name' to a new name to "
            "read everything from the beginning",
        )


def _findings(old: Tables, new: Tables, *, has_state: bool) -> Iterator[tuple[str, Finding]]:
    for path, columns in new.items():
        # older versions did not quote names with dots
        stored = old.get(path) or old.get(".".join(split_names(path)), {})
        for name in stored.keys() & columns.keys():
            before, after = stored[name], columns[name]
            if before == after:
                continue
            schemas = _schema(name, before), _schema(name, after)
            if has_state:
                yield from ((path, finding) for finding in can_jobs_restart(*schemas))
                if before.source != after.source:
                    severity = FINDINGS[PLAN].severity
                    reason = f"{before.source} becomes {after.source}"
                    aspect = CompatibilityAspect.RUNNING_JOBS
                    yield path, Finding(aspect, PLAN, (name,), severity, reason)
            elif before.source == after.source == PHYSICAL:
                yield from ((path, finding) for finding in can_read_old_data(*schemas))


def _schema(name: str, column: Stored) -> ResolvedSchema:
    return ResolvedSchema.physical([name], [parse_type(column.type)])
