"""Catalog objects, and their resolution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogFunction,
    CatalogMaterializedTable,
    CatalogModel,
    CatalogPartition,
    CatalogTable,
    CatalogView,
    Freshness,
    FreshnessUnit,
    FunctionLanguage,
    LogicalRefreshMode,
    RefreshMode,
    RefreshStatus,
    ResourceUri,
    TableDistribution,
)
from schema_core.catalog.resolve import (
    resolve_materialized_table,
    resolve_model,
    resolve_table,
    resolve_view,
)
from schema_core.errors import NotFoundError, SchemaError
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema
from schema_core.types import DataType, DataTypes

SCHEMA = (
    Schema.new_builder()
    .column("id", "INT NOT NULL")
    .column("day", "DATE")
    .column_by_expression("next", "id + 1")
    .build()
)
RESOLVER = SchemaResolver()


# --- printed forms -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("distribution", "printed"),
    [
        (TableDistribution.of_hash(["a", "`"], 3), "DISTRIBUTED BY HASH(`a`, ````) INTO 3 BUCKETS"),
        (TableDistribution.of_range(["a"]), "DISTRIBUTED BY RANGE(`a`)"),
        (TableDistribution.of_unknown(["a"]), "DISTRIBUTED BY (`a`)"),
        (TableDistribution.of_hash([], 4), "DISTRIBUTED INTO 4 BUCKETS"),
        (TableDistribution.of_range(["a"], 0), "DISTRIBUTED BY RANGE(`a`)"),
        (TableDistribution.of_unknown(), "DISTRIBUTED BY ()"),
    ],
)  # fmt: skip
def test_distribution_is_printed(distribution: TableDistribution, printed: str) -> None:
    assert printed == str(distribution)


def test_repr_masks_secrets() -> None:
    table = CatalogTable(SCHEMA, options={"user": "ann", "password": "hunter2"})

    assert "hunter2" not in repr(table)
    assert "hunter2" == table.get_options()["password"]


def test_objects_are_immutable_values() -> None:
    options = {"k": "v"}
    table = CatalogBaseTable.create_table(SCHEMA, ["day"], options, "why")
    options["k"] = "changed"
    table.get_options()["k"] = "changed"

    assert {"k": "v"} == table.get_options()
    assert table == CatalogTable(SCHEMA, ("day",), options={"k": "v"}, comment="why")
    assert {"other": "1"} == table.copy({"other": "1"}).options
    assert hash(table) == hash(table.copy())


def test_missing_comment_is_empty() -> None:
    assert "" == CatalogTable(SCHEMA).get_comment()
    assert "" == CatalogDatabase.create_instance({}).get_comment()


def test_language_of_a_function() -> None:
    assert FunctionLanguage.JAVA is CatalogFunction.create_instance("a.B", "Java").language
    with pytest.raises(SchemaError) as caught:
        CatalogFunction.create_instance("a.B", "Rust")

    assert "feature-not-supported" == caught.value.code


# --- tables --------------------------------------------------------------------------------------


def test_resolved_table_is_the_table_and_its_types() -> None:
    table = CatalogTable(
        SCHEMA, ("day",), options={"k": "v"}, distribution=TableDistribution.of_hash(["id"], 2)
    )

    resolved = resolve_table(table, RESOLVER)

    assert table.schema == resolved.get_unresolved_schema()
    assert RESOLVER.resolve(SCHEMA) == resolved.get_resolved_schema()
    assert (table.options, table.distribution) == (resolved.options, resolved.distribution)
    assert resolved is resolve_table(resolved, RESOLVER)


@pytest.mark.parametrize(
    ("code", "table"),
    [
        ("invalid-value",
         CatalogTable(SCHEMA, distribution=TableDistribution.of_hash(["id"], 0))),
        ("unknown-column", CatalogTable(SCHEMA, distribution=TableDistribution.of_range(["ID"]))),
        ("feature-not-supported",
         CatalogTable(SCHEMA, distribution=TableDistribution.of_hash(["next"]))),
        ("unknown-column", CatalogTable(SCHEMA, ("Day",))),
        ("feature-not-supported",    CatalogTable(SCHEMA, ("next",))),
    ],
)  # fmt: skip
def test_partition_keys_are_validated(code: str, table: CatalogTable) -> None:
    with pytest.raises(SchemaError) as caught:
        resolve_table(table, RESOLVER)

    assert code == caught.value.code


def test_bucket_keys_are_validated_before_partition_keys() -> None:
    table = CatalogTable(
        SCHEMA, ("nowhere",), distribution=TableDistribution.of_hash(["missing"], 0)
    )

    with pytest.raises(SchemaError) as caught:
        resolve_table(table, RESOLVER)

    assert [("bucket key 'missing'",), ("distribution",), ("partition key 'nowhere'",)] == [
        diagnostic.path for diagnostic in caught.value.diagnostics
    ]


# --- views ---------------------------------------------------------------------------------------

VIEW = CatalogView(
    Schema.new_builder().column("x", "BIGINT").with_comment("lost").column("y", "INT").build(),
    "SELECT 1, 'a'",
    "SELECT 1, 'a'",
)


def gives(*types: DataType) -> Sequence[tuple[str, DataType]]:
    return [(f"EXPR${number}", type_) for number, type_ in enumerate(types)]


def test_view_has_the_types_of_its_query_under_its_own_names() -> None:
    view = resolve_view(VIEW, RESOLVER, lambda _: gives(DataTypes.INT(), DataTypes.CHAR(1)))

    assert "(\n  `x` INT,\n  `y` CHAR(1)\n)" == str(view.resolved_schema)


def unreadable(text: str) -> Sequence[tuple[str, DataType]]:
    raise NotFoundError(f"no table at {text}")


@pytest.mark.parametrize("columns", [unreadable, lambda _: gives(DataTypes.INT())])
def test_view_falls_back_to_its_stored_types(columns: object) -> None:
    view = resolve_view(VIEW, RESOLVER, columns)  # type: ignore[arg-type]

    assert "(\n  `x` BIGINT COMMENT 'lost',\n  `y` INT\n)" == str(view.resolved_schema)


# --- materialized tables and models --------------------------------------------------------------


def materialized(mode: LogicalRefreshMode, freshness: Freshness | None) -> CatalogMaterializedTable:
    return CatalogMaterializedTable(
        SCHEMA,
        "SELECT 1",
        "SELECT 1",
        logical_refresh_mode=mode,
        refresh_status=RefreshStatus.INITIALIZING,
        freshness=freshness,
    )


@pytest.mark.parametrize(
    ("mode", "given", "freshness", "refreshed"),
    [
        ("AUTOMATIC",  None,           "INTERVAL '3' MINUTE", "CONTINUOUS"),
        ("FULL",       None,           "INTERVAL '1' HOUR",   "FULL"),
        ("AUTOMATIC",  (29, "MINUTE"), "INTERVAL '29' MINUTE", "CONTINUOUS"),
        ("AUTOMATIC",  (30, "MINUTE"), "INTERVAL '30' MINUTE", "FULL"),
        ("AUTOMATIC",  (1, "DAY"),     "INTERVAL '1' DAY",    "FULL"),
        ("CONTINUOUS", (5, "DAY"),     "INTERVAL '5' DAY",    "CONTINUOUS"),
        ("CONTINUOUS", (2, "WEEK"),    "INTERVAL '2' WEEK",   "CONTINUOUS"),
        ("FULL",       (30, "SECOND"), "INTERVAL '30' SECOND", "FULL"),
    ],
)  # fmt: skip
def test_refresh_mode_is_derived_from_freshness(
    mode: str, given: tuple[int, str] | None, freshness: str, refreshed: str
) -> None:
    asked = None if given is None else Freshness(given[0], FreshnessUnit[given[1]])

    table = resolve_materialized_table(materialized(LogicalRefreshMode[mode], asked), RESOLVER)

    assert (freshness, RefreshMode[refreshed]) == (str(table.freshness), table.refresh_mode)


@pytest.mark.parametrize(
    "given", [(7, "MINUTE"), (60, "SECOND"), (48, "HOUR"), (2, "DAY"), (1, "WEEK")]
)
def test_full_refresh_freshness_must_fit_a_cron_schedule(given: tuple[int, str]) -> None:
    freshness = Freshness(given[0], FreshnessUnit[given[1]])

    with pytest.raises(SchemaError) as caught:
        resolve_materialized_table(materialized(LogicalRefreshMode.FULL, freshness), RESOLVER)

    assert "invalid-materialized-table" == caught.value.code


@pytest.mark.parametrize("interval", ["0", "-1", "x", "1.5", "", "99999999999", "1" * 40])
def test_freshness_is_a_positive_integer(interval: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Freshness.of(interval, FreshnessUnit.MINUTE)

    assert "invalid-materialized-table" == caught.value.code


def test_model_has_input_and_output_schemas() -> None:
    model = CatalogModel.create_model(SCHEMA, Schema.new_builder().column("label", "INT").build())

    resolved = resolve_model(model, RESOLVER)

    assert ["id", "day", "next"] == resolved.resolved_input_schema.get_column_names()
    assert ["label"] == resolved.resolved_output_schema.get_column_names()


def test_model_error_names_input_or_output() -> None:
    model = CatalogModel(SCHEMA, Schema.new_builder().column("label", "NOPE").build())

    with pytest.raises(Exception, match="unknown type") as caught:
        resolve_model(model, RESOLVER)

    assert ("output", "column 'label'") == getattr(caught.value, "path", None)


@pytest.mark.parametrize(
    "make",
    [
        CatalogFunction,
        lambda wrong: CatalogFunction("a.B", wrong),
        lambda wrong: CatalogFunction("a.B", resource_uris=(wrong,)),
        lambda wrong: ResourceUri(wrong, "file:///a.jar"),
        lambda wrong: CatalogDatabase({}, wrong),
        lambda wrong: CatalogPartition({}, wrong),
        lambda wrong: CatalogModel(wrong, SCHEMA),
        lambda wrong: CatalogModel(SCHEMA, wrong),
        lambda wrong: CatalogModel(SCHEMA, SCHEMA, comment=wrong),
    ],
)
def test_an_object_refuses_fields_of_another_type(make: Callable[[Any], object]) -> None:
    with pytest.raises(SchemaError) as caught:
        make(object())

    assert "invalid-argument" == caught.value.code
