"""Properties of Kafka's Java clients, which Flink's tables have, as those of librdkafka.

librdkafka, the library of `confluent-kafka`, has most of them by the same names. It has neither
Java's files of keys (JKS) nor its login modules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from schema_core.errors import UnsupportedError

#: Name in Java -> name in librdkafka.
_RENAMED: Final = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.request.size": "message.max.bytes",
    "sasl.mechanism": "sasl.mechanisms",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}
#: Properties that change neither what is read nor what is written.
_WITHOUT_EFFECT: Final = frozenset(
    {
        "buffer.memory",
        "commit.offsets.on.checkpoint",  # see `commits_offsets`
        "max.block.ms",
        "max.poll.records",
        "ssl.keystore.type",  # see `_keys`
        "ssl.truststore.type",
        "ssl.truststore.password",
    }
)
#: Class of a login module -> its options as properties of librdkafka.
_LOGIN_MODULES: Final = {
    "PlainLoginModule": {"username": "sasl.username", "password": "sasl.password"},
    "ScramLoginModule": {"username": "sasl.username", "password": "sasl.password"},
    "Krb5LoginModule": {
        "keyTab": "sasl.kerberos.keytab",
        "principal": "sasl.kerberos.principal",
        "serviceName": "sasl.kerberos.service.name",
    },
}
#: Options of login modules that librdkafka does by itself.
_IMPLIED: Final = frozenset({"useKeyTab", "storeKey", "useTicketCache", "renewTicket"})
_LOGIN: Final = re.compile(
    r"""\s*(?:[\w$]+\.)*(?P<module>\w+)\s+required\b"""
    r"""(?P<options>(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^;"'])*);?\s*"""
)
_LOGIN_OPTION: Final = re.compile(r"""\s*(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(\w+))\s*""")


def to_client_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of Java's clients as those of librdkafka.

    Properties that librdkafka does not have are left for it to refuse.

    >>> to_client_properties({"bootstrap.servers": "h:9092", "max.request.size": "9"})
    {'bootstrap.servers': 'h:9092', 'message.max.bytes': '9'}

    Raises:
        UnsupportedError: with code `option-not-supported`, for files of keys and login
            modules of Java only, and for librdkafka's settings of tests.
    """
    result: dict[str, str] = {}
    for key, value in properties.items():
        if key == "sasl.jaas.config":
            result |= _login(value)
        elif key == "ssl.endpoint.identification.algorithm":
            result[key] = value or "none"
        elif key in ("ssl.truststore.location", "ssl.keystore.location"):
            result |= _keys(key, value, properties)
        elif key.startswith("test."):
            raise not_supported(key, "it replaces the brokers", "remove the option")
        elif key not in _WITHOUT_EFFECT:
            result[_RENAMED.get(key, key)] = value
    return result


def commits_offsets(properties: Mapping[str, str]) -> bool:
    """Return whether a streaming job commits its offsets for the consumer group, as in Flink.

    >>> commits_offsets({"group.id": "g"}), commits_offsets({})
    (True, False)
    """
    return "group.id" in properties and (
        properties.get("commit.offsets.on.checkpoint", "true").lower() == "true"
    )


def name_of_property(reason: str, properties: Mapping[str, str]) -> str:
    """Return the property of a table that an error of librdkafka names; `*` for none.

    >>> name_of_property('Value 5 for property "message.max.bytes"', {"max.request.size": "5"})
    'max.request.size'
    """
    own = (key for key in properties if f'"{_RENAMED.get(key, key)}"' in reason)
    return next(own, "*")


def not_supported(key: str, reason: str, hint: str) -> UnsupportedError:
    """Return the error for a property that librdkafka does not have."""
    return UnsupportedError(f"'properties.{key}': {reason}", code="option-not-supported", hint=hint)


def _login(text: str) -> dict[str, str]:
    """Return the credentials of a JAAS configuration, which errors do not show."""
    key = "sasl.jaas.config"
    login = _LOGIN.fullmatch(text)
    names = _LOGIN_MODULES.get(login["module"]) if login else None
    if login is None or names is None:
        raise not_supported(
            key,
            "the client of this table has no such login module",
            f"use {', '.join(_LOGIN_MODULES)}, or librdkafka's own 'properties.sasl.*'",
        )
    options = login["options"]
    result: dict[str, str] = {}
    place = 0
    while place < len(options.rstrip()):
        option = _LOGIN_OPTION.match(options, place)
        if option is None or option[1] not in names.keys() | _IMPLIED:
            raise not_supported(
                key, "an option of the login module is unknown", f"set only {', '.join(names)}"
            )
        place = option.end()
        if option[1] in names:
            quoted = re.sub(r"\\(.)", r"\1", option[2]) if option[2] is not None else None
            result[names[option[1]]] = quoted if quoted is not None else option[3] or option[4]
    return result


def _keys(key: str, location: str, properties: Mapping[str, str]) -> dict[str, str]:
    """Return a file of certificates or keys."""
    kind = properties.get(f"{key.rpartition('.')[0]}.type", "JKS").upper()
    if kind == "PEM":
        if key == "ssl.truststore.location":
            return {"ssl.ca.location": location}
        return {"ssl.certificate.location": location, "ssl.key.location": location}
    if kind == "PKCS12" and key == "ssl.keystore.location":
        return {key: location}
    raise not_supported(
        key,
        f"the client of this table does not read files of type {kind}",
        f"convert it and set 'properties.{key.rpartition('.')[0]}.type' = 'PEM'",
    )
