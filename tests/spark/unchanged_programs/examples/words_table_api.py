import argparse
import logging
import sys

from pyflink.common import Row
from pyflink.table import (DataTypes, EnvironmentSettings, FormatDescriptor, Schema, TableDescriptor,
                           TableEnvironment)
from pyflink.table.expressions import col, lit
from pyflink.table.udf import udtf

LINES = ["the ship sails", "the sea is calm", "a ship in the harbour"]


def count_words(source, target):
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("parallelism.default", "1")

    if source is not None:
        t_env.create_temporary_table(
            "source",
            TableDescriptor.for_connector("filesystem")
            .schema(Schema.new_builder().column("line", DataTypes.STRING()).build())
            .option("path", source)
            .format("csv")
            .build(),
        )
        lines = t_env.from_path("source")
    else:
        print("no --source: counting the words of three lines")
        lines = t_env.from_elements(
            map(lambda line: (line,), LINES),
            DataTypes.ROW([DataTypes.FIELD("line", DataTypes.STRING())]),
        )

    schema = (
        Schema.new_builder()
        .column("word", DataTypes.STRING())
        .column("count", DataTypes.BIGINT())
        .build()
    )
    if target is not None:
        t_env.create_temporary_table(
            "sink",
            TableDescriptor.for_connector("filesystem")
            .schema(schema)
            .option("path", target)
            .format(FormatDescriptor.for_format("canal-json").build())
            .build(),
        )
    else:
        t_env.create_temporary_table(
            "sink", TableDescriptor.for_connector("print").schema(schema).build()
        )

    @udtf(result_types=[DataTypes.STRING()])
    def split(line: Row):
        for word in line[0].split():
            yield Row(word)

    counted = lines.flat_map(split).alias("word").group_by(col("word")).select(
        col("word"), lit(1).count
    )
    counted.execute_insert("sink").wait()


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", dest="source", required=False, help="a file of lines")
    parser.add_argument("--target", dest="target", required=False, help="a directory")
    known, _ = parser.parse_known_args(sys.argv[1:])
    count_words(known.source, known.target)
