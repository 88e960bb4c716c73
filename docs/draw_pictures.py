"""The pictures of the README and of the page on pictures.

    python docs/draw_pictures.py

`flights.svg` is drawn by the library and checked by a test. The others are screenshots of the pages
that the examples of how-to/pictures.md write, made with Chromium (Debian's package `chromium`).
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from string import Template

from schema_core import EnvironmentSettings, TableEnvironment, parse_statements
from schema_core.environment.lineage import Lineage, TableLineage
from schema_core.schema.resolved import ResolvedSchema
from tests.test_docs import source_of

DOCS = Path(__file__).parent
DIRECTORY = DOCS / "pictures"
LINEAGE = DIRECTORY / "flights.svg"

#: Page of an example -> the width and height of its picture.
PAGES = {"orders": (1000, 580), "changes": (1000, 620), "plan": (1000, 525), "report": (900, 585)}


def lineage_of_flights() -> Lineage:
    """Return the lineage of `delays` in the demo, without columns that it does not read."""
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    text = Template((DOCS / "examples" / "flights.sql").read_text(encoding="utf-8"))
    script = text.substitute(data="data", result="result")
    *tables, _ = parse_statements(script)
    for statement in tables:
        environment.execute_statement(statement, script)
    _, _, query = script.partition("\n) AS\n")
    environment.execute_sql(f"CREATE VIEW delays AS {query.strip().removesuffix(';')}")
    return reduced(environment.lineage("delays"))


def reduced(lineage: Lineage) -> Lineage:
    """Return the columns of the first table, and those from which they are computed."""
    pending = [
        (lineage.tables[0].identifier.as_summary_string(), name)
        for name in lineage.tables[0].schema.get_column_names()
    ]
    reached = set(pending)
    while pending:
        for path, name in lineage.reads(*pending.pop()):
            origin = (path.as_summary_string(), name)
            if origin not in reached:
                reached.add(origin)
                pending.append(origin)
    return Lineage(tuple(_reduced(table, reached) for table in lineage.tables))


def _reduced(table: TableLineage, reached: set[tuple[str, str]]) -> TableLineage:
    path = table.identifier.as_summary_string()
    kept = [
        (column, reads)
        for column, reads in zip(table.schema.columns, table.reads, strict=True)
        if (path, column.name) in reached
    ]
    schema = ResolvedSchema(tuple(column for column, _ in kept))
    return replace(table, schema=schema, reads=tuple(reads for _, reads in kept))


def screenshot(browser: str, page: Path, picture: Path, size: tuple[int, int]) -> None:
    """Make a picture of a page."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    window = f"--window-size={size[0]},{size[1]}"
    subprocess.run(
        [browser, *options, window, f"--screenshot={picture}", page.as_uri()],
        check=True,
        capture_output=True,
        timeout=120,
    )


def main() -> None:
    """Write all pictures."""
    LINEAGE.write_text(lineage_of_flights().to_svg(), encoding="utf-8")
    browser = shutil.which("chromium")
    if browser is None:
        sys.exit("no Chromium: the pictures of pages stay as they are (apt-get install chromium)")
    with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
        exec(source_of(DOCS / "how-to" / "pictures.md"), {"__name__": "__example__"})
        for name, size in PAGES.items():
            screenshot(browser, Path(directory) / f"{name}.html", DIRECTORY / f"{name}.png", size)
    for picture in sorted(DIRECTORY.iterdir()):
        print(f"{picture.name}: {picture.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
