"""Unchanged programs of PyFlink: `pyflink` and its modules are those of `schema_core.pyflink`.

Only this process, its Python workers and the processes that it starts are changed: nothing is
installed.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, Final, NoReturn

from schema_core.base.arguments import require_instance, require_sequence, validate_arguments
from schema_core.base.text import show
from schema_core.errors import NotFoundError, UnsupportedError

__all__ = ["map_imports", "run_program"]

NAME: Final = "pyflink"
#: `schema_core.pyflink`
TARGET: Final = __name__.rpartition(".")[0]
#: The package `pyflink` of processes that inherit ``PYTHONPATH``, such as Spark's Python workers.
INHERITED: Final = f"""\
import sys

import {__name__}

{__name__}.map_imports(override=True)
sys.modules[__name__] = {TARGET}
"""


class PyFlinkModules:
    """Finds `pyflink` and its modules: each is the module of `schema_core.pyflink` itself."""

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Return the specification of a module of PyFlink; None for other modules."""
        if fullname.partition(".")[0] != NAME:
            return None
        loader: Any = self
        return ModuleSpec(fullname, loader, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module, with the specification that the import system is about to replace."""
        try:
            module = import_module(f"{TARGET}{spec.name.removeprefix(NAME)}")
        except ModuleNotFoundError as error:
            name = str(error.name)
            if not name.startswith(TARGET):
                raise
            name = f"{NAME}{name.removeprefix(TARGET)}"
            raise ModuleNotFoundError(f"No module named {name!r}", name=name) from None
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the specification of the module, which is executed already."""
        spec: Any = module.__spec__
        if spec.loader is self:
            module.__spec__ = spec.loader_state


@validate_arguments(override=bool)
def map_imports(*, override: bool = False) -> None:
    """Import `schema_core.pyflink` in this process wherever `pyflink` is imported.

    Python workers that Spark starts later do the same. Programs that are started with
    `run_program`, ``schema-core run`` or ``python -m schema_core.pyflink`` do not need it.

    Args:
        override: Whether an installed PyFlink is replaced in this process.

    Raises:
        UnsupportedError: with code `incompatible-installation` where a package `pyflink` can be
            imported.
    """
    if any(isinstance(finder, PyFlinkModules) for finder in sys.meta_path):
        return
    place = None if override else _installed_place()
    if place is not None:
        raise UnsupportedError(
            f"a package `{NAME}` is installed in {show(place)}",
            code="incompatible-installation",
            hint="run the program with Flink, remove the package, or add --override-pyflink",
        )
    for name in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[name]
    finder: Any = PyFlinkModules()
    sys.meta_path.insert(0, finder)
    _add_to_inherited_path(_inherited_package())


def _installed_place() -> str | None:
    """Return the directory from which `pyflink` is imported, or None."""
    loaded = sys.modules.get(NAME)
    spec = PathFinder.find_spec(NAME) if loaded is None else loaded.__spec__
    if spec is None or _is_inherited(spec):
        return None
    places = [spec.origin, *(spec.submodule_search_locations or ())]
    return str(Path(next(place for place in places if place)).parent)


def _is_inherited(spec: ModuleSpec) -> bool:
    """Return whether a package is that of `INHERITED`, as in a Python worker of Spark."""
    read = getattr(spec.loader, "get_source", None)
    return read is not None and read(spec.name) == INHERITED


def mapped_package() -> str | None:
    """Return a directory with the package `pyflink` for workers, if this process maps imports."""
    is_mapped = any(isinstance(finder, PyFlinkModules) for finder in sys.meta_path)
    return _inherited_package() if is_mapped else None


def _inherited_package() -> str:
    """Return a directory with `INHERITED`, which is deleted at the end of the process."""
    package = Path(_directory().name, NAME)
    package.mkdir(exist_ok=True)
    package.joinpath("__init__.py").write_text(INHERITED, encoding="utf-8")
    return str(package.parent)


@cache
def _directory() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="schema_core-")


def _add_to_inherited_path(directory: str) -> None:
    """Add a directory to the path of the Python processes that Spark starts."""
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    others = [path for path in paths if path and path != directory]
    os.environ["PYTHONPATH"] = os.pathsep.join([directory, *others])


def run_program(file: str | Path, arguments: Sequence[str], *, override: bool = False) -> NoReturn:
    """Run a program as ``python FILE ARGUMENTS`` does, and exit with its exit code.

    `pyflink` is imported as by `map_imports`. Python workers find the modules in the directory of
    the program if they run on this machine.

    Args:
        file: A program in Python: its code is executed.
        arguments: The arguments of the program.
        override: Whether an installed PyFlink is replaced.

    Raises:
        NotFoundError: with code `file-not-found` for a file that cannot be read.
        UnsupportedError: with code `incompatible-installation`.
        SystemExit: with 1 after an uncaught exception, whose traceback is printed, or with 130
            after Ctrl-C; otherwise as the program.
    """
    path = Path(require_instance(file, (str, Path), "file"))
    words = require_sequence(arguments, "arguments")
    words = tuple(require_instance(word, str, "an argument") for word in words)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise NotFoundError(
            f"the program {show(str(path))} cannot be read: {error.strerror}",
            code="file-not-found",
        ) from None
    map_imports(override=override)
    directory = str(path.resolve().parent)
    sys.argv = [str(path), *words]
    sys.path[:1] = [directory]
    _add_to_inherited_path(directory)
    # It stays the main module until the process ends: exit handlers and threads use its names.
    module = ModuleType("__main__")
    loader = SourceFileLoader("__main__", str(path))
    vars(module).update(__file__=str(path), __builtins__=builtins, __loader__=loader)
    sys.modules["__main__"] = module
    try:
        exec(compile(content, str(path), "exec", dont_inherit=True), vars(module))  # noqa: S102
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - reported as the interpreter does
        traceback = error.__traceback__ and error.__traceback__.tb_next  # without this function
        sys.excepthook(type(error), error.with_traceback(traceback), traceback)
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)
    sys.exit(0)
