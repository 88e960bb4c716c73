"""Laziness: public names loaded, expressions compiled and methods generated at first use.

``import schema_core`` takes 16 ms of processor time; all of its names take 670 ms, and a first
schema 225 ms. See ``docs/decisions/0036-methods-of-dataclasses.md``.
"""

from __future__ import annotations

import re
import sys
import threading
from collections import namedtuple
from collections.abc import Callable
from functools import cached_property, partial
from importlib import import_module
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Literal

__all__ = ["NamedTuple", "attach", "dataclass", "node", "regex"]

# --- public names of packages --------------------------------------------------------------------


def attach(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package (PEP 562).

    The stub beside the package's `file` declares the public names, and nothing else: ``from
    package.module import Name as Name``.
    """
    # The loader of the package also reads from a zip, in which executors of Spark receive it.
    loader: Any = getattr(sys.modules[package].__spec__, "loader", None)
    # It compares names as strings, so `./a.zip/package` must not be normalised.
    stub = loader.get_data(f"{file.rpartition('.')[0]}.pyi").decode()
    homes: dict[str, str] = {}
    module = ""
    for word, following in pairwise(stub.replace(",", " ").split()):  # importing `ast` takes longer
        if word == "from":
            module = following
        elif word == "as":
            homes[following] = module

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return load, names, sorted(homes)


# --- regular expressions -------------------------------------------------------------------------

if TYPE_CHECKING:
    from re import compile as regex
else:

    class regex:  # noqa: N801 - it is called as `re.compile`
        """A regular expression compiled at first use, with the attributes of ``re.Pattern``.

        Compiling one takes up to ten milliseconds: with ``re.compile``, the first schema takes 1.1
        times as long, imports included.
        """

        def __init__(self, pattern: str, flags: int = 0) -> None:
            # Not `pattern` and `flags`: these are attributes of the compiled expression.
            self._arguments = (pattern, flags)

        def __getattr__(self, name: str) -> Any:
            """Compile the expression and keep its attribute."""
            if name.startswith("_"):  # also while an instance is copied or unpickled
                raise AttributeError(name)
            value = getattr(re.compile(*self._arguments), name)
            setattr(self, name, value)
            return value

        def __reduce__(self) -> tuple[Any, ...]:
            return (regex, self._arguments)

        def __repr__(self) -> str:
            return repr(re.compile(*self._arguments))


# --- dataclasses ---------------------------------------------------------------------------------

if TYPE_CHECKING:
    from dataclasses import dataclass
    from dataclasses import dataclass as node
else:

    def dataclass(*, slots: Literal[True], **options: bool) -> Callable[[type], type]:
        """Decorate as ``dataclasses.dataclass`` does, with slots, which the class has at once.

        The methods are generated when the first instance is created, or the fields or the signature
        are read: ``dataclasses`` compiles up to six for each class, with which the first schema
        takes 1.1 times and the first query 1.3 times as long, imports included.
        """
        return lambda cls: _Generated(cls, **options).cls

    def node(
        *, frozen: Literal[True], slots: Literal[True], **options: bool
    ) -> Callable[[type], type]:
        """Decorate a node of a tree, whose fields only type checkers protect.

        A frozen dataclass calls ``object.__setattr__`` for each field; parsing would take 1.25
        times as long.
        """
        return dataclass(slots=slots, unsafe_hash=True, **options)


#: Generating a class reads the fields of its bases, which generates them.
_LOCK: Final = threading.RLock()
_PARAMS: Final = "__dataclass_params__"
#: The instances of a class before its `__init__` is compiled, which takes as long as 100 of them.
COMPILED_AFTER: Final = 30
#: What is read from the class and not called.
_FACTS: Final = ("__dataclass_fields__", _PARAMS, "__match_args__")
_ORDER: Final = ("__lt__", "__le__", "__gt__", "__ge__")
#: The parameters of an inherited dataclass: for ``dataclasses``, no model is frozen.
_INHERITED: Final = SimpleNamespace(frozen=False)


class _Generated:
    """A class with slots and what ``dataclasses`` generates for it."""

    def __init__(self, declared: type, *, weakref_slot: bool = False, **options: bool) -> None:
        body = dict(vars(declared))
        for name in ("__dict__", "__weakref__"):
            body.pop(name, None)
        names = [
            name
            for name, annotation in body.get("__annotations__", {}).items()
            if _declares_field(annotation)
        ]
        self.options = options
        self.names = names
        #: instances that were created without a compiled `__init__`
        self.created = 0
        self.defaults = {name: body.pop(name) for name in names if name in body}
        if "__eq__" in body and body.get("__hash__") is None:
            body.pop("__hash__", None)  # Python adds it to the body of a class with __eq__
        taken = {
            slot for base in declared.__mro__[1:-1] for slot in vars(base).get("__slots__", ())
        }
        slots = [name for name in names if name not in taken]
        body["__slots__"] = (*slots, *(["__weakref__"] if weakref_slot else []))
        #: until they are generated
        self.pending: dict[str, Any] = {
            name: (_PendingInit if name == "__init__" else _Pending)(self, name)
            for name in self._generated_names()
            if name not in body
        }
        body["__qualname__"] = declared.__qualname__
        body = {**self._fixed_members(), **self.pending, **body}
        self.cls: Any = type(declared)(declared.__name__, declared.__bases__, body)

    def _generated_names(self) -> list[str]:
        options = self.options
        names = [*_FACTS]
        if options.get("init", True):
            names.append("__init__")
        if options.get("repr", True):
            names.append("__repr__")
        if options.get("eq", True):
            names.append("__eq__")
            if options.get("frozen", False) or "unsafe_hash" in options:
                names.append("__hash__")
        if options.get("order", False):
            names += _ORDER
        return names

    def _fixed_members(self) -> dict[str, Any]:
        fixed: dict[str, Any] = {}
        if "__init__" in self.pending:
            fixed["__signature__"] = _Signature(self)
        if not self.options.get("frozen", False):
            has_hash = "unsafe_hash" in self.options or not self.options.get("eq", True)
            return fixed if has_hash else fixed | {"__hash__": None}

        def check(instance: object, name: str, action: str) -> None:
            if type(instance) is self.cls or name in _names(self.cls):
                from dataclasses import FrozenInstanceError

                raise FrozenInstanceError(f"cannot {action} field {name!r}")

        def set_attribute(instance: Any, name: str, value: object) -> None:
            check(instance, name, "assign to")
            super(self.cls, instance).__setattr__(name, value)

        def delete_attribute(instance: Any, name: str) -> None:
            check(instance, name, "delete")
            super(self.cls, instance).__delattr__(name)

        def state(instance: Any) -> list[object]:
            return [getattr(instance, name) for name in _names(type(instance))]

        def set_state(instance: Any, values: list[object]) -> None:
            for name, value in zip(_names(type(instance)), values, strict=True):
                object.__setattr__(instance, name, value)

        return fixed | {
            "__setattr__": set_attribute,
            "__delattr__": delete_attribute,
            "__getstate__": state,
            "__setstate__": set_state,
        }

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The fields of an instance by name, in the order in which they are assigned."""
        from dataclasses import MISSING, Field, field, fields

        result: dict[str, Any] = {}
        for base in reversed(self.cls.__mro__[1:]):
            inherited = vars(base).get("__dataclass_fields__")
            if isinstance(inherited, _Pending):
                result |= inherited.of.fields
            elif inherited is not None:
                result |= {field.name: field for field in fields(base)}
        for name in self.names:
            default = self.defaults.get(name, MISSING)
            result[name] = default if isinstance(default, Field) else field(default=default)
            if result[name].kw_only is MISSING:
                result[name].kw_only = self.options.get("kw_only", False)
        return result

    @cached_property
    def positional(self) -> list[str]:
        """The fields that are positional parameters of `__init__`."""
        return [name for name, field in self.fields.items() if field.init and not field.kw_only]

    def initialize(self, instance: Any, /, *arguments: object, **keywords: object) -> None:
        """Assign the fields of an instance as `__init__` does, which raises for wrong arguments."""
        from dataclasses import MISSING

        values = dict(zip(self.positional, arguments, strict=False)) | keywords
        is_valid = len(values) == len(arguments) + len(keywords)
        assign = object.__setattr__ if self.options.get("frozen", False) else setattr
        for name, field in self.fields.items():
            if field.init and name in values:
                assign(instance, name, values.pop(name))
            elif field.default is not MISSING:
                assign(instance, name, field.default)
            elif field.default_factory is not MISSING:
                assign(instance, name, field.default_factory())
            else:
                is_valid = is_valid and not field.init
        if values or not is_valid:
            self.cls.__init__(instance, *arguments, **keywords)
        elif hasattr(instance, "__post_init__"):
            instance.__post_init__()

    def generate(self, name: str) -> None:
        """Replace what is pending under a name by what ``dataclasses`` generates for the fields.

        Each method is compiled by itself: most classes never compare, hash or print an instance.
        """
        with _LOCK:
            if not isinstance(vars(self.cls).get(name), _Pending):
                return
            if name == "__init__" and self.options.get("frozen", False):
                self.cls.__init__ = _frozen_init(self.cls)
                return
            if name == _PARAMS:
                self.cls.__dataclass_params__ = self._params()
                return
            generated = vars(self._model_with(name))
            for attribute in ({*self.pending, "__replace__"} & generated.keys()) - {_PARAMS}:
                is_pending = isinstance(vars(self.cls).get(attribute), _Pending | None)
                if is_pending and generated[attribute] is not None:
                    setattr(self.cls, attribute, generated[attribute])

    def _params(self) -> Any:
        """Return the options, which a class without fields has as well."""
        import dataclasses

        without_fields: Any = type("Empty", (), {})
        return dataclasses.dataclass(slots=True, **self.options)(
            without_fields
        ).__dataclass_params__

    def _model_with(self, name: str) -> Any:
        """Return a class of the same fields, with one of the methods, or what is read from it."""
        import dataclasses

        methods = {"init": ("__init__",), "repr": ("__repr__",), "order": _ORDER}
        options = {option: name in names for option, names in methods.items()}
        options["eq"] = name in ("__eq__", "__hash__", *_ORDER)
        options["unsafe_hash"] = name == "__hash__"
        # with slots, __init__ assigns the defaults of what are not its parameters
        options |= {"slots": options["init"], "frozen": False}
        # A class of its own, as the members of slots have the names of the defaults.
        annotations = vars(self.cls).get("__annotations__", {})
        types = annotations if options["init"] else dict.fromkeys(self.names, object)
        body = {"__annotations__": types, **self.defaults}
        body |= {name: getattr(self.cls, name) for name in ("__module__", "__qualname__")}
        body["__doc__"] = "Without a text, `dataclasses` adds the signature."
        model = type(self.cls.__name__, (_collect_inherited(self.cls),), body)
        result: Any = dataclasses.dataclass(**self.options | options)(model)
        for field in self.names:  # `dataclasses` looks for ClassVar in each string
            result.__dataclass_fields__[field].type = annotations[field]
        return result


def _declares_field(annotation: str) -> bool:
    if "InitVar" in annotation:
        raise TypeError("InitVar is not supported: write a method that returns the instance")
    if "KW_ONLY" in annotation:
        raise TypeError("KW_ONLY is not supported: write field(kw_only=True)")
    return "ClassVar" not in annotation


class _Factory:
    """The default of a field with a factory, in the signature."""

    def __repr__(self) -> str:
        return "<factory>"


def _frozen_init(cls: Any) -> Any:
    """Return the `__init__` of a frozen class.

    It assigns the fields while the instance is of a subclass that is not frozen, in less than half
    of the time of ``object.__setattr__``. An instance of another subclass, which may have other
    slots, is set field by field.
    """
    from dataclasses import MISSING, fields

    factories = {field.name: field.default_factory for field in fields(cls)}
    defaults = {field.name: field.default for field in fields(cls) if field.default is not MISSING}
    defaults |= {name: _Factory() for name, factory in factories.items() if factory is not MISSING}
    arguments = sorted(
        (field for field in fields(cls) if field.init), key=lambda field: field.kw_only is True
    )
    names = [field.name for field in fields(cls) if field.init or field.name in defaults]

    parameters = [
        f"{field.name}=__defaults__[{field.name!r}]" if field.name in defaults else field.name
        for field in arguments
    ]
    if any(field.kw_only for field in arguments):
        parameters.insert([field.kw_only for field in arguments].index(True), "*")
    source = [f"def __init__({', '.join(['self', *parameters])}):"]
    for field in fields(cls):
        if not field.init and field.name in defaults:
            source.append(f" {field.name} = __defaults__[{field.name!r}]")
        if field.default_factory is not MISSING:
            source.append(f" if {field.name} is __defaults__[{field.name!r}]:")
            source.append(f"  {field.name} = __factories__[{field.name!r}]()")
    source += [" if self.__class__ is __cls__:", "  __set__(self, '__class__', __open__)"]
    source += [f"  self.{name} = {name}" for name in names]
    source += ["  self.__class__ = __cls__", " else:", "  pass"]
    source += [f"  __set__(self, {name!r}, {name})" for name in names]
    if hasattr(cls, "__post_init__"):
        source.append(" self.__post_init__()")

    set_, delete = object.__setattr__, object.__delattr__
    body = {"__setattr__": set_, "__delattr__": delete, "__slots__": (), "__doc__": cls.__doc__}
    body |= {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
    open_ = type(cls)(cls.__name__, (cls,), body)
    # the names of the module are the globals, in which annotations are evaluated
    create = "def create(__cls__, __open__, __set__, __defaults__, __factories__):"
    lines = [create, *(f" {line}" for line in source), " return __init__"]
    created: dict[str, Any] = {}
    exec("\n".join(lines), vars(sys.modules[cls.__module__]), created)  # noqa: S102 - as `dataclasses`
    init = created["create"](cls, open_, set_, defaults, factories)
    init.__annotations__ = {field.name: field.type for field in arguments} | {"return": None}
    init.__module__, init.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    return init


class _Pending:
    """An attribute that is generated when it is read or called."""

    __slots__ = ("name", "of")

    def __init__(self, of: Any, name: str) -> None:
        self.of, self.name = of, name

    def __get__(self, instance: object, owner: type) -> Any:
        self.of.generate(self.name)
        value = vars(self.of.cls)[self.name]
        return value.__get__(instance, owner) if hasattr(value, "__get__") else value


class _PendingInit(_Pending):
    """An `__init__` that is compiled only for a class of which the process has many instances."""

    __slots__ = ()

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None or self.of.created >= COMPILED_AFTER:
            return super().__get__(instance, owner)
        self.of.created += 1
        return partial(self.of.initialize, instance)


class _Signature:
    """The signature of a class, not that of its subclasses, which ``inspect`` reads here."""

    def __init__(self, of: _Generated) -> None:
        self.of = of

    def __get__(self, instance: object, owner: type) -> Any:
        self.of.generate("__init__")
        if owner is not self.of.cls:
            raise AttributeError("__signature__")
        from inspect import signature

        own = signature(vars(owner)["__init__"])
        return own.replace(parameters=list(own.parameters.values())[1:])


def _collect_inherited(cls: type) -> type:
    """Return a class with what ``dataclasses`` reads from the bases of a class."""
    fields: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        fields |= getattr(base, "__dataclass_fields__", {})
    inherited = {"__dataclass_fields__": fields, "__dataclass_params__": _INHERITED}
    body: dict[str, Any] = inherited if fields else {}
    if hasattr(cls, "__post_init__"):
        body["__post_init__"] = cls.__post_init__
    return type("Inherited", (), body)


def _names(cls: type) -> list[str]:
    from dataclasses import fields

    return [field.name for field in fields(cls)]


# --- named tuples --------------------------------------------------------------------------------

if TYPE_CHECKING:
    from typing import NamedTuple
else:

    class _NamedTupleMeta(type):
        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            """Return a class of tuples; only `NamedTuple` itself has no bases."""
            if bases:
                return _GeneratedTuple(name, body).cls
            return super().__new__(cls, name, bases, body)

    class NamedTuple(metaclass=_NamedTupleMeta):
        """The base of a class that is declared as with ``typing.NamedTuple``.

        Its members are generated when one is read or called: ``typing`` compiles a constructor and
        every annotation, in ten times the time of an empty class.
        """


#: What ``collections`` generates for each class.
_OF_TUPLES: Final = frozenset(vars(namedtuple("Empty", ()))) - {  # noqa: PYI024 - only its members
    "__doc__",
    "__module__",
    "__slots__",
}


class _GeneratedTuple:
    """A class of tuples and what ``collections`` generates for it."""

    def __init__(self, name: str, body: dict[str, Any]) -> None:
        self.fields = body.get("__annotations__", {})
        self.defaults = [body.pop(field) for field in self.fields if field in body]
        pending = {member: _Pending(self, member) for member in (*_OF_TUPLES, *self.fields)}
        self.cls: Any = type(name, (tuple,), {**pending, **body, "__slots__": ()})

    def generate(self, _: str) -> None:
        """Replace all that is pending by the members of a class of the same fields."""
        cls = self.cls
        make: Any = namedtuple  # noqa: PYI024 - its members are those of a declared class
        model = make(cls.__name__, self.fields, defaults=self.defaults, module=cls.__module__)
        model.__new__.__annotations__ = self.fields
        with _LOCK:
            for name, value in vars(model).items():
                if isinstance(vars(cls).get(name), _Pending):
                    setattr(cls, name, value)
