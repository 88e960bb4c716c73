from schema_core.schema.unresolved import Schema as Schema
