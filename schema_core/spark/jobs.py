"""Jobs, their errors and their job status hooks (FLIP-218), which run on the driver.

Spark's own listeners are called later and on other threads, so they cannot run what must happen
exactly once before or after a job.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from schema_core.environment.planner import Job, JobStatus, JobStatusHook
from schema_core.errors import ExternalError, SchemaCoreError, with_notes
from schema_core.spark.transactions import NoTransaction, Transaction

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


#: The note of an error that is raised after the commit.
COMMITTED = "the rows of the job are committed: do not run the statement again"

UNCERTAIN = "the rows may be committed: read the table before you run the statement again"


def run_job(
    session: SparkSession,
    name: str,
    action: Callable[[], None],
    hooks: Sequence[JobStatusHook] = (),
    transaction: Transaction | None = None,
) -> Job:
    """Run an action as one job of Spark, within a transaction, and notify the hooks.

    The commit is part of the job: `on_finished` is called after its rows are visible. For
    every event each hook is called exactly once, in order, whatever other hooks raise: first
    `on_created`, then one of `on_finished`, `on_failed` and `on_canceled` (for a cancelled job
    group or a keyboard interrupt). A job whose `on_created` raises does not start and has failed.

    The first error is the one that is raised; later errors, those of hooks too, are attached to it
    as notes (PEP 678). If only hooks raise after a commit, the job has finished nevertheless.

    Raises:
        ExternalError: with code `job-failed` or `job-canceled`; with code `job-hook-failed` where
            the job finished but a hook raised.
        SchemaCoreError: whatever the action, the transaction or `on_created` refuses.
    """
    job_id = uuid.uuid4().hex
    transaction = transaction or NoTransaction()
    try:
        created = [partial(hook.on_created, job_id) for hook in hooks]
        if errors := _errors_of([transaction.begin, *created]):
            raise with_notes(errors[0], errors[1:], "while the job was created")  # noqa: TRY301
        with job_group(session, job_id, name):
            action()
        transaction.commit()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            with suppress(Exception):  # Spark may be what has stopped
                session.sparkContext.cancelJobGroup(job_id)
        raised = _ended(transaction, hooks, job_id, error)
        if raised is error:
            raise
        raise raised from error
    if errors := _errors_of([partial(hook.on_finished, job_id) for hook in hooks]):
        raise _of_hooks(errors) from errors[0]
    return Job(job_id, JobStatus.FINISHED)


def _errors_of(calls: Sequence[Callable[[], object]]) -> list[BaseException]:
    """Make every call; return the errors that they raise, in order."""
    errors: list[BaseException] = []
    for call in calls:
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - raised by the caller
            errors.append(error)
    return errors


def _ended(
    transaction: Transaction, hooks: Sequence[JobStatusHook], job_id: str, error: BaseException
) -> BaseException:
    """Abort, notify the hooks, and return the error to raise for a job that failed."""
    late = _errors_of([transaction.abort])
    status = JobStatus.CANCELED if was_canceled(error) else JobStatus.FAILED
    calls: list[Callable[[], object]]
    if transaction.committed:
        calls = [partial(hook.on_finished, job_id) for hook in hooks]
    elif status is JobStatus.CANCELED:
        calls = [partial(hook.on_canceled, job_id) for hook in hooks]
    else:
        calls = [partial(hook.on_failed, job_id, error) for hook in hooks]
    late += _errors_of(calls)
    known = isinstance(error, SchemaCoreError) or not isinstance(error, Exception)
    raised = error if known else failure(error, status)
    if transaction.committed is not False:
        raised.add_note(COMMITTED if transaction.committed else UNCERTAIN)
    return with_notes(raised, late, "afterwards")


def _of_hooks(errors: list[BaseException]) -> BaseException:
    """Return the error to raise for a job that finished although hooks raised."""
    first = errors[0]
    if not isinstance(first, Exception):
        return with_notes(first, errors[1:], "afterwards")
    raised = ExternalError(
        f"the job finished, but a job status hook failed: {reason(first)}",
        code="job-hook-failed",
        hint="do not run the statement again: its rows are written",
    )
    return with_notes(raised, errors[1:], "afterwards")


#: What `SparkContext.setJobGroup` sets for a thread.
JOB_PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


@contextmanager
def job_group(session: SparkSession, job_id: str, name: str) -> Iterator[None]:
    """Run Spark jobs in a job group with this id, by which they can be cancelled.

    The properties of job groups are per thread, not per session: the user's are restored.
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
    """Convert errors of Spark to `ExternalError`."""
    try:
        yield
    except SchemaCoreError:
        raise
    except Exception as error:
        status = JobStatus.CANCELED if was_canceled(error) else JobStatus.FAILED
        raise failure(error, status) from error


#: Separates problem and hint in the message of a generated check.
HINT = " | hint: "


def failure(error: BaseException, status: JobStatus) -> ExternalError:
    """Return the error to raise for a failed job, with the reason in Spark's message."""
    canceled = status is JobStatus.CANCELED
    problem, _, hint = reason(error).partition(HINT)
    return ExternalError(
        "the job was cancelled" if canceled else f"the job failed: {problem}",
        code="job-canceled" if canceled else "job-failed",
        hint=hint or None,
    )


#: The qualified name of a library error before its message.
_OWN = re.compile(r"^schema_core\.[\w.]+: ")
#: The error of a Python function, in the last line of its traceback.
_RAISED = re.compile(r"^([\w.]*(?:Error|Exception): .*)$", re.MULTILINE)


def reason(error: BaseException) -> str:
    """Return the cause of a failure in one line: of a generated check, else the innermost one."""
    mark = "[USER_RAISED_EXCEPTION] "
    messages = [str(error), *(str(cause.getMessage()) for cause in causes(error))]
    for text in messages:
        if mark in text:
            return text.partition(mark)[2].partition(" SQLSTATE:")[0]
        if raised := _RAISED.findall(text):
            return _OWN.sub("", str(raised[-1]))
    lines = [text.strip().splitlines()[0] for text in messages if text.strip() and text != "None"]
    found = lines[-1] if lines else type(error).__name__
    file = next(filter(None, map(_file_of, causes(error))), None)
    return found if file is None or file in found else f"{found} in file {file!r}"


def _file_of(cause: Any) -> str | None:
    """Return the file that a reader of Spark failed in."""
    if not (condition_of(cause) or "").startswith("FAILED_READ_FILE"):
        return None
    path = cause.getMessageParameters().get("path")
    return path and unquote(str(path)).removeprefix("file://")


def causes(error: BaseException) -> Iterator[Any]:
    """Yield the Java exceptions that caused an error, outermost first."""
    cause: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None and hasattr(cause, "getCause"):
        yield cause
        cause = cause.getCause()


def condition_of(cause: Any) -> str | None:
    """Return the error condition of a Spark exception; None for other Java exceptions."""
    try:
        condition = cause.getCondition()
    except Exception:  # noqa: BLE001 - py4j raises an error of its own for a missing method
        return None
    return condition if isinstance(condition, str) else None


def was_canceled(error: BaseException) -> bool:
    """Return whether a job was cancelled."""
    if isinstance(error, KeyboardInterrupt):
        return True
    for cause in causes(error):
        if (condition_of(cause) or "").startswith("SPARK_JOB_CANCELLED"):
            return True
    return "SPARK_JOB_CANCELLED" in str(error)
