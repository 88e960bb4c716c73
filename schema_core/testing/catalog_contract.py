"""The contract of catalogs as tests: subclass `CatalogContract` and implement `make_catalog`.

Every stored object is read back with the same meaning; a refused call raises the code that
`Catalog` documents and changes nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest

from schema_core.base.lazy import NamedTuple
from schema_core.base.paths import ObjectPath
from schema_core.catalog import objects
from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.changes.table_changes import TableChange, apply
from schema_core.catalog.connections import connections_of
from schema_core.catalog.objects import CatalogPartitionSpec as Spec
from schema_core.catalog.resolve import origin, resolve_table
from schema_core.catalog.statistics import CatalogColumnStatistics, CatalogTableStatistics
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.catalog.temporary import ResolvedTable
from schema_core.errors import (
    AlreadyExistsError,
    ConflictError,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
    UnsupportedError,
)
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema
from schema_core.testing.catalog_cases import (
    COLUMN_STATISTICS,
    DATABASE,
    EVENTS,
    FUNCTION_PATH,
    FUNCTIONS,
    IGNORED,
    MODEL,
    MODEL_PATH,
    MODELS,
    MONEY,
    NOTHING,
    NOWHERE,
    ODD_NAMES,
    ORDERS,
    OTHER,
    PARTITION,
    PARTITIONED,
    PLAIN,
    RECENT,
    REFUSED,
    SPEC,
    STATEMENTS,
    STATISTICS,
    TABLES,
    TYPE_PATH,
    TYPES,
    VIEW,
    WITHOUT,
    Call,
    columns,
    kind_of,
    need,
    state,
    understood_model,
    with_derived_schema,
)
from schema_core.testing.catalog_concurrency_contract import CatalogConcurrencyContract
from schema_core.testing.contract_rules import Rule, state_rules


def by_name(rows: tuple[Any, ...]) -> list[Any]:
    """Return rows as test parameters, identified by the name in the second column."""
    return [pytest.param(row[0], *row[2:], id=row[1]) for row in rows]


def refused_name(call: Callable[[], None]) -> None:
    """Assert that the call is refused for its name."""
    with pytest.raises(UnsupportedError) as caught:
        call()

    assert "name-not-supported" == caught.value.code


#: Kind of table -> the required capability.
NEEDED = {objects.TableKind.MATERIALIZED_TABLE: Capability.MATERIALIZED_TABLES}

#: A secret that no error message may contain.
CANARY = "canary-8361"

MINE, THEIRS = {"writer": "me", "password": CANARY}, {"writer": "them"}


class Alteration(NamedTuple):
    """How one kind of object is read, altered and dropped, and the definitions of two writers."""

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
        objects.CatalogDatabase(MINE, "mine"),
        objects.CatalogDatabase(THEIRS),
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
        objects.CatalogPartition(MINE, "mine"),
        objects.CatalogPartition(THEIRS),
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

every_kind: pytest.MarkDecorator = pytest.mark.parametrize("kind", ALTERATIONS)

#: Sample table -> the unresolved class that a catalog returns.
UNRESOLVED: dict[
    str, type[objects.CatalogTable | objects.CatalogView | objects.CatalogMaterializedTable]
] = {
    "plain": objects.CatalogTable,
    "every clause": objects.CatalogTable,
    "view": objects.CatalogView,
    "materialized table": objects.CatalogMaterializedTable,
}


def _without_types(read: Any) -> Any:
    return origin(read) if hasattr(read, "options") and not hasattr(read, "class_name") else read


#: Names that some stores do not support.
DIFFICULT_NAMES = {
    "very long": "n" * 10_000,
    "long and random": "".join(random.Random(1).choices("abcdefghijklmnop", k=8_000)),  # noqa: S311
    "NUL": "a\0b",
    "lone surrogate": "a\ud800b",
    "long and Japanese": "注文" * 400,
}


class CatalogContract(CatalogConcurrencyContract):
    """The tests that every catalog passes.

    When a test begins, a catalog contains only its default database and `db`.
    """

    #: What happens to unresolved tables, views and models (FLIP-164): they are "resolved",
    #: "refused" (`unresolved-object`), or "stored" as they are.
    unresolved: Literal["resolved", "refused", "stored"] = "resolved"
    #: Whether names of databases and tables are case-sensitive; if not, they are lower-cased.
    preserves_case = True
    #: A table with partition keys `b` and `c`, to which partitions can be added.
    partitioned: ResolvedTable = PARTITIONED
    #: Functions that the catalog can store, by the feature they exercise.
    functions: Mapping[str, objects.CatalogFunction] = FUNCTIONS

    def supports_name(self, name: str) -> bool:
        """Return whether an object may have this name.

        If not, creating it is refused with an `UnsupportedError` whose code begins with ``name-``.
        """
        return True

    def listed_name(self, name: str) -> str:
        """Return the name as the catalog lists it."""
        return name if self.preserves_case else name.lower()

    @pytest.fixture
    def catalog(self, tmp_path: Path) -> Iterator[Catalog]:
        """Yield a catalog with an empty database `db`."""
        catalog = self.make_catalog(tmp_path)
        catalog.open()
        catalog.create_database("db", DATABASE, False)
        yield catalog
        catalog.close()

    @pytest.fixture
    def populated(self, catalog: Catalog) -> Catalog:
        """Return a catalog with one object of every kind that it stores."""
        self.populate(catalog)
        return catalog

    def populate(self, catalog: Catalog) -> None:
        catalog.create_table(ORDERS, PLAIN, False)
        catalog.create_table(RECENT, TABLES["view"], False)
        catalog.create_table(EVENTS, self.partitioned, False)
        if Capability.PARTITIONS in catalog.capabilities:
            catalog.create_partition(EVENTS, SPEC, PARTITION, False)
        if Capability.FUNCTIONS in catalog.capabilities:
            catalog.create_function(FUNCTION_PATH, self.functions["every clause"], False)
        if Capability.MODELS in catalog.capabilities:
            catalog.create_model(MODEL_PATH, MODEL, False)
        if Capability.TYPES in catalog.capabilities:
            catalog.create_type(TYPE_PATH, MONEY, False)

    def state_before(self, catalog: Catalog) -> dict[str, object]:
        """Return what `populated` stores, before a call that must change nothing.

        Override it for a catalog that is slow to read and shared by the tests of such calls: each
        proves that the next one finds the same state.
        """
        return state(catalog)

    # --- refused and ignored calls ---------------------------------------------------------------

    @pytest.mark.parametrize(("needs", "call", "code"), by_name(REFUSED))
    def test_refused(
        self, populated: Catalog, needs: Capability | None, call: Call, code: str
    ) -> None:
        """A call with an error raises its code, and changes nothing."""
        need(populated, needs)
        before = self.state_before(populated)

        with pytest.raises(kind_of(code)) as caught:
            call(populated)

        assert code == caught.value.code
        assert before == state(populated)

    @pytest.mark.parametrize(("needs", "call"), by_name(IGNORED))
    def test_ignored(self, populated: Catalog, needs: Capability | None, call: Call) -> None:
        need(populated, needs)
        before = self.state_before(populated)

        call(populated)

        assert before == state(populated)

    @pytest.mark.parametrize(("lacks", "call"), by_name(WITHOUT))
    def test_missing_capability_is_refused(
        self, populated: Catalog, lacks: Capability, call: Call
    ) -> None:
        """The call is refused, not ignored."""
        if lacks in populated.capabilities:
            pytest.skip(f"{type(populated).__name__} stores {lacks.value}")

        with pytest.raises(UnsupportedError) as caught:
            call(populated)

        assert caught.value.code == "unsupported-capability"

    def test_unsupported_materialized_table_is_refused(self, populated: Catalog) -> None:
        if Capability.MATERIALIZED_TABLES in populated.capabilities:
            pytest.skip(f"{type(populated).__name__} stores materialized tables")

        with pytest.raises(UnsupportedError) as caught:
            populated.create_table(NOTHING, TABLES["materialized table"], True)

        assert caught.value.code == "unsupported-capability"
        assert not populated.table_exists(NOTHING)

    # --- SQL statements --------------------------------------------------------------------------

    @pytest.mark.parametrize("kind", STATEMENTS)
    def test_statements_change_the_objects(self, populated: Catalog, kind: str) -> None:
        """Each SQL statement has the same effect as on a catalog in memory."""
        needs, statements = STATEMENTS[kind]
        need(populated, needs)
        reference = InMemoryCatalog("reference")
        reference.capabilities = populated.capabilities
        reference.create_database("db", populated.get_database("db"), False)
        self.populate(reference)
        environments = [self._session(populated), self._session(reference)]

        for statement in statements:
            before = self._changed_by_statements(populated)
            for environment in environments:
                environment.execute_sql(statement)
            after = self._changed_by_statements(populated)
            assert before != after, statement
            assert self._changed_by_statements(reference) == after, statement

    def _changed_by_statements(self, catalog: Catalog) -> dict[str, object]:
        """Return what the catalog stores, without its default database."""
        default = f"database {catalog.get_default_database()}"
        return {name: value for name, value in state(catalog).items() if name != default}

    # --- databases -------------------------------------------------------------------------------

    def test_default_database_exists(self, catalog: Catalog) -> None:
        """If there is one, it exists in a new catalog."""
        name = catalog.get_default_database()

        assert name is None or catalog.database_exists(name)

    def test_database_round_trip(self, catalog: Catalog) -> None:
        """Properties and comment are stored."""
        database = catalog.get_database("db")

        assert DATABASE.get_properties() == database.get_properties()
        assert DATABASE.get_comment() == database.get_comment()

    def test_database_is_altered(self, populated: Catalog) -> None:
        """The new definition replaces the old one; the database's objects stay."""
        before = populated.list_tables("db")

        populated.alter_database("db", objects.CatalogDatabase({"z": "1"}, "new"), False)

        database = populated.get_database("db")
        assert ({"z": "1"}, "new") == (database.get_properties(), database.get_comment())
        assert before == populated.list_tables("db")

    def test_database_is_dropped(self, catalog: Catalog) -> None:
        """An empty one, without CASCADE."""
        catalog.drop_database("db", False)

        assert not catalog.database_exists("db")
        assert "db" not in catalog.list_databases()

    def test_database_is_dropped_with_its_objects(self, populated: Catalog) -> None:
        """A new database of the same name has none of them."""
        populated.drop_database("db", False, True)

        assert not populated.table_exists(ORDERS)
        populated.create_database("db", objects.CatalogDatabase(), False)
        assert [] == populated.list_tables("db") == populated.list_views("db")
        assert [] == populated.list_functions("db")
        assert not populated.function_exists(FUNCTION_PATH)

    @pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
    def test_database_of_any_name(self, catalog: Catalog, name: str) -> None:
        """No character has a special meaning."""
        if not self.supports_name(name):
            refused_name(lambda: catalog.create_database(name, DATABASE, False))
            assert not catalog.database_exists(name)
            return
        catalog.create_database(name, DATABASE, False)
        catalog.create_table(ObjectPath(name, "t"), PLAIN, False)

        assert self.listed_name(name) in catalog.list_databases()
        assert ["t"] == catalog.list_tables(name)
        assert [] == catalog.list_tables("db")
        catalog.drop_database(name, False, True)
        assert not catalog.database_exists(name)

    # --- tables and views ------------------------------------------------------------------------

    @pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
    def test_table_round_trip(self, catalog: Catalog, table: Any) -> None:
        """Schema, options, keys, queries and comment are stored."""
        need(catalog, NEEDED.get(table.get_table_kind()))
        catalog.create_table(NOTHING, table, False)

        assert catalog.table_exists(NOTHING)
        assert table == with_derived_schema(catalog.get_table(NOTHING))
        assert table.get_table_kind() is catalog.get_table(NOTHING).get_table_kind()

    def test_lists_are_by_kind(self, populated: Catalog) -> None:
        """`list_tables` lists every table and view once, `list_views` only views."""
        if Capability.MATERIALIZED_TABLES in populated.capabilities:
            populated.create_table(ObjectPath("db", "mt"), TABLES["materialized table"], False)
            assert ["mt"] == populated.list_materialized_tables("db")
            populated.drop_table(ObjectPath("db", "mt"), False)

        assert ["p", "t", "v"] == sorted(populated.list_tables("db"))
        assert ["v"] == populated.list_views("db")

    def test_table_names_are_found_by_their_start(self, populated: Catalog) -> None:
        """`find_table_names` returns names of `list_tables`, up to a limit."""
        assert ["p", "t", "v"] == sorted(populated.find_table_names("db"))
        assert ["t"] == populated.find_table_names("db", "T", 2)
        assert [] == populated.find_table_names("db", "tt")
        assert 2 == len(populated.find_table_names("db", limit=2))

    @pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
    def test_table_is_altered(self, populated: Catalog, table: Any) -> None:
        """A definition of the same kind replaces the old one completely."""
        need(populated, NEEDED.get(table.get_table_kind()))
        populated.create_table(NOTHING, table.copy({"old": "1"}), False)

        populated.alter_table(NOTHING, table, False)

        assert table == with_derived_schema(populated.get_table(NOTHING))
        assert PLAIN == with_derived_schema(populated.get_table(ORDERS))

    def test_table_is_dropped(self, populated: Catalog) -> None:
        """Other tables stay; a new table of the same name has no partitions."""
        populated.drop_table(EVENTS, False)

        assert not populated.table_exists(EVENTS)
        assert ["t", "v"] == sorted(populated.list_tables("db"))
        populated.create_table(EVENTS, self.partitioned, False)
        if Capability.PARTITIONS in populated.capabilities:
            assert [] == populated.list_partitions(EVENTS)

    def test_view_is_dropped_as_a_table(self, populated: Catalog) -> None:
        """`drop_table` drops every kind."""
        populated.drop_table(RECENT, False)

        assert [] == populated.list_views("db")

    @pytest.mark.parametrize("path", [ORDERS, RECENT, EVENTS], ids=["table", "view", "partitioned"])
    def test_table_is_renamed(self, populated: Catalog, path: ObjectPath) -> None:
        """Definition and partitions are kept."""
        before = with_derived_schema(populated.get_table(path))

        populated.rename_table(path, "new", False)

        new = ObjectPath("db", "new")
        assert not populated.table_exists(path)
        assert before == with_derived_schema(populated.get_table(new))
        if path == EVENTS and Capability.PARTITIONS in populated.capabilities:
            assert [SPEC] == populated.list_partitions(new)

    @pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
    def test_table_of_any_name(self, catalog: Catalog, name: str) -> None:
        path, plain = ObjectPath("db", name), ObjectPath("db", "plain")
        if not self.supports_name(name):
            refused_name(lambda: catalog.create_table(path, PLAIN, False))
            assert [] == catalog.list_tables("db")
            return
        names = {
            self.listed_name(other) for other in ODD_NAMES.values() if self.supports_name(other)
        }
        for other in names:
            catalog.create_table(ObjectPath("db", other), PLAIN, False)
        catalog.rename_table(path, "plain", False)
        assert not catalog.table_exists(path)
        catalog.rename_table(plain, name, False)

        assert sorted(names) == sorted(catalog.list_tables("db"))
        catalog.drop_table(path, False)
        assert names - {self.listed_name(name)} == {*catalog.list_tables("db")}

    def test_case_of_table_names(self, catalog: Catalog) -> None:
        """Names of databases and tables are both case-sensitive, or both not."""
        paths = (ObjectPath("db", "t"), ObjectPath("db", "T"), ObjectPath("DB", "t"))
        if not self.preserves_case:
            catalog.create_table(paths[1], PLAIN, False)
            assert all(map(catalog.table_exists, paths))
            assert ["t"] == catalog.list_tables("DB")
            catalog.drop_table(paths[2], False)
            assert [] == catalog.list_tables("db")
            return
        catalog.create_database("DB", objects.CatalogDatabase(), False)
        for path in paths:
            assert not catalog.table_exists(path)
            catalog.create_table(path, PLAIN, False)

        catalog.drop_table(ObjectPath("db", "T"), False)

        assert (["t"], ["t"]) == (catalog.list_tables("db"), catalog.list_tables("DB"))

    # --- partitions ------------------------------------------------------------------------------

    def test_partition_round_trip(self, populated: Catalog) -> None:
        """The order of the keys does not matter."""
        need(populated, Capability.PARTITIONS)

        reordered = Spec(dict(reversed(SPEC.get_partition_spec().items())))

        assert populated.partition_exists(EVENTS, reordered)
        assert PARTITION == populated.get_partition(EVENTS, reordered)
        assert not populated.partition_exists(EVENTS, OTHER)
        assert not populated.partition_exists(ORDERS, SPEC)

    def test_partitions_are_listed_by_partial_specification(self, populated: Catalog) -> None:
        """It matches all partitions with its values."""
        need(populated, Capability.PARTITIONS)
        populated.create_partition(EVENTS, OTHER, PARTITION, False)

        assert {SPEC, OTHER} == {*populated.list_partitions(EVENTS)}
        assert {SPEC, OTHER} == {*populated.list_partitions(EVENTS, Spec({"b": "x/y"}))}
        assert [OTHER] == populated.list_partitions(EVENTS, Spec({"c": "2"}))
        assert [] == populated.list_partitions(EVENTS, Spec({"unknown": "2"}))

    def test_partition_is_altered_and_dropped(self, populated: Catalog) -> None:
        """Other partitions stay."""
        need(populated, Capability.PARTITIONS)
        populated.create_partition(EVENTS, OTHER, PARTITION, False)
        new = PARTITION.create_instance({"z": "1"}, "new")

        populated.alter_partition(EVENTS, SPEC, new, False)

        assert new == populated.get_partition(EVENTS, SPEC)
        assert PARTITION == populated.get_partition(EVENTS, OTHER)
        populated.drop_partition(EVENTS, SPEC, False)
        assert [OTHER] == populated.list_partitions(EVENTS)

    # --- statistics ------------------------------------------------------------------------------

    def test_statistics_round_trip(self, populated: Catalog) -> None:
        """Statistics of tables and columns are stored apart, and replaced."""
        need(populated, Capability.STATISTICS)
        before = state(populated)
        table = populated.get_table_statistics(ORDERS)
        columns_ = populated.get_table_column_statistics(ORDERS)

        populated.alter_table_statistics(ORDERS, STATISTICS, False)
        populated.alter_table_column_statistics(ORDERS, COLUMN_STATISTICS, False)

        assert (CatalogTableStatistics(), CatalogColumnStatistics()) == (table, columns_)
        assert STATISTICS == populated.get_table_statistics(ORDERS)
        assert COLUMN_STATISTICS == populated.get_table_column_statistics(ORDERS)
        populated.alter_table_statistics(ORDERS, table, False)
        assert table == populated.get_table_statistics(ORDERS)
        assert COLUMN_STATISTICS == populated.get_table_column_statistics(ORDERS)
        assert before == state(populated)

    def test_statistics_belong_to_their_table(self, populated: Catalog) -> None:
        """ALTER keeps them, RENAME takes them along, DROP drops them."""
        need(populated, Capability.STATISTICS)
        populated.alter_table_statistics(ORDERS, STATISTICS, False)
        populated.alter_table(ORDERS, TABLES["every clause"], False)

        assert STATISTICS == populated.get_table_statistics(ORDERS)
        populated.rename_table(ORDERS, "nothing", False)
        assert STATISTICS == populated.get_table_statistics(NOTHING)
        populated.drop_table(NOTHING, False)
        populated.create_table(NOTHING, PLAIN, False)
        populated.create_table(ORDERS, PLAIN, False)
        unknown = CatalogTableStatistics()
        assert unknown == populated.get_table_statistics(NOTHING)
        assert unknown == populated.get_table_statistics(ORDERS)
        populated.drop_database("db", False, True)
        assert not populated.database_exists("db")

    def test_statistics_of_partitions(self, populated: Catalog) -> None:
        """Each partition has its own, which are dropped with it."""
        need(populated, Capability.STATISTICS)
        need(populated, Capability.PARTITIONS)
        populated.create_partition(EVENTS, OTHER, PARTITION, False)
        populated.alter_partition_statistics(EVENTS, SPEC, STATISTICS, False)
        populated.alter_partition_column_statistics(EVENTS, OTHER, COLUMN_STATISTICS, False)
        both, unknown = [SPEC, OTHER], CatalogTableStatistics()

        assert [STATISTICS, unknown] == populated.bulk_get_partition_statistics(EVENTS, both)
        assert [CatalogColumnStatistics(), COLUMN_STATISTICS] == (
            populated.bulk_get_partition_column_statistics(EVENTS, both)
        )
        assert unknown == populated.get_table_statistics(EVENTS)
        populated.rename_table(EVENTS, "nothing", False)
        assert STATISTICS == populated.get_partition_statistics(NOTHING, SPEC)
        populated.drop_partition(NOTHING, SPEC, False)
        populated.create_partition(NOTHING, SPEC, PARTITION, False)
        assert unknown == populated.get_partition_statistics(NOTHING, SPEC)

    # --- functions -------------------------------------------------------------------------------

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_function_round_trip(self, populated: Catalog, name: str) -> None:
        """CREATE and ALTER store class, language, resources and options."""
        need(populated, Capability.FUNCTIONS)
        function = self.functions[name]
        populated.create_function(NOTHING, function, False)
        populated.alter_function(FUNCTION_PATH, function, False)

        assert function == populated.get_function(NOTHING) == populated.get_function(FUNCTION_PATH)

    def test_function_names_are_case_insensitive(self, populated: Catalog) -> None:
        """They are listed in lower case; the names of their databases keep their case."""
        need(populated, Capability.FUNCTIONS)
        function = self.functions["every clause"]
        populated.create_function(ObjectPath("db", "PlusOne"), function, False)

        assert ["f", "plusone"] == sorted(populated.list_functions("db"))
        assert function == populated.get_function(ObjectPath("db", "PLUSone"))
        assert self.preserves_case != populated.function_exists(ObjectPath("DB", "plusone"))
        populated.drop_function(ObjectPath("db", "PLUSONE"), False)
        assert ["f"] == populated.list_functions("db")

    @pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
    def test_function_of_any_name(self, catalog: Catalog, name: str) -> None:
        need(catalog, Capability.FUNCTIONS)
        path, function = ObjectPath("db", name), self.functions["every clause"]
        if not self.supports_name(name):
            refused_name(lambda: catalog.create_function(path, function, False))
            assert [] == catalog.list_functions("db")
            return
        catalog.create_function(path, function, False)

        assert [name.lower()] == catalog.list_functions("db")
        catalog.drop_function(path, False)
        assert not catalog.function_exists(path)

    # --- models ----------------------------------------------------------------------------------

    @pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
    def test_model_round_trip(self, populated: Catalog, model: Any) -> None:
        """CREATE and ALTER store both schemas, options and comment."""
        need(populated, Capability.MODELS)
        populated.create_model(NOTHING, model, False)
        populated.alter_model(MODEL_PATH, model, False)

        assert model == understood_model(populated.get_model(NOTHING))
        assert model == understood_model(populated.get_model(MODEL_PATH))

    @pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
    def test_model_of_any_name(self, populated: Catalog, name: str) -> None:
        """A table of the same name is unaffected."""
        need(populated, Capability.MODELS)
        path = ObjectPath("db", name)
        populated.create_table(path, PLAIN, False)
        populated.rename_model(MODEL_PATH, name, False)

        assert [name] == populated.list_models("db")
        assert MODEL == understood_model(populated.get_model(path))
        populated.drop_model(path, False)
        assert not populated.model_exists(path)
        assert populated.table_exists(path)

    # --- user-defined types ----------------------------------------------------------------------

    @pytest.mark.parametrize("type_", TYPES.values(), ids=TYPES)
    def test_type_round_trip(self, catalog: Catalog, type_: Any) -> None:
        need(catalog, Capability.TYPES)
        catalog.create_type(NOTHING, type_, False)

        assert type_ == catalog.get_type(NOTHING)
        assert catalog.type_exists(NOTHING)
        assert ["nothing"] == catalog.list_types("db")

    @pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
    def test_type_of_any_name(self, populated: Catalog, name: str) -> None:
        """A table of the same name is unaffected."""
        need(populated, Capability.TYPES)
        path = ObjectPath("db", name)
        populated.create_table(path, PLAIN, False)
        populated.create_type(path, TYPES["structured"], False)

        assert {"money", name} == {*populated.list_types("db")}
        assert TYPES["structured"] == populated.get_type(path)
        populated.drop_type(path, False)
        assert not populated.type_exists(path)
        assert populated.table_exists(path)

    def test_database_with_a_type_is_not_empty(self, catalog: Catalog) -> None:
        """It is dropped only with CASCADE, and its types with it."""
        need(catalog, Capability.TYPES)
        catalog.create_type(TYPE_PATH, MONEY, False)

        with pytest.raises(SchemaError) as caught:
            catalog.drop_database("db", False)
        catalog.drop_database("db", False, True)
        catalog.create_database("db", objects.CatalogDatabase(), False)

        assert caught.value.code == "database-not-empty"
        assert [] == catalog.list_types("db")
        assert not catalog.type_exists(TYPE_PATH)

    def test_database_with_a_connection_is_not_empty(self, catalog: Catalog) -> None:
        """It is dropped only with CASCADE, and its connections with it."""
        connections = connections_of(catalog)
        if connections is None:
            pytest.skip(f"{type(catalog).__name__} does not store connections")
        connections.create(NOTHING, objects.CatalogConnection({"type": "basic"}), False)

        with pytest.raises(SchemaError) as caught:
            catalog.drop_database("db", False)
        catalog.drop_database("db", False, True)
        catalog.create_database("db", objects.CatalogDatabase(), False)

        assert caught.value.code == "database-not-empty"
        assert NOTHING not in connections

    @pytest.mark.parametrize("value", ODD_NAMES.values(), ids=ODD_NAMES)
    def test_partition_of_any_value(self, populated: Catalog, value: str) -> None:
        need(populated, Capability.PARTITIONS)
        spec = Spec({"b": value, "c": "=/"})
        populated.create_partition(EVENTS, spec, PARTITION, False)

        assert {SPEC, spec} == {*populated.list_partitions(EVENTS)}
        assert [spec] == populated.list_partitions(EVENTS, Spec({"b": value, "c": "=/"}))
        assert PARTITION == populated.get_partition(EVENTS, spec)
        populated.drop_partition(EVENTS, spec, False)
        assert [SPEC] == populated.list_partitions(EVENTS)

    def test_absent_objects_do_not_exist(self, catalog: Catalog) -> None:
        """The `exists` methods return False, also in an absent database."""
        for path in (NOTHING, NOWHERE):
            assert not catalog.table_exists(path)
            assert not catalog.function_exists(path)
            assert not catalog.model_exists(path)
            assert not catalog.type_exists(path)
            if Capability.PARTITIONS in catalog.capabilities:
                assert not catalog.partition_exists(path, SPEC)
        assert not catalog.database_exists("nowhere")
        assert [] == catalog.list_functions("db") == catalog.list_models("db")
        assert [] == catalog.list_tables("db") == catalog.list_types("db")

    # --- compare-and-set -------------------------------------------------------------------------

    #: Kinds of objects whose `expected` a catalog with `Capability.VERSIONS` compares.
    compared_kinds: tuple[str, ...] = tuple(ALTERATIONS)

    def _versioned_alteration(self, catalog: Catalog, kind: str) -> Alteration:
        """Return the row of a kind, or skip the test if the catalog does not compare it."""
        need(catalog, Capability.VERSIONS)
        need(catalog, ALTERATIONS[kind].needs)
        if kind not in self.compared_kinds:
            pytest.skip(f"{type(catalog).__name__} does not compare this kind")
        return ALTERATIONS[kind]

    @every_kind
    def test_expected_object_is_altered(self, populated: Catalog, kind: str) -> None:
        """An object that is still as it was read is altered, repeatedly."""
        one = self._versioned_alteration(populated, kind)
        one.alter(populated, one.mine, False, expected=one.read(populated))
        read = one.read(populated)
        one.alter(populated, one.theirs, False, expected=read)

        assert read != one.read(populated)
        one.alter(populated, one.mine, False, expected=one.read(populated))
        assert read == one.read(populated)

    @every_kind
    def test_concurrent_alteration_is_a_conflict(self, populated: Catalog, kind: str) -> None:
        """The error holds both definitions but prints no secret; the first alteration stays."""
        one = self._versioned_alteration(populated, kind)
        one.alter(populated, one.mine, False)
        read = one.read(populated)
        one.alter(populated, one.theirs, False)
        before, found = state(populated), one.read(populated)

        for ignore in (False, True):
            with pytest.raises(ConflictError) as caught:
                one.alter(populated, one.mine, ignore, expected=read)

            assert (read, found) == (
                _without_types(caught.value.expected),
                _without_types(caught.value.found),
            )
            assert CANARY not in f"{caught.value}{caught.value!r}"
        assert before == state(populated)

    @every_kind
    def test_concurrent_drop_is_a_conflict(self, populated: Catalog, kind: str) -> None:
        """The error holds no found object; the ignore flag prevents it."""
        one = self._versioned_alteration(populated, kind)
        read = one.read(populated)
        one.drop(populated)
        before = state(populated)

        with pytest.raises(ConflictError) as caught:
            one.alter(populated, one.mine, False, expected=read)
        one.alter(populated, one.mine, True, expected=read)

        assert (read, None) == (_without_types(caught.value.expected), caught.value.found)
        assert before == state(populated)

    def test_resolved_object_can_be_expected(self, populated: Catalog) -> None:
        """It equals the unresolved one that the catalog returns."""
        need(populated, Capability.VERSIONS)
        populated.alter_table(ORDERS, PLAIN.copy(THEIRS), False, expected=PLAIN)

        assert THEIRS == populated.get_table(ORDERS).get_options()
        with pytest.raises(ConflictError):
            populated.alter_table(ORDERS, PLAIN, False, expected=PLAIN)

    def test_changes_lead_from_the_expected_table(self, populated: Catalog) -> None:
        """Changes to the new definition are accepted; others are refused and alter nothing."""
        if Capability.VERSIONS not in populated.capabilities:
            with pytest.raises(UnsupportedError) as refused:
                populated.alter_table(ORDERS, PLAIN, False, changes=[])
            assert refused.value.code == "unsupported-capability"
            return
        read = populated.get_table(ORDERS)
        assert isinstance(read, objects.CatalogTable)
        changes = [TableChange.set("step", "1", read.options.get("step"))]
        new = resolve_table(apply(changes, read), SchemaResolver())
        before = state(populated)

        for expected, wrong in ((read, []), (read, changes * 2), (None, changes)):
            with pytest.raises(SchemaError) as caught:
                populated.alter_table(ORDERS, new, False, expected=expected, changes=wrong)
            assert caught.value.code == "change-does-not-fit"
        assert before == state(populated)
        populated.alter_table(ORDERS, new, False, expected=read, changes=changes)
        assert populated.get_table(ORDERS).get_options()["step"] == "1"

    # --- resolved objects are stored, unresolved ones returned -----------------------------------

    @pytest.mark.parametrize("name", UNRESOLVED)
    def test_returned_tables_are_unresolved(self, catalog: Catalog, name: str) -> None:
        """Of every kind, after CREATE and ALTER (FLIP-164)."""
        if name == "materialized table":
            need(catalog, Capability.MATERIALIZED_TABLES)
        catalog.create_table(NOTHING, TABLES[name], False)
        created = catalog.get_table(NOTHING)
        catalog.alter_table(NOTHING, TABLES[name], False)

        assert UNRESOLVED[name] is type(created) is type(catalog.get_table(NOTHING))

    def test_returned_models_are_unresolved(self, populated: Catalog) -> None:
        """The rules of tables apply."""
        need(populated, Capability.MODELS)
        assert objects.CatalogModel is type(populated.get_model(MODEL_PATH))

    @pytest.mark.parametrize("name", UNRESOLVED)
    def test_unresolved_table(self, catalog: Catalog, name: str) -> None:
        """CREATE and ALTER resolve it or refuse it (FLIP-164)."""
        if name == "materialized table":
            need(catalog, Capability.MATERIALIZED_TABLES)
        catalog.create_table(ORDERS, TABLES[name], False)
        before = state(catalog)
        unresolved = origin(TABLES[name])

        self._give(lambda: catalog.create_table(NOTHING, unresolved, True))
        self._give(lambda: catalog.alter_table(ORDERS, unresolved, True))

        if self.unresolved == "resolved":
            assert before[f"table {ORDERS}"] == with_derived_schema(catalog.get_table(NOTHING))
            assert [UNRESOLVED[name]] == [type(catalog.get_table(NOTHING))]
            catalog.drop_table(NOTHING, False)
        assert before == state(catalog)

    def test_unresolved_model(self, populated: Catalog) -> None:
        """The rules of tables apply."""
        need(populated, Capability.MODELS)
        before = state(populated)

        self._give(lambda: populated.create_model(NOTHING, origin(MODEL), True))
        self._give(lambda: populated.alter_model(MODEL_PATH, origin(MODEL), True))

        if self.unresolved == "resolved":
            assert MODEL == understood_model(populated.get_model(NOTHING))
            populated.drop_model(NOTHING, False)
        assert before == state(populated)

    def test_unresolvable_table_is_refused(self, catalog: Catalog) -> None:
        """A table of unknown columns or types is not stored."""
        if self.unresolved == "stored":
            pytest.skip("this catalog stores unresolved tables")
        before = state(catalog)
        builder = Schema.new_builder().column("a", "INT").column_by_expression("b", "missing + 1")

        with pytest.raises(SchemaError):
            catalog.create_table(NOTHING, objects.CatalogTable(builder.build()), False)

        assert before == state(catalog)

    def _give(self, call: Callable[[], None]) -> None:
        """Give an unresolved object to the catalog, which resolves or refuses it."""
        if self.unresolved == "stored":
            pytest.skip("this catalog stores unresolved tables")
        if self.unresolved == "resolved":
            call()
            return
        with pytest.raises(SchemaError) as caught:
            call()
        assert caught.value.code == "unresolved-object"

    def test_alter_keeps_the_kind(self, populated: Catalog) -> None:
        """This holds with `expected`, too."""
        need(populated, Capability.VERSIONS)
        before = state(populated)

        with pytest.raises(SchemaError) as caught:
            populated.alter_table(ORDERS, VIEW, False, expected=populated.get_table(ORDERS))

        assert caught.value.code == "wrong-object-type"
        assert before == state(populated)

    @every_kind
    def test_expected_is_refused_if_not_compared(self, populated: Catalog, kind: str) -> None:
        """It is refused, not ignored."""
        one = ALTERATIONS[kind]
        need(populated, one.needs)
        if Capability.VERSIONS in populated.capabilities and kind in self.compared_kinds:
            pytest.skip(f"{type(populated).__name__} compares this kind")
        before, read = state(populated), one.read(populated)

        with pytest.raises(UnsupportedError) as caught:
            one.alter(populated, one.mine, False, expected=read)

        assert caught.value.code == "unsupported-capability"
        assert before == state(populated)

    # --- limits ----------------------------------------------------------------------------------

    @pytest.mark.parametrize("name", DIFFICULT_NAMES.values(), ids=DIFFICULT_NAMES)
    def test_difficult_name_is_stored_or_refused(self, catalog: Catalog, name: str) -> None:
        """The table is found under exactly this name, or is not created."""
        path, shorter = ObjectPath("db", name), ObjectPath("db", name[:-1])
        try:
            catalog.create_table(path, PLAIN, False)
        except SchemaCoreError:
            assert [] == catalog.list_tables("db")
        else:
            assert [name] == catalog.list_tables("db")
            assert PLAIN == with_derived_schema(catalog.get_table(path))
            assert not catalog.table_exists(shorter)
            catalog.create_table(shorter, PLAIN, False)
            catalog.drop_table(path, False)
            assert [name[:-1]] == catalog.list_tables("db")

    @pytest.mark.parametrize("name", DIFFICULT_NAMES.values(), ids=DIFFICULT_NAMES)
    def test_difficult_string_is_stored_or_refused(self, catalog: Catalog, name: str) -> None:
        """As an option and the comment of a table."""
        table = with_derived_schema(
            objects.CatalogTable(columns(a="INT"), options={"k": name}, comment=name)
        )
        try:
            catalog.create_table(ORDERS, table, False)
        except SchemaCoreError:
            assert not catalog.table_exists(ORDERS)
        else:
            assert table == with_derived_schema(catalog.get_table(ORDERS))

    def test_many_tables(self, catalog: Catalog) -> None:
        """Every table is listed once."""
        names = {f"t{number}" for number in range(100)}
        for name in names:
            catalog.create_table(ObjectPath("db", name), PLAIN, False)

        assert sorted(names) == sorted(catalog.list_tables("db"))

    def test_returned_collections_are_copies(self, populated: Catalog) -> None:
        """Changing them does not change the catalog."""
        before = state(populated)
        populated.get_table(ORDERS).get_options()["k"] = "changed"
        populated.get_database("db").get_properties()["k"] = "changed"
        populated.list_tables("db").clear()
        populated.list_databases().clear()

        assert before == state(populated)

    def test_refused_calls_leave_nothing_open(self, populated: Catalog) -> None:
        """Calls succeed after many refused ones."""
        for _ in range(20):
            with pytest.raises(AlreadyExistsError):
                populated.create_table(ORDERS, PLAIN, False)
            with pytest.raises(NotFoundError):
                populated.drop_table(NOTHING, False)
            with pytest.raises(SchemaError):
                populated.drop_database("db", False)
        populated.drop_table(ORDERS, False)
        populated.create_table(ORDERS, TABLES["every clause"], False)

        assert TABLES["every clause"] == with_derived_schema(populated.get_table(ORDERS))


# --- what the tests test --------------------------------------------------------------------------

#: Word in the name of a test -> the capability that it tests; the first one counts.
CAPABILITIES_BY_WORD: Mapping[str, str] = {
    "partition": "Capability.PARTITIONS",
    "statistics": "Capability.STATISTICS",
    "function": "Capability.FUNCTIONS",
    "model": "Capability.MODELS",
    "materialized": "Capability.MATERIALIZED_TABLES",
    "database_with_a_type": "Capability.TYPES",
    "type_": "Capability.TYPES",
    "transaction": "Capability.MIGRATIONS",
    "migration": "Capability.MIGRATIONS",
    "dry_run": "Capability.MIGRATIONS",
    "expected": "Capability.VERSIONS",
    "conflict": "Capability.VERSIONS",
    "no_update_is_lost": "Capability.VERSIONS",
    "no_statement_is_lost": "Capability.VERSIONS",
    "concurrent": "Catalog, several writers",
    "no_table_is_left": "Catalog, several writers",
    "killed": "Catalog, several writers",
    "second_catalog": "CatalogContract.durable",
    "statements": "Catalog, SQL statements",
    "case": "Catalog, names",
    "name": "Catalog, names",
    "view": "Catalog, views",
    "table": "Catalog, tables",
    "database": "Catalog, databases",
}


def _rule(test: str) -> Rule:
    words = (word for word in CAPABILITIES_BY_WORD if word in test)
    ability = CAPABILITIES_BY_WORD.get(next(words, ""), "Catalog")
    return Rule(ability, "implementing-a-catalog.md")


RULES: Mapping[str, Rule] = {
    name: _rule(name) for name in dir(CatalogContract) if name.startswith("test_")
}

state_rules(CatalogContract, RULES)
