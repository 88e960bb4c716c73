"""Surveys of csv files: whether Spark's csv reader reads them as Flink's parser does.

Spark's reader divides files, prunes columns and pushes filters down, but drops blank lines, fills
short records, and confuses empty strings with NULL. A survey of a file's bytes rules this out,
about twenty times faster than parsing. Other files are read by the exact parser. A survey is cached
until the file's status changes, unless a change might not be seen in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import reduce
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from schema_core.base.caching import GenerationalCache
from schema_core.base.lazy import dataclass
from schema_core.connectors.files.csv_files import CsvDialect, Scanner, UnreadableRecordError
from schema_core.spark.commit.file_systems import (
    HadoopFiles,
    file_state_of,
    is_file_settled,
    path_of,
)
from schema_core.spark.compiler.translation import INTEGERS
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.compiler.tree import Node, call
from schema_core.spark.session.api_mode import java_class, session_state
from schema_core.types import (
    CharType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    VarCharType,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

#: Bytes that are surveyed at once: intermediate arrays fit in the processor's cache.
CHUNK = 1 << 17

#: Suffixes of files that Spark decompresses.
COMPRESSED = (".gz", ".bz2", ".deflate", ".lz4", ".snappy", ".zst", ".xz", ".lzo", ".lz", ".zstd")


@dataclass(frozen=True, slots=True)
class Survey:
    """What csv files contain.

    Attributes:
        is_regular: Every line is one record with as many fields as columns; none is blank.
        padded: A field begins or ends with a blank.
        words: ``nan`` or ``inf`` occurs, in any case.
        commas: A comma occurs that is not a delimiter.
        empty: The positions of the columns in which a field is empty.
        null: The positions of the columns in which a field may be the null literal.
    """

    is_regular: bool = True
    padded: bool = False
    words: bool = False
    commas: bool = False
    empty: frozenset[int] = frozenset()
    null: frozenset[int] = frozenset()

    def __or__(self, other: Survey) -> Survey:
        """Return the survey of both."""
        return Survey(
            self.is_regular and other.is_regular,
            self.padded or other.padded,
            self.words or other.words,
            self.commas or other.commas,
            self.empty | other.empty,
            self.null | other.null,
        )


#: A character that no surveyed file has, as a null literal that never occurs.
NULL_MARK = b"\1"


@dataclass(frozen=True, slots=True)
class SurveyOptions:
    """The dialect, the null literal, and whether words such as NaN matter."""

    dialect: CsvDialect
    null: str | None = None
    words: bool = False


IRREGULAR = Survey(is_regular=False)

#: The surveys of unchanged files.
_KEPT: GenerationalCache[Survey] = GenerationalCache(f"{__name__}.Survey", 4_000_000)


def survey_files(session: SparkSession, uris: Sequence[str], options: SurveyOptions) -> Survey:
    """Return the survey of all files; it ends with the first irregular one."""
    if not _is_supported(options.dialect):
        return IRREGULAR
    survey = Survey()
    for uri in uris:
        status, is_lasting = _status(session, uri)
        key = (uri, *status, options)
        part = _KEPT.keep(key, len(uri) + 200)
        if part is None:
            path = None if uri.lower().endswith(COMPRESSED) else path_of(uri)
            if path is None:
                part = _survey_by_spark(session, uri, options)
            else:
                with open(path, "rb") as file:  # noqa: PTH123
                    part = survey_chunks(_chunks(file), options)
            if is_lasting:
                _KEPT.add(key, part, len(uri) + 200)
        survey |= part
        if not survey.is_regular:
            break
    return survey


def _is_supported(dialect: CsvDialect) -> bool:
    """Return whether Spark's reader has the dialect without skipping records."""
    delimiter, quote = dialect.delimiter, dialect.quote
    is_other = dialect.skip_errors or dialect.trim or dialect.extra
    if is_other or not dialect.columns or not f"{delimiter}{quote}".isascii():
        return False
    is_delimiter = delimiter == "\t" or (delimiter > " " and delimiter not in ("\\", quote))
    return is_delimiter and (not quote or quote > " ")


def _status(session: SparkSession, uri: str) -> tuple[tuple[float, ...], bool]:
    """Return what shows that a file has changed, and whether it shows every later change."""
    path = path_of(uri)
    if path is not None:
        state = file_state_of(path)
        return state, is_file_settled(state)
    place = java_class(session, "org.apache.hadoop.fs.Path")(
        java_class(session, "java.net.URI")(uri)
    )
    configuration = session_state(session).newHadoopConf()
    status = HadoopFiles(session, place.getFileSystem(configuration)).system.getFileStatus(place)
    return (int(status.getLen()), float(status.getModificationTime())), True


def _chunks(file: Any) -> Iterator[bytes]:
    rest: list[bytes] = []
    while read := file.read(CHUNK):
        end = read.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, read[:end]])
            rest = []
        rest.append(read[end:])
    if any(rest):
        yield b"".join(rest)


def survey_chunks(chunks: Iterable[bytes], options: SurveyOptions) -> Survey:
    """Return the survey of a file in chunks of complete lines."""
    survey, is_first = Survey(), True
    for chunk in chunks:
        if is_first and (
            chunk.startswith(b"\xef\xbb\xbf") or not _has_header(chunk, options.dialect)
        ):
            return IRREGULAR
        is_first = False
        survey |= survey_lines(chunk, options)
        if not survey.is_regular:
            break
    return survey


def _has_header(chunk: bytes, dialect: CsvDialect) -> bool:
    if not dialect.header:
        return True
    scanner = Scanner(dialect)
    try:
        line = chunk.split(b"\n", 1)[0].removesuffix(b"\r")
        return scanner.feed(line.decode("utf-8")) and dialect.is_header(scanner.fields)
    except (UnreadableRecordError, UnicodeDecodeError):
        return False


def survey_lines(chunk: bytes, options: SurveyOptions) -> Survey:
    r"""Return the survey of complete lines.

    >>> options = SurveyOptions(CsvDialect(("a", "b")), null="NA")
    >>> survey_lines(b"1,a\n2,\nNA,NAN\n", options)  # doctest: +NORMALIZE_WHITESPACE
    Survey(is_regular=True, padded=False, words=False, commas=False,
           empty=frozenset({1}), null=frozenset({0}))
    >>> survey_lines(b"1,a\n2,b,c\n", options).is_regular
    False
    """
    import numpy as np

    dialect = options.dialect
    if b"\r" in chunk:
        chunk = chunk.replace(b"\r\n", b"\n")
    if not chunk.endswith(b"\n"):
        chunk += b"\n"
    comment = b"#" if dialect.comments else b""
    special = [b"\r", b"\0", NULL_MARK, dialect.escape.encode(), comment]
    if any(character in chunk for character in special if character) or not _is_utf8(chunk):
        return IRREGULAR
    data = np.frombuffer(chunk, np.uint8)
    is_end, mark = data == ord("\n"), data == ord(dialect.delimiter)
    quotes: Any = data[:0]
    if dialect.quote and dialect.quote.encode() in chunk:
        quotes = np.flatnonzero(data == ord(dialect.quote))
        if not _are_closed(quotes, is_end, mark):
            return IRREGULAR
        delimiters = np.flatnonzero(mark)
        mark[delimiters[np.searchsorted(quotes, delimiters) % 2 == 1]] = False
    mark |= is_end
    ends = np.flatnonzero(is_end)
    lines = _Lines(data, mark, quotes, np.concatenate(([0], ends[:-1] + 1)), len(dialect.columns))
    if not lines.have_width() or lines.are_blank(dialect):
        return IRREGULAR
    lower = data | ord(" ") if options.words else data[:0]
    return Survey(
        is_regular=True,
        padded=lines.are_padded(dialect),
        words=_contains(lower, b"nan") or _contains(lower, b"inf"),
        commas=bool(len(quotes)) or (dialect.delimiter != "," and b"," in chunk),
        empty=lines.columns_empty(),
        null=lines.columns_with(options.null, dialect),
    )


@dataclass(frozen=True, slots=True)
class _Lines:
    """Complete lines.

    Attributes:
        data: The bytes.
        mark: Whether a byte ends a field.
        quotes: The positions of quotes, which alternately open and close fields.
        starts: The position of each line.
        width: The number of columns.
    """

    data: Any
    mark: Any
    quotes: Any
    starts: Any
    width: int

    def have_width(self) -> bool:
        import numpy as np

        counts = np.add.reduceat(self.mark.view(np.uint8), self.starts, dtype=np.uint32)
        return bool((counts == self.width).all())

    def are_blank(self, dialect: CsvDialect) -> bool:
        """Return whether a line starts with a blank or is blank: Spark drops or trims it."""
        import numpy as np

        first = self.data[self.starts]
        if ((first <= ord(" ")) & (first != ord(dialect.delimiter))).any():
            return True
        if dialect.delimiter > " ":
            return False
        return bool((np.maximum.reduceat(self.data, self.starts) <= ord(" ")).any())

    def are_padded(self, dialect: CsvDialect) -> bool:
        import numpy as np

        data, mark = self.data, self.mark
        blank = data <= ord(" ")
        if dialect.delimiter > " " and np.count_nonzero(blank) == len(self.starts):
            return False  # the ends of the lines
        blank &= ~mark
        if blank[0] or (blank[1:] & mark[:-1]).any() or (blank[:-1] & mark[1:]).any():
            return True
        first, last = self.quotes[0::2] + 1, self.quotes[1::2] - 1
        return bool((data[first] <= ord(" ")).any() or (data[last] <= ord(" ")).any())

    def columns_empty(self) -> frozenset[int]:
        import numpy as np

        ends = np.flatnonzero(self.mark[1:] & self.mark[:-1]) + 1
        opening, closing = self.quotes[0::2], self.quotes[1::2]
        is_first = [0] if self.mark[0] else []
        return self._columns(np.concatenate((is_first, ends, closing[closing - opening == 1])))

    def columns_with(self, literal: str | None, dialect: CsvDialect) -> frozenset[int]:
        """Return the columns in which a field may be the null literal."""
        import numpy as np

        if literal is None:
            return frozenset()
        if not literal:
            return self.columns_empty()
        text = literal.encode()
        if len(self.quotes):  # the quotes of a literal are doubled in files
            may_occur = dialect.quote in literal or _contains(self.data, text)
            return frozenset(range(self.width)) if may_occur else frozenset()
        places = _occurrences(self.data, text)
        is_field = self.mark[np.minimum(places + len(text), len(self.mark) - 1)]
        return self._columns(places[is_field & ((places == 0) | self.mark[places - 1])])

    def _columns(self, places: Any) -> frozenset[int]:
        """Return the columns at positions; a mark belongs to the field before it."""
        import numpy as np

        if not len(places):
            return frozenset()
        places = places.astype(np.intp)
        starts = self.starts[np.searchsorted(self.starts, places, "right") - 1]
        pairs = np.stack((starts, places), axis=1).ravel()
        before = np.add.reduceat(self.mark.view(np.uint8), pairs, dtype=np.uint32)[::2]
        columns = np.where(places > starts, before, 0)
        return frozenset(np.flatnonzero(np.bincount(columns)).tolist())


def _is_utf8(chunk: bytes) -> bool:
    """Return whether bytes are UTF-8; the parsers replace others differently."""
    if chunk.isascii():
        return True
    try:
        chunk.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _contains(data: Any, text: bytes) -> bool:
    """Return whether bytes contain others; faster than ``in`` if a part of them is frequent."""
    return bool(len(_occurrences(data, text)))


def _occurrences(data: Any, text: bytes) -> Any:
    import numpy as np

    starts = data[: max(len(data) - len(text) + 1, 0)] == text[0]
    for place in range(1, len(text)):
        starts &= data[place : place + len(starts)] == text[place]
    return np.flatnonzero(starts)


def _are_closed(quotes: Any, is_end: Any, is_delimiter: Any) -> bool:
    """Return whether quotes open at the start of fields and close at their end, on one line."""
    import numpy as np

    if len(quotes) % 2 or (np.searchsorted(quotes, np.flatnonzero(is_end)) % 2).any():
        return False
    mark = is_end | is_delimiter
    opening, closing = quotes[0::2], quotes[1::2]
    is_doubled = opening[1:] - closing[:-1] == 1
    starts, stops = mark[opening - 1], mark[closing + 1]  # the last mark is the end of the lines
    starts[1:] |= is_doubled
    stops[:-1] |= is_doubled
    return bool(starts.all() and stops.all())


# --- files that only Spark can read -------------------------------------------------------------


def _survey_by_spark(session: SparkSession, uri: str, options: SurveyOptions) -> Survey:
    """Survey a file in tasks, unless it has a header."""
    if options.dialect.header:
        return IRREGULAR

    def survey(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            lines = b"\n".join(value.as_py() for value in batch.column(0))
            result = survey_chunks([lines + b"\n"], options) if batch.num_rows else Survey()
            values = {name: getattr(result, name) for name in Survey.__slots__}
            arrays = [
                pa.array([value], pa.bool_())
                if isinstance(value, bool)
                else pa.array([sorted(value)], pa.list_(pa.int32()))
                for value in values.values()
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=list(values))

    reader = session.read.format("text").option("lineSep", "\n").option("__globPaths__", "false")
    lines: DataFrame = reader.load(unquote(uri)).selectExpr("CAST(value AS BINARY) AS value")
    schema = ", ".join(
        f"{field.name} {'BOOLEAN' if isinstance(field.default, bool) else 'ARRAY<INT>'}"
        for field in fields(Survey)
    )
    rows = lines.mapInArrow(survey, schema).distinct().collect()
    values: list[list[Any]] = [
        [cell if isinstance(cell, bool) else frozenset(cell) for cell in row] for row in rows
    ]
    return reduce(Survey.__or__, (Survey(*row) for row in values), Survey())


# --- Spark's reader ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NativeCsv:
    """How Spark's csv reader reads surveyed files with the values of Flink.

    It parses numbers where both accept the same strings; other columns are read as strings and
    converted by the rules of casts.
    """

    survey: Survey
    dialect: CsvDialect
    null: str | None

    @property
    def parses_numbers(self) -> bool:
        """Whether the reader parses numbers.

        Only Flink trims blanks. With a null literal, the reader takes empty fields for NULL, too.
        """
        return not self.survey.padded and (self.null in (None, "") or not self.survey.empty)

    def is_native(self, name: str, type_: DataType) -> bool:
        """Return whether the reader parses a column of the type.

        Without a null literal an empty field is not a number, but NULL for the reader.
        """
        if isinstance(type_, CharType | VarCharType):
            return True
        if not self.parses_numbers or (self.null is None and self._has_empty(name)):
            return False
        match type_:
            case DecimalType():  # the reader removes commas
                return not self.survey.commas
            case FloatType() | DoubleType():  # the reader has literals of its own for both
                return not self.survey.words
            case _:
                return isinstance(type_, INTEGERS)

    def physical_type(self, type_: DataType) -> DataType:
        """Return the type as which the reader parses a column.

        The reader refuses a DECIMAL with more digits than its type; in Flink it is NULL.
        """
        return DecimalType(38, type_.scale) if isinstance(type_, DecimalType) else type_

    def _has_empty(self, name: str) -> bool:
        return self.dialect.columns.index(name) in self.survey.empty

    @property
    def options(self) -> dict[str, str]:
        """The options of Spark's csv reader."""
        null = (self.null or "") if self._finds_null else NULL_MARK.decode()
        return {
            "sep": self.dialect.delimiter,
            "quote": self.dialect.quote,
            "escape": self.dialect.quote or "\0",
            "header": str(self.dialect.header).lower(),
            "nullValue": null,
            "emptyValue": "",
            "mode": "FAILFAST",
            "encoding": "UTF-8",
            "locale": "en-US",
            "columnNameOfCorruptRecord": self._corrupt_record,
            "maxColumns": str(max(20480, len(self.dialect.columns) + 1)),
        }

    @property
    def _corrupt_record(self) -> str:
        """A name that is not a column in any case: the reader would not parse that column."""
        names = {column.lower() for column in self.dialect.columns}
        name = "schema_core_corrupt"
        while name in names:
            name += "_"
        return name

    @property
    def _finds_null(self) -> bool:
        """Whether the reader finds the null literal, or an empty field without one."""
        return self.null in (None, "") or self.parses_numbers

    def field(self, name: str, type_: DataType) -> Node:
        """Return a column of the reader, NULL where the field represents NULL."""
        node: Node = ColumnNode(name)
        has_empty = self._has_empty(name)
        if type_.children():  # the literal is that of its elements or fields
            return call("coalesce", node, (self.null or "") if self._finds_null else "")
        if self._finds_null:
            return call("coalesce", node, "") if self.null is None and has_empty else node
        return call("nullif", call("coalesce", node, "") if has_empty else node, self.null)

    def columns_without_null(self, types: Mapping[str, DataType]) -> frozenset[str]:
        """Return the columns that hold no NULL.

        A DECIMAL with too many digits and an empty ROW are NULL.
        """
        nulls = self.survey.null if self.null is not None else frozenset()
        return frozenset(
            name
            for place, name in enumerate(self.dialect.columns)
            if place not in nulls
            and not (isinstance(types[name], DecimalType) or types[name].children())
        )
