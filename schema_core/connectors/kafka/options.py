"""Options of the Kafka connectors, with Flink's rules, as those of Spark's Kafka source.

A batch job reads a bounded range of each partition, which must be given. Some places where reading
starts or ends are only options of the source over `confluent-kafka` (see `requires_client`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from schema_core.base.text import is_blank
from schema_core.connectors.kafka.client_properties import commits_offsets
from schema_core.environment.options import (
    ConfigOption,
    choice,
    integer,
    invalid_value,
    long,
    nanoseconds,
    positive,
    string_list,
)
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.errors.hints import REMOVE_OPTION

Options = Mapping[str, str]

EARLIEST, LATEST, GROUP = "earliest-offset", "latest-offset", "group-offsets"
TIMESTAMP, SPECIFIC = "timestamp", "specific-offsets"


def _at_least_once(text: str) -> str:
    """Parse a delivery guarantee; Spark's sink has no transactions."""
    guarantee = choice("exactly-once", "at-least-once", "none")(text)
    if guarantee == "exactly-once":
        raise UnsupportedError(
            "Spark's Kafka sink writes each row at least once",
            code="option-not-supported",
            hint="set the option to 'at-least-once'",
        )
    return guarantee


def _only(keyword: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text != keyword:
            raise UnsupportedError(
                f"Spark's Kafka sink supports only {keyword!r}, got {text!r}",
                code="option-not-supported",
                hint=REMOVE_OPTION,
            )
        return text

    return parse


def _never(text: str) -> str:
    raise UnsupportedError(
        "Spark's Kafka sink has no transactions",
        code="option-not-supported",
        hint=REMOVE_OPTION,
    )


def specific_offsets(text: str) -> dict[str, int]:
    """Parse the offsets of partitions.

    >>> specific_offsets("partition:0,offset:42;partition:1,offset:300")
    {'0': 42, '1': 300}
    """
    offsets: dict[str, int] = {}
    for part in text.removesuffix(";").split(";"):
        pair = re.fullmatch(r"\s*partition:(\d{1,9}),offset:(\d{1,18})\s*", part)
        if pair is None:
            raise invalid_value(
                "offsets such as partition:0,offset:42;partition:1,offset:300", text
            )
        offsets[str(int(pair[1]))] = int(pair[2])
    return offsets


TOPIC = ConfigOption("topic", string_list, None, "the topics, separated by semicolons")
PATTERN = ConfigOption("topic-pattern", str, None, "a regular expression of topics to read")
SERVERS = ConfigOption(
    "properties.bootstrap.servers", str, None, "the addresses of the brokers", required=True
)
PROPERTIES = ConfigOption("properties", str, None, "properties of Kafka's clients", is_map=True)
FORMAT = ConfigOption("format", str, None, "the format of the value: json, csv or raw")
VALUE_FORMAT = ConfigOption("value.format", str, None, "as `format`")
KEY_FORMAT = ConfigOption("key.format", str, None, "the format of the key")
KEY_FIELDS = ConfigOption("key.fields", string_list, None, "the columns of the key")
KEY_PREFIX = ConfigOption(
    "key.fields-prefix", str, "", "what the names of key columns begin with, not in the key itself"
)
INCLUDE = ConfigOption(
    "value.fields-include",
    choice("ALL", "EXCEPT_KEY"),
    "ALL",
    "whether the value has the columns of the key",
)
STARTUP = ConfigOption(
    "scan.startup.mode",
    choice(EARLIEST, LATEST, GROUP, TIMESTAMP, SPECIFIC),
    GROUP,
    "where reading starts",
)
START_OFFSETS = ConfigOption(
    "scan.startup.specific-offsets", specific_offsets, None, "the first offset of each partition"
)
START_TIME = ConfigOption("scan.startup.timestamp-millis", long, None, "the first timestamp")
BOUNDED = ConfigOption(
    "scan.bounded.mode",
    choice("unbounded", LATEST, GROUP, TIMESTAMP, SPECIFIC),
    "unbounded",
    "where reading ends",
)
END_OFFSETS = ConfigOption(
    "scan.bounded.specific-offsets", specific_offsets, None, "the end of each partition"
)
END_TIME = ConfigOption("scan.bounded.timestamp-millis", long, None, "the end, as a timestamp")
PARALLELISM = ConfigOption("sink.parallelism", positive, None, "how many tasks write")

GUARANTEE = ConfigOption("sink.delivery-guarantee", _at_least_once, None, "at-least-once or none")

VALUE = (FORMAT, VALUE_FORMAT)
COMMON: tuple[ConfigOption[Any], ...] = (
    TOPIC, SERVERS, PROPERTIES, VALUE_FORMAT, KEY_FORMAT, KEY_PREFIX, INCLUDE, BOUNDED,
    END_OFFSETS, END_TIME, PARALLELISM,
    ConfigOption("scan.parallelism", positive, None, "no effect: a task for each partition"),
    GUARANTEE,
    ConfigOption("sink.transactional-id-prefix", _never, None, "not supported"),
)  # fmt: skip
KAFKA: tuple[ConfigOption[Any], ...] = (
    *COMMON, PATTERN, FORMAT, KEY_FIELDS, STARTUP, START_OFFSETS, START_TIME,
    ConfigOption("scan.topic-partition-discovery.interval", nanoseconds, None, "no effect"),
    ConfigOption("sink.partitioner", _only("default"), None, "only default"),
)  # fmt: skip
UPSERT: tuple[ConfigOption[Any], ...] = (
    *COMMON,
    ConfigOption("sink.buffer-flush.max-rows", integer, None, "no effect: one row for each key"),
    ConfigOption("sink.buffer-flush.interval", nanoseconds, None, "no effect"),
)

#: Properties that Flink's connectors or Spark set themselves, or about offsets of groups.
IGNORED = frozenset(
    {
        "key.deserializer", "value.deserializer", "key.serializer", "value.serializer",
        "auto.offset.reset", "enable.auto.commit", "auto.commit.interval.ms",
        "partition.discovery.interval.ms",
    }
)  # fmt: skip


def client_settings(options: Options) -> dict[str, str]:
    """Return the properties of Kafka's clients as options of Spark.

    >>> client_settings({"properties.bootstrap.servers": "h:9092", "topic": "t"})
    {'kafka.bootstrap.servers': 'h:9092'}
    """
    properties = PROPERTIES.entries(options)
    if is_blank(properties.get("group.id", "-")):
        raise invalid("'properties.group.id' must not be blank")
    return {f"kafka.{key}": value for key, value in properties.items() if key not in IGNORED}


def topics(options: Options) -> list[str]:
    """Return the topics, without blanks."""
    return [topic.strip() for topic in TOPIC.of(options) or ()]


def check_topics(options: Options, *, writes: bool) -> None:
    """Require either topics or a pattern, and one topic to write to (`conflicting-options`)."""
    keys = [option.key for option in (TOPIC, PATTERN) if option.key in options]
    if len(keys) != 1:
        raise invalid("either 'topic' or 'topic-pattern' must be set", *keys)
    if writes and (PATTERN.key in options or len(topics(options)) != 1):
        raise invalid("a sink writes to one topic", *keys)


def invalid(problem: str, *keys: str) -> SchemaError:
    """Return the error for options that contradict each other."""
    shown = f", got {', '.join(map(repr, keys))}" if keys else ""
    return SchemaError(f"{problem}{shown}", code="conflicting-options")


def scan_settings(options: Options, name: str, *, from_earliest: bool = False) -> dict[str, str]:
    """Return the options of Spark's Kafka source for a bounded scan.

    `from_earliest` reads all records, as `upsert-kafka` does. Codes: `conflicting-options`,
    `unbounded-table` (no end).
    """
    start = EARLIEST if from_earliest else STARTUP.of(options)
    return _source(options) | _start(options, str(start)) | _end(options, name)


def _source(options: Options) -> dict[str, str]:
    """Return brokers and topics as options of Spark's Kafka source."""
    check_topics(options, writes=False)
    settings = client_settings(options) | {"failOnDataLoss": "true"}
    if (pattern := PATTERN.of(options)) is not None:
        return settings | {"subscribePattern": pattern}
    return settings | {"subscribe": ",".join(topics(options))}


def stream_settings(options: Options, *, from_earliest: bool = False) -> dict[str, str]:
    """Return the options of Spark's Kafka source for a streaming job.

    `from_earliest` reads all records, as `upsert-kafka` does. Code: `conflicting-options`.
    """
    mode = str(EARLIEST if from_earliest else STARTUP.of(options))
    commits = {"commitOffsets": "true"} if commits_offsets(PROPERTIES.entries(options)) else {}
    return _source(options) | _start(options, mode) | commits


def requires_client(settings: Mapping[str, str], *, is_stream: bool) -> str | None:
    """Return what Spark's own source cannot do of the options of a scan; None if it can do all.

    >>> requires_client({"startingOffsets": "group"}, is_stream=True)
    'start at the offsets of a consumer group'
    """
    if settings.get("startingOffsets") == "group":
        return "start at the offsets of a consumer group"
    if settings.get("startingOffsets") == "latest" and not is_stream:
        return "start a batch job at the latest offset"
    if settings.get("endingOffsets") == "group":
        return "end at the offsets of a consumer group"
    return "return the epoch of leaders" if "leaderEpoch" in settings else None


def _start(options: Options, mode: str) -> dict[str, str]:
    """Return where a job starts to read."""
    match mode:
        case "earliest-offset":
            return {"startingOffsets": "earliest"}
        case "latest-offset":
            return {"startingOffsets": "latest"}
        case "group-offsets":
            return {"startingOffsets": "group"} | _without_group_offset(options)
        case "timestamp":
            millis = _require_option(options, STARTUP, START_TIME)
            return {
                "startingTimestamp": str(millis),
                "startingOffsetsByTimestampStrategy": "latest",
            }
        case "specific-offsets":
            offsets = _require_option(options, STARTUP, START_OFFSETS)
            return {"startingOffsets": _offsets(options, STARTUP, offsets)}
    raise AssertionError(mode)


def _without_group_offset(options: Options) -> dict[str, str]:
    """Return where a partition starts of which the consumer group has no offset."""
    properties = PROPERTIES.entries(options)
    reset = properties.get("auto.offset.reset", "none").lower()
    if reset not in ("earliest", "latest", "none"):
        raise invalid(
            "'properties.auto.offset.reset' must be 'earliest', 'latest' or 'none'", reset
        )
    if reset == "none" and "group.id" not in properties:
        raise SchemaError(
            f"the offsets of a consumer group, {STARTUP.key!r} = {GROUP!r}, require "
            "'properties.group.id'",
            code="conflicting-options",
            hint=f"set it, or '{STARTUP.key}' = '{EARLIEST}'",
        )
    return {} if reset == "none" else {"startingOffsetsWithoutGroup": reset}


def _end(options: Options, name: str) -> dict[str, str]:
    match BOUNDED.of(options):
        case "latest-offset":
            return {"endingOffsets": "latest"}
        case "timestamp":
            return {"endingTimestamp": str(_require_option(options, BOUNDED, END_TIME))}
        case "specific-offsets":
            offsets = _require_option(options, BOUNDED, END_OFFSETS)
            return {"endingOffsets": _offsets(options, BOUNDED, offsets)}
        case "group-offsets":
            if "group.id" not in PROPERTIES.entries(options):
                raise invalid(f"{BOUNDED.key!r} = {GROUP!r} requires 'properties.group.id'")
            return {"endingOffsets": "group"}
    raise UnsupportedError(
        f"table {name!r} is unbounded, a batch job cannot read it",
        code="unbounded-table",
        hint=f"set '{BOUNDED.key}' = '{LATEST}', or another end, also as an OPTIONS hint",
    )


def _require_option(options: Options, mode: ConfigOption[Any], option: ConfigOption[Any]) -> Any:
    value = option.of(options)
    if value is None:
        raise invalid(f"{option.key!r} must be set with {mode.key!r} = {mode.of(options)!r}")
    return value


def _offsets(options: Options, mode: ConfigOption[Any], offsets: Mapping[str, int]) -> str:
    names = topics(options)
    if len(names) != 1:
        raise invalid(f"{mode.key!r} = {SPECIFIC!r} requires one topic", *names)
    return json.dumps({names[0]: dict(offsets)})
