"""JSON functions: parsing, path evaluation, serialization, quoting; numbers keep their digits."""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from secrets import token_hex
from typing import Any

from schema_core.base.lazy import regex
from schema_core.spark.compiler.udfs import UdfError
from schema_core.spark.compiler.udfs.json_paths import NoSuchPathError, find

#: A path with its mode: `strict $.a`.
MODE = regex(r"\s*(strict|lax)\s+(.+)", re.IGNORECASE | re.DOTALL)


def _reject_constant(word: str) -> Any:
    raise ValueError(f"{word} is not valid JSON")


def _decimal(text: str) -> Decimal:
    """Return a number as Java's BigDecimal, whose zero has no sign."""
    number = Decimal(text)
    return number or number.copy_abs()


DECODER = json.JSONDecoder(parse_float=_decimal, parse_constant=_reject_constant)
#: Reads string literals that contain control characters.
LENIENT = json.JSONDecoder(strict=False)
_BLANK = regex(r"[ \t\r\n]*")


@lru_cache(maxsize=64)
def parse(text: str) -> Any:
    """Return the first JSON value of a string, ignoring what follows it.

    Raises:
        ValueError: if the string does not start with a JSON value.

    >>> parse('{"a": 1.50} and more')
    {'a': Decimal('1.50')}
    """
    found = _BLANK.match(text)
    try:
        value, end = DECODER.raw_decode(text, found.end() if found else 0)
    except RecursionError as error:
        raise ValueError("JSON that is nested too deeply") from error
    except InvalidOperation as error:
        raise ValueError("a number with too large an exponent") from error
    if not isinstance(value, dict | list | str) and text[end : end + 1].strip(" \t\r\n"):
        raise ValueError(f"expected a space at position {end}, found {text[end]!r}")
    return value


def is_scalar(value: Any) -> bool:
    """Return whether a value is neither an object nor an array."""
    return not isinstance(value, dict | list)


def scalar_string(value: Any) -> str:
    """Return the string of a scalar.

    >>> scalar_string(Decimal("1.50")), scalar_string(True)
    ('1.50', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


_ESCAPES = {
    '"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
}  # fmt: skip

#: Marks the string of a number with a fraction, to which the encoder would add quotes.
_NUMBER_MARK = token_hex(8)


def _mark_number(number: Decimal) -> str:
    return f"{_NUMBER_MARK}{number}"


_ENCODER = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":"), default=_mark_number
)
_MARKED = regex(rf'"{_NUMBER_MARK}([^"]*)"')
_CONTROL = regex(r"\\(?:\\|u[0-9a-f]{4})")


def serialize(value: Any) -> str:
    """Return a value as JSON without whitespace, with the minimum of escapes.

    Raises:
        UdfError: for a value that is nested too deeply.

    >>> serialize({"a": [1, Decimal("1E+3"), None]})
    '{"a":[1,1E+3,null]}'
    """
    try:
        text = _ENCODER.encode(value)
    except RecursionError:
        raise UdfError("the JSON value is nested too deeply") from None
    if _NUMBER_MARK in text:
        text = _MARKED.sub(r"\1", text)
    return _CONTROL.sub(_upper_case, text) if "\\u" in text else text


def _upper_case(found: re.Match[str]) -> str:
    """Return the escape of a control character as Java writes it; an escaped backslash as it is."""
    return f"\\u{found[0][2:].upper()}" if found[0][1] == "u" else found[0]


def json_document(text: str | None) -> str | None:
    """Return JSON: a document as JSON_OBJECT and JSON_ARRAY insert it, None if it is blank.

    >>> json_document('{"b": 1, "a": [1.0]} more')
    '{"a":[1.0],"b":1}'
    """
    if text is None or not text.strip(" \t\r\n"):
        return None
    try:
        return serialize(_with_sorted_keys(parse(text)))
    except ValueError as error:
        raise UdfError(f"JSON: the string is not valid JSON: {error}") from None


def _with_sorted_keys(value: Any) -> Any:
    """Return a value with the keys of its objects in the order of Java's strings."""
    match value:
        case dict():
            keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
            return {key: _with_sorted_keys(value[key]) for key in keys}
        case list():
            return [_with_sorted_keys(element) for element in value]
        case _:
            return value


# --- path evaluation -----------------------------------------------------------------------------


class JsonPathError(Exception):
    """Invalid JSON, an invalid path, or no match in strict mode: the case of ON ERROR."""


def _evaluate(text: str, path: str) -> tuple[Any, bool]:
    """Return the value at a path, and whether the path is lax: ``$.a`` is strict.

    Raises:
        JsonPathError: if a strict path has no match or the string is not JSON.
    """
    mode = MODE.fullmatch(path)
    lax = mode is not None and mode[1].lower() == "lax"
    try:
        value = parse(text)
    except ValueError as error:
        if lax:
            return None, True
        raise JsonPathError(str(error)) from None
    if value is None:
        raise JsonPathError("the JSON document is null")
    try:
        found = find(value, mode[2] if mode else path, lax=lax)
    except NoSuchPathError as error:
        raise JsonPathError(str(error)) from None
    if found is None and not lax:
        raise JsonPathError(f"the value at {path!r} is null")
    return found, lax


def _fallback(behavior: str, default: str | None, problem: str) -> str | None:
    """Return the result of an ON EMPTY or ON ERROR clause."""
    if behavior == "ERROR":
        raise UdfError(problem)
    return {"DEFAULT": default, "EMPTY ARRAY": "[]", "EMPTY OBJECT": "{}"}.get(behavior)


#: RETURNING type -> predicate of the parsed values that Java casts to it.
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
    """Return JSON_VALUE: the scalar at a path, as a string.

    >>> json_value('{"a": 1.50}', "$.a", "STRING", "NULL", None, "NULL", None)
    '1.50'
    """
    if text is None or path is None:
        return None
    try:
        value, lax = _evaluate(text, path)
        if value is None or (lax and not is_scalar(value)):
            return _fallback(on_empty, default_on_empty, f"no value at {path!r}")
        if not is_scalar(value):
            return _fallback(on_error, default_on_error, f"the value at {path!r} is not a scalar")
    except JsonPathError as error:
        return _fallback(on_error, default_on_error, str(error))
    if not _RETURNED.get(returned, is_scalar)(value):
        raise UdfError(f"{scalar_string(value)!r} at {path!r} is not a value of {returned}")
    return scalar_string(value)


def _query(
    text: str, path: str, wrapper: str, on_empty: str, on_error: str, *, listed: bool
) -> Any:
    """Return the value of JSON_QUERY before serialization, or None."""
    try:
        value, lax = _evaluate(text, path)
        if value is not None and (
            wrapper == "UNCONDITIONAL" or (wrapper == "CONDITIONAL" and not isinstance(value, list))
        ):
            value = [value]
        if value is None or (lax and is_scalar(value)):
            return _EMPTY[_fallback(on_empty, None, f"no value at {path!r}")]
        if is_scalar(value) or (listed and not isinstance(value, list)):
            problem = f"the value at {path!r} is not an array or object"
            return _EMPTY[_fallback(on_error, None, problem)]
    except JsonPathError as error:
        return _EMPTY[_fallback(on_error, None, str(error))]
    return value


_EMPTY: dict[str | None, Any] = {None: None, "[]": [], "{}": {}}


def query_fallback(behavior: str) -> str | None:
    """Return the result of JSON_QUERY by an ON EMPTY or ON ERROR clause other than ERROR."""
    value = _EMPTY[_fallback(behavior, None, "")]
    return None if value is None else serialize(value)


def json_query(
    text: str | None, path: str | None, wrapper: str, on_empty: str, on_error: str
) -> str | None:
    """Return JSON_QUERY: the object or array at a path, as JSON.

    >>> json_query('{"a": [1]}', "$.a", "WITHOUT", "NULL", "NULL")
    '[1]'
    """
    if text is None or path is None:
        return None
    value = _query(text, path, wrapper, on_empty, on_error, listed=False)
    return None if value is None else serialize(value)


def json_query_list(
    text: str | None, path: str | None, wrapper: str, on_empty: str, on_error: str
) -> list[str | None] | None:
    """Return JSON_QUERY with RETURNING ARRAY<STRING>.

    >>> json_query_list("[1, [2], null]", "$", "WITHOUT", "NULL", "NULL")
    ['1', '[2]', None]
    """
    if text is None or path is None:
        return None
    value = _query(text, path, wrapper, on_empty, on_error, listed=True)
    return (
        None
        if value is None
        else [element if element is None else _element(element) for element in value]
    )


def _element(value: Any) -> str:
    return scalar_string(value) if is_scalar(value) else serialize(value)


def json_exists(text: str | None, path: str | None, on_error: str) -> bool | None:
    """Return JSON_EXISTS: whether a path matches a value other than null."""
    if text is None or path is None:
        return None
    try:
        return _evaluate(text, path)[0] is not None
    except JsonPathError as error:
        if on_error == "ERROR":
            raise UdfError(str(error)) from None
        return {"TRUE": True, "FALSE": False}.get(on_error)


def is_json(text: str | None, kind: str) -> bool:
    """Return IS JSON of a kind; false for NULL.

    >>> is_json("[1]", "ARRAY"), is_json("1", "OBJECT"), is_json(None, "VALUE")
    (True, False, False)
    """
    if text is None:
        return False
    try:
        value = parse(text)
    except ValueError:
        return False
    return is_kind(value, kind)


def is_kind(value: Any, kind: str) -> bool:
    """Return whether a parsed value is an OBJECT, an ARRAY, a SCALAR, or any VALUE."""
    kinds = {"OBJECT": isinstance(value, dict), "ARRAY": isinstance(value, list)}
    return {**kinds, "VALUE": True, "SCALAR": not any(kinds.values())}[kind]


# --- quoting -------------------------------------------------------------------------------------


def json_quote(text: str | None) -> str | None:
    r"""Return JSON_QUOTE: a JSON string literal with all characters beyond ASCII escaped.

    For a supplementary character Flink writes its code point and then its low surrogate.

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
    """Return JSON_UNQUOTE: the value of a JSON string literal; other strings are unchanged.

    >>> json_unquote('"a"'), json_unquote("a"), json_unquote('"a" b"')
    ('a', 'a', 'a" b')
    """
    if text is None or len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return text
    try:
        value, end = DECODER.raw_decode(text)
    except ValueError:
        return text
    return text if not isinstance(value, str) else value if end == len(text) else _unescape(text)


def _unescape(text: str) -> str:
    """Unescape all between the first and the last character, or return the text if invalid."""
    inner = text[1:-1]
    if re.fullmatch(r"(?s)(?:[^\\]|\\.)*\\", inner):
        inner += "\\"
    literal = re.sub(r'(?s)(\\.)|"', lambda part: part[1] or '\\"', inner)
    try:
        return str(LENIENT.decode(f'"{literal}"'))
    except ValueError:
        return text
