"""Strict codecs of JSON, by the annotations of the fields of dataclasses.

A codec reads what it writes and refuses all else: keys that are missing, unknown or repeated, and
values of other types. `JsonError` has the path of the value.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from enum import Enum
from itertools import repeat
from typing import Any, Final

from schema_core.base.arguments import type_name
from schema_core.base.lazy import dataclass
from schema_core.base.text import show
from schema_core.errors import SchemaCoreError, SchemaError


class JsonError(Exception):
    """JSON that a codec does not read: the problem, and the path of the value.

    >>> print(JsonError("expected a string, got int", ("columns", 0, "name")))
    columns[0].name: expected a string, got int
    """

    def __init__(self, problem: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(problem, path)
        self.problem, self.path = problem, path

    def __str__(self) -> str:
        steps = (
            f"[{step}]" if isinstance(step, int) else f".{show(step)[1:-1]}" for step in self.path
        )
        where = "".join(steps).removeprefix(".")
        return f"{where}: {self.problem}" if where else self.problem


def _within(error: JsonError | SchemaCoreError, step: str | int) -> JsonError:
    path = error.path if isinstance(error, JsonError) else ()
    return JsonError(error.problem, (step, *path))


@contextmanager
def at_member(key: str) -> Iterator[None]:
    """Add a key to the paths of errors."""
    try:
        yield
    except (JsonError, SchemaCoreError) as error:
        raise _within(error, key) from None


@dataclass(frozen=True, slots=True)
class Codec:
    """A pair of functions between values and JSON.

    `decode` raises `JsonError` for what `encode` does not return.
    """

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


# --- values --------------------------------------------------------------------------------------


def _scalar(kind: type, noun: str) -> Codec:
    def decode(document: Any) -> Any:
        if type(document) is not kind:  # a bool is not an integer
            raise JsonError(f"expected {noun}, got {type_name(document)}")
        return document

    return Codec(kind, decode)


ANY: Final = Codec(lambda value: value, lambda document: document)
STRING: Final = _scalar(str, "a string")
INTEGER: Final = _scalar(int, "an integer")
BOOLEAN: Final = _scalar(bool, "a boolean")


def _decode_base64(document: Any) -> bytes:
    try:
        return base64.b64decode(STRING.decode(document), validate=True)
    except (binascii.Error, ValueError):
        raise JsonError("expected base64") from None


BYTES: Final = Codec(lambda value: base64.b64encode(value).decode(), _decode_base64)


def optional(codec: Codec) -> Codec:
    """Return the codec of values that may be None."""
    return Codec(
        lambda value: None if value is None else codec.encode(value),
        lambda document: None if document is None else codec.decode(document),
    )


def _decode_members(document: list[Any], codecs: Iterable[Codec]) -> tuple[Any, ...]:
    members: list[Any] = []
    try:
        for codec, member in zip(codecs, document, strict=False):
            members.append(codec.decode(member))
    except (JsonError, SchemaCoreError) as error:
        raise _within(error, len(members)) from None
    return tuple(members)


def sequence(codec: Codec, least: int = 0) -> Codec:
    """Return the codec of tuples of at least `least` members."""

    def decode(document: Any) -> tuple[Any, ...]:
        if not isinstance(document, list):
            raise JsonError(f"expected a list, got {type_name(document)}")
        if len(document) < least:
            raise JsonError(f"expected at least {least} members, got {len(document)}")
        return _decode_members(document, repeat(codec))

    return Codec(lambda values: [codec.encode(value) for value in values], decode)


def tuple_of(*codecs: Codec) -> Codec:
    """Return the codec of tuples with these members."""

    def decode(document: Any) -> tuple[Any, ...]:
        if not isinstance(document, list) or len(document) != len(codecs):
            shown = len(document) if isinstance(document, list) else type_name(document)
            raise JsonError(f"expected a list of {len(codecs)} members, got {shown}")
        return _decode_members(document, codecs)

    return Codec(
        lambda values: [codec.encode(value) for codec, value in zip(codecs, values, strict=True)],
        decode,
    )


def mapping(codec: Codec) -> Codec:
    """Return the codec of mappings by strings."""

    def decode(document: Any) -> dict[str, Any]:
        members, key = {}, ""
        items = require_object(document).items()
        try:
            for key, value in items:
                members[key] = codec.decode(value)
        except (JsonError, SchemaCoreError) as error:
            raise _within(error, key) from None
        return members

    return Codec(lambda values: {key: codec.encode(values[key]) for key in values}, decode)


def enumeration(kind: type[Enum], attribute: str = "name") -> Codec:
    """Return the codec of an enumeration, by the names or the values of its members."""
    members = {getattr(member, attribute): member for member in kind}

    def decode(document: Any) -> Any:
        if STRING.decode(document) not in members:
            raise JsonError(f"unknown {kind.__name__} {show(document)}")
        return members[document]

    return Codec(lambda value: getattr(value, attribute), decode)


def require_object(document: Any, keys: Collection[str] | None = None) -> dict[str, Any]:
    """Return an object of JSON, which has exactly these keys if any are passed.

    Raises:
        JsonError: for anything else; without values, which may be secret.
    """
    expected = "an object"
    if keys is not None:
        expected = f"an object with the keys {', '.join(keys)}" if keys else "an empty object"
    if not isinstance(document, dict):
        raise JsonError(f"expected {expected}, got {type_name(document)}")
    if keys is not None and document.keys() != set(keys):
        raise JsonError(f"expected {expected}, got {_show_keys(document)}")
    return document


def _show_keys(document: Mapping[str, Any]) -> str:
    return f"the keys {show(sorted(document))}" if document else "no keys"


# --- objects -------------------------------------------------------------------------------------


class Codecs:
    """Codecs by annotation; ``X | None``, tuples and mappings follow from ``X``.

    >>> Codecs({})["tuple[str | None, ...]"].decode(["a", None])
    ('a', None)
    """

    def __init__(self, codecs: Mapping[str, Codec]) -> None:
        self._codecs = {
            "str": STRING, "int": INTEGER, "bool": BOOLEAN, "bytes": BYTES, **codecs
        }  # fmt: skip

    def update(self, codecs: Mapping[str, Codec]) -> None:
        self._codecs.update(codecs)

    def __getitem__(self, annotation: str) -> Codec:
        if annotation not in self._codecs:
            for pattern, compose in COMPOSED.items():
                if match := re.fullmatch(pattern, annotation):
                    self._codecs[annotation] = compose(self[match[1]])
                    break
        return self._codecs[annotation]


#: pattern of an annotation -> its codec from that of its part
COMPOSED: Final[Mapping[str, Callable[[Codec], Codec]]] = {
    r"(.+) \| None": optional,
    r"tuple\[(.+), \.\.\.\]": sequence,
    r"Mapping\[str, (.+)\]": mapping,
}


def record(
    kind: Callable[..., Any],
    codecs: Codecs,
    keys: Mapping[str, str] | None = None,
    added: Collection[str] = (),
) -> Codec:
    """Return the codec of a dataclass: an object of JSON with its fields.

    What the constructor refuses is refused. `keys` are the fields with their keys in JSON, in
    order; by default all fields by name. Documents of older versions do not have the fields
    `added`, which then have their defaults.
    """
    members: dict[str, tuple[str, Codec]] = {}

    def resolve() -> dict[str, tuple[str, Codec]]:
        if not members:  # the codecs of fields may be declared after that of the class
            kinds = {field.name: str(field.type) for field in fields(kind)}  # type: ignore[arg-type]
            named = (keys or dict(zip(kinds, kinds, strict=True))).items()
            members.update({name: (key, codecs[kinds[name]]) for name, key in named})
        return members

    def encode(value: Any) -> dict[str, Any]:
        return {key: codec.encode(getattr(value, name)) for name, (key, codec) in resolve().items()}

    def decode(document: Any) -> Any:
        present = {
            name: member
            for name, member in resolve().items()
            if name not in added or member[0] in require_object(document)
        }
        require_object(document, [key for key, _ in present.values()])
        values, key = {}, ""
        try:
            for name, (key, codec) in present.items():
                values[name] = codec.decode(document[key])
        except (JsonError, SchemaCoreError) as error:
            raise _within(error, key) from None
        try:
            return kind(**values)
        except SchemaCoreError as error:
            raise JsonError(error.problem) from None

    return Codec(encode, decode)


def union_codec(key: str, codecs: Mapping[str, Codec], tag_of: Callable[[Any], str]) -> Codec:
    """Return the codec of values of several kinds, by the member `key` of the object.

    `codecs` are for the other members, by kind; `tag_of` returns the kind of a value.
    """

    def encode(value: Any) -> dict[str, Any]:
        tag = tag_of(value)
        return {key: tag, **codecs[tag].encode(value)}

    def decode(document: Any) -> Any:
        members = dict(require_object(document))
        if key not in members:
            raise JsonError(f"expected an object with the key {key!r}, got {_show_keys(members)}")
        codec = codecs.get(str(tag := members.pop(key)))
        if codec is None:
            raise JsonError(f"unknown {key} {show(tag)}")
        return codec.decode(members)

    return Codec(encode, decode)


# --- documents -----------------------------------------------------------------------------------


def write_json(value: object, *, sort_keys: bool = False) -> str:
    """Return a value as JSON without spaces.

    >>> write_json({"b": 1, "a": None})
    '{"b":1,"a":null}'
    """
    return json.dumps(value, ensure_ascii=False, sort_keys=sort_keys, separators=(",", ":"))


def parse_json(text: str, limit: int | None = None) -> Any:
    """Return the value of JSON text.

    Raises:
        JsonError: for other text, more than `limit` characters, and repeated keys.
    """
    if limit is not None and len(text) > limit:
        raise JsonError(f"the document has {len(text):,} characters, at most {limit:,} are read")
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError):
        raise JsonError("the document is not JSON") from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("duplicate key")
    return members


def digest(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a document as canonical JSON."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    from hashlib import sha256  # slow to import

    return f"sha256:{sha256(text.encode('ascii')).hexdigest()}"


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """Documents with the name of their format, a version, and a digest of the rest.

    `limit` is the maximum length in characters; `codec` is for the other members. Invalid
    documents and other digests raise errors with `code` and `hint`, other versions with the code
    `version-not-supported`.
    """

    name: str
    version: int
    limit: int
    codec: Codec
    hint: str
    code: str

    def write(self, value: object) -> str:
        """Return a value as a document.

        Raises:
            SchemaError: for a document that `read` would refuse as too long.
        """
        content = self.content(value)
        text = json.dumps({**content, "digest": digest(content)}, indent=2, ensure_ascii=False)
        if len(text) > self.limit:
            problem = f"the document has {len(text):,} characters, at most {self.limit:,} are read"
            raise SchemaError(problem, code=self.code, hint=self.hint)
        return text

    def content(self, value: object) -> dict[str, Any]:
        """Return a value as objects of JSON, without the digest."""
        return {"format": self.name, "version": self.version, **self.codec.encode(value)}

    def read(self, text: str) -> Any:
        """Return the value of a document of `write`.

        Raises:
            SchemaError: for any other document.
        """
        try:
            return self.codec.decode(self._open(text))
        except JsonError as error:
            raise SchemaError(str(error), code=self.code, hint=self.hint) from None

    def _open(self, text: str) -> dict[str, Any]:
        content = require_object(parse_json(text, self.limit))
        if content.get("format") != self.name:
            shown = show(content.get("format"))
            raise JsonError(f"expected a document of format {self.name!r}, got {shown}")
        version = INTEGER.decode(content.get("version"))
        if version != self.version:
            problem = f"the document has version {version}, expected {self.version}"
            raise SchemaError(problem, code="version-not-supported", hint=self.hint)
        if "digest" not in content:
            raise JsonError("the document has no digest")
        if content.pop("digest") != digest(content):
            problem = "digest mismatch: the document was modified"
            raise SchemaError(problem, code=self.code, hint=self.hint)
        del content["format"], content["version"]
        return content
