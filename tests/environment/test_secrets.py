"""A canary: what is given as a secret is in no output, no error, no log and no printed value."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from schema_core.catalog.store import CatalogDescriptor
from schema_core.cli.main import application
from schema_core.environment.descriptor import FormatDescriptor, ModelDescriptor, TableDescriptor
from schema_core.environment.rehearsal import Rehearsal
from schema_core.environment.settings import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.schema.unresolved import Schema
from schema_core.secrets import SECRET_WORDS, mask_text
from schema_core.sql.statement import parse_statement, read_statements

CANARY = "kanarienvogel"

#: Keys that contain each of the secret words, in some case.
KEYS = tuple(f"properties.{word.upper() if len(word) % 2 else word}" for word in SECRET_WORDS)
WITH = "WITH (" + ", ".join(f"'{key}' = '{CANARY}'" for key in KEYS) + ")"
PLAIN = (
    f"'connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'csv', 'password' = '{CANARY}'"
)

#: Statements of all kinds that carry options, and those that show something; right and wrong ones.
STATEMENTS = (
    f"CREATE TABLE t (a INT) {WITH}",
    f"CREATE TABLE t (a INT) {WITH}",
    f"CREATE TABLE f (a INT) WITH ({PLAIN})",
    f"CREATE TABLE g (a INT) WITH ('connector' = 'nowhere', 'password' = '{CANARY}')",
    f"CREATE TEMPORARY TABLE u (a INT) {WITH}",
    f"CREATE TABLE l {WITH} LIKE t",
    f"CREATE TABLE l2 {WITH} LIKE t (OVERWRITING OPTIONS)",
    f"CREATE TABLE l3 {WITH} LIKE t (EXCLUDING NOTHING)",
    f"CREATE TABLE c {WITH} AS SELECT 1 AS a",
    f"CREATE TABLE c2 {WITH} AS SELECT nothing AS a",
    f"CREATE MATERIALIZED TABLE m {WITH} FRESHNESS = INTERVAL '1' HOUR AS SELECT 1 AS a",
    f"CREATE DATABASE d {WITH}",
    f"CREATE DATABASE d {WITH}",
    f"CREATE CATALOG k {WITH}",
    f"CREATE CATALOG k WITH ('type' = 'generic_in_memory', 'password' = '{CANARY}')",
    f"CREATE CATALOG k WITH ('type' = 'sql', 'url' = 'postgresql://u:{CANARY}@nowhere/d')",
    f"CREATE CATALOG k WITH ('type' = 'nowhere', 'password' = '{CANARY}')",
    f"CREATE MODEL o INPUT (a INT) OUTPUT (b INT) {WITH}",
    f"CREATE TEMPORARY MODEL o2 INPUT (a INT) OUTPUT (b INT) {WITH}",
    f"CREATE FUNCTION fn AS 'com.acme.Plus' {WITH}",
    f"CREATE FUNCTION fn AS 'com.acme.Plus' USING JAR 'x.jar' {WITH}",
    f"CREATE VIEW v AS SELECT * FROM f /*+ OPTIONS('password' = '{CANARY}') */",
    f"CREATE VIEW v2 AS SELECT nothing FROM f /*+ OPTIONS('password' = '{CANARY}') */",
    f"ALTER TABLE t SET ('password' = '{CANARY}')",
    f"ALTER TABLE nothing SET ('password' = '{CANARY}')",
    f"ALTER DATABASE d SET ('password' = '{CANARY}')",
    f"ALTER CATALOG default_catalog SET ('password' = '{CANARY}')",
    f"ALTER MODEL o SET ('api-key' = '{CANARY}')",
    f"ALTER TABLE f ADD PARTITION (a = 1) WITH ('password' = '{CANARY}')",
    f"SET 'my.password' = '{CANARY}'",
    f"SET my.password = {CANARY}",
    f"SET 'table.local-time-zone.password' = '{CANARY}'",
    f"LOAD MODULE nothing WITH ('password' = '{CANARY}')",
    # wrong texts, whose lines are shown
    f"CREATE TABLE x (a INT) WITH ('password' = '{CANARY}' 'b' = 'c')",
    f"CREATE TABLE x (a INT) WITH ('password' '{CANARY}')",
    f"CREATE TABLE x (a INT) WITH ('password' = '{CANARY}",
    f"CREATE TABLE x (a INT) WITH ('password' = = '{CANARY}')",
    f"CREATE TABLE x (a NOTHING, b) WITH ('password' = '{CANARY}')",
    f"CREATE TABLE x (a INT, a INT) WITH ('password' = '{CANARY}')",
    f"CREATE TABLE x (a INT) -- it's odd\n WITH ('password' = '{CANARY}') AND",
    f"CREATE TABLE x (a INT) /* it's odd */ WITH ('token' = '{CANARY}'), ('secret' = '{CANARY}')",
    f"SET 'password' = '{CANARY}' 'more'",
    f"SET password = {CANARY} more",
    f"ALTER TABLE t SET ('password' = '{CANARY}'",
    f"SELECT * FROM t /*+ OPTIONS('password' = '{CANARY}' */",
    # what shows
    *(f"SHOW CREATE TABLE {one}" for one in ("t", "f", "u", "l", "l2", "c")),
    "SHOW CREATE MATERIALIZED TABLE m", "SHOW CREATE CATALOG k", "SHOW CREATE MODEL o",
    "SHOW CREATE MODEL o2", "SHOW CREATE VIEW v", "DESCRIBE t", "DESCRIBE EXTENDED t",
    "DESCRIBE CATALOG EXTENDED k", "DESCRIBE FUNCTION EXTENDED fn", "DESCRIBE FUNCTION fn",
    "DESCRIBE MODEL o", "DESCRIBE DATABASE d", "SHOW COLUMNS FROM t", "SHOW PARTITIONS f",
    "SHOW TABLES", "SHOW CATALOGS", "SHOW DATABASES", "SHOW USER FUNCTIONS", "SHOW MODELS",
    "EXPLAIN SELECT * FROM f", "EXPLAIN SELECT * FROM v", "SELECT * FROM f", "SELECT * FROM g",
    f"EXPLAIN SELECT * FROM f /*+ OPTIONS('password' = '{CANARY}') */",
    f"INSERT INTO f /*+ OPTIONS('password' = '{CANARY}') */ SELECT 1",
    "INSERT INTO g SELECT 1", "INSERT INTO f SELECT 'x', 2",
    "DROP TABLE nothing", "DROP MODEL o", "DROP DATABASE d",
)  # fmt: skip


def told(environment: TableEnvironment, statement: str) -> Iterator[str]:
    """All that is to be seen of a statement: its result, its error, its tree."""
    try:
        parsed = parse_statement(statement)
        yield repr(parsed)
        yield parsed.as_summary_string()
    except SchemaCoreError as error:
        yield from of_error(error)
    try:
        result = environment.execute_sql(statement)
        yield repr(result)
        yield repr(list(result.collect()))
    except SchemaCoreError as error:
        yield from of_error(error)


def of_error(error: SchemaCoreError) -> Iterator[str]:
    yield str(error)
    yield repr(error)
    yield "".join(traceback.format_exception_only(error))
    for one in error.diagnostics:
        yield repr(one)
        yield str(one)
    if error.__cause__ is not None:
        yield str(error.__cause__)


@pytest.fixture
def environment() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode(), planner=Rehearsal())


def test_no_statement_tells_a_secret(
    environment: TableEnvironment, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    leaks = [
        (statement, text)
        for statement in STATEMENTS
        for text in told(environment, statement)
        if CANARY in text
    ]

    assert [] == leaks
    assert CANARY not in caplog.text


def test_no_printed_value_tells_a_secret(environment: TableEnvironment) -> None:
    for statement in STATEMENTS:
        list(told(environment, statement))
    schema = Schema.new_builder().column("a", "INT").build()
    table = TableDescriptor.for_connector("x").schema(schema).option("password", CANARY).build()
    model = ModelDescriptor.for_provider("x").option("api-key", CANARY).build()
    session = environment._session
    catalog = environment.get_catalog("default_catalog")
    values = [
        table, model, FormatDescriptor.for_format("csv").option("token", CANARY).build(),
        table.to_catalog_table(), CatalogDescriptor.of("c", {"type": "x", "password": CANARY}),
        EnvironmentSettings.new_instance().with_configuration({"my.password": CANARY}).build(),
        environment.get_config().get_configuration(), session.temporary.tables.items(),
        environment.find_table("t"),
        environment.find_table("m"), environment.find_table("v"), environment.describe("t"),
        [catalog.get_database(name) for name in catalog.list_databases()],
        session.temporary.models.items(), session.registry.names(),
        environment.from_path("t"), environment.from_path("t").relation,
    ]  # fmt: skip
    for value in values:
        assert CANARY not in repr(value)
        assert CANARY not in str(value)


def test_programs_get_the_secrets(environment: TableEnvironment) -> None:
    environment.execute_sql(f"CREATE TABLE t (a INT) WITH ('password' = '{CANARY}')")

    assert CANARY in environment.get_create_statement("t")
    assert CANARY == environment.find_table("t").table.get_options()["password"]  # type: ignore[union-attr]


@pytest.mark.parametrize("command", [["resolve"], ["resolve", "--batch"], ["run"]])
def test_no_command_tells_a_secret(tmp_path: Path, command: list[str]) -> None:
    for number, statement in enumerate(STATEMENTS):
        if command == ["run"] and not (statement.count("=") and "SELECT * FROM" not in statement):
            continue
        file = tmp_path / f"{number}.sql"
        file.write_text(f"CREATE TABLE f (a INT) WITH ({PLAIN});\n{statement}")
        result = CliRunner().invoke(application(), [*command, str(file)])

        assert CANARY not in result.output, statement
        assert CANARY not in str(result.exception)


def test_a_whole_script_tells_none() -> None:
    text = ";\n".join(STATEMENTS)
    found = [one for one in read_statements(text) if isinstance(one, SchemaCoreError)]

    assert found
    assert [] == [str(one) for one in found if CANARY in str(one)]
    assert CANARY not in mask_text(STATEMENTS[0])
