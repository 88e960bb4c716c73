"""The recipes of docs/architecture.md: files that they name exist, and they are sufficient."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
RECIPES = re.search(r"\n## Where does this line live\?\n(.*?)\n## ", PAGE, re.DOTALL)
#: A path in a recipe: of the package or of the project, with <...> for a name to choose.
PATH = re.compile(r"`((?:[\w<>*.-]+/)+[\w<>*.-]*|[\w<>-]+\.(?:py|md|toml|txt|cases))`")


def paths() -> list[str]:
    assert RECIPES is not None
    return sorted(set(PATH.findall(RECIPES[1])))


def test_the_recipes_cover_common_extensions() -> None:
    assert RECIPES is not None
    for what in ("function", "type", "statement", "connector", "catalog", "engine"):
        assert re.search(rf"^\| add an? (?:SQL )?{what}\b", RECIPES[1], re.MULTILINE), what


@pytest.mark.parametrize("path", paths())
def test_files_of_recipes_exist(path: str) -> None:
    pattern = re.sub(r"<[^>]*>", "*", path).rstrip("/")

    assert [*ROOT.glob(pattern), *(ROOT / "schema_core").glob(pattern)], path


def run(package: Path, query: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "tests" / "recipe_program.py"), query],
        env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def add_row(module: Path, row: str, name: str) -> None:
    """Repeat the row of a table for another name."""
    text = module.read_text(encoding="utf-8")
    (found,) = re.findall(rf"^ +.*\"{row}\".*\n", text, re.MULTILINE)
    module.write_text(text.replace(found, found + found.replace(row, name)), encoding="utf-8")


def test_a_function_is_a_signature_and_a_translation_rule(tmp_path: Path) -> None:
    """Both rows are those of REVERSE, under another name."""
    shutil.copytree(ROOT / "schema_core", tmp_path / "schema_core")
    core, query = tmp_path / "schema_core", "SELECT TOY_REVERSE('abc') AS x"

    before = run(tmp_path, query)
    assert before.returncode == 1
    assert "there is no function 'TOY_REVERSE'" in before.stderr

    add_row(core / "expressions" / "functions" / "strings.py", "REVERSE", "TOY_REVERSE")
    typed = run(tmp_path, query)
    assert typed.stdout.splitlines() == ["VARCHAR(2147483647)"], typed.stderr
    assert typed.returncode == 1
    assert "UnsupportedError" in typed.stderr

    add_row(core / "spark" / "compiler" / "functions" / "strings.py", "REVERSE", "TOY_REVERSE")
    compiled = run(tmp_path, query)
    assert compiled.returncode == 0, compiled.stderr
    assert "reverse(" in compiled.stdout
