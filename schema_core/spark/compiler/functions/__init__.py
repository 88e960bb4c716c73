"""How every function is said in Spark's SQL so that it means what it means in Flink.

One table a family; a name that no table has cannot be run. The row of a function in
`schema_core.expressions.functions` says how it is typed, the row here how it is computed.
"""

from __future__ import annotations

from schema_core.spark.compiler.functions import (
    aggregates,
    collections,
    conditions,
    conversions,
    encodings,
    json,
    numbers,
    patterns,
    rounding,
    strings,
    temporal,
)
from schema_core.spark.compiler.sql_builder import Form

FAMILIES = (
    numbers,
    conditions,
    conversions,
    strings,
    patterns,
    encodings,
    json,
    rounding,
    temporal,
    collections,
    aggregates,
)

#: Name of a function -> its form.
FORMS: dict[str, Form] = {name: form for family in FAMILIES for name, form in family.FORMS.items()}
