"""`Schema.from_ddl` and `Schema.to_ddl` try the registered translators in turn."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from schema_core.base import plugins
from schema_core.errors import NotFoundError, ParseError, UnsupportedError
from schema_core.mappings.dialects.api import DIALECTS, from_ddl, to_ddl
from schema_core.schema.unresolved import Schema

SCHEMA = Schema.new_builder().column("id", "INT NOT NULL").column("name", "STRING").build()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_methods_delegate_to_the_dialect_functions(dialect: str) -> None:
    text = SCHEMA.to_ddl(dialect, ("s", "t"), on_loss="note")

    assert to_ddl(SCHEMA, dialect, ("s", "t"), on_loss="note") == text
    assert from_ddl(text, dialect, on_loss="note") == Schema.from_ddl(text, dialect, on_loss="note")


def test_methods_raise_the_errors_of_the_dialect_functions() -> None:
    with pytest.raises(NotFoundError) as unknown:
        Schema.from_ddl("CREATE TABLE t (a int)", "postgrs")
    with pytest.raises(ParseError) as unread:
        Schema.from_ddl("CREATE TABLE t (a int", "mysql")
    with pytest.raises(UnsupportedError) as lost:
        Schema.new_builder().column("a", "TIMESTAMP(9)").build().to_ddl("postgres")

    assert ("unknown-dialect", "did you mean 'postgres'?") == (
        unknown.value.code,
        unknown.value.hint,
    )
    assert "CREATE TABLE t (a int" == unread.value.text
    assert "lossy" == lost.value.code


def translator(dialect: str) -> Any:
    """Return a third-party translator of one dialect."""

    def known(name: str) -> None:
        if name != dialect:
            raise NotFoundError("never heard of it", code="unknown-dialect")

    def read(text: str, name: str, *, on_loss: str) -> Schema:
        known(name)
        return Schema.new_builder().column(text, "INT").build()

    def write(schema: Schema, name: str, table: str, *, on_loss: str) -> str:
        known(name)
        return f"{table} {on_loss} {len(schema.columns)}"

    return SimpleNamespace(from_ddl=read, to_ddl=write)


def register(monkeypatch: pytest.MonkeyPatch, *dialects: str) -> None:
    """Replace the translators by one for each dialect."""
    for dialect in dialects:
        monkeypatch.setattr(
            sys.modules[__name__], f"to_{dialect}", translator(dialect), raising=False
        )
    targets = {dialect: f"{__name__}:to_{dialect}" for dialect in dialects}
    monkeypatch.setitem(plugins.OWN, plugins.DDL, targets)


def test_custom_engines_can_be_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "ours", "theirs")

    assert "(\n  `a` [INT]\n)" == str(Schema.from_ddl("a", "theirs"))
    assert "t accept 2" == SCHEMA.to_ddl("ours", on_loss="accept")
    for dialects in (["ours", "theirs"], []):
        register(monkeypatch, *dialects)
        with pytest.raises(NotFoundError) as caught:
            SCHEMA.to_ddl("postgres")
        assert "unknown-dialect" == caught.value.code
