"""Runs a script of SQL statements, as deployments of PyFlink do."""
import re
import sys
import tempfile

from pyflink.common import Configuration
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import EnvironmentSettings, StreamTableEnvironment, TableConfig, TableEnvironment, SqlDialect

SCRIPT = """
-- settings
SET 'pipeline.name' = 'script';
SET 'table.local-time-zone' = 'UTC';
CREATE TEMPORARY VIEW people (id, name, city) AS
  SELECT * FROM (VALUES (1, 'Ann; A', 'Rome'), (2, 'Bob', 'Oslo'), (3, 'Cid', 'Rome'));
CREATE TABLE out_table (city STRING, n BIGINT) WITH (
  'connector' = 'print');
SHOW VIEWS;
EXPLAIN PLAN FOR SELECT city FROM people;
SELECT city, COUNT(*) AS n FROM people GROUP BY city;
INSERT INTO out_table SELECT city, CAST(id AS BIGINT) FROM people;
"""


def split_statements(text):
    text = re.sub(r"--[^\n]*", "", text)
    statement, quoted = "", False
    for letter in text:
        quoted ^= letter == "'"
        if letter == ";" and not quoted:
            if statement.strip():
                yield statement.strip()
            statement = ""
        else:
            statement += letter


def main():
    config = Configuration()
    config.set_string("parallelism.default", "1")
    config.set_integer("table.exec.source.idle-timeout", 0) if False else None
    env = StreamExecutionEnvironment.get_execution_environment(config)
    t_env = StreamTableEnvironment.create(env, environment_settings=EnvironmentSettings.new_instance().in_streaming_mode().build())
    for statement in split_statements(SCRIPT):
        match = re.match(r"SET\s+'([^']+)'\s*=\s*'([^']*)'", statement, re.I)
        if match:
            t_env.get_config().set(match.group(1), match.group(2))
            continue
        result = t_env.execute_sql(statement)
        kind = result.get_result_kind()
        print("--", statement.split()[0], kind)
        if statement.startswith("EXPLAIN"):
            print(result.get_table_schema().get_field_names() if False else result.get_resolved_schema().get_column_names())
        elif statement.startswith("INSERT"):
            result.wait()
            print(result.get_job_client() is not None, result.get_resolved_schema().get_column_names() if False else "")
        else:
            result.print()
    print(t_env.get_config().get("pipeline.name", "none"), t_env.get_config().get("no.such", "default"))
    print(t_env.get_config().get_local_timezone(), t_env.get_config().get_sql_dialect())
    print(env.get_parallelism(), env.get_max_parallelism())


if __name__ == "__main__":
    main()
