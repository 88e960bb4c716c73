"""Database dumps: every table of a script is read, including statements after COPY data."""

from __future__ import annotations

import sqlite3
from functools import partial
from pathlib import Path

import pytest

from fuzz.postgres_server import client, server, why_not
from schema_core.errors import AlreadyExistsError, ParseError, SchemaCoreError, UnsupportedError
from schema_core.mappings.dialects.api import ForeignScript, ForeignTable, read_table, read_tables
from schema_core.schema.resolve import SchemaResolver

DUMPS = Path(__file__).parent / "dumps"

#: Written by pg_dump 15: COPY data with quotes, dollar signs, comments and statements.
PG_DUMP = (DUMPS / "pg_dump.sql").read_text(encoding="utf-8")

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


def starts(part: str, table: ForeignTable | ForeignScript) -> bool:
    """Whether a loss begins with this text."""
    return any(loss.source.startswith(part) for loss in table.losses)


# --- dumps of databases with many features --------------------------------------------------------

#: The tables of `features.sql`, as every dump of them has them.
FEATURES = {
    "Odd Schema.Odd; Table": "`a b` INT COMMENT 'spaces', `select` STRING, `x\"y` FLOAT",
    "public.cache": "`key` STRING NOT NULL, `value` BYTES, "
    "CONSTRAINT `cache_pkey` PRIMARY KEY (`key`) NOT ENFORCED",
    "shop.animals": "`name` STRING NOT NULL, `legs` INT",
    "shop.customers": "`id` BIGINT NOT NULL, `Full Name` VARCHAR(80) NOT NULL "
    "COMMENT 'as in E''\\n'' passports \\ ok', `mail` STRING, "
    "`home` ROW<`street` STRING, `Zip Code` VARCHAR(10), `state` STRING>, "
    "`balance` DECIMAL(12, 2) NOT NULL, `tags` ARRAY<STRING>, `grid` ARRAY<INT>, `data` STRING, "
    "`since` TIMESTAMP_LTZ(6) NOT NULL, `born` DATE, `tz` TIME(6), "
    "`wait` INTERVAL DAY(6) TO SECOND(3), `ip` STRING, `uid` CHAR(36), `photo` BYTES, "
    "`flags` STRING, `lower_name` AS [LOWER(`mail`)], `twice` DECIMAL(12, 2), "
    "CONSTRAINT `customers_pkey` PRIMARY KEY (`id`) NOT ENFORCED",
    "shop.dogs": "`name` STRING NOT NULL, `legs` INT, `breed` STRING",
    "shop.orders": "`no` INT NOT NULL, `customer` BIGINT NOT NULL, `state` STRING NOT NULL, "
    "`states` ARRAY<STRING>, `amount` DECIMAL(12, 2) NOT NULL, `order` SMALLINT, `note` CHAR(3), "
    "`at` TIMESTAMP(3), CONSTRAINT `orders_key` PRIMARY KEY (`no`, `customer`) NOT ENFORCED",
    **{
        f"shop.{name}": "`day` DATE NOT NULL, `place` INT NOT NULL, `value` DOUBLE, "
        f"CONSTRAINT `{name}_pkey` PRIMARY KEY (`day`, `place`) NOT ENFORCED"
        for name in ("measurements", "measurements_2025", "measurements_rest")
    },
}

#: Parts of a table of `features.sql` that Flink does not have: each is a loss of its table.
LOST = {
    "shop.customers": ["GENERATED ALWAYS AS IDENTITY", 'COLLATE pg_catalog."C"', "CHECK ((mail",
                       "UNIQUE (mail)", "DEFAULT now()", "CREATE UNIQUE INDEX", "jsonb", "inet"],
    "shop.orders": ["FOREIGN KEY (customer)", "UNIQUE (customer, at)", "EXCLUDE USING", "nextval",
                    "CREATE INDEX orders_at", "CREATE TRIGGER stamp", "CREATE POLICY own", "enum("],
    "shop.measurements": ["PARTITION BY RANGE", "ATTACH PARTITION shop.measurements_2025"],
    "shop.dogs": ["INHERITS"],
    "public.cache": ["fillfactor"],
}  # fmt: skip


def check_features(script: ForeignScript) -> None:
    """Require the tables of `features.sql`, with their comments and losses."""
    result = {".".join(table.path): table for table in script.tables}

    assert {name: members(table) for name, table in result.items()} == FEATURES
    assert result["shop.customers"].comment == "who's who; -- all\nof them"
    for name, parts in LOST.items():
        assert [part for part in parts if part not in lost(result[name])] == []
    for part in ("CREATE VIEW shop.open_orders", "CREATE SEQUENCE shop.free", "CREATE FUNCTION"):
        assert part in lost(script)
    for part in ("GRANT", "OWNER TO", "COPY", "INSERT", "REPLICA", "SET STAT"):
        assert not any(map(partial(starts, part), (script, *script.tables)))


def members(table: ForeignTable) -> str:
    """The schema of a table on one line."""
    return " ".join(str(table.schema).split()).removeprefix("( ").removesuffix(" )")


def test_a_dump_of_postgres_with_many_features() -> None:
    check_features(read_tables((DUMPS / "pg_dump_features.sql").read_text(encoding="utf-8")))


#: Options of pg_dump.
KINDS_OF_DUMPS = (
    "", "--schema-only", "--clean --if-exists --create", "--inserts", "--column-inserts --no-owner",
    "--no-privileges --disable-dollar-quoting",
)  # fmt: skip


def test_dumps_of_a_server_with_many_features() -> None:
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    with server() as reached:
        client(reached, "psql", "-v", "ON_ERROR_STOP=1", "-f", str(DUMPS / "features.sql"))
        dumps = [client(reached, "pg_dump", *kind.split()) for kind in KINDS_OF_DUMPS]
        everything = client(reached, "pg_dumpall")
    for text in (*dumps, everything):
        check_features(read_tables(text))


def test_a_dump_of_mariadb_with_several_databases() -> None:
    script = read_tables((DUMPS / "mariadb_dump.sql").read_text(encoding="utf-8"), "mysql")
    customers, *_ = script.tables

    assert [table.path for table in script.tables] == [
        ("shop", "customers"), ("shop", "history"), ("shop", "items"), ("shop", "orders"),
        ("other", "customers"),
    ]  # fmt: skip
    assert customers.comment == "who's who; /* all */"
    assert "`full ``name` VARCHAR(80) NOT NULL COMMENT 'it''s; \"the\" name \\ -- /*'" in members(
        customers
    )
    assert "`twice` AS [CAST(`price` * 2 AS DECIMAL(12, 2))]" in members(customers)
    assert "UNIQUE KEY `mail` (`mail`(20))" in lost(customers)
    assert "FOREIGN KEY (`customer`)" in lost(script.tables[2])
    assert "PARTITION BY RANGE" in lost(script.tables[3])
    for part in ("CREATE SEQUENCE", "CREATE VIEW", "PROCEDURE `p`"):
        assert part in lost(script)
    assert [table.path[-1] for table in script.tables if "TRIGGER tr" in lost(table)] == ["items"]
    for part in ("SET ", "LOCK TABLES", "INSERT", "DISABLE KEYS", "SETVAL"):
        assert not any(map(partial(starts, part), (script, *script.tables)))


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
    with pytest.raises(ParseError) as result:
        read_tables(
            f"{BEFORE}COPY t FROM stdin;\nit's\n\\.\nCREATE TABLE u (a int b);", strict=True
        )
    (one,) = result.value.diagnostics
    assert (one.line, one.column) == (5, 23)


def test_unterminated_data_is_refused() -> None:
    with pytest.raises(ParseError, match="unterminated COPY data"):
        read_tables(f"{BEFORE}COPY t FROM stdin;\n1\ta\n2\tb\n", strict=True)


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
    with pytest.raises(UnsupportedError) as result:
        read_tables(f"CREATE TYPE t0 AS ENUM ('a');{steps}CREATE TABLE t (a t60)", strict=True)
    assert result.value.code == "type-not-supported"


# --- several tables -------------------------------------------------------------------------------


def test_from_ddl_refuses_two_tables_with_a_hint() -> None:
    with pytest.raises(ParseError) as result:
        read_table("CREATE TABLE a (x int); CREATE TABLE b (x int)")
    assert result.value.code == "invalid-statement"
    assert "read_tables" in str(result.value.hint)


def test_errors_of_all_tables_are_reported() -> None:
    with pytest.raises(SchemaCoreError) as result:
        read_tables("CREATE TABLE a (x nope); CREATE TABLE b (y int, z neither)", strict=True)
    assert [diagnostic.path for diagnostic in result.value.diagnostics] == [
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
    with pytest.raises(UnsupportedError) as result:
        read_tables(text, strict=True)
    assert result.value.code == "missing-columns"


def test_columns_of_another_table_of_the_script() -> None:
    text = "CREATE TABLE p (a int NOT NULL, b text); CREATE TABLE c (LIKE p INCLUDING ALL, d int)"

    assert schemas(read_tables(text))["c"] == "`a` INT NOT NULL, `b` STRING, `d` INT"


@pytest.mark.parametrize("copy", ["CREATE TABLE c (LIKE p)", "CREATE TABLE c () INHERITS (p)"])
@pytest.mark.parametrize("key", ["(a int PRIMARY KEY)", "(a int, PRIMARY KEY (a))"])
def test_copies_of_key_columns_are_not_null(copy: str, key: str) -> None:
    assert schemas(read_tables(f"CREATE TABLE p {key}; {copy}"))["c"] == "`a` INT NOT NULL"


def test_like_of_mysql_copies_the_key() -> None:
    text = "CREATE TABLE p (a int, b int, PRIMARY KEY (a)); CREATE TABLE c (LIKE p)"

    assert schemas(read_tables(text, "mysql"))["c"] == (
        "`a` INT NOT NULL, `b` INT, CONSTRAINT `PK_a` PRIMARY KEY (`a`) NOT ENFORCED"
    )


@pytest.mark.parametrize(
    ("text", "dialect", "loss"),
    [
        ('CREATE TYPE p AS (a text COLLATE "C", b int); CREATE TABLE t (c p)', "postgres",
         'a COLLATE "C"'),
        ('CREATE TABLE t (c text); ALTER TABLE t ALTER c TYPE text COLLATE "C" USING c',
         "postgres", 'COLLATE "C"'),
        ("CREATE TABLE t (a varchar(9), PRIMARY KEY (a(3)))", "mysql", "PRIMARY KEY (a(3))"),
        ("CREATE TABLE t (a int4range, PRIMARY KEY (a WITHOUT OVERLAPS))", "postgres",
         "PRIMARY KEY (a WITHOUT OVERLAPS)"),
        ("CREATE TABLE t (a int PRIMARY KEY ON CONFLICT REPLACE)", "sqlite",
         "PRIMARY KEY ON CONFLICT REPLACE"),
        ("CREATE TABLE t (a int REFERENCES u (b) ON DELETE CASCADE ON UPDATE NO ACTION NOT NULL)",
         "postgres", "REFERENCES u (b) ON DELETE CASCADE ON UPDATE NO ACTION"),
        ("CREATE TABLE t (a int NOT NULL DISABLE)", "hive", "NOT NULL DISABLE"),
        ("CREATE TABLE t (a int ZEROFILL)", "mysql", "ZEROFILL"),
        ("CREATE TABLE t (a varchar(3) BINARY)", "mysql", "BINARY"),
        ("CREATE TABLE t (a INT64 OPTIONS(description='x', rounding_mode='y'))", "bigquery",
         "OPTIONS(rounding_mode='y')"),
    ],
)  # fmt: skip
def test_a_word_with_a_meaning_is_a_loss(text: str, dialect: str, loss: str) -> None:
    result = read_tables(text, dialect).tables[0].losses

    assert loss in {item.source for item in result}


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
        ("CREATE TABLE `d.t` (a INT)", "hive", ("d", "t"), None),  # as Hive 2 prints it
        ("CREATE TABLE `d.t` (a INT)", "spark", ("d.t",), None),
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
    result = read_table(text, dialect)

    assert (result.path, result.comment) == (path, comment)


@pytest.mark.parametrize(
    "option",
    ["autoincrement start 1 increment 1", "autoincrement start 1 increment 1 noorder",
     "identity start with 100 increment by -1 order", "identity(1,1)", "autoincrement"],
)  # fmt: skip
def test_sequences_of_snowflake(option: str) -> None:
    result = read_table(
        f"create table t (id number(38,0) not null {option} comment 'n')", "snowflake"
    )

    assert str(result.schema) == "(\n  `ID` DECIMAL(38, 0) NOT NULL COMMENT 'n'\n)"
    assert lost(result) == option


# --- statements of scripts ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "dialect", "tables"),
    [
        ("CREATE TABLE a (x int); DROP TABLE a; CREATE TABLE b (x int)", "postgres", ["b"]),
        ("CREATE TABLE a (x int); DROP TABLE IF EXISTS s.a, c RESTRICT; CREATE TABLE b (x int)",
         "postgres", ["b"]),
        ("CREATE TABLE s.a (x int); CREATE TABLE r.a (x int); DROP SCHEMA s CASCADE", "postgres",
         ["r.a"]),
        ("CREATE TABLE c.s.a (x int); CREATE TABLE d.s.a (x int); DROP SCHEMA c.s", "trino",
         ["d.s.a"]),
        ("CREATE TABLE a (x int); CREATE TABLE IF NOT EXISTS a (y int)", "mysql", ["a"]),
        ("CREATE TABLE a (x int); CREATE OR REPLACE TABLE a (y int)", "duckdb", ["a"]),
        ("CREATE TABLE a (x int); RENAME TABLE a TO b; CREATE TABLE a (x int)", "mysql",
         ["b", "a"]),
        ("USE s; CREATE TABLE a (x int); USE r; CREATE TABLE a (x int); DROP TABLE a", "mysql",
         ["s.a"]),
        ("USE SCHEMA d.s; CREATE TABLE a (x int)", "snowflake", ["D.S.A"]),
        ("USE DATABASE d; CREATE TABLE a (x int)", "spark", ["d.a"]),
        ("SET search_path = s, r; CREATE TABLE a (x int)", "postgres", ["s.a"]),
        ("SET search_path = s; SET search_path TO DEFAULT; CREATE TABLE a (x int)", "postgres",
         ["a"]),
        ("SET LOCAL search_path TO '$user', r; CREATE TABLE a (x int)", "postgres", ["r.a"]),
        ("CREATE TABLE s.a (x int); ALTER TABLE a SET SCHEMA r", "postgres", ["r.a"]),
        ("/*!50001 CREATE TABLE v (x int) */; /*!50001 DROP TABLE v */; CREATE TABLE a (x int)",
         "mysql", ["a"]),
        ("/*M!999999\\- CREATE TABLE v (x int) */; CREATE TABLE a (x int)", "mysql", ["a"]),
    ],
)  # fmt: skip
def test_a_script_gives_the_tables_that_it_leaves(
    text: str, dialect: str, tables: list[str]
) -> None:
    assert [".".join(path) for path in read_tables(text, dialect).by_path] == tables


def test_a_table_that_is_created_twice_is_refused() -> None:
    with pytest.raises(AlreadyExistsError) as result:
        read_tables("CREATE TABLE s.a (x int);\nCREATE TABLE s.a (y int)", strict=True)
    (one,) = result.value.diagnostics

    assert (one.code, one.line, one.column) == ("table-exists", 2, 1)


@pytest.mark.parametrize(
    "statement",
    ["SELECT 1 AS x INTO u", "IMPORT FOREIGN SCHEMA s",
     "SELECT pg_catalog.set_config('search_path', 's', false)",
     "DO $$ BEGIN EXECUTE 'DROP TABLE t'; END $$", "CALL change()", "EXECUTE change",
     "DROP TYPE mood CASCADE", "DROP TABLE t2 CASCADE", "ALTER TYPE mood ADD VALUE 'x'",
     "ALTER SCHEMA s RENAME TO r",
     "WITH x AS (SELECT 1) SELECT * INTO u FROM x", "something else",
     "CREATE CAST (text AS integer) WITH INOUT",
     "CREATE CAST (public.p AS text) WITH FUNCTION public.f(public.p) AS ASSIGNMENT",
     "CREATE OPERATOR public.?|@ (FUNCTION = f, LEFTARG = p)",
     "CREATE OPERATOR CLASS c FOR TYPE p USING btree AS OPERATOR 3 ===",
     "CREATE AGGREGATE f(integer) (SFUNC = int4pl, STYPE = integer)",
     "CREATE RULE r AS ON UPDATE TO t DO INSTEAD (DELETE FROM u; SELECT 1)",
     "CREATE EVENT TRIGGER e ON ddl_command_end WHEN TAG IN ('X') EXECUTE FUNCTION f()",
     "CREATE TRANSFORM FOR integer LANGUAGE sql (FROM SQL WITH FUNCTION f(internal))",
     "CREATE CONVERSION c FOR 'LATIN1' TO 'UTF8' FROM f",
     "COMMENT ON CAST (text AS integer) IS 'a)'", "CREATE ACCESS METHOD m TYPE TABLE HANDLER h",
     "CREATE POLICY p ON u FOR SELECT USING ((id > 0))",
     "CREATE STATISTICS s ON (a + 1), b FROM u"],
)  # fmt: skip
def test_statements_that_can_change_a_table_are_losses(statement: str) -> None:
    script = read_tables(f"CREATE TABLE t (a int); CREATE TABLE t2 (a int); {statement};")

    assert statement[:40] in lost(script)


@pytest.mark.parametrize(
    "statement",
    ["GRANT SELECT ON t TO ann", "REVOKE ALL ON t FROM ann", "ALTER VIEW v OWNER TO ann",
     "ALTER TABLE t OWNER TO ann", "ALTER TABLE u OWNER TO ann",
     "ALTER TABLE IF EXISTS u ADD x int",
     "SET a = 1", "BEGIN", "COMMIT", "INSERT INTO t VALUES (1)", "DROP INDEX i", "DROP VIEW v",
     "SELECT pg_catalog.set_config('search_path', '', false)", "CREATE ROLE ann PASSWORD 'x'",
     "ALTER TABLE t ALTER a SET STATISTICS 5", "ALTER TABLE t CLUSTER ON i", "VACUUM t",
     "ALTER DEFAULT PRIVILEGES IN SCHEMA s GRANT SELECT ON TABLES TO ann"],
)  # fmt: skip
def test_statements_that_cannot_change_a_table_are_skipped(statement: str) -> None:
    script = read_tables(f"CREATE TABLE t (a int); {statement};")

    assert (script.losses, script.tables[0].losses) == ((), ())
    assert schemas(script) == {"t": "`a` INT"}


def test_a_partition_of_a_version_comment_is_a_loss() -> None:
    script = read_tables("CREATE TABLE t (a int) /*!50100 PARTITION BY HASH (a) */", "mysql")

    assert "PARTITION BY HASH (a)" in lost(script.tables[0])


@pytest.mark.parametrize(
    "action", ["CHANGE a b bigint AFTER z", "MODIFY a bigint AFTER z", "CHANGE a c bigint"]
)
def test_an_invalid_change_of_a_column_leaves_it_unchanged(action: str) -> None:
    script = read_tables(f"CREATE TABLE t (a int, c int); ALTER TABLE t {action};", "mysql")

    assert [column.name for column in script.tables[0].schema.columns] == ["a", "c"]
    assert len(script.errors) == 1


def test_statements_of_hive_without_semicolons_are_read() -> None:
    script = read_tables(
        "CREATE EXTERNAL TABLE `a`(\n  `x` int)\nSTORED AS orc\nLOCATION\n  's3://b/a'\n"
        "CREATE TABLE `b`(\n  `y` int)\nTBLPROPERTIES (\n  'k'='v')\n",
        "hive",
    )

    assert schemas(script) == {"a": "`x` INT", "b": "`y` INT"}
    assert [lost(table) for table in script.tables] == [
        "STORED AS orc LOCATION 's3://b/a'", "TBLPROPERTIES ( 'k'='v')"
    ]  # fmt: skip


@pytest.mark.parametrize("dialect", ["postgres", "spark", "flink"])
def test_that_a_table_is_temporary_is_a_loss(dialect: str) -> None:
    assert lost(read_table("CREATE TEMPORARY TABLE t (a INT)", dialect)) == "TEMPORARY"


def test_errors_of_a_dump_have_their_places() -> None:
    with pytest.raises(SchemaCoreError) as result:
        read_tables(
            "CREATE TABLE t (a int);\nCREATE TABLE u (\n  b int,\n  c nope\n);", strict=True
        )
    (one,) = result.value.diagnostics

    assert (one.code, one.line, one.column) == ("type-not-supported", 4, 3)


def test_a_default_of_null_is_no_loss() -> None:
    table = read_table("CREATE TABLE t (a int DEFAULT NULL, b text DEFAULT NULL::text NOT NULL)")

    assert lost(table) == "DEFAULT NULL::text"


def test_secrets_of_statements_are_masked() -> None:
    script = read_tables(
        "CREATE TABLE t (a int); CREATE SUBSCRIPTION s CONNECTION 'password=hunter2' PUBLICATION p"
    )

    assert "CREATE SUBSCRIPTION s CONNECTION ****" in lost(script)
    assert "hunter2" not in lost(script)


def test_partitions_of_hive_and_spark_are_read() -> None:
    hive = read_table(
        "CREATE TABLE t (a int) PARTITIONED BY (day date, h int) STORED AS orc", "hive"
    )
    spark = read_table("CREATE TABLE t (a int, day date) USING delta PARTITIONED BY (DAY)", "spark")
    iceberg = read_table(
        "CREATE TABLE t (a int, day date) USING iceberg PARTITIONED BY (bucket(4, a), day)", "spark"
    )

    assert hive.table.partition_keys == ("day", "h")
    assert lost(hive) == "STORED AS orc"
    assert spark.table.partition_keys == ("day",)
    assert lost(spark) == "USING delta"
    assert iceberg.table.partition_keys == ()
    assert "PARTITIONED BY (bucket(4, a), day)" in lost(iceberg)


def test_a_statement_that_is_too_long_is_an_error() -> None:
    script = read_tables(f"CREATE TABLE t (a int /*{' ' * 1_000_000}*/);\n" + PG_DUMP)

    assert [(error.code, error.line) for error in script.errors] == [("limit-exceeded", 1)]
    assert len(script.tables) == 6


@pytest.mark.parametrize(
    ("dialect", "text", "tables"),
    [
        (
            "tsql",
            (
                "CREATE TABLE t (a int)\nGO\nCREATE PROCEDURE p AS\nBEGIN\n  DROP TABLE t\n"
                "  CREATE TABLE ghost (a int)\nEND"
            ),
            {"t"},
        ),
        (
            "snowflake",
            (
                "create or replace schema S1; create or replace TABLE T (A NUMBER); "
                "create or replace schema S2; create or replace TABLE T (B DATE); "
                "USE DATABASE D; CREATE TABLE T (C INT)"
            ),
            {"S1.T", "S2.T", "D.PUBLIC.T"},
        ),
        (
            "snowflake",
            (
                "CREATE DATABASE D; CREATE TABLE A (X INT); CREATE SCHEMA S; "
                "CREATE TABLE B (X INT); CREATE OR REPLACE TABLE S.B (Y INT); "
                "CREATE OR REPLACE SCHEMA PUBLIC"
            ),
            {"D.S.B"},
        ),
        (
            "postgres",
            (
                "CREATE FUNCTION f(begin int) RETURNS int LANGUAGE sql AS 'x';\n"
                "CREATE FUNCTION g() RETURNS int BEGIN ATOMIC SELECT begin; SELECT 1; END;\n"
                "CREATE TABLE z(a int);"
            ),
            {"z"},
        ),
        (
            "oracle",
            (
                "CREATE PROCEDURE p AS LANGUAGE JAVA NAME 'x.y()';\n"
                "CREATE FUNCTION f (a NUMBER) RETURN NUMBER PARALLEL_ENABLE AGGREGATE USING impl;\n"
                "CREATE TABLE t (a NUMBER(5));\n/\n"
            ),
            {"T"},
        ),
        (
            "oracle",
            (
                "CREATE TABLE t (a INT);\nCREATE PACKAGE BODY p AS\n"
                "PROCEDURE a IS BEGIN NULL; END;\n"
                "FUNCTION b RETURN NUMBER IS v NUMBER; BEGIN\nRETURN v; END;\nEND;\n"
                "CREATE TABLE u (a INT);"
            ),
            {"T", "U"},
        ),
        (
            "oracle",
            (
                "CREATE PACKAGE BODY p AS\nPROCEDURE a IS BEGIN NULL; END;\n-- next\n"
                "DROP PROCEDURE b;\n/\nCREATE TABLE u (a INT);"
            ),
            {"U"},
        ),
    ],
)
def test_routines_and_schemas_do_not_hide_tables(dialect: str, text: str, tables: set[str]) -> None:
    script = read_tables(text, dialect)

    assert script.errors == ()
    assert {".".join(table.path) for table in script.tables} == tables


@pytest.mark.parametrize(
    ("dialect", "statement"),
    [
        (
            "clickhouse",
            "CREATE TABLE t (a Int8) ENGINE = MySQL('h:3306', 'd', 't', 'u', 'hunter2')",
        ),
        ("clickhouse", "CREATE TABLE t (a Int8) ENGINE = S3('https://b/x', 'A', 'hunter2', 'CSV')"),
        ("clickhouse", "CREATE TABLE t (a Int8) ENGINE = MongoDB('h', 'c', 'it\\'s', 'hunter2')"),
        ("clickhouse", "CREATE DICTIONARY d ENGINE = PostgreSQL('h', f('u'), 'hunter2')"),
        ("tsql", "EXEC sp_addlinkedsrvlogin 'srv', 'false', NULL, 'user', 'hunter2'"),
        ("tsql", "EXECUTE master.dbo.p @server, N'hunter2', @b = 'x'"),
    ],
)
def test_arguments_without_keys_are_masked(dialect: str, statement: str) -> None:
    script = read_tables(f"CREATE TABLE u (a int); {statement}", dialect)
    shown = "\n".join([lost(script), *(lost(table) for table in script.tables)])

    assert "*****" in shown
    assert "hunter2" not in shown


def test_arguments_of_merge_trees_are_shown() -> None:
    table = read_table(
        "CREATE TABLE t (a Int8) ENGINE = ReplicatedMergeTree('/x', 'r') ORDER BY a", "clickhouse"
    )

    assert "ReplicatedMergeTree('/x', 'r')" in lost(table)


@pytest.mark.parametrize("dialect", ["postgres", "tsql"])
def test_elements_of_a_schema_are_in_it(dialect: str) -> None:
    script = read_tables(
        "CREATE SCHEMA s AUTHORIZATION x\nCREATE TABLE t (a int)\n"
        "CREATE VIEW v AS SELECT 1 CREATE TABLE u (b int);\nCREATE TABLE w (a int);",
        dialect,
    )

    assert [table.path for table in script.tables] == [("s", "t"), ("s", "u"), ("w",)]
    assert lost(script) == "CREATE SCHEMA s AUTHORIZATION x\nCREATE VIEW v AS SELECT 1"


@pytest.mark.parametrize(
    "statement",
    [
        "IF EXISTS (SELECT 1 FROM x) DROP TABLE t;",
        "IF EXISTS (SELECT 1 FROM x)\nDROP TABLE t",
        "IF EXISTS (SELECT 1 FROM x)\nBEGIN\nPRINT 1\nDROP TABLE t\nEND",
        "IF OBJECT_ID('u') IS NOT NULL DROP TABLE t",
        "IF OBJECT_ID('t') IS NULL DROP TABLE t",
        "IF OBJECT_ID('t') IS NULL\nPRINT 1\nELSE\nDROP TABLE t",
        "BEGIN TRY DROP TABLE t END TRY",
        "BEGIN TRY\nDROP TABLE t\nEND TRY\nBEGIN CATCH\nPRINT 1\nEND CATCH",
    ],
)
def test_a_drop_with_a_condition_is_a_loss(statement: str) -> None:
    script = read_tables(
        f"CREATE TABLE t (a int)\nGO\n{statement}\nGO\nCREATE TABLE u (a int)\nDROP TABLE u",
        "tsql",
    )

    assert [table.path for table in script.tables] == [("t",)]
    assert "DROP TABLE t" in lost(script)


def test_statements_after_a_condition_of_bigquery_are_executed() -> None:
    script = read_tables(
        "CREATE TABLE t (a INT64); IF TRUE THEN DROP TABLE t; END IF; "
        "CREATE TABLE u (a INT64); DROP TABLE u",
        "bigquery",
    )

    assert [table.path for table in script.tables] == [("t",)]
    assert lost(script) == "IF TRUE THEN DROP TABLE t"


@pytest.mark.parametrize(
    "statement",
    [
        "IF OBJECT_ID('dbo.t', 'U') IS NOT NULL DROP TABLE t",
        "IF OBJECT_ID(N'[dbo].[t]') IS NOT NULL\nDROP TABLE [dbo].[t]",
        "IF OBJECT_ID('t') IS NOT NULL\nBEGIN\nPRINT 1\nDROP TABLE t\nEND",
        "IF EXISTS (SELECT 1 FROM sys.objects WHERE OBJECT_ID(N'[t]') AND a = 1)\nDROP TABLE t",
        "IF EXISTS (SELECT 1 FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 't') DROP TABLE t",
        "BEGIN TRANSACTION\nDROP TABLE t\nCOMMIT",
    ],
)
def test_a_test_that_a_table_exists_is_no_condition(statement: str) -> None:
    text = f"CREATE TABLE t (a int)\nGO\nCREATE TABLE u (a int)\nGO\n{statement}"
    script = read_tables(text, "tsql")

    assert [table.path for table in script.tables] == [("u",)]
    assert script.losses == ()


def test_a_view_with_an_unclosed_bracket_hides_no_table() -> None:
    script = read_tables(
        "CREATE VIEW v AS SELECT (a FROM t\nCREATE FOREIGN TABLE f (a int) SERVER s;"
    )

    assert [table.path for table in script.tables] == [("f",)]
    assert lost(script) == "CREATE VIEW v AS SELECT (a FROM t"


def test_passwords_of_other_statements_hide_nothing_in_errors() -> None:
    script = read_tables(
        "ALTER USER x WITH PASSWORD 'hunter2' (;\nCREATE TABLE t (a int, b int a #);", "postgres"
    )

    assert "unexpected 'a' in column 'b'" in str(script.errors)
    assert "hunter2" not in str(script.errors)


@pytest.mark.parametrize(
    ("changes", "schema", "losses"),
    [
        ("ALTER TABLE t DISABLE PRIMARY KEY CASCADE", "`ID` DECIMAL(5, 0)",
         ["DISABLE PRIMARY KEY CASCADE"]),
        ("ALTER TABLE t DISABLE PRIMARY KEY; ALTER TABLE t ENABLE PRIMARY KEY", "key", []),
        ("ALTER TABLE t MODIFY CONSTRAINT k DISABLE; ALTER TABLE t ENABLE CONSTRAINT k", "key", []),
        (("ALTER TABLE t DISABLE CONSTRAINT k; ALTER TABLE t RENAME COLUMN id TO x;\n"
         "ALTER TABLE t RENAME COLUMN x TO id; ALTER TABLE t MODIFY PRIMARY KEY ENABLE"),
         "key", []),
        ("ALTER TABLE t DISABLE PRIMARY KEY; ALTER TABLE t ENABLE NOVALIDATE PRIMARY KEY",
         "`ID` DECIMAL(5, 0)", ["DISABLE PRIMARY KEY", "ENABLE NOVALIDATE PRIMARY KEY"]),
        ("ALTER TABLE t ENABLE ROW MOVEMENT", "key", ["ENABLE ROW MOVEMENT"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "key", ["id NUMBER(5) CONSTRAINT k PRIMARY KEY", "id NUMBER(5), CONSTRAINT k PRIMARY KEY (id)"]
)
def test_a_disabled_key_of_oracle_can_be_enabled(
    key: str, changes: str, schema: str, losses: list[str]
) -> None:
    script = read_tables(f"CREATE TABLE t ({key}); {changes};", "oracle", strict=True)
    (table,) = script.tables
    with_key = "`ID` DECIMAL(5, 0) NOT NULL, CONSTRAINT `K` PRIMARY KEY (`ID`) NOT ENFORCED"

    assert schemas(script)["T"] == (with_key if schema == "key" else schema)
    assert [loss.source for loss in table.losses] == losses


@pytest.mark.parametrize("key", ["PRIMARY KEY DISABLE", ", CONSTRAINT k PRIMARY KEY (id) DISABLE"])
def test_a_key_declared_as_disabled_can_be_enabled(key: str) -> None:
    script = read_tables(
        f"CREATE TABLE t (id NUMBER(5) {key}); ALTER TABLE t ENABLE VALIDATE PRIMARY KEY", "oracle"
    )

    assert "PRIMARY KEY (`ID`)" in schemas(script)["T"]
    assert script.tables[0].losses == ()


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("mysql", "CREATE TABLE t (Id int, PRIMARY KEY (`ID`))"),
        ("sqlite", 'CREATE TABLE t ("Id" int, PRIMARY KEY (id))'),
        ("tsql", "CREATE TABLE t ([Id] int, CONSTRAINT [PK_Id] PRIMARY KEY (ID))"),
        ("mysql", "CREATE TABLE t (b int, PRIMARY KEY (B)); ALTER TABLE t CHANGE b Id int"),
    ],
)
def test_names_in_a_key_have_any_case(dialect: str, text: str) -> None:
    script = read_tables(text, dialect, strict=True)

    assert schemas(script)["t"] == (
        "`Id` INT NOT NULL, CONSTRAINT `PK_Id` PRIMARY KEY (`Id`) NOT ENFORCED"
    )
    assert script.tables[0].losses == ()


def test_a_computed_key_is_a_physical_column() -> None:
    """Flink refuses keys of computed columns."""
    postgres = "CREATE TABLE t (a int, k int GENERATED ALWAYS AS (a + 1) STORED PRIMARY KEY)"
    tsql = "CREATE TABLE t (a int, k AS (a + 1) PERSISTED NOT NULL PRIMARY KEY)"
    for text, dialect in ((postgres, "postgres"), (tsql, "tsql")):
        table = read_table(text, dialect)
        assert SchemaResolver().resolve(table.schema).primary_key is not None
        assert [(loss.path, loss.source) for loss in table.losses] == [
            (("k",), "a generated column")
        ]


def test_not_null_of_a_computed_column_is_a_loss() -> None:
    script = read_tables(
        "CREATE TABLE t (a int, b int NOT NULL, c AS (a + 1) PERSISTED NOT NULL,"
        " d AS (b + 1) PERSISTED NOT NULL, e AS a + 1)",
        "tsql",
        strict=True,
    )

    assert schemas(script)["t"] == (
        "`a` INT, `b` INT NOT NULL, `c` AS [`a` + 1], `d` AS [`b` + 1], `e` AS [`a` + 1]"
    )
    assert [(loss.path, loss.kind.word) for loss in script.tables[0].losses] == [
        (("c",), "nullability")
    ]


@pytest.mark.parametrize(
    "type_",
    ["Tuple()", "Tuple(a String DEFAULT 'x')", "Map(String)", "Array(Tuple(a UInt8 b UInt8))",
     "Nested(a Whatever(1, 'x', Array(y)))"],
)  # fmt: skip
def test_a_composite_type_that_is_not_understood_costs_its_column_only(type_: str) -> None:
    script = read_tables(f"CREATE TABLE t (a Int8, c {type_}, z Int8); CREATE TABLE u (a Int8)",
                         "clickhouse")  # fmt: skip

    assert [[column.name for column in table.schema.columns] for table in script.tables] == [
        ["a", "z"], ["a"]
    ]  # fmt: skip
    assert [(error.line, error.column) for error in script.errors] == [(1, 25)]


def test_arguments_of_types_within_composite_types() -> None:
    script = read_tables(
        "CREATE TABLE t (a Map(String, DateTime64(3, 'UTC')),"
        " b Tuple(x Enum8('it''s' = 1, 'b' = -2), y Decimal(10, 2)),"
        " c Array(AggregateFunction(quantiles(0.5, 0.9), UInt64)),"
        " d Nested(x DateTime64(6, 'Europe/Berlin'), y Array(Nullable(FixedString(3)))))",
        "clickhouse",
        strict=True,
    )

    assert schemas(script)["t"] == (
        "`a` MAP<STRING NOT NULL, TIMESTAMP(3) NOT NULL> NOT NULL,"
        " `b` ROW<`x` STRING NOT NULL, `y` DECIMAL(10, 2) NOT NULL> NOT NULL,"
        " `c` ARRAY<BYTES NOT NULL> NOT NULL,"
        " `d` ARRAY<ROW<`x` TIMESTAMP_LTZ(6) NOT NULL, `y` ARRAY<BINARY(3)> NOT NULL> NOT NULL>"
        " NOT NULL"
    )


PLSQL = """CREATE TABLE a (id NUMBER(5));
CREATE OR REPLACE PACKAGE p AS
  PROCEDURE x;
END p;
CREATE OR REPLACE PACKAGE BODY p AS
  PROCEDURE x IS
  BEGIN
    IF 1 = 1 THEN
      NULL;
    END IF;
  END x;
  FUNCTION y RETURN NUMBER IS
  BEGIN
    RETURN CASE WHEN 1 = 1 THEN 2 ELSE 3 END;
  END y;
BEGIN
  NULL;
END p;
CREATE TABLE b (id NUMBER(5));
CREATE OR REPLACE TRIGGER g BEFORE INSERT ON b FOR EACH ROW
DECLARE
  n NUMBER;
BEGIN
  SELECT 1 INTO n FROM dual;
END;
CREATE TABLE c (id NUMBER(5));
CREATE OR REPLACE PROCEDURE q (a IN NUMBER) AS
BEGIN
  FOR r IN (SELECT * FROM b) LOOP NULL; END LOOP;
END q;
SHOW ERRORS
CREATE TABLE d (id NUMBER(5));
"""


@pytest.mark.parametrize("line", ["", "/\n"])
def test_units_of_plsql_need_no_line_to_end(line: str) -> None:
    text = PLSQL.replace("CREATE TABLE", f"{line}CREATE TABLE").removeprefix(line)
    script = read_tables(text, "oracle", strict=True)

    assert list(schemas(script)) == ["A", "B", "C", "D"]
    assert len(script.losses) == (3 if not line else 2)  # the line ends both units of the package
    assert len(script.tables[1].losses) == 1


@pytest.mark.parametrize(
    ("dialect", "text", "columns"),
    [
        ("clickhouse", "CREATE TABLE t (a Int8); ALTER TABLE t ON CLUSTER '{c}' ADD COLUMN b Int8",
         ["a", "b"]),
        ("clickhouse", "CREATE TABLE s (a Int8); CREATE TABLE t CLONE AS s", ["a"]),
        ("clickhouse", "CREATE TABLE t (a Int8); REPLACE TABLE t (b Int8)", ["b"]),
        ("databricks", "REPLACE TABLE t (a int)", ["a"]),
        ("databricks", "CREATE TABLE IDENTIFIER('d.t') (a int)", ["a"]),
        ("snowflake", "CREATE TABLE t (a int); CREATE OR ALTER TABLE t (a int, b int)", ["A", "B"]),
        ("oracle", "CREATE TABLE t (a NUMBER(5) GENERATED AS IDENTITY, b DATE)", ["A", "B"]),
        ("postgres", ("CREATE TABLE t (a int); ALTER TABLE t ADD COLUMN IF NOT EXISTS a text,"
         " ADD COLUMN IF NOT EXISTS b int, ALTER COLUMN IF EXISTS c SET NOT NULL"), ["a", "b"]),
        ("clickhouse", ("CREATE TABLE t (a Int8); ALTER TABLE t MODIFY COLUMN IF EXISTS b Int16,"
         " COMMENT COLUMN IF EXISTS b 'x', RENAME COLUMN IF EXISTS b TO c"), ["a"]),
        ("tsql", "CREATE TABLE t (a int CONSTRAINT k PRIMARY KEY CLUSTERED (a ASC), b int)",
         ["a", "b"]),
        ("mysql", "CREATE TABLE t (a int); ALTER IGNORE TABLE t WAIT 5 ADD b int", ["a", "b"]),
        ("mysql", "CREATE TABLE s (a int); RENAME TABLES s WAIT 5 TO t", ["a"]),
        ("snowflake", "CREATE TABLE t (a int); ALTER ICEBERG TABLE t ADD b int", ["A", "B"]),
        ("spark", "CREATE TABLE IDENTIFIER('d' || '.t') (a int)", ["a"]),
        ("clickhouse", "CREATE TABLE t (assume Int8)", ["assume"]),
        ("duckdb", "CREATE TABLE 's t' (a int); ALTER TABLE 's t' ADD COLUMN b int", ["a", "b"]),
        ("sqlite", "CREATE TABLE t (a int); CREATE TABLE u (b int); DROP TABLE 'u'", ["a"]),
    ],
)  # fmt: skip
def test_forms_of_public_scripts_are_read(dialect: str, text: str, columns: list[str]) -> None:
    script = read_tables(text, dialect, strict=True)

    assert [column.name for column in script.tables[-1].schema.columns] == columns
    assert script.losses == ()


@pytest.mark.parametrize(
    ("dialect", "statement"),
    [
        ("snowflake", "GRANT SELECT ON a TO ROLE REATE TABLE d.s.b (x int)"),
        ("clickhouse", "CREATE DATABASE dREATE TABLE b (x Int8)"),
        ("snowflake", "CREATE DYNAMIC TABLE q AS SELECT a FROM tCREATE TABLE b (x int)"),
    ],
)
def test_a_statement_that_contains_a_table_is_a_loss(dialect: str, statement: str) -> None:
    """The semicolon before the table is missing."""
    script = read_tables(f"CREATE TABLE a (x int); {statement}; CREATE TABLE c (x int)", dialect)

    assert [table.path[-1].lower() for table in script.tables] == ["a", "c"]
    assert "TABLE " in script.losses[0].source


@pytest.mark.parametrize(
    "statements",
    [
        "CREATE TABLE t (a int, b int CONSTRAINT k PRIMARY KEY CLUSTERED (a, b DESC) WITH (X = 1))",
        "CREATE TABLE t (a int); ALTER TABLE t ADD b int CONSTRAINT k PRIMARY KEY (a, b)",
    ],
)
def test_a_key_after_a_column_of_tsql_is_that_of_the_table(statements: str) -> None:
    script = read_tables(statements, "tsql")

    assert (
        str(script.tables[0].schema.primary_key)
        == "CONSTRAINT `k` PRIMARY KEY (`a`, `b`) NOT ENFORCED"
    )
    assert script.errors == ()


def test_clauses_of_newer_servers_are_losses() -> None:
    tables = [
        *read_tables("CREATE TABLE t (a DATE ANNOTATIONS (x 'y'))", "oracle").tables,
        *read_tables("CREATE TABLE t (a DATE, CLUSTERING KEY k (a))", "mysql").tables,
    ]

    assert [lost(table) for table in tables] == ["ANNOTATIONS (x 'y')", "CLUSTERING KEY k (a)"]


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "trino", "clickhouse"])
@pytest.mark.parametrize(
    "action",
    ["DROP COLUMN a.x", "DROP COLUMN IF EXISTS a.x", "ADD COLUMN IF NOT EXISTS a.y int",
     "RENAME COLUMN a.x TO y"],
)  # fmt: skip
def test_a_change_of_a_field_is_a_loss(dialect: str, action: str) -> None:
    script = read_tables(f"CREATE TABLE t (a int, b int); ALTER TABLE t {action}", dialect)

    assert [column.name for column in script.tables[0].schema.columns] == ["a", "b"]
    assert [loss.source for loss in script.tables[0].losses] == [action]
    assert script.errors == ()


def test_a_field_among_columns_that_are_dropped_is_an_error() -> None:
    script = read_tables(
        "CREATE TABLE t (a int, b int); ALTER TABLE t DROP COLUMNS (b, a.x)", "spark"
    )

    assert [column.name for column in script.tables[0].schema.columns] == ["a", "b"]
    assert [error.code for error in script.errors] == ["syntax"]


@pytest.mark.parametrize(
    ("dialect", "statement"),
    [("mysql", "ALTER TABLE t RENAME u"), ("mysql", "ALTER TABLE t RENAME AS u"),
     ("oracle", "RENAME t TO u")],
)  # fmt: skip
def test_tables_are_renamed(dialect: str, statement: str) -> None:
    script = read_tables(f"CREATE TABLE t (a int); {statement}", dialect, strict=True)

    assert [table.path[-1].lower() for table in script.tables] == ["u"]
    assert script.losses + script.tables[0].losses == ()


def test_variables_of_a_script_are_named_by_the_hint() -> None:
    for text in (
        "CREATE TABLE ${db}.t (a int)",
        "CREATE TABLE {{ db }}.t (a int)",
        "CREATE TABLE :db.t (a int)",
    ):
        (error,) = read_tables(f"{text}; CREATE TABLE u (a int)", "hive").errors
        assert error.hint == "replace the variables of the script with their values"


#: A table of T-SQL before it is renamed.
OLD_TABLE = "CREATE TABLE dbo.t (a int NOT NULL PRIMARY KEY, b int);\nGO\n"


@pytest.mark.parametrize(
    ("call", "columns"),
    [
        ("EXEC sp_rename 'dbo.t', 'u'", {"dbo.u": "ab"}),
        ("EXEC sp_rename N'[dbo].[t]', N'u', N'OBJECT';", {"dbo.u": "ab"}),
        ("exec sys.sp_rename @newname = N'u', @objname = N't'", {"dbo.u": "ab"}),
        ("EXECUTE @result = master..sp_rename t, u", {"dbo.u": "ab"}),
        ("sp_rename 't', 'u'\nEXEC sp_rename 'u.a', 'c', 'COLUMN'", {"dbo.u": "cb"}),
        ("EXEC dbo.sp_rename 'dbo.\"t\".[b]', 'c', 'column'", {"dbo.t": "ac"}),
        ("EXEC sp_rename 'dbo.t.b', 'c'", {"dbo.t": "ac"}),
        ("IF COL_LENGTH('t', 'a') > 0 EXEC sp_rename 't.a', 'c', 'COLUMN'", {"dbo.t": "cb"}),
        ("IF COL_LENGTH('t', 'a') > 0\nBEGIN\nEXEC sp_rename 't.a', 'c'\nEND", {"dbo.t": "cb"}),
    ],
)
def test_procedures_of_tsql_rename_tables_and_columns(call: str, columns: dict[str, str]) -> None:
    script = read_tables(OLD_TABLE + call, "tsql", strict=True)

    (table,) = script.tables
    names = "".join(column.name for column in table.schema.columns)
    assert {".".join(table.path): names} == columns
    assert table.schema.primary_key is not None
    assert table.schema.primary_key.column_names == (names[0],)
    assert not (*table.losses, *script.losses)


@pytest.mark.parametrize(
    "call",
    ["sp_rename 'dbo.x', 'y'", "sp_rename 't.ix', 'iy', 'INDEX'", "sp_rename 't.x', 'y', 'COLUMN'",
     "sp_rename 't', @new", "sp_rename 't'", "sp_rename 't.[a', 'c'", "sp_help 't'"],
)  # fmt: skip
def test_a_rename_without_its_object_is_a_loss(call: str) -> None:
    script = read_tables(f"{OLD_TABLE}EXEC {call}", "tsql", strict=True)

    (table,) = script.tables
    assert (table.path, len(table.schema.columns)) == (("dbo", "t"), 2)
    assert f"EXEC {call[:7]}" in lost(script) + lost(table)


def test_the_new_name_of_a_column_must_be_new() -> None:
    script = read_tables(f"{OLD_TABLE}EXEC sp_rename 't.a', 'B', 'COLUMN'", "tsql")

    assert [error.code for error in script.errors] == ["duplicate-column"]


TWO_TABLES = "CREATE TABLE d.a (x int) ; CREATE TABLE d.b (y int); CREATE TABLE d.c (z int); "


@pytest.mark.parametrize(
    ("dialect", "statement", "columns", "loss"),
    [
        ("clickhouse", "EXCHANGE TABLES d.a AND d.b ON CLUSTER e", {"b": "x", "a": "y"}, ""),
        ("clickhouse", "EXCHANGE TABLES d.a AND d.b, d.b AND d.c",
         {"c": "x", "a": "y", "b": "z"}, ""),
        ("clickhouse", "EXCHANGE TABLES d.a AND d.u", {"u": "x", "b": "y"}, "EXCHANGE TABLES"),
        ("clickhouse", "EXCHANGE DICTIONARIES d.a AND d.b", {"a": "x"}, "EXCHANGE DICTIONARIES"),
        ("snowflake", "ALTER TABLE d.a SWAP WITH d.b", {"B": "X", "A": "Y"}, ""),
        ("snowflake", "ALTER TABLE d.a SWAP WITH d.u", {"U": "X", "B": "Y"}, "ALTER TABLE d.a"),
    ],
)  # fmt: skip
def test_tables_are_exchanged(
    dialect: str, statement: str, columns: dict[str, str], loss: str
) -> None:
    script = read_tables(TWO_TABLES + statement, dialect, strict=True)

    names = {table.path[-1]: table.schema.columns[0].name for table in script.tables}
    assert {**names, **columns} == names
    losses = [*script.losses, *(loss for table in script.tables for loss in table.losses)]
    assert any(entry.source.startswith(loss) for entry in losses) if loss else not losses


@pytest.mark.parametrize(
    ("dialect", "statement"),
    [("mysql", "RENAME TABLE d.a TO d.b"), ("mysql", "ALTER TABLE d.a ADD w int, RENAME TO d.b"),
     ("tsql", "EXEC sp_rename 'd.a', 'b'")],
)  # fmt: skip
def test_a_new_name_of_another_table_is_an_error(dialect: str, statement: str) -> None:
    script = read_tables(TWO_TABLES + statement, dialect)

    assert [table.path[-1] for table in script.tables] == ["a", "b", "c"]
    assert [error.code for error in script.errors] == ["table-exists"]


@pytest.mark.parametrize("dialect", ["spark", "databricks"])
def test_columns_that_are_added_with_a_field_are_read(dialect: str) -> None:
    (table,) = read_tables(
        "CREATE TABLE t (a int); ALTER TABLE t ADD COLUMNS (c int, a.b DECIMAL(3, 2), d int)",
        dialect,
        strict=True,
    ).tables

    assert [column.name for column in table.schema.columns] == ["a", "c", "d"]
    assert lost(table) == "a.b DECIMAL(3, 2)"


def test_positions_and_conditions_of_added_columns() -> None:
    for dialect, actions, names in (
        ("trino", "ADD COLUMN c int FIRST; ALTER TABLE t ADD COLUMN d int LAST", "cabd"),
        ("trino", "ADD COLUMN c int NOT NULL LAST", "abc"),
        ("databricks", "ADD COLUMNS IF NOT EXISTS (a int COMMENT 'x, y', c int)", "abc"),
    ):
        script = f"CREATE TABLE t (a int, b int); ALTER TABLE t {actions}"
        (table,) = read_tables(script, dialect, strict=True).tables
        assert "".join(column.name for column in table.schema.columns) == names


def test_columns_of_mysql_can_be_preceded_by_their_table() -> None:
    script = read_tables(
        "CREATE TABLE s.t (t.a INT, `t`.`b` INT, s.t.c INT, .d INT, PRIMARY KEY (a));\n"
        "CREATE TABLE u (t.a INT)",
        "mysql",
    )

    assert schemas(script) == {
        "t": "`a` INT NOT NULL, `b` INT, `c` INT, `d` INT, "
        "CONSTRAINT `PK_a` PRIMARY KEY (`a`) NOT ENFORCED"
    }
    assert [error.message for error in script.errors] == ["the table is 'u', not 't'"]


@pytest.mark.parametrize(
    "query",
    ["(SELECT 1 AS a, 2)", "((SELECT 1))", "(WITH q AS (SELECT 1) SELECT * FROM q)",
     "(WITH q (a) AS (SELECT 1) SELECT a FROM q)", "AS (SELECT 1)", "SELECT 1"],
)  # fmt: skip
def test_a_table_of_the_columns_of_a_query_is_refused(query: str) -> None:
    script = read_tables(f"CREATE TABLE t {query}", "mysql")

    assert [(error.code, error.column) for error in script.errors] == [
        ("missing-columns", 17 if query.startswith("(") else 16)
    ]
