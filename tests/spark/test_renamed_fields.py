"""Tables of files whose fields within columns are renamed: older files have the former names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from schema_core import Schema, TableEnvironment
from schema_core.catalog.changes.column_history import KEY
from schema_core.errors import SchemaCoreError
from schema_core.migration import diff, rewrite_table, validate_rows
from tests.spark.test_renamed_columns import rows, run, stored

LISTED = ["parquet", "orc"]
FORMS = [*LISTED, "json", "avro"]
TYPE = "ROW<x INT, at_ TIMESTAMP(3), tags ARRAY<ROW<k STRING, n INT>>, m MAP<STRING, ROW<v INT>>>"


@pytest.fixture
def env(environment: TableEnvironment, tmp_path: Path, form: str) -> TableEnvironment:
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = '{form}'"
    environment.execute_sql(f"CREATE TABLE t (id INT, r {TYPE}) WITH ({options})")
    return environment


def insert(number: int, x: str = "") -> str:
    """Return an INSERT of a row whose values are all of its number."""
    time = f"TIMESTAMP '2020-01-01 00:00:00.{number:03}'"
    tags = f"ARRAY[ROW('k{number}', {number}), CAST(NULL AS ROW<k STRING, n INT>)]"
    return (
        f"INSERT INTO t VALUES ({number}, ROW({x or number}, {time}, {tags}, "
        f"MAP['m', ROW({number})]))"
    )


NULL_ROW = f"INSERT INTO t VALUES (0, CAST(NULL AS {TYPE}))"


@pytest.mark.parametrize("form", FORMS)
def test_files_of_every_name_are_read(env: TableEnvironment, form: str) -> None:
    run(
        env,
        NULL_ROW,
        insert(1),
        "ALTER TABLE t RENAME r.x TO r.y",
        "ALTER TABLE t RENAME r.tags.`element`.k TO key_",
        insert(2, "CAST(NULL AS INT)"),
        "ALTER TABLE t RENAME r TO s",
        "ALTER TABLE t RENAME s.m.`value`.v TO w",
        "ALTER TABLE t RENAME s.y TO z",
        insert(3),
    )

    result = rows(
        env,
        "SELECT id, s.z, s.tags[1].key_, s.tags[1].n, s.tags[2].n, s.m['m'].w, s IS NULL FROM t",
    )
    assert result == [
        (0, None, None, None, None, None, True),
        (1, 1, "k1", 1, None, 1, False),
        (2, None, "k2", 2, None, 2, False),
        (3, 3, "k3", 3, None, 3, False),
    ]
    assert [(1,), (3,)] == rows(env, "SELECT id FROM t WHERE s.z > 0")
    times = rows(env, "SELECT id, s.at_ FROM t WHERE s IS NOT NULL")
    assert [(number, 1000 * number) for number in (1, 2, 3)] == [
        (number, at.microsecond) for number, at in times
    ]
    whole = next(row[0] for row in rows(env, "SELECT s FROM t WHERE id = 1"))
    assert (1, [("k1", 1), None]) == (whole[0], [item and tuple(item) for item in whole[2]])


@pytest.mark.parametrize("form", LISTED)
def test_elements_of_multisets_and_keys_of_maps_are_renamed(
    environment: TableEnvironment, tmp_path: Path, form: str
) -> None:
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/u', 'format' = '{form}'"
    run(
        environment,
        f"CREATE TABLE u (s MULTISET<ROW<a INT>>, m MAP<ROW<a INT>, INT>) WITH ({options})",
        "INSERT INTO u SELECT COLLECT(CAST(ROW(v) AS ROW<a INT>)), MAP[ROW(7), 8]"
        " FROM (VALUES 1, 1) AS q(v)",
        "ALTER TABLE u RENAME s.`element`.a TO b",
        "ALTER TABLE u RENAME m.`key`.a TO b",
    )

    ((multiset, mapping),) = rows(environment, "SELECT s, m FROM u")

    assert {(1,): 2} == {tuple(value): count for value, count in multiset.items()}
    assert {(7,): 8} == {tuple(item): value for item, value in mapping.items()}
    elements = "SELECT b FROM u CROSS JOIN UNNEST(MAP_KEYS(m)) AS q(b)"
    assert [(7,)] == rows(environment, elements)


@pytest.mark.parametrize("form", FORMS)
def test_changes_rename_fields_in_place(env: TableEnvironment, form: str) -> None:
    run(env, insert(1))
    old = stored(env).schema
    new = Schema.new_builder().column("id", "INT").column("r", TYPE.replace("<x", "<y")).build()

    renames: dict[tuple[str, ...], str] = {("r", "x"): "y"}
    assert env.alter_table("t", diff(old, new, renames=renames))

    assert [(1,)] == rows(env, "SELECT r.y FROM t")


@pytest.mark.parametrize("form", FORMS)
def test_a_dropped_field_of_the_new_name_is_not_read(env: TableEnvironment, form: str) -> None:
    without = TYPE.replace("x INT, ", "x INT, c INT, ", 1)
    run(
        env,
        f"ALTER TABLE t MODIFY r {without}",
        insert(1, "CAST(NULL AS INT), 9"),
        f"ALTER TABLE t MODIFY r {TYPE}",
        "ALTER TABLE t RENAME r.x TO c",
        insert(2),
    )

    assert [(1, None), (2, 2)] == rows(env, "SELECT id, r.c FROM t")


@pytest.mark.parametrize("form", ["parquet"])
def test_types_are_compared_with_those_of_the_former_name(env: TableEnvironment, form: str) -> None:
    run(env, insert(1), "ALTER TABLE t RENAME r.x TO y")
    run(env, f"ALTER TABLE t MODIFY r {TYPE.replace('x INT', 'y STRING')}")

    with pytest.raises(SchemaCoreError, match=r"column 'r\.y' is INT, but is declared as STRING"):
        rows(env, "SELECT * FROM t")


@pytest.mark.parametrize("form", ["parquet"])
def test_only_the_fields_of_a_query_are_read_from_current_files(
    env: TableEnvironment, form: str
) -> None:
    run(env, insert(1), "ALTER TABLE t RENAME r.x TO y", insert(2))

    plan = env.explain_sql("SELECT id FROM t WHERE id = 1")

    assert all(
        "EqualTo(id,1)" in match_ for match_ in re.findall(r"PushedFilters: \[(.*?)\]", plan)
    )
    assert "struct<id:int>" in plan


@pytest.mark.parametrize("form", ["parquet"])
def test_a_rewrite_removes_the_history(env: TableEnvironment, form: str) -> None:
    run(env, insert(1), "ALTER TABLE t RENAME r.x TO y")
    schema = stored(env).schema

    assert () == validate_rows(env, "t", schema).problems
    rewrite_table(env, "t", schema).wait()

    assert KEY not in stored(env).options
    assert [(1, 1)] == rows(env, "SELECT id, r.y FROM t")
