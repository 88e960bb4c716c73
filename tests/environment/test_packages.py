"""A package with one entry point of each group, discovered as if it were installed."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from schema_core.base.paths import UnresolvedPath
from schema_core.base.plugins import CONNECTORS, GROUPS, Entry, discover, list_entries, require
from schema_core.catalog.objects import CatalogTable, TableKind
from schema_core.catalog.stores.optimistic_locking import masking_conflicts
from schema_core.cli import GOOD
from schema_core.cli.app import application
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import secret_keys, using
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import (
    AlreadyExistsError,
    ConflictError,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
)
from schema_core.schema.unresolved import Schema
from schema_core.types import DataTypes

ENTRY_POINTS = """
[schema_core.catalogs]
toy = toy_store:CATALOG
[schema_core.connectors]
toy = toy_store:Store
broken = toy_store_of_yesterday:Store
[schema_core.formats]
toy = toy_store:FORMAT
[schema_core.planners]
toy = toy_store:Engine
[schema_core.functions]
toys = toy_store:FUNCTIONS
wrong = toy_store:FORMAT
[schema_core.job_status_hooks]
toy = toy_store:Audit
not a hook = toy_store:NO_HOOK
[schema_core.type_readers]
toy_store = toy_store:type_of
[schema_core.ddl]
toy = toy_store:Translator
"""


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TableEnvironment:
    """Return an environment with the toy planner, whose package metadata is on the path."""
    metadata = tmp_path / "toy_store-1.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-store\nVersion: 1.2\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "toy"))
    monkeypatch.delitem(sys.modules, "toy_store", raising=False)
    settings = EnvironmentSettings.new_instance().with_configuration({"table.planner": "toy"})
    return TableEnvironment.create(settings.in_batch_mode().build())


def test_all_groups_are_found(environment: TableEnvironment) -> None:
    result = {
        group: [
            (item.identifier, item.problem) for item in discover(group) if "toy" in item.package
        ]
        for group in GROUPS
    }

    missing = "the module 'toy_store_of_yesterday' is not installed"
    assert {
        "schema_core.catalogs": [("toy", None)],
        "schema_core.connectors": [("broken", missing), ("toy", None)],
        "schema_core.formats": [("toy", None)],
        "schema_core.planners": [("toy", None)],
        "schema_core.functions": [("toys", None), ("wrong", None)],
        "schema_core.job_status_hooks": [("not a hook", None), ("toy", None)],
        "schema_core.type_readers": [("toy_store", None)],
        "schema_core.ddl": [("toy", None)],
        "schema_core.model_providers": [],
    } == result


def test_types_and_ddl_of_a_package(environment: TableEnvironment) -> None:
    box = import_module("toy_store").Box()

    assert ["content"] == [field.name for field in DataTypes.of(box).fields]  # type: ignore[attr-defined]
    assert "(\n  `id` [INT]\n)" == str(Schema.from_ddl("id", "toy"))
    assert "(\n  `id` INT\n)" == str(Schema.from_ddl("CREATE TABLE t (id INT)", "spark"))


def test_an_identifier_of_the_library_is_ambiguous_in_another_package(tmp_path: Path) -> None:
    entries = [*list_entries(CONNECTORS), Entry("datagen", "toy_store:Store", "toy-store 1.2")]
    with pytest.raises(SchemaError) as caught:
        require(CONNECTORS, "datagen", entries)

    assert ("not-loadable", "uninstall toy-store 1.2") == (
        caught.value.code,
        caught.value.hint,
    )


def test_hooks_are_found_by_their_names(tmp_path: Path, environment: TableEnvironment) -> None:
    toy_store = import_module("toy_store")

    class Own(toy_store.Audit):  # type: ignore[misc, name-defined]
        pass

    settings = EnvironmentSettings.in_batch_mode()
    named = TableEnvironment.create(settings, planner=DryRunPlanner(), hooks=["toy", "own"])
    named.execute_sql("CREATE TABLE t (a INT)")
    with pytest.raises(NotFoundError) as caught:
        named.execute_sql("INSERT INTO t VALUES (1)")
    assert ("factory-not-found", "no job status hook 'own' is installed") == (
        caught.value.code, caught.value.problem
    )  # fmt: skip
    named.register_job_status_hook("own", Own)
    toy_store.EVENTS.clear()
    inserts = named.create_statement_set().add_insert_sql("INSERT INTO t VALUES (1)")
    inserts.add(named.sql_query("SELECT 1 AS a").insert_into("t").register_job_status_hook("own"))
    inserts.register_job_status_hook(toy_store.Audit()).execute().wait()

    created, finished = toy_store.EVENTS[:4], toy_store.EVENTS[4:]
    assert ["Audit", "Own", "Own", "Audit"] == [name for name, _, _ in created]
    assert [(*item[:2], "finished") for item in created] == finished
    assert 4 == len({hook for _, hook, _ in created}), "each job and name has a hook of its own"

    with pytest.raises(SchemaError, match="hook must be a JobStatusHook or the name of one"):
        inserts.register_job_status_hook(1)  # type: ignore[arg-type]
    inserts.add_insert_sql("INSERT INTO t VALUES (1)").register_job_status_hook("not a hook")
    with pytest.raises(SchemaError, match="the job status hook factory 'not a hook' must be"):
        inserts.execute()
    with pytest.raises(SchemaError, match="hooks must be a JobStatusHook or the name of one"):
        TableEnvironment.create(settings, hooks=[object()])  # type: ignore[list-item]


def test_names_of_hooks_are_unique() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.register_job_status_hook("audit", list)  # type: ignore[arg-type]
    with pytest.raises(AlreadyExistsError) as caught:
        environment.register_job_status_hook("audit", dict)  # type: ignore[arg-type]
    assert "already-exists" == caught.value.code
    for name, factory in (("", list), (" ", list), ("x", 1), (1, list)):
        with pytest.raises(SchemaError) as wrong:
            environment.register_job_status_hook(name, factory)  # type: ignore[arg-type]
        assert "invalid-argument" == wrong.value.code


def test_doctor_lists_discovered_packages(environment: TableEnvironment) -> None:
    result = CliRunner().invoke(application(), ["doctor", "--details"], env={"COLUMNS": "220"})

    assert GOOD == result.exit_code
    lines = {line.split("  ")[0]: line for line in result.output.splitlines()}
    assert "toy_store:CATALOG (toy-store 1.2)" in lines["catalog toy"]
    assert "not loaded" in lines["connector broken"]
    assert "the module 'toy_store_of_yesterday' is not installed" in lines["connector broken"]
    for line in ("connector toy", "format toy", "format csv", "planner toy", "module toys"):
        assert "ready" in lines[line]


def test_a_catalog_of_a_package(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE CATALOG box WITH ('type' = 'toy', 'home' = 'x')")
    environment.use_catalog("box")

    assert "toys" == environment.get_current_database()
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql("CREATE CATALOG other WITH ('type' = 'toy', 'hom' = 'x')")
    assert ("unknown-option", "did you mean 'home'?") == (
        caught.value.code,
        caught.value.hint,
    )


def test_a_planner_and_a_connector_of_a_package(environment: TableEnvironment) -> None:
    environment.execute_sql(
        "CREATE TABLE t (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('connector' = 'toy', 'shelf' = 'a', 'combination' = '1234')"
    )
    assert [(None, None)] * 2 == list(map(tuple, environment.from_path("t").execute().collect()))
    environment.from_path("t").execute_insert("t")

    toy_store = import_module("toy_store")
    (context,) = toy_store.SEEN
    assert environment.find_table("t").table == context.get_catalog_table()  # type: ignore[union-attr]
    assert (
        "default_catalog.default_database.t" == context.get_object_identifier().as_summary_string()
    )
    assert "ROW<`id` INT NOT NULL, `name` STRING> NOT NULL" == (
        context.get_physical_row_data_type().as_summary_string()
    )
    assert [0] == context.get_primary_key_indexes()
    assert "toy" == context.get_configuration()["table.planner"]
    assert not context.is_temporary()
    assert {} == context.get_enrichment_options()


@pytest.mark.parametrize(
    ("options", "code", "hint"),
    [
        ("'shelf' = 'a', 'numbre' = '1'", "unknown-option", "did you mean 'number'?"),
        ("'number' = '1'", "missing-option", None),
        ("'shelf' = 'a', 'number' = 'x'", "invalid-option-value", None),
        ("'shelf' = 'a', 'combination' = 'canary'", "invalid-option-value", None),
    ],
)
def test_options_of_a_connector_of_a_package(
    environment: TableEnvironment, options: str, code: str, hint: str | None
) -> None:
    environment.execute_sql(f"CREATE TABLE t (id INT) WITH ('connector' = 'toy', {options})")
    with pytest.raises(SchemaCoreError) as caught:
        environment.from_path("t").execute_insert("t")

    assert code == caught.value.code
    assert hint is None or hint == caught.value.hint
    assert "canary" not in str(caught.value)


def test_other_keys_of_an_option(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE TABLE t (id INT) WITH ('connector' = 'toy', 'board' = 'a')")
    environment.from_path("t").execute_insert("t")

    environment.execute_sql("CREATE TABLE u (id INT) WITH ('connector' = 'toy', 'rack' = 'a')")
    with pytest.warns(DeprecationWarning, match="'rack' is deprecated: use 'shelf'"):
        environment.from_path("u").execute_insert("u")


def test_secret_connector_options_are_masked(environment: TableEnvironment) -> None:
    environment.execute_sql(
        "CREATE TABLE t (id INT) WITH ('connector' = 'toy', 'combination' = '1234')"
    )
    ((shown,),) = environment.execute_sql("SHOW CREATE TABLE t").format_rows()

    assert "'combination' = '******'" in (shown or "")
    assert "'combination' = '1234'" in environment.get_create_statement("t")

    result = environment.find_table("t")
    assert result is not None
    with (
        pytest.raises(SchemaError) as caught,
        using(result.identifier, result.table.get_options(), "read"),
    ):
        raise SchemaError("1234 does not open it")
    assert "1234" not in str(caught.value)
    assert "the table's options are 'combination', 'connector'" == caught.value.hint


@pytest.mark.parametrize("change", ["SET ('number' = '7', 'combination' = '5678')", "DROP x"])
def test_secret_connector_options_are_masked_in_conflicts(
    environment: TableEnvironment, change: str
) -> None:
    environment.execute_sql(
        "CREATE TABLE t (id INT, x INT) WITH "
        "('connector' = 'toy', 'combination' = '1234', 'number' = '6')"
    )
    tables = environment._session.tables
    identifier = environment._session.registry.qualify(UnresolvedPath(("t",)))
    read = tables.find_alterable(TableKind.TABLE, identifier, False)
    assert isinstance(read, CatalogTable)
    environment.execute_sql(f"ALTER TABLE t {change}")
    with pytest.raises(ConflictError) as caught:
        tables.alter(identifier, read.copy({}), expected=read)

    hint = caught.value.hint or ""
    assert not any(secret in hint for secret in ("1234", "5678"))
    assert ("'number': '6'" in hint and "'number': '7'" in hint) is ("SET" in change)


def test_secret_connector_options_are_masked_after_drop_table(
    environment: TableEnvironment,
) -> None:
    environment.execute_sql(
        "CREATE TABLE t (id INT) WITH ('connector' = 'toy', 'combination' = '1234')"
    )
    error = ConflictError("t was dropped by someone else")
    result = environment.find_table("t")
    assert result is not None
    error.expected = result.table
    with pytest.raises(ConflictError) as caught, masking_conflicts(secret_keys):
        raise error

    assert "'combination': '******'" in (caught.value.hint or "")


def test_secret_connector_options_are_masked_in_hints(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE TABLE t (id INT) WITH ('connector' = 'toy')")
    environment.execute_sql(
        "CREATE VIEW v AS SELECT * FROM t /*+ OPTIONS('combination' = '1234', 'number' = '5') */"
    )
    ((shown,),) = environment.execute_sql("SHOW CREATE VIEW v").format_rows()

    assert "'combination' = '******'" in (shown or "")
    assert "'number' = '5'" in (shown or "")


def test_secret_catalog_options_are_masked(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE CATALOG box WITH ('type' = 'toy', 'vault-number' = '1234')")
    for statement in ("SHOW CREATE CATALOG box", "DESCRIBE CATALOG EXTENDED box"):
        shown = str(list(environment.execute_sql(statement).format_rows()))

        assert "******" in shown, statement
        assert "1234" not in shown, statement


def test_secret_options_of_one_connector_are_not_masked_for_others(
    environment: TableEnvironment,
) -> None:
    for name, connector in (("t", "toy"), ("u", "filesystem")):
        environment.execute_sql(
            f"CREATE TABLE {name} (id INT) WITH ('connector' = '{connector}', 'combination' = '12')"
        )
    shown = [
        str(list(environment.execute_sql(f"SHOW CREATE TABLE {name}").format_rows()))
        for name in "tu"
    ]

    assert ["12" in character for character in shown] == [False, True]


def test_connector_that_fails_to_load(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE TABLE t (id INT) WITH ('connector' = 'broken')")
    with pytest.raises(NotFoundError) as caught:
        environment.from_path("t").execute_insert("t")

    assert "not-loadable" == caught.value.code


def test_functions_of_a_package(environment: TableEnvironment) -> None:
    with pytest.raises(SchemaCoreError):
        environment.sql_query("SELECT twice(1)")
    environment.execute_sql("LOAD MODULE toys")

    assert ["core", "toys"] == environment.list_modules()
    assert "INT" == str(
        environment.sql_query("SELECT Twice(1)").get_resolved_schema().columns[0].data_type
    )
    assert "twice" in environment.list_functions()
    environment.use_modules("toys")
    assert ["twice"] == environment.list_functions()
    environment.unload_module("toys")
    with pytest.raises(SchemaCoreError):
        environment.sql_query("SELECT twice(1)")

    for name, code in (("wrong", "invalid-argument"), ("nothing", "not-found")):
        with pytest.raises(SchemaCoreError) as caught:
            environment.load_module(name)
        assert code == caught.value.code


def test_functions_given_as_an_object(environment: TableEnvironment) -> None:
    toy_store = import_module("toy_store")
    environment.load_module("mine", toy_store.FUNCTIONS)

    assert "INT" == str(
        environment.sql_query("SELECT twice(1)").get_resolved_schema().columns[0].data_type
    )
    with pytest.raises(SchemaCoreError) as caught:
        environment.load_module("mine", toy_store.FUNCTIONS)
    assert "already-exists" == caught.value.code
