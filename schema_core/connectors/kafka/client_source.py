"""A data source of Spark that reads and writes topics through `confluent-kafka`.

It has the options and columns of Spark's own source, which needs a package of jars. In addition it
starts and ends at the offsets of a consumer group, has the epoch of a message's leader, and a
streaming job commits its offsets for the group. Spark imports this module in its Python processes:
`confluent-kafka` is required there, too.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Final

import pyarrow as pa
from confluent_kafka import (
    OFFSET_INVALID,
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from schema_core.spark.compiler.udfs.java_patterns import compile_pattern

NAME: Final = "schema_core_kafka"
PREFIX: Final = "kafka."
COLUMNS: Final = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP,"
    " timestampType INT, headers ARRAY<STRUCT<key: STRING, value: BINARY>>, leaderEpoch INT"
)
_SCHEMA: Final = pa.schema(
    {
        "key": pa.binary(),
        "value": pa.binary(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "timestamp": pa.timestamp("us", tz="UTC"),
        "timestampType": pa.int32(),
        "headers": pa.list_(pa.struct({"key": pa.string(), "value": pa.binary()})),
        "leaderEpoch": pa.int32(),
    }
)

#: Seconds for a request, and without a new message of those that there are.
REQUEST: Final = 60.0
IDLE: Final = 120.0
#: Messages of a batch of Arrow.
BATCH: Final = 10_000

#: As Java's consumer, which also reads the messages of open and aborted transactions.
_CONSUMER: Final = {
    "group.id": "schema_core",
    "isolation.level": "read_uncommitted",
}
_OF_READING: Final = {
    "auto.offset.reset": "error",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
}
#: As Java's producer: equal keys go to the partition that it chooses.
_PRODUCER: Final = {"partitioner": "murmur2_random", "delivery.timeout.ms": "120000"}

#: Topics of brokers themselves, which a pattern does not find.
_INTERNAL: Final = frozenset({"__consumer_offsets", "__transaction_state"})

#: Topic -> partition -> offset. Spark stores it in the checkpoint, as its own source does.
Offsets = dict[str, dict[str, int]]


#: Errors that end when brokers are back.
_PASSING: Final = frozenset(
    {
        KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001
        KafkaError._RESOLVE,  # noqa: SLF001
        KafkaError._TIMED_OUT,  # noqa: SLF001
        KafkaError._TRANSPORT,  # noqa: SLF001
        KafkaError._WAIT_COORD,  # noqa: SLF001
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NETWORK_EXCEPTION,
        KafkaError.NOT_COORDINATOR,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.OFFSET_NOT_AVAILABLE,
        KafkaError.REQUEST_TIMED_OUT,
    }
)


class TopicError(Exception):
    """Messages cannot be read or written as the options require."""


class TopicSource(DataSource):  # type: ignore[misc, unused-ignore]
    """Topics of Kafka. The options are those of Spark's source `kafka`."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return COLUMNS

    def reader(self, schema: Any) -> TopicReader:
        return TopicReader(Topics(self.options))

    def streamReader(self, schema: Any) -> TopicStreamReader:  # noqa: N802
        return TopicStreamReader(Topics(self.options))

    def writer(self, schema: Any, overwrite: bool) -> TopicWriter:
        return TopicWriter(self.options["topic"], client_properties(self.options))


def client_properties(options: Mapping[str, str]) -> dict[str, Any]:
    """Return librdkafka's properties among the options of the data source."""
    keys = [key for key in options if key.startswith(PREFIX)]
    return {key.removeprefix(PREFIX): options[key] for key in keys}


def new_consumer(properties: Mapping[str, Any]) -> Consumer:
    """Return a consumer, which does not join its group; KafkaException for unknown properties."""
    return Consumer({**_CONSUMER, **properties, **_OF_READING})


def new_producer(properties: Mapping[str, Any]) -> Producer:
    """Return a producer; KafkaException for unknown properties."""
    return Producer({**_PRODUCER, **properties})


def why_refused(properties: Mapping[str, Any], *, writes: bool) -> str | None:
    """Return why librdkafka refuses properties; None if it accepts them."""
    try:
        new_producer(properties) if writes else new_consumer(properties).close()
    except KafkaException as error:
        return str(error.args[0].str())
    return None


# --- which messages ------------------------------------------------------------------------------


class Topics:
    """The topics of a data source, and the offsets where reading starts and ends.

    The connection opens at first use, and is not pickled.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = {key.lower(): value for key, value in options.items()}
        self.properties = client_properties(options)
        self._consumer: Consumer | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_consumer": None}

    @property
    def consumer(self) -> Consumer:
        if self._consumer is None:
            self._consumer = new_consumer(self.properties)
        return self._consumer

    def option(self, key: str) -> str | None:
        """Return an option, by its name in any case."""
        return self.options.get(key.lower())

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions of all topics.

        TopicError for a topic that does not exist; one that a pattern does not find is left out.
        """
        pattern = self.option("subscribePattern")
        names = (self.option("subscribe") or "").split(",")
        described = self._ask(lambda: self.consumer.list_topics(timeout=REQUEST)).topics
        if pattern is not None:
            names = sorted(described.keys() - _INTERNAL)
            names = [name for name in names if compile_pattern(pattern).fullmatch(name)]
        for name in names:
            if name not in described:
                raise TopicError(f"topic {name!r} does not exist")
        return [
            TopicPartition(name, number)
            for name in names
            for number in sorted(described[name].partitions)
        ]

    def start(self) -> Offsets:
        """Return where reading starts."""
        if (millis := self.option("startingTimestamp")) is not None:
            return self._at_time(int(millis))
        match self.option("startingOffsets") or "latest":
            case "earliest":
                return self.earliest()
            case "latest":
                return self.latest()
            case "group":
                reset = self.option("startingOffsetsWithoutGroup")
                return self._of_group(self.partitions(), reset)
            case text:
                places = self.partitions()
                given = self._offsets_of_option(text, places)
                # as in Flink: the others start where their group is, or at the first message
                others = [
                    place
                    for place in places
                    if str(place.partition) not in given.get(place.topic, {})
                ]
                offsets = self._of_group(others, "earliest")
                for topic, partitions in given.items():
                    offsets.setdefault(topic, {}).update(partitions)
                return offsets

    def end(self) -> Offsets:
        """Return where reading ends."""
        if (millis := self.option("endingTimestamp")) is not None:
            return self._at_time(int(millis))
        match self.option("endingOffsets") or "latest":
            case "latest":
                return self.latest()
            case "group":
                return self._of_group(self.partitions(), None)
            case text:
                return self._offsets_of_option(text, self.partitions())

    def _offsets_of_option(self, text: str, places: Iterable[TopicPartition]) -> Offsets:
        """Return the offsets of an option (TopicError for a partition that does not exist)."""
        given: Offsets = json.loads(text)
        existing = {(place.topic, str(place.partition)) for place in places}
        for topic, partitions in given.items():
            for number in partitions:
                if (topic, number) not in existing:
                    raise TopicError(f"{_shown(topic, number)} does not exist")
        return given

    def earliest(self) -> Offsets:
        return _offsets_of(self.partitions(), lambda place: self._watermarks(place)[0])

    def latest(self) -> Offsets:
        return _offsets_of(self.partitions(), lambda place: self._watermarks(place)[1])

    def first(self, topic: str, partition: str) -> int:
        """Return the first offset of a partition."""
        return self._watermarks(TopicPartition(topic, int(partition)))[0]

    def commit(self, offsets: Offsets) -> None:
        """Commit offsets for the consumer group."""
        places = [
            TopicPartition(topic, int(number), offset)
            for topic, partitions in offsets.items()
            for number, offset in partitions.items()
        ]
        if places:
            self._ask(lambda: self.consumer.commit(offsets=places, asynchronous=False))

    def _ask(self, request: Callable[[], Any]) -> Any:
        """Return what brokers answer, who may be away for `REQUEST` seconds (TopicError)."""
        deadline = time.monotonic() + REQUEST
        while True:
            try:
                return request()
            except KafkaException as error:
                problem = error.args[0]
                if problem.code() not in _PASSING or time.monotonic() > deadline:
                    servers = self.properties.get("bootstrap.servers")
                    raise TopicError(f"the brokers {servers!r}: {problem.str()}") from None
                time.sleep(0.1)

    def _watermarks(self, place: TopicPartition) -> tuple[int, int]:
        low, high = self._ask(lambda: self.consumer.get_watermark_offsets(place, timeout=REQUEST))
        return low, high

    def _at_time(self, millis: int) -> Offsets:
        """Return the first offsets that are not before a time; the end if there is none."""
        wanted = [
            TopicPartition(place.topic, place.partition, millis) for place in self.partitions()
        ]
        places = self._ask(lambda: self.consumer.offsets_for_times(wanted, timeout=REQUEST))
        return _offsets_of(
            places,
            lambda place: place.offset if place.offset >= 0 else self._watermarks(place)[1],
        )

    def _of_group(self, places: Sequence[TopicPartition], reset: str | None) -> Offsets:
        """Return the committed offsets; `reset` is where a partition without them starts."""
        if places and "group.id" in self.properties:
            places = self._ask(lambda: self.consumer.committed([*places], timeout=REQUEST))

        def offset(place: TopicPartition) -> int:
            shown = _shown(place.topic, place.partition)
            if place.error is not None:
                raise TopicError(f"{shown}: {place.error.str()}")
            if place.offset != OFFSET_INVALID:
                return int(place.offset)
            low, high = self._watermarks(place)
            if reset in ("earliest", "latest"):
                return low if reset == "earliest" else high
            group = self.properties.get("group.id")
            raise TopicError(f"the group {group!r} has no offset of {shown}")

        return _offsets_of(places, offset)


def _offsets_of(
    places: Sequence[TopicPartition], offset: Callable[[TopicPartition], int]
) -> Offsets:
    result: Offsets = {}
    for place in places:
        result.setdefault(place.topic, {})[str(place.partition)] = offset(place)
    return result


def _shown(topic: str, partition: object) -> str:
    return f"partition {partition} of topic {topic!r}"


class MessageRange(InputPartition):  # type: ignore[misc, unused-ignore]
    """Messages of a partition of a topic, up to the offset `end`, which is not included."""

    def __init__(self, topic: str, partition: int, start: int, end: int) -> None:
        super().__init__(None)
        self.topic, self.partition, self.start, self.end = topic, partition, start, end

    def __str__(self) -> str:
        return _shown(self.topic, self.partition)


def _ranges(topics: Topics, start: Offsets, end: Offsets) -> list[MessageRange]:
    """Return the ranges between offsets; a new partition is read from its first message.

    TopicError for a range that would go backwards: the topic was deleted and created again.
    """
    ranges = []
    for topic, partitions in end.items():
        for number, last in partitions.items():
            first = start.get(topic, {}).get(number)
            first = topics.first(topic, number) if first is None else first
            ranges.append(MessageRange(topic, int(number), first, last))
    return [part for part in ranges if part.start < part.end]


# --- reading -------------------------------------------------------------------------------------


class TopicReader(DataSourceReader):  # type: ignore[misc, unused-ignore]
    """Reads messages between two offsets of each partition."""

    def __init__(self, topics: Topics) -> None:
        self.topics = topics

    def partitions(self) -> Sequence[MessageRange]:
        with closing(self.topics):
            start, end = self.topics.start(), self.topics.end()
            return _ranges(self.topics, start, end)

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        # PySpark replaces an empty list of partitions by one without a value
        if not isinstance(partition, MessageRange):
            return iter(())
        return read_messages(self.topics.properties, partition)


class TopicStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc, unused-ignore]
    """Reads messages as they arrive."""

    def __init__(self, topics: Topics) -> None:
        self.topics = topics
        self.last: Offsets | None = None

    def initialOffset(self) -> Offsets:  # noqa: N802
        return self.topics.start()

    def getDefaultReadLimit(self) -> Any:  # noqa: N802
        limit = self.topics.option("maxOffsetsPerTrigger")
        return ReadAllAvailable() if limit is None else ReadMaxRows(int(limit))

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self.last = self.topics.latest()

    def latestOffset(self, start: Offsets, limit: Any) -> Offsets:  # noqa: N802
        end = self.last or self.topics.latest()
        for topic, partitions in start.items():
            for number, offset in partitions.items():
                if (last := end.get(topic, {}).get(number)) is None or last < offset:
                    raise TopicError(
                        f"{_shown(topic, number)} ends at {last}, before {offset}, "
                        "up to which the job has read: the topic was deleted"
                    )
        return _limited(self.topics, start, end, limit) if isinstance(limit, ReadMaxRows) else end

    def partitions(self, start: Offsets, end: Offsets) -> Sequence[MessageRange]:
        return _ranges(self.topics, start, end)

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        return read_messages(self.topics.properties, partition)

    def commit(self, end: Offsets) -> None:
        if self.topics.option("commitOffsets") == "true":
            self.topics.commit(end)

    def stop(self) -> None:
        self.topics.close()


def _limited(topics: Topics, start: Offsets, end: Offsets, limit: ReadMaxRows) -> Offsets:
    """Return the end of at most so many messages, shared by the partitions as they have them."""
    ranges = _ranges(topics, start, end)
    total = sum(part.end - part.start for part in ranges)
    if total <= limit.max_rows:
        return end
    left = limit.max_rows
    result = {topic: dict(partitions) for topic, partitions in end.items()}
    for part in sorted(ranges, key=lambda part: part.end - part.start):
        share = min(left, max(1, (part.end - part.start) * limit.max_rows // total))
        result[part.topic][str(part.partition)] = part.start + share
        left -= share
    return result


def read_messages(properties: Mapping[str, Any], messages: object) -> Iterator[pa.RecordBatch]:
    """Yield the messages of a range, with `COLUMNS`.

    Offsets may have gaps, of transactions and of compacted messages. TopicError if messages are
    missing, or do not arrive.
    """
    if not isinstance(messages, MessageRange):  # PySpark's, where there are none to read
        return
    with closing(new_consumer(properties)) as consumer:
        place = TopicPartition(messages.topic, messages.partition, messages.start)
        consumer.assign([place])
        position, deadline = messages.start, time.monotonic() + IDLE
        while position < messages.end:
            received = consumer.consume(min(BATCH, messages.end - position), 1.0)
            rows = []
            for message in received:
                if (error := message.error()) is None:
                    position = message.offset() + 1
                    if position <= messages.end:
                        rows.append(message)
                elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001
                    position = max(position, message.offset())
                elif error.code() == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001
                    raise TopicError(
                        f"{messages} has no message {position} any more: it was deleted before "
                        "it was read"
                    )
                elif error.code() not in _PASSING:
                    raise TopicError(f"{messages}: {error.str()}")
            if rows:
                yield _to_batch(rows)
            if received:
                deadline = time.monotonic() + IDLE
            elif time.monotonic() > deadline:
                raise TopicError(
                    f"{messages}: no message for {IDLE:.0f} seconds, at {position} of "
                    f"{messages.end}"
                )


def _to_batch(messages: Sequence[Any]) -> pa.RecordBatch:
    times = [message.timestamp() for message in messages]
    headers = [message.headers() for message in messages]
    columns = [
        [message.key() for message in messages],
        [message.value() for message in messages],
        [message.topic() for message in messages],
        [message.partition() for message in messages],
        [message.offset() for message in messages],
        [_micros(kind, millis) for kind, millis in times],
        [kind - TIMESTAMP_CREATE_TIME for kind, _ in times],
        [own and [{"key": key, "value": value} for key, value in own] for own in headers],
        [message.leader_epoch() for message in messages],
    ]
    arrays = [pa.array(column, own.type) for column, own in zip(columns, _SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def _micros(kind: int, millis: int) -> int | None:
    """Return a time in microseconds, None for one that a TIMESTAMP cannot hold."""
    if kind == TIMESTAMP_NOT_AVAILABLE:
        return -1000
    return millis * 1000 if abs(millis) < 2**63 // 1000 else None


# --- writing -------------------------------------------------------------------------------------


class TopicWriter(DataSourceArrowWriter):  # type: ignore[misc, unused-ignore]
    """Writes rows with the columns `value`, and `key` and `headers` if there are any.

    A task returns after the brokers have all of its messages. A repeated task writes them again.
    """

    def __init__(self, topic: str, properties: Mapping[str, Any]) -> None:
        self.topic, self.properties = topic, dict(properties)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        producer = new_producer(self.properties)
        errors: list[KafkaError] = []

        def report(error: KafkaError | None, _: object) -> None:
            if error is not None:
                errors.append(error)

        for batch in iterator:
            names = batch.schema.names
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                self._produce(producer, dict(zip(names, row, strict=True)), report)
            producer.poll(0)
            self._raise(errors)
        while producer.flush(1.0):
            self._raise(errors)
        self._raise(errors)
        return WriterCommitMessage()

    def _produce(
        self, producer: Producer, row: Mapping[str, Any], report: Callable[..., None]
    ) -> None:
        headers = [(header["key"], header["value"]) for header in row.get("headers") or ()]
        while True:
            try:
                producer.produce(
                    self.topic, row["value"], row.get("key"), headers=headers, on_delivery=report
                )
            except BufferError:  # full: the brokers have not received those before
                producer.poll(1.0)
            except KafkaException as error:
                raise TopicError(f"topic {self.topic!r}: {error.args[0].str()}") from None
            else:
                return

    def _raise(self, errors: Sequence[KafkaError]) -> None:
        if errors:
            raise TopicError(f"topic {self.topic!r}: {errors[0].str()}")
