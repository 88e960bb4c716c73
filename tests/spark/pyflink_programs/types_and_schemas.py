import datetime
from decimal import Decimal

from pyflink.common.types import Row, RowKind
from pyflink.table import DataTypes, Schema
from pyflink.table.catalog import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogFunction,
    ObjectIdentifier,
    ObjectPath,
)
from pyflink.table.schema import Schema as SameSchema
from pyflink.table.table_schema import TableSchema
from pyflink.table.types import (
    ArrayType,
    DataType,
    DecimalType,
    IntType,
    MapType,
    RowField,
    RowType,
    VarCharType,
)
from pyflink.version import __version__


def types_and_schemas():
    row = DataTypes.ROW(
        [
            DataTypes.FIELD("id", DataTypes.BIGINT(False)),
            DataTypes.FIELD("tags", DataTypes.ARRAY(DataTypes.STRING())),
            DataTypes.FIELD("prices", DataTypes.MAP(DataTypes.STRING(), DataTypes.DECIMAL(10, 2))),
        ]
    )
    print(isinstance(row, RowType), row.field_names(), len(row))
    print([isinstance(one, DataType) for one in row.field_types()])
    print(isinstance(row["tags"].data_type, ArrayType), isinstance(row[2].data_type, MapType))
    print(isinstance(row.fields[0], RowField))
    decimal = DataTypes.DECIMAL(10, 2)
    print(isinstance(decimal, DecimalType), decimal.precision, decimal.scale)
    print(DataTypes.INT() == IntType(), VarCharType(5).length, DataTypes.STRING() == VarCharType(0x7fffffff))

    value = Row(id=1, name="Ann", day=datetime.date(2026, 1, 2), price=Decimal("1.50"))
    print(value, value.id, value["name"], value.as_dict(), len(value), "name" in value)
    print(Row("a", "b")(1, 2), Row(1, 2) == Row(1, 2), 1 in Row(1, None), "a" in Row(a=1))
    value.set_row_kind(RowKind.DELETE)
    print(value.get_row_kind(), RowKind.UPDATE_AFTER, str(RowKind.UPDATE_BEFORE))

    schema = (
        Schema.new_builder()
        .column("id", DataTypes.BIGINT().not_null())
        .column("price", "DECIMAL(10, 2)")
        .column_by_metadata("ts", DataTypes.TIMESTAMP(3), "timestamp", True)
        .column_by_expression("total", "price * 2")
        .watermark("ts", "ts - INTERVAL '5' SECOND")
        .primary_key("id")
        .build()
    )
    print(schema)
    print(Schema is SameSchema, schema == Schema.new_builder().from_schema(schema).build())

    path = ObjectPath("shop", "orders")
    print(path, path.get_full_name(), path == ObjectPath.from_string("shop.orders"))
    identifier = ObjectIdentifier.of("c", "shop", "orders")
    print(identifier.as_summary_string(), identifier.to_list(), identifier.get_object_name())
    database = CatalogDatabase.create_instance({"k": "v"}, "a comment")
    print(database.get_comment(), database.get_properties())
    print(CatalogFunction.create_instance("pkg.mod.f", "PYTHON").get_class_name())
    table = CatalogBaseTable.create_table(
        TableSchema(["id"], [DataTypes.BIGINT()]), [], {"connector": "datagen"}, "orders"
    )
    print(table.get_comment(), table.get_options(), __version__)


types_and_schemas()
