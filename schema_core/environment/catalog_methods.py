"""The methods of an environment that are about catalogs, databases, models and what there is."""

from __future__ import annotations

from types import NoneType

from schema_core.arguments import require_instance, validate_arguments
from schema_core.catalog.api import Catalog
from schema_core.catalog.objects import TableKind
from schema_core.catalog.store import CatalogDescriptor
from schema_core.environment.descriptor import ModelDescriptor
from schema_core.environment.session import Session
from schema_core.paths import ObjectIdentifier, parse_path


class CatalogMethods:
    """What a `TableEnvironment` does with catalogs, databases and models."""

    _session: Session

    def _identifier(self, path: str) -> ObjectIdentifier:
        return self._session.registry.qualify(parse_path(path))

    # --- listings ------------------------------------------------------------------------------

    def _current(self) -> tuple[str, str]:
        return self._session.registry.qualify_database(())

    def list_catalogs(self) -> list[str]:
        """The names of all catalogs, sorted."""
        return self._session.registry.names()

    def list_databases(self) -> list[str]:
        """The databases of the current catalog, sorted."""
        return sorted(self._session.registry.current().list_databases())

    def list_tables(
        self, catalog_name: str | None = None, database_name: str | None = None
    ) -> list[str]:
        """The permanent tables, views and materialized tables of a database, sorted.

        FLIP-64: temporary objects are listed by `list_temporary_tables`.
        """
        catalog, database = self._place(catalog_name, database_name)
        return sorted(self._session.registry.get(catalog).list_tables(database))

    def list_views(self) -> list[str]:
        """The permanent views of the current database, sorted."""
        catalog, database = self._current()
        return sorted(self._session.registry.get(catalog).list_views(database))

    def list_materialized_tables(self) -> list[str]:
        """The materialized tables of the current database, sorted."""
        catalog, database = self._current()
        return sorted(self._session.registry.get(catalog).list_materialized_tables(database))

    def list_temporary_tables(
        self, catalog_name: str | None = None, database_name: str | None = None
    ) -> list[str]:
        """The temporary tables and views of a database, sorted."""
        place = self._place(catalog_name, database_name)
        return self._session.temporary.table_names(*place)

    def list_temporary_views(self) -> list[str]:
        """The temporary views of the current database, sorted."""
        return self._session.temporary.table_names(*self._current(), TableKind.VIEW)

    def list_models(self) -> list[str]:
        """The permanent models of the current database, sorted."""
        return self._session.models.list_models(*self._current())

    def list_temporary_models(self) -> list[str]:
        """The temporary models of the current database, sorted."""
        return self._session.temporary.model_names(*self._current())

    def _place(self, catalog: str | None, database: str | None) -> tuple[str, str]:
        given = [name for name in (catalog, database) if name is not None]
        for name in given:
            require_instance(name, str, "a name of a catalog or database")
        return self._session.registry.qualify_database(tuple(given))

    # --- catalogs and databases ----------------------------------------------------------------

    @validate_arguments(catalog_name=str, catalog_descriptor=CatalogDescriptor)
    def create_catalog(self, catalog_name: str, catalog_descriptor: CatalogDescriptor) -> None:
        """Make a catalog from its options.

        Raises:
            AlreadyExistsError: with code `catalog-exists`.
            SchemaError: with code `unknown-catalog-type` or `invalid-catalog-option`.
        """
        given = catalog_descriptor
        descriptor = CatalogDescriptor.of(catalog_name, given.configuration, given.comment)
        self._session.registry.create(descriptor, ignore_if_exists=False)

    @validate_arguments(catalog_name=str, catalog=Catalog)
    def register_catalog(self, catalog_name: str, catalog: Catalog) -> None:
        """Use a catalog that exists as an object.

        Raises:
            AlreadyExistsError: with code `catalog-exists`.
        """
        self._session.registry.register(catalog_name, catalog)

    @validate_arguments(catalog_name=str)
    def get_catalog(self, catalog_name: str) -> Catalog:
        """The catalog of this name.

        Raises:
            NotFoundError: with code `catalog-not-found`.
        """
        return self._session.registry.get(catalog_name)

    def use_catalog(self, catalog_name: str | None) -> None:
        """Choose the current catalog, and its default database; None for none."""
        require_instance(catalog_name, (str, NoneType), "catalog_name")
        self._session.registry.use_catalog(catalog_name)

    def use_database(self, database_name: str | None) -> None:
        """Choose the current database; None for none."""
        require_instance(database_name, (str, NoneType), "database_name")
        self._session.registry.use_database(database_name)

    def get_current_catalog(self) -> str | None:
        return self._session.registry.current_catalog

    def get_current_database(self) -> str | None:
        return self._session.registry.current_database

    # --- models --------------------------------------------------------------------------------

    @validate_arguments(model_path=str, model_descriptor=ModelDescriptor)
    def create_model(
        self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool = False
    ) -> None:
        """Keep a model in its catalog.

        Raises:
            AlreadyExistsError: with code `model-exists`.
        """
        model = model_descriptor.to_catalog_model()
        self._session.models.create(self._identifier(model_path), model, ignore_if_exists)

    @validate_arguments(model_path=str, model_descriptor=ModelDescriptor)
    def create_temporary_model(
        self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool = False
    ) -> None:
        """Keep a model for this session, at any path.

        Raises:
            AlreadyExistsError: with code `temporary-model-exists`.
        """
        model = model_descriptor.to_catalog_model()
        self._session.models.create_temporary(self._identifier(model_path), model, ignore_if_exists)

    @validate_arguments(model_path=str)
    def drop_model(self, model_path: str, ignore_if_not_exists: bool = True) -> bool:
        """Drop a permanent model; return whether there was one.

        Raises:
            NotFoundError: with code `model-not-found`, unless that is to be ignored.
            SchemaError: with code `hidden-by-temporary` where a temporary model exists at the path
                (FLIP-64).
        """
        identifier = self._identifier(model_path)
        return self._session.models.drop_unless_hidden(identifier, ignore_if_not_exists)

    @validate_arguments(model_path=str)
    def drop_temporary_model(self, model_path: str) -> bool:
        """Drop a temporary model; tells whether there was one."""
        return self._session.models.drop_temporary(self._identifier(model_path), if_exists=True)
