"""Dialects compared with hand-written tables, with the output of engines, and with real engines."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from schema_core.base.text import MAX_DEPTH
from schema_core.errors import NotFoundError, ParseError, UnsupportedError
from schema_core.mappings.dialects.api import (
    DIALECTS,
    ddl_losses,
    from_ddl,
    read_table,
    to_ddl,
)
from schema_core.mappings.dialects.engines import ALIASES, ENGINES, engine
from schema_core.mappings.dialects.types import KINDS
from schema_core.mappings.loss import Loss
from schema_core.schema.unresolved import Schema, SqlExpression
from schema_core.types import DataType, parse_type
from tests.support import cases


def one_column(type_: DataType) -> Schema:
    return Schema.new_builder().column("c", type_).build()


def type_of(schema: Schema) -> DataType:
    (column,) = schema.columns
    assert hasattr(column, "data_type")
    assert isinstance(column.data_type, DataType)
    return column.data_type


def words(losses: tuple[Loss, ...]) -> str:
    """The kinds of loss of the column, without those of the table."""
    return ", ".join(loss.kind.word for loss in losses if loss.path != ("table",))


def split(given: str) -> tuple[str, str]:
    dialect, _, type_ = given.partition(" | ")
    return dialect, type_


def expected(text: str) -> tuple[str, str]:
    type_, _, losses = text.partition(" ; ")
    return type_, losses


def column_text(ddl: str) -> str:
    """The definition of the only column of a statement, without its name."""
    return ddl.split("\n")[1].strip().split(" ", 1)[1]


# --- hand-written tables --------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "flink"), cases("dialect_same"))
def test_type_is_converted_in_both_directions(given: str, flink: str) -> None:
    dialect, foreign = split(given)
    type_ = parse_type(flink)
    result = read_table(f"CREATE TABLE t (c {foreign})", dialect)

    assert str(type_) == str(type_of(result.schema))
    assert "" == words(result.losses)
    assert foreign == column_text(to_ddl(one_column(type_), dialect))
    assert () == ddl_losses(one_column(type_), dialect)


@pytest.mark.parametrize(("given", "outcome"), cases("dialect_read"))
def test_type_is_read(given: str, outcome: str) -> None:
    dialect, foreign = split(given)
    text = f"CREATE TABLE t (c {foreign})"
    if outcome.startswith("!"):
        with pytest.raises(UnsupportedError) as caught:
            read_table(text, dialect)
        assert outcome == f"! {caught.value.code}"
        return
    type_, losses = expected(outcome)
    result = read_table(text, dialect)

    assert str(parse_type(type_)) == str(type_of(result.schema))
    assert losses == words(result.losses)


@pytest.mark.parametrize(("given", "outcome"), cases("dialect_written"))
def test_type_is_written(given: str, outcome: str) -> None:
    dialect, flink = split(given)
    schema = one_column(parse_type(flink))
    if outcome.startswith("!"):
        with pytest.raises(UnsupportedError) as caught:
            to_ddl(schema, dialect)
        assert outcome == f"! {caught.value.code}"
        return
    foreign, losses = expected(outcome)

    assert foreign == column_text(to_ddl(schema, dialect, on_loss="accept"))
    assert losses == words(ddl_losses(schema, dialect))


@pytest.mark.parametrize("dialect", ENGINES)
def test_every_engine_has_cases(dialect: str) -> None:
    assert 15 <= len([given for given, _ in cases("dialect_same") if split(given)[0] == dialect])


@pytest.mark.parametrize("dialect", ENGINES)
def test_rows_are_consistent(dialect: str) -> None:
    """Every row names a kind of loss, and its first spelling is read by the same row."""
    for row in ENGINES[dialect].rows:
        assert row.loss is None or row.loss in KINDS
        assert row.reads or row.writes


# --- statements printed by engines ----------------------------------------------------------------

POSTGRES_DUMP = """
\\restrict 4ql2w8zFOLAh1MJAnX84K3DU7Q8rFE4xzGuar6lauwzYCX19HxLUckEpFb7OqvL

SET statement_timeout = 0;
-- Name: users
CREATE TABLE public.users (
    id integer NOT NULL,
    "Mail" character varying(80) COLLATE "C" NOT NULL,
    created timestamp with time zone DEFAULT now() NOT NULL,
    full_name text GENERATED ALWAYS AS ((("Mail")::text || 'x'::text)) STORED,
    doubled integer GENERATED ALWAYS AS ((id * 2)) STORED,
    CONSTRAINT users_id_check CHECK ((id > 0))
);
ALTER TABLE public.users OWNER TO postgres;
COMMENT ON TABLE public.users IS 'all of them';
COMMENT ON COLUMN public.users."Mail" IS 'where to write; it''s unique';
CREATE SEQUENCE public.users_id_seq AS integer START WITH 1;
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX users_mail ON public.users USING btree ("Mail");
"""

MYSQL_DUMP = """
CREATE TABLE `orders` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT COMMENT 'the number',
  `state` enum('new','it''s done') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT 'new',
  `price` decimal(10,2) NOT NULL DEFAULT '0.00',
  `gross` decimal(12,2) GENERATED ALWAYS AS ((`price` * 1.19)) VIRTUAL,
  `changed` timestamp(3) NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  PRIMARY KEY (`id`,`price`) USING BTREE,
  UNIQUE KEY `k` (`state`),
  KEY `changed` (`changed`),
  CONSTRAINT `f` FOREIGN KEY (`state`) REFERENCES `states` (`name`) ON DELETE CASCADE
) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4 COMMENT='orders; all'
"""


def test_dump_of_postgres() -> None:
    result = read_table(POSTGRES_DUMP, "postgres")

    assert ("public", "users") == result.path
    assert (
        "(\n"
        "  `id` INT NOT NULL,\n"
        "  `Mail` VARCHAR(80) NOT NULL COMMENT 'where to write; it''s unique',\n"
        "  `created` TIMESTAMP_LTZ(6) NOT NULL,\n"
        "  `full_name` STRING,\n"
        "  `doubled` AS [`id` * 2],\n"
        "  CONSTRAINT `users_pkey` PRIMARY KEY (`id`) NOT ENFORCED\n"
        ")"
    ) == str(result.schema)
    lost = {loss.source for loss in result.losses}
    assert {"DEFAULT now()", 'COLLATE "C"', "a generated column"} <= lost
    assert any("CHECK" in source for source in lost)
    assert any("UNIQUE INDEX" in source for source in lost)


def test_dump_of_mysql() -> None:
    result = read_table(MYSQL_DUMP, "mysql")

    assert (
        "(\n"
        "  `id` DECIMAL(20, 0) NOT NULL COMMENT 'the number',\n"
        "  `state` STRING,\n"
        "  `price` DECIMAL(10, 2) NOT NULL,\n"
        "  `gross` AS [CAST(`price` * 1.19 AS DECIMAL(12, 2))],\n"
        "  `changed` TIMESTAMP_LTZ(3),\n"
        "  CONSTRAINT `PK_id_price` PRIMARY KEY (`id`, `price`) NOT ENFORCED\n"
        ")"
    ) == str(result.schema)


@pytest.mark.parametrize(("given", "listing"), cases("dialect_statements"))
def test_hand_written_statements(given: str, listing: str) -> None:
    dialect, text = split(given)
    shown = str(read_table(text, dialect).schema)

    assert listing == " ".join(line.strip() for line in shown.split("\n")[1:-1])


@pytest.mark.parametrize(
    ("dialect", "text", "lost"),
    [
        ("oracle", "CREATE TABLE t (a int, PRIMARY KEY (a) DISABLE)", ["PRIMARY KEY (a) DISABLE"]),
        ("oracle", "CREATE TABLE t (a int PRIMARY KEY DISABLE)", ["PRIMARY KEY DISABLE"]),
        (
            "oracle",
            "CREATE TABLE t (a int PRIMARY KEY); ALTER TABLE t DISABLE PRIMARY KEY",
            ["DISABLE PRIMARY KEY"],
        ),
        ("postgres", "CREATE TABLE t (a int, b int, PRIMARY KEY (a) INCLUDE (b))", ["INCLUDE (b)"]),
        ("mysql", "CREATE TABLE t (a int, PRIMARY KEY (a) USING BTREE)", []),
        ("snowflake", "CREATE TABLE t CLUSTER BY (a) (a int)", ["CLUSTER BY (a)"]),
        (
            "postgres",
            "CREATE DOMAIN q AS int NOT NULL CONSTRAINT p CHECK (VALUE > 0); CREATE TABLE t (a q)",
            ["CONSTRAINT p CHECK (VALUE > 0)"],
        ),
        (
            "postgres",
            "CREATE DOMAIN q AS int DEFAULT 1 CONSTRAINT n NOT NULL; CREATE TABLE t (a q)",
            ["DEFAULT 1"],
        ),
    ],
)
def test_clauses_are_reported_once(dialect: str, text: str, lost: list[str]) -> None:
    assert lost == [loss.source for loss in read_table(text, dialect).losses]


@pytest.mark.parametrize(
    ("text", "comment", "lost"),
    [
        ("OPTIONS(labels=[('a', 'b')], description='x')", "x", ["OPTIONS(labels=[('a', 'b')])"]),
        ("OPTIONS(description='x', labels=[('a', 'b')])", "x", ["OPTIONS(labels=[('a', 'b')])"]),
        ("OPTIONS(description=NULL)", None, []),
        ("OPTIONS(description=CONCAT('x', 'y'))", None, ["OPTIONS(description=CONCAT('x', 'y'))"]),
        ("; ALTER TABLE t SET OPTIONS(expiration_timestamp=NULL, description='y')", "y",
         ["OPTIONS(expiration_timestamp=NULL)"]),
    ],
)  # fmt: skip
def test_options_of_bigquery(text: str, comment: str | None, lost: list[str]) -> None:
    table = read_table(f"CREATE TABLE t (a INT64) {text}", "bigquery")

    assert (comment, lost) == (table.comment, [loss.source for loss in table.losses])


def test_partition_columns_of_bigquery() -> None:
    text = "CREATE EXTERNAL TABLE t (a INT64) WITH PARTITION COLUMNS (dt DATE)"

    assert ("dt",) == read_table(text, "bigquery").partition_keys


@pytest.mark.parametrize("key", ["PRIMARY KEY b", "PRIMARY KEY (a) b"])
def test_column_after_a_key_of_clickhouse_is_refused(key: str) -> None:
    """A comma is missing: the column must not be skipped."""
    with pytest.raises(ParseError, match="after the primary key") as caught:
        read_table(f"CREATE TABLE t (a Int8, {key} Int8, c Int8) ENGINE = Log", "clickhouse")

    assert caught.value.code == "syntax"


@pytest.mark.parametrize(
    ("dialect", "column"), [("clickhouse", "d DEFAULT 1"), ("snowflake", "d NOT NULL")]
)
def test_column_without_a_type_is_refused(dialect: str, column: str) -> None:
    with pytest.raises(UnsupportedError, match="the type of the column is not declared"):
        read_table(f"CREATE TABLE t (a int, {column})", dialect)


@pytest.mark.parametrize("dialect", ENGINES)
def test_nested_not_null_is_preserved_or_reported(dialect: str) -> None:
    """sqlglot's trees drop it; here it is preserved, refused or reported."""
    inner = ENGINES[dialect]
    if inner.array is None or "{}[]" == inner.array:
        return
    text = inner.array.format("date NOT NULL")
    result = read_table(f"CREATE TABLE t (c {text})", dialect)
    type_ = type_of(result.schema)

    assert "ARRAY<DATE NOT NULL>" == str(type_.nullable())


def test_map_values_are_preserved() -> None:
    for dialect in ("spark", "hive", "databricks"):
        type_ = type_of(from_ddl("CREATE TABLE t (c MAP<STRING NOT NULL, INT NOT NULL>)", dialect))

        assert "MAP<VARCHAR(2147483647) NOT NULL, INT NOT NULL>" == str(type_)


# --- names, strings, exact types ------------------------------------------------------------------


def test_names_have_the_case_that_the_engine_stores() -> None:
    text = 'CREATE TABLE t (Plain INT, "Quoted" INT)'
    kept = {dialect: [c.name for c in from_ddl(text, dialect).columns] for dialect in
            ("postgres", "snowflake", "trino", "redshift", "duckdb", "sqlite")}  # fmt: skip

    assert {
        "postgres": ["plain", "Quoted"],
        "snowflake": ["PLAIN", "Quoted"],
        "trino": ["plain", "quoted"],
        "redshift": ["plain", "quoted"],
        "duckdb": ["Plain", "Quoted"],
        "sqlite": ["Plain", "Quoted"],
    } == kept


def test_names_that_collide_in_the_engine_are_refused() -> None:
    schema = Schema.new_builder().column("a", "INT").column("A", "INT").build()
    refused = []
    for dialect in DIALECTS:
        try:
            to_ddl(schema, dialect)
        except UnsupportedError as error:
            refused.append((dialect, error.code))

    case_sensitive = {"postgres", "snowflake", "clickhouse", "flink", "oracle"}
    assert [
        (dialect, "name-not-supported") for dialect in DIALECTS if dialect not in case_sensitive
    ] == refused


def test_an_exact_type_in_a_comment_is_used_if_it_matches() -> None:
    schema = one_column(parse_type("TIMESTAMP(9) NOT NULL"))
    text = to_ddl(schema, "spark", on_loss="note")

    assert schema == from_ddl(text, "spark")
    changed = text.replace("timestamp_ntz", "date")
    assert "DATE NOT NULL" == str(type_of(from_ddl(changed, "spark")))


def test_a_comment_that_looks_like_an_exact_type_is_preserved() -> None:
    schema = Schema.new_builder().column("c", "INT").with_comment("x [flink: BIGINT]").build()

    for dialect in DIALECTS:
        if dialect not in {"sqlite", "tsql"}:
            again = read_table(to_ddl(schema, dialect, on_loss="note"), dialect).schema
            assert "x [flink: BIGINT]" == again.columns[0].comment


# --- policies and errors --------------------------------------------------------------------------


def test_losses_that_change_values_are_refused_unless_accepted() -> None:
    schema = one_column(parse_type("TIMESTAMP(9)"))

    with pytest.raises(UnsupportedError) as caught:
        to_ddl(schema, "postgres")
    assert ("lossy", ("c",)) == (caught.value.code, caught.value.path)
    assert "timestamp(6)" == column_text(to_ddl(schema, "postgres", on_loss="accept"))

    text = "CREATE TABLE t (c numeric)"
    with pytest.raises(UnsupportedError) as caught:
        from_ddl(text)
    assert "lossy" == caught.value.code
    assert "DECIMAL(38, 18)" == str(type_of(from_ddl(text, on_loss="accept")))


def test_columns_with_other_results_in_engines_are_omitted() -> None:
    builder = Schema.new_builder().column("a", "INT").column("s", "STRING")
    schema = builder.column_by_expression("c", "CHAR_LENGTH(s)").build()
    (loss,) = ddl_losses(schema, "postgres")

    assert (("c",), "refused") == (loss.path, loss.kind.word)
    assert "c" not in to_ddl(schema, "postgres", on_loss="accept").split()


def test_all_unreadable_columns_are_reported() -> None:
    with pytest.raises(UnsupportedError) as caught:
        from_ddl("CREATE TABLE t (a mood, b integer, c other)")

    assert [("column 'a'",), ("column 'c'",)] == [d.path for d in caught.value.diagnostics]
    assert [17, 36] == [d.column for d in caught.value.diagnostics]


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("", "invalid-statement", 0),
        ("SELECT 1", "invalid-statement", 1),
        ("CREATE TABLE t", "missing-columns", 0),
        ("CREATE TABLE t AS SELECT 1", "missing-columns", 16),
        ("CREATE TABLE t (a int); CREATE TABLE u (b int)", "invalid-statement", 25),
        ("CREATE TABLE t (a int", "syntax", 0),
        ("CREATE TABLE t (a int b)", "syntax", 23),
        ("CREATE TABLE t (a int,)", "syntax", 23),
        ("CREATE TABLE t (a varchar(10)", "syntax", 0),
        ("CREATE TABLE t (a int OPTIONS(]", "syntax", 31),
        ("CREATE TABLE t (a int) 'open", "syntax", 24),
        ('CREATE TABLE t ("a int)', "syntax", 17),
        ("CREATE TABLE t (a " + "numeric(" * 80 + ")", "limit-exceeded", 530),
        ("CREATE TABLE t (a int" + "[]" * 100 + ")", "limit-exceeded", 0),
        ("CREATE TABLE t (a int, b int GENERATED ALWAYS AS (" + "(" * 200, "limit-exceeded", 0),
    ],
)
def test_invalid_statements(text: str, code: str, column: int) -> None:
    with pytest.raises((ParseError, UnsupportedError)) as caught:
        from_ddl(text)

    assert code == caught.value.code
    if column:
        assert column == caught.value.diagnostics[0].column


def test_input_is_limited_before_it_is_parsed() -> None:
    with pytest.raises(ParseError) as caught:
        from_ddl("CREATE TABLE t (a int)" + " " * 1_000_000)
    assert "limit-exceeded" == caught.value.code


@pytest.mark.parametrize("nested", ["NOT " * 5_000 + "a", "(" * 60 + "a" + ")" * 60, "- " * 900])
def test_an_expression_beyond_the_limits_becomes_a_physical_column(
    nested: str,
) -> None:
    text = f"CREATE TABLE t (a int, b int GENERATED ALWAYS AS ({nested}) STORED)"

    assert "`b` INT" in str(read_table(text).schema)


def test_unknown_dialect() -> None:
    with pytest.raises(NotFoundError) as caught:
        from_ddl("CREATE TABLE t (a int)", "postgras")

    assert ("unknown-dialect", "did you mean 'postgres'?") == (caught.value.code, caught.value.hint)
    assert set(ALIASES.values()) <= set(DIALECTS)


# --- expressions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "foreign", "flink"),
    [
        ("postgres",   "a + 1 * b",                    "`a` + (1 * `b`)"),
        ("postgres",   "(a + b) * 2",                  "(`a` + `b`) * 2"),
        ("postgres",   "a IS NOT NULL AND NOT (b = 1)", "(`a` IS NOT NULL) AND (NOT (`b` = 1))"),
        ("postgres",   "s || 'it''s'",                 "`s` || 'it''s'"),
        ("postgres",   "CASE WHEN a > 1 THEN 'x' END", "CASE WHEN `a` > 1 THEN 'x' END"),
        ("postgres",   "a BETWEEN 1 AND 2",            "`a` BETWEEN 1 AND 2"),
        ("postgres",   "a IN (1, 2)",                  "`a` IN (1, 2)"),
        ("postgres",   "coalesce(a, -b)",              "COALESCE(`a`, -`b`)"),
        ("mysql",      "concat(s, 'x')",               "CONCAT(`s`, 'x')"),
        ("spark",      "upper(s)",                     "UPPER(`s`)"),
        ("spark",      "s = 'a\\nb'",                  "`s` = 'a\nb'"),
        ("duckdb",     "true",                         "TRUE"),
        # in another meaning there, or perhaps
        ("postgres",   "concat(s, 'x')",               None),
        ("postgres",   "a / 2",                        None),
        ("postgres",   "a::text",                      None),
        ("postgres",   "now()",                        None),
        ("postgres",   "a + b || s",                   None),
        ("postgres",   "t.a",                          None),
        ("postgres",   "a ? 'x'",                      None),
        ("mysql",      "s || 'x'",                     None),
        ("clickhouse", "length(s)",                    None),
        ("postgres",   "c_other + 1",                  None),
        ("postgres",   "a b",                          None),
    ],
)  # fmt: skip
def test_expression_is_read_only_with_the_same_meaning(
    dialect: str, foreign: str, flink: str | None
) -> None:
    text = f"CREATE TABLE t (a int, b int, s varchar(9), c AS ({foreign}), d int)"
    if flink is None:
        text = text.replace("c AS", "c int AS")
        column = read_table(text, dialect).schema.columns[3]
        assert "`c` INT" in str(column)
        return
    column = read_table(text, dialect).schema.columns[3]

    assert SqlExpression(flink) == getattr(column, "expression", None)


# --- real engines ---------------------------------------------------------------------------------

EVERYTHING = (
    Schema.new_builder()
    .column("id", "BIGINT NOT NULL")
    .column('na"me`\n;', "VARCHAR(20)")
    .with_comment('it\'s; "x" \\ -- `')
    .column("price", "DECIMAL(12, 2)")
    .column("at", "TIMESTAMP(3)")
    .column("seen", "TIMESTAMP_LTZ(6) NOT NULL")
    .column("tags", "ARRAY<STRING>")
    .column("extra", "MAP<STRING NOT NULL, ROW<`x` INT, `y z` DOUBLE>>")
    .column_by_expression("twice", "price * 2 + CASE WHEN id IS NULL THEN 1 ELSE 2 END")
    .primary_key("id")
    .build()
)


def test_sqlite_accepts_the_statements() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(to_ddl(EVERYTHING, "sqlite", 'ta"ble;', on_loss="accept"))
    columns = connection.execute('SELECT name, "notnull", pk FROM pragma_table_xinfo(\'ta"ble;\')')

    assert [
        ("id", 1, 1), ('na"me`\n;', 0, 0), ("price", 0, 0), ("at", 0, 0), ("seen", 1, 0),
        ("tags", 0, 0), ("extra", 0, 0), ("twice", 0, 0),
    ] == columns.fetchall()  # fmt: skip
    connection.execute('INSERT INTO "ta""ble;" (id, price, seen) VALUES (1, 1.5, \'x\')')
    assert [(5.0,)] == connection.execute('SELECT twice FROM "ta""ble;"').fetchall()
    (text,) = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'table'").fetchone()
    again = read_table(text, "sqlite").schema
    assert [column.name for column in EVERYTHING.columns] == [
        column.name for column in again.columns
    ]


@pytest.mark.parametrize(("given", "flink"), cases("dialect_same"))
def test_installed_engines_accept_every_type(given: str, flink: str) -> None:
    dialect, foreign = split(given)
    if dialect not in {"sqlite", "duckdb"}:
        return
    run(dialect, to_ddl(one_column(parse_type(flink)), dialect))
    run(dialect, f"CREATE TABLE t (c {foreign})")


def run(dialect: str, script: str) -> Any:
    """Return a connection that has executed the script."""
    if dialect == "sqlite":
        connection = sqlite3.connect(":memory:")
        connection.executescript(script)
        return connection
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect(":memory:")
    connection.execute(script)
    return connection


def test_duckdb_accepts_the_statements() -> None:
    connection = run("duckdb", to_ddl(EVERYTHING, "duckdb", 'ta"ble;', on_loss="accept"))
    query = "SELECT column_name, is_nullable, comment FROM duckdb_columns() WHERE NOT internal"
    columns = connection.execute(query).fetchall()

    assert [column.name for column in EVERYTHING.columns] == [name for name, _, _ in columns]
    assert 'it\'s; "x" \\ -- `' == columns[1][2]
    assert [False, True, True, True, False] == [bool(nullable) for _, nullable, _ in columns[:5]]
    connection.execute('INSERT INTO "ta""ble;" (id, price, seen) VALUES (1, 1.5, now())')
    assert [(5,)] == connection.execute('SELECT twice FROM "ta""ble;"').fetchall()


@pytest.mark.parametrize("name", ["a", 'a"b', "a`b", "a\\", "ä;\n--", "'", "a.b", " "])
def test_every_engine_quotes_names(name: str) -> None:
    for dialect in ENGINES:
        schema = Schema.new_builder().column("c", "BOOLEAN").with_comment(name).build()
        refused = (
            set('"`\\;\n.') if dialect == "bigquery" else set(engine(dialect).refused_in_names)
        )
        if set(name) & refused:
            with pytest.raises(UnsupportedError, match="does not support"):
                to_ddl(schema, dialect, name)
            continue
        quoted = engine(dialect).quote_name(name)
        text = to_ddl(schema, dialect, (name, name))
        result = read_table(text, dialect)

        assert text.startswith(f"CREATE TABLE {quoted}.{quoted} (")
        assert (name, name) == result.path
        assert (None if dialect in {"sqlite", "tsql"} else name) == result.schema.columns[0].comment


def test_each_column_has_its_own_depth() -> None:
    columns = ", ".join(f"c{place} int[]" for place in range(MAX_DEPTH + 1))

    table = read_table(f"CREATE TABLE t ({columns})", "postgres")

    assert MAX_DEPTH + 1 == len(table.schema.columns)
