"""Conditions and blocks of T-SQL under which the statements of a script run."""

from __future__ import annotations

from schema_core.base.cursor import Cursor
from schema_core.mappings.dialects.script_definitions import ScriptDefinitions


def follow_blocks(cursor: Cursor, script: ScriptDefinitions) -> bool:
    """Follow the blocks of conditions and of TRY; return whether nothing else follows."""
    place, opens = 0, False
    while (key := cursor.peek(place).key) in {"BEGIN", "END", "ELSE", "TRY", "CATCH"}:
        following = cursor.peek(place + 1).key
        if key == "ELSE" or (key == "BEGIN" and following in {"TRY", "CATCH"}):
            script.condition = ()
        if key == "BEGIN" and not following.startswith(("TRAN", "DISTRIBUTED")):
            script.blocks += script.condition is not None
        if key == "END":
            script.blocks = max(0, script.blocks - 1)
        if key not in {"TRY", "CATCH"}:
            opens = key != "END"
        place += 1
    return opens and cursor.token.kind != "end" and cursor.peek(place).kind == "end"


def close_blocks(cursor: Cursor, script: ScriptDefinitions, index: int) -> None:
    """Leave the blocks that end within a statement; outside of blocks, its condition ends."""
    tokens = cursor.tokens[index : cursor.index]
    keys = [token.key for token in tokens]
    if keys[0] in {"BEGIN", "ELSE", "IF"}:
        script.blocks = max(0, script.blocks - max(0, keys.count("END") - keys.count("CASE")))
    if not script.blocks and (keys[0] != "IF" or "BEGIN" in keys):
        script.condition = None


#: Names in conditions that test whether a table exists.
EXISTENCE = frozenset({"OBJECT_ID", "SYSOBJECTS", "OBJECTS", "TABLES", "SCHEMAS", "SCHEMA_ID"})


def is_executed(script: ScriptDefinitions, name: str) -> bool:
    """Return whether a DROP has no condition, or only that what it drops exists."""
    if script.condition is None:
        return True
    keys = [token.value.upper() for token in script.condition]
    outer, depth = [], 0
    for key in keys:
        depth += (key == "(") - (key == ")")
        if depth == 0:
            outer.append(key)
    names = {
        part.strip('[]" ').casefold()
        for token in script.condition
        if token.kind == "string"
        for part in token.value.split(".")
    }
    is_negated = "IS NULL" in " ".join(outer) or outer[:1] == ["NOT"]
    return (
        not EXISTENCE.isdisjoint(keys)
        and name.casefold() in names
        and not is_negated
        and not {"AND", "OR"} & set(outer)
    )
