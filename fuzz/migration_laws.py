"""Laws of the difference of two tables and of its plans, on drawn pairs.

    python -m fuzz.migration_laws --pairs 10000

The changes of a pair, applied to the old table, give the new one; inverted, they lead back; as JSON
they are the same. A plan for every target is the same as JSON, and its digest that of its content;
what the target cannot do is an error of this library. ``properties/test_migration.py`` looks for
smaller and stranger tables.
"""

from __future__ import annotations

import argparse
from collections import Counter
from random import Random

from fuzz.migration_plans import drawn_pair
from schema_core.catalog.changes.json_format import from_json, to_json
from schema_core.catalog.changes.normal_forms import normalize
from schema_core.catalog.changes.table_changes import apply
from schema_core.errors import SchemaCoreError
from schema_core.migration.differences import diff, invert
from schema_core.migration.plans import MigrationPlan, plan
from schema_core.migration.targets.target_statements import TARGETS


def check(random: Random, found: Counter[str]) -> None:
    """Check the laws of one pair; count what its plans are.

    Raises:
        AssertionError: for a law that does not hold.
    """
    old, new, renames = drawn_pair(random, for_flink=random.random() < 0.8)
    changes = diff(old, new, renames=renames)
    assert apply(changes, normalize(old)) == normalize(new)
    assert normalize(apply(changes, old)) == normalize(new)
    assert apply(invert(changes, old), normalize(new)) == normalize(old)
    assert from_json(to_json(changes)) == changes
    assert bool(changes) == (normalize(old) != normalize(new))
    assert not diff(new, new)
    for target in TARGETS:
        try:
            made = plan(old, new, target, renames=renames, path="m")
        except SchemaCoreError as error:
            found[f"{target}: {error.code}"] += 1
            continue
        again = MigrationPlan.from_json(made.to_json())
        assert (again, again.digest) == (made, made.digest)
        found[f"{target}: planned"] += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    result: Counter[str] = Counter()
    for number in range(options.pairs):
        seed = f"{options.seed}-{number}"
        try:
            check(Random(seed), result)
        except BaseException:
            print(f"pair {seed}")
            raise
    print(f"{options.pairs} pairs, no difference")
    for what, count in sorted(result.items()):
        print(f"  {what}: {count}")


if __name__ == "__main__":
    main()
