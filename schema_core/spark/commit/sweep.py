"""Sweeps: whole catalogs are resolved and verified on the cluster, one row for each definition.

A definition that cannot be read, or anything that goes wrong with it, is a row with diagnostics; it
never fails the job. Executors import this module, so the functions of the job hold no state of the
driver.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from schema_core.base.arguments import require_instance
from schema_core.base.caching import GenerationalCache, cached_by_identity
from schema_core.base.extras import needs
from schema_core.base.text import escaped, position, quote_identifier, quote_string, show
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.operations.dispatch import run
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.session import Session
from schema_core.errors import Diagnostic, NotFoundError, SchemaCoreError, SchemaError
from schema_core.mappings.loss import lasting_losses
from schema_core.properties.stored import schemas_of
from schema_core.properties.verification import examine
from schema_core.schema.columns import format_metadata
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import (
    AnyColumn,
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    ResolvedSchema,
)
from schema_core.spark.commit.sweep_summary import SweepReport
from schema_core.spark.session.worker_package import send_package
from schema_core.sql.parser import read_statements
from schema_core.sql.statement_syntax import (
    CreateDatabase,
    CreateMaterializedTable,
    CreateTable,
    CreateView,
    Statement,
    UseDatabase,
)
from schema_core.types import parse_type

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.spark.session.session import JobSession

    #: Definitions, and what they are.
    Portion: TypeAlias = "tuple[DataFrame, Form]"

#: What the column `definition` holds: property maps, as MAP or as JSON, or scripts of Flink SQL.
Form: TypeAlias = Literal["maps", "scripts"]

#: The columns of the definitions, and of the results as Spark's DDL.
PATH, DEFINITION = "path", "definition"
RESULT = (
    "path STRING, ok BOOLEAN, schema STRING, "
    "columns ARRAY<STRUCT<name: STRING, type: STRING, kind: STRING>>, "
    "diagnostics ARRAY<STRUCT<code: STRING, location: STRING, message: STRING, hint: STRING>>, "
    "losses ARRAY<STRUCT<target: STRING, kind: STRING>>"
)

RESULT_NAMES = ("path", "ok", "schema", "columns", "diagnostics", "losses")
#: The column of the reports of partitions.
REPORT = "report STRING"

#: Characters of a definition.
MAX_DEFINITION = 16_000_000
#: Characters of the definitions of a partition whose results are kept for equal definitions.
MAX_KEPT = 4_000_000
#: Rows of a batch of results, and the characters of their schemas after which it ends.
MAX_ROWS, MAX_CHARACTERS = 1_000, 16_000_000


# --- one definition -------------------------------------------------------------------------------


class SweptColumn(NamedTuple):
    """A column: its name, its exact type, its kind, and the root of its type."""

    name: str
    type: str
    kind: str
    root: str


class Swept(NamedTuple):
    """What a definition resolves to: the canonical text of its schema, or None; and diagnostics."""

    schema: str | None
    columns: tuple[SweptColumn, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    losses: tuple[tuple[str, str], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the definition was resolved and there is nothing to report."""
        return self.schema is not None and not self.diagnostics


#: A definition by its path, and what it resolves to.
Row: TypeAlias = tuple[str, Swept]


def sweep_map(properties: object, resolver: SchemaResolver | None = None) -> Swept:
    """Resolve and verify one property map; whatever it is, its errors are diagnostics.

    Args:
        properties: The map, or its JSON.
        resolver: The resolver of its schema; by default that of a streaming environment.

    >>> found = sweep_map('{"schema.0.name": "id", "schema.0.data-type": "BIGINT NOT NULL"}')
    >>> print(found.ok, found.schema)
    True (
      `id` BIGINT NOT NULL
    )
    >>> [(one.code, one.path) for one in sweep_map({"schema.0.name": "id"}).diagnostics]
    [('missing-key', ('schema.0.data-type',))]
    """
    try:
        found = examine(_map_of(properties), resolver)
        if found.resolved is None:
            return Swept(None, diagnostics=found.diagnostics)
        schemas = [schema for _, schema in schemas_of(found.resolved)]
        return _swept(schemas, found.diagnostics)
    except SchemaCoreError as error:
        return Swept(None, diagnostics=error.diagnostics)
    except Exception as error:  # noqa: BLE001 - one definition must not fail the job
        return Swept(None, diagnostics=(_unexpected(error),))


def _map_of(properties: object) -> Mapping[str, str]:
    """Return a map of strings.

    Raises:
        SchemaError: with code `invalid-key-value` for anything but a map, or JSON of an object;
            `text-too-long` for more than 16,000,000 characters.
    """
    if isinstance(properties, str):
        properties = _parsed(properties)
    elif isinstance(properties, list):  # entries of an Arrow map
        properties = dict(properties)
    if not isinstance(properties, dict):
        problem = f"the property map must be a map of strings, got {show(properties)}"
        raise SchemaError(problem, code="invalid-key-value", path=("properties",))
    return properties


def _parsed(text: str) -> object:
    """Parse JSON; a document with a map and its path is the map."""
    _require_length(text)
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = f"the property map is not JSON: {error}"
        raise SchemaError(problem, code="invalid-key-value", path=("properties",)) from None
    if isinstance(found, dict) and found.keys() <= {"path", "properties"}:
        return found["properties"] if isinstance(found.get("properties"), dict) else found
    return found


def _require_length(text: str) -> None:
    if len(text) > MAX_DEFINITION:
        problem = f"the definition has {len(text):,} characters, allowed are {MAX_DEFINITION:,}"
        raise SchemaError(problem, code="text-too-long", path=("properties",))


def _require_script(text: object) -> str:
    if not isinstance(text, str):
        raise SchemaError(f"the script must be a string, got {show(text)}", code="not-a-string")
    _require_length(text)
    return text


def _unexpected(error: Exception) -> Diagnostic:
    """Return the diagnostic of an error that is not one of the library."""
    message = f"the definition cannot be examined: {type(error).__name__}: {str(error)[:200]}"
    return Diagnostic("definition-not-examined", message, path=("properties",))


# --- canonical text -------------------------------------------------------------------------------


def _swept(schemas: Iterable[ResolvedSchema], diagnostics: tuple[Diagnostic, ...]) -> Swept:
    """Return what schemas of one object contain; a model has two."""
    lines: list[str] = []
    columns: list[SweptColumn] = []
    losses: set[tuple[str, str]] = set()
    for schema in schemas:
        described = list(map(_described, schema.columns))
        lines += [line for line, _ in described]
        lines += _member_lines(schema)
        columns += [column for _, column in described]
        losses |= {(target, kind.word) for target, kind in lasting_losses(schema)}
    text = "(\n  " + ",\n  ".join(lines) + "\n)" if lines else "()"
    return Swept(text, tuple(columns), diagnostics, tuple(sorted(losses)))


def _described(column: AnyColumn) -> tuple[str, SweptColumn]:
    """Return the line of a column in the text of a schema, and its parts."""
    return _physical(column) if type(column) is PhysicalColumn else _described_once(column)


def _described_once(column: AnyColumn) -> tuple[str, SweptColumn]:
    type_ = column.data_type.as_serializable_string()
    kind, clause = "physical", type_
    match column:
        case ComputedColumn(expression=expression):
            kind, clause = "computed", f"AS {expression.as_serializable_string()}"
        case MetadataColumn(metadata_key=key, virtual=virtual):
            kind, clause = "metadata", f"{type_} {format_metadata(key, virtual=virtual)}"
    comment = "" if column.comment is None else f" COMMENT {quote_string(column.comment)}"
    line = f"{quote_identifier(column.name)} {clause}{comment}"
    return line, SweptColumn(column.name, type_, kind, column.data_type.root.name)


@cached_by_identity(lambda column: column.data_type.node_count, budget=50_000, unit="types")
def _physical(column: PhysicalColumn) -> tuple[str, SweptColumn]:
    return _described_once(column)


def _member_lines(schema: ResolvedSchema) -> Iterator[str]:
    """Yield the lines of watermarks, keys and indexes."""
    for watermark in schema.watermark_specs:
        column = quote_identifier(watermark.rowtime_attribute)
        yield f"WATERMARK FOR {column} AS {watermark.watermark_expression.as_serializable_string()}"
    members = (schema.primary_key, *schema.indexes, schema.immutable_columns)
    yield from (str(member) for member in members if member is not None)


# --- scripts --------------------------------------------------------------------------------------

#: The statements of a script that are executed: those that define tables, or where tables are.
DEFINING = (CreateDatabase, CreateMaterializedTable, CreateTable, CreateView, UseDatabase)


def sweep_script(path: str, text: object) -> Iterator[Row]:
    """Resolve and verify the tables and views that a script of Flink SQL creates.

    The path of a row is that of the script, followed by the name of the table, or by the line of a
    statement with an error. Statements other than `DEFINING` are reported.

    >>> for path, found in sweep_script("a.sql", "CREATE TABLE t (id INT); CREATE TABLE u (x NO)"):
    ...     print(path, found.ok, *(one.code for one in found.diagnostics))
    a.sql: `default_catalog`.`default_database`.`t` True
    a.sql:1 False syntax
    """
    try:
        text = _require_script(text)
        session = Session(EnvironmentSettings.in_streaming_mode(), DryRunPlanner())
        for statement in read_statements(text):
            yield from _sweep_statement(session, path, text, statement)
    except SchemaCoreError as error:
        yield path, Swept(None, diagnostics=error.diagnostics)
    except Exception as error:  # noqa: BLE001 - one script must not fail the job
        yield path, Swept(None, diagnostics=(_unexpected(error),))


def _sweep_statement(
    session: Session, path: str, text: str, statement: Statement | SchemaCoreError
) -> Iterator[Row]:
    try:
        if isinstance(statement, SchemaCoreError):
            raise statement
        if not isinstance(statement, DEFINING):
            name = type(statement).__name__
            raise SchemaError(
                f"a sweep executes only statements that define tables, not {name}",
                code="statement-not-supported",
                span=statement.span,
            )
        run(session, statement, text)
        if isinstance(statement, CreateDatabase | UseDatabase):
            return
        found = session.found(statement.path)
        name = found.identifier.as_serializable_string()
        yield f"{path}: {name}", _swept([found.table.resolved_schema], ())
    except SchemaCoreError as error:
        span = error.span or getattr(statement, "span", None)
        line = 1 if span is None else position(text, span.start)[0]
        yield f"{path}:{line}", Swept(None, diagnostics=error.diagnostics)


# --- the job --------------------------------------------------------------------------------------


def sweep_definitions(
    definitions: DataFrame, form: Form = "maps", *, streaming: bool = True, deduplicate: bool = True
) -> DataFrame:
    """Resolve and verify definitions on the cluster, one row for each; errors never fail the job.

    The result has the columns of `RESULT`, and is computed when it is read.

    Args:
        definitions: The columns `path` STRING and `definition`: property maps as
            MAP<STRING, STRING> or as STRING of JSON, or scripts of Flink SQL.
        form: What the column `definition` holds.
        streaming: Whether watermarks make their columns time attributes.
        deduplicate: Whether equal maps of a partition are resolved once.

    Raises:
        SchemaError: with code `missing-columns` if a column is missing, `wrong-type` for
            definitions of another type.
        NotFoundError: with code `missing-extra` if PySpark or pyarrow is not installed.
    """
    return _mapped(definitions, partial(sweep_batches, form, streaming, deduplicate), RESULT)


@needs("pyspark.sql", "pyarrow")
def _mapped(definitions: DataFrame, function: partial[Any], schema: str) -> DataFrame:
    """Run a function of this module on definitions.

    Args:
        definitions: The definitions, with the columns of `sweep_definitions`.
        function: The function, with the arguments `form`, `streaming` and `deduplicate`.
        schema: Spark's DDL of its results.
    """
    from pyspark.sql import DataFrame

    require_instance(definitions, DataFrame, "definitions")
    form, *flags = function.args
    if form not in get_args(Form):
        problem = f"form must be one of {', '.join(get_args(Form))}, got {show(form)}"
        raise SchemaError(problem, code="wrong-argument")
    for name, flag in zip(("streaming", "deduplicate"), flags, strict=True):
        require_instance(flag, bool, name)
    for name in (PATH, DEFINITION):
        if name not in definitions.columns:
            problem = f"the definitions have no column {name!r}, got {definitions.columns}"
            raise SchemaError(problem, code="missing-columns")
    type_ = definitions.schema[DEFINITION].dataType.simpleString()
    if type_ not in ("string", "map<string,string>"):
        raise SchemaError(
            f"the column {DEFINITION!r} has the type {type_}",
            code="wrong-type",
            hint="cast the column to MAP<STRING, STRING> or STRING",
        )
    return _on_workers(definitions.select(PATH, DEFINITION), function, schema)


def _on_workers(frame: DataFrame, function: Callable[..., Any], schema: str) -> DataFrame:
    """Run a function of this module on the workers of a session, which get the library."""
    send_package(frame.sparkSession)
    return frame.mapInArrow(function, schema)


def swept_rows(
    batches: Iterable[pa.RecordBatch], form: Form, streaming: bool, deduplicate: bool
) -> Iterator[Row]:
    """Yield the rows of definitions, in order."""
    if form == "scripts":
        for path, text in _definitions(batches):
            yield from sweep_script(path, text)
        return
    resolver = SchemaResolver(streaming)
    known: GenerationalCache[Swept] = GenerationalCache(f"{__name__}.Swept", MAX_KEPT)
    for path, properties in _definitions(batches):
        key = (properties if isinstance(properties, str) else tuple(properties or ()),)
        weight = _length(properties)
        found = known.keep(key, weight) if deduplicate else None
        if found is None:
            found = sweep_map(properties, resolver)
            known.add(key, found, weight)
        yield path, found


def _length(properties: Any) -> int:
    if isinstance(properties, str):
        return len(properties)
    return sum(len(key) + len(value or "") for key, value in properties or ())


def _definitions(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, Any]]:
    """Yield paths and definitions, a slice of a batch at a time."""
    for batch in batches:
        for start in range(0, batch.num_rows, MAX_ROWS):
            part = batch.slice(start, MAX_ROWS)
            paths, definitions = (part.column(number).to_pylist() for number in (0, 1))
            for path, definition in zip(paths, definitions, strict=True):
                yield "" if path is None else path, definition


def sweep_batches(
    form: Form, streaming: bool, deduplicate: bool, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Sweep batches of definitions; the function of the job of `sweep_definitions`."""
    rows: list[Row] = []
    characters = 0
    for row in swept_rows(batches, form, streaming, deduplicate):
        rows.append(row)
        characters += len(row[1].schema or "")
        if len(rows) >= MAX_ROWS or characters >= MAX_CHARACTERS:
            yield result_batch(rows)
            rows, characters = [], 0
    if rows:
        yield result_batch(rows)


def result_batch(rows: list[Row]) -> pa.RecordBatch:
    """Return rows as a batch with the columns of `RESULT`."""
    import pyarrow as pa

    found = [swept for _, swept in rows]
    arrays = [
        _strings([path for path, _ in rows]),
        pa.array([swept.ok for swept in found], pa.bool_()),
        _strings([swept.schema for swept in found]),
        _lists(
            ("name", "type", "kind"), [[column[:3] for column in swept.columns] for swept in found]
        ),
        _lists(
            ("code", "location", "message", "hint"),
            [list(map(diagnostic_parts, swept.diagnostics)) for swept in found],
        ),
        _lists(("target", "kind"), [list(swept.losses) for swept in found]),
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(RESULT_NAMES))


def diagnostic_parts(one: Diagnostic) -> tuple[str, str, str, str | None]:
    """Return the code, the location, the message and the hint of a diagnostic."""
    place = f"line {one.line}, column {one.column}" if one.line else ""
    return one.code, ", ".join((*one.path, *([place] if place else []))), one.message, one.hint


def _lists(names: tuple[str, ...], rows: list[list[tuple[Any, ...]]]) -> pa.Array:
    """Return lists of structs of strings, built by field, which is faster than by struct."""
    import pyarrow as pa

    offsets = pa.array([0, *accumulate(map(len, rows))], pa.int32())
    members = [member for row in rows for member in row]
    fields = zip(*members, strict=True) if members else [()] * len(names)
    structs = pa.StructArray.from_arrays([_strings(list(field)) for field in fields], list(names))
    return pa.ListArray.from_arrays(offsets, structs)


def _strings(values: list[str | None]) -> pa.Array:
    """Return an array of strings; lone surrogates, which have no UTF-8, are escaped."""
    import pyarrow as pa

    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:
        return pa.array(
            [None if value is None else escaped(value) for value in values], pa.string()
        )


# --- sources --------------------------------------------------------------------------------------


def definitions_of(session: SparkSession, definitions: list[tuple[str, str]]) -> DataFrame:
    """Return paths and definitions as a frame, distributed over the cores of the cluster."""
    import pyarrow as pa

    columns = zip(*definitions, strict=True) if definitions else ((), ())
    table = pa.table(dict(zip((PATH, DEFINITION), map(_strings, map(list, columns)), strict=True)))
    return session.createDataFrame(table)


def dumps(session: JobSession, source: str) -> Iterator[Portion]:
    """Yield the definitions of a file or directory of dumps, by form.

    The session is opened with the first portion: without files, Spark is not started.

    Files ``*.jsonl`` have one object a line, with the keys `path` and `properties`; ``*.json`` one
    property map, whose path is that of the file; ``*.sql`` a script of Flink SQL.

    Raises:
        NotFoundError: with code `not-found` if there are no such files.
    """
    found = _files(Path(source))
    if not any(found.values()):
        raise NotFoundError(
            f"no dumps in {source!r}: expected files {', '.join(f'*{end}' for end in READERS)}",
            code="not-found",
        )
    return (
        (read(session.opened(), files), form)
        for suffix, (read, form) in READERS.items()
        if (files := found[suffix])
    )


def _files(path: Path) -> dict[str, list[str]]:
    """Return the files of dumps by suffix, in order."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return {
        suffix: [str(file) for file in files if file.suffix == suffix and file.is_file()]
        for suffix in READERS
    }


def _read_lines(session: SparkSession, files: list[str]) -> DataFrame:
    """Return the paths and maps of files with one object a line, whatever the lines contain."""
    from pyspark.sql import functions as f

    value = f.col("value")
    path = f.coalesce(f.get_json_object(value, "$.path"), f.col("_metadata.file_path"))
    properties = f.coalesce(f.get_json_object(value, "$.properties"), value)
    lines = session.read.text(files).where(f.trim(value) != "")
    return lines.select(path.alias(PATH), properties.alias(DEFINITION))


def _read_whole(session: SparkSession, files: list[str]) -> DataFrame:
    """Return the paths and contents of files."""
    from pyspark.sql import functions as f

    lines = session.read.text(files, wholetext=True)
    return lines.select(f.col("_metadata.file_path").alias(PATH), f.col("value").alias(DEFINITION))


#: Suffix of a dump -> how its definitions are read, and their form.
READERS: dict[str, tuple[Callable[[SparkSession, list[str]], DataFrame], Form]] = {
    ".jsonl": (_read_lines, "maps"),
    ".json":  (_read_whole, "maps"),
    ".sql":   (_read_whole, "scripts"),
}  # fmt: skip


# --- the summary ----------------------------------------------------------------------------------


def sweep_report(
    definitions: DataFrame, form: Form = "maps", *, streaming: bool = True, deduplicate: bool = True
) -> SweepReport:
    """Resolve and verify definitions on the cluster and return only a report on them.

    Args and errors are those of `sweep_definitions`.
    """
    function = partial(report_batches, form, streaming, deduplicate)
    return _collected(_mapped(definitions, function, REPORT))


def report_of(results: DataFrame) -> SweepReport:
    """Return the report on results of `sweep_definitions`, such as those in files."""
    return _collected(_on_workers(results.select(*RESULT_NAMES), report_result_batches, REPORT))


def _collected(reports: DataFrame) -> SweepReport:
    """Merge the reports of all partitions."""
    whole = SweepReport()
    for row in reports.collect():  # of all partitions at once, not of one after the other
        whole.merge(SweepReport.from_document(json.loads(row[0])))
    return whole


def report_batches(
    form: Form, streaming: bool, deduplicate: bool, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Report on batches of definitions; the function of the job of `sweep_report`."""
    report = SweepReport()
    for path, swept in swept_rows(batches, form, streaming, deduplicate):
        found = [diagnostic_parts(diagnostic)[:3] for diagnostic in swept.diagnostics]
        roots = [column.root for column in swept.columns]
        report.add(path, swept.ok, found, roots, swept.losses)
    yield _report_batch(report)


def report_result_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Report on batches of results; the function of the job of `report_of`."""
    report = SweepReport()
    for batch in batches:
        for row in batch.to_pylist():
            found = [(one["code"], one["location"], one["message"]) for one in row["diagnostics"]]
            roots = [parse_type(one["type"]).root.name for one in row["columns"]]
            losses = [(one["target"], one["kind"]) for one in row["losses"]]
            report.add(row["path"], row["ok"], found, roots, losses)
    yield _report_batch(report)


def _report_batch(report: SweepReport) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array([report.to_json()])], names=["report"])
