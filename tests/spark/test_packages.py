"""Packages of Spark's data sources: found among its jars and in its settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from schema_core.spark.session.packages import PACKAGES, has_package, package_of


@pytest.mark.parametrize("source", PACKAGES)
def test_a_package_is_found_in_the_settings_and_jars_of_spark(source: str, tmp_path: Path) -> None:
    package = package_of(source)
    artifact = package.split(":")[1]
    home = {"SPARK_HOME": str(tmp_path)}

    assert "{" not in package
    assert not has_package(source, home)
    assert not has_package(source, {"SCHEMA_CORE_SPARK": "spark.jars.packages=org.x:other_2.13:1"})
    assert has_package(source, {"SCHEMA_CORE_SPARK": f"spark.jars.packages={package}"})
    assert has_package(source, {"PYSPARK_SUBMIT_ARGS": f"--jars /x/{artifact}-1.jar pyspark-shell"})

    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(f"spark.jars.packages {package}\n")

    assert has_package(source, home)
    assert has_package(source, {"SPARK_CONF_DIR": str(tmp_path / "conf")})

    (tmp_path / "conf" / "spark-defaults.conf").write_text("")
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / f"{artifact}-4.1.0.jar").write_bytes(b"")

    assert has_package(source, home)
