"""Scripts through an environment: statements run, fail or are refused, but never crash.

The target runs an input as `schema-core resolve` does, and each query in it through a session too:
its columns, its Spark SQL, its printed text, a view over it. Then everything that the script
created is listed, described, printed and encoded.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from functools import cache

from fuzz import driver
from schema_core.cli.commands.resolve import Form, check, describe_to
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.plans.dry_run import DryRunPlanner, dry_run_session
from schema_core.environment.session import Session
from schema_core.environment.table_api.table import Table, of_query
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.properties.property_map import encode_object
from schema_core.spark.compiler.query import query_text
from schema_core.sql.parser import parse_statement, read_statements
from schema_core.sql.statement_syntax import SelectStatement, Statement

FORMS = tuple(Form)

#: What a script finds in its session.
SETUP = (
    """CREATE TABLE t (
         a INT NOT NULL, b STRING, c DECIMAL(10, 2), r ROW<x INT, y ARRAY<INT>>,
         m MAP<STRING, INT>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND,
         PRIMARY KEY (a) NOT ENFORCED
       ) WITH ('connector' = 'datagen')""",
    "CREATE TABLE u (a INT, b STRING, p AS PROCTIME()) WITH ('connector' = 'datagen')",
    "CREATE VIEW v AS SELECT a, b FROM t",
)


@cache
def setup() -> tuple[tuple[str, Statement], ...]:
    """The statements of the setup, parsed once."""
    return tuple((text, parse_statement(text)) for text in SETUP)


def settings(*, batch: bool) -> EnvironmentSettings:
    if batch:
        return EnvironmentSettings.in_batch_mode()
    return EnvironmentSettings.in_streaming_mode()


def new_session(*, batch: bool) -> Session:
    """A session with tables and a view in it, whose planner runs nothing."""
    return prepared(Session(settings(batch=batch), DryRunPlanner()))


def prepared(session: Session) -> Session:
    """Create the tables and the view of the setup in a session."""
    environment = TableEnvironment(session)
    for text, statement in setup():
        environment.execute_statement(statement, text)
    return session


def target(text: str) -> None:
    """Check the text as a script; then use its queries and what it created."""
    chosen = zlib.crc32(text.encode("utf-8", "surrogatepass"))
    strict = chosen % 5 == 0
    with dry_run_session(settings(batch=chosen % 2 == 0), checks_connectors=strict) as session:
        prepared(session)
        add = describe_to(FORMS[chosen % len(FORMS)], {})
        check(session, text, add, definitions=strict)
        with suppress(SchemaCoreError):
            for statement in read_statements(text):
                if isinstance(statement, SelectStatement):
                    with suppress(SchemaCoreError):
                        use_query(of_query(session, statement.query, text))
        use_objects(TableEnvironment(session))


def use_query(table: Table) -> None:
    """Print a query, compile it for Spark, and create a view of it."""
    table.get_resolved_schema()
    for use in (
        table.as_sql,
        table.to_view,
        table.explain,
        lambda: query_text(table.relation, lambda scan: "input"),
    ):
        with suppress(SchemaCoreError):
            use()


def use_objects(environment: TableEnvironment) -> None:
    """Describe, print and encode every table and view."""
    with suppress(SchemaCoreError):
        for name in (*environment.list_tables(), *environment.list_temporary_tables()):
            path = "`" + name.replace("`", "``") + "`"
            with suppress(SchemaCoreError):
                environment.from_path(path).get_resolved_schema()
            with suppress(SchemaCoreError):
                environment.get_create_statement(path)
            with suppress(SchemaCoreError):
                str(environment.describe(path))
            with suppress(SchemaCoreError):
                if result := environment.find_table(path):
                    encode_object(result.table)


if __name__ == "__main__":
    driver.main("resolve", target)
