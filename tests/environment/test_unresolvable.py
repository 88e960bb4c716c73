"""Stored objects that no longer resolve: their function, type or table is unknown to the session.

They are listed, described, shown, altered, renamed and dropped all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from schema_core import DataTypes, EnvironmentSettings, TableEnvironment
from schema_core.base.paths import ObjectPath
from schema_core.catalog.functions import FunctionClass
from schema_core.environment.jobs.graph import JobExecution, JobGraph
from schema_core.environment.planner import BoundTable, Registration
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.errors import ConflictError, ExternalError, SchemaCoreError
from schema_core.query.relation import Relation

PLUS = FunctionClass((((DataTypes.INT(),), DataTypes.INT()),))


class Replacing(DryRunPlanner):
    """Registers the table of REPLACE TABLE AS; a job that fails undoes that."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.between: Callable[[], object] = lambda: None

    def create_as(
        self,
        query: Relation,
        target: BoundTable,
        registration: Registration,
        *,
        columns: Sequence[str] | None = None,
    ) -> JobGraph:
        registration.create()
        if self.fails:
            self.between()
            registration.undo()
            raise ExternalError("the job failed")
        return JobGraph("1", JobExecution(), [target.identifier])


def session(path: Path, planner: DryRunPlanner | None = None) -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), planner=planner)
    made.execute_sql(f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{path}/c.db')")
    made.use_catalog("c")
    return made


@pytest.fixture
def environment(tmp_path: Path) -> TableEnvironment:
    """A new session without the class of a function and the type of a column."""
    before = session(tmp_path)
    before.declare_function_class("plus", PLUS)
    before.execute_sql("CREATE FUNCTION f AS 'plus' LANGUAGE PYTHON")
    before.execute_sql(
        "CREATE TABLE t (a INT NOT NULL COMMENT 'x', m INT METADATA FROM 'k' VIRTUAL, b AS f(a),"
        " ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (a) NOT ENFORCED)"
        " COMMENT 'c' PARTITIONED BY (a) WITH ('password' = 'geheim')"
    )
    before.execute_sql("CREATE VIEW v AS SELECT a, f(a) AS b FROM t")
    return session(tmp_path)


def code(environment: TableEnvironment, statement: str) -> str:
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(statement)
    return caught.value.code


def test_unresolvable_table_cannot_be_read(environment: TableEnvironment) -> None:
    assert "invalid-function" == code(environment, "SELECT * FROM t")
    assert "invalid-function" == code(environment, "SELECT * FROM v")


@pytest.mark.parametrize("if_exists", ["", "IF EXISTS "])
def test_unresolvable_table_is_dropped(environment: TableEnvironment, if_exists: str) -> None:
    assert ["t", "v"] == environment.list_tables()
    environment.execute_sql(f"DROP TABLE {if_exists}t")
    environment.execute_sql(f"DROP VIEW {if_exists}v")
    assert [] == environment.list_tables()


def test_unresolvable_table_is_dropped_by_methods(environment: TableEnvironment) -> None:
    assert not environment.drop_view("t")
    assert environment.drop_table("t")
    assert environment.drop_view("v")


def test_unresolvable_table_is_renamed_and_repaired(environment: TableEnvironment) -> None:
    environment.execute_sql("ALTER TABLE t RENAME TO u")
    environment.execute_sql("ALTER TABLE u DROP b")
    environment.execute_sql("ALTER VIEW v AS SELECT a FROM u")

    assert [] == list(environment.execute_sql("SHOW PARTITIONS u").collect())
    assert ["a"] == environment.from_path("v").get_resolved_schema().get_column_names()


def test_unresolvable_table_is_described(environment: TableEnvironment) -> None:
    rows = [tuple(row) for row in environment.execute_sql("DESCRIBE t").collect()]

    assert [
        ("a", "INT", False, "PRI(a)", None, None, "x"),
        ("m", "INT", True, None, "METADATA FROM 'k' VIRTUAL", None, None),
    ] == rows[:2]
    assert ("b", None, None, None) == rows[2][:4]
    assert rows[2][4].startswith("AS `c`.`default`.`f`(`a`) (")
    assert ("ts", "TIMESTAMP(3)", True, None, None, "`ts`", None) == rows[3]
    described = [tuple(row)[:2] for row in environment.execute_sql("DESCRIBE v").collect()]
    assert [("a", "INT"), ("b", "INT")] == described


def test_show_create_recreates_an_unresolvable_table(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    (row,) = environment.execute_sql("SHOW CREATE TABLE t").collect()
    assert "geheim" not in row[0]
    environment.declare_function_class("plus", PLUS)
    (expected,) = environment.execute_sql("SHOW CREATE TABLE t").collect()
    assert expected[0] == row[0]


@pytest.mark.parametrize("name", ["t", "v"])
def test_show_create_of_an_unresolvable_table_can_return_secrets(
    environment: TableEnvironment, name: str
) -> None:
    result = environment.get_create_statement(name)
    environment.declare_function_class("plus", PLUS)

    assert ("geheim" in result) is (name == "t")
    assert environment.get_create_statement(name) == result


REPLACE = ("REPLACE TABLE t", "CREATE OR REPLACE TABLE t")


@pytest.mark.parametrize("statement", REPLACE)
def test_unresolvable_table_is_replaced(
    environment: TableEnvironment, tmp_path: Path, statement: str
) -> None:
    replacing = session(tmp_path, Replacing())
    replacing.execute_sql(f"{statement} AS SELECT 1 AS x")

    assert ["x"] == environment.from_path("t").get_resolved_schema().get_column_names()
    assert "table-exists" == code(replacing, "CREATE TABLE t AS SELECT 1 AS x")


@pytest.mark.parametrize("statement", REPLACE)
def test_failed_replace_restores_an_unresolvable_table(
    environment: TableEnvironment, tmp_path: Path, statement: str
) -> None:
    before = environment.get_create_statement("t")
    replacing = session(tmp_path, Replacing(fails=True))

    assert "external-failure" == code(replacing, f"{statement} AS SELECT 1 AS x")
    assert before == environment.get_create_statement("t")
    environment.declare_function_class("plus", PLUS)
    type_ = environment.from_path("t").get_resolved_schema().get_column_data_types()[2]
    assert "INT" == type_.as_summary_string()


def test_failed_replace_keeps_a_concurrent_definition(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    planner = Replacing(fails=True)
    planner.between = lambda: environment.execute_sql("ALTER TABLE t ADD theirs INT")

    assert "external-failure" == code(
        session(tmp_path, planner), "REPLACE TABLE t AS SELECT 1 AS x"
    )
    assert "theirs" in environment.get_create_statement("t")


def test_a_view_is_not_replaced_by_a_table(environment: TableEnvironment, tmp_path: Path) -> None:
    assert "wrong-object-type" == code(
        session(tmp_path, Replacing()), "REPLACE TABLE v AS SELECT 1 AS x"
    )


def test_restore_is_a_compare_and_set(environment: TableEnvironment) -> None:
    catalog, path = environment.get_catalog("c"), ObjectPath("default", "t")
    assert catalog is not None
    stored, before = catalog.get_stored_table(path), catalog.get_table(path)
    environment.execute_sql("ALTER TABLE t DROP b")
    with pytest.raises(ConflictError):
        catalog.restore_table(path, stored, expected=before)
    catalog.restore_table(path, stored, expected=catalog.get_table(path))

    assert before == catalog.get_table(path)
    with pytest.raises(SchemaCoreError) as caught:
        catalog.restore_table(path, before)
    assert "invalid-argument" == caught.value.code


@pytest.fixture
def without_type(tmp_path: Path) -> TableEnvironment:
    """A new session without the type that a table, a view and a model name."""
    before = session(tmp_path)
    before.create_type("money", "DECIMAL(10, 2)")
    before.execute_sql("CREATE TABLE p (a money NOT NULL, b INT)")
    before.execute_sql("CREATE VIEW w AS SELECT * FROM p")
    before.execute_sql("CREATE MODEL m INPUT (a money) OUTPUT (b INT) WITH ('provider' = 'x')")
    before.drop_type("money")
    return session(tmp_path)


def test_table_of_a_dropped_type(without_type: TableEnvironment) -> None:
    for statement in ("SELECT * FROM p", "SELECT * FROM w"):
        assert "type-not-found" == code(without_type, statement)
    for name, kind in (("p", "TABLE"), ("w", "VIEW")):
        (row,) = without_type.execute_sql(f"SHOW CREATE {kind} {name}").collect()
        assert row[0] == without_type.get_create_statement(name)
    assert "wrong-object-type" == code(without_type, "SHOW CREATE TABLE w")


def test_model_of_a_dropped_type(without_type: TableEnvironment) -> None:
    described = [tuple(row) for row in without_type.execute_sql("DESCRIBE MODEL m").collect()]
    (row,) = without_type.execute_sql("SHOW CREATE MODEL m").collect()
    without_type.execute_sql("DROP MODEL m")

    assert [("a", "`c`.`default`.`money`", True, True), ("b", "INT", True, False)] == (described)
    without_type.create_type("money", "DECIMAL(10, 2)")
    without_type.execute_sql(row[0])
    assert row == next(iter(without_type.execute_sql("SHOW CREATE MODEL m").collect()))
    assert "model-not-found" == code(without_type, "SHOW CREATE MODEL n")


def test_describing_a_missing_table_is_refused(environment: TableEnvironment) -> None:
    for statement in ("DESCRIBE x", "SHOW CREATE TABLE x"):
        assert "table-not-found" == code(environment, statement)
