"""Diagrams as Mermaid flowcharts and SVG, with all text escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple
from unicodedata import east_asian_width

from schema_core.base.text import escaped
from schema_core.report.markup import text

#: Kind of node -> the delimiters of its Mermaid label: its shape.
SHAPES: dict[str, tuple[str, str]] = {
    "physical": ("[", "]"),
    "metadata": ("[/", "/]"),
    "computed": ("(", ")"),
    "watermark": ("{{", "}}"),
    "key": ("[(", ")]"),
}

PLAIN = frozenset(" _.,+")

#: Characters of a label in Mermaid, and in SVG, whose title has the whole text.
MAX_LABEL, MAX_SVG_LABEL = 200, 48


class DiagramNode(NamedTuple):
    """A node: a unique id, a kind of `SHAPES`, its text, and its group."""

    id: str
    kind: str
    text: str
    group: str = ""


class Arrow(NamedTuple):
    """An arrow between two ids."""

    source: str
    target: str
    dotted: bool = False


class Diagram(NamedTuple):
    """Nodes and arrows, in drawing order.

    >>> nodes = (
    ...     DiagramNode("a", "physical", "a INT"),
    ...     DiagramNode("b", "computed", "b INT AS a + 1"),
    ... )
    >>> print(Diagram(nodes, (Arrow("a", "b"),)).to_mermaid())
    flowchart LR
        a["a INT"]
        b("b INT AS a + 1")
        a --> b
    """

    nodes: Sequence[DiagramNode]
    arrows: Sequence[Arrow]

    def to_mermaid(self) -> str:
        """Return a Mermaid flowchart; groups are subgraphs."""
        return "\n".join(("flowchart LR", *(f"    {line}" for line in _mermaid(self))))

    def to_svg(self) -> str:
        """Return an SVG image; every node is right of those with an arrow to it."""
        return "\n".join(_svg(self))


# --- Mermaid -------------------------------------------------------------------------------------


def label(text: str) -> str:
    """Return a quoted label, escaped except letters, digits and a few signs.

    >>> label('a"] --> b')
    '"a#34;#93; #45;#45;#62; b"'
    """
    return f'"{"".join(map(_sign, _cut(text, MAX_LABEL)))}"'


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _sign(sign: str) -> str:
    plain = sign in PLAIN or (sign.isalnum() and sign.isprintable())
    return sign if plain else f"#{ord(sign)};"


def _mermaid(diagram: Diagram) -> Iterator[str]:
    groups = dict.fromkeys(node.group for node in diagram.nodes)
    for number, group in enumerate(groups):
        nodes = [_node(node) for node in diagram.nodes if node.group == group]
        if group:
            yield f"subgraph g{number}[{label(group)}]"
            yield from (f"    {node}" for node in nodes)
            yield "end"
        else:
            yield from nodes
    for source, target, dotted in diagram.arrows:
        yield f"{source} {'-.->' if dotted else '-->'} {target}"


def _node(node: DiagramNode) -> str:
    opening, closing = SHAPES[node.kind]
    return f"{node.id}{opening}{label(node.text)}{closing}"


# --- SVG -----------------------------------------------------------------------------------------

#: Width of a character, height of a node, gaps and margin, in pixels.
CHARACTER, HEIGHT, ROW_GAP, LAYER_GAP, MARGIN = 7.3, 26, 10, 70, 24

STYLE = """\
.sc-box{fill:#f6f8fa;stroke:#57606a}.sc-computed{fill:#ddf4ff;stroke:#0969da;rx:12px}\
.sc-metadata{fill:#fff8c5;stroke:#9a6700}.sc-watermark,.sc-key{fill:#dafbe1;stroke:#1a7f37}\
.sc-label{fill:#1f2328;font:12px ui-monospace,Menlo,Consolas,monospace}\
.sc-arrow{fill:none;stroke:#57606a}.sc-dotted{stroke-dasharray:4 3}.sc-head{fill:#57606a}\
@media(prefers-color-scheme:dark){.sc-box{fill:#161b22;stroke:#8b949e}\
.sc-computed{fill:#0c2d6b;stroke:#58a6ff}.sc-metadata{fill:#3d2e00;stroke:#d29922}\
.sc-watermark,.sc-key{fill:#0f3d1e;stroke:#3fb950}.sc-label{fill:#e6edf3}\
.sc-arrow{stroke:#8b949e}.sc-head{fill:#8b949e}}"""

HEAD = (
    '<marker id="sc-head" markerWidth="7" markerHeight="8" refX="7" refY="4" orient="auto">'
    '<path class="sc-head" d="M0 0L7 4L0 8Z"/></marker>'
)


def layers_of(diagram: Diagram) -> dict[str, int]:
    """Return the layer of each node: the length of the longest path of solid arrows to it.

    If arrows form a cycle, all nodes are in layer 0.

    >>> nodes = [DiagramNode(name, "physical", name) for name in "abc"]
    >>> layers_of(Diagram(nodes, [Arrow("a", "b"), Arrow("b", "c"), Arrow("a", "c")]))
    {'a': 0, 'b': 1, 'c': 2}
    """
    sources: dict[str, set[str]] = {node.id: set() for node in diagram.nodes}
    for arrow in diagram.arrows:
        if not arrow.dotted:
            sources[arrow.target].add(arrow.source)
    layers = dict.fromkeys(sources, 0)
    with suppress(CycleError):
        for name in tuple(TopologicalSorter(sources).static_order()):
            layers[name] = max((layers[source] + 1 for source in sources[name]), default=0)
    return layers


def _title(node: DiagramNode) -> str:
    return f"{node.group}: {node.text}" if node.group else node.text


def _width(node: DiagramNode) -> int:
    """Return a node's width: East Asian characters are wide, others are escaped."""
    label = _cut(_title(node), MAX_SVG_LABEL)
    wide = sum(east_asian_width(sign) in "WF" for sign in label)
    return round((len(escaped(label)) + wide) * CHARACTER) + 16


def _svg(diagram: Diagram) -> Iterator[str]:
    layers = layers_of(diagram)
    boxes: dict[str, tuple[int, int, int]] = {}  # the left, right and upper edge of each node
    right = MARGIN - LAYER_GAP
    for layer in sorted({*layers.values()}):
        nodes = [node for node in diagram.nodes if layers[node.id] == layer]
        left, right = right + LAYER_GAP, right + LAYER_GAP + max(map(_width, nodes))
        for row, node in enumerate(nodes):
            boxes[node.id] = left, right, MARGIN + row * (HEIGHT + ROW_GAP)
    width = max(right, 0) + MARGIN
    height = max((top + HEIGHT for _, _, top in boxes.values()), default=0) + MARGIN
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">'
    )
    yield f"<style>{STYLE}</style>{HEAD}"
    for source, target, dotted in diagram.arrows:
        (x1, right1, y1), (x2, right2, y2) = boxes[source], boxes[target]
        bend = x1 - MARGIN // 2  # an arrow within a layer goes around its left side
        if x1 != x2:
            x1, x2 = (right1, x2) if x1 < x2 else (x1, right2)
            bend = (x1 + x2) // 2
        y1, y2 = (y + HEIGHT // 2 + 6 * dotted for y in (y1, y2))
        yield (
            f'<path class="sc-arrow{" sc-dotted" * dotted}" marker-end="url(#sc-head)" '
            f'd="M{x1} {y1}C{bend} {y1} {bend} {y2} {x2} {y2}"/>'
        )
    for node in diagram.nodes:
        left, right, top = boxes[node.id]
        label = text(_cut(_title(node), MAX_SVG_LABEL))
        yield (
            f"<g><title>{text(_title(node))}</title>"
            f'<rect class="sc-box sc-{node.kind}" x="{left}" y="{top}" width="{right - left}" '
            f'height="{HEIGHT}"/><text class="sc-label" x="{left + 8}" '
            f'y="{top + HEIGHT // 2 + 4}">{label}</text></g>'
        )
    yield "</svg>"
