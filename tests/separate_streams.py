"""The test runner of click before 8.2, which keeps stdout and stderr apart as later ones do."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def separate_streams() -> None:
    """Patch the runner, if click is installed and mixes the streams.

    Unlike in later versions, `output` is all of stdout and then all of stderr.
    """
    if importlib.util.find_spec("click") is None:
        return
    from click import testing

    runner: Any = testing.CliRunner
    result: Any = testing.Result
    if "mix_stderr" not in inspect.signature(runner).parameters:
        return
    runner.__init__ = functools.partialmethod(runner.__init__, mix_stderr=False)
    runner.isolation = _unbuffered(runner.isolation)
    result.output = property(lambda self: self.stdout + self.stderr)


def _unbuffered(isolation: Any) -> Any:
    """Return `isolation` with a stderr that is complete without a flush."""

    @contextmanager
    def isolate(*arguments: Any, **options: Any) -> Iterator[Any]:
        with isolation(*arguments, **options) as streams:
            stderr: Any = sys.stderr
            stderr.reconfigure(write_through=True)
            yield streams

    return isolate
