"""What stands in the parentheses of a table, read: columns, watermark, constraints; and LIKE.

Also the clauses that say how a table is spread, since ALTER TABLE reads them as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from schema_core.sql.clauses import comment, listed, one_of
from schema_core.sql.definition_syntax import (
    Column,
    ComputedColumn,
    Constraint,
    Distribution,
    Elements,
    Like,
    LikeOption,
    MetadataColumn,
    PhysicalColumn,
    PlacedColumn,
    Watermark,
)
from schema_core.sql.expression import expression
from schema_core.sql.query import can_name, path_name, simple_name
from schema_core.sql.syntax import Name
from schema_core.sql.tokens import identifier, integer, refuse, string
from schema_core.sql.type_name import type_name
from schema_core.text import Cursor

#: What a LIKE clause can speak about; `OVERWRITING` is only for what stands in `OVERWRITABLE`.
FEATURES = (
    "ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS",
    "WATERMARKS",
)  # fmt: skip
STRATEGIES = ("INCLUDING", "EXCLUDING", "OVERWRITING")


@dataclass(slots=True)
class Gathered:
    """Elements in the order they come, before they are frozen."""

    columns: list[PlacedColumn] = field(default_factory=list)
    names: list[Name] = field(default_factory=list)
    watermark: Watermark | None = None
    constraints: list[Constraint] = field(default_factory=list)


def elements(cursor: Cursor) -> Elements:
    """``(columns, watermark, constraints)``, or names alone for CREATE TABLE AS."""
    start = cursor.token.start
    gathered = Gathered()
    listed(cursor, lambda inner: _element(inner, gathered, names_allowed=True))
    if gathered.names and (gathered.columns or gathered.watermark or gathered.constraints):
        raise cursor.fail(
            "names without types stand alone in a list",
            span=gathered.names[0].span,
            hint="they only re-order the columns of CREATE TABLE ... AS SELECT",
        )
    return Elements(
        tuple(placed.column for placed in gathered.columns),
        tuple(gathered.names),
        gathered.watermark,
        tuple(gathered.constraints),
        cursor.span_from(start),
    )


def placed_elements(cursor: Cursor) -> Gathered:
    """What ALTER TABLE adds or modifies: one element, or several in parentheses."""
    gathered = Gathered()
    if cursor.key == "(":
        listed(cursor, lambda inner: _element(inner, gathered, placed=True))
    else:
        _element(cursor, gathered, placed=True)
    return gathered


def columns(cursor: Cursor) -> tuple[Column, ...]:
    """The columns of INPUT and OUTPUT of a model; what a table has besides means nothing there."""
    gathered = Gathered()
    listed(cursor, lambda inner: _element(inner, gathered))
    return tuple(placed.column for placed in gathered.columns)


def _element(
    cursor: Cursor, gathered: Gathered, *, placed: bool = False, names_allowed: bool = False
) -> None:
    if cursor.key == "WATERMARK":
        if gathered.watermark is not None:
            raise cursor.fail("a table has one watermark", code="multiple-watermarks")
        gathered.watermark = _watermark(cursor)
    elif cursor.key in ("CONSTRAINT", "PRIMARY", "UNIQUE"):
        gathered.constraints.append(_table_constraint(cursor))
    elif names_allowed and can_name(cursor.token) and cursor.peek().key in (",", ")"):
        gathered.names.append(simple_name(cursor))
    else:
        _column(cursor, gathered, placed=placed)


def _watermark(cursor: Cursor) -> Watermark:
    start = cursor.expect("WATERMARK").start
    cursor.expect("FOR")
    column = path_name(cursor)
    cursor.expect("AS")
    return Watermark(column, expression(cursor), cursor.span_from(start))


# ------------------------------------------------------------------------------------- columns


def _column(cursor: Cursor, gathered: Gathered, *, placed: bool = False) -> None:
    """One column, with the constraint and the place that stand behind it."""
    name = path_name(cursor)
    column = _definition(cursor, name, gathered)
    first = placed and cursor.accept("FIRST")
    after = path_name(cursor) if placed and not first and cursor.accept("AFTER") else None
    gathered.columns.append(PlacedColumn(column, name, first, after))


def _definition(cursor: Cursor, name: Name, gathered: Gathered) -> Column:
    start, label = name.span.start, name.parts[-1]
    if cursor.accept("AS"):
        written = expression(cursor)
        note = comment(cursor)
        return ComputedColumn(label, written, note, cursor.span_from(start))
    type_ = type_name(cursor)
    if cursor.accept("METADATA"):
        key = string(cursor) if cursor.accept("FROM") else None
        virtual = cursor.accept("VIRTUAL")
        note = comment(cursor)
        return MetadataColumn(label, type_, key, virtual, note, cursor.span_from(start))
    if cursor.key in ("CONSTRAINT", "PRIMARY", "UNIQUE"):
        gathered.constraints.append(_constraint(cursor, (name,)))
    note = comment(cursor)
    return PhysicalColumn(label, type_, note, cursor.span_from(start))


# --------------------------------------------------------------------------------- constraints


def _table_constraint(cursor: Cursor) -> Constraint:
    return _constraint(cursor, None)


def _constraint(cursor: Cursor, of_column: tuple[Name, ...] | None) -> Constraint:
    """A constraint with its columns, or one behind the column it is for."""
    start = cursor.token.start
    name = identifier(cursor) if cursor.accept("CONSTRAINT") else None
    kind = one_of(cursor, "PRIMARY", "UNIQUE")
    if kind == "PRIMARY":
        cursor.expect("KEY")
        kind = "PRIMARY KEY"
    key = listed(cursor, simple_name) if of_column is None else of_column
    return Constraint(kind, key, name, _enforced(cursor), cursor.span_from(start))


def _enforced(cursor: Cursor) -> bool | None:
    if cursor.accept("NOT", "ENFORCED"):
        return False
    return True if cursor.accept("ENFORCED") else None


# --------------------------------------------------------------------------- spread, and LIKE


def distribution(cursor: Cursor) -> Distribution:
    """``BY [HASH | RANGE] (columns) [INTO n BUCKETS]`` or ``INTO n BUCKETS``."""
    start = cursor.token.start
    if cursor.accept("INTO"):
        return Distribution(buckets=_buckets(cursor), span=cursor.span_from(start))
    cursor.expect("BY")
    kind = "UNKNOWN" if cursor.key == "(" else one_of(cursor, "HASH", "RANGE")
    keys = listed(cursor, simple_name)
    buckets = _buckets(cursor) if cursor.accept("INTO") else None
    return Distribution(kind, keys, buckets, cursor.span_from(start))


def _buckets(cursor: Cursor) -> int:
    count = integer(cursor)
    cursor.expect("BUCKETS")
    return count


def like(cursor: Cursor) -> Like:
    """The source of a LIKE clause and its options; LIKE itself is already stepped over."""
    start = cursor.token.start
    source = path_name(cursor)
    found: list[LikeOption] = []
    if cursor.accept("("):
        while not found or not cursor.accept(")"):
            found.append(_like_option(cursor))
    return Like(source, tuple(found), cursor.span_from(start))


def _like_option(cursor: Cursor) -> LikeOption:
    start = cursor.token.start
    if cursor.key not in STRATEGIES:
        raise refuse(cursor, "INCLUDING, EXCLUDING or OVERWRITING")
    strategy = cursor.advance().key
    if cursor.key not in FEATURES:
        raise refuse(cursor, f"what {strategy} is for")
    feature = cursor.advance().key
    return LikeOption(strategy, feature, cursor.span_from(start))
