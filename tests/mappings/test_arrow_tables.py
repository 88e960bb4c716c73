"""Tables of Arrow in layouts that have few functions in Arrow."""

from __future__ import annotations

import pyarrow as pa
import pytest

from schema_core.errors import SchemaError
from schema_core.mappings.arrow.schemas import to_field
from schema_core.mappings.arrow.tables import as_table, check_values
from schema_core.types import DataTypes as T

VIEWS = {
    "strings": pa.array(["x", None], pa.string_view()),
    "bytes": pa.array([b"x", None], pa.binary_view()),
    "large strings": pa.array(["x", None], pa.large_string()),
    "lists": pa.array([["x"], None], pa.list_view(pa.string_view())),
    "large lists": pa.array([["x"], None], pa.large_list_view(pa.string_view())),
    "fixed lists": pa.array([["x"], None], pa.list_(pa.string_view(), 1)),
    "rows": pa.array([{"a": "x"}, None], pa.struct([("a", pa.string_view())])),
    "maps": pa.array([[("k", "x")], None], pa.map_(pa.string(), pa.string_view())),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_are_read_as_arrays_with_offsets(name: str) -> None:
    table = as_table(pa.table({"a": VIEWS[name]}))
    check_values(table)

    assert "view" not in str(table.schema.field("a").type)
    assert VIEWS[name].to_pylist() == table.column("a").to_pylist()


def test_the_lengths_of_views_are_checked() -> None:
    field = to_field("a", T.VARCHAR(2)).with_type(pa.string_view())
    data = pa.Table.from_arrays([VIEWS["strings"]], schema=pa.schema([field]))
    check_values(as_table(data))

    long = pa.array(["xyz"], pa.string_view())
    table = as_table(pa.Table.from_arrays([long], schema=pa.schema([field])))
    with pytest.raises(SchemaError, match="VARCHAR"):
        check_values(table)
