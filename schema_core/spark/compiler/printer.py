"""Prints expression trees as Spark SQL: operator precedence, quoting, and how `Let` is computed.

This is the only module that writes the SQL of expressions. A variable of a `Let` becomes, in this
order:

- the SQL of its value, where that is short and deterministic: Spark computes it once;
- a column of a lateral projection below the query (`Lifting`), if the value is computed for every
  row anyway, or cannot fail;
- a parameter of a lambda, ``transform(array(value), x -> body)[0]``: within lambdas, and where the
  value may fail in a branch of a conditional or above a WHERE.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from itertools import count, islice
from typing import Any, TypeAlias

from schema_core.base.lazy import dataclass, regex
from schema_core.errors import UnsupportedError
from schema_core.spark.compiler.tree import (
    Aggregate,
    Call,
    Case,
    Cast,
    Column,
    Element,
    Fact,
    Field,
    Keyword,
    Lambda,
    Let,
    Literal,
    Node,
    Operator,
    PythonUdf,
    Raise,
    SortKey,
    Subquery,
    UserSql,
    Variable,
    Window,
    children,
    unsupported_error,
)

#: Characters of one expression: Spark would plan a longer one for minutes.
MAX_SQL_LENGTH = 200_000

#: Values of a `Let` up to this many characters are repeated, unless they contain one of `COSTLY`.
MAX_REPEATED = 48

#: Functions that cost much more than the column of a projection.
COSTLY = regex(
    r"\b(regexp_\w+|rlike|split|translate|unbase64|try_to_binary|try_to_timestamp|try_parse_json"
    r"|get_json_object|from_json)\("
)

#: The same for values that read aggregates, each of which Spark computes once a query, and for
#: those that no projection can compute, because they read both sides of a join or of a subquery.
MAX_REPEATED_AGGREGATE = MAX_REPEATED_UNLIFTED = 1000

#: Prefix of the names of variables of lambdas, which no column is likely to have.
VARIABLE = "the_x"

# --- names and literals --------------------------------------------------------------------------

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
_ESCAPED = regex("|".join(map(re.escape, _ESCAPES)))


def quote(name: str) -> str:
    """Return a name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def string(value: str) -> str:
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
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise unsupported_error(
            f"the string {value!r} has a lone surrogate, which Spark cannot store",
            hint="replace the surrogate, or store the value as BYTES",
        )
    return "'" + _ESCAPED.sub(lambda found: _ESCAPES[found[0]], value) + "'"


def _literal(node: Literal) -> str:
    match node.value, node.kind:
        case None, _:
            return "NULL"
        case bool(value), _:
            return "TRUE" if value else "FALSE"
        case str(value), "NUMBER":
            return value
        case value, "L" | "D" | "BD":
            return f"{value}{node.kind}"
        case str(value), kind:
            return kind + string(value)
        case value, _:
            return str(value)


# --- precedence ----------------------------------------------------------------------------------

_PREDICATE, _COMPARISON, _UNARY, _PRIMARY, _ATOM = 4, 5, 8, 9, 10

#: Operator -> its precedence: the greater, the tighter it binds (Spark's grammar of expressions).
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
    """Return how tightly the outermost operator of a node binds."""
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
# A value of `Let` is computed once a row, in a lateral projection below the expressions that use
# it: FROM t AS t JOIN LATERAL (SELECT value AS the_let_1) AS the_let_1_of. Spark's optimizer makes
# a plain projection of it, and the aliases of FROM stay in scope.

#: Which values may be lifted from a place: none, and what is used twice becomes a lambda (within
#: lambdas); none, and it is repeated (above an aggregation); those that cannot fail (in a branch
#: of a conditional); or all.
NEVER, REPEATED, IF_TOTAL, ALWAYS = 0, 1, 2, 3

#: Prefixes of generated names, which no alias is likely to have: values of `Let`, and aggregates
#: that a query below computes.
LIFTED, AGGREGATED = "the_let_", "the_aggregate_"

#: At most so many columns are lifted to one place.
MAX_LIFTED = 200


@dataclass(slots=True)
class Projection:
    """Values that are computed at one place of a FROM clause; equal ones share a column.

    `relations` are the aliases that can be read there (None is one: of the query itself); if it
    is None, expressions read no others. `offered` are those that subqueries can read there.
    `names` numbers the columns of all projections of a FROM clause.
    """

    relations: frozenset[str | None] | None = None
    names: Iterator[int] = field(default_factory=lambda: count(1))
    prefix: str = LIFTED
    columns: dict[str, str] = field(default_factory=dict)
    raises: bool = False
    offered: frozenset[str] = frozenset()

    def column(self, value: str, *, raises: bool = False) -> str:
        """Return the name of the column that computes a value."""
        name = self.columns.get(value)
        if name is None:
            name = self.columns[value] = f"{self.prefix}{next(self.names)}"
            self.raises = self.raises or raises
        return name

    def forget(self, start: int) -> None:
        """Remove the columns from a position on."""
        for value in list(self.columns)[start:]:
            del self.columns[value]
        self.raises = False

    def quoted(self, start: int = 0) -> list[str]:
        """Return the names of the columns from a position on, quoted."""
        return [f"`{name}`" for name in islice(self.columns.values(), start, None)]

    def laterals(self, start: int = 0, stop: int | None = None) -> str:
        """Return the joins to add to a FROM clause; each value can read those before it."""
        return "".join(
            f" JOIN LATERAL (SELECT {value} AS `{name}`) AS `{name}_of`"
            for value, name in islice(self.columns.items(), start, stop)
        )


@dataclass(slots=True)
class Lifting:
    """What may be lifted from the expressions of a clause, and to which projections.

    `mode` applies to the expressions, `in_aggregates` to the arguments of their aggregates, which
    are computed below GROUP BY. `outer` are projections of the enclosing query, which are computed
    for rows that the query itself does not have, and which cannot read the aliases of the query
    itself, `hiding` those of the enclosing one. With `aggregates` a query `below` computes the
    aggregates, those with OVER if `windows`, else those without. `missed` is set if a value that
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

        `facts` include those of the variables that the value reads, and `values` are their values.
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
        # A constant could be lifted to any place, also to one that others do not see.
        return bool(read) and read <= place.relations

    def capturing(self, *, windowed: bool) -> Lifting | None:
        """Return the lifting whose query below computes an aggregate, with or without OVER."""
        one: Lifting | None = self
        while one is not None and (one.aggregates is None or one.windows != windowed):
            one = one.below
        return one


def relations_read(value: Node, values: Mapping[Node, Node]) -> frozenset[str | None]:
    """Return the aliases of the columns that a value reads.

    An aggregate is a column of the query below, without an alias; an empty alias is not known.
    """
    found: set[str | None] = set()
    rest = [value]
    while rest:
        node = rest.pop()
        if isinstance(node, Column):
            found.add(node.relation)
        elif isinstance(node, UserSql) and not children(node):
            found.add("")  # SQL of a user's function, its arguments included
        elif isinstance(node, Aggregate):
            found.add(None)
        elif node in values:
            rest.append(values[node])
        else:
            rest += children(node)
    return frozenset(found)


# --- where an expression is computed -------------------------------------------------------------

#: Calls of which only the first argument is always computed.
CONDITIONAL = frozenset({"if", "coalesce", "nullif"})


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a node is printed: what may be lifted there, and how many variables are in scope."""

    mode: int = NEVER
    lifting: Lifting | None = None
    depth: int = 0

    def branch(self) -> _Place:
        """Return the place of a part that is not computed in all rows."""
        return _Place(IF_TOTAL, self.lifting, self.depth) if self.mode > IF_TOTAL else self

    def within(self, parameters: int) -> _Place:
        """Return the place of the body of a lambda."""
        return _Place(NEVER, None, self.depth + parameters)


class _Open:
    """A `Let` whose values are being printed, each into a string of its own."""

    __slots__ = ("around", "let", "place", "texts")

    def __init__(self, let: Let, place: _Place, around: int) -> None:
        self.let, self.place, self.around = let, place, around
        self.texts: list[str] = []


class _Aggregated:
    """The end of an aggregate that the query below computes."""

    __slots__ = ("projection",)

    def __init__(self, projection: Projection) -> None:
        self.projection = projection


#: A part of the output: SQL, a node with its place and the precedence around it, or the end of a
#: value of a `Let` or of an aggregate, which is printed into a string of its own.
_Part: TypeAlias = "str | tuple[Node, _Place, int] | _Open | _Aggregated"


def to_sql(node: Node, lifting: Lifting | None = None) -> str:
    """Return the Spark SQL of an expression; values are lifted only with `lifting`.

    Raises:
        UnsupportedError: with code `not-executable` beyond `MAX_SQL_LENGTH` characters.

    >>> from schema_core.spark.compiler.tree import call, let, operator
    >>> to_sql(operator("*", 2, operator("+", Column("a"), 1)))
    '2 * (`a` + 1)'
    >>> value = call("f", Column("a_column_whose_name_is_longer_than_what_is_repeated"))
    >>> lifting = Lifting()
    >>> to_sql(let(value, lambda v: operator("*", v, v)), lifting)
    '`the_let_1` * `the_let_1`'
    """
    return _Printer().print(node, _Place(lifting.mode, lifting) if lifting else _Place())


class _Printer:
    """Prints one expression with an explicit stack: left-deep trees are deeper than Python's."""

    def __init__(self) -> None:
        #: Variable -> its SQL, and how tightly that binds.
        self.bound: dict[Node, tuple[str, int]] = {}
        #: Variable of a `Let` -> its value, and the facts of what is written for it.
        self.values: dict[Node, Node] = {}
        self.facts: dict[Node, int] = {}
        self.out: list[str] = []
        self.outer: list[list[str]] = []

    def print(self, node: Node, place: _Place) -> str:
        """Return the SQL of a node."""
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
        """Begin to print the next value of a `Let`."""
        self.outer.append(self.out)
        self.out = []
        return [(part.let.bindings[len(part.texts)][1], part.place, 0), part]

    def close(self, stack: list[_Part], part: _Open) -> int:
        """End the value of a `Let`, and return its length; after the last one comes the body."""
        text = "".join(self.out)
        self.out = self.outer.pop()
        part.texts.append(text)
        done = len(part.texts) == len(part.let.bindings)
        parts = self.body(part) if done else self.open(part)
        stack.extend(reversed(parts))
        return len(text)

    def body(self, part: _Open) -> list[_Part]:
        """Choose how each variable of a `Let` is computed, and return the parts of its body."""
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
        """Return the facts of a value with those of the variables that it reads."""
        found = value.facts
        rest = [value] if self.facts else []
        while rest:
            node = rest.pop()
            found |= self.facts.get(node, 0)
            rest += children(node)
        return found

    def lift(self, value: Node, facts: int, text: str, place: _Place) -> str | None:
        """Return the column to which a value is lifted, None if it is not."""
        lifting = place.lifting
        if lifting is None:
            return None
        projection = lifting.place_of(value, facts, place.mode, self.values)
        if projection is None:
            lifting.missed |= place.mode == REPEATED or bool(facts & Fact.AGGREGATE)
            return None
        return quote(projection.column(text, raises=bool(facts & Fact.RAISES)))

    def precedence(self, node: Node) -> int:
        """Return how tightly a node binds, a variable like its value."""
        return self.bound[node][1] if isinstance(node, Variable) else precedence(node)


#: Facts of a body that Spark does not run within a lambda.
_NOT_IN_LAMBDA = Fact.UDF | Fact.SUBQUERY | Fact.AGGREGATE


def is_repeated(facts: int, text: str, body: Node) -> bool:
    """Return whether the SQL of a value is written wherever its variable is used."""
    if facts & (Fact.RANDOM | Fact.UDF):
        return False
    if facts & Fact.AGGREGATE:  # which Spark does not run within lambdas
        return not body.facts & Fact.LAMBDA and len(text) <= MAX_REPEATED_AGGREGATE
    return len(text) <= MAX_REPEATED and not COSTLY.search(text)


def is_repeated_unlifted(facts: int, text: str, body: Node, mode: int) -> bool:
    """Return whether a value that is not lifted is repeated; else it is an array in a lambda."""
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
    """Return nodes with commas between; all but the first may have another place."""
    parts: list[_Part] = []
    for node in nodes:
        if parts:
            parts.append(", ")
            place = others or place
        parts.append((node, place, 0))
    return parts


def _enclose(parts: list[_Part], binds: int, around: int) -> list[_Part]:
    return ["(", *parts, ")"] if binds < around else parts


def _column(printer: _Printer, node: Column, around: int) -> str:
    prefix = f"{quote(node.relation)}." if node.relation else ""
    return prefix + quote(node.name)


def _print_literal(printer: _Printer, node: Literal, around: int) -> str:
    text = _literal(node)
    return f"({text})" if around > _UNARY and precedence(node) < around else text


def _keyword(printer: _Printer, node: Keyword, around: int) -> str:
    return node.word


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


def _cast(printer: _Printer, node: Cast, place: _Place, around: int) -> list[_Part]:
    name = "try_cast(" if node.safe else "CAST("
    return [name, (node.value, place, 0), f" AS {node.type})"]


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


def _field(printer: _Printer, node: Field, place: _Place, around: int) -> list[_Part]:
    return [(node.value, place, _PRIMARY), f".{quote(node.name)}"]


def _element(printer: _Printer, node: Element, place: _Place, around: int) -> list[_Part]:
    return [(node.value, place, _PRIMARY), f"[{node.position}]"]


def _let(printer: _Printer, node: Let, place: _Place, around: int) -> list[_Part]:
    return printer.open(_Open(node, place, around))


def _raise(printer: _Printer, node: Raise, place: _Place, around: int) -> list[_Part]:
    return ["raise_error(", (node.message, place, 0), ")"]


def _udf(printer: _Printer, node: PythonUdf, place: _Place, around: int) -> list[_Part]:
    return [f"{node.name}(", *_join_nodes(node.arguments, place), ")"]


def _subquery(printer: _Printer, node: Subquery, around: int) -> str:
    return node.sql


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


#: Window functions without arguments; any other aggregate without arguments counts rows.
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
    Column: _column,
    Literal: _print_literal,
    Keyword: _keyword,
    Variable: _variable,
    Subquery: _subquery,
}

_PRINTERS: dict[type[Node], Callable[[_Printer, Any, _Place, int], list[_Part]]] = {
    Call: _call,
    Operator: _operator,
    Cast: _cast,
    Case: _case,
    Lambda: _lambda,
    Field: _field,
    Element: _element,
    Let: _let,
    Raise: _raise,
    PythonUdf: _udf,
    UserSql: _user_sql,
    SortKey: _sort_key,
    Aggregate: _aggregate,
}


def with_alias(node: Node, name: str, lifting: Lifting | None = None) -> str:
    """Return an expression with its name in a list of columns."""
    return f"{to_sql(node, lifting)} AS {quote(name)}"


def same(left: Node, right: Node) -> bool:
    """Return whether two nodes are the same expression: their SQL is equal."""
    if left is right:
        return True
    if type(left) is not type(right) or left.size != right.size:
        return False
    try:
        return to_sql(left) == to_sql(right)
    except KeyError:  # a variable bound outside
        return False
