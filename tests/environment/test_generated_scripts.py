"""Scripts generated from the grammar of `fuzz.scripts`."""

from __future__ import annotations

from itertools import islice

from fuzz.scripts import LENGTH, scripts
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import Diagnostic, NotFoundError, SchemaCoreError, UnsupportedError

#: The number of scripts; `python -m fuzz.scripts` compares any number with Flink.
COUNT = 40


def environment() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), planner=DryRunPlanner())


def test_statements_succeed_or_raise_with_code_and_position() -> None:
    done = refused = 0
    for script in islice(scripts(seed=1), COUNT):
        session = environment()
        for statement in script["statements"]:
            if statement.startswith("!"):
                continue
            mistakes = diagnostics_of(session, statement)
            done, refused = done + (not mistakes), refused + bool(mistakes)
            assert all(mistake.code for mistake in mistakes)
            assert all(mistake.line for mistake in mistakes if mistake.text is not None)

    assert done > COUNT * LENGTH / 10
    assert refused > COUNT * LENGTH / 10


def diagnostics_of(session: TableEnvironment, statement: str) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of a statement."""
    try:
        list(session.execute_sql(statement).collect())
    except SchemaCoreError as error:
        return error.diagnostics
    return ()


def test_show_create_recreates_an_equal_object() -> None:
    compared = 0
    for script in islice(scripts(seed=2), COUNT):
        session, other = environment(), environment()
        for statement in script["statements"]:
            try:
                session.execute_sql(statement)
            except SchemaCoreError:
                continue
        session.use_catalog("default_catalog")
        for name in session.list_tables(None, "default_database"):
            shown = written(session, f"default_database.`{name}`")
            if shown is not None and " VIEW " not in shown.partition("\n")[0]:
                other.execute_sql(shown)
                assert shown == written(other, f"default_database.`{name}`")
                compared += 1

    assert compared > COUNT / 4


def written(session: TableEnvironment, path: str) -> str | None:
    """Return the statement of a permanent table whose types can be serialized."""
    result = session.find_table(path)
    if result is None or result.is_temporary or not result.table.resolved_schema.columns:
        return None
    if result.kind.value == "MATERIALIZED_TABLE":
        return None
    try:
        return session.get_create_statement(path)
    except (NotFoundError, UnsupportedError):
        return None
