"""Names: what a catalog, a store or a file system cannot keep is refused; what is kept is found.

A text is a name up to its first line break; the rest is the content of a catalog store's file.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from fuzz import driver
from schema_core.base.paths import ObjectPath
from schema_core.base.text import quote_identifier, quote_string
from schema_core.catalog.api import Catalog
from schema_core.catalog.objects import CatalogDatabase, ResolvedCatalogTable
from schema_core.catalog.stores.catalog_store import SUFFIX, CatalogDescriptor, FileCatalogStore
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.catalogs.sql.catalog import make_sql_catalog
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.session import Session
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema


@cache
def folder() -> Path:
    """A directory that goes when the process ends."""
    path = tempfile.mkdtemp(prefix="fuzz-names-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


@cache
def catalogs() -> tuple[Catalog, ...]:
    """Catalogs that keep names in different ways."""
    result = (InMemoryCatalog("memory", "home"), make_sql_catalog("sql", {"url": "sqlite://"}))
    for item in result:
        item.open()
    return result


def target(text: str) -> None:
    """Use the name for everything that has one, and the content as a file of a store."""
    name, _, content = text.partition("\n")
    as_file(name, content)
    for catalog in catalogs():
        as_database(catalog, name)
        as_table(catalog, name)
    in_sql(name)


def as_file(name: str, content: str) -> None:
    """A descriptor under this name, and a file with this content."""
    store = FileCatalogStore(folder())
    store.open()
    descriptor = CatalogDescriptor.of(name, {"type": "memory", name: content}, content or None)
    with suppress(SchemaCoreError):
        store.store_catalog(name, descriptor)
        assert name in store.list_catalogs()
        assert store.get_catalog(name) == descriptor
        store.alter_catalog(name, CatalogDescriptor.of(name, {"type": content}))
        store.remove_catalog(name, False)
    with suppress(SchemaCoreError):
        store.get_catalog(name)
    file = folder() / f"written{SUFFIX}"
    file.write_bytes(content.encode("utf-8", "surrogatepass"))
    with suppress(SchemaCoreError):
        store.get_catalog("written")


def as_database(catalog: Catalog, name: str) -> None:
    """A database of this name and this comment."""
    with suppress(SchemaCoreError):
        catalog.create_database(name, CatalogDatabase({name: name}, name), False)
        try:
            assert name in catalog.list_databases()
            assert catalog.get_database(name).comment == name
        finally:
            catalog.drop_database(name, False, True)


def as_table(catalog: Catalog, name: str) -> None:
    """A table of this name, with a column, an option and a comment of this name."""
    with suppress(SchemaCoreError):
        path = ObjectPath(catalog.get_default_database() or "", name)
        schema = Schema.new_builder().column(name, "INT").with_comment(name).build()
        resolved = SchemaResolver().resolve(schema)
        table = ResolvedCatalogTable(
            schema, options={name: name}, comment=name, resolved_schema=resolved
        )
        catalog.create_table(path, table, False)
        try:
            assert name in catalog.list_tables(path.database_name)
            assert catalog.get_table(path).comment == name
        finally:
            catalog.drop_table(path, False)


def in_sql(name: str) -> None:
    """Objects of this name through SQL, and paths of this text through methods."""
    session = Session(EnvironmentSettings.in_batch_mode(), DryRunPlanner())
    environment = TableEnvironment(session)
    with suppress(SchemaCoreError):
        quoted, text = quote_identifier(name), quote_string(name)
        for statement in (
            f"CREATE TABLE {quoted} ({quoted} INT COMMENT {text}) WITH ({text} = {text})",
            f"CREATE VIEW v AS SELECT {quoted} AS x, {text} AS {quoted} FROM {quoted}",
            f"CREATE CATALOG {quoted} WITH ('type' = 'generic_in_memory')",
            f"CREATE DATABASE {quoted}",
            f"USE {quoted}",
            f"CREATE FUNCTION {quoted} AS {text}",
            f"SHOW TABLES LIKE {text}",
            f"DESCRIBE {quoted}",
        ):
            with suppress(SchemaCoreError):
                environment.execute_sql(statement)
    for method in (
        environment.from_path, environment.find_table, environment.describe,
        environment.drop_temporary_table, environment.use_catalog, environment.use_database,
        environment.get_catalog, environment.drop_function, environment.get_create_statement,
    ):  # fmt: skip
        with suppress(SchemaCoreError):
            method(name)


if __name__ == "__main__":
    driver.main("names", target)
