"""The changes that a changelog contains (`pyflink.table.changelog_mode`)."""

from __future__ import annotations

from schema_core.environment.plans.changelog_mode import ChangelogMode

__all__ = ["ChangelogMode"]
