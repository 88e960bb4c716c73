"""The words in which the rows of the function tables are written, two lines each.

Arguments: capitals (`CHARACTER`) are SQL's, which take what is there or refuse it; `into` and its
like are the Table API's, which cast. Results: `exactly`, `like`, `varying_like`, ... Nullability:
`any` and `all` of Python, `never`, `always`, `first`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from schema_core.errors import SchemaError
from schema_core.expressions import comparable as compare
from schema_core.expressions.charsets import is_mixed
from schema_core.expressions.coercion import as_kind, as_type, varying
from schema_core.expressions.signatures import Arg, Empty, Function, Given, Gives, Kind, Rules
from schema_core.expressions.typed import Constant, Keyword, TypeArgument
from schema_core.sql.syntax import Literal, LiteralKind
from schema_core.types import (
    MAX_LENGTH,
    ArrayType,
    DataType,
    LengthType,
    MapType,
    TypeFamily,
    TypeRoot,
    VarBinaryType,
    VarCharType,
)
from schema_core.types.common import common_type
from schema_core.types.least_restrictive import least_restrictive

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed

R, F = TypeRoot, TypeFamily

# --- what may stand in a place: SQL's own rules --------------------------------------------------


def of(shown: str, *kinds: TypeRoot | TypeFamily) -> Arg:
    """Whatever has one of these roots or is of one of these families, as it is; never NULL."""
    return Arg(shown, lambda given, i: given.types[i] if given.types[i].is_(*kinds) else None)


def _value(given: Given, i: int) -> DataType | None:
    return None if isinstance(given.trees[i], Keyword | TypeArgument) else given.types[i]


ANY = Arg("<ANY>", _value)
CHARACTER = of("<CHARACTER>", F.CHARACTER_STRING)
STRING = of("<STRING>", F.CHARACTER_STRING, F.BINARY_STRING)
BINARY = of("<BINARY>", F.BINARY_STRING)
BOOLEAN = of("<BOOLEAN>", R.BOOLEAN)
NUMERIC = of("<NUMERIC>", F.NUMERIC)
EXACT = of("<EXACT_NUMERIC>", F.EXACT_NUMERIC)
INTEGER = of("<INTEGER>", F.INTEGER_NUMERIC)
DATE = of("<DATE>", R.DATE)
TIME = of("<TIME>", F.TIME)
TIMESTAMP = of("<TIMESTAMP>", F.TIMESTAMP)
DATETIME = of("<DATETIME>", F.DATETIME)
MONTHS = of("<YEAR_MONTH_INTERVAL>", R.INTERVAL_YEAR_MONTH)
MILLISECONDS = of("<DAY_TIME_INTERVAL>", R.INTERVAL_DAY_TIME)
INTERVAL = of("<INTERVAL>", F.INTERVAL)
ARRAY = of("<ARRAY>", R.ARRAY)
MULTISET = of("<MULTISET>", R.MULTISET)
MAP = of("<MAP>", R.MAP)


def word(*words: str) -> Arg:
    """One of these steering words, or any word if none is named."""

    def accepts(given: Given, i: int) -> DataType | None:
        tree = given.trees[i]
        fits = isinstance(tree, Keyword) and (not words or tree.symbol.word in words)
        return given.types[i] if fits else None

    return Arg("|".join(words) or "<WORD>", accepts)


def of_one_charset(arg: Arg) -> Arg:
    """What the other takes, if it is no text in another character set than the one before it."""
    return Arg(arg.shown, lambda given, i: None if is_mixed(given, i) else arg.accepts(given, i))


ALIKE = of_one_charset(CHARACTER)


def _target(given: Given, i: int) -> DataType | None:
    return given.types[i] if isinstance(given.trees[i], TypeArgument) else None


TARGET = Arg("<TYPE>", _target)


def literal(arg: Arg) -> Arg:
    """What the other takes, if it is written out as a literal other than NULL."""
    return Arg(
        f"{arg.shown} literal",
        lambda given, i: arg.accepts(given, i) if text_of(given.trees[i]) is not None else None,
    )


def text_of(tree: Typed) -> str | None:
    """The text of a literal other than NULL, or None."""
    match tree:
        case Constant(literal=Literal(kind=kind, text=text)) if kind is not LiteralKind.NULL:
            return text
        case _:
            return None


def like_before(*, ordered: bool) -> Arg:
    """What SQL compares with the argument before it."""

    def accepts(given: Given, i: int) -> DataType | None:
        type_ = given.types[i]
        if ordered and not compare.sql_ordered(type_):
            return None
        before = given.types[i - 1] if i else type_
        return type_ if compare.sql_comparable(before, type_) else None

    return Arg("<COMPARABLE_TYPE>", accepts)


EQUAL = like_before(ordered=False)
ORDERED = like_before(ordered=True)


# --- what may stand in a place: the Table API's rules --------------------------------------------


def into(kind: TypeRoot | TypeFamily, shown: str = "") -> Arg:
    """Whatever passes for the root or family, cast to it."""
    return Arg(shown or f"<{kind.value}>", lambda given, i: as_kind(given.types[i], kind))


def explicit(type_: DataType) -> Arg:
    """Whatever casts into exactly this type by itself."""

    def accepts(given: Given, i: int) -> DataType | None:
        if not type_.is_nullable and given.types[i].is_nullable:
            return None
        return as_type(given.types[i], type_)

    return Arg(type_.as_summary_string(), accepts)


TEXT = into(F.CHARACTER_STRING)
BYTES = into(F.BINARY_STRING)
NUMBER = into(F.NUMERIC)
WHOLE = into(F.INTEGER_NUMERIC)
INT = into(R.INTEGER)
FLAG = into(R.BOOLEAN)
BITMAP = into(R.BITMAP)
LIST = into(R.ARRAY)
DICTIONARY = into(R.MAP)
STRUCTURED = into(R.STRUCTURED_TYPE)


def either(*args: Arg) -> Arg:
    """The first of these that takes the argument."""

    def accepts(given: Given, i: int) -> DataType | None:
        found = (one.accepts(given, i) for one in args)
        return next((type_ for type_ in found if type_ is not None), None)

    return Arg(" | ".join(one.shown for one in args), accepts)


def common(start: int = 0, root: TypeRoot | None = None) -> Arg:
    """The common type of all arguments from `start` on, which must have the root if one is said."""

    def of_all(given: Given) -> DataType | None:
        types = given.types[start:]
        if root and any(type_.root is not root for type_ in types):
            return None
        return common_type(types)

    def accepts(given: Given, i: int) -> DataType | None:
        found = given.once(of_all)
        return found and as_type(given.types[i], found)

    return Arg("<COMMON>", accepts)


def element_of(index: int) -> Arg:
    """What casts into the elements of the array at `index`."""

    def accepts(given: Given, i: int) -> DataType | None:
        array, type_ = given.types[index], given.types[i]
        if not isinstance(array, ArrayType):
            return None
        wanted = as_type(type_, array.element_type)
        nullable = type_.is_nullable or array.element_type.is_nullable
        return wanted and wanted.with_nullability(nullable)

    return Arg("<ELEMENT>", accepts)


def array_of(shown: str, fits: Callable[[DataType], bool]) -> Arg:
    """An array whose elements fit."""

    def accepts(given: Given, i: int) -> DataType | None:
        type_ = given.types[i]
        return type_ if isinstance(type_, ArrayType) and fits(type_.element_type) else None

    return Arg(f"ARRAY<{shown}>", accepts)


SORTABLE = array_of("<COMPARABLE>", lambda element: element.root in compare.SORTABLE)
TEXTS = array_of("<CHARACTER_STRING>", lambda element: element.is_(F.CHARACTER_STRING))


def ordered_with_neighbours(given: Given, i: int) -> DataType | None:
    """The argument as it is, if the Table API orders it with itself and with the one before."""
    type_, before = given.types[i], given.types[max(i - 1, 0)]
    one = compare.comparable(type_, type_, ordered=True)
    return type_ if one and compare.comparable(before, type_, ordered=True) else None


COMPARABLE = Arg("<COMPARABLE>", ordered_with_neighbours)

# --- what comes out ------------------------------------------------------------------------------


def said(words: str, gives: Gives) -> Gives:
    """A result with the words that the page of functions has for it."""
    gives.__doc__ = words
    return gives


#: Places in words.
PLACES = ("first", "second", "third")


def exactly(type_: DataType) -> Gives:
    """This type."""
    return said(type_.nullable().as_summary_string(), lambda _: type_)


def like(index: int) -> Gives:
    """The type of an argument."""
    words = f"the type of the {PLACES[index]} argument"
    return said(words, lambda given: given.types[index])


def varying_like(index: int) -> Gives:
    """At most as many characters or bytes as an argument has."""
    words = f"at most as many characters or bytes as the {PLACES[index]} argument has"
    return said(words, lambda given: varying(_string(given.types[index])))


def joined(given: Given) -> DataType:
    """At most as many as the first two arguments have together.

    Of characters or bytes as the second has, if its length varies, else as the first has.
    """
    one, other = _string(given.types[0]), _string(given.types[1])
    kind = other if isinstance(other, VarCharType | VarBinaryType) else one
    length = min(one.length + other.length, MAX_LENGTH)
    return varying(kind).with_length(length)


def _string(type_: DataType) -> LengthType:
    if not isinstance(type_, LengthType):
        raise SchemaError(f"{type_.as_summary_string()} is no string", code="wrong-argument-type")
    return type_


def least(start: int = 0, step: int = 1) -> Gives:
    """The type that SQL finds for every `step`-th argument from `start` on."""
    words = f"the type that SQL finds for {_which(start, step)}"
    return said(words, lambda given: found(least_restrictive(given.types[start::step])))


def _which(start: int, step: int) -> str:
    return f"every {PLACES[step - 1]} argument from the {PLACES[start]} on" if step > 1 else "all"


def commonly(start: int = 0) -> Gives:
    """The common type of all arguments from `start` on."""
    words = f"the common type of all arguments{f' but the {PLACES[start - 1]}' if start else ''}"
    return said(words, lambda given: found(common_type(given.types[start:])))


def found(type_: DataType | None) -> DataType:
    """The type, or the refusal of arguments that have none in common."""
    if type_ is None:
        raise SchemaError(
            "the arguments have no type in common", code="no-common-type", hint="add a CAST"
        )
    return type_


def element(index: int) -> Gives:
    """The type of the elements of a collection."""
    words = f"the type of the elements of the {PLACES[index]} argument"
    return said(words, lambda given: given.types[index].children()[0])


def array(gives: Gives) -> Gives:
    """An array of that."""
    return said(f"an array of {gives.__doc__}", lambda given: ArrayType(gives(given)))


def map_(keys: Gives, values: Gives) -> Gives:
    """A map from those to these."""
    words = f"a map from {keys.__doc__} to {values.__doc__}"
    return said(words, lambda given: MapType(keys(given), values(given)))


# --- when it may be NULL -------------------------------------------------------------------------


def never(flags: Iterable[bool]) -> bool:
    """Never, whatever the arguments are."""
    del flags
    return False


def always(flags: Iterable[bool]) -> bool:
    """Always, whatever the arguments are."""
    del flags
    return True


def first(flags: Iterable[bool]) -> bool:
    """Where the first argument may be."""
    return next(iter(flags))


def last(flags: Iterable[bool]) -> bool:
    """Where the last argument may be."""
    return list(flags)[-1]


# --- rows ----------------------------------------------------------------------------------------


#: An operator, or what becomes one.
operation = partial(Function, late=True)

#: A function that Flink brought over from the Table API: its rules, its name in back-ticks.
bridged = partial(Function, rules=Rules.TABLE_API, quoted=True)

#: The same for one that reads many rows.
bridged_aggregate = partial(bridged, kind=Kind.AGGREGATE)

#: A function of SQL that reads many rows; nothing comes of none.
aggregate = partial(Function, kind=Kind.AGGREGATE, empty=Empty.NULL)
