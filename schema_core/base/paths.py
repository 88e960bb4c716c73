"""Paths of objects: identifiers of one to three names, and their resolution in a catalog.

``parse_path(str(path)) == path``, unless a name has a line break or more than 256 characters.
"""

from __future__ import annotations

from functools import total_ordering
from typing import TYPE_CHECKING

from schema_core.base.cursor import Cursor, check_size
from schema_core.base.lazy import dataclass, regex
from schema_core.base.text import LETTERS, Token, is_blank, quote_identifier, show, tokenize
from schema_core.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Maximum length of a name in SQL, in UTF-16 code units.
MAX_NAME = 256

LEVELS = ("catalog", "database", "object")

#: Flink's reserved name for objects without a catalog or database.
UNKNOWN = "<UNKNOWN>"


def _require_text(name: object, what: str) -> None:
    if name is not None and not isinstance(name, str):
        raise SchemaError(
            f"the name of the {what} must be a string, got {show(name)}", code="invalid-argument"
        )


def _require_name(name: str | None, what: str) -> None:
    _require_text(name, what)
    if name is None or is_blank(name):
        raise SchemaError(f"the name of the {what} must not be blank", code="invalid-name")


@dataclass(frozen=True, slots=True)
@total_ordering
class ObjectPath:
    """The path of an object within a catalog: its database and its name.

    Raises:
        SchemaError: with code `invalid-name`.

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
        """Parse two names separated by a dot; nothing is quoted, and trailing dots are dropped.

        Raises:
            SchemaError: with code `invalid-path`.

        >>> ObjectPath.from_string("sales.orders").get_object_name()
        'orders'
        """
        path: object = full_name
        names = path.rstrip(".").split(".") if isinstance(path, str) else []
        if len(names) != 2:
            raise SchemaError(
                f"{show(full_name)} is not a path of a database and an object",
                code="invalid-path",
                hint="write database.object, or ObjectPath(database, object) for names with dots",
            )
        return ObjectPath(*names)

    def get_database_name(self) -> str:
        """Return the name of the database."""
        return self.database_name

    def get_object_name(self) -> str:
        """Return the name of the object."""
        return self.object_name

    def get_full_name(self) -> str:
        """Return both names, unquoted and separated by a dot."""
        return f"{self.database_name}.{self.object_name}"

    def compare_to(self, other: ObjectPath) -> int:
        """Return a negative number, zero or a positive one: this path sorts before, with or after.

        Raises:
            SchemaError: with code `invalid-argument`.
        """
        path: object = other
        if not isinstance(path, ObjectPath):
            raise SchemaError(f"expected an ObjectPath, got {show(path)}", code="invalid-argument")
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
    """The full path of an object: catalog, database and name.

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
        """Return the identifier of three names.

        Raises:
            SchemaError: with code `invalid-name` for ``<UNKNOWN>``, `invalid-argument`.
        """
        for what, name in zip(LEVELS, (catalog_name, database_name, object_name), strict=True):
            _require_text(name, what)
        for what, name in (("catalog", catalog_name), ("database", database_name)):
            if name == UNKNOWN:
                raise SchemaError(f"a {what} cannot be called {UNKNOWN}", code="invalid-name")
        return ObjectIdentifier(catalog_name, database_name, object_name)

    def get_catalog_name(self) -> str:
        """Return the name of the catalog."""
        return self.catalog_name

    def get_database_name(self) -> str:
        """Return the name of the database."""
        return self.database_name

    def get_object_name(self) -> str:
        """Return the name of the object."""
        return self.object_name

    def to_object_path(self) -> ObjectPath:
        """Return the path without the catalog.

        Raises:
            SchemaError: with code `invalid-name`.
        """
        return ObjectPath(self.database_name, self.object_name)

    def to_list(self) -> list[str]:
        """Return the three names."""
        return [self.catalog_name, self.database_name, self.object_name]

    def as_serializable_string(self) -> str:
        """Return the quoted names separated by dots, which `parse_path` parses."""
        return ".".join(map(quote_identifier, self.to_list()))

    def as_summary_string(self) -> str:
        """Return the unquoted names separated by dots, for display."""
        return ".".join(self.to_list())

    def __str__(self) -> str:
        return self.as_serializable_string()


@dataclass(frozen=True, slots=True, init=False)
class UnresolvedPath:
    """A path of one to three names: object, database.object, or catalog.database.object.

    >>> print(UnresolvedPath(["sales", "orders"]))
    `sales`.`orders`
    """

    parts: tuple[str, ...]

    def __init__(self, parts: Iterable[str | None]) -> None:
        """Create a path of names.

        Raises:
            SchemaError: with code `invalid-path` or `invalid-name`.
        """
        names = tuple(parts)
        if not 1 <= len(names) <= 3:
            raise SchemaError(
                f"a path has one to three names, got {len(names)}", code="invalid-path"
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
        """Resolve the path with a current catalog and a current database.

        Raises:
            SchemaError: with code `current-database-not-set` or `invalid-name`.

        >>> UnresolvedPath(["orders"]).qualify("hive", "sales").as_summary_string()
        'hive.sales.orders'
        """
        return ObjectIdentifier.of(
            self.catalog_name or _current(catalog, "catalog", "USE CATALOG", self),
            self.database_name or _current(database, "database", "USE", self),
            self.object_name,
        )

    def as_summary_string(self) -> str:
        """Return the quoted names separated by dots."""
        return ".".join(map(quote_identifier, self.parts))

    def __str__(self) -> str:
        return self.as_summary_string()


def format_path(path: object) -> str:
    """Return a path for a message: `join_names` of an identifier, `str` of any other."""
    return join_names(path.to_list()) if isinstance(path, ObjectIdentifier) else str(path)


_QUOTED = regex(r"[.`=]|^$")
#: The dot before a name, and the name: quoted, or up to the next dot.
_JOINED_NAME = regex(r"(?:\A|\.)(?:`((?:[^`]|``)*)`(?=\.|\Z)|([^.]*))")


def join_names(names: Iterable[str]) -> str:
    """Return names separated by dots; names with dots, backticks or ``=`` are quoted.

    Different names have different results. `split_names` is the inverse.

    >>> print(join_names(["sales", "my-orders"]), join_names(["sales", "or.ders"]))
    sales.my-orders sales.`or.ders`
    """
    return ".".join(quote_identifier(name) if _QUOTED.search(name) else name for name in names)


def split_names(text: str) -> tuple[str, ...]:
    """Return the names of a string of `join_names`: any number, unlike in `parse_path`.

    >>> split_names("sales.`or.ders`.my-column")
    ('sales', 'or.ders', 'my-column')
    """
    return tuple(
        plain if quoted is None else quoted.replace("``", "`")
        for quoted, plain in (match.groups() for match in _JOINED_NAME.finditer(text))
    )


def _current(name: str | None, what: str, statement: str, path: UnresolvedPath) -> str:
    if name is None:
        raise SchemaError(
            f"cannot resolve {path}: there is no current {what}",
            code="current-database-not-set",
            hint=f"set it with {statement}, or qualify the path with the name of the {what}",
        )
    return name


# --- parser --------------------------------------------------------------------------------------

#: Names of collations, such as ``latin1$en_US$primary``: Calcite matches the longest, so an
#: unquoted ``sales.orders$files`` is one name.
_COLLATIONS = tuple(
    regex(rf"[{LETTERS}0-9][{LETTERS}0-9:.-]{{0,300}}\$[{LETTERS}]{{1,300}}{strength}")
    for strength in ("", rf"\$[{LETTERS}0-9]{{1,300}}")
)


#: Tokens that are names in a path only.
_UNPAIRED = ("'", '"', "!=")


def _token(cursor: Cursor) -> Token:
    token, text = cursor.token, cursor.text
    kind, start, stop = token.kind, token.start, token.stop
    ends = [
        match.end() for name in _COLLATIONS if "$" in text and (match := name.match(text, start))
    ]
    if max(ends, default=start) > stop:
        kind, stop = "word", max(ends)
    elif kind == "bad":
        value = next(
            symbol for symbol in (*_UNPAIRED, "/*", text[start]) if text.startswith(symbol, start)
        )
        kind, stop = "symbol" if value in _UNPAIRED else kind, start + len(value)
    else:
        return token
    token = Token(kind, "", text[start:stop], start, stop)
    cursor.tokens = [*cursor.tokens[: cursor.index], token, *tokenize(text, start=stop)]
    return token


def _name(cursor: Cursor) -> str:
    """Parse a name. Flink accepts any single token, also keywords and symbols."""
    token = _token(cursor)
    if token.kind in ("end", "bad"):
        raise cursor.fail(f"expected a name, found {token.display}")
    name = token.value if token.kind == "name" else cursor.text[token.start : token.stop]
    if is_blank(name):
        raise cursor.fail("a name must not be blank", code="invalid-name")
    if len(name.encode("utf-16-le", "surrogatepass")) > 2 * MAX_NAME:
        raise cursor.fail(
            f"a name exceeds the maximum of {MAX_NAME} characters", code="name-not-supported"
        )
    cursor.advance()
    return name


def parse_path(text: str) -> UnresolvedPath:
    """Parse a path: names separated by dots, quoted if necessary; keywords need no quotes.

    Raises:
        ParseError: for anything else, and for more than 1,000,000 characters.

    >>> parse_path("sales.`or.ders`").parts
    ('sales', 'or.ders')
    >>> parse_path("my-table")
    Traceback (most recent call last):
        ...
    schema_core.errors.ParseError: unexpected '-' after the path
        my-table
          ^
      hint: quote names with other characters than letters, digits, _ and $ with backticks
    """
    check_size(text)
    cursor = Cursor(text, tokenize(text))
    parts = [_name(cursor)]
    while len(parts) < 3 and cursor.accept("."):
        parts.append(_name(cursor))
    if (token := _token(cursor)).kind != "end":
        raise cursor.fail(
            f"unexpected {token.display} after the path",
            hint="quote names with other characters than letters, digits, _ and $ with backticks",
        )
    return UnresolvedPath(parts)
