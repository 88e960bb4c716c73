"""The pages of codes: ``duplicate-column.md`` beside this module is that of ``duplicate-column``.

A page says what is wrong and why it is so, shows an example that meets it (the tests run it), and
what to do. ``schema-core explain CODE`` prints it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from schema_core.errors import NotFoundError, similar


@cache
def codes() -> tuple[str, ...]:
    """All codes, in the order of the alphabet.

    >>> "duplicate-column" in codes()
    True
    """
    pages = (one.name for one in files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(".md") for name in pages if name.endswith(".md")))


def page(code: str) -> str:
    """The page of a code, as Markdown.

    Raises:
        NotFoundError: with code `unknown-code` where there is no such code.

    >>> print(page("duplicate-column").splitlines()[0])
    # duplicate-column
    """
    if code not in codes():
        raise NotFoundError(
            f"there is no code {code!r}", code="unknown-code", hint=similar(code, codes())
        )
    return files(__package__).joinpath(f"{code}.md").read_text(encoding="utf-8")


def summary(code: str) -> str:
    """What a code says, in one sentence: the first of its page.

    Raises:
        NotFoundError: as `page`.

    >>> summary("duplicate-column")
    'Several columns of one schema have the same name.'
    """
    _, _, rest = page(code).partition("\n\n")
    return rest.partition("\n\n")[0].replace("\n", " ")


def summaries() -> Iterator[tuple[str, str]]:
    """Every code with what it says."""
    for code in codes():
        yield code, summary(code)
