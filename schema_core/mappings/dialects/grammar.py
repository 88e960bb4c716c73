"""The grammar shared by all engines: identifiers, types and user-defined types.

sqlglot does not parse types: its trees drop nested NOT NULL, the values of maps and lengths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache

from schema_core.base.cursor import Cursor, check_digits
from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.base.secrets import mask_arguments, mask_text, secret_positions
from schema_core.base.text import quote_string
from schema_core.errors import ParseError, UnsupportedError
from schema_core.mappings.dialects.engines import ENGINES, Engine
from schema_core.mappings.dialects.types import COMPOSITE, STRUCTS, ForeignChild, ForeignType
from schema_core.types import type_grammar

MAX_EXCERPT = 100

BRACKETS = {"(": ")", "[": "]", "{": "}"}


def skip_token(cursor: Cursor) -> None:
    """Skip one token, or everything between a pair of brackets."""
    opened = cursor.advance()
    if opened.key in BRACKETS.values() or opened.kind == "end":
        raise cursor.fail(f"unexpected {opened.display}", span=opened.span)
    waiting = [BRACKETS[opened.key]] if opened.key in BRACKETS else []
    while waiting:
        token = cursor.advance()
        if token.key == waiting[-1]:
            waiting.pop()
        elif token.key in BRACKETS:
            waiting.append(BRACKETS[token.key])
        elif token.kind == "end":
            raise cursor.fail(f"unclosed bracket: expected {waiting[-1]!r}", span=opened.span)


def skip_until(cursor: Cursor, stops: tuple[str, ...]) -> bool:
    """Skip everything up to one of `stops` or a closing bracket; return whether there was any."""
    start = cursor.index
    while cursor.key not in {*stops, ")", "]", "}"} and cursor.token.kind != "end":
        skip_token(cursor)
    if ";" in stops and cursor.key in BRACKETS.values():
        raise cursor.fail(f"unexpected {cursor.token.display}")
    return cursor.index > start


def _begins_table(cursor: Cursor) -> bool:
    token = cursor.token
    if token.key != "CREATE" or "TABLE" not in {cursor.peek(place).key for place in range(1, 7)}:
        return False
    return not cursor.text[cursor.text.rfind("\n", 0, token.start) + 1 : token.start].strip()


def skip_element(cursor: Cursor) -> None:
    """Skip the rest of an element of a list, or of an action."""
    while cursor.key not in {",", ";", ")", "]", "}"} and cursor.token.kind != "end":
        skip_token(cursor)


def skip_statement(cursor: Cursor, stops: tuple[str, ...] = ()) -> bool:
    """Skip the rest of a statement, whose brackets need not match; return whether there was any.

    It ends with a semicolon or before one of `stops` outside of brackets, or before a line that
    starts a CREATE TABLE, also in a bracket that is not closed.
    """
    start, depth = cursor.index, 0
    while cursor.token.kind != "end":
        if (depth <= 0 and cursor.key in {";", *stops}) or _begins_table(cursor):
            break
        key = cursor.advance().key
        depth += (key in BRACKETS) - (key in BRACKETS.values())
    return cursor.index > start


def skip_cluster(cursor: Cursor) -> None:
    """Skip ClickHouse's ``ON CLUSTER name``."""
    if cursor.accept("ON", "CLUSTER"):
        cursor.advance()


def begins(cursor: Cursor, words: frozenset[str]) -> bool:
    """Return whether one of some phrases of up to three words follows."""
    first, second, third = (cursor.peek(ahead).key for ahead in range(3))
    return bool({first, f"{first} {second}", f"{first} {second} {third}"} & words)


def elements(cursor: Cursor, closing: str = ")") -> Iterator[None]:
    """Iterate over a list up to the closing bracket; the body of the loop parses one element."""
    yield
    while cursor.accept(","):
        yield
    cursor.expect(closing)


def excerpt(cursor: Cursor, start: int, stop: int | None = None) -> str:
    """Return the source from `start` to the cursor or `stop`, on one line and truncated."""
    end = cursor.span_from(start).stop
    return shorten(cursor.text[start : end if stop is None else min(stop, end)])


class Dropped(NamedTuple):
    """A part of a script that a schema cannot represent, and its offset, if it is known."""

    text: str
    start: int | None = None


def drop_text(cursor: Cursor, start: int) -> Dropped:
    """Return the source from `start` to the cursor as a part that is dropped."""
    return Dropped(excerpt(cursor, start), start)


def shorten(text: str, length: int = MAX_EXCERPT) -> str:
    """Return a text on one line, truncated, with its secrets masked.

    >>> shorten("CREATE SUBSCRIPTION s  CONNECTION 'host=h password=x' PUBLICATION p")
    'CREATE SUBSCRIPTION s CONNECTION ******************* PUBLICATION p'
    """
    text = mask_arguments(" ".join(text[: 10 * MAX_EXCERPT].split()))
    if secret_positions(text):
        text = mask_text(text)
    return text if len(text) <= length else f"{text[:length]}..."


def identifier(cursor: Cursor, engine: Engine) -> str:
    """Parse a name, and return it in the case in which the engine stores it."""
    prefix = ""
    while engine.name == "tsql" and cursor.key == "#":  # a temporary table
        prefix += cursor.advance().value
    token = cursor.token
    is_string = token.kind == "string" and engine.name == "sqlite"  # accepts 'a' as a name
    if token.kind not in {"word", "name"} and not is_string:
        raise cursor.fail(f"expected a name, found {token.display}")
    cursor.advance()
    return prefix + engine.fold_case(token.value, quoted=token.kind != "word")


def path(cursor: Cursor, engine: Engine) -> tuple[str, ...]:
    """Parse names separated by dots, which BigQuery and Hive allow within the quotes.

    Snowflake and Databricks allow them in a string: ``IDENTIFIER('a.b')``, Spark in several:
    ``IDENTIFIER('a' || '.b')``.
    """
    if cursor.follows("IDENTIFIER", "(") and cursor.peek(2).kind == "string":
        cursor.index += 2
        name = cursor.string_literal()
        while cursor.accept("|", "|") or cursor.accept("||"):
            name += cursor.string_literal()
        cursor.expect(")")
        return tuple(engine.fold_case(part, quoted=False) for part in name.split("."))
    parts = _parse_path_part(cursor, engine)
    while cursor.accept("."):
        parts += _parse_path_part(cursor, engine)
    return tuple(parts)


def _parse_path_part(cursor: Cursor, engine: Engine) -> list[str]:
    """Parse one name, or all names of a path in one pair of quotes; the first may contain dots."""
    token = cursor.token
    if token.kind == "string" and engine.name == "duckdb":
        return [cursor.string_literal()]
    name = identifier(cursor, engine)
    if token.kind == "name" and engine.quoted_paths:
        parts = name.rsplit(".", 2)
        return parts if all(parts) else [name]
    return [name]


def foreign_type(cursor: Cursor, engine: Engine, stop: Callable[[], object]) -> ForeignType:
    """Parse a type; `stop` returns whether an option of the column follows."""
    return _EngineTypes(engine, stop).type_(cursor)


class _EngineTypes(type_grammar.TypeGrammar[Cursor, ForeignType, ForeignChild]):
    """The types of an engine: words with arguments, and composite types.

    `closing` ends a type with fields, which may have names; it is None within other types.
    """

    has_empty_rows = False

    def __init__(
        self,
        engine: Engine,
        stop: Callable[[], object] = lambda: None,
        closing: str | None = None,
    ) -> None:
        self.engine = engine
        self.stop = stop
        self.closing = closing

    def type_(self, cursor: Cursor) -> ForeignType:
        """Parse a type and the dimensions of arrays of it, each of which is a level."""
        depth = cursor.depth
        cursor.descend()
        type_ = self.named_type(cursor)
        while cursor.key == "[" or (cursor.key == "ARRAY" and self.engine.array == "{}[]"):
            cursor.descend()
            cursor.accept("ARRAY")
            length = None
            if cursor.accept("["):
                if cursor.token.kind == "number":
                    length = cursor.advance().value
                cursor.expect("]")
            type_ = ForeignType("array", (ForeignChild(type_),), length=length)
        cursor.depth = depth
        return type_

    def named_type(self, cursor: Cursor) -> ForeignType:
        """Parse ``map<string, int>``, ``Nullable(String)`` or ``double precision``."""
        token = cursor.token
        if token.kind not in {"word", "name"}:
            raise cursor.fail(f"expected a type, found {token.display}")
        cursor.advance()
        words = text = token.value.lower()
        while cursor.accept("."):  # a user-defined type in a schema
            words = text = f"{text}.{cursor.advance().value.lower()}"
        is_composite = words in COMPOSITE and cursor.key in type_grammar.BRACKETS
        if is_composite and cursor.peek().kind != "string":  # Object('json')
            return self.composite_or_opaque_type(cursor, words)
        text += _parse_arguments(cursor)
        while more := _next_words(cursor, self.engine, words, self.stop):
            cursor.index += len(more)
            words = " ".join((words, *more))
            text = " ".join((text, *more)) + _parse_arguments(cursor)
        return ForeignType(text)

    def composite_or_opaque_type(self, cursor: Cursor, name: str) -> ForeignType:
        """Parse a composite type; one with other arguments has no equivalent in Flink.

        The table keeps its other columns if its brackets match.
        """
        index, depth = cursor.index, cursor.depth
        try:
            return self.composite_type(cursor, name)
        except ParseError as error:
            if error.code != "syntax":
                raise
            cursor.index, cursor.depth = index, depth
            try:
                return ForeignType(name + _parse_arguments(cursor))
            except ParseError:
                raise error from None

    def composite_type(self, cursor: Cursor, name: str) -> ForeignType:
        closing = type_grammar.BRACKETS[cursor.key] if name in STRUCTS else None
        parts = _EngineTypes(self.engine, closing=closing).row(cursor)
        nullable = True if name == "nullable" else None
        if name in {"lowcardinality", "simpleaggregatefunction"}:
            nullable = parts[-1].type.nullable
        return ForeignType(name, tuple(parts), nullable)

    def field(self, cursor: Cursor) -> ForeignChild:
        name = None
        if self.closing and cursor.peek().key not in {",", self.closing, "(", "<", "[", "."}:
            token = cursor.token
            if token.kind not in {"word", "name"}:
                raise cursor.fail(f"expected a field name, found {token.display}")
            name = cursor.advance().value
            if self.engine.folds_fields:
                name = self.engine.fold_case(name, quoted=token.kind == "name")
            cursor.accept(":")
        type_ = self.type_(cursor)
        text, nullable = type_.text, type_.nullable
        if cursor.accept("COLLATE"):
            text += f" collate {cursor.advance().value.lower()}"
        if cursor.accept("NOT", "NULL"):
            nullable = False
        elif cursor.accept("NULL"):
            nullable = True
        type_ = replace(type_, text=text, nullable=nullable)
        return ForeignChild(type_, name, _parse_field_comment(cursor))

    def missing_comma(self, cursor: Cursor, closing: str) -> Exception:
        return cursor.missing(closing)


def _parse_field_comment(cursor: Cursor) -> str | None:
    """Parse ``COMMENT 'string'`` or ``OPTIONS(description='string')``."""
    if cursor.accept("OPTIONS", "(", "DESCRIPTION", "="):
        text = cursor.string_literal()
        cursor.expect(")")
        return text
    return cursor.string_literal() if cursor.accept("COMMENT") else None


# --- type names of several words, arguments -------------------------------------------------------


@lru_cache(maxsize=64)
def _multi_word_names(engine: str) -> dict[str, list[tuple[str, ...]]]:
    """Return the first word -> type names that start with it, the longest first."""
    names_by_word: dict[str, set[tuple[str, ...]]] = {}
    for row in ENGINES[engine].rows:
        for spelling in row.foreign.split(" | "):
            # "interval year({p}) to month": the words before arguments are a name, too
            parts = re.split(r"\([^)]*\)", spelling.lower())
            for count in range(1, len(parts) + 1):
                words = tuple(" ".join(parts[:count]).split())
                if len(words) > 1:
                    names_by_word.setdefault(words[0], set()).add(words)
    return {first: sorted(names, key=len, reverse=True) for first, names in names_by_word.items()}


def _next_words(
    cursor: Cursor, engine: Engine, words: str, stop: Callable[[], object]
) -> tuple[str, ...]:
    begun = tuple(words.split())
    for name in _multi_word_names(engine.name).get(begun[0] if begun else "", ()):
        rest = name[len(begun) :]
        if name[: len(begun)] == begun and rest and cursor.follows(*map(str.upper, rest)):
            return rest
    if engine.free_types and cursor.token.kind == "word" and not stop():
        return (cursor.token.value.lower(),)
    return ()


def _parse_arguments(cursor: Cursor) -> str:
    """Return ``(10, 2)``, ``('a' = 1)``, ``<date>`` in a normalized form, or an empty string."""
    if cursor.key not in type_grammar.BRACKETS:
        return ""
    opened = cursor.advance()
    waiting = [type_grammar.BRACKETS[opened.key]]
    pieces = [opened.key]
    while waiting:
        token = cursor.advance()
        if token.kind == "end":
            raise cursor.fail(f"unclosed bracket: expected {waiting[-1]!r}", span=opened.span)
        if token.key == waiting[-1]:
            waiting.pop()
        elif token.key in type_grammar.BRACKETS.values():
            raise cursor.fail(f"expected {waiting[-1]!r}, found {token.display}", span=token.span)
        elif token.key in type_grammar.BRACKETS:
            waiting.append(type_grammar.BRACKETS[token.key])
        pieces.append(_format_argument(cursor, pieces[-1]))
    return "".join(pieces)


def _format_argument(cursor: Cursor, before: str) -> str:
    token = cursor.tokens[cursor.index - 1]
    match token.kind:
        case "string":
            return quote_string(token.value)
        case "number":
            check_digits(token.value, token.span)
        case "symbol" if token.key == ",":
            return ", "
    space = " " if before[-1:].isalnum() and token.value[:1].isalnum() else ""
    return space + token.value.lower()


#: Maximum number of types in a type: nested declarations can double it at each level.
MAX_PARTS = 300


@dataclass(frozen=True, slots=True)
class UserType:
    """The definition of a user-defined type; `dropped` are clauses without equivalent."""

    type: ForeignType
    dropped: tuple[str, ...] = ()


class UserTypes:
    """The user-defined types that a script has declared so far."""

    def __init__(self) -> None:
        self._types: dict[tuple[str, ...], UserType] = {}
        self._by_last: dict[str, tuple[str, ...]] = {}

    def add(self, name: tuple[str, ...], type_: UserType) -> None:
        key = tuple(part.lower() for part in name)
        self._types[key] = type_
        self._by_last[key[-1]] = key

    def find(self, text: str) -> UserType | None:
        """Return the declared type of this name; the schema may be omitted on either side."""
        name = tuple(text.split("."))
        return self._types.get(name) or self._types.get(self._by_last.get(name[-1], ()))

    def expand(self, foreign: ForeignType) -> UserType:
        """Return the type with user-defined types replaced by their definitions.

        Raises:
            UnsupportedError: with code `type-not-supported` beyond `MAX_PARTS`.
        """
        if not self._types:
            return UserType(foreign)
        dropped: list[str] = []
        expanded_type = self._expand(foreign, dropped)
        if _count_types(expanded_type) > MAX_PARTS:
            raise UnsupportedError(
                f"the type consists of more than {MAX_PARTS} types", code="type-not-supported"
            )
        return UserType(expanded_type, tuple(dropped))

    def _expand(self, foreign: ForeignType, dropped: list[str]) -> ForeignType:
        if not foreign.parts:
            declared = self.find(foreign.text)
            if declared is None:
                return foreign
            dropped += declared.dropped
            refuses_null = False in (foreign.nullable, declared.type.nullable)
            return replace(declared.type, nullable=False if refuses_null else foreign.nullable)
        parts = (replace(part, type=self._expand(part.type, dropped)) for part in foreign.parts)
        return replace(foreign, parts=tuple(parts))


def _count_types(foreign: ForeignType) -> int:
    waiting, count = [foreign], 0
    while waiting and count <= MAX_PARTS:
        type_ = waiting.pop()
        count += 1
        waiting += [part.type for part in type_.parts]
    return count


# --- CREATE TYPE and CREATE DOMAIN ----------------------------------------------------------------


def create_type(cursor: Cursor, engine: Engine, types: UserTypes) -> bool:
    """Parse CREATE TYPE after these two words; return whether the form is supported."""
    name = path(cursor, engine)
    if cursor.accept("FROM"):  # T-SQL
        definition = types.expand(foreign_type(cursor, engine, lambda: cursor.key in NULLABILITY))
        nullable = False if cursor.accept("NOT", "NULL") else definition.type.nullable
        cursor.accept("NULL")
        types.add(name, replace(definition, type=replace(definition.type, nullable=nullable)))
        return True
    cursor.accept("FORCE")
    if not (cursor.accept("AS") or (engine.name == "oracle" and cursor.accept("IS"))):
        return False
    if engine.name == "oracle":
        return _create_oracle_type(cursor, engine, name, types)
    if cursor.accept("RANGE"):
        types.add(name, UserType(ForeignType("tsrange")))  # any range is a string
        return False
    if cursor.accept("ENUM", "("):
        values = []
        for _ in () if cursor.accept(")") else elements(cursor):
            if cursor.token.kind != "string":
                raise cursor.fail(f"expected a string, found {cursor.token.display}")
            values.append(quote_string(cursor.advance().value))
        types.add(name, UserType(ForeignType(f"enum({', '.join(values)})")))
        return True
    if cursor.accept("("):
        dropped: list[str] = []
        definition = types.expand(_parse_fields(cursor, engine, dropped))
        types.add(name, replace(definition, dropped=(*definition.dropped, *dropped)))
        return True
    if engine.name != "duckdb":
        return False
    types.add(name, types.expand(foreign_type(cursor, engine, lambda: None)))
    return True


#: What follows the type of a T-SQL alias.
NULLABILITY = frozenset({"NOT", "NULL"})

#: Words that start a method of an object type.
METHODS = frozenset(
    {"MEMBER", "STATIC", "CONSTRUCTOR", "MAP", "ORDER", "FINAL", "OVERRIDING", "NOT"}
)


def _create_oracle_type(
    cursor: Cursor, engine: Engine, name: tuple[str, ...], types: UserTypes
) -> bool:
    """Parse the object, array or table type of Oracle; methods are not a part of the values."""
    if cursor.accept("OBJECT", "("):
        parts, dropped = [], []
        for _ in elements(cursor):
            start = cursor.token.start
            if cursor.key not in METHODS:
                field_name = identifier(cursor, engine)
                parts.append(ForeignChild(foreign_type(cursor, engine, lambda: None), field_name))
                start = cursor.token.start
            if skip_until(cursor, (",",)):
                dropped.append(excerpt(cursor, start))
        definition = types.expand(ForeignType("row", tuple(parts)))
        types.add(name, replace(definition, dropped=(*definition.dropped, *dropped)))
        return True
    is_array = cursor.accept("VARRAY") or cursor.accept("VARYING", "ARRAY")
    if not is_array and not cursor.accept("TABLE"):
        return False
    if cursor.key == "(":
        skip_token(cursor)
    cursor.expect("OF")
    element = types.expand(foreign_type(cursor, engine, lambda: cursor.key in NULLABILITY))
    nullable = False if cursor.accept("NOT", "NULL") else element.type.nullable
    child = ForeignChild(replace(element.type, nullable=nullable))
    types.add(name, replace(element, type=ForeignType("array", (child,))))
    return True


def create_domain(cursor: Cursor, engine: Engine, types: UserTypes) -> bool:
    """Parse CREATE DOMAIN after these two words."""
    name = path(cursor, engine)
    cursor.accept("AS")
    definition = types.expand(foreign_type(cursor, engine, lambda: None))
    start, nullable, parts = cursor.token.start, definition.type.nullable, []
    while cursor.key != ";" and cursor.token.kind != "end":
        place = cursor.token.start
        if cursor.key == "CONSTRAINT" and cursor.peek(2).key == "NOT":
            cursor.index += 2
        if cursor.accept("NOT", "NULL"):
            nullable = False
            parts.append(cursor.text[start:place])
            start = cursor.token.start
        else:
            skip_token(cursor)
    rest = shorten(" ".join((*parts, excerpt(cursor, start))))
    dropped = (*definition.dropped, rest) if rest else definition.dropped
    types.add(name, UserType(replace(definition.type, nullable=nullable), dropped))
    return True


def _parse_fields(cursor: Cursor, engine: Engine, dropped: list[str]) -> ForeignType:
    parts = []
    for _ in () if cursor.accept(")") else elements(cursor):
        name = identifier(cursor, engine)
        type_ = foreign_type(cursor, engine, lambda: cursor.key == "COLLATE")
        parts.append(ForeignChild(type_, name))
        start = cursor.token.start
        if skip_until(cursor, (",",)):
            dropped.append(f"{name} {excerpt(cursor, start)}")
    return ForeignType("row", tuple(parts))
