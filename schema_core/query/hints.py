"""Hints of queries: their names, their arguments, and where they apply.

`OPTIONS` after the name of a table changes its options for one query. All other hints control how
Flink runs a join or an aggregation and cannot change a result; those that an engine does not use
are accepted without effect, except that a streaming job whose state does not expire refuses
`STATE_TTL`. A hint that Flink ignores, although it was meant to change what is read, is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import Enum

from schema_core.errors import SchemaError, similar
from schema_core.sql.syntax import Hint, Name

OPTIONS, STATE_TTL = "OPTIONS", "STATE_TTL"


class HintArguments(Enum):
    """The arguments of a hint."""

    PAIRS = "pairs of a key and a value: 'key' = 'value'"
    NAMES = "names of tables or views"
    ANYTHING = "anything, or nothing"


#: Name -> arguments: the hints that Flink registers. Names are compared ignoring case.
HINTS: dict[str, HintArguments] = {
    OPTIONS:                  HintArguments.PAIRS,
    "LOOKUP":                 HintArguments.PAIRS,
    STATE_TTL:                HintArguments.PAIRS,
    "BROADCAST":              HintArguments.NAMES,
    "SHUFFLE_HASH":           HintArguments.NAMES,
    "SHUFFLE_MERGE":          HintArguments.NAMES,
    "NEST_LOOP":              HintArguments.NAMES,
    "MULTI_JOIN":             HintArguments.NAMES,
    "JSON_AGGREGATE_WRAPPED": HintArguments.ANYTHING,
    "ALIAS":                  HintArguments.ANYTHING,
}  # fmt: skip

#: Kinds of objects whose options a hint can change.
WITH_OPTIONS = frozenset({"TABLE", "MATERIALIZED_TABLE"})


def check_hints(hints: Iterable[Hint]) -> None:
    """Require known hints with valid arguments.

    Raises:
        SchemaError: with code `unknown-hint` or `invalid-hint`.
    """
    for hint in hints:
        arguments = HINTS.get(hint.name.upper())
        if arguments is None:
            raise SchemaError(
                f"unknown hint {hint.name!r}",
                code="unknown-hint",
                hint=similar(hint.name.upper(), HINTS),
                span=hint.span,
            )
        fits = {
            HintArguments.PAIRS: bool(hint.options) and not hint.arguments,
            HintArguments.NAMES: bool(hint.arguments) and not hint.options,
            HintArguments.ANYTHING: True,
        }
        if not fits[arguments]:
            raise _invalid(hint, f"hint {hint.name!r} requires {arguments.value}")
        if hint.name.upper() == "LOOKUP" and "table" not in dict(hint.options):
            raise _invalid(hint, "hint 'LOOKUP' requires the key 'table'")


def check_table_hints(hints: Sequence[Hint], name: str, kind: str) -> None:
    """Validate the hints after the name of a table; `kind` is the kind of object.

    Raises:
        SchemaError: as `check_hints`; with code `invalid-hint` for `OPTIONS` on an object without
            options, and for a second `OPTIONS`, which Flink ignores.
    """
    check_hints(hints)
    found = [hint for hint in hints if hint.name.upper() == OPTIONS]
    if found and kind not in WITH_OPTIONS:
        raise _invalid(
            found[0],
            f"{kind.lower()} {name!r} has no options that a hint can change",
            hint="add the hint to the tables that it reads",
        )
    if len(found) > 1:
        raise _invalid(found[1], "duplicate OPTIONS hint", hint="write one OPTIONS with all keys")


def hinted_options(hints: Iterable[Hint]) -> dict[str, str]:
    """Return the options that hints set on a table; the last value of a repeated key counts.

    >>> hinted_options([Hint("options", (("path", "a"), ("path", "b")))])
    {'path': 'b'}
    """
    return dict(pair for hint in hints if hint.name.upper() == OPTIONS for pair in hint.options)


def check_named_sources(hints: Iterable[Hint], aliases: Collection[str]) -> None:
    """Require that the hints of a SELECT with a join name its sources.

    Raises:
        SchemaError: with code `invalid-hint`.
    """
    for hint in hints:
        for name in sources_of(hint):
            if name not in aliases:
                raise _invalid(
                    hint,
                    f"hint {hint.name!r} names {name!r}, which is not a source of this SELECT",
                    hint=similar(name, aliases),
                )


def sources_of(hint: Hint) -> list[str]:
    """Return the names of sources in a hint of a SELECT."""
    key = hint.name.upper()
    if key == "LOOKUP":
        return [value for key, value in hint.options if key == "table"]
    if key == STATE_TTL:
        return [key for key, _ in hint.options]
    if HINTS.get(key) is not HintArguments.NAMES:
        return []
    return [
        argument.parts[0] if isinstance(argument, Name) else argument.text
        for argument in hint.arguments
    ]


def _invalid(hint_: Hint, problem: str, *, hint: str | None = None) -> SchemaError:
    return SchemaError(problem, code="invalid-hint", hint=hint, span=hint_.span)
