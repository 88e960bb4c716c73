"""User-defined types and opaque ones: structured, distinct, RAW, legacy, names not looked up.

Class names and serializer snapshots are opaque text: nothing they name is ever imported or run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from unicodedata import category

from schema_core.errors import SchemaError, UnsupportedError, similar
from schema_core.text import is_blank, quote_identifier, quote_string, show
from schema_core.types.base import DataType
from schema_core.types.families import TypeRoot
from schema_core.types.hints import foreign
from schema_core.types.nested import (
    ComposedType,
    RowField,
    require_fields,
    require_text,
    require_type,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


#: Words that are no names in Java (JLS 3.9), nor parts of the name of a class.
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

#: Unicode categories that begin a name in Java, and those that go on with it (JLS 3.8).
STARTS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Sc", "Pc"})
PARTS = STARTS | {"Nd", "Mn", "Mc", "Cf"}


def is_class_name(text: str) -> bool:
    """Whether the text can name a Java class: names with dots between them."""
    return all(_is_java_name(part) for part in text.split("."))


def require_class_name(value: object) -> None:
    """Refuse what cannot name a Java class."""
    if not is_class_name(require_text(value, "the class name")):
        raise SchemaError(f"{show(value)} is no class name", code="invalid-class-name")


def require_path(value: object) -> tuple[str, ...]:
    """The value if it is a tuple of texts; a clear refusal if it is anything else."""
    if not isinstance(value, tuple) or not all(isinstance(part, str) for part in value):
        raise SchemaError(f"{show(value)} is no tuple of names", code="not-a-string")
    return value


def _is_java_name(text: str) -> bool:
    if not text or text in JAVA_WORDS or category(text[0]) not in STARTS:
        return False
    return all(category(one) in PARTS or _is_ignorable(one) for one in text)


def _is_ignorable(character: str) -> bool:
    """Control characters but white space are part of a name in Java, and say nothing."""
    return category(character) == "Cc" and not is_blank(character)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class StructuredType(ComposedType):
    """A class with attributes, named by a class name or by its path in a catalog.

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
                "a structured type needs a class name or a path", code="invalid-class-name"
            )
        if class_name is not None:
            require_class_name(class_name)

    def children(self) -> tuple[DataType, ...]:
        """The types of the attributes."""
        return tuple(one.data_type for one in self.fields)

    def rebuild(self, children: tuple[DataType, ...]) -> Self:
        """The same attributes of other types."""
        pairs = zip(self.fields, children, strict=True)
        return type(self)(
            self.class_name,
            [one.with_type(type_) for one, type_ in pairs],
            self.is_nullable,
            path=self.path,
            description=self.description,
        )

    def body(self) -> str:
        """The path when it has one, else class name and attributes."""
        if self.path:
            return ".".join(map(quote_identifier, self.path))
        name = quote_string(self.class_name or "")
        return f"STRUCTURED<{name}, {', '.join(map(str, self.fields))}>"

    def summary_body(self) -> str:
        """The same with the attributes' summaries."""
        if self.path:
            return self.body()
        fields = ", ".join(one.as_summary_string() for one in self.fields)
        return f"STRUCTURED<{quote_string(self.class_name or '')}, {fields}>"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class DistinctType(ComposedType):
    """Another type under a name of its own; it is nullable when its source is."""

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
        """The source decides, so it is the source that changes."""
        source = self.source_type.with_nullability(nullable)
        return DistinctType(self.path, source, description=self.description)

    def children(self) -> tuple[DataType, ...]:
        """The source."""
        return (self.source_type,)

    def rebuild(self, children: tuple[DataType, ...]) -> DistinctType:
        """The same name over another source."""
        (source,) = children
        return DistinctType(self.path, source, description=self.description)

    def body(self) -> str:
        """Its path."""
        return ".".join(map(quote_identifier, self.path))


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RawType(DataType):
    """Bytes that only a Java class with its serializer understands; both are kept as text.

    A `snapshot` of None stands for the serializer that Flink would choose when a job starts.
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
        """Class name and snapshot as strings."""
        snapshot = "?" if self.snapshot is None else quote_string(self.snapshot)
        return f"RAW({quote_string(self.class_name)}, {snapshot})"

    def summary_body(self) -> str:
        """The snapshot is shortened."""
        snapshot = "?" if self.snapshot is None else "'...'"
        return f"RAW({quote_string(self.class_name)}, {snapshot})"

    def unserializable(self) -> str | None:
        """Without its serializer nobody could read the values."""
        return None if self.snapshot is not None else f"{self.body()} has no serializer yet"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class LegacyType(DataType):
    """A type of before Flink 1.9, kept as the text of its type information; it is always nullable.

    Its root is the one that it names: ``LEGACY('DECIMAL', 'DECIMAL')`` is a decimal without
    precision and scale.
    """

    keyword = "LEGACY"

    root: TypeRoot  # type: ignore[misc]  # the one type whose root is a parameter
    information: str

    def __init__(self, root: TypeRoot, information: str) -> None:
        if not isinstance(root, TypeRoot):
            raise SchemaError(f"{show(root)} is no type root", code="invalid-legacy-type")
        information = require_text(information, "the information")
        self._fill(nullable=True, root=root, information=information)

    def with_nullability(self, nullable: bool) -> Self:
        """Itself: Flink forgets a NOT NULL here."""
        return self

    def body(self) -> str:
        """Root and information as strings."""
        return f"LEGACY({quote_string(self.root.value)}, {quote_string(self.information)})"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class UnresolvedType(DataType):
    """The name of a user-defined type that nobody has looked up yet."""

    keyword = "UNRESOLVED"
    root = TypeRoot.UNRESOLVED

    path: tuple[str, ...]

    def __init__(self, path: tuple[str, ...], nullable: bool = True) -> None:
        self._fill(nullable, path=require_path(path))

    def body(self) -> str:
        """Its path."""
        return ".".join(map(quote_identifier, self.path))

    def unserializable(self) -> str | None:
        """A name that may mean anything is nothing to keep."""
        return f"the user-defined type {self.body()} is not resolved"


def require_resolved(type_: DataType) -> DataType:
    """The type, if a column may be of it: no name in it is left to be looked up.

    Raises:
        UnsupportedError: with code `unknown-type` for the first such name, `type-not-in-schema` for
            a type that stands for the state of a function or for objects of Python.
    """
    for part in require_type(type_, "the type").walk():
        if reason := part.misplaced():
            raise UnsupportedError(reason, code="type-not-in-schema")
        if isinstance(part, UnresolvedType):
            from schema_core.types.syntax import GRAMMAR

            name = ".".join(part.path).upper()
            meant = foreign(name) or similar(name, GRAMMAR)
            raise UnsupportedError(
                f"unknown type {part.body()}",
                code="unknown-type",
                hint=meant or "a name that is no type of SQL must be registered in a catalog",
            )
    return type_
