"""What an explanation of a schema says, as frozen values and as text.

`explain` fills it in. `to_mermaid` draws it, `_repr_html_` shows it in notebooks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from schema_core.text import quote_identifier, quote_string, visible
from schema_core.types import DataType

#: So many types of arguments are named in a text, so many inner steps, so much of an expression.
MAX_TYPES, MAX_STEPS, MAX_PART = 5, 10, 60


class Cause(Enum):
    """What gave a column its type, or a part of it."""

    DECLARED = "declared"
    LOOKED_UP = "looked up"
    INFERRED = "inferred"
    PROMOTED = "promoted"
    MARKED = "marked"


@dataclass(frozen=True, slots=True)
class Reason:
    """One cause with what there is to say of it."""

    cause: Cause
    text: str

    def __str__(self) -> str:
        return f"{self.cause.value}: {self.text}"


@dataclass(frozen=True, slots=True, order=True)
class Read:
    """A column that an expression reads, or a field within it."""

    column: str
    fields: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ".".join(name_of(one) for one in (self.column, *self.fields))


@dataclass(frozen=True, slots=True)
class Step:
    """One call within an expression: what it was given, what it gives, and by which rule.

    `text` is the part of the expression (the beginning of a long one), empty where it stands
    nowhere in a text; `nullability` is
    None where the rule says it; `implicit` marks a cast that nobody wrote: SQL put it in.
    """

    text: str
    function: str
    takes: tuple[DataType, ...]
    gives: DataType
    rule: str
    nullability: str | None
    implicit: bool = False

    def __str__(self) -> str:
        types = [one.as_summary_string() for one in self.takes[:MAX_TYPES]]
        more = ["..."] if len(self.takes) > MAX_TYPES else []
        given = f" of {', '.join([*types, *more])}" if types else ""
        null = "" if self.nullability is None else f"; NULL {self.nullability}"
        by = ", put in by SQL" if self.implicit else ""
        return f"{self.function}{given} gives {self.rule}{null}{by}"


@dataclass(frozen=True, slots=True)
class ColumnExplanation:
    """Where a column's type came from, and what it is computed of.

    `kind` is ``physical``, ``computed`` or ``metadata``. `reads` is what its expression reads,
    `leaves` the stored columns behind that; a stored column is its own leaf. `missing` are names
    that are no column: only a schema that was put together by hand, and not resolved, has such.
    `steps` are the calls of the expression, inner ones first.
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

    def how(self) -> str:
        """What kind of column it is, with its expression or the key that the connector is asked."""
        if self.expression is not None:
            return f"{self.kind} AS {self.expression}"
        source = "" if self.metadata_key is None else f" FROM {quote_string(self.metadata_key)}"
        return f"{self.kind}{source}"


@dataclass(frozen=True, slots=True)
class WatermarkExplanation:
    """What a watermark is computed of; its own column is among what it depends on."""

    column: str
    expression: str
    data_type: DataType
    reads: tuple[Read, ...] = ()
    leaves: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """All columns and watermarks of a schema, explained.

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
        """The column of a name, in exactly this case, or None."""
        return next((one for one in self.columns if one.name == name), None)

    def to_mermaid(self) -> str:
        """The lineage as a Mermaid flowchart, whatever the names are."""
        from schema_core.schema.diagram import flowchart

        return flowchart(self)

    def __str__(self) -> str:
        return "\n".join((*map(_column_text, self.columns), *map(_watermark_text, self.watermarks)))

    def _repr_html_(self) -> str:
        from schema_core.schema.notebook import explanation_html

        return explanation_html(self)


# --- as text -------------------------------------------------------------------------------------


def name_of(name: str) -> str:
    """A name as texts show it: quoted, on one line."""
    return visible(quote_identifier(name))


def _column_text(column: ColumnExplanation) -> str:
    head = f"{name_of(column.name)} {visible(column.data_type.as_summary_string())}"
    lines = [head, f"  {visible(column.how())}"]
    lines += [f"  {visible(str(reason))}" for reason in column.reasons]
    lines += _within(column.steps[:-1])
    if column.expression is not None:
        lines += _descent(column)
    return "\n".join(lines)


def _within(steps: Sequence[Step]) -> Iterator[str]:
    """The calls within the outermost one."""
    for step in steps[:MAX_STEPS]:
        part = visible(step.text or step.function)
        part = part if len(part) <= MAX_PART else f"{part[: MAX_PART - 3]}..."
        yield f"    {part} is {visible(step.gives.as_summary_string())}: {visible(str(step))}"
    if len(steps) > MAX_STEPS:
        yield f"    and {len(steps) - MAX_STEPS} more"


def _watermark_text(watermark: WatermarkExplanation) -> str:
    type_ = watermark.data_type.as_summary_string()
    head = f"watermark of {name_of(watermark.column)} {type_}"
    return "\n".join((head, f"  AS {visible(watermark.expression)}", *_descent(watermark)))


def _descent(one: ColumnExplanation | WatermarkExplanation) -> Iterator[str]:
    yield f"  reads: {', '.join(map(str, one.reads)) or 'nothing'}"
    yield f"  comes from: {', '.join(map(name_of, one.leaves)) or 'no column'}"
    if one.missing:
        yield f"  missing: {', '.join(map(name_of, one.missing))}"
