"""Syntax trees of the parts of definitions: columns, constraints, options, and changes of them.

The nodes of `statement_syntax` consist of these. Names of columns are `syntax.Name` nodes of any
number of parts, so that a path is refused with its span when it is looked up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from schema_core.secrets import mask_credentials, masked_value
from schema_core.sql.query_syntax import Query
from schema_core.sql.syntax import NOWHERE, Expression, Interval, Name, TypeName
from schema_core.text import Span


@dataclass(frozen=True, slots=True)
class Option:
    """``'key' = 'value'`` in a WITH clause. The last value of a repeated key counts."""

    key: str
    value: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"Option(key={self.key!r}, value={masked_value(self.key, self.value)!r})"


@dataclass(frozen=True, slots=True)
class PhysicalColumn:
    """``name type [NOT NULL] [COMMENT 'text']``; its constraint is one of the table's.

    ``NOT NULL`` is part of the type.
    """

    name: str
    type: TypeName
    comment: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ComputedColumn:
    """``name AS expression [COMMENT 'text']``."""

    name: str
    expression: Expression
    comment: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MetadataColumn:
    """``name type METADATA [FROM 'key'] [VIRTUAL] [COMMENT 'text']``."""

    name: str
    type: TypeName
    metadata_key: str | None = None
    is_virtual: bool = False
    comment: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Column: TypeAlias = PhysicalColumn | ComputedColumn | MetadataColumn


@dataclass(frozen=True, slots=True)
class Watermark:
    """``WATERMARK FOR column AS expression``; the column is a path if it names a field."""

    column: Name
    expression: Expression
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Constraint:
    """A PRIMARY KEY or UNIQUE constraint; `enforced` is None if unspecified."""

    kind: str
    columns: tuple[Name, ...]
    name: str | None = None
    enforced: bool | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Distribution:
    """``BY HASH(keys) INTO n BUCKETS``; `kind` is HASH, RANGE, or UNKNOWN if unspecified."""

    kind: str = "UNKNOWN"
    keys: tuple[Name, ...] = ()
    buckets: int | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LikeOption:
    """``INCLUDING GENERATED``: a strategy and the feature that it applies to."""

    strategy: str
    feature: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Like:
    """``LIKE source (options)``."""

    source: Name
    options: tuple[LikeOption, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements in the parentheses after the name of a table.

    `names` are set instead of columns if only names are listed (CREATE TABLE ... AS SELECT).
    """

    columns: tuple[Column, ...] = ()
    names: tuple[Name, ...] = ()
    watermark: Watermark | None = None
    constraints: tuple[Constraint, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Partition:
    """``PARTITION (a = 'x', b) WITH (...)``; the value of a key is optional in some statements."""

    values: tuple[tuple[str, str | None], ...]
    options: tuple[Option, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Resource:
    """``JAR 'path'`` after USING."""

    kind: str
    path: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"Resource(kind={self.kind!r}, path={mask_credentials(self.path)!r})"


# -------------------------------------------------------------------------- changes of ALTER


@dataclass(frozen=True, slots=True)
class RenameTo:
    """``RENAME TO path``."""

    path: Name


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """``RENAME column TO name``."""

    column: Name
    new_name: Name


@dataclass(frozen=True, slots=True)
class SetOptions:
    """``SET ('key' = 'value', ...)``."""

    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class ResetOptions:
    """``RESET ('key', ...)``."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlacedColumn:
    """A column of ADD or MODIFY and its position: ``FIRST``, ``AFTER column``, or unspecified."""

    column: Column
    name: Name
    first: bool = False
    after: Name | None = None


@dataclass(frozen=True, slots=True)
class AddElements:
    """``ADD`` columns, a watermark, constraints or a distribution; several in parentheses."""

    columns: tuple[PlacedColumn, ...] = ()
    watermark: Watermark | None = None
    constraints: tuple[Constraint, ...] = ()
    distribution: Distribution | None = None


@dataclass(frozen=True, slots=True)
class ModifyElements:
    """``MODIFY`` columns, the watermark, the primary key or the distribution."""

    columns: tuple[PlacedColumn, ...] = ()
    watermark: Watermark | None = None
    constraints: tuple[Constraint, ...] = ()
    distribution: Distribution | None = None


@dataclass(frozen=True, slots=True)
class DropColumns:
    """``DROP column`` or ``DROP (columns)``."""

    columns: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class DropPrimaryKey:
    """``DROP PRIMARY KEY``."""


@dataclass(frozen=True, slots=True)
class DropConstraint:
    """``DROP CONSTRAINT name``."""

    name: Name


@dataclass(frozen=True, slots=True)
class DropWatermark:
    """``DROP WATERMARK``."""


@dataclass(frozen=True, slots=True)
class DropDistribution:
    """``DROP DISTRIBUTION``."""


@dataclass(frozen=True, slots=True)
class AddPartitions:
    """``ADD [IF NOT EXISTS] PARTITION (...) [WITH (...)] ...``."""

    partitions: tuple[Partition, ...]
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropPartitions:
    """``DROP [IF EXISTS] PARTITION (...), PARTITION (...)``."""

    partitions: tuple[Partition, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class SetComment:
    """``COMMENT 'text'``."""

    comment: str


@dataclass(frozen=True, slots=True)
class SetQuery:
    """``AS query``: the new definition of a view or a materialized table."""

    query: Query


@dataclass(frozen=True, slots=True)
class SetFreshness:
    """``SET FRESHNESS = INTERVAL ...``."""

    freshness: Interval


@dataclass(frozen=True, slots=True)
class SetRefreshMode:
    """``SET REFRESH_MODE = FULL | CONTINUOUS``."""

    refresh_mode: str


@dataclass(frozen=True, slots=True)
class Suspend:
    """``SUSPEND`` the refresh of a materialized table."""


@dataclass(frozen=True, slots=True)
class Resume:
    """``RESUME [WITH (...)]`` the refresh of a materialized table."""

    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Refresh:
    """``REFRESH [PARTITION (...)]`` a materialized table."""

    partition: Partition | None = None


Change: TypeAlias = (
    RenameTo
    | RenameColumn
    | SetOptions
    | ResetOptions
    | AddElements
    | ModifyElements
    | DropColumns
    | DropPrimaryKey
    | DropConstraint
    | DropWatermark
    | DropDistribution
    | AddPartitions
    | DropPartitions
    | SetComment
    | SetQuery
    | SetFreshness
    | SetRefreshMode
    | Suspend
    | Resume
    | Refresh
)
