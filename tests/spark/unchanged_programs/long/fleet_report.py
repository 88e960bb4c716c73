"""Nightly report of a fleet: reads trips and vehicles, enriches, aggregates, and writes three tables."""
import argparse
import glob
import json
import logging
import os
import shutil
import sys
import tempfile
from datetime import date, datetime, timedelta
from decimal import Decimal

import pandas as pd

from pyflink.common import Configuration, Row
from pyflink.table import (DataTypes, EnvironmentSettings, ExplainDetail, FormatDescriptor, Schema,
                           TableDescriptor, TableEnvironment)
from pyflink.table.catalog import CatalogDatabase, ObjectPath
from pyflink.table.expressions import (call, coalesce, col, concat, UNBOUNDED_ROW, current_date, if_then_else, lit, null_of,
                                       row, to_timestamp, with_columns)
from pyflink.table.udf import AggregateFunction, ScalarFunction, TableFunction, udaf, udf, udtf
from pyflink.table.window import Over, Tumble

LOG = logging.getLogger("fleet")
TRIPS = [
    ("t1", "v1", "2024-03-01 08:00:00", 12.5, Decimal("23.40"), "de", ["toll:2", "park:1"]),
    ("t2", "v2", "2024-03-01 08:20:00", 3.0, Decimal("7.00"), "DE", ["park:3"]),
    ("t3", "v1", "2024-03-01 09:05:00", 40.25, Decimal("80.10"), "at", []),
    ("t4", "v3", "2024-03-01 09:59:59", None, Decimal("15.00"), None, None),
    ("t5", "v2", "2024-03-02 00:10:00", 7.75, Decimal("12.25"), "us", ["toll:9", "bad", "wash:4"]),
    ("t6", "v1", "2024-03-02 10:00:00", 1.0, Decimal("0.05"), "jp", ["toll:1"]),
]


class Speed(ScalarFunction):
    """Average speed; opens with a factor of the job's parameters."""

    def open(self, function_context):
        self.factor = float(function_context.get_job_parameter("speed.factor", "1.0"))
        self.calls = function_context.get_metric_group().counter("calls")

    def eval(self, km, minutes):
        self.calls.inc()
        if km is None or not minutes:
            return None
        return round(km * 60.0 / minutes * self.factor, 3)


class Charges(TableFunction):
    """Splits `kind:amount` strings; wrong ones are skipped."""

    def eval(self, charges):
        for charge in charges or []:
            kind, _, amount = charge.partition(":")
            if amount.isdigit():
                yield Row(kind, int(amount))


@udaf(result_type="DOUBLE", func_type="pandas")
def spread(values):
    known = values.dropna()
    return None if known.empty else float(known.max() - known.min())


@udf(result_type=DataTypes.STRING())
def zone(country):
    from geo_zones import zone_of
    return zone_of(country)


@udf(result_type=DataTypes.DECIMAL(12, 4))
def with_tax(fare):
    return None if fare is None else fare * Decimal("1.19")


@udf(result_type=DataTypes.DOUBLE(), func_type="pandas")
def scaled(km: pd.Series) -> pd.Series:
    return km.fillna(0.0) * 0.621371


@udaf(result_type=DataTypes.DOUBLE(), func_type="pandas")
def median(values):
    return float(values.median())


@udtf(result_types=[DataTypes.STRING(), DataTypes.INT()])
def letters(text):
    for place, letter in enumerate((text or "").lower()):
        yield letter, place


ZONES_MODULE = """
ZONES = {"de": "CET", "at": "CET", "us": "EST", "jp": "JST"}


def zone_of(country):
    return ZONES.get((country or "").lower(), "UTC")
"""


def write_inputs(directory):
    with open(os.path.join(directory, "geo_zones.py"), "w") as file:
        file.write(ZONES_MODULE)
    with open(os.path.join(directory, "trips.json"), "w") as file:
        for number, vehicle, start, km, fare, country, charges in TRIPS:
            record = {"trip": number, "vehicle": vehicle, "start_time": start, "km": km, "fare": str(fare),
                      "country": country, "charges": charges}
            file.write(json.dumps(record) + "\n")
    with open(os.path.join(directory, "vehicles.csv"), "w") as file:
        file.write("v1|van|2019-05-01|3\nv2|car|2021-11-15|5\nv9|bus|2010-01-01|40\n")


def declare(t_env, directory):
    t_env.create_temporary_table(
        "trips",
        TableDescriptor.for_connector("filesystem")
        .schema(Schema.new_builder()
                .column("trip", DataTypes.STRING().not_null())
                .column("vehicle", DataTypes.STRING())
                .column("start_time", DataTypes.TIMESTAMP(3))
                .column("km", DataTypes.DOUBLE())
                .column("fare", DataTypes.DECIMAL(10, 2))
                .column("country", "STRING")
                .column("charges", DataTypes.ARRAY(DataTypes.STRING()))
                .column_by_expression("day_of_trip", "CAST(start_time AS DATE)")
                .column_by_metadata("source_file", DataTypes.STRING(), "file.name", True)
                .watermark("start_time", "start_time - INTERVAL '5' MINUTE")
                .build())
        .option("path", os.path.join(directory, "trips.json"))
        .format(FormatDescriptor.for_format("json").option("ignore-parse-errors", "true").build())
        .build())
    t_env.execute_sql(f"""
        CREATE TEMPORARY TABLE vehicles (
            id STRING, kind STRING, since DATE, seats INT,
            PRIMARY KEY (id) NOT ENFORCED
        ) WITH ('connector' = 'filesystem', 'path' = '{directory}/vehicles.csv', 'format' = 'csv',
                'csv.field-delimiter' = '|')""")
    for name, columns in (("by_zone", "zone STRING, trips BIGINT, fares DECIMAL(38, 2), km_spread DOUBLE"),
                          ("costs", "kind STRING, total BIGINT"),
                          ("hourly", "begin_time TIMESTAMP(3), n BIGINT, km DOUBLE")):
        t_env.execute_sql(f"CREATE TABLE reports.{name} ({columns}) WITH ('connector' = 'filesystem', "
                          f"'path' = '{directory}/out/{name}', 'format' = 'csv')")


def read_lines(directory, name):
    lines = []
    for path in glob.glob(os.path.join(directory, "out", name, "**", "*"), recursive=True):
        if os.path.isfile(path) and not os.path.basename(path).startswith("."):
            with open(path) as file:
                lines += file.read().replace('"', "").splitlines()
    return sorted(lines)


def report(directory):
    config = Configuration()
    config.set_string("parallelism.default", "1")
    config.set_string("python.fn-execution.bundle.size", "100")
    t_env = TableEnvironment.create(EnvironmentSettings.new_instance().in_batch_mode().with_configuration(config).build())
    t_env.get_config().set("pipeline.name", "fleet report").set_local_timezone("UTC")
    t_env.get_config().set("pipeline.global-job-parameters", "speed.factor:1.1")
    t_env.add_python_file(os.path.join(directory, "geo_zones.py"))
    catalog = t_env.get_catalog("default_catalog")
    catalog.create_database("reports", CatalogDatabase.create_instance({"owner": "ops"}, "nightly reports"), True)
    declare(t_env, directory)
    t_env.create_temporary_system_function("speed", udf(Speed(), result_type=DataTypes.DOUBLE()))
    t_env.create_temporary_function("charges_of", udtf(Charges(), result_types=["STRING", "INT"]))
    t_env.create_temporary_function("spread", spread)
    t_env.create_temporary_function("letters", letters)

    trips = t_env.from_path("trips")
    trips.print_schema()
    enriched = (trips.left_outer_join(t_env.from_path("vehicles"), col("vehicle") == col("id"))
                .add_columns(zone(col("country")).alias("zone"), with_tax(col("fare")).alias("gross"))
                .add_or_replace_columns(coalesce(col("km"), lit(0.0)).alias("km"))
                .rename_columns(col("kind").alias("vehicle_kind"))
                .drop_columns(col("id"), col("source_file")))
    t_env.create_temporary_view("enriched", enriched)
    print(t_env.from_path("enriched").get_schema().get_field_names())
    with t_env.sql_query("SELECT trip, zone, vehicle_kind, gross, speed(km, 30) AS v FROM enriched ORDER BY trip").execute().collect() as rows:
        for each in rows:
            print(each, each[3], each[0])
    statements = t_env.create_statement_set()
    statements.add_insert("reports.by_zone", enriched.group_by(col("zone")).select(
        col("zone"), col("trip").count, col("fare").sum, col("km").max - col("km").min))
    statements.add_insert_sql("""INSERT INTO reports.costs
        SELECT kind, SUM(amount) FROM trips, LATERAL TABLE(charges_of(charges)) AS c(kind, amount) GROUP BY kind""")
    statements.add_insert("reports.hourly", trips.window(Tumble.over(lit(1).hours).on(col("start_time")).alias("w"))
                          .group_by(col("w")).select(col("w").start, col("trip").count, col("km").sum))
    result = statements.execute()
    result.wait()
    print(result.get_job_client() is not None)
    for name in ("by_zone", "costs", "hourly"):
        print(name, len(glob.glob(os.path.join(directory, "out", name, "*"))))
        print("\n".join(read_lines(directory, name)))
    frame = enriched.select(col("vehicle"), scaled(col("km")).alias("miles"), col("fare"), col("day_of_trip")).to_pandas()
    print(frame.sort_values(["vehicle", "miles"]).to_string(index=False))
    t_env.execute_sql("SELECT zone, n FROM (SELECT zone, COUNT(*) AS n FROM enriched GROUP BY zone) ORDER BY n DESC, zone LIMIT 3").print()
    ranked = t_env.sql_query("SELECT vehicle, trip, SUM(fare) OVER (PARTITION BY vehicle ORDER BY start_time) AS so_far FROM trips")
    with ranked.execute().collect() as rows:
        print(sorted(map(str, rows)))
    print(sorted(map(str, enriched.group_by(col("vehicle")).select(col("vehicle"), median(col("km")).alias("m"), call("spread", col("km"))).execute().collect())))
    t_env.from_path("vehicles").join_lateral(call("letters", col("kind")).alias("letter", "place")).where(col("place") < 2) \
        .select(col("id"), col("letter"), row(col("place"), col("seats")).alias("r")).order_by(col("id"), col("letter")).execute().print()
    plan = enriched.explain(ExplainDetail.JSON_EXECUTION_PLAN)
    print(len(plan) > 100)
    print(sorted(catalog.list_tables("reports")), catalog.get_database("reports").get_properties(), catalog.table_exists(ObjectPath("reports", "none")))
    t_env.use_database("reports")
    print(t_env.get_current_database(), sorted(t_env.list_tables()))
    t_env.execute_sql("SHOW CREATE TABLE costs").collect().next() if False else None
    t_env.execute_sql("DESCRIBE by_zone").print()
    t_env.execute_sql("DROP TABLE costs")
    try:
        t_env.from_path("costs")
    except Exception as error:
        print("costs:", "costs" in str(error))
    try:
        t_env.sql_query("SELECT nothing FROM enriched")
    except Exception as error:
        print(type(error).__name__ != "")


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    work = tempfile.mkdtemp()
    try:
        write_inputs(work)
        report(work)
    finally:
        if not arguments.keep:
            shutil.rmtree(work)
