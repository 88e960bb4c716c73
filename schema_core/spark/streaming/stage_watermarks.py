"""The watermark of a query in stages: the least one of its sources, in files by micro-batch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from schema_core.base.lazy import NamedTuple
from schema_core.spark.commit.directory import Directory
from schema_core.spark.streaming.checkpoint_files import invalid_checkpoint

#: Prefix of the names of the files.
WATERMARKS: Final = "watermarks-"


class BatchTime(NamedTuple):
    """The watermark before and after a micro-batch, and its processing time, in milliseconds.

    A watermark is None until all sources have one. `since` is the processing time of the
    micro-batch before, None for the first one; `now` is never earlier.
    """

    before: int | None
    after: int | None
    since: int | None
    now: int


class SourceTime(NamedTuple):
    """The watermark of a source, and when rows have last arrived, in milliseconds."""

    watermark: int | None
    arrived: int


class StageWatermarks:
    """The watermarks of sources.

    `idle` is after how many milliseconds without rows a source does not count; 0 is never.
    """

    def __init__(self, directory: Directory, sources: int, idle: int) -> None:
        self._directory = directory
        self._sources = sources
        self._idle = idle

    def advance(self, number: int, latest: Sequence[int | None], now: int) -> BatchTime:
        """Store and return the times of a micro-batch at the time `now`.

        `latest` are the largest watermarks of new rows, None for sources without any. A repeated
        micro-batch has the times of its first run.

        Raises:
            ExternalError: `invalid-checkpoint` if the times of the micro-batch before are missing.
        """
        before, sources, since = self._read(number - 1, now)
        now = now if since is None else max(now, since)
        first = self._directory.read(f"{WATERMARKS}{number}") if number else None
        with suppress(ValueError):  # the first run was killed while it wrote the file
            stored = json.loads(first or "")
            return BatchTime(before, stored["watermark"], since, stored["now"])
        after = [
            source if new is None else SourceTime(max(new, source.watermark or new), now)
            for new, source in zip(latest, sources, strict=True)
        ]
        least = _least(after, now - self._idle if self._idle else None)
        if before is not None:
            least = before if least is None else max(before, least)
        self._directory.mkdirs("")
        for entry in self._directory.entries(WATERMARKS):
            if entry.name != f"{WATERMARKS}{number - 1}":
                self._directory.delete(entry.name)
        content = json.dumps({"now": now, "watermark": least, "sources": after}).encode()
        self._directory.create(f"{WATERMARKS}{number}", content)
        return BatchTime(before, least, since, now)

    def _read(self, number: int, now: int) -> tuple[int | None, list[SourceTime], int | None]:
        """Return the watermark after a micro-batch, the times of the sources, and its time."""
        if number < 0:
            return None, [SourceTime(None, now)] * self._sources, None
        name = f"{WATERMARKS}{number}"
        if (content := self._directory.read(name)) is None:
            raise invalid_checkpoint(self._directory.path(name), "is missing")
        stored = json.loads(content)
        sources = [SourceTime(*source) for source in stored["sources"]]
        return stored["watermark"], sources, stored["now"]


def _least(sources: Sequence[SourceTime], since: int | None) -> int | None:
    """Return the least watermark of the sources with rows since a time, or of all without any.

    >>> _least([SourceTime(5, 100), SourceTime(3, 40)], None)
    3
    >>> _least([SourceTime(5, 100), SourceTime(3, 40)], 50)
    5
    >>> _least([SourceTime(5, 100), SourceTime(None, 100)], 50)
    """
    active = [source for source in sources if since is None or source.arrived > since] or sources
    known = [source.watermark for source in active if source.watermark is not None]
    return min(known) if known and len(known) == len(active) else None
