from pyflink.table import DataTypes, EnvironmentSettings, Schema, TableDescriptor, TableEnvironment
from pyflink.table.catalog import CatalogDatabase, ObjectPath

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.execute_sql(
    "CREATE CATALOG shop WITH ('type' = 'generic_in_memory', 'default-database' = 'main')"
)
catalog = t_env.get_catalog("shop")
t_env.use_catalog("shop")
print(sorted(t_env.list_catalogs()), t_env.get_current_catalog(), t_env.get_current_database())
catalog.create_database("sales", CatalogDatabase.create_instance({"owner": "me"}, "the sales"), False)
print(sorted(catalog.list_databases()), catalog.get_database("sales").get_properties())
schema = (
    Schema.new_builder()
    .column("id", DataTypes.BIGINT().not_null())
    .column("name", DataTypes.STRING())
    .column_by_expression("label", "UPPER(name)")
    .primary_key("id")
    .build()
)
t_env.create_table(
    "sales.people",
    TableDescriptor.for_connector("datagen").schema(schema).option("number-of-rows", "1").build(),
)
path = ObjectPath("sales", "people")
print(catalog.table_exists(path), catalog.list_tables("sales"), sorted(catalog.get_table(path).get_options()))
t_env.from_path("sales.people").print_schema()
t_env.use_database("sales")
t_env.execute_sql("CREATE VIEW names AS SELECT id, label FROM people")
print(sorted(t_env.list_tables()), t_env.list_views())
t_env.execute_sql("ALTER TABLE people RENAME TO persons")
print(sorted(catalog.list_tables("sales")))
try:
    t_env.from_path("people")
except Exception as error:
    print("people" in str(error))
t_env.execute_sql("DROP VIEW names")
t_env.drop_temporary_view("nothing")
catalog.drop_table(ObjectPath("sales", "persons"), False)
print(catalog.list_tables("sales"))
