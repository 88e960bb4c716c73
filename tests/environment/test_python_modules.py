"""Functions of Python that statements name: only of modules that the program allows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from schema_core import EnvironmentSettings, SchemaError, TableEnvironment
from schema_core.pyflink.table.udf import udf

CODE = """
from schema_core.pyflink.table.udf import ScalarFunction, udf

@udf(result_type="STRING")
def shout(text):
    return text.upper()

class Twice(ScalarFunction):
    def eval(self, number: int) -> int:
        return number * 2

NUMBER = 5
"""


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TableEnvironment:
    (tmp_path / "functions_of_a_user.py").write_text(CODE, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "functions_of_a_user", raising=False)
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def create(environment: TableEnvironment, name: str, kind: str = "TEMPORARY ") -> None:
    environment.execute_sql(f"CREATE {kind}FUNCTION f AS '{name}' LANGUAGE PYTHON")


def test_functions_of_an_allowed_module_are_called(environment: TableEnvironment) -> None:
    environment.allow_python_modules("functions_of_a_user")
    create(environment, "functions_of_a_user.shout", "")
    assert "VARCHAR(2147483647)" == str(
        environment.sql_query("SELECT f('a')").get_resolved_schema().columns[0].data_type
    )
    create(environment, "functions_of_a_user.Twice")
    assert "BIGINT NOT NULL" == str(
        environment.sql_query("SELECT f(1)").get_resolved_schema().columns[0].data_type
    )


def test_a_module_is_not_imported_before_it_is_allowed(environment: TableEnvironment) -> None:
    with pytest.raises(SchemaError) as caught:
        create(environment, "functions_of_a_user.shout")
    assert "invalid-function" == caught.value.code
    assert "allow_python_modules('functions_of_a_user')" in (caught.value.hint or "")
    create(environment, "functions_of_a_user.shout", "")
    with pytest.raises(SchemaError, match="unknown function class"):
        environment.sql_query("SELECT f('a')")
    assert "functions_of_a_user" not in sys.modules


@udf(result_type="BIGINT")
def of_this_module(value: object) -> object:
    return value


def test_functions_that_the_program_declared_are_called_by_their_name(
    environment: TableEnvironment,
) -> None:
    create(environment, f"{__name__}.of_this_module")
    table = environment.sql_query("SELECT f(1) AS a")
    assert "BIGINT" == table.get_resolved_schema().columns[0].data_type.as_summary_string()
    with pytest.raises(SchemaError, match="unknown function class"):
        create(environment, f"{__name__}.create")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("functions_of_a_user.NUMBER", "is not a function"),
        ("functions_of_a_user.missing", "cannot be imported"),
        ("functions_of_a_user.shout.name", "unknown function class"),
        ("shout", "unknown function class"),
        ("os.getcwd", "unknown function class"),
    ],
)
def test_what_is_no_function_of_the_module_is_refused(
    environment: TableEnvironment, name: str, problem: str
) -> None:
    environment.allow_python_modules("functions_of_a_user")
    with pytest.raises(SchemaError, match=problem) as caught:
        create(environment, name)
    assert "invalid-function" == caught.value.code


def test_java_functions_are_never_imported(environment: TableEnvironment) -> None:
    environment.allow_python_modules("functions_of_a_user")
    text = "CREATE TEMPORARY FUNCTION f AS 'functions_of_a_user.shout' LANGUAGE JAVA"
    with pytest.raises(SchemaError, match="unknown function class"):
        environment.execute_sql(text)
