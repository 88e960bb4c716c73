"""Secrets in options and in their values: which they are, and how they are masked.

Options are masked by key (`mask`): those that contain a secret word, and the keys that the caller
passes as secret, which a connector or a type of catalog declares. Credentials within the value of
any other option are masked as well: passwords of URLs, parameters such as ``?password=...``, JAAS
configurations, keys. `schema_core.masking` masks them in SQL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from schema_core.lazy_regex import regex

#: What is shown in place of a secret.
HIDDEN = "******"

#: An option is secret if its key contains one of these, in whatever case: Flink's own list
#: (``org.apache.flink.configuration.GlobalConfiguration``) and other common names.
SECRET_WORDS = (
    "password", "secret", "fs.azure.account.key", "apikey", "api-key", "auth-params",
    "service-key", "token", "basic-auth", "jaas.config", "http-headers",
    "passwd", "pwd", "passphrase", "api_key", "api.key", "account-key", "account_key", "accountkey",
    "access-key", "access.key", "access_key", "private-key", "private.key", "private_key",
    "authorization",
)  # fmt: skip

#: A Unicode escape, which remains in a key where SQL reads it as plain text.
_ESCAPE = regex(r"\\u?\+?([0-9a-fA-F]{4})")


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


#: No key is declared secret.
NO_KEYS: AbstractSet[str] = frozenset()


def is_secret(key: str, declared: AbstractSet[str] = NO_KEYS) -> bool:
    """Return whether the value of an option must not be shown.

    Args:
        key: The key of the option.
        declared: Keys that are secret although they contain no secret word, in lower case.

    >>> is_secret("properties.sasl.jaas.config"), is_secret("path")
    (True, False)
    >>> is_secret("Combination", frozenset({"combination"}))
    True
    """
    lowered = _ESCAPE.sub(_unescaped, key).lower()
    return lowered in declared or any(word in lowered for word in SECRET_WORDS)


def mask(options: Mapping[str, str], declared: AbstractSet[str] = NO_KEYS) -> dict[str, str]:
    """Return the options with their secrets masked; `declared` as in `is_secret`.

    >>> mask({"user": "ann", "PASSWORD": "hunter2"})
    {'user': 'ann', 'PASSWORD': '******'}
    """
    return {key: masked_value(key, value, declared) for key, value in options.items()}


def masked_value(key: str, value: str, declared: AbstractSet[str] = NO_KEYS) -> str:
    """Return the value of an option with its secrets masked; `declared` as in `is_secret`.

    >>> masked_value("password", "hunter2"), masked_value("url", "https://ann:hunter2@host/")
    ('******', 'https://ann:******@host/')
    """
    return HIDDEN if is_secret(key, declared) else mask_credentials(value)


# --- credentials within values -------------------------------------------------------------------

#: A parameter whose value is a credential, up to its value. Repetitions are bounded, so that the
#: time of a search is linear.
_PARAMETER = regex(
    r"""
    (?: passwor[dt] | passwd | passphrase | secret | token | api[-_.]?key | access[-_.]?key
      | account[-_.]?key | private[-_.]?key | shared[-_.]?key | credential | authorization
      | signature | [?&;] key
      | (?: (?<![A-Za-z0-9]) | (?<=%3B) | (?<=%26) ) (?: pwd | pass | pw | sig | sas ) )
    [A-Za-z0-9_.\-]{0,32} \\?["']? [ \t]{0,8} (?: = | :(?!//) | % (?:25){0,3} 3[dD] )
    [ \t]{0,8} (?= . )
  | \b (?: bearer | basic ) [ ]{1,8} (?= [A-Za-z0-9+/=._~\-]{6} )
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)

#: Values that are credentials as a whole: JAAS configurations, private keys.
_CREDENTIALS = regex(r"LoginModule|-----BEGIN [A-Z ]{0,32}PRIVATE KEY", re.IGNORECASE)

#: What precedes the password of an Oracle URL: ``jdbc:oracle:thin:scott/tiger@host``.
_ORACLE = regex(r"jdbc:oracle:\w{1,16}:[^/@]{0,256}/", re.IGNORECASE)

#: How often an encoded value is decoded to look for credentials.
_DECODINGS = 3


def mask_credentials(value: str) -> str:
    """Return the value of an option that is not secret with the credentials in it masked.

    If the end of a credential is not certain, everything up to the end of the value is hidden.

    >>> mask_credentials("jdbc:mysql://host/db?user=ann&password=hunter2&ssl=true")
    'jdbc:mysql://host/db?user=ann&password=******'
    >>> mask_credentials("https://ann:p@ss/w'ord@host/path")
    'https://ann:******@host/path'
    >>> mask_credentials("mssql+pyodbc:///?odbc_connect=DRIVER%3DX%3BPWD%3Dhunter2")
    'mssql+pyodbc:///?odbc_connect=DRIVER%3DX%3BPWD%3D******'
    >>> mask_credentials("/data/orders.csv")
    '/data/orders.csv'
    """
    if _CREDENTIALS.search(value):
        return HIDDEN
    shown = value
    if found := _PARAMETER.search(shown):
        shown = shown[: found.end()] + HIDDEN
    shown = _without_userinfo(shown)
    return HIDDEN if shown == value and _is_encoded_credential(value) else shown


def has_credentials(value: str) -> bool:
    """Return whether a value contains credentials.

    >>> has_credentials("x;password=1"), has_credentials("x;user=1")
    (True, False)
    """
    return mask_credentials(value) != value


def _without_userinfo(value: str) -> str:
    """Hide the password of ``scheme://user:password@host``; it may hold ``@``, ``/`` and quotes."""
    start = value.find("://")
    if start >= 0:
        colon = value.find(":", start + len("://"))
    elif oracle := _ORACLE.match(value):
        colon = oracle.end() - 1
    else:  # user:password@host
        colon = value.find(":") if " " not in value else -1
    at = value.rfind("@")
    return f"{value[: colon + 1]}{HIDDEN}{value[at:]}" if 0 <= colon < at - 1 else value


def _is_encoded_credential(value: str) -> bool:
    """Whether credentials appear once the value is decoded (``%3D`` for ``=``)."""
    from urllib.parse import unquote

    for _ in range(_DECODINGS):
        decoded = unquote(value)
        if decoded == value:
            return False
        if _PARAMETER.search(decoded) or _without_userinfo(decoded) != decoded:
            return True
        value = decoded
    return False


def secret_parts(options: Mapping[str, str], declared: AbstractSet[str] = NO_KEYS) -> list[str]:
    """Return every substring of the values that `mask` hides, the longest first.

    >>> secret_parts({"password": "hunter2", "url": "https://ann:letmein@host/", "path": "x"})
    ['hunter2', 'letmein']
    """
    parts = set()
    for key, value in options.items():
        shown = masked_value(key, value, declared)
        if shown != value:
            before, _, after = shown.partition(HIDDEN)
            parts.add(value[len(before) : len(value) - len(after)])
    return sorted(parts - {""}, key=lambda part: (-len(part), part))


#: Shorter secrets are not searched for in messages: they would match parts of other words.
_SHORTEST = 4


def without_secrets(
    message: str, options: Mapping[str, str], declared: AbstractSet[str] = NO_KEYS
) -> str:
    """Return a message about a table or catalog with the secrets of its options masked.

    >>> without_secrets("cannot open s3://a:letmein@b", {"path": "s3://a:letmein@b"})
    'cannot open s3://a:******@b'
    """
    for part in secret_parts(options, declared):
        if len(part) >= _SHORTEST:
            message = message.replace(part, HIDDEN)
    return message


#: A URL with a user, up to the next space.
_URL_WITH_USER = regex(r"[a-zA-Z][a-zA-Z0-9+.-]{0,32}://[^\s@]{0,1024}@\S*")


def mask_urls(text: str) -> str:
    """Mask the passwords of all URLs in a message.

    >>> mask_urls("Scan s3://a:letmein@bucket [x]")
    'Scan s3://a:******@bucket [x]'
    """
    return _URL_WITH_USER.sub(lambda found: mask_credentials(found[0]), text)
