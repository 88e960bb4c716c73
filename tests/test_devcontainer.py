"""The development container has the Python and the Java of continuous integration."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from schema_core.spark.session.java import VERSIONS

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".devcontainer"
CONTAINER = json.loads((FOLDER / "devcontainer.json").read_text("utf-8"))
DOCKERFILE = (FOLDER / CONTAINER["build"]["dockerfile"]).read_text("utf-8")
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")


def versions(pattern: str, text: str) -> set[str]:
    """Return the versions that a text names; at least one."""
    result = set(re.findall(pattern, text))
    assert result
    return result


def test_python_is_the_lowest_supported_version_and_that_of_the_workflow() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    image = versions(r"(?m)^FROM python:([\d.]+)-", DOCKERFILE)

    assert image == versions(r'python-version: "([\d.]+)"', WORKFLOW)
    assert image == versions(r"^>=([\d.]+)$", project["requires-python"])


def test_java_is_that_of_the_workflow_and_of_spark() -> None:
    packages = versions(r"\bopenjdk-(\d+)-jre-headless\b", DOCKERFILE)

    assert packages == versions(r'java-version: "(\d+)"', WORKFLOW)
    assert packages <= set(map(str, VERSIONS))


def test_the_environment_is_created_by_make_as_the_user_of_the_image() -> None:
    command, target = CONTAINER["postCreateCommand"].split()
    makefile = (ROOT / "Makefile").read_text("utf-8")

    assert "make" == command
    assert re.search(rf"(?m)^{target}:", makefile)
    assert {"git", "make"} <= set(DOCKERFILE.split())
    assert f"USER {CONTAINER['remoteUser']}" == DOCKERFILE.splitlines()[-1]
