"""Plans of migrations between drawn pairs of tables, executed: on PostgreSQL, and on our catalogs.

    python -m fuzz.migration_plans postgres 500
    python -m fuzz.migration_plans flink 5000

On PostgreSQL the old table is created, the statements of the plan are executed, and the columns and
the key are compared with those of a table created from the new definition. Rows that are inserted
before must survive where the plan reports no risk. For Flink the statements are executed by a
`TableEnvironment`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import Any, TypeAlias

from fuzz.postgres_server import Server, server
from schema_core import EnvironmentSettings, Schema, TableEnvironment
from schema_core.catalog.changes.normal_forms import normalize
from schema_core.catalog.objects import CatalogTable, TableDistribution
from schema_core.catalog.resolve import resolve_table
from schema_core.environment.plans.dry_run import DryRunPlanner
from schema_core.errors import SchemaCoreError
from schema_core.mappings.dialects import to_ddl
from schema_core.migration.plans import LOCATIONS, MigrationPlan, plan
from schema_core.schema.resolve import SchemaResolver
from schema_core.sql.parser import parse_statement

#: Columns to their new names.
Renames: TypeAlias = dict[str | tuple[str, ...], str]

NAMES = ("a", "b", "c", "d", "e", "F", "g h")
TYPES = (
    "INT", "BIGINT", "SMALLINT", "TINYINT", "STRING", "VARCHAR(5)", "VARCHAR(20)", "CHAR(3)",
    "DECIMAL(10, 2)", "DECIMAL(12, 2)", "DOUBLE", "FLOAT", "BOOLEAN", "DATE", "TIMESTAMP(3)",
    "TIMESTAMP(6)", "TIMESTAMP_LTZ(3)", "TIME(0)", "BYTES", "ARRAY<INT>", "ARRAY<BIGINT>",
    "ROW<x INT, y STRING>", "ROW<x BIGINT>", "MAP<STRING, INT>",
)  # fmt: skip
COMMENTS = (None, "it's", "other")
#: Types -> wider ones; other changes are drawn less often.
WIDER = {
    "INT": "BIGINT", "SMALLINT": "INT", "TINYINT": "SMALLINT", "FLOAT": "DOUBLE",
    "VARCHAR(5)": "VARCHAR(20)", "VARCHAR(20)": "STRING", "DECIMAL(10, 2)": "DECIMAL(12, 2)",
    "TIMESTAMP(3)": "TIMESTAMP(6)", "ARRAY<INT>": "ARRAY<BIGINT>", "INT NOT NULL": "BIGINT",
}  # fmt: skip
#: Expressions that PostgreSQL and Flink both have, by the type of their column.
EXPRESSIONS = {"INT": "{} + 1", "BIGINT": "{} * 2", "STRING": "UPPER({})", "DOUBLE": "{} - 1"}


def drawn_pair(random: Random, *, for_flink: bool) -> tuple[CatalogTable, CatalogTable, Renames]:
    """Return two valid tables that have columns in common, and renames."""
    columns = [(name, _type(random)) for name in random.sample(NAMES, random.randint(1, 5))]
    kept = random.sample(columns, random.randint(0, len(columns)))
    changed = [(name, _changed(random, old)) for name, old in kept]
    names = {name for name, _ in changed}
    fresh = [name for name in NAMES if name not in names]
    renames: Renames = {}
    if changed and fresh and random.random() < 0.4:
        index = random.randrange(len(changed))
        old, type_ = changed[index]
        changed[index] = fresh[0], type_
        renames[old] = fresh[0]
    added = [
        (name, _type(random))
        for name in NAMES
        if name not in {item for item, _ in changed} and random.random() < 0.2
    ]
    after = changed + added
    if random.random() < 0.3:
        random.shuffle(after)
    after = after or [("z", "INT")]
    return (
        _table(random, columns, for_flink=for_flink),
        _table(random, after, for_flink=for_flink),
        renames,
    )


def _changed(random: Random, old: str) -> str:
    """Return the type of a column that stays: mostly the old one or a wider one."""
    choice = random.random()
    if choice < 0.6:
        return WIDER.get(old, old) if choice < 0.3 else old
    if choice < 0.85:
        return old.removesuffix(" NOT NULL") if choice < 0.75 else old
    return _type(random)


def _type(random: Random) -> str:
    return random.choice(TYPES) + (" NOT NULL" if random.random() < 0.25 else "")


def _table(random: Random, columns: list[tuple[str, str]], *, for_flink: bool) -> CatalogTable:
    builder = Schema.new_builder()
    for name, type_ in columns:
        builder.column(name, type_)
        comment = COMMENTS[len(name + type_) % 3] if random.random() < 0.9 else "new"
        if comment:
            builder.with_comment(comment)
    for name, type_ in columns:
        if (text := EXPRESSIONS.get(type_)) and random.random() < 0.3:
            builder.column_by_expression(f"{name}_", text.format(f"`{name}`"))
    keys = [name for name, type_ in columns if type_.endswith("NOT NULL")]
    keys = [name for name, type_ in columns if name in keys and "<" not in type_]
    if keys and random.random() < 0.5:
        chosen = random.sample(keys, random.randint(1, len(keys)))
        builder.primary_key(*chosen) if random.random() < 0.5 else builder.primary_key_named(
            random.choice(("k1", "k2")), *chosen
        )
    if not for_flink:
        return CatalogTable(builder.build(), comment=random.choice((None, None, "it's", "other")))
    if random.random() < 0.2:
        builder.column_by_metadata("file.name", "STRING NOT NULL", None, is_virtual=True)
    times = [name for name, type_ in columns if type_.startswith("TIMESTAMP(3)")]
    if times and random.random() < 0.7:
        gap = random.choice(("1", "2"))
        builder.watermark(times[0], f"`{times[0]}` - INTERVAL '{gap}' SECOND")
    options = {"connector": "filesystem", "path": "p", "format": random.choice(("csv", "json"))}
    if random.random() < 0.3:
        options["password"] = random.choice(("one", "two"))
    plain = [name for name, type_ in columns if "<" not in type_]
    buckets = TableDistribution.of_hash(random.sample(plain, 1), 3) if plain else None
    return CatalogTable(
        builder.build(),
        tuple(plain[:1]) if random.random() < 0.03 else (),
        options=options,
        comment="the table" if random.random() < 0.03 else None,
        distribution=buckets if random.random() < 0.2 else None,
    )


# --- PostgreSQL ----------------------------------------------------------------------------------

COLUMNS = """
SELECT column_name, data_type, udt_name, is_nullable, character_maximum_length, numeric_precision,
  numeric_scale, datetime_precision, is_generated, generation_expression,
  col_description((table_schema || '.m')::regclass, ordinal_position)
FROM information_schema.columns WHERE table_schema = %s
ORDER BY ordinal_position
"""
KEYS = """
SELECT k.column_name, k.ordinal_position, c.constraint_type, c.constraint_name
FROM information_schema.table_constraints c JOIN information_schema.key_column_usage k
  USING (constraint_schema, constraint_name, table_name)
WHERE c.table_schema = %s ORDER BY k.ordinal_position
"""
#: Root of a type -> a literal of PostgreSQL.
VALUES = {
    "BOOLEAN": "true", "VARCHAR": "'1'", "CHAR": "'1'", "VARBINARY": "'\\x01'",
    "DATE": "'2020-01-02'",
    "TIMESTAMP_WITHOUT_TIME_ZONE": "'2020-01-02 03:04:05'",
    "TIMESTAMP_WITH_LOCAL_TIME_ZONE": "'2020-01-02 03:04:05'",
    "TIME_WITHOUT_TIME_ZONE": "'03:04:05'", "ARRAY": "'{1}'", "ROW": "'{\"x\": 1}'",
    "MAP": "'{\"x\": 1}'",
}  # fmt: skip


def check_postgres(connection: Any, old: CatalogTable, new: CatalogTable, renames: Renames) -> str:
    """Execute a plan on an empty table and on one with rows; return how it went.

    Raises:
        AssertionError: for a table that differs, or for rows that do not survive.
    """
    from psycopg.errors import DataError, NotNullViolation

    result = plan(old, new, "postgres", renames=renames, path="m")
    assert result == MigrationPlan.from_json(result.to_json())
    ordered = not any("position" in loss for loss in result.losses)
    _create(connection, old, "public")
    _create(connection, new, "fresh")
    for statement in result.statements:
        connection.execute(statement.encode())
    shown, expected = (
        _described(connection, name, ordered=ordered) for name in ("public", "fresh")
    )
    assert expected == shown, f"{result}\nexpected {expected}\ngot {shown}"
    _create(connection, old, "public")
    _insert(connection, old)
    before = _values(connection, old)
    try:
        for statement in result.statements:
            connection.execute(statement.encode())
    except (DataError, NotNullViolation):
        if not result.risks:
            raise
        return "a row at risk was refused"
    safe = {name: value for name, value in before.items() if name not in _at_risk(result)}
    kept = {renames.get(name, name): value for name, value in safe.items()}
    after = _values(connection, new)
    assert kept == {name: after.get(name) for name in kept}, f"{result}\n{kept}\n{after}"
    return "rows kept, others at risk" if result.risks else "rows kept"


def _at_risk(found: MigrationPlan) -> set[str]:
    return {risk.path[0] for risk in found.risks}


def _create(connection: Any, table: CatalogTable, schema: str) -> None:
    connection.execute(f"DROP TABLE IF EXISTS {schema}.m".encode())
    connection.execute(to_ddl(table, "postgres", (schema, "m"), on_loss="accept").encode())


def _described(connection: Any, schema: str, *, ordered: bool) -> tuple[list[Any], list[Any]]:
    columns = connection.execute(COLUMNS, (schema,)).fetchall()
    keys = connection.execute(KEYS, (schema,)).fetchall()
    keys += connection.execute(
        f"SELECT obj_description('{schema}.m'::regclass)".encode()
    ).fetchall()
    return columns if ordered else sorted(columns, key=lambda row: row[0]), keys


def _stored(table: CatalogTable) -> dict[str, str]:
    """Return the roots of the stored columns."""
    schema = resolve_table(table, SchemaResolver()).get_resolved_schema()
    return {
        column.name: column.data_type.root.name for column in schema.columns if column.is_physical()
    }


def _insert(connection: Any, table: CatalogTable) -> None:
    roots = _stored(table)
    names = ", ".join(f'"{name}"' for name in roots)
    values = ", ".join(VALUES.get(root, "1") for root in roots.values())
    connection.execute(f'INSERT INTO "m" ({names}) VALUES ({values})'.encode())


def _values(connection: Any, table: CatalogTable) -> dict[str, Any]:
    """Return the stored columns of the only row: numbers, and the text of other values."""
    names = list(_stored(table))
    texts = ", ".join(f'CAST("{name}" AS text)' for name in names)
    row = connection.execute(f'SELECT {texts} FROM "m"'.encode()).fetchone()
    return dict(zip(names, map(_value, row), strict=True))


def _value(text: str | None) -> Decimal | str | None:
    """Return a number that is equal however many digits its type has, or the text."""
    try:
        return text if text is None else Decimal(text)
    except ArithmeticError:
        return text


# --- Flink ---------------------------------------------------------------------------------------


def check_flink(old: CatalogTable, new: CatalogTable, renames: Renames) -> str:
    """Execute a plan in an environment; return whether it alters in place or rewrites.

    Raises:
        AssertionError: for a table that differs.
    """
    result = plan(old, new, "flink", renames=renames, path="m")
    assert result == MigrationPlan.from_json(result.to_json())
    environment = TableEnvironment.create(
        EnvironmentSettings.in_streaming_mode(), planner=DryRunPlanner()
    )
    environment.execute_sql(to_ddl(old, "flink", "m"))
    for statement in result.statements:
        if statement.startswith("INSERT"):
            environment.explain_sql(statement)
        else:
            parsed = parse_statement(statement, is_migration=True)
            environment.execute_statement(parsed, statement)
    manager = environment.catalog_manager
    table = manager.get(environment_path(environment)).table
    # the rows of a rewrite are beside those of the old table
    beside = {key: f"{new.options.get(key)}__new" for key in LOCATIONS.values()}
    moved = {key: place for key, place in beside.items() if table.options.get(key) == place}
    shown, expected = (_resolved(kept) for kept in (table, new.copy({**new.options, **moved})))
    assert expected == shown, f"{result}\nexpected {expected}\ngot {shown}"
    return "in place" if result.rewrite is None else "rewrite"


def environment_path(environment: TableEnvironment) -> Any:
    """Return the identifier of the table of the plan."""
    from schema_core.base.paths import ObjectIdentifier

    database = environment.get_current_database() or ""
    return ObjectIdentifier.of(environment.get_current_catalog() or "", database, "m")


def _resolved(table: Any) -> CatalogTable:
    """Return the normal form, without secrets, which plans do not change."""
    result = normalize(resolve_table(table, SchemaResolver()))
    return result.copy({key: option for key, option in result.options.items() if key != "password"})


# --- the program ---------------------------------------------------------------------------------


def checks(kind: str, count: int, seed: int, reached: Server | None = None) -> Iterator[str]:
    """Check drawn pairs; yield how each went."""
    if kind == "flink":
        for number in range(seed, seed + count):
            yield check_flink(*drawn_pair(Random(number), for_flink=True))
        return
    import psycopg

    assert reached is not None
    address = reached.url.replace("+psycopg", "")
    with psycopg.connect(
        address, user=reached.username, password=reached.password, autocommit=True
    ) as connection:
        connection.execute(b"SET client_min_messages = error")
        connection.execute(b"CREATE SCHEMA IF NOT EXISTS fresh")
        for number in range(seed, seed + count):
            try:
                yield check_postgres(connection, *drawn_pair(Random(number), for_flink=False))
            except SchemaCoreError as error:
                yield str(error.code)


def main() -> None:
    """Print how many pairs went how."""
    kind, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    if kind == "flink":
        print(dict(Counter(checks(kind, count, seed))))
        return
    with server() as reached:
        print(dict(Counter(checks(kind, count, seed, reached))))


if __name__ == "__main__":
    main()
