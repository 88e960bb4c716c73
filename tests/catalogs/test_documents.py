"""Catalogs over documents: the errors of their stores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from schema_core.catalog import CatalogDatabase
from schema_core.catalogs import DocumentCatalog
from schema_core.catalogs.documents import Documents
from schema_core.errors import AlreadyExistsError, ExternalError


class Memory(dict[str, str]):
    """Documents in a dictionary."""

    def scan(self, prefix: str) -> list[tuple[str, str]]:
        return [(key, document) for key, document in self.items() if key.startswith(prefix)]

    def put(self, key: str, document: str) -> None:
        self[key] = document

    def delete(self, key: str) -> None:
        del self[key]


class Failing(DocumentCatalog):
    """A catalog whose transactions fail at a place: at the start, the commit or the rollback."""

    memory, place = Memory(), ""

    @contextmanager
    def documents(self, writing: bool) -> Iterator[Documents]:
        self.fail("start")
        try:
            yield self.memory
        except BaseException:
            self.fail("rollback")
            raise
        self.fail("commit")

    def fail(self, place: str) -> None:
        if self.place == place:
            raise RuntimeError("no answer of postgresql://u:hunter2@h/db")


@pytest.mark.parametrize("place", ["start", "commit", "rollback"])
def test_errors_of_transactions_have_a_code_and_no_password(place: str) -> None:
    catalog = Failing("c")
    catalog.open()
    name = "default" if place == "rollback" else "other"
    with pytest.raises(AlreadyExistsError):
        catalog.create_database("default", CatalogDatabase(), ignore_if_exists=False)
    catalog.place = place

    with pytest.raises(ExternalError) as caught:
        catalog.create_database(name, CatalogDatabase(), ignore_if_exists=False)

    assert "catalog-store-failed" == caught.value.code
    assert "hunter2" not in str(caught.value)
    assert "no answer of postgresql://u:" in str(caught.value)
