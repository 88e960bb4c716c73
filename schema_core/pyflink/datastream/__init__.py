"""Streams of collections and of tables (`pyflink.datastream`)."""

from __future__ import annotations

from schema_core.pyflink.absent import refuse_absent
from schema_core.pyflink.datastream.data_stream import DataStream, DataStreamSink, KeyedStream
from schema_core.pyflink.datastream.environments import StreamExecutionEnvironment
from schema_core.pyflink.datastream.execution_mode import RuntimeExecutionMode
from schema_core.pyflink.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    KeySelector,
    MapFunction,
    ReduceFunction,
    RuntimeContext,
)

__all__ = [
    "DataStream",
    "DataStreamSink",
    "FilterFunction",
    "FlatMapFunction",
    "KeySelector",
    "KeyedStream",
    "MapFunction",
    "ReduceFunction",
    "RuntimeContext",
    "RuntimeExecutionMode",
    "StreamExecutionEnvironment",
]

refuse_absent(__name__)
