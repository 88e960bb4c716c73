"""The parser of type strings: ``parse_type(str(t)) == t``.

The grammar is that of Flink's type strings (Flink documentation, "Data Types"), which differs from
that of SQL statements: ``VARCHAR`` without a length has length 1 here, and there are no comments.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from schema_core.caching import cached
from schema_core.cursor import Cursor, check_digits, check_size
from schema_core.errors import ParseError, SchemaError, close_matches
from schema_core.lazy_regex import regex
from schema_core.repairs import Repairs
from schema_core.text import SPACE, Span
from schema_core.tokenizer import Token
from schema_core.types import atomic, temporal
from schema_core.types.base import MAX_LENGTH, DataType
from schema_core.types.families import TypeRoot
from schema_core.types.legacy import read_information
from schema_core.types.nested import (
    ArrayType,
    MapType,
    MultisetType,
    RowField,
    RowType,
    require_text,
)
from schema_core.types.temporal import (
    DayTimeIntervalType,
    DayTimeResolution,
    LocalZonedTimestampType,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
    YearMonthResolution,
    ZonedTimestampType,
)
from schema_core.types.user_defined import LegacyType, RawType, StructuredType, UnresolvedType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Reader: TypeAlias = Callable[[Cursor], DataType]

#: Flink's keyword -> the keywords of other engines for the same type.
WORDS = {
    "BOOLEAN":       "BOOL BIT LOGICAL",
    "TINYINT":       "BYTE INT1",
    "SMALLINT":      "SHORT INT16 INT2 SMALLSERIAL",
    "INT":           "INT32 INT4 MEDIUMINT SERIAL",
    "BIGINT":        "LONG INT64 INT8 BIGSERIAL",
    "FLOAT":         "REAL FLOAT32 FLOAT4",
    "DOUBLE":        "FLOAT64 FLOAT8",
    "DECIMAL(p, s)": "NUMBER MONEY BIGNUMERIC BIGDECIMAL FIXED",
    "CHAR(n)":       "CHARACTER NCHAR BPCHAR FIXEDSTRING",
    "VARCHAR(n)":    "VARCHAR2 NVARCHAR NVARCHAR2 CHARACTER_VARYING",
    "STRING":        "TEXT CLOB NCLOB TINYTEXT MEDIUMTEXT LONGTEXT STR CITEXT UUID ENUM",
    "BYTES":         "BLOB BYTEA TINYBLOB MEDIUMBLOB LONGBLOB IMAGE RAWBYTES",
    "TIMESTAMP(p)":  "DATETIME DATETIME2 SMALLDATETIME TIMESTAMP_NTZ TIMESTAMPNTZ",
    "TIMESTAMP_LTZ(p)": "TIMESTAMPTZ TIMESTAMPLTZ INSTANT",
    "TIMESTAMP(p) WITH TIME ZONE": "TIMESTAMP_TZ DATETIMEOFFSET",
    "DATE":          "DATE32 DATE64",
    "ROW<name type>": "STRUCT RECORD TUPLE OBJECT NESTED",
    "ARRAY<type>":   "LIST SEQUENCE VECTOR",
    "MAP<key, value>": "DICT HASHMAP HSTORE",
    "VARIANT":       "JSON JSONB ANY",
    "NULL":          "VOID NOTHING UNKNOWN",
}  # fmt: skip
FOREIGN = {word: ours for ours, words in WORDS.items() for word in words.split()}

#: Keyword that is not part of the grammar of types -> a hint.
SLIPS = {
    "UNSIGNED": "all numbers are signed: use the next larger type",
    "COMMENT": "the comment of a field follows its type without a keyword: `a` INT 'comment'",
    "DEFAULT": "Flink does not support default values",
    "NULLABLE": "types are nullable unless followed by NOT NULL",
    "OPTIONAL": "types are nullable unless followed by NOT NULL",
    "REQUIRED": "write NOT NULL",
    "TIMEZONE": "write TIME ZONE",
    "VARYING": "write VARCHAR(n) or VARBINARY(n)",
    "MAX": "write STRING or BYTES",
    "PRIMARY": "declare the key in the schema, not in the type",
}
CLOSING = {"(": ")", "<": ">"}


def foreign(word: str) -> str | None:
    """Return a hint with Flink's equivalent of another engine's type.

    >>> foreign("datetime"), foreign("int[]"), foreign("whatever")
    ("Flink's type for it is TIMESTAMP(p)", "Flink's type for it is ARRAY<INT>", None)
    """
    word = word.upper()
    ours = f"ARRAY<{word[:-2]}>" if word.endswith("[]") else FOREIGN.get(word)
    return f"Flink's type for it is {ours}" if ours else None


def hint_at(tokens: Sequence[Token], start: int, keywords: frozenset[str]) -> str | None:
    """Return a hint for the unexpected token at an offset."""
    index = next((i for i, token in enumerate(tokens) if token.stop > start), len(tokens) - 1)
    found, before = tokens[index], tokens[max(index - 1, 0)]
    if found.kind == "end":
        return _unclosed(tokens)
    if before.key == "," and found.key in CLOSING.values():
        return "remove the comma before it"
    if found.key == ",":
        is_last = tokens[index + 1].key in CLOSING.values()
        return "remove the comma" if is_last or before.key == "," else _unclosed(tokens)
    if found.key in CLOSING and index:
        return foreign(before.value) or _brackets(found.key, before.key)
    if found.kind == "number" and before.key in keywords:
        return f"write the number in parentheses: {before.key}({found.value})"
    if found.key == "." and before.kind == "number":
        return "separate the numbers by a comma: DECIMAL(10, 2)"
    if found.kind == "string":
        return "write types and numbers without quotes"
    if found.kind != "word" or found.key:
        return SLIPS.get(before.value.upper())
    if found.value.startswith("-"):
        return "lengths and precisions cannot be negative"
    word = found.value.upper()
    meant = close_matches(word, sorted(keywords), 0.7, count=1)
    return SLIPS.get(word) or foreign(word) or (f"did you mean {meant[0]!r}?" if meant else None)


def _brackets(found: str, keyword: str) -> str | None:
    """Return a hint for the wrong kind of brackets."""
    if found == "(" and keyword in ("ARRAY", "MULTISET", "MAP", "STRUCTURED"):
        return f"write its parts in angle brackets: {keyword}<...>"
    if found == "<" and keyword in ("RAW", "LEGACY"):
        return f"write its parts in parentheses: {keyword}(...)"
    return f"{keyword} does not take parameters" if found == "(" and keyword else None


def _unclosed(tokens: Sequence[Token]) -> str | None:
    """Return a hint for an unclosed bracket."""
    open_: list[Token] = []
    for token in tokens:
        if token.key in CLOSING:
            open_.append(token)
        elif open_ and token.key == CLOSING[open_[-1].key]:
            open_.pop()
    if not open_:
        return None
    last = open_[-1]
    return f"the {last.key!r} at character {last.start + 1} is not closed"


#: Reserved words, which must be quoted to be a name.
KEYWORDS = frozenset(
    {
        "CHAR", "VARCHAR", "STRING", "BOOLEAN", "BINARY", "VARBINARY", "BYTES", "DECIMAL",
        "NUMERIC", "DEC", "TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE",
        "PRECISION", "DATE", "TIME", "WITH", "WITHOUT", "LOCAL", "ZONE", "TIMESTAMP",
        "TIMESTAMP_LTZ", "INTERVAL", "YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "TO",
        "ARRAY", "MULTISET", "MAP", "ROW", "NULL", "RAW", "LEGACY", "NOT", "DESCRIPTOR",
        "STRUCTURED", "VARIANT", "BITMAP",
    }
)  # fmt: skip

#: Types that consist of a keyword and numeric parameters.
PLAIN: tuple[type[DataType], ...] = (
    atomic.CharType, atomic.VarCharType, atomic.BooleanType, atomic.BinaryType,
    atomic.VarBinaryType, atomic.DecimalType, atomic.TinyIntType, atomic.SmallIntType,
    atomic.IntType, atomic.BigIntType, atomic.FloatType, temporal.DateType,
    temporal.LocalZonedTimestampType, atomic.NullType, atomic.DescriptorType,
    atomic.VariantType, atomic.BitmapType,
)  # fmt: skip

YEAR_MONTH = frozenset(one.value for one in YearMonthResolution)
DAY_TIME = frozenset(one.value for one in DayTimeResolution)

_TOKEN = regex(
    rf"""
    [{SPACE}]* (?:
      (?P<symbol> [<>(),.] )
    | (?P<string> '(?:[^']|'')*(?:'|\Z) )
    | (?P<name>   `(?:[^`]|``)*(?:`|\Z) )
    | (?P<number> [0-9]+ )
    | (?P<word>   [^{SPACE}<>(),.]+ )
    | (?P<end>    \Z )
    )
    """,
    re.VERBOSE,
)


def tokens(text: str) -> Iterator[Token]:
    """Tokenize a type string; an unclosed literal extends to the end, as in Flink."""
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        value, (start, stop) = match[kind], match.span(kind)
        match kind:
            case "word":
                upper = value.upper()
                yield Token(kind, upper if upper in KEYWORDS else "", value, start, stop)
            case "symbol":
                yield Token(kind, value, value, start, stop)
            case "string" | "name":
                quote = value[0]
                closed = len(value) > 1 and value.endswith(quote)
                inner = value[1:-1] if closed else value[1:]
                yield Token(kind, "", inner.replace(quote * 2, quote), start, stop)
            case "number":
                check_digits(value, Span(start, stop))
                yield Token(kind, "", value, start, stop)
    yield Token("end", "end", "", len(text), len(text))


def parse_type(text: str) -> DataType:
    """Parse a type string.

    Names other than those of SQL types become an `UnresolvedType`, which a catalog resolves.

    Raises:
        ParseError: for a string outside the grammar, with its position; for nesting deeper than
            `MAX_DEPTH`, strings of more than 1,000,000 characters and numbers of more than 1,000
            digits.

    >>> parse_type("row<a decimal(3, 1) not null, b timestamp_ltz(3)>")
    RowType((RowField(name='a', data_type=DecimalType(3, 1, nullable=False), description=None), \
RowField(name='b', data_type=LocalZonedTimestampType(3), description=None)))
    >>> parse_type("ROW<a DECIMAL(3, 5)>")
    Traceback (most recent call last):
        ...
    schema_core.errors.ParseError: DECIMAL scale 5 exceeds precision 3
        ROW<a DECIMAL(3, 5)>
              ^^^^^^^^^^^^^
    """
    try:
        return parse(text)
    except TypeError:  # cannot be caused by string input
        require_text(text, "the type string")
        raise


@cached()
def parse(text: str) -> DataType:
    """Parse a type string; results are cached."""
    check_size(require_text(text, "the type string"))
    cursor = Cursor(text, list(tokens(text)))
    try:
        return _whole_type(cursor)
    except ParseError as error:
        if error.hint is None and error.span is not None:
            comma = _missing_comma(cursor) if error.code == ParseError.default_code else None
            error.hint = comma or hint_at(cursor.tokens, error.span.start, KEYWORDS)
        raise


def _whole_type(cursor: Cursor) -> DataType:
    type_ = _type(cursor)
    if cursor.token.kind != "end":
        raise cursor.fail(f"unexpected {cursor.token.display} after the type")
    return type_


def _missing_comma(cursor: Cursor) -> str | None:
    """Return the hint for a missing comma: with it everything can be parsed."""

    def failure(trial: Sequence[Token]) -> int | None:
        inner = Cursor(cursor.text, trial)
        try:
            _whole_type(inner)
        except ParseError as error:
            return inner.index if error.code == ParseError.default_code else None
        return None

    place = Repairs(failure, cursor.tokens, cursor.index).missing_comma()
    if place is None:
        return None
    token = cursor.tokens[place]
    where = "" if place == cursor.index else f" at character {token.start + 1}"
    return f"missing ',' before {token.display}{where}"


def _type(cursor: Cursor) -> DataType:
    """Parse a type, its nullability and at most one ARRAY or MULTISET suffix."""
    cursor.descend()
    type_ = _nullability(cursor, _base(cursor))
    if (collection := POSTFIX.get(cursor.key)) is not None:
        cursor.advance()
        type_ = _nullability(cursor, collection(type_))
    cursor.depth -= 1
    return type_


#: Collections that may follow their element type.
POSTFIX: dict[str, type[ArrayType | MultisetType]] = {"ARRAY": ArrayType, "MULTISET": MultisetType}


def _nullability(cursor: Cursor, type_: DataType) -> DataType:
    token = cursor.token
    if token.key == "NOT":
        cursor.expect("NOT", "NULL")
        return _built(cursor, token.start, type_.not_null)
    if token.key == "NULL":
        cursor.advance()
    return type_


def _base(cursor: Cursor) -> DataType:
    token = cursor.token
    if token.kind in ("word", "name") and not token.key:
        return _user_defined(cursor)
    reader = GRAMMAR.get(token.key)
    if reader is None:
        raise cursor.fail(f"expected a type, found {token.display}")
    cursor.advance()
    return _built(cursor, token.start, partial(reader, cursor))


def _built(cursor: Cursor, start: int, build: Callable[[], DataType]) -> DataType:
    """Call `build`, and add the position to its errors."""
    try:
        return build()
    except ParseError:
        raise
    except SchemaError as error:
        error.span, error.text = cursor.span_from(start), cursor.text
        raise ParseError(error.problem, code=error.code, span=error.span, text=error.text) from None


def _user_defined(cursor: Cursor) -> DataType:
    parts = [_name(cursor)]
    while cursor.accept("."):
        if len(parts) == 3:
            raise cursor.fail("the name of a type has at most three parts")
        parts.append(_name(cursor))
    return UnresolvedType(tuple(parts))


def _name(cursor: Cursor) -> str:
    token = cursor.token
    if token.kind not in ("word", "name") or token.key:
        hint = "quote reserved words with back-ticks" if token.key in KEYWORDS else None
        raise cursor.fail(f"expected a name, found {token.display}", hint=hint)
    return cursor.advance().value


def _number(cursor: Cursor) -> int:
    if cursor.token.kind != "number":
        raise cursor.fail(f"expected a number, found {cursor.token.display}")
    value = int(cursor.token.value)
    if value > MAX_LENGTH:
        raise cursor.fail(f"{value} is larger than {MAX_LENGTH}")
    cursor.advance()
    return value


def _string(cursor: Cursor) -> str:
    if cursor.token.kind != "string":
        raise cursor.fail(f"expected a string in single quotes, found {cursor.token.display}")
    return cursor.advance().value


def _numbers(cursor: Cursor, most: int) -> list[int]:
    """Parse up to `most` numbers in optional parentheses."""
    if not cursor.accept("("):
        return []
    values = [_number(cursor)]
    while len(values) < most and cursor.accept(","):
        values.append(_number(cursor))
    cursor.expect(")")
    return values


def _precision(cursor: Cursor, default: int) -> int:
    """Parse one number in optional parentheses."""
    values = _numbers(cursor, 1)
    return values[0] if values else default


def _plain(kind: Callable[..., DataType], most: int, cursor: Cursor) -> DataType:
    """Parse the parameters of a type that consists of a keyword and numbers."""
    return kind(*_numbers(cursor, most)) if most else kind()


def _double(cursor: Cursor) -> DataType:
    cursor.accept("PRECISION")
    return atomic.DoubleType()


def _time(cursor: Cursor) -> DataType:
    precision = _precision(cursor, default=0)
    if cursor.accept("WITHOUT"):
        cursor.expect("TIME", "ZONE")
    return TimeType(precision)


def _timestamp(cursor: Cursor) -> DataType:
    precision = _precision(cursor, default=6)
    if cursor.accept("WITHOUT"):
        cursor.expect("TIME", "ZONE")
    elif cursor.accept("WITH"):
        kind = LocalZonedTimestampType if cursor.accept("LOCAL") else ZonedTimestampType
        cursor.expect("TIME", "ZONE")
        return kind(precision)
    return TimestampType(precision)


def _interval(cursor: Cursor) -> DataType:
    first = cursor.advance()
    words = first.key
    days, fraction = DayTimeIntervalType.DEFAULT_DAY_PRECISION, 6
    if words == "SECOND":
        fraction = _precision(cursor, fraction)
    elif words in ("YEAR", "DAY"):
        days = _precision(cursor, days)
    if words not in ("MONTH", "SECOND") and cursor.accept("TO"):
        last = cursor.advance()
        words += f" TO {last.key}"
        fraction = _precision(cursor, fraction) if last.key == "SECOND" else fraction
    if words in YEAR_MONTH:
        return YearMonthIntervalType(YearMonthResolution(words), days)
    if words in DAY_TIME:
        return DayTimeIntervalType(DayTimeResolution(words), days, fraction)
    raise cursor.fail(f"there is no interval {words or first.display}", span=first.span)


def _collection(kind: type[ArrayType | MultisetType], cursor: Cursor) -> DataType:
    cursor.expect("<")
    element = _type(cursor)
    cursor.expect(">")
    return kind(element)


def _map(cursor: Cursor) -> DataType:
    cursor.expect("<")
    key = _type(cursor)
    cursor.expect(",")
    value = _type(cursor)
    cursor.expect(">")
    return MapType(key, value)


def _fields(cursor: Cursor, closing: str) -> Iterator[RowField]:
    """Parse ``name type 'comment'``, separated by commas, up to the closing bracket."""
    if cursor.accept(closing):
        return
    while True:
        name = _name(cursor)
        type_ = _type(cursor)
        comment = cursor.advance().value if cursor.token.kind == "string" else None
        yield RowField(name, type_, comment)
        if cursor.accept(closing):
            return
        cursor.expect(",")


def _row(cursor: Cursor) -> DataType:
    closing = ")" if cursor.accept("(") else ">"
    if closing == ">":
        cursor.expect("<")
    return RowType(list(_fields(cursor, closing)))


def _structured(cursor: Cursor) -> DataType:
    cursor.expect("<")
    name = _string(cursor)
    if not cursor.accept(","):
        cursor.expect(">")
        return StructuredType(name)
    return StructuredType(name, list(_fields(cursor, ">")))


def _two_strings(cursor: Cursor) -> tuple[str, str]:
    cursor.expect("(")
    first = _string(cursor)
    cursor.expect(",")
    second = _string(cursor)
    cursor.expect(")")
    return first, second


def _raw(cursor: Cursor) -> DataType:
    """Parse a RAW type, whose snapshot in Base64 must begin with the length and name of a class.

    Java's ``writeUTF`` writes both at the start of a serializer snapshot, which is never run.
    """
    name, snapshot = _two_strings(cursor)
    try:
        content = base64.b64decode(snapshot, validate=True)
    except (binascii.Error, ValueError):
        content = b""
    length = int.from_bytes(content[:2])
    if not 0 < length <= len(content) - 2:
        raise SchemaError("invalid serializer snapshot of a RAW type", code="invalid-raw-snapshot")
    return RawType(name, snapshot)


def _legacy(cursor: Cursor) -> DataType:
    root, information = _two_strings(cursor)
    if root not in TypeRoot.__members__:
        raise SchemaError(f"unknown type root {root!r} of LEGACY", code="invalid-legacy-type")
    return LegacyType(TypeRoot[root], str(read_information(information)))


#: Keyword -> parser of its parameters. Printed keywords first, then synonyms.
GRAMMAR: dict[str, Reader] = {
    **{kind.keyword: partial(_plain, kind, len(kind.limits)) for kind in PLAIN},
    "DOUBLE":     _double,
    "TIME":       _time,
    "TIMESTAMP":  _timestamp,
    "INTERVAL":   _interval,
    "ARRAY":      partial(_collection, ArrayType),
    "MULTISET":   partial(_collection, MultisetType),
    "MAP":        _map,
    "ROW":        _row,
    "STRUCTURED": _structured,
    "RAW":        _raw,
    "LEGACY":     _legacy,
    "STRING":     lambda _: atomic.VarCharType(MAX_LENGTH),
    "BYTES":      lambda _: atomic.VarBinaryType(MAX_LENGTH),
    "INTEGER":    partial(_plain, atomic.IntType, 0),
    "DEC":        partial(_plain, atomic.DecimalType, 2),
    "NUMERIC":    partial(_plain, atomic.DecimalType, 2),
}  # fmt: skip
