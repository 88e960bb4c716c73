"""Paths: a printed path parses to an equal path."""

from __future__ import annotations

from fuzz import driver
from schema_core.base.paths import parse_path


def target(text: str) -> None:
    """Parse a path; if SQL can write its names, print and parse it again."""
    path = parse_path(text)
    if not any("\n" in part or "\r" in part for part in path.parts):
        assert parse_path(str(path)) == path


if __name__ == "__main__":
    driver.main("paths", target)
