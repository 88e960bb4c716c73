"""Plan files: a compiled INSERT, statement set or CREATE TABLE AS as JSON, for a job elsewhere.

A plan holds all that a job depends on besides the data (FLIP-218, "Catalog serialization",
option 2). It has no pickled object and names no class. Secrets are references, whose values
the environment variables ``SCHEMA_CORE_SECRET_<NAME>`` have where the plan runs.
"""

from __future__ import annotations

import os
import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field
from itertools import count
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias
from urllib.parse import unquote, urlsplit

from schema_core.base.arguments import require_instance
from schema_core.base.json_codec import (
    STRING,
    Codec,
    Codecs,
    DocumentFormat,
    optional,
    record,
    require_object,
    sequence,
    tuple_of,
    union_codec,
)
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier
from schema_core.base.secrets import HIDDEN, mask_value
from schema_core.errors import (
    AlreadyExistsError,
    ExternalError,
    NotFoundError,
    SchemaError,
    UnsupportedError,
    at,
)

#: The longest plan that is read, in characters.
MAX_PLAN: Final = 64_000_000


# --- content -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SecretReference:
    """A reference in place of a value that is or contains a secret.

    `masked` is the value without its secret, such as a URL without its password; only it is
    compared.
    """

    name: str = field(compare=False)
    masked: str | None = None

    @property
    def variable(self) -> str:
        """The environment variable with the value.

        >>> SecretReference("shop.password").variable
        'SCHEMA_CORE_SECRET_SHOP_PASSWORD'
        """
        return "SCHEMA_CORE_SECRET_" + re.sub(r"[^A-Za-z0-9]", "_", self.name).upper()


#: Options or a property map, without secrets.
PlanOptions: TypeAlias = Mapping[str, str | SecretReference]

#: The values of secrets by their environment variables.
Secrets: TypeAlias = dict[str, str]


@dataclass(frozen=True, slots=True)
class PlanCatalog:
    """A catalog that is opened from its options."""

    options: PlanOptions
    comment: str | None


@dataclass(frozen=True, slots=True)
class PlanTable:
    """A table that a plan names."""

    path: ObjectIdentifier
    temporary: bool
    properties: PlanOptions


@dataclass(frozen=True, slots=True)
class PlanView(PlanTable):
    """A view that a plan names."""

    original_query: str
    expanded_query: str


@dataclass(frozen=True, slots=True)
class PlanInsert:
    """A job that writes a query into a table."""

    sink: ObjectIdentifier
    query: str
    columns: tuple[str, ...]
    partition: tuple[tuple[str, str | None], ...] | None
    overwrite: bool
    hints: PlanOptions
    on_conflict: str | None = None


@dataclass(frozen=True, slots=True)
class PlanCreation:
    """A job that creates a table from a query, at a level of guarantee."""

    sink: ObjectIdentifier
    query: str
    properties: PlanOptions
    level: int
    if_not_exists: bool
    or_replace: bool
    create: bool


@dataclass(frozen=True, slots=True)
class PlanDocument:
    """The content of a plan; `current` are the current catalog and database.

    `secrets` are the values where it was compiled in this process.
    """

    current: tuple[str | None, str | None]
    options: PlanOptions
    catalogs: Mapping[str, PlanCatalog]
    objects: tuple[PlanTable, ...]
    jobs: tuple[PlanInsert | PlanCreation, ...]
    hooks: tuple[str, ...]
    secrets: Secrets = field(default_factory=dict, repr=False, compare=False)

    def to_json(self) -> str:
        """Return the plan as JSON, with its digest."""
        return PLAN_FORMAT.write(self)

    @staticmethod
    def from_json(text: str) -> PlanDocument:
        """Read a plan (`invalid-plan`, `version-not-supported`)."""
        plan: PlanDocument = PLAN_FORMAT.read(text)
        return plan

    def variables(self) -> list[str]:
        """Return the environment variables that the plan needs elsewhere, sorted."""
        parts = [
            self.options,
            *(catalog.options for catalog in self.catalogs.values()),
            *(table.properties for table in self.objects),
            *(job.hints if isinstance(job, PlanInsert) else job.properties for job in self.jobs),
        ]
        return sorted(
            {reference.variable for options in parts for reference in _references(options)}
        )

    def reveal(self, options: PlanOptions) -> dict[str, str]:
        """Return options with secrets in place of references (`variable-not-found`)."""
        values = {**os.environ, **self.secrets}
        missing = {reference.variable for reference in _references(options)} - values.keys()
        if missing:
            raise NotFoundError(
                f"the plan requires the environment variables {', '.join(sorted(missing))}",
                code="variable-not-found",
                hint="set them to the secrets of the tables",
            )
        return {
            key: value if isinstance(value, str) else values[value.variable]
            for key, value in options.items()
        }


def _references(options: PlanOptions) -> Iterator[SecretReference]:
    return (value for value in options.values() if isinstance(value, SecretReference))


def replace_secrets(
    options: Mapping[str, str],
    owner: str,
    declared: AbstractSet[str] = frozenset(),
    secrets: Secrets | None = None,
) -> dict[str, str | SecretReference]:
    """Return options with a reference in place of each value that is or contains a secret.

    `owner` begins the names of the secrets; `declared` are keys that are declared secret, in lower
    case. `secrets` receives the values, each with its own variable: a table and a hint may set the
    same option.

    >>> secrets = {}
    >>> replace_secrets({"user": "ann", "password": "hunter2"}, "shop", secrets=secrets)
    {'user': 'ann', 'password': SecretReference(name='shop.password', masked=None)}
    >>> replace_secrets({"password": "other"}, "shop", secrets=secrets)["password"].name
    'shop.password-2'
    >>> replace_secrets({"url": "https://ann:hunter2@host/"}, "shop")["url"].masked
    'https://ann:******@host/'
    """
    result: dict[str, str | SecretReference] = {}
    secrets = {} if secrets is None else secrets
    for key, value in options.items():
        masked = mask_value(key, value, declared)
        if masked == value and value != HIDDEN:
            result[key] = value
            continue
        names = (f"{owner}.{key}" + (f"-{number}" if number > 1 else "") for number in count(1))
        references = (SecretReference(name, None if masked == HIDDEN else masked) for name in names)
        result[key] = next(
            reference
            for reference in references
            if secrets.setdefault(reference.variable, value) == value
        )
    return result


# --- JSON ----------------------------------------------------------------------------------------


def _encode_option(value: str | SecretReference) -> Any:
    if isinstance(value, str):
        return value
    return {"$secret": value.name} | ({} if value.masked is None else {"masked": value.masked})


def _decode_option(document: Any) -> str | SecretReference:
    if not isinstance(document, dict):
        value: str = STRING.decode(document)
        return value
    members = require_object({"masked": None, **document}, ("$secret", "masked"))
    name, masked = STRING.decode(members["$secret"]), optional(STRING).decode(members["masked"])
    return SecretReference(name, masked)


#: Class -> its fields that older plans do not have.
ADDED: Final[Mapping[type, tuple[str, ...]]] = {PlanInsert: ("on_conflict",)}
_PATH: Final = tuple_of(STRING, STRING, STRING)
_CODECS: Final = Codecs(
    {
        "str | SecretReference": Codec(_encode_option, _decode_option),
        "ObjectIdentifier": Codec(
            lambda path: _PATH.encode(path.to_list()),
            lambda names: ObjectIdentifier(*_PATH.decode(names)),
        ),
        "tuple[str | None, str | None]": tuple_of(optional(STRING), optional(STRING)),
        "tuple[tuple[str, str | None], ...]": sequence(tuple_of(STRING, optional(STRING))),
    }
)
_CODECS.update({"PlanOptions": _CODECS["Mapping[str, str | SecretReference]"]})
_CODECS.update({"PlanCatalog": record(PlanCatalog, _CODECS)})


def _codec_by_class(classes: Mapping[str, type]) -> Codec:
    kinds = {class_: kind for kind, class_ in classes.items()}
    codecs = {
        kind: record(class_, _CODECS, added=ADDED.get(class_, ()))
        for kind, class_ in classes.items()
    }
    return union_codec("kind", codecs, lambda value: kinds[type(value)])


_CODECS.update(
    {
        "PlanTable": _codec_by_class({"TABLE": PlanTable, "VIEW": PlanView}),
        "tuple[PlanInsert | PlanCreation, ...]": sequence(
            _codec_by_class({"insert": PlanInsert, "create": PlanCreation}), least=1
        ),
    }
)

PLAN_FORMAT: Final = DocumentFormat(
    "schema-core.plan",
    1,
    MAX_PLAN,
    record(
        PlanDocument,
        _CODECS,
        {key: key for key in ("current", "options", "catalogs", "objects", "jobs", "hooks")},
    ),
    "compile the statement again with this version of schema_core, which reads no plans of Flink",
    code="invalid-plan",
)


# --- files ---------------------------------------------------------------------------------------


def no_smile(name: str, hint: str) -> UnsupportedError:
    """Return the error for plans in Smile, Flink's binary form of JSON (`needs-flink`)."""
    return UnsupportedError(
        f"`{name}` is not available: plans are JSON", code="needs-flink", hint=hint
    )


class PlanReference(ABC):
    """Where a plan is: a file, or a string of JSON, as in PyFlink."""

    __slots__ = ()

    @staticmethod
    def from_file(path: str | os.PathLike[str]) -> FilePlanReference:
        """Return a reference to a plan file, which is read when the plan is loaded.

        Raises:
            SchemaError: with code `invalid-argument` for anything but the path of a local file.
        """
        return FilePlanReference(plan_path(path))

    @staticmethod
    def from_json_string(json_string: str) -> JsonContentPlanReference:
        """Return a reference to a plan in JSON.

        Raises:
            SchemaError: with code `invalid-argument` for anything but a string.
        """
        return JsonContentPlanReference(require_instance(json_string, str, "json_string"))

    @staticmethod
    def from_smile_bytes(smile_bytes: bytes) -> NoReturn:  # noqa: ARG004 - PyFlink's parameter
        """Raise `needs-flink`: plans are JSON.

        Raises:
            UnsupportedError: with code `needs-flink`.
        """
        raise no_smile("PlanReference.from_smile_bytes", "use PlanReference.from_json_string")

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the plan in messages."""

    @abstractmethod
    def read(self) -> str:
        """Return the plan as JSON; raises as `read_plan_file`."""

    def load(self) -> PlanDocument:
        """Read the plan; raises as `read_plan_file` and `PlanDocument.from_json`."""
        with at(self.name):
            return PlanDocument.from_json(self.read())

    def __repr__(self) -> str:
        return f"PlanReference({self.name})"


@dataclass(frozen=True, slots=True, repr=False)
class FilePlanReference(PlanReference):
    """A reference to a plan file."""

    file: Path

    def get_file(self) -> str:
        """Return the path of the file."""
        return str(self.file)

    @property
    def name(self) -> str:
        return f"plan file {str(self.file)!r}"

    def read(self) -> str:
        return read_plan_file(self.file)


@dataclass(frozen=True, slots=True, repr=False)
class JsonContentPlanReference(PlanReference):
    """A reference to a plan in JSON."""

    content: str

    def get_content(self) -> str:
        """Return the plan as JSON."""
        return self.content

    @property
    def name(self) -> str:
        return "the plan"

    def read(self) -> str:
        return self.content


def plan_path(given: str | os.PathLike[str]) -> Path:
    """Return the local file of a path or a URI of the scheme ``file`` (`invalid-argument`)."""
    require_instance(given, (str, os.PathLike), "path", "a path")
    path = os.fspath(given)
    require_instance(path, str, "path")
    parts = urlsplit(path)
    if path and parts.scheme == "file" and parts.netloc in ("", "localhost"):
        path = unquote(parts.path)
    elif "://" in path:
        raise SchemaError(
            f"a plan is in a local file, got {path!r}",
            code="invalid-argument",
            hint="copy the file, or load the plan with PlanReference.from_json_string",
        )
    if not path:
        raise SchemaError("the path of a plan is empty", code="invalid-argument")
    return Path(path)


def read_plan_file(path: Path) -> str:
    """Return the content of a plan file (`file-not-found`, `file-system-failed`)."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(MAX_PLAN + 1)
    except FileNotFoundError as error:
        raise NotFoundError(
            f"there is no plan file {str(path)!r}", code="file-not-found"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        problem = f"cannot read the plan file {str(path)!r}: {error}"
        raise ExternalError(problem, code="file-system-failed") from error


def write_plan_file(path: Path, content: str, *, replace: bool) -> None:
    """Write a plan file in one step (`already-exists` unless `replace`, `file-system-failed`).

    The directories of its path are created, as in Flink.
    """
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_text(content, encoding="utf-8")
            if replace:
                draft.replace(path)
            else:
                os.link(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    except FileExistsError as error:
        raise AlreadyExistsError(
            f"there is already a plan file {str(path)!r}",
            code="already-exists",
            hint="write IF NOT EXISTS, remove the file, or SET 'table.plan.force-recompile' = "
            "'true'",
        ) from error
    except OSError as error:
        problem = f"cannot write the plan file {str(path)!r}: {error}"
        raise ExternalError(problem, code="file-system-failed") from error
