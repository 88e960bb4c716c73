"""Laws of explanations: lines of descent end at stored columns, and no name breaks out."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from schema_core.base.text import escaped, quote_identifier
from schema_core.schema.columns import UnresolvedComputedColumn
from schema_core.schema.explanation import Cause, format_name
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ComputedColumn, ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.sql.parser import parse_expression
from schema_core.sql.syntax import Name, walk
from schema_core.testing.expression_trees import COLUMNS, expressions
from schema_core.testing.strategies import schemas
from schema_core.types import DataTypes

#: Pieces of names that mean something to a browser, to Mermaid, to Markdown or to a terminal.
HOSTILE = (
    '"', "]", "[", "-->", "%%", "%%{init: {}}%%", "<script>", "</td>", "<img src=x onerror=x>",
    "&lt;", "&amp;", "#34;", "click c0 call x()", "end", "`", "\n", "\r", "\x1b[31m", "\u202e", ";",
    "javascript:", "\\", "'", "|", "{{", "}}", "subgraph", "\x00", "\u2028", "classDef x", "x", " ",
)  # fmt: skip
hostile_names = st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=4).map("".join)

NODE = r'(c\d+|w\d+|key)(\[|\[/|\(|\{\{|\[\()"[^"\]\[(){}<>`|&\\]*"(\]|/\]|\)|\}\}|\)\])'
ARROW = r"(c\d+|w\d+|key) (-->|-\.->) (c\d+|w\d+)"


@st.composite
def hostile_schemas(draw: st.DrawFn) -> ResolvedSchema:
    """Columns, expressions, comments and keys of which every text is hostile."""
    names = draw(st.lists(hostile_names.filter(str.strip), min_size=2, max_size=5, unique=True))
    *stored, last = names
    builder = Schema.new_builder()
    for name in stored:
        builder.column(name, DataTypes.INT().not_null()).with_comment(draw(hostile_names))
    nameable = [name for name in stored if "\n" not in name and "\r" not in name]
    if nameable:
        text = f"CONCAT(CAST({quote_identifier(nameable[0])} AS STRING), '<b>\"]')"
        builder.column_by_expression(last, text)
    builder.primary_key_named(draw(hostile_names.filter(str.strip)), *stored)
    return SchemaResolver().resolve(builder.build())


any_schemas = schemas().map(SchemaResolver().resolve) | hostile_schemas()


def stored_names(schema: ResolvedSchema) -> set[str]:
    return {column.name for column in schema.columns if not isinstance(column, ComputedColumn)}


@given(any_schemas)
def test_lineage_ends_at_existing_stored_columns(schema: ResolvedSchema) -> None:
    result = schema.explain()

    every = [(column.leaves, column.missing) for column in result.columns]
    every += [(watermark.leaves, watermark.missing) for watermark in result.watermarks]
    for leaves, missing in every:
        assert set(leaves) <= stored_names(schema)
        assert () == missing
    assert all(
        (column.name,) == column.leaves for column in result.columns if column.kind != "computed"
    )


@given(schemas())
def test_lineage_of_a_computed_column_has_the_names_of_its_expression(schema: Schema) -> None:
    """The witness is the syntax of the text, which the explanation does not look at."""
    result = SchemaResolver().resolve(schema).explain()

    for column in schema.columns:
        if isinstance(column, UnresolvedComputedColumn):
            parts = walk(parse_expression(str(column.expression)[1:-1]))
            named = {part.parts[0] for part in parts if isinstance(part, Name)}
            explained = result.column(column.name)
            assert explained is not None
            assert named == set(explained.leaves) == {read.column for read in explained.reads}


@given(expressions())
def test_the_steps_of_an_expression_are_parts_of_it(text: str) -> None:
    builder = Schema.new_builder()
    for name, type_ in COLUMNS.items():
        builder.column(name, type_)
    schema = SchemaResolver().resolve(builder.column_by_expression("found", text).build())
    result = schema.explain().column("found")
    assert result is not None
    named = {part.parts[0] for part in walk(parse_expression(text)) if isinstance(part, Name)}

    assert set(result.leaves) <= named & set(COLUMNS)
    for step in result.steps:
        assert step.text in text
        assert step.rule
    if result.steps:
        assert str(result.steps[-1]) in str(result.reasons[0])


@given(any_schemas)
def test_the_explanation_has_a_line_for_every_column(schema: ResolvedSchema) -> None:
    lines = str(schema.explain()).split("\n") if schema.columns else []
    heads = [line for line in lines if not line.startswith(("  ", "watermark of"))]

    assert heads == [
        f"{format_name(column.name)} {escaped(column.data_type.as_summary_string())}"
        for column in schema.columns
    ]


@given(any_schemas)
def test_every_column_has_an_origin_of_its_type(schema: ResolvedSchema) -> None:
    for column in schema.explain().columns:
        assert column.reasons[0].cause is (
            Cause.INFERRED if column.kind == "computed" else Cause.DECLARED
        )


@given(any_schemas)
def test_names_are_escaped_in_the_diagram(schema: ResolvedSchema) -> None:
    head, *lines = schema.explain().to_mermaid().split("\n")
    nodes = [line for line in lines if re.fullmatch(rf"    {NODE}", line)]
    arrows = [line for line in lines if re.fullmatch(rf"    {ARROW}", line)]

    assert head == "flowchart LR"
    assert len(nodes) + len(arrows) == len(lines)
    assert len(nodes) == len(schema.columns) + len(schema.watermark_specs)


class Reader(HTMLParser):
    """Return the tags of HTML, and the content of the first cell of each row."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: list[object] = []
        self.rows: list[list[str]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag != "br":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.open.pop()

    def handle_data(self, data: str) -> None:
        if "td" in self.open:
            self.rows[-1][-1] += data


ALLOWED = {"table", "caption", "thead", "tbody", "tr", "th", "td", "code", "br", "ul", "li"}


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.tags <= ALLOWED
    assert [] == reader.attributes == reader.open
    return reader


@given(any_schemas)
def test_names_and_comments_are_escaped_in_html(schema: ResolvedSchema) -> None:
    names = [escaped(column.name) for column in schema.columns]
    marks = [escaped(spec.rowtime_attribute) for spec in schema.watermark_specs]
    written = Schema.new_builder().from_resolved_schema(schema).build()

    for html, expected in (
        (schema._repr_html_(), names),
        (written._repr_html_(), names),
        (schema.explain()._repr_html_(), names + marks),
    ):
        assert expected == [row[0] for row in read(html).rows if row]


@given(st.lists(hostile_names, max_size=5))
def test_a_manually_constructed_schema_is_explained(names: list[str]) -> None:
    """Names may come twice, and expressions may read what is not there, or themselves."""
    resolved = SchemaResolver().resolve(
        Schema.new_builder().column("a", "INT").column_by_expression("b", "a + 1").build()
    )
    computed = resolved.columns[1]
    assert isinstance(computed, ComputedColumn)
    columns = [computed.rename(name) for name in (*names, "a", "b")]

    for column in ResolvedSchema(columns).explain().columns:
        assert ((), ()) == (column.leaves, column.missing)
    for column in ResolvedSchema(columns[:-2]).explain().columns:
        assert ("a",) == column.missing
