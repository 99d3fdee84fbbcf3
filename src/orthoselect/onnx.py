"""Fitted selectors as ONNX: `register_onnx_converters` teaches skl2onnx what they do.

A fitted selector picks columns, so its operator is ArrayFeatureExtractor with their positions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthoselect.errors import InputError


def register_onnx_converters() -> None:
    """Let skl2onnx convert pipelines that hold a selector; call it once before.

    It needs ``pip install 'orthoselect[onnx]'``. The converter takes tensors of numbers or text,
    as a pipeline has them after its columns were prepared.

    Examples
    --------
    >>> from orthoselect.onnx import register_onnx_converters
    >>> register_onnx_converters()  # doctest: +SKIP
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError:
        raise InputError(
            "converting to ONNX needs skl2onnx, which is not installed. Install it with "
            "`pip install 'orthoselect[onnx]'`."
        ) from None
    from orthoselect.selector_cv import SelectorCV
    from orthoselect.selectors import MutualInformationSelector, OrthogonalSelector

    for selector in (OrthogonalSelector, MutualInformationSelector, SelectorCV):
        update_registered_converter(selector, f"Orthoselect{selector.__name__}", _shape, _convert)


def _positions(selector: Any) -> np.ndarray:
    """Return the columns that `transform` keeps, in the order of the table."""
    return np.asarray(selector.get_support(indices=True), dtype=np.int64)


def _shape(operator: Any) -> None:
    """Say of which type and shape the output is: the input's type, fewer columns."""
    given = operator.inputs[0].type
    kept = len(_positions(operator.raw_operator))
    if kept == 0:
        raise InputError("a selector should have selected a feature to be converted; it has none.")
    operator.outputs[0].type = type(given)([given.shape[0], kept])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Write the operator: the columns at these positions."""
    name = scope.get_unique_variable_name("positions")
    positions = _positions(operator.raw_operator)
    container.add_initializer(name, 7, [len(positions)], positions)  # 7 is int64
    container.add_node(
        "ArrayFeatureExtractor",
        [operator.inputs[0].full_name, name],
        operator.outputs[0].full_name,
        op_domain="ai.onnx.ml",
        name=scope.get_unique_operator_name("selected"),
    )
