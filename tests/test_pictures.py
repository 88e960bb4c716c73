"""The pictures of the pages: small, used, and as the library draws them now."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from docs import draw_pictures as pictures
from tests.test_docs import PAGES, ROOT

#: The largest picture, in bytes.
LARGEST = 100_000


@pytest.mark.parametrize("name", [*(f"{page}.png" for page in pictures.PAGES), "flights.svg"])
def test_a_picture_is_small_and_shown(name: str) -> None:
    picture = pictures.DIRECTORY / name
    shown = [
        page.name
        for page in PAGES
        for target in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
        if (page.parent / target).resolve() == picture
    ]

    assert picture.stat().st_size < LARGEST
    assert 1 == len(shown), shown


def test_there_is_no_other_picture() -> None:
    assert {f"{page}.png" for page in pictures.PAGES} | {"flights.svg"} == {
        file.name for file in pictures.DIRECTORY.iterdir()
    }


def test_the_lineage_of_the_readme_is_that_of_the_demo() -> None:
    drawn = pictures.lineage_of_flights().to_svg()
    labels = {text.text for text in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")}

    assert pictures.LINEAGE.read_text(encoding="utf-8") == drawn, (
        "run: python docs/draw_pictures.py"
    )
    assert {"delays (view)", "mean_delay DECIMAL(6, 2)", "wind_speed DOUBLE"} <= labels
    assert "tailnum VARCHAR(6)" not in labels, "only a condition reads it"


def test_a_page_without_a_browser_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pictures, "LINEAGE", tmp_path / "flights.svg")
    monkeypatch.setenv("PATH", str(tmp_path))
    before = {file.name: file.stat().st_mtime_ns for file in pictures.DIRECTORY.iterdir()}

    with pytest.raises(SystemExit, match="no Chromium"):
        pictures.main()

    assert before == {file.name: file.stat().st_mtime_ns for file in pictures.DIRECTORY.iterdir()}
    assert (tmp_path / "flights.svg").is_file()
    assert ROOT in pictures.DIRECTORY.parents
