"""Texts: characters are code points on both sides; what differs is said step by step."""

from __future__ import annotations

from schema_core.expressions.typed import Constant
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
    bind_all,
    computed,
    fail,
    is_literal,
    literal_text,
    null_or,
    unsupported,
)
from schema_core.spark.compiler.udfs.texts import is_format
from schema_core.types import BooleanType, CharType, DecimalType, VarCharType

SIDES = frozenset({"BOTH", "LEADING", "TRAILING"})


def texts(called: Called) -> list[str]:
    """The arguments, those that are no texts printed."""
    return [
        text
        if isinstance(type_, (*CHARACTERS, *BYTES))
        else convert(text, type_, VarCharType(2_147_483_647), called.zone)
        for text, type_ in zip(called.arguments, called.types, strict=True)
    ]


def substring(called: Called) -> str:
    """From a place counted from 1, or from the end if negative; NULL for a negative length."""
    if len(called.arguments) == 2:
        return bind_all(called.arguments, lambda s, p: f"substring({s}, {_start(s, p)})")

    def body(text: str, place: str, length: str) -> str:
        return null_or(f"{length} < 0", f"substring({text}, {_start(text, place)}, {length})")

    return bind_all(called.arguments, body)


def _start(text: str, place: str) -> str:
    """Before the first character there is nothing to count from: then nothing is taken."""
    if place.lstrip("-").isdigit() and int(place) >= 0:
        return place
    return f"if({place} < -char_length({text}), char_length({text}) + 1, {place})"


def left(called: Called) -> str:
    """The first characters; none for a negative number."""
    return f"left({called[0]}, {called[1]})"


def right(called: Called) -> str:
    """The last characters; none for a negative number."""
    return f"right({called[0]}, {called[1]})"


def trim(called: Called) -> str:
    """TRIM, from both sides unless a word says which: blanks, or any of some characters."""
    words = [argument for argument in called.arguments if argument in SIDES]
    side = words[0] if words else "BOTH"
    rest = [argument for argument in called.arguments if argument not in words]
    return _trimmed(side, rest[-1], rest[0] if len(rest) > 1 else "' '")


def one_sided(side: str) -> Form:
    """LTRIM, RTRIM and BTRIM: the text, then maybe the characters."""
    return lambda called: _trimmed(side, called[0], (*called.arguments, "' '")[1])


def _trimmed(side: str, text: str, characters: str) -> str:
    """A text without some characters at its ends; without any there is nothing to be done."""
    if characters == "' '":
        return f"trim({side} ' ' FROM {text})"
    problem = fail("there are no characters to trim")

    def body(text: str, characters: str) -> str:
        trimmed = f"trim({side} {characters} FROM {text})"
        return f"if({characters} = '' AND {text} IS NOT NULL, {problem}, {trimmed})"

    return bind_all([text, characters], body)


def padded(name: str) -> Form:
    """LPAD and RPAD, of UTF-16 units."""
    return lambda called: computed(name, called[0], f"CAST({called[1]} AS INT)", called[2])


def overlay(called: Called) -> str:
    """OVERLAY(text PLACING new FROM place [FOR length]), in UTF-16 units."""
    text, new, place, *lengths = called.arguments
    length = lengths[0] if lengths else f"CAST(length(encode({new}, 'UTF-16BE')) DIV 2 AS INT)"
    return computed("overlay", text, new, f"CAST({place} AS INT)", f"CAST({length} AS INT)")


#: Escapes where nobody asked for an escape: stands in no text that people write.
_NO_ESCAPE = "'\\u0001'"


def like(*, negated: bool) -> Form:
    """LIKE; only the character behind ESCAPE is special, besides ``%`` and ``_``."""

    def form(called: Called) -> str:
        escape = called[2] if len(called.arguments) > 2 else _NO_ESCAPE
        if not is_literal(escape):
            raise unsupported("LIKE takes a constant ESCAPE character on Spark")
        return f"({called[0]} {'NOT ' if negated else ''}LIKE {called[1]} ESCAPE {escape})"

    return form


def concat(called: Called) -> str:
    """CONCAT and ``||``: NULL as soon as one argument is."""
    return f"concat({', '.join(texts(called))})"


def concat_with(called: Called) -> str:
    """CONCAT_WS: arguments that are NULL are passed over."""
    return f"concat_ws({', '.join(texts(called))})"


def replace(called: Called) -> str:
    """REPLACE; an empty text to search for is found between all characters."""

    def body(text: str, old: str, new: str) -> str:
        unknown = f"{text} IS NULL OR {new} IS NULL"
        spread = f"concat({new}, regexp_replace({text}, '(?s)(.)', concat('$1', {_quoted(new)})))"
        return f"if({old} = '', {null_or(unknown, spread)}, replace({text}, {old}, {new}))"

    return bind_all(called.arguments, body)


def _quoted(text: str) -> str:
    """A replacement in which a dollar sign and a backslash are themselves."""
    return f"replace(replace({text}, '\\\\', '\\\\\\\\'), '$', '\\\\$')"


def repeat(called: Called) -> str:
    """REPEAT: nothing for a number below 1."""
    return f"repeat({called[0]}, {called[1]})"


def split_index(called: Called) -> str:
    """The part of a text between separators, or white space, from 0; NULL beyond the last."""
    separator = called[1] if isinstance(called.types[1], CHARACTERS) else f"chr({called[1]})"

    def body(text: str, index: str, mark: str) -> str:
        pattern = f"if({mark} = '', '\\\\p{{javaWhitespace}}', concat('\\\\Q', {mark}, '\\\\E'))"
        parts = f"split({text}, {pattern}, -1)"
        return null_or(f"{index} < 0 OR {text} = ''", f"get({parts}, {index})")

    return bind_all([called[0], called[2], separator], body)


def initcap(called: Called) -> str:
    """Letters A to Z change, at the start of each run of letters and digits."""
    words = f"regexp_extract_all({called[0]}, '([A-Za-z0-9]+|[^A-Za-z0-9]+)', 1)"
    first = _ascii_case(f"left({ELEMENT}, 1)", upper=True)
    rest = _ascii_case(f"substring({ELEMENT}, 2)", upper=False)
    return f"array_join(transform({words}, {ELEMENT} -> concat({first}, {rest})), '')"


def _ascii_case(text: str, *, upper: bool) -> str:
    low, high = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    pair = (low, high) if upper else (high, low)
    return f"translate({text}, '{pair[0]}', '{pair[1]}')"


def position(called: Called) -> str:
    """POSITION(part IN text), counted from 1; 0 where it is not."""
    return f"locate({called[0]}, {called[1]})"


def in_text(called: Called) -> str:
    """INSTR(text, part [, start [, occurrence]])."""
    if len(called.arguments) == 2:
        return f"instr({called[0]}, {called[1]})"
    text, part, start, count = (*called.arguments, "1")[:4]
    return computed("instr", text, part, f"CAST({start} AS INT)", f"CAST({count} AS INT)")


def locate(called: Called) -> str:
    """LOCATE(part, text [, start])."""
    if len(called.arguments) == 2:
        return f"locate({called[0]}, {called[1]})"
    return computed("locate", called[0], called[1], f"CAST({called[2]} AS INT)")


def cased(name: str) -> Form:
    """UPPER and LOWER; of a constant the result has the length of its type."""

    def form(called: Called) -> str:
        said = f"{name}({called[0]})"
        if isinstance(called.type, CharType) and isinstance(called.apply.arguments[0], Constant):
            return f"rpad({said}, {called.type.length}, ' ')"
        return said

    return form


def starts(name: str) -> Form:
    """STARTSWITH and ENDSWITH, of texts or bytes."""
    return lambda called: f"{name}({called[0]}, {called[1]})"


def ascii_code(called: Called) -> str:
    """The first byte of a text, as a signed number; 0 for an empty text."""

    def body(text: str) -> str:
        first = f"CAST(conv(left(hex({text}), 2), 16, 10) AS INT)"
        return f"if({text} = '', 0, CAST({first} AS TINYINT))"

    return bind(called[0], lambda v: f"CAST({body(v)} AS INT)")


def matches(shape: str) -> Form:
    """Whether a text looks like this; NULL looks like nothing."""
    return lambda called: f"coalesce(rlike({called[0]}, '{shape}'), FALSE)"


def elt(called: Called) -> str:
    """ELT(number, first, second, ...): NULL where there is none."""
    others = ", ".join(called.arguments[1:])
    return f"get(array({others}), CAST({called[0]} AS INT) - 1)"


def formatted(called: Called) -> str:
    """PRINTF(format, value, ...): NULL for a format that Java cannot follow."""
    kinds = "".join(
        "d"
        if isinstance(type_, INTEGERS)
        else "f"
        if isinstance(type_, (*FLOATS, DecimalType))
        else "b"
        if isinstance(type_, BooleanType)
        else "s"
        for type_ in called.types[1:]
    )
    said = f"format_string({', '.join(called.arguments)})"
    if not is_literal(called[0]):
        readable = computed("is_format", called[0], f"'{kinds}'")
        return f"if({readable}, {said}, NULL)"
    return said if is_format(literal_text(called[0]), kinds) else "CAST(NULL AS STRING)"


FORMS: dict[str, Form] = {
    "UPPER": cased("upper"),
    "LOWER": cased("lower"),
    "UCASE": cased("upper"),
    "LCASE": cased("lower"),
    "CHAR_LENGTH": "char_length({0})",
    "CHARACTER_LENGTH": "char_length({0})",
    "REVERSE": "reverse({0})",
    "INITCAP": initcap,
    "ASCII": ascii_code,
    "TRIM": trim,
    "LTRIM": one_sided("LEADING"),
    "RTRIM": one_sided("TRAILING"),
    "BTRIM": one_sided("BOTH"),
    "SUBSTRING": substring,
    "SUBSTR": substring,
    "LEFT": left,
    "RIGHT": right,
    "POSITION": position,
    "LOCATE": locate,
    "INSTR": in_text,
    "LPAD": padded("lpad"),
    "RPAD": padded("rpad"),
    "OVERLAY": overlay,
    "REPLACE": replace,
    "REPEAT": repeat,
    "||": concat,
    "CONCAT": concat,
    "CONCAT_WS": concat_with,
    "LIKE": like(negated=False),
    "NOT LIKE": like(negated=True),
    "SPLIT_INDEX": split_index,
    "STARTSWITH": starts("startswith"),
    "ENDSWITH": starts("endswith"),
    "IS_DIGIT": matches("^\\\\p{Nd}+$"),
    "IS_DECIMAL": lambda called: computed("is_decimal", texts(called)[0]),
    "IS_ALPHA": matches("^\\\\p{L}+$"),
    "TRANSLATE3": "if({1} IS NULL, {0}, translate({0}, {1}, {2}))",
    "ELT": elt,
    "CHR": "if({0} < 0, '', chr({0} % 256))",
    "PRINTF": formatted,
}
