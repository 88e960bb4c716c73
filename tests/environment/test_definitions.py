"""CREATE, DROP and ALTER in SQL: results, and errors with their positions."""

from __future__ import annotations

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_api.descriptor import TableDescriptor
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.schema.unresolved import Schema
from tests.support import cases


@pytest.fixture
def environment() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def run(environment: TableEnvironment, *statements: str) -> None:
    for statement in statements:
        environment.execute_sql(statement)


def columns(environment: TableEnvironment, path: str) -> list[str]:
    """Return the columns of a table as listed."""
    result = environment.find_table(path)
    assert result is not None
    return [str(column) for column in result.table.resolved_schema.columns]


def code(environment: TableEnvironment, statement: str) -> str:
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(statement)
    return caught.value.code


# --- CREATE TABLE ---------------------------------------------------------------------------------


def test_key_columns_become_not_null(environment: TableEnvironment) -> None:
    run(environment, "CREATE TABLE t (a INT, b INT, PRIMARY KEY (b) NOT ENFORCED)")

    assert ["`a` INT", "`b` INT NOT NULL"] == columns(environment, "t")


@pytest.mark.parametrize(
    ("elements", "refusal"),
    [
        ("a INT, a STRING", "duplicate-column"),
        ("a INT, b AS a + 1, c AS b + 1", "unknown-column"),
        ("b AS m * 2, m INT METADATA", "unknown-column"),
        ("a INT, PRIMARY KEY (z) NOT ENFORCED", "unknown-column"),
        ("a INT, PRIMARY KEY (a)", "invalid-constraint"),
        ("a INT UNIQUE", "feature-not-supported"),
    ],
)
def test_refused_tables(environment: TableEnvironment, elements: str, refusal: str) -> None:
    assert refusal == code(environment, f"CREATE TABLE t ({elements})")
    assert [] == environment.list_tables()


def test_a_computed_column_sees_a_metadata_column_before_it(environment: TableEnvironment) -> None:
    run(environment, "CREATE TABLE t (m INT METADATA, b AS m * 2)")

    assert ["`m` INT METADATA", "`b` INT AS `m` * 2"] == columns(environment, "t")


def test_all_errors_are_reported_with_their_positions(environment: TableEnvironment) -> None:
    text = "CREATE TABLE t (\n  a INT,\n  b AS nope + 1,\n  c AS gone + 1\n)"
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(text)

    places = [
        (diagnostic.line, diagnostic.column, diagnostic.code)
        for diagnostic in caught.value.diagnostics
    ]
    assert [(3, 8, "unknown-column"), (4, 8, "unknown-column")] == places
    assert "b AS nope + 1" in str(caught.value)


def test_the_last_value_of_a_repeated_option_is_used(environment: TableEnvironment) -> None:
    run(environment, "CREATE TABLE t (a INT) WITH ('k' = '1', 'k' = '2')")
    result = environment.find_table("t")

    assert result is not None
    assert {"k": "2"} == result.table.get_options()


# --- LIKE -----------------------------------------------------------------------------------------

SOURCE = """
    CREATE TABLE base (
      id BIGINT NOT NULL COMMENT 'c', ts TIMESTAMP(3), calc AS id * 2, meta INT METADATA,
      WATERMARK FOR ts AS ts, PRIMARY KEY (id) NOT ENFORCED
    ) COMMENT 'base' PARTITIONED BY (id) WITH ('connector' = 'x', 'k' = 'v')
"""
PHYSICAL = ["`id` BIGINT NOT NULL COMMENT 'c'", "`ts` TIMESTAMP(3)"]
CALC, META = "`calc` BIGINT NOT NULL AS `id` * 2", "`meta` INT METADATA"


@pytest.mark.parametrize(
    ("own", "options", "expected"),
    [
        ("", "", [*PHYSICAL, CALC, META]),
        ("(n INT)", "", [*PHYSICAL, CALC, META, "`n` INT"]),
        ("", "(EXCLUDING GENERATED)", [*PHYSICAL, META]),
        ("", "(EXCLUDING METADATA)", [*PHYSICAL, CALC]),
        ("", "(EXCLUDING ALL)", PHYSICAL),
        ("", "(EXCLUDING ALL INCLUDING METADATA)", [*PHYSICAL, META]),
        (
            "(calc AS id * 3)",
            "(OVERWRITING GENERATED)",
            [*PHYSICAL, "`calc` BIGINT NOT NULL AS `id` * 3", META],
        ),
        ("(calc AS id * 3)", "", "already-declared"),
        ("(id INT)", "", "already-declared"),
        ("(calc INT)", "(OVERWRITING GENERATED)", "already-declared"),
        ("(meta AS id)", "(OVERWRITING METADATA)", "already-declared"),
        ("(PRIMARY KEY (id) NOT ENFORCED)", "", "already-declared"),
        ("(WATERMARK FOR ts AS ts)", "", "already-declared"),
        ("(x AS calc + 1)", "", "unknown-column"),
        ("(x AS meta + 1)", "", "unknown-column"),
        ("(x AS id + 1)", "(EXCLUDING ALL)", [*PHYSICAL, "`x` BIGINT NOT NULL AS `id` + 1"]),
    ],
)
def test_columns_of_a_like_table(
    environment: TableEnvironment, own: str, options: str, expected: list[str] | str
) -> None:
    run(environment, SOURCE)
    statement = f"CREATE TABLE t {own} LIKE base {options}"
    if isinstance(expected, str):
        assert expected == code(environment, statement)
        return
    run(environment, statement)

    assert expected == columns(environment, "t")


@pytest.mark.parametrize(
    ("own", "options", "expected"),
    [
        ("", "", {"connector": "x", "k": "v"}),
        ("WITH ('k' = 'w')", "", {"connector": "x", "k": "w"}),
        ("WITH ('n' = '1')", "(EXCLUDING OPTIONS)", {"n": "1"}),
        ("WITH ('n' = '1')", "(INCLUDING OPTIONS)", {"connector": "x", "k": "v", "n": "1"}),
        ("WITH ('k' = 'w')", "(INCLUDING OPTIONS)", "already-declared"),
        ("WITH ('k' = 'w')", "(INCLUDING ALL)", "already-declared"),
    ],
)
def test_options_of_a_like_table(
    environment: TableEnvironment, own: str, options: str, expected: dict[str, str] | str
) -> None:
    run(environment, SOURCE)
    statement = f"CREATE TABLE t {own} LIKE base {options}"
    if isinstance(expected, str):
        assert expected == code(environment, statement)
        return
    run(environment, statement)
    result = environment.find_table("t")

    assert result is not None
    assert expected == result.table.get_options()
    assert "" == result.table.get_comment()


def test_like_of_a_view_is_refused(environment: TableEnvironment) -> None:
    run(environment, "CREATE VIEW v AS SELECT 1 AS a")

    assert "wrong-object-type" == code(environment, "CREATE TABLE t LIKE v")


# --- ALTER TABLE ----------------------------------------------------------------------------------

ALTERED = """
    CREATE TABLE t (
      id INT NOT NULL, b STRING COMMENT 'old', c AS id + 1, ts TIMESTAMP(3),
      WATERMARK FOR ts AS ts, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED
    ) PARTITIONED BY (b) WITH ('connector' = 'x')
"""
ID, B, C, TS = "`id` INT NOT NULL", "`b` STRING COMMENT 'old'", "`c` INT NOT NULL AS `id` + 1", "`ts` TIMESTAMP(3)"  # fmt: skip  # noqa: E501


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("ADD n INT", [ID, B, C, TS, "`n` INT"]),
        ("ADD (n INT FIRST, m INT AFTER n)", ["`n` INT", "`m` INT", ID, B, C, TS]),
        ("ADD id INT", "duplicate-column"),
        ("ADD n INT AFTER zz", "unknown-column"),
        ("ADD n AS c + 1", "unknown-column"),
        ("ADD PRIMARY KEY (b) NOT ENFORCED", "already-declared"),
        ("ADD WATERMARK FOR ts AS ts", "already-declared"),
        ("MODIFY b INT", [ID, "`b` INT COMMENT 'old'", C, TS]),
        ("MODIFY b INT COMMENT 'new' FIRST", ["`b` INT COMMENT 'new'", ID, C, TS]),
        ("MODIFY id BIGINT", ["`id` BIGINT NOT NULL", B, "`c` BIGINT NOT NULL AS `id` + 1", TS]),
        ("MODIFY zz INT", "unknown-column"),
        ("MODIFY (b INT, b INT)", "duplicate-column"),
        ("MODIFY ts TIMESTAMP(6)", "invalid-watermark"),
        ("DROP c", [ID, B, TS]),
        ("DROP id", "object-in-use"),
        ("DROP b", "object-in-use"),
        ("DROP ts", "object-in-use"),
        ("DROP zz", "unknown-column"),
        ("RENAME c TO d", [ID, B, "`d` INT NOT NULL AS `id` + 1", TS]),
        ("RENAME id TO key", "object-in-use"),
        ("RENAME c TO b", "duplicate-column"),
        ("DROP CONSTRAINT other", "not-declared"),
        ("DROP DISTRIBUTION", "not-declared"),
        ("RESET ('connector')", "missing-connector"),
        ("RESET ()", "invalid-statement"),
    ],
)
def test_altered_columns(
    environment: TableEnvironment, change: str, expected: list[str] | str
) -> None:
    run(environment, ALTERED)
    if isinstance(expected, str):
        assert expected == code(environment, f"ALTER TABLE t {change}")
        assert [ID, B, C, TS] == columns(environment, "t")
        return
    run(environment, f"ALTER TABLE t {change}")

    assert expected == columns(environment, "t")


def test_the_key_follows_a_renamed_column(environment: TableEnvironment) -> None:
    run(environment, ALTERED, "ALTER TABLE t DROP c", "ALTER TABLE t RENAME id TO k")
    result = environment.find_table("t")

    assert result is not None
    key = result.table.resolved_schema.primary_key
    assert key is not None
    assert ("k",) == key.columns


def test_indexes_are_kept_by_alter_table(environment: TableEnvironment) -> None:
    """Unlike in Flink, which drops them; columns of an index cannot be dropped."""
    from schema_core.environment.table_api.descriptor import TableDescriptor
    from schema_core.schema.unresolved import Schema

    schema = Schema.new_builder().column("a", "INT").column("b", "INT").index("a").build()
    environment.create_table("t", TableDescriptor.for_connector("x").schema(schema).build())
    run(environment, "ALTER TABLE t ADD n INT")
    result = environment.find_table("t")

    assert result is not None
    assert ["INDEX_a"] == [index.name for index in result.table.resolved_schema.indexes]
    assert "object-in-use" == code(environment, "ALTER TABLE t DROP a")


def test_rename_uses_only_the_last_part_of_the_new_name(environment: TableEnvironment) -> None:
    run(environment, "CREATE TABLE t (a INT)", "ALTER TABLE t RENAME TO other.db.u")

    assert ["u"] == environment.list_tables()


# --- temporary objects through SQL ----------------------------------------------------------------


def test_a_temporary_table_does_not_require_its_database(environment: TableEnvironment) -> None:
    run(environment, "CREATE TEMPORARY TABLE nocat.nodb.t (a INT)")

    assert ["`a` INT"] == columns(environment, "nocat.nodb.t")
    assert [] == environment.list_temporary_tables()
    assert "catalog-not-found" == code(environment, "CREATE TABLE nocat.nodb.u (a INT)")


def test_names_of_more_than_three_parts_are_refused(environment: TableEnvironment) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql("CREATE TABLE a.b.c.d (x INT)")

    assert ("invalid-path", 14) == (caught.value.code, caught.value.diagnostics[0].column)


# --- views -----------------------------------------------------------------------------------


def test_recursive_view_is_refused(environment: TableEnvironment) -> None:
    run(environment, "CREATE VIEW v AS SELECT 1 AS a", "ALTER VIEW v AS SELECT * FROM v")

    assert "recursive-view" == code(environment, "CREATE VIEW w AS SELECT * FROM v")


def test_nested_views_are_resolved_once(environment: TableEnvironment) -> None:
    """Each view reads the previous one twice; a statement resolves each view once."""
    run(environment, "CREATE VIEW v0 AS SELECT 1 AS a")
    for number in range(1, 33):
        source = f"FROM v{number - 1} AS x JOIN v{number - 1} AS y ON x.a = y.a"
        run(environment, f"CREATE VIEW v{number} AS SELECT x.a {source}")

    assert "limit-exceeded" == code(environment, "CREATE VIEW v33 AS SELECT * FROM v32")


def test_a_view_of_a_missing_column_cannot_be_read(environment: TableEnvironment) -> None:
    run(environment, "CREATE TABLE t (a INT)", "CREATE VIEW v AS SELECT a FROM t")
    run(environment, "DROP TABLE t", "CREATE TABLE t (b INT)")
    with pytest.raises(SchemaCoreError) as caught:
        environment.sql_query("SELECT * FROM v")

    assert "unknown-column" == caught.value.code
    assert "view default_catalog.default_database.v" == caught.value.path[0]


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        ("CREATE VIEW v (x) AS SELECT 1, 2", "column-count-mismatch"),
        ("CREATE VIEW v (x, x) AS SELECT 1, 2", "duplicate-column"),
        ("CREATE VIEW v AS SELECT 1 AS a, 2 AS a", "duplicate-column"),
        ("CREATE VIEW v AS SELECT * FROM gone", "table-not-found"),
        ("ALTER VIEW v RENAME TO w", "table-not-found"),
    ],
)
def test_refused_views(environment: TableEnvironment, statement: str, refusal: str) -> None:
    assert refusal == code(environment, statement)


# --- materialized tables and models ----------------------------------------------------------


def test_a_materialized_table_is_derived_as_create_table_as_does(
    environment: TableEnvironment,
) -> None:
    run(
        environment,
        "CREATE TABLE s (a INT NOT NULL, b STRING)",
        """CREATE MATERIALIZED TABLE m (x AS a + 1, PRIMARY KEY (a) NOT ENFORCED)
           PARTITIONED BY (b) FRESHNESS = INTERVAL '30' SECOND AS SELECT a, b FROM s""",
    )

    assert ["`x` INT NOT NULL AS `a` + 1", "`a` INT NOT NULL", "`b` STRING"] == columns(
        environment, "m"
    )
    assert ["m"] == environment.list_materialized_tables()
    assert "table-not-found" == code(environment, "DROP TABLE m")
    run(environment, "DROP MATERIALIZED TABLE m")


@pytest.mark.parametrize(
    ("interval", "refusal"),
    [
        ("INTERVAL '0' SECOND", "invalid-materialized-table"),
        ("INTERVAL '1' YEAR", "invalid-materialized-table"),
        ("INTERVAL '1-1' YEAR TO MONTH", "invalid-materialized-table"),
        ("INTERVAL '45' MINUTE", "invalid-materialized-table"),
    ],
)
def test_refused_freshness(environment: TableEnvironment, interval: str, refusal: str) -> None:
    statement = f"CREATE MATERIALIZED TABLE m FRESHNESS = {interval} AS SELECT 1 AS a"

    assert refusal == code(environment, statement)


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        (
            "CREATE MODEL n INPUT (a INT, b AS a) OUTPUT (c INT) WITH ('k' = 'v')",
            "feature-not-supported",
        ),
        ("CREATE MODEL n INPUT (a INT) OUTPUT (c INT)", "invalid-statement"),
        ("CREATE MODEL m INPUT (a INT) OUTPUT (c INT) WITH ('k' = 'v')", "model-exists"),
        ("ALTER MODEL m SET ()", "invalid-statement"),
        ("ALTER MODEL m RESET ()", "invalid-statement"),
        ("ALTER MODEL gone SET ('k' = 'v')", "model-not-found"),
        ("DESCRIBE MODEL gone", "model-not-found"),
    ],
)
def test_refused_models(environment: TableEnvironment, statement: str, refusal: str) -> None:
    run(environment, "CREATE MODEL m INPUT (a INT) OUTPUT (c INT) WITH ('k' = 'v')")

    assert refusal == code(environment, statement)


# --- partitions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ("ADD PARTITION (d = '1')", "partition-exists"),
        ("ADD PARTITION (z = '1')", "invalid-partition-spec"),
        ("ADD PARTITION (d = NULL)", "syntax"),
        ("DROP PARTITION (d = '2')", "partition-not-found"),
    ],
)
def test_refused_partitions(environment: TableEnvironment, change: str, refusal: str) -> None:
    run(environment, "CREATE TABLE p (d STRING) PARTITIONED BY (d)")
    run(environment, "ALTER TABLE p ADD PARTITION (d = '1')")

    assert refusal == code(environment, f"ALTER TABLE p {change}")


def test_a_computed_column_with_a_subquery_is_refused(environment: TableEnvironment) -> None:
    assert "feature-not-supported" == code(environment, "CREATE TABLE t (a INT, b AS (SELECT 1))")


# --- what is displayed ----------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "printed"), cases("created_columns"))
def test_functions_are_displayed_as_flink_prints_them(case: str, printed: str) -> None:
    declared, expression = case.split("; ", 1)
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    run(
        environment,
        f"CREATE TABLE t ({declared}, x AS {expression}) WITH ('connector' = 'datagen')",
    )

    statement = environment.execute_sql("SHOW CREATE TABLE t").collect()
    assert f"  `x` AS {printed}\n" in next(iter(statement))[0]
    *_, (_, _, _, _, extras, _) = environment.execute_sql("DESCRIBE t").collect()
    assert extras == f"AS {printed}"
    assert columns(environment, "t")[-1].endswith(f"AS {printed}")


def test_watermarks_are_displayed_as_flink_prints_them(environment: TableEnvironment) -> None:
    run(
        environment,
        "CREATE TABLE t (s STRING, d AS to_timestamp(s), WATERMARK FOR d AS coalesce(d, d))",
    )

    assert "WATERMARK FOR `d` AS COALESCE(`d`, `d`)" in environment.get_create_statement("t")


def test_expressions_of_the_table_api_are_displayed_as_written(
    environment: TableEnvironment,
) -> None:
    schema = Schema.new_builder().column("a", "INT").column_by_expression("b", "Abs(a)").build()
    environment.create_table("t", TableDescriptor.for_connector("datagen").schema(schema).build())

    assert columns(environment, "t")[-1].endswith("AS Abs(a)")


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("url_encode('a')", "`url_encode`('a')"),
        ("URL_ENCODE('a')", "`URL_ENCODE`('a')"),
        ("Map_Keys(MAP['a', 1])", "`Map_Keys`(MAP['a', 1])"),
        ("Concat('a', 'b')", "CONCAT('a', 'b')"),
        ("proctime()", "PROCTIME()"),
        ("translate('a', 'b', 'c')", "`TRANSLATE3`('a', 'b', 'c')"),
        ("now()", "NOW()"),
    ],
)
def test_functions_of_views_are_displayed_as_flink_prints_them(
    environment: TableEnvironment, written: str, printed: str
) -> None:
    run(environment, f"CREATE VIEW v AS SELECT {written} AS x")

    assert f"AS SELECT {printed} AS `x`" in environment.get_create_statement("v")
