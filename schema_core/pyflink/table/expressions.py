"""The names of `pyflink.table.expressions`."""

from schema_core.expressions import *
from schema_core.expressions import __all__  # noqa: F401 - the same names
