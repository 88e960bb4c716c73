"""Which options are secret, and how they are shown: everything that shows options asks here."""

from __future__ import annotations

from collections.abc import Mapping

#: What is shown in place of a secret.
HIDDEN = "******"

#: An option is secret if its key contains one of these, in whatever case (Flink's own list).
SECRET_WORDS = (
    "password", "secret", "fs.azure.account.key", "apikey", "api-key", "auth-params",
    "service-key", "token", "basic-auth", "jaas.config", "http-headers",
)  # fmt: skip

#: Keys that options declare to be secret, in lower case.
_DECLARED: set[str] = set()


def declare_secret(*keys: str) -> None:
    """Say that the values of these options must never be shown, from now on and everywhere.

    >>> is_secret("my.combination")
    False
    >>> declare_secret("my.combination")
    >>> is_secret("My.Combination")
    True
    """
    _DECLARED.update(key.lower() for key in keys)


def is_secret(key: str) -> bool:
    """Whether the value of this option must not be shown.

    >>> is_secret("properties.sasl.jaas.config"), is_secret("path")
    (True, False)
    """
    lowered = key.lower()
    return lowered in _DECLARED or any(word in lowered for word in SECRET_WORDS)


def mask(options: Mapping[str, str]) -> dict[str, str]:
    """The options as they may be shown.

    >>> mask({"user": "ann", "PASSWORD": "hunter2"})
    {'user': 'ann', 'PASSWORD': '******'}
    """
    return {key: HIDDEN if is_secret(key) else value for key, value in options.items()}
