"""What a caller may have meant by an argument that there is none of."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import ParamSpec, TypeVar

from orthoselect.errors import InputError, did_you_mean, listing

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

# What others call the number of features.
COUNT_NAMES = ("k", "n", "n_features", "n_select", "count", "n_selected", "top_k")
COUNT_IS = dict.fromkeys(COUNT_NAMES, "how many features is `n_features_to_select`.")


def telling_names(
    meant: Mapping[str, str], who: str | None = None
) -> Callable[[Callable[Arguments, Returned]], Callable[Arguments, Returned]]:
    """Let a function name the right argument where it is called with another.

    Parameters
    ----------
    meant : mapping of str to str
        Usual names elsewhere, and what to say of each.
    who : str, optional
        What to call the function; by default its name.

    Examples
    --------
    >>> @telling_names({"k": "the size is `size`."})
    ... def cut(size=3): return size
    >>> cut(k=2)
    Traceback (most recent call last):
    ...
    orthoselect.errors.InputError: `cut` has no argument `k`: the size is `size`.
    """

    def decorate(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
        known = list(inspect.signature(function).parameters)

        @functools.wraps(function)
        def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
            unknown = [name for name in kwargs if name not in known]
            if unknown:
                taken = [name for name in known if name != "self"]
                near = meant.get(unknown[0]) or did_you_mean(unknown, taken, most=1)
                all_taken = ", ".join(f"`{name}`" for name in taken)
                raise InputError(
                    f"`{who or function.__name__}` has no argument {listing(unknown)}: "
                    f"{near or f'it takes {all_taken}.'}"
                )
            return function(*args, **kwargs)

        return call

    return decorate
