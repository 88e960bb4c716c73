"""Rules of schemas, each of which reports one kind of error.

They are those of Flink's DefaultSchemaResolver.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import TypeAlias

from schema_core.base.text import is_blank
from schema_core.errors import Gathering, SchemaError, at, similar
from schema_core.schema import columns as schema_columns
from schema_core.types import (
    DataType,
    LocalZonedTimestampType,
    TimestampKind,
    TimestampType,
    UnresolvedType,
)
from schema_core.types.temporal import timestamp_kind

#: Columns by name, in order; None for an invalid column, whose error is reported.
Columns: TypeAlias = dict[str, schema_columns.AnyColumn | None]

#: Code of a consequential error, which the resolver drops.
FOLLOWS = "follows-from-another"

#: Placeholder of an invalid type, whose error is reported.
WRONG = UnresolvedType(())

#: Maximum precision of a time attribute: Flink counts milliseconds.
TIME_PRECISION = 3


def duplicate_names(names: Iterable[str]) -> list[str]:
    """Return the duplicate names in order of first occurrence.

    >>> duplicate_names(["a", "b", "a", "c", "b"])
    ['a', 'b']
    """
    listed = list(names)
    if len(set(listed)) == len(listed):
        return []
    return [name for name, count in Counter(listed).items() if count > 1]


def format_names(names: Iterable[str]) -> str:
    """Return names for a message."""
    return ", ".join(map(repr, names))


def require_unique_names(columns: Iterable[schema_columns.UnresolvedColumn]) -> None:
    """Refuse columns with equal, case-sensitive names."""
    names = [column.name for column in columns]
    if len(set(names)) < len(names):
        problem = f"duplicate column names: {format_names(duplicate_names(names))}"
        raise SchemaError(problem, code="duplicate-column")


def require_visible_names(names: Collection[str]) -> None:
    """Refuse blank names, since expressions refer to columns as fields of a row.

    As in Flink, a schema without expressions may have them.
    """
    if all(map(str.strip, names)):  # faster than the exact check, which fewer names fail
        return
    if blank := [name for name in names if is_blank(name)]:
        raise SchemaError(
            f"a schema with expressions cannot have a column named {blank[0]!r}",
            code="invalid-name",
            hint="give it a name with a visible character",
        )


def require_unique_keys(columns: Iterable[schema_columns.UnresolvedColumn]) -> None:
    """Refuse metadata columns with the same key."""
    by_key: dict[str, list[str]] = {}
    for column in columns:
        if isinstance(column, schema_columns.UnresolvedMetadataColumn):
            by_key.setdefault(column.key, []).append(column.name)
    for key, names in by_key.items():
        if len(names) > 1:
            raise SchemaError(
                f"the columns {format_names(names)} read the same metadata key {key!r}",
                code="duplicate-column",
            )


def require_one_watermark(specs: tuple[schema_columns.UnresolvedWatermarkSpec, ...]) -> None:
    """Refuse a second watermark."""
    if len(specs) > 1:
        columns = format_names(spec.column_name for spec in specs)
        raise SchemaError(
            f"a table has at most one watermark, got {len(specs)} (of {columns})",
            code="already-declared",
        )


def require_time_column(column: schema_columns.AnyColumn) -> None:
    """Refuse a column that cannot have a watermark."""
    require_time(column.data_type, f"column {column.name!r}")
    if timestamp_kind(column.data_type) is TimestampKind.PROCTIME:
        raise SchemaError(
            f"column {column.name!r} is a processing time, which cannot have a watermark",
            code="invalid-watermark",
        )


def require_time(type_: DataType, what: str) -> None:
    """Refuse a type that cannot be an event time."""
    times = TimestampType | LocalZonedTimestampType
    if not isinstance(type_, times) or type_.precision > TIME_PRECISION:
        raise SchemaError(
            f"{what} is {type_.as_summary_string()}, not a TIMESTAMP or TIMESTAMP_LTZ with a "
            f"precision of at most {TIME_PRECISION}",
            code="invalid-watermark",
            hint=f"CAST it to TIMESTAMP({TIME_PRECISION}) in a computed column",
        )


def require_same_time(column: schema_columns.AnyColumn, watermark: DataType) -> None:
    """Refuse a watermark whose type has another root than its column."""
    if watermark.root is not column.data_type.root:
        raise SchemaError(
            f"the watermark is {watermark.as_summary_string()}, but its column is "
            f"{column.data_type.as_summary_string()}",
            code="invalid-watermark",
            hint="CAST one side",
        )


def find_column(name: str, columns: Columns) -> schema_columns.AnyColumn:
    """Return the column of a name."""
    if name not in columns:
        raise SchemaError(
            f"there is no column {name!r}", code="unknown-column", hint=similar(name, columns)
        )
    column = columns[name]
    if column is None:
        raise SchemaError(f"column {name!r} is invalid (reported above)", code=FOLLOWS)
    return column


# --- keys ----------------------------------------------------------------------------------------


def key_column(
    name: str, columns: Columns, *kinds: type[schema_columns.AnyColumn]
) -> schema_columns.AnyColumn:
    """Return the column of a name, which must be of one of these classes."""
    column = find_column(name, columns)
    if not isinstance(column, kinds):
        wanted = " or ".join(KIND_NAMES[kind] for kind in kinds)
        raise SchemaError(
            f"column {name!r} is {KIND_NAMES[type(column)]}, not {wanted}",
            code="feature-not-supported",
        )
    return column


#: Class of a column -> its kind in messages.
KIND_NAMES: dict[type[schema_columns.AnyColumn], str] = {
    schema_columns.PhysicalColumn: "physical",
    schema_columns.ComputedColumn: "computed",
    schema_columns.MetadataColumn: "metadata",
}


def require_unrepeated(names: tuple[str, ...]) -> None:
    """Refuse duplicate names."""
    if twice := duplicate_names(names):
        raise SchemaError(f"{format_names(twice)} listed more than once", code="duplicate-column")


def require_not_null(column: schema_columns.AnyColumn) -> None:
    """Refuse a nullable column."""
    if column.data_type.is_nullable:
        raise SchemaError(
            f"column {column.name!r} is nullable",
            code="invalid-constraint",
            hint=f"declare it {column.data_type.not_null().as_summary_string()}",
        )


def resolve_primary_key(
    key: schema_columns.UnresolvedPrimaryKey | None, columns: Columns, errors: Gathering
) -> schema_columns.UniqueConstraint | None:
    """Resolve the primary key over physical NOT NULL columns."""
    if key is None:
        return None
    place = f"primary key {key.name!r}"
    with errors.catching(), at(place, key.span):
        require_unrepeated(key.column_names)
    for name in dict.fromkeys(key.column_names):
        with errors.catching(), at(place, key.span):
            require_not_null(key_column(name, columns, schema_columns.PhysicalColumn))
    return schema_columns.UniqueConstraint(key.name, key.column_names)


def resolve_indexes(
    indexes: Iterable[schema_columns.UnresolvedIndex], columns: Columns, errors: Gathering
) -> tuple[schema_columns.Index, ...]:
    """Resolve indexes over distinct lists of physical and metadata columns."""
    resolved: dict[tuple[str, ...], schema_columns.Index] = {}
    for index in indexes:
        place = f"index {index.name!r}"
        with errors.catching(), at(place, index.span):
            require_unrepeated(index.column_names)
        for name in dict.fromkeys(index.column_names):
            with errors.catching(), at(place, index.span):
                key_column(
                    name, columns, schema_columns.PhysicalColumn, schema_columns.MetadataColumn
                )
        with errors.catching(), at(place, index.span):
            if same := resolved.get(index.column_names):
                raise SchemaError(
                    f"index {same.name!r} has the same columns", code="already-declared"
                )
        resolved[index.column_names] = schema_columns.Index(index.name, index.column_names)
    return tuple(resolved.values())


def resolve_immutable_columns(
    immutable: schema_columns.UnresolvedImmutableColumns | None,
    key: schema_columns.UniqueConstraint | None,
    columns: Columns,
    errors: Gathering,
) -> schema_columns.ImmutableColumns | None:
    """Resolve the immutable columns: physical ones of a table with a primary key."""
    if immutable is None:
        return None
    place = f"immutable columns {immutable.name!r}"
    with errors.catching(), at(place, immutable.span):
        if key is None:
            raise SchemaError("immutable columns require a primary key", code="invalid-constraint")
    with errors.catching(), at(place, immutable.span):
        require_unrepeated(immutable.column_names)
    for name in dict.fromkeys(immutable.column_names):
        with errors.catching(), at(place, immutable.span):
            key_column(name, columns, schema_columns.PhysicalColumn)
    return schema_columns.ImmutableColumns(immutable.name, immutable.column_names)
