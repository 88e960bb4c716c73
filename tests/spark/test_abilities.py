"""Writes that need an undeclared ability are refused before the job; Spark is not started."""

from __future__ import annotations

from itertools import chain, combinations
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from schema_core.connectors.files.filesystem import FilesystemConnector
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import Ability, require_abilities
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import UnsupportedError

FILES = "'connector' = 'filesystem', 'path' = 'nowhere', 'format' = 'csv'"
#: The abilities that some statement needs.
NEEDED = frozenset({Ability.OVERWRITE, Ability.PARTITIONS, Ability.BUCKETS, Ability.STAGING})
SUBSETS = list(map(frozenset, chain.from_iterable(combinations(NEEDED, size) for size in range(5))))


@pytest.fixture
def environment() -> TableEnvironment:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.execute_sql(f"CREATE TABLE plain (a INT) WITH ({FILES})")
    environment.execute_sql(f"CREATE TABLE parts (a INT, p INT) PARTITIONED BY (p) WITH ({FILES})")
    return environment


@pytest.mark.parametrize("needed", SUBSETS)
@pytest.mark.parametrize("declared", SUBSETS)
def test_a_write_is_refused_exactly_if_an_ability_is_missing(
    needed: frozenset[Ability], declared: frozenset[Ability]
) -> None:
    connector: Any = FilesystemConnector()
    missing = needed - declared
    with patch.object(FilesystemConnector, "abilities", declared):
        if not missing:
            require_abilities(connector, needed)
            return
        with pytest.raises(UnsupportedError) as caught:
            require_abilities(connector, needed)

    assert ("unsupported-ability", True) == (caught.value.code, bool(caught.value.hint))
    assert any(repr(item.value) in caught.value.problem for item in missing)


def test_a_connector_without_the_attribute_has_no_ability() -> None:
    old: Any = SimpleNamespace(identifier="old")
    with pytest.raises(UnsupportedError, match="'old' cannot replace existing rows"):
        require_abilities(old, {Ability.OVERWRITE})


@pytest.mark.parametrize(
    ("statement", "missing"),
    [
        ("INSERT OVERWRITE plain VALUES (1)", Ability.OVERWRITE),
        ("INSERT OVERWRITE parts VALUES (1, 1)", Ability.OVERWRITE),
        ("INSERT OVERWRITE parts PARTITION (p = '1') VALUES (1)", Ability.OVERWRITE),
        ("INSERT INTO parts VALUES (1, 1)", Ability.PARTITIONS),
        ("INSERT INTO parts PARTITION (p = '1') VALUES (1)", Ability.PARTITIONS),
        (
            f"CREATE TABLE made PARTITIONED BY (p) WITH ({FILES}) AS SELECT 1 AS a, 2 AS p",
            Ability.PARTITIONS,
        ),
    ],
)
def test_statements_are_refused_before_the_job(
    environment: TableEnvironment, statement: str, missing: Ability
) -> None:
    declared = NEEDED - {missing}
    with (
        patch.object(FilesystemConnector, "abilities", declared),
        patch(
            "schema_core.spark.session.session.JobSession.get", side_effect=AssertionError("ran")
        ),
        pytest.raises(UnsupportedError) as caught,
    ):
        environment.execute_sql(statement)

    assert "unsupported-ability" == caught.value.code
    assert repr(missing.value) in caught.value.problem
    assert ["parts", "plain"] == environment.list_tables()


@pytest.mark.parametrize("spread", ["BY HASH(a) INTO 4 BUCKETS", "BY (a)", "INTO 4 BUCKETS"])
def test_a_distribution_that_a_connector_would_ignore_is_refused(
    environment: TableEnvironment, spread: str
) -> None:
    environment.execute_sql(f"CREATE TABLE spread (a INT) DISTRIBUTED {spread} WITH ({FILES})")
    try:
        for statement in (
            "INSERT INTO spread VALUES (1)",
            f"CREATE TABLE made DISTRIBUTED {spread} WITH ({FILES}) AS SELECT 1 AS a",
        ):
            with pytest.raises(UnsupportedError, match="cannot distribute rows") as caught:
                environment.execute_sql(statement)
            assert "unsupported-ability" == caught.value.code
    finally:
        environment.execute_sql("DROP TABLE spread")
    assert "made" not in environment.list_tables()
