"""The page of abilities has every class of the interface of connectors, and no other."""

from __future__ import annotations

import re

from schema_core import connectors
from tests.test_layers import ROOT


def test_the_page_has_every_ability() -> None:
    text = (ROOT / "docs" / "connector-abilities.md").read_text(encoding="utf-8")
    own = {
        name
        for line in text.splitlines()
        if line.startswith("|")
        for name in re.findall(r"\bSupports\w+", line.split("|")[3])
    }

    assert own == {name for name in dir(connectors) if name.startswith("Supports")}
