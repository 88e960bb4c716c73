"""Modules of functions (`pyflink.table.module`)."""

from __future__ import annotations

from schema_core.environment.modules import Module, ModuleEntry
from schema_core.pyflink.absent import refuse_absent

__all__ = ["Module", "ModuleEntry"]

refuse_absent(__name__)
