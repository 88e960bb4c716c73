"""Arrow types compared with a hand-written table, so that a mistake in both directions is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from schema_core import types
from schema_core.base.text import MAX_DEPTH
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.mappings.arrow.schemas import (
    from_arrow,
    from_field,
    from_schema,
    layout_of,
    read_schema,
    to_field,
    to_schema,
)
from schema_core.mappings.arrow.types import TO_ARROW
from schema_core.mappings.exact_types import TYPE_KEY
from schema_core.schema.resolved import ResolvedSchema
from schema_core.types import ArrayType, DataType, IntType, parse_type

NUMBER = pa.field("value", pa.int32(), nullable=False)


@pytest.mark.parametrize(
    ("sql", "arrow", "nullable"),
    [
        ("TINYINT",                        pa.int8(),                            True),
        ("BIGINT NOT NULL",                pa.int64(),                           False),
        ("DECIMAL(12, 2)",                 pa.decimal128(12, 2),                 True),
        ("FLOAT",                          pa.float32(),                         True),
        ("CHAR(3)",                        pa.string(),                          True),
        ("VARCHAR(7) NOT NULL",            pa.string(),                          False),
        ("BINARY(3)",                      pa.binary(3),                         True),
        ("BYTES",                          pa.binary(),                          True),
        ("DATE",                           pa.date32(),                          True),
        ("TIME(0)",                        pa.time64("us"),                      True),
        ("TIME(9)",                        pa.time64("ns"),                      True),
        ("TIMESTAMP(3)",                   pa.timestamp("us"),                   True),
        ("TIMESTAMP(7)",                   pa.timestamp("ns"),                   True),
        ("TIMESTAMP_LTZ(9)",               pa.timestamp("ns", tz="UTC"),         True),
        ("INTERVAL YEAR TO MONTH",         pa.int32(),                           True),
        ("INTERVAL DAY TO SECOND(3)",      pa.duration("us"),                    True),
        ("INTERVAL SECOND(9)",             pa.duration("ns"),                    True),
        ("ARRAY<INT NOT NULL>",            pa.list_(pa.field("element", pa.int32(), False)), True),
        ("MULTISET<INT>",                  pa.map_(pa.int32(), NUMBER),          True),
        ("ROW<a INT NOT NULL, b STRING>",  pa.struct([pa.field("a", pa.int32(), False),
                                                      pa.field("b", pa.string())]), True),
        ("STRUCTURED<'x.Y', a DOUBLE>",    pa.struct([pa.field("a", pa.float64())]), True),
        ("NULL",                           pa.null(),                            True),
    ],
)  # fmt: skip
def test_physical_type(sql: str, arrow: pa.DataType, nullable: bool) -> None:
    field = to_field("f", parse_type(sql))

    assert arrow == field.type
    assert nullable == field.nullable


STRING = "STRING"
BYTES = "BYTES"
ITEM = pa.field("item", pa.int32(), nullable=False)
TWICE = pa.struct([pa.field("a", pa.int32()), pa.field("a", pa.int32())])
UNION = pa.sparse_union([pa.field("a", pa.int32()), pa.field("b", pa.string())])

#: Types that pyarrow 18 does not have.
NEWER = [
    (pa.decimal32(7, 2),                      "DECIMAL(7, 2)"),
    (pa.decimal64(12, 2),                     "DECIMAL(12, 2)"),
    (pa.json_(),                              STRING),
] if hasattr(pa, "decimal32") else []  # fmt: skip
#: Types on which other readers differ: the expected type here, or the error code.
FIFTY_ONE = [
    (pa.int8(),                               "TINYINT"),
    (pa.decimal128(38, 10),                   "DECIMAL(38, 10)"),
    (pa.decimal128(5, -2),                    "DECIMAL(7, 0)"),
    (pa.string(),                             STRING),
    (pa.date32(),                             "DATE"),
    (pa.time64("ns"),                         "TIME(9)"),
    (pa.timestamp("us"),                      "TIMESTAMP(6)"),
    (pa.timestamp("us", "UTC"),               "TIMESTAMP_LTZ(6)"),
    (pa.list_(pa.int32()),                    "ARRAY<INT>"),
    (pa.list_(ITEM),                          "ARRAY<INT NOT NULL>"),
    (pa.map_(pa.string(), pa.int32()),        f"MAP<{STRING} NOT NULL, INT>"),
    (pa.null(),                               "NULL"),
    (pa.struct([ITEM]),                       "ROW<`item` INT NOT NULL>"),
    (TWICE,                                   "invalid-type"),
    *NEWER,
    (pa.decimal256(76, 10),                   "type-not-supported"),
    (pa.large_string(),                       STRING),
    (pa.large_binary(),                       BYTES),
    (pa.large_list(pa.int32()),               "ARRAY<INT>"),
    (pa.binary(16),                           "BINARY(16)"),
    (pa.list_(pa.int32(), 3),                 "ARRAY<INT>"),
    (pa.time64("us"),                         "TIME(6)"),
    (pa.timestamp("s"),                       "TIMESTAMP(0)"),
    (pa.timestamp("ms"),                      "TIMESTAMP(3)"),
    (pa.timestamp("ns"),                      "TIMESTAMP(9)"),
    (pa.timestamp("ns", "UTC"),               "TIMESTAMP_LTZ(9)"),
    (pa.timestamp("us", "Europe/Amsterdam"),  "TIMESTAMP_LTZ(6)"),
    (pa.duration("s"),                        "INTERVAL DAY(6) TO SECOND(0)"),
    (pa.duration("ns"),                       "INTERVAL DAY(6) TO SECOND(9)"),
    (pa.dictionary(pa.int32(), pa.string()),  STRING),
    (pa.dictionary(pa.int8(), pa.int64(), ordered=True), "BIGINT"),
    (pa.map_(pa.int32(), pa.int32(), keys_sorted=True), "MAP<INT NOT NULL, INT>"),
    (pa.uint8(),                              "SMALLINT"),
    (pa.uint16(),                             "INT"),
    (pa.uint32(),                             "BIGINT"),
    (pa.uint64(),                             "DECIMAL(20, 0)"),
    (pa.float16(),                            "FLOAT"),
    (pa.string_view(),                        STRING),
    (pa.binary_view(),                        BYTES),
    (pa.list_view(pa.int32()),                "ARRAY<INT>"),
    (pa.large_list_view(pa.int32()),          "ARRAY<INT>"),
    (pa.run_end_encoded(pa.int32(), pa.string()), STRING),
    (pa.date64(),                             "DATE"),
    (pa.time32("s"),                          "TIME(0)"),
    (pa.time32("ms"),                         "TIME(3)"),
    (pa.month_day_nano_interval(),            "type-not-supported"),
    (UNION,                                   "type-not-supported"),
    (pa.uuid(),                               "BINARY(16)"),
    (pa.bool8(),                              "BOOLEAN"),
]  # fmt: skip

#: Further types of Arrow.
OTHERS = [
    (pa.binary(0),                            BYTES),
    (pa.decimal256(38, 0),                    "DECIMAL(38, 0)"),
    (pa.decimal128(2, 5),                     "DECIMAL(5, 5)"),
    (pa.decimal128(38, -1),                   "type-not-supported"),
    (pa.duration("ms"),                       "INTERVAL DAY(6) TO SECOND(3)"),
    (pa.dense_union([ITEM]),                  "type-not-supported"),
    (pa.map_(pa.dictionary(pa.int8(), pa.null()), ITEM.type), "type-not-supported"),
    *([(pa.json_(pa.large_string()), STRING)] if NEWER else []),
    (pa.opaque(pa.int32(), "point", "acme"),  "INT"),
    (pa.fixed_shape_tensor(pa.float32(), [2, 3], dim_names=["x", "y"]), "ARRAY<FLOAT>"),
    (pa.large_list(pa.struct([pa.field("t", pa.time32("s")), pa.field("u", pa.uuid())])),
     "ARRAY<ROW<`t` TIME(0), `u` BINARY(16)>>"),
    (pa.dictionary(pa.int8(), pa.large_list(pa.string_view())), f"ARRAY<{STRING}>"),
    (pa.map_(pa.string_view(), pa.list_(pa.float16(), 2)),
     f"MAP<{STRING} NOT NULL, ARRAY<FLOAT>>"),
]  # fmt: skip


def shown(field: pa.Field) -> str:
    """The type of a field as a string."""
    return from_field(field).as_summary_string()


TYPES = [*FIFTY_ONE, *OTHERS]


def test_all_fifty_one_types_are_listed() -> None:
    assert 48 + len(NEWER) == len({str(arrow) for arrow, _ in FIFTY_ONE})


@pytest.mark.parametrize(("arrow", "sql"), TYPES, ids=lambda item: str(item)[:40])
def test_type_of_a_field_without_metadata(arrow: pa.DataType, sql: str) -> None:
    result = read_schema(pa.schema([pa.field("f", arrow)]))

    assert ([sql] if sql.islower() else []) == [diagnostic.code for diagnostic in result.refused]
    assert ([] if sql.islower() else [f"`f` {sql}"]) == [
        str(column) for column in result.schema.columns
    ]


@pytest.mark.parametrize(
    "arrow", [arrow for arrow, sql in TYPES if not sql.islower()], ids=lambda item: str(item)[:40]
)
def test_no_type_is_silently_different(arrow: pa.DataType) -> None:
    """The layout restores the Arrow type, with metadata in nested fields."""
    field = pa.field("f", arrow)
    type_, layout = from_field(field), layout_of(field)
    back = to_field("f", type_, layout=layout)

    assert arrow == back.type
    assert type_ == from_field(back)
    assert (layout is None) == (arrow == to_field("f", type_).type)
    assert bool(layout) == bool(read_schema(pa.schema([field])).losses)


def test_nested_fields_of_a_layout_have_metadata() -> None:
    type_ = parse_type("ARRAY<ROW<a CHAR(3) NOT NULL 'short'>>")
    layout = layout_of(
        pa.field("f", pa.large_list(pa.field("x", pa.struct([("a", pa.string_view())]))))
    )
    field = to_field("f", type_, layout=layout)

    assert pa.large_list(pa.struct([pa.field("a", pa.string_view(), False)])) == field.type
    inner = field.type.value_type.field("a")
    assert "CHAR(3) NOT NULL" == shown(inner)
    assert b"short" == inner.metadata[b"comment"]


@pytest.mark.parametrize(
    ("layout", "sql"),
    [
        ('["large_string"]',         "INT"),
        ('["timestamp","ms",null]',  "TIMESTAMP(6)"),
        ('["time32","s"]',           "TIME(3)"),
        ('["decimal64",9,1]',        "DECIMAL(9, 2)"),
        ('["struct",[]]',            "ROW<a INT>"),
        ('["no_such_kind"]',         "INT"),
        ('["fixed_size_binary"]',    "BINARY(3)"),
        ('{"int32": 1}',             "INT"),
        ("[",                        "INT"),
        ("7",                        "INT"),
    ],
)  # fmt: skip
def test_a_layout_that_does_not_match_the_type_is_refused(layout: str, sql: str) -> None:
    with pytest.raises(SchemaError) as caught:
        to_field("f", parse_type(sql), layout=layout)

    assert "invalid-type" == caught.value.code


def test_extensions_without_a_class_are_read_by_name() -> None:
    zoned = to_field("at", parse_type("TIMESTAMP(3) WITH TIME ZONE"))
    variant = to_field("v", parse_type("VARIANT"))

    assert b"arrow.timestamp_with_offset" == zoned.metadata[b"ARROW:extension:name"]
    assert b"arrow.parquet.variant" == variant.metadata[b"ARROW:extension:name"]
    for field, sql in ((zoned, "TIMESTAMP(6) WITH TIME ZONE"), (variant, "VARIANT")):
        assert sql == shown(without_notes(field))


def test_an_unknown_extension_is_read_as_its_storage_type() -> None:
    named = {b"ARROW:extension:name": b"geoarrow.wkb", b"ARROW:extension:metadata": b'{"crs": 1}'}
    field = pa.field("shape", pa.large_binary(), metadata=named)
    back = to_field("shape", from_field(field), layout=layout_of(field))

    assert BYTES == shown(field)
    assert field.type == back.type
    assert named.items() <= back.metadata.items()


class Celsius(pa.ExtensionType):  # type: ignore[misc]
    """A user-defined extension type that is registered in this process."""

    def __init__(self) -> None:
        super().__init__(pa.float32(), "acme.celsius")

    def __arrow_ext_serialize__(self) -> bytes:
        return b"1"

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: object, serialized: bytes) -> Celsius:
        return cls()


def test_a_registered_extension_is_restored() -> None:
    pa.register_extension_type(Celsius())
    try:
        for arrow, sql in ((Celsius(), "FLOAT"), (pa.list_(Celsius()), "ARRAY<FLOAT>")):
            field = pa.field("t", arrow)
            assert sql == shown(field)
            assert arrow == to_field("t", from_field(field), layout=layout_of(field)).type
    finally:
        pa.unregister_extension_type("acme.celsius")


# --- exact-type metadata --------------------------------------------------------------------------


def without_notes(field: pa.Field) -> pa.Field:
    kept = {key: value for key, value in field.metadata.items() if key != TYPE_KEY.encode()}
    return field.with_metadata(kept)


def test_metadata_is_used_only_if_the_field_matches() -> None:
    original = to_field("f", parse_type("CHAR(3)"))

    assert "CHAR(3)" == shown(original)
    assert "INT" == shown(original.with_type(pa.int32()))
    assert "CHAR(3)" == shown(original.with_type(pa.large_string()))
    assert "CHAR(3) NOT NULL" == shown(original.with_nullable(False))


@pytest.mark.parametrize(
    ("sql", "unit", "found"),
    [
        ("TIMESTAMP(3)", "ms", "TIMESTAMP(3)"),
        ("TIMESTAMP(3)", "ns", "TIMESTAMP(3)"),
        ("TIMESTAMP(3)", "s",  "TIMESTAMP(0)"),
        ("TIMESTAMP(7)", "us", "TIMESTAMP(6)"),
    ],
)  # fmt: skip
def test_metadata_matches_finer_units_only(sql: str, unit: str, found: str) -> None:
    field = to_field("f", parse_type(sql)).with_type(pa.timestamp(unit))

    assert found == shown(field)


def test_a_struct_with_a_new_field_keeps_other_metadata() -> None:
    original = to_field("f", parse_type("ROW<a CHAR(3), b MULTISET<INT>>"))
    wider = original.with_type(pa.struct([*original.type.fields, pa.field("c", pa.uint8())]))

    assert "ROW<`a` CHAR(3), `b` MULTISET<INT>, `c` SMALLINT>" == shown(wider)


def test_invalid_metadata_is_ignored() -> None:
    for note in (b"\xff", b"CHAR(", b"DESCRIPTOR", b"`db`.`money`"):
        assert "INT" == shown(pa.field("f", pa.int32(), metadata={TYPE_KEY.encode(): note}))


def test_metadata_from_spark_is_used() -> None:
    metadata = json.dumps({TYPE_KEY: "CHAR(3)", "comment": "short"}).encode()
    field = pa.field("f", pa.string(), metadata={b"SPARK::metadata::json": metadata})

    assert ["`f` CHAR(3) COMMENT 'short'"] == [
        str(column) for column in from_schema(pa.schema([field])).columns
    ]
    for broken in (b"{", b"[]", b"[" * 100_000):
        field = pa.field("f", pa.string(), metadata={b"SPARK::metadata::json": broken})
        assert STRING == shown(field)


def test_accepting_losses_writes_no_metadata() -> None:
    field = to_field("f", parse_type("ROW<a CHAR(3) 'x'>"), "y", on_loss="accept")

    assert {b"comment": b"y"} == field.metadata
    assert parse_type("ROW<a STRING 'x'>") == from_field(field)
    with pytest.raises(SchemaError) as caught:
        to_field("f", parse_type("INT"), on_loss="ignore")  # type: ignore[arg-type]
    assert "invalid-argument" == caught.value.code


# --- schemas and limits ---------------------------------------------------------------------------


def test_refused_columns_do_not_affect_others() -> None:
    schema = pa.schema(
        [
            pa.field("id", pa.int64(), metadata={b"comment": b"the key"}),
            ("odd", pa.month_day_nano_interval()),
            ("twice", TWICE),
        ]
    )
    result = read_schema(schema)

    assert ["`id` BIGINT COMMENT 'the key'"] == [str(column) for column in result.schema.columns]
    assert [
        ("type-not-supported", ("field 'odd'",)),
        ("invalid-type", ("field 'twice'",)),
    ] == [(diagnostic.code, diagnostic.path) for diagnostic in result.refused]
    with pytest.raises(UnsupportedError) as caught:
        from_schema(schema)
    assert result.refused == caught.value.diagnostics


def deep(
    inner: pa.DataType, levels: int, wrap: Callable[[pa.DataType], pa.DataType]
) -> pa.DataType:
    for _ in range(levels):
        inner = wrap(inner)
    return inner


@pytest.mark.parametrize(
    "wrap",
    [
        pa.list_,
        pa.large_list,
        lambda inner: pa.struct([("a", inner)]),
        lambda inner: pa.map_(pa.int8(), inner),
        lambda inner: pa.dictionary(pa.int8(), inner),
        lambda inner: pa.run_end_encoded(pa.int16(), inner),
    ],
)
def test_depth_is_checked_before_pyarrow_recurses(
    wrap: Callable[[pa.DataType], pa.DataType],
) -> None:
    bottom, refused = pa.int8(), pa.month_day_nano_interval()
    just = deep(bottom, MAX_DEPTH - 1, wrap)

    assert isinstance(from_arrow(just), DataType)
    for arrow in (deep(bottom, MAX_DEPTH, wrap), deep(refused, 5_000, wrap)):
        with pytest.raises(UnsupportedError) as caught:
            from_field(pa.field("f", arrow))
        assert "limit-exceeded" == caught.value.code


def test_types_of_maximum_depth_are_converted() -> None:
    type_: DataType = IntType()
    for _ in range(MAX_DEPTH - 1):
        type_ = ArrayType(type_)

    assert type_ == from_field(to_field("f", type_))
    with pytest.raises(UnsupportedError) as caught:
        to_field("f", IntType(), layout=("[" * 100_000))
    assert "limit-exceeded" == caught.value.code


def test_a_name_with_an_unpaired_surrogate_is_refused() -> None:
    with pytest.raises(UnsupportedError) as caught:
        to_field("\ud800", IntType())

    assert "name-not-supported" == caught.value.code


def test_every_class_of_type_is_mapped_or_refused() -> None:
    """A new type needs a row, or an entry in the list of types that exist only within Flink."""

    public = [getattr(types, name) for name in types.__all__]
    concrete = {item for item in public if isinstance(item, type) and "root" in vars(item)}
    stay = {"SymbolType", "DescriptorType", "UnresolvedType", "LegacyType"}
    assert stay == {kind.__name__ for kind in concrete - set(TO_ARROW)}


# --- files ----------------------------------------------------------------------------------------

KEPT = [
    "CHAR(3) NOT NULL", "VARCHAR(9)", "BINARY(3)", "VARBINARY(4)", "BYTES", "BOOLEAN", "TINYINT",
    "SMALLINT", "INT", "BIGINT NOT NULL", "FLOAT", "DOUBLE", "DECIMAL(38, 18)", "DATE", "TIME(0)",
    "TIME(9)", "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(7)", "TIMESTAMP_LTZ(0)",
    "TIMESTAMP_LTZ(9)", "TIMESTAMP(3) WITH TIME ZONE", "INTERVAL YEAR(4)", "INTERVAL MONTH",
    "INTERVAL DAY(3) TO SECOND(9)", "INTERVAL HOUR", "ARRAY<INT NOT NULL>", "MULTISET<CHAR(2)>",
    "MAP<STRING, ARRAY<DATE>>", "MAP<INT NOT NULL, ROW<a CHAR(1) 'it''s'> NOT NULL>",
    "ROW<`a b` INT NOT NULL, c ROW<d VARCHAR(2)>>", "STRUCTURED<'x.Y', a INT>", "NULL", "VARIANT",
    "RAW('x.Y', 'AAFB')", "BITMAP",
]  # fmt: skip


def write_ipc_file(table: pa.Table, path: Path) -> pa.Table:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def write_feather(table: pa.Table, path: Path) -> pa.Table:
    pyarrow.feather.write_feather(table, str(path))
    return pyarrow.feather.read_table(str(path))


def write_parquet(table: pa.Table, path: Path) -> pa.Table:
    pyarrow.parquet.write_table(table, path)
    return pyarrow.parquet.read_table(path)


@pytest.mark.parametrize("through", [write_ipc_file, write_feather, write_parquet])
def test_files_keep_every_type(
    through: Callable[[pa.Table, Path], pa.Table], tmp_path: Path
) -> None:
    resolved = ResolvedSchema.physical(
        [f"c{index}" for index in range(len(KEPT))], [parse_type(sql) for sql in KEPT]
    )
    schema = to_schema(resolved)
    back = through(schema.empty_table(), tmp_path / "file")

    assert resolved.get_column_data_types() == [from_field(field) for field in back.schema]


def test_files_preserve_layouts(tmp_path: Path) -> None:
    """Parquet stores seconds as milliseconds; the metadata still matches the field."""
    layouts = {"s": "TIMESTAMP(0)", "ms": "TIMESTAMP(2)"}
    schema = pa.schema(
        [
            to_field(unit, parse_type(sql), layout=f'["timestamp","{unit}",null]')
            for unit, sql in layouts.items()
        ]
    )
    back = write_parquet(schema.empty_table(), tmp_path / "file").schema

    assert pa.timestamp("ms") == back.field("s").type
    assert list(layouts.values()) == [shown(field) for field in back]
