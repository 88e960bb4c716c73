"""JSON functions and JSONPath: ``$.a[0]``, ``$['a', 'b']``, ``$[1:]``, ``$[*]``, ``$..a``.

Numbers keep their digits. Paths with filters and functions raise `UdfError`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from secrets import token_hex
from typing import Any, TypeAlias

from schema_core.base.lazy import dataclass, regex
from schema_core.spark.compiler.udfs import UdfError

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
    """Return the first JSON value of a string, ignoring what follows.

    Raises:
        ValueError: if the string does not start with a JSON value.

    >>> parse('{"a": 1.50} and more')
    {'a': Decimal('1.50')}
    """
    blank = _BLANK.match(text)
    try:
        value, end = DECODER.raw_decode(text, blank.end() if blank else 0)
    except RecursionError as error:
        raise ValueError("JSON that is nested too deeply") from error
    except InvalidOperation as error:
        raise ValueError("a number with too large an exponent") from error
    if not isinstance(value, dict | list | str) and text[end : end + 1].strip(" \t\r\n"):
        raise ValueError(f"expected a space at position {end}, blank {text[end]!r}")
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

#: Marks a number with a fraction, to which the encoder would add quotes.
_NUMBER_MARK = token_hex(8)


_ENCODER = json.JSONEncoder(
    ensure_ascii=False,
    check_circular=False,
    separators=(",", ":"),
    default=lambda number: f"{_NUMBER_MARK}{number}",
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
    if "\\u" not in text:
        return text
    # Java writes escapes in upper case; an escaped backslash stays
    return _CONTROL.sub(
        lambda match: f"\\u{match[0][2:].upper()}" if match[0][1] == "u" else match[0], text
    )


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
    match value:
        case dict():
            keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
            return {key: _with_sorted_keys(value[key]) for key in keys}
        case list():
            return [_with_sorted_keys(element) for element in value]
        case _:
            return value


# --- paths -------------------------------------------------------------------------------------


class NoSuchPathError(Exception):
    """A path that is invalid, or that matches no value."""


@dataclass(frozen=True, slots=True)
class Members:
    """``.a``, or ``['a', 'b']``: members of an object."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Indices:
    """``[0]``, or ``[0, -1]``: elements of an array."""

    indices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """``[1:]``: a slice of an array."""

    start: int | None
    stop: int | None


@dataclass(frozen=True, slots=True)
class Wildcard:
    """``*``: all members or elements."""


@dataclass(frozen=True, slots=True)
class Descendants:
    """``..``: the value and all its descendants."""


Step: TypeAlias = Members | Indices | Slice | Wildcard | Descendants
Path: TypeAlias = tuple[Step, ...]

_NAME = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_STEP = regex(
    r"(?P<descendants>\.\.)(?=[^.\s])"
    r"|\[\s*(?P<wildcard>\*)\s*\]"
    r"|\[\s*(?P<from>-?\d+)?\s*:\s*(?P<to>-?\d+)?\s*\]"
    r"|\[\s*(?P<indices>-?\d+(?:\s*,\s*-?\d+)*)\s*\]"
    rf"|\[\s*(?P<names>(?:{_NAME})(?:\s*,\s*(?:{_NAME}))*)\s*\]"
    r"|\.?(?P<star>\*)"
    r"|\.?(?P<name>[^.\[\s(*]+)(?P<call>\()?"
    r"|\[\s*(?P<filter>\?)"
    r"|\.(?=\[)"
)


@lru_cache(maxsize=1000)
def compile_path(text: str) -> Path:
    """Return the steps of a path; ``name`` is short for ``$.name``.

    Raises:
        NoSuchPathError: for a string that is not a path.
        UdfError: for a path with a filter or a function.

    >>> compile_path("$.a[0]")
    (Members(names=('a',)), Indices(indices=(0,)))
    """
    path = text.strip()
    if not path or path[-1] == ".":
        raise NoSuchPathError(f"{text!r} is not a path")
    rest = path[1:] if path[0] in "$@" else f".{path}"
    if rest and rest[0] not in ".[":
        raise NoSuchPathError(f"{text!r} is not a path")
    position, steps = 0, []
    while position < len(rest):
        token = _STEP.match(rest, position)
        if token is None:
            raise NoSuchPathError(f"{text!r} is not a path")
        if token["filter"] or token["call"]:
            raise UdfError(f"filters and functions in path {text!r} are not supported")
        step = _step(token)
        steps += [step] if step is not None else []
        position = token.end()
    return tuple(steps)


def _step(token: re.Match[str]) -> Step | None:
    """Return the step of a match; None for the dot before a bracket."""
    match token.lastgroup:
        case "descendants":
            return Descendants()
        case "wildcard" | "star":
            return Wildcard()
        case "indices":
            return Indices(tuple(int(part) for part in token["indices"].split(",")))
        case "names":
            names = re.findall(_NAME, token["names"])
            return Members(tuple(re.sub(r"\\(.)", r"\1", name[1:-1]) for name in names))
        case "name":
            return Members((token["name"],))
        case None if ":" not in token[0]:
            return None
        case _:
            start, stop = token["from"], token["to"]
            return Slice(start and int(start), stop and int(stop))  # type: ignore[arg-type]


def is_definite(path: Path) -> bool:
    """Return whether a path matches at most one value."""
    return all(_is_definite(path, position) for position in range(len(path)))


def _is_definite(path: Path, position: int) -> bool:
    step = path[position]
    if isinstance(step, Members):
        return len(step.names) == 1 or position == len(path) - 1
    return isinstance(step, Indices) and len(step.indices) == 1


def find(value: Any, text: str, *, lax: bool) -> Any:
    """Return the value of a definite path, or the list of values of an indefinite one.

    A lax path without a match returns None, or an empty list.

    Raises:
        NoSuchPathError: if a strict path matches no value.

    >>> find({"a": [1, 2]}, "$.a[1]", lax=False), find({"a": [1, 2]}, "$.a[*]", lax=False)
    (2, [1, 2])
    """
    path = compile_path(text)
    definite = is_definite(path)
    try:
        found = list(_walk(value, path, 0, upstream=True, lax=lax))
    except NoSuchPathError:
        if not lax:
            raise
        found = []
    if not definite:
        return found
    if not found and not lax:
        raise NoSuchPathError(f"no value at {text!r}")
    return found[-1] if found else None


def _walk(value: Any, path: Path, position: int, *, upstream: bool, lax: bool) -> Iterator[Any]:
    """Yield the values that the steps from a position match.

    The wrong kind of value is an error only if all preceding steps are definite (`upstream`).
    """
    if position == len(path):
        yield value
        return
    step = path[position]
    if isinstance(step, Descendants):
        for inner in _self_and_descendants(value):
            if _can_apply(inner, path[position + 1]):
                yield from _walk(inner, path, position + 1, upstream=False, lax=lax)
        return
    if isinstance(step, Members) and not isinstance(value, dict):
        if upstream and not lax:
            raise NoSuchPathError(f"members {step.names} require an object")
        return
    if isinstance(step, Indices | Slice) and not isinstance(value, list):
        if upstream:
            raise NoSuchPathError("array access requires an array")
        return
    definite = upstream and _is_definite(path, position)
    matches = _apply(value, step, leaf=position == len(path) - 1)
    if not matches and definite and not lax:
        raise NoSuchPathError(f"no value at {step}")
    for inner in matches:
        yield from _walk(inner, path, position + 1, upstream=definite, lax=lax)


def _apply(value: Any, step: Step, *, leaf: bool) -> list[Any]:
    match step:
        case Members(names) if len(names) > 1 and leaf:
            return [{name: value[name] for name in names if name in value}]
        case Members(names):
            return [value[name] for name in names if name in value]
        case Indices(indices):
            size = len(value)
            wrapped = (index + size if index < 0 else index for index in indices)
            return [value[index] for index in wrapped if 0 <= index < size]
        case Slice(start, stop):
            return list(value[start:stop])
        case _:
            return list(
                value.values()
                if isinstance(value, dict)
                else value
                if isinstance(value, list)
                else []
            )


def _self_and_descendants(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _self_and_descendants(inner)


def _can_apply(value: Any, step: Step) -> bool:
    match step:
        case Members(names):
            return isinstance(value, dict) and all(name in value for name in names)
        case Indices() | Slice():
            return isinstance(value, list)
        case _:
            return True


# --- path evaluation -----------------------------------------------------------------------------


class JsonPathError(Exception):
    """Invalid JSON, an invalid path, or no match in strict mode: ON ERROR applies."""


def _evaluate(text: str, path: str) -> tuple[Any, bool]:
    """Return the value at a path, and whether the path is lax; ``$.a`` is strict.

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
        result = find(value, mode[2] if mode else path, lax=lax)
    except NoSuchPathError as error:
        raise JsonPathError(str(error)) from None
    if result is None and not lax:
        raise JsonPathError(f"the value at {path!r} is null")
    return result, lax


def _fallback(behavior: str, default: str | None, problem: str) -> str | None:
    if behavior == "ERROR":
        raise UdfError(problem)
    return {"DEFAULT": default, "EMPTY ARRAY": "[]", "EMPTY OBJECT": "{}"}.get(behavior)


#: RETURNING type -> whether Java casts a parsed value to it.
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
    """Return the result of JSON_QUERY by a clause other than ERROR."""
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
    if value is None:
        return None
    return [
        element
        if element is None
        else scalar_string(element)
        if is_scalar(element)
        else serialize(element)
        for element in value
    ]


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
    """Return whether a parsed value is an OBJECT, ARRAY, SCALAR or any VALUE."""
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
