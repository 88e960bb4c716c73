"""Every code has a page, every page a code, and every example on a page meets its code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from schema_core.catalog.managers import NOUNS
from schema_core.catalog.object_store import ObjectKind
from schema_core.codes.pages import codes, page, summary
from schema_core.environment.dry_run import DryRunPlanner
from schema_core.environment.operations.dispatch import run
from schema_core.environment.session import Session
from schema_core.environment.settings import EnvironmentSettings
from schema_core.errors import Diagnostic, NotFoundError, SchemaCoreError
from schema_core.sql.parser import parse_statements
from tests.raised import nouns, told

BLOCK = re.compile(r"^```(sql|python|python spark)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGE = re.compile(
    r"# (?P<code>[a-z-]+)\n\n(?P<says>[^`#*].+?)\n\n(?:(?P<why>.+?)\n\n)?"
    r"```(?P<kind>sql|python|python spark)\n(?P<example>.+?)\n```\n\n"
    r"\*\*What to do\.\*\* (?P<mend>.+)\n",
    re.DOTALL,
)


@dataclass(frozen=True)
class Page:
    """A page taken apart."""

    code: str
    says: str
    kind: str
    example: str
    mend: str


def read(code: str) -> Page:
    found = PAGE.fullmatch(page(code))
    assert found, "a page has a title, a sentence, why, one example, what to do"
    return Page(*found.group("code", "says", "kind", "example", "mend"))


def told_by_sql(text: str) -> Iterable[Diagnostic]:
    """What the last statement of a script is told; those before it are right."""
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


def told_by_python(text: str, code: str) -> set[str]:
    """The codes that a program meets: of an error, or one of those in its last value."""
    names: dict[str, object] = {"__name__": "__example__"}
    *steps, last = ast.parse(text).body
    assert isinstance(last, ast.Expr), "the last line is the expression that tells it"
    try:
        exec(compile(ast.Module(steps, []), "<page>", "exec"), names)
    except SchemaCoreError as error:
        raise AssertionError("a line before the last one failed") from error
    try:
        told = eval(compile(ast.Expression(last.value), "<page>", "eval"), names)
    except SchemaCoreError as error:
        return {one.code for one in error.diagnostics}
    assert isinstance(told, Iterable), "the last expression raises or gives what is told"
    return {one.code for one in told if one.code == code}


def examples(*kinds: str) -> list[str]:
    return [code for code in codes() if read(code).kind in kinds]


@pytest.mark.parametrize("code", codes())
def test_a_page_says_what_why_and_what_to_do(code: str) -> None:
    found = read(code)

    assert code == found.code
    assert found.says.replace("\n", " ") == summary(code)
    assert found.says.endswith(".")
    assert max(map(len, page(code).splitlines())) <= 120


@pytest.mark.parametrize("code", examples("sql"))
def test_an_example_in_sql_meets_its_code(code: str) -> None:
    assert {code} == {one.code for one in told_by_sql(read(code).example)}


@pytest.mark.parametrize("code", examples("python"))
def test_an_example_in_python_meets_its_code(
    code: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))

    assert {code} == told_by_python(read(code).example, code)


@pytest.mark.parametrize("code", examples("python spark"))
def test_an_example_on_spark_meets_its_code(
    code: str, spark: object, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert spark is not None
    monkeypatch.chdir(str(tmp_path))

    assert {code} == told_by_python(read(code).example, code)


def test_a_code_that_there_is_not() -> None:
    with pytest.raises(NotFoundError) as caught:
        page("duplicate-colunm")

    assert ("unknown-code", "did you mean 'duplicate-column'?") == (
        caught.value.code,
        caught.value.hint,
    )


# --- every code has a page, every page a code ----------------------------------------------------

#: Codes without a page, and why nobody meets them.
UNTOLD = {
    "follows-from-another": "the resolver drops it: it marks what only follows from a mistake",
    "temporary-table-exists": "the matrix of kinds decides before the shelf is asked",
    "temporary-materialized-table-not-found": "there are no temporary materialized tables",
}


def composed() -> set[str]:
    """The codes that are put together: of what can be found, and of what must be chosen."""
    kinds = {noun.replace(" ", "-") for noun in NOUNS.values()}
    things = nouns() | {kind.value for kind in ObjectKind} | kinds
    missing = things | {f"temporary-{kind}" for kind in kinds}
    current = {f"current-{what}-not-set" for what in ("catalog", "database")}
    return (
        {f"{thing}-exists" for thing in things}
        | {f"{thing}-not-found" for thing in missing}
        | current
    )


def test_every_code_of_the_package_can_be_read_from_its_source() -> None:
    found = told()

    assert [] == found.unread
    assert {"*-exists", "*-not-found", "current-*-not-set"} == found.patterns


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    every = told().codes | composed()

    assert every - set(UNTOLD) == set(codes())
    assert set(UNTOLD) <= every
