"""Diagrams as Mermaid flowcharts and SVG, with all text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from unicodedata import east_asian_width

from schema_core.base.lazy import NamedTuple
from schema_core.base.text import escaped
from schema_core.report.markup import text

#: Kind of node -> the delimiters of its Mermaid label: its shape.
SHAPES: dict[str, tuple[str, str]] = {
    "physical": ("[", "]"),
    "metadata": ("[/", "/]"),
    "computed": ("(", ")"),
    "watermark": ("{{", "}}"),
    "key": ("[(", ")]"),
    "table": ("[", "]"),
    "view": ("(", ")"),
    "note": (">", "]"),
}

#: Mark of a node or a line -> its sign in labels, and the colors of Mermaid nodes, as on pages.
MARKS: dict[str, tuple[str, str]] = {
    "added": ("+ ", "fill:#dafbe1,stroke:#1a7f37,color:#1f2328"),
    "dropped": ("- ", "fill:#ffebe9,stroke:#cf222e,color:#1f2328"),
    "changed": ("~ ", "fill:#fff8c5,stroke:#9a6700,color:#1f2328"),
}

PLAIN = frozenset(" _.,+")

#: Characters of a label in Mermaid, and in SVG, whose title has the whole text.
MAX_LABEL, MAX_SVG_LABEL = 200, 48


class DiagramLine(NamedTuple):
    """A line within a node, such as a column of a table, and its mark, one of `MARKS` or ''."""

    text: str
    mark: str = ""

    @property
    def label(self) -> str:
        """The text with the sign of its mark."""
        return f"{MARKS[self.mark][0]}{self.text}" if self.mark else self.text


class DiagramNode(NamedTuple):
    """A node: a unique id, a kind of `SHAPES`, its text, its group, and lines below the text."""

    id: str
    kind: str
    text: str
    group: str = ""
    lines: tuple[DiagramLine, ...] = ()
    mark: str = ""


class Arrow(NamedTuple):
    """An arrow between two ids."""

    source: str
    target: str
    dotted: bool = False


class Diagram(NamedTuple):
    """Nodes and arrows, in drawing order.

    With `separates`, nodes without arrows are drawn right of all others.

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
    separates: bool = False

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
    for mark in dict.fromkeys(node.mark for node in diagram.nodes if node.mark):
        yield f"classDef {mark} {MARKS[mark][1]}"


def _node(node: DiagramNode) -> str:
    opening, closing = SHAPES[node.kind]
    labels = [label(text)[1:-1] for text in (node.text, *(line.label for line in node.lines))]
    style = f":::{node.mark}" if node.mark else ""
    return f'{node.id}{opening}"{"<br/>".join(labels)}"{closing}{style}'


# --- SVG -----------------------------------------------------------------------------------------

#: Width of a character, height of a node, gaps and margin, in pixels.
CHARACTER, HEIGHT, ROW_GAP, LAYER_GAP, MARGIN = 7.3, 26, 10, 70, 24
#: Height of a line within a node; gap between the columns of a layer; height of a short layer.
LINE, COLUMN_GAP, SHORT = 18, 24, 1_600
#: Between the frame of a group and its nodes.
FRAME = 10

STYLE = """\
.sc-picture{background:#fff}\
.sc-box{fill:#f6f8fa;stroke:#57606a}.sc-computed{fill:#ddf4ff;stroke:#0969da;rx:12px}\
.sc-metadata{fill:#fff8c5;stroke:#9a6700}.sc-watermark,.sc-key,.sc-added{fill:#dafbe1;stroke:#1a7f37}\
.sc-view{fill:#ddf4ff;stroke:#0969da}.sc-note{stroke-dasharray:4 3}\
.sc-dropped{fill:#ffebe9;stroke:#cf222e}.sc-changed{fill:#fff8c5;stroke:#9a6700}\
.sc-frame{fill:none;stroke:#8b949e;stroke-dasharray:2 3}\
.sc-line{stroke:none}.sc-label{fill:#1f2328;font:12px ui-monospace,Menlo,Consolas,monospace}\
.sc-arrow{fill:none;stroke:#57606a}.sc-dotted{stroke-dasharray:4 3}.sc-head{fill:#57606a}\
@media(prefers-color-scheme:dark){.sc-picture{background:#0d1117}\
.sc-box{fill:#161b22;stroke:#8b949e}\
.sc-computed{fill:#0c2d6b;stroke:#58a6ff}.sc-metadata{fill:#3d2e00;stroke:#d29922}\
.sc-watermark,.sc-key,.sc-added{fill:#0f3d1e;stroke:#3fb950}.sc-label{fill:#e6edf3}\
.sc-view{fill:#0c2d6b;stroke:#58a6ff}.sc-dropped{fill:#5a1e1e;stroke:#f85149}\
.sc-changed{fill:#3d2e00;stroke:#d29922}\
.sc-arrow{stroke:#8b949e}.sc-head{fill:#8b949e}}"""

HEAD = (
    '<marker id="sc-head" markerWidth="7" markerHeight="8" refX="7" refY="4" orient="auto">'
    '<path class="sc-head" d="M0 0L7 4L0 8Z"/></marker>'
)


def layers_of(diagram: Diagram) -> dict[str, int]:
    """Return the layer of each node: the length of the longest path of solid arrows to it.

    The nodes of a group are in one layer. If arrows form a cycle, all nodes are in layer 0.

    >>> nodes = [DiagramNode(name, "physical", name) for name in "abc"]
    >>> layers_of(Diagram(nodes, [Arrow("a", "b"), Arrow("b", "c"), Arrow("a", "c")]))
    {'a': 0, 'b': 1, 'c': 2}
    """
    units = {node.id: _unit(node) for node in diagram.nodes}
    sources: dict[tuple[str, str], set[tuple[str, str]]] = {unit: set() for unit in units.values()}
    for arrow in diagram.arrows:
        source, target = units[arrow.source], units[arrow.target]
        is_within = source == target and arrow.source != arrow.target
        if not arrow.dotted and not is_within:
            sources[target].add(source)
    layers = dict.fromkeys(sources, 0)
    with suppress(CycleError):
        for unit in tuple(TopologicalSorter(sources).static_order()):
            layers[unit] = max((layers[source] + 1 for source in sources[unit]), default=0)
    return {name: layers[unit] for name, unit in units.items()}


def _unit(node: DiagramNode) -> tuple[str, str]:
    """Return what is drawn in one place: a group, or a node without one."""
    return node.group, "" if node.group else node.id


def _width(node: DiagramNode) -> int:
    """Return a node's width: East Asian characters are wide, others are escaped."""
    return max(map(_text_width, (node.text, *(line.label for line in node.lines))))


def _text_width(text: str) -> int:
    label = _cut(text, MAX_SVG_LABEL)
    wide = sum(east_asian_width(sign) in "WF" for sign in label)
    return round((len(escaped(label)) + wide) * CHARACTER) + 16


def _height(node: DiagramNode) -> int:
    return HEIGHT + LINE * len(node.lines) + (6 if node.lines else 0)


def split_layer(sizes: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the columns of a layer, which is about as wide as high if it is not short.

    Args:
        sizes: The width and height of each part of the layer, whose numbers are returned.

    >>> [len(column) for column in split_layer([(23, 26)] * 100)]
    [44, 44, 12]
    """
    area = sum((height + ROW_GAP) * (width + COLUMN_GAP) for width, height in sizes)
    limit = max(SHORT, int(area**0.5))
    columns: list[list[int]] = [[]]
    used = 0
    for place, (_, height) in enumerate(sizes):
        if columns[-1] and used + height + ROW_GAP > limit:
            columns.append([])
            used = 0
        columns[-1].append(place)
        used += height + ROW_GAP
    return columns


class _Box(NamedTuple):
    """The left, right and upper edge of a node."""

    left: int
    right: int
    top: int


class _Frame(NamedTuple):
    """The title and the edges of a group."""

    title: str
    left: int
    right: int
    top: int
    bottom: int


class _Block(NamedTuple):
    """A node, or a group with its title and the columns of its nodes."""

    title: str
    columns: list[list[DiagramNode]]

    @property
    def width(self) -> int:
        inner = sum(max(map(_width, nodes)) + COLUMN_GAP for nodes in self.columns) - COLUMN_GAP
        return max(inner + 2 * FRAME, _text_width(self.title)) if self.title else inner

    @property
    def height(self) -> int:
        inner = max(sum(_height(node) + ROW_GAP for node in nodes) for nodes in self.columns)
        return inner - ROW_GAP + (HEIGHT + FRAME if self.title else 0)

    def place(self, left: int, right: int, top: int) -> Iterator[tuple[str, _Box]]:
        """Yield the box of each node; those of the last column reach to the right."""
        inset = FRAME if self.title else 0
        left += inset
        for place, nodes in enumerate(self.columns):
            is_last = place == len(self.columns) - 1
            end = right - inset if is_last else left + max(map(_width, nodes))
            y = top + (HEIGHT if self.title else 0)
            for node in nodes:
                yield node.id, _Box(left, end, y)
                y += _height(node) + ROW_GAP
            left = end + COLUMN_GAP


def _blocks(nodes: Iterable[DiagramNode]) -> list[_Block]:
    """Return the groups and the nodes without a group, in drawing order."""
    members: dict[tuple[str, str], list[DiagramNode]] = {}
    for node in nodes:
        members.setdefault(_unit(node), []).append(node)
    blocks = []
    for (title, _), group in members.items():
        columns = split_layer([(_width(node), _height(node)) for node in group])
        blocks.append(_Block(title, [[group[place] for place in column] for column in columns]))
    return blocks


def _place(diagram: Diagram) -> tuple[dict[str, _Box], list[_Frame]]:
    """Return the box of each node, and the frames of groups."""
    layers = layers_of(diagram)
    if diagram.separates:
        linked = {end for arrow in diagram.arrows for end in (arrow.source, arrow.target)}
        last = max(layers.values(), default=0) + 1
        layers |= {node.id: last for node in diagram.nodes if node.id not in linked}
    boxes: dict[str, _Box] = {}
    frames: list[_Frame] = []
    right = MARGIN - LAYER_GAP
    for layer in sorted({*layers.values()}):
        gap = LAYER_GAP
        blocks = _blocks(node for node in diagram.nodes if layers[node.id] == layer)
        for column in split_layer([(block.width, block.height) for block in blocks]):
            widest = max(blocks[place].width for place in column)
            left, right = right + gap, right + gap + widest
            top, gap = MARGIN, COLUMN_GAP
            for block in (blocks[place] for place in column):
                boxes |= dict(block.place(left, right, top))
                if block.title:
                    frames.append(_Frame(block.title, left, right, top, top + block.height))
                top += block.height + ROW_GAP
    return boxes, frames


def _svg(diagram: Diagram) -> Iterator[str]:
    boxes, frames = _place(diagram)
    width = max((box.right for box in boxes.values()), default=0) + MARGIN
    bottoms = [boxes[node.id].top + _height(node) for node in diagram.nodes]
    height = max([*bottoms, *(frame.bottom for frame in frames)], default=0) + MARGIN
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" class="sc-picture" role="img">'
    )
    yield f"<style>{STYLE}</style>{HEAD}"
    yield from map(_draw_frame, frames)
    for arrow in diagram.arrows:
        yield _draw_arrow(boxes[arrow.source], boxes[arrow.target], dotted=arrow.dotted)
    for node in diagram.nodes:
        yield _draw_node(node, boxes[node.id])
    yield "</svg>"


def _draw_frame(frame: _Frame) -> str:
    title, left, right, top, bottom = frame
    edges = f"M{left} {top}H{right}V{bottom}H{left}Z"
    return f'<path class="sc-frame" d="{edges}"/>{_draw_text(title, left, top + HEIGHT // 2 + 4)}'


def _draw_arrow(source: _Box, target: _Box, *, dotted: bool) -> str:
    (x1, right1, y1), (x2, right2, y2) = source, target
    bend = x1 - MARGIN // 2  # an arrow within a layer goes around its left side
    if x1 != x2:
        x1, x2 = (right1, x2) if x1 < x2 else (x1, right2)
        bend = (x1 + x2) // 2
    y1, y2 = (y + HEIGHT // 2 + 6 * dotted for y in (y1, y2))
    return (
        f'<path class="sc-arrow{" sc-dotted" * dotted}" marker-end="url(#sc-head)" '
        f'd="M{x1} {y1}C{bend} {y1} {bend} {y2} {x2} {y2}"/>'
    )


def _draw_node(node: DiagramNode, box: _Box) -> str:
    left, right, top = box
    label = text(_cut(node.text, MAX_SVG_LABEL))
    title = f"{node.group}: {node.text}" if node.group else node.text
    head = (
        f'<rect class="sc-line sc-{node.mark}" x="{left + 1}" y="{top + 1}" '
        f'width="{right - left - 2}" height="{HEIGHT - 1}"/>'
    )
    return (
        f"<g><title>{text(title)}</title>"
        f'<rect class="sc-box sc-{node.kind}" x="{left}" y="{top}" width="{right - left}" '
        f'height="{_height(node)}"/>{head if node.mark else ""}<text class="sc-label" '
        f'x="{left + 8}" y="{top + HEIGHT // 2 + 4}">{label}</text>'
        f"{''.join(_draw_lines(node, box))}</g>"
    )


def _draw_lines(node: DiagramNode, box: _Box) -> Iterator[str]:
    left, right, top = box
    if node.lines:
        y = top + HEIGHT
        yield f'<path class="sc-arrow" d="M{left} {y}H{right}"/>'
    for place, line in enumerate(node.lines):
        y = top + HEIGHT + 3 + LINE * place
        if line.mark:
            yield (
                f'<rect class="sc-line sc-{line.mark}" x="{left + 1}" y="{y}" '
                f'width="{right - left - 2}" height="{LINE}"/>'
            )
        yield _draw_text(line.label, left, y + 13)


def _draw_text(value: str, left: int, y: int) -> str:
    label = _cut(value, MAX_SVG_LABEL)
    title = "" if label == value else f"<title>{text(value)}</title>"
    return f'<text class="sc-label" x="{left + 8}" y="{y}">{title}{text(label)}</text>'
