"""References in options are resolved where they are allowed, and never stored or shown resolved."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest

from schema_core import DataTypes, Schema, TableEnvironment
from schema_core.base.paths import ObjectIdentifier
from schema_core.base.secrets import SecretString, mask, without_secrets
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.jobs.graph import JobGraph
from schema_core.environment.option_references import OptionReferences
from schema_core.environment.planner import BoundTable, Registration
from schema_core.environment.plans.dry_run import (
    ValidatingPlanner,
    dry_run_session,
    dry_run_statement,
)
from schema_core.environment.session import Session
from schema_core.environment.table_api.descriptor import TableDescriptor
from schema_core.environment.table_api.table import inline
from schema_core.errors import SchemaCoreError
from schema_core.query.relation import Relation
from schema_core.sql.parser import parse_statements
from schema_core.sql.syntax import Name

ORDERS = ObjectIdentifier.of("default_catalog", "default_database", "orders")


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a password, and the variable SHOP_USER."""
    monkeypatch.setenv("SHOP_USER", "annabel")
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "password").write_text("letmein\r\n")
    (tmp_path / "other").write_text("other")
    (allowed / "link").symlink_to(tmp_path / "other")
    (allowed / "large").write_text("x" * (64 * 1024 + 1))
    (allowed / "binary").write_bytes(b"\xff")
    return allowed


@pytest.fixture
def references(directory: Path) -> OptionReferences:
    made = OptionReferences()
    made.allow(["SHOP_USER", "NO_SUCH_VARIABLE"], [directory])
    return made


def test_values_are_resolved(references: OptionReferences, directory: Path) -> None:
    options = {
        "url": f"x://${{env:SHOP_USER}}:${{file:{directory}/password}}@host",
        "text": "$${env:SHOP_USER} ${other:x} $",
    }
    resolved = references.resolve(options)

    assert {"url": "x://annabel:letmein@host", "text": "${env:SHOP_USER} ${other:x} $"} == resolved
    assert {"url": "******", "text": resolved["text"]} == mask(resolved)
    assert "got ****** and ******" == without_secrets("got letmein and annabel", resolved)
    assert isinstance(pickle.loads(pickle.dumps(resolved["url"])), SecretString)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("${env:HOME}", "not-allowed"),
        ("${env:}", "not-allowed"),
        ("${env:NO_SUCH_VARIABLE}", "variable-not-found"),
        ("${file:/etc/hostname}", "not-allowed"),
        ("${file:password}", "not-allowed"),
        ("${file:<directory>}", "variable-not-found"),
        ("${file:<directory>/none}", "variable-not-found"),
        ("${file:<directory>/../other}", "not-allowed"),
        ("${file:<directory>/link}", "not-allowed"),
        ("${file:<directory>/large}", "variable-not-found"),
        ("${file:<directory>/binary}", "variable-not-found"),
    ],
)
def test_refused(references: OptionReferences, directory: Path, value: str, code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        references.resolve({"key": value.replace("<directory>", str(directory))})

    assert code == caught.value.code
    assert ("option 'key'",) == tuple(caught.value.path)


def test_tables_store_references(directory: Path) -> None:
    env = TableEnvironment.create()
    env.allow_option_references(["SHOP_USER"], [directory])
    env.execute_sql(
        "CREATE TABLE orders (id INT) WITH ('connector' = 'jdbc', 'table-name' = 'orders',"
        f" 'url' = 'jdbc:sqlite:x.db', 'username' = '${{env:SHOP_USER}}',"
        f" 'password' = '${{file:{directory}/password}}')"
    )
    stored = env.get_catalog("default_catalog").get_table(ORDERS.to_object_path()).get_options()
    bound = env._session.bind(ORDERS)
    ((shown,),) = env.execute_sql("SHOW CREATE TABLE orders").collect()

    assert "${env:SHOP_USER}" == stored["username"]
    assert ("annabel", "letmein") == tuple(
        bound.table.options[key] for key in ("username", "password")
    )
    assert "'username' = '${env:SHOP_USER}'" in shown
    assert [] == [secret for secret in ("annabel", "letmein") if secret in shown + repr(bound)]


def test_catalogs_and_connections_store_references(directory: Path) -> None:
    env = TableEnvironment.create()
    statement = "CREATE CATALOG shop WITH ('type' = 'generic_in_memory', 'default-database' = '{}')"
    with pytest.raises(SchemaCoreError) as caught:
        env.execute_sql(statement.format("${env:SHOP_USER}"))
    assert "not-allowed" == caught.value.code

    env.allow_option_references(["SHOP_USER"])
    env.execute_sql(statement.format("${env:SHOP_USER}"))
    assert ["annabel"] == env.get_catalog("shop").list_databases()
    ((shown,),) = env.execute_sql("SHOW CREATE CATALOG shop").collect()
    assert "'${env:SHOP_USER}'" in shown

    env.execute_sql("CREATE CONNECTION c WITH ('type' = 'x', 'user' = '${env:SHOP_USER}')")
    ((shown,),) = env.execute_sql("SHOW CREATE CONNECTION c").collect()
    assert "'${env:SHOP_USER}'" in shown


def test_descriptors_and_models_have_values(directory: Path) -> None:
    """The targets of `execute_insert`, and what the provider of a model gets."""
    env = TableEnvironment.create()
    schema = Schema.new_builder().column("a", DataTypes.INT()).build()
    descriptor = TableDescriptor.for_connector("filesystem").schema(schema)
    target = descriptor.option("path", "/x/${env:SHOP_USER}").option("format", "csv").build()
    with pytest.raises(SchemaCoreError) as caught:
        inline(env._session, target)
    assert "not-allowed" == caught.value.code

    env.allow_option_references(["SHOP_USER"])
    env.execute_sql(
        "CREATE MODEL m INPUT (a INT) OUTPUT (b INT) WITH ('provider' = 'x', 'key' = "
        "'${env:SHOP_USER}')"
    )
    model = env._session.model(Name(("m",)))

    assert "/x/annabel" == inline(env._session, target).table.options["path"]
    assert "annabel" == model.options["key"]
    assert "annabel" not in repr(model)
    ((shown,),) = env.execute_sql("SHOW CREATE MODEL m").collect()
    assert "'${env:SHOP_USER}'" in shown


def test_directories_are_absolute() -> None:
    with pytest.raises(SchemaCoreError, match="must be an absolute path"):
        TableEnvironment.create().allow_option_references(directories=["secrets"])


class RecordingPlanner(ValidatingPlanner):
    """Records what a planner gets of CREATE and REPLACE TABLE AS."""

    def __init__(self) -> None:
        super().__init__()
        self.created: list[tuple[BoundTable, Registration]] = []

    def create_as(
        self,
        query: Relation,
        target: BoundTable,
        registration: Registration,
        *,
        columns: Sequence[str] | None = None,
    ) -> JobGraph:
        self.created.append((target, registration))
        return super().create_as(query, target, registration, columns=columns)


def test_replaced_tables_have_values(directory: Path) -> None:
    """A connector finds the old rows by the values; the catalog and recovery keep references."""
    planner = RecordingPlanner()
    env = TableEnvironment(Session(EnvironmentSettings.in_batch_mode(), planner))
    env.allow_option_references(["SHOP_USER"], [directory])
    options = "'connector' = 'filesystem', 'format' = 'csv', 'path' = '/x/${env:SHOP_USER}'"
    for head in ("CREATE", "CREATE OR REPLACE", "REPLACE"):
        statement = f"{head} TABLE orders WITH ({options}) AS SELECT 1 AS a"
        assert not env.plan_ctas(statement).problems
        env.execute_sql(statement).wait()
    stored = env.get_catalog("default_catalog").get_table(ORDERS.to_object_path()).get_options()

    assert ["/x/annabel"] * 3 == [bound.table.options["path"] for bound, _ in planner.created]
    assert [None, "/x/annabel", "/x/annabel"] == [
        registration.replaced and registration.replaced.options["path"]
        for _, registration in planner.created
    ]
    assert "/x/${env:SHOP_USER}" == stored["path"]


def test_a_replaced_table_with_a_reference_that_is_not_allowed_is_refused() -> None:
    env = TableEnvironment(Session(EnvironmentSettings.in_batch_mode(), RecordingPlanner()))
    env.execute_sql("CREATE TABLE orders (a INT) WITH ('connector' = 'x', 'k' = '${env:HOME}')")
    statement = "REPLACE TABLE orders WITH ('connector' = 'x') AS SELECT 1 AS a"
    with pytest.raises(SchemaCoreError) as caught:
        env.execute_sql(statement)

    assert "not-allowed" == caught.value.code
    assert "--allow-env 'HOME'" in str(caught.value)
    assert "not-allowed" in {problem.code for problem in env.plan_ctas(statement).problems}


def test_sessions_that_open_no_connectors_keep_references() -> None:
    settings = EnvironmentSettings.in_batch_mode()
    text = (
        "CREATE TABLE orders (a INT) WITH ('connector' = 'x', 'k' = '${env:NONE}');"
        "INSERT INTO orders SELECT 1;"
    )
    with dry_run_session(settings, checks_connectors=False) as session:
        for statement in parse_statements(text):
            dry_run_statement(session, statement, text)
        assert "${env:NONE}" == session.bind(ORDERS).table.options["k"]
