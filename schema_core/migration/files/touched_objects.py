"""What the statements of a migration create, alter, drop and write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from schema_core.base.paths import UnresolvedPath
from schema_core.base.text import Span
from schema_core.catalog.api import Catalog
from schema_core.catalog.registry import CatalogRegistry
from schema_core.errors import SchemaError
from schema_core.migration.files.script_steps import ScriptStep
from schema_core.sql import statement_syntax as syntax
from schema_core.sql.statement_syntax import ObjectKind, Statement
from schema_core.sql.syntax import Name

#: The database, and the name or '', of what a script creates, alters or drops -> the statement.
Touched: TypeAlias = dict[tuple[str, str], Span]


class TouchedObjects:
    """Finds what statements name in the current catalog, and refuses what no migration contains."""

    def __init__(self, registry: CatalogRegistry) -> None:
        self._registry = registry

    def find(self, catalog: Catalog, step: ScriptStep) -> Touched:
        """Return the databases, with '', and the objects that a step changes, with a statement.

        Raises:
            SchemaError: with code `invalid-migration-file`.
        """
        return {
            key: statement.span
            for statement in step.statements
            for key in self._find(catalog, statement)
        }

    def _find(self, catalog: Catalog, statement: Statement) -> Iterator[tuple[str, str]]:
        """Yield the database, and the name or '', of what a statement creates, alters or drops."""
        match statement:
            case syntax.UseDatabase(path):
                self._database(path, statement)
            case syntax.CreateDatabase(path) | syntax.Alter(ObjectKind.DATABASE, path):
                yield self._database(path, statement), ""
            case syntax.Drop(ObjectKind.DATABASE, path):
                database = self._database(path, statement)
                yield database, ""
                if statement.cascade and catalog.database_exists(database):
                    yield from ((database, name) for name in catalog.list_tables(database))
            case (
                syntax.CreateTable(path, query=None, temporary=False)
                | syntax.CreateView(path, temporary=False)
                | syntax.CreateMaterializedTable(path)
                | syntax.Drop(
                    ObjectKind.TABLE | ObjectKind.VIEW | ObjectKind.MATERIALIZED_TABLE,
                    path,
                    temporary=False,
                )
                | syntax.Insert(path)
                | syntax.Update(path)
                | syntax.Delete(path)
            ):
                yield self._object(path, statement)
            case syntax.Alter(
                ObjectKind.MATERIALIZED_TABLE,
                _,
                syntax.Refresh() | syntax.Suspend() | syntax.Resume(),
            ):
                raise _not_allowed_error(
                    statement,
                    "a migration changes the definition of a materialized table; refresh, suspend "
                    "and resume it afterwards: schema-core refresh",
                )
            case syntax.Alter(
                ObjectKind.TABLE | ObjectKind.VIEW | ObjectKind.MATERIALIZED_TABLE, path, change
            ):
                yield self._object(path, statement)
                if isinstance(change, syntax.RenameTo):
                    yield self._new_name(path, change, statement)
            case (
                syntax.CreateFunction(path, temporary=False, system=False)
                | syntax.AlterFunction(path, temporary=False, system=False)
                | syntax.CreateModel(path, query=None, temporary=False)
                | syntax.Drop(
                    ObjectKind.FUNCTION | ObjectKind.MODEL, path, temporary=False, system=False
                )
                | syntax.Alter(ObjectKind.MODEL, path)
            ):
                self._object(path, statement)
            case _:
                raise _not_allowed_error(
                    statement,
                    "a migration creates, alters and drops databases, tables, views, materialized "
                    "tables, functions and models, and writes rows with INSERT, UPDATE and DELETE; "
                    "put SET and CREATE CATALOG into setup.sql",
                )

    def _new_name(
        self, path: Name, change: syntax.RenameTo, statement: Statement
    ) -> tuple[str, str]:
        database, name = self._object(change.path, statement)
        if database != self._object(path, statement)[0]:
            raise _not_allowed_error(statement, "a table is renamed within its database")
        return database, name

    def _object(self, path: Name, statement: Statement) -> tuple[str, str]:
        identifier = self._registry.qualify(UnresolvedPath(path.parts))
        self._require_same_catalog(identifier.catalog_name, statement)
        return identifier.database_name, identifier.object_name

    def _database(self, path: Name, statement: Statement) -> str:
        catalog, database = self._registry.qualify_database(path.parts)
        self._require_same_catalog(catalog, statement)
        return database

    def _require_same_catalog(self, name: str, statement: Statement) -> None:
        if name != self._registry.current_catalog:
            raise _not_allowed_error(
                statement, f"the transaction is one of the catalog {self._registry.current_catalog}"
            )


def _not_allowed_error(statement: Statement, hint: str) -> SchemaError:
    return SchemaError(
        "a migration cannot contain this statement",
        code="invalid-migration-file",
        hint=hint,
        span=statement.span,
    )
