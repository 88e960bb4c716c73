"""Completion and EXPLAIN of incomplete statements, at any position."""

from __future__ import annotations

import zlib
from contextlib import suppress
from functools import cache

from fuzz import driver
from fuzz.fuzz_resolve import new_session
from schema_core.environment.completion import quote_if_needed
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError


@cache
def environment() -> TableEnvironment:
    """An environment that completion does not change."""
    return TableEnvironment(new_session(batch=False))


def target(text: str) -> None:
    """Complete an input at its end and at a position within, before or after it; explain it."""
    position = zlib.crc32(text.encode("utf-8", "surrogatepass")) % (len(text) + 3) - 1
    for place in (len(text), position):
        result = environment().complete_statement(text, place)
        assert len(set(result)) == len(result), "a proposal comes twice"
    quote_if_needed(text)
    with suppress(SchemaCoreError):
        environment().explain_sql(text)


if __name__ == "__main__":
    driver.main("completion", target)
