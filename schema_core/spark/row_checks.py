"""Checks of rows that are read from a connector or written to one.

A connector may be third-party code. The frame that its `read` returns is checked once, before the
query is compiled: its session, its columns and their Spark types. Spark does not keep NOT NULL in
files and in many sources, so NOT NULL is checked row by row while the job runs, at every depth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from schema_core.errors import ExternalError, Gathering, similar
from schema_core.formats.spark.pyspark_types import to_spark
from schema_core.spark.compiler.printer import aliased, quote
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import (
    Case,
    Column,
    Field,
    Lambda,
    Node,
    Raise,
    Variable,
    call,
    fail,
    is_null,
    let,
)
from schema_core.types import (
    ArrayType,
    DataType,
    DistinctType,
    MapType,
    MultisetType,
    RowType,
    StructuredType,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType as SparkType

    from schema_core.schema.resolved import ResolvedSchema


# --- NOT NULL ------------------------------------------------------------------------------------


def required(node: Node, type_: DataType, name: str) -> Node:
    r"""Return an expression for a value that fails the job at a forbidden NULL.

    `node` is a value in the physical type of `type_`; `name` is the column that the message names.
    Rows, arrays, maps, multisets and structured types are checked at every depth. Without NOT NULL
    anywhere in the type, `node` is returned unchanged.

    >>> from schema_core.spark.compiler.printer import to_sql
    >>> from schema_core.spark.compiler.tree import Column
    >>> from schema_core.types import parse_type
    >>> to_sql(required(Column("a"), parse_type("INT"), "a"))
    '`a`'
    >>> print(to_sql(required(Column("a"), parse_type("INT NOT NULL"), "a")))
    coalesce(`a`, raise_error('column \'a\' is NOT NULL but received NULL'))
    >>> print(to_sql(required(Column("a"), parse_type("ARRAY<INT NOT NULL>"), "a"))[:62])
    CASE WHEN exists(`a`, the_x1 -> the_x1 IS NULL) THEN raise_err
    """
    column = f"column {name!r}"
    inner = type_.nullable()
    if not any(True for _ in _nulls(node, inner, "")):
        return node if type_.is_nullable else call("coalesce", node, _refused(column, ""))

    def checked(value: Node) -> Node:
        branches = ((found, _refused(column, place)) for found, place in _nulls(value, type_, ""))
        return Case(tuple(branches), value)

    return let(node, checked)


def _refused(column: str, place: str) -> Raise:
    return fail(f"{column}{place and ': ' + place} is NOT NULL but received NULL")


def _nulls(node: Node, type_: DataType, place: str) -> Iterator[tuple[Node, str]]:
    """Yield each part of a value that must not be NULL: a predicate and a description.

    A predicate is true for a forbidden NULL, and false or NULL otherwise.
    """
    if not type_.is_nullable:
        yield is_null(node), place
    of = f" of {place}" if place else ""
    match type_:
        case RowType() | StructuredType():
            for field in type_.fields:
                value = Field(node, field.name)
                for found, where in _nulls(value, field.data_type, f"field {field.name!r}{of}"):
                    yield inline("{row} IS NOT NULL AND {found}", row=node, found=found), where
        case ArrayType(element_type=element):
            yield from _among(node, element, f"an array element{of}")
        case MultisetType(element_type=element):
            yield from _among(call("map_keys", node), element.nullable(), f"a multiset element{of}")
        case MapType(key_type=key, value_type=value_type):
            yield from _among(call("map_keys", node), key.nullable(), f"a map key{of}")
            yield from _among(call("map_values", node), value_type, f"a map value{of}")
        case DistinctType(source_type=source):
            yield from _nulls(node, source.nullable(), place)
        case _:
            return


def _among(elements: Node, type_: DataType, place: str) -> Iterator[tuple[Node, str]]:
    """Yield the forbidden NULLs of the elements of an array."""
    element = Variable()
    for found, where in _nulls(element, type_, place):
        yield call("exists", elements, Lambda((element,), found)), where


# --- frames of connectors ------------------------------------------------------------------------


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
            aliased(required(Column(one.name), one.data_type, one.name), one.name)
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
    """Yield every difference between the columns of a frame and those of a table."""
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
    """Return a Spark type without nullability and lengths of strings, for comparison."""
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
