"""The structure of the package: no cycles of files, few entries at the top, no upward imports."""

from __future__ import annotations

import ast

import pytest

from tests import structure
from tests.structure import PACKAGE, Module


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    return structure.read_package(PACKAGE)


def test_no_module_imports_itself_over_others(modules: dict[str, Module]) -> None:
    """Also an import in a function, or for types only, is part of a cycle."""
    assert [] == structure.cycles(structure.import_graph(modules))


def test_the_package_has_few_entries_at_the_top() -> None:
    assert len(structure.top_entries(PACKAGE)) <= 20


def test_no_layer_imports_a_higher_one(modules: dict[str, Module]) -> None:
    assert [] == structure.upward_imports(PACKAGE, modules)


def test_cycles_are_strongly_connected_components() -> None:
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": set[str](), "f": {"e"}}

    assert [["a", "b", "c"]] == structure.cycles(graph)


def test_imports_are_found_wherever_they_are() -> None:
    tree = ast.parse(
        "from p import a, name\nif TYPE_CHECKING:\n    import p.b\n"
        "def f():\n    from p.c import x\n"
    )
    result = list(structure.imports_of(tree, {"p", "p.a", "p.b", "p.c"}))

    assert [
        ("p", False, False),
        ("p.a", False, False),
        ("p.b", False, True),
        ("p.c", True, False),
    ] == [(target.module, target.in_function, target.for_types) for target in result]


@pytest.mark.parametrize("word", ["merged", "written", "kept"])
def test_participles(word: str) -> None:
    assert structure.is_participle(word)


@pytest.mark.parametrize("word", ["open", "need", "merge", "merged_rows"])
def test_other_words(word: str) -> None:
    assert not structure.is_participle(word)
