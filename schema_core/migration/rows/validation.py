"""Validation of rows before a migration: which of them the new definition cannot hold.

One query counts them, by file if the connector has the metadata ``file.path``.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from schema_core.base.arguments import require_instance, require_names
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, parse_path
from schema_core.base.text import escaped, quantity, quote_identifier, show
from schema_core.catalog.changes.column_history import ColumnHistory
from schema_core.catalog.changes.normal_forms import as_table, normalize
from schema_core.catalog.managed import ensure_directory
from schema_core.catalog.managers import FoundTable
from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable, TableKind
from schema_core.catalog.own_options import without_own_options
from schema_core.catalog.resolve import origin, resolve_table
from schema_core.environment.connector import installed_connector
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.migration.differences import Definition, RenameHints, diff, renames_by_path
from schema_core.migration.ordering import renamed_columns
from schema_core.migration.rows.stored_rows import StoredRows, find_rewrites
from schema_core.migration.targets.conversions import Conversion, conversion
from schema_core.migration.targets.rewrites import is_stored, sources_of
from schema_core.migration.targets.statement_writer import StatementWriter
from schema_core.migration.targets.target_statements import TARGETS, type_of
from schema_core.schema.columns import (
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
)
from schema_core.schema.resolve import SchemaResolver
from schema_core.types import DataType, DataTypes, RowType
from schema_core.types.row_value import Row

FILE_PATH = "file.path"


@dataclass(frozen=True, slots=True)
class RowProblem:
    """Rows that the new definition cannot hold as they are.

    `kind` is one of `KINDS`. `files` has the number of rows by file. `samples` are values of the
    first rows.
    """

    kind: str
    column: tuple[str, ...]
    reason: str
    rows: int
    files: Mapping[str, int]
    samples: tuple[str, ...] = ()

    def __str__(self) -> str:
        name = escaped(".".join(self.column))
        text = f"{name}: {quantity(self.rows, 'row')}: {escaped(self.reason)} [{self.kind}]"
        lines = [text, *(f"  {escaped(file)}: {rows:,}" for file, rows in self.files.items())]
        return "\n".join([*lines, *(f"  such as {escaped(sample)}" for sample in self.samples)])


#: Kind of problem -> whether a rewrite fails; otherwise it changes or loses values.
KINDS: Mapping[str, bool] = {
    "null-value": True,
    "missing-value": True,
    "duplicate-key": True,
    "cast-failed": True,
    "not-castable": True,
    "value-changed": False,
    "too-long": False,
    "value-dropped": False,
    "not-checked": False,
}


def accepted_kinds(accept: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds of problems that are accepted.

    Raises:
        SchemaError: with code `invalid-argument` for a kind that cannot be.
    """
    accepted = require_names(accept, "accept")
    for kind in accepted:
        if KINDS.get(kind, True):
            allowed = ", ".join(value for value, fails in KINDS.items() if not fails)
            raise SchemaError(
                f"problems of the kind {kind!r} cannot be accepted",
                code="invalid-argument",
                hint=f"accept only {allowed}",
            )
    return accepted


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """The numbers of rows and files, and the problems.

    `rewrite` is why the stored rows do not follow the new definition, None if ALTER TABLE suffices.
    `not_counted` is why the rows were not read, None if they were.
    """

    path: str
    rows: int
    files: int
    problems: tuple[RowProblem, ...]
    unchecked: tuple[str, ...] = ()
    rewrite: str | None = None
    not_counted: str | None = None

    def __str__(self) -> str:
        if self.not_counted is not None:
            accepted = "" if self.unchecked else " (accepted)"
            return f"{self.path}: not checked{accepted}: {escaped(self.not_counted)}"
        where = f" in {quantity(self.files, 'file')}" if self.files else ""
        count = quantity(len(self.problems), "problem")
        lines = [f"{self.path}: {quantity(self.rows, 'row')}{where}, {count}"]
        if self.rewrite is not None:
            lines.append(f"  requires a rewrite: {escaped(self.rewrite)}")
        for problem in self.problems:
            lines += [f"  {line}" for line in str(problem).splitlines()]
        return "\n".join(
            [*lines, *(f"  not checked: {escaped(column)}" for column in self.unchecked)]
        )


@dataclass(frozen=True, slots=True)
class _Check:
    """A condition in SQL for rows with a problem; `sample` is the value to show.

    The condition of `duplicate-key` is the number of its rows.
    """

    kind: str
    column: tuple[str, ...]
    reason: str
    condition: str
    sample: str | None = None

    @property
    def count(self) -> str:
        if self.kind == "duplicate-key":
            return self.condition
        return f"SUM(CASE WHEN {self.condition} THEN 1 ELSE 0 END)"


def validate_rows(
    environment: TableEnvironment,
    path: str,
    new: Definition,
    *,
    renames: RenameHints | None = None,
    samples: int = 3,
) -> ValidationReport:
    """Count the rows of a table that a new definition cannot hold; nothing is changed.

    Checked are NULL and missing values of NOT NULL columns, casts that fail or change the value,
    lengths, values of dropped columns, and duplicates of the new primary key. One query counts all;
    others read samples.

    Args:
        environment: The environment, whose engine reads the table.
        path: The path of a permanent table.
        new: The new definition.
        renames: As for `diff`.
        samples: The most samples of each problem, from 0 to 100.

    Raises:
        SchemaError: as `diff`; with code `wrong-object-type` for a view.
        NotFoundError: with code `table-not-found`.
        SchemaCoreError: if the table cannot be read.
    """
    require_instance(environment, TableEnvironment, "environment")
    if not 0 <= require_instance(samples, int, "samples") <= 100:
        raise SchemaError(f"samples must be from 0 to 100, got {samples}", code="invalid-argument")
    identifier, table, options = stored_table(environment, path)
    diff(table, new, renames=renames)
    resolver = environment.schema_resolver
    if not isinstance(new, CatalogTable):
        new = replace(origin(table), schema=as_table(new).schema)
    wanted = normalize(resolve_table(as_table(new), resolver))
    writer = StatementWriter(TARGETS["flink"], ("rows",), resolver)
    hints = column_renames(renames or {})
    unchecked: list[str] = []
    checks = [*_checks(writer, normalize(table), wanted, hints, unchecked)]
    with _register_rows(environment, identifier, table, options) as (source, file):
        rows, files, counts = _count_rows(environment, source, file, checks)
        problems = [
            RowProblem(
                check.kind,
                check.column,
                check.reason,
                number,
                by_file,
                _read_samples(environment, source, file, check, samples),
            )
            for check, (number, by_file) in zip(checks, counts, strict=True)
            if number
        ]
    shown = identifier.as_summary_string()
    storage = environment.catalog_manager.get_storage(identifier)
    before, after = (StoredRows.of(each, storage) for each in (normalize(table), wanted))
    rewrites = find_rewrites(before, after, renames_by_path(renames))
    rewrite = next((finding.reason for finding in rewrites), None)
    return ValidationReport(shown, rows, files, tuple(problems), tuple(unchecked), rewrite)


def find_losses(
    old: CatalogTable, new: CatalogTable, renames: RenameHints, resolver: SchemaResolver
) -> tuple[str, ...]:
    """Return the kinds of problems by which a rewrite may lose values, which can be accepted.

    Args:
        old: The definition of the stored rows.
        new: The new definition.
        renames: As for `diff`.
        resolver: The resolver of the definitions.
    """
    before, after = (normalize(resolve_table(each, resolver)) for each in (old, new))
    unchecked: list[str] = []
    writer = StatementWriter(TARGETS["flink"], ("rows",), resolver)
    checks = _checks(writer, before, after, column_renames(renames), unchecked)
    kinds = dict.fromkeys(check.kind for check in checks if not KINDS[check.kind])
    return (*kinds, *(["not-checked"] if unchecked else []))


def stored_table(
    environment: TableEnvironment, path: str
) -> tuple[ObjectIdentifier, ResolvedCatalogTable, Mapping[str, str]]:
    """Return a permanent table with its full path, and the options by which it is read.

    Raises:
        NotFoundError: with code `table-not-found`.
        SchemaError: with code `wrong-object-type` for a view or a materialized table.
    """
    entry, table = permanent_table(environment, path)
    if entry.derived is not None:
        ensure_directory(entry.derived)
    return entry.identifier, table, entry.connector_options


def permanent_table(
    environment: TableEnvironment, path: str
) -> tuple[FoundTable, ResolvedCatalogTable]:
    """Return a permanent table, with and without what sessions do not show.

    Raises:
        NotFoundError, SchemaError: as `stored_table`.
    """
    manager = environment.catalog_manager
    parsed = parse_path(require_instance(path, str, "path"))
    identifier = parsed.qualify(
        environment.get_current_catalog(), environment.get_current_database()
    )
    entry = manager.find_permanent(identifier) or manager.get(identifier)
    if not isinstance(entry.table, ResolvedCatalogTable) or entry.is_temporary:
        raise SchemaError(
            f"{identifier.as_summary_string()!r} is not a permanent table", code="wrong-object-type"
        )
    return entry, entry.table


# --- checks --------------------------------------------------------------------------------------


def column_renames(renames: RenameHints) -> dict[str, str]:
    """Return the renames of columns by the old name.

    Raises:
        SchemaError: with code `invalid-argument` for the rename of a field.
    """
    paths = renames_by_path(renames)
    for path in paths:
        if len(path) > 1:
            raise SchemaError(
                f"rows cannot be converted to a renamed field: {'.'.join(path)}",
                code="invalid-argument",
                hint="rename the field first, with ALTER TABLE ... RENAME",
            )
    return renamed_columns(paths)


def _checks(
    writer: StatementWriter,
    old: CatalogTable,
    new: CatalogTable,
    renames: Mapping[str, str],
    unchecked: list[str],
) -> Iterator[_Check]:
    sources = sources_of(old, new, renames)
    keys: list[str] = []
    key = () if new.schema.primary_key is None else new.schema.primary_key.column_names
    for column in filter(is_stored, new.schema.columns):
        type_, source = type_of(column), sources.get(column.name)
        if source is None:
            if not type_.is_nullable:
                reason = f"{type_.as_summary_string()}, and the rows do not have it"
                yield _Check("missing-value", (column.name,), reason, "TRUE")
            continue
        value = writer.name(source.name)
        if isinstance(source, UnresolvedComputedColumn):
            unchecked.append(f"{column.name}: the values of a computed column are stored")
            continue
        before = type_of(source)
        where = (source.name,)
        yield from _value_checks(writer, where, value, None, before, type_, unchecked)
        if column.name in key:
            same = before.nullable() == type_.nullable()
            keys.append(value if same else f"TRY_CAST({value} AS {writer.type(type_)})")
    used = {source.name for source in sources.values()}
    for dropped in old.schema.columns:
        if is_stored(dropped) and dropped.name not in used:
            yield _dropped_check(
                writer, (dropped.name,), writer.name(dropped.name), type_of(dropped)
            )
    if key and len(keys) == len(key):
        row = f"COUNT(*) - COUNT(DISTINCT ROW({', '.join(keys)}))"
        count = f"COUNT({keys[0]}) - COUNT(DISTINCT {keys[0]})" if len(keys) == 1 else row
        reason = "other rows have the same primary key"
        yield _Check("duplicate-key", tuple(key), reason, count, ", ".join(keys))


def _dropped_check(
    writer: StatementWriter, path: tuple[str, ...], value: str, type_: DataType
) -> _Check:
    sample = None if isinstance(type_, RowType) else value
    return _Check("value-dropped", path, "the value is dropped", f"{value} IS NOT NULL", sample)


def _value_checks(
    writer: StatementWriter,
    path: tuple[str, ...],
    value: str,
    row: str | None,
    old: DataType,
    new: DataType,
    unchecked: list[str],
) -> Iterator[_Check]:
    """Yield the checks of a value and its fields; `row` is the row that it is in."""
    if old.is_nullable and not new.is_nullable:
        parent = "" if row is None else f"{row} IS NOT NULL AND "
        yield _Check(
            "null-value", path, f"NULL is not {new.as_summary_string()}", f"{parent}{value} IS NULL"
        )
    if isinstance(old, RowType) and isinstance(new, RowType):
        yield from _field_checks(writer, path, value, old, new, unchecked)
    elif old.nullable() != new.nullable():
        converted = conversion(writer, value, old, new)
        if converted is None:
            reason = f"there is no cast from {old.as_summary_string()} to {new.as_summary_string()}"
            yield _Check("not-castable", path, reason, f"{value} IS NOT NULL")
        elif old.children() or new.children():
            unchecked.append(
                f"{'.'.join(path)}: from {old.as_summary_string()} to {new.as_summary_string()}"
            )
        else:
            yield from _scalar_checks(converted, path, value, old, new)


def _field_checks(
    writer: StatementWriter,
    path: tuple[str, ...],
    value: str,
    old: RowType,
    new: RowType,
    unchecked: list[str],
) -> Iterator[_Check]:
    types = {column.name: column.data_type for column in old}
    for field in new:
        inner = f"{value}.{writer.name(field.name)}"
        where = (*path, field.name)
        if field.name in types:
            before = types[field.name]
            type_ = field.data_type
            yield from _value_checks(writer, where, inner, value, before, type_, unchecked)
        elif not field.data_type.is_nullable:
            reason = f"{field.data_type.as_summary_string()}, and the rows do not have it"
            yield _Check("missing-value", where, reason, f"{value} IS NOT NULL")
    for name in types.keys() - {*new.field_names()}:
        yield _dropped_check(writer, (*path, name), f"{value}.{writer.name(name)}", types[name])


def _scalar_checks(
    converted: Conversion, path: tuple[str, ...], value: str, old: DataType, new: DataType
) -> Iterator[_Check]:
    """Yield the checks of a conversion; a value that cannot be cast is not also a changed one."""
    before, after = old.as_summary_string(), new.as_summary_string()
    reasons = {
        "cast-failed": f"it cannot be cast from {before} to {after}",
        "too-long": f"longer than {after}",
        "value-changed": f"{after} has another value",
    }
    castable = ""
    for kind, reason in reasons.items():
        conditions = " AND ".join(
            check.condition for check in converted.checks if check.kind == kind
        )
        if conditions:
            problem = f"{value} IS NOT NULL AND {castable}({conditions}) IS NOT TRUE"
            yield _Check(kind, path, reason, problem, value)
        if conditions and kind == "cast-failed":
            castable = f"({conditions}) IS TRUE AND "


# --- queries -------------------------------------------------------------------------------------


@contextmanager
def _register_rows(
    environment: TableEnvironment,
    identifier: ObjectIdentifier,
    table: ResolvedCatalogTable,
    options: Mapping[str, str],
) -> Iterator[tuple[str, str | None]]:
    """Register the rows of a table as a temporary one.

    Yields the path of the temporary table, and the column with the file.
    """
    name = f"{identifier.object_name}__{uuid.uuid4().hex[:12]}"
    temporary = ObjectIdentifier.of(identifier.catalog_name, identifier.database_name, name)
    schema, file = origin(table).schema, None
    connector = installed_connector(options)
    if connector is not None and FILE_PATH in connector.metadata:
        file = "file_path"
        while any(column.name == file for column in schema.columns):
            file += "_"
        column = UnresolvedMetadataColumn(file, DataTypes.STRING(), FILE_PATH, virtual=True)
        schema = replace(schema, columns=(*schema.columns, column))
    readable = CatalogTable(schema, tuple(table.partition_keys), options=dict(options))
    try:
        with registered_table(environment, temporary, readable):
            yield temporary.as_serializable_string(), file
    except SchemaCoreError as error:
        # the temporary table and the query are internal
        registered, shown_path = temporary.as_summary_string(), identifier.as_summary_string()
        for other in (error, *error.others):
            other.path = tuple(place.replace(registered, shown_path) for place in other.path)
            other.text = other.span = None
        raise


@contextmanager
def registered_table(
    environment: TableEnvironment, identifier: ObjectIdentifier, table: CatalogTable
) -> Iterator[None]:
    """Register a temporary table, which may hide one, with the column history in its options."""
    manager, history = environment.catalog_manager, ColumnHistory.of(table.options)
    shown = without_own_options(table)
    manager.create_temporary(identifier, shown, ignore_if_exists=False, history=history)
    try:
        yield
    finally:
        manager.drop_temporary(TableKind.TABLE, identifier, if_exists=True)


def _rows(environment: TableEnvironment, query: str) -> list[Row]:
    with environment.execute_sql(query).collect() as rows:
        return list(rows)


def _count_rows(
    environment: TableEnvironment, source: str, file: str | None, checks: Sequence[_Check]
) -> tuple[int, int, list[tuple[int, dict[str, int]]]]:
    """Return the number of rows and of files, and for each check the rows, in all and by file."""
    quoted = "CAST(NULL AS STRING)" if file is None else quote_identifier(file)
    counts = ", ".join([quoted, "COUNT(*)", *(check.count for check in checks)])
    groups = "" if file is None else f" GROUP BY GROUPING SETS (({quoted}), ())"
    counted = _rows(environment, f"SELECT {counts} FROM {source}{groups}")
    total = next((row for row in counted if row[0] is None), None)
    rows = 0 if total is None else total[1]
    by_file = sorted((row for row in counted if row[0] is not None), key=lambda row: str(row[0]))
    result = []
    for position, check in enumerate(checks, 2):
        files = {row[0]: row[position] for row in by_file if row[position]}
        number = 0 if total is None else total[position] or 0
        result.append((number, {} if check.kind == "duplicate-key" else files))
    return rows, len(by_file), result


def _read_samples(
    environment: TableEnvironment, source: str, file: str | None, check: _Check, samples: int
) -> tuple[str, ...]:
    if check.sample is None or samples == 0:
        return ()
    if check.kind == "duplicate-key":
        query = (
            f"SELECT {check.sample}, COUNT(*) FROM {source} GROUP BY {check.sample}"
            f" HAVING COUNT(*) > 1 LIMIT {samples}"
        )
        return tuple(
            f"{', '.join(show(value) for value in row[:-1])}: {row[-1]:,} rows"
            for row in _rows(environment, query)
        )
    shown = "CAST(NULL AS STRING)" if file is None else quote_identifier(file)
    query = f"SELECT {check.sample}, {shown} FROM {source} WHERE {check.condition} LIMIT {samples}"
    return tuple(
        show(value) if place is None else f"{show(value)} in {place}"
        for value, place in _rows(environment, query)
    )
