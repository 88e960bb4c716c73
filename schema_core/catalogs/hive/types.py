"""Flink's types as the texts of Hive's, and back, as Flink's HiveCatalog tells them.

A column of Hive has no NOT NULL, no precision of a timestamp and no length of bytes; a type that
needs one of these has no text. Law: ``from_hive(to_hive(type_)) == type_``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from schema_core.errors import SchemaError, UnsupportedError, at
from schema_core.formats.spark.ddl import Tree, parse_spark_type
from schema_core.types import (
    MAX_LENGTH,
    ArrayType,
    BigIntType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)

#: The longest CHAR and VARCHAR of Hive.
MAX_CHAR, MAX_VARCHAR = 255, 65_535

#: The digits of a second that Hive's timestamps have.
NANOS = 9

#: Type -> its text in Hive.
WORDS: dict[DataType, str] = {
    BooleanType():             "boolean",
    TinyIntType():             "tinyint",
    SmallIntType():            "smallint",
    IntType():                 "int",
    BigIntType():              "bigint",
    FloatType():               "float",
    DoubleType():              "double",
    DateType():                "date",
    TimestampType(NANOS):      "timestamp",
    VarCharType(MAX_LENGTH):   "string",
    VarBinaryType(MAX_LENGTH): "binary",
}  # fmt: skip

#: Types with numbers in parentheses. Other words have them too, such as the system of a geometry.
SIZED: dict[str, Callable[..., DataType]] = {
    "decimal": DecimalType,
    "char":    CharType,
    "varchar": VarCharType,
}  # fmt: skip
_SIZED = re.compile(rf"({'|'.join(SIZED)})\(([0-9]+)(?:,([0-9]+))?\)")

#: Word of Spark's tree of a text of Hive -> type. Hive's timestamps have no time zone, but for the
#: last type, which only Hive 3 has.
TYPES: dict[str, DataType] = {
    "boolean":       BooleanType(),
    "byte":          TinyIntType(),
    "short":         SmallIntType(),
    "integer":       IntType(),
    "long":          BigIntType(),
    "float":         FloatType(),
    "double":        DoubleType(),
    "date":          DateType(),
    "timestamp_ntz": TimestampType(NANOS),
    "string":        VarCharType(MAX_LENGTH),
    "binary":        VarBinaryType(MAX_LENGTH),
    "timestamp":     LocalZonedTimestampType(NANOS),
}  # fmt: skip

#: Hive's word for a timestamp that is a moment, and the one that Spark's parser reads.
_ZONED = re.compile(r"timestamp with local time zone", re.IGNORECASE)

_NAME = re.compile(r"[A-Za-z0-9_]+")


def to_hive(type_: DataType) -> str:
    """The text of the type that Hive has for this one.

    Raises:
        UnsupportedError: with code `not-in-hive` where there is none.

    >>> from schema_core.types import parse_type
    >>> to_hive(parse_type("MAP<STRING, ROW<a DECIMAL(5, 2), b ARRAY<TIMESTAMP(9)>>>"))
    'map<string,struct<a:decimal(5,2),b:array<timestamp>>>'
    """
    if not type_.is_nullable:
        raise _nothing(type_, "knows no NOT NULL")
    if word := WORDS.get(type_):
        return word
    match type_:
        case CharType(length=length) if 0 < length <= MAX_CHAR:
            return f"char({length})"
        case VarCharType(length=length) if 0 < length <= MAX_VARCHAR:
            return f"varchar({length})"
        case DecimalType(precision=precision, scale=scale):
            return f"decimal({precision},{scale})"
        case ArrayType(element_type=element):
            return f"array<{to_hive(element)}>"
        case MapType(key_type=key, value_type=value):
            return f"map<{to_hive(key)},{to_hive(value)}>"
        case RowType(fields=fields) if fields:
            return f"struct<{','.join(map(_field, fields))}>"
    raise _nothing(type_, "has no such type")


def _field(field: RowField) -> str:
    with at(f"field {field.name!r}"):
        if not _NAME.fullmatch(field.name) or field.name != field.name.lower():
            problem = "Hive's structs have names of small letters, digits and underscores"
            raise UnsupportedError(problem, code="not-in-hive")
        if field.description is not None:
            raise UnsupportedError("Hive's structs have no comments", code="not-in-hive")
        return f"{field.name}:{to_hive(field.data_type)}"


def _nothing(type_: DataType, why: str) -> UnsupportedError:
    return UnsupportedError(
        f"a column of Hive {why}: {type_}",
        code="not-in-hive",
        hint="without 'connector' = 'hive' the table keeps it as a property",
    )


def from_hive(text: str) -> DataType:
    """The type that a text of Hive's means; it is nullable.

    Raises:
        UnsupportedError: with code `type-not-in-flink` for a type that no type of Flink stands for.

    >>> print(from_hive("struct<a:timestamp,b:array<varchar(5)>>"))
    ROW<`a` TIMESTAMP(9), `b` ARRAY<VARCHAR(5)>>
    """
    zoned = _ZONED.sub("timestamp_ltz", text)
    try:
        return _type(parse_spark_type(zoned, timestamp="timestamp_ntz"))
    except SchemaError as error:
        raise _unknown(text) from error


def _type(tree: Tree) -> DataType:
    if isinstance(tree, str):
        return _word(tree)
    match tree["type"]:
        case "array":
            return ArrayType(_type(tree["elementType"]))
        case "map":
            return MapType(_type(tree["keyType"]), _type(tree["valueType"]))
        case _:
            return RowType(tuple(map(_row_field, tree["fields"])))


def _row_field(field: dict[str, Any]) -> RowField:
    return RowField(field["name"], _type(field["type"]))


def _word(word: str) -> DataType:
    if word in TYPES:
        return TYPES[word]
    if found := _SIZED.fullmatch(word):
        name, *sizes = found.groups()
        return SIZED[name](*(int(size) for size in sizes if size))
    raise _unknown(word)


def _unknown(text: str) -> UnsupportedError:
    return UnsupportedError(
        f"no type of Flink stands for Hive's {text[:60]!r}", code="type-not-in-flink"
    )
