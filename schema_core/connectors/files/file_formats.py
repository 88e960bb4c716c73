"""File formats, and the conversion between fields of text files and columns.

Text formats are read as strings and converted as Flink does. A field that cannot be parsed fails
the job or, on request, is NULL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from schema_core import types
from schema_core.base.lazy import dataclass
from schema_core.connectors.files import csv_files, field_values
from schema_core.environment.options import ConfigOption, boolean, choice
from schema_core.errors import SchemaError
from schema_core.mappings.spark.pyspark_types import to_struct_field
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.expression import convert_parts, to_physical
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import CHARACTERS, sql_type
from schema_core.spark.compiler.tree import NULL as NULL_NODE
from schema_core.spark.compiler.tree import quote
from schema_core.spark.jobs import HINT
from schema_core.spark.session.api_mode import functions_of
from schema_core.spark.session.frames import select

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.types import RowField


class FileCodec(Protocol):
    """Translates between the columns of a table and Spark's."""

    def require(self, fields: Sequence[RowField], options: csv_files.Options) -> None:
        """Refuse columns that the format cannot hold."""

    def physical_type(self, type_: types.DataType, options: csv_files.Options) -> types.DataType:
        """Return the type as which Spark reads a column."""

    def reading(self, options: csv_files.Options) -> dict[str, str]:
        """Return the options of Spark's reader."""

    def writing(self, fields: Sequence[RowField], options: csv_files.Options) -> dict[str, str]:
        """Return the options of Spark's writer."""

    def decode(
        self, node: nodes.Node, name: str, type_: types.DataType, options: csv_files.Options
    ) -> nodes.Node:
        """Return the value of a column that Spark reads."""

    def encode(
        self, node: nodes.Node, name: str, type_: types.DataType, options: csv_files.Options
    ) -> nodes.Node:
        """Return the value that Spark writes."""


@dataclass(frozen=True, slots=True)
class Format:
    """A file format.

    `options` may be set on a table. `known` converts the null literal of a text format to NULL.
    `why_not` returns why a file cannot hold a type. `reading` and `writing` return options of
    Spark's reader and writer. `source` is Spark's data source, if it has another name. A `codec`
    does all this for formats whose values Spark stores as other types.
    """

    requires: ClassVar[tuple[str, ...]] = ("pyspark",)

    identifier: str
    options: tuple[ConfigOption[Any], ...] = ()
    is_text: bool = False
    reading: Callable[[csv_files.Options], dict[str, str]] = lambda _: {}
    writing: Callable[[csv_files.Options], dict[str, str]] = lambda _: {}
    known: Callable[[nodes.Node, types.DataType, csv_files.Options], nodes.Node] = (
        lambda node, _type, _options: node
    )
    why_not: Callable[[types.DataType], str | None] = lambda _: None
    refused_in_names: tuple[str, ...] = ()
    source: str | None = None
    codec: FileCodec | None = None

    @property
    def is_typed(self) -> bool:
        """Whether Spark reads and writes values in the types of the columns."""
        return self.codec is None and not self.is_text


# --- json --------------------------------------------------------------------------------------

JSON_ERRORS = ConfigOption(
    "json.ignore-parse-errors",
    boolean,
    False,
    "whether a field that cannot be parsed is NULL instead of an error",
)
STANDARD = ConfigOption(
    "json.timestamp-format.standard",
    choice("SQL", "ISO-8601"),
    "SQL",
    "whether date and time of a timestamp are separated by a space or a T",
)
IGNORE_NULLS = ConfigOption(
    "json.encode.ignore-null-fields", boolean, False, "whether fields that are NULL are not written"
)
#: Options for maps with a NULL key, which fail the job: no map has one.
NULL_KEYS: tuple[ConfigOption[Any], ...] = tuple(
    ConfigOption(f"json.map-null-key.{suffix}", parse, default, "no effect: maps have no NULL keys")
    for suffix, parse, default in (
        ("mode", choice("FAIL", "DROP", "LITERAL"), "FAIL"),
        ("literal", str, "null"),
    )
)
MISSING = ConfigOption(
    "json.fail-on-missing-field",
    boolean,
    False,
    "whether an object fails the job if it lacks a field of the row or of a row in it",
)
PLAIN = ConfigOption(
    "json.encode.decimal-as-plain-number",
    boolean,
    False,
    "whether decimals are written without an exponent",
)
#: Flink's two parsers differ only in their speed and in the text of their errors.
PARSER = ConfigOption(
    "json.decode.json-parser.enabled", boolean, True, "no effect: there is one parser"
)


def why_not_csv(type_: types.DataType) -> str | None:
    """Return why a value of a type cannot be a field of csv, or None.

    As in Flink, the elements of an ARRAY and the fields of a ROW have no parts.
    """
    is_list = isinstance(type_, types.ArrayType | types.RowType | types.StructuredType)
    if not type_.children() or (
        is_list and not any(child.children() for child in type_.children())
    ):
        return None
    return f"csv cannot hold a value of {type_.nullable().as_summary_string()}"


def why_not_json(type_: types.DataType) -> str | None:
    """Return why a value of a type cannot be in json, or None."""
    for part in type_.walk():
        if isinstance(part, types.MapType | types.MultisetType):
            key = part.children()[0]
            if not isinstance(key, CHARACTERS):
                return f"json has keys of strings only, got {part.nullable().as_summary_string()}"
    return None


def _json(options: csv_files.Options) -> dict[str, str]:
    mark = " " if STANDARD.of(options) == "SQL" else "'T'"
    shape = f"yyyy-MM-dd{mark}HH:mm:ss[.SSSSSS]"
    return {
        "timestampNTZFormat": shape,
        "timestampFormat": f"{shape}'Z'",
        "ignoreNullFields": str(IGNORE_NULLS.of(options)).lower(),
    }


#: Decimals with at most as many digits after the point are written without an exponent by Java.
_PLAIN_DIGITS: Final = 6


def is_object(functions: Any, text: Any, options: csv_files.Options) -> Any:
    """Return PySpark's condition that a string is an object of json."""
    return functions.from_json(text, "MAP<STRING, STRING>", _read_json(options)).isNotNull()


def fails_on_missing(options: csv_files.Options) -> bool:
    """Return whether an object that lacks a field fails the job.

    Raises:
        SchemaError: with code `invalid-option-value` if such an error is also ignored.
    """
    if MISSING.of(options) and JSON_ERRORS.of(options):
        raise SchemaError(
            f"the options {MISSING.key!r} and {JSON_ERRORS.key!r} must not both be true",
            code="invalid-option-value",
        )
    return bool(MISSING.of(options))


def require_all_fields(
    text: nodes.Node, columns: Iterable[tuple[Sequence[str], types.DataType]]
) -> nodes.Node:
    """Return a string of json; an object that lacks a field of its row fails the job.

    Args:
        text: The string.
        columns: For each column, the names of which an object has one, and its type.
    """

    def lacks(
        value: nodes.Node, fields: Iterable[tuple[Sequence[str], types.DataType]]
    ) -> nodes.Node:
        """Return whether an object lacks a field; NULL and other values do not."""
        members = inline("try_cast({v} AS MAP<STRING, VARIANT>)", v=value)

        def test(members: nodes.Node) -> nodes.Node:
            tests: list[nodes.Node] = []
            for names, type_ in fields:
                has = [nodes.call("map_contains_key", members, name) for name in names]
                tests.append(inline("NOT ({has})", has=_any_of(has)))
                value = nodes.call("try_element_at", members, names[0])
                if (inner := part(value, type_)) is not None:
                    tests.append(inner)
            return nodes.call("coalesce", _any_of(tests), nodes.FALSE)

        return nodes.let(members, test)

    def part(value: nodes.Node, type_: types.DataType) -> nodes.Node | None:
        """Return whether a part of a value lacks a field, None if it has no rows."""
        match _stored_as(type_):
            case types.RowType(fields=fields) | types.StructuredType(fields=fields):
                return lacks(value, [((item.name,), item.data_type) for item in fields])
            case types.ArrayType(element_type=element):
                items = inline("try_cast({v} AS ARRAY<VARIANT>)", v=value)
            case types.MapType(value_type=element):
                members = inline("try_cast({v} AS MAP<STRING, VARIANT>)", v=value)
                items = nodes.call("map_values", members)
            case _:
                return None
        if part(nodes.NULL, element) is None:
            return None

        def test(item: nodes.Node) -> nodes.Node:
            return part(item, element) or nodes.FALSE

        is_any = nodes.call("exists", items, nodes.function(test))
        return nodes.call("coalesce", is_any, nodes.FALSE)

    problem = inline(
        "raise_error(concat({problem}, left({text}, 200), {hint}))",
        problem="an object of json lacks a field of its row: ",
        text=text,
        hint=f"{HINT}set '{MISSING.key}' = 'false' to read NULL there",
    )
    return inline(
        "if({lacks}, {problem}, {text})",
        lacks=lacks(nodes.call("try_parse_json", text), columns),
        problem=problem,
        text=text,
    )


def _any_of(tests: Sequence[nodes.Node]) -> nodes.Node:
    return nodes.operator("OR", *tests) if len(tests) > 1 else tests[0]


def plain_decimals(node: nodes.Node, type_: types.DataType) -> nodes.Node:
    """Return a value whose decimals have no exponent in json.

    Java writes one for those less than 0.000001, for which others have too few digits; VARIANT
    writes none, and no zeros at the end.
    """
    if isinstance(type_, types.DecimalType) and type_.scale > _PLAIN_DIGITS:
        return nodes.Cast(node, "VARIANT")
    if type_.children() and any(isinstance(part, types.DecimalType) for part in type_.walk()):
        return convert_parts(node, type_, plain_decimals)
    return node


def parse_objects(
    frame: DataFrame, text: Any, target: str, stored: Any, exact: Any, options: csv_files.Options
) -> DataFrame:
    """Return a frame with one more column: the rows of strings that hold objects of json.

    Args:
        frame: The frame with the strings.
        text: The column of the strings.
        target: The name of the new column.
        stored: The Spark type of a row, with strings (`text_reader_type`).
        exact: The same with DECIMALs (`exact_type`). `from_json` reads a number as a string by way
            of a DOUBLE, which loses the digits after the seventeenth.
        options: The options of the table.
    """
    functions = functions_of(frame)
    syntax = _read_json(options)
    record = functions.from_json(text, stored, syntax).alias(target)
    if stored == exact:
        return frame.select("*", record)
    numbers = f"{target} numbers"
    exact_record = functions.from_json(text, exact, {**syntax, "mode": "PERMISSIVE"})
    rows = frame.select("*", record, exact_record.alias(numbers))
    merged = _with_exact_decimals(
        functions, functions.col(quote(target)), functions.col(quote(numbers)), exact
    )
    return rows.select(*map(quote, frame.columns), merged.alias(target))


#: The text of an object of json with a value of another token than that of its type.
_CORRUPT: Final = "$corrupt$"


def parse_rows(
    frame: DataFrame,
    text: Any,
    target: str,
    columns: Mapping[str, types.DataType],
    options: csv_files.Options,
) -> DataFrame:
    """Return a frame with one more column: rows of strings of json, each value a `native_type`.

    Spark parses an object once. Only an object that it finds corrupt is parsed as strings, which
    `parse_field` converts. `finish_field` returns the value of a column.

    Args:
        frame: The frame with the strings.
        text: The column of the strings.
        target: The name of the new column.
        columns: The columns of a row.
        options: The options of the table.
    """
    from pyspark.sql.types import StringType, StructType

    functions, syntax = functions_of(frame), syntax_of(options)
    converters: tuple[Callable[[types.DataType], types.DataType], ...] = (
        partial(field_values.reader_type, syntax=syntax),
        field_values.exact_type,
        partial(field_values.native_type, syntax=syntax),
    )
    stored, exact, native = (
        StructType(
            [to_struct_field(name, convert(type_.nullable())) for name, type_ in columns.items()]
        )
        for convert in converters
    )
    if native == stored:
        return parse_objects(frame, text, target, stored, exact, options)
    rows, strict = f"{target} native", f"{target} strict"
    schema = StructType(native.fields).add(_CORRUPT, StringType())
    reading = {**_read_json(options), "mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    parsed = frame.select("*", functions.from_json(text, schema, reading).alias(rows))
    is_corrupt = functions.col(f"{quote(rows)}.{quote(_CORRUPT)}").isNotNull()
    corrupt = functions.when(is_corrupt, text)
    parsed = parse_objects(parsed, corrupt, strict, stored, exact, options)

    def value(name: str, type_: types.DataType) -> nodes.Node:
        return inline(
            "if({corrupt} IS NULL, {native}, {strict})",
            corrupt=nodes.Field(nodes.Column(rows), _CORRUPT),
            native=nodes.Field(nodes.Column(rows), name),
            strict=_as_native(nodes.Field(nodes.Column(strict), name), name, type_, options),
        )

    record = nodes.named_struct((name, value(name, type_)) for name, type_ in columns.items())
    others = [(nodes.Column(name), name) for name in frame.columns]
    return select(parsed, [*others, (record, target)])


def _as_native(
    node: nodes.Node, name: str, type_: types.DataType, options: csv_files.Options
) -> nodes.Node:
    """Return a value that was read as strings as its `native_type`."""
    type_ = _stored_as(type_)
    if type_.children():
        return convert_parts(node, type_, lambda part, of: _as_native(part, name, of, options))
    if not field_values.is_native(type_):
        return node
    native = field_values.native_type(type_, syntax_of(options))
    return nodes.Cast(parse_field(node, name, type_, options), sql_type(native))


def finish_field(
    node: nodes.Node, name: str, type_: types.DataType, options: csv_files.Options
) -> nodes.Node:
    """Return a value of `parse_rows` in the physical form of its type."""
    type_ = _stored_as(type_)
    if type_.children() and any(
        not isinstance(part, CHARACTERS) for part in type_.walk() if not part.children()
    ):
        return convert_parts(node, type_, lambda part, of: finish_field(part, name, of, options))
    if not field_values.is_native(type_):
        return parse_field(node, name, type_, options)
    if isinstance(type_, types.DecimalType):
        node = nodes.Cast(node, sql_type(type_), safe=True)
    return to_physical(node, type_)


def _stored_as(type_: types.DataType) -> types.DataType:
    """Return the type as which a value is in a file or message."""
    match type_:
        case types.DistinctType(source_type=source):
            return _stored_as(source)
        case types.MultisetType(element_type=element):
            return types.MapType(element, types.IntType())
        case _:
            return type_


def _with_exact_decimals(functions: Any, value: Any, exact: Any, type_: Any) -> Any:
    """Return a value read as strings, with the DECIMALs that could be read as such.

    Args:
        functions: The functions of PySpark.
        value: The column that was read as strings.
        exact: The same column with DECIMALs.
        type_: The Spark type of `exact`.
    """
    if "decimal" not in type_.json():
        return value
    merge = partial(_with_exact_decimals, functions)
    match type_.typeName():
        case "decimal":
            return functions.coalesce(exact.cast("string"), value)
        case "array":
            merged = functions.zip_with(value, exact, lambda a, b: merge(a, b, type_.elementType))
            return functions.coalesce(merged, value)  # an array with another token is not exact
        case "map":
            merged = functions.map_zip_with(
                value, exact, lambda _, a, b: merge(a, b, type_.valueType)
            )
            is_whole = functions.size(merged) == functions.size(value)
            return functions.when(is_whole, merged).otherwise(value)
        case "struct":
            parts = [
                merge(value.getField(field.name), exact.getField(field.name), field.dataType).alias(
                    field.name
                )
                for field in type_.fields
            ]
            return functions.when(value.isNotNull(), functions.struct(*parts))
        case _:
            return value


def _read_json(options: csv_files.Options) -> dict[str, str]:
    mode = "PERMISSIVE" if JSON_ERRORS.of(options) else "FAILFAST"
    syntax = {"allowNonNumericNumbers": "false", "allowUnquotedControlChars": "true"}
    return {**_json(options), **syntax, "mode": mode}


FORMATS: dict[str, Format] = {
    item.identifier: item
    for item in (
        Format(
            "csv",
            (
                csv_files.DELIMITER,
                csv_files.NO_QUOTE,
                csv_files.QUOTE,
                csv_files.ESCAPE,
                csv_files.COMMENTS,
                csv_files.CSV_ERRORS,
                csv_files.NULL,
                csv_files.EMPTY_IS_NULL,
                csv_files.ELEMENTS,
                csv_files.TRAILING,
                csv_files.EXTRA,
                csv_files.COMPLETE,
                csv_files.TRIM,
                csv_files.SCIENTIFIC,
                csv_files.HEADER,
            ),
            is_text=True,
            known=csv_files.known_field,
            why_not=why_not_csv,
        ),
        Format(
            "json",
            (JSON_ERRORS, STANDARD, IGNORE_NULLS, *NULL_KEYS, MISSING, PLAIN, PARSER),
            is_text=True,
            reading=_read_json,
            writing=_json,
            why_not=why_not_json,
        ),
        Format("parquet"),
        # Spark keeps the schema of ORC files in Hadoop's configuration, where backticks in names
        # are not read and variables are substituted.
        Format("orc", refused_in_names=("`", "${")),
    )
}

CSV, JSON, PARQUET, ORC = (FORMATS[name] for name in ("csv", "json", "parquet", "orc"))


# --- fields ------------------------------------------------------------------------------------


_IN_FILE = nodes.call(
    "concat", " in ", nodes.Field(nodes.Column(csv_files.FILE_METADATA), "file_path")
)
#: Format -> the place of a row, for messages.
PLACES: dict[str, nodes.Node] = {
    "csv": nodes.call(
        "concat", " in ", nodes.Column(csv_files.FILE), ", line ", nodes.Column(csv_files.LINE)
    ),
    **dict.fromkeys(("json", "avro", "raw"), _IN_FILE),
}


#: Part of the message of `parse_field`.
CANNOT_READ = ": cannot read as "


def syntax_of(options: csv_files.Options) -> field_values.Syntax:
    """Return the syntax of strings in files or messages."""
    if not _is_json(options):
        return field_values.Syntax.CSV
    return (
        field_values.Syntax.JSON if STANDARD.of(options) == "SQL" else field_values.Syntax.JSON_ISO
    )


def parse_field(
    node: nodes.Node,
    name: str,
    type_: types.DataType,
    options: csv_files.Options,
    place: nodes.Node | None = None,
) -> nodes.Node:
    """Return a value of a text format in the physical form of its type.

    An invalid string fails the job with its column and `place`.
    """
    type_ = _stored_as(type_)
    is_text = all(isinstance(node, CHARACTERS) for node in type_.walk() if not node.children())
    if is_text and (not type_.children() or syntax_of(options) is not field_values.Syntax.CSV):
        return node
    if type_.children() and syntax_of(options) is field_values.Syntax.CSV:
        return nodes.let(node, lambda text: _parsed_list(text, name, type_, options, place))
    if type_.children():
        return convert_parts(
            node, type_, lambda part, of: parse_field(part, name, of, options, place)
        )
    return to_physical(_parsed_scalar(node, name, type_, options, place), type_)


def _parsed_list(
    text: nodes.Node,
    name: str,
    type_: types.DataType,
    options: csv_files.Options,
    place: nodes.Node | None,
) -> nodes.Node:
    """Return an ARRAY or ROW of a csv field: a blank one is an empty array or a NULL row."""
    pattern = re.sub(r"([^A-Za-z0-9_])", r"\\\1", str(csv_files.ELEMENTS.of(options)))
    parts = nodes.call("split", text, pattern, -1)

    def part(node: nodes.Node, of: types.DataType) -> nodes.Node:
        return parse_field(csv_files.known_field(node, of, options), name, of, options, place)

    if isinstance(type_, types.ArrayType):
        element = type_.element_type
        elements = inline(
            "if(rlike({text}, {blank}), slice({parts}, 1, 0), {parts})",
            text=text,
            blank=field_values.BLANK,
            parts=parts,
        )
        return nodes.call("transform", elements, nodes.function(lambda item: part(item, element)))
    if not isinstance(type_, types.RowType | types.StructuredType):
        return text  # `why_not_csv` refuses other types
    fields = type_.fields

    def row(parts: nodes.Node) -> nodes.Node:
        values = [
            value
            for place, field in enumerate(fields)
            for value in (field.name, part(nodes.Element(parts, place), field.data_type))
        ]
        made = nodes.call("named_struct", *values)
        if is_lenient(options):
            return made
        problem = (
            f"column '{name}'{CANNOT_READ}{type_.as_summary_string()}, "
            f"expected {len(fields)} values between {csv_files.ELEMENTS.of(options)!r}: "
        )
        return inline(
            "if(size({parts}) < {width}, raise_error(concat({problem}, {text},"
            " coalesce({place}, ''))), {made})",
            parts=parts,
            width=len(fields),
            problem=problem,
            text=text,
            place=NULL_NODE if place is None else place,
            made=made,
        )

    return nodes.null_or(
        inline("coalesce(rlike({text}, {blank}), TRUE)", text=text, blank=field_values.BLANK),
        nodes.let(parts, row),
    )


def is_lenient(options: csv_files.Options) -> bool:
    """Return whether a field that cannot be parsed is NULL."""
    return bool(csv_files.CSV_ERRORS.of(options) or JSON_ERRORS.of(options))


def _parsed_scalar(
    node: nodes.Node,
    name: str,
    type_: types.DataType,
    options: csv_files.Options,
    place: nodes.Node | None,
) -> nodes.Node:
    syntax = syntax_of(options)
    hint = f"set '{ignore_errors_key(options)}' = 'true' to read NULL there"
    if place is not None and syntax is field_values.Syntax.CSV and not csv_files.HEADER.of(options):
        hint = (
            f"if the first line names the columns, set '{csv_files.HEADER.key}' = 'true'; or {hint}"
        )
    if syntax is field_values.Syntax.CSV and not csv_files.EMPTY_IS_NULL.of(options):
        is_free = csv_files.NULL.of(options) is None
        key, value = (csv_files.NULL.key, "") if is_free else (csv_files.EMPTY_IS_NULL.key, "true")
        hint = f"if empty fields are NULL, set '{key}' = '{value}'; {hint}"

    def body(value: nodes.Node) -> nodes.Node:
        read = field_values.read_value(value, type_, syntax)
        if is_lenient(options):
            return read
        shown = field_values.token_as_text(value, type_, syntax)
        if syntax is field_values.Syntax.CSV:
            shown = inline("if({text} = '', 'an empty field', {text})", text=shown)
        return inline(
            "coalesce({read}, if({text} IS NULL OR {known}, NULL,"
            " raise_error(concat({problem}, {text}, coalesce({place}, ''), {hint}))))",
            read=read,
            text=shown,
            known=field_values.is_value(value, type_, syntax),
            problem=f"column '{name}'{CANNOT_READ}{type_.as_summary_string()}: ",
            place=NULL_NODE if place is None else place,
            hint=f"{HINT}{hint}",
        )

    return nodes.let(node, body)


def ignore_errors_key(options: csv_files.Options) -> str:
    """Return the option by which invalid fields are NULL, of the table's own format."""
    if not _is_json(options):
        return csv_files.CSV_ERRORS.key
    return f"{options['format']}.{JSON_ERRORS.key.removeprefix('json.')}"


def _is_json(options: csv_files.Options) -> bool:
    """Return whether fields are those of json, also within the messages of `debezium-json`."""
    return options.get("format", "").endswith(JSON.identifier)


def render_field(
    node: nodes.Node,
    name: str,
    type_: types.DataType,
    options: csv_files.Options,
    *,
    has_scale: bool = False,
) -> nodes.Node:
    """Return a value as a csv field; NULL remains NULL.

    With `has_scale`, as in messages, decimals have all digits of their scale and no exponent.
    """

    def render_part(node: nodes.Node, type_: types.DataType) -> nodes.Node:
        text = _rendered_scalar(node, type_, options, has_scale=has_scale)
        return csv_files.stored_text(csv_files.CsvColumn(name, text, type_), options)

    match type_:
        case types.ArrayType(element_type=element):
            parts = nodes.call(
                "transform",
                node,
                nodes.function(lambda item: render_part(item, element)),
            )
        case types.RowType() | types.StructuredType():
            parts = nodes.call(
                "array",
                *(
                    render_part(nodes.Field(node, field.name), field.data_type)
                    for field in type_.fields
                ),
            )
        case _:
            return _rendered_scalar(node, type_, options, has_scale=has_scale)
    joined = csv_files.joined_text(csv_files.CsvColumn(name, node, type_), parts, options)
    return nodes.null_or(nodes.is_null(node), joined)


#: The zeros at the end of a fraction of a second, which Flink does not write.
_ZEROS_OF_FRACTION: Final = r"\.0+\z|(\.[0-9]*?[1-9])0+\z"


def _rendered_scalar(
    node: nodes.Node, type_: types.DataType, options: csv_files.Options, *, has_scale: bool
) -> nodes.Node:
    match type_:
        case types.DecimalType():
            text = convert(node, type_, field_values.TEXT)
            return text if has_scale else csv_files.decimal_text(text, type_, options)
        case types.BooleanType():
            return nodes.Cast(node, "STRING")
        case types.BinaryType() | types.VarBinaryType():
            return nodes.call("base64", node)
        case types.AnyTimestampType():
            text = convert(node, type_, field_values.TEXT)
            text = nodes.call("regexp_replace", text, _ZEROS_OF_FRACTION, "$1")
            is_local = isinstance(type_, types.LocalZonedTimestampType)
            return nodes.call("concat", text, "Z") if is_local else text
        case _:
            return convert(node, type_, field_values.TEXT)


def truncate_to_precision(node: nodes.Node, type_: types.DataType) -> nodes.Node:
    """Truncate times in a value of a typed file to the precision of its type."""
    match type_:
        case types.TimestampType() | types.LocalZonedTimestampType():
            return datetimes.truncate_digits(node, 9, type_.precision)
        case types.TimeType() if has_fewer_digits(type_, 6):
            rest = inline(
                "time_to_micros({v}) % {unit}",
                v=node,
                unit=10 ** (6 - type_.precision),
            )
            micros = inline("time_to_micros({v}) - {rest}", v=node, rest=rest)
            return nodes.Cast(nodes.call("time_from_micros", micros), sql_type(type_))
        case _ if any(has_fewer_digits(part, 6) for part in type_.walk()):
            return convert_parts(node, type_, truncate_to_precision)
        case _:
            return node


def has_fewer_digits(type_: types.DataType, digits: int) -> bool:
    """Return whether a type is a time or timestamp with fewer fractional digits."""
    return isinstance(type_, types.AnyTimestampType | types.TimeType) and type_.precision < digits


def text_reader_type(type_: types.DataType, options: csv_files.Options) -> types.DataType:
    """Return the type as which Spark reads a value of a text format."""
    return field_values.reader_type(type_, syntax_of(options))
