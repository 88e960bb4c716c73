"""The context that precedes the questions: tables with their rows, user functions."""

from __future__ import annotations

from typing import Any

from properties.recorded import Answer, Question

#: Name of a table -> its columns and rows, as in tables.json.
TABLES: dict[str, Any] = {}

#: Class name of a user function -> its signature, as in udf.json.
FUNCTIONS: dict[str, Any] = {}


def keep(place: dict[str, Any], question: Question) -> Answer:
    """Remember everything of a declaration but its op."""
    place.update((key, value) for key, value in question.items() if key != "op")
    return {}


OPS = {
    "tables": lambda question: keep(TABLES, question),
    "udf": lambda question: keep(FUNCTIONS, question),
}
