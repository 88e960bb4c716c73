"""`EnvironmentSettings`: the mode, catalog names and options of a new environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from schema_core.catalog.catalog_store import CatalogStore
from schema_core.environment.config import Configuration
from schema_core.environment.options import (
    BUILT_IN_CATALOG,
    BUILT_IN_DATABASE,
    RUNTIME_MODE,
    ConfigOption,
)
from schema_core.secrets import mask


@dataclass(frozen=True, slots=True)
class EnvironmentSettings:
    """The settings of a new environment, created by a builder or for one of the two modes.

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

    configuration: Mapping[str, str] = field(default_factory=dict)
    catalog_store: CatalogStore | None = None

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
        return RUNTIME_MODE.of(self.configuration) == "STREAMING"

    def get_built_in_catalog_name(self) -> str:
        return BUILT_IN_CATALOG.of(self.configuration) or ""

    def get_built_in_database_name(self) -> str:
        return BUILT_IN_DATABASE.of(self.configuration) or ""

    def get_configuration(self) -> Configuration:
        return Configuration(self.configuration)


class EnvironmentSettingsBuilder:
    """Builder of `EnvironmentSettings`; every method returns the builder."""

    def __init__(self) -> None:
        self._settings = EnvironmentSettings()

    def _set(self, option: ConfigOption[str], value: str) -> EnvironmentSettingsBuilder:
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
        return self._set(RUNTIME_MODE, "BATCH")

    def in_streaming_mode(self) -> EnvironmentSettingsBuilder:
        return self._set(RUNTIME_MODE, "STREAMING")

    def with_built_in_catalog_name(self, built_in_catalog_name: str) -> EnvironmentSettingsBuilder:
        """Set the name of the initial catalog."""
        return self._set(BUILT_IN_CATALOG, built_in_catalog_name)

    def with_built_in_database_name(
        self, built_in_database_name: str
    ) -> EnvironmentSettingsBuilder:
        """Set the name of the initial database."""
        return self._set(BUILT_IN_DATABASE, built_in_database_name)

    def with_catalog_store(self, catalog_store: CatalogStore) -> EnvironmentSettingsBuilder:
        """Set the store of catalog descriptors."""
        self._settings = replace(self._settings, catalog_store=catalog_store)
        return self

    def build(self) -> EnvironmentSettings:
        """Return the settings.

        Raises:
            SchemaError: with code `invalid-option-value` for a mode that does not exist.
        """
        self._settings.is_streaming_mode()
        return self._settings
