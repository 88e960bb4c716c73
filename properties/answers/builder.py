"""Answers about the builders: printed forms, copies, equality, row types, descriptors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from properties.answers.attempt import Operation
from properties.answers.schema import distribution, resolved, resolver, written
from properties.recorded import Answer, Question
from schema_core.base.text import quote_string
from schema_core.catalog.resolve import resolve_table
from schema_core.environment.table_api.descriptor import (
    FormatDescriptor,
    TableDescriptor,
    TableDescriptorBuilder,
)
from schema_core.properties.property_map import encode_table
from schema_core.schema.resolved import Column, ImmutableColumns, Index, UniqueConstraint
from schema_core.schema.unresolved import Schema, UnresolvedComputedColumn
from schema_core.types import DataTypes


def schema_equals(question: Question) -> Answer:
    """Whether two schemas are equal to Flink, for which a type given as text equals only itself."""
    left, right = written(question["left"]), written(question["right"])
    columns = [item for item in left.columns if not isinstance(item, UnresolvedComputedColumn)]
    equal = left == right and not any(isinstance(field.data_type, str) for field in columns)
    return {"equal": equal, "left": str(left), "right": str(right)}


def from_schema(question: Question) -> Answer:
    builder = Schema.new_builder()
    for part in question["parts"]:
        builder.from_schema(written(part))
    return {"string": str(builder.build())}


def from_row(question: Question) -> Answer:
    builder = Schema.new_builder().from_row_data_type(DataTypes.of(question["type"]))
    return {"string": str(builder.build())}


def from_fields(question: Question) -> Answer:
    types = [DataTypes.of(item) for item in question["types"]]
    return {"string": str(Schema.new_builder().from_fields(question["names"], types).build())}


def from_resolved(question: Question) -> Answer:
    first = resolved(question)
    schema = Schema.new_builder().from_resolved_schema(first).build()
    again = resolver(question).resolve(schema)
    return {
        "string": str(schema),
        "again": str(again),
        "same": again == first,
        "equals_original": schema == written(question["schema"]),
    }


def described(column: Column) -> Answer:
    return {
        "name": column.name,
        "summary": column.as_summary_string(),
        "string": str(column),
        "extras": column.explain_extras(),
        "comment": column.comment,
        "physical": column.is_physical(),
        "persisted": column.is_persisted(),
        "data_type": column.data_type.as_summary_string(),
    }


def summaries(question: Question) -> Answer:
    schema = resolved(question)
    answer: Answer = {
        "string": str(schema),
        "columns": [described(column) for column in schema.columns],
        "watermarks": [spec.as_summary_string() for spec in schema.watermark_specs],
        "indexes": [index.as_summary_string() for index in schema.indexes],
    }
    if key := schema.primary_key:
        answer["primary_key"] = {
            "summary": key.as_summary_string(),
            "string": str(key),
            "enforced": key.is_enforced(),
            "type": key.get_type().name,
            "indexes": schema.get_primary_key_indexes(),
        }
    if immutable := schema.immutable_columns:
        answer["immutable"] = immutable.as_summary_string()
    return answer


def row_types(question: Question) -> Answer:
    schema = resolved(question)
    return {
        "source": schema.to_source_row_data_type().as_summary_string(),
        "physical": schema.to_physical_row_data_type().as_summary_string(),
        "sink": schema.to_sink_row_data_type().as_summary_string(),
        "count": schema.get_column_count(),
        "names": schema.get_column_names(),
        "types": [data_type.as_summary_string() for data_type in schema.get_column_data_types()],
    }


#: What is done to a column -> how.
STEPS: dict[str, Callable[[Column, Any], Column]] = {
    "rename": lambda column, name: column.rename(name),
    "copy": lambda column, type_: column.copy(DataTypes.of(type_)),
    "comment": lambda column, comment: column.with_comment(comment),
}


def column(question: Question) -> Answer:
    asked = question["column"]
    type_ = DataTypes.of(asked["type"])
    if asked["kind"] == "physical":
        made: Column = Column.physical(asked["name"], type_)
    else:
        key, virtual = asked.get("key"), bool(asked.get("virtual"))
        made = Column.metadata(asked["name"], type_, key, virtual)
    made = made.with_comment(asked.get("comment"))
    for step, argument in question.get("then", ()):
        made = STEPS[step](made, argument)
    return described(made)


def constraint(question: Question) -> Answer:
    name, columns = question["name"], question["columns"]
    match question.get("type"):
        case "immutable":
            immutable = ImmutableColumns.of(name, columns)
            return {"summary": immutable.as_summary_string(), "string": str(immutable)}
        case "index":
            index = Index.of(name, columns)
            return {"summary": index.as_summary_string(), "string": str(index)}
        case _:
            key = UniqueConstraint.primary_key(name, columns)
            kind = key.get_type().name
            return {"summary": key.as_summary_string(), "string": str(key), "type": kind}


# --- descriptors ----------------------------------------------------------------------------------


def described_table(asked: Question) -> TableDescriptor:
    """The descriptor that a question describes."""
    builder = TableDescriptor.for_connector(asked["connector"])
    if asked.get("schema") is not None:
        builder.schema(written(asked["schema"]))
    for key, value in (asked.get("options") or {}).items():
        builder.option(key, value)
    if asked.get("format") is not None:
        builder.format(asked["format"])
    if (given := asked.get("format_options")) is not None:
        described_format = FormatDescriptor.for_format(given["format"])
        for key, value in given["options"].items():
            described_format.option(key, value)
        builder.format(described_format.build())
    for group in asked.get("partition_keys") or ():
        builder.partitioned_by(*([group] if isinstance(group, str) else group))
    if asked.get("distribution") is not None:
        distribute(builder, asked["distribution"])
    if asked.get("comment") is not None:
        builder.comment(asked["comment"])
    return builder.build()


def distribute(builder: TableDescriptorBuilder, asked: Question) -> None:
    keys, buckets = asked.get("keys") or (), asked.get("buckets")
    match asked.get("kind"):
        case "HASH":
            builder.distributed_by_hash(keys, buckets)
        case "RANGE":
            builder.distributed_by_range(keys, buckets)
        case "INTO":
            builder.distributed_into(buckets or 0)
        case _:
            builder.distributed_by(keys, buckets)


def descriptor(question: Question) -> Answer:
    """A descriptor, printed as Flink does: with secrets, and with options as a Java map has them.

    Ours masks secrets and sorts the options.
    """
    made = described_table(question["descriptor"])
    answer: Answer = {
        "string": printed(made, java_order(made.options)),
        "options": made.get_options(),
        "partition_keys": made.get_partition_keys(),
        "comment": made.get_comment(),
        "has_schema": made.get_schema() is not None,
    }
    if len(made.options) > 1:
        answer["string_sorted"] = printed(made, sorted(made.options))
    if question.get("to_table"):
        kept = resolve_table(made.to_catalog_table(), resolver(question))
        answer["properties"] = encode_table(kept, on_loss="flink")
    return answer


def printed(made: TableDescriptor, keys: Iterable[str]) -> str:
    """The descriptor with its options in the order of these keys."""
    head = str(made).rpartition("WITH (\n")[0]
    lines = (f"  {quote_string(key)} = {quote_string(made.options[key])}" for key in keys)
    return f"{head}WITH (\n" + ",\n".join(lines) + "\n)"


def java_order(keys: Iterable[str]) -> list[str]:
    """The keys as a java.util.HashMap gives them back that got them one by one.

    >>> java_order(["z", "a", "m.n", "connector"])
    ['a', 'connector', 'z', 'm.n']
    """
    given = list(keys)
    buckets = 16
    while len(given) > buckets * 3 // 4:
        buckets *= 2
    return sorted(given, key=lambda key: java_hash(key) % buckets)


def java_hash(text: str) -> int:
    """String.hashCode, its upper half folded into the lower as HashMap does."""
    code = 0
    for unit in memoryview(text.encode("utf-16-le")).cast("H"):
        code = (code * 31 + unit) & 0xFFFFFFFF
    return code ^ code >> 16


FORMS: dict[str, Operation] = {
    "schema_string": lambda question: {"string": str(written(question["schema"]))},
    "schema_equals": schema_equals,
    "from_schema": from_schema,
    "from_row": from_row,
    "from_fields": from_fields,
    "from_resolved": from_resolved,
    "summaries": summaries,
    "row_types": row_types,
    "column": column,
    "constraint": constraint,
    "distribution": lambda question: {"string": str(distribution(question["distribution"]))},
    "descriptor": descriptor,
}

OPS: dict[str, Operation] = {
    "builder": lambda question: FORMS[question["form"]](question),
}
