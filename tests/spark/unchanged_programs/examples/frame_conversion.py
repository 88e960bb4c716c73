import numpy as np
import pandas as pd

from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import DataTypes, StreamTableEnvironment
from pyflink.table.expressions import col


def convert():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    t_env = StreamTableEnvironment.create(stream_execution_environment=env)
    t_env.get_config().set("parallelism.default", "1")

    frame = pd.DataFrame(np.array([[0.25, 4.0], [0.5, 3.0], [0.75, 2.0], [1.0, 1.0]]))
    table = t_env.from_pandas(
        frame,
        schema=DataTypes.ROW(
            [DataTypes.FIELD("a", DataTypes.DOUBLE()), DataTypes.FIELD("b", DataTypes.DOUBLE())]
        ),
    )
    print(table.filter(col("a") > 0.3).select(col("a"), col("a") * col("b")).to_pandas())


if __name__ == "__main__":
    convert()
