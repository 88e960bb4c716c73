"""Types in SQL statements: their grammar, the `DataType` they denote, and how casts spell them.

This grammar differs from that of type strings (`schema_core.types.type_parser`): ``VARCHAR``
without a length has the maximum length, excessive precisions are truncated, ``INT ARRAY`` is an
array, INTERVAL is allowed only in a cast, and NOT NULL is not allowed at the top level of a cast.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from schema_core.base.text import quote_string
from schema_core.errors import SchemaError
from schema_core.sql import literals
from schema_core.sql.syntax import TypeField, TypeName
from schema_core.sql.tokens import identifier, path, refuse, string
from schema_core.types import (
    MAX_LENGTH,
    ArrayType,
    BigIntType,
    BinaryType,
    BitmapType,
    BooleanType,
    CharType,
    DateType,
    DayTimeIntervalType,
    DayTimeResolution,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LengthType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowField,
    RowType,
    SmallIntType,
    StructuredType,
    TimestampType,
    TimeType,
    TinyIntType,
    UnresolvedType,
    VarBinaryType,
    VarCharType,
    VariantType,
    YearMonthIntervalType,
    YearMonthResolution,
    parse_type,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from schema_core.base.cursor import Cursor
    from schema_core.types import DataType

    Reader: TypeAlias = Callable[[Cursor], TypeName]

# ------------------------------------------------------------------------------------- reading


def type_name(cursor: Cursor) -> TypeName:
    """Parse the type of a column or field: ``INT NOT NULL ARRAY NOT NULL``.

    Raises:
        ParseError: if there is no type at the cursor.
    """
    written = _nullability(cursor, _base(cursor))
    while cursor.key in COLLECTIONS:
        written = _nullability(cursor, _postfix(cursor, written))
    return written


def cast_target(cursor: Cursor) -> TypeName:
    """Parse the target of a CAST: no nullability at the top level, but INTERVAL is allowed."""
    if cursor.key == "INTERVAL":
        start = cursor.advance().start
        unit = literals.qualifier(cursor)
        return TypeName("INTERVAL", interval=unit, span=cursor.span_from(start))
    written = _base(cursor)
    while cursor.key in COLLECTIONS:
        written = _postfix(cursor, written)
    return written


COLLECTIONS = ("ARRAY", "MULTISET")


def _nullability(cursor: Cursor, written: TypeName) -> TypeName:
    """Parse ``NOT NULL`` or ``NULL`` after a type, if present."""
    if cursor.accept("NOT"):
        cursor.expect("NULL")
        return _with(cursor, written, nullable=False)
    return _with(cursor, written, nullable=True) if cursor.accept("NULL") else written


def _with(cursor: Cursor, written: TypeName, *, nullable: bool) -> TypeName:
    return replace(written, nullable=nullable, span=cursor.span_from(written.span.start))


def _postfix(cursor: Cursor, element: TypeName) -> TypeName:
    """Parse the keyword of ``INT ARRAY`` after the element type."""
    cursor.descend()
    keyword = cursor.advance().key
    span = cursor.span_from(element.span.start)
    return TypeName(keyword, arguments=(element,), postfix=True, span=span)


def _base(cursor: Cursor) -> TypeName:
    """Parse a type without nullability; an unknown name denotes a user-defined type."""
    token = cursor.token
    reader = GRAMMAR.get(token.key)
    # A word that is not reserved can name a user-defined type: MAP without "<" does.
    if reader is None or (token.key == "MAP" and cursor.peek().key != "<"):
        if token.kind not in {"word", "name"}:
            raise refuse(cursor, "a type")
        return TypeName("", path=path(cursor), span=cursor.span_from(token.start))
    cursor.index += 1
    return reader(cursor)


def _plain(keyword: str, most: int, cursor: Cursor) -> TypeName:
    """Parse up to `most` numbers in parentheses after a keyword."""
    start = cursor.tokens[cursor.index - 1].start
    values = tuple(literals.numbers(cursor, most)) if most else ()
    return TypeName(keyword, values, span=cursor.span_from(start))


def _characters(varying: str, fixed: str, cursor: Cursor) -> TypeName:
    """Parse ``CHAR VARYING(5) CHARACTER SET latin1`` and ``BINARY VARYING(5)``."""
    start = cursor.tokens[cursor.index - 1].start
    keyword = varying if cursor.accept("VARYING") else fixed
    values = tuple(literals.numbers(cursor, 1))
    charset = identifier(cursor) if cursor.accept("CHARACTER", "SET") else None
    return TypeName(keyword, values, charset=charset, span=cursor.span_from(start))


def _double(cursor: Cursor) -> TypeName:
    start = cursor.tokens[cursor.index - 1].start
    cursor.accept("PRECISION")
    return TypeName("DOUBLE", span=cursor.span_from(start))


def _zoned(keyword: str, cursor: Cursor) -> TypeName:
    """Parse TIME and TIMESTAMP, with or without a time zone."""
    start = cursor.tokens[cursor.index - 1].start
    values = tuple(literals.numbers(cursor, 1))
    if cursor.accept("WITHOUT"):
        cursor.expect("TIME", "ZONE")
    elif cursor.accept("WITH"):
        cursor.expect("LOCAL", "TIME", "ZONE")
        keyword += " WITH LOCAL TIME ZONE"
    return TypeName(keyword, values, span=cursor.span_from(start))


def _collection(keyword: str, cursor: Cursor) -> TypeName:
    """Parse ``ARRAY<INT NOT NULL>``; the element type has no postfix form."""
    start = cursor.tokens[cursor.index - 1].start
    cursor.descend()
    cursor.expect("<")
    element = _nullability(cursor, _base(cursor))
    cursor.expect(">")
    cursor.depth -= 1
    return TypeName(keyword, arguments=(element,), span=cursor.span_from(start))


def _map(cursor: Cursor) -> TypeName:
    start = cursor.tokens[cursor.index - 1].start
    cursor.descend()
    cursor.expect("<")
    key = type_name(cursor)
    cursor.expect(",")
    value = type_name(cursor)
    cursor.expect(">")
    cursor.depth -= 1
    return TypeName("MAP", arguments=(key, value), span=cursor.span_from(start))


def _row(cursor: Cursor) -> TypeName:
    """Parse ``ROW<a INT 'comment'>`` or ``ROW(a INT)``."""
    start = cursor.tokens[cursor.index - 1].start
    cursor.descend()
    fields: tuple[TypeField, ...] = ()
    postfix = cursor.key == "("
    if not cursor.accept("<>"):
        if not postfix and cursor.key != "<":
            raise refuse(cursor, "< or (")
        cursor.index += 1
        fields = _fields(cursor, ")" if postfix else ">")
    cursor.depth -= 1
    return TypeName("ROW", fields=fields, postfix=postfix, span=cursor.span_from(start))


def _fields(cursor: Cursor, closing: str) -> tuple[TypeField, ...]:
    """Parse fields up to and including the closing bracket; there may be none."""
    found: list[TypeField] = []
    while found or cursor.key != closing:
        name = identifier(cursor)
        type_ = type_name(cursor)
        found.append(TypeField(name, type_, string(cursor) if _is_string(cursor) else None))
        if cursor.key == closing:
            break
        cursor.expect(",")
    cursor.expect(closing)
    return tuple(found)


def _is_string(cursor: Cursor) -> bool:
    return cursor.token.kind == "string"


def _structured(cursor: Cursor) -> TypeName:
    """Parse ``STRUCTURED<'com.acme.Point', x INT>``."""
    start = cursor.tokens[cursor.index - 1].start
    cursor.descend()
    cursor.expect("<")
    name = string(cursor)
    fields: tuple[TypeField, ...] = ()
    if cursor.accept(","):
        fields = _fields(cursor, ">")
    else:
        cursor.expect(">")
    cursor.depth -= 1
    return TypeName("STRUCTURED", fields=fields, strings=(name,), span=cursor.span_from(start))


def _raw(cursor: Cursor) -> TypeName:
    """Parse ``RAW('class', 'snapshot')``."""
    start = cursor.tokens[cursor.index - 1].start
    cursor.expect("(")
    name = string(cursor)
    cursor.expect(",")
    snapshot = string(cursor)
    cursor.expect(")")
    return TypeName("RAW", strings=(name, snapshot), span=cursor.span_from(start))


#: Keyword -> parser of what follows it. Synonyms pass the keyword under which they are printed.
GRAMMAR: Mapping[str, Reader] = {
    "BOOLEAN":       partial(_plain, "BOOLEAN", 0),
    "TINYINT":       partial(_plain, "TINYINT", 0),
    "SMALLINT":      partial(_plain, "SMALLINT", 0),
    "INT":           partial(_plain, "INTEGER", 0),
    "INTEGER":       partial(_plain, "INTEGER", 0),
    "BIGINT":        partial(_plain, "BIGINT", 0),
    "FLOAT":         partial(_plain, "FLOAT", 0),
    "REAL":          partial(_plain, "REAL", 0),
    "DOUBLE":        _double,
    "DECIMAL":       partial(_plain, "DECIMAL", 2),
    "DEC":           partial(_plain, "DECIMAL", 2),
    "NUMERIC":       partial(_plain, "DECIMAL", 2),
    "CHAR":          partial(_characters, "VARCHAR", "CHAR"),
    "CHARACTER":     partial(_characters, "VARCHAR", "CHAR"),
    "VARCHAR":       partial(_characters, "VARCHAR", "VARCHAR"),
    "STRING":        partial(_plain, "STRING", 0),
    "BINARY":        partial(_characters, "VARBINARY", "BINARY"),
    "VARBINARY":     partial(_plain, "VARBINARY", 1),
    "BYTES":         partial(_plain, "BYTES", 0),
    "DATE":          partial(_plain, "DATE", 0),
    "TIME":          partial(_zoned, "TIME"),
    "TIMESTAMP":     partial(_zoned, "TIMESTAMP"),
    "TIMESTAMP_LTZ": partial(_plain, "TIMESTAMP_LTZ", 1),
    "ARRAY":         partial(_collection, "ARRAY"),
    "MULTISET":      partial(_collection, "MULTISET"),
    "MAP":           _map,
    "ROW":           _row,
    "STRUCTURED":    _structured,
    "RAW":           _raw,
    "VARIANT":       partial(_plain, "VARIANT", 0),
    "BITMAP":        partial(_plain, "BITMAP", 0),
    "ANY":           partial(_plain, "ANY", 0),
}  # fmt: skip

# ------------------------------------------------------------------------------------- meaning


def data_type(written: TypeName, *, as_cast: bool) -> DataType:
    """Return the type that was written: in a column definition or, with `as_cast`, in a cast.

    In a cast the elements of ``INT ARRAY`` are NOT NULL; the unit of an INTERVAL is lost, as
    everywhere in Flink's SQL. A name that is not a type of SQL becomes an `UnresolvedType`.

    Raises:
        SchemaError: for a type that Flink does not support there, or parameters out of range.

    >>> from schema_core.sql.tokens import cursor_over
    >>> print(data_type(type_name(cursor_over("VARCHAR NOT NULL")), as_cast=False))
    VARCHAR(2147483647) NOT NULL
    >>> print(data_type(cast_target(cursor_over("INT ARRAY")), as_cast=True))
    ARRAY<INT NOT NULL>
    """
    type_ = _bare_type(written, as_cast=as_cast)
    return type_ if written.nullable is not False else type_.not_null()


def _bare_type(written: TypeName, *, as_cast: bool) -> DataType:
    match written:
        case TypeName(keyword="ARRAY" | "MULTISET", arguments=(element,)):
            return _collection_type(written, element, as_cast=as_cast)
        case TypeName(keyword="MAP", arguments=(key, value)):
            return MapType(data_type(key, as_cast=False), data_type(value, as_cast=False))
        case TypeName(keyword="ROW", fields=fields):
            return RowType([_field(field) for field in fields])
        case TypeName(keyword="STRUCTURED", strings=(name,), fields=fields):
            return StructuredType(name, [_field(field) for field in fields])
        case TypeName(keyword="RAW", strings=(name, snapshot)):
            return parse_type(f"RAW({quote_string(name)}, {quote_string(snapshot)})")
        case TypeName(interval=unit) if unit is not None:
            return interval_type(months=unit.unit in literals.MONTHS)
        case _:
            return _atomic_type(written)


def _collection_type(written: TypeName, element: TypeName, *, as_cast: bool) -> DataType:
    inner = data_type(element, as_cast=as_cast and written.postfix)
    if as_cast and written.postfix:
        inner = inner.not_null()
    return ArrayType(inner) if written.keyword == "ARRAY" else MultisetType(inner)


def _field(field: TypeField) -> RowField:
    """Return a field of a row; its comment is not part of the type in SQL."""
    return RowField(field.name, data_type(field.type, as_cast=False))


def interval_type(*, months: bool) -> DataType:
    """Return the type of all intervals in SQL: months, or milliseconds."""
    if months:
        return YearMonthIntervalType(YearMonthResolution.MONTH)
    return DayTimeIntervalType(DayTimeResolution.SECOND, fractional_precision=3)


def _decimal(precision: int = 10, scale: int = 0) -> DataType:
    return DecimalType(min(precision, 38), scale)


def _length(kind: type[LengthType], default: int, length: int | None = None) -> DataType:
    if length == 0:
        return kind.empty(nullable=True)
    return kind(default if length is None else length)


#: Keyword -> constructor, called with the numbers in parentheses.
ATOMIC: Mapping[str, Callable[..., DataType]] = {
    "BOOLEAN":       BooleanType,
    "TINYINT":       TinyIntType,
    "SMALLINT":      SmallIntType,
    "INTEGER":       IntType,
    "BIGINT":        BigIntType,
    "FLOAT":         FloatType,
    "DOUBLE":        DoubleType,
    "DECIMAL":       _decimal,
    "CHAR":          partial(_length, CharType, 1),
    "VARCHAR":       partial(_length, VarCharType, MAX_LENGTH),
    "STRING":        partial(_length, VarCharType, MAX_LENGTH),
    "BINARY":        partial(_length, BinaryType, 1),
    "VARBINARY":     partial(_length, VarBinaryType, MAX_LENGTH),
    "BYTES":         partial(_length, VarBinaryType, MAX_LENGTH),
    "DATE":          DateType,
    "TIME":          lambda precision=0: TimeType(min(precision, 3)),
    "TIMESTAMP":     lambda precision=6: TimestampType(min(precision, 9)),
    "TIMESTAMP_LTZ": lambda precision=6: LocalZonedTimestampType(min(precision, 9)),
    "TIMESTAMP WITH LOCAL TIME ZONE":
                     lambda precision=6: LocalZonedTimestampType(min(precision, 9)),
    "VARIANT":       VariantType,
    "BITMAP":        BitmapType,
}  # fmt: skip

#: The character set of all strings in Flink; a type can name no other.
CHARSET = "UTF-16LE"


def _atomic_type(written: TypeName) -> DataType:
    if written.path:
        return UnresolvedType(written.path)
    if written.charset not in (None, CHARSET) or written.keyword not in ATOMIC:
        word = f"{written.keyword} CHARACTER SET {written.charset}" if written.charset else ""
        raise SchemaError(
            f"{word or written.keyword} is not supported",
            code="unsupported-type",
            span=written.span,
        )
    try:
        return ATOMIC[written.keyword](*written.parameters)
    except SchemaError as error:
        error.span = written.span
        raise


# ------------------------------------------------------------------------------------ spelling


def type_name_of(type_: DataType) -> TypeName:
    """Return how Flink spells the target of an implicit cast.

    Raises:
        SchemaError: for intervals, VARIANT, BITMAP, RAW and structured types, which Flink cannot
            spell there; an expression that needs such a cast is refused.

    >>> from schema_core.sql.printer import print_type
    >>> print(print_type(type_name_of(parse_type("ARRAY<ROW<a STRING NOT NULL>>"))))
    ROW(`a` VARCHAR(2147483647) CHARACTER SET `UTF-16LE` NOT NULL) ARRAY
    """
    match type_:
        case ArrayType(element_type=element):
            return TypeName("ARRAY", arguments=(type_name_of(element),), postfix=True)
        case MultisetType(element_type=element):
            return TypeName("MULTISET", arguments=(type_name_of(element),), postfix=True)
        case MapType(key_type=key, value_type=value):
            return TypeName("MAP", arguments=(type_name_of(key), type_name_of(value)))
        case RowType(fields=fields):
            return TypeName("ROW", fields=tuple(map(_spelled_field, fields)), postfix=True)
        case LocalZonedTimestampType(precision=precision):
            return TypeName("TIMESTAMP WITH LOCAL TIME ZONE", (precision,))
        case CharType() | VarCharType():
            return TypeName(type_.keyword, type_.parameters(), charset=CHARSET)
        case IntType():
            return TypeName("INTEGER")
        case VariantType() | BitmapType():
            pass
        case _ if type_.keyword in ATOMIC:
            return TypeName(type_.keyword, type_.parameters())
    raise SchemaError(f"CAST to {type_} has no SQL syntax", code="cast-not-in-sql")


def _spelled_field(field: RowField) -> TypeField:
    """Return a field of a row; unlike elements, keys and values, it keeps NOT NULL."""
    written = type_name_of(field.data_type)
    if field.data_type.is_nullable:
        return TypeField(field.name, written)
    return TypeField(field.name, replace(written, nullable=False))
