"""What a table's `connector` option names: which options and metadata it knows, read or write.

A connector here knows nothing of an engine; planners ask for more (the Spark planner for a way to
read and write data frames). Rules and wording of checks follow Flink's factory discovery: options
are not looked at when a table is created, but when it is first read or written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from schema_core.environment.discovery import CONNECTORS, require
from schema_core.environment.options import ConfigOption, masked
from schema_core.errors import ExternalError, Gathering, SchemaCoreError, SchemaError, at, similar

if TYPE_CHECKING:
    from schema_core.paths import ObjectIdentifier
    from schema_core.types import DataType

#: Keys that every table understands.
WATERMARK_OPTIONS: tuple[str, ...] = (
    "scan.watermark.emit.strategy",
    "scan.watermark.alignment.group",
    "scan.watermark.alignment.max-drift",
    "scan.watermark.alignment.update-interval",
    "scan.watermark.idle-timeout",
)
IMPLICIT_OPTIONS: tuple[str, ...] = ("connector", "property-version", *WATERMARK_OPTIONS)


class Connector(Protocol):
    """A kind of place where tables are. Constructed without arguments.

    `metadata` maps the keys that METADATA columns may name to what they hold when read;
    `writable_metadata` are the keys that can be written as well.
    """

    identifier: str
    can_read: bool
    can_write: bool
    metadata: Mapping[str, DataType]
    writable_metadata: frozenset[str]

    def declared(self, options: Mapping[str, str]) -> Sequence[ConfigOption[Any]]:
        """The options that a table with these options may have: its own, then its format's.

        Raises:
            SchemaError: when the options name a format that is not there.
        """


def find_connector(options: Mapping[str, str]) -> Connector:
    """The installed connector that the options of a table name.

    Raises:
        SchemaError: with code `no-connector` when there is no option `connector`.
        NotFoundError, SchemaError: as `schema_core.environment.discovery.require`.
    """
    if "connector" not in options:
        raise SchemaError(
            "the table has no option 'connector'",
            code="no-connector",
            hint="say in WITH where its data is: 'connector' = 'filesystem'",
        )
    connector: Connector = require(CONNECTORS, options["connector"])()
    return connector


def validate(connector: Connector, options: Mapping[str, str]) -> None:
    """Check the options of a table: none missing, all readable, none unknown.

    Raises:
        SchemaError: with every mistake at once; codes `missing-option`, `option-value`,
            `unknown-option`, `watermark-alignment`.
    """
    declared = connector.declared(options)
    found = Gathering()
    for check in (_present, _readable, _known):
        with found.catching():
            check(declared, options)
    with found.catching():
        _aligned(options)
    found.raise_all()


def _keys(declared: Iterable[ConfigOption[Any]]) -> list[str]:
    return [key for option in declared for key in (option.key, *option.former)]


def _present(declared: Sequence[ConfigOption[Any]], options: Mapping[str, str]) -> None:
    missing = sorted(
        option.key
        for option in declared
        if option.required and "#" not in option.key and not options.keys() & _keys([option])
    )
    if missing:
        raise SchemaError(
            f"required options are missing: {', '.join(missing)}", code="missing-option"
        )


def _readable(declared: Sequence[ConfigOption[Any]], options: Mapping[str, str]) -> None:
    found = Gathering()
    for option in declared:
        with found.catching():
            option.of(options)
    found.raise_all()


def _known(declared: Sequence[ConfigOption[Any]], options: Mapping[str, str]) -> None:
    known = {*_keys(declared), *IMPLICIT_OPTIONS}
    maps = tuple(f"{option.key}." for option in declared if option.is_map)
    unknown = [key for key in sorted(options) if key not in known and not key.startswith(maps)]
    if unknown:
        hints = [hint for key in unknown if (hint := similar(key, known))]
        raise SchemaError(
            f"unsupported options: {', '.join(unknown)}; supported are: {', '.join(sorted(known))}",
            code="unknown-option",
            hint="; ".join(hints) or None,
        )


def _aligned(options: Mapping[str, str]) -> None:
    pair = ("scan.watermark.alignment.group", "scan.watermark.alignment.max-drift")
    if sum(key in options for key in pair) == 1:
        raise SchemaError(f"{pair[0]} and {pair[1]} come together", code="watermark-alignment")


@contextmanager
def using(identifier: ObjectIdentifier, options: Mapping[str, str], purpose: str) -> Iterator[None]:
    """Add to any error that passes which table was to be read or written.

    A refusal without a hint gets the options of the table for one, secrets masked.
    """
    try:
        with at(f"{purpose} table {identifier.as_summary_string()}"):
            yield
    except ExternalError:
        raise
    except SchemaCoreError as error:
        shown = ", ".join(f"'{key}'='{value}'" for key, value in masked(options).items())
        error.hint = error.hint or f"the table's options are {shown}"
        raise
