"""Generated migrations between drawn tables lead to the new definition, and back.

    python -m fuzz.generated_migrations --pairs 1000

Each pair is a table of a catalog in a SQLite database and a wanted one. The generated migration is
applied; what remains different must be in the file as unsupported. It is then undone.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

from fuzz.migration_plans import drawn_pair
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.base.paths import ObjectPath
from schema_core.catalogs import SqlCatalog
from schema_core.errors import SchemaCoreError
from schema_core.migration import CatalogContent, Migrator, autogenerate, diff_catalogs

PATH = ObjectPath("default", "m")


def check(random: Random, folder: Path) -> str:
    """Check one pair in a new directory; return what happened to it.

    Raises:
        AssertionError: if the migration does not do what its file says.
    """
    old, new, renames = drawn_pair(random, for_flink=True)
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.register_catalog("shop", SqlCatalog("shop", f"sqlite:///{folder}/shop.db"))
    environment.use_catalog("shop")
    catalog = environment.get_catalog("shop")
    try:
        catalog.create_table(PATH, old.copy({**old.options, "connector": "print"}), False)
        wanted = CatalogContent({}, {PATH: new.copy({**new.options, "connector": "print"})})
    except SchemaCoreError as error:
        return f"not created: {error.code}"
    (folder / "m").mkdir()
    hints = {PATH: renames} if renames else None
    try:
        result = autogenerate(
            Migrator(environment, folder / "m"), wanted, "m", column_renames=hints
        )
    except SchemaCoreError as error:
        return f"refused: {error.code}"
    if result.path is None:
        return "needs a rewrite" if result.rewrites else "equal"
    text = result.path.read_text(encoding="utf-8")
    names = re.findall(r"^-- the value of \$\{(\w+)\} is secret", text, re.MULTILINE)
    secrets = [table.options["password"] for table in (new, old) if "password" in table.options]
    variables = dict(zip(names, dict.fromkeys(secrets), strict=False))
    migrator = Migrator(environment, folder / "m", variables=variables)
    before = migrator.content()
    migrator.upgrade()
    wanted = CatalogContent(before.databases, wanted.objects)
    remaining = diff_catalogs(migrator.content(), wanted)
    assert bool(remaining) == ("-- unsupported: " in text), (text, remaining)
    assert migrator.drift() == ()
    if "\n-- down\n" not in text:
        assert "-- cannot be undone: " in text
        return "applied, without a way back"
    migrator.downgrade("base")
    remaining = diff_catalogs(migrator.content(), before)
    assert bool(remaining) == ("-- not restored by down: " in text), (text, remaining)
    return "applied and undone, in part" if remaining or "-- not" in text else "applied and undone"


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    result: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.pairs):
        with tempfile.TemporaryDirectory() as folder:
            result[check(Random(seed), Path(folder))] += 1
    for outcome, number in result.most_common():
        print(f"{number:6} {outcome}")


if __name__ == "__main__":
    main()
