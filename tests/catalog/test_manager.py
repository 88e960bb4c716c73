"""DDL on a path with existing objects: all cases of FLIP-64."""

from __future__ import annotations

from itertools import product

import pytest

from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog import ddl_semantics
from schema_core.catalog.ddl_semantics import Action, ExistingObject
from schema_core.catalog.managers import CatalogManager
from schema_core.catalog.objects import (
    ResolvedCatalogTable,
    ResolvedCatalogView,
    TableKind,
)
from schema_core.catalog.registry import CatalogRegistry
from schema_core.catalog.stores.catalog_store import CatalogDescriptor, InMemoryCatalogStore
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.catalog.temporary import ResolvedTable, TemporaryObjects
from schema_core.errors import AlreadyExistsError, NotFoundError, SchemaCoreError, SchemaError
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema

TABLE = ResolvedCatalogTable(Schema(), resolved_schema=ResolvedSchema())
VIEW = ResolvedCatalogView(Schema(), "SELECT 1", "SELECT 1", resolved_schema=ResolvedSchema())
PATH = ObjectIdentifier("home", "db", "t")
ELSEWHERE = ObjectIdentifier("nocat", "nodb", "t")


def resolved(table: object) -> ResolvedTable:
    assert isinstance(table, ResolvedCatalogTable | ResolvedCatalogView)
    return table


def manager(
    temporary: ResolvedTable | None = None, permanent: ResolvedTable | None = None
) -> CatalogManager:
    """A manager at whose `PATH` these two lie."""
    registry = CatalogRegistry("home", InMemoryCatalog("home", "db"))
    made = CatalogManager(registry, TemporaryObjects(), resolved)
    if temporary:
        made.create_temporary(PATH, temporary, ignore_if_exists=False)
    if permanent:
        made.create(PATH, permanent, ignore_if_exists=False)
    return made


def attempt(call: object) -> str:
    """Return ``done``, ``nothing``, or the code of the error."""
    assert callable(call)
    try:
        return "done" if call() else "nothing"
    except SchemaCoreError as error:
        return error.code


MISSING, HIDDEN = "table-not-found", "hidden-by-temporary"
NO_TEMPORARY = "table-not-found"

# fmt: off
#: temporary, permanent -> creating a table there: permanent, with IF NOT EXISTS; temporary, with it
CREATING = [
    (None,  None,  "done",         "done",    "done",         "done"),
    (TABLE, None,  "done",         "done",    "table-exists", "nothing"),
    (VIEW,  None,  "done",         "done",    "table-exists", "nothing"),
    (None,  TABLE, "table-exists", "nothing", "done",         "done"),
    (None,  VIEW,  "table-exists", "nothing", "done",         "done"),
    (TABLE, VIEW,  "table-exists", "nothing", "table-exists", "nothing"),
]

#: temporary, permanent -> dropping the table: permanent, with IF EXISTS; temporary, with it
DROPPING = [
    (None,  None,  MISSING, "nothing", NO_TEMPORARY, "nothing"),
    (None,  TABLE, "done",  "done",    NO_TEMPORARY, "nothing"),
    (None,  VIEW,  MISSING, "nothing", NO_TEMPORARY, "nothing"),
    (TABLE, None,  HIDDEN,  HIDDEN,    "done",       "done"),
    (TABLE, TABLE, HIDDEN,  HIDDEN,    "done",       "done"),
    (TABLE, VIEW,  HIDDEN,  HIDDEN,    "done",       "done"),
    (VIEW,  None,  MISSING, "nothing", NO_TEMPORARY, "nothing"),
    (VIEW,  TABLE, "done",  "done",    NO_TEMPORARY, "nothing"),
    (VIEW,  VIEW,  MISSING, "nothing", NO_TEMPORARY, "nothing"),
]

#: temporary, permanent -> altering the table, with IF EXISTS
ALTERING = [
    (None,  None,  "table-not-found", "nothing"),
    (None,  TABLE, "done",            "done"),
    (TABLE, None,  "table-not-found", "nothing"),
    (TABLE, TABLE, "table-not-found", "nothing"),
    (VIEW,  TABLE, "table-not-found", "nothing"),
    (None,  VIEW,  "table-not-found", "table-not-found"),
]
# fmt: on


@pytest.mark.parametrize(("temporary", "permanent", *"abcd"), CREATING)
def test_creating(
    temporary: ResolvedTable | None,
    permanent: ResolvedTable | None,
    a: str,
    b: str,
    c: str,
    d: str,
) -> None:
    def outcome(verb: str, lenient: bool) -> str:
        made = manager(temporary, permanent)
        return attempt(lambda: getattr(made, verb)(PATH, TABLE, lenient))

    assert [a, b, c, d] == [
        outcome("create", False),
        outcome("create", True),
        outcome("create_temporary", False),
        outcome("create_temporary", True),
    ]


@pytest.mark.parametrize(("temporary", "permanent", *"abcd"), DROPPING)
def test_dropping(
    temporary: ResolvedTable | None,
    permanent: ResolvedTable | None,
    a: str,
    b: str,
    c: str,
    d: str,
) -> None:
    def outcome(verb: str, lenient: bool) -> str:
        made = manager(temporary, permanent)
        return attempt(lambda: getattr(made, verb)(TableKind.TABLE, PATH, lenient))

    assert [a, b, c, d] == [
        outcome("drop", False),
        outcome("drop", True),
        outcome("drop_temporary", False),
        outcome("drop_temporary", True),
    ]


@pytest.mark.parametrize(("temporary", "permanent", "strict", "lenient"), ALTERING)
def test_altering(
    temporary: ResolvedTable | None, permanent: ResolvedTable | None, strict: str, lenient: str
) -> None:
    made = manager(temporary, permanent)

    assert strict == attempt(lambda: made.find_alterable(TableKind.TABLE, PATH, if_exists=False))
    assert lenient == attempt(lambda: made.find_alterable(TableKind.TABLE, PATH, if_exists=True))


def test_ddl_semantics_cover_all_cases() -> None:
    assert set(ExistingObject) == set(ddl_semantics.CREATE_PERMANENT)
    assert set(ExistingObject) == set(ddl_semantics.CREATE_TEMPORARY)
    assert set(ExistingObject) == set(ddl_semantics.DROP_TEMPORARY)
    assert set(product(ExistingObject, ExistingObject)) == set(ddl_semantics.DROP_PERMANENT)
    assert set(product((False, True), ExistingObject)) == set(ddl_semantics.DROP_BY_METHOD)
    assert set(product((False, True), ExistingObject)) == set(ddl_semantics.ALTER)
    assert set(Action) == {
        outcome
        for table in (
            ddl_semantics.CREATE_PERMANENT,
            ddl_semantics.CREATE_TEMPORARY,
            ddl_semantics.DROP_TEMPORARY,
            ddl_semantics.DROP_PERMANENT,
            ddl_semantics.DROP_BY_METHOD,
            ddl_semantics.ALTER,
        )
        for cell in table.values()
        for outcome in cell
    }


def test_temporary_object_hides_a_permanent_one_until_dropped() -> None:
    made = manager(VIEW, TABLE)

    assert VIEW is made.get(PATH).table
    made.drop_temporary(TableKind.VIEW, PATH, if_exists=False)
    assert TABLE is made.get(PATH).table


def test_temporary_object_does_not_require_its_catalog() -> None:
    made = manager()
    made.create_temporary(ELSEWHERE, TABLE, ignore_if_exists=False)

    assert made.get(ELSEWHERE).is_temporary
    with pytest.raises(NotFoundError) as caught:
        made.list_tables("nocat", "nodb")
    assert "catalog-not-found" == caught.value.code


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    ("path", "code"),
    [
        (ELSEWHERE, "catalog-not-found"),
        (ObjectIdentifier("home", "nodb", "t"), "database-not-found"),
    ],
)
def test_permanent_object_requires_its_database(
    path: ObjectIdentifier, code: str, lenient: bool
) -> None:
    with pytest.raises(NotFoundError) as caught:
        manager().create(path, TABLE, lenient)

    assert code == caught.value.code


def test_listings_show_temporary_objects_once() -> None:
    made = manager(VIEW, TABLE)

    assert ["t"] == made.list_tables("home", "db")
    assert ["t"] == made.list_views("home", "db")


def test_unknown_name_suggests_a_similar_one() -> None:
    with pytest.raises(NotFoundError) as caught:
        manager(None, TABLE).get(ObjectIdentifier("home", "db", "tt"))

    assert "did you mean 't'?" == caught.value.hint


def test_current_database_cannot_be_dropped() -> None:
    with pytest.raises(SchemaError) as caught:
        manager().drop_database("home", "db", if_exists=True, cascade=True)

    assert "object-in-use" == caught.value.code


# --- catalogs -------------------------------------------------------------------------------------


def test_stored_catalog_is_opened_at_first_use() -> None:
    store = InMemoryCatalogStore()
    good = CatalogDescriptor.of("good", {"type": "generic_in_memory", "default-database": "d"})
    store.store_catalog("good", good)
    store.store_catalog("broken", CatalogDescriptor.of("broken", {"type": "no such type"}))
    registry = CatalogRegistry("home", InMemoryCatalog("home", "db"), store)

    assert ["broken", "good", "home"] == registry.names()
    assert "d" == registry.get("good").get_default_database()
    with pytest.raises(SchemaError) as caught:
        registry.get("broken")
    assert "factory-not-found" == caught.value.code
    assert registry.drop("broken", ignore_if_not_exists=False)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "factory-not-found"),
        ({"type": "nope"}, "factory-not-found"),
        ({"type": "generic_in_memory", "color": "red"}, "unknown-option"),
        ({"type": "generic_in_memory", "default-database": ""}, "invalid-name"),
    ],
)
def test_options_of_a_catalog_are_checked(options: dict[str, str], code: str) -> None:
    registry = CatalogRegistry("home", InMemoryCatalog("home", "db"))
    with pytest.raises(SchemaError) as caught:
        registry.create(CatalogDescriptor.of("c", options), ignore_if_exists=False)

    assert code == caught.value.code
    assert ["home"] == registry.names()


def test_duplicate_catalog_and_drop_of_the_current_one_are_refused() -> None:
    registry = CatalogRegistry("home", InMemoryCatalog("home", "db"))
    with pytest.raises(AlreadyExistsError):
        registry.register("home", InMemoryCatalog("home", "db"))
    with pytest.raises(SchemaError) as caught:
        registry.drop("home", ignore_if_not_exists=True)
    assert "catalog-in-use" == caught.value.code


def test_use_catalog_sets_its_default_database() -> None:
    registry = CatalogRegistry("home", InMemoryCatalog("home", "db"))
    registry.register("other", InMemoryCatalog("other", "sales"))
    registry.use_catalog("other")

    assert ("other", "sales") == (registry.current_catalog, registry.current_database)
    registry.use_catalog(None)
    assert (None, None) == (registry.current_catalog, registry.current_database)


def test_failed_alter_catalog_leaves_it_unchanged() -> None:
    registry = CatalogRegistry("home", InMemoryCatalog("home", "db"))
    made = CatalogDescriptor.of("c", {"type": "generic_in_memory"})
    registry.create(made, ignore_if_exists=False)
    with pytest.raises(SchemaError):
        registry.alter("c", lambda old: CatalogDescriptor.of("c", {"type": "nope"}))

    assert made == registry.descriptor("c")


def test_descriptor_repr_masks_secrets() -> None:
    shown = repr(CatalogDescriptor.of("c", {"type": "x", "my.api-key": "hunter2"}))

    assert "hunter2" not in shown
    assert "my.api-key" in shown
