"""Contracts of catalogs and connectors, and strategies, for implementors.

Contracts need pytest, strategies hypothesis (else they are absent): the extra ``testing``.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from schema_core.base.plugins import require_modules

if TYPE_CHECKING:
    from schema_core.testing.catalog_contract import CatalogContract
    from schema_core.testing.connector_contract import ConnectorContract

if TYPE_CHECKING or find_spec("hypothesis"):
    from schema_core.testing.expression_trees import COLUMNS, expressions
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
    "ConnectorContract",
    "atomic_types",
    "expressions",
    "has_values",
    "names",
    "paths",
    "schemas",
    "types",
    "values",
]


#: The modules of the contracts.
CONTRACTS = {
    "CatalogContract": ("schema_core.testing.catalog_contract",),
    "ConnectorContract": (
        "schema_core.testing.connector_contract",
        "schema_core.testing.connector_job_contract",
    ),
}


def __getattr__(name: str) -> Any:
    """Load a contract at first use (PEP 562): it imports pytest.

    `missing-dependency` for a name whose package is not installed.
    """
    if name not in __all__:
        raise AttributeError(f"module 'schema_core.testing' has no attribute {name!r}")
    require_modules("pytest" if name in CONTRACTS else "hypothesis")
    import pytest

    # a failed `assert` of a contract shows its values, as in a test module
    modules = CONTRACTS[name]
    pytest.register_assert_rewrite(*modules)
    return getattr(import_module(modules[0]), name)
