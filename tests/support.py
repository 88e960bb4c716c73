"""What several tests need: tables of cases in text files."""

from __future__ import annotations

from pathlib import Path

CASES = Path(__file__).parent / "cases"


def cases(name: str) -> list[tuple[str, str]]:
    """The lines of ``tests/cases/<name>.cases``: what is given, and behind ``->`` what comes out.

    Empty lines and those that start with ``#`` are for the reader.
    """
    lines = (CASES / f"{name}.cases").read_text(encoding="utf-8").split("\n")
    pairs = (line.rpartition(" -> ") for line in lines if line.strip() and line[0] != "#")
    return [(given.strip(), expected.strip()) for given, _, expected in pairs]


def listed(text: str) -> list[str]:
    """The parts of a cell, separated by bars."""
    return [part.strip() for part in text.split(" | ")]
