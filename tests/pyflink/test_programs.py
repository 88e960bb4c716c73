"""Programs of PyFlink run unchanged: imports, arguments, exit codes and tracebacks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from schema_core.cli import UNREADABLE
from schema_core.cli.app import application
from schema_core.errors import NotFoundError, UnsupportedError
from schema_core.pyflink.programs import map_imports, run_program

COMMANDS = {
    "module": ["-m", "schema_core.pyflink"],
    "command": ["-m", "schema_core.cli", "run"],
}

PROGRAM = """
import sys
import pyflink
import pyflink.table.expressions as expressions
from pyflink.table import DataTypes, TableEnvironment
from pyflink.table.udf import ScalarFunction
from beside import CONSTANT
import schema_core.pyflink.table

print(__name__, sys.argv[1:], sys.path[0] == sys.argv[0].rpartition("/")[0], CONSTANT)
print(pyflink.table is schema_core.pyflink.table, pyflink.__spec__.name)
print(sys.modules["__main__"].DataTypes is DataTypes, expressions.col("a"))
try:
    import pyflink.nothing.at_all
except ModuleNotFoundError as error:
    print(error, error.name)
"""
PRINTED = """\
__main__ ['--input', 'a.csv', 'b'] True 3
True schema_core.pyflink
True `a`
No module named 'pyflink.nothing' pyflink.nothing
"""


def run(
    command: str, directory: Path, text: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    file = directory / "job.py"
    file.write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, *COMMANDS[command], str(file), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_program_is_the_main_module_with_its_arguments(command: str, tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("CONSTANT = 3\n", encoding="utf-8")

    result = run(command, tmp_path, PROGRAM, "--input", "a.csv", "b")

    assert ("", 0, PRINTED) == (result.stderr, result.returncode, result.stdout)


@pytest.mark.parametrize(
    ("text", "code", "printed"),
    [
        ("import sys; sys.exit(7)", 7, ""),
        ("import sys; sys.exit('no input')", 1, "no input"),
        ("raise SystemExit", 0, ""),
        ("raise KeyboardInterrupt", 130, "KeyboardInterrupt"),
        ("def f(:", 1, "SyntaxError: invalid syntax"),
    ],
)
def test_the_exit_code_is_that_of_the_program(
    text: str, code: int, printed: str, tmp_path: Path
) -> None:
    result = run("command", tmp_path, text)

    assert code == result.returncode
    assert printed in result.stderr
    assert bool(printed) == bool(result.stderr)


def test_a_traceback_shows_only_the_program(tmp_path: Path) -> None:
    result = run("command", tmp_path, "def f():\n    1 / 0\n\nf()\n")

    assert 1 == result.returncode
    files = [line for line in result.stderr.splitlines() if line.startswith("  File ")]
    assert 2 == len(files)
    assert all("job.py" in line for line in files)
    assert "ZeroDivisionError: division by zero" in result.stderr


def test_processes_that_inherit_the_path_import_pyflink(tmp_path: Path) -> None:
    """Spark's Python workers are such processes, also if a module of theirs maps the imports."""
    program = """
import subprocess, sys
child = "import pyflink.table as t, pyflink; print(t.__name__, pyflink.__name__)"
maps = "from schema_core.pyflink.programs import map_imports; map_imports(); "
for text in (child, maps + child):
    print(subprocess.run([sys.executable, "-c", text], capture_output=True, text=True).stdout)
"""
    result = run("module", tmp_path, program)

    assert 2 == result.stdout.count("schema_core.pyflink.table schema_core.pyflink\n")


INSTALLED = "print('it is the installed one', __file__)\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_an_installed_pyflink_is_replaced_only_by_an_option(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "pyflink"
    package.mkdir(parents=True)
    package.joinpath("__init__.py").write_text(INSTALLED, encoding="utf-8")
    monkeypatch.syspath_prepend(str(package.parent))
    text = "import pyflink; print(pyflink.__name__)"

    refused = run(command, tmp_path, text)
    monkeypatch.setitem(COMMANDS, command, [*COMMANDS[command], "--override-pyflink"])
    replaced = run(command, tmp_path, text)

    assert UNREADABLE == refused.returncode
    assert "error[incompatible-installation]: a package `pyflink` is installed in" in refused.stderr
    assert "" == refused.stdout
    assert ("schema_core.pyflink\n", 0) == (replaced.stdout, replaced.returncode)


def test_imports_are_mapped_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    finders = len(sys.meta_path)

    map_imports()
    map_imports()

    assert finders + 1 == len(sys.meta_path)
    added, *others = os.environ["PYTHONPATH"].split(os.pathsep)
    assert ["elsewhere"] == others
    assert Path(added, "pyflink", "__init__.py").is_file()


def test_a_program_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="No such file") as caught:
        run_program(tmp_path / "absent.py", [])

    assert "file-not-found" == caught.value.code


def test_an_installed_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tmp_path.joinpath("pyflink").mkdir()
    tmp_path.joinpath("pyflink", "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(UnsupportedError) as caught:
        map_imports()

    assert "incompatible-installation" == caught.value.code
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--quiet", "job.py"], "--quiet applies to scripts of SQL"),
        (["--define", "a=b", "job.py"], "--define applies to scripts of SQL"),
        (["job.sql", "a.csv"], "arguments applies to programs in Python"),
        (["job.sql", "--override-pyflink"], "--override-pyflink applies to programs in Python"),
    ],
)
def test_options_of_the_other_kind_of_file_are_refused(arguments: list[str], problem: str) -> None:
    result = CliRunner().invoke(application(), ["run", *arguments])

    assert UNREADABLE == result.exit_code
    assert problem in result.stderr
