"""The statements of a script that define, change, rename or drop tables, or set the current schema.

`STATEMENTS` lists them by their first words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from schema_core.base.cursor import Cursor
from schema_core.base.lazy import regex
from schema_core.base.text import Span
from schema_core.errors import AlreadyExistsError, Gathering
from schema_core.mappings.dialects import grammar
from schema_core.mappings.dialects.control_flow import is_executed
from schema_core.mappings.dialects.grammar import path
from schema_core.mappings.dialects.script_definitions import ScriptDefinitions
from schema_core.mappings.dialects.table_alteration import alter_table
from schema_core.mappings.dialects.table_creation import create_table
from schema_core.mappings.dialects.table_definition import TableDefinition
from schema_core.mappings.dialects.table_elements import require_new_column

#: Words between CREATE and TABLE.
MODIFIERS = frozenset(
    {
        "OR", "REPLACE", "TEMP", "TEMPORARY", "GLOBAL", "LOCAL", "EXTERNAL", "UNLOGGED", "FOREIGN",
        "TRANSIENT", "VOLATILE", "HYBRID", "ICEBERG", "MANAGED", "SNAPSHOT", "DYNAMIC", "COLUMN",
        "INTERACTIVE", "PRIVATE", "IMMUTABLE", "BLOCKCHAIN", "SHARDED", "DUPLICATED", "STREAMING",
        "LIVE", "MEMORY", "CACHED", "REMOTE", "ROW", "READ", "ONLY", "REFRESH", "EDITIONABLE",
        "NONEDITIONABLE", "ALTER", "SCOPED",
    }
)  # fmt: skip


#: The table of a statement, and whether all of it was parsed.
Outcome: TypeAlias = tuple[TableDefinition | None, bool]


def _parse_create(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    engine, start = script.engine, cursor.tokens[cursor.index - 1]
    replaces, is_temporary = start.key == "REPLACE" or cursor.key == "OR", False
    while cursor.key in MODIFIERS:
        is_temporary = cursor.advance().key in {"TEMP", "TEMPORARY"} or is_temporary
    if cursor.accept("TABLE"):
        is_conditional = cursor.key == "IF"
        table = create_table(cursor, engine, start, script.find, script.types)
        table.path = script.full_path(table.path)
        is_temporary = is_temporary or table.path[-1].startswith("#")  # T-SQL
        table.dropped += [grammar.Dropped("TEMPORARY", start.start)] if is_temporary else []
        existing = script.last_named("path", table.path)
        if existing is not None and is_conditional:
            return existing, True  # the statement has no effect
        if existing is not None:
            if not replaces:
                raise _table_exists(cursor, table.path, table.span)
            script.remove(existing)
        script.add(table)
        return table, True
    if engine.name == "snowflake" and cursor.key in {"SCHEMA", "DATABASE"}:
        _set_home(cursor, script)
        for replaced in script.in_schema(script.home) if replaces else []:
            script.remove(replaced)
        return None, False
    if cursor.accept("SCHEMA"):
        _enter_schema(cursor, script)
        return None, False
    if cursor.accept("TYPE"):
        return None, grammar.create_type(cursor, engine, script.types)
    if cursor.accept("DOMAIN"):
        return None, grammar.create_domain(cursor, engine, script.types)
    return parse_owner(cursor, script), False


def _table_exists(cursor: Cursor, name: tuple[str, ...], span: Span) -> AlreadyExistsError:
    return AlreadyExistsError(
        f"the script has already created the table {'.'.join(name)!r}",
        code="table-exists",
        hint="read the dump of one database at a time",
        span=span,
        text=cursor.text,
    )


def _enter_schema(cursor: Cursor, script: ScriptDefinitions) -> None:
    """Parse ``CREATE SCHEMA s AUTHORIZATION x`` up to its elements, whose names are in it."""
    cursor.accept("IF", "NOT", "EXISTS")
    cursor.accept("AUTHORIZATION")
    home = path(cursor, script.engine) if cursor.token.kind in {"word", "name"} else ()
    grammar.skip_statement(cursor, ("CREATE",))
    if cursor.key == "CREATE":
        script.home, script.home_after_schema = home, script.home


def _parse_replace(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse ``REPLACE TABLE t (a int)`` of ClickHouse and Databricks; other forms replace rows."""
    is_definition = cursor.key in {"TABLE", "TEMPORARY"}
    return _parse_create(cursor, script) if is_definition else (None, False)


def _parse_attach(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse ``ATTACH TABLE t (a Int8)``, as ClickHouse stores its tables."""
    is_definition = script.engine.name == "clickhouse" and cursor.key == "TABLE"
    return _parse_create(cursor, script) if is_definition else (None, False)


def parse_owner(cursor: Cursor, script: ScriptDefinitions) -> TableDefinition | None:
    """Parse up to the table of an index, a trigger or a policy, and return the table."""
    grammar.skip_statement(cursor, ("ON", "AS"))
    if not cursor.accept("ON"):
        return None
    cursor.accept("ONLY")
    if cursor.token.kind not in {"word", "name"}:
        return None
    return script.find(path(cursor, script.engine))


def _parse_comment_on(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse ``COMMENT ON TABLE t IS 'string'`` or ``COMMENT ON COLUMN t.c IS 'string'``."""
    if cursor.accept("TABLE"):
        table = script.find(path(cursor, script.engine))
        if table is None or not cursor.accept("IS"):
            return table, False
        table.comment = None if cursor.accept("NULL") else cursor.string_literal()
        return table, True
    if not cursor.accept("COLUMN"):
        return None, False
    *home, name = path(cursor, script.engine)
    table = script.find(tuple(home)) if home else script.last_created()
    if table is None:
        return None, False
    if (commented := table.column(name)) is None:
        raise cursor.fail(
            f"COMMENT ON COLUMN: the table has no column {name!r}", code="unknown-column"
        )
    cursor.expect("IS")
    commented.comment = None if cursor.accept("NULL") else cursor.string_literal()
    return table, True


def _parse_alter(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse ALTER TABLE; undeclared tables are reported as losses."""
    is_conditional = cursor.accept("IF", "EXISTS")
    cursor.accept("ONLY")
    table = script.find(path(cursor, script.engine))
    cursor.accept("*")
    skip_wait(cursor)
    grammar.skip_cluster(cursor)
    if table is None:
        if is_conditional:
            grammar.skip_until(cursor, (";",))
        return None, is_conditional
    if script.engine.name == "snowflake" and cursor.accept("SWAP", "WITH"):
        return table, _exchange(script, table.path, path(cursor, script.engine))
    errors, before = Gathering(), table.path
    with errors.catching():
        alter_table(cursor, table)
    new, table.path = table.path, before
    with errors.catching():
        _rename(cursor, script, table, new)
    errors.raise_all()
    return table, True


def _rename(
    cursor: Cursor, script: ScriptDefinitions, table: TableDefinition, new: tuple[str, ...]
) -> None:
    """Change the path of a table.

    Raises:
        AlreadyExistsError: with code `table-exists`.
    """
    before = table.path
    if new == before:
        return
    if script.last_named("path", new) is not None:
        raise _table_exists(cursor, new, cursor.token.span)
    table.path = new
    script.rename_table(table, before)


def skip_wait(cursor: Cursor) -> None:
    """Skip how long MariaDB waits for a lock: ``WAIT 5`` or ``NOWAIT``."""
    if cursor.accept("WAIT"):
        cursor.advance()
    else:
        cursor.accept("NOWAIT")


def _parse_rename_tables(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse ``RENAME TABLE a TO b, c TO d`` of MySQL, ``RENAME TABLES a WAIT 5 TO b`` too."""
    is_complete = not cursor.accept("IF", "EXISTS")
    while True:
        table = script.find(path(cursor, script.engine))
        skip_wait(cursor)
        cursor.expect("TO")
        new = script.full_path(path(cursor, script.engine))
        if table is not None:
            _rename(cursor, script, table, new)
        is_complete = is_complete and table is not None
        grammar.skip_cluster(cursor)
        if not cursor.accept(","):
            return None, is_complete


def _parse_exchange(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse ``EXCHANGE TABLES a AND b, c AND d`` of ClickHouse."""
    is_complete = True
    while True:
        name = path(cursor, script.engine)
        cursor.expect("AND")
        is_complete = _exchange(script, name, path(cursor, script.engine)) and is_complete
        grammar.skip_cluster(cursor)
        if not cursor.accept(","):
            return None, is_complete


def _exchange(script: ScriptDefinitions, name: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Exchange the paths of two tables; return whether the script declares both."""
    tables = script.find(name), script.find(other)
    before, after = (
        script.full_path(missing) if table is None else table.path
        for table, missing in zip(tables, (name, other), strict=True)
    )
    for table, old, new in zip(tables, (before, after), (after, before), strict=True):
        if table is not None:
            table.path = new
            script.rename_table(table, old)
    return None not in tables


def _parse_rename_object(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse ``RENAME a TO b`` of Oracle."""
    return _parse_rename_tables(cursor, script) if script.engine.name == "oracle" else (None, False)


def _parse_drop_objects(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse DROP: tables, also of dropped schemas, leave the script.

    Other objects cannot be dropped together with parts of tables, except with CASCADE.
    """
    while cursor.key in MODIFIERS:
        cursor.advance()
    kind, index = cursor.advance().key, cursor.index
    removed, is_certain = 0, True
    if kind in {"TABLE", "SCHEMA", "DATABASE"}:
        cursor.accept("IF", "EXISTS")
        while cursor.token.kind in {"word", "name", "string"}:
            name = path(cursor, script.engine)
            if not is_executed(script, name[-1]):
                is_certain = False
                break
            table = script.find(name) if kind == "TABLE" else None
            dropped = script.in_schema(name) if kind != "TABLE" else [table] if table else []
            for definition in dropped:
                script.remove(definition)
            removed += len(dropped)
            if not cursor.accept(","):
                break
    grammar.skip_until(cursor, (";",))
    cascades = any(token.key == "CASCADE" for token in cursor.tokens[index : cursor.index])
    is_whole = kind in {"SCHEMA", "DATABASE"} or (kind == "TABLE" and not removed)
    return None, is_certain and (not cascades or is_whole)


def _set_home(cursor: Cursor, script: ScriptDefinitions) -> None:
    """Parse the current schema or database of Snowflake, whose schema is PUBLIC."""
    is_database = cursor.accept("DATABASE") or not cursor.accept("SCHEMA")
    cursor.accept("IF", "NOT", "EXISTS")
    name = path(cursor, script.engine)
    if len(name) > 1:
        script.home = name
    elif is_database:
        script.home = (*name, "PUBLIC")
    else:
        script.home = (*script.home[:-1], *name)


def _parse_use(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse ``USE [SCHEMA] name``; a catalog is a loss."""
    is_setting = cursor.key in {"ROLE", "WAREHOUSE", "SECONDARY"}
    if script.engine.name == "snowflake" and not is_setting:
        _set_home(cursor, script)
        return None, True
    kind = cursor.advance().key if cursor.peek().kind in {"word", "name"} else ""
    if kind in {"", "SCHEMA", "NAMESPACE", "DATABASE"}:
        script.home = path(cursor, script.engine)
        return None, True
    if kind == "CATALOG":
        script.home = ()
    return None, False


def _parse_setting(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse ``SET search_path = a, b`` of PostgreSQL; other settings are skipped."""
    if not cursor.accept("SESSION"):
        cursor.accept("LOCAL")
    if script.engine.name in {"postgres", "redshift"} and cursor.accept("SEARCH_PATH"):
        cursor.advance()  # = or TO
        names = []
        while cursor.token.kind in {"word", "name", "string"}:
            token = cursor.advance()
            names.append(script.engine.fold_case(token.value, quoted=token.kind != "word"))
            cursor.accept(",")
        databases = [name for name in names if name not in {"", "$user", "default"}]
        script.home = tuple(databases[:1])
    grammar.skip_until(cursor, (";",))
    return None, True


def _parse_session(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse Oracle's ``ALTER SESSION SET CURRENT_SCHEMA = s``; other settings are skipped."""
    if cursor.accept("SET", "CURRENT_SCHEMA", "="):
        script.home = path(cursor, script.engine)
    grammar.skip_statement(cursor)
    return None, True


#: T-SQL's procedures that change tables -> their arguments, in their order.
PROCEDURES = {
    "SP_ADDEXTENDEDPROPERTY": (
        "NAME", "VALUE", "LEVEL0TYPE", "LEVEL0NAME", "LEVEL1TYPE", "LEVEL1NAME", "LEVEL2TYPE",
        "LEVEL2NAME",
    ),
    "SP_RENAME": ("OBJNAME", "NEWNAME", "OBJTYPE"),
}  # fmt: skip


def _parse_execute(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse ``EXEC sys.sp_rename 'dbo.t', 'u'``, ``EXEC @result = sp_rename ...`` of T-SQL."""
    if cursor.follows("@") and cursor.peek(2).key == "=":
        cursor.index += 3
    while cursor.peek().key == ".":  # a schema, or a database whose schema is omitted
        cursor.advance()
        while cursor.accept("."):
            pass
    name = cursor.token.value.upper()
    if name not in PROCEDURES or script.engine.name != "tsql":
        return None, False
    cursor.advance()
    return _call(cursor, script, name)


def _parse_call(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse a call without EXEC, as the first statement of a batch can be."""
    if script.engine.name != "tsql":
        return None, False
    return _call(cursor, script, cursor.tokens[cursor.index - 1].key)


def _call(cursor: Cursor, script: ScriptDefinitions, procedure: str) -> Outcome:
    """Parse the arguments of a procedure, which are literals, and apply it."""
    arguments: dict[str, str] = {}
    names = iter(PROCEDURES[procedure])
    while cursor.token.kind != "end" and cursor.key != ";":
        name = next(names, "")
        if cursor.follows("@") and cursor.peek(2).key == "=":
            cursor.advance()
            name = cursor.advance().key
            cursor.expect("=")
        if cursor.token.kind == "symbol":
            return None, False
        arguments[name] = "" if cursor.key == "NULL" else cursor.token.value
        cursor.advance()
        if not cursor.accept(","):
            break
    if procedure == "SP_RENAME":
        return _rename_object(cursor, script, arguments)
    return _add_comment(script, arguments)


def _rename_object(cursor: Cursor, script: ScriptDefinitions, arguments: dict[str, str]) -> Outcome:
    """Rename a table or a column, whose new name is not parsed; other objects are losses."""
    name, new = split_name(arguments.get("OBJNAME", "")), arguments.get("NEWNAME", "")
    kind = arguments.get("OBJTYPE", "").upper()
    if not name or not new or kind not in {"", "OBJECT", "COLUMN"}:
        return (script.find(name[:-1]) if len(name) > 1 else None), False
    if kind != "COLUMN" and (table := script.find(name)) is not None:
        _rename(cursor, script, table, (*table.path[:-1], new))
        return table, True
    table = script.find(name[:-1]) if len(name) > 1 and kind != "OBJECT" else None
    renamed = None if table is None else table.column(name[-1])
    if table is None or renamed is None:
        return table, False
    require_new_column(cursor, table, new, cursor.token.span, renamed)
    table.rename_column(renamed, new)
    return table, True


#: A part of a name in a string: ``[a]``, ``"a"`` or ``a``.
_NAME_PART = regex(r'\[((?:[^\]]|\]\])*)\]|"((?:[^"]|"")*)"|([^.\[\]"]*)')


def split_name(text: str) -> tuple[str, ...]:
    """Return the parts of a name of T-SQL in a string; none if it is malformed.

    >>> split_name("shop..[my.table].a")
    ('shop', 'dbo', 'my.table', 'a')
    """
    parts, position = [], 0
    while (match := _NAME_PART.match(text, position)) is not None:
        bracketed, quoted, plain = match.groups()
        if bracketed is not None:
            parts.append(bracketed.replace("]]", "]"))
        else:
            parts.append(quoted.replace('""', '"') if quoted is not None else plain or "dbo")
        if match.end() == len(text):
            return tuple(parts) if text else ()
        if text[match.end()] != ".":
            return ()
        position = match.end() + 1
    return ()


def _add_comment(script: ScriptDefinitions, arguments: dict[str, str]) -> Outcome:
    """Set the comment of a table or a column; other properties are losses."""
    kinds = [arguments.get(f"LEVEL{level}TYPE", "").upper() for level in (1, 2)]
    if arguments.get("NAME") != "MS_Description" or kinds[0] != "TABLE":
        return None, False
    table = script.find((arguments.get("LEVEL0NAME", ""), arguments.get("LEVEL1NAME", "")))
    if table is None or kinds[1] not in {"", "COLUMN"}:
        return table, False
    if kinds[1] != "COLUMN":
        table.comment = arguments.get("VALUE")
        return table, True
    commented = table.column(arguments.get("LEVEL2NAME", ""))
    if commented is not None:
        commented.comment = arguments.get("VALUE")
    return table, commented is not None


def _parse_conditional(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse T-SQL's ``IF NOT EXISTS (...) CREATE TABLE ...`` as if the condition were true.

    A condition alone holds for the statement on the next line. A DROP must be certain.
    """
    start = cursor.index
    grammar.skip_statement(cursor, ("CREATE", "DROP", "ALTER", "BEGIN", "EXEC", "EXECUTE"))
    script.condition = () if script.blocks else tuple(cursor.tokens[start : cursor.index])
    is_open = cursor.key == "BEGIN" or cursor.tokens[cursor.index - 1].key == "THEN"
    script.blocks += is_open
    for words, read in STATEMENTS.items():
        if words[0] in {"CREATE", "DROP", "ALTER", "EXEC", "EXECUTE"} and cursor.accept(*words):
            outcome = read(cursor, script)
            if not is_open:
                script.condition = () if script.blocks else None
            return outcome
    is_complete = cursor.accept("BEGIN") or cursor.token.kind == "end"
    return None, script.engine.name == "tsql" and is_complete


STATEMENTS: dict[tuple[str, ...], Callable[[Cursor, ScriptDefinitions], Outcome]] = {
    ("CREATE",):         _parse_create,
    ("ATTACH",):         _parse_attach,
    ("REPLACE",):        _parse_replace,
    ("COMMENT", "ON"):   _parse_comment_on,
    ("ALTER", "TABLE"):  _parse_alter,
    **{
        ("ALTER", *modifiers, "TABLE"): _parse_alter
        for modifiers in (
            ("IGNORE",), ("ONLINE",), ("ONLINE", "IGNORE"), ("FOREIGN",), ("EXTERNAL",),
            ("ICEBERG",), ("DYNAMIC",), ("STREAMING",),
        )
    },
    ("RENAME", "TABLE"): _parse_rename_tables,
    ("RENAME", "TABLES"): _parse_rename_tables,
    ("RENAME",): _parse_rename_object,
    ("DROP",):           _parse_drop_objects,
    ("USE",):            _parse_use,
    ("SET",):            _parse_setting,
    ("ALTER", "SESSION"): _parse_session,
    ("IF",):             _parse_conditional,
    ("EXEC",):           _parse_execute,
    ("EXECUTE",):        _parse_execute,
    **{(name,): _parse_call for name in PROCEDURES},
    ("EXCHANGE", "TABLES"): _parse_exchange,
}  # fmt: skip
