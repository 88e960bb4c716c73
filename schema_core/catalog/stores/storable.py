"""Check, before a definition is stored, that its text reads back as the same definition.

Catalogs store types, expressions and queries as text. Flink parses the text of a resolved column
again and refuses what fails; this check also compares the result. Otherwise a table could be
created that cannot be described.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

from schema_core.base.caching import cached
from schema_core.base.text import show
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogView,
    ResolvedCatalogMaterializedTable,
    ResolvedCatalogModel,
    ResolvedCatalogTable,
)
from schema_core.catalog.resolve import QueryColumns
from schema_core.catalog.temporary import ResolvedTable
from schema_core.errors import SchemaCoreError, SchemaError, UnsupportedError, at
from schema_core.schema import columns as schema_columns
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import (
    Schema,
    UnresolvedComputedColumn,
    UnresolvedPhysicalColumn,
    UnresolvedWatermarkSpec,
)
from schema_core.types import DataType

#: Place, stored text and type of a member.
Member: TypeAlias = tuple[str, str, DataType]

T = TypeVar("T")


def require_storable(
    table: ResolvedTable,
    resolver: SchemaResolver,
    query_columns: QueryColumns,
    old: CatalogBaseTable | None = None,
) -> None:
    """Refuse a definition whose text does not read back as itself (`not-representable`).

    Members without text, such as a function without a name, are not checked: an in-memory catalog
    keeps the object, others refuse it on writing. A query that is the same in `old`, the replaced
    definition, is not resolved again: options of a view can be set while a table it reads is
    missing. `query_columns` resolves a view's query.
    """
    _require_schema(table.resolved_schema, resolver, old.schema.columns if old else ())
    match table:
        case ResolvedCatalogTable():
            return
        case CatalogView() | ResolvedCatalogMaterializedTable():
            if getattr(old, "expanded_query", None) != table.expanded_query:
                _require_query(table, table.resolved_schema, query_columns)


def require_storable_model(model: ResolvedCatalogModel, resolver: SchemaResolver) -> None:
    """Refuse a model whose columns do not read back with the same types (`not-representable`)."""
    with at("input"):
        _require_schema(model.resolved_input_schema, resolver)
    with at("output"):
        _require_schema(model.resolved_output_schema, resolver)


def require_read_back(stored: T, read: Callable[[], T]) -> None:
    """Refuse an object that `read` does not return as it was stored (`not-representable`)."""
    try:
        again = read()
    except SchemaCoreError as error:
        problem = f"its stored form is invalid: {error.problem}"
        raise _not_storable(problem, error.path, hint=None) from error
    if again != stored:
        raise _not_storable(f"it reads back as {show(again)}", (), hint=None)


# --- types and expressions -----------------------------------------------------------------------


@cached()
def _reads_back(text: str) -> bool:
    """Return whether the string of a type is read as a column of this type, without a catalog."""
    column = UnresolvedPhysicalColumn("c", text)
    try:
        (found,) = SchemaResolver().resolve(Schema((column,))).columns
        return found.data_type.as_serializable_string() == text
    except SchemaCoreError:
        return False


def _is_storable(column: schema_columns.AnyColumn) -> bool:
    """Return whether a physical column reads back as it is, whatever the other columns are."""
    if type(column) is not schema_columns.PhysicalColumn:
        return False
    try:
        return _reads_back(column.data_type.as_serializable_string())
    except UnsupportedError:
        return False


def _require_schema(
    schema: ResolvedSchema,
    resolver: SchemaResolver,
    stored: Iterable[schema_columns.UnresolvedColumn] = (),
) -> None:
    """Check the columns and watermarks; most columns are known to be storable.

    Expressions are checked together with all columns, which they may name. A physical column that
    was `stored` before is not checked again.
    """
    unchanged = {*map(id, stored)}
    rest = [
        column
        for column in schema.columns
        if not (type(column) is schema_columns.PhysicalColumn and id(column.written) in unchanged)
        and not _is_storable(column)
    ]
    if not rest and not schema.watermark_specs:
        return
    if not schema.watermark_specs and not any(
        isinstance(token, schema_columns.ComputedColumn) for token in rest
    ):
        schema = ResolvedSchema(rest)
    _require_members(schema, resolver)


def _require_members(schema: ResolvedSchema, resolver: SchemaResolver) -> None:
    try:
        again = resolver.resolve(_as_text(schema))
    except SchemaCoreError as error:
        raise _not_storable(f"the stored schema is invalid: {error.problem}", error.path) from error
    for (place, text, type_), (_, text_again, type_again) in zip(
        _members(schema), _members(again), strict=True
    ):
        if (text, type_) != (text_again, type_again):
            raise _not_storable(
                f"{text!r} of type {type_.as_summary_string()} reads back as {text_again!r} of "
                f"type {type_again.as_summary_string()}",
                (place,),
            )


def _as_text(schema: ResolvedSchema) -> Schema:
    """The columns and watermarks with types and expressions as a catalog stores them."""
    return Schema(
        tuple(
            UnresolvedComputedColumn(column.name, _expression(column.expression))
            if isinstance(column, schema_columns.ComputedColumn)
            else UnresolvedPhysicalColumn(column.name, _type(column.data_type))
            for column in schema.columns
        ),
        tuple(
            UnresolvedWatermarkSpec(spec.rowtime_attribute, _expression(spec.watermark_expression))
            for spec in schema.watermark_specs
        ),
    )


def _expression(
    resolved: schema_columns.ResolvedExpression,
) -> schema_columns.SqlExpression | schema_columns.ResolvedExpression:
    try:
        return schema_columns.SqlExpression(resolved.as_serializable_string())
    except UnsupportedError:
        return resolved


def _type(type_: DataType) -> DataType | str:
    try:
        return schema_columns.plain(type_).as_serializable_string()
    except UnsupportedError:
        return type_


def _members(schema: ResolvedSchema) -> Iterator[Member]:
    for column in schema.columns:
        text = (
            _text(column.expression)
            if isinstance(column, schema_columns.ComputedColumn)
            else column.name
        )
        yield f"column {column.name!r}", text, schema_columns.plain(column.data_type)
    for spec in schema.watermark_specs:
        expression = spec.watermark_expression
        yield (
            f"watermark {spec.rowtime_attribute!r}",
            _text(expression),
            schema_columns.plain(expression.type),
        )


def _text(resolved: schema_columns.ResolvedExpression) -> str:
    written = _expression(resolved)
    return (
        written.text
        if isinstance(written, schema_columns.SqlExpression)
        else resolved.as_summary_string()
    )


# --- queries -------------------------------------------------------------------------------------


def _require_query(
    table: CatalogView | ResolvedCatalogMaterializedTable,
    schema: ResolvedSchema,
    query_columns: QueryColumns,
) -> None:
    """The columns of a view are those of its query; a materialized table may declare more."""
    try:
        found = [schema_columns.plain(type_) for _, type_ in query_columns(table.expanded_query)]
    except SchemaCoreError as error:
        raise _not_storable(f"the stored query is invalid: {error.problem}", error.path) from error
    types = [schema_columns.plain(column.data_type) for column in schema.columns]
    if isinstance(table, CatalogView) and found != types:
        given, expected = (
            ", ".join(data_type.as_summary_string() for data_type in each)
            for each in (found, types)
        )
        raise _not_storable(f"the query reads back with types ({given}), expected ({expected})", ())


def _not_storable(
    problem: str,
    path: tuple[str, ...],
    hint: str | None = "add explicit casts, or simplify the expression",
) -> SchemaError:
    problem = f"the definition cannot be stored: {problem}"
    return SchemaError(problem, code="not-representable", hint=hint, path=path)
