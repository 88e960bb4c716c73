"""Tables of compatibility, from the findings and the rules of stores.

Those of docs/compatibility.md, and the page of the site with the types of all formats.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from docs.mapping_tables import code, table
from schema_core.mappings.stored_types import (
    AVRO,
    FILES,
    ICEBERG,
    SPARK,
    Reading,
    RuleSet,
)
from schema_core.migration.compatibility import FINDINGS, Severity
from schema_core.migration.gates.lint import RULES
from schema_core.types import DataType, parse_type

STORED = (SPARK, ICEBERG, AVRO)

#: One type of each kind, or two where they differ in more than their name.
SHOWN = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(5, 2)",
    "DECIMAL(20, 3)", "VARCHAR(5)", "STRING", "VARBINARY(5)", "BYTES", "DATE", "TIME(3)",
    "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP_LTZ(3)",
)  # fmt: skip

#: Change of columns -> the columns before and after it.
CHANGES = {
    "a nullable column is added at the end": ("ROW<a INT>", "ROW<a INT, b INT>"),
    "a NOT NULL column is added": ("ROW<a INT>", "ROW<a INT, b INT NOT NULL>"),
    "the last column is dropped": ("ROW<a INT, b INT>", "ROW<a INT>"),
    "columns change their places": ("ROW<a INT, b INT>", "ROW<b INT, a INT>"),
    "a column is declared NOT NULL": ("ROW<a INT>", "ROW<a INT NOT NULL>"),
    "a field within a column is added": ("ROW<r ROW<a INT>>", "ROW<r ROW<a INT, b INT>>"),
    "the elements of an array get a wider type": ("ROW<r ARRAY<INT>>", "ROW<r ARRAY<BIGINT>>"),
}


def findings() -> str:
    """A row for each finding."""
    rows = [(code(name), kind.severity.value, kind.meaning) for name, kind in FINDINGS.items()]
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
    header = ("type", *(code(store.name) for store in STORED))
    types = [
        (code(root.value), *(physical(store.physical[root]) for store in STORED))
        for root in AVRO.physical
    ]
    promotions = [
        (code(store.name), code(old), ", ".join(map(code, sorted(new))), store.source)
        for store in STORED
        for old, new in store.promotions.items()
    ]
    return (
        f"{table(header, types)}\n\n{table(('rules', 'stored', 'read as', 'source'), promotions)}\n"
    )


def kinds_of(store: RuleSet, old: DataType, new: DataType) -> list[str]:
    """The kinds of findings, each once, that are not only about wider types."""
    kinds = dict.fromkeys(finding.kind for finding in store.findings(old, new))
    return [kind for kind in kinds if kind != "type-promoted"]


def columns() -> str:
    """How each format of files finds columns, and what changes of them mean."""
    stores = [store for form, store in FILES.items() if form not in {"raw", "text"}]
    alike: dict[tuple[str, ...], list[str]] = {}
    for store in stores:
        cells = [(store.column_lookup or store.lookup).value]
        for types in CHANGES.values():
            old, new = map(parse_type, types)
            kinds = ", ".join(map(code, kinds_of(store, old, new)))
            cells.append(store.reading(old, new).value + (f": {kinds}" if kinds else ""))
        alike.setdefault(tuple(cells), []).append(code(store.name))
    rows = zip(("columns are found by", *CHANGES), *alike, strict=True)
    return table(("", *map(", ".join, alike.values())), list(rows)) + "\n"


def files() -> Iterator[str]:
    """Yield, for each format of files, which stored type is read as which others."""
    for form, store in FILES.items():
        types = {name: parse_type(name) for name in SHOWN if store.physical_type(parse_type(name))}
        exact: dict[str, list[str]] = {name: [] for name in types}
        risky: dict[str, dict[str, list[str]]] = {name: {} for name in types}
        for old, new in product(types, types):
            reading = store.reading(types[old], types[new])
            if old != new and reading is Reading.EXACT:
                exact[old].append(code(new))
            elif reading is Reading.AT_RISK:
                for kind in kinds_of(store, types[old], types[new]):
                    risky[old].setdefault(kind, []).append(code(new))
        rows = [
            (
                code(name),
                ", ".join(exact[name]),
                "; ".join(
                    f"{', '.join(others)} ({code(kind)})" for kind, others in risky[name].items()
                ),
            )
            for name in types
        ]
        yield f"## {form}\n\n{table(('stored', 'exact', 'at risk'), rows)}\n"


def page() -> str:
    """Return the page with what each format reads stored types as."""
    introduction = (
        "[Compatibility](../compatibility.md#what-files-are-read-as) explains these tables. "
        "Pairs that are not listed are not read."
    )
    return "\n\n".join(
        ("# What stored types are read as", introduction, *files(),
         "## Rules of formats and engines", rules())
    )  # fmt: skip


def lint_rules() -> str:
    """The kinds of findings of `lint` with their severities; a meaning has one page."""
    rules = {kind: rule for kind, rule in RULES.items() if rule.severity is not Severity.ALLOW}
    shared = {
        severity: ", ".join(
            code(kind)
            for kind, rule in rules.items()
            if kind in FINDINGS and rule.severity is severity
        )
        for severity in (Severity.ERROR, Severity.WARN)
    }
    rows = [
        (code(kind), rule.severity.value, rule.meaning)
        for kind, rule in rules.items()
        if kind not in FINDINGS
    ]
    lines = "\n".join(f"- {severity.value}: {kinds}" for severity, kinds in shared.items())
    return (
        "The findings of [compatibility](compatibility.md#findings):\n\n"
        f"{lines}\n\nand these:\n\n{table(('finding', 'severity', 'meaning'), rows)}\n"
    )


PARTS = {
    "lint_rules": lint_rules,
    "findings": findings,
    "file_columns": columns,
}
