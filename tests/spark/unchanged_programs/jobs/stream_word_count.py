import sys

from pyflink.common import Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

WORDS = ["to be or not to be", "that is the question"]


def word_count(words):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(1)
    ds = env.from_collection(words, Types.STRING())

    def split(line):
        yield from line.split()

    ds = (
        ds.flat_map(split)
        .map(lambda i: (i, 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
        .key_by(lambda i: i[0])
        .reduce(lambda i, j: (i[0], i[1] + j[1]))
    )
    with ds.execute_and_collect() as results:
        print(sorted(results))


if __name__ == "__main__":
    word_count(WORDS if len(sys.argv) < 2 else sys.argv[1:])
