"""Hive: what a metastore holds of a table comes back, or the table is refused before."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from schema_core.catalog.objects import CatalogTable, CatalogView, ResolvedCatalogTable
from schema_core.catalog.partitions import CatalogPartition
from schema_core.catalog.temporary import ResolvedTable
from schema_core.catalogs.hive import storage as hive_storage
from schema_core.catalogs.hive import thrift
from schema_core.catalogs.hive.metastore import HiveColumn, HiveStorage, HiveTable
from schema_core.catalogs.hive.objects import HiveObjects, split_name
from schema_core.catalogs.hive.tables import CONNECTOR, HIVE
from schema_core.catalogs.hive.types import MAX_CHAR, MAX_VARCHAR, from_hive, to_hive
from schema_core.catalogs.hive.types import WORDS as WORDS_OF_TYPES
from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.formats.properties.limits import STORES
from schema_core.schema.unresolved import Schema
from schema_core.testing.catalog_samples import understood
from schema_core.testing.schemas import tables
from schema_core.testing.strategies import types
from schema_core.types import (
    ArrayType,
    CharType,
    DataType,
    DecimalType,
    MapType,
    RowField,
    RowType,
    VarCharType,
)

FOLDER = "file:/warehouse/db.db"
PROFILES = st.sampled_from(sorted(name for name in STORES if name.startswith("hive")))
WORDS = st.text("abc_09 é😀'\"\n=/", max_size=12)
LOOSE = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def resolved(table: CatalogTable | CatalogView) -> ResolvedTable:
    """The table by what it means, if it can be kept anywhere."""
    try:
        return understood(table)
    except SchemaCoreError:
        assume(False)
        raise


def stored(codec: HiveObjects, table: ResolvedTable) -> HiveTable:
    """What a metastore gives back of what it was given: Thrift has no other fields."""
    try:
        written = codec.encode("db", "t", table)
    except UnsupportedError:
        assume(False)
        raise
    return thrift.table_of(thrift.parsed(thrift.written(thrift.record_of_table(written))))


@given(types())
def test_a_type_of_hive_comes_back_or_there_is_none(type_: DataType) -> None:
    try:
        text = to_hive(type_)
    except UnsupportedError:
        return

    assert type_ == from_hive(text)
    assert text == text.lower()


@LOOSE
@given(tables(), PROFILES)
def test_a_generic_table_comes_back_from_any_metastore(table: CatalogTable, profile: str) -> None:
    codec, given_ = HiveObjects(STORES[profile]), resolved(table)
    assume(given_.options.get(CONNECTOR, "").lower() != HIVE)

    found = codec.decode(stored(codec, given_))

    assert given_ == understood(found)


@LOOSE
@given(tables(), WORDS, WORDS, PROFILES)
def test_a_view_comes_back_with_its_queries(
    table: CatalogTable, original: str, expanded: str, profile: str
) -> None:
    codec = HiveObjects(STORES[profile])
    view = CatalogView(
        table.schema, original, expanded, options=table.options, comment=table.comment
    )
    given_ = resolved(view)

    assert given_ == understood(codec.decode(stored(codec, given_)))


NAMES = st.from_regex("[a-z][a-z0-9_]{0,5}", fullmatch=True)


def nested(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    fields = st.dictionaries(NAMES, inner, min_size=1, max_size=3).map(
        lambda named: RowType(tuple(RowField(name, type_) for name, type_ in named.items()))
    )
    return inner.map(ArrayType) | st.builds(MapType, inner, inner) | fields


#: Types that Hive has.
HIVE_TYPES = st.recursive(
    st.sampled_from([*WORDS_OF_TYPES])
    | st.builds(CharType, st.integers(1, MAX_CHAR))
    | st.builds(VarCharType, st.integers(1, MAX_VARCHAR))
    | st.integers(1, 38).map(lambda digits: DecimalType(digits, digits // 2)),
    nested,
    max_leaves=5,
)
FORMATS = st.sampled_from([*hive_storage.FORMATS])


@LOOSE
@given(
    st.dictionaries(NAMES, HIVE_TYPES, min_size=1, max_size=4),
    st.dictionaries(WORDS, WORDS, max_size=3),
    FORMATS,
    st.none() | WORDS,
    st.booleans(),
)
def test_a_table_of_hives_own_comes_back(
    columns: dict[str, DataType],
    properties: dict[str, str],
    form: str,
    comment: str | None,
    external: bool,
) -> None:
    codec = HiveObjects(STORES["hive-derby"])
    options = {**properties, CONNECTOR: HIVE}
    if form != "textfile":
        options[hive_storage.FILE_FORMAT] = form
    if external:
        options |= {hive_storage.EXTERNAL: "true", hive_storage.LOCATION: "s3://b/x"}
    builder = Schema.new_builder()
    for name, type_ in columns.items():
        builder.column(name, type_)
    given_ = resolved(CatalogTable(builder.build(), options=options, comment=comment))

    assert understood(given_) == understood(codec.decode(stored(codec, given_)))


OTHER_CLASSES = st.lists(WORDS.filter(bool), min_size=3, max_size=3).map(
    lambda names: hive_storage.FileFormat(*names)
)


@given(
    st.sampled_from([*hive_storage.FORMATS.values()]) | OTHER_CLASSES,
    st.dictionaries(WORDS, WORDS, max_size=3),
    st.none() | WORDS,
)
def test_options_of_a_storage_ask_for_it_again(
    classes: hive_storage.FileFormat, parameters: dict[str, str], location: str | None
) -> None:
    given_ = HiveStorage(
        classes.input_format,
        classes.output_format,
        classes.serde,
        hive_storage.USUAL | parameters,
        location,
    )

    assert given_ == hive_storage.storage_of(hive_storage.options_of(given_))


@given(st.lists(WORDS.filter(str.strip), min_size=1, max_size=3))
def test_values_of_a_partition_come_back_from_its_name(values: list[str]) -> None:
    """Hive escapes what a path has a use for, and more; any escaping is read."""
    special = {ord(one): f"%{ord(one):02X}" for one in "=/%'\"\n"}
    escaped = (value.translate(special) for value in values)
    name = "/".join(f"k{number}={value}" for number, value in enumerate(escaped))

    assert values == list(split_name(name).values())


@given(st.dictionaries(WORDS, WORDS, max_size=3), st.none() | WORDS)
def test_a_partition_comes_back_or_is_refused(
    properties: dict[str, str], comment: str | None
) -> None:
    codec = HiveObjects(STORES["hive-derby"])
    keys = (HiveColumn("p", "string"),)
    table = HiveTable("db", "t", partition_columns=keys, storage=HiveStorage(location=FOLDER))
    partition = CatalogPartition(properties, comment)
    try:
        made = codec.encode_partition(table, ("x",), partition)
    except UnsupportedError:
        return

    back = thrift.partition_of(thrift.parsed(thrift.written(thrift.record_of_partition(made))))

    assert partition == codec.decode_partition(table, back)


@LOOSE
@given(tables(), tables(), PROFILES)
def test_what_is_altered_holds_nothing_of_what_was_there(
    old: CatalogTable, new: CatalogTable, profile: str
) -> None:
    codec = HiveObjects(STORES[profile])
    before, after = resolved(old), resolved(new)
    there = stored(codec, before)
    assume(isinstance(after, ResolvedCatalogTable))
    try:
        altered = codec.alter(there, after)
    except UnsupportedError:
        return

    assert after == understood(codec.decode(altered))
