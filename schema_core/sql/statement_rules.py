"""Rules of one statement that its grammar leaves open, checked as soon as it is read.

They need nothing but the statement: no catalog, no types. Flink checks them right behind its
parser too.
"""

from __future__ import annotations

from collections.abc import Iterable

from schema_core.errors import ParseError
from schema_core.sql.definition_syntax import Constraint, Elements, Like
from schema_core.sql.statement_syntax import CreateModel, CreateTable
from schema_core.text import Span

#: Features of LIKE whose parts have names, so that one can stand in place of another.
OVERWRITABLE = frozenset({"GENERATED", "METADATA", "OPTIONS", "WATERMARKS"})


def _refuse(problem: str, code: str, span: Span, hint: str | None = None) -> ParseError:
    return ParseError(problem, code=code, span=span, hint=hint)


def check_constraints(constraints: Iterable[Constraint]) -> None:
    """Allow one primary key that is not enforced, and nothing else.

    Raises:
        ParseError: with code `multiple-primary-keys`, `unique-not-supported` or
            `enforced-primary-key`.
    """
    found = None
    for constraint in constraints:
        if constraint.kind == "UNIQUE":
            raise _refuse(
                "Flink keeps no UNIQUE constraints", "unique-not-supported", constraint.span,
                "a table has a primary key only",
            )  # fmt: skip
        if constraint.enforced is not False:
            raise _refuse(
                "a key that is enforced is not supported", "enforced-primary-key", constraint.span,
                "write NOT ENFORCED behind it: whoever writes the data keeps the key",
            )  # fmt: skip
        if found is not None:
            raise _refuse("a table has one primary key", "multiple-primary-keys", constraint.span)
        found = constraint


def check_like(like: Like) -> None:
    """Allow each feature once, and OVERWRITING only for what can be told apart by name.

    Raises:
        ParseError: with code `invalid-like-option`.
    """
    seen: set[str] = set()
    for option in like.options:
        if option.feature in seen:
            problem = f"{option.feature} is listed twice"
            raise _refuse(problem, "invalid-like-option", option.span)
        if option.strategy == "OVERWRITING" and option.feature not in OVERWRITABLE:
            problem = f"{option.feature} cannot be overwritten"
            hint = f"OVERWRITING is for {', '.join(sorted(OVERWRITABLE))}"
            raise _refuse(problem, "invalid-like-option", option.span, hint)
        seen.add(option.feature)


def check_table(table: CreateTable) -> None:
    """Refuse what the forms of CREATE TABLE exclude among themselves.

    Raises:
        ParseError: with the code of the rule.
    """
    check_constraints(table.elements.constraints)
    if table.like is not None:
        check_like(table.like)
    if table.query is None:
        _check_types(table.elements)
        return
    if table.temporary:
        problem = "CREATE TABLE ... AS SELECT makes no temporary table"
        raise _refuse(
            problem, "temporary-ctas-not-supported", table.path.span, "use a temporary view"
        )
    if table.or_replace and table.if_not_exists:
        problem = "OR REPLACE and IF NOT EXISTS exclude each other"
        raise _refuse(problem, "replace-if-not-exists", table.path.span)


def _check_types(elements: Elements) -> None:
    if elements.names:
        name = elements.names[0]
        raise _refuse(
            f"column {name.parts[0]!r} has no type", "column-without-type", name.span,
            "names alone are for CREATE TABLE ... AS SELECT",
        )  # fmt: skip


def check_model(model: CreateModel) -> None:
    """Require INPUT and OUTPUT together, or neither.

    Raises:
        ParseError: with code `incomplete-model-columns`.
    """
    if bool(model.input) != bool(model.output):
        problem = "a model has both INPUT and OUTPUT columns, or neither"
        raise _refuse(problem, "incomplete-model-columns", model.path.span)
