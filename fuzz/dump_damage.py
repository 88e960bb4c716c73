"""Damage dumps of engines in one place: no crash, and no table or column is lost without a report.

    python -m fuzz.dump_damage --seconds 600 --seed 1

The dumps in `seeds/dumps` have the form that each engine's own tool prints. Each damaged dump is
also condensed in small windows, as long dumps are, which must not lose more without a report.
Prints for each dialect how many dumps were damaged, how many were still read in full, how many had
more reports (errors and losses), and the findings; exits 1 if there are any.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from fuzz.driver import AWKWARD, SEEDS
from schema_core.errors import SchemaCoreError
from schema_core.mappings.dialects.api import ForeignScript, read_tables
from schema_core.mappings.dialects.condensation import WindowSizes, condense

#: Seconds that reading a damaged dump may take.
TIMEOUT = 3.0

#: Windows of which each dump needs several, although they are longer than its statements.
SIZES = WindowSizes(window=3_000, lookahead=300, definition=2_000, longest=2_500, literal=20_000)

#: Pieces that change which statements a script has, or what they are.
PIECES = (*AWKWARD, ";", "';", "$$", "\\.", "\nGO\n", "\n/\n", "DELIMITER //\n", "CREATE TABLE ",
          "CREATE FUNCTION f() ", "BEGIN ", "END;", "COPY t FROM stdin;\n", "\\", "E'", "N'", "q'[",
          "))", "((", ",,", "VARCHAR(", "PRIMARY KEY", "REFERENCES")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Damage:
    """A damaged text; `cut` and `added` are what was removed and inserted at `start`."""

    text: str
    start: int
    cut: str
    added: str

    def may_hide(self, original: str) -> bool:
        """Whether the damage opens or extends a comment, or drops or skips something rightly."""
        around = original[max(0, self.start - 3) : self.start + len(self.cut) + 3] + self.added
        words = ("--", "/*", "*/", "//", "#", "\\.", "DROP", "RENAME")
        cuts_table = any(word in self.cut.upper() for word in ("/", "TABLE", "CREATE"))
        return cuts_table or any(word in around.upper() for word in words)


def dumps() -> dict[str, str]:
    """Return the dumps by dialect."""
    files = sorted((SEEDS / "dumps").glob("*.sql"))
    return {file.stem: file.read_text(encoding="utf-8") for file in files}


def damages(text: str, draw: random.Random) -> Iterator[Damage]:
    """Damage a text in one place after another, without end."""
    while True:
        start = draw.randint(0, len(text))
        stop = min(len(text), start + draw.choice((0, 0, 1, 1, 2, 5, 20, 80)))
        place = draw.randint(0, len(text))
        other = text[place : place + draw.choice((1, 5, 40))]
        added = draw.choice(("", draw.choice(PIECES), other, text[start:stop] * 2))
        yield Damage(text[:start] + added + text[stop:], start, text[start:stop], added)


def reports(script: ForeignScript) -> Counter[str]:
    """Count the errors and losses of a script by what they state."""
    losses = [*script.losses, *(loss for table in script.tables for loss in table.losses)]
    return Counter(
        [f"{error.code}: {error.message}" for error in script.errors]
        + [f"{loss.source} > {loss.target}" for loss in losses]
    )


def widths(script: ForeignScript) -> dict[tuple[str, ...], int]:
    """Return the number of columns of each table."""
    return {table.path: len(table.schema.columns) for table in script.tables}


def find(before: ForeignScript, original: str, damage: Damage, dialect: str) -> str | None:
    """Return what is wrong with the reading of a damaged dump, or None."""
    started = time.process_time()
    try:
        after = read_tables(damage.text, dialect)
        condensed = read_tables(condense((damage.text,), dialect, SIZES), dialect)
    except SchemaCoreError as error:
        return f"refused: {error.code}"
    except (Exception, RecursionError) as error:  # noqa: BLE001 - any other error is the find
        return f"{type(error).__name__}: {str(error)[:200]}"
    if time.process_time() - started > TIMEOUT:
        return f"took more than {TIMEOUT} seconds"
    lost = sorted(widths(after).keys() - widths(condensed).keys())
    if lost and reports(condensed).total() <= reports(after).total():
        return f"condensing lost {lost}"
    if reports(after) - reports(before) or damage.may_hide(original):
        return None
    if len(after.tables) < len(before.tables):
        return f"lost {sorted(widths(before).keys() - widths(after).keys())}"
    if damage.cut:
        return None
    old, new = widths(before), widths(after)
    narrower = [path for path in old.keys() & new.keys() if new[path] < old[path]]
    return f"lost columns of {narrower}" if narrower else None


def main() -> None:
    """Damage dumps for a time and show what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="how long dumps are damaged")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--dialect", action="append", help="only this dialect")
    options = parser.parse_args()
    draw, end = random.Random(options.seed), time.monotonic() + options.seconds
    originals = {
        name: text for name, text in dumps().items() if name in (options.dialect or [name])
    }
    before = {name: read_tables(text, name) for name, text in originals.items()}
    sources = {name: damages(text, draw) for name, text in originals.items()}
    counts: Counter[str] = Counter()
    findings: Counter[str] = Counter()
    while time.monotonic() < end:
        for name, original in originals.items():
            damage = next(sources[name])
            counts[name] += 1
            if (finding := find(before[name], original, damage, name)) is not None:
                findings[name] += 1
                print(f"{name} at {damage.start}: cut {damage.cut!r}, added {damage.added!r}")
                print(f"    {finding}", flush=True)
    for name, count in counts.items():
        print(f"{name}: {count:,} damaged, {findings[name]} findings")
    print(f"seed {options.seed}, {sum(counts.values()):,} damaged, {findings.total()} findings")
    sys.exit(findings.total() > 0)


if __name__ == "__main__":
    main()
