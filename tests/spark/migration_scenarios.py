"""Scenarios of migrations of tables with rows: objects, migration files and their outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, TypeAlias

Rows: TypeAlias = list[tuple[Any, ...]]

#: Name of a table of goods -> the options of its format.
FORMS: Final[Mapping[str, str]] = {
    **{form: f"'format' = '{form}'" for form in ("parquet", "orc", "avro", "json")},
    "csv": "'format' = 'csv', 'csv.null-literal' = 'NULL'",
    "headed": "'format' = 'csv', 'csv.null-literal' = 'NULL', 'csv.header' = 'true'",
}
GOODS: Final = "id INT, name STRING, price DECIMAL(6, 2), item ROW<code STRING, qty INT>"


def files_at(name: str, options: str = "'format' = 'json'") -> str:
    return f"WITH ('connector' = 'filesystem', 'path' = '${{root}}/data/{name}', {options})"


EVENTS: Final = (
    "id INT, happened TIMESTAMP(3), twice AS id * 2, "
    "WATERMARK FOR happened AS happened - INTERVAL '1' SECOND"
)
#: The definitions of the fifteen objects.
DEFINITIONS: Final = (
    *(f"CREATE TABLE goods_{form} ({GOODS}) {files_at(form, FORMS[form])}" for form in FORMS),
    f"CREATE TABLE cities (id INT, city STRING) PARTITIONED BY (city) {files_at('cities')}",
    "CREATE TABLE keyed (id INT NOT NULL, name STRING, PRIMARY KEY (id) NOT ENFORCED) "
    + files_at("keyed", FORMS["parquet"]),
    "CREATE TABLE stock (id INT, qty INT) COMMENT 'what is there'",
    f"CREATE TABLE events ({EVENTS}) {files_at('events')}",
    f"CREATE TABLE people (id INT, name STRING, age STRING, city STRING) {files_at('people')}",
    f"CREATE TABLE `we``ird.t` (`a b` INT, `c.d` STRING, `é'\"` INT) {files_at('weird')}",
    f"CREATE TABLE adults (id INT, name STRING) {files_at('adults')}",
    "CREATE VIEW names AS SELECT id, name FROM goods_parquet",
    "CREATE VIEW bob AS SELECT name FROM names WHERE id = 2",
)
#: The statements that write the rows, without those of the goods.
VALUES: Final = (
    "INSERT INTO cities VALUES (1, 'Rome'), (2, 'Bonn')",
    "INSERT INTO keyed VALUES (1, 'a'), (2, 'b')",
    "INSERT INTO stock VALUES (1, 10), (2, 20)",
    "INSERT INTO events VALUES (1, TIMESTAMP '2024-01-01 10:00:00')",
    (
        "INSERT INTO people VALUES (1, 'Ada Lovelace', '36', 'London'), "
        "(2, 'Alan Turing', '41', CAST(NULL AS STRING)), (3, 'Plato', 'old', 'Athens')"
    ),
    "INSERT INTO `we``ird.t` VALUES (1, 'x', 2)",
)
GOODS_VALUES: Final = (
    "(1, 'Ann', 9.50, ROW('a', 1)), (2, 'Bob', CAST(NULL AS DECIMAL(6, 2)), ROW('b', 2))"
)
#: The rows of each table of goods, and of the other tables.
ANN: Final = (1, "Ann", Decimal("9.50"), ("a", 1))
BOB: Final = (2, "Bob", None, ("b", 2))
PEOPLE: Final = [
    (1, "Ada Lovelace", "36", "London"),
    (2, "Alan Turing", "41", None),
    (3, "Plato", "old", "Athens"),
]
START: Final[Mapping[str, Rows]] = {
    "goods": [ANN, BOB],
    "cities": [(1, "Rome"), (2, "Bonn")],
    "keyed": [(1, "a"), (2, "b")],
    "stock": [(1, 10), (2, 20)],
    "people": PEOPLE,
    "`we``ird.t`": [(1, "x", 2)],
    "names": [(1, "Ann"), (2, "Bob")],
    "bob": [("Bob",)],
}


@dataclass(frozen=True)
class Applied:
    """A migration that is applied, and undone if it has statements for this.

    Attributes:
        name: What the author does.
        up: The statements; ``{t}`` stands for each table of goods.
        down: The statements that undo it; "" for none.
        rows: Table or query -> its rows afterwards. `goods` stands for all tables of goods.
        undone: The tables that have their first rows again after the downgrade.
        options: Options of `upgrade`.
    """

    name: str
    up: str
    down: str = ""
    rows: Mapping[str, Rows] = field(default_factory=dict)
    undone: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """A migration that is refused before anything is changed.

    Attributes:
        name: What the author tries.
        up: The statements.
        code: The code of the error.
        text: A part of the error message.
        options: Options of `upgrade`.
    """

    name: str
    up: str
    code: str
    text: str = ""
    options: tuple[str, ...] = ()


def each(statement: str, forms: tuple[str, ...] = tuple(FORMS)) -> str:
    """Return a statement for each table of goods."""
    return "\n".join(statement.format(t=f"goods_{form}") + ";" for form in forms)


def with_values(*values: Any, at: int) -> Rows:
    """Return the rows of the goods with further values at a position."""
    return [(*row[:at], value, *row[at:]) for row, value in zip((ANN, BOB), values, strict=True)]


def without(at: int) -> Rows:
    return [(*row[:at], *row[at + 1 :]) for row in (ANN, BOB)]


VIEWS = ";\n".join(text for text in DEFINITIONS if "VIEW" in text)
WITHOUT_VIEWS = "DROP VIEW bob;\nDROP VIEW names;\n"
SWAP = (
    "ALTER TABLE {t} RENAME name TO other;\nALTER TABLE {t} RENAME price TO name;\n"
    "ALTER TABLE {t} RENAME other TO price"
)
FIELD_SWAP = (
    "ALTER TABLE {t} RENAME item.code TO item.x;\nALTER TABLE {t} RENAME item.qty TO item.code;\n"
    "ALTER TABLE {t} RENAME item.x TO item.qty"
)
APPLIED: Final = (
    Applied(
        "ADD a column at the end",
        each("ALTER TABLE {t} ADD more INT"),
        each("ALTER TABLE {t} DROP more"),
        {"goods": with_values(None, None, at=4)},
        ("goods", "names"),
    ),
    Applied(
        "ADD a column first",
        each("ALTER TABLE {t} ADD more STRING FIRST"),
        each("ALTER TABLE {t} DROP more"),
        {"goods": with_values(None, None, at=0), "bob": [("Bob",)]},
        ("goods",),
    ),
    Applied(
        "ADD a column in the middle",
        each("ALTER TABLE {t} ADD more STRING AFTER name"),
        each("ALTER TABLE {t} DROP more"),
        {"goods": with_values(None, None, at=2)},
        ("goods",),
    ),
    Applied(
        "ADD a field of a ROW",
        each(
            "ALTER TABLE {t} MODIFY item ROW<code STRING, qty INT, unit STRING>",
            ("parquet", "orc", "avro", "json"),
        ),
        each(
            "ALTER TABLE {t} MODIFY item ROW<code STRING, qty INT>",
            ("parquet", "orc", "avro", "json"),
        ),
        {
            f"goods_{form}": [
                (1, "Ann", Decimal("9.50"), ("a", 1, None)),
                (2, "Bob", None, ("b", 2, None)),
            ]
            for form in ("parquet", "json")
        },
        ("goods",),
    ),
    Applied(
        "DROP a column in the middle",
        WITHOUT_VIEWS + each("ALTER TABLE {t} DROP name"),
        each("ALTER TABLE {t} ADD name STRING AFTER id"),
        {"goods": without(1)},
    ),
    Applied(
        "RENAME a column",
        WITHOUT_VIEWS + each("ALTER TABLE {t} RENAME name TO label"),
        each("ALTER TABLE {t} RENAME label TO name"),
        {"goods": [ANN, BOB], "SELECT label FROM goods_csv": [("Ann",), ("Bob",)]},
        ("goods",),
    ),
    Applied(
        "RENAME a field",
        each("ALTER TABLE {t} RENAME item.qty TO item.amount"),
        each("ALTER TABLE {t} RENAME item.amount TO item.qty"),
        {"goods": [ANN, BOB], "SELECT t.item.amount FROM goods_orc AS t": [(1,), (2,)]},
        ("goods",),
    ),
    Applied(
        "two columns swap their names",
        WITHOUT_VIEWS + each(SWAP),
        each(SWAP),
        {
            "goods": [ANN, BOB],
            "SELECT id, price, name FROM goods_json": [(1, "Ann", ANN[2]), (2, "Bob", None)],
        },
        ("goods",),
    ),
    Applied(
        "drop a column and add it again",
        WITHOUT_VIEWS
        + each("ALTER TABLE {t} DROP name;\nALTER TABLE {t} ADD name STRING AFTER id"),
        rows={"goods": [(*row[:1], None, *row[2:]) for row in (ANN, BOB)]},
    ),
    Applied(
        "move a column",
        each("ALTER TABLE {t} MODIFY price DECIMAL(6, 2) FIRST"),
        each("ALTER TABLE {t} MODIFY price DECIMAL(6, 2) AFTER name"),
        {"goods": [(row[2], *row[:2], row[3]) for row in (ANN, BOB)], "bob": [("Bob",)]},
        ("goods",),
    ),
    Applied(
        "add, write, and add before it",
        "ALTER TABLE goods_csv ADD more INT FIRST; "
        "INSERT INTO goods_csv VALUES (7, 3, 'Eve', 1, ROW('c', 3)); "
        "ALTER TABLE goods_csv ADD again INT FIRST;",
        rows={
            "goods_csv": [
                (None, None, *ANN),
                (None, None, *BOB),
                (None, 7, 3, "Eve", Decimal("1.00"), ("c", 3)),
            ]
        },
    ),
    Applied(
        "widen an integer",
        "ALTER TABLE stock MODIFY qty BIGINT;\n"
        + each("ALTER TABLE {t} MODIFY id BIGINT").replace(
            "ALTER TABLE goods_parquet MODIFY id BIGINT;", ""
        ),
        rows={"goods": [ANN, BOB], "stock": START["stock"]},
    ),
    Applied(
        "widen a decimal by a rewrite",
        "-- rewrite: goods_parquet\nALTER TABLE goods_parquet MODIFY price DECIMAL(10, 3);",
        "-- rewrite: goods_parquet\nALTER TABLE goods_parquet MODIFY price DECIMAL(6, 2);",
        {"goods_parquet": [(1, "Ann", Decimal("9.500"), ("a", 1)), BOB]},
        ("goods",),
    ),
    Applied(
        "an integer becomes a string in orc by a rewrite",
        "-- rewrite: goods_orc\nALTER TABLE goods_orc MODIFY id STRING;",
        "-- rewrite: goods_orc\nALTER TABLE goods_orc MODIFY id INT;",
        {"goods_orc": [(str(row[0]), *row[1:]) for row in (ANN, BOB)]},
        ("goods",),
    ),
    Applied(
        "change the format by a rewrite",
        f"-- rewrite: goods_csv\n"
        f"CREATE TABLE goods_csv ({GOODS}) {files_at('csv', FORMS['parquet'])};",
        f"-- rewrite: goods_csv\nCREATE TABLE goods_csv ({GOODS}) {files_at('csv', FORMS['csv'])};",
        {"goods_csv": [ANN, BOB]},
        ("goods",),
    ),
    Applied(
        "partition a table by a rewrite",
        f"-- rewrite: people\n"
        f"CREATE TABLE people (id INT, name STRING, age STRING, "
        f"city STRING) PARTITIONED BY (city) {files_at('people')};",
        f"-- rewrite: people\n"
        f"CREATE TABLE people (id INT, name STRING, age STRING, city STRING) {files_at('people')};",
        {"people": PEOPLE},
        ("people",),
    ),
    Applied(
        "change comments",
        "COMMENT ON TABLE goods_csv IS 'it''s new'; "
        "ALTER TABLE goods_orc MODIFY name STRING COMMENT 'of it'; COMMENT ON TABLE stock IS NULL;",
        "COMMENT ON TABLE goods_csv IS NULL; COMMENT ON COLUMN goods_orc.name IS NULL; "
        "COMMENT ON TABLE stock IS 'what is there';",
        {"goods": [ANN, BOB], "stock": START["stock"]},
    ),
    Applied(
        "change options that do not concern rows",
        each("ALTER TABLE {t} SET ('sink.parallelism' = '2')"),
        each("ALTER TABLE {t} RESET ('sink.parallelism')"),
        {"goods": [ANN, BOB]},
    ),
    Applied(
        "change a computed column and a watermark",
        "ALTER TABLE events MODIFY twice AS id * 3; "
        "ALTER TABLE events MODIFY WATERMARK FOR happened AS happened - INTERVAL '5' SECOND;",
        "ALTER TABLE events MODIFY twice AS id * 2; "
        "ALTER TABLE events MODIFY WATERMARK FOR happened AS happened - INTERVAL '1' SECOND;",
        {"SELECT id, twice FROM events": [(1, 3)]},
    ),
    Applied(
        "drop a watermark and a computed column",
        "ALTER TABLE events DROP WATERMARK; ALTER TABLE events DROP twice; "
        "ALTER TABLE goods_csv ADD total AS price * 2 FIRST;",
        "ALTER TABLE goods_csv DROP total; ALTER TABLE events ADD twice AS id * 2; "
        "ALTER TABLE events ADD WATERMARK FOR happened AS happened - INTERVAL '1' SECOND;",
        {
            "SELECT id FROM events": [(1,)],
            "SELECT total, id FROM goods_csv": [(Decimal("19.00"), 1), (None, 2)],
        },
    ),
    Applied(
        "drop a primary key",
        "ALTER TABLE keyed DROP PRIMARY KEY;",
        "ALTER TABLE keyed ADD PRIMARY KEY (id) NOT ENFORCED;",
        {"keyed": START["keyed"]},
        ("keyed",),
    ),
    Applied(
        "rename a table",
        "ALTER TABLE cities RENAME TO towns; ALTER TABLE stock RENAME TO supply;",
        "ALTER TABLE towns RENAME TO cities; ALTER TABLE supply RENAME TO stock;",
        {"towns": START["cities"], "supply": START["stock"]},
        ("cities", "stock"),
    ),
    Applied(
        "rename a table with its views",
        f"{WITHOUT_VIEWS}ALTER TABLE goods_parquet RENAME TO wares; "
        f"{VIEWS.replace('goods_parquet', 'wares')};",
        f"{WITHOUT_VIEWS}ALTER TABLE wares RENAME TO goods_parquet; {VIEWS};",
        {"wares": [ANN, BOB], "bob": [("Bob",)]},
        ("goods", "bob"),
    ),
    Applied(
        "two tables swap their names",
        "ALTER TABLE goods_csv RENAME TO x; ALTER TABLE goods_orc RENAME TO goods_csv; "
        "ALTER TABLE x RENAME TO goods_orc;",
        "ALTER TABLE goods_csv RENAME TO x; ALTER TABLE goods_orc RENAME TO goods_csv; "
        "ALTER TABLE x RENAME TO goods_orc;",
        {"goods": [ANN, BOB]},
        ("goods",),
    ),
    Applied(
        "two fields swap their names",
        each(FIELD_SWAP),
        each(FIELD_SWAP),
        {"goods": [ANN, BOB], "SELECT t.item.code FROM goods_json AS t": [(1,), (2,)]},
        ("goods",),
    ),
    Applied(
        "change rows of a partition",
        "UPDATE cities SET city = 'Milan' WHERE id = 1; "
        "INSERT OVERWRITE cities VALUES (3, 'Bonn');",
        rows={"SELECT id, city FROM cities": [(1, "Milan"), (3, "Bonn")]},
    ),
    Applied(
        "reuse the name of a renamed column",
        WITHOUT_VIEWS + each("ALTER TABLE {t} RENAME name TO label;\nALTER TABLE {t} ADD name INT"),
        each("ALTER TABLE {t} DROP name;\nALTER TABLE {t} RENAME label TO name"),
        {"goods": with_values(None, None, at=4)},
        ("goods",),
    ),
    Applied(
        "rewrite to another path, and twice",
        f"-- rewrite: people\nCREATE TABLE people (id INT, name STRING, age STRING, city STRING) "
        f"{files_at('other')};\n-- rewrite: people\nALTER TABLE people MODIFY id STRING;",
        rows={"people": [(str(row[0]), *row[1:]) for row in PEOPLE]},
    ),
    Applied(
        "change a managed table",
        "ALTER TABLE stock ADD note STRING FIRST; ALTER TABLE stock RENAME qty TO amount; "
        "INSERT INTO stock VALUES ('new', 3, 30);",
        "DELETE FROM stock WHERE id = 3; ALTER TABLE stock RENAME amount TO qty; "
        "ALTER TABLE stock DROP note;",
        {
            "stock": [(None, 1, 10), (None, 2, 20), ("new", 3, 30)],
            "SELECT amount FROM stock WHERE note = 'new'": [(30,)],
        },
        ("stock",),
    ),
    Applied(
        "split a column",
        "ALTER TABLE people ADD (first_name STRING, last_name STRING); "
        "UPDATE people SET first_name = SPLIT_INDEX(name, ' ', 0), "
        "last_name = SPLIT_INDEX(name, ' ', 1); ALTER TABLE people DROP name;",
        "ALTER TABLE people ADD name STRING AFTER id; "
        "UPDATE people SET name = CASE WHEN last_name IS NULL THEN first_name ELSE first_name "
        "|| ' ' || last_name END; ALTER TABLE people DROP (first_name, last_name);",
        {
            "people": [
                (1, "36", "London", "Ada", "Lovelace"),
                (2, "41", None, "Alan", "Turing"),
                (3, "old", "Athens", "Plato", None),
            ]
        },
        ("people",),
    ),
    Applied(
        "fill a column and declare it NOT NULL",
        "UPDATE people SET city = 'unknown' WHERE city IS NULL; "
        "ALTER TABLE people MODIFY city STRING NOT NULL;",
        "ALTER TABLE people MODIFY city STRING; "
        "UPDATE people SET city = CAST(NULL AS STRING) WHERE city = 'unknown';",
        {"SELECT id, city FROM people": [(1, "London"), (2, "unknown"), (3, "Athens")]},
        ("people",),
    ),
    Applied(
        "add a NOT NULL column with values",
        "ALTER TABLE goods_parquet ADD kind STRING; UPDATE goods_parquet SET kind = 'old'; "
        "ALTER TABLE goods_parquet MODIFY kind STRING NOT NULL;",
        "ALTER TABLE goods_parquet DROP kind;",
        {"goods_parquet": with_values("old", "old", at=4)},
        ("goods",),
    ),
    Applied(
        "delete rows and copy others",
        "INSERT INTO adults SELECT id, name FROM people WHERE id < 3; "
        "DELETE FROM people WHERE id < 3;",
        rows={"adults": [(1, "Ada Lovelace"), (2, "Alan Turing")], "people": PEOPLE[2:]},
    ),
    Applied(
        "rewrite with accepted losses",
        "-- rewrite: people\n-- accept: too-long\nALTER TABLE people MODIFY name VARCHAR(5);",
        rows={"SELECT id, name FROM people": [(1, "Ada L"), (2, "Alan "), (3, "Plato")]},
    ),
    Applied(
        "drop a partitioned table and a view",
        "DROP VIEW bob; DROP TABLE cities;",
        "CREATE VIEW bob AS SELECT name FROM names WHERE id = 2; "
        + next(text for text in DEFINITIONS if "cities" in text)
        + ";",
        {"names": START["names"]},
        ("cities", "bob"),
    ),
    Applied(
        "change hostile names",
        "ALTER TABLE `we``ird.t` RENAME `c.d` TO `x``y`; "
        "ALTER TABLE `we``ird.t` ADD `select` INT FIRST;",
        "ALTER TABLE `we``ird.t` DROP `select`; ALTER TABLE `we``ird.t` RENAME `x``y` TO `c.d`;",
        {"`we``ird.t`": [(None, 1, "x", 2)]},
        ("`we``ird.t`",),
    ),
    Applied(
        "rename a table to a hostile name",
        "ALTER TABLE cities RENAME TO `a``.b ${x'`;".replace("${x", "$x"),
        "ALTER TABLE `a``.b $x'` RENAME TO cities;",
        {"`a``.b $x'`": START["cities"]},
        ("cities",),
    ),
    Applied(
        "validated rows that fit",
        "ALTER TABLE goods_json MODIFY name STRING NOT NULL;",
        "ALTER TABLE goods_json MODIFY name STRING;",
        {"goods_json": [ANN, BOB]},
        ("goods",),
        ("--validate",),
    ),
    Applied(
        "an accepted change of the path",
        "ALTER TABLE adults SET ('path' = '${root}/data/moved');\n"
        "-- lint: accept location-changed: copied by hand\n"
        "ALTER TABLE people SET ('path' = '${root}/data/nowhere');",
        "-- lint: accept location-changed: copied by hand\n"
        "ALTER TABLE people SET ('path' = '${root}/data/people');\n"
        "ALTER TABLE adults SET ('path' = '${root}/data/adults');",
        {},
        ("people",),
    ),
)

FOLLOW = "rows-do-not-fit"
REFUSED: Final = (
    *(
        Refused(f"{change} [{form}]", f"ALTER TABLE goods_{form} {change};", FOLLOW, kind)
        for change, form, kind in (
            ("ADD more INT NOT NULL", "parquet", "required-field-added"),
            ("ADD more INT NOT NULL", "json", "required-field-added"),
            ("MODIFY id STRING", "orc", "type-changed"),
            ("MODIFY id STRING", "avro", "type-changed"),
            ("MODIFY id SMALLINT", "parquet", "type-changed"),
            ("MODIFY id SMALLINT", "csv", "range-narrowed"),
            ("MODIFY name INT", "json", "text-parsed"),
            ("MODIFY name INT", "headed", "text-parsed"),
            ("MODIFY price DECIMAL(4, 1)", "orc", "type-changed"),
            ("MODIFY item ROW<code STRING>", "csv", "position-changed"),
            ("MODIFY item STRING", "avro", "type-changed"),
            ("SET ('format' = 'orc')", "parquet", "format-changed"),
            ("SET ('format' = 'json')", "csv", "format-changed"),
            ("SET ('path' = '/elsewhere')", "orc", "location-changed"),
            ("SET ('csv.field-delimiter' = ';')", "csv", "syntax-changed"),
            ("SET ('csv.header' = 'true')", "csv", "syntax-changed"),
            ("RESET ('csv.header')", "headed", "syntax-changed"),
            ("SET ('csv.null-literal' = '-')", "csv", "syntax-changed"),
        )
    ),
    *(
        Refused(
            f"NOT NULL for a column that older files lack [{form}]",
            f"ALTER TABLE goods_{form} ADD more INT;\n"
            f"ALTER TABLE goods_{form} MODIFY more INT NOT NULL;",
            FOLLOW,
            "fill it by an UPDATE",
        )
        for form in FORMS
    ),
    Refused("DROP a partition column", "ALTER TABLE cities DROP city;", "object-in-use"),
    Refused("DROP a column of a primary key", "ALTER TABLE keyed DROP id;", "object-in-use"),
    Refused("DROP a column of a watermark", "ALTER TABLE events DROP happened;", "object-in-use"),
    Refused("DROP a column of a computed column", "ALTER TABLE events DROP id;", "object-in-use"),
    Refused(
        "DROP a column of a view",
        "ALTER TABLE goods_parquet DROP name;",
        "migration-breaks-view",
        "bob",
    ),
    Refused(
        "RENAME a column of a view",
        "ALTER TABLE goods_parquet RENAME name TO label;",
        "migration-breaks-view",
        "names",
    ),
    Refused(
        "widen a column of a view",
        "ALTER TABLE goods_parquet MODIFY id BIGINT;",
        "migration-breaks-view",
        "names",
    ),
    Refused(
        "RENAME a table of a view",
        "ALTER TABLE goods_parquet RENAME TO wares;",
        "migration-breaks-view",
        "names",
    ),
    Refused(
        "DROP a table of a view", "DROP TABLE goods_parquet;", "migration-breaks-view", "names"
    ),
    Refused("DROP a view of a view", "DROP VIEW names;", "migration-breaks-view", "bob"),
    Refused(
        "RENAME to a name that exists",
        "ALTER TABLE people RENAME name TO city;",
        "duplicate-column",
    ),
    Refused(
        "RENAME a table to one that exists", "ALTER TABLE people RENAME TO stock;", "table-exists"
    ),
    Refused("ADD a column that exists", "ALTER TABLE people ADD city INT;", "duplicate-column"),
    Refused(
        "the second table fails",
        "ALTER TABLE goods_csv ADD more INT;\nALTER TABLE goods_orc ADD name INT;",
        "duplicate-column",
    ),
    Refused(
        "a statement that does not parse",
        "ALTER TABLE goods_csv ADD more INT;\nALTER TABLE goods_orc ADD;",
        "syntax",
    ),
    Refused(
        "a variable without a value",
        "ALTER TABLE goods_csv SET ('sink.parallelism' = '${cores}');",
        "variable-not-found",
        "cores",
    ),
    Refused("a job", "SELECT * FROM people;", "invalid-migration-file"),
    Refused("a temporary table", "CREATE TEMPORARY TABLE x (a INT);", "invalid-migration-file"),
    Refused(
        "another catalog",
        "CREATE CATALOG other WITH ('type' = 'generic_in_memory');",
        "invalid-migration-file",
    ),
    Refused(
        "a rewrite that loses values",
        "-- rewrite: people\nALTER TABLE people MODIFY age INT;",
        "rows-do-not-fit",
        "old",
    ),
    Refused(
        "a rewrite of NULL to NOT NULL",
        "-- rewrite: people\nALTER TABLE people MODIFY city STRING NOT NULL;",
        "rows-do-not-fit",
    ),
    Refused(
        "an UPDATE that leaves NULL before NOT NULL",
        "ALTER TABLE people ADD note STRING;\n"
        "UPDATE people SET note = name WHERE people.id = (SELECT MAX(id) FROM people) + 1;\n"
        "ALTER TABLE people MODIFY note STRING NOT NULL;",
        "rows-do-not-fit",
        "leave NULL in 'note', in 3 rows",
    ),
    Refused(
        "validated rows that do not fit",
        "ALTER TABLE people MODIFY city STRING NOT NULL;",
        "rows-do-not-fit",
        "",
        ("--validate",),
    ),
    Refused(
        "a rewrite that breaks a view",
        "-- rewrite: goods_parquet\nALTER TABLE goods_parquet MODIFY id BIGINT;",
        "migration-breaks-view",
        "names",
    ),
    Refused(
        "a change that files do not follow, after a DELETE",
        "DELETE FROM goods_orc;\nALTER TABLE goods_orc MODIFY id STRING;",
        FOLLOW,
        "type-changed",
    ),
    Refused(
        "a missing table after an INSERT",
        "INSERT INTO adults SELECT id, name FROM people;\nALTER TABLE missing ADD x INT;",
        "table-not-found",
    ),
    Refused(
        "a rewrite without values for NOT NULL",
        "-- rewrite: people\nALTER TABLE people ADD x INT NOT NULL;",
        "rows-do-not-fit",
        "missing-value",
    ),
    Refused(
        "a table that does not record jobs",
        "CREATE TABLE hole (a INT) WITH ('connector' = 'blackhole');\nINSERT INTO hole VALUES (1);",
        "unsupported-ability",
    ),
    Refused(
        "a rewrite of another table",
        "-- rewrite: people\nALTER TABLE stock ADD x INT;",
        "invalid-migration-file",
    ),
    Refused("an UPDATE of another type", "UPDATE people SET id = name;", "not-assignable"),
    Refused(
        "an INSERT of too many columns",
        "INSERT INTO adults SELECT id, name, city FROM people;",
        "column-count-mismatch",
    ),
    Refused("an UPDATE of a view", "UPDATE names SET name = 'x';", "wrong-object-type"),
    Refused("an UPDATE of an unknown column", "UPDATE cities SET town = 'x';", "unknown-column"),
    Refused(
        "a dry run of a change that files do not follow",
        "ALTER TABLE goods_orc MODIFY id STRING;",
        FOLLOW,
        "",
        ("--dry-run",),
    ),
)
