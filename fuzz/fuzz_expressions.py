"""Expressions: a printed expression parses and prints the same."""

from __future__ import annotations

from fuzz import driver
from schema_core.sql.parser import parse_expression
from schema_core.sql.printer import print_expression


def target(text: str) -> None:
    """Read an expression, print it, read that."""
    printed = print_expression(parse_expression.__wrapped__(text))
    again = print_expression(parse_expression.__wrapped__(printed))
    assert print_expression(parse_expression.__wrapped__(again)) == again


if __name__ == "__main__":
    driver.main("expressions", target)
