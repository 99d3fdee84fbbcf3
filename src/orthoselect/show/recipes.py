"""Code that a page offers to copy: the chosen columns, a pipeline of scikit-learn, the command.

Each runs as it stands where the table is a file or a data set that is read by its name. For a table
in memory the code speaks of `data` and `target`, as `select` does, and there is no command.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from orthoselect.criteria.information import CRITERIA
from orthoselect.encode import Labels, NumberedNames
from orthoselect.methods import GENERAL, find_method
from orthoselect.problem import Problem
from orthoselect.read import Dataset, is_path
from orthoselect.result import SelectionPath
from orthoselect.search import SEARCHES
from orthoselect.search_request import TIME_LIMIT

_ORTHOGONAL = ("socc", "obcc", "err", "mser")
_DEFAULTS = {
    **GENERAL,
    **{"include": None, "exclude": None, "search": "forward", "missing": "error"},
    "dates": "drop",
    **{"alpha": 0.05, "n_permutations": 199, "permute_within": None, "random_state": 0},
    "p_values": False,
    "time_limit": TIME_LIMIT,
}
# Said by the columns of the table that the pipeline gets, not by options of its selector.
_BY_COLUMNS = {"n_features_to_select", "categorical_features", "exclude", "sample_weight"}
# Options of tests, as the command has them.
_TESTS = {
    "alpha": "--alpha",
    "n_permutations": "--permutations",
    "permute_within": "--permute-within",
    "random_state": "--seed",
    "p_values": "--p-values",
}
_WIDTH = 88


@dataclass(frozen=True)
class Reading:
    """How a table was read: from where, and with which options of `read_table`."""

    source: Any  # None for a table in memory
    options: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(data: Any) -> Reading:
        """Return how `select` reads what it was given."""
        return Reading(data if is_path(data) else None)


@dataclass(frozen=True)
class Selected:
    """A path with all that recipes are made of."""

    path: SelectionPath
    problem: Problem
    data: Any  # the table; a Dataset, if it was read from somewhere
    target: Sequence[str]  # columns of the response; none if its values were given
    reading: Reading

    @property
    def columns(self) -> list[str]:
        """The names of the chosen columns."""
        return self.names_of(self.path.columns)

    def names_of(self, columns: Iterable[int]) -> list[str]:
        """Return the names of columns of the table."""
        return [str(self.problem.table.names[column]) for column in columns]

    @property
    def is_numbered(self) -> bool:
        """Whether the columns have no names but their places."""
        return isinstance(self.problem.table.names, NumberedNames)

    @property
    def is_sparse(self) -> bool:
        """Whether most numbers are zero, and not stored."""
        return sp.issparse(self.problem.table.numeric)

    @property
    def has_labels(self) -> bool:
        """Whether some candidates are categorical."""
        return bool(self.problem.table.labels)

    @property
    def as_frame(self) -> bool:
        """Whether the pipeline gets a dataframe, and not an array."""
        return self.has_labels or not (self.is_numbered or self.is_sparse)


def find_recipes(selected: Selected, command: str | None) -> dict[str, str | None]:
    """Return the code for the columns, the pipeline and the command, None where there is none."""
    if selected.reading.source == "-":  # what came by standard input is gone
        return {"names": names_code(selected), "pipeline": None, "command": None}
    return {
        "names": names_code(selected),
        "pipeline": pipeline_code(selected),
        "command": command or command_line(selected),
    }


def names_code(selected: Selected) -> str:
    """Return the chosen columns as a list in Python: names, or places where there are no names."""
    if selected.is_numbered:
        return _listed("columns", selected.path.columns)
    return _listed("features", selected.columns)


def _listed(name: str, values: Sequence[Any]) -> str:
    line = f"{name} = {list(values)!r}"
    if len(line) <= _WIDTH:
        return line
    lines = [""]
    for value in map(repr, values):
        if lines[-1] and len(lines[-1]) + len(value) > _WIDTH - 5:
            lines.append("")
        lines[-1] += f"{' ' * bool(lines[-1])}{value},"
    return f"{name} = [\n" + "".join(f"    {line}\n" for line in lines) + "]"


# A pipeline

_PANDAS = "import pandas as pd"
_ENCODE = """make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        remainder=StandardScaler(),
    )"""


def pipeline_code(selected: Selected) -> str | None:
    """Return a pipeline that selects, encodes, scales and fits.

    It selects by itself, so that a cross-validation selects anew in each fold; where a method has
    no selector of its own it starts with the chosen columns. None for a response of classes and
    numbers, for one that is a column of an array, and where rows beside a response were dropped.
    """
    kinds = {isinstance(part, Labels) for part in selected.problem.response.parts}
    if len(kinds) > 1 or (selected.target and not selected.as_frame):
        return None
    if selected.path.gaps.n_dropped and not (selected.target and selected.as_frame):
        return None  # which rows these are is not a line of code
    if selected.path.options.get("permute_within") is not None:
        return None  # the labels would have to be cut with the rows, which pipelines do not
    lines, imports = _table_lines(selected)
    steps, more = _steps(selected)
    model, most = _model(kinds == {True}, len(selected.problem.response.parts))
    imports |= more | most | {"from sklearn.pipeline import make_pipeline"}
    weights = _weights(selected)
    name = (_selector(selected.path.method) or "").lower()
    body = "".join(f"    {step},\n" for step in [*steps, model])
    return "\n".join(
        [
            *sorted(imports, key=_by_package),
            "",
            *lines,
            *weights,
            f"model = make_pipeline(\n{body})",
            f"model.fit(X, y{f', {name}__sample_weight=weights' if weights else ''})",
        ]
    )


def _by_package(line: str) -> tuple[bool, str]:
    """Order imports: whole packages first, as linters want them."""
    return not line.startswith("import"), line.removeprefix("from ").lower()


def _selector(method: str) -> str | None:
    if method in _ORTHOGONAL:
        return "OrthogonalSelector"
    return "MutualInformationSelector" if method in CRITERIA else None


def _model(is_classes: bool, n_responses: int) -> tuple[str, set[str]]:
    """Return the model at the end of the pipeline, and what it imports."""
    if not is_classes:
        return "LinearRegression()", {"from sklearn.linear_model import LinearRegression"}
    model = "LogisticRegression(max_iter=1000)"
    imports = {"from sklearn.linear_model import LogisticRegression"}
    if n_responses == 1:
        return model, imports
    more = {"from sklearn.multioutput import MultiOutputClassifier"}
    return f"MultiOutputClassifier({model})", imports | more


def _weights(selected: Selected) -> list[str]:
    """Return the line that has the row weights, if the selector takes any."""
    given = selected.path.options.get("sample_weight")
    if given is None or _selector(selected.path.method) is None:
        return []
    return ["weights = sample_weight" if given == "given" else f"weights = data[{given!r}]"]


def _table_lines(selected: Selected) -> tuple[list[str], set[str]]:
    """Return the lines that make X and y, and what they import."""
    lines, imports = _reading_lines(selected)
    y = "table.target" if isinstance(selected.data, Dataset) else "target"
    if selected.target:
        names = list(selected.target)
        y = f"data[{(names[0] if len(names) == 1 else names)!r}]"
    if selected.as_frame:
        numbers = _number_lines(selected)
        lines += numbers + _frame_lines(selected, y)
        imports |= {"from orthoselect.read import read_number"} if numbers else set()
    else:
        lines.append(f"X, y = data, {y}")
    if _selector(selected.path.method) is None:
        taken = "X[features]" if selected.as_frame else "X[:, columns]"
        lines += [names_code(selected), f"X = {taken}"]
    return lines, imports


def _number_lines(selected: Selected) -> list[str]:
    """Return the lines that make numbers of text that was read as such.

    To a model it would be as many levels as rows, and fit anything.
    """
    readings, skip = selected.problem.readings, selected.problem.skip
    by_decimal: dict[str, list[str]] = {}
    for column, decimal in readings.numbers.items():
        name = str(readings.names[column])
        if column not in skip or name in selected.target:
            by_decimal.setdefault(decimal, []).append(name)
    lines = []
    for decimal, names in by_decimal.items():
        more = "" if decimal == "." else f", decimal={decimal!r}"
        lines += [
            _listed("texts", names),
            f"data = data.assign(**data[texts].map(read_number{more}).astype(float))",
        ]
    return lines


def _frame_lines(selected: Selected, y: str) -> list[str]:
    """Return the lines that take columns out of a dataframe, and make categories of others."""
    weight = selected.path.options.get("sample_weight")
    apart = [*selected.target, *([weight] if weight not in (None, "given") else [])]
    skipped = selected.names_of(sorted(selected.problem.skip))
    unwanted = [name for name in skipped if name not in apart]
    lines = []
    if selected.path.options.get("missing") == "drop_rows":
        lines += [f"data = data.drop(columns={unwanted!r})"] if unwanted else []
        lines.append("data = data.dropna()")
        unwanted = []
    elif selected.path.gaps.n_dropped:
        lines.append(f"data = data.dropna(subset={apart!r})")
    away = [*apart, *unwanted]
    lines.append(f"X, y = {f'data.drop(columns={away!r})' if away else 'data'}, {y}")
    spec = selected.path.options.get("categorical_features")
    if spec == "all":
        lines.append('X = X.astype("category")')
    elif spec is not None and not isinstance(spec, str):
        table = selected.problem.table
        numbers = {
            str(table.names[at])
            for at, labels in table.labels.items()
            if not all(isinstance(level, str) for level in labels.levels)
        }
        kinds = {str(name): "category" for name in spec if name in numbers}
        lines += [f"X = X.astype({kinds!r})"] if kinds else []
    return lines


def _reading_lines(selected: Selected) -> tuple[list[str], set[str]]:
    """Return the lines after which `data` is a pandas dataframe, or an array without names."""
    data, source = selected.data, selected.reading.source
    module = _package_of(data)
    if isinstance(data, Dataset):
        lines, imports = ["table = data"], set()
        if source is not None:
            several = isinstance(source, (list, tuple))
            shown = repr([str(one) for one in source] if several else str(source))
            settings = [f"{name}={value!r}" for name, value in selected.reading.options.items()]
            lines = [f"table = read_table({', '.join([shown, *settings])})"]
            imports = {"from orthoselect.read import read_table"}
        if not selected.as_frame:
            return [*lines, "data = table.data"], imports
        if _package_of(data.data) == "pyarrow":
            return [*lines, "data = table.data.to_pandas()"], imports
        made = "data = pd.DataFrame(table.data, columns=table.names)"
        return [*lines, made], {*imports, _PANDAS}
    if module in ("polars", "pyarrow"):
        return ["data = data.to_pandas()"], set()
    if selected.as_frame and module != "pandas":
        return ["data = pd.DataFrame(data).add_prefix('x').infer_objects()"], {_PANDAS}
    if module == "pandas" and not all(isinstance(name, str) for name in data.columns):
        return ["data = data.rename(columns=str)"], set()
    return [], set()


def _package_of(data: Any) -> str:
    return type(data).__module__.partition(".")[0]


def _steps(selected: Selected) -> tuple[list[str], set[str]]:
    """Return the steps before the model, and what they import."""
    steps: list[str] = []
    imports: set[str] = set()
    name = _selector(selected.path.method)
    if name is not None:
        made = f"{name}({', '.join(_selector_arguments(selected))})"
        steps = [f'{made}.set_output(transform="pandas")' if selected.has_labels else made]
        imports = {f"from orthoselect import {name}", *option_imports(selected.path)}
    fill, more = _filling(selected)
    imports |= more
    if selected.has_labels:
        scaled = f"make_pipeline({fill[0]}, StandardScaler())" if fill else "StandardScaler()"
        return [*steps, _ENCODE.replace("StandardScaler()", scaled)], imports | {
            "from sklearn.compose import make_column_selector, make_column_transformer",
            "from sklearn.preprocessing import OneHotEncoder, StandardScaler",
        }
    scale = "MaxAbsScaler" if selected.is_sparse else "StandardScaler"
    imports.add(f"from sklearn.preprocessing import {scale}")
    return [*steps, *fill, f"{scale}()"], imports


def _filling(selected: Selected) -> tuple[list[str], set[str]]:
    """Return the step that fills gaps among numbers as the selection did, if it had to."""
    problem = selected.problem
    if not any(c not in problem.table.labels for c in problem.gaps):
        return [], set()
    made = f"SimpleImputer(add_indicator={problem.missing == 'indicator'})"
    return [made], {"from sklearn.impute import SimpleImputer"}


def _selector_arguments(selected: Selected) -> list[str]:
    path, task = selected.path, selected.problem.response.task
    orthogonal = path.method in _ORTHOGONAL
    shown = [repr_of(path.options.get("n_features_to_select", len(path)))]
    shown += [f"criterion={path.method!r}"] if path.method not in ("socc", "jmi") else []
    # A data set may know what its target is for; the selector sees values only.
    known = isinstance(selected.data, Dataset) and selected.data.task != "auto"
    shown += [f"task={task!r}"] if orthogonal and known else []
    said = _BY_COLUMNS if selected.as_frame else _BY_COLUMNS - {"exclude"}
    return shown + settings_of(path, said | ({"task"} if known or not orthogonal else set()))


def settings_of(path: SelectionPath, without: Collection[str] = ()) -> list[str]:
    """Return the options that are not as they are by default, as arguments in Python."""
    defaults = {**_DEFAULTS, **_search_defaults(path), **find_method(path.method).options}
    return [
        f"{name}={repr_of(value)}"
        for name, value in path.options.items()
        if name not in without and not (name in defaults and _same(value, defaults[name]))
    ]


def _search_defaults(path: SelectionPath) -> dict[str, Any]:
    """Return the options of the search as they are by default."""
    search = SEARCHES[path.options.get("search", "forward")]()
    return {name: getattr(search, name) for name in search.options}


def option_imports(path: SelectionPath) -> set[str]:
    """Return the imports of what options are objects of: discretizers, splitters."""
    kinds = {type(value) for value in path.options.values() if hasattr(value, "__dict__")}
    return {f"from {k.__module__.split('._')[0]} import {k.__name__}" for k in kinds}


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


def repr_of(value: Any) -> str:
    """Return a value as it is written in Python."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def call_of(name: str, arguments: Sequence[str], result: str) -> str:
    """Return a call as it is written in Python, over several lines where it is long.

    Examples
    --------
    >>> call_of("select", ["data", "'income'"], "path")
    "path = select(data, 'income')"
    """
    call = f"{result} = {name}({', '.join(arguments)})"
    if len(call) <= _WIDTH:
        return call
    return f"{result} = {name}(\n    " + ",\n    ".join(arguments) + ",\n)"


# The command


def command_line(selected: Selected) -> str | None:
    """Return the command that finds the same path; None for a table in memory."""
    source, path = selected.reading.source, selected.path
    if source is None:
        return None
    sources = source if isinstance(source, (list, tuple)) else [source]
    options = path.options
    words = ["orthoselect", "select", *(str(one) for one in sources)]
    words += [word for name in selected.target for word in ("--target", name)]
    count = options.get("n_features_to_select", len(path))
    words += [] if count is None else ["-k", str(count)]
    words += ["--method", path.method] if path.method != "socc" else []
    if options.get("search", "forward") != "forward":
        words += ["--search", options["search"]]
        limit = options.get("time_limit", TIME_LIMIT)
        words += ["--time-limit", f"{limit:g}"] if limit != TIME_LIMIT else []
    for name in ("include", "exclude"):
        words += [word for one in options.get(name) or () for word in (f"--{name}", str(one))]
    categorical = options.get("categorical_features")
    if not isinstance(categorical, (str, type(None))):
        words += [word for one in categorical for word in ("--categorical", str(one))]
    for group, columns in (options.get("groups") or {}).items():
        words += ["--group", f"{group}={','.join(columns)}"]
    if options.get("sample_weight") is not None:
        words += ["--weights", str(options["sample_weight"])]
    if options.get("task", "auto") != "auto":
        words += ["--task", options["task"]]
    if options.get("missing") in ("mean", "drop_rows"):  # the command's own default does for others
        words += ["--missing", options["missing"].replace("_", "-")]
    if options.get("dates", "drop") != "drop":
        words += ["--dates", options["dates"]]
    for name, flag in _TESTS.items():
        if not _same(options.get(name, _DEFAULTS[name]), _DEFAULTS[name]):
            words += [flag] if options[name] is True else [flag, str(options[name])]
    said = {*GENERAL, *_DEFAULTS, "n_features_to_select"} - {"response_encoding"}
    for setting in settings_of(path, without=said):
        words += ["--option", setting.replace("'", "")]
    return shlex.join(words)
