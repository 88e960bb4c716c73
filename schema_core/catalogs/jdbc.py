"""`JdbcCatalog`, which Flink has and which is refused here."""

from __future__ import annotations

from typing import NoReturn

from schema_core.errors import UnsupportedError


class JdbcCatalog:
    """Flink's catalog of the tables of a database, by PyFlink's name; it cannot be created.

    It would read the columns of each table from the database. Tables of a database are declared,
    with the connector ``jdbc``; `SqlCatalog` stores these declarations in a database.
    """

    def __init__(
        self, catalog_name: str, default_database: str, username: str, pwd: str, base_url: str
    ) -> NoReturn:
        """Raise an error.

        Raises:
            UnsupportedError: with code `unknown-catalog-type`.
        """
        raise UnsupportedError(
            "catalogs of the tables of a database are not supported",
            code="unknown-catalog-type",
            hint="declare tables with the connector 'jdbc'; SqlCatalog stores their definitions",
        )
