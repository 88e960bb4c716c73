"""Answers about values: what an expression computes over the recorded tables, run by Spark.

One Spark session stays warm; a table becomes a temporary view once. Its rows are so few that Spark
computes them while it plans, without a job. Where there is no Spark every answer is a refusal.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
import math
import struct
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

from properties.answers.attempt import Operation
from properties.answers.fixtures import TABLES
from properties.recorded import Answer, Question
from schema_core.expressions.type_checker import ColumnScope, infer
from schema_core.spark.compiler.expression import TranslationContext, compile_expression
from schema_core.spark.compiler.query import QueryCompiler
from schema_core.spark.compiler.translation import MICROS, NANOS, is_fine, sql_type
from schema_core.spark.compiler.tree import Cast, quote, string
from schema_core.spark.jobs import spark_errors
from schema_core.spark.session.session import JobSession
from schema_core.sql.parser import parse_expression
from schema_core.types import (
    AnyTimestampType,
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DataTypes,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    StructuredType,
    TimeType,
    VarBinaryType,
    VarCharType,
)

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
#: The session in which expressions are evaluated.
SESSION = JobSession()
#: Integers beyond this are written as strings.
EXACT = 2**53


def evaluate(question: Question) -> Answer:
    """The type of an expression and its value in every row of a table."""
    scope = ColumnScope(columns(question["table"]), streaming=False)
    typed = infer(scope, parse_expression(question["expr"]))
    node = compile_expression(typed, TranslationContext(question.get("zone", "UTC")))
    if is_fine(typed.type):
        node = Cast(node, sql_type(typed.type))  # Arrow requires fields that are nullable
    sql = QueryCompiler(lambda scan: "").projection([(node, "value")], view(question["table"]))
    with spark_errors():
        frame = SESSION.get().sql(sql)
        result = fetched(frame.toArrow().column(0))
    return {
        "type": typed.type.as_serializable_string(),
        "values": [None if value is None else canonical(value, typed.type) for value in result],
    }


def fetched(column: Any) -> list[Any]:
    """Return the values of an Arrow column; datetimes as numbers, since Python has no year 0."""
    import pyarrow as pa

    if pa.types.is_date(column.type):
        return list(column.cast(pa.int32()).to_pylist())
    if pa.types.is_timestamp(column.type):
        return list(column.cast(pa.int64()).to_pylist())
    if pa.types.is_struct(column.type) and column.type.names == [MICROS, NANOS]:
        micros, nanos = column.combine_chunks().flatten()
        pairs = zip(micros.cast(pa.int64()).to_pylist(), nanos.to_pylist(), strict=True)
        return [None if micros is None else micros * 1000 + beyond for micros, beyond in pairs]
    return list(column.to_pylist())


# --- tables --------------------------------------------------------------------------------------


@cache
def columns(table: str) -> dict[str, DataType]:
    """The columns of a recorded table."""
    return {name: DataTypes.of(text) for name, text in TABLES[table]["columns"].items()}


@cache
def view(table: str) -> str:
    """The name of a temporary view with the rows of a recorded table."""
    types = columns(table)
    rows = ", ".join(
        f"({', '.join(map(cell, row, types.values()))})" for row in TABLES[table]["rows"]
    )
    names = ", ".join(map(quote, types))
    name = f"schema_core_recorded_{table}"
    SESSION.get().conf.set("spark.sql.leafNodeDefaultParallelism", "1")  # so few rows, one task
    frame = SESSION.get().sql(f"SELECT * FROM VALUES {rows} AS rows({names})")
    frame.createOrReplaceTempView(name)
    return name


def cell(value: Any, type_: DataType) -> str:
    """A recorded value as a constant of Spark's; intervals stay numbers, as in expressions."""
    if value is None:
        return f"CAST(NULL AS {sql_type(type_)})"
    match type_:
        case CharType() | VarCharType():
            return string(value)
        case BinaryType() | VarBinaryType():
            return f"X'{value[2:]}'"
        case AnyTimestampType() if is_fine(type_):
            second, _, fraction = value.removesuffix("Z").partition(".")
            whole = string(f"{second}.{fraction[:6]}{'Z' if value.endswith('Z') else ''}")
            beyond = int(fraction[6:].ljust(3, "0"))
            return f"CAST(struct({whole}, {beyond}) AS {sql_type(type_)})"
        case AnyTimestampType():
            return f"CAST({string(value)} AS {sql_type(type_)})"
        case ArrayType():
            inner = ", ".join(cell(element, type_.element_type) for element in value)
            return f"CAST(array({inner}) AS {sql_type(type_)})"
        case MapType() | MultisetType():
            kinds = (*type_.children(), DataTypes.INT())[:2]
            pairs = (pair for entry in value for pair in zip(entry, kinds, strict=True))
            inner = ", ".join(cell(*pair) for pair in pairs)
            return f"CAST(map({inner}) AS {sql_type(type_)})"
        case RowType():
            named = zip(value, type_.fields, strict=True)
            inner = ", ".join(f"{string(f.name)}, {cell(item, f.data_type)}" for item, f in named)
            return f"CAST(named_struct({inner}) AS {sql_type(type_)})"
        case _:
            return f"CAST({string(str(value).lower())} AS {sql_type(type_)})"


# --- canonical values ----------------------------------------------------------------------------


def canonical(value: Any, type_: DataType) -> Any:
    """A value as VALUES-FORMAT.md writes it."""
    if value is None:
        return None
    for kind, write in WRITERS.items():
        if isinstance(type_, kind):
            return write(value, type_)
    if isinstance(value, int) and abs(value) > EXACT:
        return str(value)
    return value


def decimal(value: Decimal, type_: Any) -> str:
    """Return a plain number with all digits after the point."""
    return f"{value:.{type_.scale}f}"


def java_double(value: float, type_: DataType) -> str:
    """The fewest digits that read back as the same number, in Java's layout.

    >>> java_double(1e7, DataTypes.DOUBLE()), java_double(0.1, DataTypes.FLOAT())
    ('1.0E7', '0.1')
    >>> java_double(1e-45, DataTypes.FLOAT())
    '1.4E-45'
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0.0" if str(value).startswith("-") else "0.0"
    sign, digits, exponent = Decimal(shortest(value, type_)).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + exponent
    prefix = "-" if sign else ""
    if -2 <= point <= 7:
        padded = text.ljust(point, "0") if point > 0 else "0" * (1 - point) + text
        cut = max(point, 1)
        return f"{prefix}{padded[:cut]}.{padded[cut:] or '0'}"
    return f"{prefix}{text[0]}.{text[1:] or '0'}E{point - 1}"


def shortest(value: float, type_: DataType) -> str:
    """The fewest digits for a number of 8 bytes, or of 4."""
    if isinstance(type_, DoubleType):
        two = f"{value:.1e}"  # of the numbers of one digit, Java takes the nearest of two
        return two if float(two) == value else repr(value)
    (nearest,) = struct.unpack("f", struct.pack("f", value))
    for digits in range(2, 10):
        text = f"{nearest:.{digits - 1}e}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            return text
    return repr(nearest)


def date(value: dt.date | int, type_: DataType) -> str:
    """A day, also of years that Python does not have.

    >>> date(-719528, DataTypes.DATE()), date(2932897, DataTypes.DATE())
    ('0000-01-01', '+10000-01-01')
    """
    days = value if isinstance(value, int) else (value - dt.date(1970, 1, 1)).days
    cycles, day = divmod(days + 719468, 146097)  # cycles of 400 years that begin on a 1st of March
    year_of_cycle = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year_of_cycle + year_of_cycle // 4 - year_of_cycle // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5
    year = year_of_cycle + 400 * cycles + (month >= 10)
    sign = "+" if year > 9999 else "-" if year < 0 else ""
    return f"{sign}{abs(year):04}-{(month + 2) % 12 + 1:02}-{day + 1:02}"


def timestamp(value: dt.datetime | int, type_: Any) -> str:
    """Print exactly the digits of the precision, and Z after an instant.

    Numbers are microseconds since 1970, or nanoseconds for more than six digits.
    """
    if isinstance(value, dt.datetime):
        value = int((value.replace(tzinfo=dt.UTC) - EPOCH) / dt.timedelta(microseconds=1))
    days, rest = divmod(value if is_fine(type_) else value * 1000, 86_400_000_000_000)
    seconds, nanos = divmod(rest, 1_000_000_000)
    minutes, second = divmod(seconds, 60)
    text = f"{date(days, type_)} {minutes // 60:02}:{minutes % 60:02}:{second:02}"
    if type_.precision:
        text += f".{nanos:09}"[: type_.precision + 1]
    return text + ("Z" if isinstance(type_, LocalZonedTimestampType) else "")


def time(value: dt.time, type_: Any) -> str:
    """A time with exactly the digits of its precision."""
    text = value.strftime("%H:%M:%S")
    return text + (f".{value.microsecond:06}000"[: type_.precision + 1] if type_.precision else "")


def entries(value: Any, type_: DataType) -> list[Any]:
    """Pairs, sorted by the JSON text of the key."""
    kinds = itertools.islice(itertools.chain(type_.children(), [DataTypes.INT()]), 2)
    key_type, value_type = kinds
    pairs = dict(value).items()
    written = [[canonical(k, key_type), canonical(v, value_type)] for k, v in pairs]
    return sorted(written, key=lambda pair: json.dumps(pair[0], ensure_ascii=False))


def fields(value: dict[str, Any] | tuple[Any, ...], type_: Any) -> list[Any]:
    """The values of a row."""
    items = value.values() if isinstance(value, dict) else value
    pairs = zip(items, type_.fields, strict=True)
    return [canonical(item, field.data_type) for item, field in pairs]


WRITERS: dict[type[DataType], Callable[[Any, Any], Any]] = {
    BooleanType: lambda value, _: value,
    FloatType: java_double,
    DoubleType: java_double,
    DecimalType: decimal,
    BinaryType: lambda value, _: f"0x{value.hex()}",
    VarBinaryType: lambda value, _: f"0x{value.hex()}",
    DateType: date,
    TimeType: time,
    AnyTimestampType: timestamp,
    ArrayType: lambda value, type_: [canonical(element, type_.element_type) for element in value],
    MapType: entries,
    MultisetType: entries,
    RowType: fields,
    StructuredType: fields,
    BigIntType: lambda value, _: str(value) if abs(value) > EXACT else value,
}

OPS: dict[str, Operation] = {"evaluate": evaluate}
