from pyflink.common import Configuration
from pyflink.common.config_options import ConfigOptions
from pyflink.common.configuration import Configuration as SameConfiguration
from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.environment_settings import EnvironmentSettings as SameSettings
from pyflink.table.sql_dialect import SqlDialect
from pyflink.table.table_config import TableConfig

LIMIT = ConfigOptions.key("my.limit").int_type().default_value(3)
NAME = ConfigOptions.key("my.name").string_type().no_default_value()


def configuration():
    config = Configuration()
    config.set_string("table.local-time-zone", "Europe/Berlin").set_integer("my.limit", 2)
    other = Configuration()
    other.set_boolean("flag", True).set_float("ratio", 0.5)
    config.add_all(other, "my.")
    print(sorted(config.to_dict().items()))
    print(config.get_integer("my.limit", 0), config.get_float("my.ratio", 0.0))
    print(config.get_boolean("my.flag", False), config.get_string("none", "default"))
    print(config.contains_key("my.name"), config.remove_config("my.flag"), config == other)
    print(Configuration.parse_list_value("[a, 'b c', d]"))
    print(Configuration is SameConfiguration, EnvironmentSettings is SameSettings)

    settings = (
        EnvironmentSettings.new_instance()
        .in_batch_mode()
        .with_built_in_catalog_name("mine")
        .with_built_in_database_name("here")
        .with_configuration(config)
        .build()
    )
    print(settings.is_streaming_mode(), settings.get_built_in_catalog_name())
    t_env = TableEnvironment.create(settings)
    print(t_env.get_current_catalog(), t_env.get_current_database())
    table_config = t_env.get_config()
    print(isinstance(table_config, TableConfig), table_config.get_local_timezone())
    print(table_config.get("my.limit", "0"), table_config.get("none", "default"))
    table_config.set("table.exec.state.ttl", "1 h").set_sql_dialect(SqlDialect.DEFAULT)
    print(table_config.get_idle_state_retention())
    print(table_config.get_sql_dialect() == SqlDialect.DEFAULT)
    query = t_env.sql_query("SELECT CAST(TO_TIMESTAMP_LTZ(0, 3) AS STRING) AS t")
    with query.execute().collect() as rows:
        print([row[0] for row in rows])


configuration()
