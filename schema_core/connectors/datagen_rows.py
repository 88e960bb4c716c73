"""The values of the connector `datagen`, as expressions of Spark."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from schema_core.connectors.datagen_options import NUMBER_OF_ROWS, SEED, field_option
from schema_core.environment.options import (
    MAX_INT,
    ConfigOption,
    double,
    invalid_value,
    long,
)
from schema_core.errors import Gathering, SchemaError, UnsupportedError, at
from schema_core.mappings.spark.pyspark_types import to_spark_sql
from schema_core.spark.compiler.expression import to_physical
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import sql_type
from schema_core.spark.compiler.tree import Cast, Lambda, Literal, Node, Variable, call
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.types import (
    MAX_LENGTH,
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)

if TYPE_CHECKING:
    from schema_core.spark.connector import ReadContext


def make_generators(context: ReadContext) -> tuple[RowGenerator, list[tuple[Node, str]]]:
    """Return the generators of a table and its columns' expressions; errors as those of `read`."""
    options = context.options
    seed = SEED.of(options)
    rows = RowGenerator(options, secrets.randbits(63) if seed is None else seed)
    problems = Gathering()
    columns: list[tuple[Node, str]] = []
    for name, type_ in context.physical_columns.items():
        with problems.catching(), at(f"column {name!r}"):
            columns.append((rows.column(name, type_), name))
    problems.raise_all()
    rows.require_consumed()
    return rows, columns


#: The column of `SparkSession.range`: the row number.
ROW = ColumnNode("id")


@dataclass(frozen=True, slots=True)
class GeneratedField:
    """A generated column, or a part of one.

    Attributes:
        name: As in options: ``a`` or ``a.element``.
        indexes: Positions in the collections around it, which make its values differ.
    """

    name: str
    indexes: tuple[Node, ...] = ()

    def part(self, name: str, *index: Node) -> GeneratedField:
        return GeneratedField(f"{self.name}.{name}", (*self.indexes, *index))


@dataclass
class RowGenerator:
    """Builds the expressions of columns; collects the options they use and their end."""

    options: Mapping[str, str]
    seed: int
    consumed: set[str] = field(default_factory=set)
    ends: list[int] = field(default_factory=list)

    def column(self, name: str, type_: DataType) -> Node:
        field_ = GeneratedField(name)
        if self.get(field_, "kind") == "sequence":
            return Cast(self.sequence(field_, type_), sql_type(type_))
        return self.value(field_, type_)

    def count(self) -> int:
        """Return how many rows the table has (`unbounded-table`)."""
        number = NUMBER_OF_ROWS.of(self.options)
        ends = self.ends if number is None else [*self.ends, number]
        if not ends:
            raise SchemaError(
                "the table is unbounded: it has neither 'number-of-rows' nor a sequence",
                code="unbounded-table",
                hint="set 'number-of-rows' = '1000', or a column to 'fields.#.kind' = 'sequence'",
            )
        return max(0, min(ends))

    def require_consumed(self) -> None:
        """Refuse options of missing columns, or not for the column's type (`unknown-option`)."""
        keys = {key for key in self.options if key.startswith("fields.")}
        if extra := sorted(keys - self.consumed):
            raise SchemaError(
                f"unsupported option{'s' if len(extra) > 1 else ''}: {', '.join(extra)}",
                code="unknown-option",
                hint="remove it, or use a column whose generator has this option",
            )

    def get(
        self, field_: GeneratedField, suffix: str, parser: Callable[[str], Any] | None = None
    ) -> Any:
        option = field_option(field_.name, suffix)
        self.consumed.add(option.key)
        if parser is not None:
            option = ConfigOption(option.key, parser, option.default)
        return option.of(self.options)

    # --- sequences -------------------------------------------------------------------------

    def sequence(self, field_: GeneratedField, type_: DataType) -> Node:
        kind = type(type_)
        if kind not in _SEQUENCES:
            raise _not_generated(f"{type_.as_summary_string()} has no sequences")
        start, end = (self.number_bound(field_, suffix) for suffix in ("start", "end"))
        limits = _SEQUENCES[kind]
        if limits is None:  # a DECIMAL holds integers of at most 32 bits
            digits = type_.precision - type_.scale  # type: ignore[attr-defined]
            limits = max(-MAX_INT - 1, 1 - 10**digits), min(MAX_INT, 10**digits - 1)
        lowest, greatest = limits
        for suffix, value in (("start", start), ("end", end)):
            if not lowest <= value <= greatest:
                with at(f"option 'fields.{field_.name}.{suffix}'"):
                    raise invalid_value(f"an integer from {lowest} to {greatest}", str(value))
        if end < start or end - start >= 2**63 - 1:
            raise SchemaError(
                f"invalid sequence: start {start}, end {end}",
                code="invalid-option-value",
                hint="set an end of at least the start, and at most 2^63 - 2 values",
            )
        self.ends.append(end - start + 1)
        return inline("{id} + {start}", id=ROW, start=_long(start))

    def number_bound(self, field_: GeneratedField, suffix: str) -> int:
        value: int | None = self.get(field_, suffix)
        if value is None:
            raise SchemaError(
                f"the sequence has no option 'fields.{field_.name}.{suffix}'",
                code="missing-option",
                hint="set the first and the last value: 'fields.#.start' and 'fields.#.end'",
            )
        return value

    # --- random values ---------------------------------------------------------------------

    def value(self, field_: GeneratedField, type_: DataType) -> Node:
        """Return random values of a type, NULL at the rate of its option."""
        generator = _RANDOM.get(type(type_))
        if generator is None:
            raise _not_generated(f"there are no random values of {type_.as_summary_string()}")
        value = _cast_generated(generator(self, field_, type_), type_)
        if isinstance(type_, _NEVER_NULL):
            return value
        rate = self.get(field_, "null-rate")
        if rate == 0:
            return value
        return inline("if({u} > {rate}, {v}, NULL)", u=self.unit(field_, "null"), v=value,
                      rate=_double(rate))  # fmt: skip

    def bits(self, field_: GeneratedField, purpose: str, *more: Node) -> Node:
        """Return 64 random bits for a purpose, from the row and the positions within it."""
        salt = hashlib.blake2b(f"{self.seed}/{purpose}/{field_.name}".encode(), digest_size=8)
        number = int.from_bytes(salt.digest(), "big", signed=True)
        return call("xxhash64", _long(number), ROW, *field_.indexes, *more)

    def unit(self, field_: GeneratedField, purpose: str) -> Node:
        """Return random numbers from 0 to below 1."""
        bits = call("shiftrightunsigned", self.bits(field_, purpose), 11)
        return inline("{bits} * {ulp}", bits=bits, ulp=_double(2.0**-53))

    def integer(
        self, field_: GeneratedField, lowest: int, greatest: int, purpose: str = "value"
    ) -> Node:
        """Return random integers of 64 bits; both bounds are included."""
        size = greatest - lowest + 1
        bits: Node = self.bits(field_, purpose)
        if size == 2**64:
            return bits
        if size < 2**63:
            return inline("pmod({bits}, {size}) + {low}", bits=bits, size=_long(size),
                          low=_long(lowest))  # fmt: skip
        exact = inline("pmod({bits}, {size}) + {low}", bits=Cast(bits, "DECIMAL(20, 0)"),
                       size=Literal(f"{size}", "BD"), low=Literal(f"{lowest}", "BD"))  # fmt: skip
        return Cast(exact, "BIGINT")

    def bounds(
        self, field_: GeneratedField, parser: Callable[[str], Any], lowest: Any, greatest: Any
    ) -> tuple[Any, Any]:
        low, high = (self.get(field_, suffix, parser) for suffix in ("min", "max"))
        return lowest if low is None else low, greatest if high is None else high

    def number(
        self,
        field_: GeneratedField,
        lowest: int,
        greatest: int,
        default: tuple[int, int] | None = None,
    ) -> Node:
        """Return random integers between the options ``min`` and ``max``."""

        def bounded_number(text: str) -> int:
            if not lowest <= (value := long(text)) <= greatest:
                raise invalid_value(f"an integer from {lowest} to {greatest}", text)
            return value

        low, high = self.bounds(field_, bounded_number, *(default or (lowest, greatest)))
        if low > high:
            raise _empty(field_, low, high)
        return self.integer(field_, low, high)

    def floating(self, field_: GeneratedField, lowest: float, greatest: float) -> Node:
        low, high = self.bounds(field_, _finite(greatest), lowest, greatest)
        if low >= high:
            raise _empty(field_, low, high)
        return self.uniform(field_, low, high)

    def uniform(self, field_: GeneratedField, low: float, high: float) -> Node:
        return inline("{u} * {high} + (1 - {u}) * {low}", u=self.unit(field_, "value"),
                      high=_double(high), low=_double(low))  # fmt: skip

    def decimal(self, field_: GeneratedField, type_: DecimalType) -> Node:
        low, high = self.bounds(field_, double, 4.9e-324, MAX_DOUBLE)
        largest = 10.0 ** (type_.precision - type_.scale) - 10.0**-type_.scale
        low, high = max(-largest, low), min(largest, high)
        if not low < high:
            raise _empty(field_, low, high)
        return Cast(self.uniform(field_, low, high), sql_type(type_))

    # --- random strings and collections ----------------------------------------------------

    def chunks(self, field_: GeneratedField, length: int, unit: int) -> Node:
        """Return random strings of hexadecimal digits (unit 16) or bytes (unit 8)."""
        count = max(1, -(-length // unit))
        if count <= MAX_INLINE:
            parts = [Cast(self.bits(field_, f"chunk {index}"), "BINARY") for index in range(count)]
            chunks = parts[0] if count == 1 else call("concat", *parts)
            return call("hex", chunks) if unit == 16 else chunks
        position = Variable()
        chunk = call("hex", Cast(self.bits(field_, "chunk", position), "BINARY"))
        positions = call("sequence", 1, count)
        text = call("array_join", call("transform", positions, Lambda((position,), chunk)), "")
        return text if unit == 16 else call("unhex", text)

    def text(self, field_: GeneratedField, type_: DataType) -> Node:
        """Return random hexadecimal digits or bytes, of the option's length."""
        is_text = isinstance(type_, CharType | VarCharType)
        if isinstance(type_, CharType | BinaryType):
            length, varies = type_.length, False
        else:
            length, varies = self.length(field_, type_)
        value = self.chunks(field_, length, 16 if is_text else 8)
        size: Node = Literal(length)
        if varies:
            size = Cast(self.integer(field_, 1, length - 1, "length"), "INT")
        value = call("substring", value, 1, size)
        return call("lower", value) if is_text else value

    def length(self, field_: GeneratedField, type_: DataType) -> tuple[int, bool]:
        limit: int = type_.length  # type: ignore[attr-defined]
        option: int | None = self.get(field_, "length")
        length = (100 if limit == MAX_LENGTH else limit) if option in (None, MAX_LENGTH) else option
        varies: bool = self.get(field_, "var-len")
        lowest = 2 if varies else 1 if isinstance(type_, VarCharType) else 0
        if not lowest <= length <= limit:
            with at(f"option 'fields.{field_.name}.length'"):
                raise invalid_value(f"a length from {lowest} to {limit}", str(length))
        return length, varies

    def elements(self, field_: GeneratedField) -> int:
        length: int | None = self.get(field_, "length")
        if length is not None and length < 0:
            with at(f"option 'fields.{field_.name}.length'"):
                raise invalid_value("a length of at least 0", str(length))
        return 3 if length is None else length

    def array(self, field_: GeneratedField, name: str, type_: DataType, length: int) -> Node:
        """Return arrays of random values."""
        if length == 0:  # the options are checked nevertheless
            self.value(field_.part(name), type_)
            return Cast(call("array"), f"ARRAY<{to_spark_sql(type_)}>")
        position = Variable()
        value = self.value(field_.part(name, position), type_)
        return call("transform", call("sequence", 1, length), Lambda((position,), value))

    def keys(self, field_: GeneratedField, name: str, type_: DataType, length: int) -> Node:
        if self.get(field_.part(name), "null-rate") if not isinstance(type_, _NEVER_NULL) else 0:
            raise SchemaError(
                f"option 'fields.{field_.name}.{name}.null-rate': "
                "maps and multisets of Spark cannot hold NULL as a key",
                code="invalid-option-value",
            )
        return self.array(field_, name, type_, length)

    def mapping(self, field_: GeneratedField, type_: MapType) -> Node:
        length = self.elements(field_)
        keys = self.keys(field_, "key", type_.key_type, length)
        values = self.array(field_, "value", type_.value_type, length)
        return call("map_from_arrays", keys, values)

    def multiset(self, field_: GeneratedField, type_: MultisetType) -> Node:
        length = self.elements(field_)
        keys = self.keys(field_, "element", type_.element_type, length)
        if length == 0:
            return call("map_from_arrays", keys, Cast(call("array"), "ARRAY<INT>"))
        position = Variable()
        count = self.integer(
            GeneratedField(field_.name, (*field_.indexes, position)), 0, 10, "count"
        )
        counts = Lambda((position,), Cast(count, "INT"))
        return call("map_from_arrays", keys, call("transform", call("sequence", 1, length), counts))

    def row(self, field_: GeneratedField, type_: RowType) -> Node:
        arguments: list[Node | str] = []
        for part in type_.fields:
            arguments += [part.name, self.value(field_.part(part.name), part.data_type)]
        return call("named_struct", *arguments)

    # --- time ------------------------------------------------------------------------------

    def timestamp(
        self, field_: GeneratedField, type_: TimestampType | LocalZonedTimestampType
    ) -> Node:
        """Return the current instant, less a random time up to ``max-past``."""
        past = self.get(field_, "max-past") // 1_000_000
        instant: Node = _now_millis()
        if past > 0:
            instant = inline("{now} - {past}", now=instant, past=self.integer(field_, 0, past))
        unit = 10 ** max(0, 3 - type_.precision)
        if unit > 1:
            instant = inline("{now} - pmod({now}, {unit})", now=instant, unit=_long(unit))
        value = call("timestamp_millis", instant)
        return value if isinstance(type_, LocalZonedTimestampType) else Cast(value, "TIMESTAMP_NTZ")


#: Hashes of 8 bytes that are concatenated; longer strings are joined from an array.
MAX_INLINE = 32
#: The range of Spark's day-time intervals (microseconds), in milliseconds.
MAX_INTERVAL = (2**63 - 1) // 1_000
MAX_FLOAT, MAX_DOUBLE = 3.4028234663852886e38, 1.7976931348623157e308

#: Flink's generators of these types have no option ``null-rate``.
_NEVER_NULL = (BinaryType, VarBinaryType, DateType, TimeType)

_LONGS = (-(2**63), 2**63 - 1)

#: Type -> the range of its sequences; None for the type's own.
_SEQUENCES: dict[type[DataType], tuple[int, int] | None] = {
    CharType: _LONGS,
    VarCharType: _LONGS,
    BinaryType: _LONGS,
    VarBinaryType: _LONGS,
    TinyIntType: (-(2**7), 2**7 - 1),
    SmallIntType: (-(2**15), 2**15 - 1),
    IntType: (-(2**31), 2**31 - 1),
    BigIntType: _LONGS,
    FloatType: (-(2**15), 2**15 - 1),
    DoubleType: (-(2**31), 2**31 - 1),
    DecimalType: None,
}

#: Type -> generator of its random values in physical form, before the cast.
_RANDOM: dict[type[DataType], Callable[[RowGenerator, GeneratedField, Any], Node]] = {
    BooleanType: lambda rows, at_, _: inline("{bits} < 0", bits=rows.bits(at_, "value")),
    TinyIntType: lambda rows, at_, _: rows.number(at_, -(2**7), 2**7 - 1),
    SmallIntType: lambda rows, at_, _: rows.number(at_, -(2**15), 2**15 - 1),
    IntType: lambda rows, at_, _: rows.number(at_, -(2**31), 2**31 - 1),
    BigIntType: lambda rows, at_, _: rows.number(at_, *_LONGS),
    FloatType: lambda rows, at_, _: rows.floating(at_, 1.401298464324817e-45, MAX_FLOAT),
    DoubleType: lambda rows, at_, _: rows.floating(at_, 4.9e-324, MAX_DOUBLE),
    DecimalType: lambda rows, at_, type_: rows.decimal(at_, type_),
    CharType: lambda rows, at_, type_: rows.text(at_, type_),
    VarCharType: lambda rows, at_, type_: rows.text(at_, type_),
    BinaryType: lambda rows, at_, type_: rows.text(at_, type_),
    VarBinaryType: lambda rows, at_, type_: rows.text(at_, type_),
    DateType: lambda _rows, _at, _type: _local_time(),
    TimeType: lambda _rows, _at, _type: _local_time(),
    TimestampType: lambda rows, at_, type_: rows.timestamp(at_, type_),
    LocalZonedTimestampType: lambda rows, at_, type_: rows.timestamp(at_, type_),
    YearMonthIntervalType: lambda rows, at_, _: rows.number(at_, -(2**31), 2**31 - 1, (0, 120_000)),
    DayTimeIntervalType: lambda rows, at_, _: rows.number(at_, -MAX_INTERVAL, MAX_INTERVAL),
    ArrayType: lambda rows, at_, type_: rows.array(
        at_, "element", type_.element_type, rows.elements(at_)
    ),
    MapType: lambda rows, at_, type_: rows.mapping(at_, type_),
    MultisetType: lambda rows, at_, type_: rows.multiset(at_, type_),
    RowType: lambda rows, at_, type_: rows.row(at_, type_),
}

_COLLECTIONS = (ArrayType, MapType, MultisetType, RowType)


def _cast_generated(node: Node, type_: DataType) -> Node:
    """Cast a generated value to its Spark type; parts of collections are already cast."""
    if isinstance(type_, _COLLECTIONS):
        return node
    if isinstance(type_, YearMonthIntervalType | DayTimeIntervalType):
        return to_physical(node, type_)
    return Cast(node, sql_type(type_))


def _finite(greatest: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        value = double(text)
        if not -greatest <= value <= greatest:
            raise invalid_value(f"a number from {-greatest} to {greatest}", text)
        return value

    return parse


def _long(value: int) -> Node:
    return Cast(Literal(str(value)), "BIGINT")


def _double(value: float) -> Node:
    return Cast(Literal(repr(value)), "DOUBLE")


def _now_millis() -> Node:
    return call("unix_millis", call("current_timestamp"))


def _local_time() -> Node:
    """Return the current time in the driver's time zone, as Flink's connector does."""
    offset = time.localtime().tm_gmtoff * 1_000
    millis = inline("{now} + {offset}", now=_now_millis(), offset=_long(offset))
    return Cast(call("timestamp_millis", millis), "TIMESTAMP_NTZ")


def _not_generated(problem: str) -> UnsupportedError:
    return UnsupportedError(
        problem, code="type-not-supported", hint="use another type, or a computed column"
    )


def _empty(field_: GeneratedField, low: object, high: object) -> SchemaError:
    return SchemaError(
        f"options 'fields.{field_.name}.min' and 'fields.{field_.name}.max': "
        f"there is no value between {low} and {high}",
        code="invalid-option-value",
    )
