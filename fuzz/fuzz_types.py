"""Type strings: a printed type parses to an equal type."""

from __future__ import annotations

from fuzz import driver
from schema_core.types.type_parser import parse_type


def target(text: str) -> None:
    """Parse a type; if it is printable, parse its string."""
    type_ = parse_type(text)
    printed = str(type_)
    assert parse_type(printed) == type_
    assert str(parse_type(printed)) == printed


if __name__ == "__main__":
    driver.main("types", target)
