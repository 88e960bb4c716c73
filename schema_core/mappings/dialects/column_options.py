"""The grammar of columns: their names, types and options, shared by all engines.

Options that a schema cannot represent are kept as strings in `dropped`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace
from functools import partial
from typing import Protocol, TypeAlias

from schema_core.base.cursor import Cursor
from schema_core.base.lazy import dataclass
from schema_core.base.text import Span
from schema_core.mappings.dialects import grammar
from schema_core.mappings.dialects.engines import Engine
from schema_core.mappings.dialects.types import ForeignType

#: Tokens that may follow a column.
COLUMN_ENDS = frozenset({",", ")", ";", "end", "FIRST", "LAST", "AFTER", "CASCADE", "RESTRICT"})


@dataclass(slots=True)
class ColumnDefinition:
    """A column as declared; `key_name` is the name of a primary key that the column declares.

    `key_columns` are the columns of the table's key if they follow the column without a comma.
    `disabling` is the loss of a key that the column declares as disabled.
    """

    engine: Engine
    name: str
    type: ForeignType
    span: Span
    comment: str | None = None
    expression: Span | None = None
    is_key: bool = False
    key_name: str | None = None
    key_columns: tuple[str, ...] = ()
    disabling: grammar.Dropped | None = None
    nullable: bool | None = None
    dropped: list[grammar.Dropped] = field(default_factory=list)


def column(cursor: Cursor, engine: Engine) -> ColumnDefinition:
    """Parse a column up to the following comma, bracket, semicolon or end."""
    start = cursor.token.start
    return column_after_name(cursor, engine, grammar.identifier(cursor, engine), start)


def column_after_name(cursor: Cursor, engine: Engine, name: str, start: int) -> ColumnDefinition:
    """Parse the type and the options of a column, whose definition begins at `start`."""
    untyped = cursor.key in COLUMN_ENDS or option(cursor) is not None
    type_ = (
        ForeignType("") if untyped else grammar.foreign_type(cursor, engine, lambda: option(cursor))
    )
    definition = ColumnDefinition(engine, name, type_, cursor.span_from(start))
    if engine.name in TYPE_ATTRIBUTES:
        TYPE_ATTRIBUTES[engine.name](cursor, definition)
    _parse_column_options(cursor, definition)
    definition.span = cursor.span_from(start)
    return definition


def options_of_column(cursor: Cursor, column: ColumnDefinition) -> ColumnDefinition:
    """Parse options that follow the name of an existing column, as a definition without a type."""
    definition = ColumnDefinition(column.engine, column.name, ForeignType(""), column.span)
    _parse_column_options(cursor, definition)
    return definition


def _parse_column_options(cursor: Cursor, definition: ColumnDefinition) -> None:
    while cursor.key not in COLUMN_ENDS:
        if (next_option := option(cursor)) is None:
            problem = f"unexpected {cursor.token.display} in column {definition.name!r}"
            raise cursor.fail(problem)
        words, read = next_option
        option_start = cursor.token.start
        cursor.index += len(words)
        read(cursor, definition, option_start)


# --- attributes of types --------------------------------------------------------------------------

#: Character types of MySQL -> the types that the character set `binary` makes of them.
BINARY_TYPES = {
    "char": "binary", "character": "binary", "varchar": "varbinary",
    "character varying": "varbinary", "char varying": "varbinary", "varcharacter": "varbinary",
    "tinytext": "tinyblob", "text": "blob", "mediumtext": "mediumblob", "longtext": "longblob",
    "long": "mediumblob", "long varchar": "mediumblob",
}  # fmt: skip


CHARACTER_SETS = (("CHARACTER", "SET"), ("CHAR", "SET"), ("CHARSET",), ("COLLATE",))


def _mysql_attributes(cursor: Cursor, column: ColumnDefinition) -> None:
    """Parse what follows a type of MySQL, in any order: its sign and its character set.

    ZEROFILL makes a number UNSIGNED; BYTE and the character set `binary` make strings binary. Other
    character sets and collations are losses.
    """
    text = column.type.text.removesuffix(" unsigned")
    is_unsigned = text != column.type.text
    while True:
        start = cursor.token.start
        if cursor.accept("UNSIGNED"):
            is_unsigned = True
        elif cursor.accept("ZEROFILL"):
            is_unsigned = True
            column.dropped.append(grammar.drop_text(cursor, start))
        elif cursor.accept("BYTE"):
            text = _to_binary_type(text)
        elif any(cursor.accept(*words) for words in CHARACTER_SETS):
            cursor.accept("=")
            if cursor.advance().value.lower() == "binary":
                text = _to_binary_type(text)
            else:
                column.dropped.append(grammar.drop_text(cursor, start))
        elif cursor.accept("BINARY") or cursor.accept("ASCII") or cursor.accept("UNICODE"):
            column.dropped.append(grammar.drop_text(cursor, start))
        elif not cursor.accept("SIGNED"):
            break
    text += " unsigned" if is_unsigned else ""
    column.type = replace(column.type, text=text)


def _to_binary_type(text: str) -> str:
    name, bracket, arguments = text.partition("(")
    return BINARY_TYPES.get(name, name) + bracket + arguments


TYPE_ATTRIBUTES: dict[str, Callable[[Cursor, ColumnDefinition], None]] = {
    "mysql": _mysql_attributes,
}


# --- options of a column --------------------------------------------------------------------------

OptionParser: TypeAlias = Callable[[Cursor, ColumnDefinition, int], None]
Operand: TypeAlias = Callable[[Cursor], object]
#: First word -> phrases, the longest first.
Phrases: TypeAlias = dict[str, list[tuple[str, ...]]]


def _phrases(texts: Iterable[str]) -> Phrases:
    phrases: Phrases = {}
    for words in sorted(map(str.split, texts), key=len, reverse=True):
        phrases.setdefault(words[0], []).append(tuple(words))
    return phrases


def _next_phrase(cursor: Cursor, phrases: Phrases) -> tuple[str, ...] | None:
    return next((words for words in phrases.get(cursor.key, ()) if cursor.follows(*words)), None)


def _parse_null(cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    column.nullable = True


def _parse_not_null(cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    """Parse NOT NULL; one that the engine does not check holds only with RELY."""
    attributes = skip_attributes(cursor)
    column.nullable = False
    if is_unchecked(attributes):
        column.nullable = None
        column.dropped.append(grammar.drop_text(cursor, start))
    elif "ON CONFLICT" in attributes:
        column.dropped.append(grammar.drop_text(cursor, start))


def _parse_key(cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    """Parse PRIMARY KEY; one that rows may violate is a loss.

    Keys that the engine never checks are read: Flink does not enforce keys, either.
    """
    attributes = skip_attributes(cursor)
    if column.engine.name == "tsql" and cursor.key == "(":
        column.key_columns = parse_key_columns(cursor, column.engine, column.dropped)
        skip_attributes(cursor)
        return
    column.is_key = not (column.engine.disabled_keys and is_unchecked(attributes))
    if not column.is_key or "ON CONFLICT" in attributes:
        loss = grammar.drop_text(cursor, start)
        column.dropped.append(loss)
        column.disabling = None if column.is_key else loss


def parse_key_columns(
    cursor: Cursor, engine: Engine, dropped: list[grammar.Dropped]
) -> tuple[str, ...]:
    """Parse ``(a, b DESC)``; ClickHouse allows one name without parentheses.

    A key on part of the values, ``(a(10))`` or ``(a WITHOUT OVERLAPS)``, is a loss.
    """
    if not cursor.accept("("):
        return (grammar.identifier(cursor, engine),)
    names = []
    for _ in grammar.elements(cursor):
        start = cursor.token.start
        names.append(grammar.identifier(cursor, engine))
        if cursor.key not in {"ASC", "DESC", "TIMESERIES", "AUTOINCREMENT"} and grammar.skip_until(
            cursor, (",",)
        ):
            part = f"PRIMARY KEY ({grammar.excerpt(cursor, start)})"
            dropped.append(grammar.Dropped(part, start))
        grammar.skip_until(cursor, (",",))
    return tuple(names)


def _parse_short_key(cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    if column.engine.name == "mysql":
        _parse_key(cursor, column, start)
    else:
        column.dropped.append(grammar.drop_text(cursor, start))


def _parse_constraint_name(cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    name = constraint_name(cursor, column.engine)
    if cursor.key == "PRIMARY":
        column.key_name = name


#: Words that start a constraint without a name, as MySQL allows.
UNNAMED = frozenset({"PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "REFERENCES", "NOT"})


def constraint_name(cursor: Cursor, engine: Engine) -> str | None:
    """Parse the name after CONSTRAINT, which may be omitted."""
    return None if cursor.key in UNNAMED else grammar.identifier(cursor, engine)


def _parse_comment(cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    column.comment = cursor.string_literal()


class Described(Protocol):
    """A column or a table."""

    comment: str | None
    dropped: list[grammar.Dropped]


def parse_description(cursor: Cursor, described: Described) -> None:
    """Parse BigQuery's ``(description='string', labels=[...])``; other options are losses."""
    cursor.expect("(")
    for _ in grammar.elements(cursor):
        if cursor.follows("DESCRIPTION", "=") and cursor.peek(3).key in {",", ")"}:
            cursor.index += 2
            described.comment = None if cursor.accept("NULL") else cursor.string_literal()
            continue
        begin = cursor.token.start
        if grammar.skip_until(cursor, (",",)):
            text = f"OPTIONS({grammar.excerpt(cursor, begin)})"
            described.dropped.append(grammar.Dropped(text, begin))


def _parse_options(cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    parse_description(cursor, column)


def _parse_generated(shape: Operand, cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    begin = cursor.token.start
    shape(cursor)
    column.expression = cursor.span_from(begin)


def _drop_option(shape: Operand, cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    shape(cursor)
    column.dropped.append(grammar.drop_text(cursor, start))


def _skip_phrase(shape: Operand, cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    shape(cursor)


def _parse_identity(shape: Operand, cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    """Parse a column that the engine numbers; most engines then refuse NULL."""
    _drop_option(shape, cursor, column, start)
    if column.engine.numbers_not_null:
        column.nullable = False


def _parse_serial(cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    """Parse MySQL's ``SERIAL DEFAULT VALUE``: NOT NULL AUTO_INCREMENT UNIQUE."""
    column.nullable = False
    column.dropped.append(grammar.drop_text(cursor, start))


def _skip_nothing(cursor: Cursor) -> None:
    """Skip nothing: the option has no operand."""


def _skip_token(cursor: Cursor) -> None:
    cursor.advance()


def _skip_group(cursor: Cursor) -> None:
    if cursor.key == "(":
        grammar.skip_token(cursor)


def _skip_value(cursor: Cursor) -> None:
    """Skip ``= value``, where MySQL allows to omit the sign."""
    cursor.accept("=")
    cursor.advance()


#: Snowflake's options of AUTOINCREMENT -> words that may precede the number.
SEQUENCE = {
    "START": ("WITH", "="), "INCREMENT": ("BY", "="), "MINVALUE": (), "MAXVALUE": (), "CACHE": (),
    "LIMIT": ("VALUE",),
}  # fmt: skip
#: Options without a value, above all of Oracle.
SEQUENCE_WORDS = frozenset(
    {
        "ORDER", "NOORDER", "CYCLE", "NOCYCLE", "NOCACHE", "KEEP", "NOKEEP", "SCALE", "NOSCALE",
        "NOMINVALUE", "NOMAXVALUE", "GLOBAL", "SESSION",
    }
)  # fmt: skip


def _skip_sequence(cursor: Cursor) -> None:
    """Skip ``(1, 1)``, or ``START 1 INCREMENT 1 ORDER`` as Snowflake prints it."""
    _skip_group(cursor)
    while cursor.key in SEQUENCE or cursor.key in SEQUENCE_WORDS:
        words = SEQUENCE.get(cursor.advance().key)
        if words is not None:
            for word in words:
                cursor.accept(word)
            cursor.accept("-")
            cursor.advance()


def _skip_path(cursor: Cursor) -> None:
    """Skip a path, which a group in parentheses may follow."""
    cursor.advance()
    while cursor.accept("."):
        cursor.advance()
    _skip_group(cursor)


def _skip_policy(cursor: Cursor) -> None:
    """Skip the name of a policy, and ``USING (a, b)`` or ``USING COLUMNS (a, b)``."""
    _skip_path(cursor)
    if cursor.accept("USING"):
        cursor.accept("COLUMNS")
        _skip_group(cursor)


def _skip_action(cursor: Cursor) -> None:
    """Skip ``CASCADE``, ``NO ACTION`` or ``SET NULL (a)`` of a foreign key."""
    if cursor.advance().key in {"SET", "NO"}:
        cursor.advance()
        _skip_group(cursor)


def _skip_opened_group(cursor: Cursor) -> None:
    """Skip the rest of a group in parentheses."""
    while cursor.key != ")":
        grammar.skip_token(cursor)
    cursor.advance()


#: Words that can follow the options of an index of Oracle.
AFTER_INDEX = frozenset(
    {
        "ENABLE", "DISABLE", "VALIDATE", "NOVALIDATE", "NOT", "NULL", "DEFAULT", "CONSTRAINT",
        "CHECK", "REFERENCES", "UNIQUE", "PRIMARY", "RELY", "NORELY",
    }
)  # fmt: skip


def _skip_index_options(cursor: Cursor) -> None:
    """Skip the storage of the index of a key, as Oracle prints it."""
    while cursor.key not in COLUMN_ENDS and cursor.key not in AFTER_INDEX:
        grammar.skip_token(cursor)


def _skip_check(cursor: Cursor) -> None:
    cursor.accept("NOT", "FOR", "REPLICATION")
    _skip_group(cursor)


def _skip_index(cursor: Cursor) -> None:
    """Skip the name and the kind of an index of T-SQL."""
    cursor.advance()
    while cursor.key not in COLUMN_ENDS and option(cursor) is None:
        grammar.skip_token(cursor)


def _skip_encryption(cursor: Cursor) -> None:
    """Skip ``USING 'AES256' IDENTIFIED BY x 'SHA-1' NO SALT`` of Oracle."""
    while cursor.key not in COLUMN_ENDS and option(cursor) is None:
        cursor.advance()


#: How a constraint is checked -> the parser of what follows.
ATTRIBUTES: dict[str, Operand] = {
    "ON DELETE":              _skip_action,
    "ON UPDATE":              _skip_action,
    "ON CONFLICT":            _skip_token,
    "MATCH":                  _skip_token,
    "USING INDEX":            _skip_index_options,
    "USING BTREE":            _skip_nothing,
    "USING HASH":             _skip_nothing,
    "WITH (":                 _skip_opened_group,
    "WITH FILLFACTOR":        _skip_value,
    "ON":                     _skip_token,
    **dict.fromkeys(
        (
            "NULLS NOT DISTINCT", "NULLS DISTINCT", "NO INHERIT", "NOT VALID", "ENABLE", "DISABLE",
            "VALIDATE", "NOVALIDATE", "RELY", "NORELY", "ENFORCED", "NOT ENFORCED", "DEFERRABLE",
            "NOT DEFERRABLE", "INITIALLY DEFERRED", "INITIALLY IMMEDIATE", "ASC", "DESC",
            "CLUSTERED", "NONCLUSTERED", "HASH", "NOT FOR REPLICATION", "TIMESERIES",
        ),
        _skip_nothing,
    ),
}  # fmt: skip
_ATTRIBUTES = _phrases(ATTRIBUTES)
#: Attributes of a constraint that rows may violate.
UNCHECKED = frozenset({"DISABLE", "NOVALIDATE", "NOT ENFORCED", "NOT VALID"})


def is_unchecked(attributes: frozenset[str]) -> bool:
    """Return whether rows may violate a constraint; RELY asserts that they do not."""
    return bool(attributes & UNCHECKED) and "RELY" not in attributes


def skip_attributes(cursor: Cursor) -> frozenset[str]:
    """Skip how a constraint is checked, and return the phrases."""
    attributes = set()
    while words := _next_phrase(cursor, _ATTRIBUTES):
        cursor.index += len(words)
        phrase = " ".join(words)
        ATTRIBUTES[phrase](cursor)
        attributes.add(phrase)
    return frozenset(attributes)


def _parse_constraint(shape: Operand, cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    shape(cursor)
    skip_attributes(cursor)
    column.dropped.append(grammar.drop_text(cursor, start))


#: Words after which an expression continues, whatever follows.
OPEN_WORDS = frozenset({"IS", "NOT", "THEN", "ELSE", "WHEN", "AND", "OR", "LIKE", "IN", "CASE"})


def _skip_expression(cursor: Cursor) -> None:
    grammar.skip_token(cursor)
    while cursor.key not in COLUMN_ENDS:
        before = cursor.tokens[cursor.index - 1]
        is_open = before.key in OPEN_WORDS or (before.kind == "symbol" and before.key not in ")]")
        if not is_open and option(cursor) is not None:
            return
        grammar.skip_token(cursor)


def _skip_optional_expression(cursor: Cursor) -> None:
    if cursor.key not in COLUMN_ENDS and cursor.token.kind != "end" and option(cursor) is None:
        _skip_expression(cursor)


def _parse_default(cursor: Cursor, column: ColumnDefinition, start: int) -> None:
    """Skip the expression of a default; DEFAULT NULL is what every column has without one.

    With Oracle's ON NULL the column is NOT NULL.
    """
    if cursor.accept("ON", "NULL"):
        column.nullable = False
        if cursor.accept("FOR", "INSERT"):
            cursor.accept("ONLY") or cursor.accept("AND", "UPDATE")
    _skip_expression(cursor)
    if (text := grammar.excerpt(cursor, start)).upper() != "DEFAULT NULL":
        column.dropped.append(grammar.Dropped(text, start))


#: Words -> the parser of the rest. Options of storage, or that state the default, are skipped.
OPTIONS: dict[str, OptionParser] = {
    "NOT NULL":                                 _parse_not_null,
    "NULL":                                     _parse_null,
    "PRIMARY KEY":                              _parse_key,
    "KEY":                                      _parse_short_key,
    "CONSTRAINT":                               _parse_constraint_name,
    "COMMENT":                                  _parse_comment,
    "OPTIONS":                                  _parse_options,
    "SERIAL DEFAULT VALUE": _parse_serial,
    "DEFAULT": _parse_default,
    **{
        phrase: partial(parse, operand)
        for parse, operand, phrases in (
            (_parse_generated, _skip_group, "GENERATED ALWAYS AS"),
            (_parse_generated, _skip_expression, "AS | ALIAS | MATERIALIZED"),
            (_parse_identity, _skip_sequence,
                ("GENERATED ALWAYS AS IDENTITY | GENERATED BY DEFAULT AS IDENTITY | "
                "GENERATED BY DEFAULT ON NULL AS IDENTITY | GENERATED AS IDENTITY")),
            (_parse_identity, _skip_sequence, "IDENTITY | AUTOINCREMENT"),
            (_parse_identity, _skip_nothing, "AUTO_INCREMENT"),
            (_drop_option, _skip_optional_expression, "EPHEMERAL"),
            (_drop_option, _skip_expression, "ON UPDATE | TTL"),
            (_parse_constraint, _skip_nothing, "UNIQUE | UNIQUE KEY"),
            (_parse_constraint, _skip_check, "CHECK"),
            (_parse_constraint, _skip_index, "INDEX"),
            (_parse_constraint, _skip_path, "REFERENCES | FOREIGN KEY REFERENCES"),
            (_drop_option, _skip_path, "COLLATE"),
            (_drop_option, _skip_token, "CHARACTER SET | CHARSET | SRID"),
            (_drop_option, _skip_nothing,
                ("GENERATED ALWAYS AS ROW START | GENERATED ALWAYS AS ROW END | HIDDEN | SPARSE | "
                "ROWGUIDCOL | FILESTREAM | NOT FOR REPLICATION | SORT | COMPRESSED | "
                "INVISIBLE | WITH SYSTEM VERSIONING | WITHOUT SYSTEM VERSIONING | DISTKEY | "
                "SORTKEY")),
            (_drop_option, _skip_policy,
                ("MASKING POLICY | WITH MASKING POLICY | PROJECTION POLICY | "
                "WITH PROJECTION POLICY | MASK")),
            (_drop_option, _skip_group,
                "TAG | WITH TAG | WITH | MASKED WITH | ENCRYPTED WITH | ANNOTATIONS"),
            (_drop_option, _skip_encryption, "ENCRYPT"),
            (_drop_option, _skip_value, "REF_SYSTEM_ID"),
            (_skip_phrase, _skip_token,
                "ENCODE | STORAGE | COMPRESSION | USING COMPRESSION | COLUMN_FORMAT"),
            (_skip_phrase, _skip_group, "CODEC | STATISTICS | SETTINGS"),
            (_skip_phrase, _skip_value, "ENGINE_ATTRIBUTE | SECONDARY_ENGINE_ATTRIBUTE"),
            (_skip_phrase, _skip_nothing,
                "STORED | VIRTUAL | PERSISTENT | PERSISTED | SIGNED | VISIBLE"),
        )
        for phrase in phrases.split(" | ")
    },
}  # fmt: skip

_OPTIONS = _phrases(OPTIONS)


def option(cursor: Cursor) -> tuple[tuple[str, ...], OptionParser] | None:
    """Return the next option without consuming it, or None."""
    words = _next_phrase(cursor, _OPTIONS)
    return None if words is None else (words, OPTIONS[" ".join(words)])
