"""PyFlink's public names that need Flink: using one raises an error that names a replacement.

An import hook creates modules of only such names.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

from schema_core.base.lazy import NamedTuple
from schema_core.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


class Reason(NamedTuple):
    """Why a name is absent, and what to do instead."""

    problem: str
    hint: str


_DATA_STREAM = Reason(
    "part of the DataStream API, which Spark does not have",
    "use tables: `TableEnvironment.create(EnvironmentSettings.in_streaming_mode())`",
)
_INTERNAL = Reason("internal to PyFlink: it serves Flink's workers", "remove the import")
_JAVA = Reason("handles objects of Flink's JVM", "remove the call: Spark runs without Flink's JVM")
_EXCEPTIONS = Reason("handles exceptions of Java", "catch `TableException`, the base of all errors")
_WRAPPER = Reason(
    "created by `udf`, `udtf`, `udaf` and `udtaf` only", "call `udf`, `udtf`, `udaf` or `udtaf`"
)

#: Modules of absent names only, with the modules below them.
MODULES = {
    module: reason
    for reason, modules in {
        _DATA_STREAM: (
            "common.execution_config", "common.input_dependency_constraint", "common.io",
            "common.restart_strategy", "datastream",
        ),
        _INTERNAL: (
            "common.constants", "common.serializer", "common.utils",
            "find_flink_home", "fn_execution", "gen_protos", "proto", "pyflink_callback_server",
            "pyflink_gateway_server", "serializers", "shell", "table.functions",
            "table.serializers", "table.utils", "testing", "util.api_stability_decorators",
        ),
        _JAVA: ("java_gateway", "util.java_utils"),
        Reason(
            "a connector of the DataStream API",
            "declare a table with a connector, read it with `from_path`, and convert it with "
            "`to_data_stream`; write with `from_data_stream` and `execute_insert`",
        ): ("datastream.connectors",),
        Reason(
            "a format of the DataStream API", "declare a table with the option 'format'"
        ): ("datastream.formats", "common.serialization"),
        Reason(
            "a window of the DataStream API",
            "use `Table.window` with `Tumble`, `Slide` or `Session`",
        ): ("datastream.window",),
        Reason(
            "keyed state of the DataStream API",
            "use an aggregate function (`udaf`), or a process table function with state",
        ): ("datastream.state", "datastream.timerservice", "datastream.time_domain"),
        Reason(
            "a setting of Flink's checkpoints",
            "streaming jobs have the option 'execution.checkpointing.dir' of schema_core",
        ): (
            "datastream.checkpoint_config", "datastream.checkpoint_storage",
            "datastream.checkpointing_mode", "datastream.externalized_checkpoint_retention",
            "datastream.state_backend",
        ),
        Reason(
            "asynchronous calls of the DataStream API", "use `AsyncScalarFunction` with tables"
        ): (
            "datastream.async_data_stream", "datastream.async_retry_predicates",
            "datastream.async_retry_strategies",
        ),
        Reason(
            "deprecated: nothing takes descriptors since `connect` was removed",
            "use `TableDescriptor`",
        ): ("table.descriptors",),
    }.items()
    for module in modules
}  # fmt: skip

#: Absent names of other modules; one that a package imports has its module's reason.
NAMES = {
    **{
        f"common.{name}": MODULES[f"common.{module}"]
        for module, names in {
            "execution_config": ("ExecutionConfig",),
            "input_dependency_constraint": ("InputDependencyConstraint",),
            "restart_strategy": ("RestartStrategies", "RestartStrategyConfiguration"),
            "serialization": (
                "ByteArraySchema", "DeserializationSchema", "Encoder", "SerializationSchema",
                "SimpleStringSchema",
            ),
            "serializer": ("TypeSerializer",),
        }.items()
        for name in names
    },
    **{
        f"datastream.{name}": MODULES[f"datastream.{module}"]
        for module, names in {
            "async_data_stream": ("AsyncDataStream",),
            "checkpoint_config": (
                "CheckpointConfig", "CheckpointStorage", "CheckpointingMode",
                "CustomCheckpointStorage", "CustomStateBackend", "EmbeddedRocksDBStateBackend",
                "ExternalizedCheckpointRetention", "FileSystemCheckpointStorage",
                "HashMapStateBackend", "JobManagerCheckpointStorage", "PredefinedOptions",
                "StateBackend",
            ),
            "state": ("TimeDomain", "TimerService"),
            "window": (
                "CountWindow", "GlobalWindow", "MergingWindowAssigner", "TimeWindow", "Trigger",
                "TriggerResult", "Window", "WindowAssigner",
            ),
        }.items()
        for name in names
    },
    "add_version_doc": _INTERNAL,
    "keyword": _INTERNAL,
    "common.AssignerWithPeriodicWatermarksWrapper": _INTERNAL,
    "common.watermark_strategy.AssignerWithPeriodicWatermarksWrapper": _INTERNAL,
    "common.typeinfo.LocalTimeTypeInfo": Reason(
        "a type of Java", "use `Types.SQL_DATE`, `Types.SQL_TIME` or `Types.SQL_TIMESTAMP`"
    ),
    "table.module.HiveModule": Reason(
        "the functions of Hive are not included", "use the built-in functions of Flink"
    ),
    "table.plan_reference.BytesContentPlanReference": Reason(
        "plans are JSON", "use `PlanReference.from_json_string`"
    ),
    "table.types.create_arrow_schema": Reason(
        "a conversion of Flink's workers", "use `schema_core.mappings.arrow.to_schema`"
    ),
    "table.types.from_arrow_type": Reason(
        "a conversion of Flink's workers", "use `schema_core.mappings.arrow.from_arrow`"
    ),
    "table.types.to_arrow_type": Reason(
        "a conversion of Flink's workers", "use `schema_core.mappings.arrow.to_arrow`"
    ),
    "table.udf.PandasAggregateFunctionWrapper": _WRAPPER,
    "table.udf.UserDefinedAggregateFunctionWrapper": _WRAPPER,
    "table.udf.UserDefinedAsyncScalarFunctionWrapper": _WRAPPER,
    "table.udf.UserDefinedScalarFunctionWrapper": _WRAPPER,
    "table.udf.UserDefinedTableFunctionWrapper": _WRAPPER,
    "util.exceptions.JavaException": _EXCEPTIONS,
    "util.exceptions.capture_java_exception": _EXCEPTIONS,
    "util.exceptions.convert_py4j_exception": _EXCEPTIONS,
    "util.exceptions.install_exception_handler": _EXCEPTIONS,
    "util.exceptions.install_py4j_hooks": _EXCEPTIONS,
}  # fmt: skip

#: What to do instead of a method of streams -> the methods.
METHODS = {
    name: hint
    for hint, names in {
        "convert the stream with `from_data_stream`, and use a process table function "
        "(`Table.process`) or an aggregate function": ("process", "connect", "broadcast"),
        "convert the stream with `from_data_stream`, and use `Table.window` with `Tumble`, `Slide` "
        "or `Session`": ("window", "window_all", "count_window"),
        "convert the stream with `from_data_stream`, and call `execute_insert` of the table": (
            "add_sink", "sink_to",
        ),
        "declare a table with a connector, and convert it with `to_data_stream`": (
            "add_source", "from_source", "create_input",
        ),
        "use `filter` twice": ("get_side_output",),
        "Spark distributes the rows: remove the call": ("partition_custom", "cache"),
        "streaming jobs of tables have checkpoints in a directory of their own": (
            "enable_checkpointing", "get_checkpoint_config", "get_checkpoint_interval",
            "get_checkpointing_mode", "get_checkpointing_consistency_mode",
            "set_default_savepoint_directory", "get_default_savepoint_directory",
            "enable_changelog_state_backend", "is_changelog_state_backend_enabled",
            "is_unaligned_checkpoints_enabled", "is_force_unaligned_checkpoints",
        ),
        "functions in jars are not loaded: use the built-in connectors, and functions in Python": (
            "add_jars", "add_classpaths",
        ),
        "use an aggregate function (`udaf`), or a process table function with state": (
            "get_state", "get_list_state", "get_map_state", "get_reducing_state",
            "get_aggregating_state",
        ),
        "call `execute`, or `execute_insert` of a table": ("execute_async", "get_execution_plan"),
        "remove the call: Spark's settings decide": (
            "get_config", "get_execution_config", "register_slot_sharing_group",
            "register_cached_file", "get_buffer_timeout", "is_chaining_enabled",
            "is_chaining_of_operators_with_different_max_parallelism_enabled",
            "get_default_local_parallelism", "set_default_local_parallelism",
            "get_task_name", "get_number_of_parallel_subtasks",
            "get_max_number_of_parallel_subtasks", "get_task_name_with_subtasks",
        ),
        "set `PYSPARK_PYTHON` before Spark is started": ("set_python_executable",),
    }.items()
    for name in names
}  # fmt: skip


class RefusesMethods:
    """Refuses the methods of PyFlink's streams that its class does not have (`needs-flink`)."""

    def __getattr__(self, name: str) -> Any:
        """Raise the error of a method that is not there."""
        owner = type(self).__name__
        if name in METHODS:
            raise UnsupportedError(
                f"`{owner}.{name}` is not available: {_DATA_STREAM.problem}",
                code="needs-flink",
                hint=METHODS[name],
            )
        raise AttributeError(f"{owner!r} object has no attribute {name!r}")


_ROOT = __name__.rpartition(".")[0]


def refuse_absent(
    module: str, load: Callable[[str], Any] | None = None, *, has_names: bool = True
) -> None:
    """Give a module a ``__getattr__`` that refuses PyFlink's absent names (`needs-flink`).

    Type checkers would accept every name of a module that assigned it itself. `load` loads the
    other names of the module (its ``__name__``), unless they are loaded already. Of a module in
    `MODULES` that has names of its own, the absent ones are classes and constants, in capitals.
    """
    path = module.removeprefix(_ROOT).removeprefix(".")

    def get(name: str) -> Any:
        qualified = f"{path}.{name}".removeprefix(".")
        is_absent = name[:1].isupper() if has_names else not name.startswith("_")
        reason = NAMES.get(qualified) or (_reason_of(path) if is_absent else None)
        if reason:
            raise UnsupportedError(
                f"`pyflink.{qualified}` is not available: {reason.problem}",
                code="needs-flink",
                hint=reason.hint,
            )
        if load:
            return load(name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    vars(sys.modules[module])["__getattr__"] = get


def _reason_of(path: str) -> Reason | None:
    """Return why all names of a module are absent; None if they are not."""
    while path and path not in MODULES:
        path = path.rpartition(".")[0]
    return MODULES.get(path)


class AbsentModules:
    """Imports the modules of `MODULES`.

    The base classes of `importlib.abc` would add 30 ms to the import.
    """

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        root, _dot, path = fullname.partition(f"{_ROOT}.")
        loader: Any = self
        return (
            None if root or not _reason_of(path) else ModuleSpec(fullname, loader, is_package=True)
        )

    def create_module(self, spec: ModuleSpec) -> None:
        """Use the default module."""

    def exec_module(self, module: ModuleType) -> None:
        refuse_absent(module.__name__, has_names=False)


def install_finder() -> None:
    """Import absent modules after those that have a file."""
    sys.meta_path.append(AbsentModules())
