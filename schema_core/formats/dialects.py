"""CREATE TABLE of other engines, read and written: the one place that uses sqlglot.

sqlglot gives the tokens of a dialect and the trees of expressions. Columns and types are read and
written here, by tables with one row a type (`schema_core.formats.dialect`), and what does not come
along is a `Loss`. Law: what was written is read back equal, or the losses say why not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schema_core.errors import ParseError, UnsupportedError, within
from schema_core.extras import needs
from schema_core.formats.arguments import require
from schema_core.formats.dialect.assembly import assemble
from schema_core.formats.dialect.engines import ENGINES, Engine, engine
from schema_core.formats.dialect.expressions import read_expression
from schema_core.formats.dialect.reading import table
from schema_core.formats.dialect.type_reading import foreign_type
from schema_core.formats.dialect.types import Foreign
from schema_core.formats.dialect.writing import Written, write_schema
from schema_core.formats.loss import Loss, Policy, enforce
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.text import MAX_DEPTH, Cursor, Span, Token, check_size

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The dialects, by the names that `from_ddl` and `to_ddl` take.
DIALECTS: tuple[str, ...] = tuple(ENGINES)

#: Tokens of one expression that sqlglot is asked to parse.
MAX_TOKENS = 1_000


@dataclass(frozen=True, slots=True)
class ForeignTable:
    """What a CREATE TABLE of another engine says: its path, a schema, and what got lost."""

    path: tuple[str, ...]
    schema: Schema
    losses: tuple[Loss, ...]


def from_ddl(text: str, dialect: str = "postgres", *, on_loss: Policy = "error") -> Schema:
    """The schema of a CREATE TABLE of another engine.

    Comments and a primary key may follow in statements of their own, as dumps have them.

    Raises:
        ParseError: for a text that is no such statement, with the place.
        NotFoundError: with code `unknown-dialect`.
        UnsupportedError: with code `no-flink-type` for types that nothing stands for, all at once;
            with code `lossy` where values would change and the policy is `error`.

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
    """As `from_ddl`, but losses are told and never refused.

    >>> for loss in read_table("CREATE TABLE t (n bigint unsigned DEFAULT 1)", "mysql").losses:
    ...     print(loss)
    n: bigint unsigned becomes DECIMAL(20, 0) (another type with the same values)
    n: DEFAULT 1 becomes nothing (a part of the schema that has no place there)
    """
    found = engine(dialect)
    with within(text):
        written = table(Cursor(text, list(tokens(text, found))), found)
        schema, losses = assemble(
            written,
            expression=lambda span: _expression(text[span.start : span.stop], found),
            type_text=lambda type_: _type(type_, found),
        )
    return ForeignTable(written.path, schema, losses)


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
        UnsupportedError: with code `no-foreign-type` or `no-foreign-name` for what the engine
            cannot have, `lossy` where values would change and the policy is `error`.

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
) -> Written:
    require(schema, (Schema, ResolvedSchema), "a schema")
    require(name, (str, tuple), "a name or the parts of a path")
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
        UnsupportedError: with code `foreign-expression` for one that may mean something else.
        ParseError: for one that cannot be read.
    """
    from sqlglot import parse_one
    from sqlglot.errors import SqlglotError

    if len(list(tokens(text, dialect))) > MAX_TOKENS:
        raise UnsupportedError("a very long expression", code="foreign-expression")
    try:
        tree: Any = parse_one(text, read=dialect.name)
        return read_expression(tree, dialect)
    except SqlglotError as error:
        raise _refused(text, error) from None
    except RecursionError:
        raise ParseError("nested too deeply", code="too-deep", span=Span(0, 1), text=text) from None


def _refused(text: str, error: Any) -> ParseError:
    """The error of sqlglot as ours; its column is that of the last character."""
    first, *_ = getattr(error, "errors", None) or [{}]
    line, column = first.get("line") or 1, first.get("col") or 1
    length = len(first.get("highlight") or "")
    start = sum(map(len, text.splitlines(keepends=True)[: line - 1])) + column - length
    start = min(max(start, 0), len(text))
    problem = f"the expression cannot be read: {first.get('description') or 'unexpected text'}"
    return ParseError(problem, span=Span(start, start + max(length, 1)), text=text)


def _type(text: str, dialect: Engine) -> Foreign:
    """A type of the engine, alone."""
    return foreign_type(Cursor(text, list(tokens(text, dialect))), dialect, lambda: None)
