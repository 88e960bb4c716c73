"""Expression trees of Spark, and their SQL.

A node computes at construction whether it is deterministic, may raise, calls a Python UDF or
contains a subquery (`Fact`), and about how long its SQL is (`size`). Nodes compare by identity;
`same` compares expressions.

The SQL of a `Let` variable is, in this order:

- its value, if that is short and deterministic: Spark computes it once;
- a column of a lateral projection (`Lifting`), if every row computes the value anyway, or it
  cannot fail;
- a parameter of a lambda, ``transform(array(value), x -> body)[0]``: within lambdas, and where the
  value may fail in a branch or above a WHERE.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import count, islice
from typing import Any, TypeAlias

from schema_core.base.lazy import dataclass, regex
from schema_core.errors import UnsupportedError


def unsupported_error(problem: str, hint: str | None = None) -> UnsupportedError:
    """Return the error for an expression that Spark cannot compute as Flink does."""
    return UnsupportedError(problem, code="not-executable", hint=hint)


class Fact:
    """What a node, or any node below it, does: bits of `Node.facts`."""

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
    """An expression with its `facts`, and its `size` in characters of SQL, approximately."""

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
    """A column, optionally of a relation by its alias."""

    name: str
    relation: str | None = None

    def __post_init__(self) -> None:
        _derive(self, (), 0, len(self.name) + len(self.relation or "") + 4)


@dataclass(frozen=True, slots=True, eq=False)
class Literal(Node):
    """A constant, or the text of a typed literal.

    `kind` is a suffix of numbers (``L``, ``D``, ``BD``), a prefix of strings (``DATE``, ``X``), or
    ``NUMBER`` for the text of a number.
    """

    value: str | int | None
    kind: str = ""

    def __post_init__(self) -> None:
        _derive(self, (), 0, len(str(self.value)) + len(self.kind) + 2)


@dataclass(frozen=True, slots=True, eq=False)
class Keyword(Node):
    """A keyword argument of a Flink function, such as a unit; rules consume it."""

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
    """An operator; one operand makes it a prefix or a suffix (``IS NULL``)."""

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
        _derive(self, (self.value,), 0, len(self.type) + 10)


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
    """A variable of a lambda or a `Let`."""


@dataclass(frozen=True, slots=True, eq=False)
class Lambda(Node):
    """A lambda function."""

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
        _derive(self, (self.value,), 0, len(self.name) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Element(Node):
    """An element of an array, by its position from 0."""

    value: Node
    position: int

    def __post_init__(self) -> None:
        _derive(self, (self.value,), 0, 2)


@dataclass(frozen=True, slots=True, eq=False)
class Let(Node):
    """A body over variables, each computed once."""

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
    """A call of a registered Python function."""

    name: str
    arguments: tuple[Node, ...]
    deterministic: bool = True
    total: bool = True

    def __post_init__(self) -> None:
        facts = Fact.UDF | (not self.deterministic) * Fact.RANDOM | (not self.total) * Fact.RAISES
        _derive(self, self.arguments, facts, len(self.name) + 2)


@dataclass(frozen=True, slots=True, eq=False)
class Subquery(Node):
    """A query in parentheses, used as a value or a list of values."""

    sql: str

    def __post_init__(self) -> None:
        _derive(self, (), Fact.SUBQUERY | Fact.RAISES, len(self.sql))


@dataclass(frozen=True, slots=True, eq=False)
class UserSql(Node):
    """Spark SQL that a user declared for a function, with its arguments."""

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
    """An OVER clause; `frame` is SQL."""

    partition: tuple[Node, ...] = ()
    order: tuple[Node, ...] = ()
    frame: str = ""

    def __post_init__(self) -> None:
        _derive(self, (*self.partition, *self.order), 0, 30 + len(self.frame))


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate(Node):
    """A call of an aggregate or window function."""

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
    """Return the nodes below a node."""
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

#: Functions that never fail a job that is not in ANSI mode.
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
RANDOM = frozenset({"monotonically_increasing_id", "rand", "reflect", "uuid"})
#: Functions that fail only at an invalid pattern; the rules write valid ones.
_PATTERNS = frozenset({"rlike", "regexp_extract", "regexp_replace", "regexp_extract_all"})


def is_total(call: Call) -> bool:
    """Return whether a function itself never fails the job."""
    if call.name in _PATTERNS:
        return isinstance(call.arguments[1], Literal)
    return call.name in TOTAL


def has_lambda(call: Call) -> bool:
    """Return whether an argument is a lambda."""
    return any(isinstance(argument, Lambda) for argument in call.arguments)


def is_simple(node: Node) -> bool:
    """Return whether repeating a node costs nothing."""
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
    """Return whether a node is NULL or a cast of it."""
    while isinstance(node, Cast):
        node = node.value
    return node == NULL


def string_of(node: Node) -> str | None:
    """Return the content of a string literal; None for any other node."""
    return str(node.value) if isinstance(node, Literal) and is_string(node) else None


def integer_of(node: Node) -> int | None:
    """Return the value of an integer literal; None for any other node."""
    value = node.value if isinstance(node, Literal) and not node.kind else None
    if isinstance(node, Operator) and node.symbol == "-" and len(node.operands) == 1:
        inner = integer_of(node.operands[0])
        return None if inner is None else -inner
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# --- constructors ------------------------------------------------------------------------------

NULL, TRUE, FALSE = Literal(None), Literal(True), Literal(False)


def node_of(value: Node | str | int | None) -> Node:
    """Return a node; a Python value becomes a literal."""
    return value if isinstance(value, Node) else Literal(value)


def call(name: str, *arguments: Node | str | int | None) -> Call:
    """Return a call of a built-in function; Python values become literals."""
    return Call(name, tuple(map(node_of, arguments)))


def operator(symbol: str, *operands: Node | str | int | None) -> Operator:
    """Return an operator; Python values become literals."""
    return Operator(symbol, tuple(map(node_of, operands)))


def byte_of(node: Node, place: int) -> Node:
    """Return a byte of a UTF-8 string by its place: from 1, or backwards from -1.

    Spark finds a character only by counting from the start.
    """
    return call("substring", Cast(node, "BINARY"), place, 1)


def byte(character: str) -> Literal:
    """Return the byte of an ASCII character."""
    return Literal(character.encode("ascii").hex().upper(), "X")


def named_struct(fields: Iterable[tuple[str, Node]]) -> Call:
    """Return a row of named values."""
    return call("named_struct", *(part for field_ in fields for part in field_))


def transform(array: Node, body: Callable[[Node], Node]) -> Call:
    """Return an array with a function applied to each element."""
    return call("transform", array, function(body))


def null_or(condition: Node, value: Node) -> Call:
    """Return NULL where the condition holds, else the value."""
    return Call("if", (condition, NULL, value))


def is_null(node: Node) -> Operator:
    """Return ``node IS NULL``."""
    return Operator("IS NULL", (node,))


def any_null(*nodes: Node) -> Node:
    """Return whether any node is NULL."""
    return any_of(*map(is_null, nodes))


def any_of(*conditions: Node) -> Node:
    """Return the disjunction of conditions."""
    return conditions[0] if len(conditions) == 1 else Operator("OR", conditions)


def all_of(*conditions: Node) -> Node:
    """Return the conjunction of conditions."""
    return conditions[0] if len(conditions) == 1 else Operator("AND", conditions)


def negate(node: Node) -> Operator:
    """Return ``NOT node``."""
    return Operator("NOT", (node,))


def fail(message: str) -> Raise:
    """Return an expression that fails the job with a message."""
    return Raise(Literal(message))


def function(body: Callable[..., Node], parameters: int = 1) -> Lambda:
    """Return a lambda by a function of its parameters."""
    names = tuple(Variable() for _ in range(parameters))
    return Lambda(names, body(*names))


def let(value: Node, body: Callable[[Node], Node]) -> Node:
    """Return a body over a value that is computed once.

    >>> to_sql(let(Column("a"), lambda a: operator("*", a, a)))
    '`a` * `a`'
    """
    return let_all([value], body)


def let_all(values: Sequence[Node], body: Callable[..., Node]) -> Node:
    """Return a body over values, each computed once.

    Subqueries are repeated: Spark runs none within lambdas, and computes equal ones once.
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

    Only these rows compute it; the value of a `Let` may be computed for all.
    """
    return Element(call("transform", call("array", value), function(body)), 0)


def interpret_rarely(value: Node, body: Callable[[Node], Node]) -> Node:
    """Return what `rarely` does, for a large body.

    Spark generates no code for the lambdas of `zip_with`, so the body does not enlarge the method
    of the query. Spark discards a method above 8000 bytes, and then another plan without it.
    """
    name, unused = Variable(), Variable()
    lambda_ = Lambda((name, unused), body(name))
    return Element(call("zip_with", call("array", value), call("array", 0), lambda_), 0)


# --- SQL ---------------------------------------------------------------------------------------

#: Characters of one expression; Spark would plan a longer one for minutes.
MAX_SQL_LENGTH = 200_000

#: Characters of a value of a `Let` up to which it is repeated, unless it contains one of `COSTLY`.
MAX_REPEATED = 48

#: Functions that cost much more than a column of a projection.
COSTLY = regex(
    r"\b(regexp_\w+|rlike|split|translate|unbase64|try_to_binary|try_to_timestamp|try_parse_json"
    r"|get_json_object|from_json)\("
)

#: The same for values over aggregates, which Spark computes once a query, and for values that no
#: projection can compute, because they read both sides of a join or subquery.
MAX_REPEATED_AGGREGATE = MAX_REPEATED_UNLIFTED = 1000

#: Prefix of the variables of lambdas.
VARIABLE = "the_x"

# --- names and literals --------------------------------------------------------------------------

#: ``\0`` before a digit would be an octal escape; Spark substitutes ``${`` before it parses.
_ESCAPES = {
    "\\": r"\\",
    "'": r"\'",
    "\n": r"\n",
    "\r": r"\r",
    "\x00": r"\u0000",
    "${": r"\u0024{",
}
_ESCAPED = regex("|".join(map(re.escape, _ESCAPES)))


def quote(name: str) -> str:
    """Return a name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def string(value: str) -> str:
    r"""Return a string literal of Spark SQL that reads back as exactly this string.

    It holds no ``${``, so `spark.sql.variable.substitute` has no effect.

    Raises:
        UnsupportedError: `not-executable` for a lone surrogate, which UTF-8 cannot hold.

    >>> print(string("it's\\"))
    'it\'s\\'
    >>> print(string("${env:HOME}"))
    '\u0024{env:HOME}'
    """
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise unsupported_error(
            f"the string {value!r} has a lone surrogate, which Spark cannot store",
            hint="replace the surrogate, or store the value as BYTES",
        )
    return "'" + _ESCAPED.sub(lambda character: _ESCAPES[character[0]], value) + "'"


# --- precedence ----------------------------------------------------------------------------------

_PREDICATE, _COMPARISON, _UNARY, _PRIMARY, _ATOM = 4, 5, 8, 9, 10

#: Operator -> precedence; the greater, the tighter (Spark's grammar of expressions).
PRECEDENCE = {
    "OR": 1,
    "AND": 2,
    "NOT": 3,
    "EXISTS": 3,
    **dict.fromkeys(("IN", "NOT IN", "LIKE", "NOT LIKE", "BETWEEN", "NOT BETWEEN"), _PREDICATE),
    **dict.fromkeys(
        (f"IS {negation}{word}" for negation in ("", "NOT ") for word in ("NULL", "TRUE", "FALSE")),
        _PREDICATE,
    ),
    **dict.fromkeys(("=", "<=>", "<>", "<", "<=", ">", ">="), _COMPARISON),
    **dict.fromkeys(("+", "-"), 6),
    **dict.fromkeys(("*", "/", "%", "DIV"), 7),
}
_PREFIXES = frozenset({"NOT", "EXISTS", "-"})


def precedence(node: Node) -> int:
    """Return how tightly a node's outermost operator binds."""
    match node:
        case Operator(symbol=symbol, operands=operands):
            return _UNARY if symbol == "-" and len(operands) == 1 else PRECEDENCE[symbol]
        case Literal(value=value):
            return _UNARY if not node.kind.isupper() and str(value).startswith("-") else _ATOM
        case Lambda() | UserSql():
            return 0
        case Let():
            return precedence(node.body)
        case _:
            return _ATOM


# --- lifting ------------------------------------------------------------------------------------
# A value of `Let` is computed once a row in a lateral projection: FROM t AS t JOIN LATERAL
# (SELECT value AS the_let_1) AS the_let_1_of. Spark's optimizer makes a plain projection of it, and
# the aliases of FROM stay in scope.

#: What may be lifted from a place: nothing, so values become lambdas (within lambdas); nothing, so
#: values are repeated (above an aggregation); what cannot fail (in a branch); or everything.
NEVER, REPEATED, IF_TOTAL, ALWAYS = 0, 1, 2, 3

#: Prefixes of generated names: values of `Let`, and aggregates of a query below.
LIFTED, AGGREGATED = "the_let_", "the_aggregate_"

#: Maximum of columns that are lifted to one place.
MAX_LIFTED = 200


@dataclass(slots=True)
class Projection:
    """Values computed at one place of a FROM clause; equal ones share a column.

    `relations` are the readable aliases (None is one: of the query itself), or None for all;
    `offered` those that subqueries can read. `names` numbers the columns of all projections of a
    FROM clause.
    """

    relations: frozenset[str | None] | None = None
    names: Iterator[int] = field(default_factory=lambda: count(1))
    prefix: str = LIFTED
    columns: dict[str, str] = field(default_factory=dict)
    raises: bool = False
    offered: frozenset[str] = frozenset()

    def column(self, value: str, *, raises: bool = False) -> str:
        name = self.columns.get(value)
        if name is None:
            name = self.columns[value] = f"{self.prefix}{next(self.names)}"
            self.raises = self.raises or raises
        return name

    def forget(self, start: int) -> None:
        for value in list(self.columns)[start:]:
            del self.columns[value]
        self.raises = False

    def quoted(self, start: int = 0) -> list[str]:
        return [f"`{name}`" for name in islice(self.columns.values(), start, None)]

    def laterals(self, start: int = 0, stop: int | None = None) -> str:
        """Return the joins to add to a FROM clause; each value can read those before it."""
        return "".join(
            f" JOIN LATERAL (SELECT {value} AS `{name}`) AS `{name}_of`"
            for value, name in islice(self.columns.items(), start, stop)
        )


class FromProjections:
    """The projections of one FROM clause."""

    def __init__(self, depth: int = 0) -> None:
        self.names: count[int] = count(1)
        #: Those of an enclosing query have another prefix.
        self.prefix: str = f"{LIFTED}{depth}_" if depth else LIFTED
        self.projections: list[Projection] = []

    def projection(self, relations: frozenset[str | None] | None = None) -> Projection:
        self.projections.append(Projection(relations, self.names, self.prefix))
        return self.projections[-1]

    def lifted(self) -> list[str]:
        return [name for projection in self.projections for name in projection.quoted()]


@dataclass(slots=True)
class Lifting:
    """What may be lifted from the expressions of a clause, and where to.

    `mode` applies to the expressions, `in_aggregates` to arguments of aggregates, computed below
    GROUP BY. `outer` are projections of the enclosing query; they see other rows, and cannot read
    `hiding`, the aliases of the query itself. With `aggregates` a query `below` computes the
    aggregates: with `windows` those with OVER, else those without. `missed` is set if a value that
    is used twice could not be lifted above an aggregation.
    """

    mode: int = ALWAYS
    in_aggregates: int = ALWAYS
    own: tuple[Projection, ...] = field(default_factory=lambda: (Projection(),))
    outer: tuple[Projection, ...] = ()
    aggregates: Projection | None = None
    windows: bool = False
    below: Lifting | None = None
    missed: bool = False
    hiding: frozenset[str] = frozenset()

    def place_of(
        self, value: Node, facts: int, mode: int, values: Mapping[Node, Node]
    ) -> Projection | None:
        """Return the projection to which a value may be lifted.

        `facts` include those of the variables that the value reads; `values` are their values.
        """
        if mode < IF_TOTAL or facts & Fact.RANDOM:
            return None
        if facts & Fact.AGGREGATE and self.aggregates is None:
            return None
        is_total = not facts & Fact.RAISES
        for place in self.own if mode == ALWAYS or is_total else ():
            if self._covers(place, value, values):
                return place
        if self.outer and is_total:
            read = relations_read(value, values)
            for place in self.outer:
                is_free = len(place.columns) < MAX_LIFTED
                if is_free and read and read <= place.offered - self.hiding:
                    return place
        return None

    def _covers(self, place: Projection, value: Node, values: Mapping[Node, Node]) -> bool:
        if len(place.columns) >= MAX_LIFTED:
            return False
        if place.relations is None:
            return True
        read = relations_read(value, values)
        # A constant could be lifted to a place that others do not see.
        return bool(read) and read <= place.relations

    def capturing(self, *, windowed: bool) -> Lifting | None:
        one: Lifting | None = self
        while one is not None and (one.aggregates is None or one.windows != windowed):
            one = one.below
        return one


def relations_read(value: Node, values: Mapping[Node, Node]) -> frozenset[str | None]:
    """Return the aliases of the columns that a value reads; an empty alias is unknown.

    An aggregate is a column of the query below, without an alias.
    """
    relations: set[str | None] = set()
    rest = [value]
    while rest:
        node = rest.pop()
        if isinstance(node, Column):
            relations.add(node.relation)
        elif isinstance(node, UserSql) and not children(node):
            relations.add("")  # SQL of a user's function, its arguments included
        elif isinstance(node, Aggregate):
            relations.add(None)
        elif node in values:
            rest.append(values[node])
        else:
            rest += children(node)
    return frozenset(relations)


# --- where an expression is computed -------------------------------------------------------------

#: Calls that always compute only their first argument.
CONDITIONAL = frozenset({"if", "coalesce", "nullif"})


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a node is printed: what may be lifted, and how many variables are in scope."""

    mode: int = NEVER
    lifting: Lifting | None = None
    depth: int = 0

    def branch(self) -> _Place:
        return _Place(IF_TOTAL, self.lifting, self.depth) if self.mode > IF_TOTAL else self

    def within(self, parameters: int) -> _Place:
        return _Place(NEVER, None, self.depth + parameters)


class _Open:
    __slots__ = ("around", "let", "place", "texts")

    def __init__(self, let: Let, place: _Place, around: int) -> None:
        self.let, self.place, self.around = let, place, around
        self.texts: list[str] = []


class _Aggregated:
    """The end of an aggregate that the query below computes."""

    __slots__ = ("projection",)

    def __init__(self, projection: Projection) -> None:
        self.projection = projection


#: SQL, a node with its place and the precedence around it, or the end of a value of a `Let` or of
#: an aggregate, each printed into a string of its own.
_Part: TypeAlias = "str | tuple[Node, _Place, int] | _Open | _Aggregated"


def to_sql(node: Node, lifting: Lifting | None = None) -> str:
    """Return the Spark SQL of an expression; values are lifted only with `lifting`.

    >>> to_sql(operator("*", 2, operator("+", Column("a"), 1)))
    '2 * (`a` + 1)'
    >>> value = call("f", Column("a_column_whose_name_is_longer_than_what_is_repeated"))
    >>> lifting = Lifting()
    >>> to_sql(let(value, lambda v: operator("*", v, v)), lifting)
    '`the_let_1` * `the_let_1`'
    """
    return _Printer().print(node, _Place(lifting.mode, lifting) if lifting else _Place())


class _Printer:
    """Prints one expression with an explicit stack: left-deep trees exceed Python's recursion."""

    def __init__(self) -> None:
        #: Variable -> its SQL, and how tightly that binds.
        self.bound: dict[Node, tuple[str, int]] = {}
        #: Variable of a `Let` -> its value, and the facts of its SQL.
        self.values: dict[Node, Node] = {}
        self.facts: dict[Node, int] = {}
        self.out: list[str] = []
        self.outer: list[list[str]] = []

    def print(self, node: Node, place: _Place) -> str:
        stack: list[_Part] = [(node, place, 0)]
        length = 0
        while stack:
            part = stack.pop()
            if isinstance(part, tuple):
                leaf = _LEAVES.get(type(part[0]))
                if leaf is None:
                    parts = _PRINTERS[type(part[0])](self, *part)
                    parts.reverse()
                    stack += parts
                    continue
                part = leaf(self, part[0], part[2])
            if isinstance(part, str):
                self.out.append(part)
                length += len(part)
                if length > MAX_SQL_LENGTH:
                    raise too_large()
            elif isinstance(part, _Open):
                length -= self.close(stack, part)
            else:
                text = "".join(self.out)
                self.out = self.outer.pop()
                self.out.append(quote(part.projection.column(text)))
        return "".join(self.out)

    # --- let -------------------------------------------------------------------------------------

    def open(self, part: _Open) -> list[_Part]:
        self.outer.append(self.out)
        self.out = []
        return [(part.let.bindings[len(part.texts)][1], part.place, 0), part]

    def close(self, stack: list[_Part], part: _Open) -> int:
        """End a value, and return its length; the body follows the last one."""
        text = "".join(self.out)
        self.out = self.outer.pop()
        part.texts.append(text)
        done = len(part.texts) == len(part.let.bindings)
        parts = self.body(part) if done else self.open(part)
        stack.extend(reversed(parts))
        return len(text)

    def body(self, part: _Open) -> list[_Part]:
        let, place = part.let, part.place
        in_lambda: list[tuple[Variable, str]] = []
        for (variable, value), text in zip(let.bindings, part.texts, strict=True):
            self.values[variable] = value
            facts = self.facts[variable] = self.facts_of(value)
            if is_repeated(facts, text, let.body):
                self.bound[variable] = text, self.precedence(value)
            elif name := self.lift(value, facts, text, place):
                self.bound[variable] = name, _ATOM
                self.facts[variable] = 0
            elif is_repeated_unlifted(facts, text, let.body, place.mode):
                self.bound[variable] = text, self.precedence(value)
            else:
                in_lambda.append((variable, text))
        if not in_lambda:
            return [(let.body, place, part.around)]
        name = f"{VARIABLE}{place.depth + 1}"
        if len(in_lambda) == 1:
            ((variable, array),) = in_lambda
            self.bound[variable] = name, _ATOM
        else:
            for index, (variable, _) in enumerate(in_lambda):
                self.bound[variable] = f"{name}.`{index}`", _ATOM
            fields = (f"{text} AS `{index}`" for index, (_, text) in enumerate(in_lambda))
            array = f"struct({', '.join(fields)})"
        return [f"transform(array({array}), {name} -> ", (let.body, place.within(1), 0), ")[0]"]

    def facts_of(self, value: Node) -> int:
        combined = value.facts
        rest = [value] if self.facts else []
        while rest:
            node = rest.pop()
            combined |= self.facts.get(node, 0)
            rest += children(node)
        return combined

    def lift(self, value: Node, facts: int, text: str, place: _Place) -> str | None:
        lifting = place.lifting
        if lifting is None:
            return None
        projection = lifting.place_of(value, facts, place.mode, self.values)
        if projection is None:
            lifting.missed |= place.mode == REPEATED or bool(facts & Fact.AGGREGATE)
            return None
        return quote(projection.column(text, raises=bool(facts & Fact.RAISES)))

    def precedence(self, node: Node) -> int:
        return self.bound[node][1] if isinstance(node, Variable) else precedence(node)


#: Facts of a body that Spark does not run within a lambda.
_NOT_IN_LAMBDA = Fact.UDF | Fact.SUBQUERY | Fact.AGGREGATE


def is_repeated(facts: int, text: str, body: Node) -> bool:
    """Return whether each use of a variable repeats its value."""
    if facts & (Fact.RANDOM | Fact.UDF):
        return False
    if facts & Fact.AGGREGATE:  # which Spark does not run within lambdas
        return not body.facts & Fact.LAMBDA and len(text) <= MAX_REPEATED_AGGREGATE
    return len(text) <= MAX_REPEATED and not COSTLY.search(text)


def is_repeated_unlifted(facts: int, text: str, body: Node, mode: int) -> bool:
    """Return whether a value that is not lifted is repeated, else passed to a lambda."""
    if facts & Fact.RANDOM:
        return False
    if body.facts & _NOT_IN_LAMBDA:
        return True
    in_branch = mode == IF_TOTAL and facts & Fact.RAISES
    return mode != NEVER and not in_branch and len(text) <= MAX_REPEATED_UNLIFTED


def too_large() -> UnsupportedError:
    """Return the error for an expression beyond `MAX_SQL_LENGTH`."""
    return unsupported_error(
        "the expression is too large to run",
        hint="compute parts of it in columns of their own",
    )


# --- nodes ---------------------------------------------------------------------------------------


def _join_nodes(
    nodes: tuple[Node, ...], place: _Place, others: _Place | None = None
) -> list[_Part]:
    parts: list[_Part] = []
    for node in nodes:
        if parts:
            parts.append(", ")
            place = others or place
        parts.append((node, place, 0))
    return parts


def _enclose(parts: list[_Part], binds: int, around: int) -> list[_Part]:
    return ["(", *parts, ")"] if binds < around else parts


def _literal(printer: _Printer, node: Literal, around: int) -> str:
    match node.value, node.kind:
        case None, _:
            text = "NULL"
        case bool(value), _:
            text = "TRUE" if value else "FALSE"
        case str(value), "NUMBER":
            text = value
        case value, "L" | "D" | "BD":
            text = f"{value}{node.kind}"
        case str(value), kind:
            text = kind + string(value)
        case value, _:
            text = str(value)
    return f"({text})" if around > _UNARY and precedence(node) < around else text


def _variable(printer: _Printer, node: Variable, around: int) -> str:
    text, binds = printer.bound[node]
    return f"({text})" if binds < around else text


def _call(printer: _Printer, node: Call, place: _Place, around: int) -> list[_Part]:
    others = place.branch() if node.name in CONDITIONAL else place
    return [f"{node.name}(", *_join_nodes(node.arguments, place, others), ")"]


def _operator(printer: _Printer, node: Operator, place: _Place, around: int) -> list[_Part]:
    symbol, operands = node.symbol, node.operands
    if len(operands) == 1:
        binds = _UNARY if symbol == "-" else PRECEDENCE[symbol]
        if symbol in _PREFIXES:
            return _enclose([f"{symbol} ", (operands[0], place, binds)], binds, around)
        return _enclose([(operands[0], place, _COMPARISON + 1), f" {symbol}"], binds, around)
    binds = PRECEDENCE[symbol]
    if binds == _PREDICATE:
        return _enclose(_predicate(symbol, operands, place), binds, around)
    lazy = symbol in ("AND", "OR")
    others, tight = (place.branch(), binds) if lazy else (place, binds + 1)
    first = tight if binds == _COMPARISON else binds
    parts: list[_Part] = [(operands[0], place, first)]
    for operand in operands[1:]:
        parts += [f" {symbol} ", (operand, others, tight)]
    return _enclose(parts, binds, around)


def _predicate(symbol: str, operands: tuple[Node, ...], place: _Place) -> list[_Part]:
    tight = _COMPARISON + 1  # Spark allows a comparison, readers would misread it
    parts: list[_Part] = [(operands[0], place, tight), f" {symbol} "]
    if symbol in ("IN", "NOT IN"):
        if isinstance(operands[1], Subquery):
            return [*parts, operands[1].sql]
        return [*parts, "(", *_join_nodes(operands[1:], place), ")"]
    parts.append((operands[1], place, tight))
    if len(operands) > 2:
        between = " AND " if symbol.endswith("BETWEEN") else " ESCAPE "
        parts += [between, (operands[2], place, tight)]
    return parts


def _case(printer: _Printer, node: Case, place: _Place, around: int) -> list[_Part]:
    parts: list[_Part] = ["CASE"]
    where, branch = place, place.branch()
    for condition, value in node.branches:
        parts += [" WHEN ", (condition, where, 0), " THEN ", (value, branch, 0)]
        where = branch
    if node.otherwise is not None:
        parts += [" ELSE ", (node.otherwise, branch, 0)]
    return [*parts, " END"]


def _lambda(printer: _Printer, node: Lambda, place: _Place, around: int) -> list[_Part]:
    count = len(node.parameters)
    names = [f"{VARIABLE}{place.depth + 1 + index}" for index in range(count)]
    for parameter, name in zip(node.parameters, names, strict=True):
        printer.bound[parameter] = name, _ATOM
    shown = names[0] if count == 1 else f"({', '.join(names)})"
    return [f"{shown} -> ", (node.body, place.within(count), 0)]


def _user_sql(printer: _Printer, node: UserSql, place: _Place, around: int) -> list[_Part]:
    never = place.within(0)
    parts: list[_Part] = [
        part if isinstance(part, str) else (part, never, 1) for part in node.parts
    ]
    return _enclose(parts, 0, around)


def _sort_key(printer: _Printer, node: SortKey, place: _Place, around: int) -> list[_Part]:
    direction = "DESC" if node.descending else "ASC"
    nulls = "LAST" if node.nulls_last else "FIRST"
    return [(node.value, place, 0), f" {direction} NULLS {nulls}"]


#: Window functions without arguments; other aggregates without arguments count rows.
NO_ARGUMENTS = frozenset({"row_number", "rank", "dense_rank", "cume_dist", "percent_rank"})


def _aggregate(printer: _Printer, node: Aggregate, place: _Place, around: int) -> list[_Part]:
    captured = place.lifting and place.lifting.capturing(windowed=node.window is not None)
    lifting = captured.below if captured else place.lifting
    place = _Place(lifting.mode, lifting, place.depth) if lifting else place
    inside = place
    if lifting and node.window is None:
        inside = _Place(lifting.in_aggregates, lifting, place.depth)
    distinct = "DISTINCT " if node.distinct else ""
    arguments = _join_nodes(node.arguments, inside if node.filter is None else inside.branch())
    if not arguments and node.name not in NO_ARGUMENTS:
        arguments = ["*"]
    parts: list[_Part] = [f"{node.name}({distinct}", *arguments, ")"]
    if node.filter is not None:
        parts += [" FILTER (WHERE ", (node.filter, inside, 0), ")"]
    if node.window is not None:
        parts += [" OVER (", *_over(node.window, place), ")"]
    if captured and captured.aggregates:
        printer.outer.append(printer.out)
        printer.out = []
        parts.append(_Aggregated(captured.aggregates))
    return parts


def _over(window: Window, place: _Place) -> list[_Part]:
    parts: list[_Part] = []
    for keyword, keys in (("PARTITION BY ", window.partition), ("ORDER BY ", window.order)):
        if keys:
            parts += [f" {keyword}" if parts else keyword, *_join_nodes(keys, place)]
    if window.frame:
        parts.append(f" {window.frame}" if parts else window.frame)
    return parts


#: Nodes without parts.
_LEAVES: dict[type[Node], Callable[[_Printer, Any, int], str]] = {
    Column: lambda printer, node, around: ".".join(
        map(quote, (node.relation, node.name) if node.relation else (node.name,))
    ),
    Keyword: lambda printer, node, around: node.word,
    Literal: _literal,
    Subquery: lambda printer, node, around: node.sql,
    Variable: _variable,
}

_PRINTERS: dict[type[Node], Callable[[_Printer, Any, _Place, int], list[_Part]]] = {
    Aggregate: _aggregate,
    Call: _call,
    Case: _case,
    Cast: lambda printer, node, place, around: [
        "try_cast(" if node.safe else "CAST(",
        (node.value, place, 0),
        f" AS {node.type})",
    ],
    Element: lambda printer, node, place, around: [
        (node.value, place, _PRIMARY),
        f"[{node.position}]",
    ],
    Field: lambda printer, node, place, around: [
        (node.value, place, _PRIMARY),
        f".{quote(node.name)}",
    ],
    Lambda: _lambda,
    Let: lambda printer, node, place, around: printer.open(_Open(node, place, around)),
    Operator: _operator,
    PythonUdf: lambda printer, node, place, around: [
        f"{node.name}(",
        *_join_nodes(node.arguments, place),
        ")",
    ],
    Raise: lambda printer, node, place, around: ["raise_error(", (node.message, place, 0), ")"],
    SortKey: _sort_key,
    UserSql: _user_sql,
}


def with_alias(node: Node, name: str, lifting: Lifting | None = None) -> str:
    """Return an expression with its name in a list of columns."""
    return f"{to_sql(node, lifting)} AS {quote(name)}"


def same(left: Node, right: Node) -> bool:
    """Return whether two nodes have equal SQL."""
    if left is right:
        return True
    if type(left) is not type(right) or left.size != right.size:
        return False
    try:
        return to_sql(left) == to_sql(right)
    except KeyError:  # a variable bound outside
        return False


#: A column of a projection: its expression and its name.
NamedNode: TypeAlias = "tuple[Node, str]"
