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
        (lambda: T.CHAR(HUGE),                                  "invalid-type-parameter"),
        (lambda: T.CHAR(True),                                  "invalid-type-parameter"),
        (lambda: T.CHAR("3"),                                   "invalid-type-parameter"),
        (lambda: T.CHAR(None),                                  "invalid-type-parameter"),
        (lambda: T.DECIMAL(3.0, 1),                             "invalid-type-parameter"),
        (lambda: T.DECIMAL(Broken(), 1),                        "invalid-type-parameter"),
        (lambda: T.INT("no"),                                   "invalid-type-parameter"),
        (lambda: T.INT().with_nullability(None),                "invalid-type-parameter"),
        (lambda: T.TIMESTAMP(3, Broken()),                      "invalid-type-parameter"),
        (lambda: TimestampType(3, kind=NO),                     "invalid-type-parameter"),
        (lambda: YearMonthIntervalType(NO),                     "invalid-type-parameter"),
        (lambda: DayTimeIntervalType(NO),                       "invalid-type-parameter"),
        (lambda: T.INTERVAL(5),                                 "invalid-type-parameter"),
        (lambda: T.INTERVAL(T.DAY("x")),                        "invalid-type-parameter"),
        (lambda: T.INTERVAL(T.DAY(), 5),                        "invalid-type-parameter"),
        (lambda: T.ARRAY(None),                                 "not-a-type"),
        (lambda: T.ARRAY(int),                                  "not-a-type"),
        (lambda: T.MULTISET(Broken()),                          "not-a-type"),
        (lambda: T.MAP(T.INT(), 5),                             "not-a-type"),
        (lambda: T.MAP(T.unresolved("a"), 5),                   "not-a-type"),
        (lambda: T.ROW([5]),                                    "not-a-type"),
        (lambda: T.ROW([T.unresolved("a"), 5]),                 "not-a-type"),
        (lambda: T.ROW(5),                                      "not-a-field"),
        (lambda: T.ROW("ab"),                                   "not-a-field"),
        (lambda: T.STRUCTURED("x.Y", T.INT()),                  "not-a-field"),
        (lambda: RowType(NO),                                   "not-a-field"),
        (lambda: RowType([RowField("a", NO)]),                  "not-a-type"),
        (lambda: T.ROW([T.FIELD("a", T.INT())]).add("b"),       "not-a-type"),
        (lambda: T.FIELD("a", 5),                               "not-a-type"),
        (lambda: T.FIELD(5, T.INT()),                           "not-a-string"),
        (lambda: T.FIELD(5, T.unresolved("a")),                 "not-a-string"),
        (lambda: T.FIELD("a", T.INT(), 5),                      "not-a-string"),
        (lambda: T.STRUCTURED(5),                               "not-a-string"),
        (lambda: T.STRUCTURED(5, T.FIELD("a", T.unresolved("b"))), "not-a-string"),
        (lambda: T.RAW(5, "AAFB"),                              "not-a-string"),
        (lambda: RawType("x.Y", HUGE),                          "not-a-string"),
        (lambda: StructuredType(None, path=NO),                 "not-a-string"),
        (lambda: DistinctType(NO, T.INT()),                     "not-a-string"),
        (lambda: UnresolvedType(NO),                            "not-a-string"),
        (lambda: LegacyType(NO, "x"),                           "invalid-legacy-type"),
        (lambda: LegacyType(TypeRoot.CHAR, HUGE),               "not-a-string"),
        (DataType,                                              "not-a-type"),
        (lambda: parse_type(HUGE),                              "not-a-string"),
        (lambda: parse_type(UNHASHABLE),                        "not-a-string"),
        (lambda: T.of(HUGE),                                    "data-type-not-inferred"),
        (lambda: T.of(Broken()),                                "data-type-not-inferred"),
        (lambda: infer_type(HUGE),                              "data-type-not-inferred"),
        (lambda: require_resolved(NO),                          "not-a-type"),
        (lambda: can_cast(T.INT(), NO),                         "not-a-type"),
        (lambda: supports_avoiding_cast(NO, T.INT()),           "not-a-type"),
        (lambda: common_type(NO),                               "not-a-type"),
        (lambda: common_type([T.INT(), NO]),                    "not-a-type"),
        (lambda: least_restrictive([NO]),                       "not-a-type"),
        (lambda: accepts(NO, 1),                                "not-a-type"),
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
    assert "too-deep" == caught.value.code


@pytest.mark.parametrize("wrap", WRAPPINGS[:6])
def test_nesting_of_unresolved_types_is_limited(wrap: Callable[[Any], Any]) -> None:
    type_: Any = T.unresolved("INT")
    for _ in range(MAX_DEPTH - 1):
        type_ = wrap(type_) if wrap is not ArrayType else T.ARRAY(type_)

    assert MAX_DEPTH == type_.resolve().depth
    with pytest.raises(SchemaError) as caught:
        T.ARRAY(type_)
    assert "too-deep" == caught.value.code


def test_named_types_beyond_the_nesting_limit_are_refused_when_resolved() -> None:
    deep = T.INT()
    for _ in range(MAX_DEPTH - 1):
        deep = T.ARRAY(deep)

    with pytest.raises(SchemaCoreError) as caught:
        T.ARRAY(T.unresolved("name")).resolve(lambda name: deep)
    assert "too-deep" == caught.value.code


def test_cyclic_values_are_refused() -> None:
    endless: list[Any] = []
    endless += [endless, endless]
    with pytest.raises(SchemaError) as caught:
        infer_type(endless)

    assert "too-deep" == caught.value.code
    assert "nested more than 64 levels deep" in str(reject_reason(T.VARIANT(), endless))
    assert accepts(T.VARIANT(), [{"a": [1, None, {"b": "c"}]}])


def test_nesting_of_type_descriptions_is_limited() -> None:
    description: Any = int
    for _ in range(2_000):
        description = list[description]
    with pytest.raises(SchemaError) as caught:
        T.of(description)

    assert "too-deep" == caught.value.code


def test_length_zero_is_valid_only_for_literals() -> None:
    assert 0 == VarCharType.empty().length
    with pytest.raises(SchemaError):
        CharType(0)
