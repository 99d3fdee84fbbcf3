"""Values of an object that are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):  # noqa: N801  (a decorator, like `property`)
    """Make a value once for each object; as `functools.cached_property`, without a lock.

    Before Python 3.12 that has a lock for all objects of a class: threads wait for each other, and
    a process that was forked while another thread held it waits forever. Here two threads may make
    a value at the same time, which does no harm, as it is the same.
    """

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self._make, self._name = make, make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[Value]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> lazy[Value] | Value:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._make(instance)
        return value
