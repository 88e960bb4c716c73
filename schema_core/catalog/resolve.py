"""Resolution of tables, views and models: catalogs store resolved objects only (FLIP-164).

A resolved object is returned as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any, TypeAlias, TypeVar

from schema_core.base.arguments import require_instance
from schema_core.catalog import objects
from schema_core.catalog.temporary import ResolvedTable
from schema_core.errors import Gathering, SchemaCoreError, SchemaError, at, similar
from schema_core.schema.columns import plain
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import PhysicalColumn, ResolvedSchema
from schema_core.schema.unresolved import (
    Schema,
    UnresolvedComputedColumn,
)
from schema_core.types import AnyTimestampType, DataType, TimestampKind, parse_type
from schema_core.types.unresolved import UnresolvedDataType
from schema_core.types.user_defined import UnresolvedType

T = TypeVar("T", bound=objects.CatalogBaseTable | objects.CatalogModel)

#: Returns the names and types of the columns of a query.
QueryColumns: TypeAlias = Callable[[str], Sequence[tuple[str, DataType]]]


def resolve_table(
    table: objects.CatalogTable, resolver: SchemaResolver
) -> objects.ResolvedCatalogTable:
    """Resolve a table; check its distribution and its partition keys.

    Raises:
        SchemaError: as `SchemaResolver.resolve`; `unknown-column` or `feature-not-supported`
            for a bucket or partition key, `invalid-value` for a count below 1.
    """
    if isinstance(table, objects.ResolvedCatalogTable):
        return table
    require_instance(table, objects.CatalogTable, "the table")
    require_instance(resolver, SchemaResolver, "the resolver")
    schema = resolver.resolve(table.schema)
    errors = Gathering()
    if table.distribution is not None:
        check_distribution(table.distribution, schema, errors)
    check_keys("partition key", table.partition_keys, schema, errors)
    errors.raise_all()
    return objects.ResolvedCatalogTable(**members(table), resolved_schema=schema)


def resolve_view(
    view: objects.CatalogView, resolver: SchemaResolver, query_columns: QueryColumns
) -> objects.ResolvedCatalogView:
    """Resolve a view: the types of its query with the names of its schema.

    If the expanded query no longer resolves or returns another number of columns, the types are
    those of the stored schema, as in Flink; errors for it as `SchemaResolver.resolve`.
    """
    if isinstance(view, objects.ResolvedCatalogView):
        return view
    require_instance(view, objects.CatalogView, "the view")
    require_instance(resolver, SchemaResolver, "the resolver")
    stored = resolver.resolve(view.schema)
    try:
        columns = query_columns(view.expanded_query)
    except SchemaCoreError:
        columns = ()
    if len(columns) != len(stored.columns):
        return objects.ResolvedCatalogView(**members(view), resolved_schema=stored)
    named = zip(stored.columns, columns, strict=True)
    resolved = ResolvedSchema(
        [PhysicalColumn(column.name, type_) for column, (_, type_) in named],
        stored.watermark_specs,
        stored.primary_key,
        stored.indexes,
        stored.immutable_columns,
    )
    return objects.ResolvedCatalogView(**members(view), resolved_schema=resolved)


def read_view(
    view: objects.CatalogView, resolver: SchemaResolver, query_columns: QueryColumns
) -> objects.ResolvedCatalogView:
    """Resolve a stored view: its columns have the types that it was created with.

    They stay when the tables below are altered, as in Flink (FLIP-164: "the stored schema will not
    be updated even the underlying table schema changed"); readers cast the rows. A column is a time
    attribute only if it still is one in the query. Errors as `SchemaResolver.resolve`.
    """
    if isinstance(view, objects.ResolvedCatalogView):
        stored = view.resolved_schema
    else:
        stored = resolver.resolve(view.schema)
    if any(isinstance(column.data_type, AnyTimestampType) for column in stored.columns):
        try:
            stored = _with_time_attributes(stored, query_columns(view.expanded_query))
        except SchemaCoreError:  # readers get the error; the stored types remain valid
            stored = _with_time_attributes(stored, ())
    if isinstance(view, objects.ResolvedCatalogView):
        return replace(view, resolved_schema=stored)
    return objects.ResolvedCatalogView(**members(view), resolved_schema=stored)


def _with_time_attributes(
    stored: ResolvedSchema, given: Sequence[tuple[str, DataType]]
) -> ResolvedSchema:
    """Return the stored columns, as time attributes where the query's are."""
    types = [type_ for _, type_ in given]
    if len(types) != len(stored.columns):
        types = [plain(column.data_type) for column in stored.columns]
    columns = [
        replace(column, data_type=_mark_type(column.data_type, type_))
        for column, type_ in zip(stored.columns, types, strict=True)
    ]
    return ResolvedSchema(
        columns,
        stored.watermark_specs,
        stored.primary_key,
        stored.indexes,
        stored.immutable_columns,
    )


def _mark_type(stored: DataType, given: DataType) -> DataType:
    """The stored type, as the time attribute that an otherwise equal type is."""
    if not isinstance(stored, AnyTimestampType):
        return stored
    same = plain(given).nullable() == plain(stored).nullable()
    kind = given.kind if same and isinstance(given, AnyTimestampType) else TimestampKind.REGULAR
    return stored.with_kind(kind)


def resolve_materialized_table(
    table: objects.CatalogMaterializedTable, resolver: SchemaResolver
) -> objects.ResolvedCatalogMaterializedTable:
    """Resolve a materialized table with its freshness and refresh mode; check its partition keys.

    The refresh mode is derived from the logical mode and the freshness.

    Raises:
        SchemaError: as `resolve_table`; `invalid-materialized-table` for one that a full refresh
            cannot keep.
    """
    if isinstance(table, objects.ResolvedCatalogMaterializedTable):
        return table
    require_instance(table, objects.CatalogMaterializedTable, "the table")
    require_instance(resolver, SchemaResolver, "the resolver")
    schema = resolver.resolve(table.schema)
    errors = Gathering()
    check_keys("partition key", table.partition_keys, schema, errors)
    errors.raise_all()
    freshness = table.freshness or objects.DEFAULT_FRESHNESS[table.logical_refresh_mode]
    derived = {
        "freshness": freshness,
        "refresh_mode": refresh_mode(table.logical_refresh_mode, freshness),
        "start_mode": table.start_mode or objects.StartMode.FROM_BEGINNING,
    }
    return objects.ResolvedCatalogMaterializedTable(
        **members(table) | derived, resolved_schema=schema
    )


def resolve_model(
    model: objects.CatalogModel, resolver: SchemaResolver
) -> objects.ResolvedCatalogModel:
    """Resolve the input and output columns of a model; errors as `SchemaResolver.resolve`."""
    if isinstance(model, objects.ResolvedCatalogModel):
        return model
    require_instance(model, objects.CatalogModel, "the model")
    require_instance(resolver, SchemaResolver, "the resolver")
    with at("input"):
        input_schema = resolver.resolve(model.input_schema)
    with at("output"):
        output_schema = resolver.resolve(model.output_schema)
    return objects.ResolvedCatalogModel(
        **members(model), resolved_input_schema=input_schema, resolved_output_schema=output_schema
    )


def resolve_object(table: objects.CatalogBaseTable, resolver: SchemaResolver) -> ResolvedTable:
    """Resolve a table, view or materialized table; a view has the types of its stored schema.

    Errors as `resolve_table`; `unresolved-object` for another object.
    """
    match table:
        case objects.CatalogTable():
            return resolve_table(table, resolver)
        case objects.CatalogView():
            return resolve_view(table, resolver, lambda _: ())
        case objects.CatalogMaterializedTable():
            return resolve_materialized_table(table, resolver)
        case _:
            return require_resolved_table(table)


def require_resolved_table(table: objects.CatalogBaseTable) -> ResolvedTable:
    """Return a resolved table, view or materialized table (FLIP-164).

    Raises:
        SchemaError: `unresolved-object` for another.
    """
    if isinstance(
        table,
        objects.ResolvedCatalogTable
        | objects.ResolvedCatalogView
        | objects.ResolvedCatalogMaterializedTable,
    ):
        return table
    raise _unresolved_error(table)


def require_resolved_model(model: objects.CatalogModel) -> objects.ResolvedCatalogModel:
    """Return a resolved model.

    Raises:
        SchemaError: `unresolved-object` for another.
    """
    if isinstance(model, objects.ResolvedCatalogModel):
        return model
    require_instance(model, objects.CatalogModel, "the model")
    raise _unresolved_error(model)


#: Resolved class -> unresolved class.
ORIGINS: dict[type, type] = {
    objects.ResolvedCatalogTable: objects.CatalogTable,
    objects.ResolvedCatalogView: objects.CatalogView,
    objects.ResolvedCatalogMaterializedTable: objects.CatalogMaterializedTable,
    objects.ResolvedCatalogModel: objects.CatalogModel,
}


#: The fields with a schema; the resolved schema is in ``resolved_...``.
SCHEMAS = frozenset({"schema", "input_schema", "output_schema"})


def origin(kept: T) -> T:
    """Return the unresolved form of an object, as catalogs return it (FLIP-164).

    Names of types keep the meaning of their lookup, whatever the current database is.
    """
    if (kind := ORIGINS.get(type(kept))) is None:
        return kept
    found: dict[str, Any] = {field.name: getattr(kept, field.name) for field in fields(kind)}
    for name in SCHEMAS & found.keys():
        found[name] = _settle_types(found[name], getattr(kept, f"resolved_{name}"))
    unresolved: T = kind(**found)
    return unresolved


def _settle_types(written: Schema, found: ResolvedSchema) -> Schema:
    types = {column.name: column.data_type for column in found.columns}
    columns = tuple(
        [
            column
            if isinstance(column, UnresolvedComputedColumn)
            or column.data_type is types[column.name]
            or not _names_types(column.data_type)
            else replace(column, data_type=types[column.name])
            for column in written.columns
        ]
    )
    return replace(written, columns=columns)


def _names_types(written: DataType | UnresolvedDataType | str) -> bool:
    """Return whether a type contains names of user-defined types."""
    if isinstance(written, UnresolvedDataType):
        return True
    type_ = parse_type(written) if isinstance(written, str) else written
    return any(isinstance(part, UnresolvedType) for part in type_.walk())


def _unresolved_error(kept: objects.CatalogBaseTable | objects.CatalogModel) -> SchemaError:
    return SchemaError(
        f"catalogs store resolved objects only, got {type(kept).__name__}",
        code="unresolved-object",
        hint="resolve it first, as a TableEnvironment does",
    )


def members(
    source: objects.CatalogTable
    | objects.CatalogView
    | objects.CatalogMaterializedTable
    | objects.CatalogModel,
) -> dict[str, Any]:
    """Return the fields of an object, for its resolved form."""
    kind: Any = type(source)
    return {name: getattr(source, name) for name in _member_names(kind)}


@cache
def _member_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


# --- checks --------------------------------------------------------------------------------------


def check_keys(what: str, keys: Sequence[str], schema: ResolvedSchema, found: Gathering) -> None:
    """Require every key to be a physical column; duplicates are allowed."""
    if not keys:
        return
    columns = {column.name: column for column in schema.columns}
    for key in dict.fromkeys(keys):
        with found.catching(), at(f"{what} {key!r}"):
            if key not in columns:
                raise SchemaError(
                    f"there is no column {key!r}",
                    code="unknown-column",
                    hint=similar(key, columns),
                )
            if not columns[key].is_physical():
                raise SchemaError(f"column {key!r} is not physical", code="feature-not-supported")


def check_distribution(
    distribution: objects.TableDistribution, schema: ResolvedSchema, found: Gathering
) -> None:
    """Require physical bucket keys and a positive bucket count."""
    check_keys("bucket key", distribution.bucket_keys, schema, found)
    with found.catching(), at("distribution"):
        if distribution.bucket_count is not None and distribution.bucket_count < 1:
            raise SchemaError(
                f"the bucket count must be positive, got {distribution.bucket_count}",
                code="invalid-value",
            )


def refresh_mode(
    mode: objects.LogicalRefreshMode, freshness: objects.Freshness
) -> objects.RefreshMode:
    """Return the refresh mode for a logical mode and a freshness.

    `invalid-materialized-table` for a full refresh in weeks, or in steps that do not divide the
    next larger unit, since it runs by the clock.
    """
    continuous = mode is objects.LogicalRefreshMode.CONTINUOUS or (
        mode is objects.LogicalRefreshMode.AUTOMATIC
        and freshness.seconds < objects.CONTINUOUS_BELOW
    )
    if continuous:
        return objects.RefreshMode.CONTINUOUS
    freshness.to_cron()
    return objects.RefreshMode.FULL
