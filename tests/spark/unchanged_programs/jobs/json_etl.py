import json
import logging
import os
import shutil
import sys
import tempfile

from pyflink.table import EnvironmentSettings, TableEnvironment, DataTypes
from pyflink.table.expressions import col
from pyflink.table.udf import udf


def create_source_ddl(name, path):
    return f"""
        CREATE TABLE {name} (
            event_id STRING,
            payload ROW<`user` ROW<id BIGINT, email STRING>, items ARRAY<ROW<sku STRING, qty INT>>, attrs MAP<STRING, STRING>>,
            event_time STRING,
            `file.name` STRING NOT NULL METADATA VIRTUAL,
            ts AS TO_TIMESTAMP(event_time, 'yyyy-MM-dd''T''HH:mm:ss')
        ) WITH (
            'connector' = 'filesystem',
            'path' = 'file://{path}',
            'format' = 'json',
            'json.ignore-parse-errors' = 'true'
        )"""


@udf(result_type=DataTypes.STRING())
def domain(email):
    return email.split("@")[1] if email and "@" in email else None


@udf(result_type=DataTypes.STRING())
def as_json(items):
    return json.dumps([[item.sku, item[1]] for item in items]) if items is not None else None


def main():
    directory = tempfile.mkdtemp()
    try:
        source = os.path.join(directory, "in")
        os.makedirs(source)
        events = [
            {"event_id": "e1", "payload": {"user": {"id": 1, "email": "a@x.org"}, "items": [{"sku": "p", "qty": 2}, {"sku": "q", "qty": 1}], "attrs": {"k": "v"}}, "event_time": "2024-03-01T10:00:00"},
            {"event_id": "e2", "payload": {"user": {"id": 2, "email": "nobody"}, "items": [], "attrs": {}}, "event_time": "2024-03-01T11:30:00"},
            {"event_id": "e3", "payload": None, "event_time": None},
        ]
        with open(os.path.join(source, "events.json"), "w") as file:
            for event in events:
                file.write(json.dumps(event) + "\n")
            file.write("{broken\n")
        t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        t_env.get_config().set("parallelism.default", "1")
        t_env.execute_sql(create_source_ddl("events", source))
        t_env.create_temporary_function("domain", domain)
        t_env.create_temporary_function("as_json", as_json)
        t_env.execute_sql("SELECT event_id, payload.`user`.id, domain(payload.`user`.email) AS d, payload.attrs['k'] AS k, ts, `file.name` FROM events").print()
        t_env.execute_sql("SELECT event_id, sku, qty FROM (SELECT event_id, payload.items AS items FROM events) AS e CROSS JOIN UNNEST(e.items) AS t (sku, qty)").print()
        t_env.execute_sql("SELECT event_id, as_json(payload.items) AS j, CARDINALITY(payload.items) AS n, HOUR(ts) AS h FROM events WHERE event_id IS NOT NULL").print()
        t_env.execute_sql(f"CREATE TABLE sink (d STRING, n BIGINT, items MULTISET<STRING>) WITH ('connector' = 'filesystem', 'path' = '{directory}/out', 'format' = 'json')")
        t_env.sql_query("SELECT domain(payload.`user`.email), COUNT(*), COLLECT(event_id) FROM events GROUP BY domain(payload.`user`.email)").execute_insert("sink").wait()
        lines = []
        for name in os.listdir(os.path.join(directory, "out")):
            with open(os.path.join(directory, "out", name)) as file:
                lines += [json.dumps(json.loads(line), sort_keys=True) for line in file]
        print("\n".join(sorted(lines)))
    finally:
        shutil.rmtree(directory)


if __name__ == '__main__':
    logging.basicConfig(stream=sys.stdout, level=logging.WARNING, format="%(message)s")
    main()
