"""SHOW, DESCRIBE and SHOW CREATE: rows as in Flink."""

from __future__ import annotations

import pytest

from schema_core.catalog.functions import DEFINITIONS, FunctionClass
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.operations.show import SUBJECTS
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.result import as_table
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.sql.statement_syntax import SHOW_SUBJECTS
from schema_core.types import DataTypes

SCRIPT = """
CREATE TABLE t (
  a INT NOT NULL COMMENT 'it''s', c AS a + 1, m BIGINT METADATA FROM 'k' VIRTUAL,
  ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  CONSTRAINT pk PRIMARY KEY (a) NOT ENFORCED
) COMMENT 'x' PARTITIONED BY (a) WITH ('connector' = 'x', 'password' = 'p');
CREATE TABLE p_1 (d STRING) PARTITIONED BY (d);
CREATE TEMPORARY TABLE px1 (a INT);
CREATE DATABASE sales;
CREATE CATALOG lake COMMENT 'wet' WITH ('type' = 'generic_in_memory', 'default-database' = 'd');
ALTER TABLE p_1 ADD PARTITION (d = '1') PARTITION (d = '2')
"""


@pytest.fixture
def environment() -> TableEnvironment:
    settings = EnvironmentSettings.in_streaming_mode()
    environment = TableEnvironment.create(settings, planner=DryRunPlanner())
    for statement in SCRIPT.split(";"):
        environment.execute_sql(statement)
    return environment


def rows(environment: TableEnvironment, statement: str) -> list[tuple[str | None, ...]]:
    return list(environment.execute_sql(statement).format_rows())


def described(environment: TableEnvironment, statement: str) -> dict[str | None, str | None]:
    return {row[0]: row[1] for row in rows(environment, statement)}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SHOW CATALOGS", ["default_catalog", "lake"]),
        ("SHOW CATALOGS NOT LIKE 'l%'", ["default_catalog"]),
        ("SHOW CURRENT CATALOG", ["default_catalog"]),
        ("SHOW CURRENT DATABASE", ["default_database"]),
        ("SHOW DATABASES", ["default_database", "sales"]),
        ("SHOW DATABASES FROM lake", ["d"]),
        ("SHOW DATABASES ILIKE 'S%'", ["sales"]),
        ("SHOW TABLES", ["p_1", "px1", "t"]),
        ("SHOW TABLES LIKE 'p_1'", ["p_1", "px1"]),
        (r"SHOW TABLES LIKE 'p\_1'", ["p_1"]),
        ("SHOW TABLES LIKE 'T'", []),
        ("SHOW TABLES FROM lake.d", []),
        ("SHOW VIEWS", []),
        ("SHOW PARTITIONS p_1", ["d=1", "d=2"]),
        ("SHOW PARTITIONS p_1 PARTITION (d = '2')", ["d=2"]),
        ("SHOW MODULES", ["core"]),
        ("SHOW USER FUNCTIONS", []),
        ("SHOW JARS", []),
    ],
)
def test_names(environment: TableEnvironment, statement: str, expected: list[str]) -> None:
    assert [(name,) for name in expected] == rows(environment, statement)


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("SHOW TABLES FROM nodb", "database-not-found"),
        ("SHOW TABLES FROM nocat.d", "catalog-not-found"),
        ("SHOW TABLES FROM a.b.c", "invalid-path"),
        ("SHOW PARTITIONS t2", "table-not-found"),
        ("SHOW CREATE VIEW t", "wrong-object-type"),
        ("DESCRIBE nothing", "table-not-found"),
        ("DESCRIBE CATALOG default_catalog", "catalog-not-found"),
    ],
)
def test_refused_statements(environment: TableEnvironment, statement: str, code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(statement)

    assert code == caught.value.code


def test_described_table(environment: TableEnvironment) -> None:
    result = environment.execute_sql("DESCRIBE t")

    names = ["name", "type", "null", "key", "extras", "watermark", "comment"]
    assert names == result.get_resolved_schema().get_column_names()
    assert [
        ("a", "INT", False, "PRI(a)", None, None, "it's"),
        ("c", "INT", False, None, "AS `a` + 1", None, None),
        ("m", "BIGINT", True, None, "METADATA FROM 'k' VIRTUAL", None, None),
        ("ts", "TIMESTAMP(3) *ROWTIME*", True, None, None, "`ts` - INTERVAL '5' SECOND", None),
    ] == list(map(tuple, result.collect()))


def test_a_table_without_comments_is_described_without_them(environment: TableEnvironment) -> None:
    assert [("a", "INT", "TRUE", None, None, None)] == rows(environment, "SHOW COLUMNS FROM px1")


def test_described_catalog(environment: TableEnvironment) -> None:
    assert [
        ("name", "lake"),
        ("type", "generic_in_memory"),
        ("comment", "wet"),
        ("option:default-database", "d"),
    ] == rows(environment, "DESCRIBE CATALOG EXTENDED lake")


def test_show_create_recreates_the_table(environment: TableEnvironment) -> None:
    ((shown,),) = rows(environment, "SHOW CREATE TABLE t")
    written = environment.get_create_statement("t")
    other = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    other.execute_sql(written)

    assert shown == written.replace("'p'", "'******'")
    assert [(shown,)] == rows(other, "SHOW CREATE TABLE t")
    made, again = environment.find_table("t"), other.find_table("t")
    assert made is not None
    assert again is not None
    assert made.table.resolved_schema == again.table.resolved_schema
    assert made.table.get_options() == again.table.get_options()


def test_show_create_output(environment: TableEnvironment) -> None:
    expected = "CREATE TEMPORARY TABLE `default_catalog`.`default_database`.`px1` (\n  `a` INT\n)\n"
    assert [(expected,)] == rows(environment, "SHOW CREATE TABLE px1")


def test_options_are_masked_in_output(environment: TableEnvironment) -> None:
    result = environment.find_table("t")

    assert result is not None
    assert "******" in repr(result.table)
    assert "'p'" not in repr(result.table)


def test_printed(environment: TableEnvironment, capsys: pytest.CaptureFixture[str]) -> None:
    environment.execute_sql("SHOW DATABASES").print()
    environment.execute_sql("SHOW JARS").print()

    assert (
        "+------------------+\n"
        "|    database name |\n"
        "+------------------+\n"
        "| default_database |\n"
        "|            sales |\n"
        "+------------------+\n"
        "2 rows in set\n"
        "Empty set\n"
    ) == capsys.readouterr().out


def printed(
    environment: TableEnvironment, capsys: pytest.CaptureFixture[str], statement: str
) -> str:
    environment.execute_sql(statement).print()
    return capsys.readouterr().out


def test_listings_are_printed_in_full(
    environment: TableEnvironment, capsys: pytest.CaptureFixture[str]
) -> None:
    comment = "long " * 20 + "end"
    assert (
        printed(
            environment,
            capsys,
            f"CREATE TABLE wide (a INT NOT NULL, z BOOLEAN COMMENT '{comment}')",
        )
        == "OK\n"
    )
    shown = printed(environment, capsys, "DESCRIBE wide")
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in shown.splitlines()]
    assert cells[3] == ["a", "INT", "FALSE", "", "", "", ""]
    assert cells[4] == ["z", "BOOLEAN", "TRUE", "", "", "", comment]
    assert comment in printed(environment, capsys, "SHOW CREATE TABLE wide")
    assert "| core | TRUE |" in " ".join(printed(environment, capsys, "SHOW FULL MODULES").split())


def test_plans_are_printed_as_they_are(
    environment: TableEnvironment, capsys: pytest.CaptureFixture[str]
) -> None:
    [(plan,)] = environment.execute_sql("EXPLAIN SELECT 1").format_rows()
    assert printed(environment, capsys, "EXPLAIN SELECT 1") == f"{plan}\n"


def test_cells_of_queries_are_cut_at_the_option() -> None:
    assert "| abcde... |" in as_table(["a"], [("abcdefghi",)], widths=[8])
    assert "| abcdefghi |" in as_table(["a"], [("abcdefghi",)])


def test_every_built_in_function_is_described(environment: TableEnvironment) -> None:
    for name in DEFINITIONS:
        result = described(environment, f"DESCRIBE FUNCTION EXTENDED `{name}`")
        assert list(result) == [
            "is system function", "is temporary", "kind", "requirements", "is deterministic",
            "supports constant folding", "signature",
        ]  # fmt: skip
        overloads = (result["signature"] or "").split("\n")
        assert all(
            overload.startswith(f"{name}(") and overload.endswith(")") for overload in overloads
        )


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("CONCAT_WS", "CONCAT_WS(<CHARACTER_STRING>, <CHARACTER_STRING>...)"),
        ("Round", "Round(<NUMERIC>)\nRound(<NUMERIC>, <INTEGER>)"),
        ("ARRAY_POSITION", "ARRAY_POSITION(haystack <ARRAY>, needle <ARRAY ELEMENT>)"),
    ],
)
def test_signatures_of_functions(environment: TableEnvironment, name: str, signature: str) -> None:
    assert described(environment, f"DESCRIBE FUNCTION EXTENDED {name}")["signature"] == signature


def test_resources_of_functions(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE FUNCTION g AS 'x.Y' USING JAR '/a.jar', ARTIFACT 's3://b.jar'")
    assert described(environment, "DESCRIBE FUNCTION g")["resource uris"] == (
        "[ResourceUri{resourceType=JAR, uri='/a.jar'}, "
        "ResourceUri{resourceType=ARTIFACT, uri='s3://b.jar'}]"
    )


def test_a_temporary_function_hides_the_description(environment: TableEnvironment) -> None:
    environment.declare_function_class(
        "Own", FunctionClass((((DataTypes.INT(),), DataTypes.INT()),))
    )
    environment.execute_sql("CREATE TEMPORARY SYSTEM FUNCTION `upper` AS 'Own'")
    result = described(environment, "DESCRIBE FUNCTION EXTENDED `upper`")
    assert result["is temporary"] == "true"
    assert result["signature"] == "upper(arg0 => INT)"


# --- totality -------------------------------------------------------------------------------------


def test_every_kind_of_object_can_be_listed() -> None:
    assert {subject.words for subject in SHOW_SUBJECTS} == set(SUBJECTS)


# --- functions -------------------------------------------------------------------------------


def test_described_function(environment: TableEnvironment) -> None:
    signature = ((DataTypes.INT(), DataTypes.STRING()), DataTypes.INT())
    environment.declare_function_class("org.example.F", FunctionClass((signature,)))
    environment.execute_sql("CREATE FUNCTION f AS 'org.example.F'")

    assert [
        ("is system function", "false"),
        ("is temporary", "false"),
        ("class name", "org.example.F"),
        ("function language", "JAVA"),
        ("resource uris", "[]"),
        ("kind", "SCALAR"),
        ("requirements", "[]"),
        ("is deterministic", "true"),
        ("supports constant folding", "true"),
        ("signature", "default_catalog.default_database.f(arg0 => INT, arg1 => STRING)"),
    ] == rows(environment, "DESCRIBE FUNCTION EXTENDED f")


# --- the core module ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        "COALESCE(1, 2)", "IFNULL(1, 2)", "TYPEOF(1)", "ARRAY_CONTAINS(ARRAY[1], 1)",
        "JSON_STRING(1)", "GREATEST(1, 2)", "translate('a', 'b', 'c')", "MAP_KEYS(MAP[1, 2])",
        "JSON('1')", "PERCENTILE(1, 0.5)",
    ],
)  # fmt: skip
def test_functions_leave_with_the_core_module(call: str) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.execute_sql("UNLOAD MODULE core")

    with pytest.raises(SchemaCoreError) as caught:
        environment.sql_query(f"SELECT {call} AS x")
    assert ("function-not-found", "load it with LOAD MODULE core") == (
        caught.value.code,
        caught.value.hint,
    )
    environment.execute_sql("LOAD MODULE core")
    environment.sql_query(f"SELECT {call} AS x")


@pytest.mark.parametrize(
    "call",
    [
        "UPPER('a')", "1 + 2", "CASE WHEN TRUE THEN 1 ELSE 2 END", "CAST(1 AS STRING)", "NOW()",
        "IF(TRUE, 1, 2)", "NULLIF(1, 2)", "JSON_VALUE('{}', '$.a')", "TRY_PARSE_JSON('1')",
        "ARRAY[1][1]", "COUNT(*)", "LISTAGG('a')", "'1' IS JSON", "TRANSLATE('a' USING utf8)",
    ],
)  # fmt: skip
def test_functions_of_the_standard_remain_without_the_core_module(call: str) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.execute_sql("UNLOAD MODULE core")

    environment.sql_query(f"SELECT {call} AS x")
