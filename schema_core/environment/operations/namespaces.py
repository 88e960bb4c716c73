"""Catalogs, databases, modules and options: made, chosen and changed."""

from __future__ import annotations

from dataclasses import replace

from schema_core.catalog.api import Capability
from schema_core.catalog.objects import CatalogDatabase
from schema_core.catalog.registry import TYPE
from schema_core.catalog.store import CatalogDescriptor
from schema_core.environment.operations.definitions import options_of
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session, placed
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.sql.definition_syntax import ResetOptions, SetComment, SetOptions
from schema_core.sql.statement_syntax import (
    Alter,
    CreateCatalog,
    CreateDatabase,
    Jar,
    LoadModule,
    ResetOption,
    SetOption,
    UnloadModule,
    UseCatalog,
    UseDatabase,
    UseModules,
)

# --- catalogs ------------------------------------------------------------------------------------


def create_catalog(session: Session, statement: CreateCatalog, text: str) -> TableResult:
    """Make a catalog from its options."""
    name, options = statement.path.parts[-1], options_of(statement.options)
    with placed(statement.path.span):
        descriptor = CatalogDescriptor.of(name, options, statement.comment)
        session.registry.create(descriptor, statement.if_not_exists)
    return OK


def alter_catalog(session: Session, statement: Alter, text: str) -> TableResult:
    """Make a catalog anew from changed options."""
    with placed(statement.path.span):
        session.registry.alter(
            statement.path.parts[-1], lambda old: changed_descriptor(old, statement)
        )
    return OK


def changed_descriptor(old: CatalogDescriptor, statement: Alter) -> CatalogDescriptor:
    """The descriptor after the change.

    Raises:
        SchemaError: with code `missing-options` for RESET of nothing, `unknown-catalog-type` for
            that of the type.
    """
    match statement.change:
        case SetOptions(options):
            return replace(old, configuration={**old.configuration, **options_of(options)})
        case ResetOptions(keys):
            if not keys:
                raise SchemaError("no option is given", code="missing-options")
            if TYPE in keys:
                raise SchemaError("a catalog cannot be without a type", code="unknown-catalog-type")
            kept = {key: v for key, v in old.configuration.items() if key not in keys}
            return replace(old, configuration=kept)
        case SetComment(comment):
            return replace(old, comment=comment)
        case _:
            raise UnsupportedError("a catalog cannot be changed so", code="statement-not-supported")


def use_catalog(session: Session, statement: UseCatalog, text: str) -> TableResult:
    """Choose the current catalog."""
    with placed(statement.path.span):
        session.registry.use_catalog(statement.path.parts[-1])
    return OK


# --- databases -----------------------------------------------------------------------------------


def create_database(session: Session, statement: CreateDatabase, text: str) -> TableResult:
    """Make a database."""
    with placed(statement.path.span):
        catalog, name = session.database(statement.path)
        database = CatalogDatabase.create_instance(options_of(statement.options), statement.comment)
        session.tables.create_database(catalog, name, database, statement.if_not_exists)
    return OK


def alter_database(session: Session, statement: Alter, text: str) -> TableResult:
    """Set properties of a database."""
    with placed(statement.path.span):
        name, database = session.database(statement.path)
        catalog = session.registry.get(name)
        old = catalog.get_database(database)
        if not isinstance(statement.change, SetOptions):
            raise UnsupportedError(
                "a database cannot be changed so", code="statement-not-supported"
            )
        properties = {**old.get_properties(), **options_of(statement.change.options)}
        expected = old if Capability.VERSIONS in catalog.capabilities else None
        catalog.alter_database(
            database, old.copy(properties), ignore_if_not_exists=False, expected=expected
        )
    return OK


def use_database(session: Session, statement: UseDatabase, text: str) -> TableResult:
    """Choose the current database, and its catalog if it is named.

    As in Flink, the catalog is chosen even if it has no such database.
    """
    with placed(statement.path.span):
        catalog, name = session.database(statement.path)
        session.registry.use_catalog(catalog)
        session.registry.use_database(name)
    return OK


# --- modules, options, jars ----------------------------------------------------------------------


def load_module(session: Session, statement: LoadModule, text: str) -> TableResult:
    """Load a module."""
    with placed(statement.span):
        session.functions.modules.load(statement.name)
    return OK


def unload_module(session: Session, statement: UnloadModule, text: str) -> TableResult:
    """Forget a module."""
    with placed(statement.span):
        session.functions.modules.unload(statement.name)
    return OK


def use_modules(session: Session, statement: UseModules, text: str) -> TableResult:
    """Choose modules and their order."""
    with placed(statement.span):
        session.functions.modules.use(statement.names)
    return OK


def set_option(session: Session, statement: SetOption, text: str) -> TableResult:
    """Set an option of the session.

    Raises:
        UnsupportedError: with code `statement-not-supported` for SET alone.
    """
    with placed(statement.span):
        if statement.key is None or statement.value is None:
            raise UnsupportedError(
                "SET alone lists nothing here",
                code="statement-not-supported",
                hint="ask environment.get_config()",
            )
        session.config.set(statement.key, statement.value)
    return OK


def reset_option(session: Session, statement: ResetOption, text: str) -> TableResult:
    """Forget an option of the session.

    Raises:
        UnsupportedError: with code `statement-not-supported` for RESET alone.
    """
    with placed(statement.span):
        if statement.key is None:
            raise UnsupportedError(
                "RESET needs the key of an option", code="statement-not-supported"
            )
        session.config.reset(statement.key)
    return OK


def jar(session: Session, statement: Jar, text: str) -> TableResult:
    """Refused: nothing here runs on a JVM of ours.

    Raises:
        UnsupportedError: always, with code `statement-not-supported`.
    """
    raise UnsupportedError(
        "there are no jars to add or remove", code="statement-not-supported", span=statement.span
    )
