"""Where an object is: a path of one to three names, and what it means in a catalog.

`parse_path` reads what `str` of a path writes: ``parse_path(str(path)) == path``, unless a name
has a line break or more than 256 characters, which no SQL text can say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering
from typing import TYPE_CHECKING

from schema_core.errors import SchemaError
from schema_core.text import LETTERS, Cursor, Token, check_size, is_blank, quote_identifier, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Characters (UTF-16 units, as Java counts) of one name in a text.
MAX_NAME = 256

#: What the names of a path are of.
LEVELS = ("catalog", "database", "object")

#: The name that Flink keeps for what has no catalog or database.
UNKNOWN = "<UNKNOWN>"


def _require_text(name: object, what: str) -> None:
    if name is not None and not isinstance(name, str):
        raise SchemaError(
            f"the name of the {what} must be a string, got {show(name)}", code="wrong-argument"
        )


def _require_name(name: str | None, what: str) -> None:
    _require_text(name, what)
    if name is None or is_blank(name):
        raise SchemaError(f"the {what} needs a name with a visible character", code="blank-name")


@dataclass(frozen=True, slots=True)
@total_ordering
class ObjectPath:
    """An object within a catalog: its database and its own name.

    Raises:
        SchemaError: with code `blank-name` where one of the two has no visible character.

    >>> print(ObjectPath("sales", "orders"))
    sales.orders
    """

    database_name: str
    object_name: str

    def __post_init__(self) -> None:
        _require_name(self.database_name, "database")
        _require_name(self.object_name, "object")

    @staticmethod
    def from_string(full_name: str) -> ObjectPath:
        """The path that two names with a dot between them spell; there is no quoting.

        Dots at the end are dropped, as Flink does.

        Raises:
            SchemaError: with code `invalid-object-path` where there are not exactly two names.

        >>> ObjectPath.from_string("sales.orders").get_object_name()
        'orders'
        """
        given: object = full_name
        names = given.rstrip(".").split(".") if isinstance(given, str) else []
        if len(names) != 2:
            raise SchemaError(
                f"{show(full_name)} is not a path of a database and an object",
                code="invalid-object-path",
                hint="write database.object, or ObjectPath(database, object) for names with dots",
            )
        return ObjectPath(*names)

    def get_database_name(self) -> str:
        """The database."""
        return self.database_name

    def get_object_name(self) -> str:
        """The object's own name."""
        return self.object_name

    def get_full_name(self) -> str:
        """Both names with a dot between them, unquoted."""
        return f"{self.database_name}.{self.object_name}"

    def compare_to(self, other: ObjectPath) -> int:
        """Negative, zero or positive as this path sorts before, with or after the other.

        Raises:
            SchemaError: with code `wrong-argument` for something that is not a path.
        """
        given: object = other
        if not isinstance(given, ObjectPath):
            raise SchemaError(f"expected an ObjectPath, got {show(given)}", code="wrong-argument")
        mine, theirs = self.get_full_name(), other.get_full_name()
        return (mine > theirs) - (mine < theirs)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, ObjectPath):
            return NotImplemented
        return self.compare_to(other) < 0

    def __str__(self) -> str:
        return self.get_full_name()


@dataclass(frozen=True, slots=True)
class ObjectIdentifier:
    """An object among all catalogs: catalog, database and name.

    >>> identifier = ObjectIdentifier.of("hive", "sales", "or`ders")
    >>> print(identifier)
    `hive`.`sales`.`or``ders`
    >>> identifier.as_summary_string()
    'hive.sales.or`ders'
    """

    catalog_name: str
    database_name: str
    object_name: str

    @staticmethod
    def of(catalog_name: str, database_name: str, object_name: str) -> ObjectIdentifier:
        """The identifier of these three names.

        Raises:
            SchemaError: with code `reserved-name` for a catalog or database called ``<UNKNOWN>``,
                `wrong-argument` for a name that is not a string.
        """
        for what, name in zip(LEVELS, (catalog_name, database_name, object_name), strict=True):
            _require_text(name, what)
        for what, name in (("catalog", catalog_name), ("database", database_name)):
            if name == UNKNOWN:
                raise SchemaError(f"a {what} cannot be called {UNKNOWN}", code="reserved-name")
        return ObjectIdentifier(catalog_name, database_name, object_name)

    def get_catalog_name(self) -> str:
        """The catalog."""
        return self.catalog_name

    def get_database_name(self) -> str:
        """The database."""
        return self.database_name

    def get_object_name(self) -> str:
        """The object's own name."""
        return self.object_name

    def to_object_path(self) -> ObjectPath:
        """The same without the catalog.

        Raises:
            SchemaError: with code `blank-name` where a name has no visible character.
        """
        return ObjectPath(self.database_name, self.object_name)

    def to_list(self) -> list[str]:
        """The three names."""
        return [self.catalog_name, self.database_name, self.object_name]

    def as_serializable_string(self) -> str:
        """The three names quoted, with dots between them: what `parse_path` reads back."""
        return ".".join(map(quote_identifier, self.to_list()))

    def as_summary_string(self) -> str:
        """The three names unquoted, for people."""
        return ".".join(self.to_list())

    def __str__(self) -> str:
        return self.as_serializable_string()


@dataclass(frozen=True, slots=True, init=False)
class UnresolvedPath:
    """One to three names, as someone wrote them: object, database.object, catalog.database.object.

    >>> print(UnresolvedPath(["sales", "orders"]))
    `sales`.`orders`
    """

    parts: tuple[str, ...]

    def __init__(self, parts: Iterable[str | None]) -> None:
        """A path of these names.

        Raises:
            SchemaError: with code `invalid-path-length` for none or more than three, `blank-name`
                for one without a visible character.
        """
        names = tuple(parts)
        if not 1 <= len(names) <= 3:
            raise SchemaError(
                f"a path has one to three names, not {len(names)}", code="invalid-path-length"
            )
        for name in names:
            _require_name(name, "path")
        object.__setattr__(self, "parts", names)

    @property
    def object_name(self) -> str:
        """The last name."""
        return self.parts[-1]

    @property
    def database_name(self) -> str | None:
        """The name before the last, or None."""
        return self.parts[-2] if len(self.parts) > 1 else None

    @property
    def catalog_name(self) -> str | None:
        """The first of three names, or None."""
        return self.parts[0] if len(self.parts) == 3 else None

    def qualify(self, catalog: str | None, database: str | None) -> ObjectIdentifier:
        """The object that is meant where this catalog and this database are the current ones.

        Raises:
            SchemaError: with code `current-catalog-not-set` or `current-database-not-set` where the
                one that the path leaves open is None, `reserved-name` as for `ObjectIdentifier.of`.

        >>> UnresolvedPath(["orders"]).qualify("hive", "sales").as_summary_string()
        'hive.sales.orders'
        """
        return ObjectIdentifier.of(
            self.catalog_name or _current(catalog, "catalog", "USE CATALOG", self),
            self.database_name or _current(database, "database", "USE", self),
            self.object_name,
        )

    def as_summary_string(self) -> str:
        """The names, quoted."""
        return ".".join(map(quote_identifier, self.parts))

    def __str__(self) -> str:
        return self.as_summary_string()


def _current(name: str | None, what: str, statement: str, path: UnresolvedPath) -> str:
    if name is None:
        raise SchemaError(
            f"there is no current {what} to look for {path} in",
            code=f"current-{what}-not-set",
            hint=f"choose one with {statement}, or write the name of the {what} before it",
        )
    return name


# --- text ----------------------------------------------------------------------------------------

_TOKEN = re.compile(
    rf"""
      (?P<space>   [\x20\t\n\r\f]+ | (?:--|//)[^\n\r]*
                 | /\*\*/ | /\*\*[^/](?s:.*?)\*/ | /\*(?![*+])(?s:.*?)\*/ )
    | (?P<other>   /\*(?!\+) )
    | (?P<name>    `(?:[^`\n\r]|``)+` )
    | (?P<literal> (?:[ENXenx]|[Uu]&|_[{LETTERS}0-9][{LETTERS}0-9:.-]{{0,64}})?'(?:[^']|'')*' )
    | (?P<word>    [{LETTERS}][{LETTERS}0-9]* )
    | (?P<number>  (?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[Ee][+-]?[0-9]+)? )
    | (?P<symbol>  /\*\+ | \*/ | \{{\x20*(?:[Ff][Nn]|[Tt][Ss]|[Tt]|[Dd])
                 | <= | >= | <> | != | => | \|\| | \.\.
                 | ['"<>=|^*/+%?:;,.(){{}}\[\]-] )
    """,
    re.VERBOSE,
)

#: Names of collations, such as ``latin1$en_US$primary``, of which Calcite takes the longest. So
#: ``sales.orders$files`` is one token, and one name, as long as nothing in it is quoted.
_COLLATIONS = tuple(
    re.compile(rf"[{LETTERS}0-9][{LETTERS}0-9:.-]{{0,300}}\$[{LETTERS}]{{1,300}}{strength}")
    for strength in ("", rf"\$[{LETTERS}0-9]{{1,300}}")
)


def _collation(text: str, place: int) -> re.Match[str] | None:
    """The longest name of a collation that begins here."""
    found = [match for one in _COLLATIONS if (match := one.match(text, place))]
    return max(found, key=re.Match.end, default=None)


def _tokens(text: str) -> Iterator[Token]:
    """The tokens of SQL, up to a character outside of them, which has the kind ``other``."""
    place, kind, has_collation = 0, "", "$" in text
    while place < len(text) and kind != "other":
        match = _TOKEN.match(text, place)
        collation = _collation(text, place) if has_collation else None
        if collation and match and collation.end() > match.end():
            yield Token("word", "", collation.group(), place, collation.end())
            place = collation.end()
            continue
        kind = (match.lastgroup if match else None) or "other"
        value = match.group() if match else text[place]
        start, place = place, place + len(value)
        if kind == "name":
            yield Token(kind, "", value[1:-1].replace("``", "`"), start, place)
        elif kind != "space":
            yield Token(kind, value if kind == "symbol" else "", value, start, place)
    yield Token("end", "end", "", place, place)


def _name(cursor: Cursor) -> str:
    """A part of a path: Flink takes any one token for a name, be it a keyword or a symbol."""
    token = cursor.token
    if token.kind in ("end", "other"):
        raise cursor.fail(f"expected a name, found {token.display}")
    if is_blank(token.value):
        raise cursor.fail("a name needs a visible character", code="blank-name")
    if len(token.value.encode("utf-16-le", "surrogatepass")) > 2 * MAX_NAME:
        raise cursor.fail(f"a name of more than {MAX_NAME} characters", code="name-too-long")
    return cursor.advance().value


def parse_path(text: str) -> UnresolvedPath:
    """The path that the text spells: names with dots between them, quoted where needed.

    The tokens are those of Flink's SQL, comments included, and keywords need no quotes.

    Raises:
        ParseError: for anything else, with the place; texts of more than 1,000,000 characters are
            refused before they are read.

    >>> parse_path("sales.`or.ders`").parts
    ('sales', 'or.ders')
    >>> parse_path("my-table")
    Traceback (most recent call last):
        ...
    schema_core.errors.ParseError: unexpected '-' after the path
        my-table
          ^
      hint: names with other characters than letters, digits, _ and $ need back-ticks
    """
    check_size(text)
    cursor = Cursor(text, list(_tokens(text)))
    parts = [_name(cursor)]
    while len(parts) < 3 and cursor.accept("."):
        parts.append(_name(cursor))
    if cursor.token.kind != "end":
        raise cursor.fail(
            f"unexpected {cursor.token.display} after the path",
            hint="names with other characters than letters, digits, _ and $ need back-ticks",
        )
    return UnresolvedPath(parts)
