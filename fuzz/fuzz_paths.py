"""Paths: what is read prints a text that reads back as the same path."""

from __future__ import annotations

from fuzz import driver
from schema_core.paths import parse_path


def target(text: str) -> None:
    """Read a path; print it where SQL has a text for its names; read that."""
    path = parse_path(text)
    if not any("\n" in part or "\r" in part for part in path.parts):
        assert parse_path(str(path)) == path


if __name__ == "__main__":
    driver.main("paths", target)
