"""Hypothesis strategies for schemas and for catalog objects, all of which can be resolved."""

from __future__ import annotations

from hypothesis import strategies as st

from schema_core.catalog.objects import (
    CatalogMaterializedTable,
    CatalogModel,
    CatalogTable,
    DistributionKind,
    Freshness,
    FreshnessUnit,
    LogicalRefreshMode,
    RefreshStatus,
    TableDistribution,
)
from schema_core.errors import SchemaError
from schema_core.expressions.scope import ColumnScope
from schema_core.schema.unresolved import (
    Schema,
    SchemaBuilder,
    UnresolvedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
)
from schema_core.testing.strategies import comments, names, types
from schema_core.text import quote_identifier
from schema_core.types import DataType, DataTypes, LocalZonedTimestampType, TimestampType

#: Expressions of computed columns: over any other column, and over none.
OVER_ANY = ("{0}", "{0} IS NULL", "CASE WHEN {0} IS NOT NULL THEN 1 ELSE 2 END")
OVER_NONE = ("1 + 1", "'it''s'", "PROCTIME()")

#: Types of columns with a watermark, and expressions of watermarks.
TIMES = st.sampled_from(("TIMESTAMP(3)", "TIMESTAMP(0) NOT NULL", "TIMESTAMP_LTZ(3)"))
WATERMARKS = ("{0}", "{0} - INTERVAL '5' SECOND", "SOURCE_WATERMARK()")


def chance(draw: st.DrawFn) -> bool:
    """Draw a boolean."""
    return draw(st.booleans())


def written_types() -> st.SearchStrategy[DataType | str]:
    """Any type, as a value or as a string."""
    return types(max_leaves=4).flatmap(lambda type_: st.sampled_from((type_, str(type_))))


@st.composite
def stored_columns(draw: st.DrawFn) -> list[UnresolvedColumn]:
    """Physical and metadata columns; keys of metadata differ, and none repeats its name."""
    columns: list[UnresolvedColumn] = []
    keys: set[str] = set()
    for name in draw(st.lists(names(), max_size=5, unique=True)):
        type_, comment = draw(written_types() | TIMES), draw(comments())
        key = draw(st.none() | st.text(max_size=5))
        metadata = UnresolvedMetadataColumn(
            name, type_, None if key == name else key, chance(draw), comment
        )
        if chance(draw) and metadata.key not in keys:
            keys.add(metadata.key)
            columns.append(metadata)
        else:
            columns.append(UnresolvedPhysicalColumn(name, type_, comment))
    return columns


def can_be_named(column: UnresolvedColumn) -> bool:
    """Return whether an expression can name the column: quoted names have no line breaks."""
    return not any(character in column.name for character in "\n\r")


@st.composite
def computed_columns(
    draw: st.DrawFn, builder: SchemaBuilder, stored: list[UnresolvedColumn]
) -> None:
    """Append computed columns over the stored ones."""
    named = [quote_identifier(column.name) for column in stored if can_be_named(column)]
    taken = {column.name for column in stored}
    for name in draw(
        st.lists(names().filter(lambda name: name not in taken), max_size=3, unique=True)
    ):
        over = [text.format(one) for text in OVER_ANY for one in named]
        builder.column_by_expression(name, draw(st.sampled_from((*OVER_NONE, *over))))
        builder.with_comment(draw(comments()))


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Any schema that can be resolved, in any mode."""
    stored = draw(stored_columns())
    builder = Schema.new_builder().from_columns(stored)
    if can_have_expressions(stored):
        draw(computed_columns(builder, stored))
        draw(watermarks(builder, stored))
    draw(keys(builder, stored))
    return builder.build()


def can_have_expressions(columns: list[UnresolvedColumn]) -> bool:
    """Return whether SQL supports the types of all columns, as expressions require."""
    try:
        ColumnScope({column.name: type_of(column) for column in columns})
    except SchemaError:
        return False
    return True


@st.composite
def watermarks(draw: st.DrawFn, builder: SchemaBuilder, stored: list[UnresolvedColumn]) -> None:
    """Append a watermark, or none."""
    times = [column for column in stored if can_be_named(column) and is_time(column)]
    if times and chance(draw):
        name = draw(st.sampled_from(times)).name
        expression = draw(st.sampled_from(WATERMARKS))
        builder.watermark(name, expression.format(quote_identifier(name)))


def is_time(column: UnresolvedColumn) -> bool:
    """Return whether the column can have a watermark."""
    type_ = type_of(column)
    return isinstance(type_, TimestampType | LocalZonedTimestampType) and type_.precision <= 3


def type_of(column: UnresolvedColumn) -> DataType:
    """The type of a stored column."""
    assert isinstance(column, UnresolvedPhysicalColumn | UnresolvedMetadataColumn)  # noqa: S101
    return DataTypes.unresolved(column.data_type).resolve()


@st.composite
def keys(draw: st.DrawFn, builder: SchemaBuilder, stored: list[UnresolvedColumn]) -> None:
    """Append a primary key with or without immutable columns, and an index."""
    physical = [one for one in stored if isinstance(one, UnresolvedPhysicalColumn)]
    certain = [one.name for one in physical if not type_of(one).is_nullable]
    if certain and chance(draw):
        builder.primary_key_named(draw(names()), *draw(some(certain)))
        if chance(draw):
            builder.immutable_columns(*draw(some([one.name for one in physical])))
    if stored and chance(draw):
        builder.index(*draw(some([one.name for one in stored])))


def some(values: list[str]) -> st.SearchStrategy[list[str]]:
    """Some of the values, in any order."""
    return st.lists(st.sampled_from(values), min_size=1, unique=True)


# --- catalog objects --------------------------------------------------------------------------


def options() -> st.SearchStrategy[dict[str, str]]:
    """Any options, some with keys that a property map reserves."""
    reserved = st.sampled_from(("schema.0.name", "comment", "is_generic", "schema-registry.url"))
    strings = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
    return st.dictionaries(strings | strings | reserved, strings, max_size=4)


def table_comments() -> st.SearchStrategy[str | None]:
    """Any comment of a table, rarely an empty one."""
    return st.none() | comments()


@st.composite
def distributions(draw: st.DrawFn, names_: list[str]) -> TableDistribution | None:
    """Any distribution over these columns, or none."""
    if chance(draw):
        return None
    bucket_keys = draw(some(names_)) if names_ and chance(draw) else []
    count = draw(st.none() | st.integers(1, 2**31 - 1))
    return TableDistribution.of(draw(st.sampled_from(DistributionKind)), count, bucket_keys)


def physical_names(schema: Schema) -> list[str]:
    """The names of the physical columns."""
    return [one.name for one in schema.columns if isinstance(one, UnresolvedPhysicalColumn)]


@st.composite
def tables(draw: st.DrawFn) -> CatalogTable:
    """Any table that can be resolved."""
    schema = draw(schemas())
    physical = physical_names(schema)
    return CatalogTable(
        schema,
        tuple(draw(some(physical))) if physical and chance(draw) else (),
        options=draw(options()),
        comment=draw(table_comments()),
        distribution=draw(distributions(physical)),
        snapshot=draw(st.none() | st.integers(-(2**63), 2**63 - 1)),
    )


@st.composite
def materialized_tables(draw: st.DrawFn) -> CatalogMaterializedTable:
    """Any materialized table that can be resolved, with a freshness for continuous refresh."""
    table, text = draw(tables()), st.text(max_size=10)
    fresh = st.builds(Freshness, st.integers(1, 29), st.sampled_from([FreshnessUnit.MINUTE]))
    return CatalogMaterializedTable(
        table.schema,
        draw(text),
        draw(text),
        logical_refresh_mode=LogicalRefreshMode.AUTOMATIC,
        refresh_status=draw(st.sampled_from(RefreshStatus)),
        freshness=draw(st.none() | fresh),
        refresh_handler_description=draw(st.none() | text),
        refresh_handler=draw(st.none() | st.binary(max_size=8)),
        options=table.options,
        comment=table.comment,
        snapshot=table.snapshot,
        partition_keys=table.partition_keys,
        distribution=table.distribution,
    )


@st.composite
def models(draw: st.DrawFn) -> CatalogModel:
    """Any model that can be resolved; most have only columns."""
    columns = schemas().map(lambda schema: Schema(schema.columns))
    sides = st.one_of(columns, columns, columns, schemas())
    return CatalogModel(
        draw(sides), draw(sides), options=draw(options()), comment=draw(table_comments())
    )
