"""``schema-core diff``: changes, renames, outputs and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from schema_core.cli.app import application
from tests.test_pages import read_page

OLD = """
CREATE TABLE orders (id INT NOT NULL, tag STRING) WITH ('connector' = 'x', 'password' = 'old one');
CREATE TABLE gone (a INT);
"""
NEW = """
CREATE TABLE orders (id BIGINT NOT NULL, label STRING)
WITH ('connector' = 'x', 'password' = 'new one');
CREATE TABLE made (a INT);
"""
ORDERS = "default_catalog.default_database.orders"


def run(folder: Path, *options: str, new: str = NEW) -> tuple[int, str, str]:
    for name, text in (("old.sql", OLD), ("new.sql", new)):
        (folder / name).write_text(text)
    result = CliRunner().invoke(
        application(), ["diff", str(folder / "old.sql"), str(folder / "new.sql"), *options]
    )
    return result.exit_code, result.stdout, result.stderr


def test_changes_are_listed_by_table(tmp_path: Path) -> None:
    code, output, _ = run(tmp_path)

    assert 1 == code
    assert output.splitlines() == [
        "default_catalog.default_database.gone: dropped",
        "default_catalog.default_database.orders: changed",
        "  change the type of column `id` from INT NOT NULL to BIGINT NOT NULL",
        "  add column `label` STRING after `id`",
        "  drop column `tag` STRING",
        "  set option 'password' to '******'",
        "  data at risk: tag: the rows have it [field-dropped]",
        "  hint: pass --rename orders.tag=label if it is a rename",
        "default_catalog.default_database.made: added",
    ]


def test_a_rename_is_followed(tmp_path: Path) -> None:
    code, output, _ = run(tmp_path, "--rename", "orders.tag=label")

    assert 1 == code
    assert "  rename column `tag` to `label`" in output.splitlines()
    assert "hint" not in output


def test_definitions_are_side_by_side_as_html(tmp_path: Path) -> None:
    code, output, _ = run(tmp_path, "--rename", "orders.tag=label", "--format", "html")
    result = read_page(output)

    assert 1 == code
    place = result.cells.index("renamed")
    assert ["tag STRING", "label STRING"] == result.cells[place + 1 : place + 3]
    assert "password" in result.text
    assert "old one" not in output
    assert "new one" not in output
    assert f"{ORDERS}: changed" in result.text
    assert "made: added" in result.text


def test_differences_as_json(tmp_path: Path) -> None:
    code, output, _ = run(tmp_path, "--format", "json")
    tables = json.loads(output)["tables"]

    assert 1 == code
    assert "changed" == tables[ORDERS]["status"]
    assert "ModifyPhysicalColumnType" == tables[ORDERS]["changes"][0]["change"]
    assert ["orders.tag=label"] == tables[ORDERS]["likely_renames"]
    assert "one" not in output.replace("gone", "").replace("dropped", "")


def test_equal_scripts_end_with_0(tmp_path: Path) -> None:
    assert (0, "", "") == run(tmp_path, new=OLD)


@pytest.mark.parametrize(
    ("options", "new"),
    [(("--rename", "tag"), NEW), (("--rename", "made.a=b"), NEW), ((), "CREATE TABLE (")],
)
def test_wrong_input_ends_with_2(tmp_path: Path, options: tuple[str, ...], new: str) -> None:
    assert 2 == run(tmp_path, *options, new=new)[0]
