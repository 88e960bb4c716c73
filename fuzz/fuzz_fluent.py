"""Methods of the public objects with arguments of every kind: they take them or refuse them.

The text draws the calls: each calls a public method of an object at hand with drawn arguments that
fit its signature, and what it returns is at hand for the next call. Parts of the text are arguments
themselves.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import inspect
import io
import random
import zlib
from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import Enum
from importlib import import_module
from types import FunctionType, GeneratorType
from typing import Any

import schema_core
from fuzz import driver
from fuzz.fuzz_resolve import new_session
from schema_core import expressions
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.expressions.fluent_functions import ColumnRange, ColumnSelection

#: How many calls are drawn from an input.
CALLS = 6

#: What is not called: methods that print, run jobs or touch files and other processes.
QUIET = frozenset({
    "print_schema", "print_explain", "print", "to_pandas", "from_pandas", "register_catalog",
    "get_catalog", "open", "close",
    # what the library calls on its own: its arguments come from no user
    "of_query", "is_",
})  # fmt: skip

#: What a member of a class is that can be called.
METHODS = (FunctionType, staticmethod, classmethod)

#: Public names that are not called: they reach files or databases, start something, or call what
#: they are given; a `Row` holds values as a list does.
OUTSIDE = frozenset({"FileCatalogStore", "SqlCatalog", "TableEnvironment", "call", "Row"})


class Colour(Enum):
    """An enumeration that no parameter takes."""

    RED = "red"


class Unprintable:
    """An object whose text cannot be had."""

    def __repr__(self) -> str:
        raise ValueError("no text")


#: The public modules whose functions and classes are called.
MODULES = (
    "schema_core",
    "schema_core.catalog",
    "schema_core.catalogs",
    "schema_core.mappings.dialects",
    "schema_core.expressions",
    "schema_core.properties",
)


def values(text: str) -> list[Any]:
    """Arguments: parts of the text first, then one value of every kind."""
    endless: list[Any] = []
    endless.append(endless)
    return [
        text, text[: len(text) // 2], *text.split()[:4], "", "a", "INT", "x.y", "\ud800", "\0",
        None, True, False, 0, 1, -1, 2**31, 2**63, 10**5000, 0.5, float("nan"), float("-inf"),
        Decimal("NaN"), Decimal("1e400"), 1j, b"b", bytearray(b"b"), dt.date.max,
        dt.datetime(1, 1, 1, tzinfo=dt.UTC),
        dt.timedelta.max, dt.time.max, [], ["a"], [1, "a"], (), ("a", None), {}, {"a": "b"},
        {1: 2}, {"a": None}, set(), {"a"}, iter("ab"), range(3), endless, object(), int, str,
        len, lambda *given: given, Colour.RED, Colour, Unprintable(), inspect, ..., NotImplemented,
    ]  # fmt: skip


def start() -> list[Any]:
    """The objects that a program has at first."""
    environment = TableEnvironment(new_session(batch=False))
    names = [
        getattr(module, name)
        for module in map(import_module, MODULES)
        for name in module.__all__
        if name not in OUTSIDE
    ]
    table = environment.from_path("t")
    return [
        environment, table, table.group_by(expressions.col("a")), expressions.col("a"),
        table.get_resolved_schema(), environment.get_config(), environment.create_statement_set(),
        schema_core.Schema.new_builder(), schema_core.TableDescriptor.for_connector("x"),
        schema_core.DataTypes.INT(), *names,
    ]  # fmt: skip


def methods(of: Any) -> list[tuple[str, Callable[..., Any]]]:
    """The public methods of an object of the library, or what may be called of a class."""
    kinds = (staticmethod, classmethod) if isinstance(of, type) else METHODS
    names = [
        name
        for name, member in inspect.getmembers_static(of)
        if not name.startswith("_")
        and name not in QUIET
        and isinstance(member, kinds)
        and is_declared_here(member)
    ]
    result = [(name, getattr(of, name)) for name in names]
    return [*result, ("", of)] if isinstance(of, FunctionType) else result


def is_declared_here(member: Any) -> bool:
    """Whether the library declares a method, and not a base class of Python such as a mapping."""
    declared = getattr(member, "__func__", member)
    return (getattr(declared, "__module__", None) or "").startswith("schema_core")


def is_ours(value: Any) -> bool:
    """Whether an object is the library's: its methods are worth a call."""
    module = getattr(value, "__module__", None) or type(value).__module__
    is_internal = isinstance(value, BaseException | ColumnSelection | ColumnRange)
    return module.startswith("schema_core") and not is_internal


def arguments(method: Callable[..., Any], pool: list[Any], draw: random.Random) -> Any:
    """Drawn arguments that the signature has places for, or None."""
    signature = inspect.signature(method)
    given: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        needed = parameter.default is inspect.Parameter.empty
        match parameter.kind:
            case inspect.Parameter.VAR_POSITIONAL:
                given += [draw.choice(pool) for _ in range(draw.randint(0, 3))]
            case inspect.Parameter.VAR_KEYWORD:
                continue
            case inspect.Parameter.KEYWORD_ONLY:
                if needed or draw.random() < 0.5:
                    named[parameter.name] = draw.choice(pool)
            case _:
                if not needed and draw.random() < 0.5:
                    break
                given.append(draw.choice(pool))
    return given, named


def calls(text: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the calls drawn from an input, each to be made before the next is drawn."""
    draw = random.Random(zlib.crc32(text.encode("utf-8", "surrogatepass")))
    objects, pool = start(), values(text)
    for _ in range(CALLS):
        recent = objects[-8:]
        receiver = draw.choice(objects if draw.random() < 0.5 else recent)
        result = methods(receiver)
        if not result:
            continue
        name, method = draw.choice(result)
        given, named = arguments(method, pool + recent, draw)

        def call(
            method: Callable[..., Any] = method, given: Any = given, named: Any = named
        ) -> None:
            returned = method(*given, **named)
            if isinstance(returned, GeneratorType):
                returned = list(returned)
            if is_ours(returned):
                objects.append(returned)

        yield f"{type(receiver).__name__}.{name or method.__name__}", call


def target(text: str) -> None:
    """Make the calls; each may be refused."""
    for name, call in calls(text):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SchemaCoreError):
            try:
                call()
            except SchemaCoreError:
                raise
            except Exception as error:
                raise type(error)(f"{name}: {str(error)[:200]}") from error


if __name__ == "__main__":
    driver.main("fluent", target)
