"""Options: what a key may hold, read from text; which values must never be shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from schema_core.environment.option_values import boolean, choice, duration, integer
from schema_core.errors import SchemaError, at, similar
from schema_core.secrets import NO_KEYS, has_credentials, is_secret, mask

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ConfigOption(Generic[Value]):
    """A key, how its text is read, what holds when it is not given, and what it means.

    `fallback` keys are understood as well, and so are `former` ones, which are deprecated: whoever
    uses one is told the key of today. `is_map` says that ``key.*`` belongs to it as well. The value
    of a `secret` option is masked where an environment shows the options, and in errors.

    >>> HEADER = ConfigOption("csv.skip-lines", integer, 0, "lines to pass over")
    >>> HEADER.of({"csv.skip-lines": "1"}), HEADER.of({})
    (1, 0)
    """

    key: str
    read: Callable[[str], Value]
    default: Value | None = None
    description: str = ""
    required: bool = False
    former: tuple[str, ...] = ()
    is_map: bool = False
    fallback: tuple[str, ...] = ()
    secret: bool = False

    def keys(self) -> tuple[str, ...]:
        """All keys that are understood, that of today first."""
        return (self.key, *self.fallback, *self.former)

    def of(self, options: Mapping[str, str]) -> Value | None:
        """The value among these options, or the default.

        Raises:
            SchemaError: with the code of the reader, when the text cannot be read.
        """
        for key in self.keys():
            if key in options:
                with at(f"option {key!r}"):
                    return self._read(key, options[key])
        return self.default

    def _read(self, key: str, text: str) -> Value:
        if not (self.secret or is_secret(key) or has_credentials(text)):
            return self.read(text)
        try:
            return self.read(text)
        except SchemaError as error:
            raise SchemaError("the value cannot be read", code=error.code) from None


def masked(options: Mapping[str, str], declared: AbstractSet[str] = NO_KEYS) -> dict[str, str]:
    """Return the options sorted by key, their secrets masked; `declared` as in `is_secret`.

    >>> masked({"password": "p", "connector": "x"})
    {'connector': 'x', 'password': '******'}
    """
    return mask({key: options[key] for key in sorted(options)}, declared)


def time_zone(text: str) -> str:
    """UTC, an offset such as ``GMT-08:00``, or a name of the time zone database.

    Raises:
        SchemaError: with code `invalid-option-value` for anything else.

    >>> time_zone("Europe/Berlin"), time_zone("GMT+01:30")
    ('Europe/Berlin', 'GMT+01:30')
    """
    from zoneinfo import available_timezones

    if re.fullmatch(r"UTC|GMT[+-](0?[0-9]|1[0-8]):[0-5][0-9]", text):
        return text
    if text not in available_timezones():
        raise SchemaError(
            f"there is no time zone {text!r}",
            code="invalid-option-value",
            hint=similar(text, available_timezones()) or "write a name such as Europe/Berlin",
        )
    return text


# --- the options of an environment -----------------------------------------------------------

#: Every option that an environment reads.
RUNTIME_MODE = ConfigOption(
    "execution.runtime-mode",
    choice("STREAMING", "BATCH"),
    "STREAMING",
    "whether time attributes are tracked; fixed when the environment is created",
)
BUILT_IN_CATALOG = ConfigOption(
    "table.builtin-catalog-name",
    str,
    "default_catalog",
    "the catalog that is there from the start",
)
BUILT_IN_DATABASE = ConfigOption(
    "table.builtin-database-name",
    str,
    "default_database",
    "the database that is there from the start",
)
PLANNER = ConfigOption(
    "table.planner", str, "spark", "the identifier of the planner that runs jobs"
)
LOCAL_TIME_ZONE = ConfigOption(
    "table.local-time-zone", time_zone, "UTC", "the time zone of the session"
)
ATOMICITY = ConfigOption(
    "table.rtas-ctas.atomicity-enabled",
    boolean,
    False,
    "whether CREATE TABLE AS leaves nothing behind when its job fails",
    former=("table.ctas.atomicity-enabled",),
)
DYNAMIC_OPTIONS = ConfigOption(
    "table.dynamic-table-options.enabled",
    boolean,
    True,
    "whether OPTIONS hints may change the options of a table for one statement",
)
SHADOWING = ConfigOption(
    "table.temporary-objects.shadowing",
    choice("ALLOW", "DENY"),
    "ALLOW",
    "whether a temporary object may lie where it hides another (FLIP-64), or is refused",
)

MAX_CODE_LENGTH = ConfigOption(
    "table.generated-code.max-length",
    integer,
    4000,
    "how long generated code may be; kept for PyFlink, the engines here generate none",
)
STATE_RETENTION = ConfigOption(
    "table.exec.state.ttl",
    duration,
    timedelta(0),
    "how long state is kept; 0 for ever",
)

ENVIRONMENT: tuple[ConfigOption[Any], ...] = (
    RUNTIME_MODE,
    BUILT_IN_CATALOG,
    BUILT_IN_DATABASE,
    PLANNER,
    LOCAL_TIME_ZONE,
    ATOMICITY,
    SHADOWING,
    MAX_CODE_LENGTH,
    STATE_RETENTION,
)
