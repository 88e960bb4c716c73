"""Connections of the connector `jdbc` to a database, and their errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from schema_core.base.secrets import mask_urls
from schema_core.errors import ExternalError

if TYPE_CHECKING:
    from schema_core.connectors.jdbc.dialects import DatabaseColumn

#: How errors begin after which the same statement may succeed: their codes of SQLSTATE.
TRANSIENT = ("08", "40", "53", "57")


class DatabaseError(ExternalError):
    """A database refused a connection or a statement; `sql_state` is its SQLSTATE, or empty."""

    default_code = "jdbc-failed"
    sql_state = ""


class Connection(ABC):
    """A connection to a database, which commits every statement until a transaction begins.

    All methods raise `DatabaseError`, with code `jdbc-failed`.
    """

    @abstractmethod
    def execute(self, statement: str) -> None:
        """Execute a statement without a result."""

    @abstractmethod
    def is_empty(self, table: str) -> bool:
        """Return whether a table, whose name is quoted, has no rows."""

    @abstractmethod
    def table_names(self, schema: str | None, prefix: str) -> list[str]:
        """Return the names of the tables of a schema, by default the current one, with a prefix."""

    @abstractmethod
    def columns(self, table: str) -> Sequence[DatabaseColumn]:
        """Return the columns of a table, whose name is quoted."""

    @abstractmethod
    def begin(self) -> None:
        """Begin a transaction."""

    @abstractmethod
    def commit(self) -> None:
        """Commit the transaction."""

    @abstractmethod
    def rollback(self) -> None:
        """Roll the transaction back, and commit every statement from now on."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""


def database_error(message: str, state: object, action: str) -> DatabaseError:
    """Return the error for a message and a SQLSTATE of a driver."""
    note = f" (SQLSTATE {state})" if state else ""
    raised = DatabaseError(f"the database failed to {action}: {one_line(message)}{note}")
    raised.sql_state = str(state or "")
    return raised


def one_line(message: str) -> str:
    """Return a message without passwords as one line."""
    return " ".join(mask_urls(message).split())


def is_transient(error: ExternalError) -> bool:
    """Return whether a statement that failed may succeed when it is repeated."""
    return isinstance(error, DatabaseError) and error.sql_state.startswith(TRANSIENT)


def has_mark(error: DatabaseError, mark: str) -> bool:
    """Return whether an error has a SQLSTATE, or a part of its message."""
    return error.sql_state == mark or mark in error.problem
