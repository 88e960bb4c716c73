"""The types of other SQL engines, as rows that are used for reading and writing.

``{p}`` and similar placeholders match the same number on both sides, ``{any}`` matches anything.
The first matching row applies, in either direction, so exact rows precede rows that only hold the
same values.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from schema_core.base.lazy import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class TypeRow:
    """A type of an engine and the corresponding type of Flink.

    `foreign` may contain several spellings, separated by ``|``; the first is written. `loss` is the
    name of a `LossKind`. `most` are the maximum values of the placeholders; ``whole`` is the number
    of digits before the decimal point.
    """

    foreign: str
    flink: str
    loss: str | None = None
    reads: bool = True
    writes: bool = True
    most: Mapping[str, int] = field(default_factory=dict)


def both(foreign: str, flink: str, **most: int) -> TypeRow:
    """Return a row that is exact in both directions."""
    return TypeRow(foreign, flink, most=most)


def read(foreign: str, flink: str, loss: str | None = None, **most: int) -> TypeRow:
    """Return a row that is only read."""
    return TypeRow(foreign, flink, loss, writes=False, most=most)


def write(foreign: str, flink: str, loss: str | None = None, **most: int) -> TypeRow:
    """Return a row that is only written."""
    return TypeRow(foreign, flink, loss, reads=False, most=most)


def same(*names: str) -> tuple[TypeRow, ...]:
    """Return rows for types with the same name as Flink's; further spellings follow ``|``."""
    return tuple(both(name.lower(), name.partition(" | ")[0]) for name in names)


def as_text(foreign: str, *names: str) -> tuple[TypeRow, ...]:
    """Return rows for types whose values are read as their string form."""
    return tuple(read(name, foreign, "type") for name in names)


def documents(foreign: str) -> tuple[TypeRow, ...]:
    """Return rows for nested types, except arrays, that are written as one document type."""
    patterns = ("MAP<{any}>", "ROW<{any}>", "VARIANT")
    return tuple(write(foreign, pattern, "layout") for pattern in patterns)


def collections(foreign: str) -> tuple[TypeRow, ...]:
    """Return rows for arrays and other nested types that are written as one document type."""
    return (write(foreign, "ARRAY<{any}>", "layout"), *documents(foreign))


def opaque(foreign: str) -> tuple[TypeRow, ...]:
    """Return rows for types that only Flink has, whose values are written as binary strings."""
    return tuple(write(foreign, pattern, "layout") for pattern in ("RAW({any})", "BITMAP"))


def strings(plain: str, loss: str = "length") -> tuple[TypeRow, ...]:
    """Return rows for character strings with a length, written without it."""
    return tuple(write(plain, pattern, loss) for pattern in ("CHAR({n})", "VARCHAR({n})"))


def byte_strings(plain: str) -> tuple[TypeRow, ...]:
    """Return rows for binary strings with a length, written without it."""
    return tuple(write(plain, pattern, "length") for pattern in ("BINARY({n})", "VARBINARY({n})"))


def written_as(foreign: str, *patterns: str) -> tuple[TypeRow, ...]:
    """Return rows for types that the engine does not have, written as another."""
    return tuple(write(foreign, pattern, "type") for pattern in patterns)


def fixed_digits(foreign: str, flink: str, digits: int = 6) -> tuple[TypeRow, ...]:
    """Return rows for a type with ``{p}`` digits, written as one with `digits`."""
    return write(foreign, flink, "precision", p=digits), write(foreign, flink, "digits")


def decimals(names: str, default: str | None = None, **most: int) -> tuple[TypeRow, ...]:
    """Return rows for decimals of these names; `default` is the type without parameters."""
    exact, whole = (
        " | ".join(f"{name}({parameters})" for name in names.split())
        for parameters in ("{p}, {s}", "{p}")
    )
    rows = (both(exact, "DECIMAL({p}, {s})", **most), read(whole, "DECIMAL({p}, 0)"))
    return rows if default is None else (*rows, read(" | ".join(names.split()), default))


def any_scale(*names: str) -> tuple[TypeRow, ...]:
    """Return rows for decimals with a negative scale, or a scale that exceeds their digits."""
    negative, small = (
        " | ".join(f"{name}({parameters})" for name in names)
        for parameters in ("{p}, -{z}", "{p}, {s}")
    )
    return (
        read(negative, "DECIMAL({whole}, 0)", "type", whole=38),
        read(negative, "DECIMAL(38, 0)", "range"),
        read(small, "DECIMAL({s}, {s})", "type", s=38, whole=0),
    )


def sized_spellings(*names: str) -> str:
    """Return spellings with and without a number.

    >>> sized_spellings("int", "int4")
    'int | int({n}) | int4 | int4({n})'
    """
    return " | ".join(f"{name} | {name}({{n}})" for name in names)


def unsigned_rows(*rows: TypeRow) -> tuple[TypeRow, ...]:
    """Return rows for numbers that are not negative, read as the types of all numbers."""
    return tuple(
        read(
            " | ".join(f"{name} unsigned" for name in row.foreign.split(" | ")),
            row.flink,
            row.loss or "type",
            **row.most,
        )
        for row in rows
    )


#: The interval fields of engines that have all of them.
YEAR_MONTH = ("YEAR", "MONTH", "YEAR TO MONTH")
DAY_TIME = (
    "DAY", "DAY TO HOUR", "DAY TO MINUTE", "DAY TO SECOND", "HOUR", "HOUR TO MINUTE",
    "HOUR TO SECOND", "MINUTE", "MINUTE TO SECOND", "SECOND",
)  # fmt: skip


def intervals(*resolutions: str) -> tuple[TypeRow, ...]:
    """Return rows for intervals of these fields; their precision is Flink's maximum."""
    return tuple(row for resolution in resolutions for row in _interval(resolution))


def _interval(resolution: str) -> Iterator[TypeRow]:
    foreign = f"interval {resolution.lower()}"
    first, *last = resolution.split(" TO ")
    widest = {"YEAR": "YEAR(4)", "DAY": "DAY(6)"}.get(first, first)
    yield both(foreign, f"INTERVAL {' TO '.join((widest, *last))}")
    leading = f"{first}({{n}})" if widest != first else first
    text = f"INTERVAL {' TO '.join((leading, *last))}"
    if resolution.endswith("SECOND"):
        yield from fixed_digits(foreign, f"{text}({{p}})")
    elif leading != first:
        yield write(foreign, text, "precision")


def year_month(foreign: str) -> tuple[TypeRow, ...]:
    """Return rows for all year-month intervals, written as one type."""
    patterns = ("INTERVAL YEAR{any}", "INTERVAL MONTH")
    return tuple(write(foreign, pattern, "precision") for pattern in patterns)


def day_time(foreign: str, digits: int = 6) -> tuple[TypeRow, ...]:
    """Return rows for day-time intervals, written as one type with `digits` fractional digits."""
    return (
        *fixed_digits(foreign, "INTERVAL {any}SECOND({p})", digits),
        write(foreign, "INTERVAL {any}", "type"),
    )


#: Rows that PostgreSQL and Redshift share.
POSTGRES_FAMILY: tuple[TypeRow, ...] = (
    both("boolean | bool",           "BOOLEAN"),
    both("smallint | int2",          "SMALLINT"),
    both("integer | int | int4",     "INT"),
    both("bigint | int8",            "BIGINT"),
    write("smallint",                "TINYINT",            "type"),
    both("real | float4",            "FLOAT"),
    both("double precision | float8 | float", "DOUBLE"),
    read("float({n})",               "FLOAT",              n=24),
    read("float({n})",               "DOUBLE",             n=53),
    *decimals("numeric decimal dec"),
    both("date",                     "DATE"),
    both("timestamp({p}) | timestamp({p}) without time zone", "TIMESTAMP({p})", p=6),
    read("timestamp | timestamp without time zone", "TIMESTAMP(6)"),
    write("timestamp(6)",            "TIMESTAMP({p})",     "digits"),
    both("timestamp({p}) with time zone | timestamptz({p})", "TIMESTAMP_LTZ({p})", p=6),
    read("timestamp with time zone | timestamptz", "TIMESTAMP_LTZ(6)"),
    write("timestamp(6) with time zone", "TIMESTAMP_LTZ({p})", "digits"),
    write("timestamp(6) with time zone", "TIMESTAMP({p}) WITH TIME ZONE", "zone"),
    both("time({p}) | time({p}) without time zone", "TIME({p})", p=6),
    read("time | time without time zone", "TIME(6)"),
    write("time(6)",                 "TIME({p})",          "digits"),
    read("time({p}) with time zone | timetz({p})", "TIME({p})", "zone"),
    read("time with time zone | timetz", "TIME(6)",        "zone"),
    both("interval year to month",   "INTERVAL YEAR(4) TO MONTH"),
    both("interval day to second({p})", "INTERVAL DAY(6) TO SECOND({p})", p=6),
    read("interval day to second",   "INTERVAL DAY(6) TO SECOND(6)"),
    write("interval day to second({p})", "INTERVAL DAY({n}) TO SECOND({p})", "precision", p=6),
    *year_month("interval year to month"),
    *day_time("interval day to second(6)"),
)  # fmt: skip

#: Types of extensions of PostgreSQL, which may be in any schema: pg_dump always writes the schema.
POSTGRES_EXTENSIONS = frozenset(
    {
        "citext", "hstore", "ltree", "lquery", "ltxtquery", "cube", "seg", "lo", "vector",
        "halfvec", "sparsevec", "geometry", "geography", "raster", "box2d", "box3d", "isbn",
        "isbn13", "issn", "issn13", "ismn", "ismn13", "ean13", "upc", "topogeometry", "semver",
        "ulid",
    }
)  # fmt: skip

#: PostgreSQL, chapter 8, "Data Types".
POSTGRES: tuple[TypeRow, ...] = (
    *POSTGRES_FAMILY,
    read("enum({any})",              "STRING",             "member"),
    read("smallserial | serial2",    "SMALLINT NOT NULL",  "member"),
    read("serial | serial4",         "INT NOT NULL",       "member"),
    read("bigserial | serial8",      "BIGINT NOT NULL",    "member"),
    *any_scale("numeric", "decimal", "dec"),
    read("numeric({any}) | decimal({any}) | dec({any}) | numeric | decimal | dec",
         "DECIMAL(38, 18)",          "rounded"),
    read("money",                    "DECIMAL(19, 2)",     "type"),
    both("text",                     "STRING"),
    read("varchar | character varying | bpchar", "STRING"),
    both("varchar({n}) | character varying({n})", "VARCHAR({n})", n=10485760),
    both("char({n}) | character({n}) | bpchar({n})", "CHAR({n})", n=10485760),
    read("char | character",         "CHAR(1)"),
    *strings("text"),
    read("citext",                   "STRING",             "collation"),
    read("lo",                       "BIGINT",             "type"),
    read("raster",                   "BYTES",              "layout"),
    *as_text("STRING", "ltree", "lquery", "ltxtquery", "cube", "seg", "box2d", "box3d", "sparsevec",
             "isbn", "isbn13", "issn", "issn13", "ismn", "ismn13", "ean13", "upc"),
    read("name",                     "VARCHAR(63)",        "type"),
    both("bytea",                    "BYTES"),
    *byte_strings("bytea"),
    *opaque("bytea"),
    *as_text("CHAR(36)", "uuid"),
    *as_text("STRING", "interval({n})", "interval second({n})",
             *(f"interval {resolution.lower()}" for resolution in (*YEAR_MONTH, *DAY_TIME)
               if resolution not in {"YEAR TO MONTH", "DAY TO SECOND"})),
    *as_text("STRING", "interval", "json", "jsonb", "xml", "inet", "cidr", "macaddr", "macaddr8",
             "tsvector", "tsquery", "point", "line", "lseg", "box", "path", "polygon", "circle",
             "bit", "bit({n})", "bit varying", "bit varying({n})", "varbit", "varbit({n})",
             "pg_lsn", "jsonpath", "int4range", "int8range", "numrange", "tsrange",
             "tstzrange", "daterange", "int4multirange", "int8multirange", "nummultirange",
             "tsmultirange", "tstzmultirange", "datemultirange", "regclass", "regproc", "regtype",
             "regnamespace", "regrole", "regoperator", "regoper", "regprocedure", "regconfig",
             "regdictionary", "regcollation", "tid", "pg_snapshot", "txid_snapshot", "refcursor",
             "cstring", "aclitem", "int2vector", "oidvector", "pg_node_tree", "gtsvector",
             "semver", "ulid"),
    read("oid | xid | cid",          "BIGINT",             "type"),
    read("xid8",                     "DECIMAL(20, 0)",     "type"),
    read("nchar({n}) | national char({n}) | national character({n})", "CHAR({n})"),
    read("national character varying({n}) | national char varying({n}) | nchar varying({n})"
         " | char varying({n})", "VARCHAR({n})"),
    read("sql_identifier",           "VARCHAR(63)",        "type"),
    read("cardinal_number",          "INT",                "type"),
    read("character_data",           "STRING",             "type"),
    read("yes_or_no",                "VARCHAR(3)",         "type"),
    read("time_stamp",               "TIMESTAMP_LTZ(2)",   "type"),
    read("topogeometry",             "BYTES",              "layout"),
    read("hstore",                   "MAP<STRING NOT NULL, STRING>", "type"),
    read("vector({n}) | halfvec({n})", "ARRAY<FLOAT NOT NULL>", "length"),
    read("geometry{any} | geography{any}", "BYTES",        "layout"),
    *documents("jsonb"),
)  # fmt: skip

#: Amazon Redshift, "Data types": lengths count bytes.
REDSHIFT: tuple[TypeRow, ...] = (
    *POSTGRES_FAMILY,
    read("decimal | numeric",        "DECIMAL(18, 0)"),
    read("varchar({n}) | character varying({n}) | nvarchar({n})", "VARCHAR({n})"),
    read("char({n}) | character({n}) | nchar({n})", "CHAR({n})"),
    read("varchar(max)",             "VARCHAR(65535)"),
    read("varchar | character varying | nvarchar | text", "VARCHAR(256)"),
    read("char | character | nchar", "CHAR(1)"),
    read("bpchar",                   "CHAR(256)"),
    read("char(max)",                "VARCHAR(4096)",      "type"),
    read("string",                   "STRING"),
    read("oid",                      "BIGINT",             "type"),
    read("name",                     "VARCHAR(63)",        "type"),
    write("char({n})",               "CHAR({n})",          "range", n=4096),
    write("varchar({n})",            "VARCHAR({n})",       "range", n=65535),
    write("varchar(65535)",          "CHAR({n})",          "range"),
    write("varchar(65535)",          "VARCHAR({n})",       "range"),
    both("varbyte({n}) | varbinary({n}) | binary varying({n})", "VARBINARY({n})", n=16777216),
    read("varbyte | varbinary",      "VARBINARY(64000)"),
    write("varbyte({n})",            "BINARY({n})",        "type", n=16777216),
    write("varbyte(16777216)",       "VARBINARY({n})",     "range"),
    write("varbyte(16777216)",       "BINARY({n})",        "range"),
    *opaque("varbyte(16777216)"),
    both("super",                    "VARIANT"),
    *collections("super"),
    read("geometry | geography | hllsketch", "BYTES",      "layout"),
)  # fmt: skip

#: MySQL's approximate and exact numbers, which may be UNSIGNED.
MYSQL_NUMBERS: tuple[TypeRow, ...] = (
    both("float | float({n}) | float4 | float4({n})", "FLOAT", n=24),
    read("float({n}) | float4({n})", "DOUBLE",             n=53),
    read("float({p}, {s}) | float4({p}, {s})", "FLOAT",    "length"),
    both("double | double precision | real | float8", "DOUBLE"),
    read("double({p}, {s}) | double precision({p}, {s}) | real({p}, {s}) | float8({p}, {s})",
         "DOUBLE",                   "length"),
    *decimals("decimal dec numeric fixed", "DECIMAL(10, 0)", s=30),
    read("decimal({p}, {s}) | dec({p}, {s}) | numeric({p}, {s}) | fixed({p}, {s})",
         "DECIMAL(38, {s})",         "range"),
    read("decimal({p}) | dec({p}) | numeric({p}) | fixed({p})", "DECIMAL(38, 0)", "range"),
)  # fmt: skip

#: MySQL, chapter 11, "Data Types".
MYSQL: tuple[TypeRow, ...] = (
    both("boolean | bool | tinyint(1)", "BOOLEAN"),
    both(sized_spellings("tinyint", "int1"),   "TINYINT"),
    both(sized_spellings("smallint", "int2"),  "SMALLINT"),
    read(sized_spellings("mediumint", "middleint", "int3"), "INT",   "type"),
    both(sized_spellings("int", "integer", "int4"), "INT"),
    both(sized_spellings("bigint", "int8"),    "BIGINT"),
    *unsigned_rows(
        read(sized_spellings("tinyint", "int1"), "SMALLINT"),
        read(sized_spellings("smallint", "int2"), "INT"),
        read(sized_spellings("mediumint", "middleint", "int3"), "INT"),
        read(sized_spellings("int", "integer", "int4"), "BIGINT"),
        read(sized_spellings("bigint", "int8"), "DECIMAL(20, 0)"),
        *MYSQL_NUMBERS,
    ),
    read("serial",                   "DECIMAL(20, 0) NOT NULL", "member"),
    *MYSQL_NUMBERS,
    write("decimal({p}, 30)",        "DECIMAL({p}, {s})",  "rounded"),
    both("longtext",                 "STRING"),
    both("varchar({n}) | character varying({n}) | nvarchar({n}) | varcharacter({n})"
         " | char varying({n}) | nchar varchar({n}) | nchar varying({n}) | national varchar({n})"
         " | national char varying({n}) | national character varying({n})"
         " | national varcharacter({n})",
         "VARCHAR({n})", n=16383),
    read("varchar({n}) | character varying({n}) | nvarchar({n}) | varchar2({n})", "VARCHAR({n})"),
    both("char({n}) | character({n}) | nchar({n}) | national char({n}) | national character({n})",
         "CHAR({n})", n=255),
    # MariaDB has some types of Oracle.
    read("number({p}, {s})",         "DECIMAL({p}, {s})"),
    read("number({p})",              "DECIMAL({p}, 0)"),
    read("number",                   "DOUBLE"),
    read("raw({n})",                 "VARBINARY({n})"),
    read("clob",                     "STRING",             "length"),
    read("xmltype",                  "STRING",             "type"),
    read("char | character | nchar | national char | national character", "CHAR(1)"),
    # Only the empty string.
    read("varchar(0) | character varying(0) | nvarchar(0) | national varchar(0) | char(0)"
         " | character(0) | nchar(0) | national char(0)", "VARCHAR(1)", "length"),
    read("tinytext | text | mediumtext | text({n}) | long varchar | long", "STRING", "length"),
    read("inet4 | inet6",            "STRING",             "type"),
    *as_text("CHAR(36)", "uuid"),
    write("varchar({n})",            "CHAR({n})",          "type", n=16383),
    *strings("longtext"),
    both("longblob",                 "BYTES"),
    both("varbinary({n})",           "VARBINARY({n})",     n=65532),
    both("binary({n})",              "BINARY({n})",        n=255),
    read("binary",                   "BINARY(1)"),
    read("varbinary(0) | binary(0)", "VARBINARY(1)",       "length"),
    read("tinyblob | blob | mediumblob | blob({n}) | long varbinary", "BYTES", "length"),
    write("varbinary({n})",          "BINARY({n})",        "type", n=65532),
    *byte_strings("longblob"),
    *opaque("longblob"),
    both("date",                     "DATE"),
    write("time({p})",               "TIME({p})",          p=6),
    write("time(6)",                 "TIME({p})",          "digits"),
    # MySQL's TIME is also a duration of up to 838 hours.
    read("time({p})",                "TIME({p})",          "range"),
    read("time",                     "TIME(0)",            "range"),
    both("datetime({p})",            "TIMESTAMP({p})",     p=6),
    read("datetime",                 "TIMESTAMP(0)"),
    write("datetime(6)",             "TIMESTAMP({p})",     "digits"),
    read("timestamp({p})",           "TIMESTAMP_LTZ({p})"),
    read("timestamp",                "TIMESTAMP_LTZ(0)"),
    # The range ends in January 2038.
    write("timestamp({p})",          "TIMESTAMP_LTZ({p})", "range", p=6),
    write("timestamp(6)",            "TIMESTAMP_LTZ({p})", "digits"),
    write("timestamp(6)",            "TIMESTAMP({p}) WITH TIME ZONE", "zone"),
    read("year | year(4) | year(2)", "SMALLINT",           "type"),
    *as_text("STRING", "json"),
    read("enum({any}) | set({any})", "STRING",             "member"),
    read("bit | bit(1)",             "BOOLEAN",            "type"),
    read("bit({n})",                 "BYTES",              "layout"),
    read("geometry | point | linestring | polygon | multipoint | multilinestring | multipolygon"
         " | geometrycollection | geomcollection | vector | vector({n})", "BYTES", "layout"),
    *written_as("varchar(64)", "INTERVAL {any}"),
    *collections("json"),
)  # fmt: skip

#: SQLite, "Datatypes In SQLite": the name of a declared type determines the conversion.
SQLITE: tuple[TypeRow, ...] = (
    *same("BOOLEAN | bool", "TINYINT", "SMALLINT | int2", "INT | int4 | mediumint"),
    *same("FLOAT", "DATE"),
    both("bigint | integer | int8 | unsigned big int", "BIGINT"),
    both("double | double precision | real", "DOUBLE"),
    both("decimal({p}, {s}) | numeric({p}, {s})", "DECIMAL({p}, {s})", p=15),
    read("decimal({p}) | numeric({p})", "DECIMAL({p}, 0)"),
    # SQLite stores numbers of more than 15 digits as doubles.
    read("decimal({p}, {s}) | numeric({p}, {s})", "DECIMAL({p}, {s})"),
    write("decimal({p}, {s})",       "DECIMAL({p}, {s})",  "rounded"),
    read("decimal{any} | numeric{any} | number", "DECIMAL(38, 18)", "rounded"),
    both("text | clob | character large object | string", "STRING"),
    both("varchar({n}) | varying character({n}) | nvarchar({n})", "VARCHAR({n})"),
    both("char({n}) | character({n}) | nchar({n}) | native character({n})", "CHAR({n})"),
    both("blob | binary large object", "BYTES"),
    both("binary({n})",              "BINARY({n})"),
    both("varbinary({n})",           "VARBINARY({n})"),
    *opaque("blob"),
    both("time({p})",                "TIME({p})"),
    read("time",                     "TIME(9)"),
    both("timestamp({p}) | datetime({p})", "TIMESTAMP({p})"),
    read("datetime | timestamp",     "TIMESTAMP(9)"),
    both("timestamp_ltz({p})",       "TIMESTAMP_LTZ({p})"),
    both("timestamp_tz({p})",        "TIMESTAMP({p}) WITH TIME ZONE"),
    *as_text("STRING", "json", "jsonb", "timestamp with time zone", "time with time zone"),
    *as_text("CHAR(36)", "uuid"),
    read("",                         "VARIANT",            "type"),
    *written_as("text", "INTERVAL {any}"),
    *collections("text"),
    # "Determination Of Column Affinity": substrings of the type name determine the type, in this
    # order.
    read("{any}int{any}",            "BIGINT",             "type"),
    read("{any}char{any} | {any}clob{any} | {any}text{any}", "STRING", "type"),
    read("{any}blob{any}",           "BYTES",              "type"),
    read("{any}real{any} | {any}floa{any} | {any}doub{any}", "DOUBLE", "type"),
    read("any",                      "VARIANT",            "type"),
    # The affinity NUMERIC: text that is not a number stays text.
    read("{any}",                    "STRING",             "type"),
)  # fmt: skip

#: DuckDB, "Data Types": lengths are parsed and dropped.
DUCKDB: tuple[TypeRow, ...] = (
    both("boolean | bool | logical", "BOOLEAN"),
    both("tinyint | int1",           "TINYINT"),
    both("smallint | int2 | short | int16", "SMALLINT"),
    both("integer | int | int4 | signed | int32", "INT"),
    both("bigint | int8 | long | int64", "BIGINT"),
    read("utinyint | uint8",         "SMALLINT",           "type"),
    read("usmallint | uint16",       "INT",                "type"),
    read("uinteger | uint32",        "BIGINT",             "type"),
    read("ubigint | uint64",         "DECIMAL(20, 0)",     "type"),
    read("hugeint | uhugeint | int128 | uint128 | bignum | varint", "DECIMAL(38, 0)", "range"),
    both("float | real | float4",    "FLOAT"),
    both("double | float8 | double precision", "DOUBLE"),
    both("decimal({p}, {s}) | numeric({p}, {s}) | dec({p}, {s})", "DECIMAL({p}, {s})"),
    read("decimal({p}) | numeric({p})", "DECIMAL({p}, 0)"),
    read("decimal | numeric | dec",  "DECIMAL(18, 3)"),
    both("varchar | text | string | char | bpchar | nvarchar", "STRING"),
    read("oid",                      "BIGINT",             "type"),
    read("varchar({n}) | char({n}) | text({n}) | string({n}) | bpchar({n})", "STRING", "length"),
    *strings("varchar"),
    both("blob | bytea | varbinary | binary", "BYTES"),
    *byte_strings("blob"),
    *opaque("blob"),
    both("date",                     "DATE"),
    both("time | time without time zone", "TIME(6)"),
    both("time_ns",                  "TIME(9)"),
    write("time",                    "TIME({p})",          "precision",   p=6),
    write("time_ns",                 "TIME({p})",          "precision"),
    read("timetz | time with time zone", "TIME(6)",        "zone"),
    both("timestamp | datetime | timestamp without time zone", "TIMESTAMP(6)"),
    read("timestamp_us",             "TIMESTAMP(6)"),
    read("timestamp({p})",           "TIMESTAMP({p})"),
    both("timestamp_s",              "TIMESTAMP(0)"),
    both("timestamp_ms",             "TIMESTAMP(3)"),
    both("timestamp_ns",             "TIMESTAMP(9)"),
    write("timestamp_ms",            "TIMESTAMP({p})",     "precision",   p=3),
    write("timestamp",               "TIMESTAMP({p})",     "precision",   p=6),
    write("timestamp_ns",            "TIMESTAMP({p})",     "range"),
    both("timestamptz | timestamp with time zone", "TIMESTAMP_LTZ(6)"),
    *fixed_digits("timestamptz", "TIMESTAMP_LTZ({p})"),
    write("timestamptz",             "TIMESTAMP({p}) WITH TIME ZONE", "zone"),
    *as_text("STRING", "interval", "json", "bit", "bitstring"),
    *as_text("CHAR(36)", "uuid", "guid"),
    *year_month("interval"),
    *day_time("interval"),
    read("enum({any})",              "STRING",             "member"),
    both("variant",                  "VARIANT"),
    read("union({any})",             "VARIANT",            "type"),
    read("geometry",                 "BYTES",              "layout"),
)  # fmt: skip

#: Rows that Spark, Databricks and Hive share.
HADOOP: tuple[TypeRow, ...] = (
    *same("BOOLEAN", "TINYINT | byte", "SMALLINT | short", "BIGINT | long", "DATE"),
    both("int | integer",                "INT"),
    both("float | real",                 "FLOAT"),
    both("double | double precision",    "DOUBLE"),
    *decimals("decimal dec numeric", "DECIMAL(10, 0)"),
    both("string | string collate utf8_binary", "STRING"),
    read("string collate {any}",         "STRING",        "collation"),
    both("char({n}) | character({n})",   "CHAR({n})",    n=255),
    both("varchar({n})",                 "VARCHAR({n})", n=65535),
    *strings("string"),
    both("binary",                       "BYTES"),
    *byte_strings("binary"),
    *opaque("binary"),
)  # fmt: skip

#: Apache Spark, "SQL Reference: Data Types".
DATABRICKS: tuple[TypeRow, ...] = (
    *HADOOP,
    both("timestamp_ntz",            "TIMESTAMP(6)"),
    both("timestamp | timestamp_ltz", "TIMESTAMP_LTZ(6)"),
    *fixed_digits("timestamp_ntz", "TIMESTAMP({p})"),
    *fixed_digits("timestamp", "TIMESTAMP_LTZ({p})"),
    write("timestamp",               "TIMESTAMP({p}) WITH TIME ZONE", "zone"),
    *intervals(*YEAR_MONTH, *DAY_TIME),
    both("variant",                  "VARIANT"),
    both("void",                     "NULL"),
    read("object | interval",        "STRING",             "type"),
    read("geometry({any}) | geography({any})", "BYTES",    "layout"),
    *written_as("string", "TIME({p})"),
)  # fmt: skip

SPARK: tuple[TypeRow, ...] = (
    both("time({p})",                "TIME({p})",          p=6),
    read("time",                     "TIME(6)"),
    write("time(6)",                 "TIME({p})",          "digits"),
    *DATABRICKS,
)  # fmt: skip

#: Apache Hive, "LanguageManual Types".
HIVE: tuple[TypeRow, ...] = (
    *HADOOP,
    both("timestamp",                "TIMESTAMP(9)"),
    both("timestamp with local time zone", "TIMESTAMP_LTZ(9)"),
    write("timestamp",               "TIMESTAMP({p})",     "precision"),
    write("timestamp with local time zone", "TIMESTAMP_LTZ({p})", "precision"),
    write("timestamp with local time zone", "TIMESTAMP({p}) WITH TIME ZONE", "zone"),
    both("void",                     "NULL"),
    *written_as("string", "TIME({p})", "INTERVAL {any}"),
    read("uniontype<{any}>",         "VARIANT",            "type"),
    *as_text("STRING", "interval_year_month", "interval_day_time"),
    write("string",                  "VARIANT",            "layout"),
)  # fmt: skip

#: Trino, "Data types".
TRINO: tuple[TypeRow, ...] = (
    *same("BOOLEAN", "TINYINT", "SMALLINT", "BIGINT", "DATE"),
    both("integer | int",            "INT"),
    both("real",                     "FLOAT"),
    both("double | double precision", "DOUBLE"),
    both("decimal({p}, {s}) | dec({p}, {s}) | numeric({p}, {s})", "DECIMAL({p}, {s})"),
    read("decimal({p})",             "DECIMAL({p}, 0)"),
    read("decimal",                  "DECIMAL(38, 0)"),
    read("number({p}, {s})",         "DECIMAL({p}, {s})"),
    read("number({p})",              "DECIMAL({p}, 0)"),
    read("number",                   "DECIMAL(38, 18)",    "rounded"),
    both("varchar",                  "STRING"),
    both("varchar({n})",             "VARCHAR({n})",       n=2147483646),
    both("char({n})",                "CHAR({n})",          n=65536),
    read("char",                     "CHAR(1)"),
    *strings("varchar"),
    both("varbinary",                "BYTES"),
    *byte_strings("varbinary"),
    *opaque("varbinary"),
    both("time({p}) | time({p}) without time zone", "TIME({p})"),
    read("time | time without time zone", "TIME(3)"),
    read("time({p})",                "TIME(9)",            "digits", p=12),
    read("time({p}) with time zone", "TIME({p})",          "zone"),
    read("time with time zone",      "TIME(3)",            "zone"),
    both("timestamp({p}) | timestamp({p}) without time zone", "TIMESTAMP({p})"),
    read("timestamp | timestamp without time zone", "TIMESTAMP(3)"),
    read("timestamp({p})",           "TIMESTAMP(9)",       "digits", p=12),
    both("timestamp({p}) with time zone", "TIMESTAMP({p}) WITH TIME ZONE"),
    read("timestamp with time zone", "TIMESTAMP(3) WITH TIME ZONE"),
    read("timestamp({p}) with time zone", "TIMESTAMP(9) WITH TIME ZONE", "digits", p=12),
    write("timestamp({p}) with time zone", "TIMESTAMP_LTZ({p})", "precision"),
    both("interval year to month",   "INTERVAL YEAR(4) TO MONTH"),
    *year_month("interval year to month"),
    both("interval day to second",   "INTERVAL DAY(6) TO SECOND(3)"),
    *day_time("interval day to second", digits=3),
    *as_text("STRING", "json", "ipaddress", "geometry", "sphericalgeography", "color", "bingtile",
             "kdbtree", "json2016"),
    read("variant",                  "VARIANT"),
    *as_text("CHAR(36)", "uuid"),
    write("json",                    "VARIANT",            "layout"),
    read("hyperloglog | tdigest | qdigest({any}) | p4hyperloglog | setdigest", "BYTES", "layout"),
)  # fmt: skip

#: Snowflake, "Data types": integers are NUMBERs.
SNOWFLAKE: tuple[TypeRow, ...] = (
    both("boolean",                  "BOOLEAN"),
    *decimals("number decimal numeric dec", "DECIMAL(38, 0)"),
    read("int | integer | bigint | smallint | tinyint | byteint", "DECIMAL(38, 0)"),
    write("number(3, 0)",            "TINYINT",            "type"),
    write("number(5, 0)",            "SMALLINT",           "type"),
    write("number(10, 0)",           "INT",                "type"),
    write("number(19, 0)",           "BIGINT",             "type"),
    both("double | float | float4 | float8 | double precision | real", "DOUBLE"),
    write("float",                   "FLOAT",              "type"),
    read("decfloat",                 "DECIMAL(38, 18)",    "rounded"),
    both("varchar | string | text | nvarchar | character varying", "STRING"),
    both("varchar({n}) | string({n}) | text({n}) | nvarchar({n}) | character varying({n})",
         "VARCHAR({n})", n=134217728),
    read("nvarchar2({n}) | char varying({n}) | nchar varying({n})", "VARCHAR({n})"),
    read("nvarchar2 | char varying | nchar varying", "STRING"),
    read("char({n}) | character({n}) | nchar({n})", "VARCHAR({n})"),
    read("char | character | nchar", "VARCHAR(1)"),
    write("char({n})",               "CHAR({n})",          "type", n=134217728),
    *strings("varchar"),
    both("binary | varbinary",       "BYTES"),
    both("binary({n}) | varbinary({n})", "VARBINARY({n})", n=67108864),
    write("binary({n})",             "BINARY({n})",        "type", n=67108864),
    *byte_strings("binary"),
    *opaque("binary"),
    both("date",                     "DATE"),
    both("time({p})",                "TIME({p})"),
    read("time",                     "TIME(9)"),
    both("timestamp_ntz({p}) | timestampntz({p}) | datetime({p})", "TIMESTAMP({p})"),
    read("timestamp without time zone({p})", "TIMESTAMP({p})"),
    read("timestamp_ntz | timestampntz | datetime | timestamp without time zone", "TIMESTAMP(9)"),
    both("timestamp_ltz({p}) | timestampltz({p})", "TIMESTAMP_LTZ({p})"),
    read("timestamp_ltz | timestampltz | timestamp with local time zone", "TIMESTAMP_LTZ(9)"),
    both("timestamp_tz({p}) | timestamptz({p})", "TIMESTAMP({p}) WITH TIME ZONE"),
    read("timestamp_tz | timestamptz | timestamp with time zone", "TIMESTAMP(9) WITH TIME ZONE"),
    read("timestamp({p}) with time zone", "TIMESTAMP({p}) WITH TIME ZONE"),
    read("timestamp({p}) without time zone", "TIMESTAMP({p})"),
    read("timestamp({p}) with local time zone", "TIMESTAMP_LTZ({p})"),
    # The meaning is a setting of the account; these are the defaults.
    read("timestamp({p})",           "TIMESTAMP({p})"),
    read("timestamp",                "TIMESTAMP(9)"),
    both("variant",                  "VARIANT"),
    read("object",                   "MAP<STRING NOT NULL, VARIANT>", "type"),
    read("array",                    "ARRAY<VARIANT>",     "type"),
    read("vector(float, {n})",       "ARRAY<FLOAT NOT NULL>", "length"),
    read("vector(int, {n})",         "ARRAY<INT NOT NULL>", "length"),
    *as_text("STRING", "geography", "geometry", "file",
             *(f"interval {resolution.lower()}" for resolution in (*YEAR_MONTH, *DAY_TIME))),
    *as_text("CHAR(36)", "uuid"),
    *written_as("varchar", "INTERVAL {any}"),
)  # fmt: skip

#: BigQuery, "Data types".
BIGQUERY: tuple[TypeRow, ...] = (
    both("bool | boolean",           "BOOLEAN"),
    both("int64 | int | smallint | integer | bigint | tinyint | byteint", "BIGINT"),
    *written_as("int64", "TINYINT", "SMALLINT", "INT"),
    both("float64 | float",          "DOUBLE"),
    write("float64",                 "FLOAT",              "type"),
    both("numeric({p}, {s}) | decimal({p}, {s})", "DECIMAL({p}, {s})", s=9, whole=29),
    read("numeric({p}) | decimal({p})", "DECIMAL({p}, 0)", p=29),
    read("numeric | decimal",        "DECIMAL(38, 9)"),
    both("bignumeric({p}, {s}) | bigdecimal({p}, {s})", "DECIMAL({p}, {s})"),
    read("bignumeric({p}) | bigdecimal({p})", "DECIMAL({p}, 0)"),
    read("bignumeric{any} | bigdecimal{any}", "DECIMAL(38, 18)", "rounded"),
    both("string",                   "STRING"),
    both("string({n})",              "VARCHAR({n})"),
    write("string({n})",             "CHAR({n})",          "type"),
    both("bytes",                    "BYTES"),
    both("bytes({n})",               "VARBINARY({n})"),
    write("bytes({n})",              "BINARY({n})",        "type"),
    *opaque("bytes"),
    both("date",                     "DATE"),
    both("time",                     "TIME(6)"),
    both("datetime",                 "TIMESTAMP(6)"),
    both("timestamp",                "TIMESTAMP_LTZ(6)"),
    read("timestamp({p})",           "TIMESTAMP_LTZ({p})"),
    read("timestamp({p})",           "TIMESTAMP_LTZ(9)",   "digits"),
    *fixed_digits("time", "TIME({p})"),
    *fixed_digits("datetime", "TIMESTAMP({p})"),
    *fixed_digits("timestamp", "TIMESTAMP_LTZ({p})"),
    write("timestamp",               "TIMESTAMP({p}) WITH TIME ZONE", "zone"),
    *as_text("STRING", "interval", "json", "geography", "range<{any}>"),
    *year_month("interval"),
    *day_time("interval"),
    write("json",                    "VARIANT",            "layout"),
)  # fmt: skip

#: ClickHouse, "Data types": an instant is displayed in the time zone of its column.
CLICKHOUSE: tuple[TypeRow, ...] = (
    both("Bool | boolean",           "BOOLEAN"),
    both("Int8 | tinyint | int1 | byte", "TINYINT"),
    both("Int16 | smallint",         "SMALLINT"),
    both("Int32 | int | integer",    "INT"),
    both("Int64 | bigint",           "BIGINT"),
    read("UInt8 | tinyint unsigned", "SMALLINT",           "type"),
    read("UInt16 | smallint unsigned", "INT",              "type"),
    read("UInt32 | int unsigned | integer unsigned", "BIGINT", "type"),
    read("UInt64 | bigint unsigned", "DECIMAL(20, 0)",     "type"),
    read("Int128 | Int256 | UInt128 | UInt256", "DECIMAL(38, 0)", "range"),
    both("Float32 | float | real",   "FLOAT"),
    both("Float64 | double | double precision", "DOUBLE"),
    read("BFloat16",                 "FLOAT",              "type"),
    both("Decimal({p}, {s}) | dec({p}, {s}) | numeric({p}, {s})", "DECIMAL({p}, {s})"),
    read("Decimal({p}) | numeric({p})", "DECIMAL({p}, 0)"),
    read("Decimal",                  "DECIMAL(10, 0)"),
    read("Decimal32({s})",           "DECIMAL(9, {s})"),
    read("Decimal64({s})",           "DECIMAL(18, {s})"),
    read("Decimal128({s})",          "DECIMAL(38, {s})"),
    read("Decimal256({s}) | Decimal({p}, {s})", "DECIMAL(38, {s})", "rounded"),
    both("String | text | tinytext | mediumtext | longtext", "STRING"),
    read("varchar | char | blob | varchar({n}) | char({n})", "STRING", "length"),
    *strings("String"),
    write("String",                  "BYTES",              "type"),
    both("FixedString({n}) | binary({n})", "BINARY({n})", n=256),
    read("FixedString({n}) | binary({n})", "BINARY({n})"),
    write("String",                  "BINARY({n})",        "length"),
    write("String",                  "VARBINARY({n})",     "length"),
    *opaque("String"),
    read("Date",                     "DATE"),
    read("Date32",                   "DATE"),
    write("Date32",                  "DATE",               "range"),
    # DateTime of a scale is DateTime64.
    read("DateTime64({p}, 'UTC') | DateTime({p}, 'UTC') | timestamp({p}, 'UTC')",
         "TIMESTAMP({p})",           "type"),
    read("DateTime | DateTime32 | timestamp", "TIMESTAMP_LTZ(0)"),
    read("DateTime('{any}') | DateTime32('{any}') | timestamp('{any}')",
         "TIMESTAMP_LTZ(0)",         "zone"),
    read("DateTime64({p}) | DateTime({p}) | timestamp({p})", "TIMESTAMP_LTZ({p})"),
    read("DateTime64({p}, '{any}') | DateTime({p}, '{any}') | timestamp({p}, '{any}')",
         "TIMESTAMP_LTZ({p})",       "zone"),
    read("DateTime64",               "TIMESTAMP_LTZ(3)"),
    write("DateTime64({p}, 'UTC')",  "TIMESTAMP({p})",     "type"),
    write("DateTime64({p})",         "TIMESTAMP_LTZ({p})", "range"),
    write("DateTime64({p})",         "TIMESTAMP({p}) WITH TIME ZONE", "zone"),
    read("Time",                     "TIME(0)",            "range"),
    read("Time64({p})",              "TIME({p})",          "range"),
    *as_text("CHAR(36)", "UUID"),
    *as_text("STRING", "IPv4", "IPv6", "JSON", "JSON({any})", "Object('json')"),
    read("Enum({any}) | Enum8({any}) | Enum16({any})", "STRING", "member"),
    both("Dynamic",                  "VARIANT"),
    read("Variant({any}) | Dynamic({any})", "VARIANT",     "type"),
    # Intermediate states, which only the functions of ClickHouse read.
    read("AggregateFunction({any})", "BYTES",              "layout"),
    read("Point",                    "ROW<`x` DOUBLE NOT NULL, `y` DOUBLE NOT NULL>", "layout"),
    read("Ring | LineString",
         "ARRAY<ROW<`x` DOUBLE NOT NULL, `y` DOUBLE NOT NULL> NOT NULL>", "layout"),
    read("Polygon | MultiLineString | MultiPolygon | Geometry", "STRING", "type"),
    read("QBit({any})",              "BYTES",              "layout"),
    read("Nothing",                  "NULL",               "type"),
    *(read(f"Interval{unit}", "BIGINT", "type") for unit in (
        "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour", "Day", "Week",
        "Month", "Quarter", "Year")),
    *written_as("String", "TIME({p})", "INTERVAL {any}"),
)  # fmt: skip

#: Oracle Database, "Data Types": DATE has a time of day, and '' is NULL.
ORACLE: tuple[TypeRow, ...] = (
    read("boolean",                  "BOOLEAN"),
    write("number(1, 0)",            "BOOLEAN",            "type"),
    write("number(3, 0)",            "TINYINT",            "type"),
    write("number(5, 0)",            "SMALLINT",           "type"),
    write("number(10, 0)",           "INT",                "type"),
    write("number(19, 0)",           "BIGINT",             "type"),
    *decimals("number decimal numeric dec"),
    read("number(*, {s}) | decimal(*, {s}) | numeric(*, {s})", "DECIMAL(38, {s})", "range"),
    read("int | integer | smallint | decimal | numeric | dec", "DECIMAL(38, 0)"),
    *any_scale("number", "decimal", "numeric", "dec"),
    # Numbers of any scale.
    read("number | number(*) | number({any})", "DECIMAL(38, 18)", "rounded"),
    both("binary_float",             "FLOAT"),
    both("binary_double",            "DOUBLE"),
    # Decimal numbers of up to 126 binary digits.
    read("float | float({n}) | real | double precision", "DOUBLE", "rounded"),
    both("varchar2({n} char) | varchar2({n}) | varchar2({n} byte) | varchar({n})"
         " | varchar({n} char) | varchar({n} byte) | nvarchar2({n})"
         " | national character varying({n}) | nchar varying({n}) | character varying({n})"
         " | char varying({n}) | national char varying({n})",
         "VARCHAR({n})", n=4000),
    read("varchar2({n} char) | varchar2({n}) | varchar2({n} byte) | varchar({n}) | nvarchar2({n})",
         "VARCHAR({n})"),
    both("char({n} char) | char({n}) | char({n} byte) | character({n}) | nchar({n})"
         " | national character({n}) | national char({n})", "CHAR({n})", n=2000),
    read("char | character | nchar", "CHAR(1)"),
    both("clob | nclob | long | character large object | char large object", "STRING"),
    *strings("clob"),
    both("blob | binary large object", "BYTES"),
    read("long raw",                 "BYTES",              "length"),
    read("bfile",                    "BYTES",              "layout"),
    both("raw({n})",                 "VARBINARY({n})",     n=2000),
    read("raw({n})",                 "VARBINARY({n})"),
    write("raw({n})",                "BINARY({n})",        "type", n=2000),
    *byte_strings("blob"),
    *opaque("blob"),
    both("timestamp({p})",           "TIMESTAMP({p})"),
    read("timestamp",                "TIMESTAMP(6)"),
    read("date",                     "TIMESTAMP(0)"),
    write("date",                    "DATE",               "type"),
    both("timestamp({p}) with time zone", "TIMESTAMP({p}) WITH TIME ZONE"),
    read("timestamp with time zone", "TIMESTAMP(6) WITH TIME ZONE"),
    both("timestamp({p}) with local time zone", "TIMESTAMP_LTZ({p})"),
    read("timestamp with local time zone", "TIMESTAMP_LTZ(6)"),
    *written_as("varchar2(18 char)", "TIME({p})"),
    both("interval year({p}) to month", "INTERVAL YEAR({p}) TO MONTH"),
    read("interval year to month",   "INTERVAL YEAR(2) TO MONTH"),
    read("interval year({p}) to month", "STRING",          "type"),
    both("interval day({n}) to second({p})", "INTERVAL DAY({n}) TO SECOND({p})"),
    read("interval day to second({p})", "INTERVAL DAY(2) TO SECOND({p})"),
    read("interval day({n}) to second", "INTERVAL DAY({n}) TO SECOND(6)"),
    read("interval day to second",   "INTERVAL DAY(2) TO SECOND(6)"),
    read("interval day({n}) to second({p}) | interval day({n}) to second", "STRING", "type"),
    *year_month("interval year(4) to month"),
    *day_time("interval day(6) to second(9)", digits=9),
    *as_text("STRING", "rowid", "urowid", "urowid({n})", "xmltype", "json", "uritype",
             "httpuritype", "anydata", "anytype", "anydataset", "mlslabel"),
    read("sdo_geometry | sdo_topo_geometry | sdo_georaster", "BYTES", "layout"),
    read("vector | vector({any})",   "ARRAY<FLOAT NOT NULL>", "length"),
    read("enum({any})",              "STRING",             "member"),
    *collections("clob"),
)  # fmt: skip

#: SQL Server, "Data types (Transact-SQL)".
TSQL: tuple[TypeRow, ...] = (
    both("bit",                      "BOOLEAN"),
    read("tinyint",                  "SMALLINT",           "type"),
    both("smallint",                 "SMALLINT"),
    write("smallint",                "TINYINT",            "type"),
    both("int | integer",            "INT"),
    both("bigint",                   "BIGINT"),
    *decimals("decimal numeric dec", "DECIMAL(18, 0)"),
    read("money",                    "DECIMAL(19, 4)",     "type"),
    read("smallmoney",               "DECIMAL(10, 4)",     "type"),
    both("real",                     "FLOAT"),
    both("float | double precision", "DOUBLE"),
    read("float({n})",               "FLOAT",              n=24),
    read("float({n})",               "DOUBLE",             n=53),
    both("nvarchar({n}) | varchar({n}) | national char varying({n}) | char varying({n})"
         " | national character varying({n}) | character varying({n})", "VARCHAR({n})", n=4000),
    read("varchar({n})",             "VARCHAR({n})",       n=8000),
    read("nvarchar | varchar",       "VARCHAR(1)"),
    both("nchar({n}) | char({n}) | character({n}) | national char({n}) | national character({n})",
         "CHAR({n})", n=4000),
    read("char({n})",                "CHAR({n})",          n=8000),
    read("nchar | char | character", "CHAR(1)"),
    both("nvarchar(max) | varchar(max)", "STRING"),
    read("text | ntext",             "STRING",             "length"),
    *strings("nvarchar(max)"),
    both("varbinary({n}) | binary varying({n})", "VARBINARY({n})", n=8000),
    both("binary({n})",              "BINARY({n})",        n=8000),
    read("binary",                   "BINARY(1)"),
    read("varbinary",                "VARBINARY(1)"),
    both("varbinary(max)",           "BYTES"),
    read("image",                    "BYTES",              "length"),
    *byte_strings("varbinary(max)"),
    *opaque("varbinary(max)"),
    both("date",                     "DATE"),
    both("time({p})",                "TIME({p})",          p=7),
    read("time",                     "TIME(7)"),
    write("time(7)",                 "TIME({p})",          "digits"),
    both("datetime2({p})",           "TIMESTAMP({p})",     p=7),
    read("datetime2",                "TIMESTAMP(7)"),
    write("datetime2(7)",            "TIMESTAMP({p})",     "digits"),
    read("datetime",                 "TIMESTAMP(3)",       "type"),
    read("smalldatetime",            "TIMESTAMP(0)",       "type"),
    both("datetimeoffset({p})",      "TIMESTAMP({p}) WITH TIME ZONE", p=7),
    read("datetimeoffset",           "TIMESTAMP(7) WITH TIME ZONE"),
    write("datetimeoffset(7)",       "TIMESTAMP({p}) WITH TIME ZONE", "digits"),
    write("datetimeoffset({p})",     "TIMESTAMP_LTZ({p})", "zone", p=7),
    write("datetimeoffset(7)",       "TIMESTAMP_LTZ({p})", "digits"),
    # Not a time: the version of the row.
    read("timestamp | rowversion",   "BINARY(8)",          "type"),
    *as_text("CHAR(36)", "uniqueidentifier"),
    read("sysname",                  "VARCHAR(128)",       "type"),
    *as_text("STRING", "xml", "xml({any})", "sql_variant", "hierarchyid", "json"),
    read("geometry | geography",     "BYTES",              "layout"),
    read("vector({n}) | vector({n}, float32) | vector({n}, float16)", "ARRAY<FLOAT NOT NULL>",
         "length"),
    *written_as("nvarchar(64)", "INTERVAL {any}"),
    *collections("nvarchar(max)"),
)  # fmt: skip
