"""Functions of streams (`pyflink.datastream.functions`): objects instead of Python functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from schema_core.expressions.user_functions import FunctionContext
from schema_core.pyflink.absent import RefusesMethods, refuse_absent

__all__ = [
    "FilterFunction",
    "FlatMapFunction",
    "Function",
    "KeySelector",
    "MapFunction",
    "ReduceFunction",
    "RuntimeContext",
]


class RuntimeContext(RefusesMethods):
    """The task that calls a function, as `Function.open` receives it."""

    def __init__(self, context: FunctionContext) -> None:
        self._context = context

    def get_index_of_this_subtask(self) -> int:
        """Return the number of the task, from 0."""
        return self._context.get_index_of_this_subtask()

    def get_attempt_number(self) -> int:
        """Return how many attempts of the task have failed."""
        return self._context.get_attempt_number()

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return a value of ``pipeline.global-job-parameters``, or the default."""
        return self._context.get_job_parameter(key, default_value)

    def get_metrics_group(self) -> Any:
        """Return the group of the metrics of the function."""
        return self._context.get_metric_group()


class Function:
    """The base class of functions of streams."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Prepare the function before the first value of a task."""

    def close(self) -> None:
        """Release what `open` took, at the end of a task."""


class MapFunction(Function, ABC):
    """Returns a value for each value."""

    @abstractmethod
    def map(self, value: Any) -> Any:
        """Return the value of the result."""


class FlatMapFunction(Function, ABC):
    """Returns any number of values for each value."""

    @abstractmethod
    def flat_map(self, value: Any) -> Iterable[Any]:
        """Return or yield the values of the result."""


class FilterFunction(Function, ABC):
    """Decides which values a stream keeps."""

    @abstractmethod
    def filter(self, value: Any) -> bool:
        """Return whether the value is kept."""


class ReduceFunction(Function, ABC):
    """Combines two values of a key."""

    @abstractmethod
    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return the value of both."""


class KeySelector(Function, ABC):
    """Returns the key of a value."""

    @abstractmethod
    def get_key(self, value: Any) -> Any:
        """Return the key."""


refuse_absent(__name__)
