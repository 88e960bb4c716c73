"""``schema-core explain`` and what all commands share: input, output, version."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from schema_core.cli import GOOD, UNREADABLE, WRONG
from schema_core.cli.app import application
from schema_core.errors.codes import codes, page, summary

TABLE = "CREATE TABLE t (id INT, b AS id + 1, PRIMARY KEY (id) NOT ENFORCED)"


def invoke(*arguments: str, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(application(), list(arguments), input=given)


def command(arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Return the command as run by a shell, with redirections."""
    program = f"'{sys.executable}' -m schema_core.cli {arguments}"
    return subprocess.run(
        ["/bin/sh", "-c", program], input=given, capture_output=True, text=True, check=False
    )


# --- explain -------------------------------------------------------------------------------------


def test_the_page_of_a_code_is_printed() -> None:
    result = invoke("explain", "duplicate-column")

    assert (GOOD, page("duplicate-column")) == (result.exit_code, result.output)


def test_all_codes_are_listed_with_their_titles() -> None:
    result = invoke("explain")

    assert GOOD == result.exit_code
    assert [f"{code}: {summary(code)}" for code in codes()] == result.output.splitlines()


def test_an_unknown_code_suggests_a_similar_one() -> None:
    result = invoke("explain", "duplicate-colum")

    assert UNREADABLE == result.exit_code
    assert "there is no code 'duplicate-colum'" in result.output
    assert "did you mean 'duplicate-column'?" in result.output


def test_errors_name_the_command_that_explains_them(tmp_path: Path) -> None:
    one, two = tmp_path / "one.sql", tmp_path / "two.sql"
    one.write_text("SELECT 1, FROM t")
    two.write_text("SELECT 1, FROM t; SELECT UPER('x')")

    assert "schema-core explain syntax" in invoke("resolve", str(one)).output
    assert "schema-core explain CODE" in invoke("resolve", str(two)).output


# --- resolve -------------------------------------------------------------------------------------


def test_resolve_explains_the_origin_of_types() -> None:
    result = invoke("resolve", "--explain", "-", given=TABLE)

    assert GOOD == result.exit_code
    assert "promoted: to NOT NULL, by the primary key `PK_id`" in result.output
    assert "comes from: `id`" in result.output


def test_resolve_draws_the_lineage_of_columns() -> None:
    result = invoke("resolve", "--mermaid", "-", given=TABLE)

    assert GOOD == result.exit_code
    assert ["flowchart LR", "    c0 --> c1"] == [
        line for line in result.output.splitlines() if line in ("flowchart LR", "    c0 --> c1")
    ]


# --- input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["resolve", "run"])
@pytest.mark.parametrize("text", ["", " \n\t", "\ufeff"])
def test_an_empty_script_is_reported(name: str, text: str) -> None:
    result = invoke(name, "-", given=text.encode())

    assert UNREADABLE == result.exit_code
    assert "cannot read <stdin>: it is empty" in result.output


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (TABLE.encode("utf-16"), "it is UTF-16 text"),
        (b"SELECT '\xff'", "it is not UTF-8 text"),
    ],
)
def test_text_in_another_encoding_is_refused(content: bytes, reason: str) -> None:
    result = invoke("resolve", "-", given=content)

    assert UNREADABLE == result.exit_code
    assert reason in result.output


def test_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "marked.sql"
    path.write_bytes(b"\xef\xbb\xbf" + b"SELECT 1, FROM t")

    assert f"{path}:1:11: error[syntax]" in invoke("resolve", str(path)).output


def test_variables_are_substituted() -> None:
    text = "CREATE TABLE t (a INT) WITH ('path' = '${folder}/${rest}'); SHOW CREATE TABLE ${t}"

    assert GOOD == invoke("resolve", "-D", "t=t", "-", given=text).exit_code
    assert WRONG == invoke("resolve", "-", given=text).exit_code
    assert UNREADABLE == invoke("resolve", "-D", "t", "-", given=text).exit_code


# --- output --------------------------------------------------------------------------------------


def test_version_is_printed() -> None:
    result = invoke("--version")

    assert (GOOD, "schema-core") == (result.exit_code, result.output.split()[0])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_is_reported_in_one_line() -> None:
    result = command("explain > /dev/full")

    assert UNREADABLE == result.returncode
    assert ["schema-core: cannot write to stdout: No space left on device"] == (
        result.stderr.splitlines()
    )


@pytest.mark.parametrize(
    ("redirection", "code", "expected"),
    [
        (">&-", UNREADABLE, ["schema-core: cannot write to stdout: it is closed"]),
        ("<&-", UNREADABLE, ["schema-core: cannot read <stdin>: it is closed"]),
        ("| :", 0, []),
    ],
)
def test_closed_streams_are_reported_in_one_line(
    redirection: str, code: int, expected: list[str]
) -> None:
    result = command(f"resolve - {redirection}", given=TABLE * 2_000)

    assert (code, expected) == (result.returncode, result.stderr.splitlines())


def test_control_characters_are_escaped() -> None:
    right = "CREATE TABLE t (`a\x1b[31m` INT, `\u202e` AS 1)"
    wrong = "CREATE TABLE t (`a\x1b[31m` NOPE, b AS `x\x1b[2J`)"
    for options in ((), ("--explain",), ("--mermaid",)):
        result = invoke("resolve", *options, "-", given=right)

        assert GOOD == result.exit_code
        assert not {"\x1b", "\u202e"} & set(result.output)
    result = invoke("resolve", "-", given=wrong)

    assert WRONG == result.exit_code
    assert "\x1b" not in result.output


def test_unencodable_characters_are_escaped() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "schema_core.cli", "resolve", "-"],
        input="CREATE TABLE t (`preis\u20ac` INT)".encode(),
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )

    assert (GOOD, True) == (result.returncode, rb"`preis\u20ac` INT" in result.stdout)
