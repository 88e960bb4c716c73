"""PyFlink's class `Expression`, and the keywords of its methods.

An `Expression` holds the syntax tree of the same SQL text: ``col("a") + 1`` and ``call_sql("a +
1")`` are equivalent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from typing import (
    TYPE_CHECKING,
    NoReturn,
    Protocol,
    Self,
    TypeAlias,
    overload,
    runtime_checkable,
)

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass, regex
from schema_core.base.text import MAX_DEPTH, show
from schema_core.errors import SchemaError, similar
from schema_core.expressions.literals import PythonValue, literal
from schema_core.sql import syntax
from schema_core.sql.printer import print_expression
from schema_core.sql.syntax import Call, Interval, Name, Symbol, TypeName, size
from schema_core.sql.tokens import cursor_over
from schema_core.sql.type_name import cast_target
from schema_core.types import DataType, DataTypes

#: An operand: an expression, or a Python value that becomes a literal.
Value: TypeAlias = "Expression | SelectedColumns | PythonValue"

# --- keywords -------------------------------------------------------------------------------------


class TimeIntervalUnit(Enum):
    """Time units of EXTRACT, FLOOR and CEIL."""

    YEAR = "YEAR"
    YEAR_TO_MONTH = "YEAR TO MONTH"
    QUARTER = "QUARTER"
    MONTH = "MONTH"
    WEEK = "WEEK"
    DAY = "DAY"
    DAY_TO_HOUR = "DAY TO HOUR"
    DAY_TO_MINUTE = "DAY TO MINUTE"
    DAY_TO_SECOND = "DAY TO SECOND"
    HOUR = "HOUR"
    SECOND = "SECOND"
    HOUR_TO_MINUTE = "HOUR TO MINUTE"
    HOUR_TO_SECOND = "HOUR TO SECOND"
    MINUTE = "MINUTE"
    MINUTE_TO_SECOND = "MINUTE TO SECOND"


class TimePointUnit(Enum):
    """Time units of TIMESTAMPDIFF."""

    YEAR = "YEAR"
    MONTH = "MONTH"
    DAY = "DAY"
    HOUR = "HOUR"
    MINUTE = "MINUTE"
    SECOND = "SECOND"
    QUARTER = "QUARTER"
    WEEK = "WEEK"
    MILLISECOND = "MILLISECOND"
    MICROSECOND = "MICROSECOND"


class JsonType(Enum):
    """Kinds of JSON that IS JSON tests for."""

    VALUE = "VALUE"
    SCALAR = "SCALAR"
    ARRAY = "ARRAY"
    OBJECT = "OBJECT"


class JsonExistsOnError(Enum):
    """The result of JSON_EXISTS on an error."""

    TRUE = "TRUE"
    FALSE = "FALSE"
    UNKNOWN = "UNKNOWN"
    ERROR = "ERROR"


class JsonValueOnEmptyOrError(Enum):
    """The result of JSON_VALUE if the path finds nothing, or on an error."""

    NULL = "NULL"
    ERROR = "ERROR"
    DEFAULT = "DEFAULT"


class JsonQueryWrapper(Enum):
    """When JSON_QUERY wraps its result in an array."""

    WITHOUT_ARRAY = "WITHOUT ARRAY WRAPPER"
    CONDITIONAL_ARRAY = "WITH CONDITIONAL ARRAY WRAPPER"
    UNCONDITIONAL_ARRAY = "WITH UNCONDITIONAL ARRAY WRAPPER"


class JsonQueryOnEmptyOrError(Enum):
    """The result of JSON_QUERY if the path finds nothing, or on an error."""

    NULL = "NULL"
    EMPTY_ARRAY = "EMPTY ARRAY"
    EMPTY_OBJECT = "EMPTY OBJECT"
    ERROR = "ERROR"


class JsonOnNull(Enum):
    """How JSON constructors treat NULL."""

    NULL = "NULL ON NULL"
    ABSENT = "ABSENT ON NULL"


#: A time unit of EXTRACT, FLOOR or CEIL, or its SQL keywords.
Unit: TypeAlias = TimeIntervalUnit | str
#: The strings that are accepted in place of such a keyword.
_KEYWORDS = regex(r"[A-Za-z_]+( [A-Za-z_]+)*")


def keyword(value: Enum | str, kind: type[Enum]) -> str:
    """The SQL keywords of a member of `kind`, or a string in upper case.

    Raises:
        SchemaError: with code `invalid-argument` for another enumeration, and for other strings.

    >>> keyword(JsonOnNull.ABSENT, JsonOnNull), keyword("year", TimeIntervalUnit)
    ('ABSENT ON NULL', 'YEAR')
    """
    if isinstance(value, kind):
        return str(value.value)
    if isinstance(value, str) and _KEYWORDS.fullmatch(value):
        return value.upper()
    raise SchemaError(
        f"expected a member of {kind.__name__}, got {show(value)}", code="invalid-argument"
    )


# --- syntax trees ---------------------------------------------------------------------------------

#: Shared nodes count each time.
MAX_NODES = 100_000


@runtime_checkable
class TableOfQuery(Protocol):
    """A table of the environment, defined by a query."""

    @property
    def query(self) -> syntax.Query: ...


#: The symbol of columns among the arguments of a function, which the table expands.
COLUMNS = "$COLUMNS"


class SelectedColumns:
    """Columns of a table in the place of one expression: all of them, or those of a subclass."""

    __slots__ = ()

    def of(self, columns: list[str]) -> list[str]:
        """The names of the columns."""
        return columns


def to_tree(value: object) -> syntax.Expression:
    """The syntax tree of an expression, of columns, or of the literal for a Python value."""
    if isinstance(value, SelectedColumns):
        return Call(COLUMNS, (), inline=value)
    return value.syntax if isinstance(value, Expression) else literal(value)


def expand_columns(tree: syntax.Expression, names: list[str]) -> syntax.Expression:
    """Return an expression with the selections of columns among arguments as these columns."""

    def expand(node: syntax.Expression) -> syntax.Expression | None:
        if not isinstance(node, Call) or not any(map(_is_selection, node.arguments)):
            return None
        arguments: list[syntax.Expression] = []
        for argument in node.arguments:
            if isinstance(argument, Call) and isinstance(argument.inline, SelectedColumns):
                arguments += [syntax.Name((name,)) for name in argument.inline.of(names)]
            else:
                arguments.append(syntax.rewrite(argument, expand))
        return replace(node, arguments=tuple(arguments))

    return syntax.rewrite(tree, expand)


def _is_selection(node: object) -> bool:
    return isinstance(node, Call) and isinstance(node.inline, SelectedColumns)


#: The symbol of ``row(...)``, whose fields are ``f0``, ``f1`` and not ``EXPR$0``.
NAMED_FIELDS = "NAMED FIELDS"


def function_call(name: str, *arguments: object, path: tuple[str, ...] = ()) -> Expression:
    """The call of a function or operator, by its name in the function tables."""
    return Expression(Call(name, tuple(map(to_tree, arguments)), path))


def present(*arguments: Value) -> tuple[Value, ...]:
    """The optional arguments other than None."""
    return tuple(argument for argument in arguments if argument is not None)


def _type_argument(data_type: DataType) -> TypeName:
    """The target of a cast; only its children may be NOT NULL."""
    hint = "write DataTypes.INT(), or DataTypes.of with the SQL name of a type"
    require_instance(data_type, DataType, "data_type", hint=hint)
    return cast_target(cursor_over(data_type.nullable().as_serializable_string()))


# --- items of a list ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class AliasedExpression:
    """An expression with an alias; that of a table function has one for each column."""

    syntax: syntax.Expression
    names: tuple[str, ...]

    def alias(self, name: str, *extra_names: str) -> AliasedExpression:
        """The expression with another alias."""
        return AliasedExpression(self.syntax, (name, *extra_names))


@dataclass(frozen=True, slots=True, eq=False)
class SortedExpression:
    """A sort key, ascending or descending."""

    syntax: syntax.Expression
    descending: bool = False


# --- expressions ----------------------------------------------------------------------------------


class FunctionProperty(property):
    """A property of an expression: the call of a function over it."""

    def __init__(self, name: str, doc: str = "") -> None:
        super().__init__(lambda expression: function_call(name, expression), doc=doc or f"{name}.")

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type, /) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: type | None = None, /) -> Expression: ...
        def __get__(self, instance: object, owner: type | None = None, /) -> Self | Expression: ...


class IntervalProperty(FunctionProperty):
    """A property of an expression: an interval of as many years, days or other units."""

    def __init__(self, unit: str) -> None:
        def interval(expression: Expression) -> Expression:
            match expression.syntax:
                case syntax.Literal(kind=syntax.LiteralKind.EXACT, text=text):
                    digits = len(text.lstrip("-"))
                    return Expression(Interval(text, unit, leading=digits if digits > 2 else None))
                case tree:
                    unit_name = TypeName("INTERVAL", interval=Interval("", unit))
                    return Expression(Call("INTERVAL", (tree, unit_name)))

        property.__init__(self, interval, doc=f"An interval of {unit.lower()}s.")


class Expression:
    """A computed value: a column, a literal, or an operator or function over expressions.

    Operators build expressions, including ``==``; so ``and``, ``or`` and ``not`` cannot be used: an
    expression has no truth value. Other attributes are fields: ``col("r").x`` is
    ``col("r").get("x")``.

    >>> from schema_core.expressions import col
    >>> print((col("a") > 1) & col("name").upper_case.like("A%"))
    `a` > 1 AND UPPER(`name`) LIKE 'A%'
    """

    __slots__ = ("_text", "syntax")

    def __init__(self, tree: syntax.Expression, text: str | None = None) -> None:
        total = size(tree)  # the limits are those of the parser
        hint = "compute a part of it in a separate column"
        if total.nodes > MAX_NODES:
            problem = f"an expression has at most {MAX_NODES:,} nodes"
            raise SchemaError(problem, code="limit-exceeded", hint=hint)
        if total.levels > MAX_DEPTH:
            problem = f"nested more than {MAX_DEPTH} levels deep"
            raise SchemaError(problem, code="limit-exceeded", hint=hint)
        self.syntax: syntax.Expression = tree
        self._text = text

    def __str__(self) -> str:
        """The expression in SQL, as it was written."""
        return print_expression(self.syntax) if self._text is None else self._text

    def __repr__(self) -> str:
        return f"<Expression {self}>"

    def __bool__(self) -> bool:
        raise TypeError("an expression has no truth value: use & | ~ for and, or, not")

    def __iter__(self) -> Iterator[Expression]:
        raise TypeError("an expression is not iterable: access elements by position, as in a[1]")

    def __hash__(self) -> int:
        return object.__hash__(self)

    if not TYPE_CHECKING:  # typed code accesses fields by `get`, so that misspelt methods are found

        def __getattr__(self, name: str) -> Expression:
            if name.startswith("__"):
                raise AttributeError(name)
            return self.get(name)

        def __call__(self, *_: object, **__: object) -> NoReturn:
            """Reject the call of a field, which is a misspelt method."""
            name = self.syntax.parts[-1] if isinstance(self.syntax, Name) else str(self)
            methods = [name for name in dir(Expression) if not name.startswith("_")]
            raise SchemaError(
                f"expressions have no method {name!r}",
                code="invalid-argument",
                hint=similar(name, methods),
            )

    # --- operators --------------------------------------------------------------------------------

    def __add__(self, other: Value) -> Expression:
        return function_call("+", self, other)

    def __radd__(self, other: Value) -> Expression:
        return function_call("+", other, self)

    def __sub__(self, other: Value) -> Expression:
        return function_call("-", self, other)

    def __rsub__(self, other: Value) -> Expression:
        return function_call("-", other, self)

    def __mul__(self, other: Value) -> Expression:
        return function_call("*", self, other)

    def __rmul__(self, other: Value) -> Expression:
        return function_call("*", other, self)

    def __truediv__(self, other: Value) -> Expression:
        return function_call("/", self, other)

    def __rtruediv__(self, other: Value) -> Expression:
        return function_call("/", other, self)

    def __mod__(self, other: Value) -> Expression:
        return function_call("%", self, other)

    def __rmod__(self, other: Value) -> Expression:
        return function_call("%", other, self)

    def __pow__(self, other: Value) -> Expression:
        return function_call("POWER", self, other)

    def __rpow__(self, other: Value) -> Expression:
        return function_call("POWER", other, self)

    def __and__(self, other: Value) -> Expression:
        return function_call("AND", self, other)

    def __rand__(self, other: Value) -> Expression:
        return function_call("AND", other, self)

    def __or__(self, other: Value) -> Expression:
        return function_call("OR", self, other)

    def __ror__(self, other: Value) -> Expression:
        return function_call("OR", other, self)

    def __lt__(self, other: Value) -> Expression:
        return function_call("<", self, other)

    def __le__(self, other: Value) -> Expression:
        return function_call("<=", self, other)

    def __gt__(self, other: Value) -> Expression:
        return function_call(">", self, other)

    def __ge__(self, other: Value) -> Expression:
        return function_call(">=", self, other)

    def __getitem__(self, index: Value) -> Expression:
        return function_call("[]", self, index)

    def __neg__(self) -> Expression:
        return function_call("-x", self)

    def __abs__(self) -> Expression:
        return function_call("ABS", self)

    def __invert__(self) -> Expression:
        """TRUE for NULL, as in PyFlink and unlike NOT of SQL (`expressions.not_`)."""
        return function_call("IS NOT TRUE", self)

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return function_call("=", self, other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return function_call("<>", self, other)

    # --- fields, elements, casts ------------------------------------------------------------------

    def get(self, name_or_index: str | int) -> Expression:
        """A field by its name, or by its position from 0."""
        if isinstance(name_or_index, int):
            return function_call("[]", self, name_or_index + 1)
        name = require_instance(name_or_index, str, "the name of a field")
        if isinstance(self.syntax, Name):
            return Expression(Name((*self.syntax.parts, name)))
        return Expression(Call(".", (self.syntax, Name((name,)))))

    def at(self, index: Value) -> Expression:
        """An element of an array by position, counted from 1, or of a map by key."""
        return function_call("[]", self, index)

    def cast(self, data_type: DataType) -> Expression:
        """CAST: the job fails if a value cannot be cast."""
        return Expression(Call("CAST", (self.syntax, _type_argument(data_type))))

    def try_cast(self, data_type: DataType) -> Expression:
        """TRY_CAST: NULL if the value cannot be cast."""
        return Expression(Call("TRY_CAST", (self.syntax, _type_argument(data_type))))

    @property
    def to_date(self) -> Expression:
        """CAST to DATE."""
        return self.cast(DataTypes.DATE())

    @property
    def to_time(self) -> Expression:
        """CAST to TIME."""
        return self.cast(DataTypes.TIME())

    @property
    def to_timestamp(self) -> Expression:
        """CAST to TIMESTAMP(3)."""
        return self.cast(DataTypes.TIMESTAMP(3))

    # --- functions with a grammar of their own ----------------------------------------------------

    def between(self, lower_bound: Value, upper_bound: Value) -> Expression:
        """BETWEEN, both bounds included."""
        return self._between("BETWEEN", lower_bound, upper_bound)

    def not_between(self, lower_bound: Value, upper_bound: Value) -> Expression:
        """NOT BETWEEN."""
        return self._between("NOT BETWEEN", lower_bound, upper_bound)

    def _between(self, name: str, *bounds: Value) -> Expression:
        operands = (self.syntax, *map(to_tree, bounds))
        return Expression(Call(name, operands, symbol="ASYMMETRIC"))

    def in_(
        self, first_element_or_table: Value | TableOfQuery, *remaining_elements: Value
    ) -> Expression:
        """Whether the value is one of the elements, or in a table of one column.

        Raises:
            SchemaError: with code `invalid-argument` for elements after a table.
        """
        if not isinstance(first_element_or_table, TableOfQuery):
            return function_call("IN", self, first_element_or_table, *remaining_elements)
        if remaining_elements:
            count = 1 + len(remaining_elements)
            problem = f"in_ accepts a single table, got {count} arguments"
            raise SchemaError(problem, code="invalid-argument")
        rows = syntax.Subquery(first_element_or_table.query)
        return Expression(Call("IN", (self.syntax, rows)))

    def then(self, if_true: Value, if_false: Value) -> Expression:
        """The first value if this condition is true, else the second."""
        return function_call("CASE", self, if_true, if_false)

    def trim(self, character: Value = None) -> Expression:
        """The string without blanks, or these characters, on both sides."""
        return self._trim("BOTH", character)

    def trim_leading(self, character: Value = None) -> Expression:
        """As `trim`, at the start."""
        return self._trim("LEADING", character)

    def trim_trailing(self, character: Value = None) -> Expression:
        """As `trim`, at the end."""
        return self._trim("TRAILING", character)

    def _trim(self, side: str, character: Value) -> Expression:
        characters = to_tree(" " if character is None else character)
        return Expression(Call("TRIM", (Symbol(side), characters, self.syntax)))

    def extract(self, time_interval_unit: Unit) -> Expression:
        """A field of a datetime or interval.

        >>> from schema_core.expressions import col
        >>> print(col("ts").extract(TimeIntervalUnit.YEAR))
        EXTRACT(YEAR FROM `ts`)
        """
        unit = Symbol(keyword(time_interval_unit, TimeIntervalUnit))
        return Expression(Call("EXTRACT", (unit, self.syntax)))

    def floor(self, time_interval_unit: Unit | None = None) -> Expression:
        """The value rounded down, possibly to a time unit."""
        return self._round("FLOOR", time_interval_unit)

    def ceil(self, time_interval_unit: Unit | None = None) -> Expression:
        """The value rounded up, possibly to a time unit."""
        return self._round("CEIL", time_interval_unit)

    def _round(self, name: str, unit: Unit | None) -> Expression:
        units = () if unit is None else (Symbol(keyword(unit, TimeIntervalUnit)),)
        return Expression(Call(name, (self.syntax, *units)))

    def truncate(self, n: Value = 0) -> Expression:
        """The number truncated to `n` decimal places."""
        return function_call("TRUNCATE", self, n)

    def log(self, base: Value = None) -> Expression:
        """The logarithm to a base, by default the natural one."""
        return function_call("LOG", *present(base), self)

    def list_agg(self, separator: Value = None) -> Expression:
        """LISTAGG: the strings of all rows, with a separator between them."""
        return function_call("LISTAGG", self, "," if separator is None else separator)

    # --- JSON -------------------------------------------------------------------------------------

    def is_json(self, json_type: JsonType | None = None) -> Expression:
        """Whether the string is JSON, possibly of one kind.

        >>> from schema_core.expressions import col
        >>> print(col("a").is_json(JsonType.ARRAY))
        `a` IS JSON ARRAY
        """
        kind = keyword(JsonType.VALUE if json_type is None else json_type, JsonType)
        return function_call(f"IS JSON {kind}", self)

    def json_exists(self, path: str, on_error: JsonExistsOnError | None = None) -> Expression:
        """Whether the path finds a value."""
        arguments = [self.syntax, literal(path)]
        if on_error is not None:
            arguments.append(Symbol(f"{keyword(on_error, JsonExistsOnError)} ON ERROR"))
        return Expression(Call("JSON_EXISTS", tuple(arguments)))

    def json_value(
        self,
        path: str,
        returning_type: DataType | None = None,
        on_empty: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_empty: Value = None,
        on_error: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_error: Value = None,
    ) -> Expression:
        """The scalar that the path finds, by default as STRING.

        >>> from schema_core.expressions import col
        >>> print(col("a").json_value("$.b", DataTypes.INT()))
        JSON_VALUE(`a`, '$.b' RETURNING INTEGER NULL ON EMPTY NULL ON ERROR)
        """
        arguments: list[syntax.Expression] = [self.syntax, literal(path)]
        if returning_type is not None:
            arguments.append(_type_argument(returning_type))
        arguments.append(_json_value_behavior("EMPTY", on_empty, default_on_empty))
        arguments.append(_json_value_behavior("ERROR", on_error, default_on_error))
        return Expression(Call("JSON_VALUE", tuple(arguments)))

    def json_query(
        self,
        path: str,
        wrapping_behavior: JsonQueryWrapper = JsonQueryWrapper.WITHOUT_ARRAY,
        on_empty: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
        on_error: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
    ) -> Expression:
        """The JSON that the path finds, as a string."""
        behavior = (
            Symbol(keyword(wrapping_behavior, JsonQueryWrapper)),
            Symbol(f"{keyword(on_empty, JsonQueryOnEmptyOrError)} ON EMPTY"),
            Symbol(f"{keyword(on_error, JsonQueryOnEmptyOrError)} ON ERROR"),
        )
        return Expression(Call("JSON_QUERY", (self.syntax, literal(path), *behavior)))

    # --- intervals --------------------------------------------------------------------------------

    year = years = IntervalProperty("YEAR")
    quarter = quarters = IntervalProperty("QUARTER")
    month = months = IntervalProperty("MONTH")
    week = weeks = IntervalProperty("WEEK")
    day = days = IntervalProperty("DAY")
    hour = hours = IntervalProperty("HOUR")
    minute = minutes = IntervalProperty("MINUTE")
    second = seconds = IntervalProperty("SECOND")

    @property
    def milli(self) -> Expression:
        """As `millis`."""
        return self.millis

    @property
    def millis(self) -> Expression:
        """An interval of milliseconds; requires an integer literal."""
        match self.syntax:
            case syntax.Literal(kind=syntax.LiteralKind.EXACT, text=text) if text.isdecimal():
                seconds, millis = divmod(int(text), 1000)
                digits = len(str(seconds))
                leading = digits if digits > 2 else None
                return Expression(Interval(f"{seconds}.{millis:03}", "SECOND", leading=leading))
        raise SchemaError(
            f"milliseconds must be an integer literal, got {self}",
            code="invalid-argument",
            hint="write lit(5).millis",
        )

    # --- aggregate calls, arguments, items of a list ----------------------------------------------

    @property
    def distinct(self) -> Expression:
        """The aggregate over distinct values only."""
        return Expression(replace(self._aggregate("DISTINCT"), symbol="DISTINCT"))

    def over(self, alias: str | Expression) -> Expression:
        """The call over a window that the query defines.

        >>> from schema_core.expressions import col
        >>> print(col("a").sum.over("w"))
        SUM(`a`) OVER `w`
        """
        if isinstance(alias, Expression) and isinstance(alias.syntax, Name):
            alias = alias.syntax.parts[-1]
        name = require_instance(alias, str, "the name of a window")
        window = syntax.Window(str(name), is_reference=True)
        return Expression(replace(self._aggregate("OVER"), over=window))

    def _aggregate(self, clause: str) -> Call:
        if isinstance(self.syntax, Call):
            return self.syntax
        raise SchemaError(
            f"{clause} requires the call of an aggregate, got {self}", code="invalid-function-call"
        )

    def as_argument(self, name: str) -> Expression:
        """A named argument of a function."""
        require_instance(name, str, "the name of an argument")
        return Expression(syntax.Named(name, self.syntax))

    def alias(self, name: str, *extra_names: str) -> AliasedExpression:
        """The expression with an alias; a table function has one for each column.

        >>> from schema_core.expressions import col
        >>> (col("a") + 1).alias("b").names
        ('b',)
        """
        return AliasedExpression(self.syntax, (name, *extra_names))

    @property
    def asc(self) -> SortedExpression:
        """The ascending sort key."""
        return SortedExpression(self.syntax)

    @property
    def desc(self) -> SortedExpression:
        """The descending sort key."""
        return SortedExpression(self.syntax, descending=True)

    # --- what only methods of `Table` take --------------------------------------------------------

    flatten = FunctionProperty("$FLATTEN", "The fields of a row, each a column of `Table.select`.")
    start = FunctionProperty("$START", "The start of a window, after `Table.window`.")
    end = FunctionProperty("$END", "The end of a window, excluded; after `Table.window`.")
    rowtime = FunctionProperty(
        "$ROWTIME", "The last millisecond of a window, a time attribute; after `Table.window`."
    )
    proctime = FunctionProperty(
        "$PROCTIME", "The processing time of a window, after `Table.window`."
    )

    # --- conditions -------------------------------------------------------------------------------

    is_null = FunctionProperty("IS NULL")
    is_not_null = FunctionProperty("IS NOT NULL")
    is_true = FunctionProperty("IS TRUE", "IS TRUE, never NULL.")
    is_not_true = FunctionProperty("IS NOT TRUE", "IS NOT TRUE: false or NULL.")
    is_false = FunctionProperty("IS FALSE", "IS FALSE, never NULL.")
    is_not_false = FunctionProperty("IS NOT FALSE", "IS NOT FALSE: true or NULL.")

    def if_null(self, null_replacement: Value) -> Expression:
        """The value, or the replacement for NULL."""
        return function_call("IFNULL", self, null_replacement)

    def like(self, pattern: Value = None, escape: Value = None) -> Expression:
        """Whether the string matches a pattern of LIKE."""
        return function_call("LIKE", self, *present(pattern, escape))

    def similar(self, pattern: Value = None) -> Expression:
        """Whether the string matches SQL's regular expression."""
        return function_call("SIMILAR TO", self, *present(pattern))

    # --- numbers ----------------------------------------------------------------------------------

    abs = FunctionProperty("ABS")
    sign = FunctionProperty("SIGN", "SIGN: -1, 0 or 1.")
    exp = FunctionProperty("EXP")
    ln = FunctionProperty("LN")
    log2 = FunctionProperty("LOG2")
    log10 = FunctionProperty("LOG10")
    sqrt = FunctionProperty("SQRT")
    sin = FunctionProperty("SIN")
    cos = FunctionProperty("COS")
    tan = FunctionProperty("TAN")
    cot = FunctionProperty("COT")
    asin = FunctionProperty("ASIN")
    acos = FunctionProperty("ACOS")
    atan = FunctionProperty("ATAN")
    sinh = FunctionProperty("SINH")
    cosh = FunctionProperty("COSH")
    tanh = FunctionProperty("TANH")
    degrees = FunctionProperty("DEGREES")
    radians = FunctionProperty("RADIANS")
    bin = FunctionProperty("BIN")
    hex = FunctionProperty("HEX", "HEX, of an integer or a string.")
    chr = FunctionProperty("CHR")

    def round(self, places: Value) -> Expression:
        """The number rounded to decimal places."""
        return function_call("ROUND", self, places)

    # --- strings ----------------------------------------------------------------------------------

    upper_case = FunctionProperty("UPPER")
    lower_case = FunctionProperty("LOWER")
    init_cap = FunctionProperty("INITCAP")
    char_length = FunctionProperty("CHAR_LENGTH", "CHAR_LENGTH, in characters.")
    from_base64 = FunctionProperty("FROM_BASE64")
    to_base64 = FunctionProperty("TO_BASE64")
    ascii = FunctionProperty("ASCII", "ASCII, of the first character.")
    reverse = FunctionProperty("REVERSE")
    unhex = FunctionProperty("UNHEX")

    def concat(self, other: Value) -> Expression:
        """The concatenation with another string."""
        return function_call("CONCAT", self, other)

    def replace(self, search: Value = None, replacement: Value = None) -> Expression:
        """The string with all occurrences of another replaced."""
        return function_call("REPLACE", self, *present(search, replacement))

    def translate(self, from_str: Value, to_str: Value) -> Expression:
        """The string with characters replaced one by one."""
        return function_call("TRANSLATE", self, from_str, to_str)

    def substring(self, begin_index: Value, length: Value = None) -> Expression:
        """The substring from a position, counted from 1."""
        return function_call("SUBSTRING", self, begin_index, *present(length))

    def substr(self, begin_index: Value, length: Value = None) -> Expression:
        """As `substring`."""
        return function_call("SUBSTR", self, begin_index, *present(length))

    def overlay(self, new_string: Value, starting: Value, length: Value = None) -> Expression:
        """The string with a part replaced."""
        return function_call("OVERLAY", self, new_string, starting, *present(length))

    def left(self, length: Value) -> Expression:
        """The first characters."""
        return function_call("LEFT", self, length)

    def right(self, length: Value) -> Expression:
        """The last characters."""
        return function_call("RIGHT", self, length)

    def repeat(self, n: Value) -> Expression:
        """The string repeated `n` times."""
        return function_call("REPEAT", self, n)

    def lpad(self, length: Value, pad: Value) -> Expression:
        """The string padded on the left."""
        return function_call("LPAD", self, length, pad)

    def rpad(self, length: Value, pad: Value) -> Expression:
        """The string padded on the right."""
        return function_call("RPAD", self, length, pad)

    def instr(self, s: Value) -> Expression:
        """The position of another string, or 0."""
        return function_call("INSTR", self, s)

    def locate(self, s: Value, pos: Value = None) -> Expression:
        """The position of this string in another, or 0."""
        return function_call("LOCATE", self, s, *present(pos))

    def position(self, haystack: Value = None) -> Expression:
        """As `locate`."""
        return function_call("POSITION", self, *present(haystack))

    def ltrim(self, trim_str: Value = None) -> Expression:
        """As `trim_leading`, by LTRIM."""
        return function_call("LTRIM", self, *present(trim_str))

    def rtrim(self, trim_str: Value = None) -> Expression:
        """As `trim_trailing`, by RTRIM."""
        return function_call("RTRIM", self, *present(trim_str))

    def btrim(self, trim_str: Value = None) -> Expression:
        """As `trim`, by BTRIM."""
        return function_call("BTRIM", self, *present(trim_str))

    def starts_with(self, start_expr: Value) -> Expression:
        """STARTSWITH."""
        return function_call("STARTSWITH", self, start_expr)

    def ends_with(self, end_expr: Value) -> Expression:
        """ENDSWITH."""
        return function_call("ENDSWITH", self, end_expr)

    def encode(self, charset: Value) -> Expression:
        """The string as bytes of a character set."""
        return function_call("ENCODE", self, charset)

    def decode(self, charset: Value) -> Expression:
        """The bytes of a character set as a string."""
        return function_call("DECODE", self, charset)

    def printf(self, *obj: Value) -> Expression:
        """The arguments formatted by this printf-style string."""
        return function_call("PRINTF", self, *obj)

    def split(self, delimiter: Value) -> Expression:
        """The array of parts between delimiters."""
        return function_call("SPLIT", self, delimiter)

    def split_index(self, separator: Value, index: Value) -> Expression:
        """The part at an index from 0."""
        return function_call("SPLIT_INDEX", self, separator, index)

    def str_to_map(
        self, list_delimiter: Value = None, key_value_delimiter: Value = None
    ) -> Expression:
        """The map of the string's key-value pairs."""
        return function_call("STR_TO_MAP", self, *present(list_delimiter, key_value_delimiter))

    def elt(self, expr: Value, *exprs: Value) -> Expression:
        """The argument at this position."""
        return function_call("ELT", self, expr, *exprs)

    def parse_url(self, part_to_extract: Value, key: Value = None) -> Expression:
        """A part of the URL."""
        return function_call("PARSE_URL", self, part_to_extract, *present(key))

    def url_encode(self) -> Expression:
        """URL_ENCODE."""
        return function_call("URL_ENCODE", self)

    def url_decode(self) -> Expression:
        """URL_DECODE."""
        return function_call("URL_DECODE", self)

    def inet_aton(self) -> Expression:
        """INET_ATON: the integer of an IPv4 address."""
        return function_call("INET_ATON", self)

    def inet_ntoa(self) -> Expression:
        """INET_NTOA: the IPv4 address of an integer."""
        return function_call("INET_NTOA", self)

    def regexp(self, regex: Value) -> Expression:
        """Whether the regular expression matches a part."""
        return function_call("REGEXP", self, regex)

    def regexp_replace(self, regex: Value, replacement: Value) -> Expression:
        """The string with all matches replaced."""
        return function_call("REGEXP_REPLACE", self, regex, replacement)

    def regexp_extract(self, regex: Value, extract_index: Value = None) -> Expression:
        """A group of the first match."""
        return function_call("REGEXP_EXTRACT", self, regex, *present(extract_index))

    def regexp_extract_all(self, regex: Value, extract_index: Value = None) -> Expression:
        """A group of each match."""
        return function_call("REGEXP_EXTRACT_ALL", self, regex, *present(extract_index))

    def regexp_count(self, regex: Value) -> Expression:
        """The number of matches."""
        return function_call("REGEXP_COUNT", self, regex)

    def regexp_instr(self, regex: Value) -> Expression:
        """The position of the first match, or 0."""
        return function_call("REGEXP_INSTR", self, regex)

    def regexp_substr(self, regex: Value) -> Expression:
        """The first match."""
        return function_call("REGEXP_SUBSTR", self, regex)

    md5 = FunctionProperty("MD5")
    sha1 = FunctionProperty("SHA1")
    sha224 = FunctionProperty("SHA224")
    sha256 = FunctionProperty("SHA256")
    sha384 = FunctionProperty("SHA384")
    sha512 = FunctionProperty("SHA512")

    def sha2(self, hash_length: Value) -> Expression:
        """SHA2, of 224, 256, 384 or 512 bits."""
        return function_call("SHA2", self, hash_length)

    def json_quote(self) -> Expression:
        """JSON_QUOTE."""
        return function_call("JSON_QUOTE", self)

    def json_unquote(self) -> Expression:
        """JSON_UNQUOTE."""
        return function_call("JSON_UNQUOTE", self)

    # --- collections ------------------------------------------------------------------------------

    cardinality = FunctionProperty("CARDINALITY", "The number of elements.")
    element = FunctionProperty("ELEMENT", "The only element of the collection.")
    map_keys = FunctionProperty("MAP_KEYS", "The array of keys.")
    map_values = FunctionProperty("MAP_VALUES", "The array of values.")
    map_entries = FunctionProperty("MAP_ENTRIES", "The array of entries, as rows.")

    def map_union(self, *maps: Value) -> Expression:
        """MAP_UNION."""
        return function_call("MAP_UNION", self, *maps)

    def array_append(self, addition: Value) -> Expression:
        """The array with an element at its end."""
        return function_call("ARRAY_APPEND", self, addition)

    def array_prepend(self, addition: Value) -> Expression:
        """The array with an element at its start."""
        return function_call("ARRAY_PREPEND", self, addition)

    def array_contains(self, needle: Value) -> Expression:
        """ARRAY_CONTAINS."""
        return function_call("ARRAY_CONTAINS", self, needle)

    def array_position(self, needle: Value) -> Expression:
        """The position of an element, counted from 1, or 0."""
        return function_call("ARRAY_POSITION", self, needle)

    def array_remove(self, needle: Value) -> Expression:
        """The array without an element."""
        return function_call("ARRAY_REMOVE", self, needle)

    def array_distinct(self) -> Expression:
        """ARRAY_DISTINCT."""
        return function_call("ARRAY_DISTINCT", self)

    def array_reverse(self) -> Expression:
        """ARRAY_REVERSE."""
        return function_call("ARRAY_REVERSE", self)

    def array_slice(self, start_offset: Value, end_offset: Value = None) -> Expression:
        """The elements between two positions, both included."""
        return function_call("ARRAY_SLICE", self, start_offset, *present(end_offset))

    def array_sort(self, ascending_order: Value = None, null_first: Value = None) -> Expression:
        """ARRAY_SORT."""
        return function_call("ARRAY_SORT", self, *present(ascending_order, null_first))

    def array_join(self, delimiter: Value, null_replacement: Value = None) -> Expression:
        """The elements joined by a delimiter."""
        return function_call("ARRAY_JOIN", self, delimiter, *present(null_replacement))

    def array_max(self) -> Expression:
        """ARRAY_MAX."""
        return function_call("ARRAY_MAX", self)

    def array_min(self) -> Expression:
        """ARRAY_MIN."""
        return function_call("ARRAY_MIN", self)

    def array_union(self, array: Value) -> Expression:
        """The union, without duplicates."""
        return function_call("ARRAY_UNION", self, array)

    def array_concat(self, *arrays: Value) -> Expression:
        """The concatenation of arrays."""
        return function_call("ARRAY_CONCAT", self, *arrays)

    def array_except(self, array: Value) -> Expression:
        """The elements that another array lacks."""
        return function_call("ARRAY_EXCEPT", self, array)

    def array_intersect(self, array: Value) -> Expression:
        """The elements that another array has, too."""
        return function_call("ARRAY_INTERSECT", self, array)

    def bitmap_build(self) -> Expression:
        """The bitmap of an array of integers."""
        return function_call("BITMAP_BUILD", self)

    def bitmap_cardinality(self) -> Expression:
        """The number of integers."""
        return function_call("BITMAP_CARDINALITY", self)

    def bitmap_and(self, bitmap2: Value) -> Expression:
        """The intersection."""
        return function_call("BITMAP_AND", self, bitmap2)

    def bitmap_or(self, bitmap2: Value) -> Expression:
        """The union."""
        return function_call("BITMAP_OR", self, bitmap2)

    def bitmap_xor(self, bitmap2: Value) -> Expression:
        """The symmetric difference."""
        return function_call("BITMAP_XOR", self, bitmap2)

    def bitmap_andnot(self, bitmap2: Value) -> Expression:
        """The difference."""
        return function_call("BITMAP_ANDNOT", self, bitmap2)

    def bitmap_to_array(self) -> Expression:
        """The array of integers."""
        return function_call("BITMAP_TO_ARRAY", self)

    def bitmap_to_bytes(self) -> Expression:
        """The serialized bitmap."""
        return function_call("BITMAP_TO_BYTES", self)

    def bitmap_to_string(self) -> Expression:
        """The bitmap as a string."""
        return function_call("BITMAP_TO_STRING", self)

    def bitmap_from_bytes(self) -> Expression:
        """The deserialized bitmap."""
        return function_call("BITMAP_FROM_BYTES", self)

    def object_update(self, *kv: Value) -> Expression:
        """The structured object with new values of fields: names and values in turn."""
        return function_call("OBJECT_UPDATE", self, *kv)

    # --- aggregates -------------------------------------------------------------------------------

    sum = FunctionProperty("SUM", "The sum, NULL on empty input.")
    sum0 = FunctionProperty("$SUM0", "The sum, 0 on empty input.")
    avg = FunctionProperty("AVG")
    min = FunctionProperty("MIN")
    max = FunctionProperty("MAX")
    count = FunctionProperty("COUNT", "The number of values that are not NULL.")
    first_value = FunctionProperty("FIRST_VALUE")
    last_value = FunctionProperty("LAST_VALUE")
    stddev_pop = FunctionProperty("STDDEV_POP")
    stddev_samp = FunctionProperty("STDDEV_SAMP")
    var_pop = FunctionProperty("VAR_POP")
    var_samp = FunctionProperty("VAR_SAMP")
    collect = FunctionProperty("COLLECT", "COLLECT, to a multiset.")
    array_agg = FunctionProperty("ARRAY_AGG")

    def percentile(self, percentage: Value, frequency: Value = None) -> Expression:
        """The percentile for a fraction or an array of fractions."""
        return function_call("PERCENTILE", self, percentage, *present(frequency))

    def bitmap_build_agg(self) -> Expression:
        """The bitmap of all integers."""
        return function_call("BITMAP_BUILD_AGG", self)

    def bitmap_build_cardinality_agg(self) -> Expression:
        """The number of distinct integers."""
        return function_call("BITMAP_BUILD_CARDINALITY_AGG", self)

    def bitmap_and_agg(self) -> Expression:
        """The intersection of all bitmaps."""
        return function_call("BITMAP_AND_AGG", self)

    def bitmap_and_cardinality_agg(self) -> Expression:
        """The cardinality of `bitmap_and_agg`."""
        return function_call("BITMAP_AND_CARDINALITY_AGG", self)

    def bitmap_or_agg(self) -> Expression:
        """The union of all bitmaps."""
        return function_call("BITMAP_OR_AGG", self)

    def bitmap_or_cardinality_agg(self) -> Expression:
        """The cardinality of `bitmap_or_agg`."""
        return function_call("BITMAP_OR_CARDINALITY_AGG", self)

    def bitmap_xor_agg(self) -> Expression:
        """The symmetric difference of all bitmaps."""
        return function_call("BITMAP_XOR_AGG", self)

    def bitmap_xor_cardinality_agg(self) -> Expression:
        """The cardinality of `bitmap_xor_agg`."""
        return function_call("BITMAP_XOR_CARDINALITY_AGG", self)


def _json_value_behavior(
    event: str, behavior: JsonValueOnEmptyOrError, default: Value
) -> syntax.Expression:
    if (word := keyword(behavior, JsonValueOnEmptyOrError)) != "DEFAULT":
        return Symbol(f"{word} ON {event}")
    return function_call(f"DEFAULT ON {event}", default).syntax
