"""What all types have in common: nullability, equality, printing, children.

A type is a frozen value, equal when spelled equally. `str` is its exact text, which `parse_type`
reads back; the summary is the shorter text that messages and schema listings show.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, ClassVar, Self

from schema_core.arguments import require_instance
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.text import show
from schema_core.types.families import KINDS, TypeFamily, TypeRoot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The longest CHAR, VARCHAR, BINARY or VARBINARY, and the length of STRING and BYTES.
MAX_LENGTH = 2_147_483_647


@dataclass(frozen=True, slots=True, init=False, repr=False)
class DataType:
    """A type of Flink's type system. Nullable unless said otherwise.

    `keyword` starts the text, `root` is what the type is, `limits` are the allowed values of its
    parameters, in the order in which they are written.
    """

    keyword: ClassVar[str]
    root: ClassVar[TypeRoot]
    limits: ClassVar[Mapping[str, range]] = {}

    is_nullable: bool = field(kw_only=True)

    def __init__(self, nullable: bool = True) -> None:
        self._fill(nullable)

    def _fill(self, nullable: bool, **values: object) -> None:
        """Set the fields of a new value and check them: what every constructor ends with."""
        if not hasattr(self, "keyword"):
            kind = type(self).__name__
            raise SchemaError(f"{kind} is a kind of types, no type", code="not-a-type")
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "is_nullable", _require_bool(nullable))
        for name, allowed in self.limits.items():
            value = values[name]
            if type(value) is not int or value not in allowed:
                raise SchemaError(
                    f"{self.keyword} {name} {show(value)} is outside {allowed[0]}..{allowed[-1]}",
                    code="invalid-type-parameter",
                )
        self._measure()

    def _measure(self) -> None:
        """What types with children do last: count their levels."""

    @property
    def depth(self) -> int:
        """The levels of types within types: 1 for a type without children."""
        return 1

    @property
    def node_count(self) -> int:
        """How many types this one is made of, itself included."""
        return 1

    # --- nullability ---------------------------------------------------------------------------

    def with_nullability(self, nullable: bool) -> Self:
        """This type, nullable or NOT NULL at its top level."""
        if _require_bool(nullable) is self.is_nullable:
            return self
        twin = object.__new__(type(self))
        for name in _field_names(self.__class__):
            object.__setattr__(twin, name, getattr(self, name))
        object.__setattr__(twin, "is_nullable", nullable)
        return twin

    def not_null(self) -> Self:
        """This type, NOT NULL."""
        return self.with_nullability(False)

    def nullable(self) -> Self:
        """This type, nullable."""
        return self.with_nullability(True)

    def bridged_to(self, conversion_cls: object) -> Self:
        """This type: which Java class holds its values is a hint for the JVM alone."""
        del conversion_cls
        return self

    # --- values --------------------------------------------------------------------------------

    def accepts(self, value: object) -> bool:
        """Whether a Python value is one of this type, as it is; `reject_reason` says why not.

        >>> from schema_core.types import DataTypes as T
        >>> T.TINYINT().accepts(127), T.TINYINT().accepts(128), T.TINYINT().accepts("1")
        (True, False, False)
        """
        from schema_core.types.values import reject_reason

        return reject_reason(self, value) is None

    # --- structure -----------------------------------------------------------------------------

    def children(self) -> tuple[DataType, ...]:
        """The types this one is made of, in order: elements, keys and values, fields."""
        return ()

    def rebuild(self, children: tuple[DataType, ...]) -> Self:
        """Return this type with other children.

        Raises:
            SchemaError: with code `wrong-argument` unless `children` is a tuple of as many types as
                `children()` returns.

        >>> from schema_core.types import DataTypes
        >>> str(DataTypes.ARRAY(DataTypes.INT()).rebuild((DataTypes.STRING(),)))
        'ARRAY<VARCHAR(2147483647)>'
        """
        require_instance(children, tuple, "children", "a tuple of types")
        for child in children:
            require_instance(child, DataType, "a child")
        if len(children) != (expected := len(self.children())):
            problem = f"{self.as_summary_string()} has {expected} children, got {len(children)}"
            raise SchemaError(problem, code="wrong-argument")
        return self._rebuild(children)

    def _rebuild(self, children: tuple[DataType, ...]) -> Self:
        return self

    def walk(self) -> Iterator[DataType]:
        """This type and everything below it, from the top."""
        yield self
        for child in self.children():
            yield from child.walk()

    def is_(self, *kinds: TypeRoot | TypeFamily) -> bool:
        """Whether the root is one of these, or belongs to one of these families.

        Raises:
            SchemaError: with code `wrong-argument` for something that cannot be either.
        """
        try:
            return not KINDS[self.root].isdisjoint(kinds)
        except TypeError:
            raise SchemaError(
                f"expected type roots and families, got {show(kinds)}", code="wrong-argument"
            ) from None

    # --- text ----------------------------------------------------------------------------------

    def parameters(self) -> tuple[int, ...]:
        """The numbers in parentheses."""
        return tuple(getattr(self, name) for name in self.limits)

    def body(self) -> str:
        """The exact text before ``NOT NULL``: the keyword and its parameters."""
        if not self.limits:
            return self.keyword
        values = [str(getattr(self, name)) for name in self.limits]
        return f"{self.keyword}({', '.join(values)})"

    def summary_body(self) -> str:
        """The short text before ``NOT NULL``."""
        return self.body()

    def unserializable(self) -> str | None:
        """Why this type alone, without its children, has no text that can be read back."""
        return None

    def misplaced(self) -> str | None:
        """Why this type alone, without its children, cannot be that of a column."""
        return None

    def __str__(self) -> str:
        return self.body() if self.is_nullable else f"{self.body()} NOT NULL"

    def __repr__(self) -> str:
        shown = [repr(getattr(self, one.name)) for one in fields(self) if one.repr][1:]
        if not self.is_nullable:
            shown.append("nullable=False")
        return f"{type(self).__name__}({', '.join(shown)})"

    def as_serializable_string(self) -> str:
        """The exact text, for a catalog: long forms, every name quoted.

        Raises:
            UnsupportedError: with code `type-not-serializable` for a type without such a text
                (zero-length strings, symbols, unresolved user-defined types), at any depth.
        """
        for part in self.walk():
            if reason := part.unserializable():
                raise UnsupportedError(reason, code="type-not-serializable")
        return str(self)

    def as_summary_string(self) -> str:
        """The short text that people read: STRING, BYTES, TIMESTAMP_LTZ, comments as '...'."""
        return self.summary_body() if self.is_nullable else f"{self.summary_body()} NOT NULL"

    @classmethod
    def type_name(cls) -> str:
        """PyFlink's name of the kind of type: ``VARCHAR`` for `VarCharType`."""
        return cls.__name__.removesuffix("Type").upper()


def _require_bool(nullable: object) -> bool:
    if isinstance(nullable, bool):
        return nullable
    raise SchemaError(
        f"nullable is {show(nullable)}, which is neither True nor False",
        code="invalid-type-parameter",
    )


_NAMES: dict[type[DataType], tuple[str, ...]] = {}


def _field_names(kind: type[DataType]) -> tuple[str, ...]:
    if kind not in _NAMES:
        _NAMES[kind] = tuple(one.name for one in fields(kind))
    return _NAMES[kind]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class AtomicType(DataType):
    """A type without children."""


def node_count(type_: DataType, *_: object) -> int:
    """Return the weight of a type in a cache: how many types it is made of, itself included.

    >>> from schema_core.types import parse_type
    >>> node_count(parse_type("ROW<a INT, b ARRAY<INT>>"))
    4
    """
    return type_.node_count
