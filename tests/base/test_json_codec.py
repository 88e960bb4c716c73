"""Values of dataclasses as JSON, read strictly."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any

import pytest

from schema_core.base.json_codec import (
    Codec,
    Codecs,
    DocumentFormat,
    JsonError,
    digest,
    enumeration,
    parse_json,
    record,
    union_codec,
)
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectPath
from schema_core.errors import SchemaError


class Color(Enum):
    """An enumeration."""

    RED = "r"


@dataclass(frozen=True, slots=True)
class Inner:
    """A member."""

    name: str
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Outer:
    """A dataclass with fields of each kind."""

    inner: tuple[Inner, ...]
    names: dict[str, str]
    flag: bool
    data: bytes | None
    color: Color


CODECS = Codecs({"Color": enumeration(Color)})
CODECS.update({"Inner": record(Inner, CODECS, {"size": "length", "name": "name"})})
CODECS.update({"dict[str, str]": CODECS["Mapping[str, str]"]})
OUTER = record(Outer, CODECS)
VALUE = Outer((Inner("a"), Inner("b", 2)), {"k": "v"}, True, b"\x00\xff", Color.RED)
JSON: dict[str, Any] = {
    "inner": [{"length": None, "name": "a"}, {"length": 2, "name": "b"}],
    "names": {"k": "v"},
    "flag": True,
    "data": "AP8=",
    "color": "RED",
}


def test_values_round_trip() -> None:
    assert JSON == OUTER.encode(VALUE)
    assert list(JSON["inner"][0]) == list(OUTER.encode(VALUE)["inner"][0])
    assert VALUE == OUTER.decode(json.loads(json.dumps(JSON)))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"more": 1}, ("expected an object with the keys inner, names, flag, data, color, got the "
                      "keys ['color', 'data', 'flag', 'inner', 'more', 'names']")),
        ({"inner": {}}, "inner: expected a list, got dict"),
        ({"inner": [1]}, "inner[0]: expected an object with the keys length, name, got int"),
        ({"inner": [{"length": True, "name": "a"}]},
         "inner[0].length: expected an integer, got bool"),
        ({"inner": [{"length": 1.0, "name": "a"}]},
         "inner[0].length: expected an integer, got float"),
        ({"inner": [{"name": "a"}]},
         "inner[0]: expected an object with the keys length, name, got the keys ['name']"),
        ({"names": {"k": None}}, "names.k: expected a string, got None"),
        ({"names": []}, "names: expected an object, got list"),
        ({"flag": 1}, "flag: expected a boolean, got int"),
        ({"data": "?"}, "data: expected base64"),
        ({"color": "r"}, "color: unknown Color 'r'"),
    ],
)  # fmt: skip
def test_other_values_are_refused_with_their_path(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(JsonError) as caught:
        OUTER.decode({**JSON, **changes})

    assert problem == str(caught.value)


def test_what_a_constructor_refuses_is_refused() -> None:
    paths = record(ObjectPath, Codecs({}))

    with pytest.raises(JsonError) as caught:
        paths.decode({"database_name": "d", "object_name": ""})

    assert "" != caught.value.problem


def test_kinds_are_members() -> None:
    codec = union_codec("kind", {"inner": CODECS["Inner"]}, lambda value: "inner")

    assert {"kind": "inner", "length": None, "name": "a"} == codec.encode(Inner("a"))
    assert Inner("a") == codec.decode({"name": "a", "length": None, "kind": "inner"})
    others: list[Any] = [{"length": None, "name": "a"}, {"kind": "outer"}, {"kind": []}, 1]
    for document in others:
        with pytest.raises(JsonError):
            codec.decode(document)


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, "9" * 5_000, '{"a": 1, "a": 1}', " " * 6_000 + "1"]
)
def test_text_is_bounded_and_has_no_repeated_keys(text: str) -> None:
    with pytest.raises(JsonError):
        parse_json(text, 5_999)


FORMAT = DocumentFormat(
    "test", 1, 200, Codec(CODECS["Inner"].encode, CODECS["Inner"].decode), "hint", "a"
)


def test_documents_have_a_digest() -> None:
    text = FORMAT.write(Inner("ü"))

    assert Inner("ü") == FORMAT.read(text)
    content = json.loads(text)
    assert content.pop("digest") == digest(content) == digest(FORMAT.content(Inner("ü")))


def changed(**members: Any) -> str:
    """A document with other members and their digest."""
    content = {**FORMAT.content(Inner("a")), **members}
    return json.dumps({"digest": digest(content), **content})


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[]", "a"),
        (changed(format="other"), "a"),
        (changed(version=True), "a"),
        (changed(version=2), "version-not-supported"),
        (changed(name=1), "a"),
        (changed(more=1), "a"),
        (changed(digest="sha256:"), "a"),
        (json.dumps(FORMAT.content(Inner("a"))), "a"),
        (FORMAT.write(Inner("a")).replace('"a"', '"b"'), "a"),
        (FORMAT.write(Inner("a")) + " " * 200, "a"),
    ],
)
def test_other_documents_are_refused(text: str, code: str) -> None:
    with pytest.raises(SchemaError) as caught:
        FORMAT.read(text)

    assert (code, "hint") == (caught.value.code, caught.value.hint)


def test_a_document_that_would_be_refused_is_not_written() -> None:
    with pytest.raises(SchemaError) as caught:
        FORMAT.write(Inner("x" * 200))

    assert "a" == caught.value.code
