"""PyFlink's public names that need Flink: using one raises an error that names a replacement.

An import hook creates modules of only such names.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any, NamedTuple

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
            "common.restart_strategy", "common.serialization", "common.watermark_strategy",
            "datastream",
        ),
        _INTERNAL: (
            "common.constants", "common.serializer", "common.utils",
            "find_flink_home", "fn_execution", "gen_protos", "proto", "pyflink_callback_server",
            "pyflink_gateway_server", "serializers", "shell", "table.functions",
            "table.serializers", "table.utils", "testing", "util.api_stability_decorators",
        ),
        _JAVA: ("java_gateway", "util.java_utils"),
        Reason("times of the DataStream API", "use `datetime.timedelta` or `datetime.datetime`"): (
            "common.time",
        ),
        Reason("types of the DataStream API", "use `DataTypes`"): (
            "common.typeinfo",
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
            "time": ("Duration", "Instant", "Time"),
            "typeinfo": ("TypeInformation", "Types"),
            "watermark_strategy": ("AssignerWithPeriodicWatermarksWrapper", "WatermarkStrategy"),
        }.items()
        for name in names
    },
    "add_version_doc": _INTERNAL,
    "keyword": _INTERNAL,
    "table.StreamTableEnvironment": _DATA_STREAM,
    "table.table_environment.StreamTableEnvironment": _DATA_STREAM,
    "table.catalog.HiveCatalog": Reason(
        "the catalog of Flink's JVM",
        "`schema_core.catalogs.HiveCatalog` connects to a metastore by its URI",
    ),
    "table.catalog.JdbcCatalog": Reason(
        "the catalog of Flink's JVM",
        "`schema_core.catalogs.SqlCatalog` stores tables in a database; declare tables of a "
        "database with the connector `jdbc`",
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

_ROOT = __name__.rpartition(".")[0]


def refuse_absent(module: str, load: Callable[[str], Any] | None = None) -> None:
    """Give a module a ``__getattr__`` that refuses PyFlink's absent names (`needs-flink`).

    Type checkers would accept every name of a module that assigned it itself. `load` loads the
    other names of the module (its ``__name__``), unless they are loaded already.
    """
    path = module.removeprefix(_ROOT).removeprefix(".")

    def get(name: str) -> Any:
        qualified = f"{path}.{name}".removeprefix(".")
        reason = NAMES.get(qualified) or (None if name.startswith("_") else _reason_of(path))
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
        refuse_absent(module.__name__)


def install_finder() -> None:
    """Import absent modules after those that have a file."""
    sys.meta_path.append(AbsentModules())
