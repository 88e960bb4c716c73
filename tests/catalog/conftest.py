"""A PostgreSQL server for the tests of catalogs, where one can be started."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fuzz.postgres_server import Server, server, why_not


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """Return a PostgreSQL server shared by all tests of a worker."""
    if reason := why_not():
        pytest.skip(reason)
    with server() as reached:
        yield reached
