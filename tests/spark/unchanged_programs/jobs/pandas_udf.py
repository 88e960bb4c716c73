import pandas as pd

from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col
from pyflink.table.udf import udaf, udf

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.get_config().set("python.fn-execution.arrow.batch.size", "2")


@udf(result_type=DataTypes.DOUBLE(), func_type="pandas")
def discounted(price, rate):
    return price * (1 - rate)


@udaf(result_type=DataTypes.DOUBLE(), func_type="pandas")
def spread(v):
    return v.max() - v.min()


frame = pd.DataFrame({
    "item": ["tea", "tea", "rye", "rye"], "price": [4.0, 6.0, 2.5, 3.5], "rate": [0.5, 0.0, 0.2, 0.0]
})
table = t_env.from_pandas(frame)
result = table.select(col("item"), discounted(col("price"), col("rate")).alias("p"))
print(result.to_pandas())
grouped = table.group_by(col("item")).select(col("item"), spread(col("price")).alias("spread"))
print(grouped.to_pandas().sort_values("item").to_string(index=False))
t_env.create_temporary_function("spread", spread)
t_env.create_temporary_view("prices", table)
print(t_env.sql_query("SELECT spread(price) AS s FROM prices").to_pandas()["s"].tolist())
