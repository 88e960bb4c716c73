"""Scripts with statements that cannot be read: the others are read, and every error has a place."""

from __future__ import annotations

import pytest

from schema_core.base.text import Span, Token
from schema_core.errors import SchemaCoreError
from schema_core.mappings.dialects.api import ForeignScript, read_tables, tokens
from schema_core.mappings.dialects.engines import ENGINES
from schema_core.mappings.dialects.script_parser import parse_script


def names(script: ForeignScript) -> list[str]:
    return [".".join(table.path).lower() for table in script.tables]


def places(script: ForeignScript) -> list[tuple[str, int, int]]:
    return [(error.code, error.line, error.column) for error in script.errors]


@pytest.mark.parametrize(
    ("dialect", "bad", "errors"),
    [
        ("postgres", "CREATE TABLE b (x int y);", [("syntax", 2, 23)]),
        ("postgres", "CREATE TABLE b (x int;", [("syntax", 2, 22)]),
        ("postgres", "CREATE TABLE b (x int));;", [("syntax", 2, 23)]),
        ("postgres", "CREATE TABLE b (x text DEFAULT 'y);", [("syntax", 2, 32)]),
        ("postgres", "COMMENT ON TABLE a IS 'it's';", [("syntax", 2, 28)]),
        ("postgres", "INSERT INTO a VALUES ('it's');", [("syntax", 2, 28)]),
        ("postgres", "/* CREATE TABLE b (x int);", [("syntax", 2, 1)]),
        ("postgres", 'CREATE TABLE "b (x int);', [("syntax", 2, 14)]),
        ("postgres", "DO $$ BEGIN DROP TABLE a; END;", [("syntax", 2, 4)]),
        ("postgres", "CREATE TABLE b AS SELECT 1 AS x;", [("missing-columns", 2, 16)]),
        ("postgres", "CREATE TABLE a (y int);", [("table-exists", 2, 1)]),
        ("postgres", "COPY a FROM stdin;\n1", [("syntax", 2, 1)]),
        ("duckdb", "ALTER TABLE a ALTER x TYPE int USING f(x) TABLE b (y int);",
         [("syntax", 2, 43)]),
        ("postgres", f"CREATE TABLE b (x {'(' * 100}1{')' * 100});", [("limit-exceeded", 2, 82)]),
        ("mysql", "CREATE TABLE `b (x int);", [("syntax", 2, 14)]),
        ("mysql", "CREATE TABLE b (x int) COMMENT 'it's';", [("syntax", 2, 37)]),
        ("sqlite", "CREATE TABLE [b (x int);", [("syntax", 2, 14)]),
        ("snowflake", "CREATE TABLE b (x int y);", [("syntax", 2, 23)]),
        ("flink", "CREATE TABLE b (x INT y);", [("syntax", 2, 23)]),
        ("flink", "CREATE TABLE b LIKE a;", [("missing-columns", 2, 14)]),
    ],
)  # fmt: skip
def test_an_invalid_statement_does_not_lose_the_others(
    dialect: str, bad: str, errors: list[tuple[str, int, int]]
) -> None:
    text = f"CREATE TABLE a (x int);\n{bad}\nCREATE TABLE c (x int);\nCREATE TABLE d (x int);"
    script = read_tables(text, dialect)

    assert [name for name in names(script) if name != "b"] == ["a", "c", "d"]
    assert places(script) == errors
    with pytest.raises(SchemaCoreError) as caught:
        read_tables(text, dialect, strict=True)
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == [
        code for code, _, _ in errors
    ]


def test_a_column_without_a_type_of_flink_is_an_error_and_a_loss() -> None:
    text = "CREATE TABLE t (\n  a int,\n  b nope,\n  c int GENERATED ALWAYS AS (b + 1) STORED,\n"
    script = read_tables(f"{text}  PRIMARY KEY (a, b)\n);")
    (table,) = script.tables

    assert str(table.schema) == "(\n  `a` INT NOT NULL,\n  `c` INT\n)"
    assert places(script) == [("type-not-supported", 3, 3)]
    assert script.errors[0].path == ("table 't'", "column 'b'")
    assert [(loss.path, loss.source, loss.line, loss.column) for loss in table.losses] == [
        (("b",), "nope", 3, 3), (("c",), "a generated column", 4, 3),
        (("primary key",), "PRIMARY KEY (a, b)", 1, 1),
    ]  # fmt: skip


def test_losses_have_their_places() -> None:
    script = read_tables(
        "SET a = 1;\nCREATE TABLE t (\n  n int unsigned DEFAULT 7,\n  KEY k (n)\n) ENGINE=InnoDB;\n"
        "  CREATE VIEW v AS SELECT 1;",
        "mysql",
    )

    assert [(loss.line, loss.column) for loss in script.tables[0].losses] == [
        (3, 3), (3, 18), (4, 3), (5, 3)
    ]  # fmt: skip
    assert [(loss.line, loss.column) for loss in script.losses] == [(6, 3)]


def test_actions_of_alter_table_after_an_invalid_one_are_applied() -> None:
    script = read_tables(
        "CREATE TABLE t (a int);\n"
        "ALTER TABLE t ADD b int c, ADD d int, ALTER e SET NOT NULL, ADD CHECK (a > 0)"
    )

    assert str(script.tables[0].schema) == "(\n  `a` INT,\n  `d` INT\n)"
    assert places(script) == [("syntax", 2, 25), ("unknown-column", 2, 45)]
    assert [loss.source for loss in script.tables[0].losses] == ["ADD CHECK (a > 0)"]


@pytest.mark.parametrize(
    ("dialect", "routine"),
    [
        ("sqlite", "CREATE TRIGGER r AFTER INSERT ON a BEGIN DELETE FROM a; DROP TABLE a; END;"),
        ("mysql", "CREATE PROCEDURE p() BEGIN IF 1 THEN DROP TABLE a; END IF; DROP TABLE a; END;"),
        ("mysql", "DELIMITER //\nCREATE FUNCTION f() BEGIN DROP TABLE a; END //\nDELIMITER ;"),
        ("mysql", "CREATE DEFINER=`r`@`%` TRIGGER r BEFORE INSERT ON a FOR EACH ROW BEGIN {}"),
        ("postgres", "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC DELETE FROM a; SELECT 1; END;"),
        ("postgres", "CREATE RULE r AS ON INSERT TO a DO ALSO (DELETE FROM a; DROP TABLE a);"),
        ("snowflake", "BEGIN\n  DROP TABLE a;\nEND;"),
    ],
)  # fmt: skip
def test_routines_do_not_change_tables(dialect: str, routine: str) -> None:
    routine = routine.replace("{}", "CASE x WHEN 1 THEN SET y = 2; END CASE; DROP TABLE a;\nEND;")
    script = read_tables(f"CREATE TABLE a (x int);\n{routine}\nCREATE TABLE b (x int);", dialect)

    assert names(script) == ["a", "b"]
    assert script.errors == ()
    assert len([*script.losses, *(loss for table in script.tables for loss in table.losses)]) == 1


def test_tables_between_delimiters_are_read() -> None:
    text = "DELIMITER $$\nCREATE TABLE a (x int)$$\nCREATE TABLE b (x int)$$\nDELIMITER ;\n"
    script = read_tables(f"{text}CREATE TABLE c (x int);", "mysql")

    assert names(script) == ["a", "b", "c"]
    assert (script.losses, script.errors) == ((), ())


def test_rows_that_contain_statements_are_reported() -> None:
    text = "CREATE TABLE a (x text);\nINSERT INTO a VALUES ('\nCREATE TABLE b (x int);\n');\n"
    script = read_tables(f"{text}COPY a FROM stdin;\nCREATE TABLE c (x int)\n\\.\n")

    assert names(script) == ["a"]
    assert [(loss.line, loss.source[:6]) for loss in script.losses] == [
        (2, "INSERT"),
        (6, "CREATE"),
    ]


@pytest.mark.parametrize(
    ("dialect", "statement", "loss"),
    [
        ("sqlite", "INSERT INTO a VALUES (1)EATE TABLE b (\n  y INT);", "TABLE b ( y INT)"),
        ("sqlite", 'INSERT INTO a VALUES (1EATE TABLE "b c" (y);', 'TABLE "b c" (y)'),
        ("tsql", "INSERT INTO a VALUES (1)\nEATE TABLE [d].[b] (y INT)\nGO",
         "TABLE [d].[b] (y INT)"),
        ("mysql", "REPLACE INTO a VALUES (1)LE b (`y z` int);", "(`y z` int)"),
        ("postgres", "INSERT INTO a VALUES (1)b (y text, z int);", "(y text, z int)"),
        ("mysql", "SET x = 1EATE TABLE `b` (y int);", "SET x = 1EATE TABLE `b` (y int)"),
        ("postgres", "COMMIT TABLE IF NOT EXISTS s.b (y int);",
         "COMMIT TABLE IF NOT EXISTS s.b (y int)"),
    ],
)  # fmt: skip
def test_a_table_without_its_create_is_reported(dialect: str, statement: str, loss: str) -> None:
    script = read_between(dialect, statement)

    assert names(script) == ["a", "c"]
    assert [loss.source for loss in script.losses] == [loss]
    assert script.errors == ()


@pytest.mark.parametrize(
    ("dialect", "statement"),
    [
        ("mysql", "INSERT INTO a VALUES ('TABLE b (y int)'), ('y int, z int' -- TABLE b (\n);"),
        ("mysql", "INSERT INTO a VALUES (CONVERT('1', SIGNED INTEGER), INTERVAL day (1));"),
        ("hive", "INSERT INTO TABLE a (x) VALUES (1);"),
        ("spark", "INSERT OVERWRITE TABLE a (x) SELECT 1;"),
        ("mysql", "LOAD DATA INFILE 'x' INTO TABLE a (x);"),
        ("oracle", "INSERT INTO a SELECT y, z int, x FROM TABLE (f(1)) t;"),
        ("trino", "INSERT INTO a VALUES (CAST(ROW(1, 2) AS ROW(y INT, z INT, x VARCHAR(3))));"),
    ],
)
def test_rows_without_a_table_are_not_reported(dialect: str, statement: str) -> None:
    script = read_between(dialect, statement)

    assert names(script) == ["a", "c"]
    assert (script.losses, script.errors) == ((), ())


def read_between(dialect: str, statement: str) -> ForeignScript:
    """Read a script with a statement between the tables `a` and `c`."""
    end = "\nGO\n" if dialect == "tsql" else ";\n"
    text = f"CREATE TABLE a (x INT){end}{statement}\nCREATE TABLE c (x INT)"
    return read_tables(text, dialect)


@pytest.mark.parametrize(
    ("dialect", "quotes"), [("sqlite", "[]"), ("tsql", "[]"), ("mysql", "``"), ("postgres", '""')]
)
def test_a_quoted_name_hides_no_table(dialect: str, quotes: str) -> None:
    text = f"BEGIN TRAN{quotes[0]};\nCREATE TABLE t ({quotes[0]}a{quotes[1]} int);\n"

    script = read_tables(text, dialect)

    assert names(script) == ["t"]
    assert len(script.errors) == 1


def test_a_script_without_tables_is_an_error() -> None:
    assert places(read_tables("SELECT 1", "mysql")) == [("invalid-statement", 1, 1)]


def test_the_work_for_malformed_statements_is_limited() -> None:
    script = read_tables("CREATE TABLE /* x\n" * 20_000)

    assert len(script.errors) <= 1_001


@pytest.mark.parametrize("dialect", ENGINES)
@pytest.mark.parametrize(
    ("line", "end"),
    [("CREATE TABLE t{} (a int, b int\n", ""), ("CREATE TABLE t{} (a int,, b int)\n", ""),
     ("ALTER TABLE t ADD c{} int", ";\n"), ("CREATE TABLE t{} (a int;\n", "")],
)  # fmt: skip
def test_no_text_is_tokenized_twice(dialect: str, line: str, end: str) -> None:
    lengths = []
    text = "CREATE TABLE t (a int);\n" + "".join(line.format(i) + end for i in range(50))

    def tokenize(source: str, span: Span) -> list[Token]:
        lengths.append(span.stop - span.start)
        return list(tokens(source, ENGINES[dialect], span))

    script = parse_script(text, ENGINES[dialect], tokenize)

    assert sum(lengths) <= len(text)
    assert len(script.errors.errors) + len(script.tables[0].columns) == 51
