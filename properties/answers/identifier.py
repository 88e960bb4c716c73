"""Answers about paths and identifiers."""

from __future__ import annotations

from collections.abc import Callable

from properties.answers.attempt import Operation
from properties.recorded import Answer, Question
from schema_core.base.paths import ObjectIdentifier, ObjectPath, UnresolvedPath, parse_path
from schema_core.base.text import quote_identifier

#: The current catalog and database of a new environment in Flink.
HOME = ("default_catalog", "default_database")


def unresolved(path: UnresolvedPath) -> Answer:
    return {
        "parts": list(path.parts),
        "summary": path.as_summary_string(),
        "string": str(path),
    }


def identifier(found: ObjectIdentifier) -> Answer:
    return {
        "parts": found.to_list(),
        "serializable": found.as_serializable_string(),
        "summary": found.as_summary_string(),
        "string": str(found),
        "path": found.to_object_path().get_full_name(),
    }


def object_path(path: ObjectPath) -> Answer:
    return {
        "database": path.get_database_name(),
        "object": path.get_object_name(),
        "full": path.get_full_name(),
        "string": str(path),
    }


def escape(text: str) -> Answer:
    return {"out": quote_identifier(text), "single_quotes": text.replace("'", "''")}


FORMS: dict[str, Callable[[Question], Answer]] = {
    "parse": lambda q: unresolved(parse_path(q["in"])),
    "unresolved": lambda q: unresolved(UnresolvedPath(q["parts"])),
    "qualify": lambda q: identifier(UnresolvedPath(q["parts"]).qualify(*HOME)),
    "object_identifier": lambda q: identifier(ObjectIdentifier.of(*q["parts"])),
    "object_path": lambda q: object_path(ObjectPath.from_string(q["in"])),
    "object_path_of": lambda q: object_path(ObjectPath(*q["parts"])),
    "escape": lambda q: escape(q["in"]),
}

OPS: dict[str, Operation] = {
    "identifier": lambda question: FORMS[question["form"]](question),
}
