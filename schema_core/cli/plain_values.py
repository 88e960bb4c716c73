"""Values of plain types, converted without Typer's adapters: they import pydantic, for 0.1 s.

Values that are not certainly valid are left to the adapters, which word the errors.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from typer._click import Context
    from typer._click.core import Parameter


class Command(TyperCommand):
    """A command that converts plain values itself."""

    def get_params(self, ctx: Context) -> list[Parameter]:
        return convert_plain_values(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands that converts plain values itself."""

    def get_params(self, ctx: Context) -> list[Parameter]:
        return convert_plain_values(super().get_params(ctx))


def convert_plain_values(parameters: list[Parameter]) -> list[Parameter]:
    """Return the parameters, which convert plain values themselves from now on."""
    for parameter in parameters:
        # With click 8.1, an enumeration has the value as its choice, and not the member.
        if isinstance(parameter.default, Enum):
            parameter.default = parameter.default.value
        # Another version of Typer may not have the description.
        if hasattr(parameter, "type_descriptor") and not isinstance(
            parameter.process_value, ParameterConversion
        ):
            parameter.process_value = ParameterConversion(parameter)  # type: ignore[method-assign]
    return parameters


class ParameterConversion:
    """The conversion of the values of a parameter."""

    def __init__(self, parameter: Any) -> None:
        annotation = parameter.type_descriptor.annotation
        self.parameter, self.by_adapter = parameter, parameter.process_value
        self.is_list = get_origin(annotation) is list
        self.type = get_args(annotation)[0] if self.is_list else annotation

    def __call__(self, ctx: Context, value: Any) -> Any:
        """Return the converted value, or what the callback of the parameter makes of it."""
        values = value if self.is_list else [value]
        if value is None and not self.parameter.required:
            converted: Any = () if self.is_list else None
        elif isinstance(values, list | tuple) and self._are_plain(values):
            each = [self.type(value) for value in values]
            converted = each if self.is_list else each[0]
        else:
            return self.by_adapter(ctx, value)
        called = self.parameter.callback
        return converted if called is None else called(ctx, self.parameter, converted)

    def _are_plain(self, values: Sequence[object]) -> bool:
        return bool(values) and all(is_plain(self.type, value) for value in values)


def is_plain(type_: Any, value: object) -> bool:
    """Return whether a value has the type, or is the text of a value of it.

    >>> is_plain(str, "a"), is_plain(Path, "a.sql"), is_plain(int, "1"), is_plain(Path, "")
    (True, True, False, False)
    """
    if type_ in (str, int, bool):
        return type(value) is type_
    if type_ is Path and isinstance(value, str) and value and "\0" not in value:
        return os.access(value, os.R_OK) or not Path(value).exists()
    if isinstance(type_, type) and issubclass(type_, Enum):
        return isinstance(value, str | Enum) and any(
            value in (member, member.value) for member in type_
        )
    return False
