"""Reports of sweeps: findings by code, the types in use, and what other engines would lose."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, TypeAlias

from schema_core.base.lazy_dataclass import dataclass
from schema_core.base.text import escaped
from schema_core.mappings.loss import LossKind

#: The version of the report in JSON.
VERSION = 1
#: Examples of each finding and each loss.
MAX_EXAMPLES = 3
#: Characters of a message in an example.
MAX_MESSAGE = 200

#: An example of a finding: the path of the definition, the location within it, and the message.
Example: TypeAlias = tuple[str, str, str]


@dataclass(slots=True)
class Tally:
    """The number of definitions with a finding or a loss, and the first of them as examples."""

    count: int = 0
    examples: list[Example] = field(default_factory=list)

    def add(self, count: int, examples: Iterable[Example]) -> None:
        """Count further definitions; the examples are those with the first paths."""
        self.count += count
        self.examples = sorted({*self.examples, *examples})[:MAX_EXAMPLES]


@dataclass(slots=True)
class SweepReport:
    """What a sweep found.

    Attributes:
        definitions: The number of definitions.
        ok: The number of those without a finding.
        findings: Code -> the definitions with a diagnostic of this code.
        types: Root of a type -> the number of columns with such a type.
        losses: Target and kind of loss -> the definitions that the target cannot hold losslessly.

    >>> report = SweepReport()
    >>> report.add("db.t", True, (), ["INTEGER"], [("hive", "nullability")])
    >>> print(report)
    1 definition: 1 without findings, 0 with findings
    <BLANKLINE>
    types in use (columns)
      INTEGER  1
    <BLANKLINE>
    not lossless in (definitions)
      hive: nullability  1  NOT NULL is dropped, such as db.t
    """

    definitions: int = 0
    ok: int = 0
    findings: dict[str, Tally] = field(default_factory=dict)
    types: Counter[str] = field(default_factory=Counter)
    losses: dict[tuple[str, str], Tally] = field(default_factory=dict)

    def add(
        self,
        path: str,
        ok: bool,
        diagnostics: Iterable[tuple[str, str, str]],
        types: Iterable[str],
        losses: Iterable[tuple[str, str]],
    ) -> None:
        """Add a definition.

        Args:
            path: Its path.
            ok: Whether nothing was found.
            diagnostics: The code, location and message of each diagnostic.
            types: The roots of the types of its columns.
            losses: Targets, and kinds of losses.
        """
        self.definitions += 1
        self.ok += ok
        self.types.update(types)
        seen: set[str] = set()
        for code, location, message in diagnostics:
            if code not in seen:
                seen.add(code)
                example = (path, location, message[:MAX_MESSAGE])
                self.findings.setdefault(code, Tally()).add(1, [example])
        for loss in losses:
            tally = self.losses.setdefault(loss, Tally())
            tally.add(1, [(path, "", "")] if len(tally.examples) < MAX_EXAMPLES else ())

    def merge(self, other: SweepReport) -> None:
        """Add the definitions of another report."""
        self.definitions += other.definitions
        self.ok += other.ok
        self.types.update(other.types)
        for code, tally in other.findings.items():
            self.findings.setdefault(code, Tally()).add(tally.count, tally.examples)
        for loss, tally in other.losses.items():
            self.losses.setdefault(loss, Tally()).add(tally.count, tally.examples)

    # --- output --------------------------------------------------------------------------------

    def to_document(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        losses: dict[str, dict[str, Any]] = {}
        for (target, kind), tally in sorted(self.losses.items()):
            paths = [path for path, _, _ in tally.examples]
            losses.setdefault(target, {})[kind] = {"definitions": tally.count, "examples": paths}
        return {
            "version": VERSION,
            "definitions": self.definitions,
            "ok": self.ok,
            "findings": {
                code: {"definitions": tally.count, "examples": list(map(_example, tally.examples))}
                for code, tally in sorted(self.findings.items())
            },
            "types": dict(sorted(self.types.items())),
            "losses": losses,
        }

    @staticmethod
    def from_document(document: Mapping[str, Any]) -> SweepReport:
        """Return the report of `to_document`."""
        report = SweepReport(document["definitions"], document["ok"])
        report.types.update(document["types"])
        for code, found in document["findings"].items():
            examples = [(one["path"], one["location"], one["message"]) for one in found["examples"]]
            report.findings[code] = Tally(found["definitions"], examples)
        for target, kinds in document["losses"].items():
            for kind, found in kinds.items():
                paths = [(path, "", "") for path in found["examples"]]
                report.losses[target, kind] = Tally(found["definitions"], paths)
        return report

    def to_json(self) -> str:
        """Return the report as JSON in one line."""
        return json.dumps(self.to_document())

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        with_findings = self.definitions - self.ok
        noun = "definition" if self.definitions == 1 else "definitions"
        yield (
            f"{self.definitions:,} {noun}: {self.ok:,} without findings, "
            f"{with_findings:,} with findings"
        )
        yield from _section("findings (definitions)", self._findings())
        types = [(root, count, "") for root, count in self.types.most_common()]
        yield from _section("types in use (columns)", types)
        yield from _section("not lossless in (definitions)", self._losses())

    def _findings(self) -> list[tuple[str, int, str]]:
        return [
            (code, tally.count, "; ".join(map(_shown, tally.examples)))
            for code, tally in _by_count(self.findings)
        ]

    def _losses(self) -> list[tuple[str, int, str]]:
        meanings = {kind.word: kind.meaning for kind in LossKind}
        return [
            (
                f"{target}: {kind}",
                tally.count,
                f"{meanings[kind]}, such as {', '.join(path for path, _, _ in tally.examples)}",
            )
            for (target, kind), tally in _by_count(self.losses)
        ]


def _by_count(tallies: Mapping[Any, Tally]) -> list[tuple[Any, Tally]]:
    """Return tallies, the highest first."""
    return sorted(tallies.items(), key=lambda item: (-item[1].count, item[0]))


def _example(example: Example) -> dict[str, str]:
    path, location, message = example
    return {"path": path, "location": location, "message": message}


def _shown(example: Example) -> str:
    path, location, message = example
    return f"{path}{f' ({location})' if location else ''}: {message}"


def _section(title: str, rows: list[tuple[str, int, str]]) -> Iterator[str]:
    """Yield the lines of a section in columns; none without rows."""
    if not rows:
        return
    width = max(len(name) for name, _, _ in rows)
    digits = max(len(f"{count:,}") for _, count, _ in rows)
    yield ""
    yield title
    for name, count, remark in rows:
        yield escaped(f"  {name:{width}}  {count:{digits},}  {remark}".rstrip())
