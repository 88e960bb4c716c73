"""Procedures of catalogs: functions in Python that CALL runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from schema_core.base.arguments import require_instance, require_names, require_sequence, type_name
from schema_core.base.lazy import dataclass
from schema_core.base.text import show
from schema_core.errors import ExternalError, SchemaCoreError, SchemaError
from schema_core.types import DataType, RowType, parse_type
from schema_core.types.values import reject_reason


@dataclass(frozen=True, slots=True)
class Procedure:
    """A function with the types of its arguments and of its rows.

    >>> plus = Procedure.of(lambda a, b: [a + b], ["INT", "INT"], "INT", ["left", "right"])
    >>> plus.call(1, 2)
    [3]
    """

    function: Callable[..., Iterable[Any]]
    input_types: tuple[DataType, ...]
    result_type: DataType
    argument_names: tuple[str, ...] = ()

    @staticmethod
    def of(
        function: Callable[..., Iterable[Any]],
        input_types: Iterable[DataType | str],
        result_type: DataType | str,
        argument_names: Iterable[str] = (),
    ) -> Procedure:
        """Return a procedure.

        Args:
            function: Called with a Python value for each argument; returns values of the result.
            input_types: The types of the arguments, or their strings.
            result_type: The type of each result; the fields of a row type are columns.
            argument_names: For calls such as ``CALL p(a => 1)``.

        Raises:
            SchemaError: `invalid-argument` for objects of other types, or unequal numbers of names
                and types.
        """
        if not callable(function):
            raise SchemaError(
                f"function must be callable, got {type_name(function)}", code="invalid-argument"
            )
        types = tuple(_type(type_) for type_ in require_sequence(input_types, "input_types"))
        names = require_names(argument_names, "the procedure")
        if names and len(names) != len(types):
            problem = f"the number of argument names must be {len(types)}, got {len(names)}"
            raise SchemaError(problem, code="invalid-argument")
        return Procedure(function, types, _type(result_type), names)

    def call(self, *arguments: Any) -> list[Any]:
        """Run the procedure and return its results.

        Raises:
            SchemaError: `invalid-data` for a result that is not of the declared type.
            ExternalError: if the function raises an error that is not of this library.
        """
        try:
            results = list(self.function(*arguments))
        except SchemaCoreError:
            raise
        except Exception as error:  # of the function
            problem = f"the procedure failed: {type(error).__name__}: {show(str(error))}"
            raise ExternalError(problem) from error
        is_row = isinstance(self.result_type, RowType)  # a row of the result is never NULL
        type_ = self.result_type.not_null() if is_row else self.result_type
        for result in results:
            if reason := reject_reason(type_, result):
                raise SchemaError(
                    f"the procedure returned another type: {reason}", code="invalid-data"
                )
        return results


def _type(given: DataType | str) -> DataType:
    if isinstance(given, str):
        return parse_type(given)
    return require_instance(given, DataType, "a type of the procedure")
