"""Arguments of a wrong type at public entry points are refused with an error code.

`fuzz/fuzz_fluent.py` draws such calls; the rows here are those that once crashed.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from schema_core import (
    EnvironmentSettings,
    Schema,
    TableConfig,
    TableDescriptor,
    TableDistribution,
    TableEnvironment,
)
from schema_core.catalog import (
    CatalogDescriptor,
    CatalogTable,
    CatalogView,
    FileCatalogStore,
    ObjectIdentifier,
    ObjectPath,
)
from schema_core.catalogs import SqlCatalog
from schema_core.environment.config import Configuration
from schema_core.errors import SchemaError
from schema_core.expressions import (
    JsonOnNull,
    col,
    json_object,
    lit,
    map_,
    range_,
    row_interval,
    timestamp_diff,
    with_columns,
)

HUGE: Any = 10**5000
SCHEMA = Schema.new_builder().build()


class Colour(Enum):
    RED = "red"


class Unprintable:
    def __repr__(self) -> str:
        raise ValueError("no text")


def endless() -> list[Any]:
    result: list[Any] = []
    result.append(result)
    return result


def wrong(value: object) -> Any:
    """A value for a parameter of another type."""
    return value


@pytest.fixture(scope="module")
def environment() -> TableEnvironment:
    result = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    result.execute_sql("CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'datagen')")
    return result


EXPRESSIONS: list[tuple[Callable[[], object], str]] = [
    (lambda: lit(HUGE), "not-in-sql"),
    (lambda: lit(Decimal("1e5000")), "not-in-sql"),
    (lambda: lit(Unprintable()), "not-in-sql"),
    (lambda: lit(endless()), "limit-exceeded"),
    (lambda: map_("a", endless()), "limit-exceeded"),
    (lambda: json_object(wrong(("a", "b"))), "invalid-argument"),
    (lambda: json_object(wrong(Colour.RED)), "invalid-argument"),
    (lambda: json_object(wrong("NULL) FROM (x")), "invalid-argument"),
    (lambda: timestamp_diff(wrong(b"DAY"), col("a"), col("b")), "invalid-argument"),
    (lambda: timestamp_diff(wrong(JsonOnNull.NULL), col("a"), col("b")), "invalid-argument"),
    (lambda: col("a").extract(HUGE), "invalid-argument"),
    (lambda: col("a").is_json(wrong(col("a"))), "invalid-argument"),
    (lambda: col("a").sum.over(HUGE), "invalid-argument"),
    (lambda: row_interval(wrong(Unprintable())), "invalid-argument"),
]


@pytest.mark.parametrize(("call", "code"), EXPRESSIONS)
def test_expressions_reject_wrong_arguments(call: Callable[[], object], code: str) -> None:
    with pytest.raises(SchemaError) as result:
        call()
    assert result.value.code == code


OBJECTS: list[tuple[Callable[[], object], str]] = [
    (lambda: ObjectPath.from_string(wrong({})), "invalid-path"),
    (lambda: ObjectPath("d", wrong(1)), "invalid-argument"),
    (lambda: ObjectIdentifier.of("c", "d", wrong(len)), "invalid-argument"),
    (lambda: CatalogDescriptor.of("c", wrong(None)), "invalid-argument"),
    (lambda: CatalogTable(wrong("a INT")), "invalid-argument"),
    (lambda: CatalogTable(SCHEMA, options=wrong([1])), "invalid-argument"),
    (lambda: CatalogTable.create_table(SCHEMA, wrong(5)), "invalid-argument"),
    (lambda: CatalogTable.create_table(SCHEMA, wrong("ab")), "invalid-argument"),
    (lambda: CatalogTable.create_table(SCHEMA, (), wrong([])), "invalid-argument"),
    (lambda: CatalogTable.create_view("a", "a", SCHEMA, wrong(col("a"))), "invalid-argument"),
    (lambda: CatalogView(SCHEMA, HUGE, "SELECT 1"), "invalid-argument"),
    (lambda: CatalogView(SCHEMA, "a", wrong(col("a"))), "invalid-argument"),
    (lambda: TableDistribution.of_hash(wrong(True)), "invalid-argument"),
    (lambda: TableDistribution.of_range(wrong(col("a"))), "invalid-argument"),
    (
        lambda: TableDescriptor.for_connector("x").distributed_by_hash(wrong(...)),
        "invalid-argument",
    ),
    (lambda: TableDescriptor.for_connector("x").format(wrong([])), "invalid-argument"),
    (lambda: TableDescriptor.for_connector("x").format("csv", wrong("key")), "invalid-argument"),
    (lambda: TableConfig().reset(wrong({})), "invalid-argument"),
    (lambda: TableConfig().get(wrong([]), ""), "invalid-argument"),
    (lambda: TableConfig().add_configuration(wrong({"a"})), "invalid-argument"),
    (lambda: Configuration().add_all(wrong(iter("ab"))), "invalid-argument"),
    (lambda: FileCatalogStore(wrong(5)), "invalid-argument"),
    (lambda: FileCatalogStore("a\0b"), "invalid-option-value"),
    (lambda: FileCatalogStore("\ud800"), "invalid-option-value"),
    (lambda: SqlCatalog("c", "sqlite:///\0"), "invalid-option-value"),
    (lambda: SqlCatalog("c", "sqlite:///%00"), "invalid-option-value"),
    (lambda: SqlCatalog("c", "postgresql://\ud800/x"), "invalid-option-value"),
    (lambda: SqlCatalog("c", wrong(5)), "invalid-option-value"),
]


@pytest.mark.parametrize(("call", "code"), OBJECTS)
def test_catalog_objects_reject_wrong_arguments(call: Callable[[], object], code: str) -> None:
    with pytest.raises(SchemaError) as result:
        call()
    assert result.value.code == code


CALLS: list[tuple[Callable[[TableEnvironment], object], str]] = [
    (lambda env: env.from_path("t").alias(wrong(["a"])), "invalid-argument"),
    (lambda env: env.from_path("t").select(HUGE), "invalid-argument"),
    (lambda env: env.from_path("t").select(wrong(Unprintable())), "invalid-argument"),
    (lambda env: env.from_path("t").select(with_columns(range_(HUGE, True))), "unknown-column"),
    (lambda env: env.from_path("t").select(with_columns(range_(wrong({}), 1))), "unknown-column"),
    (lambda env: env.from_path("t").offset(wrong(Unprintable())), "invalid-query"),
    (lambda env: env.from_path("t").limit(HUGE), "invalid-query"),
    (lambda env: env.execute_statement(wrong(len), ""), "invalid-argument"),
    (lambda env: env.list_tables(wrong(len)), "invalid-argument"),
    (lambda env: env.list_temporary_tables("default_catalog", wrong(5)), "invalid-argument"),
    (lambda env: env.scan(wrong(...)), "invalid-argument"),
    (lambda env: env.register_table(wrong(len), env.from_path("t")), "invalid-argument"),
    (lambda env: env.insert_into("t", wrong(())), "invalid-argument"),
    (lambda env: env.from_path("t").get_schema().get_field_name(wrong("a")), "invalid-argument"),
    (
        lambda env: env.from_path("t").get_schema().get_field_data_type(wrong([])),
        "invalid-argument",
    ),
]


@pytest.mark.parametrize(("call", "code"), CALLS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_environments_reject_wrong_arguments(
    call: Callable[[TableEnvironment], object], code: str, environment: TableEnvironment
) -> None:
    with pytest.raises(SchemaError) as result:
        call(environment)
    assert result.value.code == code


@pytest.mark.parametrize("name", ["\ud800", "a\udfffb", "a\0b", "a/b", ".a"])
def test_a_file_store_refuses_names_that_are_invalid_file_names(name: str, tmp_path: Path) -> None:
    store = FileCatalogStore(tmp_path)
    descriptor = CatalogDescriptor.of("c", {"type": "generic_in_memory"})

    for call in (store.store_catalog, store.alter_catalog):
        with pytest.raises(SchemaError) as result:
            call(name, descriptor)
        assert result.value.code == "invalid-name"
    with pytest.raises(SchemaError):
        store.remove_catalog(name, True)
    assert store.get_catalog(name) is None
