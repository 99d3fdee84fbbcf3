"""Models of signals over time: NARX and NARMAX, whose terms are selected.

What comes in are records of inputs and outputs, in one or several sessions; what goes out is a
model that says how the output follows from its own past and from the inputs. The one class to know
is `NARX`.

    lagged_terms    products of lagged signals, as something to select from
    records         what users give -> named arrays over time
    structure       which terms: a path of `select`, oversampled signals included
    order           how many terms, by criteria that follow from the one path
    noise           residuals as candidates: NARMAX
    model, free_run terms and coefficients; runs on the model's own output, and their refinement
    fitting         from records to a fitted model
    fitted          its terms by name, and predictions of all kinds
    validation      whether anything is left in the residuals
    classification  classes over time: logistic NARX
    estimator       `NARX` itself
"""

from orthoselect.dynamics.estimator import NARX
from orthoselect.dynamics.fitted import FittedTerm, FittedTerms
from orthoselect.dynamics.lagged_terms import LaggedTerms
from orthoselect.dynamics.order import OrderTable
from orthoselect.dynamics.validation import CorrelationTest, Validation

__all__ = [
    "NARX",
    "CorrelationTest",
    "FittedTerm",
    "FittedTerms",
    "LaggedTerms",
    "OrderTable",
    "Validation",
]
