"""Evolution of Iceberg's schemas: a field keeps its id while its values can be read.

A field is found by its name, or by the name that it had before it was renamed. Source: "Schema
Evolution" in the Iceberg table specification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

from pyiceberg.schema import Schema, index_by_name
from pyiceberg.types import (
    DoubleType,
    FloatType,
    IcebergType,
    ListType,
    MapType,
    NestedField,
    PrimitiveType,
    StructType,
)

from schema_core.base.lazy import dataclass
from schema_core.errors import UnsupportedError, at
from schema_core.mappings.iceberg.types import from_iceberg, to_field, to_iceberg
from schema_core.mappings.stored_types import ICEBERG, READINGS, Reading, entry_types
from schema_core.types import ArrayType, DataType, MultisetType, RowField, RowType
from schema_core.types import MapType as FlinkMapType

if TYPE_CHECKING:
    from schema_core.mappings.iceberg.types import NextId

#: Names of fields from the column, with `element`, `key` and `value` between them.
FieldPath: TypeAlias = tuple[str, ...]


def new_schema(columns: Iterable[RowField], key: Sequence[str], *, nanoseconds: bool) -> Schema:
    """Return the schema of a new table.

    Args:
        columns: The physical columns.
        key: The columns of the primary key, which become identifier fields if Iceberg allows it.
        nanoseconds: As in `to_iceberg`.

    Raises:
        UnsupportedError: with code `not-representable`.
    """
    next_id = count(1).__next__
    fields = [to_field(column, next_id, nanoseconds=nanoseconds) for column in columns]
    return _make_schema(fields, key)


def _make_schema(fields: Sequence[NestedField], key: Sequence[str], schema_id: int = 0) -> Schema:
    """Return a schema; Iceberg joins names by dots, and refuses two fields with one name."""
    try:
        index_by_name(StructType(*fields))
    except ValueError as error:
        raise UnsupportedError(
            f"Iceberg joins the names of fields by dots: {error}",
            code="not-representable",
            hint="rename the column whose name contains a dot",
        ) from error
    return Schema(*fields, schema_id=schema_id, identifier_field_ids=identifier_ids(fields, key))


def identifier_ids(fields: Sequence[NestedField], key: Sequence[str]) -> list[int]:
    """Return the ids of a primary key's columns; none if one cannot identify rows in Iceberg.

    They are required and not floating point numbers (specification, "Identifier Field IDs").
    """
    by_name = {field.name: field for field in fields}
    columns = [by_name[name] for name in key if name in by_name]
    allowed = [
        field
        for field in columns
        if field.required
        and isinstance(field.field_type, PrimitiveType)
        and not isinstance(field.field_type, FloatType | DoubleType)
    ]
    return [field.field_id for field in allowed] if len(allowed) == len(key) else []


@dataclass(frozen=True, slots=True)
class SchemaEvolution:
    """How the fields of a schema become those of another definition.

    Attributes:
        next_id: Returns the ids of new fields.
        names: The path of a renamed field -> the name that it had.
        has_rows: Whether files must still be read.
        nanoseconds: As in `to_iceberg`.
    """

    next_id: NextId
    names: Mapping[FieldPath, str]
    has_rows: bool
    nanoseconds: bool = False

    def evolve(
        self, old: Sequence[NestedField], new: Iterable[RowField], path: FieldPath = ()
    ) -> list[NestedField]:
        """Return the fields of a row, those that remain with their ids.

        Raises:
            UnsupportedError: with code `not-representable` for a type that Iceberg lacks, and for a
                change after which existing files could not be read.
        """
        by_name = {field.name: field for field in old}
        result = []
        for field in new:
            inner = (*path, field.name)
            with at(f"field {field.name!r}"):
                before = by_name.get(self.names.get(inner, field.name))
                result.append(self._evolve_field(before, field, inner))
        return result

    def _evolve_field(self, old: NestedField | None, new: RowField, path: FieldPath) -> NestedField:
        type_ = None if old is None else self._evolve_type(old.field_type, new.data_type, path)
        if old is None or type_ is None:
            if self.has_rows and not new.data_type.is_nullable:
                raise _refusal("a new field must be nullable: existing rows do not have it")
            return to_field(new, self.next_id, nanoseconds=self.nanoseconds)
        if old.optional and not new.data_type.is_nullable and self.has_rows:
            raise _refusal("a nullable field cannot become NOT NULL: existing rows may have NULL")
        changes = {
            "name": new.name,
            "field_type": type_,
            "required": not new.data_type.is_nullable,
            "doc": new.description,
        }
        return old.model_copy(update=changes)

    def _evolve_type(self, old: IcebergType, new: DataType, path: FieldPath) -> IcebergType | None:
        """Return the type with the ids that remain; None if the field must be a new one."""
        match old, new:
            case StructType(), RowType():
                return StructType(*self.evolve(old.fields, new.fields, path))
            case ListType(), ArrayType():
                element = self._evolve_type(old.element_type, new.element_type, (*path, "element"))
                if element is None:
                    return None
                self._require_nullability(old.element_required, new.element_type)
                return ListType(
                    element_id=old.element_id,
                    element=element,
                    element_required=not new.element_type.is_nullable,
                )
            case MapType(), FlinkMapType() | MultisetType():
                return self._evolve_map(old, new, path)
        return self._evolve_primitive(old, new)

    def _evolve_map(
        self, old: MapType, new: FlinkMapType | MultisetType, path: FieldPath
    ) -> IcebergType | None:
        new_key, new_value = entry_types(new)
        key = self._evolve_type(old.key_type, new_key, (*path, "key"))
        value = self._evolve_type(old.value_type, new_value, (*path, "value"))
        if key is None or value is None:
            return None
        self._require_nullability(old.value_required, new_value)
        return MapType(
            key_id=old.key_id,
            key_type=key,
            value_id=old.value_id,
            value_type=value,
            value_required=not new_value.is_nullable,
        )

    def _require_nullability(self, was_required: bool, new: DataType) -> None:
        if self.has_rows and not was_required and not new.is_nullable:
            raise _refusal("nullable elements cannot become NOT NULL: existing rows may have NULL")

    def _evolve_primitive(self, old: IcebergType, new: DataType) -> IcebergType | None:
        type_ = to_iceberg(new, self.next_id, nanoseconds=self.nanoseconds)
        if type_ == old or (old.is_primitive and from_iceberg(old) == new.nullable()):
            return old
        if old.is_primitive and ICEBERG.promotes(from_iceberg(old), new):
            return type_
        if self.has_rows:
            raise _refusal(f"Iceberg does not read {old} as {type_}")
        return None


def require_no_narrowing(old: RowType, new: RowType, names: Mapping[FieldPath, str]) -> None:
    """Require that each value of existing rows is one of the new types.

    Types such as TINYINT and VARCHAR(5) are in the definition only: Iceberg's types do not differ.

    Args:
        old: The columns before a change, as they were declared.
        new: The columns after it.
        names: As in `SchemaEvolution`, which decides about nullability and new fields.

    Raises:
        UnsupportedError: with code `not-representable`.
    """
    renames = {
        tuple(names.get(path[: size + 1], name) for size, name in enumerate(path)): path[-1]
        for path in names
    }
    for finding in ICEBERG.findings(old, new, renames=renames):
        if finding.kind in DECIDED_BY_EVOLUTION or READINGS[finding.kind][0] is Reading.EXACT:
            continue
        with at(f"field {'.'.join(finding.path)!r}"):
            raise _refusal(f"the table has rows: {finding.reason}")


#: Findings about nullability, which `SchemaEvolution` refuses if rows may have NULL.
DECIDED_BY_EVOLUTION = ("nullability-narrowed", "required-field-added")


def _refusal(problem: str) -> UnsupportedError:
    return UnsupportedError(
        problem,
        code="not-representable",
        hint="add another column, and fill it with UPDATE",
    )


def evolve_schema(
    old: Schema,
    columns: Iterable[RowField],
    key: Sequence[str],
    last_id: int,
    evolution: Callable[[NextId], SchemaEvolution],
) -> Schema:
    """Return the schema of a table after a change, with the ids of the fields that remain.

    `last_id` is the highest id that the table has ever had. Errors as `SchemaEvolution.evolve`.
    """
    fields = evolution(count(last_id + 1).__next__).evolve(old.fields, columns)
    return _make_schema(fields, key, old.schema_id)


def same_fields(first: Schema, second: Schema) -> bool:
    """Return whether schemas have the same fields, with their ids, whatever their own ids are.

    For pyiceberg, two schemas without fields are not equal.
    """
    ids = (set(schema.identifier_field_ids) for schema in (first, second))
    return bool(first.as_struct() == second.as_struct()) and next(ids) == next(ids)


def former_names(renames: Iterable[tuple[FieldPath, str]]) -> dict[FieldPath, str]:
    """Return the new path of each renamed field with its former name.

    `renames` are the path before each rename, in order, and the new name.

    >>> former_names([(("a",), "b"), (("b",), "c"), (("c", "x"), "y")])
    {('c',): 'a', ('c', 'y'): 'x'}
    """
    result: dict[FieldPath, str] = {}
    for path, name in renames:
        new = (*path[:-1], name)
        moved = {
            (*new, *inner[len(path) :]) if inner[: len(path)] == path else inner: former
            for inner, former in result.items()
        }
        former = result.get(path, path[-1])
        result = {**moved, new: former}
    return {path: former for path, former in result.items() if path[-1] != former}
