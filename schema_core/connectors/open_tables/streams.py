"""A data source of Spark with the rows that are appended to a table of an open format.

Offsets are the versions of the table and its identity, which Spark stores in the checkpoint of a
job. Spark imports this module in its Python processes.
"""

from __future__ import annotations

import pickle
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, SupportsTriggerAvailableNow

from schema_core.base.json_codec import STRING, mapping, parse_json, write_json
from schema_core.base.lazy import dataclass
from schema_core.connectors.open_tables.frames import from_stored, stored_schema
from schema_core.spark.session.session import active_session
from schema_core.types import DataType, parse_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from schema_core.errors import ExternalError
    from schema_core.spark.connector import ReadContext

#: The prefix of the options of a table, and the options with their names, which Spark changes to
#: lower case, and with the columns, among those of the source.
TABLE, NAMES, COLUMNS = "table", "names", "columns"
#: The version before the first one.
NONE: Final = -1
#: The parts of an offset: a version, and the identity of the table.
VERSION, IDENTITY = "version", "table"


class FileRows(Protocol):
    """Reads pickled descriptions of files, each in a task."""

    def read(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the files in the first column."""


@dataclass(frozen=True, slots=True)
class AppendedFiles:
    """The files of a table by version.

    Attributes:
        options: The options of the table.
        columns: The columns to read, and their types.
        schema: The columns of the result.
    """

    options: Mapping[str, str]
    columns: Mapping[str, DataType]
    schema: StructType

    @abstractmethod
    def start(self) -> int:
        """Return the version after which reading starts."""

    @abstractmethod
    def latest(self) -> tuple[int, str]:
        """Return the latest version, `NONE` without one, and the identity of the table."""

    @abstractmethod
    def precedes(self, first: int, second: int) -> bool:
        """Return whether the numbers of two versions show that the first is the older one."""

    @abstractmethod
    def failure(self, problem: str, hint: str) -> ExternalError:
        """Return an error with the code of the format."""

    @abstractmethod
    def plan(self, start: int, end: int) -> tuple[FileRows, Sequence[bytes]]:
        """Return the files that were added after one version up to another, and their reader.

        After `NONE` these are all files of a version.
        """


class FilesPartition(InputPartition):  # type: ignore[misc, unused-ignore]
    """A file, and what reads it, both pickled."""

    def __init__(self, reader: bytes, payload: bytes) -> None:
        super().__init__(None)
        self.reader, self.payload = reader, payload


class AppendSource(DataSource):  # type: ignore[misc, unused-ignore]
    """The appended rows of a table; subclasses are those of a format."""

    #: The class of the files of a table.
    files: ClassVar[type[AppendedFiles]]

    def streamReader(self, schema: Any) -> AppendReader:  # noqa: N802
        names = mapping(STRING).decode(parse_json(self.options[NAMES]))
        options = {name: self.options[f"{TABLE}.{place}.{name}"] for place, name in names.items()}
        texts = mapping(STRING).decode(parse_json(self.options[COLUMNS]))
        columns = {name: parse_type(text) for name, text in texts.items()}
        return AppendReader(self.files(options, columns, schema))


class AppendReader(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc, unused-ignore]
    """Reads the files of each version once."""

    def __init__(self, files: AppendedFiles) -> None:
        self._files = files
        self._last: dict[str, Any] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return {VERSION: self._files.start(), IDENTITY: self._latest()[IDENTITY]}

    def getDefaultReadLimit(self) -> Any:  # noqa: N802
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._last = self._latest()

    def latestOffset(self, start: dict[str, Any], limit: Any) -> dict[str, Any]:  # noqa: N802
        latest = self._latest() if self._last is None else self._last
        self._require_same_table(start, latest)
        if not self._files.precedes(latest[VERSION], start[VERSION]):
            return latest
        if start[VERSION] != self._files.start():
            raise self._replacement_error(f"its latest version precedes {start[VERSION]}")
        return start  # the table does not have the first version yet

    def _latest(self) -> dict[str, Any]:
        version, identity = self._files.latest()
        return {VERSION: version, IDENTITY: identity}

    def _require_same_table(self, first: dict[str, Any], second: dict[str, Any]) -> None:
        """Compare the tables of two offsets; the first may be one that was stored without it."""
        if first.get(IDENTITY, second[IDENTITY]) != second[IDENTITY]:
            raise self._replacement_error(f"it was {first[IDENTITY]} and is {second[IDENTITY]}")

    def _replacement_error(self, reason: str) -> ExternalError:
        return self._files.failure(
            f"the table is not the one whose rows the job has read: {reason}",
            "it was created again or restored: start the job without a checkpoint",
        )

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[FilesPartition]:
        if start[VERSION] == end[VERSION]:
            return []
        self._require_same_table(end, self._latest())  # a batch may be repeated by a later job
        if self._files.precedes(end[VERSION], start[VERSION]):
            raise self._replacement_error(f"version {end[VERSION]} precedes {start[VERSION]}")
        reader, payloads = self._files.plan(start[VERSION], end[VERSION])
        pickled = pickle.dumps(reader)
        return [FilesPartition(pickled, payload) for payload in payloads]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        # PySpark replaces an empty list of partitions by one without a value
        if not isinstance(partition, FilesPartition):
            return iter(())
        reader: FileRows = pickle.loads(partition.reader)  # noqa: S301 - of this job
        batch = pa.RecordBatch.from_arrays([pa.array([partition.payload])], ["task"])
        return reader.read(iter([batch]))


def stream_frame(context: ReadContext, source: type[AppendSource]) -> DataFrame:
    """Return the rows of a table, and those that are appended later."""
    session, schema = context.session, context.spark_schema
    names = {str(place): name for place, name in enumerate(context.options)}
    options = {  # by their names, by which Spark masks secrets
        f"{TABLE}.{place}.{name}": context.options[name] for place, name in names.items()
    }
    columns = {name: str(type_) for name, type_ in context.columns.items()}
    options |= {NAMES: write_json(names), COLUMNS: write_json(columns)}
    with active_session(session):  # in which Spark looks for a source of this name
        session.dataSource.register(source)
    reader = session.readStream.format(source.name()).schema(stored_schema(schema))
    return from_stored(reader.options(**options).load(), schema)
