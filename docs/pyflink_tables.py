"""Compare each public name of PyFlink with ours: docs/pyflink.md, and a page of the site."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module

from docs.pyflink_facts import NAMES
from docs.pyflink_reasons import BEHAVIOR, REASONS
from schema_core.errors import UnsupportedError

#: Where PyFlink inherits from a class that is not one of its own, its members are not compared.
SAME, DIFFERS, ABSENT = "same", "differs", "absent"


@dataclass(frozen=True)
class Compared:
    """One name of PyFlink: its path below the module, and how ours compares."""

    module: str
    path: str
    status: str
    found: str = ""

    @property
    def key(self) -> str:
        """The name by which `REASONS` finds it: ``pyflink.table.types.RowType.add``."""
        return f"{self.module}.{self.path}"

    @property
    def reason(self) -> str | None:
        """Why it is not the same, or None where no reason is recorded."""
        return REASONS.get(self.cause, BEHAVIOR.get(self.cause))

    @property
    def cause(self) -> str:
        """The key of its reason: its name, that of a member, or the longest prefix with one."""
        parts = self.key.split(".")
        prefixes = [".".join(parts[:end]) for end in range(len(parts), 1, -1)]
        keys = [self.key, f"*.{parts[-1]}", *prefixes]
        return next((key for key in keys if key in REASONS or key in BEHAVIOR), "")


def accepts(parameters: list[str], ours: inspect.Signature, bound: bool) -> bool:
    """Return whether each call with the parameters of PyFlink is a call of our function."""
    own = list(ours.parameters.values())[1 if bound else 0 :]
    kinds = {option.kind for option in own}
    named = [parameter for parameter in parameters if not parameter.startswith("*")]
    if inspect.Parameter.VAR_POSITIONAL not in kinds and any(
        parameter.startswith("*") and not parameter.startswith("**") for parameter in parameters
    ):
        return False
    required = {option.name for option in own if option.default is option.empty and option.kind < 2}
    for at, written in enumerate(named):
        name, is_optional = written.rstrip("="), written.endswith("=")
        if at < len(own) and own[at].kind is inspect.Parameter.VAR_POSITIONAL:
            return True
        if at >= len(own) or own[at].name != name or (is_optional and name in required):
            return False
    return required <= {source.rstrip("=") for source in named}


def signature_of(function: object) -> inspect.Signature | None:
    try:
        return inspect.signature(function)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def callable_status(written: str, value: object, bound: bool) -> tuple[str, str]:
    """Compare a function or method with what was found under its name."""
    kind, _, inside = written.removesuffix(")").partition("(")
    if isinstance(value, (staticmethod, classmethod)):
        bound = isinstance(value, classmethod)
        value = value.__func__
    elif kind in ("staticmethod", "classmethod") and bound:
        return DIFFERS, "a method"
    if isinstance(value, property) or not callable(value):
        return DIFFERS, "a property"
    signature = signature_of(value)
    parameters = [part for part in inside.split(", ") if part]
    if signature is None or accepts(parameters, signature, bound):
        return SAME, ""
    own = [str(parameter) for parameter in signature.replace(return_annotation=signature.empty)
           .parameters.values()][1 if bound else 0 :]  # fmt: skip
    names = ", ".join(option.partition(":")[0] for option in own)
    return DIFFERS, f"({names})"


def member_status(written: object, owner: type, name: str) -> tuple[str, str]:
    """Compare one member of a class."""
    getattr(owner, name, None)  # the methods of a dataclass are generated when they are read
    try:
        value = inspect.getattr_static(owner, name)
    except AttributeError:
        fields = {item for base in owner.__mro__ for item in vars(base).get("__annotations__", ())}
        if name not in fields:
            return ABSENT, ""
        return (SAME, "") if written in ("property", "constant") else (DIFFERS, "an attribute")
    if isinstance(written, dict):
        return (SAME, "") if isinstance(value, type) else (DIFFERS, "")
    if written == "constant" or (name.startswith("__") and name != "__init__"):
        return (SAME, "") if value is not None else (ABSENT, "")
    if written == "property":
        is_data = isinstance(value, property) or not callable(value)
        return (SAME, "") if is_data else (DIFFERS, "a method")
    return callable_status(str(written), value, bound=True)


def of_class(module: str, path: str, facts: dict[str, object], ours: type) -> Iterator[Compared]:
    """Compare the members of a class, and of the classes inside it."""
    members: dict[str, object] = facts["members"]  # type: ignore[assignment]
    for name, written in members.items():
        status, result = member_status(written, ours, name)
        yield Compared(module, f"{path}.{name}", status, result)
        if status == SAME and isinstance(written, dict):
            yield from of_class(module, f"{path}.{name}", written, getattr(ours, name))


def absent_members(module: str, path: str, written: object) -> Iterator[Compared]:
    """The members of a class that is absent."""
    if isinstance(written, dict):
        for name, inside in written["members"].items():
            yield Compared(module, f"{path}.{name}", ABSENT)
            yield from absent_members(module, f"{path}.{name}", inside)


def of_module(module: str, names: dict[str, object]) -> Iterator[Compared]:
    """Compare the names of a module, and the members of its classes."""
    ours = import_module(f"schema_core.{module}")
    for name, written in names.items():
        try:
            value = getattr(ours, name)
        except UnsupportedError:
            yield Compared(module, name, ABSENT)
            yield from absent_members(module, name, written)
            continue
        if isinstance(written, dict):
            if isinstance(value, type):
                yield Compared(module, name, SAME)
                yield from of_class(module, name, written, value)
            else:
                yield Compared(module, name, DIFFERS, "not a class")
        elif written in ("imported", "constant"):
            yield Compared(module, name, SAME)
        else:
            yield Compared(module, name, *callable_status(str(written), value, bound=False))


def recorded() -> dict[str, dict[str, object]]:
    """The public names of PyFlink by module."""
    result: dict[str, dict[str, object]] = json.loads(NAMES.read_text(encoding="utf-8"))["modules"]
    return result


@cache
def compared() -> tuple[Compared, ...]:
    """Every recorded name of PyFlink, compared with ours."""
    result = (item for module, names in recorded().items() for item in of_module(module, names))
    return tuple(
        replace(item, status=DIFFERS) if item.key in BEHAVIOR and item.status == SAME else item
        for item in result
    )


def module_section(module: str, names: list[Compared]) -> Iterator[str]:
    """Yield the classes and functions that are the same, then a row for each reason of the others.

    Members of a class that is the same are listed only if they are not.
    """
    count = Counter(name.status for name in names)
    yield from (f"### `{module}`", "")
    yield f"{count[SAME]} the same, {count[DIFFERS]} differ, {count[ABSENT]} absent."
    yield ""
    same = [f"`{name.path}`" for name in names if name.status == SAME and "." not in name.path]
    if same:
        yield from ("Same: " + ", ".join(same) + ".", "")
    absent = {name.path for name in names if name.status == ABSENT}
    reasons: dict[tuple[str, str], list[str]] = {}
    for name in names:
        if name.status != SAME and name.path.rpartition(".")[0] not in absent:
            own = (
                f", ours is `{name.path.rpartition('.')[2]}{name.found}`"
                if "(" in name.found
                else ""
            )
            reasons.setdefault((name.status + own, name.reason or ""), []).append(f"`{name.path}`")
    if reasons:
        yield from ("| names | compared | why |", "|---|---|---|")
        for (status, reason), paths in reasons.items():
            yield f"| {', '.join(paths)} | {status} | {reason} |".replace("*", "\\*")
        yield ""


def absent_modules(names_of: dict[str, list[Compared]]) -> Iterator[str]:
    """A row for each reason, with the modules of which each name is absent for it."""
    modules: dict[str | None, list[str]] = {}
    for module, names in names_of.items():
        modules.setdefault(names[0].reason, []).append(f"`{module}`")
    for reason, absent in modules.items():
        yield f"| {reason} | {', '.join(absent)} |"


def summary(package: str) -> str:
    """The row of a package: how many names are the same, different, absent, and all."""
    count = Counter(name.status for name in compared() if f"{name.module}.".startswith(package))
    numbers = (count[SAME], count[DIFFERS], count[ABSENT], sum(count.values()))
    return f"| `{package[:-1]}` | {' | '.join(map(str, numbers))} |"


def packages() -> str:
    """Return the table of packages, with the number of names that are the same."""
    names = ("table", "common", "metrics", "util", "datastream")
    lines = ["| package | same | differ | absent | names |", "|---|---|---|---|---|"]
    return "\n".join([*lines, *(summary(f"pyflink.{name}.") for name in names), ""])


def page() -> str:
    """Return the page with a table of absent modules, and a section for each other module."""
    names_of = {
        module: [name for name in compared() if name.module == module] for module in recorded()
    }
    absent = {
        module: names
        for module, names in names_of.items()
        if {name.status for name in names} == {ABSENT}
    }
    lines = [
        "# Every name of PyFlink",
        "",
        "Each public name of PyFlink, compared with [ours](../pyflink.md#every-name).",
        "",
        "| why all names are absent | modules |",
        "|---|---|",
        *absent_modules(absent),
        "",
    ]
    for module, names in names_of.items():
        if names and module not in absent:
            lines += module_section(module, names)
    return "\n".join(lines)
