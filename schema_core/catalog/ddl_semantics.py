"""Tables of the rules of CREATE, DROP and ALTER, by the objects that exist at the path.

FLIP-64: a permanent and a temporary object may share a path. A method never drops a permanent
object that a temporary one hides; a statement considers only temporary objects of its kind, as in
Flink 2.3. Each cell is the action without and with IF [NOT] EXISTS.
"""

from __future__ import annotations

from enum import Enum

from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog.stores.object_store import missing
from schema_core.errors import AlreadyExistsError, SchemaError


class Action(Enum):
    """What a statement does."""

    PROCEED = "proceed"
    IGNORE = "do nothing"
    RAISE_EXISTS = "raise: the object exists"
    RAISE_MISSING = "raise: the object does not exist"
    RAISE_HIDDEN = "raise: a temporary object hides it"


class ExistingObject(Enum):
    """What exists at a path, compared to the kind that a statement names."""

    NONE = "no object"
    SAME = "an object of that kind"
    OTHER = "an object of another kind"

    @staticmethod
    def of(wanted: object, found: object | None) -> ExistingObject:
        if found is None:
            return ExistingObject.NONE
        return ExistingObject.SAME if found is wanted else ExistingObject.OTHER


_PROCEED = (Action.PROCEED, Action.PROCEED)
_HIDDEN = (Action.RAISE_HIDDEN, Action.RAISE_HIDDEN)
_MISSING = (Action.RAISE_MISSING, Action.IGNORE)
_EXISTS = (Action.RAISE_EXISTS, Action.IGNORE)

Cell = tuple[Action, Action]

# fmt: off
#: permanent object -> CREATE of a permanent one; temporary objects do not matter
CREATE_PERMANENT: dict[ExistingObject, Cell] = {
    ExistingObject.NONE:  _PROCEED,
    ExistingObject.SAME:  _EXISTS,
    ExistingObject.OTHER: _EXISTS,
}

#: temporary object -> CREATE of a temporary one; permanent objects do not matter
CREATE_TEMPORARY: dict[ExistingObject, Cell] = {
    ExistingObject.NONE:  _PROCEED,
    ExistingObject.SAME:  _EXISTS,
    ExistingObject.OTHER: _EXISTS,
}

#: temporary object -> DROP of a temporary one; permanent objects do not matter
DROP_TEMPORARY: dict[ExistingObject, Cell] = {
    ExistingObject.NONE:  _MISSING,
    ExistingObject.SAME:  _PROCEED,
    ExistingObject.OTHER: _MISSING,
}

#: temporary object, permanent object -> statement DROP TABLE or DROP VIEW
DROP_PERMANENT: dict[tuple[ExistingObject, ExistingObject], Cell] = {
    (ExistingObject.NONE,  ExistingObject.NONE):  _MISSING,
    (ExistingObject.NONE,  ExistingObject.SAME):  _PROCEED,
    (ExistingObject.NONE,  ExistingObject.OTHER): _MISSING,
    (ExistingObject.SAME,  ExistingObject.NONE):  _HIDDEN,
    (ExistingObject.SAME,  ExistingObject.SAME):  _HIDDEN,
    (ExistingObject.SAME,  ExistingObject.OTHER): _HIDDEN,
    (ExistingObject.OTHER, ExistingObject.NONE):  _MISSING,
    (ExistingObject.OTHER, ExistingObject.SAME):  _PROCEED,
    (ExistingObject.OTHER, ExistingObject.OTHER): _MISSING,
}

#: whether a temporary object exists, permanent object -> method `drop_table` or `drop_view`
DROP_BY_METHOD: dict[tuple[bool, ExistingObject], Cell] = {
    (False, ExistingObject.NONE):  _MISSING,
    (False, ExistingObject.SAME):  _PROCEED,
    (False, ExistingObject.OTHER): _MISSING,
    (True,  ExistingObject.NONE):  _HIDDEN,
    (True,  ExistingObject.SAME):  _HIDDEN,
    (True,  ExistingObject.OTHER): _HIDDEN,
}

#: whether a temporary object exists, permanent object -> ALTER of the permanent one
ALTER: dict[tuple[bool, ExistingObject], Cell] = {
    (False, ExistingObject.NONE):  _MISSING,
    (False, ExistingObject.SAME):  _PROCEED,
    (False, ExistingObject.OTHER): (Action.RAISE_MISSING, Action.RAISE_MISSING),
    (True,  ExistingObject.NONE):  _MISSING,
    (True,  ExistingObject.SAME):  _MISSING,
    (True,  ExistingObject.OTHER): _MISSING,
}
# fmt: on


def decide(
    cell: Cell,
    is_conditional: bool,
    what: str,
    identifier: ObjectIdentifier,
    hidden_by: str | None = None,
) -> bool:
    """Return whether to proceed, by the action of a cell.

    `is_conditional` is set by IF EXISTS and IF NOT EXISTS. `hidden_by` is the kind of the temporary
    object, if it may differ from `what`. Errors: `table-exists`, `table-not-found`,
    `hidden-by-temporary`.
    """
    action = cell[is_conditional]
    path = identifier.as_summary_string()
    match action:
        case Action.PROCEED:
            return True
        case Action.IGNORE:
            return False
        case Action.RAISE_EXISTS:
            raise AlreadyExistsError(f"there is already an object {path!r}", code="table-exists")
        case Action.RAISE_MISSING:
            raise missing(what, path).of(*identifier.to_list())
        case Action.RAISE_HIDDEN:
            hider = f"temporary {hidden_by or what}"
            raise SchemaError(
                f"a {hider} hides {path!r}",
                code="hidden-by-temporary",
                hint=f"drop the {hider} first",
            )
