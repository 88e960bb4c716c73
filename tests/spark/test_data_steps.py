"""Data steps of migrations: rows are written once, and killed migrations are continued."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.catalog import ObjectPath
from schema_core.catalogs import SqlCatalog
from schema_core.environment.jobs.pending import PendingJob
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.migration import (
    MigrationDirectory,
    MigrationFile,
    MigrationState,
    Migrator,
    autogenerate,
    read_definitions,
)
from schema_core.migration.files import data_steps, runs
from schema_core.migration.files.checksums import format_checksums
from schema_core.spark.commit.commit import FileStage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CREATE = """
-- up
CREATE TABLE people (id BIGINT NOT NULL, name STRING, age STRING, city STRING)
PARTITIONED BY (city) WITH ('format' = 'json');
INSERT INTO people VALUES
  (1, 'Ada Lovelace', '36', 'London'), (2, 'Alan Turing', '41', 'London'),
  (3, 'Plato', CAST(NULL AS STRING), 'Athens');
-- down
DROP TABLE people;
"""
SPLIT = """
-- up
ALTER TABLE people ADD (first_name STRING, last_name STRING);
UPDATE people AS p
SET first_name = SPLIT_INDEX(p.name, ' ', 0), last_name = SPLIT_INDEX(p.name, ' ', 1)
WHERE p.id < 3;
-- rewrite: people
ALTER TABLE people RENAME name TO full_name;
ALTER TABLE people MODIFY age INT;
DELETE FROM people WHERE age > 40;
-- down
-- rewrite: people
-- accept: value-dropped
ALTER TABLE people MODIFY age STRING;
ALTER TABLE people RENAME full_name TO name;
ALTER TABLE people DROP (first_name, last_name);
"""


@pytest.fixture
def make(spark: SparkSession, tmp_path: Path) -> Callable[..., Migrator]:
    def migrator(*texts: str) -> Migrator:
        environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=spark)
        url, rows = f"sqlite:///{tmp_path}/shop.db", f"{tmp_path}/managed"
        environment.register_catalog("shop", SqlCatalog("shop", url, warehouse=rows))
        environment.use_catalog("shop")
        files = [
            MigrationFile.parse(f"{number:04}_m", text) for number, text in enumerate(texts, 1)
        ]
        return Migrator(environment, MigrationDirectory.of(Path("migrations"), files))

    return migrator


def rows(migrator: Migrator, query: str) -> list[tuple[Any, ...]]:
    with migrator.environment.execute_sql(query).collect() as result:
        return sorted(map(tuple, result), key=repr)


def states(migrator: Migrator) -> list[str]:
    return [item.state.value for item in migrator.history()]


def test_columns_are_split_retyped_and_restored(make: Callable[..., Migrator]) -> None:
    migrator = make(CREATE, SPLIT)

    assert ["upgrade 0001_m: 2 statements", "upgrade 0002_m: 4 statements"] == [
        str(item) for item in migrator.upgrade()
    ]
    assert [
        (1, "Ada Lovelace", 36, "Ada", "Lovelace"),
        (3, "Plato", None, None, None),
    ] == rows(migrator, "SELECT id, full_name, age, first_name, last_name FROM people")
    assert [("update", 2), ("rewrite", 3), ("delete", 1)] == [
        (item.step, item.rows) for item in migrator.history()[1].written_rows
    ]
    assert () == migrator.drift()

    migrator.downgrade("1")
    assert [(1, "Ada Lovelace", "36"), (3, "Plato", None)] == rows(
        migrator, "SELECT id, name, age FROM people"
    )
    assert ["applied", "undone", "pending"] == states(migrator)
    assert [("rewrite", 2)] == [
        (item.step, item.rows) for item in migrator.history()[1].written_rows
    ]
    assert ["downgrade 0001_m: 1 statement"] == [str(item) for item in migrator.downgrade("base")]


class Killed(BaseException):
    """Ends a process where it is: nothing after it runs."""


def kill_at(monkeypatch: pytest.MonkeyPatch, migrator: Migrator, place: str, number: int) -> None:
    """Kill the upgrade at the data step of a number, before or after its job is committed."""
    counts = {"jobs": 0}

    def run(*arguments: Any, **options: Any) -> Any:
        counts["jobs"] += 1
        if counts["jobs"] == number and place == "before":
            raise Killed
        result = data_steps.run_data_step(*arguments, **options)
        if counts["jobs"] == number:
            raise Killed
        return result

    monkeypatch.setattr(runs, "run_data_step", run)
    monkeypatch.setattr(runs.MigrationRunner, "_release", lambda self: self._claim.end())
    with pytest.raises(Killed):
        migrator.upgrade()
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("place", "number"), [("after", 1), ("before", 2), ("after", 3), ("after", 4)]
)
def test_a_killed_migration_is_continued_at_the_missing_step(
    make: Callable[..., Migrator], monkeypatch: pytest.MonkeyPatch, place: str, number: int
) -> None:
    kill_at(monkeypatch, make(CREATE, SPLIT), place, number)
    continued = make(CREATE, SPLIT)
    assert "unfinished" in states(continued)
    with pytest.raises(SchemaCoreError) as caught:
        continued.downgrade("base")
    assert "migration-unfinished" == caught.value.code
    with pytest.raises(SchemaCoreError) as caught:
        continued.upgrade(dry_run=True)
    assert "migration-unfinished" == caught.value.code

    continued.upgrade()

    assert ["applied", "applied"] == states(continued)
    assert [(1, "Ada", 36), (3, None, None)] == rows(
        continued, "SELECT id, first_name, age FROM people"
    )
    assert () == continued.upgrade()
    assert () == continued.drift()


def test_a_process_of_another_host_is_taken_over_on_request(
    make: Callable[..., Migrator], monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_at(monkeypatch, make(CREATE), "after", 1)
    migrator = make(CREATE)
    with migrator.catalog.transaction() as catalog:
        entry = catalog.find_unfinished_migration()
        assert entry is not None
        assert entry.progress is not None
        claim = f"3-other.host-17-3-{'0' * 32}"
        catalog.remove_migration(entry.name)
        catalog.add_migration(replace(entry, progress=replace(entry.progress, claim=claim)))

    with pytest.raises(SchemaCoreError) as caught:
        migrator.upgrade()
    assert "lock-not-available" == caught.value.code
    migrator.upgrade(take_over=True)

    assert ["applied"] == states(migrator)
    assert [(3,)] == rows(migrator, "SELECT COUNT(*) FROM people")


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_migration_is_taken_over_from_a_process_that_still_runs(
    make: Callable[..., Migrator], monkeypatch: pytest.MonkeyPatch, place: str, number: int
) -> None:
    jobs: list[str] = []

    def run(*arguments: Any, **options: Any) -> Any:
        jobs.append("late")
        is_chosen = len(jobs) == number
        if is_chosen and place == "before":
            take_over()
        rows = data_steps.run_data_step(*arguments, **options)
        if is_chosen and place == "after":
            take_over()
        return rows

    def take_over() -> None:
        monkeypatch.setattr(runs, "run_data_step", data_steps.run_data_step)
        make(CREATE, SPLIT).upgrade(take_over=True)

    monkeypatch.setattr(runs, "run_data_step", run)
    with pytest.raises(SchemaCoreError) as caught:
        make(CREATE, SPLIT).upgrade()

    assert "lock-not-available" == caught.value.code
    migrator = make(CREATE, SPLIT)
    assert ["applied", "applied"] == states(migrator)
    assert [(1, "Ada", 36), (3, None, None)] == rows(
        migrator, "SELECT id, first_name, age FROM people"
    )
    assert () == migrator.upgrade()
    assert () == migrator.drift()


def test_a_step_that_may_still_run_is_not_corrected_by_a_take_over(
    make: Callable[..., Migrator], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "-- up\nUPDATE people SET age = '{}' WHERE id = 3;\nUPDATE people SET name = '{}';\n"

    def run(*arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(runs, "run_data_step", data_steps.run_data_step)
        with pytest.raises(SchemaCoreError) as caught:
            make(CREATE, text.format("1", "x")).upgrade(take_over=True)
        assert "migration-changed" == caught.value.code
        make(CREATE, text.format("0", "y")).upgrade(take_over=True)
        return data_steps.run_data_step(*arguments, **options)

    make(CREATE).upgrade()
    monkeypatch.setattr(runs, "run_data_step", run)
    with pytest.raises(SchemaCoreError) as caught:
        make(CREATE, text.format("0", "x")).upgrade()

    assert "lock-not-available" == caught.value.code
    migrator = make(CREATE, text.format("0", "y"))
    assert ["applied", "applied"] == states(migrator)
    assert [("0", "y")] == rows(migrator, "SELECT age, name FROM people WHERE id = 3")


@pytest.mark.parametrize("is_reachable", [True, False])
@pytest.mark.parametrize("is_committed", [True, False])
def test_a_commit_with_an_unknown_outcome_is_looked_up_by_the_next_start(
    make: Callable[..., Migrator],
    monkeypatch: pytest.MonkeyPatch,
    is_committed: bool,
    is_reachable: bool,
) -> None:
    migrator = make(CREATE)
    transaction, is_lost = migrator.catalog.transaction, False

    @contextmanager
    def losing() -> Iterator[Any]:
        nonlocal is_lost
        if is_lost and not is_reachable:
            raise ExternalError("the connection is lost")
        was_lost = is_lost
        with suppress(RollbackError), transaction() as catalog:
            yield catalog
            is_lost = is_lost or catalog.find_unfinished_migration() is not None
            if is_lost and not is_committed:
                raise RollbackError
        if is_lost and not was_lost:
            raise ExternalError("the connection is lost")

    monkeypatch.setattr(migrator.catalog, "transaction", losing)
    with pytest.raises(SchemaCoreError, match="the connection is lost"):
        migrator.upgrade()

    unfinished = make(CREATE).catalog.find_unfinished_migration()
    assert is_committed == (unfinished is not None)
    if unfinished is not None and unfinished.progress is not None:
        claim = PendingJob.parse(unfinished.progress.claim)
        assert claim is None if is_reachable else claim is not None and claim.is_abandoned()
    make(CREATE).upgrade()
    assert ["applied"] == states(make(CREATE))
    assert [(3,)] == rows(make(CREATE), "SELECT COUNT(*) FROM people")


class RollbackError(Exception):
    """Ends a transaction."""


def test_a_missing_variable_does_not_keep_the_claim(
    make: Callable[..., Migrator], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = CREATE.replace("'Athens'", "'${city}'")
    migrator = make(text)
    migrator.variables = {"city": "Athens"}
    kill_at(monkeypatch, migrator, "before", 1)

    with pytest.raises(SchemaCoreError) as caught:
        make(text).upgrade()
    assert "variable-not-found" == caught.value.code
    unfinished = migrator.catalog.find_unfinished_migration()
    assert unfinished is not None
    assert unfinished.progress is not None
    assert "" == unfinished.progress.claim

    migrator.upgrade()
    assert ["applied"] == states(migrator)


def test_the_rows_of_a_step_are_unknown_after_a_kill(
    make: Callable[..., Migrator], monkeypatch: pytest.MonkeyPatch
) -> None:
    make(CREATE).upgrade()
    kill_at(monkeypatch, make(CREATE, SPLIT), "after", 1)

    migrator = make(CREATE, SPLIT)
    migrator.upgrade()

    status = migrator.history()[1]
    assert [("update", None), ("rewrite", 3), ("delete", 1)] == [
        (item.step, item.rows) for item in status.written_rows
    ]
    assert status.written_row_count is None


def test_a_step_that_fails_is_corrected_in_its_file(make: Callable[..., Migrator]) -> None:
    late = "-- up\nUPDATE people SET name = 'x' WHERE id = 3;\n{}\n"
    wrong = "UPDATE people SET age = CAST(CAST(name AS INT) AS STRING);"
    migrator = make(CREATE, late.format(wrong))
    with pytest.raises(SchemaCoreError):
        migrator.upgrade()
    assert ["applied", "unfinished"] == states(migrator)
    assert MigrationState.UNFINISHED is migrator.history()[1].state

    with pytest.raises(SchemaCoreError) as caught:
        make(CREATE, late.replace("'x'", "'y'").format(wrong)).upgrade()
    assert "migration-changed" == caught.value.code

    right = late.format("UPDATE people SET age = '0' WHERE age IS NULL;")
    corrected = make(CREATE, right)
    assert ["upgrade 0002_m: 1 statement"] == [str(item) for item in corrected.upgrade()]
    assert [(3, "x", "0")] == rows(corrected, "SELECT id, name, age FROM people WHERE id = 3")
    assert right == corrected.catalog.list_migrations()[1].text


def test_an_undo_that_fails_is_corrected_in_its_file(make: Callable[..., Migrator]) -> None:
    late = "-- up\nALTER TABLE people ADD note STRING;\n-- down\n{}\n"
    fill = "UPDATE people SET note = 'x' WHERE id = 3;\n"
    undo = f"{fill}-- rewrite: people\n{{}}ALTER TABLE people DROP note;"
    make(CREATE, late.format(undo.format(""))).upgrade()
    with pytest.raises(SchemaCoreError) as caught:
        make(CREATE, late.format(undo.format(""))).downgrade("1")
    assert "rows-do-not-fit" == caught.value.code
    assert "\n" not in caught.value.problem
    with pytest.raises(SchemaCoreError) as caught:
        make(CREATE, late.format(undo.replace("'x'", "'y'").format(""))).downgrade("1")
    assert "migration-changed" == caught.value.code

    corrected = make(CREATE, late.format(undo.format("-- accept: value-dropped\n")))
    assert ["downgrade 0002_m: 1 statement"] == [str(item) for item in corrected.downgrade("1")]
    assert ["applied", "undone", "pending"] == states(corrected)
    assert [(3,)] == rows(corrected, "SELECT id FROM people WHERE id = 3")


@pytest.mark.parametrize(
    ("correction", "expected"),
    [
        ("", [(3, None)]),
        ("ALTER TABLE people ADD note STRING;", [(3, None)]),
        ("CREATE TABLE other (id INT); UPDATE people SET age = '0' WHERE age IS NULL;", [(3, "0")]),
    ],
)
def test_a_step_that_fails_is_removed_or_preceded_by_others(
    make: Callable[..., Migrator], correction: str, expected: list[tuple[Any, ...]]
) -> None:
    late = "-- up\nUPDATE people SET name = 'x' WHERE id = 3;\n{}\n"
    wrong = "UPDATE people SET age = CAST(CAST(name AS INT) AS STRING);"
    with pytest.raises(SchemaCoreError):
        make(CREATE, late.format(wrong)).upgrade()

    corrected = make(CREATE, late.format(correction))
    corrected.upgrade()

    assert ["applied", "applied"] == states(corrected)
    assert expected == rows(corrected, "SELECT id, age FROM people WHERE id = 3")
    assert late.format(correction) == corrected.catalog.list_migrations()[1].text
    assert [] == list(corrected.drift())


def test_a_corrected_file_does_not_break_views(make: Callable[..., Migrator]) -> None:
    view = "-- up\nCREATE VIEW ages AS SELECT id, age FROM people;\n"
    late = "-- up\nUPDATE people SET age = {};\n"
    wrong = late.format("CAST(CAST(name AS INT) AS STRING)")
    with pytest.raises(SchemaCoreError):
        make(CREATE, view, wrong).upgrade()

    corrected = make(CREATE, view, "-- up\nALTER TABLE people DROP age;\n")
    with pytest.raises(SchemaCoreError) as caught:
        corrected.upgrade()

    assert "migration-breaks-view" == caught.value.code
    assert ["applied", "applied", "unfinished"] == states(corrected)
    assert wrong == corrected.catalog.find_unfinished_migration().text  # type: ignore[union-attr]


def test_a_corrected_step_that_was_committed_is_not_refused(
    make: Callable[..., Migrator], monkeypatch: pytest.MonkeyPatch
) -> None:
    late = "-- up\nUPDATE people SET name = {} WHERE id = 3;\n"
    wrong, right = late.format("CAST(CAST(name AS INT) AS STRING)"), late.format("'x'")
    with pytest.raises(SchemaCoreError):
        make(CREATE, wrong).upgrade()
    kill_at(monkeypatch, make(CREATE, right), "after", 1)

    make(CREATE, right).upgrade()

    migrator = make(CREATE, right)
    assert ["applied", "applied"] == states(migrator)
    assert [(3, "x")] == rows(migrator, "SELECT id, name FROM people WHERE id = 3")


def test_an_unfinished_migration_with_another_checksum_is_not_continued(
    make: Callable[..., Migrator],
) -> None:
    late = "-- up\nUPDATE people SET age = {};\n"
    wrong = make(CREATE, late.format("CAST(CAST(name AS INT) AS STRING)"))
    with pytest.raises(SchemaCoreError):
        wrong.upgrade()
    checksums = {file.name: file.checksum for file in wrong.directory.migrations}

    corrected = make(CREATE, late.format("'0'"))
    corrected.directory = replace(corrected.directory, checksums=format_checksums(checksums))
    with pytest.raises(SchemaCoreError) as caught:
        corrected.upgrade()

    assert "migration-checksum-mismatch" == caught.value.code
    assert ["applied", "unfinished"] == states(corrected)


def test_a_generated_rewrite_is_applied_and_undone(
    make: Callable[..., Migrator], tmp_path: Path
) -> None:
    """Partition keys, types and names change in one step, which ALTER TABLE alone cannot do."""
    columns = "id BIGINT NOT NULL, {} STRING, age {}, city STRING"
    ending = "PARTITIONED BY ({}) WITH ('format' = 'json')"
    scripts = [
        f"CREATE TABLE people ({columns.format(*names)}) {ending.format(key)};"
        for *names, key in (("name", "STRING", "city"), ("label", "INT", "id"))
    ]
    (tmp_path / "tables.sql").write_text(scripts[1])
    migrator = make(CREATE)
    migrator.upgrade()
    migrator.directory = replace(migrator.directory, path=tmp_path / "migrations")
    wanted = read_definitions(migrator.environment, tmp_path / "tables.sql")
    path = ObjectPath("default", "people")

    result = autogenerate(
        migrator,
        wanted,
        "change",
        column_renames={path: {"name": "label"}},
        rewrite=True,
    )

    assert () == result.rewrites
    text = result.path.read_text() if result.path else ""
    assert "-- rewrite: default.people\nALTER TABLE `default`.people RENAME name TO label;" in text
    changed = make(CREATE, text)
    changed.upgrade()
    assert [(1, "Ada Lovelace", 36)] == rows(
        changed, "SELECT id, label, age FROM people WHERE id = 1"
    )
    changed.downgrade("1")
    assert [(1, "Ada Lovelace", "36")] == rows(
        changed, "SELECT id, name, age FROM people WHERE id = 1"
    )


def test_rows_that_others_write_meanwhile_are_not_lost(
    make: Callable[..., Migrator], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An UPDATE replaces all rows that it has read, but none that it has not."""
    update = "-- up\nUPDATE people SET name = 'x' WHERE id = 3;\n"
    migrator, other = make(CREATE, update), make(CREATE, update)
    migrator.upgrade("1")
    prepare = FileStage.prepare

    def insert_before(stage: FileStage) -> None:
        monkeypatch.undo()
        insert = "INSERT INTO people VALUES (4, 'Hypatia', '60', 'Athens')"
        other.environment.execute_sql(insert).wait()
        prepare(stage)

    monkeypatch.setattr(FileStage, "prepare", insert_before)
    with pytest.raises(SchemaCoreError) as caught:
        migrator.upgrade()
    assert "concurrent-modification" == caught.value.code
    names = "SELECT id, name FROM people WHERE id > 2"
    assert [(3, "Plato"), (4, "Hypatia")] == rows(migrator, names)

    migrator.upgrade()
    assert [(3, "x"), (4, "Hypatia")] == rows(migrator, names)


def test_a_fresh_catalog_without_rows_is_migrated(
    make: Callable[..., Migrator], tmp_path: Path
) -> None:
    options = "'connector' = 'filesystem', 'format' = 'csv', 'path' = '{}'"
    old, new = (options.format(tmp_path / name) for name in ("old", "new"))
    create = f"""-- up
CREATE TABLE old_ (a STRING) WITH ({old});
CREATE TABLE new_ (a INT NOT NULL) WITH ({new});
"""
    move = """-- up
INSERT INTO new_ SELECT CAST(a AS INT) FROM old_;
INSERT OVERWRITE new_ SELECT a + 1 FROM new_;
UPDATE new_ SET a = a + 1;
-- rewrite: new_
CREATE TABLE new_ (a BIGINT NOT NULL, b STRING) PARTITIONED BY (b) WITH ({});
"""
    migrator = make(create, move.format(new))

    migrator.upgrade(dry_run=True)
    assert not (tmp_path / "old").exists()
    migrator.upgrade()

    assert [] == rows(migrator, "SELECT a, b FROM new_")
    table = migrator.environment.from_path("new_").get_resolved_schema()
    assert ["a", "b"] == table.get_column_names()
    assert () == migrator.drift()


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ("UPDATE people SET id = 'x'", "not-assignable"),
        ("UPDATE people SET missing = 1", "unknown-column"),
        ("UPDATE people SET id = 1, id = 2", "duplicate-column"),
        ("UPDATE people SET id = missing", "unknown-column"),
        ("UPDATE people SET id = NULL", "job-failed"),
        ("-- rewrite: people\nALTER TABLE people MODIFY name INT", "rows-do-not-fit"),
        ("-- rewrite: people\n-- accept: null-value\nALTER TABLE people MODIFY name INT",
         "invalid-argument"),
        ("-- rewrite: other\nALTER TABLE people MODIFY name INT", "invalid-migration-file"),
        ("-- accept: too-long\n-- rewrite: people\nALTER TABLE people ADD x INT",
         "invalid-migration-file"),
        ("ALTER TABLE people\n-- rewrite: people\nMODIFY name INT", "invalid-migration-file"),
        ("INSERT INTO sink SELECT id FROM people", "unsupported-ability"),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO people SELECT * FROM people; END",
         "invalid-migration-file"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_changes_nothing(
    make: Callable[..., Migrator], step: str, code: str
) -> None:
    sink = CREATE.replace(
        "INSERT", "CREATE TABLE sink (a BIGINT) WITH ('connector' = 'blackhole');\nINSERT"
    )
    migrator = make(sink, f"-- up\n{step};")
    with pytest.raises(SchemaCoreError) as caught:
        migrator.upgrade()

    assert code == caught.value.code
    assert [(1, "36"), (2, "41"), (3, None)] == rows(migrator, "SELECT id, age FROM people")
