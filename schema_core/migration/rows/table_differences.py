"""Differences between two tables: their columns, and their rows by key or as multisets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Final

from schema_core.base.arguments import require_instance, require_names
from schema_core.base.json_codec import write_json
from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.base.plugins import load_higher
from schema_core.base.secrets import mask_text
from schema_core.base.text import escaped, quantity, quote_identifier, shorten, show
from schema_core.catalog.changes.table_changes import describe
from schema_core.environment.planner import DifferenceKind, RowDifferences, RowSample
from schema_core.environment.table_api.table import Table, compare_rows
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaError, at, similar
from schema_core.migration.differences import RenameHints, TableChanges, diff
from schema_core.migration.rows.validation import column_renames
from schema_core.migration.targets.conversions import conversion
from schema_core.migration.targets.statement_writer import StatementWriter
from schema_core.migration.targets.target_statements import TARGETS
from schema_core.schema.columns import AnyColumn, ComputedColumn, MetadataColumn
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.types import CharType, DataType, DataTypes, VarCharType
from schema_core.types.casts import supports_explicit_cast

#: The version of the document in JSON.
VERSION: Final = 1
#: The most samples of each difference.
MAX_SAMPLES: Final = 100
#: Characters of a value in a report.
MAX_VALUE: Final = 200
#: What samples of duplicate keys have besides the key.
SIDES: Final = ("rows left", "rows right")
#: Characters of a query in a report.
MAX_QUERY: Final = 60
#: How a query begins, in place of the path of a table.
QUERY: Final = re.compile(r"\s*(?:SELECT|WITH|VALUES)\s|\s*\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ValueSample:
    """A difference of a column: the row's key, and the values as text."""

    key: Mapping[str, str]
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """The number of pairs of rows whose values of a column differ, with samples."""

    column: str
    rows: int
    samples: tuple[ValueSample, ...] = ()

    def __str__(self) -> str:
        return quantity(self.rows, "different value")


@dataclass(frozen=True, slots=True)
class TableDiff:
    """The differences between two tables.

    `key` is empty if the rows were compared as multisets. `equal` and `different` are numbers of
    pairs of rows; `only_left` and `only_right` are numbers of rows. The rows of a key that a table
    has more than once are compared as multisets, and the key is one of `duplicate_keys`. `rows`
    has samples by kind, as the values of a row by column. `notes` are what was not compared, or
    compared by a conversion.
    """

    left: str
    right: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    schema_changes: TableChanges
    equal: int
    different: int
    only_left: int
    only_right: int
    duplicate_keys: int
    column_differences: tuple[ColumnDifference, ...]
    rows: Mapping[DifferenceKind, tuple[Mapping[str, str], ...]]
    notes: tuple[str, ...] = ()

    @property
    def left_rows(self) -> int:
        """The number of rows of the left table."""
        return self.equal + self.different + self.only_left

    @property
    def right_rows(self) -> int:
        """The number of rows of the right table."""
        return self.equal + self.different + self.only_right

    @property
    def has_equal_rows(self) -> bool:
        """Whether the compared columns have the same rows."""
        return not (self.different or self.only_left or self.only_right)

    @property
    def is_equal(self) -> bool:
        """Whether the tables have the same columns and rows."""
        return self.has_equal_rows and not self.schema_changes

    def headline(self) -> str:
        """Return which tables were compared, by what, and whether they are equal."""
        by = f"by {', '.join(self.key)}" if self.key else "without a key"
        outcome = "equal" if self.is_equal else "different"
        return f"{self.left} and {self.right}, {by}: {outcome}"

    def counts(self) -> dict[str, int]:
        """Return the numbers of rows and keys by what they are."""
        return {
            "rows left": self.left_rows,
            "rows right": self.right_rows,
            "equal": self.equal,
            "different": self.different,
            "only left": self.only_left,
            "only right": self.only_right,
            "duplicate keys": self.duplicate_keys,
        }

    def summarize(self) -> tuple[str, ...]:
        """Return a line for each change of a column, and for each difference of the rows."""
        numbers = self.counts()
        differences = (name for name in ("different", "only left", "only right") if numbers[name])
        return (
            *map(describe, self.schema_changes),
            *(f"{name}: {quantity(numbers[name], 'row')}" for name in differences),
            *(f"{column.column}: {column}" for column in self.column_differences),
        )

    def __str__(self) -> str:
        return "\n".join(map(escaped, self._lines()))

    def _lines(self) -> Iterator[str]:
        yield self.headline()
        yield from (f"  schema: {describe(change)}" for change in self.schema_changes)
        yield from (f"  note: {note}" for note in self.notes)
        yield from (f"  {name}: {number:,}" for name, number in self.counts().items())
        for column in self.column_differences:
            yield f"  {column.column}: {column}"
            for sample in column.samples:
                yield f"    {format_row(sample.key)}: {sample.left} -> {sample.right}"
        for kind, rows in self.rows.items():
            yield from (f"  {kind.value}: {format_row(row)}" for row in rows)

    def to_json(self) -> str:
        """Return the differences as JSON, with values as text."""
        document = {
            "version": VERSION,
            "left": self.left,
            "right": self.right,
            "equal": self.is_equal,
            "key": self.key,
            "columns": self.columns,
            "schema": [describe(change) for change in self.schema_changes],
            "notes": self.notes,
            "counts": {name.replace(" ", "_"): n for name, n in self.counts().items()},
            "column_differences": [
                {
                    "column": column.column,
                    "rows": column.rows,
                    "samples": [
                        {"key": dict(sample.key), "left": sample.left, "right": sample.right}
                        for sample in column.samples
                    ],
                }
                for column in self.column_differences
            ],
            "samples": {
                kind.value.replace(" ", "_"): [dict(row) for row in rows]
                for kind, rows in self.rows.items()
            },
        }
        return write_json(document)

    def to_html(self, title: str = "Differences of tables") -> str:
        """Return a self-contained HTML page."""
        return str(load_higher("table_diff_page")(self, title))

    def _repr_html_(self) -> str:
        return str(load_higher("table_diff_html")(self))


def format_row(values: Mapping[str, str]) -> str:
    """Return the values of a row with their columns.

    >>> format_row({"id": "1", "name": "NULL"})
    'id=1, name=NULL'
    """
    return ", ".join(f"{name}={value}" for name, value in values.items())


def table_diff(
    environment: TableEnvironment,
    left: str | Table,
    right: str | Table,
    *,
    on: Iterable[str] | None = None,
    columns: Iterable[str] | None = None,
    renames: RenameHints | None = None,
    samples: int = 3,
) -> TableDiff:
    """Compare two tables: their columns, then the rows of the columns that both have.

    NULL equals NULL, NaN equals NaN and 0.0 equals -0.0, also within arrays, maps and rows; numbers
    of different scales are equal by value. A value of another type is equal if its conversion to
    the type of the right column keeps it (as `plan`); nested types that differ are compared as
    strings. Computed columns and virtual metadata columns of tables are not compared.

    Args:
        environment: The environment, whose engine runs one query, and one more if there are
            differences.
        left: The path of a table or view, a SELECT statement, or a `Table`; of the table before.
        right: The same of the table after.
        on: The columns that identify a row. By default the primary key; without one, rows are
            compared as multisets.
        columns: The columns to compare besides the key; by default all that both tables have.
        renames: Columns of `left` with their names in `right`; `on` and `columns` are new names.
        samples: The most samples of each difference, from 0 to 100.

    Raises:
        NotFoundError: with code `table-not-found`.
        SchemaError: with code `unknown-column` for a column that a table does not have, and
            `invalid-argument` for tables without a common column, or with different primary keys.
        UnsupportedError: with code `streaming-not-supported` for an unbounded table, and
            `unsupported-capability` for a planner that does not compare rows.
    """
    require_instance(environment, TableEnvironment, "environment")
    if not 0 <= require_instance(samples, int, "samples") <= MAX_SAMPLES:
        raise SchemaError(
            f"samples must be from 0 to {MAX_SAMPLES}, got {samples}", code="invalid-argument"
        )
    sides = _read_side(environment, left, "left"), _read_side(environment, right, "right")
    changes = diff(*(side.declaration for side in sides), renames=renames)
    renamed = column_renames(renames or {})
    old = {renamed.get(name, name): column for name, column in sides[0].columns.items()}
    new = sides[1].columns
    common = [name for name in new if name in old]
    key = _key_of(sides, common, renamed) if on is None else require_names(on, "on")
    chosen = common if columns is None else require_names(columns, "columns")
    _require_common((*key, *chosen), common, sides)
    writer = StatementWriter(TARGETS["flink"], ("rows",), environment.schema_resolver)
    notes: list[str] = []
    pairs: dict[str, _Pair] = {}
    for name in dict.fromkeys((*key, *chosen)):
        pair = _pair_of(writer, old[name], new[name])
        notes += [f"{name} {pair.note}"] if pair.note else []
        if pair.left:
            pairs[name] = pair
        elif name in key:
            raise SchemaError(f"column {name!r} {pair.note}", code="invalid-argument")
    if not pairs:
        raise SchemaError(
            f"{sides[0].name} and {sides[1].name} have no column to compare",
            code="invalid-argument",
        )
    shown = [pair.shown for pair in pairs.values() if pair.shown is not None]
    expressions = (
        [*(pair.left for pair in pairs.values()), *(left for left, _ in shown)],
        [*(pair.right for pair in pairs.values()), *(right for _, right in shown)],
    )
    queries = [
        environment.sql_query(_select(side, texts))
        for side, texts in zip(sides, expressions, strict=True)
    ]
    differences = compare_rows(
        queries[0], queries[1], key=len(key), compared=len(pairs), samples=samples
    )
    return _build(sides, key, pairs, changes, differences, tuple(notes))


class _Side(NamedTuple):
    """A table: its name in reports, what follows FROM, and the columns to compare."""

    name: str
    source: str
    schema: ResolvedSchema
    columns: dict[str, AnyColumn]

    @property
    def declaration(self) -> Schema:
        """The columns that are compared, without comments, as a schema."""
        builder = Schema.new_builder()
        for column in self.columns.values():
            builder = builder.column(column.name, column.data_type)
        return builder.build()


def _read_side(environment: TableEnvironment, table: str | Table, argument: str) -> _Side:
    require_instance(table, (str, Table), argument, "a path, a query or a Table")
    if isinstance(table, Table):
        name, source, schema = argument, f"({table.as_sql()})", table.get_resolved_schema()
    elif QUERY.match(table):
        with at(argument):
            schema = environment.sql_query(table).get_resolved_schema()
        name = shorten(mask_text(" ".join(table.split())), MAX_QUERY)
        source = f"({table})"
    else:
        name, source = table, table
        schema = environment.from_path(table).get_resolved_schema()
    columns = {column.name: column for column in schema.columns if _is_compared(column)}
    return _Side(name, source, schema, columns)


def _is_compared(column: AnyColumn) -> bool:
    if isinstance(column, MetadataColumn):
        return not column.virtual
    return not isinstance(column, ComputedColumn)


def _key_of(
    sides: Sequence[_Side], common: Sequence[str], renamed: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the primary key of the tables, by its new names; () if there is none."""
    keys = [
        () if side.schema.primary_key is None else tuple(side.schema.primary_key.columns)
        for side in sides
    ]
    keys[0] = tuple(renamed.get(name, name) for name in keys[0])
    usable = [key for key in keys if key and all(name in common for name in key)]
    if len({frozenset(key) for key in usable}) > 1:
        shown = " and ".join(", ".join(key) for key in usable)
        raise SchemaError(
            f"the tables have different primary keys: {shown}",
            code="invalid-argument",
            hint="name the columns that identify a row",
        )
    return usable[-1] if usable else ()


def _require_common(names: Sequence[str], common: Sequence[str], sides: Sequence[_Side]) -> None:
    for name in names:
        if name not in common:
            absent = next((side.name for side in sides if name not in side.columns), "a table")
            raise SchemaError(
                f"there is no column {name!r} to compare in {absent}",
                code="unknown-column",
                hint=similar(name, common),
            )


# --- columns -------------------------------------------------------------------------------------


class _Pair(NamedTuple):
    """The expressions of a column on both sides, '' if it cannot be compared.

    Converted values are rows: the left value as a string if it cannot be kept, and the value in the
    right type. `shown` are then the expressions of what samples show.
    """

    left: str = ""
    right: str = ""
    note: str = ""
    is_string: bool = False
    shown: tuple[str, str] | None = None


def _pair_of(writer: StatementWriter, left: AnyColumn, right: AnyColumn) -> _Pair:
    names = writer.name(left.name), writer.name(right.name)
    old, new = left.data_type, right.data_type
    if _without_nullability(old) == _without_nullability(new):
        return _Pair(*names, is_string=isinstance(new, CharType | VarCharType))
    types = f"{old.as_summary_string()} and {new.as_summary_string()}"
    text = DataTypes.STRING()
    if not all(supports_explicit_cast(type_, text) for type_ in (old, new)):
        return _Pair(note=f"is not compared: {types}")
    strings = f"CAST({names[0]} AS STRING)", f"CAST({names[1]} AS STRING)"
    if old.children() or new.children():
        return _Pair(*strings, note=f"is compared as strings: {types}")
    converted = conversion(writer, names[0], old, new)
    null, type_ = "CAST(NULL AS STRING)", writer.type(new)
    kept, value = "FALSE", f"CAST(NULL AS {type_})"
    if converted is not None:
        conditions = " AND ".join(check.condition for check in converted.checks) or "TRUE"
        kept = f"({conditions}) IS TRUE"
        value = f"CASE WHEN {kept} THEN {converted.expression} ELSE {value} END"
    lost = f"CASE WHEN {names[0]} IS NULL OR {kept} THEN {null} ELSE {strings[0]} END"
    return _Pair(
        f"CAST(ROW({lost}, {value}) AS ROW<`text` STRING, `value` {type_}>)",
        f"CAST(ROW({null}, {names[1]}) AS ROW<`text` STRING, `value` {type_}>)",
        f"is compared after conversion: {types}",
        shown=strings,
    )


def _without_nullability(type_: DataType) -> DataType:
    children = tuple(map(_without_nullability, type_.children()))
    return (type_.rebuild(children) if children else type_).nullable()


def _select(side: _Side, expressions: Sequence[str]) -> str:
    items = (f"{text} AS {quote_identifier(f'c{place}')}" for place, text in enumerate(expressions))
    return f"SELECT {', '.join(items)} FROM {side.source}"


# --- results -------------------------------------------------------------------------------------


def _build(
    sides: Sequence[_Side],
    key: tuple[str, ...],
    pairs: Mapping[str, _Pair],
    changes: TableChanges,
    differences: RowDifferences,
    notes: tuple[str, ...],
) -> TableDiff:
    names = list(pairs)
    extra = (name for name in names if pairs[name].shown is not None)
    places = dict(zip(names, count(), strict=False)) | dict(zip(extra, count(len(names))))

    def format_values(values: Sequence[str | None], columns: Iterable[str]) -> dict[str, str]:
        return {name: _format_value(values[places[name]], pairs[name]) for name in columns}

    def format_sample(sample: RowSample) -> dict[str, str]:
        values = sample.left or sample.right or ()
        if sample.kind is DifferenceKind.DUPLICATE_KEY:
            numbers = (str(sample.left_count), str(sample.right_count))
            return format_values(values, key) | dict(zip(SIDES, numbers, strict=True))
        return format_values(values, names)

    def sample_values(position: int) -> Iterator[ValueSample]:
        name = names[position]
        for sample in differences.samples:
            if sample.column == position:
                left, right = (
                    format_values(side or (), (*key, name)) for side in (sample.left, sample.right)
                )
                yield ValueSample({part: left[part] for part in key}, left[name], right[name])

    columns = [
        ColumnDifference(names[position], number, tuple(sample_values(position)))
        for position, number in enumerate(differences.by_column, len(key))
        if number
    ]
    rows = {
        kind: tuple(map(format_sample, (item for item in differences.samples if item.kind is kind)))
        for kind in DifferenceKind
        if kind is not DifferenceKind.COLUMN
    }
    return TableDiff(
        sides[0].name,
        sides[1].name,
        key,
        tuple(names),
        changes,
        differences.equal,
        differences.different,
        differences.only_left,
        differences.only_right,
        differences.duplicate_keys,
        tuple(columns),
        {kind: found for kind, found in rows.items() if found},
        notes,
    )


def _format_value(value: str | None, pair: _Pair) -> str:
    if value is None:
        return "NULL"
    return show(value, MAX_VALUE) if pair.is_string else shorten(value, MAX_VALUE)
