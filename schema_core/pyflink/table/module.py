"""Modules of functions, by the name of `pyflink.table.module`."""

from __future__ import annotations

from schema_core.environment.modules import Module, ModuleEntry

__all__ = ["Module", "ModuleEntry"]
