"""Database dumps: every table of a script is read, including statements after COPY data."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from schema_core.errors import ParseError, SchemaCoreError, UnsupportedError
from schema_core.formats.dialects.api import ForeignScript, ForeignTable, read_table, read_tables

#: Written by pg_dump 15: COPY data with quotes, dollar signs, comments and statements.
PG_DUMP = (Path(__file__).parent / "dumps" / "pg_dump.sql").read_text(encoding="utf-8")

MYSQL_DUMP = r"""-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
DROP TABLE IF EXISTS `people`;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `people` (
  `id` int NOT NULL AUTO_INCREMENT,
  `name` varchar(50) DEFAULT NULL COMMENT 'it''s; a name',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4 COMMENT='who''s here; all';
LOCK TABLES `people` WRITE;
/*!40000 ALTER TABLE `people` DISABLE KEYS */;
INSERT INTO `people` VALUES (1,'it\'s \"Ann\"; CREATE TABLE x (a int)'),(2,'a\\');
/*!40000 ALTER TABLE `people` ENABLE KEYS */;
UNLOCK TABLES;
DELIMITER ;;
/*!50003 CREATE*/ /*!50003 TRIGGER `tr` BEFORE INSERT ON `people` FOR EACH ROW SET @a = 1 */;;
CREATE PROCEDURE `p`() BEGIN CREATE TABLE `inner` (a int); SELECT 'it''s'; END ;;
DELIMITER ;
CREATE TABLE `orders` (
  `no` bigint NOT NULL,
  `state` enum('new','done') NOT NULL
) ENGINE=InnoDB;
ALTER TABLE `orders`
  ADD PRIMARY KEY (`no`),
  ADD KEY `s` (`state`),
  MODIFY `no` bigint unsigned NOT NULL AUTO_INCREMENT, AUTO_INCREMENT=7;
ALTER TABLE `orders` COMMENT = 'what was ordered';
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
"""


def schemas(script: ForeignScript) -> dict[str, str]:
    """Each table's schema on one line."""
    return {
        table.path[-1]: " ".join(str(table.schema).split()).removeprefix("( ").removesuffix(" )")
        for table in script.tables
    }


def comments(script: ForeignScript) -> dict[str, str | None]:
    return {table.path[-1]: table.comment for table in script.tables}


def lost(table: ForeignTable | ForeignScript) -> str:
    return "\n".join(loss.source for loss in table.losses)


def test_a_dump_of_postgres() -> None:
    script = read_tables(PG_DUMP)

    assert schemas(script) == {
        "base": "`a` INT NOT NULL, `b` STRING",
        "child": "`a` INT NOT NULL, `b` STRING, `c` INT",
        "logs": "`day` DATE NOT NULL, `msg` STRING",
        "logs_2024": "`day` DATE NOT NULL, `msg` STRING",
        "orders": "`no` BIGINT NOT NULL, `person` INT NOT NULL, `total` DECIMAL(10, 2) NOT NULL, "
        "CONSTRAINT `orders_pkey` PRIMARY KEY (`no`, `person`) NOT ENFORCED",
        "people": "`id` INT NOT NULL, `name` STRING NOT NULL COMMENT 'the name', `feels` STRING, "
        "`moods` ARRAY<STRING>, `pay` DECIMAL(10, 2), `at` ROW<`x` INT, `y` STRING>, `born` DATE, "
        "CONSTRAINT `people_pkey` PRIMARY KEY (`id`) NOT ENFORCED",
    }
    assert comments(script)["people"] == "who's here; all"
    people = script.tables[-1]
    assert "enum('sad', 'it''s ok', 'happy')" in lost(people)
    assert "CREATE INDEX people_name" in lost(people)
    assert "CREATE VIEW public.seen" in lost(script)
    assert "COPY" not in lost(people) + lost(script)


def test_a_dump_of_mysql() -> None:
    script = read_tables(MYSQL_DUMP, "mysql")

    assert schemas(script) == {
        "people": "`id` INT NOT NULL, `name` VARCHAR(50) COMMENT 'it''s; a name', "
        "CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED",
        "orders": "`no` DECIMAL(20, 0) NOT NULL, `state` STRING NOT NULL, "
        "CONSTRAINT `PK_no` PRIMARY KEY (`no`) NOT ENFORCED",
    }
    assert comments(script) == {"people": "who's here; all", "orders": "what was ordered"}
    assert "ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4" in lost(script.tables[0])
    assert "ADD KEY `s` (`state`)" in lost(script.tables[1])


def test_a_dump_of_sqlite() -> None:
    with sqlite3.connect(":memory:") as connection:
        connection.executescript("""
            CREATE TABLE people (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL);
            CREATE TABLE "two words" (a REAL, b INT REFERENCES people(id));
            INSERT INTO people (name) VALUES ('it''s "Ann"; CREATE TABLE x (a int)');
            CREATE INDEX names ON people (name);
        """)
        dump = "PRAGMA foreign_keys=OFF;\n" + "\n".join(connection.iterdump())

    assert schemas(read_tables(dump, "sqlite")) == {
        "people": "`id` BIGINT NOT NULL, `name` STRING NOT NULL, "
        "CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED",
        "two words": "`a` DOUBLE, `b` INT",
    }


# --- data of COPY ---------------------------------------------------------------------------------

BEFORE = "CREATE TABLE t (a int, b text);\n"
AFTER = "ALTER TABLE ONLY t ADD CONSTRAINT k PRIMARY KEY (a);\nCOMMENT ON TABLE t IS 'x';\n"

#: Lines of data that are not SQL.
LINES = ["it's", '"', "$$", "$a$", "--", "/*", "\\\\.", "\\.x", " \\.", "a\\", ";", "(", "",
         "CREATE TABLE u (a int);", "\\connect", "\u2028", "e'\\'"]  # fmt: skip


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "copy",
    ["COPY t (a, b) FROM stdin;", "copy public.t From StdIn WITH (FORMAT csv, DELIMITER ';');",
     "/* a 'comment' */ COPY t FROM STDIN NULL ';' ;", "COPY\nt\nFROM\nstdin\n;"],
)  # fmt: skip
@pytest.mark.parametrize("line", LINES)
def test_what_follows_the_data_is_read(line: str, copy: str, end: str) -> None:
    text = f"{BEFORE}{copy}\n1\t{line}\n{line}\n\\.\n{AFTER}".replace("\n", end)
    (table,) = read_tables(text).tables

    assert table.schema.primary_key is not None
    assert table.schema.primary_key.name == "k"
    assert table.comment == "x"


@pytest.mark.parametrize(
    "before",
    ["COMMENT ON COLUMN t.b IS 'COPY t FROM stdin;';", "COMMENT ON COLUMN t.b IS E'\\';\\\\';",
     "-- COPY t FROM stdin;", "/* /* COPY */ t FROM stdin; */",
     "CREATE FUNCTION f() RETURNS int AS $a$ COPY t FROM stdin; $$ ' $a$ LANGUAGE sql;",
     'ALTER TABLE t OWNER TO "COPY t FROM stdin;";', "COPY t TO stdout;", "COPY t FROM '/a/b';",
     "\\echo it's", "\\restrict a$$b", "SELECT 1 AS a$b$c;", "COPY u FROM stdin;\n\\."],
)  # fmt: skip
def test_only_copy_data_is_removed(before: str) -> None:
    (table,) = read_tables(f"{BEFORE}{before}\n{AFTER}").tables

    assert table.schema.primary_key is not None
    assert table.comment == "x"


def test_a_backslash_escapes_in_every_literal_of_redshift() -> None:
    text = f"{BEFORE}COMMENT ON COLUMN t.b IS 'it\\'s; \\\\';\n{AFTER}"
    (table,) = read_tables(text, "redshift").tables

    assert table.comment == "x"
    assert "it''s; \\" in str(table.schema)


def test_an_error_after_data_has_the_correct_line() -> None:
    with pytest.raises(ParseError) as found:
        read_tables(f"{BEFORE}COPY t FROM stdin;\nit's\n\\.\nCREATE TABLE u (a int b);")
    (one,) = found.value.diagnostics
    assert (one.line, one.column) == (5, 23)


def test_unterminated_data_is_refused() -> None:
    with pytest.raises(ParseError, match="unterminated COPY data"):
        read_tables(f"{BEFORE}COPY t FROM stdin;\n1\ta\n2\tb\n")


# --- user-defined types ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "type_", "flink"),
    [
        ("CREATE TYPE mood AS ENUM ('a', 'b')", "mood", "STRING"),
        ("CREATE TYPE s.mood AS ENUM ('a')", "mood NOT NULL", "STRING NOT NULL"),
        ("CREATE TYPE mood AS ENUM ('a')", "s.mood[]", "ARRAY<STRING>"),
        ('CREATE TYPE "Mood" AS ENUM ()', '"Mood"', "STRING"),
        ("CREATE DOMAIN d AS varchar(5) COLLATE \"C\" DEFAULT 'x'", "d", "VARCHAR(5)"),
        ("CREATE DOMAIN d int NOT NULL CHECK (VALUE > 0)", "d", "INT NOT NULL"),
        ('CREATE TYPE p AS (x int, y text COLLATE "C")', "p", "ROW<`x` INT, `y` STRING>"),
        ("CREATE TYPE e AS ENUM ('a'); CREATE TYPE p AS (x e[])", "p", "ROW<`x` ARRAY<STRING>>"),
    ],
)
def test_declared_types_are_used(declared: str, type_: str, flink: str) -> None:
    (table,) = read_tables(f"{declared}; CREATE TABLE t (c {type_})").tables

    assert str(table.schema) == f"(\n  `c` {flink}\n)"


def test_declared_types_of_duckdb() -> None:
    text = (
        "CREATE TYPE m AS ENUM ('a'); CREATE TYPE s AS STRUCT(x INTEGER); CREATE TABLE t (a m, b s)"
    )

    assert schemas(read_tables(text, "duckdb")) == {"t": "`a` STRING, `b` ROW<`x` INT>"}


def test_exponentially_large_types_are_refused() -> None:
    steps = "".join(f"CREATE TYPE t{n + 1} AS (a t{n}, b t{n});" for n in range(60))
    with pytest.raises(UnsupportedError) as found:
        read_tables(f"CREATE TYPE t0 AS ENUM ('a');{steps}CREATE TABLE t (a t60)")
    assert found.value.code == "type-not-in-flink"


# --- several tables -------------------------------------------------------------------------------


def test_from_ddl_refuses_two_tables_with_a_hint() -> None:
    with pytest.raises(ParseError) as found:
        read_table("CREATE TABLE a (x int); CREATE TABLE b (x int)")
    assert found.value.code == "multiple-tables"
    assert "read_tables" in str(found.value.hint)


def test_errors_of_all_tables_are_reported() -> None:
    with pytest.raises(SchemaCoreError) as found:
        read_tables("CREATE TABLE a (x nope); CREATE TABLE b (y int, z neither)")
    assert [one.path for one in found.value.diagnostics] == [
        ("table 'a'", "column 'x'"), ("table 'b'", "column 'z'")
    ]  # fmt: skip


def test_statements_find_their_table_by_its_path() -> None:
    script = read_tables(
        "CREATE TABLE s.t (a int); CREATE TABLE r.t (a int);"
        "COMMENT ON TABLE s.t IS 'of s'; COMMENT ON COLUMN r.t.a IS 'of r';"
        "ALTER TABLE s.t ADD PRIMARY KEY (a); CREATE INDEX i ON r.t (a);"
        "COMMENT ON COLUMN v.x IS 'of a view'; ALTER TABLE nope ADD PRIMARY KEY (b)"
    )
    first, second = script.tables

    assert (first.comment, second.comment) == ("of s", None)
    assert str(first.schema) != str(second.schema)
    assert "'of r'" in str(second.schema)
    assert "CREATE INDEX i" in lost(second)
    assert "of a view" in lost(script)


@pytest.mark.parametrize(
    ("change", "schema"),
    [
        ("ADD CONSTRAINT k PRIMARY KEY (a)",
         "`a` INT NOT NULL, `b` STRING, CONSTRAINT `k` PRIMARY KEY (`a`) NOT ENFORCED"),
        ("ADD COLUMN c date NOT NULL DEFAULT now()", "`a` INT, `b` STRING, `c` DATE NOT NULL"),
        ("ADD c date, ADD d int", "`a` INT, `b` STRING, `c` DATE, `d` INT"),
        ("ALTER COLUMN a SET NOT NULL", "`a` INT NOT NULL, `b` STRING"),
        ("ALTER a TYPE bigint USING a::bigint", "`a` BIGINT, `b` STRING"),
        ("ALTER a SET DATA TYPE varchar(3), ALTER b SET NOT NULL",
         "`a` VARCHAR(3), `b` STRING NOT NULL"),
        ("DROP COLUMN IF EXISTS a CASCADE", "`b` STRING"),
        ("RENAME COLUMN a TO c", "`c` INT, `b` STRING"),
        ("OWNER TO x, ALTER a SET STATISTICS 5", "`a` INT, `b` STRING"),
    ],
)  # fmt: skip
def test_changes_of_a_table_are_applied(change: str, schema: str) -> None:
    script = read_tables(f"CREATE TABLE t (a int, b text); ALTER TABLE IF EXISTS ONLY t {change};")

    assert schemas(script) == {"t": schema}


def test_changes_of_a_table_of_mysql() -> None:
    text = (
        "CREATE TABLE t (a int, b text); ALTER TABLE t CHANGE a id bigint NOT NULL FIRST, "
        "ADD c date AFTER id, MODIFY COLUMN b varchar(5), ADD PRIMARY KEY USING BTREE (id)"
    )
    assert schemas(read_tables(text, "mysql")) == {
        "t": "`id` BIGINT NOT NULL, `c` DATE, `b` VARCHAR(5), "
        "CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED"
    }


@pytest.mark.parametrize(
    "text",
    ["CREATE TABLE c (a int) INHERITS (nope)", "CREATE TABLE c (LIKE nope INCLUDING ALL)",
     "CREATE TABLE c ()", "CREATE TABLE c OF some_type"],
)  # fmt: skip
def test_tables_with_unknown_columns_are_refused(text: str) -> None:
    with pytest.raises(UnsupportedError) as found:
        read_tables(text)
    assert found.value.code == "missing-columns"


def test_columns_of_another_table_of_the_script() -> None:
    text = "CREATE TABLE p (a int NOT NULL, b text); CREATE TABLE c (LIKE p INCLUDING ALL, d int)"

    assert schemas(read_tables(text))["c"] == "`a` INT NOT NULL, `b` STRING, `d` INT"


# --- clauses of single engines --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "dialect", "path", "comment"),
    [
        ("CREATE TABLE `p.d.t` (a INT64)", "bigquery", ("p", "d", "t"), None),
        ("CREATE TABLE `e.com:p.d.t` (a INT64)", "bigquery", ("e.com:p", "d", "t"), None),
        ("CREATE TABLE `p.d`.t (a INT64) OPTIONS(description='x')", "bigquery",
         ("p", "d", "t"), "x"),
        ("CREATE TABLE `p`.`d`.`t` (a INT64)", "bigquery", ("p", "d", "t"), None),
        ("CREATE TABLE `a.b` (a INT)", "mysql", ("a.b",), None),
        ("CREATE TABLE t (a INT) COMMENT='x', ENGINE=InnoDB", "mysql", ("t",), "x"),
        ("CREATE TABLE t (a INT) ENGINE=InnoDB COMMENT 'x'", "mysql", ("t",), "x"),
        ("CREATE TABLE t (a INT) COMMENT 'x' STORED AS ORC", "hive", ("t",), "x"),
        ("CREATE TABLE t (a INT) USING delta COMMENT 'x'", "databricks", ("t",), "x"),
        ("CREATE TABLE t (a integer) COMMENT 'x' WITH (format = 'ORC')", "trino", ("t",), "x"),
        ("CREATE TABLE t (a Int8) ENGINE = Log COMMENT 'x'", "clickhouse", ("t",), "x"),
        ("create table t (a int) comment = 'x'", "snowflake", ("T",), "x"),
        ("CREATE TABLE t (a int); COMMENT ON TABLE t IS 'x'", "duckdb", ("t",), "x"),
        ("CREATE TABLE t (a int); COMMENT ON TABLE t IS 'x'; COMMENT ON TABLE t IS NULL",
         "postgres", ("t",), None),
    ],
)  # fmt: skip
def test_paths_and_comments_of_tables(
    text: str, dialect: str, path: tuple[str, ...], comment: str | None
) -> None:
    found = read_table(text, dialect)

    assert (found.path, found.comment) == (path, comment)


@pytest.mark.parametrize(
    "option",
    ["autoincrement start 1 increment 1", "autoincrement start 1 increment 1 noorder",
     "identity start with 100 increment by -1 order", "identity(1,1)", "autoincrement"],
)  # fmt: skip
def test_sequences_of_snowflake(option: str) -> None:
    found = read_table(
        f"create table t (id number(38,0) not null {option} comment 'n')", "snowflake"
    )

    assert str(found.schema) == "(\n  `ID` DECIMAL(38, 0) NOT NULL COMMENT 'n'\n)"
    assert lost(found) == option
