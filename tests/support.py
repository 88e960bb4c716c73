"""What several tests need: tables of cases in text files, and how hard hypothesis looks."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import HealthCheck, settings

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


def load_profile() -> None:
    """Let hypothesis look as hard as HYPOTHESIS_PROFILE says; `ci` takes HYPOTHESIS_EXAMPLES.

    `ci` draws the same examples every time unless it is told how many, so that one who changes
    nothing breaks nothing; `dev` draws others each time.
    """
    # Deadlines measure the machine, not the law.
    settings.register_profile("dev", deadline=None)
    settings.register_profile(
        "ci",
        deadline=None,
        derandomize="HYPOTHESIS_EXAMPLES" not in os.environ,
        max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "300")),
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
    )
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
