"""Where a session finds and keeps models: temporary ones first, then those of catalogs."""

from __future__ import annotations

from collections.abc import Callable

from schema_core.catalog.api import Capability
from schema_core.catalog.objects import CatalogModel, ResolvedCatalogModel
from schema_core.catalog.registry import CatalogRegistry
from schema_core.catalog.temporary import TemporaryObjects
from schema_core.errors import NotFoundError, SchemaError
from schema_core.paths import ObjectIdentifier


class ModelManager:
    """The models of a session.

    `resolve` gives the resolved twin of a model, `check` raises for one whose stored text would not
    read back as itself. Unlike a table, a permanent model may be dropped while a temporary one
    hides it.
    """

    def __init__(
        self,
        registry: CatalogRegistry,
        temporary: TemporaryObjects,
        resolve: Callable[[CatalogModel], ResolvedCatalogModel],
        check: Callable[[ResolvedCatalogModel], None] = lambda model: None,
    ) -> None:
        self._registry = registry
        self._temporary = temporary
        self._resolve = resolve
        self._check = check

    def find(self, identifier: ObjectIdentifier) -> ResolvedCatalogModel | None:
        """The model at this path, or None."""
        if (temporary := self._temporary.models.find(identifier)) is not None:
            return temporary
        catalog, path = self._registry.find(identifier.catalog_name), identifier.to_object_path()
        if catalog is None or not catalog.model_exists(path):
            return None
        return self._resolve(catalog.get_model(path))

    def stored(self, identifier: ObjectIdentifier) -> CatalogModel | None:
        """Return the permanent model at this path as it is stored, unresolved, or None."""
        catalog, path = self._registry.find(identifier.catalog_name), identifier.to_object_path()
        if catalog is None or not catalog.model_exists(path):
            return None
        return catalog.get_model(path)

    def get(self, identifier: ObjectIdentifier) -> ResolvedCatalogModel:
        """The model at this path.

        Raises:
            NotFoundError: with code `model-not-found`.
        """
        if model := self.find(identifier):
            return model
        raise NotFoundError(
            f"there is no model {identifier.as_summary_string()}", code="model-not-found"
        )

    def is_temporary(self, identifier: ObjectIdentifier) -> bool:
        return identifier in self._temporary.models

    def create(
        self, identifier: ObjectIdentifier, model: CatalogModel, ignore_if_exists: bool
    ) -> None:
        """Keep a model in its catalog.

        Raises:
            AlreadyExistsError: with code `model-exists`.
            SchemaError: with code `not-storable`.
        """
        catalog = self._registry.get(identifier.catalog_name)
        resolved = self._resolve(model)
        self._check(resolved)
        catalog.create_model(identifier.to_object_path(), resolved, ignore_if_exists)

    def alter(
        self, identifier: ObjectIdentifier, model: CatalogModel, expected: CatalogModel
    ) -> None:
        """Put another definition in place of the permanent model that was read.

        Raises:
            ConflictError: if it was changed meanwhile, where the catalog can tell.
            SchemaError: with code `not-storable`.
        """
        catalog = self._registry.get(identifier.catalog_name)
        new, path = self._resolve(model), identifier.to_object_path()
        self._check(new)
        versions = Capability.VERSIONS in catalog.capabilities
        catalog.alter_model(
            path, new, ignore_if_not_exists=False, expected=expected if versions else None
        )

    def create_temporary(
        self, identifier: ObjectIdentifier, model: CatalogModel, ignore_if_exists: bool
    ) -> None:
        """Keep a model for this session, at any path.

        Raises:
            AlreadyExistsError: with code `temporary-model-exists`.
        """
        self._temporary.models.create(identifier, self._resolve(model), ignore_if_exists)

    def drop(self, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Drop a permanent model; tells whether there was one.

        Raises:
            NotFoundError: with code `model-not-found`.
        """
        catalog, path = self._registry.find(identifier.catalog_name), identifier.to_object_path()
        if catalog is None or not catalog.model_exists(path):
            if not if_exists:
                raise NotFoundError(
                    f"there is no model {identifier.as_summary_string()}", code="model-not-found"
                )
            return False
        catalog.drop_model(path, ignore_if_not_exists=if_exists)
        return True

    def drop_unless_hidden(self, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Drop a permanent model as the method does; return whether there was one.

        Raises:
            NotFoundError: with code `model-not-found`.
            SchemaError: with code `hidden-by-temporary` where a temporary model exists at the path,
                also with `if_exists` (FLIP-64).
        """
        if self.is_temporary(identifier):
            raise SchemaError(
                f"a temporary model hides {identifier.as_summary_string()}",
                code="hidden-by-temporary",
                hint="drop the temporary model first",
            )
        return self.drop(identifier, if_exists)

    def drop_temporary(self, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Drop a temporary model; tells whether there was one.

        Raises:
            NotFoundError: with code `temporary-model-not-found`.
        """
        return self._temporary.models.drop(identifier, ignore_if_not_exists=if_exists)

    def list_models(self, catalog: str, database: str) -> list[str]:
        """The permanent models of a database, sorted."""
        return sorted(self._registry.get(catalog).list_models(database))
