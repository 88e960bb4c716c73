"""Hints of queries: which there are, what they take, and where they apply.

`OPTIONS` after the name of a table changes its options for one query. All other hints steer how
Flink runs a join or an aggregation and cannot change a result; those that an engine has no use for
are accepted without effect. A hint that Flink itself ignores, although it was meant to change what
is read, is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import Enum

from schema_core.errors import SchemaError, similar
from schema_core.sql.query_syntax import Hint
from schema_core.sql.syntax import Name

OPTIONS = "OPTIONS"


class Takes(Enum):
    """What a hint takes in parentheses."""

    PAIRS = "pairs of a key and a value: 'key' = 'value'"
    NAMES = "names of tables or views"
    ANYTHING = "anything, or nothing"


#: Name -> what it takes: the strategies that Flink registers. Names are compared without case.
HINTS: dict[str, Takes] = {
    OPTIONS:                  Takes.PAIRS,
    "LOOKUP":                 Takes.PAIRS,
    "STATE_TTL":              Takes.PAIRS,
    "BROADCAST":              Takes.NAMES,
    "SHUFFLE_HASH":           Takes.NAMES,
    "SHUFFLE_MERGE":          Takes.NAMES,
    "NEST_LOOP":              Takes.NAMES,
    "MULTI_JOIN":             Takes.NAMES,
    "JSON_AGGREGATE_WRAPPED": Takes.ANYTHING,
    "ALIAS":                  Takes.ANYTHING,
}  # fmt: skip


#: Kinds of objects whose options a hint can change.
WITH_OPTIONS = frozenset({"TABLE", "MATERIALIZED_TABLE"})


def check_hints(hints: Iterable[Hint]) -> None:
    """Require hints that exist, with arguments of the kind that each takes.

    Raises:
        SchemaError: with code `unknown-hint` or `invalid-hint`.
    """
    for hint in hints:
        takes = HINTS.get(hint.name.upper())
        if takes is None:
            raise SchemaError(
                f"unknown hint {hint.name!r}",
                code="unknown-hint",
                hint=similar(hint.name.upper(), HINTS),
                span=hint.span,
            )
        fits = {
            Takes.PAIRS: bool(hint.options) and not hint.arguments,
            Takes.NAMES: bool(hint.arguments) and not hint.options,
            Takes.ANYTHING: True,
        }
        if not fits[takes]:
            raise _invalid(hint, f"hint {hint.name!r} takes {takes.value}")
        if hint.name.upper() == "LOOKUP" and "table" not in dict(hint.options):
            raise _invalid(hint, "hint 'LOOKUP' requires the key 'table'")


def check_table_hints(hints: Sequence[Hint], name: str, kind: str) -> None:
    """Check the hints after the name of a table; `kind` is what the name refers to.

    Raises:
        SchemaError: as `check_hints`; with code `invalid-hint` for `OPTIONS` on what has no
            options of its own, and for a second `OPTIONS`, which Flink ignores.
    """
    check_hints(hints)
    found = [hint for hint in hints if hint.name.upper() == OPTIONS]
    if found and kind not in WITH_OPTIONS:
        raise _invalid(
            found[0],
            f"{kind.lower()} {name!r} has no options that a hint can change",
            hint="hint the tables that it reads",
        )
    if len(found) > 1:
        raise _invalid(found[1], "duplicate OPTIONS hint", hint="write one OPTIONS with all keys")


def hinted_options(hints: Iterable[Hint]) -> dict[str, str]:
    """The options that hints give to a table: of a key that is given twice the last value.

    >>> hinted_options([Hint("options", (("path", "a"), ("path", "b")))])
    {'path': 'b'}
    """
    return dict(pair for hint in hints if hint.name.upper() == OPTIONS for pair in hint.options)


def check_named_sources(hints: Iterable[Hint], aliases: Collection[str]) -> None:
    """Require that the hints of a block with a join name sources of this block.

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
    """The names of sources in a hint of a block."""
    key = hint.name.upper()
    if key == "LOOKUP":
        return [value for key, value in hint.options if key == "table"]
    if key == "STATE_TTL":
        return [key for key, _ in hint.options]
    if HINTS.get(key) is not Takes.NAMES:
        return []
    return [one.parts[0] if isinstance(one, Name) else one.text for one in hint.arguments]


def _invalid(hint_: Hint, problem: str, *, hint: str | None = None) -> SchemaError:
    return SchemaError(problem, code="invalid-hint", hint=hint, span=hint_.span)
