"""Procedures of catalogs: CALL, SHOW PROCEDURES, and methods of catalogs."""

from __future__ import annotations

from typing import Any

import pytest

from schema_core import DataTypes, EnvironmentSettings, Row, TableEnvironment
from schema_core.catalog import Capability, InMemoryCatalog, ObjectPath, Procedure
from schema_core.environment.planner import Rows
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.errors import ExternalError, NotFoundError, SchemaCoreError, SchemaError
from schema_core.query.relation import Relation, Select, result_columns
from schema_core.sql.syntax import Literal

ROW = DataTypes.ROW(
    [DataTypes.FIELD("id", DataTypes.INT()), DataTypes.FIELD("name", DataTypes.STRING())]
)


def fail() -> list[int]:
    raise ValueError("of the function")


PROCEDURES = {
    "repeat": Procedure.of(lambda s, n: [s] * n, ["STRING", "INT"], "STRING", ["text", "times"]),
    "rows": Procedure.of(lambda: [Row(1, "a"), (2, None)], [], ROW),
    "fail": Procedure.of(fail, [], "INT"),
    "lie": Procedure.of(lambda: ["x"], [], "INT"),
}


class WithProcedures(InMemoryCatalog):
    capabilities = frozenset(Capability)

    def list_procedures(self, database_name: str) -> list[str]:
        return list(PROCEDURES)

    def get_procedure(self, procedure_path: ObjectPath) -> Procedure:
        if procedure_path.object_name not in PROCEDURES:
            raise NotFoundError("there is no such procedure", code="procedure-not-found")
        return PROCEDURES[procedure_path.object_name]


class Computing(DryRunPlanner):
    """Computes casts of literals."""

    def select(self, query: Relation) -> Rows:
        columns = tuple((column.name, column.type) for column in result_columns(query))
        assert isinstance(query, Select)
        values = [_value(item.expression) for item in query.items]
        return Rows(columns, iter([tuple(values)]), lambda: iter(()))


def _value(typed: Any) -> Any:
    while hasattr(typed, "arguments"):
        typed = typed.arguments[0]
    literal = typed.literal
    assert isinstance(literal, Literal)
    return int(literal.text) if literal.text.isdecimal() else literal.text


@pytest.fixture
def environment() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), planner=Computing())
    made.register_catalog("mine", WithProcedures("mine"))
    return made


def results(environment: TableEnvironment, statement: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in environment.execute_sql(statement).collect()]


def test_procedures_are_called(environment: TableEnvironment) -> None:
    assert [("x",), ("x",)] == results(environment, "CALL mine.`default`.repeat('x', 2)")
    named = "CALL mine.`default`.repeat(times => 1, text => 'y')"
    assert [("y",)] == results(environment, named)
    assert [(1, "a"), (2, None)] == results(environment, "CALL mine.`default`.`rows`()")
    result = environment.execute_sql("CALL mine.`default`.`rows`()").get_resolved_schema()
    assert ["id", "name"] == result.get_column_names()
    environment.use_catalog("mine")
    assert ["result"] == (
        environment.execute_sql("CALL repeat('x', 1)").get_resolved_schema().get_column_names()
    )


def test_procedures_are_listed(environment: TableEnvironment) -> None:
    environment.use_catalog("mine")

    listed = [("fail",), ("lie",), ("repeat",), ("rows",)]
    assert listed == results(environment, "SHOW PROCEDURES")
    assert [("repeat",), ("rows",)] == results(environment, "SHOW PROCEDURES LIKE 'r%'")
    assert PROCEDURES["rows"] is environment.get_catalog("mine").get_procedure(
        ObjectPath("default", "rows")
    )


def test_a_catalog_without_procedures_lists_none(environment: TableEnvironment) -> None:
    environment.use_catalog("default_catalog")

    assert [] == results(environment, "SHOW PROCEDURES")
    assert [] == results(environment, "SHOW PROCEDURES IN default_catalog.default_database")


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("CALL mine.`default`.missing()", "procedure-not-found"),
        ("CALL missing()", "procedure-not-found"),
        ("CALL mine.`default`.repeat('x')", "invalid-function-call"),
        ("CALL mine.`default`.repeat(text => 'x', number => 1)", "invalid-function-call"),
        ("CALL mine.`default`.repeat('x', times => 1)", "invalid-function-call"),
        ("CALL mine.`default`.repeat(text => 'x', text => 'y')", "invalid-function-call"),
        ("CALL mine.`default`.repeat('x', 'y')", "invalid-function-call"),
        ("CALL mine.`default`.repeat('x', nothing)", "unknown-column"),
        ("CALL mine.`default`.lie()", "invalid-data"),
        ("CALL mine.`default`.fail()", "external-failure"),
    ],
)
def test_wrong_calls_are_refused(environment: TableEnvironment, statement: str, code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(statement)
    assert code == caught.value.code


def test_the_error_of_a_procedure_is_its_cause() -> None:
    with pytest.raises(ExternalError, match="ValueError: 'of the function'") as caught:
        PROCEDURES["fail"].call()
    assert isinstance(caught.value.__cause__, ValueError)


def test_null_is_not_a_row_of_a_result() -> None:
    with pytest.raises(SchemaError) as caught:
        Procedure.of(lambda: [None], [], ROW).call()
    assert "invalid-data" == caught.value.code
    assert [None] == Procedure.of(lambda: [None], [], "INT").call()


def test_a_planner_without_rows_cannot_compute_arguments() -> None:
    made = TableEnvironment.create(planner=DryRunPlanner())
    made.register_catalog("mine", WithProcedures("mine"))

    with pytest.raises(SchemaCoreError) as caught:
        made.execute_sql("CALL mine.`default`.repeat('x', 2)")
    assert "unsupported-ability" == caught.value.code
    assert 2 == len(list(made.execute_sql("CALL mine.`default`.`rows`()").collect()))


def test_wrong_declarations_are_refused() -> None:
    wrong: list[Any] = [
        lambda: Procedure.of("f", [], "INT"),  # type: ignore[arg-type]
        lambda: Procedure.of(fail, [3], "INT"),  # type: ignore[list-item]
        lambda: Procedure.of(fail, "INT", "INT"),
        lambda: Procedure.of(fail, ["INT"], "INT", ["a", "b"]),
    ]

    for make in wrong:
        with pytest.raises(SchemaError):
            make()
