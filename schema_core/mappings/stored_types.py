"""Stored types of file formats and engines: which may be read as which declared type, and how.

A format stores a data type as a *physical type* (Avro stores TINYINT, SMALLINT and INT as `int`)
and *promotes* some to others. A value that it reads may not be one of the new type: an `int` of
1000 is not a TINYINT; `READINGS` has what then happens.

The readers of files take `FILES` from here; `tests/spark/test_stores.py` reads every type in every
format as every other. The connector `jdbc` takes `DATABASES`, which `tests/spark/test_jdbc.py`
compares with PostgreSQL and SQLite. Other sources: "Schema Resolution" and "Decimal" in the Avro
specification 1.12, "Schema Evolution" in the Iceberg table specification (versions 1 and 2),
measurements of Spark 4.3's reader of parquet, and Flink's implicit casts;
`tests/cases/compatibility.jsonl` has the answers of the real tools.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from itertools import zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.types.atomic import DecimalType, IntType, LengthType
from schema_core.types.base import MAX_LENGTH
from schema_core.types.casts import CASTS
from schema_core.types.families import MEMBERS, TypeFamily, TypeRoot
from schema_core.types.nested import ArrayType, MapType, MultisetType, RowType
from schema_core.types.temporal import AnyTimestampType, TimeType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schema_core.types.base import DataType

R = TypeRoot


#: A path within a type: names of fields, `element`, `key` and `value`.
Path: TypeAlias = tuple[str, ...]
#: Path of a field in the old type -> its name in the new one.
Renames: TypeAlias = Mapping[Path, str]
NO_RENAMES: Renames = MappingProxyType({})


class Reading(Enum):
    """Whether rows of an old type are read by a new one."""

    #: Every value is read as the one that a CAST to the new type returns.
    EXACT = "exact"
    #: Some values change or are refused; the finding describes which.
    AT_RISK = "at risk"
    #: The rows must be rewritten: they are refused, or read as other values.
    NOT = "not"


#: Kind of finding -> whether the rows are read, and what happens to the values.
READINGS: Mapping[str, tuple[Reading, str]] = {
    "type-changed": (Reading.NOT, "the format does not read the stored type as the other one"),
    "position-changed": (Reading.NOT, "fields are read by position, where rows have another one"),
    "nullability-narrowed": (
        Reading.AT_RISK, "rows may have NULL where the reader has NOT NULL; such a row is refused"
    ),
    "required-field-added": (Reading.NOT, "rows do not have a field that is NOT NULL"),
    "range-narrowed": (
        Reading.AT_RISK, "values may be outside the range of the type; they are refused, or NULL"
    ),
    "text-parsed": (
        Reading.AT_RISK, "values are read from their text by the syntax of the format, or refused"
    ),
    "precision-narrowed": (
        Reading.AT_RISK, "digits of a value may be lost, as by a CAST"
    ),
    "length-narrowed": (
        Reading.AT_RISK,
        "strings may be longer or shorter than the type; they are read as they are stored",
    ),
    "zone-dependent": (
        Reading.AT_RISK,
        "the value depends on the time zone of the session; files have the time of UTC",
    ),
    "type-promoted": (Reading.EXACT, "every value is read as the same value of a wider type"),
    "field-added": (Reading.EXACT, "rows do not have a field, which is read as NULL"),
    "column-not-stored": (
        Reading.NOT, "the table of the database does not have the column; reading it is refused"
    ),
    "field-dropped": (Reading.EXACT, "rows have a field that is not read"),
    "field-renamed": (
        Reading.NOT, "rows have a field by another name, which is read as NULL"
    ),
    "field-renamed-by-id": (
        Reading.EXACT, "the format identifies fields by number, not by name"
    ),
    "fields-moved": (Reading.EXACT, "fields are read by name"),
    "columns-moved": (
        Reading.AT_RISK,
        "files of this library are read by their own columns, those of other programs are refused",
    ),
    "name-reused": (
        Reading.AT_RISK,
        "files of this library are read by their own columns, those of other programs refused",
    ),
    # options, see `mappings.stored_options`
    "format-changed": (Reading.NOT, "another connector or format does not read the rows"),
    "location-changed": (Reading.NOT, "the rows are at another place, where they are not read"),
    "syntax-changed": (
        Reading.NOT, "rows were written in another syntax; they are refused, or read as other rows"
    ),
    "errors-changed": (
        Reading.AT_RISK, "a value that is not of its type is refused, where it was NULL, or NULL"
    ),
    "option-changed": (Reading.AT_RISK, "an option may change where and how rows are read"),
    "option-without-effect": (Reading.EXACT, "rows are read with and without the option"),
}  # fmt: skip

#: Findings with which a reader refuses values of files, or differs from a CAST without notice: a
#: migration rewrites the rows.
REWRITTEN = frozenset(
    {
        "type-changed", "position-changed", "range-narrowed", "text-parsed", "zone-dependent",
        "format-changed", "location-changed", "syntax-changed",
    }
)  # fmt: skip


#: Why a column of a database is not read: ALTER TABLE changes the definition, not the database.
NO_COLUMN = "the database does not have it: add it there first"


class FieldLookup(Enum):
    """How a store finds the columns and fields of its rows."""

    NAME = "name"
    POSITION = "position"
    #: Numbers that remain when a field is renamed.
    ID = "id"


class TypeFinding(NamedTuple):
    """A difference that affects reading rows of an old type by a new one.

    `kind` is a key of `READINGS`.
    """

    kind: str
    path: Path
    reason: str


def entry_types(type_: MapType | MultisetType) -> tuple[DataType, DataType]:
    """Return the types of the keys and values that store a map, or a multiset with its counts."""
    if isinstance(type_, MultisetType):
        return type_.element_type, IntType(nullable=False)
    return type_.key_type, type_.value_type


@dataclass(frozen=True, slots=True)
class RuleSet:
    """How a format or an engine reads rows of an old type by a new type.

    Attributes:
        source: Where the rules are documented.
        physical: Root -> physical type, with parameters in braces; others cannot be stored.
        promotions: Physical type -> the others as which its values are read.
        promotes_decimal: Decides where a decimal is read, or is what is read.
        parsed: Physical type -> the others as which each value is read, or refused.
        lookup: How fields are found.
        column_lookup: How columns are found, if otherwise than fields.
        has_positions: Whether a file lists columns by position, so that its age must be known.
        reads_former_names: Whether older rows are read by the names that a catalog keeps.
        refuses_unknown_columns: Whether a column that no file has is refused, so that misspelt
            names are noticed; one that some files have is NULL in the others.
        reads_null_as_not_null: Whether the reader does not compare nullability.
        partitions_evolve: Whether files keep the partitions with which they were written.
        precisions: Root -> the highest precision that is stored.
        elements: Roots of the elements of arrays, each read as its own physical type only; None if
            arrays are read as their elements are.
        refuses_fractions: Whether a number with more digits than the type is refused, not rounded.
        has_own_columns: Whether a column that the store does not have is refused, not NULL.
    """

    name: str
    source: str
    physical: Mapping[TypeRoot, str]
    promotions: Mapping[str, frozenset[str]]
    promotes_decimal: Callable[[DataType, DataType], bool]
    parsed: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    lookup: FieldLookup = FieldLookup.NAME
    column_lookup: FieldLookup | None = None
    has_positions: bool = False
    reads_former_names: bool = False
    refuses_unknown_columns: bool = False
    reads_null_as_not_null: bool = False
    partitions_evolve: bool = False
    precisions: Mapping[TypeRoot, int] = dataclasses.field(default_factory=dict)
    elements: frozenset[TypeRoot] | None = None
    refuses_fractions: bool = False
    has_own_columns: bool = False

    def physical_type(self, type_: DataType) -> str | None:
        """Return the physical type of a type without children, or None without one.

        >>> from schema_core.types import DataTypes as T
        >>> ICEBERG.physical_type(T.BINARY(3)), AVRO.physical_type(T.TIMESTAMP(3))
        ('fixed(3)', 'long local-timestamp-millis')
        """
        template = self.physical.get(type_.root)
        digits = getattr(type_, "precision", 0)
        if digits > self.precisions.get(type_.root, digits):
            return None
        return template and template.format(type_, unit="millis" if digits <= 3 else "micros")

    def promotes(self, old: DataType, new: DataType) -> bool:
        """Return whether values of a type are read by another, both without children.

        >>> from schema_core.types import DataTypes as T
        >>> AVRO.promotes(T.INT(), T.DOUBLE()), ICEBERG.promotes(T.INT(), T.DOUBLE())
        (True, False)
        """
        stored, read = self.physical_type(old), self.physical_type(new)
        if stored is None or read is None:
            return False
        if read in {stored, *self.promotions.get(stored, ()), *self.parsed.get(stored, ())}:
            return True
        has_decimal = isinstance(old, DecimalType) or isinstance(new, DecimalType)
        return has_decimal and self.promotes_decimal(old, new)

    def reading(self, old: DataType, new: DataType) -> Reading:
        """Return whether rows of a type are read by another one.

        >>> from schema_core.types import DataTypes as T
        >>> PARQUET.reading(T.INT(), T.BIGINT()), PARQUET.reading(T.INT(), T.STRING())
        (<Reading.EXACT: 'exact'>, <Reading.NOT: 'not'>)
        """
        readings = {READINGS[kind][0] for kind, *_ in self.findings(old, new)}
        ranked = (Reading.NOT, Reading.AT_RISK)
        return next((reading for reading in ranked if reading in readings), Reading.EXACT)

    def findings(
        self, old: DataType, new: DataType, path: Path = (), renames: Renames = NO_RENAMES
    ) -> Iterator[TypeFinding]:
        """Yield the differences that affect reading rows of the old type, at any depth.

        `path` begins the paths of the findings; `renames` are paths of fields of `old` -> names in
        `new`.

        >>> from schema_core.types import parse_type
        >>> old, new = parse_type("ROW<a INT, b STRING>"), parse_type("ROW<a BIGINT, c DATE>")
        >>> for finding in AVRO.findings(old, new):
        ...     print(*finding, sep=" | ")
        type-promoted | ('a',) | INT is read as BIGINT
        field-dropped | ('b',) | the rows have it
        field-added | ('c',) | the rows do not have it: NULL
        """
        if old == new:
            return
        if old.is_nullable and not new.is_nullable and not self.reads_null_as_not_null:
            yield TypeFinding("nullability-narrowed", path, "the rows may have NULL")
        match old, new:
            case RowType(), RowType() if self._lookup(path) is FieldLookup.POSITION:
                yield from self._positional_findings(old, new, path, renames)
            case RowType(), RowType():
                yield from self._row_findings(old, new, path, renames)
            case ArrayType(), ArrayType() if not self.reads_elements(old, new):
                reason = f"{self.name} reads elements of arrays as their own type only"
                yield TypeFinding("type-changed", (*path, "element"), reason)
            case (ArrayType(), ArrayType()) | (MultisetType(), MultisetType()):
                (stored,), (read,) = old.children(), new.children()
                yield from self.findings(stored, read, (*path, "element"), renames)
            case MapType(), MapType():
                yield from self.findings(old.key_type, new.key_type, (*path, "key"), renames)
                inner = (*path, "value")
                yield from self.findings(old.value_type, new.value_type, inner, renames)
            case _ if old.nullable() != new.nullable():
                yield self._leaf_finding(old, new, path)

    def _lookup(self, path: Path) -> FieldLookup:
        """Return how the columns are found, or the fields of the row at a path."""
        return self.lookup if path or self.column_lookup is None else self.column_lookup

    def reads_elements(self, old: ArrayType, new: ArrayType) -> bool:
        """Return whether arrays are read as those of other elements; see `elements`."""
        if self.elements is None:
            return True
        stored, read = old.element_type, new.element_type
        is_exact_number = exact_narrowing(stored, read) is None
        is_same = self.physical_type(stored) == self.physical_type(read)
        return is_same and is_exact_number and {stored.root, read.root} <= self.elements

    def _row_findings(
        self, old: RowType, new: RowType, path: Path, renames: Renames
    ) -> Iterator[TypeFinding]:
        types = {field.name: field.data_type for field in new.fields}
        for field in old.fields:
            inner = (*path, field.name)
            name = renames.get(inner, field.name)
            if name not in types:
                yield TypeFinding("field-dropped", inner, "the rows have it")
            elif name == field.name or self._lookup(path) is FieldLookup.ID:
                if name != field.name:
                    yield TypeFinding("field-renamed-by-id", inner, f"it is read as {name!r}")
                yield from self.findings(field.data_type, types.pop(name), inner, renames)
            elif self.has_own_columns:
                continue
            else:
                del types[name]
                reason = f"the reader has {name!r}, which the rows do not have: NULL"
                yield TypeFinding("field-renamed", inner, reason)
        for name, type_ in types.items():
            if self.has_own_columns:
                yield TypeFinding("column-not-stored", (*path, name), NO_COLUMN)
            elif type_.is_nullable or self.reads_null_as_not_null:
                yield TypeFinding("field-added", (*path, name), "the rows do not have it: NULL")
            else:
                yield TypeFinding("required-field-added", (*path, name), "the rows do not have it")
        old_order = [renames.get((*path, field.name), field.name) for field in old.fields]
        new_order = [field.name for field in new.fields if field.name in old_order]
        if self.has_positions and not path:
            pairs = zip_longest(old_order, new.names[: len(old_order)])
            moved = next((old_name or name for old_name, name in pairs if old_name != name), None)
            if moved is not None:
                reason = "older files have it, and columns after it, in other places"
                yield TypeFinding("columns-moved", (moved,), reason)
        elif new_order != [name for name in old_order if name in set(new_order)]:
            yield TypeFinding("fields-moved", path, "columns are read by name")

    def _positional_findings(
        self, old: RowType, new: RowType, path: Path, renames: Renames
    ) -> Iterator[TypeFinding]:
        for stored, read in zip_longest(old.fields, new.fields):
            if stored is None or read is None:
                name = (read or stored).name
                reason = f"rows have {len(old.fields)} fields, the reader {len(new.fields)}"
                yield TypeFinding("position-changed", (*path, name), reason)
                continue
            inner = (*path, stored.name)
            if renames.get(inner, stored.name) != read.name:
                reason = f"the reader has {read.name!r} in its place"
                yield TypeFinding("position-changed", inner, reason)
            else:
                yield from self.findings(stored.data_type, read.data_type, inner, renames)

    def _leaf_finding(self, old: DataType, new: DataType, path: tuple[str, ...]) -> TypeFinding:
        was, becomes = old.as_summary_string(), new.as_summary_string()
        if not self.promotes(old, new):
            stored, read = self.physical_type(old), self.physical_type(new)
            is_other = stored and read and stored != old.root.value
            as_stored = f" ({stored} to {read})" if is_other else ""
            return TypeFinding(
                "type-changed", path, f"{self.name} does not read {was} as {becomes}{as_stored}"
            )
        if self.physical_type(new) in self.parsed.get(self.physical_type(old) or "", ()):
            reason = f"a {was} is read from its text, if it is one of {becomes}"
            return TypeFinding("text-parsed", path, reason)
        narrowed = narrowing(old, new)
        if self.refuses_fractions and narrowed and is_exact(old) and is_exact(new):
            narrowed = "range-narrowed"
        if narrowed:
            return TypeFinding(narrowed, path, f"a value of {was} may not be one of {becomes}")
        return TypeFinding("type-promoted", path, f"{was} is read as {becomes}")


# --- values --------------------------------------------------------------------------------------

#: Root -> the bound below which the type represents every integer exactly.
INTEGERS = {R.TINYINT: 2**7, R.SMALLINT: 2**15, R.INTEGER: 2**31, R.BIGINT: 2**63}
FLOATS = {R.FLOAT: 2**24, R.DOUBLE: 2**53}
#: Types of exactly as many characters or bytes as their length.
FIXED = frozenset({R.CHAR, R.BINARY})
CHARACTERS = frozenset({R.CHAR, R.VARCHAR})
DIGITS = (AnyTimestampType, TimeType)
INSTANTS = MEMBERS[TypeFamily.TIMESTAMP]


def narrowing(old: DataType, new: DataType) -> str | None:
    """Return the kind of finding about values that the new type does not have, or None.

    A format reads the types as each other.

    >>> from schema_core.types import DataTypes as T
    >>> narrowing(T.INT(), T.SMALLINT()), narrowing(T.STRING(), T.VARCHAR(5))
    ('range-narrowed', 'length-narrowed')
    >>> narrowing(T.BIGINT(), T.DOUBLE()), narrowing(T.INT(), T.DOUBLE())
    ('precision-narrowed', None)
    """
    if isinstance(old, LengthType) and isinstance(new, LengthType):
        return length_narrowing(old, new)
    if isinstance(new, LengthType) and new.root in CHARACTERS:
        return None if new.length == MAX_LENGTH else "length-narrowed"
    if R.BOOLEAN in {old.root, new.root}:  # an integer is 0 or 1
        return "range-narrowed" if new.root is R.BOOLEAN else None
    if old.root in INSTANTS and new.root in INSTANTS and old.root is not new.root:
        return "zone-dependent"
    if isinstance(old, DIGITS):
        shorter = not isinstance(new, DIGITS) or new.precision < old.precision
        return "precision-narrowed" if shorter else None
    if new.root in FLOATS:
        return float_narrowing(old, new)
    if old.root in FLOATS:
        return "range-narrowed"
    return exact_narrowing(old, new)


def length_narrowing(old: LengthType, new: LengthType) -> str | None:
    """Compare lengths; a character is at most four bytes, and not all bytes are characters."""
    if old.root in CHARACTERS and new.root not in CHARACTERS:
        fits = new.root not in FIXED and new.length >= min(4 * old.length, MAX_LENGTH)
        return None if fits else "length-narrowed"
    if new.root in CHARACTERS and old.root not in CHARACTERS:
        return "range-narrowed"
    exactly = new.root not in FIXED or (old.root in FIXED and old.length == new.length)
    return None if exactly and new.length >= old.length else "length-narrowed"


def float_narrowing(old: DataType, new: DataType) -> str | None:
    """Compare a number with a floating point number, which has all integers up to a bound."""
    if old.root in FLOATS:
        return "precision-narrowed" if FLOATS[old.root] > FLOATS[new.root] else None
    if not is_exact(old):
        return "range-narrowed"
    largest, scale = exact_numbers(old)
    return None if scale == 0 and largest <= FLOATS[new.root] else "precision-narrowed"


def exact_narrowing(old: DataType, new: DataType) -> str | None:
    """Compare integers and decimals; other types have all values of each other."""
    if not (is_exact(old) and is_exact(new)):
        return None
    (largest, scale), (new_largest, new_scale) = exact_numbers(old), exact_numbers(new)
    if new_largest < largest:
        return "range-narrowed"
    return "precision-narrowed" if new_scale < scale else None


def is_exact(type_: DataType) -> bool:
    """Return whether a type is an integer or a decimal."""
    return type_.root in INTEGERS or isinstance(type_, DecimalType)


def exact_numbers(type_: DataType) -> tuple[int, int]:
    """Return a bound of the integers of an exact number, and its digits after the point."""
    if isinstance(type_, DecimalType):
        return 10 ** (type_.precision - type_.scale), type_.scale
    return INTEGERS[type_.root], 0


# --- the rule sets -------------------------------------------------------------------------------


def parse_promotions(text: str) -> Mapping[str, frozenset[str]]:
    """Return promotions from lines ``stored: read, read``."""
    rows = (line.partition(":") for line in text.strip().splitlines())
    return {old.strip(): frozenset(map(str.strip, new.split(","))) for old, _, new in rows}


def is_no_other_decimal(old: DataType, new: DataType) -> bool:
    """Avro: decimals are only read as equal ones."""
    return False


def has_higher_precision(old: DataType, new: DataType) -> bool:
    """Iceberg: decimals are read by a higher precision."""
    return (
        isinstance(old, DecimalType)
        and isinstance(new, DecimalType)
        and new.scale == old.scale
        and new.precision >= old.precision
    )


#: Root -> digits before the point that Spark requires of a decimal to read its integers.
INTEGER_DIGITS = {R.TINYINT: 10, R.SMALLINT: 10, R.INTEGER: 10, R.BIGINT: 20}


#: Root -> digits of a decimal without a scale whose stored integers Spark reads as the type.
DECIMAL_DIGITS = {
    R.TINYINT: 9, R.SMALLINT: 9, R.INTEGER: 9, R.BIGINT: 18, R.DOUBLE: 9,
}  # fmt: skip


def has_more_digits_in_both_parts(old: DataType, new: DataType) -> bool:
    """Spark: decimals are read by more digits before and after the point, integers by enough."""
    if not isinstance(new, DecimalType):
        digits = DECIMAL_DIGITS.get(new.root, 0)
        return isinstance(old, DecimalType) and old.scale == 0 and old.precision <= digits
    digits = new.precision - new.scale
    if isinstance(old, DecimalType):
        return new.scale >= old.scale and digits >= old.precision - old.scale
    return digits >= INTEGER_DIGITS.get(old.root, MAX_LENGTH)


def has_more_decimal_digits(old: DataType, new: DataType) -> bool:
    """Parquet and orc: decimals are read by more digits before and after the point."""
    return (
        isinstance(old, DecimalType)
        and isinstance(new, DecimalType)
        and has_more_digits_in_both_parts(old, new)
    )


def has_as_many_integer_digits(old: DataType, new: DataType) -> bool:
    """Avro files: decimals are read by as many digits before the point."""
    return (
        isinstance(old, DecimalType)
        and isinstance(new, DecimalType)
        and new.precision - new.scale >= old.precision - old.scale
    )


AVRO = RuleSet(
    "avro",
    "https://avro.apache.org/docs/1.12.0/specification/#schema-resolution",
    {
        R.BOOLEAN: "boolean", R.TINYINT: "int", R.SMALLINT: "int", R.INTEGER: "int",
        R.BIGINT: "long", R.FLOAT: "float", R.DOUBLE: "double",
        R.DECIMAL: "bytes decimal({0.precision}, {0.scale})",
        R.CHAR: "string", R.VARCHAR: "string", R.BINARY: "bytes", R.VARBINARY: "bytes",
        R.DATE: "int date", R.TIME_WITHOUT_TIME_ZONE: "int time-millis",
        R.TIMESTAMP_WITHOUT_TIME_ZONE: "long local-timestamp-{unit}",
        R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: "long timestamp-{unit}",
    },
    parse_promotions("""
        int: long, float, double
        long: float, double
        float: double
        string: bytes
        bytes: string
    """),
    is_no_other_decimal,
)  # fmt: skip

ICEBERG = RuleSet(
    "iceberg",
    "https://iceberg.apache.org/spec/#schema-evolution",
    {
        R.BOOLEAN: "boolean", R.TINYINT: "int", R.SMALLINT: "int", R.INTEGER: "int",
        R.BIGINT: "long", R.FLOAT: "float", R.DOUBLE: "double",
        R.DECIMAL: "decimal({0.precision}, {0.scale})",
        R.CHAR: "string", R.VARCHAR: "string",
        R.BINARY: "fixed({0.length})", R.VARBINARY: "binary",
        R.DATE: "date", R.TIME_WITHOUT_TIME_ZONE: "time",
        R.TIMESTAMP_WITHOUT_TIME_ZONE: "timestamp",
        R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: "timestamptz",
    },
    parse_promotions("""
        int: long
        float: double
    """),
    has_higher_precision,
    partitions_evolve=True,
    lookup=FieldLookup.ID,
)  # fmt: skip

#: Spark checks nullability when it writes, not when it reads files.
SPARK = RuleSet(
    "spark",
    "https://spark.apache.org/docs/latest/sql-data-sources-parquet.html",
    {
        R.BOOLEAN: "boolean", R.TINYINT: "tinyint", R.SMALLINT: "smallint", R.INTEGER: "int",
        R.BIGINT: "bigint", R.FLOAT: "float", R.DOUBLE: "double",
        R.DECIMAL: "decimal({0.precision}, {0.scale})",
        R.CHAR: "string", R.VARCHAR: "string", R.BINARY: "binary", R.VARBINARY: "binary",
        R.DATE: "date", R.TIME_WITHOUT_TIME_ZONE: "time",
        R.TIMESTAMP_WITHOUT_TIME_ZONE: "timestamp_ntz",
        R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: "timestamp",
    },
    parse_promotions("""
        tinyint: smallint, int, bigint, double
        smallint: tinyint, int, bigint, double
        int: tinyint, smallint, bigint, double
        float: double
        date: timestamp_ntz
        timestamp_ntz: timestamp
        timestamp: timestamp_ntz
    """),
    has_more_digits_in_both_parts,
    reads_null_as_not_null=True,
)  # fmt: skip

FLINK = RuleSet(
    "flink",
    "https://nightlies.apache.org/flink/flink-docs-stable/docs/dev/table/types/#casting",
    {root: root.value for root in CASTS},
    {
        old.value: frozenset(new.value for new, sources in CASTS.items() if old in sources.implicit)
        for old in CASTS
    },
    lambda old, new: old.root in CASTS[new.root].implicit,
    reads_former_names=True,
)

_NUMBERS = MEMBERS[TypeFamily.NUMERIC]
#: Roots between all of whose types PostgreSQL casts values.
_FAMILIES = (
    _NUMBERS,
    MEMBERS[TypeFamily.CHARACTER_STRING],
    MEMBERS[TypeFamily.BINARY_STRING],
    MEMBERS[TypeFamily.TIMESTAMP] | {R.DATE},
)

#: PostgreSQL converts values in ALTER COLUMN TYPE: a stored type is read as any it casts to.
POSTGRES = RuleSet(
    "postgres",
    "https://www.postgresql.org/docs/current/sql-altertable.html",
    {root: root.value for root in CASTS},
    {
        old.value: frozenset(
            new.value for new in CASTS if any({old, new} <= family for family in _FAMILIES)
        )
        for old in CASTS
    },
    lambda old, new: {old.root, new.root} <= _NUMBERS,
)


# --- the readers of files ------------------------------------------------------------------------

_SPARK_SOURCES = "https://spark.apache.org/docs/latest/sql-data-sources.html"

#: Parquet and orc files list their columns: a type that is not read as the declared one is refused
#: before the job. Spark would narrow silently.
ORC = RuleSet(
    "orc",
    _SPARK_SOURCES,
    {
        **SPARK.physical,
        R.INTERVAL_YEAR_MONTH: "interval year to month",
        R.INTERVAL_DAY_TIME: "interval day to second",
        R.VARIANT: "variant",
    },
    parse_promotions("""
        tinyint: smallint, int, bigint, double
        smallint: int, bigint, double
        int: bigint, double
        float: double
    """),
    has_more_decimal_digits,
    reads_former_names=True,
    refuses_unknown_columns=True,
)

#: Parquet stores intervals as integers, and its strings need no mark. A timestamp of either kind is
#: the same number of a unit, as for Flink's reader.
PARQUET = dataclasses.replace(
    ORC,
    name="parquet",
    promotions={
        **ORC.promotions,
        **parse_promotions("""
            int: bigint, double, interval year to month
            bigint: interval day to second
            string: binary
            binary: string
            timestamp: timestamp_ntz
            timestamp_ntz: timestamp
        """),
    },
)

#: Avro files begin with the schema of their rows, by which Spark reads them.
AVRO_FILE = dataclasses.replace(
    AVRO,
    name="avro-file",
    promotions=parse_promotions("""
        int: long, double
        float: double
        long local-timestamp-millis: long local-timestamp-micros
        long local-timestamp-micros: long local-timestamp-millis
        long timestamp-millis: long timestamp-micros
        long timestamp-micros: long timestamp-millis
    """),
    promotes_decimal=has_as_many_integer_digits,
    reads_former_names=True,
    refuses_unknown_columns=True,
)

#: The kinds of text in csv and json files: values are written as CAST to STRING writes them, but
#: for BOOLEAN, binary strings in base64, and a Z after a TIMESTAMP_LTZ.
_TEXTS = {
    R.BOOLEAN: "true",
    **dict.fromkeys(INTEGERS, "integer"),
    R.DECIMAL: "decimal",
    R.FLOAT: "float",
    R.DOUBLE: "double",
    R.CHAR: "string", R.VARCHAR: "string", R.BINARY: "base64", R.VARBINARY: "base64",
    R.DATE: "date", R.TIME_WITHOUT_TIME_ZONE: "time",
    R.TIMESTAMP_WITHOUT_TIME_ZONE: "timestamp",
    R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: "timestamp Z",
    R.INTERVAL_YEAR_MONTH: "months",
    R.INTERVAL_DAY_TIME: "duration",
}  # fmt: skip

#: Files of csv and json do not list types: the reader refuses a value, not the file. The catalog
#: keeps the history of columns, by which older csv files are read; rows in a field have none.
CSV = RuleSet(
    "csv",
    "https://nightlies.apache.org/flink/flink-docs-stable/docs/connectors/table/formats/csv/",
    _TEXTS,
    parse_promotions("""
        integer: decimal, float, double, string
        decimal: float, double, string
        float: string
        double: float, string
        date: string
        time: string
        timestamp: string
    """),
    is_no_other_decimal,
    parsed=parse_promotions("""
        decimal: integer
        float: integer, decimal
        double: integer, decimal
        string: integer, decimal, float, double, date, time, timestamp
    """),
    lookup=FieldLookup.POSITION,
    column_lookup=FieldLookup.NAME,
    has_positions=True,
    reads_former_names=True,
)

#: Files with a header, which names the columns.
CSV_HEADER = dataclasses.replace(CSV, name="csv-header", has_positions=False)
#: Messages, which have neither a header nor a history.
CSV_MESSAGES = dataclasses.replace(CSV, name="csv-messages", column_lookup=None)

#: A number with a fraction is read as an integer by way of a double, which has fewer digits; a
#: TIMESTAMP is written with six digits, and a TIME without zeros at its end.
JSON = dataclasses.replace(
    CSV,
    name="json",
    source=CSV.source.replace("csv", "json"),
    promotions={stored: read for stored, read in CSV.promotions.items() if "time" not in stored},
    parsed={stored: read for stored, read in CSV.parsed.items() if stored != "decimal"},
    lookup=FieldLookup.NAME,
    column_lookup=None,
    has_positions=False,
)

#: Files of one column of bytes, without its type.
RAW = RuleSet(
    "raw",
    CSV.source.replace("csv", "raw"),
    {
        R.BOOLEAN: "bit", R.TINYINT: "int8", R.SMALLINT: "int16", R.INTEGER: "int32",
        R.BIGINT: "int64", R.FLOAT: "float32", R.DOUBLE: "float64",
        R.CHAR: "string", R.VARCHAR: "string", R.BINARY: "bytes", R.VARBINARY: "bytes",
    },
    {},
    is_no_other_decimal,
    lookup=FieldLookup.POSITION,
)  # fmt: skip

TEXT = dataclasses.replace(
    RAW, name="text", source=_SPARK_SOURCES, physical={R.CHAR: "string", R.VARCHAR: "string"}
)

#: Values of partition columns, in the names of directories: the reader parses them as the type of
#: the column. A TIMESTAMP has a T, and a BOOLEAN lower case, so they are other strings than a CAST
#: returns.
DIRECTORIES = dataclasses.replace(
    CSV,
    name="directories",
    source=CSV.source.replace("formats/csv", "filesystem"),
    promotions={stored: read for stored, read in CSV.promotions.items() if stored != "timestamp"},
    lookup=FieldLookup.NAME,
    column_lookup=None,
    has_positions=False,
)

#: Format of files -> the rules of their reader.
FILES: Mapping[str, RuleSet] = {
    "parquet": PARQUET, "orc": ORC, "avro": AVRO_FILE, "csv": CSV, "json": JSON, "raw": RAW,
    "text": TEXT,
}  # fmt: skip


# --- the databases of the connector `jdbc` --------------------------------------------------------
# A column of a database keeps its type when the table is declared with another one. The connector
# refuses a type here that is not read, and checks each value that is. The rows of an old definition
# are in columns of the types that the connector creates for it.


def has_no_fraction(old: DataType, new: DataType) -> bool:
    """JDBC: decimals without a scale are read as integers."""
    return isinstance(old, DecimalType) and old.scale == 0 and new.root in INTEGERS


#: Databases without rules of their own. Roots -> names of ``java.sql.Types``.
JDBC = RuleSet(
    "jdbc",
    "https://nightlies.apache.org/flink/flink-docs-stable/docs/connectors/table/jdbc/"
    "#data-type-mapping",
    {
        R.BOOLEAN: "BOOLEAN", R.TINYINT: "TINYINT", R.SMALLINT: "SMALLINT",
        R.INTEGER: "INTEGER", R.BIGINT: "BIGINT", R.FLOAT: "REAL", R.DOUBLE: "DOUBLE",
        R.DECIMAL: "DECIMAL", R.CHAR: "VARCHAR", R.VARCHAR: "VARCHAR",
        R.VARBINARY: "VARBINARY", R.DATE: "DATE", R.TIME_WITHOUT_TIME_ZONE: "TIME",
        R.TIMESTAMP_WITHOUT_TIME_ZONE: "TIMESTAMP",
    },
    parse_promotions("""
        TINYINT: SMALLINT, INTEGER, BIGINT, DECIMAL
        SMALLINT: TINYINT, INTEGER, BIGINT, DECIMAL
        INTEGER: TINYINT, SMALLINT, BIGINT, DECIMAL
        BIGINT: TINYINT, SMALLINT, INTEGER, DECIMAL
        REAL: DOUBLE
    """),
    has_no_fraction,
    precisions={
        R.DECIMAL: 38, R.TIME_WITHOUT_TIME_ZONE: 6, R.TIMESTAMP_WITHOUT_TIME_ZONE: 6,
        R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: 6,
    },
    elements=frozenset(),
    has_own_columns=True,
)  # fmt: skip

#: The driver has an instant type.
ORACLE = dataclasses.replace(
    JDBC,
    name="jdbc-oracle",
    physical={**JDBC.physical, R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: "TIMESTAMP_WITH_TIMEZONE"},
)

POSTGRESQL = dataclasses.replace(
    ORACLE,
    name="jdbc-postgresql",
    physical={**ORACLE.physical, R.TINYINT: "SMALLINT"},
    elements=frozenset(JDBC.physical),
    refuses_fractions=True,
)

DB2 = dataclasses.replace(JDBC, name="jdbc-db2", precisions={**JDBC.precisions, R.DECIMAL: 31})

#: Physical type of numbers in SQLite -> storage classes of its values, and of values read as it. A
#: column converts numbers: a DECIMAL is stored as an integer if it has no fraction.
_SQLITE_NUMBERS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "boolean": (frozenset({"integer"}), frozenset({"integer"})),
    "integer": (frozenset({"integer"}), frozenset({"integer"})),
    "real": (frozenset({"real"}), frozenset({"real", "integer"})),
    "decimal": (frozenset({"real", "integer"}), frozenset({"real", "integer"})),
}

#: SQLite has a type for each value. Datetimes are strings.
SQLITE = dataclasses.replace(
    JDBC,
    name="jdbc-sqlite",
    physical={
        R.BOOLEAN: "boolean", **dict.fromkeys(INTEGERS, "integer"), R.DOUBLE: "real",
        R.DECIMAL: "decimal", R.CHAR: "string", R.VARCHAR: "string", R.VARBINARY: "blob",
        R.DATE: "date", R.TIME_WITHOUT_TIME_ZONE: "time",
        R.TIMESTAMP_WITHOUT_TIME_ZONE: "timestamp",
    },
    promotions={
        **{
            old: frozenset(new for new, (_, read) in _SQLITE_NUMBERS.items() if stored & read)
            for old, (stored, _) in _SQLITE_NUMBERS.items()
        },
        **parse_promotions("""
            date: timestamp, string
            time: string
            timestamp: date, string
        """),
    },
    promotes_decimal=is_no_other_decimal,
    parsed=parse_promotions("string: date, time, timestamp"),
    precisions={**JDBC.precisions, R.DECIMAL: 15},  # decimals are doubles
    refuses_fractions=True,
)  # fmt: skip


def sqlite_storage_classes(type_: DataType) -> frozenset[str]:
    """Return the storage classes of the values that SQLite's columns are read as.

    >>> from schema_core.types import DataTypes as T
    >>> sorted(sqlite_storage_classes(T.DOUBLE())), sorted(sqlite_storage_classes(T.DATE()))
    (['integer', 'real'], ['text'])
    """
    physical = SQLITE.physical_type(type_) or ""
    if physical in _SQLITE_NUMBERS:
        return _SQLITE_NUMBERS[physical][1]
    return frozenset({"blob" if physical == "blob" else "text"})


#: Part of a JDBC URL that names the database -> its rules.
DATABASES: Mapping[str, RuleSet] = {
    "postgresql": POSTGRESQL, "sqlite": SQLITE, "mysql": JDBC, "oracle": ORACLE,
    "sqlserver": JDBC, "db2": DB2,
}  # fmt: skip


def rules_of(options: Mapping[str, str], form: str | None = None) -> RuleSet:
    """Return the rules by which the rows of a table are read, or Flink's.

    They are those of its format, or of its database for the connector `jdbc`.

    `form` is the format of a table without a connector, whose files the catalog manages.

    >>> rules_of({"connector": "filesystem", "format": "orc"}).name, rules_of({}).name
    ('orc', 'flink')
    >>> rules_of({"connector": "jdbc", "url": "jdbc:sqlite:x.db"}).name
    'jdbc-sqlite'
    """
    if options.get("connector") == "jdbc":
        protocol, _, rest = options.get("url", "").lower().partition(":")
        return DATABASES.get(rest.partition(":")[0] if protocol == "jdbc" else "", FLINK)
    if "connector" in options:
        form = options.get("value.format")
    rules = FILES.get(options.get("format", form or ""), FLINK)
    if rules is CSV and options.get("connector", "filesystem") != "filesystem":
        return CSV_MESSAGES
    is_header = options.get("csv.header", "").strip().lower() == "true"
    return CSV_HEADER if rules is CSV and is_header else rules


#: Name -> rule set.
RULE_SETS: Mapping[str, RuleSet] = {
    rules.name: rules
    for rules in (FLINK, SPARK, ICEBERG, AVRO, *FILES.values(), *DATABASES.values())
}
