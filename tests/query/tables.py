"""Tables for the tests of queries."""

from __future__ import annotations

from schema_core.base.paths import ObjectIdentifier
from schema_core.base.text import Span
from schema_core.errors import NotFoundError
from schema_core.query.relation import SourceTable
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema

SCHEMAS = {
    "dept": Schema.new_builder()
    .column("deptno", "INT NOT NULL")
    .column("dname", "VARCHAR(14) NOT NULL")
    .column("loc", "STRING"),
    "emp": Schema.new_builder()
    .column("empno", "INT NOT NULL")
    .column("ename", "VARCHAR(20) NOT NULL")
    .column("sal", "DECIMAL(7, 2)")
    .column("deptno", "INT NOT NULL"),
    "deep": Schema.new_builder()
    .column("r", "ROW<x INT, y STRING NOT NULL>")
    .column("s", "ROW<k STRING NOT NULL> NOT NULL")
    .column("tags", "ARRAY<STRING NOT NULL>"),
    "bid": Schema.new_builder()
    .column("price", "DECIMAL(10, 2)")
    .column("at_", "TIMESTAMP(3)")
    .column_by_expression("now_", "PROCTIME()")
    .watermark("at_", "at_ - INTERVAL '5' SECOND"),
    "wide": Schema.new_builder().from_fields(list("abcdefghijklm"), ["INT"] * 13),
}

HOME = ("default_catalog", "default_database")


class ExampleTables:
    """These tables in the default database."""

    def table(self, path: tuple[str, ...], span: Span) -> SourceTable:
        *home, name = path
        if tuple(home) != HOME[2 - len(home) :] or name not in SCHEMAS:
            raise NotFoundError(f"there is no table {'.'.join(path)!r}", span=span)
        schema = SchemaResolver().resolve(SCHEMAS[name].build())
        return SourceTable(ObjectIdentifier.of(*HOME, name), schema)
