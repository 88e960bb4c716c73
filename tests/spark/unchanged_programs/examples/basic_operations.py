import json

from pyflink.common import Row
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col, concat
from pyflink.table.udf import AggregateFunction, TableAggregateFunction, udaf, udf, udtaf, udtf

DOCUMENTS = [
    (1, '{"name": "Rex", "weight": 12, "home": {"city": "Riga", "land": "Latvia"}}'),
    (2, '{"name": "Tim", "weight": 9, "home": {"city": "Turku", "land": "Finland"}}'),
    (3, '{"name": "Kit", "weight": 20, "home": {"city": "Espoo", "land": "Finland"}}'),
    (4, '{"name": "Ivo", "weight": 7, "home": {"city": "Riga", "land": "Latvia"}}'),
]


def documents(t_env):
    return t_env.from_elements(elements=DOCUMENTS, schema=["id", "data"])


def with_columns(table):
    return table.add_columns(
        col("data").json_value("$.name", DataTypes.STRING()).alias("name"),
        col("data").json_value("$.weight", DataTypes.STRING()).alias("weight"),
        col("data").json_value("$.home.land", DataTypes.STRING()).alias("land"),
    ).drop_columns(col("data"))


def table_operations():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    table = with_columns(documents(t_env))
    ages = t_env.from_elements(elements=[(1, 3), (2, 8), (3, 5), (4, 1)], schema=["id", "age"])
    table.execute().print()
    table.limit(3).execute().print()
    table.filter(col("id") != 3).execute().print()
    table.group_by(col("land")).select(
        col("land"), col("id").count, col("weight").cast(DataTypes.BIGINT()).max
    ).execute().print()
    table.select(col("land")).distinct().execute().print()
    table.join(ages.rename_columns(col("id").alias("pet")), col("id") == col("pet")).select(
        col("id"), col("name"), col("weight"), col("land"), col("age")
    ).execute().print()

    @udtf(result_types=[DataTypes.STRING()])
    def split(row: Row):
        for part in row.name.split("i"):
            yield part

    table.join_lateral(split.alias("part")).execute().print()
    table.print_schema()
    print("Abstract Syntax Tree" in table.join_lateral(split.alias("part")).explain())


def sql_operations():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    table = documents(t_env)
    t_env.sql_query("SELECT id FROM %s" % table).execute().print()

    @udtf(result_types=[DataTypes.STRING(), DataTypes.INT(), DataTypes.STRING()])
    def parse(data: str):
        content = json.loads(data)
        yield content["name"], content["weight"], content["home"]["land"]

    t_env.create_temporary_function("parse", parse)
    t_env.execute_sql(
        "SELECT id, name, weight, land FROM %s, LATERAL TABLE(parse(`data`)) t(name, weight, land)"
        % table
    ).print()


def column_operations():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    table = with_columns(documents(t_env))
    table = table.rename_columns(col("weight").alias("kilograms"))
    table = table.add_or_replace_columns(
        concat(col("id").cast(DataTypes.STRING()), "-", col("name")).alias("id")
    )
    table.execute().print()


class CountAndSum(AggregateFunction):
    def get_value(self, accumulator):
        return Row(accumulator[0], accumulator[1])

    def create_accumulator(self):
        return Row(0, 0)

    def accumulate(self, accumulator, row):
        accumulator[0] += 1
        accumulator[1] += int(row.weight)

    def retract(self, accumulator, row):
        accumulator[0] -= 1
        accumulator[1] -= int(row.weight)

    def get_accumulator_type(self):
        return DataTypes.ROW(
            [DataTypes.FIELD("a", DataTypes.BIGINT()), DataTypes.FIELD("b", DataTypes.BIGINT())]
        )

    def get_result_type(self):
        return self.get_accumulator_type()


class Heaviest(TableAggregateFunction):
    def emit_value(self, accumulator):
        for weight in accumulator:
            if weight:
                yield Row(weight)

    def create_accumulator(self):
        return [None, None]

    def accumulate(self, accumulator, row):
        weight = int(row.weight)
        if accumulator[0] is None or weight > accumulator[0]:
            accumulator[1] = accumulator[0]
            accumulator[0] = weight
        elif accumulator[1] is None or weight > accumulator[1]:
            accumulator[1] = weight

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.ROW([DataTypes.FIELD("weight", DataTypes.BIGINT())])


def row_operations():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    table = documents(t_env)

    @udf(
        result_type=DataTypes.ROW(
            [DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("land", DataTypes.STRING())]
        )
    )
    def land_of(row: Row):
        return Row(row.id, json.loads(row.data)["home"]["land"])

    table.map(land_of).execute().print()

    @udtf(result_types=[DataTypes.BIGINT(), DataTypes.STRING()])
    def city_of(row: Row):
        yield row.id, json.loads(row.data)["home"]["city"]

    table.flat_map(city_of).execute().print()

    count_and_sum = udaf(CountAndSum())
    with_columns(table).group_by(col("land")).aggregate(
        count_and_sum.alias("pets", "weight")
    ).select(col("land"), col("pets"), col("weight")).execute().print()

    heaviest = udtaf(Heaviest())
    with_columns(table).group_by(col("land")).flat_aggregate(heaviest).select(
        col("land"), col("weight")
    ).execute().print()


if __name__ == "__main__":
    table_operations()
    sql_operations()
    column_operations()
    row_operations()
