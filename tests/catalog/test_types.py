from __future__ import annotations

import pytest

from schema_core.base.paths import ObjectIdentifier, ObjectPath
from schema_core.catalog.api import Capability
from schema_core.catalog.objects import CatalogDatabase, CatalogType
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.errors import (
    AlreadyExistsError,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
    UnsupportedError,
)
from schema_core.types import DataTypes, DistinctType, StructuredType, parse_type

HERE = ObjectIdentifier.of("c", "d", "t")


@pytest.mark.parametrize(
    ("definition", "kind", "children"),
    [
        ("DECIMAL(10, 2) NOT NULL",        DistinctType,   ["DECIMAL(10, 2)"]),
        ("ARRAY<INT NOT NULL>",            DistinctType,   ["ARRAY<INT NOT NULL>"]),
        ("ROW<a INT, b STRING NOT NULL>",  StructuredType, ["INT", "STRING NOT NULL"]),
        ("STRUCTURED<'x.Y', a INT>",       StructuredType, ["INT"]),
    ],
)  # fmt: skip
def test_defined_type(definition: str, kind: type, children: list[str]) -> None:
    result = CatalogType(parse_type(definition), "what for").named(HERE)

    assert isinstance(result, DistinctType | StructuredType)
    assert kind is type(result)
    assert result.is_nullable
    assert ("`c`.`d`.`t`", "what for") == (str(result), result.description)
    assert children == [child.as_summary_string() for child in result.children()]


@pytest.mark.parametrize(
    ("definition", "code"),
    [
        (parse_type("ARRAY<nobody>"),                             "type-not-found"),
        (DataTypes.LIST_VIEW(DataTypes.INT()),                    "invalid-type"),
        (StructuredType(None, (), path=("c", "d", "other")),      "invalid-state"),
    ],
)  # fmt: skip
def test_invalid_definition(definition: object, code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        CatalogType(definition)  # type: ignore[arg-type]

    assert code == caught.value.code


class TestInMemory:
    path = ObjectPath("db", "money")
    money = CatalogType(DataTypes.INT())

    @pytest.fixture
    def catalog(self) -> InMemoryCatalog:
        catalog = InMemoryCatalog("c", "db")
        catalog.create_type(self.path, self.money, ignore_if_exists=False)
        return catalog

    def test_type_is_stored(self, catalog: InMemoryCatalog) -> None:
        assert Capability.TYPES in catalog.capabilities
        assert catalog.type_exists(self.path)
        assert (["money"], self.money) == (catalog.list_types("db"), catalog.get_type(self.path))
        with pytest.raises(AlreadyExistsError):
            catalog.create_type(self.path, self.money, ignore_if_exists=False)

    def test_type_is_dropped(self, catalog: InMemoryCatalog) -> None:
        catalog.drop_type(self.path, ignore_if_not_exists=False)

        assert not catalog.type_exists(self.path)
        with pytest.raises(NotFoundError):
            catalog.drop_type(self.path, ignore_if_not_exists=False)

    def test_database_with_a_type_is_not_empty(self, catalog: InMemoryCatalog) -> None:
        with pytest.raises(SchemaError) as caught:
            catalog.drop_database("db", ignore_if_not_exists=False)

        assert "database-not-empty" == caught.value.code
        catalog.drop_database("db", ignore_if_not_exists=False, cascade=True)
        catalog.create_database("db", CatalogDatabase.create_instance({}), ignore_if_exists=False)
        assert [] == catalog.list_types("db")


def test_catalog_without_type_support_refuses_types() -> None:
    from schema_core.catalog.api import Catalog

    class Plain(InMemoryCatalog):
        list_types = Catalog.list_types
        type_exists = Catalog.type_exists
        create_type = Catalog.create_type

    plain = Plain("c")

    assert ([], False) == (plain.list_types("default"), plain.type_exists(TestInMemory.path))
    with pytest.raises(UnsupportedError) as caught:
        plain.create_type(TestInMemory.path, TestInMemory.money, ignore_if_exists=False)
    assert "unsupported-capability" == caught.value.code
