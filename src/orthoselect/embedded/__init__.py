"""Rankings by models of scikit-learn; loaded when one is asked for.

In come a design and a response, as for other criteria; out comes a `RankingState`: features in an
order that was settled before the search begins. The class to know is `RankingState`.
"""

from orthoselect.embedded.penalized import PenalizedRanking
from orthoselect.embedded.ranking import RankingState
from orthoselect.embedded.shapley import ShapleyRanking

__all__ = ["PenalizedRanking", "RankingState", "ShapleyRanking"]
