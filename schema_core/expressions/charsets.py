"""Character sets: a text keeps that of its literal, and some operators take no two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.expressions.typed import Access, Constant, FunctionCall
from schema_core.sql.literals import CHARSETS
from schema_core.sql.syntax import Literal, LiteralKind
from schema_core.types import TypeFamily, TypeRoot

if TYPE_CHECKING:
    from schema_core.expressions.signatures import Given
    from schema_core.expressions.typed import Typed

#: That of columns, and of all literals that name none.
UNICODE = "utf-16-le"

#: Functions whose text, or texts, are in the character set of an argument -> the place of that one.
KEEPING = {
    **dict.fromkeys(
        ("UPPER", "LOWER", "INITCAP", "LTRIM", "RTRIM", "OVERLAY", "AUXILIARY_GROUP"), 0
    ),
    **dict.fromkeys(("LISTAGG", "MAX", "MIN", "FIRST_VALUE", "LAST_VALUE", "LAG", "LEAD"), 0),
    **dict.fromkeys(("ARRAY", "[]", "ELEMENT", "TRANSLATE USING"), 0),
    **dict.fromkeys(("MAP", "||"), 1),
    **dict.fromkeys(("IF", "TRIM"), 2),
}


def charset(tree: Typed) -> str:
    """The character set of a text.

    >>> from schema_core.expressions.type_checker import ColumnScope, infer
    >>> from schema_core.sql.parser import parse_expression
    >>> charset(infer(ColumnScope({}), parse_expression("UPPER(_UTF8'a')")))
    'utf-8'
    """
    while (inner := _source(tree)) is not None:
        tree = inner
    match tree:
        case Constant(literal=Literal(kind=LiteralKind.STRING, charset=str(name))):
            return CHARSETS[name]
        case _:
            return UNICODE


def _source(tree: Typed) -> Typed | None:
    """The part of a tree that its text is made of, if there is one."""
    match tree:
        case FunctionCall(function=function, arguments=arguments) if function.name in KEEPING:
            return arguments[KEEPING[function.name]]
        case FunctionCall(function=function, arguments=arguments) if function.name == "CASE":
            values = (*arguments[1:-1:2], arguments[-1])
            known = [one for one in values if one.type.root is not TypeRoot.NULL]
            return known[0] if len(set(map(charset, known))) == 1 else None
        case Access(value=FunctionCall(function=function, arguments=fields), name=name):
            places = range(len(fields)) if function.name == "ROW" else ()
            return next((fields[i] for i in places if name == f"EXPR${i}"), None)
        case _:
            return None


def is_mixed(given: Given, i: int) -> bool:
    """Whether an argument and the one before it are texts in different character sets."""
    one, other = given.trees[max(i - 1, 0)], given.trees[i]
    if not one.type.is_(TypeFamily.CHARACTER_STRING):
        return False
    return other.type.is_(TypeFamily.CHARACTER_STRING) and charset(one) != charset(other)
