"""JSON functions: construction, validation and path queries.

Paths of members are found in Spark's variants and by `from_json`. Python UDFs read other paths, and
return objects and arrays: Spark reformats numbers, where Flink keeps the digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from json import dumps

from schema_core import types
from schema_core.base.lazy import regex
from schema_core.expressions.typed import Constant, FunctionCall, Keyword, Typed
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import (
    BYTES,
    CHARACTERS,
    FLOATS,
    INTEGERS,
    TranslatedCall,
    TranslationRule,
    call_udf,
    is_fine,
    native,
    rewrite_rule,
    udf,
)
from schema_core.spark.compiler.tree import Node
from schema_core.spark.compiler.udfs import UdfError
from schema_core.spark.compiler.udfs.json import NoSuchPathError, compile_path
from schema_core.sql import syntax

MODE = regex(r"\s*(?:strict|lax)\s+", re.IGNORECASE)
STRING = types.VarCharType(types.MAX_LENGTH)

#: Functions whose JSON is inserted into other JSON unquoted.
MAKERS = frozenset({"JSON_OBJECT", "JSON_ARRAY"})

#: The function that inserts a string as JSON, a value of `MAKERS` only.
DOCUMENT = "JSON"


def require_maker(call_: FunctionCall) -> None:
    """Require that JSON(...) among the arguments is a value of JSON_OBJECT or JSON_ARRAY."""
    name = call_.function.name
    for place, argument in enumerate(call_.arguments):
        if name not in MAKERS or (name == "JSON_OBJECT" and place % 2 == 1):
            refuse_document(argument)


def refuse_document(typed: Typed) -> None:
    """Refuse JSON(...) where it is not inserted into other JSON, as Flink does."""
    if isinstance(typed, FunctionCall) and typed.function.name == DOCUMENT:
        raise nodes.unsupported_error(
            "JSON(...) is supported only as a value of JSON_OBJECT or JSON_ARRAY"
        )


def write_json(node: Node, type_: types.DataType) -> Node:
    """Return a value as JSON, or NULL."""
    match type_:
        case types.BooleanType():
            return nodes.Cast(node, "STRING")
        case types.VariantType():
            return nodes.call("to_json", node)
        case types.DecimalType():
            return convert(node, type_, STRING)
        case types.TimestampType():
            return nodes.let(node, lambda v: _timestamp(v, type_))
        case types.LocalZonedTimestampType():
            shown = nodes.let(node, lambda v: _timestamp(v, type_))
            return nodes.call("regexp_replace", shown, '"$', 'Z"')
        case types.ArrayType():
            element = type_.element_type
            return join_json(
                "[",
                nodes.transform(node, lambda element_: _or_null(element_, element)),
                "]",
            )
        case types.RowType():
            return nodes.let(
                node,
                lambda row: nodes.null_or(
                    nodes.is_null(row),
                    _object(
                        {
                            field.name: _or_null(nodes.Field(row, field.name), field.data_type)
                            for field in type_.fields
                        },
                        absent=False,
                    ),
                ),
            )
        case types.MapType() if isinstance(type_.key_type, CHARACTERS):
            return _object_of_map(node, type_.value_type)
        case types.MultisetType() if isinstance(type_.element_type, CHARACTERS):
            return _object_of_map(node, types.IntType())
        case _ if isinstance(type_, INTEGERS):
            return nodes.Cast(node, "STRING")
        case _ if isinstance(type_, FLOATS):
            return _float(node)
        case _ if isinstance(type_, (*CHARACTERS, *BYTES)):
            return nodes.let(node, quote_json)
        case _:
            raise nodes.unsupported_error(
                f"{type_.as_summary_string()} cannot be serialized to JSON on Spark"
            )


_POWER = r"^(-?)(\d+)\.(\d+)E(\d+)$"


def _float(node: Node) -> Node:
    """Return a float as Java's BigDecimal prints it; NaN and the infinities are strings.

    Zero has no sign. An exponent has one, and is omitted where the digits reach the point.
    """

    def body(shown: Node) -> Node:
        sign, integer, fraction, power = (
            nodes.call("regexp_extract", shown, _POWER, group) for group in (1, 2, 3, 4)
        )
        digits = nodes.call("concat", integer, fraction)
        reach = inline("CAST({power} AS INT) + 1", power=power)
        plain = inline(
            "concat({sign}, left({digits}, {reach}), if(length({digits}) > {reach},"
            " concat('.', substring({digits}, {reach} + 1)), ''))",
            sign=sign,
            digits=digits,
            reach=reach,
        )
        return inline(
            "CASE WHEN {shown} IN ('NaN', 'Infinity', '-Infinity')"
            " THEN concat({mark}, {shown}, {mark})"
            " WHEN rlike({shown}, {shape}) AND {reach} <= length({digits}) THEN {plain}"
            " ELSE regexp_replace({shown}, {exponent}, 'E+$1') END",
            shown=shown,
            mark='"',
            shape=_POWER,
            reach=reach,
            digits=digits,
            plain=plain,
            exponent=r"E(\d)",
        )

    return nodes.let(inline("CAST({v} + CAST(0 AS DOUBLE) AS STRING)", v=node), body)


def quote_json(node: Node) -> Node:
    """Return a JSON string literal."""
    return nodes.null_or(nodes.is_null(node), _without_brackets(node))


def _without_brackets(node: Node) -> Node:
    return nodes.call(
        "regexp_replace", nodes.call("to_json", nodes.call("array", node)), "^.|.$", ""
    )


def _timestamp(node: Node, type_: types.AnyTimestampType) -> Node:
    """Return a timestamp in ISO 8601, in UTC, without trailing zeros of its fraction."""
    at = nodes.Cast(datetimes.micros_of(node) if is_fine(type_) else node, "TIMESTAMP_NTZ")
    digits = nodes.call("date_format", at, "SSSSSS")
    if is_fine(type_):
        beyond = inline("lpad(CAST({n} AS STRING), 3, '0')", n=datetimes.nanos(node))
        digits = nodes.call("concat", digits, beyond)
    return inline(
        "concat({mark}, date_format({v}, {shape}), if({digits} = '', '', concat('.', {digits})),"
        " {mark})",
        mark='"',
        v=at,
        shape="yyyy-MM-dd'T'HH:mm:ss",
        digits=nodes.call("rtrim", "0", digits),
    )


def _or_null(node: Node, type_: types.DataType) -> Node:
    return nodes.call("coalesce", write_json(node, type_), "null")


def join_json(opening: str, strings: Node, closing: str) -> Node:
    """Return strings with commas between them, in brackets."""
    return nodes.call("concat", opening, nodes.call("array_join", strings, ","), closing)


def _object_of_map(node: Node, value: types.DataType) -> Node:
    def entry(one: Node) -> Node:
        name = _without_brackets(nodes.Field(one, "key"))
        return nodes.call("concat", name, ":", _or_null(nodes.Field(one, "value"), value))

    entries = nodes.call("array_sort", nodes.call("map_entries", node))
    return join_json("{", nodes.transform(entries, entry), "}")


def _object(pairs: dict[str, Node], *, absent: bool) -> Node:
    """Return an object of sorted constant keys and strings of JSON."""
    parts = []
    for key in sorted(pairs):
        name = dumps(key, ensure_ascii=False)
        part = nodes.call("concat", f"{name}:", pairs[key])
        parts.append(part if absent else nodes.call("coalesce", part, f"{name}:null"))
    return join_json("{", nodes.call("array", *parts), "}") if parts else nodes.node_of("{}")


def value_of(called: TranslatedCall, index: int) -> Node:
    """Return an argument as JSON; JSON of a function stays as it is."""
    tree: Typed = called.call.arguments[index]
    if isinstance(tree, FunctionCall) and tree.function.name in {*MAKERS, DOCUMENT}:
        return called[index]
    return write_json(called[index], called.types[index])


def object_(called: TranslatedCall) -> Node:
    """JSON_OBJECT(NULL behavior, key, value, ...)."""
    if any(nodes.string_of(key) is None for key in called.arguments[1::2]):
        return _object_by_row(called)
    pairs = {
        nodes.string_of(called[index]) or "": value_of(called, index + 1)
        for index in range(1, len(called.arguments), 2)
    }
    return _object(pairs, absent=called.keyword(0).startswith("ABSENT"))


def _object_by_row(called: TranslatedCall) -> Node:
    """Return an object with keys of rows: they are sorted, and the last of equal ones stays."""
    pairs = []
    for index in range(1, len(called.arguments), 2):
        text = value_of(called, index + 1)
        if not called.keyword(0).startswith("ABSENT"):
            text = nodes.call("coalesce", text, "null")
        pairs.append(nodes.call("named_struct", "key", called[index], "value", text))

    def last_ones(present: Node) -> Node:
        return inline(
            "array_sort(filter({pairs}, (x, i) -> NOT"
            " exists(slice({pairs}, i + 2, size({pairs})), y -> y.`key` = x.`key`)))",
            pairs=present,
        )

    present = inline(
        "filter({pairs}, x -> x.`value` IS NOT NULL)", pairs=nodes.call("array", *pairs)
    )
    entries = nodes.let(present, last_ones)

    def entry(one: Node) -> Node:
        return nodes.call(
            "concat", quote_json(nodes.Field(one, "key")), ":", nodes.Field(one, "value")
        )

    return join_json("{", nodes.transform(entries, entry), "}")


def array(called: TranslatedCall) -> Node:
    """JSON_ARRAY(NULL behavior, value, ...)."""
    values = [value_of(called, index) for index in range(1, len(called.arguments))]
    if not called.keyword(0).startswith("ABSENT"):
        values = [nodes.call("coalesce", value, "null") for value in values]
    return join_json("[", nodes.call("array", *values), "]") if values else nodes.node_of("[]")


#: Escapes of JSON_QUOTE; characters beyond ASCII have others.
_ESCAPES = {
    '"': '\\"', "\\": "\\\\", "/": "\\/",
    "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
}  # fmt: skip
_ESCAPED = r"[^\x00-\x{7F}]|[\x{22}\x{5C}/\x{8}\x{C}\n\r\t]"


def quote(text: Node) -> Node:
    """JSON_QUOTE: a JSON string literal with all characters beyond ASCII escaped.

    For a supplementary character Flink writes its code point and then its low surrogate.
    """

    def escape_character(one: Node) -> Node:
        return nodes.Case(
            tuple(
                (nodes.operator("=", one, key), nodes.node_of(text))
                for key, text in _ESCAPES.items()
            ),
            nodes.let(
                nodes.call("ascii", one),
                lambda point: inline(
                    "CASE WHEN {point} < 128 THEN {one} WHEN {point} < 65536 THEN {unit}"
                    " ELSE concat({unit}, {low}) END",
                    one=one,
                    point=point,
                    unit=_unit(point),
                    low=_unit(inline("56320 + {point} % 1024", point=point)),
                ),
            ),
        )

    def full(s: Node) -> Node:
        characters = nodes.call("regexp_extract_all", s, "(?s).", 0)
        return nodes.call("array_join", nodes.transform(characters, escape_character), "")

    return inline(
        "concat({mark}, if(rlike({s}, {shape}), {full}, {s}), {mark})",
        mark='"',
        s=text,
        shape=_ESCAPED,
        full=nodes.rarely(text, full),
    )


def _unit(point: Node) -> Node:
    return inline(
        "concat({escape}, if({point} < 4096, lpad(lower(hex({point})), 4, '0'), "
        "lower(hex({point}))))",
        escape="\\u",
        point=point,
    )


#: A string literal without control characters.
_STRING_LITERAL = r'^"(?:[^\x00-\x1F"\x{5C}]|\x{5C}[^\x00-\x1F])*+"\z'
#: A valid string literal, more text, and a quotation mark.
_LITERAL_AND_MORE = (
    r'(?s)^"(?:[^\x00-\x1F"\x{5C}]|\x{5C}(?:["\x{5C}/bfnrt]|u[0-9a-fA-F]{4}))*+".*"\z'
)
#: Text whose last backslash escapes nothing, or that ends within an escape.
_LONE_BACKSLASH = r"(?s)^(?:[^\x{5C}]|\x{5C}.)*+\x{5C}\z"
_CUT_ESCAPE = r'(?s)^(?:[^\x{5C}]|\x{5C}(?:["\x{5C}/bfnrt]|u[0-9a-fA-F]{4}))*+\x{5C}u.{0,3}\z'


def unquote(text: Node) -> Node:
    """JSON_UNQUOTE: the value of a JSON string literal; other strings are unchanged.

    Flink validates the first literal of a string between quotation marks, and then unescapes all
    between those.
    """
    return inline(
        "CASE WHEN rlike({s}, {shape})"
        " THEN coalesce(if(rlike({s}, {surrogate}), {half}, {value}), {s})"
        " WHEN rlike({s}, {longer}) THEN {rest} ELSE {s} END",
        s=text,
        shape=_STRING_LITERAL,
        surrogate=_SURROGATE,
        half=nodes.rarely(text, _value_of_literal),
        value=inline("try_variant_get(try_parse_json({s}), '$', 'STRING')", s=text),
        longer=_LITERAL_AND_MORE,
        rest=nodes.rarely(text, _unescape_json),
    )


def _unescape_json(text: Node) -> Node:
    """Unescape all between the first and the last character, or return the text if invalid."""

    def body(inner: Node) -> Node:
        whole = inline(
            "if(rlike({t}, {lone}), concat({t}, {backslash}), {t})",
            t=inner,
            lone=_LONE_BACKSLASH,
            backslash="\\",
        )
        # Each quotation mark that is not escaped gets a backslash.
        escape_character = nodes.call(
            "regexp_replace", whole, r'\G((?:[^"\x{5C}]|\x{5C}.)*+)"', r'$1\\"'
        )
        literal = nodes.call("concat", '"', escape_character, '"')
        return inline(
            "if(rlike({t}, {cut}), {problem}, coalesce({value}, {s}))",
            t=inner,
            s=text,
            cut=_CUT_ESCAPE,
            problem=nodes.fail("JSON_UNQUOTE: the string ends within an escape"),
            value=_value_of_literal(literal, control_characters=True),
        )

    return nodes.let(inline("substring({s}, 2, char_length({s}) - 2)", s=text), body)


#: The escape of half a character, which no variant holds.
_SURROGATE = r"\x{5C}u[dD][89a-fA-F]"


def _value_of_literal(literal: Node, *, control_characters: bool = False) -> Node:
    """Parse a string literal; half a character becomes ``?``."""
    allowed = str(control_characters).lower()
    options = nodes.call("map", "allowUnquotedControlChars", allowed, "allowSingleQuotes", "false")
    parse_json_rule = nodes.call(
        "from_json", nodes.call("concat", "[", literal, "]"), "ARRAY<STRING>", options
    )
    return nodes.call("get", parse_json_rule, 0)


# --- queries -------------------------------------------------------------------------------------


#: Kind of JSON -> its test by the first character.
_KINDS = {
    "VALUE": "TRUE",
    "OBJECT": "{first} = '{'",
    "ARRAY": "{first} = '['",
    "SCALAR": "NOT {first} IN ('{', '[')",
}


def is_json(kind: str, *, negated: bool) -> TranslationRule:
    """IS JSON, of a kind.

    Spark accepts any text after a document; Flink does not after a number, TRUE, FALSE and null.
    """

    def of_document(text: Node, document: Node) -> Node:
        first = nodes.call("left", nodes.call("ltrim", _BLANKS, text), 1)
        usual = inline(
            "if({d} IS NOT NULL AND {first} IN ('{', '[', {quote}), {of_kind}, NULL)",
            d=document,
            first=first,
            quote='"',
            of_kind=inline(_KINDS[kind], first=first),
        )
        return nodes.let(usual, lambda test: body(text, test))

    def body(text: Node, usual: Node) -> Node:
        rest = inline("if({usual} IS NULL, {s}, NULL)", usual=usual, s=text)
        return nodes.call("coalesce", usual, call_udf("is_json", rest, kind))

    def translate(called: TranslatedCall) -> Node:
        if called[0].facts & nodes.Fact.RAISES:
            test = call_udf("is_json", called[0], kind)
        else:
            test = _with_document(called[0], of_document)
        return nodes.negate(test) if negated else test

    return udf(translate)


_BLANKS = " \t\r\n"


def _with_document(text: Node, body: Callable[[Node, Node], Node]) -> Node:
    """Return a body over a string and its JSON document, NULL if Spark rejects it.

    Spark accepts only objects and arrays that Flink accepts, without equal keys. A string that may
    raise is not parsed beforehand.
    """
    bind = nodes.rarely if text.facts & nodes.Fact.RAISES else nodes.let
    return bind(text, lambda s: nodes.let(nodes.call("try_parse_json", s), lambda d: body(s, d)))


def _path(called: TranslatedCall) -> Node:
    """Return the path; a constant one is validated."""
    tree = called.call.arguments[1]
    if isinstance(tree, Constant) and isinstance(tree.literal, syntax.Literal):
        path = MODE.sub("", tree.literal.text)
        try:
            compile_path(path)
        except NoSuchPathError:
            pass
        except UdfError as failure:
            raise nodes.unsupported_error(
                str(failure), "use a path of names and positions"
            ) from None
    return called[1]


def _clause(called: TranslatedCall, ending: str) -> tuple[Node, Node]:
    """Return an ON EMPTY or ON ERROR behavior and its default."""
    for index, tree in enumerate(called.call.arguments):
        if isinstance(tree, Keyword) and tree.symbol.word.endswith(ending):
            return nodes.node_of(tree.symbol.word.removesuffix(ending).strip()), _NULL_STRING
        if isinstance(tree, FunctionCall) and tree.function.name == f"DEFAULT {ending}":
            return nodes.node_of("DEFAULT"), convert(called[index], tree.type, STRING, called.zone)
    return nodes.node_of("NULL"), _NULL_STRING


_NULL_STRING = nodes.Cast(nodes.NULL, "STRING")

#: Types that JSON_VALUE returns -> their names in the UDF.
RETURNED: dict[type[types.DataType], str] = {
    types.VarCharType: "STRING",
    types.CharType: "STRING",
    types.IntType: "INTEGER",
    types.DoubleType: "DOUBLE",
    types.BooleanType: "BOOLEAN",
}


def value(called: TranslatedCall) -> Node:
    """JSON_VALUE(string, path, returned type, behaviors); strings at plain paths without Python."""
    returned = RETURNED.get(type(called.type))
    if returned is None:
        raise nodes.unsupported_error(
            f"JSON_VALUE does not return {called.type.as_summary_string()} on Spark"
        )
    clauses = (*_clause(called, "ON EMPTY"), *_clause(called, "ON ERROR"))
    names, behavior = _member_names(called), nodes.string_of(clauses[2])
    if returned != "STRING" or names is None or behavior not in {"NULL", "DEFAULT"}:
        return called.cast(call_udf("json_value", called[0], _path(called), returned, *clauses))
    otherwise = clauses[3] if behavior == "DEFAULT" else _NULL_STRING

    def of_document(text: Node, document: Node) -> Node:
        kind = nodes.call("schema_of_variant", _variant_at(document, names, "VARIANT"))
        return inline(  # Spark prints objects and most numbers otherwise
            "CASE WHEN {v} >= ':' AND NOT left({v}, 1) IN ('[', '{', 'I') THEN {v}"
            " WHEN {text} IS NULL THEN NULL"
            " WHEN {document} IS NULL THEN {exact}"
            " WHEN {v} IS NULL THEN {otherwise}"
            " WHEN {kind} IN ('STRING', 'BIGINT') THEN {v}"
            " WHEN {kind} = 'DOUBLE' OR startswith({kind}, 'DECIMAL') THEN {number}"
            " ELSE {otherwise} END",
            kind=kind,
            v=_variant_at(document, names, "STRING"),
            text=text,
            document=document,
            exact=nodes.interpret_rarely(text, lambda s: _scalar(_member(s, names), otherwise)),
            number=nodes.interpret_rarely(
                text, lambda s: nodes.call("coalesce", _number(s, names), otherwise)
            ),
            otherwise=otherwise,
        )

    return _with_document(called[0], of_document)


#: Paths of members, which Spark reads as Flink does.
_MEMBERS = regex(r"\$(?:\.[A-Za-z_][A-Za-z0-9_]*)+")


def _member_names(called: TranslatedCall) -> list[str] | None:
    """Return the names of a constant strict path of members, or None."""
    path = nodes.string_of(_path(called))
    is_plain = path is not None and _MEMBERS.fullmatch(path)
    return path.split(".")[1:] if path is not None and is_plain else None


def _variant_at(document: Node, names: list[str], type_: str) -> Node:
    return nodes.call("try_variant_get", document, ".".join(["$", *names]), type_)


#: A string literal.
_LITERAL = r'(?s)"((?:[^"\x{5C}]|\x{5C}.)*+)"'
#: A string literal or a number; the replacement makes both strings.
_SCALAR = rf"{_LITERAL}|(-?[0-9][0-9.eE+-]*+)"
_QUOTED = '"$1$2"'
_CORRUPT = "the_corrupt"


def _from_json(text: Node, schema: str) -> Node:
    """Parse JSON as Flink's parser does: the last of equal keys is kept."""
    options = nodes.call(
        "map",
        *("allowSingleQuotes", "false", "allowNonNumericNumbers", "false"),
        *("columnNameOfCorruptRecord", _CORRUPT),
    )
    return nodes.call("from_json", text, schema, options)


def _member(text: Node, names: list[str]) -> Node:
    """Return the member at a path of any document; NULL if it is invalid, or has no such value.

    Strings get the prefix ``s``, and numbers become strings, so a number keeps its digits and no
    string looks like a number or an object.
    """
    prefixed = nodes.call("regexp_replace", text, _LITERAL, '"s$1"')
    member: Node = nodes.call("regexp_replace", prefixed, _SCALAR, _QUOTED)
    for name in names:
        member = nodes.Field(_from_json(member, f"s{name} STRING"), f"s{name}")
    corrupt = nodes.Field(_from_json(text, f"{_CORRUPT} STRING"), _CORRUPT)
    return inline("if({corrupt} IS NULL, {member}, NULL)", corrupt=corrupt, member=member)


def _number(text: Node, names: list[str]) -> Node:
    """Return the number at a path of a valid document without equal keys."""
    schema = f"{names[-1]} STRING"
    for name in reversed(names[:-1]):
        schema = f"{name} STRUCT<{schema}>"
    number: Node = _from_json(nodes.call("regexp_replace", text, _SCALAR, _QUOTED), schema)
    for name in names:
        number = nodes.Field(number, name)
    return nodes.let(
        number,
        lambda n: inline(
            "if(rlike({n}, {plain}), {n}, {other})", n=n, plain=_PLAIN, other=_big_decimal(n)
        ),
    )


#: Numbers that BigDecimal prints as they are.
_PLAIN = r"^-?(?:[1-9][0-9]*+(?:\.[0-9]++)?|0\.0{0,5}[1-9][0-9]*+)$"


def _scalar(member: Node, otherwise: Node) -> Node:
    """Return a result of `_member` as a string; `otherwise` if it is not a scalar."""
    return nodes.let(
        member,
        lambda v: inline(
            "CASE WHEN startswith({v}, 's') THEN substring({v}, 2)"
            " WHEN {v} IS NULL OR left({v}, 1) IN ('{', '[') THEN {otherwise}"
            " WHEN {v} IN ('true', 'false') THEN {v} ELSE {number} END",
            v=v,
            otherwise=otherwise,
            number=nodes.call("coalesce", _big_decimal(v), otherwise),
        ),
    )


_NUMBER = r"^(-?)([0-9]+)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?$"


def _big_decimal(number: Node) -> Node:
    """Return a number of JSON as Java's BigDecimal prints it; zero has no sign.

    NULL for one that BigDecimal does not have, whose scale exceeds an INT.
    """
    sign, integer, fraction, exponent = (
        nodes.call("regexp_extract", number, _NUMBER, group) for group in (1, 2, 3, 4)
    )
    scale = inline(
        "try_cast(length({fraction})"
        " - try_cast(concat({exponent}, if({exponent} = '', '0', '')) AS BIGINT) AS INT)",
        fraction=fraction,
        exponent=exponent,
    )
    digits = inline(
        "regexp_replace(concat({integer}, {fraction}), '^0+(?=.)', '')",
        integer=integer,
        fraction=fraction,
    )

    def body(digits: Node, scale: Node) -> Node:
        power = inline("length({digits}) - 1 - CAST({scale} AS BIGINT)", digits=digits, scale=scale)
        padded = inline(
            "lpad({digits}, greatest(length({digits}), {scale} + 1), '0')",
            digits=digits,
            scale=scale,
        )
        return inline(
            "concat(if({digits} = '0', '', {sign}), CASE WHEN {scale} = 0 THEN {digits}"
            " WHEN {scale} > 0 AND {power} >= -6"
            " THEN concat(left({padded}, length({padded}) - {scale}), '.',"
            " right({padded}, {scale}))"
            " ELSE concat(regexp_replace({digits}, '^(.)(?=.)', '$1.'),"
            " if({power} = 0, '', concat(if({power} > 0, 'E+', 'E'),"
            " CAST({power} AS STRING)))) END)",
            digits=digits,
            sign=sign,
            scale=scale,
            power=power,
            padded=padded,
        )

    return nodes.let_all([digits, scale], body)


def query(called: TranslatedCall) -> Node:
    """JSON_QUERY(string, path, returned type, behaviors)."""
    name = "json_query_list" if isinstance(called.type, types.ArrayType) else "json_query"
    words = " ".join(
        argument.symbol.word for argument in called.call.arguments if isinstance(argument, Keyword)
    )
    wrapper = re.search(r"WITH (UNCONDITIONAL|CONDITIONAL)|WITHOUT", words)
    kind = (wrapper and wrapper[1]) or "WITHOUT"
    behaviors = _clause(called, "ON EMPTY")[0], _clause(called, "ON ERROR")[0]
    return call_udf(name, called[0], _path(called), kind, *behaviors)


def exists(called: TranslatedCall) -> Node:
    """JSON_EXISTS(string, path): whether the path has a value other than null."""
    has_behavior = len(called.arguments) > 2
    behavior = _clause(called, "ON ERROR")[0] if has_behavior else nodes.node_of("FALSE")
    names, otherwise = _member_names(called), _WITHOUT_VALUE.get(nodes.string_of(behavior) or "")
    if names is None or otherwise is None:
        return call_udf("json_exists", called[0], _path(called), behavior)

    def of_document(text: Node, document: Node) -> Node:
        return inline(
            "CASE WHEN {text} IS NULL THEN NULL"
            " WHEN if({document} IS NULL, {exact}, {v} IS NOT NULL AND NOT is_variant_null({v}))"
            " THEN TRUE ELSE {otherwise} END",
            text=text,
            document=document,
            v=_variant_at(document, names, "VARIANT"),
            exact=nodes.interpret_rarely(
                text, lambda s: inline("{m} IS NOT NULL", m=_member(s, names))
            ),
            otherwise=otherwise,
        )

    return _with_document(called[0], of_document)


#: Behavior ON ERROR -> the result without a value at the path.
_WITHOUT_VALUE = {
    "TRUE": nodes.TRUE,
    "FALSE": nodes.FALSE,
    "UNKNOWN": nodes.Cast(nodes.NULL, "BOOLEAN"),
}


def parse_json_rule(name: str) -> TranslationRule:
    """PARSE_JSON(string [, equal keys are allowed]): a VARIANT; with two arguments in Python."""

    def translate(called: TranslatedCall) -> Node:
        if len(called.arguments) > 1:
            return nodes.let_all(called.arguments, lambda *two: _with_equal_keys(name, *two))
        return nodes.call(name, called[0])

    return udf(translate)


def _with_equal_keys(name: str, text: Node, is_allowed: Node) -> Node:
    """Parse a string as a VARIANT; if allowed, the last of equal keys is kept."""
    behavior = nodes.node_of("NULL")
    distinct = call_udf("json_query", text, "$", "WITHOUT", behavior, behavior)
    return inline(
        "coalesce(try_parse_json({s}), if({allowed}, {name}({distinct}), {name}({s})))".replace(
            "{name}", name
        ),
        s=text,
        allowed=nodes.call(
            "coalesce", is_allowed, nodes.fail("PARSE_JSON: the second argument is NULL")
        ),
        distinct=nodes.call("coalesce", distinct, text),
    )


RULES: dict[str, TranslationRule] = {
    "JSON_OBJECT": rewrite_rule(object_),
    "JSON_ARRAY": rewrite_rule(array),
    "JSON_STRING": rewrite_rule(lambda called: value_of(called, 0)),
    "JSON_EXISTS": udf(exists),
    "JSON_VALUE": udf(value),
    "JSON_QUERY": udf(query),
    "DEFAULT ON EMPTY": native("{0}"),
    "DEFAULT ON ERROR": native("{0}"),
    "JSON_QUOTE": rewrite_rule(lambda called: nodes.let(called[0], quote)),
    "JSON_UNQUOTE": rewrite_rule(lambda called: nodes.let(called[0], unquote)),
    "PARSE_JSON": parse_json_rule("parse_json"),
    "TRY_PARSE_JSON": parse_json_rule("try_parse_json"),
    **{
        f"IS {'NOT ' if negated else ''}JSON {kind}": is_json(kind, negated=negated)
        for kind in ("VALUE", "OBJECT", "ARRAY", "SCALAR")
        for negated in (False, True)
    },
    DOCUMENT: udf(lambda called: call_udf("json_document", called[0])),
}
