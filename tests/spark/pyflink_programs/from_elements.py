import datetime
from decimal import Decimal

from pyflink.common import Row, RowKind
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col, row

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.from_elements([(1, "Hi"), (2, "Hello")]).print_schema()
t_env.from_elements([(1, "Hi", 2.5, True)], ["a", "b", "c", "d"]).print_schema()
typed = t_env.from_elements(
    [
        (
            1,
            Decimal("12.345"),
            datetime.date(2024, 2, 29),
            datetime.time(1, 2, 3),
            datetime.datetime(2024, 2, 29, 1, 2, 3, 456000),
            ["x", "y"],
            {"k": 1},
            Row(5, "in"),
        )
    ],
    DataTypes.ROW(
        [
            DataTypes.FIELD("a", DataTypes.TINYINT()),
            DataTypes.FIELD("b", DataTypes.DECIMAL(10, 3)),
            DataTypes.FIELD("c", DataTypes.DATE()),
            DataTypes.FIELD("d", DataTypes.TIME()),
            DataTypes.FIELD("e", DataTypes.TIMESTAMP(3)),
            DataTypes.FIELD("f", DataTypes.ARRAY(DataTypes.STRING())),
            DataTypes.FIELD("g", DataTypes.MAP(DataTypes.STRING(), DataTypes.BIGINT())),
            DataTypes.FIELD(
                "h",
                DataTypes.ROW(
                    [
                        DataTypes.FIELD("x", DataTypes.INT()),
                        DataTypes.FIELD("y", DataTypes.STRING()),
                    ]
                ),
            ),
        ]
    ),
)
typed.print_schema()
with typed.execute().collect() as results:
    for found in results:
        print(found.get_row_kind() == RowKind.INSERT, len(found))
        print(found[0], found[1], found[2], found[3], found[4], found[5], found[6])
        print(found[7][0], found[7][1])
nested = typed.select(col("h").get("x"), col("h").y.alias("y"), col("f").at(1), col("g").at("k"))
print(nested.get_schema().get_field_names())
for found in nested.execute().collect():
    print(*found)
rows = t_env.from_elements(
    [row(1, "abc"), row(2, "def")],
    DataTypes.ROW(
        [DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("t", DataTypes.STRING())]
    ),
)
rows.print_schema()
print(sorted(tuple(one) for one in rows.execute().collect()))
