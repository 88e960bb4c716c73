"""Definitions of tables and views as Iceberg stores them.

Columns, comments, keys and partitions are Iceberg's own; options are properties. What Iceberg
cannot hold (exact types, computed columns, watermarks, names of keys) is Flink's property map, with
the prefix ``flink.``, and is used while the columns of Iceberg are those that it describes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import count
from types import MappingProxyType
from typing import TYPE_CHECKING

from pyiceberg.transforms import IdentityTransform

from schema_core.base.lazy import dataclass
from schema_core.catalog import objects
from schema_core.connectors.iceberg import options as options_of
from schema_core.connectors.iceberg.client import require_no_class
from schema_core.connectors.iceberg.options import (
    DEFAULT_VERSION,
    LOCATION,
    SORT_BY,
    is_table_property,
    require_table_properties,
)
from schema_core.connectors.open_tables.definitions import (
    COMMENT,
    CONNECTOR,
    StoredColumn,
    derive_schema,
    encode_properties,
    is_derived,
    is_native,
    merge_schema,
    physical_fields,
    read_declared,
    require_free_options,
    take_encoded,
)
from schema_core.errors import SchemaError, UnsupportedError
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
from schema_core.properties.property_map import decode_object
from schema_core.properties.stored import encode_view_with_queries
from schema_core.schema.columns import plain
from schema_core.schema.unresolved import Schema
from schema_core.types import RowField

if TYPE_CHECKING:
    from pyiceberg.schema import Schema as IcebergSchema
    from pyiceberg.table import Table
    from pyiceberg.view import View


NO_PROPERTIES: Mapping[str, str] = MappingProxyType({})
# Options that are not properties of the table.
FORMAT_VERSION, PARTITION_BY = options_of.FORMAT_VERSION.key, options_of.PARTITION_BY.key


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


# --- to Iceberg ----------------------------------------------------------------------------------


def encode_definition(
    table: objects.ResolvedCatalogTable, properties: Mapping[str, str] = NO_PROPERTIES
) -> StoredDefinition:
    """Return a table as Iceberg stores it.

    Options are properties if they have names of such (`is_table_property`), or are already among
    the `properties` of the stored table. Others are part of the property map, and the connector
    refuses them.

    Raises:
        UnsupportedError: with code `not-representable` for a table without a connector whose
            columns have types that Iceberg lacks, for buckets, and for options with reserved names;
            with code `option-not-supported` for options that name classes, or as
            `require_table_properties`.
        SchemaError: with code `invalid-option-value` for the options of partitions and order; with
            code `unknown-option` as `require_table_properties`.
    """
    native = is_native(table)
    columns = tuple(physical_fields(table.resolved_schema))
    if not native:  # Iceberg shows the columns that it can
        columns = tuple(item for item in columns if _has_type(item))
    key = table.resolved_schema.primary_key
    options = dict(table.options)
    stored = StoredDefinition(columns, tuple(key.columns) if key is not None else ())
    others: dict[str, str] = {}
    if native:
        stored = _with_layout(stored, table, options)
        others = {
            key: value
            for key, value in options.items()
            if key not in properties and not is_table_property(key)
        }
        options = {key: value for key, value in options.items() if key not in others}
    _require_free({**options, **others})
    if native:
        require_table_properties(
            {key: value for key, value in options.items() if properties.get(key) != value}
        )
    if table.comment is not None:
        options[COMMENT] = table.comment
    if not native or others or _differs(table, stored):
        options |= encode_properties(table.copy(others))
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
    require_free_options(options, "Iceberg", "not-representable")


def _differs(table: objects.ResolvedCatalogTable, stored: StoredDefinition) -> bool:
    """Return whether the columns of Iceberg alone are not those of the table."""
    next_id = count(1).__next__
    nearest = [
        from_field(to_field(column, next_id, nanoseconds=stored.nanoseconds))
        for column in stored.columns
    ]
    return not (
        is_derived(table, nearest, stored.key)
        and all(_identifies(item) for item in stored.columns if item.name in stored.key)
    )


def _identifies(column: RowField) -> bool:
    item = to_field(column, count(1).__next__)
    return identifier_ids([item], [column.name]) == [item.field_id]


# --- from Iceberg --------------------------------------------------------------------------------


def decode_table(table: Table) -> objects.CatalogTable:
    """Return a table of Iceberg; errors as `from_field`, and those of malformed maps."""
    metadata = table.metadata
    schema, properties = metadata.schema(), dict(metadata.properties)
    declared = read_declared(take_encoded(properties))
    comment = properties.pop(COMMENT, None)
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
        options={**properties, **({} if declared is None else declared.options)},
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

    def shape_of(column: RowField) -> object:
        return field_shape(to_field(column, count(1).__next__, nanoseconds=version >= 3))

    return merge_schema(
        declared,
        [StoredColumn(from_field(item), field_shape(item)) for item in schema.fields],
        key,
        shape_of,
        lambda names: bool(identifier_ids(schema.fields, names)),
    )


# --- views ---------------------------------------------------------------------------------------

#: The dialect of the queries of this library's views.
DIALECT = "flink"


def view_properties(view: objects.ResolvedCatalogView) -> dict[str, str]:
    """Return the properties of a view (`not-representable` for reserved options)."""
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
    encoded = take_encoded(properties)
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
        derive_schema(map(from_field, schema.fields), ()),
        query,
        query,
        options=properties,
        comment=comment,
    )
