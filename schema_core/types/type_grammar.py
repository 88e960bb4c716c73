"""The grammar of type strings that all systems share: names, parameters, nested types, fields.

A system is a subclass of `TypeGrammar` with a table of its names: Flink's type strings
(`types.type_parser`), its legacy types (`types.legacy`), types in SQL (`sql.type_name`), Spark and
Hive (`mappings.spark.ddl`) and other SQL engines (`mappings.dialects.grammar`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from schema_core.base.cursor import Cursor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

C = TypeVar("C", bound=Cursor)
#: What the types and the fields of a system are parsed to.
Type = TypeVar("Type")
Field = TypeVar("Field")

#: Collections that may follow their element type.
POSTFIX = frozenset({"ARRAY", "MULTISET"})

#: Opening bracket -> closing bracket.
BRACKETS = {"(": ")", "<": ">"}


def parse_numbers(cursor: C, most: int, integer: Callable[[C], int]) -> list[int]:
    """Parse up to `most` integers in optional parentheses."""
    if not cursor.accept("("):
        return []
    values = [integer(cursor)]
    while len(values) < most and cursor.accept(","):
        values.append(integer(cursor))
    cursor.expect(")")
    return values


class TypeGrammar(Generic[C, Type, Field]):
    """The type strings of a system."""

    #: Keyword -> parser of what follows it, called with the grammar and the cursor.
    names: ClassVar[Mapping[str, Callable[[Any, Any], Any]]]

    #: Defined by each system whose types have such parts.
    integer: Callable[[C], int]
    string: Callable[[C], str]
    field: Callable[[C], Field]

    #: The brackets of the fields of a row.
    row_brackets: ClassVar[Mapping[str, str]] = BRACKETS
    #: Whether a row may have no fields.
    has_empty_rows: ClassVar[bool] = True
    #: Whether ``WITH TIME ZONE`` is a type.
    has_time_zones: ClassVar[bool] = False

    # --- types ---------------------------------------------------------------------------------

    def type_(self, cursor: C) -> Type:
        """Parse a type, one level deeper than the cursor."""
        cursor.descend()
        type_ = self.named_type(cursor)
        cursor.depth -= 1
        return type_

    def named_type(self, cursor: C) -> Type:
        parse = self.names.get(cursor.key)
        if parse is None:
            return self.other_type(cursor)
        cursor.index += 1
        type_: Type = parse(self, cursor)
        return type_

    def other_type(self, cursor: C) -> Type:
        """Parse a type whose name is not in the table."""
        raise cursor.fail(f"expected a type, found {cursor.found}")

    def nullability(self, cursor: C) -> bool | None:
        """Parse ``NOT NULL`` or ``NULL``; None if neither follows."""
        if cursor.accept("NOT"):
            cursor.expect("NULL")
            return False
        return True if cursor.accept("NULL") else None

    # --- parameters ----------------------------------------------------------------------------

    def number(self, cursor: C, default: int) -> int:
        """Parse an integer in optional parentheses."""
        values = parse_numbers(cursor, 1, self.integer)
        return values[0] if values else default

    def time_zone(self, cursor: C) -> str:
        """Parse an optional time zone to its first word: WITHOUT, LOCAL, WITH or empty."""
        if cursor.accept("WITH"):
            if cursor.accept("LOCAL"):
                zone = "LOCAL"
            elif self.has_time_zones:
                zone = "WITH"
            else:
                raise cursor.missing("LOCAL")
        elif cursor.accept("WITHOUT"):
            zone = "WITHOUT"
        else:
            return ""
        cursor.expect("TIME", "ZONE")
        return zone

    def strings(self, cursor: C) -> tuple[str, str]:
        """Parse two strings in parentheses: ``RAW('class', 'snapshot')``."""
        cursor.expect("(")
        first = self.string(cursor)
        cursor.expect(",")
        second = self.string(cursor)
        cursor.expect(")")
        return first, second

    # --- nested types --------------------------------------------------------------------------

    def element(self, cursor: C) -> Type:
        cursor.expect("<")
        element = self.part(cursor, "element")
        cursor.expect(">")
        return element

    def entry(self, cursor: C) -> tuple[Type, Type]:
        cursor.expect("<")
        key = self.part(cursor, "key")
        cursor.expect(",")
        value = self.part(cursor, "value")
        cursor.expect(">")
        return key, value

    def part(self, cursor: C, position: str) -> Type:
        """Parse an element, key or value type."""
        return self.type_(cursor)

    def row(self, cursor: C) -> list[Field]:
        """Parse the fields of a row in brackets."""
        if cursor.accept("<>"):
            return []
        closing = self.row_brackets.get(cursor.key)
        if closing is None:
            raise self.missing_bracket(cursor)
        cursor.index += 1
        fields = self.fields(cursor, closing)
        cursor.index += 1
        return fields

    def structured(self, cursor: C) -> tuple[str, list[Field]]:
        """Parse class and attributes of ``STRUCTURED<'com.acme.Point', x INT>``."""
        cursor.expect("<")
        name = self.string(cursor)
        fields = self.fields(cursor, ">") if cursor.accept(",") else []
        cursor.expect(">")
        return name, fields

    def fields(self, cursor: C, closing: str) -> list[Field]:
        """Parse fields up to the closing token, which is not consumed."""
        if self.has_empty_rows and cursor.key == closing:
            return []
        fields = [self.field(cursor)]
        while cursor.accept(","):
            fields.append(self.field(cursor))
        if cursor.key != closing:
            raise self.missing_comma(cursor, closing)
        return fields

    def missing_bracket(self, cursor: C) -> Exception:
        """The error for a row without fields."""
        return cursor.missing("<")

    def missing_comma(self, cursor: C, closing: str) -> Exception:
        """The error for a field that neither a comma nor `closing` follows."""
        return cursor.missing(",")
