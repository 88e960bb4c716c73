"""Measure the structure of the package: files, imports, helpers, names, prose, and paths of calls.

    python -m tests.structure [PACKAGE ...] [--run]

PACKAGE is the directory of a package, by default that of this checkout; several ones are columns of
one table. `--run` starts Spark for each package, and also counts the files of the package that one
SELECT over a csv file and one CREATE TABLE AS run through, in a first call and in a later one, and
the hops: consecutive calls of a thread that are in different files.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import re
import runpy
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeAlias

PACKAGE = Path(__file__).parent.parent / "schema_core"

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

#: Participles that do not end in -ed or -en.
PARTICIPLES = frozenset(
    re.findall(
        r"\w+",
        """begun bound bought brought built caught dealt done drawn fed felt flown found gone grown
        heard held kept known laid lain led left lent lost made meant met paid said seen sent shown
        sold sought spent stood struck taught thrown told torn understood won worn wound""",
    )
)
#: Words that end like participles.
OTHER_WORDS = frozenset(
    re.findall(
        r"\w+",
        """between breed children embed even exceed feed green hyphen indeed len listen need open
        proceed red screen seed seven shed speed succeed ten then token when""",
    )
)


@dataclass(frozen=True)
class Import:
    """A module of the package that a module imports."""

    module: str
    in_function: bool
    for_types: bool  #: under TYPE_CHECKING


class Module:
    """A file of Python and its syntax tree."""

    def __init__(self, package: Path, file: Path) -> None:
        self.file = file
        self.name = ".".join(file.relative_to(package.parent).with_suffix("").parts)
        self.name = self.name.removesuffix(".__init__")
        self.text = file.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)

    def lines_of(self, kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> set[int]:
        """Return the numbers of the lines of all statements of a kind."""
        return {
            number
            for node in ast.walk(self.tree)
            if isinstance(node, kind)
            for number in _span(node)
        }

    @cached_property
    def docstrings(self) -> list[ast.Expr]:
        """The statements that are docstrings, of attributes as well."""
        return [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ]

    @cached_property
    def comments(self) -> list[tokenize.TokenInfo]:
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return [token for token in tokens if token.type == tokenize.COMMENT]

    @cached_property
    def code_lines(self) -> int:
        """How many lines are neither blank nor part of a docstring or comment."""
        prose = {number for node in self.docstrings for number in _span(node)}
        return sum(
            bool(line.strip()) and not line.lstrip().startswith("#") and number not in prose
            for number, line in enumerate(self.text.splitlines(), 1)
        )

    @cached_property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        return [node for node in ast.walk(self.tree) if isinstance(node, FUNCTION)]

    @cached_property
    def references(self) -> Counter[str]:
        """How often each name is used, as a variable or an attribute."""
        return Counter(
            node.id if isinstance(node, ast.Name) else node.attr
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Name | ast.Attribute)
        )


def _span(node: ast.AST) -> range:
    assert isinstance(node, ast.stmt)
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def read_package(package: Path) -> dict[str, Module]:
    """Return the modules of a package by name."""
    modules = [Module(package, file) for file in sorted(package.rglob("*.py"))]
    return {module.name: module for module in modules}


# --- imports ------------------------------------------------------------------------------------


def imports_of(
    tree: ast.AST, modules: Iterable[str], *, late: bool = False, types: bool = False
) -> Iterator[Import]:
    """Yield the imports of a tree of these modules, wherever they are."""
    for child in ast.iter_child_nodes(tree):
        match child:
            case ast.Import(names=names):
                yield from (
                    Import(name.name, late, types) for name in names if name.name in modules
                )
            case ast.ImportFrom(module=str(module), names=names):
                targets = {f"{module}.{name.name}" for name in names}
                targets = {target for target in targets if target in modules}
                if len(targets) < len(names) and module in modules:
                    targets.add(module)
                yield from (Import(target, late, types) for target in sorted(targets))
            case ast.expr():
                continue  # imports are statements, which no expression contains
            case _:
                within = isinstance(child, FUNCTION)
                checking = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
                yield from imports_of(child, modules, late=late or within, types=types or checking)


def imported_names(tree: ast.AST) -> Iterator[str]:
    """Yield the names of all modules that a tree imports, also by `import_module`."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module="schema_core", names=names):
                yield from (f"schema_core.{name.name}" for name in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module
            case ast.ImportFrom(level=level):
                yield f"relative import: {'.' * level}"
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield module


def layer_of(package: Path, file: Path) -> str:
    """Return the first name below the package; its own file of public names is the front door."""
    first = file.relative_to(package).parts[0].partition(".")[0]
    return "front door" if first == "__init__" else first


def layers_of(tree: ast.AST, layers: Iterable[str]) -> Iterator[str]:
    """Yield the layers that a tree imports; a name of schema_core itself is the front door."""
    for module in imported_names(tree):
        first, *rest = module.split(".")
        if first == "schema_core":
            yield rest[0] if rest and rest[0] in layers else "front door"


def import_graph(modules: Mapping[str, Module], *, for_types: bool = True) -> dict[str, set[str]]:
    """Return the modules that each module imports, also in functions, and for types or not."""
    return {
        name: {
            target.module
            for target in imports_of(module.tree, modules)
            if for_types or not target.for_types
        }
        - {name}
        for name, module in modules.items()
    }


def upward_imports(package: Path, modules: Mapping[str, Module]) -> list[tuple[str, str]]:
    """Return the modules that import a layer that theirs may not, with that layer.

    `tests/test_layers.py` beside the package declares what a layer may import.
    """
    namespace = runpy.run_path(str(package.parent / "tests/test_layers.py"))
    may_import: dict[str, set[str]] = namespace["MAY_IMPORT"]
    return [
        (module.name, target)
        for module in modules.values()
        for layer in [layer_of(package, module.file)]
        for target in sorted(set(layers_of(module.tree, may_import)))
        if target not in may_import.get(layer, may_import["front door"]) | {layer}
    ]


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components that are more than one module (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    components: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for target in graph[module]:
            if target not in index:
                visit(target)
            if target in stack:
                low[module] = min(low[module], low[target])
        if low[module] == index[module]:
            place = stack.index(module)
            component = stack[place:]
            del stack[place:]
            if len(component) > 1:
                components.append(sorted(component))

    for module in graph:
        if module not in index:
            visit(module)
    return components


# --- figures ------------------------------------------------------------------------------------


def private_functions(modules: Iterable[Module]) -> tuple[int, int]:
    """Return how many functions and methods are private, and how many of them one place calls."""
    uses = [
        module.references[function.name]
        for module in modules
        for function in module.functions
        if re.match(r"_[^_]", function.name)
    ]
    return len(uses), uses.count(1)


def bare_participles(functions: Iterable[ast.AST]) -> int:
    """Return how many functions are named by one participle, such as `merged`."""
    return sum(
        isinstance(function, FUNCTION) and is_participle(function.name.strip("_"))
        for function in functions
    )


def is_participle(word: str) -> bool:
    """Return whether a single word is a past participle, by its end or as an irregular one."""
    if "_" in word or word in OTHER_WORDS:
        return False
    return word.endswith(("ed", "en")) or word in PARTICIPLES


def repeated_names(modules: Iterable[Module]) -> dict[str, list[str]]:
    """Return the public functions and classes that several modules define, with the modules."""
    homes: dict[str, set[str]] = {}
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, Definition) and not node.name.startswith("_"):
                homes.setdefault(node.name, set()).add(module.name)
    return {name: sorted(places) for name, places in homes.items() if len(places) > 1}


def variables_named_one(modules: Iterable[Module]) -> int:
    """Return how many comprehensions have a variable `one`."""
    return sum(
        isinstance(name, ast.Name) and name.id == "one"
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, COMPREHENSION)
        for generator in node.generators
        for name in ast.walk(generator.target)
    )


def words(text: str) -> int:
    """Return how many words a text has; marks and rules between them are none."""
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def measure(package: Path) -> dict[str, str]:
    """Return the figures of a package, by what they measure."""
    modules = read_package(package)
    files = modules.values()
    lines = sum(len(module.text.splitlines()) for module in files)
    imports = import_graph(modules)
    folders = Counter(module.file.parent for module in files)
    fullest, size = folders.most_common(1)[0]
    import_lines = sum(len(module.lines_of((ast.Import, ast.ImportFrom))) for module in files)
    private, with_one_caller = private_functions(files)
    code = sum(module.code_lines for module in files)
    repeated = repeated_names(files)
    prose = sum(
        words(ast.literal_eval(node.value)) for module in files for node in module.docstrings
    ) + sum(words(token.string) for module in files for token in module.comments)
    root = package.parent
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *package.rglob("*.md")]
    components = cycles(imports)
    of_modules = bare_participles(node for module in files for node in module.tree.body)
    participles = bare_participles(node for module in files for node in module.functions)
    return {
        "entries at the top": str(len(top_entries(package))),
        "files in the fullest directory": f"{size} ({fullest.relative_to(package)})",
        "files": str(len(modules)),
        "lines": f"{lines:,}",
        "lines of code": f"{code:,}",
        "import lines": f"{import_lines / lines:.1%} of lines, {import_lines / code:.1%} of code",
        "private functions with one caller": f"{with_one_caller / private:.0%} of {private:,}",
        "median fan-out of a module": f"{median(map(len, imports.values())):.0f}",
        "comprehensions over `one`": str(variables_named_one(files)),
        "functions named by a participle": f"{of_modules} ({participles} with methods)",
        "public names of several modules": f"{len(repeated)}",
        "cycles of files": f"{len(components)} ({sum(map(len, components))} files)",
        "upward imports": str(len(upward_imports(package, modules))),
        "words of docstrings and comments": f"{prose:,}",
        "words of pages": f"{sum(words(page.read_text(encoding='utf-8')) for page in pages):,}",
    }


def top_entries(package: Path) -> list[Path]:
    """Return the directories and the files of Python at the top of a package."""
    return [
        entry
        for entry in sorted(package.iterdir())
        if entry.suffix == ".py" or (entry.is_dir() and entry.name != "__pycache__")
    ]


# --- paths of calls -----------------------------------------------------------------------------

#: Prints a line for each statement: the numbers of files, hops and calls. With `--files`, also
#: one for each file.
PROGRAM = """
import sys, tempfile, threading
from collections import Counter
from pathlib import Path
import schema_core
from schema_core import EnvironmentSettings, TableEnvironment

PACKAGE = str(Path(schema_core.__file__).parent)
FOLDER = tempfile.mkdtemp()
Path(FOLDER, "orders.csv").write_text("1,ham,2.50\\n2,egg,0.40\\n")


class Trace:
    def __init__(self):
        self.calls, self.hops, self.last = Counter(), 0, {}

    def __call__(self, frame, event, _):
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(PACKAGE):
            thread = threading.get_ident()
            self.hops += self.last.get(thread, file) != file
            self.last[thread] = file
            self.calls[file[len(PACKAGE) + 1:], frame.f_code.co_qualname] += 1


def count(name, work):
    trace = Trace()
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    files = {file for file, _ in trace.calls}
    print("figure", name, len(files), trace.hops, sum(trace.calls.values()), sep="\\t")
    if "--files" in sys.argv:
        for file in sorted(files):
            names = {call: number for (of, call), number in trace.calls.items() if of == file}
            shown = ", ".join(f"{call} {number}" for call, number in names.items())
            print(f"file\\t{name}\\t{file}\\t{len(names)}\\t{shown}")


environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
environment.execute_sql(
    "CREATE TABLE orders (id BIGINT NOT NULL, item STRING, price DECIMAL(10, 2)) WITH ("
    f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{FOLDER}/orders.csv')"
)


def select(limit):
    query = f"SELECT UPPER(item) AS item, price * 2 AS price FROM orders WHERE id < {limit}"
    rows = list(environment.execute_sql(query).collect())
    assert 2 == len(rows), rows


def create(name):
    environment.execute_sql(
        f"CREATE TABLE {name} WITH ('connector' = 'filesystem', 'format' = 'parquet', "
        f"'path' = '{FOLDER}/{name}') AS SELECT item, price * 2 AS price FROM orders"
    ).wait()


count("SELECT, first", lambda: select(10))
count("SELECT", lambda: select(11))
count("CTAS, first", lambda: create("a"))
count("CTAS", lambda: create("b"))
"""


def install(package: Path, folder: Path) -> None:
    """Write the metadata of a package's entry points: those of this Python are of another one."""
    project = tomllib.loads((package.parent / "pyproject.toml").read_text())["project"]
    info = folder / f"schema_core-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    lines: list[str] = []
    for group, entries in project.get("entry-points", {}).items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))


def run(package: Path, *options: str) -> list[list[str]]:
    """Run the statements in a fresh process; return the fields of the lines that it prints."""
    with TemporaryDirectory() as installed:
        install(package, Path(installed))
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *options],
            cwd=installed,
            env={**os.environ, "PYTHONPATH": f"{installed}:{package.parent}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
    return [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures of packages as a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", metavar="PACKAGE", nargs="*", type=Path, default=[PACKAGE])
    parser.add_argument("--run", action="store_true", help="run statements on Spark as well")
    parser.add_argument(
        "--files", action="store_true", help="only print the files that the statements run through"
    )
    options = parser.parse_args(arguments)
    packages = [package.resolve() for package in options.packages]
    if options.files:
        for package in packages:
            print(*("\t".join(fields) for fields in run(package, "--files")), sep="\n")
        return
    columns = [measure(package) for package in packages]
    if options.run:
        for package, figures in zip(packages, columns, strict=True):
            for _, name, files, hops, calls in run(package):
                figures[f"files of a {name}"] = f"{files} ({hops} hops, {calls} calls)"
    print("| |", " | ".join(package.parent.name for package in packages), "|")
    print("|---|" + "---:|" * len(columns))
    for name in columns[0]:
        print(f"| {name} |", " | ".join(figures.get(name, "") for figures in columns), "|")


if __name__ == "__main__":
    main()
