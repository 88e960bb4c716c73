"""Scripts of other engines: every table is read; what is written reads back in the same engine."""

from __future__ import annotations

from fuzz import driver
from schema_core.errors import SchemaCoreError
from schema_core.mappings.dialects.api import DIALECTS, read_table, read_tables, to_ddl
from schema_core.mappings.dialects.flink import FLINK


def target(text: str) -> None:
    """Read a script in the dialect that its length picks; write what was read, and read that."""
    dialect = DIALECTS[len(text) % len(DIALECTS)]
    for result in read_tables(text, dialect).tables:
        try:
            written = to_ddl(result.table, dialect, on_loss="accept")
        except SchemaCoreError:  # a schema that Flink does not resolve, a name that has no form
            continue
        again = read_table(written, dialect)
        assert again.schema.columns or dialect == FLINK
        assert dialect != FLINK or to_ddl(again.table, dialect) == written


if __name__ == "__main__":
    driver.main("ddl", target)
