"""The contract itself: it accepts a minimal correct catalog and rejects every incorrect one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from schema_core.catalog.api import Catalog
from schema_core.testing import CatalogContract
from schema_core.testing.catalog_contract import RULES
from tests.catalog.incorrect_catalogs import WRONG
from tests.catalog.toy_catalog import ToyCatalog

ROOT = Path(__file__).parents[2]

#: Runs every incorrect catalog until its first failed check, and prints that check.
RUN = """
import sys, pytest
from schema_core.catalog.stores.memory import InMemoryCatalog
from tests.catalog.incorrect_catalogs import WRONG

class Noted:
    def __init__(self): self.failed = None
    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed = report.nodeid.rsplit("::", 1)[1]
            names_ability = "ability: Ca" in report.longreprtext
            self.failed += "" if names_ability else " names no ability"

for wrong in WRONG:
    noted = Noted()
    place = f"{sys.argv[1]}::Test{wrong.__name__}"
    options = ["-x", "-q", "--no-header", "--no-summary", "-p", "no:cacheprovider"]
    pytest.main([*options, "-c", sys.argv[2], place], plugins=[noted])
    print(f"noticed {wrong.__name__} {noted.failed}")
"""


class TestToyCatalog(CatalogContract):
    unresolved = "refused"

    def make_catalog(self, directory: Path) -> Catalog:
        return ToyCatalog()


@pytest.fixture(scope="module")
def noticed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Wrong catalog -> the first check that it failed."""
    file = tmp_path_factory.mktemp("wrong") / "test_wrong.py"
    lines = [
        "from schema_core.testing import CatalogContract",
        "from schema_core.catalog.stores.memory import InMemoryCatalog",
        "from tests.catalog import incorrect_catalogs as wrong",
    ]
    for item in WRONG:
        arguments = "" if issubclass(item, ToyCatalog) else "'mine'"
        lines += [
            f"class Test{item.__name__}(CatalogContract):",
            *(["    unresolved = 'refused'"] if issubclass(item, ToyCatalog) else []),
            "    def make_catalog(self, directory):",
            f"        return wrong.{item.__name__}({arguments})",
        ]
    file.write_text("\n".join(lines))
    command = [sys.executable, "-c", RUN, str(file), str(ROOT / "pyproject.toml")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    result = [line.split(" ", 2)[1:] for line in done.stdout.splitlines() if "noticed " in line]
    return dict(result)


def test_every_test_has_a_rule() -> None:
    assert RULES.keys() == {name for name in dir(CatalogContract) if name.startswith("test_")}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [item.__name__ for item in WRONG])
def test_contract_fails_for_an_incorrect_catalog(noticed: dict[str, str], wrong: str) -> None:
    assert noticed[wrong].startswith("test_")
    assert not noticed[wrong].endswith("names no ability")
