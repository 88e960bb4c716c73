from pyflink.table import EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.execute_sql("""
    CREATE TEMPORARY VIEW sales AS SELECT * FROM (VALUES
      ('EU', 'DE', 2023, 10.5), ('EU', 'FR', 2023, 4.0), ('EU', 'DE', 2024, 12.0), ('US', 'NY', 2024, 7.25)
    ) AS t (region, place, y, amount)
""")
for clause in ("ROLLUP (region, place)", "CUBE (region, y)", "GROUPING SETS ((region), (y), ())"):
    first, second = ("region", "place") if "place" in clause else ("region", "y")
    t_env.execute_sql(f"""
        SELECT {first}, {second}, SUM(amount) AS total, COUNT(*) AS n, GROUPING({first}) AS g FROM sales
        GROUP BY {clause} ORDER BY g, {first}, {second}, n
    """).print()
t_env.execute_sql("""
    SELECT region, LISTAGG(place) AS places FROM (SELECT DISTINCT region, place FROM sales WHERE place <> 'FR')
    GROUP BY region HAVING COUNT(*) > 0 ORDER BY region
""").print()
