"""The jobs of a session, which a session without jobs imports; `run` executes them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from schema_core.errors import NotFoundError, similar

if TYPE_CHECKING:
    from schema_core.environment.jobs.run import JobRun

#: How many ended jobs are listed.
MAX_ENDED = 100


class SessionJobs:
    """A session's running and recently ended jobs for SHOW JOBS; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, JobRun] = {}

    def add(self, run: JobRun) -> None:
        """Add a job, and forget the oldest ended ones."""
        with self._lock:
            self._runs[run.id] = run
            ended = [
                run.id for run in self._runs.values() if run.status.is_globally_terminal_state()
            ]
            for job_id in ended[:-MAX_ENDED]:
                del self._runs[job_id]

    def runs(self) -> tuple[JobRun, ...]:
        """Return the jobs in the order of their submission."""
        with self._lock:
            return tuple(self._runs.values())

    def get(self, job_id: str) -> JobRun:
        """Return a job by its identifier (`not-found`)."""
        with self._lock:
            run = self._runs.get(job_id)
            known = list(self._runs)
        if run is None:
            raise NotFoundError(
                f"this session has no job {job_id!r}",
                code="not-found",
                hint=similar(job_id, known) or "list the jobs of the session with SHOW JOBS",
            )
        return run
