"""Methods that FLIP-64 replaced: they do what their replacements do, and say which these are."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from schema_core.arguments import require_instance
from schema_core.environment.definition import Given
from schema_core.environment.descriptor import TableDescriptor
from schema_core.environment.result import TableResult
from schema_core.environment.table_methods import TableMethods
from schema_core.environment.warning import replaced
from schema_core.text import quote_identifier

if TYPE_CHECKING:
    from schema_core.environment.table import Table
    from schema_core.environment.table_environment import TableEnvironment


class DeprecatedMethods:
    """What a `TableEnvironment` still does under the names of before FLIP-64."""

    @property
    def _now(self) -> TableEnvironment:
        return cast("TableEnvironment", self)

    def register_table(self, name: str, table: Table) -> None:
        """As `create_temporary_view`."""
        replaced("register_table", "create_temporary_view")
        self._now.create_temporary_view(_quoted(name), table)

    def register_table_source(self, name: str, table_source: TableDescriptor) -> None:
        """As `create_temporary_table`, of a descriptor: sources are found by their options."""
        replaced("register_table_source", "create_temporary_table")
        self._now.create_temporary_table(_quoted(name), table_source)

    def register_table_sink(self, name: str, table_sink: TableDescriptor) -> None:
        """As `create_temporary_table`, of a descriptor: sinks are found by their options."""
        replaced("register_table_sink", "create_temporary_table")
        self._now.create_temporary_table(_quoted(name), table_sink)

    def scan(self, *table_path: str) -> Table:
        """As `from_path`, with the names of the path one by one."""
        replaced("scan", "from_path")
        return self._now.from_path(".".join(map(_quoted, table_path)))

    def insert_into(self, target_path: str, table: Table) -> TableResult:
        """As `Table.execute_insert`."""
        replaced("insert_into", "Table.execute_insert")
        require_instance(table, TableMethods, "table", "a Table")
        return table.execute_insert(target_path)

    def register_function(self, name: str, function: Given) -> None:
        """As `create_temporary_system_function`."""
        replaced("register_function", "create_temporary_system_function")
        self._now.create_temporary_system_function(name, function)

    def register_java_function(self, name: str, function_class_name: str) -> None:
        """As `create_java_temporary_system_function`."""
        replaced("register_java_function", "create_java_temporary_system_function")
        self._now.create_java_temporary_system_function(name, function_class_name)

    def sql_update(self, stmt: str) -> TableResult:
        """As `execute_sql`."""
        replaced("sql_update", "execute_sql")
        return self._now.execute_sql(stmt)

    def get_completion_hints(self, statement: str, position: int) -> list[str]:
        """As `complete_statement`."""
        replaced("get_completion_hints", "complete_statement")
        return self._now.complete_statement(statement, position)


def _quoted(name: str) -> str:
    """One name as the text of a path.

    Raises:
        SchemaError: with code `wrong-argument` for a name that is not a string.
    """
    require_instance(name, str, "name")
    return quote_identifier(name)
