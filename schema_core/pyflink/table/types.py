"""The names of `pyflink.table.types`."""

from schema_core.pyflink.absent import refuse_absent
from schema_core.types import *
from schema_core.types import __all__  # noqa: F401 - the same names

refuse_absent(__name__)
