"""Which Flink may have written a map: keys, and the versions that write them.

The rows were found by recording the maps of every minor version from 1.9 to 2.3
(``fuzz/oracle/older``); what two versions write alike cannot be told apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

#: Minor versions in order.
VERSIONS = (
    "1.9", "1.10", "1.11", "1.12", "1.13", "1.14", "1.15", "1.16", "1.17", "1.18", "1.19", "1.20",
    "2.0", "2.1", "2.2", "2.3",
)  # fmt: skip
OLDEST, NEWEST = VERSIONS[0], VERSIONS[-1]


@dataclass(frozen=True, slots=True)
class Feature:
    """What some versions write: a pattern of whole keys, the first version and the last."""

    what: str
    keys: str
    first: str = OLDEST
    last: str = NEWEST


FEATURES = (
    #       what                    keys                                          first, last
    Feature("type informations",    r"schema\.\d+\.type",                         last="1.9"),
    Feature("times of descriptors", r"schema\.\d+\.(from|proctime|rowtime\..*)",  last="1.20"),
    Feature("types as SQL",         r"schema\.\d+\.data-type",                    "1.10"),
    Feature("computed columns",     r"schema\.\d+\.expr",                         "1.10"),
    Feature("watermarks",           r"schema\.watermark\.\d+\..*",                "1.10"),
    Feature("Hive's old prefix",    r"generic\.table\.schema\.\d+\..*",           "1.10", "1.10"),
    Feature("primary keys",         r"schema\.primary-key\.(name|columns)",       "1.11"),
    Feature("partition keys",       r"partition\.keys\.\d+\.name",                "1.11"),
    Feature("metadata columns",     r"schema\.\d+\.(metadata|virtual)",           "1.12"),
    Feature("comments of columns",  r"schema\.\d+\.comment",                      "1.18"),
    Feature("materialized tables",  r"logical-refresh-mode",                      "1.20"),
    Feature("their one query",      r"definition-query",                          "1.20", "2.2"),
    Feature("models",               r"(input|output)-schema\.\d+\.name",          "2.0"),
    Feature("indexes",              r"schema\.index\.\d+\.(name|columns)",        "2.1"),
    Feature("distribution",         r"distribution\.kind",                        "2.2"),
    Feature("their two queries",    r"(original|expanded)-query",                 "2.3"),
    Feature("immutable columns",    r"schema\.immutable\.(name|columns)",         "2.3"),
)  # fmt: skip


class Versions(NamedTuple):
    """The first and the last version that may have written a map, and what says so."""

    first: str
    last: str
    features: tuple[Feature, ...]

    @property
    def contradict(self) -> bool:
        """Whether no single version writes all of the keys."""
        return VERSIONS.index(self.first) > VERSIONS.index(self.last)

    def __str__(self) -> str:
        if self.contradict:
            return f"keys of Flink {self.last} and of {self.first} together"
        return f"Flink {self.first}" + (f" to {self.last}" if self.first != self.last else "")


def versions_of(keys: Iterable[str]) -> Versions:
    """Which versions may have written a map with these keys.

    >>> print(versions_of(["schema.0.name", "schema.0.data-type", "schema.0.comment"]))
    Flink 1.18 to 2.3
    >>> print(versions_of(["schema.0.name", "schema.0.type"]))
    Flink 1.9
    """
    text = "\n".join(key for key in keys if "\n" not in key)
    shown = tuple(one for one in FEATURES if re.search(rf"(?m)^(?:{one.keys})$", text))
    first = max((VERSIONS.index(one.first) for one in shown), default=0)
    last = min((VERSIONS.index(one.last) for one in shown), default=len(VERSIONS) - 1)
    return Versions(VERSIONS[first], VERSIONS[last], shown)
