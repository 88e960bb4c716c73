"""Expressions: a printed expression parses, and printing it again ends with the same string."""

from __future__ import annotations

from fuzz import driver
from schema_core.sql.parser import parse_expression
from schema_core.sql.printer import print_expression


def target(text: str) -> None:
    """Parse and print an expression until it does not change any more.

    Calcite prints ``(+a)[1]`` without the parentheses, so each round may move one sign.
    """
    rounds = 2 + text.count("+") + text.count("-")
    printed = print_expression(parse_expression.__wrapped__(text))
    for _ in range(rounds):
        again = print_expression(parse_expression.__wrapped__(printed))
        if again == printed:
            return
        printed = again
    raise AssertionError(f"not the same after {rounds} rounds: {printed}")


if __name__ == "__main__":
    driver.main("expressions", target)
