"""Hive: what a metastore holds of a table comes back, or the table is refused before."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from schema_core.catalog.objects import (
    CatalogPartition,
    CatalogTable,
    CatalogView,
    ResolvedCatalogTable,
)
from schema_core.catalog.temporary import ResolvedTable
from schema_core.catalogs.hive import client, codec
from schema_core.catalogs.hive.codec import CONNECTOR, HIVE, HiveCodec, partition_values
from schema_core.catalogs.hive.columns import from_hive, to_hive
from schema_core.catalogs.hive.metastore import HiveColumn, HivePartition, HiveStorage, HiveTable
from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.properties.limits import STORES
from schema_core.schema.unresolved import Schema
from schema_core.testing.catalog_cases import with_derived_schema
from schema_core.testing.strategies import tables, types
from schema_core.types import (
    ArrayType,
    CharType,
    DataType,
    DataTypes,
    DecimalType,
    MapType,
    RowField,
    RowType,
    VarCharType,
)

DIRECTORY = "file:/warehouse/db.db"
PROFILES = st.sampled_from(sorted(name for name in STORES if name.startswith("hive")))
HIVE_NAMES = st.text("abc_09 é😀'\"\n=/", max_size=12)
LOOSE = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def resolved(table: CatalogTable | CatalogView) -> ResolvedTable:
    """The table by what it means, if it can be kept anywhere."""
    try:
        return with_derived_schema(table)
    except SchemaCoreError:
        assume(False)
        raise


def stored(hive: HiveCodec, table: ResolvedTable) -> HiveTable:
    """What a metastore gives back of what it was given: Thrift has no other fields."""
    try:
        written = hive.encode("db", "t", table)
    except UnsupportedError:
        assume(False)
        raise
    return client.value_of(HiveTable, client.from_json(client.to_json(client.record_of(written))))


@given(types())
def test_hive_type_round_trips_or_is_unsupported(type_: DataType) -> None:
    try:
        text = to_hive(type_)
    except UnsupportedError:
        return

    assert type_ == from_hive(text)
    assert text == text.lower()


@LOOSE
@given(tables(), PROFILES)
def test_generic_table_round_trips_through_any_metastore(table: CatalogTable, profile: str) -> None:
    hive, given_ = HiveCodec(STORES[profile]), resolved(table)
    assume(given_.options.get(CONNECTOR, "").lower() != HIVE)

    result = hive.decode(stored(hive, given_))

    assert given_ == with_derived_schema(result)


@LOOSE
@given(tables(), HIVE_NAMES, HIVE_NAMES, PROFILES)
def test_view_round_trips_with_its_queries(
    table: CatalogTable, original: str, expanded: str, profile: str
) -> None:
    hive = HiveCodec(STORES[profile])
    view = CatalogView(
        table.schema, original, expanded, options=table.options, comment=table.comment
    )
    given_ = resolved(view)

    assert given_ == with_derived_schema(hive.decode(stored(hive, given_)))


NAMES = st.from_regex("[a-z][a-z0-9_]{0,5}", fullmatch=True)


def nested(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    fields = st.dictionaries(NAMES, inner, min_size=1, max_size=3).map(
        lambda named: RowType(tuple(RowField(name, type_) for name, type_ in named.items()))
    )
    return inner.map(ArrayType) | st.builds(MapType, inner, inner) | fields


#: Types that Hive has.
HIVE_TYPES = st.recursive(
    st.sampled_from(
        [
            DataTypes.BOOLEAN(), DataTypes.TINYINT(), DataTypes.SMALLINT(), DataTypes.INT(),
            DataTypes.BIGINT(), DataTypes.FLOAT(), DataTypes.DOUBLE(), DataTypes.DATE(),
            DataTypes.STRING(), DataTypes.BYTES(), DataTypes.TIMESTAMP(9),
        ]
    )
    | st.builds(CharType, st.integers(1, 255))
    | st.builds(VarCharType, st.integers(1, 65_535))
    | st.integers(1, 38).map(lambda digits: DecimalType(digits, digits // 2)),
    nested,
    max_leaves=5,
)  # fmt: skip
FORMATS = st.sampled_from([*codec.FORMATS])


@LOOSE
@given(
    st.dictionaries(NAMES, HIVE_TYPES, min_size=1, max_size=4),
    st.dictionaries(HIVE_NAMES, HIVE_NAMES, max_size=3),
    FORMATS,
    st.none() | HIVE_NAMES,
    st.booleans(),
)
def test_hive_table_round_trips(
    columns: dict[str, DataType],
    properties: dict[str, str],
    form: str,
    comment: str | None,
    external: bool,
) -> None:
    hive = HiveCodec(STORES["hive-derby"])
    options = {**properties, CONNECTOR: HIVE}
    if form != "textfile":
        options[codec.FILE_FORMAT] = form
    if external:
        options |= {codec.IS_EXTERNAL: "true", codec.LOCATION: "s3://b/x"}
    builder = Schema.new_builder()
    for name, type_ in columns.items():
        builder.column(name, type_)
    given_ = resolved(CatalogTable(builder.build(), options=options, comment=comment))

    assert with_derived_schema(given_) == with_derived_schema(hive.decode(stored(hive, given_)))


OTHER_CLASSES = st.lists(HIVE_NAMES.filter(bool), min_size=3, max_size=3).map(
    lambda names: codec.FileFormat(*names)
)


@given(
    st.sampled_from([*codec.FORMATS.values()]) | OTHER_CLASSES,
    st.dictionaries(HIVE_NAMES, HIVE_NAMES, max_size=3),
    st.none() | HIVE_NAMES,
)
def test_storage_options_reproduce_the_storage(
    classes: codec.FileFormat, parameters: dict[str, str], location: str | None
) -> None:
    given_ = HiveStorage(
        classes.input_format,
        classes.output_format,
        classes.serde,
        codec.DEFAULT_SERDE_PARAMETERS | parameters,
        location,
    )

    assert given_ == codec.storage_of(codec.options_of(given_))


@given(st.lists(HIVE_NAMES.filter(str.strip), min_size=1, max_size=3))
def test_partition_values_are_restored_from_the_name(values: list[str]) -> None:
    """Hive escapes what a path has a use for, and more; any escaping is read."""
    special = {ord(item): f"%{ord(item):02X}" for item in "=/%'\"\n"}
    escaped = (value.translate(special) for value in values)
    name = "/".join(f"k{number}={value}" for number, value in enumerate(escaped))

    assert values == list(partition_values(name).values())


@given(st.dictionaries(HIVE_NAMES, HIVE_NAMES, max_size=3), st.none() | HIVE_NAMES)
def test_partition_round_trips_or_is_refused(
    properties: dict[str, str], comment: str | None
) -> None:
    hive = HiveCodec(STORES["hive-derby"])
    keys = (HiveColumn("p", "string"),)
    table = HiveTable("db", "t", partition_columns=keys, storage=HiveStorage(location=DIRECTORY))
    partition = CatalogPartition(properties, comment)
    try:
        made = hive.encode_partition(table, ("x",), partition)
    except UnsupportedError:
        return

    back = client.value_of(HivePartition, client.from_json(client.to_json(client.record_of(made))))

    assert partition == hive.decode_partition(table, back)


@LOOSE
@given(tables(), tables(), PROFILES)
def test_altered_table_keeps_no_old_parameters(
    old: CatalogTable, new: CatalogTable, profile: str
) -> None:
    hive = HiveCodec(STORES[profile])
    before, after = resolved(old), resolved(new)
    there = stored(hive, before)
    assume(isinstance(after, ResolvedCatalogTable))
    try:
        altered = hive.alter(there, after)
    except UnsupportedError:
        return

    assert after == with_derived_schema(hive.decode(altered))
