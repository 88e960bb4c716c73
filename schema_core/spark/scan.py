"""What a connector's `read` returns, checked against the table that was to be read.

A connector is code of others. Its frame is checked once, before the query is compiled: the session
it belongs to, its columns, and their Spark types; NOT NULL is checked row by row while the job
runs, at every depth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from schema_core.errors import ExternalError, Gathering, similar
from schema_core.formats.spark.pyspark_types import to_spark
from schema_core.spark.compiler.sql_builder import quote
from schema_core.spark.not_null import required

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType as SparkType

    from schema_core.schema.resolved import ResolvedSchema


def checked_source(
    frame: object, schema: ResolvedSchema, connector: str, session: SparkSession
) -> DataFrame:
    """Return the rows of a table as its connector read them: columns in order, NOT NULL enforced.

    Columns are matched by name, with case; nullability and metadata of the frame are not compared.

    Raises:
        ExternalError: with code `invalid-connector-result`, for every column that is missing,
            extra, ambiguous or of another type, and for what is not a frame of this session.
    """
    given = _frame_of(frame, connector, session)
    found = Gathering()
    for problem in _problems(given, schema, connector):
        with found.catching():
            raise problem
    found.raise_all()
    return given.selectExpr(
        *(
            f"{required(quote(one.name), one.data_type, one.name)} AS {quote(one.name)}"
            for one in schema.columns
        )
    )


def _frame_of(frame: object, connector: str, session: SparkSession) -> DataFrame:
    from pyspark.sql import DataFrame

    if not isinstance(frame, DataFrame):
        raise ExternalError(
            f"connector {connector!r} returned {type(frame).__name__!r} from read, "
            "expected a DataFrame of Spark",
            code="invalid-connector-result",
        )
    own = frame.sparkSession._jsparkSession  # noqa: SLF001 - two wrappers may be of one session
    if not own.equals(session._jsparkSession):  # noqa: SLF001
        raise ExternalError(
            f"connector {connector!r} returned a DataFrame of another Spark session",
            code="invalid-connector-result",
            hint="create the frame with the session that read receives",
        )
    return frame


def _problems(frame: DataFrame, schema: ResolvedSchema, connector: str) -> Iterator[ExternalError]:
    """Every difference between the columns of a frame and those of a table."""
    given = {field.name: field.dataType for field in frame.schema.fields}
    expected = {one.name: to_spark(one.data_type) for one in schema.columns}
    for name, count in Counter(frame.columns).items():
        if count > 1:
            yield _problem(connector, f"column {name!r} {count} times")
    for name, type_ in expected.items():
        if name not in given:
            problem = f"no column {name!r}, expected one of type {type_.simpleString()}"
            extra = [one for one in given if one not in expected]
            yield _problem(connector, problem, similar(name, extra))
        elif comparable(given[name]) != comparable(type_):
            actual = given[name].simpleString()
            yield _problem(
                connector,
                f"column {name!r} of type {actual}, expected {type_.simpleString()}",
                f"cast the column in read: {quote(name)} AS {type_.simpleString().upper()}",
            )
    for name in (one for one in given if one not in expected):
        yield _problem(connector, f"column {name!r}, which the table does not have")


def _problem(connector: str, what: str, hint: str | None = None) -> ExternalError:
    problem = f"connector {connector!r} returned {what}"
    return ExternalError(problem, code="invalid-connector-result", hint=hint)


def comparable(type_: SparkType) -> object:
    """What of a Spark type decides about values: not nullability, nor the lengths of strings."""
    from pyspark.sql import types

    match type_:
        case types.StructType(fields=fields):
            return [(field.name, comparable(field.dataType)) for field in fields]
        case types.ArrayType():
            return ("array", comparable(type_.elementType))
        case types.MapType():
            return ("map", comparable(type_.keyType), comparable(type_.valueType))
        case types.CharType() | types.VarcharType():
            return types.StringType().simpleString()
        case _:
            return type_.simpleString()
