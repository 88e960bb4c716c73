"""Partition specs and sort orders of Iceberg as text, for options of tables.

Partitions by the values of columns are Flink's PARTITIONED BY. Others are the option
``partition-by``, such as ``days(at), bucket(16, id)``, with the names that Spark SQL has for the
transforms. A sort order is the option ``sort-by``, such as ``id DESC NULLS LAST, bucket(4, name)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pyiceberg.partitioning import PARTITION_FIELD_ID_START, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    Transform,
    TruncateTransform,
    VoidTransform,
    YearTransform,
)

from schema_core.base.lazy import dataclass, regex
from schema_core.base.text import quote_identifier, show
from schema_core.errors import SchemaError, UnsupportedError

#: The longest text of a partition spec or sort order.
MAX_LENGTH = 10_000

#: Name in Spark SQL -> the transform; the functions take the number of a transform with one.
TRANSFORMS: dict[str, Any] = {
    "years":    lambda number: YearTransform(),
    "months":   lambda number: MonthTransform(),
    "days":     lambda number: DayTransform(),
    "hours":    lambda number: HourTransform(),
    "bucket":   BucketTransform,
    "truncate": TruncateTransform,
}  # fmt: skip
#: The transforms with a number.
NUMBERED = ("bucket", "truncate")

_TERM = regex(
    r"\s*(?:(?P<function>[a-z]+)\s*\(\s*(?:(?P<number>[0-9]{1,9})\s*,\s*)?)?"
    r"(?:`(?P<quoted>(?:[^`]|``)+)`|(?P<name>[\w.]+))(?P<end>\s*\))?"
    r"(?P<direction>\s+(?:ASC|DESC))?(?P<nulls>\s+NULLS\s+(?:FIRST|LAST))?\s*(?P<comma>,|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Term:
    """A column with a transform, and its order."""

    column: str
    transform: Transform[Any, Any]
    direction: SortDirection | None = None
    nulls: NullOrder | None = None


def parse_terms(text: str, *, ordered: bool) -> list[Term]:
    """Parse the terms of a partition spec, or with `ordered` of a sort order.

    Raises:
        SchemaError: with code `invalid-option-value`.
    """
    if len(text) > MAX_LENGTH:
        raise _invalid(text)
    terms: list[Term] = []
    position = 0
    while position < len(text) or not terms:
        match = _TERM.match(text, position)
        if match is None or (match["comma"] and match.end() == len(text)):
            raise _invalid(text)
        terms.append(_term(match, text, ordered=ordered))
        position = match.end()
    return terms


def _term(match: re.Match[str], text: str, *, ordered: bool) -> Term:
    function = (match["function"] or "").lower()
    is_call = bool(function)
    has_number = match["number"] is not None
    if (
        is_call != (match["end"] is not None)
        or (is_call and function not in TRANSFORMS)
        or has_number != (function in NUMBERED)
        or (not ordered and (match["direction"] or match["nulls"]))
        or (has_number and int(match["number"]) == 0)
    ):
        raise _invalid(text)
    number = int(match["number"] or 0)
    transform = TRANSFORMS[function](number) if function else IdentityTransform()
    column = match["name"] or match["quoted"].replace("``", "`")
    direction = SortDirection[(match["direction"] or "ASC").strip().upper()]
    nulls = NullOrder["NULLS_FIRST" if direction is SortDirection.ASC else "NULLS_LAST"]
    if match["nulls"]:
        nulls = NullOrder["_".join(match["nulls"].split()).upper()]
    return Term(column, transform, direction, nulls) if ordered else Term(column, transform)


def _invalid(text: str) -> SchemaError:
    return SchemaError(
        f"expected columns and transforms, got {show(text)}",
        code="invalid-option-value",
        hint=f"write columns, or one of {', '.join(TRANSFORMS)}: 'days(at), bucket(16, id)'",
    )


def print_transform(transform: Transform[Any, Any], column: str) -> str:
    """Return a column with a transform as `parse_terms` reads it.

    >>> print_transform(BucketTransform(16), "id"), print_transform(IdentityTransform(), "a b")
    ('bucket(16, id)', '`a b`')
    """
    name = column if re.fullmatch(r"[\w.]+", column) else quote_identifier(column)
    match transform:
        case IdentityTransform():
            return name
        case BucketTransform():
            return f"bucket({transform.num_buckets}, {name})"
        case TruncateTransform():
            return f"truncate({transform.width}, {name})"
    for word, make in TRANSFORMS.items():
        if word not in NUMBERED and isinstance(transform, type(make(0))):
            return f"{word}({name})"
    raise UnsupportedError(
        f"the transform {transform} of the column {column!r} is unknown",
        code="not-representable",
        hint="install a version of pyiceberg that has the transform",
    )


def stored_fields(spec: PartitionSpec) -> list[PartitionField]:
    """Return the fields of a spec without those that tables of version 1 keep as dropped."""
    return [field for field in spec.fields if not isinstance(field.transform, VoidTransform)]


def identity_columns(spec: PartitionSpec, schema: Schema) -> list[str] | None:
    """Return the columns by whose values a table is partitioned; None if it has other fields."""
    top = {field.field_id: field.name for field in schema.fields}
    fields = stored_fields(spec)
    for field in fields:
        if not isinstance(field.transform, IdentityTransform) or field.source_id not in top:
            return None
    return [top[field.source_id] for field in fields]


def print_spec(spec: PartitionSpec, schema: Schema) -> str:
    """Return a partition spec as the value of the option ``partition-by``."""
    return ", ".join(
        print_transform(field.transform, schema.find_column_name(field.source_id) or "")
        for field in stored_fields(spec)
    )


def print_order(order: SortOrder, schema: Schema) -> str:
    """Return a sort order as the value of the option ``sort-by``."""
    return ", ".join(
        f"{print_transform(field.transform, schema.find_column_name(field.source_id) or '')} "
        f"{field.direction} {field.null_order}"
        for field in order.fields
    )


def identity_terms(columns: Iterable[str]) -> list[Term]:
    """Return the terms of PARTITIONED BY."""
    return [Term(column, IdentityTransform()) for column in columns]


def _sources(terms: Sequence[Term], schema: Schema) -> Iterator[tuple[Term, int]]:
    """Yield each term with the id of its column, which its transform must accept."""
    names = {field.name: field for field in schema.fields}
    for term in terms:
        field = names.get(term.column)
        if field is None:
            try:
                field = schema.find_field(term.column)
            except ValueError:
                raise SchemaError(
                    f"there is no column {term.column!r} to partition or sort by",
                    code="unknown-column",
                ) from None
        if not field.field_type.is_primitive or not term.transform.can_transform(field.field_type):
            raise UnsupportedError(
                f"Iceberg does not partition or sort {term.column!r} of type {field.field_type} "
                f"by {term.transform}",
                code="not-representable",
                hint="use a column of a type without fields or elements, and one of its transforms",
            )
        yield term, field.field_id


def make_spec(
    terms: Sequence[Term], schema: Schema, old: Sequence[PartitionSpec] = (), last_id: int = 0
) -> PartitionSpec:
    """Return the partition spec of terms; fields that an earlier spec had keep their ids.

    Args:
        terms: The columns with their transforms.
        schema: The schema of the table.
        old: The specs that the table has had.
        last_id: The highest id of their fields.

    Raises:
        SchemaError: with code `unknown-column`.
        UnsupportedError: with code `not-representable` for a transform that the type does not have.
    """
    known = {
        (field.source_id, str(field.transform)): field for spec in old for field in spec.fields
    }
    next_id = max(last_id, PARTITION_FIELD_ID_START - 1) + 1
    fields: list[PartitionField] = []
    for term, source in _sources(terms, schema):
        if (field := known.get((source, str(term.transform)))) is None:
            name = _field_name(term, schema, {field.name for field in fields})
            field = PartitionField(source, next_id, term.transform, name)
            next_id += 1
        fields.append(field)
    number = 1 + max((spec.spec_id for spec in old), default=-1)
    same = next((spec.spec_id for spec in old if list(spec.fields) == fields), number)
    return PartitionSpec(*fields, spec_id=same)


def _field_name(term: Term, schema: Schema, names: set[str]) -> str:
    """Return the name of a partition field, as Iceberg's Java library forms it."""
    suffix = {
        BucketTransform: "_bucket", TruncateTransform: "_trunc", YearTransform: "_year",
        MonthTransform: "_month", DayTransform: "_day", HourTransform: "_hour",
    }.get(type(term.transform), "")  # fmt: skip
    name, number = term.column + suffix, 2
    taken = names | ({field.name for field in schema.fields} if suffix else set())
    while name in taken:
        name, number = f"{term.column}{suffix}_{number}", number + 1
    return name


def make_order(terms: Sequence[Term], schema: Schema, old: Sequence[SortOrder] = ()) -> SortOrder:
    """Return the sort order of terms; errors as `make_spec`."""
    fields = [
        SortField(source, term.transform, term.direction, term.nulls)
        for term, source in _sources(terms, schema)
    ]
    if not fields:
        return SortOrder(order_id=0)
    number = 1 + max((order.order_id for order in old), default=0)
    same = next((order.order_id for order in old if list(order.fields) == fields), number)
    return SortOrder(*fields, order_id=same)
