"""Why names of PyFlink differ here or are absent, by the name in PyFlink or its beginning.

A key that begins with ``*.`` is the name of a member of any class. A name of `BEHAVIOR` takes the
same arguments but does something else.
"""

from __future__ import annotations

from schema_core.pyflink.absent import MODULES, NAMES

_STEP = "created by a method of the step before"

_WORKERS = "conversion between the Python workers of Flink and Java"

#: Name in PyFlink, or the beginning of it -> why it differs or is absent.
REASONS: dict[str, str] = {
    **{
        f"pyflink.{path}": f"{reason.problem}; {reason.hint}"
        for path, reason in {**MODULES, **NAMES}.items()
    },
    "*.__hash__": "it can be changed, so it has no hash",
    "*.from_sql_type": "the parameter is named `obj` for every type",
    "*.to_sql_type": "the parameter is named `obj` for every type",
    "*.need_conversion": _WORKERS,
    "*.EPOCH_ORDINAL": _WORKERS,
    "*.from_internal_type": _WORKERS,
    "*.to_internal_type": _WORKERS,
    "*.get_java_type_info": "it wraps no Java object",
    "pyflink.common.typeinfo.BasicTypeInfo": "use the method of `Types`",
    # --- pyflink.common
    "pyflink.common.job_client.JobClient": (
        "Spark has checkpoints and no savepoints: there is no format to choose"
    ),
    # --- pyflink.table
    "pyflink.table.catalog.Catalog.drop_database": (
        "the flag is named for what it ignores, and `cascade` is added"
    ),
    "pyflink.table.catalog.ComputedColumn.copy": "the parameter is named as that of `Column`",
    "pyflink.table.catalog.MetadataColumn.copy": "the parameter is named as that of `Column`",
    "pyflink.table.catalog.PhysicalColumn.copy": "the parameter is named as that of `Column`",
    "pyflink.table.table.GroupedTable.__init__": "created by `Table.group_by` only",
    "pyflink.table.table.AggregatedTable.__init__": _STEP,
    "pyflink.table.table.FlatAggregateTable.__init__": _STEP,
    "pyflink.table.table.GroupWindowedTable.__init__": _STEP,
    "pyflink.table.table.OverWindowedTable.__init__": _STEP,
    "pyflink.table.table.WindowGroupedTable.__init__": _STEP,
    "*.get_accumulator_type": "optional: an accumulator is any Python object",
    "*.get_result_type": "optional: `udaf` and `udtaf` call it only if a class has it",
    "*.merge": "optional: a group is in one process, so accumulators are not merged",
    "*.retract": "optional: rows are not retracted from an accumulator",
    "pyflink.table.udf.FunctionContext.__init__": "made by the engine with what Spark has",
    "pyflink.table.window": _STEP,
}

#: Name in PyFlink -> how it behaves otherwise with the same arguments.
BEHAVIOR: dict[str, str] = {
    "pyflink.table.types.DataType.__str__": "the type as SQL writes it: `DECIMAL(10, 2)`",
    "pyflink.table.types.DataType.__repr__": "without the nullability of nullable types",
    "pyflink.table.types.RowField.__str__": "the field as SQL writes it: `name` and type",
    "pyflink.table.types.DataType.__init__": "abstract: only subclasses are types",
    "pyflink.table.types.RowType.add": "returns another type: types are immutable",
    "pyflink.table.types.DataType.bridged_to": "without effect: no class of Java holds the values",
    "pyflink.table.expression.Expression.__str__": "the expression as SQL: `a + 2`",
    "pyflink.table.catalog.UniqueConstraint.get_type_string": "works; PyFlink's fails",
    "pyflink.table.table_environment.TableEnvironment.create_table": "returns whether it is new",
    "pyflink.table.table_environment.TableEnvironment.create_view": (
        "returns whether it is new; PyFlink's fails"
    ),
    "pyflink.table.table_environment.TableEnvironment.list_tables": (
        "without temporary ones: call `list_temporary_tables`"
    ),
    "pyflink.table.table_environment.TableEnvironment.list_views": (
        "without temporary ones: call `list_temporary_views`"
    ),
    "pyflink.table.table_config.TableConfig.set_sql_dialect": "the only dialect is `DEFAULT`",
    "pyflink.common.types.RowKind.to_j_row_kind": "refused: it wraps no Java object",
    "pyflink.table.compiled_plan.CompiledPlan.get_flink_version": (
        "refused: plans have a version of their own format"
    ),
    "pyflink.table.compiled_plan.CompiledPlan.as_smile_bytes": "refused: plans are JSON",
    "pyflink.table.plan_reference.PlanReference.from_smile_bytes": "refused: plans are JSON",
    "pyflink.table.statement_set.StatementSet.attach_as_datastream": (
        "refused: part of the DataStream API; call `execute`"
    ),
    **{
        f"pyflink.table.udf.FunctionContext.{name}": (
            "refused: Spark does not pass it to its workers"
        )
        for name in (
            "get_max_number_of_parallel_subtasks",
            "get_number_of_parallel_subtasks",
            "get_task_name",
            "get_task_name_with_subtasks",
        )
    },
    "pyflink.util.exceptions.TableException": "the base class of all errors",
    "pyflink.table.table_descriptor.TableDescriptor.__str__": "keys are sorted, secrets masked",
}
