"""`CtasPlan`: the effects, guarantees and losses of a CREATE TABLE AS, without running it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from schema_core.base.lazy_dataclass import dataclass
from schema_core.environment.connector import Visibility
from schema_core.environment.jobs.atomicity import AtomicityLevel

if TYPE_CHECKING:
    from schema_core.base.paths import ObjectIdentifier
    from schema_core.catalog.objects import CatalogTable
    from schema_core.environment.planner import BoundTable
    from schema_core.errors import Diagnostic
    from schema_core.query.relation import Relation
    from schema_core.schema.resolved import ResolvedSchema

#: Level -> what remains of a job that fails, is cancelled or is killed.
GUARANTEES: Mapping[AtomicityLevel, str] = {
    AtomicityLevel.CREATED_FIRST: "the table is created before the job and stays if the job fails",
    AtomicityLevel.ROLLED_BACK: "the table is created before the job and dropped if the job fails",
    AtomicityLevel.ISOLATED: "neither the table nor a row is visible before the job has finished",
}

#: Visibility -> what a reader sees while the job runs.
READERS: Mapping[Visibility, str] = {
    Visibility.WRITE_VISIBLE: "rows are visible as they are written, also those of a failed job",
    Visibility.INCREMENTAL: "rows become visible a part at a time, also those of a failed job",
    Visibility.FINAL: "rows become visible when the job has finished, or never",
}


@dataclass(frozen=True, slots=True)
class SinkLoss:
    """What a table does not keep of the rows or the schema of the query.

    Attributes:
        path: The names of the column and of the fields within it, or of a part of the schema.
        source: What the query or the statement has.
        target: What is stored of it, or an empty string.
        meaning: What this does to the rows, or to readers.
        changes_values: Whether values are changed without an error.
    """

    path: tuple[str, ...]
    source: str
    target: str
    meaning: str
    changes_values: bool = False

    def __str__(self) -> str:
        becomes = f" becomes {self.target}" if self.target else ""
        return f"{'.'.join(self.path)}: {self.source}{becomes} ({self.meaning})"


@runtime_checkable
class SupportsSinkCheck(Protocol):
    """A planner that reports on a write before it runs."""

    def sink_problems(
        self, query: Relation, target: BoundTable, replaced: CatalogTable | None
    ) -> Sequence[Diagnostic]:
        """Return why CREATE or REPLACE TABLE AS would be refused, without running anything."""

    def sink_losses(self, query: Relation, target: BoundTable) -> Sequence[SinkLoss]:
        """Return what the table would not keep of the rows of a query."""


@dataclass(frozen=True, slots=True)
class CtasPlan:
    """The effects, guarantees and losses of a CREATE or REPLACE TABLE AS (FLIP-218).

    `TableEnvironment.plan_ctas` and `TablePipeline.plan_ctas` return it; nothing was run.

    Attributes:
        identifier: The path of the table.
        action: ``create``, ``replace``, or ``insert`` for IF NOT EXISTS on a table that exists.
        schema: The schema that the table has afterwards.
        partition_keys: Its partition keys.
        options: Its options, the secret ones masked.
        exists: Whether there is an object at the path already.
        level: What remains of a job that fails.
        reasons: Why it is not a higher level: one reason for each condition that is not met.
        visibility: When readers see the rows; None if the connector is not known.
        losses: What the table does not keep.
        problems: Why the statement would be refused now; empty if it would run.
    """

    identifier: ObjectIdentifier
    action: str
    schema: ResolvedSchema
    partition_keys: tuple[str, ...]
    options: Mapping[str, str] = field(repr=False)
    exists: bool
    level: AtomicityLevel
    reasons: tuple[str, ...] = ()
    visibility: Visibility | None = None
    losses: tuple[SinkLoss, ...] = ()
    problems: tuple[Diagnostic, ...] = ()

    @property
    def is_executable(self) -> bool:
        """Whether the statement would run."""
        return not self.problems

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        there = "exists" if self.exists else "does not exist"
        yield f"{self.action} {self.identifier.as_summary_string()}, which {there}"
        yield str(self.schema)
        if self.partition_keys:
            yield f"partitioned by: {', '.join(self.partition_keys)}"
        shown = ", ".join(f"'{key}' = '{value}'" for key, value in sorted(self.options.items()))
        yield f"options: {shown or 'none'}"
        yield f"level: {self.level}: {GUARANTEES[self.level]}"
        yield from (f"  not higher: {reason}" for reason in self.reasons)
        if self.visibility is None:
            yield "visibility: unknown"
        else:
            yield f"visibility: {self.visibility.value}: {READERS[self.visibility]}"
        yield f"losses: {len(self.losses) or 'none'}"
        yield from (f"  {loss}" for loss in self.losses)
        yield f"problems: {len(self.problems) or 'none'}"
        for problem in self.problems:
            place = f"{', '.join(problem.path)}: " if problem.path else ""
            yield f"  {place}{problem.message} [{problem.code}]"
            if problem.hint:
                yield f"    hint: {problem.hint}"
