"""Diagrams of catalogs: tables with columns and keys, lineage, differences, and their limits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog import ObjectPath, ResolvedCatalogTable
from schema_core.cli.app import application
from schema_core.errors import SchemaCoreError
from schema_core.report.catalog_diagrams import (
    MAX_LINES,
    MAX_TABLES,
    MIN_LINES,
    draw_catalog,
    draw_columns,
    draw_differences,
)
from schema_core.report.diagrams import Diagram
from tests.html_reading import read

HOSTILE = (
    "<script>alert(1)</script>", "a\"b'c&d", "]]> end", "`", "表" * 60, "x\u202ey",
)  # fmt: skip
SVG = "{http://www.w3.org/2000/svg}"
WITH = "WITH ('connector' = 'blackhole')"


def quote(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def environment_with(statements: Iterable[str]) -> TableEnvironment:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for statement in statements:
        environment.execute_sql(statement)
    return environment


def texts(diagram: Diagram) -> list[str]:
    """Return the labels of the SVG image, which must be well-formed."""
    root = ET.fromstring(diagram.to_svg())
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "style", "marker", "path", "g", "title", "rect", "text"
    }  # fmt: skip
    return [element[0].tail or "" if len(element) else element.text or ""
            for element in root.iter(f"{SVG}text")]  # fmt: skip


def boxes(diagram: Diagram) -> list[tuple[int, int, int, int]]:
    """Return the left, upper, right and lower edge of each node."""
    root = ET.fromstring(diagram.to_svg())
    rects = (group.find(f"{SVG}rect") for group in root.iter(f"{SVG}g"))
    edges = []
    for rect in rects:
        assert rect is not None
        x, y, width, height = (int(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        edges.append((x, y, x + width, y + height))
    return edges


def overlap(first: tuple[int, int, int, int], second: tuple[int, int, int, int]) -> bool:
    return (
        first[0] < second[2] and second[0] < first[2]
        and first[1] < second[3] and second[1] < first[3]
    )  # fmt: skip


SHOP = (
    f"""CREATE TABLE orders (id BIGINT NOT NULL, amount DECIMAL(10, 2), twice AS amount * 2,
    PRIMARY KEY (id) NOT ENFORCED) {WITH}""",
    f"CREATE TABLE alone (id BIGINT) {WITH}",
    "CREATE VIEW totals AS SELECT SUM(amount) AS total FROM orders",
    "CREATE VIEW top AS SELECT * FROM totals",
)


def test_tables_have_columns_and_keys_and_only_views_have_arrows() -> None:
    drawn = draw_catalog(environment_with(SHOP).lineage())

    assert """\
flowchart LR
    t0["orders<br/>PK id BIGINT NOT NULL<br/>amount DECIMAL#40;10, 2#41;<br/>twice DECIMAL#40;21, 2#41;"]
    t1("top #40;view#41;<br/>total DECIMAL#40;38, 2#41;")
    t2("totals #40;view#41;<br/>total DECIMAL#40;38, 2#41;")
    t3["alone<br/>id BIGINT"]
    t2 --> t1
    t0 --> t2""" == drawn.to_mermaid()  # noqa: E501
    left = [box[0] for box in boxes(drawn)]
    assert left[0] < left[2] < left[1] < left[3]


def test_lineage_of_tables_has_no_columns() -> None:
    lineage = environment_with(SHOP).lineage()
    drawn = draw_catalog(lineage, with_columns=False)

    assert ["orders", "top (view)", "totals (view)", "alone"] == texts(drawn)
    assert drawn.to_svg() == lineage.to_svg("lineage")
    assert draw_catalog(lineage).to_mermaid() == lineage.to_mermaid("tables")
    with pytest.raises(SchemaCoreError, match="show must be"):
        lineage.to_svg("columns and tables")


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_escaped(name: str) -> None:
    environment = environment_with(
        [
            f"CREATE TABLE {quote(name)} ({quote(name)} INT COMMENT '<b>') {WITH}",
            f"CREATE VIEW v AS SELECT {quote(name)} FROM {quote(name)}",
        ]
    )
    lineage = environment.lineage()

    for drawn in (draw_catalog(lineage), draw_columns(lineage)):
        assert texts(drawn)
        assert 1 == len(drawn.arrows)
        assert "<b>" not in drawn.to_svg()
        lines = drawn.to_mermaid().splitlines()
        assert all(sign not in line for line in lines for sign in ("<script", "\u202e", "]]"))


def table(environment: TableEnvironment, name: str) -> ResolvedCatalogTable:
    catalog = environment.get_catalog("default_catalog")
    found = catalog.get_resolved_table(ObjectPath("default_database", name))
    assert isinstance(found, ResolvedCatalogTable)
    return found


def test_differences_are_marked() -> None:
    environment = environment_with(
        [
            f"CREATE TABLE before_ (id INT, amount INT, gone INT, `<i>` INT) {WITH}",
            """CREATE TABLE after_ (id INT, total BIGINT, added AS id + 1, `<i>` INT)
            WITH ('connector' = 'blackhole', 'password' = 'hunter2')""",
        ]
    )
    paths = [ObjectIdentifier.of("c", "d", name) for name in ("t", "added", "dropped")]
    before = {paths[0]: table(environment, "before_"), paths[2]: table(environment, "before_")}
    after = {paths[0]: table(environment, "after_"), paths[1]: table(environment, "after_")}

    drawn = draw_differences(before, after, {paths[0]: {"total": "amount"}}, paths)

    assert ["changed", "added", "dropped"] == [node.mark for node in drawn.nodes]
    assert [
        ("id INT", ""),
        ("amount INT → total BIGINT", "changed"),
        ("gone INT", "dropped"),
        ("added AS `id` + 1", "added"),
        ("<i> INT", ""),
        ("option password: ******", "added"),
    ] == [(line.text, line.mark) for line in drawn.nodes[0].lines]
    assert {"added"} == {line.mark for line in drawn.nodes[1].lines}
    assert {"dropped"} == {line.mark for line in drawn.nodes[2].lines}
    assert "+ added AS `id` + 1" in texts(drawn)
    assert "hunter2" not in drawn.to_svg() + drawn.to_mermaid()
    assert ":::changed\n" in drawn.to_mermaid()


def test_a_changed_secret_is_a_change() -> None:
    create = "CREATE TABLE {0} (id INT) WITH ('connector' = 'blackhole', 'password' = 'pw-{0}')"
    environment = environment_with([create.format("before_"), create.format("after_")])
    path = ObjectIdentifier.of("c", "d", "t")

    drawn = draw_differences(
        {path: table(environment, "before_")}, {path: table(environment, "after_")}, {}, [path]
    )

    assert "~ option password: ****** → ****** (changed)" in texts(drawn)


def test_a_large_catalog_is_bounded() -> None:
    columns = ", ".join(f"c{number} INT" for number in range(60))
    statements = [f"CREATE TABLE t{number} ({columns}) {WITH}" for number in range(400)]
    views = [f"CREATE VIEW v{n} AS SELECT c1 FROM t{399 - n}" for n in range(20)]
    environment = environment_with([*statements, *views])
    started = monotonic()

    lineage = environment.lineage()
    drawn = draw_catalog(lineage)
    labels = texts(drawn)

    assert monotonic() - started < 20
    assert MAX_TABLES + 1 == len(drawn.nodes)
    assert "220 more tables are not drawn: name the tables to draw" == drawn.nodes[-1].text
    assert {"t399", "t380", "v0 (view)"} <= set(labels)
    assert MIN_LINES == len(drawn.nodes[0].lines)
    assert "and 49 more columns" in labels
    root = ET.fromstring(drawn.to_svg())
    assert 0.2 < int(root.attrib["width"]) / int(root.attrib["height"]) < 5
    edges = boxes(drawn)
    assert not any(
        overlap(first, second) for place, first in enumerate(edges) for second in edges[:place]
    )
    assert MAX_TABLES == len({node.group for node in draw_columns(lineage).nodes if node.group})


def test_marked_lines_are_kept_before_others() -> None:
    columns = [f"c{number} INT" for number in range(100)]
    environment = environment_with(
        [
            f"CREATE TABLE before_ ({', '.join(columns)}) {WITH}",
            f"CREATE TABLE after_ ({', '.join([*columns[:98], 'c98 BIGINT', columns[99]])}) {WITH}",
        ]
    )
    path = ObjectIdentifier.of("c", "d", "t")

    lines = draw_differences(
        {path: table(environment, "before_")}, {path: table(environment, "after_")}, {}, [path]
    ).nodes[0].lines  # fmt: skip

    assert MAX_LINES == len(lines)
    assert "c98 INT → BIGINT" in [line.text for line in lines]


# --- the command ---------------------------------------------------------------------------------


def run(*arguments: str, status: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(application(), ["diagram", *arguments])
    assert status == result.exit_code, result.output
    return result.stdout, result.stderr


def test_the_command_draws_the_tables_of_a_script(tmp_path: Path) -> None:
    script = tmp_path / "shop.sql"
    script.write_text(";".join(SHOP))

    assert "PK id BIGINT" in run(str(script))[0]
    assert "amount" not in run(str(script), "--show", "lineage")[0]
    assert "subgraph" in run(str(script), "--show", "columns", "--table", "top")[0]
    assert "alone" not in run(str(script), "--table", "top")[0]
    assert ET.fromstring(run(str(script), "--format", "svg")[0]) is not None
    page = read(run(str(script), "--format", "html")[0])
    assert "svg" in page.tags
    assert run(str(script), "--table", "absent", status=1)[1]


def test_a_view_that_cannot_be_resolved_is_a_note(tmp_path: Path) -> None:
    script = tmp_path / "shop.sql"
    broken = f"CREATE TABLE gone (a INT) {WITH}; CREATE VIEW broken AS SELECT a FROM gone"
    script.write_text(";".join([*SHOP, broken, "DROP TABLE gone"]))

    drawn, notes = run(str(script))

    assert "broken: " in notes
    assert "PK id BIGINT" in drawn


def test_differences_of_scripts(tmp_path: Path) -> None:
    old, new = tmp_path / "old.sql", tmp_path / "new.sql"
    old.write_text(";".join(SHOP[:2]))
    new.write_text(SHOP[0].replace("amount", "total"))

    drawn, _ = run(str(new), "--against", str(old), "--rename", "orders.amount=total")
    page = CliRunner().invoke(application(), ["diff", str(old), str(new), "--format", "html"])

    assert "amount DECIMAL#40;10, 2#41; #8594; total" in drawn
    assert ":::dropped" in drawn
    reading = read(page.stdout)
    assert 1 == reading.tags.count("svg")
    assert "- id BIGINT" in reading.text
