"""Laws of losses: complete, at existing locations, and enforced according to the policy."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.mappings.loss import (
    TARGETS,
    Loss,
    LossKind,
    Policy,
    child_names,
    enforce,
    lasting_losses,
    losses,
    physical_equivalent,
)
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema
from schema_core.testing.strategies import schemas, types
from schema_core.types import DataType, DistinctType

targets = st.sampled_from(sorted(TARGETS))


@given(types(), targets)
def test_a_type_is_unchanged_exactly_if_it_has_no_losses(type_: DataType, target: str) -> None:
    """Only the loss of values outside a range leaves the type unchanged."""
    result = {loss.kind for loss in losses(type_, target)} - {LossKind.RANGE}

    assert (not result) == (physical_equivalent(type_, target) == type_)


@given(types(), targets)
def test_physical_equivalent_is_idempotent(type_: DataType, target: str) -> None:
    bare = physical_equivalent(type_, target)
    assume(bare is not None)
    assert bare is not None

    assert bare == physical_equivalent(bare, target)


@given(types(), targets)
def test_types_without_equivalent_are_exactly_those_reported(type_: DataType, target: str) -> None:
    refused = [loss for loss in losses(type_, target) if loss.kind is LossKind.REFUSED]

    assert bool(refused) == (physical_equivalent(type_, target) is None)
    assert all(not loss.reversible and not loss.target for loss in refused)


@given(types(), targets)
def test_every_path_exists(type_: DataType, target: str) -> None:
    for loss in losses(type_, target):
        result = type_
        for step in loss.path:
            assert not isinstance(result, DistinctType)
            result = result.children()[child_names(result).index(step)]


@given(types(), st.sampled_from(("arrow", "spark:4.3")), st.sampled_from(get_args(Policy)))
def test_policies_are_enforced(type_: DataType, target: str, policy: Policy) -> None:
    result = losses(type_, target)
    changing = [item for item in result if item.changes_values]
    if policy == "error" and changing:
        with pytest.raises(UnsupportedError) as caught:
            enforce(result, policy)
        assert [item.path for item in changing] == [
            diagnostic.path for diagnostic in caught.value.diagnostics
        ]
    else:
        enforce(result, policy)


@settings(max_examples=60)  # schemas are slow to draw
@given(schemas())
def test_lasting_losses_are_those_of_every_target(schema: Schema) -> None:
    try:
        resolved = SchemaResolver().resolve(schema)
    except SchemaCoreError:
        assume(False)
        raise

    assert lasting_losses(resolved) == {
        (target, loss.kind) for target in TARGETS for loss in losses(resolved, target) if loss.lasts
    }


@settings(max_examples=60)  # schemas are slow to draw
@given(schemas(), targets)
def test_losses_of_a_schema_are_those_of_its_columns_and_members(
    schema: Schema, target: str
) -> None:
    try:
        resolved = SchemaResolver().resolve(schema)
    except SchemaCoreError:
        assume(False)
        raise
    result = losses(resolved, target)
    of_types = [
        Loss((column.name, *loss.path), loss.kind, loss.source, loss.target, loss.reversible)
        for column in resolved.columns
        for loss in losses(column.data_type, target)
    ]
    members = (
        len(resolved.watermark_specs)
        + len(resolved.indexes)
        + sum(not column.is_physical() for column in resolved.columns)
        + (resolved.primary_key is not None)
        + (resolved.immutable_columns is not None)
    )

    names = [column.name.lower() for column in resolved.columns]
    hidden = len(names) - len(set(names)) if target == "hive" else 0

    assert of_types == list(result[: len(of_types)])
    assert hidden == sum(item.kind is LossKind.REFUSED for item in result[len(of_types) :])
    assert members == sum(item.kind is LossKind.MEMBER for item in result)
    assert len(result) == len(of_types) + hidden + members
