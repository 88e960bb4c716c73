"""The warning that a method has another name now."""

from __future__ import annotations

import warnings


def replaced(former: str, by: str) -> None:
    """Warn whoever called the method that has been replaced."""
    warnings.warn(f"{former} is deprecated: use {by}", DeprecationWarning, stacklevel=3)
