"""The part of the contract of connectors about what they compute or omit for a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

from schema_core.environment.connector import Ability
from schema_core.environment.table_environment import TableEnvironment
from schema_core.spark.connector import ReadContext, reads_nested_fields
from schema_core.testing.connector_cases import (
    PREDICATE_COLUMNS,
    PredicateColumn,
    TypeSample,
    predicates,
)
from schema_core.testing.connector_job_contract import MakeTable, context_fields, need_write

PUSH_DOWN = frozenset({
    Ability.FILTER_PUSH_DOWN, Ability.PROJECTION_PUSH_DOWN, Ability.LIMIT_PUSH_DOWN,
})  # fmt: skip

#: A number for each row of the columns of predicates; their sum in INT wraps.
NUMBERS = PredicateColumn("int", "INT", ("2147483647", "1", "2", None, "7", "-5"))


class ConnectorPushDownContract:
    """The tests of push-down, of which `ConnectorContract` has the fixtures."""

    types: Mapping[str, TypeSample]
    #: Types of partition columns, with two values each.
    partition_types: Mapping[str, tuple[str, str]] = {
        "STRING": ("'x'", "'y z/='"), "INT": ("1", "-2"), "DATE": ("DATE '2024-01-01'", "NULL"),
    }  # fmt: skip

    def test_push_down_keeps_rows(self, table: MakeTable, run: Any, connector: Any) -> None:
        """Filters, projections and limits select the same rows as of the same values."""
        need_write(connector)
        if not connector.abilities & PUSH_DOWN:
            pytest.skip("the connector pushes nothing down")
        columns = {
            name: value for name, value in PREDICATE_COLUMNS.items() if value.sample in self.types
        }
        name = table(
            ", ".join(["k INT", *(f"{key} {column.type}" for key, column in columns.items())])
        )
        rows = [
            ", ".join(
                f"CAST({column.values[place] or 'NULL'} AS {column.type})"
                for column in columns.values()
            )
            for place in range(6)
        ]
        values = " UNION ALL ".join(f"SELECT {place}, {row}" for place, row in enumerate(rows))
        run(f"INSERT INTO {name} {values}")
        reference = f"{name}_reference"
        names = ", ".join(["k", *columns])
        run(f"CREATE TEMPORARY VIEW {reference} ({names}) AS {values}")
        conditions = predicates(columns)
        queries = _pushing_queries(name, conditions)
        pushed = run(_number_queries(queries.values()))
        # all conditions in one query: a query of the values for each takes much longer
        values_of = run(f"SELECT k, {', '.join(conditions)} FROM {reference} ORDER BY k")
        expected = [
            (number, row[0])
            for number in range(len(conditions))
            for row in values_of
            if row[1 + number]
        ]
        others = list(_pushing_queries(reference, conditions).values())
        expected += run(_number_queries(others[len(conditions) :], len(conditions)))
        different = {number for number, _ in {*pushed} ^ {*expected}}
        assert [] == [text for number, text in enumerate(queries) if number in different]
        assert sorted(expected) == sorted(pushed)

    def test_aggregates_are_those_of_the_rows(
        self, table: MakeTable, run: Any, connector: Any
    ) -> None:
        """COUNT, MIN, MAX and SUM that a connector computes are those of Flink."""
        need_write(connector)
        need_ability(connector, Ability.AGGREGATE_PUSH_DOWN)
        columns = {
            name: value
            for name, value in {**PREDICATE_COLUMNS, "w": NUMBERS}.items()
            if value.sample in self.types
        }
        name, reference = self._tables_of_values(table, run, columns, (*range(6), 0, 1))
        queries = _aggregating_queries(columns)
        computed, expected = (
            run(_number_queries(query % each for query in queries)) for each in (name, reference)
        )
        different = {number for number, *_ in {*computed} ^ {*expected}}
        wrong = [query % name for place, query in enumerate(queries) if place in different]
        assert not wrong, f"wrong aggregates: {'; '.join(wrong)}"
        assert expected == computed

    def test_first_rows_are_those_of_the_order(
        self, table: MakeTable, run: Any, connector: Any
    ) -> None:
        """The first rows of ORDER BY with LIMIT that a connector finds are those of Flink."""
        need_write(connector)
        need_ability(connector, Ability.TOP_N_PUSH_DOWN)
        columns = {
            name: value
            for name, value in {**PREDICATE_COLUMNS, "w": NUMBERS}.items()
            if value.sample in self.types
        }
        name, reference = self._tables_of_values(table, run, columns, range(6))
        queries = _sorting_queries(columns)
        first, expected = (
            run(_number_queries(query % each for query in queries)) for each in (name, reference)
        )
        different = {number for number, *_ in {*first} ^ {*expected}}
        wrong = [query % name for place, query in enumerate(queries) if place in different]
        assert not wrong, f"wrong first rows: {'; '.join(wrong)}"
        assert expected == first

    def test_fields_of_rows_are_those_that_queries_use(
        self, environment: TableEnvironment, table: MakeTable, run: Any, connector: Any
    ) -> None:
        """Rows of `read` have only the fields that a query uses, with their values."""
        need_write(connector)
        if "row" not in self.types:
            pytest.skip("the connector does not store rows")
        inner, pair = "ROW<x INT, y INT>", "ROW<b INT, a INT>"
        row = f"ROW<a INT, b INT, c {inner}>"
        name = table(f"k INT, r {row}, q {pair}")
        described, fields = context_fields(environment, name)
        if not reads_nested_fields(connector, ReadContext(**fields, table=described)):
            pytest.skip("the connector does not declare that it takes the fields of rows")
        rows = (
            (1, "ROW(2, 3, ROW(4, 5))", "ROW(6, 7)"),
            (8, f"ROW(NULLIF(1, 1), 9, CAST(NULL AS {inner}))", "ROW(10, NULLIF(1, 1))"),
            (11, "NULL", "NULL"),
        )
        values = " UNION ALL ".join(
            f"SELECT {k}, CAST({r} AS {row}), CAST({q} AS {pair})" for k, r, q in rows
        )
        reference = f"{name}_reference"
        run(f"INSERT INTO {name} {values}")
        run(f"CREATE TEMPORARY VIEW {reference} (k, r, q) AS {values}")
        used = (
            "r.b", "r.c.y", "q.a", "r.a + q.b", "r.c.y - r.c.x",
            "CASE WHEN r.c IS NULL THEN k ELSE r.a END", "CASE WHEN q IS NULL THEN k ELSE r.b END",
        )  # fmt: skip
        read, expected = (
            run(_number_queries(f"k, {expression} FROM {each}" for expression in used))
            for each in (name, reference)
        )
        different = {number for number, *_ in {*read} ^ {*expected}}
        wrong = [text for place, text in enumerate(used) if place in different]
        assert not wrong, f"wrong values of fields: {'; '.join(wrong)}"
        assert expected == read

    @staticmethod
    def _tables_of_values(
        table: MakeTable, run: Any, columns: Mapping[str, PredicateColumn], places: Iterable[int]
    ) -> tuple[str, str]:
        """Return a table with some of the values of columns, and a view of the same rows."""
        name = table(", ".join(f"{key} {column.type}" for key, column in columns.items()))
        rows = (
            ", ".join(
                f"CAST({each.values[place] or 'NULL'} AS {each.type})" for each in columns.values()
            )
            for place in places
        )
        values = " UNION ALL ".join(f"SELECT {row}" for row in rows)
        run(f"INSERT INTO {name} {values}")
        reference = f"{name}_reference"
        run(f"CREATE TEMPORARY VIEW {reference} ({', '.join(columns)}) AS {values}")
        return name, reference

    def test_partitions_that_filters_select_have_all_rows(
        self, table: MakeTable, run: Any, connector: Any
    ) -> None:
        """A query of some partitions has all of their rows, also those of NULL."""
        need_write(connector)
        need_ability(connector, Ability.PARTITION_PUSH_DOWN)
        names = [f"p{place}" for place in range(len(self.partition_types))]
        typed = list(zip(names, self.partition_types.items(), strict=True))
        columns = ", ".join(f"{name} {type_}" for name, (type_, _) in typed)
        target = table(f"a INT, {columns}", partitions=", ".join(names))
        rows = [
            f"SELECT {2 * place + changed}, "
            + ", ".join(
                f"CAST({values[changed if other == place else 0]} AS {type_})"
                for other, (_, (type_, values)) in enumerate(typed)
            )
            for place in range(len(typed))
            for changed in (0, 1)
        ]
        run(f"INSERT INTO {target} {' UNION ALL '.join(rows)}")
        reference = f"{target}_reference"
        listed = ", ".join(["a", *names])
        run(f"CREATE TEMPORARY VIEW {reference} ({listed}) AS {' UNION ALL '.join(rows)}")
        conditions = [
            condition.format(name, value)
            for name, (_, values) in typed
            for value in values
            if value != "NULL"
            for condition in ("{0} = {1}", "{0} <> {1}", "{0} IS NULL", "{0} IS NOT NULL",
                              "{0} IN ({1})", "NOT ({0} = {1}) OR a = 1")
        ]  # fmt: skip
        read, expected = (
            run(_number_queries(f"a FROM {each} WHERE {condition}" for condition in conditions))
            for each in (target, reference)
        )
        different = {number for number, _ in {*read} ^ {*expected}}
        wrong = [text for place, text in enumerate(conditions) if place in different]
        assert not wrong, f"wrong rows of partitions: {'; '.join(wrong)}"
        assert expected == read

    def test_the_columns_that_insert_names_are_written(
        self, table: MakeTable, run: Any, connector: Any
    ) -> None:
        """INSERT of some columns sets them; the others are NULL, or as in the row of the key."""
        need_write(connector)
        need_ability(connector, Ability.TARGET_COLUMNS)
        upserts = Ability.UPSERT in connector.abilities
        key = ", PRIMARY KEY (k) NOT ENFORCED" if upserts else ""
        name = table(f"k INT NOT NULL, a STRING, b STRING{key}")
        run(f"INSERT INTO {name} VALUES (1, 'a', 'b'), (2, 'a', 'b')")
        run(f"INSERT INTO {name} (b, k) VALUES ('c', 2), ('d', 3)")
        first, *others = run(f"SELECT k, a, b FROM {name} WHERE k < 3")
        assert (1, "a", "b") == first
        assert [(3, None, "d")] == run(f"SELECT k, a, b FROM {name} WHERE k = 3")
        if upserts:
            assert others in ([(2, "a", "c")], [(2, None, "c")])
        else:
            assert [(2, "a", "b"), (2, None, "c")] == others


def need_ability(connector: Any, ability: Ability) -> None:
    """Skip a test for a connector that does not declare an ability."""
    if ability not in connector.abilities:
        pytest.skip(f"the connector does not declare the ability {ability.value!r}")


#: The columns of predicates that are ordered, and those that are added.
_ORDERED, _ADDED = ("n", "s", "d", "dt", "t", "w"), ("n", "d", "w")


def _aggregating_queries(columns: Mapping[str, object]) -> list[str]:
    """Return queries of three strings, without SELECT and with `%s` for the table."""
    calls = [
        *(("NULL", f"MIN({name})", f"MAX({name})") for name in _ORDERED if name in columns),
        *(("NULL", "COUNT(*)", f"COUNT({name})") for name in columns),
        *(("NULL", f"SUM({name})", "COUNT(1)") for name in _ADDED if name in columns),
    ]
    queries = [", ".join(f"CAST({call} AS STRING)" for call in each) + " FROM %s" for each in calls]
    conditions = ("n > 1", "n > 1000", "s = 'a'", "s < 'b'", "dt IS NULL", "n > 1 AND w > 1")
    counted = "CAST(COUNT(*) AS STRING), CAST(SUM(w) AS STRING)"
    queries += [
        f"CAST(NULL AS STRING), {counted} FROM %s WHERE {condition}"
        for condition in conditions
        if {*columns} >= {"n", "s", "dt", "w"}
    ]
    if "w" in columns:
        queries += [
            f"CAST({name} AS STRING), {counted} FROM %s GROUP BY {name}"
            for name in columns
            if name != "f"
        ]
        queries.append(
            f"CAST(n AS STRING), {counted} FROM %s GROUP BY n HAVING COUNT(*) > 1 AND SUM(w) > 0"
        )
    return queries


def _sorting_queries(columns: Mapping[str, object]) -> list[str]:
    """Return queries of the values of a key, without SELECT and with `%s` for the table."""
    keys = [name for name in columns if name in _ORDERED]
    clauses = [
        (name, f"ORDER BY {name}{direction} LIMIT {limit}")
        for name in keys
        for direction, limit in (("", 2), (" DESC", 2), (" DESC NULLS FIRST", 1),
                                 (" NULLS LAST", 5), (" NULLS LAST", "1 OFFSET 3"))
    ]  # fmt: skip
    if {*columns} >= {"n", "s", "w"}:
        clauses += [
            ("w", "WHERE n > 1 ORDER BY w DESC LIMIT 1"),
            ("w", "WHERE n > 1 AND s IS NOT NULL ORDER BY n, w DESC LIMIT 2"),
        ]
    return [
        f"k FROM (SELECT CAST({name} AS STRING) AS k FROM %s {clause}) AS q"
        for name, clause in clauses
    ]


def _pushing_queries(name: str, conditions: Sequence[str]) -> dict[str, str]:
    """Return queries of keys or counts, without SELECT, by what they test."""
    tested = {f"WHERE {condition}": f"k FROM {name} WHERE {condition}" for condition in conditions}
    inner = {
        "COUNT(*)": f"SELECT k FROM {name}",
        "LIMIT": f"SELECT k FROM {name} LIMIT 4",
        "LIMIT 0": f"SELECT k FROM {name} LIMIT 0",
        "LIMIT with OFFSET": f"SELECT k FROM {name} LIMIT 2 OFFSET 3",
        "LIMIT after WHERE": f"SELECT k FROM {name} WHERE k >= 3 LIMIT 2",
        "LIMIT after WHERE of an expression": f"SELECT k FROM {name} WHERE k + 1 > 3 LIMIT 2",
        "WHERE after LIMIT": f"SELECT k FROM (SELECT k FROM {name} LIMIT 6) AS q WHERE k > 3",
        "outer join": f"SELECT x.k FROM {name} AS x LEFT JOIN {name} AS y"
        " ON x.k = y.k + 1 AND y.k > 2 WHERE x.k < 5",
    }
    tested |= {key: f"CAST(COUNT(*) AS INT) FROM ({query}) AS q" for key, query in inner.items()}
    tested["ORDER BY before LIMIT"] = f"k FROM (SELECT k FROM {name} ORDER BY k DESC LIMIT 2) AS q"
    return tested


def _number_queries(queries: Iterable[str], start: int = 0) -> str:
    """Return one query of all rows, each after the number of its query."""
    numbers = enumerate(queries, start)
    return " UNION ALL ".join(f"SELECT {number} AS number, {query}" for number, query in numbers)
