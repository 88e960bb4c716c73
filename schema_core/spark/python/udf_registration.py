"""Registration of `schema_core.spark.compiler.udfs` as Arrow UDFs of a Spark session.

Spark evaluates them for all rows, also in branches of CASE that are not taken, so an error is
returned as a value, which the surrounding expression raises. Workers import this module: it imports
little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from schema_core.base.lazy import regex
from schema_core.base.plugins import needs
from schema_core.mappings.spark.ddl import parse_spark_type
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.compiler.udfs import UdfError
from schema_core.spark.compiler.udfs.registry import UDFS, Udf
from schema_core.spark.session.api_mode import is_connect, java_class, session_state

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType as SparkType

_SURROGATES = regex("[\ud800-\udfff]")


#: A call of a function in Spark SQL.
_CALLED = regex(rf"\b{PREFIX}({'|'.join(sorted(UDFS, key=len, reverse=True))})\(")


def require_udfs(session: SparkSession, *texts: str) -> None:
    """Register the functions in a session, unless it has them or no SQL text calls one.

    Registering all takes 700 calls into the JVM. Over Spark Connect only the called ones are
    registered, by one request each.
    """
    if is_connect(session):
        register_udfs(
            session, sorted({match_ for text in texts for match_ in _CALLED.findall(text)})
        )
    elif any(_CALLED.search(text) for text in texts) and not has_udfs(session):
        register_udfs(session)


def has_udfs(session: SparkSession) -> bool:
    """Return whether a session has the functions."""
    if is_connect(session):
        return bool(session.catalog.functionExists(f"{PREFIX}{[*UDFS][-1]}"))
    name = java_class(session, "org.apache.spark.sql.catalyst.FunctionIdentifier")
    catalog = session_state(session).catalog()
    return bool(catalog.isTemporaryFunction(name(f"{PREFIX}{[*UDFS][-1]}")))


@needs("pyarrow", "pandas")
def register_udfs(session: SparkSession, names: Iterable[str] = UDFS) -> None:
    """Register functions in a session: all, or the named ones."""
    from pyspark.sql.functions import arrow_udf

    for name in names:
        function = arrow_udf(vectorized_udf(name), spark_type(result_type(UDFS[name])))
        session.udf.register(f"{PREFIX}{name}", function)


def spark_type(text: str) -> SparkType:
    """Return the type of a Spark DDL string, whatever the settings of any session.

    Spark's parser resolves TIMESTAMP by the settings of the thread's active session, the user's.

    >>> spark_type("ARRAY<TIMESTAMP>")
    ArrayType(TimestampType(), True)
    """
    from pyspark.sql.types import StructField

    tree = parse_spark_type(text)
    return StructField.fromJson({"name": "", "type": tree, "nullable": True}).dataType


def result_type(udf: Udf) -> str:
    """Return the Spark type of a UDF's result: a value and, if it can fail, an error message."""
    if udf.fails:
        return f"STRUCT<value: {udf.returns}, problem: STRING>"
    return udf.returns


def vectorized_udf(name: str) -> Callable[..., Any]:
    """Return a function of Arrow columns; only its name is sent to the workers."""
    import pyarrow as pa

    def function(*columns: pa.Array) -> pa.Array:
        return evaluate(name, columns)

    function.__annotations__ = {"columns": pa.Array, "return": pa.Array}
    return function


def evaluate(name: str, columns: Sequence[pa.Array]) -> pa.Array:
    """Evaluate a function over columns, once for each value if only one has several."""
    if any(column.type.num_fields for column in columns):  # Arrow encodes no nested values
        return _evaluate_rows(UDFS[name], columns)
    encoded = [column.dictionary_encode(null_encoding="encode") for column in columns]
    varying = [place for place, array in enumerate(encoded) if len(array.dictionary) > 1]
    if len(varying) > 1 or not len(columns[0]):
        return _evaluate_rows(UDFS[name], columns)
    place = varying[0] if varying else 0
    size = len(encoded[place].dictionary)
    if place == 0:
        results = _evaluate_column(UDFS[name], [array.dictionary for array in encoded])
    else:
        others = [array.dictionary.take([0] * size) for array in encoded]
        others[place] = encoded[place].dictionary
        results = _evaluate_rows(UDFS[name], others)
    return results if size == len(columns[0]) else results.take(encoded[place].indices)


def _evaluate_column(udf: Udf, columns: Sequence[pa.Array]) -> pa.Array:
    """Evaluate a function over one column; the others have one value each."""
    import pyarrow as pa

    first, *others = (column.to_pylist() for column in columns)
    constants = [value for (value,) in others]
    values = udf.batch(first, *constants) if udf.batch else None
    if values is None:
        return _evaluate_rows(
            udf, [columns[0], *(column.take([0] * len(first)) for column in columns[1:])]
        )
    return _result(udf, values, pa.nulls(len(first), pa.string()))


def _evaluate_rows(udf: Udf, columns: Sequence[pa.Array]) -> pa.Array:
    import pyarrow as pa

    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    if not udf.fails:
        return _result(udf, [udf.function(*row) for row in rows], None)
    values: list[Any] = []
    problems: list[str | None] = []
    for row in rows:
        try:
            values.append(udf.function(*row))
            problems.append(None)
        except UdfError as failure:
            values.append(None)
            problems.append(str(failure))
    return _result(udf, values, pa.array(problems, pa.string()))


def _result(udf: Udf, values: list[Any], problems: pa.Array | None) -> pa.Array:
    """Return results as an Arrow array, with problems if the function may fail."""
    import pyarrow as pa

    type_ = _arrow_type(udf.returns)
    try:
        array = pa.array(values, type_)
    except UnicodeEncodeError:
        array = pa.array(map(_plain, values), type_)
    if not udf.fails:
        return array
    return pa.StructArray.from_arrays([array, problems], ["value", "problem"])


def _plain(value: Any) -> Any:
    """Replace unpaired surrogates, which UTF-8 cannot encode."""
    if isinstance(value, str) and not value.isascii():
        return _SURROGATES.sub("?", value)
    return value


def _arrow_type(name: str) -> pa.DataType:
    import pyarrow as pa

    if name.startswith("ARRAY<"):
        return pa.list_(_arrow_type(name[6:-1]))
    names = {"BOOLEAN": "bool", "INT": "int32", "BIGINT": "int64"}
    return pa.type_for_alias(names.get(name, name.lower()))
