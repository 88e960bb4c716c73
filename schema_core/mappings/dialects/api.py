"""Convert CREATE TABLE statements of SQL engines, Flink among them, to schemas and back.

Only this module uses sqlglot: for the tokens of a dialect and the trees of expressions. Whatever is
not preserved is reported as a `Loss`: a printed table is parsed to an equal one, except for its
losses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from schema_core.base.arguments import require_instance, require_names
from schema_core.base.cursor import Cursor, check_size
from schema_core.base.lazy import dataclass, regex
from schema_core.base.plugins import needs
from schema_core.base.secrets import mask
from schema_core.base.text import MAX_DEPTH, MAX_TEXT, PartialText, Span, Token, position
from schema_core.catalog.objects import CatalogTable, Options, TableDistribution
from schema_core.errors import Diagnostic, Gathering, ParseError, UnsupportedError, at, within
from schema_core.mappings.dialects.engines import ENGINES, Engine, engine
from schema_core.mappings.dialects.expressions import read_expression
from schema_core.mappings.dialects.flink import (
    FLINK,
    DeclaredTable,
    FlinkScript,
    read_script,
    write_table,
)
from schema_core.mappings.dialects.grammar import Dropped, foreign_type
from schema_core.mappings.dialects.printer import IN_FULL, Masking
from schema_core.mappings.dialects.schemas import DdlStatements, build_schema, write_schema
from schema_core.mappings.dialects.script_definitions import ScriptDefinitions
from schema_core.mappings.dialects.script_parser import parse_script
from schema_core.mappings.dialects.table_definition import TableDefinition
from schema_core.mappings.dialects.types import loss_of
from schema_core.mappings.loss import Loss, Policy, enforce
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema

if TYPE_CHECKING:
    from schema_core.mappings.dialects.dump_files import DumpSource

DIALECTS: tuple[str, ...] = (*ENGINES, FLINK)

Declared = TypeVar("Declared", TableDefinition, DeclaredTable)

#: Maximum number of tokens of an expression for sqlglot.
MAX_TOKENS = 1_000


@dataclass(frozen=True, slots=True)
class ForeignTable:
    """A CREATE TABLE of another engine or of Flink: its path, schema, comment, and losses.

    Distribution and options are only read from Flink's statements, partitions also from Hive's and
    Spark's; the options of other engines are losses.
    """

    path: tuple[str, ...]
    schema: Schema
    losses: tuple[Loss, ...]
    comment: str | None = None
    partition_keys: tuple[str, ...] = ()
    distribution: TableDistribution | None = None
    options: Mapping[str, str] = field(default_factory=Options, hash=False)

    @property
    def table(self) -> CatalogTable:
        """The table as catalogs store it."""
        return CatalogTable(
            self.schema,
            self.partition_keys,
            options=self.options,
            comment=self.comment,
            distribution=self.distribution,
        )


@dataclass(frozen=True, slots=True)
class ForeignScript:
    """The tables of a script, in its order.

    `losses` are statements that belong to none of its tables, such as views and sequences. `errors`
    are statements, and columns of tables, that could not be read. Both have a line and a column.
    """

    tables: tuple[ForeignTable, ...]
    losses: tuple[Loss, ...]
    errors: tuple[Diagnostic, ...] = ()

    @property
    def by_path(self) -> dict[tuple[str, ...], CatalogTable]:
        """The tables as catalogs store them, by their paths."""
        return {table.path: table.table for table in self.tables}


def from_ddl(text: str, dialect: str = "postgres", *, on_loss: Policy = "error") -> Schema:
    """Return the schema of a CREATE TABLE of another engine, or of Flink.

    Comments, a primary key and other changes may follow in separate statements, as in dumps;
    `read_tables` reads several tables.

    Raises:
        ParseError: for other strings; with code `invalid-statement` for more than one table.
        NotFoundError: with code `unknown-dialect`.
        UnsupportedError: with code `type-not-supported` for all such columns; with code `lossy` if
            values would change and the policy is `error`.

    >>> print(from_ddl("CREATE TABLE t (id serial PRIMARY KEY, at timestamptz, tags text[])"))
    (
      `id` INT NOT NULL,
      `at` TIMESTAMP_LTZ(6),
      `tags` ARRAY<STRING>,
      CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED
    )
    """
    require_instance(dialect, str, "dialect")
    if dialect.lower() == FLINK:
        enforce((), on_loss)
        return _require_single(list(_read_flink(text).tables.values()), text).table.schema
    table = read_table(text, dialect)
    enforce(table.losses, on_loss)
    return table.schema


def read_table(text: str, dialect: str = "postgres") -> ForeignTable:
    """Read a table as `from_ddl` does, with its path, comment and losses.

    Raises:
        SchemaCoreError: as `from_ddl`, except for losses.
        SchemaError: with code `invalid-option-value` for a masked option of Flink.

    >>> for loss in read_table("CREATE TABLE t (n bigint unsigned DEFAULT 1)", "mysql").losses:
    ...     print(loss)
    n: bigint unsigned becomes DECIMAL(20, 0) (another type with the same values)
    n: DEFAULT 1 is dropped: the target cannot represent it
    """
    require_instance(dialect, str, "dialect")
    if dialect.lower() == FLINK:
        script = _read_flink(text)
        table = _flink_table(_require_single(list(script.tables.values()), text), text)
        return replace(table, losses=(*table.losses, *_losses_of_script(script.dropped, text)))
    source = engine(dialect)
    text = _without_rows(text, source)
    with within(text):
        definitions = _script(text, source)
        definitions.errors.raise_all()
        errors = Gathering()
        table = _table(text, definitions, _require_single(definitions.tables, text), errors)
        errors.raise_all()
    dropped = _losses_of_script(definitions.dropped, text)
    return replace(table, losses=(*table.losses, *dropped))


def _read_flink(text: str) -> FlinkScript:
    errors = Gathering()
    script = read_script(text, errors)
    errors.raise_all()
    return script


def _require_single(tables: list[Declared], text: str) -> Declared:
    if len(tables) > 1:
        raise ParseError(
            "the script has more than one CREATE TABLE",
            code="invalid-statement",
            hint="use schema_core.mappings.dialects.read_tables",
            span=tables[1].span,
            text=text,
        )
    return tables[0]


def read_tables(text: str, dialect: str = "postgres", *, strict: bool = False) -> ForeignScript:
    """Read all tables of a script, such as a database dump, in the order of the script.

    Statements without definitions (settings, transactions, rows) are skipped, also the data of
    ``COPY ... FROM stdin``. Columns can use types of CREATE TYPE and CREATE DOMAIN.

    A statement that cannot be read is one of the `errors` of the result, with its line and column;
    the others are read. A column of a type that Flink does not have is an error and a loss of its
    table. With `strict`, the errors are raised.

    Raises:
        NotFoundError: with code `unknown-dialect`.
        SchemaCoreError: if `strict`, for all errors: of other strings a ParseError; with code
            `invalid-statement`; `type-not-supported`; with code `missing-columns` for a table
            that takes its columns from an unknown source.

    >>> script = read_tables(
    ...     "CREATE TYPE mood AS ENUM ('sad', 'happy');"
    ...     "CREATE TABLE a (id int, feels mood);"
    ...     "CREATE TABLE b (id int);"
    ...     "COMMENT ON TABLE b IS 'the second';"
    ...     "ALTER TABLE a ADD PRIMARY KEY (id);"
    ...     "CREATE TABLE c (id int id)"
    ... )
    >>> [(table.path, table.comment) for table in script.tables]
    [(('a',), None), (('b',), 'the second')]
    >>> print(script.tables[0].schema)
    (
      `id` INT NOT NULL,
      `feels` STRING,
      CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED
    )
    >>> for error in script.errors:
    ...     print(error.line, error.column, error.message)
    1 196 unexpected 'id' in column 'id'
    """
    require_instance(dialect, str, "dialect")
    require_instance(strict, bool, "strict")
    errors = Gathering()
    tables = []
    if dialect.lower() == FLINK:
        script = read_script(text, errors)
        for declared in script.tables.values():
            with errors.catching():
                tables.append(_flink_table(declared, text))
        dropped = script.dropped
    else:
        source = engine(dialect)
        text = _without_rows(text, source)
        with within(text):
            definitions = _script(text, source)
        errors = definitions.errors
        for table in definitions.tables:
            with errors.catching(), at(f"table {'.'.join(table.path)!r}"):
                of_table = Gathering()
                tables.append(_table(text, definitions, table, of_table))
                of_table.raise_all()
        dropped = definitions.dropped
    errors.errors.sort(key=lambda error: error.span.start if error.span else 0)
    if strict:
        with within(text):
            errors.raise_all()
    for error in errors.errors:
        error.text = text if error.text is None else error.text
    return ForeignScript(
        tuple(tables),
        _losses_of_script(dropped, text),
        tuple(diagnostic for error in errors.errors for diagnostic in error.diagnostics),
    )


def read_dump(
    source: DumpSource,
    dialect: str = "postgres",
    *,
    strict: bool = False,
    encoding: str | None = None,
) -> ForeignScript:
    """Read all tables of a dump of any length, as `read_tables` does.

    `source` is a file, or a stream of bytes or strings. Bytes may be compressed by gzip; they are
    UTF-8, or UTF-16 with a byte order mark, or have an `encoding`. Memory is needed for the
    definitions, not for the rows.

    Raises:
        ExternalError: with code `unreadable-file`.
        SchemaCoreError: as `read_tables`.

    >>> import io
    >>> stream = io.StringIO("CREATE TABLE t (a int); INSERT INTO t VALUES (1);")
    >>> [table.path for table in read_dump(stream, "sqlite").tables]
    [('t',)]
    """
    from schema_core.mappings.dialects.dump_files import read_definitions

    require_instance(dialect, str, "dialect")
    return read_tables(read_definitions(source, dialect, encoding), dialect, strict=strict)


def _without_rows(text: str, dialect: Engine) -> str:
    """Return a script; one of more than `MAX_TEXT` characters without its rows."""
    if len(require_instance(text, str, "text")) <= MAX_TEXT or isinstance(text, PartialText):
        return text
    from schema_core.mappings.dialects.condensation import condense

    return condense((text,), dialect.name)


def _script(text: str, dialect: Engine) -> ScriptDefinitions:
    return parse_script(text, dialect, lambda source, span: list(tokens(source, dialect, span)))


def _table(
    text: str, script: ScriptDefinitions, table: TableDefinition, errors: Gathering
) -> ForeignTable:
    """Return a table; a column that cannot be read is one of `errors`, if these are kept."""
    schema, losses = build_schema(
        table,
        script.types,
        expression=lambda span: _expression(text[span.start : span.stop], script.engine),
        type_text=lambda type_: foreign_type(
            Cursor(type_, list(tokens(type_, script.engine))), script.engine, lambda: None
        ),
        locate=partial(position, text),
        errors=errors,
    )
    names = {column.name for column in schema.columns}
    partition_keys = table.partition_keys if names.issuperset(table.partition_keys) else ()
    return ForeignTable(table.path, schema, losses, table.comment, partition_keys)


def _flink_table(declared: DeclaredTable, text: str) -> ForeignTable:
    declared.require_unmasked(text)
    table, is_temporary = declared.table, declared.statement.temporary
    return ForeignTable(
        declared.path,
        table.schema,
        (loss_of(("table",), "member", "TEMPORARY", ""),) if is_temporary else (),
        table.comment,
        table.partition_keys,
        table.distribution,
        table.options,
    )


def _losses_of_script(dropped: Iterable[Dropped], text: str) -> tuple[Loss, ...]:
    losses = []
    for rest, start in dropped:
        line, column = (0, 0) if start is None else position(text, start)
        loss = loss_of(("script",), "member", rest, "")
        losses.append(replace(loss, line=line, column=column))
    return tuple(losses)


def to_ddl(
    schema: Schema | ResolvedSchema | CatalogTable,
    dialect: str = "postgres",
    name: str | tuple[str, ...] = "t",
    *,
    on_loss: Policy = "error",
    mask_secrets: bool = False,
    secret_keys: Iterable[str] = (),
) -> str:
    """Return statements of another engine, separated by semicolons, that create a table.

    `name` is an identifier, or the parts of a path. With the policy `note` the comment of a column
    ends with the exact type if the engine's type differs; `from_ddl` uses it while the declared
    type matches. Only `flink` has the partitions, distribution and options of a table.

    `mask_secrets` masks the values of options for people, also of `secret_keys`; `read_table`
    refuses masked values.

    Raises:
        SchemaError: for a schema that cannot be resolved; with code `invalid-option-value` for
            options that are masked already.
        NotFoundError: with code `unknown-dialect`.
        UnsupportedError: with code `type-not-supported` or `name-not-supported`; with code
            `lossy` if values would change and the policy is `error`.

    >>> schema = Schema.new_builder().column("a", "MAP<STRING NOT NULL, INT>").build()
    >>> print(to_ddl(schema, "trino", "m"))
    CREATE TABLE "m" (
      "a" map(varchar, integer)
    )
    >>> table = CatalogTable(schema, options={"connector": "jdbc", "password": "hunter2"})
    >>> print(to_ddl(table, "flink", ("d", "m"), mask_secrets=True))
    CREATE TABLE `d`.`m` (
      `a` MAP<VARCHAR(2147483647) NOT NULL, INT>
    )
    WITH (
      'connector' = 'jdbc',
      'password' = '******'
    )
    """
    require_instance(mask_secrets, bool, "mask_secrets")
    secret = frozenset(key.lower() for key in require_names(secret_keys, "secret_keys"))
    masking = Masking(secret) if mask_secrets else IN_FULL
    ddl = _write(schema, dialect, name, masking, notes=on_loss == "note")
    enforce(ddl.losses, on_loss)
    return ddl.text


def ddl_losses(
    schema: Schema | ResolvedSchema | CatalogTable, dialect: str = "postgres"
) -> tuple[Loss, ...]:
    """Return what `to_ddl` would omit or change.

    Raises:
        SchemaCoreError: as `to_ddl`, except for losses.
    """
    return _write(schema, dialect, "t", Masking(), notes=False).losses


def _write(
    schema: Schema | ResolvedSchema | CatalogTable,
    dialect: str,
    name: str | tuple[str, ...],
    masking: Masking,
    *,
    notes: bool,
) -> DdlStatements:
    require_instance(schema, (Schema, ResolvedSchema, CatalogTable), "schema")
    require_instance(name, (str, tuple), "name")
    require_instance(dialect, str, "dialect")
    path = (name,) if isinstance(name, str) else require_names(name, "name")
    if isinstance(schema, ResolvedSchema) and dialect.lower() != FLINK:
        return write_schema(schema, engine(dialect), path, notes=notes)
    if isinstance(schema, CatalogTable):
        table = schema
    elif isinstance(schema, ResolvedSchema):
        table = CatalogTable(Schema.new_builder().from_resolved_schema(schema).build())
    else:
        table = CatalogTable(schema)
    if dialect.lower() == FLINK:
        return write_table(table, path, masking)
    target = engine(dialect)
    ddl = write_schema(SchemaResolver().resolve(table.schema), target, path, notes=notes)
    text = ddl.text
    losses = [*ddl.losses, *_members(table)]
    if (comment := table.comment) is not None:
        if not comment and not target.stores_empty_comments:
            losses.append(loss_of(("table",), "member", f"the comment {comment!r}", ""))
        elif target.comment_statement:
            quoted = ".".join(map(target.quote_name, path))
            text += f";\nCOMMENT ON TABLE {quoted} IS {target.quote_string(comment)}"
        elif target.table_comment is not None:
            text += target.table_comment.format(text=target.quote_string(comment))
        else:
            losses.append(loss_of(("table",), "member", f"the comment {comment!r}", ""))
    return DdlStatements(text, tuple(losses))


def _members(table: CatalogTable) -> Iterator[Loss]:
    if table.partition_keys:
        yield loss_of(("partitions",), "member", ", ".join(table.partition_keys), "")
    if table.distribution is not None:
        yield loss_of(("distribution",), "member", str(table.distribution), "")
    for key, value in mask(table.options).items():
        yield loss_of(("options", key), "member", repr(value), "")
    if table.snapshot is not None:
        yield loss_of(("table",), "member", f"the snapshot {table.snapshot}", "")


# --- sqlglot --------------------------------------------------------------------------------------

STRING_TOKENS = frozenset(
    {"STRING", "HEREDOC_STRING", "RAW_STRING", "NATIONAL_STRING", "BYTE_STRING"}
)

#: An unterminated literal in sqlglot's message: the line that it reached, and its offset.
_BEGAN = regex(r" from \d+:(\d+)")


@needs("sqlglot")
def tokens(text: str, dialect: Engine, span: Span | None = None) -> Iterator[Token]:
    """Yield the tokens of a script of this engine, or of a span, with a limit on brackets.

    Raises:
        ParseError: with code `limit-exceeded`, or `syntax`.
    """
    from sqlglot.errors import SqlglotError

    start, stop = (0, len(text)) if span is None else (span.start, span.stop)
    if stop - start > MAX_TEXT:
        check_size(text[start:stop])
    try:
        result = list(_iterate_tokens(text, start, stop, dialect.name))
    except SqlglotError as error:
        began = _BEGAN.search(str(error.__cause__ or error))
        begin = min(start + int(began[1]), len(text)) if began else start
        problem = "unterminated literal, quoted name or comment"
        raise ParseError(problem, span=Span(begin, begin + 1), text=text) from None
    depth = 0
    for token in result:
        depth += (token.key in {"(", "[", "{"}) - (token.key in {")", "]", "}"})
        if depth > MAX_DEPTH:
            raise ParseError(
                f"nested more than {MAX_DEPTH} levels deep", code="limit-exceeded", span=token.span
            )
        yield token
    yield Token("end", "end", "", stop, stop)


def _iterate_tokens(text: str, start: int, stop: int, dialect: str) -> Iterator[Token]:
    before: Any = None
    for foreign in _sqlglot_dialect(dialect).tokenize(text[start:stop]):
        # all that follows RENAME, ATTACH and others may be one string, longer than its place
        if (
            before is not None
            and foreign.token_type.name == "STRING"
            and len(foreign.text) > foreign.end - foreign.start + 1
        ):
            yield from _iterate_tokens(
                text, start + before.end + 1, start + foreign.end + 1, dialect
            )
        else:
            yield from _token(text, foreign, start)
        before = foreign


@lru_cache(maxsize=16)
def _sqlglot_dialect(name: str) -> Any:
    from sqlglot.dialects.dialect import Dialect

    return Dialect.get_or_raise(name)


def _token(text: str, foreign: Any, offset: int = 0) -> Iterator[Token]:
    """Yield our tokens for one of sqlglot's, which may consist of several words."""
    start, stop = foreign.start + offset, foreign.end + 1 + offset
    kind = foreign.token_type.name
    if kind == "IDENTIFIER":
        yield Token("name", "", foreign.text, start, stop)
    elif kind in STRING_TOKENS:
        yield Token("string", "", foreign.text, start, stop)
    elif kind == "NUMBER":
        yield Token("number", "", text[start:stop], start, stop)
    else:
        for match in re.finditer(r"\S+", text[start:stop]):
            word = match.group()
            is_word = word[0].isalnum() or word[0] == "_"
            place = start + match.start(), start + match.end()
            yield Token("word" if is_word else "symbol", word.upper(), word, *place)


@needs("sqlglot")
def _expression(text: str, dialect: Engine) -> str:
    """Return Flink's SQL for an expression of the engine."""
    from sqlglot import parse_one
    from sqlglot.errors import SqlglotError

    if len(list(tokens(text, dialect))) > MAX_TOKENS:
        raise UnsupportedError(
            f"the expression has more than {MAX_TOKENS} tokens", code="not-representable"
        )
    try:
        tree: Any = parse_one(text, read=dialect.name)
    except SqlglotError as error:
        raise _convert_error(text, error) from None
    except RecursionError:
        raise ParseError(
            "the expression is nested too deeply", code="limit-exceeded", span=Span(0, 1), text=text
        ) from None
    except (
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:  # for `MAP(0)`, for example
        problem = "sqlglot failed to parse the expression"
        raise ParseError(problem, span=Span(0, len(text)), text=text) from error
    return read_expression(tree, dialect)


def _convert_error(text: str, error: Any) -> ParseError:
    """Convert an error of sqlglot, whose column is that of the last character."""
    first, *_ = getattr(error, "errors", None) or [{}]
    line, column = first.get("line") or 1, first.get("col") or 1
    length = len(first.get("highlight") or "")
    start = sum(map(len, text.splitlines(keepends=True)[: line - 1])) + column - length
    start = min(max(start, 0), len(text))
    problem = f"cannot parse the expression: {first.get('description') or 'syntax error'}"
    return ParseError(problem, span=Span(start, start + max(length, 1)), text=text)
