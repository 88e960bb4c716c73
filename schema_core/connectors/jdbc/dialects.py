"""SQL dialects of the connector `jdbc`: quoting, types, drivers and statements of each database.

Types follow Flink's JDBC dialects (flink-connector-jdbc, "Data Type Mapping"). SQLite has none
there; its values have types of their own, so each is checked when it is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from schema_core.base.lazy import dataclass
from schema_core.errors import SchemaError, UnsupportedError, similar
from schema_core.mappings import stored_types
from schema_core.types import (
    MAX_LENGTH,
    ArrayType,
    BigIntType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LengthType,
    LocalZonedTimestampType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)
from schema_core.types.families import TypeRoot

#: The number of a row of a job, in the table that the job fills before its commit.
ORDINAL = "schema_core_row"
#: Whether a change removes its row (1) or adds it (0), in the same table.
REMOVED = "schema_core_removed"
#: The number of the column that the table cannot hold, or NULL.
CHECK = "schema_core_check"

STRINGS = (CharType, VarCharType)
TIMES = (DateType, TimeType, TimestampType, LocalZonedTimestampType)
#: The longest VARCHAR of PostgreSQL.
MAX_CHARACTERS = 10_485_760

#: Type -> column of PostgreSQL. A CHAR is not padded, as in Flink.
_PG_COLUMNS: Mapping[type[DataType], str] = {
    CharType: "varchar({length})", VarCharType: "varchar({length})", BooleanType: "boolean",
    VarBinaryType: "bytea", DecimalType: "numeric({precision}, {scale})", TinyIntType: "smallint",
    SmallIntType: "smallint", IntType: "integer", BigIntType: "bigint", FloatType: "real",
    DoubleType: "double precision", DateType: "date", TimeType: "time({precision})",
    TimestampType: "timestamp({precision})",
    LocalZonedTimestampType: "timestamp({precision}) with time zone",
}  # fmt: skip
#: Type -> column of SQLite, which determines how it converts numbers.
_SQLITE_COLUMNS: Mapping[type[DataType], str] = {
    CharType: "TEXT", VarCharType: "TEXT", BooleanType: "BOOLEAN", VarBinaryType: "BLOB",
    DecimalType: "DECIMAL({precision}, {scale})", TinyIntType: "TINYINT",
    SmallIntType: "SMALLINT", IntType: "INT", BigIntType: "BIGINT", DoubleType: "DOUBLE",
    DateType: "TEXT", TimeType: "TEXT", TimestampType: "TEXT",
}  # fmt: skip


_INTEGERS: tuple[type[DataType], ...] = (TinyIntType, SmallIntType, IntType, BigIntType)


@dataclass(frozen=True, slots=True)
class DatabaseColumn:
    """A column of the database as its driver describes it (``ResultSetMetaData``)."""

    name: str
    type_name: str
    jdbc_type: int
    precision: int
    scale: int
    is_nullable: bool = True


@dataclass(frozen=True, slots=True)
class Selected:
    """A column in the query that is sent to the database.

    With `as_string` the connector converts a string; `invalid` is a predicate of wrong values.
    """

    sql: str
    as_string: bool = False
    invalid: str | None = None


@dataclass(frozen=True, slots=True)
class Merge:
    """The parts of a statement that inserts rows or, with a key, updates existing ones.

    Names are quoted; `source` is a query of the new rows, one for each key.
    """

    table: str
    columns: Sequence[str]
    key: Sequence[str]
    source: str

    @property
    def others(self) -> list[str]:
        return [column for column in self.columns if column not in self.key]

    @property
    def insert(self) -> str:
        names = ", ".join(self.columns)
        return f"INSERT INTO {self.table} ({names}) {self.source}"


def on_conflict(merge: Merge) -> str:
    """Return the upsert of PostgreSQL and SQLite."""
    sets = ", ".join(f"{other} = EXCLUDED.{other}" for other in merge.others)
    action = f"UPDATE SET {sets}" if sets else "NOTHING"
    return f"{merge.insert} ON CONFLICT ({', '.join(merge.key)}) DO {action}"


def on_duplicate_key(merge: Merge) -> str:
    """Return the upsert of MySQL."""
    sets = ", ".join(f"{other} = VALUES({other})" for other in merge.others or merge.key)
    return f"{merge.insert} ON DUPLICATE KEY UPDATE {sets}"


def merge_into(merge: Merge) -> str:
    """Return the upsert of standard SQL, without the semicolon that SQL Server needs."""
    matches = " AND ".join(f"t.{column} = s.{column}" for column in merge.key)
    sets = ", ".join(f"t.{other} = s.{other}" for other in merge.others)
    update = f" WHEN MATCHED THEN UPDATE SET {sets}" if sets else ""
    names, values = ", ".join(merge.columns), ", ".join(f"s.{column}" for column in merge.columns)
    return (
        f"MERGE INTO {merge.table} t USING ({merge.source}) s ON ({matches}){update}"
        f" WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({values})"
    )


def _matches(merge: Merge, table: str) -> str:
    return " AND ".join(f"s.{column} = {table}.{column}" for column in merge.key)


def update_from(merge: Merge) -> str:
    """Return the update by key of PostgreSQL, SQLite and SQL Server."""
    sets = ", ".join(f"{other} = s.{other}" for other in merge.others)
    return (
        f"UPDATE {merge.table} SET {sets} FROM ({merge.source}) s"
        f" WHERE {_matches(merge, merge.table)}"
    )


def update_join(merge: Merge) -> str:
    """Return the update by key of MySQL."""
    sets = ", ".join(f"t.{other} = s.{other}" for other in merge.others)
    return f"UPDATE {merge.table} t JOIN ({merge.source}) s ON {_matches(merge, 't')} SET {sets}"


def update_by_merge(merge: Merge) -> str:
    """Return the update by key of standard SQL."""
    sets = ", ".join(f"t.{other} = s.{other}" for other in merge.others)
    return (
        f"MERGE INTO {merge.table} t USING ({merge.source}) s ON ({_matches(merge, 't')})"
        f" WHEN MATCHED THEN UPDATE SET {sets}"
    )


def delete_in(merge: Merge) -> str:
    """Return the deletion by key of databases that compare rows of several columns."""
    key = ", ".join(merge.key)
    return f"DELETE FROM {merge.table} WHERE ({key}) IN (SELECT {key} FROM ({merge.source}) s)"


def delete_exists(merge: Merge) -> str:
    """Return the deletion by key of standard SQL."""
    matches = _matches(merge, merge.table)
    return (
        f"DELETE FROM {merge.table} WHERE EXISTS (SELECT 1 FROM ({merge.source}) s WHERE {matches})"
    )


@dataclass(frozen=True, slots=True)
class JdbcDialect:
    """A dialect of SQL.

    Attributes:
        prefixes: How its URLs begin.
        coordinates: The Maven coordinates of the driver.
        rules: The types that it stores, and as which others their values are read.
        fold: The case of unquoted identifiers.
        long: The type of 64-bit integers in casts.
        count: The function that counts rows in 64 bits.
        wide: The type in which a sum of 64-bit integers is exact, None if such sums are not sent.
        limit: The clause that limits the rows of a query.
        text: The type in which strings and datetimes are staged, or None for their own.
        transactional_ddl: Whether CREATE and DROP TABLE are part of a transaction.
        column_types: The types of new columns, None if the connector creates no tables.
        missing: The SQLSTATE or a part of the message if a table does not exist.
        taken: The same if it exists.
        parallel: Whether several tasks can write at the same time.
        typed: Whether columns have types, which are compared with the declared ones.
        update, delete: The statements that change rows by the key.
        keys: The types of columns of which a comparison with a constant finds at least the rows
            that are equal for Flink.
        literals: The types of constants that DELETE and UPDATE send to the database: the dialect
            writes and compares them as Flink does.
        by_bytes: The clause after a string by which it is compared by its bytes, whatever the
            collation of its column is. Without it strings are compared by Spark.
        nulls_order: Whether ORDER BY may have the place of NULLs.
        stores_nan: Whether a column can store NaN, or the database refuses it by itself.
    """

    name: str
    prefixes: tuple[str, ...]
    driver: str
    coordinates: str
    rules: stored_types.RuleSet = stored_types.JDBC
    quotes: str = '""'
    fold: Callable[[str], str] = str
    long: str = "BIGINT"
    count: str = "COUNT"
    wide: str | None = None
    upsert: Callable[[Merge], str] = merge_into
    update: Callable[[Merge], str] = update_by_merge
    delete: Callable[[Merge], str] = delete_exists
    keys: tuple[type[DataType], ...] = _INTEGERS
    literals: tuple[type[DataType], ...] = _INTEGERS
    by_bytes: str = ""
    select: Callable[[DatabaseColumn, DataType, str], Selected] = lambda _, __, name: Selected(name)
    limit: str = "LIMIT {n}"
    text: str | None = None
    create: str = "CREATE TABLE {table} AS {query}"
    transactional_ddl: bool = True
    parallel: bool = True
    typed: bool = True
    stores_nan: bool = True
    nulls_order: bool = False
    column_types: Mapping[type[DataType], str] | None = None
    missing: str = "42P01"
    taken: str = "42P07"

    def quote(self, name: str) -> str:
        """Return an identifier in quotes.

        >>> POSTGRESQL.quote('a"b'), MYSQL.quote("a`b")
        ('"a""b"', '`a``b`')

        Raises:
            SchemaError: with code `name-not-supported` for a name with NUL.
        """
        start, end = self.quotes[0], self.quotes[1]
        if "\0" in name:
            raise SchemaError("a name contains NUL", code="name-not-supported")
        return f"{start}{name.replace(end, end * 2)}{end}"

    def path(self, text: str) -> tuple[tuple[str, bool], ...]:
        """Parse the option ``table-name`` into names, each with whether it was quoted.

        Raises:
            SchemaError: with code `invalid-option-value`.

        >>> POSTGRESQL.path('public."my.table"')
        (('public', False), ('my.table', True))
        """
        start, end = map(re.escape, self.quotes)
        name = rf"{start}(?P<quoted>(?:[^{end}]|{end}{end})+){end}|(?P<plain>[^.{start}{end}]+)"
        parts: list[tuple[str, bool]] = []
        position = 0
        last = self.quotes[1]
        while match := re.compile(rf"(?:{name})(\.|\Z)").match(text, position):
            quoted = match["quoted"]
            parts.append(
                (match["plain"], False)
                if quoted is None
                else (quoted.replace(last * 2, last), True)
            )
            position = match.end()
            if position == len(text) and not match[0].endswith("."):
                return tuple(parts)
        raise SchemaError(
            f"expected the name of a table, such as t or s.t, got {text!r}",
            code="invalid-option-value",
            hint=f"write names with special characters as {self.quote('a.b')}",
        )

    def column_type(self, type_: DataType) -> str:
        """Return the type of a column of a new table, without NOT NULL.

        >>> POSTGRESQL.column_type(VarCharType(5)), POSTGRESQL.column_type(TimestampType(3))
        ('varchar(5)', 'timestamp(3)')
        """
        if isinstance(type_, ArrayType):
            return f"{self.column_type(type_.element_type)}[]"
        if isinstance(type_, LengthType) and type_.length > MAX_CHARACTERS:
            type_ = VarCharType(MAX_LENGTH) if isinstance(type_, STRINGS) else type_
        # the caller has checked that the connector creates tables
        pattern = cast("Mapping[type[DataType], str]", self.column_types)[type(type_)]
        if isinstance(type_, VarCharType) and type_.length == MAX_LENGTH and self.text:
            pattern = self.text
        return pattern.format(
            **{key: getattr(type_, key, 0) for key in ("length", "precision", "scale")}
        )

    def check_type(self, type_: DataType, *, element: bool = False) -> None:
        """Refuse a type that the dialect does not have.

        Raises:
            UnsupportedError: with code `type-not-supported`.
        """
        rules = self.rules
        if isinstance(type_, ArrayType) and rules.elements and not element:
            self.check_type(type_.element_type, element=True)
            if type_.element_type.root in rules.elements:
                return
        elif rules.physical_type(type_) is not None:
            return
        most = rules.precisions.get(type_.root) if type_.root in rules.physical else None
        names = sorted(root.value.replace("_", " ") for root in rules.physical)
        raise UnsupportedError(
            f"{self.name} has no type for {type_.as_summary_string()}",
            code="type-not-supported",
            hint=f"supported types: {', '.join(names)}"
            if most is None
            else f"declare a precision of at most {most}",
        )


# --- PostgreSQL ----------------------------------------------------------------------------------

#: Types of PostgreSQL that compare as strings do.
_PG_STRINGS = frozenset({"text", "varchar", "name"})


def type_name(dialect: JdbcDialect, name: str) -> str:
    """Return a type as SQL: drivers do not quote the names of users' types.

    >>> type_name(POSTGRESQL, "uuid"), type_name(POSTGRESQL, "my mood")
    ('uuid', '"my mood"')
    """
    plain = re.fullmatch(r'[a-z_][a-z0-9_]*|"(?:[^"]|"")*"(?:\."(?:[^"]|"")*")?', name)
    return name if plain else dialect.quote(name)


def _select_postgresql(column: DatabaseColumn, type_: DataType, name: str) -> Selected:
    match type_:
        case CharType() | VarCharType() if column.type_name == "bpchar":
            return Selected(f"textin(bpcharout({name}))")  # a cast would remove blanks at the end
        case CharType() | VarCharType() if column.type_name not in _PG_STRINGS:
            return Selected(f"CAST({name} AS text)")
        case DateType() | TimestampType() | LocalZonedTimestampType():
            return Selected(name, invalid=f"NOT isfinite({name})")
        case ArrayType(element_type=element) if isinstance(element, TIMES):
            return Selected(f"CAST({name} AS text[])", as_string=True)
        case DecimalType() if not _fits(column, type_):
            whole = 10 ** (type_.precision - type_.scale)
            invalid = f"abs({name}) >= {whole} OR round({name}, {type_.scale}) <> {name}"
            return Selected(name, invalid=invalid)
        case _:
            return Selected(name)


def _fits(column: DatabaseColumn, type_: DecimalType) -> bool:
    if not 0 < column.precision <= type_.precision:
        return False
    whole = column.precision - column.scale
    return column.scale <= type_.scale and whole <= type_.precision - type_.scale


# --- SQLite --------------------------------------------------------------------------------------


def _select_sqlite(column: DatabaseColumn, type_: DataType, name: str) -> Selected:
    """Select a value with the check that it is stored as one of the type."""
    classes = ", ".join(f"'{name}'" for name in sorted(stored_types.sqlite_storage_classes(type_)))
    valid = f"typeof({name}) IN ({classes})"
    if isinstance(type_, BooleanType):
        valid += f" AND {name} IN (0, 1)"
    elif (bound := stored_types.INTEGERS.get(type_.root, 2**63)) < 2**63:
        valid += f" AND {name} BETWEEN {-bound} AND {bound - 1}"
    elif isinstance(type_, DecimalType):
        whole = 10 ** (type_.precision - type_.scale)
        valid += f" AND abs({name}) < {whole} AND round({name}, {type_.scale}) = {name}"
    invalid = f"{name} IS NOT NULL AND NOT ({valid})"
    # the driver cannot read a DECIMAL that is NULL; a text has all of its 15 digits
    as_string = isinstance(type_, (*TIMES, DecimalType))
    return Selected(name, as_string=as_string, invalid=invalid)


# --- the dialects --------------------------------------------------------------------------------

POSTGRESQL = JdbcDialect(
    "PostgreSQL",
    ("jdbc:postgresql:",),
    "org.postgresql.Driver",
    "org.postgresql:postgresql:42.7.7",
    rules=stored_types.POSTGRESQL,
    fold=str.lower,
    upsert=on_conflict,
    update=update_from,
    delete=delete_in,
    keys=(*_INTEGERS, BooleanType, DateType, VarCharType),
    literals=(*_INTEGERS, BooleanType, DateType, *STRINGS),
    by_bytes=' COLLATE "C"',
    nulls_order=True,
    wide="numeric",
    select=_select_postgresql,
    text="text",
    column_types=_PG_COLUMNS,
)
SQLITE = JdbcDialect(
    "SQLite",
    ("jdbc:sqlite:",),
    "org.sqlite.JDBC",
    "org.xerial:sqlite-jdbc:3.49.1.0",
    rules=stored_types.SQLITE,
    upsert=on_conflict,
    update=update_from,
    delete=delete_in,
    keys=(*_INTEGERS, VarCharType),
    select=_select_sqlite,
    text="TEXT",
    parallel=False,
    typed=False,
    stores_nan=False,  # NaN becomes NULL
    nulls_order=True,
    column_types=_SQLITE_COLUMNS,
    missing="no such table",
    taken="already exists",
)
MYSQL = JdbcDialect(
    "MySQL",
    ("jdbc:mysql:",),
    "com.mysql.cj.jdbc.Driver",
    "com.mysql:mysql-connector-j:9.3.0",
    quotes="``",
    long="SIGNED",
    upsert=on_duplicate_key,
    update=update_join,
    delete=delete_in,
    transactional_ddl=False,
)
ORACLE = JdbcDialect(
    "Oracle",
    ("jdbc:oracle:",),
    "oracle.jdbc.OracleDriver",
    "com.oracle.database.jdbc:ojdbc11:23.8.0.25.04",
    rules=stored_types.ORACLE,
    fold=str.upper,
    long="NUMBER(19)",
    transactional_ddl=False,
    limit="FETCH FIRST {n} ROWS ONLY",
    nulls_order=True,
)
SQL_SERVER = JdbcDialect(
    "SQL Server",
    ("jdbc:sqlserver:",),
    "com.microsoft.sqlserver.jdbc.SQLServerDriver",
    "com.microsoft.sqlserver:mssql-jdbc:12.10.0.jre11",
    quotes="[]",
    upsert=lambda merge: f"{merge_into(merge)};",
    update=update_from,
    count="COUNT_BIG",
    limit="ORDER BY (SELECT NULL) OFFSET 0 ROWS FETCH FIRST {n} ROWS ONLY",
    create="SELECT * INTO {table} FROM ({query}) q",
)
DB2 = JdbcDialect(
    "Db2",
    ("jdbc:db2:",),
    "com.ibm.db2.jcc.DB2Driver",
    "com.ibm.db2:jcc:12.1.0.0",
    rules=stored_types.DB2,
    fold=str.upper,
    limit="FETCH FIRST {n} ROWS ONLY",
    create="CREATE TABLE {table} AS ({query}) WITH DATA",
)

DIALECTS = (POSTGRESQL, SQLITE, MYSQL, ORACLE, SQL_SERVER, DB2)


def dialect_of(url: str) -> JdbcDialect:
    """Return the dialect of a JDBC URL.

    Raises:
        UnsupportedError: with code `invalid-option-value`.
    """
    for dialect in DIALECTS:
        if url.lower().startswith(dialect.prefixes):
            return dialect
    prefixes = [prefix for dialect in DIALECTS for prefix in dialect.prefixes]
    start = ":".join(url.split(":", 2)[:2]) if url.count(":") > 1 else ""
    raise UnsupportedError(
        f"there is no dialect for the URL of option 'url'{start and f', which begins {start!r}'}",
        code="invalid-option-value",
        hint=similar(f"{start}:", prefixes) or f"begin the URL with one of {', '.join(prefixes)}",
    )


# --- types of columns ----------------------------------------------------------------------------

#: Code of ``java.sql.Types``, or of a driver -> the type of its values, except for decimals.
_TYPES: Mapping[int, DataType] = {
    jdbc_type: type_
    for type_, jdbc_types in (
        (BooleanType(), (-7, 16)),
        (TinyIntType(), (-6,)),
        (SmallIntType(), (5,)),
        (IntType(), (4,)),
        (BigIntType(), (-5,)),
        (FloatType(), (7,)),
        (DoubleType(), (6, 8, 100, 101)),
        (VarCharType(MAX_LENGTH),
         (1, 12, -1, -15, -9, -16, 2005, 2011, 1111, 2009, -8, 2012, 2000)),
        (VarBinaryType(MAX_LENGTH), (-2, -3, -4, 2004)),
        (DateType(), (91,)),
        (TimeType(6), (92,)),
        (TimestampType(6), (93,)),
        (LocalZonedTimestampType(6), (2014, -101, -102, -155)),
    )
    for jdbc_type in jdbc_types
}  # fmt: skip
_DECIMALS = frozenset({2, 3})
_ARRAY = 2003
#: The digits after the point of a decimal without parameters, which has any number of them.
FREE_SCALE = 10
#: Types of PostgreSQL with the code of another type.
_PG_CODES = {"timestamptz": 2014, "timetz": 2013, "_timestamptz": 0, "_timetz": 0, "money": 0}
#: Array of PostgreSQL -> the code of its elements.
_PG_ELEMENTS = {
    "_bool": -7, "_int2": 5, "_int4": 4, "_int8": -5, "_float4": 7, "_float8": 8, "_numeric": 2,
    "_text": 12, "_varchar": 12, "_bytea": -2, "_date": 91, "_time": 92, "_timestamp": 93,
}  # fmt: skip


def type_of_column(dialect: JdbcDialect, column: DatabaseColumn) -> DataType | None:
    """Return the type of the values of a column; None if no type has them.

    Decimals with more digits than the connector reads have as many as that: each value is checked.
    """
    jdbc_type, most = column.jdbc_type, dialect.rules.precisions[TypeRoot.DECIMAL]
    if dialect is POSTGRESQL:
        jdbc_type = _PG_CODES.get(column.type_name, jdbc_type)
    if jdbc_type != _ARRAY:
        return _scalar_type(jdbc_type, column, most)
    jdbc_type = _PG_ELEMENTS.get(column.type_name, 0)
    if jdbc_type in _DECIMALS and not 0 < column.precision <= most:
        return None  # elements are not checked
    element = _scalar_type(jdbc_type, column, most)
    return element and ArrayType(element)


def _scalar_type(jdbc_type: int, column: DatabaseColumn, most: int) -> DataType | None:
    if jdbc_type not in _DECIMALS:
        return _TYPES.get(jdbc_type)
    if column.precision <= 0 or not 0 <= column.scale <= most:
        return DecimalType(most, FREE_SCALE)
    return DecimalType(min(max(column.precision, column.scale), most), column.scale)


def accepts(dialect: JdbcDialect, column: DatabaseColumn, type_: DataType) -> bool:
    """Return whether the values of a column can be read as a type, by the rules of the database.

    >>> big = DatabaseColumn("a", "int8", -5, 19, 0)
    >>> accepts(POSTGRESQL, big, IntType()), accepts(POSTGRESQL, big, DoubleType())
    (True, False)
    """
    if not dialect.typed:  # each value has a type of its own
        return True
    stored = type_of_column(dialect, column)
    if stored is None:
        return False
    return dialect.rules.reading(stored, type_.nullable()) is not stored_types.Reading.NOT


def rounds(dialect: JdbcDialect, column: DatabaseColumn, type_: DataType) -> bool:
    """Return whether the database would round values of a type when they are stored in a column."""
    if not dialect.typed:
        return False
    match type_:
        case DecimalType():
            return column.precision > 0 and column.scale < type_.scale
        case TimestampType() | LocalZonedTimestampType() | TimeType():
            return dialect is POSTGRESQL and column.scale < type_.precision
        case _:
            return False
