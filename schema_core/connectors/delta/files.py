"""The files of a version of a table of Delta, and filters that leave some of them out."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from deltalake import DeltaTable

from schema_core.base.lazy import dataclass
from schema_core.base.text import show
from schema_core.connectors.delta.client import delta_errors, physical_name, schema_fields
from schema_core.connectors.open_tables.frames import MAX_KEPT_FILES
from schema_core.errors import ExternalError
from schema_core.expressions.typed import Ref, walk
from schema_core.types import LocalZonedTimestampType, TimestampType

if TYPE_CHECKING:
    from schema_core.expressions.comparisons import Comparison
    from schema_core.spark.filters import Filter

#: The largest part of a timestamp that statistics leave out.
STATISTICS_UNIT: Final = dt.timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class DeltaFile:
    """A file of a version.

    Attributes:
        path: The path in the table's directory.
        size: The bytes.
        rows: The number of rows with deleted ones, None if it is not recorded.
        partition: Partition column -> value.
        columns: Column -> the smallest and largest value, and the number of NULLs; each None if it
            is not recorded.
        kept: For each row whether it remains, as an array of Arrow; rows after its end do. None if
            no row was deleted.
    """

    path: str
    size: int
    rows: int | None
    partition: Mapping[str, Any]
    columns: Mapping[str, tuple[Any, Any, int | None]]
    kept: Any = None


def version_id(table: DeltaTable) -> tuple[object, ...] | None:
    """Return the number of a version, its commit and its files (`external-failure`).

    A number alone may be that of another table, which was moved here; deleted rows leave the files
    as they are. None for more than `MAX_KEPT_FILES` files.
    """
    with delta_errors():
        paths = frozenset(table.file_uris())
        commit = json.dumps(table.history(1), sort_keys=True)  # members are in any order
    return None if len(paths) > MAX_KEPT_FILES else (table.version(), commit, paths)


def list_files(table: DeltaTable) -> list[DeltaFile]:
    """Return the files of a table's version (`external-failure`)."""
    names = {physical_name(field): field["name"] for field in schema_fields(table)}
    with delta_errors():
        actions = pa.table(table.get_add_actions()).to_pylist()
        kept = _kept_rows(table)
    files = []
    for action in actions:
        path = _require_own(unquote(action["path"]))
        low, high, nulls = (action.get(key) or {} for key in ("min", "max", "null_count"))
        columns = {
            name: (low.get(physical), high.get(physical), _count(nulls.get(physical)))
            for physical, name in names.items()
        }
        files.append(
            DeltaFile(
                path,
                action["size_bytes"],
                action.get("num_records"),
                action.get("partition") or {},
                columns,
                kept.pop(path, None),
            )
        )
    if kept:  # their rows would be read as if they were not deleted
        raise ExternalError(
            f"the table has deleted rows of the file {show(min(kept))}, which it does not have",
            code="external-failure",
            hint="read the table with another engine, and report its paths",
        )
    return files


def _require_own(path: str) -> str:
    """Return a path in the table's directory (`external-failure` for another one)."""
    if urlsplit(path).scheme or path.startswith("/") or ".." in path.split("/"):
        raise ExternalError(
            f"the table has the file {show(path)}, which is not in its directory",
            code="external-failure",
            hint="a shallow clone is read by the engine that has made it, or after a deep clone",
        )
    return path


def _count(nulls: Any) -> int | None:
    """Return the number of NULLs of a column; that of a row has one for each field."""
    return nulls if isinstance(nulls, int) else None


def _kept_rows(table: DeltaTable) -> dict[str, Any]:
    """Return the path of each file with deleted rows, and which of its rows remain."""
    if "deletionVectors" not in (table.protocol().reader_features or ()):
        return {}
    root = _url_path(table.table_uri).rstrip("/") + "/"
    vectors = pa.table(table.deletion_vectors())
    return {
        _url_path(uri.as_py()).removeprefix(root): pa.concat_arrays([vector.values])
        for uri, vector in zip(*vectors.columns, strict=True)
    }


def _url_path(uri: str) -> str:
    return unquote(urlsplit(uri).path) if "://" in uri else uri


# --- filters -------------------------------------------------------------------------------------


def prunes(filter_: Filter) -> bool:
    """Return whether a filter can leave files out.

    Bounds of a column have all of its digits, a TIMESTAMP of fewer digits is truncated when it is
    read.
    """
    comparison = filter_.comparison
    if comparison is None or not filter_.is_exact or comparison.operator not in TESTS:
        return False
    (type_,) = {node.type for node in walk(filter_.expression) if isinstance(node, Ref)}
    return not isinstance(type_, TimestampType | LocalZonedTimestampType) or type_.precision == 6


def prune(files: Iterable[DeltaFile], filters: Iterable[Filter]) -> list[DeltaFile]:
    """Return the files that may have rows for which all filters are TRUE."""
    comparisons = [item.comparison for item in filters if prunes(item)]
    return [
        file
        for file in files
        if all(_may_match(file, item) for item in comparisons if item is not None)
    ]


def _may_match(file: DeltaFile, comparison: Comparison) -> bool:
    column = comparison.column
    if column in file.partition:
        value = file.partition[column]
        low = high = value
        nulls, rows = (1, 1) if value is None else (0, 1)
    else:
        low, high, nulls_or_none = file.columns.get(column, (None, None, None))
        if nulls_or_none is None or file.rows is None:
            return True
        nulls, rows = nulls_or_none, file.rows
        if isinstance(high, dt.datetime):
            try:
                high += STATISTICS_UNIT
            except OverflowError:  # a date of the year 9999 that means no end
                high = None
    if comparison.operator == "IS NULL":
        return nulls > 0
    if nulls == rows:
        return False
    if comparison.operator == "IS NOT NULL":
        return True
    if low is None or high is None:
        return True
    values = comparison.value if comparison.operator == "IN" else (comparison.value,)
    try:
        return any(TESTS[comparison.operator](low, high, value) for value in values)
    except TypeError:  # a value of another Python type
        return True


#: Operator -> whether a file with these bounds may have a row for which it is TRUE.
TESTS: Mapping[str, Any] = {
    "=": lambda low, high, value: low <= value <= high,
    "IN": lambda low, high, value: low <= value <= high,
    "<": lambda low, high, value: low < value,
    "<=": lambda low, high, value: low <= value,
    ">": lambda low, high, value: high > value,
    ">=": lambda low, high, value: high >= value,
    "IS NULL": None,
    "IS NOT NULL": None,
}


def limit_files(files: Sequence[DeltaFile], limit: int | None) -> list[DeltaFile]:
    """Return as many files as have the number of rows that a query needs."""
    if limit is None:
        return list(files)
    result: list[DeltaFile] = []
    rows = 0
    for file in files:
        if rows >= limit:
            break
        result.append(file)
        deleted = 0 if file.kept is None else file.kept.false_count
        rows += max(0, (file.rows or 0) - deleted)
    return result
