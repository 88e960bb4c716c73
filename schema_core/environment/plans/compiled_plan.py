"""Plan files: a compiled INSERT, statement set or CREATE TABLE AS as JSON, for a job elsewhere.

A plan holds all that a job depends on besides the data: the canonical query, the property maps of
the tables and views that it names, the descriptors of their catalogs, the options of the session,
the level of guarantee and the names of job status hooks (FLIP-218, "Catalog serialization", option
2). It contains no pickled object and names no class. Secrets are not in it: each is a reference by
name, whose value the environment variable ``SCHEMA_CORE_SECRET_<NAME>`` has where the plan runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field
from itertools import chain, count
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import unquote, urlsplit

from schema_core.base.arguments import require_instance
from schema_core.base.lazy_dataclass import dataclass
from schema_core.base.secrets import HIDDEN, masked_value
from schema_core.base.text import show
from schema_core.errors import (
    AlreadyExistsError,
    ExternalError,
    NotFoundError,
    SchemaError,
    UnsupportedError,
    at,
    similar,
)

FORMAT: Final = "schema-core.plan"
VERSION: Final = 1
#: The longest plan that is read, in characters.
MAX_PLAN: Final = 64_000_000
#: Prefix of the environment variables that hold secrets.
VARIABLE_PREFIX: Final = "SCHEMA_CORE_SECRET_"
#: The key of a reference to a secret.
REFERENCE: Final = "$secret"
#: The key of what a reference shows of its value: a URL without its password, by which two values
#: are compared.
MASKED: Final = "masked"

#: The values of secrets, by their names.
Secrets: TypeAlias = dict[str, str]

Check: TypeAlias = Callable[[Any], bool]


def _is_path(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and _are_strings(value)


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_current(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(one, str | None) for one in value)
    )


def _are_options(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(one, str) or _is_reference(one) for one in value.values()
    )


def _are_pairs(value: Any) -> bool:
    return value is None or (
        isinstance(value, list) and all(_are_strings(one) and len(one) == 2 for one in value)
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


#: The members of a catalog.
CATALOG: Final[Mapping[str, Check]] = {
    "options": _are_options,
    "comment": lambda value: value is None or _is_text(value),
}
_TABLE: Final[Mapping[str, Check]] = {
    "kind": _is_text,
    "path": _is_path,
    "temporary": _is_flag,
    "properties": _are_options,
}
#: Kind of object -> its members.
OBJECTS: Final[Mapping[str, Mapping[str, Check]]] = {
    "TABLE": _TABLE,
    "VIEW": {**_TABLE, "original_query": _is_text, "expanded_query": _is_text},
}
#: Kind of job -> its members.
JOBS: Final[Mapping[str, Mapping[str, Check]]] = {
    "insert": {
        "kind": _is_text,
        "sink": _is_path,
        "query": _is_text,
        "columns": _are_strings,
        "partition": _are_pairs,
        "overwrite": _is_flag,
        "hints": _are_options,
    },
    "create": {
        "kind": _is_text,
        "sink": _is_path,
        "query": _is_text,
        "properties": _are_options,
        "level": lambda value: type(value) is int and value in (1, 2, 3),
        "if_not_exists": _is_flag,
        "or_replace": _is_flag,
        "create": _is_flag,
    },
}
#: The members of a plan besides format, version and digest.
MEMBERS: Final[Mapping[str, Check]] = {
    "current": _is_current,
    "options": _are_options,
    "catalogs": lambda value: isinstance(value, dict),
    "objects": lambda value: isinstance(value, list),
    "jobs": lambda value: isinstance(value, list) and len(value) > 0,
    "hooks": _are_strings,
}


class PlanReference(ABC):
    """Where a plan is: a file, or a string of JSON, as in PyFlink."""

    __slots__ = ()

    @staticmethod
    def from_file(path: str | os.PathLike[str]) -> FilePlanReference:
        """Return a reference to a plan file; it is read when the plan is loaded.

        Raises:
            SchemaError: with code `wrong-argument` for what is not the path of a local file.
        """
        return FilePlanReference(plan_path(path))

    @staticmethod
    def from_json_string(json_string: str) -> JsonContentPlanReference:
        """Return a reference to a plan in JSON.

        Raises:
            SchemaError: with code `wrong-argument` for what is not a string.
        """
        return JsonContentPlanReference(require_instance(json_string, str, "json_string"))

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the plan in messages."""

    @abstractmethod
    def read(self) -> str:
        """Return the plan as JSON.

        Raises:
            SchemaCoreError: as `read_plan_file`.
        """

    def load(self) -> PlanDocument:
        """Read the plan.

        Raises:
            SchemaCoreError: as `read_plan_file` and `PlanDocument.from_json`.
        """
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


@dataclass(frozen=True, slots=True)
class PlanDocument:
    """The content of a plan.

    Attributes:
        members: The members that `MEMBERS` lists.
        secrets: The values of secrets by name, where the plan was compiled in this process.
    """

    members: Mapping[str, Any] = field(repr=False)
    secrets: Secrets = field(default_factory=dict, repr=False, compare=False)

    def to_json(self) -> str:
        """Return the plan as JSON, with its digest."""
        content = {"format": FORMAT, "version": VERSION, **self.members}
        return json.dumps({**content, "digest": _digest(content)}, indent=2, ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> PlanDocument:
        """Read a plan.

        Raises:
            SchemaError: with code `invalid-plan` for what is not a plan of this library,
                `unsupported-plan-version` for one of a later version, `plan-digest-mismatch` for
                one that was changed.
        """
        content = parse_plan(text, MAX_PLAN)
        if content.get("format") != FORMAT:
            raise SchemaError(
                f"expected a plan with format {FORMAT!r}, got {show(content.get('format'))}",
                code="invalid-plan",
                hint="compile the statement with this library: plans of Flink are not supported",
            )
        version = content.get("version")
        if type(version) is not int or version != VERSION:
            raise SchemaError(
                f"plan version must be {VERSION}, got {show(version)}",
                code="unsupported-plan-version" if type(version) is int else "invalid-plan",
                hint="use the version of schema_core that compiled the plan, or compile it again",
            )
        digest = content.pop("digest", None)
        if digest != _digest(content):
            raise SchemaError(
                "digest mismatch: the plan was modified after it was compiled",
                code="plan-digest-mismatch",
                hint="compile the statement again instead of editing the plan",
            )
        members = {key: one for key, one in content.items() if key not in ("format", "version")}
        _check(members, MEMBERS, "plan")
        for name, one in members["catalogs"].items():
            _check(one, CATALOG, f"catalog {name!r} of the plan")
        for members_of, kind in ((OBJECTS, "objects"), (JOBS, "jobs")):
            for one in members[kind]:
                _check(one, _members_of_kind(one, members_of), kind)
        return PlanDocument(members)

    @property
    def catalogs(self) -> Mapping[str, Any]:
        """The catalogs that are opened from their descriptors, by name."""
        found: Mapping[str, Any] = self.members["catalogs"]
        return found

    def variables(self) -> list[str]:
        """Return the environment variables that the plan needs elsewhere, sorted."""
        return sorted({variable_of(reference) for reference in _references(self.members)})

    def check_names(self) -> None:
        """Check that each environment variable holds one secret.

        Raises:
            UnsupportedError: with code `plan-not-portable`.
        """
        values: dict[str, str] = {}
        for name, value in self.secrets.items():
            if values.setdefault(variable_of(name), value) != value:
                raise UnsupportedError(
                    f"two secrets of the plan would be in the variable {variable_of(name)}",
                    code="plan-not-portable",
                    hint="rename one of the catalogs, tables or options",
                )

    def valued(self, part: Any) -> Any:
        """Return a part of the plan with the values of secrets in place of references.

        Raises:
            NotFoundError: with code `missing-secret`, for all variables of it that are not set.
        """
        values = dict(self.secrets)
        missing = []
        for name in _references(part):
            if name not in values and (value := os.environ.get(variable_of(name))) is not None:
                values[name] = value
            elif name not in values:
                missing.append(variable_of(name))
        if missing:
            raise NotFoundError(
                f"the plan requires the environment variables {', '.join(sorted(missing))}",
                code="missing-secret",
                hint="set them to the secrets of the tables",
            )
        return _replaced(part, values)


def parse_plan(text: str, limit: int) -> dict[str, Any]:
    """Return the object of JSON that a compiled plan or a migration plan is.

    Raises:
        SchemaError: with code `invalid-plan` for other text, and for more characters than `limit`.
    """
    if len(text) > limit:
        raise SchemaError(
            f"a plan of {len(text):,} characters exceeds the maximum of {limit:,}",
            code="invalid-plan",
        )
    try:
        content: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"the plan is not JSON: {error}", code="invalid-plan") from error
    if not isinstance(content, dict):
        raise SchemaError("the plan is not a JSON object", code="invalid-plan")
    return content


def _check(given: object, known: Mapping[str, Check], place: str) -> None:
    """Raise for members that are missing, unknown or of another form."""
    with at(place):
        if not isinstance(given, dict):
            raise SchemaError(f"expected an object, got {show(given)}", code="invalid-plan")
        wrong = {key for key in known.keys() & given.keys() if not known[key](given[key])}
        unknown, missing = given.keys() - known.keys(), known.keys() - given.keys()
        for problem, names in (("unknown", unknown), ("missing", missing), ("invalid", wrong)):
            if names:
                raise SchemaError(
                    f"{problem} members: {', '.join(sorted(names))}", code="invalid-plan"
                )


def _members_of_kind(
    given: object, known: Mapping[str, Mapping[str, Check]]
) -> Mapping[str, Check]:
    """Return the members of an object of a plan by its kind; without a kind, those of the first."""
    kind = given.get("kind") if isinstance(given, dict) else None
    if isinstance(kind, str) and kind not in known:
        raise SchemaError(f"unknown kind {kind!r}", code="invalid-plan", hint=similar(kind, known))
    return known[kind] if isinstance(kind, str) else next(iter(known.values()))


def _digest(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"


# --- secrets -------------------------------------------------------------------------------------


def referenced(
    options: Mapping[str, str],
    owner: str,
    declared: AbstractSet[str] = frozenset(),
    secrets: Secrets | None = None,
) -> dict[str, Any]:
    """Return options with a reference in place of each value that is or contains a secret.

    The reference to a value that only contains a secret has the masked value, too.

    Args:
        options: The options of a table, a catalog or the session.
        owner: What they belong to, a part of the names of the secrets.
        declared: Keys that are declared secret, in lower case.
        secrets: Receives the values of the secrets.

    >>> referenced({"user": "ann", "password": "hunter2"}, "shop")
    {'user': 'ann', 'password': {'$secret': 'shop.password'}}
    >>> referenced({"url": "https://ann:hunter2@host/"}, "shop")
    {'url': {'$secret': 'shop.url', 'masked': 'https://ann:******@host/'}}
    """
    found: dict[str, Any] = {}
    for key, value in options.items():
        shown = masked_value(key, value, declared)
        if shown == value and value != HIDDEN:
            found[key] = value
            continue
        name = name_of_secret(f"{owner}.{key}", value, secrets or {})
        found[key] = {REFERENCE: name} | ({} if shown == HIDDEN else {MASKED: shown})
        if secrets is not None:
            secrets[name] = value
    return found


def name_of_secret(name: str, value: str, secrets: Secrets) -> str:
    """Return a name that no other value has: the table and a hint may set the same option.

    >>> name_of_secret("t.password", "a", {"t.password": "b"})
    't.password-2'
    """
    numbered = (f"{name}-{number}" for number in count(2))
    return next(one for one in chain([name], numbered) if secrets.get(one, value) == value)


def variable_of(secret: str) -> str:
    """Return the environment variable of a secret.

    >>> variable_of("shop.password")
    'SCHEMA_CORE_SECRET_SHOP_PASSWORD'
    """
    return VARIABLE_PREFIX + re.sub(r"[^A-Za-z0-9]", "_", secret).upper()


def _is_reference(value: object) -> bool:
    return (
        isinstance(value, dict)
        and REFERENCE in value
        and value.keys() <= {REFERENCE, MASKED}
        and all(isinstance(one, str) for one in value.values())
    )


def _references(value: object) -> Iterator[str]:
    rest = [value]
    while rest:
        one = rest.pop()
        if isinstance(one, dict):
            if _is_reference(one):
                yield one[REFERENCE]
            else:
                rest += one.values()
        elif isinstance(one, list):
            rest += one


def _replaced(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        if _is_reference(value):
            return known[value[REFERENCE]]
        return {key: _replaced(one, known) for key, one in value.items()}
    if isinstance(value, list):
        return [_replaced(one, known) for one in value]
    return value


# --- files ---------------------------------------------------------------------------------------


def plan_path(given: str | os.PathLike[str]) -> Path:
    """Return the local file that a path or a URI of the scheme ``file`` names.

    Raises:
        SchemaError: with code `wrong-argument` for an empty path, another scheme, or an object that
            is not a path.
    """
    require_instance(given, (str, os.PathLike), "path", "a path")
    path = os.fspath(given)
    require_instance(path, str, "path")
    parts = urlsplit(path)
    if path and parts.scheme == "file" and parts.netloc in ("", "localhost"):
        path = unquote(parts.path)
    elif "://" in path:
        raise SchemaError(
            f"a plan is in a local file, got {path!r}",
            code="wrong-argument",
            hint="copy the file, or load the plan with PlanReference.from_json_string",
        )
    if not path:
        raise SchemaError("the path of a plan is empty", code="wrong-argument")
    return Path(path)


def read_plan_file(path: Path) -> str:
    """Return the content of a plan file.

    Raises:
        NotFoundError: with code `plan-not-found`.
        ExternalError: with code `file-system-failed`.
    """
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(MAX_PLAN + 1)
    except FileNotFoundError as error:
        raise NotFoundError(
            f"there is no plan file {str(path)!r}", code="plan-not-found"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        problem = f"cannot read the plan file {str(path)!r}: {error}"
        raise ExternalError(problem, code="file-system-failed") from error


def write_plan_file(path: Path, content: str, *, replace: bool) -> None:
    """Write a plan file in one step; the directories of its path are created, as in Flink.

    Raises:
        AlreadyExistsError: with code `plan-exists`, unless it is to be replaced.
        ExternalError: with code `file-system-failed`.
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
            code="plan-exists",
            hint="write IF NOT EXISTS, remove the file, or SET 'table.plan.force-recompile' = "
            "'true'",
        ) from error
    except OSError as error:
        problem = f"cannot write the plan file {str(path)!r}: {error}"
        raise ExternalError(problem, code="file-system-failed") from error
