"""Stored functions, types and models are restored equal, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schema_core import DataTypes, EnvironmentSettings, ModelDescriptor, Schema, TableEnvironment
from schema_core.base.paths import ObjectPath
from schema_core.catalog.objects import CatalogFunction, CatalogType, FunctionLanguage, ResourceUri
from schema_core.catalog.stores.object_store import StoredKind
from schema_core.catalogs import serialization
from schema_core.catalogs.hive.codec import HiveCodec
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.errors import ExternalError, SchemaCoreError, SchemaError
from schema_core.properties.limits import get_store_limits
from schema_core.types import DataType, DistinctType, RowField, StructuredType, parse_type

T = ObjectPath("default", "t")


def distinct(name: str, source: DataType) -> DistinctType:
    return DistinctType(("c", "d", name), source)


MONEY = distinct("money", DataTypes.DECIMAL(10, 2))
BILL = StructuredType(
    "com.acme.Bill",
    (RowField("paid", MONEY.not_null()), RowField("due", DataTypes.ARRAY(MONEY), "later")),
    path=("c", "d", "bill"),
    description="for `money`",
)


@pytest.fixture
def catalog(tmp_path: Path) -> SqlCatalog:
    made = SqlCatalog("c", f"sqlite:///{tmp_path}/c.db")
    made.open()
    return made


@pytest.mark.parametrize(
    "definition",
    [
        DataTypes.ARRAY(MONEY),
        DataTypes.ROW([DataTypes.FIELD("a", BILL.not_null()), DataTypes.FIELD("b", MONEY)]),
        distinct("salary", distinct("pay", MONEY)),
        StructuredType("com.acme.Bills", (RowField("all", DataTypes.MULTISET(BILL)),)),
        StructuredType("com.acme.Empty"),
        DataTypes.ARRAY(StructuredType(None, (RowField("x", MONEY),), path=("`", "a.b", ""))),
    ],
)
def test_a_type_of_user_defined_types_is_restored(
    catalog: SqlCatalog, definition: DataType
) -> None:
    """Their definitions are stored with the type, so they may be dropped."""
    kept = CatalogType(definition, "what for")
    catalog.create_type(T, kept, ignore_if_exists=False)

    assert kept == catalog.get_type(T)


def test_the_document_of_other_types_is_unchanged() -> None:
    kept = CatalogType(parse_type("ROW<a INT>"))

    assert '{"definition":"ROW<`a` INT>","description":null}' == serialization.serialize(
        StoredKind.TYPE, kept
    )


def test_a_name_with_two_meanings_is_refused(catalog: SqlCatalog) -> None:
    other = distinct("money", DataTypes.STRING())
    fields = [DataTypes.FIELD("a", MONEY), DataTypes.FIELD("b", other)]
    with pytest.raises(SchemaError) as caught:
        catalog.create_type(T, CatalogType(DataTypes.ROW(fields)), ignore_if_exists=False)

    assert "not-representable" == caught.value.code
    assert not catalog.type_exists(T)


@pytest.mark.parametrize(
    "text",
    [
        '{"definition":"ARRAY<`a`>","types":[[["a"],"INT"]]}',
        '{"definition":"ARRAY<`a`>","types":[["a","INT",1]]}',
        '{"definition":"ARRAY<`a`>","types":3}',
        '{"definition":null}',
    ],
)
def test_a_malformed_type_is_refused(text: str) -> None:
    with pytest.raises(ExternalError) as caught:
        serialization.deserialize(StoredKind.TYPE, text)

    assert "corrupt-entry" == caught.value.code


def test_a_type_of_user_defined_types_is_resolved_in_another_session(tmp_path: Path) -> None:
    def session() -> TableEnvironment:
        made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        made.execute_sql(f"CREATE CATALOG c WITH ('type'='sql', 'url'='sqlite:///{tmp_path}/c.db')")
        made.use_catalog("c")
        return made

    before = session()
    before.create_type("money", "DECIMAL(10, 2)")
    before.create_type("bill", "ROW<paid money>")
    before.drop_type("money")
    environment = session()
    environment.execute_sql("CREATE TABLE t (b bill, p AS b.paid)")
    schema = environment.from_path("t").get_resolved_schema()

    assert ["`c`.`default`.`bill`", "`c`.`default`.`money`"] == [
        str(column.data_type) for column in schema.get_columns()
    ]


# --- functions -----------------------------------------------------------------------------------


def test_a_function_with_resources_is_restored(catalog: SqlCatalog) -> None:
    files: Any = [ResourceUri("JAR", "a/\x00 ' \"é.jar")]
    function = CatalogFunction("f", FunctionLanguage.JAVA, files, {"k": "\n\\"})
    catalog.create_function(T, function, ignore_if_exists=False)

    assert function == catalog.get_function(T)


@pytest.mark.parametrize(
    ("function", "refused"),
    [
        (CatalogFunction("flink:python:f", FunctionLanguage.JAVA), True),
        (CatalogFunction("flink:f", FunctionLanguage.JAVA), True),
        (CatalogFunction("flink:python:f", FunctionLanguage.PYTHON), False),
        (CatalogFunction("f", FunctionLanguage.JAVA, (ResourceUri("jar", "a"),)), False),
    ],
)
def test_a_class_name_with_a_language_prefix_of_hive(
    function: CatalogFunction, refused: bool
) -> None:
    codec = HiveCodec(get_store_limits("hive"))
    if refused:
        with pytest.raises(SchemaError) as caught:
            codec.encode_function("d", "f", function)
        assert "not-representable" == caught.value.code
    else:
        stored = codec.encode_function("d", "f", function)
        assert function.class_name == codec.decode_function(stored).class_name


# --- models --------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["input", "output"])
@pytest.mark.parametrize("kind", ["sql", "memory"])
def test_an_unresolvable_model_is_refused(tmp_path: Path, kind: str, side: str) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    if kind == "sql":
        environment.register_catalog("c", SqlCatalog("c", f"sqlite:///{tmp_path}/c.db"))
        environment.use_catalog("c")
    good = Schema.new_builder().column("a", "INT").build()
    bad = Schema.new_builder().column("a", BILL).build()
    sides = (bad, good) if side == "input" else (good, bad)
    builder = ModelDescriptor.for_provider("x").option("task", "y")
    model = builder.input_schema(sides[0]).output_schema(sides[1]).build()
    with pytest.raises(SchemaCoreError) as caught:
        environment.create_model("m", model)

    assert ("not-representable", (side, "column 'a'")) == (caught.value.code, caught.value.path)
    assert [] == environment.list_models()


def test_an_altered_model_is_validated() -> None:
    """Its type was resolvable when the model was created, but is not now."""
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment.create_type("money", "INT")
    environment.execute_sql("CREATE MODEL m INPUT (a money) OUTPUT (b INT) WITH ('provider'='x')")
    environment.drop_type("money")
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql("ALTER MODEL m SET ('task' = 'z')")

    assert "not-representable" == caught.value.code
    shown = "".join(str(row) for row in environment.execute_sql("SHOW CREATE MODEL m").collect())
    assert "task" not in shown
