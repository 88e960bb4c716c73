"""Statistics in the parameters of a Hive table or partition.

Numbers of rows and files and sizes are in the parameters of Hive, Spark and Flink: those that any
engine stored last are returned. All statistics, also of columns, are JSON in parameters of this
library, in parts that fit the metastore's database. Column statistics of
``ANALYZE TABLE ... FOR COLUMNS``, which only Hive tables have, are not read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from schema_core.base.json_codec import JsonError, parse_json
from schema_core.catalog.own_options import STATISTICS
from schema_core.catalog.statistics import (
    UNKNOWN_NUMBER,
    CatalogTableStatistics,
    StoredStatistics,
)
from schema_core.errors import ExternalError
from schema_core.properties.key_syntax import Properties
from schema_core.properties.limits import StoreLimits

#: Prefix of the parameters with the JSON; a number follows.
PARTS = STATISTICS

#: Field of `CatalogTableStatistics`, in order -> parameter of Hive (`StatsSetupConst`).
NUMBERS = {
    "row_count": "numRows",
    "field_count": "numFiles",
    "total_size": "totalSize",
    "raw_data_size": "rawDataSize",
}


def statistics_of(parameters: Mapping[str, str]) -> StoredStatistics:
    """Return the statistics in parameters (`corrupt-entry` for malformed JSON).

    Hive notes no rows, files and bytes for a new table, so zeros without a number of rows are
    unknown unless they were stored as statistics.

    >>> statistics_of({"numFiles": "2", "totalSize": "10"}).table.total_size
    10
    >>> statistics_of({"numFiles": "0", "totalSize": "0"}).table.total_size
    -1
    """
    stored = _document(parameters)
    rows, files, size, raw = (_number(parameters.get(key, "")) for key in NUMBERS.values())
    if rows == UNKNOWN_NUMBER and max(files, size, raw) <= 0:
        return stored
    table = CatalogTableStatistics(rows, files, size, raw, stored.table.properties)
    return stored.with_table(table)


def _document(parameters: Mapping[str, str]) -> StoredStatistics:
    count = sum(key.startswith(PARTS) for key in parameters)
    if not count:
        return StoredStatistics()
    try:
        text = "".join(parameters[f"{PARTS}{number}"] for number in range(count))
        return StoredStatistics.of_document(parse_json(text))
    except (LookupError, JsonError, ExternalError) as error:
        raise ExternalError(
            f"the statistics in the parameters {PARTS}* are malformed: {error}",
            code="corrupt-entry",
            hint="store the statistics of the table again",
        ) from error


def _number(text: str) -> int:
    """Return a number of Hive; -1 if it is not a number or exceeds 64 bits."""
    if not text.isascii() or not text.isdecimal() or len(text) > len(str(2**63)):
        return UNKNOWN_NUMBER
    return number if (number := int(text)) < 2**63 else UNKNOWN_NUMBER


def with_statistics(
    parameters: Mapping[str, str], statistics: StoredStatistics, store: StoreLimits
) -> Properties:
    """Return parameters with these statistics instead of their own, within the `store`'s limits.

    Law: ``statistics_of(with_statistics(parameters, one, store)) == one``.

    >>> parameters = with_statistics({}, StoredStatistics(CatalogTableStatistics(3)), StoreLimits())
    >>> parameters["numRows"], statistics_of(parameters).table.row_count
    ('3', 3)
    """
    others = {
        key: value
        for key, value in parameters.items()
        if key not in NUMBERS.values() and not key.startswith(PARTS)
    }
    if statistics == StoredStatistics():
        return others
    for field, key in NUMBERS.items():
        if (number := getattr(statistics.table, field)) != UNKNOWN_NUMBER:
            others[key] = str(number)
    text = json.dumps(statistics.to_document(), separators=(",", ":"))
    starts = range(0, len(text), store.value)
    parts = (text[start : start + store.value] for start in starts)
    return others | {f"{PARTS}{number}": part for number, part in enumerate(parts)}
