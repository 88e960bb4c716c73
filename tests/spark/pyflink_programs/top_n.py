from pyflink.table import EnvironmentSettings, TableEnvironment

env_settings = EnvironmentSettings.new_instance().in_batch_mode().build()
t_env = TableEnvironment.create(env_settings)
sales = t_env.from_elements(
    [
        ("north", "pen", 10), ("north", "ink", 30), ("north", "pad", 20), ("north", "box", 30),
        ("south", "pen", 50), ("south", "ink", 5),
    ],
    ["region", "product", "amount"],
)
t_env.create_temporary_view("sales", sales)
top = t_env.sql_query(
    """
    SELECT region, product, amount, place FROM (
        SELECT *, ROW_NUMBER() OVER (
            PARTITION BY region ORDER BY amount DESC, product) AS place
        FROM sales
    ) WHERE place <= 2
    """
)
top.print_schema()
for row in sorted(top.execute().collect(), key=lambda one: (one[0], one[3])):
    print(row[0], row[1], row[2], row[3])
best = t_env.execute_sql("SELECT region, MAX(amount) FROM sales GROUP BY region ORDER BY region")
for row in best.collect():
    print(*row)
