"""The project that ``schema-core init`` writes works: its whole life, in a shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_tutorials import run

pytestmark = pytest.mark.slow

WALK = """
set -ex
schema-core init .
schema-core check tables/*.sql
schema-core migrate autogenerate create_orders --from tables
schema-core migrate upgrade
sed -i 's/  amount DECIMAL(12, 2),/&\\n  note STRING,/' tables/orders.sql
schema-core migrate autogenerate add_note --from tables
schema-core migrate lint
schema-core migrate check --from tables
schema-core migrate upgrade --dry-run
schema-core migrate upgrade
schema-core migrate autogenerate more --from tables
schema-core migrate drift
schema-core migrate downgrade -1
schema-core migrate history
echo finished
"""


def test_the_project_is_usable_as_it_is_written(tmp_path: Path) -> None:
    output = run(f"({WALK}) 2>&1", tmp_path)

    assert output.endswith("finished\n"), output
    first, second = (
        (tmp_path / "migrations" / name).read_text()
        for name in ("0001_create_orders.sql", "0002_add_note.sql")
    )
    assert "'path' = '${data}/orders'" in first
    assert "ADD note STRING" in second
    assert "data" not in second
    assert "nothing to do" in output
    assert output.splitlines()[-5].startswith("applied ")
    assert output.splitlines()[-4].startswith("undone ")
    assert output.splitlines()[-3].startswith("pending ")
