from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

from schema_core.base.paths import ObjectPath
from schema_core.base.text import Span
from schema_core.catalog.objects import CatalogDatabase
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import (
    BY_CODE,
    Gathering,
    NotFoundError,
    ParseError,
    SchemaCoreError,
    SchemaError,
    at,
    similar,
    within,
)
from schema_core.expressions.user_functions import udf
from schema_core.pyflink.util import exceptions
from schema_core.types import DataTypes, Row


def caught(problem: str) -> SchemaCoreError:
    """Return an error with a path of two steps."""
    with pytest.raises(SchemaError) as info, within("a + b"), at("column 'x'"), at("+", Span(2, 3)):
        raise SchemaError(problem, code="mismatch", hint="add a CAST")
    return info.value


def test_callers_prepend_to_the_path() -> None:
    error = caught("no")

    assert ("column 'x'", "+") == error.path
    assert Span(2, 3) == error.span
    assert "a + b" == error.text
    assert "no" == error.problem


def test_an_error_prints_its_path_and_hint() -> None:
    assert str(caught("no")).split("\n") == [
        "no",
        "  in column 'x', +",
        "    a + b",
        "      ^",
        "  hint: add a CAST",
    ]


def test_the_innermost_span_is_kept() -> None:
    with pytest.raises(SchemaError) as info, within("outer"), at("o", Span(0, 1)):
        raise SchemaError("no", span=Span(2, 3), text="inner")

    assert (Span(2, 3), "inner") == (info.value.span, info.value.text)


def test_other_errors_are_unchanged() -> None:
    with pytest.raises(KeyError), within("text"), at("place"):
        raise KeyError("name")


def test_a_diagnostic_has_a_line_and_column() -> None:
    error = ParseError("no", span=Span(5, 6), text="one\ntwo")

    (result,) = error.diagnostics
    assert (2, 2, "syntax") == (result.line, result.column, result.code)


def test_a_diagnostic_without_source_text_has_no_line() -> None:
    (result,) = SchemaError("no", span=Span(5, 6)).diagnostics

    assert (0, 0) == (result.line, result.column)


def test_every_kind_has_its_own_code() -> None:
    kinds: list[type[SchemaCoreError]] = [SchemaCoreError]
    kinds += SchemaCoreError.__subclasses__()
    kinds += SchemaError.__subclasses__()
    # classes of tests, and private ones, have the codes of their bases
    kinds = [kind for kind in kinds if kind.__module__ == SchemaCoreError.__module__]
    codes = [kind("no").code for kind in kinds]

    assert [kind.default_code for kind in kinds] == codes
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("code", BY_CODE)
def test_an_error_has_the_class_of_its_code(code: str) -> None:
    kind = BY_CODE[code]
    for raised in kind.__mro__:
        if issubclass(raised, SchemaCoreError) and raised is not kind:
            error = raised("gone", code=code)
            assert type(error) is kind
            assert error.code == code
            assert type(pickle.loads(pickle.dumps(error))) is kind
    assert BY_CODE[kind("gone").code] is kind
    assert type(ParseError("gone", code=code)) is ParseError, "not a class of this code"


def test_a_program_for_pyflink_catches_errors_by_their_classes() -> None:
    catalog = InMemoryCatalog("c")
    with pytest.raises(exceptions.TableNotExistException):
        catalog.get_table(ObjectPath("default", "t"))
    with pytest.raises(exceptions.DatabaseNotExistException):
        catalog.list_tables("d")
    with pytest.raises(exceptions.DatabaseAlreadyExistException):
        catalog.create_database("default", CatalogDatabase(), False)
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for use in (environment.use_catalog, environment.use_database):
        with pytest.raises(exceptions.CatalogException):
            use("nowhere")
    with pytest.raises(exceptions.TableException):
        environment.execute_sql("SELEC")


def test_wrong_arguments_are_refused_by_the_classes_of_python() -> None:
    """PyFlink raises one of the two, Java neither; a program catches the one that it expects."""
    refused: list[Callable[[], object]] = [
        lambda: Row("one", "two")(1, 2, 3),
        lambda: DataTypes.ROW().add("untyped"),
        lambda: udf(3, result_type="INT"),  # type: ignore[call-overload]
        lambda: udf(len, result_type="INT", func_type="arrow"),
    ]
    for refuse in refused:
        for kind in (TypeError, ValueError, SchemaError):
            with pytest.raises(kind):
                refuse()
    assert not issubclass(ParseError, ValueError)


def test_errors_can_be_pickled() -> None:
    error = caught("no")
    error.others = (NotFoundError("gone"),)
    copy = pickle.loads(pickle.dumps(error))

    assert type(error) is type(copy)
    assert str(error) == str(copy)
    assert error.diagnostics == copy.diagnostics


def test_errors_are_gathered() -> None:
    result = Gathering()
    with at("schema"):
        for name in "abc":
            with result.catching(), at(name):
                if name != "b":
                    raise SchemaError(f"bad {name}")
    with pytest.raises(SchemaError) as info, at("table"):
        result.raise_all()

    problems = [(diagnostic.message, diagnostic.path) for diagnostic in info.value.diagnostics]
    assert [("bad a", ("table", "a")), ("bad c", ("table", "c"))] == problems
    assert "bad a\n  in table, a\nbad c\n  in table, c" == str(info.value)


def test_gathered_errors_are_flattened() -> None:
    inner, outer = Gathering(), Gathering()
    for name in "ab":
        with inner.catching():
            raise SchemaError(name)
    with outer.catching():
        inner.raise_all()

    assert ["a", "b"] == [error.problem for error in outer.errors]
    assert all(error.others == () for error in outer.errors)


def test_an_empty_gathering_raises_no_error() -> None:
    Gathering().raise_all()


def test_similar_names() -> None:
    assert "did you mean 'amount'?" == similar("amuont", ["id", "amount"])
    assert "there are 'id', 'amount'" == similar("zzz", ["id", "amount"])
    assert similar("zzz", []) is None
    assert similar("zzz", map(str, range(9))) is None


def test_notebooks_show_the_users_frames_and_codes() -> None:
    cell = compile(
        "from schema_core import DataTypes\nDataTypes.of('DECIMAL(1, 2)')", "cell", "exec"
    )
    with pytest.raises(SchemaCoreError) as caught:
        exec(cell, {})
    first, *frames, last, _, position = "\n".join(caught.value._render_traceback_()).splitlines()
    assert first == "Traceback (most recent call last):"
    assert [line for line in frames if line.startswith("  File ")][-1].startswith(
        '  File "cell", line 2'
    )
    assert not any("schema_core/types" in line for line in frames)
    assert last == "ParseError: [invalid-type] DECIMAL scale 2 exceeds precision 1"
    assert position.strip() == "^^^^^^^^^^^^^"


def test_notebooks_show_the_frames_of_a_cause() -> None:
    def fail() -> None:
        try:
            int("x")
        except ValueError as error:
            raise SchemaCoreError("the function failed", code="job-failed") from error

    with pytest.raises(SchemaCoreError) as caught:
        fail()
    *frames, last = caught.value._render_traceback_()
    assert "ValueError: invalid literal for int() with base 10: 'x'" in frames
    assert last.endswith("[job-failed] the function failed")
    assert "the function failed" not in "\n".join(line for line in frames if "raise" not in line)
