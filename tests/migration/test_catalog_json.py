"""Changes of a catalog as JSON: every class and object round trips, others are refused."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from schema_core import Schema
from schema_core.base.json_codec import Codec
from schema_core.catalog import CatalogDatabase, CatalogTable, CatalogView, ObjectPath
from schema_core.catalog.changes.catalog_changes import CATALOG_CHANGES
from schema_core.catalog.changes.json_format import CODECS, OBJECTS
from schema_core.catalog.objects import (
    CatalogMaterializedTable,
    Freshness,
    FreshnessUnit,
    LogicalRefreshMode,
    RefreshMode,
    RefreshStatus,
    StartMode,
    TableDistribution,
)
from schema_core.errors import SchemaCoreError
from schema_core.migration import (
    AddDatabase,
    AddObject,
    CatalogChange,
    ModifyDatabase,
    ModifyObject,
    ModifyTable,
    RemoveDatabase,
    RemoveObject,
    RenameObject,
    catalog_changes_from_json,
    catalog_changes_to_json,
    diff,
    normalize,
)

SCHEMA = (
    Schema.new_builder()
    .column("id", "BIGINT NOT NULL")
    .with_comment("the \u00e9 key")
    .column("at", "TIMESTAMP(3)")
    .column_by_expression("twice", "id*2")
    .column_by_metadata("m", "STRING", "key", is_virtual=True)
    .watermark("at", "at - INTERVAL '1' SECOND")
    .primary_key("id")
    .build()
)
TABLE = CatalogTable(
    SCHEMA,
    ("id",),
    options={"connector": "kafka", "x": "\ud800"},
    comment="a table",
    distribution=TableDistribution.of_hash(["id"], 3),
    snapshot=7,
)
VIEW = CatalogView(SCHEMA, "SELECT 1", "SELECT 1 AS `a`", options={"a": "b"})
STORED = CatalogMaterializedTable(
    SCHEMA,
    "SELECT 1",
    "SELECT 1 AS `a`",
    logical_refresh_mode=LogicalRefreshMode.AUTOMATIC,
    refresh_status=RefreshStatus.ACTIVATED,
    refresh_mode=RefreshMode.FULL,
    freshness=Freshness(3, FreshnessUnit.HOUR),
    start_mode=StartMode.FROM_BEGINNING,
    refresh_handler_description="a job",
    refresh_handler=b"\x00\xff",
    partition_keys=("id",),
)
BARE = CatalogMaterializedTable(
    Schema.new_builder().build(),
    "",
    "",
    logical_refresh_mode=LogicalRefreshMode.FULL,
    refresh_status=RefreshStatus.INITIALIZING,
)
DATABASE, PATH = CatalogDatabase({"a": "b"}, "c"), ObjectPath("d", "t`.")
CHANGES: list[CatalogChange] = [
    AddDatabase("d", DATABASE),
    ModifyDatabase("d", DATABASE, CatalogDatabase()),
    RemoveDatabase("d", CatalogDatabase()),
    *(AddObject(PATH, item) for item in (TABLE, VIEW, STORED, BARE)),
    RenameObject(PATH, "u"),
    ModifyTable(PATH, diff(CatalogTable(Schema.new_builder().build()), TABLE)),
    ModifyObject(PATH, VIEW, STORED),
    RemoveObject(PATH, TABLE),
]


def test_every_change_round_trips_in_normal_form() -> None:
    document = catalog_changes_to_json(CHANGES)

    result = catalog_changes_from_json(document)

    assert list(map(str, CHANGES)) == list(map(str, result))
    assert document == catalog_changes_to_json(result)
    (added,) = (item for item in result[3:4] if isinstance(item, AddObject))
    assert normalize(TABLE) == added.new_object
    assert result[:3] == tuple(CHANGES[:3])
    assert catalog_changes_from_json(document) == result


def test_every_class_and_member_has_a_codec() -> None:
    assert {type(change) for change in CHANGES} == set(CATALOG_CHANGES)
    classes: list[Any] = [*CATALOG_CHANGES, *OBJECTS.values(), Schema, CatalogDatabase, Freshness]
    for annotation in {str(field.type) for kind in classes for field in fields(kind)}:
        assert isinstance(CODECS[annotation], Codec)


def changed(**members: Any) -> str:
    """Return a document with a valid digest and other members."""
    content = json.loads(catalog_changes_to_json([RenameObject(PATH, "u")])) | members
    return json.dumps(content)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        "x" * 16_000_001,
        changed(version=2),
        changed(version=True),
        changed(format="schema-core.migration-plan"),
        changed(changes=[]),
        changed(extra=1),
        '{"format": 1, "format": 2}',
    ],
    ids=range(11),
)
def test_other_documents_are_refused(text: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        catalog_changes_from_json(text)

    code = "version-not-supported" if text == changed(version=2) else "invalid-document"
    assert code == caught.value.code


OBJECT = json.loads(catalog_changes_to_json([AddObject(PATH, TABLE)]))["changes"][0]


@pytest.mark.parametrize(
    "change",
    [
        None,
        {"change": "DropEverything"},
        {"change": "RenameObject", "path": ["a"], "new_name": "u"},
        {"change": "RenameObject", "path": ["a", ""], "new_name": "u"},
        {"change": "RenameObject", "path": ["a", "b"], "new_name": 1},
        {"change": "RenameObject", "path": ["a", "b"], "new_name": "u", "more": 1},
        {"change": "AddObject", "path": ["a", "b"], "new_object": {"kind": "INDEX"}},
        OBJECT | {"new_object": OBJECT["new_object"] | {"snapshot": "7"}},
        OBJECT | {"new_object": OBJECT["new_object"] | {"options": {"a": 1}}},
        OBJECT | {"new_object": OBJECT["new_object"] | {"kind": "VIEW"}},
        OBJECT | {"new_object": OBJECT["new_object"] | {"schema": []}},
    ],
)
def test_other_members_are_refused(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schema_core.base.json_codec.digest", lambda _: "same")

    with pytest.raises(SchemaCoreError) as caught:
        catalog_changes_from_json(changed(changes=[change], digest="same"))

    assert "invalid-document" == caught.value.code
