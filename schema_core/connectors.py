"""The interface of connectors: `Connector`, its options and abilities, and its context."""

from __future__ import annotations

from schema_core.environment.connector import (
    Ability,
    Connector,
    Context,
    DynamicTableFactory,
    opened,
    require_abilities,
    using,
)
from schema_core.environment.discovery import (
    discover,
)
from schema_core.environment.options import (
    ConfigOption,
    boolean,
    choice,
    double,
    duration,
    integer,
    nanoseconds,
)

__all__ = [
    "Ability",
    "ConfigOption",
    "Connector",
    "Context",
    "DynamicTableFactory",
    "boolean",
    "choice",
    "discover",
    "double",
    "duration",
    "integer",
    "nanoseconds",
    "opened",
    "require_abilities",
    "using",
]
