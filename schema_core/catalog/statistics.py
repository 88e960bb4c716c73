"""Statistics of tables, partitions and their columns, as catalogs store them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import Field, field, fields, replace
from datetime import date, datetime
from typing import Any, TypeAlias, cast

from schema_core.base.arguments import require_instance
from schema_core.base.json_codec import JsonError, require_object
from schema_core.base.lazy import dataclass
from schema_core.base.text import show
from schema_core.catalog.objects import Options
from schema_core.errors import ExternalError, SchemaError

#: The number of rows, files or bytes without statistics, as in Flink.
UNKNOWN_NUMBER = -1


@dataclass(frozen=True, slots=True)
class CatalogTableStatistics:
    """Statistics of a table without partitions, or of one partition; -1 is an unknown number.

    `field_count` is the number of files, by its name in PyFlink.

    >>> CatalogTableStatistics(3, 1, 100, 300).get_row_count()
    3
    """

    row_count: int = UNKNOWN_NUMBER
    field_count: int = UNKNOWN_NUMBER
    total_size: int = UNKNOWN_NUMBER
    raw_data_size: int = UNKNOWN_NUMBER
    properties: Mapping[str, str] = field(default_factory=Options, hash=False)

    def __post_init__(self) -> None:
        for item in fields(self)[:4]:
            number = require_instance(getattr(self, item.name), int, item.name)
            _require_range(item.name, number, UNKNOWN_NUMBER)
        given: Any = self.properties
        object.__setattr__(self, "properties", Options({} if given is None else given))

    def get_row_count(self) -> int:
        return self.row_count

    def get_field_count(self) -> int:
        """Return the number of files."""
        return self.field_count

    def get_total_size(self) -> int:
        """Return the size of the files, in bytes."""
        return self.total_size

    def get_raw_data_size(self) -> int:
        """Return the size of the rows in memory, in bytes."""
        return self.raw_data_size

    def get_properties(self) -> dict[str, str]:
        """Return a copy of the properties."""
        return dict(self.properties)

    def copy(self) -> CatalogTableStatistics:
        """Return the statistics themselves, which are immutable."""
        return self


def _require_range(name: str, number: int, smallest: int = -(2**63)) -> None:
    if not smallest <= number < 2**63:
        problem = f"{name} must be from {smallest} to 9223372036854775807, got {show(number)}"
        raise SchemaError(problem, code="invalid-argument")


# --- columns --------------------------------------------------------------------------------------


class ColumnStatisticsData:
    """The statistics of one column. None is an unknown number."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for item in fields(cast("Any", self)):
            value = getattr(self, item.name)
            if value is not None:
                checked = _CHECKS[_kind_of_field(item)](item.name, value)
                object.__setattr__(self, item.name, checked)


def _kind_of_field(one: Field[Any]) -> str:
    """Return the annotation of a field, without NULL."""
    return str(one.type).removesuffix(" | None")


def _integer(name: str, value: object) -> int:
    number = cast("int", require_instance(value, int, name))
    _require_range(name, number)
    return number


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        require_instance(value, float, name)
    try:
        number = float(cast("float", value))
    except OverflowError:
        problem = f"{name} must be a number of 64 bits, got {show(value)}"
        raise SchemaError(problem, code="invalid-argument") from None
    if math.isnan(number):
        raise SchemaError(f"{name} must not be NaN", code="invalid-argument")
    return number


def _date(name: str, value: object) -> date:
    day = cast("date", require_instance(value, date, name))
    if isinstance(day, datetime):
        raise SchemaError(f"{name} must be a date, got datetime", code="invalid-argument")
    return day


#: The annotation of a field -> the validation of its values.
_CHECKS: dict[str, Callable[[str, object], Any]] = {
    "int": _integer,
    "float": _number,
    "date": _date,
}


@dataclass(frozen=True, slots=True)
class CatalogColumnStatisticsDataBoolean(ColumnStatisticsData):
    """Statistics of a BOOLEAN column."""

    true_count: int | None = None
    false_count: int | None = None
    null_count: int | None = None


@dataclass(frozen=True, slots=True)
class CatalogColumnStatisticsDataLong(ColumnStatisticsData):
    """Statistics of a column of integers; `ndv` is the number of distinct values."""

    min: int | None = None
    max: int | None = None
    ndv: int | None = None
    null_count: int | None = None


@dataclass(frozen=True, slots=True)
class CatalogColumnStatisticsDataDouble(ColumnStatisticsData):
    """Statistics of a column of floating point numbers or decimals."""

    min: float | None = None
    max: float | None = None
    ndv: int | None = None
    null_count: int | None = None


@dataclass(frozen=True, slots=True)
class CatalogColumnStatisticsDataDate(ColumnStatisticsData):
    """Statistics of a DATE column."""

    min: date | None = None
    max: date | None = None
    ndv: int | None = None
    null_count: int | None = None


@dataclass(frozen=True, slots=True)
class CatalogColumnStatisticsDataString(ColumnStatisticsData):
    """Statistics of a column of character strings."""

    max_length: int | None = None
    avg_length: float | None = None
    ndv: int | None = None
    null_count: int | None = None


@dataclass(frozen=True, slots=True)
class CatalogColumnStatisticsDataBinary(ColumnStatisticsData):
    """Statistics of a column of binary strings."""

    max_length: int | None = None
    avg_length: float | None = None
    null_count: int | None = None


#: Name of a kind of statistics -> its class.
COLUMN_KINDS: dict[str, type[ColumnStatisticsData]] = {
    "boolean": CatalogColumnStatisticsDataBoolean,
    "long": CatalogColumnStatisticsDataLong,
    "double": CatalogColumnStatisticsDataDouble,
    "date": CatalogColumnStatisticsDataDate,
    "string": CatalogColumnStatisticsDataString,
    "binary": CatalogColumnStatisticsDataBinary,
}


@dataclass(frozen=True, slots=True)
class CatalogColumnStatistics:
    """The statistics of the columns of a table or partition, by column.

    >>> data = {"id": CatalogColumnStatisticsDataLong(1, 9, ndv=9, null_count=0)}
    >>> CatalogColumnStatistics(data).get_column_statistics_data()["id"].max
    9
    """

    column_statistics_data: Mapping[str, ColumnStatisticsData] = field(
        default_factory=dict, hash=False
    )
    properties: Mapping[str, str] = field(default_factory=Options, hash=False)

    def __post_init__(self) -> None:
        given: Any = self.column_statistics_data
        data = dict(require_instance({} if given is None else given, Mapping, "the statistics"))
        for name, value in data.items():
            require_instance(name, str, "the name of a column")
            require_instance(value, ColumnStatisticsData, f"the statistics of column {name!r}")
        object.__setattr__(self, "column_statistics_data", data)
        given = self.properties
        object.__setattr__(self, "properties", Options({} if given is None else given))

    def get_column_statistics_data(self) -> dict[str, ColumnStatisticsData]:
        """Return a copy of the statistics by column."""
        return dict(self.column_statistics_data)

    def get_properties(self) -> dict[str, str]:
        """Return a copy of the properties."""
        return dict(self.properties)

    def copy(self) -> CatalogColumnStatistics:
        """Return the statistics themselves, which are immutable."""
        return self


# --- what a catalog stores ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoredStatistics:
    """All statistics of a table or partition."""

    table: CatalogTableStatistics = CatalogTableStatistics()
    columns: CatalogColumnStatistics = CatalogColumnStatistics()

    def with_table(self, table: CatalogTableStatistics) -> StoredStatistics:
        return replace(self, table=table)

    def with_columns(self, columns: CatalogColumnStatistics) -> StoredStatistics:
        return replace(self, columns=columns)

    def to_document(self) -> dict[str, Any]:
        """Return the statistics as a JSON document; dates are strings."""
        table, columns = self.table, self.columns
        return {
            "table": [getattr(table, item.name) for item in fields(table)[:4]],
            "properties": table.get_properties(),
            "columns": {
                name: [
                    next(kind for kind, class_ in COLUMN_KINDS.items() if type(data) is class_),
                    *(_to_json(getattr(data, item.name)) for item in fields(cast("Any", data))),
                ]
                for name, data in columns.column_statistics_data.items()
            },
            "column_properties": columns.get_properties(),
        }

    @staticmethod
    def of_document(document: Mapping[str, Any]) -> StoredStatistics:
        """Return the statistics of such a document (`corrupt-entry` for a malformed one)."""
        keys = ("table", "properties", "columns", "column_properties")
        try:
            members = require_object(document, keys)
            rows, files, size, raw = members["table"]
            table = CatalogTableStatistics(rows, files, size, raw, members["properties"])
            data = {name: _read(*values) for name, values in members["columns"].items()}
            columns = CatalogColumnStatistics(data, members["column_properties"])
        except (
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
            JsonError,
            SchemaError,
        ) as error:
            problem = f"malformed statistics: {error}"
            raise ExternalError(problem, code="corrupt-entry") from None
        return StoredStatistics(table, columns)


#: Changes stored statistics.
Change: TypeAlias = Callable[[StoredStatistics], StoredStatistics]


def _to_json(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return repr(value)
    return value.isoformat() if isinstance(value, date) else value


def _read(name: str, *values: Any) -> ColumnStatisticsData:
    class_ = COLUMN_KINDS[name]
    kinds = [_kind_of_field(item) for item in fields(cast("Any", class_))]
    parsed = [
        _PARSERS[kind](value) if isinstance(value, str) else value
        for kind, value in zip(kinds, values, strict=True)
    ]
    return class_(*parsed)


#: The annotation of a field -> the parser of its values that are strings in JSON.
_PARSERS: dict[str, Callable[[str], Any]] = {
    "float": float,
    "date": date.fromisoformat,
}
