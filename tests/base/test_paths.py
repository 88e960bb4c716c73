from __future__ import annotations

import pytest

from schema_core.base.paths import ObjectIdentifier, ObjectPath, UnresolvedPath, parse_path
from schema_core.base.text import MAX_TEXT
from schema_core.errors import ParseError, SchemaError
from tests.support import cases, listed


@pytest.mark.parametrize(("text", "expected"), cases("paths"))
def test_path_string(text: str, expected: str) -> None:
    if expected.startswith("!"):
        with pytest.raises(ParseError) as caught:
            parse_path(text)
        assert expected == f"! {caught.value.code}"
    else:
        assert listed(expected) == list(parse_path(text).parts)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("\ta\r\n.\fb ",     ("a", "b")),
        ("a // c\n.b",       ("a", "b")),
        ("`a\u00a0`",        ("a\u00a0",)),
        ("````",             ("`",)),
        ("!=",               ("!=",)),
        ("e\u0301",         ("e\u0301",)),
        ("a" * 256,          ("a" * 256,)),
    ],
)  # fmt: skip
def test_unusual_path_string(text: str, parts: tuple[str, ...]) -> None:
    assert parts == parse_path(text).parts


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("",                        "syntax"),
        ("\n",                      "syntax"),
        ("a\u00a0",                 "syntax"),
        ("`a\nb`",                  "syntax"),
        ("\u212a",                  "syntax"),
        ("`\u2003`",                "invalid-name"),
        ("a" * 257,                 "name-not-supported"),
        ("`" + "😀" * 129 + "`",    "name-not-supported"),
        ("a" * (MAX_TEXT + 1),      "limit-exceeded"),
    ],
    ids=lambda value: ascii(value)[:12],
)  # fmt: skip
def test_invalid_path_string_is_refused(text: str, code: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_path(text)

    assert code == caught.value.code


def test_error_has_its_position() -> None:
    with pytest.raises(ParseError) as caught:
        parse_path("sales.my-table")

    assert (8, 9) == caught.value.span


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["t"],            ["c", "d", "t"]),
        (["x", "t"],       ["c", "x", "t"]),
        (["y", "x", "t"],  ["y", "x", "t"]),
    ],
)  # fmt: skip
def test_qualify(parts: list[str], expected: list[str]) -> None:
    assert expected == UnresolvedPath(parts).qualify("c", "d").to_list()


@pytest.mark.parametrize(
    ("catalog", "database", "code"),
    [
        (None,         "d",   "current-database-not-set"),
        ("c",          None,  "current-database-not-set"),
        (None,         None,  "current-database-not-set"),
        ("<UNKNOWN>",  "d",   "invalid-name"),
    ],
)  # fmt: skip
def test_qualify_without_a_current_catalog(
    catalog: str | None, database: str | None, code: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        UnresolvedPath(["t"]).qualify(catalog, database)

    assert code == caught.value.code


def test_a_full_path_requires_no_current_catalog() -> None:
    assert UnresolvedPath("cdt").qualify(None, None) == ObjectIdentifier.of("c", "d", "t")


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ([],                    "invalid-path"),
        (["a", "b", "c", "d"],  "invalid-path"),
        ([""],                  "invalid-name"),
        (["a", " "],            "invalid-name"),
        (["a", None],           "invalid-name"),
    ],
)  # fmt: skip
def test_invalid_path(parts: list[str | None], code: str) -> None:
    with pytest.raises(SchemaError) as caught:
        UnresolvedPath(parts)

    assert code == caught.value.code


def test_parts_by_name() -> None:
    full, short = UnresolvedPath("cdt"), UnresolvedPath("t")

    assert ("c", "d", "t") == (full.catalog_name, full.database_name, full.object_name)
    assert (None, None, "t") == (short.catalog_name, short.database_name, short.object_name)


def test_object_identifier() -> None:
    identifier = ObjectIdentifier.of("c", "d.x", "t`s")

    assert "`c`.`d.x`.`t``s`" == str(identifier) == identifier.as_serializable_string()
    assert "c.d.x.t`s" == identifier.as_summary_string()
    assert ObjectPath("d.x", "t`s") == identifier.to_object_path()
    assert identifier.to_list() == list(parse_path(str(identifier)).parts)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("db.tbl",      ("db", "tbl")),
        ("`a.b`",       ("`a", "b`")),
        ("a.b..",       ("a", "b")),
        (" a.b ",       (" a", "b ")),
        ("a\u00a0.b",   ("a\u00a0", "b")),
    ],
)  # fmt: skip
def test_object_path_from_string(text: str, names: tuple[str, str]) -> None:
    path = ObjectPath.from_string(text)

    assert names == (path.get_database_name(), path.get_object_name())
    assert ".".join(names) == path.get_full_name() == str(path)


@pytest.mark.parametrize("text", ["", "a", "a.b.c", ".", "a.", ".b", "a..b", "a. "])
def test_invalid_object_path(text: str) -> None:
    with pytest.raises(SchemaError):
        ObjectPath.from_string(text)


def test_object_paths_sort_by_their_full_names() -> None:
    paths = [ObjectPath("b", "a"), ObjectPath("a", "b"), ObjectPath("a", "a")]

    assert ["a.a", "a.b", "b.a"] == [str(path) for path in sorted(paths)]
    assert paths[0].compare_to(paths[1]) > 0
    assert paths[0].compare_to(paths[0]) == 0
    with pytest.raises(TypeError):
        _ = paths[0] < "a.a"
