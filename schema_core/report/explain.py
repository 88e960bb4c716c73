"""Explanations of resolved schemas: origins of types, lineage of computed columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from schema_core.base.text import escaped
from schema_core.expressions.signatures import describe_nullability, describe_result
from schema_core.expressions.typed import (
    Access,
    Constant,
    FunctionCall,
    Keyword,
    Ref,
    Select,
    Typed,
    operands,
)
from schema_core.schema import columns as schema_columns
from schema_core.schema.explanation import (
    Cause,
    ColumnExplanation,
    Explanation,
    Read,
    Reason,
    Step,
    WatermarkExplanation,
    format_name,
)
from schema_core.schema.rules import KIND_NAMES
from schema_core.types import DataType, TimestampKind, UnresolvedType, parse_type
from schema_core.types.temporal import timestamp_kind

if TYPE_CHECKING:
    from schema_core.schema.columns import (
        ResolvedExpression,
        UnresolvedMetadataColumn,
        WatermarkSpec,
        WrittenType,
    )
    from schema_core.schema.resolved import ResolvedSchema

#: Inner steps, and characters of an expression, in the text form.
MAX_STEPS, MAX_PART = 10, 60


# --- text form ----------------------------------------------------------------------------------


def print_explanation(explanation: Explanation) -> str:
    """Return an explanation as text."""
    columns, watermarks = explanation.columns, explanation.watermarks
    return "\n".join((*map(_column_text, columns), *map(_watermark_text, watermarks)))


def _column_text(column: ColumnExplanation) -> str:
    head = f"{format_name(column.name)} {escaped(column.data_type.as_summary_string())}"
    lines = [head, f"  {escaped(column.how())}"]
    lines += [f"  {escaped(str(reason))}" for reason in column.reasons]
    lines += _within(column.steps[:-1])
    if column.expression is not None:
        lines += _descent(column)
    return "\n".join(lines)


def _within(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps[:MAX_STEPS]:
        part = escaped(step.text or step.function)
        part = part if len(part) <= MAX_PART else f"{part[: MAX_PART - 3]}..."
        yield f"    {part} is {escaped(step.gives.as_summary_string())}: {escaped(str(step))}"
    if len(steps) > MAX_STEPS:
        yield f"    and {len(steps) - MAX_STEPS} more"


def _watermark_text(watermark: WatermarkExplanation) -> str:
    type_ = watermark.data_type.as_summary_string()
    head = f"watermark of {format_name(watermark.column)} {type_}"
    return "\n".join((head, f"  AS {escaped(watermark.expression)}", *_descent(watermark)))


def _descent(one: ColumnExplanation | WatermarkExplanation) -> Iterator[str]:
    yield f"  reads: {', '.join(map(str, one.reads)) or 'nothing'}"
    yield f"  comes from: {', '.join(map(format_name, one.leaves)) or 'no column'}"
    if one.missing:
        yield f"  missing: {', '.join(map(format_name, one.missing))}"


def explain(schema: ResolvedSchema) -> Explanation:
    """Explain the types of a resolved schema, and the lineage of its computed columns."""
    key = schema.primary_key
    lineage = _Lineage(schema.columns)
    return Explanation(
        tuple(_column(column, schema, lineage) for column in schema.columns),
        tuple(_watermark(spec, lineage) for spec in schema.watermark_specs),
        () if key is None else key.columns,
    )


def _watermark(spec: WatermarkSpec, lineage: _Lineage) -> WatermarkExplanation:
    expression = spec.watermark_expression
    reads = _reads(expression.typed)
    leaves, missing = lineage.of((*reads, Read(spec.rowtime_attribute)))
    return WatermarkExplanation(
        spec.rowtime_attribute,
        expression.as_summary_string(),
        expression.type,
        reads,
        leaves,
        missing,
        _steps(expression),
    )


def _column(
    column: schema_columns.AnyColumn, schema: ResolvedSchema, lineage: _Lineage
) -> ColumnExplanation:
    kind = KIND_NAMES[type(column)]
    reasons = tuple(_reasons(column, schema))
    if not isinstance(column, schema_columns.ComputedColumn):
        key = column.key if isinstance(column, schema_columns.MetadataColumn) else None
        return ColumnExplanation(
            column.name, kind, column.data_type, reasons, metadata_key=key, leaves=(column.name,)
        )
    reads = _reads(column.expression.typed)
    leaves, missing = lineage.of(reads)
    return ColumnExplanation(
        column.name,
        kind,
        column.data_type,
        reasons,
        column.expression.as_summary_string(),
        reads=reads,
        leaves=leaves,
        missing=missing,
        steps=_steps(column.expression),
    )


# --- lineage -------------------------------------------------------------------------------------


class _Lineage:
    """Finds the stored columns of expressions; visits each column once."""

    def __init__(self, columns: Iterable[schema_columns.AnyColumn]) -> None:
        self._columns: dict[str, schema_columns.AnyColumn] = {}
        for column in columns:
            self._columns.setdefault(column.name, column)

    def of(self, reads: Iterable[Read]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the stored columns and unknown names, in order of first use."""
        leaves: dict[str, None] = {}
        missing: dict[str, None] = {}
        seen: set[str] = set()
        waiting = [read.column for read in reads][::-1]
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            column = self._columns.get(name)
            if column is None:
                missing[name] = None
            elif isinstance(column, schema_columns.ComputedColumn):
                waiting += [read.column for read in _reads(column.expression.typed)][::-1]
            else:
                leaves[name] = None
        return tuple(leaves), tuple(missing)


def _reads(typed: Typed) -> tuple[Read, ...]:
    reads: dict[Read, None] = {}
    waiting: list[tuple[Typed, tuple[str, ...]]] = [(typed, ())]
    while waiting:
        one, fields = waiting.pop()
        match one:
            case Ref(name=name):
                reads[Read(name, fields)] = None
            case Access(value=value, name=name):
                waiting.append((value, (name, *fields)))
            case FunctionCall():
                waiting += [(part, ()) for part in reversed(tuple(operands(one)))]
            case _:
                pass
    return tuple(reads)


# --- reasons -------------------------------------------------------------------------------------


def _reasons(column: schema_columns.AnyColumn, schema: ResolvedSchema) -> Iterator[Reason]:
    if isinstance(column, schema_columns.ComputedColumn):
        yield Reason(Cause.INFERRED, _describe_inference(column.expression.typed))
    else:
        yield from _declared_reasons(column, schema)
    kind = timestamp_kind(column.data_type)
    if kind is TimestampKind.ROWTIME:
        mine = any(spec.rowtime_attribute == column.name for spec in schema.watermark_specs)
        by = "its watermark" if mine else "the schema that it comes from"
        yield Reason(Cause.MARKED, f"as event time, by {by}")


def _declared_reasons(column: schema_columns.AnyColumn, schema: ResolvedSchema) -> Iterator[Reason]:
    written = column.written
    if written is None or isinstance(written, schema_columns.UnresolvedComputedColumn):
        yield Reason(Cause.DECLARED, f"{_plain(column.data_type)}, as it was given")
        return
    declared = _first_declared(written)
    yield Reason(Cause.DECLARED, str(declared))
    yield from _looked_up(declared)
    if getattr(written, "declared", None) is not None and not column.data_type.is_nullable:
        yield Reason(Cause.PROMOTED, f"to NOT NULL, by {_key_of(column.name, schema)}")
    if not _fits(written.data_type, column.data_type):
        yield Reason(Cause.DECLARED, f"{_plain(column.data_type)}, given later")


def _first_declared(
    written: schema_columns.UnresolvedPhysicalColumn | UnresolvedMetadataColumn,
) -> WrittenType:
    """Return the declared type, before a primary key made it NOT NULL."""
    if (
        isinstance(written, schema_columns.UnresolvedPhysicalColumn)
        and written.declared is not None
    ):
        return written.declared
    return written.data_type


def _looked_up(declared: WrittenType) -> Iterator[Reason]:
    type_ = parse_type(declared) if isinstance(declared, str) else declared
    if isinstance(type_, DataType):
        for part in type_.walk():
            if isinstance(part, UnresolvedType):
                yield Reason(Cause.LOOKED_UP, f"{part.body()}, a user-defined type")


def _fits(declared: WrittenType, resolved: DataType) -> bool:
    type_ = parse_type(declared) if isinstance(declared, str) else declared
    if not isinstance(type_, DataType) or any(isinstance(o, UnresolvedType) for o in type_.walk()):
        return True
    return schema_columns.plain(type_) == schema_columns.plain(resolved)


def _plain(type_: DataType) -> str:
    return schema_columns.plain(type_).as_summary_string()


def _key_of(name: str, schema: ResolvedSchema) -> str:
    key = schema.primary_key
    if key is None or name not in key.columns:
        return "a primary key that was removed"
    return f"the primary key {format_name(key.name)}"


def _describe_inference(typed: Typed) -> str:
    match typed:
        case Ref(name=name):
            return f"the type of {format_name(name)}"
        case Access(value=value, name=name):
            because = ", NULL where the row may be" if value.type.is_nullable else ""
            return f"the field {format_name(name)} of {value.type.as_summary_string()}{because}"
        case Constant(literal=literal):
            return f"the literal {getattr(literal, 'text', None) or 'of an interval'}"
        case Select():
            return "the column of a query, NULL where it has no row"
        case FunctionCall():
            return str(_step(typed, ""))
        case _:
            return typed.type.as_summary_string()


#: Characters of a step: in a left-deep tree, each contains all previous ones.
MAX_TEXT_OF_STEP = 200


def _steps(expression: ResolvedExpression) -> tuple[Step, ...]:
    source = expression.written.source or expression.written.text
    steps: list[Step] = []
    waiting: list[Typed] = [expression.typed]
    while waiting:
        match waiting.pop():
            case Access(value=value):
                waiting.append(value)
            case FunctionCall() as apply:
                start, stop = apply.span
                steps.append(_step(apply, source[start : min(stop, start + MAX_TEXT_OF_STEP)]))
                waiting += operands(apply)
            case _:
                pass
    return tuple(reversed(steps))


def _step(apply: FunctionCall, text: str) -> Step:
    function = apply.function
    takes = tuple(
        argument.type for argument in apply.arguments if not isinstance(argument, Keyword)
    )
    nulls = None if function.nullability is None else describe_nullability(function)
    rule = describe_result(function)
    return Step(text, function.name, takes, apply.type, rule, nulls, apply.implicit)
