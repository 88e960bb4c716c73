"""`Configuration`, `TableConfig` and `EnvironmentSettings`: options of an environment by key."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import field, replace
from datetime import timedelta
from enum import IntEnum
from types import NoneType
from typing import Any, ClassVar, Final, TypeVar

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.base.secrets import mask
from schema_core.base.text import show
from schema_core.catalog.stores.catalog_store import CatalogStore
from schema_core.environment import options as session_options
from schema_core.environment.option_references import OptionReferences
from schema_core.errors import SchemaError

Value = TypeVar("Value")


class Configuration(MutableMapping[str, str]):
    """Options by key: a mapping with PyFlink's methods.

    >>> Configuration({"a": "1"}).set_string("b", "2").to_dict()
    {'a': '1', 'b': '2'}
    """

    def __init__(self, options: Mapping[str, str] | None = None) -> None:
        given: object = options
        if given is not None and not isinstance(given, Mapping):
            require_instance(given, Mapping, "options")
        self._options = dict(options or {})
        for key, value in self._options.items():
            require_instance(key, str, "an option's key")
            require_instance(value, str, f"option {key!r}")

    def __getitem__(self, key: str) -> str:
        return self._options[require_instance(key, str, "key")]

    def __setitem__(self, key: str, value: str) -> None:
        self.set_string(key, value)

    def __delitem__(self, key: str) -> None:
        del self._options[require_instance(key, str, "key")]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key in self._options

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    def __repr__(self) -> str:
        return f"Configuration({mask(self._options)})"

    def get_string(self, key: str, default_value: str) -> str:
        require_instance(key, str, "key")
        return self.get(key, default_value)

    def set_string(self, key: str, value: str) -> Configuration:
        """Set an option; key and value are strings (`invalid-argument`)."""
        require_instance(key, str, "key")
        require_instance(value, str, "value")
        self._options[key] = value
        return self

    def get_integer(self, key: str, default_value: int) -> int:
        """Return an option as a 32-bit integer (`invalid-option-value`)."""
        return self._parse_value(key, session_options.integer, default_value)

    def set_integer(self, key: str, value: int) -> Configuration:
        """Set an option to a 32-bit integer (`invalid-option-value`)."""
        return self.set_string(key, _integer_text(value, "value"))

    def get_boolean(self, key: str, default_value: bool) -> bool:
        """Return an option as a boolean (`invalid-option-value`)."""
        return self._parse_value(key, session_options.boolean, default_value)

    def set_boolean(self, key: str, value: bool) -> Configuration:
        """Set an option to a boolean."""
        require_instance(value, bool, "value")
        return self.set_string(key, str(value).lower())

    def get_float(self, key: str, default_value: float) -> float:
        """Return an option as a 64-bit floating point number (`invalid-option-value`)."""
        return self._parse_value(key, session_options.double, default_value)

    def set_float(self, key: str, value: float) -> Configuration:
        """Set an option to a floating point number."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            require_instance(value, float, "value")
        shown = repr(float(value)).replace("inf", "Infinity").replace("nan", "NaN")
        return self.set_string(key, shown)

    def get_bytearray(self, key: str, default_value: bytearray) -> bytearray:
        """Return an option of `set_bytearray` (`invalid-option-value` for another string)."""
        return self._parse_value(key, _bytes_of, default_value)

    def set_bytearray(self, key: str, value: bytearray) -> Configuration:
        """Set an option to bytes, which it stores as a binary scalar of YAML, as Flink does."""
        require_instance(value, (bytes, bytearray), "value")
        return self.set_string(key, f"{_BINARY}{base64.b64encode(value).decode()}")

    def _parse_value(self, key: str, parse: Callable[[str], Value], default: Value) -> Value:
        require_instance(key, str, "key")
        value = session_options.ConfigOption(key, parse).of(self._options)
        return default if value is None else value

    @classmethod
    def from_dict(cls, map: Mapping[str, str]) -> Configuration:  # noqa: A002 - PyFlink's name
        """Return a configuration with these options; errors as `add_all`."""
        return cls(require_instance(map, Mapping, "map"))

    def add_all(self, other: Mapping[str, str], prefix: str | None = None) -> Configuration:
        """Set all options of another configuration or mapping, with a prefix before each key.

        Raises:
            SchemaError: as `set_string`; `invalid-argument` unless `other` is a mapping.
        """
        require_instance(other, Mapping, "other")
        require_instance(prefix, (str, NoneType), "prefix")
        for key, value in other.items():
            self.set_string(f"{prefix or ''}{require_instance(key, str, 'key')}", value)
        return self

    def add_all_to_dict(self, target_dict: MutableMapping[str, str]) -> None:
        """Set all options in another mapping."""
        require_instance(target_dict, MutableMapping, "target_dict")
        target_dict.update(self._options)

    def key_set(self) -> set[str]:
        """Return the keys of the options."""
        return set(self._options)

    @staticmethod
    def parse_list_value(value: str) -> list[str]:
        """Return the elements of a list, ``a;b`` or ``[a, b]`` (`invalid-option-value`)."""
        return session_options.string_list(require_instance(value, str, "value"))

    def contains_key(self, key: str) -> bool:
        require_instance(key, str, "key")
        return key in self._options

    def remove_config(self, key: str) -> bool:
        """Remove an option; return whether it was set."""
        require_instance(key, str, "key")
        return self._options.pop(key, None) is not None

    def to_dict(self) -> dict[str, str]:
        return dict(self._options)


#: Key -> the option of the environment that parses the value.
_KNOWN: dict[str, session_options.ConfigOption[Any]] = {
    key: option
    for option in session_options.ENVIRONMENT
    for key in option.keys()  # noqa: SIM118 - not a mapping
}


class SqlDialect(IntEnum):
    """The SQL dialects that `TableConfig` names. Statements are Flink's, `DEFAULT`."""

    DEFAULT = 0
    HIVE = 1


class TableConfig:
    """The options of a session.

    >>> TableConfig().set("table.local-time-zone", "UTC").get("table.local-time-zone", "")
    'UTC'
    """

    def __init__(self, options: Mapping[str, str] | None = None) -> None:
        self._configuration = Configuration(options)

    @staticmethod
    def get_default() -> TableConfig:
        """Return a configuration without options."""
        return TableConfig()

    def get(self, key: str, default_value: str) -> str:
        require_instance(key, str, "key")
        return self._configuration.get(key, default_value)

    def set(self, key: str, value: str) -> TableConfig:
        """Set an option; values of known options are validated (`invalid-option-value`)."""
        require_instance(key, str, "key")
        require_instance(value, str, "value")
        if key in _KNOWN:
            _KNOWN[key].of({key: value})
        self._configuration[key] = value
        return self

    def reset(self, key: str | None = None) -> TableConfig:
        """Remove an option, or all of them; a key is a string (`invalid-argument`)."""
        require_instance(key, (str, NoneType), "key")
        for option in [key] if key is not None else list(self._configuration):
            self._configuration.remove_config(option)
        return self

    def get_local_timezone(self) -> str:
        return session_options.LOCAL_TIME_ZONE.of(self._configuration) or ""

    def set_local_timezone(self, timezone_id: str) -> None:
        """Set the time zone of the session (`invalid-option-value` for an unknown one)."""
        self.set(session_options.LOCAL_TIME_ZONE.key, timezone_id)

    def get_sql_dialect(self) -> SqlDialect:
        """Return the SQL dialect (`invalid-option-value` if the option names another)."""
        return SqlDialect[
            session_options.SQL_DIALECT.of(self._configuration) or SqlDialect.DEFAULT.name
        ]

    def set_sql_dialect(self, sql_dialect: SqlDialect) -> None:
        """Set the SQL dialect; only `DEFAULT` is supported (`invalid-option-value`)."""
        require_instance(sql_dialect, SqlDialect, "sql_dialect")
        self.set(session_options.SQL_DIALECT.key, sql_dialect.name.lower())

    # --- settings of PyFlink without effect here ---------------

    def get_max_generated_code_length(self) -> int:
        """Return the maximum length of generated code (`invalid-option-value`)."""
        return session_options.MAX_CODE_LENGTH.of(self._configuration) or 0

    def set_max_generated_code_length(self, max_generated_code_length: int) -> None:
        """Set the maximum length of generated code, a 32-bit integer (`invalid-option-value`)."""
        length = _integer_text(max_generated_code_length, "max_generated_code_length")
        self.set(session_options.MAX_CODE_LENGTH.key, length)

    def get_idle_state_retention(self) -> timedelta:
        """Return how long state is kept; 0 means indefinitely (`invalid-option-value`)."""
        return session_options.STATE_RETENTION.of(self._configuration) or timedelta(0)

    def set_idle_state_retention(self, duration: timedelta) -> None:
        """Set how long state is kept, in whole milliseconds (`invalid-argument` if negative)."""
        require_instance(duration, timedelta, "duration")
        if duration < timedelta(0):
            raise SchemaError("duration must not be negative", code="invalid-argument")
        self.set(session_options.STATE_RETENTION.key, f"{duration // timedelta(milliseconds=1)} ms")

    def get_python_executable(self) -> str:
        return self.get("python.executable", "")

    def set_python_executable(self, python_exec: str) -> None:
        """Set the Python interpreter of functions."""
        self.set("python.executable", python_exec)

    def get_configuration(self) -> Configuration:
        """Return the options; changes take effect."""
        return self._configuration

    def add_configuration(self, configuration: Mapping[str, str]) -> None:
        """Set all options of another configuration.

        Raises:
            SchemaError: as `set`; `invalid-argument` for an object that is not a mapping.
        """
        require_instance(configuration, Mapping, "configuration")
        for key, value in configuration.items():
            self.set(key, value)

    def to_map(self) -> dict[str, str]:
        return self._configuration.to_dict()


#: The begin of an option with bytes.
_BINARY: Final = "!!binary |-\n  "


def _bytes_of(text: str) -> bytearray:
    """Return the bytes of an option (`invalid-option-value`)."""
    try:
        data = base64.b64decode(text.removeprefix(_BINARY), validate=True)
    except ValueError:
        data = None
    if data is None or not text.startswith(_BINARY):
        raise session_options.invalid_value("bytes of `set_bytearray`", text)
    return bytearray(data)


def _integer_text(value: int, name: str) -> str:
    require_instance(value, int, name)
    if not -(2**31) <= value < 2**31:
        problem = f"{name} must be a 32-bit integer, got {show(value)}"
        raise SchemaError(problem, code="invalid-option-value")
    return str(value)


class EnvironmentSettingsBuilder:
    """Builder of `EnvironmentSettings`; every method returns the builder."""

    def __init__(self) -> None:
        self._settings = EnvironmentSettings()

    def _set(
        self, option: session_options.ConfigOption[str], value: str
    ) -> EnvironmentSettingsBuilder:
        return self.with_configuration({option.key: value})

    def with_configuration(
        self, config: Configuration | Mapping[str, str]
    ) -> EnvironmentSettingsBuilder:
        """Add options to those already set."""
        added = Configuration(config).to_dict()
        merged = {**self._settings.configuration, **added}
        self._settings = replace(self._settings, configuration=merged)
        return self

    def in_batch_mode(self) -> EnvironmentSettingsBuilder:
        return self._set(session_options.RUNTIME_MODE, "BATCH")

    def in_streaming_mode(self) -> EnvironmentSettingsBuilder:
        return self._set(session_options.RUNTIME_MODE, "STREAMING")

    def with_built_in_catalog_name(self, built_in_catalog_name: str) -> EnvironmentSettingsBuilder:
        """Set the name of the initial catalog."""
        return self._set(session_options.BUILT_IN_CATALOG, built_in_catalog_name)

    def with_built_in_database_name(
        self, built_in_database_name: str
    ) -> EnvironmentSettingsBuilder:
        """Set the name of the initial database."""
        return self._set(session_options.BUILT_IN_DATABASE, built_in_database_name)

    def with_catalog_store(self, catalog_store: CatalogStore) -> EnvironmentSettingsBuilder:
        """Set the store of catalog descriptors."""
        self._settings = replace(self._settings, catalog_store=catalog_store)
        return self

    def build(self) -> EnvironmentSettings:
        """Return the settings (`invalid-option-value` for an unknown mode)."""
        self._settings.is_streaming_mode()
        return self._settings


@dataclass(frozen=True, slots=True)
class EnvironmentSettings:
    """The settings of a new environment, from a builder or for one of the two modes.

    >>> EnvironmentSettings.in_batch_mode().is_streaming_mode()
    False
    >>> (
    ...     EnvironmentSettings.new_instance()
    ...     .with_built_in_catalog_name("lake")
    ...     .build()
    ...     .get_built_in_catalog_name()
    ... )
    'lake'
    """

    Builder: ClassVar[type[EnvironmentSettingsBuilder]] = EnvironmentSettingsBuilder

    configuration: Mapping[str, str] = field(default_factory=dict)
    catalog_store: CatalogStore | None = None
    #: what options may refer to, beside what `TableEnvironment.allow_option_references` allows
    option_references: OptionReferences | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"EnvironmentSettings({mask(self.configuration)})"

    @staticmethod
    def new_instance() -> EnvironmentSettingsBuilder:
        """Return a builder, in streaming mode by default."""
        return EnvironmentSettingsBuilder()

    @staticmethod
    def in_streaming_mode() -> EnvironmentSettings:
        """Return settings for streaming: a watermark makes its column a time attribute."""
        return EnvironmentSettingsBuilder().in_streaming_mode().build()

    @staticmethod
    def in_batch_mode() -> EnvironmentSettings:
        """Return settings for batch."""
        return EnvironmentSettingsBuilder().in_batch_mode().build()

    def is_streaming_mode(self) -> bool:
        return session_options.RUNTIME_MODE.of(self.configuration) == "STREAMING"

    def get_built_in_catalog_name(self) -> str:
        return session_options.BUILT_IN_CATALOG.of(self.configuration) or ""

    def get_built_in_database_name(self) -> str:
        return session_options.BUILT_IN_DATABASE.of(self.configuration) or ""

    def get_configuration(self) -> Configuration:
        return Configuration(self.configuration)
