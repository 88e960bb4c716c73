from pyflink.metrics import Counter, Distribution, Meter, MetricGroup
from pyflink.metrics.metricbase import MetricGroup as SameGroup
from pyflink.table import (
    AggregateFunction,
    DataTypes,
    EnvironmentSettings,
    FunctionContext,
    ListView,
    ScalarFunction,
    TableEnvironment,
)
from pyflink.table.data_view import ListView as SameView
from pyflink.table.expressions import call, col
from pyflink.table.udf import udaf, udf


class Doubled(ScalarFunction):
    def open(self, function_context: FunctionContext):
        group = function_context.get_metric_group()
        self.ok = isinstance(group, MetricGroup)
        self.counter = group.add_group("shop").counter("rows")
        self.meter = group.meter("rate")
        self.distribution = group.distribution("values")
        self.last = 0
        group.gauge("last", lambda: self.last)

    def eval(self, value):
        self.last = value
        self.counter.inc()
        self.counter.inc(2)
        self.meter.mark_event()
        self.distribution.update(value)
        kinds = (
            isinstance(self.counter, Counter)
            and isinstance(self.meter, Meter)
            and isinstance(self.distribution, Distribution)
        )
        return value * 2 if self.ok and kinds else None


class Joined(AggregateFunction):
    def create_accumulator(self):
        return [""]

    def accumulate(self, accumulator, value):
        accumulator[0] = ",".join(sorted([*filter(None, accumulator[0].split(",")), value]))

    def get_value(self, accumulator):
        return accumulator[0]

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.STRING())

    def get_result_type(self):
        return DataTypes.STRING()


def metrics():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    print(MetricGroup is SameGroup, ListView is SameView)
    t_env.create_temporary_function("doubled", udf(Doubled(), result_type=DataTypes.BIGINT()))
    t_env.create_temporary_function("joined", udaf(Joined()))
    tab = t_env.from_elements([(1, "a"), (2, "b"), (3, "c")], ["n", "s"])
    with tab.select(call("doubled", col("n")), col("s")).execute().collect() as results:
        print(sorted((row[0], row[1]) for row in results))


metrics()
