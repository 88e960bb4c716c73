"""Every code has a page, every page a code, and every example raises its code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from schema_core.catalog.stores.object_store import StoredKind
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.operations.dispatch import run
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.session import Session
from schema_core.errors import Diagnostic, NotFoundError, SchemaCoreError
from schema_core.errors.codes import codes, page, summary
from schema_core.sql.parser import parse_statements
from tests.raised import kinds, raised

BLOCK = re.compile(r"^```(sql|python|python spark)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGE = re.compile(
    r"# (?P<code>[a-z-]+)\n\n(?P<summary>[^`#*].+?)\n\n(?:(?P<reason>.+?)\n\n)?"
    r"```(?P<kind>sql|python|python spark)\n(?P<example>.+?)\n```\n\n"
    r"\*\*What to do\.\*\* (?P<mend>.+)\n",
    re.DOTALL,
)


@dataclass(frozen=True)
class Page:
    """The parts of a page."""

    code: str
    summary: str
    kind: str
    example: str
    mend: str


def read(code: str) -> Page:
    match = PAGE.fullmatch(page(code))
    assert match, "a page has a title, a summary, a reason, one example, what to do"
    return Page(*match.group("code", "summary", "kind", "example", "mend"))


def raised_by_sql(text: str) -> Iterable[Diagnostic]:
    """Return the diagnostics of the last statement of a script; the others must succeed."""
    session = Session(EnvironmentSettings.in_streaming_mode(), DryRunPlanner())
    try:
        statements = parse_statements(text)
        for statement in statements[:-1]:
            run(session, statement, text)
    except SchemaCoreError as error:
        return error.diagnostics
    try:
        run(session, statements[-1], text)
    except SchemaCoreError as error:
        return error.diagnostics
    return ()


def raised_by_python(text: str, code: str) -> set[str]:
    """Return the codes of the error that a program raises, or of the diagnostics it returns."""
    names: dict[str, object] = {"__name__": "__example__"}
    *steps, last = ast.parse(text).body
    assert isinstance(last, ast.Expr), "the last line is an expression"
    try:
        exec(compile(ast.Module(steps, []), "<page>", "exec"), names)
    except SchemaCoreError as error:
        raise AssertionError("a line before the last one failed") from error
    try:
        result = eval(compile(ast.Expression(last.value), "<page>", "eval"), names)
    except SchemaCoreError as error:
        return {diagnostic.code for diagnostic in error.diagnostics}
    assert isinstance(result, Iterable), "the last expression raises, or returns diagnostics"
    return {diagnostic.code for diagnostic in result if diagnostic.code == code}


def examples(*kinds: str) -> list[str]:
    return [code for code in codes() if read(code).kind in kinds]


@pytest.mark.parametrize("code", codes())
def test_page_has_all_parts(code: str) -> None:
    result = read(code)

    assert code == result.code
    assert result.summary.replace("\n", " ") == summary(code)
    assert result.summary.endswith(".")
    assert max(map(len, page(code).splitlines())) <= 120


@pytest.mark.parametrize("code", examples("sql"))
def test_an_example_in_sql_raises_its_code(code: str) -> None:
    assert {code} == {diagnostic.code for diagnostic in raised_by_sql(read(code).example)}


@pytest.mark.parametrize("code", examples("python"))
def test_an_example_in_python_raises_its_code(
    code: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))

    assert {code} == raised_by_python(read(code).example, code)


@pytest.mark.parametrize("code", examples("python spark"))
def test_an_example_on_spark_raises_its_code(
    code: str, spark: object, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert spark is not None
    monkeypatch.chdir(str(tmp_path))

    assert {code} == raised_by_python(read(code).example, code)


def test_unknown_code() -> None:
    with pytest.raises(NotFoundError) as caught:
        page("duplicate-colunm")

    assert ("not-found", "did you mean 'duplicate-column'?") == (
        caught.value.code,
        caught.value.hint,
    )


# --- every code has a page, every page a code ----------------------------------------------------

#: Codes without a page, which users never get, and why.
INTERNAL = {
    "follows-from-another": "the resolver drops consequential errors",
}


def composed() -> set[str]:
    """Return the codes that the package composes of a kind of object and a condition."""
    stored = set(StoredKind) - {StoredKind.STATISTICS}  # these exist with their table
    every = kinds() | {kind.value for kind in stored}
    return {f"{kind}-{condition}" for kind in every for condition in ("exists", "not-found")}


def test_every_code_can_be_evaluated_statically() -> None:
    result = raised()

    assert [] == result.unread
    assert {"*-exists", "*-not-found"} == result.patterns


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    every = raised().codes | composed()

    assert every - set(INTERNAL) == set(codes())
    assert set(INTERNAL) <= every
