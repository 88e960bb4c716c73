"""What must hold in a schema: each rule refuses one mistake, in words of the one who made it.

The rules are those of Flink's DefaultSchemaResolver. Mistakes that follow from another one carry
the code `FOLLOWS`; the resolver drops them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

from schema_core.errors import Gathering, SchemaError, at, similar
from schema_core.schema.columns import (
    AnyColumn,
    ComputedColumn,
    ImmutableColumns,
    Index,
    MetadataColumn,
    PhysicalColumn,
    UniqueConstraint,
    UnresolvedColumn,
    UnresolvedImmutableColumns,
    UnresolvedIndex,
    UnresolvedMetadataColumn,
    UnresolvedPrimaryKey,
    UnresolvedWatermarkSpec,
)
from schema_core.text import is_blank
from schema_core.types import (
    DataType,
    LocalZonedTimestampType,
    TimestampKind,
    TimestampType,
    UnresolvedType,
)

#: Columns by name, in order; None for one whose own mistake has been told.
Columns: TypeAlias = dict[str, AnyColumn | None]

#: The code of a mistake that follows from another one and is therefore not told.
FOLLOWS = "follows-from-another"

#: Stands for a type that could not be read, where that was told already.
WRONG = UnresolvedType(())

#: The longest precision of a time attribute: Flink counts time in milliseconds.
TIME_PRECISION = 3


def repeated(names: Iterable[str]) -> list[str]:
    """The names that come more than once, in the order of their first coming.

    >>> repeated(["a", "b", "a", "c", "b"])
    ['a', 'b']
    """
    listed = list(names)
    if len(set(listed)) == len(listed):
        return []
    return [name for name, count in Counter(listed).items() if count > 1]


def format_names(names: Iterable[str]) -> str:
    """Names in a message."""
    return ", ".join(map(repr, names))


def require_unique_names(columns: Iterable[UnresolvedColumn]) -> None:
    """Refuse columns of the same name; case makes a difference."""
    names = [column.name for column in columns]
    if len(set(names)) < len(names):
        problem = f"several columns are called {format_names(repeated(names))}"
        raise SchemaError(problem, code="duplicate-column")


def require_visible_names(names: Iterable[str]) -> None:
    """Refuse names of nothing but white space: an expression sees columns as the fields of a row.

    A schema may have such columns, as in Flink, as long as it has no expression.
    """
    if blank := [name for name in names if is_blank(name)]:
        raise SchemaError(
            f"no expression can be beside a column called {blank[0]!r}",
            code="blank-name",
            hint="give it a name with a visible character",
        )


def require_unique_keys(columns: Iterable[UnresolvedColumn]) -> None:
    """Refuse metadata columns that ask the connector for the same key."""
    by_key: dict[str, list[str]] = {}
    for column in columns:
        if isinstance(column, UnresolvedMetadataColumn):
            by_key.setdefault(column.key, []).append(column.name)
    for key, names in by_key.items():
        if len(names) > 1:
            raise SchemaError(
                f"the columns {format_names(names)} read the same metadata key {key!r}",
                code="duplicate-metadata-key",
            )


def require_one_watermark(specs: tuple[UnresolvedWatermarkSpec, ...]) -> None:
    """Refuse a second watermark."""
    if len(specs) > 1:
        columns = format_names(spec.column_name for spec in specs)
        raise SchemaError(
            f"a table has one watermark, not {len(specs)} (of {columns})",
            code="duplicate-watermark",
        )


def require_time_column(column: AnyColumn) -> None:
    """Refuse a column that cannot have a watermark."""
    require_time(column.data_type, f"column {column.name!r}")
    if getattr(column.data_type, "kind", None) is TimestampKind.PROCTIME:
        raise SchemaError(
            f"column {column.name!r} is processing time, which has no watermark",
            code="invalid-watermark-type",
        )


def require_time(type_: DataType, what: str) -> None:
    """Refuse a type that is no time of events."""
    times = TimestampType | LocalZonedTimestampType
    if not isinstance(type_, times) or type_.precision > TIME_PRECISION:
        raise SchemaError(
            f"{what} is {type_.as_summary_string()}, not a TIMESTAMP or TIMESTAMP_LTZ of at most "
            f"{TIME_PRECISION} digits of a second",
            code="invalid-watermark-type",
            hint=f"CAST it to TIMESTAMP({TIME_PRECISION}) in a computed column",
        )


def require_same_time(column: AnyColumn, watermark: DataType) -> None:
    """Refuse a watermark with a time zone on a column without, and the other way round."""
    if watermark.root is not column.data_type.root:
        raise SchemaError(
            f"the watermark is {watermark.as_summary_string()}, its column is "
            f"{column.data_type.as_summary_string()}",
            code="invalid-watermark-type",
            hint="both must be TIMESTAMP or both TIMESTAMP_LTZ",
        )


def named(name: str, columns: Columns) -> AnyColumn:
    """The column of a name."""
    if name not in columns:
        raise SchemaError(
            f"there is no column {name!r}", code="unknown-column", hint=similar(name, columns)
        )
    column = columns[name]
    if column is None:
        raise SchemaError(f"column {name!r} is wrong itself", code=FOLLOWS)
    return column


# --- keys ----------------------------------------------------------------------------------------


def key_column(name: str, columns: Columns, *kinds: type[AnyColumn]) -> AnyColumn:
    """The column of a name, which must be of one of these kinds."""
    column = named(name, columns)
    if not isinstance(column, kinds):
        wanted = " or ".join(KIND_NAMES[kind] for kind in kinds)
        raise SchemaError(
            f"column {name!r} is {KIND_NAMES[type(column)]}, not {wanted}",
            code="unsupported-column-kind",
        )
    return column


#: Kind of column -> its name in a message.
KIND_NAMES: dict[type[AnyColumn], str] = {
    PhysicalColumn: "physical",
    ComputedColumn: "computed",
    MetadataColumn: "metadata",
}


def require_unrepeated(names: tuple[str, ...]) -> None:
    """Refuse a column that is listed twice."""
    if twice := repeated(names):
        raise SchemaError(f"{format_names(twice)} listed more than once", code="repeated-column")


def require_not_null(column: AnyColumn) -> None:
    """Refuse a column that may be NULL."""
    if column.data_type.is_nullable:
        raise SchemaError(
            f"column {column.name!r} is nullable",
            code="nullable-primary-key",
            hint=f"declare it {column.data_type.not_null().as_summary_string()}",
        )


def resolve_primary_key(
    key: UnresolvedPrimaryKey | None, columns: Columns, found: Gathering
) -> UniqueConstraint | None:
    """The key, whose columns must be physical and NOT NULL."""
    if key is None:
        return None
    place = f"primary key {key.name!r}"
    with found.catching(), at(place, key.span):
        require_unrepeated(key.column_names)
    for name in dict.fromkeys(key.column_names):
        with found.catching(), at(place, key.span):
            require_not_null(key_column(name, columns, PhysicalColumn))
    return UniqueConstraint(key.name, key.column_names)


def resolve_indexes(
    indexes: Iterable[UnresolvedIndex], columns: Columns, found: Gathering
) -> tuple[Index, ...]:
    """The indexes, over physical and metadata columns, no two over the same."""
    resolved: dict[tuple[str, ...], Index] = {}
    for index in indexes:
        place = f"index {index.name!r}"
        with found.catching(), at(place, index.span):
            require_unrepeated(index.column_names)
        for name in dict.fromkeys(index.column_names):
            with found.catching(), at(place, index.span):
                key_column(name, columns, PhysicalColumn, MetadataColumn)
        with found.catching(), at(place, index.span):
            if same := resolved.get(index.column_names):
                raise SchemaError(
                    f"index {same.name!r} has the same columns", code="duplicate-index"
                )
        resolved[index.column_names] = Index(index.name, index.column_names)
    return tuple(resolved.values())


def resolve_immutable_columns(
    immutable: UnresolvedImmutableColumns | None,
    key: UniqueConstraint | None,
    columns: Columns,
    found: Gathering,
) -> ImmutableColumns | None:
    """The immutable columns, physical ones of a table with a key."""
    if immutable is None:
        return None
    place = f"immutable columns {immutable.name!r}"
    with found.catching(), at(place, immutable.span):
        if key is None:
            raise SchemaError(
                "immutable columns need a primary key beside them",
                code="immutable-columns-without-key",
            )
    with found.catching(), at(place, immutable.span):
        require_unrepeated(immutable.column_names)
    for name in dict.fromkeys(immutable.column_names):
        with found.catching(), at(place, immutable.span):
            key_column(name, columns, PhysicalColumn)
    return ImmutableColumns(immutable.name, immutable.column_names)
