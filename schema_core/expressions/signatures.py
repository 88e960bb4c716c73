"""The vocabulary of the function tables: parameters, return types and nullability of functions.

Parameters in capitals such as `CHARACTER` follow the rules of SQL and accept or reject an argument
as it is; `castable_to` and what is built on it follow the rules of the Table API and cast.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from schema_core.errors import SchemaError
from schema_core.expressions.coercion import (
    SORTABLE_ROOTS,
    coerce,
    coerce_to_type,
    comparable,
    has_mixed_charsets,
    sql_comparable,
    sql_ordered,
    varying,
)
from schema_core.expressions.typed import (
    ArgumentTypes,
    Constant,
    EmptyInput,
    Function,
    FunctionCall,
    FunctionKind,
    Keyword,
    Parameter,
    ReturnTypeRule,
    Rules,
    TypeArgument,
)
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
from schema_core.types.common import common_type, least_restrictive

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed


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
    """Describe the return type by the first sentence of its rule's docstring.

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
    """Describe when the result may be NULL.

    >>> from schema_core.expressions.functions import BUILT_IN
    >>> describe_nullability(BUILT_IN["CHAR_LENGTH"][0])
    'if any argument is nullable'
    """
    return _NULLABILITY[getattr(function.nullability, "__name__", "None")]


R, F = TypeRoot, TypeFamily

MAX_INT = 2**31 - 1

# --- parameters: the rules of SQL -----------------------------------------------------------------


def of(label: str, *kinds: TypeRoot | TypeFamily) -> Parameter:
    """A parameter for these roots or families, without a cast and without NULL."""
    return Parameter(label, lambda args, i: args.types[i] if args.types[i].is_(*kinds) else None)


ANY = Parameter(
    "<ANY>",
    lambda args, i: None if isinstance(args.trees[i], Keyword | TypeArgument) else args.types[i],
)
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


def keyword(*words: str) -> Parameter:
    """A parameter for one of these keywords, or for any keyword."""

    def accepts(args: ArgumentTypes, i: int) -> DataType | None:
        tree = args.trees[i]
        fits = isinstance(tree, Keyword) and (not words or tree.symbol.word in words)
        return args.types[i] if fits else None

    return Parameter("|".join(words) or "<KEYWORD>", accepts)


def of_one_charset(inner: Parameter) -> Parameter:
    """A parameter like `inner` in the character set of the preceding argument."""

    def accepts(args: ArgumentTypes, i: int) -> DataType | None:
        return None if has_mixed_charsets(args, i) else inner.accepts(args, i)

    return Parameter(inner.label, accepts)


ALIKE = of_one_charset(CHARACTER)


TARGET = Parameter(
    "<TYPE>", lambda args, i: args.types[i] if isinstance(args.trees[i], TypeArgument) else None
)


def literal(inner: Parameter) -> Parameter:
    """A parameter like `inner` for literals other than NULL."""

    def accepts(args: ArgumentTypes, i: int) -> DataType | None:
        return None if text_of(args.trees[i]) is None else inner.accepts(args, i)

    return Parameter(f"{inner.label} literal", accepts)


def text_of(tree: Typed) -> str | None:
    """The text of a literal other than NULL."""
    match tree:
        case Constant(literal=Literal(kind=kind, text=text)) if kind is not LiteralKind.NULL:
            return text
        case _:
            return None


def constant_integer(tree: Typed, *, through_casts: bool = True) -> int | None:
    """The value of an integer literal, also within casts."""
    match tree:
        case FunctionCall(function=function, arguments=(value, _)) if function.name == "CAST":
            return constant_integer(value) if through_casts else None
        case Constant(literal=Literal(kind=LiteralKind.EXACT, text=text)):
            digits = text.removesuffix(".")
            return int(digits) if digits.lstrip("-").isdecimal() else None
        case _:
            return None


def literal_up_to(most: int) -> Parameter:
    """A parameter for an integer literal from 0 to `most`."""

    def accepts(args: ArgumentTypes, i: int) -> DataType | None:
        number = constant_integer(args.trees[i], through_casts=False)
        fits = number is not None and 0 <= number <= most
        return args.types[i] if fits else None

    return Parameter("<INTEGER> literal", accepts)


def comparable_to_previous(*, ordered: bool) -> Parameter:
    """A parameter that SQL compares with the preceding argument."""

    def accepts(args: ArgumentTypes, i: int) -> DataType | None:
        type_ = args.types[i]
        if ordered and not sql_ordered(type_):
            return None
        before = args.types[i - 1] if i else type_
        return type_ if sql_comparable(before, type_) else None

    return Parameter("<COMPARABLE_TYPE>", accepts)


EQUAL = comparable_to_previous(ordered=False)
ORDERED = comparable_to_previous(ordered=True)


# --- parameters: the rules of the Table API -------------------------------------------------------


def castable_to(kind: TypeRoot | TypeFamily, label: str = "") -> Parameter:
    """A parameter with an implicit cast to a root or family."""
    return Parameter(label or f"<{kind.value}>", lambda args, i: coerce(args.types[i], kind))


def explicit(type_: DataType) -> Parameter:
    """A parameter with an implicit cast to this type."""

    def accepts(args: ArgumentTypes, i: int) -> DataType | None:
        if not type_.is_nullable and args.types[i].is_nullable:
            return None
        return coerce_to_type(args.types[i], type_)

    return Parameter(type_.as_summary_string(), accepts)


AS_STRING = castable_to(F.CHARACTER_STRING)
AS_BYTES = castable_to(F.BINARY_STRING)
AS_NUMBER = castable_to(F.NUMERIC)
AS_INTEGER = castable_to(F.INTEGER_NUMERIC)
AS_INT = castable_to(R.INTEGER)
AS_BOOLEAN = castable_to(R.BOOLEAN)
AS_BITMAP = castable_to(R.BITMAP)
AS_ARRAY = castable_to(R.ARRAY)
AS_MAP = castable_to(R.MAP)
AS_STRUCTURED = castable_to(R.STRUCTURED_TYPE)


def either(*parameters: Parameter) -> Parameter:
    """A parameter that accepts what one of these accepts, in order."""

    def accepts(args: ArgumentTypes, i: int) -> DataType | None:
        accepted = (parameter.accepts(args, i) for parameter in parameters)
        return next((type_ for type_ in accepted if type_ is not None), None)

    return Parameter(" | ".join(parameter.label for parameter in parameters), accepts)


def no_common_type(types: Iterable[DataType]) -> str:
    """The message for types without a common type.

    >>> from schema_core.types import DataTypes as T
    >>> no_common_type([T.INT(), T.INT(nullable=False), T.DATE()])
    'INT and DATE have no common type'
    """
    *names, last = dict.fromkeys(type_.nullable().as_summary_string() for type_ in types)
    if names:
        return f"{', '.join(names)} and {last} have no common type"
    return (
        "cannot infer a type from an untyped NULL"
        if last == "NULL"
        else f"{last} is not supported here"
    )


def common(start: int = 0, root: TypeRoot | None = None) -> Parameter:
    """A parameter cast to the common type of all arguments from `start` on."""

    def of_all(args: ArgumentTypes) -> DataType | None:
        types = args.types[start:]
        if root and any(type_.root is not root for type_ in types):
            return None
        return common_type(types)

    def accepts(args: ArgumentTypes, i: int) -> DataType | None:
        target = args.evaluate_once(of_all)
        return target and coerce_to_type(args.types[i], target)

    def mismatch(args: ArgumentTypes, i: int) -> str:
        return no_common_type(args.types[start:])

    return Parameter("<COMMON>", accepts, None if root else mismatch)


def element_of(index: int) -> Parameter:
    """A parameter cast to the element type of the array at `index`."""

    def accepts(args: ArgumentTypes, i: int) -> DataType | None:
        array, type_ = args.types[index], args.types[i]
        if not isinstance(array, ArrayType):
            return None
        target = coerce_to_type(type_, array.element_type)
        nullable = type_.is_nullable or array.element_type.is_nullable
        return target and target.with_nullability(nullable)

    return Parameter("<ELEMENT>", accepts)


def array_of(label: str, fits: Callable[[DataType], bool]) -> Parameter:
    """A parameter for arrays whose element type fits."""

    def accepts(args: ArgumentTypes, i: int) -> DataType | None:
        type_ = args.types[i]
        return type_ if isinstance(type_, ArrayType) and fits(type_.element_type) else None

    return Parameter(f"ARRAY<{label}>", accepts)


SORTABLE = array_of("<COMPARABLE>", lambda element: element.root in SORTABLE_ROOTS)
STRINGS = array_of("<CHARACTER_STRING>", lambda element: element.is_(F.CHARACTER_STRING))


def _ordered_with_previous(args: ArgumentTypes, i: int) -> DataType | None:
    """The argument's type if the Table API orders it with itself and the one before."""
    type_, before = args.types[i], args.types[max(i - 1, 0)]
    is_ordered = comparable(type_, type_, ordered=True)
    return type_ if is_ordered and comparable(before, type_, ordered=True) else None


COMPARABLE = Parameter("<COMPARABLE>", _ordered_with_previous)

# --- return types ---------------------------------------------------------------------------------


def describe_rule(description: str, returns: ReturnTypeRule) -> ReturnTypeRule:
    """Set the docstring that the documentation shows."""
    returns.__doc__ = description
    return returns


ORDINALS = ("first", "second", "third")


def exactly(type_: DataType) -> ReturnTypeRule:
    """A constant type."""
    return describe_rule(type_.nullable().as_summary_string(), lambda _: type_)


def like(index: int) -> ReturnTypeRule:
    """The type of an argument."""
    description = f"the type of the {ORDINALS[index]} argument"
    return describe_rule(description, lambda args: args.types[index])


def varying_like(index: int) -> ReturnTypeRule:
    """The variable-length string type of the length of an argument."""
    description = f"a variable-length string with the length of the {ORDINALS[index]} argument"
    return describe_rule(description, lambda args: varying(_string(args.types[index])))


def combined_length(args: ArgumentTypes) -> DataType:
    """A variable-length string with the length of the first two arguments together.

    It is a character or binary string as the second argument if that has a variable length, else
    as the first.
    """
    left, right = _string(args.types[0]), _string(args.types[1])
    kind = right if isinstance(right, VarCharType | VarBinaryType) else left
    length = min(left.length + right.length, MAX_LENGTH)
    return varying(kind).with_length(length)


def _string(type_: DataType) -> LengthType:
    if not isinstance(type_, LengthType):
        raise SchemaError(
            f"expected a string, got {type_.as_summary_string()}", code="invalid-function-call"
        )
    return type_


def least(start: int = 0, step: int = 1) -> ReturnTypeRule:
    """The least restrictive type of every `step`-th argument from `start` on."""
    which = f"every {ORDINALS[step - 1]} argument from the {ORDINALS[start]} on"
    return describe_rule(
        f"the least restrictive type of {which if step > 1 else 'all arguments'}",
        lambda args: common_argument_type(least_restrictive(args.types[start::step])),
    )


def commonly(start: int = 0) -> ReturnTypeRule:
    """The common type of all arguments from `start` on."""
    except_ = f" except the {ORDINALS[start - 1]}" if start else ""
    return describe_rule(
        f"the common type of all arguments{except_}",
        lambda args: common_argument_type(common_type(args.types[start:])),
    )


def common_argument_type(type_: DataType | None) -> DataType:
    """Refuse None: the arguments have no common type."""
    if type_ is None:
        raise SchemaError(
            "the arguments have no common type", code="type-mismatch", hint="add a CAST"
        )
    return type_


def element(index: int) -> ReturnTypeRule:
    """The element type of a collection argument."""
    description = f"the element type of the {ORDINALS[index]} argument"
    return describe_rule(description, lambda args: args.types[index].children()[0])


def array(returns: ReturnTypeRule) -> ReturnTypeRule:
    """An array of the type of another rule."""
    return describe_rule(f"an array of {returns.__doc__}", lambda args: ArrayType(returns(args)))


def map_(keys: ReturnTypeRule, values: ReturnTypeRule) -> ReturnTypeRule:
    """A map of the types of two other rules."""
    description = f"a map from {keys.__doc__} to {values.__doc__}"
    return describe_rule(description, lambda args: MapType(keys(args), values(args)))


# --- nullability ----------------------------------------------------------------------------------


def never(flags: Iterable[bool]) -> bool:
    """False: the result is NOT NULL."""
    del flags
    return False


def always(flags: Iterable[bool]) -> bool:
    """True: the result is nullable."""
    del flags
    return True


def first(flags: Iterable[bool]) -> bool:
    """Whether the first argument is nullable."""
    return next(iter(flags))


def last(flags: Iterable[bool]) -> bool:
    """Whether the last argument is nullable."""
    return list(flags)[-1]


# --- kinds of rows --------------------------------------------------------------------------------

#: An operator, or a function that Flink converts to one.
operation: partial[Function] = partial(Function, two_phase_type=True)

#: A function of the Table API that Flink exposes in SQL: its rules, its name in backticks.
bridged: partial[Function] = partial(Function, rules=Rules.TABLE_API, quoted=True)

#: An aggregate function of the Table API.
bridged_aggregate: partial[Function] = partial(bridged, kind=FunctionKind.AGGREGATE)

#: An aggregate function of SQL that returns NULL on empty input.
aggregate: partial[Function] = partial(Function, kind=FunctionKind.AGGREGATE, empty=EmptyInput.NULL)
