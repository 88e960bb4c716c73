"""Scratch catalogs: migrations are executed in memory, without the catalog that they are for.

CREATE CATALOG of the setup creates an empty catalog in memory, whatever its type; no store is
opened and no rows are read or written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier
from schema_core.base.secrets import mask
from schema_core.catalog.api import Catalog
from schema_core.catalog.managed import ManagedStorage
from schema_core.catalog.objects import CatalogBaseTable, CatalogDatabase
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import secret_keys
from schema_core.environment.plans.dry_run import dry_run_session
from schema_core.environment.table_environment import TableEnvironment
from schema_core.migration.catalog_differences import CatalogContent
from schema_core.migration.files.directory import MigrationDirectory
from schema_core.migration.files.migrator import Migrator
from schema_core.migration.files.variables import FilledScript, keep_variables
from schema_core.sql import statement_syntax as syntax
from schema_core.sql.parser import parse_statements

#: The warehouse of scratch catalogs, which is never created.
WAREHOUSE: Final = "/scratch"


@dataclass(frozen=True, slots=True)
class Scratch:
    """An empty catalog in memory, in which migrations are executed."""

    migrator: Migrator

    @property
    def environment(self) -> TableEnvironment:
        return self.migrator.environment

    @property
    def catalog(self) -> Catalog:
        return self.migrator.catalog

    def select_start(self) -> None:
        """Select the catalog and the database in which migrations begin."""
        self.environment.catalog_manager.registry.current_path = self.migrator.start

    def identify(self, key: tuple[str, str]) -> ObjectIdentifier:
        """Return the full path of the table or view of a database and a name."""
        return ObjectIdentifier.of(self.migrator.start[0] or "", *key)

    def read_object(self, key: tuple[str, str]) -> CatalogBaseTable | CatalogDatabase | None:
        """Return the table or view of a database and a name, or the database if the name is ''."""
        database, name = key
        if name:
            return self.environment.catalog_manager.read_or_stored(self.identify(key))
        exists = self.catalog.database_exists(database)
        return self.catalog.get_database(database) if exists else None


@contextmanager
def open_scratch(
    directory: MigrationDirectory,
    *,
    setup: FilledScript | str | None = None,
    variables: Mapping[str, str] | None = None,
) -> Iterator[Scratch]:
    """Return an empty catalog in memory, which ends with the block.

    Args:
        directory: The migrations.
        setup: The statements that create and select the catalog, in which variables are replaced.
        variables: The values of ``${NAME}`` in the files. Other variables stay as they are.

    Raises:
        SchemaCoreError: of a statement of the setup.
    """
    texts = [migration.text for migration in directory.migrations]
    settings = EnvironmentSettings.in_batch_mode()
    with dry_run_session(settings, checks_connectors=False) as session:
        environment = TableEnvironment(session)
        if isinstance(setup, str):
            setup = FilledScript(setup, setup)
        if setup is not None:
            with setup.locating():
                _execute_setup(environment, setup.text)
        values = keep_variables(texts, variables or {})
        yield Scratch(Migrator(environment, directory, variables=values))


def _execute_setup(environment: TableEnvironment, text: str) -> None:
    for statement in parse_statements(text):
        if isinstance(statement, syntax.CreateCatalog):
            _create_catalog(environment, statement)
        else:
            environment.execute_statement(statement, text)


def _create_catalog(environment: TableEnvironment, statement: syntax.CreateCatalog) -> None:
    """Register a catalog in memory with the default database and the format of another one."""
    name = statement.path.parts[-1]
    if statement.if_not_exists and name in environment.list_catalogs():
        return
    options = {option.key: option.value for option in statement.options}
    catalog = InMemoryCatalog(name, options.get("default-database", "default"))
    if "warehouse" in options:
        catalog.storage = ManagedStorage.of({**options, "warehouse": WAREHOUSE})
    environment.register_catalog(name, catalog)


def mask_secrets(content: CatalogContent) -> CatalogContent:
    """Return the content of a catalog with secrets masked, to compare it with another one.

    The value of a secret is a variable in migrations, which may have no value here.
    """
    objects = {
        path: table.copy(mask(table.get_options(), secret_keys(table.get_options())))
        for path, table in content.objects.items()
    }
    return replace(content, objects=objects)
