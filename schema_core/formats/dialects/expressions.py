"""Expressions of generated columns, between an engine and Flink: only what means the same in both.

A foreign expression is taken over node by node, by the tables below; any other node is refused, so
that nothing is read in another meaning. Every operand that is no name and no literal is put into
parentheses. Casts and division are not here: engines round, and divide whole numbers, differently.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from schema_core.errors import UnsupportedError
from schema_core.sql.syntax import Call, Literal, LiteralKind, Name, Symbol
from schema_core.text import quote_identifier, quote_string

if TYPE_CHECKING:
    from collections.abc import Callable

    from schema_core.formats.dialects.engines import Engine
    from schema_core.sql.syntax import Expression

#: Nodes nested deeper than this are not taken over.
MAX_LEVELS = 40

#: Node of sqlglot with two operands -> the operator, here and there.
OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "eq": "=", "neq": "<>", "lt": "<", "lte": "<=", "gt": ">",
    "gte": ">=", "and": "AND", "or": "OR", "dpipe": "||",
}  # fmt: skip

#: Node of sqlglot with any number of operands -> the function.
FUNCTIONS = {"upper": "UPPER", "lower": "LOWER", "abs": "ABS", "coalesce": "COALESCE"}

COMPARISONS = frozenset({"eq", "neq", "lt", "lte", "gt", "gte", "between", "in", "is"})
BOOLEAN_NODES = COMPARISONS | {"and", "or", "not"}

#: Operator -> operands that engines group in different ways when no parentheses stand around them.
AMBIGUOUS = {
    **dict.fromkeys(("add", "sub", "mul", "neg"), BOOLEAN_NODES | {"dpipe"}),
    **dict.fromkeys(COMPARISONS, BOOLEAN_NODES),
    "dpipe": BOOLEAN_NODES | {"add", "sub", "mul", "neg"},
    "is": BOOLEAN_NODES | {"add", "sub", "mul", "neg", "dpipe"},
}

_NUMBER = re.compile(r"[0-9]{1,38}(\.[0-9]{1,38})?")


def _not_portable(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"{what} may mean something else in Flink", code="expression-not-portable"
    )


# --- reading: from sqlglot's trees, of which only keys and arguments are looked at ---------------

#: Node of sqlglot -> the arguments that are understood; any other one could change the meaning.
ARGUMENTS: dict[str, frozenset[str]] = {
    **dict.fromkeys(OPERATORS, frozenset({"this", "expression"})),
    **dict.fromkeys(FUNCTIONS, frozenset({"this"})),
    "dpipe":      frozenset({"this", "expression", "safe"}),
    "coalesce":   frozenset({"this", "expressions"}),
    "concat":     frozenset({"expressions", "safe"}),  # not: NULL counts as the empty text
    "column":     frozenset({"this"}),
    "identifier": frozenset({"this", "quoted"}),
    "literal":    frozenset({"this", "is_string"}),
    "null":       frozenset(),
    "boolean":    frozenset({"this"}),
    "paren":      frozenset({"this"}),
    "neg":        frozenset({"this"}),
    "not":        frozenset({"this"}),
    "is":         frozenset({"this", "expression", "negate"}),
    "between":    frozenset({"this", "low", "high"}),
    "in":         frozenset({"this", "expressions"}),
    "case":       frozenset({"this", "ifs", "default"}),
    "if":         frozenset({"this", "true"}),
}  # fmt: skip


def _require_known(node: Any, engine: Engine) -> None:
    """Refuse a node, or an argument of it, that is not in the table."""
    known = ARGUMENTS.get(node.key)
    if known is None or any(value and name not in known for name, value in node.args.items()):
        raise _not_portable(f"{node.key.upper()} of {engine.name}")


def read_expression(node: Any, engine: Engine, level: int = 0) -> str:
    """Flink's SQL for a tree of sqlglot.

    Raises:
        UnsupportedError: with code `expression-not-portable` for a part that may mean something
            else.
    """
    node = _without_parentheses(node)
    _require_known(node, engine)
    if level > MAX_LEVELS:
        raise _not_portable("an expression nested so deeply")
    if node.key in OPERATORS:
        _require_unambiguous(node, "this", "expression")
        left, right = (_operand(node.args[one], engine, level) for one in ("this", "expression"))
        return f"{left} {OPERATORS[node.key]} {right}"
    if node.key in FUNCTIONS:
        operands = [node.this, *node.expressions]
        texts = [read_expression(one, engine, level + 1) for one in operands]
        return f"{FUNCTIONS[node.key]}({', '.join(texts)})"
    if node.key not in NODES:  # a part of CASE that is not within one: ClickHouse's `a ? b`
        raise _not_portable(f"{node.key.upper()} of {engine.name}")
    return NODES[node.key](node, engine, level)


def _operand(node: Any, engine: Engine, level: int) -> str:
    text = read_expression(node, engine, level + 1)
    return text if _without_parentheses(node).key in ATOMS else f"({text})"


def _without_parentheses(node: Any) -> Any:
    """The node without the parentheses around it."""
    while node.key == "paren" and node.args.keys() <= {"this"}:
        node = node.this
    return node


#: Nodes that need no parentheses.
ATOMS = frozenset({"column", "literal", "null", "boolean", "case", "concat", *FUNCTIONS})


def _require_unambiguous(node: Any, *names: str) -> None:
    """Refuse operands without parentheses that other engines would group otherwise."""
    for name in names:
        if node.args[name].key in AMBIGUOUS.get(node.key, ()):
            raise _not_portable(f"{node.args[name].key.upper()} without parentheses")


def _read_column(node: Any, engine: Engine, level: int) -> str:
    _require_known(node.this, engine)
    if node.this.key != "identifier":
        raise _not_portable(node.this.key.upper())
    name = str(node.this.this)
    return quote_identifier(engine.folded(name, quoted=bool(node.this.args.get("quoted"))))


def _read_literal(node: Any, engine: Engine, level: int) -> str:
    text = str(node.this)
    if node.args.get("is_string"):
        return quote_string(text)
    if not _NUMBER.fullmatch(text):
        raise _not_portable(f"the number {text[:40]}")
    return text


def _read_not(node: Any, engine: Engine, level: int) -> str:
    """``a IS NOT NULL`` is a NOT around an IS in some dialects' trees."""
    inner = node.this
    if inner.key == "is" and not inner.args.get("negate"):
        return read_expression(inner, engine, level + 1).removesuffix("NULL") + "NOT NULL"
    return f"NOT {_operand(inner, engine, level)}"


def _read_is(node: Any, engine: Engine, level: int) -> str:
    if node.expression.key != "null":
        raise _not_portable("IS")
    _require_unambiguous(node, "this")
    word = " NOT" if node.args.get("negate") else ""
    return f"{_operand(node.this, engine, level)} IS{word} NULL"


def _read_between(node: Any, engine: Engine, level: int) -> str:
    _require_unambiguous(node, "this", "low", "high")
    parts = [_operand(node.args[name], engine, level) for name in ("this", "low", "high")]
    return f"{parts[0]} BETWEEN {parts[1]} AND {parts[2]}"


def _read_in(node: Any, engine: Engine, level: int) -> str:
    _require_unambiguous(node, "this")
    items = ", ".join(_operand(one, engine, level) for one in node.expressions)
    return f"{_operand(node.this, engine, level)} IN ({items})"


def _read_case(node: Any, engine: Engine, level: int) -> str:
    def text(part: Any) -> str:
        return read_expression(part, engine, level + 1)

    for one in node.args["ifs"]:
        _require_known(one, engine)
    base = f" {_operand(node.this, engine, level)}" if node.args.get("this") else ""
    whens = "".join(
        f" WHEN {text(one.this)} THEN {text(one.args['true'])}" for one in node.args["ifs"]
    )
    default = node.args.get("default")
    return f"CASE{base}{whens}{f' ELSE {text(default)}' if default else ''} END"


def _read_concat(node: Any, engine: Engine, level: int) -> str:
    return f"CONCAT({', '.join(read_expression(o, engine, level + 1) for o in node.expressions)})"


#: Node of sqlglot -> Flink's SQL for it.
NODES: dict[str, Callable[[Any, Engine, int], str]] = {
    "column":  _read_column,
    "literal": _read_literal,
    "null":    lambda node, engine, level: "NULL",
    "boolean": lambda node, engine, level: "TRUE" if node.this else "FALSE",
    "neg":     lambda node, engine, level: f"-{_operand(node.this, engine, level)}",
    "not":     _read_not,
    "is":      _read_is,
    "between": _read_between,
    "in":      _read_in,
    "case":    _read_case,
    "concat":  _read_concat,
}  # fmt: skip


# --- writing: from our own trees -----------------------------------------------------------------

BINARY = frozenset(OPERATORS.values())


def write_expression(expression: Expression, engine: Engine) -> str:
    """The engine's SQL for an expression of Flink.

    Raises:
        UnsupportedError: with code `expression-not-portable` for a part that may mean something
            else.
    """
    return _write(expression, engine, 0)


def _write(expression: Expression, engine: Engine, level: int) -> str:
    if level > MAX_LEVELS:
        raise _not_portable("an expression nested so deeply")
    match expression:
        case Name(parts=(name,)):
            return engine.quote_name(engine.folded(name))
        case Literal(kind=LiteralKind.NULL):
            return "NULL"
        case Literal(kind=LiteralKind.BOOLEAN | LiteralKind.EXACT, text=text):
            return text
        case Literal(kind=LiteralKind.STRING, text=text, charset=None):
            return engine.quote_text(text)
        case Call(symbol=None, name=name, arguments=arguments):
            texts = [_write_argument(one, engine, level + 1) for one in arguments]
            return _write_call(name, texts, engine)
        case Call(symbol="ASYMMETRIC", name="BETWEEN", arguments=arguments):
            value, low, high = (_write_argument(one, engine, level + 1) for one in arguments)
            return f"({value} BETWEEN {low} AND {high})"
        case _:
            raise _not_portable(type(expression).__name__)


def _write_argument(argument: object, engine: Engine, level: int) -> str:
    if isinstance(argument, Name | Literal | Call):
        return _write(argument, engine, level)
    raise _not_portable(argument.word if isinstance(argument, Symbol) else type(argument).__name__)


def _write_call(name: str, texts: list[str], engine: Engine) -> str:
    """A call of which both engines think the same; the result needs no more parentheses."""
    if name == "||" and engine.concat:
        return f"CONCAT({', '.join(texts)})"
    if name in BINARY and len(texts) == 2:
        return f"({texts[0]} {name} {texts[1]})"
    if name in {"IS NULL", "IS NOT NULL"}:
        return f"({texts[0]} {name})"
    if name == "NOT":
        return f"(NOT {texts[0]})"
    if name == "-x":
        return f"(-{texts[0]})"
    if name == "IN":
        return f"({texts[0]} IN ({', '.join(texts[1:])}))"
    if name in FUNCTIONS.values():
        return f"{name}({', '.join(texts)})"
    if name == "CASE":
        *pairs, default = texts
        whens = "".join(
            f" WHEN {when} THEN {then}" for when, then in zip(pairs[::2], pairs[1::2], strict=True)
        )
        return f"CASE{whens} ELSE {default} END"
    raise _not_portable(name)
