"""Jobs of Spark, and the errors of Spark as those of the library."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from schema_core.environment.job_client import JobStatus
from schema_core.environment.job_graph import JobExecution
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.spark.transactions import NoTransaction, Transaction

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkJob(JobExecution):
    """A job of Spark: an action within a transaction.

    Its errors are those of the library, with the locations that `located` adds. Spark jobs run in a
    job group with the id of the job.

    Args:
        session: The session of the job.
        name: The description of the job group.
        action: Writes the rows.
        transaction: What the job does before and after; by default nothing.
        located: Returns a context manager that adds locations to errors.
        properties: The local properties that the job runs with, of `local_properties`.
    """

    def __init__(
        self,
        session: SparkSession,
        name: str,
        action: Callable[[], None],
        transaction: Transaction | None = None,
        located: Callable[[], AbstractContextManager[object]] = nullcontext,
        properties: Any = None,
    ) -> None:
        self._session = session
        self._name = name
        self._action = action
        self._transaction = transaction or NoTransaction()
        self._located = located
        self._properties = properties

    @property
    def committed(self) -> bool | None:
        """Whether the rows are visible for good; None if that is unknown after an error."""
        return self._transaction.committed

    def set_name(self, name: str) -> None:
        self._name = name

    def begin(self) -> None:
        with self._located(), spark_errors():
            self._transaction.begin()

    def run(self, job_id: str) -> None:
        with self._located(), spark_errors():
            if self._properties is not None:
                inherit(self._session, self._properties)
            with job_group(self._session, job_id, self._name):
                self._action()

    def commit(self) -> None:
        with self._located(), spark_errors():
            self._transaction.commit()

    def abort(self) -> None:
        with self._located():
            self._transaction.abort()

    def cancel(self, job_id: str) -> None:
        """Cancel the Spark jobs of the group, and those that it starts later."""
        self._context().cancelJobGroupAndFutureJobs(job_id)

    def progress(self, job_id: str) -> tuple[int, int] | None:
        """Return the tasks that are done, and all tasks, of the Spark jobs so far."""
        tracker = self._session.sparkContext.statusTracker()
        done = total = 0
        for job in tracker.getJobIdsForGroup(job_id):
            info = tracker.getJobInfo(job)
            for stage in info.stageIds if info is not None else ():
                if (found := tracker.getStageInfo(stage)) is not None:
                    done, total = done + found.numCompletedTasks, total + found.numTasks
        return (done, total) if total else None

    def _context(self) -> Any:
        return self._session.sparkContext._jsc.sc()  # noqa: SLF001 - PySpark has not all methods


def local_properties(session: SparkSession) -> Any:
    """Return a copy of the local properties of this thread in the JVM."""
    return session.sparkContext._jsc.sc().getLocalProperties().clone()  # noqa: SLF001


def inherit(session: SparkSession, properties: Any) -> None:
    """Set the local properties of this thread, as PySpark's `InheritableThread` does."""
    session.sparkContext._jsc.sc().setLocalProperties(properties)  # noqa: SLF001


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
        with suppress(Exception):  # Spark may be what has stopped
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
