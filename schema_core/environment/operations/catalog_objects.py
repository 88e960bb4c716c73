"""Statements about catalogs, databases, modules, options, functions and models; DROP."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import assert_never

from schema_core.base.paths import UnresolvedPath
from schema_core.base.secrets import mask
from schema_core.base.text import is_blank
from schema_core.catalog import objects
from schema_core.catalog.own_options import require_no_own_options
from schema_core.catalog.registry import TYPE
from schema_core.catalog.stores.catalog_store import CatalogDescriptor
from schema_core.catalog.stores.optimistic_locking import alter_if_unchanged
from schema_core.environment.operations.connections import drop_connection
from schema_core.environment.operations.dispatch import TABLE_KINDS
from schema_core.environment.options import PYTHON_ARCHIVES, PYTHON_FILES, PYTHON_REQUIREMENTS
from schema_core.environment.result import OK, TableResult, string_result
from schema_core.environment.session import Session, at_span
from schema_core.errors import NotFoundError, SchemaError, UnsupportedError
from schema_core.mappings.dialects.definitions import column_of, options_of
from schema_core.query.relation import result_columns
from schema_core.schema.unresolved import Schema
from schema_core.sql.statement_syntax import (
    Alter,
    AlterFunction,
    Change,
    Column,
    CreateCatalog,
    CreateDatabase,
    CreateFunction,
    CreateModel,
    Drop,
    Jar,
    LoadModule,
    ObjectKind,
    PhysicalColumn,
    RenameTo,
    ResetOption,
    ResetOptions,
    SetComment,
    SetOption,
    SetOptions,
    UnloadModule,
    UseCatalog,
    UseDatabase,
    UseModules,
)

# --- catalogs ------------------------------------------------------------------------------


def create_catalog(session: Session, statement: CreateCatalog, text: str) -> TableResult:
    """Create a catalog from its options."""
    name, options = statement.path.parts[-1], options_of(statement.options)
    with at_span(statement.path.span):
        descriptor = CatalogDescriptor.of(name, options, statement.comment)
        session.registry.create(descriptor, statement.if_not_exists)
    return OK


def alter_catalog(session: Session, statement: Alter, text: str) -> TableResult:
    """Recreate a catalog from changed options."""
    with at_span(statement.path.span):
        session.registry.alter(
            statement.path.parts[-1], lambda old: changed_descriptor(old, statement)
        )
    return OK


def changed_descriptor(old: CatalogDescriptor, statement: Alter) -> CatalogDescriptor:
    """Return the changed descriptor (`invalid-statement` or `factory-not-found`)."""
    match statement.change:
        case SetOptions(options):
            return replace(old, configuration={**old.configuration, **options_of(options)})
        case ResetOptions(keys):
            if not keys:
                raise SchemaError("expected at least one option", code="invalid-statement")
            if TYPE in keys:
                raise SchemaError("the option 'type' cannot be reset", code="factory-not-found")
            remaining = {key: v for key, v in old.configuration.items() if key not in keys}
            return replace(old, configuration=remaining)
        case SetComment(comment):
            return replace(old, comment=comment)
        case _:
            raise UnsupportedError(
                f"ALTER CATALOG does not support {type(statement.change).__name__}",
                code="feature-not-supported",
            )


def use_catalog(session: Session, statement: UseCatalog, text: str) -> TableResult:
    """Set the current catalog."""
    with at_span(statement.path.span):
        session.registry.use_catalog(statement.path.parts[-1])
    return OK


# --- databases -----------------------------------------------------------------------------


def create_database(session: Session, statement: CreateDatabase, text: str) -> TableResult:
    """Create a database."""
    with at_span(statement.path.span):
        catalog, name = session.database(statement.path)
        database = objects.CatalogDatabase.create_instance(
            options_of(statement.options), statement.comment
        )
        session.tables.create_database(catalog, name, database, statement.if_not_exists)
    return OK


def alter_database(session: Session, statement: Alter, text: str) -> TableResult:
    """Set properties of a database."""
    with at_span(statement.path.span):
        name, database = session.database(statement.path)
        catalog = session.registry.get(name)
        old = catalog.get_database(database)
        if not isinstance(statement.change, SetOptions):
            raise UnsupportedError(
                f"ALTER DATABASE does not support {type(statement.change).__name__}",
                code="feature-not-supported",
            )
        properties = {**old.get_properties(), **options_of(statement.change.options)}
        alter = partial(
            catalog.alter_database, database, old.copy(properties), ignore_if_not_exists=False
        )
        alter_if_unchanged(catalog.capabilities, alter, old)
    return OK


def use_database(session: Session, statement: UseDatabase, text: str) -> TableResult:
    """Set the current database, and its catalog if it is named.

    As in Flink, the catalog is set even if it has no such database.
    """
    with at_span(statement.path.span):
        catalog, name = session.database(statement.path)
        session.registry.use_catalog(catalog)
        session.registry.use_database(name)
    return OK


# --- modules, options, jars ----------------------------------------------------------------


def load_module(session: Session, statement: LoadModule, text: str) -> TableResult:
    """Load a module."""
    session.functions.modules.load(statement.name)
    return OK


def unload_module(session: Session, statement: UnloadModule, text: str) -> TableResult:
    """Unload a module."""
    session.functions.modules.unload(statement.name)
    return OK


def use_modules(session: Session, statement: UseModules, text: str) -> TableResult:
    """Set the modules in use and their order."""
    session.functions.modules.use(statement.names)
    return OK


def set_option(session: Session, statement: SetOption, text: str) -> TableResult:
    """Set an option of the session; SET without one lists all, with secrets masked.

    An option that only this library sets is refused (`reserved-option`).
    """
    if statement.key is None or statement.value is None:
        options = mask(session.config.to_map())
        return string_result(["key", "value"], sorted(options.items()))
    require_no_own_options([statement.key])
    _require_not_of_programs(statement.key)
    session.config.set(statement.key, statement.value)
    return OK


def _require_not_of_programs(key: str) -> None:
    """Refuse options by which a script would run code: what workers import and pip installs."""
    methods = {
        PYTHON_FILES.key: "add_python_file",
        PYTHON_ARCHIVES.key: "add_python_archive",
        PYTHON_REQUIREMENTS.key: "set_python_requirements",
    }
    if (method := methods.get(key)) is not None:
        raise SchemaError(
            f"a statement does not set the option {key!r}, which decides what code workers run",
            code="reserved-option",
            hint=f"call {method} of the environment in a program",
        )


def reset_option(session: Session, statement: ResetOption, text: str) -> TableResult:
    """Set an option, or all, back to the settings of the environment."""
    session.config.reset(statement.key)
    for key, value in session.settings.configuration.items():
        if statement.key in (None, key):
            session.config.set(key, value)
    return OK


def jar(session: Session, statement: Jar, text: str) -> TableResult:
    """Raise `feature-not-supported`: a running engine cannot load or remove classes of jars."""
    raise UnsupportedError(
        f"{'REMOVE' if statement.remove else 'ADD'} JAR is not supported",
        code="feature-not-supported",
        span=statement.span,
        hint="omit it for a connector that is built in; start Spark with the option spark.jars for "
        "a JDBC driver or a data source; declare functions in Python",
    )


# --- functions -----------------------------------------------------------------------------


def _function_of(statement: CreateFunction | AlterFunction) -> objects.CatalogFunction:
    """Return the function of a statement (`invalid-function` without a class name).

    The grammar has LANGUAGE SQL, but nothing runs it (`feature-not-supported`).
    """
    if is_blank(statement.class_name):
        raise SchemaError("a function requires the name of a class", code="invalid-function")
    word = statement.language or "JAVA"
    if word not in objects.FunctionLanguage.__members__:
        raise SchemaError(
            f"unsupported function language {word}",
            code="feature-not-supported",
            hint=f"write {' or '.join(objects.FunctionLanguage.__members__)}",
        )
    language = objects.FunctionLanguage[word]
    if isinstance(statement, AlterFunction):
        return objects.CatalogFunction(statement.class_name, language)
    resources = tuple(
        objects.ResourceUri(resource.kind, resource.path) for resource in statement.resources
    )
    options = options_of(statement.options)
    return objects.CatalogFunction(statement.class_name, language, resources, options)


def create_function(session: Session, statement: CreateFunction, text: str) -> TableResult:
    """Create a function; a temporary one only if its class is declared."""
    with at_span(statement.path.span):
        function, if_not_exists = _function_of(statement), statement.if_not_exists
        if statement.system:
            name = statement.path.parts[-1]
            session.functions.create_temporary_system(name, function, if_not_exists)
            return OK
        identifier = session.identifier(statement.path)
        functions = session.functions
        create = functions.create_temporary if statement.temporary else functions.create
        create(identifier, function, if_not_exists)
    return OK


def alter_function(session: Session, statement: AlterFunction, text: str) -> TableResult:
    """Replace the class of a permanent function (`feature-not-supported` if temporary)."""
    with at_span(statement.path.span):
        if statement.temporary or statement.system:
            raise UnsupportedError(
                "a temporary function cannot be altered",
                code="feature-not-supported",
                hint="drop and create it",
            )
        identifier = session.identifier(statement.path)
        session.functions.alter(identifier, _function_of(statement), statement.if_exists)
    return OK


# --- models --------------------------------------------------------------------------------


def create_model(session: Session, statement: CreateModel, text: str) -> TableResult:
    """Create a model from options (`feature-not-supported` for one from a query)."""
    identifier = session.identifier(statement.path)
    if statement.query is not None:
        result_columns(session.query(statement.query, text))
        raise UnsupportedError("CREATE MODEL AS is not supported", code="feature-not-supported")
    if not statement.options:
        raise SchemaError(
            "a model requires options", code="invalid-statement", span=statement.path.span
        )
    model = objects.CatalogModel(
        _side(statement.input, text),
        _side(statement.output, text),
        options=options_of(statement.options),
        comment=statement.comment,
    )
    with at_span(statement.path.span):
        create = session.models.create_temporary if statement.temporary else session.models.create
        create(identifier, model, statement.if_not_exists)
    return OK


def _side(columns: tuple[Column, ...], text: str) -> Schema:
    """Return the input or output columns of a model (`feature-not-supported` unless physical)."""
    for column in columns:
        if not isinstance(column, PhysicalColumn):
            raise SchemaError(
                f"column {column.name!r} of a model is not physical",
                code="feature-not-supported",
                span=column.span,
            )
    return Schema(tuple(column_of(column, text) for column in columns))


def alter_model(session: Session, statement: Alter, text: str) -> TableResult:
    """Rename a permanent model or change its options; temporary models cannot be altered."""
    identifier = session.identifier(statement.path)
    shown = identifier.as_summary_string()
    with at_span(statement.path.span):
        path = identifier.to_object_path()
        catalog = session.registry.find(identifier.catalog_name)
        hidden = session.models.is_temporary(identifier)
        if catalog is None or hidden or not catalog.model_exists(path):
            if statement.if_exists and not hidden:
                return OK
            raise NotFoundError(f"there is no permanent model {shown!r}", code="model-not-found")
        old = catalog.get_model(path)
        if isinstance(statement.change, RenameTo):
            name = UnresolvedPath(statement.change.path.parts).object_name
            catalog.rename_model(path, name, ignore_if_not_exists=False)
        else:
            changed = old.copy(_changed_options(old, statement.change))
            session.models.alter(identifier, changed, expected=old)
    return OK


def _changed_options(model: objects.CatalogModel, change: Change) -> dict[str, str]:
    """Return the changed options of a model (`invalid-statement`, `feature-not-supported`)."""
    match change:
        case SetOptions(options) if options:
            return {**model.options, **options_of(options)}
        case ResetOptions(keys) if keys:
            return {key: value for key, value in model.options.items() if key not in keys}
        case SetOptions() | ResetOptions():
            raise SchemaError("expected at least one option", code="invalid-statement")
        case _:
            raise UnsupportedError(
                f"ALTER MODEL does not support {type(change).__name__}",
                code="feature-not-supported",
            )


# --- DROP ----------------------------------------------------------------------------------


def drop(session: Session, statement: Drop, text: str) -> TableResult:
    """Drop an object."""
    with at_span(statement.path.span):
        match statement.kind:
            case ObjectKind.TABLE | ObjectKind.VIEW | ObjectKind.MATERIALIZED_TABLE:
                identifier, tables = session.identifier(statement.path), session.tables
                drop_table = tables.drop_temporary if statement.temporary else tables.drop
                drop_table(TABLE_KINDS[statement.kind], identifier, statement.if_exists)
            case ObjectKind.CATALOG:
                session.registry.drop(statement.path.parts[-1], statement.if_exists)
            case ObjectKind.DATABASE:
                catalog, name = session.database(statement.path)
                session.tables.drop_database(catalog, name, statement.if_exists, statement.cascade)
            case ObjectKind.FUNCTION:
                _drop_function(session, statement)
            case ObjectKind.MODEL:
                identifier, models = session.identifier(statement.path), session.models
                drop_model = models.drop_temporary if statement.temporary else models.drop
                drop_model(identifier, statement.if_exists)
            case ObjectKind.CONNECTION:
                drop_connection(session, statement)
            case _:
                assert_never(statement.kind)
    return OK


def _drop_function(session: Session, statement: Drop) -> None:
    functions = session.functions
    if statement.system:
        functions.system.drop(statement.path.parts[-1], statement.if_exists)
        return
    drop_function = functions.temporary.drop if statement.temporary else functions.drop
    drop_function(session.identifier(statement.path), statement.if_exists)
