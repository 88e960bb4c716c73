"""Catalogs of the type ``hive``: the metastore of a Hive-enabled Spark.

Where Spark does not run yet it is started with Hive's metastore: an embedded Derby in the current
directory, unless ``hive-conf-dir`` names another one. A Spark that runs is taken as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from schema_core.catalog.registry import CatalogFactory
from schema_core.catalogs.hive.catalog import HiveCatalog
from schema_core.catalogs.hive.metastore import Connection
from schema_core.catalogs.hive.objects import HiveObjects
from schema_core.catalogs.hive.thrift_client import URI, URL, SparkMetastore
from schema_core.errors import ExternalError, NotFoundError, UnsupportedError
from schema_core.formats.properties.limits import store_named
from schema_core.spark.session import JobSession

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Flink's options of a catalog in Hive, and one of ours: how much the metastore's database holds.
DEFAULT_DATABASE, CONF_DIR, HADOOP_CONF_DIR = "default-database", "hive-conf-dir", "hadoop-conf-dir"
VERSION, PROFILE = "hive-version", "store-profile"

#: Files of settings, by the option that names their directory.
SITES = {CONF_DIR: ("hive-site.xml",), HADOOP_CONF_DIR: ("core-site.xml", "hdfs-site.xml")}

#: Spark's setting that says which catalog its sessions have.
IMPLEMENTATION = "spark.sql.catalogImplementation"

#: Where the files of tables lie by themselves.
WAREHOUSE = "hive.metastore.warehouse.dir"

#: Beginning of the address of a metastore's database -> what it holds.
PROFILES = {
    "jdbc:derby:":      "hive-derby",
    "jdbc:postgresql:": "hive-postgres",
    "jdbc:mysql:":      "hive-mysql",
    "jdbc:oracle:":     "hive-oracle",
}  # fmt: skip


def make_hive_catalog(name: str, options: Mapping[str, str]) -> HiveCatalog:
    """The catalog that ``CREATE CATALOG`` makes; Spark is started when it is opened.

    `hive-version` is Flink's, and of no effect: the client is the one that Spark brings along.

    Raises:
        SchemaError: with code `unknown-store` for a `store-profile` that there is not.
        NotFoundError: with code `not-found` for a directory without settings.
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
    """The metastore of a session, and what fits into it; without a `profile` its address tells.

    Raises:
        ExternalError: with code `hive-metastore-failed` where there is no connection.
    """
    metastore = SparkMetastore(session, settings)
    remote = (metastore.setting(URI) or "").strip()
    url = metastore.setting(URL) or ""
    known = (name for start_, name in PROFILES.items() if not remote and url.startswith(start_))
    return Connection(metastore, HiveObjects(store_named(profile or next(known, "hive"))))


def hive_session(settings: Mapping[str, str]) -> SparkSession:
    """The session of this process over a metastore with these settings.

    Raises:
        UnsupportedError: with code `hive-not-reachable` where Spark runs already, without Hive or
            over another metastore.
    """
    start = {IMPLEMENTATION: "hive", **{f"spark.hadoop.{key}": settings[key] for key in settings}}
    session = JobSession(settings=start).get()
    if session.conf.get(IMPLEMENTATION, "in-memory") != "hive":
        raise UnsupportedError(
            "Spark runs already, and without Hive",
            code="hive-not-reachable",
            hint=f"start it with {IMPLEMENTATION}=hive, or create the catalog first",
        )
    hadoop = session.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 - as in hive_metastore
    for key in (URI, URL, WAREHOUSE):
        if key in settings and settings[key] != hadoop.get(key):
            raise UnsupportedError(
                f"Spark runs already over another metastore: {key} is not {settings[key]!r}",
                code="hive-not-reachable",
                hint="one process has one metastore",
            )
    return session


def settings_of(options: Mapping[str, str]) -> dict[str, str]:
    """The settings in the files of the directories that options name.

    Raises:
        NotFoundError: with code `not-found` for a directory without such files.
        ExternalError: with code `external-failure` for a file that is no list of settings.
    """
    found: dict[str, str] = {}
    for option, names in SITES.items():
        if (directory := options.get(option)) is None:
            continue
        files = [Path(directory, name) for name in names]
        there = [file for file in files if file.is_file()]
        if not there:
            raise NotFoundError(f"there is no {' or '.join(names)} in {directory}")
        for file in there:
            found |= read_settings(file)
    return found


def read_settings(file: Path) -> dict[str, str]:
    """The settings of a file of Hadoop's.

    Raises:
        ExternalError: with code `external-failure` for a file that is none.
    """
    try:
        root = ET.parse(file).getroot()  # noqa: S314 - a file of the user's own
    except (OSError, ET.ParseError) as error:
        raise ExternalError(f"{file} cannot be read: {error}") from error
    names = ((one.findtext("name"), one.findtext("value")) for one in root.iter("property"))
    return {name.strip(): value or "" for name, value in names if name}


def hive_support() -> tuple[str, str]:
    """Whether the installed Spark can be one with Hive: its version of Hive, or why not."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        return "none", "pip install 'schema-core[spark]'"
    jars = Path(found.origin).parent / "jars"
    client = next(jars.glob("hive-metastore-*.jar"), None)
    if client is None:
        return "none", f"no classes of Hive in {jars}"
    return client.stem.removeprefix("hive-metastore-"), str(client)


#: What ``CREATE CATALOG h WITH ('type' = 'hive')`` finds.
HIVE = CatalogFactory(
    frozenset({DEFAULT_DATABASE, CONF_DIR, HADOOP_CONF_DIR, VERSION, PROFILE}),
    make_hive_catalog,
    requires=("pyspark",),
)
