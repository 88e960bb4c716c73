r"""Parse and print Spark's DDL: ``a INT NOT NULL COMMENT 'x', b STRUCT<c: STRING>``, without a JVM.

The grammar was compared with Spark 4.3 (``StructType.fromDDL``). A printed tree is parsed to the
same tree, except for what DDL cannot express: NOT NULL of elements and map values, and metadata
other than comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, TypeAlias

from schema_core import types
from schema_core.base.cursor import Cursor, check_digits, check_size
from schema_core.base.lazy import NamedTuple, regex
from schema_core.base.text import Span, Token, quote_identifier
from schema_core.errors import ParseError, UnsupportedError
from schema_core.mappings.loss import BYTES, STRING
from schema_core.types.type_grammar import TypeGrammar, parse_numbers

#: A Spark type in its JSON form: a string, or a dict for arrays, maps and structs.
Tree: TypeAlias = "str | dict[str, Any]"

_TOKEN = regex(
    r"""
      (?P<space>  (?: \s+ | --[^\r\n]* )+ )
    | (?P<open>   /\* )
    | (?P<raw>    [rR](?: '[^']*' | "[^"]*" ) )
    | (?P<string> '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" )
    | (?P<name>   `(?:[^`]|``)*` )
    | (?P<number> (?:[0-9]+(?:[eE][0-9]+|[lLsSyYdDfF]|[bB][dD])?)(?![0-9A-Za-z_]) )
    | (?P<word>   \w+ )
    | (?P<symbol> <> | [<>(),:;.\-] )
    """,
    re.VERBOSE | re.DOTALL,
)

_ASCII_NAME = regex(r"[A-Za-z0-9_]+")
_BRACKET = regex(r"/\*|\*/")
_ESCAPE = regex(
    r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([01][0-7]{2})|(.))", re.DOTALL
)  # fmt: skip

#: What a letter after a backslash means; other letters mean themselves.
ESCAPES = {
    "0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_",
}  # fmt: skip


# --- tokens ---------------------------------------------------------------------------------------


def _tokens(text: str) -> Iterator[Token]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _syntax_error(text, position, position + 1, f"unexpected {text[position]!r}")
        start, position = match.span()
        kind, value = match.lastgroup or "", match.group()
        match kind:
            case "space":
                continue
            case "open":
                position = _end_of_comment(text, start)
            case "raw":
                yield Token("string", "", value[2:-1], start, position)
            case "string":
                yield Token("string", "", _unescape(value), start, position)
            case "name":
                yield Token("name", "", value[1:-1].replace("``", "`"), start, position)
            case "number":
                check_digits(value, Span(start, position))
                yield Token("number", "", value, start, position)
            case _:
                yield Token(kind, value.upper(), value, start, position)
    yield Token("end", "end", "", len(text), len(text))


def _end_of_comment(text: str, start: int) -> int:
    """Return the end of a bracketed comment, which may be nested."""
    depth = 0
    for match in _BRACKET.finditer(text, start):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    raise _syntax_error(text, start, start + 2, "unterminated comment")


def _syntax_error(text: str, start: int, stop: int, problem: str) -> ParseError:
    return ParseError(problem, span=Span(start, stop), text=text)


def _unescape(literal: str) -> str:
    quote = literal[0]
    inner = literal[1:-1].replace(quote * 2, quote)

    def character(match: re.Match[str]) -> str:
        short, long, octal, letter = match.groups()
        if letter is not None:
            return ESCAPES.get(letter, letter)
        return chr(int(octal, 8) if octal else int(short or long, 16))

    return _ESCAPE.sub(character, inner)


# --- grammar --------------------------------------------------------------------------------------


class _DdlCursor(Cursor):
    """A cursor with the meaning of a bare TIMESTAMP, which collects collations by path.

    `path` leads from the nearest column or field to the current type.
    """

    __slots__ = ("collations", "path", "timestamp")

    def __init__(self, text: str, timestamp: str) -> None:
        check_size(text)
        super().__init__(text, list(_tokens(text)))
        self.timestamp = timestamp
        self.path: tuple[str, ...] = ()
        self.collations: dict[str, str] = {}

    def missing(self, key: str) -> ParseError:
        hint = None
        if key == ">" and self.key == "NOT":
            hint = "in Spark's DDL only columns and fields can be NOT NULL"
        shown = key if key[:1].isalpha() else repr(key)
        return self.fail(f"expected {shown}, found {self.found}", hint=hint)

    def expect_end(self) -> None:
        if self.token.kind != "end":
            raise self.fail(f"unexpected {self.token.display}")

    def fail_at_type(self, start: int, problem: str) -> ParseError:
        return self.fail(problem, span=self.span_from(self.tokens[start].start))


class AtomicType(NamedTuple):
    """A type of Spark without parameters.

    `name` is its JSON, `keywords` are its SQL, of which the first is printed, `read_as` is the
    Flink type of its values, and `stores` are the classes of Flink types that are stored as it.
    """

    name: str
    keywords: str
    read_as: types.DataType
    stores: tuple[type[types.DataType], ...] = ()


def _interval(type_: types.DataType, resolution: Enum, widest: Enum) -> AtomicType:
    stores = (type(type_),) if resolution is widest else ()
    return AtomicType(f"interval {resolution.value.lower()}", "", type_, stores)


#: The types without parameters; intervals have Flink's maximum precision of days or years.
ATOMIC_TYPES: tuple[AtomicType, ...] = (
    AtomicType("void",    "VOID",           types.NullType(),     (types.NullType,)),
    AtomicType("boolean", "BOOLEAN",        types.BooleanType(),  (types.BooleanType,)),
    AtomicType("byte",    "TINYINT BYTE",   types.TinyIntType(),  (types.TinyIntType,)),
    AtomicType("short",   "SMALLINT SHORT", types.SmallIntType(), (types.SmallIntType,)),
    AtomicType("integer", "INT INTEGER",    types.IntType(),      (types.IntType,)),
    AtomicType("long",    "BIGINT LONG",    types.BigIntType(),   (types.BigIntType,)),
    AtomicType("float",   "FLOAT REAL",     types.FloatType(),    (types.FloatType,)),
    AtomicType("double",  "DOUBLE",         types.DoubleType(),   (types.DoubleType,)),
    AtomicType("decimal", "",               types.DecimalType(10, 0)),
    AtomicType("string",  "",               STRING, (types.CharType, types.VarCharType)),
    AtomicType("binary",  "BINARY",         BYTES,
        (types.BinaryType, types.VarBinaryType, types.RawType, types.BitmapType)),
    AtomicType("date",    "DATE",           types.DateType(),     (types.DateType,)),
    AtomicType("timestamp_ntz", "TIMESTAMP_NTZ", types.TimestampType(6), (types.TimestampType,)),
    AtomicType("timestamp", "TIMESTAMP_LTZ", types.LocalZonedTimestampType(6),
        (types.LocalZonedTimestampType,)),
    AtomicType("variant", "VARIANT",        types.VariantType(),  (types.VariantType,)),
    *(_interval(
        types.DayTimeIntervalType(
            resolution,
            6 if resolution.value.startswith("DAY")
            else types.DayTimeIntervalType.DEFAULT_DAY_PRECISION,
        ), resolution, types.DayTimeResolution.DAY_TO_SECOND,
    ) for resolution in types.DayTimeResolution),
    *(_interval(
        types.YearMonthIntervalType(
            resolution, 2 if resolution is types.YearMonthResolution.MONTH else 4
        ), resolution, types.YearMonthResolution.YEAR_TO_MONTH,
    ) for resolution in types.YearMonthResolution),
)  # fmt: skip
SQL_KEYWORDS = {row.name: row.keywords.split()[0] for row in ATOMIC_TYPES if row.keywords}

INTERVALS = frozenset(
    resolution.value for resolution in (*types.YearMonthResolution, *types.DayTimeResolution)
)


def _array(element: Tree) -> Tree:
    return {"type": "array", "elementType": element, "containsNull": True}


def _map(key: Tree, value: Tree) -> Tree:
    return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}


def _struct(fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "struct", "fields": fields}


def _keyword(word: str) -> Callable[[object, _DdlCursor], Tree]:
    return lambda grammar, cursor: word


def _length(word: str) -> Callable[[_SparkTypes, _DdlCursor], Tree]:
    return lambda grammar, cursor: grammar.length(cursor, word)


def _timestamp(word: str) -> Callable[[_SparkTypes, _DdlCursor], Tree]:
    return lambda grammar, cursor: grammar.timestamp(cursor, word)


class _SparkTypes(TypeGrammar[_DdlCursor, Tree, dict[str, Any]]):
    """The types of Spark's DDL."""

    def other_type(self, cursor: _DdlCursor) -> Tree:
        raise cursor.fail(f"expected a Spark type, found {cursor.token.display}")

    def part(self, cursor: _DdlCursor, position: str) -> Tree:
        path = cursor.path
        cursor.path = (*path, position)
        tree = self.type_(cursor)
        cursor.path = path
        return tree

    def field(self, cursor: _DdlCursor) -> dict[str, Any]:
        """Parse ``name [:] type [NOT NULL] [COMMENT 'string']``."""
        outer = cursor.path, cursor.collations
        name = self.name(cursor)
        cursor.accept(":")
        cursor.path, cursor.collations = (name,), {}
        tree = self.type_(cursor)
        nullable = not cursor.accept("NOT", "NULL")
        metadata: dict[str, Any] = {}
        if cursor.collations:
            metadata["__COLLATIONS"] = cursor.collations
        if cursor.accept("COMMENT"):
            metadata["comment"] = cursor.string_literal()
        cursor.path, cursor.collations = outer
        return {"name": name, "type": tree, "nullable": nullable, "metadata": metadata}

    def missing_comma(self, cursor: _DdlCursor, closing: str) -> ParseError:
        return cursor.fail(f"expected ',' or {closing}, found {cursor.token.display}")

    def name(self, cursor: _DdlCursor) -> str:
        """Parse a name; those with other letters than ASCII's are quoted."""
        token = cursor.token
        if token.kind not in ("word", "name"):
            raise cursor.fail(f"expected a name, found {token.display}")
        if token.kind == "word" and not _ASCII_NAME.fullmatch(token.value):
            raise cursor.fail(
                f"{token.value!r} is not a valid unquoted name", hint="quote it with backticks"
            )
        return cursor.advance().value

    def integer(self, cursor: _DdlCursor) -> int:
        token = cursor.token
        if token.kind != "number" or not token.value.isdecimal():
            raise cursor.fail(f"expected an integer, found {token.display}")
        return int(cursor.advance().value)

    def decimal(self, cursor: _DdlCursor) -> Tree:
        """Parse ``DECIMAL(10, 2)``."""
        start = cursor.index - 1
        precision, scale = [*(parse_numbers(cursor, 2, self.integer) or [10]), 0][:2]
        self.require_most(cursor, start, precision, 38, "DECIMAL precision")
        self.require_most(cursor, start, scale, precision, "DECIMAL scale")
        return f"decimal({precision},{scale})"

    def length(self, cursor: _DdlCursor, word: str) -> Tree:
        start = cursor.index - 1
        cursor.expect("(")
        length = self.integer(cursor)
        self.require_most(cursor, start, length, 2**31 - 1, cursor.tokens[start].key)
        cursor.expect(")")
        return f"{word}({length})"

    def require_most(
        self, cursor: _DdlCursor, start: int, value: int, most: int, what: str
    ) -> None:
        if value > most:
            raise cursor.fail_at_type(start, f"{what} {value} exceeds {most}")

    def string_type(self, cursor: _DdlCursor) -> Tree:
        """Parse STRING; a collation is stored in the metadata of the field, as Spark does."""
        if cursor.accept("COLLATE"):
            collation = self.name(cursor).upper()
            if collation != "UTF8_BINARY":
                provider = "spark" if collation.startswith("UTF8_") else "icu"
                cursor.collations[".".join(cursor.path)] = f"{provider}.{collation}"
        return "string"

    def time(self, cursor: _DdlCursor) -> Tree:
        """Parse ``TIME(3) WITHOUT TIME ZONE``."""
        start = cursor.index - 1
        precision = self.number(cursor, 6)
        if cursor.accept("WITHOUT"):
            cursor.expect("TIME", "ZONE")
        self.require_most(cursor, start, precision, 9, "TIME")
        return f"time({precision})"

    def timestamp(self, cursor: _DdlCursor, word: str) -> Tree:
        """Parse a timestamp of precision 6, or 7 to 9, which are a preview in Spark.

        `word` is empty for TIMESTAMP, whose meaning is configurable.
        """
        start = cursor.index - 1
        precision = self.number(cursor, 6)
        if not word:
            zone = self.time_zone(cursor)
            word = {"WITHOUT": "timestamp_ntz", "LOCAL": "timestamp"}.get(zone, cursor.timestamp)
        if precision == 6:
            return word
        if precision not in (7, 8, 9):
            raise cursor.fail_at_type(start, f"Spark has no timestamp of precision {precision}")
        return f"{'timestamp_ltz' if word == 'timestamp' else word}({precision})"

    def interval(self, cursor: _DdlCursor) -> Tree:
        """Parse ``INTERVAL``, ``INTERVAL DAY`` or ``INTERVAL DAY TO SECOND``."""
        start = cursor.index - 1
        if cursor.key not in {interval.split()[0] for interval in INTERVALS}:
            return "interval"
        words = cursor.advance().key
        if cursor.accept("TO"):
            words += f" TO {cursor.advance().key}"
        if words not in INTERVALS:
            raise cursor.fail_at_type(start, f"Spark has no type INTERVAL {words}")
        return f"interval {words.lower()}"

    def spatial(self, cursor: _DdlCursor) -> Tree:
        """Parse GEOMETRY or GEOGRAPHY, which Flink lacks, so that other columns can be read."""
        keyword = cursor.tokens[cursor.index - 1].key
        cursor.expect("(")
        system = cursor.advance().value
        cursor.expect(")")
        return f"{keyword.lower()}({system})"

    row_brackets = {"<": ">"}
    names = {
        **{keyword: _keyword(row.name) for row in ATOMIC_TYPES for keyword in row.keywords.split()},
        **dict.fromkeys(("DECIMAL", "DEC", "NUMERIC"), decimal),
        **dict.fromkeys(("CHAR", "CHARACTER"), _length("char")),
        "VARCHAR":       _length("varchar"),
        "STRING":        string_type,
        "TIME":          time,
        "TIMESTAMP":     _timestamp(""),
        "TIMESTAMP_NTZ": _timestamp("timestamp_ntz"),
        "TIMESTAMP_LTZ": _timestamp("timestamp"),
        "INTERVAL":      interval,
        "GEOMETRY":      spatial,
        "GEOGRAPHY":     spatial,
        "ARRAY":         lambda grammar, cursor: _array(grammar.element(cursor)),
        "MAP":           lambda grammar, cursor: _map(*grammar.entry(cursor)),
        "STRUCT":        lambda grammar, cursor: _struct(grammar.row(cursor)),
    }  # fmt: skip


_SPARK = _SparkTypes()


# --- reading --------------------------------------------------------------------------------------


def parse_ddl(text: str, *, timestamp: str = "timestamp") -> dict[str, Any]:
    """Parse the DDL of a struct, or a struct type, into its JSON form.

    `timestamp` is the type that a bare ``TIMESTAMP`` means, as Spark's option
    `spark.sql.timestampType`: ``timestamp`` (with local time zone) or ``timestamp_ntz``.

    Raises:
        ParseError: for a string outside Spark's grammar, nesting deeper than `MAX_DEPTH`, and more
            than 1,000,000 characters.

    >>> parse_ddl("id BIGINT NOT NULL")["fields"]
    [{'name': 'id', 'type': 'long', 'nullable': False, 'metadata': {}}]
    >>> parse_ddl("id BIGINT, a ARRAY<INT NOT NULL>")
    Traceback (most recent call last):
        ...
    schema_core.errors.ParseError: expected '>', found 'NOT'
        id BIGINT, a ARRAY<INT NOT NULL>
                               ^^^
      hint: in Spark's DDL only columns and fields can be NOT NULL
    """
    cursor = _DdlCursor(text, timestamp)
    if cursor.key == "STRUCT" and cursor.peek().key in ("<", "<>"):
        tree = _SPARK.type_(cursor)
        fields: list[dict[str, Any]] = tree["fields"] if isinstance(tree, dict) else []
    else:
        fields = _SPARK.fields(cursor, "end")
    cursor.expect_end()
    return _struct(fields)


def parse_spark_type(text: str, *, timestamp: str = "timestamp") -> Tree:
    """Parse a type, such as ``map<string,decimal(5,2)>``, into its JSON form.

    Raises:
        ParseError: as `parse_ddl`.
    """
    cursor = _DdlCursor(text, timestamp)
    tree = _SPARK.type_(cursor)
    cursor.expect_end()
    return tree


# --- printing -------------------------------------------------------------------------------------

_PLAIN_NAME = regex(r"[A-Za-z_][A-Za-z0-9_]*")
_ESCAPED = str.maketrans({"\\": r"\\", "'": r"\'", "\n": r"\n", "\r": r"\r"})


def print_ddl(tree: Mapping[str, Any]) -> str:
    r"""Print a struct as DDL, with TIMESTAMP_LTZ since the meaning of TIMESTAMP is configurable.

    Raises:
        UnsupportedError: with code `type-not-supported` for types that have no DDL form.

    >>> print_ddl(
    ...     {
    ...         "type": "struct",
    ...         "fields": [
    ...             {
    ...                 "name": "a b",
    ...                 "type": "long",
    ...                 "nullable": False,
    ...                 "metadata": {"comment": "it's"},
    ...             }
    ...         ],
    ...     }
    ... )
    "`a b` BIGINT NOT NULL COMMENT 'it\\'s'"
    """
    return ", ".join(_field(field, " ") for field in tree["fields"])


def _field(field: Mapping[str, Any], between: str) -> str:
    name = field["name"]
    shown = name if _PLAIN_NAME.fullmatch(name) else quote_identifier(name)
    text = f"{shown}{between}{print_spark_type(field['type'], field['metadata'], (name,))}"
    if not field["nullable"]:
        text += " NOT NULL"
    comment = field["metadata"].get("comment")
    return f"{text} COMMENT '{comment.translate(_ESCAPED)}'" if isinstance(comment, str) else text


def print_spark_type(
    tree: Tree, metadata: Mapping[str, Any] | None = None, path: tuple[str, ...] = ()
) -> str:
    """Print a type; `metadata` of the containing field has collations by path."""
    metadata = metadata or {}
    match tree:
        case "string":
            collation = metadata.get("__COLLATIONS", {}).get(".".join(path))
            return f"STRING COLLATE {collation.partition('.')[2]}" if collation else "STRING"
        case str():
            return SQL_KEYWORDS.get(tree, tree.upper())
        case {"type": "array", "elementType": element}:
            return f"ARRAY<{print_spark_type(element, metadata, (*path, 'element'))}>"
        case {"type": "map", "keyType": key, "valueType": value}:
            first = print_spark_type(key, metadata, (*path, "key"))
            return f"MAP<{first}, {print_spark_type(value, metadata, (*path, 'value'))}>"
        case {"type": "struct", "fields": fields}:
            return f"STRUCT<{', '.join(_field(field, ': ') for field in fields)}>"
        case _:
            word = tree.get("type")
            raise UnsupportedError(f"Spark's DDL has no type {word!r}", code="type-not-supported")
