"""`StatementSet`: INSERT statements that are validated when added and executed together."""

from __future__ import annotations

from schema_core.arguments import require_instance, validate_arguments
from schema_core.environment.descriptor import TableDescriptor
from schema_core.environment.operations.data import writing_of
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session
from schema_core.environment.table import Table, TablePipeline
from schema_core.errors import SchemaError, within
from schema_core.sql.parser import parse_statement
from schema_core.sql.statement_syntax import Insert


class StatementSet:
    """INSERT statements that run one after the other when the set is executed."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pipelines: list[TablePipeline] = []

    @validate_arguments(stmt=str)
    def add_insert_sql(self, stmt: str) -> StatementSet:
        """Add an INSERT statement.

        Raises:
            SchemaError: with code `not-an-insert` for any other statement.
        """
        statement = parse_statement(stmt)
        if not isinstance(statement, Insert):
            raise SchemaError("a statement set takes INSERT alone", code="not-an-insert")
        with within(stmt):
            target = self._session.bound(self._session.identifier(statement.path))
            relation = self._session.query(statement.query, stmt)
        return self.add(TablePipeline(self._session, relation, target, writing_of(statement)))

    def add_insert(
        self,
        target_path_or_descriptor: str | TableDescriptor,
        table: Table,
        overwrite: bool = False,
    ) -> StatementSet:
        """Add a table to be written into another one."""
        require_instance(table, Table, "table")
        return self.add(table.insert_into(target_path_or_descriptor, overwrite))

    def add(self, table_pipeline: TablePipeline) -> StatementSet:
        """Add a pipeline, which has its target."""
        require_instance(table_pipeline, TablePipeline, "table_pipeline")
        self._pipelines.append(table_pipeline)
        return self

    def explain(self) -> str:
        """Return the plan of the engine."""
        return "\n\n".join(pipeline.explain() for pipeline in self._pipelines)

    def execute(self) -> TableResult:
        """Run the statements and clear the set."""
        result = OK
        for pipeline in self._pipelines:
            result = pipeline.execute()
        self._pipelines = []
        return result
