from pyflink.common import Row
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment, TableFunction
from pyflink.table.expressions import col
from pyflink.table.udf import udtf


class Split(TableFunction):
    def eval(self, text, separator=","):
        for place, part in enumerate(text.split(separator)):
            if part:
                yield part, place


class Range(TableFunction):
    def eval(self, n):
        return range(n)


t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
split = udtf(Split(), result_types=[DataTypes.STRING(), DataTypes.INT()])
numbers = udtf(Range(), result_types=DataTypes.BIGINT())
table = t_env.from_elements([(2, "a,b"), (0, ""), (1, "c")], ["n", "text"])
table.join_lateral(split(col("text"), ",").alias("part", "place")).select(col("n"), col("part"), col("place")).execute().print()
table.left_outer_join_lateral(numbers(col("n")).alias("i")).select(col("text"), col("i")).execute().print()
t_env.create_temporary_function("pieces", split)
t_env.create_temporary_view("t", table)
t_env.execute_sql("SELECT n, p FROM t LEFT JOIN LATERAL TABLE(pieces(text, ',')) AS s (p, i) ON TRUE").print()


@udtf(result_types=[DataTypes.STRING()])
def only(row: Row):
    return row.text.upper() if row.n else None


table.flat_map(only).execute().print()
