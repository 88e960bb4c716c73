r"""Parse and print Spark's DDL: ``a INT NOT NULL COMMENT 'x', b STRUCT<c: STRING>``.

DDL is converted to the JSON form of Spark's types and back, without a JVM. The accepted grammar
was compared with Spark 4.3 (``StructType.fromDDL``). Invariant: a printed tree is parsed to the
same tree, except for what DDL cannot express: NOT NULL of elements and map values, and metadata
other than comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from schema_core.base.cursor import Cursor, check_digits, check_size
from schema_core.base.lazy_regex import regex
from schema_core.base.text import Span, quote_identifier
from schema_core.base.tokenizer import Token
from schema_core.errors import ParseError, UnsupportedError
from schema_core.types import DayTimeResolution, YearMonthResolution

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

#: The character that a letter after a backslash means; ``%`` and ``_`` keep the backslash, other
#: letters mean themselves.
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
                yield Token("string", "", _unescaped(value), start, position)
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


def _unescaped(literal: str) -> str:
    """Return the value of a literal: doubled quotes and backslash escapes are replaced."""
    quote = literal[0]
    inner = literal[1:-1].replace(quote * 2, quote)

    def character(match: re.Match[str]) -> str:
        short, long, octal, letter = match.groups()
        if letter is not None:
            return ESCAPES.get(letter, letter)
        return chr(int(octal, 8) if octal else int(short or long, 16))

    return _ESCAPE.sub(character, inner)


# --- reading --------------------------------------------------------------------------------------


def parse_ddl(text: str, *, timestamp: str = "timestamp") -> dict[str, Any]:
    """Parse the DDL of a struct, or a struct type, into its JSON form.

    `timestamp` is the type that a bare ``TIMESTAMP`` means, as Spark's option
    `spark.sql.timestampType`: ``timestamp`` (with local time zone) or ``timestamp_ntz``.

    Raises:
        ParseError: for a string outside Spark's grammar, with the location; also for nesting deeper
            than `MAX_DEPTH` and more than 1,000,000 characters.

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
    cursor = _cursor(text, timestamp)
    if cursor.key == "STRUCT" and cursor.peek().key in ("<", "<>"):
        tree = _type(cursor)
        fields: list[dict[str, Any]] = tree["fields"] if isinstance(tree, dict) else []
    else:
        fields = [] if cursor.token.kind == "end" else list(_fields(cursor, "end"))
    _expect_end(cursor)
    return {"type": "struct", "fields": fields}


def parse_spark_type(text: str, *, timestamp: str = "timestamp") -> Tree:
    """Parse a type, such as ``map<string,decimal(5,2)>``, into its JSON form.

    Raises:
        ParseError: as `parse_ddl`.
    """
    cursor = _cursor(text, timestamp)
    tree = _type(cursor)
    _expect_end(cursor)
    return tree


class _DdlCursor(Cursor):
    """A cursor with the meaning of a bare TIMESTAMP, which collects collations."""

    __slots__ = ("collations", "timestamp")

    timestamp: str
    collations: dict[str, str]


def _cursor(text: str, timestamp: str) -> _DdlCursor:
    check_size(text)
    cursor = _DdlCursor(text, list(_tokens(text)))
    cursor.timestamp, cursor.collations = timestamp, {}
    return cursor


def _expect_end(cursor: Cursor) -> None:
    if cursor.token.kind != "end":
        raise cursor.fail(f"unexpected {cursor.token.display}")


def _fields(cursor: _DdlCursor, closing: str) -> Iterator[dict[str, Any]]:
    """Parse ``name [:] type [NOT NULL] [COMMENT 'string']``, ..., up to the closing token."""
    while True:
        name = _name(cursor)
        cursor.accept(":")
        above, cursor.collations = cursor.collations, {}
        tree = _type(cursor, (name,))
        nullable = not cursor.accept("NOT", "NULL")
        metadata: dict[str, Any] = {}
        if cursor.collations:
            metadata["__COLLATIONS"] = cursor.collations
        if cursor.accept("COMMENT"):
            metadata["comment"] = cursor.string_literal()
        cursor.collations = above
        yield {"name": name, "type": tree, "nullable": nullable, "metadata": metadata}
        if not cursor.accept(","):
            if cursor.key != closing:
                raise cursor.fail(f"expected ',' or {closing}, found {cursor.token.display}")
            return


def _name(cursor: Cursor) -> str:
    token = cursor.token
    if token.kind not in ("word", "name"):
        raise cursor.fail(f"expected a name, found {token.display}")
    if token.kind == "word" and not _ASCII_NAME.fullmatch(token.value):
        raise cursor.fail(
            f"{token.value!r} is not a valid unquoted name", hint="quote it with backticks"
        )
    return cursor.advance().value


def _number(cursor: Cursor) -> int:
    token = cursor.token
    if token.kind != "number" or not token.value.isdecimal():
        raise cursor.fail(f"expected an integer, found {token.display}")
    return int(cursor.advance().value)


def _type(cursor: _DdlCursor, path: tuple[str, ...] = ()) -> Tree:
    token = cursor.token
    with cursor.nested():
        if token.key in NESTED:
            return NESTED[token.key](cursor, path)
        if token.kind != "word" or token.key not in GRAMMAR:
            raise cursor.fail(f"expected a Spark type, found {token.display}")
        cursor.advance()
        return GRAMMAR[token.key](cursor, path, token)


def _closing(cursor: Cursor) -> None:
    """Expect the end of an array or a map."""
    if cursor.key == "NOT":
        hint = "in Spark's DDL only columns and fields can be NOT NULL"
        raise cursor.fail(f"expected '>', found {cursor.token.display}", hint=hint)
    cursor.expect(">")


def _array(cursor: _DdlCursor, path: tuple[str, ...]) -> Tree:
    cursor.advance()
    cursor.expect("<")
    element = _type(cursor, (*path, "element"))
    _closing(cursor)
    return {"type": "array", "elementType": element, "containsNull": True}


def _map(cursor: _DdlCursor, path: tuple[str, ...]) -> Tree:
    cursor.advance()
    cursor.expect("<")
    key = _type(cursor, (*path, "key"))
    cursor.expect(",")
    value = _type(cursor, (*path, "value"))
    _closing(cursor)
    return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}


def _struct(cursor: _DdlCursor, path: tuple[str, ...]) -> Tree:
    cursor.advance()
    if cursor.accept("<>"):
        return {"type": "struct", "fields": []}
    cursor.expect("<")
    if cursor.accept(">"):
        return {"type": "struct", "fields": []}
    fields = list(_fields(cursor, ">"))
    cursor.expect(">")
    return {"type": "struct", "fields": fields}


NESTED: dict[str, Callable[[_DdlCursor, tuple[str, ...]], Tree]] = {
    "ARRAY": _array,
    "MAP": _map,
    "STRUCT": _struct,
}


# --- keywords -------------------------------------------------------------------------------------

TypeParser: TypeAlias = Callable[[_DdlCursor, tuple[str, ...], Token], Tree]


def _keyword(word: str) -> TypeParser:
    return lambda cursor, path, token: word


def _bounded(cursor: Cursor, token: Token, value: int, most: int, what: str) -> int:
    """Return the number if it is within Spark's limit."""
    if value > most:
        span = cursor.span_from(token.start)
        raise cursor.fail(f"{what} {value} exceeds {most}", span=span)
    return value


def _decimal(cursor: _DdlCursor, path: tuple[str, ...], token: Token) -> Tree:
    precision, scale = 10, 0
    if cursor.accept("("):
        precision = _number(cursor)
        scale = _number(cursor) if cursor.accept(",") else 0
        cursor.expect(")")
    _bounded(cursor, token, precision, 38, "DECIMAL precision")
    _bounded(cursor, token, scale, precision, "DECIMAL scale")
    return f"decimal({precision},{scale})"


def _spatial(cursor: _DdlCursor, path: tuple[str, ...], token: Token) -> Tree:
    """Parse GEOMETRY or GEOGRAPHY, which Flink does not have, so that other columns can be read."""
    cursor.expect("(")
    system = cursor.advance().value
    cursor.expect(")")
    return f"{token.key.lower()}({system})"


def _length(word: str) -> TypeParser:
    def read(cursor: _DdlCursor, path: tuple[str, ...], token: Token) -> Tree:
        cursor.expect("(")
        length = _bounded(cursor, token, _number(cursor), 2**31 - 1, token.key)
        cursor.expect(")")
        return f"{word}({length})"

    return read


def _collated_string(cursor: _DdlCursor, path: tuple[str, ...], token: Token) -> Tree:
    """Parse STRING; a collation is stored in the metadata of the field, as Spark does."""
    if cursor.accept("COLLATE"):
        collation = _name(cursor).upper()
        if collation != "UTF8_BINARY":
            provider = "spark" if collation.startswith("UTF8_") else "icu"
            cursor.collations[".".join(path)] = f"{provider}.{collation}"
    return "string"


def _precision(cursor: Cursor) -> int | None:
    """Parse an optional precision in parentheses."""
    if not cursor.accept("("):
        return None
    value = _number(cursor)
    cursor.expect(")")
    return value


def _time(cursor: _DdlCursor, path: tuple[str, ...], token: Token) -> Tree:
    precision = _precision(cursor)
    if cursor.accept("WITHOUT"):
        cursor.expect("TIME", "ZONE")
    return f"time({_bounded(cursor, token, 6 if precision is None else precision, 9, 'TIME')})"


def _timestamp(word: str | None) -> TypeParser:
    """Parse a timestamp: precision 6 is the default type; 7 to 9 are a preview in Spark."""

    def read(cursor: _DdlCursor, path: tuple[str, ...], token: Token) -> Tree:
        precision = _precision(cursor)
        found = word or cursor.timestamp
        if word is None and cursor.accept("WITHOUT"):
            cursor.expect("TIME", "ZONE")
            found = "timestamp_ntz"
        elif word is None and cursor.accept("WITH"):
            cursor.expect("LOCAL", "TIME", "ZONE")
            found = "timestamp"
        if precision in (None, 6):
            return found
        if precision not in (7, 8, 9):
            span = cursor.span_from(token.start)
            raise cursor.fail(f"Spark has no timestamp of precision {precision}", span=span)
        return f"{'timestamp_ltz' if found == 'timestamp' else found}({precision})"

    return read


#: The interval types, as in Spark's JSON.
INTERVALS = frozenset(one.value for one in (*YearMonthResolution, *DayTimeResolution))


def _interval(cursor: _DdlCursor, path: tuple[str, ...], token: Token) -> Tree:
    if cursor.token.kind != "word" or cursor.key not in {
        interval.split()[0] for interval in INTERVALS
    }:
        return "interval"
    words = cursor.advance().key
    if cursor.accept("TO"):
        words += f" TO {cursor.advance().key}"
    if words not in INTERVALS:
        raise cursor.fail(f"Spark has no type INTERVAL {words}", span=cursor.span_from(token.start))
    return f"interval {words.lower()}"


#: Types without parameters: name in Spark's JSON -> SQL keywords, of which the first is printed.
KEYWORDS: dict[str, tuple[str, ...]] = {
    "void":          ("VOID",),
    "boolean":       ("BOOLEAN",),
    "byte":          ("TINYINT", "BYTE"),
    "short":         ("SMALLINT", "SHORT"),
    "integer":       ("INT", "INTEGER"),
    "long":          ("BIGINT", "LONG"),
    "float":         ("FLOAT", "REAL"),
    "double":        ("DOUBLE",),
    "binary":        ("BINARY",),
    "date":          ("DATE",),
    "timestamp_ntz": ("TIMESTAMP_NTZ",),
    "timestamp":     ("TIMESTAMP_LTZ",),
    "variant":       ("VARIANT",),
}  # fmt: skip
SQL_KEYWORDS = {name: keywords[0] for name, keywords in KEYWORDS.items()}

#: Keyword -> the parser of what follows it.
GRAMMAR: dict[str, TypeParser] = {
    **{keyword: _keyword(name) for name, keywords in KEYWORDS.items() for keyword in keywords},
    **dict.fromkeys(("DECIMAL", "DEC", "NUMERIC"), _decimal),
    **dict.fromkeys(("CHAR", "CHARACTER"),  _length("char")),
    "VARCHAR":       _length("varchar"),
    "STRING":        _collated_string,
    "TIME":          _time,
    "TIMESTAMP":     _timestamp(None),
    "TIMESTAMP_NTZ": _timestamp("timestamp_ntz"),
    "TIMESTAMP_LTZ": _timestamp("timestamp"),
    "INTERVAL":      _interval,
    "GEOMETRY":      _spatial,
    "GEOGRAPHY":     _spatial,
}  # fmt: skip

_PLAIN_NAME = regex(r"[A-Za-z_][A-Za-z0-9_]*")


def print_ddl(tree: Mapping[str, Any]) -> str:
    r"""Print a struct as DDL, with TIMESTAMP_LTZ since the meaning of TIMESTAMP is configurable.

    Raises:
        UnsupportedError: with code `type-not-in-spark-ddl` for types that have no DDL form.

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
    return ", ".join(_field(one, " ") for one in tree["fields"])


def _field(field: Mapping[str, Any], between: str) -> str:
    name = field["name"]
    shown = name if _PLAIN_NAME.fullmatch(name) else quote_identifier(name)
    text = f"{shown}{between}{print_spark_type(field['type'], field['metadata'], (name,))}"
    if not field["nullable"]:
        text += " NOT NULL"
    comment = field["metadata"].get("comment")
    return f"{text} COMMENT {_quote(comment)}" if isinstance(comment, str) else text


def print_spark_type(
    tree: Tree, metadata: Mapping[str, Any] | None = None, path: tuple[str, ...] = ()
) -> str:
    """Print a type; collations are looked up in the metadata of the field that contains it."""
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
            raise UnsupportedError(
                f"Spark's DDL has no type {word!r}", code="type-not-in-spark-ddl"
            )


def _quote(text: str) -> str:
    """Quote a string literal: backslashes, quotes and line breaks are escaped."""
    for plain, escaped in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return f"'{text}'"
