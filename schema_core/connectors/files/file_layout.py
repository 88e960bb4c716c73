"""The layout of a table's files: path, format, columns of every age, and partition columns."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import quote as quote_uri
from urllib.parse import unquote

from schema_core import types
from schema_core.base import plugins
from schema_core.base.lazy import NamedTuple
from schema_core.catalog.changes.column_history import (
    LISTED,
    ColumnHistory,
    file_paths,
)
from schema_core.catalog.changes.table_changes import Path
from schema_core.catalog.partition_texts import (
    HIVE_NULL_NAME,
    NULL_NAME,
    NULL_NAME_OPTION,
    is_plain,
)
from schema_core.connectors.files import csv_files, field_values, file_formats, stored_names
from schema_core.connectors.files.avro_files import AVRO, LEGACY, with_instants
from schema_core.connectors.files.csv_survey import (
    NativeCsv,
    Survey,
    SurveyOptions,
    survey_files,
)
from schema_core.connectors.files.file_ages import OTHER, READ_APART, FileAges
from schema_core.connectors.files.file_schemas import FOOTERS, CheckedFiles, check_files
from schema_core.connectors.files.partition_values import (
    PARTITION_ZONE,
    partition_text,
    partition_value,
)
from schema_core.connectors.float_predicates import without_float_pushdown
from schema_core.environment.options import ConfigOption, invalid_value
from schema_core.errors import ExternalError, NotFoundError, SchemaError, UnsupportedError
from schema_core.mappings.spark.pyspark_types import (
    to_spark_sql,
    to_struct_field,
)
from schema_core.schema.columns import PhysicalColumn
from schema_core.spark.commit import commit, file_systems
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.expression import (
    from_physical,
    to_physical,
)
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import FLOATS, is_fine, sql_type
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.compiler.tree import NamedNode, quote
from schema_core.spark.jobs import HINT
from schema_core.spark.session.api_mode import functions_of
from schema_core.spark.session.frames import select

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.types import StructField

    from schema_core.schema.resolved import ResolvedSchema
    from schema_core.spark.connector import ReadContext, TableContext

TEXT = types.VarCharType(types.MAX_LENGTH)
#: The prefix of the name of a dropped column of older csv files; its position follows.
DROPPED: Final = "schema_core_dropped_"

#: Characters that make a path a pattern for Spark's streaming source.
_PATTERN = frozenset("*?[]{}\\")
#: Spark's streaming source skips files that are older than the newest by more than this.
NO_MAXIMUM = "36500d"
PATH = ConfigOption(
    "path",
    str,
    None,
    "the directory, or a file to read; if relative, below the current directory of the process",
    required=True,
)
FORMAT = ConfigOption(
    "format",
    str,
    None,
    "csv, json, parquet, orc, avro, raw, text or a format of changes",
    required=True,
)


def _directory_name(text: str) -> str:
    """Parse a directory name that readers do not skip."""
    if not text or text.endswith(file_systems.COPYING) or "\0" in text:
        raise invalid_value("the name of a directory that readers do not skip", text)
    return text


DEFAULT_PARTITION = ConfigOption(
    NULL_NAME_OPTION,
    _directory_name,
    NULL_NAME,
    "the directory of a partition whose column is NULL or empty",
)
_SCHEME = "^[a-zA-Z][a-zA-Z0-9+.-]*:(//[^/]*)?"


def _file(field: str) -> nodes.Node:
    return nodes.Field(ColumnNode(csv_files.FILE_METADATA), field)


def _decode_path(path: nodes.Node) -> nodes.Node:
    """Return a path without the escapes of a URI, which most do not have."""
    return nodes.let(
        path,
        lambda value: inline(
            "if(contains({v}, '%'), url_decode(replace({v}, '+', '%2B')), {v})", v=value
        ),
    )


#: The key of the path as a URI, which orders files; tables do not declare it.
URI: Final = "$uri"
#: Metadata key -> its type and its value in Spark.
METADATA: dict[str, tuple[types.DataType, nodes.Node]] = {
    "file.path": (
        types.VarCharType(types.MAX_LENGTH, nullable=False),
        _decode_path(nodes.call("regexp_replace", _file("file_path"), _SCHEME, "")),
    ),
    "file.name": (
        types.VarCharType(types.MAX_LENGTH, nullable=False),
        _decode_path(_file("file_name")),
    ),
    "file.size": (types.BigIntType(nullable=False), _file("file_size")),
    "file.modification-time": (
        types.LocalZonedTimestampType(3, nullable=False),
        _file("file_modification_time"),
    ),
    URI: (types.VarCharType(types.MAX_LENGTH, nullable=False), _file("file_path")),
}

#: The metadata that orders the files of a table: the older file is the earlier one.
AGE: dict[str, types.DataType] = {key: METADATA[key][0] for key in ("file.modification-time", URI)}


def table_path(options: Mapping[str, str], session: SparkSession) -> str:
    """Return the absolute path of a table's files, or its URI."""
    return file_systems.absolute(session, PATH.of(options) or "")


def field_names(type_: types.DataType) -> Iterator[str]:
    """Yield the names of all fields within a type."""
    if isinstance(type_, types.RowType | types.StructuredType):
        yield from (field.name for field in type_.fields)
    for child in type_.children():
        yield from field_names(child)


def _nullable(type_: types.DataType) -> types.DataType:
    return type_.nullable().rebuild(tuple(map(_nullable, type_.children())))


def format_of(options: Mapping[str, str]) -> file_formats.Format:
    """Return the format of a table.

    Raises:
        SchemaError: with code `factory-not-found`.
    """
    name = FORMAT.of(options) or ""
    if name in file_formats.FORMATS:
        return file_formats.FORMATS[name]
    try:
        offered = plugins.require(plugins.FORMATS, name)
    except NotFoundError as error:
        raise SchemaError(
            error.problem.replace("format", "file format", 1),
            code="factory-not-found",
            hint=error.hint,
        ) from None
    if not isinstance(offered, file_formats.Format):
        raise SchemaError(f"the format {name!r} is not a file format", code="factory-not-found")
    return offered


def _is_column(path: Path) -> bool:
    return len(path) == 1


class CsvColumns(NamedTuple):
    """The columns of csv files.

    `fields` are by position, dropped ones as text; `names` those that a header may have for each.
    A line has at least the `least` first fields. A header may lack the `optional` columns and have
    the `ignored` ones.
    """

    fields: tuple[types.RowField, ...]
    names: tuple[tuple[str, ...], ...]
    least: int
    optional: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()


class FileLayout:
    """The layout of a table's files: path, format, options, and partition columns."""

    def __init__(
        self, context: TableContext, *, is_exact: bool = False, streams: bool = False
    ) -> None:
        table = context.table
        self.options: Mapping[str, str] = table.options
        #: A stream reads csv exactly: later files cannot be surveyed.
        self.is_exact: bool = is_exact or streams
        #: The Avro schema of the records of files whose rows may be NULL.
        self.union: str | None = None
        self.streams = streams
        #: How Spark's reader reads csv; None for the exact parser.
        self.native: NativeCsv | None = None
        self.schema: ResolvedSchema = table.resolved_schema
        self.partitions: tuple[str, ...] = tuple(table.partition_keys)
        self.form: file_formats.Format = format_of(self.options)
        #: The columns of older files.
        self.ages: FileAges = FileAges(ColumnHistory.of(self.options), file_paths(table))
        self.path: str = table_path(self.options, context.session)
        #: The files to read, all of one age, as URIs; None for all that there are.
        self.files: tuple[str, ...] | None = None
        #: The names of columns and fields in these files; None for those of every age.
        self.names: stored_names.StoredNames | None = None
        #: The columns of these files, if they are csv.
        self.csv: CsvColumns = self._csv_columns(None)
        self._require_names()
        if self.form.codec is not None:
            self.form.codec.require(self.inner(), self.options)

    def _require_names(self) -> None:
        for name in self.partitions:
            if name.startswith(".") or "\0" in name:
                raise SchemaError(
                    f"the name of the partition column {name!r} is not valid in a directory name",
                    code="name-not-supported",
                    hint="rename the column: readers skip directories that begin with a dot",
                )
        for column in self.schema.columns:
            if not isinstance(column, PhysicalColumn) or column.name in self.partitions:
                continue
            for name in (column.name, *field_names(column.data_type)):
                if refused := [mark for mark in self.form.refused_in_names if mark in name]:
                    raise SchemaError(
                        f"{self.form.identifier} files cannot hold the name {name!r}, "
                        f"which contains {refused[0]!r}",
                        code="name-not-supported",
                        hint="rename it, or use the format 'parquet' or 'json'",
                    )

    def inner(self) -> list[types.RowField]:
        """Return the columns that files hold."""
        return [
            types.RowField(column.name, column.data_type)
            for column in self.schema.columns
            if isinstance(column, PhysicalColumn) and column.name not in self.partitions
        ]

    def load(self, session: SparkSession, *, metadata: bool) -> DataFrame:
        """Return the rows of all files, strings for text formats, maybe with `FILE_METADATA`."""
        self.require_types()
        if self.form is file_formats.JSON and (
            file_formats.fails_on_missing(self.options) or file_formats.JSON_ERRORS.of(self.options)
        ):
            return self._with_current_names(self._objects(session))
        if self.form is not file_formats.CSV:
            frame = self.reader(session).load(self._reader_paths())
            if metadata or self.form.identifier in file_formats.PLACES:
                frame = csv_files.with_file_metadata(frame)
            if self.form.identifier in FOOTERS:
                frame = without_float_pushdown(frame)
            return self._with_current_names(frame)
        dialect = csv_files.dialect_of(self.options, [field.name for field in self.csv.fields])
        dialect = replace(
            dialect,
            names=self.csv.names,
            least=self.csv.least,
            optional=self.csv.optional,
            ignored=self.csv.ignored,
        )
        frame = None if self.is_exact else self._native(session, dialect)
        if frame is not None:
            return csv_files.with_file_metadata(frame) if metadata else frame
        partitions = () if self.streams else self.partitions
        streaming = self._streaming() if self.streams else None
        frame = csv_files.read_csv(
            session,
            self._reader_paths(),
            dialect,
            partitions,
            metadata=metadata,
            streaming=streaming,
            base=self.path,
        )
        if not self.streams or not self.has_positions:
            return frame
        # later files are not listed before the job
        is_unknown = nodes.call("rlike", ColumnNode(csv_files.FILE), self.ages.markers.unknown)
        fails = nodes.fail(f"a file was written with {OTHER}{HINT}{READ_APART}")
        return frame.where(nodes.to_sql(nodes.Case(((is_unknown, fails),), nodes.Literal(True))))

    def check_files(self, session: SparkSession, uris: Sequence[str]) -> CheckedFiles:
        """Compare the schemas of files with the columns: see `file_schemas.check_files`."""
        form = self.form
        columns = self.inner()
        if form is AVRO and LEGACY.of(self.options):
            columns = [
                types.RowField(column.name, with_instants(column.data_type)) for column in columns
            ]
        return check_files(session, uris, form.identifier, columns, self.ages)

    # --- files of every age ----------------------------------------------------------------------

    def by_age(self, uris: Sequence[str], checked: CheckedFiles) -> list[FileLayout]:
        """Return a layout for the files of each age; this one if no file is older.

        Avro files whose rows are a union with `null` have a layout for each schema of records.

        Raises:
            ExternalError: with code `unreadable-file` for a file of another program that several
                layouts fit, `schema-mismatch` for files that lack a column that is NOT NULL,
                and csv files with other fields of a row.
        """
        layouts = self._by_age(uris, checked)
        if not checked.unions:
            return layouts
        result = []
        for layout in layouts:
            same: dict[str | None, list[str]] = {}
            for uri in uris if layout.files is None else layout.files:
                same.setdefault(checked.unions.get(uri), []).append(uri)
            for schema, files in same.items():
                part = layout._of_files(files, names=layout.names)  # noqa: SLF001 - of this class
                part.union = schema
                result.append(part)
        return result

    def _by_age(self, uris: Sequence[str], checked: CheckedFiles) -> list[FileLayout]:
        if self.has_positions:
            self.ages.require_known(uris)
        if not self.ages.has_older or not uris:
            return [self]
        if self.form is file_formats.CSV:
            columns: dict[CsvColumns, list[str]] = {}
            for version, same in self._by_version(uris).items():
                if version is None and not self.fits_every_age():
                    raise self.ages.unknown_age_error(same[0])
                self._require_fields(version, same[0])
                columns.setdefault(self._csv_columns(version), []).extend(same)
            return [
                self if alike == self.csv and len(columns) == 1 else self._of_files(same, csv=alike)
                for alike, same in columns.items()
            ]
        if self.form.identifier in FOOTERS:
            names = checked.by_names
            if [*names] == [()]:
                return [self]
            return [self._of_files(same, names=alike) for alike, same in names.items()]
        layouts = []
        for version, same in self._by_version(uris).items():
            if version is None and self.ages.reused:
                raise self.ages.unknown_age_error(same[0])
            self._require_not_null(version, same[0])
            layout = None if version is None else self.ages.layouts[version]
            stored = None if layout is None else stored_names.stored_names(self.inner(), layout)
            layouts.append(self._of_files(same, names=stored))
        return layouts

    def _by_version(self, uris: Iterable[str]) -> dict[int | None, list[str]]:
        versions: dict[int | None, list[str]] = {}
        for uri in uris:
            versions.setdefault(self.ages.version_of(uri), []).append(uri)
        return versions

    def with_files(self, paths: Iterable[str]) -> FileLayout:
        """Return the layout of the files with these values of the metadata ``file.path``."""
        return self._of_files(
            quote_uri(f"{self.path}/{name}") for name in self.relative_paths(paths)
        )

    @property
    def root(self) -> str:
        """The path of the table in its file system, as in values of the metadata ``file.path``."""
        return re.sub(_SCHEME, "", self.path).rstrip("/")

    def relative_paths(self, paths: Iterable[str]) -> list[str]:
        """Return values of the metadata ``file.path`` as paths below the table's directory."""
        return sorted(path.removeprefix(f"{self.root}/") for path in paths)

    def _of_files(
        self,
        uris: Iterable[str],
        names: stored_names.StoredNames | None = None,
        csv: CsvColumns | None = None,
    ) -> FileLayout:
        """Return the layout of some files, which have columns by these names."""
        layout = copy.copy(self)
        layout.files, layout.names, layout.csv = tuple(uris), names, csv or self.csv
        return layout

    def _csv_columns(self, version: int | None) -> CsvColumns:
        """Return the columns of csv files with a layout, of unknown or current age with None."""
        inner = self.inner()
        last = self.ages.layouts[-1]
        if version is None:
            names = tuple(self.ages.names_of(field.name) for field in inner)
            required = [field.name for field in inner if not field.data_type.is_nullable]
            width = 1 + max((last.columns.index(name) for name in required), default=-1)
            least = max(width, min(len(layout.columns) for layout in self.ages.layouts))
            newer = frozenset(path[0] for path in self.ages.newer if len(path) == 1)
            newer = newer.difference(required)
            old = {name for layout in self.ages.layouts for name in layout.columns}
            ignored = frozenset(old - {name for several in names for name in several})
            return CsvColumns(tuple(inner), names, least, newer, ignored)
        layout = self.ages.layouts[version]
        if layout is last:
            names = tuple((field.name,) for field in inner)
            return CsvColumns(tuple(inner), names, len(inner))
        types_ = {field.name: field.data_type for field in inner}
        current = {at[0]: path[0] for path, at in layout.paths.items() if len(path) == 1}
        fields = [
            types.RowField(current[name], types_[current[name]])
            if name in current
            else types.RowField(f"{DROPPED}{place}", TEXT)
            for place, name in enumerate(layout.columns)
        ]
        return CsvColumns(tuple(fields), tuple((name,) for name in layout.columns), len(fields))

    @property
    def has_positions(self) -> bool:
        """Whether files have columns, or the fields of rows, by position."""
        is_named = csv_files.HEADER.of(self.options) and all(map(_is_column, self.ages.paths))
        return self.form is file_formats.CSV and not is_named

    def fits_every_age(self) -> bool:
        """Return whether files of unknown age are read by the columns of the table.

        Files that name their columns are, unless names were used twice; csv files without a header
        if columns were only added at the end, or renamed.
        """
        if self.form is not file_formats.CSV:
            return True
        if csv_files.HEADER.of(self.options):
            return not self.ages.reused
        return self.ages.only_grows()

    def _require_fields(self, version: int | None, file: str) -> None:
        """Refuse csv files with other columns or fields than can be read."""
        self._require_not_null(version, file)
        if self.ages.has_other_fields(version):
            raise ExternalError(
                f"file {unquote(file)!r} is older than a change of the fields of a row, which csv "
                "files have by position",
                code="schema-mismatch",
                hint=stored_names.REWRITE,
            )

    def _require_not_null(self, version: int | None, file: str) -> None:
        """Refuse files that lack a column that is NOT NULL."""
        if version is None:
            return
        stored = self.ages.layouts[version].paths
        for field in self.inner():
            if (field.name,) not in stored and not field.data_type.is_nullable:
                raise ExternalError(
                    f"file {unquote(file)!r} has no column {field.name!r}, which is NOT NULL",
                    code="schema-mismatch",
                    hint="declare the column as nullable, or rewrite the file",
                )

    def _reader_paths(self) -> str | list[str]:
        return self.path if self.files is None else [unquote(uri) for uri in self.files]

    def _with_current_names(self, frame: DataFrame) -> DataFrame:
        """Return the rows of files of one age by the current names."""
        if not self.names:
            return frame
        names, inner = dict(self.names), self.inner()
        stored = {names.get((field.name,), field.name) for field in inner}
        columns = [(self._current_column(field, names), field.name) for field in inner]
        others = [(ColumnNode(name), name) for name in frame.columns if name not in stored]
        return select(frame, [*columns, *others])

    def columns_without_null(self, physical: Mapping[str, types.DataType]) -> frozenset[str]:
        """Return the columns without NULL, as the survey of csv files shows."""
        if self.native is None:
            return frozenset()
        read = {field.name: field.data_type for field in self.csv.fields}
        without_null = self.native.columns_without_null({**read, **physical})
        return without_null.intersection(physical)

    def _current_column(self, column: types.RowField, names: Mapping[Path, str]) -> nodes.Node:
        value: nodes.Node = ColumnNode(names.get((column.name,), column.name))
        if not any(path[0] == column.name for path in names if len(path) > 1):
            return value
        # Spark casts rows by position; columns of files are nullable at any depth
        return nodes.Cast(
            value, to_spark_sql(_nullable(self._physical_type(column.name, column.data_type)))
        )

    def _streaming(self) -> dict[str, str]:
        """Return the options of Spark's streaming source, or raise `streaming-not-supported`."""
        if not _PATTERN.isdisjoint(self.path):
            raise UnsupportedError(
                f"a streaming job cannot read the path {self.path!r}: Spark takes it for a pattern",
                code="streaming-not-supported",
                hint="name a directory without any of the characters * ? [ ] { } \\",
            )
        return {"maxFileAge": NO_MAXIMUM}

    def _source(self, session: SparkSession) -> DataFrameReader:
        """Return a batch reader, or a streaming reader."""
        if not self.streams:
            return session.read
        # both have the methods that are used here
        return cast("DataFrameReader", session.readStream.options(**self._streaming()))

    def partition_of_file(self, key: str) -> nodes.Node:
        """Return a partition column, from the path of a row's file."""
        type_ = next(
            column.data_type for column in self.schema.columns if column.name == key
        ).nullable()
        root = re.escape(self.root)
        place = f"^{root}/(?:.*/)?{re.escape(key)}=([^/]*)/"
        problem = f"a file is in no directory of the partition column {key!r}"
        value = nodes.let(
            METADATA["file.path"][1],
            lambda path: nodes.Case(
                ((inline("NOT rlike({p}, {place})", p=path, place=place), nodes.fail(problem)),),
                _decode_path(nodes.call("regexp_extract", path, place, 1)),
            ),
        )
        default = DEFAULT_PARTITION.of(self.options) or ""
        value = nodes.call("nullif", nodes.call("nullif", value, default), HIVE_NULL_NAME)
        expected = f"the value of {key!r} in the name of a directory is not a "
        read = nodes.let(
            value,
            lambda text: inline(
                "coalesce({value}, if({t} IS NULL, NULL, raise_error(concat({problem}, {t}))))",
                value=partition_value(text, type_),
                t=text,
                problem=f"{expected}{type_.as_summary_string()}: ",
            ),
        )
        return to_physical(read, type_)

    def _native(self, session: SparkSession, dialect: csv_files.CsvDialect) -> DataFrame | None:
        """Return the csv records of Spark's reader, or None if it would read other values."""
        null = csv_files.NULL.of(self.options)
        if csv_files.EMPTY_IS_NULL.of(self.options):
            if null:
                return None
            null = ""

        def reader_of(survey: Survey) -> tuple[dict[str, str], list[StructField]]:
            self.native = NativeCsv(survey, dialect, null)
            return self.native.options, self._inner()

        def load() -> DataFrame:
            native = cast("NativeCsv", self.native)  # of `reader_of`, which is called first
            return self.reader(session).options(**native.options).load(self._reader_paths())

        self.native = None
        expected = reader_of(Survey())
        frame = load()
        words = any(isinstance(column.data_type, FLOATS) for column in self.schema.columns)
        survey = survey_files(session, frame.inputFiles(), SurveyOptions(dialect, null, words))
        if not survey.is_regular:
            self.native = None
            return None
        return frame if reader_of(survey) == expected else load()

    def _objects(self, session: SparkSession) -> DataFrame:
        """Return the lines of json files that hold an object.

        Flink skips all others if errors are ignored.
        """
        from pyspark.sql.types import StructType

        functions = functions_of(session)
        col = functions.col
        partitions = () if self.streams else self.partitions
        fields = [to_struct_field(name, TEXT) for name in (csv_files.CONTENT, *partitions)]
        reader = self._literal_reader(
            self._source(session).format("text").schema(StructType(fields))
        )
        lines = csv_files.with_file_metadata(reader.load(self._reader_paths()))
        text = col(csv_files.CONTENT)
        if file_formats.JSON_ERRORS.of(self.options):
            lines = lines.where(file_formats.is_object(functions, text, self.options))
        else:
            content = file_formats.require_all_fields(
                ColumnNode(csv_files.CONTENT), self._stored_fields()
            )
            lines = lines.where(functions.trim(text) != "")
            text = functions.expr(nodes.to_sql(content))
        stored, exact = StructType(self._inner()), StructType(self._inner(is_exact=True))
        record = f"{csv_files.CONTENT} object"
        rows = file_formats.parse_objects(lines, text, record, stored, exact, self.options)
        names = [f"{quote(record)}.{quote(name)} AS {quote(name)}" for name in stored.names]
        return rows.selectExpr(*names, *map(quote, (*partitions, csv_files.FILE_METADATA)))

    def _stored_fields(self) -> list[tuple[Sequence[str], types.DataType]]:
        """Return the names that a file may have for each column, and its type with these names."""
        if self._reads_every_name():
            return [([*self.ages.names_of(field.name)], TEXT) for field in self.inner()]
        names = dict(self.names or {})
        return [
            (
                (names.get((field.name,), field.name),),
                stored_names.stored_type(field.data_type, names, (field.name,)),
            )
            for field in self.inner()
        ]

    def lines(
        self, frame: DataFrame, fields: Sequence[types.RowField]
    ) -> tuple[DataFrame, str, dict[str, str]]:
        """Return csv lines with the partitions, and Spark's format and options to write them.

        Headers require Spark's csv writer, which quotes all fields.
        """
        inner = [field for field in fields if field.name not in self.partitions]
        columns = [
            csv_files.CsvColumn(field.name, ColumnNode(field.name), field.data_type)
            for field in inner
        ]
        dialect = csv_files.dialect_of(self.options, [field.name for field in inner])
        rest = [(ColumnNode(name), name) for name in self.partitions]
        if not dialect.header:
            line = csv_files.csv_line(columns, dialect, self.options)
            return select(frame, [(line, csv_files.CONTENT), *rest]), "text", {"lineSep": "\n"}
        values = [
            (
                csv_files.csv_value(column, dialect, self.options),
                csv_files.escape_header(column.name, dialect),
            )
            for column in columns
        ]
        return select(frame, [*values, *rest]), "csv", csv_files.header_options(dialect)

    def require_types(self) -> None:
        """Refuse columns that the format cannot hold.

        Raises:
            SchemaError: with code `type-not-supported`.
        """
        for field in self.inner():
            problem = self.form.why_not(field.data_type)
            if problem is not None:
                raise SchemaError(
                    f"column {field.name!r} cannot be in a file: {problem}",
                    code="type-not-supported",
                    hint="use the format 'parquet' or 'orc'",
                )

    def _inner(self, *, is_exact: bool = False) -> list[StructField]:
        """Return the fields to read, by the names that files have, of any age if it is unknown."""
        if self.form is file_formats.CSV:
            fields = [(field.name, self._read_type(field)) for field in self.csv.fields]
            return [to_struct_field(name, kind, on_loss="note") for name, kind in fields]
        result = []
        names = None if self.names is None else dict(self.names)
        for field in self.inner():
            path, declared = (field.name,), field.data_type.nullable()
            type_ = field_values.exact_type(declared) if is_exact else self._read_type(field)
            if names is not None:
                stored = {names.get(path, field.name): stored_names.stored_type(type_, names, path)}
            elif self._reads_every_name():
                every = stored_names.every_name(type_, self.ages, path)
                stored = dict.fromkeys(self.ages.names_of(field.name), every)
            else:
                stored = {field.name: type_}
            result += [to_struct_field(name, kind, on_loss="note") for name, kind in stored.items()]
        return result

    def _read_type(self, field: types.RowField) -> types.DataType:
        return self._physical_type(field.name, field.data_type.nullable())

    def _reads_every_name(self) -> bool:
        """Return whether columns are read by all names that they have had.

        Files that list their columns are read by their own names, except by streams; csv by
        position. If columns have swapped their names, only files of a known age are read.
        """
        is_listed = self.form.identifier in LISTED and not self.streams
        is_known = self.names is not None or is_listed or self.form is file_formats.CSV
        return self.ages.has_renamed and not self.ages.reused and not is_known

    def _physical_type(self, name: str, type_: types.DataType) -> types.DataType:
        if self.form.codec is not None:
            return self.form.codec.physical_type(type_, self.options)
        if self.native is not None and self.native.is_native(name, type_):
            return self.native.physical_type(type_)
        return file_formats.text_reader_type(type_, self.options) if self.form.is_text else type_

    def _literal_reader(self, reader: DataFrameReader) -> DataFrameReader:
        """Make a reader take the path literally; directories are partitions if there are any.

        Spark's streaming source finds only partitions that exist at its start.
        """
        reader = reader.option("__globPaths__", "false")
        if self.files is not None:
            reader = reader.option("basePath", self.path)
        is_flat = self.streams or not self.partitions
        return reader.option("recursiveFileLookup", "true") if is_flat else reader

    def reader(self, session: SparkSession) -> DataFrameReader:
        """Return a reader of the physical columns, by the names that files have."""
        from pyspark.sql.types import StructType

        partitions = () if self.streams else self.partitions
        fields = self._inner() + [to_struct_field(name, TEXT) for name in partitions]
        reader = self._source(session).format(self.form.source or self.form.identifier)
        settings = (self.form.codec or self.form).reading(self.options)
        if self.union is not None:
            settings = {**settings, "avroSchema": self.union}
        return self._literal_reader(reader.schema(StructType(fields))).options(**settings)

    def partition_values(self, uris: Iterable[str], root: str) -> dict[str, set[str]]:
        """Return the values of each partition column in the directories of files.

        Raises:
            ExternalError: with code `schema-mismatch` for a file outside of partition
                directories, where Spark would read NULL or a column of the file.
        """
        directories: dict[str, set[str]] = {key: set() for key in self.partitions}
        if not directories:
            return {}
        depth = len(root.rsplit("://", maxsplit=1)[-1].rstrip("/").split("/"))
        for directory in {uri.rpartition("/")[0] for uri in uris}:
            parts = [unquote(part) for part in directory.split("://")[-1].split("/")[depth:]]
            pairs = (part.partition("=") for part in parts)
            values = {
                commit.unescape_partition(key): commit.unescape_partition(value)
                for key, mark, value in pairs
                if mark
            }
            missing = [key for key in directories if key not in values]
            if missing:
                raise ExternalError(
                    f"directory {'/'.join(parts) or '.'!r} of {self.path!r} holds files, "
                    f"but its name has no value of the partition column {missing[0]!r}",
                    code="schema-mismatch",
                    hint=f"move the files into directories '{missing[0]}=...', "
                    "or declare the table without PARTITIONED BY",
                )
            for key, texts in directories.items():
                texts.add(values[key])
        return directories

    def read_partitions(
        self, context: ReadContext, values: Mapping[str, set[str]]
    ) -> dict[str, nodes.Node]:
        """Return the partition columns, in expressions by which Spark prunes partitions.

        Values that Spark casts differently from Flink are computed here, once.

        Raises:
            ExternalError: with code `schema-mismatch` for a value that is not of the
                column's type.
        """
        column_types = context.physical_columns
        default = DEFAULT_PARTITION.of(self.options) or ""
        columns = {}
        for key, texts in values.items():
            type_ = column_types[key].nullable()
            node: nodes.Node = ColumnNode(key)
            # Spark reads NULL from the directory `HIVE_NULL_NAME` only
            if not {default, HIVE_NULL_NAME}.isdisjoint(texts):
                node = nodes.call("nullif", nodes.call("coalesce", node, HIVE_NULL_NAME), default)
            asked = sorted(text for text in texts if text != default and not is_plain(text, type_))
            read = self._read_partitions(context, key, asked) if asked else {}
            if is_fine(type_):  # a struct, by which Spark does not prune
                columns[key] = to_physical(partition_value(node, type_), type_)
                continue
            branches = tuple(
                (inline("{v} = {text}", v=node, text=text), nodes.Literal(literal))
                for text, literal in read.items()
                if text != literal
            )
            node = nodes.Case(branches, node) if branches else node
            if not isinstance(type_, types.CharType | types.VarCharType):
                node = nodes.Cast(node, sql_type(type_), safe=True)
            columns[key] = node
        return columns

    def _read_partitions(
        self, context: ReadContext, key: str, texts: Sequence[str]
    ) -> dict[str, str]:
        """Return, by value of a directory, a string that Spark casts to the same value."""
        type_ = context.physical_columns[key].nullable()
        rows = context.session.createDataFrame([(text,) for text in texts], "v STRING")
        value = partition_value(ColumnNode("v"), type_)
        as_text = convert(value, type_, TEXT, PARTITION_ZONE)
        cast = as_text if is_fine(type_) else nodes.Cast(to_physical(value, type_), "STRING")
        read = {
            row[0]: row[1] for row in select(rows, [(ColumnNode("v"), "v"), (cast, "c")]).collect()
        }
        for text, literal in read.items():
            if literal is None:
                raise ExternalError(
                    f"directory {f'{key}={text}'!r} of {self.path!r}: "
                    f"cannot read the value as {type_.as_summary_string()}",
                    code="schema-mismatch",
                    hint="declare the partition column as STRING and CAST it in the query, "
                    "or rename the directory",
                )
        return read

    def value(self, name: str, type_: types.DataType) -> nodes.Node:
        """Return a column, computed from the columns of the reader."""
        node: nodes.Node = ColumnNode(name)
        if self.form is file_formats.CSV and all(name != field.name for field in self.csv.fields):
            return to_physical(nodes.Cast(nodes.NULL, sql_type(type_)), type_)
        if self._reads_every_name():
            values = {every: ColumnNode(every) for every in self.ages.names_of(name)}
            is_checked = self.form.identifier in LISTED
            node = stored_names.by_any_name(values, is_checked=is_checked)
            physical = self._physical_type(name, type_)
            node = stored_names.current_value(
                node, physical, self.ages, (name,), is_checked=is_checked
            )
        if self.form.codec is not None:
            return self.form.codec.decode(node, name, type_, self.options)
        if self.form.is_typed:
            return file_formats.truncate_to_precision(node, type_)
        if self.native is not None:
            known = self.native.field(name, type_)
            if self.native.is_native(name, type_):
                return (
                    nodes.Cast(known, sql_type(type_))
                    if isinstance(type_, types.DecimalType)
                    else known
                )
            return file_formats.parse_field(known, name, type_, self.options)
        known = self.form.known(node, type_, self.options)
        return file_formats.parse_field(
            known, name, type_, self.options, file_formats.PLACES.get(self.form.identifier)
        )

    def to_stored_column(self, name: str, type_: types.DataType) -> NamedNode:
        """Return a column as it is written."""
        node: nodes.Node = ColumnNode(name)
        if name in self.partitions:
            shown = partition_text(from_physical(node, type_), type_)
            node = nodes.let(shown, lambda value: self._directory(name, value, type_))
        elif self.form.codec is not None:
            node = self.form.codec.encode(node, name, type_, self.options)
        elif self.form is file_formats.JSON and file_formats.PLAIN.of(self.options):
            node = file_formats.plain_decimals(node, type_)
        elif self.form.identifier == "csv":
            node = file_formats.render_field(from_physical(node, type_), name, type_, self.options)
        return node, name

    def _directory(self, name: str, value: nodes.Node, type_: types.DataType) -> nodes.Node:
        """Return a partition value as in the name of its directory.

        NULL and '' share one (Flink's ``partition.default-name``); a value that would be read back
        differently fails the job.
        """
        default = DEFAULT_PARTITION.of(self.options) or ""
        invalid = (
            (
                inline("{v} = {default}", v=value, default=default),
                (
                    f"{default!r} is the directory of NULL"
                    f"{HINT}set '{DEFAULT_PARTITION.key}' to a name that no value has"
                ),
            ),
            (nodes.call("contains", value, "\0"), "the name of a directory cannot contain NUL"),
            (
                nodes.call("endswith", value, file_systems.COPYING),
                f"readers skip names that end in {file_systems.COPYING!r}",
            ),
        )
        empty = inline("coalesce({v}, '') = ''", v=value)
        branches = (
            (condition, nodes.fail(f"partition column {name!r}: {problem}"))
            for condition, problem in invalid
        )
        null: nodes.Node = nodes.Literal(default)
        if not type_.is_nullable:
            null = nodes.fail(f"partition column {name!r} is NOT NULL, but '' is read back as NULL")
        return nodes.Case(((empty, null), *branches), value)
