"""Texts of JSON: read, taken apart by paths, written, quoted; numbers keep their digits."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import lru_cache
from typing import Any

from schema_core.spark.compiler.udfs.errors import UdfError
from schema_core.spark.compiler.udfs.json_paths import NoSuchPathError, find

_MODE = re.compile(r"\s*(strict|lax)\s+(.+)", re.IGNORECASE | re.DOTALL)


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not valid JSON")


_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=_no_constant)
_BLANK = re.compile(r"[ \t\r\n]*")


@lru_cache(maxsize=64)
def read(text: str) -> Any:
    """The first value of a text; what follows it is not looked at.

    Raises:
        ValueError: for a text that does not begin with a value.

    >>> read('{"a": 1.50} and more')
    {'a': Decimal('1.50')}
    """
    found = _BLANK.match(text)
    try:
        value, end = _DECODER.raw_decode(text, found.end() if found else 0)
    except RecursionError as error:
        raise ValueError("JSON that is nested too deeply") from error
    if not isinstance(value, dict | list | str) and text[end : end + 1].strip(" \t\r\n"):
        raise ValueError("something follows a number or word without a blank")
    return value


def is_scalar(value: Any) -> bool:
    """Whether a value is neither an object nor an array."""
    return not isinstance(value, dict | list)


def printed(value: Any) -> str:
    """A scalar as text.

    >>> printed(Decimal("1.50")), printed(True)
    ('1.50', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


_ESCAPES = {
    '"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
}  # fmt: skip


def quoted(text: str) -> str:
    """A text in JSON's quotes; only what must be escaped is."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return f"\\u{ord(character):04X}" if character < " " else character


def written(value: Any) -> str:
    """A value as JSON without blanks.

    >>> written({"a": [1, Decimal("1E+3"), None]})
    '{"a":[1,1E+3,null]}'
    """
    match value:
        case None:
            return "null"
        case str():
            return quoted(value)
        case dict():
            pairs = (f"{quoted(name)}:{written(value[name])}" for name in value)
            return "{" + ",".join(pairs) + "}"
        case list():
            return "[" + ",".join(map(written, value)) + "]"
        case _:
            return printed(value)


# --- what a path finds ---------------------------------------------------------------------------


class NothingFoundError(Exception):
    """What ON ERROR speaks of."""


def _found(text: str, path: str) -> tuple[Any, bool]:
    """What a path finds, and whether it is lax: ``$.a`` is strict.

    Raises:
        NothingFoundError: if the path finds nothing or the string is not JSON.
    """
    mode = _MODE.fullmatch(path)
    lax = mode is not None and mode[1].lower() == "lax"
    try:
        value = read(text)
    except ValueError as error:
        if lax:
            return None, True
        raise NothingFoundError(str(error)) from None
    if value is None:
        raise NothingFoundError("there is nothing but null")
    try:
        found = find(value, mode[2] if mode else path, lax=lax)
    except NoSuchPathError as error:
        raise NothingFoundError(str(error)) from None
    if found is None and not lax:
        raise NothingFoundError(f"null is at {path}")
    return found, lax


def _fallback(behavior: str, default: str | None, problem: str) -> str | None:
    """What ``NULL ON EMPTY`` and its kin give."""
    if behavior == "ERROR":
        raise UdfError(problem)
    return {"DEFAULT": default, "EMPTY ARRAY": "[]", "EMPTY OBJECT": "{}"}.get(behavior)


#: Returned type -> which Python values are that in Java.
_RETURNED = {
    "INTEGER": lambda value: type(value) is int and -(2**31) <= value < 2**31,
    "DOUBLE": lambda value: isinstance(value, Decimal),
    "BOOLEAN": lambda value: isinstance(value, bool),
}


def json_value(
    text: str | None,
    path: str | None,
    returned: str,
    on_empty: str,
    default_on_empty: str | None,
    on_error: str,
    default_on_error: str | None,
) -> str | None:
    """JSON_VALUE: the scalar at a path, as text.

    >>> json_value('{"a": 1.50}', "$.a", "STRING", "NULL", None, "NULL", None)
    '1.50'
    """
    if text is None or path is None:
        return None
    try:
        value, lax = _found(text, path)
        if value is None or (lax and not is_scalar(value)):
            return _fallback(on_empty, default_on_empty, f"nothing is at {path}")
        if not is_scalar(value):
            return _fallback(on_error, default_on_error, f"no scalar is at {path}")
    except NothingFoundError as error:
        return _fallback(on_error, default_on_error, str(error))
    if not _RETURNED.get(returned, is_scalar)(value):
        raise UdfError(f"{printed(value)} at {path} is not a value of {returned}")
    return printed(value)


def _queried(
    text: str, path: str, wrapper: str, on_empty: str, on_error: str, *, listed: bool
) -> Any:
    """What JSON_QUERY finds: a value to be written, or None."""
    try:
        value, lax = _found(text, path)
        if value is not None and (
            wrapper == "UNCONDITIONAL" or (wrapper == "CONDITIONAL" and not isinstance(value, list))
        ):
            value = [value]
        if value is None or (lax and is_scalar(value)):
            return _EMPTY[_fallback(on_empty, None, f"nothing is at {path}")]
        if is_scalar(value) or (listed and not isinstance(value, list)):
            return _EMPTY[_fallback(on_error, None, f"no array or object is at {path}")]
    except NothingFoundError as error:
        return _EMPTY[_fallback(on_error, None, str(error))]
    return value


_EMPTY: dict[str | None, Any] = {None: None, "[]": [], "{}": {}}


def json_query(
    text: str | None, path: str | None, wrapper: str, on_empty: str, on_error: str
) -> str | None:
    """JSON_QUERY: the object or array at a path, as JSON.

    >>> json_query('{"a": [1]}', "$.a", "WITHOUT", "NULL", "NULL")
    '[1]'
    """
    if text is None or path is None:
        return None
    value = _queried(text, path, wrapper, on_empty, on_error, listed=False)
    return None if value is None else written(value)


def json_query_list(
    text: str | None, path: str | None, wrapper: str, on_empty: str, on_error: str
) -> list[str | None] | None:
    """JSON_QUERY that returns an array of texts.

    >>> json_query_list("[1, [2], null]", "$", "WITHOUT", "NULL", "NULL")
    ['1', '[2]', None]
    """
    if text is None or path is None:
        return None
    value = _queried(text, path, wrapper, on_empty, on_error, listed=True)
    return None if value is None else [one if one is None else _element(one) for one in value]


def _element(value: Any) -> str:
    return printed(value) if is_scalar(value) else written(value)


def json_exists(text: str | None, path: str | None, on_error: str) -> bool | None:
    """JSON_EXISTS: whether something other than null is at a path."""
    if text is None or path is None:
        return None
    try:
        return _found(text, path)[0] is not None
    except NothingFoundError as error:
        if on_error == "ERROR":
            raise UdfError(str(error)) from None
        return {"TRUE": True, "FALSE": False}.get(on_error)


def is_json(text: str | None, kind: str) -> bool:
    """IS JSON, of a kind; NULL is none.

    >>> is_json("[1]", "ARRAY"), is_json("1", "OBJECT"), is_json(None, "VALUE")
    (True, False, False)
    """
    if text is None:
        return False
    try:
        value = read(text)
    except ValueError:
        return False
    kinds = {"OBJECT": isinstance(value, dict), "ARRAY": isinstance(value, list)}
    return {**kinds, "VALUE": True, "SCALAR": not any(kinds.values())}[kind]


# --- quotes --------------------------------------------------------------------------------------


def json_quote(text: str | None) -> str | None:
    r"""JSON_QUOTE: quotes around a text, and beyond ASCII escapes.

    Of a character beyond 16 bits Flink writes the whole number and its second half.

    >>> print(json_quote('a"é'))
    "a\"\u00e9"
    """
    if text is None:
        return None
    parts = []
    escapes = {**_ESCAPES, "/": "\\/"}
    for character in text:
        code = ord(character)
        if code < 128:
            parts.append(escapes.get(character, character))
        else:
            low = f"\\u{0xDC00 + (code & 0x3FF):04x}" if code > 0xFFFF else ""
            parts.append(f"\\u{code:04x}{low}")
    return '"' + "".join(parts) + '"'


def json_unquote(text: str | None) -> str | None:
    """JSON_UNQUOTE: what is between the quotes of a JSON text; any other text stays as it is.

    >>> json_unquote('"a"'), json_unquote("a")
    ('a', 'a')
    """
    if text is None or len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return text
    try:
        value, end = _DECODER.raw_decode(text)
    except ValueError:
        return text
    if end < len(text) or not isinstance(value, str):
        return text
    return value
