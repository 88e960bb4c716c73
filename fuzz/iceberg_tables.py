"""Plans for Iceberg, executed on tables of pyiceberg: `python -m fuzz.iceberg_tables 500`.

The statements of a plan are Spark SQL, with the clauses of Iceberg's extensions. They are executed
by the operations of pyiceberg that they stand for, which apply the rules of the specification: a
type is only promoted, a column does not become required, identifier fields are required. The table
must then have the schema of a table that is created from the new definition, and its row the values
of before.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from fuzz.migration_plans import Renames, drawn_pair
from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.mappings.dialects import read_table
from schema_core.migration.plans import plan
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ResolvedSchema
from schema_core.types import ArrayType, DataType, MapType, RowType
from schema_core.types.families import TypeRoot

R = TypeRoot


def missing() -> str | None:
    """Return why tables of Iceberg cannot be created here."""
    if find_spec("pyiceberg") is None:
        return "the package pyiceberg is not installed"
    return None


def create_catalog(directory: str) -> Any:
    """Return a catalog in SQLite, with its tables in a directory."""
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("c", uri="sqlite://", warehouse=Path(directory).as_uri())
    catalog.create_namespace("db")
    return catalog


# --- definitions ---------------------------------------------------------------------------------


class FieldIds:
    """Convert types to those of Iceberg, with a number for each field."""

    def __init__(self) -> None:
        self.last = 0

    def next(self) -> int:
        """Return the next number."""
        self.last += 1
        return self.last

    def field(self, name: str, type_: DataType, comment: str | None) -> Any:
        """Return a field; it is required if its type is NOT NULL."""
        from pyiceberg import types

        number, inner = self.next(), self.type(type_)
        required = not type_.is_nullable
        return types.NestedField(number, name, inner, required=required, doc=comment)

    def type(self, type_: DataType) -> Any:
        """Return the type of Iceberg that Spark writes for a type."""
        from pyiceberg import types

        match type_:
            case ArrayType(element_type=element):
                required = not element.is_nullable
                return types.ListType(self.next(), self.type(element), element_required=required)
            case MapType(key_type=key, value_type=value):
                required = not value.is_nullable
                return types.MapType(
                    self.next(), self.type(key), self.next(), self.type(value), required
                )
            case RowType(fields=fields):
                inner = (self.field(each.name, each.data_type, each.description) for each in fields)
                return types.StructType(*inner)
        if type_.root is R.DECIMAL:
            return types.DecimalType(type_.precision, type_.scale)  # type: ignore[attr-defined]
        return getattr(types, ATOMIC[type_.root])()


#: Root -> the class of pyiceberg.
ATOMIC: Mapping[TypeRoot, str] = {
    R.BOOLEAN: "BooleanType", R.TINYINT: "IntegerType", R.SMALLINT: "IntegerType",
    R.INTEGER: "IntegerType", R.BIGINT: "LongType", R.FLOAT: "FloatType", R.DOUBLE: "DoubleType",
    R.CHAR: "StringType", R.VARCHAR: "StringType", R.BINARY: "BinaryType",
    R.VARBINARY: "BinaryType", R.DATE: "DateType", R.TIME_WITHOUT_TIME_ZONE: "TimeType",
    R.TIMESTAMP_WITHOUT_TIME_ZONE: "TimestampType",
    R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: "TimestamptzType",
}  # fmt: skip


def resolved_schema(table: CatalogTable) -> ResolvedSchema:
    """Return the schema of a table, resolved."""
    return resolve_table(table, SchemaResolver()).get_resolved_schema()


def create_table(catalog: Any, name: str, table: CatalogTable) -> Any:
    """Create a table with the physical columns of a definition, without its key."""
    from pyiceberg.schema import Schema

    ids = FieldIds()
    fields = [
        ids.field(column.name, column.data_type, column.comment)
        for column in resolved_schema(table).columns
        if column.is_physical()
    ]
    if catalog.table_exists(f"db.{name}"):
        catalog.drop_table(f"db.{name}")
    comment = {"comment": table.comment} if table.comment else {}
    return catalog.create_table(f"db.{name}", Schema(*fields), properties=comment)


# --- statements ----------------------------------------------------------------------------------

NAME = r"`(?:[^`]|``)+`"
PATH = rf"(?P<path>{NAME}(?:\.{NAME})*)"
PLACE = rf"(?P<place> FIRST| AFTER (?P<after>{NAME}))?"
COMMENT = r"(?: COMMENT '(?P<comment>(?:[^'\\]|\\.)*)')?"


def _names(text: str, separator: str = r"\.") -> tuple[str, ...]:
    parts = re.split(rf"(?<=`){separator}(?=`)", text)
    return tuple(part[1:-1].replace("``", "`") for part in parts)


def _type(text: str) -> Any:
    column = read_table(f"CREATE TABLE x (c {text})", "spark").schema.columns[0]
    return FieldIds().type(column.data_type)  # type: ignore[union-attr, arg-type]


def _text(match: re.Match[str]) -> str | None:
    comment = match["comment"]
    return None if comment is None else re.sub(r"\\(.)", r"\1", comment)


def _move(update: Any, path: tuple[str, ...], match: re.Match[str]) -> None:
    if match["after"]:
        update.move_after(path, (*path[:-1], *_names(match["after"])))
    elif match["place"]:
        update.move_first(path)


def _add(update: Any, match: re.Match[str]) -> None:
    path = _names(match["path"])
    update.add_column(path, _type(match["type"]), doc=_text(match))
    _move(update, path, match)


#: Pattern of an action of ALTER TABLE -> what it does to an update of a schema.
ACTIONS: Mapping[str, Callable[[Any, re.Match[str]], None]] = {
    rf"ADD COLUMN {PATH} (?P<type>.+?){COMMENT}{PLACE}": _add,
    rf"ALTER COLUMN {PATH} TYPE (?P<type>.+)": lambda update, match: update.update_column(
        _names(match["path"]), _type(match["type"])
    ),
    rf"ALTER COLUMN {PATH} DROP NOT NULL": lambda update, match: update.update_column(
        _names(match["path"]), required=False
    ),
    rf"ALTER COLUMN {PATH}{COMMENT}": lambda update, match: update.update_column(
        _names(match["path"]), doc=_text(match)
    ),
    rf"ALTER COLUMN {PATH}{PLACE}": lambda update, match: _move(
        update, _names(match["path"]), match
    ),
    rf"RENAME COLUMN {PATH} TO (?P<name>{NAME})": lambda update, match: update.rename_column(
        _names(match["path"]), _names(match["name"])[0]
    ),
    rf"DROP COLUMN {PATH}": lambda update, match: update.delete_column(_names(match["path"])),
    r"SET IDENTIFIER FIELDS (?P<names>.+)": lambda update, match: update.set_identifier_fields(
        *_names(match["names"], ", ")
    ),
    r"DROP IDENTIFIER FIELDS .+": lambda update, match: update.set_identifier_fields(),
}


def execute(catalog: Any, statement: str) -> None:
    """Execute a statement of a plan, except INSERT.

    Raises:
        ValueError: of pyiceberg, for what the specification does not allow.
        AssertionError: for a statement that is not known here.
    """
    if statement.startswith("CREATE TABLE"):
        text = statement.replace("USING iceberg", "")
        foreign = read_table(text, "spark")
        create_table(catalog, foreign.path[-1], foreign.table)
        return
    if match := re.fullmatch(rf"COMMENT ON TABLE {PATH} IS (?:NULL|'(?P<text>.*)')", statement):
        table = catalog.load_table(("db", _names(match["path"])[-1]))
        with table.transaction() as transaction:
            transaction.set_properties(comment=re.sub(r"\\(.)", r"\1", match["text"] or ""))
        return
    header = re.fullmatch(rf"ALTER TABLE {PATH} (?P<action>.+)", statement, re.DOTALL)
    assert header is not None, statement
    name, action = _names(header["path"])[-1], header["action"]
    if match := re.fullmatch(rf"RENAME TO {PATH}", action):
        catalog.rename_table(("db", name), ("db", _names(match["path"])[-1]))
        return
    table = catalog.load_table(("db", name))
    if match := re.fullmatch(rf"(?P<verb>ADD|DROP) PARTITION FIELD {PATH}", action):
        with table.update_spec() as spec:
            (field,) = _names(match["path"])
            spec.add_identity(field) if match["verb"] == "ADD" else spec.remove_field(field)
        return
    for pattern, apply in ACTIONS.items():
        if match := re.fullmatch(pattern, action, re.DOTALL):
            with table.update_schema() as update:
                apply(update, match)
            return
    raise AssertionError(statement)


# --- checks --------------------------------------------------------------------------------------


def describe(table: Any) -> list[Any]:
    """Return the columns of a table without numbers, its key, partitions and comment."""
    schema = table.schema()
    columns = [_described(field) for field in schema.fields]
    partitions = [field.name for field in table.spec().fields if "void" not in str(field.transform)]
    keys = sorted(schema.identifier_field_names())
    return [columns, keys, partitions, table.properties.get("comment") or None]


def _described(field: Any) -> Any:
    return field.name, _described_type(field.field_type), field.required, field.doc or None


def _described_type(type_: Any) -> Any:
    from pyiceberg import types

    if isinstance(type_, types.StructType):
        return [_described(field) for field in type_.fields]
    if isinstance(type_, types.ListType):
        return "list", _described_type(type_.element_type), type_.element_required
    if isinstance(type_, types.MapType):
        key, value = _described_type(type_.key_type), _described_type(type_.value_type)
        return "map", key, value, type_.value_required
    return str(type_)


#: Root -> a value.
VALUES: Mapping[TypeRoot, Any] = {
    R.BOOLEAN: True, R.FLOAT: 1.5, R.DOUBLE: 1.5, R.CHAR: "ab ", R.VARCHAR: "é", R.BINARY: b"\x01",
    R.VARBINARY: b"\x01", R.DATE: dt.date(2020, 1, 2),
    R.TIME_WITHOUT_TIME_ZONE: dt.time(3, 4, 5),
    R.TIMESTAMP_WITHOUT_TIME_ZONE: dt.datetime(2020, 1, 2, 3, 4, 5),  # noqa: DTZ001
    R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: dt.datetime(2020, 1, 2, tzinfo=dt.UTC),
}  # fmt: skip


def value_of(type_: DataType) -> Any:
    """Return a value of a type."""
    match type_:
        case ArrayType(element_type=element):
            return [value_of(element)]
        case MapType(key_type=key, value_type=value):
            return [(value_of(key), value_of(value))]
        case RowType(fields=fields):
            return {field.name: value_of(field.data_type) for field in fields}
    if type_.root is R.DECIMAL:
        return Decimal("1.50").quantize(Decimal(1).scaleb(-type_.scale))  # type: ignore[attr-defined]
    return VALUES.get(type_.root, 7)


def expected_value(value: Any, old: DataType, new: DataType) -> Any:
    """Return the value as a wider type has it: with the fields of the new rows."""
    match old, new:
        case RowType(), RowType():
            types = {field.name: field.data_type for field in old.fields}
            return {
                field.name: expected_value(value[field.name], types[field.name], field.data_type)
                if field.name in types
                else None
                for field in new.fields
            }
        case ArrayType(), ArrayType():
            return [expected_value(each, old.element_type, new.element_type) for each in value]
    return value


def check_pair(catalog: Any, old: CatalogTable, new: CatalogTable, renames: Renames) -> str:
    """Execute a plan on a table with a row; return how it went.

    Raises:
        AssertionError: for a table that differs from a new one, or for other rows.
        ValueError: if pyiceberg refuses a statement.
    """
    import pyarrow as pa

    result = plan(old, new, "iceberg", renames=renames, path=("db", "t"))
    table = create_table(catalog, "t", old)
    key = old.schema.primary_key
    stored = {column.name: column.data_type for column in _physical(old)}
    if key is not None and table_can_have_key(key.column_names, stored):
        with table.update_schema() as update:
            update.set_identifier_fields(*key.column_names)
    row = {name: value_of(type_) for name, type_ in stored.items()}
    table.append(pa.Table.from_pylist([row], schema=table.schema().as_arrow()))
    for name in ("t__new", "t__old"):
        if catalog.table_exists(("db", name)):
            catalog.drop_table(("db", name))
    for statement in result.statements:
        if not statement.startswith("INSERT"):
            execute(catalog, statement)
    after = catalog.load_table(("db", "t"))
    fresh = create_table(catalog, "fresh", new)
    wanted, types = new.schema.primary_key, {each.name: each.data_type for each in _physical(new)}
    if wanted is not None and table_can_have_key(wanted.column_names, types):
        with fresh.update_schema() as update:
            update.set_identifier_fields(*wanted.column_names)
    shown, expected = describe(after), describe(catalog.load_table(("db", "fresh")))
    lost = [loss for loss in result.losses if "NOT NULL" in loss]
    if lost:  # optional columns cannot become required, nor identifier fields
        shown, expected = (_without_required(each) for each in (shown, expected))
    assert expected == shown, f"{result}\nexpected {expected}\ngot {shown}"
    if result.rewrite is not None:
        return "rewrite"
    (values,) = after.scan().to_arrow().to_pylist()
    sources = {renames.get(name, name): name for name in row if name not in renames}
    sources |= {name: str(source) for source, name in renames.items() if source in row}
    for name, type_ in types.items():
        source = sources.get(name)
        before = None
        if source is not None:
            before = expected_value(row[source], stored[source], type_)
        assert before == values[name], f"{result}\n{name}: expected {before}, got {values[name]}"
    return "in place, NOT NULL lost" if lost else "in place"


def _physical(table: CatalogTable) -> list[Any]:
    return [column for column in resolved_schema(table).columns if column.is_physical()]


def table_can_have_key(names: tuple[str, ...], types: Mapping[str, DataType]) -> bool:
    """Return whether columns can be identifier fields: required, not floating and not nested."""
    return not any(
        types[name].is_nullable or types[name].children() or types[name].root in {R.FLOAT, R.DOUBLE}
        for name in names
    )


def _without_required(description: list[Any]) -> list[Any]:
    columns, _, *others = description
    return [[(name, type_, doc) for name, type_, _, doc in columns], *others]


def checks(count: int, seed: int) -> Iterator[str]:
    """Check drawn pairs; yield how each went."""
    with tempfile.TemporaryDirectory() as directory:
        catalog = create_catalog(directory)
        for number in range(seed, seed + count):
            yield check_pair(catalog, *drawn_pair(Random(number), for_flink=False))


def main() -> None:
    """Print how many pairs went how."""
    count = int(sys.argv[1])
    print(dict(Counter(checks(count, int(sys.argv[2]) if len(sys.argv) > 2 else 0))))


if __name__ == "__main__":
    main()
