"""`HiveCatalog`: a catalog in a Hive metastore, in the format of Flink's HiveCatalog."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from schema_core.arguments import validate_methods
from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.registry import CatalogFactory
from schema_core.catalog.stored_catalog import StoredCatalog
from schema_core.catalogs.hive.client import URI, URL, SparkMetastore
from schema_core.catalogs.hive.codec import HiveCodec
from schema_core.catalogs.hive.object_store import Connection, HiveObject, HiveStore
from schema_core.errors import ExternalError, NotFoundError, UnsupportedError
from schema_core.formats.properties.limits import store_named
from schema_core.spark.session import JobSession

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@validate_methods(Catalog)
class HiveCatalog(StoredCatalog[HiveObject]):
    """A catalog in a Hive metastore; `connect` is called when it is opened.

    Names consist of ASCII letters, digits and underscores; they are not case-sensitive and are
    listed in lower case. A table without ``'connector' = 'hive'`` is generic: its definition is
    Flink's property map, and it has no partitions in the metastore. Dropping a managed table
    deletes its files.

    Hive can compare and set the definitions of tables and views only: `expected` is refused for
    databases, partitions and functions.
    """

    capabilities = frozenset({Capability.PARTITIONS, Capability.FUNCTIONS, Capability.VERSIONS})

    def __init__(
        self, name: str, connect: Callable[[], Connection], default_database: str = "default"
    ) -> None:
        self.hive = HiveStore(connect)
        super().__init__(name, self.hive, default_database)

    def open(self) -> None:
        """Connect.

        Raises:
            NotFoundError: with code `database-not-found` if the default database does not exist.
        """
        super().open()
        self.get_database(self._default)


# --- the catalog type 'hive' ---------------------------------------------------------------------

# Flink's options of Hive catalogs, and one of ours: the limits of the metastore's database.
DEFAULT_DATABASE, CONF_DIR, HADOOP_CONF_DIR = "default-database", "hive-conf-dir", "hadoop-conf-dir"
VERSION, PROFILE = "hive-version", "store-profile"

#: Option with a directory -> its configuration files.
SITES = {CONF_DIR: ("hive-site.xml",), HADOOP_CONF_DIR: ("core-site.xml", "hdfs-site.xml")}

#: Spark's setting for the catalog of its sessions.
IMPLEMENTATION = "spark.sql.catalogImplementation"

#: The setting with the default location of tables.
WAREHOUSE = "hive.metastore.warehouse.dir"

#: Prefix of the URL of a metastore's database -> name of its limits.
PROFILES = {
    "jdbc:derby:":      "hive-derby",
    "jdbc:postgresql:": "hive-postgres",
    "jdbc:mysql:":      "hive-mysql",
    "jdbc:oracle:":     "hive-oracle",
}  # fmt: skip


def make_hive_catalog(name: str, options: Mapping[str, str]) -> HiveCatalog:
    """Return the catalog of a CREATE CATALOG statement; opening it starts Spark.

    A Spark session that is started here uses Hive's metastore: an embedded Derby in the current
    directory unless ``hive-conf-dir`` names another one. A running session is used as it is. The
    option `hive-version` of Flink has no effect: the client is the one that pyspark includes.

    Raises:
        SchemaError: with code `unknown-store` for an unknown `store-profile`.
        NotFoundError: with code `not-found` for a directory without configuration files.
    """
    settings = settings_of(options)
    profile = options.get(PROFILE)
    if profile is not None:
        store_named(profile)

    def connect() -> Connection:
        return connection(hive_session(settings), profile=profile)

    return HiveCatalog(name, connect, options.get(DEFAULT_DATABASE, "default"))


def connection(
    session: SparkSession,
    settings: Mapping[str, str] | None = None,
    profile: str | None = None,
) -> Connection:
    """Connect to the metastore of a session.

    Args:
        session: The Spark session.
        settings: Settings of Hive that override those of the session.
        profile: The name of the metastore's limits; by default it follows from its URL.

    Raises:
        ExternalError: with code `hive-metastore-failed` if there is no connection.
    """
    metastore = SparkMetastore(session, settings)
    remote = (metastore.setting(URI) or "").strip()
    url = metastore.setting(URL) or ""
    known = (name for start_, name in PROFILES.items() if not remote and url.startswith(start_))
    return Connection(metastore, HiveCodec(store_named(profile or next(known, "hive"))))


def hive_session(settings: Mapping[str, str]) -> SparkSession:
    """Return the Spark session of this process, connected to a metastore with these settings.

    Raises:
        UnsupportedError: with code `hive-not-reachable` if a session is running without Hive or
            with another metastore.
    """
    start = {IMPLEMENTATION: "hive", **{f"spark.hadoop.{key}": settings[key] for key in settings}}
    session = JobSession(settings=start).get()
    if session.conf.get(IMPLEMENTATION, "in-memory") != "hive":
        raise UnsupportedError(
            "the running Spark session does not use Hive",
            code="hive-not-reachable",
            hint=f"start it with {IMPLEMENTATION}=hive, or create the catalog first",
        )
    hadoop = session.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 - as in `client`
    for key in (URI, URL, WAREHOUSE):
        if key in settings and settings[key] != hadoop.get(key):
            raise UnsupportedError(
                f"the running Spark session uses another metastore: {key} is not {settings[key]!r}",
                code="hive-not-reachable",
                hint="use one metastore per process",
            )
    return session


def settings_of(options: Mapping[str, str]) -> dict[str, str]:
    """Return the settings in the configuration files of a catalog's options.

    Raises:
        NotFoundError: with code `not-found` for a directory without configuration files.
        ExternalError: with code `external-failure` for a file that is not a Hadoop configuration.
    """
    found: dict[str, str] = {}
    for option, names in SITES.items():
        if (directory := options.get(option)) is None:
            continue
        files = [Path(directory, name) for name in names]
        existing = [file for file in files if file.is_file()]
        if not existing:
            raise NotFoundError(f"there is no {' or '.join(names)} in {directory}")
        for file in existing:
            found |= read_settings(file)
    return found


def read_settings(file: Path) -> dict[str, str]:
    """Return the settings in a configuration file of Hadoop.

    Raises:
        ExternalError: with code `external-failure` for a file that is not one.
    """
    try:
        root = ET.parse(file).getroot()  # noqa: S314 - a file of the user
    except (OSError, ET.ParseError) as error:
        raise ExternalError(f"{file} cannot be read: {error}") from error
    names = ((one.findtext("name"), one.findtext("value")) for one in root.iter("property"))
    return {name.strip(): value or "" for name, value in names if name}


def hive_support() -> tuple[str, str]:
    """Return the Hive version of the installed pyspark and the path of its client.

    Without Hive, return "none" and the reason.
    """
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        return "none", "pip install 'schema-core[spark]'"
    jars = Path(found.origin).parent / "jars"
    client = next(jars.glob("hive-metastore-*.jar"), None)
    if client is None:
        return "none", f"there is no Hive client in {jars}"
    return client.stem.removeprefix("hive-metastore-"), str(client)


#: The factory of ``CREATE CATALOG h WITH ('type' = 'hive')``.
HIVE = CatalogFactory(
    frozenset({DEFAULT_DATABASE, CONF_DIR, HADOOP_CONF_DIR, VERSION, PROFILE}),
    make_hive_catalog,
    requires=("pyspark",),
)
