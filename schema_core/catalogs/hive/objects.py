"""Databases, partitions and functions as Flink's HiveCatalog keeps them in a metastore.

With the tables of `hive_tables` they make up the codec of a `HiveCatalog`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from schema_core.catalog.objects import (
    CatalogDatabase,
    CatalogFunction,
    FunctionLanguage,
    ResourceUri,
)
from schema_core.catalog.partitions import CatalogPartition
from schema_core.catalog.storable import require_read_back
from schema_core.catalogs.hive.metastore import (
    HiveDatabase,
    HiveFunction,
    HivePartition,
    HiveTable,
)
from schema_core.catalogs.hive.storage import LOCATION
from schema_core.catalogs.hive.tables import COMMENT, HiveTables, is_kept, visible
from schema_core.errors import UnsupportedError
from schema_core.formats.properties.keys import Properties
from schema_core.formats.properties.legacy import is_hive_table

#: The property of a database that says where it lies, as Flink calls it.
DATABASE_LOCATION = "hive.database.location-uri"

# What Hive's own schema holds (package.jdo): keys and values of a database's properties, values of
# a partition's, comments and locations, the names of partitions and classes.
DATABASE_KEY, VALUE, PARTITION_NAME = 180, 4_000, 767

#: Language -> what stands before the name of the class; Java's stands alone.
LANGUAGES: dict[FunctionLanguage, str] = {
    FunctionLanguage.PYTHON: "flink:python:",
    FunctionLanguage.SCALA:  "flink:scala:",
    FunctionLanguage.JAVA:   "",
}  # fmt: skip

#: What Flink wrote before a class of Java once.
OLD_JAVA = "flink:"

#: Kinds of files that Hive's functions may need.
RESOURCES = ("JAR", "FILE", "ARCHIVE")

_ESCAPED = re.compile("%([0-9A-Fa-f]{2})")


def unescaped(text: str) -> str:
    """A name or a value within the name of a partition's folder.

    >>> unescaped("x%2Fy")
    'x/y'
    """
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def split_name(partition_name: str) -> dict[str, str]:
    """The values that the name of a partition's folder tells.

    >>> split_name("b=x%2Fy/c=1")
    {'b': 'x/y', 'c': '1'}
    """
    pairs = (one.partition("=") for one in partition_name.split("/"))
    return {unescaped(key): unescaped(value) for key, _, value in pairs}


class HiveObjects(HiveTables):
    """How all that a `HiveCatalog` keeps becomes what a metastore holds, and back."""

    __slots__ = ()

    # --- databases -----------------------------------------------------------------------------

    def encode_database(self, name: str, database: CatalogDatabase) -> HiveDatabase:
        """What a metastore holds of a database.

        Raises:
            UnsupportedError: with code `exceeds-store-limit` or `not-in-hive`.
        """
        properties = database.get_properties()
        location = properties.pop(DATABASE_LOCATION, None)
        if COMMENT in properties:
            problem = f"the property {COMMENT!r} holds the comment of a database of Hive"
            raise UnsupportedError(problem, code="not-in-hive")
        self.check_texts(properties, DATABASE_KEY, VALUE)
        self.check_texts({COMMENT: database.comment or "-"}, DATABASE_KEY, VALUE)
        return HiveDatabase(name, database.comment, location, properties)

    def decode_database(self, stored: HiveDatabase, usual: str) -> CatalogDatabase:
        """The database, with its location where that is not the `usual` one."""
        properties = dict(stored.parameters)
        comment = properties.pop(COMMENT, stored.comment)
        if stored.location not in (None, usual):
            properties[DATABASE_LOCATION] = stored.location or ""
        return CatalogDatabase(properties, comment)

    def alter_database(
        self, stored: HiveDatabase, new: CatalogDatabase, usual: str
    ) -> HiveDatabase:
        """The database with other properties; Hive 2 alters nothing else, so a new comment is one.

        Raises:
            UnsupportedError: with code `not-in-hive` for another location.
        """
        fresh = self.encode_database(stored.name, new)
        if fresh.location not in (None, stored.location):
            raise UnsupportedError("Hive does not move a database", code="not-in-hive")
        parameters = dict(fresh.parameters)
        if (fresh.comment or "") != (stored.comment or ""):
            parameters[COMMENT] = fresh.comment or ""
        return replace(stored, parameters=parameters)

    # --- partitions ----------------------------------------------------------------------------

    def spec_of(self, partition_name: str) -> Mapping[str, str]:
        """The values that the name of a partition's folder tells."""
        return split_name(partition_name)

    def encode_partition(
        self, table: HiveTable, values: tuple[str, ...], partition: CatalogPartition
    ) -> HivePartition:
        """What a metastore holds of a partition; its files are kept as those of its table.

        Raises:
            UnsupportedError: with code `not-in-hive` for a partition of a generic table, or a value
                without a visible character; `exceeds-store-limit` for what is too long.
        """
        if is_hive_table(table.parameters) is False or not table.partition_columns:
            raise UnsupportedError(
                "Hive has partitions of its own tables only",
                code="not-in-hive",
                hint="create the table with 'connector' = 'hive'",
            )
        if not all(value.strip() for value in values):
            problem = "the values of a partition of Hive have a visible character"
            raise UnsupportedError(problem, code="not-in-hive")
        name = "/".join(values)
        if 3 * len(name.encode()) > PARTITION_NAME and len(name) > PARTITION_NAME // 3:
            problem = f"values of {len(name):,} characters make too long a name"
            raise UnsupportedError(problem, code="exceeds-store-limit")
        parameters, location = self._partition_properties(partition)
        storage = replace(table.storage, location=location)
        return HivePartition(table.database, table.name, values, parameters, storage, table.columns)

    def decode_partition(self, table: HiveTable, stored: HivePartition) -> CatalogPartition:
        """The partition, with its location where that is not within its table's, by its values."""
        properties = visible(stored.parameters)
        location = stored.storage.location
        if location is not None and not _is_usual(table, stored, location):
            properties[LOCATION] = location
        return CatalogPartition(properties, stored.parameters.get(COMMENT))

    def alter_partition(
        self, table: HiveTable, stored: HivePartition, new: CatalogPartition
    ) -> HivePartition:
        """The partition with other properties; what Hive keeps there for itself stays."""
        parameters, location = self._partition_properties(new)
        kept = {key: one for key, one in stored.parameters.items() if is_kept(key)}
        storage = replace(stored.storage, location=location or stored.storage.location)
        return replace(stored, parameters=kept | parameters, storage=storage)

    def _partition_properties(self, partition: CatalogPartition) -> tuple[Properties, str | None]:
        properties = partition.get_properties()
        location = properties.pop(LOCATION, None)
        for key in properties:
            if is_kept(key) or key == COMMENT:
                problem = f"the property {key!r} is one that Hive keeps for itself"
                raise UnsupportedError(problem, code="not-in-hive")
        if partition.comment is not None:
            properties[COMMENT] = partition.comment
        self.check_texts(properties, self.store.key, VALUE)
        return properties, location

    # --- functions -----------------------------------------------------------------------------

    def encode_function(self, database: str, name: str, function: CatalogFunction) -> HiveFunction:
        """What a metastore holds of a function.

        Raises:
            UnsupportedError: with code `not-in-hive` for options and unknown kinds of files,
                `exceeds-store-limit` for names that are too long.
            SchemaError: with code `not-storable` for a class whose name Flink reads as a prefix of
                its own.
        """
        if function.options:
            raise UnsupportedError("a function of Hive has no options", code="not-in-hive")
        unknown = [one.kind for one in function.resource_uris if one.kind.upper() not in RESOURCES]
        if unknown:
            raise UnsupportedError(
                f"a function of Hive needs no {unknown[0]!r}",
                code="not-in-hive",
                hint=f"only {', '.join(RESOURCES)}",
            )
        class_name = LANGUAGES[function.language] + function.class_name
        files = tuple((one.kind.upper(), one.uri) for one in function.resource_uris)
        texts = {"class": class_name} | {
            f"file {number}": uri for number, (_, uri) in enumerate(files)
        }
        self.check_texts(texts, DATABASE_KEY, VALUE)
        stored = HiveFunction(database, name, class_name, files)
        given = replace(function, resource_uris=tuple(ResourceUri(*one) for one in files))
        require_read_back(given, lambda: self.decode_function(stored))
        return stored

    def decode_function(self, stored: HiveFunction) -> CatalogFunction:
        """The function; a class without a language before it is one of Java."""
        resources = tuple(ResourceUri(kind, uri) for kind, uri in stored.resources)
        for language, prefix in LANGUAGES.items():
            if prefix and stored.class_name.startswith(prefix):
                return CatalogFunction(stored.class_name.removeprefix(prefix), language, resources)
        class_name = stored.class_name.removeprefix(OLD_JAVA)
        return CatalogFunction(class_name, FunctionLanguage.JAVA, resources)


def _is_usual(table: HiveTable, stored: HivePartition, location: str) -> bool:
    folder, inside, name = location.partition(f"{table.storage.location}/")
    values = tuple(split_name(name).values())
    return not folder and bool(inside) and values == stored.values
