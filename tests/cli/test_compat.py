"""``schema-core compat``: verdicts, outputs, acceptances and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from schema_core.cli.app import application

ORDERS = "CREATE TABLE orders (\n  id BIGINT NOT NULL,\n  tag STRING\n) WITH ('connector' = 'x');\n"
CHANGED = "CREATE TABLE orders (\n  id INT NOT NULL,\n  tag STRING\n) WITH ('connector' = 'x');\n"
ACCEPT = """
[[accept]]
kind = "type-changed"
table = "default_catalog.default_database.orders"
path = "id"
reason = "all ids are small"
until = 2999-01-01
"""


def run(folder: Path, old: str, new: str, *options: str) -> tuple[int, str]:
    for name, text in (("old.sql", old), ("new.sql", new)):
        (folder / name).write_text(text)
    result = CliRunner().invoke(
        application(), ["compat", str(folder / "old.sql"), str(folder / "new.sql"), *options]
    )
    return result.exit_code, result.output


def test_tables_that_did_not_change_are_compatible(tmp_path: Path) -> None:
    code, output = run(tmp_path, ORDERS, ORDERS, "--mode", "FULL")

    assert (0, "default_catalog.default_database.orders: compatible (FULL, flink)\n") == (
        code,
        output,
    )


def test_an_incompatible_table_ends_with_1(tmp_path: Path) -> None:
    code, output = run(tmp_path, ORDERS, CHANGED, "--rules", "avro")

    assert 1 == code
    assert "error: id: avro does not read BIGINT NOT NULL as INT NOT NULL" in output


def test_an_accepted_break_is_compatible(tmp_path: Path) -> None:
    accept = tmp_path / "accept.toml"
    accept.write_text(ACCEPT)

    code, output = run(tmp_path, ORDERS, CHANGED, "--accept", str(accept))

    assert 0 == code
    assert "(accepted: all ids are small)" in output
    accept.write_text(ACCEPT.replace(".orders", ".others"))
    assert 1 == run(tmp_path, ORDERS, CHANGED, "--accept", str(accept))[0]


def test_json_and_annotations_have_the_line_of_the_column(tmp_path: Path) -> None:
    code, output = run(tmp_path, ORDERS, CHANGED, "--format", "json")
    (result,) = json.loads(output)["tables"]["default_catalog.default_database.orders"]["findings"]

    assert (1, "type-changed", ["id"], 2) == (code, result["kind"], result["path"], result["line"])
    _, annotations = run(tmp_path, ORDERS, CHANGED, "--format", "github")
    assert annotations.startswith(
        f"::error file={tmp_path / 'new.sql'},line=2,col=3,title=type-changed::"
    )


def test_a_table_that_is_gone_concerns_old_readers(tmp_path: Path) -> None:
    other = CHANGED.replace("orders", "others")

    for mode in ("NONE", "BACKWARD", "BACKWARD_TRANSITIVE"):
        assert 0 == run(tmp_path, ORDERS, other, "--mode", mode)[0]
    code, output = run(tmp_path, ORDERS, other, "--mode", "FORWARD")
    assert 1 == code
    assert "orders: incompatible: the table was removed" in output


def test_renames_of_the_caller(tmp_path: Path) -> None:
    renamed = ORDERS.replace("tag", "label")

    code, output = run(tmp_path, ORDERS, renamed, "--rules", "spark")
    assert (0, True) == (code, "[likely-rename]" in output)
    option = ("--rename", "orders.tag=label")
    assert 1 == run(tmp_path, ORDERS, renamed, "--rules", "spark", *option)[0]
    assert 0 == run(tmp_path, ORDERS, renamed, "--rules", "iceberg", *option)[0]


def test_severities_of_the_caller(tmp_path: Path) -> None:
    assert 0 == run(tmp_path, ORDERS, CHANGED, "--severity", "type-changed=warn")[0]


def test_an_acceptance_of_all_tables_is_needed_by_one(tmp_path: Path) -> None:
    accept = tmp_path / "accept.toml"
    accept.write_text("\n".join(line for line in ACCEPT.splitlines() if "table" not in line))
    other = ORDERS.replace("orders", "others")

    code, output = run(tmp_path, ORDERS + other, CHANGED + other, "--accept", str(accept))

    assert 0 == code
    assert "not needed" not in output
    _, output = run(tmp_path, ORDERS + other, ORDERS + other, "--accept", str(accept))
    assert 2 == output.count("not needed: acceptance of type-changed")


@pytest.mark.parametrize(
    ("new", "options", "problem"),
    [
        ("CREATE TABL t (a INT)", [], "expected"),
        (CHANGED, ["--severity", "type-changed=eror"], "did you mean 'error'?"),
        (CHANGED, ["--severity", "typ-changed=warn"], "did you mean 'type-changed'?"),
        (CHANGED, ["--rename", "tag=label"], "requires TABLE.COLUMN=NEW"),
        (CHANGED, ["--rename", "order.tag=label"], "there is no table 'order'"),
        (CHANGED, ["--rename", "order.tag=label"], "did you mean 'orders'?"),
        (CHANGED, ["--rename", "orders.tga=label"], "cannot rename 'tga'"),
        (CHANGED, ["--accept", "{folder}/none.toml"], "cannot read"),
    ],
)
def test_what_cannot_be_compared_ends_with_2(
    tmp_path: Path, new: str, options: list[str], problem: str
) -> None:
    code, output = run(
        tmp_path, ORDERS, new, *(option.format(folder=tmp_path) for option in options)
    )

    assert 2 == code
    assert problem in output


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[accept]", "it is not TOML"),
        ("[accept]\ncode = 'x'", "[[accept]]"),
        ("other = 1", "[[accept]]"),
        (ACCEPT.replace("until", "untl"), "did you mean 'until'?"),
        (ACCEPT.replace("2999-01-01", "'soon'"), "requires a date 'until'"),
        (ACCEPT.replace("type-changed", "type-change"), "did you mean 'type-changed'?"),
    ],
)
def test_invalid_acceptances_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    accept = tmp_path / "accept.toml"
    accept.write_text(text)

    code, output = run(tmp_path, ORDERS, CHANGED, "--accept", str(accept))

    assert (2, True) == (code, problem in output), output
