"""``schema-core init``: the files of a new project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from schema_core.cli.script import report_unable

CONFIGURATION = """\
# Defaults of options of the command line; see docs/command-line.md.
directory = "migrations"

[check]
batch = true

# Secrets are named, not written: password = { env = "SHOP_PASSWORD" }
[define]
data = "data"
"""

SETUP = """\
-- Executed before migrations: creates and selects the catalog.
CREATE CATALOG main WITH ('type' = 'sql', 'url' = 'sqlite:///catalog.db');
USE CATALOG main;
"""

TABLES = """\
CREATE TABLE orders (
  id BIGINT NOT NULL,
  amount DECIMAL(12, 2),
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${data}/orders',
  'format' = 'parquet'
);
"""

WORKFLOW = """\
name: schemas
on: [push, pull_request]
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.11"
      - run: pip install 'schema-core[cli]'
      - run: schema-core check tables/*.sql --format github
"""

#: Path in the project -> content.
FILES = {
    "schema-core.toml": CONFIGURATION,
    "tables/orders.sql": TABLES,
    "migrations/setup.sql": SETUP,
    ".github/workflows/schemas.yml": WORKFLOW,
}


def init(
    directory: Annotated[Path, typer.Argument(help="The directory of the project.")] = Path(),
) -> None:
    """Write the files of a new project: configuration, table, setup and workflow for CI.

    Exits with 2, and writes nothing, if one of the files exists.
    """
    paths = {directory / name: text for name, text in FILES.items()}
    if existing := [path for path in paths if path.exists()]:
        raise report_unable(f"{existing[0]} exists", "name another directory")
    try:
        for path, text in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(path)
    except OSError as error:
        raise report_unable(f"cannot write {error.filename}: {error.strerror}") from None
