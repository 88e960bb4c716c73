"""Statistics in the parameters of Hive's tables and partitions."""

from __future__ import annotations

import pytest

from schema_core.catalog.statistics import CatalogTableStatistics, StoredStatistics
from schema_core.catalogs.hive.statistics import PARTS, statistics_of, with_statistics
from schema_core.errors import ExternalError
from schema_core.properties.limits import STORES, limit_violations
from schema_core.testing.catalog_cases import COLUMN_STATISTICS, STATISTICS

EVERYTHING = StoredStatistics(STATISTICS, COLUMN_STATISTICS)
OF_HIVE = {"numRows": "1000", "numFiles": "3", "totalSize": str(2**40), "rawDataSize": "5000000000"}


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(
    "statistics",
    [
        EVERYTHING,
        StoredStatistics(STATISTICS),
        StoredStatistics(columns=COLUMN_STATISTICS),
        StoredStatistics(CatalogTableStatistics(2**63 - 1, 0, 0, -1, {"ü": "名" * 3_000})),
        StoredStatistics(CatalogTableStatistics(-1, 0, 0, 0)),
    ],
    ids=["all", "table", "columns", "long", "zeros"],
)
def test_statistics_are_read_back_from_every_store(
    statistics: StoredStatistics, store: str
) -> None:
    limits = STORES[store]
    result = with_statistics({"k": "v", "numRows": "7", f"{PARTS}9": "old"}, statistics, limits)

    assert statistics == statistics_of(result)
    assert "v" == result.pop("k")
    assert [] == [*limit_violations(result, limits)]
    assert {} == with_statistics(result, StoredStatistics(), limits)


def test_numbers_are_where_hive_and_spark_have_them() -> None:
    result = with_statistics({}, EVERYTHING, STORES["hive"])
    assert OF_HIVE.items() <= result.items()


def test_numbers_of_another_engine_replace_those_stored_before() -> None:
    result = with_statistics({}, EVERYTHING, STORES["hive"]) | {"numRows": "8", "totalSize": "x"}
    read = statistics_of(result)

    assert CatalogTableStatistics(8, 3, -1, 5_000_000_000, STATISTICS.properties) == read.table
    assert COLUMN_STATISTICS == read.columns


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"numFiles": "0", "totalSize": "0"}, CatalogTableStatistics()),
        ({"numFiles": "0", "totalSize": "0", "numRows": "0"}, CatalogTableStatistics(0, 0, 0)),
        ({"numFiles": "1", "totalSize": "9"}, CatalogTableStatistics(-1, 1, 9)),
        ({"numRows": str(2**63)}, CatalogTableStatistics()),
        ({"numRows": "-1", "numFiles": "²"}, CatalogTableStatistics()),
    ],
)
def test_zeros_of_a_new_directory_and_invalid_numbers_are_unknown(
    parameters: dict[str, str], expected: CatalogTableStatistics
) -> None:
    assert StoredStatistics(expected) == statistics_of(parameters)


@pytest.mark.parametrize(
    "parts", [{"0": "{"}, {"0": "[]"}, {"1": "{}"}, {"0": "{}"}, {"0": '{"table": [1]}'}]
)
def test_malformed_statistics_are_reported(parts: dict[str, str]) -> None:
    with pytest.raises(ExternalError) as caught:
        statistics_of({PARTS + key: value for key, value in parts.items()})
    assert "corrupt-entry" == caught.value.code
