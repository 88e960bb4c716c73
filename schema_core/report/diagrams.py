"""Diagrams of nodes and arrows, as Mermaid flowcharts and as SVG, with all text escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple
from unicodedata import east_asian_width

from schema_core.base.text import escaped
from schema_core.report.markup import text

#: Kind of node -> the delimiters of its Mermaid label, which determine the shape of the node.
SHAPES: dict[str, tuple[str, str]] = {
    "physical": ("[", "]"),
    "metadata": ("[/", "/]"),
    "computed": ("(", ")"),
    "watermark": ("{{", "}}"),
    "key": ("[(", ")]"),
}

#: Characters that have no meaning within a quoted label, in any combination.
PLAIN = frozenset(" _.,+")

#: Maximum length of a label in Mermaid and in SVG, where the title has the whole text.
MAX_LABEL, MAX_SVG_LABEL = 200, 48


class DiagramNode(NamedTuple):
    """A node: its unique id, a kind of `SHAPES`, its text, and the group that it belongs to."""

    id: str
    kind: str
    text: str
    group: str = ""


class Arrow(NamedTuple):
    """An arrow between the nodes of two ids."""

    source: str
    target: str
    dotted: bool = False


class Diagram(NamedTuple):
    """Nodes and arrows, in the order in which they are drawn.

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
        """Return a Mermaid flowchart, in which each group is a subgraph."""
        return "\n".join(("flowchart LR", *(f"    {line}" for line in _mermaid(self))))

    def to_svg(self) -> str:
        """Return an SVG image in which every node is right of those with an arrow to it."""
        return "\n".join(_svg(self))


# --- Mermaid -------------------------------------------------------------------------------------


def label(text: str) -> str:
    """Return a quoted label; other characters than letters, digits and a few signs are escaped.

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

#: Width of a character, height of a node, spaces between and around nodes; in pixels.
CHARACTER, HEIGHT, ROW_GAP, LAYER_GAP, MARGIN = 7.3, 26, 10, 70, 24

#: Kind of node -> the radius of the corners of its box, which is drawn by `STYLE`.
RADIUS = {"physical": 0, "metadata": 3, "computed": 12, "watermark": 6, "key": 6}

STYLE = """\
.sc-box{fill:#f6f8fa;stroke:#57606a}.sc-computed{fill:#ddf4ff;stroke:#0969da}\
.sc-metadata{fill:#fff8c5;stroke:#9a6700}.sc-watermark,.sc-key{fill:#dafbe1;stroke:#1a7f37}\
.sc-label{fill:#1f2328;font:12px ui-monospace,Menlo,Consolas,monospace}\
.sc-arrow{fill:none;stroke:#57606a}.sc-dotted{stroke-dasharray:4 3}.sc-head{fill:#57606a}\
@media(prefers-color-scheme:dark){.sc-box{fill:#161b22;stroke:#8b949e}\
.sc-computed{fill:#0c2d6b;stroke:#58a6ff}.sc-metadata{fill:#3d2e00;stroke:#d29922}\
.sc-watermark,.sc-key{fill:#0f3d1e;stroke:#3fb950}.sc-label{fill:#e6edf3}\
.sc-arrow{stroke:#8b949e}.sc-head{fill:#8b949e}}"""


class Box(NamedTuple):
    """The left and right edge of a node, and its upper one."""

    x: int
    right: int
    y: int


def layers_of(diagram: Diagram) -> dict[str, int]:
    """Return the layer of each node: the length of the longest path of solid arrows to it.

    Where arrows form a cycle, all nodes are in layer 0.

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


def _svg_label(node: DiagramNode) -> str:
    return _cut(_title(node), MAX_SVG_LABEL)


def _title(node: DiagramNode) -> str:
    return f"{node.group}: {node.text}" if node.group else node.text


def _width(label: str) -> int:
    """Return the width of a label in pixels: signs of East Asia are wide, others are escaped."""
    wide = sum(east_asian_width(sign) in "WF" for sign in label)
    return round((len(escaped(label)) + wide) * CHARACTER) + 16


def _boxes(diagram: Diagram) -> dict[str, Box]:
    """Return the box of each node: layers from left to right, nodes from top to bottom."""
    layers = layers_of(diagram)
    boxes: dict[str, Box] = {}
    x = MARGIN
    for layer in sorted({*layers.values()}):
        nodes = [node for node in diagram.nodes if layers[node.id] == layer]
        right = x + max(_width(_svg_label(node)) for node in nodes)
        for row, node in enumerate(nodes):
            boxes[node.id] = Box(x, right, MARGIN + row * (HEIGHT + ROW_GAP))
        x = right + LAYER_GAP
    return boxes


def _svg(diagram: Diagram) -> Iterator[str]:
    boxes = _boxes(diagram)
    width = max((box.right for box in boxes.values()), default=0) + MARGIN
    height = max((box.y + HEIGHT for box in boxes.values()), default=0) + MARGIN
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">'
    )
    yield f"<style>{STYLE}</style>"
    for arrow in diagram.arrows:
        yield from _arrow(boxes[arrow.source], boxes[arrow.target], arrow.dotted)
    for node in diagram.nodes:
        box = boxes[node.id]
        yield f"<g><title>{text(_title(node))}</title>"
        yield (
            f'<rect class="sc-box sc-{node.kind}" x="{box.x}" y="{box.y}" '
            f'width="{box.right - box.x}" height="{HEIGHT}" rx="{RADIUS[node.kind]}"/>'
        )
        y = box.y + HEIGHT // 2 + 4
        yield f'<text class="sc-label" x="{box.x + 8}" y="{y}">{text(_svg_label(node))}</text></g>'
    yield "</svg>"


def _arrow(source: Box, target: Box, dotted: bool) -> Iterator[str]:
    """Yield a curve and its head; within a layer it goes around the left side."""
    y1, y2 = (box.y + HEIGHT // 2 + 6 * dotted for box in (source, target))
    way = -1 if source.x > target.x else 1
    x1 = source.right if source.x < target.x else source.x
    x2 = target.x if way == 1 else target.right
    bend = MARGIN // 2 if source.x == target.x else -(LAYER_GAP // 2) * way
    end = x2 - 7 * way
    yield (
        f'<path class="sc-arrow{" sc-dotted" * dotted}" '
        f'd="M{x1} {y1}C{x1 - bend} {y1} {x2 - abs(bend) * way} {y2} {end} {y2}"/>'
    )
    yield f'<path class="sc-head" d="M{x2} {y2}L{end} {y2 - 4}V{y2 + 4}Z"/>'
