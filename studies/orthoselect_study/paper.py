"""What the paper printed in its worked example and in Section 6."""

from __future__ import annotations

CITATION = (
    "S. Zhang and Z.-Q. Lang, Orthogonal least squares based fast feature selection for linear "
    "classification, Pattern Recognition 123, 2022, https://doi.org/10.1016/j.patcog.2021.108419"
)

_TEN = ("OLS", "OLSd", "mRMRd", "mRMRq", "MIM", "JMI", "CMIM", "CIFE", "ICAP", "DISR")
TWELVE = (*_TEN, "LASSO", "Net")

# In how many of 100 tables the three features were found.
REPEATS = 100
FOUND = {
    "binomial": dict(zip(TWELVE, (95, 88, 76, 77, 73, 79, 74, 76, 74, 79, 85, 87))),
    "multinomial": dict(zip(TWELVE, (92, 84, 83, 84, 82, 80, 82, 67, 82, 80, 79, 79))),
}

# Area under the ROC curve on the test rows by 20 features, and probes among them.
SELECTED = 20
_DEXTER = (0.9551, 0.8413, 0.9246, 0.9355, 0.8774, 0.8917, 0.9444, 0.8367, 0.8848, 0.8908)
_GISETTE = (0.9873, 0.9824, 0.9662, 0.9776, 0.9324, 0.9352, 0.9667, 0.9605, 0.9580, 0.9490)
TEST_AUC = {
    "dexter": dict(zip(_TEN, _DEXTER)),
    "gisette": dict(zip(_TEN, _GISETTE)),
}
PROBES = {
    "dexter": dict(zip(_TEN, (1, 4, 0, 1, 0, 0, 1, 14, 2, 0))),
    "gisette": dict.fromkeys(_TEN, 0),
}

# The paper's figures for Gisette stand beside the stand-in's too, said to be of another set.
BESIDE = {"dexter": "dexter", "gisette": "gisette", "gisette-like": "gisette"}

# Milliseconds to select 20 features, on the authors' laptop.
MILLISECONDS = {
    "dexter": {"definition": 13200.0, "gram_schmidt": 401.0},
    "gisette": {"definition": 134922.0, "gram_schmidt": 5109.0},
}

# The claim of the abstract.
FIRST, OF = 5, 12

# The worked example, seven rows of iris: what is what, and what was printed.
WORKED_EXAMPLE = {
    "response basis, first column, setosa": 0.7143,
    "response basis, first column, others": -0.2857,
    "response basis, second column, setosa": 0.0,
    "response basis, second column, versicolor": 0.6,
    "response basis, second column, virginica": -0.4,
    "step 1, gain of sepal length": 0.7628,
    "step 1, gain of sepal width": 0.2264,
    "step 1, gain of petal length": 0.9779,
    "step 1, gain of petal width": 0.9604,
    "step 2, gain of sepal length": 0.4458,
    "step 2, gain of sepal width": 0.0841,
    "step 2, gain of petal width": 0.4644,
    "step 3, gain of sepal length": 0.0382,
    "step 3, gain of sepal width": 0.1108,
    "first squared canonical correlation": 0.9905,
    "second squared canonical correlation": 0.5626,
    "sum of squared canonical correlations": 1.5531,
    "sum of the gains": 1.5531,
    "first Fisher criterion": 104.1481,
    "second Fisher criterion": 1.2864,
    "scatter within classes 1,1": 0.5067,
    "scatter within classes 1,2": 0.2367,
    "scatter within classes 1,3": 0.2700,
    "scatter within classes 2,2": 0.1917,
    "scatter within classes 2,3": 0.1800,
    "scatter within classes 3,3": 0.3050,
    "scatter between classes 1,1": 22.4305,
    "scatter between classes 1,2": 10.1333,
    "scatter between classes 1,3": -1.1886,
    "scatter between classes 2,2": 4.6483,
    "scatter between classes 2,3": -0.5800,
    "scatter between classes 3,3": 0.0893,
}
WORKED_SELECTION = ("petal length", "petal width", "sepal width")
