"""Formats of change data: messages with the rows before and after a change, as CDC tools write.

They are those of Flink 2.3: `debezium-json`, `canal-json`, `maxwell-json` and `ogg-json`. A format
states how a message becomes an operation with rows, and how a change becomes a message. Tables,
options, metadata, and what the rows of changes leave are common to all of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Protocol

from schema_core.base.lazy import dataclass
from schema_core.connectors.files.field_values import native_type
from schema_core.connectors.files.file_formats import (
    IGNORE_NULLS,
    JSON,
    JSON_ERRORS,
    NULL_KEYS,
    PLAIN,
    STANDARD,
    finish_field,
    ignore_errors_key,
    is_object,
    parse_rows,
    plain_decimals,
    syntax_of,
)
from schema_core.environment.options import ConfigOption, boolean
from schema_core.errors import UnsupportedError, at
from schema_core.spark.changelog import ROW_KIND
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.compiler.tree import quote, string
from schema_core.spark.jobs import HINT
from schema_core.spark.session.api_mode import functions_of
from schema_core.types import (
    MAX_LENGTH,
    ArrayType,
    BigIntType,
    DataType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    RowField,
    RowKind,
    RowType,
    VarCharType,
    VariantType,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TEXT: Final = VarCharType(MAX_LENGTH)

#: A column of decoded changes, besides `ROW_KIND`: the place of a change in its message.
PLACE: Final = "$place$"
#: Temporary columns: the parsed message, its text and operation, the position and the rows of an
#: element, both rows together, the names of the changed columns, the number of a change, and its
#: row.
_MESSAGE, _TEXT, _OPERATION, _ELEMENT, _BEFORE, _AFTER, _PAIR, _CHANGED, _NUMBER, _ROW = (
    f"$message_{name}$"
    for name in (
        "root", "text", "operation", "element", "before", "after", "pair", "changed", "number",
        "row",
    )
)  # fmt: skip
#: Characters of a message that an error shows.
_SHOWN: Final = 200


class Operation(Enum):
    """What a message does with its rows."""

    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    #: A change of a definition, without rows.
    NONE = "NONE"


class FormatMetadata:
    """A metadata key of a format.

    Args:
        type_: The type of the key.
        field: The field of the message.
        stored: The type of the field; that of the key unless it is given.
        read: Returns the value of the key for that of the field.
    """

    def __init__(
        self,
        type_: DataType,
        field: str,
        stored: DataType | None = None,
        read: Callable[[nodes.Node], nodes.Node] = lambda field: field,
    ) -> None:
        self.type, self.field, self.stored, self.read = type_, field, stored or type_, read


@dataclass(frozen=True, slots=True)
class EncodedChanges:
    """The messages to read.

    Attributes:
        frame: The messages.
        source: The binary column.
        columns: The columns of a row.
        options: The options of the table.
        metadata: The keys of the metadata to return.
        key: The columns that identify a row, if its row before an update is not needed. Other
            columns of removed rows may then be NULL.
    """

    frame: DataFrame
    source: str
    columns: Mapping[str, DataType]
    options: Mapping[str, str]
    metadata: Sequence[str] = ()
    key: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class DecodedChanges:
    """The changes of messages.

    Attributes:
        frame: The columns of the messages' frame, `ROW_KIND`, and `PLACE`, which orders the changes
            of a message.
        columns: The value of each column of the table.
        metadata: The value of each metadata key.
    """

    frame: DataFrame
    columns: Mapping[str, nodes.Node]
    metadata: Mapping[str, nodes.Node]


class ChangeFormat(Protocol):
    """A format whose messages hold changes."""

    @property
    def identifier(self) -> str:
        """The name of the format."""

    @property
    def options(self) -> tuple[ConfigOption[Any], ...]:
        """The options of a table; their prefix is the name of the format."""

    @property
    def metadata(self) -> Mapping[str, FormatMetadata]:
        """The metadata of messages, by key."""

    def require(self, columns: Mapping[str, DataType]) -> None:
        """Refuse columns that a message cannot hold (`type-not-supported`)."""

    def decode(self, messages: EncodedChanges) -> DecodedChanges:
        """Return the changes of messages; those that are NULL or empty are skipped."""

    def encode(
        self,
        columns: Mapping[str, tuple[nodes.Node, DataType]],
        adds: nodes.Node,
        options: Mapping[str, str],
    ) -> nodes.Node:
        """Return the message of a change as a string or bytes.

        Args:
            columns: The values of the row, each in the physical form of its type.
            adds: Whether the change adds its row; it removes it otherwise.
            options: The options of the table.
        """


def require_writable(form: ChangeFormat, options: Mapping[str, str]) -> None:
    """Refuse options of messages that are only read (`invalid-option-value`)."""
    key = f"{form.identifier}.{_SCHEMA}"
    if str(options.get(key, "false")).strip().lower() == "true":
        raise UnsupportedError(
            f"messages of the format {form.identifier!r} cannot be written with their schema",
            code="unsupported-ability",
            hint=f"remove the option {key!r}",
        )


# --- json -----------------------------------------------------------------------------------------

_SCHEMA, _PAYLOAD = "schema-include", "payload"
#: Options of Flink's formats of JSON changes, as those of `json`.
_JSON_OPTIONS: tuple[ConfigOption[Any], ...] = (
    JSON_ERRORS,
    STANDARD,
    IGNORE_NULLS,
    *NULL_KEYS,
    PLAIN,
)


@dataclass(frozen=True, slots=True)
class JsonChanges:
    """A format of JSON objects with an operation and the rows before and after it.

    Attributes:
        identifier: The name of the format.
        operation: The field of the operation.
        before: The field of the row before an update or a deletion.
        after: The field of the row after an insertion or an update.
        codes: The operations by their codes in messages; the first of an operation is written.
        metadata: The metadata of messages, by key.
        is_partial: Whether `before` has only the columns that an update changes; a deleted row is
            in `after`.
        is_list: Whether `before` and `after` are arrays of rows.
        patterns: Option -> the field that matches its pattern in the messages to read.
        has_schema: Whether messages may have their schema, as the option `schema-include` states.
    """

    identifier: str
    operation: str
    before: str
    after: str
    codes: Mapping[str, Operation]
    metadata: Mapping[str, FormatMetadata]
    is_partial: bool = False
    is_list: bool = False
    patterns: Mapping[str, str] | None = None
    has_schema: bool = False

    @property
    def options(self) -> tuple[ConfigOption[Any], ...]:
        """The options of a table; their prefix is the name of the format."""
        prefix = f"{self.identifier}."
        own: list[ConfigOption[Any]] = [
            ConfigOption(
                prefix + option.key.removeprefix("json."),
                option.read,
                option.default,
                option.description,
            )
            for option in _JSON_OPTIONS
        ]
        for suffix, field in (self.patterns or {}).items():
            about = f"reads only messages whose {field!r} matches this regular expression"
            own.append(ConfigOption(prefix + suffix, str, None, about))
        if self.has_schema:
            about = "whether messages have their schema; they cannot be written"
            own.append(ConfigOption(prefix + _SCHEMA, boolean, False, about))
        return tuple(own)

    def require(self, columns: Mapping[str, DataType]) -> None:
        """Refuse columns that a message cannot hold (`type-not-supported`)."""
        for name, type_ in columns.items():
            if (problem := JSON.why_not(type_)) is not None:
                with at(f"column {name!r}"):
                    raise UnsupportedError(
                        f"a message cannot hold the value: {problem}",
                        code="type-not-supported",
                        hint="use another type",
                    )

    def _option(self, options: Mapping[str, str], suffix: str) -> Any:
        key = f"{self.identifier}.{suffix}"
        return next(option for option in self.options if option.key == key).of(options)

    def _syntax(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return the options of fields as those of the format `json`."""
        prefix = f"{self.identifier}."
        return {"format": self.identifier} | {
            f"json.{key.removeprefix(prefix)}": value
            for key, value in options.items()
            if key.startswith(prefix)
        }

    # --- reading -------------------------------------------------------------------------------

    def decode(self, messages: EncodedChanges) -> DecodedChanges:
        """Return the changes of messages; those that are NULL or empty are skipped."""
        frame, columns, options = messages.frame, messages.columns, messages.options
        self.require(columns)
        syntax = self._syntax(options)
        others = [*map(quote, frame.columns)]
        rows = self._rows(self._parse(messages), others, syntax)
        kinds = self._kinds(columns, messages.key, syntax)
        exploded = rows.selectExpr(
            *others,
            *map(quote, (_MESSAGE, _ELEMENT, _CHANGED, _BEFORE, _AFTER)),
            f"posexplode({kinds}) AS ({quote(_NUMBER)}, {quote(ROW_KIND)})",
        )
        exploded = exploded.selectExpr(
            *others,
            *map(quote, (_MESSAGE, ROW_KIND)),
            f"2 * {quote(_ELEMENT)} + {quote(_NUMBER)} AS {quote(PLACE)}",
            f"{self._row(columns, messages.key)} AS {quote(_ROW)}",
        )
        values = {
            name: finish_field(nodes.Field(ColumnNode(_ROW), name), name, type_, syntax)
            for name, type_ in columns.items()
        }
        return DecodedChanges(
            exploded,
            values,
            {name: self._metadata(name, options, syntax) for name in messages.metadata},
        )

    def _metadata(
        self, name: str, options: Mapping[str, str], syntax: Mapping[str, str]
    ) -> nodes.Node:
        item = self.metadata[name]
        if item.field == "schema" and not self._has_schema(options):
            return nodes.Cast(nodes.NULL, "STRING")
        field = nodes.Field(ColumnNode(_MESSAGE), item.field)
        return item.read(finish_field(field, name, item.stored, syntax))

    def _has_schema(self, options: Mapping[str, str]) -> bool:
        return self.has_schema and bool(self._option(options, _SCHEMA))

    def _parse(self, messages: EncodedChanges) -> DataFrame:
        """Return messages that are parsed, without those that the options leave out."""
        columns, options, key = messages.columns, messages.options, messages.key
        functions, syntax = functions_of(messages.frame), self._syntax(options)
        source = quote(messages.source)
        texts = messages.frame.where(f"octet_length({source}) > 0").selectExpr(
            *map(quote, messages.frame.columns), f"CAST({source} AS STRING) AS {quote(_TEXT)}"
        )
        row: DataType = _row_type(columns)
        before: DataType = _row_type({name: columns[name] for name in key}) if key else row
        if self.is_list:
            row, before = ArrayType(row), ArrayType(before)
        items = [self.metadata[name] for name in messages.metadata]
        patterns = self.patterns or {}
        fields = {
            **{item.field: item.stored for item in items if item.field != "schema"},
            **dict.fromkeys(patterns.values(), TEXT),
            self.operation: TEXT,
            self.before: before,
            self.after: row,
        }
        root: dict[str, DataType] = dict(fields)
        if has_schema := self._has_schema(options):
            root = {"schema": TEXT, _PAYLOAD: _row_type(fields)}
        text = functions.col(quote(_TEXT))
        if JSON_ERRORS.of(syntax):
            texts = texts.where(is_object(functions, text, syntax))
        frame = parse_rows(texts, text, _MESSAGE, root, syntax)
        if has_schema:
            message = quote(_MESSAGE)
            own = (f"{string(name)}, {message}.{_PAYLOAD}.{quote(name)}" for name in fields)
            parts = f"named_struct('schema', {message}.schema, {', '.join(own)})"
            frame = frame.selectExpr(*map(quote, texts.columns), f"{parts} AS {message}")
        for suffix, field in patterns.items():
            if (pattern := self._option(options, suffix)) is not None:
                whole = string(rf"\A(?:{pattern})\z")
                frame = frame.where(f"rlike({quote(_MESSAGE)}.{quote(field)}, {whole})")
        return frame

    def _rows(
        self, messages: DataFrame, others: Sequence[str], syntax: Mapping[str, str]
    ) -> DataFrame:
        """Return the operations of messages, each with one row before and one after it."""
        functions = functions_of(messages)
        message, text = quote(_MESSAGE), quote(_TEXT)
        codes = " ".join(
            f"WHEN {string(code)} THEN '{operation.value}'"
            for code, operation in self.codes.items()
        )
        operation = f"CASE {message}.{quote(self.operation)} {codes} END AS {quote(_OPERATION)}"
        frame = messages.selectExpr(*others, text, message, operation)
        if self.is_partial:  # whether a column is missing or NULL, a row does not show
            names = "ARRAY<MAP<STRING, STRING>>" if self.is_list else "MAP<STRING, STRING>"
            old = functions.from_json(
                functions.col(text), f"{quote(self.before)} {names}", {"mode": "PERMISSIVE"}
            ).getField(self.before)
            is_update = functions.expr(f"{quote(_OPERATION)} = '{Operation.UPDATE.value}'")
            frame = frame.select("*", functions.when(is_update, old).alias(_CHANGED))
            changed, values = f"map_keys({quote(_CHANGED)})", f"map_values({quote(_CHANGED)})"
            if self.is_list:  # as in Flink, the names of all rows together
                changed, values = (
                    f"flatten(transform({quote(_CHANGED)}, old -> {name}(old)))"
                    for name in ("map_keys", "map_values")
                )
            path = string(f"$.{self.before}")
            inner = f"regexp_extract_all(get_json_object({text}, {path}), {_NAMES_IN_JSON}, 0)"
            has_inner = rf"exists({values}, value -> rlike(value, '^[{{\\[]'))"
            changed = f"if({has_inner}, concat({changed}, {inner}), {changed})"
        else:
            changed = "NULL"
        common = [*others, text, message, quote(_OPERATION)]
        after, before = (f"{message}.{quote(name)}" for name in (self.after, self.before))
        if not self.is_list:
            return frame.selectExpr(
                *common,
                f"{changed} AS {quote(_CHANGED)}",
                f"0 AS {quote(_ELEMENT)}",
                f"{before} AS {quote(_BEFORE)}",
                f"{after} AS {quote(_AFTER)}",
            )
        pairs = f"transform({after}, (own, place) -> struct(own, get({before}, place) AS old))"
        none = f"array(struct(get({after}, -1) AS own, get({before}, -1) AS old))"
        is_ignored = f"{quote(_OPERATION)} = '{Operation.NONE.value}'"
        pairs = f"if({after} IS NULL AND NOT coalesce({is_ignored}, FALSE), {none}, {pairs})"
        if JSON_ERRORS.of(syntax):  # the rows before the first that cannot be read
            is_update = f"{quote(_OPERATION)} = '{Operation.UPDATE.value}'"
            bad = f"pair -> pair.own IS NULL OR ({is_update} AND pair.old IS NULL)"
            first = f"array_position(transform({pairs}, {bad}), TRUE)"
            pairs = f"slice({pairs}, 1, if({first} = 0, size({pairs}), CAST({first} AS INT) - 1))"
        elements = f"posexplode({pairs}) AS ({quote(_ELEMENT)}, {quote(_PAIR)})"
        exploded = frame.selectExpr(*common, f"{changed} AS {quote(_CHANGED)}", elements)
        return exploded.selectExpr(
            *common,
            quote(_CHANGED),
            quote(_ELEMENT),
            f"{quote(_PAIR)}.`old` AS {quote(_BEFORE)}",
            f"{quote(_PAIR)}.`own` AS {quote(_AFTER)}",
        )

    def _kinds(
        self, columns: Mapping[str, DataType], key: Sequence[str], syntax: Mapping[str, str]
    ) -> str:
        """Return the array of the kinds of an operation's changes.

        A corrupt message has none, or fails.
        """
        before, after, operation = map(quote, (_BEFORE, _AFTER, _OPERATION))

        def array(*kinds: RowKind) -> str:
            return f"array({', '.join(string(str(kind)) for kind in kinds)})"

        update = array(RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER)
        if key:
            is_same = " AND ".join(self._is_same(name, columns[name], syntax) for name in key)
            update = f"if({is_same}, {array(RowKind.UPDATE_AFTER)}, {update})"
        has_old = f"{after if self.is_partial else before} IS NOT NULL"
        branches = (
            (Operation.INSERT, f"{after} IS NOT NULL", array(RowKind.INSERT)),
            (Operation.UPDATE, f"{before} IS NOT NULL AND {after} IS NOT NULL", update),
            (Operation.DELETE, has_old, array(RowKind.DELETE)),
            (Operation.NONE, "TRUE", "NULL"),
        )
        cases = " ".join(
            f"WHEN {operation} = '{case.value}' AND {condition} THEN {value}"
            for case, condition, value in branches
        )
        failed = "NULL" if JSON_ERRORS.of(syntax) else f"raise_error({self._problem()})"
        return f"CASE {cases} ELSE {failed} END"

    def _row(self, columns: Mapping[str, DataType], key: Sequence[str]) -> str:
        """Return the row of a change."""
        kind, after, old = quote(ROW_KIND), quote(_AFTER), self._old_row(columns, key)
        removed = after if self.is_partial else old
        return (
            f"CASE {kind} WHEN '{RowKind.UPDATE_BEFORE}' THEN {old}"
            f" WHEN '{RowKind.DELETE}' THEN {removed} ELSE {after} END"
        )

    def _old_row(self, columns: Mapping[str, DataType], key: Sequence[str]) -> str:
        """Return the row before an update or a deletion, of the type of the row after it."""
        before, after = quote(_BEFORE), quote(_AFTER)
        if not self.is_partial and not key:
            return before
        parts = []
        for name in columns:
            old, new = f"{before}.{quote(name)}", f"{after}.{quote(name)}"
            if key and name not in key:
                value = f"if(FALSE, {new}, NULL)"
            elif self.is_partial:
                value = f"if({_is_changed(name)}, {old}, {new})"
            else:
                value = old
            parts.append(f"{string(name)}, {value}")
        return f"named_struct({', '.join(parts)})"

    def _is_same(self, name: str, type_: DataType, syntax: Mapping[str, str]) -> str:
        """Return whether a column of the key is the same before and after an update.

        A key of a type with parts counts as changed.
        """
        old, new = f"{quote(_BEFORE)}.{quote(name)}", f"{quote(_AFTER)}.{quote(name)}"
        if type_.children():
            return "FALSE"
        if isinstance(native_type(type_, syntax_of(dict(syntax))), VariantType):
            old, new = f"CAST({old} AS STRING)", f"CAST({new} AS STRING)"
        same = f"{old} <=> {new}"
        if self.is_partial:
            same = f"(NOT coalesce({_is_changed(name)}, FALSE) OR {same})"
        return same

    def _problem(self) -> str:
        """Return what is wrong with a message that has no operation or lacks a row of it."""
        after, operation = quote(_AFTER), quote(_OPERATION)
        code = f"coalesce({quote(_MESSAGE)}.{quote(self.operation)}, 'NULL')"
        removal = f"{operation} = '{Operation.DELETE.value}'"
        is_removal = "FALSE" if self.is_partial else removal
        lacks_after = f"{after} IS NULL AND NOT {is_removal}"
        missing = f"if({lacks_after}, '{self.after}', '{self.before}')"
        advice = f"{HINT}set '{ignore_errors_key({'format': self.identifier})}' = 'true'"
        advice += " to skip such messages"
        if not self.is_partial:
            advice += "; for rows before changes, a table of Postgres needs REPLICA IDENTITY FULL"
        what = (
            f"if({operation} IS NULL, concat('unknown {self.operation} value ', {code}),"
            f" concat('the field ', {missing}, ' of the ', {operation}, ' is missing'))"
        )
        start = string(f"corrupt {self.identifier} message: ")
        return f"concat({start}, {what}, ': ', left({quote(_TEXT)}, {_SHOWN}), {string(advice)})"

    # --- writing -------------------------------------------------------------------------------

    def encode(
        self,
        columns: Mapping[str, tuple[nodes.Node, DataType]],
        adds: nodes.Node,
        options: Mapping[str, str],
    ) -> nodes.Node:
        """Return the message of a change as a string."""
        self.require({name: type_ for name, (_, type_) in columns.items()})
        if PLAIN.of(self._syntax(options)):
            columns = {
                name: (plain_decimals(node, type_), type_)
                for name, (node, type_) in columns.items()
            }
        row: nodes.Node = nodes.named_struct((name, node) for name, (node, _) in columns.items())
        added, removed = (
            next(code for code, operation in self.codes.items() if operation is case)
            for case in (Operation.INSERT, Operation.DELETE)
        )
        code = inline("if({adds}, {added}, {removed})", adds=adds, added=added, removed=removed)
        if self.is_partial:
            parts = [(self.after, nodes.call("array", row) if self.is_list else row)]
        else:
            before = inline("if({adds}, NULL, {row})", adds=adds, row=row)
            after = inline("if({adds}, {row}, NULL)", adds=adds, row=row)
            parts = [(self.before, before), (self.after, after)]
        settings = [
            nodes.Literal(part)
            for pair in JSON.writing(self._syntax(options)).items()
            for part in pair
        ]
        message = nodes.named_struct([*parts, (self.operation, code)])
        return nodes.call("to_json", message, nodes.call("map", *settings))


#: Matches the strings of json, and the names of fields with the colon.
_NAMES_IN_JSON: Final = string(r'"[^"\\]*+(?:\\.[^"\\]*+)*+":?')


def _is_changed(name: str) -> str:
    """Return whether an update names a column, which Flink also looks for in nested objects."""
    forms = (string(name), string(f"{json.dumps(name, ensure_ascii=False)}:"))
    tests = (f"array_contains({quote(_CHANGED)}, {form})" for form in forms)
    return f"({' OR '.join(tests)})"


def _row_type(columns: Mapping[str, DataType]) -> RowType:
    return RowType(tuple(RowField(name, type_.nullable()) for name, type_ in columns.items()))


# --- the formats ----------------------------------------------------------------------------------


def _from_millis(field: nodes.Node) -> nodes.Node:
    return nodes.call("timestamp_millis", field)


def _from_text(field: nodes.Node) -> nodes.Node:
    """Return the instant of a time in UTC."""
    return inline("CAST(concat(replace({v}, 'T', ' '), 'Z') AS TIMESTAMP)", v=field)


def _of_source(key: str) -> Callable[[nodes.Node], nodes.Node]:
    return lambda source: nodes.call("try_element_at", source, key)


def _source_time(source: nodes.Node) -> nodes.Node:
    return _from_millis(nodes.Cast(_of_source("ts_ms")(source), "BIGINT"))


_MILLISECONDS, _MICROSECONDS = LocalZonedTimestampType(3), LocalZonedTimestampType(6)
_PROPERTIES: Final = MapType(TEXT, TEXT)
_NAMES: Final = ArrayType(TEXT)


def _time(field: str) -> FormatMetadata:
    return FormatMetadata(_MILLISECONDS, field, BigIntType(), _from_millis)


def _text_time(field: str) -> FormatMetadata:
    return FormatMetadata(_MICROSECONDS, field, TEXT, _from_text)


def _source(key: str) -> FormatMetadata:
    return FormatMetadata(TEXT, "source", _PROPERTIES, _of_source(key))


#: The metadata of Debezium's messages, which its formats share.
DEBEZIUM_METADATA: Mapping[str, FormatMetadata] = {
    "schema": FormatMetadata(TEXT, "schema"),
    "ingestion-timestamp": _time("ts_ms"),
    "source.timestamp": FormatMetadata(_MILLISECONDS, "source", _PROPERTIES, _source_time),
    "source.database": _source("db"),
    "source.schema": _source("schema"),
    "source.table": _source("table"),
    "source.properties": FormatMetadata(_PROPERTIES, "source"),
}
#: The operations of Debezium's messages; the first code of an operation is written.
DEBEZIUM_CODES: Mapping[str, Operation] = {
    "c": Operation.INSERT,
    "r": Operation.INSERT,
    "u": Operation.UPDATE,
    "d": Operation.DELETE,
}
_CODES: Final = {
    "INSERT": Operation.INSERT,
    "UPDATE": Operation.UPDATE,
    "DELETE": Operation.DELETE,
}

#: The formats by their names.
CHANGE_FORMATS: Mapping[str, ChangeFormat] = {
    form.identifier: form
    for form in (
        JsonChanges(
            "debezium-json",
            operation="op",
            before="before",
            after="after",
            codes=DEBEZIUM_CODES,
            metadata=DEBEZIUM_METADATA,
            has_schema=True,
        ),
        JsonChanges(
            "canal-json",
            operation="type",
            before="old",
            after="data",
            codes={**_CODES, "CREATE": Operation.NONE},
            metadata={
                "database": FormatMetadata(TEXT, "database"),
                "table": FormatMetadata(TEXT, "table"),
                "sql-type": FormatMetadata(MapType(TEXT, IntType()), "sqlType"),
                "pk-names": FormatMetadata(_NAMES, "pkNames"),
                "ingestion-timestamp": _time("ts"),
                "event-timestamp": _time("es"),
            },
            is_partial=True,
            is_list=True,
            patterns={"database.include": "database", "table.include": "table"},
        ),
        JsonChanges(
            "maxwell-json",
            operation="type",
            before="old",
            after="data",
            codes={code.lower(): operation for code, operation in _CODES.items()},
            metadata={
                "database": FormatMetadata(TEXT, "database"),
                "table": FormatMetadata(TEXT, "table"),
                "primary-key-columns": FormatMetadata(_NAMES, "primary_key_columns"),
                "ingestion-timestamp": _time("ts"),
            },
            is_partial=True,
        ),
        JsonChanges(
            "ogg-json",
            operation="op_type",
            before="before",
            after="after",
            codes={code[0]: operation for code, operation in _CODES.items()},
            metadata={
                "table": FormatMetadata(TEXT, "table"),
                "primary-keys": FormatMetadata(_NAMES, "primary_keys"),
                "ingestion-timestamp": FormatMetadata(
                    _MICROSECONDS, "current_ts", TEXT, _from_text
                ),
                "event-timestamp": FormatMetadata(_MICROSECONDS, "op_ts", TEXT, _from_text),
            },
        ),
    )
}
