"""A job and those who are told of it: run on the driver, watched around the call itself.

Spark's own listeners hear of things later and from elsewhere; what must happen exactly once,
before or after a job, happens here (FLIP-218's JobStatusHook).
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from schema_core.environment.planner import Job, JobStatus, JobStatusHook
from schema_core.errors import ExternalError, SchemaCoreError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_job(
    session: SparkSession,
    name: str,
    action: Callable[[], None],
    hooks: Sequence[JobStatusHook] = (),
) -> Job:
    """Run an action as one job of Spark and tell the hooks, in order, how it goes.

    `on_created` is called before the action; an error in it is raised and ends all. A failure is
    told as `on_failed`, a cancelled job group or a keyboard interrupt as `on_canceled`.

    Raises:
        ExternalError: with code `job-failed` or `job-canceled`.
    """
    job_id = uuid.uuid4().hex
    for hook in hooks:
        hook.on_created(job_id)
    try:
        with job_group(session, job_id, name):
            action()
    except BaseException as error:
        status = JobStatus.CANCELED if was_canceled(error) else JobStatus.FAILED
        for hook in hooks:
            if status is JobStatus.CANCELED:
                hook.on_canceled(job_id)
            else:
                hook.on_failed(job_id, error)
        if isinstance(error, SchemaCoreError) or not isinstance(error, Exception):
            raise
        raise failure(error, status) from error
    for hook in hooks:
        hook.on_finished(job_id)
    return Job(job_id, JobStatus.FINISHED)


#: What `SparkContext.setJobGroup` sets for a thread.
JOB_PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


@contextmanager
def job_group(session: SparkSession, job_id: str, name: str) -> Iterator[None]:
    """Everything that Spark runs inside carries this id, by which it can be cancelled.

    The properties belong to the thread, not to a session: those of the user are restored.
    """
    context = session.sparkContext
    before = {key: context.getLocalProperty(key) for key in JOB_PROPERTIES}
    context.setJobGroup(job_id, name, interruptOnCancel=True)
    try:
        yield
    finally:
        for key, value in before.items():
            context.setLocalProperty(key, value)  # type: ignore[arg-type, unused-ignore]


@contextmanager
def spark_errors() -> Iterator[None]:
    """Any error of Spark's as an `ExternalError`."""
    try:
        yield
    except SchemaCoreError:
        raise
    except Exception as error:
        status = JobStatus.CANCELED if was_canceled(error) else JobStatus.FAILED
        raise failure(error, status) from error


#: What stands before the hint in the message of a check of ours.
HINT = " | hint: "


def failure(error: BaseException, status: JobStatus) -> ExternalError:
    """What is raised of a job that did not end well: the first sentence of what Spark says."""
    canceled = status is JobStatus.CANCELED
    problem, _, hint = reason(error).partition(HINT)
    return ExternalError(
        "the job was cancelled" if canceled else f"the job failed: {problem}",
        code="job-canceled" if canceled else "job-failed",
        hint=hint or None,
    )


#: What a function of Python raised, in the last line of its trace.
_RAISED = re.compile(r"^([\w.]*(?:Error|Exception): .*)$", re.MULTILINE)


def reason(error: BaseException) -> str:
    """The cause of a failure in a line: what a check of ours raised, else the innermost cause."""
    mark = "[USER_RAISED_EXCEPTION] "
    texts = [str(error), *(str(cause.getMessage()) for cause in causes(error))]
    for text in texts:
        if mark in text:
            return text.partition(mark)[2].partition(" SQLSTATE:")[0]
        if raised := _RAISED.findall(text):
            return str(raised[-1])
    told = [text.strip().splitlines()[0] for text in texts if text.strip() and text != "None"]
    return told[-1] if told else type(error).__name__


def causes(error: BaseException) -> Iterator[Any]:
    """The exceptions of Java behind an error, from the outermost."""
    cause: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None and hasattr(cause, "getCause"):
        yield cause
        cause = cause.getCause()


def condition_of(cause: Any) -> str | None:
    """Spark's name of an error, from its Java exception; None for exceptions of others."""
    try:
        condition = cause.getCondition()
    except Exception:  # noqa: BLE001 - py4j has an error of its own for a method that is not there
        return None
    return condition if isinstance(condition, str) else None


def was_canceled(error: BaseException) -> bool:
    """Whether a job ended because somebody asked it to."""
    if isinstance(error, KeyboardInterrupt):
        return True
    for cause in causes(error):
        if (condition_of(cause) or "").startswith("SPARK_JOB_CANCELLED"):
            return True
    return "SPARK_JOB_CANCELLED" in str(error)
