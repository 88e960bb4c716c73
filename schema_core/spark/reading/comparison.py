"""Comparison of the rows of two frames, by key or as multisets, in two queries of Spark.

Values are equal if Spark's DISTINCT takes them for one: NULL equals NULL, NaN equals NaN, and 0.0
equals -0.0, at every depth. Maps are compared by their entries in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from schema_core.base.lazy import NamedTuple
from schema_core.environment.planner import DifferenceKind, RowDifferences, RowSample
from schema_core.query.relation import Column, Columns
from schema_core.spark.compiler.tree import quote
from schema_core.spark.jobs import spark_errors
from schema_core.spark.session.api_mode import functions_of
from schema_core.types import DataType, DataTypes, VariantType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType as SparkType

#: The kinds of differences that are not those of a column, by their codes in the query of samples.
KINDS = {
    -1: DifferenceKind.ONLY_LEFT,
    -2: DifferenceKind.ONLY_RIGHT,
    -3: DifferenceKind.DUPLICATE_KEY,
}


class ComparedColumns(NamedTuple):
    """The columns of both queries; arguments of `SupportsComparison.compare`.

    The first `key` identify a row, the first `compared` are compared, the others are only shown.
    """

    columns: Columns
    key: int
    compared: int


def compare_frames(
    left: DataFrame, right: DataFrame, columns: ComparedColumns, samples: int, zone: str
) -> RowDifferences:
    """Compare two frames with the same columns; `zone` is the time zone of samples."""
    comparison = _Comparison(left, columns)
    with spark_errors(left.sparkSession):
        groups = comparison.group(left, right)
        totals = groups.selectExpr(*comparison.counts()).first() or ()
    equal, only_left, only_right, duplicates, different, *by_column = (
        int(total or 0) for total in totals
    )
    has_differences = only_left + only_right + different + duplicates > 0
    rows = comparison.read_samples(groups, samples, zone) if samples and has_differences else ()
    return RowDifferences(
        equal, different, only_left, only_right, duplicates, tuple(by_column), tuple(rows)
    )


class _Comparison:
    """The expressions of a comparison in Spark SQL.

    A side is a row of `k`, the comparable values of the key or, without one, of all columns, `v`,
    those of the other columns, and `o`, what is only shown and the values of columns whose
    comparable values are others. A group has the numbers of its rows on the left and right, `l` and
    `r`, `e` of them in equal pairs, and a row of each side, `a` and `b`.
    """

    def __init__(self, frame: DataFrame, columns: ComparedColumns) -> None:
        self.columns, self.key = columns.columns, columns.key
        fields = frame.schema.fields
        names = [f"c{place}" for place in range(len(fields))]
        self.names = names
        self.compared = {
            name: comparable(name, field.dataType)
            for name, field in zip(names[: columns.compared], fields, strict=False)
        }
        self.in_key = names[: columns.key or columns.compared]
        self.values = names[len(self.in_key) : columns.compared]
        self.originals = [name for name in names if self.compared.get(name) != name]

    def group(self, left: DataFrame, right: DataFrame) -> DataFrame:
        """Return the groups of both frames: by key, or one for each distinct row."""
        sides = self._side(left, 1, 0).unionByName(self._side(right, 0, 1))
        if self.key:
            sides = sides.repartition("k")  # both groupings need no other exchange
        rows = sides.groupBy("k", "v").agg(
            *_expressions(sides, "sum(l) AS l", "sum(r) AS r", "first(o) AS o")
        )
        row = "struct(v, o)"
        present = [f"if({side} > 0, {row}, NULL)" for side in "lr"]
        pairs = "least(l, r)"
        if not self.key:
            return rows.selectExpr(
                "k", "l", "r", f"{pairs} AS e", f"{present[0]} AS a", f"{present[1]} AS b"
            )
        return rows.groupBy("k").agg(
            *_expressions(
                rows,
                "sum(l) AS l",
                "sum(r) AS r",
                f"sum({pairs}) AS e",
                f"first({present[0]}, true) AS a",
                f"first({present[1]}, true) AS b",
            )
        )

    def _side(self, frame: DataFrame, left: int, right: int) -> DataFrame:
        return frame.toDF(*self.names).selectExpr(
            f"{self._struct(self.in_key)} AS k",
            f"{self._struct(self.values)} AS v",
            f"{_struct(self.originals)} AS o",
            f"{left}L AS l",
            f"{right}L AS r",
        )

    def _struct(self, names: Sequence[str]) -> str:
        return _struct([f"{self.compared[name]} AS {name}" for name in names])

    # --- differences ---------------------------------------------------------------------------

    @property
    def _is_pair(self) -> str:
        """The condition for a key with one row on each side, which differ."""
        return "(l = 1 AND r = 1 AND e = 0)" if self.key else "FALSE"

    @property
    def _is_duplicate(self) -> str:
        return "(l > 1 OR r > 1)" if self.key else "FALSE"

    def _differing(self) -> list[str]:
        """Return the conditions for pairs that differ in a column, for each one after the key."""
        return [f"({self._is_pair} AND NOT (a.v.{name} <=> b.v.{name}))" for name in self.values]

    def counts(self) -> list[str]:
        """Return the aggregates that count rows, keys, and the differences of columns."""
        unpaired = (f"if({self._is_pair}, 0, {side} - e)" for side in "lr")
        conditions = [self._is_duplicate, self._is_pair, *self._differing()]
        totals = ["e", *unpaired, *(f"if({condition}, 1, 0)" for condition in conditions)]
        return [f"sum({total}) AS n{place}" for place, total in enumerate(totals)]

    def read_samples(self, groups: DataFrame, samples: int, zone: str) -> Iterator[RowSample]:
        """Yield the first groups of each kind of difference, in the order of their keys."""
        from schema_core.spark.reading.results import string_rows

        unpaired = f"NOT {self._is_duplicate} AND NOT {self._is_pair}"
        conditions = {
            -1: f"{unpaired} AND l > e",
            -2: f"{unpaired} AND r > e",
            -3: self._is_duplicate,
            **dict(enumerate(self._differing(), len(self.in_key))),
        }
        codes = [f"if({condition}, {code}, NULL)" for code, condition in conditions.items()]
        kinds = f"explode(filter(array({', '.join(codes)}), code -> code IS NOT NULL)) AS code"
        ranks = "row_number() OVER (PARTITION BY code ORDER BY k) AS place"
        ranked = groups.selectExpr("*", kinds).selectExpr("*", ranks).where(f"place <= {samples}")
        numbers = ["CAST(code AS BIGINT) AS code", "CAST(place AS BIGINT) AS place", "l", "r"]
        cells = [
            (f"{side}{place}", *_printable(self._cell(side, name), self.columns[place].type))
            for side in "ab"
            for place, name in enumerate(self.names)
        ]
        frame = ranked.selectExpr(*numbers, *(f"{value} AS {name}" for name, value, _ in cells))
        columns = [Column(name, DataTypes.BIGINT()) for name in ("code", "place", "l", "r")]
        columns += [Column(name, type_) for name, _, type_ in cells]
        rows = string_rows(frame, tuple(columns), zone)
        width = len(self.names)
        for row in sorted(rows, key=lambda row: [int(text or 0) for text in row[:2]]):
            code, _, left, right = (int(text or 0) for text in row[:4])
            yield RowSample(
                KINDS.get(code, DifferenceKind.COLUMN),
                code if code >= 0 else None,
                row[4 : 4 + width] if left else None,
                row[4 + width :] if right else None,
                left,
                right,
            )

    def _cell(self, side: str, name: str) -> str:
        """Return the original value of a column of a group."""
        if name in self.originals:
            return f"{side}.o.{name}"
        return f"if({side} IS NULL, NULL, k.{name})" if name in self.in_key else f"{side}.v.{name}"


def _printable(value: str, type_: DataType) -> tuple[str, DataType]:
    """Return a value and its type, or its JSON if it has a VARIANT, which has no string."""
    if any(isinstance(part, VariantType) for part in type_.walk()):
        return f"to_json({value})", DataTypes.STRING()
    return value, type_.nullable()


def _struct(parts: Sequence[str]) -> str:
    return f"struct({', '.join(parts)})" if parts else "TRUE"


def _expressions(frame: DataFrame, *texts: str) -> list[Any]:
    return [functions_of(frame.sparkSession).expr(text) for text in texts]


def comparable(value: str, type_: SparkType, depth: int = 0) -> str:
    """Return an expression whose values Spark can compare: maps are sorted lists of entries.

    >>> from pyspark.sql.types import IntegerType, MapType, StringType
    >>> comparable("c", StringType())
    'c'
    >>> comparable("c", MapType(StringType(), IntegerType()))
    'array_sort(transform(map_entries(c), e0 -> struct(e0.key AS key, e0.value AS value)))'
    """
    from pyspark.sql import types

    element = f"e{depth}"
    match type_:
        case types.StructType(fields=fields):
            accesses = [f"{value}.{quote(field.name)}" for field in fields]
            parts = [
                comparable(access, field.dataType, depth)
                for access, field in zip(accesses, fields, strict=True)
            ]
            if parts == accesses:
                return value
            named = (f"{part} AS f{place}" for place, part in enumerate(parts))
            return f"if({value} IS NULL, NULL, struct({', '.join(named)}))"
        case types.ArrayType(elementType=part_type):
            part = comparable(element, part_type, depth + 1)
            return value if part == element else f"transform({value}, {element} -> {part})"
        case types.MapType(keyType=key_type, valueType=value_type):
            key = comparable(f"{element}.key", key_type, depth + 1)
            part = comparable(f"{element}.value", value_type, depth + 1)
            entry = f"struct({key} AS key, {part} AS value)"
            return f"array_sort(transform(map_entries({value}), {element} -> {entry}))"
        case types.VariantType():
            return f"concat(schema_of_variant({value}), ' ', to_json({value}))"
        case _:
            return value
