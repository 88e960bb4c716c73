from pyflink.table import (DataTypes, EnvironmentSettings, Schema, TableDescriptor,
                           TableEnvironment)
from pyflink.table.udf import udf


def write_twice():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    table = t_env.from_elements(
        elements=[(1, "Oak"), (2, "Elm tree"), (3, "TREES"), (4, "fern")], schema=["id", "plant"]
    )
    schema = (
        Schema.new_builder()
        .column("id", DataTypes.BIGINT())
        .column("plant", DataTypes.STRING())
        .build()
    )
    for name in ("trees", "plants"):
        t_env.create_temporary_table(
            name,
            TableDescriptor.for_connector("print")
            .schema(schema)
            .option("print-identifier", name)
            .build(),
        )

    @udf(result_type=DataTypes.BOOLEAN())
    def is_tree(plant):
        return "tree" in plant.lower()

    statement_set = t_env.create_statement_set()
    statement_set.add_insert("trees", table.where(is_tree(table.plant)))
    statement_set.add_insert("plants", table)
    statement_set.execute().wait()


if __name__ == "__main__":
    write_twice()
