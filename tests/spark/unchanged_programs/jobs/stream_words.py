import argparse
import sys

from pyflink.common import Types, WatermarkStrategy, Duration
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.functions import FilterFunction, FlatMapFunction, KeySelector, MapFunction, ReduceFunction

lines = ["to be or not to be", "that is the question", "to sleep to dream"]


class Split(FlatMapFunction):
    def flat_map(self, value):
        yield from value.split()


class Pair(MapFunction):
    def map(self, value):
        return value, 1


class LongWord(FilterFunction):
    def filter(self, value):
        return len(value[0]) > 1


class Add(ReduceFunction):
    def reduce(self, value1, value2):
        return value1[0], value1[1] + value2[1]


class First(KeySelector):
    def get_key(self, value):
        return value[0]


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1] * 1000


def main(mode):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH if mode == "batch" else RuntimeExecutionMode.STREAMING)
    env.set_parallelism(1)
    stream = env.from_collection(lines, type_info=Types.STRING())
    counts = (stream.flat_map(Split(), output_type=Types.STRING())
              .map(Pair(), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
              .filter(LongWord())
              .key_by(First(), key_type=Types.STRING())
              .reduce(Add()))
    counts.print()
    env.execute("words")
    stamped = env.from_collection([("a", 3), ("b", 1), ("a", 2)], Types.TUPLE([Types.STRING(), Types.INT()]))
    stamped = stamped.assign_timestamps_and_watermarks(
        WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)).with_timestamp_assigner(Stamp()))
    with stamped.map(lambda value: value[0] * value[1], Types.STRING()).union(
            env.from_collection(["z"], Types.STRING())).execute_and_collect() as values:
        print(sorted(values))
    with stamped.key_by(lambda value: value[0]).max(1).execute_and_collect("maxima") as values:
        print(list(values))
    env.from_collection([1, 2, 3]).map(lambda n: n * n).print()
    env.execute()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=["batch", "streaming"], default="streaming")
    main(parser.parse_args(sys.argv[1:]).mode)
