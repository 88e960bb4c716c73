"""``schema-core doctor``: the environment, with reasons for missing components."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from schema_core.base.plugins import CONNECTORS, EXTRAS, discover, install_command
from schema_core.catalogs.hive import catalog as hive
from schema_core.catalogs.hive.catalog import hive_support
from schema_core.cli import GOOD, installation
from schema_core.cli.app import application
from schema_core.connectors.kafka.connector import CLIENT
from schema_core.errors import NotFoundError


def doctor_output(*options: str, width: int = 200) -> str:
    result = CliRunner().invoke(application(), ["doctor", *options], env={"COLUMNS": str(width)})
    assert GOOD == result.exit_code
    return result.output


def test_doctor_summarizes_what_works_and_what_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        installation,
        "missing",
        lambda module: NotFoundError("the package 'rich' is odd") if module == "rich" else None,
    )
    monkeypatch.setattr(installation, "find_java", no_java)
    works, _, lacks = doctor_output().partition("does not work:")

    assert "  sql: catalogs in SQLite" in works
    assert "cli: the command schema-core\n    the package 'rich' is odd; " in lacks
    assert 1 == lacks.count("no Java 17, 21, 25 found"), "not for each connector"
    assert {*EXTRAS} <= {*installation.PURPOSES}


def test_doctor_lists_versions_extras_planners_and_connectors() -> None:
    output = doctor_output("--details")
    for word in (
        "Python",
        "extra arrow",
        "pyarrow",
        "Java",
        "planner spark",
        "filesystem",
        "ready",
    ):
        assert word in output
    [line] = [line for line in output.splitlines() if line.startswith("types.type_parser.parse ")]

    *_, most, unit = line.split()
    assert ("200,000", "characters") == (most, unit)


def test_doctor_fits_a_narrow_terminal_and_shortens_nothing() -> None:
    output = doctor_output("--details", width=80)

    assert "…" not in output
    assert all(len(line) <= 80 for line in output.splitlines())


def no_java() -> None:
    raise NotFoundError("no Java 17, 21, 25 found", hint="install one")


def test_doctor_reports_the_reason_without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "find_java", no_java)

    assert ("none", "no Java 17, 21, 25 found; install one") == installation.java()


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
    monkeypatch.setattr(installation, "java", lambda: ("17", "x"))
    [result] = [item for item in discover(CONNECTORS) if item.identifier == identifier]
    monkeypatch.setattr(installation, "has_package", lambda source: source != "kafka")
    assert installation.why_not_usable(result) is None, "by the client"
    absent = NotFoundError("the package is not installed")
    monkeypatch.setattr(
        installation, "missing", lambda module: absent if module == CLIENT else None
    )
    reason = installation.why_not_usable(result) or ""

    assert "'spark.jars.packages' = 'org.apache.spark:spark-sql-kafka-0-10_2.13:" in reason

    monkeypatch.setattr(installation, "has_package", lambda _: True)

    assert installation.why_not_usable(result) is None
