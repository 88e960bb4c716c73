"""A third-party package with one entry point of each group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from schema_core.catalog.registry import CatalogFactory
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.environment.connector import Ability, Context, open_connector
from schema_core.environment.jobs.graph import JobExecution, JobGraph
from schema_core.environment.options import ConfigOption, integer
from schema_core.environment.planner import PlannerContext, Rows
from schema_core.errors import NotFoundError
from schema_core.expressions.user_functions import udf
from schema_core.query.relation import Relation, result_columns
from schema_core.schema.unresolved import Schema
from schema_core.types import DataType, DataTypes

HOME = ConfigOption("home", str, "toys")
VAULT = ConfigOption("vault-number", str, secret=True)
CATALOG = CatalogFactory((HOME, VAULT), lambda name, options: InMemoryCatalog(name, "toys"))

#: The tables passed to the factory, for assertions.
SEEN: list[Context] = []


#: A factory whose objects are not hooks.
NO_HOOK = object

#: The calls of hooks: the name of the class, the number of the object, and the event.
EVENTS: list[tuple[str, int, str]] = []
_HOOKS: list[object] = []


class Audit:
    """A job status hook."""

    def __init__(self) -> None:
        _HOOKS.append(self)  # so that numbers are not used again

    def _called(self, event: str) -> None:
        EVENTS.append((type(self).__name__, id(self), event))

    def on_created(self, job_id: str) -> None:
        self._called("created")

    def on_finished(self, job_id: str) -> None:
        self._called("finished")

    def on_failed(self, job_id: str, error: BaseException) -> None:
        self._called("failed")

    def on_canceled(self, job_id: str) -> None:
        self._called("canceled")


class Store:
    """A connector whose source is created for one table."""

    identifier = "toy"
    can_read = can_write = True
    abilities: frozenset[Ability] = frozenset()
    metadata: Mapping[str, DataType] = {}
    writable_metadata: frozenset[str] = frozenset()

    def declared(self, options: Mapping[str, str]) -> Sequence[ConfigOption[Any]]:
        return (
            ConfigOption(
                "shelf", str, required=True, fallback_keys=("board",), deprecated_keys=("rack",)
            ),
            ConfigOption("number", integer, 3),
            ConfigOption("combination", integer, secret=True),
        )

    def create_dynamic_table_source(self, context: Context) -> Store:
        SEEN.append(context)
        return self

    def create_dynamic_table_sink(self, context: Context) -> Store:
        SEEN.append(context)
        return self


class Engine:
    """A planner that returns as many empty rows as an option of the table specifies."""

    identifier = "toy"

    def __init__(self, context: PlannerContext) -> None:
        self.context = context

    def select(self, query: Relation) -> Rows:
        columns = tuple((column.name, column.type) for column in result_columns(query))
        rows = [(None,) * len(columns)] * 2
        return Rows(columns, iter(rows), lambda: iter(rows))

    def insert(self, query: Relation, target: Any, **more: Any) -> JobGraph:
        open_connector(target, "write", self.context.options)
        return JobGraph("toy", JobExecution(), [target.identifier])

    def create_as(self, query: Relation, target: Any, registration: Any, **more: Any) -> JobGraph:
        registration.create()
        return JobGraph("toy", JobExecution(), [target.identifier])

    def explain(self, query: Relation, *, on_conflict: str | None = None) -> str:
        return "play"


@udf(result_type="INT")
def twice(number: int | None) -> int:
    return 2 * (number or 0)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {"twice": twice}
FORMAT = "not for files"


class Box:
    """An object of this package that `DataTypes.of` reads."""


def type_of(box: Box) -> DataType:
    """Return the type of a box."""
    return DataTypes.ROW([DataTypes.FIELD("content", DataTypes.BYTES())])


class Translator:
    """DDL of a toy engine."""

    @staticmethod
    def from_ddl(text: str, dialect: str, **_: object) -> Schema:
        if dialect != "toy":
            raise NotFoundError(f"there is no dialect {dialect!r}", code="unknown-dialect")
        return Schema.new_builder().column(text, "INT").build()
