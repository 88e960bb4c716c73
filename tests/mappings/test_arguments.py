"""Wrong arguments are refused with an error code before they reach pyarrow or pyspark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from schema_core.errors import SchemaCoreError
from schema_core.mappings import loss
from schema_core.mappings.arrow import schemas as arrow
from schema_core.mappings.arrow import spark as arrow_spark
from schema_core.mappings.dialects import api as dialects
from schema_core.mappings.spark import ddl as spark_ddl
from schema_core.mappings.spark import pyspark_types as spark
from schema_core.mappings.spark import schemas
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.types import DataTypes

INT: Any = DataTypes.INT()
WRONG: Any = pa.int32()
TABLE = ResolvedSchema.physical(["a"], [INT])
DDL = "CREATE TABLE t (a int)"
WRONG_ARGUMENTS: tuple[Any, ...] = (None, 5, b"x", [], {}, object(), 10**5_000, "\ud800")

CALLS: list[Callable[[Any], object]] = [
    lambda item: loss.losses(item, "arrow"),
    lambda item: loss.losses(INT, item),
    lambda item: loss.physical_equivalent(item, "arrow"),
    lambda item: loss.physical_equivalent(INT, item),
    lambda item: loss.enforce((), item),
    lambda item: arrow.to_field("a", item),
    lambda item: arrow.to_field("a", INT, layout=WRONG if item is None else item),
    arrow.to_arrow,
    arrow.to_schema,
    arrow.from_field,
    arrow.from_arrow,
    arrow.from_schema,
    arrow.read_schema,
    lambda item: spark.to_struct_field("a", item),
    lambda item: spark.to_struct_field("a", INT, target=item),
    spark.to_spark,
    spark.to_struct_type,
    spark.from_struct_field,
    spark.from_spark,
    spark.from_struct_type,
    arrow_spark.to_struct_type,
    arrow_spark.to_schema,
    arrow_spark.for_spark,
    spark_ddl.parse_ddl,
    schemas.parse_json,
    dialects.from_ddl,
    lambda item: dialects.from_ddl(DDL, item),
    dialects.to_ddl,
    lambda item: dialects.to_ddl(TABLE, item),
    lambda item: Schema.from_ddl(DDL, item),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("given", WRONG_ARGUMENTS, ids=lambda item: type(item).__name__)
def test_a_wrong_argument_is_refused(call: Callable[[Any], object], given: Any) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        call(given)

    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("to_field", [arrow.to_field, spark.to_struct_field])
@pytest.mark.parametrize("arguments", [(5, INT), (None, INT), ("a", INT, 5), ("a", INT, b"x")])
def test_names_and_comments_are_strings(to_field: Any, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        to_field(*arguments)

    assert "invalid-argument" == caught.value.code


def test_arrow_types_are_not_flink_types() -> None:
    with pytest.raises(SchemaCoreError, match="type_ must be a DataType, got DataType"):
        arrow.to_field("a", WRONG)
