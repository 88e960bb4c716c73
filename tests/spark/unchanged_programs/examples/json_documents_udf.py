import json

from pyflink.table import (DataTypes, EnvironmentSettings, Schema, TableDescriptor,
                           TableEnvironment)
from pyflink.table.expressions import col
from pyflink.table.udf import udf


def process():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    documents = t_env.from_elements(
        elements=[(1, '{"title": "Dune", "year": 1965}'), (2, '{"title": "Ubik", "year": 1969}')],
        schema=["id", "document"],
    )
    t_env.create_temporary_table(
        "sink",
        TableDescriptor.for_connector("print")
        .schema(
            Schema.new_builder()
            .column("id", DataTypes.BIGINT())
            .column("document", DataTypes.STRING())
            .build()
        )
        .build(),
    )

    @udf(result_type=DataTypes.STRING())
    def next_year(document):
        content = json.loads(document)
        content["year"] += 1
        return json.dumps(content)

    documents.select(col("id"), next_year(col("document"))).execute_insert("sink").wait()


if __name__ == "__main__":
    process()
