from pyflink.common import Row
from pyflink.table import AggregateFunction, DataTypes, EnvironmentSettings, ListView, TableEnvironment
from pyflink.table.expressions import call, col
from pyflink.table.udf import udaf


class WeightedAvg(AggregateFunction):
    def create_accumulator(self):
        return Row(0, 0)

    def get_value(self, accumulator):
        return None if accumulator[1] == 0 else accumulator[0] / accumulator[1]

    def accumulate(self, accumulator, value, weight):
        accumulator[0] += value * weight
        accumulator[1] += weight

    def retract(self, accumulator, value, weight):
        accumulator[0] -= value * weight
        accumulator[1] -= weight

    def get_result_type(self):
        return DataTypes.DOUBLE()

    def get_accumulator_type(self):
        return DataTypes.ROW([DataTypes.FIELD("f0", DataTypes.BIGINT()), DataTypes.FIELD("f1", DataTypes.BIGINT())])


class Concat(AggregateFunction):
    def create_accumulator(self):
        return Row(ListView(), "")

    def get_value(self, accumulator):
        return accumulator[1].join(sorted(accumulator[0]))

    def accumulate(self, accumulator, *args):
        accumulator[1] = args[1]
        accumulator[0].add(args[0])

    def get_accumulator_type(self):
        return DataTypes.ROW([
            DataTypes.FIELD("f0", DataTypes.LIST_VIEW(DataTypes.STRING())),
            DataTypes.FIELD("f1", DataTypes.STRING())])

    def get_result_type(self):
        return DataTypes.STRING()


t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
weighted_avg = udaf(WeightedAvg())
t_env.create_temporary_function("weighted_avg", weighted_avg)
t_env.create_temporary_function("concat_all", udaf(Concat()))
table = t_env.from_elements([(1, 2, "Lee"), (3, 4, "Jay"), (5, 6, "Jay"), (7, 8, "Lee")], ["value", "count", "name"])
table.group_by(col("name")).select(weighted_avg(col("value"), col("count")).alias("avg"), col("name")).execute().print()
table.group_by(col("name")).aggregate(weighted_avg(col("value"), col("count")).alias("w")).select(col("name"), col("w")).execute().print()
t_env.create_temporary_view("source", table)
t_env.sql_query("SELECT weighted_avg(`value`, `count`) AS weighted FROM source GROUP BY name").execute().print()
table.select(call("concat_all", col("name"), "|").alias("names")).execute().print()
