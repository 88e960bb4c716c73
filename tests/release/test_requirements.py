"""Requirements: each has a lower bound, and the lock has versions within all bounds."""

from __future__ import annotations

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.release.distributions import ROOT
from tests.release.environments import LOCK
from tests.release.lowest import lowest_versions, requirements


def test_every_requirement_has_one_lower_bound() -> None:
    assert {Requirement(requirement).name for requirement in requirements()} == {*lowest_versions()}


def test_every_requirement_has_its_license_in_the_documentation() -> None:
    page = (ROOT / "docs" / "licenses.md").read_text(encoding="utf-8")

    assert [] == [name for name in lowest_versions() if f"`{name}`" not in page]


def test_the_lock_satisfies_every_requirement() -> None:
    lines = [line for line in LOCK.read_text(encoding="utf-8").splitlines() if "==" in line]
    locked = {
        canonicalize_name(name): version for name, version in (line.split("==") for line in lines)
    }

    for text in requirements():
        requirement = Requirement(text)
        version = locked.get(canonicalize_name(requirement.name))
        if requirement.name != "polars":  # the environment of the tests does not have it
            assert version is not None, text
            assert requirement.specifier.contains(version), text
