"""What makes rows, arrays, maps and multisets, and what takes one element out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.errors import SchemaError
from schema_core.expressions.comparable import FAMILIES
from schema_core.expressions.functions.numbers import known_number
from schema_core.expressions.signature_dsl import (
    ANY,
    array,
    least,
    map_,
    never,
    operation,
    text_of,
)
from schema_core.expressions.signatures import Arg, Function, Given
from schema_core.expressions.typed import Constant, FunctionCall, Ref, TypeArgument, walk
from schema_core.sql.syntax import Interval, TypeName
from schema_core.types import (
    ArrayType,
    DataType,
    MapType,
    MultisetType,
    RowField,
    RowType,
    TypeFamily,
    TypeRoot,
    VariantType,
)
from schema_core.types.least_restrictive import least_restrictive

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed

F = TypeFamily


def row(given: Given) -> DataType:
    """A row of the arguments; its fields are called EXPR$0, EXPR$1, ..."""
    return RowType([RowField(f"EXPR${i}", type_) for i, type_ in enumerate(given.types)])


def multiset(given: Given) -> DataType:
    """A multiset of what holds all arguments."""
    return MultisetType(least()(given))


def _collection(given: Given, i: int) -> DataType | None:
    type_ = given.types[i]
    return type_ if isinstance(type_, ArrayType | MapType | RowType | VariantType) else None


def _index(given: Given, i: int) -> DataType | None:
    """What finds an element: a number, a key of the map's kind, a name or place of a field."""
    collection, type_ = given.types[0], given.types[i]
    match collection:
        case ArrayType():
            fits = type_.is_(F.INTEGER_NUMERIC)
        case MapType(key_type=key):
            fits = any(key.root in family and type_.root in family for family in FAMILIES)
        case _:
            fits = type_.is_(F.INTEGER_NUMERIC, F.CHARACTER_STRING)
    return type_ if fits else None


def item(given: Given) -> DataType:
    """The element, which need not be there; of a row the field, which must."""
    collection = given.types[0]
    match collection:
        case ArrayType(element_type=element):
            return element.nullable()
        case MapType(value_type=value):
            return value.nullable()
        case RowType():
            found = _field(collection, given)
            return found.with_nullability(found.is_nullable or collection.is_nullable)
        case _:
            return collection.nullable()


def _field(type_: RowType, given: Given) -> DataType:
    """The field of a place, counted from 1, or of a name in any case."""
    place, name = known_number(given.trees[1]), text_of(given.trees[1])
    if given.types[1].is_(F.INTEGER_NUMERIC):
        if place and 1 <= place <= len(type_.fields):
            return type_.fields[place - 1].data_type
    elif name is not None:
        for one in type_.fields:
            if one.name.upper() == name.upper():
                return one.data_type
    raise SchemaError(
        f"{type_.as_summary_string()} has no such field",
        code="unknown-field",
        span=given.trees[1].span,
    )


def _spelled(tree: Typed) -> object:
    """How the fields of an interval are written, if they are; those of all columns are alike."""
    match tree:
        case Ref():
            return Ref
        case Constant(literal=Interval(unit=unit, to=to, leading=leading, fraction=fraction)):
            return unit, to, leading, fraction
        case FunctionCall(
            arguments=(*_, TypeArgument(written=TypeName(interval=Interval() as said)))
        ):
            return said.unit, said.to, said.leading, said.fraction
        case _:
            return None


def alike(start: int, step: int) -> Arg:
    """The type that SQL finds for every `step`-th argument from `start` on.

    Intervals must be written with the same fields, for Flink has no text for the cast.
    """

    def of_all(given: Given) -> DataType | None:
        found = least_restrictive(given.types[start::step])
        if found is None or not found.is_(F.INTERVAL):
            return found
        spellings = set(map(_spelled, given.trees[start::step])) - {None}
        return found if len(spellings) <= 1 else None

    return Arg("<ANY>", lambda given, _: given.once(of_all))


def _out_of_columns(given: Given) -> DataType | None:
    """What holds all arguments, none of which reads a column: Flink makes them rows of a table."""
    if any(map(_reads_columns, given.trees)) or any(map(_is_table, given.trees)):
        return None
    found = least_restrictive(given.types)
    moment = found is not None and found.is_(F.DATETIME)
    known = [type_ for type_ in given.types if type_.root is not TypeRoot.NULL]
    wide = isinstance(found, ArrayType) or (isinstance(found, RowType) and len(found.fields) > 1)
    if wide and len(known) < len(given.types):
        return None
    alike = all(found is not None and _kind(type_) is _kind(found) for type_ in known)
    return None if moment and not alike else found


def _is_table(tree: Typed) -> bool:
    """Whether Flink makes a table of a part of it, or cannot make a constant of it."""
    parts = [part for part in walk(tree) if isinstance(part, FunctionCall)]
    nested = any(part.function.name == "MULTISET" for part in parts if part is not tree)
    return nested or any(map(_reads_interval, parts))


def _reads_interval(call: FunctionCall) -> bool:
    """Whether a text is cast to an interval."""
    into = call.function.name == "CAST" and call.type.is_(F.INTERVAL)
    return into and call.arguments[0].type.is_(F.CHARACTER_STRING)


def _kind(type_: DataType) -> TypeFamily | TypeRoot:
    """The kind of a type, for which all timestamps are alike."""
    return F.TIMESTAMP if type_.is_(F.TIMESTAMP) else type_.root


def _reads_columns(tree: Typed) -> bool:
    """Whether a column is read, also by what stands behind an aggregate."""
    for part in walk(tree):
        if isinstance(part, Ref):
            return True
        if isinstance(part, FunctionCall):
            behind = [] if part.filter is None else [part.filter]
            if part.over is not None:
                behind += (*part.over.partition_by, *(key.value for key in part.over.order_by))
            if any(map(_reads_columns, behind)):
                return True
    return False


ALIKE = alike(0, 1)
CONSTANT = Arg("<ANY> without columns", lambda given, _: given.once(_out_of_columns))
KEY = alike(0, 2)
VALUE = alike(1, 2)
COLLECTION = Arg("<ARRAY> | <MAP> | <ROW> | <VARIANT>", _collection)
INDEX = Arg("<INDEX>", _index)

FUNCTIONS = (
    #        name        takes                gives
    operation("ROW",      (ANY,),              row, repeats=1, nulls=never),
    operation("ARRAY",    (ALIKE,),            array(least()), repeats=1, nulls=never, aligns=True),
    operation("MAP",      (KEY, VALUE),        map_(least(0, 2), least(1, 2)),
             repeats=2, nulls=never, aligns=True),
    Function("MULTISET", (CONSTANT,),         multiset, repeats=1, nulls=never),
    operation("[]",       (COLLECTION, INDEX), item, nulls=None),
)  # fmt: skip
