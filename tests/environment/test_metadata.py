"""Metadata columns are checked against the metadata that a connector declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from schema_core.cli import WRONG
from schema_core.cli.app import application
from schema_core.environment import connector as module
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import Ability, Connector, open_connector
from schema_core.environment.options import ConfigOption
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.table_api.descriptor import TableDescriptor
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import NotFoundError, SchemaCoreError, SchemaError
from schema_core.schema.unresolved import Schema
from schema_core.types import DataType, parse_type


class Queue:
    """A connector with metadata of both kinds; an instance may set further abilities."""

    identifier = "queue"
    can_read = True
    can_write = True
    abilities: frozenset[Ability] = frozenset()
    metadata: Mapping[str, DataType] = {
        "time": parse_type("TIMESTAMP_LTZ(3) NOT NULL"),
        "headers": parse_type("MAP<STRING, BYTES>"),
        "offset": parse_type("BIGINT NOT NULL"),
    }
    writable_metadata = frozenset({"time", "headers"})

    def declared(self, options: Mapping[str, str]) -> Sequence[ConfigOption[Any]]:
        return ()


class Factory(Queue):
    """A connector whose metadata is declared by the source or sink that it creates."""

    metadata: Mapping[str, DataType] = {}
    writable_metadata = frozenset()

    def create_dynamic_table_source(self, context: object) -> Connector:
        return Queue()

    def create_dynamic_table_sink(self, context: object) -> Connector:
        return Queue()


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Connector]:
    connectors: dict[str, Connector] = {"queue": Queue(), "factory": Factory()}

    def find(options: Mapping[str, str]) -> Connector:
        if options["connector"] not in connectors:
            raise NotFoundError("not installed", code="factory-not-found")
        return connectors[options["connector"]]

    monkeypatch.setattr(module, "find_connector", find)
    return connectors


@pytest.fixture
def environment(installed: dict[str, Connector]) -> TableEnvironment:
    assert installed
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode(), planner=DryRunPlanner())


def create(column: str, connector: str = "queue", name: str = "t") -> str:
    return f"CREATE TABLE {name} (a INT, {column}) WITH ('connector' = '{connector}')"


REFUSED = "invalid-metadata-column"

#: Column -> the code when the table is defined, when it is read, and when it is written.
RULES = [
    ("m TIMESTAMP_LTZ(3) METADATA FROM 'time'", None, None, None),
    ("`time` TIMESTAMP_LTZ(3) NOT NULL METADATA", None, None, None),
    ("m STRING METADATA FROM 'time'", None, None, None),
    ("m INT METADATA FROM 'offset' VIRTUAL", None, None, None),
    ("m BOOLEAN METADATA FROM 'offset' VIRTUAL", None, None, None),
    ("m BIGINT METADATA FROM 'offset'", None, None, REFUSED),
    ("`offset` BIGINT METADATA", None, None, REFUSED),
    ("m BIGINT METADATA FROM 'ofset'", REFUSED, REFUSED, REFUSED),
    ("m BIGINT METADATA FROM 'ofset' VIRTUAL", REFUSED, REFUSED, None),
    ("`Time` TIMESTAMP_LTZ(3) METADATA", REFUSED, REFUSED, REFUSED),
    ("m DATE METADATA FROM 'offset' VIRTUAL", REFUSED, REFUSED, None),
    ("m ARRAY<INT> METADATA FROM 'offset' VIRTUAL", REFUSED, REFUSED, None),
    ("m INT METADATA FROM 'headers'", REFUSED, REFUSED, REFUSED),
    ("m MAP<STRING, STRING> METADATA FROM 'headers'", None, None, None),
]  # fmt: skip


@pytest.mark.parametrize(("column", "defined", "read", "written"), RULES)
def test_metadata_columns_are_validated(
    environment: TableEnvironment,
    installed: dict[str, Connector],
    column: str,
    defined: str | None,
    read: str | None,
    written: str | None,
) -> None:
    assert defined == code_of(lambda: environment.execute_sql(create(column)))

    queue = installed.pop("queue")
    environment.execute_sql(create(column, name="u"))
    installed["queue"] = queue
    bound = environment._session.bind(environment._session.registry.qualify(path_of("u")))
    assert read == code_of(lambda: open_connector(bound, "read", {}))
    assert written == code_of(lambda: open_connector(bound, "write", {}))


def path_of(name: str) -> Any:
    from schema_core.base.paths import parse_path

    return parse_path(name)


def code_of(action: Any) -> str | None:
    try:
        action()
    except SchemaError as error:
        return error.code
    return None


def test_every_error_is_reported_with_its_position(environment: TableEnvironment) -> None:
    text = create("m INT METADATA FROM 'x' VIRTUAL, n DATE METADATA FROM 'offset' VIRTUAL")
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(text)

    result = [(diagnostic.code, diagnostic.path, text[diagnostic.span.start : diagnostic.span.stop])  # type: ignore[union-attr]
             for diagnostic in caught.value.diagnostics]  # fmt: skip
    assert [
        ("invalid-metadata-column", ("column 'm'",), "m INT METADATA FROM 'x' VIRTUAL"),
        ("invalid-metadata-column", ("column 'n'",), "n DATE METADATA FROM 'offset' VIRTUAL"),
    ] == result


BAD = "m INT METADATA FROM 'x' VIRTUAL"


@pytest.mark.parametrize(
    "statement",
    [
        create(BAD).replace("TABLE", "TEMPORARY TABLE"),
        "ALTER TABLE good ADD m INT METADATA FROM 'x' VIRTUAL",
        "ALTER TABLE good MODIFY g DATE METADATA FROM 'offset' VIRTUAL",
        "CREATE TABLE t (m INT METADATA FROM 'x' VIRTUAL) LIKE good",
        create(BAD).replace("a INT, ", "") + " AS SELECT 1 AS a",
    ],
)
def test_every_definition_of_a_table_is_validated(
    environment: TableEnvironment, statement: str
) -> None:
    environment.execute_sql(create("g BIGINT METADATA FROM 'offset' VIRTUAL", name="good"))
    with pytest.raises(SchemaError) as caught:
        environment.execute_sql(statement)

    assert "invalid-metadata-column" == caught.value.code
    assert ["good"] == environment.list_tables()


def test_methods_validate_metadata_columns(environment: TableEnvironment) -> None:
    schema = Schema.new_builder().column_by_metadata("m", "INT", "x", is_virtual=True).build()
    descriptor = TableDescriptor.for_connector("queue").schema(schema).build()
    for define in (
        lambda: environment.create_table("t", descriptor),
        lambda: environment.create_temporary_table("t", descriptor),
        lambda: environment.from_descriptor(descriptor),
    ):
        assert "invalid-metadata-column" == code_of(define)


def test_an_unrelated_alter_keeps_invalid_metadata_columns(
    environment: TableEnvironment, installed: dict[str, Connector]
) -> None:
    queue = installed.pop("queue")
    environment.execute_sql(create(BAD))
    installed["queue"] = queue
    environment.execute_sql("ALTER TABLE t ADD b INT")
    environment.execute_sql("ALTER TABLE t SET ('k' = 'v')")

    with pytest.raises(SchemaError):
        environment.execute_sql("ALTER TABLE t ADD c INT METADATA FROM 'y' VIRTUAL")


def test_an_alter_of_the_connector_validates_all_columns(environment: TableEnvironment) -> None:
    environment.execute_sql(create(BAD, connector="absent"))
    with pytest.raises(SchemaError) as caught:
        environment.execute_sql("ALTER TABLE t SET ('connector' = 'queue')")

    assert "invalid-metadata-column" == caught.value.code


@pytest.mark.parametrize("connector", ["absent", "factory"])
def test_metadata_of_an_unknown_connector_is_accepted(
    environment: TableEnvironment, connector: str
) -> None:
    environment.execute_sql(create(BAD, connector=connector))
    environment.execute_sql("CREATE TABLE u (a INT, m INT METADATA VIRTUAL)")

    assert ["t", "u"] == environment.list_tables()


def test_definitions_are_not_validated_where_flink_is_followed(
    environment: TableEnvironment,
) -> None:
    environment.execute_sql("SET 'table.metadata-columns.check-on-create' = 'false'")
    environment.execute_sql(create(BAD))

    bound = environment._session.bind(environment._session.registry.qualify(path_of("t")))
    assert "invalid-metadata-column" == code_of(lambda: open_connector(bound, "read", {}))


def test_a_source_created_for_the_table_is_validated(environment: TableEnvironment) -> None:
    environment.execute_sql(create(BAD, connector="factory"))
    bound = environment._session.bind(environment._session.registry.qualify(path_of("t")))

    assert "invalid-metadata-column" == code_of(lambda: open_connector(bound, "read", {}))


def test_a_sink_only_connector_is_not_readable(
    environment: TableEnvironment, installed: dict[str, Connector]
) -> None:
    cast(Queue, installed["queue"]).can_read = False
    column = "m MAP<STRING, BYTES> METADATA FROM 'headers'"
    environment.execute_sql(create(column))
    environment.execute_sql("INSERT INTO t SELECT 1, CAST(NULL AS MAP<STRING, BYTES>)")


@pytest.mark.parametrize(
    "statement",
    [
        "{}",
        "EXPLAIN {}",
        "EXECUTE {}",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO good SELECT 1; {}; END",
    ],
)
def test_an_insert_is_validated_before_the_job(
    environment: TableEnvironment, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    environment.execute_sql(create("m BIGINT METADATA FROM 'offset'"))
    environment.execute_sql("CREATE TABLE good (a INT)")
    monkeypatch.setattr(DryRunPlanner, "insert", None)
    with pytest.raises(SchemaError) as caught:
        environment.execute_sql(statement.format("INSERT INTO t SELECT 1, CAST(1 AS BIGINT)"))

    assert ("invalid-metadata-column", "declare the column METADATA FROM 'offset' VIRTUAL") == (
        caught.value.code,
        caught.value.hint,
    )


@pytest.mark.parametrize(("command", "errors"), [("check", "3 errors"), ("resolve", "1 error")])
def test_invalid_metadata_columns_are_reported(tmp_path: Path, command: str, errors: str) -> None:
    """`resolve` does not check the metadata of connectors, as Flink does not in CREATE TABLE."""
    script = tmp_path / "script.sql"
    options = "WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'csv')"
    script.write_text(
        f"CREATE TABLE t (a INT, m INT METADATA FROM 'nope' VIRTUAL) {options};\n"
        f"CREATE TABLE u (a INT, p STRING METADATA FROM 'file.path') {options};\n"
        "INSERT INTO u SELECT 1, 'x';\n"
        "CREATE TABLE w (m INT METADATA FROM 'nope' VIRTUAL) WITH ('connector' = 'queue');\n",
        encoding="utf-8",
    )
    result = CliRunner().invoke(application(), [command, str(script)], env={"COLUMNS": "200"})

    assert WRONG == result.exit_code
    assert ("has no metadata 'nope'" in result.output) == (command == "check")
    assert "metadata 'file.path' of connector 'filesystem' cannot be written" in result.output
    assert errors in result.output


@pytest.mark.parametrize(
    ("form", "key", "hint"),
    [
        ("debezium-json", "value.source.database", None),
        ("canal-json", "value.database", None),
        ("debezium-json", "value.nope", "those of the format 'debezium-json', which has 'value."),
        ("json", "value.database", "those of the format 'json', which has no metadata"),
        ("xml", "value.database", "messages cannot have the format 'xml'; use one of debezium"),
    ],
)
def test_metadata_of_formats_belong_to_the_format(
    tmp_path: Path, form: str, key: str, hint: str | None
) -> None:
    """`resolve` does not check connectors, as its page states; `check` does."""
    path = tmp_path / "script.sql"
    path.write_text(
        f"CREATE TABLE t (a INT, d STRING METADATA FROM '{key}' VIRTUAL) WITH ("
        f"'connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 'h',"
        f" 'format' = '{form}')"
    )
    resolved = CliRunner().invoke(application(), ["resolve", str(path)])
    checked = CliRunner().invoke(application(), ["check", str(path)])

    assert (resolved.exit_code, checked.exit_code) == (0, 0 if hint is None else WRONG)
    assert ("invalid-metadata-column" in checked.output) == (hint is not None)
    assert hint is None or hint in checked.output
