"""Definitions of tables and views as Iceberg stores them.

Columns, comments, keys and partitions are Iceberg's own; options are properties. What Iceberg
cannot hold (exact types, computed columns, watermarks, names of keys) is Flink's property map, with
the prefix ``flink.``, and is used while the columns of Iceberg are those that it describes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from pyiceberg.transforms import IdentityTransform

from schema_core.base.lazy import dataclass
from schema_core.catalog import objects
from schema_core.connectors.iceberg import options as options_of
from schema_core.connectors.iceberg.client import require_no_class
from schema_core.connectors.iceberg.options import DEFAULT_VERSION
from schema_core.errors import SchemaCoreError, SchemaError, UnsupportedError
from schema_core.mappings.iceberg.partitioning import (
    Term,
    identity_columns,
    identity_terms,
    parse_terms,
    print_order,
    print_spec,
)
from schema_core.mappings.iceberg.schemas import identifier_ids
from schema_core.mappings.iceberg.types import field_shape, from_field, to_field
from schema_core.properties.limits import FLINK
from schema_core.properties.property_map import decode_object, encode_table, read_table
from schema_core.properties.sidecar import open_reader
from schema_core.properties.stored import encode_view_with_queries
from schema_core.schema.columns import PhysicalColumn, UnresolvedPhysicalColumn, plain
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema, UnresolvedPrimaryKey, generated_name, unresolve
from schema_core.types import RowField

if TYPE_CHECKING:
    from pyiceberg.schema import Schema as IcebergSchema
    from pyiceberg.table import Table
    from pyiceberg.view import View

    from schema_core.schema.resolved import ResolvedSchema

CONNECTOR = "connector"
#: The property with the comment of a table, view or namespace, as Spark has it.
COMMENT = "comment"
# Options that are not properties of the table.
FORMAT_VERSION, PARTITION_BY = options_of.FORMAT_VERSION.key, options_of.PARTITION_BY.key
LOCATION, SORT_BY = "location", "sort-by"
#: Options with a meaning of their own in the metadata of a table.
METADATA_OPTIONS = (FORMAT_VERSION, LOCATION, PARTITION_BY, SORT_BY)


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """A table as Iceberg stores it.

    Attributes:
        columns: The physical columns that Iceberg has.
        key: The columns of the primary key.
        partitions: The terms of the partition spec.
        order: The terms of the sort order.
        properties: The properties.
        version: The version of the format; None for the default of a new table.
        location: The directory of the table; None for the default.
    """

    columns: tuple[RowField, ...]
    key: tuple[str, ...] = ()
    partitions: tuple[Term, ...] = ()
    order: tuple[Term, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    version: str | None = None
    location: str | None = None

    @property
    def nanoseconds(self) -> bool:
        """Whether the version has types with nanoseconds."""
        return self.version not in (None, "1", "2")

    def shapes(self, *, nanoseconds: bool) -> list[object]:
        """Return the columns without ids, for comparisons."""
        next_id = count(1).__next__
        fields = (to_field(item, next_id, nanoseconds=nanoseconds) for item in self.columns)
        return [field_shape(item) for item in fields]


def is_native(table: objects.CatalogBaseTable) -> bool:
    """Return whether the rows of a table are Iceberg's, not those of another connector."""
    return CONNECTOR not in table.options


def physical_fields(schema: ResolvedSchema) -> Iterator[RowField]:
    """Yield the physical columns of a schema."""
    for column in schema.columns:
        if isinstance(column, PhysicalColumn):
            yield RowField(column.name, plain(column.data_type), column.comment)


def declared_fields(table: objects.CatalogTable) -> Iterator[RowField]:
    """Yield the physical columns of a stored table."""
    columns = (c for c in table.schema.columns if isinstance(c, UnresolvedPhysicalColumn))
    return physical_fields(SchemaResolver().resolve(Schema(tuple(columns))))


# --- to Iceberg ----------------------------------------------------------------------------------


def encode_definition(table: objects.ResolvedCatalogTable) -> StoredDefinition:
    """Return a table as Iceberg stores it.

    Raises:
        UnsupportedError: with code `not-in-iceberg` for a table without a connector whose columns
            have types that Iceberg lacks, for buckets, and for options with reserved names; with
            code `iceberg-property-not-supported` for options that name classes.
        SchemaError: with code `invalid-option-value` for the options of partitions and order.
    """
    native = is_native(table)
    columns = tuple(physical_fields(table.resolved_schema))
    if not native:  # Iceberg shows the columns that it can
        columns = tuple(item for item in columns if _has_type(item))
    key = table.resolved_schema.primary_key
    options = dict(table.options)
    stored = StoredDefinition(columns, tuple(key.columns) if key is not None else ())
    if native:
        stored = _with_layout(stored, table, options)
    _require_free(options)
    if table.comment is not None:
        options[COMMENT] = table.comment
    if not native or _differs(table, stored):
        bare = table.copy({})
        options |= {f"{FLINK}{key}": item for key, item in encode_table(bare, "carry").items()}
    return replace(stored, properties=options)


def _has_type(column: RowField) -> bool:
    try:
        to_field(column, count(1).__next__)
    except UnsupportedError:
        return False
    return True


def _with_layout(
    stored: StoredDefinition, table: objects.ResolvedCatalogTable, options: dict[str, str]
) -> StoredDefinition:
    """Return a definition with its partitions, order, version and location, taken from options."""
    partitions = identity_terms(table.partition_keys)
    if (text := options.pop(PARTITION_BY, None)) is not None:
        if table.partition_keys:
            raise SchemaError(
                f"PARTITIONED BY and the option {PARTITION_BY!r} exclude each other",
                code="conflicting-options",
                hint=f"write all partitions in the option {PARTITION_BY!r} of a new table",
            )
        partitions = parse_terms(text, ordered=False)
        if all(isinstance(term.transform, IdentityTransform) for term in partitions):
            options[PARTITION_BY] = text  # the spec would be read as PARTITIONED BY
    order: Sequence[Term] = ()
    if (text := options.pop(SORT_BY, None)) is not None:
        order = parse_terms(text, ordered=True)
    version = options.pop(FORMAT_VERSION, None)
    if version is not None and version not in ("1", "2", "3"):
        raise SchemaError(
            f"option {FORMAT_VERSION!r} must be 1, 2 or 3, got {version!r}",
            code="invalid-option-value",
        )
    return replace(
        stored,
        partitions=tuple(partitions),
        order=tuple(order),
        version=version,
        location=options.get(LOCATION),
    )


def _require_free(options: Mapping[str, str]) -> None:
    require_no_class(options)
    for key in options:
        if key == COMMENT or key.startswith(FLINK):
            raise UnsupportedError(
                f"the option {key!r} is reserved in Iceberg",
                code="not-in-iceberg",
                hint="use COMMENT for the comment, and another name for an option",
            )


def _differs(table: objects.ResolvedCatalogTable, stored: StoredDefinition) -> bool:
    """Return whether the columns of Iceberg alone are not those of the table."""
    next_id = count(1).__next__
    fields = [
        to_field(column, next_id, nanoseconds=stored.nanoseconds) for column in stored.columns
    ]
    derived = derive_schema(fields, stored.key)
    return (
        table.distribution is not None
        or table.snapshot is not None
        or unresolve(SchemaResolver().resolve(derived)) != unresolve(table.resolved_schema)
        or not all(_identifies(item) for item in stored.columns if item.name in stored.key)
    )


def _identifies(column: RowField) -> bool:
    item = to_field(column, count(1).__next__)
    return identifier_ids([item], [column.name]) == [item.field_id]


# --- from Iceberg --------------------------------------------------------------------------------


def derive_schema(fields: Iterable[Any], key: Sequence[str]) -> Schema:
    """Return the schema that Iceberg's columns describe (`type-not-in-flink`)."""
    columns = tuple(
        UnresolvedPhysicalColumn(item.name, item.data_type, item.description)
        for item in map(from_field, fields)
    )
    return Schema(columns, primary_key=_primary_key(key))


def _primary_key(key: Sequence[str]) -> UnresolvedPrimaryKey | None:
    return UnresolvedPrimaryKey(generated_name("PK", key), tuple(key)) if key else None


def decode_table(table: Table) -> objects.CatalogTable:
    """Return a table of Iceberg; errors as `derive_schema`, and those of malformed maps."""
    metadata = table.metadata
    schema, properties = metadata.schema(), dict(metadata.properties)
    encoded = {
        key.removeprefix(FLINK): properties.pop(key)
        for key in list(properties)
        if key.startswith(FLINK)
    }
    comment = properties.pop(COMMENT, None)
    declared = read_table(open_reader(encoded)) if encoded else None
    if declared is not None and CONNECTOR in properties:
        return replace(declared.copy(properties), comment=comment)
    keys = identity_columns(metadata.spec(), schema)
    declared_by = properties.pop(PARTITION_BY, None)
    if keys is None or (keys and declared_by is not None):
        keys = None
        properties[PARTITION_BY] = print_spec(metadata.spec(), schema)
    order = metadata.sort_order_by_id(metadata.default_sort_order_id)
    if order is not None and order.fields:
        properties[SORT_BY] = print_order(order, schema)
    if str(metadata.format_version) != DEFAULT_VERSION:
        properties[FORMAT_VERSION] = str(metadata.format_version)
    names = _identifier_names(schema)
    return objects.CatalogTable(
        _merge_schema(declared, schema, names, metadata.format_version),
        tuple(keys or ()),
        comment=comment,
        options=properties,
        distribution=None if declared is None else declared.distribution,
        snapshot=None if declared is None else declared.snapshot,
    )


def _identifier_names(schema: IcebergSchema) -> list[str]:
    ids = set(schema.identifier_field_ids)
    return [item.name for item in schema.fields if item.field_id in ids]


def _merge_schema(
    declared: objects.CatalogTable | None,
    schema: IcebergSchema,
    key: Sequence[str],
    version: int,
) -> Schema:
    """Return the declared schema, or Iceberg's columns with what is still true of it."""
    if declared is None:
        return derive_schema(schema.fields, key)
    written = {
        column.name: column
        for column in declared.schema.columns
        if isinstance(column, UnresolvedPhysicalColumn)
    }
    columns: dict[str, Any] = {}
    nanoseconds = version >= 3
    for item in schema.fields:
        column = written.get(item.name)
        if column is not None and field_shape(item) == _shape_of(column, nanoseconds):
            columns[item.name] = column
        else:
            field_ = from_field(item)
            columns[item.name] = UnresolvedPhysicalColumn(
                field_.name, field_.data_type, field_.description
            )
    merged = _insert_others(list(columns.values()), declared.schema.columns)
    constraint = declared.schema.primary_key
    if constraint is None or (
        {*constraint.column_names} != {*key}
        and not _is_not_identifying(constraint.column_names, schema)
    ):
        constraint = _primary_key(key)
    return replace(declared.schema, columns=tuple(merged), primary_key=constraint)


def _shape_of(column: UnresolvedPhysicalColumn, nanoseconds: bool) -> object:
    """Return the shape of the Iceberg field of a stored column, None without one."""
    try:
        (resolved,) = SchemaResolver().resolve(Schema((column,))).columns
        item = RowField(column.name, plain(resolved.data_type), column.comment)
        return field_shape(to_field(item, count(1).__next__, nanoseconds=nanoseconds))
    except SchemaCoreError:
        return None


def _is_not_identifying(names: Sequence[str], schema: IcebergSchema) -> bool:
    """Return whether a key has all of its columns, and Iceberg cannot have it as its own."""
    exists = {*names} <= {item.name for item in schema.fields}
    return exists and not identifier_ids(schema.fields, [*names])


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


# --- views ---------------------------------------------------------------------------------------

#: The dialect of the queries of this library's views.
DIALECT = "flink"


def view_properties(view: objects.ResolvedCatalogView) -> dict[str, str]:
    """Return the properties of a view (`not-in-iceberg` for reserved options)."""
    options = dict(view.options)
    _require_free(options)
    if view.comment is not None:
        options[COMMENT] = view.comment
    encoded = encode_view_with_queries(view.copy({}), "carry")
    return options | {f"{FLINK}{key}": item for key, item in encoded.items()}


def view_columns(view: objects.ResolvedCatalogView) -> list[RowField]:
    """Return the columns of a view that Iceberg has types for."""
    columns = (
        RowField(column.name, plain(column.data_type), column.comment)
        for column in view.resolved_schema.columns
    )
    return [column for column in columns if _has_type(column)]


def decode_view(view: View) -> objects.CatalogView:
    """Return a view of Iceberg; that of another engine has its query, in that engine's SQL."""
    properties = dict(view.metadata.properties)
    encoded = {
        key.removeprefix(FLINK): properties.pop(key)
        for key in list(properties)
        if key.startswith(FLINK)
    }
    comment = properties.pop(COMMENT, None)
    if encoded:
        decoded = decode_object(objects.TableKind.VIEW, encoded)
        if isinstance(decoded, objects.CatalogView):
            return replace(decoded.copy(properties), comment=comment)
    version = view.current_version()
    queries = {item.root.dialect: item.root.sql for item in version.representations}
    query = queries.get(DIALECT) or next(iter(queries.values()), "")
    schema = next(item for item in view.metadata.schemas if item.schema_id == version.schema_id)
    return objects.CatalogView(
        derive_schema(schema.fields, ()), query, query, options=properties, comment=comment
    )
