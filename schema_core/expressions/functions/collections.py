"""Arrays, maps, multisets, rows, structured objects and bitmaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.errors import SchemaError
from schema_core.expressions.coercion import COMPARABLE_ROOTS
from schema_core.expressions.signatures import (
    ANY,
    ARRAY,
    AS_ARRAY,
    AS_BITMAP,
    AS_BOOLEAN,
    AS_BYTES,
    AS_INT,
    AS_MAP,
    AS_STRING,
    AS_STRUCTURED,
    CHARACTER,
    MAP,
    MULTISET,
    SORTABLE,
    STRINGS,
    always,
    array,
    bridged,
    bridged_aggregate,
    common,
    commonly,
    constant_integer,
    describe_rule,
    element,
    element_of,
    exactly,
    explicit,
    first,
    least,
    like,
    literal,
    map_,
    never,
    no_common_type,
    of,
    operation,
    text_of,
)
from schema_core.expressions.typed import (
    ArgumentTypes,
    Constant,
    Function,
    FunctionCall,
    Parameter,
    Ref,
    TypeArgument,
    walk,
)
from schema_core.sql.syntax import Interval, TypeName
from schema_core.types import (
    ArrayType,
    DataType,
    MapType,
    MultisetType,
    RowField,
    RowType,
    StructuredType,
)
from schema_core.types import DataTypes as T
from schema_core.types import TypeFamily as F
from schema_core.types import TypeRoot as R
from schema_core.types.common import least_restrictive

if TYPE_CHECKING:
    from schema_core.expressions.typed import ReturnTypeRule, Typed

# --- constructors, and access to an element -------------------------------------------------------


def row(args: ArgumentTypes) -> DataType:
    """A row of the arguments with the fields EXPR$0, EXPR$1, ..."""
    return RowType([RowField(f"EXPR${i}", type_) for i, type_ in enumerate(args.types)])


def multiset(args: ArgumentTypes) -> DataType:
    """A multiset of the least restrictive type of the arguments."""
    return MultisetType(least()(args))


def _index(args: ArgumentTypes, i: int) -> DataType | None:
    """The type of an index, of a map key, or of the name or position of a field."""
    collection, type_ = args.types[0], args.types[i]
    match collection:
        case ArrayType():
            fits = type_.is_(F.INTEGER_NUMERIC)
        case MapType(key_type=key):
            fits = any(key.root in family and type_.root in family for family in COMPARABLE_ROOTS)
        case _:
            fits = type_.is_(F.INTEGER_NUMERIC, F.CHARACTER_STRING)
    return type_ if fits else None


def item(args: ArgumentTypes) -> DataType:
    """The element type, nullable; for a row the type of the field."""
    collection = args.types[0]
    match collection:
        case ArrayType(element_type=element):
            return element.nullable()
        case MapType(value_type=value):
            return value.nullable()
        case RowType():
            field = _field(collection, args)
            return field.with_nullability(field.is_nullable or collection.is_nullable)
        case _:
            return collection.nullable()


def _field(type_: RowType, args: ArgumentTypes) -> DataType:
    """The type of a field by position from 1, or by case-insensitive name."""
    position, name = constant_integer(args.trees[1]), text_of(args.trees[1])
    if args.types[1].is_(F.INTEGER_NUMERIC):
        if position and 1 <= position <= len(type_.fields):
            return type_.fields[position - 1].data_type
    elif name is not None:
        for field in type_.fields:
            if field.name.upper() == name.upper():
                return field.data_type
    raise SchemaError(
        f"{type_.as_summary_string()} has no field at this position or of this name",
        code="unknown-field",
        span=args.trees[1].span,
    )


def _interval_spelling(tree: Typed) -> object:
    """The fields that an interval literal or cast is spelled with."""
    match tree:
        case Ref():
            return Ref
        case Constant(literal=Interval(unit=unit, to=to, leading=leading, fraction=fraction)):
            return unit, to, leading, fraction
        case FunctionCall(
            arguments=(*_, TypeArgument(written=TypeName(interval=Interval() as interval)))
        ):
            return interval.unit, interval.to, interval.leading, interval.fraction
        case _:
            return None


def least_restrictive_of(start: int, step: int) -> Parameter:
    """A parameter of the least restrictive type of every `step`-th argument from `start` on.

    Intervals must have the same fields: Flink cannot print a cast between them.
    """

    def of_all(args: ArgumentTypes) -> DataType | None:
        common = least_restrictive(args.types[start::step])
        if common is None or not common.is_(F.INTERVAL):
            return common
        spellings = set(map(_interval_spelling, args.trees[start::step])) - {None}
        return common if len(spellings) <= 1 else None

    def mismatch(args: ArgumentTypes, _: int) -> str | None:
        types = args.types[start::step]
        return no_common_type(types) if least_restrictive(types) is None else None

    return Parameter("<ANY>", lambda args, _: args.evaluate_once(of_all), mismatch)


def _out_of_columns(args: ArgumentTypes) -> DataType | None:
    """The least restrictive type of arguments without columns, which Flink plans as rows."""
    if any(map(_reads_columns, args.trees)) or any(map(_is_table, args.trees)):
        return None
    common = least_restrictive(args.types)
    if common is None:
        return None
    typed = [type_ for type_ in args.types if type_.root is not R.NULL]
    is_compound = isinstance(common, ArrayType) or (
        isinstance(common, RowType) and len(common.fields) > 1
    )
    if is_compound and len(typed) < len(args.types):
        return None
    same_kind = all(_kind(type_) is _kind(common) for type_ in typed)
    return None if common.is_(F.DATETIME) and not same_kind else common


def _is_table(tree: Typed) -> bool:
    """Whether Flink plans a part of the tree as a table, or cannot reduce it."""
    parts = [part for part in walk(tree) if isinstance(part, FunctionCall)]
    nested = any(part.function.name == "MULTISET" for part in parts if part is not tree)
    return nested or any(
        part.function.name == "CAST"
        and part.type.is_(F.INTERVAL)
        and part.arguments[0].type.is_(F.CHARACTER_STRING)
        for part in parts
    )


def _kind(type_: DataType) -> F | R:
    """The family of a timestamp, the root of any other type."""
    return F.TIMESTAMP if type_.is_(F.TIMESTAMP) else type_.root


def _reads_columns(tree: Typed) -> bool:
    """Whether a column is read, also by FILTER or OVER of an aggregate."""
    for part in walk(tree):
        if isinstance(part, Ref):
            return True
        if isinstance(part, FunctionCall):
            clauses = [] if part.filter is None else [part.filter]
            if part.over is not None:
                clauses += (*part.over.partition_by, *(key.value for key in part.over.order_by))
            if any(map(_reads_columns, clauses)):
                return True
    return False


ITEM = least_restrictive_of(0, 1)
CONSTANT = Parameter("<ANY> without columns", lambda args, _: args.evaluate_once(_out_of_columns))
KEY = least_restrictive_of(0, 2)
VALUE = least_restrictive_of(1, 2)
COLLECTION = of("<ARRAY> | <MAP> | <ROW> | <VARIANT>", R.ARRAY, R.MAP, R.ROW, R.VARIANT)
INDEX = Parameter("<INDEX>", _index)


# --- functions of collections ---------------------------------------------------------------------


def array_append_type(args: ArgumentTypes) -> DataType:
    """The array type, with nullable elements if the added element is nullable."""
    existing, added = args.types[0].children()[0], args.types[1]
    return ArrayType(existing.with_nullability(existing.is_nullable or added.is_nullable))


def map_part(index: int) -> ReturnTypeRule:
    """The key type (0) or the value type (1) of a map."""
    description = f"the {('key', 'value')[index]} type of the map"
    return describe_rule(description, lambda args: args.types[0].children()[index])


def entry(args: ArgumentTypes) -> DataType:
    """A row of the key and value types of a map."""
    key, value = args.types[0].children()
    return RowType([RowField("key", key), RowField("value", value)])


COMMON_ARRAY = common(root=R.ARRAY)
COMMON_MAP = common(root=R.MAP)


# --- structured objects, and bitmaps --------------------------------------------------------------

NAME = literal(CHARACTER)


def named_types(args: ArgumentTypes, start: int) -> dict[str, DataType]:
    """The types by name of arguments that alternate names and values."""
    fields: dict[str, DataType] = {}
    for i in range(start, len(args.types), 2):
        name = text_of(args.trees[i]) or ""
        if name in fields:
            raise SchemaError(f"duplicate field name {name!r}", code="invalid-function-call")
        fields[name] = args.types[i + 1]
    return fields


def object_of(args: ArgumentTypes) -> DataType:
    """A structured type of the named class with the named fields."""
    fields = [RowField(name, type_) for name, type_ in named_types(args, 1).items()]
    return StructuredType(text_of(args.trees[0]) or "", fields)


def object_update_type(args: ArgumentTypes) -> DataType:
    """The structured type with the new types of the named fields."""
    type_, changes = args.types[0], named_types(args, 1)
    if not isinstance(type_, StructuredType):
        raise SchemaError(
            f"expected a structured type, got {type_.as_summary_string()}",
            code="invalid-function-call",
        )
    unknown = changes.keys() - {field.name for field in type_.fields}
    if unknown:
        raise SchemaError(
            f"{type_.as_summary_string()} has no field {min(unknown)!r}", code="unknown-field"
        )
    return type_.rebuild(tuple(changes.get(field.name, field.data_type) for field in type_.fields))


BITMAP = exactly(T.BITMAP())
COUNT = exactly(T.BIGINT())
NUMBERS = explicit(T.ARRAY(T.INT()))

FUNCTIONS = (
    # --- constructors: name, parameters, return type ----------------------------------------------
    operation("ROW",     (ANY,),              row, repeats=1, nullability=never),
    operation("ARRAY",   (ITEM,),             array(least()),
              repeats=1, nullability=never, aligns=True),
    operation("MAP",     (KEY, VALUE),        map_(least(0, 2), least(1, 2)),
              repeats=2, nullability=never, aligns=True),
    Function("MULTISET", (CONSTANT,),         multiset, repeats=1, nullability=never),
    operation("[]",      (COLLECTION, INDEX), item, nullability=None),
    # --- rules of SQL: name, parameters, return type ----------------------------------------------
    Function("CARDINALITY", (ARRAY,), exactly(T.INT()), alternatives=((MULTISET,), (MAP,))),
    Function("ELEMENT",     (ARRAY,), element(0), alternatives=((MULTISET,),), nullability=None),
    # --- rules of the Table API -------------------------------------------------------------------
    bridged("ARRAY_APPEND",    (AS_ARRAY, element_of(0)), array_append_type),
    bridged("ARRAY_PREPEND",   (AS_ARRAY, element_of(0)), array_append_type),
    bridged("ARRAY_CONTAINS",  (AS_ARRAY, element_of(0)), exactly(T.BOOLEAN()), nullability=first),
    bridged("ARRAY_POSITION",  (AS_ARRAY, element_of(0)), exactly(T.INT())),
    bridged("ARRAY_REMOVE",    (AS_ARRAY, element_of(0)), like(0), nullability=first),
    bridged("ARRAY_DISTINCT",  (AS_ARRAY,),               like(0)),
    bridged("ARRAY_REVERSE",   (AS_ARRAY,),               like(0)),
    bridged("ARRAY_SLICE",     (AS_ARRAY, AS_INT, AS_INT), like(0), optional=1),
    bridged("ARRAY_SORT",      (SORTABLE, AS_BOOLEAN, AS_BOOLEAN), like(0), optional=2),
    bridged("ARRAY_MAX",       (SORTABLE,),               element(0), nullability=always),
    bridged("ARRAY_MIN",       (SORTABLE,),               element(0), nullability=always),
    bridged("ARRAY_JOIN",      (STRINGS, AS_STRING, AS_STRING), exactly(T.STRING()), optional=1),
    bridged("ARRAY_UNION",     (COMMON_ARRAY, COMMON_ARRAY), commonly()),
    bridged("ARRAY_EXCEPT",    (COMMON_ARRAY, COMMON_ARRAY), commonly()),
    bridged("ARRAY_INTERSECT", (COMMON_ARRAY, COMMON_ARRAY), commonly()),
    bridged("ARRAY_CONCAT",    (COMMON_ARRAY,),           commonly(), repeats=1),
    bridged("MAP_KEYS",        (AS_MAP,),                 array(map_part(0))),
    bridged("MAP_VALUES",      (AS_MAP,),                 array(map_part(1))),
    bridged("MAP_ENTRIES",     (AS_MAP,),                 array(entry)),
    bridged("MAP_UNION",       (COMMON_MAP,),             commonly(), repeats=1),
    bridged("MAP_FROM_ARRAYS", (AS_ARRAY, AS_ARRAY),      map_(element(0), element(1))),
    bridged("OBJECT_OF",      (NAME, NAME, ANY),       object_of,
            optional=2, repeats=2, nullability=always),
    bridged("OBJECT_UPDATE",  (AS_STRUCTURED, NAME, ANY), object_update_type,
            optional=2, repeats=2, nullability=always),
    # --- bitmaps ----------------------------------------------------------------------------------
    bridged("BITMAP_BUILD",       (NUMBERS,),             BITMAP),
    bridged("BITMAP_FROM_BYTES",  (AS_BYTES,),            BITMAP),
    bridged("BITMAP_AND",         (AS_BITMAP, AS_BITMAP), BITMAP),
    bridged("BITMAP_ANDNOT",      (AS_BITMAP, AS_BITMAP), BITMAP),
    bridged("BITMAP_OR",          (AS_BITMAP, AS_BITMAP), BITMAP),
    bridged("BITMAP_XOR",         (AS_BITMAP, AS_BITMAP), BITMAP),
    bridged("BITMAP_CARDINALITY", (AS_BITMAP,),           COUNT),
    bridged("BITMAP_TO_ARRAY",    (AS_BITMAP,),           exactly(T.ARRAY(T.INT()))),
    bridged("BITMAP_TO_BYTES",    (AS_BITMAP,),           exactly(T.BYTES())),
    bridged("BITMAP_TO_STRING",   (AS_BITMAP,),           exactly(T.STRING())),
    # --- aggregates of bitmaps --------------------------------------------------------------------
    bridged_aggregate("BITMAP_BUILD_AGG",             (AS_INT,),    BITMAP, nullability=always),
    bridged_aggregate("BITMAP_BUILD_CARDINALITY_AGG", (AS_INT,),    COUNT, nullability=always),
    bridged_aggregate("BITMAP_AND_AGG",               (AS_BITMAP,), BITMAP, nullability=always),
    bridged_aggregate("BITMAP_AND_CARDINALITY_AGG",   (AS_BITMAP,), COUNT, nullability=always),
    bridged_aggregate("BITMAP_OR_AGG",                (AS_BITMAP,), BITMAP, nullability=always),
    bridged_aggregate("BITMAP_OR_CARDINALITY_AGG",    (AS_BITMAP,), COUNT, nullability=always),
    bridged_aggregate("BITMAP_XOR_AGG",               (AS_BITMAP,), BITMAP, nullability=always),
    bridged_aggregate("BITMAP_XOR_CARDINALITY_AGG",   (AS_BITMAP,), COUNT, nullability=always),
)  # fmt: skip
