"""Grammar of CREATE, ALTER and DROP, and clauses that statements share.

It is Flink 2.3's (Flink documentation, "CREATE Statements", "ALTER Statements", "DROP
Statements").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace
from typing import TypeVar

from schema_core.base.lazy import dataclass
from schema_core.errors import ParseError
from schema_core.sql import literals, syntax
from schema_core.sql import statement_syntax as nodes
from schema_core.sql.expression import QueryCursor, expression, path_name, simple_name
from schema_core.sql.query import query
from schema_core.sql.tokens import can_name, identifier, integer, parse_separated, refuse, string
from schema_core.sql.type_name import type_name

T = TypeVar("T")


def parse_list(cursor: QueryCursor, parse_item: Callable[[QueryCursor], T]) -> tuple[T, ...]:
    """Parse items in parentheses, separated by commas."""
    cursor.expect("(")
    items = parse_separated(cursor, parse_item)
    if cursor.key != ")":
        raise refuse(cursor, "',' or ')'")
    cursor.index += 1
    return items


def parse_list_or_none(
    cursor: QueryCursor, parse_item: Callable[[QueryCursor], T]
) -> tuple[T, ...]:
    """Parse a list as `parse_list` does, or empty parentheses."""
    return () if cursor.accept("(", ")") else parse_list(cursor, parse_item)


def option(cursor: QueryCursor) -> nodes.Option:
    """Parse ``'key' = 'value'``."""
    start = cursor.token.start
    key = literals.string_in_pieces(cursor)
    _require_complete(cursor, cursor.key == "=", "'='")
    cursor.expect("=")
    value = literals.string_in_pieces(cursor)
    _require_complete(cursor, cursor.key != "=", "',' or ')'")
    return nodes.Option(key, value, cursor.span_from(start))


def _require_complete(cursor: QueryCursor, is_complete: bool, expected: str) -> None:
    """Require the expected symbol: the last piece of the string may follow a missing one."""
    last, before = cursor.tokens[cursor.index - 1], cursor.tokens[cursor.index - 2]
    if not is_complete and last.kind == "string" and before.kind in literals.STRINGS:
        cursor.index -= 1
        raise refuse(cursor, expected)


def options(cursor: QueryCursor) -> tuple[nodes.Option, ...]:
    """Parse ``('key' = 'value', ...)`` or empty parentheses."""
    return parse_list_or_none(cursor, option)


def with_options(cursor: QueryCursor) -> tuple[nodes.Option, ...]:
    """Parse ``WITH (...)`` if present."""
    return options(cursor) if cursor.accept("WITH") else ()


def comment(cursor: QueryCursor) -> str | None:
    """Parse ``COMMENT 'text'`` if present."""
    return string(cursor) if cursor.accept("COMMENT") else None


#: Literals that cannot be values of partition keys.
UNFIT_FOR_PARTITIONS = frozenset(
    {
        syntax.LiteralKind.NULL,
        syntax.LiteralKind.DATE,
        syntax.LiteralKind.TIME,
        syntax.LiteralKind.TIMESTAMP,
    }
)


def partition(cursor: QueryCursor, *, keys_allowed: bool = False) -> nodes.Partition:
    """Parse ``PARTITION (key = value, ...)``; with `keys_allowed` values are optional."""

    def parse_value(cursor: QueryCursor) -> tuple[str, str | None]:
        key = identifier(cursor)
        if keys_allowed and cursor.key != "=":
            return key, None
        cursor.expect("=")
        place = cursor.token
        value = expression(cursor)
        if not isinstance(value, syntax.Literal) or value.kind in UNFIT_FOR_PARTITIONS:
            raise cursor.fail(
                "the value of a partition key must be a number, string or BOOLEAN literal, found "
                f"{cursor.show(place)}",
                span=place.span,
            )
        return key, value.text

    start = cursor.expect("PARTITION").start
    return nodes.Partition(parse_list(cursor, parse_value), span=cursor.span_from(start))


def interval(cursor: QueryCursor) -> syntax.Interval:
    """Parse an interval literal."""
    token = cursor.token
    value = expression(cursor)
    if not isinstance(value, syntax.Interval):
        raise cursor.fail(f"expected an INTERVAL, found {cursor.show(token)}", span=token.span)
    return value


def one_of(cursor: QueryCursor, *words: str) -> str:
    """Parse one of the keywords."""
    if cursor.key not in words:
        raise refuse(cursor, " or ".join(words))
    return cursor.advance().key


def from_or_in(cursor: QueryCursor) -> tuple[str | None, syntax.Name | None]:
    """Parse ``FROM path`` or ``IN path`` if present; return keyword and path."""
    for word in ("FROM", "IN"):
        if cursor.accept(word):
            return word, path_name(cursor)
    return None, None


# --- columns, constraints and LIKE ----------------------------------------------------------------


#: Features of a LIKE clause.
FEATURES = (
    "ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS",
    "WATERMARKS",
)  # fmt: skip

STRATEGIES = ("INCLUDING", "EXCLUDING", "OVERWRITING")


@dataclass(slots=True)
class ParsedElements:
    """Table elements in the order parsed."""

    columns: list[nodes.PlacedColumn] = field(default_factory=list)
    names: list[syntax.Name] = field(default_factory=list)
    watermark: nodes.Watermark | None = None
    constraints: list[nodes.Constraint] = field(default_factory=list)


def elements(cursor: QueryCursor) -> nodes.Elements:
    """Parse ``(columns, watermark, constraints)``, or only names for CREATE TABLE AS."""
    start = cursor.token.start
    parsed = ParsedElements()
    parse_list(cursor, lambda inner: _element(inner, parsed, names_allowed=True))
    if parsed.names and (parsed.columns or parsed.watermark or parsed.constraints):
        raise cursor.fail(
            "columns with and without types cannot be mixed",
            span=parsed.names[0].span,
            hint="declare all types, or none in CREATE TABLE ... AS SELECT",
        )
    return nodes.Elements(
        tuple(placed.column for placed in parsed.columns),
        tuple(parsed.names),
        parsed.watermark,
        tuple(parsed.constraints),
        cursor.span_from(start),
    )


def columns(cursor: QueryCursor) -> tuple[nodes.Column, ...]:
    """Parse INPUT or OUTPUT columns of a model; other elements have no effect."""
    parsed = ParsedElements()
    parse_list(cursor, lambda inner: _element(inner, parsed))
    return tuple(placed.column for placed in parsed.columns)


def _element(
    cursor: QueryCursor,
    parsed: ParsedElements,
    *,
    placed: bool = False,
    names_allowed: bool = False,
) -> None:
    token = cursor.token
    if token.key == "WATERMARK":
        if parsed.watermark is not None:
            raise cursor.fail("a table can have only one watermark", code="already-declared")
        cursor.expect("WATERMARK", "FOR")
        timed = path_name(cursor)
        cursor.expect("AS")
        value = _row_expression(cursor)
        parsed.watermark = nodes.Watermark(timed, value, cursor.span_from(token.start))
    elif token.key in ("CONSTRAINT", "PRIMARY", "UNIQUE"):
        parsed.constraints.append(_constraint(cursor))
    elif names_allowed and can_name(token) and cursor.peek().key in _ENDS:
        parsed.names.append(simple_name(cursor))
    else:
        name = path_name(cursor)
        column = _column(cursor, name, parsed)
        first = placed and cursor.accept("FIRST")
        after = path_name(cursor) if placed and not first and cursor.accept("AFTER") else None
        parsed.columns.append(nodes.PlacedColumn(column, name, first, after))


def _row_expression(cursor: QueryCursor) -> syntax.Expression:
    """Parse an expression without subqueries (`feature-not-supported`)."""
    start = cursor.index
    node = expression(cursor)
    for token in cursor.tokens[start : cursor.index]:
        if token.kind == "reserved" and token.key in ("SELECT", "VALUES", "TABLE"):
            raise cursor.fail(
                "a column or watermark cannot be computed by a query",
                code="feature-not-supported",
                span=token.span,
            )
    return node


# ------------------------------------------------------------------------------------- columns


_ENDS = frozenset({",", ")"})


def _column(cursor: QueryCursor, name: syntax.Name, parsed: ParsedElements) -> nodes.Column:
    """Parse a column after its name; its constraint becomes one of the table."""
    start, label = name.span.start, name.parts[-1]
    if cursor.accept("AS"):
        value = _row_expression(cursor)
        comment_ = comment(cursor)
        return nodes.ComputedColumn(label, value, comment_, cursor.span_from(start))
    type_ = type_name(cursor)
    if cursor.key in _ENDS:
        return nodes.PhysicalColumn(label, type_, None, cursor.span_from(start))
    if cursor.accept("METADATA"):
        key = string(cursor) if cursor.accept("FROM") else None
        virtual = cursor.accept("VIRTUAL")
        comment_ = comment(cursor)
        return nodes.MetadataColumn(label, type_, key, virtual, comment_, cursor.span_from(start))
    if cursor.key in ("CONSTRAINT", "PRIMARY", "UNIQUE"):
        parsed.constraints.append(_constraint(cursor, (name,)))
    comment_ = comment(cursor)
    return nodes.PhysicalColumn(label, type_, comment_, cursor.span_from(start))


# --------------------------------------------------------------------------------- constraints


def _constraint(
    cursor: QueryCursor, of_column: tuple[syntax.Name, ...] | None = None
) -> nodes.Constraint:
    """Parse a constraint with its columns, or of one column."""
    start = cursor.token.start
    name = identifier(cursor) if cursor.accept("CONSTRAINT") else None
    kind = one_of(cursor, "PRIMARY", "UNIQUE")
    if kind == "PRIMARY":
        cursor.expect("KEY")
        kind = "PRIMARY KEY"
    key = parse_list(cursor, simple_name) if of_column is None else of_column
    enforced = None
    if cursor.accept("NOT"):
        cursor.expect("ENFORCED")
        enforced = False
    elif cursor.accept("ENFORCED"):
        enforced = True
    return nodes.Constraint(kind, key, name, enforced, cursor.span_from(start))


# --------------------------------------------------------------------------- distributed, and LIKE


def distribution(cursor: QueryCursor) -> nodes.Distribution:
    """Parse ``BY [HASH | RANGE] (columns) [INTO n BUCKETS]`` or ``INTO n BUCKETS``."""
    start = cursor.token.start
    if cursor.accept("INTO"):
        return nodes.Distribution(buckets=_buckets(cursor), span=cursor.span_from(start))
    cursor.expect("BY")
    kind = "UNKNOWN" if cursor.key == "(" else one_of(cursor, "HASH", "RANGE")
    keys = parse_list(cursor, simple_name)
    buckets = _buckets(cursor) if cursor.accept("INTO") else None
    return nodes.Distribution(kind, keys, buckets, cursor.span_from(start))


def _buckets(cursor: QueryCursor) -> int:
    count = integer(cursor)
    cursor.expect("BUCKETS")
    return count


def like(cursor: QueryCursor) -> nodes.Like:
    """Parse the source and options after LIKE."""
    start = cursor.token.start
    source = path_name(cursor)
    features: list[nodes.LikeOption] = []
    if cursor.accept("("):
        while not features or not cursor.accept(")"):
            place = cursor.token.start
            if cursor.key not in STRATEGIES:
                raise refuse(cursor, "INCLUDING, EXCLUDING or OVERWRITING")
            strategy = cursor.advance().key
            if cursor.key not in FEATURES:
                raise refuse(cursor, f"a feature after {strategy}")
            feature = cursor.advance().key
            features.append(nodes.LikeOption(strategy, feature, cursor.span_from(place)))
    return nodes.Like(source, tuple(features), cursor.span_from(start))


# --- rules beyond the grammar ---------------------------------------------------------------------


#: Features whose parts have names, so that OVERWRITING can replace one.
OVERWRITABLE = frozenset({"GENERATED", "METADATA", "OPTIONS", "WATERMARKS"})


def check_constraints(constraints: Iterable[nodes.Constraint]) -> None:
    """Require at most one primary key, NOT ENFORCED, and no other constraint.

    Raises:
        ParseError: `already-declared`, `feature-not-supported` or `invalid-constraint`.
    """
    for place, constraint in enumerate(constraints):
        if constraint.kind == "UNIQUE":
            raise ParseError(
                "Flink does not support UNIQUE constraints",
                code="feature-not-supported",
                hint="use a PRIMARY KEY",
                span=constraint.span,
            )
        if constraint.enforced is not False:
            raise ParseError(
                "Flink does not enforce primary keys",
                code="invalid-constraint",
                hint="add NOT ENFORCED",
                span=constraint.span,
            )
        if place:
            problem = "a table can have only one primary key"
            raise ParseError(problem, code="already-declared", span=constraint.span)


def check_like(like: nodes.Like) -> None:
    """Require each feature once, and OVERWRITING only where it applies (`invalid-statement`)."""
    seen: set[str] = set()
    for option in like.options:
        if option.feature in seen:
            problem = f"duplicate LIKE option for {option.feature}"
            raise ParseError(problem, code="invalid-statement", span=option.span)
        if option.strategy == "OVERWRITING" and option.feature not in OVERWRITABLE:
            problem = f"OVERWRITING does not apply to {option.feature}"
            hint = f"OVERWRITING applies to {', '.join(sorted(OVERWRITABLE))}"
            raise ParseError(problem, code="invalid-statement", hint=hint, span=option.span)
        seen.add(option.feature)


def check_table(table: nodes.CreateTable) -> None:
    """Refuse clauses of CREATE TABLE that exclude each other, with the code of the rule."""
    check_constraints(table.elements.constraints)
    if table.like is not None:
        check_like(table.like)
    if table.query is None and table.elements.names:
        name = table.elements.names[0]
        raise ParseError(
            f"column {name.parts[0]!r} has no type",
            code="invalid-statement",
            hint="declare a type: types are optional only in CREATE TABLE ... AS SELECT",
            span=name.span,
        )
    if table.query is not None and table.temporary:
        raise ParseError(
            "CREATE TABLE ... AS SELECT cannot create a temporary table",
            code="feature-not-supported",
            hint="use a temporary view",
            span=table.path.span,
        )
    if table.query is not None and table.or_replace and table.if_not_exists:
        problem = "OR REPLACE and IF NOT EXISTS are mutually exclusive"
        raise ParseError(problem, code="invalid-statement", span=table.path.span)


# --- CREATE and DROP ------------------------------------------------------------------------------


LANGUAGES = ("JAVA", "SCALA", "SQL", "PYTHON")

#: Languages of functions without resources.
NOT_IN_JARS = ("SQL", "PYTHON")

RESOURCES = ("JAR", "ARTIFACT")

#: Start modes of a materialized table: FROM_TIMESTAMP requires a timestamp in parentheses, FROM_NOW
#: accepts an interval.
START_MODES = (
    "FROM_BEGINNING", "FROM_NOW", "FROM_TIMESTAMP", "RESUME_OR_FROM_BEGINNING",
    "RESUME_OR_FROM_NOW", "RESUME_OR_FROM_TIMESTAMP",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CreateModifiers:
    """The keywords around the kind of object."""

    start: int
    temporary: bool = False
    system: bool = False
    or_replace: bool = False
    or_alter: bool = False
    if_not_exists: bool = False


def create(cursor: QueryCursor) -> nodes.Statement:
    """Parse a CREATE statement."""
    start = cursor.expect("CREATE").start
    or_replace = cursor.accept("OR", "REPLACE")
    or_alter = not or_replace and cursor.accept("OR", "ALTER")
    temporary = cursor.accept("TEMPORARY")
    system = cursor.accept("SYSTEM")
    creation, is_materialized = CREATIONS.get(cursor.key), cursor.key == "MATERIALIZED"
    if (
        creation is None
        or (or_alter and not is_materialized)
        or (is_materialized and (temporary or or_replace))
        or (system and not (cursor.key in OF_SYSTEM and temporary))
    ):
        raise refuse(cursor, "what to create")
    cursor.advance()
    if_not_exists = not is_materialized and cursor.accept("IF", "NOT", "EXISTS")
    modifiers = CreateModifiers(start, temporary, system, or_replace, or_alter, if_not_exists)
    return creation(cursor, modifiers)


#: Kinds that SYSTEM applies to, if TEMPORARY precedes it.
OF_SYSTEM = ("FUNCTION", "CONNECTION")


def replace_table(cursor: QueryCursor) -> nodes.Statement:
    """Parse ``REPLACE TABLE ... AS query``."""
    start = cursor.expect("REPLACE").start
    cursor.expect("TABLE")
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    modifiers = CreateModifiers(start, or_replace=True, if_not_exists=if_not_exists)
    table = _table(cursor, modifiers, create=False)
    if table.query is None:
        raise refuse(cursor, "AS and a query")
    return table


# --------------------------------------------------------------------------------------- tables


def _table(
    cursor: QueryCursor, modifiers: CreateModifiers, *, create: bool = True
) -> nodes.CreateTable:
    table = nodes.CreateTable(
        path=path_name(cursor),
        elements=elements(cursor) if cursor.key == "(" else nodes.Elements(),
        comment=comment(cursor),
        distribution=distribution(cursor) if cursor.accept("DISTRIBUTED") else None,
        partition_keys=parse_list(cursor, simple_name)
        if cursor.accept("PARTITIONED", "BY")
        else (),
        options=with_options(cursor),
        like=like(cursor) if cursor.accept("LIKE") else None,
        query=query(cursor) if cursor.accept("AS") else None,
        temporary=modifiers.temporary,
        if_not_exists=modifiers.if_not_exists,
        or_replace=modifiers.or_replace,
        create=create,
        span=cursor.span_from(modifiers.start),
    )
    if table.like is not None and table.query is not None:
        raise cursor.fail("LIKE and AS are mutually exclusive", span=table.like.span)
    check_table(table)
    return table


def _materialized_table(cursor: QueryCursor, modifiers: CreateModifiers) -> nodes.Statement:
    cursor.expect("TABLE")
    path = path_name(cursor)
    inner = elements(cursor) if cursor.key == "(" else nodes.Elements()
    comment_ = comment(cursor)
    distributed = distribution(cursor) if cursor.accept("DISTRIBUTED") else None
    keys = parse_list(cursor, simple_name) if cursor.accept("PARTITIONED", "BY") else ()
    options = with_options(cursor)
    start_mode = _start_mode(cursor) if cursor.accept("START_MODE", "=") else None
    freshness = interval(cursor) if cursor.accept("FRESHNESS", "=") else None
    mode = one_of(cursor, "FULL", "CONTINUOUS") if cursor.accept("REFRESH_MODE", "=") else None
    cursor.expect("AS")
    check_constraints(inner.constraints)
    return nodes.CreateMaterializedTable(
        path, query(cursor), inner, comment_, distributed, keys, options, freshness, mode,
        start_mode, modifiers.or_alter, cursor.span_from(modifiers.start),
    )  # fmt: skip


def _start_mode(cursor: QueryCursor) -> syntax.Call:
    start, name = cursor.token.start, one_of(cursor, *START_MODES)
    argument: tuple[syntax.Expression, ...] = ()
    if name.endswith("FROM_TIMESTAMP"):
        cursor.expect("(")
        token = cursor.token
        timestamp = expression(cursor) if token.key == "TIMESTAMP" else None
        if not isinstance(timestamp, syntax.Literal):
            raise cursor.fail(f"expected a TIMESTAMP, found {token.display}", span=token.span)
        argument = (timestamp,)
        cursor.expect(")")
    elif name.endswith("FROM_NOW") and cursor.accept("("):
        argument = (interval(cursor),)
        cursor.expect(")")
    return syntax.Call(name, argument, span=cursor.span_from(start))


def _view(cursor: QueryCursor, modifiers: CreateModifiers) -> nodes.Statement:
    path = path_name(cursor)
    names = parse_list(cursor, simple_name) if cursor.key == "(" else ()
    comment_ = comment(cursor)
    cursor.expect("AS")
    return nodes.CreateView(
        path, query(cursor), names, comment_, (), modifiers.temporary, modifiers.if_not_exists,
        modifiers.or_replace, cursor.span_from(modifiers.start),
    )  # fmt: skip


# ------------------------------------------------------------------------------ everything else


def _catalog(cursor: QueryCursor, modifiers: CreateModifiers) -> nodes.Statement:
    path, comment_, options = simple_name(cursor), comment(cursor), with_options(cursor)
    span = cursor.span_from(modifiers.start)
    return nodes.CreateCatalog(path, comment_, options, modifiers.if_not_exists, span)


def _database(cursor: QueryCursor, modifiers: CreateModifiers) -> nodes.Statement:
    path, comment_, options = path_name(cursor), comment(cursor), with_options(cursor)
    span = cursor.span_from(modifiers.start)
    return nodes.CreateDatabase(path, comment_, options, modifiers.if_not_exists, span)


def _function(cursor: QueryCursor, modifiers: CreateModifiers) -> nodes.Statement:
    path = simple_name(cursor) if modifiers.system else path_name(cursor)
    cursor.expect("AS")
    class_name = string(cursor)
    language = one_of(cursor, *LANGUAGES) if cursor.accept("LANGUAGE") else None
    place = cursor.token
    resources = parse_separated(cursor, _resource) if cursor.accept("USING") else ()
    if resources and language in NOT_IN_JARS:
        raise cursor.fail(f"USING is not valid for a function in {language}", span=place.span)
    return nodes.CreateFunction(
        path, class_name, language, resources, with_options(cursor), modifiers.temporary,
        modifiers.system, modifiers.if_not_exists, cursor.span_from(modifiers.start),
    )  # fmt: skip


def _resource(cursor: QueryCursor) -> nodes.Resource:
    start = cursor.token.start
    kind = one_of(cursor, *RESOURCES)
    return nodes.Resource(kind, string(cursor), cursor.span_from(start))


def _model(cursor: QueryCursor, modifiers: CreateModifiers) -> nodes.Statement:
    model = nodes.CreateModel(
        path=path_name(cursor),
        input=columns(cursor) if cursor.accept("INPUT") else (),
        output=columns(cursor) if cursor.accept("OUTPUT") else (),
        comment=comment(cursor),
        options=with_options(cursor),
        query=query(cursor) if cursor.accept("AS") else None,
        temporary=modifiers.temporary,
        if_not_exists=modifiers.if_not_exists,
        span=cursor.span_from(modifiers.start),
    )
    if bool(model.input) != bool(model.output):
        problem = "INPUT and OUTPUT must be declared together"
        raise ParseError(problem, code="invalid-statement", span=model.path.span)
    return model


def _connection(cursor: QueryCursor, modifiers: CreateModifiers) -> nodes.Statement:
    path, comment_ = path_name(cursor), comment(cursor)
    cursor.expect("WITH")
    place = cursor.token
    own_options = options(cursor)
    if not own_options:
        raise cursor.fail(
            "a connection requires options", code="invalid-statement", span=place.span
        )
    return nodes.CreateConnection(
        path, comment_, own_options, modifiers.temporary, modifiers.system,
        modifiers.if_not_exists, modifiers.or_replace, cursor.span_from(modifiers.start),
    )  # fmt: skip


#: Keyword after CREATE -> parser of the rest.
CREATIONS: dict[str, Callable[[QueryCursor, CreateModifiers], nodes.Statement]] = {
    "TABLE":        _table,
    "MATERIALIZED": _materialized_table,
    "VIEW":         _view,
    "CATALOG":      _catalog,
    "DATABASE":     _database,
    "FUNCTION":     _function,
    "MODEL":        _model,
    "CONNECTION":   _connection,
}  # fmt: skip


# ----------------------------------------------------------------------------------------- DROP


def kind_of(cursor: QueryCursor) -> nodes.ObjectKind:
    """Parse the keywords of a kind of object."""
    for kind in nodes.ObjectKind:
        if cursor.accept(*kind.value.split()):
            return kind
    raise refuse(cursor, "a kind of object")


def drop(cursor: QueryCursor) -> nodes.Statement:
    """Parse a DROP statement."""
    start = cursor.expect("DROP").start
    temporary = cursor.accept("TEMPORARY")
    system = cursor.accept("SYSTEM")
    place = cursor.token
    kind = kind_of(cursor)
    if temporary and kind == nodes.ObjectKind.MATERIALIZED_TABLE:
        raise cursor.fail("a materialized table cannot be temporary", span=place.span)
    if system and kind.value not in OF_SYSTEM:
        raise cursor.fail("SYSTEM applies only to functions and connections", span=place.span)
    if system and kind == nodes.ObjectKind.CONNECTION and not temporary:
        raise cursor.fail(
            "a system connection must be temporary",
            span=place.span,
            hint="write TEMPORARY SYSTEM CONNECTION",
        )
    if_exists = cursor.accept("IF", "EXISTS")
    path = path_name(cursor)
    cascade = False
    if kind == nodes.ObjectKind.DATABASE:
        cascade = cursor.accept("CASCADE")
        if not cascade:
            cursor.accept("RESTRICT")
    return nodes.Drop(kind, path, temporary, system, if_exists, cascade, cursor.span_from(start))


# --- ALTER ----------------------------------------------------------------------------------------


def alter(cursor: QueryCursor) -> nodes.Statement:
    """Parse an ALTER statement."""
    start = cursor.expect("ALTER").start
    if cursor.key in ("TEMPORARY", "FUNCTION"):
        return _alter_function(cursor, start)
    kind = kind_of(cursor)
    if_exists = kind in CONDITIONAL and cursor.accept("IF", "EXISTS")
    path = simple_name(cursor) if kind == nodes.ObjectKind.CATALOG else path_name(cursor)
    change = CHANGES[kind].get(cursor.key)
    if change is None:
        raise refuse(cursor, f"a change of a {kind.value.lower()}")
    cursor.advance()
    return nodes.Alter(kind, path, change(cursor), if_exists, cursor.span_from(start))


def comment_on(cursor: QueryCursor) -> nodes.Statement:
    """Parse ``COMMENT ON TABLE path IS 'text'`` or ``COMMENT ON COLUMN path.column IS NULL``.

    Flink does not have the statement; it is that of PostgreSQL and Spark.
    """
    start = cursor.expect("COMMENT", "ON").start
    kind = one_of(cursor, "TABLE", "COLUMN")
    path = path_name(cursor)
    if kind == "COLUMN" and len(path.parts) < 2:
        raise refuse(cursor, "a dot and the name of a column")
    cursor.expect("IS")
    comment = None if cursor.accept("NULL") else string(cursor)
    change: nodes.Change = nodes.SetTableComment(comment)
    if kind == "COLUMN":
        change = nodes.SetColumnComment(replace(path, parts=path.parts[-1:]), comment)
        path = replace(path, parts=path.parts[:-1])
    return nodes.Alter(nodes.ObjectKind.TABLE, path, change, span=cursor.span_from(start))


#: Kinds of which ALTER has IF EXISTS.
CONDITIONAL = (nodes.ObjectKind.TABLE, nodes.ObjectKind.MODEL, nodes.ObjectKind.CONNECTION)


def _alter_function(cursor: QueryCursor, start: int) -> nodes.Statement:
    temporary = cursor.accept("TEMPORARY")
    system = temporary and cursor.accept("SYSTEM")
    cursor.expect("FUNCTION")
    if_exists = cursor.accept("IF", "EXISTS")
    path = path_name(cursor)
    cursor.expect("AS")
    class_name = string(cursor)
    language = one_of(cursor, *LANGUAGES) if cursor.accept("LANGUAGE") else None
    span = cursor.span_from(start)
    return nodes.AlterFunction(path, class_name, language, temporary, system, if_exists, span)


# ------------------------------------------------------------------------------------- changes


def _rename_to(cursor: QueryCursor) -> nodes.Change:
    cursor.expect("TO")
    return nodes.RenameTo(path_name(cursor))


def _rename(cursor: QueryCursor) -> nodes.Change:
    if cursor.key == "TO":
        return _rename_to(cursor)
    column = path_name(cursor)
    cursor.expect("TO")
    return nodes.RenameColumn(column, path_name(cursor))


def _set(cursor: QueryCursor) -> nodes.Change:
    return nodes.SetOptions(options(cursor))


def _reset(cursor: QueryCursor) -> nodes.Change:
    return nodes.ResetOptions(parse_list_or_none(cursor, literals.string_in_one_piece))


def _add(cursor: QueryCursor) -> nodes.Change:
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    if not if_not_exists and cursor.key != "PARTITION":
        return _change_elements(nodes.AddElements, cursor)
    partitions: list[nodes.Partition] = []
    while not partitions or cursor.key == "PARTITION":
        added = partition(cursor)
        partitions.append(replace(added, options=with_options(cursor)))
    return nodes.AddPartitions(tuple(partitions), if_not_exists)


def _modify(cursor: QueryCursor) -> nodes.Change:
    return _change_elements(nodes.ModifyElements, cursor)


def _change_elements(
    change: type[nodes.AddElements | nodes.ModifyElements], cursor: QueryCursor
) -> nodes.Change:
    if cursor.accept("DISTRIBUTION"):
        return change(distribution=distribution(cursor))
    parsed = ParsedElements()
    if cursor.key == "(":
        parse_list(cursor, lambda inner: _element(inner, parsed, placed=True))
    else:
        _element(cursor, parsed, placed=True)
    check_constraints(parsed.constraints)
    return change(tuple(parsed.columns), parsed.watermark, tuple(parsed.constraints))


def _drop(cursor: QueryCursor) -> nodes.Change:
    if_exists = cursor.accept("IF", "EXISTS")
    if if_exists or cursor.key == "PARTITION":
        return nodes.DropPartitions(parse_separated(cursor, partition), if_exists)
    if cursor.accept("PRIMARY", "KEY"):
        return nodes.DropPrimaryKey()
    if cursor.accept("CONSTRAINT"):
        return nodes.DropConstraint(simple_name(cursor))
    if cursor.accept("WATERMARK"):
        return nodes.DropWatermark()
    if cursor.accept("DISTRIBUTION"):
        return nodes.DropDistribution()
    if cursor.key == "(":
        return nodes.DropColumns(parse_list(cursor, path_name))
    return nodes.DropColumns((path_name(cursor),))


def _set_materialized(cursor: QueryCursor) -> nodes.Change:
    if cursor.accept("FRESHNESS", "="):
        return nodes.SetFreshness(interval(cursor))
    if cursor.accept("REFRESH_MODE", "="):
        return nodes.SetRefreshMode(one_of(cursor, "FULL", "CONTINUOUS"))
    return _set(cursor)


Changes = dict[str, Callable[[QueryCursor], nodes.Change]]

OF_TABLE: Changes = {
    "RENAME": _rename,
    "SET":    _set,
    "RESET":  _reset,
    "ADD":    _add,
    "MODIFY": _modify,
    "DROP":   _drop,
}  # fmt: skip

#: Kind of object -> first keyword of a change -> parser of the rest.
CHANGES: dict[nodes.ObjectKind, Changes] = {
    nodes.ObjectKind.TABLE: OF_TABLE,
    nodes.ObjectKind.VIEW: {
        "RENAME": _rename_to,
        "AS": lambda cursor: nodes.SetQuery(query(cursor)),
    },
    nodes.ObjectKind.MATERIALIZED_TABLE: {
        "SET": _set_materialized,
        "RESET": _reset,
        "ADD": _add,
        "MODIFY": _modify,
        "DROP": _drop,
        "SUSPEND": lambda _: nodes.Suspend(),
        "RESUME": lambda cursor: nodes.Resume(with_options(cursor)),
        "REFRESH": lambda cursor: nodes.Refresh(
            partition(cursor) if cursor.key == "PARTITION" else None
        ),
        "AS": lambda cursor: nodes.SetQuery(query(cursor)),
    },
    nodes.ObjectKind.DATABASE: {"SET": _set},
    nodes.ObjectKind.CATALOG: {
        "SET": _set,
        "RESET": _reset,
        "COMMENT": lambda cursor: nodes.SetComment(string(cursor)),
    },
    nodes.ObjectKind.MODEL: {"SET": _set, "RESET": _reset, "RENAME": _rename_to},
    nodes.ObjectKind.CONNECTION: {"SET": _set, "RESET": _reset, "RENAME": _rename_to},
    nodes.ObjectKind.FUNCTION: {},
}
