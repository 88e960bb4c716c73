"""JSON: texts of it made of values, and tests of texts.

Taking values out of JSON (JSON_VALUE, JSON_QUERY) is not here: Spark writes numbers anew and
takes the first of two equal keys, where Flink keeps the digits and takes the last.
"""

from __future__ import annotations

import re
from json import dumps

from schema_core.expressions.forms.casts import convert
from schema_core.expressions.forms.words import (
    BYTES,
    CHARACTERS,
    ELEMENT,
    FLOATS,
    INTEGERS,
    Called,
    Form,
    bind,
    null_or,
    quote,
    string,
    unsupported,
)
from schema_core.expressions.typed import Apply, Typed
from schema_core.types import (
    MAX_LENGTH,
    ArrayType,
    BooleanType,
    DataType,
    DecimalType,
    MapType,
    RowType,
    TimestampType,
    VarCharType,
)

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
        case DecimalType():
            return convert(text, type_, TEXT)
        case TimestampType():
            return bind(text, _timestamp)
        case ArrayType():
            return bind(text, lambda v: _listed(v, type_.element_type))
        case RowType():
            return bind(text, lambda v: _object_of_row(v, type_))
        case MapType() if isinstance(type_.key_type, CHARACTERS):
            return bind(text, lambda v: _object_of_map(v, type_.value_type))
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
    if isinstance(tree, Apply) and tree.function.name in MAKERS:
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


def is_json(kind: str, *, negated: bool) -> Form:
    """IS JSON, of a kind that the first character tells."""
    starts = {"VALUE": ".", "OBJECT": "[{]", "ARRAY": "[\\\\[]", "SCALAR": "[^{\\\\[\\\\s]"}

    def body(text: str) -> str:
        valid = f"get_json_object({text}, '$') IS NOT NULL"
        found = f"({valid} AND rlike({text}, '(?s)^\\\\s*{starts[kind]}'))"
        return f"(NOT coalesce({found}, FALSE))" if negated else f"coalesce({found}, FALSE)"

    return lambda called: bind(called[0], body)


_PATH = re.compile(r"(?:(?:lax|strict)\s+)?(\$(?:\.\w+|\[\d+\])*)")


def exists(called: Called) -> str:
    """JSON_EXISTS(text, path): whether something is there that is not null."""
    path = _PATH.fullmatch(called[1][1:-1])
    if path is None or (len(called.arguments) > 2 and called[2] != "FALSE ON ERROR"):
        raise unsupported("JSON_EXISTS with this path or clause is not run on Spark")
    found = f"get_json_object({called[0]}, '{path[1]}') IS NOT NULL"
    return null_or(f"{called[0]} IS NULL", found)


FORMS: dict[str, Form] = {
    "JSON_OBJECT": object_,
    "JSON_ARRAY": array,
    "JSON_STRING": lambda called: _value(called, 0),
    "JSON_EXISTS": exists,
    **{
        f"IS {'NOT ' if negated else ''}JSON {kind}": is_json(kind, negated=negated)
        for kind in ("VALUE", "OBJECT", "ARRAY", "SCALAR")
        for negated in (False, True)
    },
}
