from schema_core import (
    AggregateFunction as AggregateFunction,
)
from schema_core import (
    AsyncScalarFunction as AsyncScalarFunction,
)
from schema_core import (
    ChangelogMode as ChangelogMode,
)
from schema_core import (
    CompiledPlan as CompiledPlan,
)
from schema_core import (
    DataTypes as DataTypes,
)
from schema_core import (
    DataView as DataView,
)
from schema_core import (
    EnvironmentSettings as EnvironmentSettings,
)
from schema_core import (
    ExplainDetail as ExplainDetail,
)
from schema_core import (
    Expression as Expression,
)
from schema_core import (
    FormatDescriptor as FormatDescriptor,
)
from schema_core import (
    FunctionContext as FunctionContext,
)
from schema_core import (
    GroupedTable as GroupedTable,
)
from schema_core import (
    GroupWindowedTable as GroupWindowedTable,
)
from schema_core import (
    ListView as ListView,
)
from schema_core import (
    MapView as MapView,
)
from schema_core import (
    Module as Module,
)
from schema_core import (
    ModuleEntry as ModuleEntry,
)
from schema_core import (
    OverWindowedTable as OverWindowedTable,
)
from schema_core import (
    PlanReference as PlanReference,
)
from schema_core import (
    ResultKind as ResultKind,
)
from schema_core import (
    Row as Row,
)
from schema_core import (
    RowKind as RowKind,
)
from schema_core import (
    ScalarFunction as ScalarFunction,
)
from schema_core import (
    Schema as Schema,
)
from schema_core import (
    SqlDialect as SqlDialect,
)
from schema_core import (
    StatementSet as StatementSet,
)
from schema_core import (
    Table as Table,
)
from schema_core import (
    TableAggregateFunction as TableAggregateFunction,
)
from schema_core import (
    TableConfig as TableConfig,
)
from schema_core import (
    TableDescriptor as TableDescriptor,
)
from schema_core import (
    TableEnvironment as TableEnvironment,
)
from schema_core import (
    TableFunction as TableFunction,
)
from schema_core import (
    TablePipeline as TablePipeline,
)
from schema_core import (
    TableResult as TableResult,
)
from schema_core import (
    TableSchema as TableSchema,
)
from schema_core import (
    UserDefinedType as UserDefinedType,
)
from schema_core import (
    WindowGroupedTable as WindowGroupedTable,
)
from schema_core.pyflink.datastream.environments import (
    StreamTableEnvironment as StreamTableEnvironment,
)
