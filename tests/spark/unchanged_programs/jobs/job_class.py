import json
import logging
import os
from dataclasses import dataclass, field
from pathlib import Path

from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table import expressions as F
from pyflink.table.udf import udf

log = logging.getLogger(__name__)
LEVELS = {"gold": 3, "silver": 2}


@dataclass
class Settings:
    target: Path = field(default_factory=lambda: Path(os.environ.get("TARGET", "job_class_out")))
    threshold: int = 10


def score(level, spent):
    return LEVELS.get(level, 1) * spent


class LoyaltyJob:
    def __init__(self, settings):
        self.settings = settings
        self.env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        self.env.create_temporary_system_function("score", udf(score, result_type=DataTypes.INT()))

    def extract(self):
        Path("members.json").write_text("\n".join(
            json.dumps({"name": n, "level": v, "spent": s})
            for n, v, s in [("Ann", "gold", 7), ("Bob", "none", 9), ("Cid", "silver", 30)]
        ))
        self.env.execute_sql(f"""
            CREATE TABLE members (name STRING, level STRING, spent INT) WITH (
              'connector' = 'filesystem', 'path' = '{Path("members.json").resolve()}', 'format' = 'json')
        """)
        return self.env.from_path("members")

    def run(self):
        table = self.extract().select(
            F.col("name"), F.call("score", F.col("level"), F.col("spent")).alias("points"))
        table = table.where(F.col("points") >= self.settings.threshold)
        self.env.execute_sql(f"""
            CREATE TABLE points (name STRING, points INT) WITH (
              'connector' = 'filesystem', 'path' = '{self.settings.target.resolve()}', 'format' = 'csv')
        """)
        table.execute_insert("points", overwrite=True).wait()
        with self.env.sql_query("SELECT * FROM points ORDER BY name").execute().collect() as rows:
            return [tuple(row) for row in rows]


if __name__ == "__main__":
    print(LoyaltyJob(Settings()).run())
