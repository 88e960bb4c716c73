"""What is remembered of catalogs between sessions: their descriptors, not their content."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import RLock

from schema_core.arguments import require_instance
from schema_core.catalog.object_store import exists, missing
from schema_core.errors import SchemaCoreError
from schema_core.secrets import mask


@dataclass(frozen=True, slots=True)
class CatalogDescriptor:
    """How to make a catalog: its name, its options and a comment. Secrets never show.

    >>> CatalogDescriptor.of("hive", {"type": "hive", "password": "hunter2"})
    CatalogDescriptor('hive', {'type': 'hive', 'password': '******'})
    """

    catalog_name: str
    configuration: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None

    @staticmethod
    def of(
        catalog_name: str, configuration: Mapping[str, str], comment: str | None = None
    ) -> CatalogDescriptor:
        """PyFlink's name of the constructor."""
        given = require_instance(configuration, Mapping, "the configuration of a catalog")
        return CatalogDescriptor(catalog_name, dict(given), comment)

    def __repr__(self) -> str:
        shown = [repr(self.catalog_name), repr(mask(self.configuration))]
        if self.comment is not None:
            shown.append(repr(self.comment))
        return f"CatalogDescriptor({', '.join(shown)})"


class CatalogStore(ABC):
    """A place that keeps descriptors of catalogs by name."""

    def open(self) -> None:
        """Make ready; called once before anything else."""
        return

    def close(self) -> None:
        """Give back what `open` took."""
        return

    @abstractmethod
    def store_catalog(self, catalog_name: str, catalog: CatalogDescriptor) -> None:
        """Keep a new descriptor.

        Raises:
            AlreadyExistsError: with code `catalog-exists`.
        """

    @abstractmethod
    def remove_catalog(self, catalog_name: str, ignore_if_not_exists: bool) -> None:
        """Forget a descriptor.

        Raises:
            NotFoundError: with code `catalog-not-found`.
        """

    def alter_catalog(self, catalog_name: str, catalog: CatalogDescriptor) -> None:
        """Keep another descriptor in place of the one that is there, which stays if that fails.

        Raises:
            NotFoundError: with code `catalog-not-found`.
        """
        old = self.get_catalog(catalog_name)
        self.remove_catalog(catalog_name, ignore_if_not_exists=False)
        try:
            self.store_catalog(catalog_name, catalog)
        except SchemaCoreError:
            if old is not None:
                self.store_catalog(catalog_name, old)
            raise

    @abstractmethod
    def get_catalog(self, catalog_name: str) -> CatalogDescriptor | None: ...

    @abstractmethod
    def list_catalogs(self) -> list[str]: ...

    def contains(self, catalog_name: str) -> bool:
        return self.get_catalog(catalog_name) is not None


class InMemoryCatalogStore(CatalogStore):
    """Descriptors in memory: they are lost when the process ends."""

    def __init__(self) -> None:
        self._descriptors: dict[str, CatalogDescriptor] = {}
        self._lock = RLock()

    def store_catalog(self, catalog_name: str, catalog: CatalogDescriptor) -> None:
        with self._lock:
            if catalog_name in self._descriptors:
                raise exists("catalog", catalog_name)
            self._descriptors[catalog_name] = catalog

    def remove_catalog(self, catalog_name: str, ignore_if_not_exists: bool) -> None:
        removed = self._descriptors.pop(catalog_name, None)
        if removed is None and not ignore_if_not_exists:
            raise missing("catalog", catalog_name, self.list_catalogs())

    def get_catalog(self, catalog_name: str) -> CatalogDescriptor | None:
        return self._descriptors.get(catalog_name)

    def list_catalogs(self) -> list[str]:
        return list(self._descriptors)
