"""Expressions written in Python, under PyFlink's names: they build the trees that SQL text gives.

An `Expression` knows no types; it is typed, by SQL's rules, where its columns are known. So
``col("a") + 1`` and ``call_sql("a + 1")`` mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, TypeAlias

from schema_core.expressions.items import Aliased, Sorted
from schema_core.expressions.values import literal
from schema_core.sql import syntax
from schema_core.sql.expression import parse_expression
from schema_core.sql.printer import print_expression
from schema_core.sql.syntax import Call, Interval, Name, Symbol, TypeName
from schema_core.sql.tokens import cursor_over
from schema_core.sql.type_name import cast_target
from schema_core.types import DataType

#: What stands for a value: an expression, or a Python value for a literal.
Value: TypeAlias = Any
#: A method of `Expression`: the value itself comes first.
Method: TypeAlias = Callable[..., "Expression"]


def written(value: Value) -> syntax.Expression:
    """The syntax tree of an expression, or of a literal for a Python value."""
    return value.syntax if isinstance(value, Expression) else literal(value)


def col(name: str) -> Expression:
    """A column by its exact name.

    >>> print(col("price") * col("qty") + 1)
    `price` * `qty` + 1
    """
    return Expression(Name((name,)))


def lit(value: Value, data_type: DataType | None = None) -> Expression:
    """A literal for a Python value, of the type if one is given.

    >>> from schema_core.types import DataTypes
    >>> print(lit("it's"), lit(None, DataTypes.INT()))
    'it''s' CAST(NULL AS INTEGER)
    """
    plain = Expression(literal(value))
    return plain if data_type is None else plain.cast(data_type)


def call(name: str, *arguments: Value) -> Expression:
    """A call of a function by its name, which may be a path with dots.

    >>> print(call("upper", col("a")))
    UPPER(`a`)
    """
    parts = tuple(name.split("."))
    return _apply(parts[-1].upper(), *arguments, path=parts if len(parts) > 1 else ())


def _apply(name: str, *arguments: Value, path: tuple[str, ...] = ()) -> Expression:
    """A call of what the function tables call so."""
    return Expression(Call(name, tuple(map(written, arguments)), path))


def _target(data_type: DataType) -> TypeName:
    """A type behind AS in a cast, where only its parts may be NOT NULL."""
    return cast_target(cursor_over(data_type.nullable().as_serializable_string()))


def call_sql(text: str) -> Expression:
    """An expression in SQL.

    Raises:
        ParseError: where the text is no expression.

    >>> print(call_sql("a + 1") * 2)
    (`a` + 1) * 2
    """
    return Expression(parse_expression(text))


# --- how methods are made ------------------------------------------------------------------------


def _property(name: str) -> property:
    """A property that applies a function to the value."""
    return property(lambda self: _apply(name, self), doc=f"``{name}(self)``")


def _method(name: str) -> Method:
    """A method that calls a function with the value before its arguments; None is left out."""

    def method(self: Expression, *arguments: Value) -> Expression:
        return _apply(name, self, *(one for one in arguments if one is not None))

    method.__doc__ = f"``{name}(self, ...)``"
    return method


def _operator(name: str) -> Method:
    def method(self: Expression, other: Value) -> Expression:
        return _apply(name, self, other)

    return method


def _reflected(name: str) -> Method:
    def method(self: Expression, other: Value) -> Expression:
        return _apply(name, other, self)

    return method


def _interval(unit: str) -> property:
    """So many of a unit of time."""

    def value(self: Expression) -> Expression:
        match self.syntax:
            case syntax.Literal(kind=syntax.LiteralKind.EXACT, text=text):
                digits = len(text.lstrip("-"))
                return Expression(Interval(text, unit, leading=digits if digits > 2 else None))
            case _:
                target = TypeName("INTERVAL", interval=Interval("", unit))
                return Expression(Call("INTERVAL", (self.syntax, target)))

    return property(value, doc=f"The interval of so many units {unit}.")


class Expression:
    """A value that is computed: columns, literals, operators, functions.

    Operators make expressions, also ``==``; so ``and``, ``or`` and ``not`` cannot be used, which
    is why an expression refuses to be true or false. An attribute that is no method is a field:
    ``col("r").x``.

    >>> print((col("a") > 1) & col("name").upper_case.like("A%"))
    `a` > 1 AND UPPER(`name`) LIKE 'A%'
    """

    __slots__ = ("syntax",)

    def __init__(self, tree: syntax.Expression) -> None:
        self.syntax = tree

    def __str__(self) -> str:
        """The expression in SQL."""
        return print_expression(self.syntax)

    def __repr__(self) -> str:
        return f"<Expression {self}>"

    def __bool__(self) -> bool:
        raise TypeError("an expression is neither true nor false: use & | ~ for and, or, not")

    def __iter__(self) -> Iterator[Expression]:
        raise TypeError("an expression has no end to walk to: take elements by number, as in a[1]")

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
    __neg__, __abs__ = _method("-x"), _method("ABS")
    #: PyFlink's ``~`` is TRUE for NULL, unlike SQL's NOT (`not_`).
    __invert__ = _method("IS NOT TRUE")

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return _apply("=", self, other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return _apply("<>", self, other)

    def __getattr__(self, name: str) -> Expression:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)

    # --- what SQL has words for -------------------------------------------------------------------

    def get(self, name: str | int) -> Expression:
        """A field by its name, or by its place, which is counted from 0."""
        if isinstance(name, int):
            return _apply("[]", self, name + 1)
        if isinstance(self.syntax, Name):
            return Expression(Name((*self.syntax.parts, name)))
        return Expression(Call(".", (self.syntax, Name((name,)))))

    def at(self, index: Value) -> Expression:
        """An element of an array or a map."""
        return _apply("[]", self, index)

    def cast(self, data_type: DataType) -> Expression:
        """The value as another type."""
        return Expression(Call("CAST", (self.syntax, _target(data_type))))

    def try_cast(self, data_type: DataType) -> Expression:
        """The value as another type, NULL where that fails."""
        return Expression(Call("TRY_CAST", (self.syntax, _target(data_type))))

    def between(self, lower: Value, upper: Value) -> Expression:
        """Whether the value is between two others, these included."""
        return self._range("BETWEEN", lower, upper)

    def not_between(self, lower: Value, upper: Value) -> Expression:
        """Whether the value is outside of two others."""
        return self._range("NOT BETWEEN", lower, upper)

    def _range(self, name: str, *bounds: Value) -> Expression:
        values = (self.syntax, *map(written, bounds))
        return Expression(Call(name, values, symbol="ASYMMETRIC"))

    def in_(self, *values: Value) -> Expression:
        """Whether the value is one of these."""
        return _apply("IN", self, *values)

    def then(self, if_true: Value, if_false: Value) -> Expression:
        """The one value where this is true, else the other."""
        return _apply("CASE", self, if_true, if_false)

    def trim(self, characters: Value = " ") -> Expression:
        """The text without blanks, or these characters, on both sides."""
        return Expression(Call("TRIM", (Symbol("BOTH"), written(characters), self.syntax)))

    def extract(self, unit: str) -> Expression:
        """A part of a date, time, timestamp or interval: ``"YEAR"``."""
        return Expression(Call("EXTRACT", (Symbol(unit), self.syntax)))

    def floor(self, unit: str | None = None) -> Expression:
        """Rounded down, to a unit of time if one is given."""
        return self._rounded("FLOOR", unit)

    def ceil(self, unit: str | None = None) -> Expression:
        """Rounded up, to a unit of time if one is given."""
        return self._rounded("CEIL", unit)

    def _rounded(self, name: str, unit: str | None) -> Expression:
        units = () if unit is None else (Symbol(unit),)
        return Expression(Call(name, (self.syntax, *units)))

    def position(self, text: Value) -> Expression:
        """Where the value is found in a text, counted from 1; 0 if it is not."""
        return _apply("POSITION", self, text)

    def locate(self, text: Value, start: Value | None = None) -> Expression:
        """Where the value is found in a text from a place on."""
        return _apply("LOCATE", self, text, *(() if start is None else (start,)))

    def log(self, base: Value | None = None) -> Expression:
        """The logarithm, natural or to a base."""
        return _apply("LOG", *(() if base is None else (base,)), self)

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
        if not isinstance(self.syntax, Call):
            raise TypeError("only the call of an aggregate can be DISTINCT")
        found = self.syntax
        return Expression(Call(found.name, found.arguments, found.path, "DISTINCT"))

    # --- truth ------------------------------------------------------------------------------------

    is_null, is_not_null = _property("IS NULL"), _property("IS NOT NULL")
    is_true, is_not_true = _property("IS TRUE"), _property("IS NOT TRUE")
    is_false, is_not_false = _property("IS FALSE"), _property("IS NOT FALSE")
    if_null = _method("IFNULL")
    like, similar = _method("LIKE"), _method("SIMILAR TO")

    # --- numbers ----------------------------------------------------------------------------------

    abs, sign, exp, ln = _property("ABS"), _property("SIGN"), _property("EXP"), _property("LN")
    log2, log10, sqrt = _property("LOG2"), _property("LOG10"), _property("SQRT")
    sin, cos, tan, cot = _property("SIN"), _property("COS"), _property("TAN"), _property("COT")
    asin, acos, atan = _property("ASIN"), _property("ACOS"), _property("ATAN")
    sinh, cosh, tanh = _property("SINH"), _property("COSH"), _property("TANH")
    degrees, radians = _property("DEGREES"), _property("RADIANS")
    bin, hex, chr = _property("BIN"), _property("HEX"), _property("CHR")
    round, truncate = _method("ROUND"), _method("TRUNCATE")

    # --- texts ------------------------------------------------------------------------------------

    upper_case, lower_case = _property("UPPER"), _property("LOWER")
    init_cap, char_length = _property("INITCAP"), _property("CHAR_LENGTH")
    from_base64, to_base64 = _property("FROM_BASE64"), _property("TO_BASE64")
    ascii, reverse, unhex = _property("ASCII"), _property("REVERSE"), _property("UNHEX")
    concat, replace, translate = _method("CONCAT"), _method("REPLACE"), _method("TRANSLATE")
    substring, substr, overlay = _method("SUBSTRING"), _method("SUBSTR"), _method("OVERLAY")
    left, right, repeat = _method("LEFT"), _method("RIGHT"), _method("REPEAT")
    lpad, rpad, instr = _method("LPAD"), _method("RPAD"), _method("INSTR")
    ltrim, rtrim, btrim = _method("LTRIM"), _method("RTRIM"), _method("BTRIM")
    starts_with, ends_with = _method("STARTSWITH"), _method("ENDSWITH")
    encode, decode, printf = _method("ENCODE"), _method("DECODE"), _method("PRINTF")
    split, split_index = _method("SPLIT"), _method("SPLIT_INDEX")
    str_to_map, elt, parse_url = _method("STR_TO_MAP"), _method("ELT"), _method("PARSE_URL")
    url_encode, url_decode = _method("URL_ENCODE"), _method("URL_DECODE")
    inet_aton, inet_ntoa = _method("INET_ATON"), _method("INET_NTOA")
    regexp, regexp_replace = _method("REGEXP"), _method("REGEXP_REPLACE")
    regexp_extract, regexp_count = _method("REGEXP_EXTRACT"), _method("REGEXP_COUNT")
    regexp_extract_all = _method("REGEXP_EXTRACT_ALL")
    regexp_instr, regexp_substr = _method("REGEXP_INSTR"), _method("REGEXP_SUBSTR")
    md5, sha1, sha224 = _property("MD5"), _property("SHA1"), _property("SHA224")
    sha256, sha384, sha512 = _property("SHA256"), _property("SHA384"), _property("SHA512")
    sha2, json_quote, json_unquote = _method("SHA2"), _method("JSON_QUOTE"), _method("JSON_UNQUOTE")

    # --- dates and times --------------------------------------------------------------------------

    to_date, to_timestamp = _property("TO_DATE"), _property("TO_TIMESTAMP")
    year, years = _interval("YEAR"), _interval("YEAR")
    quarter, quarters = _interval("QUARTER"), _interval("QUARTER")
    month, months = _interval("MONTH"), _interval("MONTH")
    week, weeks = _interval("WEEK"), _interval("WEEK")
    day, days = _interval("DAY"), _interval("DAY")
    hour, hours = _interval("HOUR"), _interval("HOUR")
    minute, minutes = _interval("MINUTE"), _interval("MINUTE")
    second, seconds = _interval("SECOND"), _interval("SECOND")

    # --- collections ------------------------------------------------------------------------------

    cardinality, element = _property("CARDINALITY"), _property("ELEMENT")
    map_keys, map_values = _property("MAP_KEYS"), _property("MAP_VALUES")
    map_entries, map_union = _property("MAP_ENTRIES"), _method("MAP_UNION")
    array_append, array_prepend = _method("ARRAY_APPEND"), _method("ARRAY_PREPEND")
    array_contains, array_position = _method("ARRAY_CONTAINS"), _method("ARRAY_POSITION")
    array_remove, array_distinct = _method("ARRAY_REMOVE"), _method("ARRAY_DISTINCT")
    array_reverse, array_slice = _method("ARRAY_REVERSE"), _method("ARRAY_SLICE")
    array_sort, array_join = _method("ARRAY_SORT"), _method("ARRAY_JOIN")
    array_max, array_min = _method("ARRAY_MAX"), _method("ARRAY_MIN")
    array_union, array_concat = _method("ARRAY_UNION"), _method("ARRAY_CONCAT")
    array_except, array_intersect = _method("ARRAY_EXCEPT"), _method("ARRAY_INTERSECT")
    bitmap_build, bitmap_cardinality = _method("BITMAP_BUILD"), _method("BITMAP_CARDINALITY")
    bitmap_and, bitmap_or = _method("BITMAP_AND"), _method("BITMAP_OR")
    bitmap_xor, bitmap_andnot = _method("BITMAP_XOR"), _method("BITMAP_ANDNOT")
    bitmap_to_array, bitmap_to_bytes = _method("BITMAP_TO_ARRAY"), _method("BITMAP_TO_BYTES")
    bitmap_to_string, bitmap_from_bytes = _method("BITMAP_TO_STRING"), _method("BITMAP_FROM_BYTES")
    object_update = _method("OBJECT_UPDATE")

    # --- of many rows -----------------------------------------------------------------------------

    sum, sum0, avg = _property("SUM"), _property("$SUM0"), _property("AVG")
    min, max, count = _property("MIN"), _property("MAX"), _property("COUNT")
    first_value, last_value = _property("FIRST_VALUE"), _property("LAST_VALUE")
    stddev_pop, stddev_samp = _property("STDDEV_POP"), _property("STDDEV_SAMP")
    var_pop, var_samp = _property("VAR_POP"), _property("VAR_SAMP")
    collect, array_agg = _property("COLLECT"), _property("ARRAY_AGG")
    list_agg, percentile = _method("LISTAGG"), _method("PERCENTILE")


def and_(*predicates: Value) -> Expression:
    """Whether all of these are true."""
    return _chain("AND", predicates)


def _chain(name: str, operands: tuple[Value, ...]) -> Expression:
    trees = map(written, operands)
    return Expression(reduce(lambda left, right: Call(name, (left, right)), trees))


def or_(*predicates: Value) -> Expression:
    """Whether one of these is true."""
    return _chain("OR", predicates)


def not_(predicate: Value) -> Expression:
    """SQL's NOT: unknown where the predicate is.

    >>> print(not_(col("a") == 1))
    NOT `a` = 1
    """
    return _apply("NOT", predicate)


def if_then_else(condition: Value, if_true: Value, if_false: Value) -> Expression:
    """The one value where the condition is true, else the other."""
    return _apply("CASE", condition, if_true, if_false)


def null_of(data_type: DataType) -> Expression:
    """NULL of a type."""
    return lit(None, data_type)


def row(*values: Value) -> Expression:
    """A row of values."""
    return _apply("ROW", *values)


def array(*values: Value) -> Expression:
    """An array of values."""
    return _apply("ARRAY", *values)


def map_(*pairs: Value) -> Expression:
    """A map of keys and values in turn."""
    return _apply("MAP", *pairs)
