"""Options of tables that affect how stored rows are read: one row for each option.

Sources: "FileSystem", "CSV", "JSON", "Avro" and "Raw" in the documentation of Flink's connectors,
and the options of this library's connector; `tests/mappings/test_stored_options.py` compares keys
and defaults with its declarations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from schema_core.base.secrets import is_secret, mask_value
from schema_core.catalog.partition_texts import NULL_NAME, NULL_NAME_OPTION
from schema_core.mappings.stored_types import FILES, TypeFinding

#: Kind of finding -> option -> its value if it is not set.
_DEFAULTS: Mapping[str, Mapping[str, str | None]] = {
    "format-changed": {"connector": None, "format": None, "key.format": None, "value.format": None},
    "location-changed": {
        "path": None,
        "source.path.regex-pattern": None,
        "scan.timestamp-millis": None,
        "catalog-type": "sql",
        "catalog-name": None,
        "catalog-database": "default",
        "catalog-table": None,
        "uri": None,
        "warehouse": None,
        "snapshot-id": None,
        "as-of-timestamp": None,
        "branch": None,
        "tag": None,
    },
    "syntax-changed": {
        NULL_NAME_OPTION: NULL_NAME,
        "csv.field-delimiter": ",",
        "csv.disable-quote-character": "false",
        "csv.quote-character": '"',
        "csv.escape-character": None,
        "csv.allow-comments": "false",
        "csv.null-literal": None,
        "csv.empty-string-as-null": "false",
        "csv.array-element-delimiter": ";",
        "csv.allow-trailing-comma": "true",
        "csv.trim-spaces": "false",
        "csv.header": "false",
        "json.timestamp-format.standard": "SQL",
        "avro.timestamp_mapping.legacy": "true",
        "raw.charset": "UTF-8",
        "raw.endianness": "big-endian",
    },
    "errors-changed": {
        "csv.ignore-parse-errors": "false",
        "csv.ignore-trailing-unmappable": "false",
        "csv.fail-on-missing-columns": "false",
        "json.ignore-parse-errors": "false",
        "json.fail-on-missing-field": "false",
    },
    "option-without-effect": {
        "format-version": None,
        "partition-by": None,
        "snapshot.num-retained.max": None,
        "source.monitor-interval": None,
        "source.report-statistics": None,
        "auto-compaction": "false",
        "csv.write-bigdecimal-in-scientific-notation": "true",
        "json.decode.json-parser.enabled": "true",
        "json.map-null-key.mode": "FAIL",
        "json.map-null-key.literal": "null",
        "json.encode.decimal-as-plain-number": "false",
        "json.encode.ignore-null-fields": "false",
        "avro.codec": "snappy",
    },
}

#: Option -> the kind of finding for a changed value, and the value if it is not set.
OPTIONS: Final[Mapping[str, tuple[str, str | None]]] = MappingProxyType(
    {
        key: (kind, default)
        for kind, options in _DEFAULTS.items()
        for key, default in options.items()
    }
)
#: Options that begin with one of these affect only writers.
WITHOUT_EFFECT: Final = ("sink.", "compaction.", "partition.time-extractor.")
#: Options that name a format; the options of another format are not compared with its own.
_FORMATS: Final = frozenset(_DEFAULTS["format-changed"]) - {"connector"}
#: Prefixes of the options of a format in messages with a key.
_PARTS: Final = ("key.", "value.")


def option_rule(key: str) -> tuple[str, str | None]:
    """Return the kind of finding for a changed option, and the value if it is not set.

    Passwords and other secrets have no effect on what is read.

    >>> option_rule("value.csv.field-delimiter"), option_rule("sink.parallelism")
    (('syntax-changed', ','), ('option-without-effect', None))
    >>> option_rule("topic")
    ('option-changed', None)
    """
    if key in OPTIONS:
        return OPTIONS[key]
    for part in _PARTS:
        if key.startswith(part):
            return option_rule(key.removeprefix(part))
    if key.startswith(WITHOUT_EFFECT) or is_secret(key):
        return "option-without-effect", None
    return "option-changed", None


def find_changed_options(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[TypeFinding]:
    """Yield the options by which stored rows may be read otherwise, secrets masked.

    A value that is equal to the default is that of an option that is not set. If the format
    changes, the options of both formats are part of that change.

    Args:
        old: The options with which the rows were written.
        new: The options with which they are read.

    >>> old = {"format": "csv", "csv.header": "FALSE"}
    >>> for finding in find_changed_options(old, {"format": "csv", "csv.field-delimiter": ";"}):
    ...     print(*finding, sep=" | ")
    syntax-changed | ('csv.field-delimiter',) | ',' becomes ';'
    """
    replaced = {
        form
        for key in _FORMATS
        if old.get(key) != new.get(key)
        for form in (old.get(key), new.get(key))
    }
    for key in sorted(old.keys() | new.keys()):
        kind, default = option_rule(key)
        before, after = (_effective_value(options.get(key, default)) for options in (old, new))
        if before == after or (replaced and _format_of_option(key) in replaced):
            continue
        shown = [
            "not set" if text is None else repr(mask_value(key, text))
            for text in (options.get(key, default) for options in (old, new))
        ]
        yield TypeFinding(kind, (key,), f"{shown[0]} becomes {shown[1]}")


def _format_of_option(key: str) -> str | None:
    for part in _PARTS:
        key = key.removeprefix(part)
    form = key.partition(".")[0]
    return form if form in FILES else None


def _effective_value(text: str | None) -> str | None:
    """Return a value as options compare it: booleans in any case."""
    folded = (text or "").strip().lower()
    return folded if folded in {"true", "false"} else text
