import os
import tempfile

from pyflink.table import EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
folder = tempfile.mkdtemp()
script = f"""
CREATE TABLE orders (
    id BIGINT,
    item STRING,
    price DECIMAL(8, 2),
    made TIMESTAMP(3),
    total AS price * 3
) WITH ('connector' = 'filesystem', 'path' = '{os.path.join(folder, "orders")}', 'format' = 'csv');
INSERT INTO orders VALUES
    (1, 'pen', 1.25, TIMESTAMP '2024-01-01 10:00:00'),
    (2, 'ink', 12.50, TIMESTAMP '2024-01-02 10:00:00'),
    (3, 'pen', 2.00, TIMESTAMP '2024-02-01 10:00:00');
CREATE TEMPORARY VIEW monthly AS
    SELECT EXTRACT(MONTH FROM made) AS m, SUM(total) AS total, COUNT(DISTINCT item) AS items
    FROM orders GROUP BY EXTRACT(MONTH FROM made)
"""
for statement in script.split(";"):
    t_env.execute_sql(statement).wait()
t_env.sql_query("SELECT * FROM monthly").print_schema()
for row in t_env.execute_sql("SELECT * FROM monthly ORDER BY m").collect():
    print(*row)
for row in t_env.execute_sql("SHOW TABLES").collect():
    print(*row)
for row in t_env.execute_sql("DESCRIBE orders").collect():
    print(row[0], row[1], row[2])
found = t_env.execute_sql(
    "SELECT item, MAX(id) AS id, AVG(price) FROM orders GROUP BY item ORDER BY item"
)
print(found.get_table_schema().get_field_names())
for row in found.collect():
    print(*row)
