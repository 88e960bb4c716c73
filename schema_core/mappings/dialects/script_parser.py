"""Parse DDL scripts and dumps: one section after another, so that an error loses no other.

Clauses that a schema cannot represent, and unknown statements, are kept as strings in `dropped`.
`SKIPPED` lists statements that cannot change a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from schema_core.base.cursor import Cursor
from schema_core.base.lazy import regex
from schema_core.base.text import MAX_TEXT, Span, Token
from schema_core.errors import Gathering, ParseError, SchemaCoreError
from schema_core.mappings.dialects import grammar
from schema_core.mappings.dialects.control_flow import close_blocks, follow_blocks
from schema_core.mappings.dialects.dumps import (
    TABLE,
    Section,
    SectionKind,
    Splitter,
    find_stray_quote,
    hides_table,
    is_rows,
    next_statement,
    with_version_comments,
)
from schema_core.mappings.dialects.engines import Engine
from schema_core.mappings.dialects.script_definitions import ScriptDefinitions
from schema_core.mappings.dialects.statements import STATEMENTS, parse_owner

#: First words of statements that cannot change a table. SELECT INTO can.
SKIPPED = frozenset(
    {
        # settings and sessions
        "SET", "RESET", "USE ROLE", "USE WAREHOUSE", "USE SECONDARY ROLES", "PRAGMA", "DELIMITER",
        "DISCARD", "LISTEN", "NOTIFY", "FLUSH",
        # transactions and locks
        "BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "END", "LOCK", "UNLOCK",
        "CHECKPOINT",
        # rows
        "SELECT", "VALUES", "COPY", "INSERT", "REPLACE", "UPDATE", "DELETE", "MERGE", "TRUNCATE",
        "LOAD DATA", "REFRESH",
        # statistics and storage
        "ANALYZE", "VACUUM", "REINDEX", "CLUSTER", "OPTIMIZE", "REPAIR", "MSCK", "CACHE", "UNCACHE",
        # metadata queries
        "SHOW", "DESCRIBE", "DESC", "EXPLAIN",
        # owners, grants and roles
        "GRANT", "REVOKE", "SECURITY LABEL", "ALTER DEFAULT PRIVILEGES", "REASSIGN OWNED",
        "CREATE ROLE", "CREATE USER", "ALTER ROLE", "ALTER USER",
        # databases, schemas and extensions; comments on them
        "CREATE DATABASE", "ALTER DATABASE", "CREATE EXTENSION", "COMMENT ON DATABASE",
        "COMMENT ON SCHEMA", "COMMENT ON EXTENSION", "COMMENT ON ROLE",
    }
)  # fmt: skip

#: The same for one engine. DO of PostgreSQL runs any statement.
OWN_SKIPPED = {
    "mysql": frozenset({"DO", "CHECK TABLE", "HANDLER", "KILL", "PURGE"}),
    "tsql": frozenset(
        {
            "PRINT", "GO", "RAISERROR", "THROW", "RETURN", "WAITFOR", "ELSE", "DBCC", "DENY",
            "DECLARE", "BACKUP", "CREATE LOGIN", "ALTER AUTHORIZATION", "BULK INSERT",
            "ENABLE TRIGGER", "DISABLE TRIGGER",
        }
    ),
    "oracle": frozenset(
        {
            "AUDIT", "NOAUDIT", "PURGE", "CREATE TABLESPACE", "ALTER TABLESPACE", "CREATE PROFILE",
            "CREATE DIRECTORY", "ALTER SYSTEM", "CREATE BITMAP",
        }
    ),
}  # fmt: skip


#: Statements with names, lists and options, which can hold CREATE TABLE, but not its columns.
WITH_NAMES = frozenset({"GRANT", "REVOKE", "DENY", "CREATE DATABASE"})

#: First words of statements that define a table; words before the table to which rows are added.
DEFINITIONS = frozenset({"CREATE", "ATTACH", "REPLACE", "ALTER"})
TARGETS = frozenset({"INTO", "OVERWRITE", "ON"})

#: Returns the tokens of a span of a script.
Tokenize: TypeAlias = Callable[[str, Span], list[Token]]

#: How many times the characters of a script are read again after malformed statements.
MAX_REREADS = 4

#: Maximum length of a statement in the path of an error.
MAX_STATEMENT = 40

#: A table within a statement that is an error, whose semicolon is missing.
_HIDDEN_TABLE = regex(r"CREATE\b(?:[ \t]+\w+){0,5}[ \t]+TABLE\b[^(;\n]*\(", re.IGNORECASE)

#: Variables of templates and clients: ``${db}``, ``{{ db }}``, ``$(db)``, ``&db..``, ``:db.t``.
_VARIABLE = regex(r"\$\{|\{\{|\{%|\$\(|&&?\w+\.|(?<![:\w\]]):[\w'\"]+\.")

_TRIGGER = regex(r"CREATE\b[^;('\"]*\bTRIGGER\b", re.IGNORECASE)


def parse_script(text: str, engine: Engine, tokenize: Tokenize) -> ScriptDefinitions:
    """Parse all tables of a script, with comments, keys and changes in separate statements.

    A statement that cannot be parsed is an error of the script; the others are read.
    """
    script = ScriptDefinitions(engine)
    source = with_version_comments(text, engine.name)
    splitter = Splitter(source, engine.name)
    rest = MAX_REREADS * max(len(source), MAX_TEXT)
    while (section := splitter.next()) is not None:
        is_broken = False
        try:
            _parse_section(source, section, splitter, script, tokenize)
        except SchemaCoreError as error:
            is_broken = isinstance(error, ParseError) or hides_table(source, section)
            excerpt = grammar.shorten(source[section.start : section.stop], MAX_STATEMENT)
            for other in (error, *error.others):
                other.span = other.span or section.span
                if other.code == "syntax" and _VARIABLE.search(source, section.start, section.stop):
                    other.hint = "replace the variables of the script with their values"
                other.path = (f"statement {excerpt!r}", *other.path)
            script.errors.add(error)
            hidden = _HIDDEN_TABLE.search(source, section.start + 1, section.stop)
        else:
            hidden = None
        start = next_statement(source, section) if is_broken and rest > 0 else None
        if hidden is not None and (start is None or hidden.start() < start):
            script.dropped.append(grammar.Dropped(hidden.group(), hidden.start()))
        if start is not None:
            rest -= section.stop - start
            splitter.resume(start)
    if not script.tables and not script.errors.errors:
        problem = "the script has no CREATE TABLE"
        script.errors.add(ParseError(problem, code="invalid-statement", span=Span(0, 1)))
    return script


def _parse_section(
    source: str,
    section: Section,
    splitter: Splitter,
    script: ScriptDefinitions,
    tokenize: Tokenize,
) -> None:
    """Parse a section; raise an error for one that is not understood."""
    if script.home_after_schema is not None:
        script.home, script.home_after_schema = script.home_after_schema, None
    if section.problem is not None:
        raise ParseError(
            section.problem,
            hint="check that the script is complete",
            span=Span(section.begin, section.begin + 1),
        )
    hides = hides_table(source, section)
    is_statement = section.kind is SectionKind.STATEMENT
    stray = find_stray_quote(source, section) if hides and is_statement else None
    if stray is not None:
        problem = "a literal ends within a word"
        raise ParseError(problem, hint="double its quotes", span=Span(stray, stray + 1))
    is_row = is_rows(source, section)
    start = section.start if hides else splitter.find_definition(section) if is_row else None
    if is_row and start is not None:
        script.dropped.append(_drop_section(source, replace(section, start=start)))
    owner = None
    match section.kind:
        case SectionKind.STATEMENT if not is_row or hides:
            cursor = Cursor(source, tokenize(source, section.span))
            if hides:
                _require_names(cursor)
            while cursor.token.kind != "end":
                if not cursor.accept(";"):
                    _parse_statement(cursor, script)
            return
        case SectionKind.COMMAND:
            is_dropped = not splitter.is_harmless(section)
        case SectionKind.ROUTINE:
            is_dropped = True
            if _TRIGGER.match(source, section.start, section.stop):
                with Gathering().catching():  # a body that sqlglot does not tokenize
                    owner = parse_owner(Cursor(source, tokenize(source, section.span)), script)
        case _:
            is_dropped = hides
    if is_dropped:
        dropped = script.dropped if owner is None else owner.dropped
        dropped.append(_drop_section(source, section))


def _require_names(cursor: Cursor) -> None:
    """Refuse a quoted name with a line that starts a CREATE TABLE: a stray quote opens it."""
    for token in cursor.tokens:
        if token.kind == "name" and TABLE.search(token.value):
            problem = "a quoted name contains a CREATE TABLE"
            raise cursor.fail(problem, hint="check that its quotes match", span=token.span)


def _drop_section(source: str, section: Section) -> grammar.Dropped:
    excerpt = grammar.shorten(source[section.start : section.stop].strip())
    return grammar.Dropped(excerpt, section.start)


def _parse_statement(cursor: Cursor, script: ScriptDefinitions) -> None:
    start, index = cursor.token, cursor.index
    opens_block = follow_blocks(cursor, script)
    own = OWN_SKIPPED.get(script.engine.name, frozenset())
    is_skipped = grammar.begins(cursor, SKIPPED) or grammar.begins(cursor, own)
    owner, is_read = None, False
    for words, read in STATEMENTS.items():
        if cursor.accept(*words):
            owner, is_read = read(cursor, script)
            break
    next_element = () if script.home_after_schema is None else ("CREATE",)
    if cursor.key != "CREATE" and grammar.skip_statement(cursor, next_element):
        is_read = False
    if not opens_block:
        close_blocks(cursor, script, index)
    last = [token.key for token in cursor.tokens[max(index, cursor.index - 3) : cursor.index - 1]]
    sets_owner = cursor.tokens[index].key == "ALTER" and last == ["OWNER", "TO"]
    is_known = is_read or sets_owner or (is_skipped and not _can_change(cursor, index))
    if is_known and not _contains_table(cursor, index):
        return
    dropped = script.dropped if owner is None else owner.dropped
    dropped.append(grammar.drop_text(cursor, start.start))


def _contains_table(cursor: Cursor, index: int) -> bool:
    """Return whether a CREATE TABLE follows within a statement, whose semicolon is missing.

    Its CREATE may be damaged if its columns follow.
    """
    tokens = cursor.tokens[index : cursor.index]
    keys = [token.key for token in tokens]
    has_names = grammar.begins(Cursor(cursor.text, tokens), WITH_NAMES)
    if has_names or keys[0] not in DEFINITIONS:
        tables = (place for place, key in enumerate(keys) if key == "TABLE")
        if any(_lists_columns(keys, place) for place in tables):
            return True
    if has_names:
        return False  # such as the privilege
    return any(
        key.endswith("CREATE") and "TABLE" in keys[place : place + 7]
        for place, key in enumerate(keys)
        if place > 0
    )


def _lists_columns(keys: list[str], place: int) -> bool:
    """Return whether a table with columns is named at TABLE, but not as a target of rows."""
    after = place + 1
    if keys[after : after + 3] == ["IF", "NOT", "EXISTS"]:
        after += 3
    while keys[after + 1 : after + 2] == ["."]:
        after += 2
    is_name = keys[after : after + 1] != ["("]
    return is_name and keys[after + 1 : after + 2] == ["("] and keys[place - 1] not in TARGETS


def _can_change(cursor: Cursor, index: int) -> bool:
    tokens = cursor.tokens[index : cursor.index]
    if tokens[0].key in {"BEGIN", "ELSE"}:
        return any(token.key in {"ALTER", "CREATE", "DROP"} for token in tokens)
    if tokens[0].key != "SELECT":
        return False
    names = [token.value for token in tokens if token.kind == "string"]
    sets_path = names[:1] == ["search_path"] and names[1:2] != [""]
    return sets_path or any(token.key == "INTO" for token in tokens)
