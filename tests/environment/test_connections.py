"""Connections: CREATE, ALTER, DROP, SHOW and DESCRIBE, with secrets masked."""

from __future__ import annotations

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError

SECRET = "hunter2"


@pytest.fixture
def environment() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.execute_sql(
        f"CREATE CONNECTION c COMMENT 'it''s' WITH ('type' = 'basic', 'password' = '{SECRET}')"
    )
    return made


def rows(environment: TableEnvironment, statement: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in environment.execute_sql(statement).collect()]


def code(environment: TableEnvironment, statement: str) -> str:
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(statement)
    assert caught.value.span is not None
    return caught.value.code


def test_a_connection_is_described_with_its_secrets_masked(environment: TableEnvironment) -> None:
    described = [("name", "c"), ("type", "basic"), ("comment", "it's")]
    assert rows(environment, "DESCRIBE CONNECTION c") == described
    assert rows(environment, "DESC CONNECTION EXTENDED c") == [
        *described,
        ("option:password", "******"),
    ]
    [(created,)] = rows(environment, "SHOW CREATE CONNECTION c")
    assert created == (
        "CREATE CONNECTION `default_catalog`.`default_database`.`c`\nCOMMENT 'it''s'\nWITH (\n"
        "  'password' = '******',\n  'type' = 'basic'\n)\n"
    )


def test_a_connection_is_altered(environment: TableEnvironment) -> None:
    environment.execute_sql("ALTER CONNECTION c SET ('url' = 'u', 'type' = 'oauth')")
    environment.execute_sql("ALTER CONNECTION c RESET ('password', 'none')")
    environment.execute_sql("ALTER CONNECTION c RENAME TO d")
    assert rows(environment, "DESCRIBE CONNECTION EXTENDED d") == [
        ("name", "d"),
        ("type", "oauth"),
        ("comment", "it's"),
        ("option:url", "u"),
    ]
    for change in ("SET ()", "RESET ()", "RESET ('url', 'type')"):
        assert code(environment, f"ALTER CONNECTION d {change}") == "invalid-statement"
    assert code(environment, "ALTER CONNECTION c SET ('a' = 'b')") == "connection-not-found"
    assert rows(environment, "ALTER CONNECTION IF EXISTS c SET ('a' = 'b')") == [("OK",)]
    environment.execute_sql("CREATE CONNECTION e WITH ('a' = 'b')")
    assert code(environment, "ALTER CONNECTION e RENAME TO d") == "connection-exists"
    assert rows(environment, "ALTER CONNECTION e RENAME TO e") == [("OK",)]


def test_creating_twice(environment: TableEnvironment) -> None:
    again = "CONNECTION{} c WITH ('type' = 'new')"
    assert code(environment, f"CREATE {again.format('')}") == "connection-exists"
    environment.execute_sql(f"CREATE {again.format(' IF NOT EXISTS')}")
    assert rows(environment, "DESCRIBE CONNECTION c")[1] == ("type", "basic")
    environment.execute_sql(f"CREATE OR REPLACE {again.format('')}")
    assert rows(environment, "DESCRIBE CONNECTION c")[1] == ("type", "new")
    both = f"CREATE OR REPLACE {again.format(' IF NOT EXISTS')}"
    assert code(environment, both) == "invalid-statement"
    environment.execute_sql("CREATE OR REPLACE TEMPORARY CONNECTION n WITH ('type' = 'x')")
    environment.execute_sql("CREATE OR REPLACE TEMPORARY CONNECTION n WITH ('type' = 'y')")
    assert rows(environment, "DESCRIBE CONNECTION n")[1] == ("type", "y")


def test_temporary_connections_hide_others(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE TEMPORARY CONNECTION c WITH ('type' = 'session')")
    assert rows(environment, "DESCRIBE CONNECTION c")[1] == ("type", "session")
    assert environment.list_hidden() == [
        "temporary connection default_catalog.default_database.c hides a connection"
    ]
    environment.execute_sql("CREATE TEMPORARY SYSTEM CONNECTION c WITH ('type' = 'system')")
    assert rows(environment, "DESCRIBE CONNECTION c")[1] == ("type", "system")
    assert rows(environment, "DESCRIBE CONNECTION default_database.c")[1] == ("type", "session")
    for temporary in ("TEMPORARY SYSTEM ", "TEMPORARY ", ""):
        environment.execute_sql(f"DROP {temporary}CONNECTION c")
        assert code(environment, f"DROP {temporary}CONNECTION c") == "connection-not-found"
        assert rows(environment, f"DROP {temporary}CONNECTION IF EXISTS c") == [("OK",)]
    assert code(environment, "DESCRIBE CONNECTION c") == "connection-not-found"


def test_connections_are_listed_by_database(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE DATABASE d")
    environment.execute_sql("CREATE CONNECTION d.x1 WITH ('a' = 'b')")
    environment.execute_sql("CREATE TEMPORARY CONNECTION d.y1 WITH ('a' = 'b')")
    environment.execute_sql("CREATE TEMPORARY SYSTEM CONNECTION s WITH ('a' = 'b')")
    assert rows(environment, "SHOW CONNECTIONS") == [("c",), ("s",)]
    assert rows(environment, "SHOW CONNECTIONS FROM d") == [("s",), ("x1",), ("y1",)]
    assert rows(environment, "SHOW CONNECTIONS IN d LIKE '%1'") == [("x1",), ("y1",)]
    assert rows(environment, "SHOW CONNECTIONS IN d NOT LIKE '%1'") == [("s",)]
    assert code(environment, "SHOW CONNECTIONS FROM e") == "database-not-found"
    assert code(environment, "CREATE CONNECTION e.x WITH ('a' = 'b')") == "database-not-found"


def test_a_catalog_without_connections_refuses_permanent_ones(
    environment: TableEnvironment,
) -> None:
    environment.execute_sql("CREATE CATALOG k WITH ('type' = 'sql', 'url' = 'sqlite://')")
    environment.execute_sql("CREATE DATABASE k.d")
    assert code(environment, "CREATE CONNECTION k.d.x WITH ('a' = 'b')") == "unsupported-capability"
    environment.execute_sql("CREATE TEMPORARY CONNECTION k.d.x WITH ('a' = 'b')")
    assert rows(environment, "SHOW CONNECTIONS FROM k.d") == [("x",)]
