"""The two modes of Spark's API: classic, in the JVM of this process, and Spark Connect.

A session of Spark Connect is a client without SparkContext and JVM. `require_classic` refuses what
needs one before a job, with one code.
"""

from __future__ import annotations

import atexit
import json
import sys
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary, finalize

from schema_core.base.lazy import regex
from schema_core.errors import ExternalError, UnsupportedError
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.compiler.tree import quote

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession

#: Masters whose executor is the driver: Python workers have this process's modules.
_IN_PROCESS: Final = regex(r"local(\[.*\])?")


def is_connect(session: object) -> bool:
    """Return whether a session or DataFrame is one of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect.")


def functions_of(session: object) -> Any:
    """Return the module of functions of a session or DataFrame.

    `pyspark.sql.functions` is for Spark Connect only in a process without a SparkContext.
    """
    if is_connect(session):
        from pyspark.sql.connect import functions as of_connect

        return of_connect
    from pyspark.sql import functions

    return functions


def require_classic(session: SparkSession, what: str, hint: str | None = None) -> None:
    """Refuse what needs the driver's JVM in a session of Spark Connect (`not-over-connect`)."""
    if is_connect(session):
        raise not_over_connect(what, hint)


def not_over_connect(what: str, hint: str | None = None) -> UnsupportedError:
    """Return the error for what needs the driver's JVM."""
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
    """Return whether a SparkContext has not been stopped, from Python or within the JVM.

    One whose JVM has ended is released: PySpark would call that JVM forever instead of starting
    one.
    """
    if context._jsc is None:  # noqa: SLF001 - so PySpark marks one that it has stopped
        return False
    try:
        return not java_context(context).isStopped()
    except Exception as error:
        if getattr(error, "java_exception", None) is not None:
            raise
    release_jvm(context)
    return False


def release_jvm(context: SparkContext) -> None:
    """Let PySpark forget a SparkContext's ended JVM."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    gateway: Any = context._gateway  # noqa: SLF001 - PySpark has no public access
    for _ in range(2):  # the first call fails, and forgets the objects of the JVM
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            context.stop()
    with SparkContext._lock:  # noqa: SLF001
        if SparkContext._gateway is not gateway:  # noqa: SLF001 - another thread was first
            return
        SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
        SparkSession._instantiatedSession = None  # noqa: SLF001
        SparkSession._activeSession = None  # noqa: SLF001
    with suppress(Exception):
        gateway.shutdown()


def has_lost_jvm(context: SparkContext | None = None) -> bool:
    """Return whether the JVM of a SparkContext, by default the active one, has ended."""
    module: Any = sys.modules.get("pyspark.core.context")
    if context is None and module is not None:
        context = module.SparkContext._active_spark_context  # noqa: SLF001
    if context is None or context._jsc is None:  # noqa: SLF001
        return False
    return not is_alive(context) and context._jsc is None  # noqa: SLF001


def stopped_error(hint: str = "create an environment with a running session") -> ExternalError:
    """Return the error for a stopped session."""
    return ExternalError(
        "the Spark session of the environment is stopped, or its JVM has ended",
        code="spark-session-stopped",
        hint=hint,
    )


def ended_jvm() -> ExternalError:
    """Return the error for what ran when the JVM ended."""
    return ExternalError(
        "the JVM of Spark has ended: it was killed, or ran out of memory",
        code="spark-session-stopped",
        hint="run the statement again, which starts another JVM; an environment that was given a "
        "session needs a new one: TableEnvironment.create(settings, spark=session)",
    )


def is_same_session(frame: DataFrame, session: SparkSession) -> bool:
    """Return whether a DataFrame is of a session, which may have two wrappers."""
    own: Any = frame.sparkSession
    if is_connect(own) or is_connect(session):
        return is_connect(own) and is_connect(session) and own.session_id == session.session_id
    return bool(own._jsparkSession.equals(session._jsparkSession))  # noqa: SLF001


def has_remote_workers(session: SparkSession) -> bool:
    """Return whether Python functions may run without the modules of this process."""
    return is_connect(session) or not _IN_PROCESS.fullmatch(session.sparkContext.master)


@contextmanager
def checkpoint_frame(frame: DataFrame, *, when: bool = True) -> Iterator[DataFrame]:
    """Yield a frame of the same rows, computed now, whatever happens to what the frame reads.

    Unless `when`, yield the frame itself.
    """
    if not when:
        yield frame
        return
    computed: Any = frame.localCheckpoint(eager=True)
    if not is_connect(frame):
        yield computed
        return
    # PySpark makes it a frame of the active session, which lacks the rows
    from pyspark.sql.connect.dataframe import DataFrame as ConnectFrame
    from pyspark.sql.connect.plan import CachedRemoteRelation

    session: Any = frame.sparkSession
    relation, key = computed._plan, computed._plan._relation_id  # noqa: SLF001
    relation._relation_id = None  # noqa: SLF001 - its end would delete nothing
    kept = CachedRemoteRelation(key, session)
    try:
        yield ConnectFrame(kept, session)
    finally:
        # PySpark deletes the rows with the object, and waits for a server that has ended
        kept.__del__()
        kept._relation_id = None  # noqa: SLF001


# --- frames in other sessions -------------------------------------------------------------------
# Every action analyses a DataFrame of Spark Connect with its session's settings and temporary
# names. A global temporary view keeps the analysed plan for all sessions of the server; it is
# dropped after the frames that read it have ended.


#: The database of global temporary views.
DATABASE: Final = "global_temp"


class SharedFrames:
    """This process's global temporary views; threads may share it."""

    def __init__(self) -> None:
        self._sessions: dict[str, tuple[SparkSession, ...]] = {}
        self._ended: deque[str] = deque()

    def share(self, frame: DataFrame, session: SparkSession) -> DataFrame:
        """Return a frame in another session of its server (`spark-session-stopped`)."""
        from pyspark.errors import AnalysisException

        if not self._sessions:
            atexit.unregister(self._drop_all)
            atexit.register(self._drop_all)  # before the clients of both sessions are closed
        while self._ended:
            with suppress(IndexError):  # another thread may have taken the last one
                self._drop(self._ended.popleft())
        name = f"{PREFIX}shared_{uuid.uuid4().hex}"
        frame.createGlobalTempView(name)
        self._sessions[name] = frame.sparkSession, session
        made = session.table(f"{DATABASE}.{name}")
        try:
            made.schema  # noqa: B018 - it is analysed
        except AnalysisException:
            self._drop(name)
            raise ExternalError(
                "the DataFrame belongs to another server of Spark Connect than the jobs of the "
                "environment",
                code="spark-session-stopped",
                hint="create the DataFrame in a session of that server",
            ) from None
        plan: Any = made
        # derived frames refer to the plans of their origins
        finalize(plan._plan, self._ended.append, name).atexit = False  # noqa: SLF001
        return made

    def _drop(self, name: str) -> None:
        for session in filter(is_running, self._sessions.pop(name, ())):
            session.catalog.dropGlobalTempView(name)
            return

    def _drop_all(self) -> None:
        """Drop all views at the end of the process, with one attempt for each session."""
        for name, sessions in [*self._sessions.items()]:
            with suppress(Exception):
                for session in sessions:
                    connect: Any = session
                    connect.client.set_retry_policies([])
                self._drop(name)


#: Those of this process.
SHARED: Final = SharedFrames()


# --- the JVM ------------------------------------------------------------------------------------
# py4j makes a round trip for each package of a name; these functions make few. Spark Connect uses
# PySpark's public API where that has the operation.


def java_class(session: SparkSession, name: str) -> Any:
    """Return a Java class by its full name, for its constructor or static methods.

    Only the first call shows that a name does not exist.
    """
    py4j, client = _py4j(session)
    return py4j.JavaClass(name, client)


def static_method(session: SparkSession, class_name: str, method: str) -> Any:
    """Return a static method of a Java class; an attribute of `java_class` is looked up first."""
    py4j, client = _py4j(session)
    return py4j.JavaMember(method, None, f"z:{class_name}", client)


def _py4j(session: SparkSession) -> tuple[Any, Any]:
    """Return the module of py4j's objects, which PySpark has loaded, and the session's client."""
    gateway: Any = session.sparkContext._gateway  # noqa: SLF001 - PySpark has no public access
    return sys.modules[type(gateway.jvm).__module__], gateway._gateway_client  # noqa: SLF001


#: Objects of the JVM that a SparkContext or a session has as long as it lives, fetched once.
_PARTS: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()


def java_context(context: SparkContext) -> Any:
    """Return the JVM's SparkContext."""
    return _part(context, "context", context._jsc.sc)  # noqa: SLF001


def session_state(session: SparkSession) -> Any:
    """Return the JVM's state of a session: its catalog, settings and planner."""
    return _part(session, "state", session._jsparkSession.sessionState)  # noqa: SLF001


def session_settings(session: SparkSession) -> Any:
    """Return the JVM's SQLConf of a session, which changes with its settings."""
    return _part(session, "settings", lambda: session_state(session).conf())


def value_or_none(session: SparkSession, option: Any) -> Any:
    """Return the value of a Scala option, in one round trip: `orNull` takes a proof of its type."""
    proof = static_method(session, "scala.Predef", "$conforms")
    return option.orNull(_part(session.sparkContext, "proof", proof))


def first_partition(session: SparkSession) -> Any:
    """Return a Java list of the first partition, with which the rows of most queries begin."""

    def create() -> Any:
        partitions = java_class(session, "java.util.ArrayList")()
        partitions.append(0)
        return partitions

    return _part(session.sparkContext, "first partition", create)


def default_file_system(session: SparkSession) -> str:
    """Return Hadoop's default file system: the session's own setting, else the SparkContext's.

    A session of jobs has its own only from the builder of the user's; a program may change that
    of the SparkContext.
    """
    key, context = "fs.defaultFS", session.sparkContext
    own = _part(session, key, lambda: session_settings(session).getConfString(key, ""))
    hadoop = _part(context, "hadoop", lambda: java_context(context).hadoopConfiguration())
    return str(own or hadoop.get(key))


def _part(owner: object, name: str, fetch: Callable[[], Any]) -> Any:
    parts = _PARTS.setdefault(owner, {})
    if name not in parts:
        parts[name] = fetch()
    return parts[name]


def has_class(session: SparkSession, name: str) -> bool:
    """Return whether a Java class is on Spark's class path."""
    loader = java_class(session, "org.apache.spark.util.Utils").getContextOrSparkClassLoader()
    try:
        java_class(session, "java.lang.Class").forName(name, False, loader)
    except Exception as error:
        if getattr(error, "java_exception", None) is None:
            raise  # the connection to the JVM
        return False
    return True


def in_session(frame: DataFrame, session: SparkSession) -> DataFrame:
    """Return a DataFrame with the same analysed plan in another session of its SparkContext.

    A session of another server is `spark-session-stopped`.
    """
    if is_connect(frame):
        return frame if is_same_session(frame, session) else SHARED.share(frame, session)
    from pyspark.sql.classic.dataframe import DataFrame

    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
    dataset = java_class(session, "org.apache.spark.sql.classic.Dataset")
    return DataFrame(dataset.ofRows(session._jsparkSession, plan), session)  # noqa: SLF001


def with_metadata(frame: DataFrame, metadata: Mapping[str, Mapping[str, Any]]) -> DataFrame:
    """Return these columns of a frame, with this metadata.

    Like ``frame.select`` of columns with ``alias(name, metadata=...)``, with three round trips for
    each column instead of seven. The session's settings resolve names.
    """
    from pyspark.sql.classic.dataframe import DataFrame

    session = frame.sparkSession
    if is_connect(session):
        from pyspark.sql.connect.functions import col

        named = (col(quote(name)).alias(name, metadata=value) for name, value in metadata.items())
        return frame.select(*named)
    functions = java_class(session, "org.apache.spark.sql.functions")
    parse = java_class(session, "org.apache.spark.sql.types.Metadata").fromJson
    parsed = {text: parse(text) for text in {json.dumps(item) for item in metadata.values()}}
    columns = [
        getattr(functions.col(quote(name)), "as")(name, parsed[json.dumps(value)])
        for name, value in metadata.items()
    ]
    return DataFrame(frame._jdf.select(frame._jseq(columns)), session)  # noqa: SLF001
