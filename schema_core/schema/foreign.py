"""Conversion from and to the DDL of other engines: `Schema.from_ddl` and `Schema.to_ddl`.

This layer imports nothing above it, so translators for other engines are found by entry points, as
type converters are in `types.python` (decision 7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypeVar

from schema_core.errors import NotFoundError
from schema_core.text import show

if TYPE_CHECKING:
    from schema_core.schema.unresolved import Schema

#: Entry points of the translators.
GROUP = "schema_core.ddl"

OnLoss: TypeAlias = Literal["error", "note", "accept"]
Answer = TypeVar("Answer")


class Translator(Protocol):
    """Interface of the module or object that an entry point loads.

    Both methods raise `NotFoundError` with code `unknown-dialect` for unsupported engines.
    """

    def from_ddl(self, text: str, dialect: str, *, on_loss: OnLoss) -> Schema:
        """Return the schema of a CREATE TABLE statement."""
        ...

    def to_ddl(
        self,
        schema: DdlConversion,
        dialect: str,
        name: str | tuple[str, ...],
        *,
        on_loss: OnLoss,
    ) -> str:
        """Return the CREATE TABLE statement of a schema."""
        ...


class DdlConversion:
    """The methods of `Schema` for the DDL of other engines."""

    __slots__ = ()

    @staticmethod
    def from_ddl(text: str, dialect: str = "postgres", *, on_loss: OnLoss = "error") -> Schema:
        """Return the schema of a CREATE TABLE statement of another engine.

        Raises:
            ParseError: for any other statement, with the position.
            NotFoundError: with code `unknown-dialect`.
            UnsupportedError: with code `type-not-in-flink` for all types without an equivalent;
                with code `lossy` if values would change and `on_loss` is `error`.

        >>> from schema_core.schema.unresolved import Schema
        >>> print(Schema.from_ddl("CREATE TABLE t (id bigint NOT NULL, at timestamptz)", "duckdb"))
        (
          `id` BIGINT NOT NULL,
          `at` TIMESTAMP_LTZ(6)
        )
        """
        return _first(lambda found: found.from_ddl(text, dialect, on_loss=on_loss), dialect)

    def to_ddl(
        self,
        dialect: str = "postgres",
        name: str | tuple[str, ...] = "t",
        *,
        on_loss: OnLoss = "error",
    ) -> str:
        """Return the statements of another engine that create a table with this schema.

        Raises:
            SchemaError: for a schema that cannot be resolved.
            NotFoundError: with code `unknown-dialect`.
            UnsupportedError: with code `type-not-in-dialect` or `name-not-in-dialect` for
                unsupported types and names, `lossy` if values would change and `on_loss` is
                `error`.

        >>> from schema_core.schema.unresolved import Schema
        >>> print(Schema.new_builder().column("tags", "ARRAY<STRING>").build().to_ddl("trino"))
        CREATE TABLE "t" (
          "tags" array(varchar)
        )
        """
        return _first(lambda found: found.to_ddl(self, dialect, name, on_loss=on_loss), dialect)


def _first(ask: Callable[[Translator], Answer], dialect: str) -> Answer:
    """Return the result of the first translator that supports the dialect."""
    unknown = NotFoundError(
        f"there is no dialect {show(dialect)}",
        code="unknown-dialect",
        hint="install a package that provides translators",
    )
    for translator in _translators():
        try:
            return ask(translator)
        except NotFoundError as error:
            if error.code != "unknown-dialect":
                raise
            unknown = error
    raise unknown


def _translators() -> Iterator[Translator]:
    from importlib.metadata import entry_points  # slow to import

    for entry in entry_points(group=GROUP):
        yield entry.load()
