"""Function signatures: the parameters, return type and nullability of SQL functions.

Each `Function` is one row of a function table. Type checking and printing (`type_checker`,
`to_sql`) read rows and do not depend on the names of functions. `signature_dsl` holds the
helpers that rows are written with; the package `spark.compiler.functions` translates calls to
Spark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from enum import Enum
from types import EllipsisType
from typing import TYPE_CHECKING, Any, TypeAlias

from schema_core.base.lazy import dataclass
from schema_core.types import DataType

if TYPE_CHECKING:
    from schema_core.sql import syntax


class FunctionKind(Enum):
    """Whether a function is evaluated per row, over many rows, or returns a table."""

    SCALAR = "scalar"
    AGGREGATE = "aggregate"
    TABLE = "table"
    PROCESS_TABLE = "process table"
    #: over many rows, and returns a table: only `flat_aggregate` calls it
    TABLE_AGGREGATE = "table aggregate"


class Rules(Enum):
    """The typing rules of a function; Flink has two sets that differ.

    The SQL rules do not cast arguments, reject an untyped NULL, and treat a row as nullable if one
    of its fields is. The rules of the Table API, which Flink also applies to the functions it
    exposes in SQL through its bridge, cast arguments to the types of the parameters.
    """

    SQL = "SQL"
    TABLE_API = "TABLE API"


class EmptyInput(Enum):
    """The result of an aggregate on empty input."""

    VALUE = "a value, such as the 0 of COUNT"
    NULL = "NULL"
    NULL_IN_QUERY = "NULL; outside of queries Flink types the result as NOT NULL"


@dataclass(frozen=True, slots=True)
class ArgumentTypes:
    """The argument types of a call, and the argument trees for rules that depend on literals.

    The trees are `schema_core.expressions.typed.Typed`, whose calls refer to functions.
    A rule over all arguments is evaluated once per call by `memoized`, not once per argument: a
    list may have a hundred thousand items.
    """

    types: tuple[DataType, ...]
    trees: tuple[Any, ...]
    _results: dict[ArgumentsRule, DataType | None] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def memoized(self, rule: ArgumentsRule) -> DataType | None:
        """Return the result of the rule for these arguments, evaluated once."""
        if rule not in self._results:
            self._results[rule] = rule(self)
        return self._results[rule]


#: A rule over all arguments together, such as their common type; None where they do not fit.
ArgumentsRule: TypeAlias = Callable[[ArgumentTypes], DataType | None]

#: The type that the argument at an index is passed as, or None where it does not fit.
ParameterRule: TypeAlias = Callable[[ArgumentTypes, int], DataType | None]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function: its label in messages and the arguments that it accepts.

    `mismatch` describes why an argument is not accepted, where the label does not explain it.
    """

    label: str
    accepts: ParameterRule = field(compare=False)
    mismatch: Callable[[ArgumentTypes, int], str | None] | None = field(default=None, compare=False)


#: The type of a parameter of a user-defined function, None for arguments of any type, and `...` at
#: the end for any number of them.
Declared: TypeAlias = "DataType | EllipsisType | None"
#: The parameters and the result type of a user-defined function.
Signature: TypeAlias = tuple[tuple[Declared, ...], DataType]

#: The return type of a call, before the nullability rule is applied; raises SchemaError where the
#: arguments have none.
ReturnTypeRule: TypeAlias = Callable[[ArgumentTypes], DataType]

#: Whether the result is nullable, from the nullability of each argument; such as `any` and `all`.
NullabilityRule: TypeAlias = Callable[[Iterable[bool]], bool]

#: The Spark SQL of a user-defined function: a template ("upper({0})"), or a callable that is passed
#: the call and its compiled arguments. Built-in functions are translated by `spark.compiler`.
Spark: TypeAlias = "str | Callable[[Any, Sequence[str]], str] | None"

#: Rewrites a call before its arguments are typed: ``NULLIF`` becomes a ``CASE``.
Rewrite: TypeAlias = "Callable[[syntax.Call], syntax.Expression]"


@dataclass(frozen=True, slots=True)
class Function:
    """The signature of one function or operator.

    Functions compare equal by name and parameters. They are pickled by name (see `functions`), so
    that typed trees can be sent to worker processes.

    Attributes:
        parameters: The parameters of the longest overload.
        returns: The rule for the return type.
        optional: How many of the last parameters may be omitted.
        repeats: How many of the last parameters may be repeated, as a group.
        alternatives: Further overloads.
        nullability: The rule for the nullability of the result; None if `returns` decides it.
        empty: The result of an aggregate on empty input.
        aligns: Whether arguments are cast if they differ from their target in anything at all, as
            for constructors of collections.
        frames: Whether a window frame after OVER applies; ROW_NUMBER and its like have none.
        counts_rows: Whether OVER needs no ORDER BY although there is no frame.
        ranks: Whether OVER must have an ORDER BY.
        skips_nulls: Whether IGNORE NULLS may follow the call.
        bare_names: Whether identifiers among the arguments are names, not columns.
        many_rows: Whether a subquery among the arguments is a list of values, not a scalar.
        two_phase_type: Whether Flink infers the type again after it has converted the call to its
            own representation, where the NULL of an aggregate on empty input is lost.
        quoted: Whether Flink prints the name in backticks.
        path: The full name of a registered user-defined function.
        declared: The signature of a user-defined function.
        rewrite: Rewrites the call before it is typed.
        spark: The Spark SQL of a user-defined function.
        overloads: All overloads, with optional parameters omitted but not repeated.
    """

    name: str
    parameters: tuple[Parameter, ...]
    returns: ReturnTypeRule = field(compare=False)
    optional: int = 0
    repeats: int = 0
    alternatives: tuple[tuple[Parameter, ...], ...] = ()
    nullability: NullabilityRule | None = field(default=any, compare=False)
    kind: FunctionKind = FunctionKind.SCALAR
    rules: Rules = Rules.SQL
    empty: EmptyInput = EmptyInput.VALUE
    deterministic: bool = True
    aligns: bool = False
    frames: bool = True
    counts_rows: bool = False
    ranks: bool = False
    skips_nulls: bool = False
    bare_names: bool = False
    many_rows: bool = False
    two_phase_type: bool = False
    quoted: bool = False
    aliases: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    declared: Signature | None = None
    rewrite: Rewrite | None = field(default=None, compare=False)
    spark: Spark = field(default=None, compare=False)
    overloads: tuple[tuple[Parameter, ...], ...] = field(init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash((self.name, self.path))

    def __post_init__(self) -> None:
        least = len(self.parameters) - self.optional
        counts = range(len(self.parameters), least - 1, -(self.repeats or 1))
        overloads = (*(self.parameters[:count] for count in counts), *self.alternatives)
        object.__setattr__(self, "overloads", overloads)

    def expand(self, overload: tuple[Parameter, ...], count: int) -> tuple[Parameter, ...] | None:
        """Return the overload with its repeated parameters, or None if it cannot take `count`."""
        extra = count - len(overload)
        if extra == 0:
            return overload
        is_complete = overload == self.parameters or overload in self.alternatives
        if self.repeats and is_complete and extra > 0 and extra % self.repeats == 0:
            return (*overload, *overload[-self.repeats :] * (extra // self.repeats))
        return None

    def printed_path(self, written: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names that Flink prints in backticks; none for a keyword or an operator.

        Args:
            written: The path of the function in the call, if it has one.

        >>> from schema_core.expressions.functions import BUILT_IN
        >>> BUILT_IN["URL_ENCODE"][0].printed_path(("url_encode",))
        ('url_encode',)
        >>> BUILT_IN["PROCTIME"][0].printed_path(("proctime",))
        ()
        """
        if self.path:
            return self.path
        if not self.quoted:
            return ()
        is_own_name = len(written) == 1 and written[0].upper() == self.name
        return written if is_own_name else (self.name,)

    def format(self, overload: tuple[Parameter, ...]) -> str:
        """Return an overload as text, such as ``SUBSTRING(<CHARACTER>, <INTEGER>)``.

        >>> from schema_core.expressions.functions import BUILT_IN
        >>> str(BUILT_IN["REPEAT"][0])
        'REPEAT(<CHARACTER>, <INTEGER>)'
        """
        labels = [parameter.label for parameter in overload]
        is_operator = self.declared is None and not self.name.strip("$")[0].isalpha()
        if len(labels) == 2 and is_operator:
            return f"{labels[0]} {self.name} {labels[1]}"
        more = ", ..." if self.repeats and overload == self.parameters else ""
        return f"{self.name}({', '.join(labels)}{more})"

    def __str__(self) -> str:
        return self.format(self.parameters)


# --- descriptions, for the documentation and for explanations -------------------------------------

#: Name of a nullability rule -> when the result may be NULL.
_NULLABILITY = {
    "any": "if any argument is nullable",
    "all": "if all arguments are nullable",
    "never": "never",
    "always": "always",
    "first": "if the first argument is nullable",
    "last": "if the last argument is nullable",
    "but_last": "if an argument before the last is nullable",
    "None": "as the return type",
}


def describe_result(function: Function) -> str:
    """Describe the return type of a function by the first sentence of its rule's docstring.

    >>> from schema_core.expressions.functions import BUILT_IN
    >>> describe_result(BUILT_IN["CHAR_LENGTH"][0])
    'INT'
    """
    sentence = " ".join((function.returns.__doc__ or "").split("\n\n")[0].split())
    sentence = re.sub(r"^Return ", "", sentence).rstrip(".")
    starts_sentence = sentence[:1].isupper() and sentence[1:2].islower()
    if starts_sentence or sentence.startswith("A "):
        return sentence[:1].lower() + sentence[1:]
    return sentence


def describe_nullability(function: Function) -> str:
    """Describe when the result of a function may be NULL.

    >>> from schema_core.expressions.functions import BUILT_IN
    >>> describe_nullability(BUILT_IN["CHAR_LENGTH"][0])
    'if any argument is nullable'
    """
    return _NULLABILITY[getattr(function.nullability, "__name__", "None")]
