"""No process-wide mutable state: functions do not change what modules hold, with few exceptions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "schema_core"
FILES = sorted(PACKAGE.rglob("*.py"))

#: Module-level name that functions change -> why it may be.
ALLOWED = {
    "environment/jobs/run.py: _RUNNING": "jobs for which the interpreter waits at its exit",
    "base/caching.py: _COUNTED": "weak references to the caches, each of which is bounded",
    "environment/jobs/pending.py: _RECOVERED": "tables that threads of the process recover now",
    "environment/jobs/pending.py: _RUNNING": "jobs of the process that may still commit",
    "schema/resolve.py: RESOLVED": "a bounded cache of what depends only on the columns",
    "base/secrets.py: _DECLARED": "keys that options declare secret, which excerpts mask",
    "spark/commit/commit.py: _RUNNING": "jobs of the process, which names of stages identify",
    "connectors/files/csv_survey.py: _KEPT": "a bounded cache of surveys, by version of the file",
    "connectors/files/file_schemas.py: _KEPT": "a bounded cache of footers, by version of the file",
    "connectors/open_tables/frames.py: FRAMES": "a bounded cache of frames of files",
    "connectors/iceberg/client.py: CATALOGS": "a bounded cache of the open catalogs of tables",
    "connectors/iceberg/reading.py: PLANS": "a bounded cache of the files of snapshots",
    "connectors/shared_tables.py: _LOCKS": "locks of tables that jobs are writing",
    "types/python.py: _READING": "a context variable, which is reset at the end of a call",
    "environment/jobs/graph.py: _SINKS_OF_SET": "a context variable, reset at the end of a block",
    "spark/session/api_mode.py: _PARTS": "objects of the JVM, by weak reference to their session",
    "spark/python/dependencies.py: _SENT": "what the workers of a Spark have, by weak reference",
}

#: Unbounded cache of a function with parameters -> why it may be.
ALLOWED_CACHES = {
    "catalog/resolve.py: _member_names": "by class of objects",
    "base/left_deep.py: _names_of": "by class of nodes",
    "types/base.py: _other_fields": "by class of types",
    "spark/python/dependencies.py: _install_packages": "by requirements that the environment names",
    "spark/compiler/template.py: template": "by templates, which are literals of the compiler",
    "testing/expression_trees.py: _leaves": "of tests, by the columns of a strategy",
    "testing/expression_trees.py: _root": "of tests, by the columns of a strategy",
    "testing/expression_trees.py: _values": "of tests, by the columns of a strategy",
    "testing/expression_trees.py: fitting": "of tests, by the columns of a strategy",
}

#: Methods that change a list, a dictionary, a set, a deque, a context variable or an entry of one.
MUTATORS = frozenset(
    {
        "add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem",
        "popleft", "remove", "reset", "set", "setdefault", "update",
    }
)  # fmt: skip


def name_of(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node


def module_names(tree: ast.Module) -> set[str]:
    """The names that a module assigns, also within its conditions and loops."""
    result: set[str] = set()
    todo: list[ast.stmt] = list(tree.body)
    while todo:
        match todo.pop():
            case ast.Assign(targets=targets):
                result |= {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                result.add(name)
            case ast.If(body=body, orelse=other) | ast.For(body=body, orelse=other):
                todo += [*body, *other]
    return result


def base(node: ast.AST) -> str | None:
    """The name of ``NAME``, ``NAME[...]``, ``NAME.attribute`` and so on."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def changed(function: ast.AST) -> Iterator[str | None]:
    """The names that a function changes."""
    for node in ast.walk(function):
        match node:
            case ast.Global(names=names):
                yield from names
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in MUTATORS:
                yield base(value)
            case ast.Call(func=ast.Name(id="next"), args=[ast.Name(id=name), *_]):
                yield name
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                yield from (base(target) for target in targets if not isinstance(target, ast.Name))
            case ast.AugAssign(target=target) if not isinstance(target, ast.Name):
                yield base(target)


def local_names(function: ast.AST) -> set[str]:
    """The names that a function binds: its parameters and variables."""
    result = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    shared = {
        name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names
    }
    stored = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return (result | stored) - shared


def state(source: str) -> set[str]:
    """The module-level names that functions of a module change."""
    tree = ast.parse(source)
    names = module_names(tree)
    return {
        name
        for function in functions(tree)
        for name in changed(function)
        if name in names - local_names(function)
    }


def unbounded_caches(source: str) -> set[str]:
    """The functions of a module with parameters and an unbounded cache."""
    result = set()
    for function in ast.parse(source).body:
        if isinstance(function, ast.FunctionDef) and function.args.args:
            for decorator in map(ast.unparse, function.decorator_list):
                if decorator in ("cache", "lru_cache", "lru_cache(maxsize=None)"):
                    result.add(function.name)
    return result


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("A = []\ndef f():\n    A.append(1)",                      {"A"}),
        ("A = {}\nclass C:\n    def m(self):\n        A['x'] = 1",    {"A"}),
        ("A: set[str] = set()\nf = lambda x: A.add(x)",            {"A"}),
        ("A = itertools.count()\ndef f():\n    return next(A)",    {"A"}),
        ("A = 1\ndef f():\n    global A\n    A = 2",               {"A"}),
        ("A = {}\ndef f():\n    del A['x']\n    A['y'][0] += 1",   {"A"}),
        ("A = []\ndef f(A):\n    A.append(1)",                     set()),
        ("A = []\ndef f():\n    A = []\n    A.append(1)",          set()),
        ("A = []\nfor one in 'ab':\n    A.append(one)",            set()),
    ],
)  # fmt: skip
def test_changes_of_module_names_are_found(source: str, expected: set[str]) -> None:
    assert expected == state(source)


def test_no_module_holds_mutable_state() -> None:
    result = {
        f"{name_of(file)}: {name}"
        for file in FILES
        for name in state(file.read_text(encoding="utf-8"))
    }

    assert set(ALLOWED) == result


def test_caches_are_bounded() -> None:
    result = {
        f"{name_of(file)}: {name}"
        for file in FILES
        for name in unbounded_caches(file.read_text(encoding="utf-8"))
    }

    assert set(ALLOWED_CACHES) == result
