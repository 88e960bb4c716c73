"""What a row of the function tables says about a function.

A row tells what a function takes, what it gives, when its result may be NULL and how Flink prints
it. The algorithms that read rows (`infer`, `to_sql`) know no function by name. The words in which
rows are written are in `vocabulary`; how Spark computes a function is in `forms`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pickle import PicklingError
from typing import TYPE_CHECKING, TypeAlias

from schema_core.types import DataType

if TYPE_CHECKING:
    from schema_core.expressions.typed import FunctionCall, Typed
    from schema_core.sql import syntax


class Kind(Enum):
    """What a function does with rows."""

    SCALAR = "scalar"
    AGGREGATE = "aggregate"
    TABLE = "table"
    PROCESS_TABLE = "process table"


class Rules(Enum):
    """Whose rules type a call; Flink has two sets that disagree.

    SQL takes arguments as they are, refuses an untyped NULL and looks into rows for what may be
    NULL. The Table API, by whose rules Flink also types the functions it brings over into SQL,
    casts arguments to what the function asks for.
    """

    SQL = "SQL"
    TABLE_API = "TABLE API"


class Empty(Enum):
    """What an aggregate makes of no rows at all."""

    VALUE = "a value, such as the 0 of COUNT"
    NULL = "NULL"
    NULL_IN_QUERY = "NULL, which Flink forgets for an expression outside of any query"


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a call: their types, and the trees for rules that look at literals.

    What a rule finds out about all arguments together it finds out `once`, not for each of them:
    a list may have a hundred thousand.
    """

    types: tuple[DataType, ...]
    trees: tuple[Typed, ...]
    _found: dict[Finds, DataType | None] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def once(self, rule: Finds) -> DataType | None:
        """What the rule finds for these arguments."""
        if rule not in self._found:
            self._found[rule] = rule(self)
        return self._found[rule]


#: What a rule finds out about all arguments together.
Finds: TypeAlias = Callable[[Given], DataType | None]

#: The type under which an argument goes in, or None where it does not fit.
Accepts: TypeAlias = Callable[[Given, int], DataType | None]


@dataclass(frozen=True, slots=True)
class Arg:
    """What may stand in one place: a name for messages, and the type an argument goes in under."""

    shown: str
    accepts: Accepts = field(compare=False)


#: The types of arguments, and of the result.
Signature: TypeAlias = tuple[tuple[DataType, ...], DataType]

#: What the result is, apart from the row's `nulls`; refuses by a SchemaError.
Gives: TypeAlias = Callable[[Given], DataType]

#: When the result may be NULL, from which arguments may be: `any` and `all` are two such rules.
Nulls: TypeAlias = Callable[[Iterable[bool]], bool]

#: How Spark computes a user's function: a template ("upper({0})"), or a function of the call and
#: its rendered arguments. Built-in ones have their words in `forms`.
Spark: TypeAlias = "str | Callable[[FunctionCall, Sequence[str]], str] | None"

#: Another way to write a call, taken before anything is typed (``NULLIF`` is a ``CASE``).
Rewrite: TypeAlias = "Callable[[syntax.Call], syntax.Expression]"


@dataclass(frozen=True, slots=True)
class Function:
    """One function or operator.

    Of the arguments it `takes`, the last `optional` ones may be left out and the last `repeats`
    ones may come again, together; `also` holds further forms. `nulls` is None where `gives` says
    all. `aligns` marks constructors, whose arguments are cast where they differ in anything at all.
    Behind OVER, a function without `frames` looks at the order of rows alone, unless it only
    `counts_rows`; one that `ranks` has no meaning without an order. `skips_nulls` says that IGNORE
    NULLS may stand behind it. `bare_names` says that names among the arguments are no columns,
    `many_rows` that a query among them gives a list of values. `late` marks what Flink types anew
    when it has turned the call into its own form, where it no longer knows the NULL that an
    aggregate makes of no rows. `quoted` says that Flink prints the name in back-ticks, `path` is
    the full name of a function that a user registered, `declared` its signature.

    Rows are equal that are called alike; they are pickled by their names, so that what holds them
    can be sent to workers.
    """

    name: str
    takes: tuple[Arg, ...]
    gives: Gives = field(compare=False)
    optional: int = 0
    repeats: int = 0
    also: tuple[tuple[Arg, ...], ...] = ()
    nulls: Nulls | None = field(default=any, compare=False)
    kind: Kind = Kind.SCALAR
    rules: Rules = Rules.SQL
    empty: Empty = Empty.VALUE
    deterministic: bool = True
    aligns: bool = False
    frames: bool = True
    counts_rows: bool = False
    ranks: bool = False
    skips_nulls: bool = False
    bare_names: bool = False
    many_rows: bool = False
    late: bool = False
    quoted: bool = False
    aliases: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    declared: Signature | None = None
    rewrite: Rewrite | None = field(default=None, compare=False)
    spark: Spark = field(default=None, compare=False)
    #: Every list of arguments it can be called with; repetition is not written out.
    forms: tuple[tuple[Arg, ...], ...] = field(init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash((self.name, self.path))

    def __post_init__(self) -> None:
        least = len(self.takes) - self.optional
        counts = range(len(self.takes), least - 1, -(self.repeats or 1))
        forms = (*(self.takes[:count] for count in counts), *self.also)
        object.__setattr__(self, "forms", forms)

    def form(self, form: tuple[Arg, ...], count: int) -> tuple[Arg, ...] | None:
        """The form for so many arguments, repetition written out, or None where it has others."""
        extra = count - len(form)
        if extra == 0:
            return form
        whole = form == self.takes or form in self.also
        if self.repeats and whole and extra > 0 and extra % self.repeats == 0:
            return (*form, *form[-self.repeats :] * (extra // self.repeats))
        return None

    def shown(self, form: tuple[Arg, ...]) -> str:
        """How a form is called: ``SUBSTRING(<CHARACTER>, <INTEGER>)``, ``<NUMERIC> + <NUMERIC>``.

        >>> from schema_core.expressions.functions import BUILT_IN
        >>> str(BUILT_IN["REPEAT"][0])
        'REPEAT(<CHARACTER>, <INTEGER>)'
        """
        words = [one.shown for one in form]
        if len(words) == 2 and not self.name.strip("$")[0].isalpha():
            return f"{words[0]} {self.name} {words[1]}"
        more = ", ..." if self.repeats and form == self.takes else ""
        return f"{self.name}({', '.join(words)}{more})"

    def __str__(self) -> str:
        return self.shown(self.takes)

    def __reduce__(self) -> tuple[Callable[..., Function], tuple[object, ...]]:
        from schema_core.expressions.functions import BUILT_IN

        if self.declared is not None:
            options = (self.kind, self.path, self.deterministic, self.spark)
            return _declared, (self.name, self.declared, *options)
        for place, row in enumerate(BUILT_IN.get(self.name, ())):
            if row is self:
                return _built_in, (self.name, place)
        raise PicklingError(f"{self} is in no table of functions")


def _built_in(name: str, place: int) -> Function:
    """The row of a built-in function that was pickled."""
    from schema_core.expressions.functions import BUILT_IN

    return BUILT_IN[name][place]


def declare(
    name: str,
    signatures: Sequence[tuple[Sequence[DataType], DataType]],
    *,
    kind: Kind = Kind.SCALAR,
    path: tuple[str, ...] = (),
    deterministic: bool = True,
    spark: Spark = None,
) -> tuple[Function, ...]:
    """A user's function, one row a signature: the types of its arguments, and of its result.

    Arguments are cast to the declared types where they cast by themselves.

    >>> from schema_core.types import DataTypes as T
    >>> [str(row) for row in declare("PlusOne", [([T.INT()], T.INT())])]
    ['PlusOne(INT)']
    """
    return tuple(
        _declared(name, (tuple(takes), gives), kind, path or (name,), deterministic, spark)
        for takes, gives in signatures
    )


def _declared(
    name: str,
    signature: Signature,
    kind: Kind,
    path: tuple[str, ...],
    deterministic: bool,
    spark: Spark,
) -> Function:
    """The row of one signature."""
    from schema_core.expressions.signature_dsl import exactly, explicit

    takes, gives = signature
    return Function(
        name,
        tuple(map(explicit, takes)),
        exactly(gives),
        nulls=None,
        kind=kind,
        rules=Rules.TABLE_API,
        deterministic=deterministic,
        quoted=True,
        path=path,
        declared=signature,
        spark=spark,
    )
