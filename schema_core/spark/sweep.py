"""Sweeps: whole catalogs are resolved and verified on the cluster, a row for each definition.

What is wrong with a definition is a diagnostic and never fails the job. Executors import this
module, so the job's functions hold no state of the driver.
"""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache, partial
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from schema_core.base.arguments import require_instance
from schema_core.base.caching import GenerationalCache, cached_by_identity
from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.base.plugins import needs
from schema_core.base.text import escaped, quote_identifier, quote_string, show
from schema_core.environment.jobs.progress import show_progress
from schema_core.errors import Diagnostic, NotFoundError, SchemaCoreError, SchemaError
from schema_core.mappings.loss import LossKind, lasting_losses
from schema_core.properties.stored import schemas_of
from schema_core.properties.verification import examine
from schema_core.schema import resolved
from schema_core.schema.columns import format_metadata
from schema_core.schema.resolve import SchemaResolver
from schema_core.spark.session.worker_package import send_package
from schema_core.types import parse_type

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.spark.session.session import JobSession

Definitions: TypeAlias = "DataFrame"
PATH, DEFINITION = "path", "definition"
#: The results as Spark's DDL, and their columns.
RESULT = (
    "path STRING, ok BOOLEAN, schema STRING, "
    "columns ARRAY<STRUCT<name: STRING, type: STRING, kind: STRING>>, "
    "diagnostics ARRAY<STRUCT<code: STRING, location: STRING, message: STRING, hint: STRING>>, "
    "losses ARRAY<STRUCT<target: STRING, kind: STRING>>"
)
COLUMNS = ("path", "ok", "schema", "columns", "diagnostics", "losses")
#: The reports of partitions.
REPORT = "report BINARY"

#: Characters of a definition.
MAX_DEFINITION = 16_000_000
#: Characters of a partition's definitions whose results are cached.
MAX_KEPT = 4_000_000
#: A batch of results ends at so many rows, or characters of schemas.
MAX_ROWS, MAX_CHARACTERS = 1_000, 16_000_000
#: Examples of a finding or loss in a report; characters of a message.
MAX_EXAMPLES, MAX_MESSAGE = 3, 200
#: The version of the JSON.
VERSION = 1


# --- one definition -------------------------------------------------------------------------------


class SweptColumn(NamedTuple):
    """The name, exact type and kind of a column."""

    name: str
    type: str
    kind: str


class SweptDiagnostic(NamedTuple):
    """A diagnostic, with its path and position as one location."""

    code: str
    location: str
    message: str
    hint: str | None


class Swept(NamedTuple):
    """A definition's result: the canonical text of its schema, or None, and diagnostics."""

    schema: str | None
    columns: tuple[SweptColumn, ...] = ()
    diagnostics: tuple[SweptDiagnostic, ...] = ()
    losses: tuple[tuple[str, str], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the definition was resolved without diagnostics."""
        return self.schema is not None and not self.diagnostics


Row: TypeAlias = tuple[str, Swept]


def sweep_map(properties: object, resolver: SchemaResolver | None = None) -> Swept:
    """Resolve and verify a property map, or its JSON; its errors are diagnostics.

    Schemas are resolved by `resolver`, by default that of a streaming environment.

    >>> swept = sweep_map('{"schema.0.name": "id", "schema.0.data-type": "BIGINT NOT NULL"}')
    >>> print(swept.ok, swept.schema)
    True (
      `id` BIGINT NOT NULL
    )
    >>> [(each.code, each.location) for each in sweep_map({"schema.0.name": "id"}).diagnostics]
    [('malformed-property', 'schema.0.data-type')]
    """
    try:
        examined = examine(_to_map(properties), resolver)
        diagnostics = examined.diagnostics
        if examined.resolved is not None:
            schemas = [schema for _, schema in schemas_of(examined.resolved)]
            return _describe(schemas, diagnostics)
    except SchemaCoreError as error:
        diagnostics = error.diagnostics
    except Exception as error:  # noqa: BLE001 - one definition must not fail the job
        message = f"the definition cannot be examined: {type(error).__name__}: {str(error)[:200]}"
        diagnostics = (Diagnostic("unclassified-error", message, path=("properties",)),)
    return Swept(None, diagnostics=tuple(map(_locate, diagnostics)))


def _locate(diagnostic: Diagnostic) -> SweptDiagnostic:
    place = f"line {diagnostic.line}, column {diagnostic.column}" if diagnostic.line else ""
    location = ", ".join((*diagnostic.path, *([place] if place else [])))
    return SweptDiagnostic(diagnostic.code, location, diagnostic.message, diagnostic.hint)


def _to_map(properties: object) -> Mapping[str, str]:
    """Return a property map from a map, its JSON (maybe with a path), or entries of an Arrow map.

    Anything else is an `malformed-property`; JSON may be `limit-exceeded`.
    """
    problem = None
    if isinstance(properties, str):
        if len(properties) > MAX_DEFINITION:
            raise SchemaError(
                f"the definition has {len(properties):,} characters, "
                f"allowed are {MAX_DEFINITION:,}",
                code="limit-exceeded",
                path=("properties",),
            )
        try:
            properties = json.loads(properties)
        except (ValueError, RecursionError) as error:
            problem = f"the property map is not JSON: {error}"
        if isinstance(properties, dict) and properties.keys() <= {"path", "properties"}:
            inner = properties.get("properties")
            properties = inner if isinstance(inner, dict) else properties
    elif isinstance(properties, list):
        properties = dict(properties)
    if isinstance(properties, dict):
        return properties
    problem = problem or f"the property map must be a map of strings, got {show(properties)}"
    raise SchemaError(problem, code="malformed-property", path=("properties",))


# --- canonical text -------------------------------------------------------------------------------


def _describe(
    schemas: Iterable[resolved.ResolvedSchema], diagnostics: Iterable[Diagnostic]
) -> Swept:
    """Return the result of an object's schemas; a model has two."""
    lines: list[str] = []
    columns: list[SweptColumn] = []
    losses: set[tuple[str, str]] = set()
    for schema in schemas:
        for column in schema.columns:
            is_physical = type(column) is resolved.PhysicalColumn
            line, swept = (_describe_physical if is_physical else _describe_column)(column)
            lines.append(line)
            columns.append(swept)
        for watermark in schema.watermark_specs:
            name = quote_identifier(watermark.rowtime_attribute)
            text = watermark.watermark_expression.as_serializable_string()
            lines.append(f"WATERMARK FOR {name} AS {text}")
        members = (schema.primary_key, *schema.indexes, schema.immutable_columns)
        lines += [str(member) for member in members if member is not None]
        losses |= {(target, kind.word) for target, kind in lasting_losses(schema)}
    text = "(\n  " + ",\n  ".join(lines) + "\n)" if lines else "()"
    located = tuple(map(_locate, diagnostics))
    return Swept(text, tuple(columns), located, tuple(sorted(losses)))


def _describe_column(column: resolved.AnyColumn) -> tuple[str, SweptColumn]:
    type_ = column.data_type.as_serializable_string()
    kind, clause = "physical", type_
    match column:
        case resolved.ComputedColumn(expression=expression):
            kind, clause = "computed", f"AS {expression.as_serializable_string()}"
        case resolved.MetadataColumn(metadata_key=key, virtual=virtual):
            kind, clause = "metadata", f"{type_} {format_metadata(key, virtual=virtual)}"
    comment = "" if column.comment is None else f" COMMENT {quote_string(column.comment)}"
    line = f"{quote_identifier(column.name)} {clause}{comment}"
    return line, SweptColumn(column.name, type_, kind)


@cached_by_identity(lambda column: column.data_type.node_count, budget=50_000, unit="types")
def _describe_physical(column: resolved.AnyColumn) -> tuple[str, SweptColumn]:
    return _describe_column(column)


# --- reports --------------------------------------------------------------------------------------


class Example(NamedTuple):
    """A definition with a finding, the location within it, and the message."""

    path: str
    location: str = ""
    message: str = ""

    def __str__(self) -> str:
        return f"{self.path}{f' ({self.location})' if self.location else ''}: {self.message}"


@dataclass(slots=True)
class Tally:
    """The number of definitions with a finding or a loss, and the first ones as examples."""

    count: int = 0
    examples: list[Example] = field(default_factory=list)

    def add(self, count: int, examples: Iterable[Example]) -> None:
        """Count further definitions; keep the examples with the first paths."""
        self.count += count
        self.examples = sorted({*self.examples, *examples})[:MAX_EXAMPLES]


@dataclass(slots=True)
class SweepReport:
    """What a sweep found.

    Attributes:
        definitions: The number of definitions.
        ok: The number without findings.
        findings: Definitions by code of a diagnostic.
        types: Columns by root of their type.
        losses: Definitions by target that cannot hold them losslessly, and kind of loss.

    >>> report = SweepReport()
    >>> report.add(
    ...     "db.t",
    ...     Swept("", (SweptColumn("a", "INT", "physical"),), (), (("hive", "nullability"),)),
    ... )
    >>> print(report)
    1 definition: 1 without findings, 0 with findings
    <BLANKLINE>
    types in use (columns)
      INTEGER  1
    <BLANKLINE>
    not lossless in (definitions)
      hive: nullability  1  NOT NULL is dropped, such as db.t
    """

    definitions: int = 0
    ok: int = 0
    findings: dict[str, Tally] = field(default_factory=dict)
    types: Counter[str] = field(default_factory=Counter)
    losses: dict[tuple[str, str], Tally] = field(default_factory=dict)

    def add(self, path: str, swept: Swept) -> None:
        """Add a definition."""
        self.definitions += 1
        self.ok += swept.ok
        self.types.update(_root_of(column.type) for column in swept.columns)
        seen: set[str] = set()
        for code, location, message, _ in swept.diagnostics:
            if code not in seen:
                seen.add(code)
                example = Example(path, location, message[:MAX_MESSAGE])
                self.findings.setdefault(code, Tally()).add(1, [example])
        for loss in swept.losses:
            tally = self.losses.setdefault(loss, Tally())
            tally.add(1, [Example(path)] if len(tally.examples) < MAX_EXAMPLES else ())

    def merge(self, other: SweepReport) -> None:
        """Add the definitions of another report."""
        self.definitions += other.definitions
        self.ok += other.ok
        self.types.update(other.types)
        for code, tally in other.findings.items():
            self.findings.setdefault(code, Tally()).add(tally.count, tally.examples)
        for loss, tally in other.losses.items():
            self.losses.setdefault(loss, Tally()).add(tally.count, tally.examples)

    def to_json(self) -> str:
        """Return the report as JSON in one line."""
        losses: dict[str, dict[str, Any]] = {}
        for (target, kind), tally in sorted(self.losses.items()):
            paths = [example.path for example in tally.examples]
            losses.setdefault(target, {})[kind] = {"definitions": tally.count, "examples": paths}
        findings = {
            code: {
                "definitions": tally.count,
                "examples": [example._asdict() for example in tally.examples],
            }
            for code, tally in sorted(self.findings.items())
        }
        document = {
            "version": VERSION,
            "definitions": self.definitions,
            "ok": self.ok,
            "findings": findings,
            "types": dict(sorted(self.types.items())),
            "losses": losses,
        }
        return json.dumps(document)

    def __str__(self) -> str:
        noun = "definition" if self.definitions == 1 else "definitions"
        others = self.definitions - self.ok
        counts = f"{self.ok:,} without findings, {others:,} with findings"
        meanings = {kind.word: kind.meaning for kind in LossKind}
        sections = {
            "findings (definitions)": [
                (code, tally.count, "; ".join(map(str, tally.examples)))
                for code, tally in _sort_by_count(self.findings)
            ],
            "types in use (columns)": [
                (name, count, "") for name, count in self.types.most_common()
            ],
            "not lossless in (definitions)": [
                (
                    f"{target}: {kind}",
                    tally.count,
                    f"{meanings[kind]}, such as {', '.join(part.path for part in tally.examples)}",
                )
                for (target, kind), tally in _sort_by_count(self.losses)
            ],
        }
        lines = [f"{self.definitions:,} {noun}: {counts}"]
        for heading, rows in sections.items():
            if rows:
                width = max(len(name) for name, _, _ in rows)
                digits = max(len(f"{count:,}") for _, count, _ in rows)
                lines += ["", heading]
                lines += [
                    escaped(f"  {name:{width}}  {count:{digits},}  {remark}".rstrip())
                    for name, count, remark in rows
                ]
        return "\n".join(lines)


@lru_cache(maxsize=10_000)
def _root_of(type_: str) -> str:
    return parse_type(type_).root.name


def _sort_by_count(tallies: Mapping[Any, Tally]) -> list[tuple[Any, Tally]]:
    return sorted(tallies.items(), key=lambda item: (-item[1].count, item[0]))


# --- the job --------------------------------------------------------------------------------------


@needs("pyspark.sql", "pyarrow")
def sweep_definitions(definitions: DataFrame, *, streaming: bool = True) -> DataFrame:
    """Resolve and verify property maps on the cluster, a row for each; errors never fail the job.

    The result has the columns of `RESULT` and is lazy. Equal maps of a partition are resolved once.

    Args:
        definitions: The columns `path` STRING and `definition`, a MAP<STRING, STRING> or JSON.
        streaming: Whether watermarks make their columns time attributes.

    Raises:
        SchemaError: with code `missing-columns`; `type-mismatch` for definitions of another type.
        NotFoundError: with code `missing-dependency` without PySpark or pyarrow.
    """
    frame = _require_definitions(definitions, streaming=streaming)
    send_package(frame.sparkSession)
    return frame.mapInArrow(partial(sweep_batches, streaming), RESULT)


@needs("pyspark.sql", "pyarrow")
def sweep_report(definitions: DataFrame, *, streaming: bool = True) -> SweepReport:
    """Return only a report; arguments and errors as in `sweep_definitions`."""
    frame = _require_definitions(definitions, streaming=streaming)
    with show_progress("sweep"):
        return _collect_reports(frame, streaming)


def report_of(results: DataFrame) -> SweepReport:
    """Return the report on results of `sweep_definitions`."""
    return _collect_reports(results.select(*COLUMNS), None)


def _require_definitions(definitions: DataFrame, *, streaming: bool) -> DataFrame:
    from pyspark.sql import DataFrame

    require_instance(definitions, DataFrame, "definitions")
    require_instance(streaming, bool, "streaming")
    for name in (PATH, DEFINITION):
        if name not in definitions.columns:
            problem = f"the definitions have no column {name!r}, got {definitions.columns}"
            raise SchemaError(problem, code="missing-columns")
    type_ = definitions.schema[DEFINITION].dataType.simpleString()
    if type_ not in ("string", "map<string,string>"):
        raise SchemaError(
            f"the column {DEFINITION!r} has the type {type_}",
            code="type-mismatch",
            hint="cast the column to MAP<STRING, STRING> or STRING",
        )
    return definitions.select(PATH, DEFINITION)


def _collect_reports(frame: DataFrame, streaming: bool | None) -> SweepReport:
    send_package(frame.sparkSession)
    report = SweepReport()
    for row in frame.mapInArrow(partial(report_batches, streaming), REPORT).collect():
        report.merge(pickle.loads(row[0]))  # noqa: S301 - the workers of this job have written it
    return report


def report_batches(
    streaming: bool | None, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Report on definitions, or with None on results."""
    import pyarrow as pa

    report = SweepReport()
    for path, swept in (
        _read_results(batches) if streaming is None else sweep_rows(batches, streaming)
    ):
        report.add(path, swept)
    yield pa.RecordBatch.from_arrays([pa.array([pickle.dumps(report)])], names=["report"])


def _read_results(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for batch in batches:
        for row in batch.to_pylist():
            yield (
                row["path"],
                Swept(
                    row["schema"],
                    tuple(SweptColumn(**column) for column in row["columns"]),
                    tuple(SweptDiagnostic(**diagnostic) for diagnostic in row["diagnostics"]),
                    tuple((loss["target"], loss["kind"]) for loss in row["losses"]),
                ),
            )


def sweep_batches(streaming: bool, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Sweep batches of definitions."""
    rows: list[Row] = []
    characters = 0
    for row in sweep_rows(batches, streaming):
        rows.append(row)
        characters += len(row[1].schema or "")
        if len(rows) >= MAX_ROWS or characters >= MAX_CHARACTERS:
            yield _result_batch(rows)
            rows, characters = [], 0
    if rows:
        yield _result_batch(rows)


def sweep_rows(batches: Iterable[pa.RecordBatch], streaming: bool) -> Iterator[Row]:
    """Yield the results of property maps, in order; equal ones are resolved once."""
    resolver = SchemaResolver(streaming)
    cache: GenerationalCache[Swept] = GenerationalCache(f"{__name__}.Swept", MAX_KEPT)
    parts = (
        batch.slice(start, MAX_ROWS)
        for batch in batches
        for start in range(0, batch.num_rows, MAX_ROWS)
    )
    for part in parts:
        pairs = zip(part.column(0).to_pylist(), part.column(1).to_pylist(), strict=True)
        for path, definition in pairs:
            key = (definition if isinstance(definition, str) else tuple(definition or ()),)
            texts = (definition,) if isinstance(definition, str) else chain(*(definition or ()))
            weight = sum(len(text or "") for text in texts)
            if (swept := cache.keep(key, weight)) is None:
                swept = sweep_map(definition, resolver)
                cache.add(key, swept, weight)
            yield "" if path is None else path, swept


def _result_batch(rows: list[Row]) -> pa.RecordBatch:
    import pyarrow as pa

    def lists(names: str, values: list[tuple[tuple[Any, ...], ...]]) -> pa.Array:
        """Build lists of structs by field, which is faster than by struct."""
        offsets = pa.array([0, *accumulate(map(len, values))], pa.int32())
        fields = zip(*chain(*values), strict=True) if any(values) else [()] * len(names.split())
        structs = pa.StructArray.from_arrays(list(map(_string_array, fields)), names.split())
        return pa.ListArray.from_arrays(offsets, structs)

    swept = [result for _, result in rows]
    arrays = [
        _string_array([path for path, _ in rows]),
        pa.array([result.ok for result in swept], pa.bool_()),
        _string_array([result.schema for result in swept]),
        lists("name type kind", [result.columns for result in swept]),
        lists("code location message hint", [result.diagnostics for result in swept]),
        lists("target kind", [result.losses for result in swept]),
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(COLUMNS))


def _string_array(values: Sequence[str | None]) -> pa.Array:
    """Return an array of strings; lone surrogates, which UTF-8 lacks, are escaped."""
    import pyarrow as pa

    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:
        return pa.array([text if text is None else escaped(text) for text in values], pa.string())


# --- sources --------------------------------------------------------------------------------------


def definitions_of(session: SparkSession, definitions: list[tuple[str, str]]) -> DataFrame:
    """Return paths and definitions as a frame."""
    import pyarrow as pa

    columns = zip(*definitions, strict=True) if definitions else ((), ())
    arrays = map(_string_array, columns)
    return session.createDataFrame(pa.table(dict(zip((PATH, DEFINITION), arrays, strict=True))))


def read_dumps(session: JobSession, source: str) -> Iterator[DataFrame]:
    """Yield the definitions of a file or directory of dumps (`not-found`).

    ``*.jsonl`` has an object a line, with the keys `path` and `properties`; ``*.json`` one property
    map, whose path is the file's. Spark is started with the first portion.
    """
    from pyspark.sql import functions as f

    path = Path(source)
    files = [file for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]
    dumps = {
        suffix: sorted(str(file) for file in files if file.suffix == suffix)
        for suffix in (".jsonl", ".json")
    }
    if not any(dumps.values()):
        raise NotFoundError(
            f"no dumps in {source!r}: expected files {', '.join(f'*{suffix}' for suffix in dumps)}",
            code="not-found",
        )

    def read(suffix: str) -> DataFrame:
        text = session.open_session().read.text(dumps[suffix], wholetext=suffix == ".json")
        place, definition = f.col("_metadata.file_path"), f.col("value")
        if suffix == ".jsonl":
            text = text.where(f.trim(definition) != "")
            place = f.coalesce(f.get_json_object(definition, "$.path"), place)
            definition = f.coalesce(f.get_json_object(definition, "$.properties"), definition)
        return text.select(place.alias(PATH), definition.alias(DEFINITION))

    return (read(suffix) for suffix, names in dumps.items() if names)
