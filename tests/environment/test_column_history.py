"""The history of columns: kept with the table by every way to change them, and never shown."""

from __future__ import annotations

from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema_core import EnvironmentSettings, Schema, TableEnvironment
from schema_core.catalog import CatalogTable, InMemoryCatalog, ObjectPath
from schema_core.catalog.changes.column_history import (
    KEY,
    ColumnHistory,
    file_paths,
    replaced_names,
)
from schema_core.catalog.managed import KEY as DIRECTORY
from schema_core.catalogs import SqlCatalog
from schema_core.connectors.files.file_ages import FileAges
from schema_core.errors import SchemaCoreError
from schema_core.migration import (
    MigrationPlan,
    apply_plan,
    apply_to_catalog,
    diff,
    diff_catalogs,
    plan,
    plan_table,
)

PATH = ObjectPath("default", "t")
FILES = "WITH ('connector' = 'filesystem', 'path' = '/nowhere/t', 'format' = '{}')"
AS_B = Schema.new_builder().column("id", "INT").column("b", "STRING").build()


@pytest.fixture
def env(tmp_path: Path) -> TableEnvironment:
    """An environment with a managed table and tables of files."""
    result = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    catalog = SqlCatalog("c", f"sqlite:///{tmp_path}/c.db", warehouse=f"{tmp_path}/w")
    result.register_catalog("c", catalog)
    result.use_catalog("c")
    result.execute_sql("CREATE TABLE t (id INT, a STRING)")
    return result


def run(env: TableEnvironment, *statements: str) -> None:
    for statement in statements:
        env.execute_sql(statement)


def stored(env: TableEnvironment) -> CatalogTable:
    result = env.get_catalog("c").get_table(PATH)
    assert isinstance(result, CatalogTable)
    return result


def changes(env: TableEnvironment, name: str = "t") -> list[list[Any]]:
    """Return the changes in the history of a table."""
    options = env.get_catalog("c").get_table(ObjectPath("default", name)).options
    return [change.to_json() for change in ColumnHistory.of(options).changes]


A_TO_B = ["rename", ["a"], ["b"]]


def code_of(env: TableEnvironment, statement: str) -> str | None:
    try:
        env.execute_sql(statement)
    except SchemaCoreError as error:
        return error.code
    return None


def test_statements_keep_the_history(env: TableEnvironment, tmp_path: Path) -> None:
    run(env, "ALTER TABLE t RENAME a TO b", "ALTER TABLE t RENAME b TO c")
    run(env, "ALTER TABLE t RENAME TO u", "ALTER TABLE u RENAME TO t")

    assert [A_TO_B, ["rename", ["b"], ["c"]]] == changes(env)
    assert "schema-core" not in str(env.from_path("t").get_resolved_schema())
    (shown,) = [row[0] for row in env.execute_sql("SHOW CREATE TABLE t").collect()]
    assert "schema-core" not in shown
    run(env, "CREATE TABLE u LIKE t")
    assert KEY not in env.get_catalog("c").get_table(ObjectPath("default", "u")).options
    again = SqlCatalog("again", f"sqlite:///{tmp_path}/c.db").get_table(PATH)
    assert stored(env).options == again.options


def test_changes_keep_the_history(env: TableEnvironment) -> None:
    old = stored(env).schema

    env.alter_table("t", diff(old, AS_B, renames={"a": "b"}))

    assert [A_TO_B] == changes(env)


def test_a_plan_keeps_the_history_and_the_directory(env: TableEnvironment) -> None:
    folder = stored(env).options[DIRECTORY]
    old = CatalogTable(stored(env).schema)
    made = plan(old, AS_B, path="t", renames={"a": "b"})

    apply_plan(env, MigrationPlan.from_json(made.to_json()))

    assert [A_TO_B] == changes(env)
    assert folder == stored(env).options[DIRECTORY]


def test_changes_of_a_catalog_keep_the_history_and_the_directory(env: TableEnvironment) -> None:
    folder = stored(env).options[DIRECTORY]
    wanted = InMemoryCatalog("wanted", "default")
    wanted.create_table(PATH, CatalogTable(AS_B), ignore_if_exists=False)
    live = env.get_catalog("c")

    apply_to_catalog(diff_catalogs(live, wanted, column_renames={PATH: {"a": "b"}}), live)

    assert [A_TO_B] == changes(env)
    assert folder == stored(env).options[DIRECTORY]
    assert () == diff_catalogs(live, wanted)


RESERVED = "reserved-option"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (f"ALTER TABLE t SET ('{KEY}' = '')", RESERVED),
        (f"ALTER TABLE t RESET ('{KEY}')", RESERVED),
        (f"ALTER TABLE t SET ('{DIRECTORY}' = '')", RESERVED),
        (f"CREATE TABLE u (a INT) WITH ('connector' = 'print', '{KEY}' = '')", RESERVED),
        ("ALTER TABLE t RENAME r.y.`element`.n TO v", "invalid-type"),
        ("ALTER TABLE t RENAME r.q TO p", "unknown-field"),
        ("ALTER TABLE t RENAME id.q TO p", "unknown-field"),
        ("ALTER TABLE t RENAME q.x TO p", "unknown-column"),
        ("ALTER TABLE t RENAME r.x TO s.p", "feature-not-supported"),
    ],
)  # fmt: skip
def test_statements_are_refused(env: TableEnvironment, statement: str, expected: str) -> None:
    run(env, f"ALTER TABLE t ADD {FIELDS}", "ALTER TABLE t RENAME r.y.`element`.k TO n")

    assert expected == code_of(env, statement)


FIELDS = "r ROW<x INT, y ARRAY<ROW<k INT, v INT>>>"
#: Changes of the table (id INT, a STRING) -> its history.
HISTORIES: list[tuple[str, list[list[Any]]]] = [
    ("ALTER TABLE t ADD c INT", [["add", ["c"]]]),
    ("ALTER TABLE t ADD c INT FIRST", [["add", ["c"]]]),
    ("ALTER TABLE t DROP id", [["drop", ["id"], 0]]),
    ("ALTER TABLE t MODIFY a STRING FIRST", [["move", [], ["id", "a"]]]),
    ("ALTER TABLE t ADD c AS id + 1", []),
    ("ALTER TABLE t MODIFY a INT", []),
    ("ALTER TABLE t SET ('k' = 'v')", []),
    (f"ALTER TABLE t ADD {FIELDS}", [["add", ["r"]]]),
    (
        f"ALTER TABLE t ADD {FIELDS}; ALTER TABLE t MODIFY r ROW<w INT, y ARRAY<ROW<v INT>>>",
        [
            ["add", ["r"]], ["drop", ["r", "x"], 0], ["drop", ["r", "y", "element", "k"], 0],
            ["add", ["r", "w"]],
        ],
    ),
    (
        f"ALTER TABLE t ADD {FIELDS}; ALTER TABLE t RENAME r.x TO z; ALTER TABLE t RENAME r TO s",
        [["add", ["r"]], ["rename", ["r", "x"], ["r", "z"]], ["rename", ["r"], ["s"]]],
    ),
    (
        "ALTER TABLE t DROP a; ALTER TABLE t ADD a STRING; ALTER TABLE t RENAME id TO b",
        [["drop", ["a"], 1], ["add", ["a"]], ["rename", ["id"], ["b"]]],
    ),
    (
        "ALTER TABLE t ADD (c INT FIRST, d INT AFTER c); ALTER TABLE t DROP (id, d)",
        [["add", ["c"]], ["add", ["d"]], ["drop", ["d"], 1], ["drop", ["id"], 1]],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("statements", "expected"), HISTORIES)
@pytest.mark.parametrize("form", [None, "parquet", "json", "avro", "csv"])
def test_changes_of_columns_and_fields_are_in_the_history(
    env: TableEnvironment, form: str | None, statements: str, expected: list[list[Any]]
) -> None:
    if form is not None:
        run(env, "DROP TABLE t", f"CREATE TABLE t (id INT, a STRING) {FILES.format(form)}")

    run(env, *statements.split("; "))

    assert expected == changes(env)


@pytest.mark.parametrize(
    "options",
    [
        "'connector' = 'filesystem', 'path' = '/nowhere/t', 'format' = 'raw'",
        "'connector' = 'print'",
    ],
)
def test_tables_without_columns_in_files_have_no_history(
    env: TableEnvironment, options: str
) -> None:
    run(env, "DROP TABLE t", f"CREATE TABLE t (a STRING) WITH ({options})")

    run(env, "ALTER TABLE t RENAME a TO b")

    assert [] == changes(env)


def test_changes_keep_the_history_of_fields(env: TableEnvironment) -> None:
    run(env, f"ALTER TABLE t ADD {FIELDS}", "ALTER TABLE t RENAME r.x TO r.z")
    old, before = stored(env).schema, changes(env)
    renames: dict[tuple[str, ...], str] = {("r",): "s", ("r", "z"): "w"}
    wanted = Schema.new_builder().column("id", "INT").column("a", "STRING")
    wanted = wanted.column("s", "ROW<w INT, y ARRAY<ROW<n INT, v INT>>>")

    env.alter_table("t", diff(old, wanted.build(), renames=renames))

    assert before == changes(env)[: len(before)]
    paths = file_paths(stored(env))
    names = ColumnHistory.of(stored(env).options).names_of(paths)
    assert ("x", "z", "w") == names["s", "w"]
    assert ("r", "s") == names["s",]
    assert ("n",) == names["s", "y", "element", "n"]


def test_columns_of_partitions_are_not_in_the_history(env: TableEnvironment) -> None:
    definition = f"(id INT, p INT) PARTITIONED BY (p) {FILES.format('parquet')}"
    run(env, "DROP TABLE t", f"CREATE TABLE t {definition}")

    run(env, "ALTER TABLE t ADD c INT FIRST", "ALTER TABLE t MODIFY p INT FIRST")

    assert [["add", ["c"]]] == changes(env)


# --- CREATE TABLE LIKE ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", [A_TO_B]),
        ("WITH ('path' = 'file:///nowhere/t/')", [A_TO_B]),
        ("WITH ('path' = '/nowhere/u')", []),
        ("WITH ('format' = 'orc')", []),
        ("WITH ('connector' = 'print')", []),
    ],
)
def test_a_table_with_the_same_files_has_the_history(
    env: TableEnvironment, options: str, expected: list[list[Any]]
) -> None:
    run(env, "DROP TABLE t", f"CREATE TABLE t (id INT, a STRING) {FILES.format('parquet')}")
    run(env, "ALTER TABLE t RENAME a TO b", f"CREATE TABLE u (c INT) {options} LIKE t")
    run(env, f"CREATE TEMPORARY TABLE w {options} LIKE t", "CREATE TABLE v LIKE w")

    assert [*expected, ["add", ["c"]]] == changes(env, "u") or [] == expected == changes(env, "u")
    assert expected == changes(env, "v")
    (shown,) = [row[0] for row in env.execute_sql("SHOW CREATE TABLE w").collect()]
    assert "schema-core" not in shown


def test_a_table_at_the_directory_of_a_managed_one_has_its_history(
    env: TableEnvironment, tmp_path: Path
) -> None:
    folder = f"{tmp_path}/w/{stored(env).options[DIRECTORY]}"
    run(
        env,
        "ALTER TABLE t RENAME a TO b",
        f"CREATE TABLE u WITH ('connector' = 'filesystem', 'path' = '{folder}',"
        " 'format' = 'parquet') LIKE t",
        "CREATE TABLE v LIKE t",
    )

    assert [A_TO_B] == changes(env, "u")
    assert [] == changes(env, "v")


def test_a_column_beside_those_of_the_source_is_new(env: TableEnvironment) -> None:
    run(env, "DROP TABLE t", f"CREATE TABLE t (id INT, a STRING) {FILES.format('parquet')}")
    run(env, "ALTER TABLE t RENAME a TO b", "CREATE TABLE u (a INT) LIKE t")

    assert [A_TO_B, ["add", ["a"]]] == changes(env, "u")


def test_a_temporary_table_does_not_take_a_history_from_its_options(
    env: TableEnvironment,
) -> None:
    statement = f"CREATE TEMPORARY TABLE u (a INT) WITH ('connector' = 'print', '{KEY}' = '')"

    assert RESERVED == code_of(env, statement)


# --- plans ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [None, "parquet", "json"])
def test_a_plan_gives_the_former_name_of_a_column_to_another(
    env: TableEnvironment, form: str | None
) -> None:
    if form is not None:
        run(env, "DROP TABLE t", f"CREATE TABLE t (id INT, a STRING) {FILES.format(form)}")
    run(env, "ALTER TABLE t RENAME a TO b")
    wanted = Schema.new_builder().column("id", "INT").column("b", "STRING").column("a", "INT")

    result = plan_table(env, "t", wanted.build())

    assert result.rewrite is None
    assert KEY not in result.old
    assert DIRECTORY not in result.old
    apply_plan(env, MigrationPlan.from_json(result.to_json()))
    assert [A_TO_B, ["add", ["a"]]] == changes(env)


def test_a_plan_for_files_renames_fields_in_place(env: TableEnvironment) -> None:
    run(env, f"ALTER TABLE t ADD {FIELDS}")
    wanted = Schema.new_builder().column("id", "INT").column("a", "STRING")
    wanted = wanted.column("r", "ROW<w BIGINT, y ARRAY<ROW<n INT, v INT>>, z INT>")
    renames: dict[tuple[str, ...], str] = {("r", "x"): "w", ("r", "y", "element", "k"): "n"}

    result = plan_table(env, "t", wanted.build(), renames=renames)

    assert result.rewrite is None
    assert {statement for statement in result.statements if "RENAME" in statement} == {
        "ALTER TABLE `t` RENAME `r`.`x` TO `r`.`w`",
        "ALTER TABLE `t` RENAME `r`.`y`.`element`.`k` TO `r`.`y`.`element`.`n`",
    }
    assert () == result.risks
    apply_plan(env, MigrationPlan.from_json(result.to_json()))
    renamed = [change for change in changes(env) if change[0] == "rename"]
    assert sorted(renamed) == [
        ["rename", ["r", "x"], ["r", "w"]],
        ["rename", ["r", "y", "element", "k"], ["r", "y", "element", "n"]],
    ]
    assert () == plan_table(env, "t", wanted.build()).statements


# --- the option ----------------------------------------------------------------------------------


ORIGIN = "0123456789ab"
DOCUMENT = '{{"version": {}, "origin": "{}", "changes": {}}}'


@pytest.mark.parametrize(
    "text",
    [
        "", "{}", "[]", "[" * 100_000, "1",
        DOCUMENT.format(2, ORIGIN, "[]"),
        DOCUMENT.format(1, "../../../etc", "[]"),
        DOCUMENT.format(1, ORIGIN, "1"),
        DOCUMENT.format(1, ORIGIN, '[["add", []]]'),
        DOCUMENT.format(1, ORIGIN, '[["add", [1]]]'),
        DOCUMENT.format(1, ORIGIN, '[["drop", ["a"], -1]]'),
        DOCUMENT.format(1, ORIGIN, '[["rename", ["a"], ["a"]]]'),
        DOCUMENT.format(1, ORIGIN, '[["grow", ["a"]]]'),
        DOCUMENT.format(1, ORIGIN, "[]")[:-1] + ', "more": 1}',
    ],
)  # fmt: skip
def test_another_value_is_refused(text: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        ColumnHistory.of({KEY: text})

    assert "invalid-option-value" == caught.value.code


PARTS = st.lists(st.sampled_from("abcdeé`"), unique=True, max_size=5)


@given(st.lists(PARTS, min_size=1, max_size=6))
def test_every_layout_is_what_the_table_was(layouts: list[list[str]]) -> None:
    """Columns that are replaced, added, dropped and moved in any way."""
    history = ColumnHistory()
    for before, after in pairwise(layouts):
        old, new = [(name,) for name in before], [(name,) for name in after]
        history = history.after(old, new, replaced_names(old, new))
    current = [(name,) for name in layouts[-1]]

    assert history == (ColumnHistory.of({KEY: str(history)}) if history else ColumnHistory())
    columns = [layout.columns for layout in history.layouts(current)]
    remaining = iter(columns)
    assert all(tuple(names) in remaining for names, _ in groupby(layouts)) or not history
    markers = history.markers(current)
    assert len({*markers}) == len(markers) == len(columns)


def test_a_marker_identifies_the_changes_before_a_file_was_written() -> None:
    first = ColumnHistory().after([("a",)], [("b",)], [(("a",), ("b",))])
    second = first.after([("b",)], [("b",), ("a",)], [(None, ("a",))])

    old, new = first.markers([("b",)]), second.markers([("b",), ("a",)])

    assert old == new[:2]
    assert ColumnHistory().markers([("a",)]) == old[:1]
    assert ("a",) in second.reused_paths([("b",), ("a",)])


def test_a_column_is_in_no_layout_before_it_was_added() -> None:
    history = ColumnHistory()
    for before, after in pairwise(["ab", "b", "bc", "b", "ba", "bac"]):
        old, new = [(name,) for name in before], [(name,) for name in after]
        history = history.after(old, new, replaced_names(old, new))
    current = [("b",), ("a",), ("c",)]

    listed = [layout.all_paths() for layout in history.layouts(current)]
    assert [{*map(tuple, names)} for names in ("ab", "b", "bc", "b", "ba", "bac")] == listed
    with pytest.raises(SchemaCoreError) as caught:
        FileAges(history, current).layout_with([("a",), ("b",)], "x.orc")

    assert "unreadable-file" == caught.value.code


def test_a_file_of_others_has_a_dropped_row_or_the_one_that_was_added_again() -> None:
    row = [("r",), ("r", "x")]
    history = ColumnHistory().after([("a",), *row], [("a",)], replaced_names(row, []))
    history = history.after([("a",)], [("a",), *row], replaced_names([], row))

    with pytest.raises(SchemaCoreError) as caught:
        FileAges(history, [("a",), *row]).layout_with([("a",), *row], "x.orc")

    assert "unreadable-file" == caught.value.code
    assert "`r`" in caught.value.problem
