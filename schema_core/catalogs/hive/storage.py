"""How the files of a table of Hive are read and written, as the options by which Flink says it.

Law: ``storage_of(options_of(storage)) == storage``, but for the location where it is the usual one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from schema_core.catalogs.hive.metastore import HiveStorage
from schema_core.errors import SchemaError, similar
from schema_core.formats.properties.keys import Properties

# Flink's options of a table of Hive (its connector's `Constants`).
LOCATION, EXTERNAL = "hive.location-uri", "hive.is-external"
FILE_FORMAT = "hive.storage.file-format"
INPUT, OUTPUT = "hive.stored.as.input.format", "hive.stored.as.output.format"
SERDE, SERDE_PROPERTY = "hive.serde.lib.class.name", "hive.serde.info.prop."

#: What every serde of Hive's is told, whoever made the table.
USUAL = {"serialization.format": "1"}


class FileFormat(NamedTuple):
    """The classes of a file format."""

    input_format: str
    output_format: str
    serde: str


_IO, _SERDE = "org.apache.hadoop.hive.ql.io", "org.apache.hadoop.hive.serde2"

#: Name of a file format -> its classes. The first one is Hive's default.
FORMATS: dict[str, FileFormat] = {
    "textfile": FileFormat(
        "org.apache.hadoop.mapred.TextInputFormat",
        f"{_IO}.HiveIgnoreKeyTextOutputFormat",
        f"{_SERDE}.lazy.LazySimpleSerDe",
    ),
    "sequencefile": FileFormat(
        "org.apache.hadoop.mapred.SequenceFileInputFormat",
        f"{_IO}.HiveSequenceFileOutputFormat",
        f"{_SERDE}.lazy.LazySimpleSerDe",
    ),
    "rcfile": FileFormat(
        f"{_IO}.RCFileInputFormat",
        f"{_IO}.RCFileOutputFormat",
        f"{_SERDE}.columnar.LazyBinaryColumnarSerDe",
    ),
    "orc": FileFormat(
        f"{_IO}.orc.OrcInputFormat", f"{_IO}.orc.OrcOutputFormat", f"{_IO}.orc.OrcSerde"
    ),
    "parquet": FileFormat(
        f"{_IO}.parquet.MapredParquetInputFormat",
        f"{_IO}.parquet.MapredParquetOutputFormat",
        f"{_IO}.parquet.serde.ParquetHiveSerDe",
    ),
    "avro": FileFormat(
        f"{_IO}.avro.AvroContainerInputFormat",
        f"{_IO}.avro.AvroContainerOutputFormat",
        f"{_SERDE}.avro.AvroSerDe",
    ),
}

DEFAULT = FORMATS["textfile"]


def is_storage_option(key: str) -> bool:
    """Whether an option says how files are kept, rather than being a property of the table."""
    return key in (LOCATION, FILE_FORMAT, INPUT, OUTPUT, SERDE) or key.startswith(SERDE_PROPERTY)


def storage_of(options: Mapping[str, str]) -> HiveStorage:
    """The storage that options ask for; text in lines where they do not.

    Raises:
        SchemaError: with code `invalid-option-value` for a file format that Hive does not have.

    >>> storage_of({"hive.storage.file-format": "ORC"}).serde
    'org.apache.hadoop.hive.ql.io.orc.OrcSerde'
    """
    chosen = options.get(FILE_FORMAT, "textfile").lower()
    if chosen not in FORMATS:
        raise SchemaError(
            f"Hive has no file format {chosen!r}",
            code="invalid-option-value",
            hint=similar(chosen, FORMATS) or f"there are {', '.join(FORMATS)}",
        )
    classes = FORMATS[chosen]
    given = {
        key.removeprefix(SERDE_PROPERTY): value
        for key, value in options.items()
        if key.startswith(SERDE_PROPERTY)
    }
    if "field.delim" in given:  # Hive's text serde has two words for it, which must agree
        given = {"serialization.format": given["field.delim"]} | given
    return HiveStorage(
        options.get(INPUT, classes.input_format),
        options.get(OUTPUT, classes.output_format),
        options.get(SERDE, classes.serde),
        USUAL | given,
        options.get(LOCATION),
    )


def options_of(storage: HiveStorage, usual_location: str | None = None) -> Properties:
    """The options that ask for a storage, but for what is usual."""
    options: Properties = {}
    if storage.location is not None and storage.location != usual_location:
        options[LOCATION] = storage.location
    classes = (storage.input_format, storage.output_format, storage.serde)
    named = next((name for name, one in FORMATS.items() if one == classes), None)
    if named is None:
        keys = (INPUT, OUTPUT, SERDE)
        options |= {key: one for key, one in zip(keys, classes, strict=True) if one is not None}
    elif named != "textfile":
        options[FILE_FORMAT] = named
    expected = USUAL | {"serialization.format": storage.serde_parameters.get("field.delim", "1")}
    return options | {
        SERDE_PROPERTY + key: value
        for key, value in storage.serde_parameters.items()
        if expected.get(key) != value
    }
