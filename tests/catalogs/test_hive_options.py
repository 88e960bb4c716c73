"""Options of catalogs of type ``hive``: invalid ones are refused before Spark is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from schema_core.catalog.registry import make_catalog
from schema_core.catalog.stores.catalog_store import CatalogDescriptor
from schema_core.catalogs.hive.catalog import HiveCatalog, settings_of
from schema_core.errors import SchemaCoreError

SITE = """<?xml version="1.0"?>
<configuration>
  <property><name>hive.metastore.uris</name><value>thrift://localhost:9083</value></property>
  <property><name> empty </name><value/></property>
</configuration>
"""


def made(**options: str) -> object:
    named = {key.replace("_", "-"): value for key, value in options.items()}
    return make_catalog(CatalogDescriptor.of("h", {"type": "hive", **named}))


def test_catalog_connects_only_when_opened(tmp_path: Path) -> None:
    (tmp_path / "hive-site.xml").write_text(SITE)

    catalog = made(hive_conf_dir=str(tmp_path), hive_version="3.1.3", default_database="sales")

    assert isinstance(catalog, HiveCatalog)
    assert catalog.get_default_database() == "sales"


def test_settings_of_the_conf_dir_are_read(tmp_path: Path) -> None:
    (tmp_path / "hive-site.xml").write_text(SITE)

    assert {"hive.metastore.uris": "thrift://localhost:9083", "empty": ""} == settings_of(
        {"hive-conf-dir": str(tmp_path)}
    )


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"hive_conf_dir": "nowhere"}, "not-found"),
        ({"store_profile": "hive-db2"}, "invalid-argument"),
        ({"hive_conf": "x"}, "unknown-option"),
        ({"default_database": " "}, "invalid-name"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, str], code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        made(**options)

    assert code == caught.value.code


def test_invalid_settings_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "hive-site.xml").write_text("<configuration>")

    with pytest.raises(SchemaCoreError) as caught:
        made(hive_conf_dir=str(tmp_path))

    assert "hive-site.xml cannot be read" in caught.value.problem
