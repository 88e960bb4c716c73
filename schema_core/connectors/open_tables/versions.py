"""Options that choose a version of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schema_core.environment.options import ConfigOption
from schema_core.errors import NotFoundError, SchemaError, UnsupportedError


def chosen_version(
    options: Mapping[str, str], versions: Sequence[ConfigOption[Any]]
) -> ConfigOption[Any] | None:
    """Return the option that chooses a version, None without one.

    Raises:
        SchemaError: with code `conflicting-options`, if there are several.
    """
    chosen = [option for option in versions if option.key in options]
    if len(chosen) > 1:
        raise SchemaError(
            f"only one of {', '.join(repr(option.key) for option in chosen)} can be set",
            code="conflicting-options",
        )
    return chosen[0] if chosen else None


def no_such_version(option: ConfigOption[Any], value: object) -> NotFoundError:
    """Return the error for a version that a table does not have."""
    return NotFoundError(
        f"the table has no version for the option {option.key!r} = {value}",
        code="not-found",
        hint="the version may have expired; read a later one",
    )


def require_no_version(
    options: Mapping[str, str], versions: Sequence[ConfigOption[Any]], start: ConfigOption[Any]
) -> None:
    """Refuse to read one version of a table as a stream (`streaming-not-supported`).

    Args:
        options: The options of the table.
        versions: Those that choose a version.
        start: The one with which a stream starts.
    """
    for option in versions:
        if option.key in options:
            raise UnsupportedError(
                f"a streaming job does not read one version, as {option.key!r} has it",
                code="streaming-not-supported",
                hint=f"remove the option, or start by {start.key!r}",
            )


def require_current_version(
    options: Mapping[str, str], versions: Sequence[ConfigOption[Any]], hint: str
) -> None:
    """Refuse to write an earlier version of a table (`unsupported-ability`)."""
    for option in versions:
        if option.key in options:
            raise UnsupportedError(
                f"a table with the option {option.key!r} is only read",
                code="unsupported-ability",
                hint=hint,
            )
