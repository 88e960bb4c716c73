"""Rows of Arrow and pandas as Arrow tables whose values are validated against their exact types.

Arrow enforces neither NOT NULL nor the length of a string. Whole arrays are checked.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from schema_core.base.arguments import require_instance
from schema_core.base.plugins import needs
from schema_core.base.text import show
from schema_core.errors import SchemaError, at
from schema_core.errors.hints import DECLARE_TYPES
from schema_core.mappings.arrow.schemas import from_field, to_field
from schema_core.mappings.arrow.types import PRECISIONS
from schema_core.types import (
    ArrayType,
    BinaryType,
    CharType,
    DataType,
    DateType,
    DistinctType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowField,
    RowType,
    StructuredType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
    parse_type,
    reject_reason,
    supports_implicit_cast,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@needs("pyarrow")
def as_table(data: Any) -> pa.Table:
    """Return a table, a record batch, or an object that exports an Arrow stream as a table.

    Nanoseconds, of which Spark has none, become microseconds; views become arrays with offsets, for
    which Arrow has all functions.

    Raises:
        SchemaError: with code `invalid-argument` for other objects, `invalid-data` for invalid
            arrays, and for nanoseconds that would be lost.
    """
    import pyarrow as pa

    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if not isinstance(data, pa.Table):
        if not hasattr(data, "__arrow_c_stream__"):
            raise SchemaError(
                f"data must be a table, a record batch or a reader of Arrow, got {show(data)}",
                code="invalid-argument",
            )
        data = pa.table(data)
    try:
        data.validate(full=True)
    except pa.ArrowException as error:
        raise SchemaError(f"invalid Arrow data: {error}", code="invalid-data") from error
    for place, field in enumerate(data.schema):
        if (type_ := _without_views(field.type)) != field.type:
            column = data.column(place).cast(type_)
            data = data.set_column(place, field.with_type(type_), column)
    for place, field in enumerate(data.schema):
        if getattr(field.type, "unit", None) == "ns":
            with at(f"column {field.name!r}"):
                column = _microseconds(data.column(place))
            field = pa.field(field.name, column.type, field.nullable)  # noqa: PLW2901
            data = data.set_column(place, field, column)
    return data


def _without_views(type_: pa.DataType) -> pa.DataType:
    """Return the type with offsets instead of views, at any depth."""
    import pyarrow as pa

    is_type = pa.types

    def field(part: pa.Field) -> pa.Field:
        return part.with_type(_without_views(part.type))

    if is_type.is_string_view(type_):
        return pa.large_string()
    if is_type.is_binary_view(type_):
        return pa.large_binary()
    if is_type.is_list(type_) or is_type.is_list_view(type_):
        return pa.list_(field(type_.value_field))
    if is_type.is_large_list(type_) or is_type.is_large_list_view(type_):
        return pa.large_list(field(type_.value_field))
    if is_type.is_fixed_size_list(type_):
        return pa.list_(field(type_.value_field), type_.list_size)
    if is_type.is_map(type_):
        return pa.map_(field(type_.key_field), field(type_.item_field), type_.keys_sorted)
    if is_type.is_struct(type_):
        return pa.struct([field(part) for part in type_.fields])
    if is_type.is_dictionary(type_) and _without_views(type_.value_type) != type_.value_type:
        return _without_views(type_.value_type)
    return type_


@needs("pyarrow")
def select_columns(table: pa.Table, declared: Mapping[str, DataType]) -> pa.Table:
    """Return columns of a table by their names, cast to declared types.

    A type is accepted if one of the two casts implicitly to the other and no value changes.

    Raises:
        SchemaError: with code `not-assignable`, or `invalid-data` for a value that would change.
    """
    import pyarrow as pa

    columns, fields = [], []
    for name, type_ in declared.items():
        given, field = from_field(table.schema.field(name)), to_field(name, type_)
        with at(f"column {name!r}"):
            _require_castable(given.nullable(), type_.nullable())
            try:
                columns.append(table.column(name).cast(field.type))
            except pa.ArrowException as error:
                raise _not_a_value(str(error).partition("\n")[0]) from error
        fields.append(field)
    return pa.table(columns, schema=pa.schema(fields))


def _require_castable(given: DataType, type_: DataType) -> None:
    zones = {isinstance(each, LocalZonedTimestampType) for each in (given, type_)}
    is_castable = supports_implicit_cast(given, type_) or supports_implicit_cast(type_, given)
    if len(zones) > 1 or not is_castable:
        raise SchemaError(
            f"the declared type is {type_}, but that of the rows is {given}",
            code="not-assignable",
            hint="cast the column before, or declare a computed column with CAST",
        )


@needs("pyarrow")
def check_values(table: pa.Table) -> None:
    """Check that every value has the exact type of its column.

    Raises:
        SchemaError: with code `invalid-data`.
    """
    for field, column in zip(table.schema, table.columns, strict=True):
        with at(f"column {field.name!r}"):
            type_ = from_field(field)
            for chunk in column.chunks:
                _check(chunk, type_)


# --- values ---------------------------------------------------------------------------------------


def _check(array: Any, type_: DataType) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if hasattr(array, "storage"):
        array = array.storage
    if not type_.is_nullable and array.null_count and not isinstance(type_, NullType):
        raise _not_a_value(f"{type_.as_summary_string()} does not accept NULL")
    while isinstance(type_, DistinctType):
        type_ = type_.source_type
    for inner, inner_type in _children(array, type_):
        if _is_constrained(inner_type):
            _check(inner, inner_type)
    find_suspects = SUSPECTS.get(type(type_))
    if find_suspects is not None and len(array) > array.null_count:
        for suspect in find_suspects(array, type_):
            if reason := reject_reason(type_.nullable(), _python(suspect)):
                raise _not_a_value(str(reason))


def _children(array: Any, type_: DataType) -> Iterator[tuple[Any, DataType]]:
    """Yield the arrays of nested values, without the children of NULL."""
    import pyarrow as pa

    arrow = array.type
    match type_:
        case RowType() | StructuredType() if pa.types.is_struct(arrow):
            present = _present(array)
            for index, field in enumerate(type_.fields):
                yield present.field(index), field.data_type
        case ArrayType() if not pa.types.is_map(arrow):
            yield array.flatten(), type_.element_type
        case MapType() if pa.types.is_map(arrow):
            present = _present(array)
            yield present.keys, type_.key_type.not_null()
            yield present.items, type_.value_type
        case MultisetType() if pa.types.is_map(arrow):
            present = _present(array)
            yield present.keys, type_.element_type
        case _:
            pass


def _present(array: Any) -> Any:
    import pyarrow.compute as pc

    return array.take(pc.indices_nonzero(array.is_valid()))


def _is_constrained(type_: DataType) -> bool:
    match type_:
        case _ if not type_.is_nullable:
            return True
        case RowType() | StructuredType():
            return any(_is_constrained(field.data_type) for field in type_.fields)
        case ArrayType() | MultisetType():
            return _is_constrained(type_.element_type)
        case MapType():
            return _is_constrained(type_.key_type.nullable()) or _is_constrained(type_.value_type)
        case DistinctType():
            return _is_constrained(type_.source_type)
        case _:
            return isinstance(type_, tuple(SUSPECTS))


def _of_length(array: Any, type_: Any) -> Iterator[Any]:
    import pyarrow.compute as pc

    is_string = isinstance(type_, CharType | VarCharType)
    lengths = pc.utf8_length(array) if is_string else pc.binary_length(array)
    yield from _extremes(array, lengths)


def _of_time(array: Any, type_: Any) -> Iterator[Any]:
    """Refuse more fractional digits than the type has; yield the first and last value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    unit = getattr(array.type, "unit", None)
    if unit is not None and PRECISIONS[unit] > type_.precision:
        number = array.cast(pa.int32() if array.type.bit_width == 32 else pa.int64())
        step = 10 ** (PRECISIONS[unit] - type_.precision)
        rest = pc.subtract(number, pc.multiply(pc.divide(number, step), step))
        wrong = pc.filter(array, pc.not_equal(rest, 0))
        if len(wrong):
            raise _not_a_value(
                f"{wrong[0]} has more fractional digits than {type_.as_summary_string()}"
            )
    if not isinstance(type_, TimeType):
        yield from _extremes(array, array)


def _extremes(array: Any, measure: Any) -> Iterator[Any]:
    """Yield the first values with the least and the greatest measure."""
    import pyarrow.compute as pc

    bounds = pc.min_max(measure)
    for bound in (bounds["min"], bounds["max"]):
        yield array[pc.index(measure, bound).as_py()]


def _all_extremes(array: Any, type_: DataType) -> Iterator[Any]:
    yield from _extremes(array, array)


#: Type -> the values to look at. Types without a row have the values of their physical type.
SUSPECTS: dict[type[DataType], Callable[[Any, Any], Iterator[Any]]] = {
    CharType:                _of_length,
    VarCharType:             _of_length,
    BinaryType:              _of_length,
    VarBinaryType:           _of_length,
    DateType:                _all_extremes,
    TimeType:                _of_time,
    TimestampType:           _of_time,
    LocalZonedTimestampType: _of_time,
    YearMonthIntervalType:   _all_extremes,
}  # fmt: skip


def _python(scalar: Any) -> Any:
    """Return a scalar of Arrow as a Python value, without digits after microseconds."""
    import pyarrow as pa

    if pa.types.is_timestamp(scalar.type) and scalar.type.unit == "ns":
        scalar = scalar.cast(pa.timestamp("us", scalar.type.tz), safe=False)
    try:
        return scalar.as_py()
    except (OverflowError, ValueError) as error:
        raise _not_a_value(f"{scalar.type} is outside of years 0001 to 9999: {error}") from error


def _not_a_value(problem: str) -> SchemaError:
    return SchemaError(problem, code="invalid-data")


# --- pandas ---------------------------------------------------------------------------------------


class PandasDataFrame:
    """The name of pandas DataFrames in error messages."""


@needs("pyarrow", "pandas")
def of_pandas(frame: pd.DataFrame, schema: object, zone: str) -> pa.Table:
    """Return the rows of a pandas DataFrame, without its index, as a table of exact types.

    `schema` is a row type or its string, names or types of all columns, or None. `zone` is for
    datetimes without a zone in columns of TIMESTAMP_LTZ.

    Raises:
        SchemaError: with code `invalid-argument`, `column-count-mismatch`, `data-type-not-inferred`
            or `invalid-data`.
    """
    import pandas as pd
    import pyarrow as pa

    if not isinstance(frame, pd.DataFrame):
        require_instance(frame, PandasDataFrame, "pdf", "a pandas DataFrame")
    names, types = _declared_columns([str(name) for name in frame.columns], schema)
    columns, fields = [], []
    for place, (name, type_) in enumerate(zip(names, types, strict=True)):
        with at(f"column {name!r}"):
            array, actual = _convert_series(frame.iloc[:, place], type_, zone)
        columns.append(array)
        fields.append(to_field(name, actual))
    return pa.table(columns, schema=pa.schema(fields))


def _declared_columns(
    names: list[str], schema: object
) -> tuple[list[str], Sequence[DataType | None]]:
    if isinstance(schema, str):
        schema = parse_type(schema)
    if isinstance(schema, RowType):
        fields: Sequence[RowField] = schema.fields
        _require_count(len(fields), len(names))
        return [field.name for field in fields], [field.data_type for field in fields]
    if isinstance(schema, list | tuple):
        _require_count(len(schema), len(names))
        if schema and all(isinstance(field, DataType) for field in schema):
            return names, schema
        for name in schema:
            require_instance(name, str, "the name of a column")
        return list(schema), [None] * len(names)
    if schema is not None:
        raise SchemaError(
            f"schema must be a row type, names or types of columns, got {show(schema)}",
            code="invalid-argument",
        )
    return names, [None] * len(names)


def _require_count(declared: int, columns: int) -> None:
    if declared != columns:
        raise SchemaError(f"{declared} given for {columns} columns", code="column-count-mismatch")


def _convert_series(series: Any, type_: DataType | None, zone: str) -> tuple[Any, DataType]:
    import pyarrow as pa

    try:
        if type_ is None:
            return _infer_series(series)
        target = to_field("", type_).type
        if isinstance(type_, LocalZonedTimestampType):
            series = _aware(series, zone)
        elif isinstance(type_, TimestampType) and getattr(series.dtype, "tz", None) is not None:
            raise _not_a_value(f"{type_.as_summary_string()} does not accept a time zone")
        return pa.Array.from_pandas(series, type=target), type_
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, SchemaError):
            raise
        problem = str(error).partition("\n")[0]
        code = "data-type-not-inferred" if type_ is None else "invalid-data"
        raise SchemaError(
            problem, code=code, hint=DECLARE_TYPES if type_ is None else None
        ) from error


def _infer_series(series: Any) -> tuple[Any, DataType]:
    """Return a column as Arrow infers it; nanoseconds become microseconds where nothing is lost."""
    import pyarrow as pa

    array = pa.Array.from_pandas(series)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_null(array.type):
        raise SchemaError(
            "the column has only NULL values, so its type cannot be inferred",
            code="data-type-not-inferred",
            hint=DECLARE_TYPES,
        )
    if getattr(array.type, "extension_name", "").startswith("pandas."):
        raise SchemaError(
            f"Flink has no type for pandas' {series.dtype}",
            code="data-type-not-inferred",
            hint="convert the column, for instance with .astype(str)",
        )
    if getattr(array.type, "unit", None) == "ns":
        array = _microseconds(array)
    type_ = from_field(pa.field("", array.type))
    return array.cast(to_field("", type_).type), type_


def _microseconds(array: Any) -> Any:
    import pyarrow as pa

    zone = getattr(array.type, "tz", None)
    if pa.types.is_timestamp(array.type):
        target = pa.timestamp("us", zone)
    else:
        target = pa.duration("us") if pa.types.is_duration(array.type) else pa.time64("us")
    try:
        return array.cast(target)
    except pa.ArrowInvalid as error:
        raise SchemaError(
            f"nanoseconds would be lost: {error}",
            code="invalid-data",
            hint="round the column to microseconds",
        ) from error


def _aware(series: Any, zone: str) -> Any:
    """Return a column with datetimes without a time zone as instants, by the rules of Java.

    A local time that a clock change repeats is the first of the two, one that it skips is moved
    forward.
    """
    import pandas as pd

    if getattr(series.dtype, "tz", None) is not None:
        return series
    if series.dtype.kind not in "MO":
        return series
    local = ZoneInfo(zone)
    return pd.Series([_instant(value, local) for value in series], dtype=object)


def _instant(value: Any, zone: ZoneInfo) -> Any:
    if value is None or type(value).__name__ in ("NaTType", "NAType") or value != value:  # noqa: PLR0124
        return None
    if not isinstance(value, dt.datetime):
        raise _not_a_value(f"expected datetime, got {show(value)}")
    if getattr(value, "nanosecond", 0):
        raise _not_a_value(f"{value} has more digits than microseconds")
    plain = value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
    return (plain if plain.tzinfo else plain.replace(tzinfo=zone)).astimezone(dt.UTC)
