"""Schemas as other engines declare them: `Schema.from_ddl` and `Schema.to_ddl`.

A schema knows no engine but Flink and imports nothing above it, so it asks whoever registered for
the others at the entry points of one group, as `types.python` does for types (decision 7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypeVar

from schema_core.errors import NotFoundError
from schema_core.text import show

if TYPE_CHECKING:
    from schema_core.schema.unresolved import Schema

#: Entry points that load what reads and writes the statements of other engines.
GROUP = "schema_core.ddl"

OnLoss: TypeAlias = Literal["error", "note", "accept"]
Answer = TypeVar("Answer")


class Translator(Protocol):
    """What an entry point loads: a module or an object with these two.

    Both raise `NotFoundError` with code `unknown-dialect` for engines that they do not know.
    """

    def from_ddl(self, text: str, dialect: str, *, on_loss: OnLoss) -> Schema:
        """The schema of a CREATE TABLE."""
        ...

    def to_ddl(
        self,
        schema: DdlConversion,
        dialect: str,
        name: str | tuple[str, ...],
        *,
        on_loss: OnLoss,
    ) -> str:
        """The CREATE TABLE of a schema."""
        ...


class DdlConversion:
    """The methods of a schema that are about other engines."""

    __slots__ = ()

    @staticmethod
    def from_ddl(text: str, dialect: str = "postgres", *, on_loss: OnLoss = "error") -> Schema:
        """The schema of a CREATE TABLE of another engine.

        Raises:
            ParseError: for a text that is no such statement, with the place.
            NotFoundError: with code `unknown-dialect`.
            UnsupportedError: with code `type-not-in-flink` for types that nothing stands for, all
                at once; with code `lossy` where values would change and `on_loss` is `error`.

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
        """The statements of another engine that make a table of this schema.

        Raises:
            SchemaError: for a schema that cannot be resolved.
            NotFoundError: with code `unknown-dialect`.
            UnsupportedError: with code `type-not-in-dialect` or `name-not-in-dialect` for what the
                engine cannot have, `lossy` where values would change and `on_loss` is `error`.

        >>> from schema_core.schema.unresolved import Schema
        >>> print(Schema.new_builder().column("tags", "ARRAY<STRING>").build().to_ddl("trino"))
        CREATE TABLE "t" (
          "tags" array(varchar)
        )
        """
        return _first(lambda found: found.to_ddl(self, dialect, name, on_loss=on_loss), dialect)


def _first(ask: Callable[[Translator], Answer], dialect: str) -> Answer:
    """The answer of the first translator that knows the dialect."""
    unknown = NotFoundError(
        f"there is no dialect {show(dialect)}",
        code="unknown-dialect",
        hint="no translator of other engines' statements is installed",
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
    from importlib.metadata import entry_points  # it takes longer to import than all of the schema

    for entry in entry_points(group=GROUP):
        yield entry.load()
