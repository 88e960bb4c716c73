"""``schema-core doctor``: the environment, with reasons for missing components."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from schema_core.base.plugins import CONNECTORS, discover, install_command
from schema_core.catalogs.hive import catalog as hive
from schema_core.catalogs.hive.catalog import hive_support
from schema_core.cli import GOOD
from schema_core.cli.app import application
from schema_core.cli.commands import doctor
from schema_core.errors import NotFoundError


def test_doctor_lists_versions_extras_planners_and_connectors() -> None:
    result = CliRunner().invoke(application(), ["doctor"], env={"COLUMNS": "200"})

    assert GOOD == result.exit_code
    for word in (
        "Python",
        "extra arrow",
        "pyarrow",
        "Java",
        "planner spark",
        "filesystem",
        "ready",
    ):
        assert word in result.output


def test_doctor_fits_a_narrow_terminal_and_shortens_nothing() -> None:
    result = CliRunner().invoke(application(), ["doctor"], env={"COLUMNS": "80"})

    assert "…" not in result.output
    assert all(len(line) <= 80 for line in result.output.splitlines())


def test_doctor_lists_caches_with_their_limits() -> None:
    result = CliRunner().invoke(application(), ["doctor"], env={"COLUMNS": "200"})
    [line] = [
        line for line in result.output.splitlines() if line.startswith("types.type_parser.parse ")
    ]

    *_, most, unit = line.split()
    assert ("200,000", "characters") == (most, unit)


def test_doctor_reports_the_reason_without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing() -> None:
        raise NotFoundError("no Java 17, 21, 25 found", hint="install one")

    monkeypatch.setattr(doctor, "find_java", nothing)

    assert ("none", "no Java 17, 21, 25 found; install one") == doctor.java()


def test_doctor_reports_whether_spark_has_hive() -> None:
    version, place = hive_support()

    assert version.startswith("2.3.")
    assert f"hive-metastore-{version}.jar" in place


def test_without_spark_there_is_no_hive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hive, "find_spec", lambda name: None)

    assert ("none", install_command("spark")) == hive_support()


@pytest.mark.parametrize("identifier", ["kafka", "upsert-kafka"])
def test_a_connector_without_its_package_is_not_usable(
    monkeypatch: pytest.MonkeyPatch, identifier: str
) -> None:
    monkeypatch.setattr(doctor, "java", lambda: ("17", "x"))
    [result] = [item for item in discover(CONNECTORS) if item.identifier == identifier]
    monkeypatch.setattr(doctor, "has_package", lambda source: source != "kafka")
    reason = doctor.why_not_usable(result) or ""

    assert "'spark.jars.packages' = 'org.apache.spark:spark-sql-kafka-0-10_2.13:" in reason

    monkeypatch.setattr(doctor, "has_package", lambda _: True)

    assert doctor.why_not_usable(result) is None
