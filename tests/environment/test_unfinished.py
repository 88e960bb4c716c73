"""Tables of CREATE TABLE AS whose process ended: found by their mark, then finished or undone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from schema_core.base.paths import ObjectIdentifier, ObjectPath
from schema_core.catalog.own_options import PENDING_JOB
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.environment.jobs import recovery
from schema_core.environment.jobs.graph import JobExecution, JobGraph
from schema_core.environment.jobs.pending import ABANDONED, Owner, PendingJob, PendingTable
from schema_core.environment.jobs.recovery import RecoveryAction
from schema_core.environment.planner import BoundTable, Registration
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, NotFoundError, SchemaCoreError
from schema_core.query.relation import Relation
from tests.support import store_options

FILES = "WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '/nowhere')"
PATH = ObjectPath("default", "t")
#: No process has this number.
DEAD = Owner(Owner.this().host, 2**22 + 1, 1)


class Planner(DryRunPlanner):
    """A planner whose jobs call `during`, and which knows what a connector would find."""

    def __init__(self) -> None:
        self.during: Callable[[], object] = lambda: None
        self.committed: bool | None = False
        self.cleaned: list[str] = []
        self.jobs: list[str] = []

    def create_as(
        self, query: Relation, target: BoundTable, registration: Registration, **_: Any
    ) -> JobGraph:
        return JobGraph("create", Creating(self, registration), [target.identifier])

    def was_committed(self, target: BoundTable, job: str) -> bool | None:
        return self.committed

    def clean_up(self, target: BoundTable, job: str) -> None:
        self.jobs.append(job)
        self.cleaned.append(target.identifier.object_name)

    def recover(self, target: BoundTable, job: str = "") -> None:
        self.cleaned.append(f"checked {target.identifier.object_name}")


class Creating(JobExecution):
    """A job that creates a table."""

    def __init__(self, planner: Planner, registration: Registration) -> None:
        self._planner = planner
        self._registration = registration

    def begin(self) -> None:
        self._registration.create()

    def run(self, job_id: str) -> None:
        self._planner.during()

    def commit(self) -> None:
        self._registration.settle()

    def abort(self) -> None:
        self._registration.undo()


@pytest.fixture
def planner() -> Planner:
    return Planner()


@pytest.fixture(params=["sql", "memory"])
def environment(
    request: pytest.FixtureRequest, planner: Planner, tmp_path: Path
) -> TableEnvironment:
    settings = {"execution.runtime-mode": "BATCH", "table.ctas.atomicity-enabled": "true",
                "table.dml-sync": "true"}  # fmt: skip
    made = TableEnvironment.create(settings, planner=planner)
    catalog: Any = InMemoryCatalog("c", "default")
    if request.param == "sql":
        catalog = SqlCatalog("c", f"sqlite:///{tmp_path / 'c.db'}")
    made.register_catalog("c", catalog)
    made.use_catalog("c")
    return made


def stored(environment: TableEnvironment) -> PendingJob | None:
    return PendingJob.of(environment.get_catalog("c").get_table(PATH).options)


def shown(environment: TableEnvironment) -> Any:
    """Return the table as sessions show it, without its pending job."""
    result = environment.find_table("t")
    assert result is not None
    return result.table


def leave(environment: TableEnvironment, level: int = 2, owner: Owner = DEAD) -> None:
    """Store a table as a process leaves it that is killed while its job runs."""
    environment.execute_sql(f"CREATE TABLE t (a INT) {FILES}")
    store_options(environment, "t", {PENDING_JOB: str(PendingJob(level, "0" * 32, owner))})


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(SchemaCoreError) as caught:
        call()
    return caught.value.code


def code(environment: TableEnvironment, statement: str) -> str:
    return code_of(lambda: environment.execute_sql(statement))


def writes(environment: TableEnvironment) -> list[Callable[[], object]]:
    """Return one write of each kind into the table `t`, planned now."""
    one = environment.sql_query("SELECT 1 AS a")
    planned = one.insert_into("t")
    statements = environment.create_statement_set().add_insert_sql("INSERT INTO t VALUES (1)")
    compiled = environment.compile_plan_sql("INSERT INTO t VALUES (1)")
    insert = "INSERT INTO t VALUES (1)"
    return [
        planned.execute,
        statements.execute,
        compiled.execute,
        lambda: one.execute_insert("t"),
        lambda: environment.execute_sql(insert),
        lambda: environment.execute_sql(f"EXECUTE STATEMENT SET BEGIN {insert}; END"),
        lambda: environment.execute_sql(f"CREATE TABLE IF NOT EXISTS t {FILES} AS SELECT 1 AS a"),
    ]


@pytest.mark.parametrize(("connector", "level"), [("filesystem", 3), ("print", 2)])
def test_the_mark_is_there_while_the_job_runs_and_not_shown(
    environment: TableEnvironment, planner: Planner, connector: str, level: int
) -> None:
    seen: list[Any] = []

    def during() -> None:
        mark = stored(environment)
        assert mark is not None
        seen.append((mark.level, mark.owner == Owner.this(), mark.is_abandoned()))
        shown = environment.get_create_statement("t")
        result = environment.find_table("t")
        assert result is not None
        seen.append((PENDING_JOB in shown, PENDING_JOB in result.table.options))
        seen.append(code(environment, "CREATE TABLE t (a INT)"))

    planner.during = during
    given = FILES if connector == "filesystem" else "WITH ('connector' = 'print')"
    environment.execute_sql(f"CREATE TABLE t {given} AS SELECT 1 AS a")

    assert [(level, True, False), (False, False), "table-exists"] == seen
    assert PENDING_JOB not in environment.get_catalog("c").get_table(PATH).options
    environment.execute_sql("ALTER TABLE t RENAME a TO b")


def test_without_atomicity_there_is_no_mark(
    environment: TableEnvironment, planner: Planner
) -> None:
    environment.get_config().set("table.ctas.atomicity-enabled", "false")
    marks: list[PendingJob | None] = []
    planner.during = lambda: marks.append(stored(environment))
    environment.execute_sql(f"CREATE TABLE t {FILES} AS SELECT 1 AS a")

    assert [None] == marks


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("INSERT INTO t VALUES (1)", "table-not-found"),
        ("ALTER TABLE t RENAME a TO b", "table-not-found"),
        (f"REPLACE TABLE t {FILES} AS SELECT 1", "table-not-found"),
        ("CREATE TABLE t (b INT)", ""),
        (f"CREATE TABLE t {FILES} AS SELECT 1 AS b", ""),
    ],
)
def test_the_next_write_undoes_what_a_killed_process_left(
    environment: TableEnvironment, planner: Planner, statement: str, expected: str
) -> None:
    leave(environment)
    if expected:
        assert expected == code(environment, statement)
        assert [] == environment.list_tables()
    else:
        environment.execute_sql(statement)
        assert "`b` INT" in environment.get_create_statement("t")
    assert ["t"] == planner.cleaned


def test_a_table_of_a_running_or_a_remote_process_is_left_alone(
    environment: TableEnvironment, planner: Planner
) -> None:
    leave(environment, owner=Owner("elsewhere", 1, 1))

    assert "table-exists" == code(environment, f"CREATE TABLE t {FILES} AS SELECT 1 AS a")
    for write in writes(environment):
        assert "lock-not-available" == code_of(write)
    assert [RecoveryAction.CHECKED] == [item.action for item in environment.recover("t")]
    assert stored(environment) is not None


def sleeps_instead(monkeypatch: pytest.MonkeyPatch, action: Callable[[float], object]) -> None:
    """Replace `time.sleep` in this thread; those of Spark, from other tests, sleep as before."""
    this, sleep = threading.get_ident(), time.sleep

    def slept(seconds: float) -> None:
        if threading.get_ident() == this:
            action(seconds)
        else:
            sleep(seconds)

    monkeypatch.setattr(time, "sleep", slept)


def test_a_write_waits_for_the_commit_of_an_isolated_job(
    environment: TableEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of the first write loses its pending job, that of the second is dropped."""
    looks: list[PendingJob] = []
    catalog = environment.get_catalog("c")

    def ended(_: float) -> None:
        looks.append(stored(environment) or PendingJob(0, "", DEAD))
        if len(looks) == 2:
            catalog.alter_table(PATH, shown(environment), False)
        if len(looks) == 4:
            catalog.drop_table(PATH, ignore_if_not_exists=False)

    sleeps_instead(monkeypatch, ended)
    for expected in (2, 4):
        leave(environment, level=3, owner=Owner("elsewhere", 1, 1))
        if expected == 2:
            environment.execute_sql("INSERT INTO t VALUES (1)")
            environment.execute_sql("DROP TABLE t")
        else:
            assert "table-not-found" == code(environment, "INSERT INTO t VALUES (1)")
        assert [3] * expected == [look.level for look in looks]


def test_a_write_does_not_wait_for_ever(
    environment: TableEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "COMMIT_TIMEOUT", 0.01)
    leave(environment, level=3, owner=Owner("elsewhere", 1, 1))
    for write in writes(environment):
        assert "lock-not-available" == code_of(write)
    assert stored(environment) is not None


def test_a_write_fits_the_definition_that_is_restored(
    environment: TableEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REPLACE TABLE AS fails while an INSERT waits for it: the rows must not fit the new table."""
    environment.execute_sql(f"CREATE TABLE t (b STRING, c INT) {FILES}")
    catalog = environment.get_catalog("c")
    old = shown(environment)
    environment.execute_sql("DROP TABLE t")
    leave(environment, level=3, owner=Owner("elsewhere", 1, 1))
    sleeps_instead(monkeypatch, lambda _: catalog.alter_table(PATH, old, False))

    assert "column-count-mismatch" == code(environment, "INSERT INTO t VALUES (1)")
    assert stored(environment) is None


@pytest.mark.parametrize(
    ("committed", "action"),
    [
        (True, RecoveryAction.FINISHED),
        (None, RecoveryAction.FINISHED),
        (False, RecoveryAction.UNDONE),
    ],
)
def test_recovery_of_the_isolated_level_depends_on_the_rows(
    environment: TableEnvironment,
    planner: Planner,
    committed: bool | None,
    action: RecoveryAction,
) -> None:
    leave(environment, level=3)
    planner.committed = committed
    (first,) = environment.recover()

    assert action is first.action
    assert (action is RecoveryAction.FINISHED) == (environment.list_tables() == ["t"])
    again = environment.recover()
    assert [item.action for item in again] in ([], [RecoveryAction.CHECKED])
    assert ("t" in planner.cleaned) == (action is RecoveryAction.UNDONE)
    if again:
        assert stored(environment) is None


def test_one_of_several_processes_recovers_a_table(
    environment: TableEnvironment, planner: Planner
) -> None:
    leave(environment)

    def recover(_: int) -> list[RecoveryAction]:
        with suppress(NotFoundError):
            return [item.action for item in environment.recover("t")]
        return []

    with ThreadPoolExecutor(4) as pool:
        result = [item for many in pool.map(recover, range(4)) for item in many]

    assert 1 == result.count(RecoveryAction.UNDONE)
    assert [] == environment.list_tables()


def test_a_table_that_is_dropped_or_altered_while_its_job_runs(
    environment: TableEnvironment, planner: Planner
) -> None:
    create = f"CREATE TABLE t {FILES} AS SELECT 1 AS a"
    planner.during = lambda: environment.execute_sql("DROP TABLE t")
    assert "table-not-found" == code(environment, create)

    def again() -> None:
        environment.execute_sql("DROP TABLE t")
        environment.execute_sql("CREATE TABLE t (other INT)")

    planner.during = again
    assert "table-not-found" == code(environment, create)
    assert "other" in environment.get_create_statement("t")
    environment.execute_sql("DROP TABLE t")

    def alter() -> None:
        environment.execute_sql("ALTER TABLE t RENAME a TO b")
        assert stored(environment) is not None

    planner.during = alter
    environment.execute_sql(create)
    assert "`b` INT" in environment.get_create_statement("t")
    assert stored(environment) is None
    environment.execute_sql("DROP TABLE t")

    def fail() -> None:
        raise ExternalError("the job failed")

    planner.during = fail
    assert "external-failure" == code(environment, create)
    assert [] == environment.list_tables()


class Insertion(JobExecution):
    """A job that writes into a table."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner

    def run(self, job_id: str) -> None:
        self._planner.during()

    def abort(self) -> None:
        self._planner.cleaned.append("aborted")


class Inserting(Planner):
    """A planner whose INSERTs call `during` while they run."""

    def insert(self, query: Relation, target: BoundTable, **_: Any) -> JobGraph:
        return JobGraph("insert", Insertion(self), [target.identifier])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("ALTER TABLE t ADD b INT", "concurrent-modification"),
        ("ALTER TABLE t MODIFY a BIGINT", "concurrent-modification"),
        ("ALTER TABLE t RENAME a TO b", "concurrent-modification"),
        ("ALTER TABLE t SET ('csv.field-delimiter' = ';')", "concurrent-modification"),
        (f"CREATE OR REPLACE TABLE t {FILES} AS SELECT 'x' AS a", "concurrent-modification"),
        (f"CREATE OR REPLACE TABLE t {FILES} AS SELECT 2 AS a", "concurrent-modification"),
        (
            "DROP TABLE t; CREATE TABLE t (c INT) WITH ('connector' = 'print')",
            "concurrent-modification",
        ),
        ("ALTER TABLE t ADD c AS a + 1", ""),
        ("ALTER TABLE t MODIFY a INT COMMENT 'x'", ""),
        ("DROP TABLE t", ""),
        ("CREATE TEMPORARY TABLE t (z INT) WITH ('connector' = 'print')", ""),
    ],
)
def test_rows_of_an_old_definition_are_not_committed(change: str, expected: str) -> None:
    planner = Inserting()
    settings = {"execution.runtime-mode": "BATCH", "table.dml-sync": "true"}
    environment = TableEnvironment.create(settings, planner=planner)
    environment.execute_sql(f"CREATE TABLE t (a INT) {FILES}")

    def during() -> None:
        planner.during = lambda: None
        for statement in change.split("; "):
            environment.execute_sql(statement)

    planner.during = during
    insert = "INSERT INTO t /*+ OPTIONS('sink.parallelism' = '1') */ VALUES (1)"
    if not expected:
        environment.execute_sql(insert)
        assert [] == planner.cleaned
        return
    assert expected == code(environment, insert)
    assert ["aborted"] == planner.cleaned
    environment.execute_sql("DROP TABLE t")


def test_tables_of_connectors_that_do_not_stage_are_not_checked() -> None:
    planner = Inserting()
    settings = {"execution.runtime-mode": "BATCH", "table.dml-sync": "true"}
    environment = TableEnvironment.create(settings, planner=planner)
    environment.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'print')")
    planner.during = lambda: environment.execute_sql("ALTER TABLE t ADD b INT")
    environment.execute_sql("INSERT INTO t VALUES (1)")

    assert [] == planner.cleaned


@pytest.mark.parametrize("value", ["x", "2-host-1-1-short", f"2-h/../x-1-1-{'0' * 32}"])
def test_a_value_that_is_not_a_mark_has_no_effect(
    environment: TableEnvironment, value: str
) -> None:
    environment.execute_sql(f"CREATE TABLE t (a INT) {FILES}")
    store_options(environment, "t", {PENDING_JOB: value})

    assert [] == [
        item for item in environment.recover() if item.action is not RecoveryAction.CHECKED
    ]
    assert PENDING_JOB not in environment.get_create_statement("t")


@pytest.mark.parametrize("kind", range(6))
def test_every_kind_of_write_undoes_what_a_killed_process_left(
    environment: TableEnvironment, planner: Planner, kind: int
) -> None:
    leave(environment)
    write = writes(environment)[kind]

    assert stored(environment) is not None
    assert "table-not-found" == code_of(write)
    assert [] == environment.list_tables()
    assert ["t"] == planner.cleaned


def test_explaining_and_compiling_change_no_table(
    environment: TableEnvironment, planner: Planner
) -> None:
    leave(environment)
    mark = stored(environment)
    environment.execute_sql("EXPLAIN INSERT INTO t VALUES (1)")
    environment.compile_plan_sql("INSERT INTO t VALUES (1)")

    assert mark == stored(environment)
    assert [] == planner.cleaned


def test_a_planner_without_recovery_keeps_isolated_tables(tmp_path: Path) -> None:
    class Plain:
        """A planner that cannot find out whether rows are visible."""

        identifier = "plain"
        insert = DryRunPlanner.insert

    settings = {"execution.runtime-mode": "BATCH"}
    made = TableEnvironment.create(settings, planner=Plain())  # type: ignore[arg-type]
    made.register_catalog("c", SqlCatalog("c", f"sqlite:///{tmp_path / 'c.db'}"))
    made.use_catalog("c")
    leave(made, level=3)

    made.recover("t")
    assert "table-exists" == code(made, "CREATE TABLE t (a INT)")
    assert DEAD == getattr(stored(made), "owner", None)


def test_a_temporary_table_in_front_of_an_unfinished_one_is_left_alone(
    environment: TableEnvironment, planner: Planner
) -> None:
    leave(environment)
    seen: list[BoundTable] = []
    planner.clean_up = lambda target, job: seen.append(target)  # type: ignore[method-assign]
    environment.execute_sql("CREATE TEMPORARY TABLE t (other INT) WITH ('connector' = 'print')")

    environment.execute_sql("INSERT INTO t VALUES (1)")
    assert [] == seen
    assert stored(environment) is not None
    assert [RecoveryAction.UNDONE] == [item.action for item in environment.recover()]
    assert ["filesystem"] == [item.table.options["connector"] for item in seen]
    assert "other" in environment.get_create_statement("t")
    assert environment.drop_temporary_table("t")
    assert [] == environment.list_tables()


def test_a_failed_recovery_keeps_the_id_of_the_job(
    environment: TableEnvironment, planner: Planner
) -> None:
    leave(environment, level=3)
    asked: list[str] = []

    def unreachable(target: BoundTable, job: str) -> bool | None:
        asked.append(job)
        raise ExternalError("the database does not answer")

    planner.was_committed = unreachable  # type: ignore[method-assign]
    for _ in range(2):
        assert "external-failure" == code_of(lambda: environment.recover("t"))
    assert ["0" * 32] * 2 == asked


def test_undo_leaves_an_equal_table_of_others(
    environment: TableEnvironment, planner: Planner
) -> None:
    """Others drop the table of a job, and create one of the same definition."""
    result: list[bool] = []
    inner = planner.create_as

    def create_as(query: Relation, target: BoundTable, given: Registration, **_: Any) -> JobGraph:
        result.append(given.owns())

        def again() -> None:
            result.append(given.owns())
            environment.execute_sql("DROP TABLE t")
            result.append(given.owns())
            environment.execute_sql(f"CREATE TABLE t (a INT NOT NULL) {FILES}")
            result.append(given.owns())

        planner.during = again
        return inner(query, target, given)

    planner.create_as = create_as  # type: ignore[method-assign,assignment]
    create = f"CREATE TABLE t {FILES} AS SELECT 1 AS a"
    assert "table-not-found" == code(environment, create)
    assert [True, True, True, False] == result
    assert ["t"] == environment.list_tables()


def test_a_mark_whose_removal_fails_without_an_answer(
    environment: TableEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The catalog removes the pending job, and its answer is lost: the table is undone."""
    change = PendingTable.replace_job

    def lost(self: PendingTable, *arguments: Any) -> None:
        change(self, *arguments)
        raise ExternalError("the connection is lost")

    monkeypatch.setattr(PendingTable, "replace_job", lost)
    assert "external-failure" == code(environment, f"CREATE TABLE t {FILES} AS SELECT 1 AS a")
    assert [] == environment.list_tables()


@pytest.fixture
def warehouse(planner: Planner, tmp_path: Path) -> TableEnvironment:
    """A session whose catalog manages tables, with the managed table `m`."""
    settings = {"execution.runtime-mode": "BATCH", "table.dml-sync": "true"}
    made = TableEnvironment.create(settings, planner=planner)
    made.execute_sql(
        f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///{tmp_path / 'c.db'}',"
        f" 'warehouse' = '{tmp_path / 'house'}')"
    )
    made.use_catalog("c")
    made.execute_sql("CREATE TABLE m (a INT) WITH ('format' = 'csv')")
    return made


def folders(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "house" / "default.db").iterdir())


def fill(environment: TableEnvironment) -> Path:
    """Write a file into the directory of `m`."""
    folder = Path(environment._session.bind(M).table.options["path"])
    (folder / "rows.csv").write_text("1\n")
    return folder


M = ObjectIdentifier.of("c", "default", "m")


def kill(environment: TableEnvironment, planner: Planner, statement: str) -> None:
    """Run a statement in a process that is killed after the change of the catalog."""

    def die() -> None:
        raise ExternalError("killed")

    planner.during = die
    with pytest.MonkeyPatch.context() as killed:
        killed.setattr(Owner, "this", lambda: DEAD)
        killed.setattr(Creating, "abort", lambda _: None)
        assert "external-failure" == code(environment, statement)
    planner.during = lambda: None


def test_an_undone_replacement_of_a_managed_table_keeps_its_directory(
    warehouse: TableEnvironment, planner: Planner, tmp_path: Path
) -> None:
    folder, before = fill(warehouse), warehouse.get_create_statement("m")
    kill(warehouse, planner, f"REPLACE TABLE m {FILES} AS SELECT 2 AS b")
    assert "schema-core" not in warehouse.get_create_statement("m")

    assert [RecoveryAction.UNDONE] == [item.action for item in warehouse.recover("m")]
    assert before == warehouse.get_create_statement("m")
    assert folder == fill(warehouse)
    assert [folder.name] == folders(tmp_path)


def test_an_undone_replacement_keeps_the_history_of_columns(
    warehouse: TableEnvironment, planner: Planner
) -> None:
    for statement in ("DROP TABLE m", "CREATE TABLE m (a INT) WITH ('format' = 'parquet')"):
        warehouse.execute_sql(statement)
    warehouse.execute_sql("ALTER TABLE m RENAME a TO b")
    before = warehouse.get_catalog("c").get_table(ObjectPath("default", "m")).options
    assert any("column-history" in key for key in before)

    kill(warehouse, planner, "REPLACE TABLE m WITH ('format' = 'orc') AS SELECT 2 AS c")
    warehouse.recover("m")

    assert before == warehouse.get_catalog("c").get_table(ObjectPath("default", "m")).options


def test_an_undone_replacement_by_a_managed_table_leaves_no_directory(
    warehouse: TableEnvironment, planner: Planner, tmp_path: Path
) -> None:
    warehouse.execute_sql("DROP TABLE m")
    warehouse.execute_sql(f"CREATE TABLE m (a INT) {FILES}")
    before = warehouse.get_create_statement("m")
    kill(warehouse, planner, "REPLACE TABLE m AS SELECT 2 AS b")
    fill(warehouse)

    assert [RecoveryAction.UNDONE] == [item.action for item in warehouse.recover("m")]
    assert before == warehouse.get_create_statement("m")
    stored = warehouse.get_catalog("c").get_table(ObjectPath("default", "m"))
    assert not [key for key in stored.options if key.startswith("schema-core")]
    assert [] == folders(tmp_path)


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_replaced_managed_table_leaves_no_directory(
    warehouse: TableEnvironment, planner: Planner, tmp_path: Path, is_killed: bool
) -> None:
    folder = fill(warehouse)
    inner = f"WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = 'file://{folder}/new')"
    for given, left in ((inner, [folder.name]), (FILES, [])):
        statement = f"REPLACE TABLE m {given} AS SELECT 2 AS b"
        if is_killed:
            planner.committed = True
            kill(warehouse, planner, statement)
            assert [RecoveryAction.FINISHED] == [item.action for item in warehouse.recover("m")]
        else:
            warehouse.execute_sql(statement)
        assert left == folders(tmp_path)
        warehouse.execute_sql("DROP TABLE m")
        if left:
            folder.joinpath("rows.csv").unlink()
            folder.rmdir()
            warehouse.execute_sql("CREATE TABLE m (a INT)")
            folder = fill(warehouse)


def test_a_table_that_cannot_be_recovered_does_not_stop_the_others(
    environment: TableEnvironment, planner: Planner
) -> None:
    for number, name in enumerate("abc"):
        environment.execute_sql(f"CREATE TABLE {name} (a INT) WITH ('connector' = 'print')")
        store_options(environment, name, {PENDING_JOB: str(PendingJob(2, str(number) * 32, DEAD))})

    def clean_up(target: BoundTable, job: str) -> None:
        if target.identifier.object_name in "ab":
            raise ExternalError(f"cannot delete {target.identifier.object_name}")

    planner.clean_up = clean_up  # type: ignore[method-assign]
    with pytest.raises(ExternalError) as caught:
        environment.recover()
    assert ["a", "b"] == environment.list_tables()
    assert ["cannot delete a", "cannot delete b"] == [
        other.problem for other in (caught.value, *caught.value.others)
    ]
    assert ["c.default.c: undone"] == caught.value.__notes__


def test_a_statement_set_applies_the_hints_of_its_statements(
    environment: TableEnvironment, planner: Planner
) -> None:
    seen: list[Mapping[str, str]] = []
    insert = planner.insert

    def inserted(query: Relation, target: BoundTable, **more: Any) -> JobGraph:
        seen.append(target.table.options)
        return insert(query, target, **more)

    planner.insert = inserted  # type: ignore[method-assign]
    environment.execute_sql(f"CREATE TABLE t (a INT) {FILES}")
    hinted = "INSERT INTO t /*+ OPTIONS('sink.parallelism' = '3') */ VALUES (1)"
    environment.create_statement_set().add_insert_sql(hinted).execute()
    assert ["3"] == [item.get("sink.parallelism") for item in seen]
    environment.get_config().set("table.dynamic-table-options.enabled", "false")
    assert "invalid-hint" == code_of(
        lambda: environment.create_statement_set().add_insert_sql(hinted)
    )


@pytest.mark.parametrize("differs", ["boot_id", "pid"])
def test_processes_of_other_containers_and_machines_of_one_name_are_not_judged(
    monkeypatch: pytest.MonkeyPatch, differs: str
) -> None:
    """Their numbers say nothing here: a process that does not exist may run there."""
    if not Path("/proc/self/ns/pid").exists():
        pytest.skip("only Linux shows the namespace of a process")
    here = Owner.this()
    assert replace(here, pid=DEAD.pid).is_dead(0.0)
    read, link = Path.read_text, Path.readlink

    def other_boot(path: Path, *given: Any, **more: Any) -> str:
        return "another boot" if path.name == "boot_id" else read(path, *given, **more)

    def other_namespace(path: Path) -> Path:
        return Path("pid:[1]") if path == Path("/proc/self/ns/pid") else link(path)

    with monkeypatch.context() as there:
        if differs == "boot_id":
            there.setattr(Path, "read_text", other_boot)
        else:
            there.setattr(Path, "readlink", other_namespace)
        owner = replace(Owner.this(), pid=DEAD.pid)
        assert owner.is_dead(0.0)

    assert owner.host != here.host
    assert not owner.is_dead(0.0)
    assert not PendingJob(2, "0" * 32, owner).is_abandoned()
    assert owner.is_dead(ABANDONED + 1)
    mark = PendingJob(3, "f" * 32, owner)
    assert PendingJob.parse(str(mark)) == mark


def test_marks_of_versions_that_named_just_the_host_are_of_another_host() -> None:
    old = PendingJob.parse(f"2-{Owner.this().host.rpartition('_')[0]}-{DEAD.pid}-1-{'0' * 32}")

    assert old is not None
    assert not old.is_abandoned()


def test_a_table_whose_job_was_on_another_host_can_be_dropped(
    environment: TableEnvironment,
) -> None:
    leave(environment, owner=Owner("elsewhere", 1, 1))
    environment.execute_sql("DROP TABLE t")

    assert [] == environment.list_tables()


def test_rows_are_removed_by_the_id_of_their_job(
    environment: TableEnvironment, planner: Planner
) -> None:
    leave(environment)
    environment.recover()

    assert ["0" * 32] == planner.jobs


@pytest.mark.parametrize("owner", [DEAD, Owner("elsewhere", 1, 1)], ids=["dead", "elsewhere"])
def test_a_query_sees_an_isolated_table_when_its_rows_are_visible(
    environment: TableEnvironment, planner: Planner, owner: Owner
) -> None:
    """Queries change nothing, whether the process was killed before that point or still runs."""
    leave(environment, level=3, owner=owner)
    mark = stored(environment)
    for query in ("SELECT * FROM t", "SELECT x.b FROM (VALUES (1)) AS x (b), t"):
        planner.committed = False
        assert "table-not-found" == code_of(partial(environment.sql_query, query))
        for planner.committed in (True, None):
            environment.sql_query(query)
    planner.committed = False
    environment.execute_sql("CREATE TEMPORARY TABLE t (b INT) " + FILES)
    environment.sql_query("SELECT b FROM t")
    environment.execute_sql("DROP TEMPORARY TABLE t")
    assert mark == stored(environment)


def test_a_query_sees_a_table_that_is_rolled_back(environment: TableEnvironment) -> None:
    leave(environment, level=2)
    environment.sql_query("SELECT * FROM t")
