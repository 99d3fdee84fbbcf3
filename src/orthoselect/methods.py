"""The methods that `select` knows by name: what each is, where it comes from, what it takes.

`METHODS` maps a name to its `Method`; both print what they hold.

Examples
--------
>>> from orthoselect.methods import METHODS
>>> METHODS["socc"]
Method 'socc': sum of squared canonical correlations with the response
  source:  Zhang and Lang 2022, https://doi.org/10.1016/j.patcog.2021.108419
  takes:   task, response_encoding, categorical_features, groups, sample_weight
  options: adjust='chance'
"""

from __future__ import annotations

import difflib
import html
import importlib
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from orthoselect.argument_names import COUNT_NAMES
from orthoselect.criteria import Criterion
from orthoselect.errors import InputError, did_you_mean, listing
from orthoselect.lazy import lazy

# The options of `select` that a method may not take, and what they are if nobody gives them.
GENERAL: Mapping[str, Any] = {
    "task": "auto",
    "response_encoding": "dummy",
    "categorical_features": "from_dtype",
    "groups": None,
    "sample_weight": None,
}


# What else `select` takes, whatever the method.
_OF_SELECT = (
    *("n_features_to_select", "include", "exclude", "search", "time_limit", "dates", "memory"),
    "progress",
)
_COUNT = "how many features is `n_features_to_select`, the third argument."
_OF_CV = "that is for a cross-validated size, `n_features_to_select='cv'`."
_MEANT = {
    **dict.fromkeys(COUNT_NAMES, _COUNT),
    "features": "pass a table of these columns, or name the others in `exclude`.",
    "columns": "pass a table of these columns, or name the others in `exclude`.",
    "weights": "row weights are `sample_weight`.",
    **dict.fromkeys(("estimator", "scoring", "rule", "largest", "row_groups"), _OF_CV),
}
# Names that others use -> those of the methods that are meant.
_ALIASES = {
    "mrmr": ("mrmr_difference", "mrmr_quotient"),
    "mid": ("mrmr_difference",),
    "miq": ("mrmr_quotient",),
    "mutual_information": ("mim",),
    "mutual_info": ("mim",),
    "mi": ("mim",),
    "information_gain": ("mim",),
    "ols": ("socc",),
    "frols": ("err",),
    "pearson": ("socc",),
    "correlation": ("socc",),
    "f": ("socc",),
    "anova": ("socc",),
    "r2": ("socc",),
    "l1": ("lasso",),
    "elasticnet": ("elastic_net",),
    "enet": ("elastic_net",),
    "shap": ("shapley",),
    **dict.fromkeys(("splines", "gam", "spline"), ("socc_splines",)),
    **dict.fromkeys(("fos_mod", "fosmod", "fos", "fsca", "linselect"), ("unsupervised",)),
}


@dataclass(frozen=True, repr=False)
class Method:
    """One way to select features.

    Attributes
    ----------
    name : str
        What `select` calls it.
    summary : str
        What it is, in one line.
    source : str
        Where it was published.
    home : str
        Module and class of its criterion, "module:Class"; loaded when it is made.
    takes : frozenset of str
        Those of the options in `GENERAL` that it takes. `include`, `exclude` and `search` go with
        every method.
    preset : mapping
        Arguments of the class that make it this method.
    """

    name: str
    summary: str
    source: str
    home: str
    takes: frozenset[str] = frozenset(GENERAL)
    preset: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, Any]:
        """Options of its own and their defaults."""
        parameters = inspect.signature(self.criterion).parameters
        return {k: p.default for k, p in parameters.items() if k not in self.preset}

    @property
    def takes_blocks(self) -> bool:
        """Whether it selects from tables in blocks of rows too."""
        return bool(self.criterion.takes_blocks)

    @property
    def needs_rows(self) -> bool:
        """Whether it needs more of a table than means and inner products of its columns."""
        return bool(self.criterion.needs_rows)

    @property
    def needs_target(self) -> bool:
        """Whether there has to be something to explain."""
        return bool(self.criterion.needs_target)

    @property
    def bends(self) -> bool:
        """Whether it judges features by curves, which a linear model of them cannot follow."""
        return bool(self.criterion.bends)

    @lazy
    def criterion(self) -> Any:
        """The class of its criterion."""
        module, name = self.home.split(":")
        return getattr(importlib.import_module(module), name)

    def make(self, general: Mapping[str, Any] = {}, /, **options: Any) -> Criterion:
        """Return the criterion with these options of its own; `general` are those of `GENERAL`.

        Examples
        --------
        >>> METHODS["socc"].make().name
        'socc'
        >>> METHODS["socc"].make(sampel_weight=None)
        Traceback (most recent call last):
        ...
        orthoselect.errors.InputError: method 'socc' has no option `sampel_weight`: did you mean
        `sample_weight`? It takes `task`, `response_encoding`, `categorical_features`, `groups`,
        `sample_weight`, `adjust`.
        """
        unknown = [name for name in options if name not in self.options]
        if unknown:
            taken = [*self._general(), *self.options]
            meant = _MEANT.get(unknown[0], "")
            near = meant or did_you_mean(unknown, [*taken, *_OF_SELECT], most=1)
            raise InputError(
                f"method {self.name!r} has no option {listing(unknown)}"
                f"{f': {near}' if near else '.'} It takes {_all(taken)}."
            )
        refused = []
        for name, value in general.items():
            default = GENERAL[name]
            is_default = value is default or (isinstance(value, str) and value == default)
            no_column = name == "categorical_features" and value is None  # all methods take that
            if name not in self.takes and not is_default and not no_column:
                refused.append(name)
        if refused:
            raise InputError(
                f"method {self.name!r} does not take {listing(refused)}; leave that out, or choose "
                f"another method. It takes {_all([*self._general(), *self.options])}."
            )
        return self.criterion(**self.preset, **options)

    def check_has_target(self, who: str) -> None:
        """Raise for a method without a target, where one is explained."""
        if not self.needs_target:
            raise InputError(
                f"{who} judges features by what they tell about a target; method {self.name!r} has "
                f"none. Choose another method. Without a target there is `select(data, None, "
                f"method={self.name!r})`, with `to_frame`, `to_text` and `plot` of its path."
            )

    def _general(self) -> list[str]:
        return [name for name in GENERAL if name in self.takes]

    def __repr__(self) -> str:
        own = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return "\n".join(
            [
                f"Method {self.name!r}: {self.summary}",
                f"  source:  {self.source}",
                f"  takes:   {', '.join(self._general())}",
                f"  options: {own or 'none of its own'}",
            ]
        )


def _all(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


class Methods(dict[str, Method]):
    """Methods by name; prints as a table."""

    def __repr__(self) -> str:
        wide = max(map(len, self), default=0)
        return "\n".join(f"{m.name:<{wide}}  {m.summary}" for m in self.values())

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{m.name}</td><td>{html.escape(m.summary)}</td>"
            f"<td>{html.escape(m.source)}</td></tr>"
            for m in self.values()
        )
        head = "<tr><th>method</th><th>what it is</th><th>source</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def find_method(name: Any) -> Method:
    """Return the method of this name; an unknown one raises, and names those that are near.

    Examples
    --------
    >>> find_method("mrmr")
    Traceback (most recent call last):
    ...
    orthoselect.errors.InputError: `method` should be one of 'socc', 'socc_discretized', ...
    'shapley'; got 'mrmr': did you mean `mrmr_difference`, `mrmr_quotient`?
    """
    if isinstance(name, str) and name in METHODS:
        return METHODS[name]
    wanted = str(name).lower().replace("-", "_").replace(" ", "_")
    near = list(_ALIASES.get(wanted, ()))
    near = near or [known for known in METHODS if known == wanted]
    near = near or [known for known in METHODS if wanted and known.startswith(wanted)]
    near = near or difflib.get_close_matches(wanted, METHODS)
    hint = f": did you mean {_all(near)}?" if near else "."
    names = ", ".join(map(repr, METHODS))
    raise InputError(f"`method` should be one of {names}; got {name!r}{hint}")


_WEIGHTED = frozenset({"task", "sample_weight"})

_ORTHOGONAL = [
    Method(
        "socc",
        "sum of squared canonical correlations with the response",
        "Zhang and Lang 2022, https://doi.org/10.1016/j.patcog.2021.108419",
        "orthoselect.criteria.cancorr:SquaredCanonicalCorrelations",
    ),
    Method(
        "socc_discretized",
        "the same for columns cut into levels, each coded as a block of indicators",
        "Zhang and Lang 2022, https://doi.org/10.1016/j.patcog.2021.108419",
        "orthoselect.criteria.cancorr:DiscretizedCanonicalCorrelations",
    ),
    Method(
        "socc_splines",
        "the same for columns bent by natural cubic splines, each a block of them",
        "Hastie, Tibshirani and Friedman 2009, section 5.2, https://doi.org/10.1007/978-0-387-84858-7",
        "orthoselect.criteria.cancorr:SplineCanonicalCorrelations",
    ),
    Method(
        "obcc",
        "squared correlation of what orthogonalization, not centered, leaves of a candidate",
        "Solares, Wei and Billings 2019, https://doi.org/10.1007/s00521-017-2976-x",
        "orthoselect.criteria.orthogonal:OrthogonalCriterion",
        _WEIGHTED,
        preset={"name": "obcc"},
    ),
    Method(
        "err",
        "error reduction ratio: share of the response's sum of squares, nothing centered",
        "Chen, Billings and Luo 1989, https://doi.org/10.1080/00207178908953472",
        "orthoselect.criteria.orthogonal:OrthogonalCriterion",
        _WEIGHTED,
        preset={"name": "err"},
    ),
    Method(
        "mser",
        "reduction of the mean squared error, nothing centered",
        "Korenberg 1989, https://doi.org/10.1007/BF00204124",
        "orthoselect.criteria.orthogonal:OrthogonalCriterion",
        _WEIGHTED,
        preset={"name": "mser"},
    ),
    Method(
        "unsupervised",
        "share of all columns that the selected ones explain; there is no response",
        "Wei and Billings 2007, https://doi.org/10.1109/TPAMI.2007.250607",
        "orthoselect.criteria.unsupervised:OverallDependency",
        frozenset({"categorical_features", "groups", "sample_weight"}),
    ),
]


def _information(name: str, summary: str, source: str, own: str = "") -> Method:
    """Return a method of information theory; it has one of two options of its own, or neither."""
    preset = {k: v for k, v in {"constant": 0.0, "capped": True}.items() if k != own}
    return Method(
        name,
        summary,
        source,
        "orthoselect.criteria.information:InformationCriterion",
        takes=frozenset(GENERAL) - {"response_encoding"},
        preset={"name": name, **preset},
    )


_INFORMATION = [
    _information(
        "mim",
        "mutual information with the class, each feature by itself",
        "Lewis 1992, https://doi.org/10.3115/1075527.1075574",
    ),
    _information(
        "mrmr_difference",
        "relevance minus mean redundancy",
        "Peng, Long and Ding 2005, https://doi.org/10.1109/TPAMI.2005.159",
    ),
    _information(
        "mrmr_quotient",
        "relevance over mean redundancy",
        "Ding and Peng 2005, https://doi.org/10.1142/S0219720005001004",
        own="constant",
    ),
    _information(
        "jmi",
        "joint mutual information, summed over the selected features",
        "Yang and Moody 1999; see Brown et al. 2012, https://www.jmlr.org/papers/v13/brown12a.html",
    ),
    _information(
        "cmim",
        "the least information that a selected feature leaves",
        "Fleuret 2004, https://www.jmlr.org/papers/v5/fleuret04a.html",
        own="capped",
    ),
    _information(
        "cife",
        "relevance minus redundancy plus redundancy within the classes",
        "Lin and Tang 2006, https://doi.org/10.1007/11744023_6",
    ),
    _information(
        "icap",
        "relevance minus redundancy as far as the classes do not explain it",
        "Jakulin 2005; see Brown et al. 2012, https://www.jmlr.org/papers/v13/brown12a.html",
    ),
    _information(
        "disr",
        "joint mutual information over joint entropy, summed over the selected features",
        "Meyer and Bontempi 2006, https://doi.org/10.1007/11732242_9",
    ),
]

_EMBEDDED = [
    Method(
        "lasso",
        "order in which features enter the path of the lasso, or its coefficients",
        "Tibshirani 1996, https://doi.org/10.1111/j.2517-6161.1996.tb02080.x",
        "orthoselect.embedded.penalized:PenalizedRanking",
        _WEIGHTED,
        preset={"name": "lasso", "l1_ratio": 1.0},
    ),
    Method(
        "elastic_net",
        "order in which features enter the path of the elastic net, or its coefficients",
        "Zou and Hastie 2005, https://doi.org/10.1111/j.1467-9868.2005.00503.x",
        "orthoselect.embedded.penalized:PenalizedRanking",
        _WEIGHTED,
        preset={"name": "elastic_net"},
    ),
    Method(
        "shapley",
        "absolute Shapley values of the scores of linear discriminant analysis",
        "Lundberg and Lee 2017, https://doi.org/10.48550/arXiv.1705.07874",
        "orthoselect.embedded.shapley:ShapleyRanking",
        frozenset({"task"}),
    ),
]

METHODS = Methods({m.name: m for m in (*_ORTHOGONAL, *_INFORMATION, *_EMBEDDED)})
