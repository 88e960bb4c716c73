"""Completion of statements: names of existing objects, keywords, and options.

There is no second grammar: a keyword is proposed if the parser gets further with it than without.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from schema_core.base.keywords import RESERVED, UNRESERVED
from schema_core.base.paths import UnresolvedPath
from schema_core.base.plugins import CATALOGS, CONNECTORS, FORMATS, list_entries
from schema_core.base.text import Token, quote_identifier
from schema_core.catalog.api import names_starting_with
from schema_core.environment.connector import WATERMARK_OPTIONS, installed_connector
from schema_core.environment.options import ENVIRONMENT, ConfigOption
from schema_core.environment.session import Session
from schema_core.errors import SchemaCoreError
from schema_core.sql.parser import is_beginning
from schema_core.sql.statement_syntax import SHOW_SUBJECTS
from schema_core.sql.tokens import cursor_over

#: The number of tokens above which lists are abridged, and the most characters that may remain.
MAX_TOKENS = 200
MAX_PREFIX = 2_000

#: Replaces a name; no object has it.
SOME_NAME = "a_name_that_nobody_has"

#: Kinds of tokens that are names, and kinds that a word may have.
NAMES = ("word", "name")
WORDS = ("word", "reserved")


def complete(session: Session, text: str, position: int) -> list[str]:
    """Return completions of the word before a position, without duplicates: names, then keywords.

    Names are quoted where necessary. The list is empty after an invalid start of a statement. In a
    string they are the keys of options, or the values of those that name an implementation.
    """
    before = text[: max(0, position)]
    if (opened := open_string(before)) is not None:
        following = re.sub("^[^',]*'", "", text[max(0, position) :])
        return _fitting_options(session, before[:opened], before[opened + 1 :], following)
    partial = before.rpartition("`")[2] if before.count("`") % 2 else ""
    begun = before[: len(before) - len(partial) - 1] if partial else before
    tokens = _statement(begun)
    if tokens is None:
        return []
    if not partial and tokens and tokens[-1].stop == len(before):
        partial = tokens[-1].value if tokens[-1].kind in WORDS else ""
        tokens = tokens[:-1] if partial else tokens
    path, head = _path(tokens)
    prefix = _abridge(before, head)
    scope = f"{begun} {text[max(0, position) :]}"
    wanted = partial.lower().strip("`")
    names = _fitting_names(session, head, path, prefix, scope, wanted)
    return list(dict.fromkeys([*names, *_fitting_words(prefix, path, wanted)]))


def _fitting_names(
    session: Session, head: list[Token], path: list[str], prefix: str, text: str, wanted: str
) -> list[str]:
    """Return the names of existing objects that start so, where a name is expected."""
    kind = _kind(head)
    written = [*map(quote_identifier, path), SOME_NAME]
    longer = [] if path or kind in ("catalogs", "modules") else [SOME_NAME]
    if kind is None or not is_beginning(prefix + ".".join([*longer, *written])):
        return []
    names = _names(session, kind, path, text, wanted)
    return list(map(quote_if_needed, names_starting_with(wanted, names)))


def _fitting_words(prefix: str, path: list[str], wanted: str) -> list[str]:
    """Return keywords that start so and may follow; where any name may, only reserved ones.

    The text is parsed once for every keyword, so none follow a text longer than `MAX_PREFIX`.
    """
    if path or len(prefix) > MAX_PREFIX:
        return []
    words = RESERVED if is_beginning(prefix + SOME_NAME) else RESERVED | UNRESERVED
    fitting = {*names_starting_with(wanted, words)} | {
        word
        for word in names_starting_with(wanted, KEYWORDS_BEFORE_NAMES)
        if is_beginning(f"{prefix}{word} {SOME_NAME}")
        and not is_beginning(f"{prefix}{SOME_NAME} {SOME_NAME}")
    }
    return sorted(word for word in fitting if _may_follow(prefix + word, word))


#: Keywords that may be names, and before a name are keywords: USE CATALOG c.
KEYWORDS_BEFORE_NAMES = frozenset({"CATALOG", "MODULES"})

#: Words that are read only together with the next one -> its possible values.
TOGETHER: dict[str, tuple[str, ...]] = {
    "GROUP": ("BY",), "ORDER": ("BY",), "PARTITION": ("(", "BY"), "IF": ("EXISTS", "NOT EXISTS"),
    "OR": ("REPLACE", "ALTER"), "CURRENT": ("CATALOG", "DATABASE"), "USER": ("FUNCTIONS",),
    "FULL": ("MODULES", "JOIN"), "LEFT": ("JOIN",), "RIGHT": ("JOIN",), "INNER": ("JOIN",),
    "CROSS": ("JOIN",), "MATERIALIZED": ("TABLE", "TABLES"), "NOT": ("NULL", "LIKE '", "a"),
    "PRIMARY": ("KEY",), "REFRESH_MODE": ("=",), "FRESHNESS": ("=",), "PARTITIONED": ("BY",),
    "WITH": ("(",), "FOR": ("ALL COLUMNS", "SYSTEM_TIME"), "STATEMENT": ("SET",),
}  # fmt: skip


def _may_follow(text: str, word: str) -> bool:
    if is_beginning(text):
        return True
    rest = TOGETHER.get(word, ("(",) if word in RESERVED else ())
    return any(is_beginning(f"{text} {token}") for token in rest)


# --- options ------------------------------------------------------------------------------------

#: Option -> the group of the implementations that its value names.
IMPLEMENTATIONS = {
    "connector":    CONNECTORS,
    "format":       FORMATS,
    "key.format":   FORMATS,
    "value.format": FORMATS,
    "type":         CATALOGS,
}  # fmt: skip


def open_string(before: str) -> int | None:
    """Return where the string literal begins that is open at the end of a text, or None."""
    with suppress(SchemaCoreError):
        tokens = cursor_over(before).tokens
        if len(tokens) > 1 and tokens[-2].kind == "bad" and tokens[-2].value.startswith("'"):
            return tokens[-2].start
    return None


def _fitting_options(session: Session, before: str, partial: str, following: str) -> list[str]:
    """Return the keys or values that start so where a string of options is open."""
    head = _statement(before) or []
    keys = [token.key for token in head]
    if len(head) > 1 and keys[-1] == "=" and head[-2].kind == "string":
        group = IMPLEMENTATIONS.get(head[-2].value)
        names = [entry.identifier for entry in list_entries(group)] if group else []
    elif keys in (["SET"], ["RESET"]):
        names = [option.key for option in ENVIRONMENT]
    elif _is_in_options(keys) and keys[1:2] != ["CATALOG"]:
        stored = _options_of_altered_table(session, head)
        typed = dict(_assignments(before)) | dict(_assignments(following))
        names = [*stored] if "RESET" in keys else [*_table_options(stored, typed)]
    else:
        names = ["type"] if _is_in_options(keys) else []
    return sorted({name for name in names if name.startswith(partial.lower())})


def _is_in_options(keys: list[str]) -> bool:
    """Return whether a key follows in the parentheses of WITH, SET or RESET."""
    if keys[-1:] not in (["("], [","]) or "(" not in keys:
        return False
    opened = len(keys) - 1 - keys[::-1].index("(")
    return opened > 0 and keys[opened - 1] in ("WITH", "SET", "RESET")


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    """Yield the keys and values of a text in which options are assigned."""
    with suppress(SchemaCoreError):
        tokens = cursor_over(text).tokens
        for key, equals, value in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if (key.kind, equals.key, value.kind) == ("string", "=", "string"):
                yield key.value, value.value


def _options_of_altered_table(session: Session, head: list[Token]) -> Mapping[str, str]:
    """Return the options of the table in ALTER TABLE, which are empty for an unknown one."""
    keys = [token.key for token in head]
    last = next((place for place, key in enumerate(keys) if key in ("SET", "RESET")), 0)
    if keys[:2] != ["ALTER", "TABLE"] or last < 3 or head[last - 1].kind not in NAMES:
        return {}
    above, _ = _path(head[: last - 1])
    with suppress(SchemaCoreError):
        path = UnresolvedPath((*above, head[last - 1].value.strip("`")))
        if (found := session.tables.find(session.registry.qualify(path))) is not None:
            return found.table.get_options()
    return {}


def _table_options(stored: Mapping[str, str], typed: Mapping[str, str]) -> Iterator[str]:
    """Yield the keys of a table's options: those of its connector that are not typed yet."""
    declared: Sequence[ConfigOption[Any]] = ()
    with suppress(SchemaCoreError):
        options = {**stored, **typed}
        if (connector := installed_connector(options)) is not None:
            declared = connector.declared(options)
    keys = [key.removesuffix("*") for option in declared for key in option.key_patterns()]
    keys += ["connector", *(option.key for option in WATERMARK_OPTIONS)]
    yield from (key for key in keys if key not in typed)


# --- tokens before the position ---------------------------------------------------------------


def _statement(before: str) -> list[Token] | None:
    """Return the tokens of the last statement; None within a string or after an invalid token."""
    with suppress(SchemaCoreError):
        tokens = list(cursor_over(before).tokens)[:-1]
        if any(token.kind == "bad" for token in tokens):
            return None
        ends = [place for place, token in enumerate(tokens) if token.key == ";"]
        return tokens[ends[-1] + 1 :] if ends else tokens
    return None


def _path(tokens: list[Token]) -> tuple[list[str], list[Token]]:
    path: list[str] = []
    stop = len(tokens)
    while stop > 1 and tokens[stop - 1].key == "." and tokens[stop - 2].kind in NAMES:
        path.append(tokens[stop - 2].value.strip("`"))
        stop -= 2
    return path[::-1], tokens[:stop]


def _abridge(text: str, tokens: list[Token]) -> str:
    """Return the text of tokens, without the middle of long lists.

    What may follow ``a, b, c, d`` may follow ``a, d``.
    """
    if len(tokens) <= MAX_TOKENS:
        return text[tokens[0].start : tokens[-1].stop] + " " if tokens else ""
    abridged: list[Token] = []
    commas: list[int | None] = [None]
    for token in tokens:
        if token.key in ("(", "["):
            commas.append(None)
        elif token.key in (")", "]") and len(commas) > 1:
            commas.pop()
        elif token.kind == "reserved" and token.key in CLAUSES:
            commas[-1] = None
        elif token.key == ",":
            if commas[-1] is None:
                commas[-1] = len(abridged)
            else:
                del abridged[commas[-1] :]
        abridged.append(token)
    return "".join(f"{text[token.start : token.stop]} " for token in abridged)


def quote_if_needed(name: str) -> str:
    """Return a name as SQL requires it, quoted unless it is a plain identifier.

    >>> quote_if_needed("orders"), quote_if_needed("order"), quote_if_needed("my orders")
    ('orders', '`order`', '`my orders`')
    """
    tokens = cursor_over(name).tokens if name.isascii() else ()
    plain = len(tokens) == 2 and tokens[0].kind == "word"
    return name if plain or name == "*" else quote_identifier(name)


# --- names ---------------------------------------------------------------------------------

#: Keywords before a table, unless another keyword names the kind.
OF_TABLES = frozenset(
    {"FROM", "JOIN", "INTO", "OVERWRITE", "TABLE", "VIEW", "DESCRIBE", "DESC", "UPDATE", "EXTENDED",
     "LIKE", "EXISTS", "PARTITIONS"}
)  # fmt: skip

#: Keywords that begin a clause: what follows a comma belongs to the last of them.
CLAUSES = frozenset(
    {"SELECT", "FROM", "WHERE", "BY", "HAVING", "ON", "USING", "SET", "VALUES", "JOIN", "QUALIFY"}
)

#: The last keywords -> the kind of object that follows them.
KINDS: Mapping[tuple[str, ...], str] = {
    **{
        ("SHOW", *subject.words.split(), word): f"{subject.place}s"
        for subject in SHOW_SUBJECTS
        if subject.place
        for word in ("FROM", "IN")
    },
    ("CATALOG",):  "catalogs",
    ("USE",):      "databases",
    ("DATABASE",): "databases",
    ("MODULE",):   "modules",
    ("MODULES",):  "modules",
    ("FUNCTION",): "functions",
    ("MODEL",):    "models",
}  # fmt: skip


def _names(session: Session, kind: str, path: list[str], text: str, wanted: str) -> Iterator[str]:
    """Return the names of a kind that complete a path; for tables, only names that start so."""
    if kind == "tables":
        yield from _tables(session, path, wanted)
        return
    if kind != "columns":
        yield from LISTS[kind](session, path)
        return
    yield from _columns(session, text, path)
    if not path:
        every = session.functions.list_callable()
        yield from (item for item in every if item.isidentifier() and item.upper() not in RESERVED)


def _kind(head: list[Token]) -> str | None:
    """Return the kind of object that the next name has, or None."""
    keys = [token.key for token in head]
    while keys[-2:] == ["IF", "EXISTS"]:
        keys = keys[:-2]
    if keys[:1] == ["CREATE"] and keys[-1] in ("TABLE", "VIEW"):
        return None
    for words, kind in KINDS.items():
        if tuple(keys[-len(words) :]) == words:
            return kind
    clause = next((key for key in reversed(keys) if key in CLAUSES), None)
    if keys and keys[-1] == "," and clause in ("FROM", "JOIN"):
        return "tables"
    # LIKE is a clause only in CREATE TABLE
    is_operator = keys[-1:] == ["LIKE"] and keys[0] != "CREATE"
    if keys and keys[-1] in OF_TABLES and not is_operator:
        return "tables"
    return "columns" if clause else None


def _columns(session: Session, text: str, path: list[str]) -> Iterator[str]:
    """Return the columns of the tables that the statement reads, or of the table at a path."""
    with suppress(SchemaCoreError):
        for names, alias in _sources(text):
            if path and path not in ([alias], names[-len(path) :]):
                continue
            with suppress(SchemaCoreError):
                found = session.tables.find(session.registry.qualify(UnresolvedPath(tuple(names))))
                if found is not None:
                    yield from found.table.resolved_schema.get_column_names()
        if path:
            yield "*"
        else:
            yield from (alias for _, alias in _sources(text) if alias)


def _sources(text: str) -> Iterator[tuple[list[str], str]]:
    """Return the paths after FROM, JOIN and the like, with their aliases."""
    tokens = cursor_over(text).tokens
    for place, (item, following) in enumerate(pairwise(tokens)):
        if item.key not in {"FROM", "JOIN", "UPDATE", "INTO", ","} or following.kind not in NAMES:
            continue
        names = [following.value.strip("`")]
        rest = place + 2
        while rest + 1 < len(tokens) and tokens[rest].key == "." and tokens[rest + 1].kind in NAMES:
            names.append(tokens[rest + 1].value.strip("`"))
            rest += 2
        rest += tokens[rest].key == "AS"
        alias = tokens[rest] if tokens[rest].kind in NAMES else None
        yield names, alias.value.strip("`") if alias else names[-1]


def _tables(session: Session, path: list[str], wanted: str) -> Iterator[str]:
    catalog, database = session.registry.current_catalog, session.registry.current_database
    match path:
        case []:
            yield from _of_database(session, catalog, database, wanted)
            yield from _databases(session, [])
        case [name]:
            yield from _of_database(session, catalog, name, wanted)
            yield from _of_catalog(session, name)
        case [catalog, database]:
            yield from _of_database(session, catalog, database, wanted)


def _of_database(
    session: Session, catalog: str | None, database: str | None, wanted: str
) -> list[str]:
    if catalog is None or database is None:
        return []
    with suppress(SchemaCoreError):
        return session.tables.find_table_names(catalog, database, wanted)
    return session.temporary.table_names(catalog, database)


def _of_catalog(session: Session, name: str | None) -> list[str]:
    catalog = session.registry.find(name) if name is not None else None
    return sorted(catalog.list_databases()) if catalog else []


def _databases(session: Session, path: list[str]) -> Iterator[str]:
    if path:
        yield from _of_catalog(session, path[0])
        return
    yield from _of_catalog(session, session.registry.current_catalog)
    yield from session.registry.names()


def _catalogs(session: Session, path: list[str]) -> Iterator[str]:
    yield from session.registry.names() if not path else ()


def _modules(session: Session, path: list[str]) -> Iterator[str]:
    yield from session.functions.modules.loaded if not path else ()


def _functions(session: Session, path: list[str]) -> Iterator[str]:
    registry = session.registry
    place = [registry.current_catalog, registry.current_database]
    place = [*place[: 2 - len(path)], *path]
    yield from session.functions.list_user_defined(place[0], place[1])


def _models(session: Session, path: list[str]) -> Iterator[str]:
    place = session.registry.qualify_database(tuple(path))
    yield from session.models.list_models(*place)
    yield from session.temporary.model_names(*place)


#: Kind of object -> the function that lists the objects at a path.
LISTS: dict[str, Callable[[Session, list[str]], Iterator[str]]] = {
    "databases": _databases,
    "catalogs":  _catalogs,
    "modules":   _modules,
    "functions": _functions,
    "models":    _models,
}  # fmt: skip
