"""Definitions of tables in open formats: what a format cannot hold is Flink's property map.

Its keys have the prefix ``flink.`` among the properties of a table. A column of it is used while
the column of the format is the one that it describes: other engines may have changed the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from schema_core.base.lazy import dataclass
from schema_core.catalog import objects
from schema_core.errors import SchemaCoreError, SchemaError, UnsupportedError
from schema_core.properties.limits import FLINK
from schema_core.properties.property_map import encode_table, read_table
from schema_core.properties.sidecar import open_reader
from schema_core.schema.columns import PhysicalColumn, UnresolvedPhysicalColumn, plain
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema, UnresolvedPrimaryKey, generated_name, unresolve
from schema_core.types import RowField

if TYPE_CHECKING:
    from schema_core.environment.options import ConfigOption
    from schema_core.schema.resolved import ResolvedSchema

CONNECTOR = "connector"
#: The property with the comment of a table, view or database, as Spark has it.
COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column of a format.

    Attributes:
        nearest: The nearest column of Flink.
        shape: Its name, type, nullability and comment in the format, for comparisons.
    """

    nearest: RowField
    shape: object


def is_native(table: objects.CatalogBaseTable) -> bool:
    """Return whether the rows of a table are the format's, not those of another connector."""
    return CONNECTOR not in table.options


def require_no_chosen_options(
    options: Mapping[str, str],
    stored: Mapping[str, str],
    chosen: Sequence[ConfigOption[Any]],
    hint: str,
) -> None:
    """Refuse options of a connector that a catalog chooses for its tables.

    Args:
        options: The options of a table without a connector.
        stored: Those that it has already, such as properties of other engines.
        chosen: The options that the catalog chooses.
        hint: What to do instead.

    Raises:
        SchemaError: with code `unknown-option`.
    """
    for key in options:
        if key not in stored and any(option.has_key(key) for option in chosen):
            raise SchemaError(
                f"the catalog chooses the option {key!r} of its tables",
                code="unknown-option",
                hint=hint,
            )


def physical_fields(schema: ResolvedSchema) -> Iterator[RowField]:
    """Yield the physical columns of a schema."""
    for column in schema.columns:
        if isinstance(column, PhysicalColumn):
            yield RowField(column.name, plain(column.data_type), column.comment)


def declared_fields(table: objects.CatalogTable) -> Iterator[RowField]:
    """Yield the physical columns of a stored table."""
    columns = (c for c in table.schema.columns if isinstance(c, UnresolvedPhysicalColumn))
    return physical_fields(SchemaResolver().resolve(Schema(tuple(columns))))


def require_free_options(options: Mapping[str, str], format_name: str, code: str) -> None:
    """Refuse options with the names of properties that this library sets."""
    for key in options:
        if key == COMMENT or key.startswith(FLINK):
            raise UnsupportedError(
                f"the option {key!r} is reserved in {format_name}",
                code=code,
                hint="use COMMENT for the comment, and another name for an option",
            )


# --- to a format ---------------------------------------------------------------------------------


def is_derived(
    table: objects.ResolvedCatalogTable, nearest: Iterable[RowField], key: Sequence[str]
) -> bool:
    """Return whether a table is the one that the columns and the key of a format describe."""
    derived = derive_schema(nearest, key)
    return (
        table.distribution is None
        and table.snapshot is None
        and unresolve(SchemaResolver().resolve(derived)) == unresolve(table.resolved_schema)
    )


def encode_properties(table: objects.ResolvedCatalogTable) -> dict[str, str]:
    """Return the properties that hold a table."""
    encoded = encode_table(table, "carry")
    return {f"{FLINK}{key}": value for key, value in encoded.items()}


# --- from a format -------------------------------------------------------------------------------


def derive_schema(fields: Iterable[RowField], key: Sequence[str]) -> Schema:
    """Return the schema with these columns, and the primary key of these names if any."""
    columns = tuple(
        UnresolvedPhysicalColumn(field.name, field.data_type, field.description) for field in fields
    )
    return Schema(columns, primary_key=_primary_key(key))


def _primary_key(key: Sequence[str]) -> UnresolvedPrimaryKey | None:
    return UnresolvedPrimaryKey(generated_name("PK", key), tuple(key)) if key else None


def take_encoded(properties: dict[str, str]) -> dict[str, str]:
    """Remove the encoded definition from properties, and return it."""
    return {
        key.removeprefix(FLINK): properties.pop(key)
        for key in list(properties)
        if key.startswith(FLINK)
    }


def read_declared(encoded: Mapping[str, str]) -> objects.CatalogTable | None:
    """Return the table of an encoded definition; errors are those of malformed maps."""
    return read_table(open_reader(encoded)) if encoded else None


def merge_schema(
    declared: objects.CatalogTable | None,
    stored: Sequence[StoredColumn],
    key: Sequence[str],
    shape_of: Callable[[RowField], object],
    can_identify: Callable[[Sequence[str]], bool],
) -> Schema:
    """Return the declared schema, or the columns of a format with what is still true of it.

    Args:
        declared: The table of the encoded definition.
        stored: The columns of the format.
        key: The columns of its primary key.
        shape_of: Returns the shape of a declared column; raises `SchemaCoreError` without one.
        can_identify: Returns whether these columns can be the primary key in the format.
    """
    if declared is None:
        return derive_schema((column.nearest for column in stored), key)
    written = {
        column.name: column
        for column in declared.schema.columns
        if isinstance(column, UnresolvedPhysicalColumn)
    }
    columns: dict[str, Any] = {}
    for item in stored:
        field, column = item.nearest, written.get(item.nearest.name)
        if column is None or item.shape != _declared_shape(column, shape_of):
            column = UnresolvedPhysicalColumn(field.name, field.data_type, field.description)
        columns[field.name] = column
    merged = _insert_others(list(columns.values()), declared.schema.columns)
    constraint = declared.schema.primary_key
    if constraint is None or (
        {*constraint.column_names} != {*key}
        and ({*constraint.column_names} - {*columns} or can_identify(constraint.column_names))
    ):
        constraint = _primary_key(key)
    return replace(declared.schema, columns=tuple(merged), primary_key=constraint)


def _declared_shape(
    column: UnresolvedPhysicalColumn, shape_of: Callable[[RowField], object]
) -> object:
    """Return the shape of a stored column in the format, None without one."""
    try:
        (resolved,) = SchemaResolver().resolve(Schema((column,))).columns
        return shape_of(RowField(column.name, plain(resolved.data_type), column.comment))
    except SchemaCoreError:
        return None


def _insert_others(physical: list[Any], declared: Sequence[Any]) -> list[Any]:
    """Return the physical columns, and the others after the column that they followed."""
    result, after = list(physical), None
    for column in declared:
        if not isinstance(column, UnresolvedPhysicalColumn):
            names = [item.name for item in result]
            place = names.index(after) + 1 if after in names else 0
            result.insert(place, column)
        if isinstance(column, UnresolvedPhysicalColumn) and column.name not in {
            item.name for item in result
        }:
            continue
        after = column.name
    return result
