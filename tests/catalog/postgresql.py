"""A separate catalog on the shared PostgreSQL server for each directory."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from fuzz.postgres_server import Server
from schema_core.catalogs.sql.catalog import SqlCatalog


def postgres_catalog(server: Server, directory: Path) -> SqlCatalog:
    """Return a catalog whose tables are in a schema named after the directory."""
    import psycopg

    schema = "s" + sha256(str(directory).encode()).hexdigest()[:20]
    address = server.url.replace("+psycopg", "")
    with psycopg.connect(address, user=server.username, password=server.password) as connection:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}".encode())
    return SqlCatalog(
        "mine",
        f"{server.url}?options=-csearch_path%3D{schema}",
        username=server.username,
        password=server.password,
    )
