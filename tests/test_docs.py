"""Every ```python block of the documentation runs, and every ```sql block is parsed.

The blocks of a page share one namespace.

A block with `>>>` is a doctest, any other is executed; names of earlier blocks stay.
```python no-run marks blocks that cannot run here (a cluster, a password), and only those.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from docs import generate
from schema_core import SchemaCoreError
from schema_core.sql.parser import parse_statements

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
BLOCK = re.compile(r"^( *)```(python|sql) *\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)")


def blocks(page: Path, language: str = "python") -> list[tuple[int, str]]:
    """Line and text of each block of a language, without the indentation of a list item."""
    text = page.read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, block.start(3)), re.sub(rf"(?m)^{block[1]}", "", block[3]))
        for block in BLOCK.finditer(text)
        if block[2] == language
    ]


def source_of(page: Path) -> str:
    """Return the blocks of a page as one module, without the examples of errors and the outputs."""
    parts: list[str] = []
    for _, code in blocks(page):
        examples = doctest.DocTestParser().get_examples(code) if ">>>" in code else []
        parts += [example.source for example in examples if example.exc_msg is None]
        parts += [] if ">>>" in code else [code]
    return "\n".join(parts)


#: Pages whose examples start Spark.
ON_SPARK = frozenset({
    "README.md", "docs/connectors-and-formats.md", "docs/environment.md",
    "docs/how-to/change-data.md", "docs/how-to/delta.md",
    "docs/how-to/files.md", "docs/how-to/iceberg.md",
    "docs/how-to/messy-csv.md", "docs/how-to/notebooks.md",
    "docs/how-to/partitions.md", "docs/how-to/row-patterns.md",
    "docs/how-to/process-table-functions.md",
    "docs/index.md", "docs/jobs.md",
    "docs/migration-rows.md",
    "docs/how-to/materialized-tables.md",
    "docs/plans.md", "docs/pyflink.md", "docs/streaming.md", "docs/streaming-queries.md",
    "docs/changes.md", "docs/sweep.md",
    "docs/tutorials/pyflink-job.md",
})  # fmt: skip


def run_doctest(code: str, names: dict[str, object], page: Path, line: int) -> list[str]:
    """The reports of the examples that print something else."""
    test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
    reports: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=reports.append, clear_globs=False)
    names.update(test.globs)
    return reports


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    if str(page.relative_to(ROOT)) in ON_SPARK:
        request.getfixturevalue("spark")
    names: dict[str, object] = {"__name__": "__example__"}
    reports: list[str] = []
    for line, code in blocks(page):
        if ">>>" in code:
            reports += run_doctest(code, names, page, line)
        else:
            exec(compile("\n" * line + code, str(page), "exec"), names)

    assert not reports, "\n".join(reports)


def test_statements_are_parsed() -> None:
    for page in PAGES:
        for line, statements in blocks(page, "sql"):
            try:
                parse_statements(statements)
            except SchemaCoreError as error:
                pytest.fail(f"{page.relative_to(ROOT)}, block at line {line}: {error}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_generated_parts_are_up_to_date(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert generate.written(text) == text, "run: python docs/generate.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_are_not_broken(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))

    assert [] == [target for target in targets if not (page.parent / target).exists()]


def test_the_readme_links_every_page() -> None:
    linked = {
        (ROOT / match_).resolve() for match_ in LINK.findall((ROOT / "README.md").read_text())
    }

    assert [] == [page for page in sorted((ROOT / "docs").glob("*.md")) if page not in linked]


def test_codes_of_the_troubleshooting_page_have_pages() -> None:
    text = (ROOT / "docs" / "how-to" / "troubleshooting.md").read_text(encoding="utf-8")
    cells = [line.split("|")[2] for line in text.splitlines() if line.startswith("| ")]
    codes = [code for cell in cells for code in re.findall(r"`([a-z-]+)`", cell)]
    pages = ROOT / "schema_core" / "errors" / "codes"

    assert len(codes) > 20
    assert [] == [code for code in codes if not (pages / f"{code}.md").exists()]
