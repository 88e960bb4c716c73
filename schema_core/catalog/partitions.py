"""Partitions of a table: their specification and what is kept of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from schema_core.catalog.objects import Options


@dataclass(frozen=True, slots=True, init=False)
class CatalogPartitionSpec:
    """Values of partition keys, all or some. Equal whatever the order of the keys.

    >>> print(CatalogPartitionSpec({"b": "x", "c": "y"}))
    b=x/c=y
    >>> CatalogPartitionSpec({"b": "x", "c": "y"}) == CatalogPartitionSpec({"c": "y", "b": "x"})
    True
    """

    pairs: tuple[tuple[str, str], ...] = field(compare=False)
    content: frozenset[tuple[str, str]] = field(repr=False)

    def __init__(self, partition_spec: Mapping[str, str]) -> None:
        object.__setattr__(self, "pairs", tuple(partition_spec.items()))
        object.__setattr__(self, "content", frozenset(partition_spec.items()))

    def get_partition_spec(self) -> dict[str, str]:
        """The values by key, in the order in which they were given."""
        return dict(self.pairs)

    def covers(self, other: CatalogPartitionSpec) -> bool:
        """Whether the other has every value of this one."""
        return self.content <= other.content

    def __str__(self) -> str:
        return "/".join(f"{key}={value}" for key, value in self.pairs)


@dataclass(frozen=True, slots=True)
class CatalogPartition:
    """What a catalog keeps of a partition."""

    properties: Mapping[str, str] = field(default_factory=Options, hash=False)
    comment: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "properties", Options(self.properties))

    @staticmethod
    def create_instance(
        properties: Mapping[str, str], comment: str | None = None
    ) -> CatalogPartition:
        return CatalogPartition(properties, comment)

    def get_properties(self) -> dict[str, str]:
        return dict(self.properties)

    def get_comment(self) -> str:
        return self.comment or ""

    def copy(self) -> CatalogPartition:
        return self
