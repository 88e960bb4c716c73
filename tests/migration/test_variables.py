"""Variables of scripts: every character outside of a value is located where it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema_core.base.text import Span
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.migration import MigrationFile
from schema_core.migration.files.variables import FilledScript

VALUES = {"a": "", "b": "it's", "c": "${a}"}
PARTS = st.sampled_from(
    ["${a}", "${b}", "${c}", "$${a}", "'", "x", " ", "\n", "$", "--", "/*", "*/", "`"]
)


@given(st.lists(PARTS, max_size=12))
def test_characters_outside_of_values_are_located_exactly(parts: list[str]) -> None:
    script = FilledScript.fill("".join(parts), VALUES, "it")
    inside = {
        position for filled, _ in script.replaced for position in range(filled.start, filled.stop)
    }
    for position in {*range(len(script.text))} - inside:
        span = script.locate(Span(position, position + 1))
        assert script.text[position] == script.source[span.start : span.stop]
    for filled, source in script.replaced:
        assert source == script.locate(filled) or filled.start == filled.stop


def test_values_are_quoted_in_literals_only() -> None:
    script = FilledScript.fill("'${b}' ${b} $${b}", VALUES, "it")

    assert "'it''s' it's ${b}" == script.text


@pytest.mark.parametrize(
    "start", ["-- don't\n", "// don't\n", "/* don't */ ", "`don't` ", "/*+ OPTIONS('a' = 'b') */ "]
)
def test_a_quote_outside_of_literals_does_not_begin_one(start: str) -> None:
    script = FilledScript.fill(f"{start}'${{b}}'", VALUES, "it")

    assert f"{start}'it''s'" == script.text


def test_values_in_comments_and_hints_are_replaced() -> None:
    script = FilledScript.fill("-- ${b}\n/*+ OPTIONS('a' = '${b}') */", VALUES, "it")

    assert "-- it's\n/*+ OPTIONS('a' = 'it''s') */" == script.text


def test_an_error_shows_the_variable_and_not_its_value() -> None:
    script = FilledScript.fill("SET ('password' = '${p}') FROB", {"p": "hunter2"}, "it")
    span = Span(len(script.text) - 4, len(script.text))

    with pytest.raises(SchemaError) as caught, script.locating("0001_a.sql"):
        raise SchemaError("unexpected FROB", span=span, text=script.text)

    (diagnostic,) = caught.value.diagnostics
    assert ("0001_a.sql", 1, 27) == (diagnostic.file, diagnostic.line, diagnostic.column)
    assert "hunter2" not in str(caught.value)


def test_a_missing_variable_is_located() -> None:
    file = MigrationFile.parse("0001_a", "-- up\nDROP TABLE t;\nDROP TABLE ${table};")

    with pytest.raises(SchemaCoreError) as caught:
        file.fill_script("up", {})

    (diagnostic,) = caught.value.diagnostics
    assert ("variable-not-found", 3, 12) == (
        diagnostic.code, diagnostic.line, diagnostic.column,
    )  # fmt: skip
