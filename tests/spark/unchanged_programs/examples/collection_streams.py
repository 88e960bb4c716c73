from pyflink.common import Row, Types
from pyflink.datastream import (FlatMapFunction, KeySelector, MapFunction, RuntimeExecutionMode,
                                StreamExecutionEnvironment)

SALES = [("tea", 3, 2.5), ("rye", 1, 4.0), ("tea", 2, 2.0), ("oat", 5, 1.25), ("rye", 4, 3.5)]
TYPE = Types.TUPLE([Types.STRING(), Types.INT(), Types.DOUBLE()])


class Total(MapFunction):
    def open(self, runtime_context):
        self.rate = 2

    def map(self, value):
        return Row(value[0], value[1] * value[2] * self.rate)


class Repeat(FlatMapFunction):
    def flat_map(self, value):
        for place in range(min(value[1], 2)):
            yield f"{value[0]}-{place}"


class Item(KeySelector):
    def get_key(self, value):
        return value[0]


def run(mode):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.set_runtime_mode(mode)
    sales = env.from_collection(SALES, type_info=TYPE)
    totals = sales.map(Total(), output_type=Types.ROW([Types.STRING(), Types.DOUBLE()]))
    totals.filter(lambda row: row[1] > 8).print()
    env.execute("totals")
    sales.flat_map(Repeat(), output_type=Types.STRING()).print("word")
    env.execute("words")
    sums = sales.key_by(Item(), key_type=Types.STRING()).sum(1)
    sums.map(
        lambda sale: Row(*sale), Types.ROW([Types.STRING(), Types.INT(), Types.DOUBLE()])
    ).print()
    env.execute("sums")
    totals.key_by(lambda row: row[0]).reduce(lambda a, b: Row(a[0], a[1] + b[1])).print()
    env.execute("reduced")
    more = env.from_collection([("fig", 1, 0.5)], type_info=TYPE)
    with sales.union(more).map(lambda sale: sale[0].upper()).execute_and_collect() as words:
        print(sorted(words))
    print(sales.project(2, 0).execute_and_collect(limit=2), sales.get_type())


if __name__ == "__main__":
    run(RuntimeExecutionMode.STREAMING)
    run(RuntimeExecutionMode.BATCH)
