"""The base of all data types: nullability, equality, printing, children.

A type is a frozen value. `str` is its exact string, which `parse_type` parses; messages and
listings show the shorter summary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.base.text import show
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.types.families import KINDS, TypeFamily, TypeRoot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The longest CHAR, VARCHAR, BINARY or VARBINARY; the length of STRING and BYTES.
MAX_LENGTH = 2_147_483_647


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a value does not have a type, and the path to the offending part.

    >>> from schema_core.types import parse_type, reject_reason
    >>> print(reject_reason(parse_type("ROW<a ARRAY<TINYINT>>"), {"a": [1, 200]}))
    field 'a', element 1: 200 is outside -128..127
    """

    problem: str
    path: tuple[str, ...] = ()

    def under(self, step: str) -> Rejection:
        """The rejection with a step before its path."""
        return replace(self, path=(step, *self.path))

    def __str__(self) -> str:
        return f"{', '.join(self.path)}: {self.problem}" if self.path else self.problem


class _Serialized:
    """A slot for the string of a type, printed once; neither compared nor pickled."""

    __slots__ = ("_serialized",)
    _serialized: str


@dataclass(frozen=True, slots=True, init=False, repr=False)
class DataType(_Serialized):
    """A type of Flink's type system, nullable by default.

    `keyword` begins the string, `root` classifies the type, `limits` are the ranges of its
    parameters in order.
    """

    keyword: ClassVar[str]
    root: ClassVar[TypeRoot]
    limits: ClassVar[Mapping[str, range]] = {}

    is_nullable: bool = field(kw_only=True)

    def __init__(self, nullable: bool = True) -> None:
        self._fill(nullable)

    def _fill(self, nullable: bool, **values: object) -> None:
        """Set and validate the fields of a new value; ends every constructor."""
        try:
            keyword = self.keyword
        except AttributeError:
            kind = type(self).__name__
            raise SchemaError(
                f"{kind} is a class of types, not a type", code="invalid-argument"
            ) from None
        if nullable is not True:
            _require_bool(nullable)
        assign, limits = object.__setattr__, self.limits
        assign(self, "is_nullable", nullable)
        for name, value in values.items():
            assign(self, name, value)
            if name not in limits:
                continue
            allowed = limits[name]
            if type(value) is not int or value not in allowed:
                raise SchemaError(
                    f"{keyword} {name} {show(value)} is outside {allowed[0]}..{allowed[-1]}",
                    code="invalid-type",
                )
        self._measure()

    def _measure(self) -> None:
        """Measure depth and size, in types with children."""

    @property
    def depth(self) -> int:
        """The nesting depth: 1 for a type without children."""
        return 1

    @property
    def node_count(self) -> int:
        """The number of types in the tree."""
        return 1

    # --- nullability ---------------------------------------------------------------------------

    def with_nullability(self, nullable: bool) -> Self:
        """The type with this nullability at its top level."""
        if nullable is self.is_nullable:
            return self
        _require_bool(nullable)
        kind: Any = type(self)
        twin: Self = object.__new__(kind)
        assign = object.__setattr__
        assign(twin, "is_nullable", nullable)
        for name in _other_fields(kind):
            assign(twin, name, getattr(self, name))
        return twin

    def not_null(self) -> Self:
        """The type as NOT NULL."""
        return self.with_nullability(False)

    def nullable(self) -> Self:
        """The type as nullable."""
        return self.with_nullability(True)

    def bridged_to(self, conversion_cls: object) -> Self:
        """The type itself: its Java class only matters on the JVM."""
        del conversion_cls
        return self

    # --- values --------------------------------------------------------------------------------

    def accepts(self, value: object) -> bool:
        """Whether a Python value has this type without conversion.

        >>> from schema_core.types import DataTypes as T
        >>> T.TINYINT().accepts(127), T.TINYINT().accepts(128), T.TINYINT().accepts("1")
        (True, False, False)
        """
        return rejection(self, value) is None

    # --- exchange with PyFlink's workers -------------------------------------------------------

    def need_conversion(self) -> bool:
        """Whether PyFlink's workers exchange values in another form: dates and times as numbers."""
        exchange = _exchange_of(self)
        return exchange is not None and exchange.is_needed(self)

    def to_sql_type(self, obj: Any) -> Any:
        """Return a value as PyFlink's workers exchange it.

        >>> from schema_core.types import DataTypes as T
        >>> from datetime import date
        >>> T.ARRAY(T.DATE()).to_sql_type([date(1970, 1, 2), None])
        [1, None]
        """
        exchange = _exchange_of(self)
        is_same = obj is None or exchange is None or not exchange.is_needed(self)
        return obj if is_same or exchange is None else exchange.write(self, obj)

    def from_sql_type(self, obj: Any) -> Any:
        """Return the value of what PyFlink's workers exchange."""
        exchange = _exchange_of(self)
        is_same = obj is None or exchange is None or not exchange.is_needed(self)
        return obj if is_same or exchange is None else exchange.read(self, obj)

    # --- structure -----------------------------------------------------------------------------

    def children(self) -> tuple[DataType, ...]:
        """The child types: elements, keys and values, fields."""
        return ()

    def rebuild(self, children: tuple[DataType, ...]) -> Self:
        """This type with other children.

        Raises:
            SchemaError: with code `invalid-argument` unless `children` is a tuple of as many types
                as `children()` returns.

        >>> from schema_core.types import DataTypes
        >>> str(DataTypes.ARRAY(DataTypes.INT()).rebuild((DataTypes.STRING(),)))
        'ARRAY<VARCHAR(2147483647)>'
        """
        require_instance(children, tuple, "children", "a tuple of types")
        for child in children:
            require_instance(child, DataType, "a child")
        if len(children) != (expected := len(self.children())):
            problem = f"{self.as_summary_string()} has {expected} children, got {len(children)}"
            raise SchemaError(problem, code="invalid-argument")
        return self._rebuild(children)

    def _rebuild(self, children: tuple[DataType, ...]) -> Self:
        return self

    def walk(self) -> Iterator[DataType]:
        """Yield this type and all descendants, in pre-order."""
        yield self
        for child in self.children():
            yield from child.walk()

    def is_(self, *kinds: TypeRoot | TypeFamily) -> bool:
        """Whether the type has one of these roots, or a root of one of these families.

        Raises:
            SchemaError: with code `invalid-argument` for any other value.
        """
        try:
            return not KINDS[self.root].isdisjoint(kinds)
        except TypeError:
            raise SchemaError(
                f"expected type roots and families, got {show(kinds)}", code="invalid-argument"
            ) from None

    # --- strings -------------------------------------------------------------------------------

    def parameters(self) -> tuple[int, ...]:
        """The parameters in parentheses."""
        return tuple(getattr(self, name) for name in self.limits)

    def body(self) -> str:
        """The exact string without ``NOT NULL``."""
        if not self.limits:
            return self.keyword
        values = [str(getattr(self, name)) for name in self.limits]
        return f"{self.keyword}({', '.join(values)})"

    def summary_body(self) -> str:
        """The summary without ``NOT NULL``."""
        return self.body()

    def unserializable(self) -> str | None:
        """Why the type itself, whatever its children, cannot be serialized."""
        return None

    def misplaced(self) -> str | None:
        """Why no column can have the type itself, whatever its children."""
        return None

    def __str__(self) -> str:
        return self.body() if self.is_nullable else f"{self.body()} NOT NULL"

    def __repr__(self) -> str:
        shown = [repr(getattr(self, field.name)) for field in fields(self) if field.repr][1:]
        if not self.is_nullable:
            shown.append("nullable=False")
        return f"{type(self).__name__}({', '.join(shown)})"

    def as_serializable_string(self) -> str:
        """The exact string for a catalog: long forms, every name quoted.

        Raises:
            UnsupportedError: with code `type-not-supported` for strings of length zero, symbols
                and unresolved user-defined types, at any depth.
        """
        try:
            return self._serialized
        except AttributeError:
            pass
        for part in self.walk():
            if reason := part.unserializable():
                raise UnsupportedError(reason, code="type-not-supported")
        text = str(self)
        object.__setattr__(self, "_serialized", text)
        return text

    def as_summary_string(self) -> str:
        """The summary for display: STRING, BYTES, TIMESTAMP_LTZ, comments as '...'."""
        return self.summary_body() if self.is_nullable else f"{self.summary_body()} NOT NULL"

    @classmethod
    def type_name(cls) -> str:
        """PyFlink's name of the class: ``VARCHAR`` for `VarCharType`."""
        return cls.__name__.removesuffix("Type").upper()


def _require_bool(nullable: object) -> bool:
    if isinstance(nullable, bool):
        return nullable
    raise SchemaError(
        f"nullable must be True or False, got {show(nullable)}",
        code="invalid-type",
    )


# --- values --------------------------------------------------------------------------------------

#: Why a value of an accepted class does not have a type.
Check: TypeAlias = Callable[[Any, Any], Rejection | None]

#: Class of types -> the classes of its values, and a check of the value; filled by `values`, since
#: checks of nested values depend on all classes of types.
TAKES: dict[type[DataType], tuple[tuple[type, ...], Check]] = {}


class Exchange(NamedTuple):
    """How PyFlink's workers exchange the values of a type, which are not None."""

    write: Callable[[Any, Any], Any]
    read: Callable[[Any, Any], Any]
    is_needed: Callable[[Any], bool] = bool


#: Class of a type -> its exchange, see `worker_values`; other values are exchanged as they are.
EXCHANGED: dict[type[DataType], Exchange] = {}


def _exchange_of(type_: DataType) -> Exchange | None:
    return next((EXCHANGED[kind] for kind in type(type_).__mro__ if kind in EXCHANGED), None)


def rejection(type_: DataType, value: object) -> Rejection | None:
    """Why a value does not have a type."""
    if value is None:
        return None if type_.is_nullable else reject_class(type_, None)
    for kind in type(type_).__mro__:
        if kind in TAKES:
            classes, check = TAKES[kind]
            if type(value) in classes or object in classes:
                return check(type_, value)
            return wrong_class(type_, " or ".join(cls.__name__ for cls in classes), value)
    return reject_class(type_, value)


def wrong_class(type_: DataType, expected: str, value: object) -> Rejection:
    """The rejection of a value of another class than expected."""
    actual = type(value).__name__
    return Rejection(f"{type_.as_summary_string()} requires {expected}, got {actual}")


def reject_class(type_: DataType, value: object) -> Rejection:
    """The rejection of a value of a class that the type never accepts."""
    name = "None" if value is None else type(value).__name__
    return Rejection(f"{type_.as_summary_string()} does not accept {name}")


# --- fields --------------------------------------------------------------------------------------


@cache
def _other_fields(kind: type[DataType]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.name != "is_nullable")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class AtomicType(DataType):
    """A type without children."""


def node_count(type_: DataType, *_: object) -> int:
    """The weight of a type in a cache."""
    return type_.node_count
