"""CSV files: options, parsing by the rules of Flink's parser (Jackson), and writing.

Spark's reader drops empty lines and NUL, and an unclosed quote consumes the rest of a file. Here, a
record that cannot be parsed fails the job with its file and line, or is skipped on request.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from schema_core import types
from schema_core.base.lazy import dataclass
from schema_core.connectors.files.field_values import BLANK
from schema_core.environment.options import ConfigOption, boolean, invalid_value
from schema_core.errors import SchemaError
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import quote
from schema_core.spark.jobs import HINT
from schema_core.spark.session.api_mode import functions_of, in_session, is_connect
from schema_core.spark.session.settings import MEANING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


Options = Mapping[str, str]


class UnreadableRecordError(Exception):
    """An invalid record; the message names the file, the line and the reason."""


#: Delimiters that an error suggests for a header of one field.
DELIMITERS = (",", ";", "\t", "|", ":", " ")


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """The syntax of records.

    `columns` are the names in a header; `skip_errors` skips invalid records; `trailing` permits a
    delimiter after the last field, `extra` any further fields. Blanks around fields are not theirs
    with `trim`. A record may lack the columns after the first `least` ones; with `complete` none
    that is skipped or padded otherwise. A header may lack the `optional` columns, and have the
    `ignored` ones.
    """

    columns: tuple[str, ...]
    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    comments: bool = False
    header: bool = False
    skip_errors: bool = False
    trailing: bool = True
    extra: bool = False
    trim: bool = False
    complete: bool = False
    #: The names that a header may have for each column; by default its own.
    names: tuple[tuple[str, ...], ...] = ()
    least: int | None = None
    optional: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()

    def is_header(self, fields: Sequence[str]) -> bool:
        """Return whether fields name the columns in order, maybe by former names."""
        names = self._names()
        if len(fields) != len(names):
            return False
        return all(field in known for field, known in zip(fields, names, strict=True))

    def find_places(self, header: Sequence[str]) -> list[int | None] | None:
        """Return the position of each column in files with a header, None for one they lack.

        None if the header has other columns, or one twice.

        >>> dialect = CsvDialect(("a", "b", "c"), optional=frozenset("c"), ignored=frozenset("d"))
        >>> dialect.find_places(["b", "d", "a"]), dialect.find_places(["a", "c"])
        ([2, 0, None], None)
        """
        if self.is_header(header):
            return [*range(len(header))]
        places = {name: place for place, name in enumerate(header)}
        found = [
            next((places[name] for name in known if name in places), None)
            for known in self._names()
        ]
        others = {*range(len(header))} - {*found}
        lacking = {name for name, place in zip(self.columns, found, strict=True) if place is None}
        is_known = {header[place] for place in others} <= self.ignored and lacking <= self.optional
        return found if is_known and len(places) == len(header) else None

    def _names(self) -> Sequence[tuple[str, ...]]:
        return self.names or tuple((column,) for column in self.columns)


# --- options ------------------------------------------------------------------------------------

DELIMITER = ConfigOption("csv.field-delimiter", str, ",", "the delimiter between two fields")
NO_QUOTE = ConfigOption(
    "csv.disable-quote-character", boolean, False, "whether a quote is an ordinary character"
)
QUOTE = ConfigOption("csv.quote-character", str, '"', "the quote character of a field")
ESCAPE = ConfigOption("csv.escape-character", str, None, "the character that escapes the next one")
COMMENTS = ConfigOption("csv.allow-comments", boolean, False, "whether # starts a comment line")
CSV_ERRORS = ConfigOption(
    "csv.ignore-parse-errors",
    boolean,
    False,
    "whether a field that cannot be parsed is NULL instead of an error",
)
NULL = ConfigOption(
    "csv.null-literal",
    str,
    None,
    "the string that represents NULL; without it no field is NULL, and an empty field is not a "
    "number",
)
EMPTY_IS_NULL = ConfigOption(
    "csv.empty-string-as-null", boolean, False, "whether an empty field is NULL when it is read"
)


def _one_character(text: str) -> str:
    if len(text) != 1:
        raise invalid_value("one character", text)
    return text


ELEMENTS = ConfigOption(
    "csv.array-element-delimiter",
    _one_character,
    ";",
    "the delimiter between the elements of an ARRAY, and between the fields of a ROW",
)
TRAILING = ConfigOption(
    "csv.allow-trailing-comma",
    boolean,
    True,
    "whether a record may end with a delimiter after its last field",
)
EXTRA = ConfigOption(
    "csv.ignore-trailing-unmappable",
    boolean,
    False,
    "whether fields after that of the last column are ignored",
)
TRIM = ConfigOption(
    "csv.trim-spaces", boolean, False, "whether blanks around fields and quotes are not theirs"
)
COMPLETE = ConfigOption(
    "csv.fail-on-missing-columns",
    boolean,
    False,
    "whether a record with too few fields is skipped where `csv.ignore-parse-errors` would read "
    "NULL; without that option it fails the job in any case",
)
SCIENTIFIC = ConfigOption(
    "csv.write-bigdecimal-in-scientific-notation",
    boolean,
    True,
    "whether decimals, without trailing zeros, are written with an exponent: 30.00 as `3E+1`, "
    "else as `30`; messages have all their digits, as in Flink",
)
HEADER = ConfigOption(
    "csv.header",
    boolean,
    False,
    "whether the first line of a file names its columns, which must then be those of the table; "
    "Flink has no such option",
)


def dialect_of(options: Options, columns: Sequence[str]) -> CsvDialect:
    """Return the dialect of a table's csv files.

    Raises:
        SchemaError: with code `invalid-option-value` for a delimiter, quote or escape of more than
            one character, and for a quote character that is disabled.
    """
    if NO_QUOTE.of(options) and QUOTE.key in options:
        raise SchemaError(
            f"option {QUOTE.key!r} must not be set if {NO_QUOTE.key!r} is true",
            code="invalid-option-value",
        )
    quote_ = "" if NO_QUOTE.of(options) else _character(QUOTE, options)
    escape = _character(ESCAPE, options)
    return CsvDialect(
        tuple(columns),
        _character(DELIMITER, options),
        quote_,
        "" if escape == quote_ else escape,
        comments=bool(COMMENTS.of(options)),
        header=bool(HEADER.of(options)),
        skip_errors=bool(CSV_ERRORS.of(options)),
        trailing=bool(TRAILING.of(options)),
        extra=bool(EXTRA.of(options)),
        trim=bool(TRIM.of(options)),
        complete=bool(COMPLETE.of(options)),
    )


def _character(option: ConfigOption[Any], options: Options) -> str:
    """Return an option of one character, or of one Java escape sequence."""
    text = str(option.of(options) or "")
    if len(text) > 1 and text.startswith("\\"):
        escape = re.fullmatch(r"\\(?:u([0-9a-fA-F]{4})|([tnrfb\\'\"]))", text)
        letters = dict(zip("tnrfb", "\t\n\r\f\b", strict=True))
        if escape is not None:
            text = chr(int(escape[1], 16)) if escape[1] else letters.get(escape[2], escape[2])
    if len(text) > 1:
        raise SchemaError(
            f"option {option.key!r} must be one character, got {text!r}",
            code="invalid-option-value",
        )
    return text


# --- reading records ----------------------------------------------------------------------------

#: Additional columns: the file of a record and the number of its first line.
FILE, LINE = "schema_core_file", "schema_core_line"

#: Letter after the escape character -> its character; others represent themselves.
ESCAPED = {"0": "\0", "n": "\n", "r": "\r", "t": "\t"}
#: The characters that Java's ``String.trim`` removes.
BLANKS = "".join(map(chr, range(0x21)))


@dataclass(slots=True)
class Scanner:
    """Splits a record into fields, line by line."""

    dialect: CsvDialect
    fields: list[str] = field(default_factory=list)
    #: The parts of a field whose quote is open.
    open: list[str] | None = None

    def feed(self, text: str) -> bool:
        """Parse a line without its end; return whether the record is complete.

        Raises:
            UnreadableRecordError: for text after a closing quote.
        """
        position = 0
        while True:
            if self.dialect.trim and self.open is None:
                position = self._skip_blanks(text, position)
            if self.open is not None:
                found = self._continue_quoted(text, position)
                if found is None:
                    return False
                position = found
            elif self.dialect.quote and text.startswith(self.dialect.quote, position):
                self.open = []
                position += 1
                continue
            else:
                position = self._plain(text, position)
            if position > len(text):
                return True

    def _skip_blanks(self, text: str, position: int) -> int:
        """Return the position of the next character that is not blank, or a delimiter."""
        while (
            position < len(text)
            and text[position] <= " "
            and (text[position] != self.dialect.delimiter)
        ):
            position += 1
        return position

    def _add_plain(self, value: str) -> None:
        self.fields.append(value.rstrip(BLANKS) if self.dialect.trim else value)

    def _plain(self, text: str, position: int) -> int:
        delimiter, escape = self.dialect.delimiter, self.dialect.escape
        if not escape or escape not in text:
            end = text.find(delimiter, position)
            end = len(text) if end < 0 else end
            self._add_plain(text[position:end])
            return end + 1
        parts = []
        while position < len(text) and text[position] != delimiter:
            if text[position] == escape and position + 1 < len(text):
                position += 1
                parts.append(ESCAPED.get(text[position], text[position]))
            else:
                parts.append(text[position])
            position += 1
        self._add_plain("".join(parts))
        return position + 1

    def _continue_quoted(self, text: str, position: int) -> int | None:
        """Parse a quoted field; return the position of the next one, None at the line's end."""
        quote, escape = self.dialect.quote, self.dialect.escape
        parts = self.open if self.open is not None else []
        special = re.compile(f"[{re.escape(quote + escape)}]")
        while found := special.search(text, position):
            parts.append(text[position : found.start()])
            position = found.end()
            following = text[position : position + 1]
            if found[0] == escape and escape != quote:
                parts.append(ESCAPED.get(following, following))
            elif following == quote:
                parts.append(quote)
            else:
                return self._close_quoted(text, position, parts)
            position += 1
        parts.append(text[position:])
        return None

    def _close_quoted(self, text: str, position: int, parts: list[str]) -> int:
        """End a quoted field; only blanks may follow."""
        delimiter = self.dialect.delimiter
        position = self._skip_blanks(text, position)
        if position < len(text) and text[position] != delimiter:
            raise UnreadableRecordError(
                f"expected {delimiter!r} or the end of the line after a closing quote, "
                f"found {text[position]!r}"
            )
        self.fields.append("".join(parts))
        self.open = None
        return position + 1


@dataclass(slots=True)
class FileReader:
    """Parses the lines of files, one file after the other."""

    dialect: CsvDialect
    file: str | None = None
    line: int = 0
    #: The line that the current record began on.
    start: int = 0
    is_first: bool = True
    scanner: Scanner | None = None
    #: The number of fields of a record, and the position of each column; None for a missing one.
    width: int = 0
    places: Sequence[int | None] = ()

    def read(self, file: str, content: bytes) -> Iterator[list[str | None]]:
        """Yield the records that end on the next line of a file.

        Raises:
            UnreadableRecordError: as `Scanner.feed`; for a quote that is not closed in its file,
                another number of fields than columns, and another header.
        """
        if file != self.file:
            self.finish()
            self.file, self.line, self.is_first = file, 0, self.dialect.header
            self.width = len(self.dialect.columns)
            self.places = range(self.width)
            content = content.removeprefix(b"\xef\xbb\xbf")
        self.line += 1
        for text, end in _split_line(content.decode("utf-8", "replace")):
            record = self._record(text, end)
            if record is not None:
                yield record

    def is_at_record(self, file: str) -> bool:
        """Return whether the next line of the file starts a record and is not the first."""
        return file == self.file and self.scanner is None and not self.is_first

    def finish(self) -> None:
        """End a file: no quote may be open."""
        if self.scanner is not None:
            self.scanner = None
            self._refuse("unclosed quote")

    def _record(self, text: str, end: str) -> list[str | None] | None:
        if self.scanner is None:
            if self.dialect.comments and text.lstrip().startswith("#"):
                return None
            self.start, self.scanner = self.line, Scanner(self.dialect)
        try:
            is_complete = self.scanner.feed(text)
        except UnreadableRecordError as error:
            self.scanner = None
            self._refuse(str(error))
            return None
        if not is_complete:
            (self.scanner.open or []).append(end)
            return None
        fields, self.scanner = self.scanner.fields, None
        return self._check_width(fields)

    def _check_width(self, fields: list[str]) -> list[str | None] | None:
        if self.is_first:
            self.is_first = False
            places = self.dialect.find_places(fields)
            if places is None:
                raise UnreadableRecordError(f"{self._place()}: {self._wrong_header(fields)}")
            self.places, self.width = places, len(fields)
            return None
        width = self.width
        if self.dialect.trailing and len(fields) == width + 1 and not fields[-1]:
            fields = fields[:-1]
        if self.dialect.extra:
            fields = fields[:width]
        if len(fields) != width and not self._is_short(len(fields)):
            self._refuse(f"expected {width} fields, found {len(fields)}")
        if len(fields) > width or (len(fields) < width and self.dialect.complete):
            return None
        # as in Flink, a row with too few fields has NULL in the others
        return [
            None if place is None or place >= len(fields) else fields[place]
            for place in self.places
        ]

    def _is_short(self, count: int) -> bool:
        """Return whether records of this many fields are older than the last columns."""
        least = self.dialect.least
        if self.dialect.complete:
            return False
        return not self.dialect.header and least is not None and least <= count < self.width

    def split_plain(self, contents: pa.Array) -> list[pa.Array] | None:
        """Return the columns of lines, or None if one needs `Scanner`, which is slower."""
        import pyarrow as pa

        fields = split_plain(contents, self.dialect)
        if fields is None or not (len(fields) == self.width or self._is_short(len(fields))):
            return None
        nulls = pa.nulls(len(contents), pa.string())
        return [
            nulls if place is None or place >= len(fields) else fields[place]
            for place in self.places
        ]

    def _wrong_header(self, fields: list[str]) -> str:
        columns, delimiter = list(self.dialect.columns), self.dialect.delimiter
        problem = f"expected the header {columns}, found {fields} with the delimiter {delimiter!r}"
        if len(fields) == 1 < len(columns):
            others = [item for item in DELIMITERS if item != delimiter and item in fields[0]]
            known_value = [
                repr(other) for other in others if fields[0].count(other) == len(columns) - 1
            ]
            advice = f" to {known_value[0]}" if known_value else ""
            return f"{problem}; set the option '{DELIMITER.key}'{advice}"
        return problem

    def _refuse(self, problem: str) -> None:
        if not self.dialect.skip_errors:
            raise UnreadableRecordError(f"{self._place()}: {problem}")

    def _place(self) -> str:
        return f"file {self.file!r}, line {self.start or self.line}"


def _split_line(text: str) -> Iterator[tuple[str, str]]:
    """Split a line at carriage returns; yield each part with its end."""
    if "\r" not in text:
        yield text, "\n"
        return
    *others, last = text.split("\r")
    for other in others[:-1] if not last else others:
        yield other, "\r"
    yield (others[-1], "\r\n") if not last else (last, "\n")


#: Lines that are split at once: if one has a quote, the scanner parses all of them.
CHUNK = 1024


def parse_batches(
    batches: Iterable[pa.RecordBatch], dialect: CsvDialect, others: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Parse lines, which have content, file and other columns, into records.

    A record has the file, the number of its first line, its fields, and others of its last line.
    """
    import pyarrow as pa

    reader = FileReader(dialect)
    for batch in batches:
        records = Records(len(dialect.columns))
        for first, last in _chunks(batch.column(1)):
            _parse_lines(reader, batch.slice(first, last - first), first, records)
        taken = batch.select(range(1, batch.num_columns)).take(records.rows())
        arrays: list[Any] = [taken.column(0), records.numbers(), *records.fields()]
        arrays += [taken.column(place) for place in range(1, taken.num_columns)]
        names = [FILE, LINE, *dialect.columns, *others]
        yield pa.RecordBatch.from_arrays(arrays, names=names)
    reader.finish()


def lines_of(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Split whole files into lines, as Spark's reader does; other columns are repeated."""
    import pyarrow as pa

    for batch in batches:
        about = batch.select(range(1, batch.num_columns))
        for row in range(batch.num_rows):
            content = batch.column(0)[row].as_py().removeprefix(BOM_UTF8)
            lines = content.removesuffix(b"\n").split(b"\n") if content else []
            for first in range(0, len(lines), CHUNK):
                part = pa.array(lines[first : first + CHUNK], pa.binary())
                kept = about.take(pa.array([row] * len(part), pa.int32()))
                names = batch.schema.names
                yield pa.RecordBatch.from_arrays([part, *kept.columns], names=names)


def _chunks(files: pa.Array) -> Iterator[tuple[int, int]]:
    """Yield ranges of at most `CHUNK` lines of one file; its first line is separate."""
    import pyarrow.compute as pc

    count = len(files)
    others = pc.indices_nonzero(pc.not_equal(files.slice(1), files.slice(0, max(count - 1, 0))))
    starts = [0, *(int(place) + 1 for place in others.to_pylist())] if count else []
    for start, end in zip(starts, [*starts[1:], count], strict=True):
        yield start, start + 1
        for first in range(start + 1, end, CHUNK):
            yield first, min(first + CHUNK, end)


def _parse_lines(reader: FileReader, lines: pa.RecordBatch, offset: int, records: Records) -> None:
    """Add the records that end on lines of one file; `offset` is the row of the first."""
    contents, file = lines.column(0), lines.column(1)[0].as_py()
    columns = reader.split_plain(contents) if reader.is_at_record(file) else None
    if columns is not None:
        records.add_all(columns, offset, reader.line + 1)
        reader.line += len(contents)
        return
    for row, content in enumerate(contents.to_pylist(), offset):
        for record in reader.read(file, content):
            records.add(record, row, reader.start)


def split_plain(contents: pa.Array, dialect: CsvDialect) -> list[pa.Array] | None:
    """Return the fields of lines, or None if one needs `Scanner`, which is slower.

    That is for a quote, an escape, another line end, a possible comment, bytes that are not UTF-8,
    blanks to remove, or lines with different numbers of fields.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if dialect.trim:
        return None
    try:
        lines = contents.cast(pa.string())
    except pa.ArrowInvalid:
        return None
    special = [dialect.quote, dialect.escape, "\r", "#" if dialect.comments else ""]
    for item in filter(None, special):
        if pc.any(pc.match_substring(lines, item)).as_py():
            return None
    fields = pc.split_pattern(lines, dialect.delimiter)
    counts = pc.min_max(pc.list_value_length(fields)).as_py()
    if counts["min"] is None or counts["min"] != counts["max"]:
        return None
    return [pc.list_element(fields, place) for place in range(counts["min"])]


@dataclass(slots=True)
class Records:
    """The records of a batch, column by column."""

    width: int
    #: The parts of each column: rows, lines, then fields.
    parts: list[list[pa.Array]] = field(init=False)
    #: Records since the last part.
    single: list[tuple[int, int, list[str | None]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.parts = [[] for _ in range(self.width + 2)]

    def add(self, record: list[str | None], row: int, line: int) -> None:
        """Add a record of the scanner."""
        self.single.append((row, line, record))

    def add_all(self, columns: Sequence[pa.Array], row: int, line: int) -> None:
        """Add the records of consecutive lines, the first of which is `line` and from `row`."""
        import pyarrow as pa

        self._complete()
        count = len(columns[0])
        numbers = pa.array(range(row, row + count), pa.int32())
        lines = pa.array(range(line, line + count), pa.int64())
        for part, column in zip(self.parts, [numbers, lines, *columns], strict=True):
            part.append(column)

    def rows(self) -> pa.Array:
        """Return the row of the batch on which each record ends."""
        return self._column(0)

    def numbers(self) -> pa.Array:
        """Return the number of each record's first line."""
        return self._column(1)

    def fields(self) -> list[pa.Array]:
        """Return the columns of fields."""
        return [self._column(place) for place in range(2, self.width + 2)]

    def _column(self, place: int) -> pa.Array:
        import pyarrow as pa

        self._complete()
        empty = pa.array([], (pa.int32(), pa.int64(), pa.string())[min(place, 2)])
        return pa.concat_arrays([empty, *self.parts[place]])

    def _complete(self) -> None:
        import pyarrow as pa

        if not self.single:
            return
        rows, lines, records = zip(*self.single, strict=True)
        self.single.clear()
        columns = [pa.array(column, pa.string()) for column in zip(*records, strict=True)]
        arrays = [pa.array(rows, pa.int32()), pa.array(lines, pa.int64()), *columns]
        for part, array in zip(self.parts, arrays, strict=True):
            part.append(array)


# --- the reader of Spark -----------------------------------------------------------------------

#: Settings of the session that lists lines: tasks have whole files, up to 64, since whether a quote
#: is open depends on all lines before.
UNDIVIDED = {
    "spark.sql.files.openCostInBytes": str(1 << 40),
    "spark.sql.files.maxPartitionBytes": str(1 << 46),
}


def read_csv(
    session: SparkSession,
    path: str | list[str],
    dialect: CsvDialect,
    partitions: Sequence[str],
    *,
    metadata: bool,
    base: str,
    streaming: Mapping[str, str] | None = None,
) -> DataFrame:
    """Return the records of csv files: `FILE`, `LINE`, the columns and the partitions, all strings.

    `path` is a directory, or files below the directory `base`. `metadata` adds `FILE_METADATA`; the
    options of a `streaming` source, later files. Tasks read
    whole files in a session of their own; over Spark Connect, where a frame belongs to one session,
    each file at once.
    """
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    at_once = is_connect(session)
    lines = session if at_once else session.newSession()
    if not at_once:
        for key, value in {**MEANING, **UNDIVIDED}.items():
            lines.conf.set(key, value)
    fields = [StructField(name, StringType()) for name in (CONTENT, *partitions)]
    source = lines.read if streaming is None else lines.readStream.options(**streaming)
    reader = source.format("text").schema(StructType(fields)).option("lineSep", "\n")
    reader = reader.option("wholetext", str(at_once).lower())
    reader = reader.option("__globPaths__", "false")
    if not isinstance(path, str):
        reader = reader.option("basePath", base)
    if not partitions:
        reader = reader.option("recursiveFileLookup", "true")
    given = [f"CAST({CONTENT} AS BINARY) AS {CONTENT}", f"{FILE_METADATA}.file_path AS {FILE}"]
    # `mapInArrow` does not quote names of columns
    given += [f"{quote(name)} AS {PARTITION}{place}" for place, name in enumerate(partitions)]
    given += [f"{FILE_METADATA}.{key} AS {name}" for key, name in ABOUT.items()] if metadata else []
    frame = with_file_metadata(reader.load(path)).selectExpr(*given)
    strings = [StructField(name, StringType()) for name in dialect.columns]
    place = [StructField(FILE, StringType()), StructField(LINE, LongType())]
    names = [*partitions, *(ABOUT.values() if metadata else ())]
    pairs = zip(names, frame.schema.fields[2:], strict=True)
    others = [StructField(name, item.dataType) for name, item in pairs]
    schema = StructType([*place, *strings, *others])

    def parse(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return parse_batches(lines_of(batches) if at_once else batches, dialect, names)

    parsed = in_session(frame.mapInArrow(parse, schema), session)
    if not metadata:
        return parsed
    about = ", ".join(f"'{key}', {name}" for key, name in {"file_path": FILE, **ABOUT}.items())
    return parsed.selectExpr("*", f"named_struct({about}) AS {FILE_METADATA}")


def with_file_metadata(frame: DataFrame) -> DataFrame:
    """Add `FILE_METADATA`, since files may have a column ``_metadata``.

    Spark adds only those fields to each row that are read of the struct.
    """
    metadata = frame.metadataColumn("_metadata")
    fields = [metadata.getField(name).alias(name) for name in ("file_path", *ABOUT)]
    return frame.select("*", functions_of(frame).struct(*fields).alias(FILE_METADATA))


CONTENT, PARTITION = "schema_core_content", "schema_core_partition"
#: The struct that describes the file of a row.
FILE_METADATA = "schema_core_file_metadata"

#: Field of `FILE_METADATA` besides the path -> the column that it is in.
ABOUT = {
    "file_name": "schema_core_file_name",
    "file_size": "schema_core_file_size",
    "file_modification_time": "schema_core_file_time",
}


# --- writing ------------------------------------------------------------------------------------


def known_field(node: nodes.Node, type_: types.DataType, options: Options) -> nodes.Node:
    """Return a field with the null literal as NULL.

    Without a literal no field is NULL: Flink writes NULL as an empty field but does not read it.
    """
    if type_.children():
        return node  # the literal is that of its elements or fields
    if EMPTY_IS_NULL.of(options):
        node = nodes.call("nullif", node, "")
    null = NULL.of(options)
    return node if null is None else nodes.call("nullif", node, null)


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """The name, rendered value and type of a column to write."""

    name: str
    value: nodes.Node
    type: types.DataType


#: Flink quotes longer strings (UTF-16 characters) without a look at their characters.
_MAX_UNQUOTED: Final = 24
#: Types whose strings have few characters, at most `_MAX_UNQUOTED` of them -> these characters.
_ALPHABETS: Mapping[type[types.DataType], str] = {
    types.DateType: "0123456789-",
    types.TimeType: "0123456789:.",
}
#: Numbers and booleans, which Flink does not quote, have no other characters.
_UNQUOTED_CHARACTERS: Final = "0123456789+-.EINafinty" + "truefalse"
_UNQUOTED_TYPES: Final = (types.NumericType, types.BooleanType)


def csv_line(columns: Sequence[CsvColumn], dialect: CsvDialect, options: Options) -> nodes.Node:
    """Return a line without its end; fields are quoted if Flink quotes them, or if necessary."""
    return nodes.call(
        "concat_ws",
        dialect.delimiter,
        *(csv_value(column, dialect, options, _quoting(column, dialect)) for column in columns),
    )


Quoting = Callable[[nodes.Node, bool], nodes.Node]


def _quoting(column: CsvColumn, dialect: CsvDialect) -> Quoting:
    """Return how the values of a column are quoted, and the null literal."""
    blank = r"\x{0}-\x{20}"
    marks = {dialect.delimiter, dialect.quote, dialect.escape, "\r", "\n"} - {""}
    special = "".join(rf"\x{{{ord(mark):x}}}" for mark in sorted(marks))
    comment = "#" if dialect.comments else ""
    necessary = rf"[{special}]|\A[{blank}{comment}\x{{feff}}]|[{blank}]\z"
    # Jackson takes all characters up to the greatest one of the syntax for special ones
    last = max(map(ord, (dialect.delimiter, dialect.quote or " ", " ")))
    usual = rf"[\x{{0}}-\x{{{last:x}}}{special}]|\A[{comment}\x{{feff}}]"
    alphabet = _ALPHABETS.get(type(column.type))
    is_bare = isinstance(column.type, _UNQUOTED_TYPES)

    def quote_value(value: nodes.Node, is_null: bool) -> nodes.Node:
        if is_bare and not is_null and marks.isdisjoint(_UNQUOTED_CHARACTERS):
            return value
        if not is_null and alphabet and ord(min(alphabet)) > last and marks.isdisjoint(alphabet):
            return value
        if not dialect.quote:
            problem = f"column {column.name!r}: a value requires quotes, which are disabled"
            needed: nodes.Node = nodes.fail(f"{problem}{HINT}unset {NO_QUOTE.key!r}")
        else:
            inside = nodes.call("replace", value, dialect.quote, dialect.quote * 2)
            needed = nodes.call("concat", dialect.quote, inside, dialect.quote)
        if is_bare or is_null or not dialect.quote:
            condition = "rlike({v}, {necessary})"
        elif alphabet:
            condition = "rlike({v}, {usual})"
        else:
            condition = (
                "octet_length({v}) > {most} AND (char_length({v}) > {most}"
                " OR octet_length(encode({v}, 'UTF-16BE')) > 2 * {most}) OR rlike({v}, {usual})"
            )
        return inline(
            f"if({condition}, {{needed}}, {{v}})",
            v=value,
            needed=needed,
            necessary=necessary,
            usual=usual,
            most=_MAX_UNQUOTED,
        )

    return quote_value


def csv_value(
    column: CsvColumn,
    dialect: CsvDialect,
    options: Options,
    quoting: Quoting = lambda value, _: value,
) -> nodes.Node:
    """Return a value as a string; one that would be read back differently fails the job."""

    def escape(value: nodes.Node) -> nodes.Node:
        return nodes.let(_with_escapes(value, dialect), lambda text: quoting(text, False))

    if column.type.children():
        null: nodes.Node = nodes.Literal("")
        if isinstance(column.type, types.ArrayType):
            null = nodes.fail(f"column {column.name!r}: NULL would be read back as an empty array")
        return nodes.let(
            column.value,
            lambda value: inline(
                "if({v} IS NULL, {null}, {text})", v=value, null=null, text=escape(value)
            ),
        )
    literal = NULL.of(options)
    null = nodes.Literal("") if literal is None else quoting(nodes.Literal(literal), True)
    return stored_text(column, options, escape, null)


def _with_escapes(text: nodes.Node, dialect: CsvDialect) -> nodes.Node:
    if not dialect.escape:
        return text
    return nodes.call("replace", text, dialect.escape, dialect.escape * 2)


#: Type -> what NULL would be read back as without a null literal.
_EMPTY_VALUES: Mapping[type[types.DataType], str] = {
    **dict.fromkeys((types.CharType, types.VarCharType), "an empty string"),
    **dict.fromkeys((types.BinaryType, types.VarBinaryType), "an empty string of bytes"),
    types.BooleanType: "FALSE",
}


def stored_text(
    column: CsvColumn,
    options: Options,
    escape: Callable[[nodes.Node], nodes.Node] = lambda text: text,
    unknown: nodes.Node | None = None,
) -> nodes.Node:
    """Return the string of a field or a part of one.

    A value that would be read back differently fails the job. NULL is the null literal, or that as
    which it is `unknown`.
    """
    null = NULL.of(options)
    unknown = unknown or nodes.Literal(null or "")
    hint = f"{HINT}set {NULL.key!r} to a string that is not a value"
    empty = _EMPTY_VALUES.get(type(column.type))
    if null is None and empty is not None and not EMPTY_IS_NULL.of(options):
        unknown = nodes.fail(f"column {column.name!r}: NULL would be read back as {empty}{hint}")

    def known_value(value: nodes.Node) -> nodes.Node:
        text = escape(value)
        taken = [] if null is None else [null]
        if EMPTY_IS_NULL.of(options) and null != "":
            taken.append("")
        if not taken:
            return nodes.call("coalesce", text, unknown)
        as_null = f"would be read back as NULL{hint}"
        branches = [
            (
                inline("{v} = {literal}", v=value, literal=literal),
                nodes.fail(f"column {column.name!r}: the value {literal!r} {as_null}"),
            )
            for literal in taken
        ]
        return nodes.Case(((nodes.is_null(value), unknown), *branches), text)

    return nodes.let(column.value, known_value)


#: Strings of decimals that Java writes with an exponent: integers with trailing zeros, and what is
#: less than 0.000001. The groups are the sign, the first digit, and the others without zeros.
_LARGE: Final = r"\A(-?)([1-9])([0-9]*?)0+\z"
_SMALL: Final = r"\A(-?)0\.0{6,}([1-9])([0-9]*)\z"


def decimal_text(text: nodes.Node, type_: types.DecimalType, options: Options) -> nodes.Node:
    """Return the string of a decimal as ``BigDecimal`` prints it without trailing zeros."""
    if type_.scale:
        text = nodes.call("regexp_replace", text, r"\.?0+$", "")
    if not SCIENTIFIC.of(options):
        return text
    exponents = []
    if type_.precision - type_.scale > 1:
        exponents.append((_LARGE, "concat('E+', length(replace({t}, '-', '')) - 1)"))
    if type_.scale > 6:
        exponents.append((_SMALL, "concat('E-', length(regexp_extract({t}, {zeros}, 1)) + 1)"))

    def with_exponent(text: nodes.Node) -> nodes.Node:
        branches = []
        for pattern, exponent in exponents:
            digits = nodes.call("regexp_replace", text, pattern, "$1$2.$3")
            parts = nodes.call("concat", digits, inline(exponent, t=text, zeros=r"\.(0*)"))
            branches.append(
                (nodes.call("rlike", text, pattern), nodes.call("replace", parts, ".E", "E"))
            )
        return nodes.Case(tuple(branches), text)

    return nodes.let(text, with_exponent) if exponents else text


def joined_text(column: CsvColumn, parts: nodes.Node, options: Options) -> nodes.Node:
    """Join the strings of elements or fields by the delimiter.

    A string that would be read back as other parts fails the job.
    """
    delimiter = str(ELEMENTS.of(options))
    divided = nodes.fail(
        f"column {column.name!r}: a part of it contains {delimiter!r}"
        f"{HINT}set {ELEMENTS.key!r} to a character that no value contains"
    )
    read = "an empty array" if isinstance(column.type, types.ArrayType) else "NULL"
    blank = nodes.fail(f"column {column.name!r}: a blank value would be read back as {read}")
    return nodes.let(
        parts,
        lambda parts: inline(
            "CASE WHEN exists({parts}, x -> instr(concat(x, {mark}), {mark}) <= length(x))"
            " THEN {divided} WHEN size({parts}) > 0 AND rlike(array_join({parts}, {mark}),"
            " {pattern}) THEN {blank} ELSE array_join({parts}, {mark}) END",
            parts=parts,
            mark=delimiter,
            divided=divided,
            blank=blank,
            pattern=BLANK,
        ),
    )


def escape_header(text: str, dialect: CsvDialect) -> str:
    """Escape a name in a header; the writer doubles its quotes."""
    return text.replace(dialect.escape, dialect.escape * 2) if dialect.escape else text


def header_options(dialect: CsvDialect) -> dict[str, str]:
    """Return the options of Spark's csv writer, which writes headers."""
    return {
        "sep": dialect.delimiter,
        "quote": dialect.quote,
        "escape": dialect.quote,
        "quoteAll": str(bool(dialect.quote)).lower(),
        "header": "true",
        "emptyValue": "",
        "ignoreLeadingWhiteSpace": "false",
        "ignoreTrailingWhiteSpace": "false",
    }
