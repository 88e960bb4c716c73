import datetime

from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col, lit
from pyflink.table.window import Slide, Tumble

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
start = datetime.datetime(2024, 3, 1, 12)
visits = [(page, start + datetime.timedelta(seconds=37 * i), i) for i, page in enumerate("abacabad")]
table = t_env.from_elements(
    visits,
    DataTypes.ROW(
        [
            DataTypes.FIELD("page", DataTypes.STRING()),
            DataTypes.FIELD("ts", DataTypes.TIMESTAMP(3)),
            DataTypes.FIELD("cost", DataTypes.BIGINT()),
        ]
    ),
)
minutes = (
    table.window(Tumble.over(lit(1).minutes).on(col("ts")).alias("w"))
    .group_by(col("w"), col("page"))
    .select(col("page"), col("w").start, col("w").end, col("cost").sum.alias("cost"))
)
print(minutes.get_schema().get_field_names())
for row in sorted(minutes.execute().collect(), key=lambda one: (one[1], one[0])):
    print(*row)
sliding = (
    table.window(Slide.over(lit(2).minutes).every(lit(1).minutes).on(col("ts")).alias("w"))
    .group_by(col("w"))
    .select(col("w").end.alias("until"), col("cost").max.alias("most"), col("page").count)
)
for row in sorted(sliding.execute().collect(), key=lambda one: one[0]):
    print(*row)
t_env.create_temporary_view("visits", table)
hours = t_env.sql_query(
    "SELECT window_start, page, COUNT(*) FROM TABLE("
    "TUMBLE(TABLE visits, DESCRIPTOR(ts), INTERVAL '2' MINUTES)) "
    "GROUP BY window_start, window_end, page"
)
for row in sorted(hours.execute().collect(), key=lambda one: (one[0], one[1])):
    print(*row)
