"""Rankings by models of scikit-learn; loaded when one is asked for."""

from orthoselect.embedded.penalized import ElasticNetRanking, LassoRanking
from orthoselect.embedded.shapley import ShapleyRanking

__all__ = ["ElasticNetRanking", "LassoRanking", "ShapleyRanking"]
