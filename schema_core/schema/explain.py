"""Explanations of resolved schemas: origins of types, and lineage of computed columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from schema_core.base.lazy_dataclass import dataclass
from schema_core.base.text import escaped, quote_identifier, quote_string
from schema_core.expressions.signatures import describe_nullability, describe_result
from schema_core.expressions.typed import (
    Access,
    Constant,
    FunctionCall,
    Keyword,
    Ref,
    Select,
    Typed,
)
from schema_core.schema.columns import (
    AnyColumn,
    ComputedColumn,
    MetadataColumn,
    UnresolvedComputedColumn,
    UnresolvedPhysicalColumn,
    plain,
)
from schema_core.schema.rendering import diagram, explanation_html
from schema_core.schema.rules import KIND_NAMES
from schema_core.types import DataType, TimestampKind, UnresolvedType, parse_type

if TYPE_CHECKING:
    from schema_core.expressions.typed import Over
    from schema_core.schema.columns import (
        ResolvedExpression,
        UnresolvedMetadataColumn,
        WatermarkSpec,
        WrittenType,
    )
    from schema_core.schema.resolved import ResolvedSchema

#: Limits of the text form: argument types of a step, inner steps, characters of an expression.
MAX_TYPES, MAX_STEPS, MAX_PART = 5, 10, 60


class Cause(Enum):
    """The origin of a column's type, or of a part of it."""

    DECLARED = "declared"
    LOOKED_UP = "looked up"
    INFERRED = "inferred"
    PROMOTED = "promoted"
    MARKED = "marked"


@dataclass(frozen=True, slots=True)
class Reason:
    """A cause and its description."""

    cause: Cause
    text: str

    def __str__(self) -> str:
        return f"{self.cause.value}: {self.text}"


@dataclass(frozen=True, slots=True, order=True)
class Read:
    """A column, or a field within it, that an expression reads."""

    column: str
    fields: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ".".join(name_of(field) for field in (self.column, *self.fields))


@dataclass(frozen=True, slots=True)
class Step:
    """One call within an expression: its argument types, its result type, and the typing rule.

    `text` is the source text of the call (truncated), empty if it has none; `nullability` is None
    if the rule includes it; `implicit` marks an implicit cast.
    """

    text: str
    function: str
    takes: tuple[DataType, ...]
    gives: DataType
    rule: str
    nullability: str | None
    implicit: bool = False

    def __str__(self) -> str:
        types = [take.as_summary_string() for take in self.takes[:MAX_TYPES]]
        more = ["..."] if len(self.takes) > MAX_TYPES else []
        given = f" of {', '.join([*types, *more])}" if types else ""
        null = "" if self.nullability is None else f"; NULL {self.nullability}"
        by = ", put in by SQL" if self.implicit else ""
        return f"{self.function}{given} gives {self.rule}{null}{by}"


@dataclass(frozen=True, slots=True)
class ColumnExplanation:
    """The origin of a column's type, and its lineage.

    `kind` is ``physical``, ``computed`` or ``metadata``. `reads` are the direct inputs of its
    expression, `leaves` the stored columns they are computed from; the leaf of a stored column is
    the column itself. `missing` are unknown names, which occur only in schemas that were built
    without a resolver. `steps` are the calls of the expression, innermost first.
    """

    name: str
    kind: str
    data_type: DataType
    reasons: tuple[Reason, ...]
    expression: str | None = None
    metadata_key: str | None = None
    reads: tuple[Read, ...] = ()
    leaves: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    def is_promoted(self) -> bool:
        """Whether a primary key makes the column NOT NULL."""
        return any(reason.cause is Cause.PROMOTED for reason in self.reasons)

    def how(self) -> str:
        """Return the kind of the column with its expression or metadata key."""
        if self.expression is not None:
            return f"{self.kind} AS {self.expression}"
        source = "" if self.metadata_key is None else f" FROM {quote_string(self.metadata_key)}"
        return f"{self.kind}{source}"


@dataclass(frozen=True, slots=True)
class WatermarkExplanation:
    """The lineage of a watermark, which includes its own column."""

    column: str
    expression: str
    data_type: DataType
    reads: tuple[Read, ...] = ()
    leaves: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of all columns and watermarks of a schema.

    >>> from schema_core import Schema, SchemaResolver
    >>> schema = Schema.new_builder().column("a", "INT").column_by_expression("b", "a + 1").build()
    >>> print(SchemaResolver().resolve(schema).explain())
    `a` INT
      physical
      declared: INT
    `b` INT
      computed AS a + 1
      inferred: + of INT, INT NOT NULL gives the datetime or interval type, \
the decimal by its formula, or the wider type; NULL if any argument is nullable
      reads: `a`
      comes from: `a`
    """

    columns: tuple[ColumnExplanation, ...]
    watermarks: tuple[WatermarkExplanation, ...] = ()
    primary_key: tuple[str, ...] = ()

    def column(self, name: str) -> ColumnExplanation | None:
        """Return the column of a case-sensitive name, or None."""
        return next((column for column in self.columns if column.name == name), None)

    def to_mermaid(self) -> str:
        """Return the lineage as a Mermaid flowchart, with all names escaped."""
        return diagram(self).to_mermaid()

    def to_svg(self) -> str:
        """Return the lineage as an SVG image: each column is right of those that it reads.

        The image is the same for the same schema, has no links, and is dark where the reader's
        system is. Labels are cut after 48 characters; their titles have the whole text.
        """
        return diagram(self).to_svg()

    def __str__(self) -> str:
        return "\n".join((*map(_column_text, self.columns), *map(_watermark_text, self.watermarks)))

    def _repr_html_(self) -> str:
        return explanation_html(self)


# --- text form ----------------------------------------------------------------------------------


def name_of(name: str) -> str:
    """Return a quoted name with invisible characters escaped."""
    return escaped(quote_identifier(name))


def _column_text(column: ColumnExplanation) -> str:
    head = f"{name_of(column.name)} {escaped(column.data_type.as_summary_string())}"
    lines = [head, f"  {escaped(column.how())}"]
    lines += [f"  {escaped(str(reason))}" for reason in column.reasons]
    lines += _within(column.steps[:-1])
    if column.expression is not None:
        lines += _descent(column)
    return "\n".join(lines)


def _within(steps: Sequence[Step]) -> Iterator[str]:
    """Yield a line for each inner call."""
    for step in steps[:MAX_STEPS]:
        part = escaped(step.text or step.function)
        part = part if len(part) <= MAX_PART else f"{part[: MAX_PART - 3]}..."
        yield f"    {part} is {escaped(step.gives.as_summary_string())}: {escaped(str(step))}"
    if len(steps) > MAX_STEPS:
        yield f"    and {len(steps) - MAX_STEPS} more"


def _watermark_text(watermark: WatermarkExplanation) -> str:
    type_ = watermark.data_type.as_summary_string()
    head = f"watermark of {name_of(watermark.column)} {type_}"
    return "\n".join((head, f"  AS {escaped(watermark.expression)}", *_descent(watermark)))


def _descent(one: ColumnExplanation | WatermarkExplanation) -> Iterator[str]:
    yield f"  reads: {', '.join(map(str, one.reads)) or 'nothing'}"
    yield f"  comes from: {', '.join(map(name_of, one.leaves)) or 'no column'}"
    if one.missing:
        yield f"  missing: {', '.join(map(name_of, one.missing))}"


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


def _column(column: AnyColumn, schema: ResolvedSchema, lineage: _Lineage) -> ColumnExplanation:
    kind = KIND_NAMES[type(column)]
    reasons = tuple(_reasons(column, schema))
    if not isinstance(column, ComputedColumn):
        key = column.key if isinstance(column, MetadataColumn) else None
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
    """Finds the stored columns that expressions depend on; each column is visited once."""

    def __init__(self, columns: Iterable[AnyColumn]) -> None:
        self._columns: dict[str, AnyColumn] = {}
        for column in columns:
            self._columns.setdefault(column.name, column)

    def of(self, reads: Iterable[Read]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names of the stored columns and the unknown names, in order of first use."""
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
            elif isinstance(column, ComputedColumn):
                waiting += [read.column for read in _reads(column.expression.typed)][::-1]
            else:
                leaves[name] = None
        return tuple(leaves), tuple(missing)


def _reads(typed: Typed) -> tuple[Read, ...]:
    """Return the distinct reads of an expression in textual order."""
    found: dict[Read, None] = {}
    waiting: list[tuple[Typed, tuple[str, ...]]] = [(typed, ())]
    while waiting:
        one, fields = waiting.pop()
        match one:
            case Ref(name=name):
                found[Read(name, fields)] = None
            case Access(value=value, name=name):
                waiting.append((value, (name, *fields)))
            case FunctionCall():
                waiting += [(part, ()) for part in reversed(tuple(operands(one)))]
            case _:
                pass
    return tuple(found)


def operands(apply: FunctionCall) -> Iterator[Typed]:
    """Yield the operands of a call, including those of FILTER and OVER."""
    yield from apply.arguments
    if apply.filter is not None:
        yield apply.filter
    if apply.over is not None:
        yield from _of_window(apply.over)


def _of_window(over: Over) -> Iterator[Typed]:
    yield from over.partition_by
    yield from (key.value for key in over.order_by)
    if over.frame is not None:
        bounds = (over.frame.lower, over.frame.upper)
        yield from (
            bound.distance for bound in bounds if bound is not None and bound.distance is not None
        )


# --- reasons -------------------------------------------------------------------------------------


def _reasons(column: AnyColumn, schema: ResolvedSchema) -> Iterator[Reason]:
    if isinstance(column, ComputedColumn):
        yield Reason(Cause.INFERRED, _inferred(column.expression.typed))
    else:
        yield from _declared(column, schema)
    kind = getattr(column.data_type, "kind", None)
    if kind is TimestampKind.ROWTIME:
        mine = any(spec.rowtime_attribute == column.name for spec in schema.watermark_specs)
        by = "its watermark" if mine else "the schema that it comes from"
        yield Reason(Cause.MARKED, f"as event time, by {by}")


def _declared(column: AnyColumn, schema: ResolvedSchema) -> Iterator[Reason]:
    """Yield the declared type and how it was changed."""
    written = column.written
    if written is None or isinstance(written, UnresolvedComputedColumn):
        yield Reason(Cause.DECLARED, f"{_plain(column.data_type)}, as it was given")
        return
    declared = _first_declared(written)
    yield Reason(Cause.DECLARED, str(declared))
    yield from _looked_up(declared)
    if getattr(written, "declared", None) is not None and not column.data_type.is_nullable:
        yield Reason(Cause.PROMOTED, f"to NOT NULL, by {_key_of(column.name, schema)}")
    if not _fits(written.data_type, column.data_type):
        yield Reason(Cause.DECLARED, f"{_plain(column.data_type)}, given later")


def _first_declared(written: UnresolvedPhysicalColumn | UnresolvedMetadataColumn) -> WrittenType:
    """Return the declared type, before a primary key made it NOT NULL."""
    if isinstance(written, UnresolvedPhysicalColumn) and written.declared is not None:
        return written.declared
    return written.data_type


def _looked_up(declared: WrittenType) -> Iterator[Reason]:
    """Yield the user-defined types in a declaration."""
    type_ = parse_type(declared) if isinstance(declared, str) else declared
    if isinstance(type_, DataType):
        for part in type_.walk():
            if isinstance(part, UnresolvedType):
                yield Reason(Cause.LOOKED_UP, f"{part.body()}, a user-defined type")


def _fits(declared: WrittenType, found: DataType) -> bool:
    """Return whether a column still has its declared type."""
    type_ = parse_type(declared) if isinstance(declared, str) else declared
    if not isinstance(type_, DataType) or any(isinstance(o, UnresolvedType) for o in type_.walk()):
        return True
    return plain(type_) == plain(found)


def _plain(type_: DataType) -> str:
    """Return the summary of a type without its time attribute."""
    return plain(type_).as_summary_string()


def _key_of(name: str, schema: ResolvedSchema) -> str:
    key = schema.primary_key
    if key is None or name not in key.columns:
        return "a primary key that was removed"
    return f"the primary key {name_of(key.name)}"


def _inferred(typed: Typed) -> str:
    """Return the rule that determines the type of an expression."""
    match typed:
        case Ref(name=name):
            return f"the type of {name_of(name)}"
        case Access(value=value, name=name):
            because = ", NULL where the row may be" if value.type.is_nullable else ""
            return f"the field {name_of(name)} of {value.type.as_summary_string()}{because}"
        case Constant(literal=literal):
            return f"the literal {getattr(literal, 'text', None) or 'of an interval'}"
        case Select():
            return "the column of a query, NULL where it has no row"
        case FunctionCall():
            return str(_step(typed, ""))
        case _:
            return typed.type.as_summary_string()


#: Maximum length of a step's text: in a left-deep tree, each step contains all previous ones.
MAX_TEXT_OF_STEP = 200


def _steps(expression: ResolvedExpression) -> tuple[Step, ...]:
    """Return every call, innermost first."""
    source = expression.written.source or expression.written.text
    found: list[Step] = []
    waiting: list[Typed] = [expression.typed]
    while waiting:
        match waiting.pop():
            case Access(value=value):
                waiting.append(value)
            case FunctionCall() as apply:
                start, stop = apply.span
                found.append(_step(apply, source[start : min(stop, start + MAX_TEXT_OF_STEP)]))
                waiting += operands(apply)
            case _:
                pass
    return tuple(reversed(found))


def _step(apply: FunctionCall, text: str) -> Step:
    function = apply.function
    takes = tuple(
        argument.type for argument in apply.arguments if not isinstance(argument, Keyword)
    )
    nulls = None if function.nullability is None else describe_nullability(function)
    rule = describe_result(function)
    return Step(text, function.name, takes, apply.type, rule, nulls, apply.implicit)
