"""Catalogs of Iceberg and Delta: what they have in common."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schema_core.base.paths import ObjectPath
from schema_core.catalog.objects import CatalogTable
from schema_core.catalogs.delta.catalog import DeltaCatalog
from schema_core.catalogs.iceberg.catalog import IcebergCatalog
from schema_core.schema.unresolved import Schema
from schema_core.types import DataType, DataTypes, parse_type
from tests.mappings import test_delta, test_iceberg


def nested(type_: DataType) -> Iterator[DataType]:
    """Yield a type by itself, NOT NULL, and within each nested type."""
    yield from (type_, type_.not_null(), DataTypes.ARRAY(type_), DataTypes.MULTISET(type_))
    yield DataTypes.MAP(DataTypes.STRING(), type_.not_null())
    yield DataTypes.ROW(
        [DataTypes.FIELD("a", DataTypes.ARRAY(DataTypes.ROW([DataTypes.FIELD("c", type_, "d")])))]
    ).not_null()


@pytest.mark.parametrize("form", ["iceberg", "delta"])
def test_exact_types_are_kept(tmp_path: Path, form: str) -> None:
    """Each type by itself and within arrays, maps, multisets and rows."""
    catalog: Any
    if form == "iceberg":
        rows: Any = test_iceberg.TYPES
        catalog = IcebergCatalog("lake", {"warehouse": str(tmp_path)})
    else:
        rows, catalog = test_delta.TYPES, DeltaCatalog("lake", str(tmp_path))
    catalog.open()
    types = [item for text, *_ in rows for item in nested(parse_type(text))]
    builder = Schema.new_builder()
    for place, type_ in enumerate(types):
        builder.column(f"c{place}", type_)
    path = ObjectPath("default", "t")
    catalog.create_table(path, CatalogTable(builder.build()), False)

    columns = catalog.get_table(path).get_unresolved_schema().columns
    assert types == [parse_type(str(getattr(column, "data_type", ""))) for column in columns]
