"""The recipes of CONTRIBUTING.md: the files that they name exist, and are sufficient.

A test performs a recipe on a copy of the package, in exactly the files of its row. A program that
uses the extension fails before, and succeeds afterwards.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("\n## Which files to touch\n")[2].partition("\n## ")[0]
#: Recipes that are not performed.
OTHERS = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
OTHERS = OTHERS.partition("\n## Where does this line live?\n")[2].partition("\n## ")[0]
#: The purpose, number and files of each recipe.
ROWS = re.findall(r"(?m)^\| (\w[^|]*?) \| (\d+) \| ([^|]*) \|", SECTION)
#: A path in a recipe: of the package or of the project, with <...> for a name to choose.
PATH = re.compile(r"`((?:[\w<>*.-]+/)+[\w<>*.-]*|[\w<>-]+\.(?:py|md|toml|txt|cases))`")
RECIPES = {purpose: PATH.findall(files) for purpose, _, files in ROWS}

START = """
from schema_core import EnvironmentSettings, TableEnvironment
env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
"""


def pattern(path: str) -> str:
    return re.sub(r"<[^>]*>", "*", path)


def test_the_recipes_cover_common_extensions() -> None:
    assert {
        "a SQL function", "a type", "a connector", "a file format",
        "a catalog", "an error code", "a statement", "an option", "a change of a table",
    } <= set(RECIPES)  # fmt: skip


@pytest.mark.parametrize(("purpose", "count", "files"), ROWS)
def test_a_recipe_counts_its_files(purpose: str, count: str, files: str) -> None:
    assert len(PATH.findall(files)) == int(count), purpose


@pytest.mark.parametrize("path", sorted(set(PATH.findall(SECTION + OTHERS))))
def test_files_of_recipes_exist(path: str) -> None:
    name = pattern(path).rstrip("/")

    assert [*ROOT.glob(name), *(ROOT / "schema_core").glob(name)], path


class Copy:
    """A copy of the package, which records the files that a recipe changes."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.package = directory / "schema_core"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "schema_core", self.package, ignore=ignored)
        self.changed: set[str] = set()

    def write(self, path: str, text: str) -> None:
        """Write a file of the package."""
        (self.package / path).write_text(text, encoding="utf-8")
        self.changed.add(path)

    def read(self, path: str) -> str:
        return (self.package / path).read_text(encoding="utf-8")

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace text that a file contains once."""
        text = self.read(path)
        assert text.count(old) == 1, (path, old, text.count(old))
        self.write(path, text.replace(old, new))

    def repeat_line(self, path: str, old: str, new: str) -> None:
        """Repeat the line of a table that contains a string, with another one in its place."""
        lines = self.read(path).splitlines(keepends=True)
        (number,) = [number for number, line in enumerate(lines) if old in line]
        lines.insert(number, lines[number].replace(old, new))
        self.write(path, "".join(lines))

    def run(self, program: str) -> subprocess.CompletedProcess[str]:
        """Run a program with the package on the path."""
        return subprocess.run(
            [sys.executable, "-c", program],
            cwd=self.directory,
            env={**os.environ, "PYTHONPATH": str(self.directory)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def output(self, program: str) -> str:
        """Run a program, which succeeds, and return its output."""
        result = self.run(program)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def error(self, program: str) -> str:
        """Run a program, which fails, and return its error."""
        result = self.run(program)
        assert result.returncode != 0, result.stdout
        return result.stderr

    def require_recipe(self, purpose: str) -> None:
        """Assert that exactly the files of a recipe are changed."""
        patterns = [pattern(path) for path in RECIPES[purpose]]
        extra = [file for file in self.changed if not any(fnmatch(file, name) for name in patterns)]
        missing = [
            name for name in patterns if not any(fnmatch(file, name) for file in self.changed)
        ]
        assert ([], [], len(patterns)) == (extra, missing, len(self.changed))


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_a_function_is_a_signature_and_a_translation_rule(copy: Copy) -> None:
    """Both rows are those of REVERSE, under another name."""
    program = f"""{START}
from schema_core.query.relation import result_columns
from schema_core.spark.compiler.query import query_text
relation = env.sql_query("SELECT TOY_REVERSE('abc') AS x").relation
print(result_columns(relation)[0].type)
print(query_text(relation, str))
"""
    assert "there is no function 'TOY_REVERSE'" in copy.error(program)

    copy.repeat_line("expressions/functions/strings.py", '"REVERSE"', '"TOY_REVERSE"')
    typed = copy.run(program)
    assert ["VARCHAR(2147483647)"] == typed.stdout.splitlines()
    assert "UnsupportedError" in typed.stderr

    copy.repeat_line("spark/compiler/functions/strings.py", '"REVERSE"', '"TOY_REVERSE"')
    assert "reverse(" in copy.output(program)
    copy.require_recipe("a SQL function")


def test_an_error_code_is_raised_and_has_a_page(copy: Copy) -> None:
    raises = f"""{START}
from schema_core.expressions import col
env.from_elements([(1,)], ["a"]).drop_columns(col("a"))
"""
    explain = "from schema_core.errors.codes import summary; print(summary('toy-code'))"
    assert "there is no code 'toy-code'" in copy.error(explain)

    copy.replace("environment/table_api/relational.py", '"missing-columns"', '"toy-code"')
    copy.write(
        "errors/codes/toy-code.md",
        "# toy-code\n\nA toy is broken.\n\nIt fell.\n\n```sql\nSELECT 1\n```\n\n"
        "**What to do.** Glue it.\n",
    )
    assert copy.output(explain) == "A toy is broken.\n"
    assert "toy-code" in copy.output(f"""
try:
    exec({raises!r})
except Exception as error:
    print(error.code)
""")
    copy.require_recipe("an error code")


def test_an_option_is_a_row(copy: Copy) -> None:
    program = f"""{START}
from schema_core.errors import SchemaError
try:
    env.get_config().set("table.toys", "many")
except SchemaError as error:
    print(error)
"""
    assert copy.output(program) == ""

    copy.replace(
        "environment/options.py",
        "ENVIRONMENT: tuple[ConfigOption[Any], ...] = (\n",
        'TOYS = ConfigOption("table.toys", integer, 3, "how many toys there are")\n\n'
        "ENVIRONMENT: tuple[ConfigOption[Any], ...] = (\n    TOYS,\n",
    )
    assert "'table.toys'" in copy.output(program)
    copy.require_recipe("an option")


def test_a_catalog_is_a_factory_with_a_row(copy: Copy) -> None:
    program = f"""{START}
env.execute_sql("CREATE CATALOG toys WITH ('type' = 'toy', 'box' = 'red')")
print(env.get_catalog("toys").get_default_database())
"""
    assert "use one of delta, generic_in_memory, hive, iceberg, jdbc, sql" in copy.error(program)

    copy.write(
        "catalogs/toy.py",
        """
from schema_core.catalog.registry import CatalogFactory
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.environment.options import ConfigOption

BOX = ConfigOption("box", str)
TOY = CatalogFactory((BOX,), lambda name, options: InMemoryCatalog(name, options["box"]))
""",
    )
    copy.replace(
        "base/plugins.py", "    CATALOGS: {\n",
        '    CATALOGS: {\n        "toy": "schema_core.catalogs.toy:TOY",\n',
    )  # fmt: skip
    assert copy.output(program) == "red\n"
    copy.require_recipe("a catalog")


def test_a_connector_is_a_class_with_a_row(copy: Copy) -> None:
    """The connector is `blackhole` under another name."""
    program = """
from schema_core.environment.connector import find_connector
print(type(find_connector({"connector": "toy"})).__name__)
"""
    assert "no connector 'toy'" in copy.error(program)

    text = copy.read("connectors/blackhole.py")
    copy.write("connectors/toy.py", text.replace("blackhole", "toy").replace("Blackhole", "Toy"))
    copy.repeat_line(
        "base/plugins.py",
        '"blackhole": "schema_core.connectors.blackhole:Blackhole',
        '"toy": "schema_core.connectors.toy:Toy',
    )
    assert copy.output(program) == "ToyConnector\n"
    copy.require_recipe("a connector")


def test_a_file_format_is_an_object_with_a_row(copy: Copy) -> None:
    """The format is `text` under another name."""
    program = """
from schema_core.environment.connector import find_connector, validate
options = {"connector": "filesystem", "path": "toys", "format": "toy"}
connector = find_connector(options)
validate(connector, options)
"""
    assert "format 'toy' is installed" in copy.error(program)
    text = copy.read("connectors/files/text_files.py")
    copy.write("connectors/files/toy_files.py", text.replace('Format("text"', 'Format("toy"'))
    copy.repeat_line(
        "base/plugins.py",
        '"text": "schema_core.connectors.files.text_files:',
        '"toy": "schema_core.connectors.files.toy_files:',
    )
    assert copy.output(program) == ""
    copy.require_recipe("a file format")


def test_a_statement_is_a_node_a_grammar_and_an_operation(copy: Copy) -> None:
    program = f"""{START}
print([row[0] for row in env.execute_sql("PLAY 'chess'").collect()])
"""
    assert "ParseError" in copy.error(program)

    nodes = "sql/statement_syntax.py"
    (node,) = re.findall(r"(?ms)^@\w+\([^\n]*\)\nclass DescribeJob.*?\n\n\n", copy.read(nodes))
    copy.replace(nodes, node, node + node.replace("DescribeJob", "Play").replace("job_id", "game"))
    copy.repeat_line(
        "sql/statement_syntax.py",
        '    StopJob:                 "jobs.stop_job"',
        '    Play: "jobs.play"',
    )
    copy.replace(
        "sql/statement.py",
        "def _stop(cursor: QueryCursor)",
        """def _play(cursor: QueryCursor) -> nodes.Statement:
    start = cursor.expect("PLAY").start
    return nodes.Play(string(cursor), cursor.span_from(start))


def _stop(cursor: QueryCursor)""",
    )
    copy.replace(
        "sql/statement.py",
        '    "STOP":      _stop,\n',
        '    "STOP":      _stop,\n    "PLAY":      _play,\n',
    )
    copy.replace(
        "environment/operations/jobs.py",
        "def stop_job(",
        """def play(session: Session, statement: Any, text: str) -> TableResult:
    from schema_core.environment.result import string_result

    return string_result(["game"], [(statement.game,)])


def stop_job(""",
    )
    assert copy.output(program) == "['chess']\n"
    copy.require_recipe("a statement")


def test_a_type_is_a_class_with_rows(copy: Copy) -> None:
    """The type is BOOLEAN under another name."""
    program = """
from schema_core.mappings.arrow import to_arrow
from schema_core.mappings.spark.types import to_tree
from schema_core.types import DataTypes, parse_type, supports_explicit_cast
toy = parse_type("TOY NOT NULL")
assert toy == DataTypes.TOY(False)
print(toy, supports_explicit_cast(DataTypes.STRING(), toy), to_arrow(toy), to_tree(toy))
"""
    assert "TOY" in copy.error(program)

    copy.repeat_line("types/families.py", 'BOOLEAN = "BOOLEAN"', 'TOY = "TOY"')
    copy.replace(
        "types/atomic.py",
        "class TinyIntType(IntegralType):\n",
        """class ToyType(AtomicType):
    __slots__ = ()
    keyword = "TOY"
    root = TypeRoot.TOY


class TinyIntType(IntegralType):
""",
    )
    copy.replace(
        "types/atomic.py",
        "    CharType, VarCharType, BooleanType,",
        "    CharType, VarCharType, BooleanType, ToyType,",
    )
    copy.replace(
        "types/factory.py",
        "    @staticmethod\n    def BOOLEAN(",
        """    @staticmethod
    def TOY(nullable: bool = True) -> atomic.ToyType:
        return atomic.ToyType(nullable)

    @staticmethod
    def BOOLEAN(""",
    )
    copy.repeat_line("types/casts.py", "    R.BOOLEAN:         ", "    R.TOY:         ")
    copy.repeat_line("types/atomic.py", '    "BooleanType",', '    "ToyType",')
    copy.repeat_line("mappings/arrow/types.py", "    types.BooleanType: ", "    types.ToyType: ")
    both = "(types.BooleanType, types.ToyType)),"
    copy.replace("mappings/spark/ddl.py", "(types.BooleanType,)),", both)
    assert copy.output(program) == "TOY NOT NULL True bool boolean\n"
    copy.require_recipe("a type")
