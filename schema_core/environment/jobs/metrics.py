"""Metrics of streaming jobs: what a job and its operators have done since the job started."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass


@dataclass(frozen=True, slots=True)
class OperatorMetrics:
    """What an operator of a streaming job has done since the job started; None if unknown.

    Attributes:
        sink: The path of the table that the operator's query writes.
        name: The operator, such as ``sink``; unique for its sink.
        rows_in: The rows that it has read; a change of a row is a row.
        rows_out: The rows that it has returned.
        state_rows: The rows that it keeps now.
        late_rows: The rows that it has dropped, since the watermark had passed them.
        watermark: The watermark that it has reached, a TIMESTAMP(3) in the session's time zone.
    """

    sink: str
    name: str
    rows_in: int | None = None
    rows_out: int | None = None
    state_rows: int | None = None
    late_rows: int | None = None
    watermark: datetime | None = None


@dataclass(frozen=True, slots=True)
class JobMetrics:
    """What a streaming job has done since it started, not since its first run; None if unknown.

    Attributes:
        micro_batches: The number of micro-batches that have ended.
        rows_in: The rows that its sources have returned.
        rows_out: The rows that its sinks have received.
        state_rows: The rows that its operators keep now.
        late_rows: The rows that its operators have dropped, since the watermark had passed them.
        watermark: The least watermark of its queries, as `OperatorMetrics.watermark`.
        operators: The same for each operator.
    """

    micro_batches: int = 0
    rows_in: int | None = None
    rows_out: int | None = None
    state_rows: int | None = None
    late_rows: int | None = None
    watermark: datetime | None = None
    operators: tuple[OperatorMetrics, ...] = ()

    def summary(self) -> str:
        """Return the numbers of rows and the watermark, as far as they are known.

        >>> JobMetrics(1, rows_in=1234, rows_out=1200).summary()
        '1,234 rows in, 1,200 rows out'
        """
        counts = (
            ("rows in", self.rows_in),
            ("rows out", self.rows_out),
            ("late rows", self.late_rows or None),
        )
        shown = [f"{count:,} {name}" for name, count in counts if count is not None]
        if self.watermark is not None:
            shown.append(f"watermark {self.watermark.isoformat(' ', 'milliseconds')}")
        return ", ".join(shown)

    @classmethod
    def of_all(cls, parts: Sequence[JobMetrics]) -> JobMetrics | None:
        """Return the metrics of a job of several queries, None without a query.

        >>> one = JobMetrics(1, 2, operators=(OperatorMetrics("t", "sink"),))
        >>> both = JobMetrics.of_all([one, one])
        >>> both.rows_in, both.rows_out, [operator.name for operator in both.operators]
        (4, None, ['sink', 'sink 2'])
        """
        if len(parts) < 2:
            return parts[0] if parts else None
        return cls(
            sum(part.micro_batches for part in parts),
            add_known(part.rows_in for part in parts),
            add_known(part.rows_out for part in parts),
            add_known(part.state_rows for part in parts),
            add_known(part.late_rows for part in parts),
            min((part.watermark for part in parts if part.watermark is not None), default=None),
            number_operators(operator for part in parts for operator in part.operators),
        )


def add_known(counts: Iterable[int | None]) -> int | None:
    """Return the sum of counts, None if one of them is unknown or there are none."""
    values = list(counts)
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def number_operators(operators: Iterable[OperatorMetrics]) -> tuple[OperatorMetrics, ...]:
    """Return operators with a number after the names that a sink has several times."""
    seen: Counter[tuple[str, str]] = Counter()
    numbered = []
    for operator in operators:
        seen[operator.sink, operator.name] += 1
        number = seen[operator.sink, operator.name]
        name = operator.name if number == 1 else f"{operator.name} {number}"
        numbered.append(replace(operator, name=name))
    return tuple(numbered)


# --- Prometheus -----------------------------------------------------------------------------------

#: Metric -> the end of its name in Prometheus, and its type there.
PROMETHEUS: Final = {
    "micro_batches": ("micro_batches_total", "counter"),
    "rows_in":       ("rows_in_total", "counter"),
    "rows_out":      ("rows_out_total", "counter"),
    "state_rows":    ("state_rows", "gauge"),
    "late_rows":     ("late_rows_total", "counter"),
    "watermark":     ("watermark_seconds", "gauge"),
}  # fmt: skip


def prometheus_text(jobs: Mapping[str, JobMetrics]) -> str:
    """Return metrics of jobs by name in Prometheus' text format; unknown ones are omitted.

    A watermark is in seconds since 1970, as if the time zone of the session were UTC.

    >>> print(prometheus_text({"copy": JobMetrics(2, watermark=datetime(2024, 1, 1))}), end="")
    # TYPE schema_core_job_micro_batches_total counter
    schema_core_job_micro_batches_total{job="copy"} 2
    # TYPE schema_core_job_watermark_seconds gauge
    schema_core_job_watermark_seconds{job="copy"} 1704067200.0
    """
    require_instance(jobs, Mapping, "jobs")
    samples: dict[str, list[tuple[dict[str, str], JobMetrics | OperatorMetrics]]] = {
        "job": [({"job": name}, job) for name, job in jobs.items()],
        "operator": [
            ({"job": name, "sink": operator.sink, "operator": operator.name}, operator)
            for name, job in jobs.items()
            for operator in job.operators
        ],
    }
    lines = []
    for level, items in samples.items():
        for metric, (end, type_) in PROMETHEUS.items():
            name = f"schema_core_{level}_{end}"
            known = [
                (labels, value)
                for labels, item in items
                if (value := getattr(item, metric, None)) is not None
            ]
            lines += [f"# TYPE {name} {type_}"] if known else []
            lines += [f"{name}{{{_labels(labels)}}} {_number(value)}" for labels, value in known]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str]) -> str:
    pairs = []
    for name, value in labels.items():
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        pairs.append(f'{name}="{escaped}"')
    return ",".join(pairs)


def _number(value: int | datetime) -> float:
    return value if isinstance(value, int) else value.replace(tzinfo=UTC).timestamp()
