"""SQL engines: how each writes names, strings, types, comments, keys and generated columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.errors import NotFoundError, UnsupportedError, choose_from
from schema_core.mappings.dialects import type_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schema_core.mappings.dialects.type_rows import TypeRow

#: Characters -> escapes within quotes. Some engines end a literal at a line break.
DOUBLED_QUOTES = {"'": "''"}
BACKSLASH_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"}

_KEY = "PRIMARY KEY ({columns})"

#: Positions of a type; "column" is the top level.
POSITIONS = frozenset({"column", "element", "key", "value", "field"})


@dataclass(frozen=True, slots=True)
class Engine:
    """A SQL engine: its types as rows, its grammar as templates.

    `not_null_positions` support NOT NULL; in `never_null` the engine never allows NULL. Names are
    converted to `unquoted_case` and `quoted_case`.
    """

    name: str
    rows: tuple[TypeRow, ...]

    quote: str = '"'
    name_escapes: Mapping[str, str] | None = None  # None: the quote is doubled
    refused_in_names: str = ""
    string_escapes: Mapping[str, str] | None = None  # None: quotes are doubled
    unquoted_case: str | None = None  # "lower", "upper"
    quoted_case: str | None = None
    case_sensitive: bool = False  # `a` and `A` are different columns

    array: str | None = None
    map: str | None = None
    struct: str | None = None
    field: str = "{name} {type}"
    field_comment: str | None = None
    folds_fields: bool = True  # names of fields are stored in the case of other names

    not_null_positions: frozenset[str] = frozenset({"column"})
    never_null: frozenset[str] = frozenset()
    numbers_not_null: bool = False  # a column that the engine numbers is NOT NULL
    wraps_nullable: bool = False  # Nullable(T); other types are NOT NULL
    null_arrays: bool = True
    arrays_of_arrays: bool = True
    flattens_arrays: bool = False  # the number of array dimensions is not preserved
    fixed_arrays: bool = False  # the length in `integer[3]` is part of the type

    comment: str | None = " COMMENT {text}"  # follows a column; None: not supported
    table_comment: str | None = " COMMENT {text}"  # follows the table; None: not supported
    comment_statement: bool = False  # COMMENT ON TABLE and COLUMN
    stores_empty_comments: bool = True
    key: str | None = _KEY
    no_key: str | None = None  # pattern of types that key columns cannot have
    named_keys: bool = False  # CONSTRAINT name
    disabled_keys: bool = False  # rows may violate a key; without one, its columns allow NULL
    generated: str | None = None
    needs_stored_column: bool = False  # a table needs a column that is not generated
    concat: bool = False  # `||` means OR
    null_strings: bool = False  # `||` and `+` of strings ignore NULL, or '' is NULL
    tail: str = ""
    key_tail: str = ""
    free_types: bool = False  # any sequence of words is a type
    quoted_paths: bool = False  # `dataset.table` in one pair of quotes is a path of two names
    trailing_commas: bool = False  # after the last column
    keeps_properties: bool = False  # MODIFY keeps the nullability and the comment of a column
    system_schemas: frozenset[str] = frozenset()  # schemas of the engine's own types
    extension_types: frozenset[str] = frozenset()  # types in any schema, that of their extension

    def quote_name(self, name: str) -> str:
        """Quote a name; all names in the engine's SQL are quoted by this function.

        Raises:
            UnsupportedError: with code `name-not-supported`.
        """
        refused = sorted(set(name) & {*self.refused_in_names, "\0"})
        if refused or not name:
            raise UnsupportedError(
                f"{self.name} does not support {refused[0]!r} in names"
                if refused
                else "the name is empty",
                code="name-not-supported",
            )
        escapes = self.name_escapes or {self.quote: self.quote * 2}
        return f"{self.quote}{_escape(name, escapes)}{self.quote}"

    def quote_string(self, text: str) -> str:
        """Quote a string; all strings in the engine's SQL are quoted by this function.

        Raises:
            UnsupportedError: with code `not-representable` for NUL.
        """
        if "\0" in text:
            raise UnsupportedError(
                f"{self.name} does not support NUL characters in strings",
                code="not-representable",
            )
        return f"'{_escape(text, self.string_escapes or DOUBLED_QUOTES)}'"

    def unqualified_type(self, text: str) -> str:
        """Return a type without the schema where the engine or an extension defines it.

        >>> engine("postgres").unqualified_type("public.geometry(point, 4326)")
        'geometry(point, 4326)'
        """
        name, bracket, arguments = text.partition("(")
        schema, _, last = name.rpartition(".")
        if schema and (schema in self.system_schemas or last in self.extension_types):
            return last + bracket + arguments
        return text

    def comparable_name(self, name: str) -> str:
        """Return a stored name in the form in which the engine compares it with others."""
        return name if self.case_sensitive else name.casefold()

    def fold_case(self, name: str, *, quoted: bool = True) -> str:
        """Return the name in the case in which the engine stores it."""
        match self.quoted_case if quoted else self.unquoted_case:
            case "lower":
                return name.lower()
            case "upper":
                return name.upper()
            case _:
                return name


def _escape(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in text)


_ALL_BUT_KEYS = POSITIONS - {"key"}
_STRUCTS = "struct<{}>"

_SPARK = Engine(
    "spark", type_rows.SPARK, quote="`", string_escapes=BACKSLASH_ESCAPES,
    array="array<{}>", map="map<{}, {}>", struct=_STRUCTS, field="{name}: {type}",
    field_comment=" COMMENT {text}", not_null_positions=frozenset({"column", "field"}),
    never_null=frozenset({"key"}), key=None, generated="{type} GENERATED ALWAYS AS ({expression})",
)  # fmt: skip

_DATABRICKS = replace(
    _SPARK, name="databricks", rows=type_rows.DATABRICKS, key=_KEY, named_keys=True
)

_HIVE = replace(
    _SPARK, name="hive", rows=type_rows.HIVE, unquoted_case="lower", quoted_case="lower",
    not_null_positions=frozenset({"column"}), key=f"{_KEY} DISABLE NOVALIDATE", named_keys=True,
    generated=None, quoted_paths=True, refused_in_names=".",
)  # fmt: skip

_TRINO = Engine(
    "trino", type_rows.TRINO, unquoted_case="lower", quoted_case="lower",
    array="array({})", map="map({}, {})", struct="row({})", never_null=frozenset({"key"}), key=None,
)  # fmt: skip

_POSTGRES = Engine(
    "postgres", type_rows.POSTGRES, unquoted_case="lower", case_sensitive=True, array="{}[]",
    flattens_arrays=True, comment_statement=True, stores_empty_comments=False, named_keys=True,
    numbers_not_null=True, generated="{type} GENERATED ALWAYS AS ({expression}) STORED",
    system_schemas=frozenset({"pg_catalog", "information_schema"}),
    extension_types=type_rows.POSTGRES_EXTENSIONS,
)  # fmt: skip

_REDSHIFT = Engine(
    "redshift", type_rows.REDSHIFT, unquoted_case="lower", quoted_case="lower",
    string_escapes=BACKSLASH_ESCAPES,
    comment_statement=True, stores_empty_comments=False, named_keys=True, numbers_not_null=True,
    system_schemas=frozenset({"pg_catalog"}),
)  # fmt: skip

_MYSQL = Engine(
    "mysql", type_rows.MYSQL, quote="`", string_escapes=BACKSLASH_ESCAPES, concat=True,
    numbers_not_null=True, table_comment=" COMMENT={text}",
    generated="{type} GENERATED ALWAYS AS ({expression}) VIRTUAL",
)  # fmt: skip

_SQLITE = Engine(
    "sqlite", type_rows.SQLITE, comment=None, table_comment=None, named_keys=True, free_types=True,
    generated="{type} GENERATED ALWAYS AS ({expression}) VIRTUAL", needs_stored_column=True,
)  # fmt: skip

_DUCKDB = Engine(
    "duckdb", type_rows.DUCKDB, comment_statement=True, array="{}[]", map="map({}, {})",
    struct="struct({})", never_null=frozenset({"key"}), named_keys=True, fixed_arrays=True,
    trailing_commas=True,
    no_key=r".*\](?: NOT NULL)?|(map|struct)\(.*",
    generated="{type} GENERATED ALWAYS AS ({expression}) VIRTUAL", needs_stored_column=True,
)  # fmt: skip

_SNOWFLAKE = Engine(
    "snowflake", type_rows.SNOWFLAKE, string_escapes=BACKSLASH_ESCAPES, unquoted_case="upper",
    case_sensitive=True,
    array="array({})", map="map({}, {})", struct="object({})", not_null_positions=_ALL_BUT_KEYS,
    table_comment=" COMMENT = {text}", never_null=frozenset({"key"}), named_keys=True,
    keeps_properties=True, folds_fields=False,
    generated="{type} AS ({expression})",
)  # fmt: skip

_BIGQUERY = Engine(
    "bigquery", type_rows.BIGQUERY, quote="`", string_escapes=BACKSLASH_ESCAPES,
    refused_in_names='!"$()*,./;?@[\\]^`{}~\n\r', array="array<{}>", struct=_STRUCTS,
    comment=" OPTIONS(description={text})", table_comment=" OPTIONS(description={text})",
    field_comment=" OPTIONS(description={text})",
    not_null_positions=frozenset({"column", "field"}), never_null=frozenset({"element"}),
    null_arrays=False, arrays_of_arrays=False, key=f"{_KEY} NOT ENFORCED",
    quoted_paths=True, trailing_commas=True,
)  # fmt: skip

_CLICKHOUSE = Engine(
    "clickhouse", type_rows.CLICKHOUSE, quote="`", name_escapes={"\\": "\\\\", "`": "\\`"},
    string_escapes=BACKSLASH_ESCAPES, case_sensitive=True, array="Array({})", map="Map({}, {})",
    struct="Tuple({})",
    never_null=frozenset({"key"}), wraps_nullable=True, key=None,
    stores_empty_comments=False, no_key=r".*Nullable\(.*", needs_stored_column=True,
    trailing_commas=True, keeps_properties=True,
    generated="{type} ALIAS ({expression})", tail=" ENGINE = MergeTree ORDER BY tuple()",
    key_tail=" ENGINE = MergeTree PRIMARY KEY ({columns})",
)  # fmt: skip

_ORACLE = Engine(
    "oracle", type_rows.ORACLE, unquoted_case="upper", refused_in_names='"', case_sensitive=True,
    comment_statement=True, stores_empty_comments=False, named_keys=True, numbers_not_null=True,
    disabled_keys=True,
    no_key=r"(clob|blob|timestamp\(\d\) with time zone)(?: NOT NULL)?", keeps_properties=True,
    null_strings=True, system_schemas=frozenset({"sys", "mdsys", "public"}),
)  # fmt: skip

_TSQL = Engine(
    "tsql", type_rows.TSQL, comment=None, table_comment=None, named_keys=True,
    numbers_not_null=True, no_key=r".*\(max\)(?: NOT NULL)?", trailing_commas=True,
    system_schemas=frozenset({"sys"}), null_strings=True,
)  # fmt: skip

ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        _SPARK, _HIVE, _DATABRICKS, _TRINO, _POSTGRES, _MYSQL, _SQLITE, _DUCKDB, _SNOWFLAKE,
        _BIGQUERY, _CLICKHOUSE, _REDSHIFT, _ORACLE, _TSQL,
    )
}  # fmt: skip

#: Other names, and names of engines with the same dialect.
ALIASES = {
    "postgresql": "postgres", "presto": "trino", "athena": "hive", "mariadb": "mysql",
    "sqlserver": "tsql", "mssql": "tsql",
}  # fmt: skip


def engine(name: str) -> Engine:
    """Return the engine of that name; case is ignored.

    Raises:
        NotFoundError: with code `unknown-dialect`.

    >>> engine("PostgreSQL").name
    'postgres'
    """
    require_instance(name, str, "dialect")
    key = name.lower()
    match = ENGINES.get(ALIASES.get(key, key))
    if match is None:
        names = [*ENGINES, *ALIASES, "flink"]
        raise NotFoundError(
            f"unknown dialect {name!r}",
            code="unknown-dialect",
            hint=choose_from(key, names),
        )
    return match
