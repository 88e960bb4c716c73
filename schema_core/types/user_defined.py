"""Structured, distinct, RAW, legacy and unresolved types, and PyFlink's types for Python code.

No column can have the last ones. Class names and serializer snapshots are opaque strings: nothing
they name is ever imported or run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self
from unicodedata import category

from schema_core.base.lazy import dataclass
from schema_core.base.text import is_blank, quote_identifier, quote_string, show
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.types.base import DataType
from schema_core.types.families import TypeRoot
from schema_core.types.nested import (
    ComposedType,
    RowField,
    require_fields,
    require_text,
    require_type,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "DistinctType",
    "LegacyType",
    "ListViewType",
    "MapViewType",
    "RawType",
    "StructuredType",
    "UnresolvedType",
    "UserDefinedType",
]

#: Reserved words of Java (JLS 3.9), which cannot be part of a class name.
JAVA_WORDS = frozenset(
    {
        "abstract", "assert", "boolean", "break", "byte", "case", "catch", "char", "class", "const",
        "continue", "default", "do", "double", "else", "enum", "extends", "final", "finally",
        "float", "for", "goto", "if", "implements", "import", "instanceof", "int", "interface",
        "long", "native", "new", "package", "private", "protected", "public", "return", "short",
        "static", "strictfp", "super", "switch", "synchronized", "this", "throw", "throws",
        "transient", "try", "void", "volatile", "while", "true", "false", "null", "_",
    }
)  # fmt: skip

#: Unicode categories of the first and of further characters of a Java identifier (JLS 3.8).
STARTS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Sc", "Pc"})
PARTS = STARTS | {"Nd", "Mn", "Mc", "Cf"}


def is_class_name(text: str) -> bool:
    """Whether a string is the name of a Java class."""
    return all(_is_java_name(part) for part in text.split("."))


def require_class_name(value: object) -> None:
    """Refuse anything but the name of a Java class."""
    if not is_class_name(require_text(value, "the class name")):
        raise SchemaError(
            f"expected the name of a Java class, got {show(value)}", code="invalid-name"
        )


def require_path(value: object) -> tuple[str, ...]:
    """Refuse anything but a tuple of strings."""
    if not isinstance(value, tuple) or not all(isinstance(part, str) for part in value):
        raise SchemaError(f"expected a tuple of names, got {show(value)}", code="invalid-argument")
    return value


def _is_java_name(text: str) -> bool:
    if not text or text in JAVA_WORDS or category(text[0]) not in STARTS:
        return False
    return all(  # Java ignores control characters within an identifier
        category(character) in PARTS or (category(character) == "Cc" and not is_blank(character))
        for character in text
    )


@dataclass(frozen=True, slots=True, init=False, repr=False)
class StructuredType(ComposedType):
    """A class with attributes, identified by a class name or by its path in a catalog.

    >>> print(StructuredType("com.acme.User", [RowField("id", StructuredType("x.Y"))]))
    STRUCTURED<'com.acme.User', `id` STRUCTURED<'x.Y', >>
    """

    keyword = "STRUCTURED"
    root = TypeRoot.STRUCTURED_TYPE

    class_name: str | None
    fields: tuple[RowField, ...]
    path: tuple[str, ...]
    description: str | None

    def __init__(
        self,
        class_name: str | None,
        fields: Iterable[RowField] = (),
        nullable: bool = True,
        *,
        path: tuple[str, ...] = (),
        description: str | None = None,
    ) -> None:
        self._fill(
            nullable,
            class_name=class_name,
            fields=require_fields(fields),
            path=require_path(path),
            description=description,
        )
        if class_name is None and not path:
            raise SchemaError(
                "a structured type requires a class name or a path", code="invalid-name"
            )
        if class_name is not None:
            require_class_name(class_name)

    def children(self) -> tuple[DataType, ...]:
        return tuple(field.data_type for field in self.fields)

    def _rebuild(self, children: tuple[DataType, ...]) -> Self:
        pairs = zip(self.fields, children, strict=True)
        return type(self)(
            self.class_name,
            [field.with_type(type_) for field, type_ in pairs],
            self.is_nullable,
            path=self.path,
            description=self.description,
        )

    def body(self) -> str:
        if self.path:
            return ".".join(map(quote_identifier, self.path))
        name = quote_string(self.class_name or "")
        return f"STRUCTURED<{name}, {', '.join(map(str, self.fields))}>"

    def summary_body(self) -> str:
        if self.path:
            return self.body()
        fields = ", ".join(field.as_summary_string() for field in self.fields)
        return f"STRUCTURED<{quote_string(self.class_name or '')}, {fields}>"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class DistinctType(ComposedType):
    """A named type over a source type, whose nullability it has."""

    keyword = "DISTINCT"
    root = TypeRoot.DISTINCT_TYPE

    path: tuple[str, ...]
    source_type: DataType
    description: str | None

    def __init__(
        self, path: tuple[str, ...], source_type: DataType, *, description: str | None = None
    ) -> None:
        source = require_type(source_type, "the source")
        self._fill(
            source.is_nullable,
            path=require_path(path),
            source_type=source,
            description=description,
        )

    def with_nullability(self, nullable: bool) -> DistinctType:
        source = self.source_type.with_nullability(nullable)
        return DistinctType(self.path, source, description=self.description)

    def children(self) -> tuple[DataType, ...]:
        return (self.source_type,)

    def _rebuild(self, children: tuple[DataType, ...]) -> DistinctType:
        (source,) = children
        return DistinctType(self.path, source, description=self.description)

    def body(self) -> str:
        return ".".join(map(quote_identifier, self.path))


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RawType(DataType):
    """Bytes that only the serializer of a Java class can decode.

    A `snapshot` of None means the serializer that Flink chooses when a job starts.
    """

    keyword = "RAW"
    root = TypeRoot.RAW

    class_name: str
    snapshot: str | None

    def __init__(self, class_name: str, snapshot: str | None, nullable: bool = True) -> None:
        self._fill(nullable, class_name=class_name, snapshot=snapshot)
        if not require_text(class_name, "the class name").startswith("["):  # "[B" is byte[]
            require_class_name(class_name)
        if snapshot is not None:
            require_text(snapshot, "the snapshot of the serializer")

    def body(self) -> str:
        snapshot = "?" if self.snapshot is None else quote_string(self.snapshot)
        return f"RAW({quote_string(self.class_name)}, {snapshot})"

    def summary_body(self) -> str:
        snapshot = "?" if self.snapshot is None else "'...'"
        return f"RAW({quote_string(self.class_name)}, {snapshot})"

    def unserializable(self) -> str | None:
        return None if self.snapshot is not None else f"{self.body()} has no serializer yet"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class LegacyType(DataType):
    """A type from before Flink 1.9, stored as its type information; always nullable.

    Its root is a parameter: ``LEGACY('DECIMAL', 'DECIMAL')`` has no precision and scale.
    """

    keyword = "LEGACY"

    root: TypeRoot  # type: ignore[misc]  # the one type whose root is a parameter
    information: str

    def __init__(self, root: TypeRoot, information: str) -> None:
        if not isinstance(root, TypeRoot):
            raise SchemaError(f"expected a type root, got {show(root)}", code="invalid-type")
        information = require_text(information, "the information")
        self._fill(nullable=True, root=root, information=information)

    def with_nullability(self, nullable: bool) -> Self:
        """The type itself: Flink ignores NOT NULL here."""
        return self

    def body(self) -> str:
        return f"LEGACY({quote_string(self.root.value)}, {quote_string(self.information)})"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class UnresolvedType(DataType):
    """The unresolved name of a user-defined type."""

    keyword = "UNRESOLVED"
    root = TypeRoot.UNRESOLVED

    path: tuple[str, ...]

    def __init__(self, path: tuple[str, ...], nullable: bool = True) -> None:
        self._fill(nullable, path=require_path(path))

    def body(self) -> str:
        return ".".join(map(quote_identifier, self.path))

    def unserializable(self) -> str | None:
        return f"the user-defined type {self.body()} is not resolved"


class PythonType(DataType):
    """A type that has no root in Flink."""

    __slots__ = ()
    root = TypeRoot.UNRESOLVED

    def unserializable(self) -> str | None:
        return self.misplaced()


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ListViewType(PythonType, ComposedType):  # type: ignore[misc] # slots of one of them only
    """A list in the state of an aggregate function, never NULL.

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
        return self

    def children(self) -> tuple[DataType, ...]:
        return (self.element_type,)

    def _rebuild(self, children: tuple[DataType, ...]) -> Self:
        return type(self)(*children)

    def body(self) -> str:
        return f"LIST_VIEW<{self.element_type}>"

    def __str__(self) -> str:
        return self.body()

    def misplaced(self) -> str | None:
        return f"{self.body()} is for the state of an aggregate function"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class MapViewType(PythonType, ComposedType):  # type: ignore[misc] # slots of one of them only
    """A map in the state of an aggregate function, never NULL."""

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
        return self

    def children(self) -> tuple[DataType, ...]:
        return (self.key_type, self.value_type)

    def _rebuild(self, children: tuple[DataType, ...]) -> Self:
        return type(self)(*children)

    def body(self) -> str:
        return f"MAP_VIEW<{self.key_type}, {self.value_type}>"

    def __str__(self) -> str:
        return self.body()

    def misplaced(self) -> str | None:
        return f"{self.body()} is for the state of an aggregate function"


class UserDefinedType(PythonType):
    """Base class of types for Python objects, with their storage type and serialization.

    The attribute ``__UDT__`` of a class is the type of its objects.

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
    ...     x, y = 1.0, 2.0
    >>> PointType().accepts(Point()), PointType().accepts([1.0, 2.0])
    (True, False)
    """

    __slots__ = ()
    keyword = "PYTHON"

    @classmethod
    def type_name(cls) -> str:
        return cls.__name__.lower()

    @classmethod
    def sql_type(cls) -> DataType:
        """The type of the values that `serialize` returns."""
        raise _missing(cls, "sql_type")

    @classmethod
    def module(cls) -> str:
        """The Python module that declares the type."""
        return cls.__module__

    @classmethod
    def java_udt(cls) -> str:
        """The name of the class in Java that the type wraps: empty, since there is none."""
        return ""

    def serialize(self, obj: Any) -> Any:
        """Convert an object to a value of `sql_type`."""
        raise _missing(type(self), "serialize")

    def deserialize(self, datum: Any) -> Any:
        """Convert a value of `sql_type` back to an object."""
        raise _missing(type(self), "deserialize")

    def body(self) -> str:
        return f"PYTHON({self.module()}.{type(self).__qualname__})"

    def misplaced(self) -> str | None:
        return f"{self.body()} exists only in Python; declare its storage type"


def _missing(kind: type, method: str) -> UnsupportedError:
    return UnsupportedError(f"{kind.__name__} does not implement {method}", code="invalid-type")
