"""Store limits, packing into parts, and malformed parts."""

from __future__ import annotations

import pytest

from schema_core.base.paths import ObjectPath
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.properties.limits import (
    STORES,
    check_names,
    get_store_limits,
    limit_violations,
    require_names,
)
from schema_core.properties.parts import PLACEHOLDER, malformed_parts, pack, unpack
from schema_core.properties.property_map import decode_table
from schema_core.schema.resolved import ResolvedSchema
from schema_core.types import DataTypes

TABLE = {
    "schema.0.name": "a",
    "schema.0.data-type": "INT",
    "schema.1.name": "b",
    "schema.1.data-type": "STRING",
    "schema.1.comment": "short",
    "connector": "kafka",
}


@pytest.mark.parametrize(
    ("store", "key", "value", "fits"),
    [
        ("none", "k" * 9_999, "\ud800\0" * 9_999, True),
        ("hive", "k", "v" * 4_000, True),
        ("hive", "k", "v" * 4_001, False),
        ("hive", "k", "", False),
        ("hive", "k", "é", False),
        ("hive-derby", "k", "v" * 32_672, True),
        ("hive-derby", "k", "v" * 32_673, False),
        ("hive-derby", "k" * 250, "v", True),  # and "flink." before it
        ("hive-derby", "k" * 251, "v", False),
        ("hive-derby", "k", "\0", True),
        ("hive-mysql", "k", "v" * 1_000_000, True),
        ("hive-mysql", "k", "\u03c4", False),
        ("hive-postgres", "k", "é\U0001f600", True),
        ("hive-postgres", "k", "\0", False),
        ("hive-postgres", "k", "\ud800", False),
        ("hive-oracle", "k", "", False),
        ("hive-oracle", "é" * 125, "v", True),
        ("hive-oracle", "é" * 126, "v", False),
        ("glue", "k", "v" * 512_000, True),
        ("glue", "k", "é" * 256_001, False),
        ("glue", "k\n", "v\n", False),
        ("glue", "k", "v\n", True),
    ],
)
def test_limits_of_stores(store: str, key: str, value: str, fits: bool) -> None:
    properties = {key: value}

    assert fits == (not list(limit_violations(properties, STORES[store])))
    assert properties == unpack(pack(properties, STORES[store]), STORES[store])


def test_map_that_fits_only_gets_the_prefix() -> None:
    packed = pack(TABLE, STORES["hive-derby"])

    assert {f"flink.{key}": value for key, value in TABLE.items()} == packed


@pytest.mark.parametrize(
    ("connector", "mark"),
    [({"connector": "x"}, None), ({"connector.type": "x"}, None), ({}, "true")],
)
def test_table_without_connector_is_marked_for_hive(
    connector: dict[str, str], mark: str | None
) -> None:
    assert mark == pack(connector, STORES["hive-derby"]).get("is_generic")


def test_long_value_is_split_and_joined() -> None:
    properties = TABLE | {"avro-schema": "x" * 10_000}
    packed = pack(properties, STORES["hive"])

    assert "3" == packed["flink.schema.schema-core-1.parts"]
    assert max(map(len, packed.values())) == 4_000
    assert "flink.schema.1.data-type" in packed
    assert properties == unpack(packed, STORES["hive"])


def test_long_comment_does_not_move_the_schema() -> None:
    packed = pack(TABLE | {"schema.1.comment": "\u540d"}, STORES["hive-mysql"])
    left = {key.removeprefix("flink."): value for key, value in packed.items()}
    left = {key: value for key, value in left.items() if "schema-core" not in key}

    assert "(\n  `a` [INT],\n  `b` [STRING]\n)" == str(decode_table(left).schema)


def test_flink_refuses_a_map_with_its_schema_in_parts() -> None:
    properties = TABLE | {"schema.1.name": "\u540d"}
    packed = pack(properties, STORES["hive-mysql"])
    left = {key.removeprefix("flink."): value for key, value in packed.items()}

    assert PLACEHOLDER == left["schema.0.name"]
    with pytest.raises(SchemaError) as caught:
        decode_table(left)
    assert "malformed-property" == caught.value.code
    assert properties == unpack(packed, STORES["hive-mysql"])


def test_packed_map_can_be_packed_for_another_store() -> None:
    properties = TABLE | {"long": "x" * 40_000 + "é"}
    derby = unpack(pack(properties, STORES["hive-derby"]), STORES["hive-derby"])

    assert properties == unpack(pack(derby, STORES["hive"]), STORES["hive"])


def test_metastore_properties_are_ignored() -> None:
    packed = pack(TABLE, STORES["hive-derby"]) | {"transient_lastDdlTime": "7", "EXTERNAL": "TRUE"}

    assert TABLE == unpack(packed, STORES["hive-derby"])


# --- malformed parts ------------------------------------------------------------------------------

OWN = "schema.schema-core-1."


def cut() -> dict[str, str]:
    packed = pack(TABLE | {"long": "x" * 9_000, "schema.0.name": "é"}, STORES["hive"])
    return {key.removeprefix("flink."): value for key, value in packed.items()}


def changed(**changes: str | None) -> dict[str, str]:
    named = {OWN + key.replace("_", "."): value for key, value in changes.items()}
    return {key: value for key, value in (cut() | named).items() if value is not None}


PARTS = {number: cut()[f"{OWN}part.{number}"] for number in range(3)}


@pytest.mark.parametrize(
    ("found", "properties"),
    [
        ([], cut()),
        ([("malformed-property", "part.1")], changed(part_1=None)),
        (
            [("malformed-property", "part.0"), ("malformed-property", "part.2")],
            changed(part_0=None, part_2=None),
        ),
        ([("malformed-property", "part.1")], changed(part_1=PARTS[1][:-1])),
        ([("malformed-property", "part.1")], changed(part_1="")),
        ([("malformed-property", "part.1")], changed(part_1=PARTS[1][:100] + "y" + PARTS[1][101:])),
        (
            [("malformed-property", "part.0"), ("malformed-property", "part.1")],
            changed(part_0=PARTS[1], part_1=PARTS[0]),
        ),
        ([("malformed-property", "parts")], changed(parts=None)),
        ([("malformed-property", "parts")], changed(parts="three")),
        ([("malformed-property", "parts")], changed(parts="03")),
        ([("malformed-property", "part.2")], changed(parts="2")),
        ([("malformed-property", "part.3")], changed(parts="4")),
        ([("malformed-property", "part.x")], changed(part_x="1")),
        ([("malformed-property", "checksum")], changed(checksum=None)),
        ([("malformed-property", "checksum")], changed(checksum="0" * 64)),
    ],
)
def test_malformed_part_is_reported(
    found: list[tuple[str, str]], properties: dict[str, str]
) -> None:
    assert [(code, OWN + key) for code, key in found] == [
        (part.code, *part.path) for part in malformed_parts(properties)
    ]


def test_key_inside_and_outside_of_parts_is_reported() -> None:
    properties = cut() | {"long": "y", "schema.1.name": "b", "schema.0.name": "a"}

    assert {"long", "schema.1.name", "schema.0.name"} == {
        part.path[0] for part in malformed_parts(properties)
    }
    assert {"malformed-property"} == {part.code for part in malformed_parts(properties)}


def test_a_large_part_count_is_not_iterated() -> None:
    named = [part.path[0] for part in malformed_parts(changed(parts="999999999"))]

    assert len(named) < 20


# --- names ----------------------------------------------------------------------------------------


def schema(*names: str) -> ResolvedSchema:
    return ResolvedSchema.physical(list(names), [DataTypes.INT()] * len(names))


@pytest.mark.parametrize(
    ("store", "path", "columns", "comment", "codes"),
    [
        ("none", ObjectPath("D", "T" * 999), schema("a", "A"), "c" * 9_999, []),
        ("hive", ObjectPath("d", "t"), schema("a", "B"), "c" * 256, []),
        ("hive", ObjectPath("d", "t" * 129), schema("a"), None, ["name-not-supported"]),
        ("hive", ObjectPath("d", "t"), schema("a" * 129), None, ["name-not-supported"]),
        ("hive-derby", ObjectPath("d", "t"), schema("a" * 767), None, []),
        ("hive", ObjectPath("d", "t"), schema("a"), "c" * 257, ["exceeds-store-limit"]),
        ("hive-postgres", ObjectPath("d", "t"), schema("a"), "c" * 4_000, []),
        (
            "hive",
            ObjectPath("D", "Orders"),
            schema("a"),
            None,
            ["name-not-supported", "name-not-supported"],
        ),
        ("glue", ObjectPath("d", "t"), schema("a", "A"), None, ["name-not-supported"]),
        (
            "hive-mysql",
            ObjectPath("d", "t"),
            schema("\u540d"),
            None,
            ["name-not-supported"],
        ),
    ],
)
def test_names_that_the_store_does_not_support(
    store: str, path: ObjectPath, columns: ResolvedSchema, comment: str | None, codes: list[str]
) -> None:
    result = check_names(path, columns, (), comment, STORES[store])

    assert codes == [diagnostic.code for diagnostic in result]


def test_partition_columns_have_their_own_limit() -> None:
    name = "p" * 129
    with pytest.raises(UnsupportedError) as caught:
        require_names(ObjectPath("d", "t"), schema(name), (name,), None, STORES["hive-derby"])

    assert "name-not-supported" == caught.value.code


def test_unknown_store_is_refused() -> None:
    with pytest.raises(SchemaError) as caught:
        get_store_limits("oracle")

    assert "invalid-argument" == caught.value.code
    assert "hive-oracle" in str(caught.value.hint)
