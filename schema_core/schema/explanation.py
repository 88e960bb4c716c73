"""Explanation of a resolved schema: origins of types, and lineage of computed columns.

`schema_core.report.explain` computes and prints it.
"""

from __future__ import annotations

from enum import Enum

from schema_core.base.lazy import dataclass
from schema_core.base.plugins import load_higher
from schema_core.base.text import escaped, quote_identifier, quote_string
from schema_core.types import DataType

#: Maximum number of argument types that a step prints.
MAX_TYPES = 5


def format_name(name: str) -> str:
    """Return a quoted name with invisible characters escaped."""
    return escaped(quote_identifier(name))


class Cause(Enum):
    """The origin of a type or of a part of it."""

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
        return ".".join(format_name(field) for field in (self.column, *self.fields))


@dataclass(frozen=True, slots=True)
class Step:
    """A call in an expression: argument types, result type and typing rule.

    `text` is the truncated source text, empty if there is none; `nullability` is None if the rule
    includes it; `implicit` marks an implicit cast.
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
        arguments = f" of {', '.join([*types, *more])}" if types else ""
        null = "" if self.nullability is None else f"; NULL {self.nullability}"
        by = ", put in by SQL" if self.implicit else ""
        return f"{self.function}{arguments} gives {self.rule}{null}{by}"


@dataclass(frozen=True, slots=True)
class ColumnExplanation:
    """The origin of a column's type, and its lineage.

    `kind` is ``physical``, ``computed`` or ``metadata``. `reads` are the inputs of its expression,
    `leaves` the stored columns that these read (of a stored column itself). `missing` are unknown
    names, only in schemas built without a resolver. `steps` are the calls, innermost first.
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
        """Return whether a primary key makes the column NOT NULL."""
        return any(reason.cause is Cause.PROMOTED for reason in self.reasons)

    def how(self) -> str:
        """Return the kind of the column, with its expression or metadata key."""
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
        """Return the column of a name, or None."""
        return next((column for column in self.columns if column.name == name), None)

    def to_mermaid(self) -> str:
        """Return the lineage as a Mermaid flowchart, with all names escaped."""
        return str(load_higher("draw_explanation")(self).to_mermaid())

    def to_svg(self) -> str:
        """Return the lineage as an SVG image: each column is right of those that it reads.

        The image is deterministic, has no links, and follows the reader's dark mode. Labels are cut
        after 48 characters; titles have the whole text.
        """
        return str(load_higher("draw_explanation")(self).to_svg())

    def __str__(self) -> str:
        return str(load_higher("print_explanation")(self))

    def _repr_html_(self) -> str:
        return str(load_higher("explanation_html")(self))
