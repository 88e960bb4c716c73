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

from schema_core.base.caching import cached
from schema_core.base.cursor import Cursor, check_digits, check_size
from schema_core.base.lazy_regex import regex
from schema_core.base.repairs import Repairs
from schema_core.base.text import MAX_DEPTH, MAX_DIGITS, SPACE, Span
from schema_core.base.tokenizer import Token
from schema_core.errors import ParseError, SchemaError, close_matches
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

    Reader: TypeAlias = Callable[["TypeStringCursor"], DataType]

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

#: A token: a symbol, a string, a quoted name, a number or a word. An unclosed literal extends to
#: the end, as in Flink.
_TOKEN = regex(
    rf"[<>(),.] | '(?:[^']|'')*(?:'|\Z) | `(?:[^`]|``)*(?:`|\Z) | [0-9]+ | [^{SPACE}<>(),.]+",
    re.VERBOSE,
)
SYMBOLS = frozenset("<>(),.")
QUOTES = {"'": "string", "`": "name"}
DIGITS = frozenset("0123456789")


def tokens(text: str) -> Iterator[Token]:
    """Tokenize a type string."""
    for match in _TOKEN.finditer(text):
        value, (start, stop) = match.group(), match.span()
        first = value[0]
        if first in SYMBOLS:
            yield Token("symbol", value, value, start, stop)
        elif first in QUOTES:
            yield Token(QUOTES[first], "", _unquoted(value), start, stop)
        elif first in DIGITS:
            check_digits(value, Span(start, stop))
            yield Token("number", "", value, start, stop)
        else:
            upper = value.upper()
            yield Token("word", upper if upper in KEYWORDS else "", value, start, stop)
    yield Token("end", "end", "", len(text), len(text))


def _unquoted(word: str) -> str:
    """Return the content of a string or name, which may not be closed."""
    quote = word[0]
    closed = len(word) > 1 and word.endswith(quote)
    return (word[1:-1] if closed else word[1:]).replace(quote * 2, quote)


class TypeStringCursor:
    """The words of a type string, and a position in them.

    Most types are valid: the tokens, which know where they are, are made for an error only. The
    last word is empty.
    """

    __slots__ = ("depth", "index", "speculative", "text", "words")

    def __init__(self, text: str, speculative: Sequence[Token] | None = None) -> None:
        self.text = text
        #: the tokens of a speculative parse, if they are not those of the text
        self.speculative = speculative
        self.words: list[str]
        if speculative is None:
            self.words = _TOKEN.findall(text)
        else:
            self.words = [text[one.start : one.stop] or one.key for one in speculative[:-1]]
        self.words.append("")
        self.index = 0
        self.depth = 0

    @property
    def word(self) -> str:
        return self.words[self.index]

    def accept(self, expected: str) -> bool:
        """Consume this keyword or symbol if it follows."""
        word = self.words[self.index]
        if word == expected or word.upper() == expected:
            self.index += 1
            return True
        return False

    def expect(self, *expected: str) -> None:
        """Consume these keywords or symbols, or raise an error."""
        for one in expected:
            if not self.accept(one):
                raise self.cursor().missing(one)

    def cursor(self) -> Cursor:
        """Return the same position in tokens."""
        cursor = Cursor(self.text, self.speculative or list(tokens(self.text)))
        cursor.index = self.index
        return cursor

    def fail(self, problem: str, *, hint: str | None = None) -> ParseError:
        """Return an error at the current word, for the caller to raise."""
        return self.cursor().fail(problem, hint=hint)

    def fail_too_deep(self) -> None:
        """Raise the error for too many levels."""
        cursor = self.cursor()
        cursor.depth = MAX_DEPTH
        cursor.descend()

    @property
    def found(self) -> str:
        """The current word as messages show it."""
        return self.cursor().token.display


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
    words = TypeStringCursor(text)
    try:
        if len(text) > MAX_DIGITS and max(map(len, words.words)) > MAX_DIGITS:
            words.cursor()  # checks the digits of all numbers
        return _whole_type(words)
    except ParseError as error:
        if error.hint is None and error.span is not None:
            cursor = words.cursor()
            comma = _missing_comma(cursor) if error.code == ParseError.default_code else None
            error.hint = comma or hint_at(cursor.tokens, error.span.start, KEYWORDS)
        raise


def _whole_type(words: TypeStringCursor) -> DataType:
    type_ = _type(words)
    if words.word:
        raise words.fail(f"unexpected {words.found} after the type")
    return type_


def _missing_comma(cursor: Cursor) -> str | None:
    """Return the hint for a missing comma: with it everything can be parsed."""

    def failure(speculative: Sequence[Token]) -> int | None:
        inner = TypeStringCursor(cursor.text, speculative)
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


#: What follows most types.
_ENDS = frozenset({"", ",", ">", ")"})


def _type(words: TypeStringCursor) -> DataType:
    """Parse a type, its nullability and at most one ARRAY or MULTISET suffix."""
    words.depth += 1
    if words.depth > MAX_DEPTH:
        words.fail_too_deep()
    type_ = _base(words)
    if words.words[words.index] not in _ENDS:
        type_ = _nullability(words, type_)
        if (collection := POSTFIX.get(words.words[words.index].upper())) is not None:
            words.index += 1
            type_ = _nullability(words, collection(type_))
    words.depth -= 1
    return type_


#: Collections that may follow their element type.
POSTFIX: dict[str, type[ArrayType | MultisetType]] = {"ARRAY": ArrayType, "MULTISET": MultisetType}


def _nullability(words: TypeStringCursor, type_: DataType) -> DataType:
    start = words.index
    if not words.accept("NOT"):
        words.accept("NULL")
        return type_
    words.expect("NULL")
    try:
        return type_.not_null()
    except SchemaError as error:
        raise _located(words, start, error) from None


def _base(words: TypeStringCursor) -> DataType:
    start = words.index
    word = words.words[start]
    reader = GRAMMAR.get(word) or GRAMMAR.get(word.upper())
    if reader is None:
        if _is_name(word):
            return _user_defined(words)
        raise words.fail(f"expected a type, found {words.found}")
    words.index = start + 1
    try:
        return reader(words)
    except ParseError:
        raise
    except SchemaError as error:
        raise _located(words, start, error) from None


def _located(words: TypeStringCursor, start: int, error: SchemaError) -> ParseError:
    """Return an error of a type, with the position of its string."""
    cursor = words.cursor()
    span = cursor.span_from(cursor.tokens[start].start)
    return ParseError(error.problem, code=error.code, span=span, text=words.text)


def _user_defined(words: TypeStringCursor) -> DataType:
    parts = [_name(words)]
    while words.accept("."):
        if len(parts) == 3:
            raise words.fail("the name of a type has at most three parts")
        parts.append(_name(words))
    return UnresolvedType(tuple(parts))


def _is_name(word: str) -> bool:
    """Return whether a word can be a name: it is quoted, or not reserved."""
    if not word or word[0] in SYMBOLS or word[0] in DIGITS or word[0] == "'":
        return False
    return word.upper() not in KEYWORDS


def _name(words: TypeStringCursor) -> str:
    word = words.word
    if not _is_name(word):
        hint = "quote reserved words with backticks" if word.upper() in KEYWORDS else None
        raise words.fail(f"expected a name, found {words.found}", hint=hint)
    words.index += 1
    return _unquoted(word) if word[0] == "`" else word


def _number(words: TypeStringCursor) -> int:
    word = words.words[words.index]
    if word[:1] not in DIGITS:
        raise words.fail(f"expected a number, found {words.found}")
    value = int(word)
    if value > MAX_LENGTH:
        raise words.fail(f"{value} is larger than {MAX_LENGTH}")
    words.index += 1
    return value


def _string(words: TypeStringCursor) -> str:
    word = words.word
    if word[:1] != "'":
        raise words.fail(f"expected a string in single quotes, found {words.found}")
    words.index += 1
    return _unquoted(word)


def _numbers(words: TypeStringCursor, most: int) -> list[int]:
    """Parse up to `most` numbers in optional parentheses."""
    if words.words[words.index] != "(":
        return []
    words.index += 1
    values = [_number(words)]
    while words.words[words.index] == "," and len(values) < most:
        words.index += 1
        values.append(_number(words))
    words.expect(")")
    return values


def _precision(words: TypeStringCursor, default: int) -> int:
    """Parse one number in optional parentheses."""
    values = _numbers(words, 1)
    return values[0] if values else default


def _plain(kind: Callable[..., DataType], most: int) -> Reader:
    """Return a parser of the parameters of a type that consists of a keyword and numbers."""
    if most:
        return lambda words: kind(*_numbers(words, most))
    only = kind()
    return lambda _: only


def _double(words: TypeStringCursor) -> DataType:
    words.accept("PRECISION")
    return DOUBLE


def _time(words: TypeStringCursor) -> DataType:
    precision = _precision(words, default=0)
    if words.accept("WITHOUT"):
        words.expect("TIME", "ZONE")
    return TimeType(precision)


def _timestamp(words: TypeStringCursor) -> DataType:
    precision = _precision(words, default=6)
    if words.word in _ENDS:
        return TimestampType(precision)
    if words.accept("WITHOUT"):
        words.expect("TIME", "ZONE")
    elif words.accept("WITH"):
        kind = LocalZonedTimestampType if words.accept("LOCAL") else ZonedTimestampType
        words.expect("TIME", "ZONE")
        return kind(precision)
    return TimestampType(precision)


def _interval(words: TypeStringCursor) -> DataType:
    start = words.index
    first = words.word.upper()
    unit = first if first in KEYWORDS else ""
    words.index += bool(first)
    days, fraction = DayTimeIntervalType.DEFAULT_DAY_PRECISION, 6
    if unit == "SECOND":
        fraction = _precision(words, fraction)
    elif unit in ("YEAR", "DAY"):
        days = _precision(words, days)
    if unit not in ("MONTH", "SECOND") and words.accept("TO"):
        last = words.word.upper()
        unit += f" TO {last}"
        words.index += bool(last)
        fraction = _precision(words, fraction) if last == "SECOND" else fraction
    if unit in YEAR_MONTH:
        return YearMonthIntervalType(YearMonthResolution(unit), days)
    if unit in DAY_TIME:
        return DayTimeIntervalType(DayTimeResolution(unit), days, fraction)
    cursor = words.cursor()
    found = cursor.tokens[start]
    raise cursor.fail(f"there is no interval {unit or found.display}", span=found.span)


def _collection(kind: type[ArrayType | MultisetType], words: TypeStringCursor) -> DataType:
    words.expect("<")
    element = _type(words)
    words.expect(">")
    return kind(element)


def _map(words: TypeStringCursor) -> DataType:
    words.expect("<")
    key = _type(words)
    words.expect(",")
    value = _type(words)
    words.expect(">")
    return MapType(key, value)


def _fields(words: TypeStringCursor, closing: str) -> Iterator[RowField]:
    """Parse ``name type 'comment'``, separated by commas, up to the closing bracket."""
    if words.accept(closing):
        return
    while True:
        name = _name(words)
        type_ = _type(words)
        yield RowField(name, type_, _string(words) if words.word[:1] == "'" else None)
        if words.accept(closing):
            return
        words.expect(",")


def _row(words: TypeStringCursor) -> DataType:
    closing = ")" if words.accept("(") else ">"
    if closing == ">":
        words.expect("<")
    return RowType(list(_fields(words, closing)))


def _structured(words: TypeStringCursor) -> DataType:
    words.expect("<")
    name = _string(words)
    if not words.accept(","):
        words.expect(">")
        return StructuredType(name)
    return StructuredType(name, list(_fields(words, ">")))


def _two_strings(words: TypeStringCursor) -> tuple[str, str]:
    words.expect("(")
    first = _string(words)
    words.expect(",")
    second = _string(words)
    words.expect(")")
    return first, second


def _raw(words: TypeStringCursor) -> DataType:
    """Parse a RAW type, whose snapshot in Base64 must begin with the length and name of a class.

    Java's ``writeUTF`` writes both at the start of a serializer snapshot, which is never run.
    """
    name, snapshot = _two_strings(words)
    try:
        content = base64.b64decode(snapshot, validate=True)
    except (binascii.Error, ValueError):
        content = b""
    length = int.from_bytes(content[:2])
    if not 0 < length <= len(content) - 2:
        raise SchemaError("invalid serializer snapshot of a RAW type", code="invalid-raw-snapshot")
    return RawType(name, snapshot)


def _legacy(words: TypeStringCursor) -> DataType:
    root, information = _two_strings(words)
    if root not in TypeRoot.__members__:
        raise SchemaError(f"unknown type root {root!r} of LEGACY", code="invalid-legacy-type")
    return LegacyType(TypeRoot[root], str(read_information(information)))


DOUBLE = atomic.DoubleType()
STRING, BYTES = atomic.VarCharType(MAX_LENGTH), atomic.VarBinaryType(MAX_LENGTH)
#: Keyword -> parser of its parameters. Printed keywords first, then synonyms.
GRAMMAR: dict[str, Reader] = {
    **{kind.keyword: _plain(kind, len(kind.limits)) for kind in PLAIN},
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
    "STRING":     lambda _: STRING,
    "BYTES":      lambda _: BYTES,
    "INTEGER":    _plain(atomic.IntType, 0),
    "DEC":        _plain(atomic.DecimalType, 2),
    "NUMERIC":    _plain(atomic.DecimalType, 2),
}  # fmt: skip
