"""Settings of Spark: of the session of jobs, and of a Spark that the library starts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from schema_core.base.secrets import SECRET_PATTERN

#: Settings of the session of jobs, which override the process's: they determine the semantics of
#: expressions, and that no file is skipped.
MEANING: Mapping[str, str] = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.chunkBase64String.enabled": "false",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.timeType.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.json.enableExactStringParsing": "true",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.variable.substitute": "false",
    "spark.sql.execution.arrow.pyspark.validateSchema.enabled": "true",
    "spark.sql.streaming.stopActiveRunOnRestart": "false",
    "spark.sql.streaming.forceDeleteTempCheckpointLocation": "true",
}

#: Over Spark Connect a query that waits for rows outlives a killed client: the next run stops it.
#: The checkpoint's lock keeps out a living client.
ORPHANS: Mapping[str, str] = {"spark.sql.streaming.stopActiveRunOnRestart": "true"}

#: Settings of the session of jobs that keep secrets out of Spark's plans, which its UI and event
#: log show: Spark's own pattern for keys of options matches fewer.
SECRECY: Mapping[str, str] = {
    "spark.sql.redaction.options.regex": f"(?i:url)|{SECRET_PATTERN}",
}

#: Settings of the session of jobs that only cost or save time; the process's take precedence. The
#: JVM interprets methods of more than 8000 bytes: one generated method for each operator is faster.
TUNING: Mapping[str, str] = {"spark.sql.codegen.hugeMethodLimit": "8000"}

#: Settings of a Spark that the library starts: quiet, local, without a web UI.
START: Mapping[str, str] = {
    "spark.master": "local[*]",
    "spark.app.name": "schema_core",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
    "spark.driver.extraJavaOptions": (
        f"-Dlog4j2.configurationFile={Path(__file__).with_name('quiet.properties')}"
    ),
}
