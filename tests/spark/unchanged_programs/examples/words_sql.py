import argparse
import sys
import tempfile
from pathlib import Path

from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.udf import udtf

TEXT = "red green\nblue red\nred\n"


def count_words(source):
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("parallelism.default", "1")
    t_env.execute_sql(f"""
        CREATE TABLE source (line STRING) WITH (
          'connector' = 'filesystem', 'format' = 'csv', 'path' = '{source}')
    """)
    t_env.execute_sql("""
        CREATE TABLE sink (word STRING, `count` BIGINT) WITH ('connector' = 'print')
    """)

    @udtf(result_types=["STRING"])
    def split(line: str):
        for word in line.split():
            yield word

    t_env.create_temporary_system_function("split", split)
    t_env.execute_sql("""
        INSERT INTO sink
        SELECT word, COUNT(1) AS `count`
        FROM source, LATERAL TABLE(split(line)) AS t(word)
        GROUP BY word
    """).wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=False)
    known, _ = parser.parse_known_args(sys.argv[1:])
    if known.source:
        count_words(known.source)
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "lines.csv")
            path.write_text(TEXT)
            count_words(path)
