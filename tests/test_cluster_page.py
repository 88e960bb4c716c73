"""The commands of docs/how-to/run-on-a-cluster.md have options and settings that Spark has."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
import zipfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pyspark
import pytest

from schema_core.spark.session.java import VERSIONS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "how-to" / "run-on-a-cluster.md").read_text("utf-8")
BLOCKS = re.findall(r"(?ms)^( *)```(sh|dockerfile)\n(.*?)^ *```", PAGE)
SHELL = [text for _, language, text in BLOCKS if language == "sh"]
(DOCKERFILE,) = (text for _, language, text in BLOCKS if language == "dockerfile")
#: The jars of Spark with settings and options of its commands.
JARS = ("core", "launcher", "kubernetes", "yarn", "connect_", "sql-api", "catalyst", "network")


@cache
def spark_classes() -> bytes:
    """Return the classes of Spark, whose constants are the names of settings and options."""
    jars = Path(pyspark.__file__).parent / "jars"
    contents = []
    for jar in sorted(jars.glob("spark-*.jar")):
        if jar.name.startswith(tuple(f"spark-{name}" for name in JARS)):
            with zipfile.ZipFile(jar) as archive:
                names = [name for name in archive.namelist() if name.endswith(".class")]
                contents += [archive.read(name) for name in names]
    return b"".join(contents)


def words() -> list[str]:
    """Return the words of the commands of Spark."""
    lines = "\n".join(SHELL).replace("\\\n", " ").splitlines()
    return [word for line in lines if "spark-submit" in line or "start-connect" in line
            for word in shlex.split(line)]  # fmt: skip


def test_the_commands_are_those_of_a_shell() -> None:
    for block in SHELL:
        done = subprocess.run(
            ["sh", "-n"], input=block, stderr=subprocess.PIPE, text=True, check=False
        )
        assert not done.returncode, done.stderr


def test_options_and_settings_are_those_of_spark() -> None:
    options = {word for word in words() if word.startswith("--")}
    settings = {word.partition("=")[0] for word in words() if re.match(r"spark\.[\w.]+=", word)}
    settings.update(re.findall(r"`(spark\.[\w.]*[a-z][\w.]*)`", PAGE))
    names = {*options, *settings}
    known = spark_classes()

    assert 5 < len(options)
    assert 10 < len(settings)
    # the last part of some is the name of a variable
    names = {re.sub(r"\.[A-Z_]+$", ".", name) for name in names}
    assert set() == {
        name
        for name in names
        if name.encode() not in known
        and not all(part.encode() in known for part in name.rpartition("."))
    }


def test_the_image_has_supported_versions_and_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    images = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    (java,) = re.findall(r"openjdk-(\d+)-jre", DOCKERFILE)
    extras = re.findall(r"schema-core\[([\w,]+)\]", PAGE)

    assert f"apache/spark:{version('pyspark')}" == images[0]
    assert re.fullmatch(r"python:3\.(\d+)-slim-bookworm", images[1])
    least = int(project["requires-python"].removeprefix(">=3."))
    assert least <= int(images[1].split(".")[1].partition("-")[0])
    assert int(java) in VERSIONS
    assert {name for text in extras for name in text.split(",")} <= {
        *project["optional-dependencies"]
    }


@pytest.mark.parametrize("name", ["PYSPARK_PYTHON", "SPARK_HOME"])
def test_the_image_sets_the_variables_of_spark(name: str) -> None:
    (value,) = re.findall(rf"\b{name}=(\S+)", DOCKERFILE)

    assert value.startswith(("/usr/local/bin/", "/opt/spark"))
