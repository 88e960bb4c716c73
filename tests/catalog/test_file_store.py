"""Catalog descriptors in files, compatible with Flink's catalog store."""

from __future__ import annotations

import errno
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.catalog.stores import flat_yaml
from schema_core.catalog.stores.catalog_store import (
    CatalogDescriptor,
    FileCatalogStore,
    InMemoryCatalogStore,
    catalog_store,
)
from schema_core.errors import (
    AlreadyExistsError,
    ExternalError,
    NotFoundError,
    ParseError,
    SchemaError,
)

strings = st.text(max_size=8) | st.sampled_from(
    ["true", "12", "a: b #c", "", " x", "d'b", "'true'", "''", "'", "'a'", "'it''s: '", '"', "\\"]
)


@given(st.dictionaries(strings, strings, min_size=1))
def test_written_descriptors_are_read_back(mapping: dict[str, str]) -> None:
    assert mapping == flat_yaml.read(flat_yaml.write(mapping))


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("k: \"'true'\"", "true"),
        ("k: \"'12'\"", "12"),
        ("k: \"'a: b #c'\"", "a: b #c"),
        ("k: \"''\"", ""),
        ("k: \"' x'\"", " x"),
        ('k: "d\'b"', "d'b"),
        ("k: \"'a'\"", "'a'"),
        ('k: "\\x27true\'"', "'true'"),
        ("k: 12", "12"),
        ("k: true # yes", "true"),
        ("k: 'it''s'", "it's"),
        ("k: https://host:80/a#b", "https://host:80/a#b"),
        ('"k": "\\u00e9\\n\\t\\U0001F600"', "é\n\t😀"),
        ("---\n# head\n\nk: v\r\n", "v"),
    ],
)
def test_yaml_values_are_parsed(line: str, value: str) -> None:
    assert {"k": value} == flat_yaml.read(line)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "corrupt-entry", 0),
        ("# nothing", "corrupt-entry", 0),
        ("a: b\nc:\n  d: e", "corrupt-entry", 2),
        ("- a", "corrupt-entry", 1),
        ("a: [1]", "corrupt-entry", 1),
        ("a: {}", "corrupt-entry", 1),
        ("a: &x b", "corrupt-entry", 1),
        ("a: |\n  b", "corrupt-entry", 1),
        ('a: "open', "corrupt-entry", 1),
        ('a: "\\q"', "corrupt-entry", 1),
        ('a: "\\Uffffffff"', "corrupt-entry", 1),
        ("a: b: c", "corrupt-entry", 1),
        ("a: 1\nb: 2\na: 3", "corrupt-entry", 3),
        ("just text", "corrupt-entry", 1),
    ],
)
def test_invalid_flat_mapping_is_refused_with_its_line(text: str, code: str, line: int) -> None:
    with pytest.raises(ParseError) as caught:
        flat_yaml.read(text)

    assert (code, line) == (caught.value.code, caught.value.diagnostics[0].line)


DESCRIPTOR = CatalogDescriptor.of("c", {"type": "generic_in_memory", "password": "p"}, 'a "b"\n')


@pytest.fixture
def store(tmp_path: Path) -> FileCatalogStore:
    store = FileCatalogStore(tmp_path / "made" / "catalogs")
    store.open()
    return store


@pytest.mark.parametrize("name", ["c", "Ca`t 2", "a.b", "注文", "x" * 200])
def test_a_stored_descriptor_is_returned(store: FileCatalogStore, name: str) -> None:
    kept = CatalogDescriptor.of(name, DESCRIPTOR.configuration, DESCRIPTOR.comment)
    store.store_catalog(name, kept)

    assert (kept, [name]) == (store.get_catalog(name), store.list_catalogs())
    store.remove_catalog(name, ignore_if_not_exists=False)
    assert (None, []) == (store.get_catalog(name), store.list_catalogs())


def test_storing_an_existing_name_is_refused(store: FileCatalogStore) -> None:
    store.store_catalog("c", DESCRIPTOR)

    with pytest.raises(AlreadyExistsError) as caught:
        store.store_catalog("c", CatalogDescriptor.of("c", {"type": "other"}))

    assert ("catalog-exists", DESCRIPTOR) == (caught.value.code, store.get_catalog("c"))


def test_removing_a_missing_name_is_refused(store: FileCatalogStore) -> None:
    store.remove_catalog("c", ignore_if_not_exists=True)

    with pytest.raises(NotFoundError) as caught:
        store.remove_catalog("c", ignore_if_not_exists=False)

    assert caught.value.code == "catalog-not-found"


@pytest.mark.parametrize("name", ["../c", "a/b", "a\\b", ".hidden", "a\0b"])
def test_a_name_cannot_escape_the_directory(store: FileCatalogStore, name: str) -> None:
    with pytest.raises(SchemaError) as caught:
        store.store_catalog(name, DESCRIPTOR)

    assert ("invalid-name", None) == (caught.value.code, store.get_catalog(name))


def test_a_descriptor_is_altered(store: FileCatalogStore, tmp_path: Path) -> None:
    changed = CatalogDescriptor.of("c", {"type": "other"})
    store.store_catalog("c", DESCRIPTOR)
    store.alter_catalog("c", changed)

    assert changed == store.get_catalog("c")
    assert ["c.yaml"] == [path.name for path in (tmp_path / "made" / "catalogs").iterdir()]
    with pytest.raises(NotFoundError):
        store.alter_catalog("d", changed)
    assert ["c"] == store.list_catalogs()


def test_a_failed_alter_keeps_the_descriptor(
    store: FileCatalogStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk neither the store nor the session changes."""
    settings = EnvironmentSettings.new_instance().with_catalog_store(store).build()
    env = TableEnvironment.create(settings)
    env.execute_sql("CREATE CATALOG c WITH ('type' = 'generic_in_memory')")
    before = store.get_catalog("c")

    def full(file_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    statements = (
        "ALTER CATALOG c SET ('default-database' = 'x')",
        "CREATE CATALOG d WITH ('type' = 'generic_in_memory')",
    )
    for statement in statements:
        with pytest.raises(ExternalError) as caught:
            env.execute_sql(statement)
        assert caught.value.code == "catalog-store-failed"

    assert before == store.get_catalog("c")
    assert ["c", "default_catalog"] == env.list_catalogs()
    assert ["c.yaml"] == [path.name for path in (tmp_path / "made" / "catalogs").iterdir()]


def test_files_are_readable_by_their_owner_only(store: FileCatalogStore, tmp_path: Path) -> None:
    store.store_catalog("c", DESCRIPTOR)
    folder = tmp_path / "made" / "catalogs"

    assert ["c.yaml"] == [path.name for path in folder.iterdir()]
    assert 0o600 == stat.S_IMODE((folder / "c.yaml").stat().st_mode)


def test_one_of_concurrent_writers_succeeds(store: FileCatalogStore) -> None:
    def keep(number: int) -> int:
        try:
            store.store_catalog("c", CatalogDescriptor.of("c", {"n": str(number)}))
        except AlreadyExistsError:
            return 0
        return number

    with ThreadPoolExecutor(8) as pool:
        won = sum(pool.map(keep, range(1, 9)))

    assert CatalogDescriptor.of("c", {"n": str(won)}) == store.get_catalog("c")


@pytest.mark.parametrize("content", [b"", b"a:\n  b: c\n", b"\xff", b"text"])
def test_a_malformed_file_is_reported_at_use(
    store: FileCatalogStore, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "made" / "catalogs" / "c.yaml").write_bytes(content)

    assert ["c"] == store.list_catalogs()
    with pytest.raises(ExternalError) as caught:
        store.get_catalog("c")

    assert caught.value.code == "corrupt-entry"
    store.remove_catalog("c", ignore_if_not_exists=False)


def test_a_file_as_store_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")

    with pytest.raises(ExternalError) as caught:
        FileCatalogStore(tmp_path / "f").open()

    assert caught.value.code == "catalog-store-failed"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"kind": "cloud"}, "factory-not-found"),
        ({"kind": "file"}, "missing-option"),
        ({"kind": "file", "file.path": "x", "file.paht": "y"}, "unknown-option"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, str], code: str) -> None:
    with pytest.raises(SchemaError) as caught:
        catalog_store({f"table.catalog-store.{key}": value for key, value in options.items()})

    assert code == caught.value.code


def test_the_configuration_chooses_the_store(tmp_path: Path) -> None:
    files = {
        "table.catalog-store.kind": "file",
        "table.catalog-store.file.path": str(tmp_path),
    }

    assert isinstance(catalog_store({}), InMemoryCatalogStore)
    assert isinstance(catalog_store(files), FileCatalogStore)


def test_a_created_catalog_exists_in_the_next_environment(tmp_path: Path) -> None:
    settings = (
        EnvironmentSettings.new_instance()
        .with_configuration(
            {
                "table.catalog-store.kind": "file",
                "table.catalog-store.file.path": str(tmp_path),
            }
        )
        .build()
    )
    TableEnvironment.create(settings).execute_sql(
        "CREATE CATALOG c WITH ('type' = 'generic_in_memory', 'default-database' = 'd''b')"
    )

    again = TableEnvironment.create(settings)
    again.execute_sql("USE CATALOG c")

    assert "d'b" == again.get_current_database()
