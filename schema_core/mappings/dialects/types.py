"""Convert types of an engine to Flink's and back by its rows; report losses."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from schema_core import types
from schema_core.base.caching import cached
from schema_core.base.lazy import dataclass, regex
from schema_core.base.text import MAX_DIGITS
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.mappings.dialects.engines import ENGINES, Engine
from schema_core.mappings.loss import Loss, LossKind, counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from schema_core.mappings.dialects.type_rows import TypeRow

Losses: TypeAlias = list[Loss]


@dataclass(frozen=True, slots=True)
class ForeignType:
    """A type of another engine as it was written.

    `text` has its arguments in a normalized form (``decimal(10, 2)``); for a composite type it is
    the name, and `parts` are the component types. `nullable` is None if it was not specified.
    `length` is from ``integer[3]``.
    """

    text: str
    parts: tuple[ForeignChild, ...] = ()
    nullable: bool | None = None
    length: str | None = None

    def __str__(self) -> str:
        return f"{self.text}({', '.join(map(str, self.parts))})" if self.parts else self.text


@dataclass(frozen=True, slots=True)
class ForeignChild:
    """A component of a composite type; fields have a name."""

    type: ForeignType
    name: str | None = None
    comment: str | None = None

    def __str__(self) -> str:
        return str(self.type) if self.name is None else f"{self.name} {self.type}"


KINDS = {kind.word: kind for kind in LossKind}


def loss_of(path: tuple[str, ...], word: str, source: str, target: str) -> Loss:
    """Return a loss of the kind with this name."""
    return Loss(path, KINDS[word], source, target, reversible=False)


# --- patterns -------------------------------------------------------------------------------------

_HOLE = regex(r"\{(\w+)\}")


@lru_cache(maxsize=4096)
def _pattern(text: str) -> re.Pattern[str]:
    parts = _HOLE.split(text)
    holes = [
        ".*" if name == "any" else rf"(?P<{name}>[0-9]{{1,{MAX_DIGITS}}})" for name in parts[1::2]
    ]
    fixed = [re.escape(part) for part in parts[::2]]
    both = [piece for pair in zip(fixed, [*holes, ""], strict=True) for piece in pair]
    return re.compile("".join(both), re.DOTALL | re.IGNORECASE)


@lru_cache(maxsize=1024)
def _canonical(flink: str) -> str:
    if "{" not in flink:
        return str(types.parse_type(flink))
    return re.sub(r"^TIMESTAMP_LTZ(\(.*\))$", r"TIMESTAMP\1 WITH LOCAL TIME ZONE", flink)


def _fits(row: TypeRow, values: dict[str, int]) -> bool:
    return all(values[name] <= most for name, most in row.most.items() if name in values)


def _numbers(match: re.Match[str]) -> dict[str, int]:
    values = {name: int(value) for name, value in match.groupdict().items()}
    return {**values, "whole": values.get("p", 0) - values.get("s", 0) + values.get("z", 0)}


# --- reading --------------------------------------------------------------------------------------


@cached()
def _read_plain(text: str, engine: str) -> tuple[types.DataType, str | None] | None:
    for row in ENGINES[engine].rows:
        for spelling in row.foreign.split(" | ") if row.reads else ():
            match = _pattern(spelling).fullmatch(text)
            if match is None or not _fits(row, values := _numbers(match)):
                continue
            try:
                return types.parse_type(row.flink.format(**values)), row.loss
            except SchemaError:  # Flink does not allow the number; a later row may be wider
                continue
    return None


def find_exact_type(text: str, engine: Engine) -> types.DataType | None:
    """Return the nullable type of an engine's type without components; None if it is not exact.

    >>> from schema_core.mappings.dialects.engines import engine
    >>> print(find_exact_type("timestamp", engine("hive")), find_exact_type("enum", engine("hive")))
    TIMESTAMP(9) None
    """
    type_, loss = _read_plain(text, engine.name) or (None, None)
    return type_ if loss is None else None


def read_type(
    foreign: ForeignType, engine: Engine, path: tuple[str, ...], losses: Losses
) -> types.DataType:
    """Return Flink's type for a foreign one; nullable unless specified otherwise.

    Raises:
        UnsupportedError: with code `type-not-supported` if no row matches.
    """
    shape = COMPOSITE.get(foreign.text) if foreign.parts else None
    if shape is not None:
        type_ = shape(foreign, engine, path, losses)
        is_never_null = isinstance(type_, types.ArrayType) and not engine.null_arrays
        return type_.not_null() if is_never_null else type_
    text = engine.unqualified_type(str(foreign))
    match = _read_plain(text, engine.name)
    if match is None and engine.name == "postgres" and text.startswith("_"):  # the type of an array
        element = ForeignChild(ForeignType(text.removeprefix("_")))
        return _read_array(ForeignType("array", (element,)), engine, path, losses)
    if match is None and not text:
        raise UnsupportedError(
            "the type of the column is not declared",
            code="type-not-supported",
            hint="declare the type that the engine infers",
        )
    if match is None:
        raise UnsupportedError(
            f"Flink has no type for {engine.name}'s {foreign}",
            code="type-not-supported",
            hint="omit the column or use another type",
        )
    type_, loss = match
    if loss is not None:
        losses.append(loss_of(path, loss, str(foreign), type_.as_summary_string()))
    return type_


def read_part(
    foreign: ForeignType, position: str, engine: Engine, path: tuple[str, ...], losses: Losses
) -> types.DataType:
    """Return the type of a column or of a component of another type, with its nullability."""
    type_ = read_type(foreign, engine, path, losses)
    if isinstance(type_, types.NullType | types.VariantType) and engine.wraps_nullable:
        return type_
    if isinstance(type_, types.NullType) or not type_.is_nullable:
        return type_
    if position in engine.never_null or (engine.wraps_nullable and not foreign.nullable):
        return type_.not_null()
    return type_.with_nullability(foreign.nullable is not False)


def _read_array(
    foreign: ForeignType, engine: Engine, path: tuple[str, ...], losses: Losses
) -> types.DataType:
    (element,) = _parts(foreign, 1)
    type_ = types.ArrayType(read_part(element.type, "element", engine, (*path, "element"), losses))
    if foreign.length is not None and engine.fixed_arrays:
        source = f"{element}[{foreign.length}]"
        losses.append(loss_of(path, "length", source, type_.as_summary_string()))
    return type_


def _read_map(
    foreign: ForeignType, engine: Engine, path: tuple[str, ...], losses: Losses
) -> types.DataType:
    key, value = _parts(foreign, 2)
    return types.MapType(
        read_part(key.type, "key", engine, (*path, "key"), losses),
        read_part(value.type, "value", engine, (*path, "value"), losses),
    )


def _read_row(
    foreign: ForeignType, engine: Engine, path: tuple[str, ...], losses: Losses
) -> types.RowType:
    fields = []
    for index, child in enumerate(foreign.parts):
        name = f"f{index}" if child.name is None else child.name
        if child.name is None:
            losses.append(loss_of((*path, name), "member", "a field without a name", repr(name)))
        type_ = read_part(child.type, "field", engine, (*path, name), losses)
        fields.append(types.RowField(name, type_, child.comment))
    return types.RowType(fields)


def _read_nested(
    foreign: ForeignType, engine: Engine, path: tuple[str, ...], losses: Losses
) -> types.DataType:
    """Read the rows that ClickHouse stores as one array per field."""
    type_ = types.ArrayType(_read_row(foreign, engine, path, losses).not_null())
    losses.append(loss_of(path, "layout", str(foreign), type_.as_summary_string()))
    return type_


def _read_wrapped(
    foreign: ForeignType, engine: Engine, path: tuple[str, ...], losses: Losses
) -> types.DataType:
    *_, inner = _parts(foreign, 2 if foreign.text == "simpleaggregatefunction" else 1)
    return read_type(inner.type, engine, path, losses)


def _parts(foreign: ForeignType, count: int) -> tuple[ForeignChild, ...]:
    if len(foreign.parts) != count or any(part.name is not None for part in foreign.parts):
        raise SchemaError(
            f"{foreign.text} requires {count} component types, got {foreign}",
            code="invalid-type",
        )
    return foreign.parts


COMPOSITE: dict[str, Callable[[ForeignType, Engine, tuple[str, ...], Losses], types.DataType]] = {
    "array":          _read_array,
    "list":           _read_array,
    "map":            _read_map,
    "struct":         _read_row,
    "row":            _read_row,
    "tuple":          _read_row,
    "object":         _read_row,
    "nested":         _read_nested,
    "nullable":       _read_wrapped,
    "lowcardinality": _read_wrapped,
    "simpleaggregatefunction": _read_wrapped,
}  # fmt: skip

#: Composite types whose components are fields.
STRUCTS = frozenset({"struct", "row", "tuple", "object", "nested"})


# --- writing --------------------------------------------------------------------------------------


@cached()
def _write_plain(text: str, engine: str) -> tuple[str, str | None] | None:
    for row in ENGINES[engine].rows:
        match = _pattern(_canonical(row.flink)).fullmatch(text) if row.writes else None
        if match is not None and _fits(row, values := _numbers(match)):
            return row.foreign.split(" | ")[0].format(**values), row.loss
    return None


def find_exact_text(type_: types.DataType, engine: Engine) -> str | None:
    """Return an engine's type for a type without components; None if none is read as the type.

    >>> from schema_core.mappings.dialects.engines import engine
    >>> from schema_core.types import parse_type
    >>> hive = engine("hive")
    >>> (
    ...     find_exact_text(parse_type("CHAR(255)"), hive),
    ...     find_exact_text(parse_type("CHAR(256)"), hive),
    ... )
    ('char(255)', None)
    """
    text, _ = _write_plain(str(type_.nullable()), engine.name) or ("", None)
    return text if find_exact_type(text, engine) == type_.nullable() else None


def write_type(type_: types.DataType, engine: Engine, path: tuple[str, ...], losses: Losses) -> str:
    """Return the engine's type for a type, without its nullability.

    Raises:
        UnsupportedError: with code `type-not-supported` if the engine cannot store the values.
    """
    match = _write_plain(str(type_.nullable()), engine.name)
    if match is not None:
        text, loss = match
        if loss is not None:
            losses.append(loss_of(path, loss, type_.as_summary_string(), text))
        return text
    if (nested := _write_nested(type_, engine, path, losses)) is not None:
        return nested
    for kind, simpler in FALLBACKS.items():
        if isinstance(type_, kind):
            other = simpler(type_)
            text = write_type(other, engine, path, losses)
            losses.append(loss_of(path, "type", type_.as_summary_string(), text))
            return text
    raise UnsupportedError(
        f"{engine.name} has no type for {type_.as_summary_string()}", code="type-not-supported"
    )


def _write_nested(
    type_: types.DataType, engine: Engine, path: tuple[str, ...], losses: Losses
) -> str | None:
    def part(child: types.DataType, position: str) -> str:
        return write_part(child, position, engine, (*path, position), losses)

    match type_:
        case types.ArrayType(element_type=element) if engine.array is not None:
            inner = part(element, "element")  # maps and multisets may be written as arrays
            if inner.startswith(engine.array.partition("{")[0]) and not engine.arrays_of_arrays:
                return None
            if engine.flattens_arrays and isinstance(element, types.ArrayType):
                losses.append(loss_of(path, "type", type_.as_summary_string(), inner))
            return engine.array.format(inner)
        case types.MapType(key_type=key, value_type=value) if engine.map is not None:
            return engine.map.format(part(key, "key"), part(value, "value"))
        case types.RowType(fields=fields) if engine.struct is not None and fields:
            require_distinct([field.name for field in fields], engine)
            members = [_write_field(field, engine, path, losses) for field in fields]
            return engine.struct.format(", ".join(members))
        case _:
            return None


def _write_field(
    field: types.RowField, engine: Engine, path: tuple[str, ...], losses: Losses
) -> str:
    place = (*path, field.name)
    name = write_name(field.name, engine, place, losses)
    type_ = write_part(field.data_type, "field", engine, place, losses)
    text = engine.field.format(name=name, type=type_)
    if field.description is None:
        return text
    if engine.field_comment is None:
        losses.append(loss_of(place, "member", f"the comment {field.description!r}", ""))
        return text
    return text + engine.field_comment.format(text=engine.quote_string(field.description))


def write_part(
    type_: types.DataType, position: str, engine: Engine, path: tuple[str, ...], losses: Losses
) -> str:
    """Return the type of a column or of a component of another type, with its nullability."""
    text = write_type(type_, engine, path, losses)

    def less(kind: str) -> str:
        losses.append(loss_of(path, kind, type_.as_summary_string(), text))
        return text

    if position in engine.never_null:
        return less("null-keys") if type_.is_nullable else text
    if engine.wraps_nullable:
        if text == "Dynamic":  # it includes NULL
            return text if type_.is_nullable else less("nullability")
        if not type_.is_nullable:
            return text
        wraps = not isinstance(
            type_,
            types.ArrayType
            | types.MapType
            | types.RowType
            | types.MultisetType
            | types.StructuredType,
        )
        return f"Nullable({text})" if wraps else less("emptied")
    if text.startswith("array<") and not engine.null_arrays:
        return less("emptied") if type_.is_nullable else text
    if type_.is_nullable:
        return text
    return f"{text} NOT NULL" if position in engine.not_null_positions else less("nullability")


def write_name(name: str, engine: Engine, path: tuple[str, ...], losses: Losses) -> str:
    """Return the quoted name; report a loss if the engine changes its case."""
    if (stored := engine.fold_case(name)) != name:
        losses.append(loss_of(path, "member", f"the name {name!r}", repr(stored)))
    return engine.quote_name(stored)


def require_distinct(names: list[str], engine: Engine) -> None:
    """Refuse names that are equal to the engine.

    Raises:
        UnsupportedError: with code `name-not-supported`.
    """
    seen: dict[str, str] = {}
    for name in names:
        key = engine.comparable_name(engine.fold_case(name))
        if key in seen:
            raise UnsupportedError(
                f"{seen[key]!r} and {name!r} are the same name in {engine.name}",
                code="name-not-supported",
            )
        seen[key] = name


#: Types -> more general types, used if the engine does not have the type.
FALLBACKS: dict[type[types.DataType], Callable[[Any], types.DataType]] = {
    types.MultisetType: counts,
    types.StructuredType: lambda type_: types.RowType(type_.fields),
    types.DistinctType: lambda type_: type_.source_type,
    types.MapType: lambda type_: types.ArrayType(  # of entries
        types.RowType(
            [types.RowField("key", type_.key_type), types.RowField("value", type_.value_type)],
            nullable=False,
        ),
        type_.is_nullable,
    ),
}
