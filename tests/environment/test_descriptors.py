"""Table descriptors: calls that their builder refuses."""

from __future__ import annotations

import pytest

from schema_core import TableDescriptor
from schema_core.errors import SchemaCoreError


@pytest.mark.parametrize("how", ["distributed_by_hash", "distributed_by_range", "distributed_by"])
def test_distribution_requires_at_least_one_key(how: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        getattr(TableDescriptor.for_connector("x"), how)((), 4)
    assert "invalid-constraint" == caught.value.code

    into = TableDescriptor.for_connector("x").distributed_into(4).build()
    assert "DISTRIBUTED INTO 4 BUCKETS" in str(into)
