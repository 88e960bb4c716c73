from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.catalog import CatalogBaseTable, CatalogDatabase, ObjectPath

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.execute_sql("CREATE CATALOG lake WITH ('type' = 'generic_in_memory', 'default-database' = 'raw')")
t_env.execute_sql("CREATE DATABASE lake.mart COMMENT 'reports'")
t_env.use_catalog("lake")
print(t_env.get_current_catalog(), t_env.get_current_database(), t_env.list_databases())
t_env.use_database("mart")
t_env.execute_sql("CREATE TABLE facts (id INT NOT NULL, v DOUBLE, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'datagen', 'number-of-rows' = '2')")
t_env.execute_sql("CREATE VIEW doubled AS SELECT id, v * 2 AS v2 FROM facts")
print(t_env.list_tables(), t_env.list_views())
t_env.execute_sql("SHOW TABLES").print()
t_env.execute_sql("DESCRIBE facts").print()
catalog = t_env.get_catalog("lake")
catalog.create_database("archive", CatalogDatabase.create_instance({"k": "v"}, "old"), False)
catalog.create_table(
    ObjectPath("archive", "t"),
    CatalogBaseTable.create_table(
        schema=t_env.from_path("facts").get_schema(), properties={"connector": "datagen"}, comment="c"
    ),
    False,
)
print(catalog.list_tables("archive"), catalog.table_exists(ObjectPath("archive", "x")))
print(catalog.get_table(ObjectPath("archive", "t")).get_comment())
t_env.execute_sql("ALTER TABLE facts ADD (note STRING)")
print(t_env.from_path("facts").get_schema().get_field_names())
t_env.execute_sql("DROP VIEW doubled")
t_env.execute_sql("SHOW CATALOGS").print()
