"""Test utilities for implementors: the catalog contract, and hypothesis strategies.

The contract needs pytest, the strategies need hypothesis: ``pip install 'schema-core[testing]'``.
Without hypothesis only the contract is available.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from schema_core.extras import require_modules

if TYPE_CHECKING:
    from schema_core.testing.catalog_contract import CatalogContract

if TYPE_CHECKING or find_spec("hypothesis"):
    from schema_core.testing.expressions import COLUMNS, expressions
    from schema_core.testing.strategies import (
        atomic_types,
        has_values,
        names,
        paths,
        schemas,
        types,
        values,
    )

__all__ = [
    "COLUMNS",
    "CatalogContract",
    "atomic_types",
    "expressions",
    "has_values",
    "names",
    "paths",
    "schemas",
    "types",
    "values",
]


def __getattr__(name: str) -> Any:
    """Load the contract at first use (PEP 562): it imports pytest.

    Raises:
        NotFoundError: with code `missing-extra` for a name whose package is not installed.
    """
    if name not in __all__:
        raise AttributeError(f"module 'schema_core.testing' has no attribute {name!r}")
    require_modules("pytest" if name == "CatalogContract" else "hypothesis")
    from schema_core.testing.catalog_contract import CatalogContract  # imports pytest

    return CatalogContract
