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
        (["n"], "type-mismatch"),
        (["n + 1 = 10"], "feature-not-supported"),
        (["n = 9 AND CAST(d AS STRING) LIKE '2%'"], "feature-not-supported"),
        ([9], "invalid-argument"),
    ],
)
def test_refused(catalog: Any, filters: Any, code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        catalog.list_partitions_by_filter(EVENTS, filters)

    assert code == caught.value.code


#: Predicate -> the values of the partitions that it selects; those not of the type are NULL.
BY_TYPE: dict[str, dict[str, tuple[str, ...]]] = {
    "BOOLEAN": {
        "k IS TRUE": ("true",), "NOT (k IS TRUE)": ("FALSE", "__HIVE_DEFAULT_PARTITION__"),
        "NOT (k IS FALSE)": ("true", "__HIVE_DEFAULT_PARTITION__"), "NOT k": ("FALSE",),
    },
    "STRING": {"k IS NULL": ("__DEFAULT_PARTITION__", "__HIVE_DEFAULT_PARTITION__")},
    "TIMESTAMP(3)": {
        "k > TIMESTAMP '2023-01-01 00:00:00'": ("2024-01-01 00:00:00", "2024-01-01T10:30"),
        "k IS NULL": ("2024-01-01T00:00:00Z", "2024-W01-1", "2024-13-01 00:00:00"),
    },
    "DECIMAL(5, 2)": {"k > 1": ("1.5", "999.99"), "k IS NULL": ("NaN", "1e2", "1000")},
    "TINYINT": {"k < 10": ("-7", "+7"), "k IS NULL": ("1_0", "128", "\u0661", "")},
    "DATE": {
        "k = DATE '2024-01-01'": ("2024-01-01",),
        "k IS NULL": ("2024-W01-1", "2024", "20240101", "0000-01-01"),
    },
}  # fmt: skip


@pytest.mark.parametrize("key", BY_TYPE)
def test_values_are_those_of_the_type(key: str) -> None:
    env = TableEnvironment.create()
    env.execute_sql(
        f"CREATE TABLE t (a INT, k {key}) PARTITIONED BY (k) WITH ('connector' = 'filesystem')"
    )
    catalog, path = env.get_catalog("default_catalog"), ObjectPath("default_database", "t")
    for text in dict.fromkeys(text for texts in BY_TYPE[key].values() for text in texts):
        catalog.create_partition(
            path, CatalogPartitionSpec({"k": text}), CatalogPartition({}), False
        )

    result = {
        predicate: tuple(
            spec.get_partition_spec()["k"]
            for spec in catalog.list_partitions_by_filter(path, [predicate])
        )
        for predicate in BY_TYPE[key]
    }

    assert {name: set(texts) for name, texts in BY_TYPE[key].items()} == {
        name: set(texts) for name, texts in result.items()
    }
