"""Modules, archives and packages of Python functions in the workers of Spark."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.expressions import col
from schema_core.expressions.user_functions import udf
from schema_core.pyflink.programs import map_imports
from schema_core.spark.python.dependencies import _install_packages, _module_zip
from schema_core.spark.session.api_mode import is_connect
from schema_core.types import DataTypes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def results(environment: TableEnvironment, function: Any) -> list[Any]:
    called = udf(function, result_type=DataTypes.BIGINT())
    rows = environment.from_elements([(1,)], ["a"]).select(called(col("a"))).execute().collect()
    return [row[0] for row in rows]


def test_functions_import_what_is_sent(
    environment: TableEnvironment, session: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "sent_module.py").write_text("def add(value):\n    return value + 2\n")
    package = tmp_path / "second" / "sent_package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("STEP = 10\n")
    with zipfile.ZipFile(tmp_path / "third.whl", "w") as wheel:
        wheel.writestr("sent_wheel.py", "FACTOR = 3\n")
    environment.add_python_file(str(tmp_path / "first" / "sent_module.py"))
    environment.add_python_file(str(tmp_path / "second"))
    environment.add_python_file(f"file://{tmp_path / 'third.whl'}")
    before = list(sys.path)

    def compute(value: int) -> int:
        from sent_module import add  # type: ignore[import-not-found]
        from sent_package import STEP  # type: ignore[import-not-found]
        from sent_wheel import FACTOR  # type: ignore[import-not-found]

        return int(add(value) * FACTOR + STEP)

    try:
        assert [19] == results(environment, compute)
        assert is_connect(session) or before == sys.path
    finally:
        environment.get_config().set("python.files", "")


def test_functions_import_pyflink_in_workers_of_a_spark_that_runs_already(
    environment: TableEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compute(value: int) -> int:
        from pyflink.common import Row  # type: ignore[import-not-found,unused-ignore]

        return value + len(Row(1, 2))

    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setenv("PYTHONPATH", "")
    map_imports(override=True)

    assert [3] == results(environment, compute)


@pytest.mark.parametrize("suffix", ["zip", "tar.gz"])
def test_functions_open_files_of_archives(
    environment: TableEnvironment, tmp_path: Path, suffix: str
) -> None:
    file, directory = tmp_path / "value.txt", f"data_{suffix[0]}"
    file.write_text("41")
    archive = tmp_path / f"archive.{suffix}"
    if suffix == "zip":
        with zipfile.ZipFile(archive, "w") as written:
            written.write(file, file.name)
    else:
        with tarfile.open(archive, "w:gz") as packed:
            packed.add(file, file.name)
    environment.add_python_archive(str(archive), directory)

    def read(value: int) -> int:
        return value + int(Path(directory, "value.txt").read_text())

    try:
        assert [42] == results(environment, read)
    finally:
        environment.get_config().set("python.archives", "")


@pytest.fixture
def env_without_spark() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def test_the_options_are_set_by_programs_only(env_without_spark: TableEnvironment) -> None:
    env_without_spark.add_python_archive("a.zip")
    env_without_spark.add_python_archive("b.zip", "b")
    env_without_spark.set_python_requirements("r.txt", "packages")
    options = env_without_spark.get_config().to_map()
    assert ("a.zip,b.zip#b", "r.txt#packages") == (
        options["python.archives"],
        options["python.requirements"],
    )
    for key in ("python.files", "python.archives", "python.requirements"):
        with pytest.raises(SchemaError, match="does not set") as caught:
            env_without_spark.execute_sql(f"SET '{key}' = 'x'")
        assert "reserved-option" == caught.value.code


def test_what_cannot_be_sent_is_refused(tmp_path: Path) -> None:
    (tmp_path / "compiled").mkdir()
    (tmp_path / "compiled" / "fast.so").write_bytes(b"")
    (tmp_path / "text.txt").write_text("")
    (tmp_path / "requirements.txt").write_text("no-such-package-of-the-test==1\n")
    (tmp_path / "empty").mkdir()
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: _module_zip(str(tmp_path / "missing.py")), "there is no Python file"),
        (lambda: _module_zip(str(tmp_path / "compiled")), "is compiled"),
        (lambda: _module_zip(str(tmp_path / "text.txt")), "has no modules"),
        (lambda: _install_packages(f"{tmp_path / 'none.txt'}"), "there is no requirements file"),
        (
            lambda: _install_packages(f"{tmp_path / 'requirements.txt'}#{tmp_path / 'empty'}"),
            "cannot be installed: ERROR",
        ),
    ]
    for call, problem in calls:
        with pytest.raises(SchemaCoreError, match=problem) as caught:
            call()
        assert "incompatible-installation" == caught.value.code


def test_required_packages_are_installed_from_a_directory(tmp_path: Path) -> None:
    metadata = "needed_by_test-1.0.dist-info"
    with zipfile.ZipFile(tmp_path / "needed_by_test-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("needed_by_test.py", "VALUE = 5\n")
        wheel.writestr(
            f"{metadata}/METADATA", "Metadata-Version: 2.1\nName: needed-by-test\nVersion: 1.0\n"
        )
        wheel.writestr(
            f"{metadata}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{metadata}/RECORD", "")
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("needed-by-test\n")

    with zipfile.ZipFile(_install_packages(f"{requirements}#{tmp_path}")) as modules:
        assert b"VALUE = 5\n" == modules.read("needed_by_test.py")
