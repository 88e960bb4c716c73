"""Types in SQL statements: their grammar, their `DataType`, and how casts spell them.

This grammar differs from that of type strings: ``VARCHAR`` without a length has the maximum length,
excessive precisions are truncated, ``INT ARRAY`` is an array, INTERVAL is allowed only in a cast,
and a cast's top level cannot be NOT NULL.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from schema_core import types
from schema_core.base.lazy import NamedTuple
from schema_core.base.text import quote_string
from schema_core.errors import SchemaError
from schema_core.sql import literals
from schema_core.sql.syntax import TypeField, TypeName
from schema_core.sql.tokens import identifier, path, refuse, string
from schema_core.types.atomic import PLAIN
from schema_core.types.type_grammar import POSTFIX, TypeGrammar, parse_numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from schema_core.base.cursor import Cursor

# ------------------------------------------------------------------------------------- reading


def type_name(cursor: Cursor) -> TypeName:
    """Parse the type of a column or field: ``INT NOT NULL ARRAY NOT NULL``."""
    return _SQL.type_(cursor)


def cast_target(cursor: Cursor) -> TypeName:
    """Parse the target of a CAST."""
    if cursor.key == "INTERVAL":
        start = cursor.advance().start
        unit = literals.qualifier(cursor)
        return TypeName("INTERVAL", interval=unit, span=cursor.span_from(start))
    depth = cursor.depth
    name = _SQL.named_type(cursor)
    while cursor.key in POSTFIX:
        name = _SQL.collection_of(cursor, name)
    cursor.depth = depth
    return name


#: The attributes of a `TypeName`.
_Parts: TypeAlias = "dict[str, Any]"


class _SqlTypes(TypeGrammar["Cursor", TypeName, TypeField]):
    """The grammar of types in SQL. Only nested types are levels."""

    string = staticmethod(string)

    def type_(self, cursor: Cursor) -> TypeName:
        """Parse a type, its nullability, and collections of it."""
        depth = cursor.depth
        name = self.nullable_type(cursor, self.named_type(cursor))
        while cursor.key in POSTFIX:
            name = self.nullable_type(cursor, self.collection_of(cursor, name))
        cursor.depth = depth
        return name

    def nullable_type(self, cursor: Cursor, name: TypeName) -> TypeName:
        """Parse ``NOT NULL`` or ``NULL`` after a type if present."""
        nullable = self.nullability(cursor)
        if nullable is None:
            return name
        return replace(name, nullable=nullable, span=cursor.span_from(name.span.start))

    def collection_of(self, cursor: Cursor, element: TypeName) -> TypeName:
        """Parse the keyword of ``INT ARRAY`` after the element."""
        cursor.descend()
        keyword = cursor.advance().key
        span = cursor.span_from(element.span.start)
        return TypeName(keyword, arguments=(element,), postfix=True, span=span)

    def named_type(self, cursor: Cursor) -> TypeName:
        """Parse a type without nullability; an unknown name is a user-defined type."""
        token = cursor.token
        row = BY_NAME.get(token.key)
        # A word that is not reserved can name a user-defined type: MAP without "<" does.
        if row is None or (token.key == "MAP" and cursor.peek().key != "<"):
            if token.kind not in {"word", "name"}:
                raise refuse(cursor, "a type")
            return TypeName("", path=path(cursor), span=cursor.span_from(token.start))
        cursor.index += 1
        parts = row.parse(self, cursor)
        keyword = parts.pop("keyword", row.keyword)
        return TypeName(keyword, **parts, span=cursor.span_from(token.start))

    def integer(self, cursor: Cursor) -> int:
        """Parse a length or precision."""
        return literals.parameter(cursor)

    def part(self, cursor: Cursor, position: str) -> TypeName:
        """Parse an element, key or value type; elements have no postfix form."""
        if position == "element":
            return self.nullable_type(cursor, self.named_type(cursor))
        return self.type_(cursor)

    def field(self, cursor: Cursor) -> TypeField:
        """Parse a name, a type and an optional comment."""
        name = identifier(cursor)
        type_ = self.type_(cursor)
        return TypeField(name, type_, string(cursor) if cursor.token.kind == "string" else None)

    def missing_bracket(self, cursor: Cursor) -> Exception:
        """Return the error for a row without fields."""
        return refuse(cursor, "< or (")


_ParseParts: TypeAlias = "Callable[[_SqlTypes, Cursor], _Parts]"
_Build: TypeAlias = "Callable[..., types.DataType]"


def _numbers(most: int) -> _ParseParts:
    return lambda grammar, cursor: {
        "parameters": tuple(parse_numbers(cursor, most, grammar.integer))
    }


def _nothing(grammar: _SqlTypes, cursor: Cursor) -> _Parts:
    return {}


def _double(grammar: _SqlTypes, cursor: Cursor) -> _Parts:
    cursor.accept("PRECISION")
    return {}


def _characters(varying: str) -> _ParseParts:
    """Return a parser of ``CHAR VARYING(5) CHARACTER SET latin1`` and ``BINARY VARYING(5)``."""

    def parse(grammar: _SqlTypes, cursor: Cursor) -> _Parts:
        parts: _Parts = {"keyword": varying} if cursor.accept("VARYING") else {}
        parts["parameters"] = tuple(parse_numbers(cursor, 1, grammar.integer))
        if cursor.accept("CHARACTER", "SET"):
            parts["charset"] = identifier(cursor)
        return parts

    return parse


def _parse_time(keyword: str) -> _ParseParts:
    def parse(grammar: _SqlTypes, cursor: Cursor) -> _Parts:
        parts: _Parts = {"parameters": tuple(parse_numbers(cursor, 1, grammar.integer))}
        if grammar.time_zone(cursor) == "LOCAL":
            parts["keyword"] = f"{keyword} WITH LOCAL TIME ZONE"
        return parts

    return parse


def _nested(parse: _ParseParts) -> _ParseParts:
    def parse_deeper(grammar: _SqlTypes, cursor: Cursor) -> _Parts:
        cursor.descend()
        parts = parse(grammar, cursor)
        cursor.depth -= 1
        return parts

    return parse_deeper


def _element(grammar: _SqlTypes, cursor: Cursor) -> _Parts:
    return {"arguments": (grammar.element(cursor),)}


def _structured(grammar: _SqlTypes, cursor: Cursor) -> _Parts:
    name, fields = grammar.structured(cursor)
    return {"strings": (name,), "fields": tuple(fields)}


def _length(kind: type[types.LengthType], default: int) -> _Build:
    def build(length: int = default) -> types.DataType:
        return kind(length) if length else kind.empty(nullable=True)

    return build


def _precision(kind: Callable[[int], types.DataType], default: int, most: int) -> _Build:
    return lambda precision=default: kind(min(precision, most))


class SqlType(NamedTuple):
    """A type in SQL.

    `keyword` is printed, `names` are parsed, `parse` parses the rest. `build` is called with the
    numbers in parentheses; it is None for nested types and types that Flink refuses.
    """

    keyword: str
    names: str
    parse: _ParseParts
    build: _Build | None = None


_CHARACTERS, _BYTES = _characters("VARCHAR"), _characters("VARBINARY")
_STRING = _length(types.VarCharType, types.MAX_LENGTH)
_BINARY_STRING = _length(types.VarBinaryType, types.MAX_LENGTH)
_LTZ = _precision(types.LocalZonedTimestampType, 6, 9)

#: The types of SQL. Those without parameters are named as in type strings.
TYPES: tuple[SqlType, ...] = (
    *(
        SqlType(kind.keyword, kind.keyword, _nothing, kind)
        for kind in PLAIN
        if not kind.limits and kind not in (types.IntType, types.NullType, types.DescriptorType)
    ),
    SqlType("DATE",          "DATE",                _nothing,     types.DateType),
    SqlType("INTEGER",       "INT INTEGER",         _nothing,     types.IntType),
    SqlType("REAL",          "REAL",                _nothing),
    SqlType("DOUBLE",        "DOUBLE",              _double,      types.DoubleType),
    SqlType("DECIMAL",       "DECIMAL DEC NUMERIC", _numbers(2),
            lambda precision=10, scale=0: types.DecimalType(min(precision, 38), scale)),
    SqlType("CHAR",          "CHAR CHARACTER",      _CHARACTERS,  _length(types.CharType, 1)),
    SqlType("VARCHAR",       "VARCHAR",             _CHARACTERS,  _STRING),
    SqlType("STRING",        "STRING",              _nothing,     _STRING),
    SqlType("BINARY",        "BINARY",              _BYTES,       _length(types.BinaryType, 1)),
    SqlType("VARBINARY",     "VARBINARY",           _numbers(1),  _BINARY_STRING),
    SqlType("BYTES",         "BYTES",               _nothing,     _BINARY_STRING),
    SqlType("TIME",          "TIME",                _parse_time("TIME"),
            _precision(types.TimeType, 0, 3)),
    SqlType("TIMESTAMP",     "TIMESTAMP",           _parse_time("TIMESTAMP"),
            _precision(types.TimestampType, 6, 9)),
    SqlType("TIMESTAMP_LTZ", "TIMESTAMP_LTZ",       _numbers(1),  _LTZ),
    SqlType("TIMESTAMP WITH LOCAL TIME ZONE", "",   _nothing,     _LTZ),
    SqlType("ARRAY",         "ARRAY",               _nested(_element)),
    SqlType("MULTISET",      "MULTISET",            _nested(_element)),
    SqlType("MAP",           "MAP",
            _nested(lambda grammar, cursor: {"arguments": grammar.entry(cursor)})),
    SqlType("ROW",           "ROW",
            _nested(lambda grammar, cursor: {
                "postfix": cursor.key == "(", "fields": tuple(grammar.row(cursor)),
            })),
    SqlType("STRUCTURED",    "STRUCTURED",          _nested(_structured)),
    SqlType("RAW",           "RAW",
            lambda grammar, cursor: {"strings": grammar.strings(cursor)}),
    SqlType("ANY",           "ANY",                 _nothing),
)  # fmt: skip
BY_NAME = {name: type_ for type_ in TYPES for name in type_.names.split()}
BUILDERS = {type_.keyword: type_.build for type_ in TYPES if type_.build is not None}

_SQL = _SqlTypes()

# ------------------------------------------------------------------------------------- meaning


def data_type(name: TypeName, *, as_cast: bool) -> types.DataType:
    """Return the type that was written in a column definition or, with `as_cast`, in a cast.

    In a cast, elements of ``INT ARRAY`` are NOT NULL. The unit of an INTERVAL is lost, as
    everywhere in Flink's SQL. A name that is not a type of SQL becomes an `UnresolvedType`.

    Raises:
        SchemaError: for a type that Flink does not support there, or parameters out of range.

    >>> from schema_core.sql.tokens import cursor_over
    >>> print(data_type(type_name(cursor_over("VARCHAR NOT NULL")), as_cast=False))
    VARCHAR(2147483647) NOT NULL
    >>> print(data_type(cast_target(cursor_over("INT ARRAY")), as_cast=True))
    ARRAY<INT NOT NULL>
    """
    type_ = _nullable_type(name, as_cast=as_cast)
    return type_ if name.nullable is not False else type_.not_null()


def _nullable_type(type_name: TypeName, *, as_cast: bool) -> types.DataType:
    # comments of fields are not part of types in SQL
    fields = [
        types.RowField(field.name, data_type(field.type, as_cast=False))
        for field in type_name.fields
    ]
    match type_name:
        case TypeName(
            keyword="ARRAY" | "MULTISET" as keyword, arguments=(argument,), postfix=postfix
        ):
            element = data_type(argument, as_cast=as_cast and postfix)
            element = element.not_null() if as_cast and postfix else element
            return types.ArrayType(element) if keyword == "ARRAY" else types.MultisetType(element)
        case TypeName(keyword="MAP", arguments=(key, value)):
            return types.MapType(data_type(key, as_cast=False), data_type(value, as_cast=False))
        case TypeName(keyword="ROW"):
            return types.RowType(fields)
        case TypeName(keyword="STRUCTURED", strings=(name,)):
            return types.StructuredType(name, fields)
        case TypeName(keyword="RAW", strings=(name, snapshot)):
            return types.parse_type(f"RAW({quote_string(name)}, {quote_string(snapshot)})")
        case TypeName(interval=unit) if unit is not None:
            return interval_type(months=unit.unit in literals.MONTHS)
        case _:
            return _atomic_type(type_name)


def interval_type(*, months: bool) -> types.DataType:
    """Return the type of intervals in SQL: months or milliseconds."""
    if months:
        return types.YearMonthIntervalType(types.YearMonthResolution.MONTH)
    return types.DayTimeIntervalType(types.DayTimeResolution.SECOND, fractional_precision=3)


#: The only character set of Flink's strings.
CHARSET = "UTF-16LE"


def _atomic_type(name: TypeName) -> types.DataType:
    if name.path:
        return types.UnresolvedType(name.path)
    if name.charset not in (None, CHARSET) or name.keyword not in BUILDERS:
        charset = f" CHARACTER SET {name.charset}" if name.charset else ""
        problem = f"{name.keyword}{charset} is not supported"
        raise SchemaError(problem, code="invalid-type", span=name.span)
    try:
        return BUILDERS[name.keyword](*name.parameters)
    except SchemaError as error:
        error.span = name.span
        raise


# ------------------------------------------------------------------------------------ spelling


def type_name_of(type_: types.DataType) -> TypeName:
    """Return how Flink spells the target of an implicit cast.

    Raises:
        SchemaError: for intervals, VARIANT, BITMAP, RAW and structured types, which Flink cannot
            spell.

    >>> from schema_core.sql.printer import print_type
    >>> from schema_core.types import parse_type
    >>> print(print_type(type_name_of(parse_type("ARRAY<ROW<a STRING NOT NULL>>"))))
    ROW(`a` VARCHAR(2147483647) CHARACTER SET `UTF-16LE` NOT NULL) ARRAY
    """
    match type_:
        case types.ArrayType(element_type=element):
            return TypeName("ARRAY", arguments=(type_name_of(element),), postfix=True)
        case types.MultisetType(element_type=element):
            return TypeName("MULTISET", arguments=(type_name_of(element),), postfix=True)
        case types.MapType(key_type=key, value_type=value):
            return TypeName("MAP", arguments=(type_name_of(key), type_name_of(value)))
        case types.RowType(fields=fields):  # unlike elements, keys and values, fields keep NOT NULL
            names = [(field, type_name_of(field.data_type)) for field in fields]
            spelled = (
                TypeField(
                    field.name,
                    name if field.data_type.is_nullable else replace(name, nullable=False),
                )
                for field, name in names
            )
            return TypeName("ROW", fields=tuple(spelled), postfix=True)
        case types.LocalZonedTimestampType(precision=precision):
            return TypeName("TIMESTAMP WITH LOCAL TIME ZONE", (precision,))
        case types.CharType() | types.VarCharType():
            return TypeName(type_.keyword, type_.parameters(), charset=CHARSET)
        case types.IntType():
            return TypeName("INTEGER")
        case types.VariantType() | types.BitmapType():
            pass
        case _ if type_.keyword in BUILDERS:
            return TypeName(type_.keyword, type_.parameters())
    raise SchemaError(f"CAST to {type_} has no SQL syntax", code="not-in-sql")
