"""What creating, dropping and altering do, by the objects that exist at the path: rules as tables.

FLIP-64: a permanent object and a temporary one may share a path. A method never drops a permanent
object that a temporary one hides; a SQL statement only looks at temporary objects of the kind that
it names, as Flink 2.3 does. Each cell is the outcome without and with the clause IF NOT EXISTS
(creating) or IF EXISTS (dropping, altering).
"""

from __future__ import annotations

from enum import Enum

from schema_core.errors import AlreadyExistsError, NotFoundError, SchemaError
from schema_core.paths import ObjectIdentifier


class Outcome(Enum):
    """What happens."""

    DONE = "it is done"
    NOTHING = "nothing is done, and nobody complains"
    EXISTS = "refused: there is one already"
    MISSING = "refused: there is none"
    HIDDEN = "refused: a temporary one hides it"


class There(Enum):
    """What lies at a path, seen from the kind of object that a statement names."""

    NONE = "nothing"
    SAME = "an object of that kind"
    OTHER = "an object of another kind"

    @staticmethod
    def of(wanted: object, found: object | None) -> There:
        """How the kind that was found compares to the one that is wanted."""
        if found is None:
            return There.NONE
        return There.SAME if found is wanted else There.OTHER


_DONE = (Outcome.DONE, Outcome.DONE)
_HIDDEN = (Outcome.HIDDEN, Outcome.HIDDEN)
_MISSING = (Outcome.MISSING, Outcome.NOTHING)
_EXISTS = (Outcome.EXISTS, Outcome.NOTHING)

Cell = tuple[Outcome, Outcome]

# fmt: off
#: a permanent object there -> creating a permanent one; temporary ones do not matter
CREATE_PERMANENT: dict[There, Cell] = {
    There.NONE:  _DONE,
    There.SAME:  _EXISTS,
    There.OTHER: _EXISTS,
}

#: a temporary object there -> creating a temporary one; permanent ones do not matter
CREATE_TEMPORARY: dict[There, Cell] = {
    There.NONE:  _DONE,
    There.SAME:  _EXISTS,
    There.OTHER: _EXISTS,
}

#: a temporary object there -> dropping a temporary one; permanent ones do not matter
DROP_TEMPORARY: dict[There, Cell] = {
    There.NONE:  _MISSING,
    There.SAME:  _DONE,
    There.OTHER: _MISSING,
}

#: temporary object, permanent object -> outcome of the statement DROP TABLE or DROP VIEW
DROP_PERMANENT: dict[tuple[There, There], Cell] = {
    (There.NONE,  There.NONE):  _MISSING,
    (There.NONE,  There.SAME):  _DONE,
    (There.NONE,  There.OTHER): _MISSING,
    (There.SAME,  There.NONE):  _HIDDEN,
    (There.SAME,  There.SAME):  _HIDDEN,
    (There.SAME,  There.OTHER): _HIDDEN,
    (There.OTHER, There.NONE):  _MISSING,
    (There.OTHER, There.SAME):  _DONE,
    (There.OTHER, There.OTHER): _MISSING,
}

#: whether a temporary object exists, permanent object -> outcome of `drop_table` or `drop_view`
DROP_BY_METHOD: dict[tuple[bool, There], Cell] = {
    (False, There.NONE):  _MISSING,
    (False, There.SAME):  _DONE,
    (False, There.OTHER): _MISSING,
    (True,  There.NONE):  _HIDDEN,
    (True,  There.SAME):  _HIDDEN,
    (True,  There.OTHER): _HIDDEN,
}

#: whether a temporary object is there, permanent object there -> altering the permanent one
ALTER: dict[tuple[bool, There], Cell] = {
    (False, There.NONE):  _MISSING,
    (False, There.SAME):  _DONE,
    (False, There.OTHER): (Outcome.MISSING, Outcome.MISSING),
    (True,  There.NONE):  _MISSING,
    (True,  There.SAME):  _MISSING,
    (True,  There.OTHER): _MISSING,
}
# fmt: on


def decide(
    cell: Cell,
    is_conditional: bool,
    what: str,
    identifier: ObjectIdentifier,
    hidden_by: str | None = None,
) -> bool:
    """Return whether to proceed, by the outcome of a cell.

    `is_conditional` is set by IF EXISTS and IF NOT EXISTS. `hidden_by` names the kind
    of the temporary object, if it may differ from `what`.

    Raises:
        AlreadyExistsError, NotFoundError, SchemaError: with the codes `table-exists`,
            `table-not-found` (or of the other kinds), and `hidden-by-temporary`.
    """
    outcome = cell[is_conditional]
    noun, path = what.replace(" ", "-"), identifier.as_summary_string()
    match outcome:
        case Outcome.DONE:
            return True
        case Outcome.NOTHING:
            return False
        case Outcome.EXISTS:
            raise AlreadyExistsError(
                f"there is already something called {path}", code=f"{noun}-exists"
            )
        case Outcome.MISSING:
            problem, names = f"there is no {what} {path}", identifier.to_list()
            raise NotFoundError(problem, code=f"{noun}-not-found").of(*names)
        case Outcome.HIDDEN:
            hider = f"temporary {hidden_by or what}"
            raise SchemaError(
                f"a {hider} hides {path}",
                code="hidden-by-temporary",
                hint=f"drop the {hider} first",
            )
