"""Variables of SQL scripts: ``${NAME}``, and ``$${NAME}`` for that text.

A script with values knows where its characters are in the file, so that errors are located there
and do not show the values, which may be secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from schema_core.base.lazy import dataclass, regex
from schema_core.base.secrets import quoted_forms
from schema_core.base.text import COMMENT, QUOTED_NAME, STRING, Span
from schema_core.errors import OnError, SchemaCoreError, SchemaError

#: A variable; after another dollar sign it is text.
_VARIABLE = regex(r"(\$?)\$\{(\w+)\}")
#: A string literal; a comment that is not a hint, or a name in backticks, in which a single quote
#: does not begin a literal; or a variable elsewhere.
_PIECE = regex(rf"(?P<literal> {STRING} ) | {COMMENT} | {QUOTED_NAME} | \$?\$\{{\w+\}}", re.VERBOSE)


@dataclass(frozen=True, slots=True)
class FilledScript:
    """A script in which variables are replaced by values: its text, and the source.

    `replaced` has the spans of variables in both, in their order. `missing` are the names of those
    that have no value and are kept. `hidden` has the values within string literals, such as
    options, which messages do not show, and their variables. `file` is the path of the script.

    >>> script = FilledScript.fill("'${day}' + x", {"day": "Monday"}, "it")
    >>> script.text, script.locate(Span(11, 12))
    ("'Monday' + x", Span(start=11, stop=12))
    """

    text: str
    source: str
    replaced: tuple[tuple[Span, Span], ...] = ()
    missing: Mapping[Span, str] = field(default_factory=dict)
    hidden: Mapping[str, str] = field(default_factory=dict, repr=False)
    file: str | None = None

    @staticmethod
    def fill(
        source: str, variables: Mapping[str, str], subject: str, *, keeps_missing: bool = False
    ) -> FilledScript:
        """Replace ``${NAME}`` by the values of variables, and ``$${NAME}`` by ``${NAME}``.

        In a string literal, single quotes of the value are doubled.

        Args:
            source: The script.
            variables: The values by name.
            subject: What the script is, for errors.
            keeps_missing: Whether a variable without a value is kept in a string literal.

        Raises:
            SchemaError: with code `variable-not-found`.
        """
        texts: list[str] = []
        replaced: list[tuple[Span, Span]] = []
        missing: dict[Span, str] = {}
        hidden: dict[str, str] = {}
        position = length = 0
        for match, quote in _iterate_variables(source):
            texts.append(source[position : match.start()])
            start = length + match.start() - position
            if match[1]:
                value = match[0][1:]
            elif match[2] in variables:
                value = variables[match[2]].replace("'", quote)
                if quote == "''" and variables[match[2]] != match[0]:
                    hidden.setdefault(variables[match[2]], match[0])
            elif keeps_missing and quote == "''":
                value = match[0]
                missing[Span(start, start + len(value))] = match[2]
            else:
                raise missing_error(subject, match[2], Span(*match.span()), source)
            texts.append(value)
            length, position = start + len(value), match.end()
            replaced.append((Span(start, length), Span(*match.span())))
        text = "".join([*texts, source[position:]])
        return FilledScript(text, source, tuple(replaced), missing, hidden)

    def locate(self, span: Span) -> Span:
        """Return the span in the source of a span in the text."""
        return Span(self._locate(span.start, 0), self._locate(span.stop, 1))

    def _locate(self, position: int, end: int) -> int:
        """Return a position in the source; within a value, the start or `end` of its variable."""
        moved = 0
        for filled, source in self.replaced:
            if position < filled.start or (position == filled.start and end):
                break
            if position < filled.stop:
                return source[end]
            moved = source.stop - filled.stop
        return position + moved

    def source_of(self, span: Span) -> str:
        """Return a part of the text as the source has it.

        >>> FilledScript.fill("a '${day}' b", {"day": "Monday"}, "it").source_of(Span(2, 10))
        "'${day}'"
        """
        source = self.locate(span)
        return self.source[source.start : source.stop]

    def hide_values(self, message: str) -> str:
        """Return a message with variables in place of their values that string literals have.

        >>> FilledScript.fill("'${p}'", {"p": "hunter2"}, "it").hide_values("invalid: hunter2")
        'invalid: ${p}'
        """
        return hide_values(message, self.hidden)

    def locating(self, file: str | None = None) -> OnError:
        """Locate errors of a block, as `locate_error`."""

        def locate(error: SchemaCoreError) -> bool:
            self.locate_error(error, file)
            return False

        return OnError(locate)

    def locate_error(self, error: SchemaCoreError, file: str | None = None) -> SchemaCoreError:
        """Locate an error about the text in the source and its file; hide values in messages."""
        for other in (error, *error.others):
            if other.text is None or other.text == self.text:
                other.text, other.file = self.source, other.file or file or self.file
                other.span = None if other.span is None else self.locate(other.span)
            elif other.text != self.source:  # such as the query of a view; the span stays valid
                other.text = hide_values(other.text, self.hidden, keeps_length=True)
            other.problem = self.hide_values(other.problem)
            other.hint = other.hint and self.hide_values(other.hint)
            other.path = tuple(map(self.hide_values, other.path))
            other.args = (other.problem,)
        return error


def hide_values(message: str, hidden: Mapping[str, str], *, keeps_length: bool = False) -> str:
    """Return a message with variables in place of values, also of quoted ones.

    Args:
        message: The message.
        hidden: The variable by its value.
        keeps_length: Write asterisks instead, so that positions stay valid.

    >>> hide_values("'it''s me'", {"it's me": "${p}"})
    "'${p}'"
    """
    forms = {form: name for value, name in hidden.items() for form in quoted_forms(value)}
    if not forms:
        return message
    pattern = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))

    def replacement(match: re.Match[str]) -> str:
        return "*" * len(match[0]) if keeps_length else forms[match[0]]

    return re.sub(pattern, replacement, message)


def _iterate_variables(source: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each variable, and how single quotes of its value are written there."""
    if "${" not in source:
        return
    for piece in _PIECE.finditer(source):
        quote = "''" if piece["literal"] else "'"
        for match in _VARIABLE.finditer(source, piece.start(), piece.end()):
            yield match, quote


def missing_error(subject: str, name: str, span: Span, source: str) -> SchemaError:
    """Return the error of a variable without a value."""
    return SchemaError(
        f"{subject} requires a value for ${{{name}}}",
        code="variable-not-found",
        hint=f"pass it: --define {name}=VALUE; write $${{{name}}} for the text",
        span=span,
        text=source,
    )


def list_variables(template: str) -> list[str]:
    """Return the names of the variables of a string.

    >>> list_variables("${data}/$${day}/${month}")
    ['data', 'month']
    """
    return [match[2] for match in _VARIABLE.finditer(template) if not match[1]]


def match_template(template: str, value: str, variables: Mapping[str, str]) -> bool:
    """Return whether a string with variables has a value; those without a value may have any.

    >>> (
    ...     match_template("${data}/t", "/mnt/t", {}),
    ...     match_template("${data}/t", "/mnt/t", {"data": ""}),
    ... )
    (True, False)
    """
    pattern, position = "", 0
    for match in _VARIABLE.finditer(template):
        pattern += re.escape(template[position : match.start()])
        if match[1]:
            pattern += re.escape(match[0][1:])
        elif match[2] in variables:
            pattern += re.escape(variables[match[2]])
        else:
            pattern += ".+"
        position = match.end()
    pattern += re.escape(template[position:])
    return re.fullmatch(pattern, value, re.DOTALL) is not None


def fill_variables(name: str, text: str, variables: Mapping[str, str]) -> str:
    """Return the text of a migration with values, as `FilledScript.fill`."""
    return FilledScript.fill(text, variables, f"migration {name}").text


def escape_variables(text: str) -> str:
    """Escape variables of a text, so that a migration has them as text.

    >>> escape_variables("'${day}'")
    "'$${day}'"
    """
    return re.sub(r"\$\{\w+\}", lambda match: f"${match[0]}", text)


def keep_variables(texts: Iterable[str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return values for all variables of scripts: those without one keep their text.

    >>> keep_variables(["'${day}' = '${secret}'"], {"day": "Monday"})
    {'day': 'Monday', 'secret': '${secret}'}
    """
    names = (name for text in texts for name in list_variables(text))
    return {**{name: f"${{{name}}}" for name in names}, **variables}
