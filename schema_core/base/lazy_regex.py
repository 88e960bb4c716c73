"""Regular expressions that are compiled when they are first used.

A process uses a few of those that its modules declare, and compiling one takes up to ten
milliseconds: with ``re.compile``, the first schema takes 1.1 times as long, imports included. Type
checkers see ``re.compile``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

__all__ = ["regex"]

if TYPE_CHECKING:
    from re import compile as regex
else:

    class regex:  # noqa: N801 - it is called as `re.compile`
        """A regular expression with the attributes of ``re.Pattern``."""

        def __init__(self, pattern: str, flags: int = 0) -> None:
            # Not `pattern` and `flags`: these are attributes of the compiled expression.
            self._arguments = (pattern, flags)

        def __getattr__(self, name: str) -> Any:
            """Compile the expression, and keep its attribute: the next look-up finds that."""
            if name.startswith("_"):  # also while an instance is copied or unpickled
                raise AttributeError(name)
            found = getattr(re.compile(*self._arguments), name)
            setattr(self, name, found)
            return found

        def __reduce__(self) -> tuple[Any, ...]:
            return (regex, self._arguments)

        def __repr__(self) -> str:
            return repr(re.compile(*self._arguments))
