"""String functions: Flink and Spark count code points; other differences are rewritten."""

from __future__ import annotations

import re
from collections.abc import Sequence

from schema_core import types
from schema_core.expressions.typed import Constant, FunctionCall
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.casts import FLOAT_SHAPE, convert
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import (
    BYTES,
    CHARACTERS,
    FLOATS,
    INTEGERS,
    NUMBERS,
    TranslatedCall,
    TranslationRule,
    call_udf,
    native,
    rewrite_rule,
    udf,
)
from schema_core.spark.compiler.tree import Node
from schema_core.spark.compiler.udfs.strings import MAX_UNITS, is_format, to_units


def strings(called: TranslatedCall) -> list[Node]:
    """Return the arguments, all as strings or bytes."""
    return [
        node
        if isinstance(type_, (*CHARACTERS, *BYTES))
        else convert(node, type_, types.VarCharType(types.MAX_LENGTH), called.zone)
        for node, type_ in zip(called.arguments, called.types, strict=True)
    ]


def substring(called: TranslatedCall) -> Node:
    """From a position that starts at 1, or from the end if negative; NULL for a negative length."""
    if len(called.arguments) == 2:
        return nodes.let_all(
            called.arguments, lambda s, p: nodes.call("substring", s, _start(s, p))
        )

    def body(text: Node, position: Node, length: Node) -> Node:
        part = nodes.call("substring", text, _start(text, position), length)
        return inline("if({length} < 0, NULL, {part})", length=length, part=part)

    return nodes.let_all(called.arguments, body)


def _start(text: Node, position: Node) -> Node:
    """Return a position; one before the first character is after the end."""
    constant = nodes.integer_of(position)
    if constant is not None and constant >= 0:
        return position
    return inline("if({p} < -char_length({s}), char_length({s}) + 1, {p})", p=position, s=text)


def trim(called: TranslatedCall) -> Node:
    """TRIM of spaces, or of the given characters, on both sides unless a keyword names one."""
    rest = [argument for argument in called.arguments if not isinstance(argument, nodes.Keyword)]
    sides = [argument.word for argument in called.arguments if isinstance(argument, nodes.Keyword)]
    side = sides[0] if sides else "BOTH"
    return _trim(side, rest[-1], rest[0] if len(rest) > 1 else nodes.node_of(" "))


def one_sided(side: str) -> TranslationRule:
    """LTRIM, RTRIM and BTRIM: the string, then optionally the characters."""
    blank = nodes.node_of(" ")
    return rewrite_rule(lambda called: _trim(side, called[0], (*called.arguments, blank)[1]))


#: Side -> the function that trims some characters there.
_TRIMS = {"BOTH": "btrim({s}, {c})", "LEADING": "ltrim({c}, {s})", "TRAILING": "rtrim({c}, {s})"}
#: Side -> the function that trims spaces only; with characters Spark does not compare bytes.
_BLANK_TRIMS = {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}


def _trim(side: str, text: Node, characters: Node) -> Node:
    """Return a trimmed string; an empty set of characters is an error."""
    if nodes.string_of(characters) == " ":
        return nodes.call(_BLANK_TRIMS[side], text)
    return nodes.let_all(
        [text, characters],
        lambda s, c: inline(
            "if({c} = '' AND {s} IS NOT NULL, raise_error({problem}), {trimmed})",
            s=s,
            c=c,
            problem="there are no characters to trim",
            trimmed=inline(_TRIMS[side], s=s, c=c),
        ),
    )


def compile_pad(name: str) -> TranslationRule:
    """LPAD and RPAD of UTF-16 units; with a constant length and filler without Python."""

    def translate(called: TranslatedCall) -> Node:
        length, filler = nodes.integer_of(called[1]), nodes.string_of(called[2])
        if length is None or not filler or not 0 <= length <= MAX_UNITS or max(filler) > "\uffff":
            return call_udf(name, called[0], nodes.Cast(called[1], "INT"), called[2])
        match called.call.arguments[0]:
            case FunctionCall(function=function, arguments=(source, *_)) if function.name in (
                "CAST",
                "TRY_CAST",
            ) and isinstance(source.type, PRINTED_IN_ASCII):
                return nodes.call(name, called[0], length, filler)
        return nodes.let(called[0], lambda s: padded_constantly(name, s, length, filler))

    return udf(translate)


#: Types whose strings consist of ASCII.
PRINTED_IN_ASCII = (
    *INTEGERS,
    *FLOATS,
    types.DecimalType,
    types.BooleanType,
    types.DateType,
    types.AnyTimestampType,
)


#: Characters of two UTF-16 units.
_SUPPLEMENTARY = r"[\x{10000}-\x{10FFFF}]"


def padded_constantly(name: str, text: Node, length: int, filler: str) -> Node:
    """Pad a string with a constant filler of characters of one unit."""
    return inline(
        "if(length({s}) = octet_length({s}) OR NOT rlike({s}, {supplementary}), {usual}, {rest})",
        s=text,
        supplementary=_SUPPLEMENTARY,
        usual=nodes.call(name, text, length, filler),
        rest=nodes.rarely(text, lambda s: _padded_units(name, s, length, filler)),
    )


def _padded_units(name: str, text: Node, length: int, filler: str) -> Node:
    """Pad a string with characters of two units; half of one becomes ``?``."""

    def body(data: Node) -> Node:
        padding = inline(
            "rpad('', {length} - octet_length({data}) DIV 2, {filler})",
            length=length,
            data=data,
            filler=filler,
        )
        cut = inline(
            "if(hex(substring({data}, {last}, 1)) BETWEEN 'D8' AND 'DB',"
            " concat(decode(substring({data}, 1, {before}), 'UTF-16BE'), '?'),"
            " decode(substring({data}, 1, {size}), 'UTF-16BE'))",
            data=data,
            last=2 * length - 1,
            before=2 * length - 2,
            size=2 * length,
        )
        parts = (padding, text) if name == "lpad" else (text, padding)
        return inline(
            "if(octet_length({data}) >= {size}, {cut}, {padded})",
            data=data,
            size=2 * length,
            cut=cut if length else nodes.Literal(""),
            padded=nodes.call("concat", *parts),
        )

    return nodes.let(nodes.call("encode", text, "UTF-16BE"), body)


def overlay(called: TranslatedCall) -> Node:
    """OVERLAY(text PLACING new FROM position [FOR length]), in UTF-16 units."""
    text, new, position, *lengths = called.arguments
    length = lengths[0] if lengths else inline(_UTF16_LENGTH, s=new)
    return nodes.let_all(
        [text, new, nodes.Cast(position, "INT"), nodes.Cast(length, "INT")], overlaid
    )


def overlaid(text: Node, new: Node, position: Node, length: Node) -> Node:
    """Replace a part of a string, which stays unchanged if the position is out of range."""
    usual = inline(
        "if({p} <= char_length({s}), concat(left({s}, {p} - 1), {new},"
        " if({n} BETWEEN 1 AND char_length({s}) - {p}, substring({s}, {p} + {n}), '')), {s})",
        s=text,
        new=new,
        p=position,
        n=length,
    )
    return inline(
        "CASE WHEN {new} IS NULL OR {p} IS NULL OR {n} IS NULL THEN NULL WHEN {p} <= 0 THEN {s}"
        " WHEN length({s}) = octet_length({s}) OR NOT rlike({s}, {supplementary}) THEN {usual}"
        " WHEN {s} IS NOT NULL THEN {rest} END",
        s=text,
        new=new,
        p=position,
        n=length,
        supplementary=_SUPPLEMENTARY,
        usual=usual,
        rest=nodes.rarely(text, lambda s: _overlaid_units(s, new, position, length)),
    )


def _overlaid_units(text: Node, new: Node, position: Node, length: Node) -> Node:
    """Replace a part of a string with characters of two units; half of one becomes ``?``."""

    def body(data: Node) -> Node:
        first = inline(
            "if(hex(substring({data}, 2 * {p} - 3, 1)) BETWEEN 'D8' AND 'DB' AND {p} > 1,"
            " concat(decode(substring({data}, 1, 2 * {p} - 4), 'UTF-16BE'), '?'),"
            " decode(substring({data}, 1, 2 * {p} - 2), 'UTF-16BE'))",
            data=data,
            p=position,
        )
        last = inline(
            "if(hex(substring({data}, 2 * ({p} + {n}) - 1, 1)) BETWEEN 'DC' AND 'DF',"
            " concat('?', decode(substring({data}, 2 * ({p} + {n}) + 1), 'UTF-16BE')),"
            " decode(substring({data}, 2 * ({p} + {n}) - 1), 'UTF-16BE'))",
            data=data,
            p=position,
            n=length,
        )
        rest = inline(
            "if({n} BETWEEN 1 AND octet_length({data}) DIV 2 - {p}, {last}, '')",
            data=data,
            p=position,
            n=length,
            last=last,
        )
        # two halves that meet are one character
        return inline(
            "CASE WHEN {p} > octet_length({data}) DIV 2 THEN {s}"
            " WHEN {new} = '' AND {p} > 1 AND {n} BETWEEN 1 AND octet_length({data}) DIV 2 - {p}"
            " AND hex(substring({data}, 2 * {p} - 3, 1)) BETWEEN 'D8' AND 'DB'"
            " AND hex(substring({data}, 2 * ({p} + {n}) - 1, 1)) BETWEEN 'DC' AND 'DF'"
            " THEN decode(concat(substring({data}, 1, 2 * {p} - 2),"
            " substring({data}, 2 * ({p} + {n}) - 1)), 'UTF-16BE')"
            " ELSE concat({first}, {new}, {rest}) END",
            s=text,
            data=data,
            new=new,
            p=position,
            n=length,
            first=first,
            rest=rest,
        )

    return nodes.let(nodes.call("encode", text, "UTF-16BE"), body)


_UTF16_LENGTH = "CAST(length(encode({s}, 'UTF-16BE')) DIV 2 AS INT)"

#: The escape character of a LIKE without ESCAPE.
_NO_ESCAPE = nodes.Literal("\x01")


def compile_like(*, negated: bool) -> TranslationRule:
    """LIKE; only the character after ESCAPE is special, besides ``%`` and ``_``."""

    def translate(called: TranslatedCall) -> Node:
        if any(map(nodes.is_null_constant, called.arguments)):
            return nodes.Cast(nodes.NULL, "BOOLEAN")
        symbol = "NOT LIKE" if negated else "LIKE"
        return nodes.operator(symbol, called[0], called[1], _escape_of(called))

    return rewrite_rule(translate)


def _escape_of(called: TranslatedCall) -> Node:
    """Return the escape character of a LIKE.

    Flink does not validate it if a constant pattern needs no regular expression.
    """
    if len(called.arguments) < 3:
        return _NO_ESCAPE
    escape, pattern = nodes.string_of(called[2]), nodes.string_of(called[1])
    if escape is None:
        raise nodes.unsupported_error("LIKE requires a constant ESCAPE character on Spark")
    if pattern == "%" or (not escape and pattern is not None and "_" not in pattern):
        return _NO_ESCAPE
    require_escape(escape)
    return called[2]


def require_escape(escape: str) -> None:
    """Require the string after ESCAPE to be one character."""
    if len(to_units(escape)) != len(to_units(" ")):
        raise nodes.unsupported_error(
            f"ESCAPE requires one character, got {escape!r}", "use one character"
        )


def concat(called: TranslatedCall) -> Node:
    """CONCAT and ``||``: NULL if an argument is."""
    return nodes.call("concat", *strings(called))


def concat_with(called: TranslatedCall) -> Node:
    """CONCAT_WS: skips NULL."""
    return nodes.call("concat_ws", *strings(called))


def replace(called: TranslatedCall) -> Node:
    """REPLACE; an empty string to search for is found between all characters."""
    return nodes.let_all(
        called.arguments,
        lambda text, old, new: inline(
            "if({old} = '', if({text} IS NULL OR {new} IS NULL, NULL, concat({new},"
            " regexp_replace({text}, '(?s)(.)', concat('$1', {quoted})))),"
            " replace({text}, {old}, {new}))",
            text=text,
            old=old,
            new=new,
            quoted=escaped_replacement(new),
        ),
    )


def escaped_replacement(new: Node) -> Node:
    """Return the replacement of a regular expression with dollars and backslashes escaped."""
    escaped = nodes.call("replace", new, "\\", "\\\\")
    return nodes.call("replace", escaped, "$", "\\$")


def split_index(called: TranslatedCall) -> Node:
    """Part of a string between separators, or white space, from 0; NULL beyond the last."""
    is_string = isinstance(called.types[1], CHARACTERS)
    separator = called[1] if is_string else nodes.call("chr", called[1])
    return nodes.let_all(
        [called[0], called[2], separator],
        lambda text, index, mark: inline(
            "if({index} < 0 OR {text} = '', NULL, get(split({text}, if({mark} = '', {white},"
            " {literal}), -1), {index}))",
            text=text,
            index=index,
            mark=mark,
            white=r"\p{javaWhitespace}",
            literal=literal_pattern(mark),
        ),
    )


def literal_pattern(mark: Node) -> Node:
    """Return the regular expression that matches a string literally."""
    return nodes.call("concat", "\\Q", mark, "\\E")


_LOWER, _UPPER = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def initcap(called: TranslatedCall) -> Node:
    """Letters A to Z change, at the start of each run of letters and digits."""

    def word(one: Node) -> Node:
        first = nodes.call("translate", nodes.call("left", one, 1), _LOWER, _UPPER)
        rest = nodes.call("translate", nodes.call("substring", one, 2), _UPPER, _LOWER)
        return nodes.call("concat", first, rest)

    words = nodes.call("regexp_extract_all", called[0], "([A-Za-z0-9]+|[^A-Za-z0-9]+)", 1)
    return nodes.call("array_join", nodes.transform(words, word), "")


def in_string(called: TranslatedCall) -> Node:
    """INSTR(text, part [, start [, occurrence]]); without Python for the first from a constant."""
    if len(called.arguments) == 2:
        return nodes.call("instr", called[0], called[1])
    text, part, start, count = (*called.arguments, nodes.node_of(1))[:4]
    start_position = nodes.integer_of(start)
    if nodes.integer_of(count) != 1 or not start_position or abs(start_position) > MAX_UNITS:
        return call_udf("instr", text, part, nodes.Cast(start, "INT"), nodes.Cast(count, "INT"))
    if start_position > 0:
        return nodes.call("locate", part, text, start_position)
    return nodes.let_all([text, part], lambda s, p: last_position(s, p, start_position))


def last_position(text: Node, part: Node, start: int) -> Node:
    """Return the position of the last occurrence from a place counted from the end."""

    def body(head: Node) -> Node:
        return inline(
            "CASE WHEN {head} IS NULL THEN NULL WHEN {p} = '' THEN greatest({most}, 0)"
            " WHEN contains({head}, {p}) THEN char_length({head}) - char_length({p}) + 2"
            " - locate(reverse({p}), reverse({head})) ELSE 0 END",
            p=part,
            head=head,
            most=inline("char_length({s}) + {n}", s=text, n=start + 2),
        )

    end = inline("char_length({s}) + char_length({p}) + {n}", s=text, p=part, n=start)
    return nodes.let(nodes.call("left", text, end), body)


def locate(called: TranslatedCall) -> Node:
    """LOCATE(part, text [, start])."""
    if len(called.arguments) == 2:
        return nodes.call("locate", called[0], called[1])
    constant = nodes.integer_of(called[2])
    if constant is not None and abs(constant) < -LEAST:
        return nodes.call("locate", called[0], called[1], max(constant, 1))
    return nodes.let_all([called[0], called[1], nodes.Cast(called[2], "INT")], locate_from)


#: The start from which LOCATE finds nothing: Java's `start - 1` overflows.
LEAST = -(2**31)


def locate_from(part: Node, text: Node, start: Node) -> Node:
    """Return LOCATE with a start position; one below 1 is the start of the string."""
    return inline(
        "CASE WHEN {n} >= 1 THEN locate({p}, {s}, {n}) WHEN {n} > {least} THEN locate({p}, {s}, 1)"
        " WHEN {n} IS NOT NULL THEN if({p} = '' OR {p} IS NULL, 1, 0) * locate({p}, {s}, 1) END",
        p=part,
        s=text,
        n=start,
        least=LEAST,
    )


def compile_case(name: str) -> TranslationRule:
    """UPPER and LOWER; of a constant the result has the length of its type."""

    def translate(called: TranslatedCall) -> Node:
        changed = nodes.call(name, called[0])
        is_constant = isinstance(called.call.arguments[0], Constant)
        if is_constant and isinstance(called.type, types.CharType):
            return nodes.call("rpad", changed, called.type.length, " ")
        return changed

    return native(translate)


def matches(shape: str, numbers: tuple[type[types.DataType], ...]) -> TranslationRule:
    """Whether a string matches a pattern; NULL does not.

    Of a number, also of NULL, Flink looks only at the type, which `numbers` must contain.
    """

    def translate(called: TranslatedCall) -> Node:
        type_ = called.types[0]
        if not isinstance(type_, CHARACTERS):
            return nodes.Literal(value=isinstance(type_, numbers))
        return nodes.call("coalesce", nodes.call("rlike", called[0], shape), False)

    return rewrite_rule(translate)


def elt(called: TranslatedCall) -> Node:
    """ELT(index, first, second, ...): NULL for an index out of range."""
    others = nodes.call("array", *called.arguments[1:])
    return inline("get({others}, CAST({n} AS INT) - 1)", others=others, n=called[0])


def compile_printf(called: TranslatedCall) -> Node:
    """PRINTF(format, value, ...): NULL for a format that Java rejects; a NULL fits any conversion.

    A DATE is its number of days, a TIME its number of milliseconds.
    """
    values, kinds = [], ""
    for node, type_ in zip(called.arguments[1:], called.types[1:], strict=True):
        value, kind = _format_argument(node, type_)
        values.append(value)
        kinds += kind
    constant = nodes.string_of(called[0])
    if constant is not None:
        return nodes.let_all(values, lambda *names: _format_constantly(constant, kinds, names))

    def body(format_: Node, *names: Node) -> Node:
        pairs = zip(names, kinds, strict=True)
        actual = (inline("if({v} IS NULL, 'n', {kind})", v=v, kind=kind) for v, kind in pairs)
        is_valid = call_udf("is_format", format_, nodes.call("concat", *actual))
        return nodes.call("if", is_valid, nodes.call("format_string", format_, *names), nodes.NULL)

    return nodes.let_all([called[0], *values], body)


def _format_constantly(format_: str, kinds: str, values: Sequence[Node]) -> Node:
    """Format values of some kinds; those to which a conversion does not apply must be NULL."""
    letters = "".join(_OTHER_CONVERSIONS[kind] for kind in kinds)
    if letters and (match := re.search(rf"%[^a-zA-Z%]*[{letters}]", format_.replace("%%", ""))):
        raise nodes.unsupported_error(
            f"{match[0]!r} in the format of PRINTF is not supported on Spark"
        )
    nulls = "n" * len(kinds)
    if not is_format(format_, nulls):
        return nodes.Cast(nodes.NULL, "STRING")
    text = nodes.call("format_string", format_, *values)
    unfit = [
        nodes.is_null(value)
        for place, value in enumerate(values)
        if not is_format(format_, nulls[:place] + kinds[place] + nulls[place + 1 :])
    ]
    return nodes.call("if", nodes.all_of(*unfit), text, nodes.NULL) if unfit else text


#: Kind of an argument -> conversions that Spark does not compute as Flink does: hashes, characters
#: of integers, and parts of datetimes.
_OTHER_CONVERSIONS = {"s": "hHtT", "d": "cCtT", **dict.fromkeys("lfbn", "tT")}


def _format_argument(node: Node, type_: types.DataType) -> tuple[Node, str]:
    match type_:
        case _ if nodes.is_null_constant(node):
            return nodes.Cast(nodes.NULL, "STRING"), "n"
        case types.BigIntType() | types.DayTimeIntervalType():
            return node, "l"
        case _ if isinstance(type_, (*INTEGERS, types.YearMonthIntervalType)):
            return node, "d"
        case types.DateType():
            return datetimes.days(node), "d"
        case types.TimeType():
            return nodes.Cast(datetimes.time_millis(node), "INT"), "d"
        case _ if isinstance(type_, FLOATS):
            return node, "f"
        case types.BooleanType():
            return node, "b"
        case types.DecimalType():
            return convert(node, type_, types.VarCharType(types.MAX_LENGTH)), "s"
        case types.AnyTimestampType():
            return nodes.let(datetimes.clock(node, type_, "UTC"), _local_datetime), "s"
        case _ if isinstance(type_, CHARACTERS):
            return node, "s"
        case _:
            raise nodes.unsupported_error(
                f"PRINTF of {type_.as_summary_string()} is not supported on Spark"
            )


def _local_datetime(clock: Node) -> Node:
    """Return a timestamp as Java prints it: no seconds if they are 0, and 0, 3 or 6 digits."""
    return inline(
        "CASE WHEN date_format({v}, 'SSSSSS') <> '000000' THEN"
        " regexp_replace(date_format({v}, {long}), '000$', '')"
        " WHEN second({v}) <> 0 THEN date_format({v}, {medium})"
        " ELSE date_format({v}, {short}) END",
        v=clock,
        long="yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
        medium="yyyy-MM-dd'T'HH:mm:ss",
        short="yyyy-MM-dd'T'HH:mm",
    )


#: Numbers that Java parses, also with digits beyond ASCII.
_DECIMAL = FLOAT_SHAPE.replace(r"\d", r"\p{Nd}")

RULES: dict[str, TranslationRule] = {
    "UPPER": compile_case("upper"),
    "LOWER": compile_case("lower"),
    "UCASE": compile_case("upper"),
    "LCASE": compile_case("lower"),
    "CHAR_LENGTH": native("char_length({0})"),
    "CHARACTER_LENGTH": native("char_length({0})"),
    "REVERSE": native("reverse({0})"),
    "INITCAP": rewrite_rule(initcap),
    #: The first byte, signed; 0 for an empty string.
    "ASCII": rewrite_rule(
        "CAST(if({0} = '', 0, CAST(CAST(conv(left(hex({0}), 2), 16, 10) AS INT) AS TINYINT))"
        " AS INT)"
    ),
    "TRIM": rewrite_rule(trim),
    "LTRIM": one_sided("LEADING"),
    "RTRIM": one_sided("TRAILING"),
    "BTRIM": one_sided("BOTH"),
    "SUBSTRING": rewrite_rule(substring),
    "SUBSTR": rewrite_rule(substring),
    "LEFT": native("left({0}, {1})"),
    "RIGHT": native("right({0}, {1})"),
    "POSITION": native("locate({0}, {1})"),
    "LOCATE": rewrite_rule(locate),
    "INSTR": udf(in_string),
    "LPAD": compile_pad("lpad"),
    "RPAD": compile_pad("rpad"),
    "OVERLAY": rewrite_rule(overlay),
    "REPLACE": rewrite_rule(replace),
    "REPEAT": native("repeat({0}, {1})"),
    "||": rewrite_rule(concat),
    "CONCAT": rewrite_rule(concat),
    "CONCAT_WS": rewrite_rule(concat_with),
    "LIKE": compile_like(negated=False),
    "NOT LIKE": compile_like(negated=True),
    "SPLIT_INDEX": rewrite_rule(split_index),
    "STARTSWITH": native("startswith({0}, {1})"),
    "ENDSWITH": native("endswith({0}, {1})"),
    "IS_DIGIT": matches(r"^\p{Nd}+$", INTEGERS),
    "IS_DECIMAL": matches(_DECIMAL, NUMBERS),
    "IS_ALPHA": matches(r"^\p{L}+$", ()),
    #: Without characters to replace, the string stays; without replacements, they are removed.
    "TRANSLATE3": rewrite_rule("if({1} IS NULL, {0}, translate({0}, {1}, coalesce({2}, '')))"),
    "ELT": rewrite_rule(elt),
    "CHR": rewrite_rule("if({0} < 0, '', chr({0} % 256))"),
    "PRINTF": udf(compile_printf),
}
