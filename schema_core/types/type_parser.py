"""The parser of type strings: ``parse_type(str(t)) == t``.

Unlike in SQL statements, ``VARCHAR`` without a length has length 1, and there are no comments
(Flink documentation, "Data Types").
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Sequence

from schema_core.base.caching import cached
from schema_core.base.cursor import Cursor, Repairs, check_digits, check_size
from schema_core.base.lazy import regex
from schema_core.base.text import MAX_DEPTH, MAX_DIGITS, SPACE, Span, Token
from schema_core.errors import ParseError, SchemaError, close_matches
from schema_core.types import atomic, temporal
from schema_core.types.base import MAX_LENGTH, DataType
from schema_core.types.families import TypeRoot
from schema_core.types.nested import (
    ArrayType,
    MapType,
    MultisetType,
    RowField,
    RowType,
    require_text,
)
from schema_core.types.type_grammar import BRACKETS, POSTFIX, TypeGrammar, parse_numbers
from schema_core.types.user_defined import LegacyType, RawType, StructuredType, UnresolvedType

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


def hint_for_foreign(word: str) -> str | None:
    """A hint with Flink's equivalent of another engine's type.

    >>> hint_for_foreign("datetime"), hint_for_foreign("int[]"), hint_for_foreign("whatever")
    ("Flink's type for it is TIMESTAMP(p)", "Flink's type for it is ARRAY<INT>", None)
    """
    word = word.upper()
    ours = f"ARRAY<{word[:-2]}>" if word.endswith("[]") else FOREIGN.get(word)
    return f"Flink's type for it is {ours}" if ours else None


def hint_at(tokens: Sequence[Token], start: int) -> str | None:
    """A hint for the unexpected token at an offset."""
    index = next((i for i, token in enumerate(tokens) if token.stop > start), len(tokens) - 1)
    unexpected, before = tokens[index], tokens[max(index - 1, 0)]
    if unexpected.kind == "end":
        return _unclosed_hint(tokens)
    if before.key == "," and unexpected.key in BRACKETS.values():
        return "remove the comma before it"
    if unexpected.key == ",":
        is_last = tokens[index + 1].key in BRACKETS.values()
        return "remove the comma" if is_last or before.key == "," else _unclosed_hint(tokens)
    if unexpected.key in BRACKETS and index:
        return hint_for_foreign(before.value) or _brackets(unexpected.key, before.key)
    if unexpected.kind == "number" and before.key in KEYWORDS:
        return f"write the number in parentheses: {before.key}({unexpected.value})"
    if unexpected.key == "." and before.kind == "number":
        return "separate the numbers by a comma: DECIMAL(10, 2)"
    if unexpected.kind == "string":
        return "write types and numbers without quotes"
    if unexpected.kind != "word" or unexpected.key:
        return SLIPS.get(before.value.upper())
    if unexpected.value.startswith("-"):
        return "lengths and precisions cannot be negative"
    word = unexpected.value.upper()
    meant = close_matches(word, sorted(KEYWORDS), 0.7, count=1)
    return (
        SLIPS.get(word)
        or hint_for_foreign(word)
        or (f"did you mean {meant[0]!r}?" if meant else None)
    )


def _brackets(bracket: str, keyword: str) -> str | None:
    """A hint for the wrong kind of brackets."""
    if bracket == "(" and keyword in ("ARRAY", "MULTISET", "MAP", "STRUCTURED"):
        return f"write its parts in angle brackets: {keyword}<...>"
    if bracket == "<" and keyword in ("RAW", "LEGACY"):
        return f"write its parts in parentheses: {keyword}(...)"
    return f"{keyword} does not take parameters" if bracket == "(" and keyword else None


def _unclosed_hint(tokens: Sequence[Token]) -> str | None:
    """A hint for an unclosed bracket."""
    open_: list[Token] = []
    for token in tokens:
        if token.key in BRACKETS:
            open_.append(token)
        elif open_ and token.key == BRACKETS[open_[-1].key]:
            open_.pop()
    if not open_:
        return None
    last = open_[-1]
    return f"the {last.key!r} at character {last.start + 1} is not closed"


#: Reserved words, which must be quoted to be a name.
KEYWORDS = frozenset(
    {
        *(kind.keyword for kind in atomic.PLAIN),
        "STRING", "BYTES", "NUMERIC", "DEC", "INTEGER", "DOUBLE", "PRECISION", "DATE", "TIME",
        "WITH", "WITHOUT", "LOCAL", "ZONE", "TIMESTAMP", "TIMESTAMP_LTZ", "INTERVAL", "YEAR",
        "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "TO", "ARRAY", "MULTISET", "MAP", "ROW", "RAW",
        "LEGACY", "NOT", "STRUCTURED",
    }
)  # fmt: skip

YEAR_MONTH = frozenset(resolution.value for resolution in temporal.YearMonthResolution)
DAY_TIME = frozenset(resolution.value for resolution in temporal.DayTimeResolution)

#: A word, a symbol, a quoted name, a string or a number; words are the most frequent. An unclosed
#: literal extends to the end, as in Flink.
_TOKEN = regex(
    rf"""
      [^{SPACE}<>(),.'`0-9][^{SPACE}<>(),.]*
    | [<>(),.]
    | `[^`]*(?:``[^`]*)*(?:`|\Z)
    | '[^']*(?:''[^']*)*(?:'|\Z)
    | [0-9]+
    """,
    re.VERBOSE,
)
SYMBOLS = frozenset("<>(),.")
QUOTES = {"'": "string", "`": "name"}
DIGITS = "0123456789"


def tokens(text: str) -> Iterator[Token]:
    """Tokenize a type string."""
    for match in _TOKEN.finditer(text):
        value, (start, stop) = match.group(), match.span()
        first = value[0]
        if first in SYMBOLS:
            yield Token("symbol", value, value, start, stop)
        elif first in QUOTES:
            yield Token(QUOTES[first], "", _unquote(value), start, stop)
        elif first in DIGITS:
            check_digits(value, Span(start, stop))
            yield Token("number", "", value, start, stop)
        else:
            upper = value.upper()
            yield Token("word", upper if upper in KEYWORDS else "", value, start, stop)
    yield Token("end", "end", "", len(text), len(text))


def _unquote(word: str) -> str:
    """The content of a string or name, which may be unclosed."""
    quote = word[0]
    closed = len(word) > 1 and word.endswith(quote)
    return (word[1:-1] if closed else word[1:]).replace(quote * 2, quote)


class TypeStringCursor(Cursor):
    """A cursor over the words of a type string.

    Most types are valid: tokens, which have positions, are made for an error only.
    """

    __slots__ = ("keys", "words")

    def __init__(self, text: str, speculative: Sequence[Token] | None = None) -> None:
        self.text = text
        self.index = self.depth = 0
        words: list[str]
        if speculative is None:
            self.tokens = ()
            words = _TOKEN.findall(text)
        else:
            self.tokens = speculative
            words = [text[token.start : token.stop] or token.key for token in speculative[:-1]]
        words.append("")
        self.words = words
        self.keys = words if text.isupper() else [word.upper() for word in words]

    def tokenize(self) -> Sequence[Token]:
        """Return the tokens, which are empty before the first call."""
        self.tokens = self.tokens or list(tokens(self.text))
        return self.tokens

    @property
    def key(self) -> str:
        return self.keys[self.index]

    @property
    def found(self) -> str:
        self.tokenize()
        return super().found

    def fail(
        self,
        problem: str,
        *,
        span: Span | None = None,
        code: str | None = None,
        hint: str | None = None,
    ) -> ParseError:
        self.tokenize()
        return super().fail(problem, span=span, code=code, hint=hint)

    def accept(self, key: str, *further: str) -> bool:
        if self.keys[self.index] != key:
            return False
        if further:
            return super().accept(key, *further)
        self.index += 1
        return True

    def expect(self, key: str, *further: str) -> Token:
        """Return a token without content, since the tokens are not made."""
        if self.keys[self.index] != key:
            raise self.missing(key)
        self.index += 1
        if further:
            self.expect(*further)
        return _CONSUMED


#: The result of `TypeStringCursor.expect`, which no grammar of types reads.
_CONSUMED = Token("symbol", "", "", 0, 0)


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
    require_text(text, "the type string")
    is_long = len(text) > MAX_DIGITS
    if is_long:
        check_size(text)
    cursor = TypeStringCursor(text)
    try:
        if is_long and max(map(len, cursor.words)) > MAX_DIGITS:
            cursor.tokenize()  # checks the digits of all numbers
        return _parse_all(cursor)
    except ParseError as error:
        if error.hint is None and error.span is not None:
            comma = _missing_comma(cursor) if error.code == ParseError.default_code else None
            error.hint = comma or hint_at(cursor.tokenize(), error.span.start)
        raise


def _parse_all(cursor: TypeStringCursor) -> DataType:
    type_ = _FLINK.type_(cursor)
    if cursor.keys[cursor.index]:
        raise cursor.fail(f"unexpected {cursor.found} after the type")
    return type_


def _missing_comma(cursor: TypeStringCursor) -> str | None:
    """The hint for a missing comma, with which everything can be parsed."""

    def failure(speculative: Sequence[Token]) -> int | None:
        inner = TypeStringCursor(cursor.text, speculative)
        try:
            _parse_all(inner)
        except ParseError as error:
            return inner.index if error.code == ParseError.default_code else None
        return None

    place = Repairs(failure, cursor.tokenize(), cursor.index).missing_comma()
    if place is None:
        return None
    token = cursor.tokens[place]
    where = "" if place == cursor.index else f" at character {token.start + 1}"
    return f"missing ',' before {token.display}{where}"


#: What follows most types.
_ENDS = frozenset({"", ",", ">", ")"})


def _locate_error(cursor: TypeStringCursor, start: int, error: SchemaError) -> ParseError:
    """The error of a type with its position."""
    span = cursor.span_from(cursor.tokenize()[start].start)
    return ParseError(error.problem, code=error.code, span=span, text=cursor.text)


def _is_name(cursor: TypeStringCursor) -> bool:
    """Whether the word at the cursor can be a name: quoted, or not reserved."""
    word = cursor.words[cursor.index]
    if not word or word[0] in SYMBOLS or word[0] in DIGITS or word[0] == "'":
        return False
    return cursor.keys[cursor.index] not in KEYWORDS


def _plain(kind: Callable[..., DataType], most: int) -> Callable[..., DataType]:
    """A parser of a keyword and numbers."""
    if most:
        return lambda types, cursor: kind(*parse_numbers(cursor, most, types.integer))
    only = kind()
    return lambda types, cursor: only


_TIMESTAMPS: dict[str, type[temporal.AnyTimestampType]] = {
    "":        temporal.TimestampType,
    "WITHOUT": temporal.TimestampType,
    "LOCAL":   temporal.LocalZonedTimestampType,
    "WITH":    temporal.ZonedTimestampType,
}  # fmt: skip

DOUBLE = atomic.DoubleType()
STRING, BYTES = atomic.VarCharType(MAX_LENGTH), atomic.VarBinaryType(MAX_LENGTH)


class _FlinkTypes(TypeGrammar[TypeStringCursor, DataType, RowField]):
    """Flink's type strings."""

    has_time_zones = True

    def type_(self, cursor: TypeStringCursor) -> DataType:
        """Parse a type, its nullability and at most one ARRAY or MULTISET suffix."""
        cursor.depth += 1
        if cursor.depth > MAX_DEPTH:
            cursor.depth -= 1
            cursor.descend()  # raises the error
        start = cursor.index
        parse = self.names.get(cursor.keys[start])
        if parse is None:
            type_ = self.other_type(cursor)
        else:
            cursor.index = start + 1
            try:
                type_ = parse(self, cursor)
            except ParseError:
                raise
            except SchemaError as error:
                raise _locate_error(cursor, start, error) from None
        if cursor.keys[cursor.index] not in _ENDS:
            type_ = self._with_nullability(cursor, type_)
            if (keyword := cursor.key) in POSTFIX:
                cursor.index += 1
                collection = ArrayType if keyword == "ARRAY" else MultisetType
                type_ = self._with_nullability(cursor, collection(type_))
        cursor.depth -= 1
        return type_

    def _with_nullability(self, cursor: TypeStringCursor, type_: DataType) -> DataType:
        start = cursor.index
        if self.nullability(cursor) is not False:
            return type_
        try:
            return type_.with_nullability(False)
        except SchemaError as error:
            raise _locate_error(cursor, start, error) from None

    def other_type(self, cursor: TypeStringCursor) -> DataType:
        """Parse the name of a user-defined type."""
        if not _is_name(cursor):
            return super().other_type(cursor)
        path = [self.name(cursor)]
        while cursor.accept("."):
            if len(path) == 3:
                raise cursor.fail("the name of a type has at most three parts")
            path.append(self.name(cursor))
        return UnresolvedType(tuple(path))

    def name(self, cursor: TypeStringCursor) -> str:
        word = cursor.words[cursor.index]
        if word[:1] == "`":
            cursor.index += 1
            return _unquote(word)
        if not _is_name(cursor):
            hint = "quote reserved words with backticks" if cursor.key in KEYWORDS else None
            raise cursor.fail(f"expected a name, found {cursor.found}", hint=hint)
        cursor.index += 1
        return word

    def integer(self, cursor: TypeStringCursor) -> int:
        word = cursor.words[cursor.index]
        if not word or word[0] not in DIGITS:
            raise cursor.fail(f"expected a number, found {cursor.found}")
        value = int(word)
        if value > MAX_LENGTH:
            raise cursor.fail(f"{value} is larger than {MAX_LENGTH}")
        cursor.index += 1
        return value

    def string(self, cursor: TypeStringCursor) -> str:
        word = cursor.words[cursor.index]
        if word[:1] != "'":
            raise cursor.fail(f"expected a string in single quotes, found {cursor.found}")
        cursor.index += 1
        return _unquote(word)

    def field(self, cursor: TypeStringCursor) -> RowField:
        name = self.name(cursor)
        type_ = self.type_(cursor)
        word = cursor.words[cursor.index]
        return RowField(name, type_, self.string(cursor) if word[:1] == "'" else None)

    def double(self, cursor: TypeStringCursor) -> DataType:
        """Parse ``DOUBLE PRECISION``."""
        cursor.accept("PRECISION")
        return DOUBLE

    def time(self, cursor: TypeStringCursor) -> DataType:
        """Parse ``TIME(3) WITHOUT TIME ZONE``."""
        precision = self.number(cursor, 0)
        if cursor.accept("WITHOUT"):
            cursor.expect("TIME", "ZONE")
        return temporal.TimeType(precision)

    def timestamp(self, cursor: TypeStringCursor) -> DataType:
        """Parse ``TIMESTAMP(3) WITH LOCAL TIME ZONE``."""
        precision = self.number(cursor, 6)
        if cursor.keys[cursor.index] in _ENDS:
            return temporal.TimestampType(precision)
        return _TIMESTAMPS[self.time_zone(cursor)](precision)

    def interval(self, cursor: TypeStringCursor) -> DataType:
        """Parse ``INTERVAL DAY(3) TO SECOND(6)``."""
        start = cursor.index
        unit = cursor.key if cursor.key in KEYWORDS else ""
        cursor.index += cursor.key != ""
        days, fraction = temporal.DayTimeIntervalType.DEFAULT_DAY_PRECISION, 6
        if unit == "SECOND":
            fraction = self.number(cursor, fraction)
        elif unit in ("YEAR", "DAY"):
            days = self.number(cursor, days)
        if unit not in ("MONTH", "SECOND") and cursor.accept("TO"):
            last = cursor.key
            unit += f" TO {last}"
            cursor.index += last != ""
            fraction = self.number(cursor, fraction) if last == "SECOND" else fraction
        if unit in YEAR_MONTH:
            return temporal.YearMonthIntervalType(temporal.YearMonthResolution(unit), days)
        if unit in DAY_TIME:
            return temporal.DayTimeIntervalType(temporal.DayTimeResolution(unit), days, fraction)
        first = cursor.tokenize()[start]
        raise cursor.fail(f"there is no interval {unit or first.display}", span=first.span)

    def raw(self, cursor: TypeStringCursor) -> DataType:
        """Parse a RAW type.

        Its snapshot, in Base64, begins with the length and name of a class, as written by Java's
        ``writeUTF``. It is never run.
        """
        name, snapshot = self.strings(cursor)
        try:
            content = base64.b64decode(snapshot, validate=True)
        except (binascii.Error, ValueError):
            content = b""
        length = int.from_bytes(content[:2])
        if not 0 < length <= len(content) - 2:
            raise SchemaError("invalid serializer snapshot of a RAW type", code="invalid-type")
        return RawType(name, snapshot)

    def legacy(self, cursor: TypeStringCursor) -> DataType:
        """Parse ``LEGACY('RAW', 'ANY<com.acme.Point>')``."""
        root, information = self.strings(cursor)
        if root not in TypeRoot.__members__:
            raise SchemaError(f"unknown type root {root!r} of LEGACY", code="invalid-type")
        from schema_core.types.legacy import read_information

        return LegacyType(TypeRoot[root], str(read_information(information)))


#: Printed keywords first, then synonyms.
_FlinkTypes.names = {
    **{kind.keyword: _plain(kind, len(kind.limits)) for kind in atomic.PLAIN},
    "DATE":       _plain(temporal.DateType, 0),
    "TIMESTAMP_LTZ": _plain(temporal.LocalZonedTimestampType, 1),
    "DOUBLE":     _FlinkTypes.double,
    "TIME":       _FlinkTypes.time,
    "TIMESTAMP":  _FlinkTypes.timestamp,
    "INTERVAL":   _FlinkTypes.interval,
    "ARRAY":      lambda types, cursor: ArrayType(types.element(cursor)),
    "MULTISET":   lambda types, cursor: MultisetType(types.element(cursor)),
    "MAP":        lambda types, cursor: MapType(*types.entry(cursor)),
    "ROW":        lambda types, cursor: RowType(types.row(cursor)),
    "STRUCTURED": lambda types, cursor: StructuredType(*types.structured(cursor)),
    "RAW":        _FlinkTypes.raw,
    "LEGACY":     _FlinkTypes.legacy,
    "STRING":     lambda types, cursor: STRING,
    "BYTES":      lambda types, cursor: BYTES,
    "INTEGER":    _plain(atomic.IntType, 0),
    "DEC":        _plain(atomic.DecimalType, 2),
    "NUMERIC":    _plain(atomic.DecimalType, 2),
}  # fmt: skip

_FLINK = _FlinkTypes()
NAMES = _FLINK.names
