"""``schema-core plan``: targets, renames, outputs and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from schema_core.cli.app import application
from tests.test_pages import read_page

OLD = "CREATE TABLE orders (id BIGINT NOT NULL, tag STRING);\nCREATE TABLE gone (a INT);\n"
NEW = "CREATE TABLE orders (id BIGINT NOT NULL, label STRING);\n"


def run(folder: Path, *options: str, new: str = NEW) -> tuple[int, str, str]:
    for name, text in (("old.sql", OLD), ("new.sql", new)):
        (folder / name).write_text(text)
    result = CliRunner().invoke(
        application(), ["plan", str(folder / "old.sql"), str(folder / "new.sql"), *options]
    )
    return result.exit_code, result.stdout, result.stderr


def test_statements_as_a_script(tmp_path: Path) -> None:
    code, output, errors = run(
        tmp_path, "--target", "postgres", "--format", "sql", "--rename", "orders.tag=label"
    )

    assert (0, 'ALTER TABLE "orders" RENAME COLUMN "tag" TO "label";\n') == (code, output)
    assert "gone: only in the old script" in errors


def test_a_rewrite_for_a_database_covers_all_changes(tmp_path: Path) -> None:
    narrowed = "CREATE TABLE orders (id INT NOT NULL, tag STRING);"
    code, output, _ = run(tmp_path, "--target", "sqlite", "--format", "sql", new=narrowed)

    assert 0 == code
    assert 'INSERT INTO "orders__new" ("id", "tag")\nSELECT\n' in output
    assert "-- at risk: : indexes, defaults, triggers" not in output
    assert "stay with the old table [attributes-dropped]\nPRAGMA legacy_alter_table = ON;" in output


def test_a_report_names_the_data_at_risk(tmp_path: Path) -> None:
    code, output, _ = run(tmp_path)

    assert 0 == code
    assert "at risk: tag: the rows have it [field-dropped]" in output


def test_steps_that_rewrite_tell_how_many_rows(tmp_path: Path) -> None:
    narrowed = "CREATE TABLE orders (id INT NOT NULL, tag STRING);"
    options = ("--target", "postgres", "--rows", "orders=336776")
    code, output, _ = run(tmp_path, *options, new=narrowed)

    assert 0 == code
    assert "rewrites 336,776 rows" in output


def test_steps_and_both_definitions_as_html(tmp_path: Path) -> None:
    options = ("--target", "postgres", "--rename", "orders.tag=label", "--format", "html")
    code, output, _ = run(tmp_path, *options)
    result = read_page(output)

    assert 0 == code
    assert 'ALTER TABLE "orders" RENAME COLUMN "tag" TO "label"' in result.cells
    place = result.cells.index("renamed")
    assert ["tag STRING", "label STRING"] == result.cells[place + 1 : place + 3]


def test_plans_as_json(tmp_path: Path) -> None:
    code, output, _ = run(tmp_path, "--format", "json")
    plans = json.loads(output)["plans"]

    assert 0 == code
    assert ["default_catalog.default_database.orders"] == list(plans)


@pytest.mark.parametrize(
    ("options", "new"),
    [
        (("--rename", "tag"), NEW),
        (("--rename", "x.tag=y"), NEW),
        (("--rows", "orders=-1"), NEW),
        (("--rows", "x=1"), NEW),
        ((), "CREATE TABLE ("),
    ],
)
def test_wrong_input_ends_with_2(tmp_path: Path, options: tuple[str, ...], new: str) -> None:
    assert 2 == run(tmp_path, *options, new=new)[0]
