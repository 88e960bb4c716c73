"""The options that this library stores with the tables of a catalog: users do not set or see them.

They decide which directory belongs to a table, and what recovery does with it. So SQL, descriptors,
property maps and migrations must not contain an option with the prefix, and values from a catalog
are validated before anything is deleted, renamed or written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from schema_core.errors import ExternalError, SchemaError
from schema_core.errors.hints import RESTORE_ENTRY

if TYPE_CHECKING:
    from schema_core.base.text import Span
    from schema_core.catalog.objects import CatalogBaseTable

    Table = TypeVar("Table", bound=CatalogBaseTable)

#: The prefix of the options.
PREFIX: Final = "schema-core."
#: The directory of a managed table, below the warehouse.
MANAGED: Final = "schema-core.managed"
#: The pending job of a table: see `schema_core.environment.jobs.pending`, also for the next three.
PENDING_JOB: Final = "schema-core.unfinished"
#: The CREATE TABLE statement of what REPLACE TABLE AS replaces. Its name makes it secret: the
#: statement has the passwords of the table.
REPLACED: Final = "schema-core.secret.replaced"
#: The directory of the managed table that REPLACE TABLE AS replaces.
REPLACED_DIRECTORY: Final = "schema-core.replaced-folder"
#: The column history of what REPLACE TABLE AS replaces.
REPLACED_HISTORY: Final = "schema-core.replaced-column-history"
#: The history of the columns and fields of a table: see `catalog.changes.column_history`.
COLUMN_HISTORY: Final = "schema-core.column-history"
#: The prefix of the parameters of a Hive table that hold its statistics; a number follows.
STATISTICS: Final = "schema-core.statistics."


def is_own_option(key: str) -> bool:
    """Return whether only this library sets an option.

    >>> is_own_option("schema-core.managed"), is_own_option("path")
    (True, False)
    """
    return key[: len(PREFIX)].lower() == PREFIX


def require_no_own_options(
    keys: Iterable[str], *, span: Span | None = None, hint: str = "remove the option"
) -> None:
    """Refuse options that only this library sets (`reserved-option`)."""
    for key in keys:
        if is_own_option(key):
            raise SchemaError(
                f"the option {key!r} is set by this library",
                code="reserved-option",
                hint=hint,
                span=span,
            )


def own_options_of(table: CatalogBaseTable) -> dict[str, str]:
    """Return the options of a stored table that only this library sets."""
    return {key: value for key, value in table.options.items() if is_own_option(key)}


def without_own_options(table: Table) -> Table:
    """Return a stored table as users see it."""
    if not any(map(is_own_option, table.options)):
        return table
    return table.copy({key: v for key, v in table.options.items() if not is_own_option(key)})


def corrupt_option(key: str, options: Mapping[str, str], problem: str) -> ExternalError:
    """Return the error for a stored option with a value that must not be used."""
    return ExternalError(
        f"the stored table has the option {key!r} with the value {options[key]!r}, {problem}",
        code="corrupt-entry",
        hint=RESTORE_ENTRY,
    )
