"""What every catalog must do, as tests: subclass `CatalogContract` and say how yours is made.

The law of them all: what goes in comes out with the same meaning, and what is refused is refused
with the code that `Catalog` names and leaves everything as it was.
"""

from __future__ import annotations

from typing import Any

import pytest

from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.objects import CatalogDatabase, TableKind
from schema_core.catalog.partitions import CatalogPartitionSpec as Spec
from schema_core.errors import UnsupportedError
from schema_core.paths import ObjectPath
from schema_core.testing.catalog_cases import (
    DATABASE,
    EVENTS,
    FUNCTION_PATH,
    IGNORED,
    MODEL_PATH,
    NOTHING,
    ORDERS,
    OTHER,
    PARTITION,
    RECENT,
    REFUSED,
    SPEC,
    WITHOUT,
    Call,
    kind_of,
)
from schema_core.testing.catalog_contract_base import by_name, need, refused_name, state
from schema_core.testing.catalog_contract_shared import LimitChecks, SharingChecks
from schema_core.testing.catalog_contract_types import TypeChecks
from schema_core.testing.catalog_contract_versions import VersionChecks
from schema_core.testing.catalog_samples import (
    FUNCTIONS,
    MODEL,
    MODELS,
    ODD_NAMES,
    PLAIN,
    TABLES,
    understood,
    understood_model,
)

#: What a catalog must keep to be given a table of this kind.
NEEDED = {TableKind.MATERIALIZED_TABLE: Capability.MATERIALIZED_TABLES}


class CatalogContract(VersionChecks, TypeChecks, SharingChecks, LimitChecks):
    """The tests of a catalog. Databases other than the default one and `db` are not expected."""

    # --- refused and ignored -------------------------------------------------------------------

    @pytest.mark.parametrize(("needs", "call", "code"), by_name(REFUSED))
    def test_refused(
        self, furnished: Catalog, needs: Capability | None, call: Call, code: str
    ) -> None:
        """It is refused with its code and changes nothing."""
        need(furnished, needs)
        before = state(furnished)

        with pytest.raises(kind_of(code)) as caught:
            call(furnished)

        assert code == caught.value.code
        assert before == state(furnished)

    @pytest.mark.parametrize(("needs", "call"), by_name(IGNORED))
    def test_ignored(self, furnished: Catalog, needs: Capability | None, call: Call) -> None:
        """With the flag nothing happens."""
        need(furnished, needs)
        before = state(furnished)

        call(furnished)

        assert before == state(furnished)

    @pytest.mark.parametrize(("lacks", "call"), by_name(WITHOUT))
    def test_capability_that_is_not_there_is_refused(
        self, furnished: Catalog, lacks: Capability, call: Call
    ) -> None:
        """What `capabilities` does not name is refused, not ignored."""
        if lacks in furnished.capabilities:
            pytest.skip(f"{type(furnished).__name__} keeps {lacks.value}")

        with pytest.raises(UnsupportedError) as caught:
            call(furnished)

        assert caught.value.code == "unsupported-capability"

    def test_materialized_table_that_is_not_kept_is_refused(self, furnished: Catalog) -> None:
        """Created or altered, it is refused as any other thing that is not kept."""
        if Capability.MATERIALIZED_TABLES in furnished.capabilities:
            pytest.skip(f"{type(furnished).__name__} keeps materialized tables")

        with pytest.raises(UnsupportedError) as caught:
            furnished.create_table(NOTHING, TABLES["materialized table"], True)

        assert caught.value.code == "unsupported-capability"
        assert not furnished.table_exists(NOTHING)

    # --- databases -----------------------------------------------------------------------------

    def test_default_database_exists(self, catalog: Catalog) -> None:
        """The default database, where there is one, is there from the beginning."""
        name = catalog.get_default_database()

        assert name is None or catalog.database_exists(name)

    def test_database_comes_back(self, catalog: Catalog) -> None:
        """Properties and comment are kept."""
        database = catalog.get_database("db")

        assert DATABASE.get_properties() == database.get_properties()
        assert DATABASE.get_comment() == database.get_comment()

    def test_database_is_altered(self, furnished: Catalog) -> None:
        """Another definition takes its place; what the database holds stays."""
        before = furnished.list_tables("db")

        furnished.alter_database("db", CatalogDatabase({"z": "1"}, "new"), False)

        database = furnished.get_database("db")
        assert ({"z": "1"}, "new") == (database.get_properties(), database.get_comment())
        assert before == furnished.list_tables("db")

    def test_database_is_dropped(self, catalog: Catalog) -> None:
        """An empty one without further ado."""
        catalog.drop_database("db", False)

        assert not catalog.database_exists("db")
        assert "db" not in catalog.list_databases()

    def test_database_is_dropped_with_all_it_holds(self, furnished: Catalog) -> None:
        """A new one of the same name has no tables and no functions."""
        furnished.drop_database("db", False, True)

        assert not furnished.table_exists(ORDERS)
        furnished.create_database("db", CatalogDatabase(), False)
        assert [] == furnished.list_tables("db") == furnished.list_views("db")
        assert [] == furnished.list_functions("db")
        assert not furnished.function_exists(FUNCTION_PATH)

    @pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
    def test_database_of_any_name(self, catalog: Catalog, name: str) -> None:
        """Names are texts: nothing in them means anything."""
        if not self.bears(name):
            refused_name(lambda: catalog.create_database(name, DATABASE, False))
            assert not catalog.database_exists(name)
            return
        catalog.create_database(name, DATABASE, False)
        catalog.create_table(ObjectPath(name, "t"), PLAIN, False)

        assert self.listed(name) in catalog.list_databases()
        assert ["t"] == catalog.list_tables(name)
        assert [] == catalog.list_tables("db")
        catalog.drop_database(name, False, True)
        assert not catalog.database_exists(name)

    # --- tables and views ----------------------------------------------------------------------

    @pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
    def test_table_comes_back(self, catalog: Catalog, table: Any) -> None:
        """With the same meaning: schema, options, keys, queries, comment."""
        need(catalog, NEEDED.get(table.get_table_kind()))
        catalog.create_table(NOTHING, table, False)

        assert catalog.table_exists(NOTHING)
        assert table == understood(catalog.get_table(NOTHING))
        assert table.get_table_kind() is catalog.get_table(NOTHING).get_table_kind()

    def test_lists_are_by_kind(self, furnished: Catalog) -> None:
        """Tables are all of them, each once; views are views."""
        if Capability.MATERIALIZED_TABLES in furnished.capabilities:
            furnished.create_table(ObjectPath("db", "mt"), TABLES["materialized table"], False)
            assert ["mt"] == furnished.list_materialized_tables("db")
            furnished.drop_table(ObjectPath("db", "mt"), False)

        assert ["p", "t", "v"] == sorted(furnished.list_tables("db"))
        assert ["v"] == furnished.list_views("db")

    @pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
    def test_table_is_altered(self, furnished: Catalog, table: Any) -> None:
        """Another definition of the same kind takes its place, and nothing of the old one stays."""
        need(furnished, NEEDED.get(table.get_table_kind()))
        furnished.create_table(NOTHING, table.copy({"old": "1"}), False)

        furnished.alter_table(NOTHING, table, False)

        assert table == understood(furnished.get_table(NOTHING))
        assert PLAIN == understood(furnished.get_table(ORDERS))

    def test_table_is_dropped(self, furnished: Catalog) -> None:
        """Only that one; a new one of its name has none of its partitions."""
        furnished.drop_table(EVENTS, False)

        assert not furnished.table_exists(EVENTS)
        assert ["t", "v"] == sorted(furnished.list_tables("db"))
        furnished.create_table(EVENTS, self.partitioned, False)
        if Capability.PARTITIONS in furnished.capabilities:
            assert [] == furnished.list_partitions(EVENTS)

    def test_view_is_dropped_as_a_table(self, furnished: Catalog) -> None:
        """There is one method for all kinds."""
        furnished.drop_table(RECENT, False)

        assert [] == furnished.list_views("db")

    @pytest.mark.parametrize("path", [ORDERS, RECENT, EVENTS], ids=["table", "view", "partitioned"])
    def test_table_is_renamed(self, furnished: Catalog, path: ObjectPath) -> None:
        """Its definition and its partitions go with it."""
        before = understood(furnished.get_table(path))

        furnished.rename_table(path, "new", False)

        new = ObjectPath("db", "new")
        assert not furnished.table_exists(path)
        assert before == understood(furnished.get_table(new))
        if path == EVENTS and Capability.PARTITIONS in furnished.capabilities:
            assert [SPEC] == furnished.list_partitions(new)

    @pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
    def test_table_of_any_name(self, catalog: Catalog, name: str) -> None:
        """Created, found among all others, renamed and dropped."""
        path, plain = ObjectPath("db", name), ObjectPath("db", "plain")
        if not self.bears(name):
            refused_name(lambda: catalog.create_table(path, PLAIN, False))
            assert [] == catalog.list_tables("db")
            return
        names = {self.listed(other) for other in ODD_NAMES.values() if self.bears(other)}
        for other in names:
            catalog.create_table(ObjectPath("db", other), PLAIN, False)
        catalog.rename_table(path, "plain", False)
        assert not catalog.table_exists(path)
        catalog.rename_table(plain, name, False)

        assert sorted(names) == sorted(catalog.list_tables("db"))
        catalog.drop_table(path, False)
        assert names - {self.listed(name)} == {*catalog.list_tables("db")}

    def test_names_of_tables_differ_by_case(self, catalog: Catalog) -> None:
        """And so do those of databases; or none of them does."""
        paths = (ObjectPath("db", "t"), ObjectPath("db", "T"), ObjectPath("DB", "t"))
        if not self.keeps_case:
            catalog.create_table(paths[1], PLAIN, False)
            assert all(map(catalog.table_exists, paths))
            assert ["t"] == catalog.list_tables("DB")
            catalog.drop_table(paths[2], False)
            assert [] == catalog.list_tables("db")
            return
        catalog.create_database("DB", CatalogDatabase(), False)
        for path in paths:
            assert not catalog.table_exists(path)
            catalog.create_table(path, PLAIN, False)

        catalog.drop_table(ObjectPath("db", "T"), False)

        assert (["t"], ["t"]) == (catalog.list_tables("db"), catalog.list_tables("DB"))

    # --- partitions ----------------------------------------------------------------------------

    def test_partition_comes_back(self, furnished: Catalog) -> None:
        """Whatever the order of its keys."""
        need(furnished, Capability.PARTITIONS)

        turned = Spec(dict(reversed(SPEC.get_partition_spec().items())))

        assert furnished.partition_exists(EVENTS, turned)
        assert PARTITION == furnished.get_partition(EVENTS, turned)
        assert not furnished.partition_exists(EVENTS, OTHER)
        assert not furnished.partition_exists(ORDERS, SPEC)

    def test_partitions_are_listed_by_what_is_given(self, furnished: Catalog) -> None:
        """A specification of some keys finds all that have them; an unknown key finds none."""
        need(furnished, Capability.PARTITIONS)
        furnished.create_partition(EVENTS, OTHER, PARTITION, False)

        assert {SPEC, OTHER} == {*furnished.list_partitions(EVENTS)}
        assert {SPEC, OTHER} == {*furnished.list_partitions(EVENTS, Spec({"b": "x/y"}))}
        assert [OTHER] == furnished.list_partitions(EVENTS, Spec({"c": "2"}))
        assert [] == furnished.list_partitions(EVENTS, Spec({"unknown": "2"}))

    def test_partition_is_altered_and_dropped(self, furnished: Catalog) -> None:
        """The others stay."""
        need(furnished, Capability.PARTITIONS)
        furnished.create_partition(EVENTS, OTHER, PARTITION, False)
        new = PARTITION.create_instance({"z": "1"}, "new")

        furnished.alter_partition(EVENTS, SPEC, new, False)

        assert new == furnished.get_partition(EVENTS, SPEC)
        assert PARTITION == furnished.get_partition(EVENTS, OTHER)
        furnished.drop_partition(EVENTS, SPEC, False)
        assert [OTHER] == furnished.list_partitions(EVENTS)

    # --- functions -----------------------------------------------------------------------------

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_function_comes_back(self, furnished: Catalog, name: str) -> None:
        """Created and altered: class, language, resources and options."""
        need(furnished, Capability.FUNCTIONS)
        function = self.functions[name]
        furnished.create_function(NOTHING, function, False)
        furnished.alter_function(FUNCTION_PATH, function, False)

        assert function == furnished.get_function(NOTHING) == furnished.get_function(FUNCTION_PATH)

    def test_names_of_functions_do_not_differ_by_case(self, furnished: Catalog) -> None:
        """They are listed in lower case; those of databases do differ."""
        need(furnished, Capability.FUNCTIONS)
        function = self.functions["every clause"]
        furnished.create_function(ObjectPath("db", "PlusOne"), function, False)

        assert ["f", "plusone"] == sorted(furnished.list_functions("db"))
        assert function == furnished.get_function(ObjectPath("db", "PLUSone"))
        assert self.keeps_case != furnished.function_exists(ObjectPath("DB", "plusone"))
        furnished.drop_function(ObjectPath("db", "PLUSONE"), False)
        assert ["f"] == furnished.list_functions("db")

    @pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
    def test_function_of_any_name(self, catalog: Catalog, name: str) -> None:
        """Created, found and dropped."""
        need(catalog, Capability.FUNCTIONS)
        path, function = ObjectPath("db", name), self.functions["every clause"]
        if not self.bears(name):
            refused_name(lambda: catalog.create_function(path, function, False))
            assert [] == catalog.list_functions("db")
            return
        catalog.create_function(path, function, False)

        assert [name.lower()] == catalog.list_functions("db")
        catalog.drop_function(path, False)
        assert not catalog.function_exists(path)

    # --- models --------------------------------------------------------------------------------

    @pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
    def test_model_comes_back(self, furnished: Catalog, model: Any) -> None:
        """Created and altered: both schemas, options and comment."""
        need(furnished, Capability.MODELS)
        furnished.create_model(NOTHING, model, False)
        furnished.alter_model(MODEL_PATH, model, False)

        assert model == understood_model(furnished.get_model(NOTHING))
        assert model == understood_model(furnished.get_model(MODEL_PATH))

    @pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
    def test_model_of_any_name(self, furnished: Catalog, name: str) -> None:
        """Renamed to it, listed, found and dropped; tables of that name are something else."""
        need(furnished, Capability.MODELS)
        path = ObjectPath("db", name)
        furnished.create_table(path, PLAIN, False)
        furnished.rename_model(MODEL_PATH, name, False)

        assert [name] == furnished.list_models("db")
        assert MODEL == understood_model(furnished.get_model(path))
        furnished.drop_model(path, False)
        assert not furnished.model_exists(path)
        assert furnished.table_exists(path)
