"""Laws of types: their text, their casts, what several have in common; and of paths."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

from hypothesis import assume, example, given
from hypothesis import strategies as st

from schema_core.base.paths import UnresolvedPath, join_names, parse_path, split_names
from schema_core.base.text import MAX_DEPTH
from schema_core.errors import ParseError, SchemaError
from schema_core.testing.strategies import ATOMIC, atomic_types, paths, types
from schema_core.types import (
    ArrayType,
    DataType,
    LegacyType,
    NullType,
    RowField,
    RowType,
    TypeFamily,
    TypeRoot,
    common_type,
    least_restrictive,
    parse_type,
    supports_avoiding_cast,
    supports_explicit_cast,
    supports_implicit_cast,
    why_not,
)

#: Pieces of type strings and of paths, so that random strings resemble the grammar.
PIECES = st.sampled_from(
    [
        "INT", "CHAR", "DECIMAL", "NOT NULL", "ARRAY", "MAP", "ROW", "STRUCTURED", "RAW", "LEGACY",
        "TIMESTAMP", "WITH", "LOCAL", "TIME ZONE", "INTERVAL", "DAY", "SECOND", "TO", "MULTISET",
        "(", ")", "<", ">", ",", ".", "'", "`", "0", "1", "38", "99", "a", "b", "$", "/*", "*/",
        "--", "..", "{d", "u&'",
    ]
)  # fmt: skip
strings = st.text() | st.lists(PIECES | st.text(max_size=3), max_size=12).map(" ".join)


def refusal(read: Callable[[str], object], text: str) -> ParseError | None:
    """Return the error of parsing a string, if any; errors of other classes break the law."""
    try:
        read(text)
    except ParseError as error:
        return error
    return None


# --- text ----------------------------------------------------------------------------------------


@given(types())
def test_parsing_inverts_printing(type_: DataType) -> None:
    assert type_ == parse_type(str(type_))
    assert str(type_) == type_.as_serializable_string()


@given(types())
def test_printing_is_idempotent(type_: DataType) -> None:
    assert str(type_) == str(parse_type(str(type_)))


@given(strings)
def test_any_string_is_a_type_or_a_parse_error(text: str) -> None:
    error = refusal(parse_type, text)

    if error is None:
        assert parse_type(text) == parse_type(str(parse_type(text)))
    else:
        assert error.span is not None
        assert 0 <= error.span.start <= error.span.stop <= len(text)


@given(st.integers(0, MAX_DEPTH - 1), types(max_leaves=1))
def test_nesting_within_the_limit_is_parsed(depth: int, type_: DataType) -> None:
    assume(not type_.children())
    for _ in range(depth):
        type_ = ArrayType(type_)

    assert type_ == parse_type(str(type_))


@given(st.integers(0, 5))
def test_nesting_beyond_the_limit_is_refused(extra: int) -> None:
    depth = MAX_DEPTH + extra
    error = refusal(parse_type, "ARRAY<" * depth + "INT" + ">" * depth)

    assert error is not None
    assert "limit-exceeded" == error.code


def test_every_serializable_type_is_generated() -> None:
    drawn = {kind.root for kind in ATOMIC}
    composed = {TypeRoot.ARRAY, TypeRoot.MULTISET, TypeRoot.MAP, TypeRoot.ROW}
    defined = {TypeRoot.STRUCTURED_TYPE, TypeRoot.RAW}
    without_text = {TypeRoot.SYMBOL, TypeRoot.DISTINCT_TYPE, TypeRoot.UNRESOLVED}

    assert set(TypeRoot) == drawn | composed | defined | without_text


# --- values --------------------------------------------------------------------------------------


@given(types())
def test_equal_types_have_equal_hashes(type_: DataType) -> None:
    copies = [pickle.loads(pickle.dumps(type_)), copy.deepcopy(type_)]

    assert [type_, type_] == copies
    assert {type_} == set(copies)
    assert all(repr(type_) == repr(item) for item in copies)


@given(types())
def test_nullability_can_be_toggled(type_: DataType) -> None:
    assume(not isinstance(type_, NullType))

    assert type_.nullable().is_nullable
    assert not type_.not_null().is_nullable
    assert type_ == type_.not_null().with_nullability(type_.is_nullable)
    assert type_.nullable() != type_.not_null()
    assert f"{type_.nullable()} NOT NULL" == str(type_.not_null())


@given(types())
def test_a_type_is_rebuilt_from_its_children(type_: DataType) -> None:
    assert type_ == type_.rebuild(type_.children())


@given(types())
def test_walk_yields_every_child_once(type_: DataType) -> None:
    below = sum(len(list(child.walk())) for child in type_.children())

    assert 1 + below == len(list(type_.walk()))


# --- casts ---------------------------------------------------------------------------------------

#: Pairs of equal shape now and then, since two independent types rarely cast.
pairs = st.tuples(types(), types()) | types().flatmap(
    lambda type_: st.tuples(st.just(type_), st.sampled_from([type_.nullable(), type_]))
)


@given(pairs)
def test_implicit_casts_are_also_explicit_casts(pair: tuple[DataType, DataType]) -> None:
    source, target = pair

    assert supports_explicit_cast(source, target) or not supports_implicit_cast(source, target)


@given(pairs)
def test_compatible_types_can_be_cast(pair: tuple[DataType, DataType]) -> None:
    """Holds for all types that a string can describe, except distinct types without a cast."""
    source, target = pair

    assert supports_implicit_cast(source, target) or not supports_avoiding_cast(source, target)


@given(types())
def test_a_type_is_compatible_with_itself(type_: DataType) -> None:
    assert supports_avoiding_cast(type_, type_)
    assert supports_implicit_cast(type_, type_)


@given(types())
def test_null_casts_to_any_nullable_type(type_: DataType) -> None:
    assert type_.is_nullable == supports_implicit_cast(NullType(), type_)
    assert supports_explicit_cast(NullType(), type_)


@given(pairs, st.booleans())
def test_explicit_casts_ignore_nullability(pair: tuple[DataType, DataType], nullable: bool) -> None:
    source, target = pair
    assume(TypeRoot.NULL not in (source.root, target.root))

    assert supports_explicit_cast(source, target) == supports_explicit_cast(
        source.with_nullability(nullable), target.with_nullability(not nullable)
    )


@given(types(), types())
def test_an_obstacle_of_a_nested_type_has_its_path(source: DataType, target: DataType) -> None:
    row, other = (RowType([RowField("a", ArrayType(item))]) for item in (source, target))
    within, alone = why_not(row, other), why_not(source, target)

    assert (within is None) == (alone is None)
    if within is not None and alone is not None:
        assert ("field 'a'", "element", *alone.path) == within.path
        assert (alone.source, alone.target, alone.problem) == (
            within.source,
            within.target,
            within.problem,
        )


# --- several types -------------------------------------------------------------------------------


@given(types(), st.integers(1, 3))
def test_the_common_type_of_equal_types_is_the_type(type_: DataType, count: int) -> None:
    expected = None if isinstance(type_, NullType) else type_

    assert expected == common_type([type_] * count)


@given(types())
def test_null_only_adds_nullability_to_the_common_type(type_: DataType) -> None:
    assume(not isinstance(type_, NullType))
    expected = type_.nullable()

    assert expected == common_type([type_, NullType()]) == common_type([NullType(), type_])


@given(st.lists(types(), min_size=1, max_size=3))
@example([ArrayType(NullType()), ArrayType(NullType())])
def test_a_common_type_is_nullable_when_one_of_them_is(drawn: list[DataType]) -> None:
    nullable = any(type_.is_nullable for type_ in drawn)
    result = [common_type(drawn), least_restrictive(drawn)]

    assert all(type_.is_nullable == nullable for type_ in result if type_ is not None)


@given(st.lists(atomic_types(), min_size=2, max_size=2))
def test_operands_cast_implicitly_to_the_common_type(drawn: list[DataType]) -> None:
    """By a cast that can be written; what is added to a date is of no type that dates have."""
    assume(len({type_.is_(TypeFamily.DATETIME) for type_ in drawn}) == 1)
    result = common_type(drawn)

    assert result is None or all(supports_explicit_cast(type_, result) for type_ in drawn)


@given(types(), types())
def test_existence_of_a_common_type_is_symmetric(left: DataType, right: DataType) -> None:
    assert (common_type([left, right]) is None) == (common_type([right, left]) is None)


def test_legacy_types_have_a_common_type_only_by_cast() -> None:
    legacy = LegacyType(TypeRoot.DECIMAL, "DECIMAL")

    assert legacy == common_type([legacy, legacy])


# --- paths ---------------------------------------------------------------------------------------


@given(paths())
def test_parsing_inverts_printing_of_paths(path: UnresolvedPath) -> None:
    assert path == parse_path(str(path))
    assert str(path) == str(pickle.loads(pickle.dumps(path)))


@given(paths(), paths())
def test_qualifying_keeps_the_given_parts(path: UnresolvedPath, home: UnresolvedPath) -> None:
    catalog = database = home.object_name
    assume(catalog != "<UNKNOWN>" and "<UNKNOWN>" not in path.parts)
    identifier = path.qualify(catalog, database)

    assert list(path.parts) == identifier.to_list()[-len(path.parts) :]
    assert identifier.to_list() == list(parse_path(str(identifier)).parts)


@given(strings | st.lists(PIECES, max_size=6).map("".join))
def test_any_string_is_a_path_or_a_parse_error(text: str) -> None:
    error = refusal(parse_path, text)

    assert error is not None or 1 <= len(parse_path(text).parts) <= 3
    assert error is None or error.span is not None


@given(st.lists(st.none() | st.text(max_size=3), max_size=5))
def test_any_names_are_a_path_or_a_schema_error(parts: list[str | None]) -> None:
    try:
        assert parts == list(UnresolvedPath(parts).parts)
    except SchemaError:
        assert not 1 <= len(parts) <= 3 or any(not (part or "").strip() for part in parts)


@given(st.lists(st.text("a.`= -"), min_size=1, max_size=4))
def test_joined_names_are_split_into_the_same_names(names: list[str]) -> None:
    assert tuple(names) == split_names(join_names(names))
