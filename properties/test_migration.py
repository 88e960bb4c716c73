"""Laws of migration: changes lead from one definition to the other, back, and through JSON."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from schema_core.base.paths import ObjectPath
from schema_core.catalog.changes.catalog_changes import apply_to_catalog
from schema_core.catalog.changes.json_format import from_json, to_json
from schema_core.catalog.changes.normal_forms import normalize, steps_of
from schema_core.catalog.changes.table_changes import (
    ModifyColumnPosition,
    ModifyFieldPosition,
    ModifyNestedType,
    TableChange,
    apply,
    describe,
)
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogTable,
    CatalogView,
)
from schema_core.catalog.resolve import resolve_table
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.migration import catalog_changes_from_json, catalog_changes_to_json
from schema_core.migration.catalog_differences import diff_catalogs, read_catalog
from schema_core.migration.differences import (
    diff,
    invert,
    likely_renames,
    longest_increasing,
    placements,
    rename_steps,
)
from schema_core.schema.columns import (
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedImmutableColumns,
    UnresolvedIndex,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
    UnresolvedWatermarkSpec,
)
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema, SqlExpression
from schema_core.testing.strategies import (
    distributions,
    table_comments,
    tables,
    types,
)
from schema_core.types import ArrayType, DataType, DataTypes, MapType, RowField, RowType

#: Few names, so that two definitions have many in common.
NAMES = st.sampled_from(("a", "b", "c", "d", "e", "b_", "x.y", "`"))
REMARKS = st.sampled_from((None, "", "it's"))


ATOMS = (DataTypes.INT(), DataTypes.BIGINT(), DataTypes.INT(nullable=False), DataTypes.STRING())
EXPRESSIONS = st.sampled_from(("a + 1", "a+1", "`b` IS NULL", "PROCTIME()", "no sql ("))
ANY_TYPE = types(max_leaves=3)


@st.composite
def nested_types(draw: st.DrawFn, depth: int = 3) -> DataType:
    """Types within types, whose fields have few names."""
    kind = draw(st.integers(0, 4)) if depth else 0
    if kind == 0:
        return draw(st.sampled_from(ATOMS))
    if kind == 1:
        return ArrayType(draw(nested_types(depth - 1)), draw(st.booleans()))
    if kind == 2:
        pair = draw(nested_types(depth - 1)), draw(nested_types(depth - 1))
        return MapType(*pair, draw(st.booleans()))
    names = draw(st.lists(NAMES, max_size=4, unique=True))
    fields = [RowField(name, draw(nested_types(depth - 1)), draw(REMARKS)) for name in names]
    return RowType(fields, draw(st.booleans()))


@st.composite
def rows(draw: st.DrawFn) -> RowType:
    """Rows of few names, with rows in them."""
    names = draw(st.lists(NAMES, max_size=5, unique=True))
    return RowType([RowField(name, draw(nested_types(2)), draw(REMARKS)) for name in names])


@st.composite
def columns(draw: st.DrawFn, name: str) -> UnresolvedColumn:
    """A column of any kind."""
    comment = draw(REMARKS)
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return UnresolvedComputedColumn(name, SqlExpression(draw(EXPRESSIONS)), comment)
    type_ = draw(ANY_TYPE if kind == 1 else nested_types())
    written = str(type_) if draw(st.booleans()) else type_
    if kind == 2:
        key = draw(st.none() | NAMES)
        return UnresolvedMetadataColumn(name, written, key, draw(st.booleans()), comment)
    return UnresolvedPhysicalColumn(name, written, comment)


KEYS = st.builds(UnresolvedPrimaryKey, NAMES, st.lists(NAMES, min_size=1, max_size=3).map(tuple))
IMMUTABLE = st.builds(
    UnresolvedImmutableColumns, NAMES, st.lists(NAMES, min_size=1, max_size=3).map(tuple)
)
INDEXES = st.builds(UnresolvedIndex, NAMES, st.lists(NAMES, min_size=1, max_size=2).map(tuple))
WATERMARKS = st.builds(UnresolvedWatermarkSpec, NAMES, EXPRESSIONS.map(SqlExpression))


@st.composite
def loose_tables(draw: st.DrawFn) -> CatalogTable:
    """Tables with few names, which need not resolve: keys may refer to missing columns."""
    names = draw(st.lists(NAMES, max_size=6, unique=True))
    schema = Schema(
        tuple(draw(columns(name)) for name in names),
        tuple(draw(st.lists(WATERMARKS, max_size=1))),
        draw(st.none() | KEYS),
        tuple(draw(st.lists(INDEXES, max_size=3, unique_by=lambda index: index.name))),
        draw(st.none() | IMMUTABLE),
    )
    return CatalogTable(
        schema,
        tuple(draw(st.lists(NAMES, max_size=2))),
        options=draw(st.dictionaries(NAMES, NAMES, max_size=3)),
        comment=draw(table_comments()),
        distribution=draw(distributions(names)),
        snapshot=draw(st.none() | st.integers(0, 3)),
    )


@st.composite
def evolved(draw: st.DrawFn, table: CatalogTable) -> CatalogTable:
    """A table that shares most columns with another one, in any order."""
    other = draw(loose_tables())
    shared = draw(st.permutations(table.schema.columns))
    shared = shared[: draw(st.integers(0, len(shared)))]
    names = {item.name for item in shared}
    new = [column for column in other.schema.columns if column.name not in names]
    schema = replace(
        draw(st.sampled_from((table.schema, other.schema))),
        columns=tuple(draw(st.permutations([*shared, *new]))),
    )
    return replace(draw(st.sampled_from((table, other))), schema=schema)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[CatalogTable, CatalogTable]:
    """Two tables: in most cases one is evolved from the other, else unrelated, or both valid."""
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return draw(tables()), draw(tables())
    old = draw(loose_tables())
    return old, draw(loose_tables() if kind == 1 else evolved(old))


def renames_of(old: CatalogTable, new: CatalogTable) -> st.SearchStrategy[dict[str, str]]:
    """Renames of columns of the old table to those of the new one."""
    here = [column.name for column in old.schema.columns]
    there = [column.name for column in new.schema.columns]
    if not here or not there:
        return st.just({})
    return st.dictionaries(st.sampled_from(here), st.sampled_from(there), max_size=3).map(
        one_to_one
    )


def one_to_one(names: dict[str, str]) -> dict[str, str]:
    """Return the names whose value no other name has."""
    return {old: new for old, new in names.items() if list(names.values()).count(new) == 1}


@given(pairs(), st.data())
def test_applying_the_difference_gives_the_new_table(
    pair: tuple[CatalogTable, CatalogTable], data: st.DataObject
) -> None:
    """Also from the definition as it was written, and in reverse; and as data."""
    old, new = pair
    changes = diff(old, new, renames=data.draw(renames_of(old, new)))

    assert normalize(new) == apply(changes, normalize(old))
    assert normalize(new) == normalize(apply(changes, old))
    assert normalize(old) == apply(invert(changes, old), normalize(new))
    assert changes == pickle.loads(pickle.dumps(changes))


@given(pairs())
def test_changes_survive_json(pair: tuple[CatalogTable, CatalogTable]) -> None:
    """Unless they contain types without a text; each is described in one line."""
    changes = diff(*pair)
    try:
        text = to_json(changes)
    except UnsupportedError as error:
        text = error.code

    assert text == "type-not-supported" or changes == from_json(text)
    assert all(len(describe(change).splitlines()) == 1 for change in changes)


@given(loose_tables() | tables())
def test_a_table_does_not_differ_from_itself(table: CatalogTable) -> None:
    assert () == diff(table, table)
    assert () == diff(table, normalize(table))
    assert normalize(table) == normalize(normalize(table))


@given(st.tuples(tables(), tables()))
def test_resolved_tables_differ_by_meaning(pair: tuple[CatalogTable, CatalogTable]) -> None:
    """The changes between resolved tables lead to a table that resolves to the new one."""
    old, new = (resolve_table(token, SchemaResolver()) for token in pair)
    result = apply(diff(old, new), pair[0])

    assert new.resolved_schema == SchemaResolver().resolve(result.schema)
    assert () == diff(new, resolve_table(result, SchemaResolver()))


@given(pairs(), st.data())
def test_changes_do_not_fit_another_table(
    pair: tuple[CatalogTable, CatalogTable], data: st.DataObject
) -> None:
    """Applied twice, or without one of them, changes either fail or lead to another table.

    A change may be left out only where a later one does not depend on it.
    """
    old, new = map(normalize, pair)
    changes = diff(old, new)
    if not changes:
        return
    missing = data.draw(st.integers(0, len(changes) - 1))
    rest = (*changes[:missing], *changes[missing + 1 :])
    moved = isinstance(changes[missing], MOVES)

    assert moved or attempt((*changes, changes[missing]), old) in REFUSED
    assert moved or attempt(rest, old) != new


#: What changes are refused with that do not fit.
REFUSED = ("change-does-not-fit", "unknown-column", "duplicate-column")


def attempt(changes: tuple[TableChange, ...], table: CatalogTable) -> CatalogTable | str:
    """Return the table after the changes, or the code of the error."""
    try:
        return apply(changes, table)
    except SchemaError as error:
        return error.code


#: Changes whose old column or field is the same afterwards.
MOVES = (ModifyColumnPosition, ModifyFieldPosition)


@given(pairs())
def test_likely_renames_are_accepted(pair: tuple[CatalogTable, CatalogTable]) -> None:
    """They keep columns that would be dropped otherwise, and the law holds with them."""
    old, new = pair
    renames = likely_renames(old, new)
    changes = diff(old, new, renames=renames)

    assert normalize(new) == apply(changes, normalize(old))
    assert count("Drop", changes) + len(renames) == count("Drop", diff(old, new))


def count(verb: str, changes: tuple[TableChange, ...]) -> int:
    """Return the number of columns and fields that are dropped."""
    return sum(type(change).__name__ in (f"{verb}Column", f"{verb}Field") for change in changes)


@given(st.lists(st.integers(), unique=True, max_size=12))
def test_longest_increasing_subsequence(values: list[int]) -> None:
    """As long as the result of trying every subset."""
    result = longest_increasing(values)
    chosen = [values[index] for index in result]
    lengths = [0] * len(values)
    for index, value in enumerate(values):
        before = [lengths[i] for i in range(index) if values[i] < value]
        lengths[index] = 1 + max(before, default=0)

    assert all(first < two for first, two in pairwise(chosen))
    assert max(lengths, default=0) == len(result)


@given(
    st.permutations("abcdef"), st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("xyz"))
)
def test_placements_reach_the_order(order: list[str], absent: set[str], others: set[str]) -> None:
    present = [name for name in "abcdef" if name not in absent]
    names = [*present, *sorted(others)]
    current = list(names)
    for name, position in placements(names, order):
        if name in current:
            current.remove(name)
        at = len(current) if position is None else 0
        if position is not None and position.column is not None:
            at = current.index(position.column) + 1
        current.insert(at, name)

    assert order == [name for name in current if name not in others]


@given(
    st.dictionaries(st.sampled_from("abcd"), st.sampled_from("abcdxy")),
    st.sets(st.sampled_from("ef")),
)
def test_renames_never_collide(pairs_: dict[str, str], others: set[str]) -> None:
    renames = one_to_one(pairs_)
    names = {name: name for name in (*renames, *others)}
    for old, new in rename_steps(renames, set(names)):
        assert new not in names
        names[new] = names.pop(old)

    assert {
        **{new: old for old, new in renames.items()},
        **{other: other for other in others},
    } == names


@given(nested_types(), nested_types())
def test_types_are_replaced_only_where_they_cannot_be_changed(old: DataType, new: DataType) -> None:
    """Types of one kind have their parts changed; of themselves only their nullability is."""
    before = Schema((UnresolvedPhysicalColumn("c", old),))
    after = Schema((UnresolvedPhysicalColumn("c", new),))
    replaced = [
        (change.old_type, change.new_type)
        for change in diff(before, after)
        if isinstance(change, ModifyNestedType)
    ]

    assert [] == [
        (first, two)
        for first, two in replaced
        if type(first) is type(two) and steps_of(first) and first.nullable() != two.nullable()
    ]


FEW_COLUMNS = st.builds(
    UnresolvedPhysicalColumn, st.sampled_from("xyz"), st.sampled_from(ATOMS), REMARKS
)


@st.composite
def catalogs(draw: st.DrawFn) -> InMemoryCatalog:
    """Catalogs of few names: tables and views in up to three databases."""
    made = InMemoryCatalog("c", "a")
    for name in draw(st.sets(st.sampled_from(("b", "c")))):
        made.create_database(name, CatalogDatabase({}, draw(REMARKS)), ignore_if_exists=False)
    for database in made.list_databases():
        for name in draw(st.sets(st.sampled_from(("t", "u", "v")))):
            columns_ = draw(st.lists(FEW_COLUMNS, unique_by=lambda column: column.name))
            result: CatalogBaseTable = CatalogTable(Schema(tuple(columns_)), comment=draw(REMARKS))
            if draw(st.booleans()):
                result = CatalogView(result.schema, "SELECT 1", "SELECT 1")
            made.create_table(ObjectPath(database, name), result, ignore_if_exists=False)
    return made


@given(catalogs(), catalogs(), st.data())
def test_applying_the_difference_of_catalogs_leaves_none(
    old: InMemoryCatalog, new: InMemoryCatalog, data: st.DataObject
) -> None:
    """Objects that are renamed stay objects of their kind; the default database is not dropped."""
    renames: dict[ObjectPath, str] = {}
    here, there = read_catalog(old).objects, read_catalog(new).objects
    kinds = {path: result.get_table_kind() for path, result in here.items()}
    for path in data.draw(st.lists(st.sampled_from(list(here)), unique=True)) if here else ():
        target = ObjectPath(path.database_name, data.draw(st.sampled_from(("t", "u", "v"))))
        same = target in there and there[target].get_table_kind() is kinds[path]
        if same and target not in [ObjectPath(o.database_name, n) for o, n in renames.items()]:
            renames[path] = target.object_name
    changes = diff_catalogs(old, new, renames=renames)
    document = catalog_changes_to_json(changes)
    read = catalog_changes_from_json(document)
    apply_to_catalog(read, old)

    assert () == diff_catalogs(old, new)
    assert document == catalog_changes_to_json(read)


@given(rows(), rows(), st.data())
def test_fields_are_renamed_at_any_depth(old: RowType, new: RowType, data: st.DataObject) -> None:
    """The laws hold for columns of rows, in arrays as well, with any renames of fields."""
    before = Schema((UnresolvedPhysicalColumn("c", ArrayType(old)),))
    after = Schema((UnresolvedPhysicalColumn("c", ArrayType(new)),))
    names: dict[str, str] = {}
    if old.names and new.names:
        drawn = st.dictionaries(st.sampled_from(old.names), st.sampled_from(new.names))
        names = one_to_one(data.draw(drawn))
    renames: dict[tuple[str, ...], str] = {("c", "element", name): names[name] for name in names}
    changes = diff(before, after, renames=renames)

    assert after == apply(changes, before)
    assert before == apply(invert(changes, before), after)
    assert changes == from_json(to_json(changes))
