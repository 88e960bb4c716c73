"""Classes of `schema_core.base.lazy` behave as those of ``dataclasses``."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import threading
import typing
from collections.abc import Callable
from typing import Any, ClassVar, get_type_hints

import pytest

from schema_core.base import lazy
from schema_core.base.lazy import COMPILED_AFTER, NamedTuple, dataclass, node

Decorator = Callable[..., Callable[[type[Any]], type[Any]]]


def point(decorator: Decorator) -> type[Any]:
    class Point:
        """A point."""

        kind: ClassVar[str] = "point"
        x: int
        y: int = 2
        tags: list[str] = dataclasses.field(default_factory=list, compare=False)
        size: int | None = dataclasses.field(default=None, init=False)

    return decorator(frozen=True, slots=True, order=True)(Point)


def named(decorator: Decorator) -> type[Any]:
    class Named(point(decorator)):  # type: ignore[misc]
        name: str = "origin"
        y: int = 7

        def __post_init__(self) -> None:
            if not self.name:
                raise ValueError("no name")

    return decorator(frozen=True, slots=True)(Named)


def own_methods(decorator: Decorator) -> type[Any]:
    class Own:  # noqa: PLW1641 - the hash is generated
        x: int

        def __init__(self, text: str) -> None:
            object.__setattr__(self, "x", len(text))

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and other.x % 2 == self.x % 2

        def __repr__(self) -> str:
            return f"<{self.x}>"

    return decorator(frozen=True, slots=True, init=False, repr=False)(Own)


def mutable(decorator: Decorator) -> type[Any]:
    class Mutable:
        x: int
        y: int = dataclasses.field(default=3, repr=False, kw_only=True)
        size: int = dataclasses.field(default=5, init=False)

    return decorator(slots=True, weakref_slot=True)(Mutable)


def by_identity(decorator: Decorator) -> type[Any]:
    class ByIdentity:
        x: int

    return decorator(frozen=True, slots=True, eq=False, kw_only=True)(ByIdentity)


#: A class, arguments for two instances, and keyword arguments.
CASES: dict[str, tuple[Callable[[Decorator], type[Any]], tuple[Any, ...], tuple[Any, ...], Any]] = {
    "defaults": (point, (1,), (1, 3), {}),
    "derived": (named, (1,), (1, 2, ["a"], "b"), {}),
    "fails": (named, (1, 2, [], ""), (1,), {}),
    "own methods": (own_methods, ("abc",), ("a",), {}),
    "mutable": (mutable, (1,), (2,), {"y": 4}),
    "identity": (by_identity, (), (), {"x": 1}),
    "too many": (point, (1, 2, [], 4), (1,), {}),
}

#: What is read first, when nothing has been generated.
FACTS: dict[str, Callable[[type[Any], Any], Any]] = {
    "signature": lambda cls, _: (str(inspect.signature(cls)), str(inspect.signature(cls))),
    "signature of init": lambda cls, _: str(inspect.signature(cls.__init__)),
    "fields": lambda cls, _: [(field.name, field.type) for field in dataclasses.fields(cls)],
    "parameters": lambda cls, make: (
        [getattr(cls.__dataclass_params__, name) for name in ("init", "repr", "eq", "frozen")],
        [field.name for field in dataclasses.fields(cls)],
        make(0) == make(1),
    ),
    "match": lambda cls, _: cls.__match_args__,
    "slots": lambda cls, _: cls.__slots__ if "__slots__" in vars(cls) else None,
    "hashable": lambda cls, _: cls.__hash__ is None,
    "repr": lambda _, make: repr(make(0)),
    "equal": lambda _, make: (make(0) == make(0), make(0) == make(1), make(0) == 1),
    "hash": lambda _, make: len({make(0), make(0)}),
    "order": lambda _, make: (make(0) < make(1), make(0) >= make(1)),
    "assign": lambda _, make: setattr(make(0), "x", 9),
    "delete": lambda _, make: delattr(make(0), "x"),
    "replace": lambda _, make: repr(dataclasses.replace(make(0), x=8)),
    "computed": lambda _, make: make(0).size,
    "dictionary": lambda _, make: dataclasses.asdict(make(0)),
    "state": lambda _, make: make(0).__reduce_ex__(4)[2],
}


def outcome(fact: str, case: str, decorator: Decorator) -> Any:
    build, *arguments, options = CASES[case]
    cls = build(decorator)

    def make(place: int) -> Any:
        return cls(*arguments[place], **options)

    try:
        return FACTS[fact](cls, make)
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("fact", FACTS)
def test_as_dataclasses(fact: str, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = outcome(fact, case, dataclasses.dataclass)
    assert outcome(fact, case, dataclass) == expected
    monkeypatch.setattr(lazy, "COMPILED_AFTER", 0)
    assert outcome(fact, case, dataclass) == expected


@dataclass(frozen=True, slots=True)
class Pickled:
    x: int
    y: tuple[int, ...] = ()


def test_pickled_before_and_after_its_methods_exist() -> None:
    text = pickle.dumps(Pickled(1, (2,)))
    assert pickle.loads(text) == Pickled(1, (2,))


def test_subclasses_have_attributes_of_their_own() -> None:
    """In ``dataclasses`` of Python 3.11, this is a TypeError."""

    class Extended(point(dataclass)):  # type: ignore[misc]
        def __init__(self, x: int) -> None:
            super().__init__(x, 5)
            self.more = "more"

    extended = Extended(1)
    extended.more = "other"
    assert (extended.x, extended.y, extended.more) == (1, 5, "other")
    assert str(inspect.signature(Extended)) == "(x: 'int') -> 'None'"
    with pytest.raises(dataclasses.FrozenInstanceError):
        extended.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        point(dataclass)(1).unknown = 1


def test_patterns() -> None:
    @dataclass(frozen=True, slots=True)
    class Pair:
        one: int
        two: int

    instance = object.__new__(Pair)
    object.__setattr__(instance, "one", 1)
    object.__setattr__(instance, "two", 2)
    match instance:
        case Pair(1, second):
            assert second == 2
        case _:
            pytest.fail("no match")


def test_first_used_by_several_threads() -> None:
    @dataclass(frozen=True, slots=True)
    class Shared:
        x: int
        y: int = 1

    barrier, result = threading.Barrier(8), []

    def create() -> None:
        barrier.wait()
        result.append(Shared(3))

    threads = [threading.Thread(target=create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert result == [Shared(3)] * 8
    assert result[0].y == 1


def test_the_signature_stays() -> None:
    @dataclass(frozen=True, slots=True)
    class Built:
        x: int

    assert Built.__signature__ == Built.__signature__ == inspect.signature(Built)  # type: ignore[attr-defined]
    assert Built(1) == Built(x=1)


def test_generated_when_used() -> None:
    @dataclass(frozen=True, slots=True)
    class Unused:
        x: int

    instances = [Unused(x) for x in range(COMPILED_AFTER)]
    assert not inspect.isfunction(vars(Unused)["__init__"])
    instances.append(Unused(COMPILED_AFTER))
    assert inspect.isfunction(vars(Unused)["__init__"])
    assert [*range(COMPILED_AFTER + 1)] == [instance.x for instance in instances]


def test_annotations_of_init_are_those_of_the_module() -> None:
    assert get_type_hints(Pickled.__init__) == {
        "x": int,
        "y": tuple[int, ...],
        "return": type(None),
    }


def test_annotations_that_declare_no_field_are_refused() -> None:
    with pytest.raises(TypeError, match="InitVar is not supported"):

        @dataclass(frozen=True, slots=True)
        class Text:
            length: int
            text: dataclasses.InitVar[str]

    with pytest.raises(TypeError, match="KW_ONLY is not supported"):

        @dataclass(frozen=True, slots=True)
        class Named:
            _: dataclasses.KW_ONLY
            name: str


def test_instances_are_of_their_class_and_frozen_when_they_are_validated() -> None:
    seen: list[object] = []

    @dataclass(frozen=True, slots=True)
    class Validated:
        x: int
        y: int = 2
        z: tuple[int, ...] = ()

        def __post_init__(self) -> None:
            seen.append(type(self))
            with pytest.raises(dataclasses.FrozenInstanceError):
                self.x = 3  # type: ignore[misc]

    assert type(Validated(1)) is Validated
    assert seen == [Validated]


def test_nodes_are_compared_and_hashed_but_not_frozen() -> None:
    @node(frozen=True, slots=True)
    class Leaf:
        x: int

    @node(frozen=True, slots=True, eq=False)
    class Identity:
        x: int

    leaf = Leaf(1)
    assert {leaf} == {Leaf(1)}
    assert Identity(1) != Identity(1)
    assert len({Identity(1), Identity(1)}) == 2
    leaf.x = 2  # type: ignore[misc]
    assert leaf == Leaf(2)
    with pytest.raises(AttributeError):
        leaf.y = 3  # type: ignore[attr-defined]


class Standard(typing.NamedTuple):
    """A pair."""

    x: int
    y: str = "b"

    def text(self) -> str:
        return f"{self.x}{self.y}"


class Pair(NamedTuple):
    """A pair."""

    x: int
    y: str = "b"

    def text(self) -> str:
        return f"{self.x}{self.y}"


def test_named_tuples_are_as_those_of_typing() -> None:
    first = tuple.__new__(Pair, (3, "c"))  # parsers make tuples without the constructor
    assert "c" == first.y
    pair = Pair(1)
    assert vars(Standard).keys() - {"__orig_bases__"} == vars(Pair).keys()
    assert isinstance(pair, tuple)
    assert (1, "b") == pair
    assert "1b" == pair.text()
    assert pair == pickle.loads(pickle.dumps(pair))
    assert Standard.__mro__[1:] == Pair.__mro__[1:]
    assert repr(Standard(1)).replace("Standard", "Pair") == repr(pair)
    assert pair._asdict() == Standard(1)._asdict()
    assert (2, "b") == pair._replace(x=2)
    assert Standard._field_defaults == Pair._field_defaults
    assert get_type_hints(Standard) == get_type_hints(Pair)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        Pair()  # type: ignore[call-arg]
    match pair:
        case Pair(x, y):
            assert (1, "b") == (x, y)
