from __future__ import annotations

import collections
import copy
import dataclasses
import datetime as dt
import pickle
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, TypedDict, Union

import pytest

from schema_core.errors import ParseError, SchemaCoreError, SchemaError, UnsupportedError
from schema_core.types import (
    DataType,
    DataTypes,
    DistinctType,
    StructuredType,
    UnresolvedType,
    parse_type,
)

Number = typing.NewType("Number", int)


class Pair(NamedTuple):
    left: int
    right: str | None


class Options(TypedDict):
    name: str
    size: NotRequired[int]


@dataclass
class Order:
    amount: Annotated[Decimal, DataTypes.DECIMAL(10, 2)]
    notes: list[str | None]
    constant: typing.ClassVar[int] = 5


@dataclass
class Node:
    next: Node | None


@dataclass
class Lost:
    a: Nowhere  # type: ignore[name-defined]  # noqa: F821


class SelfDescribed:
    def __schema_core_type__(self) -> str | DataType:
        return DataTypes.DATE()

    def __repr__(self) -> str:
        """The same in every process that collects this test."""
        return "SelfDescribed()"


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        (bool,                           "BOOLEAN NOT NULL"),
        (int,                            "BIGINT NOT NULL"),
        (float,                          "DOUBLE NOT NULL"),
        (str,                            "STRING NOT NULL"),
        (bytes,                          "BYTES NOT NULL"),
        (Decimal,                        "DECIMAL(38, 18) NOT NULL"),
        (dt.date,                        "DATE NOT NULL"),
        (dt.time,                        "TIME(6) NOT NULL"),
        (dt.datetime,                    "TIMESTAMP_LTZ(6) NOT NULL"),
        (dt.timedelta,                   "INTERVAL SECOND(6) NOT NULL"),
        (None,                           "NULL"),
        (int | None,                     "BIGINT"),
        (Optional[int],                  "BIGINT"),  # noqa: UP045
        (Union[None, int],               "BIGINT"),  # noqa: UP007
        (list[int],                      "ARRAY<BIGINT NOT NULL> NOT NULL"),
        (list[int | None],        "ARRAY<BIGINT> NOT NULL"),
        (Sequence[str],                  "ARRAY<STRING NOT NULL> NOT NULL"),
        (tuple[int, ...],                "ARRAY<BIGINT NOT NULL> NOT NULL"),
        (tuple[int, str | None],         "ROW<`f0` BIGINT NOT NULL, `f1` STRING> NOT NULL"),
        (dict[str, int],                 "MAP<STRING NOT NULL, BIGINT NOT NULL> NOT NULL"),
        (Mapping[str, int] | None,       "MAP<STRING NOT NULL, BIGINT NOT NULL>"),
        (collections.Counter[str],       "MULTISET<STRING NOT NULL> NOT NULL"),
        (Annotated[int, "a note"],       "BIGINT NOT NULL"),
        (Annotated[Any, parse_type("INT")], "INT"),
        (Literal["a", "b"],              "STRING NOT NULL"),
        (Literal["a", None],             "STRING"),  # noqa: PYI061
        (Number,                         "BIGINT NOT NULL"),
        (Pair,                           "ROW<`left` BIGINT NOT NULL, `right` STRING> NOT NULL"),
        (Options,                        "ROW<`name` STRING NOT NULL, `size` BIGINT> NOT NULL"),
        (SelfDescribed(),                         "DATE"),
        (DataTypes.INT(),                "INT"),
        ("row<a int>",                   "ROW<`a` INT>"),
    ],
    ids=str,
)  # fmt: skip
def test_description(description: object, expected: str) -> None:
    assert expected == DataTypes.of(description).as_summary_string()
    assert DataTypes.of(description) == DataTypes.unresolved(description).resolve()


def test_a_dataclass_is_a_structured_type_of_its_name() -> None:
    @dataclass
    class Inner:
        a: int

    order, inner = DataTypes.of(Order), DataTypes.of(Inner)

    assert isinstance(order, StructuredType)
    assert isinstance(inner, StructuredType)
    assert (f"{__name__}.Order", f"{__name__}.Inner") == (order.class_name, inner.class_name)
    assert "`amount` DECIMAL(10, 2), `notes` ARRAY<STRING> NOT NULL" == ", ".join(
        field.as_summary_string() for field in order.fields
    )


@pytest.mark.parametrize(
    ("description", "path"),
    [
        (object, ()),
        (Any, ()),
        (list, ()),
        (3, ()),
        ([int], ()),
        (int | str, ()),
        (Literal["a", 1], ()),
        (Node, ("field 'next'",)),
        (Lost, ()),
        (list[complex], ()),
        (tuple[int, object], ("field 'f1'",)),
    ],
    ids=str,
)
def test_values_without_a_data_type(description: object, path: tuple[str, ...]) -> None:
    with pytest.raises(SchemaError) as caught:
        DataTypes.of(description)

    assert ("data-type-not-inferred", path) == (caught.value.code, caught.value.path)


def test_types_of_arrow() -> None:
    pa = pytest.importorskip("pyarrow")

    assert "ARRAY<INT>" == str(DataTypes.of(pa.list_(pa.int32())))
    assert "INT NOT NULL" == str(DataTypes.of(pa.field("a", pa.int32(), nullable=False)))
    with pytest.raises(SchemaError) as caught:
        DataTypes.of(pa.array([1]))
    assert "data-type-not-inferred" == caught.value.code


def test_types_of_spark() -> None:
    spark = pytest.importorskip("pyspark.sql.types")
    field = spark.StructField("a", spark.LongType(), nullable=False)

    assert "ROW<`a` BIGINT NOT NULL>" == str(DataTypes.of(spark.StructType([field])))
    assert "BIGINT NOT NULL" == str(DataTypes.of(field))
    with pytest.raises(SchemaError) as caught:
        DataTypes.of(spark.Row(a=1))
    assert "data-type-not-inferred" == caught.value.code


class TestUnresolved:
    def test_descriptions_are_not_inspected_before_resolution(self) -> None:
        wrong = DataTypes.unresolved("no ( type").not_null()

        assert ("[no ( type]", "UnresolvedDataType('no ( type')") == (str(wrong), repr(wrong))
        with pytest.raises(ParseError):
            wrong.resolve()

    def test_unresolved_type_is_printed_as_declared(self) -> None:
        written = DataTypes.unresolved("ROW<a INT>")
        changed = written.not_null()

        assert "[ROW<a INT>]" == str(written) == str(changed) == str(changed.bridged_to("x"))
        assert "ROW<`a` INT> NOT NULL" == str(changed.resolve())
        assert "ROW<`a` INT>" == str(changed.nullable().resolve())

    def test_unresolved_types_compare_by_identity(self) -> None:
        one, other = DataTypes.unresolved("INT"), DataTypes.unresolved("INT")

        assert one == one  # noqa: PLR0124
        assert one != other

    @pytest.mark.parametrize(
        ("written", "shown", "resolved"),
        [
            (DataTypes.ARRAY(DataTypes.unresolved("INT"), nullable=False),
             "[ARRAY<[INT]>]", "ARRAY<INT> NOT NULL"),
            (DataTypes.MULTISET(DataTypes.unresolved(int)),
             "[MULTISET<[int]>]", "MULTISET<BIGINT NOT NULL>"),
            (DataTypes.MAP(DataTypes.STRING(), DataTypes.unresolved("INT")),
             "[MAP<STRING, [INT]>]", "MAP<STRING, INT>"),
            (DataTypes.MAP(DataTypes.unresolved("INT"), DataTypes.unresolved("INT")),
             "[MAP<[INT], [INT]>]", "MAP<INT, INT>"),
            (DataTypes.ROW([DataTypes.unresolved("INT"), DataTypes.DATE()]),
             "[ROW<[INT], DATE>]", "ROW<`f0` INT, `f1` DATE>"),
            (DataTypes.ROW([DataTypes.FIELD("a", DataTypes.unresolved("INT"), "why")]),
             "[ROW<`a` [INT]>]", "ROW<`a` INT '...'>"),
            (DataTypes.STRUCTURED("x.Y", DataTypes.FIELD("a", DataTypes.unresolved("INT"))),
             "[STRUCTURED<'x.Y', `a` [INT]>]", "STRUCTURED<'x.Y', `a` INT>"),
        ],
        ids=str,
    )  # fmt: skip
    def test_a_type_with_an_unresolved_child_is_unresolved(
        self, written: Any, shown: str, resolved: str
    ) -> None:
        assert shown == str(written)
        assert resolved == written.resolve().as_summary_string()

    def test_type_names_are_resolved(self) -> None:
        def types(name: UnresolvedType) -> DataType:
            return (
                DistinctType(("c", "d", *name.path), DataTypes.INT())
                if name.path == ("m",)
                else name
            )

        written = DataTypes.ARRAY(DataTypes.unresolved("m").not_null())

        assert "ARRAY<`c`.`d`.`m` NOT NULL>" == str(written.resolve(types))
        with pytest.raises(UnsupportedError) as caught:
            DataTypes.unresolved("n").resolve(types)
        assert "type-not-found" == caught.value.code

    def test_of_resolves_immediately(self) -> None:
        with pytest.raises(SchemaCoreError) as caught:
            DataTypes.of("my_catalog.db.money")

        assert "type-not-found" == caught.value.code


def test_dataclasses_of_types_are_copied() -> None:
    type_ = DataTypes.of(Order)

    assert type_ == pickle.loads(pickle.dumps(type_)) == copy.deepcopy(type_)
    assert dataclasses.is_dataclass(type_)
