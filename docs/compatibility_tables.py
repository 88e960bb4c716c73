"""The tables of docs/compatibility.md, printed from the findings and the rule sets."""

from __future__ import annotations

from docs.mapping_tables import code, table
from schema_core.mappings.stores import AVRO, ICEBERG, SPARK
from schema_core.migration.compatibility import FINDINGS

STORED = (SPARK, ICEBERG, AVRO)


def findings() -> str:
    """A row for each finding."""
    rows = [(code(name), one.severity.value, one.meaning) for name, one in FINDINGS.items()]
    return table(("finding", "severity", "meaning"), rows) + "\n"


#: Place of a parameter in a physical type -> how the table shows it.
PARAMETERS = {
    "{0.precision}": "p", "{0.scale}": "s", "{0.length}": "n", "{unit}": "millis|micros",
}  # fmt: skip


def physical(template: str) -> str:
    """A physical type with letters for its parameters."""
    for place, letter in PARAMETERS.items():
        template = template.replace(place, letter)
    return code(template)


def rules() -> str:
    """The physical type of each type in each format, and what is read as what."""
    header = ("type", *(code(one.name) for one in STORED))
    types = [
        (code(root.value), *(physical(one.physical[root]) for one in STORED))
        for root in AVRO.physical
    ]
    promotions = [
        (code(one.name), code(old), ", ".join(map(code, sorted(new))), one.source)
        for one in STORED
        for old, new in one.promotions.items()
    ]
    return (
        f"{table(header, types)}\n\n"
        f"{table(('rules', 'stored', 'read as', 'source'), promotions)}\n\n"
        "Decimals are read by a higher precision of the same scale (`iceberg`), by more digits "
        "before and after the point (`spark`), only as themselves (`avro`). The rules `flink` are "
        "Flink's implicit casts: what INSERT accepts.\n"
    )


PARTS = {"findings": findings, "rules": rules}
