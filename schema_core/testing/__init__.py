"""For those who build on the library: hypothesis strategies to draw its values from.

Everything here needs hypothesis, which the library itself does not.
"""

from schema_core.testing.expressions import COLUMNS, expressions
from schema_core.testing.schemas import schemas
from schema_core.testing.strategies import atomic_types, names, paths, types
from schema_core.testing.values import has_values, values

__all__ = [
    "COLUMNS",
    "atomic_types",
    "expressions",
    "has_values",
    "names",
    "paths",
    "schemas",
    "types",
    "values",
]
