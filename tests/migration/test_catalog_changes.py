"""Changes between catalogs: which they are, in which order, and what they are refused for."""

from __future__ import annotations

from typing import Any

import pytest

from schema_core import Schema
from schema_core.catalog import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogTable,
    CatalogView,
    InMemoryCatalog,
    ObjectPath,
)
from schema_core.errors import SchemaCoreError
from schema_core.migration import apply_to_catalog, diff_catalogs, read_catalog


def table(*columns: str, **options: str) -> CatalogTable:
    """A table of INT columns."""
    builder = Schema.new_builder()
    for name in columns:
        builder.column(name, "INT")
    return CatalogTable(builder.build(), options=options)


def view(column: str, query: str = "SELECT 1") -> CatalogView:
    """A view of one column."""
    return CatalogView(table(column).schema, query, query)


def catalog(
    objects: dict[str, CatalogBaseTable], databases: dict[str, CatalogDatabase] | None = None
) -> InMemoryCatalog:
    """A catalog with the objects at paths such as ``db.t``; a name is in the default database."""
    made = InMemoryCatalog("c", "db")
    for name, database in (databases or {}).items():
        made.create_database(name, database, ignore_if_exists=False)
    for path, object_ in objects.items():
        database_name, _, name = f"db.{path}".rpartition(".")
        made.create_table(ObjectPath(database_name.rpartition(".")[2], name), object_, False)
    return made


T, U, V = table("a"), table("a", "b"), view("a")
COMMENTED = CatalogDatabase({}, "new")

#: old objects, new objects, renames, changes
CASES: list[tuple[dict[str, Any], dict[str, Any], dict[str, str], list[str]]] = [
    ({"t": T}, {"t": T}, {}, []),
    ({}, {"v": V, "t": T}, {}, [
        "AddObject{path=`db`.`t`, kind=TABLE}",
        "AddObject{path=`db`.`v`, kind=VIEW}",
    ]),
    ({"t": T, "v": V}, {}, {}, [
        "RemoveObject{path=`db`.`v`, kind=VIEW}",
        "RemoveObject{path=`db`.`t`, kind=TABLE}",
    ]),
    ({"t": T}, {"t": U}, {},
     ["ModifyTable{path=`db`.`t`, changes=[AddColumn{column=`b` INT, position=null}]}"]),
    ({"t": T}, {"t": table("a", password="hunter2")}, {},
     ["ModifyTable{path=`db`.`t`, changes=[SetOption{key='password', value='******'}]}"]),
    ({"v": V}, {"v": view("a", "SELECT 2")}, {}, ["ModifyObject{path=`db`.`v`, kind=VIEW}"]),
    ({"t": T}, {"t": V}, {}, [
        "RemoveObject{path=`db`.`t`, kind=TABLE}",
        "AddObject{path=`db`.`t`, kind=VIEW}",
    ]),
    ({"t": T}, {"u": U}, {"t": "u"}, [
        "RenameObject{path=`db`.`t`, newName=`u`}",
        "ModifyTable{path=`db`.`u`, changes=[AddColumn{column=`b` INT, position=null}]}",
    ]),
    ({"t": T, "u": V}, {"u": T}, {"t": "u"}, [
        "RemoveObject{path=`db`.`u`, kind=VIEW}",
        "RenameObject{path=`db`.`t`, newName=`u`}",
    ]),
    ({"t": T, "u": U}, {"t": U, "u": T}, {"t": "u", "u": "t"}, [
        "RenameObject{path=`db`.`t`, newName=`t_`}",
        "RenameObject{path=`db`.`u`, newName=`t`}",
        "RenameObject{path=`db`.`t_`, newName=`u`}",
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "renames", "expected"), CASES)
def test_objects(
    old: dict[str, Any], new: dict[str, Any], renames: dict[str, str], expected: list[str]
) -> None:
    before, after = catalog(old), catalog(new)
    hints = {ObjectPath("db", path): name for path, name in renames.items()}
    changes = diff_catalogs(before, after, renames=hints)

    assert expected == list(map(str, changes))
    apply_to_catalog(changes, before)
    assert () == diff_catalogs(before, after)


def test_databases() -> None:
    before = catalog({"x.t": T, "t": T}, {"x": CatalogDatabase(), "y": CatalogDatabase()})
    after = catalog({"z.t": T, "t": T}, {"y": COMMENTED, "z": CatalogDatabase()})
    changes = diff_catalogs(before, read_catalog(after))

    assert [
        "AddDatabase{name=`z`}",
        "AddObject{path=`z`.`t`, kind=TABLE}",
        "ModifyDatabase{name=`y`}",
        "RemoveObject{path=`x`.`t`, kind=TABLE}",
        "RemoveDatabase{name=`x`}",
    ] == list(map(str, changes))
    apply_to_catalog(changes, before)
    assert () == diff_catalogs(before, after)


def test_columns_are_renamed_by_hint() -> None:
    before, after = catalog({"t": T}), catalog({"u": table("z")})
    changes = diff_catalogs(
        before,
        after,
        renames={ObjectPath("db", "t"): "u"},
        column_renames={ObjectPath("db", "u"): {"a": "z"}},
    )

    assert "ModifyColumnName{Column=`a` INT, newName='z'}" in str(changes[-1])


PATH = ObjectPath("db", "t")

#: old objects, new objects, what another process does before the changes are applied, code
STALE: list[tuple[dict[str, Any], dict[str, Any], Any, str]] = [
    ({"t": T}, {"t": U}, lambda c: c.alter_table(PATH, U, False), "duplicate-column"),
    ({"t": T}, {}, lambda c: c.alter_table(PATH, U, False), "change-does-not-fit"),
    ({"t": V}, {"t": view("b")}, lambda c: c.alter_table(PATH, view("c"), False),
     "change-does-not-fit"),
    ({"t": T}, {"t": U}, lambda c: c.drop_table(PATH, False), "table-not-found"),
    ({}, {"t": T}, lambda c: c.create_table(PATH, T, False), "table-exists"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "meanwhile", "code"), STALE)
def test_changes_for_another_state_are_refused(
    old: dict[str, Any], new: dict[str, Any], meanwhile: Any, code: str
) -> None:
    before = catalog(old)
    changes = diff_catalogs(before, catalog(new))
    meanwhile(before)
    result = read_catalog(before)

    with pytest.raises(SchemaCoreError) as caught:
        apply_to_catalog(changes, before)

    assert code == caught.value.code
    assert result == read_catalog(before)


#: renames, renames of columns
UNKNOWN: list[tuple[Any, Any]] = [
    ({ObjectPath("db", "x"): "u"}, {}),
    ({PATH: "x"}, {}),
    ({PATH: "v"}, {}),
    ({}, {ObjectPath("db", "x"): {"a": "b"}}),
]


@pytest.mark.parametrize(("renames", "column_renames"), UNKNOWN)
def test_unknown_renames_are_refused(renames: Any, column_renames: Any) -> None:
    before, after = catalog({"t": T}), catalog({"u": U, "v": V})

    with pytest.raises(SchemaCoreError) as caught:
        diff_catalogs(before, after, renames=renames, column_renames=column_renames)

    assert caught.value.code == "not-found"
