"""Diagrams: layers, Mermaid with groups, and SVG that is well-formed XML with all text escaped."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from schema_core import Schema, SchemaResolver
from schema_core.report.diagrams import HEIGHT, Arrow, Diagram, DiagramNode, layers_of

HOSTILE = (
    "<script>alert(1)</script>", "\"quoted\" & 'single'", "two\nlines", "]]>", "\x00\ufffe\uffff",
    "end", "表" * 60, "\ud800",
)  # fmt: skip


def texts(svg: str, tag: str) -> list[str]:
    root = ET.fromstring(svg)
    return ["".join(item.itertext()) for item in root.iter(f"{{http://www.w3.org/2000/svg}}{tag}")]


def numbers(svg: str, attribute: str) -> list[int]:
    root = ET.fromstring(svg)
    return [int(item.attrib[attribute]) for item in root.iter("{http://www.w3.org/2000/svg}rect")]


def diagram(*arrows: Arrow, names: str = "abc") -> Diagram:
    return Diagram([DiagramNode(name, "physical", name) for name in names], arrows)


@pytest.mark.parametrize(
    ("arrows", "layers"),
    [
        ((), [0, 0, 0]),
        ((Arrow("a", "b"), Arrow("b", "c")), [0, 1, 2]),
        ((Arrow("b", "a"), Arrow("b", "a"), Arrow("a", "c")), [1, 0, 2]),
        ((Arrow("a", "b", dotted=True),), [0, 0, 0]),
        ((Arrow("a", "b"), Arrow("b", "a"), Arrow("b", "c")), [0, 0, 0]),
    ],
)
def test_layers(arrows: tuple[Arrow, ...], layers: list[int]) -> None:
    assert layers == list(layers_of(diagram(*arrows)).values())


@pytest.mark.parametrize("name", HOSTILE)
def test_text_is_escaped_in_svg(name: str) -> None:
    made = Diagram([DiagramNode("a", "physical", name, name)], ()).to_svg()

    assert 2 == len(texts(made, "text")), "the group and the node"
    assert f"{name}: {name}".isprintable() <= (f"{name}: {name}" in texts(made, "title"))
    assert "script" not in {item.tag.partition("}")[2] for item in ET.fromstring(made).iter()}


def test_boxes_do_not_overlap() -> None:
    made = diagram(Arrow("a", "b"), Arrow("a", "c"), Arrow("b", "d"), names="abcd").to_svg()

    x, y, width = (numbers(made, item) for item in ("x", "y", "width"))
    assert x[0] + width[0] < x[1] == x[2] < x[2] + width[2] < x[3]
    assert y[0] == y[1] == y[3] < y[2]


def test_arrows_lead_to_the_edges_of_boxes() -> None:
    made = diagram(Arrow("a", "b"), Arrow("b", "a", True), Arrow("a", "c", True)).to_svg()

    assert 3 == made.count('marker-end="url(#sc-head)"')
    assert 2 == made.count('class="sc-arrow sc-dotted"')
    x, width = numbers(made, "x"), numbers(made, "width")
    ends = map(int, re.findall(r'(\d+) \d+"/>', made.partition("<g>")[0]))
    assert [x[1], x[0] + width[0], x[2]] == list(ends)


def test_long_labels_are_cut() -> None:
    made = Diagram([DiagramNode("a", "computed", "x" * 100)], ()).to_svg()

    assert ["x" * 100] == texts(made, "title")
    assert ["x" * 45 + "..."] == texts(made, "text")


def test_an_empty_diagram() -> None:
    assert "flowchart LR" == Diagram((), ()).to_mermaid()
    assert [] == texts(Diagram((), ()).to_svg(), "text")


def test_groups_are_subgraphs() -> None:
    nodes = [DiagramNode("a", "physical", "x", 'or"ders'), DiagramNode("b", "key", "y")]

    assert """\
flowchart LR
    subgraph g0["or#34;ders"]
        a["x"]
    end
    b[("y")]
    a --> b""" == Diagram(nodes, [Arrow("a", "b")]).to_mermaid()
    assert ['or"ders', "x", "y"] == texts(Diagram(nodes, ()).to_svg(), "text")


def test_a_group_is_in_one_layer_and_within_its_frame() -> None:
    nodes = [
        DiagramNode(name, "physical", name, group)
        for name, group in zip("abcd", "xxyy", strict=True)
    ]
    made = Diagram(nodes, [Arrow("a", "b"), Arrow("b", "c")])

    assert [0, 0, 1, 1] == list(layers_of(made).values()), "d has no source"
    svg = made.to_svg()
    frames = re.findall(r'sc-frame" d="M(\d+) (\d+)H(\d+)V(\d+)', svg)
    edges = [tuple(map(int, frame)) for frame in frames]
    boxes = [*zip(numbers(svg, "x"), numbers(svg, "y"), numbers(svg, "width"), strict=True)]
    for (left, top, right, bottom), inner in zip(edges, (boxes[:2], boxes[2:]), strict=True):
        assert all(left < x and x + width < right for x, _, width in inner)
        assert all(top < y and y + HEIGHT < bottom for _, y, _ in inner)
    assert edges[0][2] < edges[1][0]


def test_svg_of_a_schema() -> None:
    schema = (
        Schema.new_builder()
        .column("id", "BIGINT NOT NULL")
        .column("ts", "TIMESTAMP(3)")
        .column_by_expression("twice", "id * 2")
        .watermark("ts", "ts")
        .build()
    )
    made = SchemaResolver().resolve(schema).explain().to_svg()
    assert made == SchemaResolver().resolve(schema).explain().to_svg()

    assert [
        "id BIGINT NOT NULL",
        "ts TIMESTAMP(3) *ROWTIME*",
        "twice BIGINT NOT NULL AS id * 2",
        "watermark AS ts",
    ] == texts(made, "text")
    x = numbers(made, "x")
    assert x[0] == x[1] < x[2] == x[3]
