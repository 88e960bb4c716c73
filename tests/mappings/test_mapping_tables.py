"""The tables of docs/types-and-formats.md include every class of type."""

from __future__ import annotations

from docs.mapping_tables import SHOWN
from schema_core.mappings.arrow.types import TO_ARROW
from schema_core.types import DistinctType, parse_type


def test_every_class_of_type_is_shown() -> None:
    """A distinct type has no string form of its own."""
    assert set(TO_ARROW) - {DistinctType} == {type(parse_type(sql)) for sql in SHOWN}
