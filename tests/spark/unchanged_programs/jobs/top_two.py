from pyflink.common import Row
from pyflink.table import DataTypes, EnvironmentSettings, TableAggregateFunction, TableEnvironment
from pyflink.table.expressions import col
from pyflink.table.udf import udtaf


class Top2(TableAggregateFunction):
    def emit_value(self, accumulator):
        yield Row(accumulator[0])
        yield Row(accumulator[1])

    def create_accumulator(self):
        return [None, None]

    def accumulate(self, accumulator, row):
        if row[0] is not None:
            if accumulator[0] is None or row[0] > accumulator[0]:
                accumulator[1] = accumulator[0]
                accumulator[0] = row[0]
            elif accumulator[1] is None or row[0] > accumulator[1]:
                accumulator[1] = row[0]

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.ROW([DataTypes.FIELD("a", DataTypes.BIGINT())])


t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
top2 = udtaf(Top2())
t = t_env.from_elements(
    [(1, "Hi", "Hello"), (3, "Hi", "hi"), (5, "Hi2", "hi"), (7, "Hi", "Hello"), (2, "Hi", "Hello")],
    ["a", "b", "c"],
)
t.select(col("a"), col("c")).group_by(col("c")).flat_aggregate(top2).select(col("*")).execute().print()
t.group_by(col("b")).flat_aggregate(top2.alias("most")).select(col("b"), col("most")).execute().print()
