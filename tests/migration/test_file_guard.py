"""`upgrade` and `downgrade` refuse an ALTER TABLE that the files of the table do not follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.base.paths import ObjectIdentifier, ObjectPath
from schema_core.catalog.changes.column_history import ColumnHistory, FileMarkers
from schema_core.errors import SchemaError
from schema_core.migration.files.directory import MigrationDirectory, MigrationFile
from schema_core.migration.files.migrator import Migrator
from schema_core.migration.gates.file_guard import find_file
from schema_core.migration.gates.lint import lint_migrations

FORMATS = ("csv", "json", "parquet", "orc", "avro")
COLUMNS = "a INT, b STRING, c AS n + 1, n INT, ts TIMESTAMP(3)"

#: The statement -> the finding of each format, "" for none; those of other formats are `*`.
STATEMENTS = {
    "MODIFY a BIGINT": {"*": ""},
    "MODIFY b INT": {"csv": "text-parsed", "json": "text-parsed", "*": "type-changed"},
    "MODIFY a STRING": {"csv": "", "json": "", "*": "type-changed"},
    "MODIFY ts TIMESTAMP(6)": {"*": ""},
    "ADD d INT NOT NULL": {"*": "required-field-added"},
    "ADD d INT": {"*": ""},
    "ADD d INT FIRST": {"csv": "columns-moved", "*": ""},
    "DROP a": {"csv": "columns-moved", "*": ""},
    "MODIFY b STRING FIRST": {"csv": "columns-moved", "*": ""},
    "SET ('path' = 'elsewhere')": {"*": "location-changed"},
    "SET ('sink.parallelism' = '2')": {"*": ""},
    "ADD WATERMARK FOR ts AS ts": {"*": ""},
    "MODIFY c AS n + 2": {"*": ""},
    "DROP c": {"*": ""},
    "MODIFY b STRING COMMENT 'x'": {"*": ""},
}
CASES = [(form, change) for change in STATEMENTS for form in FORMATS] + [
    ("csv", "SET ('csv.header' = 'true')"),
    ("csv", "SET ('csv.null-literal' = 'NULL')"),
    ("csv", "SET ('format' = 'json')"),
]
OTHERS = {"SET ('format' = 'json')": "format-changed"}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture
def environment(warehouse: Path) -> TableEnvironment:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    options = f"'type' = 'sql', 'url' = 'sqlite://', 'warehouse' = '{warehouse}'"
    environment.execute_sql(f"CREATE CATALOG shop WITH ({options})")
    environment.use_catalog("shop")
    return environment


def migrator(environment: TableEnvironment, *texts: str) -> Migrator:
    files = [MigrationFile.parse(f"000{place}_t", text) for place, text in enumerate(texts, 1)]
    return Migrator(environment, MigrationDirectory.of(Path("migrations"), files))


def create(environment: TableEnvironment, form: str, path: Path, *, has_files: bool = True) -> None:
    options = f"'connector' = 'filesystem', 'format' = '{form}', 'path' = '{path}'"
    environment.execute_sql(f"CREATE TABLE t ({COLUMNS}) WITH ({options})")
    path.mkdir(exist_ok=True)
    (path / "_SUCCESS").touch()
    if has_files:
        (path / "part-0").write_text("1,x,2024-01-01 00:00:00\n")


@pytest.mark.parametrize(("form", "change"), CASES)
def test_a_change_is_refused_if_the_files_do_not_follow(
    environment: TableEnvironment, form: str, change: str, tmp_path: Path
) -> None:
    kinds = STATEMENTS.get(change, {"*": OTHERS.get(change, "syntax-changed")})
    kind = kinds.get(form, kinds["*"])
    create(environment, form, tmp_path / "t")
    migration = migrator(environment, f"-- up\nALTER TABLE t {change};\n")

    if kind:
        for is_dry in (True, False):
            with pytest.raises(SchemaError, match=rf"\[{kind}\], for example '.*/part-0'") as error:
                migration.upgrade(dry_run=is_dry)
            assert error.value.code == "rows-do-not-fit"
            assert "-- rewrite: " in (error.value.hint or "") or "NULL" in change
        assert migration.pending() == ("0001_t",)
        accepting = f"-- up\n-- lint: accept {kind}: moved by hand\nALTER TABLE t {change};\n"
        migration = migrator(environment, accepting)
    assert len(migration.upgrade()) == 1


def test_the_files_of_a_path_by_reference_are_found(
    environment: TableEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLES", str(tmp_path))
    environment.allow_option_references(["TABLES"])
    options = "'connector' = 'filesystem', 'format' = 'orc', 'path' = '${env:TABLES}/t'"
    environment.execute_sql(f"CREATE TABLE t (a INT) WITH ({options})")
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "part-0").touch()

    with pytest.raises(SchemaError, match=r"\[type-changed\], for example '\*+/part-0'"):
        migrator(environment, "-- up\nALTER TABLE t MODIFY a STRING;\n").upgrade()


@pytest.mark.parametrize("change", STATEMENTS)
def test_a_table_without_files_follows_every_change(
    environment: TableEnvironment, change: str, tmp_path: Path
) -> None:
    create(environment, "parquet", tmp_path / "t", has_files=False)

    assert migrator(environment, f"-- up\nALTER TABLE t {change};\n").upgrade()


def test_the_files_of_a_managed_table_are_found(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE TABLE m (a INT) WITH ('format' = 'orc')")
    change = migrator(environment, "-- up\nALTER TABLE m MODIFY a STRING;\n")
    identifier = ObjectIdentifier.of("shop", "default", "m")
    entry = environment.catalog_manager.find_permanent(identifier)
    assert entry is not None
    directory = Path((entry.derived or {})["path"])
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "part-0").touch()

    with pytest.raises(SchemaError, match=r"orc does not read INT as STRING .*\[type-changed\]"):
        change.upgrade()
    (directory / "part-0").unlink()
    assert change.upgrade()


def test_a_change_that_is_undone_is_checked_as_well(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    create(environment, "parquet", tmp_path / "t")
    change = migrator(
        environment,
        "-- up\nALTER TABLE t MODIFY a BIGINT;\n-- down\nALTER TABLE t MODIFY a INT;\n",
    )
    change.upgrade()

    with pytest.raises(SchemaError, match="parquet does not read BIGINT as INT"):
        change.downgrade("base")


#: How the name begins of a file with the columns of `COLUMNS`, or of another table.
OWN = FileMarkers(ColumnHistory(), [("a",), ("b",), ("n",), ("ts",)]).new
FOREIGN = FileMarkers(ColumnHistory(), [("b",), ("a",)]).new


def test_files_of_this_table_follow_columns_that_are_moved(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    create(environment, "csv", tmp_path / "t", has_files=False)
    file = tmp_path / "t" / f"{OWN}-00000-x.csv"
    file.touch()
    changes = ("ADD d INT FIRST", "DROP a", "MODIFY b STRING FIRST")
    migrators = [migrator(environment, f"-- up\nALTER TABLE t {change};\n") for change in changes]
    for change in migrators:
        assert change.upgrade(dry_run=True)

    file.rename(file.with_name(f"{FOREIGN}-00000-x.csv"))
    for change in migrators:
        with pytest.raises(SchemaError, match=r"\[columns-moved\], for example"):
            change.upgrade(dry_run=True)


@pytest.mark.parametrize("name", ["data", f"{FOREIGN}-00000-x"])
def test_files_of_others_may_lack_a_column_that_was_added(
    environment: TableEnvironment, tmp_path: Path, name: str
) -> None:
    create(environment, "parquet", tmp_path / "t", has_files=False)
    (tmp_path / "t" / name).touch()
    narrow = migrator(environment, "-- up\nALTER TABLE t MODIFY b STRING NOT NULL;\n")
    assert narrow.upgrade(dry_run=True)
    added = "-- up\nALTER TABLE t ADD d INT;\nALTER TABLE t MODIFY d INT NOT NULL;\n"

    with pytest.raises(SchemaError, match=rf"\[nullability-narrowed\], for example '.*{name}"):
        migrator(environment, added).upgrade()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "changes",
    [("DROP b", "ADD b STRING"), ("RENAME b TO d", "ADD b STRING"), ("DROP b", "RENAME a TO b")],
)
def test_files_of_others_do_not_follow_a_name_that_is_used_again(
    environment: TableEnvironment, tmp_path: Path, form: str, changes: tuple[str, str]
) -> None:
    create(environment, form, tmp_path / "t")
    text = "-- lint: accept columns-moved: by a program that knows\n"
    text = "".join(f"{text}ALTER TABLE t {change};\n" for change in changes)

    with pytest.raises(SchemaError, match="b: older files have another column") as error:
        migrator(environment, f"-- up\n{text}").upgrade()

    assert "rows-do-not-fit" == error.value.code
    for file in (tmp_path / "t").iterdir():
        file.rename(file.with_name(f"{OWN}-00000-x"))
    assert migrator(environment, f"-- up\n{text}").upgrade()


INSERT = "INSERT INTO t (a, b) VALUES (1, 'x');\n"
UPDATE = "UPDATE t SET b = 'x' WHERE a = 1;\n"
ADD, NARROW = "ALTER TABLE t ADD d INT;\n", "ALTER TABLE t MODIFY d INT NOT NULL;\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"{INSERT}ALTER TABLE t MODIFY a STRING;\n", "type-changed"),
        (f"{INSERT}ALTER TABLE t RENAME TO u;\nALTER TABLE u MODIFY a STRING;\n", "type-changed"),
        (f"{INSERT}ALTER TABLE t ADD d INT NOT NULL;\n", "required-field-added"),
        (f"{INSERT}{ADD}{INSERT}{NARROW}", "nullability-narrowed"),
        (f"{UPDATE}{ADD}{NARROW}", "nullability-narrowed"),
        (f"{INSERT}ALTER TABLE t MODIFY b STRING FIRST;\n", ""),
        (f"{INSERT}{ADD}{UPDATE}{NARROW}", ""),
        (f"{ADD}{INSERT}{UPDATE}{NARROW}", ""),
    ],
)
def test_files_of_data_steps_that_are_not_run_yet_do_not_follow_either(
    environment: TableEnvironment, tmp_path: Path, text: str, kind: str
) -> None:
    create(environment, "parquet", tmp_path / "t", has_files=False)
    migration = migrator(environment, f"-- up\n{text}")

    if not kind:
        assert migration.upgrade(dry_run=True)
        return
    with pytest.raises(SchemaError, match=rf"\[{kind}\], as those that a data step") as error:
        migration.upgrade(dry_run=True)
    assert "rows-do-not-fit" == error.value.code


def test_renamed_columns_are_followed(environment: TableEnvironment, tmp_path: Path) -> None:
    create(environment, "parquet", tmp_path / "t")
    change = "-- up\nALTER TABLE t RENAME b TO d;\nALTER TABLE t RENAME TO u;\n"

    assert migrator(environment, change).upgrade()


def test_an_acceptance_is_of_one_statement(environment: TableEnvironment, tmp_path: Path) -> None:
    create(environment, "csv", tmp_path / "t")
    comment = "-- lint: accept syntax-changed, location-changed: converted\n-- note\n"
    first = f"ALTER TABLE t SET ('csv.header' = 'true', 'path' = '{tmp_path}/t');\n"
    second = "ALTER TABLE t SET ('csv.field-delimiter' = ';');\n"

    for text in (f"{comment}{first}{second}", first, f"-- lint: accept syntax-changed\n{first}"):
        with pytest.raises(SchemaError) as error:
            migrator(environment, f"-- up\n{text}").upgrade()
        assert error.value.code == "rows-do-not-fit"
    assert migrator(environment, f"-- up\n{comment}{first}").upgrade()


def test_an_acceptance_before_the_first_section_is_of_the_file(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    create(environment, "csv", tmp_path / "t")
    statements = (
        "ALTER TABLE t SET ('csv.field-delimiter' = ';');\n"
        "ALTER TABLE t SET ('csv.quote-character' = '*');\n"
    )
    comment = "-- lint: accept syntax-changed: converted\n"

    assert migrator(environment, f"{comment}-- up\n{statements}").upgrade()


def test_a_file_of_a_path_is_found(tmp_path: Path) -> None:
    nested = tmp_path / "t" / "p=1"
    hidden = tmp_path / "t" / "_temporary"
    for directory in (nested, hidden):
        directory.mkdir(parents=True)
    (hidden / "part-0").touch()
    assert find_file(str(tmp_path / "t")) is None
    assert find_file("hdfs://host/t") == "hdfs://host/t"
    (nested / ".part.crc").touch()
    assert find_file(f"file://{tmp_path}/t") is None
    (nested / "part-0").touch()
    assert find_file(f"file:{tmp_path}/t") == str(nested / "part-0")
    assert find_file(str(nested / "part-0")) == str(nested / "part-0")


def test_links_to_directories_are_followed_once(tmp_path: Path) -> None:
    table, elsewhere = tmp_path / "t", tmp_path / "elsewhere"
    for directory in (table, elsewhere):
        directory.mkdir()
    (table / "loop").symlink_to(table)
    (table / "p=1").symlink_to(elsewhere)
    assert find_file(str(table)) is None

    (elsewhere / "part-0").touch()

    assert (find_file(str(table)) or "").endswith("/p=1/part-0")


def test_tables_of_other_connectors_have_no_files(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE TABLE k (a INT) WITH ('connector' = 'print')")
    assert environment.get_catalog("shop").table_exists(ObjectPath("default", "k"))

    assert migrator(environment, "-- up\nALTER TABLE k MODIFY a STRING;\n").upgrade()


def test_lint_does_not_depend_on_files(tmp_path: Path) -> None:
    directory, path = tmp_path / "migrations", tmp_path / "t"
    directory.mkdir()
    path.mkdir()
    (path / "part-0").touch()
    options = f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{path}'"
    create = f"-- up\nCREATE TABLE t (a INT, b INT) WITH ({options});\n-- down\nDROP TABLE t;\n"
    (directory / "0001_create.sql").write_text(create)
    (directory / "0002_move.sql").write_text("-- up\nALTER TABLE t MODIFY b INT FIRST;\n")

    kinds = {finding.kind for finding in lint_migrations(directory)}

    assert {"columns-moved", "old-readers-affected", "migration-irreversible"} == kinds
