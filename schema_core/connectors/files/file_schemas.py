"""Schemas of parquet, orc and avro files, compared with the declared columns of a table.

Spark narrows silently: INT 300 read as TINYINT is 44 in parquet and NULL in orc. Footers are
therefore read before the job, in parallel on the driver, and columns that would not be read exactly
are refused by the rules of `mappings.stored_types`. They also show columns without NULL, and
how old a file is. A footer is cached until its file's status changes, unless a change might not be
seen in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from schema_core.base.caching import GenerationalCache
from schema_core.base.contained_paths import decode_uri
from schema_core.base.lazy import dataclass
from schema_core.connectors.files.file_ages import listed_paths
from schema_core.connectors.files.stored_names import (
    StoredNames,
    repeated_name,
    stored_names,
    with_current_names,
)
from schema_core.connectors.files.unreadable_files import read_avro_schema
from schema_core.errors import ExternalError, Gathering, UnsupportedError, similar
from schema_core.mappings.spark.pyspark_types import from_spark, to_struct_field
from schema_core.mappings.stored_types import FILES
from schema_core.spark.commit.file_systems import file_state_of, is_file_settled, path_of
from schema_core.spark.jobs import reason
from schema_core.spark.session.api_mode import is_connect, java_class, session_state

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType as SparkType
    from pyspark.sql.types import StructType

    from schema_core.catalog.changes.table_changes import Path as FieldPath
    from schema_core.connectors.files.file_ages import FileAges
    from schema_core.types import RowField

#: Footers that are read at once; the file system is the bottleneck.
PARALLEL = 16


@dataclass(frozen=True, slots=True)
class ColumnGuarantees:
    """Columns without NULL in any file, and columns of whole milliseconds."""

    without_null: frozenset[str] = frozenset()
    in_millis: frozenset[str] = frozenset()

    def intersection(self, other: ColumnGuarantees) -> ColumnGuarantees:
        """Return the common guarantees of two files."""
        without_null = self.without_null & other.without_null
        return ColumnGuarantees(without_null, self.in_millis & other.in_millis)


@dataclass(frozen=True, slots=True)
class CheckedFiles:
    """The guarantees of files, and the files by the names that they have for columns.

    `repeated` is the path of a column or field that a file has by several of its names, and these.
    `unions` has the Avro schema of the records of files whose rows may be NULL.
    """

    guarantees: ColumnGuarantees
    by_names: Mapping[StoredNames, Sequence[str]]
    unions: Mapping[str, str]
    repeated: tuple[FieldPath, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Footer:
    """The Spark schema of a file, as JSON, and its guarantees about requested columns.

    `union` is the Avro schema of a record if the rows of the file are a union with `null`.
    """

    schema: str
    guarantees: ColumnGuarantees
    union: str | None = None


#: The footers of unchanged files, bounded by their bytes.
_KEPT: GenerationalCache[Footer] = GenerationalCache(f"{__name__}.Footer", 16_000_000)

SOURCES = "org.apache.spark.sql.execution.datasources"

#: Reads a footer by the status of its file, with guarantees about requested columns.
FooterReader: TypeAlias = Callable[[Any, ColumnGuarantees], Footer]


def _parquet(session: SparkSession) -> FooterReader:
    state = session_state(session)
    configuration = state.newHadoopConf()
    files = java_class(session, "org.apache.parquet.hadoop.util.HadoopInputFile")
    readers = java_class(session, "org.apache.parquet.hadoop.ParquetFileReader")
    converters = java_class(session, f"{SOURCES}.parquet.ParquetToSparkSchemaConverter")
    converter = converters(state.conf())

    def is_in_millis(message: Any, name: str) -> bool:
        if not message.containsField(name):
            return False
        annotation = message.getType(message.getFieldIndex(name)).getLogicalTypeAnnotation()
        return str(annotation).startswith("TIMESTAMP(MILLIS")

    def read(status: Any, requested: ColumnGuarantees) -> Footer:
        reader = readers.open(files.fromStatus(status, configuration))
        try:
            footer = reader.getFooter()
        finally:
            reader.close()
        message = footer.getFileMetaData().getSchema()
        without = set(requested.without_null)
        for block in footer.getBlocks():
            for chunk in block.getColumns() if without and block.getRowCount() else ():
                # only the first name: a field of a row may be NULL because the row is
                name = chunk.getPath().toArray()[0]
                statistics = chunk.getStatistics()
                if name in without and not (
                    statistics.isNumNullsSet() and statistics.getNumNulls() == 0
                ):
                    without.remove(name)
        in_millis = frozenset(name for name in requested.in_millis if is_in_millis(message, name))
        return Footer(
            str(converter.convert(message).json()), ColumnGuarantees(frozenset(without), in_millis)
        )

    return read


def _orc(session: SparkSession) -> FooterReader:
    configuration = session_state(session).newHadoopConf()
    orc = java_class(session, "org.apache.orc.OrcFile")
    utils = java_class(session, f"{SOURCES}.orc.OrcUtils")

    def read(status: Any, requested: ColumnGuarantees) -> Footer:
        reader = orc.createReader(status.getPath(), orc.readerOptions(configuration))
        try:
            schema, statistics = reader.getSchema(), reader.getStatistics()
        finally:
            reader.close()
        fields = [*zip(schema.getFieldNames(), schema.getChildren(), strict=True)]
        by_position = all(str(name).startswith("_col") for name, _ in fields)
        columns = frozenset() if by_position else requested.without_null
        without = {
            str(name)
            for name, field in fields
            if name in columns and not statistics[field.getId()].hasNull()
        }
        return Footer(
            str(utils.toCatalystSchema(schema).json()), ColumnGuarantees(frozenset(without))
        )

    return read


def _avro(session: SparkSession) -> FooterReader:
    configuration = session_state(session).newHadoopConf()
    inputs = java_class(session, "org.apache.avro.mapred.FsInput")
    readers = java_class(session, "org.apache.avro.file.DataFileReader")
    records = java_class(session, "org.apache.avro.generic.GenericDatumReader")

    def read(status: Any, requested: ColumnGuarantees) -> Footer:
        reader = readers.openReader(inputs(status.getPath(), configuration), records())
        try:
            schema = str(reader.getSchema().toString())
        finally:
            reader.close()
        return Footer(avro_row(schema), ColumnGuarantees(), record_of_union(schema))

    return read


def record_of_union(schema: str) -> str | None:
    """Return the record of an Avro schema that is its union with `null`, or None.

    Flink writes such files; Spark reads their rows by the schema of the record.
    """
    parsed = json.loads(schema)
    if not isinstance(parsed, list):
        return None
    records = [branch for branch in parsed if branch != "null"]
    return json.dumps(records[0]) if len(records) == 1 < len(parsed) else None


def avro_row(schema: str) -> str:
    """Return the JSON of the Spark schema of an Avro record; TIME keeps its type.

    >>> avro_row('{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]}')
    '{"type": "struct", "fields": [{"name": "a", "type": "integer", "nullable": true, ...
    """
    named: dict[str, Any] = {}
    return json.dumps(_avro_type(json.loads(schema), named))


#: Avro type, maybe with a logical type -> Spark's name.
_AVRO_TYPES: Mapping[str, str] = {
    "boolean": "boolean", "int": "integer", "long": "long", "float": "float", "double": "double",
    "string": "string", "enum": "string", "bytes": "binary", "fixed": "binary", "int date": "date",
    "int time-millis": "time(3)", "long timestamp-millis": "timestamp",
    "long timestamp-micros": "timestamp", "long local-timestamp-millis": "timestamp_ntz",
    "long local-timestamp-micros": "timestamp_ntz", "int long": "long", "float double": "double",
}  # fmt: skip


def _avro_type(schema: Any, named: dict[str, Any]) -> Any:
    """Return an Avro type in the JSON of Spark's schemas.

    `named` are types that were defined before; Avro refers to them by name.
    """
    if isinstance(schema, list):
        kinds = [field for field in schema if field != "null"]
        if len(kinds) == 1:
            return _avro_type(kinds[0], named)
        return _AVRO_TYPES.get(" ".join(sorted(map(str, kinds), key=len)), "void")
    if not isinstance(schema, dict):
        return named.get(schema, _AVRO_TYPES.get(schema, "void"))
    kind = schema["type"]
    if not isinstance(kind, str):
        return _avro_type(kind, named)
    match kind:
        case "record":
            struct: dict[str, Any] = {"type": "struct", "fields": []}
            _define(schema, struct, named)
            for part in schema["fields"]:
                type_ = _avro_type(part["type"], named)
                row = {"name": part["name"], "type": type_, "nullable": True, "metadata": {}}
                struct["fields"].append(row)
            return struct
        case "array":
            element = _avro_type(schema["items"], named)
            return {"type": "array", "elementType": element, "containsNull": True}
        case "map":
            value = _avro_type(schema["values"], named)
            types = {"keyType": "string", "valueType": value, "valueContainsNull": True}
            return {"type": "map", **types}
    logical = schema.get("logicalType", "")
    if logical == "decimal":
        type_ = f"decimal({schema['precision']},{schema.get('scale', 0)})"
    else:
        type_ = _AVRO_TYPES.get(f"{kind} {logical}", _AVRO_TYPES.get(kind, "void"))
    if kind in {"fixed", "enum"}:
        _define(schema, type_, named)
    return type_


def _define(schema: Mapping[str, Any], type_: Any, named: dict[str, Any]) -> None:
    """Store a type by its name, with and without namespace."""
    name = schema["name"]
    named[name] = named[f"{schema.get('namespace', '')}.{name}".lstrip(".")] = type_


def _local_footer(
    session: SparkSession, form: str, requested: ColumnGuarantees, uri: str
) -> Footer:
    """Return the footer of a local file, read without a JVM in this process.

    Spark infers the schema of orc: Arrow does not distinguish its two timestamps.
    """
    if form == "orc":
        schema = (
            session.read.format(form).option("__globPaths__", "false").load(unquote(uri)).schema
        )
        return Footer(str(schema.json()), ColumnGuarantees())
    if form == "avro":
        with Path(path_of(uri) or uri).open("rb") as file:
            text = read_avro_schema(file)
        return Footer(avro_row(text), ColumnGuarantees(), record_of_union(text))
    import pyarrow.parquet as pq
    from pyspark.sql.pandas.types import from_arrow_schema

    with pq.ParquetFile(path_of(uri)) as file:
        schema, metadata = file.schema_arrow, file.metadata
    without = set(requested.without_null)
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for chunk in map(group.column, range(group.num_columns)):
            statistics = chunk.statistics
            if not (statistics and statistics.has_null_count and statistics.null_count == 0):
                without.discard(chunk.path_in_schema.partition(".")[0])
    units = {field.name: getattr(field.type, "unit", None) for field in schema}
    in_millis = frozenset(name for name in requested.in_millis if units.get(name) == "ms")
    text = from_arrow_schema(schema, prefer_timestamp_ntz=True).json()
    return Footer(str(text), ColumnGuarantees(frozenset(without & units.keys()), in_millis))


#: Format that stores types -> the reader of its footers.
FOOTERS: Mapping[str, Callable[[SparkSession], FooterReader]] = {
    "parquet": _parquet,
    "orc": _orc,
    "avro": _avro,
}


def check_files(
    session: SparkSession,
    uris: Sequence[str],
    form: str,
    columns: Sequence[RowField],
    ages: FileAges,
) -> CheckedFiles:
    """Refuse files that do not hold the declared columns in types that are read exactly.

    Args:
        session: The session.
        uris: The files.
        form: Their format.
        columns: The declared columns.
        ages: The layouts of older files.

    Raises:
        ExternalError: with code `schema-mismatch` for every column that is in no file, that is
            NOT NULL and not in all of them, or that would be read as other values; and for a footer
            that cannot be read; `unreadable-file` for a file of another program that two layouts
            fit.
    """
    from pyspark.sql.types import StructType, TimestampNTZType, TimestampType

    if form not in FOOTERS:
        return CheckedFiles(ColumnGuarantees(), {}, {})
    fields = [to_struct_field(column.name, column.data_type, on_loss="note") for column in columns]
    declared = StructType(fields)
    required = frozenset(field.name for field in fields if not field.nullable)
    kinds = (TimestampType, TimestampNTZType)
    instants = frozenset(field.name for field in fields if isinstance(field.dataType, kinds))
    requested = ColumnGuarantees(_all_names(required, ages), _all_names(instants, ages))
    footers = _read_all(session, uris, form, requested)
    alike: dict[tuple[str, int | None], list[str]] = {}
    for uri, footer in footers.items():
        version = ages.version_of(uri) if ages.has_older else None
        alike.setdefault((footer.schema, version), []).append(uri)
    files: dict[str, StructType] = {}
    by_names: dict[StoredNames, list[str]] = {}
    guarantees = ColumnGuarantees(required, instants)
    repeated = None
    for (text, version), same in alike.items():
        schema = StructType.fromJson(json.loads(text))
        names: StoredNames = ()
        is_by_position = _is_by_position(schema, form)
        if is_by_position:
            ages.require_known(same)
        if is_by_position and not ages.only_grows():
            raise ages.unknown_age_error(same[0])
        if ages.has_older and not is_by_position:
            listed = [*listed_paths(schema)] if version is None else []
            layout = ages.layout_with(listed, same[0]) if version is None else ages.layouts[version]
            names = stored_names(columns, layout)
            repeated = repeated or repeated_name(columns, schema, ages)
            schema = with_current_names(schema, columns, dict(names))
        files[same[0]] = schema
        by_names.setdefault(names, []).extend(same)
        for uri in same:
            part = _of_columns(footers[uri].guarantees, declared, names)
            guarantees = guarantees.intersection(part)
    problems = Gathering()
    for problem in _problems(files, declared, form, ages.newer):
        with problems.catching():
            raise problem
    problems.raise_all()
    unions = {uri: footer.union for uri, footer in footers.items() if footer.union is not None}
    return CheckedFiles(guarantees, by_names, unions, repeated)


def _all_names(columns: frozenset[str], ages: FileAges) -> frozenset[str]:
    return frozenset(name for column in columns for name in ages.names_of(column))


def _of_columns(
    guarantees: ColumnGuarantees, declared: StructType, stored: StoredNames
) -> ColumnGuarantees:
    names = dict(stored)
    pairs = [(name, names.get((name,), name)) for name in declared.names]
    return ColumnGuarantees(
        frozenset(column for column, name in pairs if name in guarantees.without_null),
        frozenset(column for column, name in pairs if name in guarantees.in_millis),
    )


def _read_all(
    session: SparkSession, uris: Sequence[str], form: str, requested: ColumnGuarantees
) -> dict[str, Footer]:
    read = (
        partial(_local_footer, session, form, requested)
        if is_connect(session)
        else _cached_footers(session, form, requested)
    )

    def read_footer(uri: str) -> Footer:
        try:
            return read(uri)
        except Exception as error:
            problem = f"cannot read the footer of file {decode_uri(uri)!r}: {reason(error)}"
            raise ExternalError(problem, code="schema-mismatch") from error

    if len(uris) == 1:  # a thread would open a connection to the JVM of its own
        return {uris[0]: read_footer(uris[0])}
    with ThreadPoolExecutor(PARALLEL) as pool:
        return dict(zip(uris, pool.map(read_footer, uris), strict=True))


def _cached_footers(
    session: SparkSession, form: str, requested: ColumnGuarantees
) -> Callable[[str], Footer]:
    """Return a function that reads the footer of a file in the JVM, unless it is cached."""
    configuration = session_state(session).newHadoopConf()
    application = session.sparkContext.applicationId
    path_class = java_class(session, "org.apache.hadoop.fs.Path")
    uri_class = java_class(session, "java.net.URI")
    reader = cache(lambda: FOOTERS[form](session))

    def read(uri: str) -> Footer:
        path = path_class(uri_class(uri))
        status = path.getFileSystem(configuration).getFileStatus(path)
        local = path_of(uri)
        state = None if local is None else file_state_of(local)
        version = state or (status.getLen(), status.getModificationTime())
        key = (application, uri, *version, requested)
        footer = _KEPT.keep(key, len(uri) + 1000)
        if footer is None:
            footer = reader()(status, requested)
            if state is None or is_file_settled(state):
                _KEPT.add(key, footer, len(uri) + len(footer.schema))
        return footer

    return read


@dataclass(frozen=True, slots=True)
class SchemaMismatch:
    """A declared column or field that a file lacks or has in an incompatible type."""

    name: str
    declared: SparkType
    found: SparkType | None
    is_nullable: bool = True
    others: tuple[str, ...] = ()


def _problems(
    files: Mapping[str, StructType], declared: StructType, form: str, newer: Collection[FieldPath]
) -> Iterator[ExternalError]:
    """Yield the problems of files; a column is reported for the first file only.

    `newer` are the paths of columns and fields that older files lack.
    """
    added = {".".join(path) for path in newer}
    by_file = {uri: list(differences(declared, schema, form)) for uri, schema in files.items()}
    reported: set[str] = set()
    for uri, mismatches in by_file.items():
        for mismatch in mismatches:
            name = mismatch.name
            if name in reported:
                continue
            everywhere = all(
                any(other.name == name and other.found is None for other in others)
                for others in by_file.values()
            )
            if (
                mismatch.found is None
                and mismatch.is_nullable
                and (name in added or not (everywhere and FILES[form].refuses_unknown_columns))
            ):
                continue
            reported.add(name)
            yield _problem(mismatch, decode_uri(uri), everywhere and name not in added)


def _problem(mismatch: SchemaMismatch, file: str, everywhere: bool) -> ExternalError:
    declared = _type_text(mismatch.declared)
    if mismatch.found is not None:
        stored = _type_text(mismatch.found)
        problem = (
            f"file {file!r}: column {mismatch.name!r} is {stored}, but is declared as {declared}"
        )
        hint = f"declare the column as {stored} and CAST it in the query, or rewrite the file"
    elif everywhere:
        problem = f"no file has a column {mismatch.name!r}, for example {file!r}"
        has = f"the file has {', '.join(mismatch.others)}"
        hint = similar(mismatch.name.rpartition(".")[2], mismatch.others) or has
        hint = f"{hint}; rename the column of the table, or rewrite the files"
    else:
        problem = f"file {file!r} has no column {mismatch.name!r}, which is NOT NULL"
        hint = "declare the column as nullable, or rewrite the file"
    return ExternalError(problem, code="schema-mismatch", hint=hint)


def _type_text(type_: SparkType) -> str:
    try:
        return from_spark(type_).as_summary_string()
    except UnsupportedError:
        return str(type_.simpleString())


# --- types -------------------------------------------------------------------------------------


def differences(
    declared: StructType, found: StructType, form: str, prefix: str = ""
) -> Iterator[SchemaMismatch]:
    """Yield declared fields that are missing or have an incompatible type, at any depth."""
    from pyspark.sql.types import StructField, StructType

    if not prefix and _is_by_position(found, form):
        # orc files of old versions of Hive have no names; Spark matches them by position
        pairs = zip(declared.fields, found.fields, strict=False)
        found = StructType([StructField(first.name, other.dataType) for first, other in pairs])
    types = {field.name: field.dataType for field in found.fields}
    for field in declared.fields:
        name = f"{prefix}{field.name}"
        if field.name in types:
            yield from _compare_types(field.dataType, types[field.name], form, name)
        else:
            yield SchemaMismatch(name, field.dataType, None, field.nullable, tuple(types))


def _is_by_position(found: StructType, form: str) -> bool:
    """Return whether a file has no names of columns."""
    names = found.names
    return form == "orc" and bool(names) and all(name.startswith("_col") for name in names)


def _compare_types(
    declared: SparkType, found: SparkType, form: str, name: str
) -> Iterator[SchemaMismatch]:
    from pyspark.sql.types import ArrayType, MapType, StructType

    match declared, found:
        case StructType(), StructType():
            yield from differences(declared, found, form, f"{name}.")
        case ArrayType(), ArrayType():
            yield from _compare_types(
                declared.elementType, found.elementType, form, f"{name}.element"
            )
        case MapType(), MapType():
            yield from _compare_types(declared.keyType, found.keyType, form, f"{name}.key")
            yield from _compare_types(declared.valueType, found.valueType, form, f"{name}.value")
        case _ if not is_read(declared, found, form):
            yield SchemaMismatch(name, declared, found)


def is_read(declared: SparkType, found: SparkType, form: str) -> bool:
    """Return whether a format reads a file's type as the declared one."""
    from pyspark.sql.types import VariantType

    if declared == found or isinstance(declared, VariantType):
        return True
    try:
        stored, read = from_spark(found), from_spark(declared)
    except UnsupportedError:
        return False
    return FILES[form].promotes(stored, read)
