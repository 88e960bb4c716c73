"""Losses of a new table: what is not kept of the rows and the schema of the query that fills it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from schema_core.environment.connector import Ability
from schema_core.environment.plans.ctas_plan import SinkLoss
from schema_core.mappings.loss import Loss, LossKind, losses
from schema_core.query.relation import Relation, result_columns
from schema_core.schema.columns import MetadataColumn, PhysicalColumn
from schema_core.spark.writing.sinks import LENGTH, NOT_NULL
from schema_core.types import (
    MAX_LENGTH,
    AnyTimestampType,
    BigIntType,
    CharType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LengthType,
    SmallIntType,
    TimeType,
    TinyIntType,
)

if TYPE_CHECKING:
    from schema_core.environment.planner import BoundTable
    from schema_core.schema.columns import Column
    from schema_core.spark.connector import SparkConnector

SPARK = "spark:4.3"
#: Option `format` -> the target in `schema_core.mappings.loss` of files that store types.
TYPED_FILES: Mapping[str, str] = {"parquet": "parquet", "orc": SPARK}
#: Options `format` of files without types.
UNTYPED_FILES = frozenset({"csv", "json", "raw", "text"})

#: Type of integers -> their decimal digits.
_DIGITS: Mapping[type[DataType], int] = {
    TinyIntType: 3,
    SmallIntType: 5,
    IntType: 10,
    BigIntType: 19,
}
#: Type of binary floating point numbers -> the decimal digits that they keep of every number.
_FLOATS: Mapping[type[DataType], int] = {FloatType: 6, DoubleType: 15}


def sink_losses(
    query: Relation, target: BoundTable, connector: SparkConnector, options: Mapping[str, str]
) -> tuple[SinkLoss, ...]:
    """Return what a table does not keep of the rows of a query, and of its own definition.

    Args:
        query: The query that fills the table.
        target: The table.
        connector: Its connector.
        options: The options of the session.
    """
    given = {column.name: column.type for column in result_columns(query)}
    columns = target.table.resolved_schema.columns
    found: list[SinkLoss] = []
    for column in columns:
        if column.name in given and column.is_persisted():
            found += _assigned(column, given[column.name], options)
        if isinstance(column, PhysicalColumn):
            found += _stored(column)
    found += _definition(target, connector)
    return (*found, *_files(target))


def _assigned(column: Column, given: DataType, options: Mapping[str, str]) -> Iterator[SinkLoss]:
    """Yield what the assignment of a value of the query to a declared column loses."""
    path, declared = (column.name,), column.data_type
    source, target = given.as_summary_string(), declared.as_summary_string()
    if given.is_nullable and not declared.is_nullable:
        drops = NOT_NULL.of(options) == "DROP"
        meaning = "rows with NULL are dropped" if drops else "a row with NULL fails the job"
        yield SinkLoss(path, source, target, meaning, drops)
    if isinstance(declared, LengthType) and declared.length < MAX_LENGTH:
        rule = LENGTH.of(options)
        fits = isinstance(given, LengthType) and given.length <= declared.length
        if not fits or (isinstance(declared, CharType) and given.nullable() != declared.nullable()):
            meanings = {
                "IGNORE": "longer values are stored as they are: the length is not enforced",
                "TRIM_PAD": "longer values are cut, CHAR is padded",
                "ERROR": "a value that does not fit fails the job",
            }
            yield SinkLoss(path, source, target, meanings[rule or "IGNORE"], rule == "TRIM_PAD")
    elif not _holds(declared, given):
        yield SinkLoss(path, source, target, "digits that do not fit are lost", True)


def _holds(declared: DataType, given: DataType) -> bool:
    """Return whether a column keeps every number or datetime of the type that is assigned to it."""
    if isinstance(given, AnyTimestampType | TimeType) and type(given) is type(declared):
        return bool(given.precision <= getattr(declared, "precision", 0))
    whole, scale = _decimal_digits(given)
    match declared:
        case DecimalType() if whole is not None:
            return declared.scale >= scale and declared.precision - declared.scale >= whole
        case DecimalType():
            return not isinstance(given, FloatType | DoubleType)
        case FloatType() | DoubleType() if whole is not None:
            return scale == 0 and whole <= _FLOATS[type(declared)]
        case FloatType():
            return not isinstance(given, DoubleType)
        case _:
            return True


def _decimal_digits(type_: DataType) -> tuple[int | None, int]:
    """Return how many integer and fractional digits the numbers of a type have, if it has both."""
    if isinstance(type_, DecimalType):
        return type_.precision - type_.scale, type_.scale
    return _DIGITS.get(type(type_)), 0


def _stored(column: PhysicalColumn) -> Iterator[SinkLoss]:
    """Yield what Spark cannot store of a type."""
    for loss in losses(column.data_type, SPARK):
        path = (column.name, *loss.path)
        if loss.kind is LossKind.DIGITS:
            meaning = "a value with nanoseconds fails the job"
            yield SinkLoss(path, loss.source, loss.target, meaning)
        elif loss.kind is LossKind.NULL_KEYS:
            yield SinkLoss(path, loss.source, loss.target, "a NULL key fails the job")


def _definition(target: BoundTable, connector: SparkConnector) -> Iterator[SinkLoss]:
    """Yield the parts of the definition that only the catalog keeps."""
    table, schema = target.table, target.table.resolved_schema
    if schema.primary_key is not None and Ability.UPSERT not in connector.abilities:
        key = str(schema.primary_key)
        yield SinkLoss(("primary key",), key, "", "it is not enforced: rows are appended")
    for spec in schema.watermark_specs:
        yield SinkLoss(("watermark",), str(spec), "", "batch jobs do not use it")
    commented = [column.name for column in schema.columns if column.comment]
    if table.comment or commented:
        names = ", ".join([*(["the table"] if table.comment else []), *commented])
        yield SinkLoss(("comments",), f"of {names}", "", "only the catalog keeps them")
    for column in schema.columns:
        if isinstance(column, MetadataColumn) and not column.is_persisted():
            yield SinkLoss(
                (column.name,), column.as_summary_string(), "", "read only: it is not written"
            )


def _files(target: BoundTable) -> Iterator[SinkLoss]:
    """Yield what the files of a table do not store, for readers without the catalog."""
    options = target.table.options
    form = options.get("format", "")
    if options.get("connector") != "filesystem":
        return
    physical = [
        column
        for column in target.table.resolved_schema.columns
        if isinstance(column, PhysicalColumn)
    ]
    if form in UNTYPED_FILES:
        types = ", ".join(f"{one.name} {one.data_type.as_summary_string()}" for one in physical)
        yield SinkLoss(("files",), types, "", f"{form} files store no types and no NOT NULL")
    elif form in TYPED_FILES:
        for column in physical:
            for loss in losses(column.data_type, TYPED_FILES[form]):
                if loss.kind not in _ELSEWHERE:
                    yield _of_files(column, loss, form)


#: Losses that are reported for Spark already.
_ELSEWHERE = frozenset({LossKind.DIGITS, LossKind.NULL_KEYS, LossKind.REFUSED, LossKind.RANGE})


def _of_files(column: PhysicalColumn, loss: Loss, form: str) -> SinkLoss:
    meaning = f"in {form} files read without the catalog: {loss.kind.meaning}"
    return SinkLoss((column.name, *loss.path), loss.source, loss.target, meaning)
