"""What a foreign format cannot carry, as data: each loss with its place, and a policy for it.

Everything here reads the rows of `loss_targets`. Law: ``carried(t, target)`` is what a conversion
gives once its notes are gone, so a type without losses comes back exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from schema_core.caching import cached
from schema_core.errors import SchemaCoreError, SchemaError, UnsupportedError, similar
from schema_core.formats.arguments import require
from schema_core.formats.loss_targets import (
    BYTES,
    TARGETS,
    LossKind,
    Row,
    Target,
    steps,
    without_null,
)
from schema_core.schema.resolved import ComputedColumn, MetadataColumn, ResolvedSchema
from schema_core.text import MAX_DEPTH, show
from schema_core.types import (
    AnyTimestampType,
    BinaryType,
    DataType,
    DayTimeIntervalType,
    DayTimeResolution,
    DistinctType,
    LengthType,
    MapType,
    NullType,
    TimeType,
    YearMonthIntervalType,
    YearMonthResolution,
)
from schema_core.types.base import node_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


__all__ = ["Loss", "LossKind", "Policy", "carried", "enforce", "losses", "plain", "refuse"]

#: What to do about losses. `error`: refuse where values would change without anybody noticing, and
#: keep the exact type as a note. `note`: convert in any case, with the note. `accept`: convert in
#: any case, and write no notes.
Policy: TypeAlias = Literal["error", "note", "accept"]
POLICIES = get_args(Policy)


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that is not carried: where, which kind, from what, to what.

    It is `reversible` when our note brings it back. `path` are names of columns and fields, with
    `element`, `key` and `value` in between.
    """

    path: tuple[str, ...]
    kind: LossKind
    source: str
    target: str
    reversible: bool

    @property
    def changes_values(self) -> bool:
        """Whether values change, and nobody would notice."""
        return self.kind.changes_values

    def __str__(self) -> str:
        place = ".".join(self.path) or "the type"
        return f"{place}: {self.source} becomes {self.target or 'nothing'} ({self.kind.meaning})"


def losses(what: ResolvedSchema | DataType, target: str) -> tuple[Loss, ...]:
    """What a schema or a type loses towards a target.

    Targets are `arrow`, `parquet`, `spark:4.3`, `spark-ddl:4.3` and `hive`.

    Raises:
        SchemaError: with code `unknown-target` for any other target.

    >>> from schema_core.types import parse_type
    >>> for loss in losses(parse_type("ROW<code CHAR(3), at TIMESTAMP(9)>"), "spark:4.3"):
    ...     print(loss)
    code: CHAR(3) becomes STRING (the length of a string is forgotten)
    at: TIMESTAMP(9) becomes TIMESTAMP(6) (values lose the last digits of a second)
    """
    _target(target)
    require(what, (ResolvedSchema, DataType), "a type or a resolved schema")
    if isinstance(what, DataType):
        return _of_type(what, target)
    found = [
        Loss((column.name, *loss.path), loss.kind, loss.source, loss.target, loss.reversible)
        for column in what.columns
        for loss in losses(column.data_type, target)
    ]
    return (*found, *_of_names(what, _target(target)), *_of_members(what))


def carried(type_: DataType, target: str) -> DataType | None:
    """What a reader who knows nothing of our notes gets for a type; None: nothing holds it.

    >>> from schema_core.types import parse_type
    >>> print(carried(parse_type("MULTISET<CHAR(3)>"), "arrow"))
    MAP<VARCHAR(2147483647) NOT NULL, INT NOT NULL>
    """
    require(type_, DataType, "a type")
    return _carried(type_, _target(target).name, None)


def enforce(found: tuple[Loss, ...], on_loss: Policy) -> None:
    """Refuse losses that change values, unless the policy takes them.

    Raises:
        UnsupportedError: with code `lossy`, one for every such loss.
        SchemaError: with code `unknown-policy` for a policy that there is not.
    """
    if on_loss not in POLICIES:
        hint = f"one of {', '.join(POLICIES)}"
        raise SchemaError(f"there is no policy {show(on_loss)}", code="unknown-policy", hint=hint)
    if on_loss != "error" or not any(loss.changes_values for loss in found):
        return
    first, *rest = [_error(loss) for loss in found if loss.changes_values]
    first.others = tuple(rest)
    raise first


def refuse(found: Iterable[Loss], code: str) -> None:
    """Refuse what nothing there holds.

    Raises:
        UnsupportedError: with this code, one for every such loss.
    """
    errors = []
    for loss in found:
        if loss.kind is LossKind.REFUSED:
            error = UnsupportedError(f"{loss.kind.meaning} of {loss.source}", code=code)
            error.path = loss.path
            errors.append(error)
    if errors:
        errors[0].others = tuple(errors[1:])
        raise errors[0]


def _error(loss: Loss) -> SchemaCoreError:
    hint = "on_loss='note' keeps the exact type as a note, on_loss='accept' forgets it"
    error = UnsupportedError(
        f"{loss.source} becomes {loss.target or 'nothing'}: {loss.kind.meaning}",
        code="lossy",
        hint=hint,
    )
    error.path = loss.path
    return error


def too_deep() -> UnsupportedError:
    """The refusal of a type that is nested too deeply."""
    return UnsupportedError(
        f"nested more than {MAX_DEPTH} levels deep",
        code="too-deep",
        hint="name a part of it in a column of its own",
    )


# --- from the rows -------------------------------------------------------------------------------


def _target(name: str) -> Target:
    require(name, str, "the name of a target")
    if name not in TARGETS:
        hint = similar(name, TARGETS) or f"there are {', '.join(TARGETS)}"
        raise SchemaError(f"there is no target {name!r}", code="unknown-target", hint=hint)
    return TARGETS[name]


@cached(node_count)
def _of_type(type_: DataType, target: str) -> tuple[Loss, ...]:
    return tuple(_walk(type_, TARGETS[target], (), is_key=False))


def _walk(
    type_: DataType, target: Target, path: tuple[str, ...], *, is_key: bool
) -> Iterator[Loss]:
    """The losses of a type itself, then those of its children."""
    reversible = target.notes and _has_text(type_)
    so_far = type_
    for row in _rows(type_, target):
        source = so_far.as_summary_string()
        if row.becomes is None:
            yield Loss(path, row.kind, source, "", reversible=False)
            continue
        so_far = row.becomes(so_far).with_nullability(type_.is_nullable)
        becomes = so_far.as_summary_string() + row.remark
        yield Loss(path, row.kind, source, becomes, reversible)
    if target.forgets_not_null and not type_.is_nullable and not is_key:
        source, becomes = so_far.as_summary_string(), so_far.summary_body()
        yield Loss(path, LossKind.NULLABILITY, source, becomes, reversible)
    for step, child in zip(steps(type_), type_.children(), strict=True):
        inner = path if isinstance(type_, DistinctType) else (*path, step)
        yield from _walk(child, target, inner, is_key=step == "key")


def _rows(type_: DataType, target: Target) -> list[Row]:
    return [row for row in target.rows.get(type(type_), ()) if row.when(type_)]


def _has_text(type_: DataType) -> bool:
    """Whether a text says all of the type, so that a note brings it back."""
    return not (isinstance(type_, LengthType) and not type_.length)


@cached(node_count)
def _carried(type_: DataType, target: str, left_out: LossKind | None) -> DataType | None:
    """The type after all rows; rows of the kind `left_out` are not applied."""
    found = TARGETS[target]
    children = [_carried(child, target, left_out) for child in type_.children()]
    if any(child is None for child in children):
        return None
    whole = type_.rebuild(tuple(child for child in children if child is not None))
    for row in _rows(type_, found):
        if row.becomes is None:
            return None
        if row.kind is not left_out:
            whole = row.becomes(whole)
    if isinstance(whole, NullType):
        return whole
    whole = whole.with_nullability(type_.is_nullable)
    return _without_not_null(whole) if found.forgets_not_null else whole


def _without_not_null(type_: DataType) -> DataType:
    """The type, nullable at every level but for the keys of maps, which are never NULL."""
    children = [_without_not_null(child) for child in type_.children()]
    if isinstance(type_, MapType):
        children[0] = without_null(children[0])
    return type_.rebuild(tuple(children)).nullable()


def _of_names(schema: ResolvedSchema, target: Target) -> Iterator[Loss]:
    """Columns that another one hides, where case does not count."""
    seen: set[str] = set()
    for column in schema.columns if target.folds_case else ():
        if column.name.lower() in seen:
            summary = column.as_summary_string()
            yield Loss((column.name,), LossKind.REFUSED, summary, "", reversible=False)
        seen.add(column.name.lower())


def _of_members(schema: ResolvedSchema) -> Iterator[Loss]:
    """What stands beside the columns, and columns that are more than their type."""

    def lost(name: str, text: str, becomes: str = "") -> Loss:
        return Loss((name,), LossKind.MEMBER, text, becomes, reversible=False)

    for column in schema.columns:
        if isinstance(column, ComputedColumn | MetadataColumn):
            yield lost(column.name, column.as_summary_string(), "a physical column")
    for watermark in schema.watermark_specs:
        yield lost("watermark", str(watermark))
    for index in schema.indexes:
        yield lost("index", str(index))
    if schema.primary_key is not None:
        yield lost("primary key", str(schema.primary_key))
    if schema.immutable_columns is not None:
        yield lost("immutable columns", str(schema.immutable_columns))


# --- whether a note still fits -------------------------------------------------------------------


def plain(noted: DataType, physical: DataType, target: str, *, exactly_null: bool) -> bool:
    """Whether `physical`, read without notes, is a carrier of the type that a note tells.

    A finer unit of time than needed still fits, since layouts differ in it; a coarser one does not.
    `exactly_null` asks for the same nullability below the top, which files of Spark forget.
    """
    least = _carried(noted, target, LossKind.PRECISION)
    return least is not None and _holds(least, physical, exactly_null=exactly_null)


def _holds(least: DataType, physical: DataType, *, exactly_null: bool) -> bool:
    if isinstance(least, BinaryType) and physical.nullable() == BYTES:
        return True
    if type(least) is not type(physical) or steps(least) != steps(physical):
        return False
    pairs = list(zip(least.children(), physical.children(), strict=True))
    if exactly_null and any(one.is_nullable != other.is_nullable for one, other in pairs):
        return False
    if pairs or not least.parameters():
        return all(_holds(one, other, exactly_null=exactly_null) for one, other in pairs)
    return _is_as_fine(least, physical)


def _is_as_fine(least: DataType, physical: DataType) -> bool:
    """Whether the parameters are the same, or, for times, not smaller."""
    match least, physical:
        case TimeType() | AnyTimestampType(), TimeType() | AnyTimestampType():
            return least.precision <= physical.precision
        case DayTimeIntervalType(), DayTimeIntervalType():
            is_finer = least.fractional_precision <= physical.fractional_precision
            is_whole = physical.resolution is DayTimeResolution.DAY_TO_SECOND
            return is_whole and (is_finer or not least.has_seconds)
        case YearMonthIntervalType(), YearMonthIntervalType():
            return physical.resolution is YearMonthResolution.YEAR_TO_MONTH
        case _:
            return least.parameters() == physical.parameters()
