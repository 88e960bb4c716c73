"""Jobs of Spark, and the errors of Spark as those of the library."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schema_core.base.contained_paths import decode_uri
from schema_core.base.lazy import regex
from schema_core.environment.jobs.atomicity import NoTransaction, Transaction
from schema_core.environment.jobs.graph import JobExecution
from schema_core.environment.jobs.run import JobStatus
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.spark.session.api_mode import (
    ended_jvm,
    has_lost_jvm,
    is_connect,
    is_running,
    java_context,
    not_over_connect,
    stopped_error,
)
from schema_core.spark.session.frames import IN_ITEM

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_connection_lost(error: BaseException) -> bool:
    """Return whether an error is of a connection to an ended JVM.

    An error within py4j is, even if another thread has started a JVM since.
    """
    if getattr(error, "java_exception", None) is not None:
        return False
    is_lost = has_lost_jvm()
    if type(error).__name__ == "Py4JNetworkError":
        return True
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    packages = {str(frame.f_globals.get("__name__")).partition(".")[0] for frame in frames}
    is_of_py4j = type(error).__module__.partition(".")[0] == "py4j"
    if isinstance(error, OSError | EOFError):
        return "py4j" in packages or (is_lost and "pyspark" in packages)
    return is_lost and is_of_py4j


@contextmanager
def jvm_errors() -> Iterator[None]:
    """Convert errors of a connection to an ended JVM (`spark-session-stopped`), no others."""
    try:
        yield
    except SchemaCoreError:
        raise
    except Exception as error:
        if is_connection_lost(error):
            raise ended_jvm() from error
        raise


class SparkJob(JobExecution):
    """A job of Spark: an `action` that writes rows, in a job group with the job's id.

    `name` describes the job group. The `transaction` is what the job does before and after, by
    default nothing. `located` returns a context manager that adds locations to errors; `properties`
    are from `local_properties`.
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
        """Whether the rows are visible for good; None if unknown after an error."""
        return self._transaction.committed

    def set_name(self, name: str) -> None:
        self._name = name

    def begin(self) -> None:
        with self._located(), spark_errors():
            self._transaction.begin()

    def run(self, job_id: str) -> None:
        with self._located(), spark_errors(self._session):
            if self._properties is not None:
                inherit(self._session, self._properties)
            with job_group(self._session, job_id, self._name):
                self._action()

    def commit(self) -> None:
        with self._located(), spark_errors():
            self._transaction.commit()

    def abort(self) -> None:
        with self._located(), jvm_errors():
            self._transaction.abort()

    @jvm_errors()
    def cancel(self, job_id: str) -> None:
        """Cancel the group's Spark jobs, present and future.

        Over Spark Connect, interrupt the operations with the job's tag.
        """
        if is_connect(self._session):
            self._session.interruptTag(job_id)
        else:
            java_context(self._session.sparkContext).cancelJobGroupAndFutureJobs(job_id)

    @jvm_errors()
    def progress(self, job_id: str) -> tuple[int, int] | None:
        """Return the done and all tasks of the Spark jobs so far; unknown over Spark Connect."""
        if is_connect(self._session):
            return None
        tracker = self._session.sparkContext.statusTracker()
        done = total = 0
        for job in tracker.getJobIdsForGroup(job_id):
            info = tracker.getJobInfo(job)
            for stage in info.stageIds if info is not None else ():
                if (found := tracker.getStageInfo(stage)) is not None:
                    done, total = done + found.numCompletedTasks, total + found.numTasks
        return (done, total) if total else None


def local_properties(session: SparkSession) -> Any:
    """Copy this thread's local properties in the JVM; None over Spark Connect."""
    if is_connect(session):
        return None
    return java_context(session.sparkContext).getLocalProperties().clone()


def inherit(session: SparkSession, properties: Any) -> None:
    """Set this thread's local properties, as PySpark's `InheritableThread`."""
    java_context(session.sparkContext).setLocalProperties(properties)


#: What `SparkContext.setJobGroup` sets for a thread.
JOB_PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


def cancel_all_jobs() -> None:
    """Cancel the Spark jobs of this process, if Spark has started; not over Spark Connect."""
    from pyspark import SparkContext

    if (context := SparkContext._active_spark_context) is not None:  # noqa: SLF001
        with suppress(Exception):  # Spark may be stopping
            context.cancelAllJobs()


@contextmanager
def job_group(session: SparkSession, job_id: str, name: str) -> Iterator[None]:
    """Run Spark jobs in a job group with this id, by which they can be cancelled.

    Job groups are properties of the thread, not the session: the user's are restored. Over Spark
    Connect the id is a tag of the thread's operations.
    """
    if is_connect(session):
        session.addTag(job_id)
        try:
            yield
        finally:
            session.removeTag(job_id)
        return
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
def spark_errors(session: SparkSession | None = None) -> Iterator[None]:
    """Convert errors of Spark to errors of the library, and recognise a stopped `session`.

    Errors: `job-failed`, `job-canceled`, `incompatible-installation`, `spark-session-stopped`, and
    `not-over-connect` for code that accesses the JVM.
    """
    try:
        with jvm_errors():
            yield
    except SchemaCoreError:
        raise
    except Exception as error:
        if session is not None and not is_running(session):
            raise stopped_error("run the statement again in a running session") from error
        if _NO_JVM in str(error):
            raise not_over_connect(str(error).split("`")[1]) from error
        status = JobStatus.CANCELED if was_canceled(error) else JobStatus.FAILED
        raise failure(error, status) from error


#: PySpark's condition for an attribute that needs this process's JVM.
_NO_JVM = "[JVM_ATTRIBUTE_NOT_SUPPORTED]"


#: Separates problem and hint in messages of generated checks.
HINT = " | hint: "


def failure(error: BaseException, status: JobStatus) -> ExternalError:
    """Return the error for a failed job, with the reason in Spark's message."""
    canceled = status is JobStatus.CANCELED
    if not canceled and (unfit := next(filter(None, map(_unfit, _messages(error))), None)):
        return unfit
    problem, _, hint = reason(error).partition(HINT)
    if not hint and (match := _NO_MODULE.search(problem)) is not None:
        name = match[1].partition(".")[0]
        hint = (
            f"the Python workers of Spark cannot import {name!r}: send it with "
            f"add_python_file('{name}.py') of the environment (a package as a directory or a zip "
            "file), set PYTHONPATH before Spark is started, or install it on every worker"
        )
    return ExternalError(
        "the job was cancelled" if canceled else f"the job failed: {problem}",
        code="job-canceled" if canceled else "job-failed",
        hint=hint or None,
    )


#: The error of a Python function whose module workers lack.
_NO_MODULE = regex(r"ModuleNotFoundError: No module named '([\w.]+)'")


#: Error pattern of a Python worker -> problem.
_UNFIT = (
    (regex(r"\[PYTHON_VERSION_MISMATCH\] .*?(\d+\.\d+).*?(\d+\.\d+)"),
     "the Python workers of Spark run Python {0}, the driver runs {1}"),
    (regex(r"No module named '(schema_core|pyspark|pyarrow|pandas|numpy)\b"),
     "the Python workers of Spark do not have the package {0!r}"),
    (regex(r"\[PACKAGE_NOT_INSTALLED\] (\S+) (>= \S+) must be installed"),
     "the Python workers of Spark do not have the package {0!r} {1}"),
)  # fmt: skip


def _unfit(message: str) -> ExternalError | None:
    """Return the error for Python workers that cannot run the library's functions."""
    for pattern, problem in _UNFIT:
        if (match := pattern.search(message)) is not None:
            return ExternalError(
                problem.format(*match.groups()),
                code="incompatible-installation",
                hint="set spark.pyspark.python (PYSPARK_PYTHON) to a Python of the driver's "
                "version that has pyspark, pyarrow, pandas and numpy, on every worker",
            )
    return None


#: A library error's qualified name before its message.
_OWN = regex(r"^schema_core\.[\w.]+: ")
#: The error of a Python function, in its traceback's last line.
_RAISED = regex(r"^([\w.]*(?:Error|Exception): .*)$", re.MULTILINE)
#: The hint of an error of the library, below its message, position and excerpt.
_HINT_BELOW = regex(r"(?:\n {2,}(?!hint: ).*)*\n  hint: (.*)")
#: The note of a connector's function that failed for an item.
_IN_ITEM = regex(rf"^({IN_ITEM}.*)$", re.MULTILINE)


def reason(error: BaseException) -> str:
    """Return a failure's cause in one line: of a generated check, else the innermost one.

    An error of Python code, such as a connector's, has its class and line.
    """
    mark = "[USER_RAISED_EXCEPTION] "
    messages = _messages(error)
    for text in messages:
        if mark in text:
            return text.partition(mark)[2].partition(" SQLSTATE:")[0]
        if raised := [*_RAISED.finditer(text)]:
            last = raised[-1]
            hint = _HINT_BELOW.match(text, last.end()) if _OWN.match(last[1]) else None
            item = _IN_ITEM.search(text, last.end())
            place = f" ({item[1]})" if item else ""
            return _OWN.sub("", last[1]) + place + (f"{HINT}{hint[1]}" if hint else "")
    if type(error).__module__.partition(".")[0] not in ENGINES:
        kind, message = type(error).__name__, str(error).partition("\n")[0]
        return f"{kind}: {message}{_line_of(error)}" if message else f"{kind}{_line_of(error)}"
    lines = [text.strip().splitlines()[0] for text in messages if text.strip() and text != "None"]
    line = lines[-1] if lines else type(error).__name__
    for cause in causes(error):
        if (condition_of(cause) or "").startswith("FAILED_READ_FILE"):
            path = cause.getMessageParameters().get("path")
            if file := path and decode_uri(str(path)):
                return line if file in line else f"{line} in file {file!r}"
    return line


#: Packages whose errors report what happened in the JVM or a worker.
ENGINES = frozenset({"py4j", "pyspark", "grpc"})


def _line_of(error: BaseException) -> str:
    """Return the file and line of user code that raised an error, if any."""
    for frame, line in reversed([*traceback.walk_tb(error.__traceback__)]):
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if package not in _LIBRARIES:
            return f" ({Path(frame.f_code.co_filename).name}, line {line})"
    return ""


#: Packages between a statement and a connector's code.
_LIBRARIES = ENGINES | sys.stdlib_module_names | {"schema_core"}


def _messages(error: BaseException) -> list[str]:
    """Return an error's and its causes' messages, without the stack that Connect adds."""
    messages = [str(error), *(str(cause.getMessage()) for cause in causes(error))]
    return [message.partition("\n\nJVM stacktrace:")[0] for message in messages]


def causes(error: BaseException) -> Iterator[Any]:
    """Yield the Java exceptions that caused an error, outermost first.

    For Spark Connect they have their messages, and the outermost one's methods.
    """
    if type(error).__module__ == "pyspark.errors.exceptions.connect":
        yield error
    cause: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None and hasattr(cause, "getCause"):
        yield cause
        cause = cause.getCause()


def condition_of(cause: Any) -> str | None:
    """Return a Spark exception's error condition; None for other Java exceptions."""
    try:
        condition = cause.getCondition()
    except Exception:  # noqa: BLE001 - py4j raises an error of its own for a missing method
        return None
    return condition if isinstance(condition, str) else None


#: Spark's and Spark Connect's error conditions of what was cancelled.
_CANCELED = ("SPARK_JOB_CANCELLED", "OPERATION_CANCELED", "INVALID_HANDLE.OPERATION_ABANDONED")


def was_canceled(error: BaseException) -> bool:
    """Return whether a job was cancelled."""
    if isinstance(error, KeyboardInterrupt):
        return True
    for cause in causes(error):
        if (condition_of(cause) or "").startswith(_CANCELED):
            return True
    return "SPARK_JOB_CANCELLED" in str(error)
