"""The options of tables and catalogs of Delta Lake, by the names of Delta's connector for Flink."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from schema_core.environment.options import ConfigOption, invalid_value, long

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


PATH = ConfigOption(
    "path",
    str,
    None,
    "the directory or URL of the table",
    required=True,
    fallback_keys=("table-path",),
)
VERSION_AS_OF = ConfigOption("versionAsOf", long, None, "read this version")
TIMESTAMP_AS_OF = ConfigOption(
    "timestampAsOf", _datetime, None, "read the table as of this date or datetime, of UTC"
)
#: The options that choose a version of a table.
VERSION: tuple[ConfigOption[Any], ...] = (VERSION_AS_OF, TIMESTAMP_AS_OF)
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
)
