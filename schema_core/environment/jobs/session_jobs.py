"""The jobs of one session, which SHOW JOBS lists: those that run, and the last ones that ended."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from schema_core.errors import NotFoundError, similar

if TYPE_CHECKING:
    from schema_core.environment.jobs.run import JobRun

#: How many jobs that have ended are listed.
MAX_ENDED = 100


class SessionJobs:
    """The jobs of a session. Any number of threads may use it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._runs: dict[str, JobRun] = {}

    def add(self, run: JobRun) -> None:
        """Add a job; of the jobs that have ended only the last ones are kept."""
        with self._lock:
            self._runs[run.id] = run
            ended = [
                run.id for run in self._runs.values() if run.status.is_globally_terminal_state()
            ]
            for job_id in ended[:-MAX_ENDED]:
                del self._runs[job_id]

    def runs(self) -> tuple[JobRun, ...]:
        """Return the jobs in the order in which they were submitted."""
        with self._lock:
            return tuple(self._runs.values())

    def get(self, job_id: str) -> JobRun:
        """Return a job by its identifier.

        Raises:
            NotFoundError: with code `job-not-found`.
        """
        with self._lock:
            found = self._runs.get(job_id)
            known = list(self._runs)
        if found is None:
            raise NotFoundError(
                f"this session has no job {job_id!r}",
                code="job-not-found",
                hint=similar(job_id, known) or "list the jobs of the session with SHOW JOBS",
            )
        return found
