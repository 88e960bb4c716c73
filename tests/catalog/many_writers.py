"""The contract of catalogs with as many writers as the documentation promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from schema_core.catalog.api import Catalog
from schema_core.testing import CatalogContract


class ManyWriters(CatalogContract):
    """A contract whose writers are 8, with 15 statements for each kind of object."""

    @pytest.mark.slow
    def test_no_statement_of_many_writers_is_lost(self, populated: Catalog, tmp_path: Path) -> None:
        self.writers, self.turns = 8, 15
        self.test_no_statement_is_lost(populated, tmp_path)
