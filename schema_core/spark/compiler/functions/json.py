"""JSON: texts of it made of values, tested, and taken apart by paths.

What looks into JSON is computed in Python: Spark's own functions write numbers anew and take the
first of two equal keys, where Flink keeps the digits and takes the last.
"""

from __future__ import annotations

import re
from json import dumps

from schema_core.expressions.typed import Constant, FunctionCall, Keyword, Typed
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.sql_builder import (
    BYTES,
    CHARACTERS,
    ELEMENT,
    FLOATS,
    INTEGERS,
    Called,
    Form,
    bind,
    computed,
    null_or,
    quote,
    sql_type,
    string,
    unsupported,
)
from schema_core.spark.compiler.udfs.errors import ComputedError
from schema_core.spark.compiler.udfs.json_paths import NoSuchPathError, compile_path
from schema_core.sql.syntax import Literal
from schema_core.types import (
    MAX_LENGTH,
    ArrayType,
    BooleanType,
    CharType,
    DataType,
    DecimalType,
    DoubleType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    TimestampType,
    VarCharType,
    VariantType,
)

MODE = re.compile(r"\s*(?:strict|lax)\s+", re.IGNORECASE)
TEXT = VarCharType(MAX_LENGTH)

#: Functions that give JSON, which goes into other JSON as it is.
MAKERS = frozenset({"JSON_OBJECT", "JSON_ARRAY"})


def written(text: str, type_: DataType) -> str:
    """A value as JSON, or NULL.

    Raises:
        UnsupportedError: with code `not-executable` for types without a form here.
    """
    match type_:
        case BooleanType():
            return f"CAST({text} AS STRING)"
        case VariantType():
            return f"to_json({text})"
        case DecimalType():
            return convert(text, type_, TEXT)
        case TimestampType():
            return bind(text, _timestamp)
        case LocalZonedTimestampType():
            shown = bind(f"CAST({text} AS TIMESTAMP_NTZ)", _timestamp)
            return f"regexp_replace({shown}, '\"$', 'Z\"')"
        case ArrayType():
            return bind(text, lambda v: _listed(v, type_.element_type))
        case RowType():
            return bind(text, lambda v: _object_of_row(v, type_))
        case MapType() if isinstance(type_.key_type, CHARACTERS):
            return bind(text, lambda v: _object_of_map(v, type_.value_type))
        case MultisetType() if isinstance(type_.element_type, CHARACTERS):
            return bind(text, lambda v: _object_of_map(v, IntType()))
        case _ if isinstance(type_, INTEGERS):
            return f"CAST({text} AS STRING)"
        case _ if isinstance(type_, FLOATS):
            return bind(text, _float)
        case _ if isinstance(type_, (*CHARACTERS, *BYTES)):
            return bind(text, quoted)
        case _:
            raise unsupported(f"{type_.as_summary_string()} has no JSON on Spark")


_POWER = "'^(-?)(\\\\d+)\\\\.(\\\\d+)E(\\\\d+)$'"


def _float(text: str) -> str:
    """A float as Java's BigDecimal prints it; what is no number is a text.

    Zero has no sign. An exponent has one, and is left out where the digits reach the point.
    """

    def body(shown: str) -> str:
        sign, whole, fraction, power = (
            f"regexp_extract({shown}, {_POWER}, {group})" for group in (1, 2, 3, 4)
        )
        digits, reach = f"concat({whole}, {fraction})", f"CAST({power} AS INT) + 1"
        tail = f"if(length({digits}) > {reach}, concat('.', substring({digits}, {reach} + 1)), '')"
        plain = f"concat({sign}, left({digits}, {reach}), {tail})"
        signed = f"regexp_replace({shown}, 'E(\\\\d)', 'E+$1')"
        fits = f"rlike({shown}, {_POWER}) AND {reach} <= length({digits})"
        odd = f"{shown} IN ('NaN', 'Infinity', '-Infinity')"
        text_ = f"concat('\"', {shown}, '\"')"
        return f"CASE WHEN {odd} THEN {text_} WHEN {fits} THEN {plain} ELSE {signed} END"

    return bind(f"CAST({text} + CAST(0 AS DOUBLE) AS STRING)", body)


def quoted(text: str) -> str:
    """A text in JSON's quotes: an array of it without the brackets."""
    return null_or(f"{text} IS NULL", f"regexp_replace(to_json(array({text})), '^.|.$', '')")


def _timestamp(text: str) -> str:
    """As ISO 8601 has it, without zeroes behind the last digit of a second."""
    whole = f"date_format({text}, 'yyyy-MM-dd\\'T\\'HH:mm:ss')"
    digits = f"rtrim('0', date_format({text}, 'SSSSSS'))"
    fraction = f"if({digits} = '', '', concat('.', {digits}))"
    return f"concat('\"', {whole}, {fraction}, '\"')"


def _or_null(text: str, type_: DataType) -> str:
    return f"coalesce({written(text, type_)}, 'null')"


def _listed(text: str, element: DataType) -> str:
    parts = f"transform({text}, {ELEMENT} -> {_or_null(ELEMENT, element)})"
    return f"concat('[', array_join({parts}, ','), ']')"


def _object_of_row(text: str, type_: RowType) -> str:
    pairs = {one.name: _or_null(f"{text}.{quote(one.name)}", one.data_type) for one in type_.fields}
    return null_or(f"{text} IS NULL", _object(pairs, absent=False))


def _object_of_map(text: str, value: DataType) -> str:
    name = f"regexp_replace(to_json(array({ELEMENT}.`key`)), '^.|.$', '')"
    entry = f"concat({name}, ':', {_or_null(f'{ELEMENT}.`value`', value)})"
    entries = f"transform(array_sort(map_entries({text})), {ELEMENT} -> {entry})"
    return f"concat('{{', array_join({entries}, ','), '}}')"


def _object(pairs: dict[str, str], *, absent: bool) -> str:
    """An object of constant keys, which are sorted, and texts of JSON."""
    parts = []
    for key in sorted(pairs):
        name = string(f"{_key(key)}:")
        part = f"concat({name}, {pairs[key]})"
        parts.append(part if absent else f"coalesce({part}, {string(f'{_key(key)}:null')})")
    return f"concat('{{', array_join(array({', '.join(parts)}), ','), '}}')" if parts else "'{}'"


def _key(text: str) -> str:
    return dumps(text, ensure_ascii=False)


def _value(called: Called, index: int) -> str:
    tree: Typed = called.apply.arguments[index]
    if isinstance(tree, FunctionCall) and tree.function.name in MAKERS:
        return called[index]
    return written(called[index], called.types[index])


def object_(called: Called) -> str:
    """JSON_OBJECT(what to do with NULL, key, value, ...)."""
    pairs = {
        _constant(called[index]): _value(called, index + 1)
        for index in range(1, len(called.arguments), 2)
    }
    return _object(pairs, absent=called[0].startswith("ABSENT"))


def _constant(text: str) -> str:
    if not (text.startswith("'") and text.endswith("'")):
        raise unsupported("the keys of JSON_OBJECT are constants")
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def array(called: Called) -> str:
    """JSON_ARRAY(what to do with NULL, value, ...)."""
    values = [_value(called, index) for index in range(1, len(called.arguments))]
    if not called[0].startswith("ABSENT"):
        values = [f"coalesce({value}, 'null')" for value in values]
    return f"concat('[', array_join(array({', '.join(values)}), ','), ']')" if values else "'[]'"


# --- texts taken apart ---------------------------------------------------------------------------


def is_json(kind: str, *, negated: bool) -> Form:
    """IS JSON, of a kind."""

    def form(called: Called) -> str:
        found = computed("is_json", called[0], string(kind))
        return f"(NOT {found})" if negated else found

    return form


def _path(called: Called) -> str:
    """The path, which is read at once if it is a constant.

    Raises:
        UnsupportedError: with code `not-executable` for what paths may hold, but not here.
    """
    tree = called.apply.arguments[1]
    if isinstance(tree, Constant) and isinstance(tree.literal, Literal):
        path = MODE.sub("", tree.literal.text)
        try:
            compile_path(path)
        except NoSuchPathError:
            pass
        except ComputedError as failure:
            raise unsupported(str(failure), "take the value out by names and places") from None
    return called[1]


def _clause(called: Called, ending: str) -> tuple[str, str]:
    """What ``NULL ON EMPTY`` or its kin says, and the default that it names."""
    for place, tree in enumerate(called.apply.arguments):
        if isinstance(tree, Keyword) and tree.symbol.word.endswith(ending):
            return string(tree.symbol.word.removesuffix(ending).strip()), _NOTHING
        if isinstance(tree, FunctionCall) and tree.function.name == f"DEFAULT {ending}":
            return "'DEFAULT'", convert(called[place], tree.type, TEXT, called.zone)
    return "'NULL'", _NOTHING


_NOTHING = "CAST(NULL AS STRING)"

#: Types that JSON_VALUE returns, by the words for them in `computed`.
RETURNED: dict[type[DataType], str] = {
    VarCharType: "STRING",
    CharType: "STRING",
    IntType: "INTEGER",
    DoubleType: "DOUBLE",
    BooleanType: "BOOLEAN",
}


def value(called: Called) -> str:
    """JSON_VALUE(text, path, what it returns, what else)."""
    returned = RETURNED.get(type(called.type))
    if returned is None:
        raise unsupported(f"JSON_VALUE returns no {called.type.as_summary_string()} on Spark")
    clauses = (*_clause(called, "ON EMPTY"), *_clause(called, "ON ERROR"))
    found = computed("json_value", called[0], _path(called), string(returned), *clauses)
    return found if returned == "STRING" else f"CAST({found} AS {sql_type(called.type)})"


def query(called: Called) -> str:
    """JSON_QUERY(text, path, what it returns, what else)."""
    name = "json_query_list" if isinstance(called.type, ArrayType) else "json_query"
    words = " ".join(one.symbol.word for one in called.apply.arguments if isinstance(one, Keyword))
    wrapper = re.search(r"WITH (UNCONDITIONAL|CONDITIONAL)|WITHOUT", words)
    kind = string((wrapper and wrapper[1]) or "WITHOUT")
    behaviors = _clause(called, "ON EMPTY")[0], _clause(called, "ON ERROR")[0]
    return computed(name, called[0], _path(called), kind, *behaviors)


def exists(called: Called) -> str:
    """JSON_EXISTS(text, path): whether something is there that is not null."""
    behavior = _clause(called, "ON ERROR")[0] if len(called.arguments) > 2 else "'FALSE'"
    return computed("json_exists", called[0], _path(called), behavior)


def parsed(name: str) -> Form:
    """PARSE_JSON(text): a VARIANT."""

    def form(called: Called) -> str:
        if len(called.arguments) > 1:
            raise unsupported("equal keys are not kept on Spark", "leave the second argument out")
        return f"{name}({called[0]})"

    return form


FORMS: dict[str, Form] = {
    "JSON_OBJECT": object_,
    "JSON_ARRAY": array,
    "JSON_STRING": lambda called: _value(called, 0),
    "JSON_EXISTS": exists,
    "JSON_VALUE": value,
    "JSON_QUERY": query,
    "DEFAULT ON EMPTY": "{0}",
    "DEFAULT ON ERROR": "{0}",
    "JSON_QUOTE": lambda called: computed("json_quote", called[0]),
    "JSON_UNQUOTE": lambda called: computed("json_unquote", called[0]),
    "PARSE_JSON": parsed("parse_json"),
    "TRY_PARSE_JSON": parsed("try_parse_json"),
    **{
        f"IS {'NOT ' if negated else ''}JSON {kind}": is_json(kind, negated=negated)
        for kind in ("VALUE", "OBJECT", "ARRAY", "SCALAR")
        for negated in (False, True)
    },
}
