"""Columns of ML_PREDICT and ML_EVALUATE, recorded from Flink with an idle model provider."""

from __future__ import annotations

import pytest

from schema_core.errors import SchemaCoreError
from schema_core.query.relation import Column, Model, result_columns
from schema_core.query.resolve import resolve_query
from schema_core.sql.parser import parse_query
from schema_core.sql.syntax import Name
from schema_core.types import DataTypes as T
from tests.query.tables import ExampleTables

MODELS = {
    "plain": ((Column("x", T.INT()),), (Column("y", T.DOUBLE(nullable=False)),)),
    "same": (
        (Column("x", T.INT()), Column("w", T.STRING())),
        (Column("loc", T.STRING()),),
    ),
    "short": ((Column("x", T.VARCHAR(5)),), (Column("q", T.STRING()),)),
    "twins": ((Column("x", T.INT()),), (Column("loc", T.STRING()), Column("loc0", T.INT()))),
}


def predicted(sql: str) -> list[str]:
    def model(name: Name) -> Model:
        return Model(*MODELS[name.parts[-1]])

    relation = resolve_query(parse_query(f"SELECT * FROM {sql}"), ExampleTables(), models=model)
    return [f"{name} {type_}" for name, type_ in result_columns(relation)]


DEPT = ["deptno INT NOT NULL", "dname VARCHAR(14) NOT NULL", "loc VARCHAR(2147483647)"]


@pytest.mark.parametrize(
    ("sql", "added"),
    [
        ("ML_PREDICT(TABLE dept, MODEL plain, DESCRIPTOR(deptno))", ["y DOUBLE NOT NULL"]),
        ("ML_PREDICT(ARGS => DESCRIPTOR(deptno), INPUT => TABLE dept, MODEL => MODEL a.b.plain)",
         ["y DOUBLE NOT NULL"]),
        ("ML_PREDICT(TABLE dept, MODEL plain, DESCRIPTOR(deptno), MAP['async', 'true'])",
         ["y DOUBLE NOT NULL"]),
        ("TABLE(ML_PREDICT(TABLE dept, MODEL plain, DESCRIPTOR(deptno), NULL))",
         ["y DOUBLE NOT NULL"]),
        ("ML_PREDICT(TABLE dept, MODEL same, DESCRIPTOR(deptno, loc))",
         ["loc0 VARCHAR(2147483647)"]),
        ("ML_PREDICT(TABLE dept, MODEL short, DESCRIPTOR(loc))", ["q VARCHAR(2147483647)"]),
    ],
)  # fmt: skip
def test_columns_of_the_model_follow_those_of_the_input(sql: str, added: list[str]) -> None:
    assert [*DEPT, *added] == predicted(sql)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("ML_PREDICT(TABLE dept, MODEL plain, DESCRIPTOR(loc))", "invalid-function-call"),
        (
            "ML_PREDICT(TABLE dept, MODEL plain, DESCRIPTOR(deptno, deptno))",
            "invalid-function-call",
        ),
        ("ML_PREDICT(TABLE dept, MODEL plain, DESCRIPTOR())", "invalid-function-call"),
        ("ML_PREDICT(TABLE dept, MODEL plain, DESCRIPTOR(deptno), MAP['async', 1])",
         "invalid-function-call"),
        ("ML_PREDICT(TABLE dept, MODEL twins, DESCRIPTOR(deptno))", "duplicate-column"),
        ("ML_PREDICT(TABLE dept PARTITION BY loc, MODEL plain, DESCRIPTOR(deptno))",
         "invalid-function-call"),
        ("ML_PREDICT(TABLE dept, plain, DESCRIPTOR(deptno))", "invalid-function-call"),
        ("ML_PREDICT(TABLE dept, MODEL plain)", "invalid-function-call"),
        ("ML_PREDICT(input => TABLE dept, model => MODEL plain, args => DESCRIPTOR(deptno))",
         "invalid-function-call"),
    ],
)  # fmt: skip
def test_invalid_arguments_of_a_model_are_refused(sql: str, code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        predicted(sql)

    assert code == caught.value.code


@pytest.mark.parametrize(
    "task", ["regression", "clustering", "classification", "embedding", "text_generation"]
)
def test_an_evaluation_has_the_measures_in_one_column(task: str) -> None:
    arguments = f"TABLE dept, MODEL plain, DESCRIPTOR(deptno), DESCRIPTOR(deptno), '{task}'"
    measures = ["result MAP<VARCHAR(2147483647) NOT NULL, DOUBLE NOT NULL> NOT NULL"]

    assert measures == predicted(f"ML_EVALUATE({arguments})")
    assert measures == predicted(f"ML_EVALUATE({arguments}, MAP['async', 'true'])")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("MODEL plain, DESCRIPTOR(deptno), DESCRIPTOR(deptno)", "invalid-function-call"),
        ("MODEL plain, DESCRIPTOR(deptno), DESCRIPTOR(deptno), 'REGRESSION'",
         "invalid-function-call"),
        ("MODEL plain, DESCRIPTOR(deptno), DESCRIPTOR(deptno), 1", "invalid-function-call"),
        ("MODEL plain, DESCRIPTOR(loc), DESCRIPTOR(deptno), 'regression'", "invalid-function-call"),
        ("MODEL plain, DESCRIPTOR(deptno, loc), DESCRIPTOR(deptno), 'regression'",
         "invalid-function-call"),
        ("MODEL plain, DESCRIPTOR(nosuch), DESCRIPTOR(deptno), 'regression'", "unknown-column"),
        ("MODEL plain, DESCRIPTOR(deptno), DESCRIPTOR(deptno, loc), 'regression'",
         "invalid-function-call"),
        ("MODEL twins, DESCRIPTOR(loc), DESCRIPTOR(deptno), 'regression'", "invalid-function-call"),
    ],
)  # fmt: skip
def test_invalid_arguments_of_an_evaluation_are_refused(arguments: str, code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        predicted(f"ML_EVALUATE(TABLE dept, {arguments})")

    assert code == caught.value.code
