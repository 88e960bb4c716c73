from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col
from pyflink.table.udf import udf, udtf

LINES = ["To be, or not to be", "that is the question", "whether 'tis nobler", "to suffer"]


def word_count():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())

    @udtf(result_types=[DataTypes.STRING()])
    def split(line):
        for word in line.split():
            yield word

    clean = udf(lambda word: word.strip(",'").lower(), result_type=DataTypes.STRING())

    tab = t_env.from_elements([(i, line) for i, line in enumerate(LINES)], ["id", "line"])
    counted = (
        tab.join_lateral(split(col("line")).alias("raw"))
        .select(clean(col("raw")).alias("word"))
        .group_by(col("word"))
        .select(col("word"), col("word").count.alias("count"))
    )
    counted.print_schema()
    with counted.execute().collect() as results:
        for row in sorted(results, key=lambda one: (-one[1], one[0])):
            print(row[0], row[1])


word_count()
