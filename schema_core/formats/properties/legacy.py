"""Maps as any Flink since 1.9 has written them, said with the keys of today.

`modernize` works on keys and values alone, one step for each thing that has changed; what it gives
is read by the one reader of `property_map`. Each step says what it could not know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from schema_core.errors import Diagnostic, SchemaError, at
from schema_core.formats.properties.keys import IS_GENERIC, Properties, damaged
from schema_core.formats.properties.legacy_time import TimeColumns
from schema_core.formats.properties.limits import FLINK
from schema_core.formats.properties.parts import is_cut, joined
from schema_core.formats.properties.sidecar import OPTIONS, own_key, printed, read_texts, stays
from schema_core.formats.properties.versions import Versions, versions_of
from schema_core.types import (
    DataType,
    DateType,
    LegacyType,
    LocalZonedTimestampType,
    RawType,
    TimestampType,
    TimeType,
    TypeRoot,
)
from schema_core.types.legacy import Information, read_information, since

#: Where HiveCatalog of 1.10 kept the columns.
GENERIC = "generic.table.schema"

#: The connector of managed tables (1.14 to 1.18), which HiveCatalog leaves out.
MANAGED = "default"

#: Java classes that had no keyword among the type informations -> the type of their values.
CLASSES: dict[str, DataType] = {
    "java.time.LocalDate":     DateType(),
    "java.time.LocalTime":     TimeType(0),
    "java.time.LocalDateTime": TimestampType(3),
    "java.time.Instant":       LocalZonedTimestampType(3),
}  # fmt: skip

#: Sub-keys of a column that today's maps do not have any more.
OLD_COLUMN = re.compile(r"schema\.[0-9]+\.(?:type|from|proctime|rowtime\..*)")

_NAME = re.compile(r"(schema|generic\.table\.schema)\.[0-9]+\.(?:name|data-type)")
_COLUMN = re.compile(r"schema\.([0-9]{1,9})\.(.+)", re.DOTALL)

#: A step: the map, rewritten, and what is to be said about it.
Step: TypeAlias = Callable[[Properties], tuple[Properties, list[Diagnostic]]]


class Modern(NamedTuple):
    """A map with the keys of today, where it came from, and what could not be known."""

    properties: Properties
    layers: tuple[str, ...]
    versions: Versions
    notes: tuple[Diagnostic, ...]


def modernize(stored: Mapping[str, str]) -> Modern:
    """The map of today that says what a stored one says; one of today comes back as it is.

    Raises:
        SchemaError: with code `hive-table` for a table of Hive itself, those of `parts.unpack`,
            `invalid-legacy-type` for a type information that cannot be read.

    >>> found = modernize({"schema.0.name": "a", "schema.0.type": "VARCHAR"})
    >>> found.properties, str(found.versions)
    ({'schema.0.name': 'a', 'schema.0.data-type': 'VARCHAR(2147483647)'}, 'Flink 1.9')
    """
    layers: list[str] = []
    properties = dict(stored)
    if is_of_hive(properties):
        properties = from_hive(properties)
        layers.append("hive")
    if is_cut(properties):
        properties = joined(properties)
        layers.append("parts")
    return with_keys_of_today(properties)._replace(layers=tuple(layers))


def with_keys_of_today(properties: Properties) -> Modern:
    """The same for a map that nothing has to be taken off."""
    versions = versions_of(properties)
    notes: list[Diagnostic] = []
    for step in STEPS:
        properties, said = step(properties)
        notes += said
    if versions.contradict:
        problem = f"no version writes this map: there are {versions}"
        notes.insert(0, Diagnostic("mixed-versions", problem))
    return Modern(properties, (), versions, tuple(notes))


# --- Hive ----------------------------------------------------------------------------------------


#: Beginnings of keys that show a map of Flink as it is.
BARE = ("schema.", "input-schema.", "output-schema.", f"{GENERIC}.", "logical-refresh-mode")


def is_of_hive(properties: Mapping[str, str]) -> bool:
    """Whether the properties are those of a metastore: the map, if there is one, has a prefix.

    >>> is_of_hive({"is_generic": "true"}), is_of_hive({"schema.0.name": "a", "flink.x": "y"})
    (True, False)
    """
    if any(key.startswith(BARE) for key in properties):
        return False
    return IS_GENERIC in properties or any(key.startswith(FLINK) for key in properties)


def is_hive_table(properties: Mapping[str, str]) -> bool:
    """Whether a table in a metastore is Hive's own, as HiveCatalog decides it.

    >>> is_hive_table({"flink.connector": "kafka"}), is_hive_table({"EXTERNAL": "TRUE"})
    (False, True)
    """
    generic = properties.get(IS_GENERIC)
    if generic is not None:
        return generic.lower() != "true"
    return f"{FLINK}connector" not in properties and f"{FLINK}connector.type" not in properties


def from_hive(properties: Mapping[str, str]) -> Properties:
    """The map of Flink among the properties of a metastore, which has others beside it.

    Raises:
        SchemaError: with code `hive-table` for a table whose columns only Hive knows.
    """
    if is_hive_table(properties):
        raise SchemaError(
            "this is a table of Hive itself: its columns are not among its properties",
            code="hive-table",
            hint="read its columns from the metastore",
        )
    found = {
        key.removeprefix(FLINK): value for key, value in properties.items() if key.startswith(FLINK)
    }
    if found.get("connector", "").lower() == MANAGED:
        del found["connector"]
    return found


# --- steps ---------------------------------------------------------------------------------------


def with_columns_in_place(properties: Properties) -> tuple[Properties, list[Diagnostic]]:
    """The columns under ``schema.``, which HiveCatalog of 1.10 kept under a longer prefix."""
    places = {found[1] for found in map(_NAME.match, properties) if found}
    if places != {GENERIC}:
        return properties, []
    old = f"{GENERIC}."
    return {
        f"schema.{key.removeprefix(old)}" if key.startswith(old) else key: value
        for key, value in properties.items()
    }, []


def with_sql_types(properties: Properties) -> tuple[Properties, list[Diagnostic]]:
    """Types as SQL, which were type informations until 1.9 and knew neither length nor NOT NULL."""
    notes: list[Diagnostic] = []
    changed: Properties = {}
    for key, value in properties.items():
        row = _COLUMN.fullmatch(key)
        if row is None or row[2] != "type":
            changed[key] = value
        elif f"schema.{row[1]}.data-type" not in properties:
            with at(key):
                type_ = type_of(read_information(value))
            changed[f"schema.{row[1]}.data-type"] = type_.as_serializable_string()
            problem = f"{value[:60]} told neither length, precision nor NOT NULL: {type_} assumed"
            notes.append(Diagnostic("type-assumed", problem, path=(key,)))
        else:
            problem = f"both types of column {row[1]} are given: the one in SQL is taken"
            notes.append(Diagnostic("duplicate-type", problem, path=(key,)))
    return changed, notes


def type_of(information: Information) -> DataType:
    """The type of today of a type information; a class that no type stands for stays opaque."""
    type_ = since(information)
    if isinstance(type_, RawType) and type_.class_name not in CLASSES:
        return LegacyType(TypeRoot.RAW, str(information))
    return _with_known_classes(type_)


def _with_known_classes(type_: DataType) -> DataType:
    if isinstance(type_, RawType):
        opaque = LegacyType(TypeRoot.RAW, f"ANY<{type_.class_name}>")
        return CLASSES.get(type_.class_name, opaque)
    return type_.rebuild(tuple(map(_with_known_classes, type_.children())))


def with_time_columns(properties: Properties) -> tuple[Properties, list[Diagnostic]]:
    """Columns without the sub-keys of descriptors, which renamed fields and made time of them."""
    if not any(OLD_COLUMN.fullmatch(key) for key in properties):
        return properties, []
    rows: dict[int, Properties] = {}
    rest: Properties = {}
    for key, value in properties.items():
        if row := _COLUMN.fullmatch(key):
            rows.setdefault(int(row[1]), {})[row[2]] = value
        else:
            rest[key] = value
    _require_no_gap(rows)
    converted = TimeColumns(dict(sorted(rows.items())))
    columns = {
        f"schema.{number}.{key}": value
        for number, row in enumerate(converted.converted())
        for key, value in row.items()
    }
    watermarks = {
        f"schema.watermark.{number}.{key}": value
        for number, watermark in enumerate(converted.watermarks)
        for key, value in zip(("rowtime", "strategy.expr"), watermark, strict=True)
    }
    return rest | columns | watermarks, converted.notes


def _require_no_gap(rows: Mapping[int, Properties]) -> None:
    for expected, number in enumerate(sorted(rows)):
        if number != expected or "name" not in rows[number]:
            key = f"schema.{expected}.name"
            raise damaged(key, f"the key {key!r} is missing from the property map", "missing-key")


def with_virtual(properties: Properties) -> tuple[Properties, list[Diagnostic]]:
    """Metadata columns that say whether they are virtual; 1.12 could leave it away."""
    added = {
        f"schema.{row[1]}.virtual": "false"
        for row in map(_COLUMN.fullmatch, properties)
        if row and row[2] == "metadata" and f"schema.{row[1]}.expr" not in properties
    }
    return added | properties, [
        Diagnostic("virtual-assumed", "not virtual, as Flink 1.12 took it", path=(key,))
        for key in added
        if key not in properties
    ]


def with_two_queries(properties: Properties) -> tuple[Properties, list[Diagnostic]]:
    """A materialized table with its query as written and spelled out, of which 2.2 kept one."""
    query = properties.get("definition-query")
    if query is None or "logical-refresh-mode" not in properties:
        return properties, []
    rest = {key: value for key, value in properties.items() if key != "definition-query"}
    problem = "how the query was written is not known: what it was spelled out to is taken for it"
    note = Diagnostic("query-assumed", problem, path=("definition-query",))
    return {"original-query": query, "expanded-query": query} | rest, [note]


def with_all_options(properties: Properties) -> tuple[Properties, list[Diagnostic]]:
    """The options that Flink 2.2 and later lose when they read, such as ``schema-registry.url``.

    Every version writes them, and those before 2.2 read them too.
    """
    key = own_key(OPTIONS)
    carried = read_texts(key, properties[key]) if key in properties else {}
    kept = {
        option: value
        for option, value in properties.items()
        if stays(option) and option not in carried
    }
    if not kept:
        return properties, []
    notes = [
        Diagnostic("option-kept", "an option that Flink 2.2 and later do not read", path=(option,))
        for option in kept
    ]
    return properties | {key: printed(carried | kept)}, notes


STEPS: tuple[Step, ...] = (
    with_columns_in_place,
    with_sql_types,
    with_time_columns,
    with_virtual,
    with_two_queries,
    with_all_options,
)


def unknown_before(versions: Versions) -> Iterator[Diagnostic]:
    """What no map of these versions holds, so that nobody can know it."""
    last = versions.last
    if last in ("1.9", "1.10") or (last in ("1.11", "1.12") and not versions.contradict):
        problem = "the comment of a table was not in the maps of before 1.13"
        yield Diagnostic("comment-unknown", problem)
    if last in ("1.9", "1.10"):
        problem = "partition keys and primary keys were not in the maps of before 1.11"
        yield Diagnostic("keys-unknown", problem)
