"""Types that PyFlink has for Python code alone: views of a function's state, types of objects.

No column can be of them; a schema that has one is refused with code `type-not-in-schema`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from schema_core.errors import UnsupportedError
from schema_core.types.base import DataType
from schema_core.types.families import TypeRoot
from schema_core.types.nested import ComposedType, require_type


class PythonType(DataType):
    """A type that Flink has no root for."""

    __slots__ = ()
    root = TypeRoot.UNRESOLVED

    def unserializable(self) -> str | None:
        """What is not in a schema has no text there."""
        return self.misplaced()


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ListViewType(PythonType, ComposedType):
    """A list in the state of an aggregate function; it is never NULL.

    >>> from schema_core.types import DataTypes as T, require_resolved
    >>> require_resolved(T.LIST_VIEW(T.INT()))
    Traceback (most recent call last):
        ...
    schema_core.errors.UnsupportedError: LIST_VIEW<INT> is for the state of an aggregate function
    """

    keyword = "LIST_VIEW"

    element_type: DataType

    def __init__(self, element_type: DataType) -> None:
        self._fill(nullable=False, element_type=require_type(element_type, "the element"))

    def with_nullability(self, nullable: bool) -> Self:
        """Itself: a view is there or is not declared."""
        return self

    def children(self) -> tuple[DataType, ...]:
        """The element."""
        return (self.element_type,)

    def rebuild(self, children: tuple[DataType, ...]) -> Self:
        """A view of other elements."""
        return type(self)(*children)

    def body(self) -> str:
        """The element in angle brackets."""
        return f"LIST_VIEW<{self.element_type}>"

    def __str__(self) -> str:
        return self.body()

    def misplaced(self) -> str | None:
        """Where it belongs instead."""
        return f"{self.body()} is for the state of an aggregate function"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class MapViewType(PythonType, ComposedType):
    """A map in the state of an aggregate function; it is never NULL."""

    keyword = "MAP_VIEW"

    key_type: DataType
    value_type: DataType

    def __init__(self, key_type: DataType, value_type: DataType) -> None:
        self._fill(
            nullable=False,
            key_type=require_type(key_type, "the key"),
            value_type=require_type(value_type, "the value"),
        )

    def with_nullability(self, nullable: bool) -> Self:
        """Itself: a view is there or is not declared."""
        return self

    def children(self) -> tuple[DataType, ...]:
        """The key, then the value."""
        return (self.key_type, self.value_type)

    def rebuild(self, children: tuple[DataType, ...]) -> Self:
        """A view of other keys and values."""
        return type(self)(*children)

    def body(self) -> str:
        """Key and value in angle brackets."""
        return f"MAP_VIEW<{self.key_type}, {self.value_type}>"

    def __str__(self) -> str:
        return self.body()

    def misplaced(self) -> str | None:
        """Where it belongs instead."""
        return f"{self.body()} is for the state of an aggregate function"


class UserDefinedType(PythonType):
    """The type of objects of a Python class, to be subclassed: what they are stored as, and how.

    A class says by an attribute ``__UDT__`` that its objects are of such a type.

    >>> from schema_core.types import DataTypes as T
    >>> class PointType(UserDefinedType):
    ...     @classmethod
    ...     def sql_type(cls):
    ...         return T.ARRAY(T.DOUBLE(nullable=False))
    ...
    ...     def serialize(self, obj):
    ...         return [obj.x, obj.y]
    >>> class Point:
    ...     __UDT__ = PointType()
    ...
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    >>> PointType().accepts(Point(1.0, 2.0)), PointType().accepts([1.0, 2.0])
    (True, False)
    """

    __slots__ = ()
    keyword = "PYTHON"

    @classmethod
    def type_name(cls) -> str:
        """The name of the class in small letters."""
        return cls.__name__.lower()

    @classmethod
    def sql_type(cls) -> DataType:
        """The type of what `serialize` gives."""
        raise _missing(cls, "sql_type")

    @classmethod
    def module(cls) -> str:
        """The Python module that the type is declared in."""
        return cls.__module__

    def serialize(self, obj: Any) -> Any:
        """The object as a value of `sql_type`."""
        raise _missing(type(self), "serialize")

    def deserialize(self, datum: Any) -> Any:
        """The object back from a value of `sql_type`."""
        raise _missing(type(self), "deserialize")

    def body(self) -> str:
        """The class that declares it."""
        return f"PYTHON({self.module()}.{type(self).__qualname__})"

    def misplaced(self) -> str | None:
        """What to declare instead."""
        return f"the objects of {self.body()} are of Python alone; declare what they are stored as"


def _missing(kind: type, method: str) -> UnsupportedError:
    return UnsupportedError(
        f"{kind.__name__} does not say its {method}", code="incomplete-user-defined-type"
    )
