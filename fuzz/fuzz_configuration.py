"""Configuration: options are read or refused, however they are set.

A text is a configuration: one key and its value per line, with "=" between them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

from fuzz import driver
from schema_core.base.text import quote_string
from schema_core.catalog.stores.catalog_store import IN_FILES, catalog_store
from schema_core.environment.config import Configuration, EnvironmentSettings, TableConfig
from schema_core.environment.options import ENVIRONMENT, mask_options
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.environment.session import Session
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError


def getters(of: object) -> Iterator[Callable[[], Any]]:
    """The methods of an object that read one option and take no argument."""
    for name, method in inspect.getmembers(of, callable):
        if name.startswith(("get_", "is_", "to_")) and not inspect.signature(method).parameters:
            yield method


def target(text: str) -> None:
    """Set every option in each way there is, and read what was set."""
    options = dict(line.split("=", 1) for line in text.split("\n") if "=" in line)
    held = [TableConfig(options), Configuration(options), TableConfig(), settings(options)]
    for key, value in options.items():
        with suppress(SchemaCoreError):
            held[2].set(key, value)
        with suppress(SchemaCoreError):
            execute(f"SET {quote_string(key)} = {quote_string(value)}")
        with suppress(SchemaCoreError):
            execute(f"RESET {quote_string(key)}")
    for item in filter(None, held):
        repr(item)
        for getter in getters(item):
            with suppress(SchemaCoreError):
                getter()
    for option in ENVIRONMENT:
        with suppress(SchemaCoreError):
            option.of(options)
    mask_options(options)
    if not any(key.startswith(IN_FILES) for key in options):
        catalog_store(options)


def settings(options: dict[str, str]) -> Any:
    """Settings of these options, with which an environment is created; None if it is refused."""
    if any(key.startswith("table.catalog-store.") for key in options):
        return None
    with suppress(SchemaCoreError):
        result = EnvironmentSettings.new_instance().with_configuration(options).build()
        session = Session(result, DryRunPlanner())
        TableEnvironment(session).execute_sql("SHOW TABLES")
        return result
    return None


@cache
def environment() -> TableEnvironment:
    """An environment whose options change all the time."""
    return TableEnvironment(Session(EnvironmentSettings.in_batch_mode(), DryRunPlanner()))


def execute(statement: str) -> None:
    environment().execute_sql(statement)


if __name__ == "__main__":
    driver.main("configuration", target)
