from pyflink.common import JobStatus
from pyflink.common.job_client import JobClient
from pyflink.common.job_execution_result import JobExecutionResult
from pyflink.common.job_status import JobStatus as SameStatus
from pyflink.table import EnvironmentSettings, ResultKind, TableEnvironment
from pyflink.table.catalog import CatalogDatabase, ObjectPath
from pyflink.table.explain_detail import ExplainDetail
from pyflink.table.result_kind import ResultKind as SameKind
from pyflink.table.table_result import TableResult
from pyflink.util.exceptions import DatabaseNotExistException, TableNotExistException


def jobs_and_errors():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    created = t_env.execute_sql(
        "CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'number-of-rows' = '5',"
        " 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '5')"
    )
    print(isinstance(created, TableResult), created.get_result_kind() == ResultKind.SUCCESS)
    print(created.get_job_client(), ResultKind is SameKind)

    result = t_env.execute_sql("SELECT SUM(n) AS s, COUNT(*) AS c FROM numbers")
    print(result.get_result_kind() == ResultKind.SUCCESS_WITH_CONTENT)
    print(result.get_table_schema().get_field_names())
    with result.collect() as rows:
        print([(row[0], row[1]) for row in rows])

    t_env.execute_sql("CREATE TABLE sink (n INT) WITH ('connector' = 'blackhole')")
    inserted = t_env.execute_sql("INSERT INTO sink SELECT n FROM numbers")
    client = inserted.get_job_client()
    print(isinstance(client, JobClient), len(str(client.get_job_id())), JobStatus is SameStatus)
    inserted.wait()
    outcome = client.get_job_execution_result().result()
    print(isinstance(outcome, JobExecutionResult), outcome.get_net_runtime() >= 0)

    catalog = t_env.get_catalog("default_catalog")
    catalog.create_database("shop", CatalogDatabase.create_instance({}, "a shop"), True)
    print(sorted(catalog.list_databases()), catalog.get_database("shop").get_comment())
    try:
        catalog.get_table(ObjectPath("shop", "orders"))
    except TableNotExistException as error:
        print(type(error).__name__)
    try:
        catalog.get_database("none")
    except DatabaseNotExistException as error:
        print(type(error).__name__)
    print(isinstance(t_env.explain_sql("SELECT n FROM numbers", ExplainDetail.CHANGELOG_MODE), str), "numbers" in t_env.list_tables())


jobs_and_errors()
