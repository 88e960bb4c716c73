"""Statements about connections: CREATE, ALTER, DROP, SHOW and DESCRIBE."""

from __future__ import annotations

from dataclasses import replace

from schema_core.base.paths import UnresolvedPath
from schema_core.base.secrets import mask
from schema_core.base.text import quote_identifier, quote_string
from schema_core.catalog.objects import CatalogConnection
from schema_core.environment.result import OK, TableResult, string_result
from schema_core.environment.session import Session, at_span
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.mappings.dialects.definitions import options_of
from schema_core.sql import statement_syntax
from schema_core.sql.syntax import Name

#: The option of a connection that has a row of its own in DESCRIBE.
TYPE = "type"


def create_connection(
    session: Session, statement: statement_syntax.CreateConnection, text: str
) -> TableResult:
    """Create a connection: permanent, temporary, or of the system.

    Codes: `connection-exists`;
    `invalid-statement` for OR REPLACE with IF NOT EXISTS.
    """
    with at_span(statement.path.span):
        if statement.or_replace and statement.if_not_exists:
            raise SchemaError(
                "OR REPLACE and IF NOT EXISTS are mutually exclusive", code="invalid-statement"
            )
        connections, if_not_exists = session.connections, statement.if_not_exists
        made = CatalogConnection(options_of(statement.options), statement.comment)
        if statement.system:
            name = _system_name(statement.path)
            if not (statement.or_replace and connections.system.alter(name, lambda _: made)):
                connections.system.create(name, made, if_not_exists)
            return OK
        path = session.identifier(statement.path)
        if statement.temporary:
            if not (statement.or_replace and connections.temporary.alter(path, lambda _: made)):
                connections.temporary.create(path, made, if_not_exists)
        elif not (statement.or_replace and connections.alter(path, lambda _: made)):
            connections.create(path, made, if_not_exists)
    return OK


def _system_name(path: Name) -> str:
    if len(path.parts) != 1:
        raise SchemaError(
            f"a temporary system connection has a name of one part, got {'.'.join(path.parts)!r}",
            code="invalid-path",
        )
    return path.parts[0]


def alter_connection(session: Session, statement: statement_syntax.Alter, text: str) -> TableResult:
    """Rename a permanent connection or change its options; temporary ones cannot be altered.

    Codes: `connection-not-found` without IF EXISTS; `invalid-statement` for a change of no option,
    or a RESET of all.
    """
    with at_span(statement.path.span):
        path = session.identifier(statement.path)
        if isinstance(statement.change, statement_syntax.RenameTo):
            name = UnresolvedPath(statement.change.path.parts).object_name
            is_found = session.connections.rename(path, name)
        else:
            change = statement.change
            is_found = session.connections.alter(path, lambda old: _apply_change(old, change))
        if not is_found and not statement.if_exists:
            raise session.connections.missing(path)
    return OK


def _apply_change(old: CatalogConnection, change: statement_syntax.Change) -> CatalogConnection:
    match change:
        case statement_syntax.SetOptions(options):
            changed, is_empty = {**old.options, **options_of(options)}, not options
        case statement_syntax.ResetOptions(keys):
            changed = {key: value for key, value in old.options.items() if key not in keys}
            is_empty = not keys or not changed
        case _:
            raise UnsupportedError(
                f"ALTER CONNECTION does not support {type(change).__name__}",
                code="feature-not-supported",
            )
    if is_empty:
        raise SchemaError("a connection requires options", code="invalid-statement")
    return replace(old, options=changed)


def drop_connection(session: Session, statement: statement_syntax.Drop) -> None:
    """Drop a connection.

    Codes, without IF EXISTS: `connection-not-found`.
    """
    connections = session.connections
    if statement.system:
        connections.system.drop(_system_name(statement.path), statement.if_exists)
        return
    path = session.identifier(statement.path)
    drop = connections.temporary.drop if statement.temporary else connections.drop
    drop(path, statement.if_exists)


# --- SHOW and DESCRIBE -----------------------------------------------------------------------


def connection_names(session: Session, statement: statement_syntax.Show) -> list[str]:
    """Return the connections of a database."""
    return session.connections.names(*session.database(statement.path))


def _find_connection(session: Session, path: Name) -> tuple[CatalogConnection, str, str]:
    """Return the connection of a name, its path in SQL, and its kind as keywords."""
    if len(path.parts) == 1:
        system = session.connections.system.find(path.parts[0])
        if system is not None:
            return system, quote_identifier(path.parts[0]), "TEMPORARY SYSTEM "
    identifier = session.identifier(path)
    kind = "TEMPORARY " if identifier in session.connections.temporary else ""
    parts = ".".join(map(quote_identifier, identifier.to_list()))
    return session.connections.get(identifier), parts, kind


def describe_connection(session: Session, statement: statement_syntax.Describe) -> TableResult:
    """Return the name, type and comment of a connection, and its options if EXTENDED."""
    found, _, _ = _find_connection(session, statement.path)
    options = mask(found.options)
    rows = [
        ("name", statement.path.parts[-1]),
        ("type", options.get(TYPE)),
        ("comment", found.comment),
    ]
    if statement.extended:
        rows += [(f"option:{key}", options[key]) for key in sorted(options) if key != TYPE]
    return string_result(["info name", "info value"], rows)


def connection_statement(session: Session, path: Name) -> str:
    """Return the statement that creates a connection, with secrets masked."""
    found, shown, kind = _find_connection(session, path)
    options = mask(found.options)
    pairs = [f"  {quote_string(key)} = {quote_string(options[key])}" for key in sorted(options)]
    comment = [] if found.comment is None else [f"COMMENT {quote_string(found.comment)}"]
    lines = [f"CREATE {kind}CONNECTION {shown}", *comment, "WITH (", ",\n".join(pairs), ")"]
    return "\n".join(lines) + "\n"
