"""CREATE TABLE of other engines, read and written: the one place that uses sqlglot.

sqlglot gives the tokens of a dialect and the trees of expressions. Columns and types are read and
written here, by tables with one row a type (`schema_core.formats.dialects`), and what does not come
along is a `Loss`. Law: what was written is read back equal, or the losses say why not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from schema_core.arguments import require_instance
from schema_core.errors import Gathering, ParseError, UnsupportedError, at, within
from schema_core.extras import needs
from schema_core.formats.dialects.engines import ENGINES, Engine, engine
from schema_core.formats.dialects.expressions import read_expression
from schema_core.formats.dialects.grammar import foreign_type
from schema_core.formats.dialects.reading import build_schema
from schema_core.formats.dialects.statements import ScriptDefinitions, parse_script, without_data
from schema_core.formats.dialects.types import ForeignType, loss_of
from schema_core.formats.dialects.writing import DdlStatements, write_schema
from schema_core.formats.loss import Loss, Policy, enforce
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.text import MAX_DEPTH, Cursor, Span, Token, check_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schema_core.formats.dialects.statements import TableDefinition

#: The dialects, by the names that `from_ddl` and `to_ddl` take.
DIALECTS: tuple[str, ...] = tuple(ENGINES)

#: Tokens of one expression that sqlglot is asked to parse.
MAX_TOKENS = 1_000


@dataclass(frozen=True, slots=True)
class ForeignTable:
    """A CREATE TABLE of another engine: its path, schema and comment, and what was lost."""

    path: tuple[str, ...]
    schema: Schema
    losses: tuple[Loss, ...]
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class ForeignScript:
    """The tables of a script of another engine.

    `losses` are the statements that belong to none of its tables, such as views and sequences.
    """

    tables: tuple[ForeignTable, ...]
    losses: tuple[Loss, ...]


def from_ddl(text: str, dialect: str = "postgres", *, on_loss: Policy = "error") -> Schema:
    """The schema of a CREATE TABLE of another engine.

    Comments, a primary key and other changes may follow in statements of their own, as dumps have
    them; `read_tables` reads a script with more than one table.

    Raises:
        ParseError: for a text that is no such statement, with the place; with code
            `multiple-tables` for more than one.
        NotFoundError: with code `unknown-dialect`.
        UnsupportedError: with code `type-not-in-flink` for types that nothing stands for, all at
            once; with code `lossy` where values would change and the policy is `error`.

    >>> print(from_ddl("CREATE TABLE t (id serial PRIMARY KEY, at timestamptz, tags text[])"))
    (
      `id` INT NOT NULL,
      `at` TIMESTAMP_LTZ(6),
      `tags` ARRAY<STRING>,
      CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED
    )
    """
    found = read_table(text, dialect)
    enforce(found.losses, on_loss)
    return found.schema


def read_table(text: str, dialect: str = "postgres") -> ForeignTable:
    """Read one table as `from_ddl` does, with its path, its comment and all losses.

    Raises:
        SchemaCoreError: as `from_ddl`, but not for losses.

    >>> for loss in read_table("CREATE TABLE t (n bigint unsigned DEFAULT 1)", "mysql").losses:
    ...     print(loss)
    n: bigint unsigned becomes DECIMAL(20, 0) (another type with the same values)
    n: DEFAULT 1 is dropped: the target cannot represent it
    """
    found = engine(dialect)
    with within(text):
        written = _script(text, found)
        if len(written.tables) > 1:
            raise ParseError(
                "a second CREATE TABLE",
                code="multiple-tables",
                hint="read_tables of schema_core.formats.dialects.api reads all of them",
                span=written.tables[1].span,
            )
        table, rest = _table(text, written, written.tables[0]), _beside(written)
    return replace(table, losses=(*table.losses, *rest))


def read_tables(text: str, dialect: str = "postgres") -> ForeignScript:
    """Read all tables of a script, such as a dump of a database.

    Statements that declare nothing (settings, transactions, rows) are passed over, the data of
    ``COPY ... FROM stdin`` among them. Types of CREATE TYPE and CREATE DOMAIN are known to the
    columns that follow. Tables come in the order of the script.

    Raises:
        ParseError: for a text outside the grammar, with the place; with code `missing-create-table`
            for one without a CREATE TABLE.
        NotFoundError: with code `unknown-dialect`.
        UnsupportedError: with code `type-not-in-flink` for types that nothing stands for, all at
            once; with code `missing-columns` for a table that takes its columns from elsewhere.

    >>> parse_script = read_tables(
    ...     "CREATE TYPE mood AS ENUM ('sad', 'happy');"
    ...     "CREATE TABLE a (id int, feels mood);"
    ...     "CREATE TABLE b (id int);"
    ...     "COMMENT ON TABLE b IS 'the second';"
    ...     "ALTER TABLE a ADD PRIMARY KEY (id)"
    ... )
    >>> [(table.path, table.comment) for table in parse_script.tables]
    [(('a',), None), (('b',), 'the second')]
    >>> print(parse_script.tables[0].schema)
    (
      `id` INT NOT NULL,
      `feels` STRING,
      CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED
    )
    """
    found = engine(dialect)
    gathering = Gathering()
    tables = []
    with within(text):
        written = _script(text, found)
        for one in written.tables:
            with gathering.catching(), at(f"table {'.'.join(one.path)!r}"):
                tables.append(_table(text, written, one))
        gathering.raise_all()
    return ForeignScript(tuple(tables), _beside(written))


def _script(text: str, dialect: Engine) -> ScriptDefinitions:
    check_size(text)
    code = without_data(text, dialect.name)
    return parse_script(Cursor(text, list(tokens(code, dialect))), dialect)


def _table(text: str, written: ScriptDefinitions, table: TableDefinition) -> ForeignTable:
    schema, losses = build_schema(
        table,
        written.types,
        expression=lambda span: _expression(text[span.start : span.stop], written.engine),
        type_text=lambda type_: _type(type_, written.engine),
    )
    return ForeignTable(table.path, schema, losses, table.comment)


def _beside(written: ScriptDefinitions) -> tuple[Loss, ...]:
    return tuple(loss_of(("script",), "member", rest, "") for rest in written.dropped)


def to_ddl(
    schema: Schema | ResolvedSchema,
    dialect: str = "postgres",
    name: str | tuple[str, ...] = "t",
    *,
    on_loss: Policy = "error",
) -> str:
    """The statements of another engine that make a table of this schema, divided by semicolons.

    `name` is one identifier, or the parts of a path. With the policy `note` the comment of a column
    ends with the exact type where the engine has another one; `from_ddl` believes such a note while
    the type beside it still fits.

    Raises:
        SchemaError: for a schema that cannot be resolved.
        NotFoundError: with code `unknown-dialect`.
        UnsupportedError: with code `type-not-in-dialect` or `name-not-in-dialect` for what the
            engine cannot have, `lossy` where values would change and the policy is `error`.

    >>> schema = Schema.new_builder().column("a", "MAP<STRING NOT NULL, INT>").build()
    >>> print(to_ddl(schema, "trino", "m"))
    CREATE TABLE "m" (
      "a" map(varchar, integer)
    )
    """
    written = _written(schema, dialect, name, notes=on_loss == "note")
    enforce(written.losses, on_loss)
    return written.text


def ddl_losses(schema: Schema | ResolvedSchema, dialect: str = "postgres") -> tuple[Loss, ...]:
    """What `to_ddl` would leave out or change.

    Raises:
        SchemaCoreError: as `to_ddl`, but nothing for losses.
    """
    return _written(schema, dialect, "t", notes=False).losses


def _written(
    schema: Schema | ResolvedSchema, dialect: str, name: str | tuple[str, ...], *, notes: bool
) -> DdlStatements:
    require_instance(schema, (Schema, ResolvedSchema), "schema")
    require_instance(name, (str, tuple), "name")
    resolved = SchemaResolver().resolve(schema) if isinstance(schema, Schema) else schema
    path = (name,) if isinstance(name, str) else name
    return write_schema(resolved, engine(dialect), path, notes=notes)


# --- sqlglot -------------------------------------------------------------------------------------

#: Kinds of sqlglot's tokens that are texts.
TEXTS = frozenset({"STRING", "HEREDOC_STRING", "RAW_STRING", "NATIONAL_STRING", "BYTE_STRING"})

#: Where a literal began that is not closed, in sqlglot's words: the line it reached, the offset.
_BEGAN = re.compile(r" from \d+:(\d+)")


@needs("sqlglot")
def tokens(text: str, dialect: Engine) -> Iterator[Token]:
    """The tokens of a text of this engine, with brackets counted.

    Raises:
        ParseError: with code `text-too-long`, `too-deep`, or `syntax` for a literal or a comment
            that is not closed.
    """
    check_size(text)
    from sqlglot import tokenize
    from sqlglot.errors import SqlglotError

    try:
        found: list[Any] = tokenize(text, read=dialect.name)
    except SqlglotError as error:
        raise _unclosed(text, error) from None
    depth = 0
    for token in (one for foreign in found for one in _token(text, foreign)):
        depth += (token.key in {"(", "[", "{"}) - (token.key in {")", "]", "}"})
        if depth > MAX_DEPTH:
            raise ParseError(
                f"nested more than {MAX_DEPTH} levels deep", code="too-deep", span=token.span
            )
        yield token
    yield Token("end", "end", "", len(text), len(text))


def _token(text: str, foreign: Any) -> Iterator[Token]:
    """Ours for one of sqlglot's: some of its tokens are several words, and in capitals."""
    start, stop = foreign.start, foreign.end + 1
    kind = foreign.token_type.name
    if kind == "IDENTIFIER":
        yield Token("name", "", foreign.text, start, stop)
    elif kind in TEXTS:
        yield Token("string", "", foreign.text, start, stop)
    elif kind == "NUMBER":
        yield Token("number", "", text[start:stop], start, stop)
    else:
        for match in re.finditer(r"\S+", text[start:stop]):
            word = match.group()
            is_word = word[0].isalnum() or word[0] == "_"
            place = start + match.start(), start + match.end()
            yield Token("word" if is_word else "symbol", word.upper(), word, *place)


def _unclosed(text: str, error: Exception) -> ParseError:
    """The error for a text that breaks off, at the place where the open literal begins."""
    began = _BEGAN.search(str(error.__cause__ or error))
    start = min(int(began[1]), len(text)) if began else 0
    return ParseError(
        "a literal, a name or a comment is not closed", span=Span(start, start + 1), text=text
    )


@needs("sqlglot")
def _expression(text: str, dialect: Engine) -> str:
    """Flink's SQL for an expression of the engine.

    Raises:
        UnsupportedError: with code `expression-not-portable` for one that may mean something else.
        ParseError: for one that cannot be read.
    """
    from sqlglot import parse_one
    from sqlglot.errors import SqlglotError

    if len(list(tokens(text, dialect))) > MAX_TOKENS:
        raise UnsupportedError("a very long expression", code="expression-not-portable")
    try:
        tree: Any = parse_one(text, read=dialect.name)
    except SqlglotError as error:
        raise _refused(text, error) from None
    except RecursionError:
        raise ParseError("nested too deeply", code="too-deep", span=Span(0, 1), text=text) from None
    except (AttributeError, LookupError, TypeError, ValueError) as error:  # for `MAP(0)`, say
        problem = "sqlglot fails to parse the expression"
        raise ParseError(problem, span=Span(0, len(text)), text=text) from error
    return read_expression(tree, dialect)


def _refused(text: str, error: Any) -> ParseError:
    """The error of sqlglot as ours; its column is that of the last character."""
    first, *_ = getattr(error, "errors", None) or [{}]
    line, column = first.get("line") or 1, first.get("col") or 1
    length = len(first.get("highlight") or "")
    start = sum(map(len, text.splitlines(keepends=True)[: line - 1])) + column - length
    start = min(max(start, 0), len(text))
    problem = f"the expression cannot be read: {first.get('description') or 'unexpected text'}"
    return ParseError(problem, span=Span(start, start + max(length, 1)), text=text)


def _type(text: str, dialect: Engine) -> ForeignType:
    """A type of the engine, alone."""
    return foreign_type(Cursor(text, list(tokens(text, dialect))), dialect, lambda: None)
