"""Exact-type metadata of user-defined types, and invalid metadata."""

from __future__ import annotations

import json

import pytest

from schema_core.errors import UnsupportedError
from schema_core.mappings.arrow.schemas import from_field, to_field
from schema_core.mappings.exact_types import DEFINITIONS_KEY, TYPE_KEY, exact_type, type_metadata
from schema_core.types import (
    DataType,
    DataTypes,
    DistinctType,
    RowField,
    StructuredType,
    parse_type,
)

MONEY = DistinctType(("c", "d", "money"), parse_type("DECIMAL(10, 2)"), description="in euros")
USER = StructuredType(
    "com.acme.User", [RowField("paid", MONEY.not_null(), "so far")], path=("c", "d", "user")
)
NESTED = DataTypes.MAP(DataTypes.STRING(), DataTypes.ARRAY(USER.not_null()))


@pytest.mark.parametrize("type_", [MONEY, MONEY.not_null(), USER, NESTED], ids=str)
def test_user_defined_types_are_restored_without_their_catalog(type_: DataType) -> None:
    result = exact_type(type_metadata(type_))

    assert type_ == result
    assert type_ == from_field(to_field("f", type_))


def test_metadata_without_definitions_is_ignored() -> None:
    field = to_field("f", MONEY)
    result = {TYPE_KEY.encode(): field.metadata[TYPE_KEY.encode()]}

    assert parse_type("DECIMAL(10, 2)") == from_field(field.with_metadata(result))


@pytest.mark.parametrize(
    "definition",
    [
        None,
        [],
        {},
        {"source": "DECIMAL(", "description": None},
        {"source": "`c`.`d`.`money`", "description": None},
        {"source": 5, "description": None},
        {"source": "DECIMAL(10, 2)", "description": 5},
        {"fields": "INT", "class": None, "description": None},
        {"fields": "STRUCTURED<'x'>", "class": "no class", "description": None},
    ],
)
def test_an_invalid_definition_leaves_the_physical_type(definition: object) -> None:
    field = to_field("f", MONEY)
    invalid = json.dumps({"`c`.`d`.`money`": definition})
    for text in (invalid, "{", "[]", "5", "[" * 100_000):
        result = {**field.metadata, DEFINITIONS_KEY.encode(): text.encode()}

        assert parse_type("DECIMAL(10, 2)") == from_field(field.with_metadata(result))


def test_unsupported_source_types_are_refused() -> None:
    with pytest.raises(UnsupportedError) as caught:
        to_field("f", DistinctType(MONEY.path, DataTypes.DESCRIPTOR()))

    assert "type-not-supported" == caught.value.code


def test_a_path_with_two_definitions_is_omitted() -> None:
    other = DistinctType(MONEY.path, parse_type("INT"))
    row = DataTypes.ROW([DataTypes.FIELD("a", MONEY), DataTypes.FIELD("b", other)])

    assert [TYPE_KEY] == list(type_metadata(row))
    assert row == from_field(to_field("f", row))  # the nested fields have metadata of their own
