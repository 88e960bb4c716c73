"""Migrations of catalogs: applied, undone, stamped, compared, and rolled back when they fail."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.catalog import InMemoryCatalog, ObjectPath
from schema_core.catalog.migration_history import ADDED_FIELDS, MAX_USER, user_name
from schema_core.catalog.stores.object_store import StoredKind
from schema_core.catalogs import SqlCatalog
from schema_core.catalogs.serialization import deserialize, serialize
from schema_core.errors import SchemaCoreError
from schema_core.migration import MigrationDirectory, MigrationFile, MigrationState, Migrator
from schema_core.sql.parser import parse_statements
from schema_core.testing.catalog_cases import MIGRATION

CREATE = """
-- up
CREATE TABLE orders (id BIGINT NOT NULL) WITH ('connector' = 'blackhole');
-- down
DROP TABLE orders;
"""
ADD = """
-- up
ALTER TABLE orders ADD channel STRING;
CREATE VIEW ids AS SELECT id FROM orders;
-- down
DROP VIEW ids;
ALTER TABLE orders DROP channel;
"""

#: An environment with the catalog ``shop``, which is the current one.
Environments = Callable[[], TableEnvironment]


@pytest.fixture(params=["memory", "sqlite"])
def environments(request: pytest.FixtureRequest, tmp_path: Path) -> Environments:
    shared = InMemoryCatalog("shop", "default")

    def make() -> TableEnvironment:
        environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        url = f"sqlite:///{tmp_path}/shop.db"
        catalog = shared if request.param == "memory" else SqlCatalog("shop", url)
        environment.register_catalog("shop", catalog)
        environment.use_catalog("shop")
        return environment

    return make


def directory(*texts: str) -> MigrationDirectory:
    """Return a directory with migrations named 0001_m, 0002_m, ..."""
    files = [MigrationFile.parse(f"{number:04}_m", text) for number, text in enumerate(texts, 1)]
    return MigrationDirectory.of(Path("migrations"), files)


def states(migrator: Migrator) -> list[MigrationState]:
    return [item.state for item in migrator.history()]


def test_upgrade_and_downgrade(environments: Environments) -> None:
    environment = environments()
    migrator = Migrator(environment, directory(CREATE, ADD))

    assert ["0001_m", "0002_m"] == [item.name for item in migrator.upgrade()]
    assert ["ids", "orders"] == sorted(environment.list_tables())
    assert ["id", "channel"] == columns(environment)
    assert [MigrationState.APPLIED] * 2 == states(migrator)
    assert () == migrator.upgrade()

    assert ["0002_m"] == [item.name for item in migrator.downgrade("1")]
    assert (["orders"], ["id"]) == (environment.list_tables(), columns(environment))
    assert [MigrationState.APPLIED, MigrationState.UNDONE, MigrationState.PENDING] == states(
        migrator
    )
    assert ["0001_m"] == [item.name for item in migrator.downgrade("-1")]
    assert [] == environment.list_tables()


def columns(environment: TableEnvironment) -> list[str]:
    return environment.from_path("orders").get_resolved_schema().get_column_names()


def test_another_environment_sees_the_history(environments: Environments) -> None:
    Migrator(environments(), directory(CREATE)).upgrade()

    migrator = Migrator(environments(), directory(CREATE, ADD))

    assert [MigrationState.APPLIED, MigrationState.PENDING] == states(migrator)
    assert ["0002_m"] == [item.name for item in migrator.upgrade()]


def test_a_migration_that_fails_changes_nothing(environments: Environments) -> None:
    environment = environments()
    failing = "-- up\nCREATE TABLE t (a INT);\nCREATE DATABASE d;\nALTER TABLE missing ADD x INT;\n"
    migrator = Migrator(environment, directory(CREATE, failing))

    with pytest.raises(SchemaCoreError) as caught:
        migrator.upgrade()

    assert "table-not-found" == caught.value.code
    assert "migration 0002_m, up" in caught.value.path
    assert 4 == caught.value.diagnostics[0].line
    assert ["orders"] == environment.list_tables()
    assert ["default"] == environment.list_databases()
    assert [MigrationState.APPLIED, MigrationState.PENDING] == states(migrator)


def test_a_dry_run_executes_all_and_changes_nothing(environments: Environments) -> None:
    environment = environments()
    migrator = Migrator(environment, directory(CREATE, ADD))

    assert ["0001_m", "0002_m"] == [item.name for item in migrator.upgrade(dry_run=True)]
    assert [] == environment.list_tables()
    assert [MigrationState.PENDING] * 2 == states(migrator)
    with pytest.raises(SchemaCoreError):
        Migrator(environment, directory(ADD)).upgrade(dry_run=True)


def test_the_current_path_is_restored(environments: Environments) -> None:
    environment = environments()
    text = "-- up\nCREATE DATABASE d;\nUSE d;\nCREATE TABLE t (a INT);\n-- down\nDROP TABLE d.t;\n"
    migrator = Migrator(environment, directory(text))
    migrator.upgrade()

    assert "default" == environment.get_current_database()
    assert migrator.catalog.table_exists(ObjectPath("d", "t"))
    assert migrator.catalog is environment.get_catalog("shop")


def test_changed_and_missing_files_are_refused(environments: Environments) -> None:
    environment = environments()
    Migrator(environment, directory(CREATE)).upgrade()

    for changed, code in ((directory(CREATE + "\n"), "migration-changed"),
                          (directory(), "migration-missing")):  # fmt: skip
        migrator = Migrator(environment, changed)
        assert f"migration-{states(migrator)[0].value}" == code
        with pytest.raises(SchemaCoreError) as caught:
            migrator.upgrade()
        assert code == caught.value.code
    assert ["0001_m"] == [
        item.name for item in Migrator(environment, directory()).downgrade("base")
    ]
    assert [] == environment.list_tables()


def test_branches_are_refused_until_they_are_merged(environments: Environments) -> None:
    texts = {
        "0001_a": CREATE,
        "0002_b": ADD,
        "0002_c": "-- parents: 0001_a\n-- up\nCREATE DATABASE c;",
    }

    def migrator(**more: str) -> Migrator:
        files = [MigrationFile.parse(name, text) for name, text in {**texts, **more}.items()]
        return Migrator(environment, MigrationDirectory.of(Path("migrations"), files))

    environment = environments()
    with pytest.raises(SchemaCoreError) as caught:
        migrator().upgrade()
    assert "migration-branches" == caught.value.code
    assert ["0001_a", "0002_c"] == [item.name for item in migrator().upgrade("0002_c")]
    merged = migrator(**{"0003_d": "-- parents: 0002_b, 0002_c\n-- up\n-- down\n"})
    assert ["0002_b", "0003_d"] == [item.name for item in merged.upgrade()]
    assert ["0003_d", "0002_b"] == [item.name for item in merged.downgrade("0002_c", dry_run=True)]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE copied AS SELECT id FROM orders",
        "CREATE TEMPORARY TABLE t (a INT)",
        "CREATE TEMPORARY VIEW t AS SELECT 1",
        "CREATE TABLE default_catalog.default_database.t (a INT)",
        "DROP DATABASE default_catalog.d",
        "CREATE CATALOG other WITH ('type' = 'generic_in_memory')",
        "USE CATALOG default_catalog",
        "USE default_catalog.default_database",
        "ALTER TABLE orders RENAME TO default_catalog.default_database.o",
        "SET 'a' = 'b'",
        "SELECT 1",
        "CREATE TEMPORARY SYSTEM FUNCTION f AS 'a.b'",
    ],
)
def test_statements_outside_of_the_catalog_are_refused(
    environments: Environments, statement: str
) -> None:
    environment = environments()
    migrator = Migrator(environment, directory(CREATE, f"-- up\nCREATE DATABASE d;\n{statement};"))

    with pytest.raises(SchemaCoreError) as caught:
        migrator.upgrade()

    assert "invalid-migration-file" == caught.value.code
    assert 3 == caught.value.diagnostics[0].line
    assert ["default"] == environment.list_databases()


def test_functions_and_models_are_allowed(environments: Environments) -> None:
    environment = environments()
    text = """-- up
CREATE FUNCTION f AS 'a.B';
CREATE MODEL m INPUT (a INT) OUTPUT (b INT) WITH ('provider' = 'x', 'task' = 'y');
-- down
DROP MODEL m;
DROP FUNCTION f;
"""
    migrator = Migrator(environment, directory(text))
    migrator.upgrade()
    assert (["f"], ["m"]) == (
        migrator.catalog.list_functions("default"),
        migrator.catalog.list_models("default"),
    )
    migrator.downgrade("base")
    assert [] == migrator.catalog.list_functions("default")


def test_an_irreversible_migration_is_refused_before_any_is_undone(
    environments: Environments,
) -> None:
    environment = environments()
    note = "-- cannot be undone; on the way back the rows are lost"
    one_way = f"{note}\n-- up\nCREATE TABLE a (x INT);"
    migrator = Migrator(environment, directory(one_way, CREATE))
    migrator.upgrade()

    with pytest.raises(SchemaCoreError) as caught:
        migrator.downgrade("base")

    assert "migration-irreversible" == caught.value.code
    assert caught.value.problem.endswith(
        "has no section '-- down': cannot be undone; on the way back the rows are lost"
    )
    assert ["a", "orders"] == sorted(environment.list_tables())


def test_drift_is_what_changed_outside(environments: Environments) -> None:
    environment = environments()
    migrator = Migrator(environment, directory(CREATE, ADD))
    migrator.upgrade()
    environment.execute_sql("CREATE TABLE untracked (a INT)")
    assert () == migrator.drift()

    environment.execute_sql("ALTER TABLE orders ADD hotfix INT")
    environment.execute_sql("DROP VIEW ids")
    environment.execute_sql("ALTER TABLE orders SET ('password' = 'hunter2')")

    result = [str(item) for item in migrator.drift()]
    assert [
        (
            "ModifyTable{path=`default`.`orders`, changes=[AddColumn{column=`hotfix` INT, "
            "position=null}, SetOption{key='password', value='******'}]}"
        ),
        "RemoveObject{path=`default`.`ids`, kind=VIEW}",
    ] == result
    environment.execute_sql("ALTER TABLE orders RESET ('password')")
    environment.execute_sql("ALTER TABLE orders DROP hotfix")
    environment.execute_sql("CREATE VIEW ids AS SELECT id FROM orders")
    assert () == migrator.drift()


def test_drift_of_renamed_and_dropped_objects(environments: Environments) -> None:
    environment = environments()
    text = "-- up\nALTER TABLE orders RENAME TO sales;\nCREATE DATABASE d COMMENT 'x';\n"
    drop = "-- up\nCREATE TABLE d.t (a INT);\nDROP DATABASE d CASCADE;\n"
    migrator = Migrator(environment, directory(CREATE, text, drop))
    migrator.upgrade()
    assert () == migrator.drift()

    environment.execute_sql("CREATE DATABASE d")
    environment.execute_sql("CREATE TABLE d.t (a INT)")
    assert ["AddDatabase", "AddObject"] == [type(item).__name__ for item in migrator.drift()]


def test_stamp_adopts_an_existing_catalog(environments: Environments) -> None:
    environment = environments()
    environment.execute_sql("CREATE TABLE orders (id BIGINT) WITH ('connector' = 'print')")
    migrator = Migrator(environment, directory(CREATE, ADD))

    assert ("0001_m",) == migrator.stamp("1")
    assert migrator.history()[0].stamped
    assert () == migrator.drift()
    environment.execute_sql("ALTER TABLE orders ADD hotfix INT")
    assert 1 == len(migrator.drift())
    assert ["0002_m"] == [item.name for item in migrator.upgrade()]
    assert () == migrator.stamp("base")
    assert [MigrationState.PENDING] * 2 == states(migrator)


def test_the_script_has_variables_instead_of_their_values(environments: Environments) -> None:
    text = "-- up\nCREATE TABLE t (a INT) WITH ('connector' = 'print', 'password' = '${p}');\n"
    migrator = Migrator(environments(), directory(text), variables={"p": "hunter2"})

    assert "'${p}'" in migrator.script()
    assert "hunter2" not in repr(migrator.upgrade())
    stored = migrator.catalog.get_table(ObjectPath("default", "t"))
    assert "hunter2" == stored.get_options()["password"]
    assert "hunter2" not in repr(migrator.catalog.list_migrations())


def test_of_several_that_start_at_once_each_migration_is_applied_by_one(
    environments: Environments,
) -> None:
    texts = [f"-- up\nCREATE TABLE t{index} (a INT);\n" for index in range(5)]
    migrators = [Migrator(environments(), directory(*texts)) for _ in range(4)]
    start = Barrier(len(migrators))

    def upgrade(migrator: Migrator) -> list[str]:
        start.wait()
        return [item.name for item in migrator.upgrade()]

    with ThreadPoolExecutor(len(migrators)) as pool:
        result = [name for names in pool.map(upgrade, migrators) for name in names]

    assert [f"{index:04}_m" for index in range(1, 6)] == sorted(result)
    assert [MigrationState.APPLIED] * 5 == states(migrators[0])


def test_rows_of_managed_tables_are_deleted_after_the_commit(tmp_path: Path) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    catalog = SqlCatalog("shop", f"sqlite:///{tmp_path}/shop.db", warehouse=f"{tmp_path}/rows")
    environment.register_catalog("shop", catalog)
    environment.use_catalog("shop")
    environment.execute_sql("CREATE TABLE t (a INT)")
    folder = catalog.get_table(ObjectPath("default", "t")).get_options()["schema-core.managed"]
    rows = tmp_path / "rows" / folder
    rows.mkdir(parents=True)
    migrator = Migrator(environment, directory("-- up\nDROP TABLE t;\n"))

    migrator.upgrade(dry_run=True)
    assert rows.exists()
    migrator.upgrade()
    assert not rows.exists()


def test_a_catalog_without_transactions_is_refused() -> None:
    class Plain(InMemoryCatalog):
        capabilities = frozenset()

    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.register_catalog("plain", Plain("plain"))
    environment.use_catalog("plain")

    with pytest.raises(SchemaCoreError) as caught:
        Migrator(environment, directory())

    assert "unsupported-capability" == caught.value.code


def test_a_damaged_history_is_reported(tmp_path: Path) -> None:
    catalog = SqlCatalog("shop", f"sqlite:///{tmp_path}/shop.db")
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.register_catalog("shop", catalog)
    environment.use_catalog("shop")
    migrator = Migrator(environment, directory(CREATE))
    migrator.upgrade()
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute(
            "UPDATE schema_core_entry SET content = '{\"name\": 1}'"
            " WHERE kind = 'migration' AND key <> ''"
        )
    connection.close()

    with pytest.raises(SchemaCoreError) as caught:
        migrator.upgrade()

    assert "corrupt-entry" == caught.value.code


def test_the_catalog_is_that_of_the_creation(environments: Environments) -> None:
    environment = environments()
    migrator = Migrator(environment, directory(CREATE, ADD))
    other = environment.get_catalog("default_catalog")
    environment.use_catalog("default_catalog")

    migrator.upgrade()

    assert other is environment.get_catalog("default_catalog")
    assert migrator.catalog is environment.get_catalog("shop")
    assert "default_catalog" == environment.get_current_catalog()
    assert migrator.catalog.table_exists(ObjectPath("default", "orders"))


def test_positions_are_not_reused(environments: Environments) -> None:
    def migrator(**texts: str) -> Migrator:
        files = [MigrationFile.parse(name, text) for name, text in texts.items()]
        return Migrator(environment, MigrationDirectory.of(Path("migrations"), files))

    environment = environments()
    nothing = "-- parents: 0001_a\n-- up\n-- down\n"
    result = migrator(**{"0001_a": "-- up\n-- down\n", "0002_b": nothing, "0002_c": nothing})
    result.upgrade("0002_b")
    result.upgrade("0002_c")
    result.downgrade("0002_c", dry_run=True)
    assert ["0002_b"] == [item.name for item in result.downgrade("0002_c")]
    result.upgrade("0002_b")

    assert [1, 3, 5] == [migration.position for migration in result.catalog.list_migrations()]
    assert [4] == [entry.position for entry in result.catalog.list_undone_migrations()]


def test_use_ends_with_its_migration_also_in_a_dry_run(environments: Environments) -> None:
    use = "-- up\nCREATE DATABASE d;\nUSE d;\n"
    migrator = Migrator(environments(), directory(CREATE, use, ADD))

    assert 3 == len(migrator.upgrade(dry_run=True))
    assert 3 == len(migrator.upgrade())


def test_scripts_are_separated(environments: Environments) -> None:
    migrator = Migrator(environments(), directory("-- up\nUSE a", "-- up\nUSE b"))

    assert 2 == len(parse_statements(migrator.script()))


def test_secrets_in_hints_are_not_in_the_history(environments: Environments) -> None:
    hint = "/*+ OPTIONS('password' = '${p}') */"
    text = f"-- up\nCREATE VIEW v AS SELECT id FROM orders {hint};\n"
    migrator = Migrator(environments(), directory(CREATE, text), variables={"p": "hunter2"})
    migrator.upgrade()

    assert "hunter2" not in repr(migrator.catalog.list_migrations())
    assert () == migrator.drift()


def test_a_dry_run_shows_options_without_their_secrets(environments: Environments) -> None:
    text = """-- up
    CREATE TABLE t (a INT) WITH ('connector' = 'blackhole', 'format' = 'x', 'password' = '${p}',
      'url' = 'https://ann:${p}@host');
    ALTER TABLE t SET ('path' = '/data', 'db.pass' = '${p}');
    -- down
    DROP TABLE t;
    """
    migrator = Migrator(environments(), directory(text), variables={"p": "hunter2"})
    shown = "\n".join(migrator.upgrade(dry_run=True)[0].statements)

    assert "hunter2" not in shown
    for option in ("'connector' = 'blackhole'", "'format' = 'x'", "'path' = '/data'"):
        assert option in shown
    for key in ("'password' = *", "'url' = *", "'db.pass' = *"):
        assert key in shown


@pytest.mark.parametrize(
    ("statement", "column"),
    [
        ("UPDATE t SET b = NOPE('${p}')", 18),
        ("DELETE FROM t WHERE b = '${p}' AND nope", 36),
        ("UPDATE t SET b = '${p}' WHERE '${p}' + a IS NULL OR '${p}' + a IS NULL", 31),
    ],
)
def test_an_error_of_a_data_step_is_located_and_does_not_show_values(
    environments: Environments, statement: str, column: int
) -> None:
    create = "CREATE TABLE t (a DATE, b STRING) WITH ('connector' = 'filesystem', 'path' = '/t');"
    text = f"-- up\n{create}\n{statement};\n"
    migrator = Migrator(environments(), directory(text), variables={"p": "hunter2"})

    with pytest.raises(SchemaCoreError) as caught:
        migrator.upgrade(dry_run=True)

    (diagnostic,) = caught.value.diagnostics
    assert (3, column) == (diagnostic.line, diagnostic.column)
    assert "hunter2" not in str(caught.value)
    assert statement in (diagnostic.text or "")


@pytest.mark.parametrize(
    ("section", "code", "line", "column"),
    [
        ("UPDATE v SET b = 'x'", "wrong-object-type", 4, 1),
        ("DELETE FROM nowhere", "table-not-found", 4, 1),
        ("-- accept: value-dropped\nALTER TABLE t DROP b", "invalid-migration-file", 4, 1),
        ("-- rewrite: t\n-- accept: all\nALTER TABLE t DROP b", "invalid-argument", 5, 1),
        ("-- rewrite: a..t\nALTER TABLE t DROP b", "syntax", 4, 1),
    ],
)
def test_errors_of_steps_have_the_file_and_the_position(
    environments: Environments, tmp_path: Path, section: str, code: str, line: int, column: int
) -> None:
    create = "CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = '/t');"
    path = tmp_path / "migrations" / "0001_m.sql"
    path.parent.mkdir()
    path.write_text(f"-- up\n{create}\nCREATE VIEW v AS SELECT * FROM t;\n{section};\n")
    with pytest.raises(SchemaCoreError) as caught:
        Migrator(environments(), path.parent).upgrade(dry_run=True)

    (diagnostic,) = caught.value.diagnostics
    assert (code, str(path), line, column) == (
        diagnostic.code, diagnostic.file, diagnostic.line, diagnostic.column,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("-- note\n", 1),
        ("-- note\n-- accept: too-long\n-- up\n", 2),
        ("-- rewrite: t\n-- up\nALTER TABLE t ADD a INT;", 1),
    ],
)
def test_errors_of_files_have_their_position(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "0001_m.sql"
    path.write_text(text)
    with pytest.raises(SchemaCoreError) as caught:
        MigrationDirectory.read(tmp_path)

    (diagnostic,) = caught.value.diagnostics
    assert ("invalid-migration-file", str(path), line, 1) == (
        diagnostic.code, diagnostic.file, diagnostic.line, diagnostic.column,
    )  # fmt: skip


def test_a_dry_run_and_errors_show_variables_in_strings_and_not_their_values(
    environments: Environments,
) -> None:
    create = "CREATE TABLE t (a STRING) WITH ('connector' = 'filesystem', 'path' = '${p}');"
    steps = "INSERT INTO t VALUES ('${p}');\nUPDATE t SET a = 'x ${p}' WHERE a = '$${p}';"
    text = f"-- up\n{create}\n{steps}\n"
    migrator = Migrator(environments(), directory(text), variables={"p": "it's hunter2"})

    (result,) = migrator.upgrade(dry_run=True)

    assert text == "-- up\n" + ";\n".join(result.statements) + ";\n"
    migrator = Migrator(
        environments(),
        directory(f"-- up\n{create}\nALTER TABLE t MODIFY a TIMESTAMP(3) METADATA FROM '${{p}}';"),
        variables={"p": "it's hunter2"},
    )
    with pytest.raises(SchemaCoreError) as caught:
        migrator.upgrade(dry_run=True)
    assert "${p}" in caught.value.problem
    assert "hunter2" not in str(caught.value)


def test_the_history_has_who_when_and_how_long(environments: Environments) -> None:
    environment = environments()
    before = datetime.now(UTC).replace(microsecond=0)
    Migrator(environment, directory(CREATE), applied_by="ann\u202e\n" + "x" * 500).upgrade()
    Migrator(environment, directory(CREATE, ADD)).stamp("2")
    stamped = Migrator(environment, directory(CREATE, ADD)).history()
    Migrator(environment, directory(CREATE, ADD), applied_by="bob").stamp("base")
    environment.execute_sql("DROP TABLE orders")
    Migrator(environment, directory(CREATE), applied_by="ann\u202e\n" + "x" * 500).upgrade()

    (entry,) = Migrator(environment, directory(CREATE)).history()

    assert r"ann\u202e\n" + "x" * (MAX_USER - 11) == entry.applied_by
    assert before <= datetime.fromisoformat(entry.applied_at or "") <= datetime.now(UTC)
    assert entry.milliseconds is not None
    assert 0 <= entry.milliseconds < 60_000
    assert () == entry.written_rows
    assert [(user_name(), None, True)] * 2 == [
        (item.applied_by, item.milliseconds, item.stamped) for item in stamped
    ]


def test_the_history_has_who_undid_a_migration_when_and_how_long(
    environments: Environments,
) -> None:
    ann, bob = (
        Migrator(environments(), directory(CREATE, ADD), applied_by=name) for name in ("ann", "bob")
    )
    before = datetime.now(UTC).replace(microsecond=0)
    ann.upgrade()
    bob.downgrade("1")
    ann.upgrade()
    bob.downgrade("base")
    ann.stamp("1")

    history = Migrator(environments(), directory(CREATE)).history()

    assert [
        ("0002_m", "undone", "bob"), ("0002_m", "undone", "bob"), ("0001_m", "undone", "bob"),
        ("0001_m", "applied", "ann"),
    ] == [(item.name, item.state.value, item.applied_by) for item in history]  # fmt: skip
    for entry in history[:3]:
        assert before <= datetime.fromisoformat(entry.applied_at or "") <= datetime.now(UTC)
        assert entry.milliseconds is not None
        assert not entry.stamped
    undone = environments().get_catalog("shop").list_undone_migrations()
    assert {("", ())} == {(entry.text, entry.objects) for entry in undone}


def test_a_dry_run_of_an_undo_is_not_in_the_history(environments: Environments) -> None:
    migrator = Migrator(environments(), directory(CREATE))
    migrator.upgrade()

    assert ["0001_m"] == [item.name for item in migrator.downgrade("base", dry_run=True)]

    assert [MigrationState.APPLIED] == states(migrator)


def test_entries_of_older_versions_are_read() -> None:
    document = json.loads(serialize(StoredKind.MIGRATION, MIGRATION))
    older = {key: value for key, value in document.items() if key not in ADDED_FIELDS}

    migration = deserialize(StoredKind.MIGRATION, json.dumps(older))

    assert ("", None, ()) == (
        migration.applied_by, migration.milliseconds, migration.written_rows
    )  # fmt: skip
    assert MIGRATION.name == migration.name
    with pytest.raises(SchemaCoreError, match="malformed"):
        deserialize(StoredKind.MIGRATION, json.dumps(older | {"unknown": 1}))
    older.pop("stamped")
    with pytest.raises(SchemaCoreError, match="malformed"):
        deserialize(StoredKind.MIGRATION, json.dumps(older))
