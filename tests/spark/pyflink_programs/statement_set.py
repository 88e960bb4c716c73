import os
import tempfile

from pyflink.table import DataTypes, EnvironmentSettings, Schema, TableDescriptor, TableEnvironment
from pyflink.table.expressions import col

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
folder = tempfile.mkdtemp()
schema = (
    Schema.new_builder()
    .column("id", DataTypes.BIGINT())
    .column("name", DataTypes.STRING())
    .build()
)
for name in ("small", "big"):
    t_env.create_temporary_table(
        name,
        TableDescriptor.for_connector("filesystem")
        .schema(schema)
        .option("path", os.path.join(folder, name))
        .format("csv")
        .build(),
    )
numbers = t_env.from_elements([(i, f"n{i}") for i in range(6)], ["id", "name"])
t_env.create_temporary_view("numbers", numbers)
statements = t_env.create_statement_set()
statements.add_insert("small", numbers.filter(col("id") < 3))
statements.add_insert_sql("INSERT INTO big SELECT id * 100, UPPER(name) FROM numbers WHERE id > 3")
statements.execute().wait()
for name in ("small", "big"):
    rows = t_env.from_path(name).execute().collect()
    print(name, sorted((row[0], row[1]) for row in rows))
t_env.execute_sql("INSERT INTO small VALUES (7, 'seven')").wait()
print(sorted(row[0] for row in t_env.from_path("small").execute().collect()))
print(sorted(t_env.list_temporary_tables()), t_env.list_temporary_views())
