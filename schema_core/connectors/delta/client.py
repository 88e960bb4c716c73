"""Tables of Delta through deltalake: opening, errors, and what a table requires of its readers."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from deltalake import DeltaTable
from deltalake._internal import DeltaFileSystemHandler
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from schema_core.base.lazy import dataclass
from schema_core.base.secrets import mask_credentials
from schema_core.base.text import shorten
from schema_core.connectors.delta.options import (
    PATH,
    PROPERTY,
    TIMESTAMP_AS_OF,
    VERSION,
    VERSION_AS_OF,
    resolve_table_location,
)
from schema_core.connectors.open_tables.versions import chosen_version, no_such_version
from schema_core.errors import (
    ConflictError,
    ExternalError,
    NotFoundError,
    SchemaCoreError,
    UnsupportedError,
)
from schema_core.errors.hints import RUN_AGAIN

#: The features of tables that are read, by the names of the protocol.
READER_FEATURES = frozenset(
    {"columnMapping", "deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}
)
#: The features of tables that are written. A table with a feature that has rules of its own for
#: rows or files (column mapping, generated columns, row tracking, changes) is only read.
WRITER_FEATURES = frozenset(
    {"appendOnly", "invariants", "checkConstraints", "timestampNtz", "vacuumProtocolCheck",
     "v2Checkpoint", "deletionVectors", "generatedColumns", "columnMapping", "changeDataFeed"}
)  # fmt: skip
#: The last versions of the protocol, of readers and writers.
MAX_PROTOCOL = (3, 7)
#: The metadata of a column with its name in files, of tables with column mapping.
PHYSICAL_NAME: Final = "delta.columnMapping.physicalName"
#: The metadata of a column with the number that it has in files, of tables with column mapping.
FIELD_ID: Final = "delta.columnMapping.id"
#: Mode of column mapping -> metadata by which columns are not looked up in files.
UNUSED_METADATA: Mapping[str, Sequence[str]] = {
    "none": (PHYSICAL_NAME, FIELD_ID),
    "name": (FIELD_ID,),
    "id": (),
}
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
#: The class of failures within deltalake, which is not an `Exception` and in no module.
PANIC: Final = "PanicException"
#: The longest part of an error of deltalake in a message.
MAX_MESSAGE = 500


@dataclass(frozen=True, slots=True)
class TableAccess:
    """Where a table is, as tasks have it.

    Attributes:
        location: The directory or URL.
        properties: The options of its storage.
    """

    location: str
    properties: Mapping[str, str] = field(repr=False)  # has credentials

    @staticmethod
    def of(options: Mapping[str, str]) -> TableAccess:
        """Return the access that options describe (`invalid-option-value`)."""
        location, directory = resolve_table_location(PATH.of(options) or "", PATH.key)
        properties = PROPERTY.entries(options)
        return TableAccess(location if directory is None else str(directory), properties)

    @property
    def directory(self) -> Path | None:
        """The directory of a table on the local file system."""
        return Path(self.location) if self.location.startswith("/") else None

    def exists(self) -> bool:
        """Return whether there is a table (`external-failure`)."""
        with delta_errors():
            return bool(DeltaTable.is_deltatable(self.location, dict(self.properties)))

    def open(self, version: int | None = None) -> DeltaTable:
        """Return the table, as it is or at a version.

        Raises:
            NotFoundError: with code `table-not-found`.
            UnsupportedError: with code `version-not-supported`.
            ExternalError: with code `external-failure`.
        """
        with delta_errors():
            table = DeltaTable(
                self.location, version=version, storage_options=dict(self.properties)
            )
        require_readable(table)
        return table


def open_version(options: Mapping[str, str]) -> DeltaTable:
    """Return the version of a table that options choose, by default the last one.

    Raises:
        NotFoundError: with code `table-not-found`, or `not-found` for a version.
        SchemaError: with code `conflicting-options` or `invalid-option-value`.
        UnsupportedError, ExternalError: as `TableAccess.open`.
    """
    access, option = TableAccess.of(options), chosen_version(options, VERSION)
    table = access.open()
    if option is None:
        return table
    value: Any = option.of(options)
    if option is not TIMESTAMP_AS_OF:
        if value > table.version():
            raise no_such_version(option, value)
        try:
            return access.open(value)
        except ExternalError as error:  # its files of the log were deleted
            raise no_such_version(option, value) from error
    version = version_at(access, table, (value - EPOCH) // dt.timedelta(milliseconds=1))
    if version is None:
        raise no_such_version(option, value)
    return access.open(version)


def version_at(access: TableAccess, table: DeltaTable, milliseconds: int) -> int | None:
    """Return the last version that was committed until a time; None if there was none.

    Raises:
        ExternalError: with code `external-failure` if a commit has no time: the log may omit it,
            and deltalake numbers the others as if there were no such commit.
    """
    with delta_errors():
        commits = table.history()
        before = table.version() - len(commits)
        log = DeltaFileSystemHandler(access.location, dict(access.properties))
        is_incomplete = (
            before >= 0 and log.get_file_info([f"_delta_log/{before:020}.json"])[0].is_file
        )
    if is_incomplete or not all("timestamp" in item for item in commits):
        raise ExternalError(
            "a version of the table has no time in its log",
            code="external-failure",
            hint=f"read a version by its number, with the option {VERSION_AS_OF.key!r}",
        )
    versions = [item["version"] for item in commits if item["timestamp"] <= milliseconds]
    return max(versions, default=None)


def schema_fields(table: DeltaTable) -> list[dict[str, Any]]:
    """Return the columns of a table, as the JSON of its schema has them.

    Of the metadata of column mapping they have what finds them in files: in the mode `id` their
    numbers, in the mode `name` their physical names, else none ("Reader Requirements for Column
    Mapping" in the Delta protocol).
    """
    fields: list[dict[str, Any]] = json.loads(table.schema().to_json())["fields"]
    unused = UNUSED_METADATA[_mapping_mode(table)]
    for column in _nested_fields(fields):
        for key in unused:
            column["metadata"].pop(key, None)
    return fields


def _mapping_mode(table: DeltaTable) -> str:
    mode: str = table.metadata().configuration.get("delta.columnMapping.mode", "none")
    return mode


def physical_name(column: Mapping[str, Any]) -> str:
    """Return the name of a column or field in files and statistics."""
    name: str = column["metadata"].get(PHYSICAL_NAME, column["name"])
    return name


def require_readable(table: DeltaTable) -> None:
    """Refuse a table with features that are not read (`version-not-supported`)."""
    protocol = table.protocol()
    features = set(protocol.reader_features or ())
    if protocol.min_reader_version > MAX_PROTOCOL[0]:
        raise _not_supported([f"version {protocol.min_reader_version} of readers"], "read")
    if unknown := sorted(features - READER_FEATURES):
        raise _not_supported(unknown, "read")
    if (mode := _mapping_mode(table)) not in UNUSED_METADATA:
        raise _not_supported([f"the mode {mode!r} of columnMapping"], "read")


def require_removable(table: DeltaTable) -> None:
    """Refuse to remove rows of a table that accepts new ones only.

    Raises:
        UnsupportedError: with code `version-not-supported`.
    """
    if table.metadata().configuration.get("delta.appendOnly", "").lower() == "true":
        raise UnsupportedError(
            "the table has the property 'delta.appendOnly': its rows are not changed or deleted",
            code="version-not-supported",
            hint="append rows with INSERT INTO, or SET 'delta.appendOnly' = 'false'",
        )


def require_writable(table: DeltaTable) -> None:
    """Refuse to write a table with rules that are not checked here.

    Raises:
        UnsupportedError: with code `version-not-supported`.
    """
    protocol, configuration = table.protocol(), table.metadata().configuration
    features = set(protocol.writer_features or ())
    if protocol.min_writer_version > MAX_PROTOCOL[1]:
        raise _not_supported([f"version {protocol.min_writer_version} of writers"], "written")
    if unknown := sorted(features - WRITER_FEATURES):
        raise _not_supported(unknown, "written")
    used = [
        (key.startswith("delta.constraints."), f"checkConstraints ({key})") for key in configuration
    ]
    used.append((_mapping_mode(table) != "none", "columnMapping"))
    used.append((configuration.get("delta.enableChangeDataFeed") == "true", "changeDataFeed"))
    for column in _nested_fields(schema_fields(table)):
        for key, feature in FIELD_FEATURES.items():
            used.append((key in column["metadata"], f"{feature} (column {column['name']!r})"))
    if rules := [feature for is_used, feature in used if is_used]:
        raise _not_supported(rules, "written")


#: Metadata of a column -> the feature whose rules its values obey.
FIELD_FEATURES = {
    "delta.invariants": "invariants",
    "delta.generationExpression": "generatedColumns",
    "delta.identity.start": "identityColumns",
}


def _nested_fields(type_: Any) -> Iterator[dict[str, Any]]:
    """Yield the fields of columns, at every depth."""
    pending = [type_]
    while pending:
        match pending.pop():
            case list() as fields:
                pending += fields
            case {"name": _, "type": inner, "metadata": _} as column:
                yield column
                pending.append(inner)
            case {"type": "struct", "fields": fields}:
                pending.append(fields)
            case {"type": "array", "elementType": element}:
                pending.append(element)
            case {"type": "map", "keyType": key, "valueType": value}:
                pending += [key, value]


def _not_supported(features: Sequence[str], action: str) -> UnsupportedError:
    return UnsupportedError(
        f"tables of Delta with {', '.join(features)} are not {action}",
        code="version-not-supported",
        hint="use an engine that supports the feature, or drop it from the table there",
    )


@contextmanager
def delta_errors() -> Iterator[None]:
    """Convert the errors of deltalake and file systems.

    Raises:
        NotFoundError: with code `table-not-found`.
        ConflictError: with code `concurrent-modification`, if another writer was faster.
        ExternalError: with code `external-failure`.
    """
    try:
        yield
    except SchemaCoreError:
        raise
    except TableNotFoundError as error:
        raise NotFoundError(
            f"there is no table of Delta: {_message(error)}", code="table-not-found"
        ) from error
    except CommitFailedError as error:
        raise ConflictError(
            f"another writer has changed the table: {_message(error)}",
            hint=RUN_AGAIN,
        ) from error
    except (DeltaError, OSError, ValueError) as error:
        raise ExternalError(
            f"Delta: {_message(error)}",
            code="external-failure",
            hint="check the option 'path', and whether its storage can be reached",
        ) from error
    except BaseException as error:
        if type(error).__name__ != PANIC:
            raise
        raise ExternalError(
            f"deltalake: {_message(error)}",
            code="external-failure",
            hint="the log of the table may be malformed: read it with another engine",
        ) from error


def _message(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return shorten(mask_credentials(lines[0]), MAX_MESSAGE)
