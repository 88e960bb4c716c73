"""The lineage of a schema as a Mermaid flowchart.

Nodes are numbered, so that a name appears in quoted labels alone, where everything but letters,
digits and a few signs is a numeric entity: no name can say anything to Mermaid or to a browser.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from schema_core.schema.explanation import Cause

if TYPE_CHECKING:
    from schema_core.schema.explanation import ColumnExplanation, Explanation

#: Kind of column -> what stands around its label: the shape of the node.
SHAPES: dict[str, tuple[str, str]] = {
    "physical": ("[", "]"),
    "metadata": ("[/", "/]"),
    "computed": ("(", ")"),
    "watermark": ("{{", "}}"),
    "key": ("[(", ")]"),
}

#: Signs that mean nothing within a quoted label, alone or together.
PLAIN = frozenset(" _.,+")

#: So much of an expression is shown in a label.
MAX_LABEL = 200


def label(text: str) -> str:
    """A text as a quoted label.

    >>> label('a"] --> b')
    '"a#34;#93; #45;#45;#62; b"'
    """
    cut = text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 3]}..."
    return f'"{"".join(map(_sign, cut))}"'


def _sign(sign: str) -> str:
    plain = sign in PLAIN or (sign.isalnum() and sign.isprintable())
    return sign if plain else f"#{ord(sign)};"


def flowchart(explanation: Explanation) -> str:
    """Columns and watermarks as nodes, and an arrow from each to what reads it."""
    return "\n".join(("flowchart LR", *(f"    {line}" for line in _lines(explanation))))


def _lines(explanation: Explanation) -> Iterator[str]:
    nodes: dict[str, str] = {}
    for number, column in enumerate(explanation.columns):
        nodes.setdefault(column.name, f"c{number}")
        yield _node(f"c{number}", column.kind, _of_column(column))
    for number, watermark in enumerate(explanation.watermarks):
        yield _node(f"w{number}", "watermark", f"watermark AS {watermark.expression}")
    promoted = [one.name for one in explanation.columns if _is_promoted(one)]
    if promoted:
        yield _node("key", "key", "primary key")
    for number, column in enumerate(explanation.columns):
        yield from _arrows((one.column for one in column.reads), nodes, f"c{number}")
    for number, watermark in enumerate(explanation.watermarks):
        yield from _arrows((one.column for one in watermark.reads), nodes, f"w{number}")
        if watermark.column in nodes:
            yield f"w{number} -.-> {nodes[watermark.column]}"
    yield from (f"key -.-> {nodes[name]}" for name in promoted)


def _node(name: str, kind: str, text: str) -> str:
    before, behind = SHAPES[kind]
    return f"{name}{before}{label(text)}{behind}"


def _of_column(column: ColumnExplanation) -> str:
    text = f"{column.name} {column.data_type.as_summary_string()}"
    return text if column.expression is None else f"{text} AS {column.expression}"


def _arrows(names: Iterable[str], nodes: dict[str, str], target: str) -> Iterator[str]:
    for name in dict.fromkeys(names):
        if name in nodes:
            yield f"{nodes[name]} --> {target}"


def _is_promoted(column: ColumnExplanation) -> bool:
    return any(reason.cause is Cause.PROMOTED for reason in column.reasons)
