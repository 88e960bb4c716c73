"""Convert expressions of generated columns between engines and Flink, if the meaning is the same.

Nodes without a row are refused. Operands other than names and literals get parentheses. Casts and
division are not supported: engines differ in rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schema_core.base.lazy import regex
from schema_core.base.text import quote_identifier, quote_string
from schema_core.errors import UnsupportedError
from schema_core.sql.syntax import Call, Literal, LiteralKind, Name, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable

    from schema_core.mappings.dialects.engines import Engine
    from schema_core.sql.syntax import Expression

#: The maximum depth of nodes.
MAX_LEVELS = 40

#: sqlglot's node with two operands -> the operator.
OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "eq": "=", "neq": "<>", "lt": "<", "lte": "<=", "gt": ">",
    "gte": ">=", "and": "AND", "or": "OR", "dpipe": "||",
}  # fmt: skip

#: sqlglot's node with any number of operands -> the function.
FUNCTIONS = {"upper": "UPPER", "lower": "LOWER", "abs": "ABS", "coalesce": "COALESCE"}

TEXT_NODES = frozenset({"dpipe", "concat", "upper", "lower"})
COMPARISONS = frozenset({"eq", "neq", "lt", "lte", "gt", "gte", "between", "in", "is"})
BOOLEAN_NODES = COMPARISONS | {"and", "or", "not"}

#: Operator -> operands whose grouping differs between engines without parentheses.
AMBIGUOUS = {
    **dict.fromkeys(("add", "sub", "mul", "neg"), BOOLEAN_NODES | {"dpipe"}),
    **dict.fromkeys(COMPARISONS, BOOLEAN_NODES),
    "dpipe": BOOLEAN_NODES | {"add", "sub", "mul", "neg"},
    "is": BOOLEAN_NODES | {"add", "sub", "mul", "neg", "dpipe"},
}

_NUMBER = regex(r"[0-9]{1,38}(\.[0-9]{1,38})?")


def _not_portable(what: str) -> UnsupportedError:
    return UnsupportedError(f"{what} may have another meaning in Flink", code="not-representable")


# --- reading sqlglot's trees, of which only keys and arguments are used ---------------------------

#: sqlglot's node -> the supported arguments; any other argument could change the meaning.
ARGUMENTS: dict[str, frozenset[str]] = {
    **dict.fromkeys(OPERATORS, frozenset({"this", "expression"})),
    **dict.fromkeys(FUNCTIONS, frozenset({"this"})),
    "dpipe":      frozenset({"this", "expression", "safe"}),
    "coalesce":   frozenset({"this", "expressions"}),
    "concat":     frozenset({"expressions", "safe"}),  # without the variant for NULL
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
    allowed = ARGUMENTS.get(node.key)
    if allowed is None or any(value and name not in allowed for name, value in node.args.items()):
        raise _not_portable(f"{node.key.upper()} of {engine.name}")


def read_expression(node: Any, engine: Engine, level: int = 0) -> str:
    """Return Flink's SQL for a tree of sqlglot.

    Raises:
        UnsupportedError: with code `not-representable`.
    """
    node = _without_parentheses(node)
    _require_known(node, engine)
    if engine.null_strings and (node.key in TEXT_NODES or node.args.get("is_string")):
        raise _not_portable(f"a string of {engine.name}")
    if level > MAX_LEVELS:
        raise _not_portable(f"an expression deeper than {MAX_LEVELS} levels")
    if node.key in OPERATORS:
        _require_unambiguous(node, "this", "expression")
        left, right = (_operand(node.args[name], engine, level) for name in ("this", "expression"))
        return f"{left} {OPERATORS[node.key]} {right}"
    if node.key in FUNCTIONS or node.key == "concat":
        operands = [*([node.this] if node.key in FUNCTIONS else []), *node.expressions]
        operands_sql = [read_expression(operand, engine, level + 1) for operand in operands]
        return f"{FUNCTIONS.get(node.key, 'CONCAT')}({', '.join(operands_sql)})"
    if node.key not in NODES:  # a part of CASE outside of CASE, such as ClickHouse's `a ? b`
        raise _not_portable(f"{node.key.upper()} of {engine.name}")
    return NODES[node.key](node, engine, level)


def _operand(node: Any, engine: Engine, level: int) -> str:
    text = read_expression(node, engine, level + 1)
    return text if _without_parentheses(node).key in ATOMS else f"({text})"


def _without_parentheses(node: Any) -> Any:
    while node.key == "paren" and node.args.keys() <= {"this"}:
        node = node.this
    return node


ATOMS = frozenset({"column", "literal", "null", "boolean", "case", "concat", *FUNCTIONS})


def _require_unambiguous(node: Any, *names: str) -> None:
    for name in names:
        if node.args[name].key in AMBIGUOUS.get(node.key, ()):
            raise _not_portable(f"{node.args[name].key.upper()} without parentheses")


def _read_column(node: Any, engine: Engine, level: int) -> str:
    _require_known(node.this, engine)
    if node.this.key != "identifier":
        raise _not_portable(node.this.key.upper())
    name = str(node.this.this)
    return quote_identifier(engine.fold_case(name, quoted=bool(node.this.args.get("quoted"))))


def _read_literal(node: Any, engine: Engine, level: int) -> str:
    text = str(node.this)
    if node.args.get("is_string"):
        return quote_string(text)
    if not _NUMBER.fullmatch(text):
        raise _not_portable(f"the number {text[:40]}")
    return text


def _read_not(node: Any, engine: Engine, level: int) -> str:
    """``a IS NOT NULL`` is NOT with an IS operand in the trees of some dialects."""
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
    items = ", ".join(_operand(expression, engine, level) for expression in node.expressions)
    return f"{_operand(node.this, engine, level)} IN ({items})"


def _read_case(node: Any, engine: Engine, level: int) -> str:
    def text(part: Any) -> str:
        return read_expression(part, engine, level + 1)

    for branch in node.args["ifs"]:
        _require_known(branch, engine)
    base = f" {_operand(node.this, engine, level)}" if node.args.get("this") else ""
    whens = "".join(
        f" WHEN {text(branch.this)} THEN {text(branch.args['true'])}" for branch in node.args["ifs"]
    )
    default = node.args.get("default")
    return f"CASE{base}{whens}{f' ELSE {text(default)}' if default else ''} END"


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
}  # fmt: skip


# --- writing Flink's expressions ------------------------------------------------------------------

BINARY = frozenset(OPERATORS.values())
#: Operator -> its SQL.
TEMPLATES = {
    "IS NULL": "({} IS NULL)", "IS NOT NULL": "({} IS NOT NULL)", "NOT": "(NOT {})", "-x": "(-{})"
}  # fmt: skip


def write_expression(expression: Expression, engine: Engine) -> str:
    """Return the engine's SQL for an expression of Flink.

    Raises:
        UnsupportedError: with code `not-representable`.
    """
    return _write(expression, engine, 0)


def _write(expression: Expression, engine: Engine, level: int) -> str:
    if level > MAX_LEVELS:
        raise _not_portable(f"an expression deeper than {MAX_LEVELS} levels")
    match expression:
        case Name(parts=(name,)):
            return engine.quote_name(engine.fold_case(name))
        case Literal(kind=LiteralKind.NULL):
            return "NULL"
        case Literal(kind=LiteralKind.BOOLEAN | LiteralKind.EXACT, text=text):
            return text
        case Literal(kind=LiteralKind.STRING, text=text, charset=None):
            return engine.quote_string(text)
        case Call(symbol=None, name=name, arguments=arguments):
            operands_sql = [_write_argument(argument, engine, level + 1) for argument in arguments]
            return _write_call(name, operands_sql, engine)
        case Call(symbol="ASYMMETRIC", name="BETWEEN", arguments=arguments):
            value, low, high = (
                _write_argument(argument, engine, level + 1) for argument in arguments
            )
            return f"({value} BETWEEN {low} AND {high})"
        case _:
            raise _not_portable(type(expression).__name__)


def _write_argument(argument: object, engine: Engine, level: int) -> str:
    if isinstance(argument, Name | Literal | Call):
        return _write(argument, engine, level)
    raise _not_portable(argument.word if isinstance(argument, Symbol) else type(argument).__name__)


def _write_call(name: str, operands_sql: list[str], engine: Engine) -> str:
    if name == "||" and engine.concat:
        return f"CONCAT({', '.join(operands_sql)})"
    if name in BINARY and len(operands_sql) == 2:
        return f"({operands_sql[0]} {name} {operands_sql[1]})"
    if name in TEMPLATES:
        return TEMPLATES[name].format(operands_sql[0])
    if name == "IN":
        return f"({operands_sql[0]} IN ({', '.join(operands_sql[1:])}))"
    if name in FUNCTIONS.values():
        return f"{name}({', '.join(operands_sql)})"
    if name == "CASE":
        *pairs, default = operands_sql
        whens = "".join(
            f" WHEN {when} THEN {then}" for when, then in zip(pairs[::2], pairs[1::2], strict=True)
        )
        return f"CASE{whens} ELSE {default} END"
    raise _not_portable(name)
