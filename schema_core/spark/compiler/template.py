"""Templates: a notation for expression trees that reads as Spark SQL.

``sql("if({b} = 0, NULL, {a} / {b})", a=..., b=...)`` builds that tree from nodes. An argument that
is named twice is bound by a `Let`. Python values become literals, and the type of a CAST may be an
argument: ``CAST({0} AS {type})``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

from schema_core.base.lazy import regex
from schema_core.spark.compiler import tree as nodes

#: Arguments by name: nodes, types of casts, and under ``*`` a list of nodes.
Environment: TypeAlias = "Mapping[str, nodes.Node | str | tuple[nodes.Node, ...]]"
Builder: TypeAlias = "Callable[[Environment], nodes.Node]"

_TOKEN = regex(
    r"\s*(?:(?P<hole>\{(?:\w+|\*)\})|(?P<string>'[^']*')"
    r"|(?P<number>\d+(?:\.\d+)?(?:e\d+)?(?:L|D|BD)?\b)"
    r"|`(?P<quoted>[^`]*)`|(?P<word>\w+)|(?P<mark><=>|<>|<=|>=|->|[-=<>+*/%(),.\[\]]))"
)
_COMPARISONS = ("=", "<=>", "<>", "<", "<=", ">", ">=")
_CONSTANTS = {"NULL": nodes.NULL, "TRUE": nodes.TRUE, "FALSE": nodes.FALSE}


class Template:
    """A parsed template."""

    def __init__(self, text: str) -> None:
        self.text = text
        parser = _Parser(text)
        self.build: Builder = parser.parse()
        counts = Counter(parser.holes)
        self.repeated: tuple[str, ...] = tuple(
            sorted(name for name, count in counts.items() if count > 1)
        )

    def __call__(self, environment: Environment) -> nodes.Node:
        if not self.repeated:
            return self.build(environment)
        values = [
            node for name in self.repeated if isinstance(node := environment[name], nodes.Node)
        ]

        def body(*names: nodes.Node) -> nodes.Node:
            return self.build({**environment, **dict(zip(self.repeated, names, strict=True))})

        return nodes.let_all(values, body)


@cache
def template(text: str) -> Template:
    """Return a parsed template, which is cached.

    Raises:
        ValueError: for what the notation lacks.
    """
    return Template(text)


def sql(text: str, /, **arguments: nodes.Node | str | int | None) -> nodes.Node:
    """Return the tree of a template over named arguments; Python values become literals.

    >>> nodes.to_sql(sql("{a} * ({b} + 1)", a=nodes.Column("x"), b=2))
    '`x` * (2 + 1)'
    """
    parsed = template(text)
    return parsed({name: nodes.node_of(value) for name, value in arguments.items()})


def inline(text: str, /, **arguments: nodes.Node | str | int | None) -> nodes.Node:
    """Return the tree of a template, repeating the arguments that it names twice.

    For short operands, which Spark's common subexpression elimination computes once.
    """
    return template(text).build({name: nodes.node_of(value) for name, value in arguments.items()})


class _Parser:
    """Parses by precedence, as Spark's grammar of expressions does."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [*_tokens(text), ("end", "")]
        self.position = 0
        self.holes: list[str] = []
        self.scopes: list[str] = []

    def parse(self) -> Builder:
        built = self.disjunction()
        if self.tokens[self.position][0] != "end":
            raise ValueError(f"unexpected {self.peek!r} in the template {self.text!r}")
        return built

    # --- tokens ----------------------------------------------------------------------------------

    @property
    def peek(self) -> str:
        return self.tokens[self.position][1]

    def take(self, *texts: str) -> str | None:
        kind, text = self.tokens[self.position]
        if kind in ("mark", "word") and text in texts:
            self.position += 1
            return text
        return None

    def require(self, text: str) -> None:
        if self.take(text) is None:
            raise ValueError(f"expected {text!r}, found {self.peek!r} in {self.text!r}")

    def parse_list(self, end: str) -> list[Builder]:
        arguments: list[Builder] = []
        while not self.take(end):
            if arguments:
                self.require(",")
            arguments.append(self.argument())
        return arguments

    # --- operators -------------------------------------------------------------------------------

    def disjunction(self) -> Builder:
        return self.chain("OR", lambda: self.chain("AND", self.negation))

    def chain(self, symbol: str, operand: Callable[[], Builder]) -> Builder:
        operands = [operand()]
        while self.take(symbol):
            operands.append(operand())
        return operands[0] if len(operands) == 1 else _operator(symbol, operands)

    def negation(self) -> Builder:
        if self.take("NOT"):
            return _operator("NOT", [self.negation()])
        return self.predicate()

    def predicate(self) -> Builder:
        left = self.comparison()
        if self.take("IS"):
            negation = "NOT " if self.take("NOT") else ""
            word = self.take("NULL", "TRUE", "FALSE")
            return _operator(f"IS {negation}{word}", [left])
        negation = "NOT " if self.peek == "NOT" and self.take("NOT") else ""
        if self.take("IN"):
            self.require("(")
            return _operator(f"{negation}IN", [left, *self.parse_list(")")])
        if self.take("BETWEEN"):
            low = self.comparison()
            self.require("AND")
            return _operator(f"{negation}BETWEEN", [left, low, self.comparison()])
        return left

    def comparison(self) -> Builder:
        left = self.sum()
        while symbol := self.take(*_COMPARISONS):
            left = _operator(symbol, [left, self.sum()])
        return left

    def sum(self) -> Builder:
        left = self.product()
        while symbol := self.take("+", "-"):
            left = _operator(symbol, [left, self.product()])
        return left

    def product(self) -> Builder:
        left = self.unary()
        while symbol := self.take("*", "/", "%", "DIV"):
            left = _operator(symbol, [left, self.unary()])
        return left

    def unary(self) -> Builder:
        if not self.take("-"):
            return self.primary()
        if self.tokens[self.position][0] == "number":
            return _constant(_number(self.next(), sign="-"))
        return _operator("-", [self.unary()])

    def primary(self) -> Builder:
        value = self.atom()
        while True:
            if self.take("."):
                value = _part(value, nodes.Field, self.next())
            elif self.take("["):
                value = _part(value, nodes.Element, int(self.next()))
                self.require("]")
            else:
                return value

    def next(self) -> str:
        self.position += 1
        return self.tokens[self.position - 1][1]

    # --- atoms -----------------------------------------------------------------------------------

    def atom(self) -> Builder:
        kind, text = self.tokens[self.position]
        self.position += 1
        match kind:
            case "hole":
                name = text[1:-1]
                self.holes.append(name)
                return lambda environment: environment[name]  # type: ignore[return-value]
            case "string":
                return _constant(nodes.Literal(text[1:-1]))
            case "number":
                return _constant(_number(text))
            case "quoted":
                return _constant(nodes.Column(text))
            case "mark" if text == "(":
                inner = self.disjunction()
                self.require(")")
                return inner
            case "word":
                return self.word(text)
            case _:
                raise ValueError(f"unexpected {text!r} in the template {self.text!r}")

    def word(self, word: str) -> Builder:
        kind, following = self.tokens[self.position]
        if word in _CONSTANTS:
            return _constant(_CONSTANTS[word])
        if word == "CASE":
            return self.case()
        if kind == "string":
            return _constant(nodes.Literal(self.next()[1:-1], word))
        if following != "(":
            if word not in self.scopes:
                raise ValueError(f"unknown name {word!r} in the template {self.text!r}")
            return lambda environment: environment[f"->{word}"]  # type: ignore[return-value]
        self.require("(")
        if word in ("CAST", "try_cast"):
            return self.cast(safe=word == "try_cast")
        arguments = self.parse_list(")")
        if word == "raise_error":
            return lambda environment: nodes.Raise(arguments[0](environment))
        if self.all_arguments:
            self.all_arguments = False
            return lambda environment: nodes.Call(word, tuple(environment["*"]))  # type: ignore[arg-type]
        return lambda environment: nodes.Call(
            word, tuple(argument(environment) for argument in arguments)
        )

    all_arguments = False

    def argument(self) -> Builder:
        if self.tokens[self.position][1] == "{*}":
            self.all_arguments = True
            self.position += 1
            return _constant(nodes.NULL)
        names = self.parameters()
        if not names:
            return self.disjunction()
        self.scopes += names
        body = self.disjunction()
        del self.scopes[-len(names) :]

        def build(environment: Environment) -> nodes.Node:
            variables = {f"->{name}": nodes.Variable() for name in names}
            return nodes.Lambda(tuple(variables.values()), body({**environment, **variables}))

        return build

    def parameters(self) -> list[str]:
        """Consume the parameters of a lambda, if one begins here."""
        texts = [text for _, text in self.tokens[self.position : self.position + 6]]
        if texts[1:2] == ["->"]:
            self.position += 2
            return texts[:1]
        if texts[0] == "(" and texts[2:3] == [","] and texts[4:6] == [")", "->"]:
            self.position += 6
            return [texts[1], texts[3]]
        return []

    def cast(self, *, safe: bool) -> Builder:
        value = self.disjunction()
        self.require("AS")
        if self.tokens[self.position][0] == "hole":
            hole = self.next()[1:-1]
            self.require(")")

            def build(environment: Environment) -> nodes.Node:
                type_ = environment[hole]
                name = type_.value if isinstance(type_, nodes.Literal) else type_
                return nodes.Cast(value(environment), str(name), safe)

            return build
        parts, depth = [], 1
        while depth:
            parts.append(self.next())
            depth += {"(": 1, ")": -1}.get(parts[-1], 0)
        name = " ".join(parts[:-1]).replace(" ( ", "(").replace(" , ", ", ").replace(" )", ")")
        return lambda environment: nodes.Cast(value(environment), name, safe)

    def case(self) -> Builder:
        branches: list[tuple[Builder, Builder]] = []
        while self.take("WHEN"):
            condition = self.disjunction()
            self.require("THEN")
            branches.append((condition, self.disjunction()))
        otherwise = self.disjunction() if self.take("ELSE") else None
        self.require("END")
        return lambda environment: nodes.Case(
            tuple((test(environment), value(environment)) for test, value in branches),
            otherwise and otherwise(environment),
        )


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens = []
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"cannot read {text[position:]!r} in the template {text!r}")
        kind = match.lastgroup or ""
        tokens.append((kind, match[kind]))
        position = match.end()
    return tokens


def _number(text: str, sign: str = "") -> nodes.Literal:
    for suffix in ("BD", "L", "D"):
        if text.endswith(suffix):
            return nodes.Literal(sign + text.removesuffix(suffix), suffix)
    return (
        nodes.Literal(int(sign + text)) if text.isdigit() else nodes.Literal(sign + text, "NUMBER")
    )


def _constant(node: nodes.Node) -> Builder:
    return lambda environment: node


def _operator(symbol: str, operands: list[Builder]) -> Builder:
    if len(operands) == 2:
        left, right = operands
        return lambda environment: nodes.Operator(symbol, (left(environment), right(environment)))
    return lambda environment: nodes.Operator(
        symbol, tuple(operand(environment) for operand in operands)
    )


def _part(value: Builder, kind: Callable[[nodes.Node, Any], nodes.Node], place: object) -> Builder:
    return lambda environment: kind(value(environment), place)
