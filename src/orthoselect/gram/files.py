"""Statistics in a file: a ZIP archive of a header that people can read, and of NumPy arrays."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Labels, NumberedNames
from orthoselect.encode.labels import GAP, LevelsSeen
from orthoselect.errors import InputError
from orthoselect.gram.intake import ReducedRows
from orthoselect.gram.layout import ResponseColumn, StatisticsLayout, by_appearance
from orthoselect.matrix.triangle import Triangle
from orthoselect.output import replacing

FORMAT, VERSION = "orthoselect statistics", 1
_HEADER = "header.json"
_ARRAYS = ("R", "shift", "exponents", "precision")
_LARGEST = 2.0**510  # whose square is a number
_LARGEST_EXPONENT = 2200  # of two: from the smallest double to the largest


def save(path: str | Path, reduced: ReducedRows) -> None:
    """Write what is kept of rows to a file."""
    (layout, whole), settings = reduced.known(), reduced.settings
    header = json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            **reduced.counts(),
            "settings": {
                "task": settings["task"],
                "classes": _plain(settings["classes"], "y"),
                "missing": settings["missing"],
            },
            "columns": None if isinstance(layout.names, NumberedNames) else list(layout.names),
            "n_columns": len(layout.names),
            "numeric": layout.numeric_at.tolist(),
            "labels": {
                str(c): _levels(seen, layout.names[c]) for c, seen in layout.labeled.items()
            },
            "labels_by_dtype": None if layout.by_dtype is None else sorted(layout.by_dtype),
            "responses": [_response(response) for response in layout.responses],
            "response_at": layout.target_columns,
            "weights_at": layout.weight_columns,
            "excluded": layout.excluded,
            "gaps": {
                str(c): {"count": layout.gap_counts[c], "filled_by": fill}
                for c, fill in layout.fills.items()
            },
            "terms": [list(term) for term in layout.terms],
        },
        indent=1,
        ensure_ascii=False,
    )
    arrays = (whole.R, whole.shift, whole.exponents.astype(np.int64), layout.precision)
    with (
        replacing(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as file,
    ):
        file.writestr(_HEADER, header)
        for name, array in zip(_ARRAYS, arrays):
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def load(path: str | Path) -> ReducedRows:
    """Read what `save` has written."""
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as file:
            header, arrays = _read_header(file, path), {}
            for name in _ARRAYS:
                content = io.BytesIO(file.read(f"{name}.npy"))
                arrays[name] = np.lib.format.read_array(content, allow_pickle=False)
        return _rebuild(header, arrays)
    except (InputError, MemoryError):
        raise
    except OSError as error:
        raise InputError(
            f"`{path}` should be a file of statistics; it cannot be read: {error.strerror}."
        ) from None
    except zipfile.BadZipFile:
        if not zipfile.is_zipfile(path):
            raise _foreign(path) from None
        raise _damaged(path) from None
    except Exception:  # whatever a file that was changed leads to
        raise _damaged(path) from None


def _read_header(file: zipfile.ZipFile, path: str | Path) -> dict[str, Any]:
    if _HEADER not in file.namelist():
        raise _foreign(path)
    header = json.loads(file.read(_HEADER))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise _foreign(path)
    if header["version"] > VERSION:
        raise InputError(
            f"`{path}` should be of format {VERSION} or older; it is of format "
            f"{header['version']}, which a newer orthoselect has written. Update orthoselect."
        )
    return header


def _rebuild(header: dict[str, Any], arrays: dict[str, NDArray]) -> ReducedRows:
    names = header["columns"]
    layout = StatisticsLayout(
        names=NumberedNames(header["n_columns"]) if names is None else names,
        numeric_at=np.array(header["numeric"], dtype=np.intp),
        labeled={
            int(c): _seen(part, "column", header["n_rows"]) for c, part in header["labels"].items()
        },
        by_dtype=None if header["labels_by_dtype"] is None else set(header["labels_by_dtype"]),
        responses=[_rebuild_response(part, header["n_rows"]) for part in header["responses"]],
        target_columns=header["response_at"],
        weight_columns=header["weights_at"],
        excluded=header["excluded"],
        precision=arrays["precision"],
        fills={int(c): float(part["filled_by"]) for c, part in header.get("gaps", {}).items()},
        gap_counts={int(c): int(part["count"]) for c, part in header.get("gaps", {}).items()},
        terms=[tuple(term) for term in header["terms"]],
    )
    whole = Triangle(arrays["R"], arrays["shift"], arrays["exponents"].astype(np.intp))
    p, n_terms = whole.p, len(layout.terms)
    shapes = whole.R.shape == (p, p), whole.exponents.shape == (p,)
    precise = len(layout.precision) == len(layout.numeric_at)
    if not all((*shapes, precise, p == n_terms, _in_range(whole, layout.precision))):
        raise ValueError("arrays and header do not fit")
    expected = replace(layout, terms=[]).terms
    if len(expected) != n_terms or set(expected) != set(layout.terms):
        raise ValueError("there are columns or levels without terms")
    task, classes = header["settings"]["task"], header["settings"]["classes"]
    settings = {
        "task": task,
        "classes": None if classes is None else tuple(classes),
        "missing": header["settings"].get("missing", "error"),
    }
    return ReducedRows.of(settings, layout, whole, header)


def _in_range(whole: Triangle, precision: NDArray) -> bool:
    """Whether the numbers are such as statistics may hold."""
    # Columns are kept in units of their own, so only huge weights make R large at all.
    finite = (np.abs(whole.R) < _LARGEST).all() and np.isfinite(whole.shift).all()
    scaled = (np.abs(whole.exponents) <= _LARGEST_EXPONENT).all()
    return bool(finite and scaled and ((precision >= 0) & (precision <= 1)).all())


def _levels(seen: LevelsSeen, name: str) -> dict[str, Any]:
    levels, order = _plain(by_appearance(seen), name, gaps=True), _plain(seen.order, name)
    counts = list(seen.rows_by_level().values())
    return {"name": name, "levels": levels, "order": order, "counts": counts}


def _seen(part: dict[str, Any], what: str, n_rows: int) -> LevelsSeen:
    seen, levels = LevelsSeen(f"{what} `{part['name']}`"), part["levels"]
    # Before they were stored, all classes were as good as equally frequent.
    counts = part.get("counts", [-(-n_rows // max(1, len(levels)))] * len(levels))
    codes = np.arange(len(levels))
    seen.add(Labels(codes, tuple(levels), counts=np.array(counts)), part["order"])
    return seen


def _response(response: ResponseColumn) -> dict[str, Any]:
    kept = {"name": response.name, "is_number": response.is_number, "fixed": response.fixed}
    seen = response.classes
    return {**kept, "classes": None if seen is None else _levels(seen, response.name)}


def _rebuild_response(part: dict[str, Any], n_rows: int) -> ResponseColumn:
    seen = None if part["classes"] is None else _seen(part["classes"], "response", n_rows)
    return ResponseColumn(part["name"], seen, part["is_number"], part["fixed"])


def _plain(labels: Any, name: str, *, gaps: bool = False) -> list[Any] | None:
    """Return labels as JSON has them, and maybe the level of gaps; raise for others."""
    if labels is None:
        return None
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    odd = [label for label in plain if not isinstance(label, (str, int, float, bool))]
    odd = [label for label in odd if not (gaps and label is GAP)]
    if odd:
        raise InputError(
            f"labels should be text, numbers or booleans to be saved; `{name}` has {odd[0]!r}, a "
            f"{type(odd[0]).__name__}. Convert them before the statistics are made."
        )
    return plain


def _foreign(path: str | Path) -> InputError:
    return InputError(
        f"`{path}` should be a file that `GramStatistics.save` has written; it is not one."
    )


def _damaged(path: str | Path) -> InputError:
    return InputError(
        f"`{path}` should be whole; it was cut short or changed since `GramStatistics.save` has "
        f"written it. Get it again."
    )
