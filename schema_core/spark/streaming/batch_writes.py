"""How tables take the micro-batches of a streaming job, and which changes they take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from schema_core.environment.connector import (
    Ability,
    DeliveryGuarantee,
    delivery_guarantee_of,
)
from schema_core.environment.options import (
    CHECKPOINTS,
)
from schema_core.environment.planner import BoundTable
from schema_core.errors import (
    ConflictError,
    UnsupportedError,
)
from schema_core.errors.hints import DELETE_CHECKPOINT
from schema_core.spark.changelog import (
    ROW_KIND,
    SupportsChangelog,
    SupportsChangelogWrite,
    write_rows,
)
from schema_core.spark.connector import (
    MicroBatch,
    SparkConnector,
    SupportsMicroBatches,
    SupportsWriteValidation,
    WriteContext,
    can_replay,
    stages,
)
from schema_core.spark.streaming.checkpoints import (
    Checkpoint,
)
from schema_core.spark.streaming.incremental import (
    StreamPlan,
)
from schema_core.spark.streaming.stream_metrics import (
    ObservedCounts,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def require_replay(connectors: Iterable[SparkConnector]) -> None:
    """Require that a job with a checkpoint can reread its last micro-batch.

    The error has the code `streaming-not-supported`.
    """
    for connector in connectors:
        if not can_replay(connector):
            raise UnsupportedError(
                f"the connector {connector.identifier!r} cannot repeat rows, so a job with a "
                "checkpoint would lose those of a micro-batch that fails",
                code="streaming-not-supported",
                hint=f"write a table that needs no checkpoint, such as one of 'print', after "
                f"RESET '{CHECKPOINTS.key}'",
            )


def takes_updates(
    connector: SparkConnector, options: Mapping[str, str]
) -> TypeGuard[SupportsChangelog]:
    """Return whether a table takes every change of updated rows, not only the last of a key."""
    if Ability.UPSERT in connector.abilities:
        return False
    if isinstance(connector, SupportsChangelogWrite) and not connector.consumes_changes(options):
        return False
    return isinstance(connector, SupportsChangelog)


def require_updates(
    connector: SparkConnector, target: BoundTable, columns: Sequence[str], plan: StreamPlan
) -> None:
    """Require that a table takes the changes of a query, or replaces its rows by the query's key.

    `columns` are those that the query fills, in its order (`streaming-not-supported`).
    """
    takes_all = takes_updates(connector, target.table.options)
    guarantee = delivery_guarantee_of(connector, target.table.options)
    if takes_all and guarantee is DeliveryGuarantee.NONE:
        return  # nothing is stored whose former rows a restarted job would not remove
    shown = target.identifier.as_summary_string()
    operation = plan.state.value if plan.state is not None else ""
    primary = target.table.resolved_schema.primary_key
    is_replaced = takes_all or Ability.UPSERT in connector.abilities
    if not is_replaced or primary is None:
        raise UnsupportedError(
            f"the table {shown} cannot consume update changes, which {operation} produces",
            code="streaming-not-supported",
            hint="write a table with a primary key whose connector replaces rows, such as 'jdbc' "
            "or 'upsert-kafka'; or group by the windows of a window function",
        )
    own = [columns[place] for place in plan.key]
    if set(own) != set(primary.columns) or not own:
        raise UnsupportedError(
            f"the primary key ({', '.join(primary.columns)}) of the table {shown} differs from the "
            f"key ({', '.join(own)}) by which {operation} updates its rows",
            code="streaming-not-supported",
            hint="declare the columns of that key as the primary key",
        )


def validate_stream(
    connector: SparkConnector, context: WriteContext, checkpoint: Checkpoint | None
) -> None:
    """Check before a streaming job that its table can be written.

    Errors are the connector's, for a new table those of a batch job's CREATE TABLE AS, and
    `checkpoint-mismatch` if the table lacks what the job has written.
    """
    context = replace(context, batch=MicroBatch("0" * 32, 0))
    if isinstance(connector, SupportsWriteValidation):
        connector.validate_write(context)
    if stages(connector, context):
        connector.stage(context).abort()
    if not isinstance(connector, SupportsMicroBatches) or checkpoint is None:
        return
    if not checkpoint.fits(connector.last_batch(context, checkpoint.id)):
        raise ConflictError(
            f"the table {context.identifier.as_summary_string()} does not hold the rows that the "
            f"job with the checkpoint {checkpoint.location!r} has written, or holds later ones",
            code="checkpoint-mismatch",
            hint=DELETE_CHECKPOINT,
        )


def write_batch(
    connector: SparkConnector, rows: DataFrame, context: WriteContext, *, has_state: bool = False
) -> None:
    """Write the rows of a micro-batch; they are visible at the end.

    If the query `has_state`, most micro-batches have no rows: a connector that records
    micro-batches then commits no file. Other connectors may read the rows repeatedly: they are
    cached, so that the state is read once.
    """
    if not stages(connector, context):
        write_rows(connector, rows, context)
        return
    stage = connector.stage(context)
    try:
        context_of_stage = replace(context, stage=stage)
        if not has_state or ROW_KIND in rows.columns:
            write_rows(connector, rows, context_of_stage)
        elif not isinstance(connector, SupportsMicroBatches):
            with persisting(rows):
                write_rows(connector, rows, context_of_stage)
        elif not written_rows(connector, rows, context_of_stage):
            stage.abort()
            stage = connector.stage(context)
        stage.prepare()
        stage.commit()
    except BaseException:
        stage.abort()
        raise


def written_rows(connector: SparkConnector, rows: DataFrame, context: WriteContext) -> int:
    """Write the rows of a micro-batch and return their number."""
    observed = ObservedCounts(rows, {"rows": "count(*)"})
    write_rows(connector, observed.frame, context)
    return observed.wait()["rows"]


@contextmanager
def persisting(rows: DataFrame) -> Iterator[None]:
    """Cache a micro-batch's rows, so that its state is read once."""
    rows.persist()
    try:
        yield
    finally:
        rows.unpersist()
