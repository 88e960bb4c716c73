"""SHOW and DESCRIBE: names of objects, and the definition of one, as rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, assert_never

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, UnresolvedPath, format_path, join_names
from schema_core.base.secrets import mask_credentials
from schema_core.catalog import objects
from schema_core.catalog.api import Capability
from schema_core.catalog.function_descriptions import FunctionDescription, description_of
from schema_core.catalog.functions import CORE, FoundFunction, FunctionClass, FunctionLocation
from schema_core.catalog.registry import masked_configuration
from schema_core.environment.operations.connections import connection_names, describe_connection
from schema_core.environment.operations.jobs import show_jobs
from schema_core.environment.result import PrintStyle, TableResult, string_result
from schema_core.environment.session import Session, at_span
from schema_core.errors import NotFoundError, SchemaCoreError, SchemaError, UnsupportedError
from schema_core.expressions.typed import Function
from schema_core.mappings.dialects.printer import expression_text, extras_of
from schema_core.schema.columns import UnresolvedColumn, UnresolvedComputedColumn
from schema_core.schema.resolved import AnyColumn, ResolvedSchema
from schema_core.sql.statement_syntax import Describe, ObjectKind, Pattern, Show
from schema_core.sql.syntax import Name
from schema_core.types import DataType, DataTypes, parse_type


def show(session: Session, statement: Show, text: str) -> TableResult:
    """Return the objects of a kind that match the pattern."""
    return SUBJECTS[statement.subject](session, statement)


def like(pattern: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    r"""A LIKE pattern: ``%`` is any text, ``_`` any character, a backslash takes both literally.

    >>> bool(like("p_1").fullmatch("px1")), bool(like("p\\_1").fullmatch("px1"))
    (True, False)
    """
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    meanings = {"%": ".*", "_": "."}
    written = (re.escape(part[-1]) if part[0] == "\\" else meanings.get(part, re.escape(part))
               for part in parts)  # fmt: skip
    return re.compile("".join(written), re.DOTALL | (re.IGNORECASE if ignore_case else 0))


def matches_pattern(pattern: Pattern | None, name: str) -> bool:
    """Return whether a name matches an optional pattern."""
    if pattern is None:
        return True
    matches = like(pattern.text, ignore_case=pattern.ignore_case).fullmatch(name) is not None
    return matches is not pattern.negated


def name_lister(column: str, names: Callable[[Session, Show], Iterable[str]]) -> Lister:
    """Return a lister of one column of names."""

    def lister(session: Session, statement: Show) -> TableResult:
        with at_span(statement.path.span if statement.path else None):
            found = names(session, statement)
        return string_result(
            [column], [(item,) for item in found if matches_pattern(statement.pattern, item)]
        )

    return lister


Lister = Callable[[Session, Show], TableResult]


def _databases(session: Session, statement: Show) -> list[str]:
    if statement.path is None:
        return sorted(session.registry.current().list_databases())
    if len(statement.path.parts) != 1:
        raise SchemaError("the name of a catalog must have one part", code="invalid-path")
    return sorted(session.registry.get(statement.path.parts[0]).list_databases())


def _tables(session: Session, statement: Show) -> list[str]:
    return session.tables.list_tables(*session.database(statement.path))


def _views(session: Session, statement: Show) -> list[str]:
    return session.tables.list_views(*session.database(statement.path))


def _materialized_tables(session: Session, statement: Show) -> list[str]:
    catalog, database = session.database(statement.path)
    return sorted(session.registry.get(catalog).list_materialized_tables(database))


def _models(session: Session, statement: Show) -> list[str]:
    return session.models.list_models(*session.database(statement.path))


def _functions(session: Session, statement: Show) -> list[str]:
    return sorted({*_user_functions(session, statement), *session.functions.list_system()})


def _user_functions(session: Session, statement: Show) -> list[str]:
    return session.functions.list_user_defined(*session.database(statement.path))


def _current_catalog(session: Session, statement: Show) -> TableResult:
    return string_result(["current catalog name"], [(session.registry.current_catalog,)])


def _current_database(session: Session, statement: Show) -> TableResult:
    return string_result(["current database name"], [(session.registry.current_database,)])


def _path(statement: Show) -> Name:
    """Return the table that the statement names (`syntax` for a tree built without one)."""
    if statement.path is None:
        raise SchemaError(f"SHOW {statement.subject} requires a table", code="syntax")
    return statement.path


def _columns(session: Session, statement: Show) -> TableResult:
    schema = session.look_up(_path(statement)).table.resolved_schema
    return described_columns(schema, lambda name: matches_pattern(statement.pattern, name))


def _partitions(session: Session, statement: Show) -> TableResult:
    identifier = session.identifier(_path(statement))
    with at_span(_path(statement).span):
        found = session.tables.find_permanent(identifier)
        if found is None or not isinstance(
            found.table, objects.CatalogTable | objects.CatalogMaterializedTable
        ):
            raise NotFoundError(
                f"there is no table {identifier.as_summary_string()!r}", code="table-not-found"
            ).of(*identifier.to_list())
    values = dict(statement.partition.values) if statement.partition else {}
    wanted = objects.CatalogPartitionSpec(
        {key: value for key, value in values.items() if value is not None}
    )
    catalog = session.registry.get(identifier.catalog_name)
    found_partitions = catalog.list_partitions(identifier.to_object_path(), wanted)
    return string_result(["partition name"], [(str(partition),) for partition in found_partitions])


def _full_modules(session: Session, statement: Show) -> TableResult:
    types = [DataTypes.STRING(), DataTypes.BOOLEAN()]
    schema = ResolvedSchema.physical(["module name", "used"], types)
    return TableResult(schema, session.functions.modules.listed(), style=PrintStyle.LISTING)


def _none(session: Session, statement: Show) -> list[str]:
    return []


def _procedures(session: Session, statement: Show) -> list[str]:
    catalog_name, database = session.database(statement.path)
    catalog = session.registry.get(catalog_name)
    if Capability.PROCEDURES not in catalog.capabilities:
        return []
    return sorted(catalog.list_procedures(database))


#: subject -> what lists it
SUBJECTS: dict[str, Lister] = {
    "CATALOGS":            name_lister("catalog name", lambda session, _: session.registry.names()),
    "CURRENT CATALOG":     _current_catalog,
    "CURRENT DATABASE":    _current_database,
    "DATABASES":           name_lister("database name", _databases),
    "TABLES":              name_lister("table name", _tables),
    "VIEWS":               name_lister("view name", _views),
    "MATERIALIZED TABLES": name_lister("materialized table", _materialized_tables),
    "FUNCTIONS":           name_lister("function name", _functions),
    "USER FUNCTIONS":      name_lister("function name", _user_functions),
    "PROCEDURES":          name_lister("procedure name", _procedures),
    "MODELS":              name_lister("model name", _models),
    "COLUMNS":             _columns,
    "PARTITIONS":          _partitions,
    "MODULES":             name_lister("module name",
                                       lambda session, _: session.functions.modules.used),
    "FULL MODULES":        _full_modules,
    "JARS":                name_lister("jars", _none),
    "JOBS":                show_jobs,
    "CONNECTIONS":         name_lister("connection name", connection_names),
}  # fmt: skip


# --- DESCRIBE ------------------------------------------------------------------------------

#: The columns of a described table, without the comment.
COLUMNS = ("name", "type", "null", "key", "extras", "watermark")


def describe(session: Session, statement: Describe, text: str) -> TableResult:
    """Describe the object at a path."""
    with at_span(statement.path.span):
        match statement.kind:
            case ObjectKind.TABLE | ObjectKind.VIEW | ObjectKind.MATERIALIZED_TABLE:
                return _described_table(session, statement)
            case ObjectKind.CATALOG:
                return _described_catalog(session, statement)
            case ObjectKind.DATABASE:
                return _described_database(session, statement)
            case ObjectKind.FUNCTION:
                return _described_function(session, statement)
            case ObjectKind.MODEL:
                return _described_model(session, statement)
            case ObjectKind.CONNECTION:
                return describe_connection(session, statement)
            case _:
                assert_never(statement.kind)


def _described_table(session: Session, statement: Describe) -> TableResult:
    try:
        return described_columns(session.look_up(statement.path).table.resolved_schema)
    except SchemaCoreError as error:
        stored = session.tables.find_stored(session.identifier(statement.path))
        if stored is None:
            raise
        return _described_as_stored(stored, error)


def _described_as_stored(stored: objects.CatalogBaseTable, error: SchemaCoreError) -> TableResult:
    """Describe a table that no longer resolves, without the types of its functions.

    The type of a computed column is NULL; the extras of each invalid column hold the reason.
    """
    schema = stored.schema
    reasons = {
        place: diagnostic.message for diagnostic in error.diagnostics for place in diagnostic.path
    }
    marks = {
        spec.column_name: expression_text(spec.watermark_expression)
        for spec in schema.watermark_specs
    }
    keys = schema.primary_key.column_names if schema.primary_key else ()
    rows: list[tuple[Any, ...]] = []
    for column in schema.columns:
        type_, nullable = _stored_type(column)
        extras = extras_of(column)
        if reason := reasons.get(f"column {column.name!r}"):
            extras = f"{extras or ''} ({reason})".strip()
        of_key = f"PRI({', '.join(keys)})" if column.name in keys else None
        mark = marks.get(column.name)
        rows.append((column.name, type_, nullable, of_key, extras, mark, column.comment))
    commented = any(column.comment is not None for column in schema.columns)
    return _of_columns(rows if commented else [row[:-1] for row in rows], COLUMNS, commented)


def _stored_type(column: AnyColumn | UnresolvedColumn) -> tuple[str | None, bool | None]:
    """Return the type and nullability of a stored column, as far as known."""
    if isinstance(column, UnresolvedComputedColumn):
        return None, None
    type_ = column.data_type
    if isinstance(type_, str):
        try:
            type_ = parse_type(type_)
        except SchemaCoreError:  # the name of a type that is gone
            return str(type_), None
    if not isinstance(type_, DataType):
        return str(type_), None
    return type_.nullable().as_summary_string(), type_.is_nullable


def described_columns(
    schema: ResolvedSchema, wanted: Callable[[str], bool] = lambda _: True
) -> TableResult:
    """Return a row for each column: name, type, nullability, key, extras, watermark, comment.

    The comment is omitted if no column of the table has one.
    """
    chosen = [column for column in schema.columns if wanted(column.name)]
    rows = [_described_row(schema, column) for column in chosen]
    commented = any(column.comment is not None for column in schema.columns)
    if commented:
        rows = [(*row, column.comment) for row, column in zip(rows, chosen, strict=True)]
    return _of_columns(rows, COLUMNS, commented)


#: The BOOLEAN columns of described objects; the others are strings.
FLAGS = ("null", "is input")


def _of_columns(
    rows: list[tuple[Any, ...]], described: Sequence[str], commented: bool
) -> TableResult:
    names = [*described, *(["comment"] if commented else [])]
    types = [DataTypes.BOOLEAN() if name in FLAGS else DataTypes.STRING() for name in names]
    return TableResult(ResolvedSchema.physical(names, types), rows, style=PrintStyle.LISTING)


def _described_row(schema: ResolvedSchema, column: AnyColumn) -> tuple[Any, ...]:
    key = schema.primary_key
    of_key = f"PRI({', '.join(key.columns)})" if key and column.name in key.columns else None
    watermark = next(
        (
            spec.watermark_expression.as_summary_string()
            for spec in schema.watermark_specs
            if spec.rowtime_attribute == column.name
        ),
        None,
    )
    type_ = column.data_type
    shown = type_.nullable().as_summary_string()
    return (column.name, shown, type_.is_nullable, of_key, column.explain_extras(), watermark)


def _described_catalog(session: Session, statement: Describe) -> TableResult:
    descriptor = session.registry.descriptor(statement.path.parts[-1])
    options = masked_configuration(descriptor)
    rows = [
        ("name", descriptor.catalog_name),
        ("type", options.get("type")),
        ("comment", descriptor.comment),
    ]
    if statement.extended:
        rows += [(f"option:{key}", options[key]) for key in sorted(options) if key != "type"]
    return string_result(["info name", "info value"], rows)


def _described_database(session: Session, statement: Describe) -> TableResult:
    """Raise an error: Flink's grammar has the statement, but no implementation."""
    catalog, name = session.database(statement.path)
    session.registry.get(catalog).get_database(name)
    raise UnsupportedError(
        "DESCRIBE DATABASE is not supported",
        code="feature-not-supported",
        hint="call environment.get_catalog(...).get_database(...)",
    )


def _described_function(session: Session, statement: Describe) -> TableResult:
    path = UnresolvedPath(statement.path.parts)
    described = _built_in_description(session, path)
    if described is not None:
        rows = [("is system function", "true"), ("is temporary", "false")]
        rows += described.rows(path.object_name) if statement.extended else []
        return string_result(["info name", "info value"], rows)
    found = session.functions.get(path)
    temporary = found.place in (FunctionLocation.TEMPORARY, FunctionLocation.TEMPORARY_SYSTEM)
    system = found.place in (FunctionLocation.SYSTEM, FunctionLocation.TEMPORARY_SYSTEM)
    rows = [
        ("is system function", str(system).lower()),
        ("is temporary", str(temporary).lower()),
        *([] if system else _of_class(found)),
    ]
    if statement.extended:
        rows += _of_calls(found, session.functions.rows(found))
    return string_result(["info name", "info value"], rows)


def _built_in_description(session: Session, path: UnresolvedPath) -> FunctionDescription | None:
    """Return the description of a built-in function that no other function hides."""
    found = session.functions.find(path)
    is_built_in = found is None or isinstance(found.definition, tuple)
    if len(path.parts) > 1 or not is_built_in or CORE not in session.functions.modules.used:
        return None
    return description_of(path.object_name)


def _of_class(found: FoundFunction) -> list[tuple[str, str]]:
    match found.definition:
        case objects.CatalogFunction(class_name, language, resources):
            return [
                ("class name", class_name),
                ("function language", language.value),
                ("resource uris", f"[{', '.join(map(_resource, resources))}]"),
            ]
        case FunctionClass() | tuple():
            return []


def _resource(resource: objects.ResourceUri) -> str:
    """Return a resource as Flink prints it, without credentials in its path."""
    uri = mask_credentials(resource.uri)
    return f"ResourceUri{{resourceType={resource.kind}, uri='{uri}'}}"


def _of_calls(found: FoundFunction, rows: tuple[Function, ...]) -> list[tuple[str, str]]:
    """Return the rows that describe how a function is called."""
    deterministic = str(all(row.deterministic for row in rows)).lower()
    name = join_names(found.path)
    signatures = (
        ", ".join(
            f"arg{number} => {parameter.label}" for number, parameter in enumerate(row.parameters)
        )
        for row in rows
    )
    return [
        ("kind", rows[0].kind.name),
        ("requirements", "[]"),
        ("is deterministic", deterministic),
        ("supports constant folding", deterministic),
        ("signature", "\n".join(f"{name}({arguments})" for arguments in signatures)),
    ]


def _described_model(session: Session, statement: Describe) -> TableResult:
    """One row per column, from the stored text of a model that no longer resolves."""
    identifier = session.identifier(statement.path)
    columns: list[tuple[AnyColumn | UnresolvedColumn, bool]]
    try:
        model = session.models.get(identifier)
        columns = [
            *((column, True) for column in model.resolved_input_schema.columns),
            *((column, False) for column in model.resolved_output_schema.columns),
        ]
    except SchemaCoreError:
        stored = session.models.stored(identifier)
        if stored is None:
            raise
        columns = [
            *((column, True) for column in stored.input_schema.columns),
            *((column, False) for column in stored.output_schema.columns),
        ]
    commented = any(column.comment is not None for column, _ in columns)
    rows = []
    for column, is_input in columns:
        type_, nullable = _stored_type(column)
        comment = [column.comment] if commented else []
        rows.append((column.name, type_, nullable, is_input, *comment))
    return _of_columns(rows, ["name", "type", "null", "is input"], commented)


# --- description of a path -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Description:
    """An object at a path; `hides` is the kind of the object that it hides, or None."""

    path: str
    kind: str
    is_temporary: bool
    hides: str | None = None
    schema: ResolvedSchema | None = None

    def __str__(self) -> str:
        temporary = "temporary " if self.is_temporary else ""
        hidden = f", which hides a {self.hides}" if self.hides else ""
        lines = [f"{temporary}{self.kind} {self.path}{hidden}"]
        return "\n".join([*lines, *([str(self.schema)] if self.schema is not None else [])])


def describe_path(session: Session, path: UnresolvedPath) -> Description:
    """Describe the table or view at a path, else a model, type or function (`table-not-found`)."""
    identifier = session.registry.qualify(path)
    hidden = {(item.path, item.by): item.what for item in session.hidden()}
    shown = format_path(identifier)
    if found := session.tables.find(identifier):
        kind = found.kind.value.replace("_", " ").lower()
        schema = found.table.resolved_schema
        return Description(
            shown, kind, found.is_temporary, hidden.get((shown, f"temporary {kind}")), schema
        )
    if session.models.find(identifier):
        temporary = session.models.is_temporary(identifier)
        return Description(shown, "model", temporary, hidden.get((shown, "temporary model")))
    if session.types.find(identifier):
        temporary = identifier in session.temporary.types
        return Description(shown, "type", temporary, hidden.get((shown, "temporary type")))
    if function := _function_at(session, path, hidden):
        return function
    raise _not_found(session, identifier)


def _function_at(
    session: Session, path: UnresolvedPath, hidden: dict[tuple[str, str], str]
) -> Description | None:
    found = session.functions.find(path)
    if found is None:
        return None
    shown = join_names(found.path)
    temporary = found.place.value.startswith("temporary")
    kind = found.place.value.removeprefix("temporary ")
    return Description(shown, kind, temporary, hidden.get((shown, found.place.value)))


def _not_found(session: Session, identifier: ObjectIdentifier) -> NotFoundError:
    try:
        session.tables.get(identifier)
    except NotFoundError as error:
        return error
    return NotFoundError(f"no object at {identifier.as_summary_string()}")
