import argparse
import logging
import os
import sys
import tempfile

from pyflink.common import Configuration
from pyflink.table import DataTypes, EnvironmentSettings, FormatDescriptor, Schema, TableDescriptor, TableEnvironment
from pyflink.table.expressions import col, lit
from pyflink.table.udf import udf


@udf(result_type=DataTypes.STRING())
def size_class(amount):
    if amount is None:
        return "unknown"
    return "large" if amount >= 100 else "small"


def orders_report(directory, minimum):
    config = Configuration()
    config.set_string("parallelism.default", "1")
    settings = EnvironmentSettings.new_instance().in_batch_mode().with_configuration(config).build()
    t_env = TableEnvironment.create(settings)
    t_env.get_config().set("pipeline.name", "orders report")
    source = os.path.join(directory, "orders.csv")
    with open(source, "w") as file:
        file.write("1,ann,120.50\n2,bob,30.00\n3,ann,7.25\n4,cid,\n5,bob,99.99\n")
    t_env.create_temporary_table(
        "orders",
        TableDescriptor.for_connector("filesystem")
        .schema(Schema.new_builder().column("id", DataTypes.BIGINT()).column("customer", DataTypes.STRING())
                .column("amount", DataTypes.DECIMAL(10, 2)).build())
        .option("path", source)
        .format(FormatDescriptor.for_format("csv").option("ignore-parse-errors", "true").build())
        .build())
    t_env.create_temporary_table(
        "report",
        TableDescriptor.for_connector("filesystem")
        .schema(Schema.new_builder().column("customer", DataTypes.STRING()).column("class", DataTypes.STRING())
                .column("n", DataTypes.BIGINT()).column("total", DataTypes.DECIMAL(38, 2)).build())
        .option("path", os.path.join(directory, "report"))
        .format("csv")
        .build())
    orders = t_env.from_path("orders")
    result = (orders.add_columns(size_class(col("amount")).alias("class"))
              .filter(col("id") >= minimum)
              .group_by(col("customer"), col("class"))
              .select(col("customer"), col("class"), lit(1).count.alias("n"), col("amount").sum.alias("total")))
    result.execute_insert("report").wait()
    lines = []
    for base, _, names in os.walk(os.path.join(directory, "report")):
        for name in names:
            if not name.startswith("."):
                with open(os.path.join(base, name)) as file:
                    lines += file.read().splitlines()
    for line in sorted(lines):
        print(line)
    t_env.from_path("report").print_schema()


if __name__ == '__main__':
    logging.basicConfig(stream=sys.stdout, level=logging.ERROR, format="%(message)s")
    parser = argparse.ArgumentParser()
    parser.add_argument("--minimum", type=int, default=1)
    args, _ = parser.parse_known_args(sys.argv[1:])
    with tempfile.TemporaryDirectory() as directory:
        orders_report(directory, args.minimum)
