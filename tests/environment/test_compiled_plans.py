"""Plans: what they hold, where they run, and which statements have none."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from schema_core import DataTypes, EnvironmentSettings, PlanReference, TableEnvironment
from schema_core.base import plugins
from schema_core.base.json_codec import digest
from schema_core.catalog.api import Catalog
from schema_core.catalog.registry import CatalogFactory
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.environment.plans.compiled_plan import MAX_PLAN
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.session import Session
from schema_core.errors import (
    AlreadyExistsError,
    NotFoundError,
    ParseError,
    SchemaCoreError,
    SchemaError,
    UnsupportedError,
)
from schema_core.pyflink.table.udf import udf
from schema_core.query.relation import Relation
from schema_core.sql.syntax import Query

SINK = "CREATE TABLE sink (a INT, b STRING) WITH ('connector' = 'blackhole')"
MEMORY = "default_catalog.default_database"
SOURCE = "CREATE TABLE source (a INT, b STRING) WITH ('connector' = 'datagen', 'password' = 'p')"


def environment(**options: str) -> TableEnvironment:
    settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(options)
    return TableEnvironment.create(settings.build())


def catalog(env: TableEnvironment, tmp_path: Path) -> None:
    """Create the catalog `c`, which another process can open, and use it."""
    env.execute_sql(f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path}/c.db')")
    env.execute_sql("USE CATALOG c")


@pytest.fixture
def env(tmp_path: Path) -> TableEnvironment:
    made = environment()
    catalog(made, tmp_path)
    made.execute_sql(SINK)
    return made


def changed(text: str, **members: object) -> str:
    return json.dumps({**json.loads(text), **members})


def resealed(text: str, **members: Any) -> str:
    """A plan with other members and the right digest."""
    content = {**json.loads(text), **members}
    content.pop("digest", None)
    return json.dumps({**content, "digest": digest(content)})


# --- content --------------------------------------------------------------------------------------


def test_a_plan_is_plain_json(env: TableEnvironment, tmp_path: Path) -> None:
    env.get_config().set("table.local-time-zone", "Asia/Tokyo")
    env.execute_sql("CREATE VIEW v AS SELECT 1 AS a, 'x' AS b")
    text = env.compile_plan_sql("INSERT INTO sink SELECT * FROM v").as_json_string()
    plan = json.loads(text)
    assert plan.pop("digest").startswith("sha256:")
    assert plan.pop("options")["table.local-time-zone"] == "Asia/Tokyo"
    objects = plan.pop("objects")
    assert plan == {
        "format": "schema-core.plan",
        "version": 1,
        "current": ["c", "default"],
        "catalogs": {
            "c": {"options": {"type": "sql", "url": f"sqlite:///{tmp_path}/c.db"}, "comment": None}
        },
        "jobs": [
            {
                "sink": ["c", "default", "sink"],
                "query": "SELECT `v`.`a`, `v`.`b`\nFROM `c`.`default`.`v` AS `v`",
                "kind": "insert",
                "columns": [],
                "partition": None,
                "overwrite": False,
                "hints": {},
                "on_conflict": None,
            }
        ],
        "hooks": [],
    }
    assert [object_["path"][-1] for object_ in objects] == ["sink", "v"]
    assert objects[0]["properties"]["schema.0.data-type"] == "INT"
    assert objects[1]["expanded_query"].startswith("SELECT")


def test_a_view_with_a_secret_has_no_plan(env: TableEnvironment) -> None:
    env.execute_sql("CREATE VIEW v AS SELECT a, b FROM sink /*+ OPTIONS('password' = 'hunter2') */")
    env.execute_sql("CREATE VIEW w AS SELECT * FROM v")
    with pytest.raises(UnsupportedError) as caught:
        env.compile_plan_sql("INSERT INTO sink SELECT * FROM w")
    assert caught.value.code == "feature-not-supported"
    assert "hunter2" not in str(caught.value)


def test_secrets_are_references(env: TableEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    env.execute_sql(SOURCE.replace("TABLE", "TEMPORARY TABLE").replace("'p'", "'hunter2'"))
    env.get_config().set("my.token", "swordfish")
    plan = env.compile_plan_sql("INSERT INTO sink SELECT * FROM source")
    with pytest.raises(UnsupportedError, match="a version of their own format"):
        plan.get_flink_version()
    text = plan.as_json_string()
    assert "hunter2" not in text
    assert "swordfish" not in text
    other = environment()
    with pytest.raises(NotFoundError, match="SCHEMA_CORE_SECRET_OPTIONS_MY_TOKEN") as caught:
        other.execute_plan(PlanReference.from_json_string(text))
    assert caught.value.code == "variable-not-found"
    monkeypatch.setenv("SCHEMA_CORE_SECRET_OPTIONS_MY_TOKEN", "swordfish")
    with pytest.raises(NotFoundError, match="SECRET_C_DEFAULT_SOURCE_PASSWORD"):
        other.execute_plan(PlanReference.from_json_string(text))


def test_each_view_is_resolved_once(env: TableEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    """Views that read the view before twice: without a cache, 2 ** 20 queries are resolved."""
    depth, resolved = 20, list[str | None]()
    env.execute_sql("CREATE TABLE v0 (a INT, b STRING) WITH ('connector' = 'datagen')")
    for number in range(1, depth + 1):
        below = f"v{number - 1}"
        env.execute_sql(
            f"CREATE VIEW v{number} AS SELECT x.a, y.b FROM {below} x JOIN {below} y ON x.a = y.a"
        )
    query = Session.query

    def counted(self: Session, written: Query, text: str | None) -> Relation:
        resolved.append(text)
        return query(self, written, text)

    monkeypatch.setattr(Session, "query", counted)
    plan = env.compile_plan_sql(f"INSERT INTO sink SELECT * FROM v{depth}")
    compiled, objects = len(resolved), json.loads(plan.as_json_string())["objects"]

    # the INSERT, the names in its plan, and the plan that is opened to check it
    assert compiled <= 4 * (depth + 1)
    assert [f"v{number}" for number in range(depth + 1)] == [
        object_["path"][-1] for object_ in objects if object_["path"][-1] != "sink"
    ]


def test_each_value_of_a_secret_has_its_own_name(env: TableEnvironment) -> None:
    for database, table in (("a", "b.c"), ("a.b", "c")):
        path = f"`{database}`.`{table}`"
        env.execute_sql(f"CREATE DATABASE `{database}`")
        options = f"'connector' = 'blackhole', 'password' = '{table}'"
        env.execute_sql(f"CREATE TEMPORARY TABLE {path} (a INT, b STRING) WITH ({options})")
    plan = env.compile_plan_sql(
        "INSERT INTO `a.b`.`c` /*+ OPTIONS('password' = 'other') */ SELECT * FROM `a`.`b.c`"
    )
    text = plan.as_json_string()

    names = {"c.a.`b.c`.password", "c.`a.b`.c.password", "c.`a.b`.c.password-2"}
    assert names == set(re.findall(r'"\$secret": "([^"]+)"', text))


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("SELECT 1", "feature-not-supported"),
        ("CREATE TABLE x (a INT)", "feature-not-supported"),
        ("INSERT INTO missing VALUES (1)", "table-not-found"),
        ("INSERT INTO sink SELECT a FROM sink", "column-count-mismatch"),
        (
            "INSERT INTO sink SELECT 1, b FROM sink /*+ OPTIONS('password' = 'x') */",
            "feature-not-supported",
        ),
        ("INSERT INTO sink SELECT twice(1), 'x'", "feature-not-supported"),
        (f"CREATE TABLE {MEMORY}.x WITH ('connector' = 'blackhole') AS SELECT 1 AS a",
         "feature-not-supported"),
        ("CREATE TABLE sink WITH ('connector' = 'blackhole') AS SELECT 1 AS a", "table-exists"),
        ("CREATE TABLE x WITH ('connector' = 'blackhole', 'no' = '1') AS SELECT 1 AS a",
         "unknown-option"),
        ("CREATE TABLE x WITH ('connector' = 'blackhole') AS SELECT NULL AS a",
         "data-type-not-inferred"),
    ],
)  # fmt: skip
def test_what_has_no_plan(env: TableEnvironment, statement: str, code: str) -> None:
    twice = udf(lambda i: i * 2, input_types=[DataTypes.INT()], result_type=DataTypes.INT())
    env.create_temporary_function("twice", twice)
    with pytest.raises(SchemaCoreError) as caught:
        env.compile_plan_sql(statement)
    assert caught.value.code == code


def test_rows_of_this_process_have_no_plan(env: TableEnvironment) -> None:
    rows = env.from_elements([(1, "x")], ["a", "b"])
    rows.insert_into("sink").compile_plan()  # rows of Python are part of the query
    view = env.sql_query("SELECT 1 AS a, 'x' AS b")
    env.create_temporary_view("w", view)
    with pytest.raises(UnsupportedError) as caught:
        env.from_path("w").insert_into("sink").compile_plan()
    assert caught.value.code == "feature-not-supported"


def test_hooks_have_names(env: TableEnvironment) -> None:
    class Hook:
        def on_created(self, job_id: str) -> None: ...
        def on_finished(self, job_id: str) -> None: ...
        def on_failed(self, job_id: str, error: BaseException) -> None: ...
        def on_canceled(self, job_id: str) -> None: ...

    pipeline = env.sql_query("SELECT 1, 'x'").insert_into("sink")
    pipeline.register_job_status_hook("audit")
    assert json.loads(pipeline.compile_plan().as_json_string())["hooks"] == ["audit"]
    pipeline.register_job_status_hook(Hook())
    with pytest.raises(UnsupportedError) as caught:
        pipeline.compile_plan()
    assert caught.value.code == "invalid-state"


# --- reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda text: "", "invalid-plan"),
        (lambda text: "[" * 100_000, "invalid-plan"),
        (lambda text: "[]", "invalid-plan"),
        (lambda text: '{"flinkVersion": "2.3", "nodes": []}', "invalid-plan"),
        (lambda text: changed(text, version=2), "version-not-supported"),
        (lambda text: changed(text, hooks=["x"]), "invalid-plan"),
        (lambda text: text.replace("`b`", "'y'"), "invalid-plan"),
        (lambda text: resealed(text, more=1), "invalid-plan"),
        (lambda text: resealed(text, jobs={}), "invalid-plan"),
        (lambda text: resealed(text, jobs=[1]), "invalid-plan"),
        (lambda text: resealed(text, jobs=[{"kind": "insert", "class": "os.system"}]),
         "invalid-plan"),
        (lambda text: resealed(text, jobs=[{"kind": "insert"}]), "invalid-plan"),
        (lambda text: resealed(text, jobs=[]), "invalid-plan"),
        (lambda text: resealed(text, version=True), "invalid-plan"),
        (lambda text: resealed(text, jobs=[{**json.loads(text)["jobs"][0], "kind": "delete"}]),
         "invalid-plan"),
        (lambda text: resealed(text, objects=[{**json.loads(text)["objects"][0], "kind": "table"}]),
         "invalid-plan"),
        (lambda text: resealed(text, current=["c"]), "invalid-plan"),
        (lambda text: resealed(text, objects=[{"path": [1, 2]}]), "invalid-plan"),
        (lambda text: " " * (MAX_PLAN + 1), "invalid-plan"),
    ],
)  # fmt: skip
def test_what_is_not_a_plan(env: TableEnvironment, change: Any, code: str) -> None:
    text = env.compile_plan_sql("INSERT INTO sink SELECT a, b FROM sink").as_json_string()
    with pytest.raises(SchemaError) as caught:
        env.load_plan(PlanReference.from_json_string(change(text)))
    assert caught.value.code == code


@pytest.mark.usefixtures("spark")
def test_plan_files(env: TableEnvironment, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "plan.json"
    statement = f"COMPILE PLAN '{path}' FOR INSERT INTO sink VALUES (1, 'x')"
    env.execute_sql(statement)
    first = path.read_text(encoding="utf-8")
    with pytest.raises(AlreadyExistsError) as caught:
        env.execute_sql(statement)
    assert caught.value.code == "already-exists"
    other = statement.replace("FOR", "IF NOT EXISTS FOR").replace("'x'", "'y'")
    env.execute_sql(other)
    assert path.read_text(encoding="utf-8") == first
    env.execute_sql("SET 'table.plan.force-recompile' = 'true'")
    env.execute_sql(other)
    assert "'y'" in path.read_text(encoding="utf-8")
    assert [item.name for item in path.parent.iterdir()] == ["plan.json"]
    with pytest.raises(NotFoundError) as missing:
        env.execute_sql("EXECUTE PLAN '/missing/plan.json'")
    assert missing.value.code == "file-not-found"
    with pytest.raises(SchemaError, match="local file"):
        env.execute_sql("EXECUTE PLAN 's3://bucket/plan.json'")
    assert env.load_plan(PlanReference.from_file(f"file://{path}")).explain()


# --- what has changed -----------------------------------------------------------------------------


def test_a_changed_or_missing_table_is_refused(env: TableEnvironment) -> None:
    plan = env.compile_plan_sql("INSERT INTO sink VALUES (1, 'x')")
    env.execute_sql("ALTER TABLE sink ADD c INT")
    with pytest.raises(SchemaError) as caught:
        plan.execute()
    assert caught.value.code == "plan-outdated"
    env.execute_sql("DROP TABLE sink")
    with pytest.raises(NotFoundError) as missing:
        plan.execute()
    assert missing.value.code == "plan-outdated"


@pytest.mark.usefixtures("spark")
def test_a_catalog_in_memory_is_part_of_the_plan() -> None:
    env = environment()
    env.execute_sql(SINK)
    text = env.compile_plan_sql("INSERT INTO sink VALUES (1, 'x')").as_json_string()
    assert json.loads(text)["catalogs"] == {}
    assert environment().load_plan(PlanReference.from_json_string(text)).explain()


AS_SELECT = "CREATE TABLE made WITH ('connector' = 'blackhole') AS SELECT 1 AS a"


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("statement", [AS_SELECT, "INSERT INTO sink VALUES (1, 'x')"])
def test_another_catalog_of_the_same_name_is_refused(
    env: TableEnvironment, statement: str, tmp_path: Path
) -> None:
    reference = PlanReference.from_json_string(env.compile_plan_sql(statement).as_json_string())
    (tmp_path / "other").mkdir()
    other = environment()
    catalog(other, tmp_path / "other")
    other.execute_sql(SINK)
    with pytest.raises(SchemaError, match=r"catalog 'c' of this session .*: url") as caught:
        other.load_plan(reference).explain()
    assert caught.value.code == "plan-outdated"
    assert other.list_tables() == ["sink"]

    other.execute_sql("USE CATALOG default_catalog")
    other.execute_sql("DROP CATALOG c")
    assert other.load_plan(reference).explain()

    other.register_catalog("c", InMemoryCatalog("c"))
    with pytest.raises(SchemaError, match="not created from options") as unknown:
        other.load_plan(reference).explain()
    assert unknown.value.code == "plan-outdated"


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("options", "differing"),
    [("'address' = 'tcp://ann:other@one/c', 'password' = 'other'", ""),
     ("'address' = 'tcp://ann:hunter2@two/c', 'password' = 'hunter2'", "address"),
     ("'address' = 'tcp://one/c', 'password' = 'hunter2'", "address"),
     ("'address' = 'tcp://ann:hunter2@one/c'", "")],
)  # fmt: skip
def test_catalogs_are_compared_without_their_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str, differing: str
) -> None:
    def make(name: str, options: Mapping[str, str]) -> Catalog:
        return SqlCatalog(name, f"sqlite:///{tmp_path}/c.db")

    far = CatalogFactory(frozenset({"address", "password"}), make)
    monkeypatch.setattr(sys.modules[__name__], "FAR", far, raising=False)
    monkeypatch.setitem(plugins.OWN[plugins.CATALOGS], "far", f"{__name__}:FAR")

    def with_catalog(options: str) -> TableEnvironment:
        made = environment()
        made.execute_sql(f"CREATE CATALOG c WITH ('type' = 'far', {options})")
        made.execute_sql("USE CATALOG c")
        return made

    env = with_catalog("'address' = 'tcp://ann:hunter2@one/c', 'password' = 'hunter2'")
    text = env.compile_plan_sql(AS_SELECT).as_json_string()
    assert "hunter2" not in text
    plan = with_catalog(options).load_plan(PlanReference.from_json_string(text))
    if not differing:
        assert plan.explain()
        return
    with pytest.raises(SchemaError, match=f"in: {differing}\n") as caught:
        plan.explain()
    assert caught.value.code == "plan-outdated"
    assert "hunter2" not in str(caught.value)


def test_a_table_whose_url_names_another_host_has_changed(tmp_path: Path) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), planner=DryRunPlanner())
    catalog(env, tmp_path)
    env.execute_sql(SINK)
    made = "CREATE TABLE far (a INT) WITH ('connector' = 'jdbc', 'table-name' = 't', 'url' = '{}')"
    env.execute_sql(made.format("jdbc:postgresql://one/db?user=ann&password=hunter2"))
    plan = env.compile_plan_sql("INSERT INTO sink SELECT a, 'x' FROM far")
    far = {"far": "jdbc:postgresql://two/db?user=ann&password=hunter2",
           "same": "jdbc:postgresql://one/db?user=ann&password=swordfish"}  # fmt: skip
    env.execute_sql(f"ALTER TABLE far SET ('url' = '{far['far']}')")
    with pytest.raises(SchemaError) as caught:
        plan.explain()
    assert caught.value.code == "plan-outdated"
    env.execute_sql(f"ALTER TABLE far SET ('url' = '{far['same']}')")
    assert plan.explain()


@pytest.mark.parametrize(
    "statement",
    [
        "COMPILE PLAN x FOR INSERT INTO t SELECT 1",
        "COMPILE PLAN 'x' FOR SELECT 1",
        "COMPILE PLAN 'x' FOR EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END",
        "COMPILE PLAN 'x' FOR CREATE TABLE t AS SELECT 1 AS a",
        "COMPILE AND EXECUTE PLAN 'x' IF NOT EXISTS FOR INSERT INTO t SELECT 1",
        "EXPLAIN EXECUTE PLAN 'x'",
        "EXECUTE PLAN x",
    ],
)
def test_the_grammar_is_that_of_flink(statement: str) -> None:
    with pytest.raises(ParseError):
        environment().execute_sql(statement)
