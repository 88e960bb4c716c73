from pyflink.common import Row
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col
from pyflink.table.udf import AggregateFunction, TableAggregateFunction, udaf, udf, udtaf, udtf

env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
env.get_config().set("parallelism.default", "1")
env.get_config().set("python.fn-execution.bundle.size", "1000")
readings = env.from_elements(
    [("s1", 3.0), ("s2", 8.5), ("s1", 5.5), ("s2", 1.0), ("s1", 9.0), ("s3", 2.0)], ["sensor", "value"])


@udf(result_type=DataTypes.ROW([DataTypes.FIELD("sensor", DataTypes.STRING()), DataTypes.FIELD("twice", DataTypes.DOUBLE())]))
def doubled(row: Row) -> Row:
    return Row(row.sensor.upper(), row.value * 2)


@udtf(result_types=[DataTypes.STRING(), DataTypes.INT()])
def letters(row: Row):
    for place, letter in enumerate(row[0]):
        yield letter, place


class Spread(AggregateFunction):
    def create_accumulator(self):
        return [None, None, 0]

    def accumulate(self, accumulator, row: Row):
        value = row[1]
        accumulator[0] = value if accumulator[0] is None else min(accumulator[0], value)
        accumulator[1] = value if accumulator[1] is None else max(accumulator[1], value)
        accumulator[2] += 1

    def get_value(self, accumulator):
        return Row(None if accumulator[0] is None else accumulator[1] - accumulator[0], int(accumulator[2]))

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.DOUBLE())

    def get_result_type(self):
        return DataTypes.ROW([DataTypes.FIELD("spread", DataTypes.DOUBLE()), DataTypes.FIELD("n", DataTypes.BIGINT())])


class Top2(TableAggregateFunction):
    def create_accumulator(self):
        return [None, None]

    def accumulate(self, accumulator, row: Row):
        value = row[1]
        if value is not None:
            if accumulator[0] is None or value > accumulator[0]:
                accumulator[1] = accumulator[0]
                accumulator[0] = value
            elif accumulator[1] is None or value > accumulator[1]:
                accumulator[1] = value

    def emit_value(self, accumulator):
        yield Row(accumulator[0])
        if accumulator[1] is not None:
            yield Row(accumulator[1])

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.DOUBLE())

    def get_result_type(self):
        return DataTypes.ROW([DataTypes.FIELD("top", DataTypes.DOUBLE())])


def show(title, table):
    print(title, table.get_schema().get_field_names())
    with table.execute().collect() as rows:
        for line in sorted(str(row.get_row_kind()) + " " + str(row) for row in rows):
            print(line)


show("map", readings.map(doubled).alias("s", "v"))
show("flat_map", readings.flat_map(letters).alias("letter", "place"))
show("aggregate", readings.group_by(col("sensor")).aggregate(udaf(Spread()).alias("spread", "n")).select(col("sensor"), col("spread"), col("n")))
show("flat_aggregate", readings.group_by(col("sensor")).flat_aggregate(udtaf(Top2()).alias("top")).select(col("sensor"), col("top")))
