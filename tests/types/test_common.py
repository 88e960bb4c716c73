from __future__ import annotations

import re

import pytest

from schema_core.types import (
    CharType,
    DataTypes,
    DecimalType,
    DistinctType,
    RawType,
    TimestampKind,
    TypeRoot,
    VarCharType,
    common_type,
    least_restrictive,
    parse_type,
)
from schema_core.types.common import (
    DIGITS,
    FORMULAS,
    as_decimal,
    decimal_average,
    decimal_result,
    decimal_round,
    decimal_sum,
)
from schema_core.types.families import MEMBERS, TypeFamily
from tests.support import cases, listed


@pytest.mark.parametrize(("types", "expected"), cases("common"))
def test_common_type(types: str, expected: str) -> None:
    result = common_type([parse_type(text) for text in listed(types)])

    assert (None if expected == "none" else parse_type(expected)) == result


@pytest.mark.parametrize(("types", "expected"), cases("least_restrictive"))
def test_least_restrictive(types: str, expected: str) -> None:
    result = least_restrictive([parse_type(text) for text in listed(types)])

    assert (None if expected == "none" else parse_type(expected)) == result


def test_empty_input_has_no_common_type() -> None:
    assert common_type([]) is None
    assert least_restrictive([]) is None


def test_the_common_type_keeps_the_time_attribute_of_the_first() -> None:
    plain = DataTypes.TIMESTAMP(3)
    rowtime = plain.with_kind(TimestampKind.ROWTIME)

    kinds = [
        getattr(common_type(types), "kind", None)
        for types in ([rowtime, plain], [plain, rowtime], [rowtime, DataTypes.TIMESTAMP(6)])
    ]

    assert [TimestampKind.ROWTIME, TimestampKind.REGULAR, TimestampKind.REGULAR] == kinds


def test_strings_of_length_zero() -> None:
    empty = CharType.empty()

    assert empty == common_type([empty, empty])
    assert VarCharType(3, nullable=False) == common_type([empty, CharType(3, nullable=False)])


def test_distinct_types_have_a_common_type_by_cast() -> None:
    money, weight = (DistinctType((name,), DataTypes.INT()) for name in "mw")

    assert money == common_type([DataTypes.INT(), money])
    assert DataTypes.BIGINT() == common_type([money, DataTypes.BIGINT()])
    assert common_type([money, weight]) is None


def test_different_raw_types_have_no_common_type() -> None:
    one, other = RawType("a.B", "AANhLkI="), RawType("a.C", "AANhLkM=")

    assert one == common_type([one, one.not_null()])
    assert one == common_type([one, DataTypes.NULL()])
    assert common_type([one, other]) is None


@pytest.mark.parametrize(("operation", "expected"), cases("decimals"))
def test_decimal(operation: str, expected: str) -> None:
    types = [parse_type(text) for text in re.findall(r"DECIMAL\(.+?\)", operation)]
    first, *others = (type_ for type_ in types if isinstance(type_, DecimalType))
    match re.sub(r"DECIMAL\(.+?\)", "", operation).split():
        case ["SUM"]:
            result = decimal_sum(first)
        case ["AVG"]:
            result = decimal_average(first)
        case ["ROUND", digits]:
            result = decimal_round(first, int(digits))
        case [operator]:
            result = decimal_result(operator, first, *others)

    assert parse_type(f"{expected} NOT NULL") == result


def test_every_integer_is_a_decimal() -> None:
    assert set(DIGITS) == MEMBERS[TypeFamily.INTEGER_NUMERIC]
    assert DecimalType(19, nullable=False) == as_decimal(DataTypes.BIGINT())
    assert MEMBERS[TypeFamily.EXACT_NUMERIC] - set(DIGITS) == {TypeRoot.DECIMAL}


@pytest.mark.parametrize("operator", FORMULAS)
def test_every_pair_of_decimals_has_a_result(operator: str) -> None:
    """All extremes of precision and scale; a result out of range would raise."""
    ends = [(1, 0), (1, 1), (19, 0), (19, 19), (38, 0), (38, 19), (38, 38)]
    types = [DecimalType(*end) for end in ends]

    for left in types:
        for right in types:
            assert decimal_result(operator, left, right).precision <= 38
