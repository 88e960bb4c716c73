"""The names of PyFlink are compared with ours, and each difference has a reason."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from docs import pyflink_facts
from docs.pyflink_reasons import BEHAVIOR, REASONS
from docs.pyflink_tables import ABSENT, DIFFERS, SAME, Compared, accepts, compared, recorded
from docs.pyflink_tables import signature_of as signature


def test_every_difference_has_a_reason_and_every_reason_a_difference() -> None:
    different = [one for one in compared() if one.status != SAME]

    assert [] == [f"{one.key}: {one.status} {one.found}" for one in different if not one.reason]
    used = {one.cause for one in different}
    assert [] == [key for key in {**REASONS, **BEHAVIOR} if key not in used], (
        "these names are the same now: remove their reasons"
    )


def test_most_names_of_the_table_api_are_the_same() -> None:
    table_api = [one for one in compared() if one.module.startswith("pyflink.table")]
    same = [one for one in table_api if one.status == SAME]

    assert len(table_api) > 1200
    assert len(same) >= 960


def test_the_recorded_names_are_names_only() -> None:
    """Facts about an interface: no docstring, no default value and no code."""
    for module, names in recorded().items():
        for text in texts(names):
            assert "\n" not in text, module
            assert len(text) < 250, (module, text)


def texts(value: object) -> list[str]:
    match value:
        case dict():
            return [*value, *(text for one in value.values() for text in texts(one))]
        case list():
            return [text for one in value for text in texts(one)]
        case _:
            return [str(value)]


SOURCE = """
__all__ = ["Thing", "Other"]
from elsewhere import Other

@PublicEvolving()
class Thing(Base):
    LIMIT = 3
    def __init__(self, name, size=1): ...
    def grow(self, by: int, *rest, **options) -> None: "documentation"
    def _get_j_thing(self): ...
    def of_java(self, j_thing): ...
    @staticmethod
    def of(name=None): ...
    @property
    def width(self): ...
    class Inner: ...
    @Internal()
    def hidden(self): ...

def _private(): ...
def make(a, *, b=1): ...
"""


def test_names_are_read_from_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as wheel:
        wheel.writestr("pyflink/table/thing.py", SOURCE)
        wheel.writestr("pyflink/table/tests/test_thing.py", SOURCE)
        wheel.writestr("pyflink/datastream/thing.py", SOURCE)
    file = tmp_path / "apache_flink-9.9.9-any.whl"
    file.write_bytes(content.getvalue())
    monkeypatch.setattr(pyflink_facts, "NAMES", tmp_path / "names.json")
    monkeypatch.setattr("docs.pyflink_tables.NAMES", tmp_path / "names.json")

    pyflink_facts.main(str(file))

    members = {
        "LIMIT": "constant",
        "__init__": "method(name, size=)",
        "grow": "method(by, *rest, **options)",
        "of": "staticmethod(name=)",
        "width": "property",
        "Inner": {"bases": [], "members": {}},
    }
    expected = {
        "Thing": {"bases": ["Base"], "members": members},
        "Other": "imported",
        "make": "function(a, b=)",
    }
    assert {"pyflink.table.thing": expected} == recorded()


def positional(a: object, b: object = None) -> None: ...
def keywords(a: object, *, b: object = None) -> None: ...
def anything(*names: object) -> None: ...
def demanding(a: object, b: object) -> None: ...


@pytest.mark.parametrize(
    ("parameters", "function", "is_accepted"),
    [
        (["a"], positional, True),
        (["a", "b="], positional, True),
        (["b", "a"], positional, False),
        (["a", "b=", "c="], positional, False),
        (["a", "b="], demanding, False),
        (["a"], demanding, False),
        (["*names"], anything, True),
        (["a", "*names"], anything, True),
        (["*names"], positional, False),
        (["a"], keywords, True),
    ],
)
def test_parameters_are_compared(
    parameters: list[str], function: object, is_accepted: bool
) -> None:
    own = signature(function)

    assert own is not None
    assert is_accepted == accepts(parameters, own, bound=False)


def test_absent_and_different_names_are_found() -> None:
    found = {one.key: one for one in compared()}

    assert isinstance(found["pyflink.table.table.Table.select"], Compared)
    assert SAME == found["pyflink.table.table.Table.select"].status
    assert ABSENT == found["pyflink.table.module.HiveModule"].status
    assert DIFFERS == found["pyflink.table.types.RowType.add"].status
