"""Hive types: those with a Flink type, and those without."""

from __future__ import annotations

import pytest

from schema_core.catalogs.hive.columns import from_hive
from schema_core.errors import UnsupportedError


@pytest.mark.parametrize(
    ("text", "flink"),
    [
        ("decimal(10,2)", "DECIMAL(10, 2)"),
        ("decimal", "DECIMAL(10, 0)"),
        ("char(255)", "CHAR(255)"),
        ("varchar(65535)", "VARCHAR(65535)"),
        ("map<string,array<decimal(3,1)>>", "MAP<STRING, ARRAY<DECIMAL(3, 1)>>"),
    ],
)
def test_types_with_sizes_are_read(text: str, flink: str) -> None:
    assert from_hive(text).as_summary_string() == flink


@pytest.mark.parametrize("outer", ["{}", "array<{}>", "struct<a:int,b:{}>"])
@pytest.mark.parametrize(
    "text",
    ["geometry(1e3)", "geometry(4326)", "geometry(any)", "geometry(y)", "geography(OGC:CRS84)",
     "geometry('x')", "geometry", "geography()", "uniontype<int,string>", "char(0)", "char(256)",
     "varchar(65536)", "varchar(1e3)",
     "decimal(1e1,2)", "decimal(39,0)", "time(6)", "interval year", "variant", "void", ""],
)  # fmt: skip
def test_other_types_are_refused(text: str, outer: str) -> None:
    with pytest.raises(UnsupportedError) as result:
        from_hive(outer.format(text))
    assert result.value.code == "type-not-supported"
