"""How other systems see types and schemas: Arrow, Spark and the DDL of other engines."""
