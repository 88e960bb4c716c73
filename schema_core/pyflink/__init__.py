"""PyFlink's modules by their own names: a program replaces `pyflink` by `schema_core.pyflink`.

Names that require Flink exist, too: using one raises `UnsupportedError` with a hint.
"""

from schema_core.pyflink.absent import install_finder, refuse_absent
from schema_core.pyflink.version import __version__

install_finder()
refuse_absent(__name__)

__all__ = ["__version__"]
