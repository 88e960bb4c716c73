"""The options of tables and catalogs of Delta Lake, by the names of Delta's connector for Flink."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from schema_core.base.lazy import regex
from schema_core.connectors.open_tables.locations import resolve_location
from schema_core.environment.options import (
    ConfigOption,
    boolean,
    choice,
    invalid_value,
    long,
    non_negative,
    positive,
)
from schema_core.errors import SchemaError, UnsupportedError, similar

#: The value of the option ``connector``, and of the option ``type`` of catalogs.
DELTA: Final = "delta"


def _datetime(text: str) -> dt.datetime:
    """Parse a date, or a datetime, of UTC unless it has an offset.

    >>> _datetime("2026-01-31 10:00:00").isoformat(), _datetime("2026-01-31T10:00:00Z").tzname()
    ('2026-01-31T10:00:00+00:00', 'UTC')
    """
    try:
        value = dt.datetime.fromisoformat(f"{text[:-1]}+00:00" if text.endswith("Z") else text)
    except ValueError:
        raise invalid_value("a date or datetime such as '2026-01-31 10:00:00'", text) from None
    return value.replace(tzinfo=dt.UTC) if value.tzinfo is None else value


#: The longest time of a `timedelta`.
_MAX_MILLISECONDS: Final = dt.timedelta.max // dt.timedelta(milliseconds=1)


def _milliseconds(text: str) -> dt.timedelta:
    """Parse a number of milliseconds.

    >>> _milliseconds("1500")
    datetime.timedelta(seconds=1, microseconds=500000)
    """
    value = long(text)
    if not 0 <= value <= _MAX_MILLISECONDS:
        raise invalid_value(f"an integer from 0 to {_MAX_MILLISECONDS}", text)
    return dt.timedelta(milliseconds=value)


PATH = ConfigOption(
    "path",
    str,
    None,
    "the directory or URL of the table",
    required=True,
    fallback_keys=("table-path",),
)
VERSION_AS_OF = ConfigOption("versionAsOf", non_negative, None, "read this version")
TIMESTAMP_AS_OF = ConfigOption(
    "timestampAsOf", _datetime, None, "read the table as of this date or datetime, of UTC"
)
#: The options that choose a version of a table.
VERSION: tuple[ConfigOption[Any], ...] = (VERSION_AS_OF, TIMESTAMP_AS_OF)
MODE = ConfigOption(
    "mode",
    choice("batch", "streaming"),
    "batch",
    "`streaming`: read the rows that are appended later, too; the table is unbounded",
)
STARTING_VERSION = ConfigOption(
    "startingVersion",
    non_negative,
    None,
    "the version with which a stream starts; all rows without it",
)
CHECK_INTERVAL = ConfigOption(
    "updateCheckIntervalMillis",
    _milliseconds,
    dt.timedelta(seconds=5),
    "how often a stream looks for versions, in milliseconds",
)
SKIP_CHANGES = ConfigOption(
    "skipChangeCommits", boolean, False, "a stream skips versions that remove rows"
)
#: The options of streams.
STREAM: tuple[ConfigOption[Any], ...] = (MODE, STARTING_VERSION, CHECK_INTERVAL, SKIP_CHANGES)
PROPERTY = ConfigOption(
    "property",
    str,
    None,
    "`property.key` is the option `key` of the storage, such as `property.aws_region`",
    is_map=True,
)
TABLE_PROPERTY = ConfigOption(
    "delta",
    str,
    None,
    "`delta.key` is a property of a new table, such as `delta.appendOnly`",
    is_map=True,
    defines_table=True,
)

_INTERVAL = regex(r"interval [0-9]{1,9} (?:second|minute|hour|day|week)s?")


def _interval(text: str) -> str:
    """Return the text of an interval of the log.

    >>> _interval("interval 30 days")
    'interval 30 days'
    """
    if _INTERVAL.fullmatch(text) is None:
        raise invalid_value("an interval such as 'interval 30 days'", text)
    return text


#: The properties of tables that statements set. Others have rules for rows, files or versions of
#: the protocol that a commit of this library does not follow.
TABLE_PROPERTIES: tuple[ConfigOption[Any], ...] = (
    ConfigOption("delta.appendOnly", boolean, False, "refuse changes and deletions of rows"),
    ConfigOption("delta.checkpointInterval", positive, 10, "the commits between two checkpoints"),
    ConfigOption(
        "delta.logRetentionDuration", _interval, "interval 30 days", "how long the log is kept"
    ),
    ConfigOption(
        "delta.deletedFileRetentionDuration",
        _interval,
        "interval 1 week",
        "how long VACUUM keeps removed files",
    ),
    ConfigOption("delta.enableExpiredLogCleanup", boolean, True, "delete the expired log"),
)


def require_properties(properties: Mapping[str, str]) -> None:
    """Refuse properties that a statement sets without effect, or against the protocol.

    Raises:
        UnsupportedError: with code `version-not-supported` for a key.
        SchemaError: with code `invalid-option-value`.
    """
    options = {option.key: option for option in TABLE_PROPERTIES}
    for key in properties:
        if TABLE_PROPERTY.has_key(key) and key not in options:
            raise UnsupportedError(
                f"the property {key!r} of tables of Delta is not set",
                code="version-not-supported",
                hint=similar(key, options) or f"set one of {', '.join(options)}",
            )
    for option in options.values():
        option.of(properties)


#: What deltalake decodes in the path of a directory, and Python and Spark do not.
_ENCODED = regex(r"%[0-9a-fA-F]{2}")


def resolve_table_location(text: str, option: str) -> tuple[str, Path | None]:
    """Return a location as `resolve_location`.

    Raises:
        SchemaError: with code `invalid-option-value`, also for a directory with an encoded byte.
    """
    location, directory = resolve_location(text, option)
    if directory is not None and _ENCODED.search(location):
        raise SchemaError(
            f"option {option!r} must be a directory without '%' and two digits, got {text!r}",
            code="invalid-option-value",
            hint="write a blank as it is, or rename the directory",
        )
    return location, directory
