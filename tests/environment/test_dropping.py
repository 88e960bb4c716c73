"""DROP where a permanent and a temporary object share a path: all combinations.

The statements behave as recorded from Flink 2.3, the methods as in FLIP-64: "the
regular drop methods [...] should throw an exception if a temporary object with same identifier
exists".
"""

from __future__ import annotations

from itertools import product

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.catalog.stores.catalog_store import CatalogDescriptor
from schema_core.environment.table_api.descriptor import ModelDescriptor
from schema_core.errors import SchemaCoreError
from schema_core.schema.unresolved import Schema

KINDS = (None, "TABLE", "VIEW")
DEFINITIONS = {"TABLE": "TABLE t (a INT)", "VIEW": "VIEW t AS SELECT 1 AS b"}

#: (permanent, temporary) -> how Flink answers DROP TABLE, DROP TABLE IF EXISTS, DROP VIEW and
#: DROP VIEW IF EXISTS: it (d)rops the permanent object, does (n)othing, or refuses since there is
#: (m)issing such an object, or since a temporary one (h)ides it.
STATEMENTS = {
    (None,    None):    "m n m n",
    (None,    "TABLE"): "h h m n",
    (None,    "VIEW"):  "m n h h",
    ("TABLE", None):    "d d m n",
    ("TABLE", "TABLE"): "h h m n",
    ("TABLE", "VIEW"):  "d d h h",
    ("VIEW",  None):    "m n d d",
    ("VIEW",  "TABLE"): "h h d d",
    ("VIEW",  "VIEW"):  "m n h h",
}  # fmt: skip

#: The same for DROP TEMPORARY TABLE and VIEW, which drop the (t)emporary object.
TEMPORARY_STATEMENTS = {
    None:    "m n m n",
    "TABLE": "t t m n",
    "VIEW":  "m n t t",
}  # fmt: skip

#: The same for `drop_table` and `drop_view`, with and without IF EXISTS, by FLIP-64.
METHODS = {
    (permanent, temporary): "h h h h" if temporary else STATEMENTS[permanent, None]
    for permanent, temporary in product(KINDS, KINDS)
}


def furnished(permanent: str | None, temporary: str | None, catalog: str) -> TableEnvironment:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    options = {"type": catalog} | ({"url": "sqlite://"} if catalog == "sql" else {})
    environment.create_catalog("c", CatalogDescriptor.of("c", options))
    environment.use_catalog("c")
    if permanent:
        environment.execute_sql(f"CREATE {DEFINITIONS[permanent]}")
    if temporary:
        environment.execute_sql(f"CREATE TEMPORARY {DEFINITIONS[temporary]}")
    return environment


def outcome(environment: TableEnvironment, call: object) -> str:
    """Return the effect of a call: one of the letters above."""
    before = (environment.list_tables(), environment.list_temporary_tables())
    try:
        assert callable(call)
        call()
    except SchemaCoreError as error:
        assert before == (environment.list_tables(), environment.list_temporary_tables())
        return "h" if error.code == "hidden-by-temporary" else "m"
    if before[1] != environment.list_temporary_tables():
        return "t"
    return "n" if before[0] == environment.list_tables() else "d"


@pytest.mark.parametrize("catalog", ["generic_in_memory", "sql"])
@pytest.mark.parametrize(("permanent", "temporary"), STATEMENTS)
def test_statements_drop_as_in_flink(
    permanent: str | None, temporary: str | None, catalog: str
) -> None:
    def dropped(form: str) -> str:
        environment = furnished(permanent, temporary, catalog)
        return outcome(environment, lambda: environment.execute_sql(f"DROP {form} t"))

    forms = ["TABLE", "TABLE IF EXISTS", "VIEW", "VIEW IF EXISTS"]

    assert STATEMENTS[permanent, temporary].split() == [dropped(form) for form in forms]
    assert TEMPORARY_STATEMENTS[temporary].split() == [
        dropped(f"TEMPORARY {form}") for form in forms
    ]


@pytest.mark.parametrize("catalog", ["generic_in_memory", "sql"])
@pytest.mark.parametrize(("permanent", "temporary"), METHODS)
def test_methods_never_drop_what_a_temporary_object_hides(
    permanent: str | None, temporary: str | None, catalog: str
) -> None:
    def dropped(method: str, if_exists: bool) -> str:
        environment = furnished(permanent, temporary, catalog)
        return outcome(environment, lambda: getattr(environment, method)("t", if_exists))

    calls = product(("drop_table", "drop_view"), (False, True))

    assert METHODS[permanent, temporary].split() == [dropped(*call) for call in calls]


@pytest.mark.parametrize("if_exists", [False, True])
def test_drop_model_does_not_drop_a_model_hidden_by_a_temporary_one(
    if_exists: bool,
) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    schema = Schema.new_builder().column("a", "INT").build()
    model = ModelDescriptor.for_provider("p").input_schema(schema).output_schema(schema).build()
    environment.create_model("m", model)
    environment.create_temporary_model("m", model)

    with pytest.raises(SchemaCoreError) as caught:
        environment.drop_model("m", if_exists)
    assert "hidden-by-temporary" == caught.value.code
    assert ["m"] == environment.list_models()
    environment.execute_sql("DROP MODEL m")
    assert [] == environment.list_models()
