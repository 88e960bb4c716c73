from schema_core.environment.jobs.atomicity import (
    Stage as Stage,
)
from schema_core.mappings.loss import ForeignSchema as ForeignSchema
from schema_core.mappings.spark.ddl import (
    parse_ddl as parse_ddl,
)
from schema_core.mappings.spark.ddl import (
    parse_spark_type as parse_spark_type,
)
from schema_core.mappings.spark.ddl import (
    print_ddl as print_ddl,
)
from schema_core.mappings.spark.ddl import (
    print_spark_type as print_spark_type,
)
from schema_core.mappings.spark.pyspark_types import (
    from_spark as from_spark,
)
from schema_core.mappings.spark.pyspark_types import (
    from_struct_field as from_struct_field,
)
from schema_core.mappings.spark.pyspark_types import (
    from_struct_type as from_struct_type,
)
from schema_core.mappings.spark.pyspark_types import (
    read_struct_type as read_struct_type,
)
from schema_core.mappings.spark.pyspark_types import (
    to_spark as to_spark,
)
from schema_core.mappings.spark.pyspark_types import (
    to_spark_sql as to_spark_sql,
)
from schema_core.mappings.spark.pyspark_types import (
    to_struct_field as to_struct_field,
)
from schema_core.mappings.spark.pyspark_types import (
    to_struct_type as to_struct_type,
)
from schema_core.mappings.spark.schemas import (
    from_ddl as from_ddl,
)
from schema_core.mappings.spark.schemas import (
    from_json as from_json,
)
from schema_core.mappings.spark.schemas import (
    to_ddl as to_ddl,
)
from schema_core.mappings.spark.schemas import (
    to_json as to_json,
)
from schema_core.spark.connector import (
    ReadContext as ReadContext,
)
from schema_core.spark.connector import (
    SparkConnector as SparkConnector,
)
from schema_core.spark.connector import (
    SupportsStaging as SupportsStaging,
)
from schema_core.spark.connector import (
    SupportsStatisticReport as SupportsStatisticReport,
)
from schema_core.spark.connector import (
    WriteContext as WriteContext,
)
from schema_core.spark.connector import (
    metadata_column as metadata_column,
)
from schema_core.spark.planner import (
    SparkPlanner as SparkPlanner,
)
from schema_core.spark.session.session import (
    JobSession as JobSession,
)
from schema_core.spark.sweep import SweepReport as SweepReport
from schema_core.spark.sweep import sweep_definitions as sweep_definitions
from schema_core.spark.sweep import sweep_report as sweep_report
