"""The part of the contract that is about what was expected, and about what is not resolved.

An alteration is a row: how the object is read, altered and dropped, and two definitions for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.materialized import CatalogMaterializedTable
from schema_core.catalog.objects import CatalogDatabase, CatalogModel, CatalogTable, CatalogView
from schema_core.catalog.partitions import CatalogPartition
from schema_core.catalog.resolve import origin
from schema_core.errors import ConflictError, SchemaError, UnsupportedError
from schema_core.testing.catalog_cases import (
    EVENTS,
    FUNCTION_PATH,
    MODEL_PATH,
    NOTHING,
    ORDERS,
    RECENT,
    SPEC,
    VIEW,
)
from schema_core.testing.catalog_contract_base import ContractBase, need, state
from schema_core.testing.catalog_samples import FUNCTIONS, MODEL, PLAIN, TABLES

#: What must not be seen in what a conflict says.
CANARY = "canary-8361"
MINE, THEIRS = {"writer": "me", "password": CANARY}, {"writer": "them"}


class Alteration(NamedTuple):
    """How one kind of object is read, altered and dropped; what two writers make of it."""

    needs: Capability | None
    read: Callable[[Catalog], Any]
    alter: Callable[..., None]
    drop: Callable[[Catalog], None]
    mine: Any
    theirs: Any


ALTERATIONS = {
    "database": Alteration(
        None,
        lambda c: c.get_database("db"),
        lambda c, new, ignore, **more: c.alter_database("db", new, ignore, **more),
        lambda c: c.drop_database("db", False, True),
        CatalogDatabase(MINE, "mine"),
        CatalogDatabase(THEIRS),
    ),
    "table": Alteration(
        None,
        lambda c: c.get_table(ORDERS),
        lambda c, new, ignore, **more: c.alter_table(ORDERS, new, ignore, **more),
        lambda c: c.drop_table(ORDERS, False),
        TABLES["plain"].copy(MINE),
        TABLES["every clause"].copy(THEIRS),
    ),
    "view": Alteration(
        None,
        lambda c: c.get_table(RECENT),
        lambda c, new, ignore, **more: c.alter_table(RECENT, new, ignore, **more),
        lambda c: c.drop_table(RECENT, False),
        VIEW.copy(MINE),
        TABLES["view without more"].copy(THEIRS),
    ),
    "partition": Alteration(
        Capability.PARTITIONS,
        lambda c: c.get_partition(EVENTS, SPEC),
        lambda c, new, ignore, **more: c.alter_partition(EVENTS, SPEC, new, ignore, **more),
        lambda c: c.drop_partition(EVENTS, SPEC, False),
        CatalogPartition(MINE, "mine"),
        CatalogPartition(THEIRS),
    ),
    "function": Alteration(
        Capability.FUNCTIONS,
        lambda c: c.get_function(FUNCTION_PATH),
        lambda c, new, ignore, **more: c.alter_function(FUNCTION_PATH, new, ignore, **more),
        lambda c: c.drop_function(FUNCTION_PATH, False),
        FUNCTIONS["every clause"],
        FUNCTIONS["Python"],
    ),
    "model": Alteration(
        Capability.MODELS,
        lambda c: c.get_model(MODEL_PATH),
        lambda c, new, ignore, **more: c.alter_model(MODEL_PATH, new, ignore, **more),
        lambda c: c.drop_model(MODEL_PATH, False),
        MODEL.copy(MINE),
        MODEL.copy(THEIRS),
    ),
}

every_kind = pytest.mark.parametrize("kind", ALTERATIONS)

#: Tables of each kind as a catalog gives them: without types.
UNRESOLVED = {
    "plain": CatalogTable,
    "every clause": CatalogTable,
    "view": CatalogView,
    "materialized table": CatalogMaterializedTable,
}


class VersionChecks(ContractBase):
    """Of two who alter what they have read, one wins and the other is told."""

    #: The kinds of objects whose expectations a catalog with `Capability.VERSIONS` compares.
    compares: tuple[str, ...] = tuple(ALTERATIONS)

    def _versioned(self, catalog: Catalog, kind: str) -> Alteration:
        """The row, where the catalog keeps such things and compares them."""
        need(catalog, Capability.VERSIONS)
        need(catalog, ALTERATIONS[kind].needs)
        if kind not in self.compares:
            pytest.skip(f"{type(catalog).__name__} does not compare this")
        return ALTERATIONS[kind]

    @every_kind
    def test_what_was_expected_is_altered(self, furnished: Catalog, kind: str) -> None:
        """Who has read what there is may alter it, again and again."""
        one = self._versioned(furnished, kind)
        one.alter(furnished, one.mine, False, expected=one.read(furnished))
        read = one.read(furnished)
        one.alter(furnished, one.theirs, False, expected=read)

        assert read != one.read(furnished)
        one.alter(furnished, one.mine, False, expected=one.read(furnished))
        assert read == one.read(furnished)

    @every_kind
    def test_slower_one_gets_a_conflict(self, furnished: Catalog, kind: str) -> None:
        """It shows both, but no secret; what the faster one wrote stays."""
        one = self._versioned(furnished, kind)
        one.alter(furnished, one.mine, False)
        read = one.read(furnished)
        one.alter(furnished, one.theirs, False)
        before, found = state(furnished), one.read(furnished)

        for ignore in (False, True):
            with pytest.raises(ConflictError) as caught:
                one.alter(furnished, one.mine, ignore, expected=read)

            assert (read, found) == (
                _without_types(caught.value.expected),
                _without_types(caught.value.found),
            )
            assert CANARY not in f"{caught.value}{caught.value!r}"
        assert before == state(furnished)

    @every_kind
    def test_what_was_dropped_is_a_conflict(self, furnished: Catalog, kind: str) -> None:
        """Nothing is there instead; whoever ignores what is not there is not told."""
        one = self._versioned(furnished, kind)
        read = one.read(furnished)
        one.drop(furnished)
        before = state(furnished)

        with pytest.raises(ConflictError) as caught:
            one.alter(furnished, one.mine, False, expected=read)
        one.alter(furnished, one.mine, True, expected=read)

        assert (read, None) == (_without_types(caught.value.expected), caught.value.found)
        assert before == state(furnished)

    def test_what_was_resolved_is_expected_as_well(self, furnished: Catalog) -> None:
        """The resolved twin of what was read, as an environment has it, is no other table."""
        need(furnished, Capability.VERSIONS)
        furnished.alter_table(ORDERS, PLAIN.copy(THEIRS), False, expected=PLAIN)

        assert THEIRS == furnished.get_table(ORDERS).get_options()
        with pytest.raises(ConflictError):
            furnished.alter_table(ORDERS, PLAIN, False, expected=PLAIN)

    # --- only resolved objects go in, and unresolved ones come out -----------------------------

    @pytest.mark.parametrize("name", UNRESOLVED)
    def test_what_comes_out_is_not_resolved(self, catalog: Catalog, name: str) -> None:
        """Of whatever kind, created and altered (FLIP-164)."""
        if name == "materialized table":
            need(catalog, Capability.MATERIALIZED_TABLES)
        catalog.create_table(NOTHING, TABLES[name], False)
        created = catalog.get_table(NOTHING)
        catalog.alter_table(NOTHING, TABLES[name], False)

        assert UNRESOLVED[name] is type(created) is type(catalog.get_table(NOTHING))

    def test_model_that_comes_out_is_not_resolved(self, furnished: Catalog) -> None:
        """As tables."""
        need(furnished, Capability.MODELS)
        assert CatalogModel is type(furnished.get_model(MODEL_PATH))

    @pytest.mark.parametrize("name", UNRESOLVED)
    def test_unresolved_table_is_refused(self, catalog: Catalog, name: str) -> None:
        """Neither created nor put in place of another; only what is resolved goes in (FLIP-164)."""
        self._require_refusal()
        if name == "materialized table":
            need(catalog, Capability.MATERIALIZED_TABLES)
        catalog.create_table(ORDERS, TABLES[name], False)
        before = state(catalog)

        for call in (catalog.create_table, catalog.alter_table):
            with pytest.raises(SchemaError) as caught:
                call(
                    NOTHING if call == catalog.create_table else ORDERS, origin(TABLES[name]), True
                )

            assert caught.value.code == "unresolved-object"
        assert before == state(catalog)

    def test_unresolved_model_is_refused(self, furnished: Catalog) -> None:
        """As tables."""
        self._require_refusal()
        need(furnished, Capability.MODELS)
        before = state(furnished)

        for call, path in ((furnished.create_model, NOTHING), (furnished.alter_model, MODEL_PATH)):
            with pytest.raises(SchemaError) as caught:
                call(path, origin(MODEL), True)

            assert caught.value.code == "unresolved-object"
        assert before == state(furnished)

    def _require_refusal(self) -> None:
        if not self.refuses_unresolved:
            pytest.skip("this catalog takes tables without types")

    def test_what_is_altered_is_of_the_same_kind(self, furnished: Catalog) -> None:
        """Also where it was expected."""
        need(furnished, Capability.VERSIONS)
        before = state(furnished)

        with pytest.raises(SchemaError) as caught:
            furnished.alter_table(ORDERS, VIEW, False, expected=furnished.get_table(ORDERS))

        assert caught.value.code == "wrong-table-kind"
        assert before == state(furnished)

    @every_kind
    def test_what_is_not_compared_is_not_altered(self, furnished: Catalog, kind: str) -> None:
        """Whoever expects something is told that nobody looks."""
        one = ALTERATIONS[kind]
        need(furnished, one.needs)
        if Capability.VERSIONS in furnished.capabilities and kind in self.compares:
            pytest.skip(f"{type(furnished).__name__} compares this")
        before, read = state(furnished), one.read(furnished)

        with pytest.raises(UnsupportedError) as caught:
            one.alter(furnished, one.mine, False, expected=read)

        assert caught.value.code == "unsupported-capability"
        assert before == state(furnished)


def _without_types(kept: Any) -> Any:
    return origin(kept) if hasattr(kept, "options") and not hasattr(kept, "class_name") else kept
