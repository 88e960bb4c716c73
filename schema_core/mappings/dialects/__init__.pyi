from schema_core.mappings.dialects.api import ForeignScript as ForeignScript
from schema_core.mappings.dialects.api import ForeignTable as ForeignTable
from schema_core.mappings.dialects.api import ddl_losses as ddl_losses
from schema_core.mappings.dialects.api import from_ddl as from_ddl
from schema_core.mappings.dialects.api import read_dump as read_dump
from schema_core.mappings.dialects.api import read_table as read_table
from schema_core.mappings.dialects.api import read_tables as read_tables
from schema_core.mappings.dialects.api import to_ddl as to_ddl
