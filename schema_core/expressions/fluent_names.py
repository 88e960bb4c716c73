"""The methods of expressions that call one function each, under PyFlink's names: a table."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any, TypeAlias

from schema_core.errors import SchemaError
from schema_core.expressions.fluent_base import Value, Written, target
from schema_core.sql import syntax
from schema_core.sql.printer import print_expression
from schema_core.sql.syntax import Call, Interval, TypeName
from schema_core.types import DataType, DataTypes

#: A method: the value itself comes first.
Method: TypeAlias = Callable[..., Any]

POSITIONAL = Parameter.POSITIONAL_OR_KEYWORD


def _property(name: str) -> property:
    """A property that applies a function to the value."""
    return property(lambda self: self._called(name, self), doc=f"``{name}(self)``")


def _method(name: str, parameters: str = "") -> Method:
    """A method that calls a function with the value before its arguments; None is left out.

    The parameters are called as in PyFlink: ``=`` marks those that may be left out, ``*`` all rest.
    """
    signature = Signature([Parameter("self", POSITIONAL), *map(_parameter, parameters.split())])

    def method(*given: Value, **by_name: Value) -> Any:
        value, *arguments = signature.bind(*given, **by_name).args
        return value._called(name, value, *(one for one in arguments if one is not None))  # noqa: SLF001 - it is one

    method.__doc__ = f"``{name}(self, ...)``"
    vars(method)["__signature__"] = signature
    return method


def _parameter(text: str) -> Parameter:
    if text.startswith("*"):
        return Parameter(text[1:], Parameter.VAR_POSITIONAL)
    default = None if text.endswith("=") else Parameter.empty
    return Parameter(text.rstrip("="), POSITIONAL, default=default)


def _cast(data_type: DataType) -> property:
    """A property that casts the value."""
    return property(
        lambda self: self._made(Call("CAST", (self.syntax, target(data_type)))),
        doc=f"The value as {data_type}.",
    )


def _unsaid(name: str, hint: str) -> property:
    """A property of PyFlink's that SQL has no expression for."""

    def refuse(self: Written) -> Written:
        raise SchemaError(
            f"{name} of {print_expression(self.syntax)} is no expression of SQL",
            code="not-an-expression",
            hint=hint,
        )

    return property(refuse, doc=f"Refused: {hint}.")


def _interval(unit: str) -> property:
    """So many of a unit of time."""

    def value(self: Written) -> Written:
        match self.syntax:
            case syntax.Literal(kind=syntax.LiteralKind.EXACT, text=text):
                digits = len(text.lstrip("-"))
                return self._made(Interval(text, unit, leading=digits if digits > 2 else None))
            case _:
                unit_name = TypeName("INTERVAL", interval=Interval("", unit))
                return self._made(Call("INTERVAL", (self.syntax, unit_name)))

    return property(value, doc=f"The interval of so many units {unit}.")


def _milliseconds(self: Written) -> Written:
    """So many milliseconds, of a number that is written out."""
    match self.syntax:
        case syntax.Literal(kind=syntax.LiteralKind.EXACT, text=text) if text.isdecimal():
            seconds, rest = divmod(int(text), 1000)
            digits = len(str(seconds))
            leading = digits if digits > 2 else None
            return self._made(Interval(f"{seconds}.{rest:03}", "SECOND", leading=leading))
    raise SchemaError(
        f"milliseconds are counted by a number, not by {print_expression(self.syntax)}",
        code="wrong-argument",
        hint="write lit(5).millis",
    )


class NamedMethods(Written):
    """What every expression has, one name a function; the names and parameters are PyFlink's."""

    __slots__ = ()

    # --- truth ------------------------------------------------------------------------------------

    is_null, is_not_null = _property("IS NULL"), _property("IS NOT NULL")
    is_true, is_not_true = _property("IS TRUE"), _property("IS NOT TRUE")
    is_false, is_not_false = _property("IS FALSE"), _property("IS NOT FALSE")
    if_null = _method("IFNULL", "null_replacement")
    like, similar = _method("LIKE", "pattern= escape="), _method("SIMILAR TO", "pattern=")

    # --- numbers ----------------------------------------------------------------------------------

    abs, sign, exp, ln = _property("ABS"), _property("SIGN"), _property("EXP"), _property("LN")
    log2, log10, sqrt = _property("LOG2"), _property("LOG10"), _property("SQRT")
    sin, cos, tan, cot = _property("SIN"), _property("COS"), _property("TAN"), _property("COT")
    asin, acos, atan = _property("ASIN"), _property("ACOS"), _property("ATAN")
    sinh, cosh, tanh = _property("SINH"), _property("COSH"), _property("TANH")
    degrees, radians = _property("DEGREES"), _property("RADIANS")
    bin, hex, chr = _property("BIN"), _property("HEX"), _property("CHR")
    round = _method("ROUND", "places")

    # --- texts ------------------------------------------------------------------------------------

    upper_case, lower_case = _property("UPPER"), _property("LOWER")
    init_cap, char_length = _property("INITCAP"), _property("CHAR_LENGTH")
    from_base64, to_base64 = _property("FROM_BASE64"), _property("TO_BASE64")
    ascii, reverse, unhex = _property("ASCII"), _property("REVERSE"), _property("UNHEX")
    concat, replace, translate = (
        _method("CONCAT", "other"),
        _method("REPLACE", "search= replacement="),
        _method("TRANSLATE", "from_str to_str"),
    )
    substring, substr, overlay = (
        _method("SUBSTRING", "begin_index length="),
        _method("SUBSTR", "begin_index length="),
        _method("OVERLAY", "new_string starting length="),
    )
    left, right, repeat = (
        _method("LEFT", "length"),
        _method("RIGHT", "length"),
        _method("REPEAT", "n"),
    )
    lpad, rpad, instr = (
        _method("LPAD", "length pad"),
        _method("RPAD", "length pad"),
        _method("INSTR", "s"),
    )
    ltrim, rtrim, btrim = (
        _method("LTRIM", "trim_str="),
        _method("RTRIM", "trim_str="),
        _method("BTRIM", "trim_str="),
    )
    starts_with, ends_with = _method("STARTSWITH", "start_expr"), _method("ENDSWITH", "end_expr")
    encode, decode, printf = (
        _method("ENCODE", "charset"),
        _method("DECODE", "charset"),
        _method("PRINTF", "*obj"),
    )
    split, split_index = _method("SPLIT", "delimiter"), _method("SPLIT_INDEX", "separator index")
    str_to_map, elt, parse_url = (
        _method("STR_TO_MAP", "list_delimiter= key_value_delimiter="),
        _method("ELT", "expr *exprs"),
        _method("PARSE_URL", "part_to_extract key="),
    )
    url_encode, url_decode = _method("URL_ENCODE"), _method("URL_DECODE")
    inet_aton, inet_ntoa = _method("INET_ATON"), _method("INET_NTOA")
    regexp, regexp_replace = (
        _method("REGEXP", "regex"),
        _method("REGEXP_REPLACE", "regex replacement"),
    )
    regexp_extract, regexp_count = (
        _method("REGEXP_EXTRACT", "regex extract_index="),
        _method("REGEXP_COUNT", "regex"),
    )
    regexp_extract_all = _method("REGEXP_EXTRACT_ALL", "regex extract_index=")
    regexp_instr, regexp_substr = (
        _method("REGEXP_INSTR", "regex"),
        _method("REGEXP_SUBSTR", "regex"),
    )
    md5, sha1, sha224 = _property("MD5"), _property("SHA1"), _property("SHA224")
    sha256, sha384, sha512 = _property("SHA256"), _property("SHA384"), _property("SHA512")
    sha2, json_quote, json_unquote = (
        _method("SHA2", "hash_length"),
        _method("JSON_QUOTE"),
        _method("JSON_UNQUOTE"),
    )

    # --- dates and times --------------------------------------------------------------------------

    to_date, to_time = _cast(DataTypes.DATE()), _cast(DataTypes.TIME())
    to_timestamp = _cast(DataTypes.TIMESTAMP(3))
    position, locate = _method("POSITION", "haystack="), _method("LOCATE", "s pos=")
    milli = millis = property(_milliseconds)
    year, years = _interval("YEAR"), _interval("YEAR")
    quarter, quarters = _interval("QUARTER"), _interval("QUARTER")
    month, months = _interval("MONTH"), _interval("MONTH")
    week, weeks = _interval("WEEK"), _interval("WEEK")
    day, days = _interval("DAY"), _interval("DAY")
    hour, hours = _interval("HOUR"), _interval("HOUR")
    minute, minutes = _interval("MINUTE"), _interval("MINUTE")
    second, seconds = _interval("SECOND"), _interval("SECOND")

    # --- collections ------------------------------------------------------------------------------

    cardinality, element = _property("CARDINALITY"), _property("ELEMENT")
    map_keys, map_values = _property("MAP_KEYS"), _property("MAP_VALUES")
    map_entries, map_union = _property("MAP_ENTRIES"), _method("MAP_UNION", "*maps")
    array_append, array_prepend = (
        _method("ARRAY_APPEND", "addition"),
        _method("ARRAY_PREPEND", "addition"),
    )
    array_contains, array_position = (
        _method("ARRAY_CONTAINS", "needle"),
        _method("ARRAY_POSITION", "needle"),
    )
    array_remove, array_distinct = _method("ARRAY_REMOVE", "needle"), _method("ARRAY_DISTINCT")
    array_reverse, array_slice = (
        _method("ARRAY_REVERSE"),
        _method("ARRAY_SLICE", "start_offset end_offset="),
    )
    array_sort, array_join = (
        _method("ARRAY_SORT", "ascending_order= null_first="),
        _method("ARRAY_JOIN", "delimiter null_replacement="),
    )
    array_max, array_min = _method("ARRAY_MAX"), _method("ARRAY_MIN")
    array_union, array_concat = _method("ARRAY_UNION", "array"), _method("ARRAY_CONCAT", "*arrays")
    array_except, array_intersect = (
        _method("ARRAY_EXCEPT", "array"),
        _method("ARRAY_INTERSECT", "array"),
    )
    bitmap_build, bitmap_cardinality = _method("BITMAP_BUILD"), _method("BITMAP_CARDINALITY")
    bitmap_and, bitmap_or = _method("BITMAP_AND", "bitmap2"), _method("BITMAP_OR", "bitmap2")
    bitmap_xor, bitmap_andnot = (
        _method("BITMAP_XOR", "bitmap2"),
        _method("BITMAP_ANDNOT", "bitmap2"),
    )
    bitmap_to_array, bitmap_to_bytes = _method("BITMAP_TO_ARRAY"), _method("BITMAP_TO_BYTES")
    bitmap_to_string, bitmap_from_bytes = _method("BITMAP_TO_STRING"), _method("BITMAP_FROM_BYTES")
    object_update = _method("OBJECT_UPDATE", "*kv")

    # --- of many rows -----------------------------------------------------------------------------

    sum, sum0, avg = _property("SUM"), _property("$SUM0"), _property("AVG")
    min, max, count = _property("MIN"), _property("MAX"), _property("COUNT")
    first_value, last_value = _property("FIRST_VALUE"), _property("LAST_VALUE")
    stddev_pop, stddev_samp = _property("STDDEV_POP"), _property("STDDEV_SAMP")
    var_pop, var_samp = _property("VAR_POP"), _property("VAR_SAMP")
    collect, array_agg = _property("COLLECT"), _property("ARRAY_AGG")
    percentile = _method("PERCENTILE", "percentage frequency=")
    bitmap_build_agg = _method("BITMAP_BUILD_AGG")
    bitmap_build_cardinality_agg = _method("BITMAP_BUILD_CARDINALITY_AGG")
    bitmap_and_agg, bitmap_or_agg = _method("BITMAP_AND_AGG"), _method("BITMAP_OR_AGG")
    bitmap_and_cardinality_agg = _method("BITMAP_AND_CARDINALITY_AGG")
    bitmap_or_cardinality_agg = _method("BITMAP_OR_CARDINALITY_AGG")
    bitmap_xor_agg = _method("BITMAP_XOR_AGG")
    bitmap_xor_cardinality_agg = _method("BITMAP_XOR_CARDINALITY_AGG")

    # --- what SQL says elsewhere than in an expression --------------------------------------------

    flatten = _unsaid("flatten", "take the fields one by one, by get")
    start = _unsaid("start", "a window function gives a column window_start")
    end = _unsaid("end", "a window function gives a column window_end")
    rowtime = _unsaid("rowtime", "a window function gives a column window_time")
    proctime = _unsaid("proctime", "a window function gives a column window_time")
