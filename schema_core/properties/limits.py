"""Limits of metadata stores: lengths and characters of keys, values, names and comments.

They are those of Hive's own schemas (metastore/scripts/upgrade, 2.3 and later), of a Derby
metastore that creates its own tables, and of the Glue API. Metastores before 2.3 stored 4,000
characters, whatever the database.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import NoneType

from schema_core.base.arguments import require_sequence, validate_arguments
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectPath
from schema_core.errors import Diagnostic, SchemaError, UnsupportedError, choose_from, raise_all
from schema_core.properties.key_syntax import Properties
from schema_core.schema.resolved import ResolvedSchema

#: The prefix of Flink's keys among the properties of a Hive metastore.
FLINK = "flink."

NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """The limits of a key-value store; lengths are counted in `unit`.

    `unsupported` are the characters that the store refuses or changes, as a character class of
    regular expressions; `unsupported_in_keys` those that it refuses only in keys.
    """

    key: int = NO_LIMIT
    value: int = NO_LIMIT
    database: int = NO_LIMIT
    table: int = NO_LIMIT
    column: int = NO_LIMIT
    partition_column: int = NO_LIMIT
    comment: int = NO_LIMIT
    unit: str = "characters"
    unsupported: str = ""
    unsupported_in_keys: str = ""
    stores_empty: bool = True
    lower_case: bool = False
    prefix: str = ""

    def length(self, text: str) -> int:
        return len(text) if self.unit == "characters" else len(text.encode("utf-8", "replace"))

    def unsupported_character(self, text: str, besides: str = "") -> str | None:
        """An error for the first unsupported character."""
        classes = self.unsupported + besides
        found = re.search(f"[{classes}]", text) if classes else None
        return f"the store does not support the character U+{ord(found[0]):04X}" if found else None


#: Surrogates, which cannot be encoded; non-ASCII characters, which the Latin-1 columns of Hive's
#: schema for MySQL do not store reliably; control characters.
SURROGATES = r"\ud800-\udfff"
NOT_ASCII = r"\u0080-\U0010ffff"
CONTROLS = r"\x00-\x08\x0a-\x1f"

#: A Hive metastore, as Flink's HiveCatalog uses it.
HIVE = StoreLimits(
    key=256,
    database=128,
    table=256,
    column=767,
    partition_column=128,
    comment=256,
    unsupported=SURROGATES,
    lower_case=True,
    prefix=FLINK,
)

#: Name -> limits. `hive`: those of every metastore, whatever its database and version.
STORES: dict[str, StoreLimits] = {
    "none":          StoreLimits(),
    "hive":          replace(HIVE, value=4_000, table=128, column=128, stores_empty=False,
                             unsupported=r"\x00" + NOT_ASCII),
    "hive-derby":    replace(HIVE, value=32_672),
    "hive-mysql":    replace(HIVE, value=2**24 - 1, unsupported=NOT_ASCII),
    "hive-postgres": replace(HIVE, comment=4_000, unsupported=r"\x00" + SURROGATES),
    "hive-oracle":   replace(HIVE, unit="bytes", stores_empty=False,
                             unsupported=r"\x00" + SURROGATES),
    "glue":          replace(HIVE, key=255, value=512_000, database=255, table=255, column=255,
                             partition_column=255, comment=255, unit="bytes",
                             unsupported=r"\x00" + SURROGATES, unsupported_in_keys=CONTROLS),
}  # fmt: skip


def get_store_limits(name: str) -> StoreLimits:
    """The limits of a store.

    Raises:
        SchemaError: with code `invalid-argument`.

    >>> get_store_limits("hive-derby").value
    32672
    """
    if name not in STORES:
        raise SchemaError(
            f"unknown store profile {name!r}",
            code="invalid-argument",
            hint=choose_from(name, STORES),
        )
    return STORES[name]


# --- keys and values ------------------------------------------------------------------------------


def limit_violations(properties: Mapping[str, str], store: StoreLimits) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each key that the store would refuse, truncate or change.

    >>> [violation.message for violation in limit_violations({"a": ""}, STORES["hive-oracle"])]
    ['the store does not support empty values']
    """
    for key, value in properties.items():
        if (problem := limit_violation(key, value, store)) is not None:
            yield Diagnostic("exceeds-store-limit", problem, path=(key,))


def limit_violation(key: str, value: str, store: StoreLimits) -> str | None:
    """Why the store does not support a key with this value."""
    if (length := store.length(store.prefix + key)) > store.key:
        return f"the key has {length:,} {store.unit}; the store supports {store.key:,}"
    if (length := store.length(value)) > store.value:
        return f"the value has {length:,} {store.unit}; the store supports {store.value:,}"
    if not value and not store.stores_empty:
        return "the store does not support empty values"
    return store.unsupported_character(
        key, store.unsupported_in_keys
    ) or store.unsupported_character(value)


# --- names ----------------------------------------------------------------------------------------


@validate_arguments(
    path=ObjectPath, schema=ResolvedSchema, comment=(str, NoneType), store=StoreLimits
)
def check_names(
    path: ObjectPath,
    schema: ResolvedSchema,
    partition_keys: Iterable[str],
    comment: str | None,
    store: StoreLimits,
) -> tuple[Diagnostic, ...]:
    """Diagnostics for names and comments that the store's own columns cannot represent.

    Other engines use these columns; the property map preserves the case of column names.
    """
    keys = require_sequence(partition_keys, "partition_keys")
    named = [
        ("database", path.database_name, store.database),
        ("table", path.object_name, store.table),
        *(
            ("column", column.name, store.partition_column if column.name in keys else store.column)
            for column in schema.columns
        ),
    ]
    problems = [problem for what in named for problem in _name_problems(*what, store)]
    problems += _comment_problems("table", comment, store)
    for column in schema.columns:
        problems += _comment_problems(f"column {column.name!r}", column.comment, store)
    if store.lower_case:
        spellings: Properties = {}
        for column in schema.columns:
            other = spellings.setdefault(column.name.lower(), column.name)
            if other != column.name:
                problem = f"{other!r} and {column.name!r} are the same column to the store"
                place = (f"column {column.name!r}",)
                problems.append(Diagnostic("name-not-supported", problem, path=place))
    return tuple(problems)


def require_names(
    path: ObjectPath,
    schema: ResolvedSchema,
    partition_keys: Iterable[str],
    comment: str | None,
    store: StoreLimits,
) -> None:
    """Raise an error for everything that `check_names` reports.

    Raises:
        UnsupportedError: with the codes `name-not-supported`, `exceeds-store-limit`.
    """
    raise_all(
        UnsupportedError(name.message, code=name.code, path=name.path)
        for name in check_names(path, schema, partition_keys, comment, store)
    )


def _name_problems(what: str, name: str, most: int, store: StoreLimits) -> Iterator[Diagnostic]:
    place = (f"{what} {name[:60]!r}",)
    if (length := store.length(name)) > most:
        problem = f"the name has {length:,} {store.unit}; the store supports {most:,}"
        yield Diagnostic("name-not-supported", problem, path=place)
    if (wrong := store.unsupported_character(name)) is not None:
        yield Diagnostic("name-not-supported", wrong, path=place)
    if store.lower_case and what != "column" and name != name.lower():
        problem = "the store converts names to lower case"
        yield Diagnostic("name-not-supported", problem, path=place)


def _comment_problems(what: str, comment: str | None, store: StoreLimits) -> Iterator[Diagnostic]:
    length = store.length(comment or "")
    if length > store.comment:
        problem = f"the comment has {length:,} {store.unit}; the store supports {store.comment:,}"
        yield Diagnostic("exceeds-store-limit", problem, path=(what,))
