"""Partitions are selected by filters over their keys, as Flink evaluates the conditions."""

from __future__ import annotations

from typing import Any

import pytest

from schema_core import TableEnvironment
from schema_core.catalog import CatalogPartition, CatalogPartitionSpec, ObjectPath
from schema_core.errors import SchemaCoreError
from schema_core.expressions import col

EVENTS = ObjectPath("default_database", "events")
DAYS = ("2026-01-01", "2026-01-02", "__DEFAULT_PARTITION__", "no date")


@pytest.fixture(scope="module")
def catalog() -> Any:
    env = TableEnvironment.create()
    env.execute_sql(
        "CREATE TABLE events (a INT, d DATE, n INT) PARTITIONED BY (d, n)"
        " WITH ('connector' = 'filesystem')"
    )
    catalog = env.get_catalog("default_catalog")
    for day in DAYS:
        for number in ("9", "10"):
            spec = CatalogPartitionSpec({"d": day, "n": number})
            catalog.create_partition(EVENTS, spec, CatalogPartition({}), False)
    return catalog


@pytest.mark.parametrize(
    ("filters", "selected"),
    [
        ([], [(day, n) for day in DAYS for n in ("9", "10")]),
        (["d = DATE '2026-01-01'"], [(DAYS[0], "9"), (DAYS[0], "10")]),
        (["NOT (d = DATE '2026-01-01')"], [(DAYS[1], "9"), (DAYS[1], "10")]),
        (["d IS NULL", col("n") > 9], [(DAYS[2], "10"), (DAYS[3], "10")]),
        (["d > DATE '2026-01-01' AND n IN (9, 11)"], [(DAYS[1], "9")]),
        (["d BETWEEN DATE '2026-01-02' AND DATE '2027-01-01' OR n < 0"],
         [(DAYS[1], "9"), (DAYS[1], "10")]),
        (["d < DATE '2000-01-01' OR n >= 10"], [(day, "10") for day in DAYS]),
    ],
)  # fmt: skip
def test_selected(catalog: Any, filters: Any, selected: list[tuple[str, str]]) -> None:
    result = [
        spec.get_partition_spec() for spec in catalog.list_partitions_by_filter(EVENTS, filters)
    ]

    assert selected == [(spec["d"], spec["n"]) for spec in result]


@pytest.mark.parametrize(
    ("filters", "code"),
    [
        (["a = 1"], "unknown-column"),
        (["n"], "wrong-type"),
        (["n + 1 = 10"], "unsupported-partition-filter"),
        (["n = 9 AND CAST(d AS STRING) LIKE '2%'"], "unsupported-partition-filter"),
        ([9], "wrong-argument"),
    ],
)
def test_refused(catalog: Any, filters: Any, code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        catalog.list_partitions_by_filter(EVENTS, filters)

    assert code == caught.value.code
