"""Answers about types alone: their text."""

from __future__ import annotations

from properties.answers.attempt import Operation
from properties.recorded import Answer, Question
from schema_core.types import DataTypes


def describe(question: Question) -> Answer:
    """A type string, read and printed."""
    type_ = DataTypes.of(question["in"])
    return {
        "root": type_.root.value,
        "nullable": type_.is_nullable,
        "summary": type_.as_summary_string(),
        "serializable": type_.as_serializable_string(),
    }


OPS: dict[str, Operation] = {
    "type": describe,
}
