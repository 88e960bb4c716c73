"""The steps of a migration's script: statements, and rewrites of tables by a directive.

A line ``-- rewrite: orders`` before ALTER TABLE statements of that table, or a CREATE TABLE with
its complete new definition, or both, makes these statements one rewrite of the rows. A line ``--
accept: value-changed`` after it accepts what the rewrite may change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from schema_core.base.lazy import dataclass, regex
from schema_core.base.paths import parse_path
from schema_core.base.text import COMMENT, Span
from schema_core.errors import OnError, SchemaCoreError, SchemaError
from schema_core.migration.files.acceptances import kinds_accepted_before
from schema_core.migration.rows.validation import accepted_kinds
from schema_core.sql import statement_syntax as syntax
from schema_core.sql.parser import parse_statements
from schema_core.sql.statement_syntax import ObjectKind, Statement

#: Statements that write rows.
WRITING: Final = (syntax.Insert, syntax.Update, syntax.Delete)
#: Statements that replace all files of their table.
REPLACING: Final = (syntax.Update, syntax.Delete)

_COMMENT = regex(COMMENT, re.VERBOSE)
_DIRECTIVE = regex(r"--[ \t]*(rewrite|accept)[ \t]*:(.*?)\s*", re.IGNORECASE | re.DOTALL)
#: The start of a line with a directive.
DIRECTIVE_LINE: Final = regex(
    r"^[ \t]*--[ \t]*(?:rewrite|accept)[ \t]*:", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A directive: the parts of the table's path, and the accepted kinds of problems."""

    path: tuple[str, ...]
    accept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """A statement, or the statements of a `rewrite`.

    `text` is the part of the script that has them with the directive, and `text_span` its position.
    `accepted` are the kinds of findings that comments accept.
    """

    statements: tuple[Statement, ...]
    text: str
    text_span: Span
    rewrite: Rewrite | None = None
    accepted: frozenset[str] = frozenset()

    @property
    def writes_rows(self) -> bool:
        """Whether the step is a data step: a job, which no transaction of a catalog includes."""
        return self.rewrite is not None or isinstance(self.statements[0], WRITING)

    @property
    def replaces_rows(self) -> bool:
        """Whether the step replaces the rows and files of its table."""
        return self.rewrite is not None or isinstance(self.statements[0], REPLACING)

    @property
    def span(self) -> Span:
        """Where the first statement is."""
        return self.statements[0].span

    def accepting(self, kinds: tuple[str, ...]) -> ScriptStep:
        """Return the step, whose rewrite also accepts some kinds of problems."""
        if self.rewrite is None or not kinds:
            return self
        accept = tuple(dict.fromkeys((*self.rewrite.accept, *kinds)))
        return replace(self, rewrite=replace(self.rewrite, accept=accept))


def parse_steps(text: str, accepted: frozenset[str] = frozenset()) -> tuple[ScriptStep, ...]:
    r"""Return the steps of a script.

    Args:
        text: The script.
        accepted: The kinds of findings that are accepted for all steps.

    Raises:
        ParseError: as `parse_statements`.
        SchemaError: with code `invalid-migration-file` for a directive that does not precede
            statements of its table, or is malformed; `invalid-argument` for a kind that cannot be
            accepted.

    >>> script = "-- rewrite: t\nALTER TABLE t MODIFY a STRING; INSERT INTO u SELECT a FROM t"
    >>> [(step.rewrite, step.writes_rows) for step in parse_steps(script)]
    [(Rewrite(path=('t',), accept=()), True), (None, True)]
    """
    statements = parse_statements(text, is_migration=True)
    steps: list[ScriptStep] = []
    end, place = 0, 0
    while place < len(statements):
        statement = statements[place]
        rewrite, start = _directive(text, end, statement.span.start)
        group = statements[place : place + 1]
        if rewrite is not None:
            group = tuple(_rewriting(text, statements[place:], rewrite))
        end, place = group[-1].span.stop, place + len(group)
        for each in group:
            _require_no_directive(text, each.span)
        kinds = accepted | kinds_accepted_before(text, statement.span.start)
        steps.append(ScriptStep(group, text[start:end], Span(start, end), rewrite, kinds))
    if directives := _directives(text, end, len(text)):
        raise _invalid("no statement follows the directive", directives[0][0])
    return tuple(steps)


def _directives(text: str, start: int, stop: int) -> list[tuple[Span, str, str]]:
    """Return the position, the name and the value of the directives between two statements."""
    matches = (
        (comment.span(), _DIRECTIVE.fullmatch(comment[0]))
        for comment in _COMMENT.finditer(text, start, stop)
    )
    return [(Span(*span), match[1].lower(), match[2].strip()) for span, match in matches if match]


def _directive(text: str, start: int, stop: int) -> tuple[Rewrite | None, int]:
    """Return the directive before a statement, and where it or the statement starts."""
    directives = _directives(text, start, stop)
    rewrites = [span for span, name, _ in directives if name == "rewrite"]
    if directives and not rewrites:
        raise _invalid(
            "'-- accept:' does not follow a line '-- rewrite: TABLE'",
            directives[0][0],
            "it accepts losses of a rewrite; for findings of other statements, write "
            "'-- lint: accept KIND: REASON'",
        )
    if not rewrites:
        return None, stop
    if len(rewrites) > 1 or directives[0][0] != rewrites[0]:
        raise _invalid(
            "a statement has one line '-- rewrite: TABLE', before its lines '-- accept:'",
            rewrites[-1],
        )
    span, _, path = directives[0]
    if not path:
        raise _invalid("'-- rewrite:' names no table", span)
    with _locating(span):
        parts = parse_path(path).parts
    kinds: list[str] = []
    for accept_span, _, value in directives[1:]:
        with _locating(accept_span):
            kinds += accepted_kinds(map(str.strip, value.partition("(")[0].split(",")))
    return Rewrite(tuple(parts), tuple(dict.fromkeys(kinds))), span.start


def _locating(span: Span) -> OnError:
    """Locate errors about the content of a directive."""

    def locate(error: SchemaCoreError) -> bool:
        error.text, error.span = None, span
        return False

    return OnError(locate)


def _rewriting(text: str, statements: Sequence[Statement], rewrite: Rewrite) -> Iterator[Statement]:
    """Yield the statements that a directive refers to."""
    first = statements[0]
    if _is_definition(first, rewrite):
        yield first
        return
    if not _alters(first, rewrite):
        raise _invalid(
            f"'-- rewrite: {'.'.join(rewrite.path)}' does not precede ALTER TABLE or CREATE TABLE "
            "of this table",
            first.span,
            "name the table as the statement does; RENAME TO and partitions need no rewrite",
        )
    yield first
    for previous, statement in pairwise(statements):
        between = _directives(text, previous.span.stop, statement.span.start)
        is_last = _is_definition(statement, rewrite)
        if between or not (is_last or _alters(statement, rewrite)):
            return
        yield statement
        if is_last:
            return


def _is_definition(statement: Statement, rewrite: Rewrite) -> bool:
    """Return whether a statement is a plain CREATE TABLE of the table."""
    if not isinstance(statement, syntax.CreateTable) or statement.path.parts != rewrite.path:
        return False
    return not (statement.query or statement.like or statement.temporary or statement.if_not_exists)


#: Changes of a table that are not changes of its definition.
_OTHER_CHANGES = (syntax.RenameTo, syntax.AddPartitions, syntax.DropPartitions)


def _alters(statement: Statement, rewrite: Rewrite) -> bool:
    return (
        isinstance(statement, syntax.Alter)
        and statement.kind is ObjectKind.TABLE
        and statement.path.parts == rewrite.path
        and not isinstance(statement.change, _OTHER_CHANGES)
    )


def _require_no_directive(text: str, span: Span) -> None:
    if (match := DIRECTIVE_LINE.search(text, span.start, span.stop)) is not None:
        raise _invalid(
            "a directive is within a statement, where it has no effect",
            Span(*match.span()),
            "write it before the statement",
        )


def _invalid(problem: str, span: Span, hint: str | None = None) -> SchemaError:
    return SchemaError(problem, code="invalid-migration-file", span=span, hint=hint)
