"""Error codes of the package, collected from its source.

A code is the argument of a parameter or field called ``code`` of an error, of `Diagnostic`, or of a
function of the package that passes it on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from schema_core.catalog.stores.object_store import object_kind

PACKAGE = Path(__file__).parent.parent / "schema_core"

#: Functions with a parameter ``code`` that is not the code of an error they raise.
OTHERS = frozenset({"test_refused", "kind_of", "page", "summary", "explain", "exit_on_error"})


@dataclass
class Codes:
    """Codes, patterns of codes in f-strings (``*-exists``), and places that cannot be evaluated."""

    codes: set[str] = field(default_factory=set)
    patterns: set[str] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)


@dataclass
class Module:
    """A file and its syntax tree."""

    path: Path
    tree: ast.Module

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}


def functions_with_code(module: Module) -> Iterator[tuple[str, int]]:
    """Yield functions and classes with a parameter ``code``, and its position."""
    for node in module.nodes:
        match node:
            case ast.FunctionDef(name=name, args=arguments) if name not in OTHERS:
                names = [item.arg for item in (*arguments.posonlyargs, *arguments.args)]
                names = names[1:] if names[:1] in (["self"], ["cls"]) else names
            case ast.ClassDef(name=name, body=body):
                names = [
                    item.target.id
                    for item in body
                    if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
                ]
            case _:
                continue
        if "code" in names:
            yield name, names.index("code")


def named(path: Path) -> str:
    """Return the dotted name of a module."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(module: Module, functions: dict[str, dict[str, int]]) -> dict[str, int]:
    """Return imported functions with a parameter ``code`` by name, also those of modules."""
    result: dict[str, int] = {}
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom):
            for name in node.names:
                own = functions.get(f"{node.module}.{name.name}", {})
                result |= {f"{name.asname or name.name}.{key}": own[key] for key in own}
                if name.name in functions.get(node.module or "", {}):
                    result[name.asname or name.name] = functions[node.module or ""][name.name]
    return result


#: Names of arguments and fields that hold codes.
CODES = ("code",)


def code_arguments(call: ast.Call, places: dict[str, int]) -> list[ast.expr]:
    """Return the arguments of a call that are codes."""
    if named := [keyword.value for keyword in call.keywords if keyword.arg in CODES]:
        return named
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    place = places.get(ast.unparse(call.func), places.get(name))
    return call.args[place : place + 1] if place is not None else []


def function_around(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> ast.AST:
    while node in parents and not isinstance(node, ast.FunctionDef):
        node = parents[node]
    return node


def values(expression: ast.expr, where: Module) -> Iterator[str | None]:
    """Yield the possible values of an expression; None if one cannot be evaluated."""
    match expression:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=body, orelse=other):
            yield from values(body, where)
            yield from values(other, where)
        case ast.BoolOp(values=parts):
            for part in parts:
                yield from values(part, where)
        case ast.JoinedStr(values=parts):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "*" for part in parts
            )
        case ast.Name(id=name):
            yield from _assigned(name, expression, where)
        case ast.Attribute(attr=name) if name in (*CODES, "default_code"):
            return
        case ast.Constant(value=None):
            return
        case _:
            yield None


def _assigned(name: str, at: ast.expr, where: Module) -> Iterator[str | None]:
    """Yield the values assigned to a name; those of a parameter come from its callers."""
    around = function_around(at, where.parents)
    if isinstance(around, ast.FunctionDef):
        arguments = around.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        if name in {item.arg for item in every} and name == "code":
            for default in (*arguments.defaults, *filter(None, arguments.kw_defaults)):
                if isinstance(default, ast.Constant) and isinstance(default.value, str):
                    yield default.value
            return
    bodies = (
        [module.tree.body for module in modules()] if name.isupper() else [list(ast.walk(around))]
    )
    result = [
        node.value
        for body in bodies
        for node in body
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    if not result:
        yield None
    for value in result:
        yield from values(value, where)


@cache
def modules() -> tuple[Module, ...]:
    files = sorted(PACKAGE.rglob("*.py"))
    return tuple(Module(file, ast.parse(file.read_text(encoding="utf-8"))) for file in files)


@cache
def raised() -> Codes:
    """Return every code of the package."""
    result = Codes()
    functions = {named(module.path): dict(functions_with_code(module)) for module in modules()}
    for module in modules():
        places = imported(module, functions) | functions[named(module.path)]
        for node in module.nodes:
            for text in _raised_by(node, places, module):
                if text is None:
                    place = f"{module.path.relative_to(PACKAGE)}:{node.lineno}"  # type: ignore[attr-defined]
                    result.unread.append(place)
                else:
                    (result.patterns if "*" in text else result.codes).add(text)
    return result


def _raised_by(node: ast.AST, places: dict[str, int], where: Module) -> Iterator[str | None]:
    match node:
        case ast.Call():
            for code in code_arguments(node, places):
                yield from values(code, where)
        case ast.Assign(targets=[ast.Name(id="default_code")], value=code):
            yield from values(code, where)


def kinds() -> set[str]:
    """The kinds of objects of catalogs: each makes ``<kind>-exists`` and ``<kind>-not-found``."""
    return {
        object_kind(str(call.args[0].value))
        for module in modules()
        for call in module.nodes
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", "") in ("TemporaryStore", "exists", "missing")
        and call.args
        and isinstance(call.args[0], ast.Constant)
    }
