"""The two modes of Spark's API: classic, in the JVM of this process, and Spark Connect.

A session of Spark Connect is a client: it has no SparkContext and no access to the JVM. What needs
one of them is refused before a job by `require_classic`, with one code for all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from schema_core.errors import ExternalError, UnsupportedError
from schema_core.lazy_regex import regex

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession

#: Masters whose executor is the driver; its Python workers have the modules of this process.
_IN_PROCESS: Final = regex(r"local(\[.*\])?")


def is_connect(session: object) -> bool:
    """Return whether a session, or a DataFrame, is one of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect.")


def functions_of(session: object) -> Any:
    """Return the module of functions of a session, or of a DataFrame.

    Those of `pyspark.sql.functions` are of Spark Connect only in a process without a SparkContext.
    """
    if is_connect(session):
        from pyspark.sql.connect import functions as of_connect

        return of_connect
    from pyspark.sql import functions

    return functions


def require_classic(session: SparkSession, what: str, hint: str | None = None) -> None:
    """Refuse what needs the JVM of the driver in a session of Spark Connect.

    Raises:
        UnsupportedError: with code `not-over-connect`.
    """
    if is_connect(session):
        raise not_over_connect(what, hint)


def not_over_connect(what: str, hint: str | None = None) -> UnsupportedError:
    """Return the error for what needs the JVM of the driver."""
    return UnsupportedError(
        f"{what}: not available over Spark Connect",
        code="not-over-connect",
        hint=hint or "use a session of a SparkContext in this process",
    )


def is_running(session: SparkSession) -> bool:
    """Return whether neither a session of Spark Connect nor its SparkContext has been stopped."""
    if is_connect(session):
        return not session.is_stopped
    return is_alive(session.sparkContext)


def is_alive(context: SparkContext) -> bool:
    """Whether a SparkContext has not been stopped, from Python or within the JVM."""
    java = context._jsc  # noqa: SLF001 - None once it is stopped
    return java is not None and not java.sc().isStopped()


def stopped(hint: str = "create an environment with a running session") -> ExternalError:
    """Return the error for a session that has been stopped."""
    return ExternalError(
        "the Spark session of the environment is stopped", code="spark-session-stopped", hint=hint
    )


def is_same_session(frame: DataFrame, session: SparkSession) -> bool:
    """Return whether a DataFrame is of a session: two wrappers may be of one session."""
    own: Any = frame.sparkSession
    if is_connect(own) or is_connect(session):
        return is_connect(own) and is_connect(session) and own.session_id == session.session_id
    return bool(own._jsparkSession.equals(session._jsparkSession))  # noqa: SLF001


def has_remote_workers(session: SparkSession) -> bool:
    """Return whether Python functions may run where the modules of this process are not."""
    return is_connect(session) or not _IN_PROCESS.fullmatch(session.sparkContext.master)


@contextmanager
def checkpointed(frame: DataFrame, *, when: bool = True) -> Iterator[DataFrame]:
    """Yield a frame of the same rows, computed now, whatever happens to what the frame reads.

    Args:
        frame: The frame.
        when: False to yield the frame itself.
    """
    if not when:
        yield frame
        return
    found: Any = frame.localCheckpoint(eager=True)
    if not is_connect(frame):
        yield found
        return
    # PySpark makes it a frame of the active session, where no such rows are
    from pyspark.sql.connect.dataframe import DataFrame as ConnectFrame
    from pyspark.sql.connect.plan import CachedRemoteRelation

    session: Any = frame.sparkSession
    relation, key = found._plan, found._plan._relation_id  # noqa: SLF001
    relation._relation_id = None  # noqa: SLF001 - its end would delete nothing
    kept = CachedRemoteRelation(key, session)
    try:
        yield ConnectFrame(kept, session)
    finally:
        # PySpark deletes the rows when the object ends, and waits for a server that has ended
        kept.__del__()
        kept._relation_id = None  # noqa: SLF001
