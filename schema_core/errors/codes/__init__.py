"""Documentation of the error codes, one page for each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from schema_core.errors import NotFoundError, similar


@cache
def codes() -> tuple[str, ...]:
    """Return all codes in alphabetical order.

    >>> "duplicate-column" in codes()
    True
    """
    pages = (path.name for path in files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(".md") for name in pages if name.endswith(".md")))


def page(code: str) -> str:
    """Return the page of a code, as Markdown.

    Raises:
        NotFoundError: with code `not-found`.

    >>> print(page("duplicate-column").splitlines()[0])
    # duplicate-column
    """
    if code not in codes():
        raise NotFoundError(
            f"there is no code {code!r}", code="not-found", hint=similar(code, codes())
        )
    return files(__package__).joinpath(f"{code}.md").read_text(encoding="utf-8")


def summary(code: str) -> str:
    """Return the summary of a code, the first sentence of its page.

    Raises:
        NotFoundError: as `page`.

    >>> summary("duplicate-column")
    'Several columns of one schema have the same name.'
    """
    _, _, rest = page(code).partition("\n\n")
    return rest.partition("\n\n")[0].replace("\n", " ")


def summaries() -> Iterator[tuple[str, str]]:
    """Return every code with its summary."""
    for code in codes():
        yield code, summary(code)
