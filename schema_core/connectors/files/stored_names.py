"""The names that files have for renamed columns and fields.

Files of one age are read by their names: `stored_type` is the type by which Spark reads them. Rows
of unknown age are read as `every_name`, and `current_value` selects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Final, TypeAlias

from schema_core.catalog.changes.column_history import ABSENT, paths_of
from schema_core.schema.columns import UnresolvedPhysicalColumn
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import Case, Field, Lambda, Node, Variable, call, fail
from schema_core.spark.jobs import HINT
from schema_core.types import ArrayType, DataType, MapType, MultisetType, RowField, RowType

if TYPE_CHECKING:
    from pyspark.sql.types import DataType as SparkType
    from pyspark.sql.types import StructType

    from schema_core.catalog.changes.column_history import Layout
    from schema_core.catalog.changes.table_changes import Path
    from schema_core.connectors.files.file_ages import FileAges

#: Former names in a file, by current path, in the order of columns.
StoredNames: TypeAlias = "tuple[tuple[Path, str], ...]"

REWRITE: Final = "rewrite the table, which replaces its older files"


# --- files that list their names -----------------------------------------------------------------


def stored_names(fields: Sequence[RowField], layout: Layout) -> StoredNames:
    """Return the columns and fields with another name in files of a layout, and this name.

    What the files do not hold has a name that no file has, so that it is read as NULL.
    """
    paths = paths_of(UnresolvedPhysicalColumn(field.name, field.data_type) for field in fields)
    stored = ((path, layout.paths.get(path, (ABSENT + path[-1],))[-1]) for path in paths)
    return tuple((path, name) for path, name in stored if name != path[-1])


def _rows(
    type_: DataType, found: SparkType, path: Path
) -> Iterator[tuple[RowType, StructType, Path]]:
    """Yield the outermost rows of a type with their types in a file, and their paths."""
    from pyspark.sql.types import ArrayType as SparkArray
    from pyspark.sql.types import MapType as SparkMap
    from pyspark.sql.types import StructType

    match type_, found:
        case RowType(), StructType():
            yield type_, found, path
        case ArrayType(element_type=element), SparkArray():
            yield from _rows(element, found.elementType, (*path, "element"))
        case MultisetType(element_type=element), SparkMap():
            yield from _rows(element, found.keyType, (*path, "element"))
        case MapType(key_type=key, value_type=value), SparkMap():
            yield from _rows(key, found.keyType, (*path, "key"))
            yield from _rows(value, found.valueType, (*path, "value"))
        case _:
            pass


def repeated_name(
    fields: Sequence[RowField], found: StructType, ages: FileAges, path: Path = ()
) -> tuple[Path, tuple[str, ...]] | None:
    """Return the path of a column or field that a file may have by several names, and these."""
    types = {field.name: field.dataType for field in found.fields}
    for field in fields:
        where = (*path, field.name)
        names = tuple(item for item in ages.names_of(*where) if item in types)
        if len(names) > 1:
            return where, names
        if names and ages.has_fields(*where):
            for row, inner, rest in _rows(field.data_type, types[names[0]], where):
                if (twice := repeated_name(row.fields, inner, ages, rest)) is not None:
                    return twice
    return None


def with_current_names(
    found: StructType, fields: Sequence[RowField], names: Mapping[Path, str], path: Path = ()
) -> StructType:
    """Return the schema of a file with current names.

    A column of another name that a current one has now was dropped later.
    """
    from pyspark.sql.types import StructField, StructType

    current = {names.get((*path, field.name), field.name): field for field in fields}
    others = {field.name for field in fields}
    kept = []
    for item in found.fields:
        if item.name in current:
            field = current[item.name]
            type_ = _current_type(item.dataType, field.data_type, names, (*path, field.name))
            kept.append(StructField(field.name, type_, item.nullable))
        elif item.name not in others:
            kept.append(item)
    return StructType(kept)


def _current_type(
    found: SparkType, type_: DataType, names: Mapping[Path, str], path: Path
) -> SparkType:
    from pyspark.sql.types import ArrayType as SparkArray
    from pyspark.sql.types import MapType as SparkMap
    from pyspark.sql.types import StructType

    match type_, found:
        case RowType(fields=fields), StructType():
            return with_current_names(found, fields, names, path)
        case ArrayType(element_type=element), SparkArray():
            inner = _current_type(found.elementType, element, names, (*path, "element"))
            return SparkArray(inner, found.containsNull)
        case MultisetType(element_type=element), SparkMap():
            key = _current_type(found.keyType, element, names, (*path, "element"))
            return SparkMap(key, found.valueType, found.valueContainsNull)
        case MapType(key_type=key_type, value_type=value_type), SparkMap():
            key = _current_type(found.keyType, key_type, names, (*path, "key"))
            value = _current_type(found.valueType, value_type, names, (*path, "value"))
            return SparkMap(key, value, found.valueContainsNull)
        case _:
            return found


def stored_type(type_: DataType, names: Mapping[Path, str], path: Path) -> DataType:
    """Return a type with a file's names of its fields.

    >>> from schema_core.types import parse_type
    >>> print(stored_type(parse_type("ARRAY<ROW<y INT>>"), {("a", "element", "y"): "x"}, ("a",)))
    ARRAY<ROW<`x` INT>>
    """

    def child(step: str, inner: DataType) -> DataType:
        return stored_type(inner, names, (*path, step))

    if isinstance(type_, RowType):
        fields = [
            RowField(names.get((*path, field.name), field.name), child(field.name, field.data_type))
            for field in type_.fields
        ]
        return RowType(fields, type_.is_nullable)
    return _rebuilt(type_, child)


def _rebuilt(type_: DataType, child: Callable[[str, DataType], DataType]) -> DataType:
    match type_:
        case ArrayType() | MultisetType():
            return type_.rebuild((child("element", type_.element_type),))
        case MapType():
            return type_.rebuild((child("key", type_.key_type), child("value", type_.value_type)))
        case _:
            return type_


# --- rows that do not list their names -----------------------------------------------------------


def every_name(type_: DataType, ages: FileAges, path: Path) -> DataType:
    """Return a type with a field for each name of its fields; those with several are nullable.

    >>> from schema_core.catalog.changes.column_history import ColumnHistory, LayoutChange
    >>> from schema_core.connectors.files.file_ages import FileAges
    >>> from schema_core.types import parse_type
    >>> history = ColumnHistory((LayoutChange(("r", "x"), ("r", "y")),))
    >>> ages = FileAges(history, [("r",), ("r", "y")])
    >>> print(every_name(parse_type("ROW<y INT NOT NULL>"), ages, ("r",)))
    ROW<`x` INT, `y` INT>
    """

    def child(step: str, inner: DataType) -> DataType:
        return every_name(inner, ages, (*path, step))

    if not ages.has_fields(*path):
        return type_
    if isinstance(type_, RowType):
        fields = []
        for field in type_.fields:
            names, inner = ages.names_of(*path, field.name), child(field.name, field.data_type)
            inner = inner.nullable() if len(names) > 1 else inner
            fields += [RowField(name, inner) for name in names]
        return RowType(fields, type_.is_nullable)
    return _rebuilt(type_, child)


def current_value(
    node: Node, type_: DataType, ages: FileAges, path: Path, *, is_checked: bool = False
) -> Node:
    """Return a value with current names of fields, from one of type `every_name`.

    With `is_checked`, a row that has a field by two of its names fails the job.
    """

    def map_elements(function: str, node: Node, inner: DataType, step: str) -> Node:
        where = (*path, step)
        if not ages.has_fields(*where):
            return node
        names = [Variable()] if function == "transform" else [Variable(), Variable()]
        part = names[-1] if function == "transform_values" else names[0]
        body = current_value(part, inner, ages, where, is_checked=is_checked)
        return call(function, node, Lambda(tuple(names), body))

    if not ages.has_fields(*path):
        return node
    match type_:
        case RowType(fields=fields):
            parts: list[Node | str] = []
            for field in fields:
                where = (*path, field.name)
                values = {name: Field(node, name) for name in ages.names_of(*where)}
                value = by_any_name(values, is_checked=is_checked)
                value = current_value(value, field.data_type, ages, where, is_checked=is_checked)
                parts += [field.name, value]
            row = call("named_struct", *parts)
            return inline("if({v} IS NULL, NULL, {row})", v=node, row=row)
        case ArrayType(element_type=element):
            return map_elements("transform", node, element, "element")
        case MultisetType(element_type=element):
            return map_elements("transform_keys", node, element, "element")
        case MapType(key_type=key, value_type=value):
            node = map_elements("transform_keys", node, key, "key")
            return map_elements("transform_values", node, value, "value")
        case _:
            return node


def by_any_name(values: Mapping[str, Node], *, is_checked: bool = False) -> Node:
    """Return a column or field from its values by each name, the oldest first.

    A row has one of them. With `is_checked`, a row with two fails the job.
    """
    nodes = [*values.values()]
    if len(nodes) == 1:
        return nodes[0]
    value = call("coalesce", *nodes)
    if not is_checked:
        return value
    present = [inline("int({v} IS NOT NULL)", v=node) for node in nodes]
    count = reduce(lambda first, second: inline("{a} + {b}", a=first, b=second), present)
    names = " and ".join(map(repr, values))
    problem = f"a file has {names}, of which one is the former name of the other{HINT}{REWRITE}"
    return Case(((inline("{n} > 1", n=count), fail(problem)),), value)
