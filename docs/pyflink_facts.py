"""Records the public names of PyFlink: ``python docs/pyflink_facts.py WHEEL [VERSION]``.

Reads the modules of a wheel of `apache-flink` with `ast` and writes `pyflink_names.json`: modules,
classes, members and the names of parameters. These are facts; no text and no code is kept.
"""

from __future__ import annotations

import ast
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

NAMES = Path(__file__).with_name("pyflink_names.json")

#: Modules that run Flink or its tests; programs do not import them.
LEFT_OUT = ("bin", "examples", "find_flink_home", "fn_execution", "gen_protos", "lib", "proto",
            "pyflink_callback_server", "pyflink_gateway_server", "shell", "testing",
            "tests")  # fmt: skip

#: Special methods that belong to the interface of a class.
SPECIAL = {
    "__init__", "__str__", "__repr__", "__eq__", "__hash__", "__len__", "__iter__", "__getitem__",
    "__contains__", "__call__", "__lt__", "__enter__", "__exit__",
}  # fmt: skip

Names = dict[str, object]


def parameters(function: ast.FunctionDef, bound: bool) -> list[str]:
    """Names of parameters in their order; ``=`` follows an optional one; stars precede names."""
    positional = [*function.args.posonlyargs, *function.args.args]
    first_optional = len(positional) - len(function.args.defaults)
    result = [
        f"{item.arg}=" if at >= first_optional else item.arg for at, item in enumerate(positional)
    ]
    if function.args.vararg:
        result.append(f"*{function.args.vararg.arg}")
    for item, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        result.append(f"{item.arg}=" if default else item.arg)
    if function.args.kwarg:
        result.append(f"**{function.args.kwarg.arg}")
    return result[1:] if bound else result


def decorators(node: ast.FunctionDef | ast.ClassDef) -> set[str]:
    """The names of the decorators of a function or class."""
    called = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
    return {item.id if isinstance(item, ast.Name) else ast.unparse(item) for item in called}


def is_public(name: str) -> bool:
    return name in SPECIAL or not name.startswith("_")


def function_facts(function: ast.FunctionDef, in_class: bool) -> str | None:
    """The kind and the parameters of a function; None for one that takes objects of Java."""
    marks = decorators(function)
    if "Internal" in marks or any(mark.endswith((".setter", "overload")) for mark in marks):
        return None
    kind = next(
        (item for item in ("staticmethod", "classmethod", "property") if item in marks), None
    )
    names = parameters(function, in_class and kind != "staticmethod")
    if any(name.startswith(("j_", "gateway")) or "_j_" in name for name in names):
        return None
    written = kind or ("method" if in_class else "function")
    return written if kind == "property" else f"{written}({', '.join(names)})"


def class_facts(node: ast.ClassDef) -> Names:
    """The bases and members of a class, with the classes inside it."""
    members: dict[str, object] = {}
    for item in node.body:
        match item:
            case ast.FunctionDef(name=name) if is_public(name):
                facts = function_facts(item, in_class=True)
                if facts is not None:
                    members.setdefault(name, facts)
            case ast.ClassDef(name=name) if is_public(name):
                members[name] = class_facts(item)
            case ast.Assign(targets=[ast.Name(id=name)]) if is_public(name):
                members[name] = "constant"
            case ast.AnnAssign(target=ast.Name(id=name)) if is_public(name):
                members[name] = "constant"
    bases = [ast.unparse(base) for base in node.bases if ast.unparse(base) != "object"]
    return {"bases": bases, "members": members}


def module_facts(tree: ast.Module) -> Names:
    """The public names that a module defines, and those of ``__all__`` that it imports."""
    names: Names = {}
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) if is_public(name) and "Internal" not in decorators(node):
                names[name] = class_facts(node)
            case ast.FunctionDef(name=name) if is_public(name):
                facts = function_facts(node, in_class=False)
                if facts is not None:
                    names[name] = facts
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                for name in ast.literal_eval(value):
                    names.setdefault(name, "imported")
            case (
                ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name))
            ) if name.isupper() and len(name) > 3 and is_public(name):
                names[name] = "constant"
    return names


def modules(wheel: zipfile.ZipFile) -> Iterator[tuple[str, ast.Module]]:
    """Yield the name and tree of each module that users import."""
    for path in sorted(wheel.namelist()):
        parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
        if path.endswith(".py") and parts[0] == "pyflink" and not {*parts}.intersection(LEFT_OUT):
            yield ".".join(parts), ast.parse(wheel.read(path))


def to_json(version: str, names: dict[str, Names]) -> str:
    """Return the names as JSON, with a line for each name of a module."""
    lines = [f'{{"version": "{version}", "modules": {{']
    for module, facts in sorted(names.items()):
        inside = [f"{json.dumps(name)}: {json.dumps(facts[name])}" for name in sorted(facts)]
        lines += [f'"{module}": {{', *(f" {line}," for line in inside[:-1])]
        lines += [*(f" {line}" for line in inside[-1:]), "},"]
    return "\n".join([*lines[:-1], "}", "}}", ""])


def main(file: str) -> None:
    """Write the names of a wheel to `pyflink_names.json`."""
    version = Path(file).name.split("-")[1]
    with zipfile.ZipFile(file) as wheel:
        names = {name: module_facts(tree) for name, tree in modules(wheel)}
    NAMES.write_text(to_json(version, names), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
