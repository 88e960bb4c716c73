"""The tables of connectors and formats, printed from their options."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

from docs.mapping_tables import code, table
from schema_core.connectors.change_formats import CHANGE_FORMATS
from schema_core.connectors.datagen import DatagenConnector
from schema_core.connectors.files.avro_files import AVRO
from schema_core.connectors.files.file_formats import CSV, JSON
from schema_core.connectors.files.filesystem import FilesystemConnector
from schema_core.connectors.files.raw_files import RAW
from schema_core.connectors.kafka.avro_messages import AVRO_CONFLUENT, AVRO_MESSAGES
from schema_core.connectors.kafka.message_formats import MESSAGE_CHANGE_FORMATS
from schema_core.connectors.kafka.protobuf_messages import PROTOBUF_MESSAGES
from schema_core.connectors.printing import PrintConnector
from schema_core.connectors.python_source import PythonSourceConnector
from schema_core.connectors.rate import RateConnector
from schema_core.connectors.socket_lines import SocketConnector
from schema_core.connectors.spark_source import SparkSourceConnector
from schema_core.environment.options import ConfigOption


def _default(option: ConfigOption[Any]) -> str:
    match option.default:
        case None:
            return "required" if option.required else ""
        case bool(value):
            return code(str(value).lower())
        case timedelta() as length:
            return code(f"{length.total_seconds():g} s")
        case value:
            return code(value)


def options(declared: Iterable[ConfigOption[Any]]) -> Callable[[], str]:
    """What writes a table of options."""
    rows = [(code(option.key), _default(option), option.description) for option in declared]
    return lambda: table(("option", "default", "meaning"), rows) + "\n"


def _options_of_changes() -> str:
    """Return the table of the options of all formats of changes."""
    descriptions: dict[tuple[str, str, str], list[str]] = {}
    for name, form in CHANGE_FORMATS.items():
        for option in form.options:
            suffix = option.key.removeprefix(f"{name}.")
            about = (suffix, _default(option), option.description)
            descriptions.setdefault(about, []).append(name)
    rows = [
        (
            code(suffix),
            "all" if len(names) == len(CHANGE_FORMATS) else ", ".join(names),
            default,
            text,
        )
        for (suffix, default, text), names in descriptions.items()
    ]
    return (
        table(("option, after the name of the format", "formats", "default", "meaning"), rows)
        + "\n"
    )


def _metadata_of_changes() -> str:
    """Return the table of the metadata of all formats of changes."""
    rows = [
        (
            name,
            ", ".join(
                f"{code(key)} {item.type.as_summary_string()}"
                for key, item in form.metadata.items()
            ),
        )
        for name, form in MESSAGE_CHANGE_FORMATS.items()
    ]
    return table(("format", "keys, after `value.`, with their types"), rows) + "\n"


#: How the description of an option begins that Flink has and a job of Spark does not need.
WITHOUT_EFFECT = "no effect"


#: Name of a part -> what writes it.
PARTS: dict[str, Callable[[], str]] = {
    "options_of_datagen": options(DatagenConnector.options),
    "options_of_rate": options(RateConnector.options),
    "options_of_socket": options(SocketConnector.options),
    "options_of_print": options(PrintConnector.options),
    "options_of_spark": options(SparkSourceConnector.options),
    "options_of_python": options(PythonSourceConnector.options),
    "options_of_avro": options(AVRO.options),
    "options_of_avro_messages": options(AVRO_MESSAGES.options),
    "options_of_avro_confluent": options(AVRO_CONFLUENT.options),
    "options_of_protobuf": options(PROTOBUF_MESSAGES.options),
    "options_of_raw": options(RAW.options),
    "options_of_filesystem": options(
        item
        for item in FilesystemConnector().declared({})
        if not item.description.startswith(WITHOUT_EFFECT)
    ),
    "options_of_changes": _options_of_changes,
    "metadata_of_changes": _metadata_of_changes,
    "options_of_csv": options(CSV.options),
    "options_of_json": options(JSON.options),
}
