"""Rewrites of tables that cannot be altered: a new table, an INSERT with casts, and two renames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from schema_core.catalog.objects import CatalogTable
from schema_core.errors import SchemaCoreError
from schema_core.formats.dialects.api import to_ddl
from schema_core.migration.rules import TypeFinding
from schema_core.migration.targets import StatementWriter, type_of
from schema_core.schema.columns import (
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
)
from schema_core.types import ArrayType, DataType, MapType, MultisetType, RowType


def beside(path: tuple[str, ...], suffix: str) -> tuple[str, ...]:
    """Return the path of another table of the same database.

    >>> beside(("db", "orders"), "new")
    ('db', 'orders__new')
    """
    return (*path[:-1], f"{path[-1]}__{suffix}")


def create_statements(writer: StatementWriter, table: CatalogTable) -> tuple[str, ...]:
    """Return the statements that create the new table; secrets are masked.

    Raises:
        UnsupportedError: as `to_ddl`.
    """
    path, target = beside(writer.path, "new"), writer.target
    if target.engine is None:
        return (to_ddl(table, "flink", path, mask_secrets=True),)
    text = to_ddl(
        CatalogTable(table.schema, comment=table.comment),
        target.engine.name,
        path,
        on_loss="accept",
    )
    if table.partition_keys:
        text += f"\nPARTITIONED BY ({writer.names(table.partition_keys)})"
    statements = [text.replace("\n)", f"\n){target.storage}", 1) if target.storage else text]
    key = table.schema.primary_key
    if key is not None and target.engine.key is None:
        fields = writer.names(key.column_names)
        statements.append(f"ALTER TABLE {writer.named(path)} SET IDENTIFIER FIELDS {fields}")
    return tuple(statements)


def insert_statement(
    writer: StatementWriter,
    old: CatalogTable,
    new: CatalogTable,
    renames: Mapping[str, str],
    risks: list[TypeFinding],
) -> str:
    """Return the INSERT that moves the rows, with one expression for each stored column.

    What cannot be converted is NULL in the new table, and added to `risks`.
    """
    target = writer.named(beside(writer.path, "new"))
    names = writer.names(one.name for one in new.schema.columns if is_stored(one))
    columns = f" ({names})" if writer.target.engine is None else ""
    return f"INSERT INTO {target}{columns}\n{select_query(writer, old, new, renames, risks)}"


def select_query(
    writer: StatementWriter,
    old: CatalogTable,
    new: CatalogTable,
    renames: Mapping[str, str],
    risks: list[TypeFinding],
) -> str:
    """Return the query that converts the rows; `risks` as in `insert_statement`."""
    sources = sources_of(old, new, renames)
    stored = [one for one in new.schema.columns if is_stored(one)]
    used = {source.name for one in stored if (source := sources.get(one.name)) is not None}
    risks += [
        TypeFinding("field-dropped", (one.name,), "the rows have it")
        for one in old.schema.columns
        if is_stored(one) and one.name not in used
    ]
    lines = [
        f"  {_expression(writer, sources.get(one.name), one, risks)} AS {writer.name(one.name)}"
        for one in stored
    ]
    return "SELECT\n" + ",\n".join(lines) + f"\nFROM {writer.table}"


def sources_of(
    old: CatalogTable, new: CatalogTable, renames: Mapping[str, str]
) -> dict[str, UnresolvedColumn]:
    """Return the old columns from which new ones get their values, by the new names."""
    found = {renames.get(one.name, one.name): one for one in reversed(old.schema.columns)}
    found |= {renames[one.name]: one for one in old.schema.columns if one.name in renames}
    return {one.name: found[one.name] for one in new.schema.columns if one.name in found}


def is_stored(column: UnresolvedColumn) -> bool:
    """Return whether rows of a table have values of a column."""
    if isinstance(column, UnresolvedMetadataColumn):
        return not column.virtual
    return not isinstance(column, UnresolvedComputedColumn)


def _expression(
    writer: StatementWriter,
    source: UnresolvedColumn | None,
    column: UnresolvedColumn,
    risks: list[TypeFinding],
) -> str:
    new, path = type_of(column), (column.name,)
    missing = f"CAST(NULL AS {writer.type(new)})"
    if source is None:
        if not new.is_nullable:
            risks.append(TypeFinding("required-field-added", path, "the rows do not have it"))
        return missing
    name = writer.name(source.name)
    if isinstance(source, UnresolvedComputedColumn):
        return f"CAST({name} AS {writer.type(new)})"
    old = type_of(source)
    risks += [one for one in writer.target.rules.findings(old, new, path) if is_risk(one)]
    expression = converted(writer, name, old, new)
    if expression is None:
        risks.append(
            TypeFinding(
                "field-dropped", path, f"{writer.target.title} has no cast from {old} to {new}"
            )
        )
        return missing
    return expression


#: Findings about readers that a conversion of the rows does not have.
HARMLESS = frozenset({"type-promoted", "field-added", "fields-moved"})


def is_risk(finding: TypeFinding) -> bool:
    """Return whether data may be lost or a statement may fail."""
    return finding.kind not in HARMLESS


def converted(writer: StatementWriter, value: str, old: DataType, new: DataType) -> str | None:
    """Return the expression that converts a value, or None without one."""
    if writer.type(old) == writer.type(new):
        return value
    if isinstance(old, RowType) and isinstance(new, RowType):
        if old.field_names() != new.field_names():
            return _row(writer, value, old, new)
    elif _has_other_rows(old, new):
        return _collection(writer, value, old, new)
    try:
        castable = writer.target.has_cast(old, new)
    except SchemaCoreError:
        return None
    return f"CAST({value} AS {writer.type(new)})" if castable else None


def _has_other_rows(old: DataType, new: DataType) -> bool:
    """Return whether types contain rows with other fields, which casts assign by position."""
    rows = [
        [one.field_names() for one in type_.walk() if isinstance(one, RowType)]
        for type_ in (old, new)
    ]
    return rows[0] != rows[1]


def _collection(writer: StatementWriter, value: str, old: DataType, new: DataType) -> str | None:
    """Return a collection whose rows are converted one by one, or None where SQL cannot.

    Flink's SQL has no function of lambdas, and PostgreSQL keeps collections of rows as JSON.
    """
    engine = writer.target.engine
    if engine is None or engine.name != "spark":
        return None
    match old, new:
        case ArrayType(), ArrayType():
            parts = [("transform", "e", old.element_type, new.element_type)]
        case MapType(), MapType():
            parts = [
                ("transform_keys", "(e, f)", old.key_type, new.key_type),
                ("transform_values", "(f, e)", old.value_type, new.value_type),
            ]
        case MultisetType(), MultisetType():
            parts = [("transform_keys", "(e, f)", old.element_type, new.element_type)]
        case _:
            return None
    for function, names, before, after in parts:
        part = converted(writer, "e", before, after)
        if part is None:
            return None
        if part != "e":
            value = f"{function}({value}, {names} -> {part})"
    return value


def _row(writer: StatementWriter, value: str, old: RowType, new: RowType) -> str:
    """Return a row of the new fields, NULL for a NULL row."""
    types = {one.name: one.data_type for one in old}
    fields = []
    for one in new:
        part = None
        if one.name in types:
            inner = f"{value}.{writer.name(one.name)}"
            part = converted(writer, inner, types[one.name], one.data_type)
        fields.append(part or f"CAST(NULL AS {writer.type(one.data_type)})")
    if writer.target.engine is None:
        built = f"ROW({', '.join(fields)})"
    else:
        names = (writer.string(one.name) for one in new)
        pairs = (f"{name}, {part}" for name, part in zip(names, fields, strict=True))
        built = f"named_struct({', '.join(pairs)})"
    type_ = writer.type(new)
    return f"CASE WHEN {value} IS NULL THEN CAST(NULL AS {type_}) ELSE CAST({built} AS {type_}) END"


def rename_statements(
    writer: StatementWriter, old: tuple[str, ...], new: tuple[str, ...]
) -> Iterator[str]:
    """Yield the statement that renames a table; Flink takes the last name of the new path only."""
    there = new[-1:] if writer.target.engine is None else new
    yield f"ALTER TABLE {writer.named(old)} RENAME TO {writer.named(there)}"
