"""The Spark expression tree: nodes that translation rules build and one module prints as SQL.

Each node computes at construction what the compiler needs: whether it is deterministic, may raise,
calls a Python UDF or contains a subquery (`Fact`), and about how long its SQL is (`size`). Nothing
is recovered from SQL text. Nodes compare by identity; `same` compares two expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

from schema_core.base.lazy import dataclass
from schema_core.errors import UnsupportedError


def unsupported_error(problem: str, hint: str | None = None) -> UnsupportedError:
    """Return the error for an expression that Spark cannot compute as Flink does."""
    return UnsupportedError(problem, code="not-executable", hint=hint)


class Fact:
    """What a node or any node below it does: bits of `Node.facts`."""

    RANDOM = 1
    RAISES = 2
    UDF = 4
    SUBQUERY = 8
    AGGREGATE = 16
    UDF_IN_LAMBDA = 32
    SUBQUERY_IN_LAMBDA = 64
    LAMBDA = 128


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """An expression. `facts` and `size` (characters of SQL, approximately) are set when built."""

    facts: int = field(init=False, repr=False)
    size: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _set(self, "facts", 0)
        _set(self, "size", 8)


_set = object.__setattr__


def _derive(node: Node, children: Iterable[Node], facts: int, size: int) -> None:
    for child in children:
        facts |= child.facts
        size += child.size + 2
    _set(node, "facts", facts)
    _set(node, "size", size)


@dataclass(frozen=True, slots=True, eq=False)
class Column(Node):
    """A column by its name, and the alias of its relation if that is given."""

    name: str
    relation: str | None = None

    def __post_init__(self) -> None:
        _set(self, "facts", 0)
        _set(self, "size", len(self.name) + len(self.relation or "") + 4)


@dataclass(frozen=True, slots=True, eq=False)
class Literal(Node):
    """A constant: a string, integer, truth value or NULL, or the text of a typed literal.

    `kind` is a suffix of numbers (``L``, ``D``, ``BD``), a prefix of strings (``DATE``, ``X``), or
    ``NUMBER`` for a numeric literal whose text is `value`.
    """

    value: str | int | None
    kind: str = ""

    def __post_init__(self) -> None:
        _set(self, "facts", 0)
        _set(self, "size", len(str(self.value)) + len(self.kind) + 2)


@dataclass(frozen=True, slots=True, eq=False)
class Keyword(Node):
    """A keyword argument of a Flink function, such as a unit of time; rules consume it."""

    word: str


@dataclass(frozen=True, slots=True, eq=False)
class Call(Node):
    """A call of a built-in function of Spark."""

    name: str
    arguments: tuple[Node, ...]

    def __post_init__(self) -> None:
        facts = 0 if is_total(self) else Fact.RAISES
        if self.name in RANDOM:
            facts |= Fact.RANDOM
        _derive(self, self.arguments, facts, len(self.name) + 2)
        if self.facts & Fact.LAMBDA and self.facts & Fact.SUBQUERY and has_lambda(self):
            _set(self, "facts", self.facts | Fact.SUBQUERY_IN_LAMBDA)


@dataclass(frozen=True, slots=True, eq=False)
class Operator(Node):
    """An operator over its operands; one operand makes it a prefix or a suffix (``IS NULL``)."""

    symbol: str
    operands: tuple[Node, ...]

    def __post_init__(self) -> None:
        _derive(self, self.operands, 0, len(self.symbol) + 2)


@dataclass(frozen=True, slots=True, eq=False)
class Cast(Node):
    """``CAST(value AS type)``; `safe` is ``try_cast``."""

    value: Node
    type: str
    safe: bool = False

    def __post_init__(self) -> None:
        _set(self, "facts", self.value.facts)
        _set(self, "size", self.value.size + len(self.type) + 12)


@dataclass(frozen=True, slots=True, eq=False)
class Case(Node):
    """``CASE WHEN condition THEN value ... ELSE otherwise END``."""

    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node | None = None

    def __post_init__(self) -> None:
        _derive(self, _case_children(self), 0, 10 + 12 * len(self.branches))


def _case_children(case: Case) -> list[Node]:
    children = [node for branch in case.branches for node in branch]
    return children if case.otherwise is None else [*children, case.otherwise]


@dataclass(frozen=True, slots=True, eq=False)
class Variable(Node):
    """A variable that a lambda or a `Let` binds, equal to nothing but itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Lambda(Node):
    """A lambda function, an argument of a call of a higher-order function."""

    parameters: tuple[Variable, ...]
    body: Node

    def __post_init__(self) -> None:
        facts = self.body.facts | Fact.LAMBDA
        if self.body.facts & Fact.UDF:
            facts |= Fact.UDF_IN_LAMBDA
        _set(self, "facts", facts)
        _set(self, "size", self.body.size + 16)


@dataclass(frozen=True, slots=True, eq=False)
class Field(Node):
    """A field of a row."""

    value: Node
    name: str

    def __post_init__(self) -> None:
        _set(self, "facts", self.value.facts)
        _set(self, "size", self.value.size + len(self.name) + 3)


@dataclass(frozen=True, slots=True, eq=False)
class Element(Node):
    """An element of an array by its position, which starts at 0."""

    value: Node
    position: int

    def __post_init__(self) -> None:
        _set(self, "facts", self.value.facts)
        _set(self, "size", self.value.size + 4)


@dataclass(frozen=True, slots=True, eq=False)
class Let(Node):
    """A body over variables, each computed once; the printer chooses how (`printer`)."""

    bindings: tuple[tuple[Variable, Node], ...]
    body: Node

    def __post_init__(self) -> None:
        _derive(self, (*(value for _, value in self.bindings), self.body), 0, 40)


@dataclass(frozen=True, slots=True, eq=False)
class Raise(Node):
    """An expression that fails the job with a message."""

    message: Node

    def __post_init__(self) -> None:
        _derive(self, (self.message,), Fact.RAISES, 14)


@dataclass(frozen=True, slots=True, eq=False)
class PythonUdf(Node):
    """A call of a Python function registered with the session."""

    name: str
    arguments: tuple[Node, ...]
    deterministic: bool = True
    total: bool = True

    def __post_init__(self) -> None:
        facts = (
            Fact.UDF
            | (0 if self.deterministic else Fact.RANDOM)
            | (0 if self.total else Fact.RAISES)
        )
        _derive(self, self.arguments, facts, len(self.name) + 2)


@dataclass(frozen=True, slots=True, eq=False)
class Subquery(Node):
    """A query in parentheses, used as a value or as a list of values."""

    sql: str

    def __post_init__(self) -> None:
        _set(self, "facts", Fact.SUBQUERY | Fact.RAISES)
        _set(self, "size", len(self.sql))


@dataclass(frozen=True, slots=True, eq=False)
class UserSql(Node):
    """Spark SQL that a user declared for a function, with its arguments in place."""

    parts: tuple[str | Node, ...]
    deterministic: bool = True

    def __post_init__(self) -> None:
        nodes = [part for part in self.parts if isinstance(part, Node)]
        text = sum(len(part) for part in self.parts if isinstance(part, str))
        _derive(self, nodes, Fact.RAISES | (0 if self.deterministic else Fact.RANDOM), text)


@dataclass(frozen=True, slots=True, eq=False)
class SortKey(Node):
    """A key of an ORDER BY."""

    value: Node
    descending: bool
    nulls_last: bool

    def __post_init__(self) -> None:
        _derive(self, (self.value,), 0, 16)


@dataclass(frozen=True, slots=True, eq=False)
class Window(Node):
    """What follows OVER; `frame` is the SQL of its frame clause."""

    partition: tuple[Node, ...] = ()
    order: tuple[Node, ...] = ()
    frame: str = ""

    def __post_init__(self) -> None:
        _derive(self, (*self.partition, *self.order), 0, 30 + len(self.frame))


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate(Node):
    """A call of an aggregate or window function with DISTINCT, FILTER and OVER."""

    name: str
    arguments: tuple[Node, ...]
    distinct: bool = False
    filter: Node | None = None
    window: Window | None = None

    def __post_init__(self) -> None:
        others = [clause for clause in (self.filter, self.window) if clause is not None]
        facts = Fact.AGGREGATE | Fact.RAISES
        _derive(self, (*self.arguments, *others), facts, len(self.name) + 12)


def children(node: Node) -> Sequence[Node]:
    """Return the nodes directly below a node; values and body of a `Let`."""
    match node:
        case Call(arguments=nodes) | PythonUdf(arguments=nodes) | Operator(operands=nodes):
            return nodes
        case Cast(value=value) | Field(value=value) | Element(value=value) | SortKey(value=value):
            return (value,)
        case Case():
            return _case_children(node)
        case Let(bindings=bindings, body=body):
            return [*(value for _, value in bindings), body]
        case Lambda(body=body):
            return (body,)
        case Raise(message=message):
            return (message,)
        case UserSql(parts=parts):
            return [part for part in parts if isinstance(part, Node)]
        case Window(partition=partition, order=order):
            return (*partition, *order)
        case Aggregate():
            others = (node.filter, node.window)
            return [*node.arguments, *(other for other in others if other is not None)]
        case _:
            return ()


# --- facts -------------------------------------------------------------------------------------

#: Functions that return a value for every argument: they never fail a job that is not in ANSI mode.
TOTAL = frozenset(
    """abs acos add_months array array_distinct array_join array_max array_min asin atan atan2
    base64 bin btrim cardinality ceil char_length coalesce concat concat_ws contains cos cosh
    current_timestamp date_add date_from_unix_date date_sub day dayofweek dayofyear degrees e
    endswith exists exp filter floor forall get greatest hex if instr is_variant_null isnan
    last_day least left length ln locate log10 log2 lower lpad ltrim make_date make_valid_utf8
    map_entries map_keys map_values md5 month named_struct nullif octet_length pi pmod pow
    quarter radians rand replace reverse right round rpad rtrim schema_of_variant sha1 sha2 sign
    sin sinh size slice sort_array sqrt startswith struct substring tan tanh time_to_millis
    timestamp_micros transform translate trim trunc try_element_at try_parse_json try_to_binary
    try_to_timestamp try_variant_get unhex unix_date unix_micros unix_millis unix_seconds upper uuid
    weekofyear year""".split()  # noqa: SIM905 - as a list of strings it fills a page
)
#: Functions that return another value for every row; `reflect` reads the clock.
RANDOM = frozenset({"rand", "reflect", "uuid"})
#: Functions that fail only at a pattern that Java cannot compile; the rules write valid ones.
_PATTERNS = frozenset({"rlike", "regexp_extract", "regexp_replace", "regexp_extract_all"})


def is_total(call: Call) -> bool:
    """Return whether a function, apart from its arguments, never fails the job."""
    if call.name in _PATTERNS:
        return isinstance(call.arguments[1], Literal)
    return call.name in TOTAL


def has_lambda(call: Call) -> bool:
    """Return whether a call has a lambda among its own arguments."""
    return any(isinstance(argument, Lambda) for argument in call.arguments)


def is_simple(node: Node) -> bool:
    """Return whether repeating a node costs nothing: a column, a constant, or a field of one."""
    while isinstance(node, Field | Cast):
        if isinstance(node, Cast) and not isinstance(node.value, Literal):
            return False
        node = node.value
    return isinstance(node, Column | Literal | Variable | Keyword)


def is_constant(node: Node) -> bool:
    """Return whether a node is a literal or a cast of one, which cannot fail."""
    while isinstance(node, Cast) or (isinstance(node, Operator) and node.symbol == "-"):
        if isinstance(node, Operator) and len(node.operands) != 1:
            return False
        node = node.value if isinstance(node, Cast) else node.operands[0]
    return isinstance(node, Literal)


def is_string(node: Node) -> bool:
    """Return whether a node is a string literal."""
    return isinstance(node, Literal) and isinstance(node.value, str) and not node.kind


def is_null_constant(node: Node) -> bool:
    """Return whether a node is NULL itself, or a cast of it."""
    while isinstance(node, Cast):
        node = node.value
    return node == NULL


def string_of(node: Node) -> str | None:
    """Return the content of a string literal, or None for any other node."""
    if isinstance(node, Literal) and isinstance(node.value, str) and not node.kind:
        return node.value
    return None


def integer_of(node: Node) -> int | None:
    """Return the value of an integer literal, or None for any other node."""
    value = node.value if isinstance(node, Literal) and not node.kind else None
    if isinstance(node, Operator) and node.symbol == "-" and len(node.operands) == 1:
        inner = integer_of(node.operands[0])
        return None if inner is None else -inner
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# --- constructors ------------------------------------------------------------------------------

NULL, TRUE, FALSE = Literal(None), Literal(True), Literal(False)


def node_of(value: Node | str | int | None) -> Node:
    """Return a node, or the literal of a Python value."""
    return value if isinstance(value, Node) else Literal(value)


def call(name: str, *arguments: Node | str | int | None) -> Call:
    """Return a call of a built-in function; Python values become literals."""
    return Call(name, tuple(map(node_of, arguments)))


def operator(symbol: str, *operands: Node | str | int | None) -> Operator:
    """Return an operator over its operands; Python values become literals."""
    return Operator(symbol, tuple(map(node_of, operands)))


def byte_of(node: Node, place: int) -> Node:
    """Return a byte of a string in UTF-8 by its place: from 1, or backwards from -1.

    Spark finds it at once, and a character only by counting from the start.
    """
    return call("substring", Cast(node, "BINARY"), place, 1)


def byte(character: str) -> Literal:
    """Return the byte of an ASCII character."""
    return Literal(character.encode("ascii").hex().upper(), "X")


def null_or(condition: Node, value: Node) -> Call:
    """Return NULL where the condition holds, else the value."""
    return Call("if", (condition, NULL, value))


def is_null(node: Node) -> Operator:
    """Return ``node IS NULL``."""
    return Operator("IS NULL", (node,))


def any_null(*nodes: Node) -> Node:
    """Return whether any of some nodes is NULL."""
    return any_of([is_null(node) for node in nodes])


def any_of(conditions: Sequence[Node]) -> Node:
    """Return the disjunction of some conditions."""
    return conditions[0] if len(conditions) == 1 else Operator("OR", tuple(conditions))


def all_of(conditions: Sequence[Node]) -> Node:
    """Return the conjunction of some conditions."""
    return conditions[0] if len(conditions) == 1 else Operator("AND", tuple(conditions))


def negate(node: Node) -> Operator:
    """Return ``NOT node``."""
    return Operator("NOT", (node,))


def fail(message: str) -> Raise:
    """Return an expression that fails the job with a message."""
    return Raise(Literal(message))


def function(body: Callable[..., Node], parameters: int = 1) -> Lambda:
    """Return a lambda whose body is a function of its parameters."""
    names = tuple(Variable() for _ in range(parameters))
    return Lambda(names, body(*names))


def let(value: Node, body: Callable[[Node], Node]) -> Node:
    """Return a body over a value that is computed once, however often the body uses it.

    >>> from schema_core.spark.compiler.printer import to_sql
    >>> to_sql(let(Column("a"), lambda a: operator("*", a, a)))
    '`a` * `a`'
    """
    return let_all([value], body)


def let_all(values: Sequence[Node], body: Callable[..., Node]) -> Node:
    """Return a body over several values, each computed once.

    Subqueries are repeated: Spark does not run them within lambdas, and computes equal ones once.
    """
    names = [
        value if is_simple(value) or value.facts & Fact.SUBQUERY else Variable() for value in values
    ]
    bindings = tuple(
        (name, value)
        for name, value in zip(names, values, strict=True)
        if isinstance(name, Variable) and name is not value
    )
    result = body(*names)
    return Let(bindings, result) if bindings else result


def rarely(value: Node, body: Callable[[Node], Node]) -> Node:
    """Return a body over a value for a branch that few rows need.

    Only these rows compute it, while the value of a `Let` may be computed for all rows.
    """
    return Element(call("transform", call("array", value), function(body)), 0)


def interpret_rarely(value: Node, body: Callable[[Node], Node]) -> Node:
    """Return what `rarely` does, for a large body.

    Spark generates code for the lambdas of `transform`, but not for those of `zip_with`: what
    surrounds it is not compiled into one method with the rest of the query. Spark compiles a method
    of more than 8000 bytes, and then another plan without it.
    """
    name, unused = Variable(), Variable()
    lambda_ = Lambda((name, unused), body(name))
    return Element(call("zip_with", call("array", value), call("array", 0), lambda_), 0)
