"""Expressions written in Python, under PyFlink's names: they build the trees that SQL text gives.

An `Expression` knows no types; it is typed, by SQL's rules, where its columns are known. So
``col("a") + 1`` and ``call_sql("a + 1")`` mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from schema_core.errors import SchemaError, similar
from schema_core.expressions.fluent_base import Value, a_text, target, written
from schema_core.expressions.fluent_json import JsonMethods
from schema_core.expressions.fluent_names import NamedMethods
from schema_core.expressions.fluent_words import TimeIntervalUnit, word
from schema_core.expressions.items import Aliased, Sorted
from schema_core.expressions.values import literal
from schema_core.sql import syntax
from schema_core.sql.parser import parse_expression
from schema_core.sql.printer import print_expression
from schema_core.sql.syntax import Call, Name, Symbol
from schema_core.types import DataType

#: A unit of time.
Unit: TypeAlias = TimeIntervalUnit | str
#: A method of `Expression`: the value itself comes first.
Method: TypeAlias = Callable[..., "Expression"]


def col(name: str) -> Expression:
    """A column by its exact name.

    Raises:
        SchemaError: with code `wrong-argument` for a name that is no text.

    >>> print(col("price") * col("qty") + 1)
    `price` * `qty` + 1
    """
    return Expression(Name((a_text(name, "the name of a column"),)))


def lit(v: Value, data_type: DataType | None = None) -> Expression:
    """A literal for a Python value, of the type if one is given.

    >>> from schema_core.types import DataTypes
    >>> print(lit("it's"), lit(None, DataTypes.INT()))
    'it''s' CAST(NULL AS INTEGER)
    """
    plain = Expression(literal(v))
    return plain if data_type is None else plain.cast(data_type)


def call(f: str | Callable[..., Expression], *args: Value) -> Expression:
    """A call of a function: by its name, which may be a path with dots, or of one of Python.

    >>> print(call("upper", col("a")))
    UPPER(`a`)
    """
    if callable(f):
        return f(*args)
    parts = tuple(a_text(f, "the name of a function").split("."))
    return apply(parts[-1].upper(), *args, path=parts if len(parts) > 1 else ())


def apply(name: str, *arguments: Value, path: tuple[str, ...] = ()) -> Expression:
    """A call of what the function tables call so."""
    return Expression(Call(name, tuple(map(written, arguments)), path))


def call_sql(sql_expression: str) -> Expression:
    """An expression in SQL.

    Raises:
        ParseError: where the text is no expression.

    >>> print(call_sql("a + 1") * 2)
    (`a` + 1) * 2
    """
    return Expression(parse_expression(a_text(sql_expression, "an expression in SQL")))


def _unary(name: str) -> Method:
    def method(self: Expression) -> Expression:
        return apply(name, self)

    return method


def _operator(name: str) -> Method:
    def method(self: Expression, other: Value) -> Expression:
        return apply(name, self, other)

    return method


def _reflected(name: str) -> Method:
    def method(self: Expression, other: Value) -> Expression:
        return apply(name, other, self)

    return method


class Expression(NamedMethods, JsonMethods):
    """A value that is computed: columns, literals, operators, functions.

    Operators make expressions, also ``==``; so ``and``, ``or`` and ``not`` cannot be used, which
    is why an expression refuses to be true or false. An attribute that is no method is a field:
    ``col("r").x``.

    >>> print((col("a") > 1) & col("name").upper_case.like("A%"))
    `a` > 1 AND UPPER(`name`) LIKE 'A%'
    """

    __slots__ = ()

    def __str__(self) -> str:
        """The expression in SQL."""
        return print_expression(self.syntax)

    def __repr__(self) -> str:
        return f"<Expression {self}>"

    def __bool__(self) -> bool:
        raise TypeError("an expression is neither true nor false: use & | ~ for and, or, not")

    def __iter__(self) -> Iterator[Expression]:
        raise TypeError("an expression has no end to walk to: take elements by number, as in a[1]")

    def __call__(self, *_: Value, **__: Value) -> Expression:
        """Refuse a method that there is not, which is read as a field.

        Raises:
            SchemaError: with code `not-an-expression`.
        """
        name = self.syntax.parts[-1] if isinstance(self.syntax, Name) else str(self)
        known = [one for one in dir(Expression) if not one.startswith("_")]
        raise SchemaError(
            f"{name!r} is a field here, and no method of expressions",
            code="not-an-expression",
            hint=similar(name, known),
        )

    __hash__ = object.__hash__

    # --- operators --------------------------------------------------------------------------------

    __add__, __radd__ = _operator("+"), _reflected("+")
    __sub__, __rsub__ = _operator("-"), _reflected("-")
    __mul__, __rmul__ = _operator("*"), _reflected("*")
    __truediv__, __rtruediv__ = _operator("/"), _reflected("/")
    __mod__, __rmod__ = _operator("%"), _reflected("%")
    __pow__, __rpow__ = _operator("POWER"), _reflected("POWER")
    __and__, __rand__ = _operator("AND"), _reflected("AND")
    __or__, __ror__ = _operator("OR"), _reflected("OR")
    __lt__, __le__ = _operator("<"), _operator("<=")
    __gt__, __ge__ = _operator(">"), _operator(">=")
    __getitem__ = _operator("[]")
    __neg__, __abs__ = _unary("-x"), _unary("ABS")
    #: PyFlink's ``~`` is TRUE for NULL, unlike SQL's NOT (`not_`).
    __invert__ = _unary("IS NOT TRUE")

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return apply("=", self, other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return apply("<>", self, other)

    def __getattr__(self, name: str) -> Expression:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)

    # --- what SQL has words for -------------------------------------------------------------------

    def get(self, name_or_index: str | int) -> Expression:
        """A field by its name, or by its place, which is counted from 0."""
        if isinstance(name_or_index, int):
            return apply("[]", self, name_or_index + 1)
        name = a_text(name_or_index, "the name of a field")
        if isinstance(self.syntax, Name):
            return Expression(Name((*self.syntax.parts, name)))
        return Expression(Call(".", (self.syntax, Name((name,)))))

    def at(self, index: Value) -> Expression:
        """An element of an array or a map."""
        return apply("[]", self, index)

    def cast(self, data_type: DataType) -> Expression:
        """The value as another type."""
        return Expression(Call("CAST", (self.syntax, target(data_type))))

    def try_cast(self, data_type: DataType) -> Expression:
        """The value as another type, NULL where that fails."""
        return Expression(Call("TRY_CAST", (self.syntax, target(data_type))))

    def between(self, lower_bound: Value, upper_bound: Value) -> Expression:
        """Whether the value is between two others, these included."""
        return self._range("BETWEEN", lower_bound, upper_bound)

    def not_between(self, lower_bound: Value, upper_bound: Value) -> Expression:
        """Whether the value is outside of two others."""
        return self._range("NOT BETWEEN", lower_bound, upper_bound)

    def _range(self, name: str, *bounds: Value) -> Expression:
        values = (self.syntax, *map(written, bounds))
        return Expression(Call(name, values, symbol="ASYMMETRIC"))

    def in_(self, first_element_or_table: Value, *remaining_elements: Value) -> Expression:
        """Whether the value is one of these."""
        return apply("IN", self, first_element_or_table, *remaining_elements)

    def then(self, if_true: Value, if_false: Value) -> Expression:
        """The one value where this is true, else the other."""
        return apply("CASE", self, if_true, if_false)

    def trim(self, character: Value = None) -> Expression:
        """The text without blanks, or these characters, on both sides."""
        return self._trimmed("BOTH", character)

    def trim_leading(self, character: Value = None) -> Expression:
        """The text without blanks, or these characters, at its beginning."""
        return self._trimmed("LEADING", character)

    def trim_trailing(self, character: Value = None) -> Expression:
        """The text without blanks, or these characters, at its end."""
        return self._trimmed("TRAILING", character)

    def _trimmed(self, side: str, character: Value) -> Expression:
        characters = written(" " if character is None else character)
        return Expression(Call("TRIM", (Symbol(side), characters, self.syntax)))

    def extract(self, time_interval_unit: Unit) -> Expression:
        """A part of a date, time, timestamp or interval: ``TimeIntervalUnit.YEAR``, ``"YEAR"``."""
        unit = Symbol(word(time_interval_unit, TimeIntervalUnit))
        return Expression(Call("EXTRACT", (unit, self.syntax)))

    def floor(self, time_interval_unit: Unit | None = None) -> Expression:
        """Rounded down, to a unit of time if one is given."""
        return self._rounded("FLOOR", time_interval_unit)

    def ceil(self, time_interval_unit: Unit | None = None) -> Expression:
        """Rounded up, to a unit of time if one is given."""
        return self._rounded("CEIL", time_interval_unit)

    def _rounded(self, name: str, unit: Unit | None) -> Expression:
        units = () if unit is None else (Symbol(word(unit, TimeIntervalUnit)),)
        return Expression(Call(name, (self.syntax, *units)))

    def truncate(self, n: Value = 0) -> Expression:
        """The number with so many digits behind the point."""
        return apply("TRUNCATE", self, n)

    def list_agg(self, separator: Value = None) -> Expression:
        """All texts with a separator between them."""
        return apply("LISTAGG", self, "," if separator is None else separator)

    def over(self, alias: str | Expression) -> Expression:
        """The call over a window that the query names.

        >>> print(col("a").sum.over("w"))
        SUM(`a`) OVER `w`
        """
        if isinstance(alias, Expression) and isinstance(alias.syntax, Name):
            alias = alias.syntax.parts[-1]
        name = a_text(alias, "the name of a window")
        window = syntax.Window(name, is_reference=True)
        return Expression(replace(self._aggregate("OVER a window"), over=window))

    def as_argument(self, name: str) -> Expression:
        """The value as an argument by the name of its parameter."""
        return Expression(syntax.Named(a_text(name, "the name of an argument"), self.syntax))

    def log(self, base: Value | None = None) -> Expression:
        """The logarithm, natural or to a base."""
        return apply("LOG", *(() if base is None else (base,)), self)

    # --- as an item of a list -----------------------------------------------------------------

    def alias(self, name: str, *extra_names: str) -> Aliased:
        """The expression under a name; a table function has one for each of its columns."""
        return Aliased(self.syntax, (name, *extra_names))

    @property
    def asc(self) -> Sorted:
        """For rows that are sorted by it, the least first."""
        return Sorted(self.syntax)

    @property
    def desc(self) -> Sorted:
        """For rows that are sorted by it, the greatest first."""
        return Sorted(self.syntax, descending=True)

    @property
    def distinct(self) -> Expression:
        """The aggregate of different values only."""
        return Expression(replace(self._aggregate("DISTINCT"), symbol="DISTINCT"))

    def _aggregate(self, what: str) -> Call:
        if isinstance(self.syntax, Call):
            return self.syntax
        raise SchemaError(f"only the call of an aggregate can be {what}", code="not-an-aggregate")
