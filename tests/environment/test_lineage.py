"""Lineage of tables and views: what each column reads, by every kind of relation, and its page."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from schema_core import EnvironmentSettings, NotFoundError, SchemaCoreError, TableEnvironment
from schema_core.pyflink.table.udf import udtf
from tests.html_reading import read

TABLES = (
    """CREATE TABLE t (
      a INT, b INT, r ROW<x INT, y INT>, l ARRAY<INT>, ts TIMESTAMP(3), c AS a + b, d AS b * 2,
      WATERMARK FOR ts AS ts
    )""",
    "CREATE TABLE u (a INT, k STRING)",
)

#: Query -> the columns of t and u that each of its columns reads.
QUERIES: dict[str, list[str]] = {
    "SELECT * FROM u": ["u.a", "u.k"],
    "SELECT a + b AS s, 1 AS `one`, r.x, d FROM t": ["t.a t.b", "", "t.r", "t.d"],
    "SELECT b FROM t WHERE a > 0 ORDER BY c": ["t.b"],
    "SELECT x.a, y.a AS o FROM t AS x JOIN u AS y ON x.a = y.a": ["t.a", "u.a"],
    "SELECT b, z.k FROM t JOIN (u AS z JOIN u AS w ON z.a = w.a) ON t.a = z.a": ["t.b", "u.k"],
    "SELECT COUNT(*) AS n, SUM(a) FILTER (WHERE b > 0) AS s FROM t": ["", "t.a t.b"],
    "SELECT SUM(a) OVER (PARTITION BY k ORDER BY a) AS s FROM u": ["u.a u.k"],
    "SELECT a FROM t UNION ALL SELECT a FROM u UNION ALL SELECT b FROM t": ["t.a u.a t.b"],
    "WITH q AS (SELECT a, k FROM u) SELECT k, a FROM q": ["u.k", "u.a"],
    "WITH q (n) AS (SELECT a FROM u), p AS (SELECT n + 1 AS m FROM q) SELECT m FROM p": ["u.a"],
    "SELECT (SELECT MAX(u.a) FROM u) AS m, a FROM t": ["u.a", "t.a"],
    "SELECT (SELECT MAX(u.a + t.b) FROM u) AS m FROM t": ["u.a t.b"],
    "SELECT * FROM TO_CHANGELOG(input => TABLE u)": ["u.a u.k", "u.a", "u.k"],
    "SELECT a, w FROM u, LATERAL TABLE(split(k)) AS s (w)": ["u.a", "u.k"],
    "WITH RECURSIVE q (n) AS (SELECT a FROM u UNION ALL SELECT n + 1 FROM q) SELECT n FROM q":
        ["u.a"],
    "WITH RECURSIVE q (n, m) AS (SELECT a, b FROM t UNION ALL SELECT m, n FROM q) SELECT n FROM q":
        ["t.a t.b"],
    "WITH q AS (SELECT a FROM u) SELECT a FROM (WITH q AS (SELECT b AS a FROM t) SELECT a FROM q)":
        ["t.b"],
    "SELECT k IN (SELECT k FROM u AS v) AS f FROM u": ["u.k"],
    "SELECT e, b FROM t CROSS JOIN UNNEST(l) AS x (e)": ["t.l", "t.b"],
    "SELECT window_start, b FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR))":
        ["t.ts", "t.b"],
    "SELECT n FROM (VALUES (1, 2)) AS v (n, m)": [""],
    "SELECT b FROM t TABLESAMPLE BERNOULLI(10)": ["t.b"],
    "SELECT DISTINCT CASE WHEN a > 0 THEN k ELSE 'x' END AS e FROM u LIMIT 3": ["u.a u.k"],
    "SELECT m.s, m.b FROM t MATCH_RECOGNIZE (PARTITION BY b ORDER BY ts MEASURES p.a AS s"
    " PATTERN (p) DEFINE p AS p.a > 0) AS m": ["t.a", "t.b"],
}  # fmt: skip


def environment(*statements: str) -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    made.create_temporary_function("split", udtf(str.split, result_types=["STRING"]))
    for statement in (*TABLES, *statements):
        made.execute_sql(statement)
    return made


def short(origins: tuple[tuple[object, str], ...]) -> str:
    return " ".join(f"{getattr(table, 'object_name')}.{column}" for table, column in origins)  # noqa: B009


@pytest.mark.parametrize("query", QUERIES)
def test_origins_of_a_query(query: str) -> None:
    env = environment()
    env.create_temporary_view("v", env.sql_query(query))
    result = env.lineage("v")

    assert QUERIES[query] == list(map(short, result.tables[0].reads))


def test_lineage_follows_views_and_computed_columns() -> None:
    env = environment(
        "CREATE VIEW v AS SELECT d AS e FROM t",
        "CREATE TEMPORARY VIEW w AS SELECT e + 1 AS f FROM v",
    )
    result = env.lineage("w")
    prefix = "default_catalog.default_database"

    assert ["w", "v", "t"] == [table.identifier.object_name for table in result.tables]
    assert "v.e" == short(result.reads(f"{prefix}.w", "f"))
    assert "t.d" == short(result.reads(f"{prefix}.v", "e"))
    assert "t.a t.b" == short(result.reads(f"{prefix}.t", "c"))
    assert () == result.reads(f"{prefix}.t", "a") == result.reads("x", "a") == result.reads("", "x")
    assert "v.e" == short(result.reads("default_catalog.`default_database`.w", "f"))
    assert {"t", "u", "v", "w"} == {table.identifier.object_name for table in env.lineage().tables}


def test_lineage_of_a_materialized_table() -> None:
    env = environment(
        "CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' HOUR AS SELECT a AS b FROM u"
    )
    assert "u.a" == short(env.lineage("m").tables[0].reads[0])


def test_lineage_is_written_as_page_and_image() -> None:
    env = environment('CREATE VIEW `<b>` AS SELECT a AS `"<i>` FROM u')
    result = env.lineage("`<b>`")
    page = read(result.to_html("<title>"))

    assert '<b> (view): "<i> INT' in "".join(ET.fromstring(result.to_svg()).itertext())
    assert 'subgraph g0["#60;b#62; #40;view#41;"]' in result.to_mermaid()
    assert "default_catalog.default_database.u.a" in page.cells
    assert "default_catalog.default_database.<b> (VIEW)" in page.text
    assert not {"b", "i"} & set(page.tags)
    assert 2 == read(result._repr_html_()).tags.count("table")
    assert result.to_html() == env.lineage("`<b>`").to_html()


def test_constants_and_empty_columns_are_named() -> None:
    lineage = environment("CREATE VIEW v AS SELECT 1 AS n").lineage("v")
    assert "reads no column" in lineage.to_svg()
    assert ["column", "type", "reads"] == read(lineage._repr_html_()).cells[:3]


def test_lineage_of_what_is_not_there() -> None:
    env = environment("CREATE VIEW v AS SELECT a FROM u", "DROP TABLE u")
    with pytest.raises(NotFoundError, match="x"):
        env.lineage("x")
    with pytest.raises(SchemaCoreError, match="u"):
        env.lineage("v")
