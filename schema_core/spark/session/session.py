"""The Spark session that jobs run in, separate from any session of the user.

Each environment has its own. It shares only the SparkContext of the process (a JVM has one), so no
job changes settings, temporary views or functions of the user's session. When the SparkContext is
stopped, the next job opens a session in the running one, or starts one; a session passed to the
environment is not replaced.

ANSI mode is off: without it Spark, like Flink, wraps integers around, truncates casts between
numbers and returns NULL for a DECIMAL overflow. Where Flink raises (a string that is not a number,
an integer divided by zero) the generated SQL raises. Names are case-sensitive, the time zone is
always set, and TIME is a type.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import threading
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, cast
from weakref import finalize, ref

from schema_core.base.plugins import needs, require_modules
from schema_core.base.text import show
from schema_core.errors import ExternalError, SchemaError
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.compiler.tree import quote
from schema_core.spark.python.udf_registration import has_udfs, register_udfs, spark_type
from schema_core.spark.session.api_mode import (
    is_alive,
    is_connect,
    is_running,
    not_over_connect,
    session_state,
    static_method,
    stopped_error,
    value_or_none,
)
from schema_core.spark.session.java import find_java
from schema_core.spark.session.settings import MEANING, ORPHANS, SECRECY, START, TUNING
from schema_core.spark.session.worker_package import send_package

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Hadoop's umask, and the umask while this process's is read.
HADOOP_UMASK: Final = 0o022
PRIVATE: Final = 0o077
#: Set by ``spark-submit``, which started the JVM with its own settings.
_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"


class JobSession:
    """The session that the jobs of one environment run in, opened at first use.

    Args:
        root: The user's session in whose SparkContext jobs run. By default the SparkContext that
            runs when a job asks, else Spark is started.
        settings: Settings that Spark is started with, in addition to `START`.

    Raises:
        SchemaError: with code `invalid-argument` for a root that is not a `SparkSession`.
    """

    def __init__(
        self, root: SparkSession | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        if root is not None:
            require_modules("pyspark.sql")
            from pyspark.sql import SparkSession

            if not isinstance(root, SparkSession) and not is_connect(root):
                raise SchemaError(
                    f"spark must be a SparkSession, got {show(root)}", code="invalid-argument"
                )
        self._root = root
        self._settings = settings or {}
        self._session: SparkSession | None = None
        self._opened_from: SparkSession | None = None
        self._lock = threading.RLock()  # jobs may come from several threads

    def get(self) -> SparkSession:
        """Return the session with registered Python UDFs; errors as `open_session`."""
        session = self.open_session()
        if not has_udfs(session):
            register_udfs(session)
        return session

    def open_session(self) -> SparkSession:
        """Return the session, in a running SparkContext; `require_udfs` registers its functions.

        The user's session is never changed, whichever thread calls.

        Raises:
            NotFoundError: with code `missing-dependency`.
            ExternalError: with code `incompatible-installation`, or `spark-session-stopped` for the
                user's session.
        """
        require_modules("pyspark.sql")
        with self._lock:
            session, root = self._session, self._root
            # Sessions of one SparkContext are stopped together.
            is_apart = root is not None and is_connect(root)
            if session is None or not is_running(session) or (is_apart and not is_running(root)):
                session = self._session = self._open()
            return session

    @property
    def is_open(self) -> bool:
        """Whether a job has opened the session."""
        return self._session is not None

    def root(self) -> SparkSession:
        """Return the session in whose SparkContext jobs run; errors as `open_session`."""
        with self._lock:
            self.open_session()  # sets the attribute
            return cast("SparkSession", self._opened_from)

    def _open(self) -> SparkSession:
        from pyspark.sql import SparkSession

        # PySpark's own lock: other threads, also the user's, may start Spark.
        with SparkSession.Builder._lock:  # noqa: SLF001
            if self._root is None:
                self._opened_from = running_session() or start(self._settings)
                return _new_session(self._opened_from)
            if not is_running(self._root):
                raise stopped_error()
            self._opened_from = self._root
            return _new_session(self._root)


def running_session() -> SparkSession | None:
    """Return the running SparkContext's root session, or None.

    `SparkSession.getActiveSession` is None in every thread but the user's.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context = SparkContext._active_spark_context  # noqa: SLF001 - there is no public name
    if context is None:
        return None
    if not is_alive(context):
        context.stop()  # it was stopped within the JVM, which PySpark does not detect
        return None
    root = SparkSession._instantiatedSession  # noqa: SLF001
    return root if root is not None and root.sparkContext is context else SparkSession(context)


def _new_session(root: SparkSession) -> SparkSession:
    """Open a session with Flink's semantics, whose workers have the library."""
    if is_connect(root):
        session = root.newSession()
        _release_at_exit(session)
        settings = {**SECRECY, **MEANING, **ORPHANS}
    else:
        session = _new_classic_session(root)
        started = root.sparkContext.getConf()
        tuning = {key: value for key, value in TUNING.items() if not started.contains(key)}
        settings = {**tuning, **SECRECY, **MEANING}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Spark Connect warns of settings that are deprecated
        for key, value in settings.items():
            session.conf.set(key, value)
    send_package(session)
    return session


def _release_at_exit(session: SparkSession) -> None:
    """Release a session of Spark Connect when this process ends, in a single attempt.

    PySpark's client would repeat commands for ten minutes if the server has gone, and wait for
    stopped threads.
    """
    connect: Any = session
    client = ref(connect.client)

    def release() -> None:
        if (live := client()) is None or live.is_closed:
            return
        live.set_retry_policies([])
        with suppress(Exception):
            live.release_session()
        live.close()

    atexit.register(release)


def _new_classic_session(root: SparkSession) -> SparkSession:
    from pyspark import RDD

    to_frame = RDD.__dict__.get("toDF")
    session = root.newSession()
    if to_frame is not None:
        # PySpark binds `RDD.toDF` to the last session: bind it to the user's session again.
        RDD.toDF = to_frame  # type: ignore[method-assign, unused-ignore]
    return session


@contextmanager
def active_session(session: SparkSession) -> Iterator[None]:
    """Make a session this thread's active one, whose settings Spark's planner and codegen use.

    Spark does so for its own actions, but not for methods called through py4j.
    """
    if is_connect(session):
        yield
        return
    method_of = partial(static_method, session, "org.apache.spark.sql.classic.SparkSession")
    activate = method_of("setActiveSession")
    before = value_or_none(session, method_of("getActiveSession")())
    activate(session._jsparkSession)  # noqa: SLF001
    try:
        yield
    finally:
        if before is not None:
            activate(before)
        else:
            method_of("clearActiveSession")()


def start(settings: Mapping[str, str]) -> SparkSession:
    """Start Spark, which must not be running, with these settings in addition to `START`.

    In a program of ``spark-submit`` that command's settings replace `START`. Errors:
    `missing-dependency`, `incompatible-installation`, `not-over-connect` in a process that uses
    Spark Connect, and `invalid-option-value` for a malformed ``SCHEMA_CORE_SPARK``.
    """
    from pyspark.sql import SparkSession
    from pyspark.sql.utils import is_remote

    if is_remote():
        raise not_over_connect(
            "starting Spark in this process",
            "pass its session: TableEnvironment.create(settings, spark=session)",
        )
    defaults: Mapping[str, str] = {}
    if _SUBMITTED not in os.environ:
        defaults = {**START, **_umask_setting()}
        os.environ["JAVA_HOME"] = str(find_java().home)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    builder = SparkSession.builder
    for key, value in {**defaults, **settings, **_settings_of_environment(), **MEANING}.items():
        builder = builder.config(key, value)
    try:
        with deferred_interrupt():
            return builder.getOrCreate()
    except Exception as error:
        raise ExternalError(
            f"Spark failed to start: {error}", code="incompatible-installation"
        ) from error


@contextmanager
def deferred_interrupt() -> Iterator[None]:
    """Handle Ctrl-C after the block, if it was pressed within it.

    PySpark abandons a JVM whose start is interrupted: the process prints a stack and stays. A
    second Ctrl-C is not deferred. PySpark's own handler replaces only the usual one of Python.
    """
    pressed: list[int] = []

    def defer(number: int, frame: object) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(number)

    previous = signal.getsignal(signal.SIGINT)
    if not callable(previous) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, defer)
    try:
        yield
    finally:
        is_usual = previous is signal.default_int_handler
        if not is_usual or signal.getsignal(signal.SIGINT) is defer:
            signal.signal(signal.SIGINT, previous)
    if pressed:
        previous(pressed[0], None)


def _umask_setting() -> dict[str, str]:
    """Return the setting by which Spark creates files with this process's umask.

    With Hadoop's default, others could read files in its private directories.
    """
    umask = os.umask(PRIVATE)
    os.umask(umask)
    return (
        {} if umask == HADOOP_UMASK else {"spark.hadoop.fs.permissions.umask-mode": f"{umask:03o}"}
    )


def _settings_of_environment() -> dict[str, str]:
    """Return the settings in the variable ``SCHEMA_CORE_SPARK="spark.master=local[2] ..."``.

    It is split at spaces; other words are an `invalid-option-value`.
    """
    settings = {}
    for word in os.environ.get("SCHEMA_CORE_SPARK", "").split():
        key, equals, value = word.partition("=")
        if not (key and equals):
            raise SchemaError(
                "the variable SCHEMA_CORE_SPARK must contain settings such as "
                f"spark.master=local[2], got {show(word)}",
                code="invalid-option-value",
                hint="values cannot contain spaces: set such a value in spark-defaults.conf",
            )
        settings[key] = value
    return settings


# --- temporary views -----------------------------------------------------------------------------


def create_view(frame: DataFrame) -> str:
    """Register a frame in its session; return its new name."""
    name = f"{PREFIX}input_{uuid.uuid4().hex}"
    frame.createOrReplaceTempView(name)
    return name


def drop_view(session: SparkSession, name: str) -> None:
    """Drop a view of `create_view` in the session's catalog.

    Spark's own method plans the view again, to look for cached tables.
    """
    if is_connect(session):
        session.catalog.dropTempView(name)
        return
    session_state(session).catalog().dropTempView(name)


# --- names of one query --------------------------------------------------------------------------

# Spark resolves names when it analyses a query, so they are dropped as soon as the frame exists.
# Every action analyses a frame of Spark Connect anew: a query after the end of its plan drops its
# names.


class UnusedNames:
    """Names of ended plans of Spark Connect; threads may share it."""

    def __init__(self) -> None:
        self._drops: deque[tuple[SparkSession, Callable[[], object]]] = deque()

    def drop_with(self, frame: DataFrame, drops: Iterable[Callable[[], object]]) -> None:
        """Make calls once a frame and all frames derived from it have ended."""
        session = frame.sparkSession
        ended = [(session, drop) for drop in drops]
        # derived frames refer to the plans of their origins
        finalize(frame._plan, self._drops.extend, ended).atexit = False  # noqa: SLF001

    def drop(self, session: SparkSession) -> None:
        """Drop the names of ended plans; those of another session ended with it."""
        while True:
            try:
                owner, drop = self._drops.popleft()
            except IndexError:  # another thread may have taken the last one
                return
            if owner is session:
                drop()


class TemporaryNames:
    """Temporary views and functions of one query; a context manager that drops them at the end.

    Names are random, since threads and environments share one session. `is_repeatable` is set while
    there are none: then the query's text names only what outlives it. `unused` gets the names of
    frames of Spark Connect, for which `keep_for` is called.
    """

    def __init__(self, session: SparkSession, unused: UnusedNames | None = None) -> None:
        self.session = session
        self._unused = unused
        self.is_repeatable: bool = True
        self._drops: list[Callable[[], object]] = []

    def view(self, frame: DataFrame) -> str:
        """Register a frame of the session; return its name as SQL."""
        name = create_view(frame)
        self.is_repeatable = False
        self._drops.append(lambda: drop_view(self.session, name))
        return quote(name)

    def keep_for(self, frame: DataFrame) -> None:
        """Keep the names as long as a frame's plan, if every action analyses it."""
        if is_connect(self.session) and self._unused is not None:
            drops, self._drops = self._drops, []
            self._unused.drop_with(frame, reversed(drops))

    def at_end(self, call: Callable[[], object]) -> None:
        """Make a call when the names are dropped."""
        self._drops.append(call)

    def function(self, function: Callable[..., Any], result: str) -> str:
        """Register a Python function with a Spark result type; return its plain name."""
        return self._register(function, spark_type(result))

    @needs("pandas", "pyarrow")
    def function_of_series(self, function: Callable[..., Any], result: str) -> str:
        """Register a function of pandas series that returns a series, as `function`."""
        import pandas as pd
        from pyspark.sql.functions import pandas_udf

        def evaluate_series(*series: Any) -> Any:
            return function(*series)

        # Spark chooses the arguments' form by the hints
        evaluate_series.__annotations__ = {"series": pd.Series, "return": pd.Series}
        return self._register(pandas_udf(evaluate_series, spark_type(result)))

    @needs("pyarrow")
    def function_of_columns(self, function: Callable[..., Any], result: str) -> str:
        """Register a function of Arrow columns that returns a column, as `function`."""
        from pyspark.sql.functions import arrow_udf

        return self._register(arrow_udf(function, spark_type(result)))

    def _register(self, function: Any, *result: Any) -> str:
        name = f"{PREFIX}user_{uuid.uuid4().hex}"
        self.is_repeatable = False
        drop = f"DROP TEMPORARY FUNCTION IF EXISTS {quote(name)}"
        self._drops.append(lambda: self.session.sql(drop))
        self.session.udf.register(name, function, *result)
        return name

    def drop(self) -> None:
        """Drop all names."""
        while self._drops:
            self._drops.pop()()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.drop()
        except Exception as failure:
            if error is None:
                raise
            error.add_note(f"temporary names of the query were not dropped: {failure}")
