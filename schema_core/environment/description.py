"""What lies at a path, described for people: of what kind it is, what it hides, its columns."""

from __future__ import annotations

from dataclasses import dataclass

from schema_core.environment.session import Session
from schema_core.errors import NotFoundError
from schema_core.paths import ObjectIdentifier, UnresolvedPath
from schema_core.schema.resolved import ResolvedSchema


@dataclass(frozen=True, slots=True)
class Description:
    """An object at a path; `hides` is the kind of the one beneath it, if there is one."""

    path: str
    kind: str
    is_temporary: bool
    hides: str | None = None
    schema: ResolvedSchema | None = None

    def __str__(self) -> str:
        temporary = "temporary " if self.is_temporary else ""
        hidden = f", which hides a {self.hides}" if self.hides else ""
        lines = [f"{temporary}{self.kind} {self.path}{hidden}"]
        return "\n".join([*lines, *([str(self.schema)] if self.schema is not None else [])])


def describe(session: Session, path: UnresolvedPath) -> Description:
    """What a path means: a table or view, else a model, a type or a function.

    Raises:
        NotFoundError: with code `table-not-found` where nothing lies there.
    """
    identifier = session.registry.qualify(path)
    hidden = {(one.path, one.by): one.what for one in session.shadowing.hidden()}
    shown = identifier.as_summary_string()
    if found := session.tables.find(identifier):
        kind = found.kind.value.replace("_", " ").lower()
        schema = found.table.resolved_schema
        return Description(
            shown, kind, found.is_temporary, hidden.get((shown, f"temporary {kind}")), schema
        )
    if session.models.find(identifier):
        temporary = session.models.is_temporary(identifier)
        return Description(shown, "model", temporary, hidden.get((shown, "temporary model")))
    if session.types.find(identifier):
        temporary = identifier in session.temporary.types
        return Description(shown, "type", temporary, hidden.get((shown, "temporary type")))
    if function := _function(session, path, hidden):
        return function
    raise _nothing(session, identifier)


def _function(
    session: Session, path: UnresolvedPath, hidden: dict[tuple[str, str], str]
) -> Description | None:
    found = session.functions.find(path)
    if found is None:
        return None
    shown = ".".join(found.path)
    temporary = found.place.value.startswith("temporary")
    kind = found.place.value.removeprefix("temporary ")
    return Description(shown, kind, temporary, hidden.get((shown, found.place.value)))


def _nothing(session: Session, identifier: ObjectIdentifier) -> NotFoundError:
    try:
        session.tables.get(identifier)
    except NotFoundError as error:
        return error
    return NotFoundError(f"nothing lies at {identifier.as_summary_string()}")
