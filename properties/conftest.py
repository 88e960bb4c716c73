"""The laws are looked at as hard as the tests are."""

from __future__ import annotations

from tests.support import load_profile

load_profile()
