"""The words in which expressions are said to Spark, and the helpers that every family shares.

Session settings that these texts rely on are those of `schema_core.spark.session`: no ANSI
mode, time zone UTC. A zone that a user sets is written out where it matters, so the session's
never changes. Inside an expression an interval is a number, as in Flink: months, or milliseconds.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from schema_core.errors import UnsupportedError
from schema_core.spark.compiler.udfs import COMPUTED
from schema_core.types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowType,
    SmallIntType,
    StructuredType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    VariantType,
    YearMonthIntervalType,
)

if TYPE_CHECKING:
    from schema_core.expressions.typed import FunctionCall


@dataclass(frozen=True, slots=True)
class Called:
    """A function over its arguments, these already in Spark's words.

    `zone` is the time zone of the session as Flink sees it; `suffix` is what stands behind an
    aggregate: FILTER and OVER.
    """

    apply: FunctionCall
    arguments: tuple[str, ...]
    zone: str = "UTC"
    suffix: str = ""

    @property
    def type(self) -> DataType:
        """What the function gives."""
        return self.apply.type

    @property
    def types(self) -> tuple[DataType, ...]:
        """What it takes."""
        return tuple(argument.type for argument in self.apply.arguments)

    def __getitem__(self, index: int) -> str:
        return self.arguments[index]


#: How a function is said: a template (``upper({0})``; ``{*}`` all arguments, ``{type}`` the Spark
#: type of the result) or a function that writes the text.
Form: TypeAlias = str | Callable[[Called], str]


def unsupported(problem: str, hint: str | None = None) -> UnsupportedError:
    """The error of a meaning that Spark cannot be made to follow, to be raised by the caller."""
    return UnsupportedError(problem, code="not-executable", hint=hint)


# --- texts -------------------------------------------------------------------------------------

#: What is escaped in a string literal. ``\0`` before a digit would be an octal escape, and ``${``
#: would start a variable that Spark substitutes before it parses.
_ESCAPES = {
    "\\": r"\\",
    "'": r"\'",
    "\n": r"\n",
    "\r": r"\r",
    "\x00": r"\u0000",
    "${": r"\u0024{",
}
_ESCAPED_TEXT = re.compile("|".join(map(re.escape, _ESCAPES)))
_LITERAL = r"'(?:[^'\\]|\\.)*'"


def string(text: str) -> str:
    r"""Return a string literal of Spark SQL that is read back as exactly this string.

    The literal holds no ``${``, so it does not depend on `spark.sql.variable.substitute`
    (Spark SQL reference, "String Literal").

    Raises:
        UnsupportedError: with code `not-executable` for a lone surrogate, which Spark's UTF-8
            strings cannot hold.

    >>> print(string("it's\\"))
    'it\'s\\'
    >>> print(string("${env:HOME}"))
    '\u0024{env:HOME}'
    """
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise unsupported(
            f"the string {text!r} has a lone surrogate, which Spark cannot store",
            hint="replace the surrogate, or store the value as BYTES",
        )
    return "'" + _ESCAPED_TEXT.sub(lambda found: _ESCAPES[found[0]], text) + "'"


def is_literal(text: str) -> bool:
    """Return whether an expression of Spark SQL is one string literal."""
    return re.fullmatch(_LITERAL, text, re.DOTALL) is not None


def literal_text(text: str) -> str:
    r"""Return the content of a literal that `string` has written.

    >>> literal_text(string("it's\n"))
    "it's\n"
    """
    return _ESCAPE.sub(lambda found: _UNESCAPED.get(found[0], found[0][1:]), text[1:-1])


_ESCAPE = re.compile(r"\\u0024\{|\\u0000|\\.", re.DOTALL)
_UNESCAPED = {escape: text for text, escape in _ESCAPES.items()}

#: Names of variables in lambdas, which no alias is likely to have: a name of the query would be
#: hidden by them.
ELEMENT, KEY, VALUE = "the_element", "the_key", "the_value"

#: Beginning of the names of columns that only ORDER BY reads.
SORT_KEY = "the_sort_key_"

_SIMPLE = re.compile(
    rf"(?:`(?:[^`]|``)*`|\w+)(?:\.`(?:[^`]|``)*`)*|[\w.-]*{_LITERAL}|-?[\d.]+[A-Z]*", re.DOTALL
)


def is_simple(text: str) -> bool:
    """Whether a text is a column or a literal, so that repeating it costs nothing."""
    return _SIMPLE.fullmatch(text) is not None


def bind(text: str, body: Callable[[str], str]) -> str:
    """`body` over `text`, which is computed once however often the body names it.

    Spark has no sub-queries in the arguments or bodies of lambda calls; such a text is repeated.

    >>> bind("a", lambda a: f"{a} * {a}")
    'a * a'
    >>> bind("f(a)", lambda v: f"{v} * {v}")
    'transform(array(f(a)), v3703a211 -> v3703a211 * v3703a211)[0]'
    >>> bind("(SELECT 1)", lambda v: f"{v} * {v}")
    '(SELECT 1) * (SELECT 1)'
    """
    if is_simple(text):
        return body(text)
    name = f"v{zlib.crc32(text.encode()):08x}"
    result = body(name)
    if has_subquery(text) or has_subquery(result):
        return body(text)
    return f"transform(array({text}), {name} -> {result})[0]"


def bind_all(texts: Sequence[str], body: Callable[..., str]) -> str:
    """`bind` for several texts at once, which one lambda sees as fields of a row.

    >>> bind_all(["f(a)", "b", "g(c)"], lambda x, y, z: x + y + z)[:36]
    'transform(array(struct(f(a) AS `0`, '
    """
    wide = [place for place, text in enumerate(texts) if not is_simple(text)]
    if any(map(has_subquery, texts)):
        return body(*texts)
    if len(wide) < 2:

        def placed(name: str) -> str:
            return body(*(name if place in wide else text for place, text in enumerate(texts)))

        return bind(texts[wide[0]], placed) if wide else body(*texts)
    fields = ", ".join(f"{texts[place]} AS `{place}`" for place in wide)

    def named(row: str) -> str:
        return body(
            *(f"{row}.`{place}`" if place in wide else text for place, text in enumerate(texts))
        )

    return bind(f"struct({fields})", named)


_PLACE = re.compile(r"\{(\d+|\*|type)\}")


def fill(template: str, called: Called) -> str:
    """The template with the arguments in place; one that is named twice is bound."""
    places = [int(key) for key in _PLACE.findall(template) if key.isdigit()]
    repeated = sorted({place for place in places if places.count(place) > 1})

    def filled(*names: str) -> str:
        words = dict(enumerate(called.arguments)) | dict(zip(repeated, names, strict=True))

        def word(match: re.Match[str]) -> str:
            if match[1] == "*":
                return ", ".join(called.arguments)
            return sql_type(called.type) if match[1] == "type" else words[int(match[1])]

        return _PLACE.sub(word, template)

    return bind_all([called.arguments[index] for index in repeated], filled)


def say(form: Form, called: Called) -> str:
    """A function in Spark's words."""
    return fill(form, called) if isinstance(form, str) else form(called)


def null_or(condition: str, value: str) -> str:
    """NULL where the condition holds, else the value."""
    return f"if({condition}, NULL, {value})"


def fail(message: str) -> str:
    """An expression that ends the job with a message."""
    return f"raise_error({string(message)})"


# --- functions in Python -------------------------------------------------------------------------

#: How the functions of `schema_core.spark.compiler.udfs` are called in a session of ours.
PREFIX = "schema_core_"


def computed(name: str, *arguments: str) -> str:
    """A function that is computed in Python, over texts that stand in no lambda.

    >>> computed("inet_ntoa", "a")
    'schema_core_inet_ntoa(a)'
    """
    call = f"{PREFIX}{name}({', '.join(arguments)})"
    if not COMPUTED[name].fails:
        return call
    checked = "if({0}.`problem` IS NULL, {0}.`value`, raise_error({0}.`problem`))"
    return bind(call, checked.format)


_LAMBDA = re.compile(
    r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)*`|[(\[]|[)\]]|->|,|\b" + PREFIX + r"|\bSELECT\b", re.DOTALL
)


def is_hidden(text: str) -> bool:
    """Whether a function that is computed in Python stands in a lambda, where Spark cannot call it.

    >>> is_hidden("transform(a, x -> schema_core_f(x))"), is_hidden("g(x -> x, schema_core_f(b))")
    (True, False)
    """
    lambdas = [False]
    for match in _LAMBDA.finditer(text):
        if match[0] in ("(", "["):
            lambdas.append(False)
        elif match[0] in (")", "]"):
            lambdas.pop()
        elif match[0] in ("->", ","):
            lambdas[-1] = match[0] == "->"
        elif match[0] == PREFIX and any(lambdas):
            return True
    return False


def has_subquery(text: str) -> bool:
    """Whether a query stands in a text of Spark's; all names there are quoted.

    >>> has_subquery("a + (SELECT 1)"), has_subquery("'SELECT' || `SELECT`")
    (True, False)
    """
    return "SELECT" in text and any(match[0] == "SELECT" for match in _LAMBDA.finditer(text))


def has_subquery_in_lambda(text: str) -> bool:
    """Whether a query stands in a call that takes a lambda, which Spark does not run.

    >>> has_subquery_in_lambda("filter(a, x -> x > (SELECT 1))")
    True
    >>> has_subquery_in_lambda("(SELECT filter(a, x -> x > 1)) + f(b)")
    False
    """
    if "SELECT" not in text or "->" not in text:
        return False
    #: For each open parenthesis: whether a lambda stands in it, and whether a query does.
    levels = [[False, False]]
    for match in _LAMBDA.finditer(text):
        if match[0] in ("(", "["):
            levels.append([False, False])
        elif match[0] in (")", "]"):
            takes_lambda, query = levels.pop()
            if takes_lambda and query:
                return True
            levels[-1][1] |= query
        elif match[0] == "->":
            levels[-1][0] = True
        elif match[0] == "SELECT":
            levels[-1][1] = True
    return False


# --- types -------------------------------------------------------------------------------------

INTEGERS = (TinyIntType, SmallIntType, IntType, BigIntType)
FLOATS = (FloatType, DoubleType)
CHARACTERS = (CharType, VarCharType)
BYTES = (BinaryType, VarBinaryType)
INTERVALS = (YearMonthIntervalType, DayTimeIntervalType)

#: Digits that a whole number of a type needs as a DECIMAL.
DIGITS: dict[type[DataType], int] = {TinyIntType: 3, SmallIntType: 5, IntType: 10, BigIntType: 19}

#: Spark keeps microseconds.
MAX_PRECISION = 6

_NAMES: dict[type[DataType], str] = {
    NullType: "VOID",
    BooleanType: "BOOLEAN",
    TinyIntType: "TINYINT",
    SmallIntType: "SMALLINT",
    IntType: "INT",
    BigIntType: "BIGINT",
    FloatType: "FLOAT",
    DoubleType: "DOUBLE",
    CharType: "STRING",
    VarCharType: "STRING",
    BinaryType: "BINARY",
    VarBinaryType: "BINARY",
    DateType: "DATE",
    LocalZonedTimestampType: "TIMESTAMP",
    TimestampType: "TIMESTAMP_NTZ",
    YearMonthIntervalType: "INT",
    DayTimeIntervalType: "BIGINT",
    VariantType: "VARIANT",
}


def sql_type(type_: DataType) -> str:
    """The Spark type that holds a value inside an expression.

    Raises:
        UnsupportedError: with code `not-executable` where there is none.

    >>> from schema_core.types import parse_type
    >>> sql_type(parse_type("ROW<a CHAR(3), b ARRAY<DECIMAL(4, 2)>>"))
    'STRUCT<`a`: STRING, `b`: ARRAY<DECIMAL(4, 2)>>'
    """
    match type_:
        case DecimalType():
            return f"DECIMAL({type_.precision}, {type_.scale})"
        case TimeType():
            return f"TIME({type_.precision})"
        case ArrayType():
            return f"ARRAY<{sql_type(type_.element_type)}>"
        case MapType():
            return f"MAP<{sql_type(type_.key_type)}, {sql_type(type_.value_type)}>"
        case MultisetType():
            return f"MAP<{sql_type(type_.element_type)}, INT>"
        case RowType() | StructuredType():
            fields = (f"{quote(one.name)}: {sql_type(one.data_type)}" for one in type_.fields)
            return f"STRUCT<{', '.join(fields)}>"
        case _:
            if name := _NAMES.get(type(type_)):
                return name
            raise unsupported(f"Spark has no values of type {type_.as_summary_string()}")


def quote(name: str) -> str:
    """A name in back-ticks."""
    return "`" + name.replace("`", "``") + "`"
