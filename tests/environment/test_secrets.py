"""Secrets are in no output, error, log or printed value: a canary value is searched for."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from schema_core.base.paths import ObjectIdentifier
from schema_core.base.secrets import SECRET_WORDS, mask, mask_text, mask_urls, without_secrets
from schema_core.base.text import quote_string
from schema_core.catalog.stores.catalog_store import CatalogDescriptor
from schema_core.cli.app import application
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import using
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.table_api.descriptor import (
    FormatDescriptor,
    ModelDescriptor,
    TableDescriptor,
)
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.schema.unresolved import Schema
from schema_core.sql import statement_syntax as syntax
from schema_core.sql.parser import parse_statement, read_statements
from schema_core.sql.tokens import sql_tokens
from tests.environment.canary import (
    CANARY,
    CREATED,
    INNOCENT,
    OPTIONS,
    SECRETS,
    STATEMENTS,
    TOKENS,
    shown_by,
    statements,
)

#: Keys that contain each of the secret words, in some case.
KEYS = tuple(f"properties.{word.upper() if len(word) % 2 else word}" for word in SECRET_WORDS)

#: The options that can be parsed, so that their statements are executed.
PARSED = [name for name in OPTIONS if name not in (
    "adjacent wrongly", "double quotes", "no quotes", "backticks", "backtick value")]  # fmt: skip


def test_every_statement_class_is_covered() -> None:
    assert {*syntax.OPERATIONS, syntax.Alter} == set(STATEMENTS)
    for kind, texts in STATEMENTS.items():
        assert all(
            isinstance(parse_statement(text.replace("{}", "'a' = 'b'")), kind) for text in texts
        )


@pytest.mark.parametrize("key", KEYS)
def test_every_secret_keyword_masks_the_value(key: str) -> None:
    parsed = parse_statement(f"CREATE DATABASE d WITH ('{key}' = '{CANARY}')")

    assert CANARY not in repr(parsed)
    assert CANARY not in parsed.as_summary_string()


def visible_output(environment: TableEnvironment, statement: str) -> Iterator[str]:
    """Yield everything that a statement shows: its result, its error, its tree."""
    try:
        parsed = parse_statement(statement)
        yield repr(parsed)
        yield parsed.as_summary_string()
    except SchemaCoreError as error:
        yield from shown_by(error)
    try:
        result = environment.execute_sql(statement)
        yield repr(result)
        yield repr(list(result.collect()))
    except SchemaCoreError as error:
        yield from shown_by(error)


@pytest.fixture
def environment() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode(), planner=DryRunPlanner())


@pytest.mark.parametrize("form", OPTIONS)
def test_no_statement_shows_a_secret(
    environment: TableEnvironment, caplog: pytest.LogCaptureFixture, form: str
) -> None:
    caplog.set_level(logging.DEBUG)
    leaks = [
        (statement, text)
        for statement in statements(OPTIONS[form])
        for text in visible_output(environment, statement)
        if CANARY in text
    ]

    assert [] == leaks
    assert CANARY not in caplog.text


def invalidated(text: str) -> Iterator[str]:
    """Yield the statement with a syntax error at each token, and at each quote."""
    for token in sql_tokens(text):
        before, after = text[: token.start], text[token.stop :]
        yield before
        yield before + after
        yield text[: token.stop] + " " + text[token.start :]
        for other in ("#", "NOTHING", ")", ";", "'", "`", '"', "/*"):
            yield before + other + after
        yield before + ", " + text[token.start :]
    for place, character in enumerate(text):
        if character in "'\"`":
            yield text[:place] + text[place + 1 :]
            yield text[:place]


#: Statements with a clause of each kind, invalidated in every form of an option.
CLAUSES = (
    "CREATE TABLE s (a INT) COMMENT 'x' WITH ('a' = 'b', {}, 'c' = 'd') -- it's",
    "SELECT a FROM s /*+ OPTIONS('a' = 'b', {}) */ WHERE a = 'x'",
    "ALTER TABLE s SET ({})",
    "SET {}",
)


@pytest.mark.parametrize("form", OPTIONS)
def test_no_invalid_statement_shows_a_secret(form: str) -> None:
    every = [clause.replace("{}", OPTIONS[form]) for clause in CLAUSES]
    leaks = [
        (text, shown)
        for statement in every
        for text in invalidated(statement)
        for error in read_statements(text)
        if isinstance(error, SchemaCoreError)
        for shown in (str(error), repr(error))
        if CANARY in shown
    ]

    assert [] == leaks


def test_no_invalid_statement_of_any_class_shows_a_secret() -> None:
    leaks = [
        (text, str(error))
        for statement in statements(OPTIONS["plain"])
        for text in invalidated(statement)
        for error in read_statements(text)
        if isinstance(error, SchemaCoreError) and CANARY in str(error)
    ]

    assert [] == leaks


@pytest.mark.parametrize("form", PARSED)
def test_no_printed_value_shows_a_secret(environment: TableEnvironment, form: str) -> None:
    for statement in statements(OPTIONS[form]):
        list(visible_output(environment, statement))
    created = environment.find_table("s")
    assert created is not None
    options = {key: value for key, value in created.table.get_options().items() if CANARY in value}
    assert options or form == "commented"
    schema = Schema.new_builder().column("a", "INT").build()
    table = TableDescriptor.for_connector("x").schema(schema)
    model, format_ = ModelDescriptor.for_provider("x"), FormatDescriptor.for_format("csv")
    for key, value in options.items():
        table.option(key, value)
        model.option(key, value)
        format_.option(key, value)
    session = environment._session
    catalog = environment.get_catalog("default_catalog")
    values: list[object] = [
        table.build(), model.build(), format_.build(), table.build().to_catalog_table(),
        CatalogDescriptor.of("c", {"type": "x", **options}),
        EnvironmentSettings.new_instance().with_configuration(options).build(),
        environment.get_config().get_configuration(), session.temporary.tables.items(),
        created, environment.find_table("t"), environment.find_table("t2"),
        environment.find_table("m"), environment.find_table("v"), environment.describe("s"),
        [catalog.get_database(name) for name in catalog.list_databases()],
        session.temporary.models.items(), session.registry.names(),
        environment.from_path("s"), environment.from_path("s").relation,
        environment.sql_query(f"SELECT * FROM s /*+ OPTIONS({OPTIONS['plain']}) */").relation,
    ]  # fmt: skip
    for item in values:
        assert CANARY not in repr(item)
        assert CANARY not in str(item)


def outputs_of_option(
    environment: TableEnvironment, key: str, value: str, log: pytest.LogCaptureFixture
) -> Iterator[str]:
    """Yield everything that shows an option, except for errors of malformed statements."""
    option = f"{quote_string(key)} = {quote_string(value)}"
    table = f"CREATE TABLE o (a INT) WITH ('connector' = 'datagen', {option})"
    environment.execute_sql(table)
    for statement in (
        "SHOW CREATE TABLE o", f"CREATE CATALOG k WITH ('type' = 'generic_in_memory', {option})",
        f"CREATE CATALOG k WITH ('type' = 'none', {option})", "SELECT nothing FROM o",
        f"EXPLAIN SELECT * FROM o /*+ OPTIONS({option}) */", f"SELECT a FROM o WITH ({option}) b c",
        f"SET {option}", "SET", f"CREATE TABLE o (a NOTHING) WITH ({option})", table,
        f"CREATE VIEW v AS SELECT * FROM o /*+ OPTIONS({option}) */", "SHOW CREATE VIEW v",
    ):  # fmt: skip
        yield from visible_output(environment, statement)
    yield from (mask_text(table), repr(environment.find_table("o")), log.text)
    yield repr(TableDescriptor.for_connector("x").option(key, value).build())
    yield repr(CatalogDescriptor.of("c", {"type": "x", key: value}))
    yield without_secrets(f"cannot read {value}, {value!r} or {quote_string(value)}", {key: value})
    for statement in ("DROP VIEW v", "DROP TABLE o", f"RESET {quote_string(key)}"):
        environment.execute_sql(statement)


@pytest.mark.parametrize("kind", ["secret", "token"])
def test_no_output_shows_any_kind_of_secret(
    environment: TableEnvironment, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    caplog.set_level(logging.DEBUG)
    secrets = [(key, value, CANARY) for key, value in SECRETS]
    tokens = [("x", token, token.split("//")[-1].split("@")[0]) for token in TOKENS]
    leaks = [
        (key, value, text)
        for key, value, secret in (secrets if kind == "secret" else tokens)
        for text in outputs_of_option(environment, key, value, caplog)
        if secret in text
    ]

    assert [] == leaks


@pytest.mark.parametrize(("key", "value"), INNOCENT)
def test_innocent_options_are_shown(environment: TableEnvironment, key: str, value: str) -> None:
    option = f"{quote_string(key)} = {quote_string(value)}"
    table = f"CREATE TABLE o (a INT) WITH ({option})"
    environment.execute_sql(table)

    assert {key: value} == mask({key: value})
    assert table == mask_text(table)
    assert f"{table} -- it's" == mask_text(f"{table} -- it's")
    [row] = environment.execute_sql("SHOW CREATE TABLE o").collect()
    assert option in row[0]
    assert value == mask_urls(value)
    assert not any("***" in text for text in visible_output(environment, table))


def test_options_returned_by_the_api_are_not_masked(environment: TableEnvironment) -> None:
    environment.execute_sql(f"CREATE TABLE t (a INT) WITH ('password' = '{CANARY}')")

    assert CANARY in environment.get_create_statement("t")
    assert CANARY == environment.find_table("t").table.get_options()["password"]  # type: ignore[union-attr]


@pytest.mark.parametrize("command", [["resolve"], ["resolve", "--batch", "--explain"]])
@pytest.mark.parametrize("form", OPTIONS)
def test_resolve_shows_no_secret(tmp_path: Path, command: list[str], form: str) -> None:
    file = tmp_path / "script.sql"
    file.write_text(";\n".join(statements(OPTIONS[form])))
    result = CliRunner().invoke(application(), [*command, str(file)])

    assert result.output
    assert CANARY not in result.output
    assert CANARY not in str(result.exception)


@pytest.mark.parametrize("form", OPTIONS)
def test_run_shows_no_secret(tmp_path: Path, form: str) -> None:
    created = CREATED.replace("{}", OPTIONS[form])
    hint = f"/*+ OPTIONS({OPTIONS[form]}) */"
    for number, statement in enumerate(
        ("SHOW CREATE TABLE s", f"CREATE VIEW v AS SELECT * FROM s {hint}; SHOW CREATE VIEW v",
         f"SET {OPTIONS[form]}; SET", f"CREATE TABLE s WITH ({OPTIONS[form]}",
         f"INSERT INTO nothing {hint} SELECT 1", f"CREATE CATALOG k WITH ({OPTIONS[form]})")
    ):  # fmt: skip
        file = tmp_path / f"{number}.sql"
        file.write_text(f"{created};\n{statement}")
        result = CliRunner().invoke(application(), ["run", str(file)])

        assert result.output
        assert CANARY not in result.output, statement
        assert CANARY not in str(result.exception)


def test_masking_preserves_lines_of_a_script() -> None:
    text = ";\n".join(statements(OPTIONS["several lines"]))

    assert CANARY not in mask_text(text)
    assert [len(line) for line in text.split("\n")] == list(map(len, mask_text(text).split("\n")))


@pytest.mark.parametrize("chained", [True, False])
def test_table_errors_show_no_secret(chained: bool) -> None:
    """Neither in its message, nor in those of its causes, which a traceback prints."""
    path = f"s3://ann:{CANARY}@bucket/x"
    identifier = ObjectIdentifier.of("c", "d", "t")
    failure = ExternalError(f"cannot read {path}", hint=f"look at {path}")
    failure.__cause__ = OSError(f"no bucket {path if chained else 'there'}")
    with pytest.raises(ExternalError) as caught, using(identifier, {"path": path}, "read"):
        raise failure

    assert CANARY not in "".join(traceback.format_exception(caught.value))
    assert (caught.value.__cause__ is None) is chained
    assert "s3://ann:******@bucket/x" in str(caught.value)
