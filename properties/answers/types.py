"""Answers about types alone: their text, and what casts into what."""

from __future__ import annotations

from properties.answers.attempt import Operation
from properties.recorded import Answer, Question
from schema_core.types import (
    DataTypes,
    supports_avoiding_cast,
    supports_explicit_cast,
    supports_implicit_cast,
)


def describe(question: Question) -> Answer:
    """A type string, read and printed."""
    type_ = DataTypes.of(question["in"])
    return {
        "root": type_.root.value,
        "nullable": type_.is_nullable,
        "summary": type_.as_summary_string(),
        "serializable": type_.as_serializable_string(),
    }


def cast(question: Question) -> Answer:
    """How one type becomes another."""
    source, target = DataTypes.of(question["from"]), DataTypes.of(question["to"])
    return {
        "implicit": supports_implicit_cast(source, target),
        "explicit": supports_explicit_cast(source, target),
        "avoiding": supports_avoiding_cast(source, target),
    }


OPS: dict[str, Operation] = {
    "type": describe,
    "cast": cast,
}
