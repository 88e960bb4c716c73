"""`ChangelogMode`: the kinds of changes in a changelog."""

from __future__ import annotations

from collections.abc import Iterable

from schema_core.base.arguments import require_instance, require_sequence
from schema_core.base.lazy import dataclass
from schema_core.types.row_value import RowKind


@dataclass(frozen=True, slots=True)
class ChangelogMode:
    """The kinds of changes that a changelog contains.

    >>> ChangelogMode.upsert().contains(RowKind.UPDATE_BEFORE)
    False
    >>> print(ChangelogMode.all())
    [INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE]
    """

    kinds: frozenset[RowKind]

    def __post_init__(self) -> None:
        kinds: Iterable[RowKind] = require_sequence(self.kinds, "kinds")
        found = frozenset(require_instance(kind, RowKind, "a kind") for kind in kinds)
        object.__setattr__(self, "kinds", found)

    @staticmethod
    def insert_only() -> ChangelogMode:
        """Return the mode of rows that are only inserted."""
        return ChangelogMode(frozenset({RowKind.INSERT}))

    @staticmethod
    def upsert() -> ChangelogMode:
        """Return the mode of updates by key, without the rows before an update."""
        return ChangelogMode(frozenset(RowKind) - {RowKind.UPDATE_BEFORE})

    @staticmethod
    def all() -> ChangelogMode:
        """Return the mode of all kinds of changes."""
        return ChangelogMode(frozenset(RowKind))

    def get_contained_kinds(self) -> set[RowKind]:
        """Return a copy of the kinds."""
        return set(self.kinds)

    def contains(self, kind: RowKind) -> bool:
        return kind in self.kinds

    def contains_only(self, kind: RowKind) -> bool:
        """Return whether all changes are of this kind."""
        return self.kinds == {kind}

    def __str__(self) -> str:
        return f"[{', '.join(kind.name for kind in RowKind if kind in self.kinds)}]"
