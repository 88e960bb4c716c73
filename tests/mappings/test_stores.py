"""Rule sets against the answers of the real tools, which fuzz/compatibility_tools.py records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schema_core.mappings.stored_types import (
    AVRO,
    FLINK,
    ICEBERG,
    RULE_SETS,
    SPARK,
    RuleSet,
    narrowing,
)
from schema_core.types import DataType, DecimalType, TypeRoot, can_cast, parse_type
from schema_core.types import DataTypes as T

RECORDED = Path(__file__).parent.parent / "cases/compatibility.jsonl"

#: Findings about values: the tools compare physical types, not the values of data types.
VALUES = {"length-narrowed", "range-narrowed", "precision-narrowed", "zone-dependent"}
READ = VALUES | {"field-added", "field-dropped", "fields-moved", "type-promoted"}


def underlying(type_: DataType) -> str:
    """The Avro type without its logical type."""
    return (AVRO.physical_type(type_) or "").split()[0]


#: The tools, where they differ from the specifications that the rule sets follow.
TOOLS: dict[str, RuleSet] = {
    # The checker of the package `avro` ignores logical types; the specification compares decimals.
    "avro": replace(
        AVRO,
        physical={root: name.split()[0] for root, name in AVRO.physical.items()},
        promotes_decimal=lambda old, new: (
            underlying(new) in AVRO.promotions.get(underlying(old), ())
        ),
    ),
    # pyiceberg reads strings as binaries and back, and decimals of another scale.
    "iceberg": replace(
        ICEBERG,
        promotions={
            **ICEBERG.promotions,
            "string": frozenset({"binary"}),
            "binary": frozenset({"string"}),
        },
        promotes_decimal=lambda old, new: (
            isinstance(old, DecimalType)
            and isinstance(new, DecimalType)
            and new.precision >= old.precision
        ),
    ),
    "spark": SPARK,
}


def recorded(tool: str) -> Iterator[dict[str, Any]]:
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if case["tool"] == tool:
            yield case


@pytest.mark.parametrize("tool", TOOLS)
def test_rules_agree_with_the_tool(tool: str) -> None:
    cases = list(recorded(tool))
    different = []
    for case in cases:
        old, new = parse_type(case["old"]).not_null(), parse_type(case["new"]).not_null()
        refused = [
            finding for finding in TOOLS[tool].findings(old, new) if finding.kind not in READ
        ]
        if bool(refused) == case["reads"]:
            different.append((case["old"], case["new"], case["why"], refused))

    assert not different, f"{len(different)} of {len(cases)}: {different[:3]}"
    assert len(cases) > 1000


def test_every_rule_set_knows_the_types_that_flink_knows() -> None:
    stored = set(AVRO.physical)

    assert stored == set(ICEBERG.physical) == set(SPARK.physical)
    assert set(TypeRoot) == set(FLINK.physical)
    assert list(RULE_SETS)[:4] == ["flink", "spark", "iceberg", "avro"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("TINYINT", "DECIMAL(3, 0)", None),
        ("SMALLINT", "DECIMAL(4, 0)", "range-narrowed"),
        ("DECIMAL(5, 2)", "DECIMAL(7, 4)", None),
        ("DECIMAL(5, 2)", "DECIMAL(7, 1)", "precision-narrowed"),
        ("DECIMAL(5, 2)", "INT", "precision-narrowed"),
        ("INT", "FLOAT", "precision-narrowed"),
        ("SMALLINT", "FLOAT", None),
        ("FLOAT", "DOUBLE", None),
        ("DOUBLE", "FLOAT", "precision-narrowed"),
        ("DOUBLE", "DECIMAL(38, 10)", "range-narrowed"),
        ("CHAR(3)", "VARCHAR(3)", None),
        ("VARCHAR(3)", "CHAR(3)", "length-narrowed"),
        ("CHAR(3)", "CHAR(5)", "length-narrowed"),
        ("VARCHAR(3)", "VARBINARY(12)", None),
        ("VARCHAR(3)", "VARBINARY(11)", "length-narrowed"),
        ("STRING", "BYTES", None),
        ("BYTES", "STRING", "range-narrowed"),
        ("TIMESTAMP(6)", "TIMESTAMP(3)", "precision-narrowed"),
        ("TIMESTAMP(3)", "TIMESTAMP(6)", None),
        ("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)", "zone-dependent"),
        ("TIMESTAMP(3)", "DATE", "precision-narrowed"),
        ("DATE", "TIMESTAMP(3)", None),
    ],
)
def test_values_that_the_new_type_does_not_have(old: str, new: str, expected: str | None) -> None:
    assert expected == narrowing(parse_type(old), parse_type(new))


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("TIMESTAMP(3)", "TIMESTAMP(6)", "type-changed"),
        ("DATE", "INT", "type-changed"),
        ("DECIMAL(5, 2)", "DECIMAL(7, 2)", "type-changed"),
        ("DECIMAL(5, 2)", "DECIMAL(7, 4)", "type-changed"),
        ("TIME(0)", "TIME(3)", "type-promoted"),
        ("INT", "TINYINT", "range-narrowed"),
    ],
)
def test_avro_reads_logical_types_only_as_themselves(old: str, new: str, kind: str) -> None:
    (result,) = AVRO.findings(parse_type(old), parse_type(new))

    assert kind == result.kind


def test_flinks_rules_are_its_implicit_casts() -> None:
    types = [parse_type(text) for text in ("INT", "BIGINT", "DATE", "STRING", "TIMESTAMP(3)")]
    for old in types:
        for new in types:
            assert can_cast(old, new) == FLINK.promotes(old, new)


def test_a_type_that_a_format_does_not_have_is_not_read() -> None:
    interval = T.INTERVAL(T.DAY(), T.SECOND(3))

    assert ICEBERG.physical_type(interval) is None
    assert ["type-changed"] == [finding.kind for finding in ICEBERG.findings(T.INT(), interval)]
    assert not list(ICEBERG.findings(interval, interval))


def test_differences_are_found_at_any_depth() -> None:
    old = parse_type("ROW<a ARRAY<ROW<x INT, y MAP<STRING, INT>>>>")
    new = parse_type("ROW<a ARRAY<ROW<y MAP<STRING, DATE>, z INT NOT NULL>>>")

    assert [
        ("field-dropped", "a.element.x"),
        ("type-changed", "a.element.y.value"),
        ("required-field-added", "a.element.z"),
    ] == [(finding.kind, ".".join(finding.path)) for finding in ICEBERG.findings(old, new)]
