"""Catalog factories: declared options, and validation before they are called."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import pytest

from schema_core.base import plugins
from schema_core.catalog.api import Catalog
from schema_core.catalog.registry import (
    CatalogFactory,
    factory_of,
    make_catalog,
    masked_configuration,
)
from schema_core.catalog.stores.catalog_store import CatalogDescriptor
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.environment.options import ConfigOption, integer
from schema_core.errors import NotFoundError, SchemaCoreError, SchemaError

URL = ConfigOption("url", str, required=True)
SIZE = ConfigOption("size", integer, 3, fallback_keys=("length",), deprecated_keys=("width",))
CODE = ConfigOption("combination-of-the-vault", integer, secret=True)

#: The arguments of the last created catalog.
MADE: list[Mapping[str, str]] = []


def make(name: str, options: Mapping[str, str]) -> Catalog:
    """A catalog in memory."""
    MADE.append(options)
    return InMemoryCatalog(name)


def make_nothing(name: str, options: Mapping[str, str]) -> Any:
    """Something that is not a catalog."""
    return name


@pytest.fixture(autouse=True)
def factories(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a factory with declared options, one with keys only, and an invalid one."""
    for kind, factory in {
        "declared": CatalogFactory((URL, SIZE, CODE), make),
        "keys": CatalogFactory(frozenset({"url"}), make),
        "wrong": CatalogFactory((), make_nothing),
    }.items():
        register(monkeypatch, kind, factory)


def register(monkeypatch: pytest.MonkeyPatch, kind: str, factory: object) -> None:
    """Register an object as the factory of a type of catalog."""
    monkeypatch.setattr(sys.modules[__name__], f"factory_{kind}", factory, raising=False)
    monkeypatch.setitem(plugins.OWN[plugins.CATALOGS], kind, f"{__name__}:factory_{kind}")


def create(kind: str, **options: str) -> Catalog:
    """Return the catalog of these options; ``_`` replaces a hyphen."""
    named = {key.replace("_", "-"): value for key, value in options.items()}
    return make_catalog(CatalogDescriptor.of("c", {"type": kind, **named}))


@pytest.mark.parametrize(
    "options", [{"url": "x"}, {"url": "x", "length": "4"}, {"url": "", "width": "5"}]
)
def test_options_reach_the_catalog_as_given(options: dict[str, str]) -> None:
    create("declared", **options)

    assert options == MADE[-1]
    assert SIZE.of(MADE[-1]) in (3, 4, 5)


def test_all_option_errors_are_reported_at_once() -> None:
    with pytest.raises(SchemaError) as caught:
        create("declared", size="two", urll="x")

    codes = {diagnostic.code: diagnostic.hint for diagnostic in caught.value.diagnostics}
    assert {"missing-option", "invalid-option-value", "unknown-option"} == set(codes)
    assert codes["unknown-option"] == "did you mean 'url'?"


def test_secret_option_values_are_not_in_the_error() -> None:
    with pytest.raises(SchemaError) as caught:
        create("declared", url="x", combination_of_the_vault="hunter2")

    assert caught.value.code == "invalid-option-value"
    assert "hunter2" not in str(caught.value)
    descriptor = CatalogDescriptor.of("c", {"type": "declared", "Combination-of-the-vault": "1234"})
    assert "1234" not in str(masked_configuration(descriptor))


def test_a_factory_that_declares_only_keys() -> None:
    create("keys")
    with pytest.raises(SchemaError) as caught:
        create("keys", urll="x")

    assert caught.value.code == "unknown-option"
    assert caught.value.hint == "did you mean 'url'?"


def test_a_factory_must_return_a_catalog() -> None:
    with pytest.raises(SchemaError) as caught:
        create("wrong")

    assert caught.value.code == "invalid-argument"


@pytest.mark.parametrize(
    ("options", "function"),
    [
        ("url", make),
        (None, make),
        (("url",), make),
        (frozenset({1}), make),
        ((URL,), "make"),
        (3, make),
    ],
)
def test_an_object_that_is_not_a_factory_is_refused(options: Any, function: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        CatalogFactory(options, function)

    assert caught.value.code == "invalid-argument"


def test_an_entry_point_must_name_a_factory(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "nothing", InMemoryCatalog)
    with pytest.raises(NotFoundError) as caught:
        factory_of("nothing")

    assert caught.value.code == "not-loadable"
    assert isinstance(caught.value, SchemaCoreError)
