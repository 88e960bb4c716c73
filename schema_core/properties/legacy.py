"""Property maps of older versions of Flink (since 1.9), rewritten with today's keys.

`FEATURES` lists the versions that write each key, from the recorded maps of every minor version
(``fuzz/oracle/older``). `modernize` applies a step for each change of the format and reports what
an old map does not contain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from schema_core import types
from schema_core.base.json_codec import write_json
from schema_core.base.lazy import NamedTuple, dataclass, regex
from schema_core.base.text import quote_identifier
from schema_core.errors import Diagnostic, SchemaError, at
from schema_core.properties.key_syntax import IS_GENERIC, Properties, malformed_key
from schema_core.properties.limits import FLINK
from schema_core.properties.parts import has_parts, join_parts
from schema_core.properties.sidecar import (
    OPTIONS,
    is_read_by_older_flink,
    read_string_map,
    sidecar_key,
)
from schema_core.types.legacy import Information, current_type, read_information

#: The minor versions, in order.
VERSIONS = (
    "1.9", "1.10", "1.11", "1.12", "1.13", "1.14", "1.15", "1.16", "1.17", "1.18", "1.19", "1.20",
    "2.0", "2.1", "2.2", "2.3",
)  # fmt: skip
OLDEST, NEWEST = VERSIONS[0], VERSIONS[-1]


@dataclass(frozen=True, slots=True)
class Feature:
    """A part of the format: a pattern of its keys, and the first and last version that write it."""

    what: str
    keys: str
    first: str = OLDEST
    last: str = NEWEST


FEATURES = (
    #       what                    keys                                          first, last
    Feature("type informations",    r"schema\.\d+\.type",                         last="1.9"),
    Feature("times of descriptors", r"schema\.\d+\.(from|proctime|rowtime\..*)",  last="1.20"),
    Feature("types as SQL",         r"schema\.\d+\.data-type",                    "1.10"),
    Feature("computed columns",     r"schema\.\d+\.expr",                         "1.10"),
    Feature("watermarks",           r"schema\.watermark\.\d+\..*",                "1.10"),
    Feature("Hive's old prefix",    r"generic\.table\.schema\.\d+\..*",           "1.10", "1.10"),
    Feature("primary keys",         r"schema\.primary-key\.(name|columns)",       "1.11"),
    Feature("partition keys",       r"partition\.keys\.\d+\.name",                "1.11"),
    Feature("metadata columns",     r"schema\.\d+\.(metadata|virtual)",           "1.12"),
    Feature("comments of columns",  r"schema\.\d+\.comment",                      "1.18"),
    Feature("materialized tables",  r"logical-refresh-mode",                      "1.20"),
    Feature("one stored query",     r"definition-query",                          "1.20", "2.2"),
    Feature("models",               r"(input|output)-schema\.\d+\.name",          "2.0"),
    Feature("indexes",              r"schema\.index\.\d+\.(name|columns)",        "2.1"),
    Feature("distribution",         r"distribution\.kind",                        "2.2"),
    Feature("two stored queries",   r"(original|expanded)-query",                 "2.3"),
    Feature("immutable columns",    r"schema\.immutable\.(name|columns)",         "2.3"),
)  # fmt: skip


class Versions(NamedTuple):
    """The first and the last version that may have written a map, and its features."""

    first: str
    last: str
    features: tuple[Feature, ...]

    @property
    def contradict(self) -> bool:
        """Whether no single version writes all of the keys."""
        return VERSIONS.index(self.first) > VERSIONS.index(self.last)

    def __str__(self) -> str:
        if self.contradict:
            return f"a mix of keys of Flink {self.last} and {self.first}"
        return f"Flink {self.first}" + (f" to {self.last}" if self.first != self.last else "")


def versions_of(keys: Iterable[str]) -> Versions:
    """The versions that may have written a map with these keys.

    >>> print(versions_of(["schema.0.name", "schema.0.data-type", "schema.0.comment"]))
    Flink 1.18 to 2.3
    """
    text = "\n".join(key for key in keys if "\n" not in key)
    features = [row for row in FEATURES if re.search(rf"(?m)^(?:{row.keys})$", text)]
    first = max((VERSIONS.index(feature.first) for feature in features), default=0)
    last = min((VERSIONS.index(feature.last) for feature in features), default=len(VERSIONS) - 1)
    return Versions(VERSIONS[first], VERSIONS[last], tuple(features))


#: The sub-keys of a column under ``schema.<i>.``.
ColumnKeys: TypeAlias = Properties

ROWTIME = "rowtime."
TIMESTAMP = "TIMESTAMP(3)"

#: Prefix of the type of a source field -> the expression of its event time; other types are assumed
#: to be timestamps.
EVENT_TIMES: tuple[tuple[str, str], ...] = (
    ("BIGINT",      "TO_TIMESTAMP_LTZ({0}, 3)"),
    ("VARCHAR",     "TO_TIMESTAMP({0})"),
    ("STRING",      "TO_TIMESTAMP({0})"),
    ("TIMESTAMP(3", "{0}"),
    ("TIMESTAMP",   "CAST({0} AS TIMESTAMP(3))"),
)  # fmt: skip


class TimeColumns:
    """Converts the columns of legacy descriptors, and collects watermarks and notes."""

    def __init__(self, rows: Mapping[int, ColumnKeys]) -> None:
        self.rows = rows
        self.plain: dict[str, str] = {
            row["name"]: row.get("data-type", "")
            for row in rows.values()
            if "name" in row and self.source_of(row) in (None, row["name"])
        }
        self.added: set[str] = set()
        self.watermarks: list[tuple[str, str]] = []
        self.notes: list[Diagnostic] = []

    def source_of(self, row: ColumnKeys) -> str | None:
        """The source field of a column's values, if it is named."""
        if "proctime" in row:
            return ""
        return row.get("from", row.get("rowtime.timestamps.from"))

    def converted(self) -> list[ColumnKeys]:
        return [new for number, row in self.rows.items() for new in self.convert(number, row)]

    def convert(self, number: int, row: ColumnKeys) -> Iterator[ColumnKeys]:
        """Yield the converted column, possibly after a column for its source field."""
        key = f"schema.{number}"
        if row.get("proctime") == "true":
            yield {"name": row["name"], "expr": "PROCTIME()"}
        elif any(cell.startswith(ROWTIME) for cell in row):
            self.watermark(key, row)
            yield from TIMESTAMPS.get(row.get("rowtime.timestamps.type", ""), TimeColumns.custom)(
                self, key, row
            )
        elif row.get("from", row["name"]) != row["name"]:
            type_ = row.get("data-type", "")
            yield from self.taken(key, row, row["from"], type_, "{0}")
        else:
            yield {name: value for name, value in row.items() if name not in ("from", "proctime")}

    # --- timestamps -------------------------------------------------------------------------------

    def field(self, key: str, row: ColumnKeys) -> Iterator[ColumnKeys]:
        """A source field is the event time."""
        source = row.get("rowtime.timestamps.from", row["name"])
        if source == row["name"]:
            yield {"name": source, "data-type": TIMESTAMP}
            return
        type_ = self.plain.get(source)
        if type_ is None:
            problem = f"the type of the source field {source!r} is unknown; {TIMESTAMP} is assumed"
            self.notes.append(Diagnostic("value-assumed", problem, path=(key,)))
            type_ = TIMESTAMP
        expression = next((text for begin, text in EVENT_TIMES if type_.startswith(begin)), "{0}")
        yield from self.taken(key, row, source, type_, expression)

    def record(self, key: str, row: ColumnKeys) -> Iterator[ColumnKeys]:
        """The timestamp of the source's records is the event time."""
        problem = (
            "the connector's metadata key for record timestamps is unknown; 'timestamp' is assumed"
        )
        self.notes.append(Diagnostic("not-recorded", problem, path=(key,)))
        column = {"name": row["name"], "data-type": TIMESTAMP}
        yield {**column, "metadata": "timestamp", "virtual": "true"}

    def custom(self, key: str, row: ColumnKeys) -> Iterator[ColumnKeys]:
        """A user-defined class extracts the event time."""
        name = row.get("rowtime.timestamps.class", "a user-defined class")
        problem = (
            f"{name} extracted the event time, which is not supported; a physical column is assumed"
        )
        self.notes.append(Diagnostic("not-recorded", problem, path=(key,)))
        yield {"name": row["name"], "data-type": TIMESTAMP}

    def taken(
        self, key: str, row: ColumnKeys, source: str, type_: str, expression: str
    ) -> Iterator[ColumnKeys]:
        """Yield a column computed from a source field, which becomes a column before it."""
        name = row["name"]
        taken = any(row.get("name") == source for row in self.rows.values())
        if taken and source not in self.plain:
            problem = f"the source field {source!r} is hidden by another column and cannot be used"
            self.notes.append(Diagnostic("value-assumed", problem, path=(key,)))
            yield {"name": name, "data-type": type_}
            return
        if not taken and source not in self.added:
            self.added.add(source)
            problem = (
                f"the source field {source!r} was added as a column; {name!r} is computed from it"
            )
            self.notes.append(Diagnostic("value-assumed", problem, path=(key,)))
            yield {"name": source, "data-type": type_}
        yield {"name": name, "expr": expression.format(quote_identifier(source))}

    # --- watermarks -------------------------------------------------------------------------------

    def watermark(self, key: str, row: ColumnKeys) -> None:
        """Record the watermark of a column, unless a user-defined class produced it."""
        strategy = row.get("rowtime.watermarks.type", "")
        column = quote_identifier(row["name"])
        if strategy == "from-source":
            self.watermarks.append((row["name"], "SOURCE_WATERMARK()"))
        elif strategy == "periodic-ascending":
            self.watermarks.append((row["name"], f"{column} - {interval(1)}"))
        elif strategy == "periodic-bounded" and (delay := delay_of(row)) is not None:
            late = f"{column} - {interval(delay)}" if delay else column
            self.watermarks.append((row["name"], late))
        else:
            name = row.get("rowtime.watermarks.class", strategy or "none")
            problem = f"the watermark strategy {name} is not supported; the column has no watermark"
            self.notes.append(Diagnostic("not-recorded", problem, path=(key,)))


#: ``rowtime.timestamps.type`` -> the method that converts the column.
TIMESTAMPS: dict[str, Callable[[TimeColumns, str, ColumnKeys], Iterator[ColumnKeys]]] = {
    "from-field":  TimeColumns.field,
    "from-source": TimeColumns.record,
    "custom":      TimeColumns.custom,
}  # fmt: skip


def delay_of(row: ColumnKeys) -> int | None:
    """The watermark delay in milliseconds, if an interval can represent it."""
    text = row.get("rowtime.watermarks.delay", "")
    return int(text) if re.fullmatch(r"[0-9]{1,14}", text) else None


def interval(milliseconds: int) -> str:
    """An interval literal of so many milliseconds.

    >>> interval(1), interval(90_061_500)
    ("INTERVAL '0.001' SECOND", "INTERVAL '1 01:01:01.500' DAY TO SECOND")
    """
    seconds, rest = divmod(milliseconds, 1_000)
    fraction = f".{rest:03}" if rest else ""
    if seconds < 100:
        return f"INTERVAL '{seconds}{fraction}' SECOND"
    days, seconds = divmod(seconds, 86_400)
    clock = f"{seconds // 3_600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
    precision = f"({len(str(days))})" if days > 99 else ""
    return f"INTERVAL '{days} {clock}' DAY{precision} TO SECOND"


#: The prefix of columns in the HiveCatalog of Flink 1.10.
GENERIC_PREFIX = "generic.table.schema"

#: The connector of managed tables (1.14 to 1.18), which HiveCatalog omits.
MANAGED = "default"

#: Java classes without a keyword in type information -> the type of their values.
CLASSES: dict[str, types.DataType] = {
    "java.time.LocalDate":     types.DateType(),
    "java.time.LocalTime":     types.TimeType(0),
    "java.time.LocalDateTime": types.TimestampType(3),
    "java.time.Instant":       types.LocalZonedTimestampType(3),
}  # fmt: skip

#: Sub-keys of a column that today's versions do not use.
OLD_COLUMN = regex(r"schema\.[0-9]+\.(?:type|from|proctime|rowtime\..*)")

_NAME = regex(r"(schema|generic\.table\.schema)\.[0-9]+\.(?:name|data-type)")
_COLUMN = regex(r"schema\.([0-9]{1,9})\.(.+)", re.DOTALL)

#: A step: converts a map, and returns notes.
Step: TypeAlias = Callable[[Properties], tuple[Properties, list[Diagnostic]]]


class ModernMap(NamedTuple):
    """A map with today's keys, the encodings removed, its versions, and notes."""

    properties: Properties
    layers: tuple[str, ...]
    versions: Versions
    notes: tuple[Diagnostic, ...]


def modernize(stored: Mapping[str, str]) -> ModernMap:
    """Convert a stored map to today's keys; a map of today is returned unchanged.

    Raises:
        SchemaError: with code `feature-not-supported` for a table of Hive itself, those of
            `parts.unpack`, `invalid-type` for malformed type information.

    >>> modern = modernize({"schema.0.name": "a", "schema.0.type": "VARCHAR"})
    >>> modern.properties, str(modern.versions)
    ({'schema.0.name': 'a', 'schema.0.data-type': 'VARCHAR(2147483647)'}, 'Flink 1.9')
    """
    layers: list[str] = []
    properties = dict(stored)
    if has_hive_prefix(properties):
        properties = strip_hive_prefix(properties)
        layers.append("hive")
    if has_parts(properties):
        properties = join_parts(properties)
        layers.append("parts")
    return modernize_keys(properties)._replace(layers=tuple(layers))


def modernize_keys(properties: Properties) -> ModernMap:
    """Convert a map without store prefix and parts."""
    versions = versions_of(properties)
    notes: list[Diagnostic] = []
    for step in STEPS:
        properties, reported = step(properties)
        notes += reported
    if versions.contradict:
        problem = f"no version writes this map: it is {versions}"
        notes.insert(0, Diagnostic("version-dependent", problem))
    return ModernMap(properties, (), versions, tuple(notes))


# --- Hive -----------------------------------------------------------------------------------------


#: Prefixes of keys that identify a map of Flink without a store prefix.
FLINK_KEY_PREFIXES = (
    "schema.",
    "input-schema.",
    "output-schema.",
    f"{GENERIC_PREFIX}.",
    "logical-refresh-mode",
)


def has_hive_prefix(properties: Mapping[str, str]) -> bool:
    """Whether the properties are those of a metastore, where Flink's keys have a prefix.

    >>> has_hive_prefix({"is_generic": "true"}), has_hive_prefix({"schema.0.name": "a"})
    (True, False)
    """
    if any(key.startswith(FLINK_KEY_PREFIXES) for key in properties):
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


def strip_hive_prefix(properties: Mapping[str, str]) -> Properties:
    """Flink's map from the properties of a metastore; refuses a table that only Hive stores."""
    if is_hive_table(properties):
        raise SchemaError(
            "a table of Hive itself does not have its columns in its properties",
            code="feature-not-supported",
            hint="read its columns from the metastore",
        )
    stripped = {
        key.removeprefix(FLINK): value for key, value in properties.items() if key.startswith(FLINK)
    }
    if stripped.get("connector", "").lower() == MANAGED:
        del stripped["connector"]
    return stripped


# --- steps ----------------------------------------------------------------------------------------


def move_generic_columns(properties: Properties) -> tuple[Properties, list[Diagnostic]]:
    """Move columns to ``schema.`` from the longer prefix of Flink 1.10's HiveCatalog."""
    places = {column[1] for column in map(_NAME.match, properties) if column}
    if places != {GENERIC_PREFIX}:
        return properties, []
    old = f"{GENERIC_PREFIX}."
    return {
        f"schema.{key.removeprefix(old)}" if key.startswith(old) else key: value
        for key, value in properties.items()
    }, []


def convert_types(properties: Properties) -> tuple[Properties, list[Diagnostic]]:
    """Convert types from the type information of 1.9, without lengths and NOT NULL, to SQL."""
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
            problem = f"{value[:60]} has neither length, precision nor NOT NULL; {type_} is assumed"
            notes.append(Diagnostic("value-assumed", problem, path=(key,)))
        else:
            problem = f"column {row[1]} has two types; the SQL type is used"
            notes.append(Diagnostic("version-dependent", problem, path=(key,)))
    return changed, notes


def type_of(information: Information) -> types.DataType:
    """The type of legacy type information; classes without a type remain opaque."""
    type_ = current_type(information)
    if isinstance(type_, types.RawType) and type_.class_name not in CLASSES:
        return types.LegacyType(types.TypeRoot.RAW, str(information))
    return _with_known_classes(type_)


def _with_known_classes(type_: types.DataType) -> types.DataType:
    if isinstance(type_, types.RawType):
        opaque = types.LegacyType(types.TypeRoot.RAW, f"ANY<{type_.class_name}>")
        return CLASSES.get(type_.class_name, opaque)
    return type_.rebuild(tuple(map(_with_known_classes, type_.children())))


def convert_time_columns(properties: Properties) -> tuple[Properties, list[Diagnostic]]:
    """Convert the sub-keys of descriptors, which renamed fields and defined event times."""
    if not any(OLD_COLUMN.fullmatch(key) for key in properties):
        return properties, []
    rows: dict[int, Properties] = {}
    rest: Properties = {}
    for key, value in properties.items():
        if row := _COLUMN.fullmatch(key):
            rows.setdefault(int(row[1]), {})[row[2]] = value
        else:
            rest[key] = value
    for expected, number in enumerate(sorted(rows)):
        if number != expected or "name" not in rows[number]:
            key = f"schema.{expected}.name"
            problem = f"the key {key!r} is missing from the property map"
            raise malformed_key(key, problem)
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


def add_virtual(properties: Properties) -> tuple[Properties, list[Diagnostic]]:
    """Add the ``virtual`` key of metadata columns, which 1.12 could omit."""
    added = {
        f"schema.{row[1]}.virtual": "false"
        for row in map(_COLUMN.fullmatch, properties)
        if row and row[2] == "metadata" and f"schema.{row[1]}.expr" not in properties
    }
    return added | properties, [
        Diagnostic(
            "version-dependent",
            "the column is assumed not to be virtual, as in Flink 1.12",
            path=(key,),
        )
        for key in added
        if key not in properties
    ]


def split_query(properties: Properties) -> tuple[Properties, list[Diagnostic]]:
    """Convert the single query of materialized tables before 2.3 to original and expanded."""
    query = properties.get("definition-query")
    if query is None or "logical-refresh-mode" not in properties:
        return properties, []
    rest = {key: value for key, value in properties.items() if key != "definition-query"}
    problem = "the original query is not stored; the expanded query is used"
    note = Diagnostic("value-assumed", problem, path=("definition-query",))
    return {"original-query": query, "expanded-query": query} | rest, [note]


def preserve_options(properties: Properties) -> tuple[Properties, list[Diagnostic]]:
    """Keep the options that Flink 2.2 and later drop, such as ``schema-registry.url``.

    Every version writes them; those before 2.2 also read them.
    """
    key = sidecar_key(OPTIONS)
    sidecar_options = read_string_map(key, properties[key]) if key in properties else {}
    dropped = {
        option: value
        for option, value in properties.items()
        if is_read_by_older_flink(option) and option not in sidecar_options
    }
    if not dropped:
        return properties, []
    notes = [
        Diagnostic(
            "version-dependent", "Flink 2.2 and later do not read this option", path=(option,)
        )
        for option in dropped
    ]
    return properties | {key: write_json(sidecar_options | dropped, sort_keys=True)}, notes


STEPS: tuple[Step, ...] = (
    move_generic_columns,
    convert_types,
    convert_time_columns,
    add_virtual,
    split_query,
    preserve_options,
)


def unavailable_in(versions: Versions) -> Iterator[Diagnostic]:
    """Yield what maps of these versions do not contain."""
    last = versions.last
    if last in ("1.9", "1.10") or (last in ("1.11", "1.12") and not versions.contradict):
        problem = "maps before Flink 1.13 do not contain the comment of a table"
        yield Diagnostic("not-recorded", problem)
    if last in ("1.9", "1.10"):
        problem = "maps before Flink 1.11 do not contain partition keys and primary keys"
        yield Diagnostic("not-recorded", problem)
