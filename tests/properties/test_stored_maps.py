"""Maps of older versions: detecting the version, conversion, and notes on missing information."""

from __future__ import annotations

import pytest

from schema_core.catalog.objects import CatalogMaterializedTable
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.properties.legacy import is_hive_table
from schema_core.properties.stored import MapKind, read_map, upgrade
from schema_core.properties.verification import verify
from schema_core.schema.resolve import SchemaResolver


def columns(*fields: str, **rest: str) -> dict[str, str]:
    """A map of columns, each given as ``name: key=value; key=value``."""
    result = {key.replace("__", "."): value for key, value in rest.items()}
    for number, field in enumerate(fields):
        name, _, values = field.partition(": ")
        result[f"schema.{number}.name"] = name
        for pair in values.split("; "):
            key, _, value = pair.partition("=")
            result[f"schema.{number}.{key}"] = value
    return result


# --- type information of 1.9 ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("VARCHAR", "VARCHAR(2147483647)"),
        ("STRING", "VARCHAR(2147483647)"),
        ("LONG", "BIGINT"),
        ("DECIMAL", "DECIMAL(38, 18)"),
        ("TIMESTAMP", "TIMESTAMP(3)"),
        ("SQL_TIME", "TIME(0)"),
        ("PRIMITIVE_ARRAY<BYTE>", "VARBINARY(2147483647)"),
        ("PRIMITIVE_ARRAY<INT>", "ARRAY<INT NOT NULL>"),
        ("OBJECT_ARRAY<VARCHAR>", "ARRAY<VARCHAR(2147483647)>"),
        ("ROW<a INT, `b c` MAP<VARCHAR, DOUBLE>>",
         "ROW<`a` INT, `b c` MAP<VARCHAR(2147483647), DOUBLE>>"),
        ("ROW(INT, BOOLEAN)", "ROW<`f0` INT, `f1` BOOLEAN>"),
        ("ANY<java.time.Instant>", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
        ("ROW<d ANY<java.time.LocalDate>>", "ROW<`d` DATE>"),
        ("ANY<com.acme.Order>", "LEGACY('RAW', 'ANY<com.acme.Order>')"),
    ],
)  # fmt: skip
def test_type_information_becomes_sql(old: str, new: str) -> None:
    done = upgrade(columns(f"a: type={old}"))

    assert new == done.properties["schema.0.data-type"]
    assert "Flink 1.9" == str(done.versions)
    assert "value-assumed" in {note.code for note in done.notes}


@pytest.mark.parametrize(
    "old", ["varchar", "VARCHAR(10)", "INTEGER", "POJO<com.acme.Order>", "ROW<"]
)
def test_invalid_type_information_is_refused(old: str) -> None:
    with pytest.raises(SchemaError) as caught:
        read_map(columns(f"a: type={old}"))

    assert ("invalid-type", ("schema.0.type",)) == (caught.value.code, caught.value.path)


def test_sql_type_overrides_type_information() -> None:
    result = read_map(columns("a: type=INT; data-type=BIGINT"))

    assert "(\n  `a` [BIGINT]\n)" == str(result.object.schema)  # type: ignore[union-attr]
    assert {"version-dependent"} <= {note.code for note in result.notes}


# --- descriptors ----------------------------------------------------------------------------------

BOUNDED = (
    "rowtime.timestamps.type=from-field; rowtime.timestamps.from={0}; "
    "rowtime.watermarks.type=periodic-bounded; rowtime.watermarks.delay={1}"
)
SOURCE = "rowtime.timestamps.type=from-source; rowtime.watermarks.type=from-source"
OWN_CLASS = (
    "rowtime.timestamps.type=custom; rowtime.timestamps.class=x.Y; "
    "rowtime.watermarks.type=custom; rowtime.watermarks.class=x.Z"
)


@pytest.mark.parametrize(
    ("old", "shown", "notes"),
    [
        (["t: data-type=TIMESTAMP; proctime=true"], "`t` AS [PROCTIME()]", set()),
        (
            [f"t: data-type=TIMESTAMP; {BOUNDED.format('t', 0)}"],
            "`t` [TIMESTAMP(3)],\n  WATERMARK FOR `t` AS [`t`]",
            set(),
        ),
        (
            [f"t: data-type=TIMESTAMP; {BOUNDED.format('s', 60_000)}"],
            (
                "`s` [TIMESTAMP(3)],\n  `t` AS [`s`],\n"
                "  WATERMARK FOR `t` AS [`t` - INTERVAL '60' SECOND]"
            ),
            {"value-assumed"},
        ),
        (
            ["ms: data-type=BIGINT", f"t: data-type=TIMESTAMP; {BOUNDED.format('ms', 250)}"],
            (
                "`ms` [BIGINT],\n  `t` AS [TO_TIMESTAMP_LTZ(`ms`, 3)],\n"
                "  WATERMARK FOR `t` AS [`t` - INTERVAL '0.250' SECOND]"
            ),
            set(),
        ),
        (
            ["ts: data-type=TIMESTAMP(6)", f"t: data-type=TIMESTAMP; {BOUNDED.format('ts', 1)}"],
            (
                "`ts` [TIMESTAMP(6)],\n  `t` AS [CAST(`ts` AS TIMESTAMP(3))],\n"
                "  WATERMARK FOR `t` AS [`t` - INTERVAL '0.001' SECOND]"
            ),
            set(),
        ),
        (
            [f"t: data-type=TIMESTAMP; {SOURCE}"],
            (
                "`t` [TIMESTAMP(3)] METADATA FROM 'timestamp' VIRTUAL,\n"
                "  WATERMARK FOR `t` AS [SOURCE_WATERMARK()]"
            ),
            {"not-recorded"},
        ),
        (
            [f"t: data-type=TIMESTAMP; {OWN_CLASS}"],
            "`t` [TIMESTAMP(3)]",
            {"not-recorded"},
        ),
        (
            ["a: data-type=INT; from=b"],
            "`b` [INT],\n  `a` AS [`b`]",
            {"value-assumed"},
        ),
        (
            ["a: data-type=INT; from=b", "b: data-type=INT; from=a"],
            "`a` [INT],\n  `b` [INT]",
            {"value-assumed"},
        ),
        (["a: data-type=INT; from=a"], "`a` [INT]", set()),
    ],
)
def test_descriptor_is_converted_to_columns(old: list[str], shown: str, notes: set[str]) -> None:
    result = read_map(columns(*old))

    assert f"(\n  {shown}\n)" == str(result.object.schema)  # type: ignore[union-attr]
    assert notes == {note.code for note in result.notes}
    SchemaResolver().resolve(result.object.schema)  # type: ignore[union-attr]


def test_gap_in_a_descriptor_is_refused() -> None:
    with pytest.raises(SchemaError) as caught:
        read_map({"schema.1.name": "a", "schema.1.data-type": "INT", "schema.1.from": "b"})

    assert ("malformed-property", ("schema.0.name",)) == (caught.value.code, caught.value.path)


# --- 1.10 to 2.2 ----------------------------------------------------------------------------------


def test_metadata_column_without_virtual_is_not_virtual() -> None:
    result = read_map(columns("o: data-type=BIGINT; metadata=offset"))

    assert "(\n  `o` [BIGINT] METADATA FROM 'offset'\n)" == str(result.object.schema)  # type: ignore[union-attr]
    assert ["version-dependent"] == [note.code for note in result.notes]


def test_single_query_is_used_for_both() -> None:
    refresh = {
        "definition-query": "SELECT 1",
        "freshness-interval": "3",
        "freshness-unit": "MINUTE",
        "logical-refresh-mode": "AUTOMATIC",
        "refresh-mode": "CONTINUOUS",
        "refresh-status": "ACTIVATED",
    }
    result = read_map(columns("a: data-type=INT") | refresh)

    assert isinstance(result.object, CatalogMaterializedTable)
    assert ("SELECT 1", "SELECT 1") == (result.object.original_query, result.object.expanded_query)
    assert "Flink 1.20 to 2.2" == str(result.versions)
    assert "definition-query" not in upgrade(columns("a: data-type=INT") | refresh).properties


def test_option_that_newer_versions_drop_is_kept() -> None:
    done = upgrade(columns("a: data-type=INT", connector="x") | {"schema-registry.url": "u"})

    assert done.properties["schema-registry.url"] == "u"
    assert {"connector": "x", "schema-registry.url": "u"} == read_map(
        done.properties
    ).object.options


@pytest.mark.parametrize(
    ("versions", "properties"),
    [
        ("Flink 1.9 to 2.3", {"connector": "x"}),
        ("Flink 1.10 to 2.3", columns("a: data-type=INT")),
        ("Flink 1.10 to 1.20", columns("a: data-type=INT; proctime=true")),
        ("Flink 1.11 to 2.3", columns("a: data-type=INT", partition__keys__0__name="a")),
        ("Flink 1.12 to 2.3", columns("a: data-type=INT; metadata=b; virtual=true")),
        ("Flink 1.18 to 2.3", columns("a: data-type=INT; comment=")),
        ("Flink 2.0 to 2.3", {"input-schema.0.name": "a", "input-schema.0.data-type": "INT"}),
        ("Flink 2.2 to 2.3", columns("a: data-type=INT", distribution__kind="HASH")),
        ("a mix of keys of Flink 1.9 and 2.2",
         columns("a: type=INT", distribution__kind="HASH")),
    ],
)  # fmt: skip
def test_versions_are_determined_from_the_keys(versions: str, properties: dict[str, str]) -> None:
    assert versions == str(read_map(properties).versions)


# --- Hive -----------------------------------------------------------------------------------------

#: A map that the HiveCatalog of Flink 1.10 wrote.
GENERIC = {
    "is_generic": "true",
    "transient_lastDdlTime": "1600000000",
    "flink.generic.table.schema.0.name": "c",
    "flink.generic.table.schema.0.data-type": "CHAR(265)",
    "flink.generic.table.schema.1.name": "ts",
    "flink.generic.table.schema.1.data-type": "TIMESTAMP(3)",
    "flink.generic.table.schema.watermark.0.rowtime": "ts",
    "flink.generic.table.schema.watermark.0.strategy.data-type": "TIMESTAMP(3)",
    "flink.generic.table.schema.watermark.0.strategy.expr": "ts",
    "flink.connector.type": "kafka",
}


def test_generic_table_of_hive_is_read() -> None:
    result = read_map(GENERIC)

    assert ("hive",) == result.layers
    assert "Flink 1.10" == str(result.versions)
    assert {"connector.type": "kafka"} == result.object.options
    assert (
        "(\n  `c` [CHAR(265)],\n  `ts` [TIMESTAMP(3)],\n  WATERMARK FOR `ts` AS [ts]\n)"
        == str(result.object.schema)  # type: ignore[union-attr]
    )


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"is_generic": "true"}, False),
        ({"is_generic": "TRUE", "EXTERNAL": "TRUE"}, False),
        ({"is_generic": "false", "flink.connector": "kafka"}, True),
        ({"is_generic": "yes"}, True),
        ({"flink.connector": "kafka"}, False),
        ({"flink.connector.type": "kafka"}, False),
        ({"flink.topic": "t"}, True),
        ({}, True),
    ],
)
def test_hive_tables_are_recognized_as_in_hive_catalog(
    properties: dict[str, str], expected: bool
) -> None:
    assert expected == is_hive_table(properties)


def test_table_of_hive_itself_is_refused() -> None:
    with pytest.raises(SchemaError) as caught:
        read_map({"flink.topic": "t"})

    assert "feature-not-supported" == caught.value.code


def test_managed_table_has_no_connector() -> None:
    stored = {f"flink.{key}": value for key, value in columns("a: data-type=INT").items()}
    result = read_map(stored | {"flink.connector": "DEFAULT", "is_generic": "true"})

    assert {} == result.object.options


# --- kinds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "properties"),
    [
        (MapKind.TABLE, columns("a: data-type=INT")),
        (MapKind.TABLE, {"refresh-mode": "FULL"}),
        (MapKind.VIEW, {"original-query": "q", "expanded-query": "e"}),
        (MapKind.MODEL, {"output-schema.0.name": "a", "output-schema.0.data-type": "INT"}),
    ],
)
def test_kind_is_determined_from_the_keys(kind: MapKind, properties: dict[str, str]) -> None:
    assert kind is read_map(properties).kind


def test_kind_may_be_given_for_a_model_without_columns() -> None:
    assert MapKind.MODEL is read_map({"provider": "openai"}, MapKind.MODEL).kind


def test_upgrade_refuses_unresolvable_schemas() -> None:
    with pytest.raises(UnsupportedError) as caught:
        upgrade(columns("a: data-type=NONSENSE"))

    assert "type-not-found" == caught.value.code


def test_upgrade_writes_stable_expressions() -> None:
    """Flink prints a non-ASCII literal differently each of the first two times."""
    written = {"schema.0.name": "a", "schema.0.data-type": "STRING", "schema.1.name": "b"}
    upgraded = upgrade(written | {"schema.1.expr": "UPPER('\u00e4''')"}).properties

    assert upgraded["schema.1.expr"] == "UPPER(_UTF16'\u00e4''')"
    assert upgraded == upgrade(upgraded).properties


@pytest.mark.parametrize("malformed", [{"a": None}, {1: "a"}, {"a": 1}])
def test_non_string_values_are_refused_and_reported(malformed: dict[str, str]) -> None:
    properties = {"schema.0.name": "a", "schema.0.data-type": "INT", **malformed}
    with pytest.raises(SchemaError) as caught:
        read_map(properties)

    assert "malformed-property" == caught.value.code
    assert ["malformed-property"] == [diagnostic.code for diagnostic in verify(properties)]


def test_upgrade_reports_stale_types() -> None:
    done = upgrade(columns("p: data-type=TIMESTAMP(3) NOT NULL; expr=PROCTIME()"))

    assert [("stale-type", ("schema.0.data-type",))] == [
        (note.code, note.path) for note in done.notes
    ]
    assert "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL" == done.properties["schema.0.data-type"]
