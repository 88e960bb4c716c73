"""Tables from Python values.

The rows become a VALUES clause: such a table needs no connector, runs on every engine, and a view
may be created of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from itertools import zip_longest
from typing import Any
from zoneinfo import ZoneInfo

from schema_core.base.text import show
from schema_core.errors import SchemaCoreError, SchemaError, at
from schema_core.errors.hints import DECLARE_TYPES
from schema_core.expressions.fluent import Expression
from schema_core.expressions.literals import literal
from schema_core.sql import syntax
from schema_core.sql.tokens import cursor_over
from schema_core.sql.type_name import cast_target
from schema_core.types import (
    ArrayType,
    DataType,
    DayTimeIntervalType,
    DecimalType,
    LocalZonedTimestampType,
    MapType,
    NullType,
    RowField,
    RowType,
    UserDefinedType,
    parse_type,
)
from schema_core.types.element_values import convert_element
from schema_core.types.python import infer_type
from schema_core.types.row_value import Row, RowKind
from schema_core.types.values import named_values, reject_reason

#: Engines parse the whole statement before it runs: more rows belong into a file.
MAX_ROWS = 10_000

#: Digits of a number in SQL, which must fit 64 bits; longer ones are cast from strings.
MAX_DIGITS = 18

TRUE = syntax.Literal(syntax.LiteralKind.BOOLEAN, "TRUE")


def infer_rows(elements: Iterable[object], schema: object) -> tuple[list[object], RowType]:
    """Return rows with their type (as `row_type`); single values become rows of one column."""
    rows = list(elements)
    type_ = parse_type(schema) if isinstance(schema, str) else schema
    if isinstance(type_, DataType) and not isinstance(type_, RowType):
        rows = [(row,) for row in rows]
    return rows, row_type(rows, type_)


def row_type(rows: Sequence[object], schema: object) -> RowType:
    """Return the type of the rows, from a schema or inferred.

    `rows` are tuples, lists, dictionaries or `Row`, or single values if the schema is not a row
    type; `schema` is a type, its text, names of columns, or None.

    Columns without a name are `_1` and so on, and the keys of dictionaries are sorted, as in
    PyFlink. Errors are `data-type-not-inferred` where the values have no type in common,
    `column-count-mismatch` for more names than values, and `invalid-argument` for another schema.

    >>> print(row_type([(1, "a"), (2, None)], ["id", "name"]))
    ROW<`id` BIGINT, `name` VARCHAR(2147483647)> NOT NULL
    """
    if isinstance(schema, str):
        schema = parse_type(schema)
    if isinstance(schema, RowType):
        return schema.not_null()
    if isinstance(schema, DataType):
        return RowType([RowField("value", schema)], nullable=False)
    if schema is not None and not isinstance(schema, list | tuple):
        raise SchemaError(
            f"schema must be a row type or a list of names, got {show(schema)}",
            code="invalid-argument",
        )
    return _infer_rows(rows, schema)


def _infer_rows(rows: Sequence[object], names: Sequence[str] | None) -> RowType:
    mappings = [row for row in rows if isinstance(row, Mapping)]
    keys = list(dict.fromkeys(key for row in mappings for key in sorted(row)))
    if not rows:
        raise SchemaError(
            "the types of columns cannot be inferred without rows",
            code="data-type-not-inferred",
            hint=DECLARE_TYPES,
        )
    inferred = infer_type([_as_row(row, keys) for row in rows])
    inner = inferred.element_type if isinstance(inferred, ArrayType) else inferred
    if not isinstance(inner, RowType):
        raise SchemaError(
            "rows must be tuples, dictionaries or Row objects",
            code="data-type-not-inferred",
            hint='pass a schema such as DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())])',
        )
    names = names or ()
    if len(names) > len(inner.fields):
        raise SchemaError(
            f"{len(names)} names given for {len(inner.fields)} columns",
            code="column-count-mismatch",
        )
    fields = [
        RowField(field.name if name is None else name, field.data_type)
        for name, field in zip_longest(names, inner.fields)
    ]
    for field in fields:
        if any(isinstance(part, NullType) for part in field.data_type.walk()):
            raise SchemaError(
                f"column {field.name!r} or a part of it has only NULL values, so its type cannot "
                "be inferred",
                code="data-type-not-inferred",
                hint=DECLARE_TYPES,
            )
    return RowType(fields, nullable=False)


def _as_row(value: object, keys: Sequence[str]) -> object:
    """Convert a list or a dictionary, which may lack keys, to a row."""
    if isinstance(value, Mapping):
        return Row(**{key: value.get(key) for key in keys})
    return tuple(value) if isinstance(value, list) else value


def values_query(
    rows: Sequence[object], type_: RowType, zone: str, *, verify: bool = True
) -> syntax.Query:
    """Return the VALUES query of the rows.

    Errors are `invalid-data` for a value that is not of its column's type, or a row of more or
    fewer values, `limit-exceeded`, and `not-in-sql`.
    """
    require_few(rows)
    rows_in_sql = []
    for place, row in enumerate(rows, 1):
        with at(f"row {place}"):
            rows_in_sql.append(_row(row, type_, zone, verify))
    if rows_in_sql:
        return _select(rows_in_sql, type_)
    nulls = tuple(_null(field.data_type) for field in type_.fields)
    false = syntax.Literal(syntax.LiteralKind.BOOLEAN, "FALSE")
    return replace(_select([nulls], type_), where=false)


def expressions_query(elements: Sequence[Expression], type_: RowType) -> syntax.Query:
    """Return the VALUES query of expressions: ``row(...)``, or values of one column.

    Errors are `invalid-data` for a row of more or fewer values, and `limit-exceeded`.
    """
    require_few(elements)
    rows = []
    for place, element in enumerate(elements, 1):
        tree = element.syntax
        values: Sequence[syntax.Expression] = (tree,)
        if isinstance(tree, syntax.Call) and tree.name == "ROW":
            values = tree.arguments
        with at(f"row {place}"):
            _require_width(values, type_)
        kinds = zip(values, type_.fields, strict=True)
        rows.append(tuple(_cast(value, field.data_type) for value, field in kinds))
    return _select(rows, type_)


def _select(rows: Sequence[tuple[syntax.Expression, ...]], type_: RowType) -> syntax.Select:
    """Return VALUES with the names of a row type."""
    names = tuple(field.name for field in type_.fields)
    values = syntax.Values((_nullable(rows[0], type_), *rows[1:]))
    items = tuple(syntax.SelectItem(syntax.Name((name,))) for name in names)
    return syntax.Select(items, syntax.Aliased(syntax.Derived(values), "EXPR$0", names))


def require_few(rows: Sequence[object]) -> None:
    """Raise for more rows than a statement may contain (`limit-exceeded`)."""
    if len(rows) > MAX_ROWS:
        raise SchemaError(
            f"{len(rows):,} rows exceed the limit of {MAX_ROWS:,}",
            code="limit-exceeded",
            hint="use from_arrow or from_pandas, or write them to a file and create a table of it",
        )


def _require_width(values: Sequence[object], type_: RowType) -> None:
    if len(values) != len(type_.fields):
        raise SchemaError(
            f"{len(values)} values for {len(type_.fields)} columns", code="invalid-data"
        )


def _row(row: object, type_: RowType, zone: str, verify: bool) -> tuple[syntax.Expression, ...]:
    if isinstance(row, Row) and row.get_row_kind() is not RowKind.INSERT:
        raise SchemaError(
            f"the kind of the row is {row.get_row_kind().name}, but rows can only be inserted",
            code="invalid-data",
        )
    values = values_of(row, type_)
    _require_width(values, type_)
    trees = []
    for given, field in zip(values, type_.fields, strict=True):
        with at(f"column {field.name!r}"):
            value = convert_element(field.data_type, given)
            if verify and (reason := reject_reason(field.data_type, value)):
                raise SchemaError(str(reason), code="invalid-data")
            trees.append(to_literal(value, field.data_type, zone))
    return tuple(trees)


def values_of(row: object, type_: RowType) -> Sequence[Any]:
    """Return a row's values in the order of its columns."""
    if isinstance(row, Mapping):
        return [row.get(field.name) for field in type_.fields]
    if isinstance(row, tuple | list):
        return row
    named = named_values(row)
    if named is not None:
        return [named.get(field.name) for field in type_.fields]
    if isinstance(row, Iterable) and not isinstance(row, str | bytes | bytearray):
        return list(row)
    return [row]


def to_literal(value: Any, type_: DataType, zone: str) -> syntax.Expression:
    """Return an expression with a value of exactly this type, which may then be NOT NULL.

    >>> from schema_core.sql.printer import print_expression
    >>> print(print_expression(to_literal([1, None], parse_type("ARRAY<BIGINT>"), "UTC")))
    CAST(ARRAY[CAST(1 AS BIGINT), CAST(NULL AS BIGINT)] AS ARRAY< BIGINT >)
    """
    match type_:
        case _ if value is None:
            return _null(type_)
        case UserDefinedType():
            return to_literal(serialize_value(value, type_), storage_type(type_), zone)
        case RowType():
            pairs = zip(values_of(value, type_), type_.fields, strict=True)
            tree: syntax.Expression = syntax.Call(
                "ROW", tuple(to_literal(item, field.data_type, zone) for item, field in pairs)
            )
        case ArrayType() if not value:
            tree = _empty(type_.element_type)
        case ArrayType():
            tree = syntax.Call(
                "ARRAY", tuple(to_literal(item, type_.element_type, zone) for item in value)
            )
        case MapType() if not value:
            tree = syntax.Call(
                "MAP_FROM_ARRAYS", (_empty(type_.key_type), _empty(type_.value_type))
            )
        case MapType():
            kinds = (type_.key_type, type_.value_type)
            parts = (
                (item, kind)
                for pair in value.items()
                for item, kind in zip(pair, kinds, strict=True)
            )
            tree = syntax.Call("MAP", tuple(to_literal(item, kind, zone) for item, kind in parts))
        case DayTimeIntervalType():
            return literal(value)
        case LocalZonedTimestampType() if isinstance(value, datetime) and value.tzinfo is not None:
            tree = literal(value.astimezone(ZoneInfo(zone)).replace(tzinfo=None))
        case DecimalType() if isinstance(value, int | Decimal):
            text = f"{Decimal(value):f}"
            fits = sum(map(str.isdigit, text)) <= MAX_DIGITS
            tree = literal(value if fits else text)
        case _ if isinstance(value, float) and value - value != 0:
            tree = literal({1: "Infinity", -1: "-Infinity"}.get((value > 0) - (value < 0), "NaN"))
        case _:
            tree = literal(value)
    return _cast(tree, type_)


def serialize_value(value: Any, type_: UserDefinedType) -> Any:
    """Return the value that stores an object of a user-defined type (`invalid-data`)."""
    try:
        stored = type_.serialize(value)
    except SchemaCoreError:
        raise
    except Exception as error:  # of the user's method
        problem = f"{type_.type_name()} cannot serialize {show(value)}: {show(str(error))}"
        raise SchemaError(problem, code="invalid-data") from error
    if reason := reject_reason(type_.sql_type(), stored):
        raise SchemaError(f"{type_.type_name()} serializes to {reason}", code="invalid-data")
    return stored


def storage_type(type_: DataType) -> DataType:
    """Return a type with each user-defined type of Python as the type that stores it."""
    if isinstance(type_, UserDefinedType):
        stored = storage_type(type_.sql_type())
        return stored if type_.is_nullable else stored.not_null()
    return type_.rebuild(tuple(map(storage_type, type_.children())))


def _empty(type_: DataType) -> syntax.Expression:
    """Return an empty array, for which SQL has no literal."""
    return syntax.Call("ARRAY_REMOVE", (syntax.Call("ARRAY", (_null(type_),)), _null(type_)))


def _null(type_: DataType) -> syntax.Expression:
    return _cast(syntax.Literal(syntax.LiteralKind.NULL, "NULL"), type_)


def _cast(tree: syntax.Expression, type_: DataType) -> syntax.Expression:
    text = storage_type(type_).nullable().as_serializable_string()
    return syntax.Call("CAST", (tree, cast_target(cursor_over(text))))


def _nullable(row: tuple[syntax.Expression, ...], type_: RowType) -> tuple[syntax.Expression, ...]:
    """Make the values of nullable columns nullable with a CASE."""
    return tuple(
        syntax.Call("CASE", (TRUE, value, syntax.Literal(syntax.LiteralKind.NULL, "NULL")))
        if field.data_type.is_nullable
        else value
        for value, field in zip(row, type_.fields, strict=True)
    )
