"""Providers of models, which compute ML_PREDICT: their options and predictors (FLIP-437, FLIP-525).

A model of CREATE MODEL names its provider by the option ``provider``. Providers are entry points of
the group ``schema_core.model_providers``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol

from schema_core.base.lazy import dataclass
from schema_core.base.plugins import MODEL_PROVIDERS, require
from schema_core.environment.connector import validate_options
from schema_core.environment.options import ConfigOption, boolean, choice, duration, positive
from schema_core.errors import SchemaError
from schema_core.query.relation import Columns, ModelCall

#: The key of the provider in the options of a model.
PROVIDER = "provider"

#: What the config of ML_PREDICT and VECTOR_SEARCH sets for asynchronous calls.
ASYNC = ConfigOption("async", boolean, False)
CONCURRENCY = ConfigOption("max-concurrent-operations", positive, 10)
TIMEOUT = ConfigOption("timeout", duration, timedelta(minutes=3))
ASYNC_OPTIONS: tuple[ConfigOption[Any], ...] = (
    ASYNC,
    CONCURRENCY,
    ConfigOption("output-mode", choice("ORDERED", "ALLOW_UNORDERED")),
    TIMEOUT,
)


@dataclass(frozen=True, slots=True)
class ModelContext:
    """The model for which a provider creates a predictor.

    `path` is the identifier of the model, `configuration` has the options of the session.
    """

    path: str
    options: Mapping[str, str]
    inputs: Columns
    outputs: Columns
    configuration: Mapping[str, str]


class Predictor(Protocol):
    """Computes the output columns of a model, such as a function."""

    def __call__(self, rows: Sequence[tuple[Any, ...]], /) -> Iterable[Any]:
        """Return a result for each row of a batch, a tuple of the input columns, in order.

        A result is a tuple of the output columns, or a list of any number of such tuples. A call
        with the config ``async`` passes single rows, several of them at once in threads.
        """


class ModelProvider(Protocol):
    """A kind of model. Constructed without arguments; workers receive a copy."""

    @property
    def identifier(self) -> str:
        """The value of the option ``provider``."""

    def declared(self, options: Mapping[str, str]) -> Sequence[ConfigOption[Any]]:
        """Return the options of a model beside ``provider``."""

    def create_predictor(self, context: ModelContext) -> Predictor:
        """Return the predictor of a model; called once in each task, before its first batch."""


def open_provider(call: ModelCall) -> ModelProvider:
    """Return the provider of a model after validation of its options and of the call's config.

    Raises:
        SchemaError: `missing-option`, `invalid-option-value` or `unknown-option`.
        NotFoundError: as `schema_core.base.plugins.require`.
    """
    options = dict(call.model.options)
    name = next((options[key] for key in options if key.lower() == PROVIDER), None)
    if name is None:
        raise SchemaError(
            f"the model has no option {PROVIDER!r}",
            code="missing-option",
            hint=f"add the option to its WITH clause: '{PROVIDER}' = '...'",
        )
    provider: ModelProvider = require(MODEL_PROVIDERS, name)()
    validate_options(provider.declared(options), options, (PROVIDER,))
    validate_options(ASYNC_OPTIONS, call.config, ())
    return provider
