from pyflink.table import (DataTypes, EnvironmentSettings, Schema, TableDescriptor,
                           TableEnvironment)
from pyflink.table.expressions import col


def process():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    documents = t_env.from_elements(
        elements=[
            (1, '{"title": "Dune", "year": 1965, "place": {"planet": "Arrakis"}}'),
            (2, '{"title": "Solaris", "year": 1961, "place": {"planet": "Solaris"}}'),
            (3, '{"title": "Ubik", "year": 1969, "place": {}}'),
        ],
        schema=["id", "document"],
    )
    t_env.create_temporary_table(
        "sink",
        TableDescriptor.for_connector("print")
        .schema(
            Schema.new_builder()
            .column("id", DataTypes.BIGINT())
            .column("planet", DataTypes.STRING())
            .build()
        )
        .build(),
    )
    documents = documents.select(
        col("id"), col("document").json_value("$.place.planet", DataTypes.STRING())
    )
    documents.execute_insert("sink").wait()


if __name__ == "__main__":
    process()
