"""The public names are recorded: they change on purpose or not at all."""

from __future__ import annotations

from pathlib import Path

import schema_core

RECORDED = Path(__file__).parent / "front_door.txt"
ADVICE = """
The names `from schema_core import ...` offers are not those of tests/front_door.txt.
  only in schema_core.__all__: {new}
  only in front_door.txt:      {gone}
A new name: add its line to the file, and an entry to CHANGELOG.md.
A name that is gone breaks its users: bring it back, or say so in CHANGELOG.md under "Removed".
"""


def test_public_names_are_the_recorded_ones() -> None:
    recorded = RECORDED.read_text(encoding="utf-8").split()
    public = set(schema_core.__all__)

    new, gone = sorted(public - set(recorded)), sorted(set(recorded) - public)
    assert ([], []) == (new, gone), ADVICE.format(new=new, gone=gone)
    assert sorted(recorded) == recorded


def test_every_public_name_is_there_and_explained() -> None:
    objects = {name: getattr(schema_core, name) for name in schema_core.__all__}

    assert [] == [name for name, object_ in objects.items() if not object_.__doc__]
