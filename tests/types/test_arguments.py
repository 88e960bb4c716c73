"""Arguments of types are accepted, or refused with an error code of the library."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from schema_core.base.text import MAX_DEPTH
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.types import (
    ArrayType,
    CharType,
    DataType,
    DataTypes,
    DayTimeIntervalType,
    DistinctType,
    LegacyType,
    RawType,
    RowField,
    RowType,
    StructuredType,
    TimestampType,
    TypeRoot,
    UnresolvedType,
    VarCharType,
    YearMonthIntervalType,
    accepts,
    can_cast,
    common_type,
    infer_type,
    least_restrictive,
    parse_type,
    reject_reason,
    require_resolved,
    supports_avoiding_cast,
)

#: So long that Python itself refuses to print it.
HUGE: Any = 10**5_000
NO: Any = "no"
UNHASHABLE: Any = []
T: Any = DataTypes


class Broken:
    """An object that can be neither printed nor compared."""

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: T.CHAR(HUGE),                                  "invalid-type"),
        (lambda: T.CHAR(True),                                  "invalid-type"),
        (lambda: T.CHAR("3"),                                   "invalid-type"),
        (lambda: T.CHAR(None),                                  "invalid-type"),
        (lambda: T.DECIMAL(3.0, 1),                             "invalid-type"),
        (lambda: T.DECIMAL(Broken(), 1),                        "invalid-type"),
        (lambda: T.INT("no"),                                   "invalid-type"),
        (lambda: T.INT().with_nullability(None),                "invalid-type"),
        (lambda: T.TIMESTAMP(3, Broken()),                      "invalid-type"),
        (lambda: TimestampType(3, kind=NO),                     "invalid-type"),
        (lambda: YearMonthIntervalType(NO),                     "invalid-type"),
        (lambda: DayTimeIntervalType(NO),                       "invalid-type"),
        (lambda: T.INTERVAL(5),                                 "invalid-type"),
        (lambda: T.INTERVAL(T.DAY("x")),                        "invalid-type"),
        (lambda: T.INTERVAL(T.DAY(), 5),                        "invalid-type"),
        (lambda: T.ARRAY(None),                                 "invalid-argument"),
        (lambda: T.ARRAY(int),                                  "invalid-argument"),
        (lambda: T.MULTISET(Broken()),                          "invalid-argument"),
        (lambda: T.MAP(T.INT(), 5),                             "invalid-argument"),
        (lambda: T.MAP(T.unresolved("a"), 5),                   "invalid-argument"),
        (lambda: T.ROW([5]),                                    "invalid-argument"),
        (lambda: T.ROW([T.unresolved("a"), 5]),                 "invalid-argument"),
        (lambda: T.ROW(5),                                      "invalid-argument"),
        (lambda: T.ROW("ab"),                                   "invalid-argument"),
        (lambda: T.STRUCTURED("x.Y", T.INT()),                  "invalid-argument"),
        (lambda: RowType(NO),                                   "invalid-argument"),
        (lambda: RowType([RowField("a", NO)]),                  "invalid-argument"),
        (lambda: T.ROW([T.FIELD("a", T.INT())]).add("b"),       "invalid-argument"),
        (lambda: T.FIELD("a", 5),                               "invalid-argument"),
        (lambda: T.FIELD(5, T.INT()),                           "invalid-argument"),
        (lambda: T.FIELD(5, T.unresolved("a")),                 "invalid-argument"),
        (lambda: T.FIELD("a", T.INT(), 5),                      "invalid-argument"),
        (lambda: T.STRUCTURED(5),                               "invalid-argument"),
        (lambda: T.STRUCTURED(5, T.FIELD("a", T.unresolved("b"))), "invalid-argument"),
        (lambda: T.RAW(5, "AAFB"),                              "invalid-argument"),
        (lambda: RawType("x.Y", HUGE),                          "invalid-argument"),
        (lambda: StructuredType(None, path=NO),                 "invalid-argument"),
        (lambda: DistinctType(NO, T.INT()),                     "invalid-argument"),
        (lambda: UnresolvedType(NO),                            "invalid-argument"),
        (lambda: LegacyType(NO, "x"),                           "invalid-type"),
        (lambda: LegacyType(TypeRoot.CHAR, HUGE),               "invalid-argument"),
        (DataType,                                              "invalid-argument"),
        (lambda: parse_type(HUGE),                              "invalid-argument"),
        (lambda: parse_type(UNHASHABLE),                        "invalid-argument"),
        (lambda: T.of(HUGE),                                    "data-type-not-inferred"),
        (lambda: T.of(Broken()),                                "data-type-not-inferred"),
        (lambda: infer_type(HUGE),                              "data-type-not-inferred"),
        (lambda: require_resolved(NO),                          "invalid-argument"),
        (lambda: can_cast(T.INT(), NO),                         "invalid-argument"),
        (lambda: supports_avoiding_cast(NO, T.INT()),           "invalid-argument"),
        (lambda: common_type(NO),                               "invalid-argument"),
        (lambda: common_type([T.INT(), NO]),                    "invalid-argument"),
        (lambda: least_restrictive([NO]),                       "invalid-argument"),
        (lambda: accepts(NO, 1),                                "invalid-argument"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_refused(make: Callable[[], object], code: str) -> None:
    with pytest.raises(SchemaError) as caught:
        make()

    assert code == caught.value.code
    assert len(str(caught.value)) < 300


def test_fields_may_come_from_a_generator() -> None:
    """The check for unresolved types must not consume it."""
    assert "ROW<`f0` INT, `f1` DATE>" == str(T.ROW(item for item in (T.INT(), T.DATE())))


def test_a_name_can_contain_braces() -> None:
    assert "[STRUCTURED<'x', `{}` [{0}]>]" == str(
        T.STRUCTURED("x", T.FIELD("{}", T.unresolved("{0}")))
    )


# --- depth ---------------------------------------------------------------------------------------

WRAPPINGS: list[Callable[[Any], Any]] = [
    ArrayType,
    lambda item: T.MULTISET(item, nullable=False),
    lambda item: T.MAP(item, T.INT()),
    lambda item: T.MAP(T.INT(), item),
    lambda item: T.ROW([T.FIELD("a", item)]),
    lambda item: T.STRUCTURED("x.Y", T.FIELD("a", item)),
    lambda item: DistinctType(("c", "d", "t"), item),
    T.LIST_VIEW,
    lambda item: T.MAP_VIEW(T.INT(), item),
]


@pytest.mark.parametrize("wrap", WRAPPINGS)
def test_nesting_of_types_is_limited(wrap: Callable[[Any], Any]) -> None:
    type_: Any = T.INT()
    for _ in range(MAX_DEPTH - 1):
        type_ = wrap(type_)

    assert MAX_DEPTH == type_.depth
    assert type_ == pickle.loads(pickle.dumps(type_))
    assert hash(type_) == hash(type_.rebuild(type_.children()))
    assert MAX_DEPTH == str(type_).count("<") + 1 or isinstance(type_, DistinctType)
    assert MAX_DEPTH <= len(list(type_.walk()))
    with pytest.raises(SchemaError) as caught:
        wrap(type_)
    assert "limit-exceeded" == caught.value.code


@pytest.mark.parametrize("wrap", WRAPPINGS[:6])
def test_nesting_of_unresolved_types_is_limited(wrap: Callable[[Any], Any]) -> None:
    type_: Any = T.unresolved("INT")
    for _ in range(MAX_DEPTH - 1):
        type_ = wrap(type_) if wrap is not ArrayType else T.ARRAY(type_)

    assert MAX_DEPTH == type_.resolve().depth
    with pytest.raises(SchemaError) as caught:
        T.ARRAY(type_)
    assert "limit-exceeded" == caught.value.code


def test_named_types_beyond_the_nesting_limit_are_refused_when_resolved() -> None:
    deep = T.INT()
    for _ in range(MAX_DEPTH - 1):
        deep = T.ARRAY(deep)

    with pytest.raises(SchemaCoreError) as caught:
        T.ARRAY(T.unresolved("name")).resolve(lambda name: deep)
    assert "limit-exceeded" == caught.value.code


def test_cyclic_values_are_refused() -> None:
    endless: list[Any] = []
    endless += [endless, endless]
    with pytest.raises(SchemaError) as caught:
        infer_type(endless)

    assert "limit-exceeded" == caught.value.code
    assert "nested more than 64 levels deep" in str(reject_reason(T.VARIANT(), endless))
    assert accepts(T.VARIANT(), [{"a": [1, None, {"b": "c"}]}])


def test_nesting_of_type_descriptions_is_limited() -> None:
    description: Any = int
    for _ in range(2_000):
        description = list[description]
    with pytest.raises(SchemaError) as caught:
        T.of(description)

    assert "limit-exceeded" == caught.value.code


def test_length_zero_is_valid_only_for_literals() -> None:
    assert 0 == VarCharType.empty().length
    with pytest.raises(SchemaError):
        CharType(0)
