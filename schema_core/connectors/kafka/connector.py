"""The connectors `kafka` and `upsert-kafka`: bounded scans and writes of Kafka's topics.

They use Spark's Kafka source and sink (package ``spark-sql-kafka``) where Spark has them, else a
data source over `confluent-kafka` (`client_source`), which has the same columns. For the options
see `schema_core.connectors.kafka.options`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Final

from schema_core.base.lazy import dataclass
from schema_core.base.plugins import install_hint, missing
from schema_core.connectors.change_formats import PLACE, EncodedChanges
from schema_core.connectors.files.csv_files import FILE, LINE
from schema_core.connectors.kafka import options as options_of
from schema_core.connectors.kafka.client_properties import (
    name_of_property,
    not_supported,
    to_client_properties,
)
from schema_core.connectors.kafka.message_formats import MESSAGE_CHANGE_FORMATS, MessageFormat
from schema_core.connectors.kafka.options import (
    INCLUDE,
    KEY_FIELDS,
    KEY_FORMAT,
    KEY_PREFIX,
    PARALLELISM,
    Options,
    check_topics,
    client_settings,
    invalid,
    requires_client,
    scan_settings,
    stream_settings,
    topics,
)
from schema_core.connectors.spark_source import source_errors
from schema_core.environment.connector import Boundedness, DeliveryGuarantee
from schema_core.environment.options import ConfigOption
from schema_core.environment.plans.changelog_mode import ChangelogMode
from schema_core.errors import NotFoundError, UnsupportedError
from schema_core.spark.changelog import CHANGE_ORDER, ROW_KIND, adds_row
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import FALSE, TRUE, Cast, NamedNode, Node, call, quote
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.compiler.udfs import UdfError
from schema_core.spark.compiler.udfs.java_patterns import compile_pattern
from schema_core.spark.connector import (
    ConnectorBase,
    ReadContext,
    SupportsUpsert,
    TableContext,
    WriteContext,
    metadata_column,
)
from schema_core.spark.session.api_mode import has_class, is_connect
from schema_core.spark.session.frames import select
from schema_core.spark.session.packages import package_of
from schema_core.spark.session.session import active_session
from schema_core.types import (
    MAX_LENGTH,
    BigIntType,
    DataType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    RowKind,
    VarBinaryType,
    VarCharType,
)
from schema_core.types.row_value import REMOVALS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.spark.changelog import Changelog

SOURCE = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
#: The module of Kafka's client in Python.
CLIENT: Final = "confluent_kafka"

_STRING = VarCharType(MAX_LENGTH, nullable=False)
_HEADERS = MapType(_STRING, VarBinaryType(MAX_LENGTH), nullable=False)

#: The prefix of metadata of the values' format, as in Flink.
VALUE_PREFIX = "value."
#: Metadata key -> its type, and its value in the columns of Spark's source.
METADATA: Mapping[str, tuple[DataType, Node]] = {
    "topic": (_STRING, ColumnNode("topic")),
    "partition": (IntType(nullable=False), ColumnNode("partition")),
    "headers": (
        _HEADERS,
        inline(
            "coalesce(map_from_entries({headers}), CAST(map() AS MAP<STRING, BINARY>))",
            headers=ColumnNode("headers"),
        ),
    ),
    "offset": (BigIntType(nullable=False), ColumnNode("offset")),
    "timestamp": (LocalZonedTimestampType(3, nullable=False), ColumnNode("timestamp")),
    "leader-epoch": (IntType(), ColumnNode("leaderEpoch")),
    "timestamp-type": (
        _STRING,
        inline(
            "coalesce(element_at(array('CreateTime', 'LogAppendTime'), nullif({t}, -1) + 1),"
            " 'NoTimestampType')",
            t=ColumnNode("timestampType"),
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class MessageLayout:
    """Which columns the key and the value of a message hold.

    Attributes:
        key: Name in the key -> name in the table.
        value: The columns of the value, by the table's names.
        key_format: None without a key.
        value_format: The format of the value.
    """

    key: Mapping[str, str]
    value: tuple[str, ...]
    key_format: MessageFormat | None
    value_format: MessageFormat

    @classmethod
    def of(cls, context: TableContext, fields: Sequence[str] | None = None) -> MessageLayout:
        """Return a table's layout (`conflicting-options`).

        `fields` are the key columns of `upsert-kafka`.
        """
        options, columns = context.options, context.physical_columns
        prefix = KEY_PREFIX.of(options) or ""
        names = list(fields or KEY_FIELDS.of(options) or ())
        if fields is None and (KEY_FORMAT.key in options) != bool(names):
            raise invalid("'key.format' and 'key.fields' must be set together")
        if prefix and INCLUDE.of(options) != "EXCEPT_KEY":
            raise invalid("'key.fields-prefix' requires 'value.fields-include' = 'EXCEPT_KEY'")
        for name in names:
            if name not in columns:
                raise invalid("'key.fields' must be physical columns", name)
            if not name.startswith(prefix):
                raise invalid(f"columns of the key must begin with {prefix!r}", name)
        value = [name for name in columns if INCLUDE.of(options) == "ALL" or name not in names]
        return cls(
            {name.removeprefix(prefix): name for name in names},
            tuple(value),
            _key_format(options),
            value_format(options),
        )


def value_format(options: Options) -> MessageFormat:
    """Return the format of a table's values.

    `conflicting-options` unless one of the two options is set.
    """
    formats = [option for option in options_of.VALUE if option.key in options]
    if len(formats) != 1:
        raise invalid(
            "either 'format' or 'value.format' must be set", *(option.key for option in formats)
        )
    (option,) = formats
    prefix = "value." if option is options_of.VALUE_FORMAT else ""
    return MessageFormat(str(option.of(options)), options, prefix)


def _key_format(options: Options) -> MessageFormat | None:
    form = _format(options, KEY_FORMAT, "key.")
    if form is not None and form.changes is not None:
        raise invalid(f"the format of a key must be one of rows, and {form.name!r} is of changes")
    return form


def _name_of_value_format(options: Options) -> str:
    """Return the name of the format of values, an empty string unless there is one."""
    names = [options[option.key] for option in options_of.VALUE if option.key in options]
    return names[0] if len(names) == 1 else ""


def _format(options: Options, option: ConfigOption[Any], prefix: str) -> MessageFormat | None:
    name = option.of(options)
    return None if name is None else MessageFormat(str(name), options, prefix)


class KafkaConnector(ConnectorBase):
    """Topics whose messages are rows."""

    identifier = "kafka"
    requires: Final = ("pyspark",)
    #: Spark's data source, in a package of its own.
    data_source: Final = "kafka"
    # what reads and writes topics where Spark does not have its data source
    client_module: Final = CLIENT
    options: ClassVar[Sequence[ConfigOption[Any]]] = options_of.KAFKA
    metadata: Mapping[str, DataType] = {key: type_ for key, (type_, _) in METADATA.items()}
    writable_metadata: frozenset[str] = frozenset({"headers"})

    def declared(self, options: Options) -> Sequence[ConfigOption[Any]]:
        """Return the options of the connector and of the table's formats."""
        declared = list(self.options)
        for option, prefix in (
            (options_of.FORMAT, ""),
            (options_of.VALUE_FORMAT, "value."),
            (KEY_FORMAT, "key."),
        ):
            if option in self.options and (form := _format(options, option, prefix)):
                declared += form.prefixed_options(prefix)
        return declared

    def format_metadata(self, options: Options) -> dict[str, DataType]:
        """Return the metadata of the values' format, with Flink's prefix of its keys."""
        form = MESSAGE_CHANGE_FORMATS.get(_name_of_value_format(options))
        metadata = {} if form is None else form.metadata
        return {f"{VALUE_PREFIX}{key}": item.type for key, item in metadata.items()}

    # --- reading -------------------------------------------------------------------------------

    def read(self, context: ReadContext) -> DataFrame:
        """Return the rows of the messages within the bounds; those without a value are skipped.

        Codes: `conflicting-options`, `unbounded-table`, `option-not-supported`,
        `type-not-supported`, `missing-dependency`.
        """
        layout = self.layout(context)
        records = self.records(context.session, _with_metadata(self.scan(context), context))
        return decode_messages(records, layout, context)

    def changelog_mode(self, options: Options) -> ChangelogMode:
        """Return the changes of the values' format."""
        is_changes = _name_of_value_format(options) in MESSAGE_CHANGE_FORMATS
        return ChangelogMode.all() if is_changes else ChangelogMode.insert_only()

    def read_changes(self, context: ReadContext) -> DataFrame:
        """Return the changes of the messages within the bounds; errors as `read`."""
        layout = self.layout(context)
        records = self.records(context.session, _with_metadata(self.scan(context), context))
        return decode_changes(records, layout, context)

    def read_messages(self, context: ReadContext) -> DataFrame:
        """Return all messages, later ones included; errors as `read`."""
        settings = _with_metadata(self.stream_options(context.options), context)
        return self.stream(context.session, settings)

    def decode_messages(self, messages: DataFrame, context: ReadContext) -> DataFrame:
        """Return the changes of messages; errors as `read`."""
        return decode_changes(messages, self.layout(context), context)

    def stream_options(self, options: Options) -> dict[str, str]:
        """Return the options of Spark's source for a streaming job."""
        return stream_settings(options)

    def boundedness(self, options: Options) -> Boundedness:
        """A table without ``scan.bounded.mode`` is unbounded."""
        is_bounded = options_of.BOUNDED.of(options) != "unbounded"
        return Boundedness.BOUNDED if is_bounded else Boundedness.CONTINUOUS_UNBOUNDED

    def monitor_interval(self, options: Options) -> None:
        """Brokers are polled continuously."""

    def read_stream(self, context: ReadContext) -> DataFrame:
        """Return the rows of all messages, later ones included; errors as `read`."""
        return decode_messages(self.read_messages(context), self.layout(context), context)

    def stream(self, session: SparkSession, settings: Mapping[str, str]) -> DataFrame:
        """Return messages as they arrive, with the columns of Spark's Kafka source."""
        name, options = source_of(session, settings, is_stream=True)
        return session.readStream.format(name).options(**options).load()

    def delivery_guarantee(self, options: Options) -> DeliveryGuarantee:
        """Return ``sink.delivery-guarantee``; Spark's sink has no transactions."""
        guarantee = options_of.GUARANTEE.of(options)
        return DeliveryGuarantee.NONE if guarantee == "none" else DeliveryGuarantee.AT_LEAST_ONCE

    def layout(self, context: TableContext) -> MessageLayout:
        """Return the layout of messages; rows, other than changes, have no PRIMARY KEY."""
        layout = MessageLayout.of(context)
        has_key = context.table.resolved_schema.primary_key is not None
        if has_key and layout.value_format.changes is None:
            raise invalid(
                "a table of the connector 'kafka' cannot have a PRIMARY KEY, unless its format is "
                "of changes"
            )
        return layout

    def scan(self, context: ReadContext) -> dict[str, str]:
        return scan_settings(context.options, context.identifier.object_name)

    def records(self, session: SparkSession, settings: Mapping[str, str]) -> DataFrame:
        """Return the messages, with the columns of Spark's Kafka source."""
        name, options = source_of(session, settings)
        return session.read.format(name).options(**options).load()

    # --- writing -------------------------------------------------------------------------------

    def validate_write(self, context: WriteContext) -> None:
        """Refuse options and types that cannot be written; errors as `read`."""
        check_topics(context.options, writes=True)
        client_settings(context.options)
        parts_of_messages(self.layout(context), context)

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        """Write each row as a message; errors as `read`."""
        check_topics(context.options, writes=True)
        layout = self.layout(context)
        adds: Node = TRUE
        if ROW_KIND in frame.columns:
            adds = adds_row(ColumnNode(ROW_KIND))
        messages = select(self.rows(frame, context), parts_of_messages(layout, context, adds))
        messages = finish_values(layout, context, finish_keys(layout, context, messages))
        self._send(messages, context)

    def _send(self, messages: DataFrame, context: WriteContext) -> None:
        settings = client_settings(context.options) | {"topic": topics(context.options)[0]}
        if (tasks := PARALLELISM.of(context.options)) is not None:
            messages = messages.coalesce(tasks)
        if "headers" in context.metadata:
            settings["includeHeaders"] = "true"
        self.send(messages, settings)

    def consumes_changes(self, options: Options) -> bool:
        """Return whether messages of the values' format hold changes."""
        return _name_of_value_format(options) in MESSAGE_CHANGE_FORMATS

    def write_changelog(self, frame: DataFrame, context: WriteContext) -> None:
        """Write each change as a message, as `write`."""
        self.write(frame, context)

    def write_changes(
        self, frame: DataFrame, context: WriteContext, key: Sequence[str], changelog: Changelog
    ) -> None:
        """Write the changes of a micro-batch, each as a message, in their order.

        `changelog` compares the messages of rows, so that values are not converted to Python.
        """
        layout = self.layout(context)
        own = [(ColumnNode(name), f"$key{place}$") for place, name in enumerate(key)]
        added, removed = (parts_of_messages(layout, context, adds) for adds in (TRUE, FALSE))
        (new, _), (old, _), *others = added[0], removed[0], *added[1:]
        rows = select(frame, [*own, (new, "$added$"), (old, "$removed$"), *others])
        rows = finish_values(layout, context, finish_keys(layout, context, rows), "$added$")
        rows = finish_values(layout, context, rows, "$removed$")
        place = len(key)
        messages = [
            (change[place + (change.kind in REMOVALS)], *change[place + 2 :])
            for change in changelog.changes(map(tuple, rows.toLocalIterator()))
        ]
        names = [name for _, name in others]
        schema = rows.select("$added$", *names).toDF("value", *names).schema
        self._send(context.session.createDataFrame(messages, schema).coalesce(1), context)

    def rows(self, frame: DataFrame, context: WriteContext) -> DataFrame:
        """Return the rows to write."""
        return frame

    def send(self, messages: DataFrame, settings: Mapping[str, str]) -> None:
        """Write messages, with the columns of Spark's Kafka sink."""
        session = messages.sparkSession
        name, options = source_of(session, settings)
        with active_session(session):
            messages.write.format(name).options(**options).mode("append").save()


def _with_metadata(settings: dict[str, str], context: ReadContext) -> dict[str, str]:
    """Return the options of a scan, with those of the metadata that are not always read."""
    options = {"headers": "includeHeaders", "leader-epoch": "leaderEpoch"}
    return settings | {options[key]: "true" for key in context.metadata if key in options}


class UpsertKafkaConnector(KafkaConnector, SupportsUpsert):
    """Topics whose messages update the row of their key; one without value deletes it."""

    identifier = "upsert-kafka"
    options: ClassVar[Sequence[ConfigOption[Any]]] = options_of.UPSERT

    def layout(self, context: TableContext) -> MessageLayout:
        """Return the layout; the key has the PRIMARY KEY's columns (`conflicting-options`)."""
        key = context.table.resolved_schema.primary_key
        if key is None:
            raise invalid("a table of the connector 'upsert-kafka' requires a PRIMARY KEY")
        for option in (KEY_FORMAT, options_of.VALUE_FORMAT):
            if option.key not in context.options:
                raise invalid(f"{option.key!r} must be set")
        layout = MessageLayout.of(context, key.columns)
        if layout.value_format.changes is not None:
            raise invalid(
                "the connector 'upsert-kafka' requires a format of rows, and "
                f"{layout.value_format.name!r} is of changes"
            )
        return layout

    def scan(self, context: ReadContext) -> dict[str, str]:
        """Return the options of Spark's source: all messages up to the bound."""
        name = context.identifier.object_name
        return scan_settings(context.options, name, from_earliest=True)

    def stream_options(self, options: Options) -> dict[str, str]:
        """Return the options of Spark's source for a streaming job, which reads all messages."""
        return stream_settings(options, from_earliest=True)

    def changelog_mode(self, options: Options) -> ChangelogMode:
        """Return the mode of updates by key: a message without a value deletes the row."""
        return ChangelogMode.upsert()

    def consumes_changes(self, options: Options) -> bool:
        """The last change of each key is written; a deletion as a message without a value."""
        return True

    def rows(self, frame: DataFrame, context: WriteContext) -> DataFrame:
        keys = ", ".join(map(quote, context.upsert_key))
        columns = list(map(quote, frame.columns))
        numbered = frame.selectExpr("*", "monotonically_increasing_id() AS schema_core_row")
        rank = f"row_number() OVER (PARTITION BY {keys} ORDER BY schema_core_row DESC)"
        ranked = numbered.selectExpr(*columns, f"{rank} AS schema_core_rank")
        return ranked.where("schema_core_rank = 1").selectExpr(*columns)


def source_of(
    session: SparkSession, settings: Mapping[str, str], *, is_stream: bool = False
) -> tuple[str, Mapping[str, str]]:
    """Return the name of the data source to use, and its options.

    It is Spark's own where Spark has it, and it can do all.

    Raises:
        NotFoundError: `missing-dependency` if there is none.
        UnsupportedError: `option-not-supported` for what the source cannot do.
    """
    required = requires_client(settings, is_stream=is_stream)
    is_in_spark = _has_kafka(session)
    if is_in_spark and required is None:
        return "kafka", settings
    if (problem := missing(CLIENT)) is None:
        return _client_source(session, settings)
    install = f"{install_hint(CLIENT)}, also on the workers of Spark"
    if is_in_spark and required is not None:
        raise UnsupportedError(
            f"Spark's Kafka source cannot {required}",
            code="option-not-supported",
            hint=f"{install}, or change the option",
        )
    raise NotFoundError(
        f"Spark's package for Kafka is not on its class path, and {problem.problem}",
        code="missing-dependency",
        hint=f"{install}, or start Spark with 'spark.jars.packages' = '{package_of('kafka')}'",
    )


def _client_source(
    session: SparkSession, settings: Mapping[str, str]
) -> tuple[str, Mapping[str, str]]:
    """Register the data source over `confluent-kafka`, and return it, with its options."""
    from schema_core.connectors.kafka import client_source as client

    properties = client.client_properties(settings)
    own = to_client_properties(properties)
    _check_pattern(settings.get("subscribePattern"))
    if (reason := client.why_refused(own, writes="topic" in settings)) is not None:
        key = name_of_property(reason, properties)
        raise not_supported(key, reason, "see the configuration of librdkafka for its properties")
    with active_session(session):  # in which Spark looks for a source of this name
        session.dataSource.register(client.TopicSource)
    others = {key: value for key, value in settings.items() if not key.startswith(client.PREFIX)}
    return client.NAME, {**others, **{f"{client.PREFIX}{key}": own[key] for key in own}}


def _check_pattern(pattern: str | None) -> None:
    """Refuse a pattern of topics that Python's engine lacks."""
    if pattern is not None:
        try:
            compile_pattern(pattern)
        except (UdfError, re.error) as error:
            raise UnsupportedError(
                f"{options_of.PATTERN.key!r}: {error}",
                code="option-not-supported",
                hint="list the topics in 'topic'",
            ) from None


def _has_kafka(session: SparkSession) -> bool:
    """Return whether Spark has its Kafka package; over Spark Connect, whether it finds it."""
    if not is_connect(session):
        return has_class(session, SOURCE)
    with suppress(NotFoundError), source_errors("kafka", session.version):
        # the source's columns are known without a broker
        settings = {"kafka.bootstrap.servers": "127.0.0.1:9", "subscribe": "t"}
        return bool(session.read.format("kafka").options(**settings).load().columns)
    return False


# --- messages ------------------------------------------------------------------------------------


def decode_messages(records: DataFrame, layout: MessageLayout, context: ReadContext) -> DataFrame:
    """Return the rows of messages with the columns of Spark's Kafka source."""
    if layout.value_format.name != "raw":  # whose value is then NULL, as in Flink
        records = records.where("value IS NOT NULL")
    frame, columns = _decode(records, layout, context)
    return select(frame, columns)


def decode_changes(records: DataFrame, layout: MessageLayout, context: ReadContext) -> DataFrame:
    """Return the changes of messages; errors are those of `decode_messages`.

    Messages of rows update the row of their key; without a value, they delete it.
    """
    form = layout.value_format
    if form.changes is None:
        kind = f"if(value IS NULL, '{RowKind.DELETE}', '{RowKind.UPDATE_AFTER}')"
        records = records.selectExpr("*", f"0 AS {quote(PLACE)}", f"{kind} AS {quote(ROW_KIND)}")
    frame, columns = _decode(records, layout, context)
    parts = ((name, ColumnNode(name)) for name in ("partition", "offset", PLACE))
    order = (nodes.named_struct(parts), CHANGE_ORDER)
    return select(frame, [*columns, (ColumnNode(ROW_KIND), ROW_KIND), order])


def _decode(
    records: DataFrame, layout: MessageLayout, context: ReadContext
) -> tuple[DataFrame, list[NamedNode]]:
    """Return messages with their parts, and the table's columns and metadata.

    A column of the key and of the value is that of the key in a message without a value.
    """
    types = context.physical_columns
    place = f"concat(topic, ' partition ', partition) AS {FILE}", f"offset AS {LINE}"
    frame = records.selectExpr("*", *place)
    columns = {name: types[name] for name in layout.value}
    form = layout.value_format
    metadata: Mapping[str, Node] = {}
    if form.changes is not None:
        own = [
            key.removeprefix(VALUE_PREFIX)
            for key in context.metadata
            if key.startswith(VALUE_PREFIX)
        ]
        needed = context.change_key if set(context.change_key) <= columns.keys() else ()
        messages = EncodedChanges(frame, "value", columns, form.options, own, needed)
        decoded = form.changes.decode(messages)
        frame, values, metadata = decoded.frame, dict(decoded.columns), decoded.metadata
    else:
        frame, values = form.decode(frame, "value", columns, "schema_core_value")
    if layout.key_format is not None:
        key = {inner: types[name] for inner, name in layout.key.items()}
        frame, key_nodes = layout.key_format.decode(frame, "key", key, "schema_core_key")
        for inner, of_key in key_nodes.items():
            name = layout.key[inner]
            parts = {
                "message": ColumnNode("value"),
                "key": of_key,
                "value": values.get(name, of_key),
            }
            both = inline("if({message} IS NULL, {key}, {value})", **parts)
            values[name] = both if name in values else of_key
    selected: list[NamedNode] = [(values[name], name) for name in types]
    for key_ in context.metadata:
        own_key = key_.removeprefix(VALUE_PREFIX)
        value = metadata.get(own_key) if key_.startswith(VALUE_PREFIX) else None
        selected.append(_metadata(key_) if value is None else (value, metadata_column(key_)))
    return frame, selected


def _metadata(key: str) -> NamedNode:
    return METADATA[key][1], metadata_column(key)


def finish_keys(layout: MessageLayout, context: WriteContext, messages: DataFrame) -> DataFrame:
    """Return messages of `parts_of_messages` with their keys as bytes."""
    if layout.key_format is None:
        return messages
    types = context.physical_columns
    key = {inner: types[name] for inner, name in layout.key.items()}
    return layout.key_format.finish(messages, "key", key)


def finish_values(
    layout: MessageLayout, context: WriteContext, messages: DataFrame, column: str = "value"
) -> DataFrame:
    """Return messages of `parts_of_messages` with their values, in `column`, as bytes."""
    types = context.physical_columns
    value = {name: types[name] for name in layout.value}
    return layout.value_format.finish(messages, column, value)


def parts_of_messages(
    layout: MessageLayout, context: WriteContext, adds: Node = TRUE
) -> list[NamedNode]:
    """Return the columns of Spark's Kafka sink (`type-not-supported`).

    `finish_keys` and `finish_values` complete them.

    `adds` is whether a change adds its row. In a format of rows, other changes have no value.
    """
    types = context.physical_columns
    value = {name: (ColumnNode(name), types[name]) for name in layout.value}
    form = layout.value_format
    if form.changes is not None:
        message = form.encode_change(value, adds)
    else:
        message = form.encode(value)
        if adds is not TRUE:
            message = inline("if({adds}, {message}, NULL)", adds=adds, message=message)
    parts: list[NamedNode] = [(message, "value")]
    if layout.key_format is not None:
        key = {inner: (ColumnNode(name), types[name]) for inner, name in layout.key.items()}
        parts.append((layout.key_format.encode(key), "key"))
    if "headers" in context.metadata:
        headers = call("map_entries", ColumnNode(metadata_column("headers")))
        parts.append((Cast(headers, "ARRAY<STRUCT<key: STRING, value: BINARY>>"), "headers"))
    return parts
