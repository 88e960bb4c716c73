"""Progress while a program waits: in notebooks, an output of the cell that is updated."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from itertools import islice
from typing import Any, TypeVar
from uuid import uuid4

from schema_core.base.plugins import load_higher

T = TypeVar("T")

#: The numbers of finished and of known tasks; None if unknown.
Tasks = Callable[[], tuple[int, int] | None]

#: Seconds until the progress is shown, and between its updates.
DELAY, UPDATE = 1.0, 0.5


@contextmanager
def show_progress(name: str, tasks: Tasks = lambda: None) -> Iterator[None]:
    """Show for how long a block runs in a cell of a notebook, and its tasks; elsewhere nothing.

    The output is removed at the end of the block.
    """
    publisher = _publisher()
    if publisher is None:
        yield
        return
    context = copy_context()  # it has the cell to which outputs belong
    with thread_beside(lambda ended: context.run(_update, publisher, name, tasks, ended)):
        yield


@contextmanager
def thread_beside(target: Callable[[threading.Event], object]) -> Iterator[None]:
    """Call a function on a thread while a block runs, with an event that is set at its end."""
    ended = threading.Event()
    name = "schema-core progress"
    thread = threading.Thread(target=target, args=(ended,), name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def show_until_first(name: str, rows: Iterable[T]) -> Iterator[T]:
    """Yield rows, and show the progress until the first of them is there."""
    iterator = iter(rows)
    with show_progress(name):
        first = [*islice(iterator, 1)]
    yield from first
    yield from iterator


def _publisher() -> Any:
    """Return what publishes outputs of this thread's cell; None outside of a notebook's cell."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    is_cell = threading.current_thread() is threading.main_thread()
    return shell.display_pub if is_cell and hasattr(shell, "kernel") else None


def _update(publisher: Any, name: str, tasks: Tasks, ended: threading.Event) -> None:
    start, shown = time.monotonic(), {"display_id": uuid4().hex}
    if ended.wait(DELAY):
        return
    is_first = True
    with suppress(Exception):  # the kernel may be ending: the job goes on
        while True:
            seconds = time.monotonic() - start
            html = load_higher("progress_html")(name, tasks(), seconds)
            data = {"text/html": html, "text/plain": f"{name}: running for {seconds:.0f} s"}
            publisher.publish(data, transient=shown, update=not is_first)
            is_first = False
            if ended.wait(UPDATE):
                break
        publisher.publish({"text/html": "", "text/plain": ""}, transient=shown, update=True)
