"""Types from before Flink 1.9: the type information in their strings, and their SQL types.

The grammar is that of Flink's TypeStringUtils: keywords in capitals, ``<>`` and ``()`` alike, names
with a delimiter in backticks. Classes are only names: none is ever loaded.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from schema_core.base.cursor import Cursor
from schema_core.base.lazy import dataclass, regex
from schema_core.base.text import Token
from schema_core.errors import SchemaError
from schema_core.types import atomic, temporal
from schema_core.types.base import MAX_LENGTH, DataType
from schema_core.types.families import TypeRoot
from schema_core.types.nested import ArrayType, MapType, MultisetType, RowField, RowType
from schema_core.types.type_grammar import TypeGrammar
from schema_core.types.user_defined import LegacyType, RawType, is_class_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The type information of a Java array of strings: a serialized Java object in URL-safe Base64. It
#: is compared and printed, never deserialized.
STRING_ARRAY = (
    "rO0ABXNyADdvcmcuYXBhY2hlLmZsaW5rLmFwaS5jb21tb24udHlwZWluZm8uQmFzaWNBcnJheVR5cGVJbmZvAAAA"
    "AAAAAAECAAJMAAphcnJheUNsYXNzdAARTGphdmEvbGFuZy9DbGFzcztMAA1jb21wb25lbnRJbmZvdAA2TG9yZy9h"
    "cGFjaGUvZmxpbmsvYXBpL2NvbW1vbi90eXBlaW5mby9UeXBlSW5mb3JtYXRpb247eHIANG9yZy5hcGFjaGUuZmxp"
    "bmsuYXBpLmNvbW1vbi50eXBlaW5mby5UeXBlSW5mb3JtYXRpb26UjchIurN66wIAAHhwdnIAE1tMamF2YS5sYW5n"
    "LlN0cmluZzut0lbn6R17RwIAAHhwc3IAMm9yZy5hcGFjaGUuZmxpbmsuYXBpLmNvbW1vbi50eXBlaW5mby5CYXNp"
    "Y1R5cGVJbmZv-gTwgqVp3QYCAARMAAVjbGF6enEAfgABTAAPY29tcGFyYXRvckNsYXNzcQB-AAFbABdwb3NzaWJs"
    "ZUNhc3RUYXJnZXRUeXBlc3QAEltMamF2YS9sYW5nL0NsYXNzO0wACnNlcmlhbGl6ZXJ0ADZMb3JnL2FwYWNoZS9m"
    "bGluay9hcGkvY29tbW9uL3R5cGV1dGlscy9UeXBlU2VyaWFsaXplcjt4cQB-AAN2cgAQamF2YS5sYW5nLlN0cmlu"
    "Z6DwpDh6O7NCAgAAeHB2cgA7b3JnLmFwYWNoZS5mbGluay5hcGkuY29tbW9uLnR5cGV1dGlscy5iYXNlLlN0cmlu"
    "Z0NvbXBhcmF0b3IAAAAAAAAAAQIAAHhyAD5vcmcuYXBhY2hlLmZsaW5rLmFwaS5jb21tb24udHlwZXV0aWxzLmJh"
    "c2UuQmFzaWNUeXBlQ29tcGFyYXRvcgAAAAAAAAABAgACWgATYXNjZW5kaW5nQ29tcGFyaXNvblsAC2NvbXBhcmF0"
    "b3JzdAA3W0xvcmcvYXBhY2hlL2ZsaW5rL2FwaS9jb21tb24vdHlwZXV0aWxzL1R5cGVDb21wYXJhdG9yO3hyADRv"
    "cmcuYXBhY2hlLmZsaW5rLmFwaS5jb21tb24udHlwZXV0aWxzLlR5cGVDb21wYXJhdG9yAAAAAAAAAAECAAB4cHVy"
    "ABJbTGphdmEubGFuZy5DbGFzczurFteuy81amQIAAHhwAAAAAHNyADtvcmcuYXBhY2hlLmZsaW5rLmFwaS5jb21t"
    "b24udHlwZXV0aWxzLmJhc2UuU3RyaW5nU2VyaWFsaXplcgAAAAAAAAABAgAAeHIAQm9yZy5hcGFjaGUuZmxpbmsu"
    "YXBpLmNvbW1vbi50eXBldXRpbHMuYmFzZS5UeXBlU2VyaWFsaXplclNpbmdsZXRvbnmph6rHLndFAgAAeHIANG9y"
    "Zy5hcGFjaGUuZmxpbmsuYXBpLmNvbW1vbi50eXBldXRpbHMuVHlwZVNlcmlhbGl6ZXIAAAAAAAAAAQIAAHhw"
)


#: Keyword -> the Java class of its values, and the current type.
ATOMIC: dict[str, tuple[str, DataType]] = {
    "VARCHAR":   ("java.lang.String",     atomic.VarCharType(MAX_LENGTH)),
    "BOOLEAN":   ("java.lang.Boolean",    atomic.BooleanType()),
    "TINYINT":   ("java.lang.Byte",       atomic.TinyIntType()),
    "SMALLINT":  ("java.lang.Short",      atomic.SmallIntType()),
    "INT":       ("java.lang.Integer",    atomic.IntType()),
    "BIGINT":    ("java.lang.Long",       atomic.BigIntType()),
    "FLOAT":     ("java.lang.Float",      atomic.FloatType()),
    "DOUBLE":    ("java.lang.Double",     atomic.DoubleType()),
    "DECIMAL":   ("java.math.BigDecimal", atomic.DecimalType(38, 18)),
    "DATE":      ("java.sql.Date",        temporal.DateType()),
    "TIME":      ("java.sql.Time",        temporal.TimeType(0)),
    "TIMESTAMP": ("java.sql.Timestamp",   temporal.TimestampType(3)),
}  # fmt: skip

#: Synonyms of keywords.
SYNONYMS: dict[str, str] = {
    "STRING": "VARCHAR", "BYTE": "TINYINT", "SHORT": "SMALLINT", "LONG": "BIGINT",
    "SQL_DATE": "DATE", "SQL_TIME": "TIME", "SQL_TIMESTAMP": "TIMESTAMP",
}  # fmt: skip

#: Element keyword of a primitive array -> the letter of the array's class (JVMS 4.3.2).
PRIMITIVE: dict[str, str] = {
    "BOOLEAN": "Z", "TINYINT": "B", "SMALLINT": "S", "INT": "I", "BIGINT": "J", "FLOAT": "F",
    "DOUBLE": "D",
}  # fmt: skip

#: The first bytes of a serialized Java object (Java's object stream protocol, section 6.4.2).
STREAM = b"\xac\xed\x00\x05"

TEXT, BYTE = ATOMIC["VARCHAR"][1], ATOMIC["TINYINT"][1]
BYTES = atomic.VarBinaryType(MAX_LENGTH)

#: Class and serialized object of an array of strings, which has no keyword.
STRINGS = ("[Ljava.lang.String;", STRING_ARRAY)

_TOKEN = regex(
    r"""
      (?P<space>   \s+ )
    | (?P<symbol>  [<>(),] )
    | (?P<word>    (?: `(?:[^`]|``)*(?:`|\Z) | [^<>(),\s`] )+ )
    """,
    re.VERBOSE,
)
#: Brackets of both kinds have the same meaning.
_ANGLE_BRACKETS = {"(": "<", ")": ">"}
_QUOTED = regex(r"`((?:[^`]|``)*)(?:`|\Z)")
_PLAIN = regex(r"[^<>(),\s`]+")
_ARRAY_CLASS = regex(r"\[+(?:[ZBSIJFDC]|L([^;\[]+);)")


@dataclass(frozen=True, slots=True)
class Information:
    """A parsed type information, and the Java class of its values.

    `names` are the field names of a ROW, `strings` the arguments of ANY.
    """

    keyword: str
    class_name: str
    arguments: tuple[Information, ...] = ()
    names: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()

    def __str__(self) -> str:
        inner = [*self.strings, *map(str, self.arguments)]
        if self.names:
            pairs = zip(map(_quote_name, self.names), inner, strict=True)
            inner = [f"{name} {argument}" for name, argument in pairs]
        return f"{self.keyword}<{', '.join(inner)}>" if inner else self.keyword


def _quote_name(name: str) -> str:
    """A name, quoted if necessary.

    Flink does not quote empty names and names with a backtick, and cannot parse these again.
    """
    return name if _PLAIN.fullmatch(name) else f"`{name.replace('`', '``')}`"


def read_information(text: str) -> Information:
    """Parse a type information.

    Raises:
        SchemaError: with code `invalid-type` for a string outside the grammar, and for a
            POJO, whose fields depend on its class.

    >>> print(read_information("ROW(STRING, OBJECT_ARRAY<LONG>)"))
    ROW<f0 VARCHAR, f1 OBJECT_ARRAY<BIGINT>>
    """
    cursor = _LegacyCursor(text, list(_tokens(text)))
    information = _LegacyTypes().type_(cursor)
    if cursor.token.kind != "end":
        raise cursor.missing("end")
    return information


def _tokens(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        kind, value = match.lastgroup or "", match.group()
        if kind == "symbol":
            yield Token(kind, _ANGLE_BRACKETS.get(value, value), value, *match.span())
        elif kind == "word":  # backticks may occur anywhere in it
            word = _QUOTED.sub(lambda quoted: quoted[1].replace("``", "`"), value)
            keyword = SYNONYMS.get(word, word)
            yield Token(kind, keyword if keyword in _LegacyTypes.names else "", word, *match.span())
    yield Token("end", "", "", len(text), len(text))


class _LegacyCursor(Cursor):
    """A cursor whose errors show the type information."""

    __slots__ = ()

    def missing(self, key: str) -> SchemaError:
        """The error for an unexpected token, whatever was expected."""
        unexpected = repr(self.token.value) if self.token.value else "the end"
        return SchemaError(
            f"unexpected {unexpected} in type information {self.text}", code="invalid-type"
        )


def _atomic(keyword: str) -> Callable[[object, Cursor], Information]:
    return lambda types, cursor: Information(keyword, ATOMIC[keyword][0])


def _map(keyword: str, *arguments: Information) -> Information:
    return Information(keyword, "java.util.Map", arguments)


class _LegacyTypes(TypeGrammar[Cursor, Information, Information]):
    """The grammar of type information."""

    def other_type(self, cursor: Cursor) -> Information:
        raise cursor.missing("a type")

    def name(self, cursor: Cursor) -> str:
        if cursor.token.kind != "word":
            raise cursor.missing("a word")
        return cursor.advance().value

    def primitive_array(self, cursor: Cursor) -> Information:
        element = self.element(cursor)
        if element.keyword not in PRIMITIVE:
            raise SchemaError(
                f"{element} is not an element type of primitive arrays", code="invalid-type"
            )
        return Information("PRIMITIVE_ARRAY", f"[{PRIMITIVE[element.keyword]}", (element,))

    def object_array(self, cursor: Cursor) -> Information:
        """Parse the class of the elements; an array of strings is a serialized object."""
        element = self.element(cursor)
        inner = element.class_name
        class_name = f"[{inner}" if inner.startswith("[") else f"[L{inner};"
        if element.keyword == "VARCHAR":
            return Information("ANY", class_name, strings=STRINGS)
        return Information("OBJECT_ARRAY", class_name, (element,))

    def row_information(self, cursor: Cursor) -> Information:
        """Parse fields; two adjacent words mean that all fields have names."""
        cursor.expect("<")
        has_names = cursor.token.kind == "word" and cursor.peek().kind == "word"
        names: list[str] = []
        types: list[Information] = []
        while not names or cursor.accept(","):
            names.append(self.name(cursor) if has_names else f"f{len(names)}")
            types.append(self.type_(cursor))
        if len(set(names)) < len(names):
            raise SchemaError(f"duplicate field name: {cursor.text}", code="invalid-type")
        cursor.expect(">")
        return Information("ROW", "org.apache.flink.types.Row", tuple(types), tuple(names))

    def class_information(self, cursor: Cursor) -> Information:
        """Parse a class and an optional serialized Java object, whose header is validated."""
        cursor.expect("<")
        class_name = self.name(cursor)
        if not _could_be_loaded(class_name):
            raise SchemaError(
                f"{class_name!r} is not a class name with a package", code="invalid-type"
            )
        strings: tuple[str, ...] = (class_name,)
        if cursor.accept(","):
            strings = (class_name, self.name(cursor))
            if not _is_stream(strings[1]):
                raise SchemaError("invalid serialized object of a class", code="invalid-type")
        cursor.expect(">")
        return Information("ANY", class_name, strings=strings)

    #: POJO is missing: it would require the class.
    names = {
        **{keyword: _atomic(keyword) for keyword in ATOMIC},
        "ROW":             row_information,
        "MAP":             lambda types, cursor: _map("MAP", *types.entry(cursor)),
        "MULTISET":        lambda types, cursor: _map("MULTISET", types.element(cursor)),
        "PRIMITIVE_ARRAY": primitive_array,
        "OBJECT_ARRAY":    object_array,
        "ANY":             class_information,
    }  # fmt: skip


def _could_be_loaded(name: str) -> bool:
    """Whether a name is a class in a package, or an array."""
    if array := _ARRAY_CLASS.fullmatch(name):
        name = array[1] or "java.lang.Object"
    return "." in name and is_class_name(name)


def _is_stream(text: str) -> bool:
    """Whether a string in Base64 begins like a serialized Java object."""
    padding = "" if "=" in text else "=" * (-len(text) % 4)
    try:
        content = base64.b64decode(text + padding, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return False
    return content.startswith(STREAM) and len(content) > len(STREAM) + 1


# --- conversion to SQL types ---------------------------------------------------------------------

#: Root of a legacy type -> the SQL type of the column, whatever its type information.
OF_ROOT: dict[TypeRoot, DataType] = {
    TypeRoot.BOOLEAN:             atomic.BooleanType(),
    TypeRoot.TINYINT:             atomic.TinyIntType(),
    TypeRoot.SMALLINT:            atomic.SmallIntType(),
    TypeRoot.INTEGER:             atomic.IntType(),
    TypeRoot.BIGINT:              atomic.BigIntType(),
    TypeRoot.FLOAT:               atomic.FloatType(),
    TypeRoot.DOUBLE:              atomic.DoubleType(),
    TypeRoot.DATE:                temporal.DateType(),
    TypeRoot.INTERVAL_YEAR_MONTH: temporal.YearMonthIntervalType(temporal.YearMonth.MONTH),
    TypeRoot.INTERVAL_DAY_TIME:
        temporal.DayTimeIntervalType(temporal.DayTime.SECOND, fractional_precision=3),
    TypeRoot.SYMBOL:              atomic.SymbolType(),
    TypeRoot.DESCRIPTOR:          atomic.DescriptorType(),
    TypeRoot.VARIANT:             atomic.VariantType(),
}  # fmt: skip


def legacy_in_sql(type_: LegacyType) -> DataType | None:
    """The SQL type of a column of a legacy type; None if SQL does not support it.

    >>> print(legacy_in_sql(LegacyType(TypeRoot.DECIMAL, "DECIMAL")))
    DECIMAL(38, 18)
    """
    information = read_information(type_.information)
    if type_.root is TypeRoot.DECIMAL:
        return current_type(information) if information.keyword == "DECIMAL" else None
    if type_.root not in (TypeRoot.RAW, TypeRoot.STRUCTURED_TYPE):
        return OF_ROOT.get(type_.root)
    if information.keyword in ("DECIMAL", "ROW", "ANY"):
        return current_type(information)
    return RawType(information.class_name, None)


def current_type(information: Information) -> DataType:
    """The type that replaces a type information since Flink 1.9.

    >>> found = current_type(read_information("MAP<STRING, PRIMITIVE_ARRAY<INT>>"))
    >>> found.as_summary_string()
    'MAP<STRING, ARRAY<INT NOT NULL>>'
    """
    inner = tuple(current_type(argument) for argument in information.arguments)
    match information.keyword, inner:
        case "ROW", types:
            return RowType([RowField(*pair) for pair in zip(information.names, types, strict=True)])
        case "MAP", (key, value):
            return MapType(key, value)
        case "MULTISET", (element,):
            return MultisetType(element)
        case "OBJECT_ARRAY", (element,):
            return ArrayType(element)
        case "PRIMITIVE_ARRAY", (element,):
            return BYTES if element == BYTE else ArrayType(element.not_null())
        case "ANY", ():
            is_string_array = information.strings == STRINGS
            return ArrayType(TEXT) if is_string_array else RawType(information.class_name, None)
        case word, _:
            return ATOMIC[word][1]
