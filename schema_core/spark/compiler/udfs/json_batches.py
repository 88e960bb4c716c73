"""JSON functions over a batch of strings, parsed and serialized together.

One call of the C parser for many documents costs half of a call for each. Only the usual arguments
are computed here; `udfs.json` defines the results of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import InvalidOperation
from secrets import token_hex
from typing import Any, Final

from schema_core.spark.compiler.udfs import UdfError, json

#: What stands for a string that is not JSON.
INVALID: Final = object()

_CONTAINERS = frozenset({dict, list})

#: A string that is in no document, and joins documents.
_MARK = token_hex(8)
_BETWEEN = f',"{_MARK}",'

#: Documents that are parsed together: an invalid one costs little.
_TOGETHER = 64


def parse_all(texts: Sequence[str | None]) -> list[Any]:
    """Return what `json.parse` returns for each string; `INVALID` where it raises.

    >>> parse_all(['{"a": 1}', None, "[2] and more"])
    [{'a': 1}, None, [2]]
    """
    documents: list[Any] = []
    present = ["null" if text is None else text for text in texts]
    for start in range(0, len(present), _TOGETHER):
        documents += _parse_some(present[start : start + _TOGETHER])
    return documents


def _parse_some(texts: list[str]) -> list[Any]:
    """Parse strings together, or in halves if one is not a single value."""
    try:
        values = json.DECODER.decode(f"[{_BETWEEN.join(texts)}]")
    except (ValueError, RecursionError, InvalidOperation):
        values = []
    marks = values[1::2]
    if len(values) == 2 * len(texts) - 1 and marks.count(_MARK) == len(marks):
        documents: list[Any] = values[::2]
        return documents
    if len(texts) <= 4:
        return list(map(_parse_one, texts))
    half = len(texts) // 2
    return _parse_some(texts[:half]) + _parse_some(texts[half:])


def _parse_one(text: str) -> Any:
    try:
        return json.parse(text)
    except ValueError:
        return INVALID


def serialize_all(values: list[Any]) -> list[str]:
    """Return objects and arrays as `json.serialize` does.

    >>> serialize_all([[1, {}], {"a": "b"}])
    ['[1,{}]', '{"a":"b"}']
    """
    if not values:
        return []
    mixed = [_MARK] * (2 * len(values) - 1)
    mixed[::2] = values
    return json.serialize(mixed)[1:-1].split(_BETWEEN)


# --- functions -----------------------------------------------------------------------------------


def _steps(path: str | None) -> json.Path | None:
    """Return the steps of a strict path of single names and positions, or None."""
    if path is None or json.MODE.fullmatch(path):
        return None
    try:
        steps = json.compile_path(path)
    except (json.NoSuchPathError, UdfError):
        return None
    for step in steps:
        is_single = (isinstance(step, json.Members) and len(step.names) == 1) or (
            isinstance(step, json.Indices) and len(step.indices) == 1
        )
        if not is_single:
            return None
    return steps


def _find_all(texts: Sequence[str | None], steps: json.Path) -> list[Any]:
    """Return the value at a path of each document.

    All errors of a strict path are None: a string that is not JSON, no value, and null.
    """
    values = parse_all(texts)
    for step in steps:
        if isinstance(step, json.Members):
            name = step.names[0]
            values = [value.get(name) if type(value) is dict else None for value in values]
        elif isinstance(step, json.Indices):
            index = step.indices[0]
            values = [
                value[index] if type(value) is list and -len(value) <= index < len(value) else None
                for value in values
            ]
    return [None if value is INVALID else value for value in values]


def json_query_all(
    texts: Sequence[str | None], path: str | None, wrapper: str, on_empty: str, on_error: str
) -> list[str | None] | None:
    """Return JSON_QUERY of each string, or None for unusual arguments."""
    steps = _steps(path)
    if steps is None or wrapper != "WITHOUT" or on_error == "ERROR":
        return None
    values = _find_all(texts, steps)
    try:
        strings = iter(serialize_all([value for value in values if type(value) in _CONTAINERS]))
    except UdfError:
        return None
    otherwise = json.query_fallback(on_error)
    return [
        next(strings) if type(value) in _CONTAINERS else None if text is None else otherwise
        for text, value in zip(texts, values, strict=True)
    ]


def json_value_all(
    texts: Sequence[str | None],
    path: str | None,
    returned: str,
    on_empty: str,
    default_on_empty: str | None,
    on_error: str,
    default_on_error: str | None,
) -> list[str | None] | None:
    """Return JSON_VALUE of each string, or None for unusual arguments."""
    steps = _steps(path)
    if steps is None or returned != "STRING" or on_error == "ERROR":
        return None
    otherwise = default_on_error if on_error == "DEFAULT" else None
    return [
        (None if text is None else otherwise)
        if value is None or type(value) in _CONTAINERS
        else json.scalar_string(value)
        for text, value in zip(texts, _find_all(texts, steps), strict=True)
    ]


def json_exists_all(
    texts: Sequence[str | None], path: str | None, on_error: str
) -> list[bool | None] | None:
    """Return JSON_EXISTS of each string, or None for unusual arguments."""
    steps = _steps(path)
    if steps is None or on_error == "ERROR":
        return None
    otherwise = {"TRUE": True, "FALSE": False}.get(on_error)
    return [
        True if value is not None else None if text is None else otherwise
        for text, value in zip(texts, _find_all(texts, steps), strict=True)
    ]


def is_json_all(texts: Sequence[str | None], kind: str | None) -> list[bool] | None:
    """Return IS JSON of each string, or None without a kind."""
    if kind is None:
        return None
    documents = parse_all(texts)
    types = {type(document) for document in documents}
    accepted = {
        data_type
        for data_type in types
        if data_type is not object and json.is_kind(data_type(), kind)
    }
    return [
        type(value) in accepted and text is not None
        for text, value in zip(texts, documents, strict=True)
    ]
