"""``schema-core new``: a package with a catalog or connector; ``init``: a project.

The templates of packages are in the directory ``kits``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from importlib.resources import files
from importlib.resources.abc import Traversable
from keyword import iskeyword
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Annotated

import typer

from schema_core.base.lazy import dataclass
from schema_core.base.plugins import (
    CATALOGS,
    CONNECTORS,
    EXTRAS,
    REQUIREMENT,
    install_command,
    list_entries,
)
from schema_core.base.text import show
from schema_core.cli import script
from schema_core.cli.app import exit_on_configuration_error
from schema_core.errors import AlreadyExistsError, ExternalError, SchemaError
from schema_core.migration.files.checksums import CHECKSUMS, format_checksums

#: Hints of several errors.
NAME_DIRECTORY = "name another directory: --directory DIR"


class Kit(Enum):
    """What a new package holds, and the name of its templates' directory."""

    CATALOG = "catalog"
    CONNECTOR = "connector"


#: Kit -> the group of its entry point.
GROUPS = {Kit.CATALOG: CATALOGS, Kit.CONNECTOR: CONNECTORS}

#: The names in templates that the package's replace, and the suffix of template files.
DISTRIBUTION, MODULE, SUFFIX = "kit-name", "kit_name", ".txt"

#: What a template has in place of the command that installs this library, and its extras by kit.
INSTALLATION = "kit-installation"
KIT_EXTRAS = {Kit.CATALOG: "cli,testing", Kit.CONNECTOR: "cli,spark,testing"}

#: Characters of a name: lines with longer ones would be formatted in another way.
MAX_NAME = 40

#: Modules that the module of a new package would hide, besides those of the standard library.
RESERVED = {"schema_core", "py4j", "hatchling", "tests", "conftest"}.union(*EXTRAS.values())


@dataclass(frozen=True, slots=True)
class PackageName:
    """A distribution's normal name, which is also the identifier, and its module."""

    distribution: str
    module: str


def normalize(distribution: str) -> str:
    """Return the normal form of a distribution's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def package_name(kit: Kit, name: str) -> PackageName:
    """Return the names of a new package from its distribution's name.

    Raises:
        SchemaError: with code `invalid-name`.

    >>> package_name(Kit.CATALOG, "Shop_Files")
    PackageName(distribution='shop-files', module='shop_files')
    """
    if not re.fullmatch(r"[A-Za-z]([A-Za-z0-9._-]*[A-Za-z0-9])?", name) or len(name) > MAX_NAME:
        raise _invalid_name(
            name,
            "expected ASCII letters, digits, '-', '_' and '.', with a letter first and a letter or "
            f"digit last, at most {MAX_NAME} characters",
            f"use a name such as 'my-{kit.value}'",
        )
    distribution = normalize(name)
    module = distribution.replace("-", "_")
    hint = f"use a longer name, such as '{distribution[: MAX_NAME - 10]}-{kit.value}'"
    if iskeyword(module):
        raise _invalid_name(name, f"{module!r} is a keyword of Python", hint)
    if module in sys.stdlib_module_names or module in RESERVED:
        raise _invalid_name(name, f"the package would hide the module {module!r}", hint)
    for entry in list_entries(GROUPS[kit]):
        provider = entry.package.partition(" ")[0] if entry.package else "schema-core"
        if entry.identifier == distribution and normalize(provider) != distribution:
            raise _invalid_name(
                name, f"there is a {kit.value} {distribution!r} of {provider}", hint
            )
    return PackageName(distribution, module)


def _invalid_name(name: str, reason: str, hint: str) -> SchemaError:
    return SchemaError(
        f"invalid name of a package {show(name)}: {reason}", code="invalid-name", hint=hint
    )


def package_files(kit: Kit, name: PackageName) -> dict[str, str]:
    """Return the files of a new package: path with slashes -> content."""

    def named(text: str) -> str:
        text = text.replace(INSTALLATION, install_command(KIT_EXTRAS[kit]))
        return text.replace(DISTRIBUTION, name.distribution).replace(MODULE, name.module)

    templates = files("schema_core.cli").joinpath("kits", kit.value)
    return {
        named(path.removesuffix(SUFFIX)): named(template.read_text(encoding="utf-8"))
        for path, template in _walk(templates)
    }


def _walk(directory: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    for path in sorted(directory.iterdir(), key=lambda found: found.name):
        if path.is_dir():
            yield from _walk(path, f"{prefix}{path.name}/")
        elif path.name.endswith(SUFFIX):
            yield prefix + path.name, path


def write_package(kit: Kit, name: str, directory: Path | None = None) -> list[Path]:
    """Write a new package and return the paths of its files; after an error nothing is left.

    Args:
        kit: What the package holds.
        name: The name of the distribution.
        directory: The directory of the package, by default one with its name.

    Raises:
        SchemaError: as `package_name`.
        AlreadyExistsError: with code `target-not-empty` if the directory contains something.
        ExternalError: with code `file-system-failed` if a file cannot be written.
    """
    names = package_name(kit, name)
    contents = package_files(kit, names)
    target = Path(names.distribution) if directory is None else directory
    try:
        if target.is_dir() and any(target.iterdir()):
            raise AlreadyExistsError(
                f"the directory {str(target)!r} is not empty",
                code="target-not-empty",
                hint=NAME_DIRECTORY,
            )
        with _stage_files(target) as root:
            for path, text in contents.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ExternalError(
            f"cannot write {error.filename or target}: {error.strerror}",
            code="file-system-failed",
            hint=NAME_DIRECTORY,
        ) from None
    return [target / path for path in contents]


@contextmanager
def _stage_files(target: Path) -> Iterator[Path]:
    """Yield a directory whose content is moved to the target at the end of the block.

    A target that exists keeps its inode: it may be the working directory of a shell.
    """
    exists = target.is_dir()
    above = [] if exists else [parent for parent in target.parents if not parent.exists()]
    moved: list[Path] = []
    with _undo_on_error(above, Path.rmdir):
        target.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(mkdtemp(prefix=".new-", dir=target if exists else target.parent))
        try:
            root = stage / "package"  # `mkdtemp` makes directories that only their owner may read
            root.mkdir()
            yield root
            if not exists:
                root.rename(target)
            else:
                with _undo_on_error(moved, _delete):
                    for path in sorted(root.iterdir()):
                        moved.insert(0, path.rename(target / path.name))
        finally:
            rmtree(stage, ignore_errors=True)


@contextmanager
def _undo_on_error(paths: list[Path], remove: Callable[[Path], None]) -> Iterator[None]:
    """Remove paths after an error of the block."""
    try:
        yield
    except BaseException:
        for path in paths:
            with suppress(OSError):
                remove(path)
        raise


def _delete(path: Path) -> None:
    if path.is_dir():
        rmtree(path)
    else:
        path.unlink()


def new(
    kit: Annotated[Kit, typer.Argument(help="What the package holds.", show_default=False)],
    name: Annotated[str, typer.Argument(help="The name of the package.", show_default=False)],
    directory: Annotated[
        Path | None,
        typer.Option(help="The directory of the package, by default one with its name."),
    ] = None,
) -> None:
    """Write a package with a catalog or connector that works, and tests which it passes.

    Exits with 2, and writes nothing, if the name is invalid or the directory is not empty.
    """
    with exit_on_configuration_error():
        for path in write_package(kit, name, directory):
            print(path)


# --- projects ------------------------------------------------------------------------------------

CONFIGURATION = """\
# Defaults of options of the command line; see docs/command-line.md.
directory = "migrations"

[check]
batch = true

# Secrets are named, not written: password = { env = "SHOP_PASSWORD" }
[define]
data = "data"
"""

SETUP = """\
-- Executed before migrations: creates and selects the catalog.
CREATE CATALOG main WITH ('type' = 'sql', 'url' = 'sqlite:///catalog.db');
USE CATALOG main;
"""

TABLES = """\
CREATE TABLE orders (
  id BIGINT NOT NULL,
  amount DECIMAL(12, 2),
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${data}/orders',
  'format' = 'parquet'
);
"""

WORKFLOW = """\
name: schemas
on: [push, pull_request]
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.11"
      # The variable of the repository has the address of a clone: git+https://...
      - run: pip install "@requirement@"
      - run: schema-core check tables/*.sql --format github
      - run: schema-core migrate lint --format github
""".replace("@requirement@", REQUIREMENT.format(extra="cli"))

#: Path in the project -> content.
FILES = {
    "schema-core.toml": CONFIGURATION,
    "tables/orders.sql": TABLES,
    "migrations/setup.sql": SETUP,
    f"migrations/{CHECKSUMS}": format_checksums({}),
    ".github/workflows/schemas.yml": WORKFLOW,
}


def init(
    directory: Annotated[Path, typer.Argument(help="The directory of the project.")] = Path(),
) -> None:
    """Write the files of a new project: configuration, table, setup and workflow for CI.

    Exits with 2, and writes nothing, if one of the files exists.
    """
    paths = {directory / name: text for name, text in FILES.items()}
    if existing := [path for path in paths if path.exists()]:
        raise script.report_unable(f"{existing[0]} exists", "name another directory")
    try:
        for path, text in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(path)
    except OSError as error:
        raise script.report_unable(f"cannot write {error.filename}: {error.strerror}") from None
