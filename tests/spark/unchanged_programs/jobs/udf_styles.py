import functools


from pyflink.common import Row
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import call, col
from pyflink.table.udf import ScalarFunction, udf

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())


class HashCode(ScalarFunction):
    def __init__(self):
        self.factor = None

    def open(self, function_context):
        self.factor = int(function_context.get_job_parameter("factor", "12"))

    def eval(self, s):
        return sum(map(ord, s)) * self.factor


class Callable:
    def __call__(self, i, j):
        return i + j


def partial_add(i, j, k):
    return i + j + k


hash_code = udf(HashCode(), result_type=DataTypes.BIGINT())
add_callable = udf(Callable(), result_type=DataTypes.BIGINT())
add_partial = udf(functools.partial(partial_add, k=100), result_type=DataTypes.BIGINT())
add_lambda = udf(lambda i, j: i + j, [DataTypes.BIGINT(), DataTypes.BIGINT()], DataTypes.BIGINT())


@udf(result_type="ROW<lower STRING, size INT>")
def parts(s):
    return Row(s.lower(), len(s))


table = t_env.from_elements([(1, 2, "Hi"), (2, 5, "Hello")], ["a", "b", "s"])
t_env.create_temporary_system_function("hash_code", hash_code)
t_env.create_temporary_function("add_two", add_lambda)
t_env.create_temporary_view("t", table)
table.select(
    hash_code(col("s")).alias("h"), add_callable(col("a"), col("b")).alias("c"),
    add_partial(col("a"), col("b")).alias("p"), call("add_two", col("a"), col("b")).alias("l"),
    parts(col("s")).get("lower").alias("low"),
).order_by(col("p")).execute().print()
t_env.sql_query("SELECT hash_code(s) AS h, add_two(a, 10) AS x FROM t WHERE add_two(a, b) > 3").execute().print()
print(sorted(t_env.list_user_defined_functions()))
print(t_env.drop_temporary_function("add_two"), t_env.drop_temporary_system_function("hash_code"))
