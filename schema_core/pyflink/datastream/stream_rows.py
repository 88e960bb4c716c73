"""The rows of a stream as a table, and the functions of streams as functions of tables.

The table has a column for each field of the values, then hidden columns: the kinds of changes, the
order of values in their collections, their timestamps, and their keys.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from schema_core.base.lazy import NamedTuple
from schema_core.base.text import quote_identifier
from schema_core.environment.session import Session
from schema_core.environment.table_api.table import Table
from schema_core.errors import SchemaError
from schema_core.expressions.fluent import Expression
from schema_core.expressions.fluent_functions import call_sql, col
from schema_core.expressions.user_functions import (
    FunctionContext,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    udf,
    udtaf,
    udtf,
)
from schema_core.pyflink.common.typeinfo import TypeInformation, storage_type
from schema_core.pyflink.datastream.functions import Function, RuntimeContext
from schema_core.query.updates import KIND_OF_ROW
from schema_core.sql import syntax
from schema_core.types import DataType, DataTypes, LocalZonedTimestampType, RowField, RowType
from schema_core.types.row_value import Row, RowKind

__all__ = [
    "StreamRows", "filter_rows", "flat_map_rows", "map_rows", "reduce_rows", "retract_rows",
    "with_keys",
]  # fmt: skip

#: The hidden columns, in this order, with their types.
KIND, ORDER, TIME, KEY = "$kind", "$order", "$time", "$key"
HIDDEN: Final[Mapping[str, DataType]] = {
    KIND: DataTypes.STRING(False),
    ORDER: DataTypes.ARRAY(DataTypes.BIGINT(False), False),
    TIME: DataTypes.BIGINT(False),
    KEY: DataTypes.BYTES(False),
}
_KINDS: Final = {str(kind): kind for kind in RowKind}
#: The type in which functions return instants.
MILLISECONDS: Final = DataTypes.BIGINT()
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: The timestamp of a value without one.
NO_TIME: Final = -(2**63)

#: Computes a hidden column from a value and its hidden columns.
Computed = Callable[[Any, Mapping[str, Any]], Any]


class StreamRows(NamedTuple):
    """The rows of a stream of a type."""

    table: Table
    type_info: TypeInformation
    hidden: tuple[str, ...]
    session: Session

    @property
    def columns(self) -> list[Any]:
        """All columns as expressions."""
        return [col(name) for name in self.table.column_names()]

    @property
    def layout(self) -> Layout:
        """The columns as functions receive them."""
        return Layout(self.type_info, self.hidden, self.session.config.get_local_timezone())

    def with_kinds(self) -> StreamRows:
        """Return the rows with the kinds of changes as the hidden column `KIND`."""
        if KIND in self.hidden:
            return self
        count = len(self.table.column_names()) - len(self.hidden)
        call = syntax.Call(KIND_OF_ROW.name, (), inline=(KIND_OF_ROW,))
        kind = Expression(call).alias(KIND)
        columns = [*self.columns[:count], kind, *self.columns[count:]]
        return self._replace(table=self.table.select(*columns), hidden=(KIND, *self.hidden))

    def without_hidden(self, names: Iterable[str] = HIDDEN) -> StreamRows:
        """Return the rows without some of the hidden columns."""
        dropped = [name for name in names if name in self.hidden]
        if not dropped:
            return self
        kept = tuple(name for name in self.hidden if name not in dropped)
        return self._replace(table=self.table.drop_columns(*map(col, dropped)), hidden=kept)


class Layout(NamedTuple):
    """How the columns of a stream hold its values; it is sent to the Python workers."""

    type_info: TypeInformation
    hidden: tuple[str, ...]
    zone: str

    def read(self, columns: Sequence[Any]) -> tuple[Any, dict[str, Any]]:
        """Return a value and its hidden columns."""
        count = len(columns) - len(self.hidden)
        value = self.type_info.from_columns(columns[:count], self.zone)
        hidden = dict(zip(self.hidden, columns[count:], strict=True))
        if KIND in hidden and (row := _changed_row(value)) is not None:
            row.set_row_kind(_KINDS[hidden[KIND]])
        return value, hidden

    def write(self, value: Any, hidden: Mapping[str, Any]) -> Row:
        """Return the columns of a value, as functions return them."""
        if KIND in self.hidden and (row := _changed_row(value)) is not None:
            hidden = {**hidden, KIND: str(row.get_row_kind())}
        columns = self.type_info.to_columns(value)
        fields = map(_to_milliseconds, columns, self.type_info.column_types)
        return Row(*fields, *(hidden[name] for name in self.hidden))


def _changed_row(value: Any) -> Row | None:
    """Return the row that has the kind of a change: the value, or that of a retraction."""
    match value:
        case Row():
            return value
        case (bool(), Row() as row):
            return row
        case _:
            return None


def column_types(type_info: TypeInformation) -> list[DataType]:
    """Return the types of the columns of a stream, with datetimes of microseconds."""
    return list(map(storage_type, type_info.column_types))


def row_type(type_info: TypeInformation, hidden: Iterable[str]) -> RowType:
    """Return the type of the rows of a stream."""
    fields = map(RowField, type_info.column_names, column_types(type_info))
    return RowType([*fields, *(RowField(name, HIDDEN[name]) for name in hidden)], nullable=False)


def _result_type(type_: RowType) -> RowType:
    """Return the type in which functions return rows: Spark takes no instants within rows."""
    fields = (
        RowField(field.name, MILLISECONDS) if is_instant(field.data_type) else field
        for field in type_.fields
    )
    return RowType(list(fields), nullable=False)


def is_instant(type_: DataType) -> bool:
    """Return whether values of a type are instants."""
    return isinstance(type_, LocalZonedTimestampType)


def _with_instants(table: Table, type_: RowType) -> Table:
    """Return the rows that a function has returned, with instants in place of milliseconds."""
    if not any(is_instant(field.data_type) for field in type_.fields):
        return table
    columns = [
        call_sql(f"TO_TIMESTAMP_LTZ({quote_identifier(name)}, 3)").cast(of).alias(name)
        if is_instant(of)
        else col(name)
        for name, of in ((field.name, field.data_type) for field in type_.fields)
    ]
    return table.select(*columns)


def _to_milliseconds(value: Any, type_: DataType) -> Any:
    """Return an instant as milliseconds (`invalid-data` for a part of one); others unchanged."""
    if value is None or not is_instant(type_):
        return value
    milliseconds, rest = divmod(value - EPOCH, timedelta(milliseconds=1))
    if rest:
        raise SchemaError(
            f"a function of a stream returned {value}, but its instants have milliseconds",
            code="invalid-data",
        )
    return milliseconds


class _Opens:
    """Opens and closes a function of streams with the function of tables that calls it."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def open(self, function_context: FunctionContext) -> None:
        """Open the function in a task."""
        if isinstance(self._function, Function):
            self._function.open(RuntimeContext(function_context))

    def close(self) -> None:
        """Close the function."""
        if isinstance(self._function, Function):
            self._function.close()


class _Mapped(_Opens, ScalarFunction):
    def __init__(
        self, function: Any, call: Callable[[Any], Any], source: Layout, target: Layout,
        computed: Mapping[str, Computed],
    ) -> None:  # fmt: skip
        super().__init__(function)
        self._call, self._source, self._target = call, source, target
        self._computed = dict(computed)

    def eval(self, *columns: Any) -> Row:
        value, hidden = self._source.read(columns)
        hidden |= {name: compute(value, hidden) for name, compute in self._computed.items()}
        return self._target.write(self._call(value), hidden)


class _Retracted(ScalarFunction):
    def __init__(self, source: Layout, target: Layout) -> None:
        self._source, self._target = source, target

    def eval(self, *columns: Any) -> Row:
        value, hidden = self._source.read(columns)
        adds = _KINDS[hidden[KIND]] in (RowKind.INSERT, RowKind.UPDATE_AFTER)
        return self._target.write((adds, value), hidden)


class _Filtered(_Opens, ScalarFunction):
    def __init__(self, function: Any, call: Callable[[Any], Any], source: Layout) -> None:
        super().__init__(function)
        self._call, self._source = call, source

    def eval(self, *columns: Any) -> bool:
        return bool(self._call(self._source.read(columns)[0]))


class _Flat(_Opens, TableFunction):
    def __init__(
        self, function: Any, call: Callable[[Any], Any], source: Layout, target: Layout
    ) -> None:
        super().__init__(function)
        self._call, self._source, self._target = call, source, target

    def eval(self, *columns: Any) -> Iterator[Row]:
        value, hidden = self._source.read(columns)
        order = hidden.get(ORDER, [])
        for place, result in enumerate(self._call(value) or ()):
            yield self._target.write(result, hidden | {ORDER: [*order, place]})


class _Reduced(_Opens, TableAggregateFunction[Row, list[Any]]):
    def __init__(
        self, function: Any, call: Callable[[Any, Any], Any], source: Layout, target: Layout,
        *, emits_all: bool,
    ) -> None:  # fmt: skip
        super().__init__(function)
        self._call, self._source, self._target = call, source, target
        self._emits_all = emits_all

    def create_accumulator(self) -> list[Any]:
        return []

    def accumulate(self, accumulator: list[Any], *columns: Any) -> None:
        accumulator.append(columns)

    def emit_value(self, accumulator: list[Any]) -> Iterator[Row]:
        values = [self._source.read(columns) for columns in accumulator]
        values.sort(key=lambda pair: list(pair[1].get(ORDER, ())))
        (result, last), *others = values
        for value, hidden in others:
            if self._emits_all:
                yield self._target.write(result, last)
            result, last = self._call(result, value), hidden
        yield self._target.write(result, last)


def _same(value: Any) -> Any:
    return value


def map_rows(
    rows: StreamRows,
    type_info: TypeInformation,
    function: Any = None,
    call: Callable[[Any], Any] = _same,
    computed: Mapping[str, Computed] | None = None,
) -> StreamRows:
    """Return a value of `type_info` for each value, and hidden columns that are added."""
    added = {*rows.hidden, *(computed or ())}
    hidden = tuple(name for name in HIDDEN if name in added)
    target = rows.layout._replace(type_info=type_info, hidden=hidden)
    mapped = _Mapped(function, call, rows.layout, target, computed or {})
    return _mapped_rows(rows, target, mapped, _name_of(function, "map"))


def retract_rows(rows: StreamRows, type_info: TypeInformation) -> StreamRows:
    """Return pairs of whether a change adds its value, and the value."""
    changes = rows.with_kinds()
    target = changes.layout._replace(type_info=type_info)
    return _mapped_rows(changes, target, _Retracted(changes.layout, target), "retract")


def _mapped_rows(
    rows: StreamRows, target: Layout, function: ScalarFunction, name: str
) -> StreamRows:
    result = row_type(target.type_info, target.hidden)
    declared = udf(function, result_type=_result_type(result), name=name)
    table = _with_instants(rows.table.map(declared(*rows.columns)), result)
    return StreamRows(table, target.type_info, target.hidden, rows.session)


def filter_rows(rows: StreamRows, function: Any, call: Callable[[Any], Any]) -> StreamRows:
    """Return the values for which a function is true."""
    filtered = _Filtered(function, call, rows.layout)
    declared = udf(filtered, result_type="BOOLEAN", name=_name_of(function, "filter"))
    return rows._replace(table=rows.table.where(declared(*rows.columns)))


def flat_map_rows(
    rows: StreamRows, type_info: TypeInformation, function: Any, call: Callable[[Any], Any]
) -> StreamRows:
    """Return any number of values of `type_info` for each value."""
    flat = _Flat(function, call, rows.layout, rows.layout._replace(type_info=type_info))
    result = row_type(type_info, rows.hidden)
    declared = udtf(flat, result_types=_result_type(result), name=_name_of(function, "flat_map"))
    table = rows.table.flat_map(declared(*rows.columns)).alias(*_names(result))
    return rows._replace(table=_with_instants(table, result), type_info=type_info)


def with_keys(rows: StreamRows, function: Any, call: Callable[[Any], Any]) -> StreamRows:
    """Return the rows with their keys, which are equal if their pickled bytes are."""
    return map_rows(rows, rows.type_info, function, computed={KEY: partial(_pickled_key, call)})


def _pickled_key(call: Callable[[Any], Any], value: Any, _: Mapping[str, Any]) -> bytes:
    return pickle.dumps(call(value))


def reduce_rows(
    rows: StreamRows, function: Any, call: Callable[[Any, Any], Any], *, emits_all: bool
) -> StreamRows:
    """Combine the values of each key; return every intermediate value, or only the last."""
    hidden = tuple(name for name in rows.hidden if name != KEY)
    target = rows.layout._replace(hidden=hidden)
    reduced = _Reduced(function, call, rows.layout, target, emits_all=emits_all)
    result = row_type(rows.type_info, hidden)
    declared = udtaf(reduced, result_type=_result_type(result), name=_name_of(function, "reduce"))
    emitted = rows.table.group_by(col(KEY)).flat_aggregate(declared(*rows.columns))
    table = _with_instants(emitted.select(*map(col, _names(result))), result)
    return rows._replace(table=table, hidden=hidden)


def _names(type_: RowType) -> list[str]:
    return [field.name for field in type_.fields]


def _name_of(function: Any, default: str) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return default if name in ("<lambda>", "NoneType") else str(name)
