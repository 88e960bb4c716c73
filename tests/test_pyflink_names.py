"""The names of PyFlink are compared with ours, and each difference has a reason."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from contextlib import suppress
from enum import Enum
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

from docs import pyflink_facts
from docs.pyflink_reasons import BEHAVIOR, REASONS
from docs.pyflink_tables import ABSENT, DIFFERS, SAME, Compared, accepts, compared, recorded
from docs.pyflink_tables import signature_of as signature
from schema_core.environment.options import ENVIRONMENT
from schema_core.errors import UnsupportedError
from schema_core.pyflink import absent
from schema_core.pyflink.version import __version__


def test_every_difference_has_a_reason_and_every_reason_a_difference() -> None:
    different = [item for item in compared() if item.status != SAME]

    assert [] == [
        f"{item.key}: {item.status} {item.found}" for item in different if not item.reason
    ]
    used = {item.cause for item in different}
    without_names = {f"pyflink.{name}" for name in pyflink_facts.LEFT_OUT}
    without_names |= {module for module, names in recorded().items() if not names}
    unused = {*REASONS, *BEHAVIOR} - used - without_names
    assert set() == unused, "these names are the same now: remove their reasons"


def test_most_names_of_the_table_api_are_the_same() -> None:
    table_api = [item for item in compared() if item.module.startswith("pyflink.table")]
    same = [item for item in table_api if item.status == SAME]

    assert len(table_api) > 1200
    assert len(same) >= 960


def test_every_module_exists_by_the_same_name() -> None:
    """A program imports each module of PyFlink after the replacement of one word."""
    for module in recorded():
        imported = import_module(f"schema_core.{module}")
        assert imported.__name__ == f"schema_core.{module}"


@pytest.mark.parametrize("module", ["fn_execution.flink_fn_execution_pb2", "datastream.functions"])
def test_names_that_need_flink_raise_a_coded_error(module: str) -> None:
    with pytest.raises(UnsupportedError, match=rf"`pyflink\.{module}\.Name`") as caught:
        import_module(f"schema_core.pyflink.{module}").Name  # noqa: B018

    assert caught.value.code == "needs-flink"
    assert caught.value.hint


@pytest.mark.parametrize(
    "name", [name for name, reason in BEHAVIOR.items() if reason.startswith("refused")]
)
def test_refused_methods_raise_a_coded_error(name: str) -> None:
    module, owner, method = name.removeprefix("pyflink.").rsplit(".", 2)
    class_ = getattr(import_module(f"schema_core.pyflink.{module}"), owner)
    if isinstance(vars(class_)[method], staticmethod):
        argument: object = b""
    else:
        argument = next(iter(class_)) if issubclass(class_, Enum) else object.__new__(class_)
    with pytest.raises(UnsupportedError) as caught:
        getattr(class_, method)(argument)

    assert caught.value.hint
    assert method in str(caught.value)


def test_other_names_and_modules_do_not_exist() -> None:
    with pytest.raises(ModuleNotFoundError):
        import_module("schema_core.pyflink.tables")
    with pytest.raises(ModuleNotFoundError):
        import_module("schema_core.pyflink.table.tables")
    for module in ("", ".table", ".table.catalog", ".common"):
        assert not hasattr(import_module(f"schema_core.pyflink{module}"), "Nothing")
    assert not hasattr(import_module("schema_core.pyflink.datastream"), "__wrapped__")


def test_the_version_is_that_of_the_recorded_names() -> None:
    assert json.loads(pyflink_facts.NAMES.read_text("utf-8"))["version"] == __version__


def test_the_modules_of_pyflink_import_nothing_heavy() -> None:
    program = "import sys, schema_core.pyflink.table; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()

    ours = {module for module in modules if module.startswith("schema_core.")}
    assert {"schema_core.base", "schema_core.errors", "schema_core.pyflink"} == {
        ".".join(module.split(".")[:2]) for module in ours
    }


def test_the_recorded_names_are_names_only() -> None:
    """Facts about an interface: no docstring, no default value and no code."""
    for module, names in recorded().items():
        for text in texts(names):
            assert "\n" not in text, module
            assert len(text) < 250, (module, text)


def texts(value: object) -> list[str]:
    match value:
        case dict():
            return [*value, *(text for element in value.values() for text in texts(element))]
        case list():
            return [text for element in value for text in texts(element)]
        case _:
            return [str(value)]


SOURCE = """
__all__ = ["Thing", "Other"]
from elsewhere import Other

@PublicEvolving()
class Thing(Base):
    LIMIT = 3
    def __init__(self, name, size=1): ...
    def grow(self, by: int, *rest, **options) -> None: "documentation"
    def _get_j_thing(self): ...
    def of_java(self, j_thing): ...
    @staticmethod
    def of(name=None): ...
    @property
    def width(self): ...
    class Inner: ...
    @Internal()
    def hidden(self): ...

def _private(): ...
def make(a, *, b=1): ...
"""


def test_names_are_read_from_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as wheel:
        wheel.writestr("pyflink/table/thing.py", SOURCE)
        wheel.writestr("pyflink/table/tests/test_thing.py", SOURCE)
        wheel.writestr("pyflink/fn_execution/thing.py", SOURCE)
    file = tmp_path / "apache_flink-9.9.9-any.whl"
    file.write_bytes(content.getvalue())
    monkeypatch.setattr(pyflink_facts, "NAMES", tmp_path / "names.json")
    monkeypatch.setattr("docs.pyflink_tables.NAMES", tmp_path / "names.json")

    pyflink_facts.main(str(file))

    members = {
        "LIMIT": "constant",
        "__init__": "method(name, size=)",
        "grow": "method(by, *rest, **options)",
        "of": "staticmethod(name=)",
        "width": "property",
        "Inner": {"bases": [], "members": {}},
    }
    expected = {
        "Thing": {"bases": ["Base"], "members": members},
        "Other": "imported",
        "make": "function(a, b=)",
    }
    assert {"pyflink.table.thing": expected} == recorded()


def positional(a: object, b: object = None) -> None: ...
def keywords(a: object, *, b: object = None) -> None: ...
def anything(*names: object) -> None: ...
def demanding(a: object, b: object) -> None: ...


@pytest.mark.parametrize(
    ("parameters", "function", "is_accepted"),
    [
        (["a"], positional, True),
        (["a", "b="], positional, True),
        (["b", "a"], positional, False),
        (["a", "b=", "c="], positional, False),
        (["a", "b="], demanding, False),
        (["a"], demanding, False),
        (["*names"], anything, True),
        (["a", "*names"], anything, True),
        (["*names"], positional, False),
        (["a"], keywords, True),
    ],
)
def test_parameters_are_compared(
    parameters: list[str], function: object, is_accepted: bool
) -> None:
    own = signature(function)

    assert own is not None
    assert is_accepted == accepts(parameters, own, bound=False)


def test_absent_and_different_names_are_found() -> None:
    result = {item.key: item for item in compared()}

    assert isinstance(result["pyflink.table.table.Table.select"], Compared)
    assert SAME == result["pyflink.table.table.Table.select"].status
    assert ABSENT == result["pyflink.table.module.HiveModule"].status
    assert DIFFERS == result["pyflink.table.types.RowType.add"].status


#: Where a hint's name may be: a module's attribute, or the member of a class.
HOMES = [
    *(
        import_module(f"schema_core.pyflink.{module}")
        for module in (
            "table",
            "table.udf",
            "table.window",
            "table.types",
            "common",
            "util.exceptions",
        )
    ),
    *(
        getattr(import_module(f"schema_core.pyflink.{module}"), name)
        for module, name in (
            ("table", "StreamTableEnvironment"),
            ("table", "Table"),
            ("datastream", "DataStream"),
            ("datastream", "StreamExecutionEnvironment"),
        )
    ),
]


def resolves(expression: str) -> bool:
    """Return whether the dotted name that an expression starts with exists."""
    path = expression.partition("(")[0]
    if path.startswith("schema_core."):
        module, _dot, name = path.rpartition(".")
        return hasattr(import_module(module), name)
    if path.isupper():  # a variable of the process
        return path == "PYSPARK_PYTHON"
    for home in HOMES:
        with suppress(AttributeError):
            attrgetter(path)(home)
            return True
    return False


@pytest.mark.parametrize(
    "hint",
    sorted({
        *(reason.hint for reason in (*absent.MODULES.values(), *absent.NAMES.values())),
        *absent.METHODS.values(),
    }),
)  # fmt: skip
def test_the_names_of_a_hint_exist(hint: str) -> None:
    assert [] == [name for name in re.findall("`([^`]+)`", hint) if not resolves(name)]
    for key in re.findall(r"'([\w.-]+)'", hint):
        assert key == "format" or key in {option.key for option in ENVIRONMENT}
