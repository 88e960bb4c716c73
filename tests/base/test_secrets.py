"""Masking of options and values, and its time."""

from __future__ import annotations

import pytest

from schema_core.base.secrets import HIDDEN, mask_credentials, mask_value
from tests.support import processor_time


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("/data/orders.csv", None),
        ("hdfs://namenode:8020/orders", None),
        ("2020-01-01 10:00:00", None),
        ("kafka-1:9092,kafka-2:9092", None),
        ("org.apache.flink.table.Tokenizer", None),
        ("user=ann;ssl=true", None),
        ("ann@example.com", None),
        ("a %41 b", None),
        ("", None),
        ("jdbc:mysql://h/d?user=a&password=x&ssl=1", f"jdbc:mysql://h/d?user=a&password={HIDDEN}"),
        ("jdbc:sqlserver://h;user=a;password={x;y}", f"jdbc:sqlserver://h;user=a;password={HIDDEN}"),
        ("jdbc:oracle:thin:ann/x@host:1521/x", f"jdbc:oracle:thin:ann/{HIDDEN}@host:1521/x"),
        ("postgresql://ann:p@ss/w'o\"rd@host/db", f"postgresql://ann:{HIDDEN}@host/db"),
        ("amqp://a:x@h1,amqp://b:y@h2", f"amqp://a:{HIDDEN}@h2"),
        ("ann:x@tcp(host)/db", f"ann:{HIDDEN}@tcp(host)/db"),
        ("PWD = x", f"PWD = {HIDDEN}"),
        ('{"client_secret": "x"}', f'{{"client_secret": {HIDDEN}'),
        ("Authorization: Bearer abc.def", f"Authorization: {HIDDEN}"),
        ("Bearer abcdefgh", f"Bearer {HIDDEN}"),
        ("?odbc_connect=DRIVER%3DX%3BPWD%3Dx", f"?odbc_connect=DRIVER%3DX%3BPWD%3D{HIDDEN}"),
        ("https%3A%2F%2Fann%3Ax%40host", HIDDEN),
        ('x.ScramLoginModule required\n username="a"\n password="b";', HIDDEN),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc", HIDDEN),
    ],
)  # fmt: skip
def test_credentials_within_a_value(value: str, shown: str | None) -> None:
    assert (value if shown is None else shown) == mask_credentials(value)
    assert HIDDEN == mask_value("password", value)


@pytest.mark.parametrize("unit", ["password", "a://", "://", "@", "%3D", "=", " ", ";", "'"])
def test_masking_a_value_is_linear(unit: str) -> None:
    text = (unit * 100_000)[:100_000]

    assert processor_time(lambda: mask_credentials(text), 3) < 3
