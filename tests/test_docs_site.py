"""The configuration of the site: every page is reachable, and links work without a checkout.

The site is built by `make docs`, in strict mode; that takes longer than a test should.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import site_hooks, site_tables

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
CONFIGURATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))

#: Pages of the site whose sources are not below docs/.
ADDED = {*site_hooks.ADDED, *site_hooks.GENERATED}

#: A page of each section, which the README links.
SECTIONS = (
    "index.md", "concepts.md", "coming-from.md", "tutorials/index.md", "how-to/index.md",
    "environment.md", "reference/index.md", "architecture.md", "decisions/index.md",
)  # fmt: skip


def navigation() -> list[str]:
    """Return the pages of the navigation, in its order."""
    return re.findall(r"(?m)^ +- ([\w/-]+\.md)$", CONFIGURATION.partition("\nnav:\n")[2])


def test_every_page_is_in_the_navigation_once() -> None:
    assert sorted({*PAGES, *ADDED}) == sorted(navigation())


def test_a_warning_fails_the_build() -> None:
    assert "mkdocs build --strict" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert set(re.findall(r"(?m)^    \w+: (\w+)$", CONFIGURATION.partition("validation:")[2])) == {
        "warn"
    }


def test_the_readme_links_every_section() -> None:
    linked = re.findall(r"\]\(docs/([^)#]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))

    assert [] == [section for section in SECTIONS if section not in linked]


def test_every_public_module_is_in_the_reference() -> None:
    listed = (DOCS / "reference" / "pyflink-modules.md").read_text(encoding="utf-8")
    documented = {module for module, _ in site_tables.pages_of_modules()}

    assert [] == [
        module
        for module in site_tables.public_names()
        if module not in documented and f"`{module}`" not in listed
    ]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_pages(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    adapted = site_hooks.with_local_links(text, page, DOCS / page)
    result = [(DOCS / page).parent / link[2] for link in site_hooks.LINK.finditer(adapted)]

    assert [] == [
        str(target)
        for target in (link.resolve() for link in result)
        if not (target.suffix in site_hooks.PICTURES and target.is_file())
        and (target.suffix != ".md" or target.relative_to(DOCS).as_posix() not in {*PAGES, *ADDED})
    ]


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))
    headings = re.findall(r"(?m)^#+ (.*)$", text)
    return {
        re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


@pytest.mark.parametrize("page", [*PAGES, "../README.md", "../CONTRIBUTING.md"])
def test_anchors_exist(page: str) -> None:
    source = DOCS / page
    links = re.findall(r"\]\((?![a-z]+:)([^)#\s]*)#([^)\s]+)\)", source.read_text(encoding="utf-8"))

    assert [] == [
        f"{target}#{anchor}"
        for target, anchor in links
        if anchor not in anchors(source.parent / target if target else source)
    ]


@pytest.mark.parametrize("page", site_hooks.GENERATED)
def test_pages_of_the_site_have_tables(page: str) -> None:
    text = site_hooks.GENERATED[page]()

    assert text.startswith("# ")
    assert text.count("\n## ") + text.count("\n### ") > 1
    links = re.findall(r"\]\((\.\./[^)#]+\.md)(?:#([^)]+))?\)", text)
    assert [] == [
        target
        for target, anchor in links
        if page != site_hooks.ERROR_CODES
        and anchor not in {"", *anchors((DOCS / page).parent / target)}
    ]


@pytest.mark.parametrize("file", site_hooks.SHOWN_BY, ids=lambda file: file.name)
def test_data_are_shown_by_a_page(file: Path) -> None:
    assert file.exists()
    assert site_hooks.SHOWN_BY[file] in site_hooks.GENERATED


@pytest.mark.parametrize(
    ("page", "written", "expected"),
    [
        ("jobs.md", "[x](plans.md#when-it-is-executed)", "[x](plans.md#when-it-is-executed)"),
        ("benchmarks.md", "![plot](core-speed.svg)", "![plot](core-speed.svg)"),
        ("jobs.md", "[rules](../CONTRIBUTING.md)", "[rules](project/contributing.md)"),
        ("decisions/0001-strict-sql-parser.md", "[x](../jobs.md)", "[x](../jobs.md)"),
        ("jobs.md", "[lazy.py](../schema_core/base/lazy.py)", "`schema_core/base/lazy.py`"),
        (
            "jobs.md",
            "[the loader](../schema_core/base/lazy.py)",
            "the loader (`schema_core/base/lazy.py`)",
        ),
        (
            "how-to/ci.md",
            "[its page](../../schema_core/errors/codes/type-not-found.md)",
            "[its page](../reference/error-codes.md#type-not-found)",
        ),
    ],
)
def test_links_to_files_without_a_page(page: str, written: str, expected: str) -> None:
    assert expected == site_hooks.with_local_links(written, page, DOCS / page)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("- a\n  b\n\n  c", "- a\n    b\n\n    c"),
        ("1. a\n\n   b\nc\n  d", "1. a\n\n     b\nc\n  d"),
        ("```\n- a\n  b\n```", "```\n- a\n  b\n```"),
        ("- a\n\n  ```\n  b\n    c\n  ```", "- a\n\n    ```\n    b\n      c\n    ```"),
        (r"| `a \| b` | c \| d |", r"| `a | b` | c \| d |"),
    ],
)
def test_markdown_of_the_site(written: str, expected: str) -> None:
    assert expected == site_hooks.python_markdown(written)


@pytest.mark.parametrize(
    ("file", "text", "remote"),
    [
        ("page.html", '<script src="https://host/a.js"></script>', True),
        ("page.html", "<link rel=stylesheet href=//host/a.css>", True),
        ("style.css", "@font-face { src: url(https://host/a.woff) }", True),
        ("page.html", '<script src="assets/a.js"></script>', False),
        ("page.html", '<a href="https://host/page">read</a>', False),
    ],
)
def test_what_a_browser_loads_from_other_hosts(
    tmp_path: Path, file: str, text: str, remote: bool
) -> None:
    (tmp_path / file).write_text(text, encoding="utf-8")

    assert remote == bool(site_hooks.remote_references(tmp_path))
