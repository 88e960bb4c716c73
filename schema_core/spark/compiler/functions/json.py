"""JSON functions: construction, validation and path queries.

Python UDFs parse JSON: Spark's functions reformat numbers and keep the first of equal keys, where
Flink keeps the digits and the last key.
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
from schema_core.spark.compiler.template import inline, sql
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

    def usual(text: Node, document: Node) -> Node:
        first = nodes.call("left", nodes.call("ltrim", _BLANKS, text), 1)
        return inline(
            "if({d} IS NOT NULL AND {first} IN ('{', '[', {quote}), {of_kind}, NULL)",
            d=document,
            first=first,
            quote='"',
            of_kind=inline(_KINDS[kind], first=first),
        )

    def body(text: Node, usual: Node) -> Node:
        rest = inline("if({usual} IS NULL, {s}, NULL)", usual=usual, s=text)
        return nodes.call("coalesce", usual, call_udf("is_json", rest, kind))

    def translate(called: TranslatedCall) -> Node:
        test = _with_document(called[0], usual, body, lambda text: call_udf("is_json", text, kind))
        return nodes.negate(test) if negated else test

    return udf(translate)


_BLANKS = " \t\r\n"


def _with_document(
    text: Node,
    of_document: Callable[[Node, Node], Node],
    body: Callable[[Node, Node], Node],
    computed: Callable[[Node], Node],
) -> Node:
    """Return a body over a string and a value of its JSON document, NULL if Spark rejects it.

    Spark accepts only objects and arrays that Flink accepts, without equal keys. It computes Python
    functions for all rows, so a body passes NULL where none is needed. A string that may raise is
    not parsed beforehand.
    """
    if text.facts & nodes.Fact.RAISES:
        return computed(text)
    return nodes.let(
        text,
        lambda s: nodes.let(
            of_document(s, nodes.call("try_parse_json", s)), lambda usual: body(s, usual)
        ),
    )


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
    """JSON_VALUE(string, path, returned type, behaviors)."""
    returned = RETURNED.get(type(called.type))
    if returned is None:
        raise nodes.unsupported_error(
            f"JSON_VALUE does not return {called.type.as_summary_string()} on Spark"
        )
    clauses = (*_clause(called, "ON EMPTY"), *_clause(called, "ON ERROR"))

    def computed(text: Node) -> Node:
        return call_udf("json_value", text, _path(called), returned, *clauses)

    if returned != "STRING":
        return called.cast(computed(called[0]))
    path = nodes.string_of(called[1])
    if path is None or not _MEMBERS.fullmatch(path):
        return computed(called[0])
    return _with_document(
        called[0],
        lambda _, document: sql(  # Spark prints other values otherwise
            "if(schema_of_variant({v}) IN ('STRING', 'BIGINT', 'BOOLEAN'),"
            " CAST({v} AS STRING), NULL)",
            v=_at(document, path),
        ),
        lambda text, usual: inline(
            "coalesce({usual}, {computed})",
            usual=usual,
            computed=computed(inline("if({usual} IS NULL, {s}, NULL)", usual=usual, s=text)),
        ),
        computed,
    )


#: Paths of members, which Spark reads as Flink does.
_MEMBERS = regex(r"\$(?:\.[A-Za-z_][A-Za-z0-9_]*)+")


def _at(document: Node, path: str) -> Node:
    return nodes.call("try_variant_get", document, path, "VARIANT")


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

    def computed(text: Node) -> Node:
        return call_udf("json_exists", text, _path(called), behavior)

    path, otherwise = (
        nodes.string_of(called[1]),
        _WITHOUT_VALUE.get(nodes.string_of(behavior) or ""),
    )
    if path is None or otherwise is None or not _MEMBERS.fullmatch(path):
        return computed(called[0])

    def found(document: Node) -> Node:
        return inline(
            "if({d} IS NULL, NULL, {v} IS NOT NULL AND NOT is_variant_null({v}))",
            d=document,
            v=_at(document, path),
        )

    return _with_document(
        called[0],
        lambda _, document: nodes.let(document, found),
        lambda text, usual: inline(
            "if({usual} IS NULL, {computed}, if({usual}, TRUE, {otherwise}))",
            usual=usual,
            otherwise=otherwise,
            computed=computed(inline("if({usual} IS NULL, {s}, NULL)", usual=usual, s=text)),
        ),
        computed,
    )


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
