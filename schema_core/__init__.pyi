from schema_core.catalog.objects import (
    TableDistribution as TableDistribution,
)
from schema_core.environment.config import (
    Configuration as Configuration,
)
from schema_core.environment.config import EnvironmentSettings as EnvironmentSettings
from schema_core.environment.config import (
    SqlDialect as SqlDialect,
)
from schema_core.environment.config import (
    TableConfig as TableConfig,
)
from schema_core.environment.jobs.atomicity import (
    AtomicityLevel as AtomicityLevel,
)
from schema_core.environment.modules import (
    Module as Module,
)
from schema_core.environment.modules import (
    ModuleEntry as ModuleEntry,
)
from schema_core.environment.operations.compile_plan import (
    CompiledPlan as CompiledPlan,
)
from schema_core.environment.operations.plan_ctas import (
    CtasPlan as CtasPlan,
)
from schema_core.environment.plans.changelog_mode import (
    ChangelogMode as ChangelogMode,
)
from schema_core.environment.plans.compiled_plan import (
    PlanReference as PlanReference,
)
from schema_core.environment.plans.explain_detail import (
    ExplainDetail as ExplainDetail,
)
from schema_core.environment.result import (
    ResultKind as ResultKind,
)
from schema_core.environment.result import (
    TableResult as TableResult,
)
from schema_core.environment.table_api.descriptor import (
    FormatDescriptor as FormatDescriptor,
)
from schema_core.environment.table_api.descriptor import (
    ModelDescriptor as ModelDescriptor,
)
from schema_core.environment.table_api.descriptor import (
    TableDescriptor as TableDescriptor,
)
from schema_core.environment.table_api.pipelines import (
    TablePipeline as TablePipeline,
)
from schema_core.environment.table_api.statement_sets import (
    StatementSet as StatementSet,
)
from schema_core.environment.table_api.table import (
    FlatAggregateTable as FlatAggregateTable,
)
from schema_core.environment.table_api.table import (
    GroupedTable as GroupedTable,
)
from schema_core.environment.table_api.table import (
    GroupWindowedTable as GroupWindowedTable,
)
from schema_core.environment.table_api.table import (
    OverWindowedTable as OverWindowedTable,
)
from schema_core.environment.table_api.table import (
    Table as Table,
)
from schema_core.environment.table_api.table import (
    WindowGroupedTable as WindowGroupedTable,
)
from schema_core.environment.table_environment import (
    TableEnvironment as TableEnvironment,
)
from schema_core.errors import (
    AlreadyExistsError as AlreadyExistsError,
)
from schema_core.errors import (
    ConflictError as ConflictError,
)
from schema_core.errors import (
    Diagnostic as Diagnostic,
)
from schema_core.errors import (
    ExternalError as ExternalError,
)
from schema_core.errors import (
    NotFoundError as NotFoundError,
)
from schema_core.errors import (
    ParseError as ParseError,
)
from schema_core.errors import (
    SchemaCoreError as SchemaCoreError,
)
from schema_core.errors import (
    SchemaError as SchemaError,
)
from schema_core.errors import (
    UnsupportedError as UnsupportedError,
)
from schema_core.expressions.data_views import (
    DataView as DataView,
)
from schema_core.expressions.data_views import (
    ListView as ListView,
)
from schema_core.expressions.data_views import (
    MapView as MapView,
)
from schema_core.expressions.fluent import (
    Expression as Expression,
)
from schema_core.expressions.process_functions import (
    ArgumentHint as ArgumentHint,
)
from schema_core.expressions.process_functions import (
    ArgumentTrait as ArgumentTrait,
)
from schema_core.expressions.process_functions import (
    ProcessContext as ProcessContext,
)
from schema_core.expressions.process_functions import (
    StateHint as StateHint,
)
from schema_core.expressions.user_functions import (
    AggregateFunction as AggregateFunction,
)
from schema_core.expressions.user_functions import (
    AsyncScalarFunction as AsyncScalarFunction,
)
from schema_core.expressions.user_functions import (
    FunctionContext as FunctionContext,
)
from schema_core.expressions.user_functions import (
    ProcessTableFunction as ProcessTableFunction,
)
from schema_core.expressions.user_functions import (
    ScalarFunction as ScalarFunction,
)
from schema_core.expressions.user_functions import (
    TableAggregateFunction as TableAggregateFunction,
)
from schema_core.expressions.user_functions import (
    TableFunction as TableFunction,
)
from schema_core.expressions.user_functions import (
    udptf as udptf,
)
from schema_core.schema.columns import (
    Column as Column,
)
from schema_core.schema.columns import (
    ComputedColumn as ComputedColumn,
)
from schema_core.schema.columns import (
    MetadataColumn as MetadataColumn,
)
from schema_core.schema.columns import (
    PhysicalColumn as PhysicalColumn,
)
from schema_core.schema.columns import (
    UniqueConstraint as UniqueConstraint,
)
from schema_core.schema.columns import (
    WatermarkSpec as WatermarkSpec,
)
from schema_core.schema.resolve import (
    SchemaResolver as SchemaResolver,
)
from schema_core.schema.resolved import (
    ResolvedSchema as ResolvedSchema,
)
from schema_core.schema.table_schema import (
    TableSchema as TableSchema,
)
from schema_core.schema.unresolved import (
    Schema as Schema,
)
from schema_core.sql.parser import (
    parse_statement as parse_statement,
)
from schema_core.sql.parser import (
    parse_statements as parse_statements,
)
from schema_core.types import (
    DataTypes as DataTypes,
)
from schema_core.types import (
    UserDefinedType as UserDefinedType,
)
from schema_core.types.row_value import (
    Row as Row,
)
from schema_core.types.row_value import (
    RowKind as RowKind,
)
