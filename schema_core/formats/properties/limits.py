"""What stores can hold: a row for each, what of a map or of names does not fit, and why.

The figures are those of Hive's own schemas (metastore/scripts/upgrade, 2.3 and later), of a Derby
metastore that creates its tables itself, and of the Glue API. Metastores before 2.3 held 4,000
characters whatever the database.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from schema_core.errors import Diagnostic, Gathering, SchemaError, UnsupportedError
from schema_core.formats.properties.keys import Properties
from schema_core.paths import ObjectPath
from schema_core.schema.resolved import ResolvedSchema

#: Where Flink's HiveCatalog keeps the map of a table, beside the metastore's own properties.
FLINK = "flink."

NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """A store of strings by key, and what it does not take; texts are counted as `unit` says.

    `refused` are the characters that it refuses or gives back as others, for a character class;
    `unsupported_in_keys` those that it refuses in keys besides.
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
        """How long a text is here."""
        return len(text) if self.unit == "characters" else len(text.encode("utf-8", "replace"))

    def unsupported_character(self, text: str, besides: str = "") -> str | None:
        """Which character of a text does not come back as it is, or None."""
        classes = self.unsupported + besides
        found = re.search(f"[{classes}]", text) if classes else None
        return f"it does not keep the character U+{ord(found[0]):04X}" if found else None


#: Characters, for a class: halves of surrogate pairs, which no encoding has; all but ASCII, which
#: the Latin-1 columns of Hive's schema for MySQL cannot be trusted with; those that no line holds.
SURROGATES = r"\ud800-\udfff"
NOT_ASCII = r"\u0080-\U0010ffff"
CONTROLS = r"\x00-\x08\x0a-\x1f"

#: A Hive metastore, which is what Flink's HiveCatalog writes to.
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

#: Name -> what the store takes. `hive`: what any metastore takes, whatever its database and age.
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


def store_named(name: str) -> StoreLimits:
    """The row of a store.

    Raises:
        SchemaError: with code `unknown-store` for any other name.

    >>> store_named("hive-derby").value
    32672
    """
    if name not in STORES:
        raise SchemaError(
            f"there is no store profile {name!r}",
            code="unknown-store",
            hint=f"there are {', '.join(STORES)}",
        )
    return STORES[name]


# --- the map -------------------------------------------------------------------------------------


def limit_violations(properties: Mapping[str, str], store: StoreLimits) -> Iterator[Diagnostic]:
    """Every key that the store would refuse, cut, or give back with another value.

    >>> [
    ...     one.message
    ...     for one in limit_violations({"a": "", "b": "x" * 33_000}, STORES["hive-oracle"])
    ... ]
    ['it keeps no empty values']
    """
    for key, value in properties.items():
        if (problem := limit_violation(key, value, store)) is not None:
            yield Diagnostic("exceeds-store-limit", problem, path=(key,))


def limit_violation(key: str, value: str, store: StoreLimits) -> str | None:
    """Why the store does not take a key with this value, or None."""
    if (length := store.length(store.prefix + key)) > store.key:
        return f"a key of {length:,} {store.unit}, of {store.key:,} that it holds"
    if (length := store.length(value)) > store.value:
        return f"a value of {length:,} {store.unit}, of {store.value:,} that it holds"
    if not value and not store.stores_empty:
        return "it keeps no empty values"
    return store.unsupported_character(
        key, store.unsupported_in_keys
    ) or store.unsupported_character(value)


# --- names ---------------------------------------------------------------------------------------


def check_names(
    path: ObjectPath,
    schema: ResolvedSchema,
    partition_keys: Iterable[str],
    comment: str | None,
    store: StoreLimits,
) -> tuple[Diagnostic, ...]:
    """What the store cannot hold of a table in columns of its own: names and comments, and case.

    The map itself keeps the names of columns in any case; these are the store's own lists, by which
    other engines find the table.
    """
    keys = frozenset(partition_keys)
    named = [
        ("database", path.database_name, store.database),
        ("table", path.object_name, store.table),
        *(
            ("column", column.name, store.partition_column if column.name in keys else store.column)
            for column in schema.columns
        ),
    ]
    found = [one for what in named for one in _name_problems(*what, store)]
    found += _comment_problems("table", comment, store)
    for column in schema.columns:
        found += _comment_problems(f"column {column.name!r}", column.comment, store)
    if store.lower_case:
        found += _same_in_lower_case(column.name for column in schema.columns)
    return tuple(found)


def require_names(
    path: ObjectPath,
    schema: ResolvedSchema,
    partition_keys: Iterable[str],
    comment: str | None,
    store: StoreLimits,
) -> None:
    """Refuse, before anything is written, what `check_names` finds.

    Raises:
        UnsupportedError: with the codes `name-too-long`, `name-characters-not-supported`,
            `name-case-not-preserved`, `comment-too-long`.
    """
    found = Gathering()
    for one in check_names(path, schema, partition_keys, comment, store):
        error = UnsupportedError(one.message, code=one.code)
        error.path = one.path
        found.errors.append(error)
    found.raise_all()


def _name_problems(what: str, name: str, most: int, store: StoreLimits) -> Iterator[Diagnostic]:
    place = (f"{what} {name[:60]!r}",)
    if (length := store.length(name)) > most:
        problem = f"a name of {length:,} {store.unit}, of {most:,} that the store holds"
        yield Diagnostic("name-too-long", problem, path=place)
    if (wrong := store.unsupported_character(name)) is not None:
        yield Diagnostic("name-characters-not-supported", wrong, path=place)
    if store.lower_case and what != "column" and name != name.lower():
        problem = "the store keeps names in small letters: it would be found under another name"
        yield Diagnostic("name-case-not-preserved", problem, path=place)


def _comment_problems(what: str, comment: str | None, store: StoreLimits) -> Iterator[Diagnostic]:
    length = store.length(comment or "")
    if length > store.comment:
        problem = f"a comment of {length:,} {store.unit}, of {store.comment:,} that the store holds"
        yield Diagnostic("comment-too-long", problem, path=(what,))


def _same_in_lower_case(names: Iterable[str]) -> Iterator[Diagnostic]:
    seen: Properties = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            problem = f"the store takes {other!r} and {name!r} for the same column"
            yield Diagnostic("name-case-not-preserved", problem, path=(f"column {name!r}",))
