"""Catalog stores: the descriptors of catalogs, in memory or in files in Flink's format.

Flink and this library read each other's files. Comments, which Flink's descriptors lack, are YAML
comments. Files are written atomically.
"""

from __future__ import annotations

import os
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from threading import RLock

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass, regex
from schema_core.base.secrets import mask
from schema_core.base.text import show
from schema_core.catalog.stores import flat_yaml
from schema_core.catalog.stores.object_store import exists, missing
from schema_core.errors import (
    AlreadyExistsError,
    ExternalError,
    NotFoundError,
    ParseError,
    SchemaCoreError,
    SchemaError,
    similar,
)


@dataclass(frozen=True, slots=True)
class CatalogDescriptor:
    """The name, the options and the comment of a catalog; secrets are masked.

    >>> CatalogDescriptor.of("hive", {"type": "hive", "password": "hunter2"})
    CatalogDescriptor('hive', {'type': 'hive', 'password': '******'})
    """

    catalog_name: str
    configuration: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None

    @staticmethod
    def of(
        catalog_name: str, configuration: Mapping[str, str], comment: str | None = None
    ) -> CatalogDescriptor:
        """Return a descriptor; this is PyFlink's constructor."""
        given = require_instance(configuration, Mapping, "the configuration of a catalog")
        return CatalogDescriptor(catalog_name, dict(given), comment)

    def __repr__(self) -> str:
        shown = [repr(self.catalog_name), repr(mask(self.configuration))]
        if self.comment is not None:
            shown.append(repr(self.comment))
        return f"CatalogDescriptor({', '.join(shown)})"


class CatalogStore(ABC):
    """Stores descriptors of catalogs by name."""

    def open(self) -> None:
        """Connect or prepare; called once before any other method."""
        return

    def close(self) -> None:
        """Release what `open` acquired."""
        return

    @abstractmethod
    def store_catalog(self, catalog_name: str, catalog: CatalogDescriptor) -> None:
        """Store a new descriptor (`catalog-exists`)."""

    @abstractmethod
    def remove_catalog(self, catalog_name: str, ignore_if_not_exists: bool) -> None:
        """Remove a descriptor (`catalog-not-found`)."""

    def alter_catalog(self, catalog_name: str, catalog: CatalogDescriptor) -> None:
        """Replace a descriptor (`catalog-not-found`); the current one stays if that fails."""
        old = self.get_catalog(catalog_name)
        self.remove_catalog(catalog_name, ignore_if_not_exists=False)
        try:
            self.store_catalog(catalog_name, catalog)
        except SchemaCoreError:
            if old is not None:
                self.store_catalog(catalog_name, old)
            raise

    @abstractmethod
    def get_catalog(self, catalog_name: str) -> CatalogDescriptor | None: ...

    @abstractmethod
    def list_catalogs(self) -> list[str]: ...

    def contains(self, catalog_name: str) -> bool:
        return self.get_catalog(catalog_name) is not None


class InMemoryCatalogStore(CatalogStore):
    """Descriptors in memory, lost when the process ends."""

    def __init__(self) -> None:
        self._descriptors: dict[str, CatalogDescriptor] = {}
        self._lock = RLock()

    def store_catalog(self, catalog_name: str, catalog: CatalogDescriptor) -> None:
        with self._lock:
            if catalog_name in self._descriptors:
                raise exists("catalog", catalog_name)
            self._descriptors[catalog_name] = catalog

    def remove_catalog(self, catalog_name: str, ignore_if_not_exists: bool) -> None:
        removed = self._descriptors.pop(catalog_name, None)
        if removed is None and not ignore_if_not_exists:
            raise missing("catalog", catalog_name, self.list_catalogs())

    def get_catalog(self, catalog_name: str) -> CatalogDescriptor | None:
        return self._descriptors.get(catalog_name)

    def list_catalogs(self) -> list[str]:
        return list(self._descriptors)


# --- files ----------------------------------------------------------------------------------------

SUFFIX = ".yaml"

#: Characters that a file name cannot contain.
_NOT_IN_FILE_NAMES = regex(r"[/\\\0\ud800-\udfff]")
#: Characters that a path cannot contain.
_NOT_IN_PATHS = regex(r"[\0\ud800-\udfff]")
#: The first line of a file with a comment.
COMMENT = regex(r"# (comment: .*)\n")

#: The options that configure a catalog store.
KIND, PATH = "table.catalog-store.kind", "table.catalog-store.file.path"
IN_FILES = "table.catalog-store.file."


class FileCatalogStore(CatalogStore):
    """A directory of descriptors, created if necessary. Only its owner can read the files.

    Raises:
        SchemaError: `invalid-argument` for what is not a path, `invalid-option-value` for a
            path with a NUL character or a lone surrogate.
        ExternalError: from every method, `catalog-store-failed` for an I/O error, and
            `corrupt-entry` for a malformed file.
    """

    def __init__(self, path: str | Path) -> None:
        self._directory = Path(require_instance(path, (str, Path), "the path of a catalog store"))
        if _NOT_IN_PATHS.search(str(path)):
            raise SchemaError(
                f"invalid path of a catalog store: {show(str(path))}",
                code="invalid-option-value",
            )

    def open(self) -> None:
        with _failures(self._directory):
            self._directory.mkdir(parents=True, exist_ok=True)

    def store_catalog(self, catalog_name: str, catalog: CatalogDescriptor) -> None:
        """Store a new descriptor (`catalog-exists`).

        `invalid-name` for a name that is not a file name.
        """
        file = self._file(catalog_name)
        with _failures(file):
            _create(file, _content(catalog))

    def alter_catalog(self, catalog_name: str, catalog: CatalogDescriptor) -> None:
        """Replace a descriptor atomically."""
        file = self._file(catalog_name)
        with _failures(file):
            if not file.exists():
                self.remove_catalog(catalog_name, ignore_if_not_exists=False)
            with _draft(file, _content(catalog)) as draft:
                draft.replace(file)

    def remove_catalog(self, catalog_name: str, ignore_if_not_exists: bool) -> None:
        file = self._file(catalog_name)
        with _failures(file):
            try:
                file.unlink()
            except FileNotFoundError:
                if ignore_if_not_exists:
                    return
                raise NotFoundError(
                    f"there is no catalog {catalog_name!r}",
                    code="catalog-not-found",
                    hint=similar(catalog_name, self.list_catalogs()),
                ) from None

    def get_catalog(self, catalog_name: str) -> CatalogDescriptor | None:
        if not _can_be_a_file(catalog_name):
            return None
        file = self._file(catalog_name)
        with _failures(file):
            try:
                text = file.read_bytes().decode()
            except FileNotFoundError:
                return None
            except UnicodeDecodeError:
                raise _malformed_file(file, "it is not UTF-8") from None
        try:
            head = COMMENT.match(text)
            comment = flat_yaml.read(head[1])["comment"] if head else None
            return CatalogDescriptor(catalog_name, flat_yaml.read(text), comment)
        except ParseError as error:
            place = f" (line {error.diagnostics[0].line})" if error.span else ""
            raise _malformed_file(file, f"{error.problem}{place}") from None

    def list_catalogs(self) -> list[str]:
        with _failures(self._directory):
            names = [path.name for path in self._directory.iterdir() if path.is_file()]
        return sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))

    def _file(self, catalog_name: str) -> Path:
        if not _can_be_a_file(catalog_name):
            raise SchemaError(
                f"the catalog name {catalog_name!r} is not a file name",
                code="invalid-name",
            )
        return self._directory / f"{catalog_name}{SUFFIX}"


def catalog_store(configuration: Mapping[str, str]) -> CatalogStore:
    """Return the configured store, by default one in memory.

    Errors: `factory-not-found`; `unknown-option` for an unknown option, or
    without a required path.
    """
    kind = configuration.get(KIND, "generic_in_memory")
    if kind == "generic_in_memory":
        return InMemoryCatalogStore()
    if kind != "file":
        raise SchemaError(
            f"unknown kind of catalog store {kind!r}",
            code="factory-not-found",
            hint="use file or generic_in_memory",
        )
    given = {key for key in configuration if key.startswith(IN_FILES)}
    if unknown := sorted(given - {PATH}):
        raise SchemaError(
            f"unknown options of a file catalog store: {', '.join(unknown)}",
            code="unknown-option",
            hint=similar(unknown[0], [PATH]),
        )
    if PATH not in given:
        raise SchemaError(
            f"a file catalog store requires the option {PATH!r}",
            code="missing-option",
        )
    return FileCatalogStore(configuration[PATH])


# --- files ---------------------------------------------------------------------------------------


def _can_be_a_file(name: str) -> bool:
    """Return whether a name can be a file name; those of temporary files begin with a dot."""
    return not name.startswith(".") and not _NOT_IN_FILE_NAMES.search(name)


def _content(catalog: CatalogDescriptor) -> bytes:
    text = flat_yaml.write(catalog.configuration)
    if catalog.comment:
        text = f"# comment: {flat_yaml.quote(catalog.comment)}\n{text}"
    return text.encode()


def _create(file: Path, content: bytes) -> None:
    """Create a file atomically (`catalog-exists`)."""
    try:
        with _draft(file, content) as draft:
            os.link(draft, file)
    except FileExistsError:
        name = file.name.removesuffix(SUFFIX)
        raise AlreadyExistsError(
            f"there is already a catalog {name!r}", code="catalog-exists"
        ) from None


@contextmanager
def _draft(file: Path, content: bytes) -> Iterator[Path]:
    """Write the content to a temporary file in the same directory, removed at the end."""
    draft = file.with_name(f".{uuid.uuid4().hex}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        yield draft
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _failures(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ExternalError(
            f"the catalog store failed at {path}: {error.strerror or error}",
            code="catalog-store-failed",
        ) from error


def _malformed_file(file: Path, problem: str) -> ExternalError:
    return ExternalError(f"malformed catalog file {file}: {problem}", code="corrupt-entry")
