"""Arguments of the planner: queries with expanded views, targets, columns, registration of CTAS."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.jobs.graph import JobExecution, JobGraph
from schema_core.environment.planner import BoundTable, Registration
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.plans.explain_detail import ExplainDetail
from schema_core.environment.result import TableResult
from schema_core.environment.table_api.descriptor import TableDescriptor
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError, SchemaError
from schema_core.query.relation import Relation, Scan, result_columns
from schema_core.schema.unresolved import Schema


class Noting(DryRunPlanner):
    """A planner that records the jobs without running them."""

    def __init__(self) -> None:
        self.jobs: list[dict[str, Any]] = []
        self.fails = False
        self.between: Callable[[], object] = lambda: None

    def insert(
        self,
        query: Relation,
        target: BoundTable,
        *,
        columns: Sequence[str] | None = None,
        overwrite: bool = False,
        partition: Mapping[str, str] | None = None,
        on_conflict: str | None = None,
    ) -> JobGraph:
        name = target.identifier.object_name
        into = None if columns is None else list(columns)
        self.jobs.append(
            {
                "query": query,
                "into": name,
                "columns": into,
                "overwrite": overwrite,
                "partition": partition,
            }
        )
        return JobGraph("1", JobExecution(), [target.identifier])

    def create_as(
        self,
        query: Relation,
        target: BoundTable,
        registration: Registration,
        *,
        columns: Sequence[str] | None = None,
    ) -> JobGraph:
        self.insert(query, target, columns=columns)
        return JobGraph("1", Creation(self, registration), [target.identifier])


class Creation(JobExecution):
    """A job that creates a table, and fails if its planner is set to fail."""

    def __init__(self, planner: Noting, registration: Registration) -> None:
        self._planner = planner
        self._registration = registration

    def begin(self) -> None:
        self._registration.create()

    def run(self, job_id: str) -> None:
        if self._planner.fails:
            self._planner.between()
            raise ExternalError("the job failed")

    def commit(self) -> None:
        self._registration.settle()

    def abort(self) -> None:
        if self._registration.atomic:
            self._registration.undo()


@pytest.fixture
def planner() -> Noting:
    return Noting()


@pytest.fixture
def environment(planner: Noting) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode()
    environment = TableEnvironment.create(settings, planner=planner)
    environment.get_config().set("table.dml-sync", "true")
    environment.execute_sql("CREATE TABLE s (a INT NOT NULL, b STRING)")
    environment.execute_sql("CREATE TABLE sink (a BIGINT, b STRING, c AS a + 1) PARTITIONED BY (b)")
    return environment


def code(environment: TableEnvironment, statement: str) -> str:
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(statement)
    return caught.value.code


def columns(environment: TableEnvironment, path: str) -> list[str]:
    result = environment.find_table(path)
    assert result is not None
    return [str(column) for column in result.table.resolved_schema.columns]


def scans(node: Any) -> list[str]:
    """Return the tables that a relation reads."""
    if isinstance(node, Scan):
        return [node.table.identifier.object_name]
    if isinstance(node, tuple):
        return [name for part in node for name in scans(part)]
    names = getattr(node, "__dataclass_fields__", {})
    if not type(node).__module__.endswith("query.relation"):
        return []
    return [name for field in names for name in scans(getattr(node, field))]


# --- INSERT ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "into", "overwrite"),
    [
        ("INSERT INTO sink SELECT a, b FROM s", None, False),
        ("INSERT INTO sink (b, a) SELECT b, a FROM s", ["b", "a"], False),
        ("INSERT INTO sink (a) SELECT a FROM s", ["a"], False),
        ("INSERT OVERWRITE sink SELECT * FROM s", None, True),
        ("INSERT INTO sink PARTITION (b = 'x') SELECT a FROM s", ["a", "b"], False),
        ("EXECUTE INSERT INTO sink SELECT a, b FROM s", None, False),
    ],
)
def test_insert(
    environment: TableEnvironment,
    planner: Noting,
    statement: str,
    into: list[str] | None,
    overwrite: bool,
) -> None:
    environment.execute_sql(statement)
    (job,) = planner.jobs

    assert ("sink", into, overwrite) == (job["into"], job["columns"], job["overwrite"])
    assert ({"b": "x"} if "PARTITION" in statement else None) == job["partition"]


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        ("INSERT INTO nowhere SELECT 1", "table-not-found"),
        ("INSERT INTO sink SELECT a FROM s", "column-count-mismatch"),
        ("INSERT INTO sink SELECT b, a FROM s", "not-assignable"),
        ("INSERT INTO sink (a, c) SELECT a, a FROM s", "unknown-column"),
        ("INSERT INTO sink (a, a) SELECT a, a FROM s", "duplicate-column"),
        ("INSERT INTO sink PARTITION (a = '1') SELECT b FROM s", "unknown-column"),
        ("DELETE FROM sink", "missing-connector"),
    ],
)
def test_refused_inserts(
    environment: TableEnvironment, planner: Noting, statement: str, refusal: str
) -> None:
    assert refusal == code(environment, statement)
    assert [] == planner.jobs


@pytest.mark.parametrize(
    ("key", "type_", "value"),
    [
        ("i", "INT", "'01'"),
        ("d", "DATE", "'2020-01-01'"),
        ("i", "BIGINT", "7"),
        ("s", "STRING", "'x'"),
    ],
)
def test_a_partition_value_is_cast_to_the_type_of_its_column(
    environment: TableEnvironment, planner: Noting, key: str, type_: str, value: str
) -> None:
    environment.execute_sql(f"CREATE TABLE p (a INT, {key} {type_}) PARTITIONED BY ({key})")
    environment.execute_sql(f"INSERT INTO p PARTITION ({key} = {value}) SELECT a FROM s")
    (job,) = planner.jobs
    given = {column.name: column.type for column in result_columns(job["query"])}

    assert ({"a", key}, {key: value.strip("'")}) == (set(given), job["partition"])
    assert type_ == "STRING" or type_ == given[key].as_summary_string()


def test_views_are_replaced_by_their_queries(
    environment: TableEnvironment, planner: Noting
) -> None:
    environment.execute_sql("CREATE VIEW v AS SELECT a AS x, b FROM s")
    environment.execute_sql("CREATE TEMPORARY VIEW w AS SELECT b, x FROM v")
    environment.execute_sql("INSERT INTO sink SELECT x, b FROM w")

    assert ["s"] == scans(planner.jobs[0]["query"])


def test_a_statement_set_is_checked_before_it_runs(
    environment: TableEnvironment, planner: Noting
) -> None:
    good, bad = "INSERT INTO sink SELECT a, b FROM s", "INSERT INTO sink SELECT gone FROM s"
    with pytest.raises(SchemaCoreError):
        environment.create_statement_set().add_insert_sql(good).add_insert_sql(bad)
    assert [] == planner.jobs
    table = environment.sql_query("SELECT a, b FROM s")
    environment.create_statement_set().add_insert_sql(good).add_insert("sink", table).execute()

    assert ["sink", "sink"] == [job["into"] for job in planner.jobs]


def test_insert_into_a_descriptor(environment: TableEnvironment, planner: Noting) -> None:
    schema = Schema.new_builder().column("a", "INT").column("b", "STRING").build()
    descriptor = TableDescriptor.for_connector("print").schema(schema).build()
    environment.from_path("s").execute_insert(descriptor)

    assert planner.jobs[0]["into"].startswith("*anonymous_print$")
    assert ["s", "sink"] == environment.list_tables()


def test_a_descriptor_without_columns_has_those_of_the_query(
    environment: TableEnvironment, planner: Noting
) -> None:
    key = Schema.new_builder().primary_key("a").build()
    for builder in (
        TableDescriptor.for_connector("print"),
        TableDescriptor.for_connector("print").schema(key),
    ):
        pipeline = environment.sql_query("SELECT a, b FROM s").insert_into(builder.build())
        pipeline.execute()
        explained = pipeline.explain()
        assert "fields=[`a`, `b`]" in explained

    assert 2 == len(planner.jobs)


# --- CREATE TABLE AS -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("elements", "query", "expected"),
    [
        ("", "SELECT * FROM s", ["`a` INT NOT NULL", "`b` STRING"]),
        ("", "SELECT a + 1, a, a FROM s", ["`EXPR$0` INT NOT NULL", "`a` INT NOT NULL", "`a0` INT NOT NULL"]),  # noqa: E501
        ("(n INT)", "SELECT a FROM s", ["`n` INT", "`a` INT NOT NULL"]),
        ("(n INT, a BIGINT)", "SELECT b, a FROM s", ["`n` INT", "`b` STRING", "`a` BIGINT"]),
        ("(x AS a + 1)", "SELECT a FROM s", ["`x` INT NOT NULL AS `a` + 1", "`a` INT NOT NULL"]),
        ("(b, a)", "SELECT a, b FROM s", ["`b` STRING", "`a` INT NOT NULL"]),
        ("(b, z)", "SELECT a, b FROM s", "unknown-column"),
        ("(b)", "SELECT a, b FROM s", "invalid-statement"),
        ("(a TINYINT)", "SELECT a FROM s", "not-assignable"),
        ("(b STRING NOT NULL)", "SELECT b FROM s", "not-assignable"),
        ("(a AS 5)", "SELECT a FROM s", "feature-not-supported"),
        ("(a INT METADATA VIRTUAL)", "SELECT a FROM s", "feature-not-supported"),
        ("(n INT NOT NULL)", "SELECT a FROM s", "not-assignable"),
        ("(PRIMARY KEY (b) NOT ENFORCED)", "SELECT a, b FROM s", "invalid-constraint"),
        ("", "SELECT NULL AS a", "data-type-not-inferred"),
        ("", "SELECT gone FROM s", "unknown-column"),
    ],
)  # fmt: skip
def test_derived_table(
    environment: TableEnvironment, elements: str, query: str, expected: list[str] | str
) -> None:
    statement = f"CREATE TABLE t {elements} AS {query}"
    if isinstance(expected, str):
        assert expected == code(environment, statement)
        assert environment.find_table("t") is None
        return
    environment.execute_sql(statement)

    assert expected == columns(environment, "t")


def test_create_table_as_with_named_columns(environment: TableEnvironment, planner: Noting) -> None:
    environment.execute_sql("CREATE TABLE t (n INT, x AS a + 1) AS SELECT b, a FROM s")

    assert ["b", "a"] == planner.jobs[0]["columns"]


@pytest.mark.parametrize(("atomic", "left"), [("false", True), ("true", False)])
def test_state_after_a_failed_job(
    environment: TableEnvironment, planner: Noting, atomic: str, left: bool
) -> None:
    environment.get_config().set("table.rtas-ctas.atomicity-enabled", atomic)
    planner.fails = True

    assert "external-failure" == code(environment, "CREATE TABLE t AS SELECT a FROM s")
    assert left == (environment.find_table("t") is not None)


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        ("CREATE TABLE s AS SELECT 1 AS x", "table-exists"),
        ("REPLACE TABLE gone AS SELECT 1 AS x", "table-not-found"),
        ("REPLACE TABLE v AS SELECT 1 AS x", "wrong-object-type"),
        ("CREATE TABLE nodb.t AS SELECT 1 AS x", "database-not-found"),
    ],
)
def test_statements_over_an_existing_view_are_refused(
    environment: TableEnvironment, planner: Noting, statement: str, refusal: str
) -> None:
    environment.execute_sql("CREATE VIEW v AS SELECT a FROM s")

    assert refusal == code(environment, statement)
    assert [] == planner.jobs


def test_replace_table_as_replaces_the_definition(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE OR REPLACE TABLE sink AS SELECT b FROM s")

    assert ["`b` STRING"] == columns(environment, "sink")


def test_replace_is_atomic_in_the_catalog(
    environment: TableEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []
    for name in ("create_table", "alter_table", "drop_table", "rename_table"):
        method = getattr(InMemoryCatalog, name)

        def recorded(*given: Any, _name: str = name, _method: Any = method, **more: Any) -> Any:
            called.append(_name)
            return _method(*given, **more)

        monkeypatch.setattr(InMemoryCatalog, name, recorded)
    environment.execute_sql("REPLACE TABLE sink AS SELECT b FROM s")

    assert ["alter_table"] == called


@pytest.mark.parametrize("statement", ["REPLACE TABLE sink", "CREATE OR REPLACE TABLE sink"])
def test_undoing_a_replace_restores_the_old_definition(
    environment: TableEnvironment, planner: Noting, statement: str
) -> None:
    environment.get_config().set("table.rtas-ctas.atomicity-enabled", "true")
    before = columns(environment, "sink")
    planner.fails = True

    assert "external-failure" == code(environment, f"{statement} AS SELECT b FROM s")
    assert before == columns(environment, "sink")


@pytest.mark.parametrize("statement", ["CREATE TABLE t", "REPLACE TABLE sink"])
def test_undo_keeps_a_concurrent_definition(
    environment: TableEnvironment, planner: Noting, statement: str
) -> None:
    name = statement.rpartition(" ")[2]
    environment.get_config().set("table.rtas-ctas.atomicity-enabled", "true")
    planner.fails = True
    planner.between = lambda: environment.execute_sql(f"ALTER TABLE {name} ADD (theirs INT)")

    assert "external-failure" == code(environment, f"{statement} AS SELECT b FROM s")
    assert ["`b` STRING", "`theirs` INT"] == columns(environment, name)


def test_replace_drops_partitions_with_other_keys(environment: TableEnvironment) -> None:
    environment.execute_sql("ALTER TABLE sink ADD PARTITION (b = 'x')")
    environment.execute_sql("REPLACE TABLE sink PARTITIONED BY (c) AS SELECT a, b AS c FROM s")

    assert [] == list(environment.execute_sql("SHOW PARTITIONS sink").collect())


def test_if_not_exists_still_runs_the_query(environment: TableEnvironment, planner: Noting) -> None:
    environment.execute_sql("CREATE TABLE IF NOT EXISTS sink AS SELECT a, b FROM s")

    assert "sink" == planner.jobs[0]["into"]
    assert "not-assignable" == code(
        environment, "CREATE TABLE IF NOT EXISTS sink AS SELECT b, a FROM s"
    )


# --- tables from queries, by methods (FLIP-218) ----------------------------------------------


def test_a_table_is_saved_with_the_schema_and_rows_of_its_query(
    environment: TableEnvironment, planner: Noting
) -> None:
    pipeline = (
        environment.sql_query("SELECT a, UPPER(b) AS big FROM s")
        .save_as("copy")
        .option("connector", "blackhole")
        .option("property-version", 1)
        .create()
    )
    assert environment.find_table("copy") is None
    assert (sink := pipeline.get_sink_identifier()) is not None
    assert "default_catalog.default_database.copy" == sink.as_summary_string()
    pipeline.execute()
    result = environment.find_table("copy")

    assert result is not None
    assert {"connector": "blackhole", "property-version": "1"} == dict(result.table.get_options())
    assert ["`a` INT NOT NULL", "`big` STRING"] == columns(environment, "copy")
    assert [("copy", ["a", "big"])] == [(job["into"], job["columns"]) for job in planner.jobs]


def test_creating_and_replacing_a_saved_table(
    environment: TableEnvironment, planner: Noting
) -> None:
    saved = environment.sql_query("SELECT a FROM s").save_as("default_database.copy")
    other = environment.sql_query("SELECT b FROM s").save_as("copy")
    with pytest.raises(SchemaCoreError) as missing:
        saved.replace().execute()
    saved.create().execute()
    with pytest.raises(SchemaCoreError) as existing:
        other.create().execute()
    saved.create(ignore_if_exists=True).execute()

    assert ("table-not-found", "table-exists") == (missing.value.code, existing.value.code)
    assert ["`a` INT NOT NULL"] == columns(environment, "copy")
    other.create_or_replace().execute()
    assert ["`b` STRING"] == columns(environment, "copy")
    saved.replace().execute()
    assert ["`a` INT NOT NULL"] == columns(environment, "copy")
    assert ["copy"] * 4 == [job["into"] for job in planner.jobs]


def test_options_of_a_saved_table_do_not_change_it(environment: TableEnvironment) -> None:
    plain = environment.sql_query("SELECT a FROM s").save_as("copy")
    plain.option("connector", "print")
    plain.create().execute()
    result = environment.find_table("copy")

    assert result is not None
    assert {} == dict(result.table.get_options())


@pytest.mark.parametrize(
    ("query", "path", "refusal"),
    [
        ("SELECT NULL AS n", "copy", "data-type-not-inferred"),
        ("SELECT a FROM s", "one.two.three.four", "syntax"),
        ("SELECT a FROM s", "nowhere.copy", "database-not-found"),
    ],
)
def test_refused_saved_tables(
    environment: TableEnvironment, planner: Noting, query: str, path: str, refusal: str
) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        environment.sql_query(query).save_as(path).create().execute()

    assert refusal == caught.value.code
    assert [] == planner.jobs


def test_create_table_takes_options_and_a_query(
    environment: TableEnvironment, planner: Noting
) -> None:
    query = environment.sql_query("SELECT a FROM s")
    environment.create_table("copy", {"connector": "blackhole"}, query)

    assert ["`a` INT NOT NULL"] == columns(environment, "copy")
    assert ["copy"] == [job["into"] for job in planner.jobs]
    with pytest.raises(SchemaCoreError) as caught:
        environment.create_table("other", {"connector": "blackhole"}, True)  # type: ignore[call-overload]
    assert "invalid-argument" == caught.value.code


def test_a_statement_set_creates_tables(environment: TableEnvironment, planner: Noting) -> None:
    saved = environment.sql_query("SELECT a FROM s").save_as("copy").create()
    environment.create_statement_set().add(saved).execute()

    assert ["copy"] == [job["into"] for job in planner.jobs]


def test_jobs_have_the_name_of_the_pipeline(environment: TableEnvironment) -> None:
    def name(result: TableResult) -> str:
        client = result.get_job_client()
        assert client is not None
        return client.get_job_name()

    insert = "INSERT INTO sink SELECT a, b FROM s"
    assert name(environment.execute_sql(insert)) != "nightly load"
    environment.execute_sql("SET 'pipeline.name' = 'nightly load'")
    statements = environment.create_statement_set().add_insert_sql(insert).add_insert_sql(insert)
    results = [
        environment.execute_sql(insert),
        environment.execute_sql("CREATE TABLE copy AS SELECT a FROM s"),
        environment.sql_query("SELECT a, b FROM s").execute_insert("sink"),
        environment.compile_plan_sql(insert).execute(),
        statements.execute(),
    ]
    assert ["nightly load"] * 5 == list(map(name, results))
    environment.execute_sql("RESET 'pipeline.name'")
    assert name(environment.execute_sql(insert)) != "nightly load"


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        ("EXPLAIN CREATE TABLE copy AS SELECT a FROM s", ""),
        ("EXPLAIN CREATE TABLE sink AS SELECT a FROM s", ""),
        ("EXPLAIN REPLACE TABLE missing AS SELECT a FROM s", ""),
        (
            "EXPLAIN CREATE TABLE copy (PRIMARY KEY (b) NOT ENFORCED) AS SELECT b FROM s",
            "invalid-constraint",
        ),
        ("EXPLAIN CREATE TABLE copy AS SELECT gone FROM s", "unknown-column"),
    ],
)
def test_explain_of_create_table_as_creates_nothing(
    environment: TableEnvironment, planner: Noting, statement: str, refusal: str
) -> None:
    before = environment.list_tables()
    if refusal:
        assert refusal == code(environment, statement)
    else:
        ((text,),) = environment.execute_sql(statement).collect()
        plan = environment.plan_ctas(statement)
        assert text.startswith(f"== Create table ==\n{plan}\n\n== Abstract Syntax Tree ==\nSink(")
        assert text.endswith("\n\nthe dry-run planner runs no jobs")
    assert (before, []) == (environment.list_tables(), planner.jobs)


@pytest.mark.parametrize(
    ("statement", "plans"),
    [
        ("EXECUTE SELECT 1", 1),
        ("EXECUTE INSERT INTO sink SELECT a, b FROM s", 1),
        ("STATEMENT SET BEGIN {0} {0} END", 2),
        ("EXECUTE STATEMENT SET BEGIN {0} {0} END", 2),
    ],
)
def test_statement_sets_and_executed_statements_are_explained(
    environment: TableEnvironment, planner: Noting, statement: str, plans: int
) -> None:
    explained = f"EXPLAIN {statement.format('INSERT INTO sink SELECT a, b FROM s;')}"
    ((text,),) = environment.execute_sql(explained).collect()

    assert plans == text.count("the dry-run planner runs no jobs")
    assert (plans if "INSERT" in explained else 0) == text.count("Sink(")
    assert [] == planner.jobs
    wrong = statement.format("INSERT INTO sink SELECT a FROM s;").replace("a, b", "a")
    if "INSERT" in wrong:
        assert "column-count-mismatch" == code(environment, f"EXPLAIN {wrong}")


def test_details_are_explained_beside_the_plans(environment: TableEnvironment) -> None:
    saved = environment.sql_query("SELECT a FROM s").save_as("copy").create()
    statements = environment.create_statement_set().add(saved)

    cost, changes = ExplainDetail.ESTIMATED_COST, ExplainDetail.CHANGELOG_MODE
    costs = "default_catalog.default_database.s: no statistics"

    assert saved.explain(cost) == f"{saved.explain()}\n\n== Estimated Cost ==\n{costs}"
    assert statements.explain(cost, changes) == saved.explain(cost, changes)
    assert saved.explain(changes).count("changelogMode=[I]") == 3
    with pytest.raises(SchemaError, match="extra_details must be an ExplainDetail, got str"):
        saved.explain("ESTIMATED_COST")  # type: ignore[arg-type]


def test_a_statement_set_whose_job_fails_is_cleared(
    environment: TableEnvironment, planner: Noting
) -> None:
    """With ``table.dml-sync`` an error may follow the commit: a second attempt writes nothing."""
    planner.fails = True
    statements = environment.create_statement_set()
    statements.add(environment.sql_query("SELECT 1 AS a").save_as("kept").create())
    with pytest.raises(ExternalError):
        statements.execute()
    planner.fails = False
    count = len(planner.jobs)
    statements.execute()

    assert count == len(planner.jobs)
