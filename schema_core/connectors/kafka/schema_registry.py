"""Schema registries: the schemas of messages by their ids, over Confluent's REST API.

Schemas do not change, so each process caches them by registry and id.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote, urlsplit

from schema_core.base.lazy import dataclass
from schema_core.environment.options import ConfigOption
from schema_core.errors import ExternalError, SchemaError, UnsupportedError, choose_from

if TYPE_CHECKING:
    import ssl
    from urllib.request import OpenerDirector, Request

#: Seconds until a request fails, bytes of a response, redirects that are followed, attempts, and
#: schemas that a schema may refer to.
TIMEOUT: Final = 10.0
MAX_RESPONSE: Final = 4 << 20
MAX_REDIRECTS: Final = 3
ATTEMPTS: Final = 3
MAX_REFERENCES: Final = 100
#: Schemas that a process caches.
CACHED_SCHEMAS: Final = 1000

MEDIA_TYPE: Final = "application/vnd.schemaregistry.v1+json"

#: Option of Flink -> the property of the registry's client, which `properties.*` may set instead.
_PROPERTIES: Final = {
    "basic-auth.credentials-source": "basic.auth.credentials.source",
    "basic-auth.user-info": "basic.auth.user.info",
    "bearer-auth.credentials-source": "bearer.auth.credentials.source",
    "bearer-auth.token": "bearer.auth.token",
    "ssl.truststore.location": "schema.registry.ssl.truststore.location",
    "ssl.truststore.password": "schema.registry.ssl.truststore.password",
    "ssl.keystore.location": "schema.registry.ssl.keystore.location",
    "ssl.keystore.password": "schema.registry.ssl.keystore.password",
}


def registry_options(identifier: str) -> tuple[ConfigOption[Any], ...]:
    """Return Flink's options of a format that uses a registry."""

    def option(suffix: str, text: str, *, secret: bool = False) -> ConfigOption[Any]:
        return ConfigOption(f"{identifier}.{suffix}", str, None, text, secret=secret)

    def former_option(suffix: str, text: str) -> ConfigOption[Any]:
        former = f"{identifier}.schema-registry.{suffix}"
        return ConfigOption(f"{identifier}.{suffix}", str, None, text, fallback_keys=(former,))

    return (
        former_option("url", "required: the URL of the registry, or several, separated by commas"),
        former_option(
            "subject",
            "the subject of written schemas; by default `<topic>-value` or `<topic>-key`",
        ),
        former_option(
            "schema", "the Avro schema of messages, which must match the table's columns"
        ),
        option("basic-auth.credentials-source", "`USER_INFO`, or `URL`, the default"),
        option("basic-auth.user-info", "`user:password`, for `USER_INFO`", secret=True),
        option("bearer-auth.credentials-source", "`STATIC_TOKEN`"),
        option("bearer-auth.token", "the token of `STATIC_TOKEN`", secret=True),
        option("ssl.truststore.location", "a PEM file with the trusted certificates"),
        option("ssl.truststore.password", "no effect: a PEM file has none", secret=True),
        option("ssl.keystore.location", "a PEM file with the client's certificate and key"),
        option("ssl.keystore.password", "the password of the client's key", secret=True),
        ConfigOption(
            f"{identifier}.properties",
            str,
            None,
            "the options above by the names of Confluent's client, such as `basic.auth.user.info`",
            is_map=True,
        ),
    )


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A schema, after the schemas to which it refers."""

    schema: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class SchemaRegistry:
    """A client of a registry, which may be pickled.

    Attributes:
        urls: The URLs of its servers, without credentials.
        authorization: The header of requests, or None.
        truststore: A PEM file of trusted certificates, or None for those of the system.
        keystore: A PEM file of the client's certificate and key, or None.
        keystore_password: The password of the key, or None.
    """

    urls: tuple[str, ...]
    authorization: str | None = None
    truststore: str | None = None
    keystore: str | None = None
    keystore_password: str | None = None

    def __repr__(self) -> str:
        return f"SchemaRegistry({', '.join(self.urls)})"

    @classmethod
    def of(cls, identifier: str, options: Mapping[str, str]) -> SchemaRegistry:
        """Return the registry of a table's options.

        Raises:
            SchemaError: with code `conflicting-options`.
            UnsupportedError: with code `option-not-supported`.
        """
        settings = _settings(identifier, options)
        url = registry_options(identifier)[0].of(options)
        if not url:
            raise _invalid(f"the option '{identifier}.url' must be set")
        urls, users = [], []
        for part in url.split(","):
            server, user = _server(part.strip(), f"{identifier}.url")
            urls.append(server)
            users += [user] if user is not None else []
        return cls(
            tuple(urls),
            _authorization(identifier, settings, users),
            _pem(settings, "ssl.truststore.location"),
            _pem(settings, "ssl.keystore.location"),
            settings.get("ssl.keystore.password"),
        )

    # --- schemas -------------------------------------------------------------------------------

    def schema(self, schema_id: int) -> RegisteredSchema:
        """Return the Avro schema with an id, from the cache if it was read before.

        Raises:
            ExternalError: with code `external-failure`.
        """
        schema: RegisteredSchema = _SCHEMAS.get((self, schema_id), lambda: self._fetch(schema_id))
        return schema

    def register(self, subject: str, schema: str) -> int:
        """Return the id of a schema, which is registered under a subject unless it is there.

        Raises:
            ExternalError: with code `external-failure`.
        """

        def post() -> int:
            path = f"/subjects/{quote(subject, safe='')}/versions"
            what = f"cannot register the schema of the subject {subject!r}"
            answer = self._request(path, what, {"schema": schema})
            if not isinstance(schema_id := answer.get("id"), int):
                raise _registry_error(f"{what}: the registry returned no id")
            return schema_id

        schema_id: int = _IDS.get((self, subject, schema), post)
        return schema_id

    def _fetch(self, schema_id: int) -> RegisteredSchema:
        what = f"cannot read the schema with the id {schema_id}"
        answer = self._request(f"/schemas/ids/{schema_id}", what)
        references: dict[tuple[str, int], str] = {}
        self._add_references(answer, references, what)
        return RegisteredSchema(_avro(answer, what), tuple(references.values()))

    def _add_references(
        self, answer: Mapping[str, Any], references: dict[tuple[str, int], str], what: str
    ) -> None:
        for subject, version in _references(answer, what):
            if (subject, version) in references:
                continue
            if len(references) >= MAX_REFERENCES:
                raise _registry_error(f"{what}: it refers to more than {MAX_REFERENCES} schemas")
            references[subject, version] = ""  # while it is read: it may refer to itself
            path = f"/subjects/{quote(subject, safe='')}/versions/{version}"
            target = self._request(path, f"{what}: cannot read the subject {subject!r}")
            self._add_references(target, references, what)
            del references[subject, version]  # it follows those to which it refers
            references[subject, version] = _avro(target, what)

    # --- requests ------------------------------------------------------------------------------

    def _request(self, path: str, what: str, body: object = None) -> dict[str, Any]:
        """Return the answer of the first server that has one."""
        problem = ""
        for attempt in range(ATTEMPTS * len(self.urls)):
            try:
                return self._send(self.urls[attempt % len(self.urls)] + path, body)
            except _RefusedError as error:
                raise _registry_error(f"{what}: {error}") from None
            except (OSError, ValueError) as error:
                problem = f"{getattr(error, 'reason', None) or error}"
        raise _registry_error(f"{what} at {', '.join(self.urls)}: {problem}")

    def _send(self, url: str, body: object) -> dict[str, Any]:
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import Request

        headers = {"Accept": f"{MEDIA_TYPE}, application/json"}
        if self.authorization is not None:
            headers["Authorization"] = self.authorization
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = MEDIA_TYPE
        try:
            request = Request(url, data, headers)  # noqa: S310 - `_server` requires HTTP
            with _opener(self).open(request, timeout=TIMEOUT) as response:
                answer = _object(response.read(MAX_RESPONSE + 1))
        except HTTPError as error:
            with error:
                text = error.read(MAX_RESPONSE)
            problem = f"HTTP status {error.code} {_message(text) or error.reason}"
            if error.code >= 500 or error.code == 429:
                raise OSError(problem) from None
            raise _RefusedError(problem) from None
        except HTTPException as error:
            raise OSError(f"invalid answer: {type(error).__name__}") from None
        return answer


class _RefusedError(Exception):
    """An answer that another attempt does not change."""


def _object(text: bytes) -> dict[str, Any]:
    if len(text) > MAX_RESPONSE:
        raise _RefusedError(f"the answer has more than {MAX_RESPONSE >> 20} MiB")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise _RefusedError("the answer is not a JSON object")
    return answer


def _message(text: bytes) -> str:
    """Return the message of the registry about an error."""
    try:
        return str(json.loads(text)["message"])[:500]
    except (ValueError, TypeError, LookupError, RecursionError):
        return ""


def _avro(answer: Mapping[str, Any], what: str) -> str:
    kind, schema = answer.get("schemaType", "AVRO"), answer.get("schema")
    if kind != "AVRO" or not isinstance(schema, str):
        raise _registry_error(f"{what}: it is not an Avro schema, its type is {kind!r}")
    return schema


def _references(answer: Mapping[str, Any], what: str) -> list[tuple[str, int]]:
    """Return the subjects and versions to which a schema refers."""
    try:
        return [
            (str(reference["subject"]), int(reference["version"]))
            for reference in answer.get("references") or ()
        ]
    except (LookupError, TypeError, ValueError):
        raise _registry_error(f"{what}: its references are not those of a registry") from None


def _registry_error(problem: str) -> ExternalError:
    return ExternalError(problem, code="external-failure")


class _Cache:
    """The values of a bounded number of keys; a key is computed by one thread at a time.

    Threads wait for the value of their own key only: a slow registry does not stop the others.
    """

    def __init__(self) -> None:
        self._values: OrderedDict[Any, Any] = OrderedDict()
        #: Key -> the lock of the threads that compute it, and their count.
        self._computing: dict[Any, tuple[threading.Lock, int]] = {}
        self._lock = threading.Lock()

    def get(self, key: Any, compute: Callable[[], Any]) -> Any:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            lock, threads = self._computing.get(key, (threading.Lock(), 0))
            self._computing[key] = lock, threads + 1
        try:
            with lock:
                if key in self._values:  # another thread has computed it
                    return self._values[key]
                value = compute()
                with self._lock:
                    self._values[key] = value
                    while len(self._values) > CACHED_SCHEMAS:
                        self._values.popitem(last=False)
                return value
        finally:
            with self._lock:
                lock, threads = self._computing.pop(key)
                if threads > 1:
                    self._computing[key] = lock, threads - 1


_SCHEMAS, _IDS, _OPENERS = _Cache(), _Cache(), _Cache()


def _opener(registry: SchemaRegistry) -> OpenerDirector:
    opener: OpenerDirector = _OPENERS.get(registry, lambda: _make_opener(registry))
    return opener


def _make_opener(registry: SchemaRegistry) -> OpenerDirector:
    """Return an opener for HTTP only, whose redirects keep the credentials with their server."""
    from urllib.request import (
        HTTPDefaultErrorHandler,
        HTTPErrorProcessor,
        HTTPHandler,
        HTTPRedirectHandler,
        HTTPSHandler,
        OpenerDirector,
    )

    class Redirects(HTTPRedirectHandler):
        max_redirections = MAX_REDIRECTS

        def redirect_request(self, req: Request, *arguments: Any) -> Request | None:
            target = super().redirect_request(req, *arguments)
            if target is None:
                return None
            if req.data is not None:
                raise _RefusedError("a redirect of a registration is not followed")
            old, new = urlsplit(req.full_url), urlsplit(target.full_url)
            if (old.scheme, old.netloc) != (new.scheme, new.netloc):
                target.remove_header("Authorization")
            return target

    opener = OpenerDirector()
    for handler in (
        HTTPHandler(),
        HTTPSHandler(context=_ssl_context(registry)),
        HTTPDefaultErrorHandler(),
        Redirects(),
        HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def _ssl_context(registry: SchemaRegistry) -> ssl.SSLContext | None:
    if not any(url.startswith("https:") for url in registry.urls):
        return None
    import ssl

    try:
        context = ssl.create_default_context(cafile=registry.truststore)
        if registry.keystore is not None:
            context.load_cert_chain(
                registry.keystore, password=lambda: registry.keystore_password or ""
            )
    except OSError as error:
        raise _RefusedError(f"cannot read the certificates: {error}") from None
    return context


# --- options --------------------------------------------------------------------------------------


def _settings(identifier: str, options: Mapping[str, str]) -> dict[str, str]:
    """Return Flink's options of a client, which precede the properties of Confluent's names."""
    names = {name: suffix for suffix, name in _PROPERTIES.items()}
    start = f"{identifier}.properties."
    settings = {}
    for key, value in options.items():
        if key.startswith(start):
            name = key.removeprefix(start)
            suffix = names.get(
                name, name.removeprefix("schema.registry.").replace(".auth.", "-auth.")
            )
            if suffix not in _PROPERTIES:
                raise UnsupportedError(
                    f"the property {name!r} of a schema registry's client is not supported",
                    code="option-not-supported",
                    hint=choose_from(name, names),
                )
            settings[suffix] = value
    for suffix in _PROPERTIES:
        if (value := options.get(f"{identifier}.{suffix}", "")) != "":
            settings[suffix] = value
    return settings


def _server(url: str, key: str) -> tuple[str, str | None]:
    """Return a URL without its credentials, and those."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _invalid(f"the option {key!r} has an invalid URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _invalid(f"the option {key!r} must have URLs with http: or https:")
    if parts.query or parts.fragment:
        raise _invalid(f"the URLs of the option {key!r} cannot have a query or a fragment")
    user, _, host = parts.netloc.rpartition("@")
    del port
    server = f"{parts.scheme}://{host}{parts.path}".rstrip("/")
    return server, unquote(user) if user else None


def _authorization(identifier: str, settings: Mapping[str, str], users: list[str]) -> str | None:
    from base64 import b64encode

    source = settings.get("basic-auth.credentials-source", "URL").upper()
    bearer = settings.get("bearer-auth.credentials-source")
    user, token = settings.get("basic-auth.user-info"), settings.get("bearer-auth.token")
    if source not in ("URL", "USER_INFO") or bearer not in (None, "STATIC_TOKEN"):
        raise UnsupportedError(
            "a schema registry's credentials have another source than those that are supported",
            code="option-not-supported",
            hint=f"set '{identifier}.basic-auth.credentials-source' = 'USER_INFO' or 'URL', or "
            f"'{identifier}.bearer-auth.credentials-source' = 'STATIC_TOKEN'",
        )
    if (user is not None) != (source == "USER_INFO"):
        raise _invalid(
            f"'{identifier}.basic-auth.user-info' and "
            f"'{identifier}.basic-auth.credentials-source' = 'USER_INFO' must be set together"
        )
    if (token is not None) != (bearer is not None):
        raise _invalid(
            f"'{identifier}.bearer-auth.token' and '{identifier}.bearer-auth.credentials-source'"
            " = 'STATIC_TOKEN' must be set together"
        )
    if user is None and users:
        user = users[0]
    if user is not None and token is not None:
        raise _invalid("a schema registry has either basic or bearer credentials")
    if token is not None:
        if not token.isascii() or not token.isprintable():
            raise _invalid(f"'{identifier}.bearer-auth.token' must be ASCII without line breaks")
        return f"Bearer {token}"
    return None if user is None else f"Basic {b64encode(user.encode()).decode()}"


def _pem(settings: Mapping[str, str], suffix: str) -> str | None:
    """Return the path of a file of certificates, if it is set, of which Python reads only PEM."""
    path = settings.get(suffix)
    if path is None:
        return None
    try:
        with Path(path).open("rb") as file:
            is_pem = b"-----BEGIN" in file.read(1 << 16)
    except OSError as error:
        raise _invalid(f"cannot read the file of the option {suffix!r}: {error.strerror}") from None
    if not is_pem:
        raise UnsupportedError(
            f"the file of the option {suffix!r} is not a PEM file",
            code="option-not-supported",
            hint="convert it: keytool -importkeystore ... -deststoretype pkcs12, and then "
            "openssl pkcs12 -in FILE -out FILE.pem",
        )
    return path


def _invalid(problem: str) -> SchemaError:
    return SchemaError(problem, code="conflicting-options")
