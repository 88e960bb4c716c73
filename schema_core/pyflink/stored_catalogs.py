"""PyFlink's constructors of the catalogs of Hive metastores and of databases."""

from __future__ import annotations

from schema_core import catalogs
from schema_core.base.arguments import validate_arguments
from schema_core.catalogs.hive.catalog import CONF_DIR, HADOOP_CONF_DIR, VERSION, connector_of

__all__ = ["HiveCatalog", "JdbcCatalog"]


class HiveCatalog(catalogs.HiveCatalog):
    """A catalog in a Hive metastore, of the configuration files in directories.

    Args:
        catalog_name: The name of the catalog.
        default_database: The database that is current at first, by default ``default``.
        hive_conf_dir: The directory of ``hive-site.xml``.
        hadoop_conf_dir: The directory of ``core-site.xml`` and ``hdfs-site.xml``.
        hive_version: Without effect: PySpark includes one client of Hive.

    Raises:
        NotFoundError: with code `not-found` for a directory without these files.
    """

    @validate_arguments(catalog_name=str)
    def __init__(
        self,
        catalog_name: str,
        default_database: str | None = None,
        hive_conf_dir: str | None = None,
        hadoop_conf_dir: str | None = None,
        hive_version: str | None = None,
    ) -> None:
        given = {CONF_DIR: hive_conf_dir, HADOOP_CONF_DIR: hadoop_conf_dir, VERSION: hive_version}
        options = {key: value for key, value in given.items() if value is not None}
        super().__init__(catalog_name, connector_of(options), default_database or "default")


class JdbcCatalog(catalogs.JdbcCatalog):
    """The tables of a database server, for reading; see `schema_core.catalogs.JdbcCatalog`."""

    @validate_arguments(catalog_name=str, default_database=str, username=str, pwd=str, base_url=str)
    def __init__(
        self, catalog_name: str, default_database: str, username: str, pwd: str, base_url: str
    ) -> None:
        super().__init__(catalog_name, default_database, username, pwd, base_url)
