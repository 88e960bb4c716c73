"""Type strings: what is read prints a text that reads back as the same type."""

from __future__ import annotations

from fuzz import driver
from schema_core.types.syntax import parse_type


def target(text: str) -> None:
    """Read a type; print it where it has a text; read that."""
    type_ = parse_type(text)
    printed = str(type_)
    assert parse_type(printed) == type_
    assert str(parse_type(printed)) == printed


if __name__ == "__main__":
    driver.main("types", target)
