"""Self-contained pages of schemas, changes and plans: well-formed, escaped, without the network."""

from __future__ import annotations

import copy
import pickle
import re
from base64 import b64encode
from hashlib import sha256

import pytest

from schema_core import ResolvedSchema, Schema, SchemaError, SchemaResolver
from schema_core.catalog.objects import CatalogTable
from schema_core.migration import diff, plan
from schema_core.types import DataTypes
from tests.html_reading import Reading, read
from tests.test_notebooks import HOSTILE, hostile_schema

#: What makes a browser load something or run a script of an attribute.
LOADING = {"src", "href", "action", "onclick", "onload", "onerror", "srcset", "data"}


def read_page(html: str) -> Reading:
    """Return the content of a page, which loads nothing and has one script."""
    result = read(html)
    names = {name for name, _ in result.attributes}
    assert html.startswith("<!DOCTYPE html>")
    assert not LOADING & names
    assert 1 == result.tags.count("script")
    assert not {"link", "img", "iframe", "object", "a"} & set(result.tags)
    return result


def rows_of(found: Reading) -> list[list[str]]:
    """Return the rows of before and after: the mark and both cells."""
    return [found.cells[place : place + 3] for place in range(3, len(found.cells), 3)]


def test_the_script_is_the_one_that_the_policy_allows() -> None:
    html = hostile().to_html()
    (script,) = re.findall(r"(?s)<script>(.*?)</script>", html)
    digest = b64encode(sha256(script.encode()).digest()).decode()

    policies = [value for _, value in read_page(html).attributes if value and "sha256-" in value]
    assert [
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    ] == policies
    assert "prefers-color-scheme:dark" in html


def hostile() -> ResolvedSchema:
    return SchemaResolver().resolve(hostile_schema())


@pytest.mark.parametrize("title", HOSTILE)
def test_pages_of_schemas_are_escaped(title: str) -> None:
    result = read_page(hostile().to_html(title))

    assert HOSTILE[0] in result.cells
    assert HOSTILE[1] in result.cells
    assert r"two\nlines" in result.cells
    assert "svg" not in result.tags


def test_a_page_shows_lineage_and_members() -> None:
    schema = (
        Schema.new_builder()
        .column("id", "BIGINT NOT NULL")
        .column("ts", "TIMESTAMP(3)")
        .column_by_expression("twice", "id * 2")
        .watermark("ts", "ts")
        .primary_key("id")
        .build()
    )
    result = read_page(SchemaResolver().resolve(schema).to_html("orders"))

    assert ["id", "BIGINT NOT NULL", "yes", "", "", ""] == result.cells[6:12], "without comments"
    assert ["twice", "BIGINT NOT NULL", "", "AS id * 2", "id", "id"] == result.cells[18:24]
    assert "WATERMARK FOR `ts`" in result.text
    assert 1 == result.tags.count("svg")


def test_nested_types_are_folded() -> None:
    schema = ResolvedSchema.physical(
        ["a", "plain"],
        [
            DataTypes.of("MAP<STRING, ARRAY<ROW<`<b>` INT, c ROW<d STRING>>>>"),
            DataTypes.of("ARRAY<INT>"),
        ],
    )
    result = read_page(schema.to_html())

    assert 4 == result.tags.count("details")
    assert ["key STRING", "element", "<b> INT", "d STRING"] == [
        item for item in ("key STRING", "element", "<b> INT", "d STRING") if item in result.text
    ]


def test_the_title_is_a_string() -> None:
    with pytest.raises(SchemaError, match="the title"):
        hostile().to_html(1)  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="the title"):
        diff(Schema(), Schema()).to_html(1)  # type: ignore[arg-type]


OLD = (
    Schema.new_builder()
    .column("gone", "INT")
    .column("id", "INT")
    .column("name", "STRING")
    .column("last", "ROW<a INT>")
    .build()
)
NEW = (
    Schema.new_builder()
    .column("id", "BIGINT")
    .column("label", "STRING")
    .with_comment("<b>")
    .column_by_expression("twice", "id * 2")
    .column_by_metadata("m", "INT", "offset")
    .build()
)


def test_changes_are_side_by_side() -> None:
    changes = diff(OLD, NEW, renames={"name": "label"})
    result = read_page(changes.to_html("<b>"))

    assert [
        ["dropped", "gone INT", ""],
        ["changed", "id INT", "id BIGINT"],
        ["renamed", "name STRING", "label STRING <b>"],
        ["dropped", "last ROW<`a` INT>\na INT\n", ""],
        ["added", "", "twice AS [`id` * 2]"],
        ["added", "", "m INT METADATA FROM 'offset'"],
    ] == rows_of(result)[:6]
    assert {"AddColumn", "DropColumn", "ModifyColumnName"} <= set(result.cells)


def test_other_parts_are_side_by_side_and_masked() -> None:
    schema = Schema.new_builder().column("id", DataTypes.INT(nullable=False))
    old = CatalogTable(schema.build(), options={"password": "hunter2", "a": "1", "b": "x"})
    new = CatalogTable(
        schema.primary_key("id").index_named("i", "id").build(),
        partition_keys=("id",),
        comment="</td>",
        options={"password": "letmein", "a": "2", "<i>": "y"},
    )
    html = diff(old, new).to_html()
    result = read_page(html)
    cells = result.cells[result.cells.index("part") - 1 :]
    rows = [cells[place : place + 4] for place in range(4, len(cells), 4)]

    assert ["added", "partition keys", "", "`id`"] in rows
    assert ["added", "comment", "", "</td>"] in rows
    assert ["changed", "option password", "******", "****** (changed)"] in rows
    assert ["changed", "option a", "1", "2"] in rows
    assert ["dropped", "option b", "x", ""] in rows
    assert ["added", "option <i>", "", "y"] in rows
    assert {"primary key", "index i"} <= {row[1] for row in rows}
    assert "hunter2" not in html
    assert "letmein" not in html


@pytest.mark.parametrize("made", [copy.copy, lambda item: pickle.loads(pickle.dumps(item))])
def test_copies_of_changes_have_the_same_page(made: object) -> None:
    changes = diff(OLD, NEW)

    assert callable(made)
    assert changes.to_html() == made(changes).to_html()


def test_a_page_of_a_plan() -> None:
    result = read_page(plan(OLD, NEW, "postgres", path="<b>").to_html())

    assert "Migration of <b>" in result.text
    assert ["dropped", "gone INT", ""] in [
        result.cells[place : place + 3] for place in range(len(result.cells))
    ]
    assert "cannot be undone" in result.cells
