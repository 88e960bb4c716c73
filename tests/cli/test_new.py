"""``schema-core new``: names, files, and that nothing is overwritten or left half-done."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from typer.testing import CliRunner

from schema_core.cli.app import application
from schema_core.cli.commands.new import (
    GROUPS,
    MAX_NAME,
    Kit,
    package_files,
    package_name,
    write_package,
)
from schema_core.errors import AlreadyExistsError, ExternalError, SchemaError

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(application(), ["new", *arguments])


def tree(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "distribution", "module"),
    [
        ("shop",         "shop",         "shop"),
        ("Shop.Files",   "shop-files",   "shop_files"),
        ("shop__-files", "shop-files",   "shop_files"),
        ("s3",           "s3",           "s3"),
        ("a" * MAX_NAME, "a" * MAX_NAME, "a" * MAX_NAME),
    ],
)  # fmt: skip
def test_the_names_of_a_package(name: str, distribution: str, module: str) -> None:
    result = package_name(Kit.CATALOG, name)

    assert (distribution, module) == (result.distribution, result.module)


@pytest.mark.parametrize(
    ("kit", "name", "reason"),
    [
        (Kit.CATALOG,   "",                   "expected ASCII letters"),
        (Kit.CATALOG,   "-shop",              "expected ASCII letters"),
        (Kit.CATALOG,   "shop-",              "expected ASCII letters"),
        (Kit.CATALOG,   "3d",                 "expected ASCII letters"),
        (Kit.CATALOG,   "shop files",         "expected ASCII letters"),
        (Kit.CATALOG,   "../shop",            "expected ASCII letters"),
        (Kit.CATALOG,   "shop\n",             "expected ASCII letters"),
        (Kit.CATALOG,   "bücher",             "expected ASCII letters"),
        (Kit.CATALOG,   "a" * (MAX_NAME + 1), "expected ASCII letters"),
        (Kit.CATALOG,   "class",              "'class' is a keyword of Python"),
        (Kit.CATALOG,   "Json",               "the package would hide the module 'json'"),
        (Kit.CATALOG,   "schema-core",        "the package would hide the module 'schema_core'"),
        (Kit.CONNECTOR, "PySpark",            "the package would hide the module 'pyspark'"),
        (Kit.CONNECTOR, "tests",              "the package would hide the module 'tests'"),
        (Kit.CATALOG,   "hive",               "there is a catalog 'hive' of schema-core"),
        (Kit.CONNECTOR, "upsert_kafka",       "there is a connector 'upsert-kafka' of schema-core"),
    ],
)  # fmt: skip
def test_a_name_that_no_package_can_have(kit: Kit, name: str, reason: str) -> None:
    with pytest.raises(SchemaError) as caught:
        package_name(kit, name)

    assert "invalid-name" == caught.value.code
    assert caught.value.problem.partition(": ")[2].startswith(reason)
    assert caught.value.hint


def test_a_connector_may_have_the_identifier_of_a_catalog() -> None:
    assert "sql" == package_name(Kit.CONNECTOR, "sql").distribution
    with pytest.raises(SchemaError):
        package_name(Kit.CATALOG, "sql")


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kit", Kit)
def test_the_files_have_the_names_of_the_package(kit: Kit) -> None:
    result = package_files(kit, package_name(kit, "Shop-Files"))

    assert {
        "README.md",
        "pyproject.toml",
        "src/shop_files/__init__.py",
        "src/shop_files/py.typed",
        f"src/shop_files/{kit.value}.py",
        f"tests/test_{kit.value}.py",
    } <= set(result)
    assert not [path for path, text in result.items() if "kit_name" in text or "kit-name" in text]
    project = tomllib.loads(result["pyproject.toml"])["project"]
    assert "shop-files" == project["name"]
    (target,) = project["entry-points"][GROUPS[kit]].values()
    module, _, name = target.partition(":")
    assert name in result[f"src/{module.replace('.', '/')}.py"]


def test_the_command_prints_the_paths_that_it_has_written(folder: Path) -> None:
    done = invoke("catalog", "Shop_Files")

    files = {item for item in tree(folder) if (folder / item).is_file()}
    assert 0 == done.exit_code
    assert files == set(done.stdout.splitlines())
    assert "shop-files/src/shop_files/catalog.py" in files
    assert not [item for item in tree(folder) if ".new-" in item]


def test_the_directory_is_that_of_the_option(folder: Path) -> None:
    assert 0 == invoke("connector", "shop", "--directory", "a/b/c").exit_code
    assert 'name = "shop"' in (folder / "a/b/c/pyproject.toml").read_text()


def test_the_directory_is_not_that_of_migrations(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`directory` is a key of all commands in the configuration that `schema-core init` writes."""
    (folder / "schema-core.toml").write_text('directory = "migrations"\n')
    monkeypatch.setenv("SCHEMA_CORE_DIRECTORY", "of-all")

    assert 0 == invoke("catalog", "shop").exit_code
    assert {"schema-core.toml", "shop"} == {path.name for path in folder.iterdir()}


def test_the_directory_may_be_configured_for_the_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "schema-core.toml").write_text('[new]\ndirectory = "of-section"\n')
    assert 0 == invoke("catalog", "shop").exit_code
    monkeypatch.setenv("SCHEMA_CORE_NEW_DIRECTORY", "of-variable")
    assert 0 == invoke("catalog", "shop").exit_code

    assert {"schema-core.toml", "of-section", "of-variable"} == {o.name for o in folder.iterdir()}


def test_an_empty_directory_is_used_and_stays_the_same(folder: Path) -> None:
    (folder / "shop").mkdir()
    before = (folder / "shop").stat().st_ino

    assert 0 == invoke("catalog", "shop").exit_code
    assert before == (folder / "shop").stat().st_ino
    assert {"README.md", "pyproject.toml", "src", "tests"} == {
        path.name for path in (folder / "shop").iterdir()
    }


def test_the_working_directory_is_used(folder: Path) -> None:
    assert 0 == invoke("catalog", "shop", "--directory", ".").exit_code
    assert {"README.md", "pyproject.toml", "src", "tests"} == {o.name for o in folder.iterdir()}


# --- what is refused -----------------------------------------------------------------------------


def test_a_directory_with_files_is_refused(folder: Path) -> None:
    (folder / "shop").mkdir()
    (folder / "shop" / "README.md").write_text("mine")
    done = invoke("catalog", "shop")

    assert 2 == done.exit_code
    assert "" == done.stdout
    assert "schema-core: error[target-not-empty]: the directory 'shop' is not empty" in done.stderr
    assert "hint: name another directory" in done.stderr
    assert {"shop", "shop/README.md"} == tree(folder)
    assert "mine" == (folder / "shop" / "README.md").read_text()


def test_a_package_is_not_written_twice(folder: Path) -> None:
    assert 0 == invoke("catalog", "shop").exit_code
    before = tree(folder)
    with pytest.raises(AlreadyExistsError):
        write_package(Kit.CONNECTOR, "shop")

    assert before == tree(folder)


def test_an_invalid_name_is_refused_with_its_code(folder: Path) -> None:
    done = invoke("connector", "json")

    assert 2 == done.exit_code
    assert "schema-core: error[invalid-name]: invalid name of a package 'json'" in (done.stderr)
    assert "hint: use a longer name, such as 'json-connector'" in done.stderr
    assert set() == tree(folder)


def test_a_kit_that_does_not_exist_is_refused(folder: Path) -> None:
    assert 2 == invoke("format", "shop").exit_code
    assert set() == tree(folder)


def test_a_file_in_place_of_the_directory_is_refused(folder: Path) -> None:
    (folder / "shop").write_text("mine")
    done = invoke("catalog", "shop")

    assert 2 == done.exit_code
    assert "error[file-system-failed]" in done.stderr
    assert {"shop"} == tree(folder)
    assert "mine" == (folder / "shop").read_text()


@pytest.mark.parametrize("target", ["new/package", "empty"])
@pytest.mark.parametrize("at", range(12))
def test_a_failure_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, target: str, at: int
) -> None:
    """Every write and rename may fail, with an error of the system or by Ctrl-C."""
    (folder / "empty").mkdir()
    calls = 0
    write, rename = Path.write_text, Path.rename

    def failing(call: Any) -> Any:
        def called(*args: Any, **more: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == at + 1:
                raise OSError(28, "No space left on device") if at % 2 else KeyboardInterrupt
            return call(*args, **more)

        return called

    monkeypatch.setattr(Path, "write_text", failing(write))
    monkeypatch.setattr(Path, "rename", failing(rename))
    try:
        write_package(Kit.CATALOG, "shop", Path(target))
    except (ExternalError, KeyboardInterrupt):
        assert {"empty"} == tree(folder)
    else:
        assert at >= calls
        assert (folder / target / "pyproject.toml").exists()


# --- the packages --------------------------------------------------------------------------------


def run(*command: str, cwd: Path, path: Path | None = None) -> None:
    """Run a module of Python, and fail with its output."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (path or "src", ROOT)))}
    line = [sys.executable, "-m", *command]
    done = subprocess.run(
        line, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["shop", "n" * MAX_NAME])
@pytest.mark.parametrize("kit", Kit)
def test_a_package_passes_ruff(folder: Path, kit: Kit, name: str) -> None:
    """By its own configuration, and by the stricter one of this library."""
    write_package(kit, name, folder)

    for config in (folder, ROOT):
        run("ruff", "check", f"--config={config / 'pyproject.toml'}", "--no-cache", cwd=folder)
        run("ruff", "format", "--check", "--no-cache", cwd=folder)


@pytest.mark.parametrize("kit", Kit)
def test_a_package_passes_mypy(folder: Path, kit: Kit) -> None:
    write_package(kit, "shop", folder)

    run("mypy", f"--cache-dir={os.environ.get('MYPY_CACHE_DIR', '/dev/null')}", cwd=folder)


@pytest.mark.parametrize("kit", Kit)
def test_a_package_passes_its_tests(folder: Path, kit: Kit) -> None:
    """It is built and unpacked first, so that its entry point is found."""
    write_package(kit, "shop", folder / "shop")
    run("hatchling", "build", "-t", "wheel", "-d", str(folder / "dist"), cwd=folder / "shop")
    (wheel,) = (folder / "dist").glob("*.whl")
    with ZipFile(wheel) as archive:
        archive.extractall(folder / "site")

    run("pytest", "-q", "-p", "no:cacheprovider", cwd=folder / "shop", path=folder / "site")
