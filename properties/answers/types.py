"""Answers about types alone: their text, what casts into what, what several have in common."""

from __future__ import annotations

from properties.answers.attempt import Operation
from properties.recorded import Answer, Question
from schema_core.types import (
    DataTypes,
    common_type,
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


def common(question: Question) -> Answer:
    """The type of several, or null."""
    result = common_type([DataTypes.of(text) for text in question["types"]])
    return {"out": None if result is None else result.as_serializable_string()}


OPS: dict[str, Operation] = {
    "type": describe,
    "cast": cast,
    "common": common,
}
