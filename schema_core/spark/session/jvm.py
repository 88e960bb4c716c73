"""Access to the JVM with few round trips: py4j makes one for each package of a name.

Sessions of Spark Connect have no JVM in this process; operations that have a counterpart in the
public API of PySpark use that for them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from schema_core.spark.compiler.printer import quote
from schema_core.spark.session.api_mode import is_connect, is_same_session
from schema_core.spark.session.shared_frames import SHARED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def java_class(session: SparkSession, name: str) -> Any:
    """Return a Java class by its full name, to be called as constructor or for static methods.

    A name that does not exist is an error of the first call only.
    """
    gateway: Any = session.sparkContext._gateway  # noqa: SLF001 - PySpark has no public access
    py4j: Any = sys.modules[type(gateway.jvm).__module__]  # loaded by PySpark
    return py4j.JavaClass(name, gateway._gateway_client)  # noqa: SLF001


def has_class(session: SparkSession, name: str) -> bool:
    """Return whether a Java class is on the class path of Spark."""
    loader = java_class(session, "org.apache.spark.util.Utils").getContextOrSparkClassLoader()
    try:
        java_class(session, "java.lang.Class").forName(name, False, loader)
    except Exception as error:
        if getattr(error, "java_exception", None) is None:
            raise  # the connection to the JVM
        return False
    return True


def analysed(session: SparkSession, text: str) -> DataFrame:
    """Return the frame of a query, as ``session.sql``, which makes four more round trips."""
    if is_connect(session):
        return session.sql(text)
    from pyspark.sql.classic.dataframe import DataFrame

    return DataFrame(session._jsparkSession.sql(text), session)  # noqa: SLF001


def in_session(frame: DataFrame, session: SparkSession) -> DataFrame:
    """Return a DataFrame with the same analysed plan in another session of its SparkContext.

    Raises:
        ExternalError: with code `spark-session-stopped` for a session of another server.
    """
    if is_connect(frame):
        return frame if is_same_session(frame, session) else SHARED.share(frame, session)
    from pyspark.sql.classic.dataframe import DataFrame

    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
    dataset = java_class(session, "org.apache.spark.sql.classic.Dataset")
    return DataFrame(dataset.ofRows(session._jsparkSession, plan), session)  # noqa: SLF001


def with_metadata(frame: DataFrame, metadata: Mapping[str, Mapping[str, Any]]) -> DataFrame:
    """Return these columns of a frame, with this metadata.

    As ``frame.select`` of columns with ``alias(name, metadata=...)``, which makes seven round trips
    for each column instead of three. Names are resolved by the settings of the session.
    """
    from pyspark.sql.classic.dataframe import DataFrame

    session = frame.sparkSession
    if is_connect(session):
        from pyspark.sql.connect.functions import col

        named = (col(quote(name)).alias(name, metadata=one) for name, one in metadata.items())
        return frame.select(*named)
    functions = java_class(session, "org.apache.spark.sql.functions")
    parse = java_class(session, "org.apache.spark.sql.types.Metadata").fromJson
    parsed = {text: parse(text) for text in {json.dumps(one) for one in metadata.values()}}
    columns = [
        getattr(functions.col(quote(name)), "as")(name, parsed[json.dumps(one)])
        for name, one in metadata.items()
    ]
    return DataFrame(frame._jdf.select(frame._jseq(columns)), session)  # noqa: SLF001
