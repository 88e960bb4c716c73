"""Variables of migration files and definitions: ``${NAME}``, and ``$${NAME}`` for that text.

A script with values knows where its characters are in the file, so that errors are located there
and do not show the values, which may be secret.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping

from schema_core.base.lazy import dataclass, regex
from schema_core.base.text import Span
from schema_core.errors import OnError, SchemaCoreError, SchemaError

#: A variable; after another dollar sign it is text.
_VARIABLE = regex(r"(\$?)\$\{(\w+)\}")
#: A string literal, or a variable elsewhere.
_PIECE = regex(r"(?P<literal>'(?:[^']|'')*')|\$?\$\{\w+\}")


@dataclass(frozen=True, slots=True)
class FilledScript:
    """A script in which variables are replaced by values: its text, and the source.

    `replaced` has the spans in both, in their order.

    >>> script = FilledScript.fill("'${day}' + x", {"day": "Monday"}, "it")
    >>> script.text, script.locate(Span(11, 12))
    ("'Monday' + x", Span(start=11, stop=12))
    """

    text: str
    source: str
    replaced: tuple[tuple[Span, Span], ...] = ()

    @staticmethod
    def fill(source: str, variables: Mapping[str, str], subject: str) -> FilledScript:
        """Replace ``${NAME}`` by the values of variables, and ``$${NAME}`` by ``${NAME}``.

        In a string literal, single quotes of the value are doubled.

        Args:
            source: The script.
            variables: The values by name.
            subject: What the script is, for errors.

        Raises:
            SchemaError: with code `migration-variable-missing`.
        """
        texts: list[str] = []
        replaced: list[tuple[Span, Span]] = []
        position = length = 0
        for span, value in _iterate_values(source, variables, subject):
            texts += [source[position : span.start], value]
            start = length + span.start - position
            length, position = start + len(value), span.stop
            replaced.append((Span(start, length), span))
        return FilledScript("".join([*texts, source[position:]]), source, tuple(replaced))

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

    def locating(self, file: str | None = None) -> OnError:
        """Locate errors about the text in the source, and in its file."""

        def locate(error: SchemaCoreError) -> bool:
            for other in (error, *error.others):
                if other.text is None or other.text == self.text:
                    other.text, other.file = self.source, other.file or file
                    other.span = None if other.span is None else self.locate(other.span)
            return False

        return OnError(locate)


def _iterate_values(
    source: str, variables: Mapping[str, str], subject: str
) -> Iterator[tuple[Span, str]]:
    """Yield the spans of variables and their values."""
    for piece in _PIECE.finditer(source):
        quote = "''" if piece["literal"] else "'"
        for match in _VARIABLE.finditer(source, piece.start(), piece.end()):
            span = Span(match.start(), match.end())
            if match[1]:
                yield span, match[0][1:]
            elif match[2] in variables:
                yield span, variables[match[2]].replace("'", quote)
            else:
                raise SchemaError(
                    f"{subject} requires a value for ${{{match[2]}}}",
                    code="migration-variable-missing",
                    hint=f"pass it: --define {match[2]}=VALUE; write $${{{match[2]}}} for the text",
                    span=span,
                    text=source,
                )


def fill_variables(name: str, text: str, variables: Mapping[str, str]) -> str:
    """Return the text of a migration with values, as `FilledScript.fill`."""
    return FilledScript.fill(text, variables, f"migration {name}").text


def escaped_variables(text: str, variables: Container[str] = ()) -> str:
    """Escape all but the named variables.

    >>> escaped_variables("'${day}' = '${secret}'", {"secret"})
    "'$${day}' = '${secret}'"
    """
    pattern = re.compile(r"\$\{(\w+)\}")
    return pattern.sub(lambda match: match[0] if match[1] in variables else f"${match[0]}", text)


def keep_variables(texts: Iterable[str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return values for all variables of scripts: those without one keep their text.

    >>> keep_variables(["'${day}' = '${secret}'"], {"day": "Monday"})
    {'day': 'Monday', 'secret': '${secret}'}
    """
    names = (match[2] for text in texts for match in _VARIABLE.finditer(text) if not match[1])
    return {**{name: f"${{{name}}}" for name in names}, **variables}
