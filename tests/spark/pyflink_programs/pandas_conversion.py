import pandas as pd

from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col
from pyflink.table.udf import udaf, udf

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
frame = pd.DataFrame({"k": ["a", "b", "a", "c"], "x": [1.5, 2.5, 3.5, 4.5], "n": [1, 2, 3, 4]})
table = t_env.from_pandas(frame)
table.print_schema()
table = t_env.from_pandas(
    frame, DataTypes.ROW([DataTypes.FIELD("k", DataTypes.STRING()),
                          DataTypes.FIELD("x", DataTypes.DOUBLE()),
                          DataTypes.FIELD("n", DataTypes.INT())]))


@udf(result_type=DataTypes.DOUBLE(), func_type="pandas")
def scaled(x, n):
    return x * n + 0.25


@udaf(result_type=DataTypes.DOUBLE(), func_type="pandas")
def mean(x):
    return x.mean()


found = table.select(col("k"), scaled(col("x"), col("n")).alias("y"))
result = found.to_pandas()
print(list(result.columns), [str(one) for one in result.dtypes][1:])
print(sorted(result.itertuples(index=False, name=None)))
means = table.group_by(col("k")).select(col("k"), mean(col("x")).alias("m")).to_pandas()
print(sorted(means.itertuples(index=False, name=None)))
